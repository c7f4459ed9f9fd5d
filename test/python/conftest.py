# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build tree's package and small kernels, shared by the Python tests."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import sampling
import stub_driver

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SMALTI_BUILD_DIR", ROOT / "build"))

if importlib.util.find_spec("smalti") is None:
    sys.path.insert(0, str(BUILD / "python_packages"))
sys.path.insert(0, str(ROOT / "test" / "kernels"))
# A test imports helper modules by name, from any folder of tests.
sys.path += sorted({str(path.parent) for path in Path(__file__).parent.rglob("test_*.py")})

PALLAS = ROOT / "test" / "pallas" / "Inputs"
"""The modules that JAX printed."""

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
}
"""The types of numpy by the element types of MLIR."""

SCALE = """\
triton_xla.entry_func @scale(%src: memref<100x60xf32>, %dst: memref<100x60xf32>, %tile: index) tiles 4 {
  %c32 = arith.constant 32 : index
  %row = arith.muli %tile, %c32 : index
  %t = triton_xla.extract %src[%row, 0] [32, 64] [1, 1] : memref<100x60xf32> to tensor<32x64xf32>
  %two = arith.constant dense<2.0> : tensor<32x64xf32>
  %r = arith.mulf %t, %two : tensor<32x64xf32>
  triton_xla.insert %r into %dst[%row, 0] [32, 64] [1, 1] : tensor<32x64xf32> into memref<100x60xf32>
  triton_xla.return
}
"""

# A GPU module that needs no lowering. The intrinsic in the second one is of another generation of chips.
GPU_MODULE = """\
module attributes {gpu.container_module} {
  gpu.module @k_module [#nvvm.target<chip = "sm_90">] {
    llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
"""

GPU_MODULE_THAT_CANNOT_BE_SELECTED = """\
module attributes {gpu.container_module} {
  gpu.module @k_module [#nvvm.target<chip = "sm_90a">] {
    llvm.func @k(%address: !llvm.ptr<6>, %columns: i32) attributes {gpu.kernel, nvvm.kernel} {
      llvm.call_intrinsic "llvm.nvvm.tcgen05.dealloc.cg1"(%address, %columns) : (!llvm.ptr<6>, i32) -> ()
      llvm.return
    }
  }
}
"""

_NUMBERS = itertools.count()
"""The numbers of the tests of this process."""


def pytest_configure(config: pytest.Config) -> None:
    """Gives the run a cache of its own: each kernel is compiled once, and nothing of an earlier build is used."""
    # A job in the background ignores Ctrl-C, and so would the processes that tests start and interrupt.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="smalti-test-cache-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        # The workers of pytest-xdist inherit it.
        os.environ["SMALTI_CACHE_DIR"] = folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--grids", action="store_true", help="run every point of the tests marked `grid`, and no other test"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without garbage collection. Later garbage collections are rare, and do not visit the tests, which
    all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000)


def node_id(config: pytest.Config, argument: str) -> str:
    """The id of a test that the command line names, from any folder."""
    path, separator, name = argument.partition("::")
    absolute = (config.invocation_params.dir / path).resolve()
    return f"{os.path.relpath(absolute, config.rootpath)}{separator}{name}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps only a sample of each grid (sampling.py), and what the command line selects by name."""
    if config.getoption("--grids"):
        dropped = [item for item in items if not (item.get_closest_marker("grid") or item.get_closest_marker("slow"))]
    elif config.getoption("keyword"):
        return
    else:
        named = tuple(node_id(config, argument) for argument in config.args if "::" in argument)
        failed = config.cache.get("cache/lastfailed", {}) if config.cache is not None else {}
        again = failed if config.getoption("lf", False) or config.getoption("failedfirst", False) else {}
        dropped = [
            item
            for item in sampling.dropped_points(items)
            if item.nodeid not in again and not item.nodeid.startswith(named)
        ]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]


@pytest.fixture(autouse=True)
def reproducers(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reproducers go to a folder of the test's own. Few tests need it, so that it is not created here."""
    folder = tmp_path_factory.getbasetemp() / f"reproducers-{next(_NUMBERS)}"
    monkeypatch.setenv("SMALTI_REPRODUCER_DIR", str(folder))
    return folder


@pytest.fixture
def kernels() -> Path:
    """The folder of example kernels."""
    return ROOT / "test" / "kernels"


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `smalti` as a process of its own, in an empty folder."""
    import smalti

    def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        packages = str(Path(next(iter(smalti.__path__))).parent)
        return subprocess.run(
            [sys.executable, "-m", "smalti", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": packages, **environment},
            timeout=300,
            check=False,
        )

    return run


def check_that_ctrl_c_ends(*words: str | Path, **environment: str) -> None:
    """Runs `smalti` with a kernel that does not end, and interrupts it when a note reports that the kernel runs."""
    import smalti

    packages = str(Path(next(iter(smalti.__path__))).parent)
    code = "import smalti.pace as pace; pace.SILENT = 0.2; from smalti.cli.commands import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": packages, **environment},
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "completed after" not in said or "--blocks N" not in said:
            process.kill()
            pytest.fail(said)
        # The note is printed, and the kernel runs again.
        time.sleep(0.1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        # Half a second, and what a busy machine takes.
        assert time.monotonic() - start < 3
        assert "Traceback" not in process.stderr.read()


@pytest.fixture(scope="module")
def stub_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stub of a GPU's driver. Each module has a library of its own."""
    if stub_driver.compiler() is None:
        pytest.skip("needs a C compiler")
    return stub_driver.build(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no outside program is installed."""
    from smalti import toolchain

    monkeypatch.setattr(toolchain, "find_ptxas", lambda: None)
    monkeypatch.setattr(toolchain, "find_nvdisasm", lambda: None)
    monkeypatch.setattr(toolchain, "find_llvm_tool", lambda name: None)
    monkeypatch.setattr(toolchain, "find_host_linker", lambda: None)


@pytest.fixture
def no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only the launch decides which memory is written."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    assert not list(folder.iterdir())
