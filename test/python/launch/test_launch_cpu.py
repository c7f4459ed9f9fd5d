# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calling a kernel on the CPU: argument checks, array libraries, threads.

The kernel is lowered by upstream passes from a hand-written function, so nothing here depends on Smalti's conversions.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import BUILD, SCALE
from smalti import reference, targets
from smalti.calling import arrays, calls
from smalti.compiler import entry
from smalti.launch import cpu
from smalti.launch.kernels import Kernel
from smalti.reference.interpreter import InterpreterError

LOWER = (
    "convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-arith-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)

# The form of a lowered @scale: all tiles in [begin, end), 32 rows a tile, without the rows from 100 on.
SCALE_CPU = """\
func.func @scale(%src: memref<100x60xf32>, %dst: memref<100x60xf32>, %begin: index, %end: index)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c60 = arith.constant 60 : index
  %c100 = arith.constant 100 : index
  %two = arith.constant 2.0 : f32
  scf.for %tile = %begin to %end step %c1 {
    %first = arith.muli %tile, %c32 : index
    %full = arith.addi %first, %c32 : index
    %last = arith.minsi %full, %c100 : index
    scf.for %i = %first to %last step %c1 {
      scf.for %j = %c0 to %c60 step %c1 {
        %x = memref.load %src[%i, %j] : memref<100x60xf32>
        %y = arith.mulf %x, %two : f32
        memref.store %y, %dst[%i, %j] : memref<100x60xf32>
      }
    }
  }
  return
}
"""

ADD = """\
triton_xla.entry_func @add(%v: memref<?xTYPE, strided<[?], offset: ?>>, %x: TYPE, %tile: index) tiles 1 {
  %s = tensor.splat %x : tensor<4xTYPE>
  %t = triton_xla.extract %v[0] [4] [1] : memref<?xTYPE, strided<[?], offset: ?>> to tensor<4xTYPE>
  %r = arith.addi %t, %s : tensor<4xTYPE>
  triton_xla.insert %r into %v[0] [4] [1] : tensor<4xTYPE> into memref<?xTYPE, strided<[?], offset: ?>>
  triton_xla.return
}
"""

ADD_CPU = """\
func.func @add(%v: memref<?xTYPE, strided<[?], offset: ?>>, %x: TYPE, %begin: index, %end: index)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %v, %c0 : memref<?xTYPE, strided<[?], offset: ?>>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %v[%i] : memref<?xTYPE, strided<[?], offset: ?>>
    %b = arith.addi %a, %x : TYPE
    memref.store %b, %v[%i] : memref<?xTYPE, strided<[?], offset: ?>>
  }
  return
}
"""


def kernel_of(program: str, lowered: str) -> Kernel:
    source = smalti.parse(program)
    kernel = Kernel(targets.get("cpu"), entry.describe(entry.find_entry(source)), {})
    kernel.module = smalti.parse(lowered)
    smalti.Pipeline(LOWER).run(kernel.module)
    return kernel


@pytest.fixture
def scale() -> Kernel:
    return kernel_of(SCALE, SCALE_CPU)


def inputs() -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(1).standard_normal((100, 60)).astype(np.float32)
    return source, np.full_like(source, np.nan)


def test_runs_in_place_without_a_copy(scale: Kernel) -> None:
    source, result = inputs()
    scale(source, result)
    np.testing.assert_array_equal(result, 2 * source)


@pytest.mark.parametrize("threads", [1, 3, 64])
def test_any_number_of_threads_gives_the_same(scale: Kernel, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(calls, "num_threads", lambda: threads)
    monkeypatch.setattr(cpu, "PARALLEL_SECONDS", 0.0)
    used: set[int] = set()
    original = cpu.CpuLauncher._run_tiles
    ranges: list[tuple[int, int]] = []

    def spy(self: Any, packed: list[int], flag: Any, begin: int, end: int) -> None:
        used.add(threading.get_ident())
        ranges.append((begin, end))
        original(self, packed, flag, begin, end)

    monkeypatch.setattr(cpu.CpuLauncher, "_run_tiles", spy)
    source, result = inputs()
    scale(source, result)
    np.testing.assert_array_equal(result, 2 * source)
    covered = sorted(tile for begin, end in ranges for tile in range(begin, end))
    assert covered == [0, 1, 2, 3]
    assert (len(used) == 1) == (threads == 1)


def test_several_callers_at_once(scale: Kernel) -> None:
    pairs = [inputs() for _ in range(8)]
    callers = [threading.Thread(target=scale, args=pair) for pair in pairs]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for source, result in pairs:
        np.testing.assert_array_equal(result, 2 * source)


def test_strided_memory_scalars_and_dynamic_extents() -> None:
    kernel = kernel_of(ADD.replace("TYPE", "i16"), ADD_CPU.replace("TYPE", "i16"))
    memory = np.arange(30, dtype=np.int16)
    kernel(memory[1::3], -7)
    expected = np.arange(30, dtype=np.int16)
    expected[1::3] -= 7
    np.testing.assert_array_equal(memory, expected)
    backwards = np.arange(5, dtype=np.int16)
    kernel(backwards[::-1], 1)
    np.testing.assert_array_equal(backwards, np.arange(1, 6))
    unsigned = np.array([65535, 1], np.uint16)
    kernel(unsigned, 1)
    np.testing.assert_array_equal(unsigned, [0, 2])


def refused(kernel: Kernel, *arguments: Any) -> str:
    with pytest.raises(smalti.LaunchError) as caught:
        kernel(*arguments)
    return str(caught.value)


def test_wrong_arguments_are_refused_with_the_numbers(scale: Kernel) -> None:
    source, result = inputs()
    message = refused(scale, source)
    assert message == "@scale takes 2 arguments (memref<100x60xf32>, memref<100x60xf32>); the call passes 1"
    assert "shape is 99x60; the kernel requires 100x60" in refused(scale, source[:99], result)
    assert "shape is 6000; the kernel requires 100x60" in refused(scale, source.reshape(-1), result)
    assert "element type is float64; the kernel requires float32" in refused(scale, source.astype(np.float64), result)
    assert "argument 1 (%dst: memref<100x60xf32>)" in refused(scale, source, np.zeros((100, 60), np.int32))
    transposed = refused(scale, np.asfortranarray(source), result)
    assert (
        "the stride of dimension 0 is 1 element; the kernel requires 60" in transposed
        and "ascontiguousarray" in transposed
    )
    assert "int is not an array" in refused(scale, 3, result)
    assert "non-native byte order" in refused(scale, source.astype(">f4"), result)
    with pytest.raises(smalti.LaunchError, match="stream= is not supported"):
        scale(source, result, stream=1)


def test_read_only_memory_is_refused_where_it_is_written(scale: Kernel) -> None:
    source, result = inputs()
    source.flags.writeable = False
    scale(source, result)
    result.flags.writeable = False
    assert (
        "argument 1 (%dst: memref<100x60xf32>): the array is read-only, but the kernel writes it; pass a writable array"
        in refused(scale, source, result)
    )


def test_misaligned_memory_is_refused(scale: Kernel) -> None:
    source, result = inputs()
    crooked = np.frombuffer(bytearray(source.nbytes + 1), np.uint8)[1:].view(np.float32).reshape(100, 60)
    assert "not a multiple of the element size, 4 B" in refused(scale, crooked, result)


def test_shared_memory_is_refused_where_it_is_written(scale: Kernel) -> None:
    memory = np.zeros((101, 60), np.float32)
    assert "argument 1 (%dst: memref<100x60xf32>) overlaps argument 0" in refused(scale, memory[:100], memory[1:])
    assert "overlaps argument" in refused(scale, memory[:100], memory[:100])
    halves = np.zeros((200, 60), np.float32)
    scale(halves[:100], halves[100:])


def test_interleaved_arrays_share_nothing() -> None:
    from smalti.calling import calls

    program = "triton_xla.entry_func @f(%a: memref<5xi8>, %b: memref<5xi8>, %tile: index) tiles 1 {\n"
    program += "  %c = arith.constant dense<0> : tensor<4xi8>\n"
    program += "  triton_xla.insert %c into %a[0] [4] [1] : tensor<4xi8> into memref<5xi8>\n  triton_xla.return\n}\n"
    module = smalti.parse(program)
    arguments = entry.describe(entry.find_entry(module)).arguments
    memory = np.zeros(10, np.int8)
    calls.check_overlap(arguments, [arrays.view(memory[::2]), arrays.view(memory[1::2])])
    calls.check_overlap(arguments, [arrays.view(memory[4::-1]), arrays.view(memory[5:])])
    with pytest.raises(smalti.LaunchError):
        calls.check_overlap(arguments, [arrays.view(memory[5::-1]), arrays.view(memory[5:])])


def test_scalars_are_checked() -> None:
    kernel = kernel_of(ADD.replace("TYPE", "i8"), ADD_CPU.replace("TYPE", "i8"))
    memory = np.zeros(2, np.int8)
    assert "300 is out of range for i8" in refused(kernel, memory, 300)
    assert "an integer is required, not float" in refused(kernel, memory, 1.5)
    kernel(memory, np.int64(3))
    kernel(memory, 255)
    np.testing.assert_array_equal(memory, [2, 2])


def test_a_failed_check_does_not_count_as_checked(scale: Kernel) -> None:
    source, result = inputs()
    for _ in range(2):
        assert "shape" in refused(scale, source[:50], result)
    scale(source, result)


# --- array libraries ----------------------------------------------------------------------------------------------


class OnlyDlpack:
    """The form of any DLPack library's array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OldDlpack(OnlyDlpack):
    """A library from before DLPack 1."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


class OnlyInterface:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("library", [OnlyDlpack, OldDlpack, OnlyInterface])
def test_arrays_of_other_libraries_are_not_copied(scale: Kernel, library: Any) -> None:
    source, result = inputs()
    scale(library(source), library(result))
    np.testing.assert_array_equal(result, 2 * source)


def test_versioned_dlpack_carries_read_only(scale: Kernel) -> None:
    source, result = inputs()
    result.flags.writeable = False
    assert "read-only" in refused(scale, OnlyDlpack(source), OnlyDlpack(result))


def test_jax_arrays_never_change() -> None:
    fake = type("ArrayImpl", (OldDlpack,), {"__module__": "jaxlib._jax"})
    assert arrays.view(fake(np.zeros(3))).readonly
    assert not arrays.view(OldDlpack(np.zeros(3))).readonly


class _ManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", arrays._DLTensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Handmade:
    """A DLPack tensor of any type on any device, without the library that has them."""

    def __init__(self, pointer: int, shape: tuple[int, ...], code: int, bits: int, device: int, index: int = 0) -> None:
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        tensor = arrays._DLTensor(
            pointer,
            arrays._DLDevice(device, index),
            len(shape),
            arrays._DLDataType(code, bits, 1),
            ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64)),
            None,
            0,
        )
        self._managed = _ManagedTensor(tensor, None, None)
        self._device = (device, index)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, **keywords: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._managed), b"dltensor", None)


