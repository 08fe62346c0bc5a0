"""The arena: duplicate games against a plain game loop, scores against hand values, the command's output."""

import errno
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import bgai
import bgai.arena.cli as arena_cli
from bgai.arena import ArenaError, play_match, score, sprt, sprt_llr
from bgai.arena.duplicate import play_pairs
from bgai.arena.stats import t_quantile
from bgai.arena.table import distinct_labels
from bgai.bots import Bot, UnknownBot
from bgai.cli import main
from bgai.evaluation.lookahead import luck_in_points
from bgai.evaluation.search import equities
from bgai.referees import RandomBot
from bgai.rules.dice import ROLL_CHANCES, ROLLS, rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost
from bgai.rules.position import start_board, turn


class CountingBot(Bot):
    """Plays for the pips of the opponent less its own blots, weighted; ties go to the first afterstate."""

    def __init__(self, name, pips, blots):
        self.name, self.pips, self.blots = name, pips, blots

    def choose_boards(self, boards, dice):
        rows, starts = afterstates(boards, dice)
        their_pips = (np.maximum(rows, 0) * np.arange(26)).sum(axis=1)
        value = self.pips * their_pips - self.blots * (rows == -1).sum(axis=1)
        return np.stack([rows[a + value[a:z].argmax()] for a, z in zip(starts[:-1], starts[1:], strict=True)])


class Recorder(Bot):
    """A bot that plays like another one and keeps what it was asked."""

    def __init__(self, inner):
        self.name, self.inner, self.asked = inner.name, inner, []

    def choose_boards(self, boards, dice):
        self.asked.append((boards.copy(), dice.copy()))
        return self.inner.choose_boards(boards, dice)


class Stopped(RandomBot):
    """Ctrl-C comes at its first choice."""

    def choose_boards(self, boards, dice):
        raise KeyboardInterrupt


class Broken(Bot):
    """A bot whose answers are spoiled by a function of (boards, dice, answer)."""

    name = "broken"

    def __init__(self, spoil):
        self.spoil = spoil

    def choose_boards(self, boards, dice):
        return self.spoil(boards, dice, RandomBot(3).choose_boards(boards.copy(), dice))


def hitter():
    return CountingBot("hitter", pips=1, blots=8)


def builder():
    return CountingBot("builder", pips=0, blots=1)


def one_game(seats, seed, pair):
    """A plain game loop: (winner's seat, points), one board and one roll at a time."""
    board, ply = start_board(), 0
    opening = rolls(seed, np.array([pair]), 0)[0]
    seat = 0 if opening[0] > opening[1] else 1
    while True:
        dice = rolls(seed, np.array([pair]), ply)
        board = seats[seat].choose_boards(board[None], dice)[0]
        if lost := points_lost(board):
            return seat, int(lost)
        seat, ply = 1 - seat, ply + 1


# Scores


def test_interval_of_a_known_list_of_pairs():
    # Mean 0.25; squared deviations 0.5625, 0.0625, 0.0625, 0.5625; t(0.975, 3) = 3.182446.
    mean, half_width = score(np.array([1.0, 0.0, 0.5, -0.5]))
    assert mean == 0.25
    assert half_width == pytest.approx(3.182446 * math.sqrt(1.25 / 3) / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("freedom", "table"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (60, 2.000), (120, 1.980)],
)
def test_student_quantiles_of_the_printed_table(freedom, table):
    assert t_quantile(0.975, freedom) == pytest.approx(table, abs=5.1e-4)


def test_student_quantile_has_no_seam_where_the_formula_changes():
    steps = [t_quantile(0.975, freedom) for freedom in range(97, 106)]
    assert np.all(np.diff(np.diff(steps)) > 0)


def test_one_pair_has_no_interval_and_none_has_no_score():
    assert score(np.array([2.0])) == (2.0, math.inf)
    with pytest.raises(ValueError, match="at least one pair"):
        score(np.array([]))


def test_interval_covers_the_truth_about_19_times_in_20():
    rng = np.random.default_rng(1)
    samples = rng.choice([-2.0, -0.5, 0.0, 0.5, 1.5], size=(4000, 12))
    scores = [score(row) for row in samples]
    covered = np.mean([abs(mean - -0.1) <= half_width for mean, half_width in scores])
    assert 0.935 < covered < 0.965


