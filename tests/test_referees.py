"""The referees: legal plays only, the packages' own opinion, known strength."""

import sys

import numpy as np
import pytest

from bgai.arena import play_match
from bgai.bots import UnknownBot
from bgai.referees import RandomBot, RefereeError, illegal_rows, open_referee
from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import Position, start_board, turn

PACKAGES = {
    "random": None,
    "pubeval": "gnubg_nn",
    "gnubg:0": "gnubg_nn",
    "gnubg:1": "gnubg_nn",
    "bgsage:1": "bgsage",
    "bgsage:2": "bgsage",
}


def opened(name):
    if PACKAGES[name]:
        pytest.importorskip(PACKAGES[name])
    return open_referee(name)


def random_positions(games, seed):
    """Boards and rolls of random games from the opening to the end, in a mixed order."""
    boards, live = np.repeat(start_board()[None], games, axis=0), np.arange(games)
    all_boards, all_dice = [], []
    ply = 0
    while len(live):
        dice = rolls(seed, live, ply)
        all_boards.append(boards)
        all_dice.append(dice)
        boards = RandomBot(seed).choose_boards(boards, dice)
        going = points_lost_many(boards) == 0
        boards, live, ply = boards[going], live[going], ply + 1
    order = np.random.default_rng(seed).permutation(sum(map(len, all_boards)))
    return np.concatenate(all_boards)[order], np.concatenate(all_dice)[order]


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("random", 5000),
        ("pubeval", 5000),
        ("gnubg:0", 5000),
        ("gnubg:1", 60),
        ("bgsage:1", 2000),
        ("bgsage:2", 60),
    ],
)
def test_every_choice_is_one_of_our_afterstates(name, positions):
    bot = opened(name)
    boards, dice = (array[:positions] for array in random_positions(60, 21))
    assert len(boards) == positions and (boards[:, 0] < 0).any() and (boards[:, 25] > 0).any()
    chosen = bot.choose_boards(boards.copy(), dice.copy())
    assert chosen.dtype == np.int8 and chosen.shape == boards.shape
    for board, roll, choice in zip(boards[:400], dice[:400], chosen[:400], strict=True):
        assert choice.tolist() in afterstates(board[None], roll[None])[0].tolist()
    assert len(illegal_rows(boards, dice, chosen)) == 0
    assert bot.name == name


@pytest.mark.parametrize("name", PACKAGES)
def test_a_choice_does_not_depend_on_the_other_rows(name):
    bot = opened(name)
    boards, dice = (array[:50] for array in random_positions(10, 5))
    chosen = bot.choose_boards(boards, dice)
    order = np.random.default_rng(0).permutation(len(boards))
    assert np.array_equal(bot.choose_boards(boards[order], dice[order]), chosen[order])
    assert np.array_equal(bot.choose_boards(boards[7:8], dice[7:8]), chosen[7:8])


def test_illegal_rows_are_found():
    boards, dice = random_positions(20, 2)
    chosen = RandomBot().choose_boards(boards, dice)
    chosen[[3, 11]] = 0
    assert illegal_rows(boards, dice, chosen).tolist() == [3, 11]


def test_random_plays_are_uniform_over_the_afterstates():
    roll = np.array([[3, 1]], dtype=np.int8)
    rows, _ = afterstates(start_board()[None], roll)
    picks = [RandomBot(seed).choose_boards(start_board()[None], roll)[0].tolist() for seed in range(1600)]
    counts = np.array([picks.count(row) for row in rows.tolist()])
    assert counts.sum() == 1600 and len(counts) == 16
    # Chi square with 15 degrees of freedom: 37.7 is passed once in a thousand.
    assert ((counts - 100) ** 2 / 100).sum() < 37.7


def test_random_plays_differ_between_boards_and_seeds_but_not_between_runs():
    boards, dice = (array[:500] for array in random_positions(20, 9))
    first = RandomBot(1).choose_boards(boards, dice)
    assert np.array_equal(RandomBot(1).choose_boards(boards, dice), first)
    assert np.array_equal(RandomBot(1).choose_boards(boards, dice[:, ::-1].copy()), first)
    assert (RandomBot(2).choose_boards(boards, dice) != first).any(axis=1).mean() > 0.5


def test_gnubg_0_takes_the_best_of_gnubgs_own_evaluations():
    gnubg_nn = pytest.importorskip("gnubg_nn")
    bot = opened("gnubg:0")
    boards, dice = (array[:300] for array in random_positions(30, 4))
    for board, roll, choice in zip(boards, dice, bot.choose_boards(boards, dice), strict=True):
        equities = {}
        for row in afterstates(board[None], roll[None])[0].tolist():
            if sum(n for n in row if n < 0) == 0:
                equities[tuple(row)] = 4.0
                continue
            lists = gnubg_nn.board_from_position_id(Position(row).id)
            win, gammon, backgammon, lost_gammon, lost_backgammon = gnubg_nn.probabilities(lists, 0)
            equities[tuple(row)] = 1 - 2 * win - gammon - backgammon + lost_gammon + lost_backgammon
        assert equities[tuple(choice.tolist())] == pytest.approx(max(equities.values()), abs=1e-5)


