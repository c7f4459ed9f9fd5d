# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders in Python of every op, attribute, type and enumeration that our dialects define.

The expected IR is the examples in the definitions. Each op of an example is built again, from what its properties return, and
replaced by the result.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import smalti
from definitions import ALL, DIALECTS, examples_in, operation_name
from smalti import ir
from smalti.dialects import mosaic_gpu, triton_xla
from smalti.layouts import StridedLayout, TiledLayout

PACKAGE = Path(ir.__file__).parent

OPS = {operation_name(record): record for (kind, _), record in ALL.items() if kind == "operation"}

# The names of definitions in TableGen, and their builders. An example of the attribute or type is what the builder returns.
ATTRIBUTES: dict[str, tuple[str, Callable[[], ir.Attribute | ir.Type]]] = {
    "MosaicGPU_CopyPartitioned": ("axis", lambda: mosaic_gpu.CopyPartitionedAttr.get(1)),
    "MosaicGPU_CopyReplicated": ("", lambda: mosaic_gpu.CopyReplicatedAttr.get()),
    "MosaicGPU_Replicated": ("times", lambda: mosaic_gpu.ReplicatedAttr.get(4)),
    "MosaicGPU_SmemCluster": ("", lambda: mosaic_gpu.SmemClusterAttr.get()),
    "MosaicGPU_Swizzle": ("swizzle", lambda: mosaic_gpu.SwizzleTransformAttr.get(64)),
    "MosaicGPU_Tile": ("tiling", lambda: mosaic_gpu.TileTransformAttr.get([8, 64])),
    "MosaicGPU_TiledLayout": (
        "layout",
        lambda: mosaic_gpu.TiledLayoutAttr.get(TiledLayout([[64, 8], [16, 8], [8, 8], [2]], [-7], [-3, -2], -1)),
    ),
    "MosaicGPU_Tmem": ("", lambda: mosaic_gpu.TmemAttr.get()),
    "MosaicGPU_WGSplatFragLayout": ("shape", lambda: mosaic_gpu.WGSplatFragLayoutAttr.get([64])),
    "MosaicGPU_WGStridedFragLayout": (
        "layout",
        lambda: mosaic_gpu.WGStridedFragLayoutAttr.get(StridedLayout([128, 64], 2)),
    ),
    "TritonXLA_ScaleLayoutAttr": ("value", lambda: triton_xla.ScaleLayoutAttr.get(triton_xla.ScaleLayout.Padded)),
    "MosaicGPU_B6x16P32": ("element_type", lambda: mosaic_gpu.B6x16P32Type.get(ir.Float6E2M3FNType.get())),
    "MosaicGPU_Barrier": ("orders_tensor_core", lambda: mosaic_gpu.BarrierType.get(True)),
    "MosaicGPU_P2B6": ("element_type", lambda: mosaic_gpu.P2B6Type.get(ir.Float6E3M2FNType.get())),
}


# --- Attributes, types and enumerations ---


def test_the_table_of_attributes_and_types_is_complete() -> None:
    assert set(ATTRIBUTES) == {name for kind, name in ALL if kind in ("attribute", "type")}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attribute_or_type(name: str) -> None:
    parameter, build = ATTRIBUTES[name]
    with ir.Context():
        built = build()
        kind: Any = type(built)
        parsed = (ir.Type if isinstance(built, ir.Type) else ir.Attribute).parse(str(built))
        assert parsed == built
        # A parsed attribute has the class of the attribute, with its parameters.
        assert type(parsed) is kind and kind.isinstance(parsed)
        if parameter:
            assert kind.get(getattr(parsed, parameter)) == built


def test_an_order_of_scales_that_does_not_exist() -> None:
    with ir.Context():
        assert [triton_xla.ScaleLayoutAttr.get(value).value for value in triton_xla.ScaleLayout] == list(
            triton_xla.ScaleLayout
        )
        wrong: Any = 7
        with pytest.raises(ValueError, match="7 is not a number of the enumeration ScaleLayout"):
            triton_xla.ScaleLayoutAttr.get(wrong)


@pytest.mark.parametrize("name", [name for kind, name in ALL if kind == "enumeration"])
def test_enumeration(name: str) -> None:
    record = ALL["enumeration", name]
    module = triton_xla if name.startswith("TritonXLA") else mosaic_gpu
    values = getattr(module, record["className"])
    assert len(values) == len(record["enumerants"])
    with ir.Context() as context:
        builder = ir.AttrBuilder.get(name)
        assert [ir.IntegerAttr(builder(value, context)).value for value in values] == list(map(int, values))


# --- Ops ---


