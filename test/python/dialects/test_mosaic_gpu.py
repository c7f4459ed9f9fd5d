# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attributes, types and ops of mosaic_gpu from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from smalti import ir
from smalti.dialects import arith, memref, mosaic_gpu
from smalti.layouts import Replicated, StridedLayout, TiledLayout

ROWS = TiledLayout([[64], [16], [8], [1]], [-4], [-2, Replicated(4)], -1)

MAKERS: list[tuple[Callable[[], ir.Attribute], str]] = [
    (
        lambda: mosaic_gpu.TiledLayoutAttr.get(ROWS),
        f"#mosaic_gpu.TiledLayout<{ROWS}>",
    ),
    (
        lambda: mosaic_gpu.WGStridedFragLayoutAttr.get(StridedLayout([128, 64], 2)),
        "#mosaic_gpu.WGStridedFragLayout<[128, 64], 2>",
    ),
    (lambda: mosaic_gpu.WGSplatFragLayoutAttr.get([64]), "#mosaic_gpu.WGSplatFragLayout<[64]>"),
    (lambda: mosaic_gpu.ReplicatedAttr.get(4), "#mosaic_gpu.Replicated<times = 4>"),
    (lambda: mosaic_gpu.TileTransformAttr.get([8, 64]), "#mosaic_gpu.tile<[8, 64]>"),
    (lambda: mosaic_gpu.SwizzleTransformAttr.get(128), "#mosaic_gpu.swizzle<128 : i32>"),
    (lambda: mosaic_gpu.TmemAttr.get(), "#mosaic_gpu.tmem"),
    (lambda: mosaic_gpu.SmemClusterAttr.get(), "#mosaic_gpu.smem_cluster"),
    (lambda: mosaic_gpu.CopyReplicatedAttr.get(), "#mosaic_gpu.copy_replicated"),
    (lambda: mosaic_gpu.CopyPartitionedAttr.get(1), "#mosaic_gpu.copy_partitioned<axis = 1>"),
]
SIX_BITS: list[tuple[Any, Callable[[], ir.Type], str]] = [
    (mosaic_gpu.B6x16P32Type, lambda: ir.Float6E2M3FNType.get(), "!mosaic_gpu.b6x16_p32<f6E2M3FN>"),
    (mosaic_gpu.P2B6Type, lambda: ir.Float6E3M2FNType.get(), "!mosaic_gpu.p2b6<f6E3M2FN>"),
]
# Class, its values by name, with JAX's numbers.
ENUMS: list[tuple[Any, str]] = [
    (mosaic_gpu.Dimension, "x y z"),
    (mosaic_gpu.TMAReduction, "add min max inc dec and or xor umin umax smin smax"),
    (mosaic_gpu.TMEMLoadReduction, "min max absmin absmax"),
    (mosaic_gpu.OOBFillMode, "undefined promise_in_bounds zeros"),
    (mosaic_gpu.MultimemLoadReductionType, "add min max and or xor umin umax smin smax"),
    (mosaic_gpu.AtomicOpType, "add min max and or xor"),
]


@pytest.mark.parametrize(("make", "text"), MAKERS)
def test_attribute_is_made_and_parsed_alike(make: Callable[[], ir.Attribute], text: str) -> None:
    with ir.Context():
        made, parsed = make(), ir.Attribute.parse(text)
        assert str(made) == text
        assert made == parsed
        # A parsed attribute has the class of the attribute.
        assert type(parsed) is type(made)


def test_attributes_give_back_what_they_were_made_from() -> None:
    with ir.Context():
        strided = mosaic_gpu.WGStridedFragLayoutAttr.get(StridedLayout([128, 64], 2)).layout
        assert mosaic_gpu.TiledLayoutAttr.get(ROWS).layout == ROWS
        assert (strided.shape, strided.vector_size) == ([128, 64], 2)
        assert mosaic_gpu.WGSplatFragLayoutAttr.get([64]).shape == [64]
        assert mosaic_gpu.ReplicatedAttr.get(4).times == 4
        assert mosaic_gpu.TileTransformAttr.get([8, 64]).tiling == [8, 64]
        assert mosaic_gpu.SwizzleTransformAttr.get(64).swizzle == 64
        assert mosaic_gpu.CopyPartitionedAttr.get(2).axis == 2


@pytest.mark.parametrize(("kind", "element", "text"), SIX_BITS)
def test_six_bit_type(kind: Any, element: Callable[[], ir.Type], text: str) -> None:
    with ir.Context():
        made, parsed = kind.get(element()), ir.Type.parse(text)
        assert str(made) == text
        assert made == parsed
        assert type(parsed) is kind
        assert made.element_type == element()
        with pytest.raises(
            ValueError, match="the elements of a 6-bit type must have 6 bits, such as f6E2M3FN, but are 'f32'"
        ):
            kind.get(ir.F32Type.get())


