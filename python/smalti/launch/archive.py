# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernel files: ZIP archives with `kernel.json` and the code.

docs/python.md describes the format, which has a version number. Files of an older version can be read; files of a newer
version are rejected. Reading a file does not import MLIR.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast

from .. import dtypes, targets, toolchain
from ..calling.arguments import Argument, Entry
from ..calling.tensor_maps import TensorMap
from ..errors import KernelFileError, LaunchError, ToolMissing
from .compiled import CompiledCode, Resources

Code = TypeVar("Code", bound=CompiledCode)

VERSION = 1
"""The version of the format."""
FORMAT = "smalti kernel"

_FACTS = "kernel.json"
_LONGEST_FACTS = 1 << 24
_REMEDY = "compile the kernel and save the file again"
_SUFFIXES = {"cubin": "cubin", "ptx": "ptx", "hsaco": "hsaco", "llvm": "bc"}
"""The file suffix of the code by its format. `llvm` is bitcode for an emulated GPU."""
_EPOCH = (1980, 1, 1, 0, 0, 0)

_CHIP = ("name", "vendor", "architecture", "wave_size", "max_threads_per_block", "shared_memory_per_block")


def dumps(kernel: CompiledCode, purpose: str = "write a kernel") -> bytes:
    """The content of a kernel file. Equal kernels give equal bytes. `purpose` completes the error "cannot ...". Raises
    ToolMissing if the kernel does not have a binary."""
    form, code = _code(kernel, purpose)
    name = f"kernel.{_SUFFIXES[form]}"
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": _versions(),
        "target": {key: getattr(kernel.target, key) for key in _CHIP},
        **entry_to_json(kernel.entry),
        "symbol": kernel.symbol,
        "tensor_maps": [_map_to_json(described) for described in kernel.tensor_maps],
        "resources": asdict(kernel.resources),
        "code": {"file": name, "format": form, "sha256": hashlib.sha256(code).hexdigest()},
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for member, data in ((_FACTS, json.dumps(facts, indent=2).encode()), (name, code)):
            # A fixed time stamp, so that equal kernels give equal bytes.
            out.writestr(zipfile.ZipInfo(member, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def entry_to_json(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "blocks": entry.num_tiles,
        **({"grid": entry.grid} if entry.grid else {}),
        "arguments": [_argument_to_json(argument) for argument in entry.arguments],
    }


def _code(kernel: CompiledCode, purpose: str) -> tuple[str, bytes]:
    if kernel.target.is_emulated and kernel.device_ir is not None:
        return "llvm", kernel.device_ir
    if kernel.binary is not None and kernel.binary_format in _SUFFIXES:
        return kernel.binary_format, kernel.binary
    if kernel.notes:
        raise ToolMissing(f"cannot {purpose}: {kernel.notes[0]}")
    raise ToolMissing(
        f"cannot {purpose}: a kernel for {kernel.target} can run only in the process that compiled it",
        hint="pass the source to the other process, and call smalti.compile there",
    )


def _versions() -> dict[str, str]:
    known = toolchain.versions()
    return {"smalti": known["smalti"], "llvm": known["llvm"]}


def _argument_to_json(argument: Argument) -> dict[str, Any]:
    return {
        "type": argument.type,
        "element": argument.dtype.mlir,
        "shape": argument.shape,
        "strides": argument.strides,
        "reads": argument.reads,
        "writes": argument.writes,
        "alignment": argument.alignment,
        "packed": argument.packed,
        "name": argument.name,
        **{name: getattr(argument, name) for name in (*_DYNAMIC, "max_bytes") if getattr(argument, name)},
    }


_DYNAMIC = ("dynamic_sizes", "dynamic_strides", "size_divisors", "stride_divisors")
"""Entries of arguments with dynamic sizes or strides."""


_MAP = ("argument", "offset", "element", "extents", "strides", "box", "element_strides", "swizzle", "fill")


def _map_to_json(described: TensorMap) -> dict[str, Any]:
    entries = {key: getattr(described, key) for key in _MAP}
    return {**entries, "dims": described.dims} if described.is_dynamic else entries


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------


class _Damaged(Exception):
    """An invalid value in a file. The argument is the reason."""


class _Reader:
    """A JSON object that checks the type of each entry when it is read."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _Damaged(f"{where} is not a JSON object")
        self._value: Mapping[str, Any] = value
        self._where = where

    def _get(self, name: str, kind: type, what: str) -> Any:
        value = self._value.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _Damaged(f"{self._where}.{name} is {value!r}, not {what}")
        return value

    def text(self, name: str) -> str:
        value = self._get(name, str, "a string")
        # Launches pass names to C, and messages print them.
        if not value.isprintable():
            raise _Damaged(f"{self._where}.{name} is {value!a}, which has unprintable characters")
        return value

    def number(self, name: str, least: int = 0) -> int:
        value = self._get(name, int, "an integer")
        if value < least:
            raise _Damaged(f"{self._where}.{name} is {value}; the minimum is {least}")
        return value

    def flag(self, name: str) -> bool:
        return self._get(name, bool, "true or false")

    def numbers(self, name: str, count: int | None = None, least: int | None = 0) -> tuple[int, ...]:
        values = self._get(name, list, "an array")
        good = all(isinstance(v, int) and not isinstance(v, bool) and (least is None or v >= least) for v in values)
        if not good or (count is not None and len(values) != count):
            expected = "integers" if count is None else f"{count} integers"
            limit = "" if least is None else f" of at least {least}"
            raise _Damaged(f"{self._where}.{name} is {values!r}, not an array of {expected}{limit}")
        return tuple(values)

    def lists(self, name: str, depth: int) -> tuple[Any, ...]:
        """Nested arrays of integers: `depth` levels of arrays of arrays."""

        def read(value: Any, level: int) -> Any:
            if not isinstance(value, list):
                raise _Damaged(f"{self._where}.{name} is not a nested array of integers")
            items = cast("list[Any]", value)
            if level:
                return tuple(read(item, level - 1) for item in items)
            if any(type(item) is not int for item in items):
                raise _Damaged(f"{self._where}.{name} is not a nested array of integers")
            return tuple(items)

        return read(self._value.get(name), depth)

    def length(self, name: str) -> int:
        return len(self._get(name, list, "an array"))

    def sizes(self, name: str, count: int) -> tuple[int | None, ...]:
        """Sizes or strides; null for a dynamic one."""
        values = self._get(name, list, "an array")
        if len(values) != count or any(value is not None and type(value) is not int for value in values):
            raise _Damaged(f"{self._where}.{name} is {values!r}, not an array of {count} integers or null")
        return tuple(values)

    def objects(self, name: str) -> list[_Reader]:
        values = self._get(name, list, "an array")
        return [_Reader(value, f"{self._where}.{name}[{i}]") for i, value in enumerate(values)]

    def object(self, name: str) -> _Reader:
        return _Reader(self._value.get(name), f"{self._where}.{name}")

    def has(self, name: str) -> bool:
        """Whether the entry exists and is not null."""
        return self._value.get(name) is not None


def loads(data: bytes, kind: type[Code], path: str = "this archive") -> Code:
    """The kernel, an object of the class `kind`, in the content of a file. `path` is the name of the file in errors.

    Raises KernelFileError if the content is not a kernel file, is damaged or has a newer version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            facts = _read_facts(archive)
            _check_version(facts, path)
            return _kernel(facts, archive, kind)
    except (_Damaged, LaunchError) as damaged:
        raise KernelFileError(f"{path} is damaged: {damaged}; {_REMEDY}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        if not data.startswith(b"PK"):
            raise _foreign(path) from None
        # The directory of an archive is at its end.
        is_whole = zipfile.is_zipfile(io.BytesIO(data)) and str(error)
        raise KernelFileError(
            f"{path} is damaged: {error if is_whole else 'the file is truncated'}; {_REMEDY}"
        ) from None


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise _Damaged(f"{name} is missing") from None


def _read_facts(archive: zipfile.ZipFile) -> _Reader:
    if _FACTS in archive.namelist() and archive.getinfo(_FACTS).file_size > _LONGEST_FACTS:
        raise _Damaged(f"{_FACTS} is too long")
    try:
        return _Reader(json.loads(_member(archive, _FACTS)), _FACTS)
    except (ValueError, RecursionError):
        raise _Damaged(f"{_FACTS} is not valid JSON") from None


def _foreign(path: str) -> KernelFileError:
    return KernelFileError(f"{path} is not a kernel file of Smalti", hint="kernel.save('name.smalti') writes one")


def _check_version(facts: _Reader, path: str) -> None:
    if facts.text("format") != FORMAT:
        raise _foreign(path)
    if (version := facts.number("version", least=1)) > VERSION:
        made_by = facts.object("made_by")
        raise KernelFileError(
            f"{path} has version {version} of the file format; this Smalti supports versions up to {VERSION}",
            hint=f"install Smalti {made_by.text('smalti')}, which wrote the file, or a newer version",
        )


def _kernel(facts: _Reader, archive: zipfile.ZipFile, kind: type[Code]) -> Code:
    chip = facts.object("target")
    target = targets.Chip(
        name=chip.text("name"),
        vendor=chip.text("vendor"),
        architecture=chip.text("architecture"),
        wave_size=chip.number("wave_size", least=1),
        max_threads_per_block=chip.number("max_threads_per_block", least=1),
        shared_memory_per_block=chip.number("shared_memory_per_block"),
    )
    entry = _entry(facts)
    code = facts.object("code")
    form, data = code.text("format"), _member(archive, code.text("file"))
    if hashlib.sha256(data).hexdigest() != code.text("sha256"):
        raise _Damaged(f"the checksum of {code.text('file')} does not match")
    forms = ("llvm",) if target.is_emulated else {"nvidia": ("cubin", "ptx"), "amd": ("hsaco",)}.get(target.vendor, ())
    if form not in forms:
        raise _Damaged(f"the format of the code is {form}, which {target} does not support")
    kernel = kind(target, entry, {"ptx": data.decode("ascii", "replace")} if form == "ptx" else {})
    if form == "llvm":
        kernel.device_ir = data
    else:
        kernel.binary, kernel.binary_format = data, form
    kernel.symbol = facts.text("symbol")
    kernel.tensor_maps = tuple(_map(item, entry.arguments) for item in facts.objects("tensor_maps"))
    kernel.resources = _resources(facts.object("resources"), entry)
    return kernel


def _entry(facts: _Reader) -> Entry:
    arguments = [_argument(i, item) for i, item in enumerate(facts.objects("arguments"))]
    return Entry(facts.text("name"), tuple(arguments), facts.number("blocks", least=1), grid=_grid(facts, arguments))


def entry_from_json(value: Any) -> Entry:
    """The entry from `entry_to_json`. Raises KernelFileError if it is invalid."""
    try:
        return _entry(_Reader(value, _FACTS))
    except _Damaged as damaged:
        raise KernelFileError(str(damaged)) from None


def _grid(facts: _Reader, arguments: Sequence[Argument]) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """The terms of a number of tiles that depends on arguments; see `Entry.grid`."""
    if not facts.has("grid"):
        return ()
    grid = facts.lists("grid", 2)
    for dimension in grid:
        for term in dimension:
            if len(term) != 3 or term[2] < 1 or not -1 <= term[0] < len(arguments):
                raise _Damaged(f"the grid has the invalid term {term!r}")
            argument, axis, _ = term
            if argument < 0:
                continue
            described = arguments[int(argument)]
            shape = described.shape
            if not (-1 < axis < len(shape) if shape is not None else axis == -1 and described.dtype.kind in "iu"):
                raise _Damaged(f"the grid has the term {term!r}, which does not match argument {argument}")
    return grid


def _argument(index: int, item: _Reader) -> Argument:
    element = dtypes.from_mlir(item.text("element"))
    if element is None:
        raise _Damaged(f"the element type of argument {index} is {item.text('element')}, which is not supported")
    shape = strides = None
    dynamic: dict[str, Any] = {name: item.numbers(name) for name in _DYNAMIC if item.has(name)}
    if item.has("shape") and dynamic:
        shape = item.sizes("shape", item.length("shape"))
        strides = item.sizes("strides", len(shape))
        _check_dynamic(index, shape, strides, dynamic)
    elif item.has("shape"):
        shape = item.numbers("shape")
        strides = item.numbers("strides", len(shape), least=None)
    return Argument(
        index=index,
        type=item.text("type"),
        dtype=element,
        shape=shape,
        strides=strides,
        reads=item.flag("reads"),
        writes=item.flag("writes"),
        alignment=item.number("alignment", least=1) if item.has("alignment") else None,
        packed=item.number("packed", least=1),
        name=item.text("name") if item.has("name") else None,
        max_bytes=item.number("max_bytes", least=1) if item.has("max_bytes") else None,
        **dynamic,
    )


def _check_dynamic(
    index: int, shape: Sequence[int | None], strides: Sequence[int | None], dynamic: Mapping[str, tuple[int, ...]]
) -> None:
    """Raises _Damaged if a size or stride is both static and dynamic, or a divisor is not positive."""
    rank = len(shape)
    if any(size is not None and size < 0 for size in shape):
        raise _Damaged(f"argument {index} has a negative size")
    for name, numbers in dynamic.items():
        if name.endswith("divisors"):
            good = len(numbers) == rank and all(number >= 1 for number in numbers)
        else:
            values = shape if name == "dynamic_sizes" else strides
            good = all(number < rank and values[number] is None for number in numbers)
        if not good:
            raise _Damaged(f"argument {index} has {name} {list(numbers)}, which do not match its shape and strides")


def _map(item: _Reader, arguments: Sequence[Argument]) -> TensorMap:
    dims = item.numbers("dims") if item.has("dims") else ()
    described = TensorMap(
        element=item.text("element"),
        extents=item.sizes("extents", len(dims)) if dims else item.numbers("extents"),
        strides=item.sizes("strides", len(dims)) if dims else item.numbers("strides"),
        box=item.numbers("box"),
        element_strides=item.numbers("element_strides"),
        swizzle=item.number("swizzle"),
        fill=item.text("fill"),
        argument=item.number("argument"),
        offset=item.number("offset"),
        dims=dims,
    )
    if described.is_dynamic and described.argument < len(arguments):
        if not described.matches(arguments[described.argument].shape):
            raise _Damaged(f"a tensor map does not match argument {described.argument}")
        return described
    if described.argument >= len(arguments) or not arguments[described.argument].is_static:
        raise _Damaged(f"a tensor map uses argument {described.argument}, which is not a memref of static shape")
    if described.offset + described.extent_bytes > arguments[described.argument].reach:
        raise _Damaged(f"a tensor map exceeds the memory of argument {described.argument}")
    return described


_DIMENSIONS = ("block", "grid", "cluster")


def _resources(item: _Reader, entry: Entry) -> Resources:
    values: dict[str, Any] = {"tiles": entry.static_tiles}
    for field in fields(Resources):
        if field.name == "tiles" or not item.has(field.name):
            continue
        if field.name in _DIMENSIONS:
            values[field.name] = item.numbers(field.name, 3, least=1)
        else:
            values[field.name] = item.number(field.name)
    required = ("block",) if entry.grid else ("block", "grid")
    if missing := [name for name in required if name not in values]:
        raise _Damaged(f"resources.{missing[0]} is missing")
    return Resources(**values)
