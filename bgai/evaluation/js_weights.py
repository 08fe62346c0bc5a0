"""A bot as one file for the JavaScript module in bgai/frontends/web/bgai, whose file.js reads it. Knows no page.

Bytes 0-7 are MAGIC, 8-11 the version and 12-15 the length of the header (uint32, little-endian), 16-47 the SHA-256 of
all that follows. The header is JSON with spaces behind it up to a multiple of four bytes; then come the weights,
float32, little-endian: of each layer [out, in] row by row, then its bias.
"""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np

from bgai.evaluation.cube import CLASSES, EFFICIENCY
from bgai.evaluation.habits import Habits
from bgai.evaluation.match_equity import match_equity
from bgai.evaluation.network import Network
from bgai.rules.position import start_board

MAGIC = b"bgai-js\n"
VERSION = 1


def js_weights(network: Network, *, name: str, habits: Habits | None = None) -> bytes:
    """The file of a bot. With the weights it holds all that Python has in other places: the habits, how live the cube
    is, the match equity table, and what the network gives to the opening, which the reader checks."""
    table = match_equity()
    header = {
        "name": name,
        "encoding": network.encoding.name,
        "shapes": [list(weights.shape) for weights, _ in network.layers],
        "habits": as_js(habits),
        "efficiency": dict(zip(CLASSES, EFFICIENCY.tolist(), strict=True)),
        "match_equity": {"pre": table.pre[1:, 1:].tolist(), "post": table.post[1:].tolist()},
        "opening": network.outcomes_of(start_board()[None])[0].tolist(),
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    numbers = [
        array.astype("<f4").tobytes() for layer in network.layers for array in map(np.ascontiguousarray, layer)
    ]
    content = text + b"".join(numbers)
    return MAGIC + struct.pack("<II", VERSION, len(text)) + hashlib.sha256(content).digest() + content


def as_js(habits: Habits | None) -> dict[str, float | str] | None:
    """Habits as JSON for JavaScript, whose numbers do not hold every seed: that is text."""
    return None if habits is None else {**habits.as_card(), "seed": str(habits.seed)}
