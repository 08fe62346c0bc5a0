"""Bots resign what they are certain to lose, and front ends say so."""

import numpy as np
import pytest

import bgai
from bgai.bots import ValueBot
from bgai.evaluation.bearoff_tables import build_tables
from bgai.frontends.http import api
from bgai.frontends.terminal import Table, play_session
from bgai.referees import RandomBot
from bgai.rules.dice import rolls
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import Position, start_board


@pytest.fixture(scope="module")
def strong():
    return bgai.load("strong", bearoff=False)


def position(mine: dict[int, int], theirs: dict[int, int]) -> Position:
    """Men by point, each side's from its own view."""
    men = [0] * 26
    for point, count in mine.items():
        men[point] = count
    for point, count in theirs.items():
        men[25 - point] = -count
    return Position(men)


@pytest.mark.parametrize(
    ("mine", "theirs", "points"),
    [
        ({6: 4, 5: 4, 4: 4}, {1: 2}, 1),
        ({1: 5}, {1: 1}, 1),
        ({1: 2}, {1: 1}, 0),
        ({1: 5}, {6: 9}, 0),
        ({12: 8, 7: 7}, {1: 2}, 2),
        ({6: 8, 5: 7}, {1: 1}, 0),  # lost, but perhaps not a gammon
        ({23: 10, 22: 5}, {1: 1}, 3),
        ({20: 2, 6: 13}, {1: 2}, 0),  # a gammon, but perhaps a backgammon
    ],
)
def test_what_is_resigned(strong, mine, theirs, points):
    assert strong.resigns(position(mine, theirs)) == points


def test_nothing_is_resigned_with_contact_or_after_the_end(strong):
    assert strong.resigns(Position.start()) == 0
    assert strong.resigns(position({1: 15}, {24: 2, 1: 5})) == 0
    assert strong.resigns(position({6: 15}, {})) == 0
    assert RandomBot().resigns(position({1: 5}, {1: 1})) == 0


def test_the_exact_tables_are_asked_where_they_are(strong):
    exact = ValueBot(strong.network, name="exact", bearoff=build_tables(men=5))
    assert exact.resigns(position({1: 5}, {1: 2})) == 1
    assert exact.resigns(position({1: 4}, {1: 2})) == 0  # a double wins


@pytest.mark.parametrize("level", ["beginner", "strong"])
def test_what_is_resigned_would_have_been_lost(level):
    """Games that go on after all, to their end."""
    bot = bgai.load(level, bearoff=False)
    games = np.arange(60)
    boards, resigned = np.tile(start_board(), (len(games), 1)), {}
    for ply in range(400):
        for game, board in zip(games.tolist(), boards, strict=True):
            if game not in resigned and (points := bot.resigns(Position(board.tolist()))):
                resigned[game] = (ply % 2, points)
        boards = bot.choose_boards(boards, rolls(9, games, ply))
        lost = points_lost_many(boards)
        for game, points in zip(games[lost > 0].tolist(), lost[lost > 0].tolist(), strict=True):
            assert resigned.get(game, (1 - ply % 2, points)) == (1 - ply % 2, points)
        boards, games = boards[lost == 0], games[lost == 0]
        if not len(games):
            break
    assert len(resigned) > 15


class Quitter(RandomBot):
    """Resigns a gammon at its second turn."""

    turns = 0

    def resigns(self, pos):
        self.turns += 1
        return 2 if self.turns == 2 else 0


def test_the_terminal_says_that_the_bot_resigns(tmp_path):
    heard, answers = [], iter(["1", "1", "n"])
    table = Table(lambda prompt: next(answers), heard.append, lambda text: Quitter(), tmp_path / "game.json")
    play_session(table, wanted="random", seed=5)
    told = " ".join(" ".join(heard).split())
    assert "random resigns a gammon. You win a gammon: 2 points." in told
    assert "Score of this session: you 2, random 0." in told
    assert not (tmp_path / "game.json").exists()


def test_the_api_says_what_to_resign():
    lost, start = position({1: 5}, {1: 1}), Position.start()
    assert api.cube({"position": list(lost.men)})["resign"] == 1
    assert api.cube({"position": list(start.men)})["resign"] == 0
