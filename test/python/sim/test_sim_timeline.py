# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines: computed by hand for a small kernel, and the overlap that pipelining achieves."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import pytest
import smalti
from click.testing import CliRunner
from conftest import PALLAS, ROOT
from matmuls import matmul
from sim_programs import doubled
from smalti import sim, targets
from smalti.cli import commands
from thread_programs import SHARED

MATMUL = ROOT / "test/kernels/matmul_ragged.mlir"
HOPPER = PALLAS / "hopper_matmul.mlir"


def timeline(source: object, target: str = "sim:sm_90a", **options: object) -> sim.Timeline:
    kernel = sim.simulate(source, target, **options)
    return kernel.timeline(*kernel.random_arguments())


def test_a_small_kernel_takes_the_time_of_the_table() -> None:
    found = timeline(doubled())
    timing = targets.get("sm_90a").timing
    assert timing is not None and found.timing == timing
    assert timing.global_latency and timing.shared_latency and timing.shared_bytes and timing.results
    assert timing.memory_bandwidth and timing.megahertz and timing.units
    per_cycle = timing.memory_bandwidth * 1e9 / (timing.megahertz * 1e6) / timing.units
    size = 64 * 64 * 4
    load, store = (s for s in found.slices if s.kind == "copy")
    waits = [s for s in found.slices if s.kind == "wait"]
    read, write = (s for s in found.slices if s.kind == "access" and s.size == size)
    (add,) = (s for s in found.slices if s.kind == "compute")
    assert load.end - load.start == pytest.approx(size / per_cycle + timing.global_latency)
    assert waits[0].end == load.end == read.start
    assert read.end - read.start == pytest.approx(size / timing.shared_bytes + timing.shared_latency)
    assert add.start == read.end and add.end - add.start == pytest.approx(64 * 64 / timing.results)
    assert write.start == add.end and write.end - write.start == pytest.approx(size / timing.shared_bytes)
    assert store.start == write.end and waits[-1].end == store.end
    summary = found.summary
    assert summary.cycles == store.end and summary.matrix == 0 and summary.compute == pytest.approx(32)
    assert summary.copies == summary.exposed and summary.overlap == 0


LEVELS = {
    "blocks": (MATMUL, "sim:sm_80", {"level": "block"}),
    "threads": (MATMUL, "sim:sm_80", {"level": "thread"}),
    # Warps have roles, and copies and MMAs have barriers.
    "roles": (matmul((64, 128, 1024), (64, 128, 64), start="zero"), "sim:sm_90a", {"level": "thread"}),
}


@pytest.mark.grid(2)
@pytest.mark.parametrize("case", LEVELS)
def test_a_pipelined_loop_overlaps_more_than_the_plain_one(case: str) -> None:
    source, target, options = LEVELS[case]
    plain, pipelined = (timeline(source, target, stages=stages, **options).summary for stages in (1, 3))
    # At the loop's end, fast warps arrive before slow ones.
    assert plain.overlap < (0.005 if case == "threads" else 1e-9)
    assert pipelined.overlap > 0.12
    assert pipelined.cycles < plain.cycles and pipelined.exposed < plain.exposed
    assert pipelined.matrix_share > plain.matrix_share
    # The same work.
    assert pipelined.matrix == pytest.approx(plain.matrix)


def test_mmas_run_at_the_rate_of_the_table() -> None:
    found = timeline(HOPPER)
    mma_slices = [s for s in found.slices if s.kind == "mma"]
    rate = found.timing.f16_macs
    assert rate and all(s.end - s.start == pytest.approx(s.size / rate) for s in mma_slices)
    # A block has 128 rows and 256 columns of a matmul over 2048.
    assert sum(s.size for s in mma_slices) == 128 * 256 * 2048
    assert found.summary.matrix == pytest.approx(128 * 256 * 2048 / rate)
    assert {s.name for s in mma_slices} == {f"mosaic_gpu.wgmma, warpgroup {i}" for i in (0, 1)}
    # One MMA at a time.
    spans = sorted((s.start, s.end) for s in mma_slices)
    assert all(before[1] <= after[0] + 1e-6 for before, after in itertools.pairwise(spans))


