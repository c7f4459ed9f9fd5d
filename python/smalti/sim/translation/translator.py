# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of ops to Python functions, before anything runs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ... import ir, targets
from ..._mlir_libs import _smalti
from ...diagnostics import Diagnostic, source_location
from ...errors import LaunchError, SmaltiError
from ..machine import recorder, values
from ..machine.engines import read_registers
from ..machine.findings import Enough, Site, Stop, TimeLimit
from ..machine.machine import Group, State
from ..machine.memory import Registers

Step = Callable[[Any], Any]
"""The effect of an op on a warpgroup. The step of an op that may wait is a generator function."""


UNSUPPORTED = "the simulator does not support"
"""How a message begins if the kernel is valid, but the simulator cannot run it."""


class Unsupported(Exception):
    """The simulator does not support an operation; the message says what is required, if it supports other forms."""

    is_valid = True
    """Whether the operation is valid on the chip."""

    @classmethod
    def wrong_type(cls, what: str, ty: Any) -> Unsupported:
        """A value or memory whose elements do not have a numpy type."""
        return cls(f"{what} has type {ty}; elements must be index, floats, or integers of 1, 8, 16, 32 or 64 bits")

    @classmethod
    def invalid(cls, problem: str) -> Unsupported:
        """An operation that the chip does not support either."""
        found = cls(problem)
        found.is_valid = False
        return found

    def of(self, name: str) -> str:
        """The error for an operation."""
        if not self.is_valid:
            return f"'{name}': {self}"
        if not self.args:
            return f"{UNSUPPORTED} '{name}'"
        return f"{UNSUPPORTED} this form of '{name}': {self}"


def require_chip(target: targets.Target, what: str, has: Callable[[targets.Target], bool]) -> None:
    """Raises Unsupported if the chip does not have an instruction, with the chips that have it."""
    if not has(target):
        chips = ", ".join(other.name for other in targets.all() if other.vendor == target.vendor and has(other))
        raise Unsupported.invalid(f"{target.name} does not have {what}; chips that have it: {chips}")


@dataclass(frozen=True)
class Translated:
    """An op as a step."""

    step: Step | None
    blocking: bool = False
    site: Site | None = None
    """The op, if the step is from one."""


Translation = Callable[[Any, "Translator"], "Step | Translated | None"]
OPERATIONS: dict[str, Translation] = {}
"""The translations of ops, by name."""
THREAD_OPERATIONS: dict[str, Any] = {}
"""The translations at thread level."""


OF_PHASES = {f"nvvm.mbarrier.{name}" for name in ("try_wait", "try_wait.parity", "arrive.expect_tx")}
OF_PHASES |= {f"nvgpu.mbarrier.{name}" for name in ("try_wait.parity", "arrive.expect_tx")}
OF_PHASES |= {"mosaic_gpu.wait", "mosaic_gpu.arrive_expect_tx"}
"""Ops with an operand that selects the phase of an mbarrier, or its expected bytes."""


def registering(into: dict[str, Any]) -> Callable[..., Callable[[Any], Any]]:
    """A decorator that registers the translation of ops, by name."""

    def operation(*names: str) -> Callable[[Any], Any]:
        def register(function: ir.Operation) -> Any:
            for name in names:
                into[name] = function
            return function

        return register

    return operation


operation = registering(OPERATIONS)


def blocking(step: Step) -> Translated:
    """A step that is a generator function."""
    return Translated(step, True)


ARGUMENT = "mosaic_gpu.from_kernel_arg_idx"
"""The attribute with the argument number of a memref in a JAX module."""
PROGRAM_THREADS = "mosaic_gpu.thread_group_size"
"""The attribute with the number of threads that execute a program together, if a block runs several programs."""
AUTO_BARRIERS = "mosaic_gpu.auto_barriers"
"""The attribute that adds a barrier around stores to shared memory, and before bulk loads."""
VIEWS_OF_PACKED = frozenset(
    f"memref.{name}" for name in ("subview", "cast", "assume_alignment", "dim", "memory_space_cast")
)
"""Ops that do not depend on how elements are packed in bytes."""


def is_packed(ty: ir.Type) -> bool:
    """Whether the type is memory with several elements per byte."""
    return isinstance(ty, ir.MemRefType) and str(ty.element_type) in values.PACKED


MOST_ELEMENTS = 1 << 24
"""The most elements of a vector: far more than the registers of a block hold."""


def is_large(ty: ir.Type) -> bool:
    """Whether the type is a vector of more elements than any block holds."""
    return isinstance(ty, ir.VectorType) and math.prod(ty.shape) > MOST_ELEMENTS


