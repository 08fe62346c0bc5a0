"""Score, cube, Crawford, Jacoby, beavers: every rule by a case worked out by hand."""

import itertools
import json

import numpy as np
import pytest

from bgai.notation.plain import to_dict
from bgai.rules.match import IllegalAction, InvalidMatch, Match, game_points
from bgai.rules.plays import IllegalPlay, legal_plays
from bgai.rules.position import Position


def men(where: dict[int, int]) -> Position:
    """A position by index: 25 the mover's bar, 0 the opponent's; his men are negative."""
    return Position([where.get(place, 0) for place in range(26)])


LAST_MAN = men({1: 1, 20: -3})  # the opponent has borne off 12: a single game
GAMMON = men({1: 1, 20: -15})
BACKGAMMON = men({1: 1, 6: -1, 20: -14})


def borne_off(position: Position, **match) -> Match:
    """The match after the mover's last man went off."""
    table = Match(position=position, decision="play", dice=(2, 1), **match)
    return table.play(legal_plays(position, (2, 1))[0])


# The way of a game


def test_the_opening_throw_decides_who_begins():
    new = Match(length=5)
    assert (new.decision, new.actions, new.decider) == ("opening", ("begin",), None)
    assert new.begin(3, 3) == new  # a tie is thrown again
    first, second = new.begin(4, 2), new.begin(1, 6)
    assert (first.turn, first.decision, first.dice) == (0, "play", (4, 2))
    assert (second.turn, second.decision, second.dice) == (1, "play", (6, 1))
    assert first.actions == ("play", "resign")


def test_after_a_play_the_other_player_rolls_or_doubles():
    begun = Match(length=5).begin(3, 1)
    play = next(play for play in legal_plays(begun.position, (3, 1)) if str(play) == "8/5 6/5")
    table = begun.play(play)
    assert (table.turn, table.decision, table.dice, table.position) == (1, "roll", None, play.after)
    assert table == begun.play(play.after)
    assert table.actions == ("roll", "double", "resign")
    assert table.roll((2, 5)).dice == (5, 2)
    assert table.pips == (163, 167)
    assert table.view(0) == play.after.turned()


def test_a_play_must_be_legal():
    begun = Match().begin(3, 1)
    with pytest.raises(IllegalPlay, match="3-1 does not lead there; a legal play is"):
        begun.play(Position.start())


def test_men_on_the_bar_count_25_pips():
    table = Match(position=men({25: 2, 3: 1, 0: -1, 24: -2}), turn=1, decision="roll")
    assert table.pips == (25 + 2, 2 * 25 + 3)


def test_actions_out_of_turn_say_what_is_due():
    table = Match(length=3)
    with pytest.raises(IllegalAction, match="roll is not possible now: each player must throw one die"):
        table.roll((1, 2))
    with pytest.raises(IllegalAction, match="take is not possible now: the roll must be played"):
        table.begin(2, 1).take()


# The cube


def test_double_take_and_redouble():
    table = Match(position=LAST_MAN, length=7, decision="roll", turn=0)
    offered = table.double()
    assert (offered.decision, offered.decider, offered.cube, offered.turn) == ("take", 1, 1, 0)
    assert offered.actions == ("take", "drop")
    taken = offered.take()
    assert (taken.decision, taken.turn, taken.cube, taken.cube_owner) == ("roll", 0, 2, 1)
    assert taken.actions == ("roll", "resign")  # the other one owns the cube
    with pytest.raises(IllegalAction, match="double is not allowed: player 1 owns the cube"):
        taken.double()
    theirs = Match(position=LAST_MAN, length=7, decision="roll", turn=1, cube=2, cube_owner=1)
    assert theirs.double().take().cube == 4 and theirs.double().take().cube_owner == 0


def test_a_drop_gives_the_doubler_what_the_cube_was_worth():
    over = Match(position=LAST_MAN, length=7, score=(1, 2), decision="roll", cube=2, cube_owner=0).double().drop()
    assert (over.decision, over.winner, over.points, over.score) == ("over", 0, 2, (3, 2))
    assert over.actions == ("next_game",) and over.decider is None


def test_numbers_of_numpy_are_numbers():
    given = dict(length=7, score=(2, 3), turn=1, cube=2, cube_owner=0, max_cube=64)
    whole = {name: np.array(value) if name == "score" else np.int64(value) for name, value in given.items()}
    match = Match(**{**whole, "score": tuple(whole["score"])}, decision="roll")
    assert match == Match(**given, decision="roll") and json.dumps(to_dict(match))
    with pytest.raises(InvalidMatch, match="length must be a whole number"):
        Match(length=np.float64(5))


def test_beavers_are_for_money_only():
    table = Match(position=LAST_MAN, decision="roll", turn=1, beavers=True).double()
    assert table.actions == ("take", "drop", "beaver")
    beavered = table.beaver()
    assert (beavered.cube, beavered.cube_owner, beavered.turn, beavered.decision) == (4, 0, 1, "roll")
    with pytest.raises(IllegalAction, match="beavers are not played here"):
        Match(position=LAST_MAN, decision="roll").double().beaver()
    with pytest.raises(InvalidMatch, match="beavers belongs to money"):
        Match(length=3, beavers=True)


