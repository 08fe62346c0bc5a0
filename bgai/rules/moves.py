"""Every afterstate of a roll, jitted, for a batch of boards. Knows no notation and no value.

Die after die, as the rulebook says it; of plays that lead to the same men one is kept. Boards come in seen by
the mover and go out turned, seen by the opponent who is to roll next. Point sets are bit masks (bit p = point p,
bit 25 the mover's bar), which makes "who may move by this die" three operations.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from bgai.rules.position import POINTS, check_boards

# 15 men share the four steps of a double: C(15 + 4 - 1, 4) ways at most.
MAX_PLAYS = 3060
_BAR = 25
_ALL_POINTS = (1 << 25) - 2  # bits 1 to 24
_BEYOND_HOME = 1 << 7
# Two moves change the count of a point by two men at most, so base 5 gives each set of changes its own number.
_PLACE = np.array([0] + [5**point for point in range(1, 26)], dtype=np.int64)


@intrinsic
def highest_bit(typingctx, mask):
    """Index of the highest set bit of a mask that is not zero."""

    def codegen(context, builder, signature, args):
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), codegen


@njit(cache=True, nogil=True)
def _own_and_open(board):
    """Masks of the points that hold the mover's men, and of those he may land on; and the opponent's blots."""
    own = 0
    blocked = 0
    blots = 0
    for point in range(_BAR + 1):
        men = board[point]
        if men > 0:
            own |= 1 << point
        elif men < -1:
            blocked |= 1 << point
        elif men == -1:
            blots |= 1 << point
    return own, _ALL_POINTS & ~blocked, blots


@njit(cache=True, nogil=True)
def _sources(own, open_points, die):
    """Mask of the points from which one man may move by this die."""
    movable = own
    if own >> _BAR:
        movable = 1 << _BAR
    sources = movable & (open_points << die)
    if own < _BEYOND_HOME and own > 0:
        rearmost = highest_bit(own)
        if rearmost > die:
            sources |= own & (1 << die)
        else:
            sources |= 1 << rearmost
    return sources


@njit(cache=True, nogil=True)
def _without_and_with(own, last_man, point, die):
    """The mask `own` after a man moved by `die` from `point`; `last_man` says whether he was alone there."""
    if last_man:
        own &= ~(1 << point)
    if point > die:
        own |= 1 << (point - die)
    return own


@njit(cache=True, nogil=True)
def _move(row, point, die):
    """Move a man on a turned board, where the mover's men are negative and his point p is index 25 - p."""
    row[_BAR - point] += 1
    if point > die:
        to = _BAR - point + die
        if row[to] > 0:
            row[to] = 0
            row[_BAR] += 1
        row[to] -= 1


@njit(cache=True, nogil=True)
def _turn_into(board, row):
    for point in range(_BAR + 1):
        row[point] = -board[_BAR - point]


@njit(cache=True, nogil=True)
def _two_dice(board, high, low, out, n, keys, hits):
    """Plays of two different dice, both moved; writes turned boards from out[n] on and returns the new n."""
    own, open_points, blots = _own_and_open(board)
    begin = n
    for order in range(2):
        die1, die2 = (high, low) if order == 0 else (low, high)
        firsts = _sources(own, open_points, die1)
        while firsts:
            first = highest_bit(firsts)
            firsts &= ~(1 << first)
            seconds = _sources(_without_and_with(own, board[first] == 1, first, die1), open_points, die2)
            key1 = _PLACE[max(first - die1, 0)] - _PLACE[first]
            hit1 = blots & (1 << max(first - die1, 0))
            while seconds:
                second = highest_bit(seconds)
                seconds &= ~(1 << second)
                key = key1 + _PLACE[max(second - die2, 0)] - _PLACE[second]
                hit = hit1 | (blots & (1 << max(second - die2, 0)))
                seen = False
                for i in range(n - begin):
                    seen |= (keys[i] == key) & (hits[i] == hit)
                if seen:
                    continue
                keys[n - begin] = key
                hits[n - begin] = hit
                _turn_into(board, out[n])
                _move(out[n], first, die1)
                _move(out[n], second, die2)
                n += 1
    return n


@njit(cache=True, nogil=True)
def _one_die(board, die, out, n):
    """Plays of a single die."""
    own, open_points, _ = _own_and_open(board)
    sources = _sources(own, open_points, die)
    while sources:
        point = highest_bit(sources)
        sources &= ~(1 << point)
        _turn_into(board, out[n])
        _move(out[n], point, die)
        n += 1
    return n


