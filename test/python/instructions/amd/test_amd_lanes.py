# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's cross-lane instructions against numpy, with inactive lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import amd
import numpy as np
import pytest
from helpers import Array
from smalti import errors

WAVE64, WAVE32 = "gfx942", "gfx1100"


def call(chip: str, name: str, result: str, *operands: amd.Operand, **options: Any) -> Array:
    return amd.call(chip, f"llvm.amdgcn.{name}", result, *operands, **options)


def words(count: int, seed: int = 0, dtype: Any = np.uint32) -> Array:
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, (count, 1), dtype)


def off(count: int, mask: int) -> Array:
    """The inactive lanes."""
    return np.array([not mask >> lane & 1 for lane in range(count)])


ALL = (1 << 64) - 1
ODD = 0xAAAAAAAAAAAAAAAA
UNWRITTEN = 0xEEEEEEEE


@pytest.mark.parametrize("active", [ALL, ODD, 0xFF00])
@pytest.mark.parametrize("ty, dtype", [("i32", np.uint32), ("i64", np.uint64)])
@pytest.mark.parametrize("chip", [WAVE64, WAVE32])
def test_readfirstlane(chip: str, ty: str, dtype: Any, active: int) -> None:
    count = amd.lanes(chip)
    x = words(count, dtype=dtype)
    got = call(chip, f"readfirstlane.{ty}", ty, (ty, x), dtype=dtype, active=active)
    first = (active & -active).bit_length() - 1
    skipped = off(count, active)
    assert (got[~skipped] == x[first]).all()
    assert (got[skipped].view(np.uint8) == 0xEE).all()


@pytest.mark.parametrize("chip", [WAVE64, WAVE32])
def test_readlane(chip: str) -> None:
    count = amd.lanes(chip)
    x = words(count)
    for lane in (0, 7, count - 1):
        assert (call(chip, "readlane.i32", "i32", ("i32", x), ("i32", lane), dtype=np.uint32) == x[lane]).all()
    with pytest.raises(errors.EmulationError, match="lane 2, which is inactive"):
        call(chip, "readlane.i32", "i32", ("i32", x), ("i32", 2), active=ODD)


def test_writelane() -> None:
    x, old = words(64), words(64, 1)
    got = call(WAVE64, "writelane.i32", "i32", ("i32", x), ("i32", 9), ("i32", old), dtype=np.uint32)
    old[9] = x[9]
    np.testing.assert_array_equal(got, old)


@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("chip", [WAVE64, WAVE32])
def test_ds_bpermute(chip: str, active: int) -> None:
    count = amd.lanes(chip)
    x, place = words(count), words(count, 1)
    got = call(chip, "ds.bpermute", "i32", ("i32", place), ("i32", x), dtype=np.uint32, active=active)
    source = place[:, 0] // 4 % count
    expected = np.where(off(count, active)[source], 0, x[source, 0])
    expected[off(count, active)] = UNWRITTEN
    np.testing.assert_array_equal(got[:, 0], expected)


