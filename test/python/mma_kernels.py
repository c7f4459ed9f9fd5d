# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA's warp-level MMAs by the names of their intrinsics: fragments as in the figures of the PTX ISA, and expected
results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from helpers import Array

# ---------------------------------------------------------------------------------------------------------------------
# Types of elements
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Element:
    bits: int
    """In a register."""
    values: Callable[[Array], Array]
    """Of codes, as float64."""
    codes: Array | None
    """All codes that are numbers, or None if they are too many."""
    dtype: Any = None
    """Of numbers that are rounded to it."""
    shift: int = 0
    """Zeros below an element."""

    def random(self, random: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if self.codes is not None:
            return random.choice(self.codes, shape)
        return random.standard_normal(shape).astype(self.dtype).view(f"u{self.dtype.itemsize}").astype(np.uint64)

    def exact(self, random: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Codes of small numbers; every accumulator type represents the sums of their pairwise multiplications."""
        wanted = random.choice([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5], shape)
        if self.codes is None:
            return wanted.astype(self.dtype).view(f"u{self.dtype.itemsize}").astype(np.uint64)
        values = self.values(self.codes)
        if np.all(values == np.floor(values)):
            return random.choice(self.codes, shape)
        return np.array([self.codes[values == w][0] for w in wanted.ravel()], np.uint64).reshape(shape)


def _float(dtype: Any, bits: int, shift: int = 0) -> Element:
    dtype = np.dtype(dtype)
    if dtype.itemsize > 1:
        stored = np.dtype(f"u{dtype.itemsize}")
        return Element(bits, lambda c: c.astype(stored).view(dtype).astype(np.float64), None, dtype)
    codes = np.arange(1 << ml_dtypes.finfo(dtype).bits, dtype=np.uint64)

    def values(c: Array) -> Array:
        return c.astype(np.uint8).view(dtype).astype(np.float64)

    return Element(bits, values, codes[np.isfinite(values(codes))], dtype, shift)


def _integer(bits: int, signed: bool) -> Element:
    def values(c: Array) -> Array:
        number = c.astype(np.int64) & ((1 << bits) - 1)
        if signed:
            number = np.where(number >= 1 << (bits - 1), number - (1 << bits), number)
        return number.astype(np.float64)

    return Element(bits, values, np.arange(1 << bits, dtype=np.uint64))


def _tf32(codes: Array) -> Array:
    """The 13 low bits are not looked at."""
    return (codes.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


ELEMENTS = {
    "f16": _float(np.float16, 16),
    "bf16": _float(ml_dtypes.bfloat16, 16),
    "tf32": Element(32, _tf32, None, np.dtype(np.float32)),
    "f64": _float(np.float64, 64),
    "e4m3": _float(ml_dtypes.float8_e4m3fn, 8),
    "e5m2": _float(ml_dtypes.float8_e5m2, 8),
    "s8": _integer(8, True),
    "u8": _integer(8, False),
    "s4": _integer(4, True),
    "u4": _integer(4, False),
    "b1": _integer(1, False),
    "e2m1": _float(ml_dtypes.float4_e2m1fn, 4),
    # With .kind::f8f6f4 each has a byte: e2m1 its bits 2 to 5.
    "e2m3 in a byte": _float(ml_dtypes.float6_e2m3fn, 8),
    "e3m2 in a byte": _float(ml_dtypes.float6_e3m2fn, 8),
    "e2m1 in a byte": _float(ml_dtypes.float4_e2m1fn, 8, 2),
}
SMALL = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


def in_byte(name: str) -> Element:
    return (
        ELEMENTS[name if ELEMENTS[name].bits == 8 else f"{name} in a byte"]
        if name in ELEMENTS
        else ELEMENTS[f"{name} in a byte"]
    )


# ---------------------------------------------------------------------------------------------------------------------
# Fragments: (row, column) of element i, with g = laneid >> 2 and t = laneid % 4, as each section of the PTX ISA has it.
# For B the row is that of K. Keys are the shape of the matrix (rows of A or 0 for B, K) and the bits of an element.
# ---------------------------------------------------------------------------------------------------------------------

Place = Callable[[int, int, int], tuple[int, int]]

A_POSITIONS: dict[tuple[int, int, int], Place] = {
    (8, 4, 64): lambda g, t, i: (g, t),
    (16, 4, 64): lambda g, t, i: (g if i == 0 else g + 8, t),
    (16, 8, 64): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    (16, 16, 64): lambda g, t, i: (g if i % 2 == 0 else g + 8, i * 2 + t if i % 2 == 0 else i * 2 - 2 + t),
    (16, 4, 32): lambda g, t, i: (g if i == 0 else g + 8, t),
    (16, 8, 32): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    (16, 8, 16): lambda g, t, i: (g if i in (0, 1) else g + 8, t * 2 + (i & 1)),
    (16, 16, 16): lambda g, t, i: (
        g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
    ),
    (8, 16, 8): lambda g, t, i: (g, t * 4 + i),
    (16, 16, 8): lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    (16, 32, 8): lambda g, t, i: (
        g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
    ),
    (8, 32, 4): lambda g, t, i: (g, t * 8 + i),
    (16, 32, 4): lambda g, t, i: (g if i < 8 else g + 8, t * 8 + (i & 7)),
    (16, 64, 4): lambda g, t, i: (
        g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        t * 8 + (i & 7) if i < 16 else t * 8 + (i & 7) + 32,
    ),
    (8, 128, 1): lambda g, t, i: (g, t * 32 + i),
    (16, 128, 1): lambda g, t, i: (g if i < 32 else g + 8, t * 32 + (i & 31)),
    (16, 256, 1): lambda g, t, i: (
        g if i < 32 or 64 <= i < 96 else g + 8,
        t * 32 + (i & 31) if i < 64 else t * 32 + (i & 31) + 128,
    ),
}
B_POSITIONS: dict[tuple[int, int], Place] = {
    (4, 64): lambda g, t, i: (t, g),
    (8, 64): lambda g, t, i: (t if i == 0 else t + 4, g),
    (16, 64): lambda g, t, i: (t + i * 4, g),
    (4, 32): lambda g, t, i: (t, g),
    (8, 32): lambda g, t, i: (t if i == 0 else t + 4, g),
    (16, 32): lambda g, t, i: ((t, t + 4, t + 8, t + 12)[i], g),
    (8, 16): lambda g, t, i: (t * 2 + i, g),
    (16, 16): lambda g, t, i: (t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8, g),
    (32, 16): lambda g, t, i: (t * 2 + (i & 1) + (0, 8, 16, 24)[i // 2], g),
    (16, 8): lambda g, t, i: (t * 4 + i, g),
    (32, 8): lambda g, t, i: (t * 4 + (i & 3) if i < 4 else t * 4 + (i & 3) + 16, g),
    (64, 8): lambda g, t, i: (t * 4 + (i & 3) + (0, 16, 32, 48)[i // 4], g),
    (32, 4): lambda g, t, i: (t * 8 + i, g),
    (64, 4): lambda g, t, i: (t * 8 + (i & 7) if i < 8 else t * 8 + (i & 7) + 32, g),
    (128, 4): lambda g, t, i: (t * 8 + (i & 7) + (0, 32, 64, 96)[i // 8], g),
    (128, 1): lambda g, t, i: (t * 32 + i, g),
    (256, 1): lambda g, t, i: (t * 32 + (i & 31) if i < 32 else t * 32 + (i & 31) + 128, g),
}
C_POSITIONS: dict[int, Place] = {
    8: lambda g, t, i: (g, t * 2 + i),
    16: lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
}


def registers(matrix: Array, place: Place, bits: int, shift: int = 0) -> list[Array]:
    """The registers of 32 lanes (64 bits for f64), one array each."""
    width = max(bits, 32)
    count = matrix.size // 32 * bits // width
    made = np.zeros((count, 32), np.uint64)
    for lane in range(32):
        for i in range(matrix.size // 32):
            element = int(matrix[place(lane >> 2, lane % 4, i)]) << shift
            bit = i * bits
            made[bit // width, lane] |= np.uint64(element << (bit % width))
    return list(made.astype(np.uint64 if width == 64 else np.uint32))


def scattered(matrix: Array, place: Place) -> list[Array]:
    """Element i of each lane, one array each."""
    return [
        np.array([matrix[place(lane >> 2, lane % 4, i)] for lane in range(32)], matrix.dtype)
        for i in range(matrix.size // 32)
    ]


def gathered(fields: list[Array], place: Place, rows: int) -> Array:
    flat = [column for f in fields for column in (f.T if f.ndim == 2 else [f])]
    made = np.zeros((rows, 8), flat[0].dtype)
    for lane in range(32):
        for i, values in enumerate(flat):
            made[place(lane >> 2, lane % 4, i)] = values[lane]
    return made


# ---------------------------------------------------------------------------------------------------------------------
# Sparse A (PTX ISA, "Sparse matrix storage")
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sparsity:
    chunk: int
    """Columns that four bits of metadata tell of."""
    unit: int
    """Elements that go together."""
    ordered: bool

    def draw(self, random: np.random.Generator, rows: int, k: int) -> tuple[Array, Array]:
        """For each chunk its four bits, and for each stored element its column."""
        chunks = k // self.chunk
        bits = np.zeros((rows, chunks), np.uint32)
        columns = np.zeros((rows, k // 2), np.int64)
        for row in range(rows):
            for c in range(chunks):
                if self.chunk == 2:
                    which = int(random.integers(2))
                    bits[row, c] = (0b0100, 0b1110)[which]
                    columns[row, c] = 2 * c + which
                    continue
                first, second = random.permutation(4)[:2]
                if self.ordered and second < first:
                    first, second = second, first
                bits[row, c] = first | second << 2
                taken = [u * self.unit + e for u in (first, second) for e in range(self.unit)]
                at = c * self.chunk // 2
                columns[row, at : at + len(taken)] = [c * self.chunk + column for column in taken]
        return bits, columns


def metadata(bits: Array, halves: bool, selector: int) -> Array:
    """The metadata of 32 lanes: Tk: [m..n] in the figures. Those that are not chosen hold what must not be read."""
    rows, chunks = bits.shape
    made = np.full(32, 0xDEADBEEF, np.uint32)

    def packed(values: Array) -> int:
        return int(sum(int(v) << (4 * i) for i, v in enumerate(values)))

    for g in range(8):
        upper, lower = bits[g], bits[g + 8]
        if halves and chunks == 4:  # One lane has row g in its low half, row g + 8 in its high half.
            lanes = [packed(upper) | packed(lower) << 16]
        elif halves:  # Two lanes have half of the columns each.
            lanes = [packed(upper[h : h + 4]) | packed(lower[h : h + 4]) << 16 for h in (0, 4)]
        elif chunks == 8:  # Two lanes have a row each.
            lanes = [packed(upper), packed(lower)]
        else:  # Four lanes: a row each, for half of the columns.
            lanes = [packed(half) for h in (0, 8) for half in (upper[h : h + 8], lower[h : h + 8])]
        for i, value in enumerate(lanes):
            made[4 * g + len(lanes) * selector + i] = value
    assert rows == 16
    return made


# ---------------------------------------------------------------------------------------------------------------------
# Cases
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mma:
    m: int
    k: int
    a: str
    b: str
    accumulator: str
    operand: str = "i32"
    """The type of A's and B's registers."""
    saturate: bool = False
    sparse: Sparsity | None = None
    halves: bool = False
    scale: str = ""
    blocks: int = 0


def _shape(m: int, k: int) -> str:
    return f"m{m}n8k{k}"


CASES: dict[str, Mma] = {}


def _add(name: str, *fields: Any, **more: Any) -> None:
    CASES[f"llvm.nvvm.mma.{name}"] = Mma(*fields, **more)


for _k in (8, 16):
    for _c, _acc in (("f16", "f16"), ("f32", "f32")):
        _add(f"{_shape(16, _k)}.row.col.{_c}.{_c}", 16, _k, "f16", "f16", _acc, "<2 x half>")
    _add(f"{_shape(16, _k)}.row.col.bf16", 16, _k, "bf16", "bf16", "f32")
for _k in (4, 8):
    _add(f"{_shape(16, _k)}.row.col.tf32", 16, _k, "tf32", "tf32", "f32")
for _m, _k in ((8, 4), (16, 4), (16, 8), (16, 16)):
    _add(f"{_shape(_m, _k)}.row.col.f64", _m, _k, "f64", "f64", "f64", "double")
for _a in ("e4m3", "e5m2"):
    for _b in ("e4m3", "e5m2"):
        for _k in (16, 32):
            for _acc in ("f16", "f32"):
                _add(f"{_shape(16, _k)}.row.col.{_acc}.{_a}.{_b}.{_acc}", 16, _k, _a, _b, _acc)
        for _prefix, _ordered in (("sp", False), ("sp.ordered.metadata", True)):
            _add(
                f"{_prefix}.m16n8k64.row.col.f32.{_a}.{_b}.f32", 16, 64, _a, _b, "f32", sparse=Sparsity(4, 1, _ordered)
            )
for _bits, _shapes, _sparse_shapes in (
    (8, ((8, 16), (16, 16), (16, 32)), ((16, 32), (16, 64))),
    (4, ((8, 32), (16, 32), (16, 64)), ((16, 64), (16, 128))),
):
    for _a in (f"s{_bits}", f"u{_bits}"):
        for _b in (f"s{_bits}", f"u{_bits}"):
            _pair = _a if _a == _b else f"{_a}.{_b}"
            for _sat in (False, True):
                _end = f".row.col.{'satfinite.' if _sat else ''}{_pair}"
                for _m, _k in _shapes:
                    _add(_shape(_m, _k) + _end, _m, _k, _a, _b, "s32", saturate=_sat)
                for _m, _k in _sparse_shapes:
                    for _prefix, _ordered in (("sp", False), ("sp.ordered.metadata", True)):
                        _kind = Sparsity(4, 1, _ordered) if _bits == 8 else Sparsity(8, 2, _ordered)
                        _name = f"{_prefix}.{_shape(_m, _k)}{_end}"
                        _add(_name, _m, _k, _a, _b, "s32", saturate=_sat, sparse=_kind)
for _prefix, _ordered in (("sp", False), ("sp.ordered.metadata", True)):
    for _k in (16, 32):
        _two_of_four = {"sparse": Sparsity(4, 1, _ordered), "halves": True}
        for _c in ("f16", "f32"):
            _name = f"{_prefix}.{_shape(16, _k)}.row.col.{_c}.{_c}"
            _add(_name, 16, _k, "f16", "f16", _c, "<2 x half>", **_two_of_four)
        _add(f"{_prefix}.{_shape(16, _k)}.row.col.bf16", 16, _k, "bf16", "bf16", "f32", **_two_of_four)
    for _k in (8, 16):
        _name = f"{_prefix}.{_shape(16, _k)}.row.col.tf32"
        _add(_name, 16, _k, "tf32", "tf32", "f32", sparse=Sparsity(2, 1, _ordered), halves=True)
for _op in ("and", "xor"):
    for _m, _k in ((8, 128), (16, 128), (16, 256)):
        _add(f"{_op}.popc.{_shape(_m, _k)}.row.col.b1", _m, _k, "b1", "b1", "s32")
for _a in SMALL:
    for _b in SMALL:
        for _acc in ("f16", "f32"):
            _add(f"m16n8k32.row.col.kind.f8f6f4.{_acc}.{_a}.{_b}.{_acc}", 16, 32, _a, _b, _acc)
            _name = f"sp.ordered.metadata.m16n8k64.row.col.kind.f8f6f4.{_acc}.{_a}.{_b}.{_acc}"
            _add(_name, 16, 64, _a, _b, _acc, sparse=Sparsity(4, 1, True))
        for _vector in ("", ".scale.1x"):
            _end = f"row.col.mxf8f6f4{_vector}.f32.{_a}.{_b}.f32.ue8m0"
            _add(f"block.scale.m16n8k32.{_end}", 16, 32, _a, _b, "f32", scale="ue8m0", blocks=1)
            _name = f"sp.ordered.metadata.block.scale.m16n8k64.{_end}"
            _add(_name, 16, 64, _a, _b, "f32", scale="ue8m0", blocks=1, sparse=Sparsity(4, 1, True))
for _kind_name, _scale, _blocks in (
    ("mxf4", "ue8m0", 2),
    ("mxf4.scale.2x", "ue8m0", 2),
    ("mxf4nvf4.scale.2x", "ue8m0", 2),
    ("mxf4nvf4.scale.4x", "ue4m3", 4),
):
    _end = f"row.col.{_kind_name}.f32.e2m1.e2m1.f32.{_scale}"
    _add(f"block.scale.m16n8k64.{_end}", 16, 64, "e2m1", "e2m1", "f32", scale=_scale, blocks=_blocks)
    _name = f"sp.ordered.metadata.block.scale.m16n8k128.{_end}"
    _add(_name, 16, 128, "e2m1", "e2m1", "f32", scale=_scale, blocks=_blocks, sparse=Sparsity(8, 2, True))

ACCUMULATORS: dict[str, tuple[str, Any]] = {
    "f16": ("<2 x half>", np.float16),
    "f32": ("float", np.float32),
    "f64": ("double", np.float64),
    "s32": ("i32", np.int32),
}


def elements_of(name: str, mma: Mma) -> tuple[Element, Element]:
    if "f8f6f4" in name:
        return in_byte(mma.a), in_byte(mma.b)
    return ELEMENTS[mma.a], ELEMENTS[mma.b]


def _scales(random: np.random.Generator, mma: Mma, rows: int, exact: bool) -> tuple[list[Any], Array]:
    """The operands of a scale, and the scales of each row of A or column of B as numbers."""
    if mma.scale == "ue8m0":
        codes = random.integers(126 if exact else 117, 129 if exact else 138, (rows, mma.blocks))
        values = 2.0 ** (codes - 127)
    else:
        codes = random.integers(0x30, 0x48, (rows, mma.blocks)) & (0x78 if exact else 0x7F)
        values = codes.astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    lanes = rows // 8
    thread = int(random.integers(4 // lanes))
    byte = int(random.integers(4 // mma.blocks)) * mma.blocks
    made = np.full((32, 4), 0xFF, np.uint8)
    for row in range(rows):
        made[4 * (row % 8) + lanes * thread + row // 8, byte : byte + mma.blocks] = codes[row]
    operands = [("i32", made.view(np.uint32).reshape(-1)), ("i16", byte), ("i16", thread)]
    return operands, values


def drawn(name: str, random: np.random.Generator, exact: bool) -> tuple[list[tuple[str, Any]], list[Array], Array]:
    """Operands of an intrinsic, types with what each lane has or an immediate; C as it is in its registers; and what
    must be computed in float64."""
    mma = CASES[name]
    m, k = mma.m, mma.k
    of_a, of_b = elements_of(name, mma)
    draw = Element.exact if exact else Element.random
    stored_k = k // 2 if mma.sparse else k
    stored = draw(of_a, random, (m, stored_k))
    b = draw(of_b, random, (k, 8))
    c_type, c_dtype = ACCUMULATORS[mma.accumulator]
    if mma.accumulator == "s32":
        near = 2**31 - 1 - 100 if mma.saturate else 1000
        c = random.integers(-near - 100, near + 100, (m, 8), endpoint=True).astype(c_dtype)
        if not exact:
            # Sums beyond what 32 bits hold.
            c = random.choice(np.array([2**31 - 1, -(2**31)], np.int64), (m, 8)).astype(c_dtype)
    else:
        c = random.integers(-8, 8, (m, 8)).astype(c_dtype) if exact else random.standard_normal((m, 8)).astype(c_dtype)
    a_values = of_a.values(stored)
    tail: list[Any] = []
    if mma.sparse:
        bits, columns = mma.sparse.draw(random, m, k)
        full = np.zeros((m, k))
        np.put_along_axis(full, columns, a_values, 1)
        a_values = full
        lanes = k // mma.sparse.chunk // 4
        selector = int(random.integers(4 // lanes))
        tail = [("i32", metadata(bits, mma.halves, selector)), ("i32", selector)]
    b_values = of_b.values(b)
    if mma.scale:
        for matrix, rows, axis in ((a_values, m, 1), (b_values, 8, 0)):
            operands, scales = _scales(random, mma, rows, exact)
            tail += operands
            matrix *= np.repeat(scales if axis == 1 else scales.T, k // mma.blocks, axis)
    if "popc" in name:
        both = np.logical_and if ".and." in name else np.logical_xor
        terms = both(a_values[:, :, None], b_values[None, :, :]).sum(1)
    else:
        terms = a_values @ b_values
    a_registers = registers(stored, A_POSITIONS[m, stored_k, of_a.bits], of_a.bits, of_a.shift)
    b_registers = registers(b, B_POSITIONS[k, of_b.bits], of_b.bits, of_b.shift)
    c_elements = scattered(c, C_POSITIONS[m])
    if mma.accumulator == "f16":
        c_elements = [np.stack(pair, 1) for pair in zip(c_elements[::2], c_elements[1::2], strict=True)]
    operands = [(mma.operand, r) for r in a_registers + b_registers] + [(c_type, e) for e in c_elements] + tail
    return operands, c_elements, terms + c.astype(np.float64)


def group_of(name: str) -> str:
    """The shape and the types of an MMA without its layouts."""
    return name.removeprefix("llvm.nvvm.mma.").split(".row.col")[0]


def check(result: Array, name: str, expected: Array, exact: bool) -> None:
    """Compares a matmul with float64, in the type of its accumulator."""
    mma, dtype = CASES[name], result.dtype
    if mma.accumulator == "s32":
        sums = expected.astype(np.int64)
        sums = np.clip(sums, -(2**31), 2**31 - 1) if mma.saturate else sums
        np.testing.assert_array_equal(result, sums.astype(np.int32), name)
    elif exact:
        np.testing.assert_array_equal(result, expected.astype(dtype), name)
    else:
        epsilon = float(np.finfo(dtype).eps)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(
                result, expected.astype(dtype), 2 * epsilon, 64 * np.finfo(np.float64).eps, err_msg=name
            )
