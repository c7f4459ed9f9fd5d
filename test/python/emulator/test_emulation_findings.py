# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of emulated GPUs, and the cache of kernel libraries."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from emulated import ENDLESS, NVIDIA_KERNEL, STORE, found, nvidia, scale
from smalti import check, emulator, errors, toolchain
from smalti.codegen import codegen_worker
from smalti.emulator import Emulation, findings

# ---------------------------------------------------------------------------------------------------------------------
# Findings
# ---------------------------------------------------------------------------------------------------------------------


def test_reading_past_an_array() -> None:
    finding = found("out-of-bounds", lambda: scale(nvidia(), 128))
    assert finding.block == (3, 0, 0) and finding.thread == (4, 0, 0)
    assert "argument 0 (400 bytes)" in finding.message


@pytest.mark.parametrize("value", ["i32 0", "i16 -1", "i32 -1", "i64 -1"])
def test_writing_between_the_arrays(value: str) -> None:
    body = f"%p = getelementptr i8, ptr addrspace(1) %target, i64 -400\n  store {value}, ptr addrspace(1) %p"
    assert "before argument 1" in found("red-zone", lambda: scale(nvidia(body))).message


def test_nothing_comes_back_of_a_run_that_failed() -> None:
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    found("out-of-bounds", lambda: nvidia().launch(4, 32, x, y, 0.5, 128))
    assert np.isnan(y).all()


def test_barrier_that_not_all_reach() -> None:
    # Those that have ended are not waited for.
    body = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
    scale(nvidia(body))
    one_more = body.replace("all(i32 0)", "count(i32 0, i32 64)")
    with pytest.raises(smalti.EmulationError) as error:
        scale(nvidia(one_more))
    assert {finding.kind for finding in error.value.findings} == {"deadlock"}


def test_endless_loop_is_ended() -> None:
    module = emulator.load(ENDLESS, "emu:sm_80")
    start = time.monotonic()
    finding = found("timeout", lambda: module.launch(1, 32, np.zeros(1, np.int32), emulation=Emulation(time_limit=0.5)))
    assert time.monotonic() - start < 30
    assert finding.block == (0, 0, 0) or finding.others


def test_read_only_argument_of_a_device_module() -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    y.flags.writeable = False
    assert "argument 1" in found("read-only", lambda: nvidia().launch(4, 32, x, y, 0.5, 100)).message


BARRIER = re.compile(r"^ *gpu\.barrier.*\n", re.MULTILINE)


