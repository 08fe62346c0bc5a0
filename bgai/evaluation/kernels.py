"""The forward pass of a value network over afterstates, jitted. Knows arrays only, no files and no rules.

The first layer is a running sum (the trick of chess engines' NNUE): a table has one row for each (place, men);
the sum of a parent's 26 rows is made once, and for each of its afterstates only the differences at the places that
changed are added; siblings share most of these, so each difference is made once, too. Later layers take four
afterstates at a time and skip the hidden units that are zero in all four after ReLU: of a trained network three
quarters and more, because afterstates of one roll are alike. Their weights may be stored in half precision where that
loses nothing (`Network.halved` sees to it): half as many bytes to read.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from bgai.evaluation.encoding import COUNTS
from bgai.evaluation.tactics import count_tactics

ROWS = 4  # afterstates that go through the later layers together
COLUMNS = 64  # hidden units whose sums are kept in registers; later layers are padded to a multiple of it
# Whether this machine turns half precision into single by itself; else LLVM would call a function that nobody has.
READS_HALVES = bool(binding.get_host_cpu_features().get("f16c")) or platform.machine() in ("aarch64", "arm64")
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


@njit(cache=True, nogil=True, inline="always")
def _find_changes(table, parent, board, stamp, stamps, slots, used, deltas, changes):
    """Where `board` differs from its parent: writes the rows of `deltas` that hold the differences of the sums.

    Row 0 is zero and pads `changes` [30]; another row is filled when its (place, men) is first met after this
    parent, which `stamps` [26 * 31] tells. Returns the number of changes and of rows used.
    """
    n = 0
    for place in range(_PLACES):
        changes[n] = place
        n += board[place] != parent[place]
    for k in range(n):
        place = changes[k]
        new = place * COUNTS + board[place] + _MEN
        if stamps[new] != stamp:
            old = place * COUNTS + parent[place] + _MEN
            for j in range(table.shape[1]):
                deltas[used, j] = table[new, j] - table[old, j]
            stamps[new] = stamp
            slots[new] = used
            used += 1
        changes[k] = slots[new]
    for k in range(n, n + 4):
        changes[k] = 0
    return n, used


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _add_changes(parent_sum, deltas, changes, n, totals, row):
    """totals[row] = the parent's sum and its `n` changes, four at a time: most plays change four places."""
    a, b, c, d = changes[0], changes[1], changes[2], changes[3]
    for j in range(deltas.shape[1]):
        totals[row, j] = parent_sum[j] + ((deltas[a, j] + deltas[b, j]) + (deltas[c, j] + deltas[d, j]))
    for k in range(4, n, 4):
        a, b, c, d = changes[k], changes[k + 1], changes[k + 2], changes[k + 3]
        for j in range(deltas.shape[1]):
            totals[row, j] += (deltas[a, j] + deltas[b, j]) + (deltas[c, j] + deltas[d, j])


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _output(hidden, lane, weights, bias, logits, row):
    """logits[row] = bias + weights [6, n] times ReLU of hidden[lane, :n]."""
    s0 = s1 = s2 = s3 = s4 = s5 = np.float32(0)
    for j in range(weights.shape[1]):
        x = max(hidden[lane, j], np.float32(0))
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


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _clip(hidden, n, living):
    """ReLU of hidden [ROWS, n] in place; the columns that are not zero in every row go into `living` [n + 1]."""
    for r in range(ROWS):
        for k in range(n):
            hidden[r, k] = max(hidden[r, k], np.float32(0))
    alive = 0
    for k in range(n):
        living[alive] = k
        alive += hidden[0, k] + hidden[1, k] + hidden[2, k] + hidden[3, k] > 0
    return alive


