# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp-level matrix instructions of NVIDIA: `ldmatrix`, `stmatrix` and `mma.sync`, on the fragments of the PTX ISA."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..... import ir
from .....diagnostics import counted
from ....machine.findings import Site
from ....machine.values import numpy_type, packed
from ....translation.translator import Step, Unsupported, attribute
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.elements import COLUMNS, LANES, READERS, columns_of_b, registers_of, rounded_sum, rows_of_a
from ...execution.lanes import Array, dtype_of, held_dtype, rank_of, spread
from ..arithmetic.llvm import address_space, pointee
from ..collective.gpu import whole_warps

ROW = 16
"""The bytes of a matrix row in shared memory."""

_OF_ELEMENTS = {"f64": "f64", "f32": "tf32", "f16": "f16", "bf16": "bf16", "i8": "s8"}
_OF_ELEMENTS |= {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "i4": "s4"}
_ELEMENTS = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "s8": "i8", "u8": "i8"}
"""The type names of the target table."""

# ---------------------------------------------------------------------------------------------------------------------
# mma.sync
# ---------------------------------------------------------------------------------------------------------------------


def _side_by_side(registers: list[Array], dtype: Any) -> Array:
    """The elements of registers, concatenated, with the lane dimension first."""
    width = registers[0][0].size
    found = np.empty((len(registers[0]), len(registers) * width), dtype)
    for i, register in enumerate(registers):
        found[:, i * width : (i + 1) * width] = register.reshape(-1, width)
    return found


def _words(registers: list[Array]) -> Array:
    """The bytes of each register."""
    found = _side_by_side(registers, registers[0].dtype)
    return found.view(np.uint8).reshape(len(found), len(registers), -1)


Changes = Callable[[Any, list[Array], Array, Array, Site], tuple[Array, Array]]
"""Takes the operands after C and the matrices of each warp, A and B, and returns the matrices to multiply."""


