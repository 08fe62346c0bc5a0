"""Rollouts: endgames by hand, truth by plain Python, no bias from taking luck out, errors that cover, the command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.arena import rollout_cli
from bgai.cli import main
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.lookahead import look_ahead
from bgai.evaluation.network import Network
from bgai.evaluation.rollout import Rollout, roll_out, rollout_rolls
from bgai.notation.ids import format_id
from bgai.rules.dice import ROLL_CHANCES, ROLLS
from bgai.rules.match import Match
from bgai.rules.outcome import POINTS_WON

ROLL = [((int(a), int(b)), float(chance)) for (a, b), chance in zip(ROLLS, ROLL_CHANCES, strict=True)]


def position(mine: dict[int, int], theirs: dict[int, int]) -> bgai.Position:
    """Men by point, each player's from his own side."""
    men = [0] * 26
    for point, count in mine.items():
        men[point] = count
    for point, count in theirs.items():
        men[25 - point] = -count
    return bgai.Position(men)


def board_of(pos: bgai.Position) -> np.ndarray:
    return pos.board[None]


# a bearoff with choices, in which the wild bot errs
FEW_MEN = position({1: 1, 3: 1, 4: 1}, {1: 1, 2: 1, 5: 1})


@pytest.fixture(scope="module")
def bot() -> bgai.ValueBot:
    """Random weights: plays badly, and has no idea what a position is worth."""
    inputs = encoding("men196")
    rng = np.random.default_rng(3)
    layers = tuple(
        (rng.normal(0, 0.4, (m, n)).astype(np.float32), np.zeros(m, dtype=np.float32))
        for n, m in ((inputs.width, 20), (20, 6))
    )
    return bgai.ValueBot(Network(inputs, layers), name="wild")


Chance = Callable[[bgai.Position], float]


def chance_by(worth: Callable[[bgai.Position, tuple[int, int], Chance], float]) -> Chance:
    """The chance of the player to roll to win a bearoff without gammons, where `worth` says what a roll is worth."""

    @cache
    def chance(pos: bgai.Position) -> float:
        if bgai.result(pos):
            return float(bgai.result(pos) > 0)
        return sum(weight * worth(pos, roll, chance) for roll, weight in ROLL)

    return chance


def chance_of(bot: bgai.Bot) -> Chance:
    """With this bot's plays on both sides."""
    return chance_by(lambda pos, roll, chance: 1 - chance(bot.choose(pos, roll).after))


@pytest.fixture(scope="module")
def best_chance() -> Chance:
    """With the best plays on both sides."""
    return chance_by(lambda pos, roll, chance: max(1 - chance(play.after) for play in bgai.legal_plays(pos, roll)))


@pytest.fixture(scope="module")
def bots_chance(bot) -> Chance:
    return chance_of(bot)


def test_a_race_that_is_over_in_two_rolls_is_exact_however_little_the_bot_knows(bot):
    # Two men on the six point against one on the ace point: 3-3, 4-4, 5-5 and 6-6 win.
    pos = position({6: 2}, {1: 1})
    for without_luck in (True, False):
        [rollout] = roll_out(bot.outcomes, board_of(pos), np.arange(36), seed=1, without_luck=without_luck)
        np.testing.assert_allclose(rollout.outcomes, [4 / 36, 0, 0, 32 / 36, 0, 0], atol=1e-6)
        assert rollout.equity == pytest.approx(-28 / 36, abs=1e-6)


def test_pairs_of_first_and_second_roll_come_once_each(bot):
    # Both sides have two men on the six point: who rolls a double from 3-3 on wins. After two rolls neither has
    # decided anything else, so 1,296 games cut there have the exact share of those that are over.
    pos = position({6: 2}, {6: 2})
    [rollout] = roll_out(bot.outcomes, board_of(pos), np.arange(1296), seed=5, without_luck=False, truncate=2)
    won = (rollout.samples[:, 0] == 1).mean()
    lost = (rollout.samples[:, 3] == 1).mean()
    assert (won, lost) == pytest.approx((4 / 36, 32 / 36 * 4 / 36))


