"""The counted numbers of bgai.evaluation.tactics against the tables that players know by heart."""

import numpy as np
import pytest

from bgai.evaluation.encoding import encoding
from bgai.evaluation.tactics import LOUDNESS, TACTICS, TACTICS_BY_POINT
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position, start_board, turn

# Rolls of 36 that hit a lone blot at this distance when nothing stands in between.
SHOTS = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3, 15: 1, 16: 1, 18: 1, 20: 1}
HIT, HIT_TWO, PIPS, POINT, ON_BLOT, REAR, LEAP, MOVE = range(8)
RUN, BLOCK, CONTACT, COUNT, CLOSED, DANCE, ANCHOR, IDLE = 12, 13, 14, 15, 16, 17, 18, 19


def counted(board):
    """The numbers of the player to roll, of the other, and the shared ones."""
    made = encoding("men196+tactics")
    extras = made.encode(np.asarray(board, dtype=np.int8)[None])[0, made.width :]
    side = (TACTICS - 5) // 2
    return extras[:side], extras[side : 2 * side], extras[2 * side :]


def board_of(**men):
    """`p6=5` the roller's men on his point 6, `t6=5` the opponent's on the same place, `p25` and `t0` the bars."""
    board = np.zeros(26, dtype=np.int8)
    for name, count in men.items():
        board[int(name[1:])] = count if name[0] == "p" else -count
    return board


@pytest.mark.parametrize("distance", [d for d in range(1, 24) if d not in (13, 14, 17, 19, 21, 22, 23)])
def test_shots_at_every_distance(distance):
    mine, theirs, _ = counted(board_of(p24=1, **{f"t{24 - distance}": 1}))
    assert mine[HIT] * 36 == pytest.approx(SHOTS.get(distance, 0), abs=1e-4)
    assert theirs[HIT] * 36 == pytest.approx(SHOTS.get(distance, 0), abs=1e-4)  # the other man shoots as far


def test_a_shot_from_the_bar():
    # A blot on the 20 point: eleven fives; 3-2; and 4-1, which enters with the one or the four, whatever is open.
    for points, rolls in (({}, 15), ({"t24": 2}, 15), ({"t24": 2, "t21": 2}, 13), ({"t23": 2, "t22": 2}, 13)):
        mine, _, _ = counted(board_of(p25=1, t20=1, **points))
        assert mine[HIT] * 36 == pytest.approx(rolls), points
    mine, _, _ = counted(board_of(p25=2, t20=1))
    assert mine[HIT] * 36 == pytest.approx(11)  # the second man wants the other die


def hits_by_the_rules(board):
    """Rolls of 36 that have a legal play which hits."""
    position = Position(board.tolist())
    rolls = [(die1, die2) for die1 in range(1, 7) for die2 in range(1, 7)]
    return sum(any(play.after.men[25] > -board[0] for play in legal_plays(position, roll)) for roll in rolls)


def test_hits_as_by_the_rules(game_positions):
    """The count ignores that a roll must be played in full, so it may only be too high, and seldom is."""
    boards = game_positions(150, 8)[0]
    boards = boards[(boards[:, 1:].max(axis=1) > 0) & (boards.min(axis=1) < 0)][::4]
    wrong = 0
    for board in boards:
        hits = hits_by_the_rules(board)
        mine, _, _ = counted(board)
        found = mine[HIT] * 36
        assert found > hits - 1e-3
        wrong += abs(found - hits) > 1e-3
    assert wrong <= 0.05 * len(boards)


def test_opening_position():
    mine, theirs, shared = counted(start_board())
    np.testing.assert_array_equal(mine, theirs)
    assert mine[HIT] == 0
    assert mine[REAR] == pytest.approx(24 / 25)
    # Three-ones, four-twos, five-threes, six-ones, six-fours and all doubles but fives make a point.
    assert mine[POINT] * 36 == pytest.approx(15 + 1)  # fives as well: 13/3(2)
    assert mine[COUNT] == pytest.approx(1)
    assert mine[CONTACT] == pytest.approx(1)
    assert shared.tolist()[:4] == [1, 0, 0, 0]
    assert shared[4] > 0.5  # the roller is ahead by half a roll


def test_six_points_in_a_row_hold_everything():
    prime = {f"t{p}": 2 for p in range(12, 18)}
    mine, theirs, _ = counted(board_of(p18=2, **prime))
    assert mine[LEAP] == 0
    assert mine[MOVE] == 0
    assert theirs[RUN] == pytest.approx(1)
    assert theirs[BLOCK] == pytest.approx(1)
    mine, _, _ = counted(board_of(p18=2))
    assert mine[LEAP] * 36 == pytest.approx(23)  # 21 rolls of seven pips and more, 2-2 and 3-3
    assert mine[MOVE] * 36 == pytest.approx(36)


def test_dancing():
    points = {f"t{p}": 2 for p in (24, 23, 21)}
    mine, _, _ = counted(board_of(p25=1, p6=2, **points))
    assert mine[CLOSED] == pytest.approx(3 / 6)
    assert mine[DANCE] == pytest.approx(9 / 36)
    assert counted(board_of(p6=2, **points))[0][DANCE] == 0