def test_the_last_man_off_must_hit_first_where_both_dice_can_be_played():
    # One man on the 4 point, roll 41: 4/off leaves the 1 unplayed, 4/3*/off plays both.
    men = [0] * 26
    men[4], men[3], men[24] = 1, -1, -2
    board, roll = Position(men).board[None], np.array([[4, 1]], dtype=np.int8)
    expected = [0] * 26
    expected[25], expected[1] = 1, 2
    for name in PACKAGES:
        assert opened(name).choose_boards(board, roll)[0].tolist() == expected, name


def test_a_choice_that_is_not_legal_names_position_and_roll(monkeypatch):
    bot = opened("pubeval")
    monkeypatch.setattr("gnubg_nn.pub_best_move", lambda lists, die1, die2: [23, 22])
    with pytest.raises(RefereeError, match="pubeval chose no legal play in position 4HPwATDgc/ABMA with roll 31"):
        bot.choose_boards(start_board()[None], np.array([[3, 1]], dtype=np.int8))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gnubg", "gnubg needs its plies, gnubg:0, gnubg:1 or gnubg:2, not 'gnubg'"),
        ("gnubg:3", "gnubg needs its plies, gnubg:0, gnubg:1 or gnubg:2, not 'gnubg:3'"),
        ("bgsage:0", "bgsage needs its plies, bgsage:1, bgsage:2 or bgsage:3, not 'bgsage:0'"),
        ("bgsage:x", "not 'bgsage:x'"),
        ("pubeval:1", "pubeval looks no plies ahead"),
        ("random:", "random looks no plies ahead"),
        ("gnu", "'gnu' is no referee"),
    ],
)
def test_what_is_no_referee_is_refused(name, sentence):
    with pytest.raises(UnknownBot) as error:
        open_referee(name)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("name", "module"), [("pubeval", "gnubg_nn"), ("gnubg:0", "gnubg_nn"), ("bgsage:1", "bgsage")]
)
def test_a_missing_package_says_what_to_install(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnknownBot) as error:
        open_referee(name)
    assert str(error.value) == f'{name} needs the extra "referees": pip install gnubg-nn bgsage'


@pytest.mark.parametrize(
    ("better", "worse", "games", "low", "high"),
    [
        ("pubeval", "random", 200, 2.2, 3.0),
        ("gnubg:0", "random", 200, 2.2, 3.0),
        # Published: gnubg's 0-ply wins about 0.6 points per game from pubeval.
        ("gnubg:0", "pubeval", 800, 0.4, 0.9),
        ("bgsage:1", "gnubg:0", 200, -0.4, 0.4),
    ],
)
def test_strength_of_the_referees(better, worse, games, low, high):
    mean, half_width = play_match(opened(better), opened(worse), games, seed=1).score
    assert low < mean - half_width and mean + half_width < high


def test_a_referee_looks_the_same_to_both_seats():
    board = start_board()
    assert np.array_equal(turn(board[None])[0], board)
    for name in ("pubeval", "gnubg:0", "bgsage:1"):
        assert play_match(opened(name), opened(name), 20, seed=2).score == (0.0, 0.0)


# --- gnubg's noisy levels


def test_noise_makes_gnubg_weaker_and_is_the_same_every_time():
    pytest.importorskip("gnubg_nn")
    strong, weak = open_referee("gnubg:0"), open_referee("gnubg:0:0.06")
    boards, dice = random_positions(12, 5)
    boards, dice = boards[:400], dice[:400]
    chosen = weak.choose_boards(boards, dice)
    assert len(illegal_rows(boards, dice, chosen)) == 0
    np.testing.assert_array_equal(weak.choose_boards(boards[::-1], dice[::-1])[::-1], chosen)
    tiny = open_referee("gnubg:0:0.000001").choose_boards(boards, dice)
    exact = strong.choose_boards(boards, dice)
    assert (tiny == exact).all(axis=1).mean() > 0.97  # not all: of equals another one
    assert 0.2 < (chosen == exact).all(axis=1).mean() < 0.95
    assert play_match(strong, weak, 60, 3).score.mean > 0.2


@pytest.mark.parametrize("text", ["gnubg:0:", "gnubg:0:x", "gnubg:0:-1", "gnubg:0:nan", "gnubg:0:2", "gnubg:1:0.06"])
def test_wrong_noise_is_told(text):
    with pytest.raises(UnknownBot, match="gnubg"):
        open_referee(text)