class Translator:
    """Translates the ops of one program. Each value has a slot."""

    operations: dict[str, Any] = OPERATIONS
    of_packed = VIEWS_OF_PACKED | {
        "builtin.unrealized_conversion_cast",
        "memref.transpose",
        *(f"mosaic_gpu.{name}" for name in ("async_load", "async_store", "slice_smem", "tcgen05_mma")),
        *(f"mosaic_gpu.{name}" for name in ("vector_load", "vector_store", "warp_map", "with_transforms")),
        *(f"mosaic_gpu.{name}" for name in ("tmem_alloc", "tmem_dealloc", "slice_tmem", "tmem_layout_cast")),
        *(f"mosaic_gpu.{name}" for name in ("async_load_tmem", "async_store_tmem", "async_store_smem_to_tmem")),
        "mosaic_gpu.async_store_sparse_metadata_smem_to_tmem",
    }
    """Ops that support memory with packed elements."""

    def __init__(self, numbers: dict[Any, int], timed: bool = False) -> None:
        self._numbers = numbers
        self._sites: dict[int, Site] = {}
        self.timed = timed
        """Whether arithmetic records its time."""
        self.count = 0
        self._slots: dict[Any, int] = {}
        self.problems: list[Diagnostic] = []
        self.shared_end = 0
        """The statically addressed bytes of shared memory."""
        self.grain = 16
        """A common divisor of the sizes and offsets of all accesses of shared memory."""
        self.layouts: dict[tuple[int, str], str] = {}
        """Layouts as text, by op number and attribute name."""
        self.tensor_grain = 4
        """The same for tensor memory."""
        self.vector_mask: int | None = None
        """The slot of the mask of the enclosing `vector.mask`."""
        self.allocated = 0
        self.ordered_stores = self.ordered_loads = False
        """Whether the compiler inserts a barrier around each vector store to shared memory, and before each bulk
        load."""

    def layout(self, op: ir.Operation, name: str) -> str | None:
        """The layout of the first vector operand (`in_layouts`) or result (`out_layouts`) of an op, if there is
        one."""
        return self.layouts.get((self._numbers.get(op, -1), name))

    def slot(self, value: Any) -> int:
        """The slot of a value."""
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = self.count
            self.count += 1
        return found

    def operands(self, op: ir.Operation) -> list[int]:
        return [self.slot(value) for value in op.operands]

    def results(self, op: ir.Operation) -> list[int]:
        return [self.slot(value) for value in op.results]

    def site(self, op: ir.Operation) -> Site:
        number = self._numbers.get(op, -1)
        found = self._sites.get(number)
        if found is None:
            found = Site(op.name, source_location(op.location), number)
            if number >= 0:
                self._sites[number] = found
        return found

    def uses_shared(self, grain: int, end: int = 0) -> None:
        """Records an object of this size, or at a multiple of it, in shared memory."""
        while grain % self.grain:
            self.grain //= 2
        self.shared_end = max(self.shared_end, end)

    def step(self, op: ir.Operation) -> Translated | None:
        """The step of an op. Errors are collected in `problems`."""
        translate = self.operations.get(op.name)
        try:
            if translate is None:
                raise Unsupported
            for value in op.results:
                if is_large(value.type):
                    raise Unsupported(
                        f"the result has type {value.type}; the simulator supports at most {MOST_ELEMENTS} elements per vector"
                    )
            if op.name not in self.of_packed and any(is_packed(value.type) for value in (*op.operands, *op.results)):
                raise Unsupported(
                    "an operand or a result has elements smaller than a byte; elements must consist of whole bytes"
                )
            made = translate(op, self)
        except (SmaltiError, MemoryError, RecursionError):
            raise
        except Exception as problem:
            message = (
                problem.of(op.name) if isinstance(problem, Unsupported) else f"'{op.name}': {internal_error(problem)}"
            )
            self.problems.append(Diagnostic("error", message, source_location(op.location)))
            return None
        if made is None:
            return None
        if not isinstance(made, Translated):
            made = Translated(self._with_time(op, made) if self.timed else made)
        return replace(made, site=self.site(op))

    def _with_time(self, op: Any, step: Step) -> Step:
        found = recorder.arithmetic(op)
        if found is None:
            return step
        special, results = found
        site = self.site(op)

        def timed(st: Any) -> None:
            st.machine.recorder.compute(st, special, results, site)
            step(st)

        return timed

    def runs(self, op: ir.Operation) -> Step:
        """A step that records the execution of an op, for mutants."""
        mark = (self.site(op).number, "run")

        def step(st: State) -> None:
            st.machine.effective.add(mark)

        return step

    def block(self, block: Any, skip_last: bool = False) -> Translated:
        """The ops of a block in order."""
        steps = []
        operations = [view.operation for view in block.operations]
        for op in operations[:-1] if skip_last else operations:
            if op.name in OF_PHASES:
                steps.append(Translated(self.runs(op)))
            made = self.step(op)
            if made is not None and made.step is not None:
                steps.append(made)
        return sequence(steps)

    def region(self, region: Any) -> tuple[Translated, list[int], list[int]]:
        """The body of a single-block region, the slots of its arguments, and the slots that its terminator yields."""
        if len(region.blocks) != 1:
            raise Unsupported("a region has several blocks; structured control flow (scf) is required")
        block = region.blocks[0]
        operations = list(block.operations)
        ends = bool(operations) and operations[-1].operation.name in _TERMINATORS
        arguments = [self.slot(argument) for argument in block.arguments]
        body = self.block(block, skip_last=ends)
        yields = self.operands(operations[-1].operation) if ends else []
        return body, arguments, yields


