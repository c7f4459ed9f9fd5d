"""Numbers of the code for GPUs, with no GPU: the LLVM IR that a binary is made of runs on the host (`emulation/`).

The reference is the float64 interpreter of tile programs. Arguments lie between poison and unmapped memory, shared
memory starts as NaN, outputs start as NaN where the program does not read them; asynchronous copies happen at the last
moment that is allowed or at the first, and the waves of a block run in several orders.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import BUILD
from emulation import launch, rewrite
from smalti import check, entry, reference, targets, toolchain

pytestmark = pytest.mark.skipif(launch.missing_tool() is not None, reason=str(launch.missing_tool()))

Order, Schedule = launch.Order, launch.Schedule
GPUS = [target for target in targets.all() if target.is_gpu]


def _families() -> Iterator[str]:
    """The first chip of each set of instructions that code generation chooses from."""
    seen = set()
    for target in GPUS:
        facts = (target.vendor, target.wave_size, target.mmas, target.barrier, target.waits, target.async_copy_bytes)
        if facts not in seen:
            seen.add(facts)
            yield target.name


FAMILIES = list(_families())
VENDORS = list({targets.get(name).vendor: name for name in reversed(FAMILIES)}.values())
"""One chip a vendor."""


@functools.cache
def emulator() -> launch.Emulator:
    return launch.Emulator(BUILD / "emulation")


class Program:
    """A tile program, compiled and run on an emulated chip."""

    def __init__(self, source: str | Path, target: str, **options: Any) -> None:
        self.module = smalti.parse(source)
        self.kernel = smalti.compile(self.module, target=target, **options)
        self.emulated = emulator().build(self.kernel)

    def arguments(self, seed: int = 0, **scalars: str) -> list[Any]:
        return check.random_arguments(self.kernel.entry, seed, {int(i[1:]): text for i, text in scalars.items()})

    def check(self, arguments: list[Any] | None = None, schedule: Schedule | None = None) -> None:
        """Runs on the arguments, in place, and compares every one of them with the reference."""
        values = self.arguments() if arguments is None else arguments
        with np.errstate(invalid="ignore"):
            expected = reference.run(entry.find_entry(self.module, self.kernel.entry.name), values)
        before = [value.tobytes() if isinstance(value, np.ndarray) else b"" for value in values]
        self.emulated(*values, schedule=schedule)
        for argument, value, wanted, old in zip(self.kernel.arguments, values, expected, before, strict=True):
            if not argument.is_memref:
                continue
            if argument.writes:
                comparison = check.compare(argument, value, wanted)
                assert not comparison.wrong, comparison.detail
            else:
                assert value.tobytes() == old, f"{argument} is only read, and changed"


def matmul(
    shape: tuple[int, int, int], tile: tuple[int, int, int], dtype: str = "f16", words: str = "", start: str = "window"
) -> str:
    """C += A * B, or C = A * B where `start` is "zero"."""
    (m, n, k), (tm, tn, tk) = shape, tile
    columns = -(-n // tn)
    first = {
        "window": f"triton_xla.extract %c[%row, %column] [{tm}, {tn}] [1, 1] : memref<{m}x{n}xf32> to tensor<{tm}x{tn}xf32>",
        "zero": f"arith.constant dense<0.0> : tensor<{tm}x{tn}xf32>",
    }[start]
    return f"""
