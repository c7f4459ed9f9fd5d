# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A grammar of GPU kernels with loops, for hypothesis.

A kernel is race-free by construction. The writer tracks the accesses of threads to each buffer since the last barrier,
and inserts a barrier before an access that would race; it reads only initialized memory. Each block runs the loop with
another trip count, so that one launch covers them all. The kernels are meant to be hard. They have partial and
conditional writes to buffers, slots chosen by hand or wrong, and memory that carries values from one iteration to the
next. They also have conditionals, inner loops, and copies in several groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import hypothesis
import smalti
from fuzz.grammar import programs
from hypothesis import strategies as st
from smalti import targets
from smalti.errors import CompileError

from .case import Case
from .copies import Copies
from .writer import BIAS, ROWS, SHARED, TRIPS, Buffer, Pending, Scope


class Kernel(Copies):
    """Generates statements, loops, and the code around them."""

    unsigned = False
    """Whether loops count without a sign."""
    _outer_trips = ""
    """The trip count in each iteration of an outer loop, if it is always the same."""
    _upper = ""
    """The loop's end, if its trip count differs in each iteration of an outer loop."""

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, scope: Scope) -> None:
        kinds: list[Callable[[Scope], Any]] = [
            self.add(self.read_global), self.add(self.read_global),
            self.write_shared, self.write_shared, self.add(self.read_shared), self.add(self.read_shared),
            self.sum, self.write_output, self.write_own, self.add(self.read_own),
        ]  # fmt: skip
        if scope.depth < 3 and not scope.divergent:
            kinds += [self._branch, self._exchange, self._exchange]
            if scope.uniform and self.seldom():
                kinds += [self._inner_loop]
        if scope.uniform and not scope.divergent and self.ways:
            kinds += [self.copies] * (1 if self.copying else 2)
        if scope.uniform and not scope.divergent and self.seldom():
            kinds += [lambda _: self.barrier()]
        self.choose(kinds)(scope)

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
        pair = self._pair() if not inner and self.seldom() else []
        hands_on = bool(pair) and self.choose((True, False))
        starts = [start for _, start in carried]
        if hands_on:
            starts += [buffer.name for buffer in pair]
            types += [self._shared_type(buffer) for buffer in pair]
        arguments = [f"%s{number}_{i}" for i in range(len(starts))]
        head = ""
        if starts:
            starts = ", ".join(f"{a} = {start}" for a, start in zip(arguments, starts, strict=True))
            head = f" iter_args({starts}) -> ({', '.join(types)})"
        suffix = "" if ty == "index" else f" : {ty}"
        name = f"%k{number}"
        result = f"%r{number}:{len(types)} = " if types else ""
        filled = [buffer.filled for buffer in self.buffers]
        # Accesses pending at the end of the body are pending at its start, too.
        if (self._pending.reads or self._pending.writes) and self.choose((True, False)):
            self.barrier()
        before = self._pending.copy()
        unsigned = "unsigned " if self.unsigned and not inner else ""
        self.begin(f"{result}scf.for {unsigned}{name} = {lower} to {upper} step {step}{head}{suffix} {{")
        body = scope.inner(nested=inner)
        cast = "arith.index_castui" if unsigned else "arith.index_cast"
        counter = name if ty == "index" else self.op(f"{cast} {name} : {ty} to index", "i")
        distance = counter
        if not inner:
            distance = self.op(f"arith.subi {counter}, %lower : index", "i")
            # A narrow or unsigned counter begins far from zero.
            begin = distance if unsigned or ty == "i8" else counter
            row = self.op(f"arith.addi {begin}, {self.constant(BIAS)} : index", "i")
        else:
            row = counter
        body.rows.append(row)
        body.counters.append(distance)
        for (kind, _), argument in zip(carried, arguments[: len(carried)], strict=True):
            (body.vectors if kind == "vector" else body.rows).append(argument)
        if not inner:
            self._slots(name if ty == "index" else counter, by)
            self._rotate(pair, arguments[len(carried) :] if hands_on else self._select(pair, distance))
            self._count(distance)
        # Memory as the last iteration may have left it.
        if self.choose((True, False)):
            self._pending.merge(Pending({b.name for b in self.buffers} | {"g"}, {b.name for b in self.buffers} | {"g"}))
        if not inner and self.copying:
            self.copies(body)
        for _ in range(self.integer(1, 3) if inner else self.integer(1, 4) if self.copying else self.integer(2, 7)):
            self.statement(body)
        yielded = []
        for (kind, _), argument in zip(carried, arguments[: len(carried)], strict=True):
            if kind == "vector":
                yielded.append(self.combine(argument, self.pick(body)) if not self.seldom() else self.pick(body))
            else:
                other = self.op(f"arith.muli {argument}, {self.constant(5)} : index", "i")
                other = self.op(f"arith.addi {other}, {self.constant(3)} : index", "i")
                yielded.append(self.op(f"arith.andi {other}, {self.constant(ROWS - 1)} : index", "i"))
        if self._pending.reads or self._pending.writes:
            # Race-free, but not always needed: the writer has no information of this iteration after the back edge.
            self.barrier()
        # Each gets the other one's memory.
        yielded += [buffer.view for buffer in reversed(pair)] if hands_on else []
        if yielded:
            self.line(f"scf.yield {', '.join(yielded)} : {', '.join(types)}")
        attribute = ""
        if not inner and self.seldom():
            attribute = f" {{smalti.stages = {self.integer(1, 4)} : i64}}"
        self.end("}" + attribute)
        # The body may not have run: nor have its barriers.
        self._pending = before
        if not inner:
            self.number = ""
        for buffer, was in zip(self.buffers, filled, strict=True):
            buffer.filled = was
            if not inner:
                buffer.view, buffer.view_type, buffer.slot = "", "", ""
        for (kind, _), value in zip(carried, range(len(carried)), strict=True):
            found = f"%r{number}#{value}"
            if kind == "vector":
                scope.vectors.append(found)

    def _pair(self) -> list[Buffer]:
        """Two buffers that change places with every iteration."""
        found = [buffer for buffer in self.buffers if not buffer.slots]
        return found[:2] if len(found) > 1 else []

    def _select(self, pair: list[Buffer], distance: str) -> list[str]:
        """The two buffers of this iteration, selected by its distance from the first."""
        if not pair:
            return []
        bit = self.op(f"arith.andi {distance}, {self.constant(1)} : index", "i")
        is_even = self.op(f"arith.cmpi eq, {bit}, {self.constant(0)} : index", "p")
        names, ty = [buffer.name for buffer in pair], self._shared_type(pair[0])
        return [
            self.op(f"arith.select {is_even}, {one}, {other} : {ty}", "view") for one, other in (names, reversed(names))
        ]

    def _rotate(self, pair: list[Buffer], views: list[str]) -> None:
        for buffer, view in zip(pair, views, strict=True):
            buffer.view = view
        if pair:
            names = {buffer.name for buffer in pair}
            filled = all(buffer.filled for buffer in pair)
            for buffer in pair:
                buffer.filled = filled
            # An access to one buffer may have been an access to the other.
            for done in (self._pending.reads, self._pending.writes):
                done.update(names if names & done else ())

    def _count(self, distance: str) -> None:
        """The number of the iteration, over all runs of the loop."""
        if not self.has_tiles:
            return
        self.number = self.op(f"arith.divui {distance}, %step : index", "i")
        if self._outer_trips:
            before = self.op(f"arith.muli %outer, {self._outer_trips} : index", "i")
            self.number = self.op(f"arith.addi {self.number}, {before} : index", "i")
        elif self._upper:
            self.number = self.op(f"arith.addi %done, {self.number} : index", "i")

    def _slots(self, counter: str, by: int) -> None:
        """Views of the slots that were chosen by hand: by the number of the iteration, or by what looks like it."""
        for buffer in self.buffers:
            if not buffer.slots:
                continue
            kinds = ("counter", "shifted", "right", "right", "right")
            kind = self.choose((*kinds, "right", "right", "right") if self.copying else kinds)
            number = counter
            if kind != "counter":
                number = self.op(f"arith.subi {counter}, %lower : index", "i")
                number = self.op(f"arith.divui {number}, %step : index", "i")
            if kind == "shifted":
                number = self.op(f"arith.addi {number}, {self.constant(1)} : index", "i")
            slot = self.op(f"arith.remui {number}, {self.constant(buffer.slots)} : index", "i")
            buffer.slot = slot
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
            Buffer(f"%shared{i}", slots=self.choose((4, 3, 4, 2, 0) if self.copying else (0, 0, 0, 2, 3, 4)))
            for i in range(self.choose((1, 2, 3)))
        ]
        static, by, low = self.choose((False, False, True)), self.choose((1, 1, 2, 3)), self.choose((0, 0, 3, -5))
        trips = self.integer(0, TRIPS - 1)
        adjust = self.integer(0, by - 1)
        ty = self.choose(("index", "index", "index", "index", "i32", "i8"))
        self.unsigned = self.seldom()
        if ty == "i8":
            # The end of the last iteration is the largest number, or the first iteration begins near the smallest.
            top = 255 if self.unsigned else 127
            low = self.choose((top - (TRIPS - 1) * by, top - 252))
        elif self.unsigned:
            low = self.choose((3, 200))
        if self.choose((True, False, False)):
            scope.vectors.append(
                self.op(f"vector.load %a[{self.constant(1)}, %column] : {self._flat()}, {self.vector}")
            )
        for buffer in self.buffers:
            if not buffer.slots and self.seldom():
                self.write_shared(scope, buffer)
        outer = self.choose(("", "", "", "for", "again", "if"))
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
            self._outer_trips = self.constant(trips) if static else "%block"
        elif outer == "again":
            if self._pending.reads or self._pending.writes:
                self.barrier()
            self._run_again(self.constant(trips) if static else "%block", adjust)
            inside = scope.inner(nested=False)
        for _ in range(self.choose((1, 1, 1, 2))):
            bounds = self._bounds(static, low, trips, by, adjust, ty)
            if self._upper:
                upper = (
                    self._upper if ty == "index" else self.op(f"arith.index_cast {self._upper} : index to {ty}", "i")
                )
                bounds = bounds[0], upper, bounds[2]
            self.loop(inside, *bounds, by, ty=ty)
            for _ in range(self.integer(0, 1)):
                if self.choose((True, False)):
                    self.add(self.read_shared)(inside)
                else:
                    self.write_shared(inside)
        for value in inside.vectors[-3:]:
            row = len(results)
            self.line(
                f"vector.store {value}, %end[%block, {self.constant(row)}, %column] : {self._last()}, {self.vector}"
            )
            results.append(value)
        if outer:
            if outer != "if" and (self._pending.reads or self._pending.writes):
                self.barrier()
            if outer == "again":
                self.line(f"scf.yield {self.op('arith.addi %done, %own : index', 'i')} : index")
            self.end()
            for buffer, was in zip(self.buffers, filled, strict=True):
                buffer.filled = was
        arguments = self._arguments()
        launches = ({len(arguments): str(low), len(arguments) + 1: str(by)},)
        return self._text(arguments, static, trips, by, low, ty, adjust), launches

    def _run_again(self, trips: str, adjust: int) -> None:
        """A loop in whose iterations the next loops have increasing, decreasing or zero trip counts."""
        runs, pace = self.constant(self.choose((2, 3, 4))), self.constant(self.choose((1, 7, TRIPS - 1)))
        self.begin(f"%all = scf.for %outer = {self.constant(0)} to {runs} step {self.constant(1)} "
                   f"iter_args(%done = {self.constant(0)}) -> (index) {{")  # fmt: skip
        more = self.op(f"arith.muli %outer, {pace} : index", "i")
        more = self.op(f"arith.addi {trips}, {more} : index", "i")
        self.line(f"%own = arith.remui {more}, {self.constant(TRIPS)} : index")
        length = self.op("arith.muli %own, %step : index", "i")
        end = self.op(f"arith.addi %lower, {length} : index", "i")
        self._upper = self.op(f"arith.subi {end}, {self.constant(adjust)} : index", "i")

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
        arrays = [f"%a: {flat}", f"%b: {flat}", f"%rows: {rows}", f"%g: {deep}", f"%out: {deep}", f"%end: {last}"]
        return arrays + self.map_arguments()

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
        head += self.extra()
        for buffer in self.buffers:
            shape = f"{buffer.slots}x{self.columns}" if buffer.slots else f"{self.columns}"
            aligned = " {alignment = 128 : i64}" if self.has_tiles else ""
            head.append(f"{buffer.name} = memref.alloc(){aligned} : memref<{shape}x{self.element}, {SHARED}>")
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


