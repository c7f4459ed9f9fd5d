"""Timelines of simulated programs: by hand in a small one, and that pipelining overlaps."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT
from sim_programs import doubled
from smalti import cli, sim, targets

MATMUL = ROOT / "test/kernels/matmul_ragged.mlir"
HOPPER = ROOT / "test/pallas/Inputs/hopper_matmul.mlir"


def timeline(source: object, target: str = "sim:sm_90a", **options: object) -> sim.Timeline:
    kernel = sim.simulate(source, target, **options)
    return kernel.timeline(*kernel.random_arguments())


def test_a_small_program_takes_what_the_table_says() -> None:
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


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
def test_a_pipelined_loop_overlaps_more_than_the_plain_one(target: str) -> None:
    plain, pipelined = (timeline(MATMUL, target, stages=stages).summary for stages in (1, 3))
    assert plain.overlap == 0 and plain.exposed == plain.copies
    assert pipelined.overlap > 0.15
    assert pipelined.cycles < plain.cycles and pipelined.exposed < plain.exposed
    assert pipelined.matrix_share > plain.matrix_share
    # The same work.
    assert pipelined.matrix == pytest.approx(plain.matrix)


def test_the_matrix_unit_works_at_its_rate() -> None:
    found = timeline(HOPPER)
    products = [s for s in found.slices if s.kind == "product"]
    rate = found.timing.f16_macs
    assert rate and all(s.end - s.start == pytest.approx(s.size / rate) for s in products)
    # A block has 128 rows and 256 columns of a product over 2048.
    assert sum(s.size for s in products) == 128 * 256 * 2048
    assert found.summary.matrix == pytest.approx(128 * 256 * 2048 / rate)
    assert {s.name for s in products} == {f"mosaic_gpu.wgmma, warpgroup {i}" for i in (0, 1)}
    # One product at a time.
    spans = sorted((s.start, s.end) for s in products)
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
    done = runner.invoke(cli.main, ["sim", str(MATMUL), "--timeline", str(out), "--option", "stages=3"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("@matmul_ragged on H100 SXM5: ") and "matrix unit busy" in done.output
    assert json.loads(out.read_text())["traceEvents"]
    done = runner.invoke(cli.main, ["sim", str(MATMUL), "--timeline", str(out), "--mutants"])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("sim:gfx942", "knows nothing about the latency of global memory of gfx942"),
        ("sim:gfx1100", "the table has no latencies of gfx1100"),
    ],
)
def test_a_number_that_nobody_published_is_not_invented(target: str, message: str) -> None:
    with pytest.raises(smalti.TargetError, match=message):
        timeline(MATMUL, target)
