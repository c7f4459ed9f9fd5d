"""From a chip's code to a library that the emulator loads, kept between runs by its content."""

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

from .. import files, targets, toolchain
from .._mlir_libs import _smalti
from ..codegen import codegen_worker
from ..diagnostics import Diagnostic
from ..errors import CompileError
from . import disk_cache, findings
from .options import Sanitizer

_CACHE_BYTES = 1 << 30


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, as the code declares it."""

    name: str
    type: str
    """As LLVM writes it: `ptr`, `i32`, `half`."""
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
    """The size of its blocks, where the code requires one."""
    most_threads: int | None
    """The threads that a block has at most, where the code says so."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """The blocks that run together."""


class Library:
    """A kernel library in memory, which the emulator opens by its path."""

    def __init__(self, code: bytes, description: Mapping[str, Any]) -> None:
        self.kernels = {kernel.name: kernel for kernel in map(_kernel, description["kernels"])}
        self.vendor: str = description["vendor"]
        """Whose code it was."""
        self.shared_bytes: int = description["shared_bytes"]
        """Shared memory that the code declares itself."""
        self.descriptor = os.memfd_create("smalti-kernels")
        with open(self.descriptor, "wb", closefd=False) as stream:
            stream.write(code)

    @property
    def path(self) -> str:
        """Where other processes find it."""
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


def cache_folder() -> Path:
    """Where libraries are cached."""
    return files.cache_folder("emulator")


def _from_cache(key: str) -> tuple[dict[str, Any], bytes] | None:
    cache = disk_cache.open_cache(cache_folder(), _CACHE_BYTES)
    entry = cache.get(key) if cache else None
    if entry is None:
        return None
    header, _, code = entry.partition(b"\n")
    return json.loads(header), code


def _to_cache(key: str, description: Mapping[str, Any], code: bytes) -> None:
    if cache := disk_cache.open_cache(cache_folder(), _CACHE_BYTES):
        cache.set(key, json.dumps(description).encode() + b"\n" + code)


def _digest(*parts: bytes) -> str:
    result = hashlib.sha256()
    for part in parts:
        result.update(len(part).to_bytes(8, "little") + part)
    return result.hexdigest()


@functools.cache
def _file_digest(path: Path) -> str:
    return _digest(path.read_bytes())


def _rewriter() -> Path:
    """The library that makes host code of device code."""
    return Path(__file__).parent.parent / "_mlir_libs" / "libSmaltiCAPI.so"


# ---------------------------------------------------------------------------------------------------------------------
# Making one
# ---------------------------------------------------------------------------------------------------------------------


def build(
    ir: bytes,
    target: targets.Chip,
    sanitize: Sanitizer | None,
    what: str,
    source: str | None = None,
    file: str = "-",
) -> Library:
    """The library of a chip's code: LLVM IR as text or as bitcode.

    `what` is what errors call it, `source` the text that they show lines of, where it is no file, `file` the one that a
    text was in.
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
        _smalti.host_processor().encode(),
    )
    if kept := _from_cache(key):
        return Library(kept[1], kept[0])
    code, description = _rewrite(ir, target, sanitize, what, source, file)
    _require_instructions(description, target, what, source)
    linked = _link(code, what)
    _to_cache(key, description, linked)
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
        reason, diagnostics = "it took too long and was ended", []
    except codegen_worker.WorkerRefused as refused:
        reason, diagnostics = str(refused), [findings.refusal(item) for item in refused.diagnostics]
    message = f"{what} could not be made code of this machine for {target}"
    raise CompileError(message if diagnostics else f"{message}: {reason}", diagnostics=diagnostics, source=source)


def _libraries(ir: bytes, target: targets.Chip) -> list[str]:
    """The files with mathematical functions, where the code names such."""
    if not any(prefix in ir for prefix in (b"__nv_", b"__ocml_", b"__ockl_")):
        return []
    return [str(path) for path in toolchain.device_libraries(target.vendor, target.wave_size)]


def _require_instructions(description: Mapping[str, Any], target: targets.Chip, what: str, source: str | None) -> None:
    """Raises if the code has instructions that the emulator does not know, with the first location of each."""
    used = {item["name"]: item.get("location") for item in description["instructions"]}
    # All executables have the same instructions, and those with a sanitizer take longer to start.
    if missing := _missing(toolchain.require_emulator().path, frozenset(used)):
        raise CompileError(
            f"{what} has instructions of {target.chip} that are not emulated",
            diagnostics=[Diagnostic("error", name, findings.source_location(used[name])) for name in missing],
            source=source,
            hint="docs/emulation.md says how to add one",
        )


@functools.lru_cache(maxsize=64)
def _missing(executable: Path, names: frozenset[str]) -> list[str]:
    """Which of these instructions the emulator does not know: its process is asked once for kernels of a kind."""
    if not names:
        return []
    done = subprocess.run([executable, "--missing", *sorted(names)], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


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
            reason = done.stderr.strip() or f"exit code {done.returncode}"
            if done.returncode == 0 and output.is_file():
                return output.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
        raise CompileError(
            f"linking {what} for the emulator with {tool.path} failed: {reason}", hint="SMALTI_LD names another linker"
        )
