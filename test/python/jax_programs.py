# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in the form in which JAX Mosaic GPU emits them, around a body that a test writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import smalti
from smalti.emulator import Emulation

CHIP = "sm_90a"


def run(source: str | Path, *arrays: Any, **emulation: Any) -> None:
    """Runs the kernel of a module on the emulated chip."""
    smalti.compile(source, target=f"emu:{CHIP}", emulation=Emulation(**emulation))(*arrays)


def _descriptor(shape: Sequence[int]) -> str:
    rank = len(shape)
    arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    return f"!llvm.struct<(ptr, ptr, i64{arrays})>"


def memref(shape: Sequence[int], element: str) -> str:
    return f"memref<{''.join(f'{size}x' for size in shape)}{element}>"


def shared(shape: Sequence[int], element: str, layout: str = "") -> str:
    """The type of a memref in shared memory."""
    sizes = "".join(f"{size}x" for size in shape)
    return f"memref<{sizes}{element}{layout and ', ' + layout}, #gpu.address_space<workgroup>>"


ENCODER = (
    "func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)"
)


def tensor_maps(*described: tuple[int, int, Sequence[int], Sequence[int], Sequence[int], int]) -> tuple[str, str]:
    """Host code that encodes tensor maps as JAX's lane semantics does, and device code that names them %map0 and so on.

    Each is (argument, number of the element type, sizes, strides, box, swizzle in bytes).
    """
    host = ["%maps_one = arith.constant 1 : i64"]
    array = f"!llvm.array<{128 * len(described)} x i8>"
    host.append(f"%maps = llvm.alloca %maps_one x {array} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
    for number, (argument, element, sizes, strides, box, swizzle) in enumerate(described):
        m = f"%m{number}"
        host.append(f"{m} = llvm.getelementptr %maps[{128 * number}] : (!llvm.ptr) -> !llvm.ptr, i8")
        type_ = memref(sizes, ELEMENTS[element])
        host.append(f"{m}_index = memref.extract_aligned_pointer_as_index %a{argument} : {type_} -> index")
        host.append(f"{m}_number = arith.index_cast {m}_index : index to i64")
        host.append(f"{m}_start = llvm.inttoptr {m}_number : i64 to !llvm.ptr")
        host.append(f"{m}_rank = arith.constant {len(sizes)} : i64")
        for which, values in (("sizes", sizes), ("strides", strides), ("box", box)):
            host.append(f"{m}_{which} = llvm.alloca {m}_rank x i64 : (i64) -> !llvm.ptr")
            for i, value in enumerate(values):
                host.append(f"{m}_{which}_{i} = arith.constant {value} : i64")
                host.append(f"{m}_{which}_at{i} = llvm.getelementptr {m}_{which}[{i}] : (!llvm.ptr) -> !llvm.ptr, i64")
                host.append(f"llvm.store {m}_{which}_{i}, {m}_{which}_at{i} : i64, !llvm.ptr")
        host.append(f"{m}_type = arith.constant {element} : i64")
        host.append(f"{m}_swizzle = arith.constant {swizzle} : i64")
        operands = f"{m}, {m}_start, {m}_type, {m}_rank, {m}_sizes, {m}_strides, {m}_swizzle, {m}_box"
        types = "(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()"
        host.append(f"func.call @mosaic_gpu_init_tma_desc({operands}) : {types}")
    host.append(f"%maps_value = llvm.load %maps : !llvm.ptr -> {array}")
    device = [f"%maps_held = builtin.unrealized_conversion_cast %maps_value : {array} to !llvm.ptr"]
    for number in range(len(described)):
        device.append(f"%map{number} = llvm.getelementptr %maps_held[{128 * number}] : (!llvm.ptr) -> !llvm.ptr, i8")
    return "\n    ".join(host), "\n      ".join(device)


ELEMENTS = ("i4", "i8", "i16", "i32", "i64", "f16", "f32", "bf16", "i2", "i32", "i64")
"""The element types of JAX's tensor maps, by number."""

BARRIER = "memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>"


def barriers(offset: int, arrivals: int = 1, count: int = 1) -> str:
    """Barriers in shared memory, %barrier0, %barrier1 etc., initialized and visible to the whole block afterwards."""
    run = f"memref<{count}x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>"
    struct = "!llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>"
    lines = [
        f"%barriers = mosaic_gpu.slice_smem {offset} : {run}",
        f"%barriers_described = builtin.unrealized_conversion_cast %barriers : {run} to {struct}",
        f"%barriers_at = llvm.extractvalue %barriers_described[1] : {struct}",
        f"mosaic_gpu.initialize_barrier %barriers_at {{arrival_count = {arrivals} : i64, num_barriers = {count} : i32}} "
        ": !llvm.ptr<3>",
    ]
    for number in range(count):
        lines.append(f"%at{number} = llvm.getelementptr %barriers_at[{number}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64")
        lines.append(f"%barrier{number} = builtin.unrealized_conversion_cast %at{number} : !llvm.ptr<3> to {BARRIER}")
    lines += ["nvvm.fence.mbarrier.init", "gpu.barrier"]
    return "\n      ".join(lines) + "\n"


def module(
    arguments: Sequence[tuple[Sequence[int], str]],
    body: str,
    *,
    threads: int = 128,
    grid: Sequence[int] = (1, 1, 1),
    cluster: int = 1,
    shared_bytes: int = 0,
    constants: str = "",
    host: str = "",
    name: str = "test",
) -> str:
    """A module with one launch, whose body sees the entry's memrefs as %a0, %a1 and so on, and the values of the `host`
    code. Clusters are along x."""
    lines: list[str] = []
    numbers: dict[int, str] = {}

    def number(value: int) -> str:
        if value not in numbers:
            numbers[value] = f"%n{len(numbers)}"
        return numbers[value]

    for index, (shape, element) in enumerate(arguments):
        struct = _descriptor(shape)
        strides = [1] * len(shape)
        for dim in reversed(range(len(shape) - 1)):
            strides[dim] = strides[dim + 1] * shape[dim + 1]
        fields = [(f"%p{index}", "0"), (f"%p{index}", "1"), (number(0), "2")]
        fields += [(number(size), f"3, {dim}") for dim, size in enumerate(shape)]
        fields += [(number(stride), f"4, {dim}") for dim, stride in enumerate(strides)]
        place = "%pointers"
        if index > 0:
            place = f"%g{index}"
            lines.append(f"{place} = llvm.getelementptr %pointers[{index}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
        lines.append(f"%p{index} = llvm.load {place} : !llvm.ptr -> !llvm.ptr")
        last = f"%u{index}"
        lines.append(f"{last} = llvm.mlir.undef : {struct}")
        for step, (value, position) in enumerate(fields):
            lines.append(f"%d{index}_{step} = llvm.insertvalue {value}, {last}[{position}] : {struct}")
            last = f"%d{index}_{step}"
        lines.append(
            f"%a{index} = builtin.unrealized_conversion_cast {last} : {struct} to {memref(shape, element)} "
            f"{{mosaic_gpu.from_kernel_arg_idx = {index} : i32, mosaic_gpu.original_kernel_arg}}"
        )
    head = [f"{name} = llvm.mlir.constant({value} : i64) : i64" for value, name in numbers.items()]
    x, y, z = grid
    clusters = ""
    if cluster > 1:
        head.append(f"%cluster = arith.constant {cluster} : index")
        clusters = "clusters(%cx, %cy, %cz) in (%kx = %cluster, %ky = %one, %kz = %one) "
    text = "\n    ".join(head + lines)
    return f"""
module @test attributes {{mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32}} {{
  {ENCODER}
  func.func @{name}_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) attributes {{llvm.emit_c_interface}} {{
    %one = arith.constant 1 : index
    %gridx = arith.constant {x} : index
    %gridy = arith.constant {y} : index
    %gridz = arith.constant {z} : index
    %threads = arith.constant {threads} : index
    %bytes = arith.constant {shared_bytes} : i32
    {constants}
    {text}
    {host}
    gpu.launch {clusters}blocks(%bx, %by, %bz) in (%gx = %gridx, %gy = %gridy, %gz = %gridz)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) dynamic_shared_memory_size %bytes {{
      {body}
      gpu.terminator
    }}
    return
  }}
}}
"""


def pack(values: np.ndarray) -> np.ndarray:
    """Two to a byte, the first in the low bits."""
    low, high = values[..., ::2].astype(np.uint8) & 15, values[..., 1::2].astype(np.uint8) & 15
    return (low | high << 4).view(np.int8)


def parts_of_packed_rows() -> tuple[str, np.ndarray, np.ndarray]:
    """A program that widens parts of rows of i4, which begin at even elements; its input, a number each, and its result."""
    shape, part = (64, 256), "memref<64x128xi4, strided<[256, 1], offset: ?>>"
    body = f"""
      %b = gpu.block_id x
      %c64 = arith.constant 64 : index
      %from = arith.muli %b, %c64 : index
      %p = memref.subview %a0[0, %from] [64, 128] [1, 1] : {memref(shape, "i4")} to {part}
      %x = mosaic_gpu.vector_load %p : {part} -> vector<64x128xi4>
      %w = arith.extui %x : vector<64x128xi4> to vector<64x128xi32>
      %o = memref.subview %a1[%b, 0, 0] [1, 64, 128] [1, 1, 1]
          : {memref((3, 64, 128), "i32")} to memref<64x128xi32, strided<[128, 1], offset: ?>>
      mosaic_gpu.vector_store %w, %o : vector<64x128xi32>, memref<64x128xi32, strided<[128, 1], offset: ?>>
    """
    x = np.random.default_rng(4).integers(0, 16, shape)
    expected = np.stack([x[:, 64 * b : 64 * b + 128] for b in range(3)]).astype(np.int32)
    return module([(shape, "i4"), ((3, 64, 128), "i32")], body, grid=(3, 1, 1)), x, expected
