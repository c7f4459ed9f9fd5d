# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembly of PTX and AMD GCN text, and the resource usage that the assembler reports."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import toolchain
from ..diagnostics import Diagnostic, without_warnings
from ..errors import CompileError
from . import codegen_worker, line_tables

_TIME_LIMIT = 600


@dataclass(frozen=True)
class Usage:
    """Resource usage of a kernel. A value is None if the assembler does not report it."""

    registers: int | None = None
    accumulator_registers: int | None = None
    scalar_registers: int | None = None
    spills: int | None = None
    stack_bytes: int | None = None
    static_shared_bytes: int | None = None


# Of ptxas: "ptxas kernel.ptx, line 45; error   : text". Of LLVM: "kernel.s:45:3: error: text".
_ERROR = re.compile(
    r"^(?:ptxas \S+, line (\d+); (?:error|fatal)\s*: (.*)|\S+\.s:(\d+):\d+: error: (.*))$", re.MULTILINE
)


def _errors(log: str, text: str) -> list[Diagnostic]:
    """The errors of an assembler, at the source lines of `text` if it has them."""
    found: list[Diagnostic] = []
    for ptx_line, ptx_message, gcn_line, gcn_message in _ERROR.findall(log):
        line = int(ptx_line or gcn_line)
        code = " ".join(text.splitlines()[line - 1 : line]).strip()
        where = f"line {line} of the {'PTX' if ptx_line else 'assembly'}: {code}"
        place = line_tables.source_location(text, line)
        found.append(Diagnostic("error", ptx_message or gcn_message, place, (Diagnostic("note", where),)))
    return found


_UNSUPPORTED_VERSION = re.compile(r"\.version\b")


