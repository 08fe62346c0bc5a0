// A game as it stands at the table, by the rules of bgai/rules/match.py: score, cube, dice, and who may do what now.
// Every action gives the next match and changes nothing. Knows nothing of value.

import { legalPlays, offOf, pipsOf, positionFault, resultOf, startBoard, turned } from "./board.js";
import { CENTRE, MINE, MOST_AWAY, THEIRS } from "./cube.js";

/** The rules do not allow this action now, or these values are no match; the message says why. */
export class RulesError extends RangeError {}

/**
 * Players are 0 and 1; `position` is seen by the player on roll, `turn`. Length 0 is a single game for money.
 * @typedef {object} Match
 * @property {number[]} position
 * @property {number} length
 * @property {[number, number]} score
 * @property {number} turn
 * @property {"opening" | "roll" | "play" | "take" | "resign" | "over"} decision
 * @property {[number, number] | null} dice the higher first
 * @property {number} cube a double that waits for its answer is not counted yet
 * @property {number | null} cube_owner
 * @property {boolean} crawford
 * @property {boolean} jacoby
 * @property {boolean} beavers always false here
 * @property {number} max_cube 1 is a game without a cube
 * @property {number} resigned
 */

const MAX_CUBE = 1024,
  MOST_LENGTH = 999,
  MEN = 15;

/**
 * The table before the opening throw.
 * @param {{length?: number, score?: number[], crawford?: boolean, jacoby?: boolean, cube?: boolean}} given
 * @returns {Match}
 * @throws {RulesError}
 */
export function newMatch({ length = 0, score = [0, 0], crawford = false, jacoby = false, cube = true } = {}) {
  const whole = (/** @type {unknown} */ n, /** @type {number} */ most) =>
    Number.isInteger(n) && Number(n) >= 0 && Number(n) <= most;
  if (!whole(length, MOST_LENGTH)) throw new RulesError(`length must be a whole number from 0 to ${MOST_LENGTH}`);
  const most = length ? length - 1 : 32767;
  if (score?.length !== 2 || !score.every((points) => whole(points, most)))
    throw new RulesError(`both scores must be from 0 to ${most}`);
  if (crawford && (length < 2 || score.filter((points) => points === length - 1).length !== 1)) {
    throw new RulesError("in the Crawford game exactly one player needs one point");
  }
  return {
    position: [...startBoard()],
    length,
    score: [score[0], score[1]],
    turn: 0,
    decision: "opening",
    dice: null,
    cube: 1,
    cube_owner: null,
    crawford: Boolean(crawford),
    jacoby: Boolean(jacoby) && !length && cube,
    beavers: false,
    max_cube: cube ? MAX_CUBE : 1,
    resigned: 0,
  };
}

/** The player who must act; null at the opening throw and when the game is over. @param {Match} match */
export function deciderOf({ decision, turn }) {
  if (decision === "opening" || decision === "over") return null;
  return decision === "take" || decision === "resign" ? 1 - turn : turn;
}

/** The men seen by a player, whoever is on roll. @param {Match} match @param {number} player @returns {number[]} */
export const viewOf = (match, player) => (player === match.turn ? [...match.position] : [...turned(match.position)]);

/** Pip counts of player 0 and player 1. @param {Match} match */
export function pipsOfMatch(match) {
  const pips = pipsOf(match.position);
  return match.turn === 0 ? pips : [pips[1], pips[0]];
}

const borneOff = (/** @type {Match} */ match) => offOf(match.position).includes(MEN);

/** Who has won the game; null while it goes on. @param {Match} match */
export function winnerOf(match) {
  if (match.decision !== "over") return null;
  if (borneOff(match)) return resultOf(match.position) > 0 ? match.turn : 1 - match.turn;
  return match.resigned ? 1 - match.turn : match.turn; // resigned, or the double was dropped
}

/**
 * Points of a game won by a single game, a gammon or a backgammon (1, 2, 3).
 * @param {Match} match
 * @param {number} kind
 */
const gamePoints = (match, kind) => (match.jacoby && match.cube_owner === null ? match.cube : kind * match.cube);

/** What the game was won by, the cube counted; 0 while it goes on. @param {Match} match */
export function pointsOf(match) {
  if (match.decision !== "over") return 0;
  const kind = borneOff(match) ? Math.abs(resultOf(match.position)) : match.resigned;
  return kind ? gamePoints(match, kind) : match.cube;
}

/** Who has won the whole match; null while it goes on, and always for money. @param {Match} match */
export function matchWinnerOf({ length, score }) {
  return length && score.includes(length) ? score.indexOf(length) : null;
}

function noDouble(/** @type {Match} */ match) {
  if (match.crawford) return "this is the Crawford game";
  if (match.cube_owner === 1 - match.turn) return "the other player owns the cube";
  if (2 * match.cube > match.max_cube) return `the cube may not go over ${match.max_cube}`;
  return null;
}

/**
 * Names of the actions that may be done now; "double" is left out where the cube as it stands wins the match.
 * @param {Match} match
 * @returns {string[]}
 */
