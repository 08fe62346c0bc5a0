"""The folder of a run: what lies where, written so that nothing is ever half there. Knows nothing of learning.

config.toml  log.txt  metrics.jsonl  tensorboard/  checkpoints/games-*.safetensors  resume.pt  bots/  results.json
"""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import torch

from bgai.files import write_atomically
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

    def begin(self, config: Config) -> None:
        """Make the folder of a new run. Raises RunError when one is there already."""
        if self.config.exists():
            raise RunError(f"{self.path} holds a run already: --resume goes on with it, --run FOLDER begins another")
        if any(
            path.is_file() and path.suffix != ".tmp" for path in self.path.rglob("*")
        ):  # empty folders are a start that was cut short
            raise RunError(f"{self.path} is not empty and holds no run; give another folder with --run")
        for folder in (self.path, self.checkpoints, self.bots):
            folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.config, config.to_toml().encode())

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
        """Write the resume point atomically."""
        buffer = io.BytesIO()
        torch.save(state, buffer)
        write_atomically(self.resume, buffer.getvalue())

    def load_resume(self) -> dict[str, Any] | None:
        """The resume point, None when there is none yet. Only tensors and plain values are read, never code.

        Raises RunError when it is damaged.
        """
        if not self.resume.exists():
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
        return state


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics.jsonl that are whole."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("games"), int):
            lines.append(line)
    return lines