@pytest.mark.parametrize(
    ("code", "bits", "name"),
    [
        (4, 16, "bfloat16"),
        (2, 16, "float16"),
        (10, 8, "float8_e4m3fn"),
        (12, 8, "float8_e5m2"),
        (6, 8, "bool"),
        (1, 8, "uint8"),
    ],
)
def test_dlpack_types_that_numpy_does_not_read(code: int, bits: int, name: str) -> None:
    view = arrays.view(Handmade(4096, (2, 3), code, bits, 1))
    assert (view.dtype, view.shape, view.strides, view.pointer, view.device) == (name, (2, 3), (3, 1), 4096, "cpu")


def test_device_memory_is_refused_on_the_cpu(scale: Kernel) -> None:
    _, result = inputs()
    assert "the array is in cuda memory; the kernel requires cpu memory" in refused(
        scale, Handmade(4096, (100, 60), 2, 32, 2), result
    )
    assert "dlpack device type 7" in refused(scale, Handmade(4096, (100, 60), 2, 32, 7), result)


def test_a_library_without_an_array_interface_gives_a_reason(scale: Kernel) -> None:
    class Stubborn(OnlyDlpack):
        def __dlpack__(self, **keywords: Any) -> Any:
            raise BufferError("requires gradients")

    source, result = inputs()
    assert "Stubborn does not provide its memory through DLPack: requires gradients" in refused(
        scale, Stubborn(source), result
    )


