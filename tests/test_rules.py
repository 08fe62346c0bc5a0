"""Move generation, outcomes and dice against tables, hand cases, gnubg and each other."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from bgai.notation.plays import parse_play
from bgai.rules.dice import roll, rolls
from bgai.rules.moves import afterstates, trusted_afterstates
from bgai.rules.outcome import (
    OUTCOMES,
    POINTS_WON,
    Outcomes,
    points_lost,
    points_lost_many,
    result,
    turn_outcomes,
)
from bgai.rules.plays import Move, legal_plays
from bgai.rules.position import InvalidPosition, Position, start_board, turn

ROLLS = [(high, low) for low, high in combinations_with_replacement(range(1, 7), 2)]
CASES = [json.loads(line) for line in (Path(__file__).parent / "data/rules.jsonl").read_text().splitlines()]

# Distinct afterstates of the opening position, roll by roll.
OPENING = {
    (1, 1): 42, (2, 1): 15, (2, 2): 75, (3, 1): 16, (3, 2): 17, (3, 3): 73, (4, 1): 14,
    (4, 2): 18, (4, 3): 17, (4, 4): 52, (5, 1): 8, (5, 2): 8, (5, 3): 9, (5, 4): 9,
    (5, 5): 4, (6, 1): 10, (6, 2): 14, (6, 3): 14, (6, 4): 14, (6, 5): 7, (6, 6): 11,
}  # fmt: skip


def men_of(mine: dict, theirs: dict) -> list[int]:
    """Men from {point or "bar": count}, both in the mover's numbers."""
    men = [0] * 26
    for point, count in mine.items():
        men[25 if point == "bar" else int(point)] = count
    for point, count in theirs.items():
        men[0 if point == "bar" else int(point)] = -count
    return men


def boards_after(position: Position, dice: tuple[int, int]) -> set[tuple[int, ...]]:
    """The afterstates of the jitted generator, which must not repeat itself."""
    rows, starts = afterstates(position.board[None], np.array([dice]))
    assert starts.tolist() == [0, len(rows)]
    distinct = {tuple(row) for row in rows.tolist()}
    assert len(distinct) == len(rows)
    return distinct


# --- counts ---


def test_opening_counts_roll_by_roll():
    for dice, count in OPENING.items():
        assert len(boards_after(Position.start(), dice)) == count, dice
        assert len(boards_after(Position.start(), dice[::-1])) == count, dice
        assert len(legal_plays(Position.start(), dice)) == count, dice
    assert sum(OPENING.values()) == 447
    assert sum(count * (1 if a == b else 2) for (a, b), count in OPENING.items()) == 637


def test_two_rolls_from_the_opening():
    boards, dice = np.tile(start_board(), (21, 1)), np.array(ROLLS)
    first, first_starts = afterstates(boards, dice)
    assert len(first) == 447
    second, starts = afterstates(np.repeat(first, 21, axis=0), np.tile(dice, (447, 1)))
    assert len(second) == starts[-1] == 202_782
    weights = np.array([1 if a == b else 2 for a, b in ROLLS])
    ways = np.repeat(weights, np.diff(first_starts))[:, None] * weights
    assert (np.diff(starts).reshape(447, 21) * ways).sum() == 419_783
    assert (np.abs(second).sum(axis=1) == 30).all()


# --- the hand cases ---


def case_position(case: dict) -> Position:
    if "position_id" in case:
        return Position.from_id(case["position_id"])
    return Position(men_of(case["x"], case["o"]))


@pytest.mark.parametrize("case", [case for case in CASES if "dice" in case], ids=lambda case: case["id"])
def test_case(case):
    position, dice, expect = case_position(case), tuple(case["dice"]), case["expect"]
    plays = legal_plays(position, dice)
    after = {play.after.men for play in plays}
    assert after == boards_after(position, dice)
    assert expect.keys() <= {"plays", "count", "never", "winner"}
    if "plays" in expect:
        assert after == {parse_play(text, position, dice).after.men for text in expect["plays"]}
        assert len(plays) == len(expect["plays"])
    if "count" in expect:
        assert len(plays) == expect["count"]
    for step in expect.get("never", []):
        assert all(Move(*map(int, step.split("/"))) not in play.moves for play in plays)
    if expect.get("winner"):
        assert all(result(play.after) < 0 for play in plays)


def test_case_win_three_bar():
    case = next(case for case in CASES if case["expect"].keys() == {"points"})
    men = men_of(case["x"], case["o"])
    # The case names the man on the bar only; its note says none is off, so the others are at home.
    men[19] = -15 - sum(men)
    assert result(Position(men)) == case["expect"]["points"]


