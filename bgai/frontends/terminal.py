"""`bgai play`: a person plays a bot in the terminal. Knows no rules of its own and no value of a position.

The talk at the table is plain functions over `Table`, which holds the ways to ask and to say, so that a test
can sit in for the person. Every sentence that a person reads stands in the block of texts below.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import itertools
import os
import secrets
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bgai.bots import LEVELS, Bot, UnknownBot, ValueBot, open_bot, split_plies
from bgai.files import InUse
from bgai.frontends import saved
from bgai.frontends.drawing import ASCII, WIDTH, Style, draw, style_for
from bgai.frontends.saved import DamagedSave, Game, Session
from bgai.notation.plays import parse_play
from bgai.rules.plays import IllegalPlay, Play, legal_plays

DEFAULT_BOT = "normal"
ADVISER = "strong"
HINTS = 3
ROWS_A_PAGE = 15

# The texts. Words in braces are filled in.
YOU = "you"
DESCRIPTION = (
    "Play backgammon against a bot in this terminal: single games for points, without the cube; `bgai serve` "
    "has matches and the cube. Your unfinished game is saved at every turn."
)
HELP = """\
  8/5 6/5      play, points counted from your side; bar/20, 6/off, 13/7(2) too
  list         all legal plays with their numbers; `list 2` is the second page
  12           play number 12 of that list
  hint         the best plays and what they are worth: + points a game for you
  undo         take back your last turn and the bot's reply; the dice stay
  board, pips  the board again; the pip counts
  resign       give up this game; you are asked how much
  restart      begin a new game and do not count this one; you are asked first
  save, quit   save the game; save it and leave (as Ctrl-D and Ctrl-C do)
