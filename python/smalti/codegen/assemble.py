"""From ISA text to a binary, and what the assembler says about its resources."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import toolchain
from ..errors import CompileError

_TIME_LIMIT = 600


@dataclass(frozen=True)
class Usage:
    """What one kernel takes of a chip; None where the assembler does not say."""

    registers: int | None = None
    accumulator_registers: int | None = None
    scalar_registers: int | None = None
    spills: int | None = None
    stack_bytes: int | None = None
    static_shared_bytes: int | None = None


def _run(command: list[str | Path], what: str, hint: str | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_LIMIT, check=False)
    except OSError as error:
        raise CompileError(f"{what} did not start: {error}") from None
    except subprocess.TimeoutExpired:
        raise CompileError(f"{what} took more than {_TIME_LIMIT} s and was stopped") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise CompileError(f"{what} failed: {said}", hint=hint)
    return done.stdout + done.stderr


def ptx_arch(ptx: str) -> str:
    """The chip that PTX text is for."""
    found = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    if not found:
        raise CompileError("the PTX names no target")
    return found.group(1)


@dataclass(frozen=True)
class Cubin:
    """What ptxas makes of PTX."""

    data: bytes
    usages: Mapping[str, Usage]
    """Of each kernel."""
    log: str
    """What `ptxas -v` printed."""
    ptx: str
    """The PTX that was assembled: see `assemble_ptx`."""

    @property
    def spills(self) -> int:
        """Spilled bytes of all kernels."""
        return sum(usage.spills or 0 for usage in self.usages.values())


# With this directive ptxas may use all registers of an SM for one block.
_RESIDENT_BLOCKS = re.compile(r"^\.minnctapersm 1\n", re.MULTILINE)


def assemble_ptx(ptx: str, ptxas: Path, opt_level: int = 3) -> Cubin:
    """The cubin of `ptx`.

    `.minnctapersm 1` allows a kernel all registers. Most kernels spill less with it, and some spill more because ptxas then
    hoists more loads. A module that spills is assembled a second time without the directive, and the result with fewer
    spilled bytes is returned. ptxas ignores `setmaxnreg` without the directive, so modules that use it keep it.
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
        log = _run(
            [ptxas, "-v", f"-O{opt_level}", f"-arch={ptx_arch(ptx)}", source, "-o", binary],
            "ptxas",
            hint="an older ptxas cannot read newer PTX: " + toolchain.PTXAS_HINT,
        )
        return Cubin(binary.read_bytes(), ptx_usage(log), log, ptx)


def disassemble_cubin(cubin: bytes, nvdisasm: Path) -> str:
    """The machine code in a cubin as text."""
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        binary = Path(folder, "kernel.cubin")
        binary.write_bytes(cubin)
        return _run([nvdisasm, "-c", binary], "nvdisasm")


def ptx_usage(log: str) -> dict[str, Usage]:
    """The kernels and their numbers in what `ptxas -v` prints."""
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


def assemble_gcn(assembly: str, llvm_mc: Path, lld: Path) -> tuple[bytes, dict[str, Usage]]:
    """The HSACO of AMD assembly as LLVM prints it, and the usage of each kernel in it."""
    found = re.search(r'^\s*\.amdgcn_target\s+"([^"]+)"', assembly, re.MULTILINE)
    if not found:
        raise CompileError("the assembly names no target")
    # amdgcn-amd-amdhsa-[environment]-chip[:feature...]
    triple, _, chip = found.group(1).rpartition("-")
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source, linkable, binary = (Path(folder, "kernel" + suffix) for suffix in (".s", ".o", ".hsaco"))
        source.write_text(assembly, encoding="utf-8")
        flags = [f"-triple={triple.rstrip('-')}", f"-mcpu={chip.partition(':')[0]}", "-filetype=obj"]
        if re.search(r"\.wavefront_size:\s+64", assembly) and ".amdhsa_wavefront_size32" in assembly:
            flags.append("-mattr=+wavefrontsize64")
        _run([llvm_mc, *flags, source, "-o", linkable], "llvm-mc", hint=toolchain.LLVM_MC_HINT)
        _run([lld, "-shared", linkable, "-o", binary], "ld.lld")
        return binary.read_bytes(), gcn_usage(assembly)


def gcn_usage(assembly: str) -> dict[str, Usage]:
    """The kernels and their numbers in the metadata of AMD assembly."""
    found = re.search(r"\.amdgpu_metadata\n(.*?)\.end_amdgpu_metadata", assembly, re.DOTALL)
    if not found:
        return {}
    kernels = found.group(1).partition("amdhsa.kernels:")[2]
    usage: dict[str, Usage] = {}
    for text in re.split(r"^  - (?=\.)", kernels, flags=re.MULTILINE)[1:]:
        # Kernel keys stand four columns in; those of arguments stand deeper. The first key follows the dash.
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
