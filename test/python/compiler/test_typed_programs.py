# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of users in test/python/typed, whose types `tools/dev lint` checks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest
from conftest import ROOT


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(ROOT / "test" / "python" / "typed")
    yield
    sys.modules.pop("user_program", None)


def test_user_program(capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module("user_program").main()
    assert "twice [128]" in capsys.readouterr().out


def test_a_type_and_shape_in_annotated() -> None:
    """`Annotated[sl.Array, sl.float32, (4,)]` is `sl.Array[sl.float32, (4,)]`, in a form that type checkers accept."""
    import numpy as np
    import smalti

    first = importlib.import_module("user_program").first
    with pytest.raises(smalti.LaunchError, match="the elements of x are float64, but must be float32"):
        first.on("cpu")(np.ones(4), np.ones(4, np.float32), 3)
    assert "memref<4xf32>" in str(first.module(np.ones(4, np.float32), np.ones(4, np.float32), 3))
