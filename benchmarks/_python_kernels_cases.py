# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments for which benchmarks/python_kernels.py compiles the kernels of examples/python and those of the peers.

An argument has the same name in all languages. As a script, `LANGUAGE [KERNEL]`, in the Python of the language, it compiles
kernels.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import runpy
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHIP = "sm_90a"
HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "examples" / "python"


@dataclasses.dataclass(frozen=True)
class Case:
    """Arguments by name. Arrays are in row-major order."""

    arrays: dict[str, tuple[Any, ...]]
    """The element type and the shape."""
    sizes: dict[str, int]
    """Sizes of arrays, for a language whose kernels have them as arguments."""
    constants: dict[str, int]
    floats: tuple[str, ...] = ()
    warps: int = 8
    """The number that Smalti chooses, and Triton is given. cuTile chooses its own."""


_MATMUL = {"m": 1024, "n": 1024, "k": 1024}
_MLP = {
    "x": ("float16", 1024, 64),
    "gate": ("float16", 64, 256),
    "up": ("float16", 64, 256),
    "down": ("float16", 256, 64),
}

CASES = {
    "vector_add": Case(
        {"x": ("float32", 65536), "y": ("float32", 65536), "out": ("float32", 65536)}, {"n": 65536}, {"block": 1024}
    ),
    "softmax": Case({"x": ("float32", 64, 1008), "y": ("float32", 64, 1008)}, {"n": 1008}, {"block": 1024}, warps=1),
    "layer_norm": Case(
        {
            "x": ("float16", 64, 4096),
            "weight": ("float32", 4096),
            "bias": ("float32", 4096),
            "y": ("float32", 64, 4096),
        },
        {"n": 4096},
        {"block": 256},
        ("eps",),
        warps=1,
    ),
    "matmul": Case(
        {
            "a": ("float16", 1024, 1024),
            "b": ("float16", 1024, 1024),
            "bias": ("float32", 1024),
            "residual": ("float16", 1024, 1024),
            "c": ("float16", 1024, 1024),
        },
        _MATMUL,
        {"bm": 64, "bn": 64, "bk": 32},
        warps=4,
    ),
    "grouped_matmul": Case(
        {
            "x": ("float16", 1024, 1024),
            "experts": ("int32", 32),
            "weights": ("float16", 16, 1024, 1024),
            "y": ("float32", 1024, 1024),
        },
        _MATMUL,
        {"bn": 64, "bk": 32},
    ),
    "attention": Case(
        {
            "q": ("float16", 16, 1024, 64),
            "k": ("float16", 16, 1024, 64),
            "v": ("float16", 16, 1024, 64),
            "out": ("float32", 16, 1024, 64),
        },
        {"length": 1024},
        {"size": 64, "causal": True, "bm": 64, "bn": 32},
        ("scale",),
        warps=4,
    ),
    "int4_matmul": Case(
        {
            "a": ("float16", 1024, 1024),
            "b": ("uint8", 1024, 512),
            "scale": ("float32", 1024),
            "c": ("float32", 1024, 1024),
        },
        _MATMUL,
        {"bm": 32, "bn": 64, "bk": 32},
    ),
    "scaled_dot": Case(
        {
            "a": ("float8_e4m3fn", 1024, 1024),
            "a_scale": ("float8_e8m0fnu", 1024, 32),
            "b": ("float8_e4m3fn", 1024, 1024),
            "b_scale": ("float8_e8m0fnu", 32, 1024),
            "c": ("float32", 1024, 1024),
        },
        _MATMUL,
        {"bm": 32, "bn": 32, "bk": 64},
    ),
    "histogram": Case({"x": ("int32", 65536), "bins": ("int32", 64)}, {"n": 65536}, {"number": 64, "block": 512}),
    "conv2d": Case(
        {
            "x": ("float16", 16, 64, 64, 64),
            "w": ("float16", 3, 3, 64, 64),
            "y": ("float32", 16, 64, 64, 64),
        },
        {"height": 64, "width": 64, "inputs": 64, "outputs": 64, "r_size": 3, "s_size": 3},
        {"padding": 1, "bw": 32, "bk": 32, "bc": 16},
    ),
    "top_k": Case(
        {"x": ("float32", 64, 208), "values": ("float32", 64, 8), "columns": ("int32", 64, 8)},
        {"n": 208},
        {"k": 8, "block": 256},
    ),
    "mlp": Case({**_MLP, "y": ("float32", 1024, 64)}, {"m": 1024, "n": 256}, {"size": 64, "bm": 32, "bh": 32}),
    "mlp_gradients": Case(
        {
            **_MLP,
            "dy": ("float32", 1024, 64),
            "hidden": ("float32", 1024, 256),
            "dgate": ("float32", 1024, 256),
            "dup": ("float32", 1024, 256),
        },
        {"m": 1024, "n": 256},
        {"size": 64, "bm": 32, "bh": 32},
    ),
}