def test_ds_bpermute_fi() -> None:
    x, place = words(32), words(32, 1)
    got = call("gfx1250", "ds.bpermute.fi.b32", "i32", ("i32", place), ("i32", x), dtype=np.uint32)
    np.testing.assert_array_equal(got, x[place[:, 0] // 4 % 32])


@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("chip", [WAVE64, WAVE32])
def test_ds_permute(chip: str, active: int) -> None:
    count = amd.lanes(chip)
    x, place = words(count), words(count, 1)
    got = call(chip, "ds.permute", "i32", ("i32", place), ("i32", x), dtype=np.uint32, active=active)
    skipped = off(count, active)
    expected = np.zeros(count, np.uint32)
    for lane in np.flatnonzero(~skipped):
        expected[place[lane, 0] // 4 % count] = x[lane, 0]
    expected[skipped] = UNWRITTEN
    np.testing.assert_array_equal(got[:, 0], expected)


def bit_mask(and_mask: int, or_mask: int, xor_mask: int) -> Callable[[int], int]:
    return lambda lane: lane & 32 | ((lane & 31 & and_mask | or_mask) ^ xor_mask)


SWIZZLES: dict[int, Callable[[int], int]] = {
    0x8000 | 0b00_01_10_11: lambda lane: lane & ~3 | 3 - (lane & 3),
    0x041F: bit_mask(31, 0, 1),
    0x7C1F: bit_mask(31, 0, 31),
    0x00E3: bit_mask(3, 7, 0),
    0xC000 | 3 << 5: lambda lane: lane & 32 | (lane + 3) % 32,
    0xC400 | 3 << 5: lambda lane: lane & 32 | (lane - 3) % 32,
    # With a mask, lanes rotate among those that have the same bits there.
    0xC000 | 1 << 5 | 1: lambda lane: lane & 32 | (lane & 1) | ((lane + 1) & 31 & ~1),
    # The bits of the lane in reverse.
    0xE000: lambda lane: lane & 32 | int(format(lane & 31, "05b")[::-1], 2),
}


@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("pattern", SWIZZLES)
def test_ds_swizzle(pattern: int, active: int) -> None:
    x = words(64)
    got = call(WAVE64, "ds.swizzle", "i32", ("i32", x), ("i32", pattern), dtype=np.uint32, active=active)
    source = np.array([SWIZZLES[pattern](lane) for lane in range(64)])
    expected = np.where(off(64, active)[source], 0, x[source, 0])
    expected[off(64, active)] = UNWRITTEN
    np.testing.assert_array_equal(got[:, 0], expected)


# ---------------------------------------------------------------------------------------------------------------------
# Data parallel primitives
# ---------------------------------------------------------------------------------------------------------------------


def in_row(lane: int, other: int) -> int | None:
    return (lane & ~15) + other if 0 <= other < 16 else None


DPP: dict[int, Callable[[int], int | None]] = {
    0x1B: lambda lane: lane & ~3 | 3 - (lane & 3),
    0xE4: lambda lane: lane,
    0x101: lambda lane: in_row(lane, lane % 16 + 1),
    0x10F: lambda lane: in_row(lane, lane % 16 + 15),
    0x111: lambda lane: in_row(lane, lane % 16 - 1),
    0x118: lambda lane: in_row(lane, lane % 16 - 8),
    0x123: lambda lane: in_row(lane, (lane % 16 - 3) % 16),
    0x130: lambda lane: lane + 1 if lane < 63 else None,
    0x134: lambda lane: (lane + 1) % 64,
    0x138: lambda lane: lane - 1 if lane > 0 else None,
    0x13C: lambda lane: (lane - 1) % 64,
    0x140: lambda lane: in_row(lane, 15 - lane % 16),
    0x141: lambda lane: lane & ~7 | 7 - lane % 8,
    0x142: lambda lane: lane // 16 * 16 - 1 if lane >= 16 else None,
    0x143: lambda lane: 31 if lane >= 32 else None,
    0x155: lambda lane: in_row(lane, 5),
    0x163: lambda lane: lane ^ 3,
}


def expected_dpp(x: Array, old: Array, control: int, rows: int, banks: int, bound: int, active: int) -> Array:
    result = old[:, 0].copy()
    for lane in range(64):
        if not active >> lane & 1:
            result[lane] = UNWRITTEN
            continue
        if not (rows >> lane // 16 & 1 and banks >> lane // 4 % 4 & 1):
            continue
        source = DPP[control](lane)
        if source is not None and active >> source & 1:
            result[lane] = x[source, 0]
        elif bound:
            result[lane] = 0
    return result


@pytest.mark.grid(40)
@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("rows, banks, bound", [(15, 15, 0), (15, 15, 1), (5, 15, 0), (15, 6, 1)])
@pytest.mark.parametrize("control", DPP, ids=hex)
def test_update_dpp(control: int, rows: int, banks: int, bound: int, active: int) -> None:
    x, old = words(64), words(64, 1)
    got = call(WAVE64, "update.dpp.i32", "i32", ("i32", old), ("i32", x), ("i32", control), ("i32", rows), ("i32", banks),
               ("i1", bound), dtype=np.uint32, active=active)  # fmt: skip
    np.testing.assert_array_equal(got[:, 0], expected_dpp(x, old, control, rows, banks, bound, active))


def test_mov_dpp() -> None:
    x = words(64)
    got = call(
        WAVE64, "mov.dpp.i32", "i32", ("i32", x), ("i32", 0x111), ("i32", 15), ("i32", 15), ("i1", 1), dtype=np.uint32
    )
    np.testing.assert_array_equal(got[:, 0], expected_dpp(x, x, 0x111, 15, 15, 1, ALL))


def test_mov_dpp8() -> None:
    x = words(32)
    select = [3, 1, 4, 1, 5, 7, 2, 6]
    control = sum(s << 3 * i for i, s in enumerate(select))
    got = call(WAVE32, "mov.dpp8.i32", "i32", ("i32", x), ("i32", control), dtype=np.uint32, active=0xFFFFFFDF)
    expected = np.array([x[lane & ~7 | select[lane & 7], 0] for lane in range(32)])
    expected[4], expected[5] = 0, UNWRITTEN
    np.testing.assert_array_equal(got[:, 0], expected)


@pytest.mark.parametrize("bound", [0, 1])
@pytest.mark.parametrize("active", [ALL, 0xFF7FFFDF])
@pytest.mark.parametrize("name", ["permlane16", "permlanex16"])
def test_permlane16(name: str, active: int, bound: int) -> None:
    x, old = words(32), words(32, 1)
    select = np.random.default_rng(2).permutation(16)
    low, high = (sum(int(s) << 4 * i for i, s in enumerate(part)) for part in (select[:8], select[8:]))
    flip = 16 if "x" in name else 0
    source = np.array([(lane & 16 ^ flip) | select[lane & 15] for lane in range(32)])
    skipped = off(32, active)
    expected = np.where(skipped[source], 0 if bound else old[:, 0], x[source, 0])
    expected[skipped] = UNWRITTEN
    got = call(WAVE32, f"{name}.i32", "i32", ("i32", old), ("i32", x), ("i32", str(low)), ("i32", str(high)), ("i1", 0),
               ("i1", bound), dtype=np.uint32, active=active)  # fmt: skip
    np.testing.assert_array_equal(got[:, 0], expected)
    selectors = select[np.arange(32) & 15].astype(np.uint32)
    got = call("gfx1200", f"{name}.var", "i32", ("i32", old), ("i32", x), ("i32", selectors), ("i1", 0), ("i1", bound),
               dtype=np.uint32, active=active)  # fmt: skip
    np.testing.assert_array_equal(got[:, 0], expected)


def test_permlane64() -> None:
    x = words(32)
    np.testing.assert_array_equal(call(WAVE32, "permlane64.i32", "i32", ("i32", x), dtype=np.uint32), x)
    x = words(64)
    got = call(WAVE64, "permlane64.i32", "i32", ("i32", x), dtype=np.uint32)
    np.testing.assert_array_equal(got, np.roll(x, 32, axis=0))


@pytest.mark.parametrize("width", [16, 32])
def test_permlane_swap(width: int) -> None:
    first, second = words(64), words(64, 1)
    got = call("gfx950", f"permlane{width}.swap", "{ i32, i32 }", ("i32", first), ("i32", second), ("i1", 0), ("i1", 0),
               dtype=np.uint32)  # fmt: skip
    rows = [x.reshape(-1, 2, width).copy() for x in (first, second)]
    rows[0][:, 1], rows[1][:, 0] = rows[1][:, 0].copy(), rows[0][:, 1].copy()
    np.testing.assert_array_equal(got, np.stack([r.ravel() for r in rows], axis=1))


def test_wave_shuffle() -> None:
    x, place = words(64), words(64, 1)
    got = call(WAVE64, "wave.shuffle.i32", "i32", ("i32", x), ("i32", place), dtype=np.uint32)
    np.testing.assert_array_equal(got, x[place[:, 0] % 64])


# ---------------------------------------------------------------------------------------------------------------------
# Votes
# ---------------------------------------------------------------------------------------------------------------------


def mask_of(bits: Array, active: int) -> int:
    return sum(1 << i for i, bit in enumerate(bits) if bit and active >> i & 1)


@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("chip, ty, dtype", [(WAVE64, "i64", np.uint64), (WAVE32, "i32", np.uint32)])
def test_ballot(chip: str, ty: str, dtype: Any, active: int) -> None:
    count = amd.lanes(chip)
    bits = (words(count) % 3 == 0).astype(np.uint8)
    got = call(chip, f"ballot.{ty}", ty, ("i1", bits), dtype=dtype, active=active)
    assert (got[~off(count, active)] == mask_of(bits[:, 0], active)).all()


INTEGER_PREDICATES: dict[int, Callable[[Array, Array], Array]] = {
    32: np.equal, 33: np.not_equal, 34: np.greater, 35: np.greater_equal, 36: np.less, 37: np.less_equal,
    38: np.greater, 39: np.greater_equal, 40: np.less, 41: np.less_equal,
}  # fmt: skip


@pytest.mark.grid(15)
@pytest.mark.parametrize("predicate", INTEGER_PREDICATES)
@pytest.mark.parametrize(
    "ty, unsigned, signed", [("i16", np.uint16, np.int16), ("i32", np.uint32, np.int32), ("i64", np.uint64, np.int64)]
)
def test_icmp(ty: str, unsigned: Any, signed: Any, predicate: int) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, np.iinfo(unsigned).max, (64, 1), unsigned, endpoint=True) for _ in range(2))
    b[::5] = a[::5]
    view = signed if predicate >= 38 else unsigned
    got = call(WAVE64, f"icmp.i64.{ty}", "i64", (ty, a), (ty, b), ("i32", predicate), dtype=np.uint64)
    assert (got == mask_of(INTEGER_PREDICATES[predicate](a.view(view), b.view(view))[:, 0], ALL)).all()


@pytest.mark.grid(24)
@pytest.mark.parametrize("predicate", range(16))
@pytest.mark.parametrize(
    "ty, mangled, dtype", [("half", "f16", np.float16), ("float", "f32", np.float32), ("double", "f64", np.float64)]
)
def test_fcmp(ty: str, mangled: str, dtype: Any, predicate: int) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, (64, 1)).astype(dtype) for _ in range(2))
    a[::7], b[::9] = np.nan, np.nan
    holds = np.zeros(a.shape, bool)
    for bit, relation in enumerate((a == b, a > b, a < b, np.isnan(a) | np.isnan(b))):
        if predicate >> bit & 1:
            holds |= relation
    got = call(WAVE64, f"fcmp.i64.{mangled}", "i64", (ty, a), (ty, b), ("i32", predicate), dtype=np.uint64)
    assert (got == mask_of(holds[:, 0], ALL)).all()


