# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems of benchmarks/gemm.py, and the interface of a library or compiler that computes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

OURS = "smalti"


@dataclass(frozen=True)
class Problem:
    """A matmul of an m x k and a k x n matrix."""

    dtype: str
    m: int
    n: int
    k: int

    @property
    def operations(self) -> int:
        return 2 * self.m * self.n * self.k

    @property
    def shape(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def file(self) -> str:
        """The name of our kernel."""
        return f"gemm-{self.dtype}-{self.shape}.smalti"

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


class Unavailable(Exception):
    """A peer that is not available; the argument is the reason."""


class Peer(Protocol):
    """One implementation."""

    name: str

    def prepare(self, problem: Problem, a: Any, b: Any) -> Callable[[], Any]:
        """A function that starts the matmul and returns its result; raises `Unavailable`."""
        ...


@dataclass(frozen=True)
class Comparison:
    """How a result compares with float64."""

    max_error: float
    max_relative_error: float
    """Relative to the largest magnitude of the reference."""
    wrong: int
    """Elements that are off by more than the bound."""
