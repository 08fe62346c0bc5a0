"""A value network for play: weights, and the chances it gives to afterstates. Knows no files and no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bgai.evaluation import kernels
from bgai.evaluation.encoding import Encoding
from bgai.rules.outcome import OUTCOMES
from bgai.rules.position import MEN

Layer = tuple[np.ndarray, np.ndarray]  # weights [out, in] float32, bias [out] float32
MOST_UNITS = 8192  # of a layer; the kernels pad the hidden layers to one block
MOST_LAYERS = 16
_LARGEST_INPUT = 2 * MEN  # of any encoding, extras too
_ROUGHEST = 2.0**-10  # a layer's error by rounding, in parts of its weights; usually a quarter of it
_LARGEST_SUM = 1e32  # float32 ends at 3e38; beyond that nothing is finite


@dataclass(frozen=True, eq=False)
class Network:
    """Fully connected layers with ReLU between them; the six logits of the last are softmaxed into Outcomes.

    The encoding's extras stand behind the units of the first hidden layer, as inputs of the second layer. A `sketch`
    is a small network that has learned to say roughly the same, for `bgai.evaluation.search` to sift plays by.
    Raises ValueError when the layers do not fit each other or the encoding, or hold numbers that are not finite or so
    large that a position's chances might not be.
    """

    encoding: Encoding
    layers: tuple[Layer, ...]
    sketch: Network | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.layers) <= MOST_LAYERS:
            raise ValueError(f"a network has 2 to {MOST_LAYERS} layers, not {len(self.layers)}")
        width, largest = self.encoding.width, float(_LARGEST_INPUT)
        for number, (weights, bias) in enumerate(self.layers):
            if not 1 <= len(bias) <= MOST_UNITS:
                raise ValueError(f"layer {number} should have 1 to {MOST_UNITS} units, not {len(bias)}")
            for array, shape in ((weights, (len(bias), width)), (bias, (len(bias),))):
                if array.shape != shape or array.dtype != np.float32:
                    raise ValueError(
                        f"layer {number} should be float32 of the shape {list(shape)}, "
                        f"not {array.dtype} of {list(array.shape)}"
                    )
                if not np.isfinite(array).all():
                    raise ValueError(f"layer {number} holds numbers that are not finite")
            sums = np.abs(weights).sum(axis=1, dtype=np.float64) * largest + np.abs(bias)
            largest = max(_LARGEST_INPUT, float(sums.max()))
            if largest > _LARGEST_SUM:
                raise ValueError(f"layer {number} holds numbers so large that what it adds up may not be finite")
            width = len(bias) + (self.encoding.extras if number == 0 else 0)
        if len(bias) != OUTCOMES:
            raise ValueError(f"the last layer should have {OUTCOMES} outputs, not {len(bias)}")
        if self.sketch is not None and self.sketch.sketch is not None:
            raise ValueError("a sketch has no sketch of its own")

    @property
    def hidden(self) -> tuple[int, ...]:
        """Sizes of the hidden layers."""
        return tuple(len(bias) for _, bias in self.layers[:-1])

    def halved(self) -> Network:
        """The network with the weights between its hidden layers rounded to half precision, which the kernels read
        faster; its equities change by some 0.0001. As it is where its weights are too large or too small for that."""
        (first, *middle, last), sketch = self.layers, self.sketch and self.sketch.halved()
        with np.errstate(over="ignore"):
            rounded = [(weights.astype(np.float16).astype(np.float32), bias) for weights, bias in middle]
        for (weights, _), (rough, _) in zip(middle, rounded, strict=True):
            exact = weights.astype(np.float64)
            if not np.linalg.norm(rough - exact) <= _ROUGHEST * np.linalg.norm(exact):
                return replace(self, sketch=sketch)
        try:
            return replace(self, layers=(first, *rounded, last), sketch=sketch)
        except ValueError:  # it was near the largest sum that is allowed
            return replace(self, sketch=sketch)

    @cached_property
    def _arrays(self) -> tuple[Any, ...]:
        return kernel_arrays(self.encoding, self.layers)

    def outcomes(self, parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Chances for the player to roll on `boards` [N, 26] int8 -> [N, 6] float32.

        `parents` [B, 26] int8 are boards that resemble theirs, seen by the same player: boards[starts[i]] to
        boards[starts[i + 1]] those of parents[i].
        """
        chances = np.empty((len(boards), OUTCOMES), dtype=np.float32)
        kernels.forward(*self._arrays, parents, boards, starts, chances)
        kernels.softmax(chances)
        return chances

    def outcomes_of(self, boards: np.ndarray) -> np.ndarray:
        """Chances for the player to roll on unrelated boards [N, 26] int8 -> [N, 6] float32."""
        return self.outcomes(boards, boards, np.arange(len(boards) + 1))


def kernel_arrays(encoding: Encoding, layers: Sequence[Layer]) -> tuple[Any, ...]:
    """The network as `kernels.forward` wants them: the first folded into a table by place and men, the hidden ones
    transposed and padded to one block, in half precision where that loses nothing, the output's as they are."""
    (first, first_bias), *middle, (last, last_bias) = layers
    # No matrix product: BLAS adds in an order that depends on its threads, and runs must repeat to the bit.
    by_input = np.ascontiguousarray(first.T)
    rows = np.zeros((*encoding.columns.shape[:2], len(first_bias)), dtype=np.float32)
    for k in range(encoding.columns.shape[2]):  # padding is column -1 with value 0
        rows += encoding.values[:, :, k, None] * by_input[encoding.columns[:, :, k]]
    rows[0] += first_bias
    for column in np.flatnonzero(encoding.base):
        rows[0] += encoding.base[column] * by_input[column]
    table = rows.reshape(-1, len(first_bias))
    sizes = [len(first_bias) + encoding.extras, *(len(bias) for _, bias in middle)]
    inside = max(sizes[:-1], default=0)
    outside = -(-max(sizes[1:], default=0) // kernels.COLUMNS) * kernels.COLUMNS
    weights = np.zeros((len(middle), inside, outside), dtype=np.float32)
    biases = np.zeros((len(middle), outside), dtype=np.float32)
    for number, (weight, bias) in enumerate(middle):
        weights[number, : weight.shape[1], : weight.shape[0]] = weight.T
        biases[number, : len(bias)] = bias
    with np.errstate(over="ignore"):
        halves = weights.astype(np.float16)
    if kernels.READS_HALVES and np.array_equal(halves, weights):
        weights = halves.view(np.uint16)
    return (
        np.ascontiguousarray(table),
        encoding.extras,
        np.array(sizes, dtype=np.int64),
        weights,
        biases,
        np.ascontiguousarray(last),
        np.ascontiguousarray(last_bias),
    )
