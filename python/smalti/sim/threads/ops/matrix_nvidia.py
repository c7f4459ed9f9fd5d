"""Matrices of a warp on NVIDIA: `ldmatrix`, `stmatrix` and `mma.sync`, on fragments as the PTX ISA has them.

What the PTX ISA leaves open of sums is done as the emulator does it: products are exact, sums of float64, rounded once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import dtypes, ir
from ...matmul import truncate_to_tf32
from ...program import Site, Step, Unsupported, attribute
from ...values import numpy_type
from ..code import ThreadTranslator, operation
from ..lanes import Array, dtype_of, rank_of, spread
from .gpu import whole_warps
from .llvm import address_space, pointee

LANES = 32
COLUMNS = 8
"""Of the accumulator."""
ROW = 16
"""Bytes of a row of a matrix in shared memory."""

# ---------------------------------------------------------------------------------------------------------------------
# Types of multiplicands
# ---------------------------------------------------------------------------------------------------------------------


def _of(element: str) -> Callable[[Array], Array]:
    known = dtypes.from_mlir(element)
    assert known is not None
    dtype = known.numpy

    def read(words: Array) -> Array:
        found = words.view(dtype)
        return found.astype(np.int64) if found.dtype.kind in "iu" else found.astype(np.float64)

    return read


def _tf32(words: Array) -> Array:
    return truncate_to_tf32(words.view(np.float32)).astype(np.float64)


def _nibbles(signed: bool) -> Callable[[Array], Array]:
    def read(words: Array) -> Array:
        low, high = words & 15, words >> 4
        found = np.stack([low, high], -1).reshape(*words.shape[:-1], -1).astype(np.int64)
        return np.where(found >= 8, found - 16, found) if signed else found

    return read


_READERS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "f64": (64, _of("f64")),
    "tf32": (32, _tf32),
    "f16": (16, _of("f16")),
    "bf16": (16, _of("bf16")),
    "e4m3": (8, _of("f8E4M3FN")),
    "e5m2": (8, _of("f8E5M2")),
    "s8": (8, _of("i8")),
    "u8": (8, _of("ui8")),
    "s4": (4, _nibbles(True)),
    "u4": (4, _nibbles(False)),
}
"""For each type its bits, and what the bytes of registers are as numbers."""

_OF_ELEMENTS = {"f64": "f64", "f32": "tf32", "f16": "f16", "bf16": "bf16", "i8": "s8"}
_OF_ELEMENTS |= {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "i4": "s4"}

# ---------------------------------------------------------------------------------------------------------------------
# Fragments
# ---------------------------------------------------------------------------------------------------------------------


def rows_of_a(elements: Array, m: int) -> Array:
    """The m x k matrix that the elements of `[lanes, registers, elements]` are of each warp.

    Lane 4 * g + t has row g, and g + 8 of m = 16, of the elements t of each row's chunks of four registers.
    """
    halves = m // 8
    lanes, registers, width = elements.shape
    found = elements.reshape(lanes // LANES, 8, 4, registers // halves, halves, width)
    return found.transpose(0, 4, 1, 3, 2, 5).reshape(lanes // LANES, m, -1)


def columns_of_b(elements: Array) -> Array:
    """The k x 8 matrix of each warp: lane 4 * g + t has column g."""
    lanes, registers, width = elements.shape
    found = elements.reshape(lanes // LANES, 8, 4, registers, width)
    return found.transpose(0, 3, 2, 4, 1).reshape(lanes // LANES, -1, COLUMNS)


def accumulator_of(elements: Array, m: int) -> Array:
    """The m x 8 matrix of each warp: lane 4 * g + t has columns 2 * t and the next of row g, then of row g + 8."""
    warps = len(elements) // LANES
    return elements.reshape(warps, 8, 4, m // 8, 2).transpose(0, 3, 1, 2, 4).reshape(warps, m, COLUMNS)


def registers_of(accumulator: Array) -> Array:
    """What `accumulator_of` reads, with the lane in front."""
    warps, m, _ = accumulator.shape
    found = accumulator.reshape(warps, m // 8, 8, 4, 2).transpose(0, 2, 3, 1, 4)
    return found.reshape(warps * LANES, m // 4)


def _multiply(a: Array, b: Array, c: Array, dtype: np.dtype[Any], saturate: bool) -> Array:
    if dtype.kind == "i":
        # Up to 128 products of 16 bits: float64 has them exactly.
        total = c.astype(np.int64) + np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
        if saturate:
            limits = np.iinfo(dtype)
            total = np.clip(total, limits.min, limits.max)
        return total.astype(dtype)
    with np.errstate(all="ignore"):
        return (np.matmul(a, b) + c).astype(dtype)


# ---------------------------------------------------------------------------------------------------------------------
# mma.sync
# ---------------------------------------------------------------------------------------------------------------------


def _words(registers: list[Array], bits: int) -> Array:
    """The bytes of 32 (or 64) bits of each register."""
    size = max(bits, 32) // 8
    rows = [np.ascontiguousarray(register).view(np.uint8).reshape(len(register), size) for register in registers]
    return np.stack(rows, 1)


def _product(m: int, k: int, kinds: tuple[str, str], counts: tuple[int, int]) -> Callable[..., Array]:
    """A function from the bytes of A's and B's registers and the accumulators' elements to those of the result."""
    if m not in (8, 16):
        raise Unsupported(f"products of {m} rows")
    readers = []
    for kind, count, rows in zip(kinds, counts, (m, COLUMNS), strict=True):
        if kind not in _READERS:
            raise Unsupported(f"products of {kind}")
        bits, read = _READERS[kind]
        if count * LANES * max(bits, 32) != rows * k * bits:
            raise Unsupported(f"{count} registers a thread of a matrix of {rows} x {k} numbers of {bits} bits")
        readers.append(read)

    def multiply(a: Array, b: Array, c: Array, dtype: np.dtype[Any], saturate: bool = False) -> Array:
        left = rows_of_a(readers[0](a), m)
        right = columns_of_b(readers[1](b))
        wide = np.float64 if dtype.kind != "i" else dtype
        return registers_of(_multiply(left, right, accumulator_of(c.astype(wide), m), dtype, saturate))

    return multiply


