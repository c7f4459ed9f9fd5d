# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are compiled at launch for the sizes and strides of the arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from smalti import LaunchError
from smalti.calling.arrays import CPU, ArrayView
from smalti.cli.commands import main
from smalti.launch.kernels import Kernel
from smalti.specialization import MAX_BYTES, Facts, SpecializedKernel, facts

PROGRAM = """\
triton_xla.entry_func @matmul(%n: index, %a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[?, 1]>>, %c: memref<?x?xf32>,
                              %i: index, %j: index) tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %k] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %bt = triton_xla.extract %b[%k, %column] [64, 64] [1, 1] : memref<?x?xf16, strided<[?, 1]>> to tensor<64x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}
"""


def run(kernel: SpecializedKernel, m: int, n: int, k: int) -> Kernel:
    """Checks a call, and returns the kernel that ran."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    kernel(k, a, b, c=c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    found = kernel.variant(k, a, b, c)
    assert isinstance(found, Kernel)
    return found


def test_multiples_of_16_use_tma() -> None:
    kernel = smalti.specialize(PROGRAM, target="emu:sm_90a")
    assert len(run(kernel, 65, 80, 48).tensor_maps) == 3
    # The same facts use the same kernel.
    assert run(kernel, 33, 96, 16) is run(kernel, 65, 80, 48)
    assert len(kernel.variants) == 1
    # 72 is a multiple of 8 only.
    assert run(kernel, 65, 72, 48).tensor_maps == ()
    assert run(kernel, 64, 80, 48) is not run(kernel, 65, 80, 48)
    assert len(kernel.variants) == 3


def test_small_arrays_use_buffer_accesses() -> None:
    kernel = smalti.specialize(PROGRAM, target="emu:gfx942")
    assert "raw.ptr.buffer.load" in run(kernel, 65, 70, 50).asm["llvm"]


def test_kernels_for_the_cpu_have_one_variant() -> None:
    kernel = smalti.specialize(PROGRAM, target="cpu")
    assert run(kernel, 65, 80, 48) is run(kernel, 3, 5, 7)


def test_stated_divisors_remain_requirements() -> None:
    program = PROGRAM.replace(
        "%a: memref<?x?xf16>,", "%a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 24>},"
    )
    kernel = smalti.specialize(program, target="emu:sm_80")
    run(kernel, 65, 80, 24)
    run(kernel, 65, 80, 48)
    assert {found[1].size_divisors for found in kernel.variants if found[1]} == {(1, 24), (1, 48)}
    a, b, c = np.zeros((8, 16), np.float16), np.zeros((16, 8), np.float16), np.zeros((8, 8), np.float32)
    with pytest.raises(LaunchError, match="the size of dimension 1 is 16; the kernel requires a multiple of 24"):
        kernel(16, a, b, c)


def test_the_facts_of_large_arrays() -> None:
    """No memory is allocated: the views have addresses only."""
    kernel = smalti.specialize(PROGRAM, target="emu:gfx942")
    a, b = kernel.entry.arguments[1:3]

    def view(shape: tuple[int, int], row: int) -> ArrayView:
        return ArrayView(4096, shape, (row, 1), "float16", CPU)

    assert facts(a, view((1 << 14, 1 << 16), 1 << 16)) == Facts((16, 16), (1, 1), None)
    assert facts(a, view(((1 << 14) - 1, 1 << 16), 1 << 16)) == Facts((1, 16), (1, 1), MAX_BYTES)
    # A size alone may exceed the bound, and strides count.
    assert facts(a, view((1 << 30, 0), 0)) == Facts((16, 16), (1, 1), None)
    assert facts(b, view((3, 5), 1 << 29)) == Facts((1, 1), (16, 1), None)
    assert facts(b, view((3, 5), 1 << 28)) == Facts((1, 1), (16, 1), MAX_BYTES)


def test_wrong_arguments_are_reported() -> None:
    kernel = smalti.specialize(PROGRAM, target="emu:sm_80")
    with pytest.raises(LaunchError, match=r"argument 1 .*: list is not an array"):
        kernel(1, [1], None, None)
    with pytest.raises(LaunchError, match="argument 'b' is missing"):
        kernel(1, np.zeros((8, 8), np.float16), c=1)
    with pytest.raises(LaunchError, match="the shape is 8; the kernel requires"):
        kernel(1, np.zeros(8, np.float16), np.zeros((8, 8), np.float16), np.zeros((8, 8), np.float32))


def test_run_with_specialize(tmp_path: Path) -> None:
    source = tmp_path / "matmul.mlir"
    source.write_text(PROGRAM)
    words = ["run", str(source), "-t", "emu:sm_90a", "--check", "-v", "--arg", "0=48", "--arg", "1=65x48"]
    for columns, wanted in (("80", "dot lowered to wgmma"), ("72", "wgmma not used")):
        sizes = ["--arg", f"2=48x{columns}", "--arg", f"3=65x{columns}"]
        found = CliRunner().invoke(main, [*words, *sizes, "--specialize"])
        assert found.exit_code == 0 and "ok, max abs error" in found.output, found.output
        assert wanted in found.output
