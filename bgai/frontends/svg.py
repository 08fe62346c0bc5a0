"""A diagram of a `Match` as SVG text, without any dependency. Seen by the player on roll, like `drawing`.

His men are light and move from 24 (upper right) round to 1 (lower right). Five men of a point are drawn; the
innermost carries the number when there are more. The cube stands at the left, the men borne off at the right.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from bgai.frontends.match_text import PLAYERS, cube_text, due_text, kind_text
from bgai.rules.match import Match
from bgai.rules.position import BAR, HOME, OPPONENT_BAR

# Lengths are in user units; the whole diagram scales.
POINT = 44
RADIUS = 20
SHOWN_MEN = 5
TRIANGLE = 186
_EDGE = 26  # above and below the playing field, for the numbers of the points
_HEAD = 40  # above and below the board, for the players
_SIDE = 58  # left for the cube, right for the men borne off
_BAR = 48
_FIELD = 2 * TRIANGLE + 76
_BOARD_LEFT = 12
_LEFT = _BOARD_LEFT + _SIDE
_TOP = _HEAD + _EDGE
_RIGHT = _LEFT + 12 * POINT + _BAR
_BOTTOM = _TOP + _FIELD
WIDTH = _RIGHT + _SIDE + _BOARD_LEFT
HEIGHT = _BOTTOM + _EDGE + _HEAD
_MIDDLE = (_TOP + _BOTTOM) / 2

_STYLE = """
text { font-family: "Helvetica Neue", Helvetica, Arial, sans-serif; fill: #2b2622; font-size: 15px }
.centre { text-anchor: middle } .end { text-anchor: end } .number { font-size: 13px; fill: #e9dcc3 }
.frame { fill: #5d4030 } .field { fill: #efe3cb } .bar { fill: #5d4030 }
.odd { fill: #b5734a } .even { fill: #d9bd93 }
.light { fill: #fdfaf3; stroke: #4a3b30; stroke-width: 1.5 }
.dark { fill: #33302e; stroke: #161413; stroke-width: 1.5 }
.on-light { font-weight: bold } .on-dark { font-weight: bold; fill: #fdfaf3 }
.cube { fill: #fdfaf3; stroke: #2b2622; stroke-width: 2 } .value { font-weight: bold; font-size: 19px }
"""


def draw_svg(match: Match, players: tuple[str, str] = PLAYERS) -> str:
    """The diagram as the text of an SVG file, WIDTH by HEIGHT."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f"<title>{escape(due_text(match, players))}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_empty_board(),
        *_all_men(match.position.men),
        *_borne_off(match.position.off),
        *_cube(match),
        *_dice(match),
        *_words(match, players),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _centre_x(point: int) -> float:
    """The middle of a point's column; both bars stand in the middle of the board."""
    if point in (BAR, OPPONENT_BAR):
        return _LEFT + 6 * POINT + _BAR / 2
    column = 12 - point if point <= 12 else point - 13
    return _LEFT + (column + 0.5) * POINT + (_BAR if column >= HOME else 0)


def _empty_board() -> Iterator[str]:
    width = WIDTH - 2 * _BOARD_LEFT
    height = _FIELD + 2 * _EDGE
    yield f'<rect class="frame" x="{_BOARD_LEFT}" y="{_HEAD}" width="{width}" height="{height}" rx="8"/>'
    yield f'<rect class="field" x="{_LEFT}" y="{_TOP}" width="{_RIGHT - _LEFT}" height="{_FIELD}"/>'
    yield f'<rect class="bar" x="{_LEFT + 6 * POINT}" y="{_TOP}" width="{_BAR}" height="{_FIELD}"/>'
    for point in range(1, 25):
        x, shade = _centre_x(point), "odd" if point % 2 else "even"
        base, tip = (_BOTTOM, _BOTTOM - TRIANGLE) if point <= 12 else (_TOP, _TOP + TRIANGLE)
        corners = f"{x - POINT / 2:g},{base} {x:g},{tip} {x + POINT / 2:g},{base}"
        yield f'<polygon class="{shade}" points="{corners}"/>'
        yield _text(x, _BOTTOM + 18 if point <= 12 else _TOP - 8, str(point), "number centre")


def _all_men(men: tuple[int, ...]) -> Iterator[str]:
    for point, count in enumerate(men):
        side = "light" if count > 0 else "dark"
        for place in range(min(abs(count), SHOWN_MEN)):
            x, y = _centre_x(point), _man_y(point, place)
            yield f'<circle class="{side}" cx="{x:g}" cy="{y:g}" r="{RADIUS}"/>'
            if place == SHOWN_MEN - 1 and abs(count) > SHOWN_MEN:
                yield _text(x, y + 5, str(abs(count)), f"on-{side} centre")


def _man_y(point: int, place: int) -> float:
    """The middle of a man: stacks grow from the edge inwards, those on the bar from the middle outwards."""
    step = 2 * RADIUS
    if point == BAR:
        return _MIDDLE + 30 + RADIUS + place * step * 0.8
    if point == OPPONENT_BAR:
        return _MIDDLE - 30 - RADIUS - place * step * 0.8
    return _BOTTOM - RADIUS - 1 - place * step if point <= 12 else _TOP + RADIUS + 1 + place * step


def _borne_off(off: tuple[int, int]) -> Iterator[str]:
    """Men borne off, lying on their sides at the right; the mover's at the bottom."""
    x = _RIGHT + 9
    for count, side, first, step in ((off[0], "light", _BOTTOM - 11, -12), (off[1], "dark", _TOP, 12)):
        for place in range(count):
            y = first + place * step
            yield f'<rect class="{side}" x="{x}" y="{y}" width="{_SIDE - 18}" height="11" rx="3"/>'


def _cube(match: Match) -> Iterator[str]:
    if match.crawford:
        return
    x, size = _BOARD_LEFT + _SIDE / 2, 40
    y, value = _MIDDLE, match.cube
    if match.decision == "take":  # it lies on the board, at the side of the player who must answer
        x, value = _LEFT + 3 * POINT, 2 * match.cube
    elif match.cube_owner is not None:
        y = _BOTTOM - size / 2 if match.cube_owner == match.turn else _TOP + size / 2
    yield _square(x, y, size, "cube")
    # As on a real cube: before anybody doubles, 64 is on top.
    yield _text(x, y + 7, str(64 if value == 1 else value), "value centre")


def _dice(match: Match) -> Iterator[str]:
    spots = {1: (4,), 2: (0, 8), 3: (0, 4, 8), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}
    for die, place in zip(match.dice or (), (-1, 1), strict=False):
        x = _LEFT + 9 * POINT + _BAR + place * 26
        yield _square(x, _MIDDLE, 40, "light")
        for spot in spots[die]:
            row, column = divmod(spot, 3)
            yield f'<circle cx="{x + 11 * (column - 1):g}" cy="{_MIDDLE + 11 * (row - 1):g}" r="4" fill="#33302e"/>'


def _words(match: Match, players: tuple[str, str]) -> Iterator[str]:
    above, below = match.position.pips[1], match.position.pips[0]
    for player, pips, y in ((1 - match.turn, above, 26), (match.turn, below, HEIGHT - 14)):
        yield _text(_BOARD_LEFT, y, f"{players[player]}: {match.score[player]}", "")
        yield _text(WIDTH - _BOARD_LEFT, y, f"pips {pips}", "end")
    yield _text(WIDTH / 2, 26, f"{kind_text(match)}, {cube_text(match, players)}", "centre")
    yield _text(WIDTH / 2, HEIGHT - 14, due_text(match, players), "centre")


def _square(x: float, y: float, size: int, style: str) -> str:
    return f'<rect class="{style}" x="{x - size / 2:g}" y="{y - size / 2:g}" width="{size}" height="{size}" rx="6"/>'


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>'