Short forms: h l u b p q. Your men move from 24 to 1 and off at the lower right.
The bot's plays are written from its own side: its 24 is your 1. The numbers
outside the board say where its men left (-1) and arrived (+1)."""
WELCOME = "You play {bot}. Type a play such as 8/5 6/5, or help."
TIE = "You throw {mine}, {bot} throws {theirs}: a tie, both throw again."
YOU_START = "You throw {mine}, {bot} throws {theirs}: you start."
BOT_STARTS = "You throw {mine}, {bot} throws {theirs}: {bot} starts."
ROLLED = "You rolled {high}-{low}."
NO_PLAY = "You rolled {high}-{low} and have no legal play."
ONLY_PLAY = "You have only one legal play: {play}. Press Enter to play it."
PROMPT = "{high}-{low}> "
YOU_PLAY = "You play {play}."
BOT_PLAYS = "{bot} rolls {high}-{low} and plays {play}."
BOT_PASSES = "{bot} rolls {high}-{low} and has no legal play."
BOT_RESIGNS = "{bot} resigns {kind}."
KINDS = ("a single game", "a gammon", "a backgammon")
EMPTY = "Type a play such as {play}, its number from list, or help."
ILLEGAL = "Not played: {reason}. `list` shows the legal plays."
NO_SUCH_NUMBER = "There are {count} legal plays, numbered from 1; `list` shows them."
NO_SUCH_COMMAND = "There is no command {word!r}; did you mean {likely}?"
NO_SUCH_PAGE = "The list has {pages} page(s); there is no page {word!r}."
MORE = "Page {page} of {pages}; Enter or `list {next}` shows the next one."
HINT = "Best plays according to {adviser}, with their numbers in list:"
HINT_LINE = "{number:>4}. {play:<24} {equity:+.3f}   you win {wins:.1%}"
NO_HINT = "{bot} gives no hints, and the strong level cannot be opened here."
NOTHING_TO_UNDO = "There is no turn of yours to take back."
UNDONE = "Your last turn is taken back."
PIPS = "Pips: you {mine}, {bot} {theirs}."
RESIGN = "Resign a single game (1), a gammon (2), a backgammon (3), or play on (n)? [1] "
RESIGN_AGAIN = "Please type 1, 2, 3 or n."
RESTART = "Give up this game without counting it and begin a new one? [y/N] "
ANOTHER = "Another game? [Y/n] "
YES_OR_NO = "Please type y or n."
SAVED = "The game is saved in {path}; after quit, `bgai play` offers to continue it."
NOT_SAVED = "The game cannot be saved in {path}: {reason}. You can play on, but quitting loses it."
IN_USE = (
    "Another `bgai play` keeps its game in {path}, so this one is not saved. You can play on, but quitting loses it; "
    "with another folder in BGAI_HOME both are kept."
)
NOT_SAVED_NOW = "This game is not saved."
NOT_REMOVED = "The finished game cannot be removed from {path}: {reason}."
LEFT_SAVED = "Your game is saved; `bgai play` continues it."
LEFT_UNSAVED = "Your game could not be saved and is lost."
LEFT_BESIDE = "This game was not saved; the one that is on file was left alone."
LEFT = "Goodbye."
UNFINISHED = "You have an unfinished game against {bot}: {turns} played, pips you {mine}, {bot} {theirs}."
CONTINUE = "Continue it or begin a new one? [C/n] "
CONTINUE_AGAIN = "Please type c (continue) or n (new)."
KEPT_ASIDE = "The old game is kept as {path}."
CANNOT_SET_ASIDE = "{path} cannot be renamed ({reason}), so nothing is saved over it."
DAMAGED = "The saved game in {path} cannot be continued: {reason}. A new game begins."
UNREADABLE = "The saved game in {path} cannot be read: {reason}. A new game begins."
CANNOT_OPEN = "The bot of the saved game cannot be opened: {reason}"
KEEPS_BOT = "This game stays against {bot}, as it was begun; {wanted} plays the next one."
KEEPS_DICE = "This game goes on with its own dice; --seed counts from the next one."
WON = ("You win a single game: 1 point.", "You win a gammon: 2 points.", "You win a backgammon: 3 points.")
LOST = (
    "{bot} wins a single game: 1 point.",
    "{bot} wins a gammon: 2 points.",
    "{bot} wins a backgammon: 3 points.",
)
SCORE = "Score of this session: you {mine}, {bot} {theirs}."
SEED = "The dice came from seed {seed}; `bgai play {bot} --seed {seed}` throws them again."

_COMMANDS = {
    **{word: word for word in "help list hint undo board pips resign restart save quit".split()},
    **{"h": "help", "?": "help", "l": "list", "u": "undo", "b": "board", "p": "pips", "q": "quit"},
    **{"new": "restart", "exit": "quit"},
}


@dataclass
class Table:
    """Where a session takes place: ways to ask and to say, and where the game is kept."""

    ask: Callable[[str], str]
    """Gives the answer to a prompt; EOFError when the person has left."""
    say: Callable[[str], None]
    open_bot: Callable[[str], Bot]
    """Opens a bot by its text; UnknownBot when it cannot."""
    path: Path | None
    """The file of the unfinished game; None when it must not be touched."""
    style: Style = ASCII
    kept: bool | None = None
    """Whether the running game is on file; None when no game is running."""

    def tell(self, text: str, **words: object) -> None:
        """Say one of the texts, filled in and wrapped to the width of the board."""
        sentence = text.format(**words)
        self.say(textwrap.fill(sentence, WIDTH - 1, break_long_words=False, break_on_hyphens=False))


@dataclass(frozen=True)
class Resigned:
    """The person gave up this many points."""

    points: int


@dataclass(frozen=True)
class Restarted:
    """The person wants a new game in place of this one."""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add `play` to the commands of bgai."""
    parser = subparsers.add_parser("play", help="play a bot in the terminal", description=DESCRIPTION)
    opponent = parser.add_mutually_exclusive_group()
    opponent.add_argument("--level", choices=LEVELS, help=f"how well the bot plays (default: {DEFAULT_BOT})")
    opponent.add_argument(
        "--bot", metavar="BOT", help="any other bot: strong@2, a bot file, a run folder, random, pubeval, ..."
    )
    parser.add_argument("--seed", type=_seed, metavar="S", help="seed of the dice (default: drawn for each game)")
    parser.add_argument("--ascii", action="store_true", help="draw the board with plain letters")
    parser.set_defaults(run_command=run)


def run(args: argparse.Namespace) -> int:
    """`bgai play`: 0 when the person leaves, 130 after Ctrl-C, 2 when the bot cannot be opened."""
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # from now on arrow keys edit the line that `input` reads
    style = style_for(sys.stdout, os.environ, plain=args.ascii)
    table = Table(_ask, print, cache(_open), saved.game_file(os.environ), style)
    wanted = args.level if args.bot is None else _lasting(args.bot)
    try:
        code = _talk(table, wanted, args.seed)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # nobody reads on; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _talk(table: Table, wanted: str | None, seed: int | None) -> int:
    """The session and its last sentence; the exit code of `run`."""
    try:
        if wanted is not None:
            table.open_bot(wanted)
        with _own_file(table):
            play_session(table, wanted=wanted, seed=seed)
    except EOFError:
        table.say("\n" + _parting(table))
    except KeyboardInterrupt:
        table.say("\n" + _parting(table))
        return 130
    except UnknownBot as error:
        print(f"bgai play: {error}", file=sys.stderr)
        return 2
    return 0


