# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD matrix instructions `mfma` and `wmma`, on the fragments of the instruction set guides. Sparse and scaled operands are in
`matrix_amd_formats`.

Where the guides do not define the summation, the emulator's is used: exact products, sums in float64, one rounding; f64 uses
chains of fused multiply-adds.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ..... import ir
from .....instructions import fused
from ....machine.findings import Site
from ....machine.values import NARROW, unpacked
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution import timing
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, bits_of, held_dtype, rank_of, spread
from ..collective.gpu import whole_warps

# ---------------------------------------------------------------------------------------------------------------------
# Fragments
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fragment:
    """The distribution of matrix elements across the vectors of lanes."""

    shape: tuple[int, int, int]
    """The number of matrices, rows and columns."""
    places: Array
    """For each lane and element the row-major index in the matrices."""

    def matrices(self, elements: Array) -> Array:
        """The matrices of each wave."""
        waves = len(elements) // len(self.places)
        return elements.reshape(waves, -1).take(self._sources, 1).reshape(waves, *self.shape)

    @functools.cached_property
    def _sources(self) -> Array:
        """For each matrix element its index in the fragments of all lanes; the last one if several lanes hold it."""
        found = np.full(math.prod(self.shape), -1)
        found[self.places.reshape(-1)] = np.arange(self.places.size)
        assert (found >= 0).all(), "each lane holds all elements"
        return found

    def elements(self, matrices: Array) -> Array:
        """The fragments of the lanes."""
        return matrices.reshape(len(matrices), -1).take(self.places, 1).reshape(-1, self.places.shape[1])

    def differs(self, elements: Array, matrices: Array) -> Array:
        """The lanes that disagree, where several lanes hold an element."""
        return (self.elements(matrices).view(np.uint8) != np.ascontiguousarray(elements).view(np.uint8)).any(-1)


def fragment(shape: tuple[int, int, int], block: Any, row: Any, column: Any) -> Fragment:
    block, row, column = np.broadcast_arrays(block, row, column)
    return Fragment(shape, (block * shape[1] + row) * shape[2] + column)


def grid(lanes: int, elements: int) -> tuple[Array, Array]:
    return np.arange(lanes)[:, None], np.arange(elements)[None, :]


