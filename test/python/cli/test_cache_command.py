# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti cache`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from smalti.cache import disk_cache
from smalti.cli import cached, commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*words: str) -> str:
    done = CliRunner().invoke(commands.main, ["cache", *words])
    assert done.exit_code == 0, done.output
    return done.output


def fill(folder: Path) -> None:
    for number, (name, kernel, target) in enumerate([("kernels", "@add", "cpu"), ("emulator", "@a, @b", "emu:sm_80")]):
        cache = disk_cache.opened(name)
        assert cache is not None
        cache.set("key", b"code" * (number + 1), kernel, target)
        (path,) = (folder / name).glob("*.entry")
        used = time.time() - (7200 if name == "kernels" else 180)
        os.utime(path, (used, used))


def test_the_list_has_all_folders(folder: Path) -> None:
    fill(folder)
    sizes = [next((folder / name).glob("*.entry")).stat().st_size for name in ("emulator", "kernels")]
    assert run("list").splitlines() == [
        "KERNEL  TARGET     FOLDER    SIZE   LAST USE",
        f"@a, @b  emu:sm_80  emulator  {sizes[0]} B  3 min ago",
        f"@add    cpu        kernels   {sizes[1]} B  2 h ago",
        f"2 entries, {sum(sizes)} B",
    ]
    listed: list[dict[str, Any]] = json.loads(run("list", "--json"))
    assert [(one["folder"], one["name"], one["target"], one["bytes"]) for one in listed] == [
        ("emulator", "@a, @b", "emu:sm_80", sizes[0]),
        ("kernels", "@add", "cpu", sizes[1]),
    ]
    assert 180 <= listed[0]["age"] < 7200 <= listed[1]["age"]


def test_clear(folder: Path) -> None:
    fill(folder)
    (folder / "kernels" / "precious").write_text("mine")
    assert json.loads(run("clear", "--json"))["entries"] == 2
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"precious", "used"}
    fill_one = disk_cache.opened("kernels")
    assert fill_one is not None
    fill_one.set("key", b"code")
    assert run("clear").startswith("1 entry deleted, ")


def test_an_empty_cache_is_not_created(folder: Path) -> None:
    assert run("list").splitlines()[-1] == "0 entries, 0 B"
    assert json.loads(run("list", "--json")) == [] and json.loads(run("clear", "--json")) == {"entries": 0, "bytes": 0}
    assert run("path").strip() == str(folder) and json.loads(run("path", "--json")) == {"path": str(folder)}
    assert not folder.exists()


def test_a_folder_that_others_can_write(folder: Path) -> None:
    fill(folder)
    (folder / "kernels").chmod(0o777)
    done = CliRunner().invoke(commands.main, ["cache", "list"])
    assert done.exit_code == 1 and "other users have access" in done.output and "Traceback" not in done.output


def test_ages() -> None:
    assert [cached.age(s) for s in (0, 59, 60, 3599, 3600, 86399, 86400, 1e6)] == [
        *("0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d", "11 d")
    ]
