"""A program that runs beside bgai and is talked to by lines. Knows no protocol but the word that ends it, `quit`."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from bgai.engines.engine import MOST_TEXT, Gone


class Program:
    """A running program, its lines read by a thread so that waiting for them can end."""

    def __init__(self, words: list[str]) -> None:
        self._child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for bgai
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read_lines, args=(self._child.stdout, self._lines), daemon=True).start()
        self.stop = weakref.finalize(self, _end, self._child)

    def say(self, *lines: str) -> None:
        """Raises Gone."""
        try:
            assert self._child.stdin is not None
            self._child.stdin.write("".join(line + "\n" for line in lines).encode())
            self._child.stdin.flush()
        except OSError:
            raise Gone("died" + self._code()) from None

    def lines(self, seconds: float) -> Iterator[str]:
        """What it says from now on, for so long. Raises Gone."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Gone(f"did not answer within {seconds:g} s") from None
            if line is None:
                raise Gone("died" + self._code())
            yield line

    def _code(self) -> str:
        try:
            return f" with exit code {self._child.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            return ""


def _read_lines(stream: Any, lines: queue.Queue[str | None]) -> None:
    with stream:
        try:
            while line := stream.readline(MOST_TEXT):
                lines.put(line.decode(errors="replace").strip())
        except (OSError, ValueError):
            pass
    lines.put(None)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Let the program quit, or kill it."""
    try:
        assert child.stdin is not None
        with child.stdin as stdin:
            stdin.write(b"quit\n")
    except OSError:
        pass
    try:
        child.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
