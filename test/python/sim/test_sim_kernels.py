# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's modules and the project's kernels: results, no false positives, and every mutant."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import PALLAS, ROOT
from sim_programs import SYNC, doubled
from smalti import sim, targets, testing
from smalti.cli import commands
from smalti.errors import LaunchError
from smalti.sim import mutants
from test_sim_threads import matmul


def simulated(name: str) -> sim.SimulatedKernel:
    return sim.simulate(PALLAS / f"{name}.mlir", "sim:sm_90a")


def close(found: np.ndarray, wanted: np.ndarray, roundings: float) -> None:
    """Whether results are those of float64, within the given number of roundings of their type at their largest
    value."""
    scale = np.abs(wanted).max()
    unit = float(np.finfo(np.float16).eps if found.dtype == np.float16 else 2.0**-8)
    if found.dtype == np.float32:
        unit = float(np.finfo(np.float32).eps)
    assert np.abs(found.astype(np.float64) - wanted).max() <= roundings * unit * scale


def test_hopper_matmul_is_that_of_numpy_and_race_free() -> None:
    kernel = simulated("hopper_matmul")
    a, b, c = kernel.random_arguments()
    kernel(a, b, c)
    close(c, a.astype(np.float64) @ b.astype(np.float64), 1)


@pytest.mark.grid(5)
@pytest.mark.parametrize("schedule", sim.SCHEDULES, ids=lambda s: f"{s.order}-{s.completion}")
def test_hopper_matmul_is_race_free_in_every_schedule(schedule: sim.Simulation) -> None:
    kernel = simulated("hopper_matmul")
    assert kernel.find(*kernel.random_arguments(), simulation=dataclasses.replace(schedule, blocks=range(3, 4))) == ()


def test_pointwise_and_row_softmax_are_those_of_numpy() -> None:
    kernel = simulated("pointwise")
    x, y, z = kernel.random_arguments()
    kernel(x, y, z)
    close(z, np.exp2(x.astype(np.float64)) + y, 2)
    kernel = simulated("row_softmax")
    x, y = kernel.random_arguments()
    kernel(x, y)
    e = np.exp(x.astype(np.float64))
    close(y, e / e.sum(1, keepdims=True), 8)


def test_rows_selected_by_a_vector() -> None:
    kernel = simulated("gather_rows")
    x, rows, y = kernel.random_arguments()
    rows[...] = np.random.default_rng(1).permutation(len(x))[: len(rows)]
    rows[5] = len(x) + 44
    kernel(x, rows, y)
    inside = rows < len(x)
    assert (y[inside] == x[rows[inside]]).all() and not y[~inside].any()


def test_causal_attention_leaves_copies_in_flight() -> None:
    # The producer fills two slots before it reads the number of tiles that the mask leaves.
    kernel = simulated("small_attention_causal")
    found = kernel.find(*kernel.random_arguments(), simulation=sim.Simulation(numbers=False, blocks=range(1)))
    assert [f.kind for f in found] == ["leak", "leak"] and {f.agent for f in found} == {"warpgroup 2"}
    assert {f.hint for f in found} == {"wait for the mbarrier phase that the copy completes"}


def test_registers_of_threads() -> None:
    kernel = simulated("custom_primitive")
    x, y = kernel.random_arguments()
    kernel(x, y)
    assert (y == 2 * x + 1).all()
    # The sums of four elements of a row; a lane has two of them, and its neighbor two.
    text = PALLAS.joinpath("custom_primitive.mlir").read_text()
    old = "%65 = arith.addf %64#0, %64#0 fastmath<contract> : vector<2xf32>"
    assert old in text
    constants = (("all", -1), ("one", 1), ("clamp", 31))
    new = "".join(f"%{name} = arith.constant {value} : i32\n        " for name, value in constants)
    new += """%left = vector.extract %64#0[0] : f32 from vector<2xf32>
        %right = vector.extract %64#0[1] : f32 from vector<2xf32>
        %two = arith.addf %left, %right : f32
        %others = nvvm.shfl.sync bfly %all, %two, %one, %clamp : f32 -> f32
        %four = arith.addf %two, %others : f32
        %65 = vector.broadcast %four : f32 to vector<2xf32>"""
    kernel = sim.simulate(text.replace(old, new), "sim:sm_90a")
    kernel(x, y)
    wanted = 2 * x + 1
    rows = np.arange(len(x)) % 16 < 8
    sums = x[rows, :8].reshape(-1, 2, 2, 2).sum(3).sum(2)
    wanted[rows, :8] = np.repeat(sums, 4, 1) + 1
    assert np.allclose(y, wanted, atol=1e-6)
    # Memory is of the whole warpgroup.
    more = text.replace(
        old,
        f"%m = memref.alloca() : memref<2xf32>\n        %l = vector.load %m[%i] : memref<2xf32>, vector<2xf32>\n        {old}",
    )
    with pytest.raises(smalti.CompileError) as caught:
        sim.simulate(more.replace("%m = memref", "%i = arith.constant 0 : index\n        %m = memref"), "sim:sm_90a")
    assert "'vector.load' has a per-thread vector" in caught.value.diagnostics[0].message