@operation("nvgpu.mma.sync")
def _nvgpu_mma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, n, k = attribute(op, "mmaShape")
    kinds: list[Any] = [dtype_of(ty) for ty in types]
    if n != COLUMNS or any(dtype is None for dtype in kinds):
        raise Unsupported(f"a product of {types[0]} and {types[1]}")
    element = str(types[0].element_type)
    kind = _OF_ELEMENTS.get(element, element)
    if kind == "tf32" and "tf32Enabled" not in op.attributes:
        raise Unsupported("f32 without tf32Enabled: the chip has no such product")
    multiply = _product(m, k, (kind, kind), (types[0].shape[0], types[1].shape[0]))
    shape = tuple(types[2].shape)
    dtype: Any = kinds[2]

    def step(st: Any) -> None:
        whole_warps(st, "a product", site)
        a, b, c = (spread(st.v[slot], of, st.lanes, 2) for slot, of in zip(slots, kinds, strict=True))
        found = multiply(
            *(np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape[:2], -1) for x in (a, b)),
            c.reshape(st.lanes, -1),
            dtype,
        )
        st.v[result] = found.reshape(st.lanes, *shape)

    return step


def _mma_kind(op: Any, name: str, operand: Any) -> str:
    if name in op.attributes:
        found = re.search(r"<(\w+)>", str(op.attributes[name]))
        assert found
        return found[1]
    return str(operand.type.element_type if isinstance(operand.type, ir.VectorType) else operand.type)


