# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every combination of element types and every algorithm of triton_xla.dot, in shapes that are not multiples of an MMA,
on every kind of chip.

The reference is numpy in float64, or in int64 modulo 2^32. Operands contain NaNs, infinities, signed zeros and subnormal
numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from smalti import dtypes
from smalti.emulator import SCHEDULES, Emulation

TARGETS = ("emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201", "cpu")
"""One chip of each kind of matrix instruction."""
OTHERS = ("emu:sm_120a", "emu:gfx90a", "emu:gfx950", "emu:gfx1100", "emu:gfx1250", "sim:sm_80", "sim:gfx942")

FLOATS = {
    "f64": ("f64", "f64", "f64"),
    "f32": ("f32", "f32", "f32"),
    "f16": ("f16", "f16", "f32"),
    "f16-f16": ("f16", "f16", "f16"),
    "bf16": ("bf16", "bf16", "f32"),
    "e4m3": ("f8E4M3FN", "f8E4M3FN", "f32"),
    "e5m2": ("f8E5M2", "f8E5M2", "f32"),
    "e4m3-e5m2": ("f8E4M3FN", "f8E5M2", "f32"),
    "e5m2-e4m3": ("f8E5M2", "f8E4M3FN", "f32"),
    "e4m3fnuz": ("f8E4M3FNUZ", "f8E4M3FNUZ", "f32"),
    "e4m3fnuz-e5m2fnuz": ("f8E4M3FNUZ", "f8E5M2FNUZ", "f32"),
    "e5m2fnuz": ("f8E5M2FNUZ", "f8E5M2FNUZ", "f32"),
}
INTEGERS = {
    "s8-s8": "",
    "u8-s8": "unsigned_lhs",
    "s8-u8": "unsigned_rhs",
    "u8-u8": "unsigned_lhs unsigned_rhs",
}
SHAPES = ((6, 12, 20), (1, 1, 1), (5, 9, 7), (32, 32, 32))
"""M, N and K."""


def dot(shape: tuple[int, int, int], types: tuple[str, str, str], words: str = "", columns_of_b: bool = False) -> str:
    m, n, k = shape
    a, b, c = types
    stored = f"{n}x{k}" if columns_of_b else f"{k}x{n}"
    transpose = f"%bt = triton_xla.transpose %bs [1, 0] : tensor<{stored}x{b}> -> tensor<{k}x{n}x{b}>"
    operand = "%bt" if columns_of_b else "%bs"
    return f"""
triton_xla.entry_func @dot(%a: memref<{m}x{k}x{a}>, %b: memref<{stored}x{b}>, %c: memref<{m}x{n}x{c}>, %tile: index) tiles 1 {{
  %at = triton_xla.extract %a[0, 0] [{m}, {k}] [1, 1] : memref<{m}x{k}x{a}> to tensor<{m}x{k}x{a}>
  %bs = triton_xla.extract %b[0, 0] [{stored.replace("x", ", ")}] [1, 1] : memref<{stored}x{b}> to tensor<{stored}x{b}>
  {transpose if columns_of_b else ""}
  %ct = triton_xla.extract %c[0, 0] [{m}, {n}] [1, 1] : memref<{m}x{n}x{c}> to tensor<{m}x{n}x{c}>
  %r = triton_xla.dot %at, {operand}, %ct {words} : tensor<{m}x{k}x{a}>, tensor<{k}x{n}x{b}> -> tensor<{m}x{n}x{c}>
  triton_xla.insert %r into %c[0, 0] [{m}, {n}] [1, 1] : tensor<{m}x{n}x{c}> into memref<{m}x{n}x{c}>
  triton_xla.return
}}
"""


def run(source: str, target: str, *arrays: np.ndarray, **options: str) -> smalti.Kernel:
    kernel = smalti.compile(source, target=target, **options)
    (kernel.launcher if target.startswith("emu:") else kernel)(*arrays)  # type: ignore[operator]
    return kernel


def small_values(generator: np.random.Generator, shape: tuple[int, int], name: str) -> np.ndarray:
    element = dtypes.from_mlir(name)
    assert element is not None
    return generator.integers(-3, 4, shape).astype(element.numpy)


