"""The command `bgai train`."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from pathlib import Path
from typing import Any

from bgai.progress import Lasting
from train.config import Config, ConfigError, Report, find_config, from_toml


def add_train_parser(subparsers: Any) -> None:
    """Add the command `train`."""
    parser = subparsers.add_parser(
        "train",
        help="train a bot by self-play",
        description=(
            "Train a value network by temporal-difference learning from self-play. CONFIG is a TOML file or the name "
            "of a shipped config, such as quick. The run's folder holds metrics, TensorBoard events, checkpoints and "
            "the bots; Ctrl-C stops with a checkpoint, --resume goes on from there to the same result. "
            "Every key of a config is explained in train/config.py."
        ),
        epilog="Example: bgai train quick --run runs/mine --set run.seed=2",
    )
    parser.add_argument("config", metavar="CONFIG", help="a TOML file, or the name of a shipped one, such as quick")
    parser.add_argument("--run", metavar="FOLDER", type=Path, help="folder of the run (default: runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="go on with the run if it was begun before")
    parser.add_argument(
        "--set",
        metavar="SECTION.KEY=VALUE",
        action="append",
        default=[],
        help="override a key of the config, e.g. --set learning.rate_start=5e-4; may be given several times",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run_command=run_train)


def run_train(args: argparse.Namespace) -> int:
    """Exit codes: 0 finished, 130 stopped by Ctrl-C; errors are raised."""
    path = find_config(args.config)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text") from None
    config = from_toml(text, args.set, source=str(path))
    from train.folder import RunError, RunFolder  # torch only now: a wrong config is told at once
    from train.loop import (  # and before the folder is made: a package may be missing
        ARENA_SEED,
        check_device,
        committee,
        starting_network,
        train,
    )
    from train.strength import open_opponents

    open_opponents([*config.report.opponents, *config.report.final_opponents])  # a misspelt one is told at once
    folder = RunFolder(args.run or Path("runs") / path.stem)
    going_on = args.resume and folder.config.exists()
    if going_on:
        differing = _differences(folder.read_config(), config)
        if differing:
            raise RunError(
                f"the run in {folder.path} was begun with another config ({'; '.join(differing)}); "
                "repeat the --set options that it was begun with, or give another folder with --run"
            )
        unmeasured = not config.report.final_games and (folder.bots / "strong.safetensors").exists()
        if folder.results.exists() or unmeasured:
            results = folder.read_results() if folder.results.exists() else {"table": []}
            sentence = f"{folder.path} is finished; nothing left to train. Its bots are in {folder.bots}."
            print("\n".join([sentence, *results["table"], *_unmeasured(results, config.report, folder.results)]))
            return 0
    else:
        check_device(config.run.device)
        starting_network(config)  # what cannot be begun with is told before the folder is made
        committee(config)
        folder.check_is_new()
    with folder.held():
        if not going_on:
            folder.begin(config)
        folder.make_folders()  # one of them may be gone
        folder.remove_leftovers()
        if not args.quiet:
            heading = f"{folder.path}: {config.run.games:,} games; Ctrl-C stops them safely, --resume goes on"
            print(heading, file=Lasting("stdout"), flush=True)
        if not train(config, folder, quiet=args.quiet):
            overrides = [word for override in args.set for word in ("--set", override)]
            words = ["bgai", "train", args.config, "--run", str(folder.path), *overrides, "--resume"]
            print(f"stopped; go on with: {shlex.join(words)}")
            return 130
        if config.report.final_games:
            from train.results import measure_bots

            table = measure_bots(
                folder.bots,
                folder.results,
                opponents=config.report.final_opponents,
                games=config.report.final_games,
                seed=ARENA_SEED,
                luckless=config.report.luckless,
                quiet=args.quiet,
            )
            folder.log("results:\n" + "\n".join(table))
            print("\n".join(table))
        print(f"\nThe bots are in {folder.bots}. Play one: bgai play --bot {folder.bots / 'strong.safetensors'}")
        return 0


def _unmeasured(results: dict[str, Any], report: Report, path: Path) -> list[str]:
    """A sentence where the table of a finished run is not the one that is asked for."""
    asked = {
        "final_games": report.final_games,
        "final_opponents": list(report.final_opponents),
        "luckless": report.luckless,
    }
    results = {"luckless": False, **results}  # those of older runs do not say it
    found = {key: results.get(key.removeprefix("final_"), wish) for key, wish in asked.items()}
    return [
        f"This table was measured with report.{key} = {found[key]!r}, not {wish!r}; remove {path}, and "
        "--resume measures the bots again."
        for key, wish in asked.items()
        if report.final_games and found[key] != wish
    ]


def _differences(begun: Config, config: Config) -> list[str]:
    """What differs between two configs and would change what is learned."""
    lines = []
    for section in dataclasses.fields(Config):
        if section.name == "report":
            continue
        old, new = getattr(begun, section.name), getattr(config, section.name)
        for key in dataclasses.fields(old):
            a, b = getattr(old, key.name), getattr(new, key.name)
            if a != b and key.name != "workers":
                lines.append(f"{section.name}.{key.name} is {_as_told(a)} there, {_as_told(b)} here")
    return lines


def _as_told(value: Any) -> str:
    """As a config would have it: lists, not tuples."""
    return repr(list(value) if isinstance(value, tuple) else value)
