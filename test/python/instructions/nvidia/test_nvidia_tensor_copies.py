# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA's copies of tiles of tensors (`cp.async.bulk.tensor`), their tensor maps, and MLIR's barriers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import nvidia
import pytest
import smalti
from helpers import LATE_AND_EARLY, Array
from smalti import emulator
from smalti.emulator import Emulation, tensor_map

PREFIX = "llvm.nvvm."

# ---------------------------------------------------------------------------------------------------------------------
# The texts of the instructions
# ---------------------------------------------------------------------------------------------------------------------


def _numbered(first: int, count: int, comma: str) -> str:
    return comma.join(f"${first + i}" for i in range(count))


def loads(rank: int) -> dict[str, tuple[str, str]]:
    """For each form of a load its signature, and its operands after those that all have."""
    ints = ", ".join(["i32"] * rank)
    at = ", ".join(f"i32 %c{i}" for i in range(rank))
    dst, bar, tmap = "ptr addrspace(7) %dst", "ptr addrspace(3) @bar", "ptr %map"
    made = {
        f"{PREFIX}cp.async.bulk.tensor.g2s.tile.{rank}d": (
            f"ptr addrspace(7), ptr addrspace(3), ptr, {ints}, i16, i64, i1, i1, i32",
            f"{dst}, {bar}, {tmap}, {at}, i16 1, i64 0, i1 true, i1 true, i32 0",
        ),
        f"{PREFIX}cp.async.bulk.tensor.g2s.cta.tile.{rank}d": (
            f"ptr addrspace(3), ptr addrspace(3), ptr, {ints}, i64, i1",
            f"ptr addrspace(3) @tile, {bar}, {tmap}, {at}, i64 0, i1 false",
        ),
    }
    for space, blocks, hint in itertools.product(("cluster", "cta"), (False, True), (False, True)):
        if space == "cta" and blocks:
            continue
        last = 3 + rank
        more = [f"${last + i}" for i in range(blocks + hint)]
        text = (
            f"@${last + blocks + hint} cp.async.bulk.tensor.{rank}d.shared::{space}.global.mbarrier::complete_tx::bytes"
            f"{'.multicast::cluster' if blocks else ''}{'.L2::cache_hint' if hint else ''}"
            f" [$0], [$1, {{{_numbered(2, rank, ',')}}} ], [${2 + rank}]{''.join(f', {m}' for m in more)};"
        )
        constraints = ",".join(
            ["l" if space == "cluster" else "r", "l", *["r"] * rank, "r", *["h"] * blocks, *["l"] * hint, "b"]
        )
        operands = f"{dst if space == 'cluster' else 'ptr addrspace(3) @tile'}, {tmap}, {at}, {bar}"
        operands += ", i16 1" * blocks + ", i64 0" * hint + ", i1 %if"
        made[f"asm:{text}"] = (constraints, operands)
    return made


def stores(rank: int) -> dict[str, tuple[str, str]]:
    ints = ", ".join(["i32"] * rank)
    at = ", ".join(f"i32 %c{i}" for i in range(rank))
    texts = {}
    for hint in (False, True):
        text = (
            f"@${2 + rank + hint} cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group{'.L2::cache_hint' * hint}"
            f" [$0, {{{_numbered(2, rank, ', ')}}} ], [$1]{f', ${2 + rank}' * hint};"
        )
        texts[f"asm:{text}"] = (
            ",".join(["l", "r", *["r"] * rank, *["l"] * hint, "b"]),
            f"ptr %map, ptr addrspace(3) @tile, {at}{', i64 0' * hint}, i1 %if",
        )
    return {
        f"{PREFIX}cp.async.bulk.tensor.s2g.tile.{rank}d": (
            f"ptr addrspace(3), ptr, {ints}, i64, i1",
            f"ptr addrspace(3) @tile, ptr %map, {at}, i64 0, i1 false",
        ),
        **texts,
    }


LOADS = {name: (rank, *form) for rank in range(1, 6) for name, form in loads(rank).items()}
STORES = {name: (rank, *form) for rank in range(1, 6) for name, form in stores(rank).items()}
PREFETCHES = [f"{PREFIX}cp.async.bulk.tensor.prefetch.tile.{rank}d" for rank in range(1, 6)]

PREFETCH_TEXTS = [
    f"asm:cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile [$0, {{{_numbered(1, rank, ',')}}}];"
    for rank in range(1, 6)
]

