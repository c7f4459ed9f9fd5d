# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type stubs as syntax trees: complete annotations, and imports of the names that they use."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import pathlib
from collections.abc import Iterable, Iterator

ANY = ast.Name("Any", ast.Load())

_ARGUMENTS = {
    "list": "list[Any]",
    "List": "list[Any]",
    "dict": "dict[str, Any]",
    "tuple": "tuple[Any, ...]",
    "type": "type[Any]",
    "_array": "_array[Any]",
    "Sequence": "Sequence[Any]",
    "Iterator": "Iterator[Any]",
    "Callable": "Callable[..., Any]",
}
"""Without type arguments, the elements of these have an unknown type, which strict type checkers report."""

_RETURNS = {"__repr__": "str", "__str__": "str", "__enter__": "Self"}
"""Results that nanobind's stubs state as `object`."""

_TYPING = ("Any", "Self", "Dict", "Generic", "List", "Optional", "Tuple", "TypeAlias", "Union", "Literal", "overload")


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def parameters(function: ast.FunctionDef) -> Iterator[ast.arg]:
    given = function.args
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)
    yield from (one for one in (given.vararg, given.kwarg) if one is not None)


class _Arguments(ast.NodeTransformer):
    """Completes an annotation."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        node.slice = self.visit(node.slice)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return expression(_ARGUMENTS.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return node


def complete(tree: ast.Module) -> None:
    """Gives a type to each parameter and result, and type arguments to generic types."""
    for owner in ast.walk(tree):
        for node in getattr(owner, "body", ()) if isinstance(owner, (ast.Module, ast.ClassDef)) else ():
            if isinstance(node, ast.AnnAssign):
                node.annotation = _Arguments().visit(node.annotation)
            if not isinstance(node, ast.FunctionDef):
                continue
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
            is_method = isinstance(owner, ast.ClassDef) and not static
            for position, parameter in enumerate(parameters(node)):
                if parameter.annotation is not None:
                    parameter.annotation = _Arguments().visit(parameter.annotation)
                elif position or not is_method:
                    parameter.annotation = ANY
            node.returns = ast.Constant(None) if node.returns is None else _Arguments().visit(node.returns)
            if node.name in _RETURNS:
                node.returns = expression(_RETURNS[node.name])


def _used(tree: ast.Module) -> Iterator[str]:
    """The names in annotations, bases, decorators and values of a stub."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id


def defined(tree: ast.Module) -> Iterator[str]:
    """The names of a module, except those of star imports."""
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def add_imports(tree: ast.Module, ir_module: str, ir_names: Iterable[str]) -> None:
    """Imports what the stub uses and does not define. `ir_names` are the names of the module with MLIR's classes."""
    missing = set(_used(tree)) - set(defined(tree)) - set(dir(builtins))
    known = set(ir_names)
    homes: dict[str, list[str]] = {}
    for name in sorted(missing):
        if name in collections.abc.__all__:
            homes.setdefault("collections.abc", []).append(name)
        elif name in _TYPING:
            homes.setdefault("typing", []).append(name)
        elif name == "TypeVar":  # `typing` of Python before 3.13 does not have default types of type variables.
            homes.setdefault("typing_extensions", []).append(name)
        elif name in known:
            homes.setdefault(ir_module, []).append(name)
    # Docstring and imports of __future__ stay first.
    start = sum(
        isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for node in tree.body[:2]
    )
    tree.body[start:start] = [
        ast.ImportFrom(module, [ast.alias(name) for name in names], 0) for module, names in sorted(homes.items())
    ]


class Corrections:
    """Definitions that replace those of a stub. Several with one name are overloads."""

    def __init__(self, text: str) -> None:
        self._definitions: dict[str, list[ast.stmt]] = {}
        self._replaced: set[str] = set()
        for node in ast.parse(text).body:
            for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
                name = inner.name if isinstance(inner, ast.FunctionDef) else ast.unparse(inner).split()[0]
                path = f"{node.name}.{name}" if isinstance(node, ast.ClassDef) else name
                self._definitions.setdefault(path, []).append(inner)

    def of(self, name: str, node: ast.stmt) -> list[ast.stmt]:
        """The replacement of a definition: the correction, the definition itself, or nothing for a further overload. `name`
        includes the class."""
        new = self._definitions.get(name)
        if new is None:
            return [node]
        if name in self._replaced:
            return []
        self._replaced.add(name)
        if isinstance(node, ast.FunctionDef) and isinstance(new[0], ast.FunctionDef) and ast.get_docstring(node):
            new[0].body = node.body
        return new

    def added(self, name: str) -> list[ast.stmt]:
        """A correction that is a further definition, if there is one."""
        self._replaced.add(name)
        return self._definitions.get(name, [])

    def check(self, path: pathlib.Path) -> None:
        left = self._definitions.keys() - self._replaced
        if left:
            raise SystemExit(f"{path}: corrections of definitions that do not exist: {', '.join(sorted(left))}")


def write(path: pathlib.Path, tree: ast.Module) -> None:
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")
