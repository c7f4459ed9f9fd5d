# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings in small block-level kernels, with their messages, and kernels without findings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import PALLAS
from helpers import SHARED, WGMMA
from sim_programs import BARRIER, SYNC, barrier, doubled, load, only, program, slice_smem
from smalti import CompileError, SimulationError, sim
from smalti.errors import LaunchError


def find(text: str, **how: object) -> tuple[sim.Finding, ...]:
    kernel = sim.simulate(text, "sim:sm_90a")
    return kernel.find(*kernel.random_arguments(), simulation=sim.Simulation(**how))


@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_a_race_free_kernel_has_no_findings(schedule: sim.Simulation) -> None:
    kernel = sim.simulate(doubled(), "sim:sm_90a")
    x, y = kernel.random_arguments()
    kernel(x, y, simulation=schedule)
    assert (y == x + x).all()


def test_a_missing_barrier_of_threads_is_a_race() -> None:
    finding = only(find(doubled(sync="")))
    assert finding.kind == "race"
    assert finding.message == (
        "data race: the copy reads bytes [16384, 32768) of shared memory; it is not ordered with the write"
    )
    assert finding.hint == (
        "place a barrier of the threads of warpgroup 0 between the two accesses; different threads access the same bytes"
    )
    assert finding.agent == "warpgroup 0" and finding.block == (0, 0, 0)
    (other,) = finding.others
    assert other.message == "the write writes these bytes here"
    assert other.location and finding.location and other.location.line < finding.location.line


def test_a_missing_proxy_fence_is_found() -> None:
    finding = only(find(doubled(fence="")))
    assert finding.kind == "missing-fence"
    assert (
        finding.hint
        == "execute nvvm.fence.proxy async.shared after the write, before the barrier or wait that orders it"
    )


def test_a_missing_wait_is_a_race_with_the_copy() -> None:
    found = find(doubled(wait=None))
    finding = next(f for f in found if f.kind == "race")
    assert (
        finding.message
        == "data race: the load reads bytes [0, 16384) of shared memory; it is not ordered with the copy"
    )
    assert finding.hint == "let warpgroup 0 wait for the mbarrier phase that the copy completes"
    assert {f.kind for f in found} == {"race", "leak"}


def test_a_wait_for_the_wrong_phase_does_not_wait() -> None:
    assert {f.kind for f in find(doubled(wait="%true"))} == {"race", "leak"}


def test_races_are_found_however_it_runs() -> None:
    for schedule in sim.SCHEDULES:
        kernel = sim.simulate(doubled(wait=None), "sim:sm_90a")
        found = kernel.find(*kernel.random_arguments(), simulation=schedule)
        assert "race" in {f.kind for f in found}, schedule


def test_the_arrays_stay_where_something_is_found() -> None:
    kernel = sim.simulate(doubled(sync=""), "sim:sm_90a")
    x, y = kernel.random_arguments()
    before = y.copy()
    with pytest.raises(SimulationError, match="1 finding") as caught:
        kernel(x, y)
    assert (y == before).all()
    assert only(caught.value.findings).kind == "race"
    (reported,) = json.loads(sim.to_json(caught.value.findings))
    assert reported["kind"] == "race" and reported["others"][0]["location"]["line"] > 0


def test_too_few_and_too_many_announced_bytes() -> None:
    short = doubled().replace("16384\n      mosaic_gpu.async_load", "8192\n      mosaic_gpu.async_load")
    finding = only(find(short))
    assert finding.kind == "transaction"
    assert "deliver 16384 B in phase 0" in finding.message and "expects 8192 B" in finding.message
    assert finding.hint == "expect 8192 B more with arrive_expect_tx"
    long = doubled().replace("16384\n      mosaic_gpu.async_load", "20000\n      mosaic_gpu.async_load")
    found = find(long)
    assert [f.kind for f in found] == ["transaction", "deadlock"]
    assert "outstanding: 3616 expected bytes" in found[1].message


