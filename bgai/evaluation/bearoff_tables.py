"""Both bearoff tables together: what they say of boards, and the file in the user's cache folder that keeps them.

The tables are optional. Nothing but `cached_tables` and `open_tables` looks for the file, training calls neither, and
without a file everything works as it would if there were no tables. Opening a file cannot run code.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
from numba import njit

from bgai.evaluation.bearoff import (
    FULL,
    MOST_ROLLS,
    MOST_ROLLS_FIRST,
    POSITIONS,
    OneSided,
    build_one_sided,
    index_of,
    not_later,
)
from bgai.evaluation.cube import CENTRE, MINE, THEIRS, Stakes
from bgai.evaluation.two_sided import DEFAULT_MEN, Cube, TwoSided, build_two_sided, men_of
from bgai.files import write_atomically
from bgai.rules.outcome import OUTCOMES
from bgai.rules.position import BAR, HOME, OPPONENT_BAR, check_boards

FORMAT = "bgai-bearoff"
VERSION = "2"  # of the file: raise it whenever the numbers or the arrays change
FILE = f"bearoff-v{VERSION}.safetensors"


class DamagedTables(ValueError):
    """The file does not hold what was written; the message says why, and what mends it."""


@dataclass(frozen=True, eq=False)
class BearoffTables:
    """The one-sided table of all bearoffs, and the two-sided one of those with few men."""

    one: OneSided
    two: TwoSided


def exact_outcomes(tables: BearoffTables, boards: np.ndarray, outcomes: np.ndarray) -> int:
    """Put the tables' chances over the estimates [N, 6] of those boards [N, 26], seen by the player to roll, that are
    pure bearoffs -> how many are.

    In a pure bearoff all men of both players are in their own homes and the player to roll has some left. With few
    men on both sides the chances are exact; with more, exact up to both playing for speed alone. There a gammon is a
    man not yet off when the other is done; a backgammon cannot be. Where the opponent has no men left, the outcome
    is what the rules say. Each row depends on its board alone.
    """
    return int(_set_exact(tables.one.rolls, tables.one.first, tables.two.hold, boards, outcomes))


def bearoff_outcomes(tables: BearoffTables, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which boards [N, 26] are pure bearoffs -> mask [N] bool, and `exact_outcomes` of them -> [N, 6] float32, zeros
    elsewhere. Raises InvalidPosition."""
    outcomes = np.zeros((len(boards), OUTCOMES), dtype=np.float32)
    exact_outcomes(tables, check_boards(boards), outcomes)
    return np.asarray(outcomes.any(axis=1)), outcomes


def set_exact_money(tables: BearoffTables, boards: np.ndarray, stakes: Stakes, values: np.ndarray) -> None:
    """Put the exact cubeful equities over cube values [N, 3] of money games, seen by the player on roll, where the
    two-sided table has the board [N, 26]. Jacoby's rule changes nothing there: nobody can lose a gammon."""
    men = np.stack([np.maximum(boards, 0).sum(axis=1), np.maximum(-boards, 0).sum(axis=1)])
    few = ((men > 0) & (men <= tables.two.men)).all(axis=0)
    home = (boards[:, HOME + 1 :] <= 0).all(axis=1) & (boards[:, : BAR - HOME] >= 0).all(axis=1)  # both are at home
    rows = np.flatnonzero(few & home & (stakes.my_away == 0))
    mine, theirs = (
        np.maximum(boards[rows, 1 : HOME + 1], 0),
        np.maximum(-boards[rows, BAR - 1 : BAR - HOME - 1 : -1], 0),
    )
    for owner, cube in ((CENTRE, Cube.CENTRED), (MINE, Cube.MINE), (THEIRS, Cube.THEIRS)):
        own = stakes.owner[rows] == owner
        if not own.any():
            continue
        if cube is Cube.THEIRS:
            values[rows[own], 0] = tables.two.equity(mine[own], theirs[own], cube)
            continue
        decision = tables.two.decision(mine[own], theirs[own], cube)
        may = ~np.isnan(values[rows[own], 2])
        values[rows[own], 0] = np.where(may, decision.hold, values[rows[own], 0])
        values[rows[own], 1] = np.where(may, decision.taken, np.nan)


def build_tables(men: int = DEFAULT_MEN, progress: Callable[[int], object] | None = None) -> BearoffTables:
    """The tables, calculated; `men` and `progress` as in `build_two_sided`. Raises ValueError."""
    two = build_two_sided(men, progress)  # first, because it says what is wrong with `men`
    return BearoffTables(build_one_sided(), two)


def cached_tables(environment: Mapping[str, str]) -> BearoffTables | None:
    """The tables if their file lies in the cache folder and BGAI_BEAROFF does not turn them off; else None.

    A damaged file is told of in a sentence and built anew. A process reads the same file once.
    """
    path = table_file(environment)
    if turned_off(environment) or not os.access(path, os.R_OK) or not path.is_file():
        return None
    return open_tables(path.parent)


def turned_off(environment: Mapping[str, str]) -> bool:
    """Whether BGAI_BEAROFF says that bots are not to use the tables."""
    return environment.get("BGAI_BEAROFF", "").strip().lower() in ("0", "off", "no", "false")


