"""Asynchronous copies into shared memory, in each way that a chip has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from smalti import targets

from .writer import Buffer, Scope, Writer

GROUPS, LOADS, ASYNC = "groups", "loads", "async"
"""cp.async in groups; loads by DMA, counted with the others (CDNA); copies with a counter of their own (gfx1250)."""
TOKEN = "!nvgpu.device.async.token"


class Copies(Writer):
    """Draws copies and the waits for them. Every copy is one unit of its wave, or belongs to a group."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], chip: targets.Target) -> None:
        super().__init__(draw, chip)
        fits = 4 * self.lanes in chip.async_copy_bytes
        waits = {"cp_async_group": GROUPS, "vmcnt": LOADS, "async_counter": ASYNC}
        self.ways = [way for name, way in waits.items() if name in chip.waits and fits]

    def extra(self) -> list[str]:
        """What copies need at the head of the kernel."""
        if not self.ways or self.ways[0] != LOADS:
            return []
        # A wave writes its elements one after the other.
        wave = self._chip.wave_size
        return [
            f"%wave = arith.divui %thread, {self.constant(wave)} : index",
            f"%wave_column = arith.muli %wave, {self.constant(wave * self.lanes)} : index",
        ]

    def copies(self, scope: Scope) -> None:
        """Copies in one group or two; what else is done while they are under way; waits."""
        way = self.choose(self.ways)
        free = [buffer for buffer in self.buffers if not buffer.copying and (buffer.view or not buffer.slots)]
        groups: list[tuple[str, list[Buffer]]] = []
        for _ in range(self.choose((1, 1, 2))):
            chosen: list[Buffer] = []
            for _ in range(self.choose((1, 1, 2))):
                if free:
                    chosen.append(free.pop(self.integer(0, len(free) - 1)))
            if not chosen:
                break
            tokens = [self._copy(way, scope, buffer) for buffer in chosen]
            group = ""
            if way == GROUPS:
                group = self.op(f"nvgpu.device_async_create_group {', '.join(tokens)}", "group")
            groups.append((group, chosen))
        for _ in range(self.choose((0, 0, 1, 2))):
            plain = [self.add(self.read_global), self.sum, self.write_shared, self.add(self.read_shared)]
            self.choose(plain)(scope)
        while groups:
            done = self.integer(1, len(groups))
            self._wait(way, groups[done - 1][0], [chosen for _, chosen in groups[done:]])
            used = [buffer for _, chosen in groups[:done] for buffer in chosen]
            for buffer in used:
                buffer.copying = False
                buffer.filled = True
                self._pending.writes.add(buffer.name)
            groups = groups[done:]
            for buffer in used:
                if self.choose((True, True, True, False)):
                    found = self.read_shared(scope, buffer)
                    if found is not None:
                        scope.vectors.append(found)

    def _wait(self, way: str, group: str, left: list[list[Buffer]]) -> None:
        units = sum(len(chosen) for chosen in left)
        if way == GROUPS:
            self.line(f"nvgpu.device_async_wait {group} {{numGroups = {len(left)} : i32}}")
        elif way == ASYNC:
            self.line(f"rocdl.s.wait.asynccnt {units}")
        elif self.choose((True, False)):
            self.line(f"amdgpu.memory_counter_wait load({units})")
        elif left or self.choose((True, False)):
            # All ones but for the counter of loads.
            self.line(f"rocdl.s.waitcnt {0x3F70 | units}")
        else:
            # LLVM has the barrier wait.
            self.barrier()

    def _copy(self, way: str, scope: Scope, buffer: Buffer) -> str:
        """Starts a copy of all of the buffer; one side of a conditional does it too."""
        self.touch(buffer.name, True, scope)
        buffer.copying = True
        make = {GROUPS: self._copy_in_group, LOADS: self._load_by_dma, ASYNC: self._copy_counted}[way]
        row = self.row(scope)
        if not scope.counters or not self.seldom():
            return make(scope, buffer, row)
        bit = self.op(f"arith.andi {self.choose(scope.counters)}, {self.constant(1)} : index", "i")
        condition = self.op(f"arith.cmpi eq, {bit}, {self.constant(self.integer(0, 1))} : index", "p")
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
        place = self.op(f"arith.muli {row}, {self.constant(self.columns)} : index", "i")
        place = self.op(f"arith.addi {place}, {column} : index", "i")
        source = self._address(f"%{array}", self._flat(), place, 1)
        to = "%column"
        if buffer.slot:
            # The address of a view is that of its buffer.
            to = self.op(f"arith.muli {buffer.slot}, {self.constant(self.columns)} : index", "i")
            to = self.op(f"arith.addi {to}, %column : index", "i")
        target = self._address(buffer.view or buffer.name, self._shared_type(buffer), to, 3)
        bits = 32 * self.lanes
        self.line(f"rocdl.global.load.async.to.lds.b{bits} {source}, {target}, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>")
        return ""
