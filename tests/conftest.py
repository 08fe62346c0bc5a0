"""What the tests share: positions from random games and from men scattered where games rarely lead, and the command
line."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from bgai.cli import main
from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import InvalidPosition, Position, start_board

Rolled = tuple[np.ndarray, np.ndarray]
"""Boards [n, 26] seen by the mover and the dice [n, 2] he rolled; no game is over."""


def _game_positions(n: int, seed: int) -> Rolled:
    rng = np.random.default_rng(seed)
    games = np.arange(n // 40 + 2)
    boards = np.tile(start_board(), (len(games), 1))
    seen_boards, seen_dice = [], []
    for ply in range(400):
        dice = rolls(seed, games, ply)
        seen_boards.append(boards)
        seen_dice.append(dice)
        rows, starts = afterstates(boards, dice)
        boards = rows[rng.integers(starts[:-1], starts[1:])]
        goes_on = points_lost_many(boards) == 0
        boards, games = boards[goes_on], games[goes_on]
        if not len(games):
            break
    # Whole games, so that the bear-off comes as often as it does in play.
    chosen = rng.permutation(sum(map(len, seen_boards)))[:n]
    return np.concatenate(seen_boards)[chosen], np.concatenate(seen_dice)[chosen]


def _scattered_men(rng: np.random.Generator) -> list[int]:
    """One side's men from its own view: 25 counts, points 1 to 24 and the bar."""
    men = [0] * 25
    reach = int(rng.choice([6, 8, 12, 24]))
    for point in rng.choice(6, size=int(rng.choice([0, 0, 4, 5, 6])), replace=False):
        men[point] = 2
    men[24] = int(rng.choice([0, 0, 0, 1, 2, 3]))
    for _ in range(int(rng.integers(1, 16)) - sum(men)):
        men[rng.integers(reach)] += 1
    return men


def _scattered_position(rng: np.random.Generator) -> Position:
    while True:
        mine, theirs = _scattered_men(rng), _scattered_men(rng)
        mine_first = rng.random() < 0.5
        men = [-theirs[24], *(0,) * 24, mine[24]]
        for point in range(1, 25):
            mine_here, theirs_here = mine[point - 1], theirs[24 - point]
            if mine_here and (mine_first or not theirs_here):
                men[point] = mine_here
            else:
                men[point] = -theirs_here
        if max(men) > 0 > min(men):
            try:
                return Position(men)
            except InvalidPosition:
                continue


def _scattered_positions(n: int, seed: int) -> Rolled:
    rng = np.random.default_rng(seed)
    boards = np.array([_scattered_position(rng).men for _ in range(n)], dtype=np.int8)
    return boards, rng.integers(1, 7, size=(n, 2)).astype(np.int8)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> None:
    """A shell makes what it starts in the background deaf to Ctrl-C, and so would be the programs that tests stop."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def no_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty cache folder, so that no test's bot finds the bearoff tables that the user may have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BGAI_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("BGAI_BEAROFF", raising=False)
        yield


@pytest.fixture(scope="session")
def game_positions() -> Callable[[int, int], Rolled]:
    """(n, seed) -> positions of random games from the opening to the end."""
    return _game_positions


@pytest.fixture(scope="session")
def scattered_positions() -> Callable[[int, int], Rolled]:
    """(n, seed) -> random men: both bars occupied, closed boards, bear-offs with contact, few men."""
    return _scattered_positions


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs `bgai WORDS`: exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as left:  # argparse leaves so
            code = int(left.code or 0)
        return code, *capsys.readouterr()

    return run
