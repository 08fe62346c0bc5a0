// What a position is worth with the cube on it, as bgai/evaluation/cube.py has it: no double, double and take, double
// and pass. The efficiencies and the match equity table come from the bot's file. Knows no networks.

import { BAR } from "./board.js";

/** Points that a match equity table goes up to; of more, no more are counted. */
export const MOST_AWAY = 25;
const WAITING = 1e-9; // what it costs at least to wait after Crawford
const LEVELS = 7; // cube turns that can matter to 25 points
const LAST_ROLLS = 20; // pips of the player on roll in a race, or fewer
export const CENTRE = 0,
  MINE = 1,
  THEIRS = -1;

/**
 * What a game is played for, seen by the player on roll: points that both need (0 for money), the cube and its owner,
 * whether there is no cube (Crawford), and whether gammons count only once it was turned (Jacoby).
 * @typedef {{mine: number, theirs: number, cube: number, owner: number, crawford: boolean, jacoby: boolean}} Stakes
 */
/**
 * Chances to win a match: pre[mine - 1][theirs - 1] before the Crawford game, post[mine - 1] after it, against one
 * who needs one point.
 * @typedef {{pre: number[][], post: number[]}} MatchEquity
 */
/**
 * How live the cube is in "contact", "race" and "last rolls", and the match equity table.
 * @typedef {{efficiency: Record<string, number>, matchEquity: MatchEquity}} CubeModel
 */
/**
 * Points per unit of the cube in money play, else chances to win the match; null where he may not double.
 * @typedef {{noDouble: number, doubleTake: number | null, doublePass: number | null}} CubeValues
 */

/** The same game seen by the other player. @param {Stakes} stakes @returns {Stakes} */
export const turnedStakes = (stakes) => ({
  ...stakes,
  mine: stakes.theirs,
  theirs: stakes.mine,
  owner: 0 - stakes.owner,
});

/** Whether doubling is better than rolling on. @param {CubeValues} values */
export const wantsDouble = ({ noDouble, doubleTake, doublePass }) =>
  doubleTake !== null && doublePass !== null && Math.min(doubleTake, doublePass) > noDouble;

/** Whether the other player should take; the values are the doubler's. @param {CubeValues} values */
export const wantsTake = ({ doubleTake, doublePass }) =>
  doubleTake !== null && doublePass !== null && doubleTake <= doublePass;

/** What the position is worth when both handle the cube best. @param {CubeValues} values */
export function bestValue({ noDouble, doubleTake, doublePass }) {
  return doubleTake === null || doublePass === null ? noDouble : Math.max(noDouble, Math.min(doubleTake, doublePass));
}

/** How live the cube is on this board. @param {ArrayLike<number>} board @param {CubeModel} model */
function efficiencyOf(board, model) {
  let myRear = 0,
    theirRear = BAR,
    pips = 0;
  for (let place = 0; place <= BAR; place++) {
    if (board[place] > 0) {
      myRear = place;
      pips += place * board[place];
    } else if (board[place] < 0 && place < theirRear) theirRear = place;
  }
  return model.efficiency[myRear > theirRear ? "contact" : pips > LAST_ROLLS ? "race" : "last rolls"];
}

/**
 * Chance to win the match when a game ends and leaves these points to be made; `late`: the Crawford game or later.
 */
export function afterGame(
  /** @type {number} */ mine,
  /** @type {number} */ theirs,
  /** @type {boolean} */ late,
  /** @type {MatchEquity} */ table,
) {
  if (mine <= 0) return 1;
  if (theirs <= 0) return 0;
  if (!late) return table.pre[mine - 1][theirs - 1];
  return mine === 1 ? 1 - table.post[theirs - 1] : table.post[mine - 1];
}

const between = (
  /** @type {number} */ p,
  /** @type {number} */ x0,
  /** @type {number} */ y0,
  /** @type {number} */ x1,
  /** @type {number} */ y1,
) => (x1 <= x0 ? y1 : y0 + ((y1 - y0) * (p - x0)) / (x1 - x0));

/** Where the lines through three points of rising height reach a value, from 0 to 1. */
function where(/** @type {number} */ value, /** @type {[number, number][]} */ [[x0, y0], [x1, y1], [x2, y2]]) {
  let x;
  if (value <= y1 || x1 >= x2) x = y1 <= y0 ? x1 : x0 + ((x1 - x0) * (value - y0)) / (y1 - y0);
  else x = y2 <= y1 ? x2 : x1 + ((x2 - x1) * (value - y1)) / (y2 - y1);
  return Math.min(Math.max(x, 0), 1);
}

/**
 * What one height of the cube means: values of a win and a loss (gammons counted), of his and my pass, who may still
 * double, and the win chances at which I take and he passes.
 * @typedef {{win: number, loss: number, cash: number, drop: number, iDouble: boolean, theyDouble: boolean,
 *   take: number, cashPoint: number}} Level
 */

function levelOf(
  /** @type {number} */ turns,
  /** @type {number[]} */ wins,
  /** @type {number[]} */ losses,
  /** @type {Stakes} */ stakes,
  /** @type {MatchEquity} */ table,
) {
  const stake = stakes.cube * 2 ** turns,
    late = stakes.mine === 1 || stakes.theirs === 1;
  const won = (/** @type {number} */ points) =>
    stakes.mine ? afterGame(stakes.mine - points, stakes.theirs, late, table) : points / stakes.cube;
  const lost = (/** @type {number} */ points) =>
    stakes.mine ? afterGame(stakes.mine, stakes.theirs - points, late, table) : -points / stakes.cube;
  const sum = (/** @type {(points: number) => number} */ value, /** @type {number[]} */ shares) =>
    shares.reduce((total, share, k) => total + value((k + 1) * stake) * share, 0);
  return {
    win: sum(won, wins),
    loss: sum(lost, losses),
    cash: won(stake),
    drop: lost(stake),
    iDouble: !stakes.mine || stakes.mine > stake,
    theyDouble: !stakes.mine || stakes.theirs > stake,
    take: 0,
    cashPoint: 1,
  };
}