def test_ml_dtypes_arrays() -> None:
    import ml_dtypes

    view = arrays.view(np.zeros((2, 2), ml_dtypes.bfloat16))
    assert view.dtype == "bfloat16" and view.strides == (2, 1)


def test_empty_and_single_element_arrays_have_no_strides_to_check() -> None:
    from smalti.calling import calls

    program = "triton_xla.entry_func @f(%a: memref<1x60xf32>, %tile: index) tiles 1 {\n  triton_xla.return\n}\n"
    module = smalti.parse(program)
    argument = entry.describe(entry.find_entry(module)).arguments[0]
    calls.check_array(argument, arrays.view(np.zeros((2, 60), np.float32)[::2]), "cpu")


NAMES = ("tanhf", "cbrtf", "free", "malloc", "memcpy", "printf", "llvm.foo")


def test_kernels_do_not_replace_functions_of_the_c_library() -> None:
    kernels = [
        f"""\
triton_xla.entry_func @"{name}"(%x: memref<8xf32>, %y: memref<8xf32>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %x[0] [8] [1] : memref<8xf32> to tensor<8xf32>
  %a = math.tanh %t : tensor<8xf32>
  %b = math.cbrt %a : tensor<8xf32>
  triton_xla.insert %b into %y[0] [8] [1] : tensor<8xf32> into memref<8xf32>
  triton_xla.return
}}
"""
        for name in NAMES
    ]
    module = "".join(kernels) + "memref.global @memset : memref<4xf32> = dense<1.0>\n"
    x = np.linspace(-2, 2, 8, dtype=np.float32)
    for name in ("tanhf", "llvm.foo"):
        y = np.zeros_like(x)
        kernel = smalti.compile(module, target="cpu", entry=name)
        kernel(x, y)
        np.testing.assert_allclose(y, np.cbrt(np.tanh(x)), rtol=1e-5)
        assert f"@smalti.{name}" in kernel.asm["mlir"]


