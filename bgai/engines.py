"""Anybody's engine as a bot: a program that speaks UBGI, a server with wildbg's HTTP API, a Python function.

Every choice is checked against bgai's own afterstates. An engine that answers nonsense, dies or takes too long raises
`EngineFailure`, which still holds its other answers, so that it loses one game and the run goes on. Forced plays are
made without asking. Knows nothing of networks.
"""

from __future__ import annotations

import http.client
import importlib
import json
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlencode, urlsplit

import numpy as np

from bgai.bots import Bot, UnknownBot
from bgai.evaluation.cube import CENTRE, MINE, Stakes
from bgai.notation.gnubg_id import to_gnubg
from bgai.notation.plays import parse_play
from bgai.rules.match import Match
from bgai.rules.moves import check_dice, trusted_afterstates
from bgai.rules.plays import IllegalPlay
from bgai.rules.position import BAR, POINTS, InvalidPosition, Position, check_boards, turn

KINDS = ("ubgi", "http", "https", "python")
SECONDS = 30.0
"""How long an engine may think; the environment variable BGAI_ENGINE_SECONDS changes it."""
ANSWERS_DOUBLES = "AnswersDoubles"
_START_SECONDS = 60.0
_READY_SECONDS = 300.0  # an engine may compile itself first, on a busy machine
_PATIENCE = 3  # times in a row that an engine may die or hang before it is given up
_MOST_TEXT = 1_000_000  # bytes of an answer


class EngineFailure(ValueError):
    """An engine gave no legal answer in some rows of a batch; the message says what it did in the first of them."""

    def __init__(self, sentences: dict[int, str], answers: np.ndarray) -> None:
        super().__init__(next(iter(sentences.values())))
        self.sentences = sentences
        """What went wrong, by the number of the row."""
        self.answers = answers
        """The answers of all rows; those of the rows that failed mean nothing."""


class _NoAnswer(Exception):
    """The engine's answer is none; says why."""


class _Gone(_NoAnswer):
    """The engine has died, or has taken too long: asking again costs time."""


