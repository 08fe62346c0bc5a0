"""How a command shows that it works, and gives out what it has measured: to a file and as text. Knows nothing of what
that is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bgai.files import write_atomically

INTERRUPTED = 130


class StandardError:
    """Standard error, until its reader has gone: from then on what is written to it is lost, and is no error."""

    def write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
        except BrokenPipeError:
            self._let_go()

    def flush(self) -> None:
        try:
            sys.stderr.flush()
        except BrokenPipeError:
            self._let_go()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    @staticmethod
    def _let_go() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def progress_bar(*words: Any, **options: Any) -> tqdm:
    """tqdm's bar, which goes when the work is done and does not stop the work when nobody reads on."""
    return tqdm(*words, **options, file=StandardError(), dynamic_ncols=True, leave=False)


def report(lines: Sequence[str], data: Mapping[str, Any], file: Path | None, *, interrupted: bool) -> int:
    """Write the data to the file, if one is named, and print the lines, whether or not the file could be written.

    No lines mean that nothing was measured, and the file stays as it was. The exit code: 0, or 130 after Ctrl-C.
    Raises OSError for the file, after the lines are printed.
    """
    try:
        if file is not None and lines:
            text = json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"
            write_atomically(file, text.encode(errors="backslashreplace"))  # a path need not be UTF-8
    finally:
        if interrupted:
            print("interrupted; what was played so far:" if lines else "interrupted", file=StandardError())
        for line in lines:
            print(line)
    return INTERRUPTED if interrupted else 0
