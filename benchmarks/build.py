# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds to build Smalti: a full build, and a build after a change.

Clones a revision into a temporary folder (commit first: only committed files are built). Configures it against the
installed MLIR with the Python of `.venv`, and runs ninja with one job per core and no compiler cache:

- nothing: a full build from an empty folder, with wall and CPU seconds of the compiler per folder
- pass: one pass is changed (MultiBuffer.cpp), `smalti-opt` and then everything is built
- helper: the header of a helper is changed (MemorySize.h)
- dialect: the header of mosaic_gpu is changed (MosaicGPU.h)
- op: an op is added to mosaic_gpu

A change is real text, so that the build cannot skip a file with equal content. `--sample N` compiles every Nth source
file of each folder and scales the folder's seconds. It estimates a revision whose build takes half an hour, without the
seconds after a change. `--tests` does not build: it records the tests and their seconds per folder, as the last
`tools/dev test` without arguments wrote them to build/. Records go to `--json` under the name `--label`; other labels in
the file stay.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import resource
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import _record
from _record import ROOT

# Runs the compiler and appends its output file and CPU seconds to a file. It takes the place of ccache.
RECORDER = """\
#!{python} -SEI
import os, sys, time
start = time.monotonic()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
line = "%s\\t%.3f\\t%.3f\\n" % (sys.argv[-1], time.monotonic() - start, usage.ru_utime + usage.ru_stime)
with open({record!r}, "a") as file:
    file.write(line)
sys.exit(os.waitstatus_to_exitcode(status))
"""

NEW_OP = """
def MosaicGPU_BenchmarkOp : MosaicGPU_Op<"benchmark"> {
  let summary = "an op that a benchmark adds";
  let hasVerifier = 0;
  let assemblyFormat = "attr-dict";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_OPS_BARRIERS
"""


def append_comment(path: Path) -> None:
    path.write_text(path.read_text() + "// A change.\n")


def change_header(path: Path) -> None:
    """Adds a function to the header."""
    text = path.read_text()
    guard = text.rindex("#endif")
    path.write_text(f"{text[:guard]}inline int change{path.stem}() {{ return 1; }}\n\n{text[guard:]}")


def add_op(path: Path) -> None:
    text = path.read_text()
    path.write_text(text[: text.rindex("#endif")] + NEW_OP.lstrip("\n"))


CHANGES = {
    "pass": ("passes/MultiBuffering/MultiBuffer.cpp", append_comment),
    "helper": ("passes/Analysis/Memory/MemorySize.h", change_header),
    "dialect": ("dialects/MosaicGPU/MosaicGPU.h", change_header),
    "op": ("dialects/MosaicGPU/Ops/Barriers.td", add_op),
}


