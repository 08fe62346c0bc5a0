"""Sketches: what they leave of the plays, in bot files, and that they learn what the network says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import bgai
from bgai.cli import main
from bgai.evaluation.checkpoint import InvalidCheckpoint, load_checkpoint, save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.lookahead import choose_by_plies, look_ahead
from bgai.evaluation.network import Network
from bgai.evaluation.search import SIFT, best_rows, sifted, value_afterstates
from bgai.rules.position import turn

POINTS = np.array([1, 2, 3, -1, -2, -3])


def wild_network(seed: int, units: int = 20) -> Network:
    inputs = encoding("men196")
    rng = np.random.default_rng(seed)
    layers = tuple(
        (rng.normal(0, 0.4, (m, n)).astype(np.float32), np.zeros(m, dtype=np.float32))
        for n, m in ((inputs.width, units), (units, 6))
    )
    return Network(inputs, layers)


@pytest.fixture(scope="module")
def network() -> Network:
    return wild_network(0)


@pytest.fixture(scope="module")
def rough() -> Network:
    return wild_network(1, 5)


def test_a_sketch_leaves_its_best_few(network, game_positions):
    boards, dice = game_positions(200, 5)
    rows, starts, outcomes = value_afterstates(network.outcomes, boards, dice)
    left, left_starts = sifted(network.outcomes, np.ascontiguousarray(turn(boards)), rows, starts)
    values = outcomes.astype(np.float64) @ POINTS
    cut = 0
    for i in range(len(boards)):
        mine = values[starts[i] : starts[i + 1]]
        limit = min(mine.min() + SIFT.margin, np.sort(mine)[: SIFT.most][-1])
        expected = rows[starts[i] : starts[i + 1]][mine <= limit + 1e-6]
        np.testing.assert_array_equal(left[left_starts[i] : left_starts[i + 1]], expected)
        cut += len(mine) - len(expected)
    assert cut > len(left)


def test_a_sketch_that_knows_all_changes_no_choice(network, game_positions):
    boards, dice = game_positions(60, 6)
    np.testing.assert_array_equal(
        choose_by_plies(network.outcomes, boards, dice, 1, network.outcomes),
        choose_by_plies(network.outcomes, boards, dice, 1),
    )
    np.testing.assert_array_equal(
        look_ahead(network.outcomes, boards[:20], 1, network.outcomes), look_ahead(network.outcomes, boards[:20], 1)
    )
    np.testing.assert_array_equal(
        choose_by_plies(network.outcomes, boards[:20], dice[:20], 2, network.outcomes),
        choose_by_plies(network.outcomes, boards[:20], dice[:20], 2),
    )


def test_another_sketch_leaves_the_best_of_what_it_likes(network, rough, game_positions):
    boards, dice = game_positions(60, 7)
    chosen = choose_by_plies(network.outcomes, boards, dice, 1, rough.outcomes)
    rows, starts, outcomes = value_afterstates(network.outcomes, boards, dice)
    left, left_starts = sifted(rough.outcomes, np.ascontiguousarray(turn(boards)), rows, starts)
    for i in range(len(boards)):
        values = {
            row.tobytes(): chances @ POINTS
            for row, chances in zip(rows[starts[i] : starts[i + 1]], outcomes[starts[i] : starts[i + 1]], strict=True)
        }
        liked = [values[row.tobytes()] for row in left[left_starts[i] : left_starts[i + 1]]]
        assert values[chosen[i].tobytes()] == pytest.approx(min(liked), abs=1e-6)
    assert (chosen != choose_by_plies(network.outcomes, boards, dice, 1)).any()


def test_a_play_that_is_alone_is_not_looked_at(network, game_positions):
    boards, dice = game_positions(200, 9)
    seen = []

    def watched(parents, rows, starts):
        seen.append(np.diff(starts))
        return network.outcomes(parents, rows, starts)

    chosen = choose_by_plies(watched, boards, dice, 1)
    rows, starts, outcomes = value_afterstates(network.outcomes, boards, dice)
    counts = np.diff(starts)
    np.testing.assert_array_equal(np.concatenate(seen), counts[counts > 1])
    assert (counts == 1).any()
    np.testing.assert_array_equal(chosen, rows[best_rows(outcomes, starts)])
    forced = counts == 1
    np.testing.assert_array_equal(
        choose_by_plies(watched, boards[forced], dice[forced], 2), rows[starts[:-1][forced]]
    )


def test_a_bot_sifts_by_its_sketch_and_ranks_all(network, rough, tmp_path, game_positions):
    save_checkpoint(tmp_path / "bot.safetensors", dataclasses.replace(network, sketch=rough), {})
    bot = bgai.load(tmp_path / "bot.safetensors", bearoff=False)
    boards, dice = game_positions(60, 8)
    np.testing.assert_array_equal(
        bot.choose_boards(boards, dice), choose_by_plies(network.outcomes, boards, dice, 1, rough.outcomes)
    )
    pos = bgai.Position(boards[0].tolist())
    roll = tuple(dice[0].tolist())
    assert {play for play, _, _ in bot.rank(pos, roll)} == set(bgai.legal_plays(pos, roll))


def test_a_sketch_goes_through_a_bot_file(network, rough, tmp_path):
    save_checkpoint(tmp_path / "bot.safetensors", dataclasses.replace(network, sketch=rough), {"games": 3})
    loaded, card = load_checkpoint(tmp_path / "bot.safetensors")
    assert card == {"games": 3} and loaded.sketch is not None
    for mine, given in ((loaded, network), (loaded.sketch, rough)):
        for (weights, bias), (other, other_bias) in zip(mine.layers, given.layers, strict=True):
            assert weights.tobytes() == other.tobytes() and bias.tobytes() == other_bias.tobytes()
    save_checkpoint(tmp_path / "plain.safetensors", network, {})
    assert load_checkpoint(tmp_path / "plain.safetensors").network.sketch is None


def test_a_wrong_sketch_is_refused(network, rough, tmp_path):
    with pytest.raises(ValueError, match="no sketch of its own"):
        dataclasses.replace(network, sketch=dataclasses.replace(rough, sketch=rough))
    path = tmp_path / "bot.safetensors"
    save_checkpoint(path, dataclasses.replace(network, sketch=rough), {})
    content = path.read_bytes()
    path.write_bytes(content.replace(b"sketch.layer1.bias", b"sketch.layer7.bias"))
    with pytest.raises(InvalidCheckpoint, match="its sketch does not hold whole layers"):
        load_checkpoint(path)


def test_a_run_teaches_its_sketch_what_the_network_says(tmp_path, game_positions):
    config = tmp_path / "config.toml"
    config.write_text(
        "[run]\ngames = 1_500\nbatch_games = 64\n[network]\nhidden = [16]\nsketch = [8]\n"
        "[learning]\nrate_end = 1e-4\n[report]\nstrength_games = 0\nfinal_games = 0\n"
    )
    assert main(["train", str(config), "--run", str(tmp_path / "run"), "--quiet"]) == 0
    bot = bgai.load(tmp_path / "run", bearoff=False)
    assert bot.network.sketch is not None and bot.network.sketch.hidden == (8,)
    boards, _ = game_positions(1_000, 9)
    says = bot.network.outcomes_of(boards) @ POINTS
    roughly = bot.network.sketch.outcomes_of(boards) @ POINTS
    assert np.corrcoef(says, roughly)[0, 1] > 0.8


def test_what_needs_a_sketch_says_so(tmp_path, capsys):
    config = tmp_path / "config.toml"
    config.write_text("[run]\ngames = 10\nsift = true\n")
    assert main(["train", str(config), "--run", str(tmp_path / "run")]) == 2
    assert "run.sift needs a sketch, say network.sketch = [256, 32]" in capsys.readouterr().err
