# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration against the wrong MLIR: an immediate stop with a remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def configure(build: Path, mlir_dir: Path | str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, f"-DMLIR_DIR={mlir_dir}", *options],
        capture_output=True,
        text=True,
        check=False,
    )


def fake_mlir(folder: Path, version: str) -> Path:
    folder.mkdir()
    major, minor, patch = version.split(".")
    (folder / "MLIRConfig.cmake").write_text(
        f"set(LLVM_VERSION_MAJOR {major})\nset(LLVM_VERSION_MINOR {minor})\nset(LLVM_VERSION_PATCH {patch})\n"
        f"set(LLVM_PACKAGE_VERSION {version})\n"
    )
    return folder


def words(text: str) -> str:
    """CMake breaks its messages into lines as it likes."""
    return " ".join(text.split())


def test_another_version(tmp_path: Path) -> None:
    mlir = fake_mlir(tmp_path / "mlir", "21.1.0")
    result = configure(tmp_path / "build", mlir)
    assert result.returncode == 1
    assert f"Smalti needs LLVM/MLIR 22, but {mlir} is version 21.1.0." in words(result.stderr)


def test_no_shared_libraries(tmp_path: Path) -> None:
    mlir = fake_mlir(tmp_path / "mlir", "22.1.8")
    result = configure(tmp_path / "build", mlir)
    assert result.returncode == 1
    assert "has no shared library libMLIR.so" in words(result.stderr)


def test_no_mlir_there(tmp_path: Path) -> None:
    result = configure(tmp_path / "build", tmp_path)
    assert result.returncode == 1
    assert f"MLIR_DIR={tmp_path} holds no MLIRConfig.cmake" in words(result.stderr)


def test_no_runtime_of_a_sanitizer(tmp_path: Path) -> None:
    """No part of the package is dropped by default."""
    result = configure(tmp_path / "build", "", f"-DPython3_EXECUTABLE={sys.executable}", "-DSMALTI_HAS_libtsan=OFF")
    assert result.returncode == 1
    assert "finds no libtsan, the runtime of a sanitizer. On Debian install g++" in words(result.stderr)
