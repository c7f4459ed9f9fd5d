"""The Python in the guides runs."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT


@pytest.mark.parametrize("page", ["docs/python.md"])
def test_python_blocks_run(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    scope: dict[str, object] = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
