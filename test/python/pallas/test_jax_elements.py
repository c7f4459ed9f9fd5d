# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special accesses of elements in memory: combined atomically, several in a byte, and bitcast. Run on an emulated
Hopper GPU against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from helpers import WGMMA, WGMMA_ROW
from jax_programs import memref, module, pack, parts_of_packed_rows, run, shared
from smalti import dtypes, toolchain
from smalti.emulator import SCHEDULES

# Twice as many columns: the bits of a thread are those of WGMMA.
WGMMA_HALVES = (
    "#mosaic_gpu.TiledLayout<[[64, 16], [16, 16], [8, 16], [4]], warp_dims = [-7], lane_dims = [-3, -2], "
    "vector_dim = -1>"
)

TYPES: dict[str, Any] = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f16": np.float16}


def unsigned(function: Callable[[Any, Any], Any]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Of integers without a sign."""
    return lambda a, b: function(a.view(f"u{a.dtype.itemsize}"), b.view(f"u{a.dtype.itemsize}")).view(a.dtype)


OPERATIONS = (np.add, unsigned(np.minimum), unsigned(np.maximum), np.bitwise_and, np.bitwise_or, np.bitwise_xor)
NAMES = ("add", "min", "max", "and", "or", "xor")


def values(element: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if element.startswith("f"):
        return rng.integers(-9, 10, shape).astype(TYPES[element])
    # Of both signs.
    bits = 8 * np.dtype(TYPES[element]).itemsize
    return rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), shape, TYPES[element])


def combined(operation: int, first: np.ndarray, others: np.ndarray) -> np.ndarray:
    for other in others:
        first = OPERATIONS[operation](first, other)
    return first


@pytest.mark.parametrize("element", ["i32", "i64"])
@pytest.mark.parametrize("operation", range(6), ids=NAMES)
def test_atomics_in_global_memory(operation: int, element: str) -> None:
    """Four blocks combine their rows with one row, each element of which four threads hold."""
    part = f"memref<64x{element}, strided<[1], offset: ?>>"
    body = f"""
      %b = gpu.block_id x
      %own = memref.subview %a0[%b, 0] [1, 64] [1, 1] : {memref((4, 64), element)} to {part}
      %l = mosaic_gpu.vector_load %own {{optimized = false}} : {part} -> vector<64x{element}>
      %v = mosaic_gpu.layout_cast x(%l : vector<64x{element}>) {{new_layout = {WGMMA_ROW}}}
      mosaic_gpu.vector_store %v, %a1 {{atomic_type = {operation} : i32}} : vector<64x{element}>, {memref((64,), element)}
    """
    source = module([((4, 64), element), ((64,), element)], body, grid=(4, 1, 1))
    x, start = values(element, (4, 64), 1), values(element, (64,), 2)
    kernel = smalti.compile(source, target="emu:sm_90a")
    for schedule in SCHEDULES:
        out = start.copy()
        kernel.launcher(x, out, emulation=schedule)
        np.testing.assert_array_equal(out, combined(operation, start, x))


@pytest.mark.parametrize("element, operation", [("i32", n) for n in range(6)] + [("f32", 0), ("f16", 0)])
def test_atomics_in_shared_memory(element: str, operation: int) -> None:
    """Two iterations of a block reduce their rows into swizzled memory."""
    rows, columns = (64, 32 if element != "f16" else 64)
    tile = f"[#mosaic_gpu.tile<[8, {columns}]>, #mosaic_gpu.swizzle<128 : i32>]"
    shape, vector = (rows, columns), f"vector<{rows}x{columns}x{element}>"
    place = shared(shape, element)
    part = f"memref<{rows}x{columns}x{element}, strided<[{columns}, 1], offset: ?>>"
    size = rows * columns * np.dtype(TYPES[element]).itemsize
    body = f"""
      %s0 = mosaic_gpu.slice_smem 0 : {place}
      %s = mosaic_gpu.with_transforms %s0 {tile} : {place}
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %first = mosaic_gpu.vector_load %a1 {{optimized = false}} : {memref(shape, element)} -> {vector}
      %start = mosaic_gpu.layout_cast x(%first : {vector}) {{new_layout = {WGMMA}}}
      mosaic_gpu.vector_store %start, %s {{optimized = false}} : {vector}, {place}
      scf.for %i = %c0 to %c2 step %c1 {{
        %own = memref.subview %a0[%i, 0, 0] [1, {rows}, {columns}] [1, 1, 1] : {memref((2, *shape), element)} to {part}
        %l = mosaic_gpu.vector_load %own {{optimized = false}} : {part} -> {vector}
        %v = mosaic_gpu.layout_cast x(%l : {vector}) {{new_layout = {WGMMA}}}
        mosaic_gpu.vector_store %v, %s {{atomic_type = {operation} : i32, optimized = false}} : {vector}, {place}
      }}
      %y = mosaic_gpu.vector_load %s {{optimized = false}} : {place} -> {vector}
      %z = mosaic_gpu.layout_cast x(%y : {vector}) {{new_layout = {WGMMA}}}
      mosaic_gpu.vector_store %z, %a2 : {vector}, {memref(shape, element)}
    """
    arguments = [((2, *shape), element), (shape, element), (shape, element)]
    x, start = values(element, (2, *shape), 1), values(element, shape, 2)
    for sanitize in (None, "thread"):
        out = np.full(shape, 77, TYPES[element])
        run(module(arguments, body, shared_bytes=size), x, start, out, sanitize=sanitize)
        np.testing.assert_array_equal(out, combined(operation, start, x))


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("operation", [1, 2], ids=["min", "max"])
def test_minima_and_maxima_of_floats(operation: int, element: str, space: str) -> None:
    """No chip has the instruction: the compiler emits a loop with a compare-and-swap."""
    shape, vector = (256,), f"vector<256x{element}>"
    place = "%a1" if space == "global" else "%s"
    type_ = memref(shape, element) if space == "global" else shared(shape, element)
    body = f"""
      %s = mosaic_gpu.slice_smem 0 : {shared(shape, element)}
      %y = mosaic_gpu.vector_load %a1 : {memref(shape, element)} -> {vector}
      mosaic_gpu.vector_store %y, %s : {vector}, {shared(shape, element)}
      gpu.barrier
      %x = mosaic_gpu.vector_load %a0 : {memref(shape, element)} -> {vector}
      mosaic_gpu.vector_store %x, {place} {{atomic_type = {operation} : i32}} : {vector}, {type_}
      gpu.barrier
      %z = mosaic_gpu.vector_load {place} : {type_} -> {vector}
      mosaic_gpu.vector_store %z, %a1 : {vector}, {memref(shape, element)}
    """
    numpy = dtypes.from_mlir(element)
    assert numpy is not None
    x, y = np.random.default_rng(operation).integers(-99, 100, (2, 256)).astype(numpy.numpy)
    wanted = (np.minimum, np.maximum)[operation - 1](x, y)
    run(module([(shape, element)] * 2, body, shared_bytes=1024), x, y)
    np.testing.assert_array_equal(y.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("space", ["global", "shared"])
def test_a_splat_is_combined_once(space: str) -> None:
    place = memref((256,), "i32") if space == "global" else shared((256,), "i32")
    vector = "vector<256xi32>"
    body = f"""
      %five = arith.constant dense<5> : {vector}
      %s = mosaic_gpu.slice_smem 0 : {shared((256,), "i32")}
      %x = mosaic_gpu.vector_load %a0 : {memref((256,), "i32")} -> {vector}
      mosaic_gpu.vector_store %x, %s : {vector}, {shared((256,), "i32")}
      mosaic_gpu.vector_store %five, {"%a0" if space == "global" else "%s"} {{atomic_type = 0 : i32}} : {vector}, {place}
      %y = mosaic_gpu.vector_load %s : {shared((256,), "i32")} -> {vector}
      mosaic_gpu.vector_store %y, %a1 : {vector}, {memref((256,), "i32")}
    """
    x, out = np.arange(256, dtype=np.int32), np.full(256, -1, np.int32)
    run(module([((256,), "i32"), ((256,), "i32")], body, shared_bytes=1024), x, out)
    np.testing.assert_array_equal(x, np.arange(256) + (5 if space == "global" else 0))
    np.testing.assert_array_equal(out, np.arange(256) + (5 if space == "shared" else 0))


def test_instructions_of_atomics() -> None:
    body = f"""
      %v = mosaic_gpu.vector_load %a0 : {memref((256,), "i32")} -> vector<256xi32>
      mosaic_gpu.vector_store %v, %a1 {{atomic_type = 2 : i32}} : vector<256xi32>, {memref((256,), "i32")}
    """
    kernel = smalti.compile(module([((256,), "i32"), ((256,), "i32")], body), target="sm_90a")
    ptx = kernel.asm["ptx"]
    assert ptx.count("max.u32") == 2 and "cas" not in ptx
    if toolchain.find_ptxas():
        assert kernel.resources.spills == 0


@pytest.mark.parametrize("layout", ["", WGMMA])
def test_four_bits_in_global_memory(layout: str) -> None:
    """Read, widened with the sign, and stored again after an addition."""
    shape = (128, 64)
    narrow, wide = "vector<128x64xi4>", "vector<128x64xi32>"
    name = "%l"
    body = f"%l = mosaic_gpu.vector_load %a0 {{optimized = false}} : {memref(shape, 'i4')} -> {narrow}\n"
    if layout:
        name = "%n"
        body += f"%n = mosaic_gpu.layout_cast x(%l : {narrow}) {{new_layout = {layout}}}\n"
    body += f"""
      %w = arith.extsi {name} : {narrow} to {wide}
      mosaic_gpu.vector_store %w, %a1 : {wide}, {memref(shape, "i32")}
      %three = arith.constant dense<3> : {wide}
      %s = arith.addi %w, %three : {wide}
      %t = arith.trunci %s : {wide} to {narrow}
      mosaic_gpu.vector_store %t, %a2 : {narrow}, {memref(shape, "i4")}
    """
    x = np.random.default_rng(4).integers(-8, 8, shape)
    out, again = np.full(shape, 99, np.int32), np.full((128, 32), 0x55, np.int8)
    source = module([(shape, "i4"), (shape, "i32"), (shape, "i4")], body)
    run(source, pack(x), out, again)
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(again, pack(x + 3))


def test_four_bits_in_a_part_of_a_tensor() -> None:
    """Rows that begin at even elements."""
    source, x, expected = parts_of_packed_rows()
    out = np.full_like(expected, 99)
    run(source, pack(x), out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.grid(4)
@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize("shape", [(3, 128), (2, 3, 128), (5, 256), (96, 4), (7, 2, 64), (6, 64)])
def test_rows_that_chunks_would_cross(shape: tuple[int, ...], element: str) -> None:
    """JAX's strided layout of 3x128 f16 has chunks of 3 elements."""
    kind, name = memref(shape, element), f"vector<{'x'.join(map(str, shape))}x{element}>"
    body = f"""
      %v = mosaic_gpu.vector_load %a0 : {kind} -> {name}
      mosaic_gpu.vector_store %v, %a1 : {name}, {kind}
    """
    kernel = smalti.compile(module([(shape, element)] * 2, body), target="emu:sm_90a")
    x = np.random.default_rng(0).integers(-100, 100, shape).astype({**TYPES, "i8": np.int8}[element])
    out = np.full_like(x, 77)
    kernel(x, out)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("element", ["i4", "i2", "f4E2M1FN"])
@pytest.mark.parametrize("shape", [(128,), (8, 16), (64, 64)])
def test_elements_that_share_bytes_are_copied(shape: tuple[int, ...], element: str) -> None:
    """The layout is one whose registers are whole bytes. A splat is stored, too."""
    vector = f"vector<{'x'.join(map(str, shape))}x{element}>"
    one = "1.0" if element.startswith("f") else "1"
    body = f"""
      %x = mosaic_gpu.vector_load %a0 : {memref(shape, element)} -> {vector}
      mosaic_gpu.vector_store %x, %a1 : {vector}, {memref(shape, element)}
      %unit = arith.constant dense<{one}> : {vector}
      mosaic_gpu.vector_store %unit, %a2 : {vector}, {memref(shape, element)}
    """
    perbyte = 4 if element == "i2" else 2
    bytes_ = (*shape[:-1], shape[-1] // perbyte)
    x = np.random.default_rng(1).integers(-128, 128, bytes_, np.int8)
    out, ones = np.full((2, *bytes_), 99, np.int8)
    run(module([(shape, element)] * 3, body), x, out, ones)
    np.testing.assert_array_equal(out, x)
    assert (ones == {"i4": 0x11, "i2": 0x55, "f4E2M1FN": 0x22}[element]).all()


@pytest.mark.parametrize("shape", [(1,), (1, 1, 1), (3, 5), (7, 129)])
def test_splats_that_the_threads_cannot_share_evenly(shape: tuple[int, ...]) -> None:
    vector = f"vector<{'x'.join(map(str, shape))}xf32>"
    body = f"""
      %c = arith.constant 3.0 : f32
      %unit = vector.broadcast %c : f32 to vector<1xf32>
      %scalar = vector.shape_cast %unit : vector<1xf32> to vector<f32>
      %x = vector.broadcast %scalar : vector<f32> to {vector}
      mosaic_gpu.vector_store %x, %a0 : {vector}, {memref(shape, "f32")}
      mosaic_gpu.vector_store %x, %a1 {{atomic_type = 0 : i32}} : {vector}, {memref(shape, "f32")}
    """
    out, total = np.zeros((2, *shape), np.float32)
    total[...] = 4
    run(module([(shape, "f32")] * 2, body), out, total)
    assert (out == 3).all() and (total == 7).all()


def test_registers_of_a_splat_and_pointers_in_a_primitive() -> None:
    """JAX holds a splat in a scalar, and takes pointers to shared memory from memrefs."""
    splat = "#mosaic_gpu.WGSplatFragLayout<[256]>"
    slot = shared((1,), "i32")
    body = f"""
      %s = mosaic_gpu.slice_smem 0 : {slot}
      %c = arith.constant dense<5> : vector<256xi32>
      %r = "mosaic_gpu.custom_primitive"(%c, %s) <{{in_layouts = [{splat}], in_transforms = [[]], out_layouts = [{splat}]}}> ({{
      ^bb0(%v: vector<256xi32>, %m: {slot}):
        %x = builtin.unrealized_conversion_cast %v : vector<256xi32> to i32 {{layout = {splat}, registers_shape = []}}
        %p = builtin.unrealized_conversion_cast %m : {slot} to !llvm.ptr<3>
        llvm.store %x, %p : i32, !llvm.ptr<3>
        %y = llvm.load %p : !llvm.ptr<3> -> i32
        %z = arith.addi %x, %y : i32
        %w = builtin.unrealized_conversion_cast %z : i32 to vector<256xi32> {{layout = {splat}, registers_shape = []}}
        mosaic_gpu.return %w : vector<256xi32>
      }}) : (vector<256xi32>, {slot}) -> vector<256xi32>
      mosaic_gpu.vector_store %r, %a0 : vector<256xi32>, {memref((256,), "i32")}
    """
    out = np.zeros(256, np.int32)
    run(module([((256,), "i32")], body, shared_bytes=64), out)
    assert (out == 10).all()


@pytest.mark.parametrize("op", ["mulf", "divf"])
def test_multiplications_and_divisions_of_scales(op: str) -> None:
    x, y = np.indices((256, 256)).astype(np.uint8)
    vector, place = "vector<64x256xf8E8M0FNU>", "memref<64x256xf8E8M0FNU, strided<[256, 1], offset: ?>>"
    whole = memref((256, 256), "f8E8M0FNU")
    body = """
      %b = gpu.block_id x
      %c64 = arith.constant 64 : index
      %row = arith.muli %b, %c64 : index
    """
    for i in range(3):
        body += f"%part{i} = memref.subview %a{i}[%row, 0] [64, 256] [1, 1] : {whole} to {place}\n"
    for i in range(2):
        body += f"%x{i} = mosaic_gpu.vector_load %part{i} : {place} -> {vector}\n"
    body += f"""
      %z = arith.{op} %x0, %x1 : {vector}
      mosaic_gpu.vector_store %z, %part2 : {vector}, {place}
    """
    dtype = ml_dtypes.float8_e8m0fnu
    out = np.zeros((256, 256), np.uint8)
    run(module([((256, 256), "f8E8M0FNU")] * 3, body, grid=(4, 1, 1)), x.view(dtype), y.view(dtype), out.view(dtype))
    with np.errstate(all="ignore"):
        wanted = x.view(dtype) * y.view(dtype) if op == "mulf" else x.view(dtype) / y.view(dtype)
    np.testing.assert_array_equal(out, wanted.view(np.uint8))


@pytest.mark.parametrize(("source", "target"), [("f32", "i32"), ("f32", "f16"), ("f16", "i64"), ("i8", "i4")])
@pytest.mark.parametrize("layout", ["", WGMMA])
def test_layouts_of_bits_are_inferred(source: str, target: str, layout: str) -> None:
    bits = [int(element[1:]) for element in (source, target)]
    columns = 64 * bits[0] // bits[1]
    first, second = f"vector<64x64x{source}>", f"vector<64x{columns}x{target}>"
    body = f"%l = mosaic_gpu.vector_load %a0 : {memref((64, 64), source)} -> {first}\n"
    name = "%l"
    if layout and bits[1] <= 2 * bits[0]:
        name = "%m"
        body += f"%m = mosaic_gpu.layout_cast x(%l : {first}) {{new_layout = {layout}}}\n"
    body += f"""
      %t = vector.bitcast {name} : {first} to {second}
      mosaic_gpu.vector_store %t, %a1 : {second}, {memref((64, columns), target)}
    """
    x = np.random.default_rng(3).integers(0, 256, (64, 8 * bits[0])).astype(np.uint8)
    types = {**TYPES, "i8": np.int8, "i4": np.int8}
    out = np.zeros_like(x).view(types[target])
    text = module([((64, 64), source), ((64, columns), target)], body)
    # The simulator has no packed vectors at this level.
    for machine in ("emu:sm_90a", "sim:sm_90a")[: 1 if target == "i4" else 2]:
        out[...] = 0
        smalti.compile(text, target=machine)(x.view(types[source]), out)
        np.testing.assert_array_equal(out.view(np.uint8), x)


BITS = """
#wide = {wide}
#narrow = {narrow}
module attributes {{gpu.container_module}} {{
  gpu.module @bits_module {{
    gpu.func @bits(%a: {source}, %b: {target}) kernel
        attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      %x = mosaic_gpu.vector_load %a {{out_layouts = [#{first}]}} : {source} -> {from_vector}
      %y = vector.bitcast %x {{in_layouts = [#{first}], out_layouts = [#{second}]}} : {from_vector} to {to_vector}
      mosaic_gpu.vector_store %y, %b {{in_layouts = [#{second}]}} : {to_vector}, {target}
      gpu.return
    }}
  }}
}}
"""


@pytest.mark.parametrize("wide, narrow", [("f32", "f16"), ("i32", "f16"), ("i64", "i32")])
@pytest.mark.parametrize("splits", [True, False])
def test_bits_of_other_widths(wide: str, narrow: str, splits: bool) -> None:
    long, short = memref((64, 64), wide), memref((64, 128), narrow)
    vectors = [f"vector<64x64x{wide}>", f"vector<64x128x{narrow}>"]
    order = (0, 1) if splits else (1, 0)
    memrefs, names = (long, short), ("wide", "narrow")
    source = BITS.format(
        wide=WGMMA,
        narrow=WGMMA_HALVES,
        source=memrefs[order[0]],
        target=memrefs[order[1]],
        from_vector=vectors[order[0]],
        to_vector=vectors[order[1]],
        first=names[order[0]],
        second=names[order[1]],
    )
    x = np.random.default_rng(8).integers(0, 256, 64 * 64 * np.dtype(TYPES[wide]).itemsize).astype(np.uint8)
    types = (np.dtype(TYPES[wide]), np.dtype(TYPES[narrow]))
    shapes = ((64, 64), (64, 128))
    given = x.view(types[order[0]]).reshape(shapes[order[0]])
    out = np.zeros(shapes[order[1]], types[order[1]])
    smalti.compile(source, target="emu:sm_90a")(given, out)
    np.testing.assert_array_equal(out.reshape(-1).view(np.uint8), x)


def test_output_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Each element once, whichever thread has it; and layouts when it is compiled."""
    body = f"""
      %l = mosaic_gpu.vector_load %a0 {{optimized = false}} : {memref((64,), "f32")} -> vector<64xf32>
      %v = mosaic_gpu.layout_cast x(%l : vector<64xf32>) {{new_layout = {WGMMA_ROW}}}
      mosaic_gpu.print_layout "v is {{}}", %v : vector<64xf32>
      mosaic_gpu.debug_print "x{{}} (5%)", %v : vector<64xf32>
      %s = arith.constant dense<-3> : vector<64xi32>
      mosaic_gpu.debug_print "s = {{}}", %s : vector<64xi32>
    """
    kernel = smalti.compile(module([((64,), "f32")], body), target="emu:sm_90a")
    x = np.arange(64, dtype=np.float32) / 4
    kernel(x)
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == sorted([f"x[{i}]: {x[i]:.6f} (5%)" for i in range(64)] + ["s = -3"])
    assert [remark.message for remark in kernel.remarks if "v is" in remark.message] == [f"v is {WGMMA_ROW}"]
