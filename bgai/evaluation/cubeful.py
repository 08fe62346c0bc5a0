"""Plays and cube actions with the cube on it: outcomes of a network -> cube values -> decisions.

The way of a datum is that of bgai.evaluation.search with one more hop: boards -> afterstates -> outcomes -> value
with the cube -> best of each game. Knows no networks, only functions, and no file but the match equity table.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bgai.evaluation.cube import (
    WAITING,
    Stakes,
    after_pass,
    best_values,
    cube_values,
    position_efficiency,
)
from bgai.evaluation.lookahead import FILTERS, look_ahead, lowest_few
from bgai.evaluation.match_equity import match_equity
from bgai.evaluation.search import Evaluator, set_certain, value_afterstates
from bgai.rules.dice import ROLL_CHANCES, ROLLS


def roll_outcomes(evaluate: Evaluator, boards: np.ndarray) -> np.ndarray:
    """Chances [N, 6] of the player on roll in unrelated boards [N, 26], with what the rules make certain."""
    outcomes = evaluate(boards, boards, np.arange(len(boards) + 1))
    set_certain(boards, outcomes)
    return outcomes


def static_values(outcomes: np.ndarray, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
    """No double, double and take, double and pass for the player on roll in boards [N, 26] -> [N, 3]; see
    bgai.evaluation.cube."""
    table = match_equity()
    return cube_values(outcomes, position_efficiency(boards), stakes, table.pre, table.post)


def play_values(rows: np.ndarray, outcomes: np.ndarray, stakes: Stakes) -> np.ndarray:
    """What afterstates rows [N, 26] are worth to the player who made them -> [N]: the opponent, whose chances are
    `outcomes`, rolls next and handles the cube best. `stakes` as the player who made them sees them."""
    theirs = best_values(static_values(outcomes, rows, stakes.turned()))
    return after_pass(theirs, stakes)


def choose_with_cube(
    evaluate: Evaluator,
    boards: np.ndarray,
    dice: np.ndarray,
    stakes: Stakes,
    plies: int = 1,
    sketch: Evaluator | None = None,
) -> np.ndarray:
    """The best play of every board with the cube and the score counted: boards [B, 26] seen by the mover, dice
    [B, 2], stakes of the B games -> [B, 26].

    As in `choose_by_plies` the deeper looks are for fewer candidates, here those that are best so far at the score. A
    sketch, which counts points of money, sifts the replies only.
    """
    rows, starts, outcomes = value_afterstates(evaluate, boards, dice)
    owner = np.repeat(np.arange(len(boards)), np.diff(starts))
    values = -play_values(rows, outcomes, stakes.take(owner))  # lowest_few wants the lowest
    for rolls, passing in enumerate(FILTERS[plies], start=1):
        # A margin of points is worth half as much in chances to win a match, or less.
        margin = passing.margin if not stakes.my_away.any() else passing.margin / 2
        kept, starts = lowest_few(values, starts, passing.most, margin)
        rows, values, owner = rows[kept], values[kept], owner[kept]
        open_still = np.repeat(np.diff(starts) > 1, np.diff(starts))
        deeper = look_ahead(evaluate, rows[open_still], rolls, sketch)
        values[open_still] = -play_values(rows[open_still], deeper, stakes.take(owner[open_still]))
    best, _ = lowest_few(values, starts, 1, 0.0)
    return rows[best]


def looked_ahead(evaluate: Evaluator, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
    """As `static_values`, one roll deeper -> [B, 3]: the mean over all rolls of the best play with the cube where it
    is, and with a doubled cube at the opponent's side. What a pass gives is certain."""
    count = len(boards)
    rows, starts, outcomes = value_afterstates(
        evaluate, np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (count, 1))
    )
    owner = np.repeat(np.arange(count * len(ROLLS)), np.diff(starts)) // len(ROLLS)
    values = static_values(np.full((count, 6), 1 / 6, dtype=np.float32), boards, stakes)  # for pass, and who may
    may = ~np.isnan(values[:, 2])
    # A doubled cube is a cube for which one point counts two.
    for column, seen, factor in ((0, stakes, 1.0), (1, stakes.doubled(), 2.0)):
        found = play_values(rows, outcomes, seen.take(owner))
        best = found[_highest(found, starts)].reshape(count, len(ROLLS))
        mean = best @ ROLL_CHANCES
        values[:, column] = np.where(stakes.my_away > 0, mean, factor * mean)
    values[~may, 1] = np.nan
    after_crawford = may & (stakes.their_away == 1)
    values[after_crawford, 0] = np.maximum(values[after_crawford, 0] - WAITING, 0)
    return values


def answer_useless_doubles(values: np.ndarray, outcomes: np.ndarray, boards: np.ndarray, stakes: Stakes) -> None:
    """Put into cube values [N, 3] of doublers in a match what taking and passing are worth where the double is no use
    to them (NaN so far): the rules allow it, so it has to be answered. outcomes [N, 6] are the doublers' chances."""
    asked = np.flatnonzero(np.isnan(values[:, 2]) & (stakes.my_away > 0))
    theirs = stakes.take(asked).doubled()
    taken = static_values(outcomes[asked], boards[asked], theirs)[:, 0]
    waited = static_values(outcomes[asked], boards[asked], stakes.take(asked))[:, 0]
    # What it costs is counted at one depth, or a deeper look at waiting would seem a gain or a loss by doubling.
    values[asked, 1] = np.clip(values[asked, 0] - np.maximum(waited - taken, 0), 0, 1)
    for i in asked:
        values[i, 2] = chance_after(stakes.take(np.array([i])), 1)


def chance_after(stakes: Stakes, winner: int) -> float:
    """Chance to win the match for the player on roll of one game, stakes [1], when this game ends with a single win
    of his (1) or of the other (-1)."""
    table = match_equity()
    mine = int(stakes.my_away[0] - (stakes.cube[0] if winner == 1 else 0))
    theirs = int(stakes.their_away[0] - (stakes.cube[0] if winner == -1 else 0))
    if mine <= 0 or theirs <= 0:
        return float(mine <= 0)
    if stakes.my_away[0] == 1 or stakes.their_away[0] == 1:
        return 1 - float(table.post[theirs]) if mine == 1 else float(table.post[mine])
    return float(table.pre[mine, theirs])


def wants_double(values: np.ndarray) -> np.ndarray:
    """Where doubling is at least as good as rolling on: cube values [N, 3] -> [N] bool."""
    with np.errstate(invalid="ignore"):
        return np.fmin(values[:, 1], values[:, 2]) > values[:, 0]


def wants_take(values: np.ndarray) -> np.ndarray:
    """Where the other player should take a double: cube values [N, 3] of the doubler -> [N] bool."""
    return values[:, 1] <= values[:, 2]


@njit(cache=True, nogil=True)
def _highest(values, starts):
    """Row of the highest value in every game; of equals the first."""
    best = np.empty(starts.shape[0] - 1, dtype=np.int64)
    for game in range(starts.shape[0] - 1):
        best[game] = starts[game]
        for row in range(starts[game] + 1, starts[game + 1]):
            if values[row] > values[best[game]]:
                best[game] = row
    return best
