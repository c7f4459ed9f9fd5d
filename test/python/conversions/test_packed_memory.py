# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of 2 and 4 bits, which share bytes of global and shared memory, on emulated chips and compared with numpy."""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from helpers import SHARED, Array
from smalti.emulator import Emulation

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250", "sm_80", "sm_90a")
ELEMENTS = ("i4", "i2", "f4E2M1FN")
POISON = 0x5A
THREADS = 128
LOOKS = (Emulation(sanitize="address", workers=1), Emulation(sanitize="thread"))


def bits_of(element: str) -> int:
    return 2 if element == "i2" else 4


def per_byte(element: str) -> int:
    return 8 // bits_of(element)


def unpack(array: Array, element: str) -> Array:
    """The bits of each element; the first element of a byte is in the low bits."""
    bits = bits_of(element)
    parts = [array.view(np.uint8) >> (bits * i) & ((1 << bits) - 1) for i in range(per_byte(element))]
    return np.stack(parts, -1).reshape(*array.shape[:-1], -1)


def pack(values: Array, element: str) -> Array:
    bits, count = bits_of(element), per_byte(element)
    parts = values.astype(np.uint8).reshape(*values.shape[:-1], -1, count)
    return np.bitwise_or.reduce(parts << (bits * np.arange(count, dtype=np.uint8)), -1).astype(np.uint8).view(np.int8)


