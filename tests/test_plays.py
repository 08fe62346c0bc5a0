"""Plays as checker moves: what they hold, how they are written, and how they are read."""

from __future__ import annotations

import dataclasses
import pickle
import random
from collections import Counter

import numpy as np
import pytest

from bgai.notation.plays import parse_play
from bgai.rules.plays import IllegalPlay, Move, Play, legal_plays
from bgai.rules.position import Position

BAR = 25


def position(mine: dict[int, int], theirs: dict[int, int]) -> Position:
    """Men in the mover's numbers; 25 is his bar, 0 the opponent's."""
    return Position(mine.get(point, 0) - theirs.get(point, 0) for point in range(26))


def written(where: Position, dice: tuple[int, int]) -> list[str]:
    return [str(play) for play in legal_plays(where, dice)]


START = Position.start()
FAR = {24: 1}  # an opponent who is in nobody's way


# --- what a play holds ---


def test_the_parts_of_a_play():
    where = position({24: 1, 6: 2}, {18: 1, 13: 1, 1: 2})
    play = parse_play("24/18*/13*", where, (6, 5))
    assert play.moves == ((24, 18), (18, 13))
    assert play.moves[0] == Move(from_point=24, to_point=18)
    assert play.hits == (18, 13)
    assert play.after == position({13: 1, 6: 2}, {0: 2, 1: 2}).turned()


def test_a_play_is_a_frozen_value():
    one, other = (legal_plays(START, (3, 1))[0] for _ in range(2))
    assert one == other and hash(one) == hash(other)
    assert len(set(legal_plays(START, (3, 1)))) == 16
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.moves = ()
    assert pickle.loads(pickle.dumps(one)) == one
    assert eval(repr(one), {"Play": Play, "Move": Move, "Position": Position}) == one


def check_moves_can_be_played(where: Position, dice: list[int], play: Play) -> None:
    """Plays the moves one by one, as a front end shows them; a bear-off may take a larger die."""
    men = list(where.men)
    left = dice * 2 if dice[0] == dice[1] else list(dice)
    hits = []
    for from_point, to_point in play.moves:
        assert men[from_point] > 0
        assert from_point == BAR or men[BAR] == 0
        distance = from_point - to_point
        if to_point == 0:
            assert not any(n > 0 for n in men[7:])
            assert distance in left or not any(n > 0 for n in men[from_point + 1 :])
            left.remove(min(die for die in left if die >= distance))
        else:
            left.remove(distance)
            if men[to_point] == -1:
                hits.append(to_point)
                men[to_point] = 0
                men[0] -= 1
            assert men[to_point] >= 0
            men[to_point] += 1
        men[from_point] -= 1
    assert tuple(hits) == play.hits
    assert Position(men).turned() == play.after


def test_moves_can_be_played_in_their_order(game_positions, scattered_positions):
    for boards, dice in (game_positions(400, 30), scattered_positions(800, 31)):
        for board, pair in zip(boards, dice.tolist(), strict=True):
            where = Position(board)
            plays = legal_plays(where, pair)
            assert len({len(play.moves) for play in plays}) == 1
            for play in plays:
                check_moves_can_be_played(where, pair, play)


def test_a_roll_without_a_legal_play():
    closed = position({BAR: 1, 6: 3}, dict.fromkeys(range(19, 25), 2))
    (play,) = legal_plays(closed, (6, 5))
    assert play.moves == () and play.hits == ()
    assert play.after == closed.turned()
    assert str(play) == "no play"


@pytest.mark.parametrize("where", [position({}, {19: 1}), position({}, {0: 1}), position({}, {})])
def test_a_game_that_is_over_has_no_plays(where):
    with pytest.raises(ValueError, match="the game is over: the player to roll has borne off all 15"):
        legal_plays(where, (6, 5))
    with pytest.raises(ValueError, match="the game is over"):
        parse_play("6/off", where, (6, 5))


def test_a_player_without_an_opponent_bears_off_alone():
    (play,) = legal_plays(position({1: 3}, {}), (1, 1))
    assert str(play) == "1/off(3)" and play.after == position({}, {})


