"""A grammar of GPU kernels with loops, for hypothesis.

A kernel is sound by construction: the writer knows what threads have done to each buffer since the last barrier, and
puts a barrier where the next access would race; it reads only what was written. Each block runs the loop another number
of times, so that one launch covers them all. What is drawn on top of that is meant to be hard: buffers that are filled
in part or only in some iterations, slots chosen by hand and chosen wrong, memory that carries values from one iteration
to the next, conditionals, inner loops, copies in several groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st
from smalti import targets

from .case import Case

T = TypeVar("T")

ROWS = 64
BIAS = 16
"""Rows below zero are added this, and there are none above."""
TRIPS = 10
SHARED = "#gpu.address_space<workgroup>"


@dataclass
class Buffer:
    """An array in shared memory, or one in global memory that threads share."""

    name: str
    slots: int = 0
    """Slots that the kernel chooses by hand; 0 where there are none."""
    filled: bool = False
    """Whether all of it was written."""
    view: str = ""
    """What this iteration uses, where it is not all of it."""
    view_type: str = ""
    copying: bool = False
    """Whether a copy into it is under way."""


@dataclass
class Pending:
    """What threads may have done since the last barrier, by buffer."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)

    def copy(self) -> Pending:
        return Pending(set(self.reads), set(self.writes))

    def merge(self, other: Pending) -> None:
        self.reads |= other.reads
        self.writes |= other.writes


