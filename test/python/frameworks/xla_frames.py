# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of handlers as XLA makes them: the structures of xla/ffi/api/c_api.h, and functions that a handler calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smalti.jax import handlers

_P, _I64, _I32, _S = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_size_t
_HEAD: list[tuple[str, Any]] = [("size", _S), ("extensions", _P)]


class Version(ctypes.Structure):
    _fields_ = [*_HEAD, ("major", _I32), ("minor", _I32)]


class CreateError(ctypes.Structure):
    _fields_ = [*_HEAD, ("message", ctypes.c_char_p), ("code", _I32)]


class GetStream(ctypes.Structure):
    _fields_ = [*_HEAD, ("context", _P), ("stream", _P)]


class ScheduleTask(ctypes.Structure):
    _fields_ = [*_HEAD, ("context", _P), ("task", _P), ("data", _P)]


class GetNumThreads(ctypes.Structure):
    _fields_ = [*_HEAD, ("context", _P), ("count", ctypes.POINTER(_I64))]


class Api(ctypes.Structure):
    _fields_ = [
        *_HEAD,
        ("version", Version),
        *(
            (name, _P)
            for name in ("internal", "create_error", "get_error_message", "destroy_error", "register_handler")
        ),
        ("get_stream", _P),
        ("others", _P * 6),
        ("schedule_task", _P),
        ("get_num_threads", _P),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [*_HEAD, ("type", _I32), ("data", _P), ("rank", _I64), ("dims", ctypes.POINTER(_I64))]


class Buffers(ctypes.Structure):
    _fields_ = [*_HEAD, ("count", _I64), ("types", _P), ("buffers", _P)]


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", _S)]


class Array(ctypes.Structure):
    _fields_ = [("type", _I32), ("size", _S), ("data", ctypes.POINTER(_I64))]


class Attributes(ctypes.Structure):
    _fields_ = [*_HEAD, ("count", _I64), ("types", _P), ("names", _P), ("values", _P)]


class CallFrame(ctypes.Structure):
    _fields_ = [
        *_HEAD,
        ("api", _P),
        ("context", _P),
        ("stage", _I32),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    ]


class Metadata(ctypes.Structure):
    _fields_ = [("size", _S), ("version", Version), ("traits", ctypes.c_uint32)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("size", _S), ("type", _I32), ("next", _P), ("metadata", ctypes.POINTER(Metadata))]


@dataclass(frozen=True)
class Stated:
    """The attributes of a call: the key of its kernel, the number of tiles, and numbers."""

    key: str
    numbers: tuple[int, ...]


Memory = tuple[int, tuple[int, ...]]
"""The address and the shape of a buffer."""


class Xla:
    """Calls handlers, and has the functions that they call."""

    def __init__(self, stream: int | None, threads: int | None = None) -> None:
        """With None, XLA does not have a stream or threads."""
        self.stream = stream
        self.threads = threads
        self.errors: list[str] = []
        self.tasks: list[tuple[Any, int]] = []
        """The tasks that a handler scheduled."""
        self.num_destroyed = 0
        address = ctypes.CFUNCTYPE(_P, _P)
        self._functions = {
            name: address(getattr(self, f"_{name}"))
            for name in ("create_error", "destroy_error", "get_stream", "schedule_task", "get_num_threads")
        }
        self._api = Api(**{name: ctypes.cast(function, _P) for name, function in self._functions.items()})

    def _create_error(self, arguments: int) -> int:
        self.errors.append((CreateError.from_address(arguments).message or b"").decode())
        return len(self.errors)

    def _destroy_error(self, arguments: int) -> None:
        self.num_destroyed += 1

    def _get_stream(self, arguments: int) -> int | None:
        if self.stream is None:
            return 1
        GetStream.from_address(arguments).stream = self.stream
        return None

    def _get_num_threads(self, arguments: int) -> int | None:
        if self.threads is None:
            return 1
        GetNumThreads.from_address(arguments).count[0] = self.threads
        return None

    def _schedule_task(self, arguments: int) -> int | None:
        found = ScheduleTask.from_address(arguments)
        assert found.task is not None and found.data is not None
        self.tasks.append((ctypes.CFUNCTYPE(None, _P)(found.task), found.data))
        return None

    def call(self, handler: str, stated: Stated, arguments: Sequence[Memory], results: Sequence[Memory]) -> str | None:
        """Calls a handler of the library. Returns the text of its error, or None."""
        keep: list[Any] = []

        def buffers(arrays: Sequence[Memory]) -> Buffers:
            made = [
                Buffer(ctypes.sizeof(Buffer), None, 11, address, len(shape), (_I64 * max(len(shape), 1))(*shape))
                for address, shape in arrays
            ]
            pointers = (_P * max(len(made), 1))(*map(ctypes.addressof, made))
            keep.extend((made, pointers))
            return Buffers(ctypes.sizeof(Buffers), None, len(made), None, ctypes.addressof(pointers))

        # XLA sorts attributes by their names.
        names: list[Any]
        values: list[Any]
        names, values = (
            [String(text.encode(), len(text)) for text in texts]
            for texts in (("another", handlers.ATTRIBUTE, handlers.NUMBERS), ("value", stated.key))
        )
        size = len(stated.numbers)
        values.append(Array(5, size, (_I64 * size)(*stated.numbers)))
        pointers = [(_P * len(column))(*map(ctypes.addressof, column)) for column in (names, values)]
        types = (_I32 * len(names))(4, 4, 1)
        attributes = Attributes(
            ctypes.sizeof(Attributes), None, len(names), ctypes.addressof(types), *map(ctypes.addressof, pointers)
        )
        frame = CallFrame(
            ctypes.sizeof(CallFrame),
            None,
            ctypes.addressof(self._api),
            None,
            3,
            buffers(arguments),
            buffers(results),
            attributes,
        )
        function = getattr(handlers.library(), handler)
        function.restype, function.argtypes = _P, [_P]
        # The handler runs without the GIL: ctypes releases it, and takes it for the functions above.
        return self.errors[-1] if function(ctypes.addressof(frame)) else None


def metadata(handler: str) -> tuple[int, int, int]:
    """The version and the traits that a handler states."""
    found = Metadata()
    extension = MetadataExtension(ctypes.sizeof(MetadataExtension), 1, None, ctypes.pointer(found))
    frame = CallFrame(size=ctypes.sizeof(CallFrame), extensions=ctypes.addressof(extension))
    function = getattr(handlers.library(), handler)
    function.restype, function.argtypes = _P, [_P]
    assert function(ctypes.addressof(frame)) is None
    return found.version.major, found.version.minor, found.traits
