# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python for the types of their arguments: translated, or from the cache on disk."""

from __future__ import annotations

import builtins
import functools
import hashlib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..errors import LaunchError
from ..launch.kernel_cache import KernelCache
from .fingerprints import Fingerprint
from .frames import Captured
from .trees import copied

if TYPE_CHECKING:
    from .. import ir
    from ..remarks import Remark
    from ..specialization import SpecializedKernel

Translation = tuple["ir.Module", Mapping[Any, Captured], Sequence["Remark"]]
"""The module of a kernel, the values outside of it that it used, and the remarks of the passes that ran on it."""


class Variant:
    """A kernel for the types of its arguments. It is translated when its module is needed, unless the cache on disk has it."""

    def __init__(
        self,
        name: str,
        fingerprint: Fingerprint | None,
        translate: Callable[[], Translation],
    ) -> None:
        self._fingerprint = fingerprint
        self._translate = translate
        self._module: ir.Module | None = None
        self._captured: tuple[Captured, ...] = ()
        self.remarks: Sequence[Remark] = ()
        """Remarks of the passes that ran on the translated module."""
        self.cache = None if fingerprint is None else KernelCache(fingerprint.digest, name)
        self.signature = self.cache and self.cache.entry()
        if fingerprint is None or self.signature is None:
            self._load()
        else:
            self._captured = tuple(fingerprint.captured.values())
        self.compiled: dict[tuple[Any, ...], SpecializedKernel] = {}

    @property
    def is_current(self) -> bool:
        """Whether the values outside of the kernel that it used have not changed."""
        return _are_current(self._captured)

    def cells(self) -> tuple[tuple[tuple[Any, ...], ...], Callable[[], bool] | None]:
        """The captured values that are current while they are the same objects, as `remember` describes them, and a function
        that checks the others."""
        found: list[tuple[Any, ...]] = []
        others: list[Captured] = []
        for one in self._captured:
            owner = vars(one.owner) if isinstance(one.owner, types.ModuleType) else one.owner
            value = one.read()
            if not _is_fixed(value[1:] if isinstance(owner, types.FunctionType) else value):
                others.append(one)
            elif isinstance(owner, dict) and one.name not in owner:
                # The value of a name of builtins, while the module does not define the name.
                found += [(owner, one.name), (vars(builtins), one.name, value)]
            elif isinstance(owner, (dict, types.CellType, types.FunctionType)):
                found.append((owner, one.name, value))
            else:
                others.append(one)
        return tuple(found), functools.partial(_are_current, others) if others else None

    @property
    def module(self) -> ir.Module:
        """The module before the compilation."""
        if self._module is None:
            if not self.is_current:
                raise LaunchError(
                    "the IR is not available: the kernel is from the disk cache, and a value that it uses has changed; call the "
                    "kernel again to compile it"
                )
            self._load()
        assert self._module is not None
        return self._module

    @property
    def digest(self) -> str:
        """Equal for variants with equal modules, also in other processes."""
        if self.cache is not None and self._fingerprint is not None:
            return self._fingerprint.digest
        return hashlib.sha256(str(self.module).encode()).hexdigest()

    def _load(self) -> None:
        self._module, captured, self.remarks = self._translate()
        self._captured = tuple(captured.values())
        if self._fingerprint is not None and not self._fingerprint.covers(captured):
            self.cache = None


def _are_current(captured: Sequence[Captured]) -> bool:
    return all(one.is_current for one in captured)


def _is_fixed(value: Any) -> bool:
    """Whether a static value does not have a container that can change."""
    if isinstance(value, tuple):
        return all(map(_is_fixed, cast("tuple[Any, ...]", value)))
    return copied(value) is value
