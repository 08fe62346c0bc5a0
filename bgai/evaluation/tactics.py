"""What a good player counts before he looks ahead: shots, entering, escapes, primes. Jitted; knows boards only.

A network that sees only where the men stand must learn the dice combinations from experience; here they are counted.
For each player, as if he were to roll: over the 36 rolls, how many hit, hit two, make a point or point on a blot, how
far his rearmost men can get, and how well the opponent's men are blocked. Reach is counted man by man and
ignores that a roll must be played in full, so the numbers are hints, not rules. Behind these may stand the chances
point by point: to hit there, to escape from there, to make that point.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from bgai.rules.moves import highest_bit

_BAR = 25
_BOARD = (1 << 25) - 2  # points 1 to 24
_HOME = (1 << 7) - 2  # points 1 to 6
_HOME_AND_BAR_POINT = (1 << 8) - 2
_ANCHORS = _BOARD & ~((1 << 18) - 1)  # points 18 to 24
_AHEAD = 12  # points in front of a man that _LEAPS and _MOVES look at
# What _count_side writes, in its order, for the player counted and his opponent.
_OF_A_SIDE = (
    "chance to hit",
    "chance to hit two",
    "expected pips lost by the best hit / 24",
    "chance to make a new point from his 1 to 7",
    "chance to make such a point on a blot",
    "point of his rearmost man / 25",
    "chance that his rearmost man comes more than 6 points ahead",
    "chance that his rearmost man moves",
    "chance that the next man behind comes more than 6 points ahead",
    "men beyond his 6 point, each times his chance to come more than 6 points ahead, / 15",
    "least chance to come more than 6 points ahead from any of his 13 to 25",
    "chances to come more than 6 points ahead from his 19 to 24 where open, summed / 6",
    "longest row of his points / 6",
    "points he holds of the six in front of the opponent's rearmost man / 6",
    "men not past the opponent's rearmost man / 15",
    "pips / 167",
    "closed points of the six that he enters on / 6",
    "the square of that while he is on the bar, else 0",
    "chance to make a new anchor, his 18 to 24",
    "chance to do none of these",
    "least chance to come more than 6 points ahead from his 13 up to his rearmost man",
    "pips that spare men have to play before points break / 60",
)
_PER_SIDE = len(_OF_A_SIDE)
TACTICS_NAMES = (
    *(f"roller's {name}" for name in _OF_A_SIDE),
    *(f"opponent's {name}" for name in _OF_A_SIDE),
    "contact",
    "no contact",
    "roller's lead in the race: pips / 167, or 0",
    "opponent's lead in the race: pips / 167, or 0",
    "Kleinman's number of the race, squashed between 0 and 1",
)
TACTICS = len(TACTICS_NAMES)  # numbers per board
_OF_POINTS = (
    *(f"chance to hit on his {point} point" for point in range(1, 25)),
    *(f"chance of a man on his {point} point to come more than 6 points ahead" for point in range(1, 25)),
    "chance of a man on his bar to come more than 6 points ahead",
    *(f"chance to make his {point} point anew" for point in range(1, 25)),
)
_HITS, _ESCAPES, _MADE = 0, 24, 49  # where in _OF_POINTS they begin
LOUDNESS = 4  # the numbers with those of points are so many times as large: Adam then learns from them as quickly
_BY_POINT_NAMES = (
    *TACTICS_NAMES,
    *(f"roller's {name}" for name in _OF_POINTS),
    *(f"opponent's {name}" for name in _OF_POINTS),
)
TACTICS_BY_POINT_NAMES = tuple(f"{LOUDNESS} x {name}" for name in _BY_POINT_NAMES)
TACTICS_BY_POINT = len(TACTICS_BY_POINT_NAMES)


@intrinsic
def _bits(typingctx, mask):
    """How many bits of a mask are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


def _rolls_by_block() -> tuple[np.ndarray, np.ndarray]:
    """For each pattern of blocked points 1 to 12 ahead of a man (bit k - 1: k ahead), of the 36 rolls how many bring
    him more than 6 points ahead, and how many let him move at all."""
    leaps = np.zeros(1 << _AHEAD, dtype=np.int8)
    moves = np.zeros(1 << _AHEAD, dtype=np.int8)
    for pattern in range(1 << _AHEAD):
        for die1 in range(1, 7):
            for die2 in range(1, 7):
                orders = [(die1,) * 4] if die1 == die2 else [(die1, die2), (die2, die1)]
                farthest = 0
                for order in orders:
                    at = 0
                    for die in order:
                        if at + die > _AHEAD or pattern >> (at + die - 1) & 1:
                            break
                        at += die
                    farthest = max(farthest, at)
                leaps[pattern] += farthest > 6
                moves[pattern] += farthest > 0
    return leaps, moves


_LEAPS, _MOVES = _rolls_by_block()


@njit(cache=True, nogil=True, inline="always")
def _ahead(blocked, point):
    """The pattern of blocked points in front of a man on `point`, as _LEAPS wants it; `blocked` has bit p for the
    opponent's point p, which counts the way the man goes."""
    return (blocked >> (26 - point)) & ((1 << _AHEAD) - 1)


