"""What a position is worth with the cube on it: no double, double and take, double and pass; jitted.

Cubeful equity is interpolated between a dead cube (nobody ever turns it: the outcomes as they are) and a fully live
one (win chances move without jumps, so everybody doubles exactly where the other may as well pass): Janowski, "Take
points in money games" (1993). At a match score the same is done in match-winning chances, with the live points
worked out from the highest cube that still matters down to the present one. How live the cube really is, its
efficiency, was fitted on bgai's own games by tools/fit_cube.py.

After the Crawford game there is nothing to interpolate. The player behind loses the match with this game, so he
doubles at his next turn if not at this one, and the leader has no use for the cube: it is as good as turned already,
or cashed where the leader will pass.

Knows outcomes, scores and a match equity table; no networks, no searching. All values are those of the player who is
on roll. In money play they count points per unit of the present cube; in a match they are chances to win it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from bgai.rules.position import BAR

MOST_AWAY = 25  # points that a match equity table goes up to
_LEVELS = 7  # cube turns that can matter to 25 points
CENTRE, MINE, THEIRS = 0, 1, -1

# Classes of positions by how well the cube works in them, and the efficiencies that tools/fit_cube.py found.
CLASSES = ("contact", "race", "last rolls")
EFFICIENCY = np.array([0.745, 0.63, 0.42])
WAITING = 1e-9  # what it costs at least to wait after Crawford: of equals the double comes first, or it never would
_LAST_ROLLS = 20  # pips of the player on roll in a race, or fewer


class Stakes(NamedTuple):
    """What many games are played for; every array [N], seen by the player on roll."""

    my_away: np.ndarray
    """int64, points he needs; 0 in money play."""
    their_away: np.ndarray
    """int64, points the opponent needs; 0 in money play."""
    cube: np.ndarray
    """int64, value of the cube."""
    owner: np.ndarray
    """int64: CENTRE, MINE (the player on roll) or THEIRS."""
    crawford: np.ndarray
    """bool: this is the Crawford game, without a cube."""
    jacoby: np.ndarray
    """bool: money play in which gammons count only once the cube was turned."""

    @staticmethod
    def money(count: int, *, jacoby: bool = False) -> Stakes:
        """Money games with a centred cube at 1."""
        zeros, ones = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
        no = np.zeros(count, dtype=np.bool_)
        return Stakes(zeros, zeros, ones, zeros, no, no | jacoby)

    def turned(self) -> Stakes:
        """The same games seen by the other player."""
        return Stakes(self.their_away, self.my_away, self.cube, -self.owner, self.crawford, self.jacoby)

    def take(self, rows: np.ndarray) -> Stakes:
        """The games of these rows, or of a mask."""
        return Stakes(*(array[rows] for array in self))

    def doubled(self) -> Stakes:
        """After the player on roll has doubled and the other has taken."""
        return self._replace(cube=2 * self.cube, owner=np.full_like(self.owner, THEIRS))


def classes(boards: np.ndarray) -> np.ndarray:
    """Index into CLASSES of boards [N, 26] seen by the player on roll -> [N] int64."""
    found = np.empty(len(boards), dtype=np.int64)
    _classify(boards, found)
    return found


def cube_values(
    outcomes: np.ndarray, efficiency: np.ndarray, stakes: Stakes, pre: np.ndarray, post: np.ndarray
) -> np.ndarray:
    """No double, double and take, double and pass for the player on roll -> [N, 3] float64.

    outcomes [N, 6] are his chances before he rolls, efficiency [N] from 0 (dead cube) to 1 (live). Where he may not
    double, the last two are NaN. pre [26, 26] and post [26] are the match equity table (see match_equity).
    """
    values = np.empty((len(outcomes), 3))
    _values(outcomes, efficiency, *stakes, pre, post, values)
    return values


def cash_point(
    outcomes: np.ndarray, efficiency: float, stakes: Stakes, values: np.ndarray, pre: np.ndarray, post: np.ndarray
) -> float:
    """The win chance of the player on roll from which on the other should pass his double, for one game.

    outcomes [1, 6] are his chances now; the shares of gammons stay what they are. values [3] are what the double is
    worth now, by whatever way they were found: the model's cube is made as live as they say, and `efficiency` only
    counts where they say nothing. So the point never contradicts them: he is beyond it where a pass is worth less.
    """
    now = float(outcomes[0, :3].sum() / outcomes[0].sum())
    grid = np.unique(np.append(np.linspace(0, 1, 1001), now))
    at = int(np.searchsorted(grid, now))
    won, lost = (part / part.sum() if part.sum() > 0 else np.eye(3)[0] for part in np.split(outcomes[0], 2))
    rows = np.hstack([grid[:, None] * won, (1 - grid[:, None]) * lost])
    held = stakes.take(np.zeros(len(grid), dtype=np.int64)).doubled()
    unit = 1.0 if stakes.my_away[0] > 0 else 2.0
    dead, live = (unit * cube_values(rows, np.full(len(grid), x), held, pre, post)[:, 0] for x in (0.0, 1.0))
    if abs(live[at] - dead[at]) > 1e-6:
        efficiency = min(max((values[1] - dead[at]) / (live[at] - dead[at]), 0.0), 1.0)
    taken = efficiency * live + (1 - efficiency) * dead
    return float(np.interp(values[2], taken + (values[1] - taken[at]), grid))


def best_values(values: np.ndarray) -> np.ndarray:
    """What the position is worth when both handle the cube best: cube_values [N, 3] -> [N]."""
    with np.errstate(invalid="ignore"):
        offered = np.fmin(values[:, 1], values[:, 2])
        return np.fmax(values[:, 0], offered)


def after_pass(values: np.ndarray, stakes: Stakes) -> np.ndarray:
    """Cube values [N] turned to the other player: chances to win a match add up to one, money to zero."""
    return np.where(stakes.my_away > 0, 1 - values, -values)


@njit(cache=True, nogil=True)
def _classify(boards, found):
    for i in range(boards.shape[0]):
        my_rear = 0
        their_rear = BAR
        pips = 0
        for place in range(BAR + 1):
            men = boards[i, place]
            if men > 0:
                my_rear = place
                pips += place * men
            elif men < 0 and place < their_rear:
                their_rear = place
        if my_rear > their_rear:
            found[i] = 0
        else:
            found[i] = 1 if pips > _LAST_ROLLS else 2


@njit(cache=True, nogil=True)
def _after(mine, theirs, late, pre, post):
    """Chance to win the match when this game ends and leaves these points to be made; `late`: it was the Crawford
    game or came after it."""
    if mine <= 0:
        return 1.0
    if theirs <= 0:
        return 0.0
    if not late:
        return pre[mine, theirs]
    return 1 - post[theirs] if mine == 1 else post[mine]


@njit(cache=True, nogil=True)
def _between(p, x0, y0, x1, y1):
    if x1 <= x0:
        return y1
    return y0 + (y1 - y0) * (p - x0) / (x1 - x0)


@njit(cache=True, nogil=True)
def _live(p, loss, take, drop, they_double, cash_point, cash, i_double, win):
    """Value of a live cube at win chance p: straight lines from losing (0) over the points where they double me out
    and where I double them out, so far as each may double, to winning (1)."""
    x0, y0 = 0.0, loss
    x1, y1 = 1.0, win
    if they_double:
        if p < take:
            return _between(p, 0.0, loss, take, drop)
        x0, y0 = take, drop
    if i_double:
        if p > cash_point:
            return _between(p, cash_point, cash, 1.0, win)
        x1, y1 = cash_point, cash
    return _between(p, x0, y0, x1, y1)


@njit(cache=True, nogil=True)
def _where(value, x0, y0, x1, y1, x2, y2):
    """Where the lines through three points of rising height reach a value, from 0 to 1."""
    if value <= y1 or x1 >= x2:
        x = x1 if y1 <= y0 else x0 + (x1 - x0) * (value - y0) / (y1 - y0)
    else:
        x = x2 if y2 <= y1 else x1 + (x2 - x1) * (value - y1) / (y2 - y1)
    return min(max(x, 0.0), 1.0)


@njit(cache=True, nogil=True)
def _values(outcomes, efficiency, my_away, their_away, cubes, owners, crawford, jacoby, pre, post, values):
    wins = np.empty(_LEVELS + 1)
    losses = np.empty(_LEVELS + 1)
    cashes = np.empty(_LEVELS + 1)
    drops = np.empty(_LEVELS + 1)
    takes = np.empty(_LEVELS + 1)
    cash_points = np.empty(_LEVELS + 1)
    i_double = np.empty(_LEVELS + 1, dtype=np.bool_)
    they_double = np.empty(_LEVELS + 1, dtype=np.bool_)
    for i in range(outcomes.shape[0]):
        p = 0.0
        lost = 0.0
        for k in range(3):
            p += outcomes[i, k]
            lost += outcomes[i, 3 + k]
        total = p + lost
        p, lost = p / total, lost / total
        match = my_away[i] > 0
        cube = cubes[i]
        top = 1
        if match:
            top = 0
            while top < _LEVELS - 1 and (cube << top) < max(my_away[i], their_away[i]):
                top += 1
            top += 1
        for level in range(top + 1):
            win = 0.0
            loss = 0.0
            for k in range(3):
                if match:
                    stake = (k + 1) * (cube << level)
                    late = my_away[i] == 1 or their_away[i] == 1
                    won = _after(my_away[i] - stake, their_away[i], late, pre, post)
                    gone = _after(my_away[i], their_away[i] - stake, late, pre, post)
                else:
                    won = (k + 1.0) * (1 << level)
                    gone = -won
                # Shares of gammons stay what they are now, whatever the win chance.
                win += won * (outcomes[i, k] / (p * total) if p > 0 else (1.0 if k == 0 else 0.0))
                loss += gone * (outcomes[i, 3 + k] / (lost * total) if lost > 0 else (1.0 if k == 0 else 0.0))
            wins[level], losses[level] = win, loss
            if match:
                late = my_away[i] == 1 or their_away[i] == 1
                stake = cube << level
                cashes[level] = _after(my_away[i] - stake, their_away[i], late, pre, post)
                drops[level] = _after(my_away[i], their_away[i] - stake, late, pre, post)
                i_double[level] = my_away[i] > stake
                they_double[level] = their_away[i] > stake
            else:
                cashes[level], drops[level] = 1.0 * (1 << level), -1.0 * (1 << level)
                i_double[level] = they_double[level] = True
        if match:
            takes[top], cash_points[top] = 0.0, 1.0
            for level in range(top - 1, -1, -1):
                above = level + 1
                # They pass my double where holding the cube above is worth what I would cash ...
                middle = takes[above] if they_double[above] else 0.0
                height = drops[above] if they_double[above] else losses[above]
                cash_points[level] = _where(cashes[level], 0.0, losses[above], middle, height, 1.0, wins[above])
                # ... and I theirs where owning it is worth no more than passing.
                middle = cash_points[above] if i_double[above] else 1.0
                height = cashes[above] if i_double[above] else wins[above]
                takes[level] = _where(drops[level], 0.0, losses[above], middle, height, 1.0, wins[above])
        else:
            # Janowski's live points: every cube is like the one before, only twice as high.
            w, g = wins[0], -losses[0]
            for level in range(2):
                takes[level] = (g - 0.5) / (w + g + 0.5)
                cash_points[level] = (g + 1) / (w + g + 0.5)
        win, loss = wins[0], losses[0]
        if jacoby[i] and not match and owners[i] == CENTRE:
            win, loss = 1.0, -1.0
        x = efficiency[i]
        off = crawford[i]
        mine = owners[i] != THEIRS and not off and i_double[0]
        theirs = owners[i] != MINE and not off and they_double[0]
        dead = p * win + lost * loss
        doubled = p * wins[1] + lost * losses[1]
        live = _live(p, loss, takes[0], drops[0], theirs, cash_points[0], cashes[0], mine, win)
        values[i, 0] = x * live + (1 - x) * dead
        if match and mine and their_away[i] == 1:
            values[i, 0] = max(dead, min(doubled, cashes[0]) - WAITING)
        elif match and theirs and my_away[i] == 1:
            values[i, 0] = min(dead, max(doubled, drops[0]))
        live = _live(p, losses[1], takes[1], drops[1], they_double[1], 1.0, 0.0, False, wins[1])
        values[i, 1] = x * live + (1 - x) * doubled if mine else np.nan
        values[i, 2] = cashes[0] if mine else np.nan


def position_efficiency(boards: np.ndarray) -> np.ndarray:
    """The cube's efficiency in boards [N, 26] seen by the player on roll -> [N]."""
    return EFFICIENCY[classes(boards)]