def check_floats(
    target: str, form: str, shape: tuple[int, int, int], columns_of_b: bool = False, **options: str
) -> smalti.Kernel:
    m, n, k = shape
    types = FLOATS[form]
    generator = np.random.default_rng(0)
    a, b, c = (
        small_values(generator, extents, name) for extents, name in zip(((m, k), (k, n), (m, n)), types, strict=True)
    )
    if min(shape) > 4:
        # Rows of A: a NaN, an infinity if the type has one, and the smallest positive number.
        a[1, 2] = np.nan
        a[3, 0] = np.inf
        tiny = np.zeros(1, a.dtype)
        tiny.view(f"u{tiny.itemsize}")[0] = 1
        if types[0].startswith("f8"):
            a[4] = tiny[0]
        b[2, 0] = 0
    with np.errstate(invalid="ignore"):
        wanted = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    result = c.copy()
    kernel = run(
        dot(shape, types, columns_of_b=columns_of_b),
        target,
        a,
        np.ascontiguousarray(b.T) if columns_of_b else b,
        result,
        **options,
    )
    np.testing.assert_array_equal(result.astype(np.float64), wanted)
    return kernel


ALGORITHMS = {"tf32": 2**-10, "tf32x3": 2**-20, "bf16x3": 2**-15, "bf16x6": 2**-22, "bf16x9": 2**-22}
"""The error of the result, relative to the sum of the magnitudes."""


def check_algorithm(target: str, algorithm: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    generator = np.random.default_rng(0)
    a, b, c = (generator.standard_normal(extents).astype(np.float32) for extents in ((m, k), (k, n), (m, n)))
    exact = c + a.astype(np.float64) @ b.astype(np.float64)
    magnitude = np.abs(c) + np.abs(a) @ np.abs(b)
    run(dot(shape, ("f32", "f32", "f32"), f"algorithm {algorithm}"), target, a, b, c)
    assert (np.abs(c - exact) / magnitude).max() < ALGORITHMS[algorithm]


def check_special_values(target: str, algorithm: str) -> None:
    """The outer product of special values: zeros, infinities, NaNs, numbers that round to infinity in bf16."""
    x = np.array([0, -0.0, 1, -1.7, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-30], np.float32)
    x[6:7].view(np.uint32)[0] = 0x7FFFFFFF
    c = np.full((10, 10), -0.0, np.float32)
    run(
        dot((10, 10, 1), ("f32", "f32", "f32"), f"algorithm {algorithm}"),
        target,
        x.reshape(10, 1).copy(),
        x.reshape(1, 10).copy(),
        c,
    )
    with np.errstate(all="ignore"):
        wanted = np.outer(x, x) + np.float32(-0.0)
    for kind in (np.isnan, np.isposinf, np.isneginf):
        np.testing.assert_array_equal(kind(c), kind(wanted))
    # 1e-30 * 1e-30 underflows.
    zeros = np.outer(x == 0, np.isfinite(x)) | np.outer(np.isfinite(x), x == 0)
    np.testing.assert_array_equal(c[zeros], 0)
    np.testing.assert_array_equal(np.signbit(c[zeros]), np.signbit(wanted[zeros]))


def check_integers(
    target: str, form: str, shape: tuple[int, int, int], columns_of_b: bool = False, **options: str
) -> smalti.Kernel:
    m, n, k = shape
    words = INTEGERS[form]
    generator = np.random.default_rng(0)
    a = generator.integers(-128, 128, (m, k)).astype(np.int8)
    b = generator.integers(-128, 128, (k, n)).astype(np.int8)
    a[0], b[:, 0] = -128, -128  # As unsigned: 128.
    a[-1], b[:, -1] = -1, -1  # As unsigned: 255.
    c = generator.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    c[0, 0], c[-1, -1] = 2**31 - 1, 2**31 - 1

    def value(x: np.ndarray, is_unsigned: bool) -> np.ndarray:
        return (x.view(np.uint8) if is_unsigned else x).astype(np.int64)

    wanted = c + value(a, "unsigned_lhs" in words) @ value(b, "unsigned_rhs" in words)
    if columns_of_b:
        b = np.ascontiguousarray(b.T)
    kernel = run(dot(shape, ("i8", "i8", "i32"), words, columns_of_b), target, a, b, c, **options)
    np.testing.assert_array_equal(c, wanted.astype(np.int32))
    return kernel


@pytest.mark.grid(20)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FLOATS)
@pytest.mark.parametrize("target", TARGETS)
def test_floats(target: str, form: str, shape: tuple[int, int, int]) -> None:
    check_floats(target, form, shape)


