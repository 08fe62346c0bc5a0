"""bgai as a UBGI engine: what known controllers send, in both dialects, and what must not end it."""

import io
import random
import subprocess
import sys

import pytest

from bgai.bots import load
from bgai.frontends.ubgi import MOST_LINE, UbgiEngine, talk
from bgai.notation.plays import parse_play
from bgai.referees import RandomBot
from bgai.rules.position import Position

START = "4HPwATDgc/ABMA"
AHEAD = "XGID=-BBBCCC------b-----accbbb-:0:0:1:00:0:0:0:0:10"  # a race in which all double and all pass


@pytest.fixture(scope="module")
def normal():
    return load("normal")


@pytest.fixture
def engine(normal):
    return UbgiEngine(normal)


def say(engine: UbgiEngine, *lines: str) -> list[str]:
    """All answers to these lines."""
    return [answer for line in lines for answer in engine.answer(line)]


def test_the_sequence_of_a_duel_runner(engine):
    hello = say(engine, "ubgi")
    assert hello[0] == "id name bgai normal" and hello[1].startswith("id author ") and hello[-1] == "ubgiok"
    assert "proto 0.2" in hello and any(line.startswith("option name Plies type spin") for line in hello)
    assert say(engine, "isready", "newgame", "isready") == ["readyok", "readyok"]
    lines = (f"position gnubgid {START}", "setturn p1", "dice 3 1", "go role chequer")
    assert say(engine, *lines) == ["bestmove 8/5 6/5"]
    assert say(engine, "dice 6 6", "go") == ["bestmove 24/18 24/18 13/7 13/7"]
    assert say(engine, "quit") == [] and engine.finished


def test_dialect_0_2(engine):
    keys = say(engine, "keys")
    assert keys[0].startswith("key engine.plies int 1..3 1 ") and keys[1].startswith(
        "key game.variant enum backgammon "
    )
    assert say(engine, "set engine.plies 2", "get engine.plies") == ["value engine.plies 2"]
    assert say(engine, "set engine.plies 4") == [
        "error bad_value engine.plies must be a whole number from 1 to 3, not '4'"
    ]
    assert say(engine, "get engine.speed")[0].startswith("error unsupported ")
    assert say(engine, "set engine.plies 1", f"position gnubgid {START}", "dice 3 1", "go chequer") == [
        "bestmove 8/5 6/5"
    ]
    assert say(engine, "position gnubgid nonsense")[0].startswith("error bad_value ")
    assert say(engine, "go chequer")[0].startswith("error bad_state there is no position")
    assert say(engine, "proto 0.1") == [] and say(engine, "go")[0].startswith("error missing_context ")
    assert say(engine, "proto 9")[0].startswith("error unsupported")


def test_options_of_0_1(engine):
    assert say(engine, "setoption name Plies value 3", "setoption name Variant value Backgammon") == []
    assert engine.plies == 3
    assert say(engine, "setoption name Variant value hypergammon")[0].startswith("error bad_argument ")
    assert say(engine, "setoption name Threads value 3")[0].startswith("error unsupported_feature there is no option")
    assert say(engine, "setoption Plies 3")[0].startswith("error bad_argument expected: setoption name")


def test_every_play_is_unfolded_and_legal(engine):
    pick = random.Random(3)
    position = Position.start()
    for _ in range(60):
        dice = (pick.randint(1, 6), pick.randint(1, 6))
        [answer] = say(engine, f"position gnubgid {position.id}", f"dice {dice[0]} {dice[1]}", "go role chequer")
        text = answer.removeprefix("bestmove ")
        play = parse_play(text, position, dice)
        assert "*" not in text and "(" not in text and len(text.split()) == max(len(play.moves), 1)
        assert (text == "pass") == (not play.moves)
        position = play.after
        if 15 in position.off:
            break


def test_the_cube(engine):
    assert say(engine, f"position xgid {AHEAD}", "go role cube") == ["bestcube double"]
    assert say(engine, f"position gnubgid {START}", "go cube") == ["bestcube nodouble"]
    assert say(engine, f"position xgid {AHEAD.replace(':00:', ':D:')}", "go role cube") == ["bestcube drop"]
    doubled = "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"
    assert say(engine, f"position xgid {doubled}", "go role cube") == ["bestcube take"]
    assert say(engine, f"position xgid {AHEAD}", "dice 6 5", "go role turn")[0].startswith(
        "bestturn cube=double move="
    )
    say(engine, f"position gnubgid {START}", "dice 3 1")
    assert say(engine, "go turn") == ["bestturn cube=nodouble move=8/5 6/5"]