def test_inverse_ballot() -> None:
    mask = 0x123456789ABCDEF0
    got = call(WAVE64, "inverse.ballot.i64", "i1", ("i64", mask))
    assert mask_of(got[:, 0], ALL) == mask


def test_wqm_vote() -> None:
    bits = np.zeros((64, 1), np.uint8)
    bits[[1, 9, 63]] = 1
    got = call(WAVE64, "wqm.vote", "i1", ("i1", bits))
    np.testing.assert_array_equal(np.flatnonzero(got), [0, 1, 2, 3, 8, 9, 10, 11, 60, 61, 62, 63])


def test_s_bitreplicate() -> None:
    x = words(64)
    got = call(WAVE64, "s.bitreplicate", "i64", ("i32", x), dtype=np.uint64)
    for value, doubled in zip(x[:, 0], got[:, 0], strict=True):
        assert format(int(doubled), "064b") == "".join(2 * bit for bit in format(int(value), "032b"))


def test_masks_of_quads() -> None:
    x = words(64) & np.uint32(0x0F0F3011)
    quads = [[i for i in range(8) if int(v) >> 4 * i & 15] for v in x[:, 0]]
    one = call(WAVE64, "s.quadmask.i32.i32", "i32", ("i32", x), dtype=np.uint32)
    all_four = call(WAVE64, "s.wqm.i32.i32", "i32", ("i32", x), dtype=np.uint32)
    assert [int(v) for v in one[:, 0]] == [sum(1 << i for i in q) for q in quads]
    assert [int(v) for v in all_four[:, 0]] == [sum(15 << 4 * i for i in q) for q in quads]