@pytest.mark.parametrize(
    "dice",
    [(7, 1), (0, 1), (-1, 1), (3,), (3, 1, 1), (), (3.0, 1.0), (True, True), ("3", "1"), "31", 31, None],
)
def test_wrong_dice_are_refused(dice):
    with pytest.raises(ValueError, match="a roll is two whole numbers from 1 to 6, not"):
        legal_plays(START, dice)
    with pytest.raises(ValueError, match="a roll is two whole numbers from 1 to 6, not"):
        parse_play("8/5 6/5", START, dice)


def test_dice_may_come_in_any_whole_numbers():
    for dice in ((3, 1), [1, 3], np.array([3, 1], dtype=np.int8), iter((1, 3))):
        assert len(legal_plays(START, dice)) == 16


# --- how it is written ---


@pytest.mark.parametrize(
    ("where", "dice", "text"),
    [
        (START, (3, 1), "8/5 6/5"),
        (START, (2, 1), "13/11 6/5"),
        (START, (6, 5), "24/13"),
        (START, (4, 3), "13/10 13/9"),
        (START, (2, 2), "13/11(2) 6/4(2)"),
        (START, (3, 3), "8/5(2) 6/3(2)"),
        (START, (5, 5), "13/3(2)"),
        (START, (6, 6), "24/18(2) 13/7(2)"),
        (START, (4, 4), "24/20(2) 13/9(2)"),
        (START, (2, 2), "24/18 13/11"),
        (START, (1, 1), "8/7(3) 6/5"),
        (position({BAR: 1, 13: 2}, {19: 2}), (5, 2), "bar/20 13/11"),
        (position({BAR: 1, 13: 2}, {19: 2}), (5, 2), "bar/18"),
        (position({BAR: 2, 13: 2}, {19: 2}), (5, 5), "bar/20(2) 13/8(2)"),
        (position({BAR: 1, 13: 2}, {20: 1, 19: 2}), (5, 2), "bar/20*/18"),
        (position({BAR: 1, 13: 2}, {20: 1, 19: 2}), (5, 2), "bar/18"),
        (position({BAR: 2, 13: 2}, {20: 1, 19: 2}), (5, 5), "bar/20*(2) 13/8(2)"),
        (position({6: 3, 2: 2}, FAR), (6, 6), "6/off(3) 2/off"),
        (position({6: 3, 2: 2}, FAR), (6, 2), "6/off 2/off"),
        (position({5: 1, 3: 1}, FAR), (4, 2), "5/off"),
        (position({8: 1, 6: 1}, FAR), (6, 2), "8/off"),
        (position({24: 1, 6: 2}, {18: 1, 13: 1, 1: 2}), (6, 5), "24/18*/13*"),
        (position({24: 1, 6: 2}, {18: 1, 13: 1, 1: 2}), (6, 5), "24/13*"),
        (position({8: 1, 6: 1}, {5: 1, 24: 2}), (3, 1), "8/5* 6/5"),
        (position({8: 3, 6: 1}, {5: 1, 24: 2}), (3, 3), "8/5*(3) 6/3"),
        (position({24: 2, 6: 2}, {18: 1, 1: 2}), (6, 6), "24/18*/12(2)"),
        (position({24: 2, 13: 1, 6: 2}, {18: 1, 7: 1, 1: 2}), (6, 6), "24/18*/12 24/18 13/7*"),
        (position({5: 1}, {1: 1, 4: 2, 8: 4}), (5, 4), "5/1*/off"),
    ],
)
def test_standard_notation(where, dice, text):
    assert text in written(where, dice)
    assert str(parse_play(text, where, dice)) == text


def test_all_plays_of_one_roll():
    assert written(START, (5, 4)) == [
        "24/15",
        "24/20 13/8",
        "24/20 8/3",
        "13/9 13/8",
        "13/9 8/3",
        "13/4",
        "13/8 6/2",
        "8/4 8/3",
        "8/3 6/2",
    ]


def test_different_plays_are_written_differently(scattered_positions):
    for board, pair in zip(*scattered_positions(1_000, 32), strict=True):
        texts = written(Position(board), pair)
        assert len(set(texts)) == len(texts), (board.tolist(), pair.tolist())