@intrinsic
def _add_products(typingctx, weights, layer, column, living, alive, inputs, outputs):
    """outputs[r, c] += sum over k in living[:alive] of inputs[r, k] * weights[layer, k, c], for COLUMNS columns c
    from `column` on and all ROWS rows. The weights are float32, or float16 seen as uint16.

    Written in LLVM's vectors because numba cannot keep the sums in registers, which makes it three times as fast.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes, groups = (16, 4) if binding.get_host_cpu_features().get("avx512f") else (8, 2)
        halves = signature.args[0].dtype == types.uint16
        arrays = [context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 3, 5, 6)]
        weights, living, inputs, outputs = arrays
        vector, integer = ir.VectorType(ir.FloatType(), lanes), ir.IntType(64)
        of_weights, of_inputs, of_outputs = (
            cgutils.unpack_tuple(builder, array.shape) for array in (weights, inputs, outputs)
        )

        def place(array: Any, *terms: Any) -> Any:
            offset = terms[0]
            for term in terms[1:]:
                offset = builder.add(offset, term)
            return builder.bitcast(builder.gep(array.data, [offset]), vector.as_pointer())

        def load(pointer: Any) -> Any:
            loaded = builder.load(pointer)
            loaded.align = 4
            return loaded

        def load_weights(pointer: Any) -> Any:
            if not halves:
                return load(pointer)
            loaded = builder.load(builder.bitcast(pointer, ir.VectorType(ir.HalfType(), lanes).as_pointer()))
            loaded.align = 2
            return builder.fpext(loaded, vector)

        def number(value: int) -> Any:
            return ir.Constant(integer, value)

        def columns(first: int) -> None:
            """One group of columns: sums in registers, all living inputs, sums back to memory."""
            places = [
                [
                    place(outputs, builder.mul(number(r), of_outputs[1]), args[2], number(first + g * lanes))
                    for g in range(groups)
                ]
                for r in range(ROWS)
            ]
            sums = [[cgutils.alloca_once_value(builder, load(pointer)) for pointer in row] for row in places]
            layer = builder.mul(builder.mul(args[1], of_weights[1]), of_weights[2])
            with cgutils.for_range(builder, args[4]) as loop:
                k = builder.load(builder.gep(living.data, [loop.index]))
                row = builder.add(builder.add(layer, builder.mul(k, of_weights[2])), args[2])
                factors = [load_weights(place(weights, row, number(first + g * lanes))) for g in range(groups)]
                for r in range(ROWS):
                    at = builder.add(builder.mul(number(r), of_inputs[1]), k)
                    value = builder.load(builder.gep(inputs.data, [at]))
                    undefined = ir.Constant(vector, ir.Undefined)
                    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
                    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
                    everywhere = builder.shuffle_vector(single, undefined, zeros)
                    for g in range(groups):
                        product = builder.fmul(everywhere, factors[g], flags=("contract",))
                        total = builder.fadd(builder.load(sums[r][g]), product, flags=("contract",))
                        builder.store(total, sums[r][g])
            for r in range(ROWS):
                for g in range(groups):
                    builder.store(builder.load(sums[r][g]), places[r][g]).align = 4

        for first in range(0, COLUMNS, groups * lanes):
            columns(first)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(weights, integer, integer, living, integer, inputs, outputs), codegen


@njit(cache=True, nogil=True, fastmath=True)
def forward(table, extras, sizes, weights, biases, out_weights, out_bias, parents, boards, starts, logits):
    """Logits of `boards`, each near its parent (the more alike, the faster; any two boards give the right sum).

    table [26 * 31, h] float32 with the first bias folded in; extras: how many numbers of `count_tactics`
    stand behind the first hidden layer's units, or 0; sizes [hidden layers] int64, the first with the extras; weights
    [layers - 1, in, out] float32, or float16 seen as uint16, and biases [layers - 1, out], both padded with zeros to
    a multiple of COLUMNS; out_weights [6, n], out_bias [6]. parents [B, 26] and boards [N, 26] int8 seen by the same
    player; boards starts[i] to starts[i + 1] belong to parents[i]. Writes logits [N, 6] float32.
    """
    parent_sum = np.empty(table.shape[1], dtype=np.float32)
    first = np.zeros((ROWS, table.shape[1] + extras), dtype=np.float32)
    later = np.zeros((2, ROWS, weights.shape[2]), dtype=np.float32)
    stamps = np.full(table.shape[0], -1, dtype=np.int64)
    slots = np.empty(table.shape[0], dtype=np.int64)
    deltas = np.zeros((table.shape[0] + 1, table.shape[1]), dtype=np.float32)
    changes = np.zeros(_PLACES + 4, dtype=np.int64)
    living = np.empty(max(table.shape[1] + extras, weights.shape[2]) + 1, dtype=np.int64)
    filled = 0
    for game in range(parents.shape[0]):
        _sum_rows(table, parents[game], parent_sum)
        used = 1
        for row in range(starts[game], starts[game + 1]):
            n, used = _find_changes(table, parents[game], boards[row], game, stamps, slots, used, deltas, changes)
            _add_changes(parent_sum, deltas, changes, n, first, filled)
            if extras:
                count_tactics(boards[row], first[filled], table.shape[1], extras)
            filled += 1
            if filled < ROWS and row + 1 < boards.shape[0]:
                continue
            last = first
            for layer in range(len(sizes) - 1):
                following = later[layer % 2]
                alive = _clip(last, sizes[layer], living)
                for r in range(ROWS):
                    for c in range(biases.shape[1]):
                        following[r, c] = biases[layer, c]
                for column in range(0, sizes[layer + 1], COLUMNS):
                    _add_products(weights, layer, column, living, alive, last, following)
                last = following
            for r in range(filled):
                _output(last, r, out_weights, out_bias, logits, row + 1 - filled + r)
            filled = 0


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
