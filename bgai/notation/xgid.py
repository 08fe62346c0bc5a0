"""XGID, eXtreme Gammon's identifier <-> `Match`.

XGID=MEN:CUBE:OWNER:TURN:DICE:SCORE1:SCORE0:RULES:LENGTH:LIMIT. Player 1 sits at the bottom and has the upper-case
letters, player 0 the lower-case ones; both are counted from player 1's side. It cannot say that a resignation is
offered, that a game is over, or that it has not begun.
"""

from __future__ import annotations

from bgai.notation.fields import InvalidId, not_expressed, one_of, whole
from bgai.rules.match import MOST_LENGTH, MOST_SCORE, InvalidMatch, Match
from bgai.rules.position import BAR, MEN, OPPONENT_BAR, POINTS, InvalidPosition, Position

BOTTOM, TOP = 1, 0
_PARTS = (
    "men", "cube", "cube owner", "turn", "dice", "score of the bottom player", "score of the top player", "rules",
    "match length", "cube limit",
)  # fmt: skip
_SIDE = {"1": BOTTOM, "-1": TOP}
_OWNER = {"1": BOTTOM, "-1": TOP, "0": None}
_SIGN = {BOTTOM: 1, TOP: -1, None: 0}


def to_xgid(match: Match) -> str:
    """The XGID, with "XGID=" before it. Raises InvalidId where it has no words for the moment."""
    if match.decision not in ("roll", "play", "take"):
        raise not_expressed("an XGID", match.decision)
    dice = "D" if match.decision == "take" else "{}{}".format(*(match.dice or (0, 0)))
    rules = int(match.crawford) if match.length else match.jacoby + 2 * match.beavers
    numbers = (
        match.cube.bit_length() - 1,
        _SIGN[match.cube_owner],
        _SIGN[match.turn],
        dice,
        match.score[BOTTOM],
        match.score[TOP],
        rules,
        match.length,
        match.max_cube.bit_length() - 1,
    )
    letters = "".join(map(_letter, match.view(BOTTOM).men))
    return f"XGID={letters}:" + ":".join(map(str, numbers))


def from_xgid(text: str) -> Match:
    """The match of an XGID, with or without "XGID=" before it. Raises InvalidId, which names the field."""
    parts = text.strip().rpartition("=")[2].split(":")
    if len(parts) != len(_PARTS):
        raise InvalidId(f"an XGID has {len(_PARTS)} fields with colons between, this one has {len(parts)}")
    fields = dict(zip(_PARTS, parts, strict=True))
    turn = one_of(fields["turn"], "XGID field 4, the turn,", _SIDE)
    length = whole(fields["match length"], "XGID field 9, the match length,", 0, MOST_LENGTH)
    rules = whole(fields["rules"], "XGID field 8, the rules,", 0, 1 if length else 3)
    double, dice = _dice(fields["dice"])
    try:
        bottom = Position(map(_count, range(POINTS), _letters(fields["men"])))
        return Match(
            position=bottom if turn == BOTTOM else bottom.turned(),
            length=length,
            score=(
                whole(fields["score of the top player"], "XGID field 7, the top score,", 0, MOST_SCORE),
                whole(fields["score of the bottom player"], "XGID field 6, the bottom score,", 0, MOST_SCORE),
            ),
            turn=turn,
            decision="take" if double else "play" if dice else "roll",
            dice=dice,
            cube=1 << whole(fields["cube"], "XGID field 2, the cube as a power of two,", 0, 15),
            cube_owner=one_of(fields["cube owner"], "XGID field 3, the cube's owner,", _OWNER),
            crawford=bool(length and rules),
            jacoby=not length and rules % 2 == 1,
            beavers=not length and rules >= 2,
            max_cube=1 << whole(fields["cube limit"], "XGID field 10, the cube's limit as a power of two,", 0, 15),
        )
    except (InvalidPosition, InvalidMatch) as error:
        raise InvalidId(f"XGID: {error}") from None


def _letter(men: int) -> str:
    return "-" if men == 0 else chr(ord("A" if men > 0 else "a") + abs(men) - 1)


def _letters(text: str) -> str:
    if len(text) != POINTS:
        raise InvalidId(f"XGID field 1, the men, has {POINTS} characters, this one has {len(text)}")
    return text


def _count(point: int, letter: str) -> int:
    """Men that a letter stands for; the bottom player's are positive."""
    if letter == "-":
        return 0
    men = ord(letter.upper()) - ord("A") + 1
    if not (letter.isascii() and letter.isalpha()) or men > MEN:
        raise InvalidId(f"XGID field 1, the men: character {point + 1} is {letter!r}; it must be -, A to O or a to o")
    if point == OPPONENT_BAR and letter.isupper():
        raise InvalidId("XGID field 1, the men: character 1 is the top player's bar and must be lower case")
    if point == BAR and letter.islower():
        raise InvalidId("XGID field 1, the men: character 26 is the bottom player's bar and must be upper case")
    return men if letter.isupper() else -men


def _dice(text: str) -> tuple[bool, tuple[int, int] | None]:
    """Whether a double waits for its answer, and the dice that lie there."""
    text = text.strip()
    if text == "D":
        return True, None
    if text in ("B", "R"):
        raise InvalidId(f"XGID field 5, the dice, is {text}: waiting beavers and raccoons are not read")
    if len(text) == 2 and text == "00":
        return False, None
    if len(text) != 2 or any(die not in "123456" for die in text):
        raise InvalidId(f"XGID field 5, the dice, must be 00, two dice such as 31, or D, not {text[:20]!r}")
    return False, (int(text[0]), int(text[1]))
