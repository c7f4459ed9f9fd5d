# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that JAX prints while the tests run, if it is installed.

SMALTI_JAX_PYTHON names a Python that has jax, jaxlib and absl-py; else it is the one that runs the tests.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from smalti import ir
from smalti.compiler import driver

sys.path.insert(0, str(ROOT / "test/pallas"))
import compare_inference

PRINTER = ROOT / "test/pallas/printer/print_modules.py"
PYTHON = os.environ.get("SMALTI_JAX_PYTHON", sys.executable)
# The version of the front end for which the kernels are written.
VERSION = "0.10.2"
# Modules that JAX's own inference refuses; its messages do not state a cause.
REFUSED = {
    "arc_tangent": "No layout inference rule defined for",
    "batched_row_sums": "Failed to infer a possible set of layouts",
    "cast_against_cast": "Failed to infer a possible set of layouts",
    "error_function": "No layout inference rule defined for",
    "if_with_vectors": "No layout inference rule defined for",
    "keep_dims": "Failed to infer a possible set of layouts",
    "keep_dims_softmax": "failed to find a solution",
    "reshape_of_minor": "Failed to infer a possible set of layouts",
    "slice_of_strided": "Failed to infer a possible set of layouts",
    "softmax_without_a_cast": "failed to find a solution",
    "upcast_int4": "Failed to infer a possible set of layouts",
}
# JAX finds the layouts of every other module in fewer assignments. Its default for the refusals below takes a minute.
FUEL = 4_000
REFUSED_WITHOUT_A_LIMIT = {
    "keep_dims_softmax": "Failed to infer a possible set of layouts",
    "softmax_without_a_cast": "failed to find a solution",
}


@functools.cache
def jax_is_missing() -> str | None:
    """The reason for a missing JAX, or None."""
    code = "from importlib.metadata import version; version('absl-py'), version('jaxlib'); print(version('jax'))"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    hint = f"install jax=={VERSION}, jaxlib=={VERSION} and absl-py, and name that Python in SMALTI_JAX_PYTHON"
    if done.returncode != 0:
        return f"{PYTHON} has no JAX: {hint}"
    found = done.stdout.strip()
    return None if found == VERSION else f"{PYTHON} has JAX {found}: {hint}"


def print_modules(folder: Path, *arguments: str) -> Path:
    if reason := jax_is_missing():
        pytest.skip(reason)
    done = subprocess.run(
        [PYTHON, str(PRINTER), str(folder), *arguments], capture_output=True, text=True, check=False, timeout=1200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def refusals(folder: Path) -> dict[str, str]:
    return {path.name.removesuffix(".refused.txt"): path.read_text() for path in folder.glob("*.refused.txt")}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return print_modules(tmp_path_factory.mktemp("modules"), "--fuel", str(FUEL))


def test_jax_refuses_what_it_refused(printed: Path) -> None:
    refused = refusals(printed)
    assert sorted(refused) == sorted(REFUSED)
    for name, message in REFUSED.items():
        assert message in refused[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED_WITHOUT_A_LIMIT)
def test_jax_refuses_after_its_longest_search(tmp_path: Path, name: str) -> None:
    refused = refusals(print_modules(tmp_path, name))
    assert list(refused) == [name] and REFUSED_WITHOUT_A_LIMIT[name] in refused[name]


def test_all_modules_make_the_round_trip(printed: Path) -> None:
    paths = sorted(printed.glob("*.mlir"))
    assert len(paths) > 150
    for path in paths:
        with driver.new_context() as context:
            module = driver.parse(path, context)
            custom, generic = (
                module.operation.get_asm(print_generic_op_form=form, enable_debug_info=False) for form in (False, True)
            )
            assert "mosaic_gpu." in generic, path.name
            for text in (custom, generic):
                again = ir.Module.parse(text)
                assert again.operation.verify()
                assert str(again) == custom, path.name
                assert again.operation.get_asm(print_generic_op_form=True) == generic, path.name


def test_inference_costs_no_more_than_that_of_jax(printed: Path) -> None:
    verdicts = {path.stem: compare_inference.compare(path).verdict for path in compare_inference.find([printed])}
    assert not [name for name, verdict in verdicts.items() if verdict in ("dearer", "theirs alone")]
    both = {name for name, verdict in verdicts.items() if verdict == "both refuse"}
    assert both <= {"keep_dims"}
    assert sum(verdict == "equal" for verdict in verdicts.values()) > 90
