# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD matrix instructions with a sparse operand (`sparse_mfma`) or with scales (`scaled_mfma`, `scaled_wmma`)."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, spread
from ..arithmetic.llvm import constant_of
from ..collective.gpu import whole_warps
from .conversions_amd import unpack, widen
from .matrix_amd import (
    Fragment,
    Operand,
    element_of,
    fits,
    fragment,
    grid,
    mfma_factor,
    mfma_result,
    multiply,
    numbers_of,
    operand_of,
    vectors_of,
    wmma_result,
)

# ---------------------------------------------------------------------------------------------------------------------
# Two of each four elements
# ---------------------------------------------------------------------------------------------------------------------

_ACCESS = 16
"""Consecutive bytes of a row in a lane."""


@functools.cache
def dense_factor(m: int, k: int, size: int) -> Fragment:
    """B of `sparse_mfma` transposed: as in a dense MMA; with more than 16 bytes per lane, a part of each half of K
    (Composable Kernel, sparse_gfx9.hpp; its accesses of B)."""
    count = m * k // 64
    lane, e = grid(64, count)
    chunk = min(count, _ACCESS // size)
    return fragment((1, m, k), 0, lane % m, e // chunk * (k * chunk // count) + lane // m * chunk + e % chunk)


def _index_bits(indices: Array, count: int, choice: int) -> Array:
    """For each lane and element of A its index among four, from one of the index sets in a register."""
    words = np.ascontiguousarray(indices).view(np.uint32).reshape(-1, 1)
    return words >> np.uint32(2 * count * choice) >> (2 * np.arange(count, dtype=np.uint32)) & 3


@operation("amdgpu.sparse_mfma")
def _sparse_mfma(op: Any, tr: ThreadTranslator) -> Step:
    m, n, k = (attribute(op, name) for name in "mnk")
    chosen = attribute(op, "abid", 0) if attribute(op, "cbsz", 0) == 0 else 0
    if m != n:
        raise Unsupported(f"the MFMA has m = {m} and n = {n}; only MFMAs with m = n exist")
    operands = [operand_of(tr, value) for value in list(op.operands)[:3]]
    return sparse_mfma(op, tr, operands, (m, k), chosen)


def sparse_mfma(op: Any, tr: ThreadTranslator, operands: list[Operand], sizes: tuple[int, int], chosen: int) -> Step:
    """CDNA3 ISA, "Sparse Matrix Multiplication Instructions": two of each four elements of a row of A are stored, with
    increasing indices."""
    (of_a, of_b, of_c), (m, k) = operands, sizes
    (result,), site = tr.results(op), tr.site(op)
    places, ty = tr.operands(op)[3], op.operands[3].type
    _, held, _ = element_of(ty)
    require_chip(tr.target, "sparse MFMA", lambda target: target.wave_size == 64 and target.architecture != "CDNA2")
    compressed, dense, of_result = (
        mfma_factor(m, k // 2, 1),
        dense_factor(m, k, of_b.bits // 8),
        mfma_result(m, 1, False),
    )
    for operand, part, what in zip(
        operands, (compressed, dense, of_result), ("operand A", "operand B", "the accumulator"), strict=True
    ):
        operand.fits(part, what)
    count = compressed.places.shape[1]
    sets = 16 // count
    if chosen >= sets or (chosen and of_a.bits == 16 and count > 4):
        most = 1 if of_a.bits == 16 and count > 4 else sets
        raise Unsupported.invalid(
            f"abid selects set {chosen} of the sparsity indices; for {count} elements of {of_a.name} per lane, abid must be below {most}"
        )
    lane, e = grid(64, count)
    first = 4 * ((lane // m * count + e) // 2) + lane % m * k
    shape = tuple(of_c.ty.shape)

    def step(st: Any) -> None:
        whole_warps(st, "sparse_mfma", site)
        a, b, c = (operand.vectors(st) for operand in operands)
        at = _index_bits(vectors_of(st, places, ty, held), count, chosen).astype(np.int64)
        odd = (at[:, ::2] >= at[:, 1::2]).any(1)
        if st.mask is not None:
            odd = odd & st.mask
        if st.machine.how.numbers and odd.any():
            message = "sparse_mfma: the sparsity indices of two stored elements among four are not increasing; the first must be below the second"
            st.report("assertion", message, site, int(odd.argmax()))
        waves = len(st.warps)
        numbers = numbers_of(a, of_a.name, False, False)
        left = np.zeros((waves, 1, m, k), numbers.dtype)
        there = first + at.reshape(waves, 64, count)
        left.reshape(waves, -1)[np.arange(waves)[:, None, None], there] = numbers.reshape(waves, 64, count)
        right = dense.matrices(numbers_of(b, of_b.name, False, False))
        st.v[result] = multiply(left, right, c, of_result, of_c.dtype).reshape(st.lanes, *shape)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Scales
# ---------------------------------------------------------------------------------------------------------------------


@operation("amdgpu.scaled_mfma")
def _scaled_mfma(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, n, k = (attribute(op, name) for name in "mnk")
    kinds = [element_of(ty) for ty in types]
    require_chip(tr.target, "scaled MFMA", lambda target: target.architecture == "CDNA4")
    if m != n:
        raise Unsupported(f"the MFMA has m = {m} and n = {n}; only MFMAs with m = n exist")
    factors = [mfma_factor(m, k, 1, halves=kind[2] > 4) for kind in kinds[:2]]
    of_result = mfma_result(m, 1, False)
    for ty, factor in zip(types, factors, strict=False):
        fits(ty, factor, "an operand")
    fits(types[2], of_result, "the accumulator")
    # A lane has the scale of 32 elements of its row.
    of_scales = mfma_factor(m, k // 32, 1)
    chosen = attribute(op, "scalesIdxA"), attribute(op, "scalesIdxB")
    shape = tuple(types[2].shape)

    def step(st: Any) -> None:
        whole_warps(st, "scaled_mfma", site)
        vectors = [vectors_of(st, slot, ty, kind[1]) for slot, ty, kind in zip(slots, types, kinds, strict=True)]
        c, sides = vectors[2], []
        for values, factor, scales, which in zip(vectors[:2], factors, vectors[3:], chosen, strict=True):
            scale = scales[:, which : which + 1] if scales.shape[1] > 1 else scales
            by = of_scales.matrices(scale.astype(np.float64))
            sides.append(factor.matrices(values.astype(np.float64)) * np.repeat(by, 32, -1))
        st.v[result] = multiply(sides[0], sides[1], c, of_result, kinds[2][1]).reshape(st.lanes, *shape)

    return step


_FORMATS = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn)
_FORMATS += (ml_dtypes.float4_e2m1fn,)
"""The formats 0 to 4 of `f8f6f4`."""


@operation("rocdl.mfma.scale.f32.16x16x128.f8f6f4", "rocdl.mfma.scale.f32.32x32x64.f8f6f4")
def _named_scaled_mfma(op: Any, tr: ThreadTranslator) -> Step:
    """Operands are A, B, C, the formats of A and B, the scale byte and the scale of A, and those of B. If all scales
    are 0, the MMA is not scaled (LLVM, "llvm.amdgcn.mfma.scale")."""
    require_chip(tr.target, "this instruction", lambda target: target.architecture == "CDNA4")
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    values: list[Any] = list(op.operands)
    m, k = (16, 128) if "16x16" in op.name else (32, 64)
    formats = [np.dtype(_FORMATS[constant_of(value)]) for value in values[3:5]]
    widths = [(8, 8, 6, 6, 4)[constant_of(value)] for value in values[3:5]]
    chosen = [constant_of(values[5]) & 3, constant_of(values[7]) & 3]
    factors = [mfma_factor(m, k, 1, halves=bits > 4) for bits in widths]
    of_result, of_scales = mfma_result(m, 1, False), mfma_factor(m, k // 32, 1)
    kinds = [element_of(value.type)[1] for value in values[:3]]
    for value, bits, dtype in zip(values, widths, kinds, strict=False):
        if int(np.prod(value.type.shape)) * dtype.itemsize < 4 * bits:
            raise Unsupported(f"an operand has type {value.type}; it must hold 32 elements of {bits} bits per lane")
    fits(values[2].type, of_result, "the accumulator")
    shape = tuple(values[2].type.shape)

    def step(st: Any) -> None:
        whole_warps(st, "scaled_mfma", site)
        sides = []
        words = [spread(st.v[slot], np.dtype(np.int32), st.lanes) for slot in (slots[6], slots[8])]
        scaled = any(word.any() for word in words)
        for i in range(2):
            data = np.ascontiguousarray(vectors_of(st, slots[i], values[i].type, kinds[i])).view(np.uint8)
            numbers = factors[i].matrices(widen(unpack(data, widths[i])[:, :32], formats[i]))
            codes = (words[i].view(np.uint32) >> np.uint32(8 * chosen[i]) & 255).astype(np.int64)[:, None]
            by = np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127)) if scaled else np.ones(codes.shape)
            sides.append(numbers * np.repeat(of_scales.matrices(by), 32, -1))
        c = vectors_of(st, slots[2], values[2].type, kinds[2])
        st.v[result] = multiply(sides[0], sides[1], c, of_result, kinds[2]).reshape(st.lanes, *shape)

    return step


@functools.cache
def wide_factor(rows: int, bits: int) -> Fragment:
    """A of `scaled_wmma`, or B transposed: the halves of the wave alternate along K. 32 rows are two times 16, in
    consecutive registers."""
    lane, e = grid(32, rows * 4)
    chunk = 16 if bits == 8 else 32
    i = e % 64
    column = i // chunk * 2 * chunk + lane // 16 * chunk + i % chunk
    return fragment((1, rows, 128), 0, lane % 16 + e // 64 * 16, column)


@operation("amdgpu.scaled_wmma")
def _scaled_wmma(op: Any, tr: ThreadTranslator) -> Step:
    """CDNA5 ISA, "Wave Matrix Multiply Accumulate"; the scales of a lane: MLIR, amdgpu.scaled_wmma. A row has a scale
    per 16 or 32 elements, in the lane with its number, counted from a first lane if there are 16 rows."""
    slots, (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    types: list[Any] = [operand.type for operand in op.operands]
    m, k = attribute(op, "m"), attribute(op, "k")
    kinds = [element_of(ty) for ty in types]
    require_chip(tr.target, "scaled WMMA", lambda target: target.architecture == "GFX12.5")
    if k != 128 or (m == 32 and {kinds[0][2], kinds[1][2]} != {4}):
        raise Unsupported(
            f"the op has M x N x K = {m} x {attribute(op, 'n')} x {k}; supported are 16 x 16 x 128 and, for 4-bit "
            "operands, 32 x 16 x 128"
        )
    factors = [wide_factor(rows, kind[2]) for rows, kind in zip((m, 16), kinds, strict=False)]
    for ty, factor in zip(types, factors, strict=False):
        fits(ty, factor, "an operand")
    firsts = attribute(op, "a_first_scale_lane"), attribute(op, "b_first_scale_lane")
    if m == 32 and firsts[0]:
        raise Unsupported(f"'a_first_scale_lane' is {firsts[0]}; for an operand A of 32 rows, it must be 0")
    one = wmma_result(tr.target.architecture)
    # 32 rows are two times 16 here, too.
    of_result = fragment((1, m, 16), 0, *_twice(one, m // 16))
    fits(types[2], of_result, "the accumulator")
    shape = tuple(types[2].shape)

    def step(st: Any) -> None:
        whole_warps(st, "scaled_wmma", site)
        vectors = [vectors_of(st, slot, ty, kind[1]) for slot, ty, kind in zip(slots, types, kinds, strict=True)]
        c, sides = vectors[2], []
        for values, factor, scales, first in zip(vectors[:2], factors, vectors[3:], firsts, strict=True):
            rows = factor.shape[1]
            by = scales.astype(np.float64).reshape(len(st.warps), 1, 32, -1)[:, :, first : first + rows]
            sides.append(factor.matrices(values.astype(np.float64)) * np.repeat(by, k // by.shape[-1], -1))
        st.v[result] = multiply(sides[0], sides[1], c, of_result, kinds[2][1]).reshape(st.lanes, *shape)

    return step


def _twice(part: Fragment, times: int) -> tuple[Array, Array]:
    """Rows and columns of vertically concatenated fragments."""
    rows, columns = np.divmod(part.places, part.shape[2])
    height = part.shape[1]
    return (
        np.concatenate([rows + height * i for i in range(times)], 1),
        np.concatenate([columns] * times, 1),
    )


__all__ = ["dense_factor", "sparse_mfma", "wide_factor"]
