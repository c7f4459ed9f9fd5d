# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The definitions in our TableGen files: operations, attributes, types, enumerations and passes."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from conftest import BUILD, ROOT
from smalti import toolchain

DEFINITIONS = sorted(
    path
    for folder in ("dialects", "passes")
    for path in (ROOT / folder).rglob("*.td")
    if re.search(r"^(def|defm|include)\b", path.read_text(), re.MULTILINE)
)

DIALECTS = {"TritonXLA_Dialect": "triton_xla", "MosaicGPU_Dialect": "mosaic_gpu"}

# TableGen's classes, and what we call what they define.
KINDS = {"Op": "operation", "AttrDef": "attribute", "TypeDef": "type", "EnumInfo": "enumeration", "PassBase": "pass"}


@functools.cache
def records(path: Path) -> dict[str, Any]:
    tblgen = toolchain.find_llvm_tool("llvm-tblgen")
    assert tblgen is not None, "llvm-tblgen comes with the LLVM that Smalti is built against"
    include = tblgen.path.resolve().parent.parent / "include"
    done = subprocess.run(
        [tblgen.path, "-dump-json", f"-I{include}", f"-I{BUILD}/source", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{path} does not stand alone:\n{done.stderr}"
    return json.loads(done.stdout)


def is_ours(record: dict[str, Any]) -> bool:
    """Whether the record is written in this repository and not in an upstream file that ours includes."""
    for key in ("opDialect", "dialect"):
        if isinstance(record.get(key), dict):
            return record[key]["def"] in DIALECTS
    if "argument" in record:
        return True
    return str(record.get("cppNamespace", "")).startswith("::smalti")


def collect() -> dict[tuple[str, str], dict[str, Any]]:
    """All definitions, each from the first file that defines or includes it: `records_beside` has the rest."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in DEFINITIONS:
        data = records(path)
        for tablegen_class, kind in KINDS.items():
            for name in data["!instanceof"].get(tablegen_class, []):
                if is_ours(data[name]):
                    found.setdefault((kind, name), data[name])
    return found


def records_beside(name: str) -> dict[str, Any]:
    """All TableGen records of the file that has that definition; names of anonymous records differ elsewhere."""
    return next(records(path) for path in DEFINITIONS if name in records(path))


ALL = collect()


def examples_in(description: str) -> list[str]:
    blocks = re.findall(r"^([ \t]*)```mlir\n(.*?)^\1```", description, re.MULTILINE | re.DOTALL)
    return [text for _, text in blocks]


def operation_name(record: dict[str, Any]) -> str:
    return f"{DIALECTS[record['opDialect']['def']]}.{record['opName']}"
