# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in files: runs without MLIR, and refusals of other files."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import stub_driver
from conftest import BUILD, ROOT, SCALE
from helpers import Shell
from smalti import aot
from smalti.calling import tensor_maps
from smalti.launch.compiled import Resources
from smalti.launch.kernels import Kernel
from test_launch_gpu import CUDA_DEVICE, device_arrays, driver, gpu_kernel  # noqa: F401 (fixtures)

MAP = tensor_maps.TensorMap("f32", (100, 60), (240, 4), (32, 20), swizzle=16, fill="nan", argument=1, offset=0)


def made(**resources: Any) -> Kernel:
    kernel = gpu_kernel("sm_90a", cluster=(2, 1, 1), registers=168, **resources)
    kernel.symbol = "scale_kernel"
    kernel.tensor_maps = (MAP,)
    return kernel


def test_a_kernel_comes_back_as_it_was(tmp_path: Path) -> None:
    kernel = made()
    path = kernel.save(tmp_path / "k.smalti")
    loaded = aot.load(path)
    for name in ("binary", "binary_format", "symbol", "tensor_maps", "resources", "device_ir"):
        assert getattr(loaded, name) == getattr(kernel, name), name
    for name in ("name", "vendor", "architecture", "wave_size", "max_threads_per_block", "shared_memory_per_block"):
        assert getattr(loaded.target, name) == getattr(kernel.target, name), name
    assert loaded.entry.name == "scale" and loaded.entry.num_tiles == 4
    for ours, theirs in zip(loaded.arguments, kernel.arguments, strict=True):
        for name in ("index", "type", "dtype", "shape", "strides", "reads", "writes", "alignment", "packed"):
            assert getattr(ours, name) == getattr(theirs, name), name
    assert repr(loaded) == repr(kernel)


def test_the_same_kernel_makes_the_same_bytes(tmp_path: Path) -> None:
    first, second = (made().save(tmp_path / name).read_bytes() for name in ("a.smalti", "b.smalti"))
    assert first == second
    assert aot.load(tmp_path / "a.smalti").save(tmp_path / "c.smalti").read_bytes() == first


def test_the_format_is_the_one_that_is_documented(tmp_path: Path) -> None:
    with zipfile.ZipFile(made().save(tmp_path / "k.smalti")) as archive:
        assert archive.namelist() == ["kernel.json", "kernel.cubin"]
        facts = json.loads(archive.read("kernel.json"))
    assert set(facts) == {
        *("format", "version", "made_by", "target", "name", "symbol", "blocks", "arguments", "tensor_maps"),
        *("resources", "code"),
    }
    assert (facts["format"], facts["version"]) == ("smalti kernel", 1)
    assert facts["arguments"][1] == {
        "type": "memref<100x60xf32>",
        "element": "f32",
        "shape": [100, 60],
        "strides": [60, 1],
        "reads": False,
        "writes": True,
        "alignment": None,
        "packed": 1,
        "name": "dst",
    }
    assert facts["resources"]["cluster"] == [2, 1, 1] and facts["code"]["format"] == "cubin"


def test_a_loaded_kernel_launches_as_the_first(driver: stub_driver.Stub, tmp_path: Path) -> None:  # noqa: F811
    kernel = made()
    driver.takes(8, 8, 128)
    kernel(*device_arrays(CUDA_DEVICE), stream=3)
    aot.load(kernel.save(tmp_path / "k.smalti"))(*device_arrays(CUDA_DEVICE), stream=3)
    first, second = driver.launches
    assert first == second and second.name == "scale_kernel" and second.cluster == (2, 1, 1)
    assert second.parameters[2] == tensor_maps.encode(MAP, 0x20000)


WITHOUT_MLIR = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if "_mlir" in name or name.startswith(("smalti.ir", "smalti.passmanager", "smalti.dialects", "mlir")):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
import smalti.aot

class Array:
    def __init__(self, pointer):
        self.__cuda_array_interface__ = {"shape": (100, 60), "typestr": "<f4", "data": (pointer, False), "version": 3}