# --- how it is read ---


def test_every_play_is_read_as_it_is_written(game_positions, scattered_positions):
    shuffled = random.Random(33)
    for boards, dice in (game_positions(120, 33), scattered_positions(240, 34)):
        for board, pair in zip(boards, dice.tolist(), strict=True):
            where, plays = Position(board), legal_plays(Position(board), pair)
            for play in shuffled.sample(plays, min(len(plays), 12)):
                assert parse_play(str(play), where, pair) == play
                parts = str(play).split(" ") if play.moves else ["no play"]
                shuffled.shuffle(parts)
                assert parse_play(",  ".join(parts).upper(), where, pair[::-1]) == play
                # Unfolded and unmarked, as engines write it: every point is named and so every hit.
                steps = [f"{start}-{to}" for start, to in play.moves]
                shuffled.shuffle(steps)
                assert parse_play(" ".join(steps), where, pair) == play


def test_a_folded_text_never_hits_more_than_it_must(scattered_positions):
    read = Counter()
    for board, pair in zip(*scattered_positions(600, 35), strict=True):
        where = Position(board)
        for play in legal_plays(where, pair):
            if len(play.moves) != 2 or play.moves[0].to_point != play.moves[1].from_point:
                continue
            text = f"{play.moves[0].from_point}/{play.moves[1].to_point}"
            try:
                meant = parse_play(text, where, pair)
            except IllegalPlay as error:
                assert "this can mean" in str(error) and str(play) in str(error)
                read["ambiguous"] += 1
                continue
            assert len(meant.hits) <= len(play.hits)
            read["the same" if meant == play else "fewer hits"] += 1
    assert min(read["ambiguous"], read["the same"], read["fewer hits"]) > 0


@pytest.mark.parametrize(
    "text",
    [
        "8/5 6/5",
        "6/5 8/5",
        "  8/5   6/5 ",
        "8/5,6/5",
        "8/5, 6/5",
        "8/5; 6/5",
        "8-5 6-5",
        "8 / 5 6 / 5",
        "08/05 06/05",
        "8/5\t6/5\n",
        "8/5(1) 6/5x1",
    ],
)
def test_free_writing(text):
    assert str(parse_play(text, START, (3, 1))) == "8/5 6/5"
    assert str(parse_play(text, START, (1, 3))) == "8/5 6/5"


@pytest.mark.parametrize(
    "text",
    [
        "13/11(2) 6/4(2)",
        "6/4 (2) 13/11 ( 2 )",
        "13/11x2 6/4 x2",
        "13/11 x 2, 6/4×2",
        "13/11 13/11 6/4 6/4",
        "6/4 13/11 6/4 13/11",
        "13/11(2) 6/4 6/4",
    ],
)
def test_repeated_moves(text):
    assert str(parse_play(text, START, (2, 2))) == "13/11(2) 6/4(2)"


@pytest.mark.parametrize("text", ["24/16", "24/22/20/18/16", "24/20/16", "24/22 22/18 18/16", "18/16 24/18"])
def test_folded_in_any_way(text):
    assert str(parse_play(text, START, (2, 2))) == "24/16"


@pytest.mark.parametrize("text", ["bar/20 6/5", "25/20 6/5", "BAR-20, 6-5", "6/5 Bar/20", "6/5, bar / 20"])
def test_the_bar(text):
    where = position({BAR: 1, 6: 2, 5: 2}, {1: 2})
    assert str(parse_play(text, where, (5, 1))) == "bar/20 6/5"


@pytest.mark.parametrize("text", ["6/off 5/off", "6/0 5/0", "5-OFF 6-Off", "5/0, 6 / off"])
def test_bearing_off(text):
    assert str(parse_play(text, position({6: 2, 5: 2}, {1: 2}), (6, 5))) == "6/off 5/off"


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("24/13", "24/13"),
        ("24/13*", "24/18*/13"),
        ("24/18/13", "24/18*/13"),
        ("24/18*/13", "24/18*/13"),
        ("24/18*/13*", None),
        ("24/19/13", "24/13"),
        ("18/13 24/18", "24/18*/13"),
        ("18/13 24/18*", "24/18*/13"),
    ],
)
def test_a_hit_on_the_way(text, means):
    where = position({24: 1, 6: 3}, {18: 1, 1: 2})
    if means is None:
        with pytest.raises(IllegalPlay, match=r"a \* marks a hit, but the opponent has no single man on point 13"):
            parse_play(text, where, (6, 5))
    else:
        assert str(parse_play(text, where, (6, 5))) == means


