"""bgai: backgammon bots to use, measure and train. This package plays; the package `train` trains.

import bgai
pos = bgai.Position.start()
print(bgai.load("strong").choose(pos, (3, 1)))
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from typing import Any

    from bgai.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """All of `bgai.public` is imported when the first of its names is asked for: a command begins at once, and can be
    interrupted from there on."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'bgai' has no attribute {name!r}")
    public = importlib.import_module("bgai.public")
    if name == "__all__":
        return public.__all__
    if name in public.__all__:
        return getattr(public, name)
    if name in globals():  # a room that has come along
        return globals()[name]
    raise AttributeError(f"module 'bgai' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *importlib.import_module("bgai.public").__all__})
