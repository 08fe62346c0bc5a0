"""The forward pass of a value network over afterstates, jitted. Knows arrays only, no files and no rules.

The first layer is a running sum (the trick of chess engines' NNUE): a table has one row for each (place, men);
the sum of a parent's 26 rows is made once, and for each of its afterstates only the rows of the places that
changed are exchanged. Later layers skip hidden units that are zero after ReLU, four living units at a time.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from bgai.evaluation.encoding import COUNTS

_PLACES = 26
_MEN = 15


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _sum_rows(table, board, total):
    """total = the sum of the table's rows for this board."""
    total[:] = 0
    for place in range(0, _PLACES, 2):
        row1 = place * COUNTS + board[place] + _MEN
        row2 = (place + 1) * COUNTS + board[place + 1] + _MEN
        for j in range(table.shape[1]):
            total[j] += table[row1, j] + table[row2, j]


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _changed_places(parent, board, changed):
    """Write the places where two boards differ into `changed` [27]; return how many there are."""
    n = 0
    for place in range(_PLACES):
        changed[n] = place
        n += board[place] != parent[place]
    return n


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _exchange_rows(table, parent, parent_sum, board, changed, total):
    """total = the table's sum for `board`, made from its parent's; `changed` [27] is scratch space."""
    n = _changed_places(parent, board, changed)
    for j in range(table.shape[1]):
        total[j] = parent_sum[j]
    for k in range(0, n - n % 2, 2):
        place1, place2 = changed[k], changed[k + 1]
        new1 = place1 * COUNTS + board[place1] + _MEN
        old1 = place1 * COUNTS + parent[place1] + _MEN
        new2 = place2 * COUNTS + board[place2] + _MEN
        old2 = place2 * COUNTS + parent[place2] + _MEN
        for j in range(table.shape[1]):
            total[j] += (table[new1, j] - table[old1, j]) + (table[new2, j] - table[old2, j])
    if n % 2:
        place1 = changed[n - 1]
        new1 = place1 * COUNTS + board[place1] + _MEN
        old1 = place1 * COUNTS + parent[place1] + _MEN
        for j in range(table.shape[1]):
            total[j] += table[new1, j] - table[old1, j]


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _dense(inputs, n, weights, biases, layer, m, living, outputs):
    """outputs [m] = bias + ReLU(inputs [n]) times weights[layer] [n, m], over the inputs above zero only.

    `living` [n + 1] is scratch space for their indices.
    """
    alive = 0
    for i in range(n):
        living[alive] = i
        alive += inputs[i] > 0
    for j in range(m):
        outputs[j] = biases[layer, j]
    fours = alive - alive % 4
    for k in range(0, fours, 4):
        i1, i2, i3, i4 = living[k], living[k + 1], living[k + 2], living[k + 3]
        x1, x2, x3, x4 = inputs[i1], inputs[i2], inputs[i3], inputs[i4]
        for j in range(m):
            outputs[j] += (x1 * weights[layer, i1, j] + x2 * weights[layer, i2, j]) + (
                x3 * weights[layer, i3, j] + x4 * weights[layer, i4, j]
            )
    for k in range(fours, alive):
        i1 = living[k]
        x1 = inputs[i1]
        for j in range(m):
            outputs[j] += x1 * weights[layer, i1, j]


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _output(hidden, weights, bias, logits, row):
    """logits[row] = bias + weights [6, n] times ReLU of hidden [n]."""
    s0 = s1 = s2 = s3 = s4 = s5 = np.float32(0)
    for j in range(weights.shape[1]):
        x = max(hidden[j], np.float32(0))
        s0 += x * weights[0, j]
        s1 += x * weights[1, j]
        s2 += x * weights[2, j]
        s3 += x * weights[3, j]
        s4 += x * weights[4, j]
        s5 += x * weights[5, j]
    logits[row, 0] = bias[0] + s0
    logits[row, 1] = bias[1] + s1
    logits[row, 2] = bias[2] + s2
    logits[row, 3] = bias[3] + s3
    logits[row, 4] = bias[4] + s4
    logits[row, 5] = bias[5] + s5


@njit(cache=True, nogil=True, fastmath=True)
def forward(table, sizes, weights, biases, out_weights, out_bias, parents, boards, starts, logits):
    """Logits of `boards`, each near its parent (the more alike, the faster; any two boards give the right sum).

    table [26 * 31, h] float32 with the first bias folded in; sizes [hidden layers] int64; weights
    [layers - 1, in, out] and biases [layers - 1, out] padded with zeros; out_weights [6, n], out_bias [6].
    parents [B, 26] and boards [N, 26] int8 seen by the same player; boards starts[i] to starts[i + 1] belong to
    parents[i]. Writes logits [N, 6] float32.
    """
    width = sizes.max()
    parent_sum = np.empty(sizes[0], dtype=np.float32)
    now = np.empty(width, dtype=np.float32)
    following = np.empty(width, dtype=np.float32)
    changed = np.empty(_PLACES + 1, dtype=np.int64)
    living = np.empty(width + 1, dtype=np.int64)
    for game in range(parents.shape[0]):
        _sum_rows(table, parents[game], parent_sum)
        for row in range(starts[game], starts[game + 1]):
            _exchange_rows(table, parents[game], parent_sum, boards[row], changed, now)
            for layer in range(len(sizes) - 1):
                _dense(now, sizes[layer], weights, biases, layer, sizes[layer + 1], living, following)
                now, following = following, now
            _output(now, out_weights, out_bias, logits, row)


@intrinsic
def _power_of_two(typingctx, k):
    """2.0 to the power of an int32 from -126 to 127, as the bits of a float32."""

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.add(args[0], ir.Constant(ir.IntType(32), 127)), ir.Constant(ir.IntType(32), 23))
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.int32), codegen


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "ninf"})
def exponential(x):
    """Replace the numbers of x [N] float32, none above 88, by their exponentials (relative error below 1e-6).

    exp(x) = 2^k exp(f) with |f| <= ln(2) / 2, and exp(f) by its series; unlike a call of the C library this
    becomes vector code.
    """
    for i in range(x.shape[0]):
        t = max(x[i], np.float32(-87)) * np.float32(1.442695041)
        k = np.floor(t + np.float32(0.5))
        f = (t - k) * np.float32(0.6931471806)
        series = np.float32(1 / 720)
        series = series * f + np.float32(1 / 120)
        series = series * f + np.float32(1 / 24)
        series = series * f + np.float32(1 / 6)
        series = series * f + np.float32(1 / 2)
        series = series * f + np.float32(1)
        series = series * f + np.float32(1)
        x[i] = series * _power_of_two(np.int32(k))


@njit(cache=True, nogil=True)
def _normalise(chances):
    for i in range(chances.shape[0]):
        total = np.float32(0)
        for k in range(6):
            total += chances[i, k]
        scale = np.float32(1) / total
        for k in range(6):
            chances[i, k] *= scale


@njit(cache=True, nogil=True)
def _below_highest(logits):
    for i in range(logits.shape[0]):
        highest = logits[i, 0]
        for k in range(1, 6):
            highest = max(highest, logits[i, k])
        for k in range(6):
            logits[i, k] -= highest


@njit(cache=True, nogil=True)
def softmax(logits):
    """Turn logits [N, 6] float32 into chances that sum to one, in place."""
    _below_highest(logits)
    exponential(logits.reshape(-1))
    _normalise(logits)
