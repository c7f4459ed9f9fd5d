# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C headers of kernels: a launch from C makes the same call of the driver as a launch from Python."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import smalti
import stub_driver
from click.testing import CliRunner
from smalti.calling import arrays
from smalti.cli.commands import main
from smalti.launch import devices
from smalti.launch.kernels import Kernel
from stub_driver import Stub

pytestmark = pytest.mark.skipif(stub_driver.compiler() is None, reason="needs a C compiler")

FACTS = "triton_xla.size_divisors = array<i64: 1, 8>"
PROGRAM = f"""\
triton_xla.entry_func @matmul(%a: memref<?x?xf16> {{{FACTS}, triton_xla.max_bytes = 65536 : i64}},
                              %n: index, %b: memref<?x?xf16, strided<[?, 1]>> {{triton_xla.stride_divisors = array<i64: 8, 1>}},
                              %register: i32, %half: bf16, %s: f32, %c: memref<?x?xf32> {{{FACTS}}}, %i: index, %j: index)
    tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = tensor.splat %s : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {{
    %at = triton_xla.extract %a[%row, %k] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %bt = triton_xla.extract %b[%k, %column] [64, 64] [1, 1] : memref<?x?xf16, strided<[?, 1]>> to tensor<64x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }}
  triton_xla.insert %sum into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}}
"""

# The driver is the stub; the maps of the launch are on the stack.
LAUNCHER = """\
#include "matmul.h"
int cuTensorMapEncodeTiled(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                           const uint32_t *, int, int, int, int);
int cuLaunchKernel(uintptr_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, uintptr_t, void **, void **);
const char *check(const matmul_arguments *arguments) { return matmul_check(arguments); }
int launch(const matmul_arguments *arguments, uintptr_t function) {
  unsigned grid[3];
  int some = matmul_grid(arguments, grid);
  if (some <= 0)
    return some;
  matmul_parameters parameters;
  _Alignas(64) unsigned char maps[matmul_num_maps * 128];
  int status = matmul_encode_maps(arguments, cuTensorMapEncodeTiled, maps);
  if (status)
    return 1000 + status;
  status = cuLaunchKernel(function, grid[0], grid[1], grid[2], matmul_block_x, matmul_block_y, matmul_block_z,
                          matmul_shared_bytes, 0, matmul_fill_parameters(arguments, &parameters, maps), NULL);
  return status ? 1000 + status : 1;
}
"""


class Matrix(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("sizes", ctypes.c_int64 * 2)]


class Strided(ctypes.Structure):
    _fields_ = [*Matrix._fields_, ("strides", ctypes.c_int64 * 2)]