@contextlib.contextmanager
def _own_file(table: Table) -> Iterator[None]:
    """Keep the file of the game to this table; when another one has it, do not touch it."""
    with contextlib.ExitStack() as stack:
        try:
            if table.path is not None:
                stack.enter_context(saved.claimed(table.path))
        except InUse:
            table.tell(IN_USE, path=table.path)
            table.path = None
        yield


def play_session(table: Table, *, wanted: str | None = None, seed: int | None = None) -> None:
    """Games against one bot until the person has enough; EOFError when he leaves during a game.

    `wanted` is the bot for new games (a continued one keeps its own), `seed` gives the first new game's dice.
    """
    seeds = _seeds(seed)
    session = _continued(table, wanted, seed)
    if session is None:
        session = Session(wanted or DEFAULT_BOT, Game(next(seeds)))
    while True:
        bot = table.open_bot(session.bot)
        after = play_game(table, session, bot)
        if after is None:
            _set_aside(table)
            after = session
        elif not _yes(table, ANOTHER, default=True):
            table.tell(LEFT)
            return
        score = after.score if wanted in (None, after.bot) else (0, 0)
        session = Session(wanted or after.bot, Game(next(seeds)), score)


def play_game(table: Table, session: Session, bot: Bot) -> Session | None:
    """Play the session's game to its end: the session with its new score, or None to begin anew."""
    table.tell(WELCOME, bot=bot.name)
    _say_opening(table, session.game, bot)
    while not session.game.points:
        _keep(table, session)
        if not session.game.person_to_roll:
            if points := bot.resigns(session.game.position):
                table.tell(BOT_RESIGNS, bot=bot.name, kind=KINDS[points - 1])
                return _finished(table, session, bot, points)
            session = replace(session, game=_bot_turn(table, session.game, bot))
            continue
        after = person_turn(table, session, bot)
        if isinstance(after, Restarted):
            return None
        if isinstance(after, Resigned):
            return _finished(table, session, bot, -after.points)
        session = replace(session, game=after)
    table.say(_picture(table, session.game, bot))
    return _finished(table, session, bot, session.game.points)


def person_turn(table: Table, session: Session, bot: Bot) -> Game | Resigned | Restarted:
    """Ask until the person has played, taken back, resigned or restarted; quitting raises EOFError."""
    game = session.game
    high, low = game.dice
    plays = legal_plays(game.position, game.dice)
    table.say(_picture(table, game, bot))
    if not plays[0].moves:
        table.tell(NO_PLAY, high=high, low=low)
        return game.played(plays[0])
    table.tell(ROLLED, high=high, low=low)
    if len(plays) == 1:
        table.tell(ONLY_PLAY, play=plays[0])
    page = 0  # of the list, while more pages are to come
    while True:
        text = table.ask(PROMPT.format(high=high, low=low)).strip()
        if not text and page:
            text = f"list {page + 1}"
        word, _, rest = text.casefold().partition(" ")
        command = _COMMANDS.get(word)
        if rest and command != "list":  # "b 20" is no call for the board
            command = None
        page = 0
        if command == "help":
            table.say(HELP)
        elif command == "list":
            page = _list(table, plays, rest.strip())
        elif command == "hint":
            _hint(table, game, bot, plays)
        elif command == "undo":
            before = game.taken_back()
            table.tell(UNDONE if before else NOTHING_TO_UNDO)
            if before:
                return before
        elif command == "board":
            table.say(_picture(table, game, bot))
        elif command == "pips":
            mine, theirs = game.view.pips
            table.tell(PIPS, mine=mine, bot=bot.name, theirs=theirs)
        elif command == "resign":
            if points := _resignation(table):
                return Resigned(points)
        elif command == "restart":
            if _yes(table, RESTART, default=False):
                return Restarted()
        elif command == "save":
            _keep(table, session)
            table.tell(SAVED if table.kept else NOT_SAVED_NOW, path=table.path)
        elif command == "quit":
            raise EOFError
        elif play := _chosen(table, game, plays, text):
            table.tell(YOU_PLAY, play=play)
            return game.played(play)


