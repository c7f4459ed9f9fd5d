# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds of a pass, against the number of ops of the program.

Each pass runs in isolation, without the verifier, on programs that grow in one direction: longer loops, more loops, loops
inside loops, more buffers, more ops of a kind. Sizes grow from 1000 to `--most` ops, two to each power of ten. Each time
is the minimum of `--repeat` runs on fresh modules, parsed before the clock starts. It is process time, because wall time
says less on a shared machine.

`exponent` is the slope of time over size between a tenth of the largest size and the largest, both on logarithmic scales:
1 is linear. A program that grows tenfold takes 10 ** exponent times as long. `applied` states that the pass changed the
program: a refusal is fast. A case ends early if a size took more than `--patience` seconds.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import _hopper_programs as hopper
import _record
from rich.table import Table
from smalti import ir
from smalti.passmanager import PassManager

SMALLEST = 1000
"""Ops of the smallest program."""

SHARED = "#gpu.address_space<workgroup>"
PRELUDE = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : vector<4xf32>
  %t = gpu.thread_id x
"""


def function(body: str, arguments: str = "%a: memref<64x1024xf32>, %out: memref<1024xf32>") -> str:
    return f"func.func @f({arguments}) {{{PRELUDE}{body}  return\n}}\n"


def buffer(name: str) -> str:
    return f"  %{name} = memref.alloc() : memref<1024xf32, {SHARED}>\n"


def copy_through(i: str, shared: str, suffix: str) -> str:
    """A read of global memory that goes through shared memory: 5 ops and 2 barriers."""
    return f"""
    %r{suffix} = vector.transfer_read %a[%{i}, %c0], %zero {{in_bounds = [true]}} : memref<64x1024xf32>, vector<1024xf32>
    vector.transfer_write %r{suffix}, %{shared}[%c0] {{in_bounds = [true]}} : vector<1024xf32>, memref<1024xf32, {SHARED}>
    gpu.barrier
    %b{suffix} = vector.load %{shared}[%t] : memref<1024xf32, {SHARED}>, vector<4xf32>
