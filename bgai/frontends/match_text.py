"""What stands beside a board, in words: score, cube, and what is due. For the terminal and for diagrams alike."""

from __future__ import annotations

from bgai.rules.match import KINDS, Match

PLAYERS = ("player 0", "player 1")
"""What players are called who have no other names."""


def table_text(match: Match) -> str:
    """Length and rules, the score unless nothing has been won for money, and the cube."""
    score = f"{PLAYERS[0]}: {match.score[0]}, {PLAYERS[1]}: {match.score[1]}"
    return "; ".join([kind_text(match), *[score] * bool(match.length or any(match.score)), cube_text(match)])


def kind_text(match: Match) -> str:
    """Length and rules."""
    rules = [("Crawford game", match.crawford), ("Jacoby", match.jacoby), ("beavers", match.beavers)]
    return ", ".join(
        [f"{match.length}-point match" if match.length else "money", *(rule for rule, on in rules if on)]
    )


def cube_text(match: Match, players: tuple[str, str] = PLAYERS) -> str:
    """The cube's value and whose it is."""
    if match.crawford:
        return "no cube"
    owner = "in the middle" if match.cube_owner is None else f"of {players[match.cube_owner]}"
    return f"cube {match.cube} {owner}"


def _again(match: Match) -> str:
    return "re" if match.cube_owner == match.turn else ""


def cube_action_text(action: str, match: Match) -> str:
    """An action such as "double, take" in the words that fit the cube: its owner redoubles."""
    return action.replace("double", f"{_again(match)}double")


def due_text(match: Match, players: tuple[str, str] = PLAYERS) -> str:
    """What is due now and by whom."""
    here, other = players[match.turn], players[1 - match.turn]
    match match.decision:
        case "opening":
            return "both throw a die to begin"
        case "roll":
            return f"{here} to roll or {_again(match)}double" if "double" in match.actions else f"{here} to roll"
        case "play":
            return "{} to play {}-{}".format(here, *(match.dice or ()))
        case "take":
            return f"{here} {_again(match)}doubles to {2 * match.cube}, {other} to answer"
        case "resign":
            return f"{here} resigns {KINDS[match.resigned]}, {other} to answer"
    winner = match.winner if match.winner is not None else 0
    return f"{players[winner]} has won {match.points} point{'s' if match.points > 1 else ''}"
