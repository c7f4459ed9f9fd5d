"""LLVM IR of a GPU kernel, as text, made into LLVM IR of the host.

Address spaces go: shared memory becomes one array of the runtime, everything else is plain memory. Every intrinsic of
the device becomes a function that hands its operands to the runtime by their addresses, so that vectors of any type
need no calling convention. What the runtime does not know, and what is not understood here, is an error by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

ENTRY = "emulated_entry"
"""The kernel as a function of an array of pointers to its arguments."""

_SHARED = "emulated_shared"
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}
_SHARED_SPACE = 3


class Unsupported(Exception):
    """The kernel does something that is not emulated."""


@dataclass(frozen=True)
class HostModule:
    """A kernel for the host."""

    text: str
    shared_bytes: int
    """Shared memory that the kernel declares itself; what a launch adds lies behind it."""


def _split(text: str) -> list[str]:
    """Splits at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "<{([") - (character in ">})]")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _size(type_: str) -> int:
    """Bytes of a value in memory, packed."""
    if found := re.fullmatch(r"[<\[](\d+) x (.+)[>\]]", type_):
        return int(found[1]) * _size(found[2])
    if type_.startswith("{"):
        return sum(_size(part) for part in _split(type_.strip("{} ")))
    if type_ not in _BYTES:
        raise Unsupported(f"values of type {type_}")
    return _BYTES[type_]


def _type(text: str) -> str:
    """The type at the begin of a parameter or of a declaration's result, which attributes may surround."""
    text = re.sub(
        r"^(?:(?:noundef|nonnull|zeroext|signext|inreg|noalias|range\([^)]*\)|nofpclass\([^)]*\)) )*", "", text
    )
    found = re.match(r"<[^>]*>|\{[^}]*\}|\[[^\]]*\]|\w+", text)
    if not found:
        raise Unsupported(f"the type of '{text}'")
    return found[0]


def _strip(text: str) -> str:
    """Drops what only the device has, and what is only about optimisation."""
    text = re.sub(r"^(?:target |attributes |!|source_filename|; ).*\n", "", text, flags=re.M)
    text = re.sub(r",? ![\w.]+ !\d+", "", text)
    text = re.sub(r" #\d+(?=[ ,\n]|$)", "", text)
    text = re.sub(r"\b(?:ptx_kernel|amdgpu_kernel) ", "", text)
    # Order between threads is the runtime's: nothing in between is optimised any more.
    text = re.sub(r"^ +fence .*\n", "", text, flags=re.M)
    return re.sub(r'syncscope\("[^"]*"\) ', "", text)


def _place_shared(text: str) -> tuple[str, int]:
    """Puts the kernel's shared arrays one after the other, and last the one whose size a launch decides."""
    pattern = re.compile(rf"^(@[\w.$]+) = .*addrspace\({_SHARED_SPACE}\) global (\[(\d+) x .+?\])(?: |,|$).*\n", re.M)
    arrays = sorted(pattern.findall(text), key=lambda found: int(found[2]) == 0)
    text, end = pattern.sub("", text), 0
    for name, type_, _ in arrays:
        place = f"@{_SHARED}" if end == 0 else f"getelementptr (i8, ptr @{_SHARED}, i64 {end})"
        text = re.sub(re.escape(name) + r"(?![\w.$])", place, text)
        end = (end + _size(type_) + 15) // 16 * 16
    return text, end


def _drop_address_spaces(text: str) -> str:
    if found := re.search(rf"(?:ptrtoint|inttoptr) .*addrspace\({_SHARED_SPACE}\).*", text):
        raise Unsupported(f"shared memory by 32-bit addresses: {found[0]}")
    text = re.sub(r" addrspace\(\d+\)", "", text)
    text = re.sub(r"addrspacecast \(ptr (@[\w.$]+|getelementptr \([^)]*\)) to ptr\)", r"\1", text)
    return re.sub(r"addrspacecast ptr (\S+) to ptr", r"getelementptr i8, ptr \1, i64 0", text)


