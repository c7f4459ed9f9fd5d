"""Operations of upstream's dialects beside those of vectors, in programs of threads: against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from smalti import sim
from smalti.errors import CompileError, LaunchError


def made(
    body: str,
    arguments: str,
    *,
    target: str = "sim:sm_80",
    block: str = "32, 1, 1",
    grid: str = "1, 1, 1",
    module: str = "",
) -> sim.SimulatedKernel:
    """A program that has `%t`, the thread, and some numbers."""
    text = f"""gpu.module @m {{ {module}
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {block}>, known_grid_size = array<i32: {grid}>}} {{
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    {body}
    gpu.return
  }}
}}"""
    return sim.simulate(text, target)


def run(body: str, arguments: str, *arrays: np.ndarray, **how: str) -> None:
    made(body, arguments, **how)(*arrays)


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


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
def test_shared_iterations_are_a_point_of_synchronisation(target: str) -> None:
    x, y = random(128), np.zeros(128, np.float32)
    kernel = made(EXCHANGE, "%x: memref<128xf32>, %y: memref<128xf32>", block="128, 1, 1", target=target)
    kernel(x, y)
    assert (y == x[::-1]).all()
    # Where a compiler puts no barrier there, the program needs one.
    found = kernel.find(x, y, simulation=sim.Simulation(own_barriers=True))
    assert found and {finding.kind for finding in found} <= {"race", "uninitialised"}


def test_shared_iterations_where_threads_are_missing() -> None:
    body = """%few = arith.cmpi ult, %t, %c1 : index
    scf.if %few {
      scf.forall (%i) in (8) {
        memref.store %zero, %x[%i] : memref<8xf32>
      } {mapping = [#gpu.thread<x>]}
    }"""
    (finding,) = made(body, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
    assert finding.kind == "divergence" and "the end of scf.forall" in finding.message


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
def test_threads_of_a_warp_go_different_ways(target: str) -> None:
    """Loops that threads leave at different times: each keeps what it computed last, and all meet at the barrier."""
    x, y, z = np.arange(1, 65, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    run(STEPS, "%x: memref<64xi32>, %y: memref<64xi32>, %z: memref<64xi32>", x, y, z, block="64, 1, 1", target=target)
    counts = np.array([collatz(int(n)) for n in x])
    assert (y == counts).all()
    assert (z == np.where(counts < 2, 3, np.where(counts == 6, 1, counts))).all()


def test_a_barrier_on_one_way() -> None:
    body = """%few = arith.cmpi ult, %t, %c1 : index
    cf.cond_br %few, ^some, ^end
  ^some:
    gpu.barrier
    cf.br ^end
  ^end:"""
    (finding,) = made(body, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
    assert finding.kind == "divergence"


def test_warps_wait_on_ways_of_their_own() -> None:
    """Each warp has a barrier of its own in its way."""
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
    """The lanes of a warp run in lockstep here, so nothing is said of what only lanes that go on by themselves can do."""
    body = TURNS.format(first="%old = memref.atomic_rmw addi %i1, %x[%c0] : (i32, memref<1xi32>) -> i32")
    assert not made(body, "%x: memref<1xi32>").find(np.zeros(1, np.int32))
    with pytest.raises(LaunchError, match="lockstep"):
        made(TURNS.format(first=""), "%x: memref<1xi32>").find(np.zeros(1, np.int32))


def test_functions_that_call_themselves_are_refused() -> None:
    module = """func.func @f(%x: f32) -> f32 {
    %y = func.call @f(%x) : (f32) -> f32
    func.return %y : f32
  }"""
    with pytest.raises(CompileError, match="calls itself"):
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
    """Also where warps only have a mask, as those of a warpgroup."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------


def test_copies_by_all_threads() -> None:
    x, y = random(4, 8), np.zeros((8, 4), np.float32)
    module = 'memref.global "private" constant @order : memref<2x3xi32> = dense<[[5, 4, 3], [2, 1, 0]]>'
    body = """
    %s = memref.alloc() : memref<4x8xf32, 3>
    memref.prefetch %x[%c0, %c0], read, locality<3>, data : memref<4x8xf32>
    memref.copy %x, %s : memref<4x8xf32> to memref<4x8xf32, 3>
    gpu.barrier
    %turned = memref.transpose %s (i, j) -> (j, i)
        : memref<4x8xf32, 3> to memref<8x4xf32, strided<[1, 8]>, 3>
    memref.copy %turned, %y : memref<8x4xf32, strided<[1, 8]>, 3> to memref<8x4xf32>
    %table = memref.get_global @order : memref<2x3xi32>
    %row = arith.remui %t, %two : index
    %rank = memref.rank %table : memref<2x3xi32>
    %last = memref.load %table[%row, %rank] : memref<2x3xi32>
    memref.store %last, %z[%t] : memref<32xi32>"""
    z = np.zeros(32, np.int32)
    body = "%two = arith.constant 2 : index\n" + body
    run(body, "%x: memref<4x8xf32>, %y: memref<8x4xf32>, %z: memref<32xi32>", x, y, z, module=module)
    assert (y == x.T).all() and (z == np.tile([3, 0], 16)).all()


def test_copies_need_what_they_copy() -> None:
    body = """
    %s = memref.alloc() : memref<32xf32, 3>
    %v = memref.load %x[%t] : memref<64xf32>
    %r = arith.remui %t, %n : index
    memref.store %v, %s[%r] : memref<32xf32, 3>
    %w = memref.subview %x[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
    memref.copy %s, %w : memref<32xf32, 3> to memref<32xf32, strided<[1], offset: 32>>"""
    body = "%n = arith.constant 32 : index\n" + body
    found = made(body, "%x: memref<64xf32>", block="32, 1, 1").find(random(64))
    assert {finding.kind for finding in found} == {"race"}
    assert {finding.location.line for finding in found if finding.location} == {15}


def test_shapes_of_memory() -> None:
    x, y = random(4, 8), np.zeros(32, np.float32)
    shape = np.array([16, 2], np.int64)
    body = """
    %r = memref.reshape %x(%shape) : (memref<4x8xf32>, memref<2xindex>) -> memref<?x?xf32>
    %two = memref.dim %r, %c1 : memref<?x?xf32>
    %i = arith.divui %t, %two : index
    %j = arith.remui %t, %two : index
    %v = memref.load %r[%i, %j] : memref<?x?xf32>
    memref.store %v, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<4x8xf32>, %shape: memref<2xindex>, %y: memref<32xf32>", x, shape, y)
    assert (y == x.ravel()).all()


# ---------------------------------------------------------------------------------------------------------------------
# Masks of vectors
# ---------------------------------------------------------------------------------------------------------------------


def test_vectors_with_masks() -> None:
    x, counts = random(32, 8), np.arange(32) % 9
    y, z, sums = np.zeros((32, 8), np.float32), np.zeros((32, 8), np.float32), np.zeros((32, 2), np.float32)
    body = """
    %k = memref.load %counts[%t] : memref<32xindex>
    %m = vector.create_mask %k : vector<8xi1>
    %sevens = arith.constant dense<7.0> : vector<8xf32>
    %v = vector.mask %m, %sevens {
      vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<32x8xf32>, vector<8xf32>
    } : vector<8xi1> -> vector<8xf32>
    vector.store %v, %y[%t, %c0] : memref<32x8xf32>, vector<8xf32>
    %sum = vector.mask %m { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
    memref.store %sum, %sums[%t, %c0] : memref<32x2xf32>
    %rows = vector.shape_cast %v : vector<8xf32> to vector<1x8xf32>
    %wide = vector.shape_cast %m : vector<8xi1> to vector<1x8xi1>
    %start = arith.constant dense<-3.0> : vector<1xf32>
    %most = vector.mask %wide {
      vector.multi_reduction <maximumf>, %rows, %start [1] : vector<1x8xf32> to vector<1xf32>
    } : vector<1x8xi1> -> vector<1xf32>
    %e = vector.extract %most[0] : f32 from vector<1xf32>
    memref.store %e, %sums[%t, %c1] : memref<32x2xf32>
    %odd = arith.constant dense<[true, false, true, true, false, false, true, true]> : vector<8xi1>
    %spread = vector.expandload %x[%t, %c0], %odd, %sevens
        : memref<32x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.compressstore %z[%t, %c1], %m, %spread : memref<32x8xf32>, vector<8xi1>, vector<8xf32>"""
    arguments = "%x: memref<32x8xf32>, %counts: memref<32xindex>, %y: memref<32x8xf32>, %z: memref<32x8xf32>, "
    counts[counts == 8] = 7
    run(body, arguments + "%sums: memref<32x2xf32>", x, counts, y, z, sums)
    inside = np.arange(8) < counts[:, None]
    assert (y == np.where(inside, x, 7)).all()
    np.testing.assert_allclose(sums[:, 0], np.where(inside, x, 0).sum(1, np.float64), atol=1e-5)
    assert (sums[:, 1] == np.where(inside, x, -3).max(1, initial=-3)).all()
    spread = np.full((32, 8), 7, np.float32)
    spread[:, [0, 2, 3, 6, 7]] = x[:, :5]
    assert (z[:, 1:] == np.where(inside, spread, 0)[:, :7]).all() and (z[:, 0] == 0).all()


def test_masks_of_transposed_transfers_and_contractions() -> None:
    """A mask has the dimensions of the memory, that of a contraction those of its iterations."""
    x, y, z = random(4, 6), np.zeros((32, 6, 4), np.float32), np.zeros((32, 4), np.float32)
    body = """
    %four = arith.constant 3 : index
    %six = arith.constant 5 : index
    %m = vector.create_mask %four, %six : vector<4x6xi1>
    %v = vector.transfer_read %x[%c0, %c0], %zero, %m
        {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<4x6xf32>, vector<6x4xf32>
    vector.transfer_write %v, %y[%t, %c0, %c0] {in_bounds = [true, true]} : vector<6x4xf32>, memref<32x6x4xf32>
    %w = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<4x6xf32>, vector<4x6xf32>
    %start = arith.constant dense<1.0> : vector<4xf32>
    %c = vector.mask %m {
      vector.contract {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>,
        affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}
        %w, %w, %start : vector<4x6xf32>, vector<4x6xf32> into vector<4xf32>
    } : vector<4x6xi1> -> vector<4xf32>
    vector.transfer_write %c, %z[%t, %c0] {in_bounds = [true]} : vector<4xf32>, memref<32x4xf32>"""
    run(body, "%x: memref<4x6xf32>, %y: memref<32x6x4xf32>, %z: memref<32x4xf32>", x, y, z)
    kept = x.copy()
    kept[3:], kept[:, 5:] = 0, 0
    assert (y == kept.T).all()
    np.testing.assert_allclose(z, np.broadcast_to(1 + (kept.astype(np.float64) ** 2).sum(1), (32, 4)), rtol=1e-6)


def test_masked_elements_are_not_touched() -> None:
    """What is masked may be outside."""
    body = """
    %n = arith.constant {count} : index
    %m = vector.create_mask %n : vector<8xi1>
    %zeros = arith.constant dense<0.0> : vector<8xf32>
    vector.mask %m {{
      vector.transfer_write %zeros, %x[%t] {{in_bounds = [true]}} : vector<8xf32>, memref<36xf32>
    }} : vector<8xi1>"""
    assert not made(body.format(count=5), "%x: memref<36xf32>").find(np.zeros(36, np.float32))
    found = made(body.format(count=6), "%x: memref<36xf32>").find(np.zeros(36, np.float32))
    assert {finding.kind for finding in found} == {"out-of-bounds"}


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------


def test_complex_numbers() -> None:
    x, y = random(32), np.zeros((2, 32), np.float32)
    body = """
    %p = memref.load %x[%t] : memref<32xf32>
    %a = complex.create %p, %p : complex<f32>
    %k = complex.constant [2.0 : f32, -1.0 : f32] : complex<f32>
    %b = complex.mul %a, %k : complex<f32>
    %r = complex.re %b : complex<f32>
    %c = complex.create %r, %zero : complex<f32>
    %d = complex.add %c, %b : complex<f32>
    %s = memref.alloc() : memref<32xcomplex<f32>, 3>
    memref.store %d, %s[%t] : memref<32xcomplex<f32>, 3>
    %e = memref.load %s[%t] : memref<32xcomplex<f32>, 3>
    %f = complex.exp %e : complex<f32>
    %re = complex.re %f : complex<f32>
    %im = complex.im %f : complex<f32>
    memref.store %re, %y[%c0, %t] : memref<2x32xf32>
    memref.store %im, %y[%c1, %t] : memref<2x32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<2x32xf32>", x, y)
    wanted = (x + 1j * x.astype(np.float64)) * (2 - 1j)
    wanted = np.exp(wanted + wanted.real)
    np.testing.assert_allclose(y, [wanted.real, wanted.imag], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("scale", "power"), [("11.0 : f32", 3), ("dense<0.25> : vector<1xf8E8M0FNU>", -2)])
def test_conversions_with_scales(scale: str, power: int) -> None:
    """Of a scale only the exponent counts."""
    x, y = np.linspace(-9, 9, 32).astype(np.float32), np.zeros(32, np.float32)
    kind = scale.rpartition(" : ")[2]
    element = "f8E8M0FNU" if "vector" in kind else "f32"
    take = (
        f"%s = vector.extract %k[0] : {element} from {kind}" if "vector" in kind else "%s = arith.addf %k, %zero : f32"
    )
    body = f"""
    %k = arith.constant {scale}
    {take}
    %a = memref.load %x[%t] : memref<32xf32>
    %q = arith.scaling_truncf %a, %s : f32, {element} to f8E4M3FN
    %b = arith.scaling_extf %q, %s : f8E4M3FN, {element} to f32
    memref.store %b, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<32xf32>", x, y)
    scaled = (x / 2.0**power).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * 2.0**power
    assert (y == scaled).all()


def test_fused_products_are_rounded_once() -> None:
    """2^-60 decides how the sum of a product and a number is rounded."""
    x = np.array([[1 + 2**-12, 1 + 2**-12, 2**-60]] * 32, np.float32)
    y = np.zeros(32, np.float32)
    body = """
    %c2 = arith.constant 2 : index
    %a = memref.load %x[%t, %c0] : memref<32x3xf32>
    %b = memref.load %x[%t, %c1] : memref<32x3xf32>
    %c = memref.load %x[%t, %c2] : memref<32x3xf32>
    %r = math.fma %a, %b, %c : f32
    memref.store %r, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32x3xf32>, %y: memref<32xf32>", x, y)
    # 1 + 2^-11 + 2^-24 + 2^-60 lies just above the middle of two numbers.
    assert (y == np.float32(1 + 2**-11 + 2**-23)).all()


LIBRARY = {
    "llvm.call @__nv_expf(%a) : (f32) -> f32": np.exp,
    "llvm.call @__nv_fast_log2f(%p) : (f32) -> f32": lambda x: np.log2(np.abs(x)),
    "llvm.call @__ocml_rsqrt_f32(%p) : (f32) -> f32": lambda x: np.abs(x) ** -0.5,
    "llvm.call @__nv_fmodf(%a, %p) : (f32, f32) -> f32": lambda x: np.fmod(x, np.abs(x)),
    "llvm.intr.exp10(%a) : (f32) -> f32": lambda x: 10**x,
    "llvm.intr.fabs(%a) : (f32) -> f32": np.abs,
    "llvm.intr.fmuladd(%a, %p, %a) : (f32, f32, f32) -> f32": lambda x: x * np.abs(x) + x,
    "llvm.intr.maxnum(%a, %zero) : (f32, f32) -> f32": lambda x: np.maximum(x, 0),
}


@pytest.mark.parametrize("call", LIBRARY)
def test_functions_of_libraries(call: str) -> None:
    x, y = random(32), np.zeros(32, np.float32)
    name = call.partition("@")[2].partition("(")[0]
    count = call.partition("(")[2].partition(")")[0].count(",") + 1
    module = f"llvm.func @{name}({', '.join(['f32'] * count)}) -> f32" if name else ""
    body = f"""
    %a = memref.load %x[%t] : memref<32xf32>
    %p = math.absf %a : f32
    %r = {call}
    memref.store %r, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<32xf32>", x, y, module=module)
    np.testing.assert_allclose(y, LIBRARY[call](x.astype(np.float64)), rtol=1e-6, atol=1e-7)


def test_functions_that_are_not_there_are_refused() -> None:
    with pytest.raises(CompileError, match="__nv_unheard"):
        made(
            "%r = llvm.call @__nv_unheard(%zero) : (f32) -> f32",
            "%x: memref<8xf32>",
            module="llvm.func @__nv_unheard(f32) -> f32",
        )


BITS = {
    "llvm.intr.bswap(%a) : (i32) -> i32": lambda x: x.byteswap(),
    "llvm.intr.bitreverse(%a) : (i32) -> i32": lambda x: np.array(
        [int(f"{int(v) & 0xFFFFFFFF:032b}"[::-1], 2) for v in x], np.uint32
    ).view(np.int32),
    "llvm.intr.fshl(%a, %b, %s) : (i32, i32, i32) -> i32": lambda x: np.array(
        [((int(v) & 0xFFFFFFFF) << 37 % 32 | (int(v) * 7 & 0xFFFFFFFF) >> 32 - 37 % 32) & 0xFFFFFFFF for v in x],
        np.uint32,
    ).view(np.int32),
    "llvm.intr.sadd.sat(%a, %b) : (i32, i32) -> i32": lambda x: np.clip(
        x.astype(np.int64) + (x.astype(np.int64) * 7).astype(np.int32), -(2**31), 2**31 - 1
    ).astype(np.int32),
    "llvm.intr.smax(%a, %b) : (i32, i32) -> i32": lambda x: np.maximum(x, (x.astype(np.int64) * 7).astype(np.int32)),
    "llvm.intr.ucmp(%a, %b) : (i32, i32) -> i32": lambda x: np.sign(
        x.view(np.uint32).astype(np.int64) - (x.astype(np.int64) * 7).astype(np.int32).view(np.uint32)
    ).astype(np.int32),
}


@pytest.mark.parametrize("call", BITS)
def test_intrinsics_of_integers(call: str) -> None:
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 32).astype(np.int32)
    y = np.zeros(32, np.int32)
    body = f"""
    %a = memref.load %x[%t] : memref<32xi32>
    %seven = arith.constant 7 : i32
    %s = arith.constant 37 : i32
    %b = arith.muli %a, %seven overflow<nsw> : i32
    %r = {call.replace("llvm.intr", '"llvm.intr').replace("(", '"(', 1)}
    memref.store %r, %y[%t] : memref<32xi32>"""
    run(body, "%x: memref<32xi32>, %y: memref<32xi32>", x, y)
    assert (y == BITS[call](x)).all()


def test_overflows_and_pointers_into_structures() -> None:
    """Shared memory that has a name, and a structure with a gap."""
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 32).astype(np.int32)
    y, z = np.zeros(32, np.int32), np.zeros(32, np.int32)
    ty = "!llvm.struct<(i8, struct<(i32, i16)>, array<32 x i32>)>"
    module = f"llvm.mlir.global internal @kept() {{addr_space = 3 : i32}} : {ty}"
    body = f"""
    %a = memref.load %x[%t] : memref<32xi32>
    %pair = "llvm.intr.sadd.with.overflow"(%a, %a) : (i32, i32) -> !llvm.struct<(i32, i1)>
    %sum = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %bit = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %over = llvm.zext %bit : i1 to i32
    %base = llvm.mlir.addressof @kept : !llvm.ptr<3>
    %i = arith.index_cast %t : index to i32
    %at = llvm.getelementptr %base[0, 2, %i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {ty}
    llvm.store %sum, %at : i32, !llvm.ptr<3>
    gpu.barrier
    %last = arith.constant 31 : i32
    %j = arith.subi %last, %i : i32
    %from = llvm.getelementptr %base[0, 2, %j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {ty}
    %v = llvm.load %from : !llvm.ptr<3> -> i32
    memref.store %v, %y[%t] : memref<32xi32>
    %second = llvm.getelementptr %base[0, 1, 0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, {ty}
    %gap = llvm.ptrtoint %second : !llvm.ptr<3> to i32
    %begin = llvm.ptrtoint %base : !llvm.ptr<3> to i32
    %place = arith.subi %gap, %begin : i32
    %both = arith.addi %over, %place : i32
    memref.store %both, %z[%t] : memref<32xi32>"""
    run(body, "%x: memref<32xi32>, %y: memref<32xi32>, %z: memref<32xi32>", x, y, z, module=module)
    twice = 2 * x.astype(np.int64)
    assert (y == twice.astype(np.int32)[::-1]).all()
    assert (z == 4 + (np.abs(twice + 0.5) > 2**31)).all()


def test_promises_to_a_compiler() -> None:
    body = "%few = arith.cmpi ult, %t, %limit : index\nllvm.intr.assume %few : i1"
    for limit, kinds in ((32, []), (31, ["assertion"])):
        text = f"%limit = arith.constant {limit} : index\n{body}"
        found = made(text, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
        assert [finding.kind for finding in found] == kinds
