# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dynamic arrays of GPU kernels: what the attributes of arguments state, and the tensor maps that a launch encodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import smalti
from smalti import LaunchError
from smalti.calling import tensor_maps
from smalti.launch.kernels import Kernel

ROWS = "triton_xla.size_divisors = array<i64: 1, 8>"

MATMUL = f"""\
triton_xla.entry_func @matmul(%n: index, %a: memref<?x?xf16> {{{ROWS}}}, %b: memref<?x?xf16> {{{ROWS}}},
                              %c: memref<?x?xf32> {{{ROWS}}}, %i: index, %j: index)
    tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {{
    %at = triton_xla.extract %a[%row, %k] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %bt = triton_xla.extract %b[%k, %column] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }}
  triton_xla.insert %sum into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}}
"""

TARGETS = ("emu:sm_90a", "sim:sm_90a", "emu:sm_80", "emu:gfx942", "emu:gfx1201")


@pytest.fixture(scope="module", params=TARGETS)
def matmul(request: pytest.FixtureRequest) -> Callable[..., None]:
    return smalti.compile(MATMUL, target=request.param)


@pytest.fixture(scope="module")
def hopper() -> Kernel:
    kernel = smalti.compile(MATMUL, target="emu:sm_90a")
    assert isinstance(kernel, Kernel)
    return kernel


