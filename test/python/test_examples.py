# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples run and agree with the reference interpreter, each on one target. `tools/dev examples` runs all of them on all
targets."""

from __future__ import annotations

import random
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from smalti.cli import commands

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from devlib import examples

_EMULATED = ("emu:sm_80", "emu:gfx942", "emu:gfx1201")
_TARGETS = dict(
    zip(examples.names(), random.Random(22).choices(("cpu", *_EMULATED), k=len(examples.names())), strict=True)
)
_BLOCK_LEVEL = examples.FOLDER / "python" / "block_matmul.py"
_PYTHON = sorted(set((examples.FOLDER / "python").glob("*.py")) - {_BLOCK_LEVEL})
_SAMPLE = zip(_PYTHON, random.Random(23).choices(_EMULATED, k=len(_PYTHON)), strict=True)
_BLOCK_TARGETS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "sim:sm_90a")
_CASES = (*((p, "cpu") for p in _PYTHON), *_SAMPLE, *((_BLOCK_LEVEL, target) for target in _BLOCK_TARGETS))


@pytest.mark.parametrize("name", examples.names())
def test_example(name: str) -> None:
    _, _, _, *words = examples.run_command(name, _TARGETS[name])
    done = CliRunner().invoke(commands.main, words)
    assert done.exit_code == 0 and ": ok" in done.stdout, done.output


@pytest.mark.grid(15)
@pytest.mark.parametrize(
    ("path", "target"),
    [pytest.param(*case, id=f"{case[0].stem}-{case[1]}") for case in _CASES],
)
def test_kernel_in_python(path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script compares the kernel with numpy."""
    monkeypatch.setattr(sys, "argv", [str(path), target])
    runpy.run_path(str(path), run_name="__main__")


def test_code_generation_ends() -> None:
    """LLVM's instruction selection does not end on some narrow ops on one-element vectors."""
    kernel = smalti.compile(examples.FOLDER / "mxfp8_matmul_dynamic.mlir", target="gfx1100")
    assert isinstance(kernel, smalti.Kernel) and kernel.resources.spills == 0


def test_attention_backward_computes_the_gradient() -> None:
    """With the values that attention forward computes, the result is the derivative of `sum(o * do)`."""
    rng = np.random.default_rng(5)
    q, k, v, do = (rng.standard_normal((rows, 64)).astype(np.float16) for rows in (200, 150, 150, 200))
    wide_q, wide_k, wide_v, wide_do = (x.astype(np.float64) for x in (q, k, v, do))
    scores = wide_q @ wide_k.T / 8
    lse = np.log(np.exp(scores).sum(1))
    p = np.exp(scores - lse[:, None])
    delta = (p @ wide_v * wide_do).sum(1)
    ds = p * (wide_do @ wide_v.T - delta[:, None]) / 8
    dq, dk, dv = (np.zeros((rows, 64), np.float32) for rows in (200, 150, 150))
    kernel = smalti.compile(examples.FOLDER / "attention_backward.mlir", target="cpu")
    kernel(q, k, v, do, lse.astype(np.float32), delta.astype(np.float32), dq, dk, dv)
    for got, wanted in ((dq, ds @ wide_k), (dk, ds.T @ wide_q), (dv, p.T @ wide_do)):
        np.testing.assert_allclose(got, wanted, atol=2e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["grouped_matmul", "grouped_matmul_dynamic"])
def test_grouped_matmul_uses_the_loaded_weights(name: str) -> None:
    """Random arguments have few valid numbers of weights, so this test states them."""
    rng = np.random.default_rng(7)
    x, weights = rng.standard_normal((96, 64)).astype(np.float16), rng.standard_normal((4, 64, 64)).astype(np.float16)
    y = np.full((96, 64), np.nan, np.float32)
    smalti.compile(examples.FOLDER / f"{name}.mlir", target="emu:gfx942")(x, np.array([3, 0, 2], np.int32), weights, y)
    for block, expert in enumerate((3, 0, 2)):
        rows = slice(32 * block, 32 * block + 32)
        wanted = x[rows].astype(np.float64) @ weights[expert].astype(np.float64)
        np.testing.assert_allclose(y[rows], wanted, atol=1e-4)
