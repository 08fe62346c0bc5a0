"""Makes bgai/evaluation/match_equity.csv from how a bot's own games begin and bgai's cube model.

    .venv/bin/python tools/make_match_equity.py strong --write bgai/evaluation/match_equity.csv
    .venv/bin/python tools/make_match_equity.py strong --compare kazaross.csv     (a table of the same form)

The bot's gammon and backgammon rates are those it gives the opening position itself, over all opening rolls and its
replies to them. Tables of others serve as a check only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import bgai
from bgai.bots import ValueBot
from bgai.evaluation.cube import CLASSES, EFFICIENCY
from bgai.evaluation.match_equity import MatchEquity, compute_table, table_text
from bgai.evaluation.search import one_ply
from bgai.rules.dice import ROLL_CHANCES, ROLLS
from bgai.rules.outcome import turn_outcomes
from bgai.rules.position import start_board


def beginnings(bot: ValueBot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes of the player who rolls first [6]; of the one who may first double after Crawford [S, 6], with the
    chances [S] of these beginnings."""
    different = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]  # no opening roll is a double
    opened = one_ply(bot.outcomes, np.repeat(start_board()[None], len(different), axis=0), different)
    first = turn_outcomes(opened.outcomes).mean(axis=0).astype(np.float64)
    # He rolls second, and doubles then; or he has begun, and doubles when the leader has rolled.
    replied = one_ply(bot.outcomes, np.repeat(opened.boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(different), 1)))
    second = np.concatenate([opened.outcomes, replied.outcomes]).astype(np.float64)
    weights = np.concatenate(
        [np.full(len(different), 0.5 / len(different)), np.tile(0.5 / len(different) * ROLL_CHANCES, len(different))]
    )
    return first, second, weights


def difference(table: MatchEquity, path: Path) -> str:
    """How far the table is from another one up to 9 away."""
    lines = [line for line in path.read_text().splitlines() if line and line[0] in "0123456789"]
    other = np.array([[float(cell) for cell in line.split(",")] for line in lines])[:9, :9]
    apart = np.abs(table.pre[1:10, 1:10] - other)
    return f"up to 9 away: mean difference {100 * apart.mean():.2f} %, largest {100 * apart.max():.2f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", help="the bot whose games begin the table")
    parser.add_argument("--efficiency", type=float, default=float(EFFICIENCY[CLASSES.index("contact")]))
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="say how far it is from this one")
    args = parser.parse_args()
    first, second, weights = beginnings(bgai.load(args.bot, bearoff=False))
    table = compute_table(first, second, weights, args.efficiency)
    even = (first + np.roll(first, 3)) / 2
    note = (
        "Match equity table of bgai: chance of the player who needs LINE points against one who needs COLUMN, 1 to\n"
        "25 each, before the Crawford game; the last line is after it, for the player behind, who needs COLUMN.\n"
        f"Made by tools/make_match_equity.py: gammons {2 * even[1]:.4f} and backgammons {2 * even[2]:.4f} of the\n"
        f"games, cube efficiency {args.efficiency:.3f}."
    )
    print(note.splitlines()[-2].split(": ")[1], note.splitlines()[-1])
    if args.write:
        args.write.write_text(table_text(table, note), encoding="utf-8")
        print(f"written: {args.write}")
    if args.compare:
        print(difference(table, args.compare))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