@njit(cache=True, nogil=True, inline="always")
def _add_at_points(points, weight, out, at):
    """Adds a roll of this weight to the number of each of these points, those of point 1 at out[at]."""
    while points:
        point = highest_bit(points)
        points ^= 1 << point
        out[at + point - 1] += weight / np.float32(36)


@njit(cache=True, nogil=True)
def _count_rolls(own, twos, singles, bar, open_points, blots, out, at, points_at):
    """Writes for the player with these men: chances of a roll that hits, that hits two, the expected pips the
    opponent loses by the best hit / 24, chances to make a new point at home, to point on a blot there, to make a new
    anchor, and to do none of these; from `points_at` on, unless that is 0, the chances to hit on and to make each
    point."""
    hits = 0
    doubles_hit = 0
    pips = 0
    points = 0
    on_blots = 0
    anchors = 0
    idle = 0
    board = own & _BOARD
    for die1 in range(1, 7):
        moved1 = (board >> die1) & open_points
        enter1 = (1 << (_BAR - die1)) & open_points
        for die2 in range(1, die1 + 1):
            weight = 2
            if die1 == die2:
                weight = 1
                reach = 0
                made = 0
                moving = board
                left = 4
                if bar > 0:
                    if enter1 == 0:
                        idle += weight
                        continue
                    left -= min(bar, 4)
                    reach = enter1
                    moving |= enter1
                else:
                    made = ((twos >> die1) & open_points) | ((((twos >> die1) & open_points) >> die1) & open_points)
                for _ in range(left):
                    moving = (moving >> die1) & open_points
                    reach |= moving
            else:
                enter2 = (1 << (_BAR - die2)) & open_points
                moved2 = (board >> die2) & open_points
                if bar == 0:
                    reach = moved1 | moved2 | ((moved1 >> die2) & open_points) | ((moved2 >> die1) & open_points)
                    made = moved1 & moved2
                elif bar == 1:
                    reach = 0
                    made = 0
                    if enter1:
                        reach |= enter1 | moved2 | ((enter1 >> die2) & open_points)
                        made |= enter1 & moved2
                    if enter2:
                        reach |= enter2 | moved1 | ((enter2 >> die1) & open_points)
                        made |= enter2 & moved1
                else:
                    reach = enter1 | enter2
                    made = 0
            hit = reach & blots
            new = (made | (singles & reach)) & ~twos & _BOARD
            if points_at:
                _add_at_points(hit, weight, out, points_at + _HITS)
                _add_at_points(new, weight, out, points_at + _MADE)
            if hit:
                hits += weight
                pips += weight * highest_bit(hit)
                if _bits(hit) > 1:
                    doubles_hit += weight
            if new & _HOME_AND_BAR_POINT:
                points += weight
                if made & blots & _HOME_AND_BAR_POINT:
                    on_blots += weight
            if new & _ANCHORS:
                anchors += weight
            if hit == 0 and (new & (_HOME_AND_BAR_POINT | _ANCHORS)) == 0:
                idle += weight
    out[at] = hits / np.float32(36)
    out[at + 1] = doubles_hit / np.float32(36)
    out[at + 2] = pips / np.float32(36 * 24)
    out[at + 3] = points / np.float32(36)
    out[at + 4] = on_blots / np.float32(36)
    out[at + 18] = anchors / np.float32(36)
    out[at + 19] = idle / np.float32(36)


@njit(cache=True, nogil=True)
def _count_side(men, own, twos, singles, their_twos, their_twos_own, their_blots, their_rear, out, at, points_at):
    """Writes _PER_SIDE numbers, none negative, for the player whose men [26] are counted along his own path, and from
    `points_at` on, unless that is 0, those of the points.

    Masks have bit p for his point p; `their_rear` is where the opponent's rearmost man stands, seen from here.
    """
    open_points = _BOARD & ~their_twos
    if points_at:
        out[points_at : points_at + len(_OF_POINTS)] = 0
        for point in range(1, _BAR + 1):
            if men[point] > 0:
                out[points_at + _ESCAPES + point - 1] = _LEAPS[_ahead(their_twos_own, point)] / np.float32(36)
    _count_rolls(own, twos, singles, men[_BAR], open_points, their_blots, out, at, points_at)
    rear = 0
    if own:
        rear = highest_bit(own)
    out[at + 5] = rear / np.float32(25)
    out[at + 6] = _LEAPS[_ahead(their_twos_own, rear)] / np.float32(36)
    out[at + 7] = _MOVES[_ahead(their_twos_own, rear)] / np.float32(36)
    others = own & ~(1 << rear)
    second = 0
    if others:
        second = highest_bit(others)
    out[at + 8] = _LEAPS[_ahead(their_twos_own, second)] / np.float32(36)
    mobility = 0
    spare = 0
    pips = 0
    contact = 0
    for point in range(1, _BAR + 1):
        pips += point * men[point]
        if 6 < point < 19:
            spare += (point - 6) * men[point]
        elif point < 7 and men[point] > 2:
            spare += (point - 1) * (men[point] - 2)
        if men[point] > 0 and point > 6:
            mobility += men[point] * _LEAPS[_ahead(their_twos_own, point)]
        if point > their_rear:
            contact += men[point]
    out[at + 9] = mobility / np.float32(36 * 15)
    worst = 36
    worst_ahead = 36
    entering = 0
    for point in range(13, _BAR):
        leaps = _LEAPS[_ahead(their_twos_own, point)]
        worst = min(worst, leaps)
        if point <= rear:
            worst_ahead = min(worst_ahead, leaps)
        if point > 18 and not (their_twos >> point) & 1:
            entering += leaps
    out[at + 10] = worst / np.float32(36)
    out[at + 11] = entering / np.float32(36 * 6)
    runs = twos
    longest = 0
    while runs:
        runs &= runs >> 1
        longest += 1
    out[at + 12] = longest / np.float32(6)
    # Points he holds among the six in front of the opponent's rearmost man, who moves up from his view.
    out[at + 13] = _bits((twos >> (their_rear + 1)) & 63) / np.float32(6)
    out[at + 14] = contact / np.float32(15)
    out[at + 15] = pips / np.float32(167)
    closed = _bits((their_twos >> 19) & 63)
    out[at + 16] = closed / np.float32(6)
    out[at + 17] = 0
    out[at + 20] = worst_ahead / np.float32(36)
    out[at + 21] = spare / np.float32(60)
    if men[_BAR] > 0:
        out[at + 17] = closed * closed / np.float32(36)


