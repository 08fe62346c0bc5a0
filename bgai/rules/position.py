"""The board and the `Position` value. Knows nothing of dice, plays or what a position is worth.

A board is int8[26] seen by the player to roll ("the mover"): index 0 is the opponent's bar, 1-24 the points
counted from the mover's home, 25 the mover's bar. The mover's men are positive and move from 24 to 1, the
opponent's are negative. Men borne off are the 15 minus those still on the board.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

import numpy as np
from numba import njit

MEN = 15
POINTS = 26
OPPONENT_BAR = 0
BAR = 25
HOME = 6

_START = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
_ID_BYTES = 10


class InvalidPosition(ValueError):
    """The men given are no backgammon position; the message says why."""


def turn(boards: np.ndarray) -> np.ndarray:
    """The same men seen by the other player: [..., 26] int8 -> [..., 26] int8 (a copy)."""
    return -boards[..., ::-1]


def start_board() -> np.ndarray:
    """The opening position, int8[26]; it looks the same to both players."""
    return np.array(_START, dtype=np.int8)


class Position:
    """A backgammon position seen by the player to roll: frozen, hashable, validated.

    `Position(men)` takes 26 whole numbers (see this module's first lines) and raises InvalidPosition when they
    are no position. `repr` gives code that makes the same position again.
    """

    __slots__ = ("_men",)
    _men: tuple[int, ...]

    def __init__(self, men: Iterable[int]) -> None:
        object.__setattr__(self, "_men", _checked(men))

    @classmethod
    def start(cls) -> Position:
        """The opening position."""
        return cls(_START)

    @classmethod
    def from_id(cls, text: str) -> Position:
        """The position of a gnubg Position ID (14 characters). Raises InvalidPosition."""
        return cls(_men_of_id(text))

    @property
    def board(self) -> np.ndarray:
        """The men as a fresh int8[26], seen by the player to roll."""
        return np.array(self._men, dtype=np.int8)

    @property
    def men(self) -> tuple[int, ...]:
        """The men as 26 plain integers, seen by the player to roll."""
        return self._men

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts (player to roll, opponent); a man on the bar counts 25."""
        mine = sum(point * n for point, n in enumerate(self._men) if n > 0)
        theirs = sum((BAR - point) * -n for point, n in enumerate(self._men) if n < 0)
        return mine, theirs

    @property
    def off(self) -> tuple[int, int]:
        """Men borne off (player to roll, opponent)."""
        return MEN - sum(n for n in self._men if n > 0), MEN + sum(n for n in self._men if n < 0)

    @property
    def id(self) -> str:
        """The gnubg Position ID: the opponent's men first, then the roller's, each from its own side."""
        return _id_of_men(self._men)

    def turned(self) -> Position:
        """The same men seen by the other player."""
        return Position(-n for n in reversed(self._men))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Position cannot be changed; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Position cannot be changed; make a new one")

    def __reduce__(self) -> tuple[type[Position], tuple[tuple[int, ...]]]:
        return Position, (self._men,)

    def __eq__(self, other: object) -> bool:
        return self._men == other._men if isinstance(other, Position) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._men)

    def __repr__(self) -> str:
        return f"Position({list(self._men)})"


def check_boards(boards: np.ndarray) -> np.ndarray:
    """`boards` as a contiguous int8[B, 26], every row a position. Raises InvalidPosition naming the first bad row."""
    given = np.asarray(boards)
    if given.ndim != 2 or given.shape[1] != POINTS:
        raise InvalidPosition(f"boards must have the shape [B, {POINTS}], not {list(given.shape)}")
    if given.dtype.kind not in "iu":
        raise InvalidPosition(f"boards must hold whole numbers, not {given.dtype}")
    fits = given.dtype == np.int8 or not ((given > MEN) | (given < -MEN)).any()
    boards = np.ascontiguousarray(given, dtype=np.int8) if fits else given.clip(-MEN - 1, MEN + 1).astype(np.int8)
    row = _first_impossible(boards)
    if row >= 0:
        try:
            _checked(given[row].tolist())
        except InvalidPosition as error:
            raise InvalidPosition(f"boards[{row}]: {error}") from None
    return boards


