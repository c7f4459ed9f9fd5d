# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of a kernel to a module."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from ..bindings import ir
from ..compiler import driver
from ..diagnostics import Diagnostic, SourceLocation, diagnostic_from_mlir
from ..errors import CompileError
from ..remarks import Remark
from ..specialization import DIVISOR
from .debugging import multiple_of
from .frames import Frame, Source, source_of
from .grid import GRID
from .parameters import ArraySpec, ConstantSpec, ScalarSpec
from .translator import Translator
from .types import Misuse, index
from .values import Array, Scalar
from .variants import Translation


class TileTranslation:
    """The translation of a tile-level kernel. `smalti.block` overrides what differs for block-level kernels.

    `launch` has the facts of a launch that select the kernel: the number of dimensions of the grid.
    """

    _dialects: ClassVar[Sequence[str]] = ("arith", "math", "memref", "scf", "tensor", "triton_xla")

    def __init__(self, function: types.FunctionType, constants: Collection[str]) -> None:
        self.function = function
        self._constants = constants

    def entry(self, specs: Mapping[str, Any], launch: Any) -> tuple[ir.Module, Source]:
        """A module with an empty kernel, and the source of the kernel."""
        function = self.function
        try:
            source = source_of(function)
        except Misuse as error:
            raise CompileError(error.message, hint=error.hint) from None
        context = driver.new_context()
        for dialect in self._dialects:
            context.get_dialect_descriptor(dialect)
        nodes = {a.arg: a for a in ast.walk(source.node.args) if isinstance(a, ast.arg)}
        passed = {n: s for n, s in specs.items() if isinstance(s, (ArraySpec, ScalarSpec)) and n not in self._constants}

        def argument(name: str, type: str) -> str:
            return f"{type} loc({_quoted(name)}({_placed(source.location(nodes.get(name, source.node)))}))"

        added = _unused("grid", self._num_launch_arguments(launch), specs)
        arguments = [argument(name, spec.type) for name, spec in passed.items()]
        arguments += [argument(name, "index") for name in added]
        # The names of the parameters are in the locations only, so that any identifier is a name.
        arguments = [f"%arg{position}: {text}" for position, text in enumerate(arguments)]
        text = self._declaration(_symbol(function.__name__), arguments, launch, _placed(source.location(source.node)))
        return ir.Module.parse(text, context), source

    def translate(self, specs: Mapping[str, Any], launch: Any) -> Translation:
        function = self.function
        module, source = self.entry(specs, launch)
        block = self._body(module)
        translator = Translator()
        with (
            module.context,
            ir.InsertionPoint(block.operations[len(block.operations) - 1]),
            ir.Location.unknown(),
            self._scope(launch),
        ):
            names = self.arguments(specs, block)
            grid = GRID.set(self.tile_ids(block, launch))
            try:
                translator.call(Frame(source, names, translator.outside_of(function), (function,)))
            except CompileError as error:
                # The frames of the translator do not help the user.
                raise error.with_traceback(None) from None
            finally:
                GRID.reset(grid)
        _verify(module, source.location(source.node))
        return module, translator.captured, self._finish(module, launch)

    def arguments(self, specs: Mapping[str, Any], block: ir.Block) -> dict[str, Any]:
        """The values of the parameters."""
        values = iter(block.arguments)
        names: dict[str, Any] = {}
        for name, spec in specs.items():
            if name in self._constants:
                names[name] = spec
            elif isinstance(spec, ArraySpec):
                names[name] = self._array(next(values), spec, name)
            elif isinstance(spec, ConstantSpec):
                names[name] = spec.value
            else:
                scalar = Scalar(next(values), spec.dtype)
                names[name] = multiple_of(scalar, DIVISOR) if spec.is_multiple else scalar
        return names

    def tile_ids(self, block: ir.Block, launch: Any) -> tuple[Scalar, ...]:
        return tuple(Scalar(value, index) for value in list(block.arguments)[-self._num_launch_arguments(launch) :])

    def _num_launch_arguments(self, launch: Any) -> int:
        """How many numbers a launch passes after the arguments: the sizes of the grid."""
        return launch

    def _declaration(self, name: str, arguments: list[str], launch: Any, place: str) -> str:
        """The text of the module with an empty kernel. `arguments` has those of the launch too."""
        count = self._num_launch_arguments(launch)
        tiles = [f"%arg{position}" for position in range(len(arguments) - count, len(arguments))]
        text = [*arguments, *(f"%tile{d}: index" for d in range(count))]
        return (
            f"module {{ triton_xla.entry_func @{name}({', '.join(text)}) tiles [{', '.join(tiles)}] {{\n"
            f"  triton_xla.return loc({place})\n}} loc({place}) }} loc({place})\n"
        )

    def _body(self, module: ir.Module) -> ir.Block:
        return module.body.operations[0].regions[0].blocks[0]

    def _scope(self, launch: Any) -> contextlib.AbstractContextManager[Any]:
        """Entered while the function is translated."""
        return contextlib.nullcontext()

    def _finish(self, module: ir.Module, launch: Any) -> Sequence[Remark]:
        """Runs passes on the translated module, and returns their remarks."""
        return ()

    def _array(self, value: ir.Value, spec: ArraySpec, name: str) -> Any:
        return Array(value, spec.dtype, name)


def _verify(module: ir.Module, location: SourceLocation) -> None:
    """Raises CompileError with the lines of the kernel if an operation is invalid."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        found = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
        if found and "does not dominate" in found[0].message:
            message = "a value of a loop or a branch of the kernel is used outside of it"
            first = dataclasses.replace(found[0], message=message)
            hint = "assign it to a name that has a value before the loop or branch"
            raise CompileError("", diagnostics=[first], hint=hint) from None
        raise CompileError("", diagnostics=found or [Diagnostic("error", str(error), location)]) from None


def _unused(name: str, count: int, taken: Collection[str]) -> list[str]:
    """The name with the numbers from 0, and underscores before it if a parameter has one of these names."""
    names = [f"{name}{number}" for number in range(count)]
    return names if set(names).isdisjoint(taken) else _unused(f"_{name}", count, taken)


def _symbol(name: str) -> str:
    """A name in the IR and in assembly, which have ASCII letters only."""
    return "".join(letter if letter.isascii() else f"_u{ord(letter):x}" for letter in name)


def _quoted(text: str) -> str:
    """A string of MLIR."""
    letters = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode("utf-8", "replace"))
    return f'"{"".join(letters)}"'


def _placed(place: SourceLocation) -> str:
    return f"{_quoted(place.file)}:{place.line}:{place.column}"