@functools.cache
def mfma_factor(m: int, k: int, blocks: int, halves: bool = False) -> Fragment:
    """A of `mfma`, or B transposed: a lane holds consecutive elements of a row; for scaled operands wider than 4 bits
    (`halves`), as many of each half of the row."""
    count = m * k * blocks // 64
    lane, e = grid(64, count)
    group = lane // (m * blocks)
    column = k // 2 * (e // 16) + 16 * group + e % 16 if halves else count * group + e
    return fragment((blocks, m, k), lane // m % blocks, lane % m, column)


@functools.cache
def mfma_result(m: int, blocks: int, is_double: bool) -> Fragment:
    """C and D of `mfma`: a lane holds elements of a column, in groups of four; for f64 single ones."""
    lane, e = grid(64, m * m * blocks // 64)
    if is_double:
        # Of 16x16 four rows of which each register has one for each quarter of the wave; of 4x4 four matrices.
        block, column = (0, lane % 16) if blocks == 1 else (lane % 16 // 4, lane % 4)
        return fragment((blocks, m, m), block, 4 * e + lane // 16, column)
    if m == 4:
        return fragment((blocks, m, m), lane // 4, e, lane % 4)
    groups = 64 // m
    of_block = m * m // 64
    inside = e % of_block
    row = inside // 4 * 4 * groups + 4 * (lane // m) + inside % 4
    return fragment((blocks, m, m), e // of_block, row, lane % m)


@functools.cache
def wmma_factor(architecture: str, k: int, bits: int) -> Fragment:
    """A of `wmma`, or B transposed: the row is the lane number modulo 16."""
    if architecture == "RDNA3":
        # Both halves of the wave have all of the row.
        lane, e = grid(32, k)
        return fragment((1, 16, k), 0, lane % 16, e + 0 * lane)
    lane, e = grid(32, k // 2)
    chunk = k // 2 if architecture == "RDNA4" else 2 if bits == 32 else 8
    column = e // chunk * 2 * chunk + lane // 16 * chunk + e % chunk
    return fragment((1, 16, k), 0, lane % 16, column)


@functools.cache
def wmma_result(architecture: str) -> Fragment:
    """C and D of `wmma`: the column is the lane number modulo 16."""
    lane, e = grid(32, 8)
    row = 2 * e + lane // 16 if architecture == "RDNA3" else 8 * (lane // 16) + e
    return fragment((1, 16, 16), 0, row, lane % 16)


# ---------------------------------------------------------------------------------------------------------------------
# MMAs
# ---------------------------------------------------------------------------------------------------------------------


def _flushed(x: Array, smallest: float) -> Array:
    """Flushes subnormal numbers to zero, with the sign."""
    return np.where(np.abs(x) < smallest, np.copysign(0.0, x), x) if smallest else x


def multiply(
    a: Array,
    b: Array,
    c: Array,
    of_result: Fragment,
    dtype: np.dtype[Any],
    clamp: bool = False,
    smallest: float = 0.0,
) -> Array:
    """`a` times the transpose of `b`, plus `c`, as fragments. Elements of `c` below `smallest` are flushed to zero."""
    wide = np.float64
    a, b = a.astype(wide, copy=False), b.astype(wide, copy=False)
    if dtype == wide:
        # numpy does not have a wider type for the sums.
        whole = of_result.matrices(c)
        for i in range(a.shape[-1]):
            whole = fused(a[..., i, None], b[..., None, :, i], whole)
        return of_result.elements(whole)
    product = of_result.elements(np.matmul(a, b.swapaxes(-1, -2)))
    if dtype.kind != "i":
        c = _flushed(c.astype(wide), smallest)
        total = product + c
        if (np.signbit(c) & (c == 0) & (total == 0)).any():
            # numpy's sums begin with a zero that has no sign.
            whole = of_result.matrices(c)
            for i in range(a.shape[-1]):
                whole = whole + a[..., i, None] * b[..., None, :, i]
            total = of_result.elements(whole)
        total = _flushed(total, smallest)
        # numpy has bf16 from f32 alone.
        return total.astype(np.float32).astype(dtype) if dtype == ml_dtypes.bfloat16 else total.astype(dtype)
    # Sums of up to 128 products of 16-bit elements are exact in float64.
    total = c.astype(np.int64) + product.astype(np.int64)
    if clamp:
        limits = np.iinfo(dtype)
        total = np.clip(total, limits.min, limits.max)
    return total.astype(dtype)


def element_of(ty: Any) -> tuple[str, np.dtype[Any], int]:
    """The element type's name, its numpy type and its bits."""
    element = ty.element_type if isinstance(ty, ir.VectorType) else ty
    dtype = held_dtype(element)
    name = str(element)
    if dtype is None:
        raise Unsupported.wrong_type("an operand", name)
    return name, dtype, bits_of(element) or 8 * dtype.itemsize


def vectors_of(st: Any, slot: int, ty: Any, dtype: np.dtype[Any]) -> Array:
    """An operand as a vector of each lane."""
    found = spread(st.v[slot], dtype, st.lanes, rank_of(ty))
    return found.reshape(st.lanes, -1)


@dataclass(frozen=True)
class Operand:
    """An MMA operand: the fragments of a matrix."""

    slot: int
    ty: Any
    held: np.dtype[Any]
    """The element type, in which those of the matrix may be packed."""
    name: str
    dtype: np.dtype[Any]
    bits: int
    packed: bool = False

    @property
    def count(self) -> int:
        return _count(self.ty) * (8 * self.held.itemsize // self.bits if self.packed else 1)

    def vectors(self, st: Any) -> Array:
        """The elements of each lane."""
        found = vectors_of(st, self.slot, self.ty, self.held)
        if not self.packed:
            return found
        found = np.ascontiguousarray(found).view(self.dtype)
        return unpacked(found, 8 // self.bits) if self.bits < 8 else found

    def fits(self, fragment: Fragment, what: str) -> None:
        fits(self.ty, fragment, what, self.count)


def operand_of(tr: ThreadTranslator, value: Any, name: str | None = None) -> Operand:
    """An operand with elements of its type, or of the named type."""
    own, held, bits = element_of(value.type)
    if name is None:
        return Operand(tr.slot(value), value.type, held, own, held, bits)
    dtype = NAMED[name]
    bits = NARROW.get(name, 8 * dtype.itemsize)
    return Operand(tr.slot(value), value.type, held, name, dtype, bits, held != dtype or bits < 8)


XF32 = "xf32"
"""f32 truncated to the 10 bits of mantissa that the matrix unit of CDNA3 uses."""

NAMED: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in (
        ("f64", np.float64),
        ("f32", np.float32),
        (XF32, np.float32),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("i4", np.int8),
        ("i8", np.int8),
        ("i32", np.int32),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("f8E5M2", ml_dtypes.float8_e5m2),
        ("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz),
        ("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz),
    )
}
"""Element types by MLIR name."""


def numbers_of(elements: Array, name: str, unsigned: bool, flushes: bool) -> Array:
    """The values that the matrix unit uses, as float64 or integers."""
    if name in NARROW:
        # A byte has one, with its sign.
        return elements & (1 << NARROW[name]) - 1 if unsigned else elements
    if elements.dtype.kind == "i":
        return elements.view(np.uint8) if unsigned or name.startswith("ui") else elements
    if name == XF32:
        # Lower bits are truncated: AMD's guide does not state it, but a model with the bits of MI300X does ("MMA-Sim",
        # arXiv 2511.10909).
        kept = (elements.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        elements = np.where(np.isnan(elements), elements, kept)
    numbers = elements.astype(np.float64)
    if flushes and elements.dtype.itemsize == 2:
        return _flushed(numbers, float(ml_dtypes.finfo(elements.dtype).smallest_normal))
    return numbers


def _count(ty: Any) -> int:
    return int(np.prod(ty.shape)) if isinstance(ty, ir.VectorType) else 1


def fits(ty: Any, fragment: Fragment, what: str, count: int | None = None) -> None:
    if (_count(ty) if count is None else count) != fragment.places.shape[1]:
        m, k = fragment.shape[1:]
        raise Unsupported(
            f"{what} has type {ty}; a lane must hold {fragment.places.shape[1]} elements of its {m} x {k} matrix"
        )


@functools.cache
def _permuted(pattern: int) -> Array:
    """The source lanes of B for an `mfma`."""
    lane = np.arange(64)
    if pattern < 3:
        return [lane, lane % 32, 32 + lane % 32][pattern]
    return (lane + 16) % 64 if pattern == 3 else 16 * (pattern - 4) + lane % 16


_PERMUTATIONS = ("none", "bcast_first_32", "bcast_second_32", "rotate_16_right")
_PERMUTATIONS += ("bcast_first_16", "bcast_second_16", "bcast_third_16", "bcast_fourth_16")


def _flag(op: Any, name: str) -> bool:
    return name in op.attributes


@dataclass(frozen=True)
class Broadcast:
    """The lane modifiers of the operands of an `mfma`."""

    size: int = 0
    chosen: int = 0
    """The logarithm of the number of blocks that share one block of A, and the number of that block."""
    pattern: int = 0
    """The permutation of the lanes of B."""
    signs: tuple[int, int, int] = (1, 1, 1)


@operation("amdgpu.mfma")
def _mfma(op: Any, tr: ThreadTranslator) -> Step:
    m, n, k, blocks = (attribute(op, name, 1) for name in ("m", "n", "k", "blocks"))
    if m != n:
        raise Unsupported(f"the MFMA has m = {m} and n = {n}; only MFMAs with m = n exist")
    factor = XF32 if _flag(op, "reducePrecision") else None
    found = re.search(r"(\w+)>?$", str(op.attributes["blgp"])) if "blgp" in op.attributes else None
    signs = [-1 if _flag(op, f"negate{name}") else 1 for name in "ABC"]
    pattern = _PERMUTATIONS.index(found[1]) if found else 0
    how = Broadcast(attribute(op, "cbsz", 0), attribute(op, "abid", 0), pattern, (signs[0], signs[1], signs[2]))
    operands = [operand_of(tr, value, name) for value, name in zip(op.operands, (factor, factor, None), strict=True)]
    return mfma(op, tr, operands, (m, k, blocks), how)


def mfma(op: Any, tr: ThreadTranslator, operands: list[Operand], sizes: tuple[int, int, int], how: Broadcast) -> Step:
    """An MMA with this many rows, columns and matrices."""
    (result,), site = tr.results(op), tr.site(op)
    of_a, of_b, of_c = operands
    m, k, blocks = sizes
    if of_a.name == XF32:
        require_chip(tr.target, "MFMA of xf32", lambda target: target.architecture == "CDNA3")
    require_chip(tr.target, "MFMA", lambda target: target.wave_size == 64)
    factor, of_result = mfma_factor(m, k, blocks), mfma_result(m, blocks, of_c.name == "f64")
    for operand in (of_a, of_b):
        operand.fits(factor, "an operand")
    of_c.fits(of_result, "the accumulator")
    size, chosen, pattern = how.size, how.chosen, how.pattern
    if (1 << size) > blocks or chosen >= 1 << size:
        raise Unsupported.invalid(
            f"cbsz is {size} and abid is {chosen}; for an MFMA of {blocks} blocks, 2^cbsz must be at most {blocks}, and "
            "abid must be below 2^cbsz"
        )
    sources = np.arange(blocks) >> size << size | chosen
    # 16-bit MMAs of CDNA2 flush subnormal numbers, also of f32.
    flushes = tr.target.architecture == "CDNA2" and of_a.bits == 16
    smallest = float(np.finfo(np.float32).smallest_normal) if flushes else 0.0
    ty = of_c.ty
    shape = tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()

    def step(st: Any) -> None:
        whole_warps(st, "mfma", site)
        timing.multiplied(st, of_a.name, m * m * k * blocks, site)

        def matrices_a(values: list[Any]) -> Array:
            return how.signs[0] * factor.matrices(numbers_of(of_a.vectors(st), of_a.name, False, flushes))[:, sources]

        def matrices_b(values: list[Any]) -> Array:
            b = of_b.vectors(st)
            if pattern:
                b = b.reshape(-1, 64, b.shape[1])[:, _permuted(pattern)].reshape(b.shape)
            return how.signs[1] * factor.matrices(numbers_of(b, of_b.name, False, flushes))

        # Several MMAs share one operand.
        key = (m, k, blocks, how)
        left = st.once(("A", of_a, *key), [st.v[of_a.slot]], matrices_a)
        right = st.once(("B", of_b, *key), [st.v[of_b.slot]], matrices_b)
        c = how.signs[2] * of_c.vectors(st)
        found = multiply(left, right, c, of_result, of_c.dtype, smallest=smallest)
        st.v[result] = found.reshape(st.lanes, *shape)

    return step


@dataclass(frozen=True)
class Modifiers:
    """The modifiers of the operands and results of a `wmma`."""

    upper: int = 0
    """Whether 16-bit results are in the upper halves of registers."""
    clamp: bool = False
    unsigned: tuple[bool, bool] = (False, False)
    signs: tuple[int, int] = (1, 1)
    of_c: int = 0
    """1 negates C, 2 takes its magnitude."""


_SHAPES_OF_4_BITS = {"RDNA3": (16,), "RDNA4": (16, 32)}
"""The K of MMAs of 4-bit integers."""


@operation("amdgpu.wmma")
def _wmma(op: Any, tr: ThreadTranslator) -> Step:
    unsigned = _flag(op, "unsignedA"), _flag(op, "unsignedB")
    how = Modifiers(attribute(op, "subwordOffset", 0), _flag(op, "clamp"), unsigned)
    return wmma(op, tr, [operand_of(tr, value) for value in op.operands], attribute(op, "k"), how)


def wmma(
    op: Any,
    tr: ThreadTranslator,
    operands: list[Operand],
    k: int,
    how: Modifiers,
    wanted: np.dtype[Any] | None = None,
) -> Step:
    """An MMA of 16 x 16 x `k`, with C's elements or the wanted ones."""
    (result,), site = tr.results(op), tr.site(op)
    of_c = operands[2]
    require_chip(tr.target, "WMMA", lambda target: target.wave_size == 32)
    architecture, dtype = tr.target.architecture, of_c.dtype if wanted is None else wanted
    names = [operand.name for operand in operands[:2]]
    if "i4" in names and (names[0] != names[1] or k not in _SHAPES_OF_4_BITS.get(architecture, ())):
        known = " or ".join(map(str, _SHAPES_OF_4_BITS.get(architecture, ())))
        needed = f"with i4, both operands must be i4, and K must be {known}" if known else "use i8"
        raise Unsupported.invalid(
            f"{tr.target.name} does not have a WMMA with operand A of {names[0]}, operand B of {names[1]} and K = {k}; "
            f"{needed}"
        )
    factor, of_result = wmma_factor(architecture, k, operands[0].bits), wmma_result(architecture)
    for operand in operands[:2]:
        operand.fits(factor, "an operand")
    # RDNA3 has results of 16 bits in one half of each register.
    in_halves = architecture == "RDNA3" and of_c.bits == 16
    if not in_halves:
        of_c.fits(of_result, "the accumulator")
    elif of_c.count != 16:
        raise Unsupported(f"the accumulator has type {of_c.ty}; it must have 16 elements per lane")
    if how.clamp and dtype.kind != "i":
        raise Unsupported(
            "the op clamps a floating-point result, but only integer results can be clamped; remove 'clamp'"
        )
    replicated, upper = architecture == "RDNA3", how.upper
    ty: Any = op.results[0].type
    held, shape = element_of(ty)[1], tuple(ty.shape)

    def step(st: Any) -> None:
        whole_warps(st, "wmma", site)
        timing.multiplied(st, operands[0].name, 16 * 16 * k, site)
        c, sides = of_c.vectors(st), []
        for name, operand, unsigned, sign in zip("AB", operands, how.unsigned, how.signs, strict=False):
            values = operand.vectors(st)
            if replicated:
                _check_halves(st, factor, values, name, site)
            matrices = factor.matrices(numbers_of(values, operand.name, unsigned, False))
            sides.append(matrices if sign == 1 else sign * matrices)
        old = c[:, upper::2] if in_halves else c
        if how.of_c:
            old = np.abs(old) if how.of_c & 2 else old
            old = -old if how.of_c & 1 else old
        found = multiply(sides[0], sides[1], old, of_result, dtype, how.clamp)
        if in_halves:
            whole = np.full((st.lanes, 16), np.nan, found.dtype)
            whole[:, upper::2] = found
            found = whole
        st.v[result] = np.ascontiguousarray(found).view(held).reshape(st.lanes, *shape)

    return step


def _check_halves(st: Any, factor: Fragment, values: Array, name: str, site: Site) -> None:
    """Reports halves of a wave that hold different elements of an operand."""
    values = np.ascontiguousarray(values)
    odd = factor.differs(values, factor.matrices(values))
    if st.mask is not None:
        # The values of waves that do not participate are unused.
        odd = odd & st.mask
    if odd.any():
        lane = int(np.flatnonzero(odd)[0])
        st.report(
            "assertion",
            f"wmma: lane {lane % 32} and lane {lane % 32 + 16} hold different elements of {name}; they must be equal",
            site,
            lane,
        )


__all__ = [
    "Broadcast",
    "Fragment",
    "Modifiers",
    "Operand",
    "element_of",
    "fits",
    "fragment",
    "grid",
    "mfma",
    "mfma_factor",
    "mfma_result",
    "multiply",
    "numbers_of",
    "operand_of",
    "vectors_of",
    "wmma",
    "wmma_factor",
    "wmma_result",
]
