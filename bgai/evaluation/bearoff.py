"""One-sided bearoff table: how many rolls 15 or fewer men in the home still need. Knows no opponent's plays.

For each of the 54,264 ways to put up to 15 men on six points it holds the chances of the number of rolls until all
are off, when every roll is played for the fewest expected rolls. For those with all 15 it also holds the chances of
the number of rolls until the first man is off, played for that alone: this is what saves a gammon.

A race is then the comparison of two independent numbers of rolls. What is said of one side alone is exact. That both
play for speed alone is an approximation, because a player who is behind does better to hope for doubles. Of all
positions with up to six men a side the chance of winning is off by 0.0009 on average, by 0.014 at most;
`two_sided.py` has those exactly, and `bearoff_tables.py` puts both together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from bgai.rules.position import HOME, MEN

POSITIONS = math.comb(MEN + HOME, HOME)
FULL = math.comb(MEN + HOME - 1, HOME)  # the first number of a position with all 15 men
PIPS_PER_ROLL = 49 / 6
MOST_ROLLS = 22  # the last column also holds all longer bearoffs, less than 1e-9
MOST_ROLLS_FIRST = 9

# A position is numbered by its place in the combinatorial number system: men on point p and behind it, for every p.
# Moving a man forward or off always gives a lower number; 0 is the empty board. gnubg numbers them the same way.
_RANK = np.array(
    [[math.comb(behind + left, left + 1) for behind in range(MEN + 1)] for left in range(HOME - 1, -1, -1)]
)


@dataclass(frozen=True, eq=False)
class OneSided:
    """The table. Everywhere `men` is [..., 6]: a player's men on the points 1 to 6 of his home."""

    rolls: np.ndarray
    """[54264, 23] float32: chance that exactly so many rolls bear off all men of a position, by its number."""
    first: np.ndarray
    """[15504, 10] float32: the same for the first man, of the positions with 15 men, which have the last numbers."""
    mean: np.ndarray
    """[54264] float32: expected number of rolls to bear off all men."""

    def mean_rolls(self, men: np.ndarray) -> np.ndarray:
        """Fewest expected rolls to bear off all men: [..., 6] -> [...]. Raises ValueError."""
        return self.mean[bearoff_index(men)]

    def effective_pips(self, men: np.ndarray) -> np.ndarray:
        """Effective pip count (Trice): expected rolls times 49/6, the mean pips of a roll. Raises ValueError."""
        return self.mean_rolls(men) * PIPS_PER_ROLL

    def win_chance(self, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """Chance that `mine` [..., 6] are off before `theirs`, rolling first: -> [...] float64. Raises ValueError."""
        my_index, their_index = np.broadcast_arrays(bearoff_index(mine), bearoff_index(theirs))
        chances = _win_chances(self.rolls, my_index.ravel(), their_index.ravel())
        return chances.reshape(my_index.shape)


def bearoff_index(men: np.ndarray) -> np.ndarray:
    """Numbers of positions: men [..., 6] on the points 1 to 6 -> [...] int64, 0 to 54263. Raises ValueError."""
    men = np.asarray(men)
    if men.ndim == 0 or men.shape[-1] != HOME or men.dtype.kind not in "iu":
        raise ValueError(
            f"men must be whole numbers of the shape [..., {HOME}], one for each point of the home, "
            f"not {men.dtype} of the shape {list(men.shape)}"
        )
    behind = np.cumsum(men[..., ::-1], axis=-1, dtype=np.int64)[..., ::-1]
    if (men < 0).any() or (behind > MEN).any():
        raise ValueError(f"a player has 0 to {MEN} men, none negative on any point")
    return _RANK[np.arange(HOME), behind].sum(axis=-1)


def build_one_sided() -> OneSided:
    """The table, calculated."""
    rolls, mean = _build(1, MOST_ROLLS)
    first, _ = _build(FULL, MOST_ROLLS_FIRST)
    return OneSided(rolls.astype(np.float32), first[FULL:].astype(np.float32), mean.astype(np.float32))


@njit(cache=True, nogil=True)
def index_of(men):
    """The number of a position: men [6]."""
    index = 0
    behind = 0
    for point in range(HOME - 1, -1, -1):
        behind += men[point]
        index += _RANK[point, behind]
    return index


@njit(cache=True, nogil=True)
def set_men(index, men):
    """Put the men of a position's number into men [6]."""
    behind = MEN
    for point in range(HOME):
        before = behind
        while _RANK[point, behind] > index:
            behind -= 1
        index -= _RANK[point, behind]
        if point > 0:
            men[point - 1] = before - behind
    men[HOME - 1] = behind


@njit(cache=True, nogil=True)
def set_successors(men, die, successors):
    """Numbers of the positions after one move by the die, from each point; -1 where there is none."""
    rearmost = HOME - 1
    while men[rearmost] == 0:
        rearmost -= 1
    for point in range(HOME):
        to = point - die
        successors[point] = -1
        if men[point] > 0 and (to >= -1 or point == rearmost):
            men[point] -= 1
            if to >= 0:
                men[to] += 1
            successors[point] = index_of(men)
            men[point] += 1
            if to >= 0:
                men[to] -= 1


@njit(cache=True, nogil=True)
def _build(goal, most):
    """Chances [54264, most + 1] of the number of rolls until a position's number is below `goal`, and their means.

    Every play leads to lower numbers, so one pass upwards knows all that follows. `after[index, die, n]` is the best
    that n + 1 moves by the die lead to: of a double four, of another roll one by each die in either order.
    """
    chances = np.zeros((POSITIONS, most + 1))
    chances[:goal, 0] = 1
    mean = np.zeros(POSITIONS)
    after = np.empty((POSITIONS, 6, 4), dtype=np.int64)
    for index in range(goal):
        after[index] = index
    men = np.zeros(HOME, dtype=np.int64)
    successors = np.empty((6, HOME), dtype=np.int64)
    for index in range(goal, POSITIONS):
        set_men(index, men)
        for die in range(6):
            set_successors(men, die + 1, successors[die])
            after[index, die, 0] = _best(successors[die], mean)
            for n in range(1, 4):
                after[index, die, n] = _best_after(successors[die], after[:, die, n - 1], mean)
        for high in range(6):
            _add_roll(chances, mean, index, after[index, high, 3], 1 / 36)
            for low in range(high):
                one = _best_after(successors[high], after[:, low, 0], mean)
                other = _best_after(successors[low], after[:, high, 0], mean)
                _add_roll(chances, mean, index, one if mean[one] <= mean[other] else other, 2 / 36)
    return chances, mean


@njit(cache=True, nogil=True)
def _best(successors, mean):
    """The successor with the fewest expected rolls."""
    best = -1
    for successor in successors:
        if successor >= 0 and (best < 0 or mean[successor] < mean[best]):
            best = successor
    return best


@njit(cache=True, nogil=True)
def _best_after(successors, after, mean):
    """The best position that moves go on to from one of the successors; `after` [54264] tells where to."""
    best = -1
    for successor in successors:
        if successor >= 0 and (best < 0 or mean[after[successor]] < mean[best]):
            best = after[successor]
    return best


@njit(cache=True, nogil=True)
def _add_roll(chances, mean, index, following, chance):
    """Let a roll lead from `index` to the position `following`."""
    most = chances.shape[1] - 1
    mean[index] += chance * (1 + mean[following])
    for n in range(most):
        chances[index, n + 1] += chance * chances[following, n]
    chances[index, most] += chance * chances[following, most]


@njit(cache=True, nogil=True)
def not_later(mine, theirs):
    """Chance that a number of rolls with the chances `mine` is not above one with the chances `theirs`."""
    total = 0.0
    at_least = 1.0  # chance that theirs is n or more
    for n in range(mine.shape[0]):
        total += mine[n] * at_least
        at_least = max(at_least - theirs[n], 0.0) if n < theirs.shape[0] else 0.0
    return min(total, 1.0)


@njit(cache=True, nogil=True)
def _win_chances(rolls, mine, theirs):
    """Chance of winning [N] float64 of the player to roll, by the positions' numbers [N]."""
    chances = np.empty(mine.shape[0])
    for i in range(mine.shape[0]):
        chances[i] = not_later(rolls[mine[i]], rolls[theirs[i]])
    return chances
