"""A game at the page as data: what the browser keeps and sends, replayed and carried on by the rules.

The browser holds the session's name, the game's number, how the game began and what was done; everything else
follows, and the dice come from the server's promise. The person is player 0, the bot player 1. Knows no HTTP.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bgai.arena.analysis import MARKS, Choice, analyze_record, rank_plays
from bgai.bots import ValueBot
from bgai.evaluation.cube_decision import stakes_of
from bgai.frontends.http.api import cube_answer, outcomes_answer
from bgai.frontends.http.dice import FairDice, Promise, new_session
from bgai.frontends.http.reading import BadRequest, OutOfTime, bot_of, only_known, only_level
from bgai.frontends.http.steps import step_graph
from bgai.notation.mat import write_mat
from bgai.notation.plain import from_dict, to_dict
from bgai.notation.record import Action, Game, Record
from bgai.rules.match import KINDS, MAX_CUBE, IllegalAction, Match
from bgai.rules.plays import IllegalPlay, Move, Play, legal_plays, move_man, obstacle
from bgai.rules.position import BAR, POINTS, Position

PERSON, BOT = 0, 1
MOST_ACTIONS = 3000
LENGTHS = (0, 1, 3, 5, 7, 9, 11, 13, 15, 17, 21, 25)
HINTS = 3
_GAME_FIELDS = ("session", "game", "hash", "start", "actions")
_ACTION_FIELDS = ("kind", "dice", "moves", "points", "player", "text", "hits")


@dataclass(frozen=True)
class Done:
    """One action as it was done."""

    player: int | None
    """None at the opening throw, which both make."""
    kind: str
    dice: tuple[int, int] | None = None
    """Of "begin" (the person's die first) and "roll"."""
    play: Play | None = None
    points: int = 0
    """Of "resign": 1, 2 or 3."""


@dataclass(frozen=True)
class Table:
    """A game so far; `states` holds the table before each action, and at last after all of them."""

    promise: Promise
    actions: tuple[Done, ...]
    states: tuple[Match, ...]

    @property
    def now(self) -> Match:
        """The table after all actions."""
        return self.states[-1]

    @property
    def throws(self) -> int:
        """How often dice were thrown."""
        return sum(done.dice is not None for done in self.actions)


def new_game(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning of a session: what was promised, and the table before the opening throw. Raises BadRequest."""
    only_known(body, ("length", "cube", "jacoby"))
    length, cube, jacoby = body.get("length", 0), body.get("cube", True), body.get("jacoby", False)
    if isinstance(length, bool) or length not in LENGTHS:
        raise BadRequest(
            f"length must be one of {', '.join(map(str, LENGTHS))} (0 is a single game), not {str(length)[:20]!r}"
        )
    for name, value in (("cube", cube), ("jacoby", jacoby)):
        if not isinstance(value, bool):
            raise BadRequest(f"{name} must be true or false, not {str(value)[:20]!r}")
    start = Match(length=length, max_cube=MAX_CUBE if cube else 1, jacoby=jacoby and cube and length == 0)
    return _started(dice.promise(new_session(), 1), start)


def next_game(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning of the game after a finished one."""
    table = read_table(dice, body)
    return _started(dice.promise(table.promise.session, table.promise.game + 1), table.now.next_game())


def act(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The table after an action of the person, or (without "action") as it is. Raises BadRequest and the errors of
    the rules."""
    table = read_table(dice, body, "action")
    if body.get("action") is None:
        return view(table)
    action = _read_action(body["action"], "action")
    if table.now.decider == BOT:
        raise BadRequest("it is the bot's turn")
    return view(follow(dice, table, action))


def bot_acts(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The table after the bot did what is due. It sees the table and never the coming dice. Raises BadRequest."""
    table = read_table(dice, body, "bot")
    if table.now.decider != BOT:
        raise BadRequest("it is not the bot's turn")
    return view(follow(dice, table, _decided(bot_of(body), table.now)))


def hint(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """What the adviser would do in the person's place: the best plays, or the cube decision."""
    table, bot = read_table(dice, body, "bot"), bot_of(body)
    now = table.now
    if now.decider != PERSON:
        raise BadRequest("a hint is given when a decision of the person is due")
    if now.decision == "play":
        plays = [
            {
                "play": str(ranked.play),
                "moves": [list(move) for move in ranked.play.moves],
                "equity": round(ranked.equity, 4),
                "win": round(ranked.outcomes.win_chance, 4),
                "outcomes": outcomes_answer(ranked.outcomes),
            }
            for ranked in rank_plays(bot, now)[:HINTS]
        ]
        return {"bot": bot.name, "kind": "plays", "plays": plays}
    if now.decision == "resign":
        raise BadRequest("there is no hint about a resignation")
    return {"bot": bot.name, "kind": "cube", "asked": now.decision, "cube": cube_answer(bot.cube(now))}


def reveal(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The seed of a finished game and what was hashed; nothing more is thrown in that game. Raises BadRequest."""
    table = read_table(dice, body)
    if table.now.decision != "over":
        raise BadRequest("the seed is told when the game is over")
    dice.tell(table.promise)
    promise = table.promise
    return {"seed": str(promise.seed), "salt": promise.salt, "text": promise.text, "hash": promise.hash}


def review(dice: FairDice, body: Mapping[str, Any], ends: float = math.inf) -> dict[str, Any]:
    """Every error of the person in this game by the adviser's measure, and how both players did. Raises OutOfTime at
    the moment `ends` of `time.monotonic`."""
    only_level(body, "a review")

    def in_time() -> None:
        if time.monotonic() > ends:
            raise OutOfTime("there was no time to review this game; ask again, or write it as .mat for bgai analyze")

    in_time()
    table, bot = read_table(dice, body, "bot"), bot_of(body)
    analysis = analyze_record(bot, record_of(table), progress=in_time)
    summaries = []
    for player in (PERSON, BOT):
        summary = analysis.summary(player)
        summaries.append(
            {
                "pr": None if summary.pr is None else round(summary.pr, 2),
                "error": round(summary.error, 4),
                "decisions": summary.decisions,
                "luck": round(summary.luck, 4),
            }
        )
    errors = sorted(
        (choice for choice in analysis.choices if choice.player == PERSON and choice.error >= MARKS[-1][0]),
        key=lambda choice: -choice.error,
    )
    at = _places(table)
    return {"bot": bot.name, "players": summaries, "errors": [_error_answer(choice, at) for choice in errors]}


def mat(dice: FairDice, body: Mapping[str, Any]) -> dict[str, Any]:
    """The game as a .mat file, for gnubg and XG."""
    return {"mat": write_mat(record_of(read_table(dice, body)))}


def read_table(dice: FairDice, body: Mapping[str, Any], *more: str) -> Table:
    """The game that a request holds, replayed with the promised dice. Raises BadRequest, which names the action."""
    only_known(body, (*_GAME_FIELDS, *more))
    session, number = body.get("session"), body.get("game")
    promise = dice.promise(session, number)  # type: ignore[arg-type]
    if body.get("hash") != promise.hash:
        raise BadRequest(
            "the dice of this game were promised by another server, or under another key; they cannot be thrown here"
        )
    if not isinstance(body.get("start"), dict):
        raise BadRequest("start must hold the table before the opening throw, as the server gave it")
    start = from_dict(body["start"])
    if start.decision != "opening":
        raise BadRequest("a game starts before the opening throw")
    actions = body.get("actions", [])
    if not isinstance(actions, list) or len(actions) > MOST_ACTIONS:
        raise BadRequest(f"actions must be a list of at most {MOST_ACTIONS} actions")
    table = Table(promise, (), (start,))
    for place, given in enumerate(actions, start=1):
        action = _read_action(given, f"action {place}")
        try:
            table = follow(dice, table, action, again=True)
        except ValueError as error:
            raise BadRequest(f"action {place}: {error}") from None
    if table.now.decision != "over":
        dice.check_untold(promise)  # an unfinished game could hold throws that nobody has seen
    return table


def follow(dice: FairDice, table: Table, action: Done, *, again: bool = False) -> Table:
    """The table after one more action. `again`: it was thrown before, and dice that are given must be the same.

    Raises IllegalAction, IllegalPlay, DiceRefused and BadRequest.
    """
    now, player, thrown = table.now, table.now.decider, None
    if action.kind in ("begin", "roll"):
        if action.kind not in now.actions:
            raise IllegalAction(f"{action.kind} is not possible now")
        number = table.throws + 1
        thrown = table.promise.throw(number) if again else dice.new_throw(table.promise, number)
        if action.dice is not None and action.dice != thrown:
            raise BadRequest(
                f"throw {number} of this game was {thrown[0]}-{thrown[1]}, not {action.dice[0]}-{action.dice[1]}"
            )
    play = None
    match action.kind:
        case "begin" if thrown:
            after = now.begin(*thrown)
        case "roll" if thrown:
            after = now.roll(thrown)
        case "play":
            play = _play_by_moves(now, action.play.moves if action.play else ())
            after = now.play(play)
        case "resign":
            after = now.resign(action.points)
        case _:
            after = getattr(now, action.kind)()
    done = Done(player, action.kind, thrown, play, action.points)
    return Table(table.promise, (*table.actions, done), (*table.states, after))


def view(table: Table) -> dict[str, Any]:
    """All that the page shows; boards are seen by the person."""
    now = table.now
    answer: dict[str, Any] = {
        "session": table.promise.session,
        "game": table.promise.game,
        "hash": table.promise.hash,
        "start": to_dict(table.states[0]),
        "actions": [_action_answer(done) for done in table.actions],
        "boards": [list(state.view(PERSON).men) for state in table.states],
        "match": to_dict(now),
        "decider": now.decider,
        "may": [name for name in now.actions if now.decider in (PERSON, None)],
        "pips": list(now.pips),
        "off": list(now.view(PERSON).off),
        "score": list(now.score),
        "winner": now.winner,
        "points": now.points,
        "match_winner": now.match_winner,
    }
    if now.decision == "play" and now.dice is not None:
        plays = legal_plays(now.position, now.dice)
        answer["can_move"] = bool(plays[0].moves)
        if now.decider == PERSON:
            answer["steps"] = step_graph(now.position, now.dice, plays)
    return answer


def record_of(table: Table) -> Record:
    """The game as a record that can be analysed and written; resignations that were declined are left out."""
    start = table.states[0]
    actions = [action for _, action in _record_actions(table)]
    rules = {"jacoby": start.jacoby, "max_cube": start.max_cube}
    return Record(("You", "bgai"), (Game(start, tuple(actions)),), length=start.length, **rules)  # type: ignore[arg-type]


def _record_actions(table: Table) -> Iterator[tuple[int, Action]]:
    """The actions of a record with their places in the game."""
    for place, done in enumerate(table.actions):
        before, after = table.states[place], table.states[place + 1]
        if done.player is None or done.kind in ("begin", "roll", "accept", "decline"):
            continue
        if done.kind == "resign":
            if place + 1 < len(table.actions) and table.actions[place + 1].kind == "accept":
                yield place, Action(done.player, "resign", points=done.points)
        elif done.kind == "play":
            yield place, Action(done.player, "play", before.dice, done.play)
        elif after is not before:
            yield place, Action(done.player, done.kind)  # type: ignore[arg-type]


def _places(table: Table) -> dict[int, int]:
    """The number of an action in its record, from 1 -> its place in the game."""
    return {number: place for number, (place, _) in enumerate(_record_actions(table), start=1)}


def _error_answer(choice: Choice, places: dict[int, int]) -> dict[str, Any]:
    dice = choice.before.dice if choice.kind == "play" else None
    return {
        "at": places[choice.number],
        "kind": choice.kind,
        "dice": list(dice) if dice else None,
        "made": choice.made,
        "best": choice.best,
        "loss": round(choice.error, 4),
        "mark": choice.mark,
    }


def _started(promise: Promise, start: Match) -> dict[str, Any]:
    return view(Table(promise, (), (start,)))


def _read_action(given: Any, where: str) -> Done:
    if not isinstance(given, dict):
        raise BadRequest(f'{where} must be an object such as {{"kind": "roll"}}')
    only_known(given, _ACTION_FIELDS)
    kind = given.get("kind")
    if kind not in ("begin", "roll", "play", "double", "take", "drop", "resign", "accept", "decline"):
        raise BadRequest(
            f"{where}: kind must be begin, roll, play, double, take, drop, resign, accept or decline, "
            f"not {str(kind)[:20]!r}"
        )
    dice = given.get("dice")
    if dice is not None and (not isinstance(dice, list) or len(dice) != 2 or not all(_whole(die, 6) for die in dice)):
        raise BadRequest(f"{where}: dice must be two numbers from 1 to 6")
    moves = given.get("moves", [])
    if not isinstance(moves, list) or len(moves) > 4 or not all(_is_move(move) for move in moves):
        raise BadRequest(f"{where}: moves must be up to four pairs [from, to], 25 the bar and 0 off")
    points = given.get("points", 0)
    if not _whole(points, 3):
        raise BadRequest(f"{where}: points must be 1, 2 or 3")
    play = Play(tuple(Move(*move) for move in moves), (), Position.start()) if kind == "play" else None
    return Done(None, kind, (dice[0], dice[1]) if dice and kind in ("begin", "roll") else None, play, points)


def _is_move(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(_whole(point, BAR) for point in given)


def _whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _play_by_moves(now: Match, moves: tuple[Move, ...]) -> Play:
    """The play of these steps, whose order is any that can be played. Raises IllegalPlay.

    Whether all steps together are a legal play of the roll, `Match.play` says.
    """
    men, left = now.position.men, list(now.dice or ())
    if len(left) == 2 and left[0] == left[1]:
        left *= 2
    if len(moves) > len(left):
        raise IllegalPlay(f"this takes {len(moves)} dice, and the roll gives only {len(left)}")
    for start, to in moves:
        pips = start - to
        # A man that bears off may use a larger die than he needs.
        die = next((d for d in sorted(left) if d == pips or (to == 0 and d > pips)), 0)
        if not die:
            raise IllegalPlay(f"no die is left for {start}/{to}")
        why = obstacle(men, start, die)
        if why is not None:
            raise IllegalPlay(f"{start}/{to} is not legal: {why}")
        men = move_man(men, start, die)
        left.remove(die)
    ordered = tuple(sorted(moves, reverse=True))
    landed = dict.fromkeys(move.to_point for move in ordered)
    hits = tuple(point for point in landed if point and now.position.men[point] == -1)
    return Play(ordered, hits, Position(-men[POINTS - 1 - point] for point in range(POINTS)))


def _action_answer(done: Done) -> dict[str, Any]:
    answer: dict[str, Any] = {"player": done.player, "kind": done.kind}
    if done.dice is not None:
        answer["dice"] = list(done.dice)
    if done.play is not None:
        answer |= {
            "moves": [list(move) for move in done.play.moves],
            "hits": list(done.play.hits),
            "text": str(done.play) if done.play.moves else "",
        }
    if done.points:
        answer["points"] = done.points
    return answer


def _decided(bot: ValueBot, now: Match) -> Done:
    """What the bot does now."""
    boards, stakes = now.position.board[None], stakes_of(now)
    if now.decision == "roll":
        wants = "double" in now.actions and bool(bot.doubles(boards, stakes)[0])
        return Done(BOT, "double" if wants else "roll")
    if now.decision == "take":
        return Done(BOT, "take" if bool(bot.takes(boards, stakes)[0]) else "drop")
    if now.decision == "resign":
        return Done(BOT, "accept" if _accepts(bot, now) else "decline")
    play = bot.choose_in(now)
    return Done(BOT, "play", play=play)


def _accepts(bot: ValueBot, now: Match) -> bool:
    """Whether the bot lets the person lose no more than he offers: it wins the match so, or expects no more."""
    needed = now.needs(BOT)
    if now.resigned == max(KINDS) or (needed is not None and now.resigned * now.cube >= needed):
        return True
    if now.jacoby and now.cube_owner is None:
        return True  # nothing but a single game counts
    mine = bot.evaluate(now.position).turned()
    return now.resigned >= mine.equity - 0.05
