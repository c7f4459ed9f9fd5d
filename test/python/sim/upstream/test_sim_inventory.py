# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream ops that the simulator supports at thread level: every op, or the reason why not."""

from __future__ import annotations

import importlib
import inspect

import pytest
from smalti.sim.threads import ops
from smalti.sim.threads.execution.code import TERMINATORS
from smalti.sim.translation.translator import THREAD_OPERATIONS

assert ops

HOST = "the host runs it"
SPARSE = "sparse matrices of the host's libraries"
SCALABLE = "no GPU has vectors of other lengths"
WITHIN = "part of the operation around it"
NOT_LOWERED = "nothing lowers it to a GPU's code"
FRAGMENT = "which lane has which element is not said"

UNKNOWN = {
    "gpu.binary": HOST,
    "gpu.create_2to4_spmat": SPARSE,
    "gpu.func": WITHIN,
    "gpu.launch": HOST,
    "gpu.launch_func": HOST,
    "gpu.module": WITHIN,
    "gpu.set_csr_pointers": SPARSE,
    "gpu.subgroup_mma_extract_thread_local": FRAGMENT,
    "gpu.subgroup_mma_insert_thread_local": FRAGMENT,
    "memref.atomic_yield": WITHIN,
    "memref.dma_start": NOT_LOWERED,
    "memref.dma_wait": NOT_LOWERED,
    "memref.global": WITHIN,
    "memref.realloc": "a GPU has no heap",
    "scf.condition": WITHIN,
    "scf.forall.in_parallel": WITHIN,
    "scf.reduce": WITHIN,
    "vector.print": HOST,
    "vector.scalable.extract": SCALABLE,
    "vector.scalable.insert": SCALABLE,
    "vector.type_cast": "memory has no elements that are vectors",
    "vector.vscale": SCALABLE,
    "complex.atan2": "not written yet",
    "complex.bitcast": "not written yet",
    "complex.powi": "not written yet",
}
UNKNOWN |= {
    f"gpu.{name}": SPARSE for name in ("create_bsr", "create_coo", "create_coo_aos", "create_csc", "create_csr")
}
UNKNOWN |= {f"gpu.{name}": SPARSE for name in ("create_dn_tensor", "destroy_dn_tensor", "destroy_sp_mat", "sddmm")}
UNKNOWN |= {f"gpu.{name}": SPARSE for name in ("sddmm_buffer_size", "spgemm_copy", "spgemm_create_descr", "spmm")}
UNKNOWN |= {f"gpu.{name}": SPARSE for name in ("spgemm_destroy_descr", "spgemm_work_estimation_or_compute", "spmv")}
UNKNOWN |= {f"gpu.{name}": SPARSE for name in ("spmat_get_size", "spmm_buffer_size", "spmv_buffer_size")}
UNKNOWN |= {
    f"gpu.{name}": HOST for name in ("alloc", "dealloc", "host_register", "host_unregister", "memcpy", "memset")
}
UNKNOWN |= {f"gpu.{name}": HOST for name in ("set_default_device", "wait")}

DIALECTS = ("affine", "arith", "cf", "complex", "gpu", "index", "math", "memref", "scf", "ub", "vector")


def names(dialect: str) -> set[str]:
    """The operations of a dialect in the installed MLIR."""
    module = importlib.import_module(f"smalti.dialects._{dialect}_ops_gen")
    classes = [of for _, of in inspect.getmembers(module, inspect.isclass)]
    return {of.OPERATION_NAME for of in classes if hasattr(of, "OPERATION_NAME")}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ops_are_supported_or_listed_with_a_reason(dialect: str) -> None:
    every = names(dialect)
    assert len(every) > 1
    known = every & (set(THREAD_OPERATIONS) | TERMINATORS)
    listed = {name for name in UNKNOWN if name.partition(".")[0] == dialect}
    assert sorted(every - known - listed) == [], "neither known nor listed"
    assert sorted(listed - every) == [], "listed, and not in this MLIR"
    assert sorted(listed & known) == [], "listed, and known"
