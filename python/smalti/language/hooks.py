# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks: functions that are called when kernels in Python are compiled and launched.

`smalti.hooks` has the hooks of all kernels, and `kernel.hooks` those of one kernel.

smalti.hooks.launch_enter.append(lambda launch: print(launch.kernel))
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import sim
    from ..launch.kernels import Kernel


@dataclasses.dataclass(frozen=True)
class Launch:
    """A launch of a kernel."""

    kernel: Kernel | sim.SimulatedKernel
    """The compiled kernel."""
    arguments: tuple[Any, ...]
    """The arrays and numbers that it gets; the last ones are the numbers of tiles of the grid."""
    stream: Any = None


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A kernel that was compiled, or loaded from the cache on disk."""

    kernel: Kernel | sim.SimulatedKernel
    seconds: float
    """The duration of the compilation, without the translation of the Python function, or of the loading."""
    is_loaded: bool
    """Whether the kernel is from the cache."""


def _no_launch_hooks() -> list[Callable[[Launch], object]]:
    return []


def _no_compile_hooks() -> list[Callable[[Compilation], object]]:
    return []


@dataclasses.dataclass
class Hooks:
    """Functions that are called in order. An exception of a hook propagates to the caller of the kernel."""

    launch_enter: list[Callable[[Launch], object]] = dataclasses.field(default_factory=_no_launch_hooks)
    """Called before each launch."""
    launch_exit: list[Callable[[Launch], object]] = dataclasses.field(default_factory=_no_launch_hooks)
    """Called after each launch, also if it failed. A launch on a GPU is asynchronous."""
    compile: list[Callable[[Compilation], object]] = dataclasses.field(default_factory=_no_compile_hooks)
    """Called after a kernel was compiled or loaded, before its first launch."""


_all = Hooks()
launch_enter = _all.launch_enter
launch_exit = _all.launch_exit
compile = _all.compile


def has_launch_hooks(own: Hooks) -> bool:
    return bool(launch_enter or launch_exit or own.launch_enter or own.launch_exit)


def launch_lists(own: Hooks) -> list[tuple[dict[str, Any], str, Any]]:
    """The lists that `has_launch_hooks` reads, with the dictionaries and keys that have them."""
    names = "launch_enter", "launch_exit"
    return [(space, name, space[name]) for space in (globals(), vars(own)) for name in names]


@contextlib.contextmanager
def launching(own: Hooks, launch: Launch) -> Generator[None, None, None]:
    """Calls the hooks before and after the block: those of all kernels are the outer ones."""
    for hook in [*launch_enter, *own.launch_enter]:
        hook(launch)
    try:
        yield
    finally:
        for hook in [*own.launch_exit, *launch_exit]:
            hook(launch)


def compiled(own: Hooks, compilation: Compilation) -> None:
    for hook in [*compile, *own.compile]:
        hook(compilation)