def test_score_and_cube_are_kept(engine):
    race = f"position gnubgid {Position([0, 2, 2, 2, 3, 3, 3, *[0] * 6, -2, *[0] * 5, -1, -3, -3, -2, -2, -2, 0]).id}"
    assert say(engine, "newsession type match length 5 crawford on", "setturn p0", race, "go cube") == [
        "bestcube double"
    ]
    assert say(engine, "setcube value 2 owner p1", "go cube") == ["bestcube nodouble"]
    assert say(engine, "setcube value 2 owner p0", "go cube") == ["bestcube double"]
    assert say(engine, "newgame", "setscore 2 4", race, "go cube") == ["bestcube nodouble"]  # the Crawford game
    assert say(engine, "newgame", "setscore 3 4", race, "go cube") == ["bestcube double"]  # and the one after it
    assert say(engine, "newsession type money jacoby on", race, "go cube") == ["bestcube double"]
    assert say(engine, "newsession type match length 5 crawford off", "setscore 2 4", race, "go cube") == [
        "bestcube double"
    ]


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("hello", "error unknown_command hello"),
        ("_ask now", "error unknown_command _ask"),
        ("answer x", "error unknown_command answer"),
        ("dice 7 1", "error bad_argument a die must be"),
        ("dice 3", "error bad_argument expected: dice"),
        ("dice three one", "error bad_argument a die"),
        ("setturn p2", "error bad_argument expected: setturn"),
        ("setscore 1", "error bad_argument expected: setscore"),
        ("setscore -1 0", "error bad_argument the score of p0"),
        ("setcube value 3 owner center", "error bad_argument cube must be"),
        ("setcube value 2 owner me", "error bad_argument owner must be"),
        ("setcube value", "error bad_argument expected pairs"),
        ("newsession type match", "error bad_argument a match needs its length"),
        ("newsession type match length 0", "error bad_argument length must be"),
        ("newsession type duel", "error bad_argument type must be"),
        ("position", "error bad_argument expected: position"),
        ("position fen x", "error bad_argument expected: position"),
        ("position xgid XGID=x", "error bad_argument an XGID has 10 fields"),
        ("position gnubgid 4HPwATDgc/ABM", "error bad_argument"),
        ("go role king", "error bad_argument the role is"),
        ("go speed 3", "error bad_argument expected pairs"),
        ("go depth x", "error bad_argument depth must be"),
        ("go", "error missing_context there are no dice"),
        ("set engine.plies", "error bad_value expected: set KEY VALUE"),
        ("x" * (MOST_LINE + 1), "error bad_argument a line has at most"),
    ],
)
def test_a_wrong_line_is_an_error_and_the_engine_goes_on(engine, line, start):
    [answer] = say(engine, line)
    assert answer.startswith(start)
    assert say(engine, f"position gnubgid {START}", "dice 3 1", "go") == ["bestmove 8/5 6/5"]


def test_a_finished_game_has_nothing_to_decide(engine):
    over = Position([0] * 20 + [-1] + [0] * 5).id
    assert say(engine, f"position gnubgid {over}", "dice 3 1", "go")[0].startswith("error bad_argument ")


def test_depth_holds_for_one_decision(engine):
    say(engine, f"position gnubgid {START}", "dice 4 3")
    assert say(engine, "go depth 2 movetime 500")[0].startswith("bestmove ") and engine.plies == 1


def test_any_bot_is_an_engine():
    engine = UbgiEngine(RandomBot())
    assert not any("Plies" in line for line in say(engine, "ubgi"))
    assert say(engine, "set engine.plies 2")[0].startswith("error unsupported")
    [answer] = say(engine, f"position gnubgid {START}", "dice 3 1", "go")
    parse_play(answer.removeprefix("bestmove "), Position.start(), (3, 1))
    assert say(engine, "go cube") == ["bestcube nodouble"]


def test_a_bot_is_ready_when_it_has_decided_everything_once():
    asked = []

    class Asked(RandomBot):
        def choose_boards(self, boards, dice):
            asked.append("play")
            return super().choose_boards(boards, dice)

        def doubles(self, boards, stakes):
            asked.append("double")
            return super().doubles(boards, stakes)

        def takes(self, boards, stakes):
            asked.append("take")
            return super().takes(boards, stakes)

    engine = UbgiEngine(Asked())
    assert say(engine, "ubgi")[-1] == "ubgiok" and asked == []
    assert say(engine, "isready") == ["readyok"] and set(asked) == {"play", "double", "take"}
    asked.clear()
    assert say(engine, "newgame", "isready") == ["readyok"] and asked == []


def test_random_lines_never_end_it(engine):
    pick = random.Random(1)
    words = [
        "go",
        "role",
        "cube",
        "chequer",
        "position",
        "gnubgid",
        START,
        "xgid",
        AHEAD,
        "dice",
        "3",
        "1",
        "set",
        "p1",
    ]
    words += [
        "setcube",
        "value",
        "owner",
        "center",
        "newsession",
        "type",
        "match",
        "length",
        "5",
        "setscore",
        "é",
        "\0",
    ]
    for _ in range(500):
        for answer in engine.answer(" ".join(pick.choices(words, k=pick.randint(1, 6)))):
            assert answer.split()[0] in ("error", "bestmove", "bestcube", "bestturn") and "\n" not in answer


def test_long_lines_are_not_kept(engine):
    out = io.StringIO()
    talk(engine, io.StringIO("x" * 50_000 + "\nisready\n\nquit\nisready\n"), out)
    assert out.getvalue() == "error bad_argument a line has at most 4096 characters\nreadyok\n"


def test_the_command_answers_at_once_and_says_nothing_else():
    words = [sys.executable, "-m", "bgai", "ubgi", "--bot", "random"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        child.stdin.write(b"isready\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"readyok\n"
        child.stdin.write(b"\xff\xfe\nquit\n")
        child.stdin.flush()
        assert child.wait(timeout=30) == 0
        assert child.stdout.read().startswith(b"error unknown_command ") and child.stderr.read() == b""
