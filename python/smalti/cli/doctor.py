"""What this machine has for Smalti, what a missing thing would enable, and how to get it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import targets, toolchain
from ..emulator import disk_cache, library
from ..errors import ToolMissing
from ..launch import devices


@dataclass(frozen=True)
class Ability:
    """One thing that was looked for."""

    name: str
    found: bool
    detail: str
    """Where it is and its version; where it is missing, why, if there is more to say than that."""
    enables: str
    get: str
    required: bool = False


def _tool(name: str, find: Callable[[], toolchain.Tool | None], enables: str, get: str) -> Ability:
    try:
        tool = find()
    except ToolMissing as error:
        return Ability(name, False, error.message, enables, get)
    detail = ""
    if tool is not None:
        version = toolchain.version_of(tool.path)
        detail = f"{tool.path}" + (f" ({version})" if version else "")
    return Ability(name, tool is not None, detail, enables, get)


def _file(name: str, path: Path | None, enables: str, get: str) -> Ability:
    return Ability(name, path is not None, str(path or ""), enables, get)


def _mlir() -> Ability:
    get = f"build Smalti against LLVM/MLIR {toolchain.LLVM_MAJOR}"
    try:
        from .._mlir_libs import _smalti
    except ImportError as error:
        return Ability("MLIR", False, f"the bindings do not load: {error}", "everything", get, True)
    return Ability("MLIR", True, f"{_smalti.llvm_version()}, {len(targets.names())} targets", "everything", get, True)


def _library(name: str, load: Callable[[], object], enables: str, get: str) -> Ability:
    found = load() is not None
    return Ability(name, found, "loads" if found else "", enables, get)


def examine() -> list[Ability]:
    """Everything that Smalti looks for, found or not."""
    return list(_examine())


def _examine() -> Iterator[Ability]:
    mlir = _mlir()
    yield mlir
    yield _tool(
        "smalti-opt",
        toolchain.find_smalti_opt,
        "running passes from the shell, replaying reproducers",
        "build the C++ tools, or install the smalti package",
    )
    yield _file(
        "plugin",
        toolchain.find_plugin(),
        f"Smalti's passes in a stock mlir-opt-{toolchain.LLVM_MAJOR}",
        "build the C++ tools, or install the smalti package",
    )
    yield _tool(
        "ptxas",
        toolchain.find_ptxas,
        "cubins and register counts for NVIDIA (without it: PTX only)",
        toolchain.PTXAS_HINT,
    )
    yield _tool("nvdisasm", toolchain.find_nvdisasm, "machine code of NVIDIA kernels as text", toolchain.NVDISASM_HINT)
    yield _tool("ld", toolchain.find_host_linker, "running kernels on emulated GPUs", toolchain.LLD_HINT)
    for name, enables, get in (
        ("llvm-mc", "assembling code for AMD", toolchain.LLVM_MC_HINT),
        ("ld.lld", "code objects (HSACO) for AMD", toolchain.LLD_HINT),
        ("llvm-dis", "LLVM IR of GPU kernels as text (.ll)", toolchain.LLVM_TOOLS_HINT),
        ("llvm-symbolizer", "places in the source of what emulated GPUs find", toolchain.LLVM_TOOLS_HINT),
    ):
        yield _tool(name, functools.partial(toolchain.find_llvm_tool, name), enables, get)
    yield _file(
        "libdevice",
        toolchain.find_cuda_toolkit(),
        "mathematical functions (exp, tanh, ...) in NVIDIA kernels",
        toolchain.LIBDEVICE_HINT,
    )
    yield _file(
        "ocml/ockl",
        toolchain.find_rocm_bitcode(),
        "mathematical functions (exp, tanh, ...) in AMD kernels",
        toolchain.ROCM_BITCODE_HINT,
    )
    for sanitize, enables in (
        (None, "running kernels on emulated GPUs (emu:sm_80)"),
        ("address", "finding accesses out of bounds on emulated GPUs (--sanitize address)"),
        ("thread", "finding races on emulated GPUs (--sanitize thread)"),
    ):
        tool = toolchain.find_emulator(sanitize)
        get = toolchain.EMULATOR_HINTS[sanitize is not None]
        yield _file(toolchain.EMULATORS[sanitize], tool.path if tool else None, enables, get)
    folder = library.cache_folder()
    reason = disk_cache.why_unusable(folder)
    yield Ability(
        "emulator cache", reason is None, str(folder), "starting emulated kernels without a translation", reason or ""
    )
    yield _library(
        "CUDA driver",
        devices.cuda_library,
        "running kernels on NVIDIA GPUs",
        "install NVIDIA's driver on a machine with its GPU",
    )
    yield _library(
        "HIP runtime",
        devices.hip_library,
        "running kernels on AMD GPUs",
        "install ROCm on a machine with an AMD GPU",
    )
    if not mlir.found:
        return
    gpus = devices.gpus()
    for gpu in gpus:
        fits = f"target {gpu.target}" if gpu.target else "no target of Smalti's fits it"
        yield Ability(
            f"GPU {gpu.index} ({gpu.vendor})", True, f"{gpu.name}, {gpu.architecture}: {fits}", "running kernels", ""
        )
    if not gpus:
        yield Ability("GPU", False, "", "running kernels on a GPU", "use a machine with one; the target cpu runs here")


def report(findings: Sequence[Ability]) -> dict[str, object]:
    """Findings as plain data, with whether nothing that is required is missing."""
    ok = all(finding.found for finding in findings if finding.required)
    return {
        "ok": ok,
        "findings": [asdict(finding) for finding in findings],
        "targets": targets.names() if ok else [],
    }