smalti.aot.load(sys.argv[1])(Array(0x10000), Array(0x20000), stream=7)
import ctypes
log = ctypes.CDLL("libcuda.so.1").stub_log
log.restype = ctypes.c_char_p
print(log().decode())
"""


@pytest.mark.parametrize("package", [BUILD / "python_packages", ROOT / "python"], ids=["built", "sources"])
@pytest.mark.parametrize("capability", [90, 80])
def test_a_kernel_runs_without_mlir_and_without_extension_modules(
    capability: int,
    package: Path,
    stub_library: Path,
    tmp_path: Path,
) -> None:
    kernel = gpu_kernel("sm_90a" if capability == 90 else "sm_100a", dynamic_shared_bytes=4096)
    path = kernel.save(tmp_path / "k.smalti")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(stub_library.parent),
        "PYTHONPATH": str(package),
    }
    command = [sys.executable, "-c", "import ctypes\nctypes.CDLL('libcuda.so.1').stub_reset()\n" + WITHOUT_MLIR, path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if capability == 90:
        assert done.returncode == 0, done.stderr
        assert "launch scale 4,1,1 128,1,1 0,0,0 4096 7" in done.stdout
    else:
        assert "the kernel was compiled for sm_100a, but the GPU has compute capability 9.0" in done.stderr
        # The sources do not include the target table.
        has_table = package == BUILD / "python_packages"
        assert ("hint: compile with target='sm_90a'" in done.stderr) == has_table
        assert "_targets.json" not in done.stderr


def test_the_sources_do_not_include_the_target_table() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import smalti\nsmalti.targets.for_compute_capability(9, 0)"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "TargetError: " in done.stderr and "_targets.json, the target table, does not exist" in done.stderr
    assert "hint: copy _targets.json from an installed package smalti" in done.stderr
    assert "FileNotFoundError" not in done.stderr


def test_ptx_where_there_was_no_ptxas(tmp_path: Path) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel.binary, kernel.binary_format = b".version 9.0\n", "ptx"
    loaded = aot.load(kernel.save(tmp_path / "k.smalti"))
    assert (loaded.binary, loaded.binary_format, loaded.asm["ptx"]) == (b".version 9.0\n", "ptx", ".version 9.0\n")


def test_a_kernel_without_code_is_not_saved(tmp_path: Path) -> None:
    kernel = gpu_kernel("gfx942")
    kernel.binary = None
    kernel.notes = ["ld.lld was not found"]
    with pytest.raises(smalti.ToolMissing, match=r"cannot write .*k\.smalti: ld\.lld was not found"):
        kernel.save(tmp_path / "k.smalti")
    with pytest.raises(smalti.SmaltiError, match="suffixes for cpu: "):
        smalti.compile(SCALE, target="cpu").save(tmp_path / "k.smalti")
    with pytest.raises(smalti.SmaltiError, match="cannot write"):
        gpu_kernel("sm_90a").save(tmp_path / "gone" / "k.smalti")


# ---------------------------------------------------------------------------------------------------------------------
# Files that are not kernels
# ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return made().save(tmp_path_factory.mktemp("good") / "k.smalti").read_bytes()


def refused(data: bytes, folder: Path) -> str:
    path = folder / "k.smalti"
    path.write_bytes(data)
    with pytest.raises(smalti.KernelFileError) as caught:
        aot.load(path)
    assert str(caught.value).startswith(f"{path} ")
    return str(caught.value)


def rewritten(data: bytes, change: Callable[[dict[str, Any]], None], code: bytes | None = None) -> bytes:
    """The archive with other facts in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as new:
        facts = json.loads(archive.read("kernel.json"))
        change(facts)
        new.writestr("kernel.json", json.dumps(facts))
        new.writestr("kernel.cubin", archive.read("kernel.cubin") if code is None else code)
    return out.getvalue()


def test_files_that_are_not_there_or_something_else(tmp_path: Path) -> None:
    with pytest.raises(smalti.KernelFileError, match="No such file"):
        aot.load(tmp_path / "gone.smalti")
    for data in (b"", b"\x7fELF" + bytes(200), b"module {}\n"):
        assert "is not a kernel file of Smalti" in refused(data, tmp_path)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("kernel.json", '{"format": "something else"}')
    assert "is not a kernel file of Smalti" in refused(other.getvalue(), tmp_path)
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w"):
        pass
    assert "is damaged: kernel.json is missing" in refused(empty.getvalue(), tmp_path)


def test_files_that_end_too_early_at_any_byte(good: bytes, tmp_path: Path) -> None:
    for size in range(2, len(good), 13):
        assert "is damaged: the file is truncated" in refused(good[:size], tmp_path)


