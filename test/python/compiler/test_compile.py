# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation end to end: from a kernel to GPU code and to numbers on the CPU."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import smalti
from conftest import SCALE
from helpers import Shell
from smalti import check, targets
from smalti.compiler import driver
from smalti.launch import devices

GPU_TARGETS = ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
MATRIX_INSTRUCTION = {"nvidia": r"\bmma\.sync\.", "amd": r"\bv_(mfma|wmma)_"}

TOO_LARGE = """\
triton_xla.entry_func @huge(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %x = triton_xla.extract %a[0, 0] [256, 256] [1, 1] : memref<256x256xf32> to tensor<256x256xf32>
  %y = triton_xla.extract %b[0, 0] [256, 256] [1, 1] : memref<256x256xf32> to tensor<256x256xf32>
  %r = triton_xla.dot %x, %y, %zero : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
  triton_xla.insert %r into %c[0, 0] [256, 256] [1, 1] : tensor<256x256xf32> into memref<256x256xf32>
  triton_xla.return
}
"""


@pytest.mark.grid(5)
@pytest.mark.parametrize("target", GPU_TARGETS)
def test_ragged_matmul_for_gpus(target: str, kernels: Path) -> None:
    kernel = smalti.compile(kernels / "matmul_ragged.mlir", target)
    vendor = kernel.target.vendor
    assert kernel.binary_format == ("cubin" if vendor == "nvidia" else "hsaco"), kernel.notes
    assert re.search(MATRIX_INSTRUCTION[vendor], kernel.asm["ptx" if vendor == "nvidia" else "gcn"])
    used = kernel.resources
    assert used.spills == 0 and used.registers
    assert used.stages is not None and used.stages >= 2
    assert used.shared_bytes is not None and 0 < used.shared_bytes <= kernel.target.shared_memory_per_block
    assert used.grid == (12, 1, 1) and used.block is not None
    assert used.block[0] == (used.warps or 0) * kernel.target.wave_size
    assert any(remark.kind == "passed" for remark in kernel.remarks)


@pytest.mark.parametrize("target", ["sm_90a", "gfx942"])
def test_intermediate_levels(target: str) -> None:
    kernel = smalti.compile(SCALE, target)
    assert "triton_xla.extract" in kernel.asm["tile"]
    assert "gpu.func @scale" in kernel.asm["mosaic"] and "triton_xla" not in kernel.asm["mosaic"]
    assert "gpu.func @scale" in kernel.asm["thread"]
    assert "llvm.func @scale" in kernel.asm["mlir"]
    assert "define" in kernel.asm["llvm"]


@pytest.mark.parametrize("name", ["matmul_ragged", "matmul_relu_bf16", "vector_add"])
def test_numbers_on_the_cpu(name: str, kernels: Path) -> None:
    module = smalti.parse(kernels / f"{name}.mlir")
    for seed in range(3):
        check.check(smalti.compile(module, "cpu"), module, seed=seed).require()


