"""Results as aligned plain text and as data for JSON. Knows nothing of playing, files or the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bgai.arena.duplicate import Forfeit, MatchResult
from bgai.arena.sessions import CAP, SessionResult
from bgai.arena.stats import CONFIDENCE, Score

Pairing = tuple[int, int]


def distinct_labels(names: Sequence[str]) -> list[str]:
    """The names, the second "x" as "x (2)" and so on, so that no two labels are the same."""
    labels: list[str] = []
    for name in names:
        label, count = name, 1
        while label in labels:
            count += 1
            label = f"{name} ({count})"
        labels.append(label)
    return labels


def match_lines(
    labels: Sequence[str],
    results: dict[Pairing, MatchResult],
    sprt_bounds: Sequence[float] | None = None,
) -> list[str]:
    """One line a match, in columns, and what the sequential test said below it."""
    luckless = any(result.luck is not None for result in results.values())
    header: tuple[str, ...] = ("match", _points_text(results), *(("and luck",) if luckless else ()))
    header += ("won (gammons, backgammons)", "lost", "games", "games/s")
    rows, notes = [header], [""]
    for (a, b), result in results.items():
        rows.append(
            (
                f"{labels[a]} - {labels[b]}",
                str(result.score),
                *(() if result.luck is None else (f"{result.luck.mean():+.3f}",)),
                _wins_text(result.wins),
                _wins_text(result.losses),
                f"{result.games:,}",
                f"{result.games_per_second:,.0f}"
                if result.games_per_second >= 10
                else f"{result.games_per_second:.2g}",
            )
        )
        notes.append("" if sprt_bounds is None else verdict_line(result, sprt_bounds))
    lines = []
    for line, note in zip(aligned(rows, left=(0,)), notes, strict=True):
        lines += [line, f"  {note}"] if note else [line]
    return lines + forfeit_lines(labels, results)


def forfeit_lines(
    labels: Sequence[str], results: Mapping[Pairing, MatchResult] | Mapping[Pairing, SessionResult]
) -> list[str]:
    """A line for each engine that lost games because it gave no legal answer, and what it did in the first."""
    lines = []
    for pairing, result in results.items():
        for seat in (0, 1):
            lost = [forfeit for forfeit in result.forfeits if forfeit.seat == seat]
            if lost:
                games = "1 game" if len(lost) == 1 else f"{len(lost):,} games"
                against, first = labels[pairing[1 - seat]], min(lost)
                lines.append(
                    f"{labels[pairing[seat]]} lost {games} to {against} without a legal answer; "
                    f"game {first.game + 1:,}: {first.why}"
                )
    return lines


def _forfeit_data(labels: Sequence[str], pairing: Pairing, forfeits: Sequence[Forfeit]) -> list[dict[str, Any]]:
    return [{"game": lost.game + 1, "bot": labels[pairing[lost.seat]], "why": lost.why} for lost in forfeits]


def session_lines(labels: Sequence[str], results: dict[Pairing, SessionResult]) -> list[str]:
    """One line a pairing with what was scored by money games or matches."""
    first = next(iter(results.values())).session
    money = first.length == 0
    header = ["matches to " + str(first.length) if first.length else "money games"]
    header += ["points per game, 95%", f"none above {CAP}", "won", "lost", "mean cube"] if money else ["won, 95%"]
    rows = [[*header, "games" if money else "matches", "a second"]]
    for (a, b), result in results.items():
        row = [f"{labels[a]} - {labels[b]}"]
        if money:
            won, lost = int((result.points > 0).sum()), int((result.points < 0).sum())
            row += [str(result.score), str(result.capped), f"{won:,}", f"{lost:,}", f"{result.cubes.mean():.2f}"]
        else:
            row.append(share_text(result.score))
        rows.append([*row, f"{result.games:,}", f"{result.games / max(result.seconds, 1e-9):.3g}"])
    return aligned(rows, left=(0,)) + forfeit_lines(labels, results)


def share_text(score: Score) -> str:
    """A share of matches in per cent."""
    width = "?" if (half := _share_width(score)) is None else f"{100 * half:.1f}"
    return f"{100 * score.mean:.1f} ± {width} %"


def _share_width(score: Score) -> float | None:
    """Half the width of a share's interval. Pairs that all went alike do not say how sure it is: None."""
    return score.half_width if 0 < score.half_width < math.inf else None


