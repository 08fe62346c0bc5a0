"""`bgai export`: the bots of a run as copies, or one bot's network for other languages, as ONNX or for JavaScript."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from bgai.bots import LEVELS, ValueBot, load, split_plies
from bgai.engines.opening import KINDS
from bgai.evaluation.checkpoint import load_checkpoint
from bgai.evaluation.js_weights import as_js, js_weights
from bgai.evaluation.onnx_model import INPUT, OUTPUT, onnx_model
from bgai.files import write_atomically
from bgai.frontends.page import MODULE, page_files, write_folder
from bgai.referees import REFEREES
from bgai.rules.outcome import POINTS_WON, Outcomes
from bgai.rules.position import Position

FORMATS = ("onnx", "js")
# What the description shows: the opening, both on the bar, a prime, a race, bearing off, a last man.
GOLDEN = ("4HPwATDgc/ABMA", "4Dn4AFjgc/AAWA", "sM/BATBsuw0AUA", "2O52AABsdzsAAA", "220DAMC22wAAAA", "BQAACAAAAAAAAA")


def add_parser(subparsers: Any) -> None:
    """Add the command `export`."""
    parser = subparsers.add_parser(
        "export",
        help="copy the bots of a run, or write a bot for ONNX or JavaScript",
        description=(
            "Copy beginner, normal and strong from a finished run to a folder, for bgai.load or to share. Or write "
            "one bot's network for other languages: as an ONNX model with a description of its inputs beside it, or "
            "as a file for bgai's JavaScript module, with that module beside it."
        ),
        epilog="Examples: bgai export runs/quick --to mybots; bgai export strong --to onnx --out strong.onnx",
    )
    parser.add_argument(
        "bot", metavar="BOT", help="folder of a finished run; with onnx and js also a level or a bot file"
    )
    to_help = (
        "onnx, js, or a folder to copy to, such as mybots; in checkpoints/ of a checkout "
        'bgai.load("strong") finds them'
    )
    parser.add_argument("--to", metavar="DIR", required=True, help=to_help)
    parser.add_argument("--out", metavar="FILE", type=Path, help="file for onnx or js (default: BOT.onnx, BOT.bin)")
    parser.set_defaults(run_command=run)


def run(args: argparse.Namespace) -> int:
    """Raises ValueError and OSError with one sentence, and ModuleNotFoundError without the package onnx."""
    form, source = args.to.lower(), Path(args.bot)
    if form not in FORMATS:
        if args.out is not None:
            raise ValueError("--out is the file of --to onnx or --to js; a run's bots go to the folder of --to")
        if not source.is_dir() and (source.is_file() or args.bot in LEVELS):
            raise ValueError(
                f"{args.bot} is one bot, which --to onnx or --to js writes; a folder as in --to {args.to} is for the "
                "bots of a run"
            )
        copied = copy_bots(source / "bots", Path(args.to))
        for path in copied:
            print(f"wrote {path}")
        if missing := [level for level in LEVELS if level not in {path.stem for path in copied}]:
            print(f"{args.bot} has no {' and no '.join(missing)}")
        return 0
    bot = bot_to_export(args.bot)
    if source.is_dir():
        print(f"{args.bot} is a folder, of which this is the strong bot; any other is to be named by its file")
    stem = Path(os.path.abspath(bot.name)).name  # of "." that of the folder
    if form == "js":
        file = args.out or Path(f"{stem}.bin")
        _write(file, js_weights(bot.network, name=stem, habits=bot.habits))
        folder = file.parent / "bgai-js"
        write_folder(folder, page_files(MODULE), made_by="bgai export --to js")
        print(f"wrote {folder}/, the module that reads it: import {{ readBot }} from './{folder.name}/bgai.js'")
        return 0
    file = args.out or Path(f"{stem}.onnx")
    model = onnx_model(bot.network, name=stem)
    described = description(bot, model=file.name, sha256=hashlib.sha256(model).hexdigest())
    _write(file, model)
    _write(file.with_name(f"{file.name}.json"), (json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode())
    if bot.habits is not None:
        print(
            f"{stem} is a network with habits, and these are not in the network: the model plays stronger. "
            "The description tells them; --to js has them built in."
        )
    return 0


def copy_bots(source: Path, target: Path) -> list[Path]:
    """Copy the graded bots of a run to a folder, as whole files. Raises FileNotFoundError for an unfinished run."""
    files = [source / f"{level}.safetensors" for level in LEVELS if (source / f"{level}.safetensors").exists()]
    if source / "strong.safetensors" not in files:
        what = "is no strong bot" if files else "are no bots"
        raise FileNotFoundError(f"there {what} in {source}; a run leaves its strong bot there when it is finished")
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        load_checkpoint(file)
        write_atomically(target / file.name, file.read_bytes())
    return [target / file.name for file in files]


def bot_to_export(text: str) -> ValueBot:
    """The bot of a level, a bot file or a run folder. Raises ValueError for one without a network of bgai, and for
    one that looks ahead, which is more than a network does."""
    name, plies = split_plies(text)
    if plies > 1:
        raise ValueError(f"only networks are exported, and they look at no replies: write {name} instead of {text}")
    if not Path(text).exists() and text.partition(":")[0] in (*KINDS, *REFEREES):
        raise ValueError(f"{text} has no network of bgai to export: give {', '.join(LEVELS)}, a bot file or a run")
    return load(name, bearoff=False)


def description(bot: ValueBot, *, model: str, sha256: str) -> dict[str, Any]:
    """What somebody needs who feeds the ONNX model `model`: inputs, outputs, perspective, what is not in it, and
    positions with their numbers to check one's own encoder by."""
    encoding = bot.network.encoding
    return {
        "bot": bot.name,
        "description": bot.description,
        "model": model,
        "sha256": sha256,
        "hidden": list(bot.network.hidden),
        "input": {
            "name": INPUT,
            "shape": ["boards", len(encoding.names)],
            "type": "float32",
            "encoding": encoding.name,
            "width": len(encoding.names),
            "parts": {"men": encoding.width, "extras": encoding.extras},
            "order": list(encoding.names),
            "code": "bgai/evaluation/encoding.py and tactics.py, or encoding.js of bgai's JavaScript module",
        },
        "output": {
            "name": OUTPUT,
            "shape": ["boards", len(Outcomes._fields)],
            "type": "float32",
            "order": list(Outcomes._fields),
            "points": POINTS_WON.tolist(),
            "meaning": "chances that exclude each other and sum to one; equity is the sum of chances times points",
        },
        "perspective": (
            "Boards are seen by the player who is about to roll, before he rolls, and so are the outcomes. To choose "
            "a play, turn the board after each legal play to the opponent and take the one with the lowest equity. "
            "Each player's points are counted from his own home; chances among the inputs are shares of the 36 rolls."
        ),
        "not_in_the_model": {
            "rules": (
                "A finished game is exact: the player to roll has lost 1, 2 or 3 points. A player who has borne off "
                "a man can lose no gammon: add such chances to the single games."
            ),
            "cube": "Equities are without the cube.",
            "habits": as_js(bot.habits),
            "habits_are": (
                "what makes a level of a strong network: see bgai/evaluation/habits.py"
                if bot.habits
                else "none: this bot plays as its network does"
            ),
        },
        "golden": [_golden(bot, Position.from_id(identifier)) for identifier in GOLDEN],
    }


def _golden(bot: ValueBot, position: Position) -> dict[str, Any]:
    board = position.board[None]
    outcomes = bot.network.outcomes_of(board)[0]
    return {
        "position": position.id,
        "board": list(position.men),
        INPUT: bot.network.encoding.encode(board)[0].tolist(),
        OUTPUT: outcomes.tolist(),
        "equity": float(outcomes.astype(np.float64) @ POINTS_WON),
    }


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)
    print(f"wrote {file} ({len(content) / 1e6:.1f} MB)" if len(content) > 50_000 else f"wrote {file}")
