#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the type stubs of the builders of ops: the modules in `smalti/dialects`, and `smalti/ir.py`.

mlir-tblgen generates the builders from the definitions of the ops, without types of parameters. The types are in the rest of
a generated class: in its properties, in how its constructor uses a parameter, and in the conversions of attributes. Modules that
upstream wrote by hand are completed as far as their annotations go, and by CORRECTIONS.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import re
from collections.abc import Mapping

import stub_trees
from stub_trees import expression

OPERAND = "_ods_ir.Value | _ods_ir.OpView | _ods_ir.Operation"
OPERANDS = f"_Sequence[{OPERAND}] | _ods_ir.OpView | _ods_ir.Operation"

# The Python values that the conversions in `smalti.ir` accept, which are not annotated.
UPSTREAM_CONVERSIONS = {
    "AffineMapAttr": "_ods_ir.AffineMap",
    "ArrayAttr": "list[_ods_ir.Attribute]",
    "BoolAttr": "bool",
    "BoolArrayAttr": "_Sequence[bool]",
    "DenseBoolArrayAttr": "_Sequence[bool]",
    "DictArrayAttr": "_Sequence[dict[str, _ods_ir.Attribute]]",
    "DictionaryAttr": "dict[str, _ods_ir.Attribute]",
    "FlatSymbolRefAttr": "str",
    "FlatSymbolRefArrayAttr": "_Sequence[str]",
    "IndexAttr": "int",
    "IndexListArrayAttr": "_Sequence[_Sequence[int]]",
    "IntegerSetAttr": "_ods_ir.IntegerSet",
    "StrAttr": "str",
    "StrArrayAttr": "_Sequence[str]",
    "SymbolNameAttr": "str",
    "SymbolRefAttr": "str | list[str]",
    "TypeAttr": "_ods_ir.Type",
    "TypeArrayAttr": "_Sequence[_ods_ir.Type]",
    **{f"{sign}I{bits}Attr": "int" for sign in ("", "S", "U") for bits in (1, 8, 16, 32, 64)},
    **{f"F{bits}Attr": "float" for bits in (32, 64)},
    **{f"{dense}I{bits}ArrayAttr": "_Sequence[int]" for dense in ("", "Dense") for bits in (8, 16, 32, 64)},
    **{f"{dense}F{bits}ArrayAttr": "_Sequence[float]" for dense in ("", "Dense") for bits in (32, 64)},
}