class Tree:
    """A clone of a revision, and its build folder."""

    def __init__(self, folder: Path, revision: str) -> None:
        sources = sorted((ROOT / ".cache").glob("mlir-python-*/"))
        if not sources:
            raise SystemExit("error: .cache/ is missing; run `tools/dev build` first")
        self.source, self.build = folder / "source", folder / "build"
        self.record = folder / "record.tsv"
        subprocess.run(["git", "clone", "--quiet", ROOT, self.source], check=True)
        subprocess.run(["git", "checkout", "--quiet", revision], cwd=self.source, check=True)
        self.recorder = recorder = folder / "recorder"
        recorder.write_text(RECORDER.format(python=sys.executable, record=str(self.record)))
        recorder.chmod(recorder.stat().st_mode | stat.S_IXUSR)
        python = ROOT / ".venv" / "bin" / "python"
        self.configure = [
            "cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
            f"-DCCACHE_PROGRAM={recorder}", f"-DPython3_EXECUTABLE={python}", f"-DPython_EXECUTABLE={python}",
            f"-DSMALTI_MLIR_SOURCES={sources[-1]}",
        ]  # fmt: skip

    def run(self, *command: str | Path) -> dict[str, float]:
        """Wall and CPU seconds of a command."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if result.returncode != 0:
            raise SystemExit(f"{shlex.join(map(str, command))} failed:\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"wall": round(wall, 1), "cpu": round(cpu, 1)}

    def ninja(self, *targets: str) -> dict[str, float]:
        return self.run("ninja", "-C", self.build, f"-j{os.cpu_count()}", *targets)

    def recorded(self, command: str) -> list[str]:
        """A compiler command under the recorder, which newer versions of CMake omit."""
        words = shlex.split(command)
        return words if str(self.recorder) in words else [str(self.recorder), *words]

    def compiled(self) -> dict[str, dict[str, float]]:
        """Files and seconds of the compiler by folder, since the last call."""
        lines = [line.split("\t") for line in self.record.read_text().splitlines()] if self.record.is_file() else []
        self.record.unlink(missing_ok=True)
        folders: dict[str, list[tuple[float, float]]] = collections.defaultdict(list)
        for path, wall, cpu in lines:
            folders[self.folder_of(Path(path))].append((float(wall), float(cpu)))
        return {
            folder: {
                "files": len(times),
                "wall": round(sum(wall for wall, _ in times), 1),
                "cpu": round(sum(cpu for _, cpu in times), 1),
            }
            for folder, times in sorted(folders.items())
        }

    def folder_of(self, path: Path) -> str:
        path = Path(os.path.normpath(path))
        if path.is_relative_to(self.source):
            return str(path.relative_to(self.source).parent)
        return "MLIR's Python bindings and nanobind"

    def sources(self) -> dict[str, list[dict[str, Any]]]:
        """Compiler commands by folder."""
        folders: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            folders[self.folder_of(Path(entry["file"]))].append(entry)
        return folders


def generated_targets(tree: Tree) -> list[str]:
    """Generated files that sources include: the outputs of mlir-tblgen, and precompiled headers."""
    listed = subprocess.run(
        ["ninja", "-C", tree.build, "-t", "targets", "all"], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split(":")[0] for line in listed.splitlines()]
    return [name for name in names if name.endswith((".inc", ".h.o")) and not name.startswith("/")]


def sample(tree: Tree, every: int) -> dict[str, Any]:
    """Seconds per folder from every Nth of its files."""
    tree.ninja(*generated_targets(tree))
    tree.compiled()
    result: dict[str, Any] = {}
    for folder, entries in sorted(tree.sources().items()):
        chosen = entries[::every]
        for start in range(0, len(chosen), os.cpu_count() or 1):
            running = [
                subprocess.Popen(tree.recorded(entry["command"]), cwd=entry["directory"])
                for entry in chosen[start : start + (os.cpu_count() or 1)]
            ]
            if any(process.wait() for process in running):
                raise SystemExit(f"a file of {folder} does not compile")
        times = next(iter(tree.compiled().values()))
        factor = len(entries) / len(chosen)
        result[folder] = {
            "files": len(entries),
            "sampled": len(chosen),
            "wall": round(times["wall"] * factor, 1),
            "cpu": round(times["cpu"] * factor, 1),
        }
    return result


def measure(tree: Tree, names: list[str], result: dict[str, Any]) -> None:
    result["nothing"] = {**tree.ninja(), "folders": tree.compiled()}
    for name in names:
        path, change = CHANGES[name]
        change(tree.source / path)
        opt = tree.ninja("smalti-opt")
        rest = tree.ninja()
        compiled = tree.compiled()
        result[name] = {
            "changed": path,
            "smalti-opt": opt,
            "everything": {key: round(opt[key] + rest[key], 1) for key in opt},
            "files": sum(entry["files"] for entry in compiled.values()),
        }
        print(name, result[name], flush=True)


def tests() -> dict[str, Any]:
    """Tests by folder, the seconds of all of them (on all cores together), and the slowest one."""
    cases = [
        (case.get("classname", ""), case.get("name", ""), float(case.get("time", "0")))
        for name in ("lit-times.xml", "test-times.xml")
        for case in xml.etree.ElementTree.parse(ROOT / "build" / name).iter("testcase")
    ]
    folders: dict[str, list[float]] = collections.defaultdict(list)
    for classname, _, seconds in cases:
        # lit writes smalti.folder, pytest test.folder.file.
        words = classname.split(".")
        folder = ["test", *words[1:]] if words[0] == "smalti" else words[:-1]
        folders["/".join(word for word in folder if word != "smalti")].append(seconds)
    classname, name, seconds = max(cases, key=lambda case: case[2])
    return {
        "tests": len(cases),
        "seconds": round(sum(seconds for *_, seconds in cases)),
        "slowest": {"test": f"{classname}.{name}", "seconds": round(seconds, 1)},
        "folders": {
            folder: {"tests": len(times), "seconds": round(sum(times), 1)} for folder, times in sorted(folders.items())
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--revision", default="HEAD", help="what is built (default: HEAD, without changes not committed)"
    )
    parser.add_argument(
        "--label", default="after", help="name of the record (default: after); an older one is replaced"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="compile every Nth file of a folder alone")
    parser.add_argument("--tests", action="store_true", help="record the last test run instead")
    parser.add_argument("--changes", nargs="*", choices=CHANGES, default=list(CHANGES))
    _record.add_option(parser, "build")
    options = parser.parse_args()

    old = json.loads(options.json.read_text()) if options.json.is_file() else {}
    if options.tests:
        record = {**old.get(options.label, {}), "tests": tests()}
        _record.write({**old, options.label: record}, options.json)
        return 0

    command = ["git", "rev-parse", "--verify", "--quiet", f"{options.revision}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        parser.error(f"{options.revision} is not a revision of this repository")
    if options.sample is not None and options.sample < 1:
        parser.error("--sample takes a number from 1")
    revision = found.stdout.strip()
    kept = {key: value for key, value in old.get(options.label, {}).items() if key == "tests"}
    result: dict[str, Any] = {"revision": revision[:12], "machine": _record.machine(), **kept}
    folder = Path(tempfile.mkdtemp(prefix="smalti-build-"))
    try:
        tree = Tree(folder, revision)
        result["configure"] = tree.run(*tree.configure)
        if options.sample:
            folders = sample(tree, options.sample)
            cpu = round(sum(entry["cpu"] for entry in folders.values()), 1)
            result["nothing"] = {"estimated": True, "cpu": cpu, "folders": folders}
        else:
            measure(tree, options.changes, result)
    finally:
        shutil.rmtree(folder)
    _record.write({**old, options.label: result}, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
