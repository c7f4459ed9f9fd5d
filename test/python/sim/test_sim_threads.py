# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-level kernels: results, findings, and kernels without findings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import PALLAS, ROOT
from helpers import gpu_kernel
from smalti import sim
from smalti.cli import commands
from smalti.errors import CompileError, TargetError
from smalti.sim import mutants
from thread_kernels import GROUPS, ROWS, THREADS, Copies, kernel
from thread_programs import SHARED, ring, through_shared


def program(body: str, arguments: str, threads: int = 64, grid: int = 1) -> str:
    """A kernel of threads."""
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
{body}""",
        threads,
        grid,
    )


def run(text: str, *arrays: np.ndarray, target: str = "sim:sm_80", **how: Any) -> None:
    sim.simulate(text, target)(*arrays, simulation=sim.Simulation(**how))


def find(text: str, target: str = "sim:sm_80", **how: Any) -> tuple[sim.Finding, ...]:
    made = sim.simulate(text, target)
    return made.find(*made.random_arguments(), simulation=sim.Simulation(**how))


def sums(copies: Copies, a: np.ndarray, b: np.ndarray, trips: int, reads: int = 8) -> np.ndarray:
    """The results of a kernel of `thread_kernels`."""
    total = np.zeros((THREADS, 4), np.float32)
    for i in range(trips):
        total = total * np.float32(0.5)
        for read in range(reads):
            first = (np.arange(THREADS) + 37 * read + 67) * 4 % copies.columns
            row = (a, b)[read % 2][i]
            total = total + row[first[:, None] + np.arange(4)]
    return total


@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_copies_by_threads_in_every_schedule(schedule: sim.Simulation) -> None:
    made = sim.simulate(kernel(GROUPS, trips=3), "sim:sm_80")
    a, b, o, n = made.random_arguments()
    made(a, b, o, n, simulation=schedule)
    assert (o == sums(GROUPS, a, b, 3)).all()
    assert a.shape == (ROWS, GROUPS.columns)


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_barrier_is_a_race(which: int) -> None:
    parts = kernel(GROUPS, trips=3).split("      gpu.barrier\n")
    text = "".join(part + ("      gpu.barrier\n" if i not in (which, 2) else "") for i, part in enumerate(parts))
    for schedule in (sim.Simulation(), sim.Simulation("round-robin", "early")):
        made = sim.simulate(text, "sim:sm_80")
        found = made.find(*made.random_arguments(), simulation=dataclasses.replace(schedule, max_findings=100))
        assert "race" in {f.kind for f in found}
        race = next(f for f in found if f.kind == "race")
        assert race.agent is not None and race.agent.startswith("warp ") and ", lane " in race.agent
        assert len(race.iteration) == 1


def test_a_missing_wait_is_found() -> None:
    text = kernel(GROUPS, trips=3).replace("nvgpu.device_async_wait %t1_group", "")
    found = find(text, order="round-robin", max_findings=100)
    assert {f.kind for f in found} == {"race", "leak"}
    race = next(f for f in found if f.kind == "race")
    assert "it is not ordered with the copy" in race.message
    assert race.hint is not None and race.hint.startswith(
        "wait for the copy in warp 0 with nvgpu.device_async_wait or nvvm.cp.async.wait.group"
    )


DIVERGENT = """
    %odd = arith.remui %t, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %v = scf.if %is_odd -> index {
      %sum = scf.for %i = %c0 to %t step %c1 iter_args(%s = %c0) -> index {
        %n = arith.addi %s, %i : index
        scf.yield %n : index
      }
      scf.yield %sum : index
    } else {
      %r:2 = scf.while (%x = %t, %n = %c0) : (index, index) -> (index, index) {
        %go = arith.cmpi ugt, %x, %c0 : index
        scf.condition(%go) %x, %n : index, index
      } do {
      ^bb0(%x: index, %n: index):
        %half = arith.divui %x, %c2 : index
        %more = arith.addi %n, %c1 : index
        scf.yield %half, %more : index, index
      }
      scf.yield %r#1 : index
    }
    %f = arith.index_cast %v : index to i32
    memref.store %f, %o[%t] : memref<64xi32>"""


def test_threads_diverge() -> None:
    out = np.zeros(64, np.int32)
    for order in ("adversarial", "round-robin"):
        run(program(DIVERGENT, "%o: memref<64xi32>"), out, order=order)
        assert [int(x) for x in out] == [t * (t - 1) // 2 if t % 2 else t.bit_length() for t in range(64)]


WARPS = f"""
    %s = memref.alloc() : memref<64xf32, {SHARED}>
    %warp = arith.divui %t, %c32 : index
    %first = arith.cmpi eq, %warp, %c0 : index
    %other = arith.subi %t, %c32 : index
    scf.if %first {{
      %v = memref.load %a[%t] : memref<64xf32>
      memref.store %v, %s[%t] : memref<64xf32, {SHARED}>
      FIRST
    }} else {{
      SECOND
      %v = memref.load %s[%other] : memref<64xf32, {SHARED}>
      memref.store %v, %o[%t] : memref<64xf32>
    }}"""


def warps(first: str, second: str) -> str:
    return program(WARPS.replace("FIRST", first).replace("SECOND", second), "%a: memref<64xf32>, %o: memref<64xf32>")


def test_warps_that_diverge_meet_at_a_barrier() -> None:
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for order in ("adversarial", "round-robin", "random:1"):
        run(warps("gpu.barrier", "gpu.barrier"), a, out, order=order)
        assert (out[32:] == a[:32]).all() and (out[:32] == 0).all()
    number = "%n = arith.constant 1 : i32 %count = arith.constant 64 : i32"
    named = f"{number} nvvm.barrier id = %n number_of_threads = %count"
    run(warps(named, named), a, out)
    found = find(warps("", ""), order="lowest-first")
    assert [f.kind for f in found] == ["race"]
    assert found[0].hint == "between the two accesses, place a barrier that warp 0 and warp 1 both reach"


def test_a_barrier_that_a_warp_does_not_reach() -> None:
    # Exited threads are not waited for, and exit does not order their accesses.
    (finding,) = find(warps("", "gpu.barrier"))
    assert finding.kind == "race"
    number = "%n = arith.constant 1 : i32 %count = arith.constant 64 : i32"
    (finding,) = find(warps(f"{number} nvvm.barrier id = %n number_of_threads = %count", "gpu.barrier"))
    assert finding.kind == "deadlock"
    messages = [finding.message, *(other.message for other in finding.others)]
    assert any(
        "32 of 64 threads have arrived (warp 1); missing: warp 0, which does not reach it" in m for m in messages
    )


def test_a_barrier_in_a_part_of_a_warp() -> None:
    body = """
    %low = arith.cmpi ult, %t, %c2 : index
    scf.if %low {
      gpu.barrier
    }"""
    (finding,) = find(program(body, "%o: memref<64xi32>"))
    assert finding.kind == "divergence"
    assert (
        finding.message
        == "the barrier is in divergent control flow: lane 2 of warp 0 does not reach it; move it out of the branch"
    )


def test_an_access_outside_says_the_lane_and_the_index() -> None:
    body = """
    %i = arith.addi %t, %c2 : index
    %v = memref.load %a[%i] : memref<64xf32>
    memref.store %v, %a[%t] : memref<64xf32>"""
    found = find(program(body, "%a: memref<64xf32>"))
    finding = next(f for f in found if f.kind == "out-of-bounds")
    assert finding.agent == "warp 1, lane 30"
    assert finding.message == "the load reads index 64 of argument 0; dimension 0 has size 64"
    assert any(f.kind == "race" for f in found)


def test_threads_that_write_the_same_bytes() -> None:
    body = "memref.store %v, %o[%c0] : memref<64xi32>"
    same = "%v = arith.constant 3 : i32\n"
    assert find(program(same + body, "%o: memref<64xi32>")) == ()
    other = "%v = arith.index_cast %t : index to i32\n"
    found = find(program(other + body, "%o: memref<64xi32>"))
    assert {f.kind for f in found} == {"race"}
    # The same between blocks.
    block = "%v = arith.index_cast %b : index to i32\n"
    (finding,) = find(program(block + body, "%o: memref<64xi32>", grid=2))
    assert finding.kind == "race" and finding.block == (1, 0, 0)


def test_private_memory_is_of_each_thread() -> None:
    body = """
    %p = memref.alloca() : memref<4xi32>
    %v = arith.index_cast %t : index to i32
    %at = arith.remui %t, %c2 : index
    memref.store %v, %p[%at] : memref<4xi32>
    %w = memref.load %p[%at] : memref<4xi32>
    memref.store %w, %o[%t] : memref<64xi32>"""
    out = np.zeros(64, np.int32)
    run(program(body, "%o: memref<64xi32>"), out)
    assert (out == np.arange(64)).all()


def test_shuffles_and_reductions() -> None:
    body = """
    %width = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %v = memref.load %a[%t] : memref<64xf32>
    %x, %valid = gpu.shuffle xor %v, %one, %width : f32
    %sum = gpu.subgroup_reduce add %v : (f32) -> f32
    %r = arith.mulf %x, %sum : f32
    memref.store %r, %o[%t] : memref<64xf32>"""
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(program(body, "%a: memref<64xf32>, %o: memref<64xf32>"), a, out)
    assert (out == a[np.arange(64) ^ 1] * np.repeat(a.reshape(2, 32).sum(1), 32)).all()


def test_transfers_that_leave_memory_read_padding() -> None:
    body = """
    %pad = arith.constant 7.0 : f32
    %i = arith.muli %t, %c2 : index
    %v = vector.transfer_read %a[%i], %pad : memref<61xf32>, vector<2xf32>
    vector.transfer_write %v, %o[%i] : vector<2xf32>, memref<63xf32>"""
    a, out = np.arange(61, dtype=np.float32), np.zeros(63, np.float32)
    run(program(body, "%a: memref<61xf32>, %o: memref<63xf32>", threads=32), a, out)
    assert (out == np.append(a, [7, 7])).all()


# Hopper: copies of boxes, and barriers in shared memory.


@pytest.mark.grid(20)
@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
@pytest.mark.parametrize(("trips", "slots"), [(1, 1), (2, 3), (5, 2), (7, 3)])
def test_a_ring_of_slots_in_every_schedule(trips: int, slots: int, schedule: sim.Simulation) -> None:
    made = sim.simulate(ring(trips, slots), "sim:sm_90a")
    x, y = made.random_arguments()
    made(x, y, simulation=schedule)
    assert np.allclose(y, x.reshape(trips, 2, 16, 32).sum((0, 2)), atol=1e-4)


@pytest.mark.parametrize(
    ("missing", "kinds"),
    [
        ("full", {"uninitialized", "race", "barrier", "leak"}),
        ("empty", {"race", "barrier", "deadlock"}),
        ("arrive", {"deadlock"}),
        ("fence", {"missing-fence"}),
    ],
)
def test_a_ring_with_missing_synchronization(missing: str, kinds: set[str]) -> None:
    found = find(ring(7, 3, missing), "sim:sm_90a")
    assert {f.kind for f in found} == kinds


def test_a_ring_with_wrong_expected_bytes() -> None:
    (finding,) = find(ring(7, 3, short=128), "sim:sm_90a")
    assert finding.kind == "transaction" and finding.hint == "expect 128 B more with arrive_expect_tx"
    found = find(ring(7, 3, short=-128), "sim:sm_90a")
    assert {f.kind for f in found} == {"transaction", "deadlock"}


def test_copies_out_of_shared_memory() -> None:
    made = sim.simulate(through_shared(), "sim:sm_90a")
    x, y = made.random_arguments()
    made(x, y)
    assert (y == 2 * x).all()
    (finding,) = find(through_shared(fence=False), "sim:sm_90a")
    assert finding.kind == "missing-fence" and finding.agent == "warp 0, lane 0"
    assert {f.kind for f in find(through_shared(barrier=False), "sim:sm_90a")} == {"uninitialized", "race"}
    (finding,) = find(through_shared(wait=False), "sim:sm_90a")
    assert finding.kind == "leak"


def test_every_mutant_is_noticed() -> None:
    kinds: set[str] = set()
    for text, target in (
        (ring(7, 3), "sim:sm_90a"),
        (through_shared(), "sim:sm_90a"),
        (kernel(GROUPS, trips=3), "sim:sm_80"),
    ):
        made = sim.simulate(text, target)
        outcomes = mutants.score(made, made.random_arguments())
        assert [str(o) for o in outcomes if not o.caught] == []
        kinds |= {o.mutant.kind for o in outcomes}
    assert kinds >= {"barrier removed", "wait removed", "phase flipped", "arrival removed", "fence dropped"}
    assert kinds >= {"arrival count too large", "arrival count too small", "expect_tx too small"}


# Programs of tiles, lowered to threads.


def matmul(rows: int, columns: int, depth: int) -> str:
    """C += A B of f16 in tiles of 128 x 128 x 64."""
    return f"""triton_xla.entry_func @matmul(%a: memref<{rows}x{depth}xf16>, %b: memref<{depth}x{columns}xf16>,
    %c: memref<{rows}x{columns}xf32>, %tile: index) tiles {rows * columns // 128 // 128} {{
  %c0 = arith.constant 0 : index
  %tiles = arith.constant {columns // 128} : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %depth = arith.constant {depth} : index
  %i = arith.divui %tile, %tiles : index
  %j = arith.remui %tile, %tiles : index
  %row = arith.muli %i, %c128 : index
  %column = arith.muli %j, %c128 : index
  %before = triton_xla.extract %c[%row, %column] [128, 128] [1, 1] : memref<{rows}x{columns}xf32> to tensor<128x128xf32>
  %after = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %before) -> (tensor<128x128xf32>) {{
    %a_tile = triton_xla.extract %a[%row, %k] [128, 64] [1, 1] : memref<{rows}x{depth}xf16> to tensor<128x64xf16>
    %b_tile = triton_xla.extract %b[%k, %column] [64, 128] [1, 1] : memref<{depth}x{columns}xf16> to tensor<64x128xf16>
    %next = triton_xla.dot %a_tile, %b_tile, %sum : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }}
  triton_xla.insert %after into %c[%row, %column] [128, 128] [1, 1] : tensor<128x128xf32> into memref<{rows}x{columns}xf32>
  triton_xla.return
}}"""


@pytest.mark.slow
def test_slots_that_are_not_reused_do_not_have_mutants() -> None:
    """No agent waits for their phases, so a mistake there has no effect."""
    made = sim.simulate(matmul(128, 128, 256), "sim:sm_90a", specialize="on")
    assert made.module is not None and str(made.module).count("nvvm.mbarrier.init") > 8
    outcomes = mutants.score(made, made.random_arguments())
    assert len(outcomes) > 20 and all(outcome.caught for outcome in outcomes), [o for o in outcomes if not o.caught]


@pytest.mark.parametrize("options", [{}, {"specialize": "off"}, {"stages": 1}], ids=["specialized", "alike", "plain"])
def test_tile_level_kernels_with_wgmma_are_simulated_at_thread_level(options: dict[str, Any]) -> None:
    made = sim.simulate(matmul(128, 128, 256), "sim:sm_90a", **options)
    assert "wgmma" in str(made.module) and "mosaic_gpu.wgmma" not in str(made.module)
    a, b, c = made.random_arguments()
    wanted = c + a.astype(np.float64) @ b.astype(np.float64)
    made(a, b, c)
    assert np.allclose(c, wanted, atol=1e-4)


WAYS = [
    pytest.param("sm_80", {"stages": 1}, id="sm_80-1"),
    pytest.param("sm_80", {"stages": 3}, id="sm_80-3"),
    pytest.param("sm_90a", {"matmul": "wgmma"}, id="wgmma"),
    pytest.param("sm_90a", {"matmul": "wgmma", "specialize": "off", "depth": 2}, id="wgmma-alone"),
]


@pytest.mark.grid(6)
@pytest.mark.parametrize("depth", [64, 128, 320])
@pytest.mark.parametrize(("target", "options"), WAYS)
def test_matmuls_of_threads_are_those_of_numpy(target: str, options: dict[str, Any], depth: int) -> None:
    made = sim.simulate(matmul(128, 128, depth), f"sim:{target}", level="thread", **options)
    a, b, c = made.random_arguments()
    start = c.astype(np.float64)
    made(a, b, c)
    assert np.abs(c - (start + a.astype(np.float64) @ b.astype(np.float64))).max() <= 1e-4


@pytest.mark.grid(4)
@pytest.mark.parametrize("schedule", sim.SCHEDULES[1:], ids=lambda s: f"{s.order}-{s.completion}")
def test_a_matmul_of_warpgroups_in_every_schedule(schedule: sim.Simulation) -> None:
    made = sim.simulate(matmul(128, 128, 256), "sim:sm_90a", level="thread", matmul="wgmma", depth=2)
    assert made.find(*made.random_arguments(), simulation=schedule) == ()


def test_a_module_of_jax_as_threads() -> None:
    made = sim.simulate(PALLAS / "hopper_matmul.mlir", "sim:sm_90a", level="thread")
    a, b, c = made.random_arguments()
    before = c.copy()
    made(a, b, c, simulation=sim.Simulation("round-robin", blocks=range(1)))
    changed = c != before
    rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
    assert (len(rows), len(columns)) in ((128, 256), (256, 128))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - wanted)[np.ix_(rows, columns)].max() <= 2.0**-10 * np.abs(wanted).max()


@pytest.mark.grid(1)
@pytest.mark.parametrize("options", [{}, {"specialize": "off"}], ids=["specialized", "alone"])
def test_every_mutant_of_a_matmul_of_warpgroups_is_noticed(options: dict[str, Any]) -> None:
    made = sim.simulate(matmul(128, 128, 256), "sim:sm_90a", level="thread", matmul="wgmma", depth=2, **options)
    # The kinds of mutants that these kernels have and the ring does not, and those that are detected late.
    kinds = ("wait removed", "wait weakened by one", "commit removed", "phase flipped")
    outcomes = mutants.score(made, made.random_arguments(), kinds=kinds)
    assert [str(o) for o in outcomes if not o.caught] == []
    assert {o.mutant.operation for o in outcomes} >= {"nvvm.wgmma.wait.group.sync.aligned", "nvvm.mbarrier.try_wait"}


def test_a_wgmma_result_is_used_too_early() -> None:
    made = sim.simulate(matmul(128, 128, 128), "sim:sm_90a", level="thread", matmul="wgmma", specialize="off")
    waits = [m for m in mutants.mutants(made.module) if m.operation.startswith("nvvm.wgmma.wait")]
    last = [m for m in waits if m.kind == "wait removed"][-1]
    changed = sim.simulate(mutants.apply(made.module, last), "sim:sm_90a")
    found = changed.find(*changed.random_arguments())
    early = next(f for f in found if f.kind == "accumulator")
    assert early.hint == "wait for the wgmma with nvvm.wgmma.wait.group.sync.aligned before the result is used"
    assert early.others[0].message == "the wgmma is issued here"


@pytest.mark.parametrize(
    ("target", "options"),
    [("sm_80", {"stages": 3}), ("sm_90a", {"matmul": "wgmma"})],
    ids=["mma", "wgmma"],
)
def test_the_emulator_gives_the_same_bits(target: str, options: dict[str, Any]) -> None:
    text = matmul(128, 128, 192)
    made = sim.simulate(text, f"sim:{target}", level="thread", **options)
    a, b, simulated = made.random_arguments()
    emulated = simulated.copy()
    made(a, b, simulated)
    smalti.compile(text, target=f"emu:{target}", **options)(a, b, emulated)
    assert simulated.tobytes() == emulated.tobytes()


def test_the_level_of_a_kernel_and_its_refusals() -> None:
    with pytest.raises(TargetError, match="unknown level 'warp'; the levels are: block, thread"):
        sim.simulate(matmul(128, 128, 64), "sim:sm_80", level="warp")
    with pytest.raises(TargetError, match="1 option cannot be used: stages"):
        sim.simulate(ring(1, 1), "sim:sm_90a", stages=2)
    with pytest.raises(CompileError) as caught:
        sim.simulate(program("    nvvm.breakpoint", "%o: memref<64xi32>"), "sim:sm_90a")
    (problem,) = caught.value.diagnostics
    assert problem.message == "the simulator does not support 'nvvm.breakpoint'"
    with pytest.raises(CompileError, match=r"argument 0 of type vector<4xi32>"):
        sim.simulate(program("", "%o: vector<4xi32>"), "sim:sm_90a")


def test_the_shell_lowers_to_threads() -> None:
    file = str(ROOT / "test/kernels/matmul_relu_bf16.mlir")
    done = CliRunner().invoke(commands.main, ["sim", file, "--target", "sm_80", "--level", "thread", "--blocks", "1"])
    assert done.exit_code == 0 and "nothing found" in done.output


# Kernels of threads by hand, overlapped by the compiler.


@pytest.mark.parametrize(("slots", "stages"), [(1, 1), (2, 2), (3, 2), (3, 3), (4, 4)])
def test_overlapped_copies_of_any_number_of_trips(slots: int, stages: int) -> None:
    for trips in (1, 2, 3, 5, 8):
        made = sim.simulate(kernel(GROUPS, trips=trips), "sim:sm_80", level="thread", depth=slots, stages=stages)
        a, b, o, n = made.random_arguments()
        made(a, b, o, n)
        assert (o == sums(GROUPS, a, b, trips)).all()


def test_every_mutant_of_overlapped_copies_is_noticed() -> None:
    made = sim.simulate(kernel(GROUPS, trips=8), "sim:sm_80", level="thread", depth=3, stages=3)
    outcomes = mutants.score(made, made.random_arguments())
    assert [str(o) for o in outcomes if not o.caught] == []
    kinds = {"barrier removed", "wait removed", "wait weakened by one", "slots merged"}
    assert {o.mutant.kind for o in outcomes} == kinds


def made_by_iree() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((32, 64), (64, 8)))
    return a, b, np.zeros((32, 8), np.float32)


_A, _B = f"memref<32x16xf16, {SHARED}>", f"memref<16x8xf16, {SHARED}>"
IREE = f"""gpu.module @m {{
  gpu.func @matmul(%a: memref<32x64xf16>, %b: memref<64x8xf16>, %c: memref<32x8xf32>) kernel attributes {{
      known_block_size = array<i32: 32, 2, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %start = arith.constant dense<0.0> : vector<2x2xf32>
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %a_tile = memref.alloc() : {_A}
    %b_tile = memref.alloc() : {_B}
    %row = affine.apply affine_map<()[s0, s1] -> (s0 floordiv 2 + s1 * 16)>()[%x, %y]
    %column = affine.apply affine_map<()[s0] -> ((s0 mod 2) * 8)>()[%x]
    %begin = arith.muli %y, %c16 : index
    %group = arith.divui %x, %c4 : index
    %lane = arith.remui %x, %c4 : index
    %pair = arith.muli %lane, %c2 : index
    %half = arith.divui %x, %c16 : index
    %mine = arith.cmpi eq, %y, %c0 : index
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %start) -> vector<2x2xf32> {{
      %from = memref.subview %a[0, %k] [32, 16] [1, 1]
          : memref<32x64xf16> to memref<32x16xf16, strided<[64, 1], offset: ?>>
      %copy = nvgpu.device_async_copy %from[%row, %column], %a_tile[%row, %column], 8
          : memref<32x16xf16, strided<[64, 1], offset: ?>> to {_A}
      %token = nvgpu.device_async_create_group %copy
      scf.if %mine {{
        %r = arith.divui %x, %c2 : index
        %s = arith.remui %x, %c2 : index
        %t = arith.muli %s, %c4 : index
        %g = arith.addi %k, %r : index
        %v = vector.transfer_read %b[%g, %t], %zero {{in_bounds = [true]}} : memref<64x8xf16>, vector<4xf16>
        vector.transfer_write %v, %b_tile[%r, %t] {{in_bounds = [true]}} : vector<4xf16>, {_B}
      }}
      nvgpu.device_async_wait %token
      gpu.barrier
      %lane_row = arith.remui %x, %c16 : index
      %matrix_row = arith.addi %begin, %lane_row : index
      %matrix_column = arith.muli %half, %c8 : index
      %left = nvgpu.ldmatrix %a_tile[%matrix_row, %matrix_column] {{numTiles = 4 : i32, transpose = false}}
          : {_A} -> vector<4x2xf16>
      %right = nvgpu.ldmatrix %b_tile[%lane_row, %c0] {{numTiles = 2 : i32, transpose = true}}
          : {_B} -> vector<2x2xf16>
      %next = nvgpu.mma.sync(%left, %right, %acc) {{mmaShape = [16, 8, 16]}}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %next : vector<2x2xf32>
    }}
    %out = memref.subview %c[%begin, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32, strided<[8, 1], offset: ?>>
    %low = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %high = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    %below = arith.addi %group, %c8 : index
    vector.transfer_write %low, %out[%group, %pair] {{in_bounds = [true]}}
        : vector<2xf32>, memref<16x8xf32, strided<[8, 1], offset: ?>>
    vector.transfer_write %high, %out[%below, %pair] {{in_bounds = [true]}}
        : vector<2xf32>, memref<16x8xf32, strided<[8, 1], offset: ?>>
    gpu.return
  }}
}}"""


def test_a_kernel_in_the_style_of_iree() -> None:
    """A tile of 16 x 8 of each warp, whose threads copy to shared memory and multiply; loops are per warp."""
    a, b, c = made_by_iree()
    made = sim.simulate(IREE, "sim:sm_80")
    made(a, b, c)
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() <= 1e-4
    barriers = IREE.split("      gpu.barrier\n")
    assert len(barriers) == 3
    for missing in (0, 1):
        text = "".join(part + ("" if i in (missing, 2) else "      gpu.barrier\n") for i, part in enumerate(barriers))
        found = sim.simulate(text, "sim:sm_80").find(*made_by_iree())
        assert "race" in {f.kind for f in found}