# Duplicate games


def test_every_game_is_the_game_a_plain_loop_plays():
    a, b = hitter(), RandomBot()
    pairs = np.arange(30)
    points = play_pairs(a, b, pairs, seed=11)
    for pair in pairs:
        seat, won = one_game((a, b), 11, pair)
        assert points[pair, 0] == (won if seat == 0 else -won)
        seat, won = one_game((b, a), 11, pair)
        assert points[pair, 1] == (won if seat == 1 else -won)
    assert set(np.abs(points).ravel()) == {1, 2, 3}


def test_both_games_of_a_pair_use_the_same_dice_with_changed_seats():
    a, b = Recorder(hitter()), Recorder(builder())
    play_pairs(a, b, np.array([5]), seed=3)
    together = min(len(a.asked), len(b.asked))
    assert together > 20
    for ply in range(together):
        expected = rolls(3, np.array([5]), ply)
        # As long as both games go on, each bot plays one of the two at every roll.
        if len(a.asked[ply][0]) == len(b.asked[ply][0]) == 1 and ply < together - 1:
            assert np.array_equal(a.asked[ply][1], expected) and np.array_equal(b.asked[ply][1], expected)
    assert np.array_equal(a.asked[0][0], b.asked[0][0])


def test_a_bot_against_itself_scores_exactly_zero():
    for bot in (RandomBot(), hitter(), builder()):
        result = play_match(bot, bot, 200, seed=4)
        assert result.score == (0.0, 0.0)
        assert result.wins == result.losses


def test_b_against_a_is_exactly_minus_a_against_b():
    there = play_match(hitter(), RandomBot(), 300, seed=9)
    back = play_match(RandomBot(), hitter(), 300, seed=9)
    assert np.array_equal(there.pair_means, -back.pair_means)
    assert there.score.mean == -back.score.mean and there.score.half_width == back.score.half_width
    assert there.wins == back.losses and there.losses == back.wins
    assert there.score.mean - there.score.half_width > 0.5


def test_result_does_not_depend_on_the_batches_but_on_the_seed():
    results = [play_match(hitter(), builder(), 120, 2, pairs_at_once=size).points for size in (1, 7, 60, None)]
    assert all(np.array_equal(results[0], other) for other in results[1:])
    assert not np.array_equal(results[0], play_match(hitter(), builder(), 120, 3).points)


def test_a_longer_match_begins_with_the_shorter_one():
    short, long = (play_match(hitter(), RandomBot(), games, 6).points for games in (40, 100))
    assert np.array_equal(short, long[:40])


def test_result_adds_up():
    result = play_match(hitter(), RandomBot(1), 100, seed=0)
    assert result.games == 100 == sum(result.wins) + sum(result.losses)
    points = np.dot(result.wins, (1, 2, 3)) - np.dot(result.losses, (1, 2, 3))
    assert result.score.mean == pytest.approx(points / 100)
    assert (result.bot_a, result.bot_b, result.seed) == ("hitter", "random", 0)
    assert result.games_per_second > 0


def test_progress_gets_the_result_so_far():
    seen = []
    result = play_match(hitter(), RandomBot(), 50, 1, lambda r: seen.append(r.points), pairs_at_once=10)
    assert [len(points) for points in seen] == [20, 40, 50]
    assert all(np.array_equal(points, result.points[: len(points)]) for points in seen)


@pytest.mark.parametrize("games", [0, 1, 3, -2])
def test_games_that_make_no_pairs_are_refused(games):
    with pytest.raises(ArenaError, match="pairs"):
        play_match(RandomBot(), RandomBot(), games, 0)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_beyond_63_bits_are_refused(seed):
    with pytest.raises(ArenaError, match="seed"):
        play_match(RandomBot(), RandomBot(), 2, seed)
    assert play_match(RandomBot(), RandomBot(), 2, 2**63 - 1).games == 2


# Bots that break the rules


def test_a_bot_that_changes_the_order_of_its_boards_is_caught():
    with pytest.raises(ArenaError, match="broken returned a board that no legal play.*position .{14}, roll"):
        play_match(Broken(lambda boards, dice, answer: answer[::-1].copy()), RandomBot(), 20, 0)