def test_case_double_hit_marked():
    case = next(case for case in CASES if case["expect"].keys() == {"notation"})
    men = list(Position.from_id(case["position_id"]).men)
    men[6], men[13], men[12], men[17], men[18] = 10, -1, -4, -2, -1
    written = [str(play) for play in legal_plays(Position(men), (6, 5))]
    assert "24/18*/13*" in written


def test_every_case_is_run():
    assert len(CASES) == 13
    kinds = {kind for case in CASES for kind in case["expect"]}
    assert kinds == {"plays", "count", "never", "winner", "notation", "points"}


# --- one generator against another ---


def check_against_plain(boards: np.ndarray, dice: np.ndarray) -> None:
    rows, starts = afterstates(boards, dice)
    for i, board in enumerate(boards):
        jitted = [tuple(row) for row in rows[starts[i] : starts[i + 1]].tolist()]
        plain = [play.after.men for play in legal_plays(Position(board), dice[i])]
        assert len(set(jitted)) == len(jitted), (board.tolist(), dice[i].tolist())
        assert len(set(plain)) == len(plain), (board.tolist(), dice[i].tolist())
        assert set(jitted) == set(plain), (board.tolist(), dice[i].tolist())


def test_jitted_against_plain_in_games(game_positions):
    boards, dice = game_positions(3_000, 1)
    check_against_plain(boards, dice)


def test_jitted_against_plain_on_scattered_men(scattered_positions):
    boards, dice = scattered_positions(3_000, 2)
    assert ((boards[:, 0] < 0) & (boards[:, 25] > 0)).sum() > 100
    check_against_plain(boards, dice)


@pytest.mark.slow
def test_jitted_against_plain_at_length(game_positions, scattered_positions):
    check_against_plain(*game_positions(100_000, 3))
    check_against_plain(*scattered_positions(30_000, 4))


def check_against_gnubg(boards: np.ndarray, dice: np.ndarray) -> None:
    gnubg_nn = pytest.importorskip("gnubg_nn")
    rows, starts = afterstates(boards, dice)
    for i, board in enumerate(boards.tolist()):
        mover = [max(men, 0) for men in board[1:]]
        opponent = [max(-board[25 - point], 0) for point in range(1, 26)]
        after = set()
        for key in gnubg_nn.moves([opponent, mover], *dice[i].tolist()):
            theirs, mine = gnubg_nn.board_from_position_key(key)
            after.add(tuple(a - b for a, b in zip((0, *theirs), (*mine[::-1], 0), strict=True)))
        if not after:
            after = {tuple(turn(boards[i]).tolist())}
        assert {tuple(row) for row in rows[starts[i] : starts[i + 1]].tolist()} == after, (board, dice[i])
        assert starts[i + 1] - starts[i] == len(after)


def test_jitted_against_gnubg(game_positions, scattered_positions):
    check_against_gnubg(*game_positions(2_000, 5))
    check_against_gnubg(*scattered_positions(2_000, 6))


@pytest.mark.slow
def test_jitted_against_gnubg_at_length(game_positions, scattered_positions):
    check_against_gnubg(*game_positions(50_000, 7))
    check_against_gnubg(*scattered_positions(50_000, 8))


# --- the batch ---


def test_a_batch_is_its_boards_in_order(game_positions):
    boards, dice = game_positions(300, 9)
    rows, starts = afterstates(boards, dice)
    alone = [afterstates(boards[i : i + 1], dice[i : i + 1])[0] for i in range(len(boards))]
    assert np.diff(starts).tolist() == [len(one) for one in alone]
    assert (rows == np.concatenate(alone)).all()
    assert rows.dtype == np.int8


def test_a_workspace_changes_nothing(game_positions):
    boards, dice = game_positions(300, 10)
    rows, starts = afterstates(boards, dice)
    for capacity in (0, 3_100, 50_000):
        workspace = np.full((capacity, 26), 99, dtype=np.int8)
        rows_there, starts_there = trusted_afterstates(boards, dice, workspace)
        assert (rows_there == rows).all() and (starts_there == starts).all()


def test_inputs_are_left_alone(game_positions):
    boards, dice = game_positions(50, 11)
    before = boards.copy(), dice.copy()
    afterstates(boards, dice)
    assert (boards == before[0]).all() and (dice == before[1]).all()


