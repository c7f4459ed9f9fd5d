# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches, calls and collective ops in thread-level kernels: against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import random
from smalti import sim
from smalti.errors import CompileError, LaunchError
from upstream_programs import made, run

# ---------------------------------------------------------------------------------------------------------------------
# scf.forall and other loops
# ---------------------------------------------------------------------------------------------------------------------

MARK = """
    %linear = affine.linearize_index [%i, %j] by (6, 10) : index
    %number = arith.index_cast %linear : index to i32
    memref.store %number, %x[%i, %j] : memref<6x10xi32>"""


@pytest.mark.parametrize(
    ("mapping", "block", "grid", "target"),
    [
        ("[#gpu.thread<y>, #gpu.thread<x>]", "16, 8, 1", "1, 1, 1", "sim:sm_80"),
        # Fewer threads than iterations, and other dimensions.
        ("[#gpu.thread<x>, #gpu.thread<z>]", "4, 2, 4", "1, 1, 1", "sim:sm_80"),
        ("[#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]", "8, 8, 1", "1, 1, 1", "sim:sm_80"),
        ("[#gpu.thread<linear_dim_0>, #gpu.thread<linear_dim_1>]", "40, 1, 1", "1, 1, 1", "sim:gfx942"),
        ("[#gpu.warp<x>, #gpu.warp<y>]", "64, 2, 1", "1, 1, 1", "sim:sm_80"),
        ("[#gpu.warp<linear_dim_0>, #gpu.warp<linear_dim_1>]", "256, 1, 1", "1, 1, 1", "sim:gfx942"),
        ("[#gpu.warpgroup<linear_dim_0>, #gpu.warpgroup<linear_dim_1>]", "256, 1, 1", "1, 1, 1", "sim:sm_90a"),
        ("[#gpu.lane<linear_dim_0>, #gpu.lane<linear_dim_1>]", "32, 1, 1", "1, 1, 1", "sim:sm_80"),
        ("[#gpu.block<y>, #gpu.block<x>]", "32, 1, 1", "10, 6, 1", "sim:sm_80"),
        ("[#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]", "32, 1, 1", "7, 1, 1", "sim:sm_80"),
        ("[]", "32, 1, 1", "1, 1, 1", "sim:sm_80"),
    ],
)
def test_iterations_are_shared(mapping: str, block: str, grid: str, target: str) -> None:
    x = np.full((6, 10), -1, np.int32)
    body = f"scf.forall (%i, %j) in (6, 10) {{{MARK}\n}} {{mapping = {mapping}}}"
    run(body, "%x: memref<6x10xi32>", x, block=block, grid=grid, target=target)
    assert (x.ravel() == np.arange(60)).all()


def test_bounds_and_steps_of_shared_iterations() -> None:
    x = np.zeros((6, 10), np.int32)
    body = f"""
    %low = arith.constant 2 : index
    scf.forall (%i, %j) = (1, %low) to (6, 10) step (2, 3) {{{MARK}
    }} {{mapping = [#gpu.thread<y>, #gpu.thread<x>]}}"""
    run(body, "%x: memref<6x10xi32>", x, block="8, 4, 1")
    wanted = np.zeros((6, 10), np.int32)
    wanted[1::2, 2::3] = np.arange(60).reshape(6, 10)[1::2, 2::3]
    assert (x == wanted).all()


EXCHANGE = """
    %s = memref.alloc() : memref<128xf32, 3>
    scf.forall (%i) in (128) {
      %v = memref.load %x[%i] : memref<128xf32>
      memref.store %v, %s[%i] : memref<128xf32, 3>
    } {mapping = [#gpu.thread<x>]}
    %last = arith.constant 127 : index
    scf.forall (%i) in (128) {
      %mirror = arith.subi %last, %i : index
      %v = memref.load %s[%mirror] : memref<128xf32, 3>
      memref.store %v, %y[%i] : memref<128xf32>
    } {mapping = [#gpu.thread<x>]}"""


@pytest.mark.parametrize("target", ["sim:sm_80", "sim:gfx942"])
def test_the_end_of_forall_is_a_synchronization_point(target: str) -> None:
    x, y = random(128), np.zeros(128, np.float32)
    kernel = made(EXCHANGE, "%x: memref<128xf32>, %y: memref<128xf32>", block="128, 1, 1", target=target)
    kernel(x, y)
    assert (y == x[::-1]).all()
    # The compiler does not insert a barrier there, so the kernel needs one.
    found = kernel.find(x, y, simulation=sim.Simulation(explicit_barriers=True))
    assert found and {finding.kind for finding in found} <= {"race", "uninitialized"}