def test_who_knows_everything_needs_one_game(best_chance):
    """With a perfect evaluator luck explains each game to the last digit."""

    def perfect(parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
        wins = np.array([best_chance(bgai.Position(board.tolist())) for board in boards], dtype=np.float32)
        return np.stack([wins, 0 * wins, 0 * wins, 1 - wins, 0 * wins, 0 * wins], axis=1)

    win = best_chance(FEW_MEN)
    for truncate in (None, 1, 2):
        [rollout] = roll_out(perfect, board_of(FEW_MEN), np.arange(40), seed=2, truncate=truncate)
        np.testing.assert_allclose(rollout.samples[:, 0], win, atol=1e-6)
        np.testing.assert_allclose(rollout.samples[:, 3], 1 - win, atol=1e-6)
        assert rollout.equity_error < 1e-6


def test_rollouts_find_what_the_bots_own_play_is_worth(bot, bots_chance, best_chance):
    truth = 2 * bots_chance(FEW_MEN) - 1
    assert truth != pytest.approx(2 * best_chance(FEW_MEN) - 1, abs=1e-3)
    for without_luck in (True, False):
        [rollout] = roll_out(bot.outcomes, board_of(FEW_MEN), np.arange(3600), seed=4, without_luck=without_luck)
        assert abs(rollout.equity - truth) < 3.5 * rollout.equity_error < 0.1
        assert sum(rollout.outcomes) == pytest.approx(1)


@cache
def race(mine: int, theirs: int) -> float:
    """The chance of the player to roll where all men are on the ace points: a double takes four off, else two."""
    if mine <= 2:
        return 1.0
    return 5 / 6 * (1 - race(theirs, mine - 2)) + (1 / 6 if mine <= 4 else 1 / 6 * (1 - race(theirs, mine - 4)))


@pytest.mark.parametrize("games", [72, 50])
@pytest.mark.parametrize("without_luck", [True, False])
def test_standard_errors_cover_the_truth_as_often_as_they_should(bot, games, without_luck):
    pos, truth = position({1: 10}, {1: 9}), 2 * race(10, 9) - 1
    scores = []
    for seed in range(200):
        numbers = np.arange(games)
        [rollout] = roll_out(bot.outcomes, board_of(pos), numbers, seed=seed, without_luck=without_luck)
        scores.append((rollout.equity - truth) / rollout.equity_error)
    # Stratified second rolls make the errors a little too large, never too small.
    assert 0.75 < math.sqrt(np.mean(np.square(scores))) < 1.1
    assert 0.93 < np.mean(np.abs(scores) < 1.96)
    assert abs(np.mean(scores)) < 0.25


def test_standard_errors_are_too_large_where_two_rolls_decide_the_game(bot, bots_chance):
    truth = 2 * bots_chance(FEW_MEN) - 1
    scores = []
    for seed in range(60):
        [rollout] = roll_out(bot.outcomes, board_of(FEW_MEN), np.arange(72), seed=seed)
        scores.append((rollout.equity - truth) / rollout.equity_error)
    assert 0 < math.sqrt(np.mean(np.square(scores))) < 0.9


def test_taking_luck_out_changes_no_mean_in_a_whole_game():
    """From the opening, by a bot that values well: the two ways agree within their errors, and one is much surer."""
    strong = bgai.load("strong", bearoff=False)
    board = bgai.Position.start().board[None]
    [surer] = roll_out(strong.outcomes, board, np.arange(72), seed=1)
    [plain] = roll_out(strong.outcomes, board, np.arange(1296), seed=2, without_luck=False)
    for one, other, error1, error2 in zip(
        (*surer.outcomes, surer.equity),
        (*plain.outcomes, plain.equity),
        (*surer.outcome_errors, surer.equity_error),
        (*plain.outcome_errors, plain.equity_error),
        strict=True,
    ):
        assert abs(one - other) < 4 * math.hypot(error1, error2) + 1e-9
    assert surer.equity_error * math.sqrt(72) < 0.4 * plain.equity_error * math.sqrt(1296)


def test_finished_games_are_exact(bot):
    lost = bgai.Position([0, *[0] * 6, *[0] * 12, 0, 0, 0, 0, 0, 15, 0])  # his last man is in the winner's home
    single = position({1: 2}, {})
    rollouts = roll_out(bot.outcomes, np.array([lost.men, single.men], dtype=np.int8), np.arange(5), seed=0)
    assert [tuple(rollout.outcomes) for rollout in rollouts] == [(0, 0, 0, 0, 0, 1), (0, 0, 0, 1, 0, 0)]
    assert [rollout.equity_error for rollout in rollouts] == [0, 0]


def test_a_game_depends_on_its_board_its_number_and_the_seed_alone(bot, game_positions):
    boards, _ = game_positions(3, 21)
    whole = roll_out(bot.outcomes, boards, np.arange(20), seed=9, truncate=6)
    again = roll_out(bot.outcomes, boards[1:2], np.arange(7, 20), seed=9, truncate=6)
    np.testing.assert_array_equal(again[0].samples, whole[1].samples[7:])
    np.testing.assert_array_equal(again[0].first_rolls, whole[1].first_rolls[7:])
    other = roll_out(bot.outcomes, boards, np.arange(20), seed=10, truncate=6)
    assert not np.array_equal(other[0].samples, whole[0].samples)


def test_a_rollout_of_one_roll_is_a_look_ahead(bot, game_positions):
    boards, _ = game_positions(3, 22)
    boards = boards[:2]
    ahead = look_ahead(bot.outcomes, boards, 1)
    for without_luck in (True, False):
        rollouts = roll_out(bot.outcomes, boards, np.arange(36), seed=0, truncate=1, without_luck=without_luck)
        np.testing.assert_allclose([rollout.outcomes for rollout in rollouts], ahead, atol=1e-5)


def test_bots_that_look_ahead_roll_out_with_their_own_plays(bot, bots_chance):
    deeper = bgai.ValueBot(bot.network, name="deeper", plies=3)

    chance = chance_of(deeper)
    [rollout] = roll_out(bot.outcomes, board_of(FEW_MEN), np.arange(1296), seed=4, plies=3)
    assert abs(rollout.equity - (2 * chance(FEW_MEN) - 1)) < 3.5 * rollout.equity_error
    assert chance(FEW_MEN) != bots_chance(FEW_MEN)


def test_first_rolls_are_stratified_and_later_ones_are_dice():
    games = np.arange(2 * 1296)
    first, second, third = (rollout_rolls(7, games, ply).astype(int) for ply in range(3))
    for begin in range(0, len(games), 36):
        assert len({tuple(roll) for roll in first[begin : begin + 36]}) == 36
        assert len({tuple(roll) for roll in second[begin : begin + 36]}) == 36
    pairs = {(*a, *b) for a, b in zip(first[:1296], second[:1296], strict=True)}
    assert len(pairs) == 1296
    assert np.abs(np.bincount(third.ravel(), minlength=7)[1:] / third.size - 1 / 6).max() < 0.02
    assert not np.array_equal(first[:36], rollout_rolls(8, games[:36], 0))
    assert not np.array_equal(first[:36], first[36:72])


def test_errors_by_hand():
    samples = np.array([[1.0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
    rollout = Rollout(samples, np.array([0, 1, 2]))
    assert (rollout.games, rollout.equity) == (3, pytest.approx(2 / 3))
    # Equities 1, 2, -1: variance 7/3.
    assert rollout.equity_error == pytest.approx(math.sqrt(7 / 3 / 3))
    assert rollout.turned().equity == pytest.approx(-2 / 3)
    assert rollout.minus(rollout.turned())[0] == pytest.approx(4 / 3)
    assert rollout.minus(rollout) == (0, 0)
    assert Rollout(samples[:1], np.array([0])).equity_error == math.inf
    # Each first roll twice, 0.5 above and below what the roll brings: the rolls themselves bring no error.
    equities = np.concatenate([np.arange(36) + 0.5, np.arange(36) - 0.5])
    stratified = Rollout(np.outer(equities, [1, 0, 0, 0, 0, 0]), np.tile(np.arange(36), 2))
    assert stratified.equity_error == pytest.approx(math.sqrt(72 * 0.25 / 36 / 72))
    np.testing.assert_array_equal(stratified.equities, stratified.samples @ POINTS_WON)


@pytest.fixture
def bot_file(tmp_path, bot) -> Path:
    save_checkpoint(tmp_path / "wild.safetensors", bot.network, {})
    return tmp_path / "wild.safetensors"


def test_the_command_rolls_out_a_position(bot_file, tmp_path, capsys):
    pos, file = position({6: 2}, {1: 1}), tmp_path / "out.json"
    assert main(["rollout", pos.id, "--games", "36", "--bot", str(bot_file), "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "-0.7778 ± " in printed and "36 games of wild" in printed
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (data["position"], data["games"], data["dice"], data["interrupted"]) == (pos.id, 36, None, False)
    [line] = data["lines"]
    assert line["outcomes"]["win"]["chance"] == pytest.approx(4 / 36, abs=1e-5)
    assert line["equity"] == pytest.approx(-28 / 36, abs=1e-5)


def test_the_command_compares_plays_seen_by_the_player_who_decides(bot_file, tmp_path, capsys):
    # 6 and 4 with 2-1 against two rolls: the best play leaves 5 and 2.
    pos, file = position({6: 1, 4: 1}, {1: 3}), tmp_path / "out.json"
    words = ["rollout", pos.id, "--dice", "2-1", "--games", "72", "--bot", f"{bot_file}@2", "--json", str(file)]
    assert main([*words, "--plays", "9"]) == 0
    lines = json.loads(file.read_text(encoding="utf-8"))["lines"]
    assert lines[0]["play"] in ("6/5 4/2", "4/2 6/5")
    # The opponent rolls a double in one of six games; else 19 of 36 rolls take both men off.
    assert lines[0]["equity"] == pytest.approx(2 * 5 / 6 * 19 / 36 - 1, abs=0.08)
    assert [line["equity"] for line in lines] == sorted((line["equity"] for line in lines), reverse=True)
    printed = capsys.readouterr().out
    assert "minus the best" in printed and "72 games of wild@2" in printed


def test_an_identifier_may_hold_the_roll(bot_file, tmp_path, capsys):
    file = tmp_path / "out.json"
    pos = position({6: 1, 4: 1}, {1: 3})
    xgid = format_id(Match(position=pos, turn=1, decision="play", dice=(2, 1)), "xgid")
    for words, dice in (([], [2, 1]), (["--dice", "66"], [6, 6])):
        assert main(["rollout", xgid, *words, "--games", "2", "--bot", str(bot_file), "--json", str(file)]) == 0
        assert json.loads(file.read_text(encoding="utf-8"))["dice"] == dice
    capsys.readouterr()


def test_ctrl_c_prints_what_there_is(bot_file, tmp_path, capsys, monkeypatch):
    rolls = iter([roll_out])

    def once(*words, **options):
        try:
            return next(rolls)(*words, **options)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(rollout_cli, "roll_out", once)
    file = tmp_path / "out.json"
    pos = position({6: 2}, {1: 1})
    assert main(["rollout", pos.id, "--games", "500", "--bot", str(bot_file), "--json", str(file)]) == 130
    out, err = capsys.readouterr()
    assert "36 games of wild" in out and "interrupted; what was played so far:" in err
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (data["games"], data["interrupted"]) == (36, True)
    assert main(["rollout", pos.id, "--bot", str(bot_file)]) == 130
    out, err = capsys.readouterr()
    assert out == "" and "interrupted" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nonsense", "nonsense"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAAE:x", "rollout: "),
        ("4HPwATDgc/ABMA --dice 71", "--dice takes a roll such as 31, not '71'"),
        ("4HPwATDgc/ABMA --games 0", "--games must be at least 1"),
        ("4HPwATDgc/ABMA --games 100000000000000", "--games must be at most 10,000,000"),
        ("4HPwATDgc/ABMA --truncate 0", "--truncate must be at least 1"),
        ("4HPwATDgc/ABMA --plays 2", "--plays goes with --dice"),
        ("4HPwATDgc/ABMA --seed -1", "the seed must be from 0"),
        ("4HPwATDgc/ABMA --json no/where/x.json", "there is no folder"),
        ("4HPwATDgc/ABMA --bot random", "random values no positions"),
        ("4HPwATDgc/ABMA --bot strong@4", "'strong@4' is no bot"),
    ],
)
def test_what_cannot_be_rolled_out_gets_one_sentence(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["rollout", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and len(err.splitlines()) == 1
