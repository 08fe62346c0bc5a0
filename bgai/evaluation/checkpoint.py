"""Bot files: a network's weights and its card in one safetensors file. Loading one can never run code.

The file says what it is: metadata `format` = "bgai-bot", `version`, `encoding`, `sha256` of the weights, and `card`,
a JSON object of what the bot was trained on and how strong it measured. Tensors: layer0.weight [out, in], layer0.bias
[out], layer1... A network with a sketch has its tensors, too, as sketch.layer0.weight and so on, and its encoding as
`sketch_encoding`. Tensors are float32, or float16 where that says exactly the same (see `Network.halved`).
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from bgai.evaluation.encoding import UnknownEncoding, encoding
from bgai.evaluation.habits import Habits
from bgai.evaluation.network import Layer, Network
from bgai.files import write_atomically

FORMAT = "bgai-bot"
VERSION = "1"
SKETCH = "sketch."
MOST_BYTES = 1 << 30


class InvalidCheckpoint(ValueError):
    """A file that is no whole bgai bot; the message says what is wrong with it."""


class Checkpoint(NamedTuple):
    """What a bot file holds."""

    network: Network
    card: dict[str, Any]


def save_checkpoint(path: str | os.PathLike[str], network: Network, card: dict[str, Any]) -> None:
    """Write a bot file atomically. `card` must be JSON; raises OSError when the file cannot be written."""
    tensors = _tensors(network, "")
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "encoding": network.encoding.name,
        "card": json.dumps(card, ensure_ascii=False, sort_keys=True),
    }
    if network.sketch is not None:
        tensors |= _tensors(network.sketch, SKETCH)
        metadata["sketch_encoding"] = network.sketch.encoding.name
    metadata["sha256"] = _digest(tensors)
    write_atomically(path, safetensors.numpy.save(tensors, metadata=metadata))


def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a bot file. Raises FileNotFoundError, InvalidCheckpoint with a plain sentence."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no bot file {file}")
    if file.stat().st_size > MOST_BYTES:
        raise InvalidCheckpoint(f"{file} is larger than any bgai bot file (over {MOST_BYTES >> 20} MiB)")
    try:
        with safetensors.safe_open(file, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise InvalidCheckpoint(
                    f"{file} is a safetensors file but no bgai bot: its metadata should say format = {FORMAT!r}"
                )
            if metadata.get("version") != VERSION:
                raise InvalidCheckpoint(
                    f"{file} has version {metadata.get('version')!r} of the bot format; this bgai reads {VERSION!r}"
                )
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no iterator)
    except InvalidCheckpoint:
        raise
    except OSError as error:
        raise InvalidCheckpoint(f"{file} cannot be read: {error}") from None
    except Exception as error:  # the parser raises its own kinds for damaged headers and sizes
        raise InvalidCheckpoint(f"{file} is damaged or no bot file ({error})") from None
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith(SKETCH)}
    of_sketch = {name.removeprefix(SKETCH): tensors[name] for name in tensors.keys() - own.keys()}
    sketch = None
    if of_sketch:
        sketch = _network(f"{file}: its sketch", of_sketch, metadata.get("sketch_encoding", ""), None)
    network = _network(str(file), own, metadata.get("encoding", ""), sketch)
    checkpoint = Checkpoint(network, _card(file, metadata))
    if "sha256" in metadata and metadata["sha256"] != _digest(tensors):
        raise InvalidCheckpoint(f"{file} is damaged: its weights are not those that were saved; take a fresh copy")
    return checkpoint


def _tensors(network: Network, prefix: str) -> dict[str, np.ndarray]:
    tensors = {}
    for number, (weights, bias) in enumerate(network.layers):
        tensors[f"{prefix}layer{number}.weight"] = _shortest(weights)
        tensors[f"{prefix}layer{number}.bias"] = np.ascontiguousarray(bias)
    return tensors


def _shortest(weights: np.ndarray) -> np.ndarray:
    """In half precision where nothing is lost by it."""
    with np.errstate(over="ignore"):
        half = weights.astype(np.float16)
    return np.ascontiguousarray(half if np.array_equal(half, weights) else weights)


def _whole(tensor: np.ndarray) -> np.ndarray:
    return tensor.astype(np.float32) if tensor.dtype == np.float16 else tensor


def _digest(tensors: dict[str, np.ndarray]) -> str:
    """SHA-256 of all weights with their names and shapes."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape} ".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()


def _network(file: str, tensors: dict[str, np.ndarray], encoding_name: str, sketch: Network | None) -> Network:
    count = len(tensors) // 2
    names = {f"layer{number}.{part}" for number in range(count) for part in ("weight", "bias")}
    if set(tensors) != names:
        wrong = ", ".join(sorted(set(tensors) ^ names)[:4])
        raise InvalidCheckpoint(f"{file} does not hold whole layers, each with a weight and a bias (see {wrong})")
    layers: list[Layer] = [(_whole(tensors[f"layer{i}.weight"]), tensors[f"layer{i}.bias"]) for i in range(count)]
    for number, (weights, bias) in enumerate(layers):
        if weights.ndim != 2 or bias.ndim != 1:
            raise InvalidCheckpoint(f"{file}: layer {number} has the wrong number of dimensions")
    try:
        return Network(encoding(encoding_name), tuple(layers), sketch)
    except UnknownEncoding as error:
        raise InvalidCheckpoint(f"{file} was made for another bgai: {error}") from None
    except ValueError as error:
        raise InvalidCheckpoint(f"{file}: {error}") from None


def _card(file: Path, metadata: dict[str, str]) -> dict[str, Any]:
    try:
        card = json.loads(metadata.get("card", "{}"))
    except (ValueError, RecursionError) as error:
        raise InvalidCheckpoint(f"{file}: its card is not JSON ({error})") from None
    if not isinstance(card, dict):
        raise InvalidCheckpoint(f"{file}: its card is not a JSON object")
    try:
        Habits.of_card(card)
    except ValueError as error:
        raise InvalidCheckpoint(f"{file}: {error}") from None
    return card
