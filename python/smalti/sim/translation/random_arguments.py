# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments of kernels, with valid values for sparsity metadata, scales and similar operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, ir
from ...calling.arguments import UNUSED
from .program import Parameter
from .translator import ARGUMENT, VIEWS_OF_PACKED, attribute, walk

Array = np.ndarray[Any, Any]

_ROLES = {
    "mosaic_gpu.async_store_scales_smem_to_tmem": "scales",
    "mosaic_gpu.async_store_sparse_metadata_smem_to_tmem": "metadata",
}
"""The purpose for which an op uses memory."""
_VIEWS = VIEWS_OF_PACKED | {"mosaic_gpu.with_transforms", "memref.transpose", "memref.reinterpret_cast"}
_VIEWS |= {"memref.expand_shape", "memref.collapse_shape", "builtin.unrealized_conversion_cast"}


def _root(value: Any) -> tuple[str, int] | None:
    """The argument of a view, or its offset in shared memory; None if it is not statically known."""
    while True:
        if isinstance(value, ir.BlockArgument):
            owner = value.owner.owner
            if owner.name != "mosaic_gpu.warp_map":
                return ("argument", value.arg_number) if owner.name == "gpu.func" else None
            value = owner.operands[value.arg_number]
            continue
        op = value.owner
        if ARGUMENT in op.attributes:
            return "argument", attribute(op, ARGUMENT)
        if op.name == "mosaic_gpu.slice_smem":
            return "shared", attribute(op, "offset")
        if op.name not in _VIEWS:
            return None
        value = op.operands[0]


def roles(module: ir.Module) -> dict[int, str]:
    """The purpose of arguments whose type does not state it: those that are copied to shared memory and then to tensor
    memory as scales or metadata."""
    operations = list(walk(module.operation))
    places = {_root(op.operands[0]): _ROLES[op.name] for op in operations if op.name in _ROLES}
    places.pop(None, None)
    found = {}
    for op in operations:
        if op.name == "mosaic_gpu.async_load" and (role := places.get(_root(op.operands[1]))):
            source = _root(op.operands[0])
            if source is not None and source[0] == "argument":
                found[source[1]] = role
    return found


def element(parameter: Parameter) -> dtypes.ElementType:
    """The element type of an array of a call, or the type of a scalar."""
    if parameter.packed > 1:
        return dtypes.BYTE
    if parameter.declared is not None and not parameter.scalar:
        return parameter.declared.dtype
    ty = parameter.type if parameter.scalar else parameter.type.element_type
    found = dtypes.from_mlir("i64" if str(ty) in ("index", UNUSED) else str(ty))
    assert found is not None
    return found


_DRAWN = (1 << 20) + 7
"""The number of random elements of an array: a larger array repeats them, which is much faster. Rows differ."""


def _array(shape: list[int], dtype: np.dtype[Any], draw: Callable[[int], Array]) -> Array:
    """An array of numbers from a generator function."""
    found = np.empty(shape, dtype)
    flat = found.reshape(-1)
    drawn = draw(min(flat.size, _DRAWN)).astype(dtype)
    # In parts, so that Ctrl-C is handled in between.
    for first in range(0, flat.size, _DRAWN):
        part = flat[first : first + _DRAWN]
        part[...] = drawn[: part.size]
    return found


_RISING = np.array([first | second << 2 for second in range(4) for first in range(second)])
"""Sparsity metadata of four elements."""


def drawn(parameter: Parameter, role: str | None, generator: np.random.Generator) -> Array:
    """A random array: small numbers, positive scales, valid metadata."""
    kind, shape = element(parameter), [size for size in parameter.shape if size is not None]
    if role == "metadata":
        low, high = generator.choice(_RISING, (2, *shape))
        return (low | high << 4).astype(np.uint8).view(np.int8)
    # A type without sign and zero is a scale type.
    if kind.name == "float8_e8m0fnu":
        return _array(shape, kind.numpy, lambda count: 2.0 ** generator.integers(-4, 5, count))
    if kind.kind == "f" and role == "scales":
        positive = lambda count: np.abs(generator.standard_normal(count, np.float32)) + np.float32(0.125)  # noqa: E731
        return _array(shape, kind.numpy, positive)
    if kind.kind == "f":
        return _array(shape, kind.numpy, lambda count: generator.standard_normal(count, np.float32))
    if kind.kind == "b":
        return _array(shape, np.dtype(np.bool_), lambda count: generator.integers(0, 2, count))
    limit = 128 if parameter.packed > 1 else 8
    return _array(shape, kind.numpy, lambda count: generator.integers(-limit, limit, count))
