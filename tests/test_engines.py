"""Anybody's engine as a bot: by UBGI, by wildbg's HTTP API, as a Python function; and engines that fail."""

import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import bgai
from bgai.arena import play_match
from bgai.arena.rating import asked, own_decisions
from bgai.arena.sessions import Session, play_session
from bgai.arena.table import match_lines, session_lines
from bgai.bots import UnknownBot, load, open_bot
from bgai.cli import main
from bgai.engines.engine import EngineFailure
from bgai.engines.function import PythonBot
from bgai.engines.ubgi import UbgiBot
from bgai.engines.wildbg import HttpBot
from bgai.evaluation.cube import MINE, Stakes
from bgai.referees import RandomBot
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position, start_board

BGAI = shlex.join([sys.executable, "-m", "bgai", "ubgi", "--bot", "normal"])

# A UBGI engine of the test's own: it plays the first legal play, until its BEHAVIOUR says otherwise.
# numba takes seconds to import, and only the plain rules are needed: the jitted ones may stay Python here.
FAKE = (
    f"""
import sys, time, types
package, numba = types.ModuleType("bgai"), types.ModuleType("numba")
package.__path__ = [{str(Path(bgai.__file__).parent)!r}]
numba.njit = lambda *given, **options: given[0] if given else lambda function: function
sys.modules |= {{"bgai": package, "numba": numba}}
"""
    + """
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position
asked = 0
for line in sys.stdin:
    words = line.split()
    if words == ["ubgi"]:
        print("id name fake", "ubgiok", sep="\\n", flush=True)
    elif words == ["isready"]:
        print("readyok", flush=True)
    elif words[:2] == ["position", "gnubgid"]:
        position = Position.from_id(words[2])
    elif words[:1] == ["dice"]:
        dice = int(words[1]), int(words[2])
    elif words == ["go", "role", "chequer"]:
        asked += 1
        play = legal_plays(position, dice)[0]
        move = " ".join(f"{a if a < 25 else 'bar'}/{b or 'off'}" for a, b in play.moves)
        BEHAVIOUR
        print("info nodes 1", "bestmove " + move, sep="\\n", flush=True)
    elif words == ["quit"]:
        break
    elif words != ["newgame"]:
        print("error unknown_command", flush=True)
"""
)


@pytest.fixture
def fake(tmp_path) -> Iterator[Callable[..., UbgiBot]]:
    """A UBGI engine that does `behaviour` before it answers."""
    opened = []

    def start(behaviour: str = "pass", seconds: float = 20) -> UbgiBot:
        file = tmp_path / f"fake{len(opened)}.py"
        file.write_text(FAKE.replace("BEHAVIOUR", behaviour))
        opened.append(UbgiBot(shlex.join([sys.executable, str(file)]), seconds=seconds))
        return opened[-1]

    yield start
    for bot in opened:
        bot.close()


class First(RandomBot):
    """The first legal play, as the fake engine has it."""

    def choose_boards(self, boards, dice):
        plays = [
            legal_plays(Position(board.tolist()), roll.tolist())[0] for board, roll in zip(boards, dice, strict=True)
        ]
        return np.array([play.after.men for play in plays], dtype=np.int8).reshape(boards.shape)


# UBGI


def test_our_own_engine_plays_as_the_bot_itself(game_positions):
    bot = open_bot(f"ubgi:{BGAI}")
    assert isinstance(bot, UbgiBot) and bot.name == "ubgi:bgai normal" and "UBGI 0.2" in bot.description
    normal = load("normal")
    boards, dice = game_positions(12, 5)
    stakes = Stakes.money(len(boards))
    np.testing.assert_array_equal(bot.choose_boards(boards, dice), normal.choose_at(boards, dice, stakes))
    match = Stakes(*(np.full(len(boards), number) for number in (2, 4, 2, MINE, False, False)))
    np.testing.assert_array_equal(bot.choose_at(boards, dice, match), normal.choose_at(boards, dice, match))
    for at in (stakes, match):
        np.testing.assert_array_equal(bot.doubles(boards, at), normal.doubles(boards, at))
        np.testing.assert_array_equal(bot.takes(boards, at), normal.takes(boards, at))
    bot.close()


