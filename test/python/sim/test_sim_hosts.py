# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host functions that launch thread-level kernels: sizes, tensor maps, device arrays."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import SHARED
from smalti import sim
from smalti.errors import CompileError, LaunchError
from smalti.sim import mutants

BARRIERS = f"!nvgpu.mbarrier.group<memorySpace = {SHARED}>"


def tensor_map(box: str, swizzle: str = "none", fill: str = "zero") -> str:
    """The type of a tensor map."""
    return (
        f"!nvgpu.tensormap.descriptor<tensor = memref<{box}xf32, {SHARED}>, swizzle = {swizzle}, l2promo = none, "
        f"oob = {fill}, interleave = none>"
    )


def copying(swizzle: str = "swizzle_128b", fill: str = "zero", rows: int = 16, columns: int = 32, box: int = 32) -> str:
    """Each of two blocks copies eight rows of an array of the host's to another one, through shared memory."""
    ty, array, tile = (
        tensor_map(f"8x{box}", swizzle, fill),
        f"memref<{rows}x{columns}xf32>",
        f"memref<8x{box}xf32, {SHARED}>",
    )
    return f"""
module {{
  func.func @main(%x: {array}, %y: {array}) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %width = arith.constant {box} : index
    %n = arith.muli %c8, %c8 : index
    %t = gpu.wait async
    %d, %t1 = gpu.alloc async [%t] () : {array}
    %e, %t2 = gpu.alloc async [%t1] () : {array}
    %t3 = gpu.memcpy async [%t2] %d, %x : {array}, {array}
    gpu.wait [%t3]
    %u = memref.cast %d : {array} to memref<*xf32>
    %map = nvgpu.tma.create.descriptor %u box[%c8, %width] : memref<*xf32> -> {ty}
    %w = memref.cast %e : {array} to memref<*xf32>
    %out = nvgpu.tma.create.descriptor %w box[%c8, %width] : memref<*xf32> -> {ty}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%nx = %n, %ny = %c1, %nz = %c1) {{
      %c0 = arith.constant 0 : index
      %bytes = arith.constant {8 * box * 4} : index
      %ticks = arith.constant 10000000 : index
      %false = arith.constant false
      %leads = arith.cmpi eq, %tx, %c0 : index
      %tile = memref.alloc() {{alignment = 1024 : i64}} : {tile}
      %b = nvgpu.mbarrier.create -> {BARRIERS}
      nvgpu.tma.prefetch.descriptor %map : {ty}
      nvgpu.tma.fence.descriptor %map : {ty}
      nvgpu.mbarrier.init %b[%c0], %c1, predicate = %leads : {BARRIERS}
      nvvm.fence.mbarrier.init
      gpu.barrier
      %row = arith.muli %bx, %c8 : index
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes, predicate = %leads : {BARRIERS}
      nvgpu.tma.async.load %map[%c0, %row], %b[%c0] to %tile, predicate = %leads : {ty}, {BARRIERS} -> {tile}
      nvgpu.mbarrier.try_wait.parity %b[%c0], %false, %ticks : {BARRIERS}
      nvgpu.tma.async.store %tile to %out[%c0, %row], predicate = %leads : {tile} -> {ty}
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
      gpu.terminator
    }}
    gpu.memcpy %y, %e : {array}, {array}
    gpu.dealloc %d : {array}
    return
  }}
}}
"""


@pytest.mark.parametrize("swizzle", ["none", "swizzle_32b", "swizzle_64b", "swizzle_128b"])
def test_a_launch_with_tensor_maps(swizzle: str) -> None:
    box = {"swizzle_32b": 8, "swizzle_64b": 16}.get(swizzle, 32)
    # The box exceeds the array at the end.
    kernel = smalti.compile(copying(swizzle, rows=13, columns=box, box=box), target="sim:sm_90a")
    x = np.random.default_rng(0).standard_normal((13, box), np.float32)
    y = np.zeros_like(x)
    x.flags.writeable = False
    kernel(x, y)
    assert (x == y).all()


