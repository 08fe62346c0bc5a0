"""How long work shows that it goes on, and goes on when nobody reads that any more; what is safe to show."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

from tqdm import tqdm


def printable(text: str) -> str:
    """The text, with ? for what could do something to a terminal or a picture other than be read."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


class Lasting:
    """Standard output or error, until its reader has gone: from then on what is written to it is lost, and is no
    error."""

    def __init__(self, name: Literal["stdout", "stderr"]) -> None:
        self._name = name

    def write(self, text: str) -> None:
        try:
            self._stream().write(text)
        except BrokenPipeError:
            self._let_go()

    def flush(self) -> None:
        try:
            self._stream().flush()
        except BrokenPipeError:
            self._let_go()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream(), name)

    def _stream(self) -> Any:
        return getattr(sys, self._name)

    def _let_go(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream().fileno())


def progress_bar(*words: Any, **options: Any) -> tqdm:
    """tqdm's bar, which goes when the work is done and does not stop the work when nobody reads on."""
    return tqdm(*words, **{"leave": False, "dynamic_ncols": True, **options}, file=Lasting("stderr"))


def say_beside(bar: tqdm, sentence: str) -> None:
    """Print a sentence above a bar that goes on; lost where nobody reads standard output."""
    bar.clear()
    print(sentence, file=Lasting("stdout"), flush=True)
    bar.refresh()
