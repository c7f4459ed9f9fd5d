# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Coverage of the instruction table for NVIDIA: tests and documents of its entries, and omitted instructions."""

from __future__ import annotations

import fnmatch
import re

import nvidia
import pytest
import smalti
import test_nvidia_arithmetic
import test_nvidia_assembly
import test_nvidia_clusters
import test_nvidia_conversions
import test_nvidia_integers
import test_nvidia_memory
import test_nvidia_mma
import test_nvidia_proxies
import test_nvidia_tensor_copies
import test_nvidia_text_memory
import test_nvidia_warps
import test_nvidia_wgmma

LEFT_OUT = {
    # Tensor memory, and copies of other modes than tiles.
    "llvm.nvvm.tcgen05.fence.before.thread.sync": ("void", ""),
    "llvm.nvvm.cp.async.bulk.tensor.s2g.im2col.3d": (
        "void",
        "ptr addrspace(3) null, ptr null, i32 0, i32 0, i32 0, i64 0, i1 false",
    ),
    # Without .sync, as no chip since sm_70 has it.
    "llvm.nvvm.shfl.up.i32": ("i32", "i32 1, i32 1, i32 1"),
    # Stochastic rounding.
    "llvm.nvvm.ff2f16x2.rs": ("<2 x half>", "float 1.0, float 1.0, i32 1"),
}


OF_SMALTI = {"smalti.check_index"}
"""Functions that only Smalti's compiler calls, for emulated GPUs; see test_index_checks.py."""


def _tested() -> set[str]:
    modules = (
        test_nvidia_arithmetic,
        test_nvidia_assembly,
        test_nvidia_clusters,
        test_nvidia_conversions,
        test_nvidia_mma,
        test_nvidia_memory,
        test_nvidia_proxies,
        test_nvidia_tensor_copies,
        test_nvidia_text_memory,
        test_nvidia_wgmma,
        test_nvidia_warps,
    )
    names = {name for module in modules for name in module.TESTED} | set(test_nvidia_integers.covered())
    return {opcode for name in names for opcode in nvidia.opcodes(name)}


def _is_tested(entry: str, tested: set[str]) -> bool:
    return entry in tested or bool(fnmatch.filter(tested, entry))


def test_each_entry_has_a_test() -> None:
    tested = _tested()
    assert nvidia.table()
    assert not [entry for entry in nvidia.table() if not _is_tested(entry, tested) and entry not in OF_SMALTI]


def test_each_tested_name_has_an_entry() -> None:
    entries = nvidia.table()
    patterns = [re.compile(fnmatch.translate(e)) for e in entries if "*" in e]
    missing = [n for n in _tested() if n not in entries and not any(p.match(n) for p in patterns)]
    assert not missing


@pytest.mark.parametrize("ending", ["untested", "instruction.of.tomorrow"])
def test_an_entry_without_a_test_is_found(ending: str) -> None:
    assert not _is_tested(f"llvm.nvvm.{ending}", _tested())


def test_each_entry_has_a_document() -> None:
    assert not [
        e["name"]
        for e in nvidia.table().values()
        if not re.match(r"(PTX ISA|CUDA Programming Guide), \"", e["document"]) and e["name"] not in OF_SMALTI
    ]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_omitted_instructions_are_listed(name: str) -> None:
    result, operands = LEFT_OUT[name]
    types = ", ".join(part.rsplit(" ", 1)[0] for part in operands.split(", ") if part)
    value = "" if result == "void" else "%r = "
    text = (
        f"{nvidia.HEADER}declare {result} @{name}({types})\n"
        f"define ptx_kernel void @k() {{\n  {value}call {result} @{name}({operands})\n  ret void\n}}\n"
    )
    with pytest.raises(smalti.CompileError, match="are not emulated") as error:
        smalti.emulator.load(text, nvidia.TARGET).launch(1, 32)
    assert name in str(error.value)