def test_a_bot_that_returns_an_illegal_board_is_caught():
    with pytest.raises(ArenaError, match="no legal play"):
        play_match(RandomBot(), Broken(lambda boards, dice, answer: turn(boards)), 20, 0)


def test_a_bot_that_writes_into_its_arguments_does_not_deceive_the_check():
    def spoil(boards, dice, answer):
        boards[:] = start_board()
        dice[:] = (6, 5)
        return RandomBot().choose_boards(boards, dice)

    with pytest.raises(ArenaError, match="no legal play"):
        play_match(Broken(spoil), RandomBot(), 20, 0)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda b, d, a: a[:-1],
        lambda b, d, a: a.astype(np.int64),
        lambda b, d, a: a.tolist(),
        lambda b, d, a: None,
    ],
)
@pytest.mark.parametrize("check_plays", [True, False])
def test_a_bot_that_returns_something_else_is_caught(spoil, check_plays):
    with pytest.raises(ArenaError, match="broken must return one board per roll"):
        play_match(Broken(spoil), RandomBot(), 20, 0, check_plays=check_plays)


def test_a_game_without_end_is_an_error_that_names_the_bots():
    never = Broken(lambda boards, dice, answer: turn(boards))
    with pytest.raises(ArenaError, match="between broken and broken is not over after 10,000 rolls"):
        play_match(never, never, 2, 0, check_plays=False)


# The sequential test


def test_llr_of_the_formula():
    # n (h1 - h0) (2 mean - h0 - h1) / (2 variance) = 200 * 0.1 * (0.16 - 0.1) / (2 * 1.5)
    assert sprt_llr(200, 0.08, 1.5, 0.0, 0.1) == pytest.approx(0.4)
    assert sprt_llr(200, 0.05, 1.5, 0.0, 0.1) == pytest.approx(0.0)
    assert sprt_llr(200, 0.0, 0.0, -0.1, 0.1) == 0 and sprt_llr(200, 0.2, 0.0, -0.1, 0.1) == math.inf


def test_error_rates_of_the_sequential_test_hold():
    rng = np.random.default_rng(7)
    values = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
    even = np.array([2, 4, 10, 18, 32, 18, 10, 4, 2]) / 100
    tilt = values / np.dot(even, values**2)
    runs, low, high = 600, 0.0, 0.2
    verdicts = {}
    for mean in (low, high):
        chances = even * (1 + mean * tilt)
        assert np.dot(chances, values) == pytest.approx(mean) and chances.sum() == pytest.approx(1)
        samples = rng.choice(values, p=chances, size=(runs, 3000))
        verdicts[mean] = [sprt(row, low, high) for row in samples]
        assert all(verdict.accepted for verdict in verdicts[mean])
        assert min(verdict.pairs for verdict in verdicts[mean]) >= 100
    # 5% and three standard errors of 600 runs.
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert np.mean([verdict.accepted == "high" for verdict in verdicts[low]]) < most
    assert np.mean([verdict.accepted == "low" for verdict in verdicts[high]]) < most
    # It saves games: a fixed test with both errors at 5% needs n = (2 * 1.645 / 0.2)^2 * variance pairs.
    fixed = (2 * 1.645 / (high - low)) ** 2 * np.dot(even, values**2)
    assert np.mean([verdict.pairs for verdict in verdicts[low]]) < 0.75 * fixed


def test_sequential_test_stops_at_its_first_decision():
    values = np.random.default_rng(3).choice([-1.0, 0.0, 1.0, 2.0], size=2000)
    verdict = sprt(values, 0.0, 0.1)
    assert verdict.accepted == "high" and 100 <= verdict.pairs < 2000 and verdict.llr >= math.log(19)
    assert sprt(values[: verdict.pairs], 0.0, 0.1) == verdict
    assert sprt(values[: verdict.pairs - 1], 0.0, 0.1).accepted is None or verdict.pairs == 100


@pytest.mark.parametrize("bounds", [(0.1, 0.1), (0.2, 0.1), (math.nan, 0.1), (0.0, math.inf)])
def test_bounds_must_be_in_order(bounds):
    with pytest.raises(ValueError, match="LOW below HIGH"):
        sprt(np.zeros(200), *bounds)
    with pytest.raises(ValueError, match="LOW below HIGH"):
        play_match(RandomBot(), RandomBot(), 2, 0, sprt_bounds=bounds)


