# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a fresh checkout to a built tree. Each step first checks whether it was done already."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import pathlib
import platform
import shlex
import sys
from collections.abc import Sequence

from . import machine
from .shell import ROOT, Failure, capture, run, say, step

VENV = ROOT / ".venv"
BUILD = ROOT / "build"
CACHE = ROOT / ".cache"
PYTHON = VENV / "bin" / "python"
TOOLS = ROOT / "tools"
PACKAGES = BUILD / "python_packages"

# ninja's default is two jobs more than there are cores; compiler processes then only compete for the caches.
NINJA = ("ninja", f"-j{os.cpu_count() or 1}", "-C")


def digest(*parts: str | bytes) -> str:
    result = hashlib.sha256()
    for part in parts:
        result.update(part.encode() if isinstance(part, str) else part)
        result.update(b"\0")
    return result.hexdigest()


def is_stamped(stamp: pathlib.Path, key: str) -> bool:
    return stamp.is_file() and stamp.read_text() == key


def pip_install(requirements: pathlib.Path, *, optional: str = "") -> None:
    """Install a requirements file into .venv once. If it is `optional`, a failure is reported and not fatal."""
    stamp = VENV / f".{requirements.stem}.stamp"
    key = digest(requirements.read_bytes(), platform.python_version())
    if is_stamped(stamp, key):
        return
    with step(f"Installing {requirements.relative_to(ROOT)} into .venv"):
        command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "5"]
        try:
            run([*command, "-r", requirements], quiet=True)
        except Failure as failure:
            if not optional:
                raise
            say(f"    note: {failure}\n    {optional}")
            return
        stamp.write_text(key)


def base_interpreter() -> pathlib.Path:
    """The interpreter under a virtual environment: tools/dev may run from .venv itself."""
    return pathlib.Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def make_venv() -> None:
    """The virtual environment, with the built package on its path."""
    stamp = VENV / ".venv.stamp"
    # Its release and not its build counts: installing python3-dev may bring a newer build of the interpreter that runs
    # this.
    interpreter = base_interpreter()
    key = digest(str(interpreter), platform.python_version(), str(ROOT))
    if not is_stamped(stamp, key):
        with step("Creating the virtual environment .venv"):
            run([str(interpreter), "-m", "venv", "--clear", VENV], quiet=True)
            site_packages = pathlib.Path(
                capture([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
            )
            (site_packages / "smalti_build_tree.pth").write_text(f"{PACKAGES}\n")
            stamp.write_text(key)
    pip_install(TOOLS / "requirements.txt")
    pip_install(
        TOOLS / "requirements-nvidia.txt",
        optional="ptxas could not be installed, so NVIDIA kernels are compiled to PTX only. The next run tries again.",
    )


def fetch_sources() -> None:
    """The sources of MLIR's Python bindings, for the distribution's MLIR, if no folder is named for them."""
    if os.environ.get("SMALTI_MLIR_SOURCES") or os.environ.get("MLIR_DIR"):
        return
    version = capture([f"/usr/lib/llvm-{machine.LLVM}/bin/llvm-config", "--version"])
    if (CACHE / f"mlir-python-{version}").is_dir():
        return
    with step(f"Fetching the sources of MLIR {version}'s Python bindings"):
        run(
            [
                base_interpreter(),
                ROOT / "cmake" / "fetch_mlir_python_sources.py",
                "--version",
                version,
                "--cache",
                CACHE,
            ]
        )


def set_up() -> None:
    machine.install_packages()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        sources = pool.submit(fetch_sources)
        make_venv()
        sources.result()


def configure(folder: pathlib.Path = BUILD, options: Sequence[str] = ()) -> None:
    """Configure a build tree once; ninja reconfigures by itself when a CMake file changes."""
    command = [
        "cmake", "-G", "Ninja", "-S", ROOT, "-B", folder,
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython3_EXECUTABLE={PYTHON}", f"-DPython_EXECUTABLE={PYTHON}", *options,
    ]  # fmt: skip
    for name in ("MLIR_DIR", "SMALTI_MLIR_SOURCES"):
        if value := os.environ.get(name):
            command.append(f"-D{name}={value}")
    stamp = folder / ".configure.stamp"
    # CMake keeps the compiler that it found first.
    flags = [os.environ.get(name, "") for name in ("CXX", "CC", "CXXFLAGS", "LDFLAGS")]
    versions = machine.installed_versions()
    key = digest(*map(str, command), *flags, versions, (VENV / ".requirements.stamp").read_bytes())
    if is_stamped(stamp, key) and (folder / "build.ninja").is_file():
        return
    stamp.unlink(missing_ok=True)
    # Installed headers may be older than a precompiled header of the ones before them, and ninja would not rebuild it.
    toolchain_stamp = folder / ".toolchain.stamp"
    if toolchain_stamp.is_file() and not is_stamped(toolchain_stamp, versions):
        run(["ninja", "-C", folder, "-t", "clean"], quiet=True)
    with step(f"Configuring {folder.relative_to(ROOT)}/"):
        # Another interpreter or another nanobind must not be mixed with what an older cache remembers.
        is_old = (folder / "CMakeCache.txt").is_file()
        run([*command, "--fresh"] if is_old and cmake_has_fresh() else command, quiet=True)
        toolchain_stamp.write_text(versions)
        stamp.write_text(key)


def cmake_has_fresh() -> bool:
    version = capture(["cmake", "--version"]).split()[2]
    return tuple(int(part) for part in version.split(".")[:2]) >= (3, 24)


def install_commands() -> None:
    """The command `smalti` and the built tools in the virtual environment, as `pip install` puts them."""
    # A first line with the interpreter cannot have spaces in its path.
    command, text = VENV / "bin" / "smalti", f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} -P -m smalti "$@"\n'
    if not command.is_file() or command.read_text() != text:
        command.write_text(text)
        command.chmod(0o755)
    for name in ("smalti-opt", "smalti-lsp-server"):
        link, tool = VENV / "bin" / name, BUILD / "bin" / name
        if not link.is_symlink() or link.readlink() != tool:
            link.unlink(missing_ok=True)
            link.symlink_to(tool)


def build() -> None:
    set_up()
    configure()
    with step("Building"):
        run([*NINJA, BUILD])
    install_commands()


def build_with_gcc() -> pathlib.Path:
    """Everything with g++, which has no precompiled headers: each file must include what it uses."""
    set_up()
    folder = BUILD / "gcc"
    configure(folder, ["-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_C_COMPILER=gcc"])
    with step("Building with g++"):
        run([*NINJA, folder])
    return folder


def environment() -> dict[str, str]:
    """The environment of the project's own programs."""
    path = os.environ.get("PATH", os.defpath)
    return {"SMALTI_BUILD_DIR": str(BUILD), "PATH": f"{VENV / 'bin'}{os.pathsep}{path}"}
