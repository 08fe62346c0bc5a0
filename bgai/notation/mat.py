"""Matches in Jellyfish's text format (.mat), which all programs read: text <-> `Record`.

Two columns, player 0 left and player 1 right; a row is `  1) 31: 8/5 6/5      42: 8/4 6/4`. Read in the dialects
of gnubg, eXtreme Gammon, Backgammon Studio and Backgammon Galaxy, and as a single game without any heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bgai.notation.headers import Told, all_headers, header_line, read_header, sort_out
from bgai.notation.record import Action, Game, GameBuilder, Headers, InvalidRecord, Record, next_start
from bgai.rules.match import MAX_CUBE, MOST_LENGTH, MOST_SCORE, Match
from bgai.rules.plays import OFF

MOST_LINE = 1000
_LENGTH = re.compile(r"\s*([0-9]{1,9})[ -]points? match\s*", re.IGNORECASE)
_MONEY = re.compile(r"\s*(money|unlimited)\s+(game|match|session)\s*", re.IGNORECASE)
_GAME = re.compile(r"\s*game\s+([0-9]{1,9})\s*", re.IGNORECASE)
_SCORES = re.compile(r"\s*(\S.*?)\s*:\s*([0-9]{1,9})\s+(\S.*?)\s*:\s*([0-9]{1,9})\s*")
_NAMES = re.compile(r"\s*(\S.*?)\s{2,}(\S.*?)\s*")
_ROW = re.compile(r"\s*[0-9]{1,5}\)")
# A cell begins with a roll or one of these words, after a blank.
_CELL = re.compile(
    r"(?<!\S)(?:(?P<dice>[1-6][1-6])\s*:|(?P<word>(?:re)?doubles?|takes?|accepts?|drops?|pass(?:es)?|rejects?|"
    r"beavers?|raccoons?|wins?|loss(?:es)?|loses?|resigns?)\b)",
    re.IGNORECASE,
)
_NEW_CUBE = re.compile(r"\s*(?:=>?|to)?\s*([0-9]{1,9})?\s*")
_WON = re.compile(r"\s*(?:([0-9]{1,9})\s+points?)?(?:\s+and the match)?\s*\.?\s*", re.IGNORECASE)
_UNRECORDED = "????"
_NOT_PLAYED = {_UNRECORDED, "cannot move", "can't move", "no move", "no play", "-", ""}
_RIGHT_FROM = 16  # columns: a cell that stands alone in its row is the right player's from here on


@dataclass(frozen=True)
class _Line:
    number: int
    text: str


@dataclass(frozen=True)
class _Cell:
    """One entry of a row: a roll ("31") or a word, and what follows it."""

    player: int
    head: str
    rest: str


def read_mat(text: str) -> Record:
    """The record in the text of a .mat file. Raises InvalidRecord with the line and what is wrong there.

    Headers that tell no rules are kept as they are. Without a header, a match has the Crawford rule, money has
    beavers, and Jacoby's rule where the points won fit no other.
    """
    lines = [_Line(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    headers, body = _split_headers(lines)
    told = sort_out(headers)
    try:
        return _read(body, told, jacoby=told.jacoby or False)
    except InvalidRecord:
        if told.jacoby is None:
            try:
                return _read(body, told, jacoby=True)
            except InvalidRecord:
                pass
        raise


def write_mat(record: Record) -> str:
    """The text of a .mat file. What `read_mat` makes of it is the same record."""
    names = [_plain_name(name, player) for player, name in enumerate(record.players)]
    lines = [f"; {header_line(name, value)}" for name, value in all_headers(record)]
    lines += ["", f" {record.length} point match", ""]
    for number, game in enumerate(record.games, start=1):
        left, right = (f"{name} : {points}" for name, points in zip(names, game.score, strict=True))
        lines += [f" Game {number}", f" {left:<31} {right}"]
        lines += [*_rows(game), ""]
    return "\n".join(lines) + "\n"


# Reading


def _split_headers(lines: list[_Line]) -> tuple[Headers, list[_Line]]:
    """The headers, and the lines that are left when comments and empty ones are gone."""
    headers, body = [], []
    for line in lines:
        if len(line.text) > MOST_LINE:
            raise InvalidRecord(f"line {line.number} has {len(line.text)} characters; this is no .mat file")
        stripped = line.text.strip().lstrip("\ufeff")
        if stripped.startswith(";"):
            header = read_header(stripped[1:])
            if header:
                headers.append(header)
        elif stripped:
            body.append(line)
    return tuple(headers), body


def _read(body: list[_Line], told: Told, *, jacoby: bool) -> Record:
    length, body = _read_length(body)
    money = length == 0
    rules = Match(
        length=length,
        jacoby=money and jacoby,
        beavers=money and told.beavers is not False,
        max_cube=told.max_cube or MAX_CUBE,
    )
    crawford = told.crawford is not False
    games: list[Game] = []
    players: tuple[str, str] | None = None
    for names, score, rows in _games(body):
        try:
            start = next_start(games, _with_score(rules, score), crawford)
        except ValueError as error:
            raise InvalidRecord(f"line {rows[0].number}: {error}") from None
        games.append(_read_game(start, rows[1:]))
        players = players or names
    if players is None:
        raise InvalidRecord('there is no game in this text; a .mat file has lines such as " Game 1"')
    return Record(
        players=(told.players[0] or players[0], told.players[1] or players[1]),
        games=tuple(games),
        length=length,
        crawford=crawford,
        jacoby=rules.jacoby,
        beavers=rules.beavers,
        max_cube=rules.max_cube,
        headers=told.others,
    )


def _read_length(body: list[_Line]) -> tuple[int, list[_Line]]:
    """The length and the lines after it; without such a line the text is a single game for money."""
    for place, line in enumerate(body):
        match = _LENGTH.fullmatch(line.text)
        if match:
            if int(match[1]) > MOST_LENGTH:
                raise InvalidRecord(f"line {line.number}: a match has at most {MOST_LENGTH} points, not {match[1]}")
            return int(match[1]), body[place + 1 :]
        if _MONEY.fullmatch(line.text):
            return 0, body[place + 1 :]
        if _GAME.fullmatch(line.text) or _ROW.match(line.text):
            break
    return 0, body


def _games(body: list[_Line]) -> Iterator[tuple[tuple[str, str], tuple[int, int], list[_Line]]]:
    """Names, score and lines of each game; the first of its lines is the one with the names."""
    if not body:
        return
    # Without any heading the lines are a single game.
    starts = [place for place, line in enumerate(body) if _GAME.fullmatch(line.text)] or [-1]
    if starts[0] > 0:
        wanted = 'expected " Game 1" or the length of the match'
        raise InvalidRecord(f"line {body[0].number}: {wanted}, not {_quoted(body[0])}")
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        rows = body[start + 1 : end]
        if not rows:
            raise InvalidRecord(f"line {body[start].number}: a line with the players and the score must follow")
        names, score = _read_names(rows[0])
        yield names, score, rows


def _read_names(line: _Line) -> tuple[tuple[str, str], tuple[int, int]]:
    match = _SCORES.fullmatch(line.text)
    if match:
        return (match[1], match[3]), (int(match[2]), int(match[4]))
    match = _NAMES.fullmatch(line.text)
    if match and not _ROW.match(line.text):
        return (match[1], match[2]), (0, 0)
    raise InvalidRecord(
        f'line {line.number}: expected players and score, as in "Ann : 0      Bob : 2", not {_quoted(line)}'
    )


def _with_score(rules: Match, score: tuple[int, int]) -> Match:
    return Match(
        length=rules.length, score=score, jacoby=rules.jacoby, beavers=rules.beavers, max_cube=rules.max_cube
    )


def _read_game(start: Match, rows: list[_Line]) -> Game:
    builder = GameBuilder(start)
    for line in rows:
        for cell in _cells(line):
            try:
                _add(builder, cell)
            except ValueError as error:
                raise InvalidRecord(
                    f"line {line.number}, {'left' if cell.player == 0 else 'right'}: {error}"
                ) from None
    return builder.game()


def _cells(line: _Line) -> list[_Cell]:
    """What a row says, left before right. A long left cell may end one blank before the right one."""
    text = line.text.expandtabs()
    row = _ROW.match(text)
    begin = row.end() if row else 0
    heads = list(_CELL.finditer(text, begin))
    if not heads:
        if row and text[begin:].strip() in ("", *_NOT_PLAYED):
            return []
        raise InvalidRecord(f'line {line.number}: expected a row such as " 1) 31: 8/5 6/5", not {_quoted(line)}')
    before = text[begin : heads[0].start()].strip()
    if before or len(heads) > 2:
        what = f"cannot read {before[:30]!r}" if before else "a row has at most two entries, left and right"
        raise InvalidRecord(f"line {line.number}: {what}")
    if len(heads) == 2:
        ends = [heads[1].start(), len(text)]
        players = [0, 1]
    else:
        ends = [len(text)]
        players = [int(heads[0].start() >= _RIGHT_FROM)]
    return [
        _Cell(player, (head["dice"] or head["word"]).lower(), text[head.end() : end].strip())
        for player, head, end in zip(players, heads, ends, strict=True)
    ]


def _add(builder: GameBuilder, cell: _Cell) -> None:
    head, rest, player = cell.head, cell.rest, cell.player
    if head.isdigit():
        unplayed = " ".join(rest.lower().split()) in _NOT_PLAYED
        builder.add_roll(player, (int(head[0]), int(head[1])), "" if unplayed else rest)
    elif head.startswith(("double", "redouble", "beaver")):
        offered = 2 * builder.now.cube * (2 if builder.now.decision == "take" else 1)
        told = _NEW_CUBE.fullmatch(rest)
        if told is None or (told[1] and int(told[1]) != offered):
            raise ValueError(f"expected {head.capitalize()} => {offered}, not {f'{head} {rest}'[:40]!r}")
        builder.add_double(player)
    elif head.startswith(("take", "accept")) and not rest:
        builder.add_take(player)
    elif head.startswith(("drop", "pass", "reject")) and not rest:
        builder.add(Action(player, "drop"))
    elif head.startswith(("win", "los", "resign")):
        told = _WON.fullmatch(rest)
        if told is None or (told[1] and not 1 <= int(told[1]) <= MOST_SCORE):
            raise ValueError(f'expected "{head.capitalize()} 2 points", not {f"{head} {rest}"[:40]!r}')
        winner = player if head.startswith("win") else 1 - player
        builder.end(winner, int(told[1] or builder.now.points or builder.now.cube))
    elif head.startswith("raccoon"):
        raise ValueError("raccoons are not read")
    else:
        raise ValueError(f"cannot read {rest[:40]!r} after {head!r}")


def _quoted(line: _Line) -> str:
    return repr(line.text.strip()[:40])


# Writing


def _plain_name(name: str, player: int) -> str:
    """The name as it can stand before its score; the header "Player 1" or "Player 2" has it in full."""
    plain = " ".join("".join(sign if sign.isprintable() and sign != ":" else " " for sign in name).split())
    return plain[:25].strip() or f"player {player + 1}"


def _rows(game: Game) -> Iterator[str]:
    cells: list[tuple[int, str]] = []
    for before, action in zip(game.states, game.actions, strict=False):
        cells += _written(action, before)
    pairs: list[list[str]] = []
    last = 1
    for player, text in cells:
        # Players alternate; where one of them has two entries in turn (a take, then his roll), a new row begins.
        if player == 0 or last == 1:
            pairs.append(["", ""])
        pairs[-1][player] = text
        last = player
    for number, (left, right) in enumerate(pairs, start=1):
        # The blanks at the end matter: in a short row gnubg takes the right entry of the row before for this one's.
        yield f"{number:>3}) {left:<29}  {right}"
    if game.winner is not None:
        points = f"Wins {game.points} point{'s' if game.points > 1 else ''}"
        closing = " and the match" if game.end.match_winner is not None else ""
        yield f"{' ' * (6 if game.winner == 0 else 36)}{points}{closing}"


def _written(action: Action, before: Match) -> list[tuple[int, str]]:
    """The entries of one action. A beaver is written as gnubg reads it: doubled again, and taken."""
    if action.dice is not None:
        roll = f"{action.dice[0]}{action.dice[1]}: "
        if action.play is None:
            return [(action.player, roll + _UNRECORDED)]
        # One step of one man at a time, bar and off as numbers and no marks: what every reader understands.
        steps = (f"{start}/{end if end > OFF else 0}" for start, end in action.play.moves)
        return [(action.player, (roll + " ".join(steps)).rstrip())]
    match action.kind:
        case "double":
            return [(action.player, f" Doubles => {2 * before.cube}")]
        case "beaver":
            return [(action.player, f" Doubles => {4 * before.cube}"), (1 - action.player, " Takes")]
        case "take":
            return [(action.player, " Takes")]
        case "drop":
            return [(action.player, " Drops")]
    return []  # a resignation shows in the last line only