def test_every_changed_byte_is_found(good: bytes, tmp_path: Path) -> None:
    """A byte that changes is found, or means nothing: the kernel is the same."""
    same = made()
    path = tmp_path / "k.smalti"
    for at in range(0, len(good), 3):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :])
        try:
            loaded = aot.load(path)
        except smalti.KernelFileError:
            continue
        assert (loaded.binary, loaded.tensor_maps, loaded.resources) == (same.binary, same.tensor_maps, same.resources)
        assert [a.shape for a in loaded.arguments] == [a.shape for a in same.arguments]


def test_newer_versions_are_refused_and_named(good: bytes, tmp_path: Path) -> None:
    def newer(facts: dict[str, Any]) -> None:
        facts["version"] = 2
        facts["made_by"]["smalti"] = "7.1"

    assert (
        "has version 2 of the file format; this Smalti supports versions up to 1\nhint: install Smalti 7.1"
        in refused(rewritten(good, newer), tmp_path)
    )


def test_code_that_is_not_the_saved_one(good: bytes, tmp_path: Path) -> None:
    message = refused(rewritten(good, lambda facts: None, b"\x7fELF, but another"), tmp_path)
    assert "is damaged: the checksum of kernel.cubin does not match" in message


WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda f: f.pop("symbol"), "kernel.json.symbol is None, not a string"),
    (lambda f: f.update(version=0), "version is 0; the minimum is 1"),
    (lambda f: f.update(version=True), "version is True, not an integer"),
    (lambda f: f.update(blocks="4"), "blocks is '4', not an integer"),
    (lambda f: f.update(target=[]), "kernel.json.target is not a JSON object"),
    (lambda f: f.update(arguments={}), "arguments is {}, not an array"),
    (lambda f: f["arguments"][0].update(element="f7"), "the element type of argument 0 is f7, which is not supported"),
    (lambda f: f["arguments"][0].update(shape=[100, -1]), "arguments[0].shape is [100, -1]"),
    (lambda f: f["arguments"][0].update(strides=[1]), "arguments[0].strides is [1]"),
    (lambda f: f["arguments"][0].update(reads=1), "arguments[0].reads is 1, not true or false"),
    (
        lambda f: f["tensor_maps"][0].update(argument=2),
        "a tensor map uses argument 2, which is not a memref of static shape",
    ),
    (lambda f: f["tensor_maps"][0].update(offset=16), "a tensor map exceeds the memory of argument 1"),
    (lambda f: f["tensor_maps"][0].update(box=[1, 300]), "tensor map: box is (1, 300)"),
    (lambda f: f["resources"].update(grid=[4, 1]), "resources.grid is [4, 1]"),
    (lambda f: f["resources"].update(block=None), "resources.block is missing"),
    (lambda f: f["code"].update(file="other"), "other is missing"),
    (lambda f: f["code"].update(format="hsaco"), "the format of the code is hsaco, which sm_90a does not support"),
]


@pytest.mark.parametrize("change, message", WRONG, ids=[message for _, message in WRONG])
def test_facts_that_cannot_be(
    change: Callable[[dict[str, Any]], Any], message: str, good: bytes, tmp_path: Path
) -> None:
    assert message in refused(rewritten(good, change), tmp_path).partition("is damaged: ")[2]


def test_an_emulated_kernel_from_a_file(tmp_path: Path) -> None:
    kernel = smalti.compile(SCALE, target="emu:sm_80")
    loaded = aot.load(kernel.save(tmp_path / "k.smalti"))
    source = np.arange(6000, dtype=np.float32).reshape(100, 60)
    result = np.zeros_like(source)
    loaded(source, result)
    np.testing.assert_array_equal(result, 2 * source)
    assert isinstance(loaded.resources, Resources) and loaded.target.name == "emu:sm_80"


def test_the_shell_compiles_to_a_file_and_runs_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(SCALE)
    done = shell("compile", "k.mlir", "--target", "emu:sm_80", "-o", "k.smalti")
    assert done.returncode == 0 and "k.smalti (" in done.stdout, done.stderr
    done = shell("run", "k.smalti", "--workers", "1")
    assert done.returncode == 0 and "@scale on emu:sm_80: emulated in" in done.stdout, done.stderr
    assert (
        "k.smalti was compiled for emu:sm_80; omit --target sm_90a"
        in shell("run", "k.smalti", "--target", "sm_90a").stderr
    )
    assert "--check does not apply to a compiled kernel" in shell("run", "k.smalti", "--check").stderr
    assert "No such file" in shell("run", "gone.smalti").stderr
