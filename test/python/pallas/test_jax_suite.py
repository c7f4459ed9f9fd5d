# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/jax_suite.py, and a sample of the modules that JAX's own tests print, if a folder has them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import ROOT
from jax_programs import module
from smalti import toolchain

sys.path.insert(0, str(ROOT / "benchmarks"))

import jax_suite

SAMPLE = 60
LEAST = {"hopper": 0.98, "lane": 0.95}
"""The share of the modules of a kind that must become cubins; of a sample, one more may be refused."""

GOOD = module(
    [((8,), "f32")],
    "%c0 = arith.constant 0 : index\n%x = memref.load %a0[%c0] : memref<8xf32>\nmemref.store %x, %a0[%c0] : memref<8xf32>",
)
needs_ptxas = pytest.mark.skipif(toolchain.find_ptxas() is None, reason="ptxas was not found")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kind = tmp_path / "suite" / "lane"
    kind.mkdir(parents=True)
    (kind / "good.mlir").write_text(GOOD)
    (kind / "good.inferred.mlir").write_text("not a module")
    for number in (16, 32):
        wrong = GOOD.replace("%threads = arith.constant 128 : index", f"%threads = arith.constant -{number} : index")
        (kind / f"wrong{number}.mlir").write_text(wrong)
    (tmp_path / "suite" / "index.tsv").write_text("kind\tmodule\tjax_refuses\nlane\twrong16\tTrue\n")
    return tmp_path / "suite"


@needs_ptxas
def test_outcomes_by_kind_and_reason(folder: Path) -> None:
    paths = jax_suite.modules_of(folder)
    assert [path.stem for path in paths] == ["good", "wrong16", "wrong32"]
    outcomes = jax_suite.compile_all(paths, jobs=1, timeout=60)
    assert [outcome.outcome for outcome in outcomes] == ["cubin", "refused", "refused"]
    assert outcomes[0].registers and outcomes[0].spills == 0
    assert jax_suite.summary(outcomes)["lane"] == {"modules": 3, "cubin": 1, "refused": 2, "crashed": 0, "timeout": 0}
    (group,) = jax_suite.refusals(outcomes)
    assert (group["count"], group["modules"]) == (2, ["wrong16", "wrong32"])
    assert "not positive constants" in group["reason"]
    assert jax_suite.refused_by_jax(folder) == {("lane", "wrong16")}


def test_a_process_that_ends_or_hangs_is_an_outcome(folder: Path) -> None:
    worker = jax_suite._Worker(timeout=0.0)
    assert worker.run(folder / "lane" / "good.mlir").outcome == "timeout"
    worker = jax_suite._Worker(timeout=60.0)
    worker._start()
    worker._process.kill()
    worker._process.join()
    outcome = worker.run(folder / "lane" / "good.mlir")
    assert outcome.outcome == "crashed" and "-9" in outcome.reason


@pytest.mark.parametrize(
    "one, other",
    [
        ("needs 16384 bytes of shared memory", "needs 512 bytes of shared memory"),
        ("a vector of type vector<64x8xf32>", "a vector of type vector<1xi8>"),
        (
            "layout #mosaic_gpu.TiledLayout<[[64, 8], [2]], lane_dims = [-3, #mosaic_gpu.Replicated<times = 4>]> here",
            "layout #mosaic_gpu.WGSplatFragLayout<[8]> here",
        ),
        ("@kernel is refused", "@other.kernel is refused"),
    ],
)
def test_reasons_that_are_one(one: str, other: str) -> None:
    assert jax_suite.reason_class(one) == jax_suite.reason_class(other)
    assert jax_suite.reason_class(one) != jax_suite.reason_class(other + " as well")


@needs_ptxas
def test_a_sample_of_modules_that_jax_prints() -> None:
    folder = jax_suite.default_folder()
    if folder is None:
        pytest.skip(f"{jax_suite.FOLDER_VARIABLE} does not name a folder with modules that JAX printed")
    paths = [path for path in jax_suite.modules_of(folder) if path.parent.name in LEAST]
    outcomes = jax_suite.compile_all(jax_suite.sample_of(paths, SAMPLE, seed=0), jobs=2, timeout=60)
    assert not [outcome for outcome in outcomes if outcome.outcome in ("crashed", "timeout")]
    for kind, counts in jax_suite.summary(outcomes).items():
        refused = [outcome for outcome in outcomes if outcome.kind == kind and outcome.outcome == "refused"]
        assert len(refused) <= 1 + (1 - LEAST[kind]) * counts["modules"], "\n".join(map(str, refused))
