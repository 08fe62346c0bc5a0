"""The folder of a run: what lies where, written so that nothing is ever half there. Knows nothing of learning.

config.toml  log.txt  metrics.jsonl  tensorboard/  checkpoints/games-*.safetensors  resume.pt  bots/  results.json
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from bgai.files import InUse, locked, remove_leftovers, write_atomically
from train.config import Config, ConfigError, from_toml

RESUME_KEYS = {"learner", "playing", "batch", "games", "seconds", "tally"}


class RunError(ValueError):
    """A run folder cannot be used as asked; the message says why and what would be right."""


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.log_file = path / "log.txt"
        self.metrics = path / "metrics.jsonl"
        self.tensorboard = path / "tensorboard"
        self.checkpoints = path / "checkpoints"
        self.resume = path / "resume.pt"
        self.bots = path / "bots"
        self.results = path / "results.json"
        self.lock = path / "lock"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from training in this folder, which is made when it is missing. Raises RunError when
        another one is training in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(self.lock))
            except InUse:
                raise RunError(
                    f"another process is training in {self.path}; wait until it ends, or give another folder with "
                    "--run"
                ) from None
            yield

    def remove_leftovers(self) -> None:
        """Clear away what a killed run has left half written; only for who holds the folder."""
        remove_leftovers(list(self.path.rglob(".*.tmp")))

    def check_is_new(self) -> None:
        """Raises RunError when a run, or anything else, is there already, or the folder's name is no text."""
        if not str(self.path.absolute()).isprintable():
            raise RunError(f"{str(self.path)!r}: TensorBoard needs a folder whose name is printable UTF-8 text")
        if self.config.exists():
            raise RunError(f"{self.path} holds a run already: --resume goes on with it, --run FOLDER begins another")
        others = (path for path in self.path.rglob("*") if path.suffix != ".tmp" and path != self.lock)
        if any(path.is_file() for path in others):  # empty folders are a start that was cut short
            raise RunError(f"{self.path} is not empty and holds no run; give another folder with --run")

    def begin(self, config: Config) -> None:
        """Make the folder of a new run. Raises RunError when one is there already."""
        self.check_is_new()
        self.make_folders()
        write_atomically(self.config, config.to_toml().encode())

    def make_folders(self) -> None:
        """Make the folders of the bot files where they are missing."""
        for folder in (self.checkpoints, self.bots):
            folder.mkdir(parents=True, exist_ok=True)

    def read_config(self) -> Config:
        """The config that the run was begun with. Raises RunError."""
        try:
            return from_toml(self.config.read_text(encoding="utf-8"), source=str(self.config))
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no run: its config.toml is missing") from None
        except UnicodeDecodeError:
            raise RunError(f"the run's config cannot be read: {self.config} is not UTF-8 text") from None
        except ConfigError as error:
            raise RunError(f"the run's config cannot be read: {error}") from None

    def log(self, sentence: str) -> None:
        """Add a line to the readable log."""
        with open(self.log_file, "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {sentence}\n")

    def read_results(self) -> dict[str, Any]:
        """The results at the end, the lines of their table in "table". Raises RunError."""
        try:
            results: dict[str, Any] = json.loads(self.results.read_text(encoding="utf-8"))
            table = results["table"]
        except (ValueError, KeyError, TypeError, RecursionError):
            table = None
        if not isinstance(table, list) or not all(isinstance(line, str) for line in table):
            raise RunError(f"{self.results} is damaged; remove it, and --resume measures the bots again")
        return results

    def add_metrics(self, line: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl."""
        with open(self.metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def cut_metrics(self, games: int) -> None:
        """Drop lines that were written after the resume point, and a last line that a crash cut short."""
        if self.metrics.exists():
            kept = [line for line in read_metrics(self.metrics) if line["games"] <= games]
            write_atomically(self.metrics, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def checkpoint(self, games: int) -> Path:
        """The bot file of the averaged weights after so many games."""
        return self.checkpoints / f"games-{games:09d}.safetensors"

    def save_resume(self, state: dict[str, Any]) -> None:
        """Write the resume point atomically, with a digest of what it holds."""
        buffer = io.BytesIO()
        torch.save({**state, "sha256": _digest(state)}, buffer)
        write_atomically(self.resume, buffer.getvalue())

    def load_resume(self) -> dict[str, Any] | None:
        """The resume point, None when there is none yet. Only tensors and plain values are read, never code.

        Raises RunError when it is damaged, or gone from a run that had one.
        """
        if not self.resume.exists():
            lines = read_metrics(self.metrics) if self.metrics.exists() else []
            played = max((line["games"] for line in lines), default=0)
            if played:
                raise RunError(
                    f"the resume point {self.resume} is gone, but {self.metrics.name} tells of {played:,} games; put "
                    "it back, or begin a new run with --run FOLDER"
                )
            return None
        try:
            state = torch.load(self.resume, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises many kinds, some with the advice to unpickle anyway
            raise RunError(
                f"the resume point {self.resume} is damaged or was not written by bgai ({type(error).__name__}); "
                f"the bot files in {self.checkpoints} are not touched; begin a new run with --run FOLDER"
            ) from None
        if not isinstance(state, dict) or not RESUME_KEYS <= state.keys():
            raise RunError(f"{self.resume} is no resume point of a bgai run")
        digest = state.pop("sha256", None)  # older ones have none
        if digest is not None and digest != _digest(state):
            raise RunError(
                f"the resume point {self.resume} is damaged: it does not hold what was saved; the bot files in "
                f"{self.checkpoints} are not touched; begin a new run with --run FOLDER"
            )
        try:
            whole = _is_whole(state, self.read_config().run.games)
        except (KeyError, TypeError, AttributeError):  # of another kind than it should be
            whole = False
        if not whole:
            raise RunError(
                f"the resume point {self.resume} holds what cannot be; the bot files in {self.checkpoints} are not "
                "touched; begin a new run with --run FOLDER"
            )
        return state


def _digest(state: dict[str, Any]) -> str:
    """SHA-256 of all tensors and plain values, in order."""
    digest = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            digest.update(f"{value.dtype} {tuple(value.shape)} ".encode())
            digest.update(value.detach().cpu().numpy().tobytes())
        elif isinstance(value, dict | list | tuple):
            digest.update(f"{len(value)} of ".encode())
            for part in itertools.chain(*value.items()) if isinstance(value, dict) else value:
                add(part)
        else:
            digest.update(f"{value!r} ".encode())

    add(state)
    return digest.hexdigest()


def _is_whole(state: dict[str, Any], games: int) -> bool:
    """Whether a resume point of a run of so many games can be so; what the learner keeps it checks itself."""
    tally = dict(state["tally"])
    numbers = [state["seconds"], *tally.pop("squares"), *tally.values()]
    playing, model = state["playing"], state["learner"]["model"]
    return (
        all(isinstance(count, int) and count >= 0 for count in (state["batch"], state["games"]))
        and state["games"] <= games
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and [(w.shape, w.dtype) for w in playing] == [(w.shape, w.dtype) for w in model]
        and all(bool(torch.isfinite(weights).all()) for weights in playing)
    )


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics.jsonl that are whole."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and isinstance(line.get("games"), int) and abs(line["games"]) < 2**63:
            lines.append(line)
    return lines