def test_shared_iterations_where_threads_are_missing() -> None:
    body = """%few = arith.cmpi ult, %t, %c1 : index
    scf.if %few {
      scf.forall (%i) in (8) {
        memref.store %zero, %x[%i] : memref<8xf32>
      } {mapping = [#gpu.thread<x>]}
    }"""
    (finding,) = made(body, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
    assert finding.kind == "divergence" and "the end of scf.forall is in divergent control flow" in finding.message


def test_loops_with_reductions() -> None:
    x, y = random(32, 4, 6), np.zeros((32, 3), np.float32)
    body = """
    %n4 = arith.constant 4 : index
    %n6 = arith.constant 6 : index
    %one = arith.constant 1.0 : f32
    %sum, %product = scf.parallel (%i, %j) = (%c0, %c0) to (%n4, %n6) step (%c1, %c1) init (%zero, %one)
        -> (f32, f32) {
      %v = memref.load %x[%t, %i, %j] : memref<32x4x6xf32>
      scf.reduce(%v, %v : f32, f32) {
      ^bb0(%a: f32, %b: f32):
        %r = arith.addf %a, %b : f32
        scf.reduce.return %r : f32
      }, {
      ^bb0(%a: f32, %b: f32):
        %r = arith.mulf %a, %b : f32
        scf.reduce.return %r : f32
      }
    }
    memref.store %sum, %y[%t, %c0] : memref<32x3xf32>
    memref.store %product, %y[%t, %c1] : memref<32x3xf32>
    %most = affine.parallel (%i, %j) = (0, 0) to (4, 6) step (1, 2) reduce ("maximumf") -> f32 {
      %v = affine.load %x[%t, %i, %j] : memref<32x4x6xf32>
      affine.yield %v : f32
    }
    affine.store %most, %y[%t, 2] : memref<32x3xf32>"""
    run(body, "%x: memref<32x4x6xf32>, %y: memref<32x3xf32>", x, y)
    flat = x.reshape(32, -1)
    np.testing.assert_allclose(y[:, 0], flat.sum(1, np.float64), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(y[:, 1], flat.prod(1, np.float64), rtol=1e-5)
    assert (y[:, 2] == x[:, :, ::2].max((1, 2))).all()


def test_affine_loops_conditions_and_accesses() -> None:
    """Each thread sums a triangle of its own size, in parts of its rows."""
    x, y = random(32, 8), np.zeros(32, np.float32)
    body = """
    %sum = affine.for %i = 0 to 8 iter_args(%rows = %zero) -> f32 {
      %next = affine.for %j = max affine_map<(d0) -> (d0, 1)>(%i) to min affine_map<()[s0] -> (8, s0)>()[%t] step 2
          iter_args(%inner = %rows) -> f32 {
        %kept = affine.if affine_set<(d0, d1) : (d1 - d0 >= 0, d0 mod 2 == 0)>(%i, %j) -> f32 {
          %v = affine.load %x[%t, %j] : memref<32x8xf32>
          %r = arith.addf %inner, %v : f32
          affine.yield %r : f32
        } else {
          affine.yield %inner : f32
        }
        affine.yield %kept : f32
      }
      affine.yield %next : f32
    }
    affine.store %sum, %y[symbol(%t)] : memref<32xf32>"""
    run(body, "%x: memref<32x8xf32>, %y: memref<32xf32>", x, y)
    wanted = [sum(float(x[t, j]) for i in range(0, 8, 2) for j in range(max(i, 1), min(8, t), 2)) for t in range(32)]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


def test_affine_vectors() -> None:
    x, y = random(32, 8), np.zeros((32, 8), np.float32)
    body = """
    affine.prefetch %x[%t, %c0], read, locality<3>, data : memref<32x8xf32>
    affine.for %i = 0 to 8 step 4 {
      %v = affine.vector_load %x[%t, %i] : memref<32x8xf32>, vector<4xf32>
      affine.vector_store %v, %y[%t, 4 - %i] : memref<32x8xf32>, vector<4xf32>
    }"""
    run(body, "%x: memref<32x8xf32>, %y: memref<32x8xf32>", x, y)
    assert (y == np.roll(x, 4, 1)).all()


# ---------------------------------------------------------------------------------------------------------------------
# Jumps
# ---------------------------------------------------------------------------------------------------------------------

STEPS = """
    %first = memref.load %x[%t] : memref<64xi32>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i2 = arith.constant 2 : i32
    %i3 = arith.constant 3 : i32
    cf.br ^head(%first, %i0 : i32, i32)
  ^head(%v: i32, %count: i32):
    %square = arith.muli %v, %count : i32
    %done = arith.cmpi eq, %v, %i1 : i32
    cf.cond_br %done, ^exit, ^body
  ^body:
    %bit = arith.remui %v, %i2 : i32
    %odd = arith.cmpi ne, %bit, %i0 : i32
    %more = arith.addi %count, %i1 : i32
    cf.cond_br %odd, ^up, ^down
  ^up:
    %tripled = arith.muli %v, %i3 : i32
    %up = arith.addi %tripled, %i1 : i32
    cf.br ^head(%up, %more : i32, i32)
  ^down:
    %half = arith.divui %v, %i2 : i32
    cf.br ^head(%half, %more : i32, i32)
  ^exit:
    memref.store %count, %y[%t] : memref<64xi32>
    gpu.barrier
    memref.store %square, %z[%t] : memref<64xi32>
    cf.switch %count : i32, [default: ^end, 0: ^few, 1: ^few, 6: ^six]
  ^few:
    memref.store %i3, %z[%t] : memref<64xi32>
    cf.br ^end
  ^six:
    memref.store %i1, %z[%t] : memref<64xi32>
    cf.br ^end
  ^end:"""


def collatz(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count


@pytest.mark.parametrize("target", ["sim:sm_80", "sim:gfx942"])
def test_threads_of_a_warp_diverge(target: str) -> None:
    """Loops that threads leave at different times: each keeps its last value, and all reach the barrier."""
    x, y, z = np.arange(1, 65, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    run(STEPS, "%x: memref<64xi32>, %y: memref<64xi32>, %z: memref<64xi32>", x, y, z, block="64, 1, 1", target=target)
    counts = np.array([collatz(int(n)) for n in x])
    assert (y == counts).all()
    assert (z == np.where(counts < 2, 3, np.where(counts == 6, 1, counts))).all()


def test_a_barrier_on_one_path() -> None:
    body = """%few = arith.cmpi ult, %t, %c1 : index
    cf.cond_br %few, ^some, ^end
  ^some:
    gpu.barrier
    cf.br ^end
  ^end:"""
    # Threads that only return are not waited for.
    assert made(body, "%x: memref<8xf32>").find(np.zeros(8, np.float32)) == ()
    after = "\n    %v = memref.load %x[%c0] : memref<8xf32>"
    (finding,) = made(body + after, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
    assert finding.kind == "divergence"


def test_warps_wait_on_different_paths() -> None:
    """Each warp has a barrier of its own on its path."""
    y = np.zeros(64, np.int32)
    body = """
    %n32 = arith.constant 32 : index
    %b1 = arith.constant 1 : i32
    %b2 = arith.constant 2 : i32
    %count = arith.constant 32 : i32
    %low = arith.cmpi ult, %t, %n32 : index
    cf.cond_br %low, ^a, ^b
  ^a:
    nvvm.barrier id = %b1 number_of_threads = %count
    cf.br ^end(%b1 : i32)
  ^b:
    nvvm.barrier id = %b2 number_of_threads = %count
    cf.br ^end(%b2 : i32)
  ^end(%v: i32):
    memref.store %v, %y[%t] : memref<64xi32>"""
    run(body, "%y: memref<64xi32>", y, block="64, 1, 1")
    assert (y == np.repeat([1, 2], 32)).all()


def test_regions_that_lanes_choose() -> None:
    y, t = np.zeros(64, np.int32), np.arange(64)
    body = """
    %five = arith.constant 5 : index
    %r = arith.remui %t, %five : index
    %v = scf.index_switch %r -> i32
    case 1 {
      %a = arith.constant 10 : i32
      scf.yield %a : i32
    }
    case 3 {
      %a = arith.index_cast %t : index to i32
      scf.yield %a : i32
    }
    default {
      %a = scf.execute_region -> i32 {
        %few = arith.cmpi ult, %t, %five : index
        %k0 = arith.constant -1 : i32
        %k1 = arith.constant -2 : i32
        cf.cond_br %few, ^a(%k0 : i32), ^a(%k1 : i32)
      ^a(%z: i32):
        scf.yield %z : i32
      }
      scf.yield %a : i32
    }
    memref.store %v, %y[%t] : memref<64xi32>"""
    run(body, "%y: memref<64xi32>", y, block="64, 1, 1")
    assert (y == np.where(t % 5 == 1, 10, np.where(t % 5 == 3, t, np.where(t < 5, -1, -2)))).all()


@pytest.mark.parametrize("call", [1, 2])
def test_functions_that_are_called(call: int) -> None:
    x, y = random(32), np.zeros(32, np.float32)
    module = """
  func.func @absolute(%x: f32) -> f32 {
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %x, %z : f32
    cf.cond_br %c, ^negative, ^end(%x : f32)
  ^negative:
    %m = arith.negf %x : f32
    cf.br ^end(%m : f32)
  ^end(%v: f32):
    func.return %v : f32
  }
  func.func @twice(%x: f32) -> f32 {
    %y = func.call @absolute(%x) : (f32) -> f32
    %z = arith.addf %y, %y : f32
    func.return %z : f32
  }"""
    body = "%v0 = memref.load %x[%t] : memref<32xf32>\n"
    body += "".join(f"%v{i + 1} = func.call @twice(%v{i}) : (f32) -> f32\n" for i in range(call))
    body += f"memref.store %v{call}, %y[%t] : memref<32xf32>"
    run(body, "%x: memref<32xf32>, %y: memref<32xf32>", x, y, module=module)
    assert (y == 2**call * np.abs(x)).all()


def test_votes_in_functions_that_are_called() -> None:
    y = np.zeros(32, np.int32)
    module = """func.func @few(%t: index) -> i32 {
    %all = arith.constant -1 : i32
    %n = arith.constant 3 : index
    %few = arith.cmpi ult, %t, %n : index
    %votes = nvvm.vote.sync ballot %all, %few -> i32
    func.return %votes : i32
  }"""
    body = "%v = func.call @few(%t) : (index) -> i32\nmemref.store %v, %y[%t] : memref<32xi32>"
    run(body, "%y: memref<32xi32>", y, module=module)
    assert (y == 7).all()


TURNS = """
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %mine = arith.cmpi eq, %t, %c0 : index
    cf.cond_br %mine, ^first, ^wait
  ^first:
    {first}
    cf.br ^end
  ^wait:
    %v = memref.atomic_rmw addi %i0, %x[%c0] : (i32, memref<1xi32>) -> i32
    %done = arith.cmpi eq, %v, %i1 : i32
    cf.cond_br %done, ^end, ^wait
  ^end:"""


def test_lanes_that_wait_for_each_other_in_jumps() -> None:
    """The lanes of a warp run in lockstep here, so findings about divergent lanes do not occur."""
    body = TURNS.format(first="%old = memref.atomic_rmw addi %i1, %x[%c0] : (i32, memref<1xi32>) -> i32")
    assert not made(body, "%x: memref<1xi32>").find(np.zeros(1, np.int32))
    with pytest.raises(LaunchError, match="lockstep"):
        made(TURNS.format(first=""), "%x: memref<1xi32>").find(np.zeros(1, np.int32))


def test_recursive_functions_are_refused() -> None:
    module = """func.func @f(%x: f32) -> f32 {
    %y = func.call @f(%x) : (f32) -> f32
    func.return %y : f32
  }"""
    with pytest.raises(CompileError, match="@f is recursive"):
        made("%v = func.call @f(%zero) : (f32) -> f32", "%x: memref<8xf32>", module=module)


# ---------------------------------------------------------------------------------------------------------------------
# Warps and blocks
# ---------------------------------------------------------------------------------------------------------------------


def test_code_of_one_lane() -> None:
    x, y = random(64), np.zeros((64, 2), np.float32)
    body = """
    %lane = gpu.lane_id
    %f = memref.load %x[%t] : memref<64xf32>
    %v = vector.from_elements %f, %zero : vector<2xf32>
    %r:2 = gpu.warp_execute_on_lane_0(%lane)[32] args(%v : vector<2xf32>) -> (vector<2xf32>, f32) {
    ^bb0(%all: vector<64xf32>):
      %sum = vector.reduction <add>, %all : vector<64xf32> into f32
      %number = vector.step : vector<64xindex>
      %cast = arith.index_cast %number : vector<64xindex> to vector<64xi32>
      %plain = arith.sitofp %cast : vector<64xi32> to vector<64xf32>
      %both = arith.addf %all, %plain : vector<64xf32>
      gpu.yield %both, %sum : vector<64xf32>, f32
    }
    %s = vector.broadcast %r#1 : f32 to vector<2xf32>
    %found = arith.addf %r#0, %s : vector<2xf32>
    vector.store %found, %y[%t, %c0] : memref<64x2xf32>, vector<2xf32>"""
    run(body, "%x: memref<64xf32>, %y: memref<64x2xf32>", x, y, block="64, 1, 1")
    own = np.stack([x, np.zeros_like(x)], 1).reshape(2, 64) + np.arange(64)
    wanted = own + x.reshape(2, 32).sum(1, np.float64)[:, None]
    np.testing.assert_allclose(y.reshape(2, 64), wanted, rtol=1e-5, atol=1e-4)


def test_reductions_of_a_block_by_a_region() -> None:
    x, y = random(96), np.zeros(96, np.float32)
    body = """
    %v = memref.load %x[%t] : memref<96xf32>
    %r = gpu.all_reduce %v uniform {
    ^bb0(%a: f32, %b: f32):
      %most = arith.maximumf %a, %b : f32
      gpu.yield %most : f32
    } : (f32) -> f32
    memref.store %r, %y[%t] : memref<96xf32>"""
    run(body, "%x: memref<96xf32>, %y: memref<96xf32>", x, y, block="96, 1, 1")
    assert (y == x.max()).all()


@pytest.mark.parametrize(("block", "fence"), [(64, ""), (128, "nvvm.wgmma.fence.aligned")])
def test_reductions_of_a_block_need_all_of_its_warps(block: int, fence: str) -> None:
    """Also if warps have only a mask, as those of a warpgroup."""
    body = f"""
    %some = arith.constant 32 : index
    %low = arith.cmpi ult, %t, %some : index
    %v = memref.load %x[%t] : memref<{block}xi32>
    scf.if %low {{
      %r = gpu.all_reduce add %v {{}} : (i32) -> i32
      memref.store %r, %x[%t] : memref<{block}xi32>
    }}
    {fence}"""
    kernel = made(body, f"%x: memref<{block}xi32>", block=f"{block}, 1, 1", target="sim:sm_90a")
    found = kernel.find(np.arange(block, dtype=np.int32))
    assert [finding.kind for finding in found] == ["deadlock"] and "warp 1" in found[0].message


UNSIGNED = """gpu.module @m {{
  gpu.func @k(%lows: memref<32x{e}>, %highs: memref<32x{e}>, %x: memref<32xi32>) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %low = memref.load %lows[{at}] : memref<32x{e}>
    %high = memref.load %highs[{at}] : memref<32x{e}>
    %step = arith.constant 1 : {e}
    %n = arith.constant 0 : i32
    %r = scf.for unsigned %i = %low to %high step %step iter_args(%a = %n) -> (i32) : {e} {{
      %j = arith.index_castui %i : {e} to index
      %k = arith.index_cast %j : index to i32
      %b = arith.addi %a, %k : i32
      scf.yield %b : i32
    }}
    memref.store %r, %x[%t] : memref<32xi32>
    gpu.return
  }}
}}"""


@pytest.mark.grid(6)
@pytest.mark.parametrize("target", ["sim:sm_80", "emu:sm_80", "emu:gfx942"])
@pytest.mark.parametrize("bits", [8, 32, 64])
@pytest.mark.parametrize("at", ["%t", "%c0"])
def test_unsigned_loops(at: str, bits: int, target: str) -> None:
    """Bounds whose sign bit is set are large numbers, divergent or uniform."""
    text = UNSIGNED.format(e=f"i{bits}", at=at).replace("%t = gpu", "%c0 = arith.constant 0 : index\n    %t = gpu")
    lows = np.full(32, 2 ** (bits - 1) - 3 if bits < 64 else 100, np.uint64)
    highs = lows + np.arange(32, dtype=np.uint64) - 5
    if at == "%c0":
        highs = lows + 9
    x = np.zeros(32, np.int32)
    smalti.compile(text, target=target)(lows.astype(f"u{bits // 8}"), highs.astype(f"u{bits // 8}"), x)
    wanted = [sum(range(int(low), int(high))) for low, high in zip(lows, highs, strict=True)]
    assert (x == np.array(wanted, np.uint64).astype(np.uint32).view(np.int32)).all()