@njit(cache=True, nogil=True)
def count_tactics(board, out, at, count):
    """Write `count` numbers, 0 or more, about board [26] int8 seen by the player to roll into out [at:].

    With TACTICS first his, then the opponent's (each as if he were to roll), then: whether there is contact, whether
    there is none, by how much each leads the race, and how good the race is for the roller. With TACTICS_BY_POINT
    behind these his and the opponent's for each point, and all of them times LOUDNESS.
    """
    my_points = their_points = 0
    if count == TACTICS_BY_POINT:
        my_points, their_points = at + TACTICS, at + TACTICS + len(_OF_POINTS)
    mine = np.zeros(_BAR + 1, dtype=np.int64)
    theirs = np.zeros(_BAR + 1, dtype=np.int64)
    my_own = my_twos = my_singles = 0
    their_own = their_twos = their_singles = 0
    my_twos_seen = their_twos_seen = my_singles_seen = their_singles_seen = 0  # by the other player
    for place in range(_BAR + 1):
        men = np.int64(board[place])
        mirror = _BAR - place
        if men > 0:
            mine[place] = men
            my_own |= 1 << place
            if men > 1:
                my_twos |= 1 << place
                my_twos_seen |= 1 << mirror
            else:
                my_singles |= 1 << place
                my_singles_seen |= 1 << mirror
        elif men < 0:
            theirs[mirror] = -men
            their_own |= 1 << mirror
            if men < -1:
                their_twos |= 1 << mirror
                their_twos_seen |= 1 << place
            else:
                their_singles |= 1 << mirror
                their_singles_seen |= 1 << place
    my_twos &= _BOARD
    their_twos &= _BOARD
    my_twos_seen &= _BOARD
    their_twos_seen &= _BOARD
    my_singles &= _BOARD
    their_singles &= _BOARD
    my_singles_seen &= _BOARD
    their_singles_seen &= _BOARD
    my_rear = 0
    if my_own:
        my_rear = highest_bit(my_own)
    their_rear = 0
    if their_own:
        their_rear = highest_bit(their_own)
    _count_side(
        mine,
        my_own,
        my_twos,
        my_singles,
        their_twos_seen,
        their_twos,
        their_singles_seen,
        _BAR - their_rear,
        out,
        at,
        my_points,
    )
    _count_side(
        theirs,
        their_own,
        their_twos,
        their_singles,
        my_twos_seen,
        my_twos,
        my_singles_seen,
        _BAR - my_rear,
        out,
        at + _PER_SIDE,
        their_points,
    )
    contact = my_rear + their_rear > _BAR
    # Kleinman's number for a race without wastage (lead + 4 over the root of the sum of both counts - 4), squashed.
    my_pips, their_pips = 167 * out[at + 15], 167 * out[at + _PER_SIDE + 15]
    deviations = (their_pips - my_pips + 4) / math.sqrt(max(my_pips + their_pips - 4, 1))
    out[at + 2 * _PER_SIDE + 4] = (1 + deviations / math.sqrt(1 + deviations * deviations)) / 2
    lead = out[at + _PER_SIDE + 15] - out[at + 15]
    out[at + 2 * _PER_SIDE] = np.float32(contact)
    out[at + 2 * _PER_SIDE + 1] = np.float32(not contact)
    out[at + 2 * _PER_SIDE + 2] = max(lead, np.float32(0))
    out[at + 2 * _PER_SIDE + 3] = max(-lead, np.float32(0))
    if count == TACTICS_BY_POINT:
        for k in range(at, at + count):
            out[k] *= np.float32(LOUDNESS)
