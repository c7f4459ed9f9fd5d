# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records the compiler's outputs during tests (`tools/dev outputs`, outputs.py), in the processes that produce them.

It runs instead of a tool (`recorder.py TOOL ARGUMENTS`), and in the interpreters of .venv, where `install` wraps the
compiler's functions. The key of an output is its input (module, pipeline, target and options), not its test: tests can
move, and a run that a second test repeats adds nothing. Neither the order of tests nor a cache of kernels matters.
Standard library only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.machinery
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "SMALTI_RECORD_OUTPUTS"
"""The environment variable that names the folder of the recording."""
DATABASE = "outputs.db"
TOOLS = "bin"
"""The folder in it of the tools that replace others."""
ROOT = Path(__file__).resolve().parents[2]
COMMAND = (str(ROOT / ".venv" / "bin" / "python"), "-I", "-S", str(Path(__file__).resolve()))
"""Runs a tool and records it."""
SCHEMA = """
create table if not exists texts (digest text primary key, data blob);
create table if not exists outputs (
  key text, name text, digest text, label text, test text, primary key (key, name, digest)
) without rowid;
"""
_CODEGEN = "gpu-module-to-binary"

_PATHS = re.compile(rf"""(?:{re.escape(str(ROOT))}/(?:build/)?test|/tmp|/var/tmp)/[^\s:;,"'()<>\[\]{{}}]+""")
_FILE = re.compile(r"DIFile\([^)]*\)")
_ADDRESS = re.compile(r"\b0x(?:7[ef]|5[56])[0-9a-f]{10}\b")


def normalized(text: str) -> str:
    """The text without what differs between two runs, or after a test has moved: paths of tests and of temporary files,
    and addresses of a process."""
    for pattern, word in ((_PATHS, "<path>"), (_FILE, "DIFile(<path>)"), (_ADDRESS, "<address>")):
        text = pattern.sub(word, text)
    return text.replace(str(ROOT), "<root>")


def connect(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / DATABASE, timeout=120, isolation_level=None)
    # A crash of the machine may lose the recording; a crash of a test does not.
    connection.execute("pragma synchronous = off")
    return connection


def record(label: str, inputs: Mapping[str, str], outputs: Mapping[str, str], test: str = "") -> None:
    """Stores the outputs of one run under the digest of its label and its inputs."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    parts = {"label": label, **inputs}
    key = hashlib.sha256(json.dumps({name: normalized(text) for name, text in parts.items()}).encode()).hexdigest()
    test = test or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    with contextlib.closing(connect(Path(folder))) as connection:
        rows = []
        for name, text in {"input": "\n".join(inputs.values()), **outputs}.items():
            data = normalized(text).encode(errors="surrogateescape")
            digest = hashlib.sha256(data).hexdigest()
            rows.append((key, name, digest, label, test, data))
        connection.execute("begin immediate")
        for *row, data in rows:
            if not connection.execute("select 1 from texts where digest = ?", (row[2],)).fetchone():
                connection.execute("insert into texts values (?, ?)", (row[2], zlib.compress(data, 1)))
            connection.execute("insert or ignore into outputs values (?, ?, ?, ?, ?)", row)
        connection.execute("commit")


def find_tool(tool: str) -> str:
    """The tool itself, where a stand-in that records is first on PATH."""
    if "/" in tool:
        return tool
    stand_ins = str(Path(os.environ[VARIABLE]) / TOOLS)
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder != stand_ins]
    if (found := shutil.which(tool, path=os.pathsep.join(folders))) is None:
        sys.exit(f"{tool}: not found on PATH")
    return found


def replay(result: subprocess.CompletedProcess[bytes]) -> int:
    """Prints what a tool printed, and ends as it ended."""
    # A tool's diagnostics precede its output, which it writes at the end.
    for stream, data in ((sys.stderr, result.stderr), (sys.stdout, result.stdout)):
        with contextlib.suppress(BrokenPipeError):
            stream.buffer.write(data)
            stream.buffer.flush()
    if result.returncode < 0:
        with contextlib.suppress(OSError):
            signal.signal(-result.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -result.returncode)
    return result.returncode


def run_tool(tool: str, arguments: list[str]) -> int:
    """Runs a tool as if it had been called itself, and records its output under its arguments and its input."""
    tool = find_tool(tool)
    words, files, test = [Path(tool).name], [], ""
    output = None
    for previous, word in zip(["", *arguments], arguments, strict=False):
        if previous == "-o":
            output = Path(word)
            words.append("<output>")
        elif not word.startswith("-") and Path(word).is_file():
            files.append(Path(word).read_bytes())
            test = os.path.relpath(word, ROOT)
            words.append(f"<{hashlib.sha256(files[-1]).hexdigest()[:16]}>")
        else:
            words.append(word)
    # A tool that is given a file does not read its standard input, which may never end.
    given = b"" if files else sys.stdin.buffer.read()
    result = subprocess.run([tool, *arguments], input=given, capture_output=True, check=False)
    outputs = {"stdout": result.stdout, "stderr": result.stderr, "exit code": str(result.returncode).encode()}
    if output is not None and output.is_file():
        outputs["file"] = output.read_bytes()
    record(
        normalized(" ".join(words)),
        {"input": (given or b"\n".join(files)).decode(errors="surrogateescape")},
        {name: data.decode(errors="surrogateescape") for name, data in outputs.items()},
        test,
    )
    return replay(result)


def _recorded(
    function: Callable[..., Any],
    inputs: Callable[..., tuple[str, dict[str, str]] | None],
    outputs: Callable[..., dict[str, str]],
) -> Callable[..., Any]:
    """`function`, with a record of each call: `inputs` of its arguments, `outputs` of its result and its arguments. An
    exception's text is also an output; an interruption leaves none."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        key = inputs(*arguments, **named)
        try:
            result = function(*arguments, **named)
        except Exception as error:
            if key is not None:
                record(*key, {"error": f"{type(error).__name__}: {error}"})
            raise
        if key is not None:
            record(*key, outputs(result, *arguments))
        return result

    return wrapper


