"""`bgai site`: the page with the bots of the levels as a folder that any web server can serve, without bgai."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from bgai.bots import LEVELS, load
from bgai.evaluation.js_weights import as_js, js_weights
from bgai.frontends.page import page_files, write_folder

_SERVED, _LOCAL = b'<meta name="bgai-engine" content="server">', b'<meta name="bgai-engine" content="local">'


def add_parser(subparsers: Any) -> None:
    """Add the command `site`."""
    parser = subparsers.add_parser(
        "site",
        help="the page as a folder for any web server, bots and all",
        description=(
            "Write the page of `bgai serve` with beginner, normal and strong as a folder of plain files. Any web "
            "server can serve it; the browser itself plays the bots, by one ply, and asks the server for files only."
        ),
        epilog="Example: bgai site public && python -m http.server --directory public",
    )
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="folder to write: a new or empty one, or an older site"
    )
    parser.set_defaults(run_command=run)


def run(args: argparse.Namespace) -> int:
    """Raises ValueError and OSError with one sentence."""
    content = site_files()
    write_folder(args.folder, content, made_by="bgai site")
    size = sum(map(len, content.values())) / 1e6
    print(f"wrote {args.folder}: {len(content)} files, {size:.1f} MB. Serve it with any web server, such as")
    print(f"python -m http.server --directory {args.folder}")
    return 0


def site_files() -> dict[str, bytes]:
    """The files of a site by their paths; levels of one network share its weights. index.html comes last, when all
    that it needs is there."""
    content = page_files()
    index = content.pop("index.html")
    assert index.count(_SERVED) == 1
    bots = []
    for level in LEVELS:
        bot = load(level, bearoff=False)
        weights = js_weights(bot.network, name="bgai")
        path = f"weights-{hashlib.sha256(weights).hexdigest()[:16]}.bin"  # another network is another address
        content[path] = weights
        strength = bot.card.get("strength")
        bots.append(
            {
                "name": level,
                "weights": path,
                "habits": as_js(bot.habits),
                "games": bot.card.get("games"),
                "strength": strength if isinstance(strength, dict) else {},
            }
        )
    content["bots.json"] = json.dumps({"bots": bots}, indent=1, ensure_ascii=False).encode() + b"\n"
    content["index.html"] = index.replace(_SERVED, _LOCAL)
    return content
