# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""External programs and files: ptxas, the LLVM assembler and linker, device bitcode.

Importing Smalti does not require any of them. A look-up returns None if the program or file is missing. The hints at the
end of this file state how to install it, for errors and for `smalti doctor`.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import ToolMissing

LLVM_MAJOR = 22


@dataclass(frozen=True)
class Tool:
    """An external program."""

    name: str
    path: Path
    origin: str
    """`environment`, `path`, `package`, `mlir`, `cuda` or `rocm`."""


def configured() -> dict[str, str]:
    """The folders of the MLIR that this package was built against, as recorded by the build."""
    file = Path(__file__).with_name("_config.json")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def versions() -> dict[str, str]:
    """The versions of Smalti, LLVM and Python, for a bug report."""
    config = configured()
    return {
        "smalti": config.get("version", "unknown"),
        "llvm": config.get("llvm_version", f"{LLVM_MAJOR}"),
        "python": sys.version.split()[0],
    }


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def package_dirs() -> list[Path]:
    """The site-packages folders of this interpreter, where tool packages install their programs."""
    paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]
    unique = dict.fromkeys(Path(p) for p in paths if p and Path(p).name in ("site-packages", "dist-packages"))
    return list(unique)


def _cuda_homes() -> Iterator[Path]:
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if value := os.environ.get(name):
            yield Path(value)
    yield Path("/usr/local/cuda")


def rocm_homes() -> Iterator[Path]:
    for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        if value := os.environ.get(name):
            yield Path(value)
    yield Path("/opt/rocm")


@functools.cache
def llvm_bin_dirs() -> tuple[Path, ...]:
    """The `bin` folders of LLVM installations. The one that Smalti was built with is first."""
    dirs: list[Path] = []
    if recorded := configured().get("llvm_bin_dir"):
        dirs.append(Path(recorded))
    for name in (f"llvm-config-{LLVM_MAJOR}", "llvm-config"):
        if config := shutil.which(name):
            # Debian installs `llvm-config-22` as a link into the `bin` folder of the installation.
            dirs.append(Path(config).resolve().parent)
    return tuple(dict.fromkeys(d for d in dirs if d.is_dir()))


def _given(variable: str) -> Iterator[tuple[str, Path]]:
    """The program that an environment variable names. Raises ToolMissing if it is not an executable file."""
    if value := os.environ.get(variable):
        if not _executable(Path(value)):
            raise ToolMissing(
                f"{variable} is {value}, which is not an executable file; set it to the path of the program, or unset it"
            )
        yield "environment", Path(value)


def _first(name: str, candidates: Iterable[tuple[str, Path]]) -> Tool | None:
    return next((Tool(name, path, origin) for origin, path in candidates if _executable(path)), None)


def _on_path(*names: str) -> Iterator[tuple[str, Path]]:
    for name in names:
        if found := shutil.which(name):
            yield "path", Path(found)


def _nvidia_tool(name: str) -> Iterator[tuple[str, Path]]:
    yield from _given(f"SMALTI_{name.upper()}")
    yield from _on_path(name)
    for folder in package_dirs():
        for path in sorted((folder / "nvidia").glob(f"**/bin/{name}"), reverse=True):
            yield "package", path
    for home in _cuda_homes():
        yield "cuda", home / "bin" / name


def find_ptxas() -> Tool | None:
    """ptxas, from `SMALTI_PTXAS`, PATH, the package `nvidia-cuda-nvcc` or a CUDA toolkit."""

    return _first("ptxas", _nvidia_tool("ptxas"))


@functools.cache
def ptx_version_of(ptxas: Path) -> tuple[int, int] | None:
    """The newest PTX version that a ptxas supports, or None. An invalid version makes ptxas print it."""
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source = Path(folder, "version.ptx")
        source.write_text(".version 99.9\n.target sm_90\n.address_size 64\n")
        try:
            command = [ptxas, "-arch=sm_90", source, "-o", os.devnull]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.SubprocessError):
            return None
    found = re.search(r"current version is '(\d+)\.(\d+)'", done.stderr + done.stdout)
    return (int(found.group(1)), int(found.group(2))) if found else None


def find_nvdisasm() -> Tool | None:
    """nvdisasm, from `SMALTI_NVDISASM`, PATH, the package `nvidia-cuda-nvdisasm` or a CUDA toolkit."""
    return _first("nvdisasm", _nvidia_tool("nvdisasm"))


def find_llvm_tool(name: str) -> Tool | None:
    """A program of LLVM 22, such as `ld.lld` or `llvm-dis`."""

    def candidates() -> Iterator[tuple[str, Path]]:
        yield from _given("SMALTI_" + re.sub(r"\W", "_", name).upper())
        for folder in llvm_bin_dirs():
            yield "mlir", folder / name
        yield from _on_path(f"{name}-{LLVM_MAJOR}", name)
        for home in rocm_homes():
            yield "rocm", home / "llvm" / "bin" / name

    return _first(name, candidates())


def find_host_linker() -> Tool | None:
    """A linker of shared libraries for the host: the system linker, which starts in 3 ms, or LLVM's, in 28 ms."""
    return _first("ld", [*_given("SMALTI_LD"), *_on_path("ld")]) or find_llvm_tool("ld.lld")


def find_smalti_opt() -> Tool | None:
    """The program `smalti-opt`, from the package, the folder of this interpreter, the build, or PATH."""

    def candidates() -> Iterator[tuple[str, Path]]:
        yield from _given("SMALTI_OPT")
        package = Path(__file__).absolute().parent
        yield "package", package / "bin" / "smalti-opt"
        yield "package", Path(sys.executable).parent / "smalti-opt"
        if recorded := configured().get("smalti_opt"):
            yield "package", Path(recorded)
        yield from _on_path("smalti-opt")

    return _first("smalti-opt", candidates())


