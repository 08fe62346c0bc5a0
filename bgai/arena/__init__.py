"""Honest scores between bots: duplicate games in lockstep, intervals over pairs, a sequential test."""

from bgai.arena.duplicate import ArenaError, MatchResult, play_match
from bgai.arena.stats import Score, Verdict, score, sprt, sprt_llr

__all__ = ["ArenaError", "MatchResult", "Score", "Verdict", "play_match", "score", "sprt", "sprt_llr"]
