"""Makes bgai/arena/benchmark.npz: decisions from many sources, every candidate valued by gnubg and bgsage.

    nice -n 19 .venv/bin/python tools/make_benchmark.py PARTS --chunks 62      (20 minutes if quiet; may be stopped)
    .venv/bin/python tools/make_benchmark.py PARTS --write bgai/arena/benchmark.npz

A chunk is 100 decisions and the same mix as the whole: 60 from games between all pairs of PLAYERS, 40 from games
that begin at set-up positions which self-play seldom reaches, eight each of back games, prime against prime,
ace-point games, bearoffs against contact, and several men on the bar; at most two decisions a game. A chunk is a
function of its number, SEED and the bots, and is one file in PARTS. Candidates are valued as judges.py says, and at
full depth also everything that one of PLAYERS chooses.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bgai.arena.benchmark import Benchmark, load_benchmark, save_benchmark
from bgai.arena.judges import MARGIN, Judge, candidates, indices, judge_one, open_judge
from bgai.arena.rating import Decisions, played_decisions
from bgai.bots import Bot, ValueBot, open_bot
from bgai.rules.dice import random_bits
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import BAR, HOME, MEN, InvalidPosition, Position, start_board, turn

SEED = 7_415_926_535
PLAYERS = ("beginner", "normal", "strong", "pubeval", "gnubg:0", "bgsage:1")
JUDGES = ("gnubg:2", "bgsage:3")
WHOLE = 6_000
PER_CHUNK = 100
GAMES = 30  # of each chunk, from the opening
SETUP_GAMES = 4  # of each chunk and each kind of set-up
PER_GAME = 2
SETUP_PLIES = 16
PAIRS = tuple(itertools.combinations_with_replacement(range(len(PLAYERS)), 2))

Men = list[int]


def put(men: Men, point: int, count: int) -> None:
    """Add own men to a point of the mover's board, where the opponent must not stand."""
    if men[point] < 0:
        raise InvalidPosition(f"both players on point {point}")
    men[point] += count


def scatter(rng: np.random.Generator, men: Men, points: range | list[int], count: int) -> None:
    """Own men, ones, twos and threes, on random points that the opponent has left free."""
    while count > 0:
        free = [point for point in points if men[point] >= 0]
        if not free:
            raise InvalidPosition("no free point left")
        group = min(count, int(rng.integers(1, 4)))
        put(men, int(rng.choice(free)), group)
        count -= group


def other_side(men: Men) -> Men:
    return [-n for n in reversed(men)]


def back_game(rng: np.random.Generator) -> Men:
    """One player holds two points of the other's home, the other brings his men around."""
    men = [0] * (BAR + 1)
    anchors = rng.choice([1, 2, 3, 4, 5], size=2, replace=False)
    for point in anchors:
        put(men, BAR - int(point), int(rng.integers(2, 4)))
    scatter(rng, men, range(3, 14), MEN - sum(men))
    theirs = other_side(men)
    scatter(rng, theirs, range(3, 13), MEN - int(rng.integers(0, 3)))
    scatter(rng, theirs, range(13, 19), MEN - sum(n for n in theirs if n > 0))
    return theirs


def prime_against_prime(rng: np.random.Generator) -> Men:
    """Both hold four or five points in a row, with one to three men of the other behind them."""
    men = [0] * (BAR + 1)
    for _ in range(2):
        first, length = int(rng.integers(3, 6)), int(rng.integers(4, 6))
        for point in range(first, first + length):
            put(men, point, 2)
        behind = int(rng.integers(1, min(4, 16 - 2 * length)))
        scatter(rng, men, [BAR - point for point in range(1, first)], behind)
        scatter(rng, men, range(7, 18), MEN - sum(n for n in men if n > 0))
        men = other_side(men)
    return men


def ace_point(rng: np.random.Generator) -> Men:
    """One player waits on the other's ace point with his home made; the other brings the last men in."""
    men = [0] * (BAR + 1)
    put(men, BAR - 1, int(rng.integers(2, 4)))
    scatter(rng, men, range(1, 9), MEN - sum(men))
    theirs = other_side(men)
    scatter(rng, theirs, range(2, 7), int(rng.integers(10, MEN)))
    scatter(rng, theirs, range(7, 13), MEN - sum(n for n in theirs if n > 0))
    return theirs