def test_the_mutants_of_a_launch_are_noticed() -> None:
    kernel = sim.simulate(copying(), "sim:sm_90a")
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(one) for one in outcomes if not one.caught] == []
    operations = {one.mutant.operation for one in outcomes}
    assert {"nvgpu.mbarrier.init", "nvgpu.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.try_wait.parity"} <= operations
    assert len(outcomes) == 10


@pytest.mark.parametrize("fill", ["zero", "nan"])
def test_elements_outside_of_the_array_are_filled(fill: str) -> None:
    # The store has padding between its elements, so reads of the padding are checked in shared memory.
    text = copying("none", fill, rows=12)
    begin = text.index("      nvgpu.tma.async.store")
    end = text.index("      gpu.terminator")
    text = (
        text[:begin]
        + f"""
      %last = arith.constant 7 : index
      %columns = arith.constant 32 : index
      %column = arith.remui %tx, %columns : index
      %v = memref.load %tile[%last, %column] : memref<8x32xf32, {SHARED}>
      memref.store %v, %e[%bx, %column] : memref<12x32xf32>
"""
        + text[end:]
    )
    x, y = np.ones((12, 32), np.float32), np.ones((12, 32), np.float32)
    smalti.compile(text, target="sim:sm_90a")(x, y)
    assert (y[0] == 1).all()
    assert np.isnan(y[1]).all() if fill == "nan" else (y[1] == 0).all()


def shared_copy(mask: int = 3) -> str:
    """The same with a cluster of two blocks, each of which copies four rows to both."""
    text = copying().replace(
        "gpu.launch blocks", "gpu.launch clusters(%cx, %cy, %cz) in (%lx = %c2, %ly = %c1, %lz = %c1) blocks"
    )
    half = tensor_map("4x32", "swizzle_128b")
    text = text.replace(
        "%map = nvgpu.tma.create.descriptor %u box[%c8, %width] : memref<*xf32> -> "
        + tensor_map("8x32", "swizzle_128b"),
        f"%c4 = arith.constant 4 : index\n    %map = nvgpu.tma.create.descriptor %u box[%c4, %width] : memref<*xf32> -> {half}",
    )
    for name in ("prefetch", "fence"):
        begin = text.index(f"      nvgpu.tma.{name}.descriptor")
        text = text[:begin] + text[text.index("\n", begin) + 1 :]
    begin = text.index("      nvgpu.tma.async.load")
    end = text.index("\n", begin)
    load = f"""
      %half = arith.muli %bx, %c4 : index
      %part = memref.subview %tile[%half, 0] [4, 32] [1, 1] : memref<8x32xf32, {SHARED}>
          to memref<4x32xf32, strided<[32, 1], offset: ?>, {SHARED}>
      %both = arith.constant {mask} : i16
      nvvm.cluster.arrive.relaxed {{aligned}}
      nvvm.cluster.wait {{aligned}}
      nvgpu.tma.async.load %map[%c0, %half], %b[%c0] to %part multicast_mask = %both, predicate = %leads
          : {half}, {BARRIERS} -> memref<4x32xf32, strided<[32, 1], offset: ?>, {SHARED}>"""
    return text[:begin] + load + text[end:]


def test_copies_that_blocks_of_a_cluster_share() -> None:
    kernel = sim.simulate(shared_copy(), "sim:sm_90a")
    x, y = kernel.random_arguments()
    kernel(x, y)
    # Both blocks have the first eight rows.
    assert (y[:8] == x[:8]).all() and (y[8:] == x[:8]).all()
    outcomes = mutants.score(kernel, [x, y])
    assert [str(one) for one in outcomes if not one.caught] == []
    assert {"nvvm.cluster.wait", "nvvm.fence.mbarrier.init"} <= {one.mutant.operation for one in outcomes}
    # A block without work waits forever, and a third block does not exist.
    assert {one.kind for one in sim.simulate(shared_copy(1), "sim:sm_90a").find(x, y)} == {"transaction", "deadlock"}
    found = sim.simulate(shared_copy(7), "sim:sm_90a").find(x, y)
    assert found[0].message == "the copy targets block 2, which is outside the cluster of 2 blocks"


