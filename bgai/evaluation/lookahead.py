"""Looking ahead over rolls: what positions are worth after the best replies to all 21 rolls, and choice by that.

Plies are counted as XG does: a bot @1 takes the afterstate that its network likes best (gnubg's 0-ply), @2 looks one
roll further (gnubg's 1-ply), @3 two rolls (gnubg's 2-ply). On the way all replies are chosen by one ply. Like
`search.py` it knows no networks, only functions; no board's value depends on what else is in the batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from bgai.evaluation.search import Evaluator, Filter, best_rows, candidates, equities, set_certain, sifted
from bgai.rules.dice import ROLL_CHANCES, ROLL_NUMBERS, ROLLS
from bgai.rules.moves import MAX_PLAYS, trusted_afterstates
from bgai.rules.outcome import OUTCOMES, points_lost_many, turn_outcomes
from bgai.rules.position import POINTS, turn

MOST_PLIES = 3
_AT_ONCE = 32  # boards whose replies are valued together: their afterstates, some 17,000, stay in the cache
_ROOM = 40  # afterstates of a roll that the workspace has room for; 26 is the mean in the middle of a game


REPLY_SIFT = Filter(8, 0.15)
"""What a sketch leaves of the replies to a roll (see search.SIFT): errors of 21 of them are averaged."""
FILTERS = {1: (), 2: (Filter(12, 0.2),), 3: (Filter(12, 0.2), Filter(4, 0.08))}
"""For each number of plies, what passes after the look at one ply, and then at two.

Measured on 1,500 decisions of the benchmark, looking at every candidate: the first filter hides the play that is best
at two plies in 0.6 % of them, which costs 0.00015 points a decision, and leaves 5.7 of 18.5 candidates (8 within
0.16: 1.4 %, 0.0004 and 4.3). In 250 decisions both filters hid the best play of three plies in 0.8 %, which costs
0.00001, and left 2.2 candidates."""


class Replies(NamedTuple):
    """The best play by one ply of each of N boards for each of the ROLLS."""

    boards: np.ndarray  # [N, 21, 26] int8, seen by the opponent, who rolls next
    outcomes: np.ndarray  # [N, 21, 6] float32, his chances


def best_replies(
    evaluate: Evaluator, boards: np.ndarray, sketch: Evaluator | None = None, passing: Filter = REPLY_SIFT
) -> Replies:
    """Replies of the player to roll on boards [N, 26] int8, none of them a finished game. A sketch leaves those that
    are `passing`."""
    replies = Replies(
        np.empty((len(boards), len(ROLLS), POINTS), dtype=np.int8),
        np.empty((len(boards), len(ROLLS), OUTCOMES), dtype=np.float32),
    )
    for begin in range(0, len(boards), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        _fill_replies(evaluate, sketch, passing, boards[part], replies.boards[part], replies.outcomes[part])
    return replies


def _fill_replies(
    evaluate: Evaluator,
    sketch: Evaluator | None,
    passing: Filter,
    boards: np.ndarray,
    best: np.ndarray,
    best_outcomes: np.ndarray,
) -> None:
    rolls = np.tile(ROLLS, (len(boards), 1))
    room = np.empty((len(rolls) * _ROOM + MAX_PLAYS, POINTS), dtype=np.int8)
    rows, starts = trusted_afterstates(np.repeat(boards, len(ROLLS), axis=0), rolls, room)
    # All afterstates of a board, of whatever roll, resemble the same parent.
    parents = np.ascontiguousarray(turn(boards))
    if sketch is not None:
        rows, starts = sifted(sketch, parents, rows, starts, len(ROLLS), passing)
    outcomes = evaluate(parents, rows, starts[:: len(ROLLS)])
    set_certain(rows, outcomes)
    chosen = best_rows(outcomes, starts)
    best[:] = rows[chosen].reshape(best.shape)
    best_outcomes[:] = outcomes[chosen].reshape(best_outcomes.shape)


def look_ahead(
    evaluate: Evaluator,
    boards: np.ndarray,
    rolls: int,
    sketch: Evaluator | None = None,
    passing: Filter = REPLY_SIFT,
) -> np.ndarray:
    """Chances of the player to roll on boards [N, 26] int8 -> [N, 6] float32, looking `rolls` rolls ahead.

    With 0 rolls what `evaluate` says, with more the mean over all rolls of what the best replies leave; finished
    games are exact. A sketch leaves the replies that are `passing`.
    """
    outcomes = np.zeros((len(boards), OUTCOMES), dtype=np.float32)
    going = np.flatnonzero(points_lost_many(boards) == 0)
    at_once = _AT_ONCE if rolls else len(boards) or 1
    for begin in range(0, len(going), at_once):
        part = going[begin : begin + at_once]
        outcomes[part] = _look_ahead(evaluate, boards[part], rolls, sketch, passing)
    set_certain(boards, outcomes)
    return outcomes


def _look_ahead(
    evaluate: Evaluator, boards: np.ndarray, rolls: int, sketch: Evaluator | None, passing: Filter
) -> np.ndarray:
    """`look_ahead` on boards that are no finished games, all at once."""
    if rolls == 0:
        return evaluate(boards, boards, np.arange(len(boards) + 1))
    replies = best_replies(evaluate, boards, sketch, passing)
    if rolls == 1:
        return mean_over_rolls(replies.outcomes)
    kept, which = _different(replies.boards)
    later = look_ahead(evaluate, replies.boards.reshape(-1, POINTS)[kept], rolls - 1, sketch, passing)
    return mean_over_rolls(later[which])


def choose_by_plies(
    evaluate: Evaluator, boards: np.ndarray, dice: np.ndarray, plies: int, sketch: Evaluator | None = None
) -> np.ndarray:
    """The play of every board by so many plies: boards [B, 26] int8 seen by the mover, dice [B, 2] int8 -> [B, 26]
    int8 seen by the opponent.

    The deeper the look, the fewer candidates get it: see FILTERS. A sketch sifts the plays where one look is all, and
    with more all the replies: FILTERS pass more than it would leave.
    """
    parents, rows, starts = candidates(boards, dice, sketch if plies == 1 else None)
    values = _values_where_open(evaluate, parents, rows, starts)
    for rolls, passing in enumerate(FILTERS[plies], start=1):
        kept, starts = lowest_few(values, starts, passing.most, passing.margin)
        rows, values = rows[kept], values[kept]
        counts = np.diff(starts)
        open_still = np.repeat(counts > 1, counts)
        values[open_still] = equities(look_ahead(evaluate, rows[open_still], rolls, sketch))
    best, _ = lowest_few(values, starts, 1, 0.0)
    return rows[best]


def _values_where_open(evaluate: Evaluator, parents: np.ndarray, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Equities of the candidates [N, 26] by one ply -> [N]; 0 where a candidate is the only one of its board, which
    needs no look: so it is for a quarter of the boards and more."""
    counts = np.diff(starts)
    boards_open = counts > 1
    rows_open = np.repeat(boards_open, counts)
    valued = rows[rows_open]
    outcomes = evaluate(parents[boards_open], valued, np.concatenate([[0], np.cumsum(counts[boards_open])]))
    set_certain(valued, outcomes)
    values = np.zeros(len(rows))
    values[rows_open] = equities(outcomes)
    return values


