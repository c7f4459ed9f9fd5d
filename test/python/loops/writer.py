# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated text of a kernel, with race-free accesses to initialized memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from helpers import SHARED
from hypothesis import strategies as st
from smalti import targets

T = TypeVar("T")

ROWS = 64
BIAS = 16
"""Added to rows below zero; the largest row is below `ROWS`."""
TRIPS = 10


@dataclass
class Buffer:
    """An array in shared memory, or one in global memory that threads share."""

    name: str
    slots: int = 0
    """Slots that the kernel chooses by hand; 0 if it does not choose any."""
    filled: bool = False
    """Whether all of it was written."""
    view: str = ""
    """The slot of this iteration, if it does not use the whole buffer."""
    view_type: str = ""
    slot: str = ""
    """The number of its slot."""
    copying: bool = False
    """Whether a copy into it is in flight."""
    units: int = 1
    """The number of copies that a wave has surely started for it, if they are counted."""


@dataclass
class Pending:
    """Accesses of threads since the last barrier, by buffer."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)

    def copy(self) -> Pending:
        return Pending(set(self.reads), set(self.writes))

    def merge(self, other: Pending) -> None:
        self.reads |= other.reads
        self.writes |= other.writes


@dataclass
class Scope:
    """Values that statements can use."""

    vectors: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    """Indices of rows, uniform across threads."""
    counters: list[str] = field(default_factory=list)
    """Uniform indices that count iterations."""
    depth: int = 0
    divergent: bool = False
    """Whether only some threads are here."""
    uniform: bool = True
    """Whether a barrier may be inserted at this point."""

    def inner(self, divergent: bool = False, nested: bool = True) -> Scope:
        return Scope(
            list(self.vectors), list(self.rows), list(self.counters), self.depth + nested, self.divergent or divergent
        )


class Writer:
    """Draws one kernel."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], chip: targets.Target) -> None:
        self._draw = draw
        self._chip = chip
        self._lines: list[str] = []
        self._depth = 2
        self._names = 0
        self._pending = Pending()
        self._constants: dict[tuple[str, str], str] = {}
        self.threads = 2 * chip.wave_size
        self.element = self.choose(("f32", "i32"))
        self.lanes = self.choose((2, 1, 4))
        self.columns = self.threads * self.lanes
        self.vector = f"vector<{self.lanes}x{self.element}>"
        self.dense = self.choose((True, False, False))
        """Whether the kernel has redundant barriers."""
        self.lds_barrier = chip.vendor == "amd" and self.choose((False, True))
        # A barrier of shared memory orders no global memory.
        self.shares_global = not self.lds_barrier and self.choose((False, False, True))
        self.noalias = self.choose((True, True, False))
        self.buffers: list[Buffer] = []
        self.needs_barriers = False
        """Whether a barrier does more than to order accesses."""

    # --- drawing ------------------------------------------------------------------------------------------------------

    def choose(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def seldom(self) -> bool:
        return self.integer(0, 5) == 5

    # --- text ---------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def op(self, text: str, prefix: str = "v") -> str:
        self._names += 1
        name = f"%{prefix}{self._names}"
        self.line(f"{name} = {text}")
        return name

    def constant(self, value: int, ty: str = "index") -> str:
        key = (str(value), ty)
        if key not in self._constants:
            sign = "m" if value < 0 else ""
            self._constants[key] = f"%c{sign}{abs(value)}" + ("" if ty == "index" else f"_{ty}")
        return self._constants[key]

    def begin(self, text: str) -> None:
        self.line(text)
        self._depth += 1

    def end(self, text: str = "}") -> None:
        self._depth -= 1
        self.line(text)

    # --- memory -------------------------------------------------------------------------------------------------------

    def barrier(self) -> None:
        self.line("amdgpu.lds_barrier" if self.lds_barrier else "gpu.barrier")
        self._pending = Pending()

    def touch(self, buffer: str, write: bool, scope: Scope) -> bool:
        """Makes an access to shared data race-free; False if that needs a barrier and none can be inserted at this
        point."""
        conflict = buffer in self._pending.writes or (write and buffer in self._pending.reads)
        extra = self.dense and not scope.divergent and scope.uniform and self.integer(0, 3) == 0
        if conflict or extra:
            if scope.divergent or not scope.uniform:
                return not conflict
            self.barrier()
        (self._pending.writes if write else self._pending.reads).add(buffer)
        return True

    def row(self, scope: Scope) -> str:
        """A row of an array, by the loop's counter or by what it carries."""
        if not scope.rows or self.seldom():
            return self.constant(self.integer(0, ROWS - 1))
        row = self.choose(scope.rows)
        kind = self.choose(("same", "same", "next", "before", "scaled"))
        if kind == "same":
            return row
        if kind == "scaled":
            other = self.op(f"arith.muli {row}, {self.constant(3)} : index", "i")
        else:
            other = self.op(f"arith.{'addi' if kind == 'next' else 'subi'} {row}, {self.constant(1)} : index", "i")
        return self.op(f"arith.andi {other}, {self.constant(ROWS - 1)} : index", "i")

    def read_global(self, scope: Scope) -> str | None:
        array = self.choose(("a", "a", "b", "g"))
        if array == "g":
            return self.read_own(scope)
        row = self.row(scope)
        column = self.choose(("%column", "%column", "%mirror"))
        ty = self._flat()
        kind = self.choose(("vector", "vector", "scalar", "masked", "gather"))
        if kind == "vector":
            return self.op(f"vector.load %{array}[{row}, {column}] : {ty}, {self.vector}")
        if kind == "masked":
            count = self.choose((*scope.counters, self.constant(self.integer(0, self.lanes))))
            mask = self.op(f"vector.create_mask {count} : vector<{self.lanes}xi1>")
            other = self.choose((*scope.vectors, "%zero"))
            return self.op(
                f"vector.maskedload %{array}[{row}, {column}], {mask}, {other} : "
                f"{ty}, vector<{self.lanes}xi1>, {self.vector} into {self.vector}"
            )
        if kind == "gather":
            # The row is loaded from memory.
            found = self.op(f"memref.load %rows[{row}] : memref<{ROWS}xi32>")
            found = self.op(f"arith.index_cast {found} : i32 to index", "i")
            found = self.op(f"arith.andi {found}, {self.constant(ROWS - 1)} : index", "i")
            return self.op(f"vector.load %{array}[{found}, {column}] : {ty}, {self.vector}")
        value = self.op(f"memref.load %{array}[{row}, {column}] : {ty}")
        return self.op(f"vector.broadcast {value} : {self.element} to {self.vector}")

    def _own(self, scope: Scope, write: bool) -> tuple[str, str] | None:
        """An element of the array that the block reads and writes: the thread's own, or another's after a barrier."""
        column = "%column"
        if self.shares_global:
            if not self.touch("g", write, scope):
                return None
            column = self.choose(("%column", "%mirror"))
        return self.row(scope), column

    def _flat(self) -> str:
        return f"memref<{ROWS}x{self.columns}x{self.element}>"

    def _last(self) -> str:
        return f"memref<{TRIPS}x4x{self.columns}x{self.element}>"

    def _global_type(self) -> str:
        return f"memref<{TRIPS}x{ROWS}x{self.columns}x{self.element}>"

    def read_own(self, scope: Scope) -> str | None:
        place = self._own(scope, write=False)
        if place is None:
            return None
        return self.op(f"vector.load %g[%block, {place[0]}, {place[1]}] : {self._global_type()}, {self.vector}")

    def write_own(self, scope: Scope) -> None:
        place = self._own(scope, write=True)
        if place is not None:
            value = self.pick(scope)
            self.line(
                f"vector.store {value}, %g[%block, {place[0]}, {place[1]}] : {self._global_type()}, {self.vector}"
            )

    def write_output(self, scope: Scope) -> None:
        """Values without a use."""
        row = self.choose((*scope.rows, self.constant(0)))
        value = self.pick(scope)
        self.line(f"vector.store {value}, %out[%block, {row}, %column] : {self._global_type()}, {self.vector}")

    def _shared_type(self, buffer: Buffer) -> str:
        if buffer.view_type:
            return buffer.view_type
        return f"memref<{self.columns}x{self.element}, {SHARED}>"

    def write_shared(self, scope: Scope, buffer: Buffer | None = None) -> None:
        buffer = buffer or self.usable()
        if buffer is None:
            return
        # Reading a value may be an access of its own.
        value = self.pick(scope, fresh=True)
        if not self.touch(buffer.name, True, scope):
            return
        ty, column = self._shared_type(buffer), self.choose(("%column", "%column", "%mirror"))
        if self.lanes == 1 and self.choose((True, False)):
            scalar = self.op(f"vector.extract {value}[0] : {self.element} from {self.vector}")
            self.line(f"memref.store {scalar}, {buffer.view or buffer.name}[{column}] : {ty}")
        elif self.choose((True, True, False)):
            self.line(f"vector.store {value}, {buffer.view or buffer.name}[{column}] : {ty}, {self.vector}")
        else:
            self.line(
                f"vector.transfer_write {value}, {buffer.view or buffer.name}[{column}] {{in_bounds = [true]}} : "
                f"{self.vector}, {ty}"
            )
        if not scope.divergent:
            buffer.filled = True

    def read_shared(self, scope: Scope, buffer: Buffer | None = None) -> str | None:
        buffer = buffer or self.usable(filled=True)
        if buffer is None or not self.touch(buffer.name, False, scope):
            return None
        ty, column = self._shared_type(buffer), self.choose(("%mirror", "%mirror", "%column", "%opposite"))
        name = buffer.view or buffer.name
        if self.choose((True, True, False)):
            return self.op(f"vector.load {name}[{column}] : {ty}, {self.vector}")
        value = self.op(f"memref.load {name}[{column}] : {ty}")
        return self.op(f"vector.broadcast {value} : {self.element} to {self.vector}")

    def usable(self, filled: bool = False) -> Buffer | None:
        found = [buffer for buffer in self.buffers if (buffer.filled or not filled) and not buffer.copying]
        found = [buffer for buffer in found if buffer.view or not buffer.slots]
        return self.choose(found) if found else None

    # --- values -------------------------------------------------------------------------------------------------------

    def pick(self, scope: Scope, fresh: bool = False) -> str:
        if fresh and self.choose((True, False)):
            found = self.read_global(scope)
            if found is not None:
                scope.vectors.append(found)
                return found
        return self.choose((*reversed(scope.vectors), "%zero"))

    def combine(self, first: str, second: str) -> str:
        """A new value that depends on the order of its operands."""
        letter = "f" if self.element == "f32" else "i"
        half = self.op(f"arith.mul{letter} {first}, %factor : {self.vector}")
        return self.op(f"arith.{self.choose(('add', 'sub'))}{letter} {half}, {second} : {self.vector}")

    # --- simple statements ---------------------------------------------------------------------------------------------

    def add(self, make: Callable[[Scope], str | None]) -> Callable[[Scope], None]:
        def statement(scope: Scope) -> None:
            if (value := make(scope)) is not None:
                scope.vectors.append(value)

        return statement

    def sum(self, scope: Scope) -> None:
        scope.vectors.append(self.combine(self.pick(scope), self.pick(scope)))