def passes(draw: Callable[[st.SearchStrategy[Any]], Any], chip: str, copying: bool = False) -> str:
    """Random passes with random options; `copying` if the kernel's own copies and slots are to be pipelined."""

    def choose(options: Sequence[Any]) -> Any:
        return draw(st.sampled_from(options))

    depth = choose((0, 0, 0, 0, 3) if copying else (0, 0, 2, 3, 4))
    stages = choose((2, 3, 2, 3, 4) if copying else (2, 3, 2, 4, 5))
    mode = choose(
        ("auto", "async", "auto", "async", "stream") if copying else ("auto", "auto", "auto", "stream", "async")
    )
    target = choose(("", f" target={chip}", f" target={chip}"))
    found = []
    if depth:
        found.append(f"smalti-multi-buffer{{depth={depth}{target}}}")
    found.append(f"smalti-pipeline-loops{{stages={stages} mode={mode}{target}}}")
    barriers = f"smalti-place-barriers{{{target.strip()}}}"
    order = choose(("", "", "", "alone", "before", "after", "between"))
    if order == "alone":
        found = [barriers]
    elif order:
        found.insert({"before": 0, "after": len(found), "between": len(found) - 1}[order], barriers)
    tail = choose(("", "", "", "pad", "swizzle", "canonicalize", "allocate"))
    if tail in ("pad", "swizzle") and target:
        found.append(f"smalti-{tail}-shared-memory{{{target.strip()} only-when-conflicts={choose(('true', 'false'))}}}")
    elif tail == "allocate":
        found.append(f"smalti-allocate-shared-memory{{target={chip}}}")
    elif tail == "canonicalize":
        found += ["canonicalize", "cse"]
    return f"builtin.module(gpu.module(gpu.func({','.join(found)})))"


