"""Dice as a pure function of (seed, game, ply): no state, so any game can be replayed or resumed at any roll.

The generator is SplitMix64 (Steele, Lea, Flood 2014) used as a counter-based hash.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

ROLLS = np.array([(a, b) for a in range(1, 7) for b in range(1, a + 1)], dtype=np.int8)  # the 21 different rolls
ROLL_CHANCES = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1 / 36, 2 / 36)
ROLL_NUMBERS = np.zeros((7, 7), dtype=np.int64)  # of two dice in either order, which of ROLLS they are
ROLL_NUMBERS[ROLLS[:, 0], ROLLS[:, 1]] = ROLL_NUMBERS[ROLLS[:, 1], ROLLS[:, 0]] = np.arange(len(ROLLS))


@njit(cache=True, nogil=True, inline="always")
def _mix(x):
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(cache=True, nogil=True)
def random_bits(seed, game, ply):
    """64 random bits that belong to this seed, game and ply."""
    step = uint64(0x9E3779B97F4A7C15)
    bits = _mix(uint64(seed) + step)
    bits = _mix(bits + step * (uint64(game) + uint64(1)))
    return _mix(bits + step * (uint64(ply) + uint64(1)))


@njit(cache=True, nogil=True)
def fraction(bits):
    """64 random bits as a number from 0 to below 1."""
    return (bits >> uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def board_bits(seed, board):
    """64 random bits that belong to this seed and board [26]."""
    bits = uint64(seed)
    for place in range(board.shape[0]):
        bits = random_bits(bits, board[place], place)
    return bits


@njit(cache=True, nogil=True)
def roll(seed, game, ply):
    """Two dice, each 1 to 6. Ply 0 is the opening roll: one die each, ties rolled again, so never a double."""
    bits = random_bits(seed, game, ply)
    high = bits >> uint64(32)
    low = bits & uint64(0xFFFFFFFF)
    first = (high * uint64(6)) >> uint64(32)
    if ply > 0:
        return np.int8(first + uint64(1)), np.int8(((low * uint64(6)) >> uint64(32)) + uint64(1))
    # Given the first die, the second is one of the five other numbers: the same as rolling ties again.
    second = (low * uint64(5)) >> uint64(32)
    if second >= first:
        second += uint64(1)
    return np.int8(first + uint64(1)), np.int8(second + uint64(1))


@njit(cache=True, nogil=True)
def rolls(seed, games, ply):
    """The dice of many games at one ply: games [B] int64 -> [B, 2] int8."""
    dice = np.empty((games.shape[0], 2), dtype=np.int8)
    for i in range(games.shape[0]):
        dice[i, 0], dice[i, 1] = roll(seed, games[i], ply)
    return dice
