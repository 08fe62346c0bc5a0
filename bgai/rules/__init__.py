"""What the game allows: the board, dice, plays, how a game ends, score and cube. Knows nothing of value.

All kernels stand here or import from here, so numba's cache is looked after before the first of them is made.
"""

from bgai.jit_cache import find_place

find_place()
