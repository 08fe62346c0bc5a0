// How a game ends: six chances that exclude each other and sum to one. Knows no networks.

import { MEN, offOf, pointsLost } from "./board.js";

/** The order of outcomes, for the player to roll; a gammon is not also a win. */
export const OUTCOMES = ["win", "gammon", "backgammon", "loss", "gammon_loss", "backgammon_loss"];

/** Points per game without cube. @param {ArrayLike<number>} outcomes */
export const equityOf = (outcomes) =>
  outcomes[0] - outcomes[3] + 2 * (outcomes[1] - outcomes[4]) + 3 * (outcomes[2] - outcomes[5]);

/** Chance to win in any way. @param {ArrayLike<number>} outcomes */
export const winChance = (outcomes) => outcomes[0] + outcomes[1] + outcomes[2];

/** The same chances seen by the other player. @param {ArrayLike<number>} o */
export const turnedOutcomes = (o) => Float64Array.of(o[3], o[4], o[5], o[0], o[1], o[2]);

/**
 * Puts what the rules say over estimated chances, in place: the exact outcome where the opponent has no men left, and
 * no gammon for a player who has borne off a man.
 * @param {ArrayLike<number>} board seen by the player to roll, whose chances they are
 * @param {Float64Array} outcomes
 */
export function setCertain(board, outcomes) {
  const [mine, theirs] = offOf(board);
  if (theirs === MEN) {
    outcomes.fill(0);
    outcomes[2 + pointsLost(board)] = 1;
    return outcomes;
  }
  if (mine > 0) {
    outcomes[3] += outcomes[4] + outcomes[5];
    outcomes[4] = outcomes[5] = 0;
  }
  if (theirs > 0) {
    outcomes[0] += outcomes[1] + outcomes[2];
    outcomes[1] = outcomes[2] = 0;
  }
  return outcomes;
}