def example(name: str) -> Path:
    """The file of our kernel."""
    return FOLDER / f"{'mlp' if name == 'mlp_gradients' else name}.py"


def used_definitions(source: str, *names: str) -> dict[str, ast.stmt]:
    """The functions, classes and values of a file by name: those with these names, and those that they use."""
    definitions: dict[str, ast.stmt] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            definitions[node.targets[0].id] = node
    used, missing = set[str](), set(names) & set(definitions)
    while missing:
        used |= missing
        found = {n.id for one in missing for n in ast.walk(definitions[one]) if isinstance(n, ast.Name)}
        missing = found & set(definitions) - used
    return {name: node for name, node in definitions.items() if name in used}


def lines_of(node: ast.stmt) -> set[int]:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    assert node.end_lineno
    return set(range(min(part.lineno for part in (node, *decorators)), node.end_lineno + 1))


def excerpt(source: str, *names: str) -> str:
    """The definitions of a file with these names, and the definitions and imports that they use. The other lines are empty."""
    used = used_definitions(source, *names).values()
    loaded = {node.id for one in used for node in ast.walk(one) if isinstance(node, ast.Name)} | {"annotations"}
    imports = [
        node
        for node in ast.parse(source).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and any((one.asname or one.name.partition(".")[0]) in loaded for one in node.names)
    ]
    lines = {line for node in (*imports, *used) for line in lines_of(node)}
    return "".join(text if at in lines else "\n" for at, text in enumerate(source.splitlines(keepends=True), 1))


def _load(folder: str, file: Path, *names: str) -> dict[str, Any]:
    """The definitions of an excerpt, as a new module: a language keeps what it compiled with the function."""
    # The languages read the sources of functions later.
    path = Path(tempfile.mkdtemp(dir=folder)) / file.name
    path.write_text(excerpt(file.read_text(), *names))
    return runpy.run_path(str(path))


def serve(folder: str, language: str, names: Sequence[str]) -> None:
    """Compiles kernels in a language, and prints a line of JSON for each: the seconds, or the error. Each kernel is loaded
    alone. Without names, standard input has a line with the name of a kernel, which is loaded, and then an empty line, after
    which the kernel is compiled."""
    file = HERE / f"_python_kernels_{language}.py"
    for name in names or (line.strip() for line in iter(sys.stdin.readline, "")):
        # Our kernels are in files of their own.
        kernels = example(name) if language == "smalti" else file
        functions = _load(folder, file, "version", "compile_kernel")
        kernel = _load(folder, kernels, name)[name]
        result: dict[str, Any] = {"version": functions["version"]()}
        if not names:
            print("loaded", flush=True)
            sys.stdin.readline()
        start = time.perf_counter()
        try:
            functions["compile_kernel"](kernel, CASES[name])
            result["seconds"] = time.perf_counter() - start
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as sources:
        serve(sources, sys.argv[1], sys.argv[2:])
