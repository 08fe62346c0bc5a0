"""`bgai ubgi`: a bot as a UBGI engine on standard input and output, for programs that let engines play.

Both dialects are understood at once: 0.1 (`setoption`, `go role chequer`) and 0.2 (`set`, `keys`, `go chequer`).
Nothing else is ever written to standard output. Players are p0 and p1; a position is always seen by the one on roll.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from bgai.bots import Bot, ValueBot, open_bot
from bgai.engines.ubgi import ANSWERS_DOUBLES
from bgai.evaluation.lookahead import MOST_PLIES
from bgai.frontends.decisions import chosen_play, play_text, wants_to_double, wants_to_take, warm_up
from bgai.notation.gnubg_id import from_gnubg
from bgai.notation.xgid import from_xgid
from bgai.rules.match import Match
from bgai.rules.plays import check_roll
from bgai.rules.position import Position

MOST_LINE = 4096
_CODES = {"bad_value": "bad_argument", "bad_state": "missing_context", "unsupported": "unsupported_feature"}
"""The codes of errors in 0.2 -> in 0.1."""
_NO_SCORE = (-1, -1)
_PLAYERS = {"p0": 0, "p1": 1}


class UbgiError(ValueError):
    """A command that cannot be carried out: one of the codes of 0.2, and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class UbgiEngine:
    """What a controller has told a bot so far. `answer` takes a line and gives the lines to say."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.plies = bot.plies if isinstance(bot, ValueBot) else 1
        self.dialect = "0.1"
        self.finished = False
        self._warm: set[int] = set()
        self._new_session()

    def answer(self, line: str) -> list[str]:
        """The lines that answer this one; none for a command that only tells something."""
        words = line.split()
        if not words:
            return []
        if len(line) > MOST_LINE:
            return [f"error {self._code('bad_value')} a line has at most {MOST_LINE} characters"]
        command = getattr(self, f"_on_{words[0]}", None) if words[0].isalpha() else None
        if command is None:
            return [f"error unknown_command {words[0][:40]}"]
        try:
            return command(words[1:]) or []
        except UbgiError as error:
            return [f"error {self._code(error.code)} {error}"]
        except ValueError as error:
            return [f"error {self._code('bad_value')} {' '.join(str(error).split())}"]

    def _code(self, code: str) -> str:
        return code if self.dialect == "0.2" else _CODES.get(code, code)

    def _new_session(self, length: int = 0, jacoby: bool = False, crawford: bool = True) -> None:
        self.length, self.jacoby, self.crawford_rule = length, jacoby, crawford
        self.score = (0, 0)
        self.crawford_score: tuple[int, int] | None = None
        self._new_game()

    def _new_game(self) -> None:
        self.position: Position | None = Position.start()
        self.doubled = False
        self.dice: tuple[int, int] | None = None
        self.turn, self.cube = 0, 1
        self.owner: int | None = None

    # The handshake

    def _on_ubgi(self, words: list[str]) -> list[str]:
        options = [f"option name Plies type spin default {self.plies} min 1 max {MOST_PLIES}"] * self._looks_ahead()
        return [
            f"id name bgai {self.bot.name}",
            "id author the authors of bgai",
            "proto 0.2",
            *options,
            f"option name {ANSWERS_DOUBLES} type check default true",
            "option name Variant type combo default backgammon var backgammon",
            "ubgiok",
        ]

    def _on_isready(self, words: list[str]) -> list[str]:
        if self.plies not in self._warm:  # compiling may take longer than somebody waits for a move
            warm_up(self._bot(None))
            self._warm.add(self.plies)
        return ["readyok"]

    def _on_proto(self, words: list[str]) -> None:
        if words not in (["0.1"], ["0.2"]):
            raise UbgiError("unsupported", "this engine speaks UBGI 0.1 and 0.2")
        self.dialect = words[0]

    def _on_quit(self, words: list[str]) -> None:
        self.finished = True

    # Options

    def _looks_ahead(self) -> bool:
        return isinstance(self.bot, ValueBot)

    def _on_keys(self, words: list[str]) -> list[str]:
        self.dialect = "0.2"
        plies = f"key engine.plies int 1..{MOST_PLIES} {self.plies} plies that the bot looks ahead"
        return [*[plies] * self._looks_ahead(), "key game.variant enum backgammon backgammon the only one"]

    def _on_get(self, words: list[str]) -> list[str]:
        self.dialect = "0.2"
        if words == ["engine.plies"] and self._looks_ahead():
            return [f"value engine.plies {self.plies}"]
        if words == ["game.variant"]:
            return ["value game.variant backgammon"]
        raise UbgiError("unsupported", f"there is no key {' '.join(words)[:40]!r}; keys lists them")

    def _on_set(self, words: list[str]) -> None:
        self.dialect = "0.2"
        if len(words) < 2:
            raise UbgiError("bad_value", "expected: set KEY VALUE")
        self._set(words[0], " ".join(words[1:]), {"engine.plies": "plies", "game.variant": "variant"})

    def _on_setoption(self, words: list[str]) -> None:
        if len(words) < 4 or words[0] != "name" or "value" not in words[2:]:
            raise UbgiError("bad_value", "expected: setoption name NAME value VALUE")
        middle = words.index("value", 2)
        name, value = " ".join(words[1:middle]), " ".join(words[middle + 1 :])
        self._set(name, value, {"Plies": "plies", "Variant": "variant"})

    def _set(self, name: str, value: str, known: dict[str, str]) -> None:
        kind = known.get(name)
        if kind is None or (kind == "plies" and not self._looks_ahead()):
            raise UbgiError("unsupported", f"there is no option {name[:40]!r}")
        if kind == "variant":
            if value.lower() != "backgammon":
                raise UbgiError("bad_value", f"{name} must be backgammon, not {value[:40]!r}")
            return
        self.plies = _whole(value, name, 1, MOST_PLIES)

    # What is played

    def _on_newsession(self, words: list[str]) -> None:
        given = _pairs(words, ("type", "length", "jacoby", "crawford"))
        kind = given.get("type", "match" if "length" in given else "money")
        if kind not in ("money", "match"):
            raise UbgiError("bad_value", f"type must be money or match, not {kind[:40]!r}")
        if kind == "match" and "length" not in given:
            raise UbgiError("bad_value", "a match needs its length")
        if kind == "money" and given.get("length", "0") != "0":
            raise UbgiError("bad_value", "a money session has no length")
        length = _whole(given["length"], "length", 1, 999) if kind == "match" else 0
        jacoby = _on_off(given.get("jacoby", "off"), "jacoby")
        crawford = _on_off(given.get("crawford", "on"), "crawford")
        self._new_session(length, jacoby and not length, crawford)

    def _on_newgame(self, words: list[str]) -> None:
        self._new_game()

    def _on_setscore(self, words: list[str]) -> None:
        if len(words) != 2:
            raise UbgiError("bad_value", "expected: setscore POINTS POINTS")
        most = self.length - 1 if self.length else 32767
        self.score = (_whole(words[0], "the score of p0", 0, most), _whole(words[1], "the score of p1", 0, most))
        one_away = self.length > 1 and [self.length - points for points in self.score].count(1) == 1
        if one_away and self.crawford_rule and self.crawford_score is None:
            self.crawford_score = self.score  # the first game at such a score is the Crawford game

    def _on_setcube(self, words: list[str]) -> None:
        given = _pairs(words, ("value", "owner"))
        value = _whole(given.get("value", "1"), "value", 1, 32768)
        owner = given.get("owner", "center").lower()
        if owner not in (*_PLAYERS, "center", "centre"):
            raise UbgiError("bad_value", f"owner must be center, p0 or p1, not {owner[:40]!r}")
        self._match(position=Position.start(), cube=value, owner=_PLAYERS.get(owner))  # raises if it cannot be
        self.cube, self.owner = value, _PLAYERS.get(owner)

    def _on_setturn(self, words: list[str]) -> None:
        if len(words) != 1 or words[0] not in _PLAYERS:
            raise UbgiError("bad_value", "expected: setturn p0 or setturn p1")
        self.turn = _PLAYERS[words[0]]

    def _on_position(self, words: list[str]) -> None:
        self.position, self.dice, self.doubled = None, None, False  # a wrong one leaves none to move in
        match words:
            case ["gnubgid", text]:
                match = from_gnubg(text)
                if ":" not in text:
                    if len(text) != 14:
                        raise UbgiError("bad_value", "a Position ID has 14 characters")
                    self.position = match.position
                    return
            case ["xgid", text]:
                match = from_xgid(text)
            case ["startpos"]:
                self.position = Position.start()
                return
            case _:
                raise UbgiError("bad_value", "expected: position gnubgid ID or position xgid ID")
        if match.decision not in ("roll", "play", "take"):
            raise UbgiError("bad_value", f"there is nothing to decide there: {match.decision}")
        self.length, self.jacoby, self.score = match.length, match.jacoby, match.score
        self.turn, self.cube, self.owner = match.turn, match.cube, match.cube_owner
        one_away = self.length > 1 and [self.length - points for points in self.score].count(1) == 1
        self.crawford_score = match.score if match.crawford else _NO_SCORE if one_away else None
        self.position, self.dice, self.doubled = match.position, match.dice, match.decision == "take"

    def _on_dice(self, words: list[str]) -> None:
        self.dice = None
        if len(words) != 2:
            raise UbgiError("bad_value", "expected: dice NUMBER NUMBER")
        self.dice = check_roll(_whole(word, "a die", 1, 6) for word in words)

    def _match(self, **changed: Any) -> Match:
        """The moment before the roll; `changed` are the position, cube or owner if not those that were told."""
        position = changed.get("position", self.position)
        if position is None:
            raise UbgiError("bad_state", "there is no position: send position gnubgid ID")
        cube, owner = changed.get("cube", self.cube), changed.get("owner", self.owner)
        return Match(
            position=position,
            length=self.length,
            score=self.score,
            turn=self.turn,
            decision="roll",
            cube=cube,
            cube_owner=owner,
            crawford=self.length > 1 and self.score == self.crawford_score,
            jacoby=self.jacoby,
            max_cube=max(1024, 2 * cube if cube < 32768 else cube),
        )

    # Decisions

    def _on_go(self, words: list[str]) -> list[str]:
        role, words = _role(words)
        limits = _pairs(words, ("movetime", "depth", "nodes", "trials"))
        numbers = {name: _whole(value, name, 1, 10**9) for name, value in limits.items()}
        bot = self._bot(numbers.get("depth"))
        match = self._match()
        if role == "cube":
            return [f"bestcube {self._cube(bot, match)}"]
        if self.dice is None:
            raise UbgiError("bad_state", "there are no dice: send dice NUMBER NUMBER")
        if role == "chequer":
            return [f"bestmove {play_text(chosen_play(bot, match.roll(self.dice)))}"]
        doubles = wants_to_double(bot, match)
        after = match.double().take() if doubles else match
        cube = "double" if doubles else "nodouble"
        return [f"bestturn cube={cube} move={play_text(chosen_play(bot, after.roll(self.dice)))}"]

    def _cube(self, bot: Bot, match: Match) -> str:
        if self.doubled:
            return "take" if wants_to_take(bot, match.double()) else "drop"
        return "double" if wants_to_double(bot, match) else "nodouble"

    def _bot(self, depth: int | None) -> Bot:
        """The bot, looking as far ahead as it is told: `go depth` for this decision, the option for all."""
        plies = min(depth, MOST_PLIES) if depth else self.plies
        if not isinstance(self.bot, ValueBot) or plies == self.bot.plies:
            return self.bot
        old = self.bot
        return ValueBot(old.network, name=old.name, card=old.card, bearoff=old.bearoff, plies=plies)


def _role(words: list[str]) -> tuple[str, list[str]]:
    """`go role chequer ...`, `go chequer ...` or `go ...` -> the role, and the rest."""
    if words[:1] == ["role"]:
        if words[1:2] not in (["chequer"], ["checker"], ["cube"], ["turn"]):
            raise UbgiError("bad_value", "the role is chequer, cube or turn")
        words = words[1:]
    if words and words[0] in ("chequer", "checker", "cube", "turn"):
        return ("chequer" if words[0] == "checker" else words[0]), words[1:]
    return "chequer", words


def _pairs(words: list[str], names: Iterable[str]) -> dict[str, str]:
    """NAME VALUE NAME VALUE ... Raises UbgiError."""
    found = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not found.keys() <= set(names):
        raise UbgiError("bad_value", f"expected pairs of a name ({', '.join(names)}) and a value")
    return found


def _whole(text: str, name: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high):
        raise UbgiError("bad_value", f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
    return int(text)


def _on_off(text: str, name: str) -> bool:
    if text not in ("on", "off"):
        raise UbgiError("bad_value", f"{name} must be on or off, not {text[:40]!r}")
    return text == "on"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `ubgi` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "ubgi",
        help="a bot as a UBGI engine on standard input and output",
        description=(
            "Speak UBGI, the engine protocol, 0.1 and 0.2, on standard input and output. Another bgai drives it "
            "as the bot 'ubgi:bgai ubgi --bot strong'."
        ),
        epilog="Example: bgai ubgi --bot strong",
    )
    parser.add_argument(
        "--bot", default="strong", metavar="BOT", help="any bot that the arena takes (default strong)"
    )
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Answer until `quit` or the end of the input."""
    with contextlib.redirect_stdout(sys.stderr):  # whatever a bot may print is no part of the protocol
        engine = UbgiEngine(open_bot(args.bot))
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    talk(engine, sys.stdin, sys.stdout)
    return 0


def talk(engine: UbgiEngine, lines: TextIO, out: TextIO) -> None:
    """Answer line by line, each at once."""
    while not engine.finished and (line := lines.readline(MOST_LINE + 2)):
        while not line.endswith("\n") and (more := lines.readline(MOST_LINE)):  # too long: to its end, but not kept
            line = line[: MOST_LINE + 1] + more[-1:]
        with contextlib.redirect_stdout(sys.stderr):
            answers = engine.answer(line)
        for answer in answers:
            print(answer, file=out, flush=True)
