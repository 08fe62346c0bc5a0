"""`bgai bench`: how fast this machine plays and trains, beside other programs. Knows no rules and judges nothing.

Every round times each side of a section once, one after the other, and a ratio compares two sides of one round:
whatever slows the machine down for a while slows both. Boards are brought into each program's own form before
the clock starts. With the default options gnubg's cache of evaluations meets no position twice. "cores" is the
CPU time of all threads over the time that passed: below 1 in moves and plays, something else had the core.

What one call of the others does:
- gnubg_nn.moves: GNU Backgammon's generator in C, then a 20-letter key for every afterstate (no boards).
- bgbot_cpp.possible_moves (bgsage's C++ module): every afterstate as a list of 26 numbers.
- gnubg_nn.best_move(n=0): generates, evaluates every afterstate by its networks and cache, names the best play.
  With n=1 and n=2 it looks one and two rolls further, as bgai's bots do with @2 and @3; both sides prune.
- bgbot_cpp MultiPlyStrategy.best_move_index at one ply, after possible_moves: the fastest of bgsage's ways to
  choose a play, without the analysis that its `checker_play` adds.
- bgbot_cpp.td_train: self-play and TD(0) learning after every play, in C++ on one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bgai import afterstates
from bgai.bots import Bot, UnknownBot, ValueBot, open_bot, split_plies
from bgai.evaluation.encoding import encoding
from bgai.files import check_can_be_written, write_atomically
from bgai.progress import progress_bar
from bgai.referees import REFEREES, bgsage_boards, gnubg_boards
from bgai.rules.dice import roll, rolls
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import start_board
from train.lessons import start_lesson
from train.selfplay import Games

SECTIONS = ("moves", "plays", "plays2", "plays3", "training")
SECONDS = {"moves": 1.0, "plays": 1.0, "plays2": 2.0, "plays3": 5.0, "training": 5.0}
BATCH = 1_024
DEEP_BATCH = {2: 64, 3: 16}  # by plies: a piece of work should not last longer than a slice
MID_GAME = range(6, 36)  # plies; with good play a roll then has about 18 afterstates
POSITIONS = 262_144
SEED = 2026
RECIPES = (((80,), 512), ((512,), 256))  # hidden layers, positions of a minibatch
ENCODING = "men196"
WORKERS = 2
WARM_UP = 60_000
SAGE_WARM_UP = 30_000
SAGE_GAMES = 500
SAGE_HIDDEN = 80


class Slice(NamedTuple):
    """One timed stretch of work."""

    done: int  # in the section's unit
    seconds: float
    cpu_seconds: float  # of all threads


class Side(ABC):
    """One program at one job."""

    def __init__(self, name: str, *, ours: bool) -> None:
        self.name, self.ours = name, ours
        self.slices: list[Slice] = []

    def prepare(self) -> Any:
        """What the next piece of work needs; not timed."""
        return None

    @abstractmethod
    def work(self, ready: Any) -> int:
        """Do one piece of work; how much it was, in the section's unit."""

    def plies_per_game(self) -> float | None:
        """Mean length of the games, where games are the unit."""
        return None

    def time_slice(self, seconds: float) -> Slice:
        """Work for so long, at least one piece."""
        done, wall, cpu = 0, 0.0, 0.0
        while wall < seconds or not done:
            ready = self.prepare()
            cpu_began, began = time.process_time(), time.perf_counter()
            done += self.work(ready)
            wall += time.perf_counter() - began
            cpu += time.process_time() - cpu_began
        return Slice(done, wall, cpu)