def bare_passes(draw: Callable[[st.SearchStrategy[Any]], Any], chip: str, copying: bool) -> str:
    """For a kernel without barriers: the pass that inserts them, and further passes after it."""
    text = passes(draw, chip, copying)
    head, tail = "builtin.module(gpu.module(gpu.func(", ")))"
    found = text.removeprefix(head).removesuffix(tail)
    target = draw(st.sampled_from(("", f"{{target={chip}}}")))
    after = draw(st.sampled_from(("", "," + found)))
    return f"{head}smalti-place-barriers{target}{after}{tail}"


CHIPS = ("sm_80", "sm_90a", "gfx942", "gfx950", "gfx1201", "gfx1250")


@st.composite
def block_cases(draw: Callable[[st.SearchStrategy[Any]], Any], chip: str) -> Case:
    """Tile-level kernels, lowered to block-level kernels, and passes for them."""
    program = draw(programs())
    module = smalti.parse(program.text)
    warps = program.options.get("num_warps", "auto")
    try:
        smalti.Pipeline(f"builtin.module(smalti-compile{{target={chip} stop-after=mosaic num-warps={warps}}})").run(
            module
        )
        smalti.compile(module, target=targets.EMULATED + chip, depth=1, stages=1)
    except CompileError:
        hypothesis.reject()
    return Case(str(module), chip, passes(draw, chip), (dict(program.scalars),), program.seed)


@st.composite
def cases(draw: Callable[[st.SearchStrategy[Any]], Any], chips: Sequence[str] = CHIPS) -> Case:
    """Kernels with loops, and passes for them."""
    chip = targets.get(draw(st.sampled_from(chips)))
    if draw(st.integers(0, 7)) == 7:
        return draw(block_cases(chip.name))
    writer = Kernel(draw, chip)
    text, scalars = writer.kernel()
    scalars = scalars if "%lower: index" in text else ({},)
    seed = draw(st.integers(0, 7))
    # In global memory, no pass puts a barrier in.
    bare = not (writer.shares_global or writer.needs_barriers or "mbarrier" in text) and draw(st.integers(0, 4)) == 4
    wanted = (bare_passes if bare else passes)(draw, chip.name, writer.copying)
    options = {}
    if "smalti-allocate" not in wanted and draw(st.integers(0, 5)) == 5:
        options["bank_conflicts"] = draw(st.sampled_from(("swizzle", "keep")))
    return Case(text, chip.name, wanted, scalars, seed, options, bare)
