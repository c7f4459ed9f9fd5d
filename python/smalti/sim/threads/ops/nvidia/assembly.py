# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llvm`: inline assembly of thread-level kernels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..... import ir
from ....translation.assembly import Operand, Statement, parse
from ....translation.translator import Step, Unsupported, attribute, normalized
from ...execution import fences
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import dtype_of, rank_of, spread
from ...execution.pending import is_held, is_pending
from ...execution.wgmma import A_WORDS, Form
from ..collective.gpu import counted, numbered, thread_barrier
from . import wgmma

ASSEMBLY: list[tuple[re.Pattern[str], Any]] = []
"""Whole assembly texts: a pattern, and the translation of ops with a matching text, given the match."""


def assembly(pattern: str) -> Any:
    """A decorator that registers the translation of assembly, by a pattern of its text."""

    def register(function: Any) -> Any:
        ASSEMBLY.append((re.compile(pattern), function))
        return function

    return register


@operation("llvm.inline_asm")
def _assembly(op: Any, tr: ThreadTranslator) -> Step | None:
    if is_held(op):
        return _held(op, tr)
    text = attribute(op, "asm_string")
    for pattern, translate in ASSEMBLY:
        if match := pattern.fullmatch(normalized(text)):
            return translate(op, tr, match)
    refused = Unsupported(
        f"the inline assembly '{normalized(text)}' is not simulated; use an op of the nvvm or rocdl dialect instead"
    )
    if tr.target.vendor != "nvidia":
        raise refused
    try:
        statements = parse(text)
    except ValueError as problem:
        raise Unsupported(str(problem)) from problem
    if not statements or any(statement.guard for statement in statements):
        raise refused
    *before, last = statements
    if last.opcode.startswith("wgmma.mma_async."):
        return _mma(op, tr, last, _predicates(before, refused), refused)
    if before:
        raise refused
    site = tr.site(op)
    if last.opcode == "bar.sync":
        _barrier(op, tr, last, refused)
        return None
    if last.opcode == "wgmma.fence.sync.aligned":
        return wgmma.fence(tr, site)
    if last.opcode == "wgmma.commit_group.sync.aligned":
        return wgmma.commit(tr, site)
    if last.opcode == "wgmma.wait_group.sync.aligned" and [o.kind for o in last.operands] == ["number"]:
        return wgmma.wait(last.operands[0].value, tr, site)
    raise refused


class Arguments:
    """The operands of assembly, by their names in its text."""

    def __init__(self, op: Any, refused: Unsupported) -> None:
        words = [word for word in attribute(op, "constraints").split(",") if word and not word.startswith("~")]
        self.results = sum(word.startswith("=") for word in words)
        self._refused = refused
        self._found: list[Any] = [None] * self.results
        inputs = words[self.results :]
        if len(inputs) != len(op.operands):
            raise refused
        for operand, word in zip(op.operands, inputs, strict=True):
            if word.isdigit() and int(word) < self.results:
                self._found[int(word)] = operand
            elif not re.fullmatch("[a-zA-Z]", word):
                raise Unsupported(
                    f"the inline assembly has the constraint '{word}'; each input constraint must be one letter or the number of a result"
                )
            self._found.append(operand)

    def value(self, operand: Operand) -> Any:
        """The initial value of an operand."""
        if operand.kind != "argument" or operand.negated:
            raise self._refused
        return self.numbered(operand.value)

    def numbered(self, number: int) -> Any:
        """The initial value of `$number`."""
        found = self._found[number] if number < len(self._found) else None
        if found is None:
            raise self._refused
        return found


# ---------------------------------------------------------------------------------------------------------------------
# Empty assembly
# ---------------------------------------------------------------------------------------------------------------------


def _held(op: Any, tr: ThreadTranslator) -> Step | None:
    """An optimization barrier."""
    operands, results = tr.operands(op), tr.results(op)
    if len(operands) == len(results):
        return tr.moves(operands, results)
    outputs = attribute(op, "constraints").count("=")
    kinds = [(dtype_of(value.type), rank_of(value.type)) for value in op.operands]
    if len(results) != 1 or outputs != len(operands) or any(dtype is None for dtype, _ in kinds):
        raise Unsupported("empty inline assembly must have as many results as operands, with types of whole bytes")

    def step(st: Any) -> None:
        items = []
        for slot, (dtype, rank) in zip(operands, kinds, strict=True):
            value = st.v[slot]
            assert dtype is not None
            items.append(value if is_pending(value) else spread(value, dtype, st.lanes, rank))
        # A structure has one of each lane.
        st.v[results[0]] = tuple(items)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Barriers
# ---------------------------------------------------------------------------------------------------------------------