def test_the_order_of_the_dice_does_not_matter(scattered_positions):
    boards, dice = scattered_positions(500, 12)
    for board, pair in zip(boards, dice, strict=True):
        position = Position(board)
        assert boards_after(position, pair) == boards_after(position, pair[::-1])
        assert legal_plays(position, pair) == legal_plays(position, pair[::-1])


def test_men_are_never_lost(scattered_positions):
    boards, dice = scattered_positions(500, 13)
    rows, starts = afterstates(boards, dice)
    which = np.repeat(np.arange(len(boards)), np.diff(starts))
    opponents = np.where(rows > 0, rows, 0).sum(axis=1)
    assert (opponents == -np.where(boards < 0, boards, 0).sum(axis=1)[which]).all()
    mine_left = -np.where(rows < 0, rows, 0).sum(axis=1)
    assert (mine_left <= np.where(boards > 0, boards, 0).sum(axis=1)[which]).all()


def test_no_legal_play_turns_the_board():
    closed = Position(men_of({"bar": 1, "6": 3}, {point: 2 for point in range(19, 25)}))
    assert boards_after(closed, (6, 4)) == {closed.turned().men}


def test_an_empty_batch():
    rows, starts = afterstates(np.zeros((0, 26), dtype=np.int8), np.zeros((0, 2), dtype=np.int8))
    assert rows.shape == (0, 26) and starts.tolist() == [0]


def test_any_kind_of_whole_numbers():
    expected, _ = afterstates(start_board()[None], np.array([[3, 1]], dtype=np.int8))
    for boards in (
        start_board()[None].astype(np.int64),
        [start_board().tolist()],
        start_board()[None, ::-1][:, ::-1],
    ):
        rows, _ = afterstates(boards, [(3, 1)])
        assert (rows == expected).all()


def _one_row(**men: int) -> np.ndarray:
    row = np.zeros((1, 26), dtype=np.int64)
    for point, n in men.items():
        row[0, int(point[1:])] = n
    return row


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        (start_board(), r"shape \[B, 26\]"),
        (np.zeros((1, 25), dtype=np.int8), r"shape \[B, 26\]"),
        (start_board()[None].astype(np.float32), "whole numbers, not float32"),
        (start_board()[None] * np.nan, "whole numbers"),
        (start_board()[None].astype(bool), "whole numbers, not bool"),
        (start_board()[None].astype(object), "whole numbers, not object"),
        (_one_row(p6=16), r"boards\[0\]: the player to roll has 16 men"),
        (_one_row(p6=1, p3=-128), "the opponent has 128 men"),
        (_one_row(p6=1, p3=300), "301 men"),
        (_one_row(p1=2**62, p2=2**62, p3=2**62, p4=2**62), "men; there are 15 a side"),
        (_one_row(p6=1, p3=-(2**63)), "the opponent has 9223372036854775808 men"),
        (_one_row(p0=1), "index 0"),
        (_one_row(p25=-1), "index 25"),
        (_one_row(p0=-1, p25=1, **{f"p{p}": 2 if p < 7 else -2 for p in (*range(1, 7), *range(19, 25))}),
         "closed boards"),
    ],
)  # fmt: skip
def test_wrong_boards_are_refused(boards, message):
    with pytest.raises(InvalidPosition, match=message):
        afterstates(boards, np.array([[3, 1]]))


def test_the_first_wrong_board_is_named():
    boards = np.tile(start_board(), (4, 1))
    boards[2, 6] = 6
    with pytest.raises(InvalidPosition, match=r"boards\[2\]: the player to roll has 16 men"):
        afterstates(boards, np.full((4, 2), 3))


@pytest.mark.parametrize(
    "dice",
    [[(7, 1)], [(0, 1)], [(-1, 1)], [(1.0, 2.0)], [(np.nan, 1)], [(True, True)], [(257, 1)], [("3", "1")]],
)
def test_wrong_dice_are_refused(dice):
    with pytest.raises(ValueError, match="whole numbers from 1 to 6"):
        afterstates(start_board()[None], dice)


@pytest.mark.parametrize("dice", [(3, 1), [(3, 1), (3, 1)], [(3, 1, 1)], []])
def test_dice_must_fit_the_boards(dice):
    with pytest.raises(ValueError, match=r"shape \[1, 2\]"):
        afterstates(start_board()[None], dice)


