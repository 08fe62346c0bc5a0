"""Where games of self-play begin: at the start of the game, or anywhere. Knows no network.

Self-play from the opening seldom meets back games, two primes against each other, men on the bar by threes or a
bearoff against an anchor; a share of games that begin at scattered positions does. What happens from there on is
played as well as anything else.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bgai.rules.dice import fraction, random_bits
from bgai.rules.position import BAR, MEN, POINTS, start_board

_STREAM = 1 << 40  # of the random bits; dice take the plies below


def first_boards(seed: int, first: int, count: int, scattered: float) -> tuple[np.ndarray, np.ndarray]:
    """The boards that games number `first` to `first` + `count` - 1 begin with -> [count, 26] int8, and which of
    them is the opening -> [count] bool.

    A share `scattered` (0 to 1) of them, those that the seed says, are scattered: each player has some men far back
    or on the bar, some around, the rest at home, maybe some borne off.
    """
    boards = np.repeat(start_board()[None], count, axis=0)
    opened = np.ones(count, dtype=np.bool_)
    if scattered:
        _scatter(seed, first, scattered, boards, opened)
    return boards, opened


@njit(cache=True, nogil=True)
def _scatter(seed, first, share, boards, opened):
    board = np.zeros(POINTS, dtype=np.int8)
    for i in range(boards.shape[0]):
        drawn = 0
        if _chance(seed, first + i, drawn) >= share:
            continue
        placed = False
        while not placed:  # two closed homes with men on both bars, or no room, want another try
            board[:] = 0
            placed = True
            for _ in range(2):
                for place in range(POINTS // 2):
                    board[place], board[BAR - place] = -board[BAR - place], -board[place]
                placed, drawn = _place_side(seed, first + i, drawn, board) if placed else (placed, drawn)
            placed = placed and not (_shut_out(board, 1) and _shut_out(board, -1))
        boards[i] = board
        opened[i] = False


@njit(cache=True, nogil=True)
def _place_side(seed, game, drawn, board):
    """Put one player's men on a board that may hold the other's; whether there was room, and the draws made."""
    drawn += 1
    off = 0
    if _chance(seed, game, drawn) < 0.25:
        drawn += 1
        off = int(_chance(seed, game, drawn) * (MEN - 1))
    left = MEN - off
    drawn += 1
    back = min(left, int(8 * _chance(seed, game, drawn) ** 2))  # 0 or 1 in half of the games, at most 7
    drawn += 1
    at_home = 0.2 + 0.8 * _chance(seed, game, drawn)
    drawn += 1
    pairs = _chance(seed, game, drawn)  # how much this player likes points rather than blots
    while left:
        if back > 0:
            low, high, most = 19, BAR, back
        else:
            drawn += 1
            low, high, most = (1, 7, left) if _chance(seed, game, drawn) < at_home else (7, 18, left)
        drawn += 1
        point = low + int(_chance(seed, game, drawn) * (high - low + 1))
        drawn += 1
        size = _chance(seed, game, drawn)
        group = min(most, 1 if size > 0.4 + 0.6 * pairs else 2 if size > 0.2 else 3)
        drawn += 1
        if drawn % 512 == 0:
            return False, drawn
        if board[point] < 0 or board[point] > 4 and point < BAR:
            continue
        board[point] += group
        left -= group
        back -= group
    return True, drawn


@njit(cache=True, nogil=True)
def _shut_out(board, side):
    """Whether a man of this side (1 the player to roll, -1 the other) waits on the bar before a closed home."""
    waits = board[BAR] > 0 if side == 1 else board[0] < 0
    for k in range(1, 7):
        waits = waits and (board[BAR - k] < -1 if side == 1 else board[k] > 1)
    return waits


@njit(cache=True, nogil=True)
def _chance(seed, game, number):
    """The `number`-th draw of a game, from 0 to below 1."""
    return fraction(random_bits(seed, game, _STREAM + number))