WAIT_LOOP = """{
\t.reg .pred       P1; 
\tLAB_WAIT: 
\tmbarrier.try_wait.parity%s.b64 P1, [$0], $1, $2; 
\t@P1 bra.uni DONE; 
\tbra.uni     LAB_WAIT; 
\tDONE: 
\t}"""  # noqa: W291
MLIR_BARRIERS = {
    space: {
        "init": f"asm:@$2 mbarrier.init{space}.b64 [$0], $1;",
        "expect": f"asm:@$2 mbarrier.arrive.expect_tx{space}.b64 _, [$0], $1;",
        "wait": f"asm:{WAIT_LOOP % space}",
    }
    for space in ("", ".shared")
}


def call(name: str, constraints: str, operands: str) -> str:
    if not name.startswith("asm:"):
        return f"  call void @{name}({operands})\n"
    text = "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c):02X}" for c in name[4:])
    return f'  call void asm sideeffect "{text}", "{constraints}"({operands})\n'


SHARED = """@tile = internal addrspace(3) global [8192 x i8] undef, align 1024
@bar = internal addrspace(3) global i64 undef, align 8
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
"""
INIT = "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)\n"
EXPECT = (
    "  %t = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 {bytes})\n"
)
WAIT = "  %w = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 {parity})\n"
COPY_OUT = """  call void @llvm.memcpy.p0.p3.i64(ptr %out, ptr addrspace(3) @tile, i64 {bytes}, i1 false)
"""


def kernel(body: str, parameters: str, declarations: str = "") -> str:
    return f"""{SHARED}{declarations}
declare void @llvm.memcpy.p0.p3.i64(ptr, ptr addrspace(3), i64, i1)
declare void @llvm.memcpy.p3.p0.i64(ptr addrspace(3), ptr, i64, i1)
define ptx_kernel void @k({parameters}) {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %dst = addrspacecast ptr addrspace(3) @tile to ptr addrspace(7)
{body}  ret void
}}
"""


def declaration(name: str, signature: str) -> str:
    return "" if name.startswith("asm:") else f"declare void @{name}({signature})\n"


COORDINATES = ", ".join(f"i32 %c{i}" for i in range(5))


def load_kernel(name: str, rank: int, signature: str, operands: str, size: int, parity: int = 0) -> str:
    text = INIT + EXPECT.format(bytes=size) + call(name, signature, operands) + WAIT.format(parity=parity)
    return kernel(
        text + COPY_OUT.format(bytes=size), f"ptr %map, ptr %out, i1 %if, {COORDINATES}", declaration(name, signature)
    )


