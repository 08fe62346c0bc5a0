"""A play written by a person or another program, read leniently: text -> one of the legal plays of the roll.

Knows the notation and which rule a wrong text breaks. What is legal it asks of `bgai.rules.plays`, which also
writes the notation (`str(play)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from bgai.rules.plays import OFF, IllegalPlay, Play, check_roll, legal_plays, move_man, obstacle, point_name
from bgai.rules.position import BAR, Position

MAX_TEXT = 200
_NO_PLAY = {"", "-", "pass", "no play", "no move"}
_NAMED = {"bar": BAR, "off": OFF}
_POINT = "(?:bar|off|[0-9]{1,2})"
_PIECE = re.compile(rf"(?P<way>{_POINT}(?:[/-]{_POINT}\*?)+)(?:\((?P<count>[0-9])\))?(?P<star>\*?)")
_Men = tuple[int, ...]


@dataclass(frozen=True)
class _Part:
    """One man's way as written: the points he is said to touch, and those of them marked with a hit."""

    points: tuple[int, ...]
    starred: frozenset[int]

    def __str__(self) -> str:
        return "/".join({BAR: "bar", OFF: "off"}.get(point, str(point)) for point in self.points)


def parse_play(text: str, position: Position, dice: Iterable[int]) -> Play:
    """The legal play that `text` means, seen by the mover: "24/18*/13", "bar/20 6/5", "8/5(2)", "25-20, 6-0".

    Parts may come in any order, folded or not, hits marked or not. Where a folded text leaves open whether a
    man hits on the way, he does so only if it is marked or cannot be avoided. A roll without a legal play is
    "no play", "no move", "pass", "-" or "". Raises IllegalPlay saying which rule is broken, and ValueError as
    `legal_plays` does.
    """
    plays = legal_plays(position, dice)
    high, low = check_roll(dice)
    numbers = (high,) * 4 if high == low else (high, low)
    parts = _read(text)
    if not parts:
        if plays[0].moves:
            raise IllegalPlay(f"you cannot pass: {high}-{low} can be played, for example {plays[0]}")
        return plays[0]
    roll = f"{high}-{low}"
    if not plays[0].moves:
        raise IllegalPlay(f"there is no legal play with {roll}; the turn passes")
    legs = sum(len(part.points) - 1 for part in parts)
    if legs > len(numbers):
        raise IllegalPlay(f"this takes {legs} dice, and {roll} gives only {len(numbers)}")
    used, stopped_by = _play_parts(position.men, parts, numbers)
    fitting = [play for play in plays if tuple(-n for n in reversed(play.after.men)) in used]
    if fitting:
        return _as_marked(fitting, parts)
    why = _wrong_part(position.men, parts, numbers)
    if why is None:
        why = _unused_dice(max(used.values()), plays, numbers) if used else stopped_by
    raise IllegalPlay(f"{' '.join(text.split())} is not legal with {roll}: {why}")