OUT_OF_BOUNDS = {
    "tensor.extract": "%v = tensor.extract %t[%i] : tensor<8xf32>",
    "memref.load": "%v = memref.load %x[%zero, %i] : memref<?x8xf32>",
    "memref.store": "%v = arith.negf %one : f32 memref.store %v, %x[%zero, %i] : memref<?x8xf32>",
    "memref.atomic_rmw": "%v = memref.atomic_rmw mulf %one, %x[%zero, %i] : (f32, memref<?x8xf32>) -> f32",
}


@pytest.mark.parametrize("op", OUT_OF_BOUNDS)
def test_indices_are_checked(op: str) -> None:
    """On the CPU and in the reference interpreter, also in an array whose size is dynamic."""
    text = f"""\
triton_xla.entry_func @at(%x: memref<?x8xf32>, %n: i64, %tile: index) tiles 1 {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %i = arith.index_cast %n : i64 to index
  %t = triton_xla.extract %x[0, 0] [1, 8] [1, 1] : memref<?x8xf32> to tensor<8xf32>
  {OUT_OF_BOUNDS[op]}
  memref.store %v, %x[%i, %zero] : memref<?x8xf32>
  triton_xla.return
}}
"""
    kernel = smalti.compile(text, target="cpu")
    x = np.zeros((8, 8), np.float32)
    kernel(x, 7)
    with pytest.raises(smalti.LaunchError, match="index 7 of dimension 0 is out of bounds; the size is 3"):
        kernel(np.zeros((3, 8), np.float32), 7)
    module = smalti.parse(text)
    for index in (8, -1):
        found = f"index {index} of dimension . is out of bounds; the size is 8"
        with pytest.raises(smalti.LaunchError, match=found) as error:
            kernel(x, index)
        assert error.value.diagnostics[0].location is not None
        assert error.value.diagnostics[0].location.line == 6
        with pytest.raises(InterpreterError, match=found):
            reference.run(entry.find_entry(module), [x, index])


