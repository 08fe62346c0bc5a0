"""How far a bot's network is from the bearoff tables: its chances, and the plays that it chooses by one ply.

    .venv/bin/python tools/bearoff_error.py [BOT] [--games 2000]

Positions come from the bot's games against itself, and evenly from all there are. With more than six men a side the
tables' own winning chances are approximate (see bgai/evaluation/bearoff.py), so errors of a thousandth are not the
bot's alone. The bot is measured without tables of its own.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from bgai.bots import ValueBot, load
from bgai.evaluation.bearoff_tables import BearoffTables, bearoff_outcomes, cache_folder, open_tables
from bgai.evaluation.search import equities, set_certain
from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import BAR, HOME, MEN, POINTS, start_board

NOTICED = 1e-6  # points; a smaller loss is the tables' rounding
BATCH = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", nargs="?", default="strong")
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bot, tables = load(args.bot, bearoff=False), open_tables(cache_folder(os.environ))
    print(f"{bot.name}: {bot.description}")
    played = games_bearoffs(bot, tables, args.games, args.seed)
    report("positions of its games", bot, tables, *played)
    report("positions drawn evenly", bot, tables, *even_bearoffs(len(played[0]), args.seed))


def games_bearoffs(bot: ValueBot, tables: BearoffTables, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pure bearoffs that the bot's games against itself come to: boards [N, 26], dice [N, 2]."""
    games, boards = np.arange(count), np.repeat(start_board()[None], count, axis=0)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    ply = 0
    while len(games):
        dice = rolls(seed, games, ply)
        mask, _ = bearoff_outcomes(tables, boards)
        found.append((boards[mask], dice[mask]))
        boards = bot.choose_boards(boards, dice)
        going = points_lost_many(boards) == 0
        games, boards, ply = games[going], boards[going], ply + 1
    all_boards, all_dice = zip(*found, strict=True)
    return np.concatenate(all_boards), np.concatenate(all_dice)


def even_bearoffs(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Any bearoff with the same chance: boards [N, 26], dice [N, 2]; N is `count`, or less by those without men."""
    rng = np.random.default_rng(seed)
    # Six bars at random places among 21 part 15 men into those of the six points, and those off.
    bars = np.sort(rng.random((2, count, MEN + HOME)).argsort(axis=2)[:, :, :HOME], axis=2)
    mine, theirs = np.diff(bars, axis=2, prepend=-1).astype(np.int8) - 1
    boards = np.zeros((count, POINTS), dtype=np.int8)
    boards[:, 1 : HOME + 1] = mine
    boards[:, BAR - 1 : BAR - 1 - HOME : -1] = -theirs
    boards = boards[mine.any(axis=1) & theirs.any(axis=1)]
    return boards, rng.integers(1, 7, size=(len(boards), 2)).astype(np.int8)


def report(title: str, bot: ValueBot, tables: BearoffTables, boards: np.ndarray, dice: np.ndarray) -> None:
    """Print both errors for boards [N, 26] and the rolls [N, 2] to be played there."""
    _, exact = bearoff_outcomes(tables, boards)
    given = bot.network.outcomes_of(boards)
    set_certain(boards, given)
    errors = np.abs(given[:, :3].sum(axis=1) - exact[:, :3].sum(axis=1))
    equity_errors = np.abs(equities(given) - equities(exact))
    print(f"\n{title}: {len(boards):,}")
    print(f"  chance of winning: off by {errors.mean():.4f} on average, {np.quantile(errors, 0.99):.4f} in the")
    print(f"  worst hundredth, at most {errors.max():.4f}; equity off by {equity_errors.mean():.4f} on average")

    losses, choices = [], 0
    for at in range(0, len(boards), BATCH):
        here, roll = boards[at : at + BATCH], dice[at : at + BATCH]
        rows, starts = afterstates(here, roll)
        best = np.minimum.reduceat(equities(bearoff_outcomes(tables, rows)[1]), starts[:-1])
        chosen = equities(bearoff_outcomes(tables, bot.choose_boards(here, roll))[1])
        several = np.diff(starts) > 1
        choices += int(several.sum())
        losses.append((chosen - best)[several])
    loss = np.concatenate(losses)
    worse = loss > NOTICED
    print(f"  decisions: {choices:,} with a choice; {worse.mean():.2%} play worse than the tables, which costs")
    print(f"  {loss.mean():.5f} points per decision ({loss[worse].mean() if worse.any() else 0:.4f} per error),")
    print(f"  at most {loss.max():.4f}; more than 0.01 in {(loss > 0.01).mean():.2%}")


if __name__ == "__main__":
    main()
