# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The handlers that XLA calls: launches on a GPU with a stub driver, threads on the CPU, and errors. JAX compiles programs
for GPUs without having one; the tests call the handlers as XLA does."""

from __future__ import annotations

import ctypes
import itertools
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.block
import smalti.language as sl
from conftest import ROOT
from smalti.calling import calls as calling
from smalti.calling import tensor_maps
from smalti.jax import handlers
from smalti.launch import cpu, devices
from stub_driver import Stub

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import jax_kernels  # noqa: E402
import torch_programs  # noqa: E402
import xla_frames  # noqa: E402
from xla_frames import Stated, Xla  # noqa: E402

RUN = {"cuda": "smalti_xla_run_on_gpu", "rocm": "smalti_xla_run_on_gpu", "cpu": "smalti_xla_run_on_cpu"}
PREPARE = "smalti_xla_prepare_gpu"
X, Y, Z = 0x10000, 0x20000, 0x30000


@pytest.fixture
def driver(stub_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    stub = Stub(stub_library)
    stub.set(devices=2, major=9, minor=0)
    monkeypatch.setattr(devices, "cuda_library", lambda: stub.library)
    monkeypatch.setattr(devices, "hip_library", lambda: stub.library)
    yield stub
    stub.library.stub_reset()


@pytest.fixture
def size() -> int:
    """A size that no other test uses: the library keeps kernels, and the functions that it found in contexts."""
    return next(SIZES)


SIZES = itertools.count(100)


def calls(function: Any, *arguments: Any, platform: str = "cuda") -> list[Stated]:
    """The calls of kernels in the program of a function."""
    lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=(platform,))
    pattern = r'mhlo\.backend_config = \{kernel = "([^"]+)", numbers = dense<\[?(.*?)\]?> : tensor<(\d+)xi64>\}'
    found: list[Stated] = []
    for key, text, size in re.findall(pattern, lowered.as_text()):
        numbers = tuple(map(int, text.split(",")))
        found.append(Stated(key, numbers * int(size) if len(numbers) == 1 else numbers))
    return found


def arrays(*values: Any) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in values]


# --- The interface of XLA ---


def check_code(tmp_path: Path, *lines: str) -> None:
    """Compiles declarations with XlaHandlers.h and the interface of jaxlib."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    source = tmp_path / "same.cpp"
    head = ['#include "xla/ffi/api/c_api.h"', '#include "XlaHandlers.h"', "using namespace smalti::xla;"]
    source.write_text("\n".join([*head, *lines]))
    folders = [f"-I{jax.ffi.include_dir()}", f"-I{ROOT / 'python' / 'bindings'}"]
    command = [compiler, "-std=c++17", "-fsyntax-only", "-Wno-invalid-offsetof", *folders, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PAIRS = {
    ("XLA_FFI_Extension_Base", "Extension"): {"type": "type", "next": "next"},
    ("XLA_FFI_Api_Version", "Version"): {"major_version": "major", "minor_version": "minor"},
    ("XLA_FFI_Metadata", "Metadata"): {"api_version": "version", "traits": "traits"},
    ("XLA_FFI_Metadata_Extension", "MetadataExtension"): {"metadata": "metadata"},
    ("XLA_FFI_Error_Create_Args", "CreateError"): {"message": "message", "errc": "code"},
    ("XLA_FFI_Error_Destroy_Args", "DestroyError"): {"error": "error"},
    ("XLA_FFI_Stream_Get_Args", "GetStream"): {"ctx": "context", "stream": "stream"},
    ("XLA_FFI_ThreadPool_Schedule_Args", "ScheduleTask"): {"ctx": "context", "task": "task", "data": "data"},
    ("XLA_FFI_ThreadPool_NumThreads_Args", "GetNumThreads"): {"ctx": "context", "num_threads": "count"},
    ("XLA_FFI_Buffer", "Buffer"): {"dtype": "type", "data": "data", "rank": "rank", "dims": "dims"},
    ("XLA_FFI_Args", "Buffers"): {"size": "count", "types": "types", "args": "buffers"},
    ("XLA_FFI_Rets", "Buffers"): {"size": "count", "types": "types", "rets": "buffers"},
    ("XLA_FFI_ByteSpan", "String"): {"ptr": "data", "len": "size"},
    ("XLA_FFI_Array", "Array"): {"dtype": "type", "size": "size", "data": "data"},
    ("XLA_FFI_Attrs", "Attributes"): {"size": "count", "types": "types", "names": "names", "attrs": "values"},
    ("XLA_FFI_CallFrame", "CallFrame"): {
        "api": "api",
        "ctx": "context",
        "stage": "stage",
        "args": "arguments",
        "rets": "results",
        "attrs": "attributes",
    },
    ("XLA_FFI_Api", "Api"): {
        "api_version": "version",
        "XLA_FFI_Error_Create": "createError",
        "XLA_FFI_Error_Destroy": "destroyError",
        "XLA_FFI_Stream_Get": "getStream",
        "XLA_FFI_ThreadPool_Schedule": "scheduleTask",
        "XLA_FFI_ThreadPool_NumThreads": "getNumThreads",
    },
}
"""The fields of structures of jaxlib, and of ours."""


def test_structures_are_those_of_jaxlib(tmp_path: Path) -> None:
    lines: list[str] = []
    for (theirs, ours), fields in PAIRS.items():
        for one, other in fields.items():
            lines.append(f"static_assert(offsetof({theirs}, {one}) == offsetof({ours}, {other}));")
            lines.append(f"static_assert(sizeof({theirs}::{one}) == sizeof({ours}::{other}));")
    for code in ("InvalidArgument", "NotFound", "FailedPrecondition", "Internal"):
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code).upper()
        lines.append(f"static_assert(XLA_FFI_Error_Code_{name} == int(ErrorCode::{code}));")
    lines += [
        "static_assert(XLA_FFI_API_MAJOR == majorVersion && XLA_FFI_API_MINOR == minorVersion);",
        "static_assert(XLA_FFI_Extension_Metadata == metadataExtension);",
        "static_assert(XLA_FFI_AttrType_STRING == stringAttribute && XLA_FFI_AttrType_ARRAY == arrayAttribute);",
        "static_assert(XLA_FFI_DataType_S64 == int64Type);",
        "static_assert(XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE == isCommandBufferCompatible);",
    ]
    check_code(tmp_path, *lines)