def test_a_hit_that_cannot_be_avoided_need_not_be_marked():
    where = position({24: 1, 6: 3}, {18: 1, 19: 2, 1: 2})
    for text in ("24/13", "24/13*", "24/18*/13", "24/18/13"):
        assert str(parse_play(text, where, (6, 5))) == "24/18*/13"
    last = position({5: 1}, {1: 1, 4: 2, 8: 4})
    assert str(parse_play("5/off", last, (5, 4))) == "5/1*/off"


def test_a_mark_at_the_end_means_the_end_if_it_can():
    where = position({24: 1, 6: 3}, {18: 1, 13: 1, 1: 2})
    assert str(parse_play("24/13*", where, (6, 5))) == "24/13*"
    assert str(parse_play("24/13", where, (6, 5))) == "24/13*"
    assert str(parse_play("24/18/13", where, (6, 5))) == "24/18*/13*"


def test_two_hits_on_the_way_must_be_told_apart():
    where = position({24: 1, 6: 3}, {18: 1, 19: 1, 1: 2})
    with pytest.raises(IllegalPlay, match=r"this can mean 24/19\*/13 or 24/18\*/13; write the one you mean"):
        parse_play("24/13", where, (6, 5))
    assert str(parse_play("24/18/13", where, (6, 5))) == "24/18*/13"
    assert str(parse_play("24/19*/13", where, (6, 5))) == "24/19*/13"


@pytest.mark.parametrize("text", ["8/5*(2) 6/3(2)", "8/5(2)* 6/3(2)", "8/5* 8/5 6/3(2)", "8/5 8/5* 6/3(2)"])
def test_one_mark_is_enough_for_men_on_one_way(text):
    where = position({8: 2, 6: 2}, {5: 1, 24: 2})
    assert str(parse_play(text, where, (3, 3))) == "8/5*(2) 6/3(2)"


@pytest.mark.parametrize("text", ["", "  ", "-", "pass", "Pass", "no play", "No  Play", "no move"])
def test_passing(text):
    closed = position({BAR: 1, 6: 3}, dict.fromkeys(range(19, 25), 2))
    assert parse_play(text, closed, (6, 5)) == legal_plays(closed, (6, 5))[0]
    with pytest.raises(IllegalPlay, match="you cannot pass: 3-1 can be played, for example 24/23 24/21"):
        parse_play(text, START, (3, 1))


HOME = position({6: 1, 3: 2, 2: 2}, {1: 2})
ENTERING = position({BAR: 2, 13: 2, 6: 2}, {19: 2, 20: 3})


