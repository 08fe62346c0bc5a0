"""Growing a network: the same chances before and after, for every shape that is allowed."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from bgai.cli import main
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from train import grow
from train.config import from_toml
from train.folder import RunError
from train.grow import ALIVE, grown, revived, with_encoding
from train.loop import starting_network
from train.model import ValueModel, to_network


def network_of(hidden, name="men196+tactics"):
    torch.manual_seed(3)
    model = ValueModel(encoding(name).width, hidden, encoding(name).extras)
    with torch.no_grad():
        for weights in model.parameters():
            weights *= 3
    return to_network(encoding(name), list(model.parameters()))


@pytest.mark.parametrize("name", ["men196", "men196+tactics"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([12], [30]),
        ([12, 7], [12, 9]),
        ([12, 7], [20, 7]),
        ([12, 7], [12, 7, 7]),
        ([12, 8, 4], [12, 16, 8, 4]),
        ([12, 8, 4], [20, 16, 9, 5]),
    ],
)
def test_a_grown_network_says_the_same(before, after, name, monkeypatch, game_positions):
    boards = game_positions(200, 2)[0]
    small = network_of(before, name)
    monkeypatch.setattr(grow, "NOISE", 0.0)
    big = grown(small, after, seed=1)
    assert big.hidden == tuple(after)
    np.testing.assert_allclose(big.outcomes_of(boards), small.outcomes_of(boards), atol=2e-5)


@pytest.mark.parametrize("name", ["men196", "men196+tactics"])
def test_new_units_may_begin_dead_and_come_to_life(name, game_positions):
    boards = game_positions(200, 2)[0]
    small = network_of([12, 8, 4], name)
    big = grown(small, [20, 16, 8, 5], seed=1, copies=False)
    assert big.hidden == (20, 16, 8, 5)
    np.testing.assert_allclose(big.outcomes_of(boards), small.outcomes_of(boards), atol=1e-6)
    assert [int((units.max(axis=0) > 0).sum()) for units in hidden_units(big, boards)][0] <= 12
    living, counts = revived(big, boards, seed=1)
    assert all(count >= new for count, new in zip(counts, [8, 8, 0, 1], strict=True))
    np.testing.assert_allclose(living.outcomes_of(boards), small.outcomes_of(boards), atol=1e-6)
    assert all((units.max(axis=0) > 0).all() for units in hidden_units(living, boards))


def test_copies_differ_a_little(game_positions):
    boards = game_positions(200, 2)[0]
    small = network_of([12, 8])
    big = grown(small, [24, 8], seed=1)
    weights = big.layers[0][0]
    assert len(np.unique(weights, axis=0)) == 24
    apart = np.abs(big.outcomes_of(boards) - small.outcomes_of(boards)).max()
    assert 0 < apart < 0.1
    again = grown(small, [24, 8], seed=1)
    np.testing.assert_array_equal(again.layers[0][0], weights)


@pytest.mark.parametrize("hidden", [[8, 8], [12, 8, 4], [12], [12, 8, 8, 8], [12, 12, 7]])
def test_what_cannot_grow_is_told(hidden):
    with pytest.raises(ValueError, match="cannot grow"):
        grown(network_of([12, 8]), hidden, seed=1)


def test_a_run_begins_with_a_grown_network(tmp_path):
    file = tmp_path / "small.safetensors"
    save_checkpoint(file, network_of([12, 8], "men196"), {})
    config = f'[network]\nencoding = "men196"\nhidden = [16, 8, 8]\nstart = "{file}"\n'
    assert starting_network(from_toml(config)).hidden == (16, 8, 8)
    with pytest.raises(RunError, match="cannot grow"):
        starting_network(from_toml(config.replace("[16, 8, 8]", "[10, 8]")))
    with pytest.raises(RunError, match="men196 inputs cannot grow to men292"):
        starting_network(from_toml(config.replace('"men196"', '"men292"')))


@pytest.mark.parametrize("hidden", [[12], [12, 8]])
@pytest.mark.parametrize("before", ["men196", "men196+tactics"])
def test_more_inputs_change_nothing_at_first(before, hidden, game_positions):
    boards = game_positions(200, 2)[0]
    small = network_of(hidden, before)
    big = with_encoding(small, encoding("men196+tactics195"))
    assert big.encoding.extras == 195
    np.testing.assert_allclose(big.outcomes_of(boards), small.outcomes_of(boards), atol=2e-6)


@pytest.mark.parametrize("after", ["men292", "men196"])
def test_inputs_may_only_become_more(after):
    with pytest.raises(ValueError, match=rf"men196\+tactics inputs cannot grow to {after}"):
        with_encoding(network_of([12, 8]), encoding(after))


def test_a_run_begins_with_more_inputs(tmp_path):
    file = tmp_path / "small.safetensors"
    save_checkpoint(file, network_of([12, 8]), {})
    config = f'[network]\nencoding = "men196+tactics195"\nhidden = [16, 8, 8]\nstart = "{file}"\n'
    network = starting_network(from_toml(config))
    assert (network.encoding.name, network.hidden) == ("men196+tactics195", (16, 8, 8))


def hidden_units(network, boards):
    """What every hidden layer's units are on the boards, by dense products."""
    values, extras = np.split(network.encoding.encode(boards), [network.encoding.width], axis=1)
    layers = []
    for weights, bias in network.layers[:-1]:
        layers.append(np.maximum(values @ weights.T + bias, 0))
        values = np.concatenate([layers[-1], extras], axis=1) if len(layers) == 1 else layers[-1]
    return layers