# --- outcomes ---


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ({"6": 1}, 1),
        ({"6": 14}, 1),
        ({"bar": 14}, 1),
        ({"24": 14}, 1),
        ({"6": 15}, 2),
        ({"18": 15}, 2),
        ({"6": 14, "18": 1}, 2),
        ({"6": 14, "19": 1}, 3),
        ({"6": 14, "24": 1}, 3),
        ({"6": 14, "bar": 1}, 3),
        ({"bar": 15}, 3),
    ],
)
def test_points_of_a_finished_game(loser, points):
    lost = Position(men_of(loser, {}))
    assert points_lost(lost.board) == points
    assert points_lost(lost.turned().board) == 0
    assert result(lost) == -points
    assert result(lost.turned()) == points
    assert points_lost_many(np.array([lost.board, start_board(), lost.turned().board])).tolist() == [
        points,
        0,
        0,
    ]


def test_a_game_that_goes_on_has_no_result():
    assert result(Position.start()) == 0
    assert result(Position(men_of({"1": 1}, {"24": 1}))) == 0


def test_outcomes_by_hand():
    chances = Outcomes(0.4, 0.2, 0.1, 0.15, 0.1, 0.05)
    assert chances.equity == pytest.approx(0.4 + 2 * 0.2 + 3 * 0.1 - 0.15 - 2 * 0.1 - 3 * 0.05)
    assert chances.win_chance == pytest.approx(0.7)
    assert chances.cumulative == pytest.approx((0.7, 0.3, 0.1, 0.15, 0.05))
    assert chances.turned() == (0.15, 0.1, 0.05, 0.4, 0.2, 0.1)
    assert isinstance(chances.turned(), Outcomes)
    assert chances.turned().turned() == chances
    assert chances.turned().equity == pytest.approx(-chances.equity)


def test_each_outcome_is_worth_its_points():
    for i in range(OUTCOMES):
        certain = Outcomes(*np.eye(OUTCOMES)[i].tolist())
        assert certain.equity == POINTS_WON[i]
    assert POINTS_WON.tolist() == [1, 2, 3, -1, -2, -3]


def test_outcome_arrays_turn_like_single_outcomes():
    rows = np.random.default_rng(0).dirichlet(np.ones(OUTCOMES), size=(4, 5))
    turned = turn_outcomes(rows)
    assert turned.shape == rows.shape
    assert tuple(turned[2, 3]) == Outcomes(*rows[2, 3]).turned()
    assert (turn_outcomes(turned) == rows).all()


# --- dice ---


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def test_dice_are_fair():
    games = np.arange(2_000)
    dice = np.concatenate([rolls(42, games, ply) for ply in range(1, 51)]).astype(int) - 1
    pairs = np.bincount(dice[:, 0] * 6 + dice[:, 1], minlength=36)
    assert pairs.sum() == 100_000
    assert chi_square(pairs) < 66.6  # 35 degrees of freedom, one in a thousand


def test_one_roll_does_not_tell_the_next():
    games = np.arange(60_000)
    dice = np.array([rolls(7, games, ply)[:, 0] for ply in (1, 2)]).astype(int) - 1
    assert chi_square(np.bincount(dice[0] * 6 + dice[1], minlength=36)) < 66.6
    neighbours = rolls(7, games, 3)[:, 0].astype(int) - 1
    assert chi_square(np.bincount(neighbours[:-1] * 6 + neighbours[1:], minlength=36)) < 66.6
    seeds = np.array([rolls(seed, games[:1], 3)[0, 0] for seed in range(12_001)]).astype(int) - 1
    assert chi_square(np.bincount(seeds[:-1] * 6 + seeds[1:], minlength=36)) < 66.6


def test_opening_rolls_are_never_doubles():
    dice = rolls(3, np.arange(60_000), 0).astype(int) - 1
    assert (dice[:, 0] != dice[:, 1]).all()
    pairs = np.bincount(dice[:, 0] * 6 + dice[:, 1], minlength=36).reshape(6, 6)
    assert chi_square(pairs[~np.eye(6, dtype=bool)]) < 58.3  # 29 degrees of freedom, one in a thousand


def test_a_roll_depends_on_seed_game_and_ply_alone():
    games = np.arange(1_000)
    dice = rolls(5, games, 4)
    assert dice.dtype == np.int8 and dice.shape == (1_000, 2)
    assert (rolls(5, games, 4) == dice).all()
    assert (rolls(5, games[::-1].copy(), 4) == dice[::-1]).all()
    assert roll(5, 17, 4) == tuple(dice[17])
    for other in (rolls(6, games, 4), rolls(5, games, 5), rolls(5, games + 1, 4)):
        assert (other != dice).any(axis=1).mean() > 0.9
