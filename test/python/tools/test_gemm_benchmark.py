# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/gemm.py with a fake GPU: numbers before times, ratios, the record, the tables."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import stub_driver
from conftest import ROOT
from smalti import aot, check, toolchain
from smalti.codegen import assemble
from smalti.launch import cuda, devices

sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "test" / "kernels"))

import _gemm_gpu
import gemm
import launch_overhead
import matmuls
from gemm import Comparison, Problem


class FakePeer:
    """Multiplies, or does not, in a time that is known."""

    def __init__(self, name: str, seconds: float | Exception, error: float = 0.0) -> None:
        self.name, self.seconds, self.error = name, seconds, error

    def prepare(self, problem: Problem, a: np.ndarray, b: np.ndarray) -> Callable[[], Any]:
        if isinstance(self.seconds, Exception):
            raise self.seconds

        def call() -> Any:
            return a @ b + self.error

        call.seconds = self.seconds  # type: ignore[attr-defined]
        return call


class FakeBackend:
    def __init__(self, *peers: FakePeer) -> None:
        self._peers = peers
        self.order: list[float] = []

    def peers(self) -> Sequence[FakePeer]:
        return self._peers

    def data(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        return rng.standard_normal((problem.m, problem.k)), rng.standard_normal((problem.k, problem.n))

    def reference(self, problem: Problem, a: np.ndarray, b: np.ndarray) -> Callable[[Any], Comparison]:
        def compare(got: np.ndarray) -> Comparison:
            difference = np.abs(got - a @ b)
            return Comparison(float(difference.max()), 0.0, int((difference > 0.1).sum()))

        return compare

    def seconds(self, call: Any, least: float) -> float:
        self.order.append(call.seconds)
        # Every third round is slow: the median does not see it.
        slow = 100 if len([s for s in self.order if s == call.seconds]) % 3 == 0 else 1
        return call.seconds * slow

    def ceiling(self, dtype: str) -> float | None:
        return 1e12 if dtype == "f16" else None

    def clocks(self) -> dict[str, Any]:
        return {"clocks.sm": len(self.order)}

    def machine(self) -> dict[str, Any]:
        return {"gpu": "none"}

    def versions(self) -> dict[str, str | None]:
        return {"torch": None}


SMALL = [Problem("f16", 16, 16, 16), Problem("f16", 32, 16, 64), Problem("bf16", 16, 16, 16)]


def record(*peers: FakePeer, rounds: int = 5) -> tuple[dict[str, Any], FakeBackend]:
    backend = FakeBackend(*peers)
    return gemm.run(backend, SMALL, rounds, 0.01, lambda text: None), backend


def test_times_are_medians_of_rounds_in_turns() -> None:
    made, backend = record(FakePeer("smalti", 2e-6), FakePeer("cublas", 3e-6))
    # One round warms up, and five are kept; peers take turns.
    assert backend.order[:12] == [2e-6, 3e-6] * 6
    peers = made["results"][0]["peers"]
    assert len(peers["smalti"]["seconds"]) == 5 and peers["smalti"]["median"] == 2e-6
    assert peers["cublas"]["tflops"] == pytest.approx(2 * 16**3 / 3e-6 / 1e12)
    assert peers["smalti"]["of_ceiling"] == pytest.approx(2 * 16**3 / 2e-6 / 1e12)
    assert made["results"][2]["peers"]["smalti"]["of_ceiling"] is None
    assert made["results"][0]["ratios"] == {"cublas": pytest.approx(1.5)}
    assert made["results"][0]["clocks"] == {"before": {"clocks.sm": 0}, "after": {"clocks.sm": 12}}


def test_wrong_results_are_not_timed() -> None:
    made, backend = record(FakePeer("smalti", 2e-6), FakePeer("triton", 1e-6, error=0.5))
    assert 1e-6 not in backend.order
    entry = made["results"][0]["peers"]["triton"]
    assert entry["absent"] == "wrong: 256 elements, off by up to 0.5" and "median" not in entry
    assert entry["numbers"]["wrong"] == 256 and made["results"][0]["ratios"] == {}


def test_peers_that_are_missing_or_fail_leave_the_others() -> None:
    made, _ = record(
        FakePeer("smalti", 2e-6),
        FakePeer("triton", gemm.Unavailable("Triton is not installed")),
        FakePeer("pallas", RuntimeError("out of memory")),
        FakePeer("cublas", 1e-6),
    )
    peers = made["results"][0]["peers"]
    assert peers["triton"] == {"absent": "Triton is not installed"}
    assert peers["pallas"] == {"absent": "RuntimeError: out of memory"}
    assert made["results"][0]["ratios"] == {"cublas": pytest.approx(0.5)}


def test_without_ours_there_are_no_ratios() -> None:
    made, _ = record(FakePeer("smalti", gemm.Unavailable("no file")), FakePeer("cublas", 1e-6))
    assert made["summary"] == {"f16": {}, "bf16": {}}
    assert made["results"][0]["peers"]["cublas"]["median"] == 1e-6


def test_the_summary_has_means_of_ratios() -> None:
    rows = [
        {"dtype": "f16", "ratios": {"cublas": 2.0, "triton": 1.5}},
        {"dtype": "f16", "ratios": {"cublas": 0.5}},
        {"dtype": "bf16", "ratios": {}},
    ]
    found = gemm.summary(rows)
    assert found["f16"]["cublas"] == {
        "shapes": 2,
        "geometric_mean": pytest.approx(1.0),
        "least": 0.5,
        "ahead": 1,
    }
    assert found["f16"]["triton"]["shapes"] == 1 and found["bf16"] == {}
    assert gemm.geometric_mean([]) is None


def test_the_record_is_json_and_the_tables_say_what_is_in_it() -> None:
    made, _ = record(
        FakePeer("smalti", 2e-6),
        FakePeer("cublas", 3e-6),
        FakePeer("triton", gemm.Unavailable("Triton is not installed")),
    )
    made = json.loads(json.dumps(made))
    lines = gemm.table(made, "f16")
    assert lines[0] == "f16: TFLOP/s; the matrix units alone reach 1"
    assert lines[1].split() == ["m", "x", "n", "x", "k", "smalti", "cublas", "triton", "/", "cublas", "/", "triton", "of", "ceiling"]  # fmt: skip
    assert lines[2].split() == ["16x16x16", "0.0", "0.0", "-", "1.500", "-", "0.4%"]
    assert "  against cublas: 1.500 times as fast (geometric mean of 2 shapes), 1.500 at least, faster on 2" in lines
    assert lines[-1] == "  triton is missing on all: Triton is not installed"
    assert gemm.table(made, "bf16")[0] == "bf16: TFLOP/s"


def test_shapes_in_words() -> None:
    assert gemm.parse_shape("4096") == (4096, 4096, 4096) and gemm.parse_shape("64x128x32") == (64, 128, 32)
    for wrong in ("64x128", "many", "0", "1x2x3x4"):
        with pytest.raises(argparse.ArgumentTypeError):
            gemm.parse_shape(wrong)


def test_every_shape_can_be_copied_in_tiles() -> None:
    """Rows of both operands are multiples of 16 bytes."""
    for problem in gemm.problems(gemm.DTYPES, gemm.SHAPES):
        assert problem.k % 8 == 0 and problem.n % 8 == 0
    assert len({problem.file for problem in gemm.problems(gemm.DTYPES, gemm.SHAPES)}) == 3 * len(gemm.SHAPES)


@pytest.mark.parametrize("dtype", gemm.DTYPES)
def test_the_ceiling_is_code_of_the_matrix_units_only(dtype: str, tmp_path: Path) -> None:
    tool = toolchain.find_ptxas()
    if tool is None:
        pytest.skip("needs ptxas")
    ptx = _gemm_gpu.ceiling_ptx(dtype)
    assert ptx.count("wgmma.mma_async") == _gemm_gpu.CEILING_UNROLLED
    # Optimizing it takes seconds, and the test is about its instructions.
    made = assemble.assemble_ptx(ptx, tool.path, opt_level=1)
    assert "serialized" not in made.log and "injected" not in made.log
    assert made.usages["ceiling"].spills == 0


def test_ours_is_built_into_files_that_say_what_they_are(tmp_path: Path) -> None:
    said: list[str] = []
    problem = Problem("bf16", 64, 72, 40)
    assert gemm.build(tmp_path, [problem], "sm_80", said.append) == 0
    kernel = aot.load(tmp_path / problem.file)
    assert [argument.type for argument in kernel.arguments] == [
        *("memref<64x40xbf16>", "memref<40x72xbf16>", "memref<64x72xbf16>"),
    ]
    assert re.match(r"bf16 64x72x40: tiles of \(\d+, \d+, \d+\), \d+ registers", said[0])


def test_refused_modules_are_counted_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(gemm, "program", lambda problem, tile: "module {")
    assert gemm.build(tmp_path, [Problem("f16", 64, 64, 64)], "sm_80", said.append) == 1
    assert "not compiled: tiles of (128, 256, 64): " in said[0] and not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_the_kernels_are_matmuls(dtype: str) -> None:
    """On the CPU, against the reference."""
    text = gemm.program(Problem(dtype, 24, 40, 32), (16, 16, 16))
    check.check(smalti.compile(text, target="cpu"), smalti.parse(text)).require()


def test_a_program_with_the_columns_of_b_together() -> None:
    text = matmuls.matmul((16, 24, 32), (16, 16, 16), "f16", start="zero", result="f16", columns_of_b=True)
    a, b = (np.random.default_rng(0).standard_normal(shape).astype(np.float16) for shape in ((16, 32), (24, 32)))
    c = np.empty((16, 24), np.float16)
    smalti.compile(text, target="cpu")(a, b.T, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.T.astype(np.float64), rtol=2e-3, atol=2e-2)


def test_without_a_gpu_it_says_so_and_measures_nothing(tmp_path: Path) -> None:
    """As a script, as it is called; PyTorch is one that finds no GPU."""
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = staticmethod(lambda: False)\n")
    command = [sys.executable, ROOT / "benchmarks" / "gemm.py", "--json", tmp_path / "gemm.json"]
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0 and done.stderr == "PyTorch finds no GPU; nothing measured\n"
    assert not (tmp_path / "gemm.json").exists()


def test_launch_overhead_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    if stub_driver.compiler() is None:
        pytest.skip("needs a C compiler")
    monkeypatch.setattr(devices, "cuda_library", lambda: None)
    monkeypatch.setattr(cuda.CudaLauncher, "_device", cuda.CudaLauncher._device)
    made = launch_overhead.run(count=3, repeat=2)
    assert made["driver"] == "stub: no GPU"
    assert {
        *("19 arrays", "19 arrays, in Python", "10 arrays and 9 integers", "1 array", "driver"),
        "10 arrays and 9 integers, with 2 tensor maps",
    } <= set(made["results"])
    for times in made["results"].values():
        assert 0 < times["min"] <= times["median"] <= times["max"]
    json.dumps(made)