def test_the_trace_is_one_that_viewers_open(tmp_path: Path) -> None:
    found = timeline(HOPPER)
    found.save(tmp_path / "one.json")
    timeline(HOPPER).save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    trace = json.loads((tmp_path / "one.json").read_text())
    assert trace["otherData"]["product"] == "H100 SXM5"
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {"warpgroup 0", "warpgroup 2", "matrix unit", "copies into shared memory"} <= set(names.values())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(events) == len(found.slices)
    ends: dict[tuple[int, int], float] = {}
    for event in sorted(events, key=lambda e: (e["pid"], e["tid"], e["ts"])):
        track = event["pid"], event["tid"]
        assert track in names and event["dur"] >= 0
        # Slices of a track do not overlap, or viewers nest them.
        assert ends.get(track, 0.0) <= event["ts"] + 1e-5
        ends[track] = event["ts"] + event["dur"]
    copies = [e for e in events if e["cat"] == "copy" and e["name"] == "mosaic_gpu.async_load"]
    assert {e["args"]["bytes"] for e in copies} == {16384, 32768}
    assert all("hopper_matmul.mlir:" in e["args"]["place"] for e in copies)


def test_the_shell_writes_a_timeline(tmp_path: Path) -> None:
    runner, out = CliRunner(), tmp_path / "out.json"
    command = ["sim", str(MATMUL), "--target", "sm_80", "--timeline", str(out)]
    for level, track in (("block", "the block"), ("thread", "warp 3")):
        done = runner.invoke(commands.main, [*command, "--level", level, "--option", "stages=3"])
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("@matmul_ragged on A100 SXM4 80GB: ") and "matrix unit busy" in done.stdout
        names = {e["args"].get("name") for e in json.loads(out.read_text())["traceEvents"]}
        assert {track, "copies into shared memory"} <= names
    done = runner.invoke(commands.main, [*command, "--mutants"])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("sim:gfx950", "the target table does not contain latencies for gfx950"),
        # It does not reach what wgmma is quoted with.
        ("sim:sm_90a", "the target table does not contain the rate of MMA instructions for f16 of sm_90a"),
        ("sim:gfx1100", "the target table does not contain latencies for gfx1100"),
    ],
)
@pytest.mark.parametrize("level", ["block", "thread"])
def test_a_rate_missing_in_the_target_table_is_an_error(level: str, target: str, message: str) -> None:
    with pytest.raises(smalti.TargetError, match=message):
        timeline(MATMUL, target, level=level)


# ---------------------------------------------------------------------------------------------------------------------
# Thread-level kernels
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("source", "target", "options"),
    [(MATMUL, "sim:sm_80", {"stages": 1}), (MATMUL, "sim:sm_80", {"stages": 3}), (HOPPER, "sim:sm_90a", {})],
    ids=["plain", "pipelined", "JAX"],
)
def test_both_levels_take_the_same_time(source: object, target: str, options: dict[str, object]) -> None:
    """Approximate: blocks wait for each of their loads, and warps for the values that they use. The loads of the
    accumulator are therefore in flight together with the first copies, and fast warps run before slow ones."""
    blocks, threads = (timeline(source, target, level=level, **options) for level in ("block", "thread"))
    copied = [sum(s.size for s in one.slices if s.kind == "copy") for one in (blocks, threads)]
    assert copied[0] == copied[1] > 0
    assert threads.summary.matrix == pytest.approx(blocks.summary.matrix)
    assert threads.summary.cycles == pytest.approx(blocks.summary.cycles, rel=0.03)
    assert threads.summary.copies == pytest.approx(blocks.summary.copies, rel=0.03)
    assert threads.summary.exposed == pytest.approx(blocks.summary.exposed, rel=0.06)


def of_threads(body: str, arguments: str, threads: int = 64) -> str:
    return f"""gpu.module @m {{
  gpu.func @kernel({arguments}) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}"""


def numbers(target: str) -> tuple[targets.Timing, float]:
    """For a chip, with the bytes of global memory that a compute unit receives per cycle."""
    timing = targets.get(target).timing
    assert timing is not None and timing.memory_bandwidth and timing.megahertz and timing.units
    return timing, timing.memory_bandwidth * 1000 / timing.megahertz / timing.units