export function actionsOf(match) {
  const dead = match.length > 0 && match.cube >= match.length - match.score[match.turn];
  switch (match.decision) {
    case "opening":
      return ["begin"];
    case "roll":
      return noDouble(match) === null && !dead ? ["roll", "double", "resign"] : ["roll", "resign"];
    case "play":
      return ["play", "resign"];
    case "take":
      return ["take", "drop"];
    case "resign":
      return ["accept", "decline"];
    default:
      return matchWinnerOf(match) === null ? ["next_game"] : [];
  }
}

function over(/** @type {Match} */ match, /** @type {number} */ winner, /** @type {number} */ points) {
  const score = /** @type {[number, number]} */ ([...match.score]);
  score[winner] = Math.min(score[winner] + points, match.length || Infinity);
  return { ...match, decision: /** @type {const} */ ("over"), score };
}

const sorted = (/** @type {[number, number]} */ dice) =>
  /** @type {[number, number]} */ ([Math.max(...dice), Math.min(...dice)]);

/**
 * The match after an action: "begin" and "roll" with dice, "play" with the board after it seen by the opponent,
 * "resign" with points (1, 2 or 3), the others alone.
 * @param {Match} match @param {string} kind
 * @param {{dice?: [number, number], after?: ArrayLike<number>, points?: number}} [given]
 * @returns {Match}
 * @throws {RulesError}
 */
export function acted(match, kind, { dice, after, points = 0 } = {}) {
  const allowed = actionsOf(match).includes(kind) || (kind === "double" && match.decision === "roll");
  if (!allowed) throw new RulesError(`${kind} is not possible now: the decision is ${match.decision}`);
  switch (kind) {
    case "begin": {
      const [mine, theirs] = /** @type {[number, number]} */ (dice);
      return mine === theirs
        ? match
        : { ...match, turn: mine > theirs ? 0 : 1, decision: "play", dice: sorted([mine, theirs]) };
    }
    case "roll":
      return { ...match, decision: "play", dice: sorted(/** @type {[number, number]} */ (dice)) };
    case "play":
      return played(match, /** @type {ArrayLike<number>} */ (after));
    case "double": {
      const why = noDouble(match);
      if (why) throw new RulesError(`double is not allowed: ${why}`);
      return { ...match, decision: "take" };
    }
    case "take":
      return { ...match, decision: "roll", cube: 2 * match.cube, cube_owner: 1 - match.turn };
    case "drop":
      return over(match, match.turn, match.cube);
    case "resign":
      if (![1, 2, 3].includes(points)) throw new RulesError("one resigns 1, 2 or 3: single game, gammon, backgammon");
      return { ...match, decision: "resign", resigned: points };
    case "accept":
      return over(match, 1 - match.turn, gamePoints(match, match.resigned));
    case "decline":
      return { ...match, decision: match.dice ? "play" : "roll", resigned: 0 };
    default:
      return nextGame(match);
  }
}

function played(/** @type {Match} */ match, /** @type {ArrayLike<number>} */ after) {
  const plays = legalPlays(match.position, /** @type {[number, number]} */ (match.dice));
  const key = Array.from(after).join();
  if (!plays.some((play) => play.after.join() === key))
    throw new RulesError(`${match.dice?.join("-")} does not lead there; a legal play is ${plays[0].text}`);
  const next = /** @type {Match} */ ({
    ...match,
    position: Array.from(after),
    turn: 1 - match.turn,
    decision: "roll",
    dice: null,
  });
  const lost = -resultOf(next.position);
  return lost ? over(next, match.turn, gamePoints(match, lost)) : next;
}

/** The game after this one; the Crawford game when this one first brought a player to one point from the match. */
function nextGame(/** @type {Match} */ match) {
  const { length, score, jacoby, max_cube } = match,
    winner = /** @type {number} */ (winnerOf(match));
  const crawford = length > 1 && length - score[winner] === 1 && length - score[1 - winner] !== 1;
  return newMatch({ length, score, crawford, jacoby, cube: max_cube > 1 });
}

/**
 * What the match is played for at this moment, seen by the player on roll.
 * @param {Match} match
 * @returns {import("./cube.js").Stakes}
 */
export function stakesOf(match) {
  const away = match.score.map((points) => (match.length ? Math.min(match.length - points, MOST_AWAY) : 0));
  const owner = match.cube_owner === null ? CENTRE : match.cube_owner === match.turn ? MINE : THEIRS;
  const crawford = match.crawford || 2 * match.cube > match.max_cube;
  return {
    mine: away[match.turn],
    theirs: away[1 - match.turn],
    cube: match.cube,
    owner,
    crawford,
    jacoby: match.jacoby,
  };
}

/** A saved start of a game, checked. @param {any} given @returns {Match} @throws {RulesError} */
export function checkedStart(given) {
  const fault = positionFault(given?.position);
  if (fault || given.decision !== "opening")
    throw new RulesError(`a game starts before the opening throw${fault ? `: ${fault}` : ""}`);
  const { length, score, crawford, jacoby, max_cube } = given;
  const start = newMatch({ length, score, crawford, jacoby, cube: max_cube > 1 });
  for (const [name, value] of Object.entries(start)) {
    if (JSON.stringify(given[name]) !== JSON.stringify(value))
      throw new RulesError(`a game cannot start with ${name} ${JSON.stringify(given[name])}`);
  }
  return start;
}
