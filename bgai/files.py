"""Files that are the old ones or the new ones, never half of both, and that one process at a time writes. Knows
nothing of what is in them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")


class InUse(ValueError):
    """Another process holds a lock."""


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write the whole file beside `path`, force it to the disk, then put it in its place in one step.

    A crash at any moment leaves the old file or the new one. A symbolic link stays a link: the file that it
    points at is replaced. Raises OSError, which names `path`, and then leaves nothing behind.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file and is not replaced", str(target))
    if target.exists() and not os.access(target, os.W_OK):  # a new file in its place would not ask
        raise PermissionError(errno.EACCES, "is write-protected and is not replaced", str(target))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.errno is not None:  # those of a full disk name no file
            error.filename = os.fspath(path)
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


def check_can_be_written(path: Path, option: str) -> None:
    """Say before long work that its result could not be written; `option` is where the path came from. Raises
    ValueError."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {folder}")
    if path.is_dir():
        raise ValueError(f"{option} {path} is a folder; it must be a file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path} is not a regular file and is not replaced")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} {path}: the folder {folder} cannot be written to")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"{option} {path} is write-protected and is not replaced")


def check_apart(outputs: Mapping[str, Path | None], source: str | os.PathLike[str] | None = None) -> None:
    """Say before anything is written that an output, by the option it came from, would replace what is read or
    another output. Raises ValueError."""
    given = [(option, path) for option, path in outputs.items() if path is not None]
    for number, (option, path) in enumerate(given):
        if source is not None and _same_file(path, source):
            raise ValueError(f"{option} {path} would replace the file that is read; give another name")
        for other, taken in given[:number]:
            if _same_file(path, taken):
                raise ValueError(f"{other} and {option} are the same file, {path}; give two names")


def _same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether both names mean one file, there or not yet, also by links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove those of the files that killed calls of `write_atomically` have left. Only for one who holds the lock of
    all that is written there: what another is just writing looks the same."""
    for path in paths:
        if _LEFTOVER.fullmatch(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock by this name, whose file is there as long as it is held.

    The system takes the lock back when the process ends, however it ends; the file that a killed one leaves stops
    nobody. On a disk that cannot lock, nobody is stopped either. Raises InUse when another holds it, OSError when the
    file cannot be made.
    """
    handle = _lock(path)
    try:
        yield
    finally:
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(handle)
        with contextlib.suppress(OSError):
            path.unlink()
        if sys.platform != "win32":
            os.close(handle)


def _lock(path: Path) -> int:
    """The open file of a lock that is now held."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock_open_file(handle)
        except BlockingIOError:
            os.close(handle)
            raise InUse(f"another process holds {path}") from None
        # Whoever held it may have removed the file since it was opened; such a lock stops nobody.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)


def _lock_open_file(handle: int) -> None:
    """Raises BlockingIOError when another holds the lock."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise BlockingIOError from None
