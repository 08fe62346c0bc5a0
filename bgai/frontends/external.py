"""gnubg's external player protocol: one line asked, one line answered. Knows no sockets.

Two kinds of clients speak it: gnubg's own `set player 0 external HOST:PORT`, which sends bare FIBS boards, and
programs written for gnubg's `external` command, which also ask for evaluations. What gnubg 1.07 answers to the same
lines is the model; where it would guess at a damaged board, an error is answered here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bgai.bots import Bot, ValueBot
from bgai.evaluation.cube import best_values
from bgai.evaluation.cube_decision import stakes_of
from bgai.evaluation.lookahead import MOST_PLIES
from bgai.frontends.decisions import (
    accepts_resignation,
    chosen_play,
    cubeless_value,
    play_text,
    wants_to_double,
    wants_to_take,
)
from bgai.notation.fibs import from_fibs
from bgai.rules.match import Match

MOST_LINE = 4096
VERSION = ("Interface: 2", "RFBF: 0", "Engine: 1.00", "Software: bgai")
HELP = (
    "Lines: version, help, exit, set debug|interface|prompt VALUE,",
    "evaluation fibsboard BOARD [plies N] [cubeful|cubeless] [jacobyrule on|off],",
    "and a FIBS board (board:...) alone or with resignation 1|2|3, which asks for a decision.",
)
_YES, _NO = ("on", "yes", "true", "1"), ("off", "no", "false", "0")
_FLAGS = ("deterministic", "cube", "jacobyrule", "crawfordrule", "beavers")


class ExternalError(ValueError):
    """A line that cannot be answered; the sentence says why."""


@dataclass(frozen=True)
class _Options:
    """What stands behind a board; the values are gnubg's when nothing stands there."""

    plies: int | None = None
    cubeful: bool = False
    jacoby: bool = True
    resignation: int = 0


class External:
    """Answers the lines of one client. Money games are played with Jacoby's rule, as gnubg does, or without."""

    def __init__(self, bot: Bot, *, jacoby: bool = True) -> None:
        self.bot = bot
        self.jacoby = jacoby
        self.finished = False

    def answer(self, line: str) -> list[str]:
        """The lines that answer this one; an error is one line that begins with "Error: "."""
        try:
            return self._answer(" ".join(line.strip("\0").split()))
        except ValueError as error:
            return [f"Error: {' '.join(str(error).split())}"]

    def _answer(self, line: str) -> list[str]:
        if not line:
            raise ExternalError("no command given")
        if len(line) > MOST_LINE:
            raise ExternalError(f"a line has at most {MOST_LINE} characters")
        word, _, rest = line.partition(" ")
        if word.lower().startswith("board"):
            return [self._decision(line)]
        match word.lower():
            case "version" if not rest:
                return list(VERSION)
            case "help" if not rest:
                return list(HELP)
            case "exit" | "quit" if not rest:
                self.finished = True
                return []
            case "set":
                return [_setting(rest)]
            case "evaluation":
                return [self._evaluation(rest)]
            case "fibsboard":
                return [self._decision(rest)]
        raise ExternalError(f"there is no command {line[:40]!r}; help lists them")

    def _decision(self, text: str) -> str:
        """A move, or the word for what is done with the cube or about a resignation."""
        board, words = _board_and_words(text)
        options = _options(words)
        match = self._match(board)
        if match.length == 0:
            match = replace(match, jacoby=self.jacoby)
        if options.resignation:
            if match.decision == "take":
                raise ExternalError("a double and a resignation cannot both wait for an answer")
            # The player on roll is asked about what the other one offers.
            offered = replace(
                match, position=match.position.turned(), turn=1 - match.turn, decision="roll", dice=None
            )
            return "accept" if accepts_resignation(self.bot, offered, options.resignation) else "reject"
        match match.decision:
            case "take":
                return "take" if wants_to_take(self.bot, match) else "drop"
            case "roll":
                return "double" if wants_to_double(self.bot, match) else "roll"
        return play_text(chosen_play(self.bot, match), bar="25", off="0", nothing="")

    def _evaluation(self, text: str) -> str:
        """gnubg's five chances, cumulative, and the equity, or in a match the chance to win it; of the roller."""
        word, _, rest = text.partition(" ")
        if word.lower() != "fibsboard":
            raise ExternalError("expected: evaluation fibsboard BOARD")
        board, words = _board_and_words(rest)
        options = _options(words)
        if not isinstance(self.bot, ValueBot):
            raise ExternalError(f"{self.bot.name} chooses plays and gives no values")
        match = self._match(board)
        bot = self.bot
        if options.plies is not None and options.plies + 1 != bot.plies:
            bot = ValueBot(bot.network, name=bot.name, card=bot.card, bearoff=bot.bearoff, plies=options.plies + 1)
        chances = bot.evaluate(match.position)
        stakes = stakes_of(replace(match, jacoby=options.jacoby and not match.length))
        if options.cubeful:
            value = float(best_values(bot.cube_values(match.position.board[None], stakes))[0])
        elif match.length:
            value = cubeless_value(match, match.turn, chances)
        else:
            value = chances.equity
        return " ".join(f"{number:.6f}" for number in (*chances.cumulative, value))

    def _match(self, board: str) -> Match:
        """The moment that a board shows. gnubg puts names and scores in the order that its own client sends."""
        return from_fibs(board, gnubg_request=True)