@dataclass
class Scope:
    """What statements can use."""

    vectors: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    """Indices of rows, the same in all threads."""
    counters: list[str] = field(default_factory=list)
    """Uniform indices that count iterations."""
    depth: int = 0
    divergent: bool = False
    """Whether only some threads are here."""
    uniform: bool = True
    """Whether a barrier may stand here."""

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
        self.can_copy = "cp_async_group" in chip.waits
        self.dense = self.choose((True, False, False))
        """Whether there are barriers that nothing needs."""
        self.lds_barrier = chip.vendor == "amd" and self.choose((False, True))
        # A barrier of shared memory orders no global memory.
        self.shares_global = not self.lds_barrier and self.choose((False, False, True))
        self.noalias = self.choose((True, True, False))
        self.buffers: list[Buffer] = []

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
        """Makes an access to what threads share sound; False where no barrier can stand here and one is needed."""
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
            # The row comes from memory.
            found = self.op(f"memref.load %rows[{row}] : memref<{ROWS}xi32>")
            found = self.op(f"arith.index_cast {found} : i32 to index", "i")
            found = self.op(f"arith.andi {found}, {self.constant(ROWS - 1)} : index", "i")
            return self.op(f"vector.load %{array}[{found}, {column}] : {ty}, {self.vector}")
        value = self.op(f"memref.load %{array}[{row}, {column}] : {ty}")
        return self.op(f"vector.broadcast {value} : {self.element} to {self.vector}")

    def _own(self, scope: Scope, write: bool) -> tuple[str, str] | None:
        """A place in the array that the block reads and writes: the thread's own, or another's after a barrier."""
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
        """What nothing reads."""
        row = self.choose((*scope.rows, self.constant(0)))
        value = self.pick(scope)
        self.line(f"vector.store {value}, %out[%block, {row}, %column] : {self._global_type()}, {self.vector}")

    def _shared_type(self, buffer: Buffer) -> str:
        if buffer.view_type:
            return buffer.view_type
        return f"memref<{self.columns}x{self.element}, {SHARED}>"

    def write_shared(self, scope: Scope, buffer: Buffer | None = None) -> None:
        buffer = buffer or self.usable()
        if buffer is None or not self.touch(buffer.name, True, scope):
            return
        ty, column = self._shared_type(buffer), self.choose(("%column", "%column", "%mirror"))
        value = self.pick(scope, fresh=True)
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
        """A new value that tells the order in which it was made of others."""
        letter = "f" if self.element == "f32" else "i"
        half = self.op(f"arith.mul{letter} {first}, %factor : {self.vector}")
        return self.op(f"arith.{self.choose(('add', 'sub'))}{letter} {half}, {second} : {self.vector}")

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, scope: Scope) -> None:
        kinds: list[Callable[[Scope], Any]] = [
            self._add(self.read_global), self._add(self.read_global),
            self.write_shared, self.write_shared, self._add(self.read_shared), self._add(self.read_shared),
            self._sum, self.write_output, self.write_own, self._add(self.read_own),
        ]  # fmt: skip
        if scope.depth < 3 and not scope.divergent:
            kinds += [self._branch, self._exchange, self._exchange]
            if scope.uniform and self.seldom():
                kinds += [self._inner_loop]
        if scope.uniform and not scope.divergent and self.can_copy:
            kinds += [self._copies, self._copies]
        if scope.uniform and not scope.divergent and self.seldom():
            kinds += [lambda _: self.barrier()]
        self.choose(kinds)(scope)

    def _add(self, make: Callable[[Scope], str | None]) -> Callable[[Scope], None]:
        def statement(scope: Scope) -> None:
            if (value := make(scope)) is not None:
                scope.vectors.append(value)

        return statement

    def _sum(self, scope: Scope) -> None:
        scope.vectors.append(self.combine(self.pick(scope), self.pick(scope)))

    def _exchange(self, scope: Scope) -> None:
        """Through shared memory, from thread to thread."""
        buffer = self.usable()
        if buffer is None:
            return
        value = self.read_global(scope)
        if value is not None:
            scope.vectors.append(value)
        self.write_shared(scope, buffer)
        if buffer.filled and not scope.divergent and scope.uniform:
            found = self.read_shared(scope, buffer)
            if found is not None:
                scope.vectors.append(found)

    def _condition(self, scope: Scope) -> tuple[str, bool]:
        """An i1, and whether threads differ in it."""
        if scope.counters and self.choose((True, True, False)):
            counter = self.choose(scope.counters)
            if self.choose((True, False)):
                bit = self.op(f"arith.andi {counter}, {self.constant(1)} : index", "i")
                return self.op(f"arith.cmpi eq, {bit}, {self.constant(self.integer(0, 1))} : index", "p"), False
            return self.op(f"arith.cmpi slt, {counter}, {self.constant(self.integer(0, 9))} : index", "p"), False
        bound = self.constant(self.choose((self.threads // 2, 1, 40)))
        return self.op(f"arith.cmpi ult, %thread, {bound} : index", "p"), True

    def _branch(self, scope: Scope) -> None:
        condition, divergent = self._condition(scope)
        gives = self.choose((True, False))
        name = ""
        if gives:
            self._names += 1
            name = f"%v{self._names}"
        # Buffers that only one side fills are not filled.
        filled = [buffer.filled for buffer in self.buffers]
        start, ends = self._pending.copy(), Pending()
        self.begin(f"{name} = scf.if {condition} -> {self.vector} {{" if gives else f"scf.if {condition} {{")
        for side in range(2 if gives or self.seldom() else 1):
            if side:
                self.end("} else {")
                self._depth += 1
            self._pending = start.copy()
            body = scope.inner(divergent)
            # All that is pipelined is here as a whole: a barrier inside is hard to get right, and is refused.
            body.uniform = not divergent and self.seldom()
            for _ in range(self.integer(0, 3)):
                self.statement(body)
            if gives:
                self.line(f"scf.yield {self.pick(body)} : {self.vector}")
            ends.merge(self._pending)
            for buffer, was in zip(self.buffers, filled, strict=True):
                buffer.filled = was
        self.end()
        ends.merge(start)
        self._pending = ends
        if gives:
            scope.vectors.append(name)

    def _copies(self, scope: Scope) -> None:
        """Asynchronous copies, in one group or two; what else is done while they are under way; waits."""
        free = [buffer for buffer in self.buffers if not buffer.copying and (buffer.view or not buffer.slots)]
        groups: list[tuple[str, list[Buffer]]] = []
        for _ in range(self.choose((1, 1, 2))):
            chosen: list[Buffer] = []
            for _ in range(self.choose((1, 1, 2))):
                if free:
                    chosen.append(free.pop(self.integer(0, len(free) - 1)))
            if not chosen:
                break
            tokens = [self._copy(scope, buffer) for buffer in chosen]
            group = self.op(f"nvgpu.device_async_create_group {', '.join(tokens)}", "group")
            groups.append((group, chosen))
        for _ in range(self.choose((0, 0, 1, 2))):
            plain = [self._add(self.read_global), self._sum, self.write_shared, self._add(self.read_shared)]
            self.choose(plain)(scope)
        while groups:
            done = self.integer(1, len(groups))
            left = len(groups) - done
            self.line(f"nvgpu.device_async_wait {groups[done - 1][0]} {{numGroups = {left} : i32}}")
            for _, chosen in groups[:done]:
                for buffer in chosen:
                    buffer.copying = False
                    buffer.filled = True
                    self._pending.writes.add(buffer.name)
            used = [buffer for _, chosen in groups[:done] for buffer in chosen]
            groups = groups[done:]
            for buffer in used:
                if self.choose((True, True, True, False)):
                    found = self.read_shared(scope, buffer)
                    if found is not None:
                        scope.vectors.append(found)

    def _copy(self, scope: Scope, buffer: Buffer) -> str:
        self.touch(buffer.name, True, scope)
        buffer.copying = True
        array = self.choose(("a", "b"))
        row = self.row(scope)
        column = self.choose(("%column", "%mirror"))
        some = ""
        if self.seldom() and scope.counters:
            some = self.op(f"arith.minui {self.choose(scope.counters)}, {self.constant(self.lanes)} : index", "i")
        ty = self._flat()
        return self.op(
            f"nvgpu.device_async_copy %{array}[{row}, {column}], {buffer.view or buffer.name}[%column], {self.lanes}"
            f"{', ' + some if some else ''} : {ty} to {self._shared_type(buffer)}",
            "copy",
        )

    # --- loops --------------------------------------------------------------------------------------------------------

    def _inner_loop(self, scope: Scope) -> None:
        count = self.choose((2, 1, 3, 0))
        self.loop(scope, self.constant(0), self.constant(count), self.constant(1), 1, inner=True)

    def loop(
        self, scope: Scope, lower: str, upper: str, step: str, by: int, inner: bool = False, ty: str = "index"
    ) -> None:
        """A loop that carries vectors and rows."""
        carried = [("vector", self.pick(scope)) for _ in range(self.choose((1, 1, 0, 2)))]
        if not inner and self.seldom():
            carried.append(("row", self.constant(self.integer(0, ROWS - 1))))
        self._names += 1
        number = self._names
        types = [self.vector if kind == "vector" else "index" for kind, _ in carried]
        arguments = [f"%s{number}_{i}" for i in range(len(carried))]
        head = ""
        if carried:
            starts = ", ".join(f"{a} = {start}" for a, (_, start) in zip(arguments, carried, strict=True))
            head = f" iter_args({starts}) -> ({', '.join(types)})"
        suffix = "" if ty == "index" else f" : {ty}"
        name = f"%k{number}"
        result = f"%r{number}:{len(carried)} = " if carried else ""
        filled = [buffer.filled for buffer in self.buffers]
        # What the body leaves behind is pending at its start as well.
        if (self._pending.reads or self._pending.writes) and self.choose((True, False)):
            self.barrier()
        self.begin(f"{result}scf.for {name} = {lower} to {upper} step {step}{head}{suffix} {{")
        body = scope.inner(nested=inner)
        counter = name if ty == "index" else self.op(f"arith.index_cast {name} : {ty} to index", "i")
        distance = counter
        if not inner:
            distance = self.op(f"arith.subi {counter}, %lower : index", "i")
            row = self.op(f"arith.addi {counter}, {self.constant(BIAS)} : index", "i")
        else:
            row = counter
        body.rows.append(row)
        body.counters.append(distance)
        for (kind, _), argument in zip(carried, arguments, strict=True):
            (body.vectors if kind == "vector" else body.rows).append(argument)
        if not inner:
            self._slots(name if ty == "index" else counter, by)
        # Memory as the last iteration may have left it.
        if self.choose((True, False)):
            self._pending.merge(Pending({b.name for b in self.buffers} | {"g"}, {b.name for b in self.buffers} | {"g"}))
        for _ in range(self.integer(1, 3) if inner else self.integer(2, 7)):
            self.statement(body)
        yielded = []
        for (kind, _), argument in zip(carried, arguments, strict=True):
            if kind == "vector":
                yielded.append(self.combine(argument, self.pick(body)) if not self.seldom() else self.pick(body))
            else:
                other = self.op(f"arith.muli {argument}, {self.constant(5)} : index", "i")
                other = self.op(f"arith.addi {other}, {self.constant(3)} : index", "i")
                yielded.append(self.op(f"arith.andi {other}, {self.constant(ROWS - 1)} : index", "i"))
        if self._pending.reads or self._pending.writes:
            # Sound, if not always needed: what follows the back edge knows nothing of this iteration.
            self.barrier()
        if carried:
            self.line(f"scf.yield {', '.join(yielded)} : {', '.join(types)}")
        attribute = ""
        if not inner and self.seldom():
            attribute = f" {{smalti.stages = {self.integer(1, 4)} : i64}}"
        self.end("}" + attribute)
        self._pending = Pending(set(), set())
        for buffer, was in zip(self.buffers, filled, strict=True):
            buffer.filled, buffer.view, buffer.view_type = was, "", ""
        for (kind, _), value in zip(carried, range(len(carried)), strict=True):
            found = f"%r{number}#{value}"
            if kind == "vector":
                scope.vectors.append(found)

    def _slots(self, counter: str, by: int) -> None:
        """Views of the slots that were chosen by hand: by the number of the iteration, or by what looks like it."""
        for buffer in self.buffers:
            if not buffer.slots:
                continue
            kind = self.choose(("right", "right", "right", "counter", "shifted"))
            number = counter
            if kind != "counter":
                number = self.op(f"arith.subi {counter}, %lower : index", "i")
                number = self.op(f"arith.divui {number}, %step : index", "i")
            if kind == "shifted":
                number = self.op(f"arith.addi {number}, {self.constant(1)} : index", "i")
            slot = self.op(f"arith.remui {number}, {self.constant(buffer.slots)} : index", "i")
            buffer.view_type = f"memref<{self.columns}x{self.element}, strided<[1], offset: ?>, {SHARED}>"
            buffer.view = self.op(
                f"memref.subview {buffer.name}[{slot}, 0] [1, {self.columns}] [1, 1] : "
                f"memref<{buffer.slots}x{self.columns}x{self.element}, {SHARED}> to {buffer.view_type}",
                "view",
            )
            buffer.filled = False

    # --- kernels ------------------------------------------------------------------------------------------------------

    def kernel(self) -> tuple[str, tuple[dict[int, str], ...]]:
        scope = Scope()
        self.buffers = [
            Buffer(f"%shared{i}", slots=self.choose((0, 0, 0, 2, 3, 4))) for i in range(self.choose((1, 2, 3)))
        ]
        static, by, low = self.choose((False, False, True)), self.choose((1, 1, 2, 3)), self.choose((0, 0, 3, -5))
        trips = self.integer(0, TRIPS - 1)
        adjust = self.integer(0, by - 1)
        ty = "i32" if self.seldom() else "index"
        if self.choose((True, False, False)):
            scope.vectors.append(
                self.op(f"vector.load %a[{self.constant(1)}, %column] : {self._flat()}, {self.vector}")
            )
        for buffer in self.buffers:
            if not buffer.slots and self.seldom():
                self.write_shared(scope, buffer)
        outer = self.choose(("", "", "", "for", "if"))
        results: list[str] = []
        inside = scope
        filled = [buffer.filled for buffer in self.buffers]
        if outer == "if":
            condition = self.op(f"arith.cmpi ne, %block, {self.constant(4)} : index", "p")
            self.begin(f"scf.if {condition} {{")
            inside = scope.inner(nested=False)
        elif outer == "for":
            if self._pending.reads or self._pending.writes:
                self.barrier()
            self.begin(f"scf.for %outer = {self.constant(0)} to {self.constant(2)} step {self.constant(1)} {{")
            inside = scope.inner(nested=False)
        for _ in range(self.choose((1, 1, 1, 2))):
            bounds = self._bounds(static, low, trips, by, adjust, ty)
            self.loop(inside, *bounds, by, ty=ty)
            for _ in range(self.integer(0, 1)):
                if self.choose((True, False)):
                    self._add(self.read_shared)(inside)
                else:
                    self.write_shared(inside)
        for value in inside.vectors[-3:]:
            row = len(results)
            self.line(
                f"vector.store {value}, %end[%block, {self.constant(row)}, %column] : {self._last()}, {self.vector}"
            )
            results.append(value)
        if outer:
            if outer == "for" and (self._pending.reads or self._pending.writes):
                self.barrier()
            self.end()
            for buffer, was in zip(self.buffers, filled, strict=True):
                buffer.filled = was
        arguments = self._arguments()
        launches = ({len(arguments): str(low), len(arguments) + 1: str(by)},)
        return self._text(arguments, static, trips, by, low, ty, adjust), launches

    def _bounds(self, static: bool, low: int, trips: int, by: int, adjust: int, ty: str) -> tuple[str, str, str]:
        if not static:
            return ("%lower", "%upper", "%step") if ty == "index" else ("%lower_i", "%upper_i", "%step_i")
        high = low + trips * by - (adjust if trips else 0)
        return self.constant(low, ty), self.constant(high, ty), self.constant(by, ty)

    def _arguments(self) -> list[str]:
        own = " {llvm.noalias}" if self.noalias else ""
        flat = f"{self._flat()}{own}"
        deep = f"{self._global_type()}{own}"
        last = f"{self._last()}{own}"
        rows = f"memref<{ROWS}xi32>{own}"
        return [f"%a: {flat}", f"%b: {flat}", f"%rows: {rows}", f"%g: {deep}", f"%out: {deep}", f"%end: {last}"]

    def _text(self, arguments: list[str], static: bool, trips: int, by: int, low: int, ty: str, adjust: int) -> str:
        blocks = 1 if static else TRIPS
        head = [
            "%thread = gpu.thread_id x",
            "%block = gpu.block_id x",
            f"%column = arith.muli %thread, {self.constant(self.lanes)} : index",
            f"%mirror = arith.subi {self.constant(self.columns - self.lanes)}, %column : index",
            # Half of the block further: always another wave.
            f"%turned = arith.addi %column, {self.constant(self.columns // 2)} : index",
            f"%opposite = arith.andi %turned, {self.constant(self.columns - 1)} : index",
        ]
        if self.element == "f32":
            head += [
                "%zero = arith.constant dense<0.25> : " + self.vector,
                "%factor = arith.constant dense<0.5> : " + self.vector,
            ]
        else:
            head += [
                "%zero = arith.constant dense<7> : " + self.vector,
                "%factor = arith.constant dense<31> : " + self.vector,
            ]
        if static:
            head += [f"%lower = arith.constant {low} : index", f"%step = arith.constant {by} : index"]
        else:
            head += [
                "%length = arith.muli %block, %step : index",
                "%end_of_length = arith.addi %lower, %length : index",
                f"%upper = arith.subi %end_of_length, {self.constant(adjust)} : index",
            ]
            if ty != "index":
                head += [
                    f"%{name}_{ty[0]} = arith.index_cast %{name} : index to {ty}" for name in ("lower", "upper", "step")
                ]
        for buffer in self.buffers:
            shape = f"{buffer.slots}x{self.columns}" if buffer.slots else f"{self.columns}"
            head.append(f"{buffer.name} = memref.alloc() : memref<{shape}x{self.element}, {SHARED}>")
        constants = [f"{name} = arith.constant {value} : {of}" for (value, of), name in self._constants.items()]
        bounds = [] if static else ["%lower: index", "%step: index"]
        lines = [
            "gpu.module @kernels {",
            f"  gpu.func @loops({', '.join([*arguments, *bounds])}) kernel",
            f"      attributes {{known_block_size = array<i32: {self.threads}, 1, 1>,",
            f"                  known_grid_size = array<i32: {blocks}, 1, 1>}} {{",
            *("    " + text for text in (*constants, *head)),
            *self._lines,
            "    gpu.return",
            "  }",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def passes(self) -> str:
        depth, stages = self.choose((0, 0, 2, 3, 4)), self.choose((2, 3, 2, 4, 5))
        mode = self.choose(("auto", "auto", "auto", "stream", "async"))
        chip = self.choose(("", f" target={self._chip.name}", f" target={self._chip.name}"))
        found = []
        if depth:
            found.append(f"smalti-multi-buffer{{depth={depth}{chip}}}")
        found.append(f"smalti-pipeline-loops{{stages={stages} mode={mode}{chip}}}")
        return f"builtin.module(gpu.module(gpu.func({','.join(found)})))"


CHIPS = ("sm_80", "sm_90a", "gfx942", "gfx950", "gfx1201", "gfx1250")


@st.composite
def cases(draw: Callable[[st.SearchStrategy[Any]], Any], chips: Sequence[str] = CHIPS) -> Case:
    """Kernels with loops, and passes for them."""
    chip = targets.get(draw(st.sampled_from(chips)))
    writer = Writer(draw, chip)
    text, scalars = writer.kernel()
    passes = writer.passes()
    return Case(text, chip.name, passes, scalars if "%lower: index" in text else ({},), draw(st.integers(0, 7)))
