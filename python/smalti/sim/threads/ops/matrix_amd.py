"""Matrices of a wave on AMD: `mfma`, `scaled_mfma` and `wmma`, on fragments as the guides of the instruction sets have them.

What these leave open of sums is done as the emulator does it: products are exact, sums of float64, rounded once.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .... import ir
from ...program import Site, Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..lanes import SMALL_TYPES, Array, dtype_of, rank_of, spread
from .gpu import whole_warps

# ---------------------------------------------------------------------------------------------------------------------
# Fragments
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fragment:
    """Which element of matrices each element of each lane's vector is."""

    shape: tuple[int, int, int]
    """How many matrices, their rows and their columns."""
    places: Array
    """For each lane and element the place in the matrices, row by row."""

    def matrices(self, elements: Array) -> Array:
        """The matrices of each wave."""
        lanes, count = self.places.shape
        waves = len(elements) // lanes
        found = np.zeros((waves, int(np.prod(self.shape))), elements.dtype)
        found[:, self.places] = elements.reshape(waves, lanes, count)
        return found.reshape(waves, *self.shape)

    def elements(self, matrices: Array) -> Array:
        """The vectors of the lanes."""
        rows = matrices.reshape(len(matrices), -1)[:, self.places]
        return rows.reshape(-1, self.places.shape[1])

    def differs(self, elements: Array, matrices: Array) -> Array:
        """The lanes that have something else where several lanes have an element."""
        return (self.elements(matrices).view(np.uint8) != np.ascontiguousarray(elements).view(np.uint8)).any(-1)


def _fragment(shape: tuple[int, int, int], block: Any, row: Any, column: Any) -> Fragment:
    block, row, column = np.broadcast_arrays(block, row, column)
    return Fragment(shape, (block * shape[1] + row) * shape[2] + column)


def _grid(lanes: int, elements: int) -> tuple[Array, Array]:
    return np.arange(lanes)[:, None], np.arange(elements)[None, :]


