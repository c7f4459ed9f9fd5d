"""Every form of a kernel's code, in files that are numbered in the order in which they come to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from .. import files, targets
from ..calling.arguments import Entry
from ..errors import SmaltiError, ToolMissing
from ..launch.kernels import Kernel


class Compilation(Protocol):
    """What makes a kernel."""

    @property
    def target(self) -> targets.Target: ...
    @property
    def entry(self) -> Entry: ...
    @property
    def made(self) -> Kernel | None:
        """The kernel, once it was lowered; what comes after that may still fail."""
        ...

    def stages(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """The levels of the program before it is lowered, by name, from the first on."""
        ...

    def kernel(self) -> Kernel:
        """Makes the kernel."""
        ...


_LOWERED = {
    "mlir": "lowered.mlir",
    "llvm": "llvm.ll",
    "ptx": "ptx",
    "gcn": "gcn.s",
    "ptxas": "ptxas.txt",
    "sass": "sass",
}
"""The forms behind the levels of the program, and the ends of their files' names."""


class _Folder:
    """A folder of one kernel's, with what an earlier compilation left in it removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("[0-9][0-9]-*"):
                old.unlink()
        except OSError as error:
            raise SmaltiError(f"cannot dump to {folder}: {error.strerror}") from None

    def write(self, name: str, data: str | bytes) -> None:
        self._count += 1
        path = self._folder / f"{self._count:02}-{name}"
        files.write(path, data)


def compile_into(folder: Path, compilation: Compilation) -> Kernel:
    """Compiles, and writes what there is to `folder`/KERNEL.TARGET, also where it fails on the way."""
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
        if compilation.made is not None:
            _write_lowered(out, compilation.made)


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
