# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frames of the pipes between a process and its child that generates code.

A frame is a length (4 bytes, little endian), a JSON header, and as many bytes as its `payload` states.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import IO, Any

_LENGTH = struct.Struct("<I")


class WorkerTimeout(Exception):
    """The child process exceeded the time limit and was killed."""


def write(stream: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    encoded = json.dumps({**header, "payload": len(payload)}).encode()
    stream.write(_LENGTH.pack(len(encoded)) + encoded + payload)
    stream.flush()


def _read_exactly(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise WorkerTimeout
        part = os.read(descriptor, min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def read(descriptor: int, deadline: float | None = None) -> tuple[dict[str, Any], bytes]:
    (length,) = _LENGTH.unpack(_read_exactly(descriptor, _LENGTH.size, deadline))
    header = json.loads(_read_exactly(descriptor, length, deadline))
    return header, _read_exactly(descriptor, header["payload"], deadline)
