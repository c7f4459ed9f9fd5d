# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels as kernels of operators."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import targets
from ..calling import arrays, calls
from ..calling.arguments import Entry
from ..language.arithmetic import is_number
from ..language.parameters import Parameter, described
from ..launch.kernels import Kernel
from ..specialization import SpecializedKernel

if TYPE_CHECKING:
    from ..sim import SimulatedKernel

Compiled: TypeAlias = "Kernel | SpecializedKernel | SimulatedKernel"
"""A kernel of `smalti.compile`, `smalti.specialize` or `smalti.aot.load`."""


@dataclass(frozen=True)
class Binding:
    """As `smalti.language.kernel.Binding`."""

    kernel: CompiledKernel
    given: list[Any]
    digest: str


class CompiledKernel:
    """The part of the interface of `PythonKernel` that operators use, for a compiled kernel."""

    is_interpreted = False
    options: Mapping[str, Any] = {}
    __doc__: str | None = None

    def __init__(self, kernel: Compiled, entry: Entry) -> None:
        self._kernel: Any = kernel
        self.entry = entry
        self.__name__ = self.__qualname__ = entry.name
        self.__module__ = "smalti"
        for argument in entry.arguments:
            if argument.name is None:
                raise TypeError(f"@{entry.name}: {argument} does not have a name; name it in the source, such as %x")
        self.parameters = {
            name: Parameter(name, inspect.Parameter.empty, False, None if one.is_memref or one.is_unused else one.dtype)
            for name, one in self._named
        }

    @property
    def _named(self) -> list[tuple[str, Any]]:
        return [(str(argument.name), argument) for argument in self.entry.arguments]

    @property
    def target(self) -> targets.Target:
        return targets.get(self._kernel.target.name)

    def on(self, target: targets.Target) -> CompiledKernel:
        """The kernel, which is for one target."""
        assert target.vendor == self.target.vendor
        return self

    def _ordered(self, named: Mapping[str, Any]) -> list[Any]:
        return [named[name] for name, _ in self._named]

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[CompiledKernel, list[Any]]:
        """The kernel, and the arrays and numbers of its call."""
        assert not arguments
        return self, self._ordered(named)

    def bind_descriptions(self, named: Mapping[str, Any]) -> Binding:
        """As `bind`, for descriptions of arrays. Raises LaunchError if they do not match the arguments of the kernel."""
        given = [value if is_number(value) else described(value) for value in self._ordered(named)]
        compiled = self.variant(*given)
        for argument, value in zip(compiled.entry.arguments, given, strict=True):
            if isinstance(value, arrays.ArrayView) and not argument.is_unused:
                calls.check_array(argument, value, value.device)
                calls.check_facts(argument, value, compiled.target.is_gpu)
        return Binding(self, given, _digest(compiled))

    def version(self, named: Mapping[str, Any]) -> None:
        """The code does not change."""

    def variant(self, *given: Any) -> Kernel:
        """The compiled kernel for these arguments."""
        found = self._kernel.variant(*given) if isinstance(self._kernel, SpecializedKernel) else self._kernel
        assert isinstance(found, Kernel)
        return found

    def launch(self, kernel: Any, given: Sequence[Any]) -> None:
        """Runs the kernel with the arguments of `bind`. Hooks are those of kernels in Python."""
        self._kernel(*given)

    def __call__(self, **named: Any) -> None:
        self._kernel(*self._ordered(named))


def _digest(kernel: Kernel) -> str:
    """Equal for equal code, also in other processes."""
    return hashlib.sha256(kernel.binary or kernel.asm["llvm"].encode()).hexdigest()


def compiled_kernel(kernel: Any) -> CompiledKernel | None:
    """The kernel of an operator for a compiled kernel. None for another object."""
    if isinstance(kernel, (Kernel, SpecializedKernel)):
        return CompiledKernel(kernel, kernel.entry)
    from ..sim import SimulatedKernel

    # A module that is simulated without lowering does not have an entry.
    entry = kernel.entry if isinstance(kernel, SimulatedKernel) else None
    return None if entry is None else CompiledKernel(kernel, entry)