def _mma(
    m: int,
    k: int,
    kinds: tuple[str, str],
    counts: tuple[int, int],
    slots: tuple[list[int], list[int]],
    words: Callable[[list[Array]], Array],
    of_bits: str = "",
    stored: int = 1,
    changes: Changes | None = None,
) -> Callable[..., Array]:
    """A function from the values of A's and B's slots, of which `words` returns the bytes of registers, and the
    accumulator elements to the result elements. `of_bits` replaces the multiplication for single bits. Registers hold
    one of `stored` elements of A, and `changes` expands them."""
    if m not in (8, 16):
        raise Unsupported(f"M is {m}; an MMA of a warp requires M = 8 or 16")
    readers = []
    for kind, count, rows, depth in zip(kinds, counts, (m, COLUMNS), (k // stored, k), strict=True):
        if kind not in READERS:
            raise Unsupported(f"an operand of the MMA has elements of {kind}; supported elements: {', '.join(READERS)}")
        bits, read = READERS[kind]
        if count * LANES * max(bits, 32) != rows * depth * bits:
            raise Unsupported(
                f"a thread passes {counted(count, 'register')} for an operand of {rows} x {depth} elements of {bits} bits; "
                f"{rows * depth * bits / (LANES * max(bits, 32)):g} registers per thread are required"
            )
        readers.append(read)

    element = _ELEMENTS.get(kinds[0], kinds[0])
    # Several MMAs share one operand.
    of_a, of_b = (("A", m, kinds[0], *slots[0]), ("B", m, kinds[1], *slots[1]))

    def matrix_a(values: list[Array]) -> Array:
        return rows_of_a(readers[0](words(values)), m).astype(np.float64, copy=False)

    def matrix_b(values: list[Array]) -> Array:
        return columns_of_b(readers[1](words(values))).astype(np.float64, copy=False)

    def multiply(
        st: Any,
        a: list[Array],
        b: list[Array],
        c: Array,
        dtype: np.dtype[Any],
        site: Site,
        saturate: bool = False,
        rest: list[Array] | None = None,
    ) -> Array:
        timing.multiplied(st, element, m * COLUMNS * k // stored, site)
        left, right = st.once(of_a, a, matrix_a), st.once(of_b, b, matrix_b)
        if changes is not None:
            left, right = changes(st, rest or [], left, right, site)
        with np.errstate(invalid="ignore"):
            product = np.matmul(left, right)
        if of_bits == "xor_popc":
            product = left.sum(-1, keepdims=True) + right.sum(-2, keepdims=True) - 2 * product
        return rounded_sum(registers_of(product), c, dtype, saturate)

    return multiply


@operation("nvgpu.mma.sync")
def _nvgpu_mma(op: Any, tr: ThreadTranslator) -> Step:
    return multiply_vectors(op, tr)


def multiply_vectors(op: Any, tr: ThreadTranslator, stored: int = 1, changes: Changes | None = None) -> Step:
    """An MMA with vectors of registers, a row per register."""
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, n, k = attribute(op, "mmaShape")
    kinds: list[Any] = [*(held_dtype(ty) for ty in types[:2]), dtype_of(types[2])]
    if n != COLUMNS or any(dtype is None for dtype in kinds):
        raise Unsupported(
            f"N is {n}, and the operands have types {types[0]} and {types[1]}; N must be {COLUMNS}, and elements must be "
            "integers or floats"
        )
    element = str(types[0].element_type)
    kind = _OF_ELEMENTS.get(element, element)
    if kind == "tf32" and "tf32Enabled" not in op.attributes:
        raise Unsupported(
            "the operands are f32, which the MMA reads as tf32; add the attribute 'tf32Enabled' to permit this rounding"
        )
    shape = tuple(types[2].shape)
    others: list[Any] = [(dtype_of(ty), rank_of(ty)) for ty in types[3:]]
    dtype: Any = kinds[2]
    wide = np.dtype(np.int64 if dtype.kind == "i" else np.float64)

    def words(values: list[Array]) -> Array:
        (found,) = values
        found = packed(found, 2) if element == "i4" else found
        return np.ascontiguousarray(found).view(np.uint8).reshape(*found.shape[:2], -1)

    counts = (types[0].shape[0], types[1].shape[0])
    multiply = _mma(m, k, (kind, kind), counts, (slots[:1], slots[1:2]), words, stored=stored, changes=changes)

    def step(st: Any) -> None:
        whole_warps(st, "the MMA", site)
        a, b, c = (spread(st.v[slot], of, st.lanes, 2) for slot, of in zip(slots[:3], kinds, strict=True))
        rest = [spread(st.v[slot], of, st.lanes, rank) for slot, (of, rank) in zip(slots[3:], others, strict=True)]
        # Sums of integers are saturated where it is lowered.
        sums = c.reshape(st.lanes, -1).astype(wide)
        found = multiply(st, [a], [b], sums, dtype, site, dtype.kind == "i", rest)
        st.v[result] = found.reshape(st.lanes, *shape)

    return step


def mma_kind(op: Any, name: str, operand: Any) -> str:
    if name in op.attributes:
        found = re.search(r"<(\w+)>", str(op.attributes[name]))
        assert found
        return found[1]
    return str(operand.type.element_type if isinstance(operand.type, ir.VectorType) else operand.type)


def nvvm_shape(op: Any) -> tuple[tuple[int, int, int], tuple[int, int, int], tuple[str, str]]:
    """M, N and K, the registers of A, B and C, and the types of A and B."""
    m, n, k = (int(x) for x in re.findall(r"= (\d+)", str(op.attributes["shape"])))
    of_a, of_b, of_c, *_ = attribute(op, "operandSegmentSizes")
    kinds = (
        mma_kind(op, "multiplicandAPtxType", op.operands[0]),
        mma_kind(op, "multiplicandBPtxType", op.operands[of_a]),
    )
    return (m, n, k), (of_a, of_b, of_c), kinds


def saturates(op: Any) -> bool:
    """Whether results saturate."""
    return "intOverflowBehavior" in op.attributes and "satfinite" in str(op.attributes["intOverflowBehavior"])


@operation("nvvm.mma.sync")
def _nvvm_mma(op: Any, tr: ThreadTranslator) -> Step:
    shape, counts, kinds = nvvm_shape(op)
    saturate = saturates(op)
    of_bits = ""
    if "b1" in kinds:
        found = re.search(r"<(\w+)>", str(op.attributes["b1Op"]))
        of_bits = found[1] if found else ""
        if saturate or kinds[0] != kinds[1] or of_bits not in ("xor_popc", "and_popc"):
            raise Unsupported(
                "an operand has elements of b1; the MMA then requires b1 for both operands, 'b1Op' = xor_popc or and_popc, and no saturation"
            )
    elif "b1Op" in op.attributes:
        raise Unsupported(
            f"the op has the attribute 'b1Op', but its operands are {kinds[0]}; only operands of b1 have it, so remove it"
        )
    return multiply_registers(op, tr, shape, kinds, counts, saturate, of_bits)


def multiply_registers(
    op: Any,
    tr: ThreadTranslator,
    shape: tuple[int, int, int],
    kinds: tuple[str, str],
    counts: tuple[int, int, int],
    saturate: bool = False,
    of_bits: str = "",
    stored: int = 1,
    changes: Changes | None = None,
) -> Step:
    """An MMA with this many registers of A, B and C."""
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    m, n, k = shape
    of_a, of_b, of_c = counts
    if n != COLUMNS:
        raise Unsupported(f"N is {n}; an MMA of a warp requires N = {COLUMNS}")
    factors = slots[:of_a], slots[of_a : of_a + of_b]
    multiply = _mma(m, k, kinds, (of_a, of_b), factors, _words, of_bits, stored, changes)
    types: list[Any] = [operand.type for operand in op.operands]
    ranks = [rank_of(ty) for ty in types]
    registers: list[Any] = [dtype_of(ty) for ty in types]
    # C and D are alike: numbers, or pairs of f16.
    before, behind = of_a + of_b, of_a + of_b + of_c
    sums, of_pairs = registers[before], bool(ranks[before])
    if m * COLUMNS != of_c * LANES * (2 if of_pairs else 1):
        raise Unsupported(
            f"a thread passes {counted(of_c, 'accumulator register')} of {types[before]}; "
            f"{m * COLUMNS / (LANES * (2 if of_pairs else 1)):g} per thread are required for {m} x {COLUMNS} elements"
        )
    wide = np.dtype(np.int64 if sums is not None and sums.kind == "i" else np.float64)
    results = re.fullmatch(r"!llvm\.struct<\((.*)\)>", str(op.results[0].type))
    alike = results is not None and set(re.split(r",\s*", results[1])) == {str(types[before])}
    if any(dtype is None for dtype in registers) or not alike:
        raise Unsupported(
            f"the accumulator has elements of {types[before]} and the result has type {op.results[0].type}; the "
            "result must be a struct of the accumulator's registers"
        )

    def step(st: Any) -> None:
        whole_warps(st, "the MMA", site)
        values = [
            spread(st.v[slot], dtype, st.lanes, rank) for slot, dtype, rank in zip(slots, registers, ranks, strict=True)
        ]
        a, b, c = values[:of_a], values[of_a:before], values[before:behind]
        found = multiply(st, a, b, _side_by_side(c, wide), sums, site, saturate, values[behind:])
        if of_pairs:
            found = found.reshape(st.lanes, -1, 2)
        st.v[result] = tuple(found[:, i] for i in range(found.shape[1]))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# ldmatrix and stmatrix
# ---------------------------------------------------------------------------------------------------------------------


def _rows(st: Any, buffer: Any, first: Any, count: int, site: Site, what: str) -> tuple[Array, Array]:
    """The `count` lanes that provide addresses, and the first bytes of all lanes."""
    whole_warps(st, what, site)
    at = spread(first, np.dtype(np.int64), st.lanes)
    mask = np.arange(st.lanes) % LANES < count
    skew = mask & (at % ROW != 0)
    if skew.any():
        lane = int(np.flatnonzero(skew)[0])
        st.report(
            "assertion",
            f"{what} is misaligned: the row at byte {int(at[lane])} of {buffer.name} must be at a multiple of {ROW} B",
            site,
            lane,
        )
    return mask, at


class _Matrices:
    """Matrices with 16 bytes per row: `rows` of each in memory, of which lanes hold `words` 32-bit registers each.

    PTX ISA, "ldmatrix" and "stmatrix"; for the byte order of transposed ones the emulator's source.
    """

    def __init__(self, shape: tuple[int, int], element: str, transposed: bool) -> None:
        self.bits = {"b16": 16, "b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}.get(element, 0)
        known = {(8, 8): (16,), (8, 16): (6, 4), (16, 16): (8, 6, 4), (16, 8): (8,)}
        must = {(8, 16): False, (16, 16): True, (16, 8): True}.get(shape, transposed)
        if self.bits not in known.get(shape, ()) or transposed != must:
            forms = ", ".join(f"{r} x {c} of {' or '.join(map(str, bits))} bits" for (r, c), bits in known.items())
            raise Unsupported(
                f"the matrices are {shape[0]} x {shape[1]} of {element}, {'' if transposed else 'not '}transposed; PTX has "
                f"{forms}; matrices of 16 rows must be transposed, and those of 8 x 16 must not"
            )
        self.shape, self.transposed = shape, transposed
        # Of 16 x 8 a row in memory is a column.
        self.rows = 16 if shape == (16, 16) else 8
        self.words = self.rows // 8

    def to_lanes(self, rows: Array) -> Array:
        """The registers `[warp, lane, matrix, word]` of the bytes `[warp, matrix, row, byte]`."""
        warps, count = rows.shape[:2]
        if self.bits == 16:
            elements = rows.view(np.uint16)
            elements = elements.transpose(0, 1, 3, 2) if self.transposed else elements
            parts = elements.reshape(warps, count, 8, 4, 2).transpose(0, 2, 3, 1, 4)
        elif self.shape == (8, 16):
            parts = rows.reshape(warps, count, 8, 4, 4).transpose(0, 2, 3, 1, 4)
        else:
            # Rows are four lanes with two words of two bytes each; columns are the next two bytes, of eight lanes.
            split = rows.reshape(warps, count, 4, 2, 2, 2, 8)
            parts = split.transpose(0, 6, 2, 1, 3, 5, 4)
        found = np.ascontiguousarray(parts).view(np.uint8).reshape(warps, LANES, count, self.words, 4)
        return found.view(np.int32)[..., 0]

    def from_lanes(self, words: Array) -> Array:
        """The bytes `[warp, matrix, row, byte]` of the registers `[warp, lane, matrix]`."""
        warps, _, count = words.shape
        words = np.ascontiguousarray(words)
        if self.bits == 16:
            pairs = words.view(np.uint16).reshape(warps, 8, 4, count, 2)
            found = pairs.transpose(0, 3, 1, 2, 4).reshape(warps, count, 8, 8)
            found = found.transpose(0, 1, 3, 2) if self.transposed else found
        else:
            # A lane has two columns of a row, and of the row eight further.
            split = words.view(np.uint8).reshape(warps, 8, 4, count, 2, 2)
            found = split.transpose(0, 3, 2, 5, 4, 1)
        return np.ascontiguousarray(found).view(np.uint8).reshape(warps, count, 8, ROW)


def _load_matrices(st: Any, buffer: Any, first: Any, matrices: _Matrices, count: int, site: Site) -> Array:
    """The registers `[lanes, count]`."""
    mask, at = _rows(st, buffer, first, matrices.rows * count, site, "ldmatrix")
    # Packed elements are contiguous, followed by padding.
    size = 2 * matrices.bits if matrices.bits < 8 else ROW
    unit = np.dtype(f"u{min(buffer.grain, 4)}")
    steps = np.arange(0, size, unit.itemsize)
    found = st.load_bytes(buffer, at, steps, unit, (len(steps),), mask, site, "ldmatrix")
    rows = np.ascontiguousarray(spread(found, unit, st.lanes, 1)).view(np.uint8)
    if matrices.bits < 8:
        planes = np.unpackbits(rows, axis=-1, bitorder="little").reshape(st.lanes, ROW, matrices.bits)
        rows = np.packbits(planes, axis=-1, bitorder="little")[..., 0]
    rows = rows.reshape(-1, LANES // matrices.rows, matrices.rows, ROW)[:, :count]
    return matrices.to_lanes(np.ascontiguousarray(rows)).reshape(st.lanes, -1)


def _store_matrices(st: Any, buffer: Any, first: Any, registers: Array, matrices: _Matrices, site: Site) -> None:
    """Stores registers `[lanes, count]`."""
    count = registers.shape[1]
    mask, at = _rows(st, buffer, first, matrices.rows * count, site, "stmatrix")
    rows = matrices.from_lanes(registers.reshape(-1, LANES, count))
    full = np.zeros((len(rows), LANES // matrices.rows, matrices.rows, ROW), np.uint8)
    full[:, :count] = rows
    unit = np.dtype(f"u{min(buffer.grain, 8)}")
    values = full.reshape(st.lanes, ROW).view(unit)
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
        raise Unsupported.wrong_type("the memory", ty)
    tr.uses(ty)
    length = ROW // dtype.itemsize
    matrices = _Matrices((8, 8), "b16", transposed)

    def step(st: Any) -> None:
        view = st.v[source]
        before = st.mask
        whole_warps(st, "ldmatrix", site)
        # The other lanes give no addresses.
        st.mask = np.arange(st.lanes) % LANES < 8 * count
        first, _ = st.locate(view, [st.v[i] for i in indices], (length,), site, "ldmatrix", False)
        st.mask = before
        found = _load_matrices(st, view.buffer, first, matrices, count, site)
        st.v[result] = found.view(dtype).reshape(st.lanes, *shape)

    return step


def _matrices(op: Any) -> _Matrices:
    m, n = (int(size) for size in re.findall(r"= (\d+)", str(op.attributes["shape"])))
    element = re.search(r"<([\w.]+)>", str(op.attributes["eltType"]))
    assert element
    return _Matrices((m, n), element[1], "col" in str(op.attributes["layout"]))


@operation("nvvm.ldmatrix")
def _nvvm_ldmatrix(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    matrices, count = _matrices(op), attribute(op, "num")
    if matrices.rows * count > LANES:
        raise Unsupported(
            f"the op loads {count} matrices of {matrices.rows} rows; the {LANES} lanes pass at most {LANES} row "
            "addresses, so load fewer matrices"
        )
    space = address_space(op.operands[0].type)
    tr.uses_shared(min(matrices.bits // 8, 2) or 1)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[source], space, site, "ldmatrix")
        found = _load_matrices(st, buffer, first, matrices, count, site)
        st.v[result] = found[:, 0] if found.shape[1] == 1 else tuple(found[:, i] for i in range(found.shape[1]))

    return step


@operation("nvvm.stmatrix")
def _nvvm_stmatrix(op: Any, tr: ThreadTranslator) -> Step:
    target, *sources = tr.operands(op)
    site, matrices = tr.site(op), _matrices(op)
    if matrices.bits < 8 or matrices.rows > 8:
        raise Unsupported(
            f"the matrices are {matrices.shape[0]} x {matrices.shape[1]}; 8 x 8 of b16 or 16 x 8 of b8 is required"
        )
    space = address_space(op.operands[0].type)
    tr.uses_shared(matrices.bits // 8)

    def step(st: Any) -> None:
        buffer, first = pointee(st, st.v[target], space, site, "stmatrix")
        values = [spread(st.v[slot], np.dtype(np.int32), st.lanes) for slot in sources]
        _store_matrices(st, buffer, first, np.stack(values, 1), matrices, site)

    return step