def test_same_numbers_on_any_number_of_threads(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from smalti.calling import calls
    from smalti.launch import cpu

    monkeypatch.setattr(cpu, "PARALLEL_SECONDS", 0.0)
    kernel = smalti.compile(kernels / "matmul_ragged.mlir", "cpu")
    a, b, c = check.random_arguments(kernel.entry)
    results = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(calls, "num_threads", lambda threads=threads: threads)
        result = c.copy()
        kernel(a, b, result)
        results.append(result)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_block_level_kernels_compile_too() -> None:
    kernel = smalti.compile(SCALE, "sm_90a")
    again = smalti.compile(kernel.asm["mosaic"], "sm_90a")
    assert again.asm["ptx"] == kernel.asm["ptx"]
    assert again.resources == kernel.resources
    assert [argument.type for argument in again.arguments] == [argument.type for argument in kernel.arguments]


def test_compiling_twice_gives_the_same(kernels: Path) -> None:
    first, second = (smalti.compile(kernels / "matmul_ragged.mlir", "gfx942") for _ in range(2))
    assert first.binary == second.binary and first.remarks == second.remarks


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_too_much_shared_memory_is_located_and_counted(target: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.mlir"
    path.write_text(TOO_LARGE)
    with pytest.raises(smalti.CompileError) as caught:
        smalti.compile(path, target)
    error = caught.value
    assert error.location is not None and error.location.file == str(path)
    assert str(targets.get(target).shared_memory_per_block) in str(error)
    assert re.search(r"\n +\^", str(error))
    assert error.command is None and error.reproducer is None


def test_options_reach_the_pipeline(kernels: Path) -> None:
    kernel = smalti.compile(kernels / "matmul_ragged.mlir", "sm_90a", stages=1, depth=1)
    assert kernel.resources.stages == 1
    assert kernel.pipeline == "builtin.module(smalti-compile{target=sm_90a stages=1 depth=1})"
    with pytest.raises(smalti.PipelineError, match="color"):
        smalti.compile(SCALE, "sm_90a", color=3)


def test_default_target_is_the_gpu_that_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "gpus", list)
    assert smalti.compile(SCALE).target.name == "cpu"
    unknown = devices.Gpu("nvidia", 0, "old", "5.0", None)
    known = devices.Gpu("amd", 0, "gfx942", "gfx942", targets.get("gfx942"))
    monkeypatch.setattr(devices, "gpus", lambda: [unknown, known])
    assert devices.here().name == "gfx942"


def test_dumped_ir_is_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smalti.compile(SCALE, "sm_90a", dump_ir=tmp_path / "given")
    monkeypatch.setenv("SMALTI_DUMP_IR", str(tmp_path / "environment"))
    smalti.compile(SCALE, "cpu")
    for folder in ("given", "environment"):
        files = list((tmp_path / folder).rglob("*.mlir"))
        assert len(files) > 3 and all(re.match(r"\d+(_\d+)*_", file.name) for file in files)


def test_worker_starts_while_the_program_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    start, run = driver.codegen_worker.Worker.start, driver.run_pipeline
    monkeypatch.setattr(driver.codegen_worker.Worker, "start", lambda self: order.append("start") or start(self))
    monkeypatch.setattr(driver, "run_pipeline", lambda *a: order.append("lower") or run(*a))
    smalti.compile(SCALE, "sm_90a")
    assert order[0] == "start" and "lower" in order


# --- the same on the shell ----------------------------------------------------------------------------------------


def test_shell_compiles_to_every_suffix(shell: Shell, kernels: Path, tmp_path: Path) -> None:
    for target, suffix in (
        ("sm_90a", ".cubin"),
        ("sm_90a", ".ptx"),
        ("gfx942", ".hsaco"),
        ("gfx942", ".s"),
        ("cpu", ".ll"),
    ):
        done = shell("compile", kernels / "matmul_ragged.mlir", "--target", target, "-o", f"out{suffix}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"@matmul_ragged for {target}, out{suffix} (") and done.stderr == ""
        assert (tmp_path / f"out{suffix}").stat().st_size > 1000


def test_shell_prints_remarks_when_asked(shell: Shell, kernels: Path) -> None:
    done = shell("compile", kernels / "matmul_ragged.mlir", "--target", "sm_90a", "-v", "--json")
    assert done.returncode == 0 and "remark: [passed] smalti-pipeline-loops: " in done.stderr
    assert '"target": "sm_90a"' in done.stdout


def test_shell_without_ptxas_writes_ptx_and_says_so(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "scale.mlir").write_text(SCALE)
    script = (
        "import sys\n"
        "from smalti import toolchain\n"
        "toolchain.find_ptxas = lambda: None\n"
        "from smalti.cli.commands import main\n"
        "main(['compile', 'scale.mlir', '--target', 'sm_90a', '-o', 'k.cubin'])\n"
    )
    import os
    import sys

    packages = str(Path(next(iter(smalti.__path__))).parent)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": packages},
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "ptxas was not found" in done.stderr and "k.ptx was written instead" in done.stderr
    assert "pip install nvidia-cuda-nvcc" in done.stderr
    assert ".version" in (tmp_path / "k.ptx").read_text() and not (tmp_path / "k.cubin").exists()


def test_shell_runs_and_checks(shell: Shell, kernels: Path) -> None:
    done = shell("run", kernels / "matmul_ragged.mlir", "--target", "cpu", "--check", "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"@matmul_ragged on cpu: ok, max abs error \d\S* \(tolerance \d\S*\), \S+ ms\n", done.stdout)


def test_shell_says_that_no_gpu_is_here(shell: Shell, kernels: Path) -> None:
    if devices.hip_library() is not None:
        pytest.skip("there is a HIP runtime on this machine")
    done = shell("run", kernels / "vector_add.mlir", "--target", "gfx942")
    assert (
        done.returncode == 1
        and "the HIP runtime (libamdhip64.so) was not found" in done.stderr
        and "Traceback" not in done.stderr
    )


def test_shell_shows_too_much_shared_memory_with_a_caret(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "huge.mlir").write_text(TOO_LARGE)
    done = shell("compile", "huge.mlir", "--target", "sm_80", "-o", "huge.cubin")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert re.match(r"huge\.mlir:\d+:\d+: error: ", done.stderr)
    # An invalid program is the user's mistake, so no bug report is requested.
    assert "to replay: " not in done.stderr and [path.name for path in tmp_path.iterdir()] == ["huge.mlir"]
