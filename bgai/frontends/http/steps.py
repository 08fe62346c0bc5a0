"""Which man may be moved next: the legal plays of a roll as a graph of single steps, for a board one clicks on.

Every way through the graph is a legal play, and every legal play is a way; so a page needs no rules of its own.
"""

from __future__ import annotations

from bgai.rules.plays import OFF, Play, move_man, obstacle
from bgai.rules.position import BAR, Position

Step = tuple[int, int, int, int]
"""From, to, the die, and the place of what comes after it; seen by the mover, 25 the bar and 0 off."""


def step_graph(position: Position, dice: tuple[int, int], plays: list[Play]) -> list[list[Step]]:
    """The steps from each moment of a turn, the first moment at 0; a moment without steps ends the turn.

    `plays` are the `legal_plays` of this roll.
    """
    high, low = dice
    most = len(plays[0].moves)
    ends = {tuple(-n for n in reversed(play.after.men)) for play in plays}
    graph: list[list[Step]] = []
    places: dict[tuple[tuple[int, ...], tuple[int, ...]], int | None] = {}

    def place(men: tuple[int, ...], left: tuple[int, ...], used: int) -> int | None:
        """The moment's place in the graph; None when no legal play goes through it."""
        if (men, left) in places:
            return places[men, left]
        mine = len(graph)
        if used == most:
            if men not in ends:
                places[men, left] = None
                return None
            graph.append([])
            places[men, left] = mine
            return mine
        graph.append([])
        steps: list[Step] = []
        for die in sorted(set(left), reverse=True):
            rest = list(left)
            rest.remove(die)
            for point in range(BAR, OFF, -1):
                if men[point] > 0 and obstacle(men, point, die) is None:
                    following = place(move_man(men, point, die), tuple(rest), used + 1)
                    if following is not None:
                        steps.append((point, max(point - die, OFF), die, following))
        graph[mine] = steps
        places[men, left] = mine if steps else None
        return places[men, left]

    place(position.men, (high,) * 4 if high == low else (high, low), 0)
    return graph
