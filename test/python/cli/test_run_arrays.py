# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of `smalti run` from files and to files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from smalti.cli.commands import main

DOUBLE = """
triton_xla.entry_func @double(%x: memref<?x8xf32>, %y: memref<4x8xf32, strided<[16, 1]>>, %tile: index) tiles 1 {
  %a = triton_xla.extract %x[0, 0] [4, 8] [1, 1] : memref<?x8xf32> to tensor<4x8xf32>
  %b = triton_xla.extract %y[0, 0] [4, 8] [1, 1] : memref<4x8xf32, strided<[16, 1]>> to tensor<4x8xf32>
  %c = arith.addf %a, %b : tensor<4x8xf32>
  triton_xla.insert %c into %y[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32, strided<[16, 1]>>
  triton_xla.return
}
"""
X = np.arange(24, dtype=np.float32).reshape(3, 8)
Y = np.ones((4, 8), np.float32)


def run(folder: Path, *words: str) -> str:
    (folder / "double.mlir").write_text(DOUBLE)
    result = CliRunner().invoke(main, ["run", str(folder / "double.mlir"), *words])
    return result.output if result.exit_code == 0 else f"{result.output}{result.exception}"


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
def test_arrays_from_and_to_files(tmp_path: Path, target: str) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    out = tmp_path / "out.npz"
    words = [f"--arg=0={tmp_path}/x.npy", f"--arg=1={tmp_path}/y.npy", f"--save={out}", "--check", "--repeat=2"]
    assert "ok, max abs error 0" in run(tmp_path, "--target", target, *words)
    found = np.load(out)
    np.testing.assert_array_equal(found["arg0"], X)
    np.testing.assert_array_equal(found["arg1"], Y + np.vstack([X, np.zeros((1, 8), np.float32)]))


def test_files_that_do_not_match(tmp_path: Path) -> None:
    def error(array: np.ndarray) -> str:
        np.save(tmp_path / "x.npy", array)
        return run(tmp_path, "--target=cpu", f"--arg=0={tmp_path}/x.npy")

    assert "x.npy has shape 3x4, but the argument has shape ?x8" in error(np.zeros((3, 4), np.float32))
    assert "x.npy has elements of float64, but the argument has elements of float32" in error(np.zeros((3, 8)))
    assert "x.npy is not a .npy file of numpy" in error(np.full((3, 8), None))
    assert "must be a number of blocks" in run(tmp_path, "--target=emu:sm_80", "--arg=0=3x8", f"--blocks={10**30}")
    assert "is not in the range x>=0" in run(tmp_path, "--target=cpu", "--arg=0=3x8", "--seed=-1")
    (tmp_path / "x.npy").write_bytes(b"")
    assert "x.npy is not a .npy file of numpy" in run(tmp_path, "--target=cpu", f"--arg=0={tmp_path}/x.npy")
    assert "none.npy: No such file" in run(tmp_path, "--target=cpu", f"--arg=0={tmp_path}/none.npy")
    assert "out.txt: the file name must end with .npz" in run(
        tmp_path, "--target=cpu", "--arg=0=3x8", f"--save={tmp_path}/out.txt"
    )