/**
 * The levels of a match from the present cube to the highest that still matters, their live points worked out
 * downward.
 */
function matchLevels(
  /** @type {number[]} */ wins,
  /** @type {number[]} */ losses,
  /** @type {Stakes} */ stakes,
  /** @type {MatchEquity} */ table,
) {
  let top = 0;
  while (top < LEVELS - 1 && stakes.cube * 2 ** top < Math.max(stakes.mine, stakes.theirs)) top += 1;
  /** @type {Level[]} */
  const levels = [];
  for (let turns = 0; turns <= top + 1; turns++) levels.push(levelOf(turns, wins, losses, stakes, table));
  for (let turns = top; turns >= 0; turns--) {
    const level = levels[turns],
      above = levels[turns + 1];
    // They pass my double where holding the cube above is worth what I would cash ...
    const theirs = /** @type {[number, number]} */ (above.theyDouble ? [above.take, above.drop] : [0, above.loss]);
    level.cashPoint = where(level.cash, [[0, above.loss], theirs, [1, above.win]]);
    // ... and I theirs where owning it is worth no more than passing.
    const mine = /** @type {[number, number]} */ (above.iDouble ? [above.cashPoint, above.cash] : [1, above.win]);
    level.take = where(level.drop, [[0, above.loss], mine, [1, above.win]]);
  }
  return levels;
}

/** The levels of money play, where every cube is like the one before, only twice as high (Janowski). */
function moneyLevels(
  /** @type {number[]} */ wins,
  /** @type {number[]} */ losses,
  /** @type {Stakes} */ stakes,
  /** @type {MatchEquity} */ table,
) {
  const levels = [0, 1].map((turns) => levelOf(turns, wins, losses, stakes, table));
  const w = levels[0].win,
    g = -levels[0].loss;
  for (const level of levels)
    Object.assign(level, { take: (g - 0.5) / (w + g + 0.5), cashPoint: (g + 1) / (w + g + 0.5) });
  return levels;
}

/** Value of a live cube at win chance p: straight lines over the points where they double me out and I them. */
function live(
  /** @type {number} */ p,
  /** @type {Level} */ { loss, take, drop, cashPoint, cash, win },
  /** @type {boolean} */ theyDouble,
  /** @type {boolean} */ iDouble,
) {
  let from = [0, loss],
    to = [1, win];
  if (theyDouble) {
    if (p < take) return between(p, 0, loss, take, drop);
    from = [take, drop];
  }
  if (iDouble) {
    if (p > cashPoint) return between(p, cashPoint, cash, 1, win);
    to = [cashPoint, cash];
  }
  return between(p, from[0], from[1], to[0], to[1]);
}

/**
 * Values with the cube for the player on roll, before he rolls.
 * @param {ArrayLike<number>} board @param {ArrayLike<number>} outcomes his six chances
 * @param {Stakes} stakes @param {CubeModel} model @returns {CubeValues}
 */
export function cubeValues(board, outcomes, stakes, model) {
  const table = model.matchEquity,
    x = efficiencyOf(board, model);
  const chances = [...Array.from(outcomes)],
    total = chances.reduce((sum, chance) => sum + chance);
  const share = (/** @type {number[]} */ three) => {
    const sum = three[0] + three[1] + three[2];
    return { chance: sum / total, shares: sum > 0 ? three.map((chance) => chance / sum) : [1, 0, 0] };
  };
  // Shares of gammons stay what they are now, whatever the win chance.
  const { chance: p, shares: wins } = share(chances.slice(0, 3)),
    { chance: q, shares: losses } = share(chances.slice(3));
  const [now, doubled] = stakes.mine
    ? matchLevels(wins, losses, stakes, table)
    : moneyLevels(wins, losses, stakes, table);
  const single = stakes.jacoby && !stakes.mine && stakes.owner === CENTRE;
  const level = single ? { ...now, win: 1, loss: -1 } : now;
  const mine = stakes.owner !== THEIRS && !stakes.crawford && now.iDouble;
  const theirs = stakes.owner !== MINE && !stakes.crawford && now.theyDouble;
  const dead = p * level.win + q * level.loss,
    deadDoubled = p * doubled.win + q * doubled.loss;
  let noDouble = x * live(p, level, theirs, mine) + (1 - x) * dead;
  // After Crawford the player behind doubles at his next turn if not at this one.
  if (mine && stakes.theirs === 1) noDouble = Math.max(dead, Math.min(deadDoubled, now.cash) - WAITING);
  else if (theirs && stakes.mine === 1) noDouble = Math.min(dead, Math.max(deadDoubled, now.drop));
  if (!mine) return { noDouble, doubleTake: null, doublePass: null };
  const doubleTake = x * live(p, doubled, doubled.theyDouble, false) + (1 - x) * deadDoubled;
  return { noDouble, doubleTake, doublePass: now.cash };
}

/**
 * A value on the scale of the present cube: match chances so that the game won is 1 and lost -1; money as it is.
 * @param {number} value
 * @param {Stakes} stakes
 * @param {MatchEquity} table
 */
export function perCube(value, stakes, table) {
  if (!stakes.mine) return value;
  const late = stakes.mine === 1 || stakes.theirs === 1;
  const won = afterGame(stakes.mine - stakes.cube, stakes.theirs, late, table),
    lost = afterGame(stakes.mine, stakes.theirs - stakes.cube, late, table);
  return (value - (won + lost) / 2) / ((won - lost) / 2);
}