_TERMINATORS = {
    *(
        "scf.yield",
        "scf.condition",
        "mosaic_gpu.return",
        "triton_xla.yield",
        "gpu.terminator",
        "gpu.return",
        "func.return",
    )
}


def internal_error(problem: Exception) -> str:
    """The message for an unexpected exception."""
    return f"internal error of the simulator: {type(problem).__name__}: {problem}"


EXPECTED = (Enough, Stop, TimeLimit, MemoryError, RecursionError)
"""Exceptions that are not errors of the step of an op."""


def raise_located(problem: Exception, site: Site | None) -> NoReturn:
    """Raises an exception of a step again, as an error with the op's location."""
    located = isinstance(problem, SmaltiError) and (problem.diagnostics or not isinstance(problem, LaunchError))
    if located or isinstance(problem, EXPECTED) or site is None:
        raise problem
    message = str(problem) if isinstance(problem, LaunchError) else f"'{site.name}': {internal_error(problem)}"
    raise LaunchError("", diagnostics=[Diagnostic("error", message, site.location)]) from problem


def sequence(steps: list[Translated]) -> Translated:
    """Steps in order."""
    if not any(step.blocking for step in steps):
        located = tuple((step.step, step.site) for step in steps if step.step is not None)

        def run(st: State) -> None:
            site = None
            try:
                for function, site in located:  # noqa: B007  (the handler below reads it)
                    function(st)
            except Exception as problem:
                raise_located(problem, site)

        return Translated(run)
    parts: list[tuple[tuple[tuple[Step, Site | None], ...], Step | None, Site | None]] = []
    plain: list[tuple[Step, Site | None]] = []
    for step in steps:
        assert step.step is not None
        if step.blocking:
            parts.append((tuple(plain), step.step, step.site))
            plain = []
        else:
            plain.append((step.step, step.site))
    parts.append((tuple(plain), None, None))

    def run_with_waits(st: State) -> Iterator[Any]:
        site = None
        try:
            for functions, waiting, waiting_site in parts:
                for function, site in functions:  # noqa: B007  (the handler below reads it)
                    function(st)
                if waiting is not None:
                    site = waiting_site
                    yield from waiting(st)
        except Exception as problem:
            raise_located(problem, site)

    return Translated(run_with_waits, True)


def vector_reader(op: ir.Operation, index: int, translator: Translator) -> Callable[[Any], Any]:
    """A function that returns an operand of a warpgroup for a computation."""
    slot = translator.slot(op.operands[index])
    if not values.is_vector(op.operands[index].type):
        return lambda st: st.v[slot]
    site = translator.site(op)

    def read(st: Group) -> Any:
        value = st.v[slot]
        return read_registers(st, value, site) if value.__class__ is Registers else value

    return read


def attribute(op: ir.Operation, name: str, default: Any = None) -> Any:
    """The value of an attribute: a number, a string, a list; for an enumerator its keyword."""
    if name not in op.attributes:
        return default
    return plain(op.attributes[name])


def groups_left(op: ir.Operation, name: str) -> int:
    """The number of groups that a wait leaves outstanding, from an attribute."""
    left = attribute(op, name, 0)
    if left < 0:
        raise Unsupported.invalid(f"the wait leaves {left} groups outstanding; the number must not be negative")
    return left


def plain(found: Any) -> Any:
    """The value of an attribute."""
    if isinstance(found, (ir.BoolAttr, ir.IntegerAttr, ir.StringAttr, ir.FloatAttr)):
        return found.value
    if isinstance(found, (ir.DenseI64ArrayAttr, ir.DenseI32ArrayAttr, ir.DenseBoolArrayAttr)):
        return list(found)
    if isinstance(found, ir.ArrayAttr):
        return [plain(item) for item in found]
    if isinstance(found, ir.UnitAttr):
        return True
    return _smalti.attribute_keyword(found) or found


FUNCTIONS = frozenset({"gpu.func", "gpu.launch", "func.func", "llvm.func"})
"""Ops whose region threads execute at launch or by a call."""


def walk(op: ir.Operation) -> Iterator[Any]:
    """The ops inside an op, in pre-order."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                yield inner
                # Most ops do not have regions, and another generator for each takes most of the time.
                if len(inner.regions):
                    yield from walk(inner)


def strides_and_offset(ty: ir.MemRefType) -> tuple[list[int], int]:
    """The strides and the offset of the type's layout, in elements."""
    try:
        return ty.get_strides_and_offset()
    except RuntimeError:
        raise Unsupported(f"the memref has type {ty}; a strided layout is required") from None


def normalized(text: str) -> str:
    """An inline assembly string with normalized whitespace."""
    return re.sub(r"\s+", " ", text).strip()