# ---------------------------------------------------------------------------------------------------------------------
# Reductions and whole waves
# ---------------------------------------------------------------------------------------------------------------------

REDUCTIONS: dict[str, tuple[str, Callable[[Array], Any]]] = {
    "umin": ("u", np.min), "umax": ("u", np.max), "min": ("i", np.min), "max": ("i", np.max),
    "add": ("u", np.sum), "sub": ("u", lambda x: 0 - np.sum(x)),
    "and": ("u", np.bitwise_and.reduce), "or": ("u", np.bitwise_or.reduce), "xor": ("u", np.bitwise_xor.reduce),
}  # fmt: skip


@pytest.mark.grid(18)
@pytest.mark.parametrize("active", [ALL, ODD])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_wave_reduce(name: str, bits: int, active: int) -> None:
    kind, reduce = REDUCTIONS[name]
    dtype = np.dtype(f"{kind}{bits // 8}")
    x = np.random.default_rng(1).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (64, 1), dtype)
    got = call(
        WAVE64, f"wave.reduce.{name}.i{bits}", f"i{bits}", (f"i{bits}", x), ("i32", 0), dtype=dtype, active=active
    )
    taking = ~off(64, active)
    with np.errstate(over="ignore"):
        expected = reduce(x[taking].astype(object) if name in ("add", "sub") else x[taking])
    assert (got[taking] == np.array(int(np.asarray(expected).item()) % 2**bits, np.uint64).astype(dtype)).all()