class EngineBot(Bot):
    """An engine that is asked one decision after the other."""

    seconds: float
    _gone = 0
    _last = ""

    @abstractmethod
    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> Any:
        """The play as text, or the board after it seen by the opponent. Raises _NoAnswer."""

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        return self._choose(boards, dice, None)

    def choose_at(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        return self._choose(boards, dice, stakes)

    def _choose(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes | None) -> np.ndarray:
        boards = check_boards(boards)
        dice = check_dice(dice, len(boards))
        rows, starts = trusted_afterstates(boards, dice)
        unforced = np.flatnonzero(np.diff(starts) > 1)

        def choose(row: int) -> np.ndarray:
            roll = (int(dice[row].max()), int(dice[row].min()))
            given = self._after(boards[row], roll, stakes.take(np.array([row])) if stakes is not None else None)
            return _checked(given, boards[row], roll, rows[starts[row] : starts[row + 1]])

        return self._ask_all(unforced, choose, rows[starts[:-1]])

    def _ask_all(self, rows: np.ndarray, ask: Callable[[int], Any], answers: np.ndarray) -> np.ndarray:
        """Put the answers of these rows into `answers`. Raises EngineFailure at the end, when all were asked."""
        failed: dict[int, str] = {}
        for row in rows.tolist():
            try:
                if self._gone >= _PATIENCE:
                    raise _NoAnswer(
                        f"was given up after {_PATIENCE} failures in a row; the last time it {self._last}"
                    )
                answers[row] = ask(row)
                self._gone = 0
            except _Gone as why:
                self._gone += 1
                self._last = str(why)
                failed[row] = f"{self.name} {why}"
            except _NoAnswer as why:
                failed[row] = f"{self.name} {why}"
        if failed:
            raise EngineFailure(failed, answers)
        return answers


def _checked(given: Any, board: np.ndarray, dice: tuple[int, int], legal: np.ndarray) -> np.ndarray:
    """The row of `legal` that an engine means by a play's text, a Position ID or a board. Raises _NoAnswer."""
    where = f"in position {Position(board.tolist()).id} with roll {dice[0]}{dice[1]}"
    if isinstance(given, str):
        try:
            return parse_play(given, Position(board.tolist()), dice).after.board
        except IllegalPlay as error:
            after = _boards_of_id(given)
            if after is None:
                raise _NoAnswer(f"answered {_short(given)} {where}: {error}") from None
    else:
        after = [_board_of(given, where)]
    for men in after:
        same = (legal == men).all(axis=1)
        if same.any():
            return legal[same][0]
    raise _NoAnswer(f"answered {_short(given)} {where}: no legal play leads there")


def _boards_of_id(text: str) -> list[np.ndarray] | None:
    """A Position ID as the board after the play: seen by the opponent, or else by the mover; None if it is none."""
    try:
        board = Position.from_id(text.strip()).board
    except InvalidPosition:
        return None
    return [board, turn(board[None])[0]]


def _board_of(given: Any, where: str) -> np.ndarray:
    try:
        men = [int(number) for number in given]
        if len(men) != POINTS or men != list(given):
            raise ValueError
        return np.array(men, dtype=np.int8)
    except (TypeError, ValueError, OverflowError):
        raise _NoAnswer(
            f"answered {_short(given)} {where}: that is no play and no board of {POINTS} numbers"
        ) from None


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 120 else text[:117] + "..."


# Programs that speak UBGI


class _Program:
    """A running program, its lines read by a thread so that waiting for them can end."""

    def __init__(self, words: list[str]) -> None:
        self._child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for bgai
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read_lines, args=(self._child.stdout, self._lines), daemon=True).start()
        self.stop = weakref.finalize(self, _end, self._child)

    def say(self, *lines: str) -> None:
        """Raises _Gone."""
        try:
            assert self._child.stdin is not None
            self._child.stdin.write("".join(line + "\n" for line in lines).encode())
            self._child.stdin.flush()
        except OSError:
            raise _Gone("died" + self._code()) from None

    def lines(self, seconds: float) -> Iterator[str]:
        """What it says from now on, for so long. Raises _Gone."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise _Gone(f"did not answer within {seconds:g} s") from None
            if line is None:
                raise _Gone("died" + self._code())
            yield line

    def _code(self) -> str:
        try:
            return f" with exit code {self._child.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            return ""


def _read_lines(stream: Any, lines: queue.Queue[str | None]) -> None:
    with stream:
        try:
            while line := stream.readline(_MOST_TEXT):
                lines.put(line.decode(errors="replace").strip())
        except (OSError, ValueError):
            pass
    lines.put(None)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Let the program quit, or kill it."""
    try:
        assert child.stdin is not None
        with child.stdin as stdin:
            stdin.write(b"quit\n")
    except OSError:
        pass
    try:
        child.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class _Greeting(NamedTuple):
    name: str
    dialect: str
    answers_doubles: bool