GROUPS = np.array([100, 28, 0, 200, 1, 300, 67, 328], np.int32)


def ragged_dot(text: str, **how: object) -> tuple[tuple[sim.Finding, ...], np.ndarray, np.ndarray]:
    kernel = sim.simulate(text, "sim:sm_90a")
    _, a, b, c = kernel.random_arguments()
    found = kernel.find(GROUPS, a, b, c, simulation=sim.Simulation(**how))
    ends = np.cumsum(GROUPS)
    wanted = np.concatenate(
        [
            a[end - size : end].astype(np.float64) @ b[group].astype(np.float64)
            for group, (end, size) in enumerate(zip(ends, GROUPS, strict=True))
        ]
    )
    return found, c, wanted


def test_ragged_dot_overwrites_memory_that_wgmma_may_read() -> None:
    # JAX's kernel releases a slot one step after the `wgmma` was issued, and never waits for `wgmma` in its loop.
    text = PALLAS.joinpath("ragged_dot.mlir").read_text()
    found, result, wanted = ragged_dot(text, completion="early", continue_after_finding=True)
    # Copies and MMAs that run concurrently still give the right numbers.
    close(result, wanted, 1)
    assert {f.kind for f in found} == {"race"}
    assert {f.message.partition(" bytes")[0] for f in found} == {"data race: the copy writes"}
    assert {f.hint for f in found} == {"wait for the wgmma in warpgroup 0 with nvvm.wgmma.wait.group"}
    # One wait makes it sound.
    fixed = text.replace("nvvm.wgmma.commit.group.sync.aligned", _COMMIT_AND_WAIT)
    found, result, wanted = ragged_dot(fixed)
    assert found == ()
    close(result, wanted, 1)


def test_continue_after_finding_reports_findings_and_computes_the_results() -> None:
    kernel = sim.simulate(doubled(sync="").replace(SYNC, ""), "sim:sm_90a")
    x, _ = kernel.random_arguments()
    y = np.zeros_like(x)
    with pytest.raises(smalti.SimulationError):
        kernel(x, y)
    assert not y.any()
    with pytest.raises(smalti.SimulationError) as caught:
        kernel(x, y, simulation=sim.Simulation(continue_after_finding=True, max_findings=1))
    assert (y == x + x).all() and len(caught.value.findings) == 1


_COMMIT_AND_WAIT = "nvvm.wgmma.commit.group.sync.aligned\n          nvvm.wgmma.wait.group.sync.aligned 1"


@pytest.mark.grid(6)
@pytest.mark.parametrize(("stages", "stop"), [(1, "mosaic"), (1, "pipelined"), (2, "pipelined"), (4, "pipelined")])
@pytest.mark.parametrize("target", ["sm_90a", "sm_80", "gfx942"])
def test_tile_level_kernels_equal_numpy(target: str, stages: int, stop: str) -> None:
    file = ROOT / "test/kernels/matmul_ragged.mlir"
    kernel = sim.simulate(file, f"sim:{target}", stages=stages, stop_after=stop)
    a, b, c = kernel.random_arguments()
    start = c.astype(np.float64)
    kernel(a, b, c)
    close(c, start + a.astype(np.float64) @ b.astype(np.float64), 64)


