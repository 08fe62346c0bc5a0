"""Two-sided bearoff table: both players' few men at home, both knowing the other's. Exact, with cube and without.

Gammons cannot happen here, because both have borne off men (at most 14 a side), so the Jacoby rule changes nothing.
The cube is that of money play: doubled without limit, alive until the last roll, no beavers. By the rules of the
game (Thorp 1975, on the pure running game; gnubg's tables agree), seen by the player to roll, the cube at one:

    hold(cube)    = mean over the rolls of max over the plays of -equity(opponent to roll, cube seen by him)
    taken         = 2 hold(theirs), because whoever takes owns the cube
    equity(cube)  = max(hold(cube), min(taken, 1)) where he may double (centred, mine), else hold(cube)

Every roll makes the men fewer or nearer, so the recursion ends; the equities are exact up to float32's rounding.
Knows no files, and no board beyond the homes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numba import njit

from bgai.evaluation.bearoff import bearoff_index, set_men, set_successors
from bgai.rules.position import HOME

FEWEST_MEN = 1
DEFAULT_MEN = 6
MOST_MEN = 9  # 401 MB for the table, and twice that while it is built
ROLLS = 21
EQUAL = 1e-6  # equities closer than this are one: the rounding of float32


class Cube(IntEnum):
    """Where the cube is, seen by the player to roll; NONE is a game without one."""

    NONE = 0
    CENTRED = 1
    MINE = 2
    THEIRS = 3


class Decision(NamedTuple):
    """The player to roll may double: what it is worth to him, in units of the old cube. Arrays or single values."""

    hold: np.ndarray
    """float32 equity when he rolls without doubling."""
    taken: np.ndarray
    """float32 equity after double and take; after double and pass it is 1."""

    @property
    def doubles(self) -> np.ndarray:
        """Whether doubling gains; where it makes no difference he holds."""
        return np.minimum(self.taken, 1) > self.hold + EQUAL

    @property
    def takes(self) -> np.ndarray:
        """Whether the opponent should take; where it makes no difference he takes."""
        return self.taken <= 1 + EQUAL


@dataclass(frozen=True, eq=False)
class TwoSided:
    """The table. Everywhere `mine` and `theirs` are [..., 6]: men on the points 1 to 6 of a player's home, the player
    to roll first, broadcast against each other. All raise ValueError for men that the table does not cover."""

    hold: np.ndarray
    """[N, N, 4] float32: equities [mine, theirs, Cube] of the player to roll when he does not double."""

    @property
    def men(self) -> int:
        """The most men a side."""
        return men_of(len(self.hold))

    def win_chance(self, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """Chance of the player to roll when both play for the win: -> [...] float32."""
        return (1 + self._hold(mine, theirs, Cube.NONE)) / 2

    def equity(self, mine: np.ndarray, theirs: np.ndarray, cube: Cube) -> np.ndarray:
        """Before the roll and before doubling, both doing what is best: -> [...] float32, in units of the cube."""
        hold = self._hold(mine, theirs, cube)
        if cube in (Cube.NONE, Cube.THEIRS):
            return hold
        return np.maximum(hold, np.minimum(2 * self._hold(mine, theirs, Cube.THEIRS), 1))

    def decision(self, mine: np.ndarray, theirs: np.ndarray, cube: Cube) -> Decision:
        """Whether to double, and to take, with the cube CENTRED or MINE. Raises ValueError for another."""
        if cube not in (Cube.CENTRED, Cube.MINE):
            raise ValueError(f"the player to roll may not double when the cube is {Cube(cube).name}")
        return Decision(self._hold(mine, theirs, cube), 2 * self._hold(mine, theirs, Cube.THEIRS))

    def _hold(self, mine: np.ndarray, theirs: np.ndarray, cube: Cube) -> np.ndarray:
        my_index, their_index = bearoff_index(mine), bearoff_index(theirs)
        if max(my_index.max(initial=0), their_index.max(initial=0)) >= len(self.hold):
            raise ValueError(f"the table covers at most {self.men} men a side")
        values: np.ndarray = self.hold[my_index, their_index, cube]
        return values


def positions_of(men: int) -> int:
    """How many positions a side has with at most so many men; theirs are the lowest numbers."""
    return math.comb(men + HOME, HOME)


def men_of(positions: int) -> int:
    """The other way round. Raises ValueError for a number that is none."""
    for men in range(FEWEST_MEN, MOST_MEN + 1):
        if positions_of(men) == positions:
            return men
    raise ValueError(f"a table for {FEWEST_MEN} to {MOST_MEN} men a side has not {positions} positions")


def build_two_sided(men: int = DEFAULT_MEN, progress: Callable[[int], object] | None = None) -> TwoSided:
    """The table for at most so many men a side, calculated. `progress` is told how many positions of one side have
    come in. Raises ValueError."""
    if not FEWEST_MEN <= men <= MOST_MEN:
        raise ValueError(f"the two-sided table has {FEWEST_MEN} to {MOST_MEN} men a side, not {men}")
    count = positions_of(men)
    starts, plays = _plays(count)
    hold = np.empty((count, count, len(Cube)), dtype=np.float32)
    equity = np.empty((count, count, len(Cube)))
    for index in range(count):
        _solve(starts, plays, index, equity, hold)
        if progress is not None:
            progress(1)
    return TwoSided(hold)


@njit(cache=True, nogil=True)
def _plays(count):
    """Where the rolls lead to, without repetitions: plays[starts[k]:starts[k + 1]] are the positions' numbers after
    roll k % 21 from position k // 21; the doubles are the rolls 0, 2, 5, 9, 14 and 20. No men stay no men."""
    steps = np.zeros((count, 6, HOME), dtype=np.int64)
    men = np.zeros(HOME, dtype=np.int64)
    for index in range(1, count):
        set_men(index, men)
        for die in range(6):
            set_successors(men, die + 1, steps[index, die])
    starts = np.zeros(count * ROLLS + 1, dtype=np.int64)
    plays = np.empty(1024, dtype=np.int32)
    reached = np.empty((5, HOME**4), dtype=np.int64)
    at, k = 0, 0
    for index in range(count):
        reached[0, 0] = index
        for high in range(6):
            for low in range(high + 1):
                if high == low:
                    number = 1
                    for move in range(4):
                        number = _move(steps[:, high], reached[move], number, reached[move + 1], 0)
                else:
                    number = _move(steps[:, high], reached[0], 1, reached[1], 0)
                    number = _move(steps[:, low], reached[1], number, reached[4], 0)
                    other = _move(steps[:, low], reached[0], 1, reached[1], 0)
                    number = _move(steps[:, high], reached[1], other, reached[4], number)
                if at + number > len(plays):
                    longer = np.empty(2 * len(plays) + number, dtype=np.int32)
                    longer[:at] = plays[:at]
                    plays = longer
                plays[at : at + number] = reached[4, :number]
                at, k = at + number, k + 1
                starts[k] = at
    return starts, plays[:at].copy()


