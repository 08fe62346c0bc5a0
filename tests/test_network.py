"""Encodings against hand-written vectors; the runtime's forward pass against torch and plain numpy."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from bgai.evaluation.encoding import UnknownEncoding, encoding, encoding_names
from bgai.evaluation.network import Network
from bgai.evaluation.tactics import TACTICS
from bgai.rules.moves import afterstates
from bgai.rules.position import Position, start_board, turn
from train.model import SparseLinear, ValueModel, to_network

SHAPES = [[80], [33], [1], [64, 32], [40, 24, 16], [7, 19, 5, 3]]


def model_of(shape, name="men196", seed=0):
    """A model with weights larger than a fresh one's, so that chances are far from even."""
    torch.manual_seed(seed)
    model = ValueModel(encoding(name).width, shape, encoding(name).extras)
    with torch.no_grad():
        for weights in model.parameters():
            weights *= 3
    return model


def network_of(model, name="men196"):
    return to_network(encoding(name), list(model.parameters()))


def by_numpy(network, boards):
    """Chances by dense products in double precision."""
    values, extras = np.split(network.encoding.encode(boards).astype(np.float64), [network.encoding.width], axis=1)
    for number, (weights, bias) in enumerate(network.layers):
        if number:
            values = np.maximum(values, 0)
        if number == 1:
            values = np.concatenate([values, extras], axis=1)
        values = values @ weights.T.astype(np.float64) + bias
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def boards(game_positions, scattered_positions):
    return np.concatenate([game_positions(300, 1)[0], scattered_positions(300, 2)[0]])


# --- encodings


def men(**given):
    """A board from `p6=5, bar=1, their_p3=2, their_bar=1`; their points are counted from their own home."""
    board = np.zeros((1, 26), dtype=np.int8)
    for name, count in given.items():
        theirs = name.startswith("their_")
        place = name.removeprefix("their_")
        point = 25 if place == "bar" else int(place[1:])
        board[0, 25 - point if theirs else point] = -count if theirs else count
    return board


def test_opening_position_in_men196():
    side = np.zeros(98, dtype=np.float32)
    side[20:24] = [1, 1, 1, 1]  # six point, 5 men: 1, 2, 3 and two beyond in halves
    side[28:32] = [1, 1, 1, 0]  # eight point, 3 men
    side[48:52] = [1, 1, 1, 1]  # midpoint, 5 men
    side[92:96] = [1, 1, 0, 0]  # the two men at the back
    inputs = encoding("men196").encode(start_board()[None])
    assert inputs.dtype == np.float32
    np.testing.assert_allclose(inputs[0], np.concatenate([side, side]), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "count", "units"),
    [
        ("men196", 1, [1, 0, 0, 0]),
        ("men196", 2, [1, 1, 0, 0]),
        ("men196", 3, [1, 1, 1, 0]),
        ("men196", 6, [1, 1, 1, 1.5]),
        ("men292", 1, [1, 0, 0, 0, 0, 0]),
        ("men292", 2, [1, 1, 0, 0, 0, 0]),
        ("men292", 3, [1, 1, 1, 0, 0, 0]),
        ("men292", 6, [1, 1, 1, 1, 1, 0.5]),
    ],
)
def test_thermometer(name, count, units):
    side = encoding(name).width // 2
    at = 2 * len(units)  # the three point
    mine = encoding(name).encode(men(p3=count, their_p20=1))[0]
    np.testing.assert_allclose(mine[at : at + len(units)], units)
    assert np.count_nonzero(mine[:at]) == np.count_nonzero(mine[at + len(units) : side - 2]) == 0
    theirs = encoding(name).encode(men(their_p3=count, p20=1))[0]
    np.testing.assert_allclose(theirs[side + at : side + at + len(units)], units)
    assert np.count_nonzero(theirs[side : side + at]) == 0