def test_an_engine_that_knows_no_cube_never_doubles_and_takes(fake):
    bot = fake()
    assert bot.name == "ubgi:fake" and "UBGI 0.1" in bot.description
    boards = start_board()[None]
    assert not bot.doubles(boards, Stakes.money(1)).any() and bot.takes(boards, Stakes.money(1)).all()
    result = play_session(bot, First(), 4, 1, Session(length=1))
    assert result.forfeits == () and result.score.mean == 0.5  # the same play on both sides


def test_a_whole_arena_with_an_engine(fake):
    result = play_match(fake(), First(), 6, seed=3)
    assert result.score == (0.0, 0.0) and result.forfeits == ()


def test_the_position_id_after_the_play_is_an_answer_too(fake):
    result = play_match(fake("move = play.after.id"), First(), 4, seed=3)
    assert result.score == (0.0, 0.0) and result.forfeits == ()


NONSENSE = "move = '24/1' if asked == 5 else move"
HANGS = "time.sleep(60 if asked == 5 else 0)"
DIES = "sys.exit(7) if asked == 5 else None"
GRUMBLES = "if asked == 5: print('error tired', flush=True); continue"


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (NONSENSE, "ubgi:fake answered '24/1' in position "),
        (HANGS, "ubgi:fake did not answer within 1 s"),
        (DIES, "ubgi:fake died with exit code 7"),
        (GRUMBLES, "ubgi:fake answered 'error tired' to 'go role chequer'"),
    ],
)
def test_an_engine_that_fails_once_loses_that_game_and_the_run_goes_on(fake, behaviour, sentence):
    bot = fake(behaviour, seconds=1 if behaviour == HANGS else 20)
    sound = play_match(First(), RandomBot(2), 6, seed=4)
    result = play_match(bot, RandomBot(2), 6, seed=4)
    lost = {forfeit.game for forfeit in result.forfeits}
    assert lost and all(forfeit.seat == 0 and forfeit.why.startswith(sentence) for forfeit in result.forfeits)
    assert result.games == 6 and all(result.points[game] == -1 for game in lost)
    others = [game for game in range(6) if game not in lost]
    assert result.points[others].tolist() == sound.points[others].tolist()
    back = play_match(RandomBot(2), fake(NONSENSE), 6, seed=4)
    assert all(forfeit.seat == 1 and back.points[forfeit.game] == 1 for forfeit in back.forfeits) and back.forfeits


def test_the_table_says_who_lost_games_without_an_answer(fake):
    result = play_match(fake(NONSENSE), RandomBot(2), 6, seed=4)
    lines = match_lines(["fake", "random"], {(0, 1): result})
    assert lines[-1].startswith("fake lost 1 game to random without a legal answer; game ")
    assert "24/1" in lines[-1]


def test_an_engine_that_always_hangs_is_given_up(fake):
    bot = fake("time.sleep(60)", seconds=0.3)
    result = play_match(bot, RandomBot(2), 20, seed=4)
    assert result.points.tolist() == [-1] * 20 and len(result.forfeits) == 20
    assert "was given up after 3 failures in a row; the last time it did not answer" in result.forfeits[-1].why


