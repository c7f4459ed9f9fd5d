# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The growth of the work of passes with the program's size, in instructions.

Instruction counts are the same on every run, unlike seconds. The programs are those of benchmarks/pass_scaling.py. Four
times the ops may take six times the instructions; a pass that compares all pairs takes sixteen. The tool callgrind (of
valgrind) counts only the pass's instructions, without those of the parser.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT

FEW = 300


def benchmark() -> Any:
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("pass_scaling", folder / "pass_scaling.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["pass_scaling"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


def instructions(pipeline: str, programs: Sequence[str], folder: Path, anchor: str = "func.func") -> list[int]:
    """Instructions of the pass on each program. All run in one process, which takes seconds to start under callgrind."""
    *outer, inner = anchor.split("/")
    for name in (inner, *reversed(outer)):
        pipeline = f"{name}({pipeline})"
    source = folder / "programs.mlir"
    source.write_text("\n// -----\n".join(programs))
    command = [
        "valgrind",
        "--tool=callgrind",
        "--toggle-collect=*::runOnOperation()",
        "--dump-after=*::runOnOperation()",
        f"--callgrind-out-file={folder / 'counts'}",
        str(BUILD / "bin" / "smalti-opt"),
        str(source),
        "--split-input-file",
        f"--pass-pipeline=builtin.module({pipeline})",
        "--mlir-disable-threading",
        "--verify-each=0",
        "-o",
        "/dev/null",
    ]
    subprocess.run(command, capture_output=True, check=True)
    counts = []
    run = 0
    for program in programs:
        runs = len(re.findall(rf"^ *{re.escape(inner)} ", program, re.MULTILINE))
        assert runs
        files = [folder / f"counts.{run + 1 + k}" for k in range(runs)]
        counts.append(sum(int(re.findall(r"^totals: (\d+)", file.read_text(), re.MULTILINE)[0]) for file in files))
        run += runs
    # callgrind writes one more file when the program ends, and no other.
    assert not (folder / f"counts.{run + 2}").exists()
    return counts


CASES = [
    ("smalti-pipeline-loops{stages=2}", "one_loop"),
    ("smalti-pipeline-loops{stages=2}", "many_accesses"),
    ("smalti-place-barriers", "many_loops"),
    ("smalti-multi-buffer{depth=2}", "many_buffers"),
    ("smalti-overlap-lds-dma{target=gfx950}", "lds_loops"),
    ("smalti-lower-pad{target=gfx942}", "masked_transfers"),
    ("smalti-pad-to-intrinsics{target=gfx942}", "contractions"),
    ("smalti-pad-shared-memory{target=sm_90a}", "columns"),
]


@pytest.mark.grid(1, cover=False)
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="instructions are counted by valgrind")
@pytest.mark.parametrize(("pipeline", "shape"), CASES, ids=[f"{p.split('{')[0]}-{s}" for p, s in CASES])
def test_work_grows_as_the_program(pipeline: str, shape: str, tmp_path: Path) -> None:
    write = getattr(benchmark(), shape)
    # The pass does much work for each op there.
    ops = FEW // 5 if shape == "masked_transfers" else FEW
    few, many = instructions(pipeline, [write(count) for count in (ops, 4 * ops)], tmp_path)
    # The pass changes the program: a refusal would cost next to nothing.
    assert few > 300 * ops
    assert many < 6 * few


HOPPER = [
    ("smalti-async-wgmma", "matmuls", "func.func"),
    ("smalti-specialize-warps{target=sm_90a depth=2}", "epilogue", "gpu.module/gpu.func"),
    # More loops than slots fit: refused, and planned all the same.
    ("smalti-specialize-warps{target=sm_90a}", "matmul_loops", "gpu.module/gpu.func"),
    ("smalti-order-tiles{order=auto target=sm_90a}", "ordered", "triton_xla.entry_func"),
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="instructions are counted by valgrind")
@pytest.mark.parametrize(("pipeline", "shape", "anchor"), HOPPER, ids=[shape for _, shape, _ in HOPPER])
def test_work_on_kernels_with_wgmma(pipeline: str, shape: str, anchor: str, tmp_path: Path) -> None:
    write = getattr(benchmark().hopper, shape)
    few, many = instructions(pipeline, [write(count) for count in (FEW // 2, 2 * FEW)], tmp_path, anchor)
    assert few > 20 * FEW
    assert many < 6 * few


MODULES = [
    # For each read the pass checks whether the kernel writes the array, which walks over the users of the array: once.
    ("convert-mosaic-gpu-to-nvvm{target=sm_90a}", "windows"),
    # The number of paths through the masks doubles with each of them.
    ("smalti-lower-packed-accesses", "byte_masks"),
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="instructions are counted by valgrind")
@pytest.mark.parametrize(("pipeline", "shape"), MODULES, ids=[shape for _, shape in MODULES])
def test_work_on_thread_and_block_kernels(pipeline: str, shape: str, tmp_path: Path) -> None:
    write = getattr(benchmark(), shape)
    few, many = instructions(pipeline, [write(count) for count in (FEW, 4 * FEW)], tmp_path, "gpu.module")
    assert few > 300 * FEW
    assert many < 6 * few
