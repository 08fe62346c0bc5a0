"""The Position value and its id."""

from __future__ import annotations

import base64
import copy
import pickle

import numpy as np
import pytest

from bgai.rules.position import InvalidPosition, Position, start_board, turn

START = {24: 2, 13: 5, 8: 3, 6: 5, 1: -2, 12: -5, 17: -3, 19: -5}

# The boards are read by hand from the XGIDs that go with these ids, for the player to roll.
IDS = {
    "4HPwATDgc/ABMA": START,
    "4HPkASjg2+ABMA": {1: -1, 2: -1, 6: 5, 7: 2, 8: 2, 12: -4, 13: 4, 14: -1, 17: -3, 19: -5, 24: 2},
    "u61jAAButwMGAA": {
        2: 3, 3: 2, 4: 3, 5: 2, 6: 3, 13: 2, 16: -2, 19: -3, 20: -1, 21: -2, 22: -2, 23: -3, 24: -2,
    },
    "ewMAAD4gAAAAAA": {1: 5, 8: 1, 22: -2, 23: -4, 24: -2},
    "PAAAICMAAAAAAA": {1: 1, 3: 2, 6: 1, 22: -4},
}  # fmt: skip


def men_of(points: dict[int, int]) -> list[int]:
    return [points.get(point, 0) for point in range(26)]


def test_the_opening():
    start = Position.start()
    assert start.men == tuple(men_of(START))
    assert start.board.tolist() == start_board().tolist() == men_of(START)
    assert start.board.dtype == start_board().dtype == np.int8
    assert start.pips == (167, 167)
    assert start.off == (0, 0)
    assert start.turned() == start


def test_pips_and_men_off():
    position = Position(men_of({25: 1, 6: 2, 1: 3, 0: -2, 24: -1, 20: -4}))
    assert position.pips == (25 + 12 + 3, 50 + 1 + 20)
    assert position.off == (9, 8)
    assert position.turned().pips == (71, 40)
    assert position.turned().off == (8, 9)


def test_a_turned_position():
    position = Position(men_of({25: 1, 6: 2, 0: -2, 20: -4}))
    assert position.turned() == Position(men_of({0: -1, 19: -2, 25: 2, 5: 4}))
    assert position.turned().turned() == position
    assert position.turned().board.tolist() == turn(position.board).tolist()
    stacked = np.array([position.board, start_board()])
    assert turn(stacked).tolist() == [turn(board).tolist() for board in stacked]


@pytest.mark.parametrize("text", IDS)
def test_known_ids(text):
    position = Position.from_id(text)
    assert position.men == tuple(men_of(IDS[text]))
    assert Position(men_of(IDS[text])).id == text


def test_blanks_around_an_id_are_allowed():
    assert Position.from_id(" 4HPwATDgc/ABMA\n") == Position.start()


def test_ids_come_back(scattered_positions):
    boards, _ = scattered_positions(2_000, 20)
    assert ((boards[:, 0] < 0) & (boards[:, 25] > 0)).sum() > 50
    for board in boards:
        position = Position(board)
        assert len(position.id) == 14
        assert Position.from_id(position.id) == position
        assert Position.from_id(position.turned().id) == position.turned()


def test_ids_as_gnubg_gives_them(scattered_positions, game_positions):
    gnubg_nn = pytest.importorskip("gnubg_nn")
    for boards, _ in (scattered_positions(500, 21), game_positions(500, 22)):
        for board in boards.tolist():
            mover = [max(men, 0) for men in board[1:]]
            opponent = [max(-board[25 - point], 0) for point in range(1, 26)]
            assert gnubg_nn.position_id([opponent, mover]) == Position(board).id


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({6: 16}, "the player to roll has 16 men; there are 15 a side"),
        ({6: 10, 25: 6}, "the player to roll has 16 men"),
        ({6: 1, 7: -10, 0: -6}, "the opponent has 16 men; there are 15 a side"),
        ({6: 10**30}, "men; there are 15 a side"),
        ({0: 1, 6: 1}, "index 0 is the opponent's bar and must not be positive"),
        ({25: -1, 6: 1}, "index 25 is the mover's bar and must not be negative"),
        ({6: 1.0}, "index 6 holds 1.0, which is not a whole number"),
        ({6: float("nan")}, "index 6 holds nan"),
        ({6: "1"}, "index 6 holds '1'"),
        ({6: None}, "index 6 holds None"),
        ({6: True}, "index 6 holds True"),
        ({6: np.bool_(True)}, "index 6 holds .*True"),
        (
            {25: 1, 0: -1, **dict.fromkeys(range(1, 7), 2), **dict.fromkeys(range(19, 25), -2)},
            "both players are on the bar against closed boards",
        ),
    ],
)
def test_what_is_no_position(points, message):
    with pytest.raises(InvalidPosition, match=message):
        Position(men_of(points))