@pytest.mark.parametrize("name, reduce", [
    ("fmin", np.nanmin), ("fmax", np.nanmax), ("fadd", np.sum), ("fsub", lambda x: -np.sum(x)),
])  # fmt: skip
def test_wave_reduce_of_floats(name: str, reduce: Callable[[Array], float]) -> None:
    x = np.random.default_rng(1).integers(-100, 100, (64, 1)).astype(np.float32)
    if name in ("fmin", "fmax"):
        x[5] = np.nan
    got = call(WAVE64, f"wave.reduce.{name}.f32", "float", ("float", x), ("i32", 0), dtype=np.float32)
    assert (got == reduce(x)).all()


@pytest.mark.parametrize("name", ["strict.wwm", "wwm", "strict.wqm", "wqm", "softwqm"])
def test_copies_of_whole_waves(name: str) -> None:
    x = words(64)
    np.testing.assert_array_equal(call(WAVE64, f"{name}.i32", "i32", ("i32", x), dtype=np.uint32), x)


def test_set_inactive() -> None:
    x = words(64)
    got = call(WAVE64, "set.inactive.i32", "i32", ("i32", x), ("i32", 7), dtype=np.uint32)
    np.testing.assert_array_equal(got, x)
    with pytest.raises(errors.EmulationError):
        call(WAVE64, "set.inactive.i32", "i32", ("i32", x), ("i32", 7), active=ODD)


@pytest.mark.parametrize("name", ["live.mask", "ps.live"])
def test_lanes_are_live(name: str) -> None:
    assert (call(WAVE64, name, "i1") == 1).all()
