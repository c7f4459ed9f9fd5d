# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One MLIR per process: copies of its symbols in our objects, and exported symbols.

A second copy means a second TypeID for every type, and `isa<>` is silently false.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD

LIBS = BUILD / "python_packages" / "smalti" / "_mlir_libs"

OBJECTS = sorted([*LIBS.glob("*.so"), BUILD / "lib" / "SmaltiPlugin.so", *(BUILD / "bin").glob("smalti-*")])

# Whom our objects may need: one another, the two shared libraries, and the C++ runtime.
ALLOWED = re.compile(
    r"lib(MLIR|LLVM)\.so\.22\.\d+|lib(SmaltiCAPI|MLIRPythonSupport-smalti|nanobind-smalti)\.so"
    r"|lib(c|m|dl|pthread|gcc_s)\.so\.\d|libstdc\+\+\.so\.6|ld-linux.*"
)

# The exported symbols of each kind of object.
EXPORTS = {
    r"libSmaltiCAPI\.so": r"(mlir|smalti)[A-Z]\w*",
    r"SmaltiPlugin\.so": r"mlirGet(Dialect|Pass)PluginInfo",
    r"libMLIRPythonSupport-smalti\.so": r"_Z\w*4mlir6python6smalti\w*",
    # Clang exports a constant of the C++ library in addition to nanobind's functions.
    r"libnanobind-smalti\.so": r"_Z\w*8nanobind\w*|_ZSt19piecewise_construct",
    r"_\w+\.cpython-\S+\.so": r"PyInit__\w+",
    # A program shows no more than the C++ library's inline functions.
    r"smalti-[a-z-]+": r"_Z\w*(St|__gnu_cxx|std)\w*",
}


def output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def tool(name: str) -> str:
    """A program of binutils, or LLVM's under the same interface."""
    found = shutil.which(name) or shutil.which(f"llvm-{name}-22") or f"/usr/lib/llvm-22/bin/llvm-{name}"
    assert Path(found).is_file(), f"neither {name} nor llvm-{name} was found"
    return found


def needed(path: Path) -> list[str]:
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", output(tool("readelf"), "-d", path))


def symbols(path: Path, *options: str) -> list[tuple[str, str]]:
    """(kind, name) of the symbols that an object defines."""
    lines = (line.split() for line in output(tool("nm"), "--defined-only", *options, path).splitlines())
    return [(words[1], words[2].split("@")[0]) for words in lines if len(words) == 3]


@functools.cache
def library(name: str) -> Path:
    """The shared library of MLIR or LLVM that the C API library finds."""
    for line in output("ldd", LIBS / "libSmaltiCAPI.so").splitlines():
        if match := re.match(rf"\s*{name}\.so\.\S+ => (\S+)", line):
            return Path(match[1])
    raise AssertionError(f"libSmaltiCAPI.so does not find {name}.so")


@functools.cache
def upstream_symbols() -> frozenset[str]:
    """Symbols that only MLIR and LLVM define: strong ones, not the inline functions that every user has a copy of."""
    return frozenset(
        name for dylib in ("libMLIR", "libLLVM") for kind, name in symbols(library(dylib), "-D") if kind in "TDBR"
    )


def copies_of_mlir(path: Path) -> list[str]:
    """Symbols of MLIR or LLVM that this object defines itself, shown or hidden."""
    return sorted({name for kind, name in symbols(path) if kind not in "WwVvu"} & upstream_symbols())


def unexpected_exports(path: Path) -> list[str]:
    allowed = next((exports for pattern, exports in EXPORTS.items() if re.fullmatch(pattern, path.name)), None)
    assert allowed, f"nothing says what {path.name} may export"
    return [name for _, name in symbols(path, "-D") if not re.fullmatch(allowed, name)]


def test_everything_is_here() -> None:
    names = {path.name.split(".")[0] for path in OBJECTS}
    expected = {"_mlir", "_smalti", "libSmaltiCAPI", "SmaltiPlugin", "smalti-opt", "smalti-lsp-server"}
    assert expected <= names
    assert len(upstream_symbols()) > 100_000


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name.split(".")[0])
def test_links_only_the_shared_libraries(path: Path) -> None:
    assert [name for name in needed(path) if not ALLOWED.fullmatch(name)] == []


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name.split(".")[0])
def test_holds_no_copy_of_mlir(path: Path) -> None:
    # An object without its symbol table would pass with any contents.
    assert symbols(path), f"{path} has no symbol table"
    assert copies_of_mlir(path) == []


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name.split(".")[0])
def test_exports_only_what_is_meant(path: Path) -> None:
    assert unexpected_exports(path) == []


def test_both_libraries_are_the_same_for_all() -> None:
    """All users of MLIR load it from the same file."""
    found = set()
    for path in OBJECTS:
        found |= set(re.findall(r"lib(?:MLIR|LLVM)\.so\S* => (\S+)", output("ldd", path)))
    assert {Path(name).resolve() for name in found} == {library("libMLIR").resolve(), library("libLLVM").resolve()}


def test_a_static_copy_would_be_found(tmp_path: Path) -> None:
    """The checks above fail on an object that was linked against MLIR's archives."""
    archive = library("libMLIR").resolve().parent / "libMLIRSupport.a"
    if not archive.is_file():
        archive = Path("/usr/lib/llvm-22/lib/libMLIRSupport.a")
    bad = tmp_path / "SmaltiPlugin.so"
    subprocess.run(
        ["c++", "-shared", "-o", bad, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", library("libLLVM")],
        check=True,
    )
    assert copies_of_mlir(bad)
    assert unexpected_exports(bad)

    hidden = tmp_path / "_hidden.so"
    script = tmp_path / "none.map"
    script.write_text("{ local: *; };")
    subprocess.run(
        ["c++", "-shared", "-o", hidden, f"-Wl,--version-script={script}", "-Wl,--whole-archive", archive,
         "-Wl,--no-whole-archive", library("libLLVM")],
        check=True,
    )  # fmt: skip
    assert copies_of_mlir(hidden)


def test_one_mlir_at_run_time() -> None:
    """A process that uses everything has each library mapped once."""
    script = (
        "import smalti.ir, smalti.execution_engine, smalti.dialects.gpu, smalti.dialects.transform.interpreter\n"
        "import re\n"
        "maps = open('/proc/self/maps').read()\n"
        "print(sorted({m for m in re.findall(r'\\S*/lib(?:MLIR|LLVM)\\S*', maps)}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python_packages")}
    listed = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert len(re.findall(r"libMLIR\.so", listed)) == 1
    assert len(re.findall(r"libLLVM\.so", listed)) == 1
