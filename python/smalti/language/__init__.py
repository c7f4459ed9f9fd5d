# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for kernels in Python: `import smalti.language as sl`.

Tiles and scalars have the operators of numpy. docs/python-kernels.md describes the language; the docstring of each function
has its shapes, element types and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from ..settings import suggestion
from .arithmetic import abs_ as abs
from .arithmetic import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitcast,
    cbrt,
    cdiv,
    ceil,
    clamp,
    copysign,
    cos,
    cosh,
    count_leading_zeros,
    count_trailing_zeros,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    fma,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    maximum,
    minimum,
    popcount,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    to,
    trunc,
    where,
)
from .arithmetic import round_ as round
from .debugging import assume, check, multiple_of, random_bits, random_uniform
from .debugging import print_ as print
from .external import external, inline_asm
from .grid import num_tiles, tile_id
from .kernel import PythonKernel, kernel
from .loops import Range as range  # noqa: N813
from .loops import static_range
from .matmul import dot, dot_scaled, sparse_dot
from .parameters import constexpr
from .reductions import all_ as all
from .reductions import any_ as any
from .reductions import (
    argmax,
    argmin,
    cumprod,
    cumsum,
    histogram,
    mean,
    prod,
    reduce,
    scan,
    softmax,
    sort,
)
from .reductions import max_ as max
from .reductions import min_ as min
from .reductions import sum_ as sum
from .shapes import (
    arange,
    broadcast,
    concat,
    expand_dims,
    full,
    gather,
    iota,
    mask,
    ones,
    reshape,
    split,
    squeeze,
    stack,
    transpose,
    zeros,
)
from .types import DType, dtype
from .values import Scalar, Tile
from .windows import Window

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from .values import Array as _Array

    _Element = TypeVar("_Element", default=Any)

    class _TypedArray(_Array, Generic[_Element]): ...

    # A kernel has the signature of its function, and is called with arrays of other libraries.
    Array: TypeAlias = _TypedArray[_Element] | Any

    # Element types are annotations of scalars too: `n: sl.int32`. A type checker accepts any operation on them.
    bfloat16: TypeAlias = Any
    bool: TypeAlias = Any
    boolean: TypeAlias = Any
    float4_e2m1fn: TypeAlias = Any
    float6_e2m3fn: TypeAlias = Any
    float6_e3m2fn: TypeAlias = Any
    float8_e4m3fn: TypeAlias = Any
    float8_e4m3fnuz: TypeAlias = Any
    float8_e5m2: TypeAlias = Any
    float8_e5m2fnuz: TypeAlias = Any
    float8_e8m0fnu: TypeAlias = Any
    float16: TypeAlias = Any
    float32: TypeAlias = Any
    float64: TypeAlias = Any
    index: TypeAlias = Any
    int2: TypeAlias = Any
    int4: TypeAlias = Any
    int8: TypeAlias = Any
    int16: TypeAlias = Any
    int32: TypeAlias = Any
    int64: TypeAlias = Any
    uint8: TypeAlias = Any
    uint16: TypeAlias = Any
    uint32: TypeAlias = Any
    uint64: TypeAlias = Any
else:
    from .types import (
        bfloat16,
        boolean,
        float4_e2m1fn,
        float6_e2m3fn,
        float6_e3m2fn,
        float8_e4m3fn,
        float8_e4m3fnuz,
        float8_e5m2,
        float8_e5m2fnuz,
        float8_e8m0fnu,
        float16,
        float32,
        float64,
        index,
        int2,
        int4,
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
    )
    from .types import boolean as bool
    from .values import Array

    _OTHER_NAMES = {"program_id": "tile_id", "num_programs": "num_tiles", "bid": "tile_id", "num_blocks": "num_tiles"}
    """Names in Triton and cuTile."""

    def __getattr__(name: str) -> Any:
        hint = None if name.startswith("__") else suggestion(_OTHER_NAMES.get(name, name), __all__)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'" + (f"; {hint}" if hint else ""))


__all__ = [
    "Array",
    "DType",
    "PythonKernel",
    "Scalar",
    "Tile",
    "Window",
    "abs",
    "acos",
    "acosh",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "assume",
    "atan",
    "atan2",
    "atanh",
    "bfloat16",
    "bitcast",
    "bool",
    "boolean",
    "broadcast",
    "cbrt",
    "cdiv",
    "ceil",
    "check",
    "clamp",
    "concat",
    "constexpr",
    "copysign",
    "cos",
    "cosh",
    "count_leading_zeros",
    "count_trailing_zeros",
    "cumprod",
    "cumsum",
    "dot",
    "dot_scaled",
    "dtype",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "external",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "floor",
    "fma",
    "full",
    "gather",
    "histogram",
    "index",
    "inline_asm",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "iota",
    "isfinite",
    "isinf",
    "isnan",
    "kernel",
    "log",
    "log1p",
    "log2",
    "log10",
    "mask",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiple_of",
    "num_tiles",
    "ones",
    "popcount",
    "print",
    "prod",
    "random_bits",
    "random_uniform",
    "range",
    "reduce",
    "reshape",
    "round",
    "rsqrt",
    "scan",
    "sigmoid",
    "sin",
    "sinh",
    "softmax",
    "sort",
    "sparse_dot",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "static_range",
    "sum",
    "tan",
    "tanh",
    "tile_id",
    "to",
    "transpose",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "where",
    "zeros",
]