def _barrier(op: Any, tr: ThreadTranslator, statement: Statement, refused: Unsupported) -> None:
    site, arguments = tr.site(op), Arguments(op, refused)
    if len(statement.operands) not in (1, 2):
        raise refused
    given = [
        (operand.value, False) if operand.kind == "number" else (tr.slot(arguments.value(operand)), True)
        for operand in statement.operands
    ]

    def wait(st: Any) -> Any:
        at, is_slot = given[0]
        which = numbered(st, st.v[at], site, "pass different barrier numbers") if is_slot else at
        if which is None:
            return st.pc
        count = None
        if len(given) > 1:
            at, is_slot = given[1]
            count = st.v[at] if is_slot else at
        return thread_barrier(st, which, counted(st, which, count, site), site, "the barrier")

    tr.blocking(wait)


# ---------------------------------------------------------------------------------------------------------------------
# wgmma
# ---------------------------------------------------------------------------------------------------------------------

_SHAPE = re.compile(
    r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<n>\d+)k(?P<k>\d+)\.(?P<sum>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<tail>\.satfinite)?"
)


def _predicates(statements: list[Statement], refused: Unsupported) -> dict[int, bool]:
    """The results of constant comparisons, by register."""
    found: dict[int, bool] = {}
    for statement in statements:
        operands = statement.operands
        kinds = [operand.kind for operand in operands]
        if statement.opcode != "setp.ne.b32" or kinds != ["register", "number", "number"]:
            raise refused
        found[operands[0].value] = operands[1].value != operands[2].value
    return found


def _mma(
    op: Any, tr: ThreadTranslator, statement: Statement, predicates: dict[int, bool], refused: Unsupported
) -> Step:
    """PTX ISA, "wgmma.mma_async": the accumulator, A as a descriptor or in registers, the descriptor of B, whether the
    accumulator is added, signs of A and B unless they are integers, and the transpositions of 16-bit operands."""
    shape = _SHAPE.fullmatch(statement.opcode)
    if shape is None or len(statement.operands) < 4:
        raise refused
    sums, a, b, scale, *flags = statement.operands
    is_integer, has_halves = shape["sum"] == "s32", shape["a"] in ("f16", "bf16")
    in_registers = a.kind == "vector"
    wanted = (0 if is_integer else 2) + ((1 if in_registers else 2) if has_halves else 0)
    if sums.kind != "vector" or len(flags) != wanted or any(flag.kind != "number" for flag in flags):
        raise refused
    numbers = [np.uint64(flag.value).astype(np.int64).item() for flag in flags]
    signs, transposes = ([], numbers) if is_integer else (numbers[:2], numbers[2:])
    if any(sign not in (1, -1) for sign in signs) or any(flag not in (0, 1) for flag in transposes):
        raise refused
    if scale.kind == "number":
        adds = bool(scale.value)
    elif scale.kind == "register" and scale.value in predicates:
        adds = predicates[scale.value] != scale.negated
    else:
        raise refused
    transposed = [bool(flag) for flag in transposes]
    transposed = [False] * (2 - len(transposed)) + transposed
    form = Form(
        int(shape["n"]),
        int(shape["k"]),
        shape["sum"],
        shape["a"],
        shape["b"],
        adds=adds,
        negative=bool(signs) and signs[0] != signs[1],
        transposed=(transposed[0], transposed[1]),
        saturates=shape["tail"] is not None,
    )
    arguments = Arguments(op, refused)
    places = [operand.value for operand in sums.parts if operand.kind == "argument"]
    words = len(a.parts) if in_registers else 0
    if places != list(range(form.registers)) or arguments.results != len(places) or words not in (0, A_WORDS):
        raise refused
    # Without a sum its registers need not have a value.
    before = [arguments.value(operand) for operand in sums.parts] if adds else []
    left = [arguments.value(operand) for operand in (a.parts if in_registers else (a,))]
    right = arguments.value(b)
    fields = re.fullmatch(r"!llvm\.struct<\((.*)\)>", str(op.results[0].type) if len(op.results) else "")
    if fields is None or len(set(names := re.split(r",\s*", fields[1]))) != 1 or len(names) != form.registers:
        raise refused
    (result,), register = tr.results(op), ir.Type.parse(names[0], op.context)
    of_start, of_a = fences.sources(before, tr), fences.sources(left, tr) if in_registers else ()
    starts = [tr.slot(value) for value in before]
    kind, rank = dtype_of(register), rank_of(register)
    start = wgmma.product(
        form,
        lambda st: tuple(_spread(st.v[slot], kind, st.lanes, rank) for slot in starts),
        register,
        [tr.slot(value) for value in left],
        tr.slot(right),
        (of_start, of_a),
        tr,
        tr.site(op),
    )

    def run(st: Any) -> None:
        st.v[result] = start(st)

    return run


def _spread(value: Any, kind: Any, lanes: int, rank: int) -> Any:
    return value if is_pending(value) else spread(value, kind, lanes, rank)
