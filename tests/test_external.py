"""bgai as gnubg's external player: whole matches against the real gnubg, and every kind of line by itself."""

import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bgai.bots import load
from bgai.frontends.external import MOST_LINE, External
from bgai.frontends.external_server import Server
from bgai.notation.fibs import from_fibs
from bgai.notation.matchfiles import read_file
from bgai.notation.plays import parse_play
from bgai.referees import RandomBot

GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")

START = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"


def board(men: str = START, *, length=0, scores="0:0", turn=1, dice="0:0:0:0", cube="1:1:1:0", off="0:0", last="0:1"):
    """A line as gnubg sends it. cube: value, may double (both), was doubled; last: post-Crawford, no Crawford."""
    bar = f"{men.split(':')[25]}:{men.split(':')[0].lstrip('-')}"
    return f"board:gnubg:root:{length}:{scores}:{men}:{turn}:{dice}:{cube}:1:-1:0:25:{off}:{bar}:0:0:{last}"


@pytest.fixture(scope="module")
def normal():
    return load("normal")


@pytest.fixture
def ask(normal):
    player = External(normal)

    def answer(line: str) -> str:
        lines = player.answer(line)
        assert len(lines) == 1
        return lines[0]

    return answer


# What gnubg asks


def test_the_opening_roll_from_either_seat(ask):
    assert ask(board(dice="3:1:3:1")) == "8/5 6/5"
    # Player 0 has the negative numbers of gnubg's board and moves from 24 to 1 all the same.
    turned = ":".join(str(-int(men)) for men in reversed(START.split(":")))
    assert turned == START
    assert ask(board(turn=-1, dice="3:1:3:1")) == "8/5 6/5"


def test_men_on_the_bar_and_borne_off_have_gnubgs_numbers(ask):
    closed = "0:0:0:0:0:0:4:0:0:0:0:0:5:5:0:0:0:0:0:-2:0:-2:-2:-2:-2:1"
    assert ask(board(closed, dice="5:1:5:1", off="0:5")).startswith("25/20 ")
    last = "0:2:2:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-2:-2:0"
    assert sorted(ask(board(last, dice="2:1:2:1", off="11:11")).split()) == ["1/0", "2/0"]


def test_a_roll_that_cannot_be_played_is_an_empty_line(ask):
    shut = "0:0:0:0:0:0:4:0:0:0:0:0:5:5:0:0:0:0:0:-2:-2:-2:-2:-2:-2:1"
    assert ask(board(shut, dice="6:5:6:5", off="0:3")) == ""


# The roller is 12 pips ahead in a race; and he has four men left while the other is far from home.
AHEAD = "0:2:2:2:3:3:3:0:0:0:0:0:0:-2:0:0:0:0:0:-1:-3:-3:-2:-2:-2:0"
GAMMON = "0:2:2:0:0:0:0:-5:-5:-5:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0"
BEHIND = ":".join(str(-int(men)) for men in reversed(AHEAD.split(":")))


def test_before_the_roll_it_rolls_or_doubles(ask):
    assert ask(board()) == "roll"
    assert ask(board(AHEAD)) == "double"
    assert ask(board(AHEAD, cube="2:1:0:0")) == "double"
    assert ask(board(AHEAD, cube="2:0:1:0")) == "roll"  # the other one owns the cube
    assert ask(board(AHEAD, length=5, scores="4:2", last="0:0")) == "roll"  # the Crawford game
    assert ask(board(BEHIND, turn=-1)) == "double"


def test_a_double_is_taken_or_dropped(ask):
    assert ask(board(cube="1:1:1:1")) == "take"
    assert ask(board(AHEAD, cube="1:1:1:1")) == "drop"
    assert ask(board(AHEAD, length=5, cube="1:1:1:1")) == "drop"


def test_score_counts(ask, normal):
    line = board(length=7, scores="3:3", dice="6:4:6:4")
    match = from_fibs(line, gnubg_request=True)
    assert (match.length, match.score, match.turn) == (7, (3, 3), 1)
    assert parse_play(ask(line), match.position, (6, 4)).after == normal.choose_in(match).after
    # gnubg's client writes the score of the player who is asked first, and of the doubler's opponent second.
    assert from_fibs(board(length=7, scores="4:2"), gnubg_request=True).score == (4, 2)