@pytest.mark.parametrize(
    ("text", "where", "dice", "why"),
    [
        ("17/14 8/7", START, (3, 1), "you have no man on point 17"),
        ("12/9 8/7", START, (3, 1), "you have no man on point 12"),
        ("bar/22 6/5", START, (3, 1), "you have no man on the bar"),
        ("24/23(3)", START, (1, 1), "you have only 2 men on point 24"),
        ("13/10 6/5", position({BAR: 1, 13: 2, 6: 2}, {1: 2}), (3, 1), "men on the bar must enter first"),
        ("bar/22 6/5", position({BAR: 2, 13: 2, 6: 2}, {1: 2}), (3, 1), "men on the bar must enter first"),
        ("24/19 8/7", START, (5, 1), "point 19 is held by 5 of the opponent's men"),
        ("bar/20 bar/21", ENTERING, (5, 4), "point 20 is held by 3 of the opponent's men"),
        ("bar/20 6/2", ENTERING, (5, 4), "your men on the bar must enter first"),
        (
            "24/16",
            position({24: 1, 6: 2}, {19: 2, 21: 4}),
            (5, 3),
            "point (19|21) is held by [24] of the opp",
        ),
        ("13/9", START, (5, 2), "13/9 is 4 pips, and this roll moves a man 2, 5 or 7"),
        ("13/10", START, (4, 4), "13/10 is 3 pips, and this roll moves a man 4, 8, 12 or 16"),
        ("24/off", START, (6, 5), "24/off is 24 pips, and this roll moves a man 5, 6 or 11"),
        ("8/5(2)", START, (3, 1), "together these moves are 6 pips, and the roll gives 4"),
        ("6/off 8/7", START, (6, 1), "you may bear off only when all your men are in your home"),
        (
            "3/off 6/5",
            HOME,
            (4, 1),
            "a 4 bears off from a lower point only the rearmost man, .* point 5 behind",
        ),
        (
            "2/off 6/3",
            HOME,
            (4, 3),
            "a 4 bears off from a lower point only the rearmost man, .* point 3 behind",
        ),
        ("3/off 2/off", HOME, (5, 4), "a 5 bears off from a lower point only the rearmost man"),
        ("13/10", START, (3, 1), "both dice can be played, and this uses one"),
        ("13/11", START, (2, 2), "all four 2s can be played, and this uses 1"),
        ("13/9", position({13: 1}, {5: 2}), (2, 2), "3 of the four 2s can be played, and this uses 2"),
        ("bar/23", position({BAR: 1}, {20: 2}), (3, 2), "only one die can be played, .* the larger, the 3"),
        ("8/5 6/5 13/12", START, (3, 1), "this takes 3 dice, and 3-1 gives only 2"),
        ("13/12(5)", START, (1, 1), "this takes 5 dice, and 1-1 gives only 4"),
        ("8/5 6/five", START, (3, 1), "cannot read '6/five'"),
        ("8/5 6", START, (3, 1), "cannot read '6'"),
        ("8/5/ 6/5", START, (3, 1), "8/5/6/5 runs backwards"),
        ("8/5/", START, (3, 1), "cannot read '8/5/'"),
        ("8*/5", START, (3, 1), r"cannot read '8\*/5'"),
        ("8/5() 6/5", START, (3, 1), r"cannot read '8/5\(\)'"),
        ("8/5(0) 6/5", START, (3, 1), "at least once"),
        ("٨/5 6/5", START, (3, 1), "cannot read"),
        ("26/25", START, (3, 1), "there is no point 26"),
        ("off/3", START, (3, 1), "runs backwards"),
        ("5/8", START, (3, 1), "5/8 runs backwards"),
        ("8/8", START, (3, 1), "runs backwards"),
        (",", START, (3, 1), "cannot read"),
        ("8/5 " * 100, START, (3, 1), "at most 200 characters, this text has 400"),
        (None, START, (3, 1), "written as text, not NoneType"),
        ("8/5* 6/5", START, (3, 1), r"a \* marks a hit, but the opponent has no single man on point 5"),
        ("6/off* 3/2", HOME, (6, 1), r"no single man off the board"),
        (
            "13/11",
            position({BAR: 1, 13: 3}, dict.fromkeys(range(19, 25), 2)),
            (2, 1),
            "no legal play with 2-1",
        ),
    ],
)
def test_what_is_wrong_with_a_text(text, where, dice, why):
    with pytest.raises(IllegalPlay, match=why) as caught:
        parse_play(text, where, dice)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_any_text_is_read_or_refused():
    noise = random.Random(36)
    pieces = [
        "24",
        "13",
        "8",
        "6",
        "5",
        "1",
        "0",
        "25",
        "bar",
        "off",
        "/",
        "-",
        "*",
        "(2)",
        "x2",
        " ",
        ",",
        "(",
        "é",
    ]
    for _ in range(3_000):
        text = "".join(noise.choices(pieces, k=noise.randrange(14)))
        try:
            play = parse_play(text, START, (noise.randint(1, 6), noise.randint(1, 6)))
        except IllegalPlay as error:
            assert str(error)
        else:
            assert play.moves
