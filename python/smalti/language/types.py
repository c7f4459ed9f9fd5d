# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of tiles: names, conversion from other libraries, and promotion."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..bindings import ir
from ..dtypes import ElementType
from ..errors import CompileError

DType = ElementType
"""The element type of a tile, scalar or array."""


class Misuse(CompileError):
    """A kernel uses a function, an operator or a statement in a form that is not supported. The translator adds the line."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)


def _named(mlir: str) -> DType:
    found = dtypes.from_mlir(mlir)
    assert found is not None
    return found


float64 = _named("f64")
float32 = _named("f32")
float16 = _named("f16")
bfloat16 = _named("bf16")
float8_e4m3fn = _named("f8E4M3FN")
float8_e5m2 = _named("f8E5M2")
float8_e4m3fnuz = _named("f8E4M3FNUZ")
float8_e5m2fnuz = _named("f8E5M2FNUZ")
float8_e8m0fnu = _named("f8E8M0FNU")
float6_e2m3fn = _named("f6E2M3FN")
float6_e3m2fn = _named("f6E3M2FN")
float4_e2m1fn = DType("f4E2M1FN", "float4_e2m1fn", 4, "f", 1)
int64 = _named("i64")
int32 = _named("i32")
int16 = _named("i16")
int8 = _named("i8")
int4 = DType("i4", "int4", 4, "i")
int2 = DType("i2", "int2", 2, "i")
uint64 = _named("ui64")
uint32 = _named("ui32")
uint16 = _named("ui16")
uint8 = _named("ui8")
boolean = _named("i1")
index = DType("index", "index", 64, "i")
"""The type of tile ids, sizes and loop variables. It adapts to the integer type of the other operand."""

_NAMED = {"boolean": boolean, **{t.name: t for t in (float4_e2m1fn, int4, int2, index)}}
"""Names that `dtypes` does not have."""


def dtype(value: Any) -> DType:
    """The element type that a name, a numpy type or a torch type states: `dtype("float16")`, `dtype(np.float16)`.

    Raises Misuse if Smalti does not have the type.
    """
    if isinstance(value, DType):
        return value
    if value is float:
        return float32
    if value is int:
        return int32
    if value is bool:
        return boolean
    name = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", str(value))
    name = str(name).removeprefix("torch.")
    found = _NAMED.get(name) or dtypes.from_name(name) or dtypes.from_mlir(name)
    if found is None:
        raise Misuse(f"{value!r} is not an element type", "use a type of smalti.language, such as sl.float32")
    return found


def member(enumeration: Any, what: str, value: str | None) -> Any:
    """The member of an enumeration of the dialect with this name. Raises Misuse with the possible names."""
    if value is None:
        return None
    names = {str(item): item for item in enumeration}
    if value not in names:
        raise Misuse(f"{what} is {value!r}, but must be one of {', '.join(names)}")
    return names[value]


def mlir_type(dtype: DType) -> ir.Type:
    """The MLIR type. Integers are signless; the operators know the sign from the element type."""
    try:
        return ir.Type.parse(dtype.mlir.removeprefix("u"))
    except RuntimeError:  # A kernel is not being translated.
        raise RuntimeError(
            "functions of smalti.language on tiles are only available in a function with @smalti.kernel"
        ) from None


def is_float(dtype: DType) -> bool:
    return dtype.kind == "f"


def is_integer(dtype: DType) -> bool:
    """Whether the type is an integer or `index`, but not a boolean."""
    return dtype.kind in "iu"


def promote(a: DType, b: DType) -> DType:
    """The element type of an operator on `a` and `b`; see the table in docs/python-kernels.md.

    Raises Misuse for two floats that neither contains the other one, of at most 8 bits.
    """
    if a == b:
        return a
    if index in (a, b):
        other = b if a == index else a
        return index if other == boolean else other
    if boolean in (a, b):
        return b if a == boolean else a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if is_float(a):
        if {a, b} == {float16, bfloat16}:
            return float32
        if a.bits == b.bits or max(a.bits, b.bits) <= 8:
            raise Misuse(f"operands are {a} and {b}, which do not have a common type", f"convert one with .to(sl.{a})")
        return a if a.bits > b.bits else b
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    # As numpy: a signed type that contains both, if there is one.
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    if unsigned.bits == 64:
        raise Misuse(f"operands are {a} and {b}, which do not have a common type", f"convert one with .to(sl.{signed})")
    return _named(f"i{2 * unsigned.bits}")