def test_a_match_goes_on_after_a_lost_game(fake):
    result = play_session(fake(NONSENSE), RandomBot(2), 2, 5, Session(length=3))
    assert len(result.forfeits) == 1 and result.games == 2
    assert "without a legal answer" in session_lines(["fake", "random"], {(0, 1): result})[-1]
    money = play_session(fake(NONSENSE), RandomBot(2), 4, 5, Session())
    [forfeit] = money.forfeits
    assert money.points[forfeit.game] == -money.cubes[forfeit.game]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "needs the command that starts the engine"),
        ("'", "No closing quotation"),
        ("/no/such/engine", "cannot be started (No such file or directory) when it was started"),
        (f"{shlex.quote(sys.executable)} -c 0", "died with exit code 0 when it was started"),
    ],
)
def test_an_engine_that_does_not_start_is_no_bot(command, sentence):
    with pytest.raises(UnknownBot) as caught:
        open_bot(f"ubgi:{command}")
    assert sentence in str(caught.value)


# HTTP


class Wildbg(BaseHTTPRequestHandler):
    """wildbg's GET /move, answered with the first legal play, or with the server's own `broken` answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        query = {name: int(values[0]) for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.server.queries.append(query)  # type: ignore[attr-defined]
        position = Position([query.get(f"p{point}", 0) for point in range(26)])
        play = legal_plays(position, (query["die1"], query["die2"]))[0]
        steps = [{"from": start, "to": end} for start, end in play.moves]
        status, answer = 200, json.dumps({"moves": [{"play": steps, "probabilities": {"win": 0.5}}]})
        broken = self.server.broken  # type: ignore[attr-defined]
        if broken is not None and len(self.server.queries) == 6:  # type: ignore[attr-defined]
            status, answer = broken
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *words) -> None:
        pass


@contextmanager
def wildbg(broken: tuple[int, str] | None = None) -> Iterator[tuple[str, list[dict[str, int]]]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Wildbg) as server:
        server.daemon_threads = True
        server.queries, server.broken = [], broken  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", server.queries  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()


def test_a_server_with_wildbgs_api_plays():
    with wildbg() as (address, queries):
        bot = open_bot(f"http:{address}")
        assert isinstance(bot, HttpBot) and bot.name == f"http://{address}"
        assert open_bot(f"http:http://{address}/").choose(Position.start(), (3, 1)).moves
        assert play_match(bot, First(), 4, seed=3).score == (0.0, 0.0)
        play_session(open_bot(f"http://{address}"), First(), 2, 1, Session(length=3))
        assert {(query["x_away"], query["o_away"]) for query in queries} >= {(0, 0), (3, 3)}
        assert any(query.get("p25") for query in queries) and any(query.get("p0", 0) < 0 for query in queries)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ((200, "hello"), "answered 'hello', which is not wildbg's answer to GET /move"),
        ((200, '{"moves": []}'), "which is not wildbg's answer"),
        ((200, '{"moves": [{"play": [{"from": 99, "to": 1}]}]}'), "which is not wildbg's answer"),
        ((200, '{"moves": [{"play": [{"from": 24, "to": 1}]}]}'), "answered '24/1' in position "),
        ((500, '{"message": "tired"}'), "answered with status 500: "),
    ],
)
def test_a_server_that_answers_nonsense_loses_that_game(broken, sentence):
    with wildbg(broken) as (address, _):
        result = play_match(open_bot(f"http:{address}"), RandomBot(), 4, seed=3)
        [forfeit] = result.forfeits
        assert sentence in forfeit.why and result.points[forfeit.game] == -1


def test_a_server_that_has_gone_loses_all_games():
    with wildbg() as (address, _):
        bot = open_bot(f"http:{address}")
        bot._connection.close()  # the test's server would go on with a connection that is open
    result = play_match(bot, RandomBot(), 4, seed=3)
    assert result.points.tolist() == [-1] * 4 and "does not answer" in result.forfeits[0].why
    with pytest.raises(UnknownBot, match="does not answer"):
        open_bot(f"http:{address}")
    for wrong in ("http:", "http:localhost:many", "https:///x"):
        with pytest.raises(UnknownBot):
            open_bot(wrong)


# Python functions

FUNCTIONS = """
import time
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position