def test_the_cube_has_a_limit():
    table = Match(position=LAST_MAN, decision="roll", cube=4, cube_owner=0, max_cube=4)
    assert "double" not in table.actions
    with pytest.raises(IllegalAction, match="the cube may not go over 4"):
        table.double()
    beaver = Match(position=LAST_MAN, decision="roll", cube=2, cube_owner=0, beavers=True, max_cube=4).double()
    assert beaver.actions == ("take", "drop")


@pytest.mark.parametrize(
    ("length", "score", "cube", "offered"),
    [
        (1, (0, 0), 1, False),  # the one point decides
        (5, (0, 0), 1, True),
        (5, (3, 0), 2, False),  # 2 points on the cube win the match
        (5, (2, 0), 2, True),
        (7, (3, 6), 4, False),
        (7, (0, 6), 4, True),
        (0, (90, 0), 512, True),
    ],
)
def test_a_dead_cube_is_not_offered_but_may_be_turned(length, score, cube, offered):
    owner = 0 if cube > 1 else None
    table = Match(position=LAST_MAN, length=length, score=score, decision="roll", turn=0, cube=cube, cube_owner=owner)
    assert ("double" in table.actions) == offered
    assert table.cube_dead == (not offered)
    assert table.double().take().cube == 2 * cube


# Points


@pytest.mark.parametrize(("kind", "power"), list(itertools.product((1, 2, 3), range(6))))
def test_points_are_the_kind_times_the_cube(kind, power):
    assert game_points(kind, 2**power) == kind * 2**power
    assert game_points(kind, 2**power, turned=True, jacoby=True) == kind * 2**power


@pytest.mark.parametrize(("position", "kind"), [(LAST_MAN, 1), (GAMMON, 2), (BACKGAMMON, 3)])
@pytest.mark.parametrize("winner", [0, 1])
def test_bearing_off_wins_by_the_board_and_the_cube(position, kind, winner):
    over = borne_off(position, length=25, score=(3, 4), turn=winner, cube=4, cube_owner=1)
    score = [3, 4]
    score[winner] += 4 * kind
    assert (over.winner, over.points, over.score) == (winner, 4 * kind, tuple(score))


def test_jacoby_counts_gammons_only_after_the_cube_was_turned():
    assert borne_off(BACKGAMMON, jacoby=True).points == 1
    assert borne_off(BACKGAMMON, jacoby=False).points == 3
    assert borne_off(BACKGAMMON, jacoby=True, cube=2, cube_owner=1).points == 6
    assert borne_off(BACKGAMMON, jacoby=True, cube=2).points == 2  # an automatic double: in the middle still
    assert Match(decision="roll", jacoby=True).resign(2).accept().points == 1
    with pytest.raises(InvalidMatch, match="jacoby belongs to money; in a match it must be False"):
        Match(length=3, jacoby=True)


def test_nobody_gets_more_points_than_the_match_is_long():
    over = borne_off(GAMMON, length=5, score=(3, 1), cube=4, cube_owner=1)
    assert (over.points, over.score, over.match_winner, over.actions) == (8, (5, 1), 0, ())
    with pytest.raises(IllegalAction, match="the match is over: player 0 has 5 points"):
        over.next_game()


def test_one_point_match():
    over = borne_off(GAMMON, length=1, turn=1)
    assert (over.score, over.match_winner) == ((0, 1), 1)


def test_money_goes_on_for_ever():
    over = borne_off(GAMMON, score=(7, 5), turn=1, beavers=True, jacoby=True)
    following = over.next_game()
    assert (over.score, over.match_winner) == ((7, 6), None)
    assert following == Match(score=(7, 6), beavers=True, jacoby=True)


def test_resignations_are_offered_and_answered():
    table = Match(position=LAST_MAN, length=7, decision="play", dice=(2, 1), turn=1, cube=2, cube_owner=0)
    offered = table.resign(2)
    assert (offered.decision, offered.decider, offered.actions) == ("resign", 0, ("accept", "decline"))
    assert offered.decline() == table
    over = offered.accept()
    assert (over.winner, over.points, over.score) == (0, 4, (4, 0))
    before_the_roll = Match(position=LAST_MAN, decision="roll")
    assert before_the_roll.resign(1).decline() == before_the_roll
    with pytest.raises(IllegalAction, match="one resigns 1, 2 or 3"):
        table.resign(4)


# The Crawford rule and the next game


