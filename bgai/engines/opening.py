"""Engines by name: which kinds there are, and how long they may think. Knows no protocol."""

from __future__ import annotations

import os

from bgai.bots import UnknownBot
from bgai.engines.engine import SECONDS, EngineBot
from bgai.engines.function import PythonBot
from bgai.engines.ubgi import UbgiBot
from bgai.engines.wildbg import HttpBot

KINDS = ("ubgi", "http", "https", "python")


def open_engine(text: str) -> EngineBot:
    """The engine that `text` names: ubgi:COMMAND, http:URL or python:MODULE:FUNCTION. Raises UnknownBot."""
    kind, _, rest = text.partition(":")
    seconds = _seconds(os.environ.get("BGAI_ENGINE_SECONDS", ""))
    if kind == "ubgi":
        return UbgiBot(rest, seconds=seconds)
    if kind == "python":
        return PythonBot(rest, seconds=seconds)
    if kind not in KINDS:
        raise UnknownBot(f"{text!r} is no engine; there are ubgi:COMMAND, http:URL and python:MODULE:FUNCTION")
    if rest.startswith("//"):
        return HttpBot(text, seconds=seconds)
    return HttpBot(rest if "://" in rest else f"{kind}://{rest}", seconds=seconds)


def _seconds(text: str) -> float:
    try:
        seconds = float(text or SECONDS)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise UnknownBot(f"BGAI_ENGINE_SECONDS is a number of seconds above 0, not {text!r}")
    return seconds