def _board_and_words(text: str) -> tuple[str, list[str]]:
    """A board, in quotes or not, and the words behind it; the names in it may hold blanks."""
    head, colon, tail = text.strip().rpartition(":")
    words = tail.split()
    if not colon or not words:
        raise ExternalError('a FIBS board is "board", two names and 50 numbers with colons between')
    board = f"{head}:{words[0]}".strip("'\"")
    return board[:5].lower() + board[5:], words[1:]


def _options(words: list[str]) -> _Options:
    """What the words behind a board say. Those that change nothing here (noise 0, prune, ...) are read and left."""
    options, left = _Options(), [word.lower() for word in words]
    while left:
        name = left.pop(0)
        if name in ("cubeful", "cubeless"):
            options = replace(options, cubeful=name == "cubeful")
        elif name == "prune":
            if left and left[0] in _YES + _NO:
                left.pop(0)
        elif name in _FLAGS:
            on = _flag(name, left.pop(0) if left else "")
            if name == "cube":
                options = replace(options, cubeful=on)
            elif name == "jacobyrule":
                options = replace(options, jacoby=on)
        elif name == "plies":
            options = replace(options, plies=_whole(name, left, 0, MOST_PLIES - 1))
        elif name == "resignation":
            options = replace(options, resignation=_whole(name, left, 0, 3))
        elif name == "noise":
            _no_noise(left)
        else:
            raise ExternalError(f"there is no option {name[:40]!r} after a board; help lists them")
    return options


def _whole(name: str, left: list[str], low: int, high: int) -> int:
    text = left.pop(0) if left else ""
    if text not in [str(number) for number in range(low, high + 1)]:
        raise ExternalError(f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
    return int(text)


def _no_noise(left: list[str]) -> None:
    text = left.pop(0) if left else ""
    if not re.fullmatch(r"0*(\.0*)?", text) or not text:
        raise ExternalError(f"this engine adds no noise: noise must be 0, not {text[:40]!r}")


def _flag(name: str, text: str) -> bool:
    if text.lower() not in _YES + _NO:
        raise ExternalError(f"{name} must be on or off, not {text[:40]!r}")
    return text.lower() in _YES


def _setting(text: str) -> str:
    """What gnubg says to `set`. Debug output there is none here, and both interfaces take the same lines."""
    name, _, value = text.partition(" ")
    match name.lower():
        case "debug":
            return f"Debug output {'ON' if _flag('debug', value) else 'OFF'}"
        case "interface":
            if value.lower() not in ("new", "old"):
                raise ExternalError(f"interface must be new or old, not {value[:40]!r}")
            return f"New interface {'ON' if value.lower() == 'new' else 'OFF'}"
        case "prompt":
            raise ExternalError("set option 'prompt' not supported")
    raise ExternalError("expected: set debug on|off, set interface new|old or set prompt TEXT")
