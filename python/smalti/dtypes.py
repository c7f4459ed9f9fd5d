# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types, with their names in MLIR, numpy and DLPack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ElementType:
    """An element type of the memory of a kernel."""

    mlir: str
    """The name in MLIR: `f16`."""
    name: str
    """The name in numpy or ml_dtypes: `float16`."""
    bits: int
    """Size in memory, in bits. A bool and a 6-bit float have 8."""
    kind: str
    """`f`: float, `i`: signed or signless integer, `u`: unsigned integer, `b`: bool."""
    mantissa: int = 0
    """Explicit mantissa bits of a float."""

    @property
    def numpy(self) -> np.dtype:
        """The numpy type with this memory format."""
        import numpy as np

        if self.name in EXTENDED:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, self.name))
        return np.dtype(self.name)

    @property
    def rounding(self) -> float:
        """The unit roundoff: the largest relative error of rounding to nearest."""
        return 2.0 ** -(self.mantissa + 1) if self.kind == "f" else 0.0

    def __str__(self) -> str:
        return self.name


EXTENDED = {
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3",
    "float8_e3m4",
    "float8_e8m0fnu",
    "float8_e4m3b11fnuz",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
}
"""Names of types of ml_dtypes."""

ELEMENT_TYPES = (
    ElementType("f64", "float64", 64, "f", 52),
    ElementType("f32", "float32", 32, "f", 23),
    ElementType("f16", "float16", 16, "f", 10),
    ElementType("bf16", "bfloat16", 16, "f", 7),
    ElementType("f8E4M3FN", "float8_e4m3fn", 8, "f", 3),
    ElementType("f8E5M2", "float8_e5m2", 8, "f", 2),
    ElementType("f8E4M3FNUZ", "float8_e4m3fnuz", 8, "f", 3),
    ElementType("f8E5M2FNUZ", "float8_e5m2fnuz", 8, "f", 2),
    ElementType("f8E4M3", "float8_e4m3", 8, "f", 3),
    ElementType("f8E3M4", "float8_e3m4", 8, "f", 4),
    ElementType("f8E8M0FNU", "float8_e8m0fnu", 8, "f", 0),
    ElementType("f8E4M3B11FNUZ", "float8_e4m3b11fnuz", 8, "f", 3),
    ElementType("f6E2M3FN", "float6_e2m3fn", 8, "f", 3),
    ElementType("f6E3M2FN", "float6_e3m2fn", 8, "f", 2),
    ElementType("i64", "int64", 64, "i"),
    ElementType("i32", "int32", 32, "i"),
    ElementType("i16", "int16", 16, "i"),
    ElementType("i8", "int8", 8, "i"),
    ElementType("ui64", "uint64", 64, "u"),
    ElementType("ui32", "uint32", 32, "u"),
    ElementType("ui16", "uint16", 16, "u"),
    ElementType("ui8", "uint8", 8, "u"),
    ElementType("i1", "bool", 8, "b"),
    ElementType("index", "int64", 64, "i"),
)

_BY_MLIR = {t.mlir: t for t in ELEMENT_TYPES}
_BY_NAME = {t.name: t for t in reversed(ELEMENT_TYPES)}

BYTE = _BY_MLIR["i8"]
ADDRESS = _BY_MLIR["i64"]

BY_DLPACK = {
    (0, 8): "int8",
    (0, 16): "int16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 8): "uint8",
    (1, 16): "uint16",
    (1, 32): "uint32",
    (1, 64): "uint64",
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (6, 8): "bool",
    (7, 8): "float8_e3m4",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
}
"""Names in numpy by DLPack's type code and bits (`DLDataTypeCode` of dlpack.h)."""


def from_mlir(spelling: str) -> ElementType | None:
    """The element type with the MLIR name `spelling`, or None. A signed integer maps to the signless type."""
    return _BY_MLIR.get(spelling.removeprefix("s"))


def from_name(name: str) -> ElementType | None:
    """The element type with the numpy or ml_dtypes name `name`, or None."""
    return _BY_NAME.get(name)


def name_from_dlpack(code: int, bits: int, lanes: int) -> str:
    """The numpy name of a DLPack type, or a description if numpy does not have the type."""
    if lanes == 1 and (name := BY_DLPACK.get((code, bits))):
        return name
    return f"dlpack(code={code}, bits={bits}, lanes={lanes})"


def accepts(wanted: ElementType, name: str) -> bool:
    """Whether an array of the type `name` can be passed as `wanted`. A signless integer accepts signed and unsigned."""
    given = _BY_NAME.get(name)
    if given is None:
        return False
    if given.name == wanted.name:
        return True
    # A signless MLIR integer accepts unsigned arrays of the same width.
    return wanted.kind == "i" and given.kind == "u" and wanted.bits == given.bits