@pytest.mark.grid(8)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", INTEGERS)
@pytest.mark.parametrize("target", TARGETS)
def test_integers_wrap(target: str, form: str, shape: tuple[int, int, int]) -> None:
    check_integers(target, form, shape)


@pytest.mark.grid(8)
@pytest.mark.parametrize("shape", [(6, 12, 20), (32, 32, 32)], ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("target", TARGETS)
def test_accuracy_of_algorithms(target: str, algorithm: str, shape: tuple[int, int, int]) -> None:
    check_algorithm(target, algorithm, shape)


@pytest.mark.grid(8)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("target", TARGETS)
def test_special_values_of_algorithms(target: str, algorithm: str) -> None:
    check_special_values(target, algorithm)


IN_LOOP = """
triton_xla.entry_func @loop(%a: memref<32x96xf32>, %b: memref<96x32xf32>, %c: memref<32x32xf32>, %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %acc = triton_xla.extract %c[0, 0] [32, 32] [1, 1] : memref<32x32xf32> to tensor<32x32xf32>
  %r = scf.for %k = %c0 to %c96 step %c32 iter_args(%s = %acc) -> tensor<32x32xf32> {{
    %x = triton_xla.extract %a[0, %k] [32, 32] [1, 1] : memref<32x96xf32> to tensor<32x32xf32>
    %y = triton_xla.extract %b[%k, 0] [32, 32] [1, 1] : memref<96x32xf32> to tensor<32x32xf32>
    %d = triton_xla.dot %x, %y, %s algorithm {algorithm} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }}
  triton_xla.insert %r into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("is_in_loop", [False, True])
@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx1100"])
def test_parts_share_buffers_without_a_race(target: str, is_in_loop: bool) -> None:
    """Both operands have three parts, and a leading part with infinities and NaNs."""
    algorithm = "bf16x6"
    k = 96 if is_in_loop else 32
    words = f"algorithm {algorithm}"
    source = IN_LOOP.format(algorithm=algorithm) if is_in_loop else dot((32, 32, 32), ("f32", "f32", "f32"), words)
    kernel = smalti.compile(source, target=target)
    assert kernel.asm["mosaic"].count("memref.alloc()") == 5
    generator = np.random.default_rng(0)
    a, b, c = (generator.standard_normal(extents).astype(np.float32) for extents in ((32, k), (k, 32), (32, 32)))
    exact = c + a.astype(np.float64) @ b.astype(np.float64)
    magnitude = np.abs(c) + np.abs(a) @ np.abs(b)
    for emulation in (*SCHEDULES, Emulation(sanitize="thread")):
        result = c.copy()
        kernel.launcher(a, b, result, emulation=emulation)
        assert (np.abs(result - exact) / magnitude).max() < ALGORITHMS[algorithm]


INSTRUCTIONS = {
    "sm_80": {
        "f64": "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "f16-f16": "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "u8-s8": "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
        "s8-u8": "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
        "u8-u8": "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
    },
    "sm_89": {
        "f64": "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "e4m3-e5m2": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
        "e5m2-e4m3": "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32",
    },
    "sm_90a": {
        "f64": "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
        "f16-f16": "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "e4m3-e5m2": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    },
    "gfx90a": {"f64": "v_mfma_f64_16x16x4f64"},
    "gfx942": {
        "f64": "v_mfma_f64_16x16x4_f64",
        "e4m3fnuz-e5m2fnuz": "v_mfma_f32_16x16x32_fp8_bf8",
        "u8-u8": "v_mfma_i32_16x16x32_i8",
        "algorithm tf32": "v_mfma_f32_16x16x8_xf32",
    },
    "gfx950": {"f64": "v_mfma_f64_16x16x4_f64", "e5m2-e4m3": "v_mfma_f32_16x16x32_bf8_fp8"},
    "gfx1100": {
        "f16-f16": "v_wmma_f16_16x16x16_f16",
        "u8-s8": "v_wmma_i32_16x16x16_iu8",
        "algorithm tf32": "v_wmma_f32_16x16x16_bf16",
        "algorithm tf32x3": "v_wmma_f32_16x16x16_bf16",
    },
    "gfx1201": {
        "f16-f16": "v_wmma_f16_16x16x16_f16",
        "u8-u8": "v_wmma_i32_16x16x16_iu8",
        "e5m2-e4m3": "v_wmma_f32_16x16x16_bf8_fp8",
    },
    "gfx1250": {
        "f16-f16": "v_wmma_f16_16x16x32_f16",
        "u8-s8": "v_wmma_i32_16x16x64_iu8",
        "e4m3-e5m2": "v_wmma_f32_16x16x64_fp8_bf8",
    },
}


@pytest.mark.parametrize(("chip", "form"), [(chip, form) for chip, forms in INSTRUCTIONS.items() for form in forms])
def test_instructions(chip: str, form: str) -> None:
    shape = (64, 64, 64)
    if form in FLOATS:
        source = dot(shape, FLOATS[form])
    elif form in INTEGERS:
        source = dot(shape, ("i8", "i8", "i32"), INTEGERS[form])
    else:
        source = dot(shape, ("f32", "f32", "f32"), form)
    assembly = smalti.compile(source, target=chip, matmul="mma").asm
    text = assembly["ptx" if chip.startswith("sm_") else "gcn"]
    assert re.search(rf"\s{re.escape(INSTRUCTIONS[chip][form])}\s", text)


@pytest.mark.parametrize(
    ("form", "types"),
    [
        ("u8-s8", "k32.s32.u8.s8"),
        ("s8-u8", "k32.s32.s8.u8"),
        ("u8-u8", "k32.s32.u8.u8"),
        ("e4m3-e5m2", "k32.f32.e4m3.e5m2"),
        ("e5m2-e4m3", "k32.f32.e5m2.e4m3"),
        ("f16-f16", "k16.f16.f16.f16"),
    ],
)
@pytest.mark.parametrize("target", ["emu:sm_90a", "sim:sm_90a"])
def test_wgmma(target: str, form: str, types: str) -> None:
    check = check_integers if form in INTEGERS else check_floats
    kernel = check(target, form, (64, 64, 64), columns_of_b=True, matmul="wgmma")
    if target.startswith("emu:"):
        assert f"wgmma.mma_async.sync.aligned.m64n64{types} " in kernel.asm["llvm"]


@pytest.mark.grid(28)
@pytest.mark.parametrize("form", [*ALGORITHMS, *FLOATS, *INTEGERS])
@pytest.mark.parametrize("target", OTHERS)
def test_other_chips(target: str, form: str) -> None:
    if form in ALGORITHMS:
        check_algorithm(target, form, (6, 12, 20))
        check_special_values(target, form)
    elif form in FLOATS:
        check_floats(target, form, (6, 12, 20))
    else:
        check_integers(target, form, (6, 12, 20))


@pytest.mark.grid(6)
@pytest.mark.parametrize("form", ["f16", "e4m3-e5m2", "f64"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_transposed_operand(target: str, form: str) -> None:
    check_floats(target, form, (6, 12, 20), columns_of_b=True)


@pytest.mark.parametrize("target", TARGETS)
def test_padding_keeps_negative_zeros(target: str) -> None:
    a = np.full((6, 20), -0.0, np.float16)
    b = np.ones((20, 12), np.float16)
    c = np.full((6, 12), -0.0, np.float32)
    run(dot((6, 12, 20), FLOATS["f16"]), target, a, b, c)
    assert not c.any() and np.signbit(c).all()


@pytest.mark.grid(6)
@pytest.mark.parametrize("form", ["e4m3-e5m2", "e5m2-e4m3", "e4m3fnuz-e5m2fnuz"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_8_bit_float(target: str, form: str) -> None:
    """All 256 elements of A, multiplied by 1."""
    types = FLOATS[form]
    left, right = (dtypes.from_mlir(name) for name in types[:2])
    assert left is not None and right is not None
    a = np.arange(256, dtype=np.uint8).reshape(256, 1).view(left.numpy)
    b = np.ones((1, 8), right.numpy)
    c = np.zeros((256, 8), np.float32)
    run(dot((256, 8, 1), types), target, a, b, c)
    np.testing.assert_array_equal(c, np.repeat(a.astype(np.float32), 8, axis=1))