def test_a_match_ends_with_the_verdict_whatever_the_batches():
    results = [
        play_match(hitter(), RandomBot(), 2000, 5, sprt_bounds=(0.0, 0.3), pairs_at_once=size)
        for size in (30, 64, 500)
    ]
    first = results[0]
    assert first.verdict.accepted == "high" and first.games == 2 * first.verdict.pairs < 2000
    assert all(np.array_equal(first.points, r.points) and r.verdict == first.verdict for r in results)


# Luck


def luck_of_pips(boards, dice):
    """A roll's pips beyond the mean of all rolls, 49/6, are worth something in points; the mean is zero exactly."""
    pips = dice.astype(int).sum(axis=1) * np.where(dice[:, 0] == dice[:, 1], 2, 1)
    return 0.012 * (pips - 49 / 6)


def test_luck_is_what_a_plain_loop_adds_up():
    result = play_match(hitter(), RandomBot(), 8, 5, luck=luck_of_pips)
    for game in range(8):
        asked = [Recorder(hitter()), Recorder(RandomBot())]
        seats = asked if game % 2 == 0 else asked[::-1]
        one_game(seats, 5, game // 2)
        a, b = (sum(float(luck_of_pips(*each)[0]) for each in bot.asked) for bot in asked)
        opening = rolls(5, np.array([game // 2]), 0)
        first = float(luck_of_pips(None, opening)[0])  # decides who begins, the same for both: not counted
        a_began = seats[0 if opening[0, 0] > opening[0, 1] else 1] is asked[0]
        assert result.luck[game] == pytest.approx(a - b - (first if a_began else -first))
    np.testing.assert_allclose(result.pair_means, (result.points - result.luck).reshape(-1, 2).mean(axis=1))


def test_luck_does_not_depend_on_the_batches():
    one, two = (play_match(hitter(), builder(), 60, 6, luck=luck_of_pips, pairs_at_once=n) for n in (7, 30))
    np.testing.assert_array_equal(one.luck, two.luck)


def test_luck_by_a_network_is_zero_on_average_over_the_rolls(game_positions):
    strong = bgai.load("strong", bearoff=False)
    for board in game_positions(20, 3)[0][::40]:
        luck = luck_in_points(strong.sketch, np.repeat(board[None], len(ROLLS), axis=0), ROLLS)
        assert abs(luck @ ROLL_CHANCES) < 1e-5
        after = [equity_of_best(strong.sketch, board, roll) for roll in ROLLS]
        np.testing.assert_allclose(luck, after - np.dot(after, ROLL_CHANCES), atol=1e-5)


def equity_of_best(evaluate, board, roll):
    rows, starts = afterstates(board[None], roll[None])
    outcomes = evaluate(rows, rows, np.arange(len(rows) + 1))
    lost = [points_lost(row) for row in rows]
    values = -equities(outcomes)
    return max(float(points) if points else float(value) for points, value in zip(lost, values, strict=True))


def test_the_verdict_comes_from_the_score_less_luck():
    result = play_match(hitter(), RandomBot(), 2000, 4, sprt_bounds=(0.0, 0.3), luck=luck_of_pips)
    assert result.verdict.accepted == "high"
    assert len(result.luck) == result.games == 2 * result.verdict.pairs
    again = sprt(result.pair_means, 0.0, 0.3)
    assert again == result.verdict


# The command


def run(*words):
    return main(["arena", *words])


@pytest.fixture
def shelf(monkeypatch):
    """Bots by name for the command, so that these tests need no checkpoint and no package."""
    bots = {"hitter": hitter, "builder": builder, "random": RandomBot}

    def open_bot(text):
        if text not in bots:
            raise UnknownBot(f"{text!r} is no bot")
        return bots[text]()

    monkeypatch.setattr(arena_cli, "open_bot", open_bot)
    return bots


def test_two_bots_print_one_line_and_a_table(shelf, capsys):
    assert run("hitter", "random", "--games", "100", "--seed", "3") == 0
    result = play_match(hitter(), RandomBot(), 100, 3)
    header, line, empty, *table = capsys.readouterr().out.splitlines()
    assert empty == "" and len(table) == 3
    assert header.startswith("match") and "points per game, 95%" in header
    assert line.startswith("hitter - random")
    assert f"{result.score.mean:+.3f} ± {result.score.half_width:.3f}" in line
    assert f"{sum(result.wins)} ({result.wins[1]}, {result.wins[2]})" in line
    assert f"{sum(result.losses)} ({result.losses[1]}, {result.losses[2]})" in line


def test_three_bots_print_all_pairs_and_a_cross_table(shelf, capsys):
    assert run("hitter", "random", "hitter", "--games", "40") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        "hitter - random",
        "hitter - hitter (2)",
        "random - hitter (2)",
    ]
    table = [line.split("  ") for line in lines[5:]]
    table = [[cell.strip() for cell in row if cell.strip()] for row in table]
    assert table[0] == ["points per game, 95%", "hitter", "random", "hitter (2)"]
    assert [row[0] for row in table[1:]] == ["hitter", "random", "hitter (2)"]
    numbers = [[0.0 if cell == "." else float(cell.split(" ± ")[0]) for cell in row[1:]] for row in table[1:]]
    assert np.array_equal(numbers, -np.array(numbers).T)
    assert numbers[0][1] > 0 and numbers[0][2] == 0
    assert len({len(line) for line in lines[5:]}) == 1


def test_json_holds_everything(shelf, tmp_path, capsys):
    path = tmp_path / "out.json"
    assert run("hitter", "builder", "--games", "60", "--seed", "8", "--json", str(path), "--sprt", "0", "0.1") == 0
    data = json.loads(path.read_text())
    assert (data["seed"], data["games"], data["interrupted"]) == (8, 60, False)
    assert data["sprt"] == {"low": 0.0, "high": 0.1} and data["bgai"]
    assert [bot["label"] for bot in data["bots"]] == ["hitter", "builder"]
    (match,) = data["matches"]
    result = play_match(hitter(), builder(), 60, 8)
    assert match["points"] == result.points.tolist()
    assert match["points_per_game"] == result.score.mean and match["interval"] == result.score.half_width
    assert match["won"] == dict(zip(("single", "gammon", "backgammon"), result.wins, strict=True))
    assert match["sprt"]["accepted"] is None and match["sprt"]["pairs"] == 30
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_less_luck_the_interval_is_half_about_the_same_mean(tmp_path, capsys):
    path = tmp_path / "out.json"
    assert run("normal", "beginner", "--games", "400", "--seed", "8", "--json", str(path), "--luckless") == 0
    out = capsys.readouterr().out
    assert out.count("points per game less luck, 95%") == 2 and "and luck" in out
    data = json.loads(path.read_text())
    (match,) = data["matches"]
    assert data["luckless"] and len(match["luck"]) == len(match["points"]) == 400
    points, less = np.array(match["points"]), np.subtract(match["points"], match["luck"])
    plain, luckless = (score(values.reshape(-1, 2).mean(axis=1)) for values in (points, less))
    assert match["points_per_game"] == pytest.approx(luckless.mean, abs=1e-4)
    assert luckless.half_width < 0.55 * plain.half_width
    assert abs(luckless.mean - plain.mean) < 1.5 * plain.half_width


def test_json_without_an_interval_is_still_json(shelf, tmp_path):
    path = tmp_path / "out.json"
    assert run("hitter", "builder", "--games", "2", "--json", str(path)) == 0
    assert json.loads(path.read_text())["matches"][0]["interval"] is None


def test_the_sequential_test_says_what_it_decided(shelf, capsys):
    assert run("hitter", "random", "--games", "2000", "--sprt", "0", "0.3") == 0
    assert "accepts H1, at least +0.3 points per game, after" in capsys.readouterr().out
    assert run("random", "hitter", "--games", "2000", "--sprt", "0", "0.3") == 0
    assert "accepts H0, at most +0 points per game, after" in capsys.readouterr().out
    assert run("random", "random", "--games", "220", "--sprt", "-0.1", "0.1") == 0
    assert "undecided between at most -0.1 and at least +0.1 points per game" in capsys.readouterr().out
    assert run("random", "random", "--games", "20", "--sprt", "-5e-2", "1E-1") == 0
    assert "undecided between at most -0.05 and at least +0.1 points per game" in capsys.readouterr().out


def test_ctrl_c_prints_the_result_so_far(shelf, tmp_path, capsys, monkeypatch):
    class Stopped(Recorder):
        def choose_boards(self, boards, dice):
            if len(self.asked) > 300:
                raise KeyboardInterrupt
            return super().choose_boards(boards, dice)

    shelf["stopped"] = lambda: Stopped(hitter())
    path = tmp_path / "out.json"
    assert run("hitter", "stopped", "builder", "--games", "100000", "--json", str(path)) == 130
    printed = capsys.readouterr()
    assert "hitter - hitter (2)" in printed.out and "interrupted" in printed.err
    data = json.loads(path.read_text())
    assert data["interrupted"] and 0 < data["matches"][0]["games"] < 100000


def test_ctrl_c_before_the_first_game_leaves_the_file_as_it_was(shelf, tmp_path, capsys):
    path = tmp_path / "out.json"
    path.write_text("earlier")
    shelf["stopped"] = Stopped
    assert run("stopped", "hitter", "--games", "20", "--json", str(path)) == 130
    out, err = capsys.readouterr()
    assert out == "" and "interrupted" in err and path.read_text() == "earlier"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("hitter",), "at least two bots"),
        (("hitter", "nobody"), "'nobody' is no bot"),
        (("hitter", "builder", "--games", "3"), "must be even and at least 2, not 3"),
        (("hitter", "builder", "--games", "0"), "must be even and at least 2, not 0"),
        (("hitter", "builder", "--seed", "-1"), "seed must be from 0"),
        (("hitter", "builder", "--seed", str(2**63)), "seed must be from 0"),
        (("hitter", "builder", "--sprt", "0.1", "0"), "LOW below HIGH"),
        (("hitter", "builder", "--json", "/no/such/folder/out.json"), "there is no folder /no/such/folder"),
        (("hitter", "builder", "--money", "--luckless"), "--luckless is for cubeless games"),
        (("hitter", "builder", "--json", "/"), "is a folder; it must be a file"),
        (("hitter", "builder", "--json", os.devnull), "is not a regular file and is not replaced"),
    ],
)
def test_wrong_arguments_are_one_sentence_before_any_game(shelf, capsys, monkeypatch, words, sentence):
    monkeypatch.setattr(arena_cli, "play_match", lambda *a, **k: pytest.fail("a game was played"))
    assert run(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and sentence in printed.err and printed.err.count("\n") == 1


def test_labels_are_distinct():
    assert distinct_labels(["a", "b", "a", "a (2)", "a"]) == ["a", "b", "a (2)", "a (2) (2)", "a (3)"]


@pytest.mark.parametrize("command", ["arena", "character"])
def test_a_file_that_cannot_be_written_costs_no_table(monkeypatch, tmp_path, capsys, command):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "out.json")

    monkeypatch.setattr(os, "replace", fail)
    path = tmp_path / "out.json"
    assert main([command, "random", "random", "--games", "20", "--json", str(path)]) == 2
    out, err = capsys.readouterr()
    assert "random (2)" in out and "No space left on device" in err and not path.exists()


