"""What stands beside a board, in words: score, cube, and what is due. For the terminal and for diagrams alike."""

from __future__ import annotations

from bgai.rules.match import KINDS, Match


def name(player: int) -> str:
    """What a player is called who has no other name."""
    return f"player {player}"


def kind_text(match: Match) -> str:
    """Length and rules."""
    rules = [("Crawford game", match.crawford), ("Jacoby", match.jacoby), ("beavers", match.beavers)]
    return ", ".join(
        [f"{match.length}-point match" if match.length else "money", *(rule for rule, on in rules if on)]
    )


def score_text(match: Match) -> str:
    """The score, player 0 first."""
    return f"{name(0)} {match.score[0]}, {name(1)} {match.score[1]}"


def cube_text(match: Match) -> str:
    """The cube's value and whose it is."""
    if match.crawford:
        return "no cube"
    owner = "in the middle" if match.cube_owner is None else f"of {name(match.cube_owner)}"
    return f"cube {match.cube} {owner}"


def due_text(match: Match) -> str:
    """What is due now and by whom."""
    here, other = name(match.turn), name(1 - match.turn)
    match match.decision:
        case "opening":
            return "both throw a die to begin"
        case "roll":
            return f"{here} to roll or double" if "double" in match.actions else f"{here} to roll"
        case "play":
            return "{} to play {}-{}".format(here, *(match.dice or ()))
        case "take":
            return f"{here} doubles to {2 * match.cube}, {other} to answer"
        case "resign":
            return f"{here} resigns {KINDS[match.resigned]}, {other} to answer"
    winner = match.winner if match.winner is not None else 0
    return f"{name(winner)} has won {match.points} point{'s' if match.points > 1 else ''}"
