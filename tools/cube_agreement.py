"""How a bot's cube decisions compare with gnubg's, in money games of the bot with itself.

    .venv/bin/python tools/cube_agreement.py strong@2 --decisions 2000 --plies 2

Positions are those in which the player on roll may double, one of each of the bot's games with the cube (no Jacoby,
no beavers); gnubg is the program of that name (Debian: apt-get install gnubg), asked through its own Python. A
decision is whether to double, and where either side would, whether to take. Its error is what it loses by gnubg's
equities.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import bgai
from bgai.arena.rating import mean_over_games
from bgai.arena.sessions import Session, Tables
from bgai.bots import ValueBot
from bgai.evaluation.cube import CENTRE, MINE, Stakes
from bgai.referees import gnubg_boards

ASK = """
import gnubg, json
gnubg.command('set jacoby off')
gnubg.command('set beavers 0')
given = json.load(open({source!r}))
context = {{'cubeful': 1, 'plies': {plies}, 'deterministic': 1, 'noise': 0.0, 'prune': 1}}
found = []
for board, cube, mine in given:
    info = gnubg.cubeinfo(cube, 0 if mine else -1, 0, 0, (0, 0), 0)
    found.append(gnubg.cfevaluate(tuple(tuple(side) for side in board), info, context)[1:4])
json.dump(found, open({target!r}, 'w'))
"""


class Watched(Tables):
    """Tables that note every position in which the player on roll may double."""

    def __init__(self, bot: ValueBot, pairs: np.ndarray, seed: int) -> None:
        super().__init__(bot, bot, pairs, seed, Session())
        self.met: list[tuple[np.ndarray, np.ndarray, Stakes]] = []

    def _cube(self) -> None:
        rows = self._may_double()
        self.met.append((rows, self.board[rows], self.stakes(rows)))
        super()._cube()


def decisions_of(bot: ValueBot, count: int, seed: int) -> tuple[np.ndarray, Stakes]:
    """One position of each game, drawn at random: boards [count, 26] and what they are played for."""
    tables = Watched(bot, np.arange(-(-count // 2) + 8, dtype=np.int64), seed)
    tables.play()
    rows = np.concatenate([each[0] for each in tables.met])
    boards = np.concatenate([each[1] for each in tables.met])
    stakes = Stakes(*(np.concatenate(arrays) for arrays in zip(*(each[2] for each in tables.met), strict=True)))
    order = np.random.default_rng(seed).permutation(len(rows))
    _, first = np.unique(rows[order], return_index=True)
    chosen = np.sort(order[first])[:count]
    return boards[chosen], stakes.take(chosen)


def gnubg_values(boards: np.ndarray, stakes: Stakes, plies: int) -> np.ndarray:
    """gnubg's no double, double and take, double and pass -> [N, 3], per unit of the cube."""
    program = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")
    if program is None:
        raise SystemExit("this needs the program gnubg: apt-get install gnubg")
    with tempfile.TemporaryDirectory() as folder:
        source, target, script = (Path(folder) / name for name in ("given.json", "found.json", "ask.py"))
        given = zip(gnubg_boards(boards), stakes.cube.tolist(), (stakes.owner == MINE).tolist(), strict=True)
        source.write_text(json.dumps(list(given)))
        script.write_text(ASK.format(source=str(source), target=str(target), plies=plies))
        subprocess.run([program, "-t", "-q", "-p", str(script)], stdout=subprocess.DEVNULL, check=True)
        return np.array(json.loads(target.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot")
    parser.add_argument("--decisions", type=int, default=2000)
    parser.add_argument("--plies", type=int, default=2, help="of gnubg (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bot = bgai.load(args.bot)
    boards, stakes = decisions_of(bgai.load(args.bot.partition("@")[0]), args.decisions, args.seed)
    began = time.monotonic()
    mine = bot.cube_values(boards, stakes)
    print(f"{len(boards):,} decisions; {bot.name} took {time.monotonic() - began:.1f} s", file=sys.stderr)
    theirs = gnubg_values(boards, stakes, args.plies)
    doubles, takes = np.minimum(mine[:, 1], mine[:, 2]) > mine[:, 0], mine[:, 1] <= mine[:, 2]
    their_doubles = np.minimum(theirs[:, 1], theirs[:, 2]) > theirs[:, 0]
    their_takes = theirs[:, 1] <= theirs[:, 2]
    asked = doubles | their_doubles  # the other one has to answer
    same = (doubles == their_doubles) & (~asked | (takes == their_takes))
    offered = np.minimum(theirs[:, 1], theirs[:, 2])
    error = np.maximum(theirs[:, 0], offered) - np.where(doubles, offered, theirs[:, 0])
    error += np.where(asked & (takes != their_takes), np.abs(theirs[:, 1] - theirs[:, 2]), 0)
    games = np.arange(len(boards))
    lost = mean_over_games(error, games)
    print(f"agreed with gnubg at {args.plies} plies: {100 * same.mean():.1f} %")
    print(f"error per decision: {lost.mean:.4f} ± {lost.half_width:.4f}")
    print(
        f"doubles: {doubles.sum()}, gnubg {their_doubles.sum()}; agreed where either doubles: "
        f"{100 * same[asked].mean():.1f} % of {asked.sum()}"
    )
    for name, part in (("centred cube", stakes.owner == CENTRE), ("owned cube", stakes.owner != CENTRE)):
        print(
            f"{name}: {part.sum()} decisions, agreed {100 * same[part].mean():.1f} %, error {error[part].mean():.4f}"
        )
    apart = mine[:, :2] - theirs[:, :2]
    print(
        f"no double: {apart[:, 0].mean():+.4f} ± {apart[:, 0].std():.4f} from gnubg's; "
        f"double and take: {apart[:, 1].mean():+.4f} ± {apart[:, 1].std():.4f}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
