# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of GPU code without a GPU: the device code of each chip, executed by the emulator.

The reference is the float64 interpreter of tile-level kernels. Arguments are between poison and unmapped memory. Shared
memory and outputs that the kernel does not read start as NaN. Asynchronous copies complete at the last or at the first
permitted moment, and the waves of a block run in several orders. Under a sanitizer, races and out-of-bounds accesses are
errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from matmuls import matmul
from smalti import check, dtypes, reference, targets, toolchain
from smalti._mlir_libs import _smalti
from smalti.compiler import entry
from smalti.emulator import SCHEDULES, Emulation
from smalti.emulator.options import SANITIZERS
from smalti.layouts import Replicated, TiledLayout, block_layout

GPUS = [target.name for target in targets.all() if target.is_gpu]


def _families() -> Iterator[str]:
    """The first chip of each instruction set that code generation selects from."""
    seen = set()
    for name in GPUS:
        target = targets.get(name)
        facts = (target.vendor, target.wave_size, target.mmas, target.barrier, target.waits, target.async_copy_bytes)
        if facts not in seen:
            seen.add(facts)
            yield name


FAMILIES = list(_families())
VENDORS = list({targets.get(name).vendor: name for name in reversed(FAMILIES)}.values())
"""One chip per vendor."""

LOOKS = (Emulation(), *(Emulation(sanitize=sanitizer) for sanitizer in SANITIZERS))  # type: ignore[arg-type]
"""Without and with each sanitizer."""


class Program:
    """A tile-level kernel, compiled for an emulated chip."""

    def __init__(self, source: str | Path, target: str, **options: Any) -> None:
        self.module = smalti.parse(source)
        self.kernel = smalti.compile(self.module, target=targets.EMULATED + target, **options)

    def arguments(self, seed: int = 0, **scalars: str) -> list[Any]:
        return check.random_arguments(self.kernel.entry, seed, {int(i[1:]): text for i, text in scalars.items()})

    def check(self, arguments: list[Any] | None = None, emulation: Emulation | None = None) -> None:
        """Runs on the arguments in place and compares each of them with the reference."""
        values = self.arguments() if arguments is None else arguments
        with np.errstate(invalid="ignore"):
            expected = reference.run(entry.find_entry(self.module, self.kernel.entry.name), values)
        before = [value.tobytes() if isinstance(value, np.ndarray) else b"" for value in values]
        self.kernel.launcher(*values, emulation=emulation)
        for argument, value, wanted, old in zip(self.kernel.arguments, values, expected, before, strict=True):
            if not argument.is_memref:
                continue
            if argument.writes:
                comparison = check.compare(argument, value, wanted)
                assert not comparison.wrong, comparison.detail
            else:
                assert value.tobytes() == old, f"{argument} is only read, and changed"


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(4)
@pytest.mark.parametrize("target", GPUS)
def test_ragged_matmul(target: str, kernels: Path) -> None:
    program = Program(kernels / "matmul_ragged.mlir", target)
    program.check()
    program.check(emulation=Emulation(sanitize="address"))


# All blocks: races between blocks are errors, too.
@pytest.mark.grid(3)
@pytest.mark.parametrize("target", GPUS)
def test_ragged_matmul_has_no_race(target: str, kernels: Path) -> None:
    kernel = smalti.compile(kernels / "matmul_ragged.mlir", target=targets.EMULATED + target)
    kernel.launcher(*check.random_arguments(kernel.entry), emulation=Emulation(sanitize="thread"))


# Every operand type of tile-level dots, with f32 accumulators: four blocks with partly out-of-bounds windows, in several
# iterations.
@pytest.mark.grid(5, cover=False)
@pytest.mark.parametrize("operands", ["f16", "bf16", "f32", "tf32"])
@pytest.mark.parametrize("target", GPUS)
def test_matmul_of_each_type(target: str, operands: str) -> None:
    dtype, words = ("f32", "tf32") if operands == "tf32" else (operands, "")
    program = Program(matmul((33, 36, 72), (32, 32, 32), dtype, words), target)
    for emulation in LOOKS:
        program.check(emulation=emulation)


