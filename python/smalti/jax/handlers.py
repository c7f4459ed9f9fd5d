# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of compiled kernels for the library `smalti_xla`, whose handlers XLA calls (python/bindings/XlaHandlers.h)."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..calling import arrays, calls, native
from ..calling.tensor_maps import ADDRESS_ALIGNMENT, L2_PROMOTION, MAX_RANK, TensorMap, check_address
from ..launch import cpu, cuda_driver
from ..launch.cpu import CpuLauncher, descriptor
from ..launch.cuda import CudaLauncher
from ..launch.hip import HipLauncher
from ..launch.kernels import Kernel
from .platforms import PLATFORMS

TARGET = "smalti_kernel"
"""The name of the handlers in programs of XLA."""
ATTRIBUTE = "kernel"
"""The attribute of a call with the key of its kernel."""
NUMBERS = "numbers"
"""The attribute of a call with the number of tiles, and the numbers that the kernel takes."""

_I64, _U64, _I32, _U32 = ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32
_DESCRIBE = ctypes.CFUNCTYPE(None, _I64, ctypes.POINTER(_I64), ctypes.c_void_p, _I64)
_LOAD = ctypes.CFUNCTYPE(_U64, ctypes.c_void_p, _I64)


class Address(ctypes.Structure):
    _fields_ = [("word", _I64), ("buffer", _I64), ("alignment", _I64)]


class Link(ctypes.Structure):
    _fields_ = [("word", _I64), ("target", _I64)]


class Alias(ctypes.Structure):
    _fields_ = [("argument", _I64), ("result", _I64)]


class Map(ctypes.Structure):
    _fields_ = [
        *((name, _I64) for name in ("word", "offset", "least_address")),
        *((name, _I32) for name in ("type", "rank", "interleave", "swizzle", "promotion", "fill")),
        ("sizes", _U64 * MAX_RANK),
        ("strides", _U64 * MAX_RANK),
        ("box", _U32 * MAX_RANK),
        ("element_strides", _U32 * MAX_RANK),
    ]


