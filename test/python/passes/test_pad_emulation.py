# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smalti-lower-pad's padded reads and writes, on emulated GPUs of both vendors, against numpy.

Every array is surrounded by bytes that read as NaN and must stay unchanged (docs/emulation.md), which shows lanes that
are accessed out of bounds; AddressSanitizer sees the access itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from conftest import DTYPES
from helpers import EARLY, LATE, SAFE
from smalti import emulator, ir, passmanager, targets
from smalti.dialects import llvm
from smalti.emulator import Emulation

# One of each kind of buffer resource, and of each vendor.
CHIPS = ["gfx942", "gfx1201", "gfx1250", "sm_80"]
AMD = [chip for chip in CHIPS if chip.startswith("gfx")]

# Upstream's lowering from vectors to LLVM IR. Rows of transfers become loads and stores by patterns.
UNROLL = "canonicalize,convert-vector-to-scf{full-unroll=true}"
ROWS = """
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["gpu.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
      transform.apply_patterns.vector.lower_create_mask
    } : !transform.any_op
    transform.yield
  }"""
MEMORY = "convert-scf-to-cf,expand-strided-metadata,lower-affine"
TO_LLVM = {
    "amd": "convert-amdgpu-to-rocdl{{chipset={0}}},convert-gpu-to-rocdl{{chipset={0}}}",
    "nvidia": "convert-nvgpu-to-nvvm,convert-gpu-to-nvvm",
}
REST = "convert-vector-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts"
TRIPLES = {"amd": "amdgcn-amd-amdhsa", "nvidia": "nvptx64-nvidia-cuda"}


def run(module: ir.Module, passes: str) -> None:
    passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)


class Kernel:
    """A gpu.func after the pass, and what it became."""

    def __init__(self, body: str, chip: str, options: str = "") -> None:
        vendor = targets.get(chip).vendor
        attributes = f'smalti.target = "{chip}", transform.with_named_sequence'
        with ir.Context():
            module = ir.Module.parse(f"module attributes {{{attributes}}} {{\ngpu.module @m {{\n{body}\n}}\n{ROWS}\n}}")
            run(module, f"gpu.module(gpu.func(smalti-lower-pad{{strict=true {options}}}))")
            self.text = str(module)
            run(module, f"gpu.module({UNROLL}),transform-interpreter")
            run(module, f"gpu.module({MEMORY},{TO_LLVM[vendor].format(chip)},{REST})")
            device = next(op for op in module.body.operations if op.operation.name == "gpu.module")
            code = "\n".join(str(op) for op in device.operation.regions[0].blocks[0].operations)
            plain = ir.Module.parse(f'module attributes {{llvm.target_triple = "{TRIPLES[vendor]}"}} {{\n{code}\n}}')
            self.llvm = llvm.translate_module_to_llvmir(plain.operation)
        self._module = emulator.load(self.llvm, f"emu:{chip}")

    def __call__(self, grid: Any, block: Any, *arguments: Any) -> None:
        values: list[Any] = []
        for argument in arguments:
            values.extend(descriptor(argument) if isinstance(argument, np.ndarray) else [argument])
        self.run(grid, block, *values)

    def run(self, grid: Any, block: Any, *fields: Any, emulation: Emulation = SAFE) -> None:
        """Memrefs are passed by their fields."""
        self._module.launch(grid, block, *fields, emulation=emulation)

    def launch(self, name: str, *fields: Any) -> None:
        """One thread of one of several kernels, whose memrefs are passed by their fields."""
        self._module.launch(1, 1, *fields, kernel=name, emulation=SAFE)


