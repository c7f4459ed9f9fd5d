# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plugin's refusal of a host with another MLIR, with a message, before it calls MLIR."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD

PLUGIN = BUILD / "lib" / "SmaltiPlugin.so"
MLIR_OPT = Path("/usr/lib/llvm-22/bin/mlir-opt")

PROGRAM = """
triton_xla.entry_func @copy(%memory: memref<100xf32>, %tile: index) tiles 4 {
  triton_xla.return
}
"""

HOST = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
struct info { uint32_t api; const char *name, *version; void (*fn)(void); };
int main(int argc, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!plugin) { puts(dlerror()); return 2; }
  struct info (*get)(void) = (struct info (*)(void))dlsym(plugin, argv[2]);
  struct info info = get();
  printf("%u %s %s\n", info.api, info.name, info.version);
  return 0;
}
"""


def mlir_opt(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MLIR_OPT, program, f"--load-dialect-plugin={PLUGIN}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "copy.mlir"
    path.write_text(PROGRAM)
    return path


def test_the_right_host(program: Path) -> None:
    result = mlir_opt(program)
    assert (result.returncode, result.stderr) == (0, "")
    assert "triton_xla.entry_func @copy" in result.stdout


@pytest.mark.parametrize("version", ["21.1", "23.0"])
def test_another_version(program: Path, tmp_path: Path, version: str) -> None:
    library = tmp_path / f"libMLIR.so.{version}"
    (tmp_path / "empty.c").touch()
    subprocess.run(
        ["cc", "-shared", "-fPIC", tmp_path / "empty.c", f"-Wl,-soname,{library.name}", "-o", library], check=True
    )
    result = mlir_opt(program, LD_PRELOAD=str(library))
    assert result.returncode == 1
    assert f"SmaltiPlugin was built for LLVM 22.1.8, but this program uses LLVM {version}" in result.stderr
    assert "load the plugin into mlir-opt-22" in result.stderr


@pytest.mark.parametrize("entry_point", ["mlirGetDialectPluginInfo", "mlirGetPassPluginInfo"])
def test_a_host_without_shared_mlir(tmp_path: Path, entry_point: str) -> None:
    source, host = tmp_path / "host.c", tmp_path / "host"
    source.write_text(HOST)
    subprocess.run(["cc", source, "-o", host, "-ldl"], check=True)
    result = subprocess.run([host, PLUGIN, entry_point], capture_output=True, text=True, check=True)
    # Interface version 0 is what makes a host turn the plugin away.
    assert result.stdout.split()[:2] == ["0", "smalti"]
    assert "does not link the shared library libMLIR.so.22.1, which SmaltiPlugin requires" in result.stderr
