"""A training run from its first random weights to its last bot, top to bottom in the order things happen.

Two things go on at once: threads play batch k + 1 with the weights learned from batches up to k - 1, while the
learner goes through batch k. This hand-over is fixed, and dice and sample order are functions of the seed and a
counter, so a run can be repeated, and resumed, to the bit.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

import bgai.bots
from bgai.arena.luck import open_eyes
from bgai.bots import ValueBot
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.network import Network
from bgai.progress import Lasting, progress_bar, say_beside
from train import strength
from train.config import Config
from train.folder import RunError, RunFolder
from train.grow import grown, revived, with_encoding
from train.learner import Learner, NotFinite, Pairs, schedule
from train.lessons import mean_of, start_lesson
from train.model import to_network
from train.selfplay import Games, SelfPlay, play_games

OUTCOME_NAMES = ("win", "gammon", "backgammon", "loss", "gammon_loss", "backgammon_loss")
ARENA_SEED = 2026
STOPPING = "stopping after this batch, and its measurement where one is due; Ctrl-C again stops at once"
REVIVE_GAMES = 400  # that show which units are dead: some 25,000 positions
SKETCH_RATE = 1e-3  # the sketch's learning rate at the start


def train(config: Config, folder: RunFolder, *, quiet: bool = False) -> bool:
    """Begin the run of this folder or go on with it; True when it is finished, False when it was stopped.

    Raises RunError when the resume point is damaged or the device is missing, and when the loss stops being
    finite: the last good resume point then stays.
    """
    run, learning, report = config.run, config.learning, config.report
    check_device(run.device)
    torch.set_num_threads(run.learner_threads)
    inputs = encoding(config.network.encoding)
    learner = Learner(
        inputs,
        hidden=config.network.hidden,
        optimizer=learning.optimizer,
        minibatch=learning.minibatch,
        average=learning.average,
        weight_decay=learning.weight_decay,
        device=run.device,
        seed=run.seed,
        equity=learning.equity,
        rivalry=learning.rivalry,
    )
    sketcher = sketch_learner(config)
    others = [network.outcomes for network in committee(config)]

    state = folder.load_resume()
    start = starting_network(config) if state is None else None
    if start is not None:
        if early := unfinished(Path(config.network.start)):
            folder.log(early)
            print(early, file=Lasting("stdout"), flush=True)
        if config.network.revive:
            start = with_living_units(start, run.seed, folder)
        learner.begin_with(start)
        if sketcher and start.sketch is not None:
            if start.sketch.hidden == config.network.sketch:
                sketcher.begin_with(start.sketch)
            else:
                folder.log(f"the sketch begins with random weights: {_sketch_sizes(start, config)}")

    def newest() -> list[torch.Tensor]:
        weights = learner.averaged if learning.play_average else learner.parameters
        return [tensor.detach().clone() for tensor in weights]

    def newest_sketch() -> list[torch.Tensor]:
        return [tensor.clone() for tensor in sketcher.averaged] if sketcher else []

    done, batch, seconds_before = 0, 0, 0.0
    playing, playing_sketch = newest(), newest_sketch()
    tally = Tally()
    if state is not None:
        try:
            learner.restore(state["learner"])
            if sketcher:
                sketcher.restore(state["sketch"])
            tally = Tally.restored(state["tally"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{folder.resume} does not fit this run: {error}") from None
        done, batch, seconds_before = state["games"], state["batch"], state["seconds"]
        playing, playing_sketch = state["playing"], state.get("playing_sketch", [])
        folder.cut_metrics(done)
        folder.log(f"resumed after {done:,} games")
    else:
        folder.cut_metrics(-1)  # of a start that was killed before its first resume point
        folder.log(f"begun: {len(learner.parameters)} tensors, seed {run.seed}, device {run.device}")
    opponents, missing = strength.open_opponents(report.opponents)
    eyes = open_eyes() if report.luckless else None
    for sentence in missing:
        folder.log(f"not among the opponents: {sentence}")
    began = time.monotonic()

    def seconds() -> float:
        return seconds_before + time.monotonic() - began

    def averaged() -> Network:
        sketch = to_network(sketcher.encoding, sketcher.averaged) if sketcher else None
        return replace(to_network(inputs, learner.averaged), sketch=sketch).halved()

    def card() -> dict[str, Any]:
        return {
            "description": f"{inputs.name} inputs, hidden {list(config.network.hidden)}, self-play by one ply",
            "run": folder.path.name,
            "games": done,
            "minutes": round(seconds() / 60, 2),
            "seed": run.seed,
            "config": config.to_toml(),
        }

    def save_resume() -> None:
        board.flush()
        folder.save_resume(
            {
                "learner": learner.state(),
                "sketch": sketcher.state() if sketcher else None,
                "playing": playing,
                "playing_sketch": playing_sketch,
                "batch": batch,
                "games": done,
                "seconds": seconds(),
                "tally": tally.as_numbers(),
            }
        )

    def lambda_at(share: float) -> float:
        return learning.lambda_start + (learning.lambda_end - learning.lambda_start) * share

    def start_batch(pool: ThreadPoolExecutor) -> Any:
        return start_lesson(
            mean_of([to_network(inputs, playing).halved().outcomes, *others]),
            seed=run.seed,
            first=done,
            count=min(batch_size(done, run.first_batch_games, run.batch_games), run.games - done),
            lam=lambda_at(done / run.games),
            all_dice=learning.all_dice,
            ways=SelfPlay(
                run.scattered, run.explore, run.sift, learning.without_luck, learning.luck_by_network, learning.rivals
            ),
            sketch=to_network(sketcher.encoding, playing_sketch).halved().outcomes if sketcher else None,
            workers=run.workers,
            pool=pool,
        )

    def measure_strength() -> str:
        """Write down how strong the averaged weights are, and keep them as a bot file."""
        network = averaged()
        save_checkpoint(folder.checkpoint(done), network, card())
        if not report.strength_games:
            return ""
        bot = ValueBot(network, name="now")
        results = strength.measure(bot, opponents, games=report.strength_games, seed=ARENA_SEED, eyes=eyes)
        scores = {name: result.score for name, result in results.items()}
        numbers = strength.as_numbers(scores, report.strength_games)
        measured = {"luckless": report.luckless, "strength": numbers}
        folder.add_metrics({"games": done, "seconds": round(seconds(), 2), **measured})
        for name, score in scores.items():
            board.add_scalar(f"strength{'_less_luck' * report.luckless}/{name}", score.mean, done)
        sentence = ", ".join(f"{score} against {name}" for name, score in scores.items())
        folder.log(f"{done:,} games: {sentence}")
        return sentence

    with (
        # Hides what was written after the resume point, by a run that was then killed.
        SummaryWriter(str(folder.tensorboard), purge_step=done + 1 if state else 0) as board,
        ThreadPoolExecutor(run.workers) as pool,
        progress_bar(total=run.games, initial=done, unit="game", disable=quiet, smoothing=0.05, leave=True) as bar,
        stop_on_signal() as stop,
    ):
        if state is None:
            if report.strength_games and opponents and not quiet:
                say_beside(bar, "measuring what it begins with")
            sentence = measure_strength()
            save_resume()
            if not quiet and sentence:
                say_beside(bar, f"{0:>11,} games  {seconds() / 60:5.1f} min  {sentence}")
        elif not quiet:
            say_beside(bar, f"resumed after {done:,} games")
        bar.unpause()  # what came so far tells nothing of how long games will take
        saved = time.monotonic()
        arriving = start_batch(pool) if done < run.games else None
        while arriving is not None and not stop.is_set():
            batch_began = time.monotonic()
            lesson = arriving()
            share = done / run.games
            done_before, done, batch = done, done + len(lesson.games.lengths), batch + 1
            playing, playing_sketch = newest(), newest_sketch()
            arriving = start_batch(pool) if done < run.games else None

            after_hold = (share - learning.rate_hold) / max(1 - learning.rate_hold, 1e-9)
            rate = schedule(learning.schedule, learning.rate_start, learning.rate_end, after_hold)
            pairs = None
            if learning.rivals:
                pairs = Pairs(lesson.rolled, lesson.has_rival, lesson.rivals, lesson.rivals_rolled)
            try:
                for number in range(learning.passes if len(lesson.boards) else 0):  # all_dice may have drawn none
                    order = np.random.default_rng([run.seed, batch, number])
                    loss, squares = learner.learn(lesson.boards, lesson.targets, rate=rate, order=order, pairs=pairs)
                    tally.add_loss(loss, squares)
                if sketcher:
                    order = np.random.default_rng([run.seed, batch, learning.passes])
                    slower = schedule("linear", SKETCH_RATE, SKETCH_RATE / 100, share)
                    sketcher.learn(lesson.sketch_boards, lesson.sketch_targets, rate=slower, order=order)
            except NotFinite as error:
                sentence = (
                    f"{error} in batch {batch} (games {done_before:,} to {done:,}, rate {rate:.2g}); the last good "
                    f"resume point is {folder.resume}; a lower learning.rate_start may help"
                )
                folder.log(sentence)
                raise RunError(sentence) from None
            tally.add_games(lesson.games, time.monotonic() - batch_began)

            bar.update(done - done_before)
            if tally.passes and (crosses(done_before, done, report.metrics_games) or done == run.games):
                line = tally.line(done, seconds(), rate=rate, lam=lambda_at(share))
                folder.add_metrics(line)
                for name, value in line.items():
                    if isinstance(value, float):
                        board.add_scalar(name, value, done)
                for name, value in line["squared_error"].items():
                    board.add_scalar(f"squared_error/{name}", value, done)
                bar.set_postfix(loss=f"{line['loss']:.4f}", rate=f"{rate:.1e}", refresh=False)
                tally = Tally()
            for level, at in (
                ("beginner", config.export.beginner_games),
                ("normal", config.export.normal_games),
            ):
                if done_before < at <= done:
                    save_checkpoint(folder.bots / f"{level}.safetensors", averaged(), {**card(), "name": level})
                    folder.log(f"{done:,} games: weights kept as {level}")
            if reaches(done_before, done, report.strength_first, report.strength_factor) or done == run.games:
                sentence = measure_strength()
                if not quiet and sentence:
                    say_beside(bar, f"{done:>11,} games  {seconds() / 60:5.1f} min  {sentence}")
            if time.monotonic() - saved >= report.checkpoint_seconds or done == run.games:
                save_resume()
                saved = time.monotonic()
        if stop.is_set():  # maybe after the last game, while it was measured
            save_resume()
            save_checkpoint(folder.checkpoint(done), averaged(), card())
            folder.log(f"stopped after {done:,} games with a checkpoint")
            return False
    save_checkpoint(folder.bots / "strong.safetensors", averaged(), {**card(), "name": "strong"})
    folder.log(f"finished: {done:,} games in {seconds() / 60:.1f} minutes")
    return True


class Tally:
    """Sums between two lines of metrics."""

    def __init__(self) -> None:
        self.loss, self.squares, self.passes = 0.0, np.zeros(len(OUTCOME_NAMES)), 0
        self.games = self.plies = self.gammons = self.backgammons = 0
        self.seconds = 0.0  # of playing and learning; measurements of strength take their own

    def add_loss(self, loss: float, squares: np.ndarray) -> None:
        """One pass of the learner over a batch."""
        self.loss += loss
        self.squares += squares
        self.passes += 1

    def add_games(self, games: Games, seconds: float) -> None:
        """A batch of self-play games, and how long it was waited for and learned from."""
        self.seconds += seconds
        self.games += len(games.lengths)
        self.plies += int(games.lengths.sum())
        self.gammons += int((games.points == 2).sum())
        self.backgammons += int((games.points == 3).sum())

    def line(self, games: int, seconds: float, *, rate: float, lam: float) -> dict[str, Any]:
        """A line of metrics: rates per game, errors per position and output."""
        squares = dict(zip(OUTCOME_NAMES, (self.squares / self.passes).tolist(), strict=True))
        return {
            "games": games,
            "seconds": round(seconds, 2),
            "loss": self.loss / self.passes,
            "squared_error": squares,
            "games_per_second": self.games / self.seconds,
            "plies_per_game": self.plies / self.games,
            "gammon_rate": self.gammons / self.games,
            "backgammon_rate": self.backgammons / self.games,
            "learning_rate": rate,
            "lambda": lam,
        }

    def as_numbers(self) -> dict[str, Any]:
        """Plain numbers for the resume point."""
        numbers = {key: value for key, value in vars(self).items() if isinstance(value, int | float)}
        return {**numbers, "squares": self.squares.tolist()}

    @staticmethod
    def restored(numbers: dict[str, Any]) -> Tally:
        """The tally of a resume point. Raises ValueError."""
        tally, numbers = Tally(), dict(numbers)
        if "began" in numbers:  # as older resume points have it
            del numbers["began"]
            numbers["seconds"] = numbers.pop("seconds_before")
        if numbers.keys() != tally.as_numbers().keys() or len(numbers["squares"]) != len(OUTCOME_NAMES):
            raise ValueError("its tally is not whole")
        vars(tally).update({**numbers, "squares": np.array(numbers["squares"])})
        return tally


def sketch_learner(config: Config) -> Learner | None:
    """The learner of the sketch, None where there is to be none."""
    if not config.network.sketch:
        return None
    return Learner(
        encoding("men196"),
        hidden=config.network.sketch,
        optimizer="adam",
        minibatch=config.learning.minibatch,
        average=0.999,
        weight_decay=0.0,
        device=config.run.device,
        seed=config.run.seed,
        equity=config.learning.equity,
    )


def starting_network(config: Config) -> Network | None:
    """The network that the run begins with, None for random weights. Raises RunError when it is missing or does not
    fit."""
    if not config.network.start:
        return None
    where = f"network.start = {config.network.start!r}"
    try:
        network = bgai.bots.load(config.network.start, bearoff=False).network
    except (ValueError, OSError) as error:
        raise RunError(f"{where}: {error}") from None
    if not config.network.sketch:
        network = replace(network, sketch=None)
    if config.run.sift and (network.sketch is None or network.sketch.hidden != config.network.sketch):
        raise RunError(f"run.sift needs the sketch of {where}: {_sketch_sizes(network, config)}")
    try:
        if network.encoding.name != config.network.encoding:
            network = with_encoding(network, encoding(config.network.encoding))
        if network.hidden == config.network.hidden:
            return network
        return grown(network, config.network.hidden, config.run.seed, copies=not config.network.revive)
    except ValueError as error:
        raise RunError(f"{where}: {error}") from None


def unfinished(start: Path) -> str:
    """A sentence where a run is to begin with the weights of a run that is not finished."""
    if not start.is_dir() or (start / "bots" / "strong.safetensors").is_file():
        return ""
    games = bgai.bots.load(start, bearoff=False).card.get("games", 0)
    return f"{start} is not finished: this run begins with its weights after {games:,} games"


def committee(config: Config) -> list[Network]:
    """The networks of learning.committee. Raises RunError."""
    try:
        return [bgai.bots.load(name, bearoff=False).network.halved() for name in config.learning.committee]
    except (ValueError, OSError) as error:
        raise RunError(f"learning.committee: {error}") from None


def with_living_units(network: Network, seed: int, folder: RunFolder) -> Network:
    """The network, and its sketch, with the units brought to life that are dead in games of its own."""
    boards = play_games(network.outcomes, seed=seed, first=0, count=REVIVE_GAMES, ways=SelfPlay(scattered=0.5)).boards
    sketch = None
    if network.sketch is not None:
        sketch, dead = revived(network.sketch, boards, seed)
        folder.log(f"the sketch's units brought to life: {dead} of {list(sketch.hidden)}")
    network, dead = revived(network, boards, seed)
    folder.log(f"units brought to life: {dead} of {list(network.hidden)}")
    return replace(network, sketch=sketch)


def _sketch_sizes(start: Network, config: Config) -> str:
    theirs = "none" if start.sketch is None else list(start.sketch.hidden)
    return f"network.sketch is {list(config.network.sketch)}, the start's is {theirs}"


def batch_size(done: int, smallest: int, largest: int) -> int:
    """Games of the next batch: young networks change fast, so their batches are short."""
    return min(max(done // 16, smallest), largest)


def crosses(before: int, after: int, step: int) -> bool:
    """Whether a multiple of `step` lies above `before` and at or below `after`."""
    return before // step < after // step


def reaches(before: int, after: int, first: int, factor: float) -> bool:
    """Whether one of first, first x factor, first x factor², ... lies above `before` and at or below `after`."""
    mark = float(first)
    while mark <= before:
        mark *= factor
    return mark <= after


@contextmanager
def stop_on_signal() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or SIGTERM) sets, with a word to the terminal; a second one stops at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        with suppress(OSError, RuntimeError):  # a terminal that is gone, or that was just being written to
            print(f"\n{STOPPING}", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_device(device: str) -> None:
    """Raises RunError when torch finds no such device here."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[device]:
        raise RunError(f"run.device = {device!r}, but torch finds no such device here; use 'cpu'")