@pytest.mark.parametrize("name", ["men196", "men292"])
def test_bars_and_men_off(name):
    side = encoding(name).width // 2
    inputs = encoding(name).encode(men(bar=3, p1=2, their_bar=1, their_p1=13))[0]
    np.testing.assert_allclose(inputs[side - 2 : side], [1.5, 10 / 15], atol=1e-6)
    np.testing.assert_allclose(inputs[-2:], [0.5, 1 / 15], atol=1e-6)


def test_widths_and_names():
    assert encoding_names() == ["men196", "men196+tactics", "men196+tactics195", "men292"]
    assert (encoding("men196").width, encoding("men292").width) == (196, 292)
    extras = [encoding(name).extras for name in ("men196", "men196+tactics", "men196+tactics195")]
    assert extras == [0, TACTICS, 195]
    with pytest.raises(UnknownEncoding, match="men195.*known: men196, men196.tactics, men196.tactics195, men292"):
        encoding("men195")


@pytest.mark.parametrize("name", ["men196", "men292"])
def test_encoding_is_the_sum_of_its_rows(name, boards):
    made = encoding(name)
    for board, inputs in zip(boards[::7], made.encode(boards[::7]), strict=True):
        total = made.base + sum(made.rows[place, board[place] + 15] for place in range(26))
        np.testing.assert_allclose(inputs, total, atol=1e-5)


@pytest.mark.parametrize("name", ["men196", "men292"])
def test_turned_board_swaps_the_sides(name, boards):
    made = encoding(name)
    halves = np.split(made.encode(boards), 2, axis=1)
    np.testing.assert_allclose(made.encode(turn(boards)), np.concatenate(halves[::-1], axis=1), atol=1e-6)


# --- forward


