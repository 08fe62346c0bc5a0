"""gnubg's identifiers <-> `Match`: the Match ID (12 characters), alone or as POSITIONID:MATCHID.

The Match ID is 72 bits, lowest first, in base64. It has no place for beavers and the cube's limit, nor for the
moment before the opening throw.
"""

from __future__ import annotations

import base64
import re

from bgai.notation.fields import InvalidId, cube_limit
from bgai.rules.match import MOST_LENGTH, Decision, InvalidMatch, Match
from bgai.rules.position import MEN, InvalidPosition, Position

# name: (first bit, bits)
_FIELDS = {
    "cube": (0, 4),  # as a power of two
    "owner": (4, 2),  # 3: in the middle
    "roller": (6, 1),
    "crawford": (7, 1),
    "state": (8, 3),
    "decider": (11, 1),
    "doubled": (12, 1),
    "resigned": (13, 2),
    "die 1": (15, 3),
    "die 2": (18, 3),
    "length": (21, 15),
    "score 0": (36, 15),
    "score 1": (51, 15),
    "no jacoby": (66, 1),
}
_BYTES = 9
_CENTRE = 3
_PLAYING, _BORNE_OFF, _RESIGNED, _DROPPED = 1, 2, 3, 4
UNTOLD_PLAYER = 1
"""Who is on roll where an identifier does not say so: player 1, the one at the bottom in XG."""


def match_id(match: Match) -> str:
    """The 12 characters of a gnubg Match ID. Raises InvalidId before the opening throw, which has none."""
    if match.decision == "opening":
        raise InvalidId("there is no Match ID before the opening throw: nobody is on roll yet")
    state = _PLAYING
    if match.decision == "over":
        state = _BORNE_OFF if MEN in match.position.off else _RESIGNED if match.resigned else _DROPPED
    die1, die2 = match.dice or (0, 0)
    decider = match.decider
    if decider is None:
        decider = match.turn if state == _BORNE_OFF else 1 - match.turn
    values = {
        "cube": match.cube.bit_length() - 1,
        "owner": _CENTRE if match.cube_owner is None else match.cube_owner,
        "roller": match.turn,
        "crawford": int(match.crawford),
        "state": state,
        "decider": decider,
        "doubled": int(match.decision == "take"),
        "resigned": match.resigned,
        "die 1": die1,
        "die 2": die2,
        "length": match.length,
        "score 0": match.score[0],
        "score 1": match.score[1],
        "no jacoby": int(not match.jacoby),
    }
    bits = sum(value << _FIELDS[name][0] for name, value in values.items())
    return base64.b64encode(bits.to_bytes(_BYTES, "little")).decode()


def to_gnubg(match: Match) -> str:
    """POSITIONID:MATCHID, as gnubg's `set gnubgid` takes it. Raises InvalidId as `match_id` does."""
    return f"{match.position.id}:{match_id(match)}"


def from_gnubg(text: str) -> Match:
    """The match of "POSITIONID:MATCHID", or of either alone. Raises InvalidId.

    A Position ID alone is a money game, centred cube, `UNTOLD_PLAYER` to roll; a Match ID alone the opening
    position.
    """
    first, colon, second = text.strip().partition(":")
    if not colon and len(first) == 12:
        return from_match_id(first, Position.start())
    try:
        position = Position.from_id(first)
    except InvalidPosition as error:
        raise InvalidId(f"Position ID: {error}") from None
    if colon:
        return from_match_id(second, position)
    try:
        return Match(position=position, turn=UNTOLD_PLAYER, decision="roll")
    except InvalidMatch as error:
        raise InvalidId(f"Position ID {first}: {error}") from None


def from_match_id(text: str, position: Position) -> Match:
    """The match of a Match ID with these men, seen by the player on roll. Raises InvalidId."""
    values = _values(text.strip())
    owner = values["owner"]
    if owner == 2:
        raise InvalidId("Match ID: bits 4-5, the cube's owner, are 2; they must be 0, 1 or 3 (in the middle)")
    decision = _decision(values)
    dice = (values["die 1"], values["die 2"])
    if max(dice) == 7 or (0 in dice and dice != (0, 0)):
        raise InvalidId(f"Match ID: bits 15-20, the dice, are {dice[0]} and {dice[1]}; each is 1 to 6, or both are 0")
    if decision == "roll" and dice != (0, 0):
        decision = "play"
    if values["length"] > MOST_LENGTH:
        raise InvalidId(f"Match ID: bits 21-35, the length, are {values['length']}; at most {MOST_LENGTH} is read")
    try:
        match = Match(
            position=position,
            length=values["length"],
            score=(values["score 0"], values["score 1"]),
            turn=values["roller"],
            decision=decision,
            dice=dice if dice != (0, 0) else None,
            cube=1 << values["cube"],
            cube_owner=None if owner == _CENTRE else owner,
            crawford=bool(values["crawford"]),
            jacoby=not values["length"] and not values["no jacoby"],
            resigned=values["resigned"],
            max_cube=cube_limit(1 << values["cube"], decision == "take"),
        )
        ended = {_BORNE_OFF: MEN in position.off, _RESIGNED: match.resigned > 0}
        if not ended.get(values["state"], True):
            raise InvalidMatch(f"bits 8-10 say that the game is over by {values['state']}, the rest does not")
        return match
    except InvalidMatch as error:
        raise InvalidId(f"Match ID {text}: {error}") from None


def _values(text: str) -> dict[str, int]:
    if len(text) != 12:
        raise InvalidId(f"a Match ID has 12 characters, {text[:30]!r} has {len(text)}")
    wrong = re.search("[^A-Za-z0-9+/]", text)
    if wrong:
        raise InvalidId(f"Match ID: character {wrong.start() + 1} is {wrong[0]!r}; only A-Z a-z 0-9 + / stand in one")
    bits = int.from_bytes(base64.b64decode(text), "little")
    if bits >> 67:
        raise InvalidId("Match ID: the bits after bit 66 must be 0")
    return {name: bits >> first & (1 << width) - 1 for name, (first, width) in _FIELDS.items()}


def _decision(values: dict[str, int]) -> Decision:
    """What is due, apart from whether dice lie there; the bits that say so must agree."""
    state = values["state"]
    if state in (_BORNE_OFF, _RESIGNED, _DROPPED):
        return "over"
    if state != _PLAYING:
        meaning = "no game has begun" if state == 0 else "is unknown"
        raise InvalidId(f"Match ID: bits 8-10, the state, are {state}: {meaning}; 1 is a game that goes on")
    other = values["decider"] != values["roller"]
    if values["doubled"]:
        if not other:
            raise InvalidId(
                "Match ID: bits 11-12 say that the doubler must answer a double (a beaver); this is not read"
            )
        if values["resigned"]:
            raise InvalidId("Match ID: a double (bit 12) and a resignation (bits 13-14) cannot both wait")
        return "take"
    if other and not values["resigned"]:
        raise InvalidId("Match ID: bit 11 lets the player decide who is not on roll, but he is asked nothing")
    if values["resigned"]:
        if not other:
            raise InvalidId("Match ID: the player who resigns (bits 13-14) cannot answer it himself (bit 11)")
        return "resign"
    return "roll"
