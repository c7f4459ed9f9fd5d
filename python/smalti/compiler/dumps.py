# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files with each form of the code of a kernel, numbered in the order of compilation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from .. import files, targets
from ..calling.arguments import Entry
from ..errors import SmaltiError, ToolMissing
from ..launch.kernels import Kernel


class Compilation(Protocol):
    """A compilation in progress."""

    @property
    def target(self) -> targets.Target: ...
    @property
    def entry(self) -> Entry: ...
    @property
    def lowered(self) -> Kernel | None:
        """The kernel after lowering. Later steps may still fail."""
        ...

    def stages(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """The levels of IR before lowering, by name, in order."""
        ...

    def kernel(self) -> Kernel:
        """Compiles the kernel."""
        ...


_LOWERED = {
    "mlir": "lowered.mlir",
    "llvm": "llvm.ll",
    "ptx": "ptx",
    "gcn": "gcn.s",
    "ptxas": "ptxas.txt",
    "sass": "sass",
}
"""The forms after lowering, and the suffixes of their files."""


class _Folder:
    """The folder of one kernel. Files of an earlier compilation are removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("[0-9][0-9]-*"):
                old.unlink()
        except OSError as error:
            raise SmaltiError(f"cannot write to the folder {folder}: {error.strerror}") from None

    def write(self, name: str, data: str | bytes) -> None:
        self._count += 1
        path = self._folder / f"{self._count:02}-{name}"
        files.write(path, data)


def compile_into(folder: Path, compilation: Compilation) -> Kernel:
    """Compiles, and writes all forms to `folder`/KERNEL.TARGET. A failure leaves the forms before it and the error."""
    target = str(compilation.target).replace(":", "-")
    out = _Folder(folder / f"{compilation.entry.name}.{target}")
    for name, make in compilation.stages():
        try:
            text = make()
        except SmaltiError as error:
            out.write(f"{name}.error.txt", f"{error}\n")
            break
        out.write(f"{name}.mlir", text)
    try:
        return compilation.kernel()
    except SmaltiError as error:
        out.write("error.txt", f"{error}\n")
        raise
    finally:
        if compilation.lowered is not None:
            _write_lowered(out, compilation.lowered)


def _write_lowered(out: _Folder, kernel: Kernel) -> None:
    for form, name in _LOWERED.items():
        if form not in kernel.asm:
            continue
        try:
            out.write(f"kernel.{name}" if form in ("ptx", "sass") else name, kernel.asm[form])
        except ToolMissing as error:
            out.write(f"{form}.missing.txt", f"{error}\n")
        except SmaltiError as error:
            out.write(f"{form}.error.txt", f"{error}\n")
    if kernel.binary is not None and kernel.binary_format in ("cubin", "hsaco"):
        out.write(f"kernel.{kernel.binary_format}", kernel.binary)
