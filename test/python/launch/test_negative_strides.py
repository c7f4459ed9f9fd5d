# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays with negative strides: a kernel receives the address of the first element."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import smalti
import stub_driver
from smalti import LaunchError
from smalti.launch.kernels import Kernel

TARGETS = ("cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1250", "sim:sm_90a", "sim:gfx942")

View = Callable[[np.ndarray], np.ndarray]

LAYOUTS: dict[str, tuple[str, View]] = {
    "rows": ("memref<40x40xf32, strided<[-40, 1]>>", lambda x: x[::-1]),
    "columns": ("memref<40x40xf32, strided<[40, -1]>>", lambda x: x[:, ::-1]),
    "both": ("memref<40x40xf32, strided<[-40, -1]>>", lambda x: x[::-1, ::-1]),
    "transposed": ("memref<40x40xf32, strided<[-1, -40]>>", lambda x: x.T[::-1, ::-1]),
    "dynamic": ("memref<?x?xf32, strided<[?, ?]>> {llvm.align = 4 : i64}", lambda x: x[::-1, ::-1]),
    "dynamic rows": ("memref<?x?xf32, strided<[?, 1]>>", lambda x: x[::-1]),
    "mixed": ("memref<40x?xf32, strided<[-40, ?]>>", lambda x: x[::-1, ::2][:, :20]),
}

COPY = """\
triton_xla.entry_func @copy(%x: {argument}, %y: {argument}, %tile: index) tiles 2 {{
  %c32 = arith.constant 32 : index
  %i = arith.muli %tile, %c32 : index
  %t = triton_xla.extract %x[%i, 0] [32, 64] [1, 1] : {type} to tensor<32x64xf32>
  triton_xla.insert %t into %y[%i, 0] [32, 64] [1, 1] : tensor<32x64xf32> into {type}
  triton_xla.return
}}
"""

INDEXED = """\
triton_xla.entry_func @indexed(%x: {argument}, %indices: memref<16xi32>, %y: {argument}, %z: {argument}, %s: {argument},
                               %tile: index) tiles 1 {{
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %i = triton_xla.extract %indices[0] [16] [1] : memref<16xi32> to tensor<16xi32>
  %t = triton_xla.gather %x[%i, %i] : {type}, tensor<16xi32>, tensor<16xi32> -> tensor<16xf32>
  triton_xla.scatter %t into %y[%i, %i] {{unique}} : tensor<16xf32> into {type}, tensor<16xi32>, tensor<16xi32>
  %old = triton_xla.atomic_rmw addf %t into %z[%i, %i] : tensor<16xf32> into {type}, tensor<16xi32>, tensor<16xi32>
  %steps = triton_xla.extract %x[1, 3] [8, 4] [2, 3] : {type} to tensor<8x4xf32>
  triton_xla.insert %steps into %s[0, 1] [8, 4] [3, 2] : tensor<8x4xf32> into {type}
  %scalar = memref.load %x[%c3, %c5] : {type}
  memref.store %scalar, %s[%c5, %c3] : {type}
  triton_xla.return
}}
"""


def fill(text: str, layout: str) -> str:
    return text.format(argument=layout, type=layout.partition(" {")[0])


def matrices(view: View, count: int) -> list[np.ndarray]:
    """Views of one random array and of arrays of zeros."""
    first = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    return [view(array) for array in (first, *np.zeros((count - 1, 40, 40), np.float32))]


@pytest.mark.grid(21)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_windows(name: str, target: str) -> None:
    layout, view = LAYOUTS[name]
    x, y = matrices(view, 2)
    smalti.compile(fill(COPY, layout), target=target)(x, y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.grid(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["rows", "both", "dynamic", "mixed"])
def test_single_elements_and_strided_windows(name: str, target: str) -> None:
    layout, view = LAYOUTS[name]
    x, y, z, s = matrices(view, 4)
    indices = np.random.default_rng(1).permutation(16).astype(np.int32)
    smalti.compile(fill(INDEXED, layout), target=target)(x, indices, y, z, s)
    wanted, steps = np.zeros_like(x), np.zeros_like(x)
    wanted[indices, indices] = x[indices, indices]
    steps[0:24:3, 1:9:2] = x[1:17:2, 3:15:3]
    steps[5, 3] = x[3, 5]
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(z, wanted)
    np.testing.assert_array_equal(s, steps)


DOT = """\
triton_xla.entry_func @dot(%a: {argument}, %b: {argument}, %c: memref<64x64xf32>, %tile: index) tiles 1 {{
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = triton_xla.extract %a[0, 0] [64, 64] [1, 1] : {type} to tensor<64x64xf16>
  %y = triton_xla.extract %b[0, 0] [64, 64] [1, 1] : {type} to tensor<64x64xf16>
  %d = triton_xla.dot %x, %y, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %d into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}}
"""
REVERSED_ROWS = "memref<64x64xf16, strided<[-64, 1]>>"
DYNAMIC_ROWS = "memref<?x?xf16, strided<[?, 1]>> {triton_xla.stride_divisors = array<i64: 8, 1>}"


def factors() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 5, (64, 64)).astype(np.float16)[::-1] for _ in range(2))
    return a, b, np.zeros((64, 64), np.float32)