@pytest.mark.grid(8)
@pytest.mark.parametrize("target", [name for name, chip in targets.table().items() if chip.is_gpu])
def test_tile_level_kernels_run_for_every_chip(target: str) -> None:
    kernel = sim.simulate(ROOT / "test/kernels/matmul_relu_bf16.mlir", f"sim:{target}")
    a, b, c = kernel.random_arguments()
    kernel(a, b, c)
    close(c, np.maximum(0.125 * (a.astype(np.float64) @ b.astype(np.float64)), 0), 2)


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_every_mutant_of_barriers_of_lds_is_noticed(target: str) -> None:
    kernel = sim.simulate(ROOT / "test/kernels/matmul_relu_bf16.mlir", f"sim:{target}")
    outcomes = mutants.score(kernel, kernel.random_arguments(), blocks=range(1))
    assert [str(o) for o in outcomes if not o.caught] == []
    assert "amdgpu.lds_barrier" in {o.mutant.operation for o in outcomes}


def test_every_mutant_of_hopper_matmul_is_noticed() -> None:
    kernel = simulated("hopper_matmul")
    outcomes = mutants.score(kernel, kernel.random_arguments(), blocks=range(1))
    assert [str(o) for o in outcomes if not o.caught] == []
    kinds = {o.mutant.kind for o in outcomes}
    assert {"wait removed", "wait weakened by one", "phase flipped", "slots merged"} <= kinds
    assert {"fence dropped", "expect_tx too small", "expect_tx too large", "arrival removed"} <= kinds
    assert len(outcomes) >= 70


def test_every_mutant_of_a_pipelined_tile_program_is_noticed() -> None:
    kernel = sim.simulate(ROOT / "test/kernels/matmul_ragged.mlir", "sim:sm_90a", stages=3)
    outcomes = mutants.score(kernel, kernel.random_arguments(), blocks=range(1))
    assert [str(o) for o in outcomes if not o.caught] == []
    assert len(outcomes) >= 8


def test_compile_and_testing_take_the_target() -> None:
    kernel = smalti.compile(doubled(), target="sim:sm_90a")
    x = np.ones((64, 64), np.float32)
    y = np.zeros((64, 64), np.float32)
    kernel(x, y)
    assert (y == 2).all()
    testing.assert_race_free(doubled())
    testing.assert_race_free(doubled(), x, y)
    with pytest.raises(smalti.SimulationError):
        testing.assert_race_free(doubled(sync=""))
    with pytest.raises(smalti.TargetError, match="only GPUs can be simulated"):
        smalti.compile(doubled(), target="sim:cpu")


SPLAT = """
triton_xla.entry_func @splat(%a: f32, %y: memref<8xf32>, %tile: index) tiles 1 {
  %t = tensor.splat %a : tensor<8xf32>
  triton_xla.insert %t into %y[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}
"""


def test_assert_race_free_takes_scalars_and_the_entry_function() -> None:
    y = np.zeros(8, np.float32)
    testing.assert_race_free(SPLAT, 1.0, y, target="sim:sm_80")
    assert not y.any()
    testing.assert_race_free(SPLAT + SPLAT.replace("@splat", "@other"), 1.0, y, target="sim:sm_80", entry="other")


def test_a_tile_program_is_called_like_a_kernel() -> None:
    path = ROOT / "test/kernels/matmul_ragged.mlir"
    kernel = smalti.compile(path, target="sim:gfx942")
    assert "smalti-pipeline-loops" in {remark.category for remark in kernel.remarks}
    printed = (
        CliRunner().invoke(commands.main, ["run", str(path), "--target", "sim:gfx942", "--blocks", "1", "-v"]).output
    )
    assert all(str(remark.message) in printed for remark in kernel.remarks)
    a, b, c = kernel.random_arguments()
    start = c.astype(np.float64)
    kernel(a, b, c)
    close(c, start + a.astype(np.float64) @ b.astype(np.float64), 64)


def test_a_long_run_reports_progress() -> None:
    kernel = simulated("hopper_matmul")
    reported: list[tuple[int, int]] = []
    how = sim.Simulation(numbers=False, races=False, blocks=range(3), progress=lambda *now: reported.append(now))
    assert kernel.find(*kernel.random_arguments(), simulation=how) == ()
    # And each second in between.
    assert [now for now in dict.fromkeys(reported) if now[0]] == [(1, 3), (2, 3), (3, 3)]


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(commands.main, words)
    return done.exit_code, done.output


