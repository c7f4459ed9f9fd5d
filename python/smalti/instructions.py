# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference semantics of GPU instructions on numpy arrays: the instruction table in emulator/Instructions, batched.

    instructions.convert(values, "f32", "f8E4M3FN", saturate=True)
    instructions.matmul(accumulator, a, b, "f16", "f16", "f32")
    instructions.execute("llvm.nvvm.shfl.sync.idx.i32", [mask, value, lane, clamp], np.int32)

Types have MLIR names. A sub-byte element takes one byte. An array may have the numpy type `dtype(name)`, or any numpy type
with elements of the same size, such as unsigned integers that hold the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import ml_dtypes
import numpy as np

from . import dtypes
from ._mlir_libs import _smaltiInstructions as native

__all__ = [
    "ElementType",
    "convert",
    "dtype",
    "execute",
    "fused",
    "matmul",
    "rounding_of",
    "sparse_positions",
    "type_name",
    "types",
    "unpack_metadata",
    "unpack_scales",
]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ElementType:
    """An element type of instructions."""

    name: str
    """The MLIR name, or `tf32`, or `ue4m3` for an unsigned scale."""
    kind: str
    """`float`, `signed` or `unsigned`."""
    bits: int
    bytes: int
    """Bytes per element in an array."""


@cache
def types() -> dict[str, ElementType]:
    """All element types by name. `i8` is signed, and `ui8` is unsigned."""
    known = cast(list[tuple[str, str, int, int]], cast(Any, native).types())
    return {found[0]: ElementType(*found) for found in known}


_SMALL_FLOATS = {
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
}
_OTHERS = {
    "tf32": np.float32,
    "ue4m3": np.uint8,
    "i1": np.bool_,
    "ui1": np.bool_,
    "i2": np.int8,
    "i4": np.int8,
    "ui2": np.uint8,
    "ui4": np.uint8,
}


@cache
def dtype(name: str) -> np.dtype[Any]:
    """The numpy type of an element type. Raises ValueError for an unknown name."""
    found: Any = _OTHERS.get(name) or _SMALL_FLOATS.get(name)
    if found is not None:
        return np.dtype(found)
    known = dtypes.from_mlir(name)
    if known is None or name not in types():
        raise ValueError(f"unknown element type '{name}'; known types: {', '.join(types())}")
    return known.numpy


@cache
def _names() -> dict[np.dtype[Any], str]:
    return {dtype(name): name for name in types() if name not in ("tf32", "ue4m3") and not name.endswith(("i2", "i4"))}


def type_name(found: np.dtype[Any]) -> str:
    """The element type of a numpy type; `ui1` for bool. Raises ValueError if it does not exist."""
    name = _names().get(np.dtype(found))
    if name is None:
        raise ValueError(
            f"the numpy type {found} does not correspond to an element type of instructions; known types: {', '.join(types())}"
        )
    return name


def _bytes(array: Array, name: str) -> Array:
    """The bytes of an array in row-major order. Raises ValueError if the array does not match the type."""
    wanted = types().get(name)
    is_number = array.dtype.kind in "biufV" and array.dtype.names is None and array.dtype.isnative
    if wanted is None or not is_number or array.dtype.itemsize != wanted.bytes:
        remedy = f"use numbers of {wanted.bytes} B in the byte order of this machine" if wanted else "use another type"
        raise ValueError(f"an array of {array.dtype} cannot hold elements of type '{name}'; {remedy}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def convert(
    values: Any, from_type: str, to_type: str, *, rounding: str = "nearest_even", saturate: bool = False
) -> Array:
    """Converts numbers with one rounding: `nearest_even`, `nearest_away`, `toward_zero`, `down` or `up`.

    To a float: an overflow or infinity becomes the largest number with `saturate`, otherwise infinity, or NaN in a type
    without infinity. A type without infinity and NaN always saturates, and NaN becomes its largest number. From a float
    to an integer: the value is clamped; NaN becomes 0, or only the sign bit if either type has 64 bits (PTX ISA, "cvt").
    From an integer to an integer: the value is clamped with `saturate`, otherwise truncated to the low bits.
    """
    array = np.asarray(values)
    result = np.empty(array.shape, dtype(to_type))
    native.convert(_bytes(array, from_type), from_type, to_type, rounding, saturate, result.reshape(-1).view(np.uint8))
    return result