def contact_bearoff(rng: np.random.Generator) -> Men:
    """One player bears off, the other still has one to four men in that home or on the bar."""
    men = [0] * (BAR + 1)
    scatter(rng, men, [BAR - 1, BAR - 2, BAR - 3, BAR], int(rng.integers(1, 5)))
    scatter(rng, men, range(1, 10), MEN - sum(men))
    theirs = other_side(men)
    scatter(rng, theirs, range(1, HOME + 1), int(rng.integers(5, MEN + 1)))
    return theirs


def men_on_the_bar(rng: np.random.Generator) -> Men:
    """Two to four men of one player on the bar, sometimes one or two of the other's as well."""
    men = [0] * (BAR + 1)
    put(men, BAR, int(rng.integers(2, 5)))
    scatter(rng, men, [*range(3, 14), 20, 21, 23, 24], MEN - sum(men))
    theirs = other_side(men)
    put(theirs, BAR, int(rng.choice([0, 0, 1, 2])))
    scatter(rng, theirs, [*range(2, 12), 13, 18, 24], MEN - sum(n for n in theirs if n > 0))
    return theirs


SETUPS: dict[str, Callable[[np.random.Generator], Men]] = {
    "back game": back_game,
    "prime against prime": prime_against_prime,
    "ace-point game": ace_point,
    "contact bearoff": contact_bearoff,
    "men on the bar": men_on_the_bar,
}


def setup_boards(make: Callable[[np.random.Generator], Men], count: int, rng: np.random.Generator) -> np.ndarray:
    """Boards [count, 26] of one kind, either player to roll."""
    boards: list[np.ndarray] = []
    while len(boards) < count:
        try:
            board = Position(make(rng)).board
        except InvalidPosition:
            continue
        if not points_lost_many(np.stack([board, turn(board)])).any():
            boards.append(board if rng.integers(2) else turn(board))
    return np.stack(boards)


def chunk_decisions(number: int, players: list[Bot]) -> tuple[Decisions, np.ndarray]:
    """The decisions of a chunk, and where each comes from."""
    rng = np.random.default_rng([SEED, number])
    parts, sources = [], []
    kinds = [("opening", GAMES, 0), *((kind, SETUP_GAMES, 1) for kind in SETUPS)]
    first_game = number * (GAMES + SETUP_GAMES * len(SETUPS))
    for kind, count, first_ply in kinds:
        games = np.arange(first_game, first_game + count, dtype=np.int64)
        first_game += count
        pairs = np.array([PAIRS[random_bits(SEED, game, 2**40) % len(PAIRS)] for game in games])
        seats = np.where(rng.integers(2, size=(count, 1)) == 1, pairs[:, ::-1], pairs)
        starts = (
            setup_boards(SETUPS[kind], count, rng) if first_ply else np.repeat(start_board()[None], count, axis=0)
        )
        plies = {"most_plies": SETUP_PLIES} if first_ply else {}
        met = played_decisions(players, seats, starts, games, SEED, first_ply=first_ply, **plies)
        for game, (a, b) in zip(games, pairs, strict=True):
            rows = np.flatnonzero(met.games == game)
            rows = np.sort(rng.permutation(rows)[:PER_GAME])
            parts.append(met.take(rows))
            sources += [f"{kind}: {PLAYERS[a]} - {PLAYERS[b]}"] * len(rows)
    return Decisions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))), np.array(sources)


