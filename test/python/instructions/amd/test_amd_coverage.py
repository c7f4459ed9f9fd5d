# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Coverage of the instruction table for AMD: tests and documents of its entries, and omitted instructions."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import smalti
import test_amd_arithmetic
import test_amd_buffers
import test_amd_conversions
import test_amd_copies
import test_amd_lanes
import test_amd_lds
import test_amd_mfma
import test_amd_system
import test_amd_tensors
import test_amd_wmma
from smalti import emulator, toolchain

MODULES = (
    test_amd_arithmetic,
    test_amd_buffers,
    test_amd_conversions,
    test_amd_copies,
    test_amd_lanes,
    test_amd_lds,
    test_amd_mfma,
    test_amd_system,
    test_amd_tensors,
    test_amd_wmma,
)
LEFT_OUT = {
    # Sparse MMAs whose layouts are only stated by code that was not compared with a chip.
    "llvm.amdgcn.smfmac.f32.16x16x64.fp8.fp8": "gfx942",
    "llvm.amdgcn.smfmac.f32.16x16x64.f16": "gfx950",
    "llvm.amdgcn.swmmac.f32.16x16x32.f16.v8f32.v8f16.v16f16.i16": "gfx1201",
    # The grouping of lanes is not documented, or only stated by code that was not compared with a chip.
    "llvm.amdgcn.ds.load.tr4.b64.v2i32": "gfx1250",
    "llvm.amdgcn.ds.load.tr6.b96.v3i32": "gfx1250",
    "llvm.amdgcn.global.load.tr4.b64.v2i32": "gfx1250",
    "llvm.amdgcn.global.load.tr6.b96.v3i32": "gfx1250",
    # For waves of 64 lanes, which no chip of the table that has it runs.
    "llvm.amdgcn.global.load.tr.b64.i32": "gfx1201",
    # Named barriers, formats of textures, modes.
    "llvm.amdgcn.s.barrier.join": "gfx1250",
    "llvm.amdgcn.raw.ptr.buffer.load.format.v4f32": "gfx942",
    "llvm.amdgcn.s.setreg": "gfx942",
}


@functools.cache
def table() -> dict[str, str]:
    """The document of each entry."""
    command = [str(toolchain.require_emulator(None).path), "--list"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    entries = map(json.loads, lines)
    return {e["name"]: e["document"] for e in entries if e["name"].startswith("llvm.amdgcn.")}


def entry_of(name: str) -> str | None:
    """The entry that a name finds: its own, or the first pattern that fits."""
    return name if name in table() else next((e for e in table() if fnmatch.fnmatchcase(name, e)), None)


def _cases(function: Any) -> Iterator[dict[str, Any]]:
    """The arguments of each case of a test."""
    choices = []
    for mark in getattr(function, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        names = [name.strip() for name in mark.args[0].split(",")]
        choices.append([dict(zip(names, v if len(names) > 1 else (v,), strict=True)) for v in mark.args[1]])
    for case in itertools.product(*choices):
        yield {name: value for part in case for name, value in part.items()}


def _tests(module: ModuleType) -> Iterator[Any]:
    yield from (f for name, f in inspect.getmembers(module, inspect.isfunction) if name.startswith("test_"))


@pytest.fixture(scope="module")
def tested() -> set[str]:
    """The functions that the modules of the tests call; the tests run here with a stub of the emulator."""
    names: set[str] = set()

    class Nothing:
        def launch(self, *_: Any, **__: Any) -> None:
            pass

    def load(source: str, _: str) -> Nothing:
        calls = [line for line in source.splitlines() if "declare" not in line]
        names.update(re.findall(r"@(llvm\.amdgcn\.[\w.]+)", "\n".join(calls)))
        return Nothing()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulator, "load", load)
        patch.setattr(np.testing, "assert_array_equal", lambda *_, **__: None)
        for test in itertools.chain.from_iterable(map(_tests, MODULES)):
            for arguments in _cases(test):
                try:
                    test(**arguments)
                except (Exception, pytest.fail.Exception):
                    # The stub does not return valid results.
                    continue
    return names


def test_each_entry_has_a_test(tested: set[str]) -> None:
    reached = {entry_of(name) for name in tested}
    assert len(table()) > 400
    assert not [entry for entry in table() if entry not in reached]


def test_each_tested_name_has_an_entry(tested: set[str]) -> None:
    assert not [name for name in tested if entry_of(name) is None]


def test_each_entry_has_a_document() -> None:
    sources = r"(CDNA\d|RDNA\d|LLVM|HSA|AMD)\b.*"
    assert not [name for name, document in table().items() if not re.match(sources, document)]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_omitted_instructions_have_no_entry(name: str) -> None:
    assert entry_of(name) is None


def test_omitted_instructions_are_listed() -> None:
    text = """target triple = "amdgcn-amd-amdhsa"
declare void @llvm.amdgcn.s.setreg(i32, i32)
define amdgpu_kernel void @k() {
  call void @llvm.amdgcn.s.setreg(i32 1473, i32 1)
  ret void
}
"""
    with pytest.raises(smalti.errors.CompileError) as caught:
        emulator.load(text, "emu:gfx942").launch(1, 64)
    assert "llvm.amdgcn.s.setreg" in str([d.message for d in caught.value.diagnostics])
