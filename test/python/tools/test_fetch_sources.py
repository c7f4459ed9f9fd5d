# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Download of the sources of the bindings, and refusal of damaged downloads."""

from __future__ import annotations

import importlib.util
import io
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPT = ROOT / "cmake" / "fetch_mlir_python_sources.py"

spec = importlib.util.spec_from_file_location("fetch_mlir_python_sources", SCRIPT)
assert spec and spec.loader
fetch = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = fetch
spec.loader.exec_module(fetch)

DEB822 = """\
# a comment
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/archive.gpg

Types: deb deb-src
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""

ONE_LINE = """\
# deb http://commented.example/debian bookworm main
deb http://mirror.example/debian bookworm main non-free-firmware
deb [arch=amd64 signed-by=/etc/keys/a.gpg] http://mirror.example/debian-security bookworm-security main # end
deb-src http://mirror.example/debian bookworm main
deb http://tools.example/apt stable other
"""


def apt_folder(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (tmp_path / "sources.list.d" / f"{stem}.{suffix}").write_text(text)
    return tmp_path


def test_deb822(tmp_path: Path) -> None:
    archives = fetch.machine_archives(apt_folder(tmp_path, debian_sources=DEB822))
    assert [(a.uri, a.suite) for a in archives] == [
        ("http://mirror.example/debian", "bookworm"),
        ("http://mirror.example/debian", "bookworm-updates"),
        ("http://mirror.example/debian-security", "bookworm-security"),
    ]
    assert archives[0].options == (("Signed-By", "/usr/share/keyrings/archive.gpg"),)


def test_one_line(tmp_path: Path) -> None:
    folder = apt_folder(tmp_path)
    (folder / "sources.list").write_text(ONE_LINE)
    archives = fetch.machine_archives(folder)
    assert [(a.uri, a.suite) for a in archives] == [
        ("http://mirror.example/debian", "bookworm"),
        ("http://mirror.example/debian-security", "bookworm-security"),
        ("http://tools.example/apt", "stable"),
    ]
    assert archives[1].options == (("Signed-By", "/etc/keys/a.gpg"),)


@pytest.mark.parametrize("text", [DEB822, ONE_LINE], ids=["deb822", "one line"])
def test_order_of_archives(tmp_path: Path, text: str) -> None:
    """The machine's own suites first, then the newer ones at the same mirror, each in the archive of its kind."""
    folder = apt_folder(tmp_path)
    (folder / "sources.list.d" / ("a.sources" if text is DEB822 else "a.list")).write_text(text)
    entries = fetch.candidate_entries(fetch.machine_archives(folder), "bookworm")
    assert [name for name, _ in entries] == [
        "bookworm-security at http://mirror.example/debian-security",
        "bookworm at http://mirror.example/debian",
        "trixie-security at http://mirror.example/debian-security",
        "trixie at http://mirror.example/debian",
        "sid at http://mirror.example/debian",
    ]
    assert "Types: deb-src" in entries[0][1]
    assert "Suites: trixie\n" in entries[3][1]


def tarball(path: Path, *files: str) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for name in files:
            data = name.encode()
            member = tarfile.TarInfo(f"llvm-toolchain/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_unpack(tmp_path: Path) -> None:
    source = tarball(
        tmp_path / "a.tar.xz", "clang/x", "mlir/LICENSE.TXT", "mlir/lib/Bindings/Python/Pass.cpp", "mlir/lib/IR/x.cpp",
        "mlir/python/mlir/ir.py", "openmp/x",
    )  # fmt: skip
    fetch.unpack(source, tmp_path / "out")
    files = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert files == ["mlir/LICENSE.TXT", "mlir/lib/Bindings/Python/Pass.cpp", "mlir/python/mlir/ir.py"]


def test_unpack_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(fetch.FetchError, match=r"has no .*mlir/python/"):
        fetch.unpack(tarball(tmp_path / "a.tar.xz", "mlir/LICENSE.TXT"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damaged_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cached file with the wrong hash is removed, and so is a downloaded one."""
    cached = tmp_path / "llvm-toolchain-22_22.1.8.orig.tar.xz"
    cached.write_bytes(b"damaged")

    def download(version: str, folder: Path, name: str, entry: str) -> Path:
        path = folder / "llvm-toolchain-22_22.1.8.orig.tar.xz"
        path.write_bytes(b"also damaged")
        return path

    monkeypatch.setattr(
        fetch, "machine_archives", lambda: [fetch.Archive("http://m.example", "bookworm", ("main",), ())]
    )
    monkeypatch.setattr(fetch, "distribution_codename", lambda: "bookworm")
    monkeypatch.setattr(fetch, "download", download)
    with pytest.raises(fetch.FetchError, match=r"bookworm at http://m\.example: the file's SHA-256 is not b49b9277"):
        fetch.fetch_tarball("22.1.8", tmp_path)
    assert not cached.exists()


def test_nothing_to_fetch_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(fetch, "machine_archives", list)
    monkeypatch.setattr(sys, "argv", ["fetch", "--version", "22.1.8", "--cache", str(tmp_path)])
    assert fetch.main() == 1
    error = capsys.readouterr().err
    assert "cannot get the sources of MLIR 22.1.8's Python bindings" in error
    assert "SMALTI_MLIR_SOURCES" in error