def kernel_with(launch: str, body: str, arguments: str, more: str = "") -> str:
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @k({arguments}) kernel {{
{body}
      gpu.return
    }}
  }}
  func.func @main(%x: memref<256xi32>) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %seven = arith.constant 7 : i32
    %bytes = arith.constant 256 : i32
{more}
    {launch}
    return
  }}
}}
"""


LAUNCH = """gpu.launch_func @kernels::@k clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1)
        threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%x : memref<256xi32>, %seven : i32)"""
BODY = """
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1 : i32
      %view = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<64xi32, #gpu.address_space<workgroup>>
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %cb = gpu.cluster_id x
      %t32 = arith.index_cast %t : index to i32
      %c32 = arith.index_cast %cb : index to i32
      %sum = arith.addi %t32, %seven : i32
      %v = arith.muli %sum, %c32 : i32
      memref.store %v, %view[%t] : memref<64xi32, #gpu.address_space<workgroup>>
      %p = memref.extract_aligned_pointer_as_index %view : memref<64xi32, #gpu.address_space<workgroup>> -> index
      %p64 = arith.index_cast %p : index to i64
      %mine = llvm.inttoptr %p64 : i64 to !llvm.ptr<3>
      %rank = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
      %other = arith.subi %one, %rank : i32
      %theirs = nvvm.mapa %mine, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      %place = llvm.getelementptr %theirs[%t32] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i32
      %w = llvm.load %place : !llvm.ptr<7> -> i32
      %first = arith.muli %b, %c64 : index
      %at = arith.addi %first, %t : index
      memref.store %w, %x[%at] : memref<256xi32>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}"""
ARGUMENTS = "%x: memref<256xi32>, %seven: i32"


def test_a_kernel_that_is_launched_with_clusters() -> None:
    kernel = sim.simulate(kernel_with(LAUNCH, BODY, ARGUMENTS), "sim:sm_90a")
    assert kernel.name == "main" and len(kernel.parameters) == 1
    x = np.zeros(256, np.int32)
    kernel(x)
    assert (x.reshape(4, 64) == (np.arange(64) + 7) * np.array([0, 0, 1, 1])[:, None]).all()
    outcomes = mutants.score(kernel, [x])
    assert len(outcomes) == 4 and all(one.caught for one in outcomes)
    # The launch states the size of shared memory.
    short = kernel_with(LAUNCH, BODY, ARGUMENTS).replace("%bytes = arith.constant 256", "%bytes = arith.constant 128")
    found = sim.simulate(short, "sim:sm_90a").find(x)
    assert {one.kind for one in found} == {"out-of-bounds"}


def problem(text: str) -> str:
    with pytest.raises(CompileError) as caught:
        sim.simulate(text, "sim:sm_90a")
    (found,) = caught.value.diagnostics
    return found.message


def test_unsupported_host_functions_are_refused() -> None:
    twice = kernel_with(LAUNCH + "\n    " + LAUNCH, BODY, ARGUMENTS)
    assert (
        problem(twice)
        == "the simulator does not support this form of 'gpu.launch_func': the host function contains a second launch, but only one launch is supported; move it to another function (in the host function)"
    )
    unknown = kernel_with(LAUNCH, BODY, ARGUMENTS, "    memref.store %seven, %x[%c1] : memref<256xi32>")
    assert problem(unknown) == "the simulator does not support 'memref.store' (in the host function)"
    sizes = kernel_with(LAUNCH.replace("in (%c64,", "in (%n,"), BODY, ARGUMENTS)
    sizes = sizes.replace("@main(%x: memref<256xi32>)", "@main(%x: memref<256xi32>, %n: index)")
    assert (
        problem(sizes)
        == "the block size in dimension x of the launch is dynamic; only the grid size may be dynamic, so use a constant"
    )
    many = kernel_with(LAUNCH, BODY, ARGUMENTS).replace(
        "%c64 = arith.constant 64 : index\n    %seven", "%c64 = arith.constant 2048 : index\n    %seven"
    )
    with pytest.raises(LaunchError, match="the block has 2048 threads"):
        sim.simulate(many, "sim:sm_90a")
    # The driver refuses a map of this array.
    kernel = sim.simulate(copying("none", columns=31), "sim:sm_90a")
    with pytest.raises(LaunchError, match="they must be multiples of 16 B"):
        kernel(*kernel.random_arguments())


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------------------------------------------------

A, B = f"memref<128x64xf16, {SHARED}>", f"memref<64x128xf16, {SHARED}>"
HALF = f"memref<64x64xf16, {SHARED}>"
OF_A = tensor_map("128x64").replace("xf32", "xf16").replace("swizzle = none", "swizzle = swizzle_128b")
OF_B = tensor_map("64x64").replace("xf32", "xf16").replace("swizzle = none", "swizzle = swizzle_128b")
SUMS = "!nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>"
SLOTS = f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers = 2>"
SLOT_BYTES, B_BYTES = 32768, 16384


def tile_load(name: str, k: str, slot: str) -> str:
    """Fetches a tile of each matrix to a slot."""
    return f"""
      %{name}_at = arith.muli {slot}, %slot_bytes : index
      %{name}_at1 = arith.addi %{name}_at, %b_bytes : index
      %{name}_at2 = arith.addi %{name}_at1, %half_bytes : index
      %{name}_a = memref.view %memory[%{name}_at][] : memref<?xi8, {SHARED}> to {A}
      %{name}_b1 = memref.view %memory[%{name}_at1][] : memref<?xi8, {SHARED}> to {HALF}
      %{name}_b2 = memref.view %memory[%{name}_at2][] : memref<?xi8, {SHARED}> to {HALF}
      %{name}_k = arith.muli {k}, %c64 : index
      nvgpu.mbarrier.arrive.expect_tx %full[{slot}], %slot_bytes, predicate = %leads : {SLOTS}
      nvgpu.tma.async.load %of_a[%{name}_k, %c0], %full[{slot}] to %{name}_a, predicate = %leads
          : {OF_A}, {SLOTS} -> {A}
      nvgpu.tma.async.load %of_b[%c0, %{name}_k], %full[{slot}] to %{name}_b1, predicate = %leads
          : {OF_B}, {SLOTS} -> {HALF}
      nvgpu.tma.async.load %of_b[%c64, %{name}_k], %full[{slot}] to %{name}_b2, predicate = %leads
          : {OF_B}, {SLOTS} -> {HALF}"""


def gemm(trips: int = 4) -> str:
    """A warpgroup's matmul of tiles of 64 along k in two slots."""
    depth = 64 * trips
    a, b, d = f"memref<128x{depth}xf16>", f"memref<{depth}x128xf16>", "memref<128x128xf32>"
    of_a, of_b = (f"!nvgpu.warpgroup.descriptor<tensor = {ty}>" for ty in (A, B))
    return f"""
module {{
  func.func @main(%a: {a}, %b: {b}, %d: {d}) {{
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant {2 * SLOT_BYTES} : i32
    %ua = memref.cast %a : {a} to memref<*xf16>
    %of_a = nvgpu.tma.create.descriptor %ua box[%c128, %c64] : memref<*xf16> -> {OF_A}
    %ub = memref.cast %b : {b} to memref<*xf16>
    %of_b = nvgpu.tma.create.descriptor %ub box[%c64, %c64] : memref<*xf16> -> {OF_B}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {{
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %trips = arith.constant {trips} : index
      %slot_bytes = arith.constant {SLOT_BYTES} : index
      %b_bytes = arith.constant {B_BYTES} : index
      %half_bytes = arith.constant {B_BYTES // 2} : index
      %ticks = arith.constant 10000000 : index
      %false = arith.constant false
      %leads = arith.cmpi eq, %tx, %c0 : index
      %memory = gpu.dynamic_shared_memory : memref<?xi8, {SHARED}>
      %full = nvgpu.mbarrier.create -> {SLOTS}
      nvgpu.mbarrier.init %full[%c0], %c1, predicate = %leads : {SLOTS}
      nvgpu.mbarrier.init %full[%c1], %c1, predicate = %leads : {SLOTS}
      nvvm.fence.mbarrier.init
      gpu.barrier
{tile_load("p", "%c0", "%c0")}
{tile_load("q", "%c1", "%c1")}
      %zeros = nvgpu.warpgroup.mma.init.accumulator -> {SUMS}
      %sums, %last = scf.for %k = %c0 to %trips step %c1 iter_args(%acc = %zeros, %parity = %false) -> ({SUMS}, i1) {{
        %slot = arith.remui %k, %c2 : index
        nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : {SLOTS}
        %at_a = arith.muli %slot, %slot_bytes : index
        %at_b = arith.addi %at_a, %b_bytes : index
        %tile_a = memref.view %memory[%at_a][] : memref<?xi8, {SHARED}> to {A}
        %tile_b = memref.view %memory[%at_b][] : memref<?xi8, {SHARED}> to {B}
        %desc_a = nvgpu.warpgroup.generate.descriptor %tile_a, %of_a : {A}, {OF_A} -> {of_a}
        %desc_b = nvgpu.warpgroup.generate.descriptor %tile_b, %of_b : {B}, {OF_B} -> {of_b}
        %next = nvgpu.warpgroup.mma %desc_a, %desc_b, %acc {{transposeB}} : {of_a}, {of_b}, {SUMS} -> {SUMS}
        %more = arith.addi %k, %c1 : index
        %inside = arith.cmpi ult, %more, %trips : index
        %is_new = arith.cmpi uge, %more, %c2 : index
        %fetches = arith.andi %inside, %is_new : i1
        scf.if %fetches {{
          %free = arith.remui %more, %c2 : index
{tile_load("f", "%more", "%free")}
        }}
        %turned = arith.cmpi eq, %slot, %c1 : index
        %after = arith.xori %parity, %turned : i1
        scf.yield %next, %after : {SUMS}, i1
      }}
      nvvm.wgmma.wait.group.sync.aligned 0
      nvgpu.warpgroup.mma.store %sums, %d : {SUMS} to {d}
      gpu.terminator
    }}
    return
  }}
}}
"""