@pytest.mark.grid(9)
@pytest.mark.parametrize("name", ["matmul_relu_bf16", "vector_add"])
@pytest.mark.parametrize("target", FAMILIES)
def test_example_kernels(target: str, name: str, kernels: Path) -> None:
    Program(kernels / f"{name}.mlir", target).check()


MATMULS = {
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


@pytest.mark.grid(16)
@pytest.mark.parametrize("case", MATMULS)
@pytest.mark.parametrize("target", FAMILIES)
def test_matmul(target: str, case: str) -> None:
    shape, tile, dtype = MATMULS[case]
    Program(matmul(shape, tile, dtype), target).check()


@pytest.mark.parametrize("target", FAMILIES)
def test_matmul_in_tf32(target: str) -> None:
    Program(matmul((70, 37, 33), (64, 32, 16), "f32", "tf32"), target).check()


@pytest.mark.grid(5)
@pytest.mark.parametrize(
    "options", [{"stages": n} for n in (1, 2, 3, 4)] + [{"depth": n} for n in (1, 2, 3, 4)], ids=str
)
@pytest.mark.parametrize("target", VENDORS)
def test_stages_and_slots(target: str, options: dict[str, int]) -> None:
    # Five iterations exceed the depth of every pipeline; one and two do not.
    for depth in (72, 16, 20):
        program = Program(matmul((33, 40, depth), (32, 32, 16), start="zero"), target, **options)
        for schedule in SCHEDULES:
            program.check(emulation=schedule)


@pytest.mark.grid(8)
@pytest.mark.parametrize("layout", ["pad", "swizzle"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("target", FAMILIES)
def test_matmul_without_bank_conflicts(target: str, dtype: str, layout: str) -> None:
    program = Program(matmul((70, 37, 72), (64, 32, 16), dtype), target, bank_conflicts=layout)
    said = [r for r in program.kernel.remarks if r.category == f"smalti-{layout}-shared-memory"]
    assert any(r.kind == "passed" or "no bank conflicts" in r.message for r in said)
    for schedule in SCHEDULES[:2]:
        program.check(emulation=schedule)


@pytest.mark.parametrize("target", FAMILIES)
def test_matmul_of_special_values(target: str) -> None:
    program = Program(matmul((20, 24, 30), (16, 16, 16)), target)
    a, b, c = program.arguments()
    a[3, 4], a[5, 6], b[7, 8], b[9, 10] = np.inf, np.nan, -np.inf, np.nan
    a[11, 9], b[4, 12] = 0, 0  # Against the NaN and the infinity.
    program.check([a, b, c])


@pytest.mark.parametrize("target", FAMILIES)
def test_matmul_is_not_rounded_to_16_bits(target: str) -> None:
    program = Program(matmul((1, 1, 1), (16, 16, 16), start="zero"), target)
    a = np.full((1, 1), 1 + 2.0**-10, np.float16)
    c = np.full((1, 1), np.nan, np.float32)
    program.kernel(a, a.copy(), c)
    assert c[0, 0] == (1 + 2.0**-10) ** 2


# ---------------------------------------------------------------------------------------------------------------------
# Windows and element-wise kernels
# ---------------------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "splats-of-odd-shapes": """
triton_xla.entry_func @splats(%x: memref<2x3x16xf32>, %y: memref<7xf16>, %s: f32, %tile: index) tiles 1 {
  %0 = tensor.splat %s : tensor<2x3x16xf32>
  %1 = arith.constant dense<2.0> : tensor<7xf16>
  triton_xla.insert %0 into %x[0, 0, 0] [2, 3, 16] [1, 1, 1] : tensor<2x3x16xf32> into memref<2x3x16xf32>
  triton_xla.insert %1 into %y[0] [7] [1] : tensor<7xf16> into memref<7xf16>
  triton_xla.return
}""",
    "fill": """
triton_xla.entry_func @fill(%x: memref<19x23xf32>, %y: memref<32x32xf32>, %tile: index) tiles 1 {
  %above = arith.constant -3 : index
  %t = triton_xla.extract %x[%above, 2] [32, 32] [1, 1] fill 2.5 : f32 : memref<19x23xf32> to tensor<32x32xf32>
  triton_xla.insert %t into %y[0, 0] [32, 32] [1, 1] : tensor<32x32xf32> into memref<32x32xf32>
  triton_xla.return
}""",
    "fill-of-an-operand": """
triton_xla.entry_func @fill(%x: memref<19x23xf16>, %b: memref<32x16xf16>, %y: memref<32x16xf32>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %t = triton_xla.extract %x[0, 0] [32, 32] [1, 1] fill 1.0 : f16 : memref<19x23xf16> to tensor<32x32xf16>
  %u = triton_xla.extract %b[0, 0] [32, 16] [1, 1] : memref<32x16xf16> to tensor<32x16xf16>
  %d = triton_xla.dot %t, %u, %zero : tensor<32x32xf16>, tensor<32x16xf16> -> tensor<32x16xf32>
  triton_xla.insert %d into %y[0, 0] [32, 16] [1, 1] : tensor<32x16xf32> into memref<32x16xf32>
  triton_xla.return
}""",
    "strides-past-the-end": """
triton_xla.entry_func @strides(%a: memref<4xf32>, %b: memref<5x4xf32, strided<[9, 1]>>, %c: memref<2x7xf16>, %o: memref<3xf32>,
                               %p: memref<6x4xf32>, %q: memref<2x5xf16>, %r: memref<4xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [3] [2] : memref<4xf32> to tensor<3xf32>
  %u = triton_xla.extract %b[0, 0] [6, 4] [1, 1] : memref<5x4xf32, strided<[9, 1]>> to tensor<6x4xf32>
  %v = triton_xla.extract %c[0, 0] [2, 5] [1, 3] : memref<2x7xf16> to tensor<2x5xf16>
  triton_xla.insert %t into %o[0] [3] [1] : tensor<3xf32> into memref<3xf32>
  triton_xla.insert %u into %p[0, 0] [6, 4] [1, 1] : tensor<6x4xf32> into memref<6x4xf32>
  triton_xla.insert %v into %q[0, 0] [2, 5] [1, 1] : tensor<2x5xf16> into memref<2x5xf16>
  triton_xla.insert %t into %r[1] [3] [2] : tensor<3xf32> into memref<4xf32>
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
    "rank-reduced-operands": """
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
    "dot-in-if": """
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
    "two-dots": """
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


@pytest.mark.grid(14)
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


HALF_FUNCTIONS = """
triton_xla.entry_func @half_functions(%a: memref<77xf16>, %o: memref<77xf16>, %p: memref<77xf16>, %tile: index) tiles 3 {
  %c = arith.constant 32 : index
  %s = arith.muli %tile, %c : index
  %x = triton_xla.extract %a[%s] [32] [1] : memref<77xf16> to tensor<32xf16>
  %1 = math.sin %x : tensor<32xf16>
  %2 = math.cos %x : tensor<32xf16>
  triton_xla.insert %1 into %o[%s] [32] [1] : tensor<32xf16> into memref<77xf16>
  triton_xla.insert %2 into %p[%s] [32] [1] : tensor<32xf16> into memref<77xf16>
  triton_xla.return
}
"""


@pytest.mark.skipif(toolchain.find_rocm_bitcode() is None, reason=toolchain.ROCM_BITCODE_HINT)
@pytest.mark.parametrize("target", VENDORS)
def test_functions_of_f16(target: str) -> None:
    # ROCm's device library 5.2 returns NaN for every finite f16.
    Program(HALF_FUNCTIONS, target).check()


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
        for schedule in SCHEDULES[:3]:
            program.check(program.arguments(a3=str(length)), schedule)


# ---------------------------------------------------------------------------------------------------------------------
# Single MMA instructions, including those that tile-level kernels cannot express
# ---------------------------------------------------------------------------------------------------------------------


def _instructions() -> Iterator[tuple[str, dict[str, Any]]]:
    for chip in json.loads(_smalti.targets_json()):
        for mma in chip["mmas"]:
            yield chip["name"], mma


def _fragment(mma: dict[str, Any], operand: str, warps: list[int], replicas: int, order: list[int]) -> str:
    fragment = mma[f"{operand}_fragment"]
    parts = [fragment[key] for key in ("tiling", "warp_dims", "lane_dims", "vector_dim")]
    layout = TiledLayout(*(_parts(part) for part in parts))
    return str(block_layout(layout, fragment["shape"], warps, replicas, order))


def _parts(value: Any) -> Any:
    if isinstance(value, dict):
        return Replicated(value["replicated"])
    return [_parts(part) for part in value] if isinstance(value, list) else value


def block_matmul(mma: dict[str, Any], wave_size: int) -> tuple[str, tuple[int, int, int]]:
    """C += A * B on a block of two by two warps, straight from memory to the fragments of one instruction.

    Two instructions a warp and dimension; C ends within the last one, and K within the last step.
    """
    m, n, k = 4 * mma["m"], 4 * mma["n"], 2 * mma["k"]
    rows, columns, depth = m - 3, n - 2, k - 1 if mma["k"] > 1 else k
    operand, operand_b = (mma[x].replace("tf32", "f32") for x in "ab")
    total = mma["accumulator"]
    word = " allow_tf32," if mma["a"] == "tf32" else ""
    zero = {ty: "0" if ty.startswith("i") else "0.0" for ty in (operand, operand_b, total)}
    layouts = {
        "a": _fragment(mma, "a", [2, 1], 2, [0, 1, 2]),
        "b": _fragment(mma, "b", [1, 2], 2, [2, 0, 1]),
        "c": _fragment(mma, "c", [2, 2], 1, [0, 1, 2]),
    }
    a, b, c = (f"#mosaic_gpu.TiledLayout<{layouts[name]}>" for name in "abc")
    return (
        f"""
#a = {a}
#b = {b}
#c = {c}
module attributes {{gpu.container_module}} {{
gpu.module @matmul_module {{
  gpu.func @matmul(%a: memref<{rows}x{depth}x{operand}>, %b: memref<{depth}x{columns}x{operand_b}>,
                    %c: memref<{rows}x{columns}x{total}>) kernel
      attributes {{known_block_size = array<i32: {4 * wave_size}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %none = arith.constant {zero[operand]} : {operand}
    %none_b = arith.constant {zero[operand_b]} : {operand_b}
    %nothing = arith.constant {zero[total]} : {total}
    %x = vector.transfer_read %a[%c0, %c0], %none {{out_layouts = [#a]}} : memref<{rows}x{depth}x{operand}>, vector<{m}x{k}x{operand}>
    %y = vector.transfer_read %b[%c0, %c0], %none_b {{out_layouts = [#b]}} : memref<{depth}x{columns}x{operand_b}>, vector<{k}x{n}x{operand_b}>
    %z = vector.transfer_read %c[%c0, %c0], %nothing {{out_layouts = [#c]}} : memref<{rows}x{columns}x{total}>, vector<{m}x{n}x{total}>
    %r = mosaic_gpu.mma accumulator(%z : vector<{m}x{n}x{total}>) a(%x : vector<{m}x{k}x{operand}>) b(%y : vector<{k}x{n}x{operand_b}>)
        {{{word} in_layouts = [#c, #a, #b], out_layouts = [#c]}} -> vector<{m}x{n}x{total}>
    vector.transfer_write %r, %c[%c0, %c0] {{in_layouts = [#c]}} : vector<{m}x{n}x{total}>, memref<{rows}x{columns}x{total}>
    gpu.return
  }}
}}
}}
""",
        (rows, columns, depth),
    )


_SANITIZED: set[str] = set()
"""The accesses of the instructions that have run with the sanitizers in this process."""


def _looks(mma: dict[str, Any], wave_size: int, *operands: dtypes.ElementType) -> Iterator[Emulation]:
    """Each look, but no sanitizer again for an instruction whose operands are accessed like those of an earlier one."""
    yield LOOKS[0]
    fragments = [mma[f"{operand}_fragment"] for operand in "abc"]
    accesses = json.dumps([wave_size, fragments, [np.dtype(operand.numpy).itemsize for operand in operands]])
    if accesses not in _SANITIZED:
        yield from LOOKS[1:]
        _SANITIZED.add(accesses)


@pytest.mark.grid(16, cover=lambda target, mma: {target, mma["mnemonic"]})
@pytest.mark.parametrize(
    ("target", "mma"),
    list(_instructions()),
    ids=lambda v: v if isinstance(v, str) else v["mnemonic"] or f"fma-{v['a']}",
)
def test_mma_instruction(target: str, mma: dict[str, Any]) -> None:
    wave_size = targets.get(target).wave_size
    text, (rows, columns, depth) = block_matmul(mma, wave_size)
    kernel = smalti.compile(text, target=targets.EMULATED + target)
    rng = np.random.default_rng(0)
    left, right, total = (dtypes.from_mlir(mma[x].replace("tf32", "f32")) for x in ("a", "b", "accumulator"))
    assert left is not None and right is not None and total is not None

    def random(shape: tuple[int, int], ty: dtypes.ElementType) -> np.ndarray:
        if ty.kind == "i":
            return rng.integers(-128, 128, shape).astype(ty.numpy)
        return rng.standard_normal(shape).astype(np.float32).astype(ty.numpy)

    a, b = random((rows, depth), left), random((depth, columns), right)
    start = random((rows, columns), total)
    wide = np.int64 if total.kind == "i" else np.float64
    x, y, z = (array.astype(wide) for array in (a, b, start))
    exact = z + np.einsum("mk,kn->mn", x, y)
    magnitude = np.abs(z) + np.einsum("mk,kn->mn", np.abs(x), np.abs(y))
    # First-order error, plus one bit per operand if it is rounded to TF32.
    rounding = {"i32": 0.0, "f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10}[mma["accumulator"]]
    tolerance = (depth + 2) * rounding + (2 * 2.0**-10 if mma["a"] == "tf32" else 0)
    for emulation in _looks(mma, wave_size, left, right, total):
        c = start.copy()
        kernel.launcher(a, b, c, emulation=emulation)
        assert np.all(np.abs(c.astype(wide) - exact) <= tolerance * magnitude)


# ---------------------------------------------------------------------------------------------------------------------
# Casts
# ---------------------------------------------------------------------------------------------------------------------

FLOATS, INTEGERS = ("f64", "f32", "f16", "bf16"), ("i64", "i32", "i16", "i8")


def _cast(source: str, result: str) -> list[tuple[str, str]]:
    """The steps of a cast, each an op and its result type: f16 and bf16 convert through f32."""
    bits = {name: int("".join(c for c in name if c.isdigit())) for name in (source, result)}
    if source in FLOATS and result in FLOATS:
        if bits[source] == bits[result]:
            return [("arith.extf", "f32"), ("arith.truncf", result)]
        return [("arith.extf" if bits[result] > bits[source] else "arith.truncf", result)]
    if source in INTEGERS and result in INTEGERS:
        return [("arith.extsi" if bits[result] > bits[source] else "arith.trunci", result)]
    return [("arith.sitofp" if source in INTEGERS else "arith.fptosi", result)]


def casts(source: str) -> str:
    """From one type to all others; the last tile is partly out of bounds."""
    others = [name for name in (*FLOATS, *INTEGERS) if name != source]
    arguments = ", ".join(f"%o{i}: memref<45x{name}>" for i, name in enumerate(others))
    lines = []
    for i, name in enumerate(others):
        value, held = "%x", source
        for step, (operation, to) in enumerate(_cast(source, name)):
            lines.append(f"  %v{i}_{step} = {operation} {value} : tensor<32x{held}> to tensor<32x{to}>")
            value, held = f"%v{i}_{step}", to
        lines.append(f"  triton_xla.insert {value} into %o{i}[%s] [32] [1] : tensor<32x{name}> into memref<45x{name}>")
    body = "\n".join(lines)
    return f"""
triton_xla.entry_func @casts(%a: memref<45x{source}>, {arguments}, %tile: index) tiles 2 {{
  %c32 = arith.constant 32 : index
  %s = arith.muli %tile, %c32 : index
  %x = triton_xla.extract %a[%s] [32] [1] : memref<45x{source}> to tensor<32x{source}>
{body}
  triton_xla.return
}}
"""


@pytest.mark.grid(20)
@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("target", FAMILIES)
def test_casts_between_all_types(target: str, source: str) -> None:
    program = Program(casts(source), target)
    a, *outputs = program.arguments()
    if source in FLOATS:
        # Ties of the narrower types, and values that round to their largest numbers.
        a[:8] = [1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -(1 + 2.0**-11), 0.0, -0.0, 100.75]
    else:
        a[:6] = [-128, 127, 100, -100, 1, 0]
    program.check([a, *outputs])
    program.check([a, *(program.arguments()[1:])], Emulation(sanitize="address"))
