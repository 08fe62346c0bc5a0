"""One-sided bearoff table: how many rolls 15 or fewer men in the home still need. Knows no opponent's plays.

For each of the 54,264 ways to put up to 15 men on six points it holds the chances of the number of rolls until all
are off, when every roll is played for the fewest expected rolls. For those with all 15 it also holds the chances of
the number of rolls until the first man is off, played for that alone: this is what saves a gammon.

A race is then the comparison of two independent numbers of rolls. What is said of one side alone is exact. That both
play for speed alone is an approximation, because a player who is behind does better to hope for doubles. Of all
positions with up to six men a side the chance of winning is off by 0.0009 on average, by 0.014 at most.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
from numba import njit

from bgai.files import write_atomically
from bgai.rules.outcome import OUTCOMES
from bgai.rules.position import BAR, HOME, MEN, POINTS, check_boards

POSITIONS = math.comb(MEN + HOME, HOME)
FULL = math.comb(MEN + HOME - 1, HOME)  # the first number of a position with all 15 men
PIPS_PER_ROLL = 49 / 6
MOST_ROLLS = 22  # the last column also holds all longer bearoffs, less than 1e-9
MOST_ROLLS_FIRST = 9
FORMAT = "bgai-bearoff"
VERSION = "1"  # of the file: raise it whenever the numbers change
FILE = f"bearoff-v{VERSION}.safetensors"

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


def bearoff_outcomes(table: OneSided, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the boards [N, 26], seen by the player to roll, are pure bearoffs -> mask [N] bool, and the chances of
    the player to roll there -> [N, 6] float32, zeros elsewhere.

    In a pure bearoff all men of both players are in their own homes and the player to roll has some left; where
    the opponent has none the game is over and the outcome certain. Raises InvalidPosition.
    """
    boards = check_boards(boards)
    mask = np.zeros(len(boards), dtype=np.bool_)
    outcomes = np.zeros((len(boards), OUTCOMES), dtype=np.float32)
    _outcomes(table.rolls, table.first, boards, mask, outcomes)
    return mask, outcomes


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


def one_sided(folder: Path | None = None) -> OneSided:
    """The table from the file in `folder` (default: `cache_folder`); keep it, every call reads or builds it anew.

    When the file is missing or damaged the table is built, in a fifth of a second once it is compiled, and the file
    written; a folder that cannot be written does no harm.
    """
    path = (folder or cache_folder(os.environ)) / FILE
    table = _read(path)
    if table is None:
        table = build_one_sided()
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _to_bytes(table))
    return table


def build_one_sided() -> OneSided:
    """The table, calculated."""
    rolls, mean = _build(1, MOST_ROLLS)
    first, _ = _build(FULL, MOST_ROLLS_FIRST)
    return OneSided(rolls.astype(np.float32), first[FULL:].astype(np.float32), mean.astype(np.float32))


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where files lie that can be made again: BGAI_HOME, or bgai in this system's folder for caches."""
    if home := environment.get("BGAI_HOME"):
        return Path(home)
    if sys.platform == "win32":
        folder = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    else:
        folder = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        if not os.path.isabs(folder):  # the XDG specification says to ignore a relative path
            folder = Path.home() / ".cache"
    return folder / "bgai"


@njit(cache=True, nogil=True)
def _index(men):
    """The number of a position: men [6]."""
    index = 0
    behind = 0
    for point in range(HOME - 1, -1, -1):
        behind += men[point]
        index += _RANK[point, behind]
    return index


@njit(cache=True, nogil=True)
def _set_men(index, men):
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
def _set_successors(men, die, successors):
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
            successors[point] = _index(men)
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
        _set_men(index, men)
        for die in range(6):
            _set_successors(men, die + 1, successors[die])
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
def _not_later(mine, theirs):
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
        chances[i] = _not_later(rolls[mine[i]], rolls[theirs[i]])
    return chances


@njit(cache=True, nogil=True)
def _outcomes(rolls, first, boards, mask, outcomes):
    """`bearoff_outcomes` on checked boards [N, 26]."""
    mine = np.empty(HOME, dtype=np.int64)
    theirs = np.empty(HOME, dtype=np.int64)
    for i in range(boards.shape[0]):
        outside = 0
        for place in range(POINTS):
            men = np.int64(boards[i, place])
            if place == 0 or place == BAR or (HOME < place and place < BAR - HOME):
                outside += abs(men)
            elif place <= HOME:
                mine[place - 1] = men
                outside += max(-men, 0)
            else:
                theirs[BAR - place - 1] = -men
                outside += max(men, 0)
        if outside > 0 or mine.sum() == 0:
            continue
        mask[i] = True
        my_index, their_index = _index(mine), _index(theirs)
        win = _not_later(rolls[my_index], rolls[their_index])
        gammon = 0.0
        gammon_loss = 0.0
        if their_index >= FULL:
            gammon = min(_not_later(rolls[my_index], first[their_index - FULL]), win)
        if my_index >= FULL:
            gammon_loss = min(1 - _not_later(first[my_index - FULL], rolls[their_index]), 1 - win)
        outcomes[i, 0] = win - gammon
        outcomes[i, 1] = gammon
        outcomes[i, 3] = 1 - win - gammon_loss
        outcomes[i, 4] = gammon_loss


def _to_bytes(table: OneSided) -> bytes:
    arrays = {"rolls": table.rolls, "first": table.first, "mean": table.mean}
    metadata = {"format": FORMAT, "version": VERSION, "sha256": _checksum(arrays)}
    return safetensors.numpy.save(arrays, metadata=metadata)


def _read(path: Path) -> OneSided | None:
    """The table in a file; None when there is none, or it is not what it should be."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in ("rolls", "first", "mean")}
    except (OSError, safetensors.SafetensorError):
        return None
    if (metadata.get("format"), metadata.get("version")) != (FORMAT, VERSION):
        return None
    return OneSided(**arrays) if metadata.get("sha256") == _checksum(arrays) else None


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