def layout(name: str, structure: Any, fields: Mapping[str, str]) -> list[str]:
    """Assertions that fields of a structure of C++ have the layout of those of ctypes. `fields` has the names in C++."""
    lines: list[str] = []
    for field, other in fields.items():
        one = getattr(structure, field)
        lines.append(f"static_assert(offsetof({name}, {other}) == {one.offset});")
        lines.append(f"static_assert(sizeof({name}::{other}) == {one.size});")
    return lines


def test_descriptions_have_the_layout_of_the_library(tmp_path: Path) -> None:
    lines = [f"static_assert(smalti::launch::mapBytes == {tensor_maps.BYTES});"]
    for name, structure in (
        ("Description", handlers.Description),
        ("TensorMap", handlers.Map),
        ("Address", handlers.Address),
        ("Link", handlers.Link),
        ("Alias", handlers.Alias),
    ):
        names = [field[0] for field in structure._fields_]
        lines += layout(name, structure, {n: re.sub(r"_([a-z])", lambda m: m[1].upper(), n) for n in names})
        lines.append(f"static_assert(sizeof({name}) == {ctypes.sizeof(structure)});")
    check_code(tmp_path, *lines)


def test_frames_of_the_tests_are_those_of_jaxlib(tmp_path: Path) -> None:
    """The tests below call handlers as XLA does."""
    lines: list[str] = []
    for (theirs, ours), fields in PAIRS.items():
        if ours not in ("Extension", "DestroyError"):
            names = {re.sub(r"(?=[A-Z])", "_", other).lower(): one for one, other in fields.items()}
            lines += layout(theirs, getattr(xla_frames, ours), names)
    check_code(tmp_path, *lines)


