"""Self-play in lockstep with one set of weights. Knows no torch and no targets.

Every game's dice depend on (seed, game number, ply) alone, so a batch is the same whoever plays it and whenever.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from bgai.evaluation.lookahead import best_replies, look_ahead, mean_over_rolls, roll_luck
from bgai.evaluation.search import Evaluator, Filter, best_rows, equity_of, set_certain, sifted
from bgai.rules.dice import fraction, random_bits, rolls
from bgai.rules.moves import MAX_PLAYS, trusted_afterstates
from bgai.rules.outcome import OUTCOMES, points_lost_many
from bgai.rules.position import POINTS, turn
from train.starts import first_boards

ASIDE = 3
LUCK_SIFT = Filter(2, 0.05)
"""Which replies to every roll the network values to measure luck. Of the noise of returns (λ = 0.4, variance against
values looked two rolls ahead) that is left when the sketch measures alone, it leaves a sixth at three times the price
(262 µs a position for 86 µs; 4 within 0.1: an eighth at 344 µs; 1: a quarter at 220 µs)."""
_NEARNESS = 0.04
_RIVAL_MARGIN = 0.1  # points: a play this much worse than the one that was made is no rival of it


class Games(NamedTuple):
    """Positions of finished games, game after game, ply after ply."""

    boards: np.ndarray  # [M, 26] int8, seen by the player to roll
    next_outcomes: np.ndarray  # [M, 6] float32: chances after his best play, seen by the next player
    over: np.ndarray  # [M] bool: the best play ends the game; next_outcomes is then exact
    explored: np.ndarray  # [M] bool: not the best play was made, so what came later tells nothing of this position
    luck: np.ndarray  # [M, 6] float32: what the roll brought the player beyond the mean of all rolls; 0: not measured
    aside: np.ndarray  # [M, ASIDE, 26] int8: any plays of this roll, good or bad, seen by the next player
    rolled: np.ndarray  # [M, 6] float32: chances looked one roll ahead by the network; 0: not measured
    has_rival: np.ndarray  # [M] bool: whether a rival is known, another play of the roll that led to this position
    rivals: np.ndarray  # [M, 26] int8, seen by the player to roll
    rivals_rolled: np.ndarray  # [M, 6] float32: the same of the rivals
    lengths: np.ndarray  # [games] int64, plies of each game
    points: np.ndarray  # [games] int8, points of the result, 1 to 3

    @staticmethod
    def joined(parts: list[Games]) -> Games:
        """Several lots of games as one, in order."""
        return Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class SelfPlay(NamedTuple):
    """How games are played."""

    scattered: float = 0.0
    """Share of the games that begin at scattered positions (see train.starts)."""
    explore: float = 0.0
    """Share of the rolls that not the best play is made of but one drawn by how near it comes, or plays that the
    network wrongly dislikes would never be met."""
    sift: bool = False
    """Whether the sketch sifts the plays (see bgai.evaluation.search)."""
    without_luck: bool = False
    """Whether the luck of every roll is measured, by the sketch or by the network."""
    luck_by_network: bool = False
    """Whether the network measures it, valuing of every roll what the sketch passes by LUCK_SIFT."""
    rivals: float = 0.0
    """Share of the rolls of which also the play that came nearest to the one made is looked at one roll ahead, for
    the difference to be learned; needs luck measured by the network."""


PLAIN = SelfPlay()


def play_games(
    evaluate: Evaluator,
    *,
    seed: int,
    first: int,
    count: int,
    ways: SelfPlay = PLAIN,
    sketch: Evaluator | None = None,
) -> Games:
    """Play games number first to first + count - 1 to their end, both sides by one ply."""
    numbers = np.arange(count)
    boards, opened = first_boards(seed, first, count, ways.scattered)
    lengths = np.zeros(count, dtype=np.int64)
    points = np.zeros(count, dtype=np.int8)
    played: list[tuple[np.ndarray, ...]] = []
    workspace = np.empty((count * 24 + MAX_PLAYS, POINTS), dtype=np.int8)
    rivals = no_rivals(count)
    ply = 0
    while len(numbers):
        # A game that begins elsewhere has no opening roll, ply 0, which is never a double.
        dice = np.where(
            opened[numbers, None], rolls(seed, first + numbers, ply), rolls(seed, first + numbers, ply + 1)
        )
        rows, starts = trusted_afterstates(boards, dice, workspace)
        aside = rows[_any_rows(starts, seed, first + numbers, ply)]
        parents = np.ascontiguousarray(turn(boards))
        if ways.sift and sketch is not None:
            rows, starts = sifted(sketch, parents, rows, starts)
        outcomes = evaluate(parents, rows, starts)
        set_certain(rows, outcomes)
        best = best_rows(outcomes, starts)
        made = best
        if ways.explore:
            made = _drawn_rows(outcomes, starts, best, ways.explore, seed, first + numbers, ply)
        after = rows[made]
        lost = points_lost_many(after)
        over = lost > 0
        ends = over if made is best else points_lost_many(rows[best]) > 0
        luck, rolled = np.zeros((2, len(boards), OUTCOMES), dtype=np.float32)
        if ways.without_luck and sketch is not None:
            if ways.luck_by_network:
                replies = best_replies(evaluate, boards, sketch, LUCK_SIFT)
                rolled = mean_over_rolls(replies.outcomes)
                set_certain(boards, rolled)
            else:
                replies = best_replies(sketch, boards)
            luck = roll_luck(replies.outcomes, dice)
        played.append((boards, outcomes[best], ends, made != best, luck, aside, rolled, *rivals, numbers))
        lengths[numbers] = ply + 1
        points[numbers] = lost
        rivals = no_rivals(len(boards))
        if ways.rivals and sketch is not None:
            asked = ~over & _drawn_games(ways.rivals, seed, first + numbers, ply)
            nearest = _nearest_rows(outcomes, starts, made, asked)
            rivals = _looked_ahead(evaluate, sketch, rows, nearest)
        rivals = Rivals(*(array[~over] for array in rivals))
        boards, numbers = after[~over], numbers[~over]
        ply += 1
    order = np.argsort(np.concatenate([entry[-1] for entry in played]), kind="stable")
    arrays = [np.concatenate([entry[k] for entry in played])[order] for k in range(len(played[0]) - 1)]
    return Games(*[*arrays, lengths, points])


class Rivals(NamedTuple):
    """Of N positions the plays that came nearest to the ones that led there, as Games has them."""

    known: np.ndarray  # [N] bool
    boards: np.ndarray  # [N, 26] int8
    rolled: np.ndarray  # [N, 6] float32


def no_rivals(count: int) -> Rivals:
    """Of `count` positions none has one."""
    return Rivals(
        np.zeros(count, dtype=np.bool_),
        np.zeros((count, POINTS), dtype=np.int8),
        np.zeros((count, OUTCOMES), dtype=np.float32),
    )


def _looked_ahead(evaluate: Evaluator, sketch: Evaluator, boards: np.ndarray, rows: np.ndarray) -> Rivals:
    """The boards [N, 26] in those rows [G] that are not -1, looked one roll ahead."""
    rivals = no_rivals(len(rows))
    rivals.known[:] = rows >= 0
    rivals.boards[rivals.known] = nearest = boards[rows[rivals.known]]
    rivals.rolled[rivals.known] = look_ahead(evaluate, nearest, 1, sketch, LUCK_SIFT)
    return rivals


@njit(cache=True, nogil=True)
def _drawn_games(share, seed, games, ply):
    """Which games are drawn, each with a chance of `share`; depends on seed, game and ply alone."""
    drawn = np.empty(games.shape[0], dtype=np.bool_)
    for i in range(games.shape[0]):
        bits = random_bits(random_bits(seed, games[i], ply), 3, 0)  # not the bits of the dice
        drawn[i] = fraction(bits) < share
    return drawn


@njit(cache=True, nogil=True)
def _nearest_rows(outcomes, starts, made, asked):
    """Of every game that is asked for the row worth most like the one made, within _RIVAL_MARGIN; else -1."""
    nearest = np.full(made.shape[0], -1, dtype=np.int64)
    for i in range(made.shape[0]):
        if not asked[i]:
            continue
        least = _RIVAL_MARGIN
        value = equity_of(outcomes, made[i])
        for row in range(starts[i], starts[i + 1]):
            gap = abs(equity_of(outcomes, row) - value)
            if row != made[i] and gap < least:
                least = gap
                nearest[i] = row
    return nearest


@njit(cache=True, nogil=True)
def _any_rows(starts, seed, games, ply):
    """ASIDE rows of each game, all with the same chance; depend on seed, game and ply alone."""
    rows = np.empty((games.shape[0], ASIDE), dtype=np.int64)
    for i in range(games.shape[0]):
        for k in range(ASIDE):
            bits = random_bits(random_bits(seed, games[i], ply), 2, k)  # not the bits of the dice
            count = uint64(starts[i + 1] - starts[i])
            rows[i, k] = starts[i] + np.int64(((bits >> uint64(32)) * count) >> uint64(32))
    return rows


@njit(cache=True, nogil=True)
def _drawn_rows(outcomes, starts, best, explore, seed, games, ply):
    """The rows of `best`, at a share `explore` of the games another one: drawn with a weight that falls by e for each
    _NEARNESS points that it is worth less. Depends on seed, game and ply alone."""
    made = best.copy()
    for i in range(best.shape[0]):
        first, end = starts[i], starts[i + 1]
        bits = random_bits(random_bits(seed, games[i], ply), 1, 0)  # not the bits of the dice
        if end - first < 2 or fraction(bits) >= explore:
            continue
        lowest = equity_of(outcomes, best[i])
        total = 0.0
        for row in range(first, end):
            total += math.exp((lowest - equity_of(outcomes, row)) / _NEARNESS) if row != best[i] else 0.0
        bits = random_bits(bits, 0, 0)
        left = total * fraction(bits)
        for row in range(first, end):
            left -= math.exp((lowest - equity_of(outcomes, row)) / _NEARNESS) if row != best[i] else 0.0
            if left < 0:
                made[i] = row
                break
    return made
