// A bot: a network that takes the play after which the opponent is worth least, or, with habits, what a weaker player
// likes among the plays that are not much worse. All by one ply. Knows no files and no page.

import { BAR, HOME, legalPlays, positionFault, resultOf, turned } from "./board.js";
import { THEIRS, bestValue, cubeValues, perCube, turnedStakes, wantsDouble, wantsTake } from "./cube.js";
import { randomBits } from "./dice.js";
import { equityOf, setCertain, turnedOutcomes, winChance } from "./outcome.js";

export { equityOf, winChance };

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./board.js").Play} Play */
/** @typedef {import("./cube.js").Stakes} Stakes */
/**
 * A play with the six chances of the mover after it and what it is worth to him.
 * @typedef {Play & {outcomes: Float64Array, equity: number}} RankedPlay
 */
/**
 * What a weaker player likes too much, in points of equity; see bgai/evaluation/habits.py.
 * @typedef {{margin: number, noise: number, blots: number, points: number, back: number, seed: bigint}} Habits
 */

export class Bot {
  /**
   * @param {import("./network.js").Network} network
   * @param {{name: string, habits?: Record<string, string | number> | null, cube: import("./cube.js").CubeModel}} options
   */
  constructor(network, { name, habits = null, cube }) {
    this.network = network;
    this.name = name;
    this.cubeModel = cube;
    /** @type {Habits | null} */
    this.habits =
      habits &&
      /** @type {any} */ ({ noise: 0, blots: 0, points: 0, back: 0, ...habits, seed: BigInt(habits.seed ?? 0) });
  }

  /**
   * The same network under another name, with other habits or none.
   * @param {string} name
   * @param {Record<string, string | number> | null} habits
   */
  as(name, habits) {
    return new Bot(this.network, { name, habits, cube: this.cubeModel });
  }

  /**
   * Chances of the player who is about to roll, with what the rules make certain.
   * @param {ArrayLike<number>} board
   * @throws {RangeError} for what is no position
   */
  evaluate(board) {
    const fault = positionFault(board);
    if (fault) throw new RangeError(fault);
    const points = resultOf(board);
    if (points > 0) return Float64Array.from({ length: 6 }, (_, k) => (k === points - 1 ? 1 : 0));
    return setCertain(board, this.network.outcomes(board));
  }

  /**
   * The plays of a roll in the order of the rules, each valued without the cube.
   * @param {ArrayLike<number>} board seen by the mover @param {[number, number]} dice @returns {RankedPlay[]}
   * @throws {RangeError} as `legalPlays`
   */
  valued(board, dice) {
    return legalPlays(board, dice).map((play) => {
      const theirs = setCertain(play.after, this.network.outcomes(play.after));
      return { ...play, outcomes: turnedOutcomes(theirs), equity: -equityOf(theirs) };
    });
  }

  /**
   * All plays of a roll, best first, by the network alone: habits do not count here.
   * @param {ArrayLike<number>} board
   * @param {[number, number]} dice
   */
  rank(board, dice) {
    return this.valued(board, dice).sort((a, b) => b.equity - a.equity);
  }

  /**
   * The play of a roll. With `stakes` the cube and the score are counted; habits know none.
   * @param {ArrayLike<number>} board seen by the mover @param {[number, number]} dice @param {Stakes} [stakes]
   * @returns {RankedPlay}
   */
  choose(board, dice, stakes) {
    const plays = this.valued(board, dice);
    if (this.habits) return likedMost(plays, this.habits);
    return first(plays, stakes ? (play) => this.playValue(play, stakes) : (play) => play.equity);
  }

  /**
   * What a play is worth with the cube to the one who made it; the opponent, who rolls next, handles it best.
   * @param {RankedPlay} play
   * @param {Stakes} stakes
   */
  playValue(play, stakes) {
    const value = bestValue(
      cubeValues(play.after, turnedOutcomes(play.outcomes), turnedStakes(stakes), this.cubeModel),
    );
    return stakes.mine ? 1 - value : -value;
  }

  /**
   * Values with the cube for the player on roll, before he rolls.
   * @param {ArrayLike<number>} board
   * @param {Stakes} stakes
   */
  cube(board, stakes) {
    return cubeValues(board, this.evaluate(board), stakes, this.cubeModel);
  }

  /**
   * Whether the bot doubles before it rolls, where the rules let it.
   * @param {ArrayLike<number>} board
   * @param {Stakes} stakes
   */
  doubles(board, stakes) {
    return wantsDouble(this.cube(board, stakes));
  }

  /**
   * Whether the bot takes a double; board and stakes are seen by the doubler.
   * @param {ArrayLike<number>} board
   * @param {Stakes} stakes
   */
  takes(board, stakes) {
    const values = this.cube(board, stakes);
    if (values.doublePass !== null || !stakes.mine || stakes.crawford || stakes.owner === THEIRS) return wantsTake(values);
    // In a match a double that is no use to the doubler is allowed, too, and has to be answered.
    const taken = this.cube(board, { ...stakes, cube: 2 * stakes.cube, owner: THEIRS }).noDouble;
    return this.perCube(taken, stakes) <= 1;
  }

  /** A value with the cube, per unit of the present cube. @param {number} value @param {Stakes} stakes */
  perCube(value, stakes) {
    return perCube(value, stakes, this.cubeModel.matchEquity);
  }
}

/**
 * The first of those with the highest value.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} value
 * @returns {T}
 */
function first(items, value) {
  let best = items[0],
    highest = value(best);
  for (const item of items.slice(1)) {
    const found = value(item);
    if (found > highest) [best, highest] = [item, found];
  }
  return best;
}

/** Of the plays at most `margin` worse than the best, the one that is worth most to a player with these habits. */
function likedMost(/** @type {RankedPlay[]} */ plays, /** @type {Habits} */ habits) {
  const highest = Math.max(...plays.map(({ equity }) => equity));
  const near = plays.filter(({ equity }) => equity >= highest - habits.margin);
  return first(
    near,
    (play) =>
      play.equity +
      liking(turned(play.after), habits) +
      (habits.noise > 0 ? habits.noise * misjudgement(habits.seed, play.after) : 0),
  );
}

/** What he likes about a board seen by himself. */
function liking(/** @type {Board} */ board, /** @type {Habits} */ { blots, points, back }) {
  let liked = 0;
  for (let point = 1; point < BAR; point++) {
    if (board[point] === 1) liked += blots;
    else if (board[point] > 1) liked += points;
    if (point >= BAR - HOME && board[point] > 0) liked += back * board[point];
  }
  return liked;
}

/**
 * Nearly a normal number, by a hash of the board as the opponent sees it: the sum of four even ones (Irwin and Hall).
 */
function misjudgement(/** @type {bigint} */ seed, /** @type {Board} */ board) {
  let bits = seed;
  board.forEach((men, place) => (bits = randomBits(bits, men, place)));
  let total = 0;
  for (let k = 0n; k < 4n; k++) total += Number((bits >> (16n * k)) & 0xffffn) / 65536;
  return (total - 2) * Math.sqrt(3);
}
