# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous copies into shared memory, with each mechanism of the chips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from smalti import targets

from .writer import SHARED, Buffer, Scope, Writer

GROUPS, LOADS, ASYNC, TENSORS, TILES = "groups", "loads", "async", "tensors", "tiles"
"""cp.async in groups; loads by DMA, counted with the others (CDNA); copies with a counter of their own and tensor copies
(gfx1250); bulk tensor copies with barrier objects (Hopper)."""
WAITS = {
    "cp_async_group": GROUPS,
    "vmcnt": LOADS,
    "async_counter": ASYNC,
    "tensor_counter": TENSORS,
    "mbarrier": TILES,
}
TOKEN = "!nvgpu.device.async.token"


class Copies(Writer):
    """Generates copies and their waits. Every copy is its wave's own, or belongs to a group."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], chip: targets.Target) -> None:
        super().__init__(draw, chip)
        lanes_fit = 4 * self.lanes in chip.async_copy_bytes
        self.ways = [WAITS[name] for name in chip.waits if name in WAITS]
        self.ways = [way for way in self.ways if lanes_fit or way in (TENSORS, TILES)]
        self.copying = bool(self.ways) and self.choose((False, True))
        """Whether it is mostly about copies."""
        self._barrier_objects: list[tuple[str, int]] = []
        """Barrier objects by name, with their number of slots."""
        self.has_tiles = TILES in self.ways
        self._by_first_wave = False
        """Whether one wave issues all tensor copies that are in flight together."""
        self.number = ""
        """How often the loop has run before, over all runs of it; empty outside of its body."""

    # --- around the kernel -------------------------------------------------------------------------------------------

    @property
    def _map(self) -> str:
        return (
            f"!nvgpu.tensormap.descriptor<tensor = memref<{self.columns}x{self.element}, {SHARED}>, swizzle = none, "
            "l2promo = none, oob = zero, interleave = none>"
        )

    def map_arguments(self) -> list[str]:
        """Tensor maps of the arrays that are copied from."""
        return [f"%map_{name}: {self._map}" for name in ("a", "b")] if self._barrier_objects else []

    def extra(self) -> list[str]:
        """Setup code of copies at the head of the kernel."""
        lines = []
        if LOADS in self.ways or TENSORS in self.ways:
            # A wave writes its elements one after the other.
            wave = self._chip.wave_size
            lines += [
                f"%wave = arith.divui %thread, {self.constant(wave)} : index",
                f"%lane = arith.remui %thread, {self.constant(wave)} : index",
                f"%wave_column = arith.muli %wave, {self.constant(wave * self.lanes)} : index",
                f"%is_first_wave = arith.cmpi eq, %wave, {self.constant(0)} : index",
            ]
        if self._barrier_objects:
            lines.append(f"%is_first = arith.cmpi eq, %thread, {self.constant(0)} : index")
            for name, slots in self._barrier_objects:
                ty = self._group(slots)
                lines.append(f"{name} = nvgpu.mbarrier.create -> {ty}")
                lines += [
                    f"nvgpu.mbarrier.init {name}[{self.constant(slot)}], {self.constant(1)}, predicate = %is_first : {ty}"
                    for slot in range(slots)
                ]
            lines += ["nvvm.fence.mbarrier.init", "gpu.barrier {initialized}"]
        return lines

    @staticmethod
    def _group(slots: int) -> str:
        return f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers = {slots}>"

    # --- statements ---------------------------------------------------------------------------------------------------

    def copies(self, scope: Scope) -> None:
        """Copies in one group or two; other statements while they are in flight; waits."""
        # A barrier object's parity follows from the number of the iteration: every phase must be used.
        ways = [way for way in self.ways if way != TILES or (self.number and scope.depth == 0)]
        if not ways:
            return
        way = self.choose(ways)
        self._by_first_wave = way == TENSORS and self.choose((True, False))
        free = [buffer for buffer in self.buffers if not buffer.copying and (buffer.view or not buffer.slots)]
        groups: list[tuple[str, list[Buffer]]] = []
        for _ in range(self.choose((1, 1, 2))):
            chosen: list[Buffer] = []
            for _ in range(self.choose((1, 1, 2))):
                if free:
                    chosen.append(free.pop(self.integer(0, len(free) - 1)))
            if not chosen:
                break
            groups.append((self._start(way, scope, chosen), chosen))
        for _ in range(self.choose((0, 0, 1, 2))):
            plain = [self.add(self.read_global), self.sum, self.write_shared, self.add(self.read_shared)]
            self.choose(plain)(scope)
        while groups:
            done = self.integer(1, len(groups))
            for wait, _ in groups[:done] if way == TILES else groups[done - 1 : done]:
                self._wait(way, wait, [chosen for _, chosen in groups[done:]])
            used = [buffer for _, chosen in groups[:done] for buffer in chosen]
            for buffer in used:
                buffer.copying = False
                buffer.filled = True
                # A barrier object's parity is observed by every thread, and no thread may be a phase late.
                (self._pending.reads if way == TILES else self._pending.writes).add(buffer.name)
            groups = groups[done:]
            for buffer in used:
                if self.choose((True, True, True, False)):
                    found = self.read_shared(scope, buffer)
                    if found is not None:
                        scope.vectors.append(found)

    def _start(self, way: str, scope: Scope, chosen: list[Buffer]) -> str:
        """Starts copies of all of the buffers, and returns what is waited for."""
        for buffer in chosen:
            self.touch(buffer.name, True, scope)
        if way == TILES:
            wait = self._copy_tiles(scope, chosen)
        else:
            tokens = [self._copy(way, scope, buffer) for buffer in chosen]
            operands = ", ".join(token for token in tokens if token)
            wait = self._commit(operands) if way == GROUPS else ""
        for buffer in chosen:
            buffer.copying = True
        return wait

    def _commit(self, tokens: str) -> str:
        if tokens:
            return self.op(f"nvgpu.device_async_create_group {tokens}", "group")
        # Without operands the op cannot be read back.
        self.line("nvvm.cp.async.commit.group")
        return ""

    def _wait(self, way: str, group: str, left: list[list[Buffer]]) -> None:
        units = sum(buffer.units for chosen in left for buffer in chosen)
        if way == GROUPS:
            self.line(f"nvgpu.device_async_wait {group} {{numGroups = {len(left)} : i32}}" if group
                      else f"nvvm.cp.async.wait.group {len(left)}")  # fmt: skip
        elif way == TILES:
            self.line(group)
        elif way == ASYNC:
            self.line(f"rocdl.s.wait.asynccnt {units}")
        elif way == TENSORS:
            self.line(f"amdgpu.memory_counter_wait tensor({units})")
        elif self.choose((True, False)):
            self.line(f"amdgpu.memory_counter_wait load({units})")
        elif left or self.choose((True, False)):
            # All ones, except for the wait counter of loads.
            self.line(f"rocdl.s.waitcnt {0x3F70 | units}")
        else:
            # LLVM has the barrier wait.
            self.barrier()
            self.needs_barriers = True

    def _copy(self, way: str, scope: Scope, buffer: Buffer) -> str:
        """Starts a copy of the whole buffer; it may be in a conditional or in a loop."""
        make = {
            GROUPS: self._copy_in_group,
            LOADS: self._load_by_dma,
            ASYNC: self._copy_counted,
            TENSORS: self._copy_tensor,
        }[way]
        row = self.row(scope)
        buffer.units = 1
        if not scope.counters or self.integer(0, 3) < 3:
            return make(scope, buffer, row)
        kind = self.choose(("sides", "tail", "parts"))
        if kind == "parts" and (self._by_first_wave if way == TENSORS else self.lanes > 1):
            return self._in_parts(way, scope, buffer, row)
        bit = self.op(f"arith.andi {self.choose(scope.counters)}, {self.constant(1)} : index", "i")
        condition = self.op(f"arith.cmpi eq, {bit}, {self.constant(self.integer(0, 1))} : index", "p")
        if kind == "tail":
            # Values that are not copied are stored.
            buffer.units = 0
            self.begin(f"scf.if {condition} {{")
            make(scope, buffer, row)
            self.end("} else {")
            self._depth += 1
            target, ty = buffer.view or buffer.name, self._shared_type(buffer)
            self.line(f"vector.store %zero, {target}[%column] : {ty}, {self.vector}")
            self.end()
            return ""
        name = ""
        if way == GROUPS:
            self._names += 1
            name = f"%copy{self._names}"
        self.begin(f"{name} = scf.if {condition} -> {TOKEN} {{" if name else f"scf.if {condition} {{")
        for side in range(2):
            if side:
                self.end("} else {")
                self._depth += 1
            token = make(scope, buffer, row)
            if name:
                self.line(f"scf.yield {token} : {TOKEN}")
        self.end()
        return name

    def _in_parts(self, way: str, scope: Scope, buffer: Buffer, row: str) -> str:
        """A loop around copies of parts: an element of each thread, or half of the row."""
        buffer.units = 2 if way == TENSORS else self.lanes
        self._names += 1
        part = f"%part{self._names}"
        bounds = (self.constant(0), self.constant(buffer.units), self.constant(1))
        self.begin(f"scf.for {part} = {bounds[0]} to {bounds[1]} step {bounds[2]} {{")
        array, target, ty = self.choose(("a", "b")), buffer.view or buffer.name, self._shared_type(buffer)
        if way == TENSORS:
            width = self.columns // 2
            begin = self.op(f"arith.muli {part}, {self.constant(width)} : index", "i")
            self.begin("scf.if %is_first_wave {")
            self._tensor(array, row, begin, width, buffer)
            self.end()
        elif way == LOADS:
            begin = self.op(f"arith.muli {part}, {self.constant(self._chip.wave_size)} : index", "i")
            begin = self.op(f"arith.addi %wave_column, {begin} : index", "i")
            own = self.op(f"arith.addi {begin}, %lane : index", "i")
            self.line(f"amdgpu.gather_to_lds %{array}[{row}, {own}], {target}[{begin}] : "
                      f"{self.element}, {self._flat()}, {ty}")  # fmt: skip
        else:
            own = self.op(f"arith.addi %column, {part} : index", "i")
            if way == GROUPS:
                self.op(f"nvgpu.device_async_copy %{array}[{row}, {own}], {target}[{own}], 1 : {self._flat()} to {ty}")
            else:
                self._counted(array, row, own, own, buffer, 1)
        self.end()
        return ""

    # --- one copy ---------------------------------------------------------------------------------------------------

    def _copy_in_group(self, scope: Scope, buffer: Buffer, row: str) -> str:
        array, column, some = self.choose(("a", "b")), self.choose(("%column", "%mirror")), ""
        if self.seldom() and scope.counters:
            some = self.op(f"arith.minui {self.choose(scope.counters)}, {self.constant(self.lanes)} : index", "i")
        return self.op(
            f"nvgpu.device_async_copy %{array}[{row}, {column}], {buffer.view or buffer.name}[%column], {self.lanes}"
            f"{', ' + some if some else ''} : {self._flat()} to {self._shared_type(buffer)}",
            "copy",
        )

    def _load_by_dma(self, scope: Scope, buffer: Buffer, row: str) -> str:
        array, column = self.choose(("a", "b")), self.choose(("%column", "%mirror"))
        vector = self.vector if self.lanes > 1 else self.element
        self.line(
            f"amdgpu.gather_to_lds %{array}[{row}, {column}], {buffer.view or buffer.name}[%wave_column] : {vector}, "
            f"{self._flat()}, {self._shared_type(buffer)}"
        )
        return ""

    def _address(self, memref: str, ty: str, index: str, space: int) -> str:
        start = self.op(f"memref.extract_aligned_pointer_as_index {memref} : {ty} -> index", "i")
        offset = self.op(f"arith.muli {index}, {self.constant(4)} : index", "i")
        address = self.op(f"arith.addi {start}, {offset} : index", "i")
        number = self.op(f"arith.index_cast {address} : index to i64", "i")
        return self.op(f"llvm.inttoptr {number} : i64 to !llvm.ptr<{space}>", "address")

    def _copy_counted(self, scope: Scope, buffer: Buffer, row: str) -> str:
        array, column = self.choose(("a", "b")), self.choose(("%column", "%mirror"))
        self._counted(array, row, column, "%column", buffer, self.lanes)
        return ""

    def _counted(self, array: str, row: str, column: str, to: str, buffer: Buffer, lanes: int) -> None:
        place = self.op(f"arith.muli {row}, {self.constant(self.columns)} : index", "i")
        place = self.op(f"arith.addi {place}, {column} : index", "i")
        source = self._address(f"%{array}", self._flat(), place, 1)
        if buffer.slot:
            # The address of a view is that of its buffer.
            begin = self.op(f"arith.muli {buffer.slot}, {self.constant(self.columns)} : index", "i")
            to = self.op(f"arith.addi {begin}, {to} : index", "i")
        target = self._address(buffer.view or buffer.name, self._shared_type(buffer), to, 3)
        self.line(f"rocdl.global.load.async.to.lds.b{32 * lanes} {source}, {target}, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>")

    def _copy_tensor(self, scope: Scope, buffer: Buffer, row: str) -> str:
        """One wave copies all of the row, or every wave its part."""
        array = self.choose(("a", "b"))
        if self._by_first_wave:
            self.begin("scf.if %is_first_wave {")
            self._tensor(array, row, self.constant(0), self.columns, buffer)
            self.end()
        else:
            self._tensor(array, row, "%wave_column", self.columns // 2, buffer)
        return ""

    def _tensor(self, array: str, row: str, begin: str, width: int, buffer: Buffer) -> None:
        target, ty = buffer.view or buffer.name, self._shared_type(buffer)
        base = self.op(
            f"amdgpu.make_dma_base %{array}[{row}, {begin}], {target}[{begin}] : {self._flat()}, {ty} "
            f"-> !amdgpu.tdm_base<{self.element}>",
            "base",
        )
        descriptor = self.op(
            f"amdgpu.make_dma_descriptor {base} globalSize [1, {width}] globalStride [{self.columns}, 1] "
            f"sharedSize [1, {width}] : !amdgpu.tdm_base<{self.element}> -> !amdgpu.tdm_descriptor",
            "descriptor",
        )
        self.line(f"amdgpu.tensor_load_to_lds {descriptor} : !amdgpu.tdm_descriptor")

    def _copy_tiles(self, scope: Scope, chosen: list[Buffer]) -> str:
        """One thread starts copies that complete on a barrier object of their own; every thread waits for it."""
        slots = self.choose((*(buffer.slots or 1 for buffer in chosen), 1, 2, 4))
        name, ty = f"%full{len(self._barrier_objects)}", self._group(slots)
        self._barrier_objects.append((name, slots))
        slot = self.op(f"arith.remui {self.number}, {self.constant(slots)} : index", "i")
        turn = self.op(f"arith.divui {self.number}, {self.constant(slots)} : index", "i")
        bit = self.op(f"arith.remui {turn}, {self.constant(2)} : index", "i")
        parity = self.op(f"arith.cmpi eq, {bit}, {self.constant(1)} : index", "p")
        loads = []
        for buffer in chosen:
            array, row = self.choose(("a", "b")), self.row(scope)
            begin = self.op(f"arith.muli {row}, {self.constant(self.columns)} : index", "i")
            to = self._shared_type(buffer)
            loads.append((f"nvgpu.tma.async.load %map_{array}[{begin}], {name}[{slot}] to {buffer.view or buffer.name}",
                          f" : {self._map}, {ty} -> {to}"))  # fmt: skip
        bytes_ = self.constant(4 * self.columns * len(chosen))
        arrive = f"nvgpu.mbarrier.arrive.expect_tx {name}[{slot}], {bytes_}"
        if self.choose((True, False)):
            self.begin("scf.if %is_first {")
            self.line(f"{arrive} : {ty}")
            for load, types in loads:
                self.line(load + types)
            self.end()
        else:
            self.line(f"{arrive}, predicate = %is_first : {ty}")
            for load, types in loads:
                self.line(f"{load}, predicate = %is_first{types}")
        return f"nvgpu.mbarrier.try_wait.parity {name}[{slot}], {parity}, {self.constant(10_000_000)} : {ty}"