def test_a_deadlock_lists_the_waits() -> None:
    body = barrier("b", 65528, arrivals=2)
    body += f"""
      %tid = arith.index_cast %tx : index to i32
      %c128 = arith.constant 128 : i32
      %group = arith.divui %tid, %c128 : i32
      %first = arith.cmpi eq, %group, %c0 : i32
      scf.if %first {{
        mosaic_gpu.arrive %b : {BARRIER}
        mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)
      }} else {{
        gpu.barrier
      }}"""
    body = body.replace("%tx", "%me").replace("%tid = ", "%me = gpu.thread_id x\n      %tid = ")
    finding = only(find(program(body, ["memref<64x64xf32>"], threads=256)))
    assert finding.kind == "deadlock"
    reported = " | ".join([finding.message, *(other.message for other in finding.others)])
    assert "phase 0 (parity 0) of the mbarrier at byte 65528; outstanding: 1 of 2 arrivals" in reported
    assert "128 of 256 threads have arrived (warpgroup 1); missing: warpgroup 0, which does not reach it" in reported


def test_more_arrivals_than_a_phase_has() -> None:
    body = barrier("b", 65528, arrivals=2)
    body += f"\n      mosaic_gpu.arrive %b : {BARRIER}" * 3
    body += f"\n      mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)"
    assert find(program(body, ["memref<64x64xf32>"])) == ()
    body = barrier("b", 65528, arrivals=1).replace("arrival_count = 1", "arrival_count = 1")
    found = find(program(body + f"\n      mosaic_gpu.arrive %b : {BARRIER}", ["memref<64x64xf32>"], threads=256))
    # Two warpgroups arrive, and nothing keeps the second from being a phase of its own.
    assert found == ()


def test_an_uninitialized_barrier() -> None:
    body = f"""
      %b = mosaic_gpu.slice_smem 64 : {BARRIER}
      mosaic_gpu.arrive %b : {BARRIER}"""
    finding = only(find(program(body, ["memref<64x64xf32>"])))
    assert finding.kind == "barrier"
    assert finding.message == "the arrival uses byte 64 of shared memory, where no mbarrier is initialized"


def test_an_initialization_that_is_not_visible_to_others() -> None:
    found = find(doubled().replace("\n      gpu.barrier", "", 1))
    # The arrival; the barrier that the compiler puts before the copy orders the copy and the wait.
    assert [(f.kind, f.hint) for f in found] == [("barrier", "execute gpu.barrier after the initialization")]
    finding = only(find(doubled().replace("nvvm.fence.mbarrier.init", "", 1)))
    assert finding.kind == "missing-fence"


def test_shared_memory_that_was_never_written() -> None:
    body = slice_smem("x", 0, "64x64")
    body += f"\n      %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>"
    finding = only(find(program(body, ["memref<64x64xf32>"])))
    assert finding.kind == "uninitialized"
    assert "bytes [0, 16384) of shared memory" in finding.message


def test_an_access_outside_of_memory_says_the_index() -> None:
    body = slice_smem("x", 0, "64x64")
    body += f"""
      %i = arith.constant 40 : index
      %part = memref.subview %x[%i, 0] [32, 64] [1, 1] : memref<64x64xf32, {SHARED}>
          to memref<32x64xf32, strided<[64, 1], offset: ?>, {SHARED}>
      %v = mosaic_gpu.vector_load %part
          : memref<32x64xf32, strided<[64, 1], offset: ?>, {SHARED}> -> vector<32x64xf32>"""
    finding = only(find(program(body, ["memref<64x64xf32>"])))
    assert finding.kind == "out-of-bounds"
    assert "indices 40 to 71 in dimension 0, whose size is 64" in finding.message
    beyond = slice_smem("x", 65536, "64x64")
    beyond += f"\n      %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>"
    finding = only(find(program(beyond, ["memref<64x64xf32>"])))
    assert "bytes [65536, 81920) of shared memory, whose size is 65536 B" in finding.message


