#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the type stubs of the package's extension modules.

The modules import `smalti.ir` when they load. A bare package of that name stands in for the real one, whose Python
sources must not decide whether the build works.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import sys
import types

import stub_trees
from nanobind import stubgen

# Signatures that upstream's bindings do not state, or state wrongly.
CORRECTIONS = {
    "_mlir/ir": """
_T = TypeVar("_T", bound=Type, default=Type, covariant=True)
class Diagnostic:
    @property
    def notes(self) -> tuple[Diagnostic, ...]: ...
class _OperationBase:
    def walk(self, callback: Callable[[Operation], WalkResult], walk_order: WalkOrder = ...) -> None: ...
class BlockList:
    def append(self, *args: Type, arg_locs: Sequence[Location] | None = None) -> Block: ...
class Block:
    def create_before(self, *arg_types: Type, arg_locs: Sequence[Location] | None = None) -> Block: ...
    def create_after(self, *arg_types: Type, arg_locs: Sequence[Location] | None = None) -> Block: ...
class Value:
    @property
    def owner(self) -> OpView | Block: ...
    @property
    def type(self) -> _T: ...
    def set_type(self, type: Type) -> None: ...
class OpAttributeMap:
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Attribute]: ...
    def items(self) -> list[tuple[str, Attribute]]: ...
class ShapedType:
    @property
    def shape(self) -> list[int]: ...
class AttrBuilder:
    @staticmethod
    def get(arg: str, /) -> Callable[..., Attribute]: ...
""",
    "_mlir/rewrite": """
_Op = TypeVar("_Op", bound=smalti.ir.OpView)
class RewritePatternSet:
    @overload
    def add(self, root: type[_Op], fn: Callable[[_Op, PatternRewriter], object], benefit: int = 1) -> None: ...
    @overload
    def add(self, root: str, fn: Callable[[smalti.ir.OpView, PatternRewriter], object], benefit: int = 1) -> None: ...
""",
}


class Corrector(ast.NodeTransformer):
    """Replaces definitions by their corrections."""

    def __init__(self, corrections: stub_trees.Corrections) -> None:
        self._corrections = corrections
        self._class = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        outer, self._class = self._class, f"{node.name}."
        self.generic_visit(node)
        self._class = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        return self._corrections.of(f"{self._class}{node.name}", node)

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return self._corrections.of(f"{self._class}{ast.unparse(node.targets[0])}", node)


def mend(path: pathlib.Path, name: str, ir_names: list[str]) -> None:
    """Completes a stub of nanobind, which has undefined names and incomplete types."""
    text = path.read_text(encoding="utf-8")
    for wrong in ("_mlir.ir", "mlir.ir"):
        text = text.replace(f"import {wrong}\n", "import smalti.ir\n").replace(f"from {wrong} ", "from smalti.ir ")
        text = text.replace(f" {wrong}.", " smalti.ir.")
    text = text.replace("smalti.ir._OperationBase", "smalti._mlir_libs._mlir.ir._OperationBase")
    tree = ast.parse(text)
    corrections = stub_trees.Corrections(CORRECTIONS.get(name, ""))
    tree = Corrector(corrections).visit(tree)
    tree.body.extend(corrections.added("_Op"))
    corrections.check(path)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            node.names = [alias for alias in node.names if alias.name != "TypeVar"]
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom) or node.names]
    stub_trees.complete(tree)
    stub_trees.add_imports(tree, "smalti.ir", [] if name == "_mlir/ir" else ir_names)
    stub_trees.write(path, tree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=pathlib.Path, help="the package's folder in the build tree")
    parser.add_argument("--stamp", required=True, type=pathlib.Path, help="touched when the stubs are complete")
    parser.add_argument("modules", nargs="+", help="the extension modules in _mlir_libs")
    arguments = parser.parse_args()

    sys.dont_write_bytecode = True
    stand_in = types.ModuleType("smalti")
    stand_in.__path__ = [str(arguments.package)]
    sys.modules["smalti"] = stand_in

    libs = arguments.package / "_mlir_libs"
    written: list[pathlib.Path] = []
    for module in arguments.modules:
        # _mlir is a package to its users: its submodules become _mlir/ir.pyi and so on.
        options = ["-q", "--include-private", "-m", f"smalti._mlir_libs.{module}"]
        stubgen.main(
            [*options, "-r", "-O", str(libs)] if module == "_mlir" else [*options, "-o", str(libs / f"{module}.pyi")]
        )
        # A link is a stub that upstream wrote.
        found = (libs / "_mlir").rglob("*.pyi") if module == "_mlir" else [libs / f"{module}.pyi"]
        written.extend(path for path in found if not path.is_symlink())
    ir_names = list(stub_trees.defined(ast.parse((libs / "_mlir" / "ir.pyi").read_text(encoding="utf-8"))))
    for path in written:
        mend(path, str(path.relative_to(libs).with_suffix("")), ir_names)
    arguments.stamp.touch()


if __name__ == "__main__":
    main()