def test_a_warp_waits_for_the_values_that_it_uses() -> None:
    """Two loads are in flight concurrently, and the sum waits for the second one."""
    body = """%other = arith.addi %t, %c64 : index
    %a = memref.load %x[%t] : memref<128xf32>
    %b = memref.load %x[%other] : memref<128xf32>
    %v = vector.broadcast %b : f32 to vector<1xf32>
    %c = vector.extract %v[0] : f32 from vector<1xf32>
    %sum = arith.addf %a, %c : f32
    memref.store %sum, %y[%t] : memref<64xf32>"""
    found = timeline(of_threads(body, "%x: memref<128xf32>, %y: memref<64xf32>", 32))
    timing, per_cycle = numbers("sm_90a")
    assert timing.global_latency and timing.shared_bytes and timing.results and timing.parts == 4
    issue = 128 / timing.shared_bytes
    loads = [s for s in found.slices if s.kind == "load"]
    waits = [s for s in found.slices if s.kind == "access" and "reads" in s.name]
    (add,) = (s for s in found.slices if s.kind == "compute")
    (store,) = (s for s in found.slices if s.kind == "access" and "writes" in s.name)
    # Both are loads of one line of the program, or two: what overlaps and is alike is one slice.
    assert sum(s.size for s in loads) == 256 and loads[-1].end == pytest.approx(256 / per_cycle + timing.global_latency)
    assert len(waits) == 1 and waits[0].start == pytest.approx(issue) and waits[0].end == loads[-1].end
    assert add.start == waits[0].end and add.end - add.start == pytest.approx(32 / (timing.results / 4))
    assert store.start == add.end and found.summary.cycles == store.end
    assert found.summary.overlap == 0


def test_each_part_of_the_matrix_unit_has_its_warps() -> None:
    """Five warps: the sub-partitions of an SM work at the same time, and one of them has two warps."""
    body = """%i = arith.constant dense<0.0> : vector<4x2xf16>
    %j = arith.constant dense<0.0> : vector<2x2xf16>
    %k = arith.constant dense<0.0> : vector<2x2xf32>
    %m = nvgpu.mma.sync(%i, %j, %k) {mmaShape = [16, 8, 16]}
      : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %n = nvgpu.mma.sync(%i, %j, %m) {mmaShape = [16, 8, 16]}
      : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %v = vector.extract %n[0, 0] : f32 from vector<2x2xf32>
    memref.store %v, %y[%t] : memref<160xf32>"""
    found = timeline(of_threads(body, "%y: memref<160xf32>", 160), "sim:sm_80")
    timing, _ = numbers("sm_80")
    assert timing.f16_macs
    one = 16 * 8 * 16 / (timing.f16_macs / 4)
    mma_slices = [s for s in found.slices if s.kind == "mma"]
    ends = {s.name: s.end for s in mma_slices}
    assert {name.rpartition(", ")[2] for name in ends} == {f"warp {i}" for i in range(5)}
    # The first and the last warp take turns.
    assert sorted(ends.values()) == pytest.approx([2 * one] * 3 + [3 * one, 4 * one])
    assert sum(s.size for s in mma_slices) == 5 * 2 * 16 * 8 * 16
    assert found.summary.matrix == pytest.approx(5 * 2 * 16 * 8 * 16 / timing.f16_macs)
    assert {s.track for s in mma_slices} == {f"matrix unit, partition {i}" for i in range(4)}


def test_timelines_of_threads_are_always_the_same(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        source = matmul((64, 64, 128), (64, 64, 32), start="zero")
        timeline(source, "sim:sm_80", level="thread", stages=3).save(tmp_path / name)
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]
    events = [e for e in json.loads(texts[0])["traceEvents"] if e["ph"] == "X"]
    ends: dict[tuple[int, int], float] = {}
    for event in sorted(events, key=lambda e: (e["pid"], e["tid"], e["ts"])):
        assert ends.get((event["pid"], event["tid"]), 0.0) <= event["ts"] + 1e-5
        ends[event["pid"], event["tid"]] = event["ts"] + event["dur"]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> targets.Timing:
    """Numbers for AMD chips, most of which are not published."""
    timing = targets.table()["gfx942"].timing
    assert timing is not None
    known = {}
    for name in ("gfx942", "gfx950", "gfx1250"):
        target = targets.table()[name]
        mmas = tuple(dataclasses.replace(mma, macs_per_cycle=mma.macs_per_cycle or 1024) for mma in target.mmas)
        known[name] = dataclasses.replace(target, timing=timing, mmas=mmas)
    monkeypatch.setattr(targets, "table", lambda: known)
    return timing


