# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`func` and `llvm`: calls of module functions, which are inlined, and of the libdevice and OCML functions that MLIR's `math`
conversions call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....instructions import fused
from ....ops import arith, conversions, math
from ....ops.globals import of_name
from ....ops.memref import index_error
from ....translation.translator import Step, Unsupported
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of
from ..arithmetic.arith import elementwise
from ..arithmetic.llvm import accessed, address_space, pointee


@operation("func.call", "llvm.call")
def _call(op: Any, tr: ThreadTranslator) -> Step | None:
    if "callee" not in op.attributes:
        raise Unsupported("the call is indirect; only calls of a named function are supported")
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    found = of_name(op, name, "func.func" if op.name == "func.call" else "llvm.func")
    if found is None or not len(found.regions[0].blocks):
        return _library(op, tr, name)
    if name in tr.calls:
        raise Unsupported(f"@{name} is recursive; only functions that do not call themselves are supported")
    tr.calls.append(name)
    region = found.regions[0]
    tr.emit(tr.moves(tr.operands(op), [tr.slot(argument) for argument in region.blocks[0].arguments]))
    if len(region.blocks) > 1:
        tr.blocks(region, tr.results(op))
    else:
        tr.emit(tr.moves(tr.body(region.blocks[0]), tr.results(op)))
    tr.calls.pop()
    return None


def _check_index(op: Any, tr: ThreadTranslator) -> Step:
    """A check that `smalti-expand-tile-ops` created."""
    operands, site = tr.operands(op), tr.site(op)

    def step(st: Any) -> None:
        index, size, dimension = (np.broadcast_to(np.asarray(st.v[operand]), (st.lanes,)) for operand in operands)
        active = np.ones(st.lanes, np.bool_) if st.mask is None else st.mask
        for lane in np.flatnonzero(active):
            if (text := index_error(int(index[lane]), int(size[lane]), int(dimension[lane]))) is not None:
                st.report("out-of-bounds", text, site, int(lane))
                return

    return step


_LIBDEVICE = re.compile(r"__nv_(?:fast_)?(\w+)")
_OCML = re.compile(r"__ocml_(?:native_)?(\w+)_f(?:16|32|64)")
_NAMES = {"fabs": "absf", "rint": "roundeven", "pow": "powf"}
_BY_ARITH = {"fmod": "remf", "fmax": "maxnumf", "fmin": "minnumf"}
_TESTS: dict[str, Callable[[Array], Array]] = {"isinf": np.isinf, "isnan": np.isnan, "finite": np.isfinite}


def _library(op: Any, tr: ThreadTranslator, name: str) -> Step:
    """A library function: computed in double precision and rounded once, like `math`."""
    if name == "smalti.check_index":
        return _check_index(op, tr)
    if name.startswith("__nv_") and name.rstrip("f").endswith("sincos"):
        return _sine_and_cosine(op, tr)
    libdevice, ocml = _LIBDEVICE.fullmatch(name), _OCML.fullmatch(name)
    if (libdevice is None and ocml is None) or len(op.results) != 1:
        raise Unsupported(
            f"the module does not define @{name}; only functions of libdevice (__nv_*) and OCML (__ocml_*) may "
            "be undefined"
        )
    word = (ocml or libdevice)[1]  # pyright: ignore[reportOptionalSubscript]
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.results[0].type}")
    for short in (word, word[:-1] if libdevice is not None and word[-1] in "fd" else word):
        if (test := _TESTS.get(short.removesuffix("d"))) is not None and dtype.kind == "i":
            return elementwise(op, tr, lambda x, test=test: test(x).astype(dtype))
        if short == "abs" and dtype.kind == "i":
            return elementwise(op, tr, np.abs)
        if short == "fma":
            return elementwise(op, tr, lambda x, y, z: fused(x, y, z).astype(dtype))
        if short in ("powi", "pown"):
            return elementwise(op, tr, lambda x, n: _rounded(np.power(x.astype(np.float64), n), dtype))
        if short in _BY_ARITH:
            return elementwise(op, tr, arith.FLOAT_FUNCTIONS[_BY_ARITH[short]])
        if (function := math.FUNCTIONS.get(_NAMES.get(short, short))) is not None:
            return elementwise(op, tr, in_double(function, dtype))
    raise Unsupported(f"the simulator does not implement the library function @{name}; define it in the module")


def _sine_and_cosine(op: Any, tr: ThreadTranslator) -> Step:
    """A function with two results in memory, such as `sincos`."""
    (source, *targets), site = tr.operands(op), tr.site(op)
    dtype, _, steps = accessed(op.operands[0].type, "store", tr)
    spaces = [address_space(value.type) for value in list(op.operands)[1:]]
    functions = [in_double(function, dtype) for function in (np.sin, np.cos)]

    def step(st: Any) -> None:
        x = np.asarray(st.v[source], dtype)
        for slot, space, function in zip(targets, spaces, functions, strict=True):
            buffer, first = pointee(st, st.v[slot], space, site, "the store")
            st.store_bytes(buffer, first, steps, dtype, function(x), (), st.mask, site)

    return step


def in_double(function: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Array]:
    """A function whose result is rounded once."""

    def compute(*given: Array) -> Array:
        with np.errstate(all="ignore"):
            return _rounded(function(*(x.astype(np.float64) for x in given)), dtype)

    return compute


def _rounded(found: Any, dtype: np.dtype[Any]) -> Array:
    return conversions.convert_float(np.asarray(found), dtype)