def valued(
    decisions: Decisions, sources: np.ndarray, players: list[Bot], judges: list[Judge], margin: float = MARGIN
) -> Benchmark:
    """The decisions with the value of every candidate by every judge."""
    rows, starts = candidates(decisions.boards, decisions.dice)
    wanted = np.zeros(len(rows), dtype=bool)
    for player in players:
        wanted[indices(rows, starts, player.choose_boards(decisions.boards, decisions.dice))] = True
    values: dict[str, np.ndarray] = {}
    full: dict[str, np.ndarray] = {}
    for judge in judges:
        found = [
            judge_one(judge, board, roll, rows[first:end], wanted[first:end], margin)
            for board, roll, first, end in zip(decisions.boards, decisions.dice, starts[:-1], starts[1:], strict=True)
        ]
        values[judge.name] = np.concatenate([each for each, _ in found])
        full[judge.name] = np.concatenate([each for _, each in found])
    about = {"seed": SEED, "margin": margin, "players": {player.name: told(player) for player in players}}
    return Benchmark(decisions, sources, rows, starts, values, full, about)


def told(bot: Bot) -> str:
    """Which bot of that name this was."""
    if not isinstance(bot, ValueBot):
        return bot.description
    card = bot.card
    return f"run {card.get('run', '?')}, {card.get('games', '?')} games, hidden {list(bot.network.hidden)}"


def joined(parts: list[Benchmark], most: int) -> Benchmark:
    """The parts as one, without repeated decisions, at most `most` of them."""
    seen: set[bytes] = set()
    keep: list[np.ndarray] = []
    for part in parts:
        mask = np.zeros(len(part), dtype=bool)
        for i in range(len(part)):
            key = part.decisions.boards[i].tobytes() + np.sort(part.decisions.dice[i]).tobytes()
            mask[i] = key not in seen and len(seen) < most
            if mask[i]:
                seen.add(key)
        keep.append(mask)
    taken = [part.decisions.take(mask) for part, mask in zip(parts, keep, strict=True)]
    decisions = Decisions(*(np.concatenate(arrays) for arrays in zip(*taken, strict=True)))
    kept = [np.repeat(mask, np.diff(part.starts)) for part, mask in zip(parts, keep, strict=True)]
    rows, starts = candidates(decisions.boards, decisions.dice)

    def of_all(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([array[mask] for array, mask in zip(arrays, kept, strict=True)])

    players: dict[str, list[str]] = {}
    for part in parts:
        for name, text in part.about["players"].items():
            if text not in players.setdefault(name, []):
                players[name].append(text)
    about = {
        "seed": SEED,
        "margin": parts[0].about["margin"],
        "players": players,
        "note": "" if len(seen) >= WHOLE else f"interim, {WHOLE:,} are meant to be",
    }
    return Benchmark(
        decisions,
        np.concatenate([part.sources[mask] for part, mask in zip(parts, keep, strict=True)]),
        rows,
        starts,
        {name: of_all([part.values[name] for part in parts]) for name in JUDGES},
        {name: of_all([part.full[name] for part in parts]) for name in JUDGES},
        about,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", type=Path, help="folder of the chunks that are done")
    parser.add_argument("--chunks", type=int, default=0, help="make those of chunks 0 to CHUNKS - 1 that are missing")
    parser.add_argument("--write", type=Path, metavar="FILE", help="join the chunks that are done into this file")
    parser.add_argument("--decisions", type=int, default=WHOLE, help="at most so many (default %(default)s)")
    args = parser.parse_args()
    args.parts.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(args.chunks) if not (args.parts / f"chunk-{number:03}.npz").exists()]
    if missing:
        players, judges = [open_bot(name) for name in PLAYERS], [open_judge(name) for name in JUDGES]
        for number in missing:
            began = time.monotonic()
            decisions, sources = chunk_decisions(number, players)
            part = valued(decisions, sources, players, judges)
            save_benchmark(part, args.parts / f"chunk-{number:03}.npz")
            print(f"chunk {number}: {len(part)} decisions, {time.monotonic() - began:.0f} s", flush=True)
    if args.write is not None:
        parts = [load_benchmark(path) for path in sorted(args.parts.glob("chunk-*.npz"))]
        if not parts:
            print(f"{args.parts} holds no chunks yet", file=sys.stderr)
            return 1
        whole = joined(parts, args.decisions)
        save_benchmark(whole, args.write)
        print(f"{args.write}: {len(whole):,} decisions, {args.write.stat().st_size:,} bytes")
        print(json.dumps(whole.about, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
