# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Summary, description and a parsing example of every operation, attribute, type and pass."""

from __future__ import annotations

import re
from typing import Any

import pytest
import smalti
from conftest import ROOT
from definitions import ALL, examples_in, operation_name, records_beside

IDS = [f"{kind}-{name}" for kind, name in ALL]


def test_both_dialects_and_the_passes_are_here() -> None:
    kinds = [kind for kind, _ in ALL]
    assert kinds.count("operation") >= 6 and kinds.count("pass") >= 1 and kinds.count("attribute") >= 1
    names = {record["opDialect"]["def"] for (kind, _), record in ALL.items() if kind == "operation"}
    assert names == {"TritonXLA_Dialect", "MosaicGPU_Dialect"}


@pytest.mark.parametrize("key", ALL, ids=IDS)
def test_summary_and_description(key: tuple[str, str]) -> None:
    kind, name = key
    record = ALL[key]
    assert record["summary"].strip(), f"{kind} {name} has no summary"
    if kind == "enumeration":
        return
    assert record["description"].strip(), f"{kind} {name} has no description"
    assert examples_in(record["description"]), f"{kind} {name} has no example in a ```mlir block"


@pytest.mark.parametrize("key", ALL, ids=IDS)
def test_examples_parse(key: tuple[str, str]) -> None:
    for example in examples_in(ALL[key].get("description") or ""):
        smalti.parse(example)


@pytest.mark.parametrize("key", [k for k in ALL if k[0] == "operation"], ids=[n for k, n in ALL if k == "operation"])
def test_an_operation_s_example_shows_it(key: tuple[str, str]) -> None:
    record = ALL[key]
    name = operation_name(record)
    assert any(re.search(rf"\b{re.escape(name)}\b", text) for text in examples_in(record["description"])), name


@pytest.mark.parametrize("key", [k for k in ALL if k[0] == "operation"], ids=[n for k, n in ALL if k == "operation"])
def test_an_operation_has_its_own_assembly_and_a_verifier(key: tuple[str, str]) -> None:
    record = ALL[key]
    assert record["assemblyFormat"] or record["hasCustomAssemblyFormat"]
    # One value and its attributes have no relations; what each may be is in the definition.
    data = records_beside(key[1])
    operands = [a for a, _ in record["arguments"]["args"] if "TypeConstraint" in data[a["def"]]["!superclasses"]]
    values = len(operands) + len(record["results"]["args"])
    assert values <= 1 or record["hasVerifier"] or record["hasRegionVerifier"], f"{record['opName']} has no verifier"


@pytest.mark.parametrize("key", [k for k in ALL if k[0] == "pass"], ids=[n for k, n in ALL if k == "pass"])
def test_pass_options_are_described(key: tuple[str, str]) -> None:
    data = records_beside(key[1])
    for option in ALL[key]["options"]:
        assert data[option["def"]]["description"].strip(), f"{key[1]}: {option['def']} is not described"


def test_each_pass_has_a_page() -> None:
    """test/passes/docs.test executes the examples on it."""
    pages = {path.stem for path in (ROOT / "docs" / "passes").glob("*.md")}
    assert {record["argument"] for (kind, _), record in ALL.items() if kind == "pass"} == pages


def test_registered_pipelines_and_options_are_described() -> None:
    ours = [
        item for item in smalti_passes() if item.name.startswith(("smalti-", "convert-triton-xla", "convert-mosaic"))
    ]
    assert ours
    for item in ours:
        assert item.summary.strip()
        for option in item.options:
            assert option.description.strip(), f"{item.name}: {option.name} is not described"


def smalti_passes() -> list[Any]:
    from smalti.compiler import passes

    return list(passes.registered().values())
