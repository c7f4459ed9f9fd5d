# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow that the kernel executes: `if`, `for` and `while` as operations of `scf`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..bindings import ir, scf
from . import arithmetic, loops
from .arithmetic import as_value, broadcast_to, cast, default_dtype, is_number, to_scalar
from .frames import Aliases, Captured, Frame, Watch, Watched, parts_of, snapshot
from .trees import Undefined, containers, copied, is_leaf, leaves, rebuild, same_static, structure
from .types import Misuse, index, promote
from .values import Scalar, Tile, Value


class Evaluator(Protocol):
    """The part of the translator that control flow needs."""

    frames: list[Frame]
    captured: dict[tuple[int, str], Captured]
    aliases: Aliases

    def at(self, node: ast.AST) -> AbstractContextManager[None]: ...

    def block(self, statements: Sequence[ast.stmt]) -> None: ...

    def value(self, node: ast.expr) -> Any: ...

    def test(self, node: ast.expr) -> Scalar | bool: ...


def assigned_names(statements: Sequence[ast.AST]) -> list[str]:
    """The names that statements assign, also by their elements and attributes, in order. Nested functions do not count."""
    found: dict[str, None] = {}

    def base(node: ast.AST) -> None:
        while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            node = node.value
        if isinstance(node, ast.Name):
            found[node.id] = None

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.FunctionDef):
            found[node.name] = None
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            base(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for statement in statements:
        visit(statement)
    return list(found)


def _watched(translator: Evaluator, statements: Sequence[ast.stmt], watch: Watch) -> None:
    """Translates the statements of a branch or of the body of a loop."""
    for statement in statements:
        translator.block([statement])
        with translator.at(statement):
            watch.check()


def _moved(
    scratch: ir.Operation, types: Sequence[ir.Type], attributes: dict[str, ir.Attribute] | None = None
) -> ir.Operation:
    """`scratch` with the results `types`; its regions move to the new operation."""
    with ir.InsertionPoint(scratch):
        new = ir.Operation.create(
            scratch.name,
            results=list(types),
            operands=list(scratch.operands),
            attributes=attributes or {},
            regions=len(scratch.regions),
            loc=scratch.location,
        )
    for old_region, region in zip(scratch.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(region)
    scratch.erase()
    return new


def _typed(like: Value, value: ir.Value) -> Value:
    """A value of the IR as a tile or scalar of the type of `like`."""
    return arithmetic.wrap(value, like.dtype)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _unified(a: Any, b: Any, what: str) -> Callable[[Any], Value] | None:
    """The conversion of two leaves to one type, or None if they are one static value. Raises Misuse."""
    if same_static(a, b):
        return None
    if not is_leaf(a) or not is_leaf(b):
        raise Misuse(f"{what} is {a!r} in one branch and {b!r} in the other", "both must be tiles, scalars or numbers")
    if is_number(a) and is_number(b):
        dtype = promote(default_dtype(a), default_dtype(b))
    elif is_number(a):
        dtype = arithmetic.common(b, a)[0].dtype
    elif is_number(b):
        dtype = arithmetic.common(a, b)[0].dtype
    elif a.dtype == b.dtype or index in (a.dtype, b.dtype):
        dtype = promote(a.dtype, b.dtype)
    else:
        raise Misuse(f"{what} is {a} in one branch and {b} in the other", f"convert one with .to(sl.{a.dtype})")
    shapes = [v.shape if isinstance(v, Tile) else None for v in (a, b)]
    tiles = [shape for shape in shapes if shape is not None]
    if not tiles:
        return lambda v: to_scalar(v, dtype)
    if len(tiles) == 2 and tiles[0] != tiles[1]:
        raise Misuse(f"{what} is {a} in one branch and {b} in the other", "the shapes must be equal")
    return lambda v: broadcast_to(cast(as_value(v, dtype), dtype), tiles[0])


_Copies = dict[int, tuple[Watched, Any]]
"""By id: a container that a branch has instead of one from before, and that one."""


def _branches(
    translator: Evaluator,
    condition: Scalar,
    runs: Sequence[Callable[[], dict[str, Any]]],
    line: int,
    copies: _Copies,
) -> dict[str, Any]:
    """Translates the two branches of an `if`. Each run returns the names that it assigned; the result has their values."""
    frame = translator.frames[-1]
    aliases = translator.aliases
    scratch = scf.IfOp(condition.value, has_else=True)
    names = dict(frame.names)
    frame.run_time += 1
    found: list[dict[str, Any]] = []
    blocks = [scratch.then_block, scratch.else_block]
    try:
        for run, block in zip(runs, blocks, strict=True):
            frame.restore(names)
            with ir.InsertionPoint(block):
                found.append(run())
    finally:
        frame.restore(names)
        frame.run_time -= 1
    then, other = found
    yields: tuple[list[Value], list[Value]] = ([], [])
    plans: dict[str, tuple[Any, list[int | None]]] = {}
    result: dict[str, Any] = {}
    for name in dict.fromkeys([*then, *other]):
        a, b = then.get(name, Undefined("")), other.get(name, Undefined(""))
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            result[name] = Undefined(f"only one branch of the if in line {line} assigns it")
            continue
        what = f"'{name}'" if name else "the value"
        if structure(a) != structure(b):
            result[name] = Undefined(f"the branches of the if in line {line} assign values of different structure")
            continue
        slots: list[int | None] = []
        for x, y in zip(leaves(a), leaves(b), strict=True):
            convert = _unified(x, y, what)
            if convert is None:
                slots.append(None)
                continue
            slots.append(len(yields[0]))
            for value, block, collected in ((x, blocks[0], yields[0]), (y, blocks[1], yields[1])):
                with ir.InsertionPoint(block):
                    collected.append(convert(value))
        plans[name] = (a, slots)
    for block, collected in zip(blocks, yields, strict=True):
        with ir.InsertionPoint(block):
            scf.YieldOp([value.value for value in collected])
    op = _moved(scratch.operation, [value.value.type for value in yields[0]])
    for watched, original in copies.values():
        if watched.has_changed:
            aliases.changed |= aliases.origins(original)
    merged: dict[tuple[int, int], Any] = {}
    for name, (structured, slots) in plans.items():
        others = iter(containers(other[name]))

        def made(value: Any, copy: Any, others: Iterator[Any] = others) -> Any:
            """The container after the `if`: the one from before, if no branch changes it, and one for each pair of containers."""
            pair: list[Any] = [copies.get(id(one), (None, one))[1] for one in (value, next(others))]
            if isinstance(copy, tuple):
                return copy
            if pair[0] is pair[1] and not Watched(pair[0], "", (parts_of(copy) or ("", []))[1], "").has_changed:
                return pair[0]
            key = (id(pair[0]), id(pair[1]))
            if key not in merged:
                aliases.add(copy, pair, scratch)
            return merged.setdefault(key, copy)

        values = iter(
            old if slot is None else _typed(yields[0][slot], op.results[slot])
            for old, slot in zip(leaves(structured), slots, strict=True)
        )
        result[name] = rebuild(structured, values, made)
    return result


def if_statement(translator: Evaluator, condition: Scalar, node: ast.If) -> None:
    """An `if` whose condition the kernel computes. Names have one value after it, from the branch that ran."""
    frame = translator.frames[-1]
    names = assigned_names([*node.body, *node.orelse])
    copies: _Copies = {}

    def run(statements: Sequence[ast.stmt]) -> Callable[[], dict[str, Any]]:
        def translate() -> dict[str, Any]:
            watch = Watch(translator, "an if")
            for name in names:
                if name in frame.names:
                    original = frame.names[name]
                    copy = frame.names[name] = copied(original)
                    watch.carry(original, copy, name)
                    translator.aliases.add_all(copy, [original], copies)
                    for one, before in zip(containers(copy), containers(original), strict=True):
                        copies[id(one)] = (snapshot(one, name), before)
            translator.aliases.refresh()
            _watched(translator, statements, watch)
            return {name: frame.names[name] for name in names if name in frame.names}

        return translate

    frame.names.update(_branches(translator, condition, [run(node.body), run(node.orelse)], _line(node), copies))
    translator.aliases.refresh()


def if_expression(translator: Evaluator, condition: Scalar, node: ast.IfExp) -> Any:
    """`a if c else b`, whose condition the kernel computes."""
    frame = translator.frames[-1]
    names = assigned_names([node.body, node.orelse])

    def run(expression: ast.expr) -> Callable[[], dict[str, Any]]:
        def translate() -> dict[str, Any]:
            watch = Watch(translator, "a conditional expression")
            value = translator.value(expression)
            watch.check()
            return {"": value, **{name: frame.names[name] for name in names if name in frame.names}}

        return translate

    found = _branches(translator, condition, [run(node.body), run(node.orelse)], _line(node), {})
    result = found.pop("")
    frame.names.update(found)
    translator.aliases.refresh()
    translator.aliases.watch(result, "the value of the conditional expression")
    if isinstance(result, Undefined):
        raise Misuse(
            "the two values of the conditional expression have different structures",
            "both must be a tile, a scalar or a number, or tuples of equal length",
        )
    return result


class _Carried:
    """The names that a loop changes: their leaves become values of the loop."""

    def __init__(self, translator: Evaluator, statements: Sequence[ast.AST], skip: Sequence[str] = ()) -> None:
        self.frame = translator.frames[-1]
        self.aliases = translator.aliases
        self.assigned = assigned_names(statements)
        self.names = [name for name in self.assigned if name in self.frame.names and name not in skip]
        self.names = [name for name in self.names if not isinstance(self.frame.names[name], Undefined)]
        self.original = {name: self.frame.names[name] for name in self.names}
        self.before = {name: copied(self.original[name]) for name in self.names}
        self.watch = Watch(translator, "a loop")
        self.initial: list[Value] = []
        self._ends = [self.original]
        """The values of the names at the points from which a block or the loop gets its values."""
        self._bound: list[tuple[str, list[Watched]]] = []
        """The containers of each name at the beginning of an iteration."""
        for name in self.names:
            for leaf in leaves(self.before[name]):
                if is_leaf(leaf):
                    self.initial.append(as_value(leaf))

    @property
    def types(self) -> list[ir.Type]:
        return [value.value.type for value in self.initial]

    @property
    def values(self) -> list[ir.Value]:
        return [value.value for value in self.initial]

    def bind(self, values: Sequence[ir.Value]) -> None:
        """Gives the names the values of a block or of the loop."""
        remaining = iter(zip(values, self.initial, strict=True))

        def wrapped(leaf: Any) -> Any:
            if not is_leaf(leaf):
                return leaf
            value, old = next(remaining)
            return _typed(old, value)

        self._bound = []
        for name in self.names:
            before = self.before[name]
            new = self.frame.names[name] = rebuild(before, iter([wrapped(leaf) for leaf in leaves(before)]))
            self.watch.carry(self.original[name], new, name)
            self.aliases.add_all(new, [end[name] for end in self._ends], values)
            self._bound.append((name, [snapshot(one, name) for one in containers(new)]))
        self.aliases.refresh()

    def results(self) -> list[ir.Value]:
        """The values of the names after an iteration, in the types of the loop. Raises Misuse if a type changed."""
        types = iter(self.initial)
        found: list[ir.Value] = []
        for name in self.names:
            before, after = self.before[name], self.frame.names[name]
            if isinstance(after, Undefined):
                raise Misuse(f"'{name}' is not defined after an iteration of the loop: {after.reason}")
            if structure(before) != structure(after):
                raise Misuse(
                    f"'{name}' is {before!r} before the loop and {after!r} after an iteration",
                    "the loop must not change its structure",
                )
            for old, new in zip(leaves(before), leaves(after), strict=True):
                if is_leaf(old):
                    found.append(self._converted(name, old, next(types), new).value)
                elif not same_static(old, new):
                    raise Misuse(
                        f"'{name}' is {old!r} before the loop and {new!r} after an iteration",
                        "only tiles, scalars and numbers can change in a loop; unroll it with sl.static_range",
                    )
        for name, bound in self._bound:
            for watched, after in zip(bound, containers(self.frame.names[name]), strict=True):
                self.aliases.require_one_name(watched, after)
        self._ends.append({name: self.frame.names[name] for name in self.names})
        return found

    @staticmethod
    def _converted(name: str, old: Any, start: Value, given: Any) -> Value:
        new: Any = as_value(given, start.dtype if is_number(given) else None)
        if isinstance(start, Tile) and isinstance(new, Scalar):
            new = broadcast_to(new, start.shape)
        if new.shape == start.shape and type(new) is type(start):
            if new.dtype == start.dtype:
                return new
            if index in (new.dtype, start.dtype) and promote(new.dtype, start.dtype) == start.dtype:
                return cast(as_value(new), start.dtype)
        if isinstance(start, Scalar) and isinstance(new, Tile) and not new.shape and new.dtype == start.dtype:
            return to_scalar(new)
        if isinstance(new, Tile) and isinstance(start, Scalar):
            hint = f"start with a tile: {name} = sl.zeros({new.shape}, sl.{new.dtype})"
        elif new.dtype != start.dtype and is_number(old):
            hint = f"start with a value of this type: {name} = sl.to({old}, sl.{new.dtype})"
        elif new.dtype != start.dtype:
            hint = f"convert it in the loop with .to(sl.{start.dtype}), or start with a value of {new.dtype}"
        else:
            hint = "the loop must not change its shape"
        raise Misuse(f"'{name}' is {start:a} before the loop and {new:a} after an iteration", hint)

    def forget(self, node: ast.stmt, extra: Sequence[str] = ()) -> None:
        """Names that only the loop assigns are not defined after it."""
        reason = f"the loop in line {_line(node)} assigns it, and may have no iteration"
        for name in [*self.assigned, *extra]:
            if name not in self.names:
                self.frame.names[name] = Undefined(reason)


def for_statement(translator: Evaluator, loop: loops.Range, node: ast.For) -> None:
    """`for i in range(...)` as `scf.for`. Names that have a value before the loop keep their type."""
    if node.orelse:
        raise Misuse("else of a for loop is not supported", "write the statements after the loop")
    if not isinstance(node.target, ast.Name):
        raise Misuse("the target of a for loop over a range is not a single name", "use one name: for i in range(n)")
    frame = translator.frames[-1]
    carried = _Carried(translator, node.body, [node.target.id])
    names = dict(frame.names)
    lower, upper, step = (to_scalar(bound, index).value for bound in (loop.start, loop.stop, loop.step))
    op = scf.ForOp(lower, upper, step, carried.values)
    if loop.stages is not None:
        op.attributes["smalti.stages"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop.stages)
    frame.run_time += 1
    try:
        with ir.InsertionPoint(op.body):
            carried.bind(op.inner_iter_args)
            frame.names[node.target.id] = Scalar(op.induction_variable, index)
            _watched(translator, node.body, carried.watch)
            results = carried.results()
            scf.YieldOp(results)
    finally:
        frame.run_time -= 1
        frame.restore(names)
    carried.bind(op.results)
    carried.forget(node, [node.target.id])


def while_statement(translator: Evaluator, node: ast.While) -> None:
    """`while` as `scf.while`. Names that have a value before the loop keep their type."""
    if node.orelse:
        raise Misuse("else of a while loop is not supported", "write the statements after the loop")
    frame = translator.frames[-1]
    carried = _Carried(translator, [node.test, *node.body])
    names = dict(frame.names)
    types = carried.types
    op = scf.WhileOp(types, carried.values)
    locations = [op.location] * len(types)
    frame.run_time += 1
    try:
        before = op.regions[0].blocks.append(*types, arg_locs=locations)
        with ir.InsertionPoint(before):
            carried.bind(before.arguments)
            condition = translator.test(node.test)
            carried.watch.check()
            if isinstance(condition, bool):
                raise Misuse(
                    f"the condition of the while loop is always {condition}",
                    "use a condition that the loop changes; a name with a Python number is a scalar in the loop",
                )
            scf.ConditionOp(condition.value, carried.results())
        after = op.regions[1].blocks.append(*types, arg_locs=locations)
        with ir.InsertionPoint(after):
            carried.bind(after.arguments)
            for name in assigned_names([node.test]):
                if name not in carried.names:
                    reason = f"the condition of the while loop in line {_line(node)} assigns it"
                    frame.names[name] = Undefined(reason)
            _watched(translator, node.body, carried.watch)
            scf.YieldOp(carried.results())
    finally:
        frame.run_time -= 1
        frame.restore(names)
    carried.bind(op.results)
    carried.forget(node)
