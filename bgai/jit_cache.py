"""Where numba keeps compiled kernels when it finds no place by itself, and word of it when it compiles. Knows no
kernels.

numba writes beside the modules, or else into the user's cache folder, and refuses a kernel when it can write to
neither: then a package on a read-only disk could not even be imported.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba


def find_place() -> None:
    """When numba has no place to keep kernels in, give it the user's own folder among the temporary files. Without
    even that, warn, and let every process compile anew."""
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:
        folder = _private_folder()
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)
            return
        numba.core.dispatcher.Dispatcher.enable_caching = lambda self: None  # type: ignore[method-assign]
        warnings.warn(
            "bgai finds no folder to keep compiled code in, so every start takes a minute longer; NUMBA_CACHE_DIR "
            "can name one",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def told_of_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` once when a kernel is being compiled in here, because none is kept that fits."""
    from numba.core import event

    class Listener(event.Listener):
        told = False

        def on_start(self, _: object) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, _: object) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


def _probe() -> None:
    """A function to ask numba with."""


def _private_folder() -> Path | None:
    """A folder that no one else can write to, because numba unpickles what lies in it; None when there is none."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    try:
        folder = Path(tempfile.gettempdir(), f"bgai-jit-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    if not stat.S_ISDIR(about.st_mode):
        return None
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
        return None
    return folder