def test_proven_indices_are_not_checked() -> None:
    text = """\
triton_xla.entry_func @at(%x: memref<4x8xf32>, %tile: index) tiles 4 {
  %low = arith.constant 0 : index
  %high = arith.constant 8 : index
  %step = arith.constant 1 : index
  scf.for %i = %low to %high step %step {
    %v = memref.load %x[%tile, %i] : memref<4x8xf32>
    memref.store %v, %x[%tile, %i] : memref<4x8xf32>
  }
  triton_xla.return
}
"""
    assert "stop_errors" not in smalti.compile(text, target="cpu").asm["mlir"]
    wrong = text.replace("constant 8", "constant 9")
    with pytest.raises(smalti.LaunchError, match="index 8 of dimension 1 is out of bounds; the size is 8"):
        smalti.compile(wrong, target="cpu")(np.zeros((4, 8), np.float32))


@pytest.mark.parametrize("name", ["malloc", "free", "erff", "main", "printf", "memcpy"])
def test_kernels_may_have_the_name_of_a_function_of_the_c_library(name: str) -> None:
    """The code calls `erff` and, for the buffer of the tile, declares `malloc` and `free`."""
    text = f"""\
triton_xla.entry_func @{name}(%x: memref<128xf32>, %y: memref<128xf32>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %x[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %e = math.erf %t : tensor<128xf32>
  triton_xla.print "%e" %e : tensor<128xf32>
  triton_xla.insert %e into %y[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}}
"""
    y = np.zeros(128, np.float32)
    smalti.compile(text, target="cpu")(np.ones(128, np.float32), y)
    np.testing.assert_allclose(y, 0.8427008, rtol=1e-6)


def test_symbols_of_llvm_are_not_global() -> None:
    """Libraries with an LLVM of their own, such as Triton's, would bind to them. The kernel calls functions of MLIR's runtime
    libraries, which depend on LLVM's: it prints and, without AVX512-BF16, converts to bfloat16."""
    script = """\
import ctypes, sys, numpy as np, smalti
kernel = smalti.compile(sys.argv[1], target="cpu")
x, y = np.full(16, 1 + 2**-9), np.zeros(16)
kernel(x, y)
assert (y == 2 + 2**-9).all(), y
print("is global:", hasattr(ctypes.CDLL(None), "LLVMContextCreate"))
"""
    text = """\
triton_xla.entry_func @narrow(%x: memref<16xf64>, %y: memref<16xf64>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [16] [1] : memref<16xf64> to tensor<16xf64>
  triton_xla.print "%t" %t : tensor<16xf64>
  %b = arith.truncf %t : tensor<16xf64> to tensor<16xbf16>
  %h = arith.truncf %t : tensor<16xf64> to tensor<16xf16>
  %c = arith.extf %b : tensor<16xbf16> to tensor<16xf64>
  %d = arith.extf %h : tensor<16xf16> to tensor<16xf64>
  %s = arith.addf %c, %d : tensor<16xf64>
  triton_xla.insert %s into %y[0] [16] [1] : tensor<16xf64> into memref<16xf64>
  triton_xla.return
}
"""
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python_packages"), "SMALTI_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script, text], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "1.00195" in done.stdout and "is global: False" in done.stdout, done.stdout
