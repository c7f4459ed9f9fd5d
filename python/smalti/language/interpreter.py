# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`interpret=True`: Python executes the body of a kernel, and the reference interpreter each operation, when it is created.

Therefore breakpoints, `print` and a debugger work, and tiles have elements. The functions of smalti.language are those of
compiled kernels, and the meaning of an operation is that of the reference interpreter. Statements whose meaning in a kernel
is not that of Python are rewritten in the syntax tree, and keep their lines.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import math
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from .. import dtypes
from ..bindings import arith, ir
from ..calling import arrays, calls
from ..calling.arguments import Argument
from ..compiler import entry
from ..diagnostics import Diagnostic, SourceLocation, diagnostic_from_mlir
from ..errors import CompileError, LaunchError, SmaltiError
from ..reference import Interpreter, InterpreterError, load, pack, unpack
from ..reference import Value as Elements
from ..reference.arithmetic import DIVISIONS
from ..reference.values import width_of, wrap
from . import loops
from .frames import Source, executed_location, source_of
from .grid import GRID
from .translator import Translator, asserted, builtin, compared
from .types import DType, Misuse, index, mlir_type
from .values import EVALUATOR, Scalar


class Translation(Protocol):
    """The part of the translation of a kernel that its interpreter needs."""

    function: Any

    def entry(self, specs: Mapping[str, Any], launch: Any) -> tuple[ir.Module, Source]: ...

    def arguments(self, specs: Mapping[str, Any], block: ir.Block) -> dict[str, Any]: ...

    def tile_ids(self, block: ir.Block, launch: Any) -> tuple[Scalar, ...]: ...


# --- Rewriting of functions ---

_PREFIX = "__smalti_"
_REPLACED = ("range", "min", "max", "float", "int", "bool", "any", "all")
"""Functions of Python with another meaning in kernels. `print` is that of Python, since tiles have elements."""


def _loop(items: Any) -> Iterable[Any]:
    """The items of a `for` statement: those of a range are scalars of the kernel."""
    return _indices(items) if isinstance(items, loops.Range) else items


def _indices(items: loops.Range) -> Iterator[Scalar]:
    for i in builtins.range(int(items.start), int(items.stop), int(items.step)):
        yield Scalar(arith.constant(mlir_type(index), ir.IntegerAttr.get(mlir_type(index), i)), index)


def _call(function: Any, *arguments: Any, **named: Any) -> Any:
    return builtin(function, arguments, named)


def _compare(names: Sequence[str], *operands: Any) -> Any:
    return compared([getattr(ast, name) for name in names], operands)


def _assert(condition: Any, message: Any = "assertion failed") -> None:
    asserted(condition, str(message))


_HELPERS = {f"{_PREFIX}{f.__name__}": f for f in (_loop, _call, _compare, _assert)}


def _helper(function: Any, *arguments: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(f"{_PREFIX}{function.__name__}", ast.Load()), list(arguments), list(keywords))


class _Rewriter(ast.NodeTransformer):
    """Rechain what has another meaning in kernels."""

    def visit(self, node: ast.AST) -> Any:
        new = super().visit(node)
        return ast.copy_location(new, node) if isinstance(new, (ast.expr, ast.stmt)) and new is not node else new

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = ast.copy_location(_helper(_loop, node.iter), node.iter)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        names = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        return _helper(_compare, names, node.left, *node.comparators)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        return ast.Expr(_helper(_assert, node.test, *filter(None, [node.msg])))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in _REPLACED:
            return node
        return _helper(_call, node.func, *node.args, keywords=node.keywords)


