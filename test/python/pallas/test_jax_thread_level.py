# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches in the form of JAX's lane semantics (upstream dialects only), from tensor maps of the host to numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from jax_programs import ELEMENTS, module, run, tensor_maps

NUMPY: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
}


def copy_program(element: int, shape: tuple[int, int], box: tuple[int, int], swizzle: int, name: str = "test") -> str:
    """Loads a box at (8, 16) through one tensor map and stores it at (0, 0) through another one."""
    spelling = ELEMENTS[element]
    bits = 4 if spelling == "i4" else 2 if spelling == "i2" else int("".join(filter(str.isdigit, spelling)))
    size = box[0] * box[1] * bits // 8
    described = [(argument, element, shape, (shape[1], 1), box, swizzle) for argument in (0, 1)]
    host, maps = tensor_maps(*described)
    column = 16 * bits // 8 if bits < 8 else 16
    body = f"""{maps}
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %described = builtin.unrealized_conversion_cast %shared : memref<?xi8, #gpu.address_space<workgroup>>
          to !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %tile = llvm.extractvalue %described[1] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
      %barrier = llvm.getelementptr %tile[{size}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %row = arith.constant 8 : i32
      %column = arith.constant {column} : i32
      %size = arith.constant {size} : i32
      %ticks = arith.constant 10000000 : i32
      %zero = arith.constant 0 : index
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %zero : index
      nvvm.mbarrier.init %barrier, %c1, predicate = %is_first : !llvm.ptr<3>, i32, i1
      nvvm.fence.mbarrier.init
      gpu.barrier
      nvvm.mbarrier.arrive.expect_tx %barrier, %size, predicate = %is_first : !llvm.ptr<3>, i32, i1
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map0, %barrier, box[%column, %row] predicate = %is_first
          : !llvm.ptr<3>, !llvm.ptr
      nvvm.mbarrier.try_wait.parity %barrier, %c0, %ticks : !llvm.ptr<3>, i32, i32
      nvvm.cp.async.bulk.tensor.global.shared.cta %map1, %tile, box[%c0, %c0], predicate = %is_first : !llvm.ptr, <3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    """
    arguments = [(shape, spelling)] * 2
    return module(arguments, body, threads=96, shared_bytes=size + 8, host=host, name=name)


@pytest.mark.parametrize(
    "element, shape, box, swizzle",
    [
        (1, (16, 64), (8, 32), 32),
        (2, (32, 64), (8, 16), 16),
        (3, (16, 64), (8, 32), 128),
        (4, (16, 32), (4, 8), 64),
        (5, (24, 64), (16, 32), 64),
        (6, (16, 48), (8, 4), 16),
        (7, (16, 64), (8, 64), 128),
        (9, (16, 32), (8, 8), 32),
    ],
)
def test_copies_through_tensor_maps_of_the_host(
    element: int, shape: tuple[int, int], box: tuple[int, int], swizzle: int
) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(-100, 100, shape).astype(NUMPY[ELEMENTS[element]])
    out = np.zeros_like(values)
    run(copy_program(element, shape, box, swizzle), values, out)
    expected = np.zeros_like(values)
    part = values[8 : 8 + box[0], 16 : 16 + box[1]]
    expected[: part.shape[0], : part.shape[1]] = part
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("element, count", [(0, 2), (8, 4)])
def test_elements_that_share_a_byte_are_copied_as_bytes(element: int, count: int) -> None:
    shape = (16, 64 * count)
    values = np.random.default_rng(1).integers(-128, 128, (16, 64)).astype(np.int8)
    out = np.zeros_like(values)
    run(copy_program(element, shape, (8, 16 * count), 16), values, out)
    first = 16 // count
    np.testing.assert_array_equal(out[:8, :16], values[8:16, first : first + 16])
    assert not out[8:].any() and not out[:, 16:].any()