@pytest.mark.skipif(toolchain.find_emulator("thread") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_race_has_source_locations(tmp_path: Path, kernels: Path) -> None:
    source = smalti.compile(kernels / "matmul_ragged.mlir", target="emu:gfx942")
    text = source.asm["pipelined"]
    path = tmp_path / "mutant.mlir"
    path.write_text(BARRIER.sub("", text) if BARRIER.search(text) else re.sub(r" *amdgpu\.lds_barrier.*\n", "", text))
    assert path.read_text() != text
    kernel = smalti.compile(path, target="emu:gfx942", depth=1, stages=1, sanitize="thread")
    values = check.random_arguments(kernel.entry)
    with pytest.raises(smalti.EmulationError) as error:
        kernel.launcher(*values, emulation=Emulation(sanitize="thread", blocks=range(1)))
    races = [finding for finding in error.value.findings if finding.kind == "race"]
    assert races and all(race.location is not None and race.location.file == str(path) for race in races)
    race = races[0]
    assert race.block == (0, 0, 0) and race.thread is not None and race.others and race.others[0].location
    # The message shows the line, with a caret under its column.
    lines = str(error.value).splitlines()
    assert race.location is not None
    shown = path.read_text().splitlines()[race.location.line - 1]
    assert f"  {shown}" in lines and any(re.fullmatch(r" *\^", line) for line in lines)
    assert error.value.location == race.location


@pytest.mark.skipif(toolchain.find_emulator("address") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_address_sanitizer_sees_gaps() -> None:
    # A read of a gap: only AddressSanitizer distinguishes it from a valid read.
    rows = np.zeros((4, 64), np.float32)[:, :25]
    y = np.zeros(100, np.float32)
    run = nvidia()
    run.launch(4, 32, rows, y, 0.5, 100)
    how = Emulation("address", blocks=range(1))
    finding = found("out-of-bounds", lambda: run.launch(4, 32, rows, y, 0.5, 100, emulation=how))
    assert finding.write is False


def test_the_text_of_a_finding() -> None:
    place = errors.SourceLocation("<text>", 2, 3)
    finding = findings.Finding(
        "race",
        "a write of 4 bytes",
        block=(1, 0, 0),
        thread=(2, 3, 0),
        location=place,
        others=(findings.Finding("race", "a read of 4 bytes", block=(1, 0, 0), thread=(0, 0, 0)),),
    )
    error = findings.error("@k on emu:sm_80", [finding], "first\nsecond")
    assert isinstance(error, smalti.EmulationError) and error.findings == (finding,)
    assert str(error).splitlines() == [
        "@k on emu:sm_80: 1 finding",
        "<text>:2:3: error: block (1, 0, 0), thread (2, 3, 0): a write of 4 bytes [race]",
        "  second",
        "    ^",
        "note: block (1, 0, 0), thread (0, 0, 0): a read of 4 bytes",
    ]


def test_findings_without_the_symbolizer_have_no_locations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_llvm_tool", lambda name: None)
    (finding,) = findings.from_json([{"kind": "trap", "message": "m", "block": [0, 0, 0], "pc": [16]}], "/gone.so")
    assert finding == findings.Finding("trap", "m", block=(0, 0, 0))


# ---------------------------------------------------------------------------------------------------------------------
# The cache
# ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bytes]:
    """The modules that were translated and not taken from the cache, which starts empty."""
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache"))
    seen: list[bytes] = []
    original = codegen_worker.Worker.rewrite

    def spy(self: codegen_worker.Worker, ir: bytes, **options: Any) -> Any:
        seen.append(ir)
        return original(self, ir, **options)

    monkeypatch.setattr(codegen_worker.Worker, "rewrite", spy)
    return seen


def test_libraries_are_kept(rewritten: list[bytes], tmp_path: Path) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 1 and (tmp_path / "cache" / "emulator").is_dir()
    scale(nvidia(STORE + " "))
    assert len(rewritten) == 2
    emulator.load(NVIDIA_KERNEL.replace("BODY", STORE), "emu:sm_90a").kernels  # noqa: B018
    assert len(rewritten) == 3


@pytest.mark.skipif(toolchain.find_emulator("address") is None, reason=toolchain.EMULATOR_HINTS[True])
def test_each_sanitizer_has_its_library(rewritten: list[bytes]) -> None:
    module = nvidia()
    for _ in range(2):
        scale(module)
        scale(module, emulation=Emulation("address"))
    assert len(rewritten) == 2


def test_a_broken_cache_is_not_an_error(rewritten: list[bytes], tmp_path: Path) -> None:
    scale(nvidia())
    folder = tmp_path / "cache" / "emulator"
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_bytes(b"not what it was" * 100)
    np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 2
    # It is a cache again.
    scale(nvidia())
    assert len(rewritten) == 2


def test_an_unusable_cache_is_reported_once_and_is_not_an_error(rewritten: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "emulator").mkdir(mode=0o777)
    (tmp_path / "cache" / "emulator").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="the disk cache is disabled: other users have access") as warned:
        for _ in range(2):
            np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    assert len(rewritten) == 2 and len(warned) == 1


def test_an_impossible_folder_is_not_an_error(
    rewritten: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "file"))
    np.testing.assert_array_equal(scale(nvidia()), np.arange(100) / 2)
    scale(nvidia())
    assert len(rewritten) == 2