def test_resignations_are_accepted_or_rejected(ask):
    assert ask(board() + " resignation 1") == "accept"
    turned = board(GAMMON, off="11:0", cube="2:1:0:0")
    assert [ask(f"{turned} resignation {kind}") for kind in (1, 2, 3)] == ["reject", "accept", "accept"]
    # By Jacoby's rule a gammon counts no more until the cube is turned; in a match it does.
    assert ask(board(GAMMON, off="11:0") + " resignation 1") == "accept"
    assert ask(board(GAMMON, off="11:0", length=5) + " resignation 1") == "reject"
    assert ask(board(GAMMON, off="11:0", length=5, scores="4:4", last="1:0") + " resignation 1") == "accept"
    # The player who is asked is the one on roll, whoever stands better.
    assert ask(board(AHEAD) + " resignation 1") == ask(board(BEHIND) + " resignation 1") == "accept"


def test_evaluations_have_gnubgs_six_numbers(ask, normal):
    numbers = [float(text) for text in ask(f"evaluation fibsboard {board()} plies 0").split()]
    chances = normal.evaluate(from_fibs(board()).position)
    assert numbers == pytest.approx([*chances.cumulative, chances.equity], abs=1e-6)
    cubeful = float(ask(f"EVALUATION FIBSBOARD '{board()}' plies 0 noise 0.0 cubeful jacobyrule off").split()[-1])
    assert cubeful != pytest.approx(chances.equity) and abs(cubeful) < 0.3
    words = "cube on plies 0 prune deterministic on crawfordrule on resignation 0 beavers on"
    match_chance = float(ask(f"evaluation fibsboard {board(length=5)} {words}").split()[-1])
    assert 0.45 < match_chance < 0.6
    ahead, behind = (
        float(ask(f"evaluation fibsboard {board(length=7, scores=s)}").split()[-1]) for s in ("4:2", "2:4")
    )
    assert (ahead < behind) == (from_fibs(board(length=7, scores="4:2"), gnubg_request=True).score[1] == 2)


def test_the_small_commands(ask, normal):
    assert External(normal).answer("version")[:2] == ["Interface: 2", "RFBF: 0"]
    assert External(normal).answer("VERSION")[3].startswith("Software: bgai")
    assert any("evaluation" in line for line in External(normal).answer("help"))
    assert ask("set debug on") == "Debug output ON"
    assert ask("set interface new") == "New interface ON"
    assert ask("set prompt x") == "Error: set option 'prompt' not supported"
    for word in ("exit", "quit", "EXIT"):
        player = External(normal)
        assert player.answer(word) == [] and player.finished


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "no command given"),
        ("hello", "there is no command 'hello'; help lists them"),
        ("version 2", "there is no command"),
        ("set", "expected: set debug"),
        ("set debug maybe", "debug must be on or off, not 'maybe'"),
        ("set cache 1", "expected: set debug"),
        ("evaluation", "expected: evaluation fibsboard BOARD"),
        ("evaluation fibsboard", "a FIBS board is"),
        (f"evaluation fibsboard {board()} plies 9", "plies must be a whole number from 0 to 2, not '9'"),
        (f"evaluation fibsboard {board()} plies", "plies must be"),
        (f"evaluation fibsboard {board()} noise 0.1", "this engine adds no noise"),
        (f"evaluation fibsboard {board()} speed 3", "there is no option 'speed'"),
        (f"{board()} resignation 4", "resignation must be a whole number from 0 to 3"),
        (f"{board(cube='1:1:1:1')} resignation 1", "cannot both wait"),
        ("board", "a FIBS board is"),
        ("board:a:b", "a FIBS board is"),
        (board()[: board().rindex(":")], "this text has 52 fields"),
        (board() + ":0", "this text has 54 fields"),
        (board().replace(":5:", ":6:", 1), "men"),
        (board(dice="3:7:3:7"), "dice"),
        (board(dice="3:1:2:1"), "different dice"),
        (board(turn=0), "turn"),
        (board(cube="3:1:1:0"), "cube"),
        (board(length=5, scores="5:2"), "5 points of 5"),
        (board(off="3:0"), "men off"),
        (board(GAMMON.replace("2:2", "0:0"), off="15:0"), "borne off"),
    ],
)
def test_a_line_that_is_wrong_gets_a_sentence_and_never_a_move(ask, line, sentence):
    answer = ask(line)
    assert answer.startswith("Error: ") and sentence in answer and "\n" not in answer