class Arguments(ctypes.Structure):
    _fields_ = [
        ("a", Matrix),
        ("n", ctypes.c_int64),
        ("b", Strided),
        ("register", ctypes.c_int32),
        ("half", ctypes.c_uint16),
        ("s", ctypes.c_float),
        ("c", Matrix),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("header")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Kernel:
    kernel = smalti.compile(PROGRAM, target="sm_90a")
    assert isinstance(kernel, Kernel) and len(kernel.tensor_maps) == 3
    kernel.save(folder / "matmul.h")
    return kernel


@pytest.fixture(scope="module")
def stub(folder: Path) -> Stub:
    return Stub(stub_driver.build(folder))


@pytest.fixture
def driver(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    stub.takes(*[8] * 14, *[128] * 3)
    monkeypatch.setattr(devices, "cuda_library", lambda: stub.library)
    yield stub
    stub.library.stub_reset()


@pytest.fixture(scope="module")
def launcher(folder: Path, kernel: Kernel, stub: Stub) -> Any:
    """The functions of LAUNCHER."""
    (folder / "launch.c").write_text(LAUNCHER)
    compiler = stub_driver.compiler()
    assert compiler is not None
    command = [
        compiler,
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-I",
        folder,
        folder / "launch.c",
    ]
    subprocess.run([*command, "-o", folder / "launch.so", folder / "libcuda.so.1", f"-Wl,-rpath,{folder}"], check=True)
    library = ctypes.CDLL(str(folder / "launch.so"))
    library.check.restype = ctypes.c_char_p
    library.launch.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def arguments(m: int, n: int, k: int, stride: int) -> Arguments:
    return Arguments(
        Matrix(0x10000, (m, k)), k, Strided(0x20000, (k, n), (stride, 1)), -3, 0x3FC0, 0.5, Matrix(0x40000, (m, n))
    )


def views(m: int, n: int, k: int, stride: int) -> tuple[Any, ...]:
    def view(address: int, shape: tuple[int, int], row: int, dtype: str) -> arrays.ArrayView:
        return arrays.ArrayView(address, shape, (row, 1), dtype, arrays.CUDA)

    a, b = view(0x10000, (m, k), k, "float16"), view(0x20000, (k, n), stride, "float16")
    return a, k, b, -3, 1.5, 0.5, view(0x40000, (m, n), n, "float32")


@pytest.mark.parametrize("sizes", [(100, 72, 40, 80), (1, 8, 8, 8), (64, 64, 0, 64), (300, 200, 16, 208)])
def test_launches_from_c_and_python_are_equal(
    launcher: Any, kernel: Kernel, driver: Stub, sizes: tuple[int, int, int, int]
) -> None:
    kernel(*views(*sizes))
    given = arguments(*sizes)
    assert launcher.check(ctypes.byref(given)) is None
    assert launcher.launch(ctypes.byref(given), 77) == 1
    from_python, from_c = driver.launches
    assert from_c == from_python
    m, n, k, stride = sizes
    assert from_c.grid == (-(-m // 64) * -(-n // 64), 1, 1)
    assert from_c.numbers[1:8] == (m, k, k, 0x20000, k, n, stride)


def test_empty_results_are_not_launched(launcher: Any, driver: Stub) -> None:
    assert launcher.launch(ctypes.byref(arguments(0, 8, 8, 8)), 77) == 0
    assert driver.launches == []


def test_too_many_tiles(launcher: Any) -> None:
    assert launcher.launch(ctypes.byref(arguments(1 << 30, 1 << 30, 8, 1 << 30)), 77) == -1


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((64, 64, 68, 64), "the size of dimension 1 of argument a must be a multiple of 8"),
        ((64, 64, 64, 68), "the stride of dimension 0 of argument b must be a multiple of 8"),
        ((512, 64, 72, 64), "the array of argument a exceeds the 65536 B that the kernel was compiled for"),
        ((40000, 64, 0, 64), "the array of argument a exceeds the 65536 B that the kernel was compiled for"),
        (
            (64, (1 << 30) + 8, 8, 1 << 31),
            "the size of dimension 1 of argument b exceeds 1073741824, the maximum of TMA",
        ),
        ((64, -8, 8, 8), "the size of dimension 1 of argument b is negative"),
    ],
)
def test_checks(launcher: Any, sizes: tuple[int, int, int, int], message: str) -> None:
    assert launcher.check(ctypes.byref(arguments(*sizes))).decode() == message


def test_addresses_are_checked(launcher: Any) -> None:
    given = arguments(64, 64, 64, 64)
    given.c.address += 8
    assert launcher.check(ctypes.byref(given)) == b"the address of argument c must be a multiple of 16 B"


def test_a_header_is_valid_c99_and_cpp(folder: Path, kernel: Kernel) -> None:
    compiler = stub_driver.compiler()
    assert compiler is not None
    for words in (["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++11"]):
        command = [compiler, *words, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
        subprocess.run([*command, "-include", folder / "matmul.h", "/dev/null"], check=True)


STATIC = """\
triton_xla.entry_func @scale(%x: memref<100x64xf32>, %y: memref<100x64xf32>, %i: index) tiles 7 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %i, %c16 : index
  %t = triton_xla.extract %x[%row, %c0] [16, 64] [1, 1] : memref<100x64xf32> to tensor<16x64xf32>
  triton_xla.insert %t into %y[%row, %c0] [16, 64] [1, 1] : tensor<16x64xf32> into memref<100x64xf32>
  triton_xla.return
}
"""


def test_static_kernels_for_amd(tmp_path: Path) -> None:
    source = tmp_path / "scale.mlir"
    source.write_text(STATIC)
    found = CliRunner().invoke(main, ["compile", str(source), "-t", "gfx942", "-o", str(tmp_path / "scale.h")])
    assert found.exit_code == 0, found.output
    text = (tmp_path / "scale.h").read_text()
    assert "scale_num_maps = 0," in text and "encode" not in text and "grid[0] = 7;" in text
    assert text.count("must be a multiple of 16 B") == 2
    compiler = stub_driver.compiler()
    assert compiler is not None
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only", "-x", "c"]
    subprocess.run([*command, tmp_path / "scale.h"], check=True)


CUBE = """\
triton_xla.entry_func @cube(%x: memref<?x?x?x?xf32> {triton_xla.max_bytes = 2147483648 : i64,
                                                    triton_xla.stride_divisors = array<i64: 24, 8, 1, 1>},
                            %i: index) tiles [size(%x, 0)] {
  %c0 = arith.constant 0 : index
  %t = triton_xla.extract %x[%i, %c0, %c0, %c0] [1, 1, 1, 16] [1, 1, 1, 1] : memref<?x?x?x?xf32> to tensor<1x1x1x16xf32>
  triton_xla.insert %t into %x[%i, %c0, %c0, %c0] [1, 1, 1, 16] [1, 1, 1, 1] : tensor<1x1x1x16xf32> into memref<?x?x?x?xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((2, 3, 8, 16), None),
        # The row-major stride of dimension 0 is 2^63, and 2^64.
        (
            (3, 1 << 21, 1 << 21, 1 << 21),
            "the array of argument x exceeds the 2147483648 B that the kernel was compiled for",
        ),
        (
            (3, 1 << 22, 1 << 21, 1 << 21),
            "the array of argument x exceeds the 2147483648 B that the kernel was compiled for",
        ),
        ((1 << 29, 1, 1, 1), "the stride of dimension 0 of argument x must be a multiple of 24"),
        # A stride that is not computed, of an empty array: 3 * 2^66 is a multiple of 24; 2^63 is not.
        ((0, 3 << 22, 1 << 22, 1 << 22), None),
        ((0, 1 << 21, 1 << 21, 1 << 21), "the stride of dimension 0 of argument x must be a multiple of 24"),
        ((2, 3, 4, 1), "the stride of dimension 0 of argument x must be a multiple of 24"),
        ((2, 6, 1, 4), "the stride of dimension 1 of argument x must be a multiple of 8"),
    ],
)
def test_multiplied_sizes_do_not_overflow(tmp_path: Path, sizes: tuple[int, ...], message: str | None) -> None:
    kernel = smalti.compile(CUBE, target="sm_80")
    assert isinstance(kernel, Kernel)
    kernel.save(tmp_path / "cube.h")
    (tmp_path / "cube.c").write_text(
        '#include "cube.h"\nconst char *check(const cube_arguments *a) { return cube_check(a); }\n'
    )
    compiler = stub_driver.compiler()
    assert compiler is not None
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-ftrapv", "-shared", "-fPIC"]
    subprocess.run([*command, tmp_path / "cube.c", "-o", tmp_path / "cube.so"], check=True)
    check = ctypes.CDLL(str(tmp_path / "cube.so")).check
    check.restype = ctypes.c_char_p
    found = check(ctypes.byref((ctypes.c_int64 * 5)(0x10000, *sizes)))
    assert (found and found.decode()) == message


def test_emulated_kernels_do_not_have_a_header(tmp_path: Path) -> None:
    kernel = smalti.compile(STATIC, target="emu:gfx942")
    assert isinstance(kernel, Kernel)
    with pytest.raises(smalti.SmaltiError, match=r"suffix '\.h' is not supported"):
        kernel.save(tmp_path / "scale.h")
