# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of Python functions to MLIR: expressions, statements and calls.

The translator evaluates the syntax tree. Values that do not depend on arguments stay Python objects; tiles and scalars are
computed by the kernel. Control flow that depends on a scalar becomes `scf` (control.py).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dataclasses
import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

from ..bindings import ir
from ..diagnostics import Diagnostic, SourceLocation, counted, diagnostic_from_mlir
from ..errors import CompileError, SmaltiError
from . import arithmetic, control, debugging, loops
from .external import External
from .frames import (
    Aliases,
    Captured,
    Frame,
    Scope,
    Source,
    Watch,
    captured_function,
    executed_location,
    has_source,
    mlir_location,
    read_global,
    source_of,
)
from .trees import Undefined, contains, copied, is_leaf
from .types import DType, Misuse, boolean, float32, int32
from .values import Scalar, Undecided, Value

MOST_CALLS = 100
"""Nested calls of helper functions."""


class Return(Exception):
    """A return statement of a helper function."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Break(Exception):
    """A break statement of an unrolled loop."""


class Continue(Exception):
    """A continue statement of an unrolled loop."""


_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}

_FOREIGN = {"math", "numpy", "torch", "jax", "cupy", "scipy"}
"""Packages whose functions compute numbers and arrays, not tiles."""


def _is_user_module(name: str | None) -> bool:
    """Whether functions of a module are translated."""
    package = (name or "").split(".")[0]
    if package in sys.stdlib_module_names and package != "__main__":
        return False
    return package != "smalti" and package not in _FOREIGN


def is_value(value: Any) -> bool:
    return isinstance(value, Value)


def _fold(name: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def folded(*values: Any, **options: Any) -> Any:
        if options:
            raise Misuse(f"{name} of tiles and scalars does not have the option {next(iter(options))}")
        items = list(values[0]) if len(values) == 1 else list(values)
        result = items[0]
        for item in items[1:]:
            result = function(result, item)
        return result

    return folded


def _combine(name: str, operator: str) -> Callable[[Any], Any]:
    def combined(values: Any) -> Any:
        if isinstance(values, Value):
            raise Misuse(f"{values:a} is not a sequence of conditions", f"reduce it with .{name}()")
        result: Any = operator == "and"
        for value in values:
            condition = arithmetic.to_scalar(value, boolean) if isinstance(value, Value) else bool(value)
            if isinstance(condition, bool) and condition == (operator == "or"):
                return condition
            if isinstance(condition, Value):
                result = arithmetic.bits(operator, result, condition) if isinstance(result, Value) else condition
        return result

    return combined


def _text(value: Any, *_: Any, **__: Any) -> NoReturn:
    raise Misuse(f"{value:a} cannot be formatted when the kernel is compiled", "pass it to print as an argument")


_BUILTINS: Mapping[Any, Callable[..., Any]] = {
    builtins.min: _fold("min", arithmetic.minimum),
    builtins.max: _fold("max", arithmetic.maximum),
    builtins.print: debugging.print_,
    builtins.float: lambda x: arithmetic.to(x, float32),
    builtins.int: lambda x: arithmetic.to(x, int32),
    builtins.bool: lambda x: arithmetic.to(x, boolean),
    builtins.any: _combine("any", "or"),
    builtins.all: _combine("all", "and"),
    builtins.str: _text,
    builtins.repr: _text,
    builtins.format: _text,
}
"""Functions of Python that have another meaning for tiles and scalars."""


def compared(ops: Sequence[type], operands: Sequence[Any]) -> Any:
    """A chain of comparisons, such as `a < b <= c`. All operands are evaluated."""
    result: Any = None
    for op, left, right in zip(ops, operands[:-1], operands[1:], strict=True):
        # A dictionary is searched for its keys.
        if op in (ast.In, ast.NotIn) and contains([left, list(right) if isinstance(right, dict) else right], is_value):
            raise Misuse("'in' is not supported for tiles and scalars", "compare with == and combine with |")
        if (
            op in (ast.Is, ast.IsNot)
            and any(map(is_value, (left, right)))
            and any(map(arithmetic.is_number, (left, right)))
        ):
            raise Misuse("'is' compares objects, not the numbers of tiles and scalars", "compare with ==")
        one = _COMPARE[op](left, right)
        if result is None:
            result = one
        elif isinstance(result, Value) or isinstance(one, Value):
            result = arithmetic.bits("and", result, one)
        else:
            result = result and one
    return result


def asserted(condition: Any, message: str) -> None:
    """An `assert` statement."""
    if isinstance(condition, Value):
        debugging.check(condition, message)
    elif not condition:
        raise Misuse(message)


def builtin(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """A call of a function of Python that has another meaning in kernels; of other functions too."""
    if function is builtins.range:
        return loops.Range(*arguments)
    if contains([*arguments, *named.values()], is_value):
        # A callable may not be hashable.
        with contextlib.suppress(TypeError):
            function = _BUILTINS.get(function, function)
    return function(*arguments, **named)


class Closure(Scope):
    """A function or lambda of a kernel, which is translated where it is called."""

    def __init__(
        self, translator: Translator, source: Source, names: dict[str, Any], outside: Callable[[str], Any]
    ) -> None:
        super().__init__(names, translator.defaults(source.node.args))
        self._translator = translator
        self._source = source
        self._outside = outside
        self.__name__ = source.name
        self.__signature__ = _signature(source, self.defaults)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        def outside(name: str) -> Any:
            return self.closed_names[name] if name in self.closed_names else self._outside(name)

        bound = bind(self._source, self.defaults, arguments, named)
        return self._translator.call(Frame(self._source, bound, outside, self._source.node))


def _signature(source: Source, defaults: dict[str, Any]) -> inspect.Signature:
    empty = inspect.Parameter.empty
    given = source.node.args
    kinds = inspect.Parameter
    parameters = [
        *(kinds(a.arg, kinds.POSITIONAL_ONLY, default=defaults.get(a.arg, empty)) for a in given.posonlyargs),
        *(kinds(a.arg, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(a.arg, empty)) for a in given.args),
    ]
    if given.vararg:
        parameters.append(kinds(given.vararg.arg, kinds.VAR_POSITIONAL))
    parameters += [kinds(a.arg, kinds.KEYWORD_ONLY, default=defaults.get(a.arg, empty)) for a in given.kwonlyargs]
    if given.kwarg:
        parameters.append(kinds(given.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def bind(
    source: Source, defaults: dict[str, Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The names of the parameters with their values. Raises Misuse if the call does not match."""
    try:
        bound = _signature(source, defaults).bind(*arguments, **named)
    except TypeError as error:
        raise Misuse(f"the call of {source.name} does not match its parameters: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


class Translator(ast.NodeVisitor):
    """Translates one kernel. `frames` is the chain of calls."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.captured: dict[tuple[int, str], Captured] = {}
        """The values outside of the kernel that it used."""
        self.aliases = Aliases(self)
        self._sources: dict[Any, Source] = {}

    # --- Errors and locations ---

    def fail(self, message: str, hint: str | None = None, node: ast.AST | None = None) -> NoReturn:
        """Raises a CompileError with the line of `node` and of the calls that led to it."""
        raise CompileError("", diagnostics=[Diagnostic("error", message, self._place(node))], hint=hint)

    def _place(self, node: ast.AST | None = None) -> SourceLocation:
        """The location of the current node, or of `node` in the same function, with its callers."""
        chain = [frame.source.location(frame.node or frame.source.node) for frame in reversed(self.frames)]
        if node is not None:
            chain[0] = self.frames[-1].source.location(node)
        return dataclasses.replace(chain[0], python=tuple(chain[1:]))

    @contextlib.contextmanager
    def at(self, node: ast.AST) -> Generator[None, None, None]:
        """Operations that are created get the location of `node`, and errors show its line."""
        frame = self.frames[-1]
        before, frame.node = frame.node, node
        try:
            with mlir_location(self._place()):
                yield
        except Misuse as error:
            place, executed = self._place_of(error)
            hint = error.hint
            if executed is not None and isinstance(error, Undecided):
                remedy = (
                    "write it with def"
                    if executed.co_name == "<lambda>"
                    else "call a function that is defined with def"
                )
                hint = f"{executed.co_qualname} is not translated; {remedy}"
            raise CompileError("", diagnostics=[Diagnostic("error", error.message, place)], hint=hint) from None
        except (Return, Break, Continue, SmaltiError, KeyboardInterrupt):
            raise
        except ir.MLIRError as error:
            found = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
            self.fail("; ".join(d.message for d in found) or str(error))
        except RecursionError:
            self.fail("the expression is nested too deeply; assign parts of it to names")
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise CompileError("", diagnostics=[Diagnostic("error", text, self._place_of(error)[0])]) from None
        finally:
            frame.node = before

    def _place_of(self, error: Exception) -> tuple[SourceLocation, types.CodeType | None]:
        """The location of an error with its callers. If it is in a function that Python executes, this is the line of the
        function, and its code is returned too."""
        place, executed = self._place(), None
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if _is_user_module(trace.tb_frame.f_globals.get("__name__")):
                place = executed_location(trace, (dataclasses.replace(place, python=()), *place.python))
                executed = code
            trace = trace.tb_next
        return place, executed

    # --- Names ---

    def lookup(self, name: str) -> Any:
        frame = self.frames[-1]
        if name in frame.names:
            value = frame.names[name]
        else:
            try:
                value = frame.outside(name)
            except KeyError:
                raise Misuse(f"name '{name}' is not defined") from None
        if isinstance(value, Undefined):
            raise Misuse(f"name '{name}' is not defined here: {value.reason}", "assign it before that statement")
        return value

    def outside_of(self, function: types.FunctionType) -> Callable[[str], Any]:
        """The names outside of a Python function: its closure, its module and builtins."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

        def find(name: str) -> Any:
            if name in cells:
                cell = cells[name]
                try:
                    return self._capture(cell, name, lambda: cell.cell_contents)
                except ValueError:
                    raise KeyError(name) from None
            space = function.__globals__
            return self._capture(space, name, lambda: read_global(space, name))

        return find

    def _capture(self, owner: Any, name: str, read: Callable[[], Any]) -> Any:
        """A value outside of the kernel, on which the translation depends."""
        value = read()
        if (id(owner), name) not in self.captured:
            self.captured[id(owner), name] = Captured(owner, name, read, copied(value))
        return value

    # --- Calls ---

    def defaults(self, arguments: ast.arguments) -> dict[str, Any]:
        positional = [*arguments.posonlyargs, *arguments.args]
        last = positional[len(positional) - len(arguments.defaults) :]
        found = {a.arg: self.value(d) for a, d in zip(last, arguments.defaults, strict=True)}
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if d is not None:
                found[a.arg] = self.value(d)
        return found

    def _run(
        self,
        function: types.FunctionType,
        first: Sequence[Any],
        arguments: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Any:
        """Translates a call of a Python function. `first` has the object of a method."""
        code = function.__code__
        self.captured.setdefault((id(function), "__code__"), captured_function(function))
        if code not in self._sources:
            self._sources[code] = source_of(function)
        source = self._sources[code]
        signature = inspect.signature(function)
        defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
        bound = bind(source, defaults, [*first, *arguments], named)
        return self.call(Frame(source, bound, self.outside_of(function), (function, *map(id, first))))

    def call(self, frame: Frame) -> Any:
        """Translates the body of a function, and returns its result."""
        if any(other.called == frame.called for other in self.frames):
            raise Misuse(f"{frame.source.name} calls itself; recursion is not supported", "use a loop")
        if len(self.frames) > MOST_CALLS:
            raise Misuse(
                f"the call of {frame.source.name} is nested in {MOST_CALLS} other calls, which is the limit",
                "use a loop, or fewer functions that call each other",
            )
        self.frames.append(frame)
        try:
            if isinstance(frame.source.node, ast.Lambda):
                return self.value(frame.source.node.body)
            self.block(frame.source.node.body)
        except Return as result:
            return result.value
        finally:
            self.frames.pop()
        return None

    @staticmethod
    def is_user_function(function: Any) -> TypeGuard[types.FunctionType]:
        """Whether calls of a function are translated: Python functions outside of the standard library and Smalti. A lambda
        needs a source, such as a file."""
        if not isinstance(function, types.FunctionType) or not _is_user_module(function.__module__):
            return False
        return function.__code__.co_name != "<lambda>" or has_source(function)

    @classmethod
    def _user_function(cls, function: Any) -> tuple[types.FunctionType, list[Any]] | None:
        """The translated function that a call runs, and its first arguments; None if Python executes the call."""
        function = getattr(function, "__smalti_function__", function)
        first: list[Any] = []
        if isinstance(function, types.MethodType):
            function, first = function.__func__, [function.__self__]
        elif callable(function) and not isinstance(function, (types.FunctionType, type)):
            function, first = type(function).__call__, [function]
        return (function, first) if cls.is_user_function(function) else None

    def _argument(self, value: Any, of_function: Any) -> Any:
        """An argument of a function that Python executes: functions are translated where they are called. Other objects
        with `__call__` may be data for functions outside of smalti.language."""
        if not self.is_user_function(value):
            package = (getattr(of_function, "__module__", None) or "").split(".")[0]
            if package != "smalti" and of_function not in (builtins.map, builtins.filter, functools.reduce):
                return value
            if not isinstance(value, (functools.partial, External)) and self._user_function(value) is None:
                return value

        def call(*arguments: Any, **named: Any) -> Any:
            return self.apply(value, list(arguments), named)

        # With the signature of the function.
        return functools.update_wrapper(call, value, (), ())

    def apply(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """The result of a call."""
        if type(function) is functools.partial:
            return self.apply(function.func, [*function.args, *arguments], {**function.keywords, **named})
        if found := self._user_function(function):
            return self._run(*found, arguments, named)
        has_values = contains([*arguments, *named.values()], is_value)
        if function is builtins.breakpoint or getattr(function, "__module__", None) == "pdb":
            raise Misuse("a compiled kernel cannot stop at a breakpoint", "use kernel.on(interpret=True)")
        if has_values:
            package = (getattr(function, "__module__", None) or type(function).__module__ or "").split(".")[0]
            if package in _FOREIGN:
                name = getattr(function, "__name__", "the function")
                raise Misuse(
                    f"{package}.{name} does not compute tiles and scalars",
                    f"use a function of smalti.language, such as sl.{name}",
                )
        if isinstance(function, DType):
            raise Misuse(f"{function} is an element type, not a function", f"convert with .to(sl.{function})")
        if isinstance(function, External):
            named = {"reference": function.reference, **named}
        arguments = [self._argument(a, function) for a in arguments]
        named = {name: self._argument(a, function) for name, a in named.items()}
        return builtin(function, arguments, named)

    # --- Expressions ---

    def value(self, node: ast.expr) -> Any:
        """The value of an expression."""
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is None:
            self.fail(f"{_describe(node)} is not supported in a kernel", node=node)
        with self.at(node):
            return method(node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        base = self.value(node.value)
        value = getattr(base, node.attr)
        if isinstance(base, (types.ModuleType, type)):
            self._capture(base, node.attr, lambda: getattr(base, node.attr))
        return value

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        base, key = self.value(node.value), self.value(node.slice)
        if isinstance(base, dict) and isinstance(key, Value) and key not in base:
            raise Misuse(
                f"a dictionary is indexed by {key:a}, which is computed when the kernel runs", "use sl.where, or an if"
            )
        return base[key]

    def visit_Slice(self, node: ast.Slice) -> slice:
        parts = [None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def _items(self, nodes: Sequence[ast.expr]) -> list[Any]:
        result: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                result.extend(self.value(node.value))
            else:
                result.append(self.value(node))
        return result

    def visit_Tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self._items(node.elts))

    def visit_List(self, node: ast.List) -> list[Any]:
        return self._items(node.elts)

    def visit_Set(self, node: ast.Set) -> set[Any]:
        return set(self._items(node.elts))

    def visit_Dict(self, node: ast.Dict) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                result.update(self.value(item))
            else:
                result[self.value(key)] = self.value(item)
        return result

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            condition = self.test(node.operand)
            return arithmetic.bits("xor", condition, True) if isinstance(condition, Value) else not condition
        return _UNARY[type(node.op)](self.value(node.operand))

    def condition(self, value: Any) -> Scalar | bool:
        """A condition: a boolean scalar, or a static value as a bool."""
        if not isinstance(value, Value):
            return bool(value)
        if value.ndim:
            raise Misuse(
                f"the condition is {value:a}, but must be a scalar",
                "reduce it with .any() or .all(), or use sl.where for each element",
            )
        return arithmetic.to_scalar(value, boolean)

    def test(self, node: ast.expr) -> Scalar | bool:
        """An expression as a condition. Operands of `and` and `or` are conditions too."""
        if not isinstance(node, ast.BoolOp):
            return self.condition(self.value(node))
        with self.at(node):
            name = "and" if isinstance(node.op, ast.And) else "or"
            result: Any = name == "and"
            for operand in node.values:
                value = self._operand(result, operand, self.test)
                if isinstance(value, Scalar):
                    result = arithmetic.bits(name, result, value) if isinstance(result, Value) else value
                elif value == (name == "or"):
                    # The other operands do not matter.
                    return value
            return result

    def _operand(self, before: Any, node: ast.expr, evaluate: Callable[[ast.expr], Any]) -> Any:
        """An operand of `and` or `or`, which the kernel evaluates also if the operands before it decide the result."""
        if isinstance(before, Value):
            named = next((n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)), None)
            if named is not None:
                raise Misuse(
                    f"'{named}' is assigned in an operand of 'and' or 'or' that may not be evaluated",
                    "assign it before the expression, or use an if",
                )
            if not any(isinstance(n, ast.Call) for n in ast.walk(node)):
                return evaluate(node)
            watch = Watch(self, "an operand of 'and' or 'or'")
            value = evaluate(node)
            watch.check()
            return value
        return evaluate(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """The operand that decides the result, as in Python."""
        name = "and" if isinstance(node.op, ast.And) else "or"
        result = self.value(node.values[0])
        for operand in node.values[1:]:
            if not isinstance(result, Value):
                if bool(result) == (name == "or"):
                    return result
                result = self.value(operand)
                continue
            condition = self.condition(result)
            other = self._operand(result, operand, self.value)
            if not is_leaf(other) or (isinstance(other, Value) and other.ndim):
                raise Misuse(
                    f"the operands of '{name}' are {result:a} and {other!r}, but must be scalars or numbers",
                    "use a if c else b, or sl.where for tiles",
                )
            if all(isinstance(v, bool) or (isinstance(v, Value) and v.dtype == boolean) for v in (result, other)):
                if isinstance(other, bool) and other == (name == "or"):
                    return other
                result = arithmetic.bits(name, condition, other)
            else:
                result = arithmetic.where(condition, *((other, result) if name == "and" else (result, other)))
        return result

    def visit_Compare(self, node: ast.Compare) -> Any:
        ops = [type(op) for op in node.ops]
        operands = [self.value(operand) for operand in (node.left, *node.comparators)]
        for op, left, right in zip(ops, operands[:-1], operands[1:], strict=True):
            if op in (ast.Is, ast.IsNot) and left is not right and self.aliases.may_be_one(left, right):
                raise Misuse("'is' compares two values that may be one object: the kernel decides it when it runs")
        return compared(ops, operands)

    def visit_Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = self._items(node.args)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                named.update(self.value(keyword.value))
            else:
                named[keyword.arg] = self.value(keyword.value)
        return self.apply(function, arguments, named)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.test(node.test)
        if isinstance(condition, bool):
            return self.value(node.body if condition else node.orelse)
        return control.if_expression(self, condition, node)

    def visit_Lambda(self, node: ast.Lambda) -> Closure:
        return self._closure(node, "<lambda>")

    def _closure(self, node: ast.Lambda | ast.FunctionDef, name: str) -> Closure:
        frame = self.frames[-1]
        source = Source(node, frame.source.file, name, frame.source.first_column)
        return Closure(self, source, frame.names, frame.outside)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(str(self.value(part)) for part in node.values)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> str:
        value = self.value(node.value)
        if isinstance(value, Value):
            _text(value)
        if node.conversion != -1:
            value = {ord("s"): str, ord("r"): repr, ord("a"): ascii}[node.conversion](value)
        return format(value, "" if node.format_spec is None else self.value(node.format_spec))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.value(node.value)
        self.frames[-1].names[node.target.id] = value
        return value

    def _comprehension(self, generators: Sequence[ast.comprehension], element: Callable[[], None]) -> None:
        if not generators:
            element()
            return
        first, *rest = generators
        for item in self.value(first.iter):
            self.assign(first.target, item)
            conditions = [self.test(test) for test in first.ifs]
            if any(isinstance(c, Scalar) for c in conditions):
                raise Misuse("the condition of a comprehension is computed when the kernel runs", "use sl.where")
            if all(conditions):
                self._comprehension(rest, element)

    def _collect(self, node: Any, add: Callable[[], None]) -> None:
        frame = self.frames[-1]
        names = frame.names
        frame.names = dict(names)
        try:
            self._comprehension(node.generators, add)
        finally:
            frame.names = names

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        result: list[Any] = []
        self._collect(node, lambda: result.append(self.value(node.elt)))
        return result

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> list[Any]:
        return self.visit_ListComp(node)

    def visit_SetComp(self, node: ast.SetComp) -> set[Any]:
        result: set[Any] = set()
        self._collect(node, lambda: result.add(self.value(node.elt)))
        return result

    def visit_DictComp(self, node: ast.DictComp) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        self._collect(node, lambda: result.update({self.value(node.key): self.value(node.value)}))
        return result

    # --- Statements ---

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is None:
            self.fail(f"{_describe(node)} is not supported in a kernel", node=node)
        with self.at(node):
            method(node)
            self.aliases.check()

    def assign(self, target: ast.expr, value: Any) -> None:
        """Assigns a value to a name, an element, an attribute or several of them."""
        if isinstance(target, ast.Name):
            self.frames[-1].names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.value(target.value)[self.value(target.slice)] = value
        elif isinstance(target, ast.Attribute):
            setattr(self.value(target.value), target.attr, value)
        else:
            raise Misuse(f"{_describe(target)} cannot be assigned", "assign to a name, an element or an attribute")

    def _unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        items = list(value)
        starred = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        count = len(target.elts)
        if starred:
            at = starred[0]
            extra = len(items) - count + 1
            if extra < 0:
                raise Misuse(
                    f"{counted(len(items), 'value is', 'values are')} assigned to {counted(count, 'name')}",
                    "the numbers must be equal",
                )
            items[at : at + extra] = [items[at : at + extra]]
        if len(items) != count:
            raise Misuse(
                f"{counted(len(items), 'value is', 'values are')} assigned to {counted(count, 'name')}",
                "the numbers must be equal",
            )
        for t, item in zip(target.elts, items, strict=True):
            self.assign(t.value if isinstance(t, ast.Starred) else t, item)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        # A list, which may have other names, changes in place.
        compute = getattr(operator, f"i{_BINARY[type(node.op)].__name__.rstrip('_')}")
        target = node.target
        if isinstance(target, ast.Name):
            self.assign(target, compute(self.lookup(target.id), self.value(node.value)))
        elif isinstance(target, ast.Subscript):
            base, key = self.value(target.value), self.value(target.slice)
            base[key] = compute(base[key], self.value(node.value))
        else:
            base = self.value(target.value)
            setattr(base, target.attr, compute(getattr(base, target.attr), self.value(node.value)))

    def visit_Expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Return(self, node: ast.Return) -> None:
        if self.frames[-1].run_time:
            raise Misuse(
                "return is inside of an if or a loop that the kernel executes; it is supported only outside of these",
                "put the rest of the function into an if, or read and write with a mask"
                if node.value is None
                else "assign the result to a name, and return it at the end",
            )
        result = None if node.value is None else self.value(node.value)
        if result is not None and len(self.frames) == 1:
            raise Misuse("a kernel returns a value", "write the result to an array")
        raise Return(result)

    def visit_Assert(self, node: ast.Assert) -> None:
        # A tile is a condition of an assert.
        condition = self.test(node.test) if isinstance(node.test, ast.BoolOp) else self.value(node.test)
        asserted(condition, "assertion failed" if node.msg is None else str(self.value(node.msg)))

    def visit_Raise(self, node: ast.Raise) -> None:
        error = None if node.exc is None else self.value(node.exc)
        name = error.__name__ if isinstance(error, type) else type(error).__name__
        raise Misuse(f"{name}: {error}" if isinstance(error, BaseException) else name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise Misuse("a decorator of a nested function is not supported", "remove it")
        self.frames[-1].names[node.name] = self._closure(node, node.name)

    def _loop_exit(self, what: str) -> None:
        if self.frames[-1].run_time != self.frames[-1].unrolled:
            raise Misuse(
                f"{what} is inside of an if or a loop that the kernel executes; "
                "it is supported only if the loop is unrolled and the condition is known at compile time",
                {
                    "break": "use a while loop whose condition becomes False instead",
                    "continue": "put the rest of the loop body in an if with the opposite condition",
                }[what],
            )

    def visit_Break(self, node: ast.Break) -> None:
        self._loop_exit("break")
        raise Break

    def visit_Continue(self, node: ast.Continue) -> None:
        self._loop_exit("continue")
        raise Continue

    def visit_If(self, node: ast.If) -> None:
        condition = self.test(node.test)
        if isinstance(condition, bool):
            self.block(node.body if condition else node.orelse)
            return
        control.if_statement(self, condition, node)

    def visit_For(self, node: ast.For) -> None:
        items = self.value(node.iter)
        if isinstance(items, loops.Range):
            control.for_statement(self, items, node)
            return
        frame = self.frames[-1]
        outer, frame.unrolled = frame.unrolled, frame.run_time
        try:
            for item in items:
                self.assign(node.target, item)
                try:
                    self.block(node.body)
                except Continue:
                    continue
                except Break:
                    break
            else:
                self.block(node.orelse)
        finally:
            frame.unrolled = outer

    def visit_While(self, node: ast.While) -> None:
        control.while_statement(self, node)


_KINDS = {
    "With": "a with statement",
    "Try": "a try statement",
    "TryStar": "a try statement",
    "Import": "an import",
    "ImportFrom": "an import",
    "ClassDef": "a class definition",
    "Global": "a global statement",
    "Nonlocal": "a nonlocal statement",
    "Delete": "a del statement",
    "Match": "a match statement",
    "Await": "await",
    "Yield": "yield",
    "YieldFrom": "yield",
    "AsyncFor": "an async for loop",
    "AsyncWith": "an async with statement",
    "AsyncFunctionDef": "an async function",
    "Starred": "a starred expression",
}


def _describe(node: ast.AST) -> str:
    return _KINDS.get(type(node).__name__, f"the syntax {type(node).__name__}")