@dataclass(frozen=True)
class Section:
    """A job that several sides do."""

    name: str
    title: str
    unit: str
    sides: Sequence[Side]
    notes: Sequence[str] = ()


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `bench` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help="how fast this machine plays and trains",
        description=(
            "Measure speeds: afterstates per second (moves), plays per second by one ply (plays) and by looking two "
            "and three plies ahead (plays2, plays3; gnubg's n=1 and n=2), all on one core, "
            "and self-play games per second while learning (training). With the extra 'referees' installed, "
            "other programs do the same work in turn, round after round; a ratio is the median of the rounds' "
            "ratios. Let nothing else run meanwhile."
        ),
    )
    parser.add_argument(
        "sections", metavar="SECTION", nargs="*", help=f"{', '.join(SECTIONS)} (default: all of them)"
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default %(default)s")
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="seconds a side and round (default 1; plays2 2, plays3 and training 5)",
    )
    parser.add_argument("--bot", metavar="BOT", help="the bot that is measured in plays (default strong)")
    parser.add_argument(
        "--positions",
        type=int,
        default=POSITIONS,
        metavar="N",
        help="mid-game positions of moves and plays (default %(default)s)",
    )
    parser.add_argument(
        "--warm-up",
        type=int,
        metavar="N",
        help=f"games that each side of training learns from before it is timed (default {WARM_UP}, "
        f"td_train {SAGE_WARM_UP}); the first games are long and slow",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every measurement to this file")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure and print. Raises ValueError and OSError with a sentence for the user."""
    sections = _checked_sections(args)
    if "training" in sections:
        import_module("torch")  # if it is missing, that is said now and not after the other sections
    data: dict[str, Any] = {"machine": machine(), "rounds": args.rounds, "sections": []}
    print(_machine_line(data["machine"]), flush=True)
    for name in sections:
        with contextlib.ExitStack() as stack:
            section = _MAKERS[name](args, stack)
            measure(section, rounds=args.rounds, seconds=args.seconds or SECONDS[name])
            measured = results(section)
        data["sections"].append(measured)
        print("\n" + "\n".join(table(measured)), flush=True)
    if args.json is not None:
        write_atomically(args.json, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())
    return 0


def measure(section: Section, *, rounds: int, seconds: float) -> None:
    """Fill the sides' slices: A B C A B C ..., after one untimed piece of work each."""
    for side in section.sides:
        side.time_slice(0)
    with progress_bar(total=rounds * len(section.sides), desc=section.name, unit="slice") as bar:
        for _, side in itertools.product(range(rounds), section.sides):
            bar.set_postfix_str(side.name)
            side.slices.append(side.time_slice(seconds))
            bar.update()


def results(section: Section) -> dict[str, Any]:
    """What was measured, as plain numbers: rates, and each of our sides' ratio to each other side by round."""
    rates = {side.name: [s.done / s.seconds for s in side.slices] for side in section.sides}
    return {
        "section": section.name,
        "title": section.title,
        "unit": section.unit,
        "notes": list(section.notes),
        "sides": [
            {
                "name": side.name,
                "ours": side.ours,
                "rates": rates[side.name],
                **_spread(rates[side.name]),
                "cores": statistics.median(s.cpu_seconds / s.seconds for s in side.slices),
                "plies_per_game": side.plies_per_game(),
            }
            for side in section.sides
        ],
        "ratios": [
            {"ours": ours.name, "other": other.name, "rounds": by_round, **_spread(by_round)}
            for other in section.sides
            for ours in section.sides
            if ours.ours and not other.ours
            for by_round in [[a / b for a, b in zip(rates[ours.name], rates[other.name], strict=True)]]
        ],
    }


def table(measured: dict[str, Any]) -> list[str]:
    """The lines of one section's text."""
    sides = measured["sides"]
    letters = {side["name"]: chr(ord("A") + i) for i, side in enumerate(side for side in sides if side["ours"])}
    ratios = {(ratio["ours"], ratio["other"]): ratio for ratio in measured["ratios"]}
    with_plies = any(side["plies_per_game"] is not None for side in sides)
    others = any(not side["ours"] for side in sides)
    head = ["", "", measured["unit"] + "/s", "min .. max", "cores"]
    head += ["plies/game"] * with_plies + [f"{letter} / this" for letter in letters.values()] * others
    rows = [head]
    for side in sides:
        row = [letters.get(side["name"], ""), side["name"], _number(side["median"])]
        row += [f"{_number(side['min'])} .. {_number(side['max'])}", f"{side['cores']:.2f}"]
        if with_plies:
            plies = side["plies_per_game"]
            row.append("" if plies is None else f"{plies:.1f}")
        for ours in letters if others else ():
            ratio = ratios.get((ours, side["name"]))
            row.append(f"{ratio['median']:.2f} ({ratio['min']:.2f} .. {ratio['max']:.2f})" if ratio else "")
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{measured['section']}: {measured['title']}"]
    for row in rows:
        cells = [
            text.ljust(w) if i < 2 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines + [f"   {note}" for note in measured["notes"]]


# moves and plays: one core, on positions from the middle of games


class OverPositions(Side):
    """A job on batch after batch of positions."""

    def __init__(
        self,
        name: str,
        positions: tuple[np.ndarray, np.ndarray],
        prepare: Callable[[np.ndarray, np.ndarray], Any],
        work: Callable[[Any], int],
        *,
        ours: bool = False,
        batch: int = BATCH,
    ) -> None:
        super().__init__(name, ours=ours)
        self._boards, self._dice = positions
        self._batch = batch
        self._begins = itertools.cycle(range(0, len(self._boards), batch))
        self._prepare, self._work = prepare, work

    def prepare(self) -> Any:
        begin = next(self._begins)
        end = begin + self._batch
        return self._prepare(self._boards[begin:end], self._dice[begin:end])

    def work(self, ready: Any) -> int:
        return self._work(ready)


def mid_game_positions(bot: Bot, count: int, *, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Boards [N, 26] and the dice [N, 2] rolled there from the bot's games with itself, shuffled; N <= count."""
    games = np.arange(count // 20 + 1)
    boards = np.repeat(start_board()[None], len(games), axis=0)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for ply in range(MID_GAME.stop):
        dice = rolls(seed, games, ply)
        if ply in MID_GAME:
            kept.append((boards, dice))
        boards = bot.choose_boards(boards, dice)
        going_on = points_lost_many(boards) == 0
        boards, games = boards[going_on], games[going_on]
    order = np.random.default_rng(seed).permutation(sum(len(rows) for rows, _ in kept))[:count]
    return np.concatenate([rows for rows, _ in kept])[order], np.concatenate([dice for _, dice in kept])[order]


def moves_section(args: argparse.Namespace, stack: contextlib.ExitStack) -> Section:
    """Legal afterstates per second."""
    player = _player(args.bot)
    positions = mid_game_positions(player, args.positions)
    sides: list[Side] = [
        OverPositions(
            f"bgai.afterstates, batches of {BATCH:,}",
            positions,
            lambda boards, dice: (boards, dice),
            lambda ready: len(afterstates(*ready)[0]),
            ours=True,
        ),
        OverPositions(
            "bgai.afterstates, one board at a time",
            positions,
            _single_boards,
            lambda ready: sum(len(afterstates(board, dice)[0]) for board, dice in ready),
            ours=True,
        ),
    ]
    gnubg, sage = _installed("gnubg_nn"), _installed("bgbot_cpp")
    if gnubg:
        moves = gnubg.moves
        sides.append(
            OverPositions(
                "gnubg_nn.moves",
                positions,
                _gnubg_calls,
                lambda ready: sum(len(moves(*call)) for call in ready),
            )
        )
    if sage:
        possible = sage.possible_moves
        sides.append(
            OverPositions(
                "bgsage possible_moves",
                positions,
                _sage_calls,
                lambda ready: sum(len(possible(*call)) for call in ready),
            )
        )
    average = len(afterstates(*positions)[0]) / len(positions[0])
    title = f"legal afterstates per second on one core, {average:.1f} a roll on average"
    return Section("moves", title, "afterstates", sides, [_source(positions, player)])


def plays_section(args: argparse.Namespace, stack: contextlib.ExitStack) -> Section:
    """One-ply plays per second."""
    bot = open_bot(args.bot or "strong", bearoff=False)
    positions = mid_game_positions(bot, args.positions)
    name = f"bgai {bot.name}"
    if isinstance(bot, ValueBot):
        name += f" {list(bot.network.hidden)}"
    sides: list[Side] = [
        OverPositions(
            f"{name}, batches of {BATCH:,}",
            positions,
            lambda boards, dice: (boards, dice),
            lambda ready: len(bot.choose_boards(*ready)),
            ours=True,
        ),
        OverPositions(
            f"{name}, one board at a time",
            positions,
            _single_boards,
            lambda ready: sum(len(bot.choose_boards(board, dice)) for board, dice in ready),
            ours=True,
        ),
    ]
    gnubg, sage = _installed("gnubg_nn"), _installed("bgsage")
    if gnubg:
        best_move = gnubg.best_move
        sides.append(
            OverPositions(
                "gnubg_nn.best_move, n=0",
                positions,
                _gnubg_calls,
                lambda ready: sum(best_move(*call, n=0) is not None for call in ready),
            )
        )
    if sage:
        sides.append(OverPositions("bgsage 1ply", positions, _sage_calls, _sage_plays(sage)))
    title = "one-ply plays per second on one core"
    return Section("plays", title, "plays", sides, [_source(positions, bot)])


def deep_plays_section(plies: int, args: argparse.Namespace, stack: contextlib.ExitStack) -> Section:
    """Plays per second looking so many plies ahead, beside gnubg at the same depth."""
    player = open_bot(split_plies(args.bot or "strong")[0], bearoff=False)
    bot = open_bot(f"{split_plies(args.bot or 'strong')[0]}@{plies}", bearoff=False)
    positions = mid_game_positions(player, args.positions)
    batch = DEEP_BATCH[plies]
    sides: list[Side] = [
        OverPositions(
            f"bgai {bot.name}, batches of {batch}",
            positions,
            lambda boards, dice: (boards, dice),
            lambda ready: len(bot.choose_boards(*ready)),
            ours=True,
            batch=batch,
        ),
        OverPositions(
            f"bgai {bot.name}, one board at a time",
            positions,
            _single_boards,
            lambda ready: sum(len(bot.choose_boards(board, dice)) for board, dice in ready),
            ours=True,
            batch=batch,
        ),
    ]
    gnubg = _installed("gnubg_nn")
    if gnubg:
        best_move = gnubg.best_move
        sides.append(
            OverPositions(
                f"gnubg_nn.best_move, n={plies - 1}",
                positions,
                _gnubg_calls,
                lambda ready: sum(best_move(*call, n=plies - 1) is not None for call in ready),
                batch=batch,
            )
        )
    title = f"plays per second on one core, looking {plies} plies ahead"
    return Section(f"plays{plies}", title, "plays", sides, [_source(positions, player)])


def _player(bot: str | None) -> Bot:
    """The bot asked for; else the first that is there."""
    if bot is not None:
        return open_bot(bot, bearoff=False)
    for text in ("strong", "gnubg:0"):
        with contextlib.suppress(UnknownBot, FileNotFoundError):
            return open_bot(text, bearoff=False)
    return open_bot("random")


def _source(positions: tuple[np.ndarray, np.ndarray], bot: Bot) -> str:
    return (
        f"{len(positions[0]):,} positions with their rolls, plies {MID_GAME.start} to {MID_GAME.stop - 1} "
        f"of games of {bot.name} with itself"
    )


def _single_boards(boards: np.ndarray, dice: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(boards[i : i + 1], dice[i : i + 1]) for i in range(len(boards))]


def _gnubg_calls(boards: np.ndarray, dice: np.ndarray) -> list[tuple[Any, int, int]]:
    return [(lists, *pair) for lists, pair in zip(gnubg_boards(boards), dice.tolist(), strict=True)]


def _sage_calls(boards: np.ndarray, dice: np.ndarray) -> list[tuple[list[int], int, int]]:
    men = bgsage_boards(boards).tolist()
    return [(board, *pair) for board, pair in zip(men, dice.tolist(), strict=True)]


def _sage_plays(package: Any) -> Callable[[Any], int]:
    cpp = import_module("bgbot_cpp")
    weights = package.default_weights()
    strategy = cpp.create_multipy(
        weights.strategy_type, *weights.weight_args, n_plies=1, parallel_evaluate=False, parallel_threads=1
    )

    def work(ready: Any) -> int:
        for board, die1, die2 in ready:
            candidates = cpp.possible_moves(board, die1, die2)
            if len(candidates) > 1:
                strategy.best_move_index(candidates, board)
        return len(ready)

    return work


# training: playing and learning at once


class OwnTraining(Side):
    """bgai's trainer, batch after batch in the rhythm of train.loop."""

    def __init__(self, hidden: tuple[int, ...], minibatch: int, pool: ThreadPoolExecutor) -> None:
        super().__init__(f"bgai, hidden {list(hidden)}", ours=True)
        self._batches = training_batches(hidden=hidden, minibatch=minibatch, batch_games=BATCH, pool=pool)
        self._games = self._plies = 0

    def work(self, ready: Any) -> int:
        lengths = next(self._batches).lengths
        self._games += len(lengths)
        self._plies += int(lengths.sum())
        return len(lengths)

    def warm_up(self, games: int) -> None:
        """Learn from this many games, untimed."""
        _warm_up(self, games, BATCH)
        self._games = self._plies = 0

    def plies_per_game(self) -> float:
        return self._plies / self._games


def training_batches(
    *, hidden: tuple[int, ...], minibatch: int, batch_games: int, pool: ThreadPoolExecutor
) -> Iterator[Games]:
    """Train a new network for ever: the games of one batch after another.

    Between two batches nothing runs: the one that comes out waits to be learned from while the next is played.
    """
    from train.learner import Learner
    from train.model import to_network

    inputs = encoding(ENCODING)
    learner = Learner(
        inputs,
        hidden=hidden,
        optimizer="adam",
        minibatch=minibatch,
        average=0.999,
        weight_decay=0.0,
        device="cpu",
        seed=SEED,
    )
    lesson = None
    for batch in itertools.count():
        arriving = start_lesson(
            to_network(inputs, learner.parameters).outcomes,
            seed=SEED,
            first=batch * batch_games,
            count=batch_games,
            lam=0.7,
            all_dice=0.0,
            workers=WORKERS,
            pool=pool,
        )
        if lesson is not None:
            learner.learn(lesson.boards, lesson.targets, rate=5e-4, order=np.random.default_rng([SEED, batch]))
        lesson = arriving()
        yield lesson.games


class SageTraining(Side):
    """Open Sage's TD(0) trainer, going on from the weights that its last call saved."""

    def __init__(self, cpp: Any, folder: Path) -> None:
        super().__init__(f"bgsage td_train, hidden [{SAGE_HIDDEN}]", ours=False)
        self._cpp, self._folder = cpp, folder
        self._weights = folder / "bench.weights"
        self._seed = SEED

    def work(self, ready: Any) -> int:
        self._seed += 1
        with _silent_stdout():
            self._cpp.td_train(
                n_games=SAGE_GAMES,
                n_hidden=SAGE_HIDDEN,
                seed=self._seed,
                benchmark_interval=10 * SAGE_GAMES,
                model_name=self._weights.stem,
                models_dir=str(self._folder),
                resume_from=str(self._weights) if self._weights.exists() else "",
            )
        return SAGE_GAMES

    def warm_up(self, games: int) -> None:
        """Learn from this many games, untimed."""
        _warm_up(self, games, SAGE_GAMES)

    def plies_per_game(self) -> float:
        """td_train does not tell, so its network plays some games with itself."""
        cpp, games = self._cpp, 300
        strategy = cpp.create_multipy_nn(str(self._weights), n_hidden=SAGE_HIDDEN, n_inputs=196, n_plies=1)
        plies = 0
        for game in range(games):
            board = start_board().tolist()
            for ply in itertools.count():
                candidates = cpp.possible_moves(board, *map(int, roll(SEED, game, ply)))
                board = list(candidates[strategy.best_move_index(candidates, board)] if candidates else board)
                plies += 1
                if cpp.check_game_over(board):
                    break
                board = cpp.flip_board(board)
        return plies / games


def training_section(args: argparse.Namespace, stack: contextlib.ExitStack) -> Section:
    """Games per second of self-play with learning, from trained weights on."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    stack.callback(torch.set_num_threads, threads)
    pool = stack.enter_context(ThreadPoolExecutor(WORKERS))
    ours = [OwnTraining(hidden, minibatch, pool) for hidden, minibatch in RECIPES]
    for side in ours:
        side.warm_up(WARM_UP if args.warm_up is None else args.warm_up)
    sides: list[Side] = [*ours]
    notes = [f"bgai: {WORKERS} threads play batches of {BATCH:,} games while one learns from the batch before."]
    cpp = _installed("bgbot_cpp")
    if cpp:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        sage = SageTraining(cpp, Path(folder))
        sage.warm_up(SAGE_WARM_UP if args.warm_up is None else args.warm_up)
        sides.append(sage)
        notes.append("td_train has one thread; its plies a game are those of its network playing by one ply.")
    return Section("training", "self-play games per second, played and learned from", "games", sides, notes)


def _warm_up(side: Side, games: int, piece: int) -> None:
    with progress_bar(total=games, desc=f"warm-up of {side.name}", unit="game") as bar:
        for _ in range(-(-games // piece)):
            bar.update(side.work(side.prepare()))


@contextlib.contextmanager
def _silent_stdout() -> Iterator[None]:
    """Send what C++ prints nowhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


_MAKERS: dict[str, Callable[[argparse.Namespace, contextlib.ExitStack], Section]] = {
    "moves": moves_section,
    "plays": plays_section,
    "plays2": partial(deep_plays_section, 2),
    "plays3": partial(deep_plays_section, 3),
    "training": training_section,
}


# the machine, and small helpers


def machine() -> dict[str, Any]:
    """What was measured on, and how busy it was before."""
    packages = {}
    for name in ("bgai", "numpy", "numba", "torch", "gnubg-nn", "bgsage"):
        with contextlib.suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": packages,
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _machine_line(found: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {number}" for name, number in found["packages"].items())
    line = f"{found['cpu']}, {found['cores']} cores, {found['system']}; Python {found['python']}, {packages}"
    if found["load_before"] is not None:
        line += f"; load before {found['load_before']:.2f}"
        if found["load_before"] > 0.5:
            line += " (something else runs: trust the ratios more than the speeds)"
    return line


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown CPU"


def _installed(module: str) -> Any:
    """The module, or None when it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _checked_sections(args: argparse.Namespace) -> list[str]:
    """The sections asked for, in order. Raises ValueError before anything is measured."""
    for name in args.sections:
        if name not in SECTIONS:
            raise ValueError(f"there is no section {name!r}; there are {', '.join(SECTIONS)}")
    if args.rounds < 1:
        raise ValueError(f"--rounds should be at least 1, not {args.rounds}")
    if args.seconds is not None and not 0 < args.seconds < float("inf"):
        raise ValueError(f"--seconds should be above 0, not {args.seconds}")
    if args.positions < 1:
        raise ValueError(f"--positions should be at least 1, not {args.positions}")
    if args.warm_up is not None and args.warm_up < 0:
        raise ValueError(f"--warm-up should not be negative, not {args.warm_up}")
    if args.json is not None:
        check_can_be_written(args.json, "--json")
    if args.sections:
        return [name for name in SECTIONS if name in args.sections]
    # Only networks look ahead.
    deep = args.bot is None or args.bot.partition(":")[0] not in REFEREES
    return [name for name in SECTIONS if deep or name not in ("plays2", "plays3")]
