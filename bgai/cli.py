"""The command `bgai`: one subcommand per job; each job's module is imported only when it is asked for."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_BARE_XGID = re.compile("-[-A-Oa-o]{25}:")  # with no man on the bar it begins as an option does
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)e[-+]?\d+", re.IGNORECASE)  # argparse takes -5e-2 for an option

# name: (module, function that adds the parser, what stands in `bgai --help`)
COMMANDS = {
    "play": ("bgai.frontends.terminal", "add_parser", "play a bot in the terminal"),
    "train": ("train.cli", "add_train_parser", "train a bot by self-play"),
    "arena": ("bgai.arena.cli", "add_parser", "play bots against each other, with intervals"),
    "rate": ("bgai.arena.rate_cli", "add_parser", "what bots lose per decision, by a referee"),
    "rollout": ("bgai.arena.rollout_cli", "add_parser", "play a position out many times"),
    "character": ("bgai.arena.character", "add_parser", "what bots play like"),
    "bearoff": ("bgai.frontends.bearoff_cli", "add_parser", "exact endgame tables: make them, ask them"),
    "analyze": (
        "bgai.frontends.analyze_cli",
        "add_parser",
        "rank plays and cube actions, find the errors of a match",
    ),
    "convert": ("bgai.frontends.notation_cli", "add_convert_parser", "one identifier or match file to another form"),
    "show": ("bgai.frontends.notation_cli", "add_show_parser", "draw the board of an identifier"),
    "serve": ("bgai.frontends.http.cli", "add_parser", "play in the browser, and bots over HTTP"),
    "external": ("bgai.frontends.external_server", "add_parser", "a bot as gnubg's external player, over TCP"),
    "ubgi": ("bgai.frontends.ubgi", "add_parser", "a bot as a UBGI engine on standard input and output"),
    "plot": ("train.plot", "add_parser", "draw the learning curves of runs"),
    "export": (
        "bgai.frontends.export_cli",
        "add_parser",
        "copy the bots of a run, or write a bot for ONNX or JavaScript",
    ),
    "site": ("bgai.frontends.site_cli", "add_parser", "the page as a folder for any web server, bots and all"),
    "info": ("bgai.cli", "add_info_parser", "what a bot file says of itself"),
    "bench": ("train.bench", "add_parser", "how fast this machine plays and trains"),
    "warm": ("bgai.cli", "add_warm_parser", "compile everything once, so that later starts are quick"),
}

COMPILING = "bgai compiles itself, once after it was installed or changed: half a minute, on a busy machine longer."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0 done, 1 or 2 an error that one sentence explains, 130 Ctrl-C."""
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _main(given: list[str]) -> int:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a plain terminal shows ? for ±
    given = [f"XGID={word}" if _BARE_XGID.match(word) else word for word in given]
    given = [f" {word}" if _NEGATIVE.fullmatch(word) else word for word in given]
    wanted = next((word for word in given if not word.startswith("-")), None)
    if wanted is not None and wanted not in COMMANDS:
        near = difflib.get_close_matches(wanted, COMMANDS, n=1)
        question = f"did you mean {near[0]}?" if near else "bgai --help lists the commands."
        print(f"bgai: there is no command {wanted!r}; {question}", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(
        prog="bgai",
        description="Backgammon bots: play them, train them, measure them.",
        epilog="bgai COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"bgai {_version()}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, function, summary) in COMMANDS.items():
        if name != wanted:
            subparsers.add_parser(name, help=summary)
            continue
        try:
            getattr(importlib.import_module(module), function)(subparsers)
        except ModuleNotFoundError as error:
            return _say(name, f"this command needs the package {error.name}: {_how_to_install(error.name)}")
    args = parser.parse_args(given)
    if args.command is None:
        parser.print_help()
        return 2
    try:
        with _compiling_told(args.command):
            code = args.run_command(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # nobody reads on; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        return _say(args.command, f"this command needs the package {error.name}: {_how_to_install(error.name)}")
    except (ValueError, OSError) as error:
        return _say(args.command, _sentence(error))


@contextlib.contextmanager
def _compiling_told(command: str) -> Iterator[None]:
    """A sentence for a person who waits at a terminal while kernels are compiled; programs are told nothing."""
    if command == "warm" or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from bgai.jit_cache import told_of_compiling

    with told_of_compiling(lambda: print(COMPILING, file=sys.stderr, flush=True)):
        yield


def add_info_parser(subparsers: Any) -> None:
    """Add the command `info`."""
    parser = subparsers.add_parser("info", help=COMMANDS["info"][2], description="What a bot file says of itself.")
    parser.add_argument(
        "bot", metavar="BOT", help="beginner, normal, strong, a bot file, a run folder, random, pubeval, ..."
    )
    parser.set_defaults(run_command=_info)


def add_warm_parser(subparsers: Any) -> None:
    """Add the command `warm`."""
    parser = subparsers.add_parser(
        "warm",
        help=COMMANDS["warm"][2],
        description="Compile everything once and keep it in the jit cache, so that later starts are quick.",
    )
    parser.set_defaults(run_command=_warm)


def _info(args: argparse.Namespace) -> int:
    from bgai.bots import ValueBot, find_bot_file, open_bot
    from bgai.progress import printable

    bot = open_bot(args.bot)
    if not isinstance(bot, ValueBot):
        print(f"{bot.name}: {bot.description}")
        return 0
    print(find_bot_file(args.bot))
    print(f"network: {bot.network.encoding.name} inputs, hidden {list(bot.network.hidden)}")
    if bot.network.sketch is not None:
        print(f"sifts plays by a sketch: hidden {list(bot.network.sketch.hidden)}")
    print(f"looks ahead: {bot.plies} {'ply' if bot.plies == 1 else 'plies'} (gnubg would say {bot.plies - 1})")
    print(f"pure bearoffs: {'by exact tables' if bot.bearoff else 'by the network'}")
    card = dict(bot.card)
    config, strength = str(card.pop("config", "")), card.pop("strength", None)
    told = [line for key, value in sorted(card.items()) for line in _card_lines(key, value)]
    if isinstance(strength, dict):
        told += [f"strength against {name}: {_score_text(score)}" for name, score in strength.items()]
    if config:
        told += ["config:", *(f"  {line}" for line in config.splitlines())]
    if told:
        print("its card says:")
    for line in told:  # whatever a stranger wrote there
        print(f"  {printable(line)}")
    return 0


def _card_lines(key: str, value: Any) -> list[str]:
    """A card's entry: on one line, or a line for each part."""
    parts: list[Any] = value if isinstance(value, list) else []
    if isinstance(value, dict):
        parts = [{name: part} for name, part in value.items()]
    if not parts or not all(isinstance(part, dict) for part in parts):
        return [f"{key}: {value}"]
    return [f"{key}:", *(f"  {', '.join(f'{name} {_flat(each)}' for name, each in part.items())}" for part in parts)]


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return str(value)


def _score_text(score: Any) -> str:
    try:
        points, interval, games = score["points_per_game"], score["interval"], score["games"]
        return f"{points:+.3f} ± {interval:.3f} points per game over {games:,} games"
    except (KeyError, TypeError, ValueError, OverflowError):  # a card by another hand
        return str(score)


def _warm(args: argparse.Namespace) -> int:
    import time

    import numpy as np

    from bgai.arena import play_match
    from bgai.bots import LEVELS, load
    from bgai.evaluation.rollout import roll_out
    from bgai.frontends.decisions import warm_up
    from bgai.referees import RandomBot
    from bgai.rules.position import Position

    began = time.perf_counter()
    start = Position.start()
    for level in LEVELS:
        bot = load(level)
        bot.rank(start, (3, 1))
        warm_up(bot)
        play_match(bot, RandomBot(), 8, seed=0)
    deep = load("strong@3")
    warm_up(deep)
    roll_out(deep.outcomes, start.board[None], np.arange(2), seed=0, truncate=3)
    print(f"ready after {time.perf_counter() - began:.1f} s")
    return 0


def _version() -> str:
    try:
        return version("bgai")
    except PackageNotFoundError:
        return "(not installed)"


def _how_to_install(package: str | None) -> str:
    extras = {
        "torch": "torch tensorboard",
        "tensorboard": "torch tensorboard",
        "gnubg_nn": "gnubg-nn bgsage",
        "bgsage": "gnubg-nn bgsage",
        "starlette": "starlette uvicorn",
        "uvicorn": "starlette uvicorn",
    }
    return f"pip install {extras.get(package or '', package)}"


def _sentence(error: Exception) -> str:
    """What the error says; the system's own errors without their numbers."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _say(command: str, sentence: str) -> int:
    print(f"bgai {command}: {sentence}", file=sys.stderr)
    return 2