@pytest.mark.parametrize("name", ["men196", "men292", "men196+tactics", "men196+tactics195"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_runtime_agrees_with_torch(shape, name, boards):
    model = model_of(shape, name)
    with torch.no_grad():
        wanted = torch.softmax(model(torch.from_numpy(encoding(name).encode(boards))), dim=1).numpy()
    network = network_of(model, name)
    assert network.hidden == tuple(shape)
    chances = network.outcomes_of(boards)
    assert chances.dtype == np.float32 and chances.shape == (len(boards), 6)
    np.testing.assert_allclose(chances, wanted, atol=1e-5)
    np.testing.assert_allclose(chances, by_numpy(network, boards), atol=1e-5)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_afterstates_from_their_parents(shape, game_positions):
    parents, dice = game_positions(60, 3)
    rows, starts = afterstates(parents, dice)
    network = network_of(model_of(shape))
    chances = network.outcomes(np.ascontiguousarray(turn(parents)), rows, starts)
    np.testing.assert_allclose(chances, by_numpy(network, rows), atol=1e-5)


@pytest.mark.parametrize("shape", [[80], [64, 32]], ids=str)
def test_parent_may_be_any_board(shape, boards):
    network = network_of(model_of(shape))
    rng = np.random.default_rng(4)
    parents = boards[rng.permutation(len(boards))]
    starts = np.arange(len(boards) + 1)
    np.testing.assert_allclose(network.outcomes(parents, boards, starts), by_numpy(network, boards), atol=1e-5)
    # One parent for all of them, and a parent without a child.
    lone = network.outcomes(parents[:2], boards, np.array([0, len(boards), len(boards)]))
    np.testing.assert_allclose(lone, by_numpy(network, boards), atol=1e-5)


def test_chances_of_a_board_do_not_depend_on_the_batch(game_positions):
    parents, dice = game_positions(40, 5)
    rows, starts = afterstates(parents, dice)
    network = network_of(model_of([33, 17]))
    seen = np.ascontiguousarray(turn(parents))
    together = network.outcomes(seen, rows, starts)
    for game in range(len(parents)):
        own = slice(starts[game], starts[game + 1])
        alone = network.outcomes(seen[game : game + 1], rows[own], starts[game : game + 2] - starts[game])
        np.testing.assert_array_equal(alone, together[own])


def test_certain_chances_stay_finite():
    width = encoding("men196").width
    first = (np.zeros((4, width), dtype=np.float32), np.ones(4, dtype=np.float32))
    for size in (50, 1000, 1e6, 1e30):
        bias = np.array([size, 0, -size, 0, 0, 0], dtype=np.float32)
        network = Network(encoding("men196"), (first, (np.zeros((6, 4), dtype=np.float32), bias)))
        np.testing.assert_allclose(network.outcomes_of(start_board()[None])[0], [1, 0, 0, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize("name", ["men196", "men196+tactics", "men196+tactics195"])
def test_huge_weights_give_chances_or_are_refused(name, scattered_positions):
    boards, _ = scattered_positions(300, 1)
    inputs, rng = encoding(name), np.random.default_rng(3)
    shapes = [(20, inputs.width), (9, 20 + inputs.extras), (6, 9)]
    layers = [(rng.normal(size=shape).astype(np.float32), np.zeros(shape[0], dtype=np.float32)) for shape in shapes]
    refused = 0
    for size in 10.0 ** np.arange(0, 14):
        grown = tuple((weights * np.float32(size), bias) for weights, bias in layers)
        try:
            chances = Network(inputs, grown).outcomes_of(boards)
        except ValueError as error:
            assert "so large" in str(error)
            refused += 1
        else:
            np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
    assert 0 < refused < 7


@pytest.mark.parametrize("name", ["men196", "men196+tactics195"])
@pytest.mark.parametrize("shape", [[9], [64, 32], [7, 19, 5, 3]])
def test_half_precision_between_the_layers(shape, name, boards):
    network = network_of(model_of(shape, name), name)
    halved = network.halved()
    for (weights, bias), (before, bias_before) in zip(halved.layers, network.layers, strict=True):
        np.testing.assert_array_equal(bias, bias_before)
        np.testing.assert_allclose(weights, before, rtol=2**-10, atol=2**-24)
    for weights, _ in halved.layers[1:-1]:
        np.testing.assert_array_equal(weights, weights.astype(np.float16))
    assert halved.layers[0][0] is network.layers[0][0]
    np.testing.assert_allclose(halved.outcomes_of(boards), by_numpy(halved, boards), atol=1e-5)
    np.testing.assert_allclose(halved.outcomes_of(boards), by_numpy(network, boards), atol=0.01)


@pytest.mark.parametrize("size", [1e-8, 1e-5, 1e6])
def test_weights_that_half_precision_cannot_hold_stay(size, boards):
    network = network_of(model_of([12, 8, 4]))
    (first, (weights, bias), *others, (out, out_bias)) = network.layers
    scaled = [(weights * np.float32(size), bias * np.float32(size)), *others[:-1]]
    between, between_bias = others[-1]
    scaled.append((between / np.float32(size), between_bias))
    same = Network(network.encoding, (first, *scaled, (out, out_bias)), network)
    halved = same.halved()
    np.testing.assert_array_equal(halved.layers[1][0], same.layers[1][0])
    np.testing.assert_allclose(halved.outcomes_of(boards), by_numpy(network, boards), atol=1e-5)
    np.testing.assert_array_equal(halved.sketch.layers[1][0], network.halved().layers[1][0])


def test_no_boards_no_chances():
    network = network_of(model_of([8]))
    assert network.outcomes_of(np.empty((0, 26), dtype=np.int8)).shape == (0, 6)


def test_network_is_a_copy_of_the_model():
    model = model_of([8])
    network = network_of(model)
    before = network.outcomes_of(start_board()[None])
    with torch.no_grad():
        for weights in model.parameters():
            weights += 1
    fresh = Network(network.encoding, network.layers)
    np.testing.assert_array_equal(fresh.outcomes_of(start_board()[None]), before)


def layers_of(*sizes):
    return tuple(
        (np.zeros((m, n), dtype=np.float32), np.zeros(m, dtype=np.float32))
        for n, m in zip(sizes, sizes[1:], strict=False)
    )


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        (layers_of(196, 6), "2 to 16 layers, not 1"),
        (layers_of(196, *[1] * 16, 6), "2 to 16 layers, not 17"),
        (layers_of(196, 0, 6), "layer 0 should have 1 to 8192 units, not 0"),
        (layers_of(196, 1, 8193, 6), "layer 1 should have 1 to 8192 units, not 8193"),
        (layers_of(195, 8, 6), r"layer 0 should be float32 of the shape \[8, 196\]"),
        (layers_of(196, 8, 5), "should have 6 outputs, not 5"),
        ((*layers_of(196, 8), *layers_of(9, 6)), r"layer 1 should be float32 of the shape \[6, 8\]"),
        (tuple((w.astype(np.float64), b) for w, b in layers_of(196, 8, 6)), "not float64"),
        (tuple((w + np.float32(np.inf), b) for w, b in layers_of(196, 8, 6)), "layer 0 holds numbers .* not finite"),
    ],
)
def test_layers_that_do_not_fit(layers, sentence):
    with pytest.raises(ValueError, match=sentence):
        Network(encoding("men196"), layers)


# --- the sparse layers


@pytest.mark.parametrize("rows", [1, 2, 257])
@pytest.mark.parametrize("width, outputs", [(196, 80), (292, 33), (5, 1)])
@pytest.mark.parametrize("living", [0.0, 0.15, 1.0])
def test_sparse_layer_is_the_dense_product(rows, width, outputs, living):
    torch.manual_seed(rows + width)
    inputs = torch.randn(rows, width) * (torch.rand(rows, width) < living)
    torch.manual_seed(0)
    layer = SparseLinear(width, outputs)
    weight, bias = (p.detach().double().requires_grad_() for p in (layer.weight, layer.bias))
    inputs.requires_grad_()
    plain = inputs.detach().double().requires_grad_()
    sparse, dense = layer(inputs), plain @ weight + bias
    torch.testing.assert_close(sparse.double(), dense, rtol=1e-4, atol=1e-5)
    factor = torch.randn(rows, outputs)
    (sparse.tanh() * factor).sum().backward()
    (dense.tanh() * factor).sum().backward()
    torch.testing.assert_close(layer.weight.grad.double(), weight.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(layer.bias.grad.double(), bias.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(inputs.grad.double(), plain.grad, rtol=1e-4, atol=1e-5)


def test_gradient_of_the_whole_model(boards):
    model = model_of([24, 12])
    inputs = torch.from_numpy(encoding("men196").encode(boards))
    wanted = torch.softmax(torch.randn(len(boards), 6), dim=1)
    torch.nn.functional.cross_entropy(model(inputs), wanted).backward()
    doubles = [p.detach().double().requires_grad_() for p in model.parameters()]
    values = torch.relu(inputs.double() @ doubles[0] + doubles[1])
    values = torch.relu(values @ doubles[2] + doubles[3]) @ doubles[4].T + doubles[5]
    torch.nn.functional.cross_entropy(values, wanted.double()).backward()
    for mine, dense in zip(model.parameters(), doubles, strict=True):
        torch.testing.assert_close(mine.grad.double(), dense.grad, rtol=1e-4, atol=1e-6)


def test_evaluation_of_a_position_and_of_its_board_agree():
    network = network_of(model_of([16]))
    pos = Position.from_id("4HPwATDgc/ABMA")
    np.testing.assert_array_equal(network.outcomes_of(pos.board[None]), network.outcomes_of(start_board()[None]))


def test_the_table_does_not_depend_on_the_threads_of_blas():
    code = (
        "import hashlib, numpy as np\n"
        "from bgai.evaluation.encoding import encoding\n"
        "from bgai.evaluation.network import kernel_arrays\n"
        "random = np.random.default_rng(0)\n"
        "first, last = random.normal(size=(512, 196)), random.normal(size=(6, 512))\n"
        "layers = [(w.astype(np.float32), np.ones(len(w), np.float32)) for w in (first, last)]\n"
        "print(hashlib.sha256(kernel_arrays(encoding('men196'), layers)[0].tobytes()).hexdigest())\n"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": threads}, capture_output=True
        ).stdout
        for threads in ("1", "2")
    }
    assert len(hashes) == 1 and len(hashes.pop()) == 65