@operation("nvvm.mma.sync")
def _nvvm_mma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    m, n, k = (int(x) for x in re.findall(r"= (\d+)", str(op.attributes["shape"])))
    of_a, of_b, _ = attribute(op, "operandSegmentSizes")
    if n != COLUMNS or "b1Op" in op.attributes or "layoutA = col" in str(op) or ((m, k) == (8, 4) and of_a == 2):
        raise Unsupported(f"a product of {m} x {n} x {k}")
    kinds = (
        _mma_kind(op, "multiplicandAPtxType", op.operands[0]),
        _mma_kind(op, "multiplicandBPtxType", op.operands[of_a]),
    )
    multiply = _product(m, k, kinds, (of_a, of_b))
    saturate = "satfinite" in str(op)
    bits = [_READERS[kind][0] for kind in kinds]
    parts = re.search(r"struct<\((.*)\)>", str(op.results[0].type))
    assert parts, "the verifier asks for a structure"
    # The structure is of numbers, or of pairs of f16.
    of_pairs = "vector" in parts[1]
    sums = np.dtype(np.float16) if of_pairs else numpy_type(ir.Type.parse(parts[1].split(",")[0], op.context))
    types: list[Any] = [operand.type for operand in op.operands]
    ranks = [rank_of(ty) for ty in types]
    registers: list[Any] = [dtype_of(ty) for ty in types]
    if sums is None or any(dtype is None for dtype in registers):
        raise Unsupported(f"a product with the result {op.results[0].type}")

    def step(st: Any) -> None:
        whole_warps(st, "a product", site)
        values = [
            spread(st.v[slot], dtype, st.lanes, rank) for slot, dtype, rank in zip(slots, registers, ranks, strict=True)
        ]
        a, b, c = values[:of_a], values[of_a : of_a + of_b], values[of_a + of_b :]
        before = np.stack(c, 1).reshape(st.lanes, -1)
        found = multiply(_words(a, bits[0]), _words(b, bits[1]), before, sums, saturate)
        if of_pairs:
            found = found.reshape(st.lanes, -1, 2)
        st.v[result] = tuple(found[:, i] for i in range(found.shape[1]))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# ldmatrix and stmatrix
# ---------------------------------------------------------------------------------------------------------------------


def _rows(st: Any, buffer: Any, first: Any, count: int, site: Site, what: str) -> tuple[Array, Array]:
    """The lanes that give addresses of rows, 8 for each of `count` matrices, and the first bytes of all lanes."""
    whole_warps(st, what, site)
    at = spread(first, np.dtype(np.int64), st.lanes)
    mask = np.arange(st.lanes) % LANES < 8 * count
    skew = mask & (at % ROW != 0)
    if skew.any():
        lane = int(np.flatnonzero(skew)[0])
        st.report(
            "assertion",
            f"{what}: the row at byte {int(at[lane])} of {buffer.name} is not aligned to {ROW} bytes",
            site,
            lane,
        )
    return mask, at


def _load_matrices(st: Any, buffer: Any, first: Any, count: int, transposed: bool, site: Site) -> Array:
    """The registers, as bytes `[lanes, count, 4]`."""
    mask, at = _rows(st, buffer, first, count, site, "ldmatrix")
    grain = buffer.grain
    unit = np.dtype(f"u{min(grain, 8)}")
    steps = np.arange(0, ROW, unit.itemsize)
    found = st.load_bytes(buffer, at, steps, unit, (len(steps),), mask, site, "ldmatrix")
    found = np.ascontiguousarray(spread(found, unit, st.lanes, 1))
    rows = found.view(np.uint16).reshape(-1, 4, 8, 8)[:, :count]
    # [warp, matrix, row, column]; a lane gets a pair of a row, or of a column.
    if transposed:
        rows = rows.transpose(0, 1, 3, 2)
    pairs = rows.reshape(-1, count, 8, 4, 2).transpose(0, 2, 3, 1, 4)
    return np.ascontiguousarray(pairs).reshape(st.lanes, count, 2).view(np.uint8)


