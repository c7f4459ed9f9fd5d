# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`affine`: index arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..machine.machine import State
from ..translation.translator import Step, Translator, Unsupported, operation

Function = Callable[[list[int]], int]


def quotient(x: Any, y: Any) -> Any:
    """Floor division. Division by zero returns zero, as in `arith`."""
    return 0 if y.__class__ is int and y == 0 else x // y


def remainder(x: Any, y: Any) -> Any:
    """The remainder of a division."""
    return 0 if y.__class__ is int and y == 0 else x % y


def _function(expression: Any, dimensions: int) -> Function:
    """An affine expression as a function of dimensions and symbols."""
    if isinstance(expression, ir.AffineConstantExpr):
        value = expression.value
        return lambda given: value
    if isinstance(expression, ir.AffineDimExpr):
        position = expression.position
        return lambda given: given[position]
    if isinstance(expression, ir.AffineSymbolExpr):
        symbol = dimensions + expression.position
        return lambda given: given[symbol]
    if not isinstance(expression, ir.AffineBinaryExpr):
        raise Unsupported(
            f"its affine map contains {expression}; only dimensions, symbols, constants and arithmetic are supported"
        )
    left, right = _function(expression.lhs, dimensions), _function(expression.rhs, dimensions)
    if isinstance(expression, ir.AffineAddExpr):
        return lambda given: left(given) + right(given)
    if isinstance(expression, ir.AffineMulExpr):
        return lambda given: left(given) * right(given)
    if isinstance(expression, ir.AffineModExpr):
        return lambda given: remainder(left(given), right(given))
    if isinstance(expression, ir.AffineFloorDivExpr):
        return lambda given: quotient(left(given), right(given))
    if isinstance(expression, ir.AffineCeilDivExpr):
        return lambda given: -quotient(-left(given), right(given))
    raise Unsupported(
        f"its affine map contains {expression}; only dimensions, symbols, constants and arithmetic are supported"
    )


def functions(op: ir.Operation) -> list[Function]:
    """The results of the map of an op, as functions of its operands."""
    return functions_of(ir.AffineMapAttr(op.attributes["map"]).value)


def functions_of(found: Any) -> list[Function]:
    """The results of a map, as functions of its dimensions and symbols."""
    return [_function(expression, found.n_dims) for expression in found.results]


@operation("affine.apply", "affine.min", "affine.max")
def _apply(op: ir.Operation, translator: Translator) -> Step:
    computed = functions(op)
    operands, (result,) = translator.operands(op), translator.results(op)
    site = translator.site(op)
    pick = max if op.name == "affine.max" else min

    def step(st: State) -> None:
        given = [st.v[slot] for slot in operands]
        if any(isinstance(value, np.ndarray) for value in given):
            st.stop("divergence", "threads pass different operands; the operands must be uniform", site)
        st.v[result] = pick(function(given) for function in computed)

    return step
