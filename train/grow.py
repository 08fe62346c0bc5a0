"""A trained network made wider, a layer deeper or with more inputs (Chen, Goodfellow, Shlens 2016), or its dead units
brought to life; what it says stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bgai.evaluation.encoding import Encoding
from bgai.evaluation.network import Layer, Network
from train.model import product

ALIVE = 0.2  # share of the boards on which a unit brought to life is above zero
NOISE = 0.02  # of a copied unit's weights, in parts of their own size, or copies would learn the same for ever


def grown(network: Network, hidden: Sequence[int], seed: int, *, copies: bool = True) -> Network:
    """The network with hidden layers of these sizes. A layer more is put in behind the first one that makes the
    sizes fit; units beyond the old ones are copies that share their weight with the unit they copy, or dead ones for
    `revived` to bring to life, which then learn something of their own.

    Raises ValueError when a layer would have to shrink, or more than one is missing.
    """
    layers = list(network.layers)
    sizes = list(network.hidden)
    if len(hidden) == len(sizes) + 1:
        # Not behind the first layer: its units and the encoding's extras would not fit through.
        after = next((i for i in range(1, len(sizes)) if _fits([*sizes[: i + 1], *sizes[i:]], hidden)), None)
        if after is not None:
            layers.insert(after + 1, (np.eye(sizes[after], dtype=np.float32), np.zeros(sizes[after], np.float32)))
            sizes.insert(after, sizes[after])
    if len(hidden) != len(sizes) or not _fits(sizes, hidden):
        raise ValueError(
            f"a network of hidden layers {list(network.hidden)} cannot grow to {list(hidden)}: the layers may only "
            "get wider, and one more may come behind the second or a later one"
        )
    rng = np.random.default_rng(seed)
    for number, size in enumerate(hidden):
        if size > sizes[number]:
            both = layers[number], layers[number + 1]
            layers[number], layers[number + 1] = _widened(*both, size, rng) if copies else _padded(*both, size)
    return Network(network.encoding, tuple(layers), network.sketch)


def with_encoding(network: Network, encoding: Encoding) -> Network:
    """The network with more extras, which at first count for nothing; what it says stays as it is.

    Raises ValueError where the new encoding is not the old one with more extras behind.
    """
    old = network.encoding
    if (encoding.width, encoding.names[: encoding.width]) != (old.width, old.names[: old.width]) or (
        encoding.extras < old.extras
    ):
        raise ValueError(f"a network with {old.name} inputs cannot grow to {encoding.name}")
    first, (weights, bias), *later = network.layers
    units = len(first[1])
    wider = np.zeros((len(bias), units + encoding.extras), dtype=np.float32)
    wider[:, : weights.shape[1]] = weights
    wider[:, units:] *= np.float32(old.loudness / encoding.loudness)
    return Network(encoding, (first, (wider, bias), *later), network.sketch)


def revived(network: Network, boards: np.ndarray, seed: int) -> tuple[Network, list[int]]:
    """The network with its dead units, those above zero on none of the boards [N, 26], brought to life, and how many
    these were in each hidden layer.

    Such a unit never learns again, for ReLU lets no gradient through, and half of a network may be lost so. It now
    begins with the difference of two living units' weights, above zero on a share ALIVE of the boards, and counts for
    nothing in the layer behind until it has learned to. On boards like these the network says what it said. Layers
    with fewer than two living units stay as they are.
    """
    rng = np.random.default_rng(seed)
    inputs = network.encoding.encode(boards)
    values, extras = inputs[:, : network.encoding.width], inputs[:, network.encoding.width :]
    layers, counts = [(weights.copy(), bias.copy()) for weights, bias in network.layers], []
    for number, (weights, bias) in enumerate(layers[:-1]):
        before = product(values, weights.T, bias)  # not BLAS's, whose sums depend on its threads
        alive = np.flatnonzero((before > 0).any(axis=0))
        dead = np.setdiff1d(np.arange(len(bias)), alive)
        if len(alive) < 2:
            dead = dead[:0]  # there is nothing to begin with
        if len(dead):
            pairs = np.array([rng.choice(alive, 2, replace=False) for _ in dead])
            weights[dead] = (weights[pairs[:, 0]] - weights[pairs[:, 1]]) * np.float32(2**-0.5)
            sums = product(values, weights[dead].T, np.zeros(len(dead), np.float32))
            bias[dead] = -np.quantile(sums, 1 - ALIVE, axis=0)
            before[:, dead] = sums + bias[dead]
            layers[number + 1][0][:, dead] = 0
        counts.append(len(dead))
        values = np.maximum(before, 0)
        if number == 0 and network.encoding.extras:
            values = np.concatenate([values, extras], axis=1)
    return Network(network.encoding, tuple(layers), network.sketch), counts


def _fits(sizes: Sequence[int], hidden: Sequence[int]) -> bool:
    return all(old <= new for old, new in zip(sizes, hidden, strict=True))


def _padded(layer: Layer, following: Layer, size: int) -> tuple[Layer, Layer]:
    """A layer with more units, all dead, and the one behind it."""
    (weights, bias), (next_weights, next_bias) = layer, following
    old = len(bias)
    wider = np.pad(weights, ((0, size - old), (0, 0)))
    outgoing = np.concatenate(
        [next_weights[:, :old], np.zeros((len(next_bias), size - old), np.float32), next_weights[:, old:]], axis=1
    )
    return (wider, np.pad(bias, (0, size - old), constant_values=-1)), (outgoing, next_bias)


def _widened(layer: Layer, following: Layer, size: int, rng: np.random.Generator) -> tuple[Layer, Layer]:
    """A layer [out, in] with more units, and the one behind it, whose inputs are these units and maybe extras."""
    (weights, bias), (next_weights, next_bias) = layer, following
    old = len(bias)
    copied = np.concatenate([np.arange(old), rng.integers(0, old, size - old)])
    share = 1 / np.bincount(copied, minlength=old)[copied]
    wider = weights[copied].copy()
    wider[old:] *= 1 + NOISE * rng.standard_normal(wider[old:].shape)
    outgoing = np.concatenate([next_weights[:, copied] * share, next_weights[:, old:]], axis=1)
    return (wider.astype(np.float32), bias[copied]), (outgoing.astype(np.float32), next_bias)
