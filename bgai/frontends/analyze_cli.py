"""`bgai analyze`: plays and cube actions of a position ranked, or a whole match with its errors, luck and PR."""

from __future__ import annotations

import argparse
import json
import os
import sys
from html import escape
from pathlib import Path
from typing import Any

import bgai.bots
from bgai.arena.analysis import (
    MARKS,
    PR_PER_ERROR,
    Analysis,
    Choice,
    RankedPlay,
    Summary,
    analyze_record,
    rank_plays,
)
from bgai.arena.table import aligned
from bgai.bots import ValueBot
from bgai.evaluation.bearoff_tables import turned_off
from bgai.evaluation.cube_decision import CubeDecision, cube_plies
from bgai.files import check_apart, check_can_be_written, write_atomically
from bgai.frontends.match_text import cube_action_text, due_text, table_text
from bgai.frontends.notation_cli import is_file
from bgai.frontends.svg import draw_svg
from bgai.notation.ids import parse_id, whole_id
from bgai.notation.matchfiles import read_file
from bgai.progress import progress_bar
from bgai.rules.match import Match
from bgai.rules.position import BAR, HOME

SHOWN_PLAYS = 10
MOST_DIAGRAMS = 60  # in one HTML report, the largest errors first
SCALE = f"PR is {PR_PER_ERROR} times the mean error; what is marked costs at least " + ", ".join(
    f"{least} ({mark})" for least, mark in MARKS
)


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `analyze` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "analyze",
        help="rank plays and cube actions, find the errors of a match",
        description=(
            "For an identifier: the best plays, or the cube decision. For a .mat or .sgf file: every error of both "
            "players, their PR (500 times the mean error per decision) and their luck. Equities are cubeful, at the "
            "score, per unit of the cube."
        ),
        epilog="Example: bgai analyze match.mat --depth 2 --html report.html",
    )
    parser.add_argument("text", metavar="ID|FILE", help="XGID, gnubg ID, FIBS board, JSON, or a match file")
    parser.add_argument("--bot", default="strong", help="who analyzes (default %(default)s)")
    parser.add_argument(
        "--depth",
        type=int,
        choices=(1, 2, 3),
        default=2,
        help="plies (default %(default)s); the cube is looked at with 2 at most",
    )
    parser.add_argument("--all", action="store_true", help="of a match: list every choice, not errors alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="of a match: a report with diagrams")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Analyze and print. Raises ValueError and OSError with one sentence."""
    if args.bot.rpartition("@")[0]:
        raise ValueError(f"--depth says how deep to look: give --bot {args.bot.rpartition('@')[0]} and --depth")
    for option in ("json", "html"):
        if (path := getattr(args, option)) is not None:
            check_can_be_written(path, f"--{option}")
    check_apart({"--json": args.json, "--html": args.html}, args.text if is_file(args.text) else None)
    if is_file(args.text):
        return _analyze_file(args)
    if args.html:
        raise ValueError("--html is for match files; bgai show ID --svg FILE draws a position")
    match = parse_id(args.text)
    bot = _open(args)
    print(table_text(match))
    how = {
        "bot": bot.name,
        "plies": bot.plies,
        "cube_plies": cube_plies(bot.plies),
        "bearoff": bot.bearoff is not None,
    }
    print(f"{due_text(match)}; {how_text(bot.name, cube_plies(bot.plies), bot.bearoff is not None)}")
    if match.decision == "play":
        ranked = rank_plays(bot, match)
        lines = play_lines(ranked)
        data: dict[str, Any] = {"plays": [_play_data(each) for each in ranked]}
    else:
        cube = bot.cube(match)
        lines, data = cube_lines(cube, match), {"cube": _cube_data(cube)}
    for line in lines:
        print(line)
    if args.json:
        _write_json(args.json, {"id": whole_id(match), **how, **data})
    if bot.bearoff is None and not turned_off(os.environ) and _all_home(match):
        print("bgai bearoff --build makes tables that know such endgames exactly", file=sys.stderr)
    return 0


def how_text(bot: str, cube_plies: int, bearoff: bool) -> str:
    """By whom and by what means."""
    cube = "cube actions one roll ahead" if cube_plies > 1 else "cube actions without looking ahead"
    return f"{bot}, {cube}, {'with' if bearoff else 'without'} bearoff tables"


def _all_home(match: Match) -> bool:
    board = match.position.board
    return not (board[HOME + 1 :] > 0).any() and not (board[: BAR - HOME] < 0).any()


def _open(args: argparse.Namespace) -> ValueBot:
    return bgai.bots.load(f"{args.bot}@{args.depth}")


def _analyze_file(args: argparse.Namespace) -> int:
    record = read_file(args.text, say=lambda sentence: print(sentence, file=sys.stderr))
    bot = _open(args)
    with progress_bar(total=sum(len(game.actions) for game in record.games), unit=" actions") as bar:
        analysis = analyze_record(bot, record, progress=bar.update)
    if args.json:  # first: printing may fail
        _write_json(args.json, analysis_data(analysis))
    if args.html:
        write_atomically(args.html, html_report(analysis, Path(args.text).name).encode())
    for line in report_lines(analysis, everything=args.all):
        print(line)
    if args.html:
        print(f"{args.html} shows the errors with diagrams", file=sys.stderr)
    return 0


def _write_json(path: Path, data: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode())


def play_lines(ranked: list[RankedPlay], most: int = SHOWN_PLAYS) -> list[str]:
    """The best plays with equity, what they lose, and the mover's chances."""
    rows = [["", "play", "equity", "loses", "win", "gammon", "backgammon", "lose g", "lose bg"]]
    for number, each in enumerate(ranked[:most], start=1):
        behind = ranked[0].equity - each.equity
        rows.append(
            [
                f"{number}.",
                str(each.play) or "no legal play",
                f"{each.equity:+.4f}",
                f"{behind:.4f}" if behind else "",
            ]
            + [f"{100 * chance:.2f} %" for chance in each.outcomes.cumulative]
        )
    lines = aligned(rows, left=(0, 1))
    left = len(ranked) - most
    return lines + ([f"and {left} more"] if left > 0 else [])


def cube_lines(cube: CubeDecision, match: Match) -> list[str]:
    """The cube decision of a match in words and numbers."""
    rows = [["", "equity"] + ["wins the match"] * (cube.match_chances is not None)]
    names = ("no double", "double, take", "double, pass")
    for k, (name, value) in enumerate(zip(names, (cube.no_double, cube.double_take, cube.double_pass), strict=True)):
        if value is not None:
            chance = [f"{100 * cube.match_chances[k]:.2f} %"] if cube.match_chances is not None else []
            rows.append([cube_action_text(name, match), f"{value:+.4f}", *chance])
    answer = _answer(cube)
    lines = [answer, ""] if answer is not None else []
    lines += aligned(rows, left=(0,))
    win, gammon, backgammon, lose_gammon, lose_backgammon = cube.outcomes.cumulative
    lines += [
        "",
        f"{'' if answer is None else cube_action_text('the double itself: ', match)}"
        f"{cube_action_text(cube.action, match)}: {cube.why}",
        f"wins {100 * win:.1f} % (gammons {100 * gammon:.1f}, backgammons {100 * backgammon:.1f}), loses "
        f"{100 * (1 - win):.1f} % ({100 * lose_gammon:.1f}, {100 * lose_backgammon:.1f})",
    ]
    if cube.take_point is not None:
        lines.append(f"the other player takes with about {100 * cube.take_point:.1f} % or more")
    if cube.market_losers is not None:
        lines.append(f"market losers: {100 * cube.market_losers:.1f} % of the next two rolls")
    return lines


def _answer(cube: CubeDecision) -> str | None:
    """What the doubled player should do, in a sentence; None while nobody has doubled."""
    return None if cube.answer is None else f"{cube.answer}: {cube.answer_why}"


def report_lines(analysis: Analysis, *, everything: bool = False) -> list[str]:
    """The whole analysis as text: a table of both players, a line a game, and the errors."""
    record = analysis.record
    kind = f"{record.length}-point match" if record.length else "money"
    games = f"{len(record.games)} game{'s' if len(record.games) != 1 else ''}"
    lines = [f"{record.players[0]} - {record.players[1]}, {kind}, {games}, by {_how(analysis)}", ""]
    lines += [*summary_lines(analysis), SCALE]
    for number, game in enumerate(record.games, start=1):
        shown = [c for c in analysis.choices if c.game == number and (everything or c.mark)]
        result = "unfinished" if game.winner is None else f"{record.players[game.winner]} wins {game.points}"
        prs = ", ".join(
            f"{name} PR {_pr(analysis.summary(player, number))}" for player, name in enumerate(record.players)
        )
        lines += ["", f"Game {number} at {game.score[0]}-{game.score[1]}: {result}; {prs}"]
        rows = [_choice_row(choice, record.players) for choice in shown]
        lines += [f"  {line}" for line in aligned(rows, left=(0, 1, 2, 3, 5))] if rows else []
    return lines


def _how(analysis: Analysis) -> str:
    return how_text(analysis.bot, analysis.cube_plies, analysis.bearoff)


def summary_lines(analysis: Analysis) -> list[str]:
    """PR, errors and luck of both players."""
    rows = [["", "PR", "decisions", "error", "of plays", "of cube", "luck", *(mark for _, mark in MARKS)]]
    for player, name in enumerate(analysis.record.players):
        each = analysis.summary(player)
        rows.append(
            [name, _pr(each), f"{each.decisions}", f"{each.error:.3f}", f"{each.play_error:.3f}"]
            + [f"{each.cube_error:.3f}", f"{each.luck:+.3f}", *(str(count) for count in each.marks)]
        )
    return aligned(rows, left=(0,))


def _pr(summary: Summary) -> str:
    return "-" if summary.pr is None else f"{summary.pr:.2f}"


def _choice_row(choice: Choice, players: tuple[str, str]) -> list[str]:
    dice = "{}{}:".format(*choice.before.dice) if choice.before.dice else ""
    made = f"{dice} {cube_action_text(choice.made, choice.before) or 'no legal play'}".strip()
    lost = round(choice.error, 3) > 0
    better = f"better {cube_action_text(choice.best, choice.before)}" if lost else ""
    loss = f"{-choice.error:.3f}" if lost else ""
    return [f"{choice.number})", players[choice.player], choice.mark, made, loss, better]


def analysis_data(analysis: Analysis) -> dict[str, Any]:
    """Everything, for JSON."""
    record = analysis.record
    return {
        "players": list(record.players),
        "length": record.length,
        "bot": analysis.bot,
        "plies": analysis.plies,
        "cube_plies": analysis.cube_plies,
        "bearoff": analysis.bearoff,
        "summary": [_summary_data(analysis.summary(player)) for player in (0, 1)],
        "games": [
            {
                "score": list(game.score),
                "winner": game.winner,
                "points": game.points,
                "summary": [_summary_data(analysis.summary(player, number)) for player in (0, 1)],
                "choices": [_choice_data(c) for c in analysis.choices if c.game == number],
            }
            for number, game in enumerate(record.games, start=1)
        ],
    }


def _summary_data(summary: Summary) -> dict[str, Any]:
    return {
        "pr": None if summary.pr is None else round(summary.pr, 3),
        "decisions": summary.decisions,
        "error": round(summary.error, 5),
        "play_error": round(summary.play_error, 5),
        "cube_error": round(summary.cube_error, 5),
        "luck": round(summary.luck, 5),
        "marks": dict(zip((mark for _, mark in MARKS), summary.marks, strict=True)),
    }


def _choice_data(choice: Choice) -> dict[str, Any]:
    data = {
        "action": choice.number,
        "player": choice.player,
        "kind": choice.kind,
        "id": whole_id(choice.before),
        "dice": list(choice.before.dice) if choice.before.dice else None,
        "made": choice.made,
        "best": choice.best,
        "equity": round(choice.equity, 5),
        "error": round(choice.error, 5),
        "mark": choice.mark,
        "counted": choice.counted,
        "luck": None if choice.luck is None else round(choice.luck, 5),
    }
    if choice.ranked:
        data["plays"] = [_play_data(each) for each in choice.ranked[:SHOWN_PLAYS]]
    if choice.cube is not None:
        data["cube"] = _cube_data(choice.cube)
    return data


def _play_data(each: RankedPlay) -> dict[str, Any]:
    return {
        "play": str(each.play),
        "equity": round(each.equity, 5),
        "outcomes": [round(chance, 5) for chance in each.outcomes],
    }


def _cube_data(cube: CubeDecision) -> dict[str, Any]:
    return {
        "action": cube.action,
        "why": cube.why,
        "answer": _answer(cube),
        "no_double": cube.no_double,
        "double_take": cube.double_take,
        "double_pass": cube.double_pass,
        "match_chances": cube.match_chances,
        "outcomes": [round(chance, 5) for chance in cube.outcomes],
        "take_point": cube.take_point,
        "market_losers": cube.market_losers,
    }


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
table {{ border-collapse: collapse; margin: 1rem 0 }} th, td {{ padding: .25rem .7rem; text-align: right }}
th:first-child, td:first-child, td.text {{ text-align: left }} tr {{ border-bottom: 1px solid #ddd }}
figure {{ margin: 2rem 0; border-top: 1px solid #ddd; padding-top: 1rem }} svg {{ max-width: 34rem; height: auto }}
.made {{ font-weight: bold }} pre {{ overflow-x: auto }} code {{ font-size: .85rem; color: #666 }}
</style></head><body>
<h1>{title}</h1>
<p>{subtitle}</p>
{summary}
<h2>Games</h2>
{games}
<h2>Errors</h2>
{errors}
</body></html>
"""


def html_report(analysis: Analysis, name: str) -> str:
    """A page of its own: both players, the games, and the largest errors in order of play, with diagrams."""
    record = analysis.record
    head = ["", "PR", "decisions", "error", "of plays", "of cube", "luck"]
    rows = []
    for player, who in enumerate(record.players):
        each = analysis.summary(player)
        numbers = [f"{each.error:.3f}", f"{each.play_error:.3f}", f"{each.cube_error:.3f}", f"{each.luck:+.3f}"]
        rows.append([who, _pr(each), str(each.decisions), *numbers])
    games = []
    for number, game in enumerate(record.games, start=1):
        result = "unfinished" if game.winner is None else f"{record.players[game.winner]} wins {game.points}"
        prs = [_pr(analysis.summary(player, number)) for player in (0, 1)]
        games.append([str(number), f"{game.score[0]}-{game.score[1]}", result, *prs])
    worst = sorted((c for c in analysis.choices if c.mark), key=lambda c: -c.error)[:MOST_DIAGRAMS]
    shown = [c for c in analysis.choices if any(c is other for other in worst)]
    kind = f"{record.length}-point match" if record.length else "money"
    return _PAGE.format(
        title=escape(f"{record.players[0]} - {record.players[1]}"),
        subtitle=escape(f"{kind}, {name}; analyzed by bgai's {_how(analysis)}. {SCALE}."),
        summary=_html_table(head, rows),
        games=_html_table(["game", "score", "result", *(f"PR {who}" for who in record.players)], games),
        errors="\n".join(_figure(choice, record.players) for choice in shown) or "<p>None worth a word.</p>",
    )


def _html_table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _figure(choice: Choice, players: tuple[str, str]) -> str:
    match, names = choice.before, (_short(players[0]), _short(players[1]))
    made, best = (cube_action_text(action, match) for action in (choice.made, choice.best))
    if choice.ranked:
        highest = choice.ranked[0].equity
        own = next(each for each in choice.ranked if str(each.play) == choice.made)
        listed = list(choice.ranked[:4]) + ([] if own in choice.ranked[:4] else [own])
        rows = "".join(
            f'<tr><td class="text{" made" if each is own else ""}">{escape(str(each.play))}</td>'
            f"<td>{each.equity:+.3f}</td><td>{each.equity - highest:.3f}</td></tr>"
            for each in listed
        )
        table = f"<table>{rows}</table>"
    else:
        table = f"<pre>{escape(chr(10).join(cube_lines(choice.cube, match)))}</pre>" if choice.cube else ""
    return (
        f"<figure><h3>{escape(f'Game {choice.game}, {choice.number})')} {escape(players[choice.player])} "
        f"{choice.mark} {-choice.error:.3f}</h3>{draw_svg(match, names)}"
        f"<figcaption>{escape(due_text(match, players))}: <b>{escape(made)}</b>, better {escape(best)}"
        f"{table}<code>{escape(whole_id(match))}</code></figcaption></figure>"
    )


def _short(name: str) -> str:
    """A name that has room in a diagram."""
    return name if len(name) <= 18 else name[:17] + "…"