"""


def chain(value: str, length: int, suffix: str) -> tuple[str, str]:
    """`length` ops on vectors, each on the result of the one before."""
    lines = []
    for number in range(length):
        lines.append(f"    %x{suffix}_{number} = arith.addf %{value}, %b{suffix} : vector<4xf32>\n")
        value = f"x{suffix}_{number}"
    return "".join(lines), value


def loop(suffix: str, shared: str, length: int, indent: str = "") -> str:
    """A loop that can be pipelined, of `length` + 8 ops."""
    ops, last = chain(f"acc{suffix}", length, suffix)
    return (
        f"{indent}  %sum{suffix} = scf.for %i{suffix} = %c0 to %c64 step %c1 iter_args(%acc{suffix} = %init) -> "
        f"vector<4xf32> {{{copy_through('i' + suffix, shared, suffix)}{ops}"
        f"    gpu.barrier\n    scf.yield %{last} : vector<4xf32>\n{indent}  }}\n"
        f"  vector.store %sum{suffix}, %out[%t] : memref<1024xf32>, vector<4xf32>\n"
    )


def one_loop(ops: int) -> str:
    """One long loop with one buffer, most of it computing."""
    return function(buffer("s") + loop("0", "s", ops))


def many_accesses(ops: int) -> str:
    """One loop with one buffer and many accesses of it."""
    count = ops // 2
    lines = [f"    %x{n} = vector.load %s[%t] : memref<1024xf32, {SHARED}>, vector<4xf32>\n" for n in range(count)]
    lines.append("    %y0 = arith.addf %acc, %x0 : vector<4xf32>\n")
    lines += [f"    %y{n} = arith.addf %y{n - 1}, %x{n} : vector<4xf32>\n" for n in range(1, count)]
    return function(
        buffer("s")
        + "  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<4xf32> {"
        + copy_through("i", "s", "")
        + "".join(lines)
        + f"    gpu.barrier\n    scf.yield %y{count - 1} : vector<4xf32>\n  }}\n"
        + "  vector.store %sum, %out[%t] : memref<1024xf32>, vector<4xf32>\n"
    )


def many_buffers(ops: int) -> str:
    """One loop with many buffers, each written and read once."""
    count = ops // 6
    names = [f"s{n}" for n in range(count)]
    writes, reads = [], []
    for number, name in enumerate(names):
        access = copy_through("i", name, str(number)).split("    gpu.barrier\n")
        writes.append(access[0])
        reads.append(access[1])
    lines = ["    %y0 = arith.addf %acc, %b0 : vector<4xf32>\n"]
    lines += [f"    %y{n} = arith.addf %y{n - 1}, %b{n} : vector<4xf32>\n" for n in range(1, count)]
    return function(
        "".join(map(buffer, names))
        + "  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> vector<4xf32> {\n"
        + "".join(writes)
        + "    gpu.barrier\n"
        + "".join(reads)
        + "".join(lines)
        + f"    gpu.barrier\n    scf.yield %y{count - 1} : vector<4xf32>\n  }}\n"
        + "  vector.store %sum, %out[%t] : memref<1024xf32>, vector<4xf32>\n"
    )


def many_small_buffers(ops: int) -> str:
    """Buffers of 16 bytes that all fit in shared memory as far as the chip has it, and accesses of them."""
    count = min(ops // 4, 8192)
    type = f"memref<4xf32, {SHARED}>"
    allocs = "".join(f"  %s{n} = memref.alloc() : {type}\n" for n in range(count))
    return function(
        allocs + "".join(f"  memref.store %zero, %s{n % count}[%c0] : {type}\n" for n in range(ops - count))
    )


def many_loops(ops: int) -> str:
    """Loops one after another, each with its own buffer."""
    parts = []
    for number in range(ops // 20):
        parts.append(buffer(f"s{number}") + loop(str(number), f"s{number}", 9) + "  gpu.barrier\n")
    return function("".join(parts))


def same_buffer(ops: int) -> str:
    """Loops one after another that use one buffer in turn."""
    parts = [buffer("s")]
    parts += [loop(str(number), "s", 9) + "  gpu.barrier\n" for number in range(ops // 20)]
    return function("".join(parts))


def nested(ops: int) -> str:
    """Consecutive loops in a loop of a loop, all on one buffer."""
    inner = "".join(loop(str(number), "s", 9) + "  gpu.barrier\n" for number in range(ops // 20))
    return function(
        buffer("s")
        + "  scf.for %p = %c0 to %c64 step %c1 {\n  scf.for %q = %c0 to %c64 step %c1 {\n"
        + inner
        + "  }\n  }\n"
    )


def async_copies(ops: int) -> str:
    """One loop with asynchronous copies in one group, and computing."""
    count = max(1, ops // 8)
    allocs = "".join(f"  %s{n} = memref.alloc() : memref<64x32xf16, {SHARED}>\n" for n in range(count))
    copies = "".join(
        f"    mosaic_gpu.async_copy %m[%c0, %k] to %s{n} : memref<500x300xf16> to memref<64x32xf16, {SHARED}>\n"
        for n in range(count)
    )
    loads = "".join(
        f"    %v{n} = mosaic_gpu.vector_load %s{n} : memref<64x32xf16, {SHARED}> -> vector<64x32xf16>\n"
        f"    %w{n} = arith.addf %v{n}, %{'acc' if n == 0 else f'w{n - 1}'} : vector<64x32xf16>\n"
        for n in range(count)
    )
    return function(
        allocs
        + "  %c32 = arith.constant 32 : index\n  %c300 = arith.constant 300 : index\n"
        + "  %first = arith.constant dense<0.0> : vector<64x32xf16>\n"
        + "  %sum = scf.for %k = %c0 to %c300 step %c32 iter_args(%acc = %first) -> vector<64x32xf16> {\n"
        + copies
        + "    mosaic_gpu.async_commit_group\n    mosaic_gpu.async_wait_group 0\n    gpu.barrier\n"
        + loads
        + f"    gpu.barrier\n    scf.yield %w{count - 1} : vector<64x32xf16>\n  }}\n"
        + "  vector.transfer_write %sum, %m[%c0, %c0] : vector<64x32xf16>, memref<500x300xf16>\n",
        "%m: memref<500x300xf16>",
    )


def masked_transfers(ops: int) -> str:
    """Reads and writes that overhang."""
    lines = "".join(
        f"  %r{n} = vector.transfer_read %a[%p, %q], %zero : memref<500x300xf32>, vector<4x4xf32>\n"
        f"  vector.transfer_write %r{n}, %a[%q, %p] : vector<4x4xf32>, memref<500x300xf32>\n"
        for n in range(ops // 2)
    )
    return function(lines, "%a: memref<500x300xf32>, %p: index, %q: index")


def windows(ops: int) -> str:
    """A block-level kernel that reads many windows of one array."""
    attributes = "{in_layouts = [#strided, #strided], out_layouts = [#strided]}"
    lines = "".join(
        f"    %r{n} = vector.transfer_read %a[%i{n}], %zero {{out_layouts = [#strided]}} : memref<500xf32>, vector<64xf32>\n"
        f"    %s{n} = arith.addf %{f's{n - 1}' if n else 'first'}, %r{n} {attributes} : vector<64xf32>\n"
        for n in range(ops // 3)
    )
    indices = "".join(f"    %i{n} = arith.constant {n % 480} : index\n" for n in range(ops // 3))
    return (
        "#strided = #mosaic_gpu.WGStridedFragLayout<[64], 1>\n"
        "gpu.module @m {\n  gpu.func @f(%a: memref<500xf32>, %b: memref<64xf32>) kernel\n"
        "      attributes {known_block_size = array<i32: 64, 1, 1>} {\n"
        "    %c0 = arith.constant 0 : index\n    %zero = arith.constant 0.0 : f32\n"
        + indices
        + "    %first = vector.transfer_read %b[%c0], %zero {out_layouts = [#strided]} : memref<64xf32>, vector<64xf32>\n"
        + lines
        + f"    vector.transfer_write %s{ops // 3 - 1}, %b[%c0] {{in_layouts = [#strided]}} : vector<64xf32>, memref<64xf32>\n"
        "    gpu.return\n  }\n}\n"
    )


def byte_masks(ops: int) -> str:
    """Stores of 4-bit elements under masks, each of which combines the previous one with itself and with another."""
    lines = "".join(
        f"    %d{n} = arith.andi %{f'm{n - 1}' if n else 'mask'}, %{f'm{n - 1}' if n else 'mask'} : vector<8xi1>\n"
        f"    %m{n} = arith.ori %d{n}, %mask : vector<8xi1>\n"
        f"    vector.maskedstore %a[%c0], %m{n}, %x : memref<64xi4>, vector<8xi1>, vector<8xi4>\n"
        for n in range(ops // 3)
    )
    return (
        "gpu.module @m {\n  gpu.func @f(%a: memref<64xi4>, %on: i1, %x: vector<8xi4>) {\n"
        "    %c0 = arith.constant 0 : index\n    %mask = vector.broadcast %on : i1 to vector<8xi1>\n"
        f"{lines}    gpu.return\n  }}\n}}\n"
    )


def contractions(ops: int) -> str:
    """Matmuls of odd sizes."""
    lines = ["  %m0 = arith.addf %z, %z : tensor<30x30xf32>\n"]
    lines += [
        f"  %m{n} = linalg.matmul ins(%x, %y : tensor<30x17xf16>, tensor<17x30xf16>) outs(%m{n - 1} : tensor<30x30xf32>)"
        " -> tensor<30x30xf32>\n"
        for n in range(1, ops // 4)
    ]
    return (
        "func.func @f(%x: tensor<30x17xf16>, %y: tensor<17x30xf16>, %z: tensor<30x30xf32>) -> tensor<30x30xf32> {\n"
        + "".join(lines)
        + f"  return %m{ops // 4 - 1} : tensor<30x30xf32>\n}}\n"
    )


def convolutions(ops: int) -> str:
    """A chain of convolutions."""
    lines = [
        f"  %c{n} = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x10x10x512xf16>, tensor<3x3x512x512xf16>) "
        f"outs(%{'z' if n == 0 else f'c{n - 1}'} : tensor<1x8x8x512xf32>) -> tensor<1x8x8x512xf32>\n"
        for n in range(ops // 6)
    ]
    return (
        "func.func @f(%x: tensor<1x10x10x512xf16>, %w: tensor<3x3x512x512xf16>, %z: tensor<1x8x8x512xf32>)"
        " -> tensor<1x8x8x512xf32> {\n" + "".join(lines) + f"  return %c{ops // 6 - 1} : tensor<1x8x8x512xf32>\n}}\n"
    )


def columns(ops: int) -> str:
    """One buffer, read by columns."""
    lines = "".join(
        f"  %v{n} = memref.load %s[%t, %c1] : memref<32x32xf32, {SHARED}>\n"
        f"  memref.store %v{n}, %out[%t] : memref<32xf32>\n"
        for n in range(ops // 2)
    )
    return function(f"  %s = memref.alloc() : memref<32x32xf32, {SHARED}>\n" + lines, "%out: memref<32xf32>")


def column_buffers(ops: int) -> str:
    """As many buffers as fit in shared memory, written by rows and read by columns."""
    count = min(ops // 4, 48)
    allocs = "".join(f"  %s{n} = memref.alloc() : memref<32x32xf32, {SHARED}>\n" for n in range(count))
    lines = "".join(
        f"  memref.store %zero, %s{n % count}[%c1, %t] : memref<32x32xf32, {SHARED}>\n"
        f"  %v{n} = memref.load %s{n % count}[%t, %c1] : memref<32x32xf32, {SHARED}>\n"
        f"  memref.store %v{n}, %out[%t] : memref<32xf32>\n"
        for n in range((ops - count) // 3)
    )
    return function(allocs + lines, "%out: memref<32xf32>")


def tiles(ops: int) -> str:
    """A tile-level kernel that computes on one tile."""
    lines = "".join(
        f"  %x{n} = arith.addf %{'v' if n == 0 else f'x{n - 1}'}, %v : tensor<64x64xf32>\n" for n in range(ops)
    )
    return (
        "triton_xla.entry_func @f(%a: memref<64x64xf32>, %tile: index) tiles 1 {\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %v = triton_xla.extract %a[%c0, %c0] [64, 64] [1, 1] : memref<64x64xf32> to tensor<64x64xf32>\n"
        f"{lines}  triton_xla.insert %x{ops - 1} into %a[%c0, %c0] [64, 64] [1, 1] : tensor<64x64xf32> into "
        "memref<64x64xf32>\n  triton_xla.return\n}\n"
    )


SLOT = "memref<1x1x64xf32, strided<[?, 64, 1], offset: ?>, #gpu.address_space<workgroup>>"
GLOBAL = "memref<4096xf32, #gpu.address_space<global>>"


def lds_type(rows: int) -> str:
    """Three slots of rows of 64 elements, an argument: the pass runs after shared memory is allocated."""
    return f"memref<3x{rows}x64xf32, #gpu.address_space<workgroup>>"


def lds_loop(suffix: str, rows: int, first: int, copies: int, reads: int) -> str:
    """A loop of three slots that prefetches rows from global memory to LDS, two iterations early, and reads them."""
    lds, slot = lds_type(rows), SLOT.replace("?", str(rows * 64), 1)

    def copy(tag: str, at: str, row: int, place: str) -> str:
        return (
            f"  %to{tag} = memref.subview %lds[{at}, {row}, 0] [1, 1, 64] [1, 1, 1] : {lds} to {slot}\n"
            f"  amdgpu.gather_to_lds %in[{place}], %to{tag}[%c0, %c0, %c0] : f32, {GLOBAL}, {slot}\n"
        )

    prologue = "".join(copy(f"{suffix}_{n}_{at}", f"%c{at}", first + n, "%t") for at in range(2) for n in range(copies))
    inside = "".join(copy(f"{suffix}_{n}", f"%next{suffix}", first + n, f"%place{suffix}") for n in range(copies))
    lines, value = [], f"acc{suffix}"
    for n in range(reads):
        tag = f"{suffix}_{n}"
        lines.append(
            f"    %from{tag} = memref.subview %lds[%this{suffix}, {first + n % copies}, 0] [1, 1, 64] [1, 1, 1] : {lds} to {slot}\n"
            f"    %v{tag} = memref.load %from{tag}[%c0, %c0, %t] : {slot}\n"
            f"    %s{tag} = arith.addf %{value}, %v{tag} : f32\n"
        )
        value = f"s{tag}"
    return (
        prologue
        + f"  %sum{suffix} = scf.for %i{suffix} = %c0 to %c64 step %c1 iter_args(%acc{suffix} = %zero) -> f32 {{\n"
        f"    %j{suffix} = arith.addi %i{suffix}, %c2 : index\n"
        f"    %next{suffix} = arith.remui %j{suffix}, %c3 : index\n"
        f"    %this{suffix} = arith.remui %i{suffix}, %c3 : index\n"
        f"    %offset{suffix} = arith.muli %j{suffix}, %c64 : index\n"
        f"    %place{suffix} = arith.addi %offset{suffix}, %t : index\n"
        f"    amdgpu.memory_counter_wait load({copies})\n    amdgpu.lds_barrier\n"
        + inside
        + "".join(lines)
        + f"    scf.yield %{value} : f32\n  }}\n"
        "  amdgpu.memory_counter_wait load(0)\n  amdgpu.lds_barrier\n"
    )


def lds_function(rows: int, loops: str) -> str:
    constants = "  %c2 = arith.constant 2 : index\n  %c3 = arith.constant 3 : index\n"
    return function(constants + loops, f"%in: {GLOBAL}, %lds: {lds_type(rows)}")


def lds_reads(ops: int) -> str:
    """A loop that loads rows from global memory to LDS, and reads them many times."""
    return lds_function(16, lds_loop("0", 16, 0, 16, ops // 3))


def lds_loops(ops: int) -> str:
    """Loops that each load a row from global memory to LDS."""
    count = ops // 20
    return lds_function(count, "".join(lds_loop(str(number), count, number, 1, 1) for number in range(count)))


def held_reads(ops: int) -> str:
    """Loops that read for the next iteration, compute on shared memory, and store what they read."""
    parts = []
    for number in range(ops // 8):
        parts.append(
            f"  %sum{number} = scf.for %i{number} = %c0 to %c64 step %c1 iter_args(%acc{number} = %zero) -> f32 {{\n"
            f"    %next{number} = memref.load %out[%i{number}] : memref<1024xf32>\n"
            "    amdgpu.lds_barrier\n"
            f"    %value{number} = memref.load %s[%t] : memref<1024xf32, {SHARED}>\n"
            f"    %new{number} = arith.addf %acc{number}, %value{number} : f32\n"
            "    amdgpu.lds_barrier\n"
            f"    memref.store %next{number}, %s[%t] : memref<1024xf32, {SHARED}>\n"
            f"    scf.yield %new{number} : f32\n  }}\n"
        )
    return function(buffer("s") + "".join(parts))


def ordered_loads(ops: int) -> str:
    """Loads to LDS with a wait, and later accesses that it orders."""
    lines = "".join(
        f"  %to{n} = llvm.getelementptr %slots[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32\n"
        f"  rocdl.load.to.lds %in, %to{n}, 4, 0, 0 : !llvm.ptr<1>\n"
        "  rocdl.s.waitcnt 3952\n  rocdl.s.barrier\n"
        '  llvm.inline_asm has_side_effects {smalti.lds_ordered} "", "~{memory}" : () -> ()\n'
        f"  %value{n} = llvm.load %slots : !llvm.ptr<3> -> f32\n"
        for n in range(ops // 6)
    )
    return (
        "llvm.mlir.global internal @slots() {addr_space = 3 : i32} : !llvm.array<512 x f32>\n"
        "llvm.func @f(%in: !llvm.ptr<1>, %next: i32) {\n"
        f"  %slots = llvm.mlir.addressof @slots : !llvm.ptr<3>\n{lines}  llvm.return\n}}\n"
    )


def branches(ops: int) -> str:
    """Many buffers that are written, and later branches that write others."""
    names = [f"s{number}" for number in range(ops // 8)]
    writes = "".join(
        f"  memref.store %zero, %{name}[%t] : memref<1024xf32, {SHARED}>\n"
        f"  scf.if %p {{\n    gpu.barrier\n    memref.store %zero, %q{number}[%t] : memref<1024xf32, {SHARED}>\n  }}\n"
        for number, name in enumerate(names)
    )
    others = "".join(buffer(f"q{number}") for number in range(len(names)))
    return function("".join(map(buffer, names)) + others + writes, "%p: i1")


def refused(ops: int) -> str:
    """Loops that cannot be pipelined, since they store what a later iteration reads."""
    parts = []
    for number in range(ops // 5):
        parts.append(
            f"  scf.for %i{number} = %c0 to %c64 step %c1 {{\n"
            f"    %x{number} = memref.load %out[%i{number}] : memref<1024xf32>\n"
            f"    %y{number} = arith.addf %x{number}, %zero : f32\n"
            f"    memref.store %y{number}, %out[%t] : memref<1024xf32>\n  }}\n"
        )
    return function("".join(parts))


@dataclass(frozen=True)
class Case:
    """A pass, and programs of one shape for it."""

    pipeline: str
    shape: Callable[[int], str]
    anchor: str = "func.func"
    """The op that the pass runs on, after its parent."""
    prepare: str = ""
    """Passes that run first and are not timed."""

    @property
    def name(self) -> str:
        return f"{self.pipeline}/{self.shape.__name__}"

    def passes(self, pipeline: str) -> PassManager:
        inner = pipeline
        for anchor in reversed(self.anchor.split("/")):
            inner = inner if anchor == "builtin.module" else f"{anchor}({inner})"
        passes = PassManager.parse(f"builtin.module({inner})")
        passes.enable_verifier(False)
        return passes


CASES = [
    *(
        Case("smalti-pipeline-loops{stages=2}", shape)
        for shape in (one_loop, many_accesses, many_buffers, many_loops, same_buffer, nested)
    ),
    Case("smalti-pipeline-loops{stages=2}", refused),
    Case("smalti-pipeline-loops{stages=2 mode=async}", async_copies, prepare="smalti-multi-buffer{depth=2}"),
    *(
        Case("smalti-place-barriers", shape)
        for shape in (one_loop, many_accesses, many_buffers, many_loops, same_buffer, nested, branches)
    ),
    *(Case("smalti-multi-buffer{depth=2}", shape) for shape in (many_accesses, many_buffers, many_loops, async_copies)),
    *(Case("smalti-check-resources{target=sm_90a only-remarks=true}", shape) for shape in (many_buffers, many_loops)),
    Case("smalti-allocate-shared-memory{target=sm_90a}", many_small_buffers),
    *(Case("smalti-overlap-lds-dma{target=gfx950}", shape) for shape in (lds_reads, lds_loops)),
    Case("smalti-annotate-lds-dma", ordered_loads, "llvm.func"),
    Case("smalti-hold-loads{target=gfx1201}", held_reads),
    Case("smalti-lower-pad{target=gfx942}", masked_transfers),
    Case("smalti-lower-pad{target=sm_90a}", masked_transfers),
    Case("smalti-pad-to-intrinsics{target=gfx942}", contractions),
    Case("smalti-conv-filter-layout{filter-layout=fhwc}", convolutions),
    *(Case("smalti-pad-shared-memory{target=sm_90a}", shape) for shape in (columns, column_buffers)),
    *(Case("smalti-swizzle-shared-memory{target=sm_90a}", shape) for shape in (columns, column_buffers)),
    Case("convert-triton-xla-to-mosaic-gpu{target=sm_90a}", tiles, "builtin.module"),
    Case("smalti-compile{target=sm_90a stop-after=thread}", tiles, "builtin.module"),
    Case("smalti-compile{target=gfx942 stop-after=thread}", tiles, "builtin.module"),
    Case("convert-triton-xla-to-cpu", tiles, "builtin.module"),
    Case("smalti-async-wgmma", hopper.matmuls),
    Case("smalti-specialize-warps{target=sm_90a depth=2}", hopper.epilogue, "gpu.module/gpu.func"),
    Case("smalti-specialize-warps{target=sm_90a}", hopper.matmul_loops, "gpu.module/gpu.func"),
    Case("smalti-order-tiles{order=auto target=sm_90a}", hopper.ordered, "triton_xla.entry_func"),
    Case("mosaic-gpu-outline-launches", hopper.launch, "builtin.module"),
    Case("convert-mosaic-gpu-to-nvvm{target=sm_90a}", hopper.barriers, "gpu.module"),
    Case("convert-mosaic-gpu-to-nvvm{target=sm_90a}", windows, "gpu.module"),
    Case("smalti-lower-packed-accesses", byte_masks, "gpu.module"),
]


def count_ops(module: ir.Module) -> int:
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return count


def once(case: Case, text: str) -> tuple[float, int, bool]:
    """Seconds of the pass on a fresh module, the module's ops, and whether it changed."""
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(text)
        if case.prepare:
            case.passes(case.prepare).run(module.operation)
        ops = count_ops(module)
        passes = case.passes(case.pipeline)
        before = str(module) if ops < 3 * SMALLEST else ""
        start = time.process_time()
        passes.run(module.operation)
        seconds = time.process_time() - start
        return seconds, ops, str(module) != before if before else True


