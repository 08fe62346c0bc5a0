"""The value network as a torch module, bound to the runtime's by a test. Knows nothing of games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import nn

from bgai.evaluation.encoding import Encoding
from bgai.evaluation.network import Layer, Network
from bgai.rules.outcome import OUTCOMES


class ValueModel(nn.Module):
    """Inputs [N, width + extras] float32 -> logits of the six outcomes [N, 6]; ReLU between the layers.

    The extras pass the first layer by and stand behind its units.
    """

    def __init__(self, width: int, hidden: Sequence[int], extras: int = 0) -> None:
        super().__init__()
        self.width = width
        sizes = [width, hidden[0] + extras, *hidden[1:]]
        self.hidden = nn.ModuleList(SparseLinear(n, m) for n, m in zip(sizes, hidden, strict=False))
        self.output = nn.Linear(sizes[-1], OUTCOMES)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        values, extras = inputs[:, : self.width].contiguous(), inputs[:, self.width :]
        for number, layer in enumerate(self.hidden):
            values = torch.relu(layer(values))
            if number == 0 and extras.shape[1]:
                values = torch.cat([values, extras], dim=1)
        return self.output(values)


class SparseLinear(nn.Module):
    """A linear layer whose inputs are mostly zero; weight is [in, out], so an input's weights lie together."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.device.type == "cpu":
            return _SparseProduct.apply(inputs, self.weight, self.bias)
        return torch.addmm(self.bias, inputs, self.weight)


class _SparseProduct(torch.autograd.Function):
    """inputs @ weight + bias, on the CPU, over what is not zero.

    Of 196 inputs about 30 are not zero, after ReLU one hidden unit in five, and the gradient is zero wherever ReLU
    was. A step of 512-256-128 takes three fifths of the time of dense products.
    """

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inputs, weight)
        return _sparse_product(inputs, weight.detach(), bias.detach())

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor]:
        inputs, weight = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        of_inputs = None
        if ctx.needs_input_grad[0]:
            of_inputs = _sparse_product(gradient, weight.t().contiguous(), torch.zeros(len(weight)))
        of_weight = _sparse_product(inputs.t().contiguous(), gradient, torch.zeros(gradient.shape[1]))
        return of_inputs, of_weight, gradient.sum(dim=0)


def product(left: np.ndarray, right: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """left [n, k] @ right [k, m] + bias [m] -> [n, m], all float32, over what is not zero in `left`, and always added
    up in the same order."""
    out = np.empty((left.shape[0], right.shape[1]), dtype=np.float32)
    _product(np.ascontiguousarray(left), np.ascontiguousarray(right), bias, out)
    return out


def _sparse_product(left: torch.Tensor, right: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(product(left.detach().numpy(), right.detach().numpy(), bias.numpy()))


@njit(cache=True, nogil=True, fastmath=True)
def _product(left, right, bias, out):
    """out [n, m] = left [n, k] @ right [k, m] (+ bias [m]) where most of `left` is zero; four rows at a time."""
    living = np.empty(left.shape[1] + 1, dtype=np.int64)
    for i in range(left.shape[0]):
        alive = 0
        for k in range(left.shape[1]):
            living[alive] = k
            alive += left[i, k] != 0
        for j in range(out.shape[1]):
            out[i, j] = bias[j]
        fours = alive - alive % 4
        for k in range(0, fours, 4):
            k1, k2, k3, k4 = living[k], living[k + 1], living[k + 2], living[k + 3]
            x1, x2, x3, x4 = left[i, k1], left[i, k2], left[i, k3], left[i, k4]
            for j in range(out.shape[1]):
                out[i, j] += (x1 * right[k1, j] + x2 * right[k2, j]) + (x3 * right[k3, j] + x4 * right[k4, j])
        for k in range(fours, alive):
            k1 = living[k]
            x1 = left[i, k1]
            for j in range(out.shape[1]):
                out[i, j] += x1 * right[k1, j]


def to_network(encoding: Encoding, weights: Sequence[torch.Tensor]) -> Network:
    """A runtime network from the parameters of a ValueModel in their order; a copy."""
    arrays = [np.array(tensor.detach().cpu().numpy(), dtype=np.float32) for tensor in weights]
    hidden = [np.ascontiguousarray(weight.T) for weight in arrays[:-2:2]]
    layers: tuple[Layer, ...] = tuple(zip([*hidden, arrays[-2]], arrays[1::2], strict=True))
    return Network(encoding, layers)


def from_network(network: Network) -> list[torch.Tensor]:
    """The parameters that `to_network` makes this network of."""
    *hidden, output = network.layers
    arrays = [array for weight, bias in hidden for array in (weight.T, bias)]
    return [torch.from_numpy(np.ascontiguousarray(array).copy()) for array in (*arrays, *output)]