def test_a_copy_without_a_wait_is_a_leak() -> None:
    body = barrier("b", 65528) + slice_smem("x", 0, "64x64") + load("%a0", "%x", "64x64", "b", parity=None)
    finding = only(find(program(body, ["memref<64x64xf32>"])))
    assert finding.kind == "leak"
    assert finding.hint == "wait for the mbarrier phase that the copy completes"


def test_blocks_that_write_the_same_bytes() -> None:
    body = """
      %id = arith.index_cast %bx : index to i32
      %f = arith.sitofp %id : i32 to f32
      %v = vector.broadcast %f : f32 to vector<64x64xf32>
      mosaic_gpu.vector_store %v, %a0 : vector<64x64xf32>, memref<64x64xf32>"""
    finding = only(find(program(body, ["memref<64x64xf32>"], grid=2)))
    assert finding.kind == "race" and finding.block == (1, 0, 0)
    assert finding.others[0].block == (0, 0, 0)
    assert finding.hint is not None and finding.hint.startswith("blocks of a grid run in any order")
    # All threads write the same value, in any order.
    assert find(program(body.replace("%bx", "%gx"), ["memref<64x64xf32>"], grid=2)) == ()


def test_warpgroups_that_share_memory_need_a_barrier() -> None:
    def body(between: str) -> str:
        return (
            slice_smem("x", 0, "64x64")
            + f"""
      %me = gpu.thread_id x
      %c128 = arith.constant 128 : index
      %group = arith.divui %me, %c128 : index
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %group, %zero : index
      scf.if %first {{
        %v = arith.constant dense<1.0> : vector<64x64xf32>
        mosaic_gpu.vector_store %v, %x : vector<64x64xf32>, memref<64x64xf32, {SHARED}>
      }}
      {between}
      scf.if %first {{
      }} else {{
        %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>
        mosaic_gpu.vector_store %v, %a0 : vector<64x64xf32>, memref<64x64xf32>
      }}"""
        )

    arguments = ["memref<64x64xf32>"]
    assert find(program(body("gpu.barrier"), arguments, threads=256)) == ()
    found = find(program(body(""), arguments, threads=256), order="lowest-first")
    assert only(found).hint == "between the two accesses, place a barrier that warpgroup 0 and warpgroup 1 both reach"


def test_an_unsupported_op_is_reported_before_the_run() -> None:
    with pytest.raises(CompileError) as caught:
        sim.simulate(program("      nvvm.fence.sc.cluster", ["memref<64x64xf32>"]), "sim:sm_90a")
    (problem,) = caught.value.diagnostics
    assert problem.message == "the simulator does not support 'nvvm.fence.sc.cluster'"
    assert problem.location is not None and problem.location.line > 1
    with pytest.raises(CompileError, match=r"the inline assembly 'trap;'"):
        sim.simulate(program('llvm.inline_asm "trap;", "" : () -> ()', ["memref<64x64xf32>"]), "sim:sm_90a")


def test_arguments_and_schedules_that_do_not_fit_are_refused() -> None:
    kernel = sim.simulate(doubled(), "sim:sm_90a")
    x = np.zeros((64, 64), np.float32)
    with pytest.raises(LaunchError, match=r"takes 2 arguments \(.*\); the call passes 1"):
        kernel(x)
    with pytest.raises(LaunchError, match="shape"):
        kernel(x, np.zeros((64, 32), np.float32))
    with pytest.raises(LaunchError, match="the element type is float16; the kernel requires float32"):
        kernel(x.astype(np.float16), x)
    with pytest.raises(LaunchError, match="block 1 is selected, but the grid has 1 block;"):
        kernel(x, x.copy(), simulation=sim.Simulation(blocks=range(2)))
    for wrong in ({"order": "fast"}, {"completion": "never"}, {"max_findings": 0}, {"blocks": range(0)}):
        with pytest.raises(LaunchError):
            sim.Simulation(**wrong)


