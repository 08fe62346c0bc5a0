"""`bgai convert` and `bgai show`: identifiers and match files from one form to another, and as pictures."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from bgai.files import check_apart, check_can_be_written, write_atomically
from bgai.frontends.drawing import draw, style_for
from bgai.frontends.match_text import PLAYERS, due_text, table_text
from bgai.frontends.svg import draw_svg
from bgai.notation.ids import FORMS, InvalidId, format_id, parse_id
from bgai.notation.matchfiles import WRITERS, read_file, write_file

_FILES = (".mat", ".sgf", ".gam", ".txt")


def add_convert_parser(subparsers: Any) -> None:
    """Add the command `convert`."""
    parser = subparsers.add_parser(
        "convert",
        help="one identifier or match file to another form",
        description=(
            "Identifiers: XGID, gnubg's Position ID and Match ID, FIBS boards and JSON. Match files: .mat and .sgf. "
            "Without --to, an identifier is printed in every form that can express it."
        ),
        epilog="Examples: bgai convert 4HPwATDgc/ABMA:cAkAAAAAAAAE --to xgid; bgai convert match.mat --to sgf",
    )
    parser.add_argument("text", metavar="TEXT", help="an identifier, or a .mat or .sgf file")
    parser.add_argument("--to", choices=[*FORMS, *WRITERS], help="the form that is wanted")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="write a match file there instead of to the screen"
    )
    parser.set_defaults(run_command=_convert)


def add_show_parser(subparsers: Any) -> None:
    """Add the command `show`."""
    parser = subparsers.add_parser(
        "show",
        help="draw the board of an identifier",
        description="Draw the board of an identifier (see bgai convert), seen by the player on roll.",
        epilog="Example: bgai show 4HPwATDgc/ABMA:cAkAAAAAAAAE --svg board.svg",
    )
    parser.add_argument("text", metavar="ID", help="XGID, gnubg ID, FIBS board or JSON")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also write a diagram as SVG")
    parser.add_argument("--png", type=Path, metavar="FILE", help="also write a diagram as PNG (needs cairosvg)")
    parser.add_argument("--ascii", action="store_true", help="draw with plain signs")
    parser.set_defaults(run_command=_show)


def _convert(args: argparse.Namespace) -> int:
    if is_file(args.text):
        return _convert_file(Path(args.text), args.to, args.out)
    if args.to in WRITERS:
        raise InvalidId(
            f"--to {args.to} is for match files, and {args.text[:40]!r} is none; give a .mat or .sgf file"
        )
    if args.out is not None:
        raise InvalidId("-o is for match files; an identifier is printed")
    match = parse_id(args.text)
    if args.to is not None:
        print(format_id(match, args.to))
        return 0
    for form in FORMS:
        try:
            print(f"{form:6} {format_id(match, form)}")
        except InvalidId as error:
            print(f"{form:6} ({error})")
    return 0


def is_file(text: str) -> bool:
    """Whether the text names a match file: by its ending, or because there is such a file."""
    return text.lower().endswith(_FILES) or (len(text) < 256 and os.path.isfile(text))


def _convert_file(path: Path, form: str | None, out: Path | None) -> int:
    check_apart({"-o": out}, path)
    if out is not None:
        ending = out.suffix.lower().lstrip(".")
        if form in WRITERS and ending in WRITERS and ending != form:
            raise InvalidId(
                f"-o {out} ends as a .{ending} file, and --to says {form}; leave --to out, or name it .{form}"
            )
        form = form or ending
        check_can_be_written(out, "-o")
    if form not in WRITERS:
        raise InvalidId(f"{path} is a match file; give --to {' or --to '.join(WRITERS)}")
    record = read_file(path, say=lambda sentence: print(sentence, file=sys.stderr))
    if out is None:
        # The bytes of the file, whatever the terminal's encoding: names must not become question marks.
        sys.stdout.flush()
        sys.stdout.buffer.write(WRITERS[form](record).encode())
        return 0
    write_file(record, out, form)
    games = len(record.games)
    print(f"{out}: {games} game{'s' if games != 1 else ''}, {record.players[0]} {record.score[0]}, ", end="")
    print(f"{record.players[1]} {record.score[1]}")
    return 0


def _show(args: argparse.Namespace) -> int:
    check_apart({"--svg": args.svg, "--png": args.png})
    match = parse_id(args.text)
    for option in ("svg", "png"):
        if (path := getattr(args, option)) is not None:
            check_can_be_written(path, f"--{option}")
    style = style_for(sys.stdout, os.environ, plain=args.ascii)
    svg = draw_svg(match)
    png = _png(svg) if args.png else b""  # before anything is printed or written: it may be missing
    print(draw(match.position, bottom=PLAYERS[match.turn], top=PLAYERS[1 - match.turn], style=style))
    print(table_text(match))
    print(due_text(match))
    if args.svg:
        write_atomically(args.svg, svg.encode())
        print(f"wrote {args.svg}", file=sys.stderr)
    if args.png:
        write_atomically(args.png, png)
        print(f"wrote {args.png}", file=sys.stderr)
    return 0


def _png(svg: str) -> bytes:
    try:
        import cairosvg
    except (ImportError, OSError):  # OSError: the package is there, the cairo library is not
        raise ValueError("--png needs the package cairosvg and the cairo library: pip install cairosvg") from None
    data: bytes = cairosvg.svg2png(bytestring=svg.encode(), scale=2)
    return data