@pytest.mark.parametrize("target", ["emu:sm_90a", "emu:gfx950", "emu:gfx1250"])
def test_matmuls(target: str) -> None:
    a, b, c = factors()
    kernel = smalti.compile(fill(DOT, REVERSED_ROWS), target=target)
    assert isinstance(kernel, Kernel) and not kernel.tensor_maps
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    said = "\n".join(str(remark) for remark in kernel.remarks)
    if target == "emu:sm_90a":
        assert (
            "TMA cannot load operand A: the array has stride -64 along dimension 0; TMA requires strides that are"
            in said
        )
    else:
        assert "buffer accesses not used: argument #0 has a negative stride" in said


def test_tma_requires_strides_that_are_not_negative(tmp_path: Path) -> None:
    a, b, c = factors()
    kernel = smalti.compile(fill(DOT, DYNAMIC_ROWS), target="emu:sm_90a")
    assert isinstance(kernel, Kernel) and kernel.tensor_maps
    with pytest.raises(
        LaunchError, match="argument 0: the stride of dimension 0 is -64 elements; TMA requires"
    ) as caught:
        kernel(a, b, c)
    assert caught.value.hint and "matmul=mma" in caught.value.hint
    smalti.compile(fill(DOT, DYNAMIC_ROWS), target="sm_90a").save(tmp_path / "dot.h")
    assert "which TMA does not support" in (tmp_path / "dot.h").read_text()
    smalti.compile(fill(DOT, DYNAMIC_ROWS), target="emu:sm_90a", matmul="mma")(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_a_bound_of_bytes_requires_strides_that_are_not_negative() -> None:
    layout = "memref<?x?xf32, strided<[?, 1]>> {triton_xla.max_bytes = 2147483647 : i64}"
    kernel = smalti.compile(fill(COPY, layout), target="emu:gfx942")
    x, y = matrices(lambda x: x[::-1], 2)
    with pytest.raises(LaunchError, match=r"argument 0 .* triton_xla.max_bytes requires strides that are not negative"):
        kernel(x, y)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "emu:gfx942", "sim:sm_90a"])
def test_the_stride_of_a_dimension_of_size_1_may_be_negative(target: str) -> None:
    layout = "memref<?x?xf32, strided<[?, ?]>> {triton_xla.max_bytes = 2147483647 : i64}"
    x = np.arange(40, dtype=np.float32).reshape(40, 1)[:, ::-1]
    y = np.zeros_like(x)
    assert x.strides == (4, -4)
    smalti.compile(fill(COPY, layout), target=target)(x, y)
    np.testing.assert_array_equal(y, x)


def test_tma_accepts_a_negative_stride_of_a_dimension_of_size_1() -> None:
    kernel = smalti.compile(fill(DOT, DYNAMIC_ROWS), target="emu:sm_90a")
    assert isinstance(kernel, Kernel) and kernel.tensor_maps
    a, b, c = factors()
    b = np.ascontiguousarray(b)
    kernel(a[:1], b, c)
    row = a[:1].astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, np.pad(row, ((0, 63), (0, 0))))


@pytest.mark.parametrize("target", ["emu:sm_90a", "emu:gfx942"])
def test_specialized_kernels_have_a_variant_for_negative_strides(target: str) -> None:
    kernel = smalti.specialize(fill(DOT, "memref<?x?xf16, strided<[?, 1]>>"), target=target)
    a, b, c = factors()
    for left, right in ((a, b), (a[::-1], b[::-1]), (a, b[::-1])):
        kernel(left, right, c)
        np.testing.assert_array_equal(c, left.astype(np.float32) @ right.astype(np.float32))
    assert len(kernel.variants) == 3


def test_the_default_alignment_is_that_of_the_first_element() -> None:
    for layout, alignment in (
        ("memref<64xf32, strided<[-1]>>", 4),
        ("memref<64x64xf32, strided<[-64, 1]>>", 16),
        ("memref<64x6xf16, strided<[-6, 1]>>", 4),
        ("memref<64xf32, strided<[-1]>> {llvm.align = 8 : i64}", 8),
    ):
        text = f"triton_xla.entry_func @f(%x: {layout}, %tile: index) tiles 1 {{\n  triton_xla.return\n}}\n"
        kernel = smalti.compile(text, target="sm_90a")
        assert isinstance(kernel, Kernel)
        assert f"llvm.align = {alignment} : i64" in kernel.asm["mosaic"]
        assert kernel.arguments[0].address_alignment(16) == alignment


def test_kernel_files(tmp_path: Path) -> None:
    for name in ("both", "mixed"):
        x, y = matrices(LAYOUTS[name][1], 2)
        kernel = smalti.compile(fill(COPY, LAYOUTS[name][0]), target="emu:gfx942")
        assert isinstance(kernel, Kernel)
        smalti.aot.load(smalti.aot.save(kernel, tmp_path / f"{name}.smalti"))(x, y)
        np.testing.assert_array_equal(y, x)


MAIN = """\
#include "copy.h"
#include <stdio.h>
int main(void) {
  copy_arguments a = {.x = {64, {40, 40}, {-40, -1}}, .y = {4096, {40, 40}, {-40, 1}}};
  copy_parameters parameters;
  const char *wrong = copy_check(&a);
  void **values = copy_fill_parameters(&a, &parameters);
  printf("%s %lld %lld\\n", wrong ? wrong : "ok", (long long)*(int64_t *)values[3], (long long)*(int64_t *)values[4]);
}
"""


def test_c_headers(tmp_path: Path) -> None:
    smalti.compile(fill(COPY, LAYOUTS["dynamic"][0]), target="gfx942").save(tmp_path / "copy.h")
    (tmp_path / "main.c").write_text(MAIN)
    compiler = stub_driver.compiler()
    assert compiler is not None
    subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True).stdout == "ok -40 -1\n"
