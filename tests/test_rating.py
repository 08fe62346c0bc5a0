"""Errors per decision: phases by hand, judges against the referees' own choices, ratings against hand values."""

import json
import math

import numpy as np
import pytest

from bgai.arena import rate_cli
from bgai.arena.benchmark import SHIPPED, Benchmark, InvalidBenchmark, load_benchmark, save_benchmark
from bgai.arena.duplicate import ArenaError
from bgai.arena.judges import Judge, candidates, indices, judge_one, open_judge
from bgai.arena.phases import PHASES, phases
from bgai.arena.rating import (
    BLUNDERS,
    Decisions,
    errors,
    mean_over_games,
    own_decisions,
    played_decisions,
    rate,
    rate_phases,
    share_over_games,
)
from bgai.arena.stats import score
from bgai.bots import Bot, UnknownBot, open_bot
from bgai.cli import main
from bgai.referees import RandomBot
from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position, start_board, turn


def board(mine, theirs):
    """A board from {point: men} of each player, both counted from the mover's side; 25 and 0 are the bars."""
    men = [0] * 26
    for point, count in mine.items():
        men[point] += count
    for point, count in theirs.items():
        assert men[point] <= 0
        men[point] -= count
    return Position(men).board


# Phase, the mover's men, the opponent's (by the mover's points).
PHASE_CASES = [
    ("opening", {24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}),
    ("opening", {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {1: 1, 4: 1, 12: 5, 17: 3, 19: 5}),
    # Six men have left, 9 + 15 stay; seven have.
    ("opening", {24: 1, 22: 1, 13: 2, 10: 2, 9: 1, 8: 3, 6: 3, 5: 2}, {1: 2, 12: 5, 17: 3, 19: 5}),
    ("contact", {24: 1, 22: 1, 13: 2, 10: 2, 9: 2, 8: 2, 6: 3, 5: 2}, {1: 2, 12: 5, 17: 3, 19: 5}),
    ("contact", {20: 2, 13: 3, 8: 3, 6: 3, 5: 2, 4: 2}, {1: 2, 12: 4, 17: 4, 19: 5}),
    # One anchor only, however far behind.
    ("contact", {24: 3, 7: 2, 6: 5, 5: 5}, {14: 3, 19: 4, 20: 4, 21: 4}),
    # Five points in a row and a man behind them; the other player's; without a man behind; four in a row.
    ("prime", {13: 2, 8: 2, 7: 2, 6: 3, 5: 3, 4: 3}, {2: 1, 12: 5, 17: 4, 19: 5}),
    ("prime", {23: 1, 13: 5, 8: 4, 6: 5}, {12: 2, 17: 2, 18: 2, 19: 3, 20: 3, 21: 3}),
    ("contact", {13: 2, 8: 2, 7: 2, 6: 3, 5: 3, 4: 3}, {10: 1, 12: 5, 17: 4, 19: 5}),
    ("contact", {13: 4, 8: 1, 7: 2, 6: 3, 5: 3, 4: 2}, {2: 1, 12: 5, 17: 4, 19: 5}),
    # 1 and 3 points of the other's home held: 110 pips behind; and 3 pips ahead.
    ("back game", {24: 3, 22: 2, 13: 4, 8: 2, 6: 4}, {17: 3, 18: 2, 19: 4, 20: 3, 21: 3}),
    ("back game", {8: 3, 7: 2, 6: 4, 5: 3, 4: 3}, {1: 3, 3: 2, 12: 4, 17: 2, 19: 4}),
    ("contact", {24: 2, 22: 2, 6: 4, 5: 4, 4: 3}, {1: 2, 3: 2, 19: 4, 20: 4, 21: 3}),
    ("contact bearoff", {6: 3, 5: 3, 4: 3, 3: 2}, {1: 2, 19: 5, 20: 4, 21: 4}),
    ("contact bearoff", {6: 3, 5: 3, 4: 3, 3: 2}, {0: 1, 19: 5, 20: 5, 21: 4}),
    ("contact bearoff", {24: 2, 6: 5, 5: 4, 4: 4}, {19: 5, 20: 4, 21: 3}),
    ("race", {13: 2, 8: 3, 6: 5, 5: 5}, {14: 2, 17: 3, 19: 5, 20: 5}),
    ("race", {7: 1, 6: 4}, {20: 3}),
    ("bearoff", {6: 4, 1: 1}, {14: 2, 20: 3}),
    ("bearoff", {6: 5, 5: 5, 4: 5}, {19: 5, 20: 5, 21: 5}),
]


@pytest.mark.parametrize(("phase", "mine", "theirs"), PHASE_CASES)
def test_phases_of_positions_made_by_hand(phase, mine, theirs):
    here = board(mine, theirs)
    assert PHASES[phases(here[None])[0]] == phase
    if phase not in ("race", "bearoff"):
        assert PHASES[phases(turn(here)[None])[0]] == phase


def test_every_position_has_a_phase_and_all_phases_occur_in_games():
    met = own_decisions(open_bot("normal"), 2000, seed=3)
    found = phases(met.boards)
    assert found.shape == (2000,) and set(found.tolist()) == set(range(len(PHASES)))


def game_decisions(count, seed=1):
    """Decisions of random games, and of a trained bot's."""
    random, trained = (
        own_decisions(RandomBot(), count // 2, seed),
        own_decisions(open_bot("normal"), count // 2, seed),
    )
    return Decisions(*(np.concatenate(both) for both in zip(random, trained, strict=True)))


@pytest.mark.parametrize(("name", "count"), [("gnubg:0", 400), ("gnubg:1", 60), ("bgsage:1", 400), ("bgsage:2", 60)])
def test_a_judge_loses_nothing_on_its_own_programs_choices(name, count):
    pytest.importorskip(name.partition(":")[0].replace("gnubg", "gnubg_nn"))
    met = game_decisions(count)
    lost = errors(open_bot(name), open_judge(name), met)
    assert lost.min() >= 0
    if name in ("gnubg:0", "bgsage:1"):
        assert lost.max() < 1e-6
    else:  # deeper the programs look at few candidates and can miss the best one
        assert lost.mean() < 0.004 and (lost < 1e-6).mean() > 0.9
    assert errors(RandomBot(), open_judge(name), met).mean() > 0.1


def test_judges_of_two_families_agree_about_sign_and_size():
    pytest.importorskip("gnubg_nn"), pytest.importorskip("bgsage")
    met = game_decisions(60, seed=5)
    rows, starts = candidates(met.boards, met.dice)
    here = [slice(first, end) for first, end in zip(starts[:-1], starts[1:], strict=True)]
    gnubg, bgsage = (
        np.concatenate([judge.equities(met.boards[i], met.dice[i], rows[here[i]]) for i in range(len(here))])
        for judge in (open_judge("gnubg:0"), open_judge("bgsage:1"))
    )
    assert np.abs(gnubg - bgsage).mean() < 0.06 and gnubg.std() > 0.3


def test_values_are_the_movers_and_finished_games_count_their_points():
    pytest.importorskip("gnubg_nn"), pytest.importorskip("bgsage")
    # Two men left against fifteen at home: roll 21 takes both off and wins a gammon; other plays leave one.
    here, roll = board({2: 1, 1: 1}, {19: 15}), np.array([2, 1], dtype=np.int8)
    rows, _ = candidates(here[None], roll[None])
    for name in ("gnubg:0", "bgsage:1"):
        values = open_judge(name).equities(here, roll, rows)
        assert values.max() == 2.0, name
    # Far ahead in a race, far behind in a race.
    for turned, sign in ((False, 1), (True, -1)):
        here = board({3: 2, 2: 2}, {13: 5, 14: 5, 19: 4})
        if turned:
            here = turn(here)
        rows, _ = candidates(here[None], roll[None])
        for name in ("gnubg:0", "bgsage:1"):
            assert (sign * open_judge(name).equities(here, roll, rows) > 0.9).all(), name


@pytest.mark.parametrize("name", ["random", "pubeval", "gnubg:3", "strong", "bgsage", ""])
def test_only_engines_with_values_are_judges(name):
    with pytest.raises(UnknownBot):
        open_judge(name)


class FivePoint(Judge):
    """Values a play by the men it puts on the five point, 0.1 each."""

    name = "five"

    def estimates(self, board, roll, rows):
        return -0.1 * np.minimum(rows[:, 25 - 5], 0)


class Plays(Bot):
    """Plays what it was told for the opening roll 31."""

    name = "plays"

    def __init__(self, text):
        [play] = [play for play in legal_plays(Position.start(), (3, 1)) if str(play) == text]
        self.after = play.after.board

    def choose_boards(self, boards, dice):
        return np.repeat(self.after[None], len(boards), axis=0)


def opening_31():
    return Decisions(start_board()[None], np.array([[3, 1]], dtype=np.int8), np.arange(1))


@pytest.mark.parametrize(("play", "lost"), [("8/5 6/5", 0.0), ("24/21 6/5", 0.1), ("24/23 13/10", 0.2)])
def test_the_error_of_a_play_by_hand(play, lost):
    assert errors(Plays(play), FivePoint(), opening_31()) == pytest.approx([lost])


class Doubtful(FivePoint):
    """At full depth everything is worth 0.03 more, and a man on the bar-point costs 0.01."""

    name = "doubtful"
    quick = FivePoint()

    def estimates(self, board, roll, rows):
        return super().estimates(board, roll, rows) + 0.03 - 0.01 * (rows[:, 25 - 7] < 0)


def test_what_is_far_behind_is_estimated_unless_it_is_wanted():
    met = opening_31()
    rows, starts = candidates(met.boards, met.dice)
    guesses = FivePoint().estimates(None, None, rows)
    assert sorted(set(np.round(guesses, 6))) == [0.0, 0.1, 0.2]
    truth = Doubtful().estimates(None, None, rows)
    worst = int(np.flatnonzero((guesses == 0) & (truth != 0.03))[0])
    wanted = np.arange(len(rows)) == worst
    values, full = judge_one(Doubtful(), met.boards[0], met.dice[0], rows, wanted, margin=0.16)
    assert np.array_equal(full, (guesses > 0.05) | wanted)
    assert np.array_equal(values[full], truth[full])
    # The quick look's best, 8/5 6/5, is worth 0.23 in full; the others keep their distance of 0.2 from it.
    assert values[~full] == pytest.approx(0.03)
    values, full = judge_one(Doubtful(), met.boards[0], met.dice[0], rows, wanted, margin=9)
    assert full.all() and np.array_equal(values, truth)


def test_candidates_are_the_afterstates_in_an_order_of_their_own():
    met = game_decisions(100)
    rows, starts = candidates(met.boards, met.dice)
    theirs, their_starts = afterstates(met.boards, met.dice)
    assert np.array_equal(starts, their_starts)
    for i in range(len(met.boards)):
        here = [tuple(row) for row in rows[starts[i] : starts[i + 1]].tolist()]
        assert here == sorted(map(tuple, theirs[starts[i] : starts[i + 1]].tolist()))
    picked = starts[:-1] + np.diff(starts) // 2
    assert np.array_equal(indices(rows, starts, rows[picked]), picked)
    chosen = rows[picked]
    chosen[7] = met.boards[7]
    with pytest.raises(ValueError, match="decision 7"):
        indices(rows, starts, chosen)


def test_own_decisions_come_from_many_games_and_repeat():
    bot = RandomBot()
    met = own_decisions(bot, 400, seed=9)
    assert met.boards.shape == (400, 26) and met.dice.shape == (400, 2)
    assert (np.diff(afterstates(met.boards, met.dice)[1]) > 1).all()
    _, counts = np.unique(met.games, return_counts=True)
    assert len(counts) >= 45 and counts.max() <= 40
    again, other = own_decisions(bot, 400, seed=9), own_decisions(bot, 400, seed=10)
    assert all(np.array_equal(a, b) for a, b in zip(met, again, strict=True))
    assert not np.array_equal(met.boards, other.boards)
    with pytest.raises(ArenaError, match="at least one decision, not 0"):
        own_decisions(bot, 0, seed=9)


class Noting(RandomBot):
    """A random bot that keeps what it is asked."""

    def __init__(self, seed):
        super().__init__(seed)
        self.asked = []

    def choose_boards(self, boards, dice):
        self.asked.append(len(boards))
        return super().choose_boards(boards, dice)


def test_players_take_turns_from_their_seats_and_games_can_be_cut_short():
    first, second = Noting(1), Noting(2)
    seats, games = np.array([[0, 1], [0, 1], [1, 0]]), np.array([4, 5, 6])
    starts = np.repeat(start_board()[None], 3, axis=0)
    met = played_decisions([first, second], seats, starts, games, 7, most_plies=4)
    assert (first.asked, second.asked) == ([2, 1, 2, 1], [1, 2, 1, 2])
    assert np.array_equal(met.boards[:3], starts) and np.array_equal(met.dice[:3], rolls(7, games, 0))
    assert set(met.games.tolist()) == {4, 5, 6} and len(met.games) <= 12
    # The first decision of the second roll is what the first play left.
    after = first.choose_boards(starts[:1], met.dice[:1])
    assert after[0].tolist() in met.boards[3:6].tolist()


def test_a_rating_by_hand():
    lost = np.array([0.0, 0.1, 0.3, 0.6, 0.0, 0.08])
    rating = rate(lost, np.array([1, 1, 2, 2, 3, 3]))
    assert (rating.decisions, rating.games) == (6, 3)
    assert rating.error.mean == pytest.approx(1.08 / 6)
    assert rating.pr.mean == pytest.approx(90.0)
    assert [share.mean for share in rating.blunders] == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    # Sums over games less the mean: -0.26, 0.54, -0.28; Student's t with 2 degrees of freedom is 4.302653.
    squares = 0.26**2 + 0.54**2 + 0.28**2
    assert rating.error.half_width == pytest.approx(4.302653 * math.sqrt(3 / 2 * squares) / 6, rel=1e-6)
    assert rating.pr.half_width == pytest.approx(500 * rating.error.half_width)
    assert math.isinf(rate(lost, np.zeros(6)).error.half_width)
    with pytest.raises(ValueError, match="at least one decision"):
        rate(lost[:0], np.zeros(0))


def test_with_one_decision_a_game_the_interval_is_students():
    values = np.random.default_rng(0).exponential(size=40)
    assert mean_over_games(values, np.arange(40)) == pytest.approx(tuple(score(values)))


def test_intervals_cover_the_truth_although_decisions_of_a_game_resemble_each_other():
    rng = np.random.default_rng(1)
    covered = naive = 0
    for _ in range(600):
        sizes = rng.integers(1, 12, size=80)
        games = np.repeat(np.arange(80), sizes)
        values = rng.exponential(size=80)[games] * rng.exponential(size=len(games))
        mean, width = mean_over_games(values, games)
        covered += abs(mean - 1) <= width
        naive += abs(mean - 1) <= mean_over_games(values, np.arange(len(games))).half_width
    assert 0.91 <= covered / 600 <= 0.97
    assert naive / 600 < 0.9


def test_a_share_of_none_keeps_an_interval():
    games = np.repeat(np.arange(60), 2)
    assert share_over_games(np.zeros(120, dtype=bool), games) == (0.0, 0.05)
    assert share_over_games(np.arange(120) % 2 == 0, games).mean == 0.5


def test_phases_share_out_all_decisions():
    met = own_decisions(RandomBot(), 300, seed=2)
    lost = np.random.default_rng(0).random(300)
    parts = rate_phases(lost, met)
    assert list(parts) == [name for name in PHASES if name in parts]
    assert sum(part.decisions for part in parts.values()) == 300
    assert sum(part.decisions * part.error.mean for part in parts.values()) == pytest.approx(lost.sum())


def small_benchmark(count=30):
    met = own_decisions(RandomBot(), count, seed=6)
    rows, starts = candidates(met.boards, met.dice)
    rng = np.random.default_rng(0)
    values = {name: np.round(rng.uniform(-2.9, 2.9, len(rows)), 4) for name in ("gnubg:2", "bgsage:3")}
    full = {name: rng.random(len(rows)) < 0.5 for name in values}
    sources = np.array([f"opening: a - {'bc'[i % 2]}" for i in range(count)])
    return Benchmark(met, sources, rows, starts, values, full, {"note": "small"})


def test_a_benchmark_comes_back_from_its_file(tmp_path):
    made = small_benchmark()
    save_benchmark(made, tmp_path / "b.npz")
    read = load_benchmark(tmp_path / "b.npz")
    for a, b in zip(made.decisions, read.decisions, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(made.rows, read.rows) and np.array_equal(made.starts, read.starts)
    assert read.sources.tolist() == made.sources.tolist() and read.about == made.about
    assert read.referees == ("gnubg:2", "bgsage:3") and len(read) == 30
    for name in read.referees:
        assert np.abs(read.values[name] - made.values[name]).max() < 1e-9
        assert np.array_equal(read.full[name], made.full[name])


def test_errors_on_a_benchmark_by_hand():
    made = small_benchmark()
    here = slice(made.starts[4], made.starts[5])
    values = made.values["bgsage:3"][here]
    choice = made.starts[:-1].copy()
    choice[4] += len(values) - 1
    lost, estimated = made.errors(choice, "bgsage:3")
    assert lost[4] == pytest.approx(max(values) - values[-1])
    assert estimated[4] == (not made.full["bgsage:3"][here][-1])


@pytest.mark.parametrize("least", BLUNDERS)
def test_an_error_of_just_a_blunders_size_is_not_above_it(least):
    made = small_benchmark()
    values = made.values["gnubg:2"]
    for best in np.arange(5_000, 15_000) / 10_000:  # as a file holds them
        values[made.starts[4] : made.starts[5]] = best - 1
        values[made.starts[4]], values[made.starts[4] + 1] = best, round(best - least, 4)
        assert made.errors(made.starts[:-1] + 1, "gnubg:2")[0][4] == least


@pytest.mark.parametrize("damage", ["text", "cut", "key", "starts", "board", "pickle"])
def test_a_file_that_is_no_benchmark_is_refused_with_its_name(tmp_path, damage):
    path = tmp_path / "b.npz"
    save_benchmark(small_benchmark(), path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    if damage == "text":
        path.write_text("hello")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:900])
    else:
        if damage == "key":
            del arrays["dice"]
        elif damage == "starts":
            arrays["starts"][3:] += 1
        elif damage == "board":
            arrays["boards"][2, 0] = 5
        else:
            arrays["about"] = np.array({"a": 1}, dtype=object)
        np.savez(path, **arrays)
    with pytest.raises(InvalidBenchmark, match=r"b\.npz is no benchmark"):
        load_benchmark(path)
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        load_benchmark(tmp_path / "none.npz")


@pytest.fixture(scope="module")
def shipped():
    return load_benchmark()


def test_the_shipped_benchmark_is_varied_and_small(shipped):
    assert SHIPPED.stat().st_size <= 3_000_000
    assert shipped.referees == ("gnubg:2", "bgsage:3")
    assert len(shipped) >= 1500
    counts = np.bincount(phases(shipped.decisions.boards), minlength=len(PHASES))
    assert (counts >= 0.02 * len(shipped)).all()
    assert (np.diff(shipped.starts) > 1).all()
    starts = {source.partition(":")[0] for source in shipped.sources.tolist()}
    assert starts == {
        "opening",
        "back game",
        "prime against prime",
        "ace-point game",
        "contact bearoff",
        "men on the bar",
    }
    seen = {
        (*men, *sorted(roll))
        for men, roll in zip(shipped.decisions.boards.tolist(), shipped.decisions.dice.tolist(), strict=True)
    }
    assert len(seen) == len(shipped)


def test_the_best_candidate_of_every_decision_is_at_full_depth_and_loses_nothing(shipped):
    for name in shipped.referees:
        values = shipped.values[name]
        best = np.array(
            [
                first + np.argmax(values[first:end])
                for first, end in zip(shipped.starts[:-1], shipped.starts[1:], strict=True)
            ]
        )
        lost, estimated = shipped.errors(best, name)
        assert not lost.any() and not estimated.any()


def test_bots_stand_on_the_shipped_benchmark_in_their_known_order(shipped):
    means = {}
    for name in ("random", "beginner", "normal", "strong"):
        choice = shipped.choices(open_bot(name).choose_boards(shipped.decisions.boards, shipped.decisions.dice))
        for referee in shipped.referees:
            lost, estimated = shipped.errors(choice, referee)
            means[name, referee] = lost.mean()
            # The beginner likes plays that nobody else would look at.
            assert estimated.mean() < {"random": 1, "beginner": 0.15}.get(name, 0.02)
    for referee in shipped.referees:
        assert 0.15 < means["random", referee] < 0.4
        order = [means[name, referee] for name in ("strong", "normal", "beginner", "random")]
        assert order == sorted(order) and order[0] < 0.03


def test_the_referees_agree_on_the_shipped_values(shipped):
    gnubg, bgsage = (shipped.values[name] for name in shipped.referees)
    both = shipped.full["gnubg:2"] & shipped.full["bgsage:3"]
    assert 0.2 < both.mean() < 0.7
    assert np.abs(gnubg - bgsage)[both].mean() < 0.03


def test_stored_values_are_what_the_judges_say_today(shipped):
    pytest.importorskip("gnubg_nn"), pytest.importorskip("bgsage")
    for name in shipped.referees:
        judge = open_judge(name)
        for i in range(5, len(shipped), len(shipped) // 4):
            here = slice(shipped.starts[i], shipped.starts[i + 1])
            rows, full = shipped.rows[here], shipped.full[name][here]
            full[np.flatnonzero(full)[3:]] = False
            values = judge.equities(shipped.decisions.boards[i], shipped.decisions.dice[i], rows[full])
            assert values == pytest.approx(shipped.values[name][here][full], abs=2e-4)


def test_rate_prints_a_table_and_writes_its_numbers(tmp_path, capsys):
    pytest.importorskip("gnubg_nn")
    file = tmp_path / "r.json"
    words = [
        "rate",
        "random",
        "gnubg:0",
        "--referee",
        "gnubg:0",
        "--decisions",
        "80",
        "--seed",
        "4",
        "--json",
        str(file),
    ]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["bot", "referee", "decisions"]
    assert lines[1].startswith("random") and lines[2].startswith("gnubg:0")
    assert len({len(line) for line in lines[:3]}) == 1
    assert [line.split("  ")[0] for line in lines[5:12]] == list(PHASES)
    data = json.loads(file.read_text())
    first, second = data["ratings"]
    assert (first["bot"], second["bot"], first["referee"]) == ("random", "gnubg:0", "gnubg:0")
    assert np.mean(first["errors"]) == pytest.approx(first["error"]["mean"], abs=1e-4)
    assert first["error"]["mean"] > 0.1 and second["error"]["mean"] == 0
    assert len(first["errors"]) == first["decisions"] == len(first["games_of_decisions"]) == 80
    assert main(words) == 0
    again = json.loads(file.read_text())
    assert [rating["errors"] for rating in again["ratings"]] == [rating["errors"] for rating in data["ratings"]]


@pytest.mark.parametrize(("valued", "rated"), [(0, []), (30, [20]), (65, [40, 20])])
def test_ctrl_c_keeps_the_decisions_that_are_rated(valued, rated, tmp_path, capsys, monkeypatch):
    class Stopped(FivePoint):
        left = valued

        def estimates(self, board, roll, rows):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().estimates(board, roll, rows)

    path = tmp_path / "r.json"
    path.write_text("[]")
    monkeypatch.setattr(rate_cli, "open_judge", lambda text: Stopped())
    assert main(["rate", "random", "random", "--decisions", "40", "--json", str(path)]) == 130
    out, err = capsys.readouterr()
    data = json.loads(path.read_text())
    if rated:
        assert "interrupted; what was played so far:" in err and out.splitlines()[1].split()[2] == str(rated[0])
        assert data["interrupted"] and [rating["decisions"] for rating in data["ratings"]] == rated
    else:
        assert out == "" and "interrupted" in err and data == []


def test_rate_on_the_benchmark(tmp_path, capsys):
    file = tmp_path / "r.json"
    assert main(["rate", "strong", "random", "random", "--benchmark", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    data = json.loads(file.read_text())
    assert out.startswith(f"benchmark: {data['benchmark']['decisions']:,} decisions from")
    assert "error minus that of strong, by gnubg:2" in out and "error by bgsage:3" in out and "estimated" in out
    assert [(each["bot"], each["referee"]) for each in data["ratings"][:2]] == [
        ("strong", "gnubg:2"),
        ("strong", "bgsage:3"),
    ]
    assert data["ratings"][2]["errors"] == data["ratings"][4]["errors"] and data["ratings"][4]["bot"] == "random (2)"
    assert main(["rate", "random", "--benchmark", "--referee", "bgsage:3"]) == 0
    assert "gnubg:2" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["random", "--benchmark", "--decisions", "5"], "the benchmark's decisions are fixed"),
        (
            ["random", "--benchmark", "--referee", "gnubg:1"],
            "holds the values of gnubg:2 and bgsage:3, not of gnubg:1",
        ),
        (["random", "--decisions", "0"], "--decisions must be at least 1, not 0"),
        (["random", "--decisions", "10000000000000"], "--decisions must be at most 1,000,000, not 10000000000000"),
        (["random", "--seed", "-1"], "the seed must be from 0 to"),
        (["random", "--referee", "pubeval"], "pubeval values no positions"),
        (["nobody"], "there is no bot 'nobody'"),
        (["random", "--json", "nowhere/x.json"], "there is no folder"),
    ],
)
def test_wrong_wishes_are_refused_with_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["rate", *words]) == 2
    said = capsys.readouterr()
    assert sentence in said.err and said.err.count("\n") == 1 and said.out == ""