@pytest.mark.parametrize("name", ["men196", "men196+tactics195"])
def test_dead_units_come_to_life_and_nothing_changes(name, game_positions):
    boards = game_positions(300, 2)[0]
    network = network_of([30, 20, 12], name)
    killed = ([3, 4, 29], [0, 7], [11])
    for (_, bias), units in zip(network.layers, killed, strict=False):
        bias[units] = -1000
    dead = [np.flatnonzero(units.max(axis=0) == 0) for units in hidden_units(network, boards)]
    assert all(set(killed[i]) <= set(dead[i]) for i in range(3))
    living, counts = revived(network, boards, seed=1)
    assert counts == [len(units) for units in dead]
    np.testing.assert_allclose(living.outcomes_of(boards), network.outcomes_of(boards), atol=1e-6)
    for units, revived_ones in zip(hidden_units(living, boards), dead, strict=True):
        np.testing.assert_allclose((units[:, revived_ones] > 0).mean(axis=0), ALIVE, atol=0.01)
    again, _ = revived(network, boards, seed=1)
    np.testing.assert_array_equal(again.layers[1][0], living.layers[1][0])
    assert revived(living, boards, seed=2)[1] == [0, 0, 0]


def test_one_living_unit_revives_nothing(game_positions):
    boards = game_positions(100, 2)[0]
    network = network_of([5, 4], "men196")
    network.layers[0][1][1:] = -1000
    network.layers[0][1][0] = 1000
    living, counts = revived(network, boards, seed=1)
    assert counts[0] == 0
    np.testing.assert_array_equal(living.layers[0][1], network.layers[0][1])


def test_revived_weights_do_not_depend_on_blas():
    code = (
        "import hashlib, numpy as np\n"
        "from bgai.evaluation.encoding import encoding\n"
        "from bgai.evaluation.network import Network\n"
        "from train.grow import grown, revived\n"
        "from train.starts import first_boards\n"
        "rng, sizes = np.random.default_rng(1), [196, 64, 32, 6]\n"
        "layers = [(rng.normal(size=(b, a)).astype('f4'), np.zeros(b, 'f4')) for a, b in zip(sizes, sizes[1:])]\n"
        "big = grown(Network(encoding('men196'), tuple(layers)), [256, 128], 1, copies=False)\n"
        "network, _ = revived(big, first_boards(1, 0, 3000, 1.0)[0], 1)\n"
        "print(hashlib.sha256(b''.join(a.tobytes() for layer in network.layers for a in layer)).hexdigest())\n"
    )
    ways = [{"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "2"}]
    ways.append({"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott"})
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | way,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for way in ways
    }
    assert len(said) == 1


def test_a_run_begins_with_living_units(tmp_path):
    file = tmp_path / "half_dead.safetensors"
    network = network_of([12, 8], "men196")
    network.layers[0][1][:5] = -1000
    save_checkpoint(file, network, {})
    config = f"""
        [run]
        games = 100
        [network]
        hidden = [12, 8]
        start = "{file}"
        revive = true
        [report]
        strength_games = 0
        final_games = 0
    """
    (tmp_path / "config.toml").write_text(config)
    assert main(["train", str(tmp_path / "config.toml"), "--run", str(tmp_path / "run"), "--quiet"]) == 0
    lines = (tmp_path / "run" / "log.txt").read_text().splitlines()
    said = next(line for line in lines if "brought to life" in line)
    assert int(said.split("[")[1].split(",")[0]) >= 5