def test_damaged_boards_never_get_a_move_that_is_not_legal(ask):
    pick = random.Random(5)
    lines = [board(dice="3:1:3:1"), board(cube="1:1:1:1"), board(length=5, scores="2:1", dice="6:6:6:6")]
    for _ in range(400):
        line = pick.choice(lines)
        fields = line.split(":")
        match pick.randrange(4):
            case 0:
                del fields[pick.randrange(1, len(fields))]
            case 1:
                fields.insert(pick.randrange(1, len(fields)), pick.choice(["0", "1", "x", ""]))
            case 2:
                fields[pick.randrange(3, len(fields))] = pick.choice(["-1", "99", "9999999999", "1.5", "", "é", "--"])
            case 3:
                place = pick.randrange(len(line))
                fields = (line[:place] + pick.choice(":- \0x") + line[place + 1 :]).split(":")
        damaged = ":".join(fields)
        answer = ask(damaged)
        if answer.startswith("Error: ") or answer in ("take", "drop", "roll", "double"):
            continue
        match = from_fibs(damaged.strip("\0").strip(), gnubg_request=True)
        parse_play(answer, match.position, match.dice or ())


def test_a_bot_without_values_plays_too():
    player = External(RandomBot())
    [move] = player.answer(board(dice="3:1:3:1"))
    parse_play(move, from_fibs(board()).position, (3, 1))
    assert player.answer(board()) == ["roll"]
    assert player.answer(board(cube="1:1:1:1")) == ["take"]
    assert player.answer(board() + " resignation 1") == ["accept"]
    [error] = player.answer(f"evaluation fibsboard {board()}")
    assert error == "Error: random chooses plays and gives no values"


# The server


@contextmanager
def serving(bot, **options) -> Iterator[int]:
    """A server on a free port of this machine."""
    with Server(("127.0.0.1", 0), bot, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class Client:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *gone) -> None:
        self.lines.close()
        self.socket.close()

    def ask(self, data: bytes) -> str:
        self.socket.sendall(data)
        return self.lines.readline().rstrip("\n")


def test_several_clients_and_the_newline_and_nul_that_gnubg_sends(normal):
    line = board(dice="3:1:3:1").encode()
    with serving(normal) as port, Client(port) as first, Client(port) as second:
        assert first.ask(line + b"\n\0") == "8/5 6/5"
        assert second.ask(line + b"\n\0") == "8/5 6/5"
        assert first.ask(board().encode() + b"\n\0") == "roll"
        first.socket.sendall(line[:40])  # a line in two parts
        assert first.ask(line[40:] + b"\r\n") == "8/5 6/5"
        assert second.ask(b"version\nset debug on\n") == "Interface: 2"
        assert [second.lines.readline() for _ in range(4)][-1] == "Debug output ON\n"
        second.socket.sendall(b"exit\n")
        assert second.lines.readline() == ""
        assert first.ask(line + b"\n") == "8/5 6/5"