def _store_matrices(st: Any, buffer: Any, first: Any, registers: Array, transposed: bool, site: Site) -> None:
    """Stores registers that are bytes `[lanes, count, 4]`."""
    count = registers.shape[1]
    mask, at = _rows(st, buffer, first, count, site, "stmatrix")
    pairs = np.ascontiguousarray(registers).view(np.uint16).reshape(-1, 8, 4, count, 2)
    rows = pairs.transpose(0, 3, 1, 2, 4).reshape(-1, count, 8, 8)
    if transposed:
        rows = rows.transpose(0, 1, 3, 2)
    full = np.zeros((len(rows), 4, 8, 8), np.uint16)
    full[:, :count] = rows
    unit = np.dtype(f"u{min(buffer.grain, 8)}")
    values = full.reshape(st.lanes, 8).view(unit)
    st.store_bytes(
        buffer, at, np.arange(0, ROW, unit.itemsize), unit, values, (values.shape[1],), mask, site, "stmatrix"
    )


@operation("nvgpu.ldmatrix")
def _nvgpu_ldmatrix(op: Any, tr: ThreadTranslator) -> Step:
    source, *indices = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    count, transposed = attribute(op, "numTiles"), attribute(op, "transpose", False)
    ty: Any = op.operands[0].type
    shape = tuple(op.results[0].type.shape)
    dtype = numpy_type(ty.element_type)
    if dtype is None or (transposed and dtype.itemsize != 2):
        raise Unsupported(f"matrices of {ty.element_type}")
    tr.uses(ty)
    length = ROW // dtype.itemsize

    def step(st: Any) -> None:
        view = st.v[source]
        before = st.mask
        whole_warps(st, "ldmatrix", site)
        # The other lanes give no addresses.
        st.mask = np.arange(st.lanes) % LANES < 8 * count
        first, _ = st.locate(view, [st.v[i] for i in indices], (length,), site, "ldmatrix", False)
        st.mask = before
        found = _load_matrices(st, view.buffer, first, count, transposed, site)
        st.v[result] = found.view(dtype).reshape(st.lanes, *shape)

    return step


_SHAPE = re.compile(r"m = (\d+), n = (\d+)")


def _matrices_of_8(op: Any) -> None:
    found = _SHAPE.search(str(op.attributes["shape"]))
    if found is None or found.groups() != ("8", "8") or "b16" not in str(op.attributes["eltType"]):
        raise Unsupported(f"matrices {op.attributes['shape']} of {op.attributes['eltType']}")


@operation("nvvm.ldmatrix")
def _nvvm_ldmatrix(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    _matrices_of_8(op)
    count, transposed = attribute(op, "num"), "col" in str(op.attributes["layout"])
    space = address_space(op.operands[0].type)
    tr.uses_shared(2)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[source], space, site, "ldmatrix")
        found = _load_matrices(st, buffer, first, count, transposed, site).view(np.int32)[..., 0]
        st.v[result] = found[:, 0] if count == 1 else tuple(found[:, i] for i in range(count))

    return step


@operation("nvvm.stmatrix")
def _nvvm_stmatrix(op: Any, tr: ThreadTranslator) -> Step:
    target, *sources = tr.operands(op)
    site = tr.site(op)
    _matrices_of_8(op)
    transposed = "col" in str(op.attributes["layout"])
    space = address_space(op.operands[0].type)
    tr.uses_shared(2)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[target], space, site, "stmatrix")
        values = [spread(st.v[slot], np.dtype(np.int32), st.lanes) for slot in sources]
        registers = np.ascontiguousarray(np.stack(values, 1)).view(np.uint8).reshape(st.lanes, len(sources), 4)
        _store_matrices(st, buffer, first, registers, transposed, site)

    return step