@functools.cache
def mfma_factor(m: int, k: int, blocks: int, halves: bool = False) -> Fragment:
    """A of `mfma`, or B transposed: a lane has elements of a row that follow one another; of factors with scales that are
    wider than 4 bits (`halves`), as many of each half of the row."""
    count = m * k * blocks // 64
    lane, e = _grid(64, count)
    group = lane // (m * blocks)
    column = k // 2 * (e // 16) + 16 * group + e % 16 if halves else count * group + e
    return _fragment((blocks, m, k), lane // m % blocks, lane % m, column)


@functools.cache
def mfma_result(m: int, blocks: int, is_double: bool) -> Fragment:
    """C and D of `mfma`: a lane has elements of a column, in fours, of f64 in ones."""
    lane, e = _grid(64, m * m * blocks // 64)
    if is_double:
        # Of 16x16 four rows of which each register has one for each quarter of the wave; of 4x4 four matrices.
        block, column = (0, lane % 16) if blocks == 1 else (lane % 16 // 4, lane % 4)
        return _fragment((blocks, m, m), block, 4 * e + lane // 16, column)
    if m == 4:
        return _fragment((blocks, m, m), lane // 4, e, lane % 4)
    groups = 64 // m
    of_block = m * m // 64
    inside = e % of_block
    row = inside // 4 * 4 * groups + 4 * (lane // m) + inside % 4
    return _fragment((blocks, m, m), e // of_block, row, lane % m)


@functools.cache
def wmma_factor(architecture: str, k: int, bits: int) -> Fragment:
    """A of `wmma`, or B transposed: the row is the lane's number modulo 16."""
    if architecture == "RDNA3":
        # Both halves of the wave have all of the row.
        lane, e = _grid(32, k)
        return _fragment((1, 16, k), 0, lane % 16, e + 0 * lane)
    lane, e = _grid(32, k // 2)
    chunk = k // 2 if architecture == "RDNA4" else 2 if bits == 32 else 8
    column = e // chunk * 2 * chunk + lane // 16 * chunk + e % chunk
    return _fragment((1, 16, k), 0, lane % 16, column)


@functools.cache
def wmma_result(architecture: str) -> Fragment:
    """C and D of `wmma`: the column is the lane's number modulo 16."""
    lane, e = _grid(32, 8)
    row = 2 * e + lane // 16 if architecture == "RDNA3" else 8 * (lane // 16) + e
    return _fragment((1, 16, 16), 0, row, lane % 16)


# ---------------------------------------------------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------------------------------------------------


def _multiply(a: Array, b: Array, c: Array, dtype: np.dtype[Any], clamp: bool = False) -> Array:
    """`a` times the transpose of `b`, plus `c`."""
    with np.errstate(all="ignore"):
        product = np.matmul(a.astype(np.float64), b.astype(np.float64).swapaxes(-1, -2))
        if dtype.kind != "i":
            total = product + c.astype(np.float64)
            # numpy has bf16 from f32 alone.
            return total.astype(np.float32).astype(dtype) if dtype == ml_dtypes.bfloat16 else total.astype(dtype)
    # Up to 128 products of 16 bits: float64 has them exactly.
    total = c.astype(np.int64) + product.astype(np.int64)
    if clamp:
        limits = np.iinfo(dtype)
        total = np.clip(total, limits.min, limits.max)
    return total.astype(dtype)


def _element(ty: Any) -> tuple[str, np.dtype[Any], int]:
    """The element type's name, numpy's and its bits."""
    element = ty.element_type if isinstance(ty, ir.VectorType) else ty
    dtype = dtype_of(element)
    name = str(element)
    if dtype is None:
        raise Unsupported(f"products of {name}")
    return name, dtype, SMALL_TYPES[name][1] if name in SMALL_TYPES else 8 * dtype.itemsize


def _vectors(st: Any, slot: int, ty: Any, dtype: np.dtype[Any]) -> Array:
    """An operand as a vector of each lane."""
    found = spread(st.v[slot], dtype, st.lanes, rank_of(ty))
    return found.reshape(st.lanes, -1)


def _numbers(elements: Array, name: str, unsigned: bool, flushes: bool) -> Array:
    """What the matrix unit sees, as float64 or integers."""
    if elements.dtype.kind == "i":
        return elements.view(np.uint8) if unsigned or name.startswith("ui") else elements
    if flushes and elements.dtype.itemsize == 2:
        # What is no normal number counts as zero.
        return np.where(np.abs(elements) < ml_dtypes.finfo(elements.dtype).smallest_normal, 0, elements)
    return elements.astype(np.float64)


def _count(ty: Any) -> int:
    return int(np.prod(ty.shape)) if isinstance(ty, ir.VectorType) else 1


def _fits(ty: Any, fragment: Fragment, what: str) -> None:
    if _count(ty) != fragment.places.shape[1]:
        m, k = fragment.shape[1:]
        raise Unsupported(f"{what} of type {ty}: a lane has {fragment.places.shape[1]} elements of {m} x {k}")


@functools.cache
def _permuted(pattern: int) -> Array:
    """The lanes of B that the lanes of an `mfma` take."""
    lane = np.arange(64)
    if pattern < 3:
        return [lane, lane % 32, 32 + lane % 32][pattern]
    return (lane + 16) % 64 if pattern == 3 else 16 * (pattern - 4) + lane % 16


_PERMUTATIONS = ("none", "bcast_first_32", "bcast_second_32", "rotate_16_right")
_PERMUTATIONS += ("bcast_first_16", "bcast_second_16", "bcast_third_16", "bcast_fourth_16")


def _flag(op: Any, name: str) -> bool:
    return name in op.attributes


@operation("amdgpu.mfma")
def _mfma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, n, k, blocks = (attribute(op, name, 1) for name in ("m", "n", "k", "blocks"))
    kinds = [_element(ty) for ty in types]
    if m != n or tr.warp_size != 64 or _flag(op, "reducePrecision"):
        raise Unsupported(f"mfma of {m} x {n} x {k}")
    double = kinds[2][0] == "f64"
    factor, of_result = mfma_factor(m, k, blocks), mfma_result(m, blocks, double)
    for ty in types[:2]:
        _fits(ty, factor, "a factor")
    _fits(types[2], of_result, "an accumulator")
    size, chosen = attribute(op, "cbsz", 0), attribute(op, "abid", 0)
    found = re.search(r"(\w+)>?$", str(op.attributes["blgp"])) if "blgp" in op.attributes else None
    pattern = _PERMUTATIONS.index(found[1]) if found else 0
    signs = [-1 if _flag(op, f"negate{name}") else 1 for name in "ABC"]
    if (1 << size) > blocks or chosen >= 1 << size:
        raise Unsupported(f"block {chosen} of {1 << size} of {blocks} for all")
    sources = np.arange(blocks) >> size << size | chosen
    # CDNA2 takes the numbers of 16 bits so.
    flushes = tr.target.architecture == "CDNA2"
    ty = types[2]
    shape = tuple(ty.shape) if isinstance(ty, ir.VectorType) else ()

    def step(st: Any) -> None:
        whole_warps(st, "mfma", site)
        a, b, c = (_vectors(st, slot, ty, kind[1]) for slot, ty, kind in zip(slots, types, kinds, strict=True))
        if pattern:
            b = b.reshape(-1, 64, b.shape[1])[:, _permuted(pattern)].reshape(b.shape)
        left = factor.matrices(_numbers(a, kinds[0][0], False, flushes))[:, sources]
        right = factor.matrices(_numbers(b, kinds[1][0], False, flushes))
        found = _multiply(signs[0] * left, signs[1] * right, signs[2] * of_result.matrices(c), kinds[2][1])
        st.v[result] = of_result.elements(found).reshape(st.lanes, *shape)

    return step


@operation("amdgpu.scaled_mfma")
def _scaled_mfma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, n, k = (attribute(op, name) for name in "mnk")
    kinds = [_element(ty) for ty in types]
    if m != n or tr.warp_size != 64:
        raise Unsupported(f"scaled_mfma of {m} x {n} x {k}")
    factors = [mfma_factor(m, k, 1, halves=kind[2] > 4) for kind in kinds[:2]]
    of_result = mfma_result(m, 1, False)
    for ty, factor in zip(types, factors, strict=False):
        _fits(ty, factor, "a factor")
    _fits(types[2], of_result, "an accumulator")
    # A lane has the scale of 32 elements of its row.
    of_scales = mfma_factor(m, k // 32, 1)
    chosen = attribute(op, "scalesIdxA"), attribute(op, "scalesIdxB")
    shape = tuple(types[2].shape)

    def step(st: Any) -> None:
        whole_warps(st, "scaled_mfma", site)
        vectors = [_vectors(st, slot, ty, kind[1]) for slot, ty, kind in zip(slots, types, kinds, strict=True)]
        c, sides = vectors[2], []
        for values, factor, scales, which in zip(vectors[:2], factors, vectors[3:], chosen, strict=True):
            scale = scales[:, which : which + 1] if scales.shape[1] > 1 else scales
            by = of_scales.matrices(scale.astype(np.float64))
            sides.append(factor.matrices(values.astype(np.float64)) * np.repeat(by, 32, -1))
        found = _multiply(sides[0], sides[1], of_result.matrices(c), kinds[2][1])
        st.v[result] = of_result.elements(found).reshape(st.lanes, *shape)

    return step


@operation("amdgpu.wmma")
def _wmma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    k = attribute(op, "k")
    kinds = [_element(ty) for ty in types]
    if tr.warp_size != 32:
        raise Unsupported("wmma in waves of 64")
    architecture = tr.target.architecture
    factor = wmma_factor(architecture, k, kinds[0][2])
    of_result = wmma_result(architecture)
    for ty in types[:2]:
        _fits(ty, factor, "a factor")
    # RDNA3 has results of 16 bits in one half of each register.
    in_halves = architecture == "RDNA3" and kinds[2][2] == 16
    if not in_halves:
        _fits(types[2], of_result, "an accumulator")
    elif _count(types[2]) != 16:
        raise Unsupported(f"an accumulator of type {types[2]}: a lane has 16 elements")
    upper, clamp = attribute(op, "subwordOffset", 0), _flag(op, "clamp")
    unsigned = _flag(op, "unsignedA"), _flag(op, "unsignedB")
    if clamp and kinds[2][1].kind != "i":
        raise Unsupported("results of floats that are clamped")
    replicated = architecture == "RDNA3"

    def step(st: Any) -> None:
        whole_warps(st, "wmma", site)
        vectors = [_vectors(st, slot, ty, kind[1]) for slot, ty, kind in zip(slots, types, kinds, strict=True)]
        c, sides = vectors[2], []
        for name, values, kind, sign in zip("AB", vectors, kinds, unsigned, strict=False):
            numbers = _numbers(values, kind[0], sign, False)
            matrices = factor.matrices(numbers)
            if replicated:
                _check_halves(st, factor, values, name, site)
            sides.append(matrices)
        old = c[:, upper::2] if in_halves else c
        found = of_result.elements(_multiply(sides[0], sides[1], of_result.matrices(old), kinds[2][1], clamp))
        if in_halves:
            whole = np.full((st.lanes, 16), np.nan, found.dtype)
            whole[:, upper::2] = found
            found = whole
        st.v[result] = found

    return step


def _check_halves(st: Any, factor: Fragment, values: Array, name: str, site: Site) -> None:
    """Reports where the halves of a wave have different elements of a factor."""
    values = np.ascontiguousarray(values)
    odd = factor.differs(values, factor.matrices(values))
    if odd.any():
        lane = int(np.flatnonzero(odd)[0])
        st.report(
            "assertion", f"wmma: lane {lane % 32} has other elements of {name} than lane {lane % 32 + 16}", site, lane
        )


__all__ = ["Fragment", "mfma_factor", "mfma_result", "wmma_factor", "wmma_result"]