def test_points_on_a_blot():
    # Men on 8 and 6, a blot on 4: two-fours, two-twos (twice two from 8) and fours (from 8 only one man) point on it.
    mine, _, _ = counted(board_of(p8=1, p6=1, t4=1))
    assert mine[ON_BLOT] * 36 == pytest.approx(2)


def test_a_race_is_no_contact():
    mine, theirs, shared = counted(board_of(p6=3, p5=2, t20=3))
    assert mine[CONTACT] == theirs[CONTACT] == mine[HIT] == theirs[HIT] == 0
    assert shared.tolist()[:2] == [0, 1]
    np.testing.assert_allclose(shared[2:4], [0, (28 - 15) / 167], atol=1e-6)


def test_turned_board_swaps_the_players(game_positions, scattered_positions):
    for board in np.concatenate([game_positions(30, 6)[0], scattered_positions(30, 7)[0]])[::5]:
        mine, theirs, shared = counted(board)
        other_mine, other_theirs, other_shared = counted(turn(board))
        np.testing.assert_array_equal(mine, other_theirs)
        np.testing.assert_array_equal(theirs, other_mine)
        np.testing.assert_array_equal(shared[:2], other_shared[:2])
        np.testing.assert_allclose(shared[2], other_shared[3], atol=1e-6)


def test_never_negative_and_about_one(scattered_positions):
    made = encoding("men196+tactics")
    extras = made.encode(scattered_positions(200, 9)[0])[:, made.width :]
    assert extras.min() >= 0  # the network's ReLU would cut it off
    assert extras.max() < 3


def by_point(board):
    """Per player the chances to hit, to escape and to make a point of 36, by point [25]: two dicts of arrays."""
    made = encoding("men196+tactics195")
    extras = made.encode(np.asarray(board, dtype=np.int8)[None])[0, made.width :] / LOUDNESS * 36
    np.testing.assert_allclose(extras[:TACTICS] / 36, np.concatenate(counted(board)), atol=1e-6)
    return [
        {
            name: extras[at + begin - 1 : at + end]
            for name, begin, end in (("hit", 0, 24), ("run", 24, 49), ("make", 49, 73))
        }
        for at in (TACTICS, (TACTICS + TACTICS_BY_POINT) // 2)
    ]


def test_points_that_can_be_made_from_the_start():
    for side in by_point(start_board()):
        # 5 point: 31, 11, 33, 44.  Bar point: 61, 11, 33, 66.  4 point: 42, 11, 22, 44.  18: 33, 66.  20: 22, 44.
        assert [round(float(side["make"][p])) for p in (5, 7, 4, 18, 20)] == [5, 5, 5, 2, 2]
        assert side["make"][6] == side["make"][8] == side["make"][13] == 0  # held already
        assert side["hit"][1:].max() == 0


@pytest.mark.parametrize("distance", [1, 4, 6, 7, 12, 18])
def test_the_shot_stands_at_its_point(distance):
    mine, theirs = by_point(board_of(p24=1, **{f"t{24 - distance}": 1}))
    assert mine["hit"][24 - distance] == pytest.approx(SHOTS[distance], abs=1e-4)
    assert theirs["hit"][1] == pytest.approx(SHOTS[distance], abs=1e-4)  # my man on 24 is on his ace point
    assert mine["hit"][1:].sum() == pytest.approx(SHOTS[distance], abs=1e-4)


def test_escapes_point_by_point():
    prime = {f"t{point}": 2 for point in range(12, 18)}
    mine, _ = by_point(board_of(p18=1, p19=2, p6=1, p25=1, **prime))
    assert mine["run"][18] == 0 and mine["run"][6] > 0 and mine["run"][5] == 0
    assert round(float(mine["run"][25])) == 6  # sevens come to the 18 point, more than that would have to pass it
    free, _ = by_point(board_of(p18=1, t1=2))
    assert free["run"][18] == pytest.approx(23)  # 21 rolls of seven and more, 22 and 33


def test_hits_point_by_point_as_by_the_rules(game_positions):
    boards = game_positions(150, 8)[0][::6]
    wrong = total = 0
    for board in boards:
        mine, _ = by_point(board)
        plays = [legal_plays(Position(board.tolist()), (a, b)) for a in range(1, 7) for b in range(1, 7)]
        for point in np.flatnonzero(board[:25] == -1):
            if point == 0:
                continue
            rolls = sum(any(play.after.men[25 - point] <= 0 for play in of_a_roll) for of_a_roll in plays)
            total += 1
            wrong += round(float(mine["hit"][point])) != rolls
            assert round(float(mine["hit"][point])) >= rolls
    assert total > 30
    assert wrong <= 0.1 * total


def test_by_point_never_negative_and_bounded(scattered_positions):
    made = encoding("men196+tactics195")
    extras = made.encode(scattered_positions(200, 9)[0])[:, made.width :]
    assert extras.shape[1] == TACTICS_BY_POINT
    assert 0 <= extras.min() and extras.max() < 3 * LOUDNESS