def test_threads_and_grids_of_any_shape() -> None:
    """The launch has the given block size: a block of 20 threads has 20."""
    body = """
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %number = arith.addi %first, %thread : index
      %value = vector.load %a0[%number] : memref<60xf32>, vector<1xf32>
      %twice = arith.addf %value, %value : vector<1xf32>
      vector.store %twice, %a1[%number] : memref<60xf32>, vector<1xf32>
    """
    values = np.arange(60, dtype=np.float32)
    out = np.zeros_like(values)
    run(module([((60,), "f32")] * 2, body, threads=20, grid=(3, 1, 1)), values, out)
    np.testing.assert_array_equal(out, values * 2)


def without_memref(text: str, argument: int) -> str:
    """The module after JAX has dropped the memref of an argument that no code uses."""
    gone = (f"%p{argument} =", f"%g{argument} =", f"%d{argument}_", f"%u{argument} =", f"%a{argument} =")
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith(gone))


@pytest.mark.parametrize("dropped", [(0,), (1,), (0, 2), ()])
def test_an_unused_argument_keeps_its_position(dropped: tuple[int, ...]) -> None:
    shapes: list[tuple[tuple[int, ...], str]] = [((128,), "f32")] * 5
    body = """
      %value = mosaic_gpu.vector_load %a3 : memref<128xf32> -> vector<128xf32>
      mosaic_gpu.vector_store %value, %a4 : vector<128xf32>, memref<128xf32>
    """
    text = module(shapes, body)
    for argument in dropped:
        text = without_memref(text, argument)
    kernel = smalti.compile(text, target="emu:sm_90a")
    assert [argument.is_unused for argument in kernel.arguments] == [i in dropped for i in range(5)]
    arrays: list[Any] = [np.full(128, i, np.float32) for i in range(5)]
    for argument in dropped:
        arrays[argument] = None
    kernel(*arrays)
    np.testing.assert_array_equal(arrays[4], np.full(128, 3))
    arrays[4][:] = 0
    smalti.compile(text, target="sim:sm_90a")(*arrays)
    np.testing.assert_array_equal(arrays[4], np.full(128, 3))
    kernel = smalti.compile(text, target="sm_90a")
    assert kernel.asm["ptx"].count("_param_") >= 5


NAMES = (
    "_",
    "__",
    "$",
    "WARP_SZ",
    "1st",
    "a-b",
    "f<int>",
    "\u00e9t\u00e9",
    "two words",
    "add",
    "b32",
    "v0",
    "s_endpgm",
    "exec",
)
"""Names that some assembler does not parse as a symbol."""


@pytest.mark.grid(14)
@pytest.mark.parametrize("target", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_no_assembler_takes(target: str, name: str) -> None:
    quoted = name if name.isidentifier() and name.isascii() else f'"{name}"'
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @{quoted}(%x: memref<64xf32>) kernel
        attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      %thread = gpu.thread_id x
      %one = arith.constant 1.0 : f32
      memref.store %one, %x[%thread] : memref<64xf32>
      gpu.return
    }}
  }}
}}
"""
    kernel = smalti.compile(text, target=target)
    assert kernel.entry.name == name
    assert kernel.binary_format in ("cubin", "hsaco")
    assert kernel.symbol.isascii() and kernel.symbol.encode() in kernel.binary
    assert (kernel.symbol == name) == (name in ("add", "b32", "v0", "s_endpgm", "exec", "__x"))


def test_a_module_of_the_name_underscore() -> None:
    """JAX names the function of a lambda so."""
    body = "%c0 = arith.constant 0 : index\n%x = memref.load %a0[%c0] : memref<8xf32>\nmemref.store %x, %a1[%c0] : memref<8xf32>"
    values, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    text = module([((8,), "f32")] * 2, body, threads=32, name="_")
    assert smalti.compile(text, target="sm_90a").binary_format == "cubin"
    run(text, values, out)
    assert out[0] == 1