class UbgiBot(EngineBot):
    """A program that speaks UBGI 0.1 or 0.2. It is started once, and again after it died or hung.

    It is told the score and the cube, and asked when to double, as long as it does not answer that it does not know
    these words. UBGI has none for a take: it is asked of engines that list the option ANSWERS_DOUBLES, by a Match ID
    in which a double waits and `bestcube take|drop`. An engine that knows no cube never doubles and always takes.
    """

    def __init__(self, command: str, *, seconds: float = SECONDS) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UnknownBot(f"ubgi:{command}: {error}") from None
        if not self._words:
            raise UnknownBot("ubgi: needs the command that starts the engine, such as 'ubgi:bgai ubgi --bot strong'")
        self.name = f"ubgi:{command}"
        self.seconds = seconds
        self._program: _Program | None = None
        self._told: tuple[str, ...] = ()
        self._knows_stakes = self._knows_cube = True
        try:
            greeting = self._start()
        except _NoAnswer as why:
            self.close()
            raise UnknownBot(f"{self.name} {why} when it was started") from None
        self.name = f"ubgi:{greeting.name}"
        self.description = f"the engine started by {command!r}, which speaks UBGI {greeting.dialect}"
        self._dialect, self._knows_takes = greeting.dialect, greeting.answers_doubles

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.stop()
            self._program = None
        self._told = ()

    def _start(self) -> _Greeting:
        try:
            self._program = _Program(self._words)
        except OSError as error:
            raise _Gone(f"cannot be started ({error.strerror})") from None
        name, dialect, answers_doubles = " ".join(self._words), "0.1", False
        self._program.say("ubgi")
        for line in self._program.lines(_START_SECONDS):
            if line.startswith("id name "):
                name = line.removeprefix("id name ").strip() or name
            elif line.startswith("proto "):
                dialect = line.removeprefix("proto ").strip()
            elif line.startswith(f"option name {ANSWERS_DOUBLES} "):
                answers_doubles = True
            elif line.startswith("error"):
                raise _Gone(f"answered {_short(line)} to ubgi")
            elif line in ("ubgiok", "readyok"):
                break
        self._program.say("newgame", "isready")
        for line in self._program.lines(_READY_SECONDS):
            if line == "readyok":
                break
        return _Greeting(name, dialect, answers_doubles)

    def _ask(self, wanted: str, *lines: str) -> str:
        """What stands behind `wanted` in the answer. Raises _NoAnswer; a program that has gone starts anew."""
        try:
            if self._program is None:
                self._start()
            assert self._program is not None
            self._program.say(*lines)
            for line in self._program.lines(self.seconds):
                if line == wanted or line.startswith(wanted + " "):
                    return line[len(wanted) :].strip()
                if line.startswith("error"):
                    # What it may still say to the other lines must not be taken for the next answer.
                    self._program.say(*["isready"] * (wanted != "readyok"))
                    for late in self._program.lines(self.seconds):
                        if late == "readyok":
                            break
                    raise _NoAnswer(f"answered {_short(line)} to {_short(lines[0 if wanted == 'readyok' else -1])}")
        except _Gone:
            self.close()
            raise
        raise AssertionError("the lines of a program have no end")

    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> str:
        self._tell(stakes if stakes is not None else Stakes.money(1))
        position = f"position gnubgid {Position(board.tolist()).id}"
        go = "go chequer" if self._dialect == "0.2" else "go role chequer"
        return self._ask("bestmove", position, f"dice {dice[0]} {dice[1]}", go)

    def _tell(self, stakes: Stakes) -> None:
        """The score and the cube, where they have changed and the engine listens."""
        lines = _session_lines(stakes)
        if not self._knows_stakes or lines == self._told:
            return
        try:
            for line in lines:
                self._ask("readyok", line, "isready")
        except _Gone:
            raise
        except _NoAnswer:
            self._knows_stakes = False
        self._told = lines if self._program is not None else ()

    def doubles(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        rows = np.arange(len(boards) if self._knows_cube else 0)
        return self._ask_all(rows, lambda row: self._doubles(boards, stakes, row), np.zeros(len(boards), np.bool_))

    def _doubles(self, boards: np.ndarray, stakes: Stakes, row: int) -> bool:
        if not self._knows_cube:
            return False
        self._tell(stakes.take(np.array([row])))
        return self._cube_answer(Position(boards[row].tolist()).id, ("double", "nodouble"), "_knows_cube") == "double"

    def takes(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        rows = np.arange(len(boards) if self._knows_takes else 0)
        return self._ask_all(rows, lambda row: self._takes(boards, stakes, row), np.ones(len(boards), np.bool_))

    def _takes(self, boards: np.ndarray, stakes: Stakes, row: int) -> bool:
        if not self._knows_takes:
            return True
        here = stakes.take(np.array([row]))
        self._tell(here)
        doubled = match_of(Position(boards[row].tolist()), here).double()
        return self._cube_answer(to_gnubg(doubled), ("take", "drop"), "_knows_takes") != "drop"

    def _cube_answer(self, identifier: str, allowed: tuple[str, str], knows: str) -> str | None:
        """One of the allowed words; None, from now on, when the engine does not know the question."""
        go = "go cube" if self._dialect == "0.2" else "go role cube"
        try:
            answer = self._ask("bestcube", f"position gnubgid {identifier}", go)
        except _Gone:
            raise
        except _NoAnswer:
            answer = ""
        if answer not in allowed:
            setattr(self, knows, False)
            return None
        return answer


def match_of(position: Position, stakes: Stakes) -> Match:
    """A moment before a roll with these stakes, of one game, seen by player 0 who is on roll."""
    mine, theirs = int(stakes.my_away[0]), int(stakes.their_away[0])
    length, cube, owner = max(mine, theirs), int(stakes.cube[0]), int(stakes.owner[0])
    return Match(
        position=position,
        length=length,
        score=(length - mine, length - theirs),
        decision="roll",
        cube=cube,
        cube_owner=None if owner == CENTRE else 0 if owner == MINE else 1,
        crawford=_is_crawford(stakes),
        jacoby=bool(stakes.jacoby[0]),
    )


def _is_crawford(stakes: Stakes) -> bool:
    """Whether no cube here means that the Crawford game is played, and not only that there is no cube."""
    aways = [int(stakes.my_away[0]), int(stakes.their_away[0])]
    return bool(stakes.crawford[0]) and aways.count(1) == 1


def _session_lines(stakes: Stakes) -> tuple[str, ...]:
    """The stakes of one game in UBGI's words; the player on roll is p0."""
    match = match_of(Position.start(), stakes)
    owner = "center" if match.cube_owner is None else f"p{match.cube_owner}"
    crawford = "on" if match.crawford else "off"
    session = f"match length {match.length} crawford {crawford}" if match.length else "money"
    jacoby = "" if match.length else f" jacoby {'on' if match.jacoby else 'off'}"
    return (
        f"newsession type {session}{jacoby}",
        f"setscore {match.score[0]} {match.score[1]}",
        "setturn p0",
        f"setcube value {match.cube} owner {owner}",
    )


# Servers with wildbg's API


class HttpBot(EngineBot):
    """A server that answers GET /move as wildbg does. It is told the score, knows no cube and always takes."""

    def __init__(self, url: str, *, seconds: float = SECONDS) -> None:
        self.name, self.seconds = url, seconds
        self.description = f"the server at {url}, asked by wildbg's HTTP API"
        try:
            self._url: SplitResult = urlsplit(url)
            port = self._url.port
        except ValueError as error:
            raise UnknownBot(f"{url}: {error}") from None
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise UnknownBot(f"{url} is no address of a server; write it as http://localhost:8080")
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(self._url.hostname, port, timeout=seconds)
        weakref.finalize(self, self._connection.close)
        try:
            self._after(Position.start().board, (3, 1), None)
        except _NoAnswer as why:
            raise UnknownBot(f"{url} {why}") from None

    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> str:
        away = (0, 0) if stakes is None else (int(stakes.my_away[0]), int(stakes.their_away[0]))
        words = {"die1": dice[0], "die2": dice[1], "x_away": away[0], "o_away": away[1]}
        words |= {f"p{point}": men for point, men in enumerate(board.tolist()) if men}
        text = self._get(f"{self._url.path.rstrip('/')}/move?{urlencode(words)}")
        try:
            steps = [(step["from"], step["to"]) for step in json.loads(text)["moves"][0]["play"]]
            whole = all(isinstance(point, int) and 0 <= point <= BAR for step in steps for point in step)
        except (ValueError, LookupError, TypeError, RecursionError):
            whole = False
        if not whole:
            raise _NoAnswer(f"answered {_short(text)}, which is not wildbg's answer to GET /move")
        return " ".join(f"{start}/{end}" for start, end in steps)

    def _get(self, path: str) -> str:
        end = time.monotonic() + self.seconds
        for again in (True, False):
            try:
                fresh = self._connection.sock is None
                self._connection.request("GET", path)
                response = self._connection.getresponse()
                body = self._body(response, end)
                if response.status != http.client.OK:
                    raise _NoAnswer(f"answered with status {response.status}: {_short(body)}")
                return body
            except TimeoutError:
                self._connection.close()
                raise _Gone(f"did not answer within {self.seconds:g} s") from None
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if fresh or not again:  # a connection that was kept open may have been closed in between
                    raise _Gone(f"does not answer ({str(error) or type(error).__name__})") from None
        raise AssertionError("not reached")

    def _body(self, response: http.client.HTTPResponse, end: float) -> str:
        body = b""
        while part := response.read1(65536):
            body += part
            if len(body) > _MOST_TEXT or time.monotonic() > end:
                raise TimeoutError
        response.close()  # so that the connection can be used again
        return body.decode(errors="replace")


# Functions


class PythonBot(EngineBot):
    """A Python function (board, dice) -> the board after its play seen by the opponent, or the play as text.

    The board is a list of 26 numbers seen by the player to roll (0 the opponent's bar, 25 his own; his men are
    positive and move from 24 to 1), dice the two numbers, the larger first. Its code runs inside this process.
    """

    def __init__(self, text: str, *, seconds: float = SECONDS) -> None:
        self.name, self.seconds = f"python:{text}", seconds
        self.description = f"the Python function {text}"
        module, colon, function = text.partition(":")
        if not (module and colon and function):
            raise UnknownBot(f"{self.name}: write python:MODULE:FUNCTION")
        here = os.getcwd()
        sys.path.insert(0, here)
        try:
            self._function = getattr(importlib.import_module(module), function)
        except Exception as error:
            raise UnknownBot(f"{self.name} cannot be imported: {type(error).__name__}: {error}") from None
        finally:
            if here in sys.path:
                sys.path.remove(here)
        if not callable(self._function):
            raise UnknownBot(f"{self.name} is no function, but {_short(self._function)}")

    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> Any:
        answers: queue.Queue[tuple[bool, Any]] = queue.Queue()

        def call() -> None:
            try:
                answers.put((True, self._function(board.tolist(), dice)))
            except BaseException as error:
                answers.put((False, f"raised {type(error).__name__}: {error}"))

        threading.Thread(target=call, daemon=True).start()
        try:
            good, answer = answers.get(timeout=self.seconds)
        except queue.Empty:
            raise _Gone(f"did not answer within {self.seconds:g} s") from None
        if not good:
            raise _NoAnswer(str(answer))
        return answer


def open_engine(text: str) -> EngineBot:
    """The engine that `text` names: ubgi:COMMAND, http:URL or python:MODULE:FUNCTION. Raises UnknownBot."""
    kind, _, rest = text.partition(":")
    seconds = _seconds(os.environ.get("BGAI_ENGINE_SECONDS", ""))
    if kind == "ubgi":
        return UbgiBot(rest, seconds=seconds)
    if kind == "python":
        return PythonBot(rest, seconds=seconds)
    if kind not in KINDS:
        raise UnknownBot(f"{text!r} is no engine; there are ubgi:COMMAND, http:URL and python:MODULE:FUNCTION")
    if rest.startswith("//"):
        return HttpBot(text, seconds=seconds)
    return HttpBot(rest if "://" in rest else f"{kind}://{rest}", seconds=seconds)


def _seconds(text: str) -> float:
    try:
        seconds = float(text or SECONDS)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise UnknownBot(f"BGAI_ENGINE_SECONDS is a number of seconds above 0, not {text!r}")
    return seconds
