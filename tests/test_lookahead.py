"""Looking ahead: against plain Python, endgames worked out by hand, batches against single boards, names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.bots import find_bot_file, open_bot
from bgai.cli import main
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.lookahead import FILTERS, best_replies, choose_by_plies, look_ahead, lowest_few
from bgai.evaluation.network import Network
from bgai.rules.dice import ROLL_CHANCES, ROLLS

POINTS = np.array([1, 2, 3, -1, -2, -3])
EVEN = np.array([0.5, 0, 0, 0.5, 0, 0], dtype=np.float32)


def wild_network(seed: int = 0) -> Network:
    inputs = encoding("men196")
    rng = np.random.default_rng(seed)
    layers = tuple(
        (rng.normal(0, 0.4, (m, n)).astype(np.float32), np.zeros(m, dtype=np.float32))
        for n, m in ((inputs.width, 20), (20, 6))
    )
    return Network(inputs, layers)


@pytest.fixture(scope="module")
def network() -> Network:
    return wild_network()


@pytest.fixture
def bot_file(tmp_path, network) -> Path:
    save_checkpoint(tmp_path / "wild.safetensors", network, {})
    return tmp_path / "wild.safetensors"


def knows_nothing(parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.tile(EVEN, (len(boards), 1))


def plain_outcomes(network: Network, positions: list[bgai.Position], rolls: int) -> np.ndarray:
    """What `look_ahead` should say, one position and one play after another, in double precision."""
    estimates = network.outcomes_of(np.array([pos.men for pos in positions], dtype=np.int8)).astype(np.float64)
    values = []
    for pos, estimate in zip(positions, estimates, strict=True):
        points = bgai.result(pos)
        if points:
            values.append(np.eye(6)[points - 1 if points > 0 else 2 - points])
        elif rolls:
            values.append(plain_mean(network, pos, rolls))
        else:
            mine_off, theirs_off = pos.off
            if mine_off:
                estimate[3:] = estimate[3:].sum(), 0, 0
            if theirs_off:
                estimate[:3] = estimate[:3].sum(), 0, 0
            values.append(estimate)
    return np.array(values)


def plain_mean(network: Network, pos: bgai.Position, rolls: int) -> np.ndarray:
    total = np.zeros(6)
    for high in range(1, 7):
        for low in range(1, high + 1):
            after = [play.after for play in bgai.legal_plays(pos, (high, low))]
            at_once = plain_outcomes(network, after, 0)
            best = int(np.argmin(at_once @ POINTS))
            later = plain_outcomes(network, [after[best]], rolls - 1)[0] if rolls > 1 else at_once[best]
            total += np.roll(later, 3) * (1 if high == low else 2) / 36
    return total


@pytest.mark.parametrize("source", ["game_positions", "scattered_positions"])
def test_one_roll_ahead_is_what_plain_python_says(network, source, request):
    boards, _ = request.getfixturevalue(source)(6, 11)
    expected = plain_outcomes(network, [bgai.Position(board.tolist()) for board in boards], 1)
    np.testing.assert_allclose(look_ahead(network.outcomes, boards, 1), expected, atol=2e-6)


def test_two_rolls_ahead_are_what_plain_python_says(network):
    # A bearoff with a shot: few plays a roll, hits, the bar, and games that end.
    men = [0, 2, 1, 0, 0, -1, 0, *[0] * 11, -1, 0, -2, 0, 1, 0, 0, 0]
    pos = bgai.Position(men)
    expected = plain_outcomes(network, [pos], 2)
    np.testing.assert_allclose(look_ahead(network.outcomes, pos.board[None], 2), expected, atol=2e-6)


def test_who_cannot_enter_is_looked_at_once_for_all_rolls(network):
    # The opponent's board is closed: the roller on the bar has 21 replies that are all the same board.
    men = [0, 2, 2, 2, 0, 0, 0, *[0] * 12, -2, -2, -2, -2, -2, -2, 1]
    pos = bgai.Position(men)
    assert len({tuple(board) for board in best_replies(network.outcomes, pos.board[None]).boards[0].tolist()}) == 1
    passed = look_ahead(network.outcomes, pos.turned().board[None], 1)
    np.testing.assert_allclose(look_ahead(network.outcomes, pos.board[None], 2), np.roll(passed, 3), atol=1e-6)


def test_a_race_that_is_over_in_two_rolls_is_exact(network):
    # Two men on the six point against one on the ace point: only 3-3, 4-4, 5-5 and 6-6 win, then the other does.
    men = [0] * 26
    men[6], men[24] = 2, -1
    outcomes = look_ahead(network.outcomes, np.array([men], dtype=np.int8), 2)[0]
    np.testing.assert_allclose(outcomes, [4 / 36, 0, 0, 32 / 36, 0, 0], atol=1e-6)


def test_the_play_that_bears_off_most_often_is_found_by_looking_at_rolls():
    # Men on 6 and 4 with 2-1: 5 and 2 are then off with 19 rolls of 36, 4 and 3 with 17, 6 and 1 with 15.
    men = [0] * 26
    men[6], men[4], men[24] = 1, 1, -3
    boards, dice = np.array([men], dtype=np.int8), np.array([[2, 1]], dtype=np.int8)
    chosen = choose_by_plies(knows_nothing, boards, dice, 3)[0]
    assert {25 - int(place): -int(chosen[place]) for place in np.flatnonzero(chosen < 0)} == {5: 1, 2: 1}


def test_a_finished_game_is_exact_at_every_depth(bot_file):
    for depth in (1, 2, 3):
        bot = bgai.load(f"{bot_file}@{depth}")
        lost = bgai.Position([0, *[0] * 6, *[0] * 12, 0, 0, 0, 0, 0, 15, 0])
        assert tuple(bot.evaluate(lost)) == (0, 0, 0, 0, 0, 1)
        assert tuple(bot.evaluate(lost.turned())) == (0, 0, 1, 0, 0, 0)


@pytest.mark.parametrize("plies", [2, 3])
def test_choices_and_values_do_not_depend_on_the_batch(network, game_positions, plies):
    boards, dice = game_positions(60 if plies == 2 else 6, 5)
    together = choose_by_plies(network.outcomes, boards, dice, plies)
    backwards = choose_by_plies(network.outcomes, boards[::-1].copy(), dice[::-1].copy(), plies)[::-1]
    alone = [
        choose_by_plies(network.outcomes, boards[i : i + 1], dice[i : i + 1], plies)[0] for i in range(len(dice))
    ]
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, alone)
    values = look_ahead(network.outcomes, boards, plies - 1)
    singly = [look_ahead(network.outcomes, boards[i : i + 1], plies - 1)[0] for i in range(len(dice))]
    np.testing.assert_array_equal(values, singly)


def test_by_one_ply_nothing_has_changed(network, game_positions):
    boards, dice = game_positions(40, 6)
    rows, starts = bgai.afterstates(boards, dice)
    values = plain_outcomes(network, [bgai.Position(row.tolist()) for row in rows], 0) @ POINTS
    best = [rows[a + int(np.argmin(values[a:b]))] for a, b in zip(starts, starts[1:], strict=False)]
    np.testing.assert_array_equal(choose_by_plies(network.outcomes, boards, dice, 1), best)


@pytest.mark.parametrize("plies", [2, 3])
def test_a_bot_chooses_ranks_and_values_by_the_same_look(bot_file, game_positions, plies):
    bot = bgai.load(f"{bot_file}@{plies}")
    boards, dice = game_positions(3, 8)
    for board, (die1, die2) in zip(boards, dice.tolist(), strict=True):
        pos = bgai.Position(board.tolist())
        ranked = bot.rank(pos, (die1, die2))
        assert {play for play, _, _ in ranked} == set(bgai.legal_plays(pos, (die1, die2)))
        equities = [equity for _, _, equity in ranked]
        assert equities == sorted(equities, reverse=True)
        for play, outcomes, equity in ranked[:: max(len(ranked) - 1, 1)]:
            later = bot.evaluate(play.after)
            assert sum(outcomes) == pytest.approx(1, abs=1e-5)
            assert outcomes.equity == pytest.approx(equity, abs=1e-5) == pytest.approx(-later.equity, abs=1e-5)
        assert bot.choose(pos, (die1, die2)) in [play for play, _, _ in ranked]
        np.testing.assert_array_equal(
            bot.choose_boards(board[None], np.array([[die1, die2]]))[0], bot.choose(pos, (die1, die2)).after.board
        )


def test_two_plies_choose_the_best_of_the_candidates_that_pass(bot_file, game_positions):
    boards, dice = game_positions(12, 9)
    shallow, deep = bgai.load(bot_file), bgai.load(f"{bot_file}@2")
    most, margin = FILTERS[2][0]
    for board, (die1, die2) in zip(boards, dice.tolist(), strict=True):
        pos = bgai.Position(board.tolist())
        first = shallow.rank(pos, (die1, die2))
        passing = [play for play, _, equity in first[:most] if equity >= first[0][2] - margin]
        best = next(play for play, _, _ in deep.rank(pos, (die1, die2)) if play in passing)
        assert deep.choose(pos, (die1, die2)) == best


def test_the_lowest_few_of_each_game():
    values = np.array([3.0, 1.0, 2.0, 1.0, 5.0, 0.0, 0.3, 0.1])
    rows, starts = lowest_few(values, np.array([0, 4, 5, 8]), 2, 0.25)
    assert (rows.tolist(), starts.tolist()) == ([1, 3, 4, 5, 7], [0, 2, 3, 5])
    rows, starts = lowest_few(values, np.array([0, 4, 5, 8]), 1, 0.0)
    assert (rows.tolist(), starts.tolist()) == ([1, 4, 5], [0, 1, 2, 3])
    rows, starts = lowest_few(values, np.array([0, 4, 5, 8]), 9, 1.0)
    assert (rows.tolist(), starts.tolist()) == ([1, 3, 2, 4, 5, 7, 6], [0, 3, 4, 7])


def test_the_21_rolls_have_the_chances_of_36():
    assert len({tuple(roll) for roll in ROLLS.tolist()}) == 21
    assert ROLL_CHANCES.sum() == pytest.approx(1)
    assert all(chance * 36 == (1 if a == b else 2) for (a, b), chance in zip(ROLLS, ROLL_CHANCES, strict=True))


def test_a_name_says_how_deep_a_bot_looks(bot_file, tmp_path):
    assert [bgai.load(f"{bot_file}{text}").plies for text in ("", "@1", "@2", "@3")] == [1, 1, 2, 3]
    assert [bgai.load(f"{bot_file}{text}").name for text in ("", "@1", "@3")] == ["wild", "wild", "wild@3"]
    assert open_bot(f"{bot_file}@2").name == "wild@2"
    assert find_bot_file(f"{bot_file}@2") == bot_file
    odd = tmp_path / "me@4.safetensors"
    odd.write_bytes(bot_file.read_bytes())
    assert (bgai.load(odd).plies, bgai.load(f"{odd}@2").plies) == (1, 2)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("strong@0", "'strong@0' is no bot: .* write strong@1, strong@2 or strong@3"),
        ("strong@4", "'strong@4' is no bot"),
        ("strong@x", "'strong@x' is no bot"),
        ("strong@", "'strong@' is no bot"),
        ("random@2", "'random@2' is no bot: @ makes bgai's networks look ahead"),
        ("gnubg@2", "'gnubg@2' is no bot"),
        ("gnubg:1@2", "gnubg needs its plies"),
        ("stong@2", "there is no bot 'stong'"),
        ("@2", "there is no bot '@2'"),
    ],
)
def test_a_wrong_depth_gets_one_sentence(name, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bgai.UnknownBot, match=sentence) as error:
        open_bot(name)
    assert "\n" not in str(error.value)


def test_depths_outside_one_to_three_are_refused(network):
    for plies in (0, 4):
        with pytest.raises(ValueError, match="looks 1 to 3 plies ahead"):
            bgai.ValueBot(network, name="x", plies=plies)


def test_commands_take_bots_that_look_ahead(bot_file, capsys):
    assert main(["arena", f"{bot_file}@2", str(bot_file), "--games", "2"]) == 0
    assert "wild@2 - wild" in capsys.readouterr().out
    assert main(["info", f"{bot_file}@3"]) == 0
    assert "looks ahead: 3 plies" in capsys.readouterr().out