@functools.cache
def stub(dialect: str) -> tuple[dict[str, ast.FunctionDef], dict[str, tuple[str, str]]]:
    """The constructors in the stub of the ops by class, and the imported enumerations by name: their module and class."""
    tree = ast.parse((PACKAGE / "dialects" / f"_{dialect}_ops_gen.pyi").read_text())
    constructors = {
        node.name: inner
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"
    }
    imported = {
        alias.asname: (node.module or "", alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    return constructors, imported


def types_of(dialect: str, op: str) -> dict[str, str]:
    """The types that the stub states for the parameters of a constructor."""
    given = stub(dialect)[0][op].args
    return {one.arg: ast.unparse(one.annotation) for one in (*given.args, *given.kwonlyargs) if one.annotation}


def python_value(attribute: Any, accepted: str, dialect: str) -> Any:
    """The attribute as the Python type that the stub states first."""
    first = accepted.split(" | ")[0]
    element = re.fullmatch(r"(?:_Sequence|list)\[(.*)\]", first)
    if isinstance(attribute, ir.UnitAttr):
        assert first == "bool"
        return True
    if element:
        values = list(attribute)
        if element[1].startswith("dict["):
            return [{entry.name: entry.attr for entry in value} for value in values]
        # Elements of dense arrays are numbers.
        return [python_value(v, element[1], dialect) if isinstance(v, ir.Attribute) else v for v in values]
    imported = stub(dialect)[1]
    if first in imported and imported[first][0] not in ("typing", "collections.abc"):
        module, enumeration = imported[first]
        kind = getattr(importlib.import_module(f"smalti.dialects.{module}"), enumeration)
        return kind(attribute.value)
    if first in ("bool", "int", "float", "str", "_ods_ir.Type", "_ods_ir.FunctionType"):
        return attribute.value
    return attribute


def arguments(op: Any, dialect: str, convert: bool) -> dict[str, Any]:
    """The arguments that build the op."""
    found: dict[str, Any] = {}
    for name, accepted in types_of(dialect, type(op).__name__).items():
        if name in ("loc", "ip") or (name == "results" and not hasattr(type(op), "results_")):
            continue
        value = getattr(op, name)
        if isinstance(value, ir.Value) and accepted.startswith("_ods_ir.Type"):
            value = value.type
        elif isinstance(value, ir.OpResultList) and accepted.startswith("_Sequence[_ods_ir.Type]"):
            value = value.types
        elif convert and isinstance(value, ir.Attribute):
            value = python_value(value, accepted, dialect)
        found[name] = value
    return found


def call_function(op: Any, dialect: str) -> Any:
    """Builds the op with its function, whose parameters have the same order, from attributes."""
    module = importlib.import_module(f"smalti.dialects.{dialect}")
    name = type(op).OPERATION_NAME.split(".")[1]
    function = getattr(module, name, None) or getattr(module, f"{name}_")
    given = arguments(op, dialect, convert=False)
    names = iter(inspect.signature(function).parameters)
    function(**{next(names): value for value in given.values()})
    block = op.operation.block
    previous = None
    for other in block.operations:
        if other.operation == op.operation:
            return previous
        previous = other
    raise AssertionError(name)


def rebuild(op: Any, dialect: str, convert: bool) -> None:
    """Replaces the op by one from its builder."""
    with ir.InsertionPoint(op), op.location:
        new = type(op)(**arguments(op, dialect, convert)) if convert else call_function(op, dialect)
    parameters = types_of(dialect, type(op).__name__)
    for name in op.attributes:
        if name not in parameters and not name.endswith("SegmentSizes"):
            new.attributes[name] = op.attributes[name]
    for old_region, region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(region)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def ops_named(module: ir.Module, name: str) -> Iterator[ir.OpView]:
    found: list[ir.OpView] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            found.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from found


@pytest.mark.parametrize("convert", [True, False], ids=["class", "function"])
@pytest.mark.parametrize("name", OPS)
def test_op(name: str, convert: bool) -> None:
    dialect = DIALECTS[OPS[name]["opDialect"]["def"]]
    count = 0
    for example in examples_in(OPS[name]["description"]):
        module = smalti.parse(example)
        expected = str(module)
        with module.context:
            for op in ops_named(module, name):
                assert type(op) is not ir.OpView, f"{name} does not have a builder"
                rebuild(op, dialect, convert)
                count += 1
        assert module.operation.verify()
        assert str(module) == expected
        assert str(smalti.parse(expected)) == expected
    assert count, f"{name} is not in its example"


@pytest.mark.parametrize("dialect", DIALECTS.values())
def test_every_parameter_is_typed(dialect: str) -> None:
    """The stub has the ops of the dialect, the parameters of their builders, and a type of each parameter."""
    constructors, _ = stub(dialect)
    module = importlib.import_module(f"smalti.dialects.{dialect}")
    built = {n for n, k in vars(module).items() if isinstance(k, type) and hasattr(k, "OPERATION_NAME")}
    assert (
        built == set(constructors) == {n for n, _ in inspect.getmembers(module, inspect.isclass) if n in constructors}
    )
    assert {getattr(module, n).OPERATION_NAME for n in built} == {n for n in OPS if n.startswith(f"{dialect}.")}
    for name in built:
        given = list(inspect.signature(getattr(module, name).__init__).parameters)
        assert given == ["self", *types_of(dialect, name)], name
