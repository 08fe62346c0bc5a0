"""The legal plays of a roll as checker moves, in plain Python, straight from the rulebook.

For front ends, which need the moves of each man and not only the boards; the engine uses `bgai.rules.moves`.
The two share no code but the board, and the tests hold them against each other. Knows nothing of value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgai.rules.position import BAR, HOME, MEN, OPPONENT_BAR, POINTS, Position

OFF = 0
_Men = tuple[int, ...]


class IllegalPlay(ValueError):
    """The rules do not allow this play; the message says which rule it breaks."""


class Move(NamedTuple):
    """One man moved by one die, seen by the mover: 25 is his bar, 0 is off the board."""

    from_point: int
    to_point: int


@dataclass(frozen=True)
class Play:
    """A legal play: what one player does with one roll. `str` gives it in standard notation."""

    moves: tuple[Move, ...]
    """One step of one man for each die used, in an order that can be played; empty when there is no play."""
    hits: tuple[int, ...]
    """Points on which the play hits a blot, seen by the mover, in the order in which it does."""
    after: Position
    """The position after the play, seen by the opponent, who is to roll."""

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for part in _parts(self.moves, self.hits):
            counts[part] = counts.get(part, 0) + 1
        return " ".join(f"{part}({n})" if n > 1 else part for part, n in counts.items()) or "no play"


def legal_plays(position: Position, dice: Iterable[int]) -> list[Play]:
    """Every legal play of the roll, one for each distinct position it can lead to, the rearmost men's first.

    A roll without a legal play gives one `Play` without moves. Without opponent's men it tells how the mover
    can bear off alone. Raises ValueError for wrong dice, and when the mover has borne off all his men.
    """
    high, low = check_roll(dice)
    if position.off[0] == MEN:
        raise ValueError(f"the game is over: the player to roll has borne off all {MEN} men")
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    played = [_played_in_order(position.men, order) for order in orders]
    # As many dice as possible must be used; if only one of two can be, the larger, whose order comes first.
    most = max(used for used, _ in played)
    complete = [boards for used, boards in played if used == most]
    if most == 1:
        complete = complete[:1]
    moves_to: dict[_Men, tuple[Move, ...]] = {}
    for boards in complete:
        for men, moves in boards.items():
            moves_to.setdefault(men, moves)
    plays = [_play(position, men, moves) for men, moves in moves_to.items()]
    return sorted(plays, key=lambda play: play.moves, reverse=True)


def obstacle(men: _Men, point: int, die: int) -> str | None:
    """Why the mover may not move a man from `point` by `die`, in one clause; None when he may.

    men: 26 numbers seen by the mover, as in `Position.men`. Looks at this one step, not at the whole roll.
    """
    if men[point] <= 0:
        return f"you have no man on {point_name(point)}"
    if men[BAR] > 0 and point != BAR:
        return "your men on the bar must enter first"
    to = point - die
    if to > OFF:
        if men[to] < -1:
            return f"point {to} is held by {-men[to]} of the opponent's men"
        return None
    if max(men[HOME + 1 :]) > 0:
        return "you may bear off only when all your men are in your home"
    if to < OFF and point < HOME and max(men[point + 1 : HOME + 1]) > 0:
        rearmost = max(p for p in range(1, HOME + 1) if men[p] > 0)
        return (
            f"a {die} bears off from a lower point only the rearmost man, "
            f"and you have a man on point {rearmost} behind point {point}"
        )
    return None


def move_man(men: _Men, point: int, die: int) -> _Men:
    """The men after a step that has no `obstacle`, still seen by the mover."""
    after = list(men)
    after[point] -= 1
    to = point - die
    if to > OFF:
        if after[to] == -1:
            after[to] = 0
            after[OPPONENT_BAR] -= 1
        after[to] += 1
    return tuple(after)


def check_roll(dice: Iterable[int]) -> tuple[int, int]:
    """The two dice, the larger first. Raises ValueError."""
    numbers = list(dice) if isinstance(dice, Iterable) else [dice]
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in numbers)
    if len(numbers) != 2 or not whole or not all(1 <= n <= 6 for n in numbers):
        raise ValueError(f"a roll is two whole numbers from 1 to 6, not {str(dice)[:40]}")
    return int(max(numbers)), int(min(numbers))


def point_name(point: int) -> str:
    """A point as it is called in a sentence."""
    return "the bar" if point == BAR else f"point {point}"


def _played_in_order(men: _Men, dice: tuple[int, ...]) -> tuple[int, dict[_Men, tuple[Move, ...]]]:
    """How many of the dice can be played in this order, and a way to every board once so many are."""
    boards: dict[_Men, tuple[Move, ...]] = {men: ()}
    for used, die in enumerate(dice):
        following: dict[_Men, tuple[Move, ...]] = {}
        for before, moves in boards.items():
            for point in range(BAR, OFF, -1):
                if before[point] > 0 and obstacle(before, point, die) is None:
                    move = Move(point, max(point - die, OFF))
                    following.setdefault(move_man(before, point, die), (*moves, move))
        if not following:
            return used, boards
        boards = following
    return len(dice), boards


def _play(position: Position, men: _Men, moves: tuple[Move, ...]) -> Play:
    # Men that come from behind move first: if moves can be played in any order, they can in this one.
    moves = tuple(sorted(moves, reverse=True))
    landed = dict.fromkeys(move.to_point for move in moves)
    hits = tuple(point for point in landed if point != OFF and position.men[point] == -1)
    return Play(moves, hits, Position(-men[POINTS - 1 - point] for point in range(POINTS)))


def _parts(moves: tuple[Move, ...], hits: tuple[int, ...]) -> list[str]:
    """Each man's way in notation: his steps folded unless a blot was hit between them."""
    ways: list[list[int]] = []
    left = list(moves)
    while left:
        way = list(left.pop(0))
        for move in left[:]:
            if move.from_point == way[-1]:
                way.append(move.to_point)
                left.remove(move)
        ways.append([way[0], *(point for point in way[1:-1] if point in hits), way[-1]])
    parts = []
    marked: dict[int, list[int]] = {}
    for way in ways:
        names = ["bar" if way[0] == BAR else str(way[0])]
        for point in way[1:]:
            # Men that took the same way share one mark, as in 8/5*(2); on other ways only the first man hits.
            hit = point in hits and marked.setdefault(point, way) == way
            names.append("off" if point == OFF else f"{point}*" if hit else str(point))
        parts.append("/".join(names))
    return parts
