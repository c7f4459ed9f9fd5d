# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of device code to kernel libraries, with a cache."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import targets, toolchain
from ..cache import disk_cache
from ..cache.processor import host_processor
from ..codegen import codegen_worker
from ..diagnostics import Diagnostic, without_warnings
from ..errors import CompileError
from . import findings
from .options import Sanitizer


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, as the code declares it."""

    name: str
    type: str
    """The LLVM type: `ptr`, `i32`, `half`."""
    bytes: int
    is_pointer: bool

    def __str__(self) -> str:
        return f"{self.type} %{self.name}" if self.name else self.type


@dataclass(frozen=True)
class KernelFacts:
    """A kernel of a library."""

    name: str
    parameters: tuple[Parameter, ...]
    block: tuple[int, int, int] | None
    """The block size that the code requires, or None."""
    most_threads: int | None
    """The maximum number of threads of a block that the code declares, or None."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """The size of a cluster, in blocks."""


_OUTPUT = ("vprintf", "__ockl_printf_begin")
"""The ends of the names of functions that print."""


class Library:
    """A kernel library in memory, which the emulator opens by path."""

    def __init__(self, code: bytes, description: Mapping[str, Any]) -> None:
        self.kernels = {kernel.name: kernel for kernel in map(_kernel, description["kernels"])}
        self.vendor: str = description["vendor"]
        """The vendor of the device code."""
        self.shared_bytes: int = description["shared_bytes"]
        """Static shared memory of the code, in bytes."""
        self.prints = any(item["name"].endswith(_OUTPUT) for item in description["instructions"])
        """Whether a kernel prints."""
        self.descriptor = os.memfd_create("smalti-kernels")
        with open(self.descriptor, "wb", closefd=False) as stream:
            stream.write(code)

    @property
    def path(self) -> str:
        """The path for other processes."""
        return f"/proc/{os.getpid()}/fd/{self.descriptor}"

    def __del__(self) -> None:
        descriptor = getattr(self, "descriptor", None)
        if descriptor is not None:
            os.close(descriptor)


def _kernel(item: Mapping[str, Any]) -> KernelFacts:
    block, cluster = item["block"], item["cluster"] or (1, 1, 1)
    return KernelFacts(
        item["name"],
        tuple(Parameter(p["name"], p["type"], p["bytes"], p["pointer"]) for p in item["parameters"]),
        (block[0], block[1], block[2]) if block else None,
        item["most_threads"],
        (cluster[0], cluster[1], cluster[2]),
    )


# ---------------------------------------------------------------------------------------------------------------------
# The cache
# ---------------------------------------------------------------------------------------------------------------------


_FOLDER = "emulator"


def _from_cache(key: str) -> tuple[dict[str, Any], bytes] | None:
    cache = disk_cache.opened(_FOLDER)
    entry = cache.get(key) if cache else None
    if entry is None:
        return None
    header, _, code = entry.partition(b"\n")
    return json.loads(header), code


def _to_cache(key: str, description: Mapping[str, Any], code: bytes, target: str) -> None:
    if cache := disk_cache.opened(_FOLDER):
        names = ", ".join(f"@{item['name']}" for item in description["kernels"])
        cache.set(key, json.dumps(description).encode() + b"\n" + code, names, target)


def _digest(*parts: bytes) -> str:
    result = hashlib.sha256()
    for part in parts:
        result.update(len(part).to_bytes(8, "little") + part)
    return result.hexdigest()


@functools.cache
def _file_digest(path: Path) -> str:
    return _digest(path.read_bytes())


def _rewriter() -> Path:
    """The library that translates device code to host code."""
    return Path(__file__).parent.parent / "_mlir_libs" / "libSmaltiCAPI.so"


# ---------------------------------------------------------------------------------------------------------------------
# Translation
# ---------------------------------------------------------------------------------------------------------------------


def build(
    ir: bytes,
    target: targets.Chip,
    sanitize: Sanitizer | None,
    what: str,
    source: str | None = None,
    file: str = "-",
) -> Library:
    """Builds the library of device code: LLVM IR as text or as bitcode.

    `what` is its name in errors. `source` is the text whose lines errors show if it is not a file, and `file` the file of a
    text.
    """
    executable = toolchain.require_emulator(sanitize).path
    key = _digest(
        ir,
        file.encode(),
        target.chip.encode(),
        (sanitize or "").encode(),
        _file_digest(executable).encode(),
        _file_digest(_rewriter()).encode(),
        # Another machine may share the cache.
        host_processor().encode(),
    )
    if kept := _from_cache(key):
        return Library(kept[1], kept[0])
    code, description = _rewrite(ir, target, sanitize, what, source, file)
    _require_instructions(description, target, what, source)
    linked = _link(code, what)
    _to_cache(key, description, linked, f"{targets.EMULATED}{target.chip}")
    return Library(linked, description)


def _rewrite(
    ir: bytes, target: targets.Chip, sanitize: Sanitizer | None, what: str, source: str | None, file: str
) -> tuple[bytes, dict[str, Any]]:
    try:
        libraries = _libraries(ir, target)
        return codegen_worker.worker.rewrite(ir, chip=target.chip, name=file, sanitize=sanitize, libraries=libraries)
    except codegen_worker.WorkerDied as died:
        reason, diagnostics = died.reason, []
    except codegen_worker.WorkerTimeout:
        reason, diagnostics = "the translation exceeded its time limit; set SMALTI_CODEGEN_TIMEOUT to more seconds", []
    except codegen_worker.WorkerRefused as refused:
        reason, diagnostics = str(refused), [findings.refusal(item) for item in refused.diagnostics]
    message = f"the emulator cannot translate {what} for {target} to code of this machine"
    raise CompileError(message if diagnostics else f"{message}: {reason}", diagnostics=diagnostics, source=source)


def _libraries(ir: bytes, target: targets.Chip) -> list[str]:
    """The files with mathematical functions, if the code calls them."""
    if not any(prefix in ir for prefix in (b"__nv_", b"__ocml_", b"__ockl_")):
        return []
    return [str(path) for path in toolchain.device_libraries(target.vendor, target.wave_size)]


def _require_instructions(description: Mapping[str, Any], target: targets.Chip, what: str, source: str | None) -> None:
    """Raises an error for instructions that are not emulated, with the first location of each."""
    used = {item["name"]: item.get("location") for item in description["instructions"]}
    # All executables have the same instructions; those with a sanitizer take longer to start.
    if missing := _missing(toolchain.require_emulator().path, frozenset(used)):
        unchecked = (
            "the emulator does not check whether an instruction of assembly exists; if it exists, "
            if any(name.startswith("asm:") for name in missing)
            else ""
        )
        raise CompileError(
            f"{what} uses instructions of {target.chip} that are not emulated",
            diagnostics=[
                Diagnostic(
                    "error",
                    f"the instruction '{name}' of {target.chip} is not emulated",
                    findings.source_location(used[name]),
                )
                for name in missing
            ],
            source=source,
            hint=f"{unchecked}run the kernel on a GPU; sim:CHIP and interpret=True run the reference= of assembly; emulator/README.md "
            "describes how to add an instruction",
        )


@functools.lru_cache(maxsize=64)
def _missing(executable: Path, names: frozenset[str]) -> list[str]:
    """The instructions that are not emulated. The result is cached, because a query starts a process."""
    if not names:
        return []

    def printed(*queried: str) -> str:
        return subprocess.run([executable, "--missing", *queried], capture_output=True, text=True, check=True).stdout

    # The output has a name in each line, but the name of several instructions of assembly has several lines.
    long = sorted(name for name in names if "\n" in name)
    short = sorted(names.difference(long))
    return [*(printed(*short).split("\n")[:-1] if short else ()), *(name for name in long if printed(name))]


def _link(code: bytes, what: str) -> bytes:
    tool = toolchain.require(
        toolchain.find_host_linker(), "ld or ld.lld", "running kernels on an emulated GPU", toolchain.LLD_HINT
    )
    with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
        source, output = Path(folder) / "kernels.o", Path(folder) / "kernels.so"
        source.write_bytes(code)
        command = [tool.path, "-shared", "-z", "now", source, "-o", output]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            reason = without_warnings(done.stderr) or f"exit code {done.returncode}"
            if done.returncode == 0 and output.is_file():
                return output.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
        raise CompileError(
            f"linking {what} for the emulator with {tool.path} failed: {reason}",
            hint="set SMALTI_LD to use another linker",
        )
