# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of `smalti run` from files and to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from smalti import check, inputs
from smalti.calling import arrays, calls
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


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_80"])
def test_a_check_saves_its_own_run(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are created once, so that the kernel runs once."""
    created: list[Any] = []
    original = inputs.random_arguments

    def arguments(*words: Any, **options: Any) -> list[Any]:
        created.append(original(*words, **options))
        return created[-1]

    for module in (check, inputs):
        monkeypatch.setattr(module, "random_arguments", arguments)
    said = run(tmp_path, "--target", target, "--arg=0=3x8", "--check", f"--save={tmp_path}/out.npz")
    assert "ok, max abs error" in said and "warning" not in said
    assert len(created) == 1
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["arg1"], created[0][1])


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_80"])
def test_integers_of_the_full_range(target: str, tmp_path: Path) -> None:
    source = tmp_path / "k.mlir"
    source.write_text(DOUBLE.replace("f32", "i32").replace("addf", "addi"))
    for words, least, most in (([], 0, 16), (["--full-range"], 2**30, 2**31)):
        given = ["run", str(source), "--target", target, "--arg=0=4x8", "--check", f"--save={tmp_path}/out.npz", *words]
        result = CliRunner().invoke(main, given)
        assert result.exit_code == 0, result.output
        assert least <= np.abs(np.load(tmp_path / "out.npz")["arg1"].astype(np.int64)).max() <= most


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


PACKED = """
triton_xla.entry_func @widen(%a: memref<?x?xi4> {triton_xla.size_divisors = array<i64: 1, 2>}, %n: index, %p: i1, %d: memref<?xi8>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0, 0] [1, 8] [1, 1] : memref<?x?xi4> to tensor<8xi4>
  %e = arith.extsi %t : tensor<8xi4> to tensor<8xi8>
  triton_xla.insert %e into %d[0] [8] [1] : tensor<8xi8> into memref<?xi8>
  %v = arith.extsi %p : i1 to i8
  memref.store %v, %d[%n] : memref<?xi8>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_packed_files_names_and_saved_arrays(target: str, tmp_path: Path) -> None:
    import ml_dtypes

    source, data, saved = tmp_path / "k.mlir", tmp_path / "a.npy", tmp_path / "out.npz"
    source.write_text(PACKED)
    np.save(data, np.arange(-8, 8).reshape(2, 8).astype(ml_dtypes.int4))

    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["run", str(source), "-t", target, *words])
        return result.exit_code, result.output

    code, said = run("--arg", f"a={data}", "--arg", "n=0", "--arg", "2=1", "--arg", "d=8", "--save", str(saved))
    assert code == 0, said
    assert np.load(saved)["arg3"].tolist() == [-1, -7, -6, -5, -4, -3, -2, -1]
    for words, message in (
        (("n=0", "2=1", "d=8"), "set its shape, such as --arg 0=64x64"),
        (("a=2x9", "n=0", "2=1", "d=8"), "a multiple of 2 elements"),
        (("a=2x8", "n=0", "p=2", "d=8"), "'2' is not 0 or 1"),
        (("a=2x8", "n=\uff11", "p=1", "d=8"), "is not an integer"),
        (("q=1",), "an argument named 'q' does not exist; the names are: a, n, p, d"),
        (("a=2x8", "0=2x8"), "argument 0 (0) is specified twice"),
    ):
        code, said = run(*(part for word in words for part in ("--arg", word)))
        assert code != 0 and message in said, said


def test_findings_name_arguments_of_the_kernel(tmp_path: Path) -> None:
    source = tmp_path / "k.mlir"
    source.write_text(PACKED)
    words = ["--arg", "0=2x8", "--arg", "1=100", "--arg", "2=1", "--arg", "3=8"]
    for command in (["run", "-t", "emu:sm_90a", "--sanitize", "address"], ["sim", "--level", "thread"]):
        result = CliRunner().invoke(main, [command[0], str(source), *command[1:], *words])
        assert result.exit_code == 1 and "of argument 3" in result.output, result.output


def test_a_long_header_is_not_shown(tmp_path: Path) -> None:
    source, data = tmp_path / "k.mlir", tmp_path / "a.npy"
    source.write_text(PACKED)
    header = b"(" * 5000 + b"\n"
    data.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    result = CliRunner().invoke(main, ["run", str(source), "-t", "cpu", "--arg", f"0={data}"])
    assert result.exit_code == 1 and "is not a .npy file of numpy" in result.output and len(result.output) < 500


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "sim:sm_90a"])
def test_written_arrays_do_not_overlap_themselves(target: str) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @fill(%d: memref<4x8xf32, strided<[?, ?]>>, %tile: index) tiles 1 {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  triton_xla.insert %t into %d[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32, strided<[?, ?]>>
  triton_xla.return
}""",
        target=target,
    )
    memory = np.zeros(64, np.float32)
    for step, message in ((0, "stride 0"), (3, "dimensions 0 and 1 share addresses")):
        with pytest.raises(smalti.LaunchError, match=message):
            kernel(np.ndarray((4, 8), np.float32, memory, 0, (4 * step, 4)))
    kernel(np.ndarray((4, 8), np.float32, memory, 0, (32, 4)))
    assert memory.sum() == 32


def test_elements_that_share_an_address_are_found_exactly() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(500):
        shape = rng.integers(1, 5, rng.integers(1, 5)).tolist()
        strides = rng.integers(-12, 13, len(shape)).tolist()
        addresses = sum(np.indices(shape)[dim] * stride for dim, stride in enumerate(strides))
        distinct = np.unique(addresses).size == np.prod(shape)
        try:
            calls.check_distinct("x", shape, strides)
            assert distinct, (shape, strides)
        except smalti.LaunchError as error:
            assert not distinct, (shape, strides)
            found += "dimensions 0, 1 and 2 share" in str(error)
    assert found > 2


def test_arrays_that_share_bytes_are_found_exactly() -> None:
    rng = np.random.default_rng(1)
    memory = np.arange(4000, dtype=np.int16)
    shared = 0
    for _ in range(500):
        views: list[np.ndarray] = []
        for _ in range(2):
            shape, strides = rng.integers(1, 6, 3).tolist(), rng.integers(1, 40, 3).tolist()
            first = int(rng.integers(0, 40))
            views.append(np.ndarray(shape, np.int16, memory, 2 * first, [2 * stride for stride in strides]))
        expected = np.intersect1d(views[0], views[1]).size > 0
        shared += expected
        found = calls.find_overlap([arrays.view(view) for view in views], [2, 2], [False, True])
        assert found == ((1, 0) if expected else None)
    assert 50 < shared < 450
