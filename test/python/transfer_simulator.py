# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An executor of transfers: instructions by their vendors' manuals, memory by its definition, banks by the table.

Shares nothing with the planner but the plan.
"""

from __future__ import annotations

import functools
import json
import math
import re
from typing import Any

import numpy as np
from helpers import Array
from smalti import layouts, targets
from smalti._mlir_libs import _smalti
from smalti.layouts import Replicated, SplatLayout, StridedLayout, TiledLayout, named_layout
from smalti.transfers import Access, MemoryLayout, TransferPlan

Layout = TiledLayout | StridedLayout | SplatLayout

TWO_DIMENSIONAL: dict[str, TiledLayout | StridedLayout] = {
    name: named_layout(name) for name in layouts.layout_names() if len(named_layout(name).tiling[0]) == 2
} | {
    "TMEM_NATIVE(1)": layouts.tmem_native(1),
    "TMEM_NATIVE(8)": layouts.tmem_native(8),
    "rows": TiledLayout([[64, 1], [16, 1], [8, 1]], [-6], [-2, Replicated(4)]),
    "strided": StridedLayout([128, 64], 4),
}
"""The named layouts of matrices, and some more."""


class Mismatch(AssertionError):
    """A plan does not do what it is for."""


# --- memory and registers, from their definitions ---------------------------------------------------------------------


def swizzle(address: Array, width: int) -> Array:
    """Rows of 128 bytes, in turn, exchange their chunks of 16 bytes."""
    return address ^ ((address >> 7 & (width // 16 - 1)) << 4)


@functools.cache
def addresses_of_elements(
    shape: tuple[int, ...], strides: tuple[int, ...], tile: tuple[int, ...], width: int, bits: int
) -> Array:
    """The address of each element, in units of elements; the swizzle moves whole bytes."""
    index = np.indices(shape).reshape(len(shape), -1)
    if not tile:
        offset = sum(i * s for i, s in zip(index, strides, strict=True))
    else:
        # Row-major over the dimensions in memory order: untiled dimensions, the tiles, dimensions in a tile.
        order = sorted(range(len(shape)), key=lambda dim: (-strides[dim], dim))
        sizes = (1,) * (len(shape) - len(tile)) + tile
        untiled = [d for d in order if d < len(shape) - len(tile)]
        tiled = [d for d in order if d >= len(shape) - len(tile)]
        digits = [(index[d], shape[d]) for d in untiled]
        digits += [(index[d] // sizes[d], shape[d] // sizes[d]) for d in tiled]
        digits += [(index[d] % sizes[d], sizes[d]) for d in tiled]
        offset = np.zeros(index.shape[1], np.int64)
        for digit, size in digits:
            offset = offset * size + digit
    offset = np.asarray(offset)
    if bits < 8:
        per_byte = 8 // bits
        return swizzle(offset // per_byte, width) * per_byte + offset % per_byte
    return swizzle(offset * (bits // 8), width) // (bits // 8)


@functools.cache
def held_elements(layout: Layout, shape: tuple[int, ...], threads: int) -> Array:
    """[thread, register, place] -> number of the element."""
    if isinstance(layout, TiledLayout):
        array = np.empty((threads, layout.num_registers(list(shape)), layout.vector_length), np.int64)
        for thread, register, place in np.ndindex(array.shape):
            warp, lane = divmod(thread, layout.num_lanes)
            index = layout.element_index(list(shape), warp, lane, register, place)
            array[thread, register, place] = np.ravel_multi_index(index, shape)
        return array
    assert isinstance(layout, StridedLayout)
    numbers = np.arange(math.prod(shape)).reshape(-1, threads, layout.vector_size)
    return numbers.transpose(1, 0, 2)


# --- the simulator ----------------------------------------------------------------------------------------------------


def thread_addresses(plan: TransferPlan, access: Access) -> Array:
    thread = np.arange(plan.warps * plan.wave_size)
    total = np.zeros_like(thread)
    for divisor, size, stride in plan.terms:
        total += thread // divisor % size * stride
    return swizzle(total + plan.bases[access.base], plan.swizzle_bytes) + access.offset


def source_lane(chip: str, bits: int, lane: Array, element: int) -> Array:
    """Which lane of its wave reads what a lane gets as an element of a transposed read."""
    if (chip, bits) == ("gfx950", 16):
        return (lane & ~15) + (lane >> 2 & 3) + 4 * element
    if (chip, bits) == ("gfx950", 8):
        return (lane & ~15) + (lane >> 3 & 1) + 2 * element
    if (chip, bits) == ("gfx1250", 16):
        return (lane & ~7) + element
    if (chip, bits) == ("gfx1250", 8):
        return (lane & ~15) + (element & 3) + 4 * (lane >> 3 & 1) + 8 * (element >> 2)
    raise Mismatch(f"{chip} has no transposed read of {bits} bits")


def addresses_of_access(
    plan: TransferPlan, access: Access, bits: int, chip: str, is_load: bool
) -> list[tuple[Any, ...]]:
    """(register, place in it, address of each thread in elements) of all that an access moves."""
    target = targets.get(chip)
    address = thread_addresses(plan, access)
    if (address % min(access.bytes, 16)).any():
        raise Mismatch("an access is not aligned")
    thread = np.arange(len(address))
    lane, first_lane = thread % plan.wave_size, thread - thread % plan.wave_size
    # In bits from here on.
    moved: list[tuple[int, int, Array]] = []
    if access.kind == "vector":
        bit = 0
        for register, first, count in access.pieces:
            for place in range(first, first + count):
                moved.append((register, place, address * 8 + bit))
                bit += bits
        if bit != access.bytes * 8 or access.bytes not in (1, 2, 4, 8, 16):
            raise Mismatch("an access moves more or less than it holds")
    elif access.kind in ("matrix", "matrix_transposed"):
        if not target.has_ldmatrix or len(access.pieces) not in (1, 2, 4) or access.bytes != 16:
            raise Mismatch("no such matrix instruction")
        for matrix, (register, first, count) in enumerate(access.pieces):
            if count * bits != 32:
                raise Mismatch("a register of a matrix instruction has 32 bits")
            for place in range(count):
                if access.kind == "matrix":
                    row, inside = lane // 4, 32 * (lane % 4) + bits * place
                else:
                    row, inside = 2 * (lane % 4) + place, 16 * (lane // 4)
                moved.append((register, first + place, address[first_lane + 8 * matrix + row] * 8 + inside))
    elif access.kind == "matrix_transposed_8":
        # A load has matrices of 16 rows, four of a lane's; a store of 8, two of a lane's.
        rows, of_lane = (16, 4) if is_load else (8, 2)
        if not target.has_transposed_8bit_matrix or bits != 8 or any(count != 2 for _, _, count in access.pieces):
            raise Mismatch("no such matrix instruction")
        if len(access.pieces) // of_lane not in ((1, 2) if is_load else (1, 2, 4)) or len(access.pieces) % of_lane:
            raise Mismatch("no such number of matrices")
        for number, (register, first, _) in enumerate(access.pieces):
            matrix, number = divmod(number, of_lane)
            for place in range(2):
                row = of_lane * (lane % 4) + 2 * (number // 2) + place
                inside = 8 * (lane // 4 + 8 * (number % 2))
                moved.append((register, first + place, address[first_lane + rows * matrix + row] * 8 + inside))
    elif access.kind == "matrix_of_pairs":
        if not target.has_ldmatrix or not is_load or bits != 8 or access.bytes != 16:
            raise Mismatch("no such matrix instruction")
        if len(access.pieces) not in (8, 16) or any(count != 1 for _, _, count in access.pieces):
            raise Mismatch("no such number of matrices")
        for number, (register, place, _) in enumerate(access.pieces):
            matrix, number = divmod(number, 4)
            row, inside = 2 * (lane % 4) + number // 2, 16 * (lane // 4) + 8 * (number % 2)
            moved.append((register, place, address[first_lane + 8 * matrix + row] * 8 + inside))
    else:
        assert access.kind == "transposed_read"
        count = access.bytes * 8 // bits
        positions = [(r, p) for r, first, n in access.pieces for p in range(first, first + n)]
        if len(positions) != count:
            raise Mismatch("a transposed read gives as many elements as it reads")
        for element, (register, place) in enumerate(positions):
            source = first_lane + source_lane(chip, bits, lane, element)
            moved.append((register, place, address[source] * 8 + bits * (lane % count)))
    return [(register, place, bit // bits) for register, place, bit in moved]


def bank_cycles(addresses: list[int], size: int, is_read: bool, target: targets.Target) -> tuple[int, int]:
    """Cycles of one access of a wave, and those that are waits."""
    words_of_lane = max(size // target.bank_bytes, 1)
    together = min(target.shared_memory_banks // words_of_lane, target.wave_size)
    order = list(target.wide_read_order) if is_read and size == 16 else []
    lanes = [lane for lane in order or range(target.wave_size) if lane < len(addresses) or order]
    cycles = waits = 0
    for first in range(0, len(lanes), together):
        asked: dict[int, set[int]] = {}
        for lane in lanes[first : first + together]:
            if lane >= len(addresses):
                continue
            for byte in range(addresses[lane], addresses[lane] + size):
                word = byte // target.bank_bytes
                asked.setdefault(word % target.shared_memory_banks, set()).add(word)
        most = max((len(words) for words in asked.values()), default=0)
        cycles += most
        waits += max(most - 1, 0)
    return cycles, waits


def recount_banks(plan: TransferPlan, is_read: bool, target: targets.Target) -> tuple[int, int]:
    """The cycles and waits of the warp with the most accesses."""
    accesses = plan.accesses
    per_access = [thread_addresses(plan, access) for access in accesses]
    lane = np.arange(plan.wave_size)
    group, order = plan.stagger or (1, list(range(len(accesses))))
    is_other = lane // group % 2 == 1 if plan.stagger else np.zeros_like(lane, bool)
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    totals = []
    for warp in range(plan.warps):
        part = slice(warp * plan.wave_size, (warp + 1) * plan.wave_size)
        total = (0, 0)
        for step, access in enumerate(accesses):
            named = np.where(is_other, per_access[order[step]][part], per_access[step][part])
            if access.kind == "matrix_transposed_8":
                # Four bytes of a lane for each of 8 rows that are named.
                named = named[: 4 * len(access.pieces)]
            elif access.kind == "matrix_of_pairs":
                named = named[: 2 * len(access.pieces)]
            elif access.kind.startswith("matrix"):
                named = named[: 8 * len(access.pieces)]
            # Lanes whose addresses differ by a multiple of all banks access the same banks.
            start = int(named.min()) // (target.shared_memory_banks * target.bank_bytes)
            key = tuple(int(a) - start * target.shared_memory_banks * target.bank_bytes for a in named)
            if key not in known:
                known[key] = bank_cycles(list(key), access.bytes, is_read, target)
            total = (total[0] + known[key][0], total[1] + known[key][1])
        totals.append(total)
    return max(totals)


def execute(plan: TransferPlan, layout: Layout, memory: MemoryLayout, bits: int, chip: str, is_load: bool) -> None:
    """Raises Mismatch unless every element of every register is moved once, from or to its address, with the planned
    banks."""
    target = targets.get(chip)
    shape = tuple(memory.shape)
    threads = plan.warps * plan.wave_size
    where = addresses_of_elements(shape, tuple(memory.strides), tuple(memory.tile), memory.swizzle_bytes, bits)
    held = held_elements(layout, shape, threads)
    seen = np.zeros(held.shape[1:], np.int64)
    written: set[int] = set()
    for number, access in enumerate(plan.accesses):
        for register, place, addresses in addresses_of_access(plan, access, bits, chip, is_load):
            seen[register, place] += 1
            if not np.array_equal(where[held[:, register, place]], addresses):
                raise Mismatch(f"register {register}, place {place} is not at its address")
            written.update(addresses.tolist())
        if plan.address(threads - 1, number) != thread_addresses(plan, access)[-1]:
            raise Mismatch("the plan's own address differs")
    if (seen != 1).any():
        raise Mismatch("a part of a register is moved more than once, or never")
    if written != set(where.tolist()):
        raise Mismatch("not all of the memory is reached")
    if plan.stagger and sorted(plan.stagger[1]) != list(range(len(plan.accesses))):
        raise Mismatch("a stagger is no permutation")
    if (plan.bank_cycles, plan.conflicts) != recount_banks(plan, is_load, target):
        raise Mismatch("the banks are counted wrong")


@functools.cache
def chip_layouts(chip: str) -> dict[str, tuple[TiledLayout, int]]:
    """Layouts of operands of the chip's matrix instructions over 4 warps, each with its element width."""
    found: dict[str, tuple[TiledLayout, int]] = {}
    for entry in json.loads(_smalti.targets_json()):
        if entry["name"] != chip:
            continue
        for mma in entry["mmas"]:
            if mma["kind"] == "fma":
                continue
            for operand, element, order in (("a", "a", [0, 2]), ("b", "b", [1, 2]), ("c", "accumulator", [0, 1])):
                fragment = mma[f"{operand}_fragment"]
                parts = {
                    key: [layouts.Replicated(p["replicated"]) if isinstance(p, dict) else p for p in fragment[key]]
                    for key in ("warp_dims", "lane_dims")
                }
                layout = TiledLayout(fragment["tiling"], **parts, vector_dim=fragment["vector_dim"])
                warps = [2 if 0 in order else 1, 2 if 1 in order else 1]
                block = layouts.block_layout(layout, fragment["shape"], warps, 4 // math.prod(warps), order)
                width = re.search(r"\d+", mma[element])
                assert width is not None
                found.setdefault(f"{operand}{mma['m']}x{mma['n']}x{mma['k']}", (block, int(width[0])))
    return found
