# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPDX license lines of the C++, TableGen and Python sources."""

from __future__ import annotations

import subprocess

import pytest
from conftest import ROOT

LICENSE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MARKERS = {"//": (".c", ".cpp", ".def", ".h", ".td"), "#": (".py", ".pyi")}


@pytest.mark.parametrize("marker", MARKERS)
def test_every_source_has_its_license(marker: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the list of files needs a git checkout")
    patterns = [f"*{suffix}" for suffix in MARKERS[marker]]
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / line for line in done.stdout.splitlines()]
    assert paths
    without = [
        str(path.relative_to(ROOT))
        for path in paths
        if path.is_file() and f"{marker} {LICENSE}" not in path.read_text(encoding="utf-8").splitlines()[:3]
    ]
    assert without == []