_ROUNDING_MODES = ("nearest_even", "down", "up", "toward_zero", "nearest_away")
"""The values of `arith.roundingmode`, as `convert` names them."""


def rounding_of(op: Any) -> str:
    """The rounding mode of a conversion of `arith`."""
    return _ROUNDING_MODES[op.attributes["roundingmode"].value if "roundingmode" in op.attributes else 0]


def fused(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z` of floats of one type as float64. Rounding the result to the type gives the correctly rounded fma."""
    x, y, z = np.broadcast_arrays(x, y, z)
    name = type_name(x.dtype)
    result = np.empty(x.shape, np.float64)
    native.fuse(name, _bytes(x, name), _bytes(y, name), _bytes(z, name), result.reshape(-1))
    return result


def matmul(
    accumulator: Array,
    a: Array,
    b: Array,
    type_a: str,
    type_b: str,
    type_c: str,
    *,
    scales: tuple[Array, Array] | None = None,
    scale_type: str = "f8E8M0FNU",
    scale_block: int = 0,
    sparsity: Array | None = None,
) -> Array:
    """`accumulator + a @ b` for shapes [m, k] and [k, n], as an array of `type_c`.

    Element-wise multiplications are exact, and their sum is computed in double precision and rounded once. f64 uses fma.
    Integers wrap. `scales` have the shapes [m, k / scale_block] and [n, k / scale_block]: one scale for each group of
    `scale_block` elements along k. With `sparsity` of shape [m, k / 4, 2], `a` stores two of each four elements along k,
    at these positions. Raises ValueError if shapes or positions do not match.
    """
    m, stored = a.shape
    k, n = b.shape
    if accumulator.shape != (m, n) or stored * (1 if sparsity is None else 2) != k:
        required = "[m, n], [m, k] and [k, n]" if sparsity is None else "[m, n], [m, k / 2] and [k, n]"
        raise ValueError(
            f"the accumulator, a and b have the shapes {accumulator.shape}, {a.shape} and {b.shape}; their shapes must be {required}"
        )
    result = np.array(accumulator, order="C")
    positions = None
    if sparsity is not None:
        if sparsity.dtype.kind not in "iu" or (sparsity.size and not 0 <= sparsity.min() <= sparsity.max() < 4):
            raise ValueError(
                "'sparsity' has a position that is not an integer from 0 to 3, the index of an element among four"
            )
        positions = np.ascontiguousarray(sparsity, np.uint8).reshape(-1)
    given = None if scales is None else (_bytes(scales[0], scale_type), _bytes(scales[1], scale_type))
    native.matmul(
        _bytes(result, type_c),
        _bytes(a, type_a),
        _bytes(b, type_b),
        m,
        n,
        k,
        type_a,
        type_b,
        type_c,
        given,
        scale_type,
        scale_block,
        positions,
    )
    return result


@dataclass(frozen=True)
class Signature:
    """The operands of an instruction."""

    operands: tuple[int, ...]
    """Bytes per lane of each operand."""
    result: int
    """Bytes per lane of the result."""
    lanes: tuple[int, ...] = (32, 64)
    """Supported wave sizes."""


_SHUFFLE = Signature((4, 4, 4, 4), 4, (32,))
SIGNATURES = {
    **{
        f"llvm.nvvm.shfl.sync.{mode}.{kind}": _SHUFFLE
        for mode in ("up", "down", "bfly", "idx")
        for kind in ("i32", "f32")
    },
    "llvm.nvvm.mma.m16n8k8.row.col.tf32": Signature((4,) * 10, 16, (32,)),
    "llvm.nvvm.vote.ballot.sync": Signature((4, 1), 4, (32,)),
    "llvm.amdgcn.cvt.f32.fp8": Signature((4, 4), 4),
    "llvm.amdgcn.readfirstlane.i32": Signature((4,), 4),
}
"""The instructions that `execute` supports. An instruction interprets the bits of an array, independent of its numpy type."""


def execute(
    name: str,
    operands: Sequence[Array],
    result: Any,
    *,
    count: int = 1,
    active: Array | None = None,
    architecture: str = "",
) -> Array:
    """Executes an instruction in several waves. Returns an array of the numpy type `result` with the shape
    [waves, lanes, count], or [waves, lanes] if `count` is 1.

    `name` is one of `SIGNATURES`. Each operand has the shape [waves, lanes] or [waves, lanes, elements] and holds the
    contents of its registers; immediates have the same form. `active` has a lane mask per wave. The result of an inactive
    lane is zero. AMD instructions that differ between architectures require `architecture`, such as "CDNA3". Raises
    ValueError if operands do not match the signature.
    """
    signature = SIGNATURES.get(name)
    if signature is None:
        raise ValueError(f"unknown instruction '{name}'; known instructions: {', '.join(SIGNATURES)}")
    found = [np.ascontiguousarray(operand) for operand in operands]
    if not found or any(operand.ndim not in (2, 3) or operand.shape[:2] != found[0].shape[:2] for operand in found):
        raise ValueError(
            "the operands of the instruction have different shapes, or none is given; each must have the shape "
            "[waves, lanes], optionally with a third dimension of elements"
        )
    waves, lanes = found[0].shape[:2]
    each = [operand.reshape(waves, lanes, -1).view(np.uint8) for operand in found]
    results = np.zeros((waves, lanes, count), result)
    sizes, size = tuple(operand.shape[2] for operand in each), count * np.dtype(result).itemsize
    if lanes not in signature.lanes:
        raise ValueError(f"{name}: the wave size is {lanes}; it must be {' or '.join(map(str, signature.lanes))}")
    if sizes != signature.operands or size != signature.result:
        raise ValueError(
            f"{name}: the operands have {sizes} bytes per lane and the result has {size}; the instruction requires operands of "
            f"{signature.operands} bytes and a result of {signature.result}"
        )
    if active is None:
        active = np.full(waves, (1 << lanes) - 1, np.uint64)
    masks = np.ascontiguousarray(active, np.uint64)
    native.execute(name, each, masks, results.view(np.uint8), architecture)
    return results[..., 0] if count == 1 else results


def unpack_scales(packed: Array) -> Array:
    """Scale factors of `tcgen05.mma` in row-major order.

    `packed` has the layout of the copy to tensor memory (PTX ISA, "Layout of the scale factor matrix"):
    [M / 128, N / 4, 32, 16] for one block. For two blocks it has the shape [1, N / 4, 64, 16]."""
    tiles, columns, rows, _ = packed.shape
    result = np.empty((tiles * rows * 4, columns * 4), packed.dtype)
    native.unpack_scales(np.ascontiguousarray(packed).view(np.uint8), result.reshape(-1).view(np.uint8))
    return result


def unpack_metadata(packed: Array) -> Array:
    """Sparse metadata of `tcgen05.mma` in row-major order, as bytes. `packed` has the layout of the copy to tensor memory,
    [M / 128, N / 64, 128, 64], with four entries per byte. Raises ValueError for another shape."""
    if packed.ndim != 4 or packed.shape[2] != 128 or packed.shape[3] not in (16, 64) or packed.dtype.itemsize != 1:
        raise ValueError(
            f"packed sparsity metadata must have four dimensions, the last two of 128 and of 16 or 64, not {packed.shape}"
        )
    rows, columns, height, width = packed.shape
    result = np.empty((rows * height, columns * width), packed.dtype)
    native.unpack_metadata(np.ascontiguousarray(packed).view(np.uint8), result.reshape(-1).view(np.uint8))
    return result


def sparse_positions(metadata: Array, element_bits: int) -> Array:
    """Positions of the two stored elements in each group of four of a sparse operand A of `tcgen05.mma`.

    `metadata` has the layout of tensor memory. The result has the shape [rows, columns / 2, 2]. Raises ValueError if
    `element_bits` is not 8 or 16.
    """
    if element_bits not in (8, 16):
        raise ValueError(f"elements of a sparse operand must have 8 or 16 bits, not {element_bits}")
    rows, columns = metadata.shape
    result = np.empty((rows, columns // 2, 2), np.uint8)
    native.sparse_positions(np.ascontiguousarray(metadata).view(np.uint8), element_bits, result.reshape(-1))
    return result
