"""The files of the page in web/, by their paths, and folders that are written whole. Knows no HTTP and no bots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from bgai.files import write_atomically

MODULE = "bgai"  # the folder of the JavaScript module, which knows no page
LIST = "bgai-files.json"  # what a written folder holds, so that it may be written again


class NotOurs(ValueError):
    """The folder holds something that was not written there by the same command; nothing was changed."""


def page_files(below: str = "") -> dict[str, bytes]:
    """The content of every file of the page by its path in web/, such as "app.js" and "bgai/bgai.js"; or of those
    in one folder, by their paths in it."""
    root = files("bgai.frontends").joinpath("web", *PurePosixPath(below).parts)
    found: dict[str, bytes] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.is_dir():
                walk(file, f"{prefix}{file.name}/")
            else:
                found[prefix + file.name] = file.read_bytes()

    walk(root, "")
    return found


def write_folder(folder: Path, content: Mapping[str, bytes], *, made_by: str) -> None:
    """Write these files, by paths with /, so that the folder holds nothing else but a list of them.

    An existing folder must be empty or hold only what `made_by` wrote there before; of that, files that are no
    longer wanted go. Each file is the old or the new one at any moment, and the last of `content` comes last.
    Raises NotOurs, OSError.
    """
    old = _written_before(folder, made_by)
    listed = json.dumps({"made_by": made_by, "files": sorted(content)}, indent=1).encode() + b"\n"
    # The list first: what it names and is not there does no harm, a file that it does not name would.
    both = {"made_by": made_by, "files": sorted({*content, *old})}
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / LIST, json.dumps(both, indent=1).encode() + b"\n")
    for path, data in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, data)
    for path in sorted(old - set(content)):
        (folder / path).unlink(missing_ok=True)
    write_atomically(folder / LIST, listed)


def _written_before(folder: Path, made_by: str) -> set[str]:
    """Paths that are there by an earlier run; none where there is no folder yet. Raises NotOurs."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    if not there:
        return set()
    try:
        told = json.loads((folder / LIST).read_bytes())
        known = {LIST, *told["files"]} if told["made_by"] == made_by else set()
    except (OSError, ValueError, TypeError, LookupError):
        known = set()
    foreign = sorted(there - known)
    if foreign:
        more = f" and {len(foreign) - 1} other files" if len(foreign) > 1 else ""
        raise NotOurs(
            f"{folder} holds {foreign[0]}{more} that {made_by} did not write there; give another folder, or empty it"
        )
    return there - {LIST}
