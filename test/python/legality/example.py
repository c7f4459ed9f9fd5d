# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from the examples of the table of legal ops (passes/Legality/OpTable.def)."""

from __future__ import annotations

import re

_SHAPE = "16x64"

_STORED = {"i6": "i8", "i12": "i16"}
"""Element types that are not in memory in the examples, and the types that are stored instead."""

_ACCUMULATORS = {"f64": "f64", "i8": "i32"}
"""The accumulators of dots that are not f32."""

_METADATA = {"f32": 8, "f4E2M1FN": 2}
"""The number of i16 elements of metadata for 64 elements along K. Other types have 4."""


def bits(element: str) -> int:
    """The width of an element type."""
    digits = re.match(r"(?:bf|f|i)(\d+)", element)
    return int(digits[1]) if digits else 64


def number(element: str) -> str:
    """A constant of an element type."""
    if element == "i1":
        return "true"
    return "1.0" if is_float(element) else "1"


def is_float(element: str) -> bool:
    return element.startswith(("f", "bf"))


def substitute(text: str, op: str, element: str) -> str:
    """The example with the values in place of the names in braces, which OpTable.def lists."""
    accumulator = _ACCUMULATORS.get(element, "f32")
    values = {
        "op": op,
        "e": element,
        "t": f"tensor<{_SHAPE}x{element}>",
        "n": number(element),
        "i": f"i{bits(element)}",
        "add": "addf" if is_float(element) else "addi",
        "acc": accumulator,
        "accn": number(accumulator),
        "metas": str(_METADATA.get(element, 4)),
    }
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)


def _cast(result: str, value: str, source: str, destination: str, shape: str) -> str:
    """The conversion of a tile or, with an empty shape, of a scalar."""

    def ty(element: str) -> str:
        return f"tensor<{shape}{element}>" if shape else element

    op = "arith.extui" if bits(source) < bits(destination) else "arith.trunci"
    return f"{result} = {op} {value} : {ty(source)} to {ty(destination)}"


class _Kernel:
    def __init__(self, body: str, element: str) -> None:
        self.body = body
        self.element = element
        self.arguments: list[str] = []
        self.lines: list[str] = []

    def uses(self, name: str) -> bool:
        return re.search(rf"{name}\b", self.body) is not None

    def defines(self, name: str) -> bool:
        return re.search(rf"{name}(?::\d+)?(?:, %\w+)* = ", self.body) is not None

    def argument(self, name: str, shape: str, element: str) -> str:
        ty = f"memref<{shape}x{element}>"
        self.arguments.append(f"{name}: {ty}")
        return ty

    def load(self, name: str, element: str) -> None:
        """A tile of memory, or of another type that is converted."""
        stored = _STORED.get(element, element)
        memory = self.argument(f"{name}_memory", _SHAPE, stored)
        tile = name if stored == element else f"{name}_stored"
        self.lines.append(
            f"{tile} = triton_xla.extract {name}_memory[0, 0] [16, 64] [1, 1] : {memory} to tensor<{_SHAPE}x{stored}>"
        )
        if stored != element:
            self.lines.append(_cast(name, tile, stored, element, f"{_SHAPE}x"))

    def store(self, name: str, shape: str, element: str) -> None:
        stored = _STORED.get(element, element)
        memory = self.argument(f"{name}_memory", shape, stored)
        tile = name
        if stored != element:
            tile = f"{name}_stored"
            self.lines.append(_cast(tile, name, element, stored, f"{shape}x"))
        sizes = ", ".join(shape.split("x"))
        offsets, strides = (", ".join(digit for _ in shape.split("x")) for digit in "01")
        self.lines.append(
            f"triton_xla.insert {tile} into {name}_memory[{offsets}] [{sizes}] [{strides}] : "
            f"tensor<{shape}x{stored}> into {memory}"
        )

    def text(self, result: str) -> str:
        if self.uses("%m"):
            self.argument("%m", _SHAPE, self.element)
        for name in ("%x", "%y", "%z"):
            if self.uses(name):
                self.load(name, self.element)
        for number in (0, 1, 3):
            if self.uses(f"%c{number}"):
                self.lines.append(f"%c{number} = arith.constant {number} : index")
        if self.uses("%i"):
            self.load("%i", "i32")
        if self.uses("%p"):
            self.load("%p", "i1")
        if self.uses("%k"):
            self.lines += ["%c1_k = arith.constant 1 : index", "%k = arith.cmpi eq, %tile, %c1_k : index"]
        if self.uses("%s"):
            self.arguments.append(f"%s_stored: memref<8x{_STORED.get(self.element, self.element)}>")
            stored = _STORED.get(self.element, self.element)
            loaded = "%s" if stored == self.element else "%s_loaded"
            self.lines.append("%zero = arith.constant 0 : index")
            self.lines.append(f"{loaded} = memref.load %s_stored[%zero] : memref<8x{stored}>")
            if stored != self.element:
                self.lines.append(_cast("%s", "%s_loaded", stored, self.element, ""))
        self.lines += self.body.splitlines()
        if found := re.fullmatch(r"tensor<([\dx]+)x(\w+)>", result):
            self.store("%r#0" if "%r:" in self.body else "%r", found[1], found[2])
        lines = "\n".join(f"  {line}" for line in self.lines).replace("%r#0_", "%r_")
        arguments = ", ".join([*self.arguments, "%tile: index"]).replace("%r#0_", "%r_")
        return f"triton_xla.entry_func @example({arguments}) tiles 2 {{\n{lines}\n  triton_xla.return\n}}\n"


def kernel(example: str, result: str, op: str, element: str) -> str:
    """The kernel of an example."""
    return _Kernel(substitute(example, op, element), element).text(substitute(result, op, element))
