"""The frozen benchmark: decisions whose candidates the referees have valued once. Knows nothing of printing.

One .npz file: `boards`, `dice` and `games` of the decisions, `starts` of their candidates (in the lexicographic order
of the afterstates, which are not stored), `sources` and `source` (who played, from which start), for every referee
`values:NAME` (the mover's equity in ten-thousandths, int16) and `full:NAME` (packed bits: valued at full depth; the
others are estimates, see judges.py), and `about`, JSON text.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bgai.arena.judges import candidates, indices
from bgai.arena.rating import Decisions
from bgai.files import write_atomically
from bgai.rules.moves import check_dice
from bgai.rules.position import check_boards

SHIPPED = Path(__file__).resolve().parent / "benchmark.npz"
UNIT = 10_000


class InvalidBenchmark(ValueError):
    """The file is no benchmark, or not one for these rules."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Decisions, and what each candidate is worth to the mover by each referee."""

    decisions: Decisions
    sources: np.ndarray
    """[N] text: who played, and from which start."""
    rows: np.ndarray
    """[M, 26] int8, the candidates seen by the opponent; those of decision i are starts[i] to starts[i + 1]."""
    starts: np.ndarray
    values: dict[str, np.ndarray]
    """By referee [M] float64, the mover's cubeless equity."""
    full: dict[str, np.ndarray]
    """By referee [M] bool: valued at full depth; the others are estimates."""
    about: dict[str, Any]

    @property
    def referees(self) -> tuple[str, ...]:
        return tuple(self.values)

    def __len__(self) -> int:
        return len(self.decisions.boards)

    def choices(self, chosen: np.ndarray) -> np.ndarray:
        """Candidate numbers [N] of the boards chosen [N, 26]. Raises ValueError for one that is no afterstate."""
        return indices(self.rows, self.starts, chosen)

    def errors(self, choice: np.ndarray, referee: str) -> tuple[np.ndarray, np.ndarray]:
        """Loss in every decision by candidate numbers [N] -> [N] float64, and [N] bool: it is an estimate."""
        values = self.values[referee]
        best = np.maximum.reduceat(values, self.starts[:-1])
        lost = np.rint((best - values[choice]) * UNIT) / UNIT  # 0.58 - 0.5 is a little more than 0.08
        return lost, ~self.full[referee][choice]


def save_benchmark(benchmark: Benchmark, path: str | os.PathLike[str]) -> None:
    """Write the file in one step."""
    names, source = np.unique(benchmark.sources, return_inverse=True)
    arrays: dict[str, Any] = {
        "boards": benchmark.decisions.boards,
        "dice": benchmark.decisions.dice,
        "games": benchmark.decisions.games.astype(np.int64),
        "starts": benchmark.starts.astype(np.int32),
        "sources": names.astype(np.str_),
        "source": source.astype(np.int16),
        "about": np.array(json.dumps(benchmark.about, ensure_ascii=False)),
    }
    for name, values in benchmark.values.items():
        whole = np.rint(values * UNIT)
        arrays[f"values:{name}"] = np.clip(whole, np.iinfo(np.int16).min, np.iinfo(np.int16).max).astype(np.int16)
        arrays[f"full:{name}"] = np.packbits(benchmark.full[name])
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    write_atomically(path, data.getvalue())


def load_benchmark(path: str | os.PathLike[str] = SHIPPED) -> Benchmark:
    """Read and check the file. Raises FileNotFoundError, and InvalidBenchmark when it is no benchmark."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no benchmark {path}; tools/make_benchmark.py makes it")
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _benchmark(arrays)
    except (zipfile.BadZipFile, EOFError, KeyError, IndexError, TypeError, ValueError) as error:
        raise InvalidBenchmark(f"{path} is no benchmark that can be read here: {error}") from error


def _benchmark(arrays: dict[str, np.ndarray]) -> Benchmark:
    boards = check_boards(arrays["boards"])
    dice = check_dice(arrays["dice"], len(boards))
    rows, starts = candidates(boards, dice)
    if not np.array_equal(starts, arrays["starts"]):
        raise ValueError("its candidates are not the afterstates that the rules give")
    referees = [name.partition(":")[2] for name in arrays if name.startswith("values:")]
    values = {name: arrays[f"values:{name}"].astype(np.float64) / UNIT for name in referees}
    full = {name: np.unpackbits(arrays[f"full:{name}"], count=len(rows)).astype(bool) for name in referees}
    games = arrays["games"]
    if not referees or games.shape != (len(boards),) or any(v.shape != (len(rows),) for v in values.values()):
        raise ValueError("its arrays do not fit each other")
    about = json.loads(str(arrays["about"]))
    sources = arrays["sources"][arrays["source"]]
    return Benchmark(Decisions(boards, dice, games), sources, rows, starts, values, full, about)
