"""What `import bgai` offers. Holds no code of its own."""

from bgai.bots import Bot, UnknownBot, ValueBot, load
from bgai.evaluation.checkpoint import InvalidCheckpoint
from bgai.evaluation.cube_decision import CubeDecision
from bgai.notation.ids import InvalidId, format_id, parse_id
from bgai.notation.plays import parse_play
from bgai.rules.match import IllegalAction, InvalidMatch, Match
from bgai.rules.moves import afterstates
from bgai.rules.outcome import Outcomes, result
from bgai.rules.plays import IllegalPlay, Play, legal_plays
from bgai.rules.position import InvalidPosition, Position

__all__ = [
    "Bot",
    "CubeDecision",
    "IllegalAction",
    "IllegalPlay",
    "InvalidCheckpoint",
    "InvalidId",
    "InvalidMatch",
    "InvalidPosition",
    "Match",
    "Outcomes",
    "Play",
    "Position",
    "UnknownBot",
    "ValueBot",
    "afterstates",
    "format_id",
    "legal_plays",
    "load",
    "parse_id",
    "parse_play",
    "result",
]
