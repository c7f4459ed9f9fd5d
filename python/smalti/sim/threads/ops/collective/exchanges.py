# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amdgpu` and `rocdl`: lane permutations.

For an inactive source lane the LDS crossbar returns zero (ISA guides, DS_BPERMUTE_B32 and DS_SWIZZLE_B32), and DPP returns
what `bound_ctrl` states ("Data Parallel Processing"). Other reads of an inactive lane return an undefined value, which is a
finding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import ir
from ....machine.findings import Site
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, rank_of, spread
from .gpu import from_lane, whole_warps

_WIDE = np.dtype(np.int64)
_WORD = np.dtype(np.int32)


def _exchange(op: Any, tr: ThreadTranslator, lanes: Any) -> Step:
    """Every lane reads another lane of its wave."""
    (source,), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        whole_warps(st, "the lane permutation", site)
        st.v[result] = from_lane(st, st.v[source], lanes(np.arange(st.lanes) % st.block.warp_size), rank, dtype)

    return step


@operation("amdgpu.swizzle_bitmode")
def _swizzle_bits(op: Any, tr: ThreadTranslator) -> Step:
    keep, put, flip = (attribute(op, f"{name}_mask") & 31 for name in ("and", "or", "xor"))
    lane = np.arange(tr.warp_size)
    return _crossbar(op, tr, lane // 32 * 32 + (((lane & keep) | put) ^ flip))


@operation("rocdl.ds_swizzle")
def _swizzle(op: Any, tr: ThreadTranslator) -> Step:
    given = op.operands[1].owner
    if given.name not in ("llvm.mlir.constant", "arith.constant"):
        raise Unsupported("the swizzle pattern is dynamic; a constant is required")
    return _crossbar(op, tr, _swizzled(ir.IntegerAttr(given.attributes["value"]).value & 0xFFFF, tr))


def _swizzled(pattern: int, tr: ThreadTranslator) -> Array:
    """The source lanes of a `ds_swizzle` pattern (ISA guides, DS_SWIZZLE_B32)."""
    lane = np.arange(tr.warp_size)
    group, inside, mask = lane & ~31, lane & 31, pattern & 31
    if pattern >= 0xE000:
        # The order of a fast Fourier transform.
        reverse = sum((inside >> bit & 1) << 4 - bit for bit in range(5))
        return group | reverse >> mask.bit_count() | inside & mask
    if pattern >= 0xC000:
        by = (pattern >> 5 & 31) * (-1 if pattern >> 10 & 1 else 1)
        return group | inside & mask | (inside + by) & ~mask & 31
    if pattern >> 15:
        return lane & ~3 | pattern >> 2 * (lane & 3) & 3
    return group | ((inside & mask | pattern >> 5 & 31) ^ pattern >> 10 & 31)


def _crossbar(op: Any, tr: ThreadTranslator, sources: Array) -> Step:
    """Every lane reads another one, or zeros if that one is inactive."""
    value, result = tr.operands(op)[0], tr.results(op)[0]
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported(f"type {op.operands[0].type}")

    def step(st: Any) -> None:
        st.v[result] = through_crossbar(st, st.v[value], np.tile(sources, len(st.warps)), rank, dtype)

    return step


def through_crossbar(st: Any, value: Any, lanes: Array, rank: int, dtype: Any) -> Any:
    """The values of active lanes of the same wave; zeros for others."""
    found = from_lane(st, value, lanes, rank, dtype)
    if st.mask is None:
        return found
    base = np.arange(st.lanes) // st.block.warp_size * st.block.warp_size
    runs = st.mask[base + lanes]
    return np.where(runs.reshape(-1, *(1,) * rank), spread(found, dtype, st.lanes, rank), np.zeros((), dtype))


@operation("amdgpu.permlane_swap")
def _permlane_swap(op: Any, tr: ThreadTranslator) -> Step:
    length = attribute(op, "row_length")
    return _exchange(op, tr, lambda lane: lane ^ length)


_ROW = 16
"""Lanes of a `dpp` row."""


def _dpp_sources(kind: str, argument: Any, lane: Any, wave: int) -> tuple[Any, Any]:
    """For each lane its source lane, and whether there is one."""
    row, inside = lane // _ROW * _ROW, lane % _ROW
    everywhere = np.ones(len(lane), np.bool_)
    if kind == "quad_perm":
        return lane // 4 * 4 + np.array(argument)[lane % 4], everywhere
    if kind in ("row_shl", "row_shr"):
        at = inside + argument * (1 if kind == "row_shl" else -1)
        ok = (at >= 0) & (at < _ROW)
        return row + np.where(ok, at, 0), ok
    if kind == "row_ror":
        return row + (inside - argument) % _ROW, everywhere
    if kind == "row_mirror":
        return row + _ROW - 1 - inside, everywhere
    if kind == "row_half_mirror":
        return lane // 8 * 8 + 7 - lane % 8, everywhere
    if wave == 32 and kind == "row_share":
        return row + argument, everywhere
    if wave == 32 and kind == "row_xmask":
        return lane ^ argument, everywhere
    if wave == 64 and kind in ("wave_shl", "wave_shr", "wave_rol", "wave_ror"):
        at = lane + (1 if kind in ("wave_shl", "wave_rol") else -1)
        return at % wave, everywhere if kind in ("wave_rol", "wave_ror") else (at >= 0) & (at < wave)
    if wave == 64 and kind == "row_bcast_15":
        return np.maximum(row - 1, 0), lane >= _ROW
    if wave == 64 and kind == "row_bcast_31":
        return np.full(len(lane), 31), lane >= 32
    raise Unsupported.invalid(
        f"chips with a wave size of {wave} do not have the DPP control {kind}; use another control or ds_bpermute"
    )


@operation("amdgpu.dpp")
def _dpp(op: Any, tr: ThreadTranslator) -> Step:
    kind = str(op.attributes["kind"]).rpartition("<")[2].rstrip(">").split()[-1]
    argument: Any = 1
    if "permArgument" in op.attributes:
        found = op.attributes["permArgument"]
        if isinstance(found, ir.ArrayAttr):
            argument = [ir.IntegerAttr(item).value for item in found]
        elif isinstance(found, ir.IntegerAttr):
            argument = found.value
    masks = attribute(op, "row_mask", 15), attribute(op, "bank_mask", 15)
    return _move(op, tr, kind, argument, masks, attribute(op, "bound_ctrl", False))


_CONTROLS = {0x130: "wave_shl", 0x134: "wave_rol", 0x138: "wave_shr", 0x13C: "wave_ror", 0x140: "row_mirror"}
_CONTROLS |= {0x141: "row_half_mirror", 0x142: "row_bcast_15", 0x143: "row_bcast_31"}
_CONTROLS_OF_ROWS = {0x100: "row_shl", 0x110: "row_shr", 0x120: "row_ror", 0x150: "row_share", 0x160: "row_xmask"}


@operation("rocdl.update.dpp")
def _update_dpp(op: Any, tr: ThreadTranslator) -> Step:
    control = attribute(op, "dppCtrl")
    if control <= 0xFF:
        kind, argument = "quad_perm", [control >> 2 * i & 3 for i in range(4)]
    elif control & ~15 in _CONTROLS_OF_ROWS and (control & 15 or control >= 0x150):
        kind, argument = _CONTROLS_OF_ROWS[control & ~15], control & 15
    elif control in _CONTROLS:
        kind, argument = _CONTROLS[control], 1
    else:
        raise Unsupported.invalid(
            f"the DPP control {control:#x} is reserved by the ISA; use a control that the ISA defines, such as row_shr"
        )
    masks = attribute(op, "rowMask"), attribute(op, "bankMask")
    return _move(op, tr, kind, argument, masks, bool(attribute(op, "boundCtrl")))


def _move(op: Any, tr: ThreadTranslator, kind: str, argument: Any, masks: tuple[int, int], zeros: bool) -> Step:
    """Lanes read other lanes. Disabled lanes keep the old value; lanes without a source keep it, or read zeros."""
    old, source = tr.operands(op)
    (result,) = tr.results(op)
    (rows, banks), lane = masks, np.arange(tr.warp_size)
    sources, exists = _dpp_sources(kind, argument, lane, tr.warp_size)
    enabled = (rows >> lane // _ROW % 4 & 1 == 1) & (banks >> lane % _ROW // 4 & 1 == 1)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)
    if dtype is None or rank:
        raise Unsupported(f"type {op.operands[0].type}")

    def step(st: Any) -> None:
        waves = len(st.warps)
        at = (np.arange(waves)[:, None] * st.block.warp_size + sources).reshape(-1)
        there = np.tile(exists, waves)
        if st.mask is not None:
            there = there & st.mask[at]
        value = spread(st.v[source], dtype, st.lanes)[at]
        before = spread(st.v[old], dtype, st.lanes)
        writes = np.tile(enabled, waves)
        st.v[result] = np.where(writes & there, value, np.where(writes & zeros, np.zeros((), dtype), before))

    return step


@operation("rocdl.readfirstlane")
def _first_lane(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,) = tr.operands(op), tr.results(op)
    rank, dtype = rank_of(op.operands[0].type), dtype_of(op.operands[0].type)

    def step(st: Any) -> None:
        size = st.block.warp_size
        running = np.ones((len(st.warps), size), np.bool_) if st.mask is None else st.mask.reshape(-1, size)
        st.v[result] = from_lane(st, st.v[source], np.repeat(running.argmax(1), size), rank, dtype)

    return step


@operation("rocdl.readlane")
def _read_lane(op: Any, tr: ThreadTranslator) -> Step:
    (value, which), (result,), site = tr.operands(op), tr.results(op), tr.site(op)
    dtype, rank = dtype_of(op.results[0].type), rank_of(op.results[0].type)

    def step(st: Any) -> None:
        lane = spread(st.v[which], _WIDE, st.lanes) % st.block.warp_size
        _comes(st, lane, site)
        st.v[result] = from_lane(st, st.v[value], lane, rank, dtype)

    return step


def _comes(st: Any, lanes: Array, site: Site) -> None:
    """The source lanes must be active."""
    if st.mask is None:
        return
    size = st.block.warp_size
    bad = st.mask & ~st.mask[np.arange(st.lanes) // size * size + lanes]
    if bad.any():
        at = int(bad.argmax())
        name = st.warps[at // size].name
        st.stop(
            "divergence",
            f"the permutation reads lane {lanes[at]} of {name}, which is inactive; the source lane must execute the op too",
            site,
            at,
        )


@operation("rocdl.ds_bpermute")
def _backward_permute(op: Any, tr: ThreadTranslator) -> Step:
    (which, value), (result,) = tr.operands(op), tr.results(op)

    def step(st: Any) -> None:
        # Four times the lane's number.
        lane = (spread(st.v[which], _WIDE, st.lanes) >> 2) % st.block.warp_size
        st.v[result] = through_crossbar(st, st.v[value], lane, 0, _WORD)

    return step


@operation("rocdl.ballot")
def _ballot(op: Any, tr: ThreadTranslator) -> Step:
    (predicate,), (result,) = tr.operands(op), tr.results(op)
    dtype = dtype_of(op.results[0].type)
    if dtype is None or dtype.itemsize * 8 < tr.warp_size:
        raise Unsupported(
            f"the result has type {op.results[0].type}; it must be an integer with a bit for each of the "
            f"{tr.warp_size} lanes"
        )

    def step(st: Any) -> None:
        chosen = spread(st.v[predicate], np.dtype(np.bool_), st.lanes)
        if st.mask is not None:
            chosen = chosen & st.mask
        packed = np.zeros((len(st.warps), 64), np.bool_)
        packed[:, : st.block.warp_size] = chosen.reshape(len(st.warps), -1)
        bits = np.packbits(packed, axis=1, bitorder="little").view(np.int64)[:, 0]
        st.v[result] = np.repeat(bits.astype(dtype), st.block.warp_size)

    return step


@operation("rocdl.permlanex16")
def _permute_rows(op: Any, tr: ThreadTranslator) -> Step:
    """Lanes read the other row of 16, at the lane of 4 selector bits (RDNA3 ISA guide, V_PERMLANEX16_B32)."""
    require_chip(tr.target, "this instruction", lambda target: target.architecture.startswith("RDNA"))
    old, value, *selectors = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    dtype = dtype_of(op.results[0].type)
    fetches, zeros = attribute(op, "fi"), attribute(op, "boundControl")
    if dtype is None or rank_of(op.results[0].type):
        raise Unsupported(f"type {op.results[0].type}")

    def step(st: Any) -> None:
        low, high = (spread(st.v[slot], _WORD, st.lanes).view(np.uint32).astype(np.uint64) for slot in selectors)
        lane = np.arange(st.lanes) % st.block.warp_size
        select = (high << np.uint64(32) | low) >> (4 * (lane & 15)).astype(np.uint64) & np.uint64(15)
        at = (lane & ~15 ^ 16) | select.astype(np.int64)
        if fetches:
            _comes(st, at, site)
        found = from_lane(st, spread(st.v[value], dtype, st.lanes), at, 0, dtype)
        if st.mask is not None:
            runs = st.mask[np.arange(st.lanes) - lane + at]
            found = np.where(runs, found, np.zeros((), dtype) if zeros else spread(st.v[old], dtype, st.lanes))
        st.v[result] = found

    return step


@operation("rocdl.permlane16.swap", "rocdl.permlane32.swap")
def _swap_rows(op: Any, tr: ThreadTranslator) -> Step:
    """Odd rows of the first value are swapped with even rows of the second (CDNA4 ISA guide,
    V_PERMLANE16_SWAP_B32)."""
    first, second = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    length = 32 if "32" in op.name else 16

    def step(st: Any) -> None:
        lane = np.arange(st.lanes) % st.block.warp_size
        other, upper = lane ^ length, lane & length != 0
        _comes(st, other, site)
        x, y = (spread(st.v[slot], _WORD, st.lanes) for slot in (first, second))
        swapped_x, swapped_y = (from_lane(st, value, other, 0, _WORD) for value in (x, y))
        st.v[result] = (np.where(upper, swapped_y, x), np.where(upper, y, swapped_x))

    return step


@operation("rocdl.mbcnt.lo", "rocdl.mbcnt.hi")
def _count_lanes(op: Any, tr: ThreadTranslator) -> Step:
    (mask, start), (result,) = tr.operands(op), tr.results(op)
    first = 32 if op.name == "rocdl.mbcnt.hi" else 0

    def step(st: Any) -> None:
        bits = spread(st.v[mask], np.dtype(np.int32), st.lanes)
        below = np.clip(np.arange(st.lanes) % st.block.warp_size - first, 0, 32)
        kept = bits.view(np.uint32).astype(np.uint64) & ((np.uint64(1) << below.astype(np.uint64)) - np.uint64(1))
        ones = np.unpackbits(kept.astype(np.uint32).view(np.uint8).reshape(-1, 4), axis=1).sum(1)
        st.v[result] = (spread(st.v[start], np.dtype(np.int32), st.lanes) + ones).astype(np.int32)

    return step
