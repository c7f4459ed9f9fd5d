# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generator of type stubs for the registered passes: `pipeline.pyi` with one typed method per pass, and `options.pyi` with
the keywords of `smalti.compile`.

The build runs `python _generate_pipeline_stub.py _passes.json FOLDER`. The script does not import compiled modules.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "_smalti_sources.compiler"


def _load(name: str) -> Any:
    """Loads a module of the package without importing the package, whose bindings may not be built yet."""
    for package, folder in ((PACKAGE.partition(".")[0], HERE.parent), (PACKAGE, HERE)):
        sys.modules.setdefault(package, types.ModuleType(package)).__path__ = [str(folder)]
    spec = importlib.util.spec_from_file_location(f"{PACKAGE}.{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _body(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    documentation = ast.get_docstring(node)
    head: list[ast.stmt] = [ast.Expr(ast.Constant(documentation))] if documentation else []
    return [*head, ast.Expr(ast.Constant(...))]


def _stub_function(node: ast.FunctionDef) -> ast.FunctionDef:
    node.body = _body(node)
    return node


def _stub_class(node: ast.ClassDef) -> ast.ClassDef:
    body: list[ast.stmt] = []
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            if item.name in ("__init__", "__str__", "__repr__") or not item.name.startswith("_"):
                body.append(_stub_function(item))
        elif isinstance(item, ast.AnnAssign):
            body.append(item)
    documentation = ast.get_docstring(node)
    head: list[ast.stmt] = [ast.Expr(ast.Constant(documentation))] if documentation else []
    node.body = [*head, *body] or [ast.Expr(ast.Constant(...))]
    return node


def _method(name: str, item: Any, documentation: str) -> str:
    parameters = ["self"]
    if item.options:
        parameters.append("*")
        parameters += [f"{option.keyword}: {option.annotation} | None = None" for option in item.options]
    escaped = documentation.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [
        f"def {name}({', '.join(parameters)}) -> Pipeline:",
        textwrap.indent(f'"""{escaped}"""', "    "),
        "    ...",
    ]
    return "\n".join(lines)


def generate(passes_json: Path) -> str:
    """The text of the stub."""
    passes = _load("passes")
    tree = ast.parse((HERE / "pipeline.py").read_text(encoding="utf-8"))
    imports: list[ast.Import | ast.ImportFrom] = []
    parts: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            imports.append(node)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            parts.append(ast.unparse(_stub_function(node)))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            parts.append(ast.unparse(_stub_class(node)))
            if node.name == "Pipeline":
                for name, item in sorted(passes.method_names(passes.load(passes_json)).items()):
                    parts.append(textwrap.indent(_method(name, item, passes.documentation(item)), "    "))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PythonPass":
            parts.append(ast.unparse(node))
    head = ['"""Generated from the registered passes; see pipeline.py."""', "from typing import Literal"]
    names = {node.id for node in ast.walk(ast.parse("\n".join(parts))) if isinstance(node, ast.Name)}
    for node in imports:
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in names]
        if node.names:
            head.append(ast.unparse(node))
    return "\n".join([*head, *parts]) + "\n"


def generate_options(passes_json: Path) -> str:
    """The text of `options.pyi`."""
    passes = _load("passes")
    lines = [
        '"""Generated from the options of smalti-compile."""',
        "from typing import Literal, TypedDict",
        "class CompileOptions(TypedDict, total=False):",
        '    """The options of `smalti-compile`, as keywords of `smalti.compile`."""',
    ]
    for option in passes.load(passes_json)["smalti-compile"].options:
        if option.name not in ("target", "stop-after"):
            lines += [f"    {option.keyword}: {option.annotation}", f"    {passes.summary(option)!r}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command line."""
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    (folder / "pipeline.pyi").write_text(generate(source), encoding="utf-8")
    (folder / "options.pyi").write_text(generate_options(source), encoding="utf-8")


if __name__ == "__main__":
    main()