@njit(cache=True, nogil=True)
def _first_impossible(boards):
    """The first row of boards [B, 26] int8 that `_checked` would refuse, -1 when there is none."""
    for i in range(boards.shape[0]):
        mine, theirs, my_closed, their_closed = 0, 0, 0, 0
        for place in range(boards.shape[1]):
            men = np.int64(boards[i, place])
            mine += max(men, 0)
            theirs += max(-men, 0)
            my_closed += 1 <= place and place <= HOME and men >= 2
            their_closed += BAR - HOME <= place and place < BAR and men <= -2
        both_on_bar = boards[i, BAR] > 0 and boards[i, OPPONENT_BAR] < 0
        if mine > MEN or theirs > MEN or boards[i, OPPONENT_BAR] > 0 or boards[i, BAR] < 0:
            return i
        if both_on_bar and my_closed == HOME and their_closed == HOME:
            return i
    return -1


def _checked(given: Iterable[int]) -> tuple[int, ...]:
    numbers = list(given)
    if len(numbers) != POINTS:
        raise InvalidPosition(f"a position has {POINTS} numbers (both bars and 24 points), not {len(numbers)}")
    men = []
    for point, number in enumerate(numbers):
        if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
            raise InvalidPosition(f"index {point} holds {number!r}, which is not a whole number")
        men.append(int(number))
    if men[OPPONENT_BAR] > 0:
        raise InvalidPosition(f"index 0 is the opponent's bar and must not be positive, not {men[OPPONENT_BAR]}")
    if men[BAR] < 0:
        raise InvalidPosition(f"index {BAR} is the mover's bar and must not be negative, not {men[BAR]}")
    mine, theirs = sum(n for n in men if n > 0), -sum(n for n in men if n < 0)
    for who, count in (("the player to roll", mine), ("the opponent", theirs)):
        if count > MEN:
            raise InvalidPosition(f"{who} has {count} men; there are {MEN} a side")
    if men[BAR] > 0 and men[OPPONENT_BAR] < 0:
        my_home_closed = all(men[p] >= 2 for p in range(1, HOME + 1))
        their_home_closed = all(men[BAR - p] <= -2 for p in range(1, HOME + 1))
        if my_home_closed and their_home_closed:
            raise InvalidPosition("both players are on the bar against closed boards; neither could ever move")
    return tuple(men)


def _id_of_men(men: tuple[int, ...]) -> str:
    theirs = [max(-men[BAR - point], 0) for point in range(1, POINTS)]
    mine = [max(men[point], 0) for point in range(1, POINTS)]
    bits, at = 0, 0
    for count in theirs + mine:
        bits |= ((1 << count) - 1) << at
        at += count + 1
    return base64.b64encode(bits.to_bytes(_ID_BYTES, "little")).decode()[:14]


def _men_of_id(text: str) -> tuple[int, ...]:
    if not isinstance(text, str):
        raise InvalidPosition(f"a position id is text of 14 characters, not {type(text).__name__}")
    stripped = text.strip()
    if len(stripped) != 14:
        raise InvalidPosition(f"a position id has 14 characters, {text[:40]!r} has {len(stripped)}")
    if not re.fullmatch("[A-Za-z0-9+/]*", stripped):
        raise InvalidPosition(f"{text!r} is no position id: only A-Z a-z 0-9 + / stand in one")
    raw = base64.b64decode(stripped + "==")
    bits = int.from_bytes(raw, "little")
    counts = [0]
    for at in range(8 * _ID_BYTES):
        if bits >> at & 1:
            counts[-1] += 1
        else:
            counts.append(0)
    counts, rest = counts[: 2 * BAR], counts[2 * BAR :]
    if len(counts) < 2 * BAR or any(rest):
        raise InvalidPosition(f"{text!r} is no position id: its bits do not hold 25 counts for each player")
    if base64.b64encode(raw).decode()[:14] != stripped:
        raise InvalidPosition(f"{text!r} is no position id: its last character can only be A, Q, g or w")
    men = [0] * POINTS
    for point in range(1, POINTS):
        theirs, mine = counts[point - 1], counts[BAR + point - 1]
        if theirs and men[BAR - point] > 0 or mine and men[point] < 0:
            raise InvalidPosition(f"{text!r} puts men of both players on one point")
        if theirs:
            men[BAR - point] = -theirs
        if mine:
            men[point] = mine
    return tuple(men)
