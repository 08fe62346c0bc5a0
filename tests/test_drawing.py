"""The board as text, against pictures drawn by hand."""

import io
import random
import re

import pytest

from bgai.frontends.drawing import ASCII, UNICODE, draw, style_for
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position

START = """\
   13  14  15  16  17  18          19  20  21  22  23  24
 ┌─────────────────────────┬─────┬─────────────────────────┐
 │  ●   ·   ·   ·   ○   ·  │     │  ○   ·   ·   ·   ·   ●  │  ○ normal
 │  ●               ○      │     │  ○                   ●  │  pips 167
 │  ●               ○      │     │  ○                      │  off    0
 │  ●                      │     │  ○                      │
 │  ●                      │     │  ○                      │
 │                         │ BAR │                         │
 │  ○                      │     │  ●                      │
 │  ○                      │     │  ●                      │
 │  ○               ●      │     │  ●                      │  off    0
 │  ○               ●      │     │  ●                   ○  │  pips 167
 │  ○   ·   ·   ·   ●   ·  │     │  ●   ·   ·   ·   ·   ○  │  ● you
 └─────────────────────────┴─────┴─────────────────────────┘
   12  11  10   9   8   7           6   5   4   3   2   1"""

# You: 1 on the bar, 6 on your 6, 2 on 13, 6 off. The other one: 2 on the bar, 10 on his 5, 3 off.
LATE = Position([-2, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, -10, 0, 0, 0, 0, 1])
LATE_PICTURE = """\
   13  14  15  16  17  18          19  20  21  22  23  24
 +-------------------------+-----+-------------------------+
 |  X   .   .   .   .   .  |     |  .   O   .   .   .   .  |  O other
 |  X                      |     |      O                  |  pips 100
 |                         |     |      O                  |  off    3
 |                         |  O  |      O                  |
 |                         |  O  |     10                  |
 |                         | BAR |                         |
 |                         |  X  |  6                      |
 |                         |     |  X                      |
 |                         |     |  X                      |  off    6
 |                         |     |  X                      |  pips  87
 |  .   .   .   .   .   .  |     |  X   .   .   .   .   .  |  X you
 +-------------------------+-----+-------------------------+
   12  11  10   9   8   7           6   5   4   3   2   1"""


def random_positions(games: int) -> list[Position]:
    """Every position of some games of random plays, seen by the player to roll."""
    chance = random.Random(7)
    positions = []
    for _ in range(games):
        position = Position.start()
        while 15 not in position.off:
            positions.append(position)
            position = chance.choice(legal_plays(position, (chance.randint(1, 6), chance.randint(1, 6)))).after
    return positions


def test_start_is_drawn_as_by_hand():
    assert draw(Position.start(), top="normal") == START


def test_bar_men_off_and_tall_stacks_are_drawn_as_by_hand():
    assert draw(LATE, top="other", style=ASCII) == LATE_PICTURE


def test_five_men_stand_as_themselves_and_more_as_a_number():
    columns = {1: "X", 4: "X X X X", 5: "X X X X X", 6: "X X X X 6", 15: "X X X X 15"}
    for count, expected in columns.items():
        lines = draw(Position([0] * 6 + [count] + [0] * 19), style=ASCII).splitlines()
        point_6 = [line[35:37].strip() for line in reversed(lines[8:13])]
        assert " ".join(filter(None, point_6)) == expected


def test_the_other_player_sees_the_same_picture_upside_down():
    swap = str.maketrans("XO", "OX")
    for position in random_positions(2):
        mine = [row[:61] for row in draw(position, style=ASCII).splitlines() if row.startswith(" |")]
        theirs = [row[:61] for row in draw(position.turned(), style=ASCII).splitlines() if row.startswith(" |")]
        assert [row.translate(swap) for row in reversed(theirs)] == mine


@pytest.mark.parametrize("style", [ASCII, UNICODE])
def test_no_line_is_wider_than_80_columns(style):
    names = {"bottom": "a person with a long name", "top": "/folder/of/a/bot/checkpoint.safetensors"}
    before = Position.start()
    for position in random_positions(2):
        lines = draw(position, before=before, style=style, **names).splitlines()
        assert max(map(len, lines)) <= 80
        before = position.turned()


def test_marks_say_where_the_top_players_men_left_and_arrived():
    # The bot opens with 8/5 6/5: its 8, 6 and 5 are the person's 17, 19 and 20.
    opening = next(play for play in legal_plays(Position.start(), (3, 1)) if str(play) == "8/5 6/5")
    marks, numbers, *_ = draw(opening.after, before=Position.start()).splitlines()
    for point, mark in {"17": "-1", "19": "-1", "20": "+2"}.items():
        at = numbers.index(point)
        assert marks[at : at + 2] == mark
    assert sorted(marks.split()) == ["+2", "-1", "-1"]


def test_marks_show_men_entering_and_borne_off():
    entered = list(LATE.men)
    entered[0], entered[3], entered[20] = 0, -2, -9
    picture = draw(Position(entered), before=LATE, style=ASCII).splitlines()
    assert picture[0].split() == ["-2", "-1"]
    assert picture[-1].split() == ["+2"]
    assert picture[5].endswith("off    4 (+1)")


def test_signs_and_colours_follow_the_stream():
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    def terminal(encoding: str) -> Terminal:
        return Terminal(io.BytesIO(), encoding=encoding)

    assert style_for(terminal("ascii"), {"NO_COLOR": "1", "TERM": "xterm"}) == ASCII
    assert style_for(terminal("utf-8"), {"NO_COLOR": "1", "TERM": "xterm"}) == UNICODE
    assert style_for(terminal("utf-8"), {"TERM": "dumb"}) == UNICODE
    assert style_for(terminal("utf-8"), {"TERM": "xterm"}, plain=True) == ASCII.coloured()
    assert style_for(terminal("latin-1"), {"TERM": "xterm"}) == ASCII.coloured()
    assert style_for(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {"TERM": "xterm"}) == UNICODE


def test_colours_change_nothing_but_colours():
    for position in (Position.start(), LATE):
        coloured = draw(position, before=Position.start(), style=UNICODE.coloured())
        assert "\033[" in coloured
        assert re.sub(r"\033\[[0-9;]*m", "", coloured) == draw(position, before=Position.start())