@njit(cache=True, nogil=True)
def lowest_few(values, starts, most, margin):
    """Rows of the lowest values [N] of every game, those of game i being starts[i] to starts[i + 1]: at most `most`,
    up to `margin` above the lowest. Lowest first, of equals the first -> (rows [M], their starts)."""
    rows = np.empty(values.shape[0], dtype=np.int64)
    new_starts = np.zeros_like(starts)
    n = 0
    for game in range(starts.shape[0] - 1):
        begin = starts[game]
        order = np.argsort(values[begin : starts[game + 1]], kind="mergesort")
        for place in range(min(most, order.shape[0])):
            row = begin + order[place]
            if values[row] > values[begin + order[0]] + margin:
                break
            rows[n] = row
            n += 1
        new_starts[game + 1] = n
    return rows[:n], new_starts


@njit(cache=True, nogil=True)
def _mean_over_rolls(outcomes, chances, mean):
    half = outcomes.shape[2] // 2
    for i in range(outcomes.shape[0]):
        for k in range(outcomes.shape[2]):
            total = 0.0
            for roll in range(outcomes.shape[1]):
                total += chances[roll] * outcomes[i, roll, k]
            mean[i, (k + half) % outcomes.shape[2]] = total


def mean_over_rolls(outcomes: np.ndarray) -> np.ndarray:
    """The opponent's chances after each of the 21 rolls, [N, 21, 6] -> those of the roller before, [N, 6] float32."""
    mean = np.empty((len(outcomes), OUTCOMES), dtype=np.float32)
    _mean_over_rolls(outcomes, ROLL_CHANCES, mean)
    return mean


def roll_luck(outcomes: np.ndarray, dice: np.ndarray) -> np.ndarray:
    """What rolls [N, 2] brought those who rolled beyond the mean of all rolls -> [N, 6] float32, seen by them.

    outcomes [N, 21, 6]: the opponent's chances after the best replies to all ROLLS. Zero on average, whatever the
    network thinks of the boards.
    """
    numbers = ROLL_NUMBERS[dice[:, 0], dice[:, 1]]
    return turn_outcomes(outcomes[np.arange(len(outcomes)), numbers]) - mean_over_rolls(outcomes)


def luck_in_points(
    evaluate: Evaluator, boards: np.ndarray, dice: np.ndarray, sketch: Evaluator | None = None
) -> np.ndarray:
    """As `roll_luck`, in points and from the boards [N, 26] int8 that were rolled on -> [N] float64. The better
    `evaluate`, the more of the luck is seen; that its mean is zero does not depend on it."""
    return equities(roll_luck(best_replies(evaluate, boards, sketch).outcomes, dice))


@njit(cache=True, nogil=True)
def _different(boards):
    """Of boards [N, R, 26] those that differ from the ones before in their group of R: the numbers of their rows,
    and for each board which of these it is, [N, R]. Who cannot enter from the bar leaves the same board often."""
    kept = np.empty(boards.shape[0] * boards.shape[1], dtype=np.int64)
    which = np.empty((boards.shape[0], boards.shape[1]), dtype=np.int64)
    n = 0
    for i in range(boards.shape[0]):
        for k in range(boards.shape[1]):
            which[i, k] = n
            for earlier in range(k):
                if np.array_equal(boards[i, earlier], boards[i, k]):
                    which[i, k] = which[i, earlier]
                    break
            if which[i, k] == n:
                kept[n] = i * boards.shape[1] + k
                n += 1
    return kept[:n], which