def open_tables(folder: Path, men: int = DEFAULT_MEN) -> BearoffTables:
    """The tables from the file in the folder; a missing file is made, a damaged one is told of and made anew.

    Making takes about a second once it is compiled. A folder that cannot be written does no harm.
    """
    path = folder / FILE
    try:
        status = path.stat()
        return _read_once(path, status.st_mtime_ns, status.st_size)
    except DamagedTables as error:
        logging.getLogger("bgai").warning("%s; it is built anew", error)
    except OSError:
        pass
    tables = build_tables(men)
    with contextlib.suppress(OSError):
        write_tables(path, tables)
    return tables


def read_tables(path: Path) -> BearoffTables:
    """The tables in a file. Raises DamagedTables, and OSError when there is none."""
    data = path.read_bytes()  # and not by name: the system's errors come as OSErrors, the format's not
    try:
        arrays = safetensors.numpy.load(data)
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
    except safetensors.SafetensorError as error:
        raise DamagedTables(f"{path} is damaged: {error}") from error
    if (metadata.get("format"), metadata.get("version")) != (FORMAT, VERSION):
        raise DamagedTables(f"{path} is damaged: it is no file of bearoff tables, version {VERSION}")
    if metadata.get("sha256") != _checksum(arrays):
        raise DamagedTables(f"{path} is damaged: its checksum is wrong")
    if not _are_tables(arrays):
        raise DamagedTables(f"{path} is damaged: its arrays are not those of bearoff tables")
    return BearoffTables(OneSided(arrays["rolls"], arrays["first"], arrays["mean"]), TwoSided(arrays["hold"]))


def write_tables(path: Path, tables: BearoffTables) -> None:
    """Write the file, and its folder if need be. Raises OSError."""
    one = tables.one
    arrays = {"rolls": one.rolls, "first": one.first, "mean": one.mean, "hold": tables.two.hold}
    metadata = {"format": FORMAT, "version": VERSION, "sha256": _checksum(arrays)}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, safetensors.numpy.save(arrays, metadata=metadata))


def table_file(environment: Mapping[str, str]) -> Path:
    """Where the file of the tables lies, or would."""
    return cache_folder(environment) / FILE


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where files lie that can be made again: BGAI_CACHE, BGAI_HOME, or bgai in this system's folder for caches."""
    if own := environment.get("BGAI_CACHE") or environment.get("BGAI_HOME"):
        return Path(own)
    if sys.platform == "win32":
        folder = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    else:
        folder = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        if not os.path.isabs(folder):  # the XDG specification says to ignore a relative path
            folder = Path.home() / ".cache"
    return folder / "bgai"


@lru_cache(maxsize=1)
def _read_once(path: Path, modified: int, size: int) -> BearoffTables:
    """`read_tables` of the file as it is now: another one has another time or size."""
    return read_tables(path)


def _are_tables(arrays: Mapping[str, np.ndarray]) -> bool:
    """Kernels trust the shapes, so a file that a stranger signed must have them too."""
    hold = arrays.get("hold")
    try:
        shape = (positions := len(hold), positions, len(Cube)) if hold is not None else ()
        men_of(shape[0] if shape else 0)
    except (TypeError, ValueError):
        return False
    shapes = {
        "rolls": (POSITIONS, MOST_ROLLS + 1),
        "first": (POSITIONS - FULL, MOST_ROLLS_FIRST + 1),
        "mean": (POSITIONS,),
        "hold": shape,
    }
    return {name: array.shape for name, array in arrays.items()} == shapes and all(
        array.dtype == np.float32 for array in arrays.values()
    )


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


@njit(cache=True, nogil=True)
def _set_exact(rolls, first, hold, boards, outcomes):
    """`exact_outcomes` on the tables' arrays."""
    mine = np.empty(HOME, dtype=np.int64)
    theirs = np.empty(HOME, dtype=np.int64)
    found = 0
    for i in range(boards.shape[0]):
        place = HOME + 1  # most boards have a man between the homes and are done with at the first of them
        while place < BAR - HOME and boards[i, place] == 0:
            place += 1
        if place < BAR - HOME or not _set_homes(boards[i], mine, theirs):
            continue
        found += 1
        my_index, their_index = index_of(mine), index_of(theirs)
        gammon = 0.0
        gammon_loss = 0.0
        if max(my_index, their_index) < hold.shape[0]:
            win = 0.5 + 0.5 * np.float64(hold[my_index, their_index, 0])
        else:
            win = not_later(rolls[my_index], rolls[their_index])
            if their_index >= FULL:
                gammon = min(not_later(rolls[my_index], first[their_index - FULL]), win)
            if my_index >= FULL:
                gammon_loss = min(1 - not_later(first[my_index - FULL], rolls[their_index]), 1 - win)
        outcomes[i] = 0
        outcomes[i, 0] = win - gammon
        outcomes[i, 1] = gammon
        outcomes[i, 3] = 1 - win - gammon_loss
        outcomes[i, 4] = gammon_loss
    return found


@njit(cache=True, nogil=True)
def _set_homes(board, mine, theirs):
    """Put the men of a pure bearoff into mine [6] and theirs [6]; False, and anything in them, for another board that
    has none between the homes."""
    if board[OPPONENT_BAR] != 0 or board[BAR] != 0:
        return False
    some = False
    for point in range(HOME):
        mine[point] = board[1 + point]
        theirs[point] = -board[BAR - 1 - point]
        if mine[point] < 0 or theirs[point] < 0:
            return False
        some = some or mine[point] > 0
    return some