EMULATORS = {None: "smalti-emulator", "address": "smalti-emulator-asan", "thread": "smalti-emulator-tsan"}
"""The programs that run kernels on emulated GPUs, by the sanitizer that they are built with."""


def find_emulator(sanitize: str | None = None) -> Tool | None:
    """The emulator program in the package."""
    name = EMULATORS[sanitize]
    folder = Path(__file__).absolute().parent / "_emulator"
    return _first(name, [("package", folder / name)])


def require_emulator(sanitize: str | None = None) -> Tool:
    """The emulator program. Raises ToolMissing if it was not built."""
    purpose = f"sanitize='{sanitize}'" if sanitize else "running kernels on an emulated GPU"
    return require(find_emulator(sanitize), EMULATORS[sanitize], purpose, EMULATOR_HINTS[bool(sanitize)])


def find_plugin() -> Path | None:
    """`SmaltiPlugin.so`, the plugin for a stock `mlir-opt`."""
    package = Path(__file__).absolute().parent
    recorded = configured().get("plugin")
    paths = [package / "lib" / "SmaltiPlugin.so", *([Path(recorded)] if recorded else [])]
    return next((path for path in paths if path.is_file()), None)


def find_cuda_toolkit() -> Path | None:
    """A folder with `nvvm/libdevice/libdevice*.bc`, which MLIR takes as `toolkit=`."""
    candidates = [Path(v) for n in ("SMALTI_CUDA_TOOLKIT",) if (v := os.environ.get(n))]
    for folder in package_dirs():
        candidates.extend(p.parents[2] for p in sorted((folder / "nvidia").glob("**/nvvm/libdevice/libdevice*.bc")))
    candidates.extend(_cuda_homes())
    return next((c for c in candidates if any((c / "nvvm" / "libdevice").glob("libdevice*.bc"))), None)


def find_rocm_bitcode() -> Path | None:
    """A folder with `amdgcn/bitcode/ockl.bc` and `ocml.bc`, which MLIR takes as `toolkit=`."""
    candidates = [Path(v) for n in ("SMALTI_ROCM_TOOLKIT",) if (v := os.environ.get(n))]
    candidates.extend(rocm_homes())
    multiarch = sysconfig.get_config_var("MULTIARCH")
    candidates.extend(Path(p) for p in ([f"/usr/lib/{multiarch}"] if multiarch else []) + ["/usr/lib", "/usr"])
    return next((c for c in candidates if (c / "amdgcn" / "bitcode" / "ockl.bc").is_file()), None)


def device_libraries(vendor: str, wave_size: int) -> list[Path]:
    """The bitcode files with the mathematical functions of a vendor. Files that select variants are last."""
    if vendor == "nvidia":
        folder = find_cuda_toolkit()
        return sorted((folder / "nvvm" / "libdevice").glob("libdevice*.bc")) if folder else []
    folder = find_rocm_bitcode()
    if folder is None:
        return []
    names = [
        *("ocml", "ockl", "oclc_finite_only_off", "oclc_daz_opt_off", "oclc_correctly_rounded_sqrt_on"),
        *("oclc_unsafe_math_off", "oclc_abi_version_500", f"oclc_wavefrontsize64_{'on' if wave_size == 64 else 'off'}"),
    ]
    files = (folder / "amdgcn" / "bitcode" / f"{name}.bc" for name in names)
    return [file for file in files if file.is_file()]


def find_runtime_library(name: str) -> Path | None:
    """A runtime library of the MLIR installation, such as `mlir_c_runner_utils`."""
    folders = [Path(d) for key in ("llvm_lib_dir", "mlir_lib_dir") if (d := configured().get(key))]
    folders.extend(d.parent / "lib" for d in llvm_bin_dirs())
    folders.append(Path(__file__).absolute().parent / "_mlir_libs")
    return next((p for f in folders if (p := f / f"lib{name}.so").is_file()), None)


@functools.cache
def version_of(path: Path) -> str | None:
    """The version number in the output of `PROGRAM --version`, or None."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\bV?(\d+\.\d+(?:\.\d+)*)", done.stdout.partition("release")[2] or done.stdout)
    return found.group(1) if found else None


PTXAS_HINT = "pip install nvidia-cuda-nvcc (or put ptxas of a CUDA toolkit on PATH, or set SMALTI_PTXAS to its path)"
NVDISASM_HINT = (
    "pip install nvidia-cuda-nvdisasm (or put nvdisasm of a CUDA toolkit on PATH, or set SMALTI_NVDISASM to its path)"
)
LLD_HINT = f"apt install lld-{LLVM_MAJOR} (or set SMALTI_LD_LLD to its path)"
EMULATOR_HINTS = {
    False: "build the emulator with `ninja -C build`, or install the smalti package",
    True: "build Smalti with a compiler that has the sanitizer runtime libraries (g++, or clang with compiler-rt)",
}
LLVM_TOOLS_HINT = f"apt install llvm-{LLVM_MAJOR}"
LIBDEVICE_HINT = "pip install nvidia-nvvm (or set CUDA_HOME)"
ROCM_BITCODE_HINT = "apt install rocm-device-libs (or set ROCM_PATH)"


def require(tool: Tool | None, name: str, purpose: str, hint: str) -> Tool:
    """Returns `tool`. Raises ToolMissing with the purpose and the hint if it is None."""
    if tool is None:
        raise ToolMissing(f"{name} was not found; {purpose} requires it", hint=hint)
    return tool
