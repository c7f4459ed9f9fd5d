# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CUDA driver without a GPU, built with the C compiler: the bytes of a launch."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("stub_driver.c")
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))


def compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def build(folder: Path, *definitions: str, sources: Sequence[Path] = ()) -> Path:
    """The library, as a GPU's driver names its own; `STUB_IS_OLD` has no functions of CUDA 12. `sources` are added."""
    tool = compiler()
    assert tool is not None
    path = folder / "libcuda.so.1"
    words = [
        tool,
        "-shared",
        "-fPIC",
        "-pthread",
        "-O1",
        "-w",
        *(f"-D{name}" for name in definitions),
        # With a name of its own, each stub is a library of its own in the process.
        *(["-Wl,-soname,libcuda.so.1"] if sources else []),
        SOURCE,
        *sources,
        "-o",
        path,
    ]
    subprocess.run(words, check=True)
    return path


@dataclass(frozen=True)
class Launch:
    """One launch of the driver."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    """Zeros if none was requested."""
    shared: int
    stream: int
    parameters: tuple[bytes, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int.from_bytes(parameter, "little") for parameter in self.parameters)


class Stub:
    """The driver, as a test sees it."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.stub_log.restype = ctypes.c_char_p
        self.library.stub_seconds.restype = ctypes.c_double
        self.library.stub_set.argtypes = [ctypes.c_char_p, ctypes.c_long]
        self._callback: Any = None
        self.library.stub_reset()

    def set(self, **facts: int) -> None:
        """`devices`, `major`, `minor`, `shared`, `static_shared`, `memory`, `current`."""
        for name, value in facts.items():
            self.library.stub_set(name.encode(), value)

    def takes(self, *sizes: int) -> None:
        """The bytes of the parameters of the kernel that is launched."""
        self.library.stub_params((ctypes.c_int * len(sizes))(*sizes), len(sizes))

    def fail(self, name: str, status: int, times: int = -1) -> None:
        """A function fails so many times, or from now on."""
        self.library.stub_fail(name.encode(), status, times)

    def on_launch(self, run: Callable[[str, Any], None]) -> None:
        """The effect of a launch, with the name and the addresses of the parameters."""
        self._callback = CALLBACK(lambda name, parameters: run(name.decode(), parameters))
        self.library.stub_on_launch(self._callback)

    @property
    def current(self) -> tuple[int, int]:
        """The current context of CUDA, and the current device of HIP."""
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.library.cuCtxGetCurrent(ctypes.byref(context))
        self.library.hipGetDevice(ctypes.byref(device))
        return context.value or 0, device.value

    @property
    def log(self) -> list[str]:
        return self.library.stub_log().decode().splitlines()

    def named(self, word: str) -> list[str]:
        return [line for line in self.log if line.split()[0] == word]

    @property
    def launches(self) -> list[Launch]:
        return [_launch(line.split()) for line in self.named("launch")]


def _launch(words: Sequence[str]) -> Launch:
    grid, block, cluster = (tuple(map(int, word.split(","))) for word in words[2:5])
    parameters = tuple(bytes.fromhex(word) for word in words[7:])
    return Launch(words[1], grid, block, cluster, int(words[5]), int(words[6]), parameters)
