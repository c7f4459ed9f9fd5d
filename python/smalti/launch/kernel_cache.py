# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels in the cache on disk.

A kernel has one entry for its signature (its arguments and its grid), and one for each target, options and facts of its
arguments, with the code. Keys have the fingerprint of the source, and the versions of all that compiles it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import targets, toolchain
from ..cache import disk_cache
from ..cache.processor import host_processor
from ..calling.arguments import Entry
from ..emulator.options import Emulation
from ..errors import KernelFileError, ToolMissing
from ..remarks import Remark
from . import archive
from .compiled import Assembly, Resources
from .host_code import HostCode, errors_from_json, errors_to_json, location_from_json
from .kernels import Kernel

_FOLDER = "kernels"
_VERSION = 1
"""The version of the format of entries."""
_NEUTRAL = {"SMALTI_CACHE", "SMALTI_CACHE_DIR", "SMALTI_REPRODUCER_DIR", "SMALTI_NUM_THREADS", "SMALTI_CODEGEN_TIMEOUT"}
"""Environment variables that do not affect the code of a kernel."""
_DUMPS = ("SMALTI_DUMP", "SMALTI_DUMP_IR")
_INVALID = (KernelFileError, ValueError, KeyError, TypeError)


def _stamp(path: Path) -> str:
    """The properties of a file that change if the file is replaced."""
    try:
        found = path.stat()
    except OSError:
        return f"{path}: missing"
    return f"{path} {found.st_size} {found.st_mtime_ns}"


@functools.cache
def _package() -> str:
    """The files of Smalti, and the libraries of LLVM."""
    stamps: list[str] = []
    for folder, folders, names in os.walk(Path(__file__).parent.parent):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        stamps += [_stamp(Path(folder, name)) for name in sorted(names)]
    config = toolchain.configured()
    stamps += sorted(
        _stamp(path)
        for folder in {config.get("llvm_lib_dir"), config.get("mlir_lib_dir")} - {None}
        for pattern in ("libLLVM*.so*", "libMLIR*.so*", "libmlir_*.so*")
        for path in Path(folder or "").glob(pattern)
    )
    numpy: Any = sys.modules.get("numpy")
    versions = json.dumps([toolchain.versions(), sys.version, getattr(numpy, "__version__", "")])
    return hashlib.sha256("\n".join([versions, *stamps]).encode()).hexdigest()


@functools.cache
def _tools(vendor: str) -> tuple[str, ...]:
    """The programs and files that produce the code of a vendor."""
    found: list[Path | None] = []
    if vendor == "nvidia":
        tool = toolchain.find_ptxas()
        found = [tool.path if tool else None, *toolchain.device_libraries(vendor, 32)]
    elif vendor == "amd":
        tool = toolchain.find_llvm_tool("ld.lld")
        found = [tool.path if tool else None, *toolchain.device_libraries(vendor, 64)]
    # Another machine may share the cache.
    return tuple("" if path is None else _stamp(path) for path in found) or (host_processor(),)


def _variables() -> list[str]:
    return sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("SMALTI_") and k not in _NEUTRAL)


class KernelCache:
    """The entries of a kernel in the cache."""

    def __init__(self, fingerprint: str, name: str) -> None:
        self._fingerprint = fingerprint
        self._name = name

    def entry(self) -> Entry | None:
        """The signature of the kernel, if it is in the cache."""
        content = self._get(self._signature())
        if content is None:
            return None
        try:
            return archive.entry_from_json(json.loads(content))
        except _INVALID:
            return None

    def kernel(
        self, target: targets.Target, options: Mapping[str, Any], facts: str, compile: Callable[[], Kernel]
    ) -> Kernel | None:
        """The compiled kernel, if it is in the cache. `compile` compiles it, for the forms of the code that are not
        stored."""
        if (key := self._key(target, options, facts)) is None or (content := self._get(key)) is None:
            return None
        header, _, code = content.partition(b"\n")
        try:
            found = json.loads(header)
            kernel = _host_kernel(found["host"], code, target) if "host" in found else archive.loads(code, Kernel)
            kernel.remarks = tuple(_remark(item) for item in found["remarks"])
            kernel.notes, kernel.pipeline, forms = list(found["notes"]), found["pipeline"], found["forms"]
        except _INVALID:
            return None
        compiled = functools.cache(compile)
        kernel.target = target

        def text(form: str) -> str:
            return compiled().asm[form]

        kernel.asm = Assembly({form: functools.partial(text, form) for form in forms})
        if target.is_emulated:
            kernel.emulation = Emulation(sanitize=options.get("sanitize"))
        return kernel

    def store(
        self, entry: Entry, kernel: Kernel, target: targets.Target, options: Mapping[str, Any], facts: str
    ) -> None:
        """Stores a kernel and its signature, if a file can contain the kernel."""
        if (key := self._key(target, options, facts)) is None or disk_cache.opened(_FOLDER) is None:
            return
        header: dict[str, Any] = {
            "remarks": [asdict(remark) for remark in kernel.remarks],
            "notes": kernel.notes,
            "pipeline": kernel.pipeline,
            "forms": list(kernel.asm),
        }
        if target.is_gpu:
            try:
                code = archive.dumps(kernel)
            except ToolMissing:
                return
        else:
            host: HostCode = kernel.launcher.code
            library = host.library()
            if library is None:
                return
            code = library
            errors = errors_to_json(host.errors)
            header["host"] = {
                "entry": archive.entry_to_json(kernel.entry), "symbol": kernel.symbol, "name": host.name, "errors": errors
            }  # fmt: skip
        self._set(key, json.dumps(header).encode() + b"\n" + code, str(target))
        self._set(self._signature(), json.dumps(archive.entry_to_json(entry)).encode(), "any")

    # --- Keys ---

    def _signature(self) -> str:
        return json.dumps([_VERSION, "signature", self._fingerprint, _package()])

    def _key(self, target: targets.Target, options: Mapping[str, Any], facts: str) -> str | None:
        """The key of a compiled kernel; None if it must be compiled."""
        if any(name in os.environ for name in _DUMPS) or target.is_simulated:
            return None
        if "sanitize" in options and not target.is_emulated:
            # The compilation reports it.
            return None
        if not all(type(value) in (str, int, bool, float) for value in options.values()) or "dump" in options:
            return None
        if "dump_ir" in options:
            return None
        tools = _tools("cpu") if target.is_emulated else ()
        return json.dumps(
            [
                *(_VERSION, "code", self._fingerprint, _package(), repr(target), sorted(options.items()), facts),
                *(_tools(target.vendor), tools, _variables()),
            ]
        )

    def _get(self, key: str) -> bytes | None:
        cache = disk_cache.opened(_FOLDER)
        return cache.get(key) if cache else None

    def _set(self, key: str, content: bytes, target: str) -> None:
        if cache := disk_cache.opened(_FOLDER):
            cache.set(key, content, f"@{self._name}", target)


def _host_kernel(found: Mapping[str, Any], library: bytes, target: targets.Target) -> Kernel:
    entry = archive.entry_from_json(found["entry"])
    kernel = Kernel(target, entry, {})
    kernel.symbol = found["symbol"]
    kernel.resources = Resources(tiles=entry.static_tiles)
    kernel.host_code = HostCode.load(library, errors_from_json(found["errors"]), found["name"])
    if kernel.host_code is None:
        raise KernelFileError("the library cannot be loaded")
    return kernel


def _remark(item: Mapping[str, Any]) -> Remark:
    fields: dict[str, Any] = {**item, "location": location_from_json(item["location"])}
    return Remark(**fields)
