# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic accesses and fences in inline PTX (PTX ISA, "atom", "red", "ld", "st", "membar, fence")."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator
from ...execution.lanes import Array, dtype_of, spread
from ...execution.ordering import BLOCK, CLUSTER, DEVICE, SYSTEM, Order, fence
from ...execution.polling import polling
from ..arithmetic.llvm import pointee
from ..memory.atomics import Atomic, function_of, ordered
from .assembly import Arguments, assembly

_SCOPES = {"cta": BLOCK, "cluster": CLUSTER, "gpu": DEVICE, "sys": SYSTEM}
_OLD_SCOPES = {"cta": BLOCK, "gl": DEVICE, "sys": SYSTEM}
_SPACES = {None: 0, "global": 1, "shared": 3, "shared::cta": 3}
_TYPES = {f"{kind}{bits}": np.dtype(f"i{bits // 8}") for kind in "bsu" for bits in (32, 64)}
_TYPES |= {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_OPERATIONS = {"and": "_and", "or": "_or", "xor": "_xor", "exch": "xchg", "cas": "xchg", "inc": "uinc_wrap"}
_OPERATIONS |= {"dec": "udec_wrap"}

_SCOPE = r"\.(?P<scope>cta|cluster|gpu|sys)"
_SPACE = r"(?:\.(?P<space>global|shared|shared::cta))?"
_TYPE = r"\.(?P<type>[bsu]32|[bsu]64|f32|f64)"


def _operation(name: str, kind: str) -> str:
    """LLVM's name of a PTX operation."""
    if name in _OPERATIONS:
        return _OPERATIONS[name]
    if kind.startswith("f"):
        if name == "add":
            return "fadd"
        raise Unsupported(f"the inline assembly has the atomic operation '{name}' on {kind}; floats support only 'add'")
    return f"u{name}" if name in ("min", "max") and kind.startswith("u") else name


def _arguments(op: Any, tr: ThreadTranslator, match: re.Match[str]) -> Arguments:
    refused = Unsupported(f"inline assembly '{match.group()}'")
    if tr.target.vendor != "nvidia":
        raise refused
    return Arguments(op, refused)


def _typed(given: Arguments, tr: ThreadTranslator, number: str, dtype: np.dtype[Any]) -> tuple[int, np.dtype[Any]]:
    """The slot of an operand and its type, of this size in bytes."""
    value = given.numbered(int(number))
    found = dtype_of(value.type)
    if found is None or found.itemsize != dtype.itemsize:
        raise Unsupported(
            f"operand ${number} of the inline assembly has type {value.type}; it must have a type of {dtype.itemsize} B"
        )
    return tr.slot(value), found


def _rows(st: Any, slot: int, given: np.dtype[Any], dtype: np.dtype[Any]) -> Array:
    return np.ascontiguousarray(spread(st.v[slot], given, st.lanes)).view(dtype).reshape(st.lanes, 1)


def _result(op: Any, dtype: np.dtype[Any]) -> Any:
    """The type of the result."""
    if len(op.results) != 1 or (found := dtype_of(op.results[0].type)) is None or found.itemsize != dtype.itemsize:
        types = ", ".join(str(value.type) for value in op.results) or "none"
        raise Unsupported(
            f"the inline assembly has result types {types}; it must have one result of {dtype.itemsize} B"
        )
    return found


@assembly(
    r"(?P<what>atom|red)(?:\.(?P<order>relaxed|acquire|release|acq_rel))?(?:"
    + _SCOPE
    + ")?"
    + _SPACE
    + r"\.(?P<name>and|or|xor|cas|exch|add|inc|dec|min|max)"
    + _TYPE
    + r" (?:\$(?P<to>\d+), )?\[ ?\$(?P<at>\d+) ?\], \$(?P<value>\d+)(?:, \$(?P<new>\d+))? ?;?"
)
def _update(op: Any, tr: ThreadTranslator, match: re.Match[str]) -> Step | None:
    name, kind, given = match["name"], match["type"], match["to"] is not None
    if given != (match["what"] == "atom") or (match["new"] is not None) != (name == "cas"):
        raise Unsupported(f"the operands of '{match.group()}'")
    arguments, dtype, space = _arguments(op, tr, match), _TYPES[kind], _SPACES[match["space"]]
    order = ordered(match["order"] or "relaxed", _SCOPES[match["scope"] or "gpu"])
    atomic, combine = Atomic(op, tr, dtype, 1, order), function_of(_operation(name, kind), dtype)
    pointer, site = tr.slot(arguments.numbered(int(match["at"]))), tr.site(op)
    numbers = [match["value"]] if name != "cas" else [match["new"], match["value"]]
    values = [_typed(arguments, tr, number, dtype) for number in numbers]
    results = tr.results(op)
    held = _result(op, dtype) if given else None

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        new, *wanted = (_rows(st, *value, dtype) for value in values)
        old, _ = atomic.update(
            st, buffer, first, lambda there, lanes: combine(there, new[lanes]), st.mask, wanted[0] if wanted else None
        )
        if held is not None:
            st.v[results[0]] = old[:, 0].view(held)

    return polling(op, tr, step)


@assembly(
    r"ld\.(?:volatile|(?P<order>relaxed|acquire)"
    + _SCOPE
    + ")"
    + _SPACE
    + _TYPE
    + r" \$(?P<to>\d+), \[ ?\$(?P<at>\d+) ?\] ?;?"
)
def _load(op: Any, tr: ThreadTranslator, match: re.Match[str]) -> Step | None:
    arguments, dtype, space = _arguments(op, tr, match), _TYPES[match["type"]], _SPACES[match["space"]]
    # A volatile access is a relaxed one of the whole system.
    order = ordered(match["order"] or "relaxed", _SCOPES[match["scope"] or "sys"])
    atomic, held = Atomic(op, tr, dtype, 1, order), _result(op, dtype)
    pointer, (result,), site = tr.slot(arguments.numbered(int(match["at"]))), tr.results(op), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        st.v[result] = np.ascontiguousarray(atomic.load(st, buffer, first)[:, 0]).view(held)

    return polling(op, tr, step)


@assembly(
    r"st\.(?:volatile|(?P<order>relaxed|release)"
    + _SCOPE
    + ")"
    + _SPACE
    + _TYPE
    + r" \[ ?\$(?P<at>\d+) ?\], \$(?P<value>\d+) ?;?"
)
def _store(op: Any, tr: ThreadTranslator, match: re.Match[str]) -> Step:
    arguments, dtype, space = _arguments(op, tr, match), _TYPES[match["type"]], _SPACES[match["space"]]
    order = ordered(match["order"] or "relaxed", _SCOPES[match["scope"] or "sys"])
    atomic, pointer = Atomic(op, tr, dtype, 1, order), tr.slot(arguments.numbered(int(match["at"])))
    value, site = _typed(arguments, tr, match["value"], dtype), tr.site(op)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[pointer], space, site, "the atomic access")
        atomic.store(st, buffer, first, _rows(st, *value, dtype))

    return step


@assembly(r"(?:membar\.(?P<old>cta|gl|sys)|fence\.(?:sc|acq_rel)" + _SCOPE + r") ?;?")
def _fence(op: Any, tr: ThreadTranslator, match: re.Match[str]) -> Step:
    _arguments(op, tr, match)
    site = tr.site(op)
    order = Order(_OLD_SCOPES[match["old"]] if match["old"] else _SCOPES[match["scope"]], True, True)
    return lambda st: fence(st, order, site)