class Description(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("sizes", ctypes.c_void_p),
        ("num_arguments", _I64),
        ("num_results", _I64),
        *(
            field
            for name in ("aliases", "words", "addresses", "links", "parameters", "numbers")
            for field in ((name, ctypes.c_void_p), (f"num_{name}", _I64))
        ),
        ("describe_error", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("num_threads", _I64),
        ("parallel_seconds", ctypes.c_double),
        ("num_error_values", _I64),
        ("outer_grid", _U32 * 2),
        ("block", _U32 * 3),
        ("cluster", _U32 * 3),
        ("shared", _U32),
        ("maps", ctypes.c_void_p),
        ("num_maps", _I64),
        ("context_of", ctypes.c_void_p),
        ("get_current", ctypes.c_void_p),
        ("set_current", ctypes.c_void_p),
        ("launch", ctypes.c_void_p),
        ("encode", ctypes.c_void_p),
        ("load", ctypes.c_void_p),
    ]

    def set(self, name: str, kind: Any, values: Sequence[Any]) -> None:
        """Sets an array, and its number of values."""
        self.set_array(name, kind, values)
        setattr(self, f"num_{name}", len(values))

    def set_array(self, name: str, kind: Any, values: Sequence[Any]) -> None:
        array = (kind * max(len(values), 1))(*values)
        # The description has addresses only, which the library reads.
        memory: dict[str, Any] = vars(self)
        memory.setdefault("memory", []).append(array)
        setattr(self, name, ctypes.addressof(array))


_kept: dict[str, list[Any]] = {}
"""For each key that the library has, the code and the functions that handlers use. XLA does not state when a program is
deleted."""


@functools.cache
def library() -> Any:
    """The library of the handlers."""
    found = ctypes.CDLL(str(Path(__file__).with_name("smalti_xla.so")))
    found.smalti_xla_add.argtypes = [ctypes.c_char_p, ctypes.POINTER(Description)]
    found.smalti_xla_add.restype = None
    return found


@dataclass(frozen=True)
class Buffers:
    """The arrays of a call of XLA."""

    operands: Sequence[str]
    """The parameters of the kernel that are arguments of the call."""
    results: Sequence[str]
    """Those that are results. A parameter that is both is in the memory of one buffer."""
    sizes: Sequence[int]
    """The number of elements of each argument and result."""

    @property
    def aliases(self) -> dict[int, int]:
        """The arguments that are results too."""
        return {i: self.results.index(name) for i, name in enumerate(self.operands) if name in self.results}

    def index(self, name: str) -> int:
        """The buffer of a parameter."""
        if name in self.results:
            return len(self.operands) + self.results.index(name)
        return self.operands.index(name)


class _Words:
    """The words of a call: descriptors, and the addresses and numbers that each call sets."""

    def __init__(self, kernel: Kernel, given: Sequence[Any], buffers: Buffers, least: int, takes_sizes: bool) -> None:
        layout = calls.ParameterLayout(kernel.arguments, takes_sizes)
        values = [
            0 if isinstance(value, arrays.ArrayView) else calls.scalar(argument, value)
            for argument, value in zip(kernel.arguments, given, strict=True)
        ]
        packed = bytes(layout.pack(layout.expand(values, given)))
        self.words = list(memoryview(packed).cast("Q"))
        self.parameters = list(range(len(self.words)))
        self.addresses: list[Address] = []
        self.links: list[Link] = []
        self.numbers: list[int] = []
        """The words of numbers."""
        self.positions: list[int] = []
        """The first word of each argument."""
        at = 0
        for argument, value in zip(kernel.arguments, given, strict=True):
            self.positions.append(at)
            if isinstance(value, arrays.ArrayView):
                assert argument.name is not None
                buffer, alignment = buffers.index(argument.name), argument.address_alignment(least)
                if takes_sizes:
                    self.addresses.append(Address(at, buffer, alignment))
                else:
                    # The parameter is the address of a descriptor, which begins with the address twice.
                    first = len(self.words)
                    self.words += descriptor(value, argument.packed)
                    self.links.append(Link(at, first))
                    self.addresses += [Address(first + i, buffer, alignment) for i in range(2)]
            else:
                self.numbers.append(at)
            at += argument.num_parameters if takes_sizes else 1
        self.values = [self.words[word] for word in self.numbers]
        for word in self.numbers:
            self.words[word] = 0

    def fill(self, description: Description, buffers: Buffers) -> None:
        aliases = [Alias(*pair) for pair in sorted(buffers.aliases.items())]
        description.set("words", _U64, [word % 2**64 for word in self.words])
        description.set("addresses", Address, self.addresses)
        description.set("links", Link, self.links)
        description.set("parameters", _I64, self.parameters)
        description.set("numbers", _I64, self.numbers)
        description.set("aliases", Alias, aliases)
        description.set_array("sizes", _I64, buffers.sizes)
        description.num_arguments, description.num_results = len(buffers.operands), len(buffers.results)


def _write(text: str, to: int, size: int) -> None:
    # The end of a long text may be within a character.
    data = text.encode()[: size - 1].decode(errors="ignore").encode() + b"\0"
    ctypes.memmove(to, data, len(data))


def _error_writer(error_of: Callable[[int, Any], Exception]) -> Any:
    """A function of the library that writes the text of an error."""

    def describe(status: int, values: Any, text: int, size: int) -> None:
        _write(str(error_of(status, values)), text, size)

    return _DESCRIBE(describe)


def _loader(load: Callable[[], int]) -> Any:
    """A function of the library that loads code, and writes the text of an error."""

    def run(text: int, size: int) -> int:
        try:
            return load()
        except Exception as error:
            _write(str(error) or repr(error), text, size)
            return 0

    return _LOAD(run)


def _describe_host(description: Description, launcher: CpuLauncher) -> tuple[Any, ...]:
    """Returns what must exist as long as the description."""
    code = launcher.code
    description.host = native.address(code.function)
    description.num_threads = calls.num_threads()
    description.parallel_seconds = cpu.PARALLEL_SECONDS
    description.num_error_values = 2 * len(code.errors)

    def error_of(status: int, values: Any) -> Exception:
        return launcher.error(status, values[: 1 + 2 * len(code.errors)])

    describe = _error_writer(error_of)
    description.describe_error = native.address(describe)
    return (describe,)


def _map(described: TensorMap, view: arrays.ArrayView, word: int) -> Map:
    bound = described.bind(view.shape, view.strides)
    check_address(bound, bound.offset)
    sizes, strides = bound.static_layout

    def inner_first(values: Sequence[int], kind: Any) -> Any:
        return (kind * MAX_RANK)(*reversed(values))

    return Map(
        word,
        bound.offset,
        ADDRESS_ALIGNMENT if described.is_dynamic else 0,
        bound.driver_type,
        bound.rank,
        cuda_driver.INTERLEAVE_NONE,
        bound.driver_swizzle,
        L2_PROMOTION,
        bound.driver_fill,
        inner_first(sizes, _U64),
        inner_first(strides[:-1], _U64),
        inner_first(bound.box, _U32),
        inner_first(bound.element_strides, _U32),
    )


def _describe_gpu(
    description: Description, launcher: CudaLauncher | HipLauncher, given: Sequence[Any], words: _Words
) -> tuple[Any, ...]:
    """Returns what must exist as long as the description."""
    kernel, resources = launcher.kernel, launcher.kernel.resources
    assert resources.block is not None
    description.outer_grid = (_U32 * 2)(*kernel.grid_of(given)[1:])
    description.block = (_U32 * 3)(*resources.block)
    description.cluster = (_U32 * 3)(*(resources.cluster or ()))
    maps = [_map(one, given[one.argument], words.positions[one.argument]) for one in kernel.tensor_maps]
    description.set("maps", Map, maps)
    functions = launcher.functions()
    description.shared = functions.shared
    description.context_of = native.address(functions.context_of)
    description.get_current = native.address(functions.get_current)
    description.set_current = native.address(functions.set_current)
    description.launch = native.address(functions.launch)
    description.encode = native.address(functions.encode) if functions.encode else None
    describe, load = _error_writer(lambda status, _: functions.error(status)), _loader(launcher.function)
    description.describe_error, description.load = native.address(describe), native.address(load)
    return describe, load


def add(kernel: Kernel, given: Sequence[Any], buffers: Buffers, identity: str) -> dict[str, Any]:
    """Adds a kernel for calls with arrays of these shapes, and returns the attributes of a call with these arrays and numbers.

    `identity` is equal for kernels with equal code. So is the key, also in other processes, since it is in the key of JAX's
    cache of compiled programs. Kernels are never removed, so that the key does not depend on numbers.
    """
    launcher = kernel.launcher
    is_host = isinstance(launcher, CpuLauncher)
    words = _Words(kernel, given, buffers, 1 if is_host else calls.GPU_ALIGNMENT, takes_sizes=not is_host)
    facts = repr((identity, kernel.target.name, words.words, buffers))
    key = f"{kernel.symbol}-{hashlib.sha256(facts.encode()).hexdigest()[:32]}"
    tiles = kernel.entry.count_tiles(given) if is_host else kernel.grid_of(given)[0]
    attributes = {ATTRIBUTE: key, NUMBERS: np.array([tiles, *words.values], np.uint64).view(np.int64)}
    if key in _kept:
        return attributes
    description = Description(name=f"@{kernel.symbol}".encode())
    words.fill(description, buffers)
    kept = _describe_host(description, launcher) if is_host else _describe_gpu(description, launcher, given, words)
    # The call releases the GIL. If several threads add a kernel, the library has the functions of one of them.
    library().smalti_xla_add(key.encode(), ctypes.byref(description))
    _kept.setdefault(key, []).append((launcher, *kept))
    return attributes


def register(jax: Any) -> None:
    """Registers the handlers with XLA, for all platforms."""
    found = library()

    def capsule(function: Any) -> Any:
        return jax.ffi.pycapsule(native.address(function))

    on_cpu = capsule(found.smalti_xla_run_on_cpu)
    on_gpu: Mapping[str, Any] = {
        "initialize": capsule(found.smalti_xla_prepare_gpu),
        "execute": capsule(found.smalti_xla_run_on_gpu),
    }
    for name, platform in PLATFORMS.items():
        jax.ffi.register_ffi_target(TARGET, on_cpu if name == "cpu" else on_gpu, platform=platform.registered)