@njit(cache=True, nogil=True)
def _double(board, die, out, n, rows):
    """Plays of a double. Men move in falling order of their points: every set of moves can be put in that order
    (men that come from behind are moved first), and different sets give different boards, so none comes twice."""
    begin = n
    most = 1
    own, open_points, _ = _own_and_open(board)
    owns = np.empty(4, dtype=np.int64)
    lefts = np.empty(4, dtype=np.int64)
    _turn_into(board, rows[0])
    owns[0] = own
    lefts[0] = _sources(own, open_points, die)
    depth = 0
    while depth >= 0:
        if lefts[depth] == 0:
            depth -= 1
            continue
        point = highest_bit(lefts[depth])
        lefts[depth] &= ~(1 << point)
        last_man = rows[depth, _BAR - point] == -1
        moved = _without_and_with(owns[depth], last_man, point, die)
        following = 0
        if depth < 3:
            following = _sources(moved, open_points, die) & ((2 << point) - 1)
        if following:
            rows[depth + 1] = rows[depth]
            _move(rows[depth + 1], point, die)
            depth += 1
            owns[depth] = moved
            lefts[depth] = following
        elif depth + 1 >= most:
            if depth + 1 > most:
                most = depth + 1
                n = begin
            out[n] = rows[depth]
            _move(out[n], point, die)
            n += 1
    return n


@njit(cache=True, nogil=True)
def _plays(board, die1, die2, out, n, keys, hits, rows):
    """All afterstates of one roll, or the turned board alone when there is no legal play."""
    begin = n
    if die1 == die2:
        n = _double(board, die1, out, n, rows)
    else:
        high, low = max(die1, die2), min(die1, die2)
        n = _two_dice(board, high, low, out, n, keys, hits)
        if n == begin:
            n = _one_die(board, high, out, n)
        if n == begin:
            n = _one_die(board, low, out, n)
    if n == begin:
        _turn_into(board, out[n])
        n += 1
    return n


@njit(cache=True, nogil=True)
def fill_afterstates(boards, dice, first, starts, out):
    """Afterstates of boards[first:] into `out` while there surely is room; returns the first board not done.

    boards [B, 26] int8, dice [B, 2] int8, starts [B + 1] int64 (starts[first] already set), out [capacity, 26].
    """
    keys = np.empty(MAX_PLAYS, dtype=np.int64)
    hits = np.empty(MAX_PLAYS, dtype=np.int64)
    rows = np.empty((4, _BAR + 1), dtype=np.int8)
    n = starts[first]
    for game in range(first, boards.shape[0]):
        if n + MAX_PLAYS > out.shape[0]:
            return game
        n = _plays(boards[game], np.int64(dice[game, 0]), np.int64(dice[game, 1]), out, n, keys, hits, rows)
        starts[game + 1] = n
    return boards.shape[0]


def trusted_afterstates(
    boards: np.ndarray, dice: np.ndarray, out: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """`afterstates` without the checks, for arrays that the engine made itself (int8, contiguous).

    `out` is a workspace [capacity, 26] int8 that may be reused between calls; one that is too small is replaced.
    """
    games = boards.shape[0]
    starts = np.zeros(games + 1, dtype=np.int64)
    if out is None:
        out = np.empty((games * 24 + MAX_PLAYS, POINTS), dtype=np.int8)
    done = fill_afterstates(boards, dice, 0, starts, out)
    while done < games:
        out = np.concatenate([out, np.empty((len(out) + MAX_PLAYS, POINTS), dtype=np.int8)])
        done = fill_afterstates(boards, dice, done, starts, out)
    return out[: starts[games]], starts


def afterstates(boards: np.ndarray, dice: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every distinct board that a legal play of the roll leads to, for a batch of boards.

    boards [B, 26] int8 seen by the mover, dice [B, 2] -> (afterstates [N, 26] int8 seen by the opponent,
    starts [B + 1] int64): those of boards[i] are rows starts[i] to starts[i + 1]. A roll without a legal play has
    one afterstate: the same men, turned. Raises InvalidPosition, and ValueError for wrong dice.
    """
    boards = check_boards(boards)
    return trusted_afterstates(boards, check_dice(dice, len(boards)))


def check_dice(dice: np.ndarray, games: int) -> np.ndarray:
    """`dice` as a contiguous int8[games, 2] of numbers 1 to 6. Raises ValueError."""
    given = np.asarray(dice)
    if given.shape != (games, 2):
        raise ValueError(f"dice must have the shape [{games}, 2], one roll a board, not {list(given.shape)}")
    if given.dtype.kind not in "iu" or ((given < 1) | (given > 6)).any():
        raise ValueError("dice must be whole numbers from 1 to 6")
    return np.ascontiguousarray(given, dtype=np.int8)