def board(men, dice):
    assert type(men) is list and len(men) == 26 and dice[0] >= dice[1]
    return list(legal_plays(Position(men), dice)[0].after.men)

def text(men, dice):
    return str(legal_plays(Position(men), dice)[0])

def nonsense(men, dice):
    return 7 if dice == (6, 5) else board(men, dice)

def still(men, dice):
    return men if dice == (6, 5) else board(men, dice)

def breaks(men, dice):
    return board(men, dice) if dice != (6, 5) else 1 / 0

def leaves(men, dice):
    return board(men, dice) if dice != (6, 5) else exit()

def hangs(men, dice):
    time.sleep(5)

number = 3
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "my_functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("my_functions", None)


@pytest.mark.parametrize("function", ["board", "text"])
def test_a_python_function_plays(functions, function):
    bot = open_bot(f"python:my_functions:{function}")
    assert isinstance(bot, PythonBot)
    assert play_match(bot, First(), 4, seed=3).score == (0.0, 0.0)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("nonsense", "python:my_functions:nonsense answered 7 in position"),
        ("still", "no legal play leads there"),
        ("breaks", "raised ZeroDivisionError: division by zero"),
        ("leaves", "raised SystemExit"),
    ],
)
def test_a_function_that_fails_loses_those_games(functions, function, sentence):
    bot = open_bot(f"python:my_functions:{function}")
    result = play_match(bot, RandomBot(), 10, seed=3)
    assert result.forfeits
    assert all(sentence in forfeit.why for forfeit in result.forfeits)
    assert result.points.tolist() == play_match(bot, RandomBot(), 10, seed=3, pairs_at_once=1).points.tolist()


def test_a_function_that_hangs(functions):
    bot = PythonBot("my_functions:hangs", seconds=0.05)
    with pytest.raises(EngineFailure, match="did not answer within 0.05 s"):
        bot.choose(Position.start(), (3, 1))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("python:", "write python:MODULE:FUNCTION"),
        ("python:math", "write python:MODULE:FUNCTION"),
        ("python:no_such_module:f", "cannot be imported: ModuleNotFoundError"),
        ("python:my_functions:missing", "cannot be imported: AttributeError"),
        ("python:my_functions:number", "is no function, but 3"),
    ],
)
def test_what_is_no_function(functions, text, sentence):
    with pytest.raises(UnknownBot) as caught:
        open_bot(text)
    assert sentence in str(caught.value)


def test_seconds_come_from_the_environment(functions, monkeypatch):
    monkeypatch.setenv("BGAI_ENGINE_SECONDS", "2.5")
    assert open_bot("python:my_functions:board").seconds == 2.5  # type: ignore[attr-defined]
    monkeypatch.setenv("BGAI_ENGINE_SECONDS", "soon")
    with pytest.raises(UnknownBot, match="BGAI_ENGINE_SECONDS"):
        open_bot("python:my_functions:board")


# Commands


def test_arena_and_rate_take_engines(functions, capsys, tmp_path):
    words = ["arena", "python:my_functions:breaks", "random", "--games", "20", "--json", "out.json"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "python:my_functions:breaks lost " in out and "raised ZeroDivisionError" in out
    [forfeit, *_] = json.loads((tmp_path / "out.json").read_text())["matches"][0]["forfeits"]
    assert forfeit["bot"] == "python:my_functions:breaks"
    assert main(["arena", "python:my_functions:text", "random", "--games", "4", "--match", "1"]) == 0
    assert main(["rate", "python:my_functions:breaks", "--benchmark"]) == 0
    out = capsys.readouterr().out
    assert "python:my_functions:breaks gave no legal answer in " in out and "of 6,000 decisions" in out


def test_decisions_of_an_engine_that_fails_end_its_games(functions):
    bot = open_bot("python:my_functions:breaks")
    met = own_decisions(bot, 40, seed=1)
    _, failed = asked(bot, met.boards, met.dice)
    assert len(failed) < len(met.games)