def session_data(labels: Sequence[str], pairing: Pairing, result: SessionResult) -> dict[str, Any]:
    """A pairing of money games or matches for JSON."""
    a, b = pairing
    scores = {"score": result.score} | ({} if result.session.length else {"capped": result.capped})
    return {
        "a": labels[a],
        "b": labels[b],
        "games": result.games,
        "seconds": round(result.seconds, 3),
        **{
            name: {"mean": score.mean, "interval": _share_width(score) if result.session.length else _width(score)}
            for name, score in scores.items()
        },
        "forfeits": _forfeit_data(labels, pairing, result.forfeits),
        "points": result.points.tolist(),
        "cubes": result.cubes.tolist(),
    }


def _width(score: Score) -> float | None:
    return None if math.isinf(score.half_width) else score.half_width


def cross_table(labels: Sequence[str], results: dict[Pairing, MatchResult]) -> list[str]:
    """Points per game of the row's bot against the column's, with 95% intervals; "." where none played."""
    cells = [[_points_text(results), *labels]]
    for row, label in enumerate(labels):
        cells.append([label] + [_cell(results, row, column) for column in range(len(labels))])
    return aligned(cells, left=(0,))


def _points_text(results: dict[Pairing, MatchResult]) -> str:
    luckless = any(result.luck is not None for result in results.values())
    return f"points per game{' less luck' if luckless else ''}, 95%"


def verdict_line(result: MatchResult, bounds: Sequence[float]) -> str:
    """What the sequential test of a match decided, in one sentence."""
    low, high = bounds
    verdict = result.verdict
    after = f"after {result.games:,} games"
    if verdict is None or verdict.accepted is None:
        between = f"at most {low:+g} and at least {high:+g} points per game"
        return f"sequential test: undecided between {between} {after}"
    if verdict.accepted == "high":
        return f"sequential test: accepts H1, at least {high:+g} points per game, {after}"
    return f"sequential test: accepts H0, at most {low:+g} points per game, {after}"


def match_data(labels: Sequence[str], pairing: Pairing, result: MatchResult) -> dict[str, Any]:
    """A match as JSON data; A's points of every game are there in order, and his luck where it was measured and taken
    out, so all numbers can be checked."""
    points = result.score
    return {
        "a": labels[pairing[0]],
        "b": labels[pairing[1]],
        "games": result.games,
        "points_per_game": points.mean,
        "interval": _width(points),
        "confidence": CONFIDENCE,
        "won": _wins_data(result.wins),
        "lost": _wins_data(result.losses),
        "seconds": round(result.seconds, 3),
        "games_per_second": round(result.games_per_second, 1),
        "sprt": _verdict_data(result),
        "forfeits": _forfeit_data(labels, pairing, result.forfeits),
        "points": result.points.tolist(),
        "luck": None if result.luck is None else result.luck.round(4).tolist(),
    }


def _verdict_data(result: MatchResult) -> dict[str, Any] | None:
    if result.verdict is None:
        return None
    llr = result.verdict.llr
    return {
        "accepted": {"high": "H1", "low": "H0", None: None}[result.verdict.accepted],
        "pairs": result.verdict.pairs,
        "llr": llr if math.isfinite(llr) else None,
    }


def _wins_data(wins: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("single", "gammon", "backgammon"), wins, strict=True))


def _wins_text(wins: tuple[int, int, int]) -> str:
    _, gammons, backgammons = wins
    return f"{sum(wins):,} ({gammons:,}, {backgammons:,})"


def _cell(results: dict[Pairing, MatchResult], row: int, column: int) -> str:
    if (row, column) in results:
        return str(results[row, column].score)
    if (column, row) in results:
        mean, half_width = results[column, row].score
        return str(Score(-mean, half_width))
    return "."


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Lines with columns two blanks apart; the columns in `left` start together, the others end together."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
