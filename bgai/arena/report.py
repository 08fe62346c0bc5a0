"""How a command gives out what it has measured: to a file and as text. Knows nothing of what that is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bgai.files import write_atomically
from bgai.progress import Lasting

INTERRUPTED = 130


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
            print("interrupted; what was played so far:" if lines else "interrupted", file=Lasting("stderr"))
        for line in lines:
            print(line)
    return INTERRUPTED if interrupted else 0
