# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written thread-level kernels with `wgmma`: matrices in shared memory without swizzles."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from helpers import SHARED, gpu_kernel

ROWS = 64
K_BYTES = 32
"""The number of elements along k of one `wgmma`."""

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}


def depth(kind: str) -> int:
    return K_BYTES // np.dtype(DTYPES[kind]).itemsize


def in_memory(matrix: np.ndarray, transposed: bool) -> np.ndarray:
    """The bytes of a matrix (rows of A, or columns of B, by k): eights of rows, halves of k, eight chunks of 16 bytes.

    PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions: Shared Memory Matrix Layout", without a swizzle.
    """
    rows, k = matrix.shape
    if transposed:
        # A chunk has eight rows of one k.
        parts = matrix.reshape(rows // 8, 8, k // 8, 8).transpose(0, 2, 3, 1)
    else:
        parts = matrix.reshape(rows // 8, 8, 2, k // 2).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(parts).view(np.uint8).reshape(-1).view(np.int8)


def in_registers(matrix: np.ndarray) -> np.ndarray:
    """The four words of each lane that has a part of A: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNkK"."""
    width = 4 // matrix.itemsize
    words = np.empty((128, 4, width), matrix.dtype)
    for lane in range(128):
        g, t = divmod(lane % 32, 4)
        for register in range(4):
            row = 16 * (lane // 32) + g + 8 * (register % 2)
            column = register // 2 * 4 * width + t * width
            words[lane, register] = matrix[row, column : column + width]
    return words.view(np.int32).reshape(128, 4)


def accumulators(matrix: np.ndarray) -> np.ndarray:
    """The elements of each lane: PTX ISA, "Accumulator D"."""
    lane, i = np.arange(128)[:, None], np.arange(matrix.shape[1] // 2)[None, :]
    return matrix[16 * (lane // 32) + lane % 32 // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2]


FENCE = "nvvm.wgmma.fence.aligned"
COMMIT = "nvvm.wgmma.commit.group.sync.aligned"
WAIT = "nvvm.wgmma.wait.group.sync.aligned 0"


def copy(name: str, size: int) -> list[str]:
    """All threads copy bytes of an argument to shared memory, 16 at a time."""
    space = f"memref<{size}xi8, {SHARED}>"
    lines = [f"%s{name} = memref.alloc() {{alignment = 1024 : i64}} : {space}"]
    for first in range(0, size, 2048):
        lines += [
            f"%{name}first{first} = arith.constant {first} : index",
            f"%{name}at{first} = arith.addi %chunk, %{name}first{first} : index",
        ]
        within = f"%{name}in{first}"
        lines += [
            f"%{name}end{first} = arith.constant {size} : index",
            f"{within} = arith.cmpi ult, %{name}at{first}, %{name}end{first} : index",
            f"scf.if {within} {{",
            f"  %{name}v{first} = vector.load %{name}[%{name}at{first}] : memref<{size}xi8>, vector<16xi8>",
            f"  vector.store %{name}v{first}, %s{name}[%{name}at{first}] : {space}, vector<16xi8>",
            "}",
        ]
    return lines


def descriptor(name: str, size: int) -> list[str]:
    """The matrix descriptor of what was copied: 128 bytes between the halves of k, 256 between eights of rows."""
    bits = 128 >> 4 << 16 | 256 >> 4 << 32
    return [
        f"%{name}p = memref.extract_aligned_pointer_as_index %s{name} : memref<{size}xi8, {SHARED}> -> index",
        f"%{name}w = arith.index_cast %{name}p : index to i64",
        f"%{name}s = arith.shrui %{name}w, %four : i64",
        f"%{name}u = arith.andi %{name}s, %field : i64",
        f"%{name}bits = arith.constant {bits} : i64",
        f"%{name}d = arith.ori %{name}u, %{name}bits : i64",
    ]


def structure(register: str, count: int) -> str:
    return f"!llvm.struct<({', '.join([register] * count)})>"


def pack(values: list[str], register: str, name: str) -> list[str]:
    """A structure of registers."""
    ty = structure(register, len(values))
    names = [*(f"%{name}_{i}" for i in range(len(values))), f"%{name}"]
    lines = [f"{names[0]} = llvm.mlir.poison : {ty}"]
    for i, value in enumerate(values):
        lines.append(f"{names[i + 1]} = llvm.insertvalue {value}, {names[i]}[{i}] : {ty}")
    return lines


def shared_wgmma(
    name: str,
    start: str,
    columns: int,
    kinds: tuple[str, str, str],
    register: str,
    transposed: tuple[bool, bool] = (False, False),
    scale: str = "one",
    sign: str = "one",
    saturated: bool = False,
    descriptors: tuple[str, str] = ("%ad", "%bd"),
) -> str:
    """A matmul of matrices in shared memory; `kinds` are the types of the accumulator, of A and of B."""
    sums, a, b = kinds
    count = columns * (2 if sums == "f16" else 4) // 8
    ty = structure(register, count)
    layouts = ("col" if transposed[0] else "row", "row" if transposed[1] else "col")
    more = ", <satfinite>" if saturated else ""
    return (
        f"%{name} = nvvm.wgmma.mma_async {descriptors[0]}, {descriptors[1]}, {start}, "
        f"#nvvm.shape<m = 64, n = {columns}, k = {depth(a)}>, D [<{sums}>, <{scale}>{more}], "
        f"A [<{a}>, <{sign}>, <{layouts[0]}>], B [<{b}>, <one>, <{layouts[1]}>] : {ty} -> {ty}"
    )


def kernel(arguments: str, lines: list[str], threads: int = 128) -> str:
    body = "\n    ".join(lines)
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %four = arith.constant 4 : i64
    %field = arith.constant 0x3fff : i64
    %chunk = arith.muli %t, %c16 : index
    {body}""",
        threads,
    )


PROXY = ["nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}", "gpu.barrier"]


def loads(name: str, count: int, ty: str, into: str) -> list[str]:
    """The numbers of each thread in a row of an argument."""
    lines = []
    for i in range(count):
        lines += [
            f"%{into}i{i} = arith.constant {i} : index",
            f"%{into}v{i} = memref.load %{name}[%t, %{into}i{i}] : memref<128x{count}x{ty}>",
        ]
    return lines


def stores(value: str, register: str, count: int, name: str = "o", prefix: str = "r") -> list[str]:
    """Stores the registers of a structure as rows of threads."""
    lines = []
    for i in range(count):
        lines += [
            f"%{prefix}x{i} = llvm.extractvalue {value}[{i}] : {structure(register, count)}",
            f"%{prefix}i{i} = arith.constant {i} : index",
            f"memref.store %{prefix}x{i}, %{name}[%t, %{prefix}i{i}] : memref<128x{count}x{register}>",
        ]
    return lines