# Definitions in modules that upstream wrote by hand, without types.
CORRECTIONS = {
    "scf": """
class ForOp:
    def __init__(self, lower_bound: _Operand, upper_bound: _Operand, step: _Operand, iter_args: _Operands | None = None, *, loc: _Location = None, ip: _InsertionPoint = None) -> None: ...
    @property
    def body(self) -> Block: ...
    @property
    def induction_variable(self) -> BlockArgument: ...
    @property
    def inner_iter_args(self) -> BlockArgumentList: ...
class IfOp:
    def __init__(self, cond: _Operand, results_: Sequence[Type] | None = None, *, has_else: bool = False, loc: _Location = None, ip: _InsertionPoint = None) -> None: ...
@overload
def for_(start: _Operand | int, stop: _Operand | int | None = None, step: _Operand | int | None = None, iter_args: None = None, *, loc: _Location = None, ip: _InsertionPoint = None) -> Iterator[BlockArgument]: ...
@overload
def for_(start: _Operand | int, stop: _Operand | int | None, step: _Operand | int | None, iter_args: Sequence[Value], *, loc: _Location = None, ip: _InsertionPoint = None) -> Iterator[tuple[BlockArgument, Any, Any]]: ...
@overload
def for_(start: _Operand | int, stop: _Operand | int | None = None, step: _Operand | int | None = None, *, iter_args: Sequence[Value], loc: _Location = None, ip: _InsertionPoint = None) -> Iterator[tuple[BlockArgument, Any, Any]]: ...
""",
    "affine": """
class AffineForOp:
    @property
    def body(self) -> Block: ...
    @property
    def induction_variable(self) -> BlockArgument: ...
    @property
    def inner_iter_args(self) -> BlockArgumentList: ...
""",
    "arith": """
class ConstantOp:
    def __init__(self, result: Type, value: int | float | Attribute | _array, *, loc: _Location = None, ip: _InsertionPoint = None) -> None: ...
    @property
    def type(self) -> Type: ...
    @property
    def value(self) -> Attribute: ...
    @classmethod
    def create_index(cls, value: int, *, loc: _Location = None, ip: _InsertionPoint = None) -> ConstantOp: ...
""",
    "func": """
class ConstantOp:
    @property
    def type(self) -> Type: ...
class FuncOp:
    def __init__(self, name: str, type: FunctionType | tuple[Sequence[Type], Sequence[Type]], *, visibility: str | None = None, body_builder: Callable[[FuncOp], object] | None = None, loc: _Location = None, ip: _InsertionPoint = None) -> None: ...
    @property
    def is_external(self) -> bool: ...
    @property
    def body(self) -> Region: ...
    @property
    def type(self) -> FunctionType: ...
    @property
    def visibility(self) -> Attribute: ...
    @property
    def entry_block(self) -> Block: ...
    def add_entry_block(self, arg_locs: Sequence[Location] | None = None) -> Block: ...
    @property
    def arguments(self) -> BlockArgumentList: ...
    @classmethod
    def from_py_func(cls, *inputs: Type, results: Sequence[Type] | None = None, name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
class CallOp:
    def __init__(self, calleeOrResults: FuncOp | Sequence[Type], argumentsOrCallee: list[Value] | FlatSymbolRefAttr | str, arguments: list[Value] | None = None, *, loc: _Location = None, ip: _InsertionPoint = None) -> None: ...
""",
    "builtin": """
class ModuleOp:
    @property
    def body(self) -> Block: ...
""",
    "gpu/__init__": """
def gpu_async_token() -> Type: ...
def printf(format: str, *args: _Operand, loc: _Location = None, ip: _InsertionPoint = None) -> PrintfOp: ...
""",
    "memref": """
def subview(source: Value, offsets: MixedValues, sizes: MixedValues, strides: MixedValues, *, result_type: MemRefType | None = None, loc: _Location = None, ip: _InsertionPoint = None) -> OpResult[MemRefType]: ...
""",
    "ir": """
@contextmanager
def loc_tracebacks(*, max_depth: int | None = None) -> Generator[None]: ...
def register_attribute_builder(kind: str, replace: bool = False) -> Callable[[_Builder], _Builder]: ...
""",
}

ALIASES = {
    "_Operand": OPERAND,
    "_Operands": OPERANDS,
    "_Location": "_ods_ir.Location | None",
    "_InsertionPoint": "_ods_ir.InsertionPoint | _Literal[False] | None",
}


