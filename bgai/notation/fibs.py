"""The board of FIBS, the First Internet Backgammon Server ("board:You:Opponent:..."), <-> `Match`.

Two names and 50 numbers. "You" is player 1 here, as in gnubg's raw board. It cannot say that a resignation is
offered, that a game is over or has not begun, and knows neither Jacoby nor beavers nor a limit of the cube.
"""

from __future__ import annotations

from bgai.notation.fields import InvalidId, cube_limit, not_expressed, whole
from bgai.rules.match import MOST_LENGTH, MOST_SCORE, InvalidMatch, Match
from bgai.rules.position import BAR, MEN, OPPONENT_BAR, POINTS, InvalidPosition, Position

YOU, OPPONENT = 1, 0
_UNLIMITED = 9999  # FIBS: a session without an end
_NAMES = ("You", "Opponent")
# The 50 numbers, in their order.
_NUMBERS = (
    "match length", "your score", "opponent's score",
    *(f"place {point}" for point in range(POINTS)),
    "turn", "your die 1", "your die 2", "opponent's die 1", "opponent's die 2",
    "cube", "you may double", "opponent may double", "was doubled", "colour", "direction", "home", "bar",
    "your men off", "opponent's men off", "your men on the bar", "opponent's men on the bar",
    "can move", "forced", "post-Crawford", "no Crawford game",
)  # fmt: skip


def to_fibs(match: Match, names: tuple[str, str] = _NAMES) -> str:
    """The board line; `names` are those of player 1 ("You") and player 0. Raises InvalidId."""
    if match.decision not in ("roll", "play", "take"):
        raise not_expressed("a FIBS board", match.decision)
    for name in names:
        if not name or ":" in name or not name.isprintable():
            raise InvalidId(f"a name in a FIBS board must be text without colons, not {name!r}")
    mine = match.turn == YOU
    yours = match.view(YOU)
    dice = match.dice or (0, 0)
    may_double = [int(not match.crawford and match.cube_owner in (None, player)) for player in (YOU, OPPONENT)]
    last_point = match.length > 0 and 1 in (match.needs(YOU), match.needs(OPPONENT))
    numbers = [
        match.length, match.score[YOU], match.score[OPPONENT],
        *yours.men,
        1 if mine else -1, *(dice if mine else (0, 0)), *((0, 0) if mine else dice),
        match.cube, *may_double, int(match.decision == "take"), 1, -1, OPPONENT_BAR, BAR,
        *yours.off, yours.men[BAR], -yours.men[OPPONENT_BAR],
        0, 0, int(last_point and not match.crawford), int(not match.crawford),
    ]  # fmt: skip
    return ":".join(["board", *names, *map(str, numbers)])


def from_fibs(text: str, *, gnubg_request: bool = False) -> Match:
    """The match of a board line. Raises InvalidId, which names the number and its place.

    `gnubg_request`: the line is what gnubg 1.07 asks an external player. While no double waits for its answer,
    names and scores stand there in the other order (the men and the rest do not).
    """
    parts = text.strip().strip("\0").split(":")
    if parts[0] != "board" or len(parts) != 3 + len(_NUMBERS):
        raise InvalidId(
            f'a FIBS board is "board", two names and {len(_NUMBERS)} numbers with colons between; '
            f"this text has {len(parts)} fields, the first is {parts[0][:20]!r}"
        )
    values = {
        name: whole(part, f"field {place} of the FIBS board, {name},", -MOST_SCORE, MOST_SCORE)
        for place, (name, part) in enumerate(zip(_NUMBERS, parts[3:], strict=True), start=4)
    }
    for name in ("turn", "colour", "direction"):
        _among(values, name, (1, -1))
    for name in ("you may double", "opponent may double", "post-Crawford"):
        _among(values, name, (0, 1))
    length = 0 if values["match length"] == _UNLIMITED else values["match length"]
    if not 0 <= length <= MOST_LENGTH:
        raise InvalidId(f"{_field('match length')} must be 0 to {MOST_LENGTH} or {_UNLIMITED}, not {length}")
    score = (values["opponent's score"], values["your score"])
    if gnubg_request and not values["was doubled"]:
        score = score[::-1]
    turn = YOU if values["turn"] == values["colour"] else OPPONENT
    dice = _dice(values)
    try:
        yours = _your_men(values)
        return Match(
            position=yours if turn == YOU else yours.turned(),
            length=length,
            score=score,
            turn=turn,
            decision="take" if values["was doubled"] else "play" if dice else "roll",
            dice=dice,
            cube=values["cube"],
            cube_owner=_owner(values),
            crawford=_is_crawford(values, length, score),
            max_cube=cube_limit(values["cube"], values["was doubled"] != 0),
        )
    except (InvalidPosition, InvalidMatch) as error:
        raise InvalidId(f"FIBS board: {error}") from None


def _field(name: str) -> str:
    return f"field {_NUMBERS.index(name) + 4} of the FIBS board, {name},"


def _among(values: dict[str, int], name: str, allowed: tuple[int, ...]) -> None:
    if values[name] not in allowed:
        raise InvalidId(f"{_field(name)} must be {' or '.join(map(str, allowed))}, not {values[name]}")


def _dice(values: dict[str, int]) -> tuple[int, int] | None:
    """The dice; gnubg writes them for both players, FIBS for the one on roll."""
    pairs = {(values[f"{whose} die 1"], values[f"{whose} die 2"]) for whose in ("your", "opponent's")} - {(0, 0)}
    if len(pairs) > 1:
        raise InvalidId("fields 31 to 34 of the FIBS board give both players different dice")
    return pairs.pop() if pairs else None


def _your_men(values: dict[str, int]) -> Position:
    """The men seen by "You", who owns the sign of `colour` and moves in `direction` (-1 is from 24 to 1)."""
    places = range(POINTS) if values["direction"] == -1 else reversed(range(POINTS))
    yours = Position(values["colour"] * values[f"place {place}"] for place in places)
    for name, off in zip(("your men off", "opponent's men off"), yours.off, strict=True):
        if values[name] != off:
            raise InvalidId(f"{_field(name)} is {values[name]}, but {MEN - off} of {MEN} men are on the board")
    return yours


def _owner(values: dict[str, int]) -> int | None:
    you, opponent = values["you may double"], values["opponent may double"]
    return None if you == opponent else YOU if you else OPPONENT


def _is_crawford(values: dict[str, int], length: int, score: tuple[int, int]) -> bool:
    """A player is one point from the match, and both last numbers say that the Crawford game is not past."""
    if length < 2 or values["post-Crawford"] or values["no Crawford game"]:
        return False
    return [length - points for points in score].count(1) == 1
