"""A program that speaks UBGI as a bot; bgai's own end of UBGI is `bgai/frontends/ubgi.py`."""

from __future__ import annotations

import shlex
from typing import NamedTuple

import numpy as np

from bgai.bots import UnknownBot
from bgai.engines.engine import SECONDS, EngineBot, Gone, NoAnswer, short
from bgai.engines.program import Program
from bgai.evaluation.cube import CENTRE, MINE, Stakes
from bgai.notation.gnubg_id import to_gnubg
from bgai.rules.match import Match
from bgai.rules.position import Position

ANSWERS_DOUBLES = "AnswersDoubles"
_START_SECONDS = 60.0
_READY_SECONDS = 300.0  # an engine may compile itself first, on a busy machine


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
        self._program: Program | None = None
        self._told: tuple[str, ...] = ()
        self._knows_stakes = self._knows_cube = True
        try:
            greeting = self._start()
        except NoAnswer as why:
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
            self._program = Program(self._words)
        except OSError as error:
            raise Gone(f"cannot be started ({error.strerror})") from None
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
                raise Gone(f"answered {short(line)} to ubgi")
            elif line in ("ubgiok", "readyok"):
                break
        self._program.say("newgame", "isready")
        for line in self._program.lines(_READY_SECONDS):
            if line == "readyok":
                break
        return _Greeting(name, dialect, answers_doubles)

    def _ask(self, wanted: str, *lines: str) -> str:
        """What stands behind `wanted` in the answer. Raises NoAnswer; a program that has gone starts anew."""
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
                    raise NoAnswer(f"answered {short(line)} to {short(lines[0 if wanted == 'readyok' else -1])}")
        except Gone:
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
        except Gone:
            raise
        except NoAnswer:
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
        except Gone:
            raise
        except NoAnswer:
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
