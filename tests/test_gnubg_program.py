"""The real gnubg as a bot with cube and score; skipped where the program is not installed."""

import shutil

import numpy as np
import pytest

from bgai.arena.sessions import Session, play_session
from bgai.bots import UnknownBot, load, open_bot
from bgai.evaluation.cube import MINE, THEIRS, Stakes
from bgai.referees import illegal_rows
from bgai.rules.position import start_board

HERE = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")
needs_gnubg = pytest.mark.skipif(HERE is None, reason="the program gnubg is not installed (apt-get install gnubg)")


@pytest.fixture(scope="module")
def gnubg():
    return open_bot("gnubg-program:0")


@needs_gnubg
def test_known_plays_and_cube_values(gnubg):
    boards = np.repeat(start_board()[None], 3, axis=0)
    dice = np.array([[3, 1], [4, 2], [6, 1]], dtype=np.int8)
    after = gnubg.choose_boards(boards, dice)
    assert len(illegal_rows(boards, dice, after)) == 0
    for board, point in zip(after, (5, 4, 7), strict=True):
        assert board[25 - point] == -2  # each makes its point
    no_double, take, passed = gnubg.cube_values(boards[:1], Stakes.money(1))[0]
    assert 0 < no_double < 0.2 and -0.4 < take < 0 and passed == pytest.approx(1, abs=1e-4)


@needs_gnubg
def test_owner_and_score_arrive(gnubg):
    boards = np.repeat(start_board()[None], 4, axis=0)
    stakes = Stakes.money(4)._replace(owner=np.array([MINE, THEIRS, 0, 0]), cube=np.array([2, 2, 1, 1]))
    values = gnubg.cube_values(boards, stakes)
    assert values[0, 0] > values[2, 0] > values[1, 0]
    one = np.ones(1, dtype=np.int64)
    no = np.zeros(1, dtype=bool)
    # After Crawford the player behind doubles at once, the leader never.
    assert gnubg.doubles(boards[:1], Stakes(3 * one, one, one, 0 * one, no, no))[0]
    assert not gnubg.doubles(boards[:1], Stakes(one, 3 * one, one, 0 * one, no, no))[0]


@needs_gnubg
def test_it_plays_whole_matches(gnubg):
    result = play_session(load("beginner", bearoff=False), gnubg, 8, 4, Session(length=3))
    assert result.games == 8 and set(result.points) <= {1, -1}


@pytest.mark.parametrize("text", ["gnubg-program", "gnubg-program:3", "gnubg-program:x"])
def test_wrong_plies_are_told(text):
    with pytest.raises(UnknownBot, match="gnubg-program"):
        open_bot(text)