def _intrinsic(name: str, result: str, parameters: list[str], index: int) -> str:
    """A function that calls the runtime's instruction `index`."""
    signature = ", ".join(f"{type_} %a{i}" for i, type_ in enumerate(parameters))
    count = max(len(parameters), 1)
    sizes = [0 if result == "void" else _size(result), *map(_size, parameters)]
    body = [f"  %operands = alloca [{count} x ptr]", f"  %result = alloca [{max(sizes[0], 1)} x i8], align 64"]
    for i, type_ in enumerate(parameters):
        body += [
            f"  %p{i} = alloca {type_}, align 64",
            f"  store {type_} %a{i}, ptr %p{i}",
            f"  %q{i} = getelementptr ptr, ptr %operands, i64 {i}",
            f"  store ptr %p{i}, ptr %q{i}",
        ]
    body.append(f"  call void @emulated_call(i32 {index}, ptr %result, ptr %operands, ptr @bytes.{name})")
    if result == "void":
        body.append("  ret void")
    elif result.startswith("{"):
        value, offset = "poison", 0
        for i, part in enumerate(_split(result.strip("{} "))):
            body += [
                f"  %r{i} = getelementptr i8, ptr %result, i64 {offset}",
                f"  %v{i} = load {part}, ptr %r{i}, align 1",
                f"  %s{i} = insertvalue {result} {value}, {part} %v{i}, {i}",
            ]
            value, offset = f"%s{i}", offset + _size(part)
        body.append(f"  ret {result} {value}")
    else:
        body += [f"  %value = load {result}, ptr %result", f"  ret {result} %value"]
    constants = ", ".join(f"i32 {size}" for size in sizes)
    return "\n".join(
        [
            f"@bytes.{name} = private constant [{len(sizes)} x i32] [{constants}]",
            f"define internal {result} @device.{name}({signature}) noinline {{",
            *body,
            "}\n",
        ]
    )


def _replace_intrinsics(text: str, find: Callable[[str], int]) -> str:
    bodies, unknown = [], []

    def declaration(found: re.Match[str]) -> str:
        name = found["name"]
        index = find(name)
        if index < 0:
            unknown.append(name)
        else:
            parameters = [_type(parameter) for parameter in _split(found["parameters"])]
            bodies.append(_intrinsic(name, _type(found["result"]), parameters, index))
        return ""

    pattern = r"^declare (?P<result>.+?) @(?P<name>llvm\.(?:nvvm|amdgcn)\.[\w.]+)\((?P<parameters>.*)\).*\n"
    text = re.sub(pattern, declaration, text, flags=re.M)
    if unknown:
        raise Unsupported(f"instructions that are not emulated: {', '.join(unknown)}")
    text = re.sub(r"@(llvm\.(?:nvvm|amdgcn)\.[\w.]+)", r"@device.\1", text)
    return "\n".join([text, *bodies])


def _entry(text: str, symbol: str) -> str:
    """A function that reads the kernel's arguments from memory."""
    found = re.search(rf"^define .*?void @{re.escape(symbol)}\((.*)\)[^()]*\{{$", text, re.M)
    if not found:
        raise Unsupported(f"no kernel @{symbol}")
    types = [_type(parameter) for parameter in _split(found[1])]
    lines = [f"define void @{ENTRY}(ptr %arguments) {{"]
    for i, type_ in enumerate(types):
        lines += [
            f"  %p{i} = getelementptr ptr, ptr %arguments, i64 {i}",
            f"  %q{i} = load ptr, ptr %p{i}",
            f"  %a{i} = load {type_}, ptr %q{i}",
        ]
    lines.append(f"  call void @{symbol}({', '.join(f'{type_} %a{i}' for i, type_ in enumerate(types))})")
    return "\n".join([*lines, "  ret void", "}\n"])


def to_host(device_ir: str, symbol: str, find: Callable[[str], int]) -> HostModule:
    """The kernel `symbol` of a device module for the host. `find` knows the runtime's index of an intrinsic, or -1."""
    if found := re.search(r".*\basm\b.*", device_ir):
        raise Unsupported(f"inline assembly: {found[0].strip()}")
    text, shared_bytes = _place_shared(_strip(device_ir))
    text = _replace_intrinsics(_drop_address_spaces(text), find)
    shared = f"@{_SHARED} = external global i8, align 1024\n"
    runtime = "declare void @emulated_call(i32, ptr, ptr, ptr)\n"
    return HostModule("\n".join([shared, runtime, text, _entry(text, symbol)]), shared_bytes)