def reference(array: Array, box: Sequence[int], at: Sequence[int], steps: Sequence[int], fill: Any = 0) -> Array:
    """The tile whose first element has the indices `at`."""
    counts = [-(-b // s) for b, s in zip(box, steps, strict=True)]
    tile = np.full(counts, fill, array.dtype)
    for index in np.ndindex(*counts):
        place = tuple(a + i * s for a, i, s in zip(at, index, steps, strict=True))
        if all(0 <= p < n for p, n in zip(place, array.shape, strict=True)):
            tile[index] = array[place]
    return tile


def swizzled(tile: Array, swizzle: int) -> Array:
    """The layout of the tile in shared memory: CUTLASS calls it Swizzle<1, 2 or 3, 4, 3>."""
    data = np.ascontiguousarray(tile).view(np.uint8).reshape(-1)
    if not swizzle:
        return data
    out = np.zeros_like(data)
    for chunk in range(0, len(data), 16):
        there = chunk ^ (chunk >> 3 & (swizzle - 16))
        out[there : there + 16] = data[chunk : chunk + 16]
    return out


SHAPES = {1: (40,), 2: (11, 40), 3: (5, 6, 24), 4: (3, 4, 5, 16), 5: (3, 2, 3, 4, 8)}
BOXES = {1: (16,), 2: (5, 16), 3: (2, 3, 8), 4: (2, 2, 3, 8), 5: (2, 2, 2, 2, 8)}
STARTS = {1: [(3,), (-5,), (33,)], 2: [(2, 9), (-2, 30), (8, -3)], 3: [(1, 2, 3), (4, -1, 20)],
          4: [(1, 1, 2, 4), (2, -1, 3, 12)], 5: [(1, 0, 1, 2, 0), (-1, 1, 2, 3, 4)]}  # fmt: skip


def run(text: str, *arguments: Any, threads: int = 1, emulation: Emulation | None = None) -> None:
    emulator.load(nvidia.HEADER + text, "emu:sm_90a").launch(1, threads, *arguments, emulation=emulation)


def coordinates(at: Sequence[int]) -> list[int]:
    return [*reversed(at), *[0] * (5 - len(at))]


@pytest.mark.parametrize("name", LOADS)
def test_loads(name: str) -> None:
    rank, signature, operands = LOADS[name]
    array = nvidia.seeded("tensors").standard_normal(SHAPES[rank]).astype(np.float32)
    box = BOXES[rank]
    size = int(np.prod(box)) * 4
    text = load_kernel(name, rank, signature, operands, size)
    for schedule, at in itertools.product(LATE_AND_EARLY, STARTS[rank]):
        out = np.zeros(box, np.float32)
        run(text, tensor_map(array, box), out, 1, *coordinates(at), emulation=schedule)
        np.testing.assert_array_equal(out, reference(array, box, at, [1] * rank))


@pytest.mark.parametrize("name", STORES)
def test_stores(name: str) -> None:
    rank, signature, operands = STORES[name]
    box = BOXES[rank]
    tile = nvidia.seeded("tiles").standard_normal(box).astype(np.float32)
    body = f"  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) @tile, ptr %in, i64 {tile.nbytes}, i1 false)\n"
    body += "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n" + call(name, signature, operands)
    body += "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 {n})\n"
    parameters = f"ptr %map, ptr %in, i1 %if, {COORDINATES}"
    for schedule, at in itertools.product(LATE_AND_EARLY, STARTS[rank]):
        array = np.full(SHAPES[rank], 7, np.float32)
        expected = array.copy()
        for index in np.ndindex(*box):
            place = tuple(a + i for a, i in zip(at, index, strict=True))
            if all(0 <= p < n for p, n in zip(place, array.shape, strict=True)):
                expected[place] = tile[index]
        text = kernel(body.replace("{n}", "0"), parameters, declaration(name, signature))
        run(text, tensor_map(array, box), tile, 1, *coordinates(at), emulation=schedule)
        np.testing.assert_array_equal(array, expected)
        # With late copies, a group that may be pending is pending.
        array[...] = 7
        text = kernel(body.replace("{n}", "1"), parameters, declaration(name, signature))
        run(text, tensor_map(array, box), tile, 1, *coordinates(at), emulation=schedule)
        np.testing.assert_array_equal(array, 7 if schedule.copies == "late" else expected)


@pytest.mark.parametrize("rank", range(1, 6))
def test_a_false_predicate(rank: int) -> None:
    array = np.ones(SHAPES[rank], np.float32)
    box = BOXES[rank]
    for name, (signature, operands) in {**loads(rank), **stores(rank)}.items():
        if not name.startswith("asm:"):
            continue
        body = "  store i32 3, ptr addrspace(3) @tile\n" + INIT + call(name, signature, operands)
        body += "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n"
        out = np.zeros(1, np.int32)
        text = kernel(body + COPY_OUT.format(bytes=4), f"ptr %map, ptr %out, i1 %if, {COORDINATES}")
        run(text, tensor_map(array, box), out, 0, 0, 0, 0, 0, 0)
        assert out[0] == 3 and (array == 1).all()


LOAD_2D = f"{PREFIX}cp.async.bulk.tensor.g2s.tile.2d"
STORE_2D = f"{PREFIX}cp.async.bulk.tensor.s2g.tile.2d"


def tile_of(array: Array, box: Sequence[int], at: Sequence[int], **options: Any) -> Array:
    rank, signature, operands = LOADS[f"{PREFIX}cp.async.bulk.tensor.g2s.tile.{array.ndim}d"]
    counts = [-(-b // s) for b, s in zip(box, options.get("element_strides", [1] * rank), strict=True)]
    size = int(np.prod(counts)) * array.itemsize
    text = load_kernel(f"{PREFIX}cp.async.bulk.tensor.g2s.tile.{rank}d", rank, signature, operands, size)
    out = np.zeros(size, np.uint8)
    run(text, tensor_map(array, box, **options), out, 1, *coordinates(at))
    return out


@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32, np.float64])
def test_swizzles(dtype: Any, swizzle: int) -> None:
    width = swizzle // np.dtype(dtype).itemsize
    array = np.arange(40 * 2 * width).reshape(40, 2 * width).astype(dtype)
    box, at = (20, width), (3, 4)
    expected = swizzled(reference(array, box, at, (1, 1)), swizzle)
    np.testing.assert_array_equal(tile_of(array, box, at, swizzle=swizzle), expected)


def test_swizzles_are_undone_by_stores() -> None:
    array, box = nvidia.seeded("swizzle").standard_normal((32, 64)).astype(np.float16), (16, 64)
    load, store = LOADS[LOAD_2D], STORES[STORE_2D]
    body = INIT + EXPECT.format(bytes=2048) + call(LOAD_2D, *load[1:]) + WAIT.format(parity=0)
    body += call(STORE_2D, *store[1:]).replace("%map", "%other")
    body += (
        "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n"
    )
    text = kernel(
        body, f"ptr %map, ptr %other, {COORDINATES}", declaration(LOAD_2D, load[1]) + declaration(STORE_2D, store[1])
    )
    got = np.zeros_like(array)
    run(text, tensor_map(array, box, swizzle=128), tensor_map(got, box, swizzle=128), 0, 16, 0, 0, 0)
    np.testing.assert_array_equal(got[16:], array[16:])
    assert (got[:16] == 0).all()


def test_element_strides() -> None:
    array = np.arange(24 * 32, dtype=np.float32).reshape(24, 32)
    box, at, steps = (7, 16), (1, 4), (3, 1)
    got = tile_of(array, box, at, element_strides=steps).view(np.float32).reshape(3, 16)
    np.testing.assert_array_equal(got, reference(array, box, at, steps))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_fill_of_nan(dtype: Any) -> None:
    array = np.ones((4, 8), dtype)
    got = tile_of(array, (4, 8), (2, 3), oob_fill="nan").view(dtype).reshape(4, 8)
    assert np.isnan(got[2:]).all() and np.isnan(got[:, 5:]).all() and (got[:2, :5] == 1).all()


def test_strided_arrays() -> None:
    array = np.arange(20 * 64, dtype=np.float32).reshape(20, 64)[::2, 8:40]
    got = tile_of(array, (4, 8), (1, 2)).view(np.float32).reshape(4, 8)
    np.testing.assert_array_equal(got, array[1:5, 2:10])


BY_VALUE = """{shared}
declare void @{name}({signature})
declare void @llvm.memcpy.p0.p3.i64(ptr, ptr addrspace(3), i64, i1)
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, ptr %out, {coordinates}) {{
  %dst = addrspacecast ptr addrspace(3) @tile to ptr addrspace(7)
{body}  ret void
}}
"""


def test_map_by_value() -> None:
    rank, signature, operands = LOADS[LOAD_2D]
    array = np.arange(11 * 40, dtype=np.float32).reshape(11, 40)
    body = INIT + EXPECT.format(bytes=320) + call(LOAD_2D, signature, operands) + WAIT.format(parity=0)
    text = BY_VALUE.format(
        shared=SHARED,
        name=LOAD_2D,
        signature=signature,
        coordinates=COORDINATES,
        body=body + COPY_OUT.format(bytes=320),
    )
    for sanitizer in (None, "address", "thread"):
        out = np.zeros((5, 16), np.float32)
        run(text, tensor_map(array, (5, 16)), out, *coordinates((2, 3)), emulation=Emulation(sanitize=sanitizer))
        np.testing.assert_array_equal(out, array[2:7, 3:19])
    assert rank == 2


def test_array_that_is_an_argument_too() -> None:
    """The kernel sees one copy: what it writes is what the map reads."""
    rank, signature, operands = LOADS[LOAD_2D]
    array = np.zeros((8, 16), np.float32)
    body = "  store float 5.0, ptr %out\n" + INIT + EXPECT.format(bytes=512) + call(LOAD_2D, signature, operands)
    body += WAIT.format(parity=0) + "  %v = load float, ptr addrspace(3) @tile\n"
    body += "  %p = getelementptr float, ptr %out, i32 17\n  store float %v, ptr %p\n"
    text = kernel(body, f"ptr %map, ptr %out, {COORDINATES}", declaration(LOAD_2D, signature))
    run(text, tensor_map(array, (8, 16)), array, 0, 0, 0, 0, 0)
    assert array[0, 0] == 5 and array[1, 1] == 5
    assert rank == 2


@pytest.mark.parametrize("name", PREFETCHES)
def test_prefetches(name: str) -> None:
    rank = int(name[-2])
    ints, at = ", ".join(["i32"] * rank), ", ".join(["i32 0"] * rank)
    body = f"  call void @{name}(ptr %map, {at}, i64 0, i1 false)\n  call void @llvm.nvvm.prefetch.tensormap.p0(ptr %map)\n"
    body += call("asm:@$1 prefetch.tensormap [$0];", "l,b", "ptr %map, i1 true")
    body += call(PREFETCH_TEXTS[rank - 1], ",".join(["l", *["r"] * rank]), f"ptr %map, {at}")
    declarations = f"declare void @{name}(ptr, {ints}, i64, i1)\ndeclare void @llvm.nvvm.prefetch.tensormap.p0(ptr)\n"
    run(kernel(body, "ptr %map", declarations), tensor_map(np.zeros(SHAPES[rank], np.float32), BOXES[rank]))


@pytest.mark.parametrize("space", MLIR_BARRIERS)
def test_barriers_of_mlir(space: str) -> None:
    """Half of the threads neither initialize nor arrive; all wait."""
    names = MLIR_BARRIERS[space]
    _, signature, operands = LOADS[LOAD_2D]
    pointer, letter = ("ptr addrspace(3) @bar", "r") if space else ("ptr %generic", "l")
    body = "  %generic = addrspacecast ptr addrspace(3) @bar to ptr\n  %if = icmp eq i32 %tid, 5\n"
    body += call(names["init"], f"{letter},r,b", f"{pointer}, i32 1, i1 %if")
    body += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
    body += call(names["expect"], f"{letter},r,b", f"{pointer}, i32 512, i1 %if")
    name = next(
        n
        for n in LOADS
        if n.startswith("asm:@$5 cp.async.bulk.tensor.2d.shared::cluster") and "hint" not in n and "multi" not in n
    )
    body += call(name, LOADS[name][1], LOADS[name][2].replace("%if", "%if"))
    body += call(names["wait"], f"{letter},r,r", f"{pointer}, i32 0, i32 1000")
    body += """  %at = mul i32 %tid, 4
  %from = getelementptr i8, ptr addrspace(3) @tile, i32 %at
  %to = getelementptr i8, ptr %out, i32 %at
  %v = load i32, ptr addrspace(3) %from
  store i32 %v, ptr %to
"""
    text = kernel(body, f"ptr %map, ptr %out, {COORDINATES}", declaration(LOAD_2D, signature))
    array = np.arange(8 * 16, dtype=np.int32).reshape(8, 16)
    for sanitizer, copies, order in itertools.product(
        (None, "thread"), ("late", "early"), ("lowest-first", "highest-first")
    ):
        out = np.zeros(128, np.int32)
        how = Emulation(sanitize=sanitizer, copies=copies, order=order)
        run(text, tensor_map(array, (8, 16)), out, 0, 0, 0, 0, 0, threads=128, emulation=how)
        np.testing.assert_array_equal(out.reshape(8, 16), array)
    assert operands


# ---------------------------------------------------------------------------------------------------------------------
# Mistakes
# ---------------------------------------------------------------------------------------------------------------------


def test_the_wrong_parity_has_no_data() -> None:
    """A wait for the previous phase returns immediately."""
    _, signature, operands = LOADS[LOAD_2D]
    array = np.ones((8, 16), np.float32)
    got = []
    for parity in (0, 1):
        out = np.zeros((8, 16), np.float32)
        run(
            load_kernel(LOAD_2D, 2, signature, operands, 512, parity), tensor_map(array, (8, 16)), out, 1, 0, 0, 0, 0, 0
        )
        got.append(out)
    assert (got[0] == 1).all() and np.isnan(got[1]).all()


def test_too_few_bytes_have_no_data() -> None:
    """A phase that expects no bytes ends before the copy."""
    _, signature, operands = LOADS[LOAD_2D]
    text = load_kernel(LOAD_2D, 2, signature, operands, 512).replace("@bar, i32 512)", "@bar, i32 0)")
    out = np.zeros((8, 16), np.float32)
    run(text, tensor_map(np.ones((8, 16), np.float32), (8, 16)), out, 1, 0, 0, 0, 0, 0)
    assert np.isnan(out).all()


@pytest.mark.parametrize("bytes_", [256, 1024])
def test_other_bytes_never_end_the_phase(bytes_: int) -> None:
    _, signature, operands = LOADS[LOAD_2D]
    text = load_kernel(LOAD_2D, 2, signature, operands, 512).replace("@bar, i32 512)", f"@bar, i32 {bytes_})")
    with pytest.raises(smalti.EmulationError, match=r"mbarrier\.try_wait"):
        run(text, tensor_map(np.ones((8, 16), np.float32), (8, 16)), np.zeros((8, 16), np.float32), 1, 0, 0, 0, 0, 0)


def test_reads_in_flight_have_both_sides() -> None:
    _, signature, operands = LOADS[LOAD_2D]
    text = load_kernel(LOAD_2D, 2, signature, operands, 512, parity=1)
    text = text.replace(
        COPY_OUT.format(bytes=512), "  %v = load i32, ptr addrspace(3) @tile\n  store i32 %v, ptr %out\n"
    )
    with pytest.raises(smalti.EmulationError) as caught:
        run(
            text, tensor_map(np.ones((8, 16), np.float32), (8, 16)), np.zeros((8, 16), np.float32), 1, 0, 0, 0, 0, 0,
            emulation=Emulation(sanitize="address"),
        )  # fmt: skip
    (finding,) = caught.value.findings
    assert finding.kind == "race" and finding.others[0].message == "the asynchronous copy of 512 bytes, in flight"


def test_no_map() -> None:
    _, signature, operands = LOADS[LOAD_2D]
    with pytest.raises(smalti.EmulationError, match="does not hold a tensor map"):
        data = np.zeros(32, np.float32)
        emulator.load(nvidia.HEADER + load_kernel(LOAD_2D, 2, signature, operands, 512), "emu:sm_90a").launch(
            1, 1, data, np.zeros((8, 16), np.float32), 1, 0, 0, 0, 0, 0, alignment=64
        )


def test_map_of_another_rank() -> None:
    _, signature, operands = LOADS[LOAD_2D]
    with pytest.raises(smalti.EmulationError, match="the map has 3 dimensions; the instruction requires 2"):
        array = np.zeros((4, 4, 16), np.float32)
        text = load_kernel(LOAD_2D, 2, signature, operands, 512)
        run(text, tensor_map(array, (2, 2, 16)), np.zeros(512, np.uint8), 1, 0, 0, 0, 0, 0)


def test_destination_must_be_aligned() -> None:
    _, signature, operands = LOADS[f"{PREFIX}cp.async.bulk.tensor.g2s.cta.tile.2d"]
    name = f"{PREFIX}cp.async.bulk.tensor.g2s.cta.tile.2d"
    text = load_kernel(name, 2, signature, operands, 512).replace(
        "call void @" + name + "(ptr addrspace(3) @tile",
        "call void @" + name + "(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i32 64)",
    )
    with pytest.raises(smalti.EmulationError, match="not a multiple of 128"):
        run(text, tensor_map(np.zeros((8, 16), np.float32), (8, 16)), np.zeros(512, np.uint8), 1, 0, 0, 0, 0, 0)


F32 = np.zeros((8, 16), np.float32)
WRONG = [
    (F32, (8,), {}, "box"),
    (F32, (8, 300), {}, "box"),
    (F32, (8, 0), {}, "box"),
    (F32, (8, 3), {}, "multiple of 16 B"),
    (F32, (8, 16), {"swizzle": 128}, "a row of the box has 64 B"),
    (F32, (8, 16), {"swizzle": 16}, "'swizzle' is 16"),
    (F32, (8, 16), {"element_strides": (9, 1)}, "element_strides"),
    (F32, (8, 16), {"element_strides": (1, 2)}, "innermost dimension is 2; it must be 1"),
    (F32, (8, 16), {"oob_fill": "ones"}, "the fill is 'ones'"),
    (F32.astype(np.int32), (8, 16), {"oob_fill": "nan"}, "do not have NaN"),
    (F32.T, (8, 8), {}, "must be contiguous"),
    (np.zeros((8, 5), np.float32), (8, 4), {}, "multiples of 16 B"),
    (np.zeros((1,) * 6, np.float32), (1,) * 6, {}, "dimensions"),
    (np.zeros((8, 16), np.complex64), (8, 16), {}, "has elements of"),
    ("text", (1,), {}, "not an array"),
]


@pytest.mark.parametrize("array, box, options, message", WRONG, ids=lambda v: str(v) if isinstance(v, str) else "")
def test_maps_are_checked(array: Any, box: Sequence[int], options: dict[str, Any], message: str) -> None:
    with pytest.raises(smalti.errors.LaunchError, match=re.escape(message)):
        tensor_map(array, box, **options)


# ---------------------------------------------------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------------------------------------------------

REDUCTIONS: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda old, value: np.where(old >= value, 0, old + 1),
    "dec": lambda old, value: np.where((old == 0) | (old > value), value, old - 1),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def reduction(op: str, rank: int) -> str:
    return f"{PREFIX}cp.async.bulk.tensor.reduce.{op}.tile.{rank}d"


def reduce_tile(op: str, array: Array, tile: Array, at: Sequence[int], **options: Any) -> None:
    """Reduces a tile, whose first element goes to `at`, into the array."""
    rank = array.ndim
    ints = ", ".join(["i32"] * rank)
    name = reduction(op, rank)
    numbers = ", ".join(f"i32 {i}" for i in reversed(at))
    body = f"""  %is = icmp eq i32 %tid, 0
  br i1 %is, label %some, label %end
some:
  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) @tile, ptr %in, i64 {tile.nbytes}, i1 false)
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @{name}(ptr addrspace(3) @tile, ptr %map, {numbers}, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:
"""
    declarations = f"declare void @{name}(ptr addrspace(3), ptr, {ints}, i64, i1)\n"
    text = kernel(body, "ptr %map, ptr %in", declarations)
    run(text, tensor_map(array, tile.shape), tile.reshape(-1).view(np.uint8), **options)


@pytest.mark.grid(16)
@pytest.mark.parametrize("rank", range(1, 6))
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op: str, rank: int) -> None:
    """Elements outside of the tensor are skipped."""
    random = np.random.default_rng(rank)
    array = random.integers(0, 9, SHAPES[rank], dtype=np.uint32)
    tile = random.integers(0, 9, BOXES[rank], dtype=np.uint32)
    at = [1] * (rank - 1) + [4]
    expected = array.copy()
    inside = tuple(slice(a, a + b) for a, b in zip(at, tile.shape, strict=True))
    part = tuple(slice(0, n) for n in expected[inside].shape)
    expected[inside] = REDUCTIONS[op](expected[inside], tile[part])
    for emulation in LATE_AND_EARLY:
        found = array.copy()
        reduce_tile(op, found, tile, at, emulation=emulation)
        np.testing.assert_array_equal(found, expected)


REDUCED_TYPES = ["uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16"]


@pytest.mark.parametrize("dtype", REDUCED_TYPES)
@pytest.mark.parametrize("op", ["add", "min", "max"])
def test_types_of_reductions(op: str, dtype: str) -> None:
    random = np.random.default_rng(7)
    ty = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    low = 0 if dtype.startswith("u") else -8
    array = random.integers(low, 8, (8, 16)).astype(ty)
    tile = random.integers(low, 8, (4, 16)).astype(ty)
    expected = array.copy()
    expected[2:6] = REDUCTIONS[op](expected[2:6].astype(np.float64), tile.astype(np.float64)).astype(ty)
    reduce_tile(op, array, tile, [2, 0])
    np.testing.assert_array_equal(array.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize(("op", "dtype"), [("and", np.float32), ("inc", np.float16), ("add", np.uint8)])
def test_reductions_that_there_are_not(op: str, dtype: Any) -> None:
    with pytest.raises(smalti.EmulationError, match=r"cp\.reduce\.async"):
        reduce_tile(op, np.zeros((8, 16), dtype), np.zeros((4, 16), dtype), [0, 0])


TESTED = [
    *(reduction(op, rank) for op in REDUCTIONS for rank in range(1, 6)),
    *LOADS,
    *STORES,
    *PREFETCHES,
    *PREFETCH_TEXTS,
    f"{PREFIX}prefetch.tensormap.*",
    "asm:@$1 prefetch.tensormap [$0];",
    *(name for names in MLIR_BARRIERS.values() for name in names.values()),
]