def test_a_seed_gives_the_same_run() -> None:
    how = {"order": "random:3", "completion": "random:4"}
    first = [f.as_dict() for f in find(doubled(wait=None), **how)]
    assert first == [f.as_dict() for f in find(doubled(wait=None), **how)]


def test_findings_that_differ_only_in_block_and_iteration_are_one() -> None:
    text = doubled(sync="").replace(SYNC, "").replace("%blocks = arith.constant 1", "%blocks = arith.constant 3")
    finding = next(f for f in find(text) if "shared memory" in f.message)
    assert finding.count == 3
    assert str(finding).splitlines()[0].endswith("[race], 3 times")


STRIDED = "#mosaic_gpu.WGStridedFragLayout<[64, 64], 2>"


def stored_and_loaded(stored: str, loaded: str, between: str = "") -> str:
    return program(
        slice_smem("x", 0, "64x64")
        + f"""
      %v = mosaic_gpu.vector_load %a0 : memref<64x64xf32> -> vector<64x64xf32>
      %s = mosaic_gpu.layout_cast x(%v : vector<64x64xf32>) {{new_layout = {stored}}}
      %i = arith.constant 0 : index
      vector.transfer_write %s, %x[%i, %i] {{in_bounds = [true, true], in_layouts = [{stored}]}}
          : vector<64x64xf32>, memref<64x64xf32, {SHARED}>{between}
      %l = mosaic_gpu.vector_load %x {{out_layouts = [{loaded}]}} : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>
      %w = mosaic_gpu.layout_cast x(%l : vector<64x64xf32>) {{new_layout = {loaded}}}
      mosaic_gpu.vector_store %w, %a1 : vector<64x64xf32>, memref<64x64xf32>""",
        ["memref<64x64xf32>", "memref<64x64xf32>"],
    )


def test_vectors_of_other_layouts_are_other_threads() -> None:
    assert find(stored_and_loaded(WGMMA, WGMMA)) == ()
    assert find(stored_and_loaded(WGMMA, STRIDED, SYNC)) == ()
    finding = only(find(stored_and_loaded(WGMMA, STRIDED)))
    assert finding.kind == "race" and finding.message.startswith(
        "data race: the load reads bytes [0, 16384) of shared memory"
    )
    assert finding.hint == (
        "place a barrier of the threads of warpgroup 0 between the two accesses; different threads access the same bytes"
    )


def test_wgmma_needs_a_fence_of_its_accumulator() -> None:
    source = PALLAS.joinpath("wgmma_shared.mlir").read_text()
    assert find(source) == ()
    finding = only(find(source.replace("      nvvm.wgmma.fence.aligned\n", "")))
    assert (
        finding.kind == "missing-fence"
        and finding.message == "the wgmma may not see writes to its accumulator registers"
    )
    assert finding.hint == "execute nvvm.wgmma.fence.aligned between the write of these registers and the wgmma"
    # With an operand in registers, the `wgmma` has a fence of its own.
    source = PALLAS.joinpath("wgmma_registers.mlir").read_text()
    assert find(source.replace("      nvvm.wgmma.fence.aligned\n", "")) == ()


def test_a_run_with_endless_findings_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from smalti.sim.machine import findings

    monkeypatch.setattr(findings, "MOST_OCCURRENCES", 8)
    text = """
gpu.module @m {
  gpu.func @k(%x: memref<4xi32>, %o: memref<1xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %n = arith.constant 1000000000 : index
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%c9] : memref<4xi32>
      memref.store %v, %o[%c0] : memref<1xi32>
    }
    gpu.return
  }
}"""
    finding = only(find(text))
    assert finding.count == 8
    assert "note: the run ended after 8 occurrences of a finding" in str(finding)
