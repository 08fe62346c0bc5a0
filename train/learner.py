"""Gradient steps towards given targets, with a running average of the weights. Knows nothing of games."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np
import torch

from bgai.evaluation.encoding import Encoding
from bgai.evaluation.network import Network
from bgai.rules.outcome import OUTCOMES, POINTS_WON
from train.model import ValueModel, from_network, to_network


class NotFinite(ArithmeticError):
    """The loss or a weight is no longer a finite number."""


def schedule(kind: str, start: float, end: float, share: float) -> float:
    """A rate after `share` (0 to 1) of the run."""
    share = min(max(share, 0.0), 1.0)
    if kind == "constant":
        return start
    if kind == "linear":
        return start + (end - start) * share
    if kind == "exponential":
        return start * (end / start) ** share
    if kind == "cosine":
        return end + (start - end) * (1 + math.cos(math.pi * share)) / 2
    raise ValueError(f"unknown schedule {kind!r}")


class Pairs(NamedTuple):
    """Of L positions other plays of the rolls that led there, and both looked at one roll ahead."""

    rolled: np.ndarray  # [L, 6] float32: the positions' own chances
    known: np.ndarray  # [L] bool: which have a rival
    rivals: np.ndarray  # [L, 26] int8
    rivals_rolled: np.ndarray  # [L, 6] float32


class Learner:
    """A model, its optimizer and the average of its weights.

    What it lessens is the cross-entropy of the outcomes + `equity` x the squared error of what they are worth +
    `rivalry` x the squared error of how much more rivals are worth than the plays that were made.
    """

    def __init__(
        self,
        encoding: Encoding,
        *,
        hidden: tuple[int, ...],
        optimizer: str,
        minibatch: int,
        average: float,
        weight_decay: float,
        device: str,
        seed: int,
        equity: float = 0.0,
        rivalry: float = 0.0,
    ) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = ValueModel(encoding.width, hidden, encoding.extras).to(device)
        self.encoding, self.minibatch, self.average, self.device = encoding, minibatch, average, device
        self.parameters: list[torch.Tensor] = list(self.model.parameters())
        self.averaged = [p.detach().clone() for p in self.parameters]
        self.equity, self.rivalry = equity, rivalry
        self.points_won = torch.from_numpy(POINTS_WON).to(device)
        self.steps = 0
        if optimizer == "sgd":
            self._moments: tuple[str, ...] = ("momentum_buffer",)
            self.optimizer: torch.optim.Optimizer = torch.optim.SGD(
                self.parameters, lr=1e-3, momentum=0.9, weight_decay=weight_decay
            )
        else:
            self._moments = ("step", "exp_avg", "exp_avg_sq")
            kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
            self.optimizer = kind(self.parameters, lr=1e-3, weight_decay=weight_decay, fused=device != "mps")

    def begin_with(self, network: Network) -> None:
        """Take a network's weights before the first step. Raises ValueError when it is of another shape."""
        given = from_network(network)
        if [p.shape for p in given] != [p.shape for p in self.parameters]:
            raise ValueError("the weights belong to a network of another shape")
        self._set(self.parameters, given)
        self._set(self.averaged, given)

    def learn(
        self,
        boards: np.ndarray,
        targets: np.ndarray,
        *,
        rate: float,
        order: np.random.Generator,
        pairs: Pairs | None = None,
    ) -> tuple[float, np.ndarray]:
        """One pass over positions [M, 26] and their targets [M, 6] in an order drawn from `order`.

        With `pairs` the rivals are learned, too, beside the positions that they belong to. Returns of the positions
        the mean cross-entropy in excess of the targets' own entropy, and the mean squared error of each output [6].
        Raises NotFinite.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        shuffled = order.permutation(len(boards))
        excess, squares, chunk = 0.0, np.zeros(OUTCOMES), self.minibatch * 32
        for begin in range(0, len(boards), chunk):
            rows = shuffled[begin : begin + chunk]
            inputs = torch.from_numpy(self.encoding.encode(boards[rows])).to(self.device)
            wanted = torch.from_numpy(targets[rows]).to(self.device)
            logits = []
            for at in range(0, len(rows), self.minibatch):
                part = slice(at, at + self.minibatch)
                beside = None if pairs is None else self._rivals_of(pairs, rows[part])
                logits.append(self._step(inputs[part], wanted[part], beside))
            logs = torch.log_softmax(torch.cat(logits), dim=1)
            excess += float((torch.xlogy(wanted.clamp(min=0), wanted) - wanted * logs).sum())
            squares += (logs.exp() - wanted).square().sum(dim=0).double().cpu().numpy()
        if not math.isfinite(excess):
            raise NotFinite("the loss is not finite")
        for weights in (self.parameters, self.averaged):
            try:  # the last step's weights, too, which no loss has seen yet
                to_network(self.encoding, weights)
            except ValueError as error:
                raise NotFinite(str(error)) from None
        return excess / len(boards), squares / len(boards)

    def _rivals_of(self, pairs: Pairs, rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        """Of these rows of a lesson which have a rival, the rivals' inputs and chances, and how much more these are
        worth than the rows themselves."""
        having = np.flatnonzero(pairs.known[rows])
        theirs = pairs.rivals_rolled[rows[having]]
        more = (theirs - pairs.rolled[rows[having]]) @ POINTS_WON
        inputs = self.encoding.encode(pairs.rivals[rows[having]])
        return tuple(torch.from_numpy(array).to(self.device) for array in (having, inputs, theirs, more))

    def _step(
        self, inputs: torch.Tensor, wanted: torch.Tensor, beside: tuple[torch.Tensor, ...] | None = None
    ) -> torch.Tensor:
        size = len(inputs)
        if beside is not None:
            having, others, theirs, more = beside
            inputs, wanted = torch.cat([inputs, others]), torch.cat([wanted, theirs])
        logits = self.model(inputs)
        loss = torch.nn.functional.cross_entropy(logits, wanted)
        if self.equity:
            gaps = (torch.softmax(logits, dim=1) - wanted) @ self.points_won
            loss = loss + self.equity * gaps.square().mean()
        if beside is not None and len(having):
            worth = torch.softmax(logits, dim=1) @ self.points_won
            wrong = worth[size:] - worth[having] - more
            loss = loss + self.rivalry * wrong.square().sum() / size
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        # The average forgets the first random weights quickly: its decay grows with the steps.
        decay = min(self.average, self.steps / (self.steps + 10))
        with torch.no_grad():  # or the average would drag the history of every step along
            torch._foreach_lerp_(self.averaged, self.parameters, 1 - decay)
        return logits[:size].detach()

    def state(self) -> dict[str, Any]:
        """All that `restore` needs, tensors and plain numbers only."""
        return {
            "model": [p.detach().clone() for p in self.parameters],
            "averaged": [p.clone() for p in self.averaged],
            "optimizer": copy.deepcopy(self.optimizer.state_dict()),
            "steps": self.steps,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; raises ValueError when it belongs to another network or is damaged."""
        weights = [*state["model"], *state["averaged"]]
        if [w.shape for w in weights] != 2 * [p.shape for p in self.parameters]:
            raise ValueError("the resume point belongs to a network of another shape")
        kept, steps = state["optimizer"]["state"], state["steps"]
        if not isinstance(steps, int) or kept.keys() != set(range(len(self.parameters) if steps else 0)):
            raise ValueError("its optimizer belongs to a network of another shape")
        for number, moments in kept.items():
            wanted = {name: self.parameters[number].shape for name in self._moments} | {"step": torch.Size()}
            if any(moments[name].shape != wanted[name] for name in self._moments):
                raise ValueError("its optimizer belongs to a network of another shape")
            weights += [moments[name] for name in self._moments]
        if not all(bool(torch.isfinite(numbers).all()) for numbers in weights):
            raise ValueError("the resume point holds numbers that are not finite")
        self._set(self.parameters, state["model"])
        self._set(self.averaged, state["averaged"])
        # How the optimizer works is said by the config; torch would share the tensors of its state.
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": copy.deepcopy(kept), "param_groups": groups})
        self.steps = steps

    @staticmethod
    def _set(mine: list[torch.Tensor], given: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(mine, given, strict=True):
                parameter.copy_(value)