def everything(element: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Random bits in which each value of an element occurs."""
    values = np.random.default_rng(seed).integers(0, 1 << bits_of(element), shape)
    assert len(np.unique(values)) == 1 << bits_of(element)
    return values


def signed(values: Array, element: str) -> Array:
    half = 1 << (bits_of(element) - 1)
    return ((values + half) % (2 * half) - half).astype(np.int32)


def kernel(arguments: str, body: str, chip: str, *, block: bool = False) -> smalti.Kernel:
    """A block-level kernel with `block`, otherwise a thread-level kernel with thread id %t."""
    thread = "" if block else "%t = gpu.thread_id x"
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @packed {{
    gpu.func @test({arguments}) kernel attributes {{
        known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      {thread}
      %c0 = arith.constant 0 : index
      {body}
      gpu.return
    }}
  }}
}}
"""
    return smalti.compile(text, target=f"emu:{chip}", emulation=LOOKS[0])


def index(name: str, value: str, factor: int, plus: int = 0) -> str:
    return f"""%{name}_factor = arith.constant {factor} : index
      %{name}_plus = arith.constant {plus} : index
      %{name}_times = arith.muli {value}, %{name}_factor : index
      %{name} = arith.addi %{name}_times, %{name}_plus : index
"""


# Block level.


def rows(shape: tuple[int, int], length: int) -> str:
    return f"#mosaic_gpu.WGStridedFragLayout<[{shape[0]}, {shape[1]}], {length}>"


@pytest.mark.grid(8)
@pytest.mark.parametrize("length", [4, 16])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_block_through_shared_memory(chip: str, element: str, length: int) -> None:
    """Threads read elements that others wrote: the layouts differ."""
    shape = (64, 64)
    memory, vector = f"memref<64x64x{element}>", f"vector<64x64x{element}>"
    shared = f"memref<64x64x{element}, {SHARED}>"
    body = f"""
      %s = memref.alloc() : {shared}
      %v = mosaic_gpu.vector_load %a {{out_layouts = [{rows(shape, 8)}]}} : {memory} -> {vector}
      mosaic_gpu.vector_store %v, %s {{in_layouts = [{rows(shape, 8)}]}} : {vector}, {shared}
      gpu.barrier
      %w = mosaic_gpu.vector_load %s {{optimized = false, out_layouts = [{rows(shape, length)}]}} : {shared} -> {vector}
      mosaic_gpu.vector_store %w, %b {{in_layouts = [{rows(shape, length)}]}} : {vector}, {memory}
    """
    x = pack(everything(element, shape), element)
    test = kernel(f"%a: {memory}, %b: {memory}", body, chip, block=True)
    for emulation in LOOKS:
        out = np.full_like(x, POISON)
        test.launcher(x, out, emulation=emulation)
        np.testing.assert_array_equal(out, x)


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_block_part_of_shared_memory(chip: str, element: str) -> None:
    """A view at a dynamic byte offset, and a splat."""
    count = per_byte(element)
    memory, part = f"memref<32x64x{element}>", f"memref<32x64x{element}, strided<[128, 1], offset: ?>, {SHARED}>"
    vector, shared = f"vector<32x64x{element}>", f"memref<32x128x{element}, {SHARED}>"
    layout = rows((32, 64), 8)
    one = "1.0" if element.startswith("f") else "1"
    body = f"""
      %s = memref.alloc() : {shared}
      {index("from", "%n", count)}
      %p = memref.subview %s[0, %from] [32, 64] [1, 1] : {shared} to {part}
      %one = arith.constant dense<{one}> : vector<32x128x{element}>
      mosaic_gpu.vector_store %one, %s : vector<32x128x{element}>, {shared}
      gpu.barrier
      %v = mosaic_gpu.vector_load %a {{out_layouts = [{layout}]}} : {memory} -> {vector}
      mosaic_gpu.vector_store %v, %p {{in_layouts = [{layout}]}} : {vector}, {part}
      gpu.barrier
      %w = mosaic_gpu.vector_load %s {{optimized = false, out_layouts = [{rows((32, 128), 8)}]}}
          : {shared} -> vector<32x128x{element}>
      mosaic_gpu.vector_store %w, %b {{in_layouts = [{rows((32, 128), 8)}]}}
          : vector<32x128x{element}>, memref<32x128x{element}>
    """
    x = everything(element, (32, 64))
    test = kernel(f"%a: {memory}, %b: memref<32x128x{element}>, %n: index", body, chip, block=True)
    for start in (0, 1, 7, 16):
        out = np.full((32, 128 // count), POISON, np.int8)
        test(pack(x, element), out, start)
        wanted = np.full((32, 128), 2 if element == "f4E2M1FN" else 1)
        wanted[:, count * start : count * start + 64] = x
        np.testing.assert_array_equal(unpack(out, element), wanted)


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_block_ragged_transfers(chip: str, element: str) -> None:
    """Transfers of global memory: out-of-bounds rows and columns read padding and are not stored."""
    vector, layout = f"vector<64x64x{element}>", rows((64, 64), 8)
    pad = "1.0" if element.startswith("f") else "1"
    body = f"""
      %pad = arith.constant {pad} : {element}
      %v = vector.transfer_read %a[%c0, %c0], %pad {{out_layouts = [{layout}]}} : memref<50x40x{element}>, {vector}
      mosaic_gpu.vector_store %v, %b {{in_layouts = [{layout}]}} : {vector}, memref<64x64x{element}>
      vector.transfer_write %v, %c[%c0, %c0] {{in_layouts = [{layout}]}} : {vector}, memref<44x52x{element}>
    """
    arguments = f"%a: memref<50x40x{element}>, %b: memref<64x64x{element}>, %c: memref<44x52x{element}>"
    x = everything(element, (50, 40))
    out, part = (np.full((m, n // per_byte(element)), POISON, np.int8) for m, n in ((64, 64), (44, 52)))
    kernel(arguments, body, chip, block=True)(pack(x, element), out, part)
    wanted = np.full((64, 64), 2 if element == "f4E2M1FN" else 1)
    wanted[:50, :40] = x
    np.testing.assert_array_equal(unpack(out, element), wanted)
    np.testing.assert_array_equal(unpack(part, element), wanted[:44, :52])


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
def test_block_arithmetic(chip: str) -> None:
    """Sign-extended after a round trip through shared memory."""
    layout = rows((64, 64), 8)
    narrow, wide, shared = "vector<64x64xi4>", "vector<64x64xi32>", f"memref<64x64xi4, {SHARED}>"
    body = f"""
      %s = memref.alloc() : {shared}
      %v = mosaic_gpu.vector_load %a {{out_layouts = [{layout}]}} : memref<64x64xi4> -> {narrow}
      mosaic_gpu.vector_store %v, %s {{in_layouts = [{layout}]}} : {narrow}, {shared}
      gpu.barrier
      %w = mosaic_gpu.vector_load %s {{optimized = false, out_layouts = [{layout}]}} : {shared} -> {narrow}
      %x = arith.extsi %w {{in_layouts = [{layout}], out_layouts = [{layout}]}} : {narrow} to {wide}
      mosaic_gpu.vector_store %x, %b {{in_layouts = [{layout}]}} : {wide}, memref<64x64xi32>
    """
    x = everything("i4", (64, 64))
    out = np.full((64, 64), POISON, np.int32)
    kernel("%a: memref<64x64xi4>, %b: memref<64x64xi32>", body, chip, block=True)(pack(x, "i4"), out)
    np.testing.assert_array_equal(out, signed(x, "i4"))


@pytest.mark.grid(6)
@pytest.mark.parametrize("element", ["i4", "i8", "f16", "f32"])
@pytest.mark.parametrize("chip", CHIPS)
def test_block_through_tiles_and_a_swizzle(chip: str, element: str) -> None:
    """Tiled and swizzled memory, on every chip."""
    bits = int(element[1:])
    shape = (64, 1024 // bits)
    sizes = f"64x{shape[1]}x{element}"
    shared, layout = f"memref<{sizes}, {SHARED}>", rows(shape, 64 // bits)
    form = f"[#mosaic_gpu.tile<[8, {shape[1]}]>, #mosaic_gpu.swizzle<128 : i32>]"
    body = f"""
      %s = mosaic_gpu.slice_smem 0 {{out_transforms = [{form}]}} : {shared}
      %v = mosaic_gpu.vector_load %a {{out_layouts = [{layout}]}} : memref<{sizes}> -> vector<{sizes}>
      mosaic_gpu.vector_store %v, %s {{in_layouts = [{layout}]}} : vector<{sizes}>, {shared}
      gpu.barrier
      %w = mosaic_gpu.vector_load %s {{optimized = false, out_layouts = [{rows(shape, 128 // bits)}]}}
          : {shared} -> vector<{sizes}>
      mosaic_gpu.vector_store %w, %b {{in_layouts = [{rows(shape, 128 // bits)}]}} : vector<{sizes}>, memref<{sizes}>
    """
    x = np.random.default_rng(1).integers(0, 256, (64, 128)).astype(np.uint8)
    out = np.full_like(x, POISON)
    numpy = {"i4": np.int8, "i8": np.int8, "f16": np.float16, "f32": np.float32}[element]
    kernel(f"%a: memref<{sizes}>, %b: memref<{sizes}>", body, chip, block=True)(x.view(numpy), out.view(numpy))
    np.testing.assert_array_equal(out, x)


# Thread level.


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_vectors_of_a_thread_through_shared_memory(chip: str, element: str) -> None:
    """Stores in the order of the threads, loads in the opposite order; with slots of two rows."""
    memory, shared = f"memref<1024x{element}>", f"memref<2x1024x{element}, {SHARED}>"
    body = f"""
      %c1 = arith.constant 1 : index
      {index("i", "%t", 8)}
      {index("j", "%t", -8, 8 * (THREADS - 1))}
      %s = memref.alloc() : {shared}
      %v = vector.load %a[%i] : {memory}, vector<8x{element}>
      vector.store %v, %s[%c1, %i] : {shared}, vector<8x{element}>
      gpu.barrier
      %w = vector.load %s[%c1, %j] : {shared}, vector<8x{element}>
      vector.store %w, %b[%i] : {memory}, vector<8x{element}>
    """
    x = everything(element, (1024,))
    test = kernel(f"%a: {memory}, %b: {memory}", body, chip)
    for emulation in LOOKS:
        out = np.full(1024 // per_byte(element), POISON, np.int8)
        test.launcher(pack(x, element), out, emulation=emulation)
        np.testing.assert_array_equal(unpack(out, element), x.reshape(-1, 8)[::-1].reshape(-1))


@pytest.mark.grid(8)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("element", ["i4", "i2"])
@pytest.mark.parametrize("chip", CHIPS)
def test_unaligned_elements(chip: str, element: str, space: str) -> None:
    """Loads of one element, and of vectors that begin and end inside a byte, up to the last byte."""
    count = THREADS + 8 - THREADS % 8
    memory, shared = f"memref<{count}x{element}>", f"memref<{count}x{element}, {SHARED}>"
    body = f"""
      {index("u", "%t", 1)}
      %s = memref.alloc() : {shared}
      %whole = arith.constant {count // 8} : index
      %copies = arith.cmpi ult, %t, %whole : index
      {index("i", "%t", 8)}
      scf.if %copies {{
        %v = vector.load %a[%i] : {memory}, vector<8x{element}>
        vector.store %v, %s[%i] : {shared}, vector<8x{element}>
      }}
      gpu.barrier
"""
    source, kind = ("%a", memory) if space == "global" else ("%s", shared)
    lengths = (1, 2, 3, 5, 8)
    for length in lengths:
        body += f"""
      %v{length} = vector.load {source}[%t] : {kind}, vector<{length}x{element}>
      %w{length} = arith.extsi %v{length} : vector<{length}x{element}> to vector<{length}xi32>
      vector.store %w{length}, %b{length}[%t, %c0] : memref<{THREADS}x{length}xi32>, vector<{length}xi32>
"""
    body += f"""
      %e = memref.load {source}[%t] : {kind}
      %f = arith.extui %e : {element} to i32
      memref.store %f, %b[%t] : memref<{THREADS}xi32>
"""
    arguments = f"%a: {memory}, %b: memref<{THREADS}xi32>"
    arguments += "".join(f", %b{length}: memref<{THREADS}x{length}xi32>" for length in lengths)
    x = everything(element, (count,))
    one = np.full(THREADS, POISON, np.int32)
    vectors = [np.full((THREADS, length), POISON, np.int32) for length in lengths]
    kernel(arguments, body, chip)(pack(x, element), one, *vectors)
    np.testing.assert_array_equal(one, x[:THREADS])
    for length, found in zip(lengths, vectors, strict=True):
        wanted = np.lib.stride_tricks.sliding_window_view(signed(x, element), length)[:THREADS]
        np.testing.assert_array_equal(found, wanted)


def test_no_read_beyond_the_last_byte() -> None:
    """Loads at any element up to the end of the array, and of masked lanes."""
    for length in (1, 2, 3, 7, 8):
        start = 2 * THREADS - length
        body = f"""
      %v = vector.load %a[%n] : memref<{2 * THREADS}xi4>, vector<{length}xi4>
      %w = arith.extui %v : vector<{length}xi4> to vector<{length}xi32>
      vector.store %w, %b[%c0] : memref<{length}xi32>, vector<{length}xi32>
"""
        x = everything("i4", (2 * THREADS,))
        test = kernel(f"%a: memref<{2 * THREADS}xi4>, %b: memref<{length}xi32>, %n: index", body, "sm_90a")
        for first in {0, 1, start - 1, start}:
            out = np.full(length, POISON, np.int32)
            test(pack(x, "i4"), out, first)
            np.testing.assert_array_equal(out, x[first : first + length])


@pytest.mark.grid(8)
@pytest.mark.parametrize("extent", [1001, 1000, 999, 8])
@pytest.mark.parametrize("element", ["i4", "i2"])
@pytest.mark.parametrize("chip", CHIPS)
def test_ragged_reads_of_a_thread(chip: str, element: str, extent: int) -> None:
    """The last vector ends out of bounds, possibly inside a byte: the rest is padding."""
    count = per_byte(element)
    padded = -(-extent // count) * count
    part = f"memref<{extent}x{element}, strided<[1]>>"
    body = f"""
      %pad = arith.constant 1 : {element}
      {index("i", "%t", 8)}
      %p = memref.subview %a[0] [{extent}] [1] : memref<{padded}x{element}> to {part}
      %v = vector.transfer_read %p[%i], %pad : {part}, vector<8x{element}>
      %w = arith.extsi %v : vector<8x{element}> to vector<8xi32>
      vector.store %w, %b[%t, %c0] : memref<{THREADS}x8xi32>, vector<8xi32>
"""
    x = everything(element, (padded,), 3) if padded > 8 else np.arange(8) % (1 << bits_of(element))
    out = np.full((THREADS, 8), POISON, np.int32)
    kernel(f"%a: memref<{padded}x{element}>, %b: memref<{THREADS}x8xi32>", body, chip)(pack(x, element), out)
    wanted = np.ones(8 * THREADS, np.int32)
    wanted[:extent] = signed(x, element)[:extent]
    np.testing.assert_array_equal(out.reshape(-1), wanted)


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_ragged_writes_of_a_thread(chip: str, element: str) -> None:
    """Rows that end at a byte boundary, in global memory through shared memory."""
    memory, shared = f"memref<996x{element}>", f"memref<996x{element}, {SHARED}>"
    pad = "1.0" if element.startswith("f") else "1"
    body = f"""
      %pad = arith.constant {pad} : {element}
      {index("i", "%t", 8)}
      %s = memref.alloc() : {shared}
      %v = vector.transfer_read %a[%i], %pad : {memory}, vector<8x{element}>
      vector.transfer_write %v, %s[%i] : vector<8x{element}>, {shared}
      gpu.barrier
      %w = vector.transfer_read %s[%i], %pad : {shared}, vector<8x{element}>
      vector.transfer_write %w, %b[%i] : vector<8x{element}>, {memory}
"""
    x = everything(element, (996,))
    out = np.full(1024 // per_byte(element), POISON, np.int8)
    end = 996 // per_byte(element)
    kernel(f"%a: {memory}, %b: {memory}", body, chip)(pack(x, element), out[:end])
    np.testing.assert_array_equal(unpack(out[:end], element), x)
    assert (out[end:] == POISON).all()


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
def test_masks_and_gathers(chip: str) -> None:
    """Arbitrary masks at any element, and gathers."""
    body = """
      %m8 = vector.load %m[%c0] : memref<8xi8>, vector<8xi8>
      %zero = arith.constant dense<0> : vector<8xi8>
      %mask = arith.cmpi ne, %m8, %zero : vector<8xi8>
      %pass = arith.constant dense<-3> : vector<8xi4>
      %i8 = arith.constant 8 : index
      %i = arith.muli %t, %i8 : index
      %v0 = vector.maskedload %a[%i], %mask, %pass : memref<1032xi4>, vector<8xi1>, vector<8xi4> into vector<8xi4>
      %w0 = arith.extsi %v0 : vector<8xi4> to vector<8xi32>
      vector.store %w0, %b0[%t, %c0] : memref<128x8xi32>, vector<8xi32>
      %v1 = vector.maskedload %a[%t], %mask, %pass : memref<1032xi4>, vector<8xi1>, vector<8xi4> into vector<8xi4>
      %w1 = arith.extsi %v1 : vector<8xi4> to vector<8xi32>
      vector.store %w1, %b1[%t, %c0] : memref<128x8xi32>, vector<8xi32>
      %at = vector.load %n[%c0] : memref<8xi32>, vector<8xi32>
      %v2 = vector.gather %a[%t] [%at], %mask, %pass
          : memref<1032xi4>, vector<8xi32>, vector<8xi1>, vector<8xi4> into vector<8xi4>
      %w2 = arith.extsi %v2 : vector<8xi4> to vector<8xi32>
      vector.store %w2, %b2[%t, %c0] : memref<128x8xi32>, vector<8xi32>
"""
    arguments = "%a: memref<1032xi4>, %m: memref<8xi8>, %n: memref<8xi32>"
    test = kernel(arguments + "".join(f", %b{i}: memref<128x8xi32>" for i in range(3)), body, chip)
    x = everything("i4", (1032,))
    t, lanes = np.arange(128)[:, None], np.arange(8)
    at = np.array([900, 3, 0, 0, 17, 901, 44, 1], np.int32)
    for number in (0b11111111, 0b01101001, 0b10000000, 0):
        mask = number >> lanes & 1
        out = np.full((3, 128, 8), POISON, np.int32)
        test(pack(x, "i4"), mask.astype(np.int8), at, *out)
        for found, positions in zip(out, (8 * t + lanes, t + lanes, t + at), strict=True):
            np.testing.assert_array_equal(found, np.where(mask, signed(x, "i4")[positions], -3))


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ["i4", "i2"])
@pytest.mark.parametrize("chip", CHIPS)
def test_stores_in_private_memory(chip: str, element: str) -> None:
    """Stores of single elements and of vectors inside bytes of private memory."""
    space = "#gpu.address_space<private>"
    local = f"memref<16x{element}, {space}>"
    body = f"""
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %p = memref.alloca() : {local}
      scf.for %k = %c0 to %c16 step %c1 {{
        %v = memref.load %a[%k] : memref<16x{element}>
        memref.store %v, %p[%k] : {local}
      }}
      %three = vector.load %a[%c0] : memref<16x{element}>, vector<3x{element}>
      vector.store %three, %p[%n] : {local}, vector<3x{element}>
      %all = vector.load %p[%c0] : {local}, vector<16x{element}>
      %wide = arith.extui %all : vector<16x{element}> to vector<16xi32>
      vector.store %wide, %b[%c0] : memref<16xi32>, vector<16xi32>
"""
    x = everything(element, (16,), 5) if element == "i2" else np.random.default_rng(5).permutation(16)
    test = kernel(f"%a: memref<16x{element}>, %b: memref<16xi32>, %n: index", body, chip)
    for start in (0, 3, 6, 13):
        out = np.full(16, POISON, np.int32)
        test(pack(x, element), out, start)
        wanted = x.copy()
        wanted[start : start + 3] = x[:3]
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.grid(6)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_code_assembles(chip: str, element: str) -> None:
    memory, shared = f"memref<1024x{element}>", f"memref<1024x{element}, {SHARED}>"
    text = f"""
gpu.module @packed {{
  gpu.func @test(%a: {memory}, %b: {memory}) kernel attributes {{
      known_block_size = array<i32: {THREADS}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    %s = memref.alloc() : {shared}
    %v = vector.load %a[%i] : {memory}, vector<8x{element}>
    vector.store %v, %s[%i] : {shared}, vector<8x{element}>
    gpu.barrier
    %w = vector.load %s[%i] : {shared}, vector<8x{element}>
    vector.store %w, %b[%i] : {memory}, vector<8x{element}>
    gpu.return
  }}
}}
"""
    test = smalti.compile(text, target=chip)
    assert test.resources.shared_bytes == 1024 // per_byte(element)
    assert test.binary
    # The alignment of arguments and shared memory is known: each access is one instruction.
    accesses = r"(ld|st)\.(shared|global)|(ds|global|buffer|flat)_(load|read|store|write)"
    code = test.asm["ptx" if chip.startswith("sm_") else "gcn"]
    assert len(re.findall(rf"^\s*({accesses})", code, re.MULTILINE)) == 4


@pytest.mark.grid(10)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("chip", CHIPS)
def test_tiles_at_odd_offsets(chip: str, element: str) -> None:
    """Windows of 21 elements of 4 tiles, which share bytes at their edges; the last one is ragged."""
    size, tiles, width, first = 88, 4, 21, 1
    word, pad = f"i{bits_of(element)}", 1
    fill = "0.5" if element.startswith("f") else "1"
    cast = "arith.bitcast %t : tensor<21xf4E2M1FN> to tensor<21xi4>"
    integers, name = (f"%b = {cast}", "%b") if element.startswith("f") else ("", "%t")
    copy = smalti.compile(
        f"""
triton_xla.entry_func @copy(%x: memref<{size}x{element}>, %n: memref<{tiles}x{width}xi8>, %y: memref<{size}x{element}>,
                            %tile: index) tiles {tiles} {{
  %width = arith.constant {width} : index
  %first = arith.constant {first} : index
  %begin = arith.muli %tile, %width : index
  %to = arith.addi %begin, %first : index
  %three = arith.constant 3 : index
  %from = arith.addi %to, %three : index
  %t = triton_xla.extract %x[%from] [{width}] [1] fill {fill} : {element} : memref<{size}x{element}> to tensor<{width}x{element}>
  {integers}
  %i = arith.extui {name} : tensor<{width}x{word}> to tensor<{width}xi8>
  triton_xla.insert %i into %n[%tile, 0] [1, {width}] [1, 1] : tensor<{width}xi8> into memref<{tiles}x{width}xi8>
  triton_xla.insert %t into %y[%to] [{width}] [1] : tensor<{width}x{element}> into memref<{size}x{element}>
  triton_xla.return
}}
""",
        target=f"emu:{chip}",
    )
    x = everything(element, (size,), seed=3)
    padded = np.concatenate([x, np.full(width, pad)])
    wanted = unpack(np.full(size // per_byte(element), POISON, np.int8), element)
    read = padded[first + 3 :][: tiles * width]
    wanted[first : first + tiles * width] = read
    for emulation in (Emulation(order="random:1"), *LOOKS):
        n, y = np.zeros((tiles, width), np.int8), np.full(size // per_byte(element), POISON, np.int8)
        copy.launcher(pack(x, element), n, y, emulation=emulation)
        np.testing.assert_array_equal(n.reshape(-1), read)
        np.testing.assert_array_equal(unpack(y, element), wanted)


@pytest.mark.parametrize("chip", ["gfx942", "sm_80"])
def test_tiles_of_every_third_element(chip: str) -> None:
    copy = smalti.compile(
        """
triton_xla.entry_func @copy(%x: memref<40xi4>, %y: memref<40xi4>, %tile: index) tiles 3 {
  %t = triton_xla.extract %x[%tile] [12] [3] : memref<40xi4> to tensor<12xi4>
  triton_xla.insert %t into %y[%tile] [12] [3] : tensor<12xi4> into memref<40xi4>
  triton_xla.return
}
""",
        target=f"emu:{chip}",
    )
    x = everything("i4", (40,), seed=3)
    wanted = unpack(np.full(20, POISON, np.int8), "i4")
    wanted[:36] = x[:36]
    for emulation in LOOKS:
        y = np.full(20, POISON, np.int8)
        copy.launcher(pack(x, "i4"), y, emulation=emulation)
        np.testing.assert_array_equal(unpack(y, "i4"), wanted)
