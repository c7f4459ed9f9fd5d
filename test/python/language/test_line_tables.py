# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Line tables of kernels in Python: the lines of the source, the chain of calls, and equal instructions."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT
from smalti import execution_engine, ir, toolchain
from smalti.cli import commands
from smalti.codegen import assemble, line_tables
from smalti.launch.cpu import CpuLauncher, module_with_lines

X = np.arange(64, dtype=np.float32)
OUT = np.zeros(64, np.float32)


def scaled(t):
    return t * t.sum()  # helper


@smalti.kernel
def sums(x, out):
    for i in range(0, x.shape[0], 8):  # loop
        t = x[i : i + 8]  # load
        out[i : i + 8] = scaled(t)  # call


def marked(name: str) -> int:
    """The line of this file that ends with the comment `name`."""
    lines = Path(__file__).read_text().splitlines()
    (found,) = (i for i, line in enumerate(lines, 1) if line.endswith(f"  # {name}"))
    return found


def compiled(target: str, **options: Any) -> smalti.Kernel:
    kernel = sums.on(target, **options).compile(X, OUT)
    assert isinstance(kernel, smalti.Kernel) and (kernel.binary is not None or target == "cpu")
    return kernel


def machine_code(binary: bytes) -> dict[str, bytes]:
    """The sections of an ELF file that have instructions."""
    (headers,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    sections = [struct.unpack_from("<II8x8xQQ", binary, headers + i * size) for i in range(count)]
    found = {}
    for name, _, offset, length in sections:
        start = sections[names][2] + name
        text = binary[start : binary.index(b"\0", start)].decode()
        if text.startswith(".text"):
            found[text] = binary[offset : offset + length]
    return found


def llvm_tool(name: str, *arguments: Any) -> str:
    tool = toolchain.find_llvm_tool(name)
    if tool is None:
        pytest.skip(f"{name} is not installed")
    return subprocess.run([tool.path, *arguments], capture_output=True, text=True, check=True).stdout


def table_lines(path: Path) -> set[int]:
    """The lines of this file in the line table of an ELF file."""
    text = llvm_tool("llvm-dwarfdump", "--debug-line", path)
    assert Path(__file__).name in text
    return {int(line) for line in re.findall(r"^0x[0-9a-f]{16} +(\d+) ", text, re.MULTILINE)}


EXPECTED = ("loop", "load", "call", "helper")


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "gfx942", "gfx1201"])
def test_binaries_have_the_lines(target: str, tmp_path: Path) -> None:
    kernel = compiled(target)
    path = kernel.save(tmp_path / ("k.cubin" if target.startswith("sm") else "k.hsaco"))
    first = sums.__smalti_function__.__code__.co_firstlineno
    assert {marked(name) for name in EXPECTED} <= table_lines(path)
    assert table_lines(path) <= {0, first, *range(first, first + 6), marked("helper")}


def test_disassembly_of_a_cubin_has_the_lines(tmp_path: Path) -> None:
    tool = toolchain.find_nvdisasm()
    if tool is None:
        pytest.skip("nvdisasm is not installed")
    path = compiled("sm_80").save(tmp_path / "k.cubin")
    text = subprocess.run([tool.path, "-g", "-c", path], capture_output=True, text=True, check=True).stdout
    found = {int(line) for line in re.findall(rf'File "{re.escape(__file__)}", line (\d+)', text)}
    assert {marked(name) for name in EXPECTED} <= found


def test_code_objects_have_the_chain_of_calls(tmp_path: Path) -> None:
    path = compiled("gfx942").save(tmp_path / "k.hsaco")
    text = llvm_tool("llvm-dwarfdump", "--debug-line", path)
    address = next(
        row.split()[0] for row in text.splitlines() if re.match(rf"0x[0-9a-f]{{16}} +{marked('helper')} ", row)
    )
    (answer,) = json.loads(llvm_tool("llvm-symbolizer", f"--obj={path}", "--output-style=JSON", address))
    chain = [(frame["FunctionName"], frame["Line"]) for frame in answer["Symbol"]]
    assert chain == [("scaled", marked("helper")), ("sums", marked("call"))]
    assert all(frame["FileName"] == __file__ for frame in answer["Symbol"])


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx1201"])
def test_line_tables_do_not_change_instructions(target: str) -> None:
    plain, lines = compiled(target, line_info=False), compiled(target)
    assert plain.binary is not None and lines.binary is not None
    assert any(machine_code(plain.binary).values())
    assert machine_code(plain.binary) == machine_code(lines.binary)
    form = "ptx" if target.startswith("sm") else "gcn"
    assert not line_tables.has_lines(plain.asm[form]) and line_tables.has_lines(lines.asm[form])


def test_cpu_code_has_the_lines(tmp_path: Path) -> None:
    def dumped(kernel: Any) -> Path:
        name = CpuLauncher(kernel).code.name
        make: Any = execution_engine.ExecutionEngine
        engine = make(module_with_lines(kernel), opt_level=3, enable_object_dump=True)
        engine.lookup(name)
        path = tmp_path / f"{kernel.has_line_info}.o"
        engine.dump_to_object_file(str(path))
        return path

    # A kernel from the cache does not have a module.
    module = sums.module(X, OUT)
    with_lines, plain = (dumped(smalti.compile(module, "cpu", line_info=line_info)) for line_info in (True, False))
    assert {marked(name) for name in EXPECTED} <= table_lines(with_lines)
    assert ".debug_line" not in llvm_tool("llvm-dwarfdump", "--show-section-sizes", plain)