def _run(
    command: list[str | Path],
    tool: str,
    hint: str | None = None,
    text: str = "",
    hint_for: re.Pattern[str] | None = None,
) -> str:
    """The output of a tool. Raises CompileError if it fails. An error in a line of `text` has `hint` only if it matches
    `hint_for`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_LIMIT, check=False)
    except OSError as error:
        raise CompileError(f"{tool} cannot be started: {error}") from None
    except subprocess.TimeoutExpired:
        raise CompileError(
            f"{tool} exceeded the time limit of {_TIME_LIMIT} s",
            hint="use a smaller kernel: smaller tiles, or fewer stages",
        ) from None
    if done.returncode:
        reason = without_warnings(done.stderr or done.stdout) or f"exit code {done.returncode}"
        raise _failure(tool, reason, text, hint, hint_for)
    return done.stdout + done.stderr


def _failure(
    tool: str, reason: str, text: str, hint: str | None = None, hint_for: re.Pattern[str] | None = None
) -> CompileError:
    if errors := _errors(reason, text):
        applies = hint_for is not None and hint_for.search(reason)
        return CompileError(f"{tool} failed", diagnostics=errors, hint=hint if applies else None)
    return CompileError(f"{tool} failed: {reason}", hint=hint)


def ptx_arch(ptx: str) -> str:
    """The target chip of PTX text."""
    found = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    if not found:
        raise CompileError("the PTX does not have a .target directive; add one, such as .target sm_90a")
    return found.group(1)


@dataclass(frozen=True)
class Cubin:
    """The output of ptxas."""

    data: bytes
    usages: Mapping[str, Usage]
    """Resource usage by kernel name."""
    log: str
    """The output of `ptxas -v`."""
    ptx: str
    """The PTX that was assembled; see `assemble_ptx`."""

    @property
    def spills(self) -> int:
        """Sum of the spilled bytes of all kernels."""
        return sum(usage.spills or 0 for usage in self.usages.values())


# With this directive, ptxas may use all registers of an SM for one block.
_RESIDENT_BLOCKS = re.compile(r"^\.minnctapersm 1\n", re.MULTILINE)


def assemble_ptx(ptx: str, ptxas: Path, opt_level: int = 3) -> Cubin:
    """The cubin of `ptx`. Raises CompileError if ptxas fails.

    With `.minnctapersm 1` a kernel may use all registers of an SM. Most kernels spill less with the directive. Some spill
    more, because ptxas hoists more loads. Therefore a module that spills is assembled again without the directive. The
    result with fewer spilled bytes is returned. ptxas ignores `setmaxnreg` without the directive, so a module that uses
    `setmaxnreg` keeps it.
    """
    cubin = _assemble(ptx, ptxas, opt_level)
    if cubin.spills and "setmaxnreg" not in ptx:
        relaxed = _RESIDENT_BLOCKS.sub("", ptx)
        if relaxed != ptx:
            other = _assemble(relaxed, ptxas, opt_level)
            if other.spills < cubin.spills:
                return other
    return cubin


def _assemble(ptx: str, ptxas: Path, opt_level: int) -> Cubin:
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        lines = ["-lineinfo"] if line_tables.has_lines(ptx) else []
        log = _run(
            [ptxas, "-v", f"-O{opt_level}", f"-arch={ptx_arch(ptx)}", *lines, source, "-o", binary],
            "ptxas",
            hint="ptxas may be too old for this PTX version; " + toolchain.PTXAS_HINT,
            text=ptx,
            hint_for=_UNSUPPORTED_VERSION,
        )
        return Cubin(binary.read_bytes(), ptx_usage(log), log, ptx)


def disassemble_cubin(cubin: bytes, nvdisasm: Path, lines: bool = False) -> str:
    """The machine code (SASS) of a cubin as text, with `lines` after the positions of their source lines."""
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        binary = Path(folder, "kernel.cubin")
        binary.write_bytes(cubin)
        return _run([nvdisasm, "-c", *(["-g"] if lines else []), binary], "nvdisasm")


def ptx_usage(log: str) -> dict[str, Usage]:
    """Resource usage by kernel name, from the output of `ptxas -v`."""
    usage: dict[str, Usage] = {}
    parts = re.split(r"Compiling entry function '([^']+)'", log)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):

        def number(pattern: str, text: str = text) -> int | None:
            found = re.search(pattern, text)
            return int(found.group(1)) if found else None

        stores, loads = number(r"(\d+) bytes spill stores"), number(r"(\d+) bytes spill loads")
        usage[name] = Usage(
            registers=number(r"Used (\d+) registers"),
            spills=None if stores is None else stores + (loads or 0),
            stack_bytes=number(r"(\d+) bytes stack frame"),
            static_shared_bytes=number(r"(\d+) bytes smem") or 0,
        )
    return usage


def assemble_gcn(assembly: str, lld: Path) -> bytes:
    """The HSACO of AMD assembly that LLVM printed. Raises CompileError if the assembler or ld.lld fails."""
    found = re.search(r'^\s*\.amdgcn_target\s+"([^"]+)"', assembly, re.MULTILINE)
    if not found:
        raise CompileError("the assembly does not have an .amdgcn_target directive; add one for the chip")
    # amdgcn-amd-amdhsa-[environment]-chip[:feature...]
    triple, _, chip = found.group(1).rpartition("-")
    is_wave64 = re.search(r"\.wavefront_size:\s+64", assembly) and ".amdhsa_wavefront_size32" in assembly
    features = "+wavefrontsize64" if is_wave64 else ""
    try:
        linkable = codegen_worker.worker.assemble(assembly, triple.rstrip("-"), chip.partition(":")[0], features)
    except codegen_worker.WorkerRefused as refused:
        raise _failure("the assembler", without_warnings(str(refused)), assembly) from None
    except codegen_worker.WorkerDied as died:
        raise CompileError(f"the assembler failed: {died.reason}") from None
    except codegen_worker.WorkerTimeout:
        raise CompileError("the assembler exceeded the time limit of code generation") from None
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source, binary = Path(folder, "kernel.o"), Path(folder, "kernel.hsaco")
        source.write_bytes(linkable)
        _run([lld, "-shared", "--no-undefined", source, "-o", binary], "ld.lld")
        return binary.read_bytes()


def gcn_usage(assembly: str) -> dict[str, Usage]:
    """Resource usage by kernel name, from the metadata of AMD assembly."""
    found = re.search(r"\.amdgpu_metadata\n(.*?)\.end_amdgpu_metadata", assembly, re.DOTALL)
    if not found:
        return {}
    kernels = found.group(1).partition("amdhsa.kernels:")[2]
    usage: dict[str, Usage] = {}
    for text in re.split(r"^  - (?=\.)", kernels, flags=re.MULTILINE)[1:]:
        # Keys of a kernel are indented by four columns, and those of its arguments by more. The first key follows the dash.
        fields = dict(re.findall(r"^(?: {4})?(\.\w+):[ \t]+(\S+)", text, re.MULTILINE))

        def number(key: str, fields: dict[str, str] = fields) -> int | None:
            return int(fields[key]) if key in fields else None

        spills = (number(".vgpr_spill_count"), number(".sgpr_spill_count"))
        usage[fields.get(".name", "").strip("'\"")] = Usage(
            registers=number(".vgpr_count"),
            accumulator_registers=number(".agpr_count"),
            scalar_registers=number(".sgpr_count"),
            spills=None if None in spills else sum(s or 0 for s in spills),
            stack_bytes=number(".private_segment_fixed_size"),
            static_shared_bytes=number(".group_segment_fixed_size"),
        )
    return usage


def disassemble_bitcode(bitcode: bytes, llvm_dis: Path) -> str:
    """LLVM bitcode as text."""
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source, text = Path(folder, "kernel.bc"), Path(folder, "kernel.ll")
        source.write_bytes(bitcode)
        _run([llvm_dis, source, "-o", text], "llvm-dis", hint=f"apt install llvm-{toolchain.LLVM_MAJOR}")
        return text.read_text(encoding="utf-8")