def test_metadata() -> None:
    assert xla_frames.metadata(RUN["cpu"]) == (0, 3, 0)
    # CUDA graphs of XLA may have the launch.
    assert xla_frames.metadata(RUN["cuda"]) == xla_frames.metadata(PREPARE) == (0, 3, 1)


def test_the_library_does_not_use_python() -> None:
    path = Path(handlers.library()._name)
    assert b"Py_" not in path.read_bytes() and b"PyGILState" not in path.read_bytes()


# --- GPUs ---


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
def test_a_launch_on_the_stream_of_xla(driver: Stub, size: int, platform: str) -> None:
    driver.set(devices=3)
    function = jax_kernels.functions("sm_90a" if platform == "cuda" else "gfx942").multiply_add
    (call,) = calls(lambda x, y: function(x, y, 0.5), *arrays((size,), (size,)), platform=platform)
    driver.takes(8, 8, 8, 8, 4, 8, 8, 8)
    # The context (CUDA) or the device (HIP) of a stream is its number divided by 1000, and is not the current one.
    for stream in (101005, 102006) if platform == "cuda" else (1005, 2006):
        given = (call, [(X, (size,)), (Y, (size,))], [(Z, (size,))])
        loads = len(driver.named("load"))
        assert Xla(stream).call(PREPARE, *given) is None
        assert len(driver.named("load")) == loads + 1 and not driver.launches[loads:]
        assert Xla(stream).call(RUN[platform], *given) is None
        assert len(driver.named("load")) == loads + 1
        # The launch of the stub changes its context if HIP launches.
        assert driver.current == (0 if platform == "cuda" else driver.current[0], 0)
        launch = driver.launches[-1]
        assert (launch.stream, launch.grid) == (stream, (-(-size // 32), 1, 1))
        half = int(np.float32(0.5).view(np.uint32))
        assert launch.numbers == (X, size, Y, size, half, Z, size, -(-size // 32))


@pytest.mark.parametrize(
    "kernel",
    [lambda: torch_programs.compiled("sm_90a"), lambda: smalti.specialize(torch_programs.SCALED, "sm_90a")],
    ids=["compiled", "specialized"],
)
def test_a_launch_of_a_compiled_kernel(driver: Stub, size: int, kernel: Callable[[], Any]) -> None:
    scaled = smalti.jax.ffi_call(kernel(), outputs={"dst": "src"})
    (call,) = calls(lambda x: scaled(x, 0.5), *arrays((size, 60)))
    driver.takes(8, 8, 4, 8, 8)
    assert Xla(7).call(RUN["cuda"], call, [(X, (size, 60))], [(Z, (size, 60))]) is None
    (launch,) = driver.launches
    half = int(np.float32(0.5).view(np.uint32))
    assert (launch.stream, launch.grid, launch.numbers[:5]) == (7, (4, 1, 1), (X, size, half, Z, size))


def test_numbers_are_in_the_call(driver: Stub, size: int) -> None:
    """Kernels stay in memory, and calls with other numbers do not add kernels."""
    function = jax_kernels.functions("sm_90a").multiply_add
    described = arrays((size,), (size,))
    before = len(handlers._kept)
    driver.takes(8, 8, 8, 8, 4, 8, 8, 8)
    for number in (0.5, -2.5, 0.0, -0.0):
        (call,) = calls(lambda x, y, number=number: function(x, y, number), *described)
        assert Xla(7).call(RUN["cuda"], call, [(X, (size,)), (Y, (size,))], [(Z, (size,))]) is None
        assert driver.launches[-1].numbers[4] == int(np.float32(number).view(np.uint32))
    assert len(handlers._kept) == before + 1
    error = Xla(7).call(RUN["cuda"], Stated(call.key, (1,)), [(X, (size,)), (Y, (size,))], [(Z, (size,))])
    assert error == "@multiply_add takes 2 numbers after the number of tiles; the call has others"


def test_a_grid_that_depends_on_a_number(driver: Stub, size: int) -> None:
    @smalti.kernel(grid=lambda n: n, target="sm_90a")
    def first(n: int, y: sl.Array):
        y[sl.tile_id()] = 1.0

    function = smalti.jax.ffi_call(first, outputs={"y": lambda: jax.ShapeDtypeStruct((size,), jnp.float32)})
    driver.takes(8, 8, 8, 8)
    for n in (3, 5, 0):
        (call,) = calls(lambda n=n: function(n))
        assert Xla(7).call(RUN["cuda"], call, [], [(X, (size,))]) is None
    assert [launch.grid for launch in driver.launches] == [(3, 1, 1), (5, 1, 1)]


def test_a_key_is_known_after_the_library_has_the_kernel(
    driver: Stub, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread that finds the key runs the kernel."""
    function = jax_kernels.functions("sm_90a").scale
    described, library = arrays((size,)), handlers.library()
    driver.takes(8, 8)
    errors: list[str | None] = []

    with monkeypatch.context() as patch:

        class Slow:
            def __getattr__(self, name: str) -> Any:
                return getattr(library, name)

            def smalti_xla_add(self, *given: Any) -> None:
                patch.undo()
                (call,) = calls(lambda x: function(x, 3.0), *described)
                errors.append(Xla(7).call(RUN["cuda"], call, [(X, (size,))], [(X, (size,))]))
                library.smalti_xla_add(*given)

        patch.setattr(handlers, "library", Slow)
        calls(lambda x: function(x, 2.0), *described)
    assert errors == [None]


def test_parameters_of_a_launch(driver: Stub, size: int) -> None:
    """Addresses of the buffers, then sizes, numbers, and the numbers of tiles, as in a launch by the kernel."""
    kernel = torch_programs.multiply_add.on("sm_90a")
    function = smalti.jax.ffi_call(kernel, outputs={"out": "x"})
    (call,) = calls(lambda x, y: function(x, y, 0.5), *arrays((size,), (size,)))
    driver.takes(8, 8, 8, 8, 4, 8, 8, 8)
    assert Xla(7).call(RUN["cuda"], call, [(X, (size,)), (Y, (size,))], [(Z, (size,))]) is None
    described = smalti.ShapeDtypeStruct((size,), np.float32)
    compiled = kernel.compile(described, described, 0.5, described)
    views = [devices_view(pointer, (size,)) for pointer in (X, Y, Z)]
    compiled(views[0], views[1], 0.5, views[2], -(-size // 32), stream=7)
    one, other = driver.launches
    assert one == other and one.numbers[0] == X


def devices_view(pointer: int, shape: tuple[int, ...]) -> Any:
    from smalti.calling import arrays as views

    return views.ArrayView(pointer, shape, views.row_major(shape), "float32", views.CUDA)


def test_vmap_is_one_launch(driver: Stub) -> None:
    function = jax_kernels.functions("sm_90a").rows_plus
    (call,) = calls(jax.vmap(function, (0, None)), *arrays((3, 5, 70), (70,)))
    driver.takes(*[8] * 12)
    assert Xla(7).call(RUN["cuda"], call, [(X, (3, 5, 70)), (Y, (70,))], [(Z, (3, 5, 70))]) is None
    (launch,) = driver.launches
    assert launch.grid == (15, 1, 1)


def test_changed_arrays_have_one_address(driver: Stub, size: int) -> None:
    function = jax_kernels.functions("sm_90a").scale
    (call,) = calls(lambda x: function(x, 2.0), *arrays((size,)))
    driver.takes(8, 8)
    assert Xla(7).call(RUN["cuda"], call, [(X, (size,))], [(X, (size,))]) is None
    assert driver.launches[0].numbers[0] == X
    error = Xla(7).call(RUN["cuda"], call, [(X, (size,))], [(Y, (size,))])
    assert error == "@scale: argument 0 and result 0 must be in the same memory"


def test_tensor_maps(driver: Stub) -> None:
    """A kernel with TMA copies takes maps that the driver encodes for the addresses of the call."""

    @smalti.kernel(grid=lambda c: (sl.cdiv(c.shape[0], 64), sl.cdiv(c.shape[1], 64)), target="sm_90a")
    def matmul(a: sl.Array, b: sl.Array, c: sl.Array):
        i, j = sl.tile_id(0) * 64, sl.tile_id(1) * 64
        acc = sl.zeros((64, 64))
        for k in range(0, a.shape[1], 64):
            acc += a[i : i + 64, k : k + 64] @ b[k : k + 64, j : j + 64]
        c[i : i + 64, j : j + 64] = acc

    def output(a: jax.Array, b: jax.Array) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), jnp.float32)

    function = smalti.jax.ffi_call(matmul, outputs={"c": output})
    operands = [jax.ShapeDtypeStruct((128, 128), jnp.float16)] * 2
    (call,) = calls(function, *operands)
    described = smalti.ShapeDtypeStruct((128, 128), np.float16)
    compiled = matmul.compile(described, described, smalti.ShapeDtypeStruct((128, 128), np.float32))
    maps = compiled.tensor_maps
    assert {one.argument for one in maps} == {0, 1, 2}
    driver.takes(
        *[8] * sum(argument.num_parameters for argument in compiled.arguments), *[tensor_maps.BYTES] * len(maps)
    )
    assert Xla(7).call(RUN["cuda"], call, [(X, (128, 128)), (Y, (128, 128))], [(Z, (128, 128))]) is None
    wanted = [tensor_maps.encode(one.bind((128, 128), (128, 1)), (X, Y, Z)[one.argument]) for one in maps]
    assert list(driver.launches[0].parameters[-len(maps) :]) == wanted
    driver.fail("cuTensorMapEncodeTiled", 1)
    error = Xla(7).call(RUN["cuda"], call, [(X, (128, 128)), (Y, (128, 128))], [(Z, (128, 128))])
    assert error is not None and "launching @matmul" in error


def test_a_block_level_kernel(driver: Stub) -> None:
    @smalti.kernel(level="block", grid=lambda x: x.shape[0], target="sm_90a", num_warps=1)
    def twice(x: sl.Array, y: sl.Array):
        row = sl.tile_id()
        y[row, 0:128] = 2 * x[row, 0:128]

    function = smalti.jax.ffi_call(twice, outputs={"y": "x"})
    (call,) = calls(function, *arrays((5, 128)))
    driver.takes(8, 8)
    assert Xla(7).call(RUN["cuda"], call, [(X, (5, 128))], [(Z, (5, 128))]) is None
    (launch,) = driver.launches
    assert (launch.grid, launch.block, launch.numbers) == ((5, 1, 1), (32, 1, 1), (X, Z))
    # It runs once for each element of a batch.
    lowered = jax.jit(jax.vmap(function)).trace(*arrays((3, 5, 128))).lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.while" in lowered and lowered.count("custom_call @smalti_kernel(") == 1


def test_errors_of_a_launch(driver: Stub, size: int) -> None:
    function = jax_kernels.functions("sm_90a").scale
    (call,) = calls(lambda x: function(x, 2.0), *arrays((size,)))
    driver.takes(8, 8)
    given = (RUN["cuda"], call)
    error = Xla(7).call(*given, [(X, (size,))], [])
    assert error == "@scale has 1 arguments and 1 results; the call has 1 and 0"
    error = Xla(7).call(*given, [(X, (2, size))], [(X, (2, size))])
    assert error == f"@scale: buffer 0 has {2 * size} elements; the kernel was compiled for {size}"
    error = Xla(7).call(*given, [(X + 4, (size,))], [(X + 4, (size,))])
    assert error == "@scale: the address of buffer 1 is not a multiple of 16 B"
    assert Xla(None).call(*given, [(X, (size,))], [(X, (size,))]) == "@scale: XLA does not have a stream for the call"
    # Before the run, XLA may not have a stream.
    assert Xla(None).call(PREPARE, call, [], []) is None
    error = Xla(7).call(RUN["cpu"], call, [(X, (size,))], [(X, (size,))])
    assert error == "@scale is a kernel for a GPU, but XLA calls it on the CPU"
    error = Xla(7).call(RUN["cuda"], Stated("scale-0123", call.numbers), [(X, (size,))], [(X, (size,))])
    assert error is not None and error.startswith("the kernel scale-0123 is not in this process; a loaded program")
    # No other test uses this context, which therefore does not have the code.
    driver.set(devices=10)
    stream = 109001
    driver.fail("cuModuleLoadDataEx", 209, 1)
    error = Xla(stream).call(*given, [(X, (size,))], [(X, (size,))])
    assert error is not None and "loading the code of @scale" in error
    driver.fail("cuLaunchKernel", 701, 1)
    error = Xla(stream).call(*given, [(X, (size,))], [(X, (size,))])
    assert error is not None and "launching @scale" in error
    assert Xla(stream).call(*given, [(X, (size,))], [(X, (size,))]) is None


def test_a_machine_without_the_gpu(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(devices, "cuda_library", lambda: None)
    monkeypatch.setattr(devices, "gpus", list)
    function = jax_kernels.functions().scale
    with pytest.raises(
        smalti.LaunchError, match=r"platform cuda of JAX, but this machine .* the target is cpu"
    ) as found:
        calls(lambda x: function(x, 2.0), *arrays((size,)))
    assert "state the chip: scale.on('sm_90a')" in str(found.value)


# --- The CPU ---


def test_threads_of_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that start late do not do anything, and without threads the calling thread runs all tiles."""
    monkeypatch.setattr(calling, "num_threads", lambda: 3)
    monkeypatch.setattr(cpu, "PARALLEL_SECONDS", 0.0)
    function = jax_kernels.functions().multiply_add
    size = (1 << 20) + 32  # No other test uses this size, whose kernel has the settings above.
    (call,) = calls(lambda x, y: function(x, y, 0.5), *arrays((size,), (size,)), platform="cpu")
    x, y = np.random.default_rng(0).standard_normal((2, size)).astype(np.float32)
    wanted = x * y + np.float32(0.5)

    def run(xla: Xla) -> None:
        z = np.zeros(size, np.float32)
        given = [(array.ctypes.data, array.shape) for array in (x, y)]
        assert xla.call(RUN["cpu"], call, given, [(z.ctypes.data, z.shape)]) is None
        np.testing.assert_allclose(z, wanted, rtol=1e-6, atol=1e-6)

    without, late = Xla(None, None), Xla(None, 3)
    run(without)
    assert not without.tasks
    run(late)
    assert len(late.tasks) == 2
    for task, data in late.tasks:
        task(data)

    class Concurrent(Xla):
        def _schedule_task(self, arguments: int) -> int | None:
            super()._schedule_task(arguments)
            task, data = self.tasks[-1]
            threading.Thread(target=task, args=(data,)).start()
            return None

    for _ in range(5):
        concurrent = Concurrent(None, 3)
        run(concurrent)
        assert len(concurrent.tasks) == 2
    # XLA has fewer threads than the kernel may use.
    few = Xla(None, 1)
    run(few)
    assert len(few.tasks) == 1
    for task, data in few.tasks:
        task(data)


def test_addresses_on_the_cpu() -> None:
    function = jax_kernels.functions().scale
    (call,) = calls(lambda x: function(x, 2.0), *arrays((100,)), platform="cpu")
    memory = ctypes.create_string_buffer(1024)
    at = ctypes.addressof(memory) | 15
    error = Xla(None).call(RUN["cpu"], call, [(at + 2, (100,))], [(at + 2, (100,))])
    assert error == "@scale: the address of buffer 1 is not a multiple of 4 B"
