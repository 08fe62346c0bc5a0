// What a bot says of the decisions of a game: plays and cube actions valued, errors, luck, PR; as
// bgai/arena/analysis.py does, with the cube and the score counted, per unit of the present cube. Knows no page.

import { ROLLS, ROLL_CHANCES } from "./dice.js";
import { actionsOf, stakesOf } from "./match.js";

/** @typedef {import("./bot.js").Bot} Bot */
/** @typedef {import("./match.js").Match} Match */
/**
 * A play, the mover's chances after it, and its value with the cube.
 * @typedef {import("./bot.js").RankedPlay & {value: number}} CubefulPlay
 */
/**
 * One decision: what was made, what is best, what it lost, and whether it counts for the PR.
 * @typedef {{player: number, kind: string, made: string, best: string, loss: number, counted: boolean, luck: number}}
 * Choice
 */

const PR_PER_ERROR = 500;
const CLOSE = 0.16; // cube actions nearer than this to the other choice are decisions; the rest nobody thinks about
/** As gnubg marks very bad, bad and doubtful plays: the least loss and the mark. @type {[number, string][]} */
const MARKS = [
  [0.16, "??"],
  [0.08, "?"],
  [0.02, "?!"],
];

/** "??", "?", "?!" or nothing, by what was lost. @param {number} loss */
export const markOf = (loss) => MARKS.find(([least]) => loss >= least)?.[1] ?? "";

/** All plays of the roll, best first. @param {Bot} bot @param {Match} match @returns {CubefulPlay[]} */
export function rankPlays(bot, match) {
  return valued(bot, match, /** @type {[number, number]} */ (match.dice)).sort((a, b) => b.value - a.value);
}

function valued(/** @type {Bot} */ bot, /** @type {Match} */ match, /** @type {[number, number]} */ dice) {
  const stakes = stakesOf(match);
  return bot
    .valued(match.position, dice)
    .map((play) => ({ ...play, value: bot.perCube(bot.playValue(play, stakes), stakes) }));
}

/** How much better the roll was than the mean of all, each played best. @param {Bot} bot @param {Match} match */
export function luckOf(bot, match) {
  const best = ROLLS.map((dice) => Math.max(...valued(bot, match, dice).map(({ value }) => value)));
  const [high, low] = /** @type {[number, number]} */ (match.dice);
  const rolled = ROLLS.findIndex(([a, b]) => a === high && b === low);
  return best[rolled] - best.reduce((sum, value, i) => sum + ROLL_CHANCES[i] * value, 0);
}

/**
 * The cube decision of the player on roll, before he rolls or after he has doubled; equities are his, and null where
 * he may not double.
 * @param {Bot} bot @param {Match} match
 */
export function cubeDecision(bot, match) {
  const stakes = stakesOf(match),
    values = bot.cube(match.position, stakes);
  const { noDouble, doubleTake, doublePass } = values;
  let action = "no cube";
  if (doubleTake !== null && doublePass !== null) {
    if (doubleTake > doublePass) action = noDouble > doublePass ? "too good" : "double, pass";
    else action = doubleTake > noDouble ? "double, take" : "no double";
  }
  const scaled = (/** @type {number | null} */ value) => (value === null ? null : bot.perCube(value, stakes));
  return {
    action,
    double: action.startsWith("double"),
    take: doubleTake !== null && doublePass !== null && doubleTake <= doublePass,
    no_double: bot.perCube(noDouble, stakes),
    double_take: scaled(doubleTake),
    double_pass: scaled(doublePass),
  };
}

/**
 * The choice of a play that was made; `after` is the board after it.
 * @param {Bot} bot
 * @param {Match} match
 * @param {ArrayLike<number>} after
 * @returns {Choice}
 */
export function playChoice(bot, match, after) {
  const ranked = rankPlays(bot, match),
    key = Array.from(after).join();
  const own = /** @type {CubefulPlay} */ (ranked.find((play) => play.after.join() === key));
  const loss = Math.max(0, ranked[0].value - own.value);
  return {
    player: match.turn,
    kind: "play",
    made: own.text,
    best: ranked[0].text,
    loss,
    counted: ranked.length > 1,
    luck: luckOf(bot, match),
  };
}

/**
 * The choice to double or not, before the roll; null where there was none.
 * @param {Bot} bot
 * @param {Match} match
 * @param {boolean} doubled
 * @returns {Choice | null}
 */
export function cubeChoice(bot, match, doubled) {
  if (!doubled && !actionsOf(match).includes("double")) return null;
  const { action, no_double: rolling, double_take: take, double_pass: pass } = cubeDecision(bot, match);
  if (take === null || pass === null) return null;
  const offered = Math.min(take, pass),
    made = doubled ? "double" : "no double";
  const loss = Math.max(0, Math.max(rolling, offered) - (doubled ? offered : rolling));
  const counted = doubled || Math.abs(rolling - offered) < CLOSE || offered > rolling;
  return { player: match.turn, kind: made, made, best: action, loss, counted, luck: 0 };
}

/**
 * The answer to a double; null where a dead cube was turned.
 * @param {Bot} bot
 * @param {Match} match
 * @param {boolean} taken
 * @returns {Choice | null}
 */
export function answerChoice(bot, match, taken) {
  const { take: right, double_take: take, double_pass: pass } = cubeDecision(bot, match);
  if (take === null || pass === null) return null;
  const loss = (taken ? take : pass) - Math.min(take, pass),
    kind = taken ? "take" : "drop";
  return { player: 1 - match.turn, kind, made: kind, best: right ? "take" : "drop", loss, counted: true, luck: 0 };
}

/**
 * One player's side: decisions, the sum of his errors, the PR (null without a decision) and his luck.
 * @param {Choice[]} choices
 * @param {number} player
 */
export function summaryOf(choices, player) {
  const own = choices.filter((choice) => choice.player === player),
    decisions = own.filter(({ counted }) => counted).length;
  const error = own.reduce((sum, { loss }) => sum + loss, 0);
  return {
    pr: decisions ? (PR_PER_ERROR * error) / decisions : null,
    error,
    decisions,
    luck: own.reduce((sum, { luck }) => sum + luck, 0),
  };
}