def sizes(most: int) -> Iterator[int]:
    """The largest size, its tenth and so on, with one between each two."""
    size = most / 10 ** max(0, math.floor(math.log10(most / SMALLEST) + 1e-9))
    while size < most * 1.01:
        yield round(size)
        if size * 3 < most:
            yield round(size * 3)
        size *= 10


def measure(case: Case, most: int, repeat: int, patience: float) -> dict[str, object]:
    """Seconds at each size, the exponent of the last step, and whether the pass changed the program."""
    times: list[tuple[int, float]] = []
    applied = True
    for size in sizes(most):
        text = case.shape(size)
        runs = [once(case, text) for _ in range(repeat)]
        if size == SMALLEST:
            applied = runs[0][2]
        times.append((runs[0][1], min(run[0] for run in runs)))
        if times[-1][1] > patience:
            break
    exponent = None
    if len(times) > 2:
        (ops, seconds), _, (more_ops, more_seconds) = times[-3:]
        exponent = math.log(more_seconds / seconds) / math.log(more_ops / ops)
    return {
        "pass": case.pipeline,
        "shape": case.shape.__name__,
        "applied": applied,
        "exponent": exponent,
        "microseconds_per_op": 1e6 * times[-1][1] / times[-1][0],
        "times": [{"ops": ops, "seconds": seconds} for ops, seconds in times],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="cases with one of these in their names (default: all)")
    parser.add_argument("--most", type=int, default=100_000, help="ops of the largest program")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--patience", type=float, default=20)
    _record.add_option(parser, "pass_scaling")
    options = parser.parse_args()

    table = Table(title="seconds of a pass, against the program's ops")
    for column in ("pass", "shape", "ops", "seconds", "µs an op", "exponent", "applied"):
        table.add_column(column, justify="left" if column in ("pass", "shape") else "right")
    results = []
    for case in CASES:
        if options.cases and not any(name in case.name for name in options.cases):
            continue
        try:
            result = measure(case, options.most, options.repeat, options.patience)
        except (ir.MLIRError, ValueError) as error:
            results.append({"pass": case.pipeline, "shape": case.shape.__name__, "failed": str(error)[:500]})
            table.add_row(case.pipeline, case.shape.__name__, "failed")
            continue
        results.append(result)
        print(case.name, *(f"{time['ops']}: {time['seconds']:.3f}" for time in result["times"]), flush=True)
        last = result["times"][-1]
        exponent = "" if result["exponent"] is None else f"{result['exponent']:.2f}"
        table.add_row(
            case.pipeline,
            case.shape.__name__,
            str(last["ops"]),
            f"{last['seconds']:.3f}",
            f"{result['microseconds_per_op']:.2f}",
            exponent,
            "yes" if result["applied"] else "no",
        )
    record = {
        "what": "seconds of the process in one pass against the ops of its program, verifier off; the least of the runs",
        "repeat": options.repeat,
        "versions": _record.versions(),
        "machine": _record.machine(),
        "results": results,
    }
    _record.write(record, options.json, table, 140)
    return 1 if any("failed" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
