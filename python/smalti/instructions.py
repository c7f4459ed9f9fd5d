"""What instructions compute, on numpy's arrays: the emulator's table of instructions (emulator/Instructions), batched.

    instructions.convert(values, "f32", "f8E4M3FN", saturate=True)
    instructions.matmul(accumulator, a, b, "f16", "f16", "f32")
    instructions.execute("llvm.nvvm.shfl.sync.idx.i32", [mask, value, lane, clamp], np.int32)

Types have MLIR's names. Elements of less than a byte take a byte each. An array of a type may have the numpy type of
`dtype`, or any other whose elements are as large, such as unsigned integers with the bits.
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
    """As MLIR spells it; also `tf32`, and `ue4m3`, the scale without a sign."""
    kind: str
    """`float`, `signed` or `unsigned`."""
    bits: int
    bytes: int
    """Those that an element takes in an array."""


@cache
def types() -> dict[str, ElementType]:
    """All element types by their names. `i8` has a sign, and `ui8` has none."""
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
    """The numpy type of a type's elements."""
    found: Any = _OTHERS.get(name) or _SMALL_FLOATS.get(name)
    if found is not None:
        return np.dtype(found)
    known = dtypes.from_mlir(name)
    if known is None or name not in types():
        raise ValueError(f"no element type is called '{name}'; known are {', '.join(types())}")
    return known.numpy


@cache
def _names() -> dict[np.dtype[Any], str]:
    return {dtype(name): name for name in types() if name not in ("tf32", "ue4m3") and not name.endswith(("i2", "i4"))}


def type_name(found: np.dtype[Any]) -> str:
    """The type whose elements have a numpy type; that of a bool is `ui1`."""
    name = _names().get(np.dtype(found))
    if name is None:
        raise ValueError(f"no element type is numpy's {found}")
    return name


def _bytes(array: Array, name: str) -> Array:
    """The bytes of an array of a type, one after the other."""
    wanted = types().get(name)
    is_number = array.dtype.kind in "biufV" and array.dtype.names is None and array.dtype.isnative
    if wanted is None or not is_number or array.dtype.itemsize != wanted.bytes:
        raise ValueError(f"an array of {array.dtype} holds no elements of type '{name}'")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def convert(
    values: Any, from_type: str, to_type: str, *, rounding: str = "nearest_even", saturate: bool = False
) -> Array:
    """Converts numbers with one rounding of the exact value: `nearest_even`, `nearest_away`, `toward_zero`, `down` or
    `up`.

    A float that is too large, or infinite, becomes the largest number with `saturate`, and otherwise infinite, or NaN
    in a type without infinity; a type that has neither always saturates, and NaN becomes its largest number. A float
    as an integer is clamped, and NaN is 0, or the sign bit alone if either type has 64 bits (PTX ISA, "cvt"). An
    integer as an integer is clamped with `saturate`, and otherwise loses its upper bits.
    """
    array = np.asarray(values)
    result = np.empty(array.shape, dtype(to_type))
    native.convert(_bytes(array, from_type), from_type, to_type, rounding, saturate, result.reshape(-1).view(np.uint8))
    return result


