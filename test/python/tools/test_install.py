# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The installed package outside of the build tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

KERNEL = ROOT / "test" / "kernels" / "vector_add.mlir"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of the wheel of `pip install`: the component of the package."""
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run(
        ["cmake", "--install", BUILD, "--component", "SmaltiPython", "--prefix", prefix, "--strip"],
        check=True,
        capture_output=True,
    )
    return prefix


def run(installed: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SMALTI_")}
    environment["PYTHONPATH"] = str(installed)
    return subprocess.run(
        [str(part) for part in command], env=environment, cwd=installed, capture_output=True, text=True, check=False
    )


def test_package(installed: Path) -> None:
    script = (
        "import smalti, smalti.ir as ir\n"
        "from smalti._mlir_libs import _smalti\n"
        "from smalti.dialects import triton_xla, gpu\n"
        f"text = open({str(KERNEL)!r}).read()\n"
        "with ir.Context(): print(ir.Module.parse(text).operation.verify())\n"
        "print(smalti.__file__)\nprint(_smalti.__file__)\n"
    )
    result = run(installed, sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    verified, package, extension = result.stdout.split()
    assert verified == "True"
    assert Path(package).is_relative_to(installed)
    assert Path(extension).is_relative_to(installed)


def test_no_path_of_the_build_tree_is_left(installed: Path) -> None:
    objects = [*(installed / "smalti" / "_mlir_libs").glob("*.so"), *(installed / "bin").iterdir()]
    objects += [installed / "smalti" / "lib" / "SmaltiPlugin.so", installed / "smalti" / "jax" / "smalti_xla.so"]
    objects += (installed / "smalti" / "_emulator").iterdir()
    assert len(objects) > 16
    for path in objects:
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        runpath = re.findall(r"(?:RUNPATH|RPATH)\)\s+Library (?:runpath|rpath): \[(.*?)\]", dynamic)
        assert str(BUILD) not in "".join(runpath), path
    assert str(BUILD) not in (installed / "smalti" / "_config.json").read_text()
    assert not [path for path in installed.rglob("*") if path.is_symlink()]


def test_tools(installed: Path) -> None:
    result = run(installed, installed / "bin" / "smalti-opt", KERNEL)
    assert result.returncode == 0, result.stderr
    assert "triton_xla.entry_func" in result.stdout
    mlir_opt = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"
    plugin = installed / "smalti" / "lib" / "SmaltiPlugin.so"
    result = run(installed, mlir_opt, f"--load-dialect-plugin={plugin}", KERNEL)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("options", [[], ["--sanitize", "address"], ["--sanitize", "thread"]], ids="".join)
def test_emulator(installed: Path, options: list[str]) -> None:
    words = ["-m", "smalti", "run", str(KERNEL), "--target", "emu:gfx942", "--check", *options]
    result = run(installed, sys.executable, *words)
    assert result.returncode == 0, result.stderr
    assert "ok, " in result.stdout


def test_typed(installed: Path) -> None:
    assert (installed / "smalti" / "py.typed").is_file()
    assert (installed / "smalti" / "_mlir_libs" / "_mlir" / "ir.pyi").is_file()
    assert (installed / "smalti" / "_mlir_libs" / "_smalti.pyi").is_file()
    for name in (
        "ir",
        "dialects/_mosaic_gpu_ops_gen",
        "dialects/_triton_xla_ops_gen",
        "dialects/arith",
        "dialects/gpu/__init__",
    ):
        assert (installed / "smalti" / f"{name}.pyi").is_file()


HEADERS = """\
#include "smalti/dialects/MosaicGPU/MosaicGPU.h"
#include "smalti/dialects/TritonXLA/TritonXLA.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Models/ExternalModels.h"
#include "smalti/passes/Passes.h"
#include "smalti/targets/Target.h"
"""


def test_headers_stand_alone(tmp_path: Path) -> None:
    subprocess.run(
        ["cmake", "--install", BUILD, "--component", "SmaltiHeaders", "--prefix", tmp_path],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "include/smalti/dialects/MosaicGPU/MosaicGPUOps.td").exists()
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
    upstream = Path(cache["MLIR_DIR"]).parents[2] / "include"
    (tmp_path / "user.cpp").write_text(HEADERS)
    (settings,) = (BUILD / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")
    found = re.search(r'set\(CMAKE_CXX_COMPILER "(.+)"\)', settings.read_text())
    assert found
    command = [found[1], "-std=c++17", "-fno-rtti", "-fsyntax-only", "-w"]
    command += [f"-I{tmp_path}/include", f"-I{upstream}", tmp_path / "user.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
