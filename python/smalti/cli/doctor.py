# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti doctor`: tools, libraries and GPUs that Smalti found, and how to install missing ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import files, targets, toolchain
from ..cache import disk_cache
from ..errors import ToolMissing
from ..launch import devices


@dataclass(frozen=True)
class Component:
    """A tool, library, file or GPU that Smalti looks for."""

    name: str
    found: bool
    detail: str
    """The path and the version. For a missing component the reason, if one is known."""
    enables: str
    get: str
    """How to install it."""
    required: bool = False


def _tool(name: str, find: Callable[[], toolchain.Tool | None], enables: str, get: str) -> Component:
    try:
        tool = find()
    except ToolMissing as error:
        return Component(name, False, error.message, enables, get)
    detail = ""
    if tool is not None:
        version = toolchain.version_of(tool.path)
        detail = f"{tool.path}" + (f" ({version})" if version else "")
    return Component(name, tool is not None, detail, enables, get)


def _file(name: str, path: Path | None, enables: str, get: str) -> Component:
    return Component(name, path is not None, str(path or ""), enables, get)


def _mlir() -> Component:
    get = f"build Smalti against LLVM/MLIR {toolchain.LLVM_MAJOR}"
    try:
        from .._mlir_libs import _smalti
    except ImportError as error:
        return Component("MLIR", False, f"the bindings cannot be loaded: {error}", "everything", get, True)
    return Component("MLIR", True, f"{_smalti.llvm_version()}, {len(targets.names())} targets", "everything", get, True)


def _library(name: str, load: Callable[[], object], enables: str, get: str) -> Component:
    found = load() is not None
    return Component(name, found, "loads" if found else "", enables, get)


def examine() -> list[Component]:
    """All components that Smalti looks for, found or missing."""
    return list(_examine())


def _examine() -> Iterator[Component]:
    mlir = _mlir()
    yield mlir
    yield _tool(
        "smalti-opt",
        toolchain.find_smalti_opt,
        "running passes from the shell and replaying reproducers",
        "build the C++ tools, or install the smalti package",
    )
    yield _file(
        "plugin",
        toolchain.find_plugin(),
        f"the passes of Smalti in a stock mlir-opt-{toolchain.LLVM_MAJOR}",
        "build the C++ tools, or install the smalti package",
    )
    yield _tool(
        "ptxas",
        toolchain.find_ptxas,
        "cubins and register counts for NVIDIA (without it: PTX only)",
        toolchain.PTXAS_HINT,
    )
    yield _tool("nvdisasm", toolchain.find_nvdisasm, "disassembly of NVIDIA kernels (SASS)", toolchain.NVDISASM_HINT)
    yield _tool("ld", toolchain.find_host_linker, "running kernels on emulated GPUs", toolchain.LLD_HINT)
    for name, enables, get in (
        ("ld.lld", "linking AMD kernels (HSACO)", toolchain.LLD_HINT),
        ("llvm-dis", "LLVM IR of GPU kernels as text (.ll)", toolchain.LLVM_TOOLS_HINT),
        ("llvm-symbolizer", "source locations in findings of emulated GPUs", toolchain.LLVM_TOOLS_HINT),
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
        ("address", "detecting accesses out of bounds on emulated GPUs (--sanitize address)"),
        ("thread", "detecting data races on emulated GPUs (--sanitize thread)"),
    ):
        tool = toolchain.find_emulator(sanitize)
        get = toolchain.EMULATOR_HINTS[sanitize is not None]
        yield _file(toolchain.EMULATORS[sanitize], tool.path if tool else None, enables, get)
    for name, place, enables in (
        ("emulator cache", "emulator", "starting emulated kernels without translating them again"),
        ("kernel cache", "kernels", "starting kernels in Python without compiling them again"),
    ):
        folder = files.cache_folder(place)
        reason = disk_cache.why_unusable(folder) if disk_cache.is_enabled() else "SMALTI_CACHE is 0; unset it"
        yield Component(name, reason is None, str(folder), enables, reason or "")
    yield _library(
        "CUDA driver",
        devices.cuda_library,
        "running kernels on NVIDIA GPUs",
        "install the NVIDIA driver on a machine with an NVIDIA GPU",
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
        fits = (
            f"target {gpu.target}" if gpu.target else "no target matches this GPU; `smalti targets` lists the targets"
        )
        yield Component(
            f"GPU {gpu.index} ({gpu.vendor})", True, f"{gpu.name}, {gpu.architecture}: {fits}", "running kernels", ""
        )
    if not gpus:
        yield Component(
            "GPU",
            False,
            "",
            "running kernels on a GPU",
            "use a machine with a GPU; the targets cpu, emu:CHIP and sim:CHIP run without one",
        )


def report(components: Sequence[Component]) -> dict[str, object]:
    """The components as plain data. `ok` is false if a required component is missing."""
    ok = all(component.found for component in components if component.required)
    return {
        "ok": ok,
        "components": [asdict(component) for component in components],
        "targets": targets.names() if ok else [],
    }
