"""Matches in the Smart Game Format (SGF, GM[6]) as gnubg writes it: text <-> `Record`.

One tree a game. White is player 0; the letters a to x are White's points 1 to 24, y is the bar, z is off. Read
is the main line; analyses and comments of single moves are not kept. Games that set up a position are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bgai.notation.headers import all_headers, header_line, read_header, sort_out
from bgai.notation.record import Action, Game, GameBuilder, Headers, InvalidRecord, Record, next_start
from bgai.rules.match import MAX_CUBE, MOST_CUBE, MOST_LENGTH, MOST_SCORE, Match
from bgai.rules.plays import OFF
from bgai.rules.position import BAR

MOST_NODES = 100_000
_TOKEN = re.compile(r"\s+|[();]|[A-Za-z]+|\[[^\]\\]*(?:\\.[^\]\\]*)*\]", re.DOTALL)
_RESULT = re.compile(r"([WB])\+([0-9]{1,9})(R?)[A-Za-z]*", re.IGNORECASE)
_MOVE = re.compile(r"([1-6])([1-6])((?:[a-y][a-z]){0,4})")
_SET_UP = ("AE", "AW", "AB", "CP")
# Properties with a place of their own, and the header that they become.
_HEADERS = {
    "WR": "White rating",
    "BR": "Black rating",
    "EV": "Event",
    "RO": "Round",
    "PC": "Site",
    "AN": "Transcriber",
}
_DATE, _COMMENT = "EventDate", "Comment"
_COLOURS = {"W": 0, "B": 1}


@dataclass(frozen=True)
class _Node:
    line: int
    properties: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str) -> str | None:
        """The first value of a property, None when the node has none."""
        values = self.properties.get(name)
        return values[0] if values else None


def read_sgf(text: str) -> Record:
    """The record in the text of an SGF file. Raises InvalidRecord with the line and what is wrong there."""
    trees = list(_trees(text))
    if not trees:
        raise InvalidRecord('there is no game in this text; an SGF file has trees such as "(;GM[6]...)"')
    headers = _headers(trees[0][0])
    told = sort_out(headers)
    first = trees[0][0]
    rules = (first.first("RU") or "").split(":")
    crawford = told.crawford is not False if told.crawford is not None else "Crawford" in rules
    games: list[Game] = []
    for root, *nodes in trees:
        try:
            start = _start(root, first, told.beavers is not False, told.max_cube)
            start = replace(next_start(games, start, crawford), crawford=start.crawford)
        except ValueError as error:
            raise InvalidRecord(f"line {root.line}: {error}") from None
        games.append(_read_game(start, root, nodes))
    names = (first.first("PW") or "", first.first("PB") or "")
    return Record(
        players=(told.players[0] or names[0] or "White", told.players[1] or names[1] or "Black"),
        games=tuple(games),
        length=games[0].start.length,
        crawford=crawford or not games[0].start.length,
        jacoby=games[0].start.jacoby,
        beavers=games[0].start.beavers,
        max_cube=games[0].start.max_cube,
        headers=told.others,
    )


def write_sgf(record: Record) -> str:
    """The text of an SGF file, a tree for each game. What `read_sgf` makes of it is the same record."""
    return "".join(_tree(record, number, game) for number, game in enumerate(record.games))


# Reading


def _trees(text: str) -> Iterator[list[_Node]]:
    """The nodes of each game's main line: all before the first tree inside it closes."""
    nodes: list[_Node] = []
    depth, closed, name, line, at, count = 0, False, "", 1, 0, 0
    text = text.removeprefix("\ufeff")
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise InvalidRecord(f"line {line}: {text[at : at + 20]!r} does not belong into an SGF file")
        word, at = token[0], token.end()
        here, line = line, line + word.count("\n")
        if word.isspace():
            continue
        if word == "(":
            if depth == 0:
                nodes, closed = [], False
            depth += 1
        elif word == ")":
            depth, closed = depth - 1, True
            if depth < 0:
                raise InvalidRecord(f"line {here}: this ) closes nothing")
            if depth == 0:
                if not nodes:
                    raise InvalidRecord(f"line {here}: a game must have at least one node, as in (;GM[6])")
                yield nodes
        elif depth == 0:
            raise InvalidRecord(f"line {here}: expected a game that begins with ( , not {word[:20]!r}")
        elif closed:
            continue
        elif word == ";":
            count += 1
            if count > MOST_NODES:
                raise InvalidRecord(f"line {here}: more than {MOST_NODES} nodes are not read")
            nodes.append(_Node(here))
            name = ""
        elif not nodes:
            raise InvalidRecord(f"line {here}: expected ; before {word[:20]!r}")
        elif not word.startswith("["):
            name = word
            nodes[-1].properties.setdefault(name, [])
        elif name:
            nodes[-1].properties[name].append(_unescaped(word[1:-1]))
        else:
            raise InvalidRecord(f"line {here}: the value {word[:20]!r} has no property before it")
    if depth:
        raise InvalidRecord(f"line {line}: the file ends within a game; a ) is missing")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\r?\n|.)", lambda match: "" if match[1].endswith("\n") else match[1], text, flags=re.DOTALL)