def test_wgmma_in_two_slots() -> None:
    kernel = sim.simulate(gemm(), "sim:sm_90a")
    a, b, d = kernel.random_arguments()
    for how in (sim.SCHEDULES[0], sim.SCHEDULES[3], sim.SCHEDULES[8]):
        d[...] = np.nan
        kernel(a, b, d, simulation=how)
        wanted = a.astype(np.float64) @ b.astype(np.float64)
        assert np.abs(d - wanted).max() <= 2.0**-20 * np.abs(wanted).max() * 16
    kernel = sim.simulate(gemm(3), "sim:sm_90a")
    outcomes = mutants.score(kernel, kernel.random_arguments())
    assert [str(one) for one in outcomes if not one.caught] == []
    made = {f"{one.mutant.kind}: {one.mutant.operation}" for one in outcomes}
    assert {"wait weakened by one: nvgpu.warpgroup.mma", "wait removed: nvvm.wgmma.wait.group.sync.aligned"} <= made


def test_a_launch_in_time() -> None:
    kernel = sim.simulate(gemm(), "sim:sm_90a")
    found = kernel.timeline(*kernel.random_arguments())
    # After the first two tiles, one is fetched while another is multiplied.
    assert {s.kind for s in found.slices} >= {"copy", "mma"}
    assert 0 < found.summary.overlap < 1


def test_warpgroup_ops_with_another_lowering_are_refused() -> None:
    # With 64 columns the second 64 rows are stored from row 32 on.
    text = gemm(1).replace("128x128xf32", "128x64xf32").replace(B, HALF)
    with pytest.raises(CompileError) as caught:
        sim.simulate(text, "sim:sm_90a")
    (found,) = caught.value.diagnostics
    assert "MLIR's lowering does not store an accumulator of" in found.message
