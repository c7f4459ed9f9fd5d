# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written thread-level loops with asynchronous copies to shared memory, one slot and no overlap.

Each adds up rows of two arrays, in which a thread reads what threads of another wave have copied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from helpers import SHARED

THREADS = 256
ROWS = 64


@dataclass(frozen=True)
class Copies:
    """How a kernel copies a tile, and what its loop reads of it."""

    name: str
    chips: tuple[str, ...]
    lanes: int
    """Elements that a thread copies at a time."""
    copy: str
    """Copies row %i of %{array} to %{tile}."""
    wait: str = ""
    """The loop's wait, which precedes the barrier after the copies."""
    has_slots: bool = False
    """The kernel has its slots already."""

    @property
    def columns(self) -> int:
        return THREADS * self.lanes


def _gather(lanes: int) -> str:
    vector = f"vector<{lanes}xf32>" if lanes > 1 else "f32"
    return f"amdgpu.gather_to_lds %{{array}}[%i, %mine], %{{tile}}[%wave_first] : {vector}, ROWS, TILE"


_TENSOR = """scf.if %is_first_wave {{
  %{tile}_base = amdgpu.make_dma_base %{array}[%i, %c0], %{tile}[%c0] : ROWS, TILE -> !amdgpu.tdm_base<f32>
  %{tile}_desc = amdgpu.make_dma_descriptor %{tile}_base globalSize [1, COLUMNS] globalStride [COLUMNS, 1]
    sharedSize [1, COLUMNS] : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
  amdgpu.tensor_load_to_lds %{tile}_desc : !amdgpu.tdm_descriptor
}}"""

_GROUP = """%{tile}_copy = nvgpu.device_async_copy %{array}[%i, %mine], %{tile}[%mine], LANES : ROWS to TILE
%{tile}_group = nvgpu.device_async_create_group %{tile}_copy"""

# Each lane states the source and the destination of its element.
_POINTER = """%{tile}_row = arith.muli %i, %columns : index
%{tile}_from = arith.addi %{tile}_row, %t : index
%{tile}_from_bytes = arith.muli %{tile}_from, %c4 : index
%{tile}_array = memref.extract_aligned_pointer_as_index %{array} : ROWS -> index
%{tile}_source = arith.addi %{tile}_array, %{tile}_from_bytes : index
%{tile}_source_number = arith.index_cast %{tile}_source : index to i64
%{tile}_source_pointer = llvm.inttoptr %{tile}_source_number : i64 to !llvm.ptr<1>
%{tile}_begin = arith.muli %slot, %columns : index
%{tile}_to = arith.addi %{tile}_begin, %t : index
%{tile}_to_bytes = arith.muli %{tile}_to, %c4 : index
%{tile}_buffer = memref.extract_aligned_pointer_as_index %{tile} : TILE -> index
%{tile}_target = arith.addi %{tile}_buffer, %{tile}_to_bytes : index
%{tile}_target_number = arith.index_cast %{tile}_target : index to i64
%{tile}_target_pointer = llvm.inttoptr %{tile}_target_number : i64 to !llvm.ptr<3>
rocdl.global.load.async.to.lds.b32 %{tile}_source_pointer, %{tile}_target_pointer, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>"""

WORDS = Copies("words", ("gfx90a", "gfx942", "gfx950"), 1, _gather(1))
VECTORS = Copies("vectors", ("gfx950",), 4, _gather(4))
TENSORS = Copies("tensors", ("gfx1250",), 1, _TENSOR, "amdgpu.memory_counter_wait tensor(0)")
SLOT_POINTERS = Copies("slot pointers", ("gfx1250",), 1, _POINTER, "rocdl.s.wait.asynccnt 0", has_slots=True)
POINTERS = replace(
    SLOT_POINTERS,
    name="pointers",
    copy=_POINTER.replace("arith.muli %slot, %columns", "arith.constant 0"),
    has_slots=False,
)
GROUPS = Copies("groups", ("sm_80", "sm_90a"), 4, _GROUP, "nvgpu.device_async_wait %t1_group")
REGISTERS = Copies(
    "registers",
    ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250", "sm_80", "sm_90a", "sm_100a", "sm_120a"),
    4,
    """%{tile}_row = vector.load %{array}[%i, %mine] : ROWS, vector<4xf32>
vector.store %{tile}_row, %{tile}[%mine] : TILE, vector<4xf32>""",
)