@pytest.mark.parametrize("men", [[], [0] * 25, [0] * 27, [1] * 15])
def test_a_position_has_26_numbers(men):
    with pytest.raises(InvalidPosition, match=f"26 numbers .*, not {len(men)}"):
        Position(men)


def test_one_closed_board_is_a_position():
    points = {25: 1, 0: -1, **dict.fromkeys(range(1, 7), 2), **dict.fromkeys(range(19, 24), -2)}
    assert Position(men_of(points)).men[25] == 1


def test_men_may_come_in_any_whole_numbers():
    for men in (
        men_of(START),
        tuple(men_of(START)),
        iter(men_of(START)),
        start_board(),
        start_board().astype(int),
    ):
        assert Position(men) == Position.start()
    assert all(type(n) is int for n in Position(start_board()).men)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "14 characters"),
        ("4HPwATDgc/ABM", "14 characters, .* has 13"),
        ("4HPwATDgc/ABMAA", "14 characters, .* has 15"),
        ("4HPwATDgc/ABMB", "its last character can only be A, Q, g or w"),
        ("4HPwATDgc/ABMA:8IluACAACAAE", "14 characters"),
        ("4HPwATDgc_ABMA", "only A-Z a-z 0-9"),
        ("4HPwATDgc/AB==", "only A-Z a-z 0-9"),
        ("4HPwATDgc/ABMé", "only A-Z a-z 0-9"),
        ("4HPwATDgc/AB\nM", "only A-Z a-z 0-9"),
        ("//////////////", "25 counts"),
        (None, "text of 14 characters, not NoneType"),
        (b"4HPwATDgc/ABMA", "text of 14 characters, not bytes"),
    ],
)
def test_what_is_no_id(text, message):
    with pytest.raises(InvalidPosition, match=message):
        Position.from_id(text)


def id_of_counts(opponent: dict[int, int], mover: dict[int, int]) -> str:
    """An id written out bit by bit from each side's own counts, whatever they are."""
    counts = [side.get(point, 0) for side in (opponent, mover) for point in range(1, 26)]
    bits = "".join("1" * count + "0" for count in counts).ljust(80, "0")
    return base64.b64encode(int(bits[::-1], 2).to_bytes(10, "little")).decode()[:14]


def test_ids_that_hold_no_position():
    assert Position.from_id(id_of_counts({1: 2}, {25: 1})) == Position(men_of({24: -2, 25: 1}))
    with pytest.raises(InvalidPosition, match="both players on one point"):
        Position.from_id(id_of_counts({1: 1}, {24: 1}))
    with pytest.raises(InvalidPosition, match="both players on one point"):
        Position.from_id(id_of_counts({24: 1}, {1: 1}))
    with pytest.raises(InvalidPosition, match="the player to roll has 16 men"):
        Position.from_id(id_of_counts({1: 1}, {6: 16}))
    with pytest.raises(InvalidPosition, match="the opponent has 16 men"):
        Position.from_id(id_of_counts({6: 15, 25: 1}, {6: 1}))
    closed = dict.fromkeys(range(1, 7), 2) | {25: 1}
    with pytest.raises(InvalidPosition, match="closed boards"):
        Position.from_id(id_of_counts(closed, closed))


def test_a_position_is_frozen():
    position = Position.start()
    with pytest.raises(AttributeError, match="cannot be changed"):
        position.men = ()
    with pytest.raises(AttributeError, match="cannot be changed"):
        position.anything = 1
    with pytest.raises(AttributeError, match="cannot be changed"):
        del position.men
    board = position.board
    board[:] = 0
    assert position == Position.start()


def test_equal_positions_have_equal_hashes():
    one, other = Position(men_of({6: 1, 20: -1})), Position(np.array(men_of({6: 1, 20: -1})))
    assert one == other and hash(one) == hash(other)
    assert one != Position.start()
    assert one != one.men
    assert {one: "here"}[other] == "here"


def test_copies(scattered_positions):
    boards, _ = scattered_positions(20, 23)
    for board in boards:
        position = Position(board)
        assert eval(repr(position), {"Position": Position}) == position
        assert pickle.loads(pickle.dumps(position)) == position
        assert copy.copy(position) == copy.deepcopy(position) == position
