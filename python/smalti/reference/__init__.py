# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference interpreter of `triton_xla` kernels. It is slow, simple and independent of all passes.

The interpreter runs tiles sequentially, and operations in order, on float64 arrays. Integers are exact in their width.
Roundings are not simulated. Instead each float value has an error bound: the largest difference of a correct
implementation. The bound is a first-order running error analysis, where `u` is the unit roundoff of the type of a value:

- an operation adds `u * |result|` to the propagated bounds of its operands; a conversion adds `u` of the new type;
- a function of `math` has an error of at most 4 `u`;
- a dot of depth K with f32 accumulation adds `(K + 1) * 2**-23 * sum(|a| * |b|)`: the order of the sum is unspecified,
  and matrix units truncate where scalar arithmetic rounds;
- for 8-bit floats, `2**-13` replaces `2**-23`: Hopper matrix units align the terms to the largest one and keep about 14 bits
  (DeepSeek-V3 Technical Report, 2024, 3.3.2). Integer dots are exact and wrap;
- with `tf32`, each operand has an additional error of `2**-10`.
- the other algorithms of a dot add the error of the parts of the operands that they drop (`matmul.py`);
- a reduction, scan or atomic sum of n elements has the error `n * u * sum(|x|)` of any order (`reductions.py`);
- moves, selections, minima and maxima do not add errors. If an error decides a comparison, its result is unknown, and
  what is selected by it has an error that covers both operands. Indices and control flow must not depend on errors;
- numpy rounds f64 as a target does: an f64 operation adds an error only if its operands have one, or its order is
  unspecified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler import legality
from ..compiler.entry import describe
from ..diagnostics import counted
from . import arithmetic, atomics, control, debug, external, functions, matmul, memory, random_bits, reductions, shapes
from .interpreter import HANDLERS, Interpreter
from .memory import Memory, load, pack, unpack
from .values import InterpreterError, Value, error_of

__all__ = ["HANDLERS", "Interpreter", "InterpreterError", "Value", "error_of", "load", "pack", "run", "unpack"]

OPERATIONS = (arithmetic, atomics, control, debug, external, functions, matmul, memory, random_bits, reductions, shapes)
"""The modules that add the handlers of operations to `HANDLERS`."""


def run(
    entry: Any,
    arguments: Sequence[Any],
    *,
    time_limit: float | None = None,
    blocks: range | None = None,
    progress: Callable[[int, int], None] | None = None,
    printed: Callable[[str], None] | None = None,
) -> list[Value]:
    """Runs `entry`, a `triton_xla.entry_func` operation, on numpy arrays and scalars.

    Returns the memory after the run, one `Value` per argument; elements that share a byte are unpacked. The arrays are not changed. `time_limit` is in seconds.
    `blocks` selects the tiles to run; None runs all. `progress` is called with the numbers of completed and of all tiles,
    and `printed` with each line that the kernel prints.
    Raises InterpreterError for an operation that no target supports, undefined behavior, or a run that reaches the time limit.
    """
    if entry.operation.name != "triton_xla.entry_func":
        raise InterpreterError(
            f"the reference interpreter does not support '{entry.operation.name}'; triton_xla.entry_func is required"
        )
    legality.check(entry, "", InterpreterError)
    described = describe(entry.operation).arguments
    if len(arguments) != len(described):
        raise InterpreterError(
            f"the entry function takes {counted(len(described), 'argument')}; the call passes {len(arguments)}"
        )
    values = [load(unpack(np.asarray(array), argument)) for array, argument in zip(arguments, described, strict=True)]
    if atomics.returns_old_values(entry.operation):
        _mark_contended(values, entry, time_limit, blocks)
    interpreter = Interpreter(entry, time_limit, progress)
    if printed is not None:
        interpreter.printed = printed
    interpreter.run(values, blocks)
    return list(values)


def _mark_contended(values: Sequence[Memory], entry: Any, time_limit: float | None, blocks: range | None) -> None:
    """Finds the elements that have unordered atomic updates, by a first run: their old values depend on the order."""
    copies = [value.copy() for value in values]
    Interpreter(entry, time_limit).run(copies, blocks)
    for value, copy in zip(values, copies, strict=True):
        value.contended = None if copy.updates is None else copy.updates.unordered