def test_modules_have_lines_on_request() -> None:
    module = sums.module(X, OUT)
    for options, has_lines in (({}, False), ({"line_info": True}, True)):
        kernel = smalti.compile(module, "sm_80", **options)
        assert isinstance(kernel, smalti.Kernel)
        assert line_tables.has_lines(kernel.asm["ptx"]) == has_lines


@pytest.mark.parametrize(("target", "form"), [("sm_80", "ptx"), ("gfx942", "gcn")])
def test_errors_of_assemblers_have_the_line(target: str, form: str) -> None:
    kernel = compiled(target)
    rows = kernel.asm[form].splitlines()
    at = next(
        i
        for i, row in enumerate(rows)
        if re.match(rf"\s*\.loc\s+1 {marked('helper')} ", row) and ".loc" not in rows[i + 1]
    )
    rows.insert(at + 1, "\tno_such_instruction;" if form == "ptx" else "\tno_such_instruction v0")
    with pytest.raises(smalti.CompileError, match="failed") as caught:
        if form == "ptx":
            assemble.assemble_ptx("\n".join(rows), toolchain.require(toolchain.find_ptxas(), "ptxas", "", "").path)
        else:
            lld = toolchain.require(toolchain.find_llvm_tool("ld.lld"), "ld.lld", "", "")
            assemble.assemble_gcn("\n".join(rows), lld.path)
    text = str(caught.value)
    assert f"{__file__}:{marked('helper')}:" in text and "return t * t.sum()  # helper" in text
    assert f"note: line {at + 2} of the {'PTX' if form == 'ptx' else 'assembly'}: no_such_instruction" in text


@pytest.mark.parametrize(
    ("target", "level", "mark"),
    [
        *(("sm_80", level, "//") for level in ("tile", "mosaic", "pipelined", "thread", "mlir", "ptx", "sass")),
        *(("gfx942", level, mark) for level, mark in (("thread", "//"), ("gcn", ";"))),
        *(("cpu", level, "//") for level in ("tile", "mlir")),
    ],
)
def test_code_with_source_lines(target: str, level: str, mark: str) -> None:
    kernel = sums.on(target)
    if level == "sass" and toolchain.find_nvdisasm() is None:
        pytest.skip("nvdisasm is not installed")
    text = kernel.ir(level, X, OUT, lines=True)
    name = Path(__file__).name
    shown = re.findall(
        rf"^\s*{mark} {re.escape(name)}:(\d+)(, called at {re.escape(name)}:\d+)?: (.*)$", text, re.MULTILINE
    )
    lines = Path(__file__).read_text().splitlines()
    assert {marked("load"), marked("helper"), marked("call")} <= {int(line) for line, _, _ in shown}
    assert all(lines[int(line) - 1].strip() == source for line, _, source in shown)
    if mark == "//" and level not in ("ptx", "sass"):
        # The comments are the only difference from the module, whose locations have the calls.
        assert any(call.endswith(f":{marked('call')}") for line, call, _ in shown if int(line) == marked("helper"))
        assert " loc(" not in text
        with ir.Context(), ir.Location.unknown():
            assert ir.Module.parse(text).operation.verify()
    else:
        assert not any(call for _, call, _ in shown)


def test_the_line_of_a_loop_is_before_the_loop() -> None:
    rows = [row.strip() for row in sums.on("cpu").ir("tile", X, OUT, lines=True).splitlines()]
    comments = [row.startswith("// ") for row in rows]
    at = next(i for i, row in enumerate(rows) if row.startswith("scf.for"))
    last = max(i for i in range(at) if comments[i])
    assert rows[last].endswith("# loop") and rows[at + 1].endswith("# load")


def test_levels_without_source_lines() -> None:
    with pytest.raises(
        smalti.LaunchError, match="source lines are not available for the level 'llvm'; use one of tile, source"
    ):
        sums.on("cpu").ir("llvm", X, OUT, lines=True)
    with pytest.raises(smalti.LaunchError, match="'ptx'; use one of tile"):
        sums.on("sim:sm_80").ir("ptx", X, OUT, lines=True)


def test_the_command_has_the_option(tmp_path: Path) -> None:
    source = str(ROOT / "test" / "kernels" / "vector_add.mlir")
    for options, has_lines in (([], False), (["--line-info"], True)):
        output = tmp_path / "k.ptx"
        command = ["compile", source, "--target", "sm_80", "-o", str(output), *options]
        done = CliRunner().invoke(commands.main, command)
        assert done.exit_code == 0, done.output
        assert line_tables.has_lines(output.read_text()) == has_lines
    done = CliRunner().invoke(commands.main, ["run", source, "--target", "cpu", "--check", "--line-info"])
    assert done.exit_code == 0 and "ok" in done.output
    done = CliRunner().invoke(commands.main, ["run", "k.smalti", "--line-info"])
    assert done.exit_code == 2 and "--line-info does not apply to a compiled kernel" in done.output