def test_bad_clients_are_told_and_the_server_lives_on(normal):
    with serving(normal, line_seconds=0.3, idle_seconds=0.8, most_clients=2) as port:
        with Client(port) as client:
            assert client.ask(b"x" * (3 * MOST_LINE) + b"\n") == f"Error: a line has at most {MOST_LINE} characters"
            assert client.ask(b"\xff\xfe\x00\n").startswith("Error: there is no command")
            assert client.ask(b"board:half a line") == "Error: a line must be complete within 0.3 s"
            assert client.lines.readline() == ""
        with Client(port) as client:
            assert client.lines.readline() == "Error: nothing heard for 0.8 s\n"
        with Client(port) as first, Client(port) as second:
            assert first.ask(b"\n") == second.ask(b"\n") == "Error: no command given"
            with Client(port) as third:
                assert third.lines.readline() == "Error: too many clients; try again later\n"
        with Client(port) as client:  # leaves in the middle of a line
            client.socket.sendall(b"boa")
        for _ in range(100):  # until the server has seen that the others have left
            with Client(port) as client:
                said = client.ask(b"set debug off\n")
            if "too many" not in said:
                break
            time.sleep(0.05)
        assert said == "Debug output OFF"


def test_who_was_sent_away_finds_his_seat_free(normal):
    with serving(normal, idle_seconds=0.02, most_clients=1) as port:
        for _ in range(40):
            with Client(port) as client:
                assert client.lines.readline() == "Error: nothing heard for 0.02 s\n"


def test_the_command_listens_and_ends_with_ctrl_c():
    words = [sys.executable, "-m", "bgai", "external", "--port", "0", "--bot", "random"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stderr is not None
        said = server.stdout.readline()
        assert said.startswith("random waits for gnubg on 127.0.0.1 port ")
        with Client(int(said.split("port ")[1].split(";")[0])) as client:
            assert client.ask(board().encode() + b"\n\0") == "roll"
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=20) == 0
        assert (server.stdout.read(), server.stderr.read()) == ("stopped\n", "")


# The real gnubg

SCRIPT = """
import base64, gnubg
for line in '''set automatic roll on
set automatic move on
set automatic bearoff off
set confirm new off
set rng mersenne
set seed {seed}
set player {seat} external 127.0.0.1:{port}
set player {other} gnubg
set player {other} chequerplay evaluation plies 0
set player {other} cubedecision evaluation plies 0
new match 5'''.splitlines():
    gnubg.command(line)
for _ in range(2000):
    bits = int.from_bytes(base64.b64decode(gnubg.matchid()), "little")
    if max(bits >> 36 & 32767, bits >> 51 & 32767) >= 5:
        break
    gnubg.command("play" if bits >> 8 & 7 == 1 else "new game")
gnubg.command("save match {file}")
"""


@pytest.mark.skipif(GNUBG is None, reason="the program gnubg is not installed (Debian: apt-get install gnubg)")
@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_match_against_gnubg(normal, tmp_path, monkeypatch, seat):
    asked: list[tuple[str, list[str]]] = []
    answer = External.answer

    def noting(self: External, line: str) -> list[str]:
        asked.append((line, answer(self, line)))
        return asked[-1][1]

    monkeypatch.setattr(External, "answer", noting)
    file = tmp_path / "match.sgf"
    with serving(normal) as port:
        script = SCRIPT.format(seed=5, seat=seat, other=1 - seat, port=port, file=file)
        (tmp_path / "match.py").write_text(script)
        assert GNUBG is not None
        words = [GNUBG, "-t", "-q", "-p", str(tmp_path / "match.py")]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert file.exists(), done.stdout[-2000:]
    assert [lines for _, lines in asked if lines[0].startswith("Error")] == []
    record = read_file(Path(file))  # it holds only legal plays, and no dance where a play was possible
    assert 5 in record.games[-1].states[-1].score
    ours = [
        str(action.play.after.id)
        for game in record.games
        for action in game.actions
        if action.player == seat and action.kind == "play" and action.play is not None and action.play.moves
    ]
    meant = []
    for line, [said] in asked:
        match = from_fibs(line, gnubg_request=True)
        if match.dice:
            assert match.turn == seat
            play = parse_play(said, match.position, match.dice)  # an empty line only where there is no legal play
            meant += [play.after.id] * bool(play.moves)
    # What gnubg wrote down is what was answered; last bear-offs and forced plays it makes without asking.
    left = iter(ours)
    assert all(play in left for play in meant)
    assert len(meant) > 20
    kinds = {action.kind for game in record.games for action in game.actions if action.player == seat}
    assert kinds & {"double", "take", "drop"}