@pytest.mark.parametrize(("kind", "names"), ENUMS)
def test_enum_has_the_numbers_of_jax(kind: Any, names: str) -> None:
    assert [(str(value), int(value)) for value in kind] == [(name, i) for i, name in enumerate(names.split())]
    assert kind(0) is next(iter(kind))


def test_enum_is_an_attribute_of_an_op() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        shared = ir.Type.parse("memref<64xf32, #gpu.address_space<workgroup>>")
        with ir.InsertionPoint(module.body):
            source = mosaic_gpu.slice_smem(shared, 0)
            target = memref.alloc(ir.Type.parse("memref<64xf32>"), [], [])
            at = arith.constant(ir.IntegerType.get_signless(32), 0)
            store = mosaic_gpu.AsyncStoreOp(source, target, [at], [64], reduction_op=mosaic_gpu.TMAReduction.Max)
        assert module.operation.verify()
        assert ir.IntegerAttr(store.attributes["reduction_op"]).value == mosaic_gpu.TMAReduction.Max


def test_documented() -> None:
    """Every class lists its parameters; the members of upstream's base classes are inherited."""
    for name in dir(mosaic_gpu):
        if not name.endswith(("Attr", "Type")) or name in ("AtomicOpType", "MultimemLoadReductionType"):
            continue
        kind = getattr(mosaic_gpu, name)
        if kind.__module__.endswith("_smaltiMosaicGPU"):
            assert kind.get.__doc__, name


@pytest.mark.parametrize("orders_tensor_core", [False, True])
def test_barrier_type(orders_tensor_core: bool) -> None:
    with ir.Context():
        made = mosaic_gpu.BarrierType.get(orders_tensor_core)
        text = "!mosaic_gpu.barrier" + ("<orders_tensor_core = true>" if orders_tensor_core else "")
        assert str(made) == text
        parsed = ir.Type.parse(text)
        assert type(parsed) is mosaic_gpu.BarrierType
        assert parsed.orders_tensor_core == orders_tensor_core


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mosaic_gpu.WGSplatFragLayoutAttr.get([-1]), r"WGSplatFragLayout must be positive, but found \[-1\]"),
        (
            lambda: mosaic_gpu.ReplicatedAttr.get(0),
            "the 'times' of a #mosaic_gpu.Replicated must be positive, but found 0",
        ),
        (lambda: mosaic_gpu.TileTransformAttr.get([]), "at least one dimension"),
        (
            lambda: mosaic_gpu.TileTransformAttr.get([8, 0]),
            r"the sizes of #mosaic_gpu.tile must be positive, but found \[8, 0\]",
        ),
        (
            lambda: mosaic_gpu.CopyPartitionedAttr.get(-1),
            "the axis of #mosaic_gpu.copy_partitioned, the dimension to split among the blocks, must not be negative, but is -1",
        ),
        (lambda: mosaic_gpu.SwizzleTransformAttr.get(48), "must be 16, 32, 64 or 128 bytes, but found 48"),
    ],
)
def test_attribute_refuses(make: Callable[[], ir.Attribute], message: str) -> None:
    with ir.Context(), pytest.raises(ValueError, match=message):
        make()


def test_attribute_of_another_kind_is_not_cast() -> None:
    with ir.Context(), pytest.raises(ValueError, match="Cannot cast attribute to TiledLayoutAttr"):
        mosaic_gpu.TiledLayoutAttr(ir.Attribute.parse("#mosaic_gpu.tile<[8]>"))


def test_ops_are_built_and_verified() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        memref = ir.Type.parse("memref<64x64xf16, #gpu.address_space<workgroup>>")
        with ir.InsertionPoint(module.body):
            memory = mosaic_gpu.slice_smem(memref, 1024)
            load = mosaic_gpu.VectorLoadOp(memory, optimized=True)
            layout = mosaic_gpu.WGStridedFragLayoutAttr.get(StridedLayout([64, 64], 8))
            load.operation.attributes["out_layouts"] = ir.ArrayAttr.get([layout])
        assert module.operation.verify()
        assert str(load.result.type) == "vector<64x64xf16>"
        assert "mosaic_gpu.slice_smem 1024 :" in str(module)
        assert "{optimized = true, out_layouts = [#mosaic_gpu.WGStridedFragLayout<[64, 64], 8>]}" in str(module)

        load.operation.attributes["out_layouts"] = ir.ArrayAttr.get([layout, layout])
        with pytest.raises(ir.MLIRError, match="'out_layouts' has 2 entries for 1 vector result"):
            module.operation.verify()
