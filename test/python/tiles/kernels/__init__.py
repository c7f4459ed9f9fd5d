# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of the matrix: one function for each operation, with the element types that it has."""

# The order of these modules is the order of the kernels.
from . import elementwise, shapes, reductions, indexed, control_flow, matmuls, memory  # noqa: F401  # isort: skip
from .registry import Case, cases

__all__ = ["Case", "cases"]
