# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbered files with every form of a kernel's code, and the PTX version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import smalti
from conftest import SCALE
from smalti import targets, toolchain


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def need(*tools: object) -> None:
    if None in tools:
        pytest.skip("needs ptxas, nvdisasm and llvm-dis")


LEVELS = ["01-source.mlir", "02-tile.mlir", "03-mosaic.mlir", "04-pipelined.mlir", "05-thread.mlir"]


def test_every_form_of_a_kernel_in_its_order(tmp_path: Path) -> None:
    need(toolchain.find_ptxas(), toolchain.find_nvdisasm(), toolchain.find_llvm_tool("llvm-dis"))
    kernel = smalti.compile(SCALE, target="sm_90a", dump=tmp_path)
    folder = tmp_path / "scale.sm_90a"
    assert names(folder) == [
        *LEVELS,
        *("06-lowered.mlir", "07-llvm.ll", "08-kernel.ptx", "09-ptxas.txt", "10-kernel.sass", "11-kernel.cubin"),
    ]
    read = {path.name[3:]: path.read_bytes() for path in folder.iterdir()}
    assert b"triton_xla.extract" in read["source.mlir"] and b"llvm.func @scale" in read["lowered.mlir"]
    assert read["kernel.cubin"] == kernel.binary and read["kernel.ptx"].decode() == kernel.asm["ptx"]
    assert b"Compiling entry function 'scale'" in read["ptxas.txt"] and b"STG" in read["kernel.sass"]
    # The output of an earlier compilation is removed.
    (folder / "77-older.txt").write_text("")
    smalti.compile(SCALE, target="sm_90a", dump=tmp_path)
    assert "77-older.txt" not in names(folder)


def test_the_environment_names_a_folder_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMALTI_DUMP", str(tmp_path))
    smalti.compile(SCALE, target="cpu")
    assert names(tmp_path / "scale.cpu") == ["01-source.mlir", "02-tile.mlir", "03-lowered.mlir", "04-llvm.ll"]


def test_tools_that_are_missing_are_named(tmp_path: Path, no_tools: None) -> None:
    smalti.compile(SCALE, target="sm_90a", dump=tmp_path)
    folder = tmp_path / "scale.sm_90a"
    assert names(folder) == [*LEVELS, "06-lowered.mlir", "07-llvm.missing.txt", "08-kernel.ptx"]
    assert "llvm-dis was not found" in (folder / "07-llvm.missing.txt").read_text()


def test_a_failure_keeps_earlier_results(tmp_path: Path) -> None:
    with pytest.raises(smalti.CompileError) as caught:
        # No chip has so many warps in a block.
        smalti.compile(SCALE, target="sm_90a", dump=tmp_path, num_warps=64)
    folder = tmp_path / "scale.sm_90a"
    found = names(folder)
    assert found[0] == "01-source.mlir" and found[-1].endswith("-error.txt")
    said = (folder / found[-1]).read_text()
    assert caught.value.diagnostics[0].message in said


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(smalti.SmaltiError, match="cannot write to the folder"):
        smalti.compile(SCALE, target="cpu", dump=tmp_path / "file")


def test_the_shell_dumps(shell: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(SCALE)
    shell("compile", "k.mlir", "--target", "cpu", "--dump", "forms")
    assert "03-lowered.mlir" in names(tmp_path / "forms" / "scale.cpu")


# ---------------------------------------------------------------------------------------------------------------------
# The version of PTX
# ---------------------------------------------------------------------------------------------------------------------


def fake_ptxas(folder: Path, newest: str) -> toolchain.Tool:
    """A ptxas that supports PTX up to `newest`, and whose output is fake."""
    path = folder / "ptxas"
    path.write_text(
        "#!/bin/sh\n"
        "for word; do case $word in *.ptx) source=$word;; *.cubin) output=$word;; esac; done\n"
        'if grep -q "version 99.9" "$source"; then\n'
        f"  echo \"ptxas version.ptx, line 1; fatal   : Unsupported .version 99.9; current version is '{newest}'\" >&2\n"
        "  exit 255\nfi\necho fake > $output\n"
    )
    path.chmod(0o755)
    return toolchain.Tool("ptxas", path, "environment")


def ptx_of(monkeypatch: pytest.MonkeyPatch, tool: toolchain.Tool | None) -> smalti.Kernel:
    monkeypatch.setattr(toolchain, "find_ptxas", lambda: tool)
    return smalti.compile(SCALE, target="sm_90a")


def test_ptx_is_the_newest_that_llvm_and_ptxas_both_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = targets.get("sm_90a").ptx_version
    kernel = ptx_of(monkeypatch, fake_ptxas(tmp_path, "8.4"))
    assert ".version 8.4\n" in kernel.asm["ptx"] and kernel.binary == b"fake\n"
    assert any("supports PTX only up to version 8.4" in note for note in kernel.notes)
    # A ptxas that supports more than LLVM, one without a version, and none.
    for folder, version in (("newer", "42.0"), ("silent", "")):
        (tmp_path / folder).mkdir()
        kernel = ptx_of(monkeypatch, fake_ptxas(tmp_path / folder, version))
        assert f".version {newest[:-1]}.{newest[-1]}\n" in kernel.asm["ptx"] and not kernel.notes
    assert f".version {newest[:-1]}.{newest[-1]}\n" in ptx_of(monkeypatch, None).asm["ptx"]


def test_the_installed_ptxas_reports_its_version() -> None:
    need(tool := toolchain.find_ptxas())
    assert tool is not None
    known = toolchain.ptx_version_of(tool.path)
    assert known is not None and known >= (8, 0)