def test_a_name_that_is_not_utf8_is_kept(monkeypatch, tmp_path):
    bot, path = hitter(), tmp_path / "out.json"
    bot.name = os.fsdecode(b"b\xfft")
    monkeypatch.setattr(arena_cli, "open_bot", lambda text: bot)
    assert run(bot.name, bot.name, "--games", "2", "--json", str(path)) == 0
    assert json.loads(path.read_text())["bots"][0]["name"] == bot.name


@pytest.mark.skipif(os.name != "posix", reason="pipes close otherwise elsewhere")
@pytest.mark.parametrize(
    "words",
    [
        "arena random random --games 2000",
        "character random --games 6",
        "rate random --benchmark",
        "rollout 4HPwATDgc/ABMA --bot beginner --truncate 1 --games 72",
    ],
)
def test_a_reader_that_leaves_costs_no_result(words, tmp_path):
    read, write = os.pipe()
    os.close(read)
    path = tmp_path / "out.json"
    words = [sys.executable, "-m", "bgai", *words.split(), "--json", str(path)]
    assert subprocess.run(words, stdout=write, stderr=write, timeout=120).returncode == 1
    os.close(write)
    data = json.loads(path.read_text())
    assert not data["interrupted"] and data.get("games", 2000) in (6, 72, 2000)