@pytest.mark.parametrize(
    ("length", "score", "winner", "points", "crawford"),
    [
        (5, (3, 0), 0, 1, True),  # 4-0: player 0 is one point away for the first time
        (5, (0, 3), 1, 1, True),
        (5, (2, 3), 0, 1, False),  # 3-3
        (5, (4, 2), 1, 2, False),  # 4-4: the Crawford game was the one just played
        (5, (4, 2), 1, 1, False),  # 4-3: after the Crawford game
        (7, (4, 6), 0, 2, False),
        (7, (2, 5), 0, 4, True),
        (3, (0, 0), 1, 2, True),
    ],
)
def test_the_game_after_a_player_gets_one_point_away_has_no_cube(length, score, winner, points, crawford):
    position = GAMMON if points == 2 else LAST_MAN
    cube, owner = (4, 1 - winner) if points == 4 else (1, None)
    following = borne_off(position, length=length, score=score, turn=winner, cube=cube, cube_owner=owner).next_game()
    assert following.crawford == crawford
    assert (following.decision, following.cube, following.cube_owner, following.turn) == ("opening", 1, None, 0)
    assert following.position == Position.start()
    begun = following.begin(2, 1)
    table = begun.play(legal_plays(begun.position, (2, 1))[0])
    assert ("double" in table.actions) == (not crawford and not table.cube_dead)


def test_crawford_game_doubles_are_refused():
    table = Match(position=LAST_MAN, length=5, score=(4, 2), decision="roll", turn=1, crawford=True)
    assert "double" not in table.actions
    with pytest.raises(IllegalAction, match="double is not allowed: this is the Crawford game"):
        table.double()


def test_a_match_can_be_played_without_the_crawford_rule():
    over = borne_off(LAST_MAN, length=5, score=(3, 0))
    assert not over.next_game(crawford_rule=False).crawford


# What cannot be


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"length": -1}, "length must be a whole number from 0 to 999"),
        ({"length": True}, "length must be a whole number"),
        ({"length": 5, "score": (5, 0)}, "player 0 cannot have 5 points of 5"),
        ({"length": 5, "score": (1,)}, "score must be two numbers"),
        ({"length": 5, "score": (1, -2)}, "the score of player 1 must be a whole number from 0"),
        ({"turn": 2, "decision": "roll"}, "turn must be a whole number from 0 to 1"),
        ({"decision": "wait"}, "decision must be one of opening, roll"),
        ({"decision": []}, "decision must be one of opening, roll"),
        ({"decision": "play"}, "decision 'play' needs the dice"),
        ({"decision": "roll", "dice": (3, 1)}, "there can be no dice while decision is 'roll'"),
        ({"decision": "play", "dice": (7, 1)}, "dice: a roll is two whole numbers from 1 to 6"),
        ({"decision": "roll", "cube": 3}, "cube must be 1, 2, 4, 8 or another power of two, not 3"),
        ({"decision": "roll", "cube": 8, "max_cube": 4}, "the cube is at 8, over its limit max_cube 4"),
        ({"decision": "roll", "cube_owner": 1}, "the cube at 1 is in the middle; cube_owner must be None"),
        ({"decision": "roll", "length": 3, "cube": 2}, "belongs to a player; cube_owner must be 0 or 1"),
        ({"decision": "take", "cube": 2, "cube_owner": 1}, "player 0 cannot have doubled: player 1 owns the cube"),
        ({"decision": "roll", "crawford": True}, "a money session has no Crawford game"),
        ({"length": 1, "crawford": True}, "a match of one point has no Crawford game"),
        ({"length": 5, "score": (3, 1), "crawford": True}, "exactly one player has 4 of 5 points; the score is 3-1"),
        ({"length": 5, "score": (4, 4), "crawford": True}, "exactly one player has 4 of 5 points"),
        (
            {"length": 5, "score": (4, 1), "crawford": True, "decision": "roll", "cube": 2, "cube_owner": 0},
            "nobody doubles in the Crawford game",
        ),
        ({"length": 5, "score": (4, 1), "crawford": True, "decision": "take"}, "this is the Crawford game"),
        ({"decision": "resign"}, "resigned must be 1, 2 or 3"),
        ({"decision": "roll", "resigned": 2}, "resigned must be 0 while decision is 'roll'"),
        ({"position": men({20: -3}), "decision": "roll"}, "decision must be 'over'"),
        ({"position": LAST_MAN}, "before the opening throw the men stand as at the start"),
        ({"turn": 1}, "before the opening throw nobody is on roll"),
        ({"decision": "over", "length": 3}, "player 0 has won 1 with this game, so his score must be at least 1"),
        ({"decision": "over", "cube": 2, "cube_owner": 1}, "the game cannot be over"),
        ({"decision": "over", "length": 3, "score": (3, 3)}, "only one can win the match"),
        ({"jacoby": 1}, "jacoby must be True or False"),
        ({"position": "start"}, "position must be a Position"),
    ],
)
def test_wrong_combinations_say_what_is_wrong(values, sentence):
    with pytest.raises(InvalidMatch) as error:
        Match(**values)
    assert sentence in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("play", ["8/5 6/5", None, (8, 5)])
def test_what_is_no_play_is_told(play):
    match = Match(length=5, turn=0, decision="roll").roll((3, 1))
    with pytest.raises(IllegalPlay, match="a play is a Play"):
        match.play(play)


@pytest.mark.parametrize("kind", [0, 4, True, "1", [], {}, 1.0])
def test_what_is_no_resignation_is_told(kind):
    with pytest.raises(IllegalAction, match="one resigns 1, 2 or 3"):
        Match(decision="roll").resign(kind)
