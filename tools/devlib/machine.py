# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The distribution's packages: which are missing, and how they get installed."""

from __future__ import annotations

import os
import shutil
import subprocess

from .shell import Failure, run, say, step

LLVM = 22

BUILD_PACKAGES = (
    # LLVM and MLIR, their tools, and the packages that their CMake files need.
    f"libmlir-{LLVM}-dev", f"mlir-{LLVM}-tools", f"llvm-{LLVM}-dev", f"llvm-{LLVM}-tools", f"llvm-{LLVM}", f"lld-{LLVM}",
    "libzstd-dev", "zlib1g-dev", "libxml2-dev", "libcurl4-openssl-dev", "libedit-dev",
    # The tool chain; g++ for its C++ library and its sanitizers' runtimes.
    f"clang-{LLVM}", "cmake", "ninja-build", "ccache", "g++", "python3-dev", "python3-venv",
    # Device bitcode for AMD kernels that call a mathematical function.
    "rocm-device-libs",
    # Counts instructions in tests.
    "valgrind",
)  # fmt: skip
FORMAT_PACKAGES = (f"clang-format-{LLVM}",)
LINT_PACKAGES = (f"clang-tidy-{LLVM}",)


def missing_packages(packages: tuple[str, ...]) -> list[str]:
    """Those of `packages` that dpkg does not hold as installed."""
    try:
        result = subprocess.run(
            ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *packages],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        raise Failure(
            "packages cannot be installed, since this machine does not have dpkg. On a distribution other than Debian, install LLVM and MLIR "
            f"{LLVM} (shared libraries and development files), lld, cmake, ninja and a C++17 compiler, then build with "
            "`MLIR_DIR=PREFIX/lib/cmake/mlir pip install .`"
        ) from None
    installed = {line.split()[0] for line in result.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in installed]


def installed_versions() -> str:
    """The versions of the compiler and of MLIR; empty if dpkg did not install them."""
    try:
        return subprocess.run(
            ["dpkg-query", "--show", f"libmlir-{LLVM}-dev", f"llvm-{LLVM}-dev", f"clang-{LLVM}"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except OSError:
        return ""


def install_packages(packages: tuple[str, ...] = BUILD_PACKAGES) -> None:
    """Install what is missing, as root or through sudo."""
    missing = missing_packages(packages)
    if not missing:
        return
    names = " ".join(missing)
    prefix: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            raise Failure(f"these packages are missing; install them as root:\n  apt-get install {names}")
        prefix = ["sudo"]
    with step(f"Installing packages: {names}"):
        apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "Acquire::Retries=3"]
        try:
            run([*apt, "update"], quiet=True)
        except Failure as failure:
            # One archive out of several may be out of reach, and not be needed.
            say(f"    note: {failure}")
        run(
            [*apt, "install", "-y", "--no-install-recommends", *missing],
            quiet=True,
            hint=f"LLVM {LLVM} is in Debian 12's security suite and in Debian 13; is it among this machine's apt sources?",
        )