@pytest.mark.parametrize("level", ["block", "thread"])
def test_an_mfma_timeline(level: str) -> None:
    timing = targets.table()["gfx942"].timing
    assert timing is not None and timing.global_latency and timing.shared_latency and timing.megahertz
    found = timeline(MATMUL, "sim:gfx942", level=level)
    # A load of global memory, and of LDS after it, does not complete earlier.
    assert found.summary.cycles > timing.global_latency + timing.shared_latency
    assert 0 < found.summary.matrix < found.summary.cycles


@pytest.mark.parametrize("chip", ["gfx942", "gfx1250"])
def test_waves_prefetch(made_up: targets.Timing, chip: str) -> None:
    """On chips whose tiles are loaded through registers, or by wmma."""
    source = matmul((64, 64, 256), (64, 64, 32), start="zero")
    plain, pipelined = (timeline(source, f"sim:{chip}", level="thread", stages=stages).summary for stages in (1, 3))
    assert plain.overlap < 0.03 < pipelined.overlap
    assert pipelined.cycles < 0.75 * plain.cycles and pipelined.matrix == pytest.approx(plain.matrix)


COUNTED = {
    # How a copy begins, the wait for all of it, and the bytes of it.
    "gfx950": ("amdgpu.gather_to_lds %x[%t], %s[%c0] : f32, memref<256xf32>, SHARED", "load(LEFT)", 256),
    "gfx1250": (
        """%b = amdgpu.make_dma_base %x[%c0], %s[%c0] : memref<256xf32>, SHARED -> !amdgpu.tdm_base<f32>
    %d = amdgpu.make_dma_descriptor %b globalSize [64] globalStride [1] sharedSize [64]
      : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
    amdgpu.tensor_load_to_lds %d : !amdgpu.tdm_descriptor""",
        "tensor(LEFT)",
        256,
    ),
}


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("chip", COUNTED)
def test_waits_for_counters_take_as_long_as_copies(made_up: targets.Timing, chip: str, left: int) -> None:
    start, wait, size = COUNTED[chip]
    body = f"""%s = memref.alloc() : SHARED
    {start}
    amdgpu.memory_counter_wait {wait.replace("LEFT", str(left))}
    amdgpu.memory_counter_wait {wait.replace("LEFT", "0")}"""
    shared = f"memref<64xf32, {SHARED}>"
    found = timeline(of_threads(body.replace("SHARED", shared), "%x: memref<256xf32>", 32), f"sim:{chip}")
    (copy,) = (s for s in found.slices if s.kind == "copy")
    (waited,) = (s for s in found.slices if s.kind == "wait")
    assert made_up.memory_bandwidth and made_up.megahertz and made_up.units and made_up.global_latency
    per_cycle = made_up.memory_bandwidth * 1000 / made_up.megahertz / made_up.units
    assert copy.end == waited.end == pytest.approx(copy.size / per_cycle + made_up.global_latency)
    # A wait that leaves the only copy in flight takes no time.
    assert int(waited.place.split(":")[1]) == len(body.splitlines()) + 6 - (left == 0)
    assert copy.size == (size if chip == "gfx1250" else 128)


def test_ops_without_times_do_not_have_timelines(made_up: targets.Timing) -> None:
    body = """%a = arith.constant dense<0.0> : vector<4xf16>
    %b = arith.constant dense<0.0> : vector<8xf16>
    %c = arith.constant dense<0.0> : vector<4xf32>
    %i = arith.constant dense<[68, 68, 68, 68]> : vector<4xi8>
    %d = amdgpu.sparse_mfma 16x16x32 %a * %b + %c sparse(%i : vector<4xi8>)
      : vector<4xf16>, vector<8xf16>, vector<4xf32>"""
    with pytest.raises(
        smalti.TargetError, match=r"no timeline: the simulator cannot estimate the time of 'amdgpu\.sparse_mfma'"
    ):
        timeline(of_threads(body, "%x: memref<256xf32>"), "sim:gfx942")
