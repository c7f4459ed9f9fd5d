# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`affine`: maps, accesses and conditions. Loops are in `loops`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from ....ops import affine
from ....translation.translator import Step, attribute
from ...execution.code import ThreadTranslator, operation
from ..arithmetic.vector import shape_of
from ..memory.memref import memory_dtype
from ..memory.vector_memory import stored_dtype
from .control import branches


@operation("affine.apply", "affine.min", "affine.max")
def _apply(op: Any, tr: ThreadTranslator) -> Step:
    found = bound(op, "map", tr.operands(op), np.maximum if op.name == "affine.max" else np.minimum)
    (result,) = tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = found(st)

    return step


def bound(op: Any, name: str, slots: list[int], pick: Any, results: range | None = None) -> Callable[[Any], Any]:
    """A function that returns the minimum or maximum of a map's results, or of some of them."""
    functions = affine.functions_of(ir.AffineMapAttr(op.attributes[name]).value)
    functions = functions if results is None else [functions[i] for i in results]

    def compute(st: Any) -> Any:
        given = [st.v[slot] for slot in slots]
        found = functions[0](given)
        for function in functions[1:]:
            found = pick(found, function(given))
        return found if isinstance(found, np.ndarray) and found.ndim else int(found)

    return compute


@operation("affine.delinearize_index")
def _delinearize(op: Any, tr: ThreadTranslator) -> Step:
    index, *dynamic = tr.operands(op)
    results, basis = tr.results(op), _basis(op, dynamic)
    sizes = basis if len(basis) == len(results) else [0, *basis]

    def step(st: Any) -> None:
        left = st.v[index]
        for slot, size in reversed(list(zip(results[1:], sizes[1:], strict=True))):
            by = st.v[~size] if size < 0 else size
            st.v[slot] = affine.remainder(left, by)
            left = affine.quotient(left, by)
        st.v[results[0]] = left

    return step


@operation("affine.linearize_index")
def _linearize(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,) = tr.operands(op), tr.results(op)
    count = attribute(op, "operandSegmentSizes")[0]
    indices, basis = slots[:count], _basis(op, slots[count:])
    # The size of the outermost dimension may be omitted.
    sizes = basis[len(basis) - count + 1 :]

    def step(st: Any) -> None:
        found = st.v[indices[0]]
        for index, size in zip(indices[1:], sizes, strict=True):
            found = found * (st.v[~size] if size < 0 else size) + st.v[index]
        st.v[result] = found

    return step


def _basis(op: Any, dynamic: list[int]) -> list[int]:
    """Sizes, or the complements of the slots of dynamic ones."""
    rest = iter(dynamic)
    return [~next(rest) if size < 0 else size for size in attribute(op, "static_basis")]


# ---------------------------------------------------------------------------------------------------------------------
# Accesses and conditions
# ---------------------------------------------------------------------------------------------------------------------


def _indices(op: Any, tr: ThreadTranslator, first: int) -> Callable[[Any], list[Any]]:
    """The indices of an access, which a map computes from the operands from `first` on."""
    functions, slots = affine.functions(op), tr.operands(op)[first:]

    def read(st: Any) -> list[Any]:
        given = [st.v[slot] for slot in slots]
        return [function(given) for function in functions]

    return read


@operation("affine.load", "affine.vector_load")
def _load(op: Any, tr: ThreadTranslator) -> Step:
    source, (result,), site = tr.operands(op)[0], tr.results(op), tr.site(op)
    indices, shape = _indices(op, tr, 1), shape_of(op.results[0].type)
    stored_dtype(op.results[0].type)
    memory_dtype(op.operands[0].type)
    tr.uses(op.operands[0].type)

    def step(st: Any) -> None:
        st.v[result] = st.load(st.v[source], indices(st), shape, site)

    return step


@operation("affine.store", "affine.vector_store")
def _store(op: Any, tr: ThreadTranslator) -> Step:
    (value, target, *_), site = tr.operands(op), tr.site(op)
    indices, shape = _indices(op, tr, 2), shape_of(op.operands[0].type)
    stored_dtype(op.operands[0].type)
    memory_dtype(op.operands[1].type)
    tr.uses(op.operands[1].type)

    def step(st: Any) -> None:
        st.store(st.v[target], indices(st), st.v[value], shape, site)

    return step


_SET = re.compile(r"affine_set<(.*?) : \((.*)\)>")


@operation("affine.if")
def _if(op: Any, tr: ThreadTranslator) -> None:
    found = _SET.fullmatch(str(op.attributes["condition"]))
    assert found is not None
    constraints = [re.fullmatch(r"(.*) (>=|==) 0", part.strip()) for part in found[2].split(",")]
    left = ", ".join(match[1] for match in constraints if match)
    text = ir.Attribute.parse(f"affine_map<{found[1]} -> ({left})>", op.context)
    functions = affine.functions_of(ir.AffineMapAttr(text).value)
    equal = [match[2] == "==" for match in constraints if match]
    slots, condition = tr.operands(op), tr.temporary()

    def step(st: Any) -> None:
        given, holds = [st.v[slot] for slot in slots], True
        for function, is_equal in zip(functions, equal, strict=True):
            value = function(given)
            holds = holds & (value == 0 if is_equal else value >= 0)
        st.v[condition] = holds

    tr.emit(step)
    branches(op, tr, condition)