def fused(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z` of floats of one type, as float64: another rounding to their type gives what one rounding of the exact
    number is."""
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
    """`accumulator + a @ b` of matrices of m x k and k x n elements, as an array of `type_c`: products are exact, their
    sum is a double's, rounded once. Elements of f64 are multiplied and added like fma, and integers wrap.

    With `scales`, of m x k / scale_block and n x k / scale_block elements, each `scale_block` elements along k of a row
    of `a` and of a column of `b` have one. With `sparsity`, of m x k / 4 x 2 numbers, `a` has two of each four
    elements along k, at those positions of the four.
    """
    m, stored = a.shape
    k, n = b.shape
    if accumulator.shape != (m, n) or stored * (1 if sparsity is None else 2) != k:
        raise ValueError(f"the shapes {accumulator.shape}, {a.shape} and {b.shape} do not make a matmul")
    result = np.array(accumulator, order="C")
    positions = None
    if sparsity is not None:
        if sparsity.dtype.kind not in "iu" or (sparsity.size and not 0 <= sparsity.min() <= sparsity.max() < 4):
            raise ValueError("a position must be an integer from 0 to 3")
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
    """Bytes of each operand in a lane."""
    result: int
    """Bytes of the result in a lane."""
    lanes: tuple[int, ...] = (32, 64)
    """The sizes of a wave that execute it."""


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
"""The instructions that `execute` takes. An instruction reads what its document says, whatever the arrays hold."""


def execute(
    name: str,
    operands: Sequence[Array],
    result: Any,
    *,
    count: int = 1,
    active: Array | None = None,
    architecture: str = "",
) -> Array:
    """Executes an instruction in waves, and returns an array with `count` elements of the numpy type `result` for each
    lane: its shape is [waves, lanes, count], or [waves, lanes] if `count` is 1.

    `name` is one of `SIGNATURES`, and the operands are as it says. Each operand has the shape [waves, lanes] or
    [waves, lanes, elements]: what its registers hold, an immediate too. Lanes without a bit in `active`, of which each
    wave has a mask, do not participate, and their results are zero. AMD's instructions that mean different things on
    two architectures need the `architecture` as the target table names it ("CDNA3").
    """
    signature = SIGNATURES.get(name)
    if signature is None:
        raise ValueError(f"no instruction is called '{name}'; known are {', '.join(SIGNATURES)}")
    found = [np.ascontiguousarray(operand) for operand in operands]
    if not found or any(operand.ndim not in (2, 3) or operand.shape[:2] != found[0].shape[:2] for operand in found):
        raise ValueError("the operands of an instruction must have one shape [waves, lanes], and elements behind")
    waves, lanes = found[0].shape[:2]
    each = [operand.reshape(waves, lanes, -1).view(np.uint8) for operand in found]
    results = np.zeros((waves, lanes, count), result)
    sizes, size = tuple(operand.shape[2] for operand in each), count * np.dtype(result).itemsize
    if lanes not in signature.lanes:
        raise ValueError(f"{name}: a wave has {lanes} lanes; it must have {' or '.join(map(str, signature.lanes))}")
    if sizes != signature.operands or size != signature.result:
        raise ValueError(
            f"{name}: a lane has operands of {sizes} bytes and a result of {size}; "
            f"it must have {signature.operands} and {signature.result}"
        )
    if active is None:
        active = np.full(waves, (1 << lanes) - 1, np.uint64)
    masks = np.ascontiguousarray(active, np.uint64)
    native.execute(name, each, masks, results.view(np.uint8), architecture)
    return results[..., 0] if count == 1 else results


def unpack_scales(packed: Array) -> Array:
    """The scales of the tensor core as rows and columns, from the form in which they are copied to tensor memory,
    [M / 128, N / 4, 32, 16], or [1, N / 4, 64, 16] for two blocks (PTX ISA, "Layout of the scale factor matrix")."""
    tiles, columns, rows, _ = packed.shape
    result = np.empty((tiles * rows * 4, columns * 4), packed.dtype)
    native.unpack_scales(np.ascontiguousarray(packed).view(np.uint8), result.reshape(-1).view(np.uint8))
    return result


def unpack_metadata(packed: Array) -> Array:
    """The bytes of sparse metadata as rows and columns, from the form in which they are copied to tensor memory,
    [M / 128, N / 64, 128, 64 metadata], of which four share a byte."""
    if packed.ndim != 4 or packed.shape[2] != 128 or packed.shape[3] not in (16, 64) or packed.dtype.itemsize != 1:
        raise ValueError(f"packed metadata must have the shape [M / 128, N / 64, 128, 16 or 64], not {packed.shape}")
    rows, columns, height, width = packed.shape
    result = np.empty((rows * height, columns * width), packed.dtype)
    native.unpack_metadata(np.ascontiguousarray(packed).view(np.uint8), result.reshape(-1).view(np.uint8))
    return result


def sparse_positions(metadata: Array, element_bits: int) -> Array:
    """The positions of the two elements of each four of a sparse operand A of the tensor core, from its metadata as
    tensor memory has them: an array of rows x columns / 2 x 2."""
    if element_bits not in (8, 16):
        raise ValueError(f"a sparse operand has elements of 8 or 16 bits, not {element_bits}")
    rows, columns = metadata.shape
    result = np.empty((rows, columns // 2, 2), np.uint8)
    native.sparse_positions(np.ascontiguousarray(metadata).view(np.uint8), element_bits, result.reshape(-1))
    return result
