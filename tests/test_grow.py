"""Growing a network: the same chances before and after, for every shape that is allowed."""

import numpy as np
import pytest
import torch

from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from train import grow
from train.config import from_toml
from train.folder import RunError
from train.grow import grown, with_encoding
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
