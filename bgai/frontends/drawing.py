"""A position as text, at most 80 columns wide. Knows nothing of dice, bots or whose turn it is.

The picture is always seen by the player at the bottom, whose men move from 24 (upper right) round to 1 (lower
right). Up to five men stand as themselves; of more, the fifth is replaced by their number. Marks outside the
frame say how many of the top player's men came to a point (+1) or left it (-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import TextIO
from unicodedata import east_asian_width

from bgai.progress import printable
from bgai.rules.position import BAR, OPPONENT_BAR, Position

WIDTH = 80
_ROWS = 5
_TOP_POINTS = (range(13, 19), range(19, 25))
_BOTTOM_POINTS = (range(12, 6, -1), range(6, 0, -1))
_NAME = 15


@dataclass(frozen=True)
class Style:
    """The signs that a picture is drawn with; `upper` and `lower` are the left, middle and right corners."""

    bottom_man: str
    top_man: str
    empty: str
    row: str
    column: str
    upper: str
    lower: str
    bottom_colour: str = ""
    top_colour: str = ""
    faint: str = ""

    def coloured(self) -> Style:
        """The same signs with terminal colours."""
        return replace(self, bottom_colour="\033[1;36m", top_colour="\033[1;33m", faint="\033[2m")


UNICODE = Style("●", "○", "·", "─", "│", "┌┬┐", "└┴┘")
ASCII = Style("X", "O", ".", "-", "|", "+++", "+++")


def style_for(stream: TextIO, environment: Mapping[str, str], *, plain: bool = False) -> Style:
    """What `stream` can show: ASCII when its encoding lacks the signs or `plain`, colour on a terminal only.

    Colour stays away under NO_COLOR (https://no-color.org) and on a dumb terminal.
    """
    style = ASCII if plain or not _can_show(stream.encoding, UNICODE) else UNICODE
    colour = stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM", "dumb") != "dumb"
    return style.coloured() if colour else style


def draw(
    position: Position,
    *,
    bottom: str = "you",
    top: str = "bot",
    before: Position | None = None,
    style: Style = UNICODE,
) -> str:
    """The picture of `position`, seen by the bottom player; both names stand beside it.

    `before` is the position, seen by the bottom player too, from which the top player has just played.
    """
    men = position.men
    before = before or position
    marks = _top_changes(before, position)
    more_off = position.off[1] - before.off[1]
    off = f"off  {position.off[1]:>3}" + (f" (+{more_off})" if more_off else "")
    top_side = [f"{style.top_man} {_short(top)}", f"pips {position.pips[1]:>3}", off]
    bottom_side = [
        f"off  {position.off[0]:>3}",
        f"pips {position.pips[0]:>3}",
        f"{style.bottom_man} {_short(bottom)}",
    ]
    upper = [_men_row(men, _TOP_POINTS, OPPONENT_BAR, row, style) for row in range(_ROWS)]
    lower = [_men_row(men, _BOTTOM_POINTS, BAR, row, style) for row in reversed(range(_ROWS))]
    middle = _framed(" " * 25, " BAR ", " " * 25, style)
    lines = [
        *_mark_lines(marks, _TOP_POINTS, style),
        _numbers(_TOP_POINTS),
        _edge(style.upper, style),
        *_beside(upper, [*top_side, "", ""], [style.top_colour]),
        middle,
        *_beside(lower, ["", "", *bottom_side], ["", "", "", "", style.bottom_colour]),
        _edge(style.lower, style),
        _numbers(_BOTTOM_POINTS),
        *_mark_lines(marks, _BOTTOM_POINTS, style),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _can_show(encoding: str | None, style: Style) -> bool:
    try:
        "".join(astuple(style)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _short(name: str) -> str:
    """The name, or its end, in at most 15 columns; Chinese signs take two."""
    short = printable(name)
    while sum(2 if east_asian_width(sign) in "WF" else 1 for sign in short) > _NAME:
        short = ".." + short.removeprefix("..")[1:]
    return short


def _top_changes(before: Position, after: Position) -> dict[int, int]:
    """How many of the top player's men came to each point (+) or left it (-)."""
    return {
        point: max(-now, 0) - max(-then, 0)
        for point, (then, now) in enumerate(zip(before.men, after.men, strict=True))
    }


def _stack(count: int, row: int, man: str) -> str:
    """What stands in `row` (0 at the edge or next to the bar's label) of a stack of `count` men."""
    if row >= min(count, _ROWS):
        return ""
    return str(count) if row == _ROWS - 1 and count > _ROWS else man


def _men_row(men: tuple[int, ...], halves: tuple[range, range], bar: int, row: int, style: Style) -> str:
    left, right = ("".join(_cell(men[point], row, style) for point in half) + " " for half in halves)
    # Men on the bar stack up from the middle of the board outwards.
    on_bar = _stack(abs(men[bar]), _ROWS - 1 - row, _man(men[bar], style))
    return _framed(left, _painted(f" {on_bar:>2}  ", men[bar], style), right, style)


def _man(men: int, style: Style) -> str:
    return style.bottom_man if men > 0 else style.top_man


def _cell(men: int, row: int, style: Style) -> str:
    if men == 0 and row == 0:
        return _coloured(f"  {style.empty} ", style.faint)
    return _painted(f" {_stack(abs(men), row, _man(men, style)):>2} ", men, style)


def _painted(text: str, men: int, style: Style) -> str:
    return _coloured(text, style.bottom_colour if men > 0 else style.top_colour) if text.strip() else text


def _coloured(text: str, colour: str) -> str:
    return f"{colour}{text}\033[0m" if colour else text


def _framed(left: str, bar: str, right: str, style: Style) -> str:
    return " " + style.column.join(["", left, bar, right, ""])


def _edge(corners: str, style: Style) -> str:
    return f" {corners[0]}{style.row * 25}{corners[1]}{style.row * 5}{corners[1]}{style.row * 25}{corners[2]}"


def _numbers(halves: tuple[range, range]) -> str:
    left, right = ("".join(f" {point:>2} " for point in half) for half in halves)
    return f"  {left}        {right}"


def _mark_lines(marks: Mapping[int, int], halves: tuple[range, range], style: Style) -> list[str]:
    """The line of marks beyond the numbers, or no line when nothing changed on this side of the board."""
    left, right = ("".join(_mark(marks.get(point, 0)) for point in half) for half in halves)
    bar = marks.get(OPPONENT_BAR, 0) if halves is _TOP_POINTS else 0
    line = f"  {left}  {_mark(bar)}  {right}"
    return [_coloured(line.rstrip(), style.top_colour)] if line.strip() else []


def _mark(change: int) -> str:
    return f" {change:<+3}" if change else "    "


def _beside(rows: list[str], texts: list[str], colours: list[str]) -> list[str]:
    colours = colours + [""] * (len(rows) - len(colours))
    return [f"{row}  {_coloured(text, colour)}" for row, text, colour in zip(rows, texts, colours, strict=True)]