triton_xla.entry_func @matmul(%a: memref<{m}x{k}x{dtype}>, %b: memref<{k}x{n}x{dtype}>, %c: memref<{m}x{n}xf32>,
                              %tile: index) tiles {-(-m // tm) * columns} {{
  %c0 = arith.constant 0 : index
  %columns = arith.constant {columns} : index
  %tm = arith.constant {tm} : index
  %tn = arith.constant {tn} : index
  %tk = arith.constant {tk} : index
  %depth = arith.constant {k} : index
  %i = arith.divui %tile, %columns : index
  %j = arith.remui %tile, %columns : index
  %row = arith.muli %i, %tm : index
  %column = arith.muli %j, %tn : index
  %first = {first}
  %sum = scf.for %p = %c0 to %depth step %tk iter_args(%acc = %first) -> (tensor<{tm}x{tn}xf32>) {{
    %at = triton_xla.extract %a[%row, %p] [{tm}, {tk}] [1, 1] : memref<{m}x{k}x{dtype}> to tensor<{tm}x{tk}x{dtype}>
    %bt = triton_xla.extract %b[%p, %column] [{tk}, {tn}] [1, 1] : memref<{k}x{n}x{dtype}> to tensor<{tk}x{tn}x{dtype}>
    %next = triton_xla.dot %at, %bt, %acc {words}
        : tensor<{tm}x{tk}x{dtype}>, tensor<{tk}x{tn}x{dtype}> -> tensor<{tm}x{tn}xf32>
    scf.yield %next : tensor<{tm}x{tn}xf32>
  }}
  triton_xla.insert %sum into %c[%row, %column] [{tm}, {tn}] [1, 1] : tensor<{tm}x{tn}xf32> into memref<{m}x{n}xf32>
  triton_xla.return
}}
"""


# ---------------------------------------------------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [target.name for target in GPUS])
def test_ragged_matmul(target: str, kernels: Path) -> None:
    Program(kernels / "matmul_ragged.mlir", target).check()


@pytest.mark.parametrize("name", ["matmul_relu_bf16", "vector_add"])
@pytest.mark.parametrize("target", FAMILIES)
def test_example_kernels(target: str, name: str, kernels: Path) -> None:
    Program(kernels / f"{name}.mlir", target).check()


PRODUCTS = {
    "one-element": ((1, 1, 1), (16, 16, 16), "f16"),
    "odd-strides": ((77, 45, 53), (64, 64, 32), "f16"),
    "even-strides": ((65, 66, 70), (64, 64, 16), "bf16"),
    "whole-tiles": ((64, 64, 64), (64, 64, 32), "f16"),
    "k-below-its-tile": ((33, 17, 5), (32, 32, 32), "bf16"),
    "one-iteration": ((40, 33, 32), (32, 64, 32), "f16"),
    "two-iterations": ((40, 36, 64), (32, 32, 32), "bf16"),
    "f32": ((70, 37, 33), (64, 32, 16), "f32"),
    "f32-whole-tiles": ((32, 64, 32), (32, 64, 16), "f32"),
}


@pytest.mark.parametrize("case", PRODUCTS)
@pytest.mark.parametrize("target", FAMILIES)
def test_product(target: str, case: str) -> None:
    shape, tile, dtype = PRODUCTS[case]
    Program(matmul(shape, tile, dtype), target).check()


@pytest.mark.parametrize("target", FAMILIES)
def test_product_in_tf32(target: str) -> None:
    Program(matmul((70, 37, 33), (64, 32, 16), "f32", "tf32"), target).check()


@pytest.mark.parametrize(
    "options", [{"stages": n} for n in (1, 2, 3, 4)] + [{"depth": n} for n in (1, 2, 3, 4)], ids=str
)
@pytest.mark.parametrize("target", VENDORS)
def test_stages_and_slots(target: str, options: dict[str, int]) -> None:
    # Five iterations: more than any pipeline is deep. One and two: less.
    for depth in (72, 16, 20):
        program = Program(matmul((33, 40, depth), (32, 32, 16), start="zero"), target, **options)
        for schedule in launch.SCHEDULES:
            program.check(schedule=schedule)


@pytest.mark.parametrize("target", FAMILIES)
def test_product_of_special_values(target: str) -> None:
    program = Program(matmul((20, 24, 30), (16, 16, 16)), target)
    a, b, c = program.arguments()
    a[3, 4], a[5, 6], b[7, 8], b[9, 10] = np.inf, np.nan, -np.inf, np.nan
    a[11, 9], b[4, 12] = 0, 0  # Against the NaN and the infinity.
    program.check([a, b, c])


@pytest.mark.parametrize("target", FAMILIES)
def test_product_is_not_rounded_to_16_bits(target: str) -> None:
    program = Program(matmul((1, 1, 1), (16, 16, 16), start="zero"), target)
    a = np.full((1, 1), 1 + 2.0**-10, np.float16)
    c = np.full((1, 1), np.nan, np.float32)
    program.emulated(a, a.copy(), c)
    assert c[0, 0] == (1 + 2.0**-10) ** 2


# ---------------------------------------------------------------------------------------------------------------------
# Windows and elementwise programs
# ---------------------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "fill": """
triton_xla.entry_func @fill(%x: memref<19x23xf32>, %y: memref<32x32xf32>, %tile: index) tiles 1 {
  %above = arith.constant -3 : index
  %t = triton_xla.extract %x[%above, 2] [32, 32] [1, 1] fill 2.5 : f32 : memref<19x23xf32> to tensor<32x32xf32>
  triton_xla.insert %t into %y[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}""",
    "fill-of-a-factor": """
triton_xla.entry_func @fill(%x: memref<19x23xf16>, %b: memref<32x16xf16>, %y: memref<32x16xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %t = triton_xla.extract %x[0, 0] [32, 32] [1, 1] fill 1.0 : f16 : memref<19x23xf16> to tensor<32x32xf16>
  %u = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
  %d = triton_xla.dot %t, %u, %zero : tensor<32x32xf16>, tensor<32x16xf16> -> tensor<32x16xf32>
  triton_xla.insert %d into %y[0, 0] [32, 16] [1, 1] : tensor<32x16xf32> into memref<32x16xf32>
  triton_xla.return
}""",
    "negative-offsets": """
triton_xla.entry_func @shift(%x: memref<40x30xf16>, %y: memref<40x30xf16>, %tile: index) tiles 4 {
  %c16 = arith.constant 16 : index
  %c5 = arith.constant -5 : index
  %c7 = arith.constant -7 : index
  %c2 = arith.constant -2 : index
  %r = arith.muli %tile, %c16 : index
  %s = arith.addi %r, %c5 : index
  %t = triton_xla.extract %x[%s, %c7] [16, 48] [1, 1] : memref<40x30xf16> to tensor<16x48xf16>
  triton_xla.insert %t into %y[%s, %c2] [16, 48] [1, 1] : tensor<16x48xf16> into memref<40x30xf16>
  triton_xla.return
}""",
    "rank-reduced": """
triton_xla.entry_func @rows(%x: memref<5x40x7xf32>, %y: memref<40x5xf32>, %tile: index) tiles 5 {
  %t = triton_xla.extract %x[%tile, 0, 3] [1, 64, 1] [1, 1, 1] : memref<5x40x7xf32> to tensor<64xf32>
  %u = arith.addf %t, %t : tensor<64xf32>
  triton_xla.insert %u into %y[0, %tile] [64, 1] [1, 1] : tensor<64xf32> into memref<40x5xf32>
  triton_xla.return
}""",
    "rank-reduced-factors": """
triton_xla.entry_func @batch(%a: memref<3x20x36xf16>, %b: memref<3x36x24xf16>, %c: memref<3x20x24xf32>, %tile: index) tiles 3 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c36 = arith.constant 36 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = scf.for %k = %c0 to %c36 step %c16 iter_args(%s = %zero) -> (tensor<32x32xf32>) {
    %x = triton_xla.extract %a[%tile, 0, %k] [1, 32, 16] [1, 1, 1] : memref<3x20x36xf16> to tensor<32x16xf16>
    %y = triton_xla.extract %b[%tile, %k, 0] [1, 16, 32] [1, 1, 1] : memref<3x36x24xf16> to tensor<16x32xf16>
    %n = triton_xla.dot %x, %y, %s : tensor<32x16xf16>, tensor<16x32xf16> -> tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  }
  triton_xla.insert %r into %c[%tile, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<32x32xf32> into memref<3x20x24xf32>
  triton_xla.return
}""",
    "strided-windows": """
triton_xla.entry_func @every_other(%x: memref<50x31xf32>, %y: memref<26x40xf32>, %tile: index) tiles 2 {
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %r = arith.muli %tile, %c32 : index
  %s = arith.muli %tile, %c16 : index
  %t = triton_xla.extract %x[%r, 1] [16, 16] [2, 3] : memref<50x31xf32> to tensor<16x16xf32>
  triton_xla.insert %t into %y[%s, 0] [16, 16] [1, 2] : tensor<16x16xf32> into memref<26x40xf32>
  triton_xla.return
}""",
    "mask": """
triton_xla.entry_func @mask(%x: memref<40x40xf32>, %y: memref<40x40xf32>, %rows: index, %tile: index) tiles 1 {
  %c = arith.constant 9.0 : f32
  %t = triton_xla.extract %x[0, 0] [64, 64] [1, 1] : memref<40x40xf32> to tensor<64x64xf32>
  %m = triton_xla.mask %t [%rows, 17], %c : tensor<64x64xf32>
  triton_xla.insert %m into %y[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<40x40xf32>
  triton_xla.return
}""",
    "elementwise": """
triton_xla.entry_func @elementwise(%x: memref<1001xf32>, %h: memref<1001xf16>, %s: f32, %y: memref<1001xbf16>,
                                   %z: memref<1001xf32>, %tile: index) tiles 8 {
  %c128 = arith.constant 128 : index
  %o = arith.muli %tile, %c128 : index
  %a = triton_xla.extract %x[%o] [128] [1] : memref<1001xf32> to tensor<128xf32>
  %b = triton_xla.extract %h[%o] [128] [1] : memref<1001xf16> to tensor<128xf16>
  %e = arith.extf %b : tensor<128xf16> to tensor<128xf32>
  %v = tensor.splat %s : tensor<128xf32>
  %0 = arith.mulf %a, %v : tensor<128xf32>
  %1 = arith.cmpf ogt, %0, %e : tensor<128xf32>
  %2 = arith.select %1, %0, %e : tensor<128xi1>, tensor<128xf32>
  %3 = arith.truncf %2 : tensor<128xf32> to tensor<128xbf16>
  %4 = math.fma %a, %e, %v : tensor<128xf32>
  %5 = math.absf %4 : tensor<128xf32>
  %6 = math.sqrt %5 : tensor<128xf32>
  %r = math.trunc %a : tensor<128xf32>
  %7 = arith.divf %6, %v : tensor<128xf32>
  %8 = arith.minimumf %7, %r : tensor<128xf32>
  triton_xla.insert %3 into %y[%o] [128] [1] : tensor<128xbf16> into memref<1001xbf16>
  triton_xla.insert %8 into %z[%o] [128] [1] : tensor<128xf32> into memref<1001xf32>
  triton_xla.return
}""",
    "strided-memrefs": """
triton_xla.entry_func @strided(%a: memref<33x20xf16, strided<[24, 1]>>, %b: memref<20x18xf16, strided<[1, 21]>>,
                               %c: memref<33x18xf32, strided<[19, 1]>>, %tile: index) tiles 2 {
  %c32 = arith.constant 32 : index
  %r = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = triton_xla.extract %a[%r, 0] [32, 32] [1, 1] : memref<33x20xf16, strided<[24, 1]>> to tensor<32x32xf16>
  %y = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<20x18xf16, strided<[1, 21]>> to tensor<32x32xf16>
  %d = triton_xla.dot %x, %y, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %d into %c[%r, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<33x18xf32, strided<[19, 1]>>
  triton_xla.return
}""",
    "stated-alignment": """
triton_xla.entry_func @unaligned(%a: memref<32x32xf16> {llvm.align = 4 : i64}, %b: memref<32x32xf16> {llvm.align = 2 : i64},
                                 %c: memref<32x32xf32> {llvm.align = 4 : i64}, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %y = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<32x32xf16> to tensor<32x32xf16>
  %z = triton_xla.extract %c[0, 0] [32, 32] [1, 1] : memref<32x32xf32> to tensor<32x32xf32>
  %d = triton_xla.dot %x, %y, %z : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %d into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}""",
    "if": """
triton_xla.entry_func @branch(%x: memref<100xf32>, %y: memref<100xf32>, %tile: index) tiles 4 {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %o = arith.muli %tile, %c32 : index
  %t = triton_xla.extract %x[%o] [32] [1] : memref<100xf32> to tensor<32xf32>
  %odd = arith.andi %tile, %c1 : index
  %is_odd = arith.cmpi eq, %odd, %c1 : index
  %r = scf.if %is_odd -> (tensor<32xf32>) {
    %n = arith.negf %t : tensor<32xf32>
    scf.yield %n : tensor<32xf32>
  } else {
    %d = arith.addf %t, %t : tensor<32xf32>
    scf.yield %d : tensor<32xf32>
  }
  triton_xla.insert %r into %y[%o] [32] [1] : tensor<32xf32> into memref<100xf32>
  triton_xla.return
}""",
    "product-in-if": """
triton_xla.entry_func @branch(%a: memref<70x40xf16>, %b: memref<40x32xf16>, %c: memref<70x32xf32>, %tile: index) tiles 3 {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %o = arith.muli %tile, %c32 : index
  %x = triton_xla.extract %a[%o, 0] [32, 64] [1, 1] : memref<70x40xf16> to tensor<32x64xf16>
  %y = triton_xla.extract %b[0, 0] [64, 32] [1, 1] : memref<40x32xf16> to tensor<64x32xf16>
  %is_one = arith.cmpi eq, %tile, %c1 : index
  %r = scf.if %is_one -> (tensor<32x32xf32>) {
    scf.yield %zero : tensor<32x32xf32>
  } else {
    %d = triton_xla.dot %x, %y, %zero : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  triton_xla.insert %r into %c[%o, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<70x32xf32>
  triton_xla.return
}""",
    "two-products": """
triton_xla.entry_func @chain(%a: memref<20x24xf16>, %b: memref<24x30xf16>, %d: memref<30x18xf16>, %c: memref<20x18xf32>,
                             %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = triton_xla.extract %a[0, 0] [32, 32] [1, 1] : memref<20x24xf16> to tensor<32x32xf16>
  %y = triton_xla.extract %b[0, 0] [32, 32] [1, 1] : memref<24x30xf16> to tensor<32x32xf16>
  %z = triton_xla.extract %d[0, 0] [32, 32] [1, 1] : memref<30x18xf16> to tensor<32x32xf16>
  %p = triton_xla.dot %x, %y, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %h = arith.truncf %p : tensor<32x32xf32> to tensor<32x32xf16>
  %q = triton_xla.dot %h, %z, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  triton_xla.insert %q into %c[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<20x18xf32>
  triton_xla.return
}""",
    "integers": """
triton_xla.entry_func @integers(%a: memref<100xi32>, %b: memref<100xi8>, %d: memref<100xi64>, %o: memref<100xi32>,
                                %p: memref<100xi8>, %tile: index) tiles 2 {
  %c64 = arith.constant 64 : index
  %s = arith.muli %tile, %c64 : index
  %x = triton_xla.extract %a[%s] [64] [1] : memref<100xi32> to tensor<64xi32>
  %y = triton_xla.extract %b[%s] [64] [1] : memref<100xi8> to tensor<64xi8>
  %z = triton_xla.extract %d[%s] [64] [1] : memref<100xi64> to tensor<64xi64>
  %w = arith.extsi %y : tensor<64xi8> to tensor<64xi32>
  %v = arith.trunci %z : tensor<64xi64> to tensor<64xi32>
  %1 = arith.addi %x, %w : tensor<64xi32>
  %2 = arith.muli %1, %v : tensor<64xi32>
  %3 = arith.cmpi slt, %2, %w : tensor<64xi32>
  %4 = arith.select %3, %2, %x : tensor<64xi1>, tensor<64xi32>
  %5 = arith.trunci %4 : tensor<64xi32> to tensor<64xi8>
  triton_xla.insert %4 into %o[%s] [64] [1] : tensor<64xi32> into memref<100xi32>
  triton_xla.insert %5 into %p[%s] [64] [1] : tensor<64xi8> into memref<100xi8>
  triton_xla.return
}""",
    "double": """
triton_xla.entry_func @double(%a: memref<100xf64>, %o: memref<100xf64>, %h: memref<100xf16>, %tile: index) tiles 2 {
  %c64 = arith.constant 64 : index
  %s = arith.muli %tile, %c64 : index
  %x = triton_xla.extract %a[%s] [64] [1] : memref<100xf64> to tensor<64xf64>
  %1 = arith.mulf %x, %x : tensor<64xf64>
  %2 = arith.truncf %1 : tensor<64xf64> to tensor<64xf16>
  triton_xla.insert %1 into %o[%s] [64] [1] : tensor<64xf64> into memref<100xf64>
  triton_xla.insert %2 into %h[%s] [64] [1] : tensor<64xf16> into memref<100xf16>
  triton_xla.return
}""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", VENDORS)
def test_program(target: str, name: str) -> None:
    program = Program(PROGRAMS[name], target)
    scalars = {"a2": "23"} if name == "mask" else {}
    program.check(program.arguments(**scalars))


ARITHMETIC = """
triton_xla.entry_func @arithmetic(%a: memref<77xTYPE>, %b: memref<77xTYPE>, %o: memref<77xTYPE>, %p: memref<77xTYPE>,
                                  %tile: index) tiles 3 {
  %c = arith.constant 32 : index
  %s = arith.muli %tile, %c : index
  %x = triton_xla.extract %a[%s] [32] [1] : memref<77xTYPE> to tensor<32xTYPE>
  %y = triton_xla.extract %b[%s] [32] [1] : memref<77xTYPE> to tensor<32xTYPE>
  %1 = arith.mulf %x, %y : tensor<32xTYPE>
  %2 = arith.subf %1, %y : tensor<32xTYPE>
  %3 = arith.maximumf %2, %x : tensor<32xTYPE>
  %4 = arith.divf %x, %y : tensor<32xTYPE>
  %5 = arith.minimumf %4, %1 : tensor<32xTYPE>
  triton_xla.insert %3 into %o[%s] [32] [1] : tensor<32xTYPE> into memref<77xTYPE>
  triton_xla.insert %5 into %p[%s] [32] [1] : tensor<32xTYPE> into memref<77xTYPE>
  triton_xla.return
}
"""


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("target", VENDORS)
def test_arithmetic_of_special_values(target: str, dtype: str) -> None:
    program = Program(ARITHMETIC.replace("TYPE", dtype), target)
    a, b, o, p = program.arguments()
    a[:6], b[:6] = [np.nan, np.inf, -np.inf, np.inf, 0, -1], [1, 2, -3, -np.inf, 0, np.nan]
    a[70:], b[70:] = [np.inf, 0, 1, -1, 2, np.nan, 0], [0, 5, 0, 0, np.inf, np.nan, -np.inf]
    program.check([a, b, o, p])


FUNCTIONS = """
triton_xla.entry_func @functions(%a: memref<77xf32>, %o: memref<77xf32>, %p: memref<77xf32>, %q: memref<77xf32>,
                                 %tile: index) tiles 3 {
  %c = arith.constant 32 : index
  %s = arith.muli %tile, %c : index
  %x = triton_xla.extract %a[%s] [32] [1] : memref<77xf32> to tensor<32xf32>
  %1 = math.tanh %x : tensor<32xf32>
  %2 = math.expm1 %x : tensor<32xf32>
  %3 = math.absf %x : tensor<32xf32>
  %4 = math.log1p %3 : tensor<32xf32>
  triton_xla.insert %1 into %o[%s] [32] [1] : tensor<32xf32> into memref<77xf32>
  triton_xla.insert %2 into %p[%s] [32] [1] : tensor<32xf32> into memref<77xf32>
  triton_xla.insert %4 into %q[%s] [32] [1] : tensor<32xf32> into memref<77xf32>
  triton_xla.return
}
"""


@pytest.mark.skipif(toolchain.find_rocm_bitcode() is None, reason=toolchain.ROCM_BITCODE_HINT)
@pytest.mark.parametrize("target", [name for name in FAMILIES if targets.get(name).vendor == "amd"])
def test_functions_near_zero(target: str) -> None:
    program = Program(FUNCTIONS, target)
    a, *outputs = program.arguments()
    a[:40] *= np.float32(10.0) ** np.arange(-40, 0, dtype=np.float32)
    program.check([a, *outputs])


DYNAMIC_LOOP = """
triton_xla.entry_func @dynamic(%a: memref<40x100xf16>, %b: memref<100x48xf16>, %c: memref<40x48xf32>, %n: index,
                               %tile: index) tiles 2 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %r = scf.for %k = %c0 to %n step %c16 iter_args(%s = %zero) -> (tensor<32x64xf32>) {
    %x = triton_xla.extract %a[%row, %k] [32, 16] [1, 1] : memref<40x100xf16> to tensor<32x16xf16>
    %y = triton_xla.extract %b[%k, %c0] [16, 64] [1, 1] : memref<100x48xf16> to tensor<16x64xf16>
    %d = triton_xla.dot %x, %y, %s : tensor<32x16xf16>, tensor<16x64xf16> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  triton_xla.insert %r into %c[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<40x48xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", VENDORS)
def test_loop_of_dynamic_length(target: str) -> None:
    program = Program(DYNAMIC_LOOP, target)
    for length in (0, 1, 16, 17, 48, 100, 112):
        for schedule in launch.SCHEDULES[:3]:
            program.check(program.arguments(a3=str(length)), schedule)


# ---------------------------------------------------------------------------------------------------------------------
# Synchronisation: without any one barrier or wait the numbers are wrong
# ---------------------------------------------------------------------------------------------------------------------

SYNCHRONISATION = re.compile(r"^ *(gpu\.barrier|amdgpu\.lds_barrier|mosaic_gpu\.async_wait_group .*)\n", re.M)
BARRIERS = list({targets.get(name).barrier: name for name in reversed(FAMILIES)}.values())
"""One chip for each kind of barrier."""


class BlockProgram:
    """The pipelined block program of the ragged product, and one of its blocks on the emulator."""

    def __init__(self, kernels: Path, target: str) -> None:
        self.target = target
        source = smalti.compile(kernels / "matmul_ragged.mlir", target=target)
        self.text = source.asm["pipelined"]
        a, b, c = check.random_arguments(source.entry)
        self.arguments = (a, b, c)
        self.expected = c + a.astype(np.float64) @ b.astype(np.float64)

    def wrong_schedules(self, text: str) -> list[Schedule]:
        # Slots and stages are in the program already.
        kernel = smalti.compile(text, target=self.target, depth=1, stages=1)
        emulated = emulator().build(kernel)
        return [schedule for schedule in launch.SCHEDULES if self._is_wrong(emulated, schedule)]

    def _is_wrong(self, emulated: launch.EmulatedKernel, schedule: Schedule) -> bool:
        a, b, c = (array.copy() for array in self.arguments)
        emulated(a, b, c, schedule=schedule, blocks=range(1))
        tile = (slice(128), slice(128))
        return not np.allclose(c[tile], self.expected[tile], rtol=0, atol=1e-3)


@pytest.mark.parametrize("target", BARRIERS)
def test_every_barrier_and_wait_is_needed(target: str, kernels: Path) -> None:
    program = BlockProgram(kernels, target)
    assert not program.wrong_schedules(program.text)
    sites = list(SYNCHRONISATION.finditer(program.text))
    assert sum("barrier" in site[0] for site in sites) >= 2
    missed = []
    for site in sites:
        mutant = program.text[: site.start()] + program.text[site.end() :]
        if not program.wrong_schedules(mutant):
            line = program.text.count("\n", 0, site.start()) + 1
            missed.append(f"{line}: {site[1]}")
    assert not missed


# ---------------------------------------------------------------------------------------------------------------------
# The emulator itself
# ---------------------------------------------------------------------------------------------------------------------

COPY = """
triton_xla.entry_func @copy(%x: memref<100xf32>, %y: memref<100xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [128] [1] : memref<100xf32> to tensor<128xf32>
  triton_xla.insert %t into %y[0] [128] [1] : tensor<128xf32> into memref<100xf32>
  triton_xla.return
}
"""


@pytest.fixture(scope="module")
def run_ir() -> Callable[[str], np.ndarray]:
    """Runs LLVM IR of an NVIDIA chip on 256 threads; @copy gets two arrays of 100 floats, and the second comes back."""
    kernel = smalti.compile(COPY, target=next(t.name for t in GPUS if t.vendor == "nvidia"), num_warps=8)

    def run(ir: str) -> np.ndarray:
        x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
        emulator().build_ir(ir, kernel)(x, y)
        return y

    return run


KERNEL = """
@shared = internal addrspace(3) global [1024 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
define ptx_kernel void @copy(ptr %x, ptr %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %thread, 100
  %source = getelementptr float, ptr %x, i32 %thread
  %target = getelementptr float, ptr %y, i32 %thread
  %slot = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  br i1 %inside, label %then, label %end
then:
BODY
  br label %end
end:
  ret void
}
"""


def test_thread_reads_and_writes(run_ir: Callable[[str], np.ndarray]) -> None:
    body = """
  %v = load float, ptr %source
  store float %v, ptr %target"""
    np.testing.assert_array_equal(run_ir(KERNEL.replace("BODY", body)), np.arange(100))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",
            r"deadlock: 100 threads wait at a barrier .* 156 have ended",
        ),
        (
            "  %p = getelementptr i8, ptr %target, i64 8192\n  store i32 0, ptr %p",
            r"thread \d+: access to address .* belongs to no argument",
        ),
        (
            "  %p = getelementptr i8, ptr %target, i64 -800\n  store i32 0, ptr %p",
            r"argument 1: \d+ bytes outside of it",
        ),
        (
            "  %p = getelementptr i8, ptr addrspace(3) %slot, i64 3000\n  store i8 0, ptr addrspace(3) %p",
            "shared memory",
        ),
        (
            """
  %far = addrspacecast ptr %source to ptr addrspace(1)
  %odd = getelementptr i8, ptr addrspace(1) %far, i64 2
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %slot, ptr addrspace(1) %odd)""",
            "cp.async of 4 bytes .* not aligned",
        ),
    ],
    ids=["divergent-barrier", "far-outside", "red-zone", "shared-memory", "misaligned-copy"],
)
def test_fault_is_reported(run_ir: Callable[[str], np.ndarray], body: str, message: str) -> None:
    with pytest.raises(launch.EmulationError, match=message):
        run_ir(KERNEL.replace("BODY", body))


def test_copy_is_late_without_its_wait(run_ir: Callable[[str], np.ndarray]) -> None:
    body = """
  %far = addrspacecast ptr %source to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %slot, ptr addrspace(1) %far)
  WAIT
  %v = load float, ptr addrspace(3) %slot
  store float %v, ptr %target"""
    program = KERNEL.replace("BODY", body) + "declare void @llvm.nvvm.cp.async.wait.all()\n"
    assert np.all(np.isnan(run_ir(program.replace("WAIT", ""))))
    waits = program.replace("WAIT", "call void @llvm.nvvm.cp.async.wait.all()")
    np.testing.assert_array_equal(run_ir(waits), np.arange(100))


def test_what_is_not_emulated_is_named(run_ir: Callable[[str], np.ndarray]) -> None:
    unknown = "declare void @llvm.nvvm.nanosleep(i32)\ndefine void @copy(ptr %x, ptr %y) {\n  ret void\n}\n"
    with pytest.raises(rewrite.Unsupported, match=r"not emulated: llvm\.nvvm\.nanosleep"):
        run_ir(unknown)
    with pytest.raises(rewrite.Unsupported, match="inline assembly"):
        run_ir(KERNEL.replace("BODY", '  call void asm sideeffect "bar.sync 0;", ""()'))
