# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of kernels: python/bindings/LaunchExtension.cpp."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_RANK: int
MAX_ARGUMENTS: int
MAX_MAPS: int

class Launcher:
    """Launches a kernel. A call returns whether the kernel was launched. Otherwise the launcher in Python must handle the
    call."""

    def __new__(
        cls,
        arguments: tuple[tuple[Any, ...], ...],
        grid: tuple[tuple[tuple[int, int, int], ...], ...],
        most_tiles: int,
        fixed: Sequence[int],
        maps: tuple[tuple[int, int, bool], ...],
        block: Sequence[int],
        cluster: Sequence[int] | None,
        shared: int,
        current: int,
        launch: int,
        encode: Callable[[int, int, int, tuple[int, ...], tuple[int, ...]], bytes],
        fail: Callable[[int], None],
        stream_pointer: Callable[[Any], int],
    ) -> Launcher: ...
    def __call__(self, arguments: tuple[Any, ...], stream: Any, /) -> bool: ...
    def add(self, context: int, device: int, function: int, /) -> None: ...

class Dispatcher:
    """Launches the kernel of a call, if it is known. A call returns whether the kernel was launched. Otherwise Python must
    handle the call."""

    def __new__(
        cls,
        parameters: tuple[tuple[Any, ...], ...],
        num_positional: int,
        common_divisor: int,
        grid: tuple[int, ...] | Callable[..., Any] | None,
        grid_names: tuple[str, ...],
        grid_sources: tuple[int, ...],
        grid_program: tuple[Any, ...] | None,
    ) -> Dispatcher: ...
    def __call__(self, arguments: tuple[Any, ...], named: dict[str, Any] | None, stream: Any, /) -> bool: ...
    def add(
        self,
        arguments: tuple[Any, ...],
        named: dict[str, Any] | None,
        launcher: Launcher,
        sources: tuple[int, ...],
        captured: tuple[tuple[Any, ...], ...],
        check: Callable[[], bool] | None,
        /,
    ) -> bool: ...

def watch_interrupts(flag: int, /) -> bool: ...
def unwatch_interrupts(flag: int, /) -> None: ...
def end_unhandled_interrupts(pipe: int, seconds: float, exit_code: int, /) -> None: ...
def configure(
    view: Callable[..., Any],
    view_type: type[Any],
    classify: Callable[[type[Any]], Any],
    names: Mapping[str, int],
    typestrs: Mapping[str, int],
    dlpack: Mapping[tuple[int, int], int],
    /,
) -> None: ...