def _escaped(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def _headers(root: _Node) -> Headers:
    headers: list[tuple[str, str]] = []
    date = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", (root.first("DT") or "").strip())
    if date:
        headers.append((_DATE, ".".join(date.groups())))
    headers += [(name, value) for code, name in _HEADERS.items() if (value := root.first(code))]
    comment = []
    for line in (root.first("GC") or "").splitlines():
        header = read_header(line)
        if header:
            headers.append(header)
        elif line.strip():
            comment.append(line.strip())
    return (*headers, *([(_COMMENT, " ".join(comment))] if comment else []))


def _info(root: _Node) -> dict[str, int]:
    """Length, number of the game and both scores of the property MI. Raises ValueError."""
    info = {"length": 0, "game": 0, "ws": 0, "bs": 0}
    for value in root.properties.get("MI", ()):
        name, _, number = value.partition(":")
        if name in info:
            most = MOST_LENGTH if name == "length" else MOST_SCORE
            if not re.fullmatch("[0-9]{1,9}", number) or int(number) > most:
                raise ValueError(f"MI[{name}:...] must have a number from 0 to {most}, not {number[:20]!r}")
            info[name] = int(number)
    return info


def _start(root: _Node, first: _Node, beavers: bool, max_cube: int | None) -> Match:
    """The beginning of a game as its root says. Raises ValueError."""
    if (root.first("GM") or "").strip() != "6":
        raise ValueError(f"this is no backgammon game: GM must be 6, not {root.first('GM')!r}")
    info = _info(root)
    if info["length"] != _info(first)["length"]:
        raise ValueError("all games of a match have the same length (MI[length:...])")
    rules = (root.first("RU") or "").split(":")
    cube = root.first("CV") or "1"
    if not re.fullmatch("[0-9]{1,5}", cube) or not 1 <= int(cube) <= MOST_CUBE:
        raise ValueError(f"CV must be the cube's value at the beginning, not {cube[:20]!r}")
    money = info["length"] == 0
    return Match(
        length=info["length"],
        score=(info["ws"], info["bs"]),
        crawford=not money and "CrawfordGame" in rules,
        jacoby=money and "Jacoby" in rules,
        beavers=money and beavers,
        cube=int(cube),
        max_cube=max_cube or MAX_CUBE,
    )


def _read_game(start: Match, root: _Node, nodes: list[_Node]) -> Game:
    builder = GameBuilder(start)
    for node in nodes:
        try:
            _add(builder, node)
        except ValueError as error:
            raise InvalidRecord(f"line {node.line}: {error}") from None
    result = _RESULT.fullmatch((root.first("RE") or "").strip())
    if result:
        try:
            builder.end(_COLOURS[result[1].upper()], int(result[2]))
        except ValueError as error:
            raise InvalidRecord(f"line {root.line}: RE[{result[0]}]: {error}") from None
    return builder.game()


def _add(builder: GameBuilder, node: _Node) -> None:
    set_up = [name for name in _SET_UP if name in node.properties]
    if set_up:
        raise ValueError(f"{set_up[0]} sets up a position; only games from the opening position are read")
    dice = node.first("DI")
    if dice is not None:
        player = _COLOURS.get((node.first("PL") or "")[:1])
        if player is None or not re.fullmatch("[1-6][1-6]", dice):
            raise ValueError(f"dice are set as PL[W]DI[31], not with {dice[:20]!r}")
        if builder.now.decision == "opening" or player == builder.now.decider:
            builder.add(Action(player, "roll", _high_low(int(dice[0]), int(dice[1]))))
    for colour, player in _COLOURS.items():
        value = node.first(colour)
        if value is not None:
            _add_move(builder, player, value.strip())


def _add_move(builder: GameBuilder, player: int, value: str) -> None:
    if value == "double":
        builder.add_double(player)
    elif value == "take":
        builder.add_take(player)
    elif value == "drop":
        builder.add(Action(player, "drop"))
    else:
        move = _MOVE.fullmatch(value)
        if move is None:
            raise ValueError(f"expected a move such as 31hfeh, double, take or drop, not {value[:20]!r}")
        letters = move[3]
        steps = [f"{_point(letters[i], player)}/{_point(letters[i + 1], player)}" for i in range(0, len(letters), 2)]
        builder.add_roll(player, (int(move[1]), int(move[2])), " ".join(steps))


def _point(letter: str, player: int) -> int:
    """A letter as the player's own point, 25 the bar and 0 off."""
    if letter in "yz":
        return BAR if letter == "y" else OFF
    white = ord(letter) - ord("a") + 1
    return white if player == 0 else BAR - white


def _letter(point: int, player: int) -> str:
    if point in (BAR, OFF):
        return "y" if point == BAR else "z"
    return chr(ord("a") + (point if player == 0 else BAR - point) - 1)


def _high_low(die1: int, die2: int) -> tuple[int, int]:
    return max(die1, die2), min(die1, die2)


# Writing


def _tree(record: Record, number: int, game: Game) -> str:
    white, black = game.score
    parts = [
        "(;FF[4]GM[6]CA[UTF-8]AP[bgai]",
        f"MI[length:{record.length}][game:{number}][ws:{white}][bs:{black}]",
        f"PW[{_escaped(record.players[0])}]PB[{_escaped(record.players[1])}]",
    ]
    if number == 0:
        parts.append(_root_headers(record))
    if record.length and (record.crawford or game.start.crawford):
        parts.append("RU[Crawford:CrawfordGame]" if game.start.crawford else "RU[Crawford]")
    elif record.jacoby:
        parts.append("RU[Jacoby]")
    if game.start.cube > 1:
        parts.append(f"CV[{game.start.cube}]")
    if game.winner is not None:
        resigned = "R" if game.actions and game.actions[-1].kind == "resign" else ""
        parts.append(f"RE[{'WB'[game.winner]}+{game.points}{resigned}]")
    nodes = [node for action in game.actions for node in _written(action)]
    return "".join(parts) + "".join(f"\n;{node}" for node in nodes) + ")\n"


def _root_headers(record: Record) -> str:
    """Headers with a property of their own, and the others line by line in the comment of the game (GC)."""
    codes = {name: code for code, name in _HEADERS.items()}
    parts, lines = [], []
    for name, value in all_headers(record):
        date = re.fullmatch(r"([0-9]{4})\.([0-9]{2})\.([0-9]{2})", value)
        if name == _DATE and date:
            parts.append(f"DT[{'-'.join(date.groups())}]")
        elif name in codes:
            parts.append(f"{codes[name]}[{_escaped(value)}]")
        else:
            lines.append(header_line(name, value))
    return "".join(parts) + "GC[{}]".format(_escaped("\n".join(lines)))


def _written(action: Action) -> list[str]:
    """The nodes of one action; a beaver as gnubg writes it, doubled again and taken. RE tells resignations."""
    colour, other = "WB"[action.player], "WB"[1 - action.player]
    if action.dice is not None:
        dice = f"{action.dice[0]}{action.dice[1]}"
        if action.play is None:
            return [f"PL[{colour}]DI[{dice}]"]
        steps = (_letter(point, action.player) for move in action.play.moves for point in move)
        return [f"{colour}[{dice}{''.join(steps)}]"]
    if action.kind == "beaver":
        return [f"{colour}[double]", f"{other}[take]"]
    return [] if action.kind == "resign" else [f"{colour}[{action.kind}]"]
