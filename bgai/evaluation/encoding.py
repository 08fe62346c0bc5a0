"""Boards to network inputs, by name. Knows nothing of networks.

An encoding here is additive over the 26 places of a board: inputs = base + sum of one row per (place, men). That
is what lets a network's first layer be kept as a running sum and updated where a play changed the board. It may
have `extras` behind these inputs, numbers that are no sum over places (see bgai.evaluation.tactics); they pass
the first layer by. The widths live here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit

from bgai.evaluation.tactics import LOUDNESS, TACTICS_BY_POINT_NAMES, TACTICS_NAMES, count_tactics
from bgai.rules.position import BAR, MEN, OPPONENT_BAR, POINTS

COUNTS = 2 * MEN + 1  # a place holds -15 to 15 men; index men + 15


class UnknownEncoding(ValueError):
    """No encoding has this name."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """inputs(board) = base + sum over places p of rows[p, board[p] + 15], and the extras behind them."""

    name: str
    base: np.ndarray  # [width] float32
    rows: np.ndarray  # [26, 31, width] float32
    columns: np.ndarray  # [26, 31, k] int32: where rows is not zero, padded with -1
    values: np.ndarray  # [26, 31, k] float32
    extras: int  # 0, TACTICS or TACTICS_BY_POINT
    loudness: int  # how many times as large as what their names say the extras are
    names: tuple[str, ...]  # [width + extras]: what each input counts

    @property
    def width(self) -> int:
        """Number of inputs of a network's first layer."""
        return self.base.shape[0]

    def encode(self, boards: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Network inputs of boards [N, 26] int8 -> [N, width + extras] float32, seen by the player to roll."""
        if out is None:
            out = np.empty((len(boards), self.width + self.extras), dtype=np.float32)
        _encode(boards, self.base, self.columns, self.values, self.extras, out)
        return out


@cache
def encoding(name: str) -> Encoding:
    """The encoding of this name. Raises UnknownEncoding."""
    if name not in _MAKERS:
        raise UnknownEncoding(f"there is no encoding {name!r}; known: {', '.join(sorted(_MAKERS))}")
    base, rows, names = _MAKERS[name]()
    behind, loudness = _EXTRAS[name.partition("+")[2]]
    names += behind
    most = max(1, int((rows != 0).sum(axis=2).max()))
    columns = np.full((POINTS, COUNTS, most), -1, dtype=np.int32)
    values = np.zeros((POINTS, COUNTS, most), dtype=np.float32)
    for place, men in np.ndindex(POINTS, COUNTS):
        used = np.flatnonzero(rows[place, men])
        columns[place, men, : len(used)] = used
        values[place, men, : len(used)] = rows[place, men, used]
    for array in (base, rows, columns, values):
        array.setflags(write=False)
    return Encoding(name, base, rows, columns, values, len(behind), loudness, names)


def encoding_names() -> list[str]:
    """Names that `encoding` knows."""
    return sorted(_MAKERS)


@njit(cache=True, nogil=True)
def _encode(boards, base, columns, values, extras, out):
    width = base.shape[0]
    for i in range(boards.shape[0]):
        out[i, :width] = base
        for place in range(boards.shape[1]):
            men = boards[i, place] + 15
            for k in range(columns.shape[2]):
                column = columns[place, men, k]
                if column < 0:
                    break
                out[i, column] += values[place, men, k]
        if extras:
            count_tactics(boards[i], out[i], width, extras)


def _thermometer(steps: int) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """For each side and point: n >= 1, n >= 2, ... n >= steps, then the men beyond in halves; bars in halves;
    men off in fifteenths (which is additive too: 15 minus the men on the board). Base, rows and names."""
    per_side = 24 * (steps + 1) + 2
    names: list[str] = []
    for whose in ("roller's", "opponent's"):
        for point in range(1, 25):
            names += [f"{whose} {point} point: {n} men or more" for n in range(1, steps + 1)]
            names += [f"{whose} {point} point: men beyond {steps}, / 2"]
        names += [f"{whose} bar: men / 2", f"{whose} men off / {MEN}"]
    base = np.zeros(2 * per_side, dtype=np.float32)
    rows = np.zeros((POINTS, COUNTS, 2 * per_side), dtype=np.float32)
    for side in range(2):
        bar_column = (side + 1) * per_side - 2
        off_column = bar_column + 1
        base[off_column] = 1.0
        for n in range(1, MEN + 1):
            index = MEN + (n if side == 0 else -n)
            for point in range(1, 25):
                # Each side's points are counted from its own home.
                column = side * per_side + (steps + 1) * ((point if side == 0 else BAR - point) - 1)
                rows[point, index, column : column + min(n, steps)] = 1.0
                rows[point, index, column + steps] = max(n - steps, 0) / 2
            rows[BAR if side == 0 else OPPONENT_BAR, index, bar_column] = n / 2
            rows[:, index, off_column] = -n / MEN
    return base, rows, tuple(names)


# Names of the extras, and how many times as large as these say they are.
_EXTRAS: dict[str, tuple[tuple[str, ...], int]] = {
    "": ((), 1),
    "tactics": (TACTICS_NAMES, 1),
    "tactics195": (TACTICS_BY_POINT_NAMES, LOUDNESS),
}
# "men196" is the input of TD-Gammon (Tesauro 1992) without its two units for whose turn it is.
_MAKERS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray, tuple[str, ...]]]] = {
    "men196": lambda: _thermometer(3),
    "men292": lambda: _thermometer(5),
    "men196+tactics": lambda: _thermometer(3),
    "men196+tactics195": lambda: _thermometer(3),
}
