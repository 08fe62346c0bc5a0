"""Choosing plays by one ply: the afterstate that is worth least to the opponent. Knows no networks, only functions.

The way of a datum: boards -> afterstates -> outcomes -> equity -> best of each game -> boards. Self-play, arena
and bots all go it. A sketch, an evaluator that is rough and quick, may sift the afterstates before: those that it
finds plainly worse than others of the same roll are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from bgai.rules.moves import trusted_afterstates
from bgai.rules.outcome import OUTCOMES, points_lost, points_lost_many
from bgai.rules.position import MEN, turn

# (parents [B, 26], boards [N, 26], starts [B + 1]) -> chances [N, 6] of the player to roll on `boards`.
Evaluator = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Filter(NamedTuple):
    """Which afterstates of a roll are worth a better look: at most so many, no more than `margin` points behind the
    best."""

    most: int
    margin: float


SIFT = Filter(10, 0.2)
"""What a sketch leaves of the afterstates of a roll: its best ten, no more than so many points behind the best.

Measured with the strong bot in 22,602 decisions of games from the opening: the sketch (256-32) leaves 4.7 of 15.9
plays and hides the best in 0.6 %, which costs 0.00003 points a decision (6 within 0.12: 3.2, 1.7 %, 0.00018;
8 within 0.15: 3.9, 1.0 %, 0.00008; 12 within 0.25: 5.6, 0.4 %, 0.00001)."""


class Choice(NamedTuple):
    """The best afterstate of every board."""

    boards: np.ndarray  # [B, 26] int8, seen by the opponent, who rolls next
    outcomes: np.ndarray  # [B, 6] float32, his chances
    points_lost: np.ndarray  # [B] int8, what he has lost if the play ended the game, else 0


@njit(cache=True, nogil=True)
def set_certain(boards, outcomes):
    """Put what the rules say over the estimates [N, 6] of boards [N, 26] seen by the player to roll.

    Where the opponent has no men left, the exact outcome; where a player has borne off a man, he can no longer
    lose a gammon, so those chances count as single games.
    """
    half = OUTCOMES // 2
    for i in range(boards.shape[0]):
        mine = 0
        theirs = 0
        for place in range(boards.shape[1]):
            mine += max(boards[i, place], 0)
            theirs -= min(boards[i, place], 0)
        if theirs == 0:
            outcomes[i] = 0
            outcomes[i, half + points_lost(boards[i]) - 1] = 1
            continue
        if mine < MEN:
            outcomes[i, half] += outcomes[i, half + 1] + outcomes[i, half + 2]
            outcomes[i, half + 1 :] = 0
        if theirs < MEN:
            outcomes[i, 0] += outcomes[i, 1] + outcomes[i, 2]
            outcomes[i, 1:half] = 0


@njit(cache=True, nogil=True)
def equity_of(outcomes, i):
    """Cubeless money equity of row i of chances [N, 6]."""
    return (
        (outcomes[i, 0] - outcomes[i, 3])
        + 2 * (outcomes[i, 1] - outcomes[i, 4])
        + 3 * (outcomes[i, 2] - outcomes[i, 5])
    )


@njit(cache=True, nogil=True)
def equities(outcomes):
    """Cubeless money equity of chances [N, 6] -> [N] float64."""
    values = np.empty(outcomes.shape[0], dtype=np.float64)
    for i in range(outcomes.shape[0]):
        values[i] = equity_of(outcomes, i)
    return values


@njit(cache=True, nogil=True)
def best_rows(outcomes, starts):
    """Row of the lowest equity in every game; of equals the first."""
    best = np.empty(starts.shape[0] - 1, dtype=np.int64)
    for game in range(starts.shape[0] - 1):
        best[game] = starts[game]
        lowest = equity_of(outcomes, starts[game])
        for row in range(starts[game] + 1, starts[game + 1]):
            value = equity_of(outcomes, row)
            if value < lowest:
                lowest = value
                best[game] = row
    return best


@njit(cache=True, nogil=True)
def _promising(outcomes, starts, most, margin):
    """Which rows are among the `most` lowest equities of their game, and within `margin` of the lowest -> (rows [M]
    in their order, starts). Equals of the last are kept, too."""
    kept = np.empty(outcomes.shape[0], dtype=np.int64)
    new_starts = np.zeros_like(starts)
    n = 0
    for game in range(starts.shape[0] - 1):
        first, end = starts[game], starts[game + 1]
        values = np.empty(end - first, dtype=np.float64)
        for k in range(end - first):
            values[k] = equity_of(outcomes, first + k)
        limit = values.min() + margin
        if end - first > most:
            limit = min(limit, np.partition(values, most - 1)[most - 1])
        for k in range(end - first):
            kept[n] = first + k
            n += values[k] <= limit
        new_starts[game + 1] = n
    return kept[:n], new_starts


def sifted(
    sketch: Evaluator,
    parents: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    rolls: int = 1,
    passing: Filter = SIFT,
) -> tuple[np.ndarray, np.ndarray]:
    """The afterstates rows [N, 26] that a sketch leaves of every roll as `passing`, and their starts; `rolls` rolls
    in a row have the same of the parents [B, 26], seen by the opponent."""
    outcomes = sketch(parents, rows, starts[::rolls])
    set_certain(rows, outcomes)
    kept, starts = _promising(outcomes, starts, passing.most, passing.margin)
    return rows[kept], starts


def candidates(
    boards: np.ndarray, dice: np.ndarray, sketch: Evaluator | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents [B, 26], afterstates [N, 26] and their starts [B + 1], as an Evaluator wants them: all afterstates, or
    those that the sketch leaves."""
    rows, starts = trusted_afterstates(boards, dice)
    parents = np.ascontiguousarray(turn(boards))
    if sketch is not None:
        rows, starts = sifted(sketch, parents, rows, starts)
    return parents, rows, starts


def value_afterstates(
    evaluate: Evaluator, boards: np.ndarray, dice: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Afterstates [N, 26], starts [B + 1] and the opponent's chances [N, 6], with what the rules make certain."""
    parents, rows, starts = candidates(boards, dice)
    outcomes = evaluate(parents, rows, starts)
    set_certain(rows, outcomes)
    return rows, starts, outcomes


def one_ply(evaluate: Evaluator, boards: np.ndarray, dice: np.ndarray) -> Choice:
    """The best play of every board: boards [B, 26] int8 seen by the mover, dice [B, 2] int8."""
    rows, starts, outcomes = value_afterstates(evaluate, boards, dice)
    best = best_rows(outcomes, starts)
    chosen = rows[best]
    return Choice(chosen, outcomes[best], points_lost_many(chosen))