def _chosen(table: Table, game: Game, plays: list[Play], text: str) -> Play | None:
    """The play that the person means by a number, by notation or (when it is the only one) by Enter."""
    if not text:
        if len(plays) == 1:
            return plays[0]
        table.tell(EMPTY, play=plays[0])
        return None
    if text.isdecimal():
        number = int(text[:9])
        if 1 <= number <= len(plays):
            return plays[number - 1]
        table.tell(NO_SUCH_NUMBER, count=len(plays))
        return None
    try:
        return parse_play(text, game.position, game.dice)
    except IllegalPlay as error:
        likely = difflib.get_close_matches(text.casefold(), _COMMANDS, n=1) if text.isalpha() else []
        if likely:
            table.tell(NO_SUCH_COMMAND, word=text, likely=_COMMANDS[likely[0]])
        else:
            table.tell(ILLEGAL, reason=error)
        return None


def _list(table: Table, plays: list[Play], word: str) -> int:
    """Show one page of the plays; its number when another one follows, else 0."""
    entries = [f"{number:>3}. {play}" for number, play in enumerate(plays, start=1)]
    width = max(map(len, entries)) + 2
    columns = max(1, WIDTH // width)
    pages = -(-len(entries) // (columns * ROWS_A_PAGE))
    page = int(word[:9]) if word.isdecimal() else 0 if word else 1
    if not 1 <= page <= pages:
        table.tell(NO_SUCH_PAGE, pages=pages, word=word)
        return 0
    shown = entries[(page - 1) * columns * ROWS_A_PAGE : page * columns * ROWS_A_PAGE]
    rows = -(-len(shown) // columns)
    for row in range(rows):
        table.say("".join(f"{entry:<{width}}" for entry in shown[row::rows]).rstrip())
    if page == pages:
        return 0
    table.tell(MORE, page=page, pages=pages, next=page + 1)
    return page


def _hint(table: Table, game: Game, bot: Bot, plays: list[Play]) -> None:
    """Show the best plays, with their numbers in the list, by the strongest adviser there is."""
    try:
        adviser = table.open_bot(ADVISER)
    except UnknownBot:
        adviser = bot
    if not isinstance(adviser, ValueBot):
        table.tell(NO_HINT, bot=bot.name)
        return
    numbers = {play.after: number for number, play in enumerate(plays, start=1)}
    table.tell(HINT, adviser=adviser.name)
    for play, outcomes, equity in adviser.rank(game.position, game.dice)[:HINTS]:
        number, wins = numbers[play.after], outcomes.win_chance
        table.tell(HINT_LINE, number=number, play=str(play), equity=equity, wins=wins)


def _resignation(table: Table) -> int:
    """Points that the person resigns, 0 when he plays on after all."""
    points = {"": 1, "1": 1, "single": 1, "2": 2, "gammon": 2, "3": 3, "backgammon": 3, "n": 0, "no": 0}
    while (answer := table.ask(RESIGN).strip().casefold()) not in points:
        table.tell(RESIGN_AGAIN)
    return points[answer]


def _yes(table: Table, question: str, *, default: bool) -> bool:
    answers = {"": default, "y": True, "yes": True, "n": False, "no": False, "q": False, "quit": False}
    while (answer := table.ask(question).strip().casefold()) not in answers:
        table.tell(YES_OR_NO)
    return answers[answer]


def _say_opening(table: Table, game: Game, bot: Bot) -> None:
    if game.turns:
        return
    for mine, theirs in game.opening:
        text = TIE if mine == theirs else YOU_START if mine > theirs else BOT_STARTS
        table.tell(text, mine=mine, theirs=theirs, bot=bot.name)


def _bot_turn(table: Table, game: Game, bot: Bot) -> Game:
    high, low = game.dice
    play = bot.choose(game.position, game.dice)
    text = BOT_PLAYS if play.moves else BOT_PASSES
    table.tell(text, bot=bot.name, high=high, low=low, play=play)
    return game.played(play)


def _picture(table: Table, game: Game, bot: Bot) -> str:
    """The board seen by the person, with marks for the bot's play when that was the last thing to happen."""
    before = replace(game, turns=game.turns[:-1])
    bots_play = bool(game.turns) and not before.person_to_roll
    return "\n" + draw(
        game.view, bottom=YOU, top=bot.name, before=before.view if bots_play else None, style=table.style
    )


def _finished(table: Table, session: Session, bot: Bot, points: int) -> Session:
    """Say how the game ended, take it off the file and add its points (lost ones below 0)."""
    mine, theirs = session.score
    session = replace(session, score=(mine + max(points, 0), theirs + max(-points, 0)))
    table.tell((WON if points > 0 else LOST)[abs(points) - 1], bot=bot.name)
    table.tell(SCORE, mine=session.score[0], bot=bot.name, theirs=session.score[1])
    option = f"--level {session.bot}" if session.bot in LEVELS else f"--bot {shlex.quote(session.bot)}"
    table.tell(SEED, seed=session.game.seed, bot=option)
    table.kept = None
    try:
        if table.path:
            table.path.unlink(missing_ok=True)
    except OSError as error:
        table.tell(NOT_REMOVED, path=table.path, reason=error.strerror or error)
    return session


def _keep(table: Table, session: Session) -> None:
    """Save the game; when that fails, say so the first time."""
    if table.path is None:
        table.kept = False
        return
    try:
        saved.save(session, table.path)
        table.kept = True
    except OSError as error:
        if table.kept is not False:
            table.tell(NOT_SAVED, path=table.path, reason=error.strerror or error)
        table.kept = False


def _parting(table: Table) -> str:
    unsaved = LEFT_BESIDE if table.path is None else LEFT_UNSAVED
    return {None: LEFT, True: LEFT_SAVED, False: unsaved}[table.kept]


def _continued(table: Table, wanted: str | None, seed: int | None) -> Session | None:
    """The unfinished game on file when there is one and the person wants it."""
    session = _saved_session(table)
    if session is None:
        return None
    table.kept = True
    mine, theirs = session.game.view.pips
    count = len(session.game.turns)
    turns = f"{count} turn{'s' if count != 1 else ''}"
    table.tell(UNFINISHED, bot=session.bot, turns=turns, mine=mine, theirs=theirs)
    while (answer := table.ask(CONTINUE).strip().casefold()) not in ("n", "new"):
        if answer in ("q", "quit"):
            raise EOFError
        if answer not in ("", "c", "continue"):
            table.tell(CONTINUE_AGAIN)
            continue
        try:
            table.open_bot(session.bot)
        except UnknownBot as error:
            table.tell(CANNOT_OPEN, reason=error)
            continue
        if wanted not in (None, session.bot):
            table.tell(KEEPS_BOT, bot=session.bot, wanted=wanted)
        if seed is not None:
            table.tell(KEEPS_DICE)
        return session
    _set_aside(table)
    return None


def _saved_session(table: Table) -> Session | None:
    """What is on file; a file that holds no game is put aside."""
    if table.path is None:
        return None
    try:
        return saved.load(table.path)
    except DamagedSave as error:
        table.tell(DAMAGED, path=table.path, reason=error)
    except OSError as error:
        table.tell(UNREADABLE, path=table.path, reason=error.strerror or error)
    _set_aside(table, ".damaged")
    return None


def _set_aside(table: Table, ending: str = ".bak") -> None:
    """Keep the file on which a new game is about to be saved; when that cannot be, never save over it."""
    table.kept = None
    if table.path is None:
        return
    try:
        table.tell(KEPT_ASIDE, path=saved.set_aside(table.path, ending))
    except FileNotFoundError:
        return
    except OSError as error:
        table.tell(CANNOT_SET_ASIDE, path=table.path, reason=error.strerror or error)
        table.path = None


def _seeds(first: int | None) -> Iterator[int]:
    """Seeds of the games to come: counted up from `first`, or drawn at random."""
    if first is not None:
        return itertools.count(first)
    return iter(lambda: secrets.randbelow(2**32), None)


def _seed(text: str) -> int:
    """`--seed`: a whole number from 0. Raises argparse.ArgumentTypeError."""
    if not (text.isdecimal() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 0 to {10**18 - 1}")
    return int(text)


def _open(bot: str) -> Bot:
    """`open_bot` with one error for all that can go wrong. Raises UnknownBot."""
    try:
        return open_bot(bot)
    except (ValueError, OSError) as error:
        raise UnknownBot(str(error)) from None


def _lasting(bot: str) -> str:
    """The text of a bot as it can be opened from any folder."""
    with contextlib.suppress(UnknownBot):
        name, plies = split_plies(bot)
        if name not in LEVELS and Path(name).exists():
            return str(Path(name).resolve()) + (f"@{plies}" if plies > 1 else "")
    return bot


def _ask(prompt: str) -> str:
    if sys.stdin is None:
        raise EOFError
    text = input(prompt)
    if not sys.stdin.isatty():
        print(text)  # a piped answer, which no terminal has shown
    return text