class Conversions:
    """The Python type that the builders accept for an attribute, by the name of its constraint in TableGen."""

    def __init__(self, dialects: pathlib.Path) -> None:
        self._types = {kind: (text, "") for kind, text in UPSTREAM_CONVERSIONS.items()}
        for path in sorted(dialects.glob("_*_enum_gen.py")):
            self._read(path)
        for path in sorted(dialects.glob("_attribute_builders.py")):
            self._read(path)

    def _read(self, path: pathlib.Path) -> None:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        enums = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        homes = {
            name.asname or name.name: node.module or ""
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        preceding = ""
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                preceding = node.name
            if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
                continue
            kind = ast.literal_eval(node.decorator_list[0].args[0])  # type: ignore[attr-defined]
            annotation = node.args.args[0].annotation
            if annotation is not None:
                text = re.sub(r"\bSequence\b", "_Sequence", re.sub(r"\bir\.", "_ods_ir.", ast.unparse(annotation)))
                enum = next((name for name in homes if re.search(rf"\b{name}\b", text)), None)
                self._types[kind] = (text, f"{homes[enum]}.{enum}" if enum is not None else "")
            elif "int(x)" in ast.unparse(node):
                # mlir-tblgen writes the conversion of an enumeration after its class.
                self._types[kind] = (preceding, f"{path.stem}.{preceding}")
            else:
                # An attribute with an enumeration as its parameter, after all classes.
                stem = kind.rsplit("_", 1)[-1].removesuffix("Attr")
                found = [name for name in enums if name.startswith(stem)]
                if len(found) == 1:
                    self._types[kind] = (found[0], f"{path.stem}.{found[0]}")

    def type(self, kind: str, module: str) -> tuple[str | None, str]:
        """The type, and the import that it needs in a module of that name."""
        text, needed = self._types.get(kind, (None, ""))
        if text is None or not needed:
            return text, ""
        home, name = needed.rsplit(".", 1)
        alias = f"_{home.strip('_').removesuffix('_enum_gen')}_{name}"
        return re.sub(rf"\b{name}\b", alias, text), f"from .{home} import {name} as {alias}"


def _is_property(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(ast.unparse(one) in ("builtins.property", "property") for one in decorators)


def _without_none(annotation: str) -> str:
    found = re.fullmatch(r"_Optional\[(.*)\]", annotation)
    return found[1] if found else annotation


def _uses(constructor: ast.FunctionDef) -> Mapping[str, str]:
    """The use of each parameter by a generated constructor.

    It is `operand`, `operands`, `result`, `results`, `successor`, `successors`, `unit`, `regions` (a number of regions), or
    `attribute` with the name of the constraint in TableGen.
    """
    uses: dict[str, str] = {}
    for statement in constructor.body:
        text = ast.unparse(statement)
        for kind, pattern in (
            ("operands", r"operands\.(?:append|extend)\(_get_op_results_or_values\((\w+)\)\)"),
            ("operand", r"operands\.append\((\w+)\)"),
            ("results", r"results\.extend\((\w+)\)"),
            ("result", r"results\.append\((\w+)\)"),
            ("successors", r"_ods_successors\.extend\((\w+)\)"),
            ("successor", r"_ods_successors\.append\((\w+)\)"),
            ("unit", r"if bool\((\w+)\):"),
            ("regions", r"regions = \d+ \+ (\w+)"),
            (
                "attribute",
                r"(\w+) if isinstance\(\1, _ods_ir\.Attribute\) or not _ods_ir\.AttrBuilder\.contains\('(\w+)'\)",
            ),
        ):
            for name, *constraint in (
                found if isinstance(found, tuple) else (found,) for found in re.findall(pattern, text)
            ):
                uses.setdefault(name, " ".join([kind, *constraint]))
    return uses


def _reads(function: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for one in function.body for node in ast.walk(one))


class Generated:
    """The stub of a module that mlir-tblgen generated."""

    def __init__(self, path: pathlib.Path, conversions: Conversions) -> None:
        self._module = path.stem
        self._conversions = conversions
        self._imports: set[str] = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.names = [n for n in stub_trees.defined(tree) if not n.startswith("_") and n != "builtins"]
        self._results: dict[str, str] = {}
        self._signatures: dict[str, ast.arguments] = {}
        body: list[ast.stmt] = []
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                body.append(self._class(node))
            elif isinstance(node, ast.FunctionDef):
                body.append(self._function(node))
        header = [
            "import builtins",
            "from collections.abc import Sequence as _Sequence",
            "from typing import Literal as _Literal, Optional as _Optional, TypeAlias as _TypeAlias, Union as _Union",
            "from .. import ir as _ods_ir",
            *sorted(self._imports),
            *(f"{name}: _TypeAlias = {text}" for name, text in ALIASES.items()),
        ]
        self.tree = ast.Module([*ast.parse("\n".join(header)).body, *body], [])

    def _class(self, node: ast.ClassDef) -> ast.ClassDef:
        properties = {
            inner.name: ast.unparse(inner.returns)
            for inner in node.body
            if _is_property(inner) and isinstance(inner, ast.FunctionDef) and inner.returns is not None
        }
        body: list[ast.stmt] = []
        for inner in node.body:
            if isinstance(inner, ast.Assign):
                if ast.unparse(inner.targets[0]) in ("OPERATION_NAME", "DIALECT_NAMESPACE"):
                    body.append(ast.AnnAssign(inner.targets[0], expression("str"), None, 1))
            elif isinstance(inner, ast.FunctionDef):
                if inner.name == "__init__":
                    inner.args = self._constructor(inner, properties)
                    self._signatures[node.name] = inner.args
                else:
                    for value in stub_trees.parameters(inner):
                        # A property accepts what it returns.
                        if value.arg == "value" and value.annotation is None:
                            value.annotation = expression(properties[inner.name])
                    if _is_property(inner) and "self.operation.results[0]" in ast.unparse(inner):
                        self._results[node.name] = ast.unparse(inner.returns) if inner.returns else ""
                inner.returns = inner.returns or ast.Constant(None)
                inner.body = [ast.Expr(ast.Constant(...))]
                body.append(inner)
        node.decorator_list = []
        node.body = body
        return node

    def _constructor(self, node: ast.FunctionDef, properties: Mapping[str, str]) -> ast.arguments:
        uses = _uses(node)
        required = len(node.args.args) - len(node.args.defaults)
        optional = {one.arg for one in (*node.args.args[required:], *node.args.kwonlyargs)}
        optional |= {name for name, stated in properties.items() if stated.startswith("_Optional[")}
        optional |= set(re.findall(r"if (\w+) is not None:", ast.unparse(node)))
        for parameter in stub_trees.parameters(node):
            name = parameter.arg
            if name == "self":
                continue
            use = uses.get(name, "")
            if not use and name not in ("loc", "ip", "results") and _reads(node, name):
                raise SystemExit(
                    f"{self._module}: the use of the parameter '{name}' by a constructor cannot be determined: {ast.unparse(node)}"
                )
            if name == "loc":
                text = "_Location"
            elif name == "ip":
                text = "_InsertionPoint"
            else:
                text = self._type(use, name, properties)
                if name in optional:
                    text = f"{text} | None"
            parameter.annotation = expression(text)
        return node.args

    def _type(self, use: str, name: str, properties: Mapping[str, str]) -> str:
        if use.startswith("attribute "):
            # A parameter may have another name than its property.
            stated = _without_none(properties.get(name, "_ods_ir.Attribute"))
            converted, needed = self._conversions.type(use.split()[1], self._module)
            if needed:
                self._imports.add(needed)
            return stated if converted is None else f"{converted} | {stated}"
        if use == "result" and properties.get(name, "").endswith("OpResultList"):
            use = "results"  # A segment of the results.
        return {
            "operand": "_Operand",
            "operands": "_Operands",
            "result": "_ods_ir.Type",
            "results": "_Sequence[_ods_ir.Type]",
            "successor": "_ods_ir.Block",
            "successors": "_Sequence[_ods_ir.Block]",
            "unit": "bool | _ods_ir.UnitAttr",
            "regions": "int",
            # A parameter of an upstream op that its constructor ignores.
            "": "_Sequence[_ods_ir.Type]" if name == "results" else "object",
        }[use]

    def _function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function of an op has the parameters of its constructor, in snake case."""
        called = next(
            call.func.id
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self._signatures
        )
        types = [one.annotation for one in stub_trees.parameters(ast.FunctionDef(args=self._signatures[called]))]
        for parameter, annotation in zip(stub_trees.parameters(node), types[1:], strict=True):
            parameter.annotation = annotation
        if node.returns and ast.unparse(node.returns) == "_ods_ir.OpResult" and called in self._results:
            node.returns = expression(self._results[called])
        node.body = [ast.Expr(ast.Constant(...))]
        return node


class _Names(ast.NodeTransformer):
    """Names the classes of MLIR without their module, and the types of operands by our names."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = {"_ResultValueT": "_Operand", "_VariadicResultValueT": "_Operands"}
        return ast.Name(known.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(node.attr, ast.Load()) if ast.unparse(node.value) in ("_ods_ir", "_ods_cext.ir") else node


class HandWritten:
    """The stub of a module that upstream or we wrote. It may define classes and functions of the generated module again."""

    def __init__(
        self, path: pathlib.Path, corrections: str, generated: Mapping[str, Generated], ir_names: list[str]
    ) -> None:
        self._generated = generated
        self._is_ir = path.stem == "ir"
        nodes: list[ast.stmt] = []
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            nodes.extend(node.body if isinstance(node, ast.Try) else [node])
        self._defined = {node.name for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self._corrections = stub_trees.Corrections(corrections)
        self.tree: ast.Module = _Names().visit(ast.Module([one for node in nodes for one in self._statement(node)], []))
        self._corrections.check(path)
        for function in stub_trees.functions(self.tree):
            _complete(function)
        stub_trees.complete(self.tree)
        self._add_names(ir_names)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements of the stub for a statement of the module."""
        match node:
            case ast.ImportFrom(module=module, names=[ast.alias(name="*")]) if module in self._generated:
                names = self._generated[module or ""].names
                public = [ast.alias(name, name) for name in names if name not in self._defined]
                hidden = [ast.alias(name, f"_{name}") for name in names if name in self._defined]
                return [ast.ImportFrom(module, [*public, *hidden], node.level)]
            case ast.ImportFrom(module=module):
                is_mlir = module in ("ir", "_mlir_libs._mlir.ir") and not self._is_ir
                return [] if is_mlir or module in self._generated else [node]
            case ast.ClassDef():
                return [self._class(node)]
            case ast.FunctionDef():
                return self._function(node)
            case ast.Import():
                return [node]
            case ast.Assign(value=ast.Attribute() | ast.Constant() | ast.Subscript()):
                return [] if ast.unparse(node.value) == "_ods_cext.ir" else [node]
        return []

    def _class(self, node: ast.ClassDef) -> ast.ClassDef:
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id == node.name:
                base.id = f"_{node.name}"
        node.decorator_list = []
        body: list[ast.stmt] = []
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                body.extend(self._corrections.of(f"{node.name}.{inner.name}", inner))
        node.body = body or [ast.Expr(ast.Constant(...))]
        return node

    def _function(self, node: ast.FunctionDef) -> list[ast.stmt]:
        corrected = self._corrections.of(node.name, node)
        if corrected != [node]:
            return corrected
        if node.name.startswith("_"):
            return []
        if any(not ast.unparse(one).endswith(("contextmanager", "overload")) for one in node.decorator_list):
            # A decorator of upstream, which has no types.
            return ast.parse(f"def {node.name}(*args: Any, **kwargs: Any) -> Any: ...").body
        return [node]

    def _add_names(self, ir_names: list[str]) -> None:
        definitions = [node for node in self.tree.body if not isinstance(node, ast.ImportFrom)]
        used = set(re.findall(r"\w+", ast.unparse(ast.fix_missing_locations(ast.Module(definitions, [])))))
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "_ods_common":
                node.names = [one for one in node.names if (one.asname or one.name) in used and one.name != "_cext"]
        self.tree.body = [node for node in self.tree.body if not isinstance(node, ast.ImportFrom) or node.names]
        for name, text in ALIASES.items():
            if name in used:
                plain = re.sub(r"\b(_ods_ir\.|_(?=Sequence|Literal))", "", text)
                self.tree.body.extend(ast.parse(f"{name}: TypeAlias = {plain}").body)
        if "_Builder" in used:
            self.tree.body.extend(ast.parse("_Builder = TypeVar('_Builder', bound=Callable[..., Any])").body)
        stub_trees.add_imports(self.tree, "smalti.ir", [] if self._is_ir else ir_names)


def _complete(function: ast.FunctionDef) -> None:
    """Types of a location, of an insertion point, and of a result that is not stated."""
    function.body = [ast.Expr(ast.Constant(...))]
    is_setter = any(ast.unparse(one).endswith((".setter", ".deleter")) for one in function.decorator_list)
    if function.returns is None and function.name != "__init__" and not is_setter:
        function.returns = stub_trees.ANY
    for parameter in stub_trees.parameters(function):
        if parameter.annotation is None and parameter.arg in ("loc", "ip"):
            parameter.annotation = expression({"loc": "_Location", "ip": "_InsertionPoint"}[parameter.arg])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=pathlib.Path, help="the package's folder in the build tree")
    parser.add_argument("--stamp", required=True, type=pathlib.Path, help="touched when the stubs are complete")
    arguments = parser.parse_args()

    package: pathlib.Path = arguments.package
    dialects: pathlib.Path = package / "dialects"
    ir_stub = package / "_mlir_libs" / "_mlir" / "ir.pyi"
    ir_names = list(stub_trees.defined(ast.parse(ir_stub.read_text(encoding="utf-8"))))
    conversions = Conversions(dialects)
    generated = {path.stem: Generated(path, conversions) for path in sorted(dialects.glob("_*_ops_gen.py"))}
    for name, stub in generated.items():
        stub_trees.write(dialects / f"{name}.pyi", stub.tree)
    written = [*dialects.glob("[a-z]*.py"), *dialects.glob("*/__init__.py")]
    for path in sorted([*written, package / "ir.py"]):
        name = str(path.relative_to(package if path.stem == "ir" else dialects).with_suffix(""))
        module = HandWritten(path, CORRECTIONS.get(name, ""), generated, ir_names)
        stub_trees.write(path.with_suffix(".pyi"), module.tree)
    arguments.stamp.touch()


if __name__ == "__main__":
    main()