@njit(cache=True, nogil=True)
def _move(steps, before, count, after, found):
    """Add the positions that one die leads to from before[:count] to after[:found] -> how many there are."""
    for i in range(count):
        for index in steps[before[i]]:
            known = index < 0
            for k in range(found):
                known = known or after[k] == index
            if not known:
                after[found] = index
                found += 1
    return found


@njit(cache=True, nogil=True)
def _solve(starts, plays, index, equity, hold):
    """Let the position `index` meet itself and all lower ones, for which the tables are filled: first when it is to
    roll (what follows is lower), then when the other is."""
    for other in range(index):
        _solve_pair(starts, plays, index, other, equity, hold)
    for other in range(index + 1):
        _solve_pair(starts, plays, other, index, equity, hold)


@njit(cache=True, nogil=True)
def _solve_pair(starts, plays, mine, theirs, equity, hold):
    """Both tables' entries [mine, theirs], from equity[theirs, what the rolls lead to]."""
    if theirs == 0 or mine == 0:  # over: lost by the player to roll, unless the opponent alone has men left
        equity[mine, theirs] = -1 if theirs == 0 else 1
        hold[mine, theirs] = equity[mine, theirs]
        return
    none, centred, owned, given = 0.0, 0.0, 0.0, 0.0
    roll = mine * ROLLS
    for high in range(6):
        for low in range(high + 1):
            best_none, best_centred, best_owned, best_given = -9.0, -9.0, -9.0, -9.0
            for at in range(starts[roll], starts[roll + 1]):
                his = equity[theirs, plays[at]]
                best_none = max(best_none, -his[0])
                best_centred = max(best_centred, -his[1])
                best_owned = max(best_owned, -his[3])
                best_given = max(best_given, -his[2])
            chance = 1 / 36 if high == low else 2 / 36
            none += chance * best_none
            centred += chance * best_centred
            owned += chance * best_owned
            given += chance * best_given
            roll += 1
    doubled = min(2 * given, 1.0)
    hold[mine, theirs, 0] = none
    hold[mine, theirs, 1] = centred
    hold[mine, theirs, 2] = owned
    hold[mine, theirs, 3] = given
    equity[mine, theirs, 0] = none
    equity[mine, theirs, 1] = max(centred, doubled)
    equity[mine, theirs, 2] = max(owned, doubled)
    equity[mine, theirs, 3] = given