# Two tiles; a thread reads eight vectors that other threads copied.
_KERNEL = """gpu.module @kernels {
  gpu.func @sums(%a: ROWS {llvm.noalias}, %b: ROWS {llvm.noalias}, %o: memref<THREADSx4xf32> {llvm.noalias}, %n: index)
      kernel attributes {known_block_size = array<i32: THREADS, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %lower = arith.constant LOWER : index
    %step = arith.constant STEP : index
    %wave_size = arith.constant WAVE : index
    %lanes = arith.constant LANES : index
    %columns = arith.constant COLUMNS : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %half = arith.constant dense<0.5> : vector<4xf32>
    %t = gpu.thread_id x
    %mine = arith.muli %t, %lanes : index
    %wave = arith.divui %t, %wave_size : index
    %first_thread = arith.muli %wave, %wave_size : index
    %wave_first = arith.muli %first_thread, %lanes : index
    %is_first_wave = arith.cmpi ult, %t, %wave_size : index
ALLOCATIONS
    %sum = scf.for %i = %lower to UPPER step %step iter_args(%acc = %zero) -> vector<4xf32> {
SLOT
COPIES
      gpu.barrier
      %less = arith.mulf %acc, %half : vector<4xf32>
LDSREADS
      gpu.barrier
      scf.yield %sLAST : vector<4xf32>
    }
    vector.store %sum, %o[%t, %c0] : memref<THREADSx4xf32>, vector<4xf32>
    gpu.return
  }
}
"""


_SLOT = """%distance = arith.subi %i, %lower : index
%number = arith.divui %distance, %step : index
%slots = arith.constant SLOTS : index
%slot = arith.remui %number, %slots : index
%t0 = memref.subview %b0[%slot, 0] [1, COLUMNS] [1, 1] : BUFFER to TILE
%t1 = memref.subview %b1[%slot, 0] [1, COLUMNS] [1, 1] : BUFFER to TILE"""


def kernel(
    copies: Copies, *, trips: int | None = None, lower: int = 0, step: int = 1, reads: int = 8, slots: int = 1
) -> str:
    """The upper bound is an argument unless the trip count is given here; `slots` of kernels that have them."""
    wave = 32 if copies.chips[0] == "gfx1250" or copies.chips[0].startswith("sm_") else 64
    begin = "\n".join(copies.copy.format(array=array, tile=tile) for array, tile in (("a", "t0"), ("b", "t1")))
    lines = []
    for i in range(reads):
        # Chunks of 4 elements, far away from the thread's own.
        lines.append(f"""%d{i} = arith.constant {37 * i + 67} : index
%q{i} = arith.addi %t, %d{i} : index
%p{i} = arith.muli %q{i}, %c4 : index
%r{i} = arith.remui %p{i}, %columns : index
%v{i} = vector.load %t{i % 2}[%r{i}] : TILE, vector<4xf32>
%s{i} = arith.addf {"%less" if i == 0 else f"%s{i - 1}"}, %v{i} : vector<4xf32>""")
    upper = "%n" if trips is None else "%upper"
    buffers = ("%b0", "%b1") if copies.has_slots else ("%t0", "%t1")
    allocations = "\n".join(f"    {name} = memref.alloc() : BUFFER" for name in buffers)
    buffer = tile = f"memref<{copies.columns}xf32, {SHARED}>"
    if copies.has_slots:
        buffer = f"memref<{slots}x{copies.columns}xf32, {SHARED}>"
        tile = f"memref<{copies.columns}xf32, strided<[1], offset: ?>, {SHARED}>"
    text = _KERNEL.replace("COPIES\n", begin + "\n" + copies.wait + "\n").replace("LDSREADS\n", "\n".join(lines) + "\n")
    text = text.replace("UPPER", upper).replace("LAST", str(reads - 1))
    if trips is not None:
        text = text.replace(
            "    %t = gpu", f"    %upper = arith.constant {lower + trips * step} : index\n    %t = gpu", 1
        )
    text = text.replace("ALLOCATIONS", allocations).replace("SLOT\n", _SLOT + "\n" if copies.has_slots else "")
    for name, value in {
        "BUFFER": buffer,
        "TILE": tile,
        "ROWS": f"memref<{ROWS}x{copies.columns}xf32>",
        "SLOTS": slots,
        "COLUMNS": copies.columns,
        "THREADS": THREADS,
        "LOWER": lower,
        "STEP": step,
        "WAVE": wave,
        "LANES": copies.lanes,
    }.items():
        text = re.sub(rf"\b{name}(?=\b|x4xf32)", str(value), text)
    return text