def operands(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    return a, b, np.full((m, n), np.nan, np.float32)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 8, 8), (65, 72, 136), (64, 128, 64), (100, 8, 200)])
def test_ragged_sizes(matmul: Callable[..., None], m: int, n: int, k: int) -> None:
    a, b, c = operands(m, n, k)
    matmul(k, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_an_empty_array_is_zeros_out_of_bounds(matmul: Callable[..., None]) -> None:
    """The loop runs once, although the arrays have no elements along K."""
    a, b, c = operands(65, 72, 0)
    matmul(64, a, b, c)
    np.testing.assert_array_equal(c, np.zeros_like(c))


def test_empty_results_do_not_run(matmul: Callable[..., None]) -> None:
    a, b, c = operands(0, 8, 8)
    matmul(8, a, b, c)


def test_the_kernel_for_hopper_uses_tma(hopper: Kernel) -> None:
    assert len(hopper.tensor_maps) == 3
    assert [described.argument for described in hopper.tensor_maps] == [1, 2, 3]
    assert hopper.tensor_maps[0] == tensor_maps.TensorMap(
        "f16", (None, None), (None, 2), (64, 64), swizzle=128, argument=1, dims=(0, 1)
    )
    assert "wgmma" in hopper.asm["llvm"]


def test_a_launch_checks_divisors(hopper: Kernel) -> None:
    a, b, c = operands(64, 64, 68)
    with pytest.raises(LaunchError, match="the size of dimension 1 is 68; the kernel requires a multiple of 8"):
        hopper(68, a, b, c)


def test_a_kernel_file_keeps_dynamic_maps(hopper: Kernel, tmp_path: Path) -> None:
    loaded = smalti.aot.load(smalti.aot.save(hopper, tmp_path / "matmul.smalti"))
    assert loaded.tensor_maps == hopper.tensor_maps
    a, b, c = operands(65, 72, 40)
    loaded(40, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


STRIDED = """\
triton_xla.entry_func @strided(%a: memref<?x?xf16, strided<[?, 1]>> {triton_xla.stride_divisors = array<i64: 8, 1>},
                               %b: memref<?x?xf16, strided<[1, ?]>> {triton_xla.stride_divisors = array<i64: 1, 16>},
                               %c: memref<64x64xf32>, %i: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %at = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<?x?xf16, strided<[?, 1]>> to tensor<64x64xf16>
  %bt = triton_xla.extract %b[%c0, %c0] [64, 64] [1, 1] : memref<?x?xf16, strided<[1, ?]>> to tensor<64x64xf16>
  %sum = triton_xla.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  triton_xla.insert %sum into %c[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_dynamic_strides_and_column_major_arrays(target: str) -> None:
    kernel = smalti.compile(STRIDED, target=target)
    if isinstance(kernel, Kernel):
        assert len(kernel.tensor_maps) == (3 if target == "emu:sm_90a" else 0)
    rng = np.random.default_rng(7)
    a = rng.integers(-4, 5, (41, 80)).astype(np.float16)[:, :37]
    b = rng.integers(-4, 5, (29, 48)).astype(np.float16)[:, :37].T
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, b, c)
    wanted = np.zeros((64, 64), np.float32)
    wanted[:41, :29] = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, wanted)
    with pytest.raises(LaunchError, match="the stride of dimension 0 is 37; the kernel requires"):
        kernel(np.ascontiguousarray(a), b, c)


def test_tma_limits_sizes() -> None:
    described = tensor_maps.TensorMap("f16", (None, 64), (None, 2), (64, 64), argument=2, dims=(0, 1))
    assert described.bind((5, 64), (72, 1)) == tensor_maps.TensorMap("f16", (5, 64), (144, 2), (64, 64), argument=2)
    # 128 TiB of addresses; nothing is allocated.
    described.bind((1 << 30, 64), (1 << 16, 1))
    with pytest.raises(LaunchError, match="argument 2: the size of dimension 0 is 1073741825; TMA supports at most"):
        described.bind((1 + (1 << 30), 64), (72, 1))
    with pytest.raises(LaunchError, match="multiples of 16 B below 2\\^40"):
        described.bind((5, 64), (1 << 39, 1))
    assert described.bind((0, 64), (64, 1)).extents == (1, 1)


SMALL = "triton_xla.max_bytes = 2147483647 : i64"


@pytest.mark.parametrize("target", ["emu:gfx942", "emu:gfx950", "emu:gfx1201", "emu:sm_80"])
def test_buffer_accesses_of_ragged_arrays(target: str) -> None:
    kernel = smalti.compile(MATMUL.replace(ROWS, f"{ROWS}, {SMALL}"), target=target)
    if "gfx" in target:
        assert isinstance(kernel, Kernel)
        code = kernel.asm["llvm"]
        assert "raw.ptr.buffer.load" in code or "load.to.lds" in code
        assert "raw.ptr.buffer.store" in code
    for m, n, k in [(1, 8, 8), (65, 72, 136), (100, 8, 200), (64, 64, 0)]:
        a, b, c = operands(m, n, k)
        kernel(max(k, 1), a, b, c)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


STEPS = f"""\
triton_xla.entry_func @steps(%a: memref<?x?xf32, strided<[?, ?]>> {{{SMALL}}}, %rows: memref<?xi32>,
                             %out: memref<?x?xf32> {{{SMALL}}}, %i: index) tiles size(%out, 0) ceildiv 8 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.muli %i, %c8 : index
  %r = triton_xla.extract %rows[%row] [8] [1] : memref<?xi32> to tensor<8xi32>
  %column = arith.constant dense<1> : tensor<8xi32>
  %picked = triton_xla.gather %a[%r, %column] : memref<?x?xf32, strided<[?, ?]>>, tensor<8xi32>, tensor<8xi32> -> tensor<8xf32>
  %wide = triton_xla.broadcast %picked dims [0] : tensor<8xf32> -> tensor<8x8xf32>
  %odd = triton_xla.extract %a[%row, %c1] [8, 8] [1, 2] : memref<?x?xf32, strided<[?, ?]>> to tensor<8x8xf32>
  %sum = arith.addf %odd, %wide : tensor<8x8xf32>
  triton_xla.insert %sum into %out[%row, %c0] [8, 8] [1, 1] : tensor<8x8xf32> into memref<?x?xf32>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("target", ["emu:gfx942", "emu:gfx1201", "emu:sm_80", "emu:sm_90a"])
def test_small_offsets_of_gathers_and_of_strided_windows(target: str) -> None:
    kernel = smalti.compile(STEPS, target=target)
    rng = np.random.default_rng(3)
    a = rng.standard_normal((40, 22)).astype(np.float32)[::2, ::2]
    # Indices out of bounds read 0.
    rows = np.array([0, 19, -1, 20, 7, 3, 2**31 - 1, -(2**31), 4, 5, 6], np.int32)
    out = np.full((11, 7), np.nan, np.float32)
    kernel(a, rows, out)
    inside = (rows >= 0) & (rows < 20)
    picked = np.where(inside, a[np.where(inside, rows, 0), 1], 0)
    windows = np.zeros((11, 8), np.float32)
    windows[:, :5] = a[:11, 1::2]
    np.testing.assert_array_equal(out, (windows + picked[:, None])[:, :7])


def test_a_launch_checks_the_number_of_bytes() -> None:
    kernel = smalti.compile(STEPS.replace("2147483647", "1024"), target="emu:gfx942")
    rows, out = np.zeros(8, np.int32), np.zeros((8, 8), np.float32)
    kernel(np.zeros((16, 16), np.float32), rows, out)
    with pytest.raises(
        LaunchError,
        match=r"argument 0 .*: the array has 1088 B; .* at most 1024 B \(argument attribute triton_xla.max_bytes\)",
    ):
        kernel(np.zeros((17, 16), np.float32), rows, out)
    # Each size counts, even if the array is empty.
    with pytest.raises(LaunchError, match="the array has 1028 B"):
        kernel(np.zeros((257, 0), np.float32), rows, out)


COPY = """\
triton_xla.entry_func @copy(%a: memref<?x?xf32, LAYOUT> {FACTS}, %c: memref<8x8xf32>, %i: index) tiles 1 {
  %t = triton_xla.extract %a[0, 0] [8, 8] [1, 1] : memref<?x?xf32, LAYOUT> to tensor<8x8xf32>
  triton_xla.insert %t into %c[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into memref<8x8xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize(
    ("layout", "facts", "message"),
    [
        ("strided<[?, 1]>", ROWS, "the size of dimension 1 is 7; the kernel requires a multiple of 8"),
        (
            "strided<[?, 1]>",
            "triton_xla.stride_divisors = array<i64: 32, 1>",
            "the stride of dimension 0 is 16; the kernel requires a multiple of 32",
        ),
        ("strided<[?, 1]>", "triton_xla.max_bytes = 91 : i64", "the array has 92 B; the kernel supports at most 91 B"),
        ("", "", "the stride of dimension 0 is 16 elements; the kernel requires a row-major array, with a stride of 7"),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "emu:gfx942", "sim:sm_90a"])
def test_every_target_checks_arrays_alike(target: str, layout: str, facts: str, message: str) -> None:
    source = COPY.replace(", LAYOUT", f", {layout}" * bool(layout)).replace("FACTS", facts)
    given = np.arange(32, dtype=np.float32).reshape(4, 8)[::2, :7]
    with pytest.raises(LaunchError, match=f"argument 0 .*: {message}"):
        smalti.compile(source, target=target)(given, np.empty((8, 8), np.float32))


def test_the_cpu_accepts_negative_strides() -> None:
    kernel = smalti.compile(COPY.replace("LAYOUT", "strided<[?, ?]>").replace("FACTS", ""), target="cpu")
    given, found = np.arange(64, dtype=np.float32).reshape(8, 8)[::-1, ::-1], np.empty((8, 8), np.float32)
    kernel(given, found)
    np.testing.assert_array_equal(found, given)


ARGUMENTS = """\
triton_xla.entry_func @arguments(%a: memref<?x?xi1>, %b: memref<4xi1>, %c: memref<4xi4>, %n: i32, %i: index) tiles 1 {
  %t = triton_xla.extract %a[0, 0] [1, 4] [1, 1] : memref<?x?xi1> to tensor<4xi1>
  %u = triton_xla.extract %c[0] [4] [1] : memref<4xi4> to tensor<4xi4>
  triton_xla.insert %t into %b[0] [4] [1] : tensor<4xi1> into memref<4xi1>
  triton_xla.insert %u into %c[0] [4] [1] : tensor<4xi4> into memref<4xi4>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["cpu", "emu:gfx942", "sim:sm_90a"])
def test_every_target_names_the_arguments_of_the_source(target: str) -> None:
    """Sizes and strides are parameters of a GPU kernel, which stores i1 in bytes; messages do not count or show them."""
    kernel = smalti.compile(ARGUMENTS, target=target)
    good = [np.ones((1, 4), bool), np.zeros(4, bool), np.zeros(2, np.int8), 3]
    kernel(*good)
    assert good[1].all()
    for index, wrong, message in [
        (0, np.ones((1, 4), np.int16), r"argument 0 \(%\w+: memref<\?x\?xi1>\): the element type is int16; the kernel requires bool"),
        (0, [[True] * 4], r"argument 0 \(%\w+: memref<\?x\?xi1>\): list is not an array; pass a numpy array"),
        (1, np.zeros(5, bool), r"argument 1 \(%\w+: memref<4xi1>\): the shape is 5; the kernel requires 4"),
        (1, [False] * 4, r"argument 1 \(%\w+: memref<4xi1>\): list is not an array; pass a numpy array"),
        (2, np.zeros(4, np.int16)[::2], r"argument 2 \(%\w+: memref<4xi4>\): the element type is int16"),
        (2, 5.0, r"argument 2 \(%\w+: memref<4xi4>\): float is not an array"),
        (3, 1 << 40, r"argument 3 \(%\w+: i32\): 1099511627776 is out of range for i32"),
    ]:  # fmt: skip
        given = list(good)
        given[index] = wrong
        with pytest.raises(LaunchError, match=message):
            kernel(*given)