def _wrap(compiler: Any) -> None:
    """Records every pass manager's run, the remarks of every pipeline, and the code of every kernel."""
    llvm_dis = compiler.toolchain.find_llvm_tool("llvm-dis")
    disassemble = compiler.assemble.disassemble_bitcode

    parse, given = compiler.passmanager.PassManager.parse, {}

    def parse_pipeline(pipeline: str, context: Any = None) -> Any:
        # A pass manager prints every option that its passes have: one more would change every key.
        parsed = parse(pipeline, context)
        given[str(parsed)] = pipeline
        return parsed

    def pass_inputs(manager: Any, operation: Any, *_: Any, **__: Any) -> tuple[str, dict[str, str]] | None:
        pipeline = given.get(str(manager), str(manager))
        # Code generation is recorded in the process that requests it.
        return None if _CODEGEN in pipeline else (f"passes {pipeline}", {"module": str(operation)})

    def pipeline_inputs(module: Any, pipeline: str, *_: Any, **__: Any) -> tuple[str, dict[str, str]]:
        return f"remarks {pipeline}", {"module": str(module)}

    def kernel_inputs(compilation: Any) -> tuple[str, dict[str, str]]:
        words = [compilation.target, compilation.entry.name, *sorted(compilation.lowering.options.items())]
        return f"kernel {' '.join(map(str, words))}", {"module": str(compilation.original)}

    def code_inputs(compilation: Any, _: Any, output: str = "isa", first: str = "") -> tuple[str, dict[str, str]]:
        label, inputs = kernel_inputs(compilation)
        return f"{output} of {label}", inputs

    def code_outputs(code: bytes, *_: Any) -> dict[str, str]:
        if code.startswith(b"BC\xc0\xde"):
            return {"llvm": disassemble(code, llvm_dis.path)} if llvm_dis else {}
        return {"isa": code.rstrip(b"\0").decode()}

    manager, compilation = compiler.passmanager.PassManager, compiler._Compilation
    manager.parse = staticmethod(parse_pipeline)
    manager.run = _recorded(manager.run, pass_inputs, lambda _, __, operation, *___: {"module": str(operation)})
    compiler.run_pipeline = _recorded(
        compiler.run_pipeline, pipeline_inputs, lambda remarks, *_: {"remarks": "\n".join(map(str, remarks))}
    )
    compilation.kernel = _recorded(
        compilation.kernel,
        kernel_inputs,
        lambda kernel, *_: {"facts": f"{kernel.symbol}\n{kernel.resources}\n{kernel.tensor_maps}\n{kernel.notes}"},
    )
    compilation._generate = _recorded(compilation._generate, code_inputs, code_outputs)
    compiler._translate = _recorded(
        compiler._translate, lambda module: ("llvm", {"module": str(module)}), lambda text, *_: {"llvm": text}
    )


class _Finder:
    """Wraps `smalti.compiler.driver` when it is imported."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "smalti.compiler.driver":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and (loader := spec.loader) is not None:
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                _wrap(module)

            loader.exec_module = exec_module
        return spec


def install() -> None:
    """Records what this interpreter compiles, and the runs of smalti-opt that it starts."""
    if _Finder in sys.meta_path:
        return
    sys.meta_path.insert(0, _Finder)  # pyright: ignore[reportArgumentType]
    start = subprocess.Popen.__init__

    @functools.wraps(start)
    def popen(self: Any, args: Any, *rest: Any, **named: Any) -> None:
        is_command = isinstance(args, (list, tuple)) and args and "executable" not in named
        if is_command and Path(args[0]).name == "smalti-opt":
            path = shutil.which(args[0])
            if path is not None and Path(path).resolve() == ROOT / "build" / "bin" / "smalti-opt":
                args = [*COMMAND, path, *args[1:]]
        start(self, args, *rest, **named)

    subprocess.Popen.__init__ = popen


if __name__ == "__main__":
    sys.exit(run_tool(sys.argv[1], sys.argv[2:]))
