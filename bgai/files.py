"""Files that are the old ones or the new ones, never half of both. Knows nothing of what is in them."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write the whole file beside `path`, force it to the disk, then put it in its place in one step.

    A crash at any moment leaves the old file or the new one. A symbolic link stays a link: the file that it
    points at is replaced. Raises OSError and then leaves nothing behind.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file and is not replaced", str(target))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    _force_folder_to_disk(target.parent)


def _force_folder_to_disk(folder: Path) -> None:
    """The new name lives in the folder, which needs its own fsync; not every system can open a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