def test_the_shell(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mlir", tmp_path / "bad.mlir"
    good.write_text(doubled())
    bad.write_text(doubled(fence=""))
    code, said = run("sim", str(good), "--schedules", "all")
    assert code == 0 and "nothing found in 10 schedules" in said
    assert run("sim", str(good), "--races-only")[0] == 0
    code, said = run("sim", str(bad), "--races-only")
    assert code == 1 and "[missing-fence]" in said and "bad.mlir:" in said
    done = CliRunner().invoke(commands.main, ["sim", str(bad), "--json"])
    # The findings are all that goes to the standard output.
    (reported,) = json.loads(done.stdout)
    assert done.exit_code == 1 and reported["kind"] == "missing-fence" and "1 finding" in done.stderr
    assert json.loads(CliRunner().invoke(commands.main, ["sim", str(good), "--json"]).stdout) == []
    x = np.full((64, 64), 3, np.float32)
    np.save(tmp_path / "x.npy", x)
    code, said = run("sim", str(good), "--arg", f"0={tmp_path / 'x.npy'}", "--save", str(tmp_path / "out.npz"))
    assert code == 0, said
    assert (np.load(tmp_path / "out.npz")["arg1"] == 6).all()
    code, said = run("sim", str(good), "--mutants")
    assert code == 0 and "mutants killed (100 %)" in said
    code, said = run("run", str(good), "--target", "sim:sm_90a")
    assert code == 0 and "simulated in" in said
    for target in ("sim:gfx942", "sim:sm_90a"):
        code, said = run("run", str(ROOT / "test/kernels/matmul_relu_bf16.mlir"), "--target", target, "--check")
        assert code == 0 and re.search(r"ok, max abs error \S+ \(tolerance \S+\), simulated in", said)
    code, said = run(
        "sim",
        str(bad),
        "--continue-after-finding",
        "--arg",
        f"0={tmp_path / 'x.npy'}",
        "--save",
        str(tmp_path / "bad.npz"),
    )
    assert code == 1 and "[missing-fence]" in said
    assert (np.load(tmp_path / "bad.npz")["arg1"] == 6).all()
    assert run("sim", str(good), "--blocks", "x")[0] == 2
    assert run("sim", str(good), "--schedules", "all", "--order", "round-robin")[0] == 2


def test_a_block_level_kernel_with_wgmma_of_all_warps() -> None:
    source = matmul(128, 128, 128)
    kernel = sim.simulate(source, "sim:sm_90a", stop_after="pipelined", matmul="wgmma", depth=2)
    assert kernel.program.group_threads is None
    a, b, c = kernel.random_arguments()
    start = c.astype(np.float64)
    kernel(a, b, c)
    close(c, start + a.astype(np.float64) @ b.astype(np.float64), 64)
    # Warpgroups with roles run concurrently, with as many threads in total as the kernel states.
    specialized = {"stop_after": "pipelined", "matmul": "wgmma", "specialize": "on"}
    kernel = sim.simulate(source, "sim:sm_90a", **specialized)
    assert kernel.program.group_threads == 256 and kernel.program.block == (384, 1, 1)
    kernel(a, b, again := start.astype(np.float32))
    assert (again == c).all()
    text = str(kernel.module)
    assert text.count("mosaic_gpu.thread_group_size = 256 : i64") == 1
    for threads in (0, 48, 512):
        broken = text.replace("thread_group_size = 256", f"thread_group_size = {threads}")
        with pytest.raises(LaunchError, match="must be multiples of 32"):
            sim.simulate(broken, "sim:sm_90a")(a, b, c)
    alone = text.replace(", mosaic_gpu.thread_group_size = 256 : i64", "")
    with pytest.raises(smalti.CompileError) as caught:
        sim.simulate(alone, "sim:sm_90a")
    assert "the warps of the block-level kernel are specialized" in caught.value.diagnostics[0].message


def test_scratch_of_a_reduction_is_memory_like_any_other() -> None:
    source = PALLAS.joinpath("column_maxima.mlir").read_text()
    kernel = sim.simulate(source, "sim:sm_90a")
    x, y = kernel.random_arguments()
    kernel(x, y)
    assert (y == x.max(0)).all()
    # The matrix that is reduced was loaded by other threads from there.
    assert source.count("offset = 33792") == 1
    kernel = sim.simulate(source.replace("offset = 33792", "offset = 0"), "sim:sm_90a")
    (finding,) = kernel.find(x, y)
    assert finding.kind == "race"
    assert finding.message.startswith(
        "data race: the reduction writes bytes [0, 2048) of shared memory; it is not ordered with the load"
    )