class Functions:
    """The rewritten functions of a kernel: the kernel, and the functions that it calls by their names."""

    def __init__(self) -> None:
        self._known: dict[types.FunctionType, types.FunctionType] = {}
        self.codes: set[types.CodeType] = set()
        """Their code, with that of nested functions."""

    def rewritten(self, function: types.FunctionType) -> types.FunctionType:
        if function in self._known:
            return self._known[function]
        code = self._code(function)
        outside = {**function.__globals__, **_HELPERS}
        cells = {name: types.CellType() for name in code.co_freevars}
        closure = tuple(cells[name] for name in code.co_freevars)
        new = types.FunctionType(code, outside, function.__name__, function.__defaults__, closure)
        new.__kwdefaults__ = function.__kwdefaults__
        self._known[function] = new
        names = self._remember(code)
        for name in names & outside.keys():
            outside[name] = self._replaced(outside[name], names)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name in cells:
                try:
                    cells[name].cell_contents = self._replaced(cell.cell_contents, names)
                except ValueError:  # The name has no value yet.
                    continue
        return new

    def _replaced(self, value: Any, names: set[str]) -> Any:
        """A value outside of a function, with rewritten functions."""
        value = getattr(value, "__smalti_function__", value)
        if Translator.is_user_function(value):
            return self.rewritten(value)
        if isinstance(value, types.ModuleType) and any(map(Translator.is_user_function, vars(value).values())):
            module = types.ModuleType(value.__name__)
            vars(module).update(vars(value))
            for name in names & vars(value).keys():
                if Translator.is_user_function(found := getattr(value, name)):
                    setattr(module, name, self.rewritten(found))
            return module
        return value

    def _remember(self, code: types.CodeType) -> set[str]:
        """Adds `code` and the code of nested functions, and returns the names that they use."""
        self.codes.add(code)
        names = set(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                names |= self._remember(constant)
        return names

    @staticmethod
    def _code(function: types.FunctionType) -> types.CodeType:
        source = source_of(function)
        node: Any = copy.deepcopy(source.node)
        if isinstance(node, ast.Lambda):
            result = ast.copy_location(ast.Return(node.body), node.body)
            node = ast.copy_location(ast.FunctionDef("", node.args, [result], [], None, None), node)
        nodes: list[Any] = [child for child in ast.walk(node) if hasattr(child, "col_offset")]
        for child in nodes:
            child.col_offset += source.first_column
            child.end_col_offset += source.first_column
        node = _Rewriter().visit(node)
        # Decorators, annotations and default values were evaluated when the function was defined.
        node.decorator_list, node.returns = [], None
        node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        # Names of enclosing functions are parameters of a function around it.
        outer = ast.parse(f"def outer({', '.join(function.__code__.co_freevars)}): pass")
        enclosing: Any = outer.body[0]
        enclosing.body = [node]
        # A function that names itself finds its name in the module.
        node.name = f"{_PREFIX}function"
        code = compile(ast.fix_missing_locations(outer), source.file, "exec")
        for name in ("outer", node.name):
            code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
        return code.replace(co_name=function.__name__, co_qualname=function.__qualname__)


# --- Evaluation of operations ---


_UNDEFINED = "an integer is divided by 0, or the smallest integer by -1, and the kernel uses the result here"


def _unknown(value: Elements) -> np.ndarray | None:
    """An infinite error bound for the elements that depend on an undefined division, or None."""
    if value.error is None or np.isfinite(value.error).all():
        return None
    return np.where(np.isfinite(value.error), 0.0, np.inf)


class _Evaluator:
    """Runs operations of one tile in the reference interpreter when they are created."""

    def __init__(self, module: ir.Module, memories: Sequence[Elements], tile: int, grid: tuple[int, ...]) -> None:
        function = module.body.operations[0].operation
        self.block = function.regions[0].blocks[0]
        self.block.operations[0].operation.erase()
        self._done = self.block.create_after()
        self._run = Interpreter(function)
        self._run.printed = print
        self._memories = list(memories)
        self._run.tile_number, self._run.grid = tile, grid
        ids = [Elements(np.asarray(number, np.int64)) for number in np.unravel_index(tile, grid)]
        for name, value in zip(self.block.arguments, [*memories, *ids], strict=True):
            self._run.define(name, value)

    def evaluate(self) -> None:
        if ir.InsertionPoint.current.block != self.block:
            # The region of an operation, such as the function of a reduction. The operation runs when it is complete.
            return
        for view in list(self.block.operations):
            operation = view.operation
            self._done.append(operation)
            operation.verify()
            operands = [self._run.value_of(operand) for operand in operation.operands]
            of_memory = any(isinstance(operand.type, ir.MemRefType) for operand in operation.operands)
            is_undefined = any(
                operand.error is not None for operand in operands if not any(operand is m for m in self._memories)
            )
            if of_memory and any(
                value.error is not None and operand.type == mlir_type(index)
                for operand, value in zip(operation.operands, operands, strict=True)
            ):
                raise InterpreterError(_UNDEFINED)
            self._run.run_operation(operation)
            for result in operation.results:
                # Without error bounds, rounded numbers may decide branches and indices. The elements of an integer
                # division by 0 stay unknown: a select may drop them, but they must not be written or decide a branch.
                value = self._run.value_of(result)
                keeps = is_undefined or operation.name.removeprefix("arith.") in DIVISIONS
                value.error = _unknown(value) if keeps else None
            if is_undefined and any(_unknown(memory) is not None for memory in self._memories):
                raise InterpreterError(_UNDEFINED)

    def elements(self, value: ir.Value, dtype: DType) -> np.ndarray | None:
        try:
            found = self._run.value_of(value)
        except KeyError:
            return None
        data = found.data
        if not data.ndim and _unknown(found) is not None:
            raise InterpreterError(_UNDEFINED)
        return _stored(data, dtype)


def _stored(data: np.ndarray, dtype: DType) -> np.ndarray:
    """Elements in the numpy type of `dtype`. The interpreter does not round floats, and has signed integers."""
    if dtype.kind == "b":
        return data.astype(bool)
    if dtype.bits < 8 and dtype.kind == "i":
        return data.astype(np.int8)
    with np.errstate(all="ignore"):
        return data.astype(np.int64 if dtype == index else dtype.numpy)


# --- Runs ---


def run(translation: Translation, specs: Mapping[str, Any], arguments: Sequence[Any], tiles: tuple[int, ...]) -> None:
    """Executes the tiles one after the other. Arrays are changed after each tile."""
    functions = Functions()
    try:
        function = functions.rewritten(translation.function)
    except Misuse as error:
        raise CompileError(error.message, hint=error.hint) from None
    module, _ = translation.entry(specs, len(tiles))
    described = entry.describe(module.body.operations[0].operation)
    values = calls.ArgumentChecker(described, arrays.CPU).views([*arguments, *tiles])
    memories = [_Memory(value, argument) for value, argument in zip(values, described.arguments, strict=True)]
    for tile in range(math.prod(tiles)):
        module, _ = translation.entry(specs, len(tiles))
        evaluator = _Evaluator(module, [memory.elements for memory in memories], tile, tiles)
        block = evaluator.block
        with module.context, ir.InsertionPoint(block), ir.Location.unknown():
            token = EVALUATOR.set(evaluator)
            try:
                grid = GRID.set(translation.tile_ids(block, len(tiles)))
                try:
                    function(**translation.arguments(specs, block))
                finally:
                    GRID.reset(grid)
            except (Misuse, ir.MLIRError, InterpreterError) as error:
                raise _located(error, functions.codes) from None
            finally:
                EVALUATOR.reset(token)
                for memory in memories:
                    memory.write_back()


class _Memory:
    """The contents of an argument in the interpreter, and the array in the memory of the host."""

    def __init__(self, value: Any, argument: Argument) -> None:
        self._argument = argument
        self._host: np.ndarray | None = None
        if isinstance(value, arrays.ArrayView):
            self._view = value
            self._host = _host(value, argument.packed)
            self.elements = load(unpack(self._host, argument))
            self._before = self.elements.data.copy()
        elif argument.dtype.kind == "f":
            self.elements = Elements(np.asarray(value, np.float64))
        else:
            self.elements = Elements(wrap(np.asarray(value), width_of(argument.dtype)))

    def write_back(self) -> None:
        """Writes the contents to the array if they changed."""
        if self._host is None:
            return
        data = self.elements.data
        self.elements.error = None
        if np.array_equal(data, self._before, equal_nan=data.dtype.kind == "f"):
            return
        if self._view.readonly:
            raise LaunchError(f"{self._argument}: the kernel writes the array, which is read-only")
        self._before = data.copy()
        with np.errstate(all="ignore"):
            self._host[...] = pack(data, self._argument).astype(self._host.dtype)


def _host(view: arrays.ArrayView, packed: int) -> np.ndarray:
    """The memory of an array. The interpreter has signed integers."""
    found = dtypes.from_name(view.dtype)
    assert found is not None
    dtype = np.dtype(f"i{found.bits // 8}") if found.kind == "u" else found.numpy
    memory = types.SimpleNamespace(
        __array_interface__={
            "data": (view.pointer, view.readonly),
            "shape": view.shape,
            "strides": tuple(stride * dtype.itemsize for stride in view.strides),
            "typestr": f"|V{dtype.itemsize}",
            "version": 3,
        }
    )
    return np.asarray(memory).view(np.uint8 if packed > 1 else dtype)


def _located(error: Misuse | InterpreterError | ir.MLIRError, codes: set[types.CodeType]) -> SmaltiError:
    """An error of an operation or of a function of smalti.language, with the lines of the kernel and its functions."""
    chain: list[SourceLocation] = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            chain.append(executed_location(trace))
        trace = trace.tb_next
    place = None
    if chain:
        place, *callers = reversed(chain)
        place = dataclasses.replace(place, python=tuple(callers))
    if isinstance(error, Misuse):
        return CompileError("", diagnostics=[Diagnostic("error", error.message, place)], hint=error.hint)
    if isinstance(error, InterpreterError):
        message = "; ".join(d.message for d in error.diagnostics) or error.message
        return LaunchError("", diagnostics=[Diagnostic("error", message, place)], hint=error.hint)
    found = "; ".join(diagnostic_from_mlir(info).message for info in error.error_diagnostics)
    return CompileError("", diagnostics=[Diagnostic("error", found or str(error), place)])