def descriptor(array: np.ndarray) -> list[Any]:
    """A memref's fields; nothing reads the pointer of the allocation."""
    strides = [stride // array.itemsize for stride in array.strides]
    return [0, array, 0, *array.shape, *strides]


def random(shape: Sequence[int], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-99, 100, tuple(shape)).astype(DTYPES[dtype])


def padded_tile(source: np.ndarray, at: Sequence[int], shape: Sequence[int], padding: float) -> np.ndarray:
    """The tile of `source` that begins at `at`."""
    tile = np.full(tuple(shape), padding, source.dtype)
    inside = [(max(a, 0), min(a + n, size)) for a, n, size in zip(at, shape, source.shape, strict=True)]
    if all(low < high for low, high in inside):
        place = tuple(slice(low - a, high - a) for (low, high), a in zip(inside, at, strict=True))
        tile[place] = source[tuple(slice(low, high) for low, high in inside)]
    return tile


def number(padding: float, dtype: str) -> str:
    return str(int(padding)) if dtype.startswith("i") else repr(float(padding))


def copy_kernel(dtype: str, source: str, dest: str, tile: tuple[int, int], padding: float, stage: str = "") -> str:
    """Each thread reads a tile at its index among (x, y), and writes it at the same index of the result."""
    m, n = tile
    return f"""
  gpu.func @copy(%source: {source}, %dest: {dest}) kernel {{
    %cm = arith.constant {m} : index
    %cn = arith.constant {n} : index
    %padding = arith.constant {number(padding, dtype)} : {dtype}
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %i = arith.muli %by, %cm : index
    %j = arith.muli %bx, %cn : index
    {stage}
    %tile = vector.transfer_read %source[%i, %j], %padding : {source}, vector<{m}x{n}x{dtype}>
    vector.transfer_write %tile, %dest[%i, %j] : vector<{m}x{n}x{dtype}>, {dest}
    gpu.return
  }}"""


SHAPES = [(1, 1), (3, 5), (4, 8), (7, 13), (8, 6), (9, 16)]


def memref(shape: Sequence[int | None], dtype: str) -> str:
    return f"memref<{''.join(('?' if s is None else str(s)) + 'x' for s in shape)}{dtype}>"


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8", "f64"])
@pytest.mark.parametrize("padding", [0.0, 7.0])
def test_dynamic_copies(chip: str, dtype: str, padding: float) -> None:
    """The source is smaller than the result in one dimension, larger in the other; both are ragged."""
    kind = memref((None, None), dtype)
    kernel = Kernel(copy_kernel(dtype, kind, kind, (2, 4), padding), chip)
    if chip in AMD:
        assert kernel.text.count("amdgpu.fat_raw_buffer_cast") == 2
        assert "raw.ptr.buffer" in kernel.llvm or "addrspace(7)" in kernel.llvm
    for seed, (shape, more) in enumerate(itertools.product(SHAPES, [(-1, 3), (2, -2), (0, 0)])):
        m, n = (max(size + add, 1) for size, add in zip(shape, more, strict=True))
        source, dest = random(shape, dtype, seed), random((m, n), dtype, seed + 1)
        kernel((-(-n // 4) + 1, -(-m // 2) + 1, 1), 1, source, dest)
        np.testing.assert_array_equal(dest, padded_tile(source, (0, 0), (m, n), padding), err_msg=f"{shape} {(m, n)}")


# Forms of copies of a matrix: static and dynamic sizes, rows apart, an offset, views.
LAYOUTS = ["static", "strided", "dynamic-strided", "view"]


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_layouts(chip: str, layout: str, dtype: str) -> None:
    for seed, (m, n) in enumerate([(3, 5), (4, 8), (5, 6)]):
        if layout == "static":
            source = dest = f"memref<{m}x{n}x{dtype}>"
        elif layout == "strided":
            source = dest = f"memref<{m}x{n}x{dtype}, strided<[{n + 3}, 1], offset: 7>>"
        elif layout == "dynamic-strided":
            source = dest = f"memref<?x?x{dtype}, strided<[?, 1], offset: ?>>"
        else:
            source = dest = f"memref<?x?x{dtype}>"
        body = copy_kernel(dtype, source, dest, (2, 4), 7.0)
        if layout == "view":
            view = f"memref<?x?x{dtype}, strided<[?, 1], offset: ?>>"
            body = copy_kernel(dtype, view, view, (2, 4), 7.0)
            body = body.replace(f"(%source: {view}, %dest: {view})", f"(%s: {source}, %d: {dest})")
            sizes = f"[1, 3] [{m}, {n}] [1, 1] : {source} to memref<{m}x{n}x{dtype}, strided<[?, 1], offset: ?>>"
            make = "\n".join(
                f"%{name}v = memref.subview %{name[0]} {sizes}\n%{name} = memref.cast %{name}v : "
                f"memref<{m}x{n}x{dtype}, strided<[?, 1], offset: ?>> to {view}"
                for name in ("source", "dest")
            )
            body = body.replace("kernel {", "kernel {\n" + make)
        kernel = Kernel(body, chip)
        if chip in AMD:
            assert kernel.text.count("amdgpu.fat_raw_buffer_cast") == 2
        # The whole arrays, and the parts of them that the kernel is about.
        whole = [random((m + 2, n + 3), dtype, seed + i) for i in range(2)]
        source_array, dest_array = whole[0][1 : m + 1, 3 : n + 3], whole[1][1 : m + 1, 3 : n + 3]
        before = whole[1].copy()
        before[1 : m + 1, 3 : n + 3] = source_array
        if layout == "static":
            arrays = [source_array.copy(), dest_array.copy()]
            arguments = [x for array in arrays for x in descriptor(array)]
        elif layout == "strided":
            arrays = whole
            arguments = [x for array in whole for x in fields(array, (m, n), (n + 3, 1), 7)]
        elif layout == "dynamic-strided":
            arrays = whole
            arguments = [x for array in whole for x in fields(array, (m, n), (n + 3, 1), n + 6)]
        else:
            arrays = whole
            arguments = [x for array in whole for x in descriptor(array)]
        if layout == "strided":
            # The first element is 7 after the pointer.
            flat = [array.reshape(-1) for array in whole]
            place = np.lib.stride_tricks.as_strided
            parts = [place(f[7:], (m, n), (f.itemsize * (n + 3), f.itemsize)) for f in flat]
            before = whole[1].copy()
            place(before.reshape(-1)[7:], (m, n), (before.itemsize * (n + 3), before.itemsize))[...] = parts[0]
        kernel.run((3, 4, 1), 1, *arguments)
        result = arrays[1]
        np.testing.assert_array_equal(result, source_array if layout == "static" else before, err_msg=f"{(m, n)}")


def fields(array: np.ndarray, shape: Sequence[int], strides: Sequence[int], offset: int) -> list[Any]:
    """The fields of a memref with an offset into an array."""
    return [0, array, offset, *shape, *strides]


@pytest.mark.grid(2, cover=False)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
def test_any_index(chip: str, dtype: str) -> None:
    """Tiles that begin before the array, cross its begin or end, or are far away."""
    kind = memref((None, None), dtype)
    body = f"""
  gpu.func @read(%source: {kind}, %dest: memref<2x4x{dtype}>, %i: index, %j: index) kernel {{
    %c0 = arith.constant 0 : index
    %padding = arith.constant {number(9.0, dtype)} : {dtype}
    %tile = vector.transfer_read %source[%i, %j], %padding : {kind}, vector<2x4x{dtype}>
    vector.transfer_write %tile, %dest[%c0, %c0] {{in_bounds = [true, true]}} : vector<2x4x{dtype}>, memref<2x4x{dtype}>
    gpu.return
  }}
  gpu.func @write(%source: memref<2x4x{dtype}>, %dest: {kind}, %i: index, %j: index) kernel {{
    %c0 = arith.constant 0 : index
    %padding = arith.constant {number(9.0, dtype)} : {dtype}
    %tile = vector.transfer_read %source[%c0, %c0], %padding {{in_bounds = [true, true]}}
      : memref<2x4x{dtype}>, vector<2x4x{dtype}>
    vector.transfer_write %tile, %dest[%i, %j] : vector<2x4x{dtype}>, {kind}
    gpu.return
  }}"""
    kernel = Kernel(body, chip)
    source = random((3, 5), dtype, 0)
    far = 1 << 40
    for i, j in itertools.product([-far, -2, -1, 0, 1, 2, 3, far], [-9, -3, -1, 0, 1, 2, 4, 5, 900]):
        tile = np.zeros((2, 4), DTYPES[dtype])
        kernel.launch("read", *descriptor(source), *descriptor(tile), i, j)
        np.testing.assert_array_equal(tile, padded_tile(source, (i, j), (2, 4), 9.0), err_msg=f"read {(i, j)}")
        dest, more = random((3, 5), dtype, 1), random((2, 4), dtype, 2)
        expected = dest.copy()
        for row, column in itertools.product(range(2), range(4)):
            if 0 <= i + row < 3 and 0 <= j + column < 5:
                expected[i + row, j + column] = more[row, column]
        kernel.launch("write", *descriptor(more), *descriptor(dest), i, j)
        np.testing.assert_array_equal(dest, expected, err_msg=f"write {(i, j)}")


@pytest.mark.grid(4)
@pytest.mark.parametrize("chip", AMD)
@pytest.mark.parametrize("dtype", ["f16", "i8", "f32"])
@pytest.mark.parametrize("padding", [0.0, 5.0])
def test_ends_of_one_dimension(chip: str, dtype: str, padding: float) -> None:
    """Every length and offset of a row: dwords that are half inside, and elements past the end of the array."""
    kind = f"memref<?x{dtype}>"
    body = f"""
  gpu.func @copy(%source: {kind}, %dest: {kind}, %at: index) kernel {{
    %c0 = arith.constant 0 : index
    %first = arith.maxsi %at, %c0 : index
    %padding = arith.constant {number(padding, dtype)} : {dtype}
    %row = vector.transfer_read %source[%first], %padding : {kind}, vector<8x{dtype}>
    vector.transfer_write %row, %dest[%first] : vector<8x{dtype}>, {kind}
    gpu.return
  }}"""
    kernel = Kernel(body, chip)
    for length, at in itertools.product([1, 2, 3, 6, 8, 9, 11], [0, 1, 2, 3, 5, 8, 10, 1 << 33]):
        source, dest = random((length,), dtype, length), random((length + 2,), dtype, at % 97)
        expected = dest.copy()
        expected[at : at + 8] = padded_tile(source, (at,), (8,), padding)[: max(min(8, length + 2 - at), 0)]
        kernel.launch("copy", *descriptor(source), *descriptor(dest), at)
        np.testing.assert_array_equal(dest, expected, err_msg=f"{length} {at}")


# ---------------------------------------------------------------------------------------------------------------------
# Copies to shared memory that fill in zeros
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(2, cover=False)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(("dtype", "pitch"), [("f16", 16), ("f16", 20), ("f32", 7), ("i8", 32), ("f64", 6)])
def test_zero_filled_copies(chip: str, dtype: str, pitch: int) -> None:
    """Each of 16 threads copies two rows to shared memory; another thread reads them, and writes them out."""
    columns = 16
    for rows, size in itertools.product([1, 5, 32], sorted({1, pitch // 2, pitch - 1, pitch})):
        source = f"memref<?x{size}x{dtype}, strided<[{pitch}, 1]>>"
        shared = f"memref<32x{columns}x{dtype}, #gpu.address_space<workgroup>>"
        row = f"vector<2x{columns}x{dtype}>"
        inside = "{in_bounds = [true, true]}"
        body = f"""
  gpu.func @copy(%source: {source}, %dest: memref<32x{columns}x{dtype}>, %first: index) workgroup(%buffer: {shared}
      {{llvm.align = 16 : i64}}) kernel {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c30 = arith.constant 30 : index
    %zero = arith.constant {number(0.0, dtype)} : {dtype}
    %x = gpu.thread_id x
    %i = arith.muli %x, %c2 : index
    %at = arith.addi %i, %first : index
    %rows = vector.transfer_read %source[%at, %c0], %zero : {source}, {row}
    vector.transfer_write %rows, %buffer[%i, %c0] {inside} : {row}, {shared}
    gpu.barrier
    %other = arith.subi %c30, %i : index
    %read = vector.transfer_read %buffer[%other, %c0], %zero {inside} : {shared}, {row}
    vector.transfer_write %read, %dest[%other, %c0] {inside} : {row}, memref<32x{columns}x{dtype}>
    gpu.return
  }}"""
        kernel = Kernel(body, chip)
        assert kernel.text.count("nvgpu.device_async_copy") == 2 * columns * np.dtype(DTYPES[dtype]).itemsize // width(
            dtype, pitch
        )
        array = random((rows, pitch), dtype, rows)
        for first, how in itertools.product([0, -3], [EARLY, LATE]):
            dest = random((32, columns), dtype, 1)
            fields_ = [*fields(array, (rows, size), (pitch, 1), 0), *descriptor(dest), first]
            kernel.run(1, 16, *fields_, emulation=how)
            expected = padded_tile(array[:, :size], (first, 0), (32, columns), 0.0)
            np.testing.assert_array_equal(dest, expected, err_msg=f"{rows} {size} {first}")


def width(dtype: str, pitch: int) -> int:
    """The bytes of a copy: what rows, and the pitch between them, are multiples of."""
    size = np.dtype(DTYPES[dtype]).itemsize
    return next(n for n in (16, 8, 4) if pitch * size % n == 0)