def _read(text: str) -> list[_Part]:
    """The parts of a text, one for each man moved; none when it says that nothing is played."""
    if not isinstance(text, str):
        raise IllegalPlay(f"a play is written as text, not {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise IllegalPlay(f"a play is at most {MAX_TEXT} characters, this text has {len(text)}")
    plain = " ".join(text.lower().split())
    if plain in _NO_PLAY:
        return []
    plain = re.sub(r" ?([/-]) ?", r"\1", plain)  # blanks around a slash
    plain = re.sub(r" ?\( ?([0-9]) ?\)| ?[x×] ?([0-9])", r"(\1\2)", plain)  # "(2)" or "x2"
    plain = re.sub(r" (?=\*)", "", plain)  # blanks before a mark
    return [part for piece in re.split(r"[ ,;]+", plain.strip(" ,;")) for part in _read_piece(piece)]


def _read_piece(piece: str) -> list[_Part]:
    match = _PIECE.fullmatch(piece)
    if match is None:
        raise IllegalPlay(f"cannot read {piece[:40]!r}; write moves as 13/8, bar/20, 6/off or 8/5(2)")
    stops = re.split("[/-]", match["way"] + match["star"])
    names = [stop.rstrip("*") for stop in stops]
    points = tuple(_NAMED[name] if name in _NAMED else int(name) for name in names)
    if max(points) > BAR:
        raise IllegalPlay(f"cannot read {piece!r}: there is no point {max(points)}")
    if any(to >= start for start, to in pairwise(points)):
        raise IllegalPlay(f"{piece} runs backwards: your men move from point 24 towards point 1 and then off")
    if match["count"] == "0":
        raise IllegalPlay(f"cannot read {piece!r}: a move is made at least once")
    starred = frozenset(point for point, stop in zip(points, stops, strict=True) if stop.endswith("*"))
    return [_Part(points, starred)] * int(match["count"] or 1)


def _play_parts(men: _Men, parts: list[_Part], dice: tuple[int, ...]) -> tuple[dict[_Men, int], str]:
    """Plays the parts in every order and with every use of the dice that their points allow.

    Returns the men at the end of each way to play them all with the dice it used, and why the way that came
    furthest could not go on.
    """
    ends: dict[_Men, int] = {}
    fewest_left, stopped_by = 2 * len(dice), "the dice do not give all these moves together"

    def go_on(men: _Men, ways: tuple[tuple[int, ...], ...], left: tuple[int, ...]) -> None:
        nonlocal fewest_left, stopped_by
        legs_left = sum(len(way) - 1 for way in ways)
        if legs_left == 0:
            ends[men] = max(len(dice) - len(left), ends.get(men, 0))
            return
        for i, way in enumerate(ways):
            for die in sorted(set(left), reverse=True) if len(way) > 1 else ():
                point, to = way[0], max(way[0] - die, OFF)
                if to < way[1]:
                    continue
                why = obstacle(men, point, die)
                if why is not None:
                    if legs_left < fewest_left:
                        fewest_left, stopped_by = legs_left, why
                    continue
                rest = way[1:] if to == way[1] else (to, *way[1:])
                j = left.index(die)
                go_on(move_man(men, point, die), (*ways[:i], rest, *ways[i + 1 :]), left[:j] + left[j + 1 :])

    go_on(men, tuple(part.points for part in parts), dice)
    return ends, stopped_by


def _as_marked(plays: list[Play], parts: list[_Part]) -> Play:
    """The play with the marked hits and as few others as can be, of plays that differ in hits on the way."""
    named = {point for part in parts for point in part.points[1:]}

    def on_the_way(play: Play) -> int:
        return sum(point not in named for point in play.hits)

    for point in sorted({point for part in parts for point in part.starred}, reverse=True):
        # A mark at the end of a folded way may also mean a hit before it, if none is possible at the end.
        plays = [play for play in plays if point in play.hits or on_the_way(play)]
        if not plays:
            where = "off the board" if point == OFF else f"on point {point}"
            raise IllegalPlay(f"a * marks a hit, but the opponent has no single man {where}")
    fewest = min(map(on_the_way, plays))
    plays = [play for play in plays if on_the_way(play) == fewest]
    if len(plays) > 1:
        raise IllegalPlay(f"this can mean {' or '.join(map(str, plays))}; write the one you mean")
    return plays[0]


def _wrong_part(men: _Men, parts: list[_Part], dice: tuple[int, ...]) -> str | None:
    """What is wrong with the parts whatever their order, the rule that comes first at the table first."""
    starts = [part.points[0] for part in parts]
    stops = [point for part in parts for point in part.points[1:]]
    for start in dict.fromkeys(starts):
        there = max(men[start], 0)
        if there == 0 and start not in stops:
            return f"you have no man on {point_name(start)}"
        if starts.count(start) > there + stops.count(start):
            return f"you have only {there} {'man' if there == 1 else 'men'} on {point_name(start)}"
    if men[BAR] > starts.count(BAR) and any(start != BAR for start in starts):
        return "your men on the bar must enter first"
    legs = [leg for part in parts for leg in pairwise(part.points)]
    for _, to in legs:
        if to != OFF and men[to] < -1:
            return f"point {to} is held by {-men[to]} of the opponent's men"
    sums = sorted({dice[0] * n for n in range(1, 5)} if len(dice) == 4 else {*dice, sum(dice)})
    for start, to in legs:
        if start - to not in sums and (to != OFF or start > sums[-1]):
            leg = _Part((start, to), frozenset())
            reach = f"{', '.join(map(str, sums[:-1]))} or {sums[-1]}"
            return f"{leg} is {start - to} pips, and this roll moves a man {reach}"
    pips = sum(start - to for start, to in legs)
    if pips > sums[-1]:
        return f"together these moves are {pips} pips, and the roll gives {sums[-1]}"
    return None


def _unused_dice(used: int, plays: list[Play], dice: tuple[int, ...]) -> str:
    """Why a text whose every move is allowed is no play: it leaves out dice, or takes the smaller of two."""
    most = len(plays[0].moves)
    if len(dice) == 4:
        all_or_some = "all" if most == 4 else f"{most} of the"
        return f"{all_or_some} four {dice[0]}s can be played, and this uses {used}"
    if most == 2:
        return "both dice can be played, and this uses one"
    return f"only one die can be played, and it must be the larger, the {dice[0]}"
