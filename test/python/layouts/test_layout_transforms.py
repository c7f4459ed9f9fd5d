# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduced, reshaped and transposed layouts against brute force, and named layouts."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from smalti import layouts, targets
from smalti.layouts import Replicated, SplatLayout, StridedLayout, TiledLayout, named_layout
from test_layouts import NAMED, divisors, enumerate_layout, random_case

Thread = tuple[int, int]

SHAPES: dict[str, list[int]] = {
    name: [2 * size for size in named_layout(name).tiling[0]] for name in layouts.layout_names()
}
CASES = [pytest.param(TiledLayout(*NAMED[name][0]), NAMED[name][1][-1], id=name) for name in NAMED]
CASES += [pytest.param(named_layout(name), shape, id=f"named-{name}") for name, shape in SHAPES.items()]
for seed in range(60):
    spec, spec_shape = random_case(random.Random(seed))
    CASES.append(pytest.param(TiledLayout(*spec), spec_shape, id=f"random-{seed}"))


def subsets(rank: int) -> list[list[int]]:
    return [list(axes) for count in range(1, rank + 1) for axes in itertools.combinations(range(rank), count)]


def held(layout: TiledLayout, shape: list[int]) -> dict[Thread, set[int]]:
    """The numbers of the elements that each thread holds."""
    threads: dict[Thread, set[int]] = {}
    for (warp, lane, _, _), number in enumerate_layout(layout, shape).items():
        threads.setdefault((warp, lane), set()).add(number)
    return threads


def vectors(layout: TiledLayout, shape: list[int]) -> dict[Thread, Counter[tuple[int, ...]]]:
    """The registers that each thread holds, each the numbers of its elements in order."""
    registers: dict[tuple[int, int, int], list[int]] = {}
    for (warp, lane, register, _), number in sorted(enumerate_layout(layout, shape).items()):
        registers.setdefault((warp, lane, register), []).append(number)
    threads: dict[Thread, Counter[tuple[int, ...]]] = {}
    for (warp, lane, _), numbers in registers.items():
        threads.setdefault((warp, lane), Counter())[tuple(numbers)] += 1
    return threads


# --- reductions -------------------------------------------------------------------------------------------------------


@pytest.mark.grid(74)
@pytest.mark.parametrize(("layout", "shape"), CASES)
@pytest.mark.parametrize("keep_dims", [False, True])
def test_reduced_layout_holds_what_the_threads_elements_reduce_to(
    layout: TiledLayout, shape: list[int], keep_dims: bool
) -> None:
    for axes in subsets(len(shape)):
        reduced_shape = [1 if i in axes else size for i, size in enumerate(shape)]
        # The number of the result that each element is reduced into.
        index = np.arange(math.prod(reduced_shape)).reshape(reduced_shape)
        into = np.broadcast_to(index, shape).reshape(-1)
        if not keep_dims:
            reduced_shape = [size for i, size in enumerate(shape) if i not in axes]
        if not reduced_shape:
            continue
        reduced = layout.reduce(len(shape), axes, keep_dims=keep_dims)
        if any(axis >= len(shape) - len(layout.tiling[0]) for axis in axes):
            assert reduced == reduced.canonical()
        else:
            assert reduced == layout
        reduced.validate_for(reduced_shape)
        assert (reduced.num_warps, reduced.num_lanes) == (layout.num_warps, layout.num_lanes)
        expected = {thread: {int(into[n]) for n in numbers} for thread, numbers in held(layout, shape).items()}
        assert held(reduced, reduced_shape) == expected
        # A thread holds each result once: what its elements are reduced into is one register.
        for registers in vectors(reduced, reduced_shape).values():
            assert max(Counter(n for numbers in registers.elements() for n in numbers).values()) == 1


@pytest.mark.parametrize(
    ("layout", "axes", "result"),
    [
        ("WGMMA", [1], "WGMMA_ROW"),
        ("WGMMA", [0], "WGMMA_COL"),
        ("WGMMA_ACC_32BIT", [1], "WGMMA_ROW"),
        ("TCGEN05", [1], "TCGEN05_ROW"),
        ("TCGEN05", [0], "TCGEN05_COL"),
    ],
)
def test_reductions_have_the_names_that_jax_gives_them(layout: str, axes: list[int], result: str) -> None:
    assert named_layout(layout).reduce(2, axes) == named_layout(result)


def test_reduction_of_untiled_dimensions_changes_nothing() -> None:
    layout = named_layout("WGMMA")
    assert layout.reduce(4, [0, 1]) == layout
    assert layout.reduce(3, [0, 2]) == named_layout("WGMMA_ROW")
    assert layout.reduce(3, [0], keep_dims=True) == layout
    kept = layout.reduce(2, [1], keep_dims=True)
    assert str(kept) == (
        "[[64, 1], [16, 1], [8, 1]], warp_dims = [-6], lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], "
        "vector_dim = -1"
    )


@pytest.mark.parametrize(
    ("rank", "axes", "message"),
    [
        (
            1,
            [0],
            "a vector of rank 1 has fewer dimensions than [64, 8], the first tile of the layout; use a layout whose first tile has at most 1 dimension",
        ),
        (2, [2], "cannot reduce dimension 2: the dimensions of the vector are 0 to 1"),
        (2, [-1], "cannot reduce dimension -1: the dimensions of the vector are 0 to 1"),
        (2, [1, 1], "the dimensions to reduce contain 1 twice; list it once"),
    ],
)
def test_reduction_refuses(rank: int, axes: list[int], message: str) -> None:
    with pytest.raises(ValueError) as error:
        named_layout("WGMMA").reduce(rank, axes)
    assert str(error.value) == message


def test_strided_layouts_are_reduced_where_threads_keep_their_elements() -> None:
    layout = StridedLayout([4, 2, 256], 2)
    reduced = layouts.reduce(layout, [4, 2, 256], [1])
    assert isinstance(reduced, StridedLayout)
    assert (reduced.shape, reduced.vector_size) == ([4, 256], 2)
    for thread in (0, 5, 127):
        elements = {tuple(layout.element_index(128, thread, register, e)) for register in range(8) for e in range(2)}
        results = {tuple(reduced.element_index(128, thread, register, e)) for register in range(4) for e in range(2)}
        assert results == {(i, k) for i, _, k in elements}
    kept = layouts.reduce(layout, [4, 2, 256], [0, 1], keep_dims=True)
    assert isinstance(kept, StridedLayout) and kept.shape == [1, 1, 256]
    splat = layouts.reduce(SplatLayout([4, 2]), [4, 2], [1])
    assert isinstance(splat, SplatLayout) and splat.shape == [4]
    with pytest.raises(ValueError) as error:
        layouts.reduce(layout, [4, 2, 256], [2])
    assert str(error.value) == (
        "dimension 2 cannot be reduced in the strided layout: the dimensions after it have 1 elements, which must be a "
        "multiple of 256, the consecutive elements of all threads; use a tiled layout"
    )


# --- reshapes and transposes ------------------------------------------------------------------------------------------


def random_reshape(rng: random.Random, shape: list[int]) -> list[int]:
    """Another shape with the same number of elements: adjacent sizes merged, and sizes split."""
    result = list(shape)
    for _ in range(rng.randint(1, 3)):
        if len(result) > 1 and rng.random() < 0.5:
            at = rng.randrange(len(result) - 1)
            result[at : at + 2] = [result[at] * result[at + 1]]
        else:
            at = rng.randrange(len(result))
            inner = rng.choice(divisors(result[at]))
            result[at : at + 1] = [result[at] // inner, inner]
    return result


@pytest.mark.grid(37)
@pytest.mark.parametrize(("layout", "shape"), CASES)
def test_reshaped_layout_keeps_elements_in_their_registers(layout: TiledLayout, shape: list[int]) -> None:
    rng = random.Random(str(layout))
    expected, reshaped = vectors(layout, shape), 0
    for _ in range(6):
        target = random_reshape(rng, shape)
        try:
            result = layout.reshape(shape, target)
        except ValueError as error:
            assert "must be a multiple or a divisor of" in str(error) or "ends inside a vector" in str(error)
            continue
        reshaped += 1
        # Numbers of elements in row-major order are those of both shapes.
        assert vectors(result, target) == expected
        assert result == result.canonical() or result == layout
        back = result.reshape(target, shape)
        assert vectors(back, shape) == expected
    assert layout.reshape(shape, shape) == layout
    assert reshaped > 0 or layout.vector_length > 1


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # Reshapes that JAX supports: the layout does not change.
        ([128, 64], [2, 64, 64], "[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2]"),
        ([2, 64, 64], [128, 64], "[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2]"),
        # Reshapes that JAX does not support.
        ([64, 128], [64, 16, 8], "[[64, 1, 8], [16, 1, 8], [8, 1, 8], [2]], warp_dims = [-10], lane_dims = [-4, -2]"),
        ([64, 8], [512], "[[512], [128], [64], [8], [2]], warp_dims = [-5], lane_dims = [-3, -2]"),
        ([64, 8], [64, 8, 1], "[[64, 8, 1], [16, 8, 1], [8, 8, 1], [2, 1]], warp_dims = [-10], lane_dims = [-4, -5]"),
    ],
)
def test_reshapes_of_the_accumulator(source: list[int], target: list[int], expected: str) -> None:
    result = named_layout("WGMMA").reshape(source, target)
    assert vectors(result, target) == vectors(named_layout("WGMMA"), source)
    if not expected.startswith("[[64, 8, 1]"):
        assert str(result).startswith(expected)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([64, 8], [64, 4, 2, 1, 1], None),
        ([64, 8], [512, 1], None),
        (
            [64, 8],
            [64, 8, 2],
            "a reshape must keep the number of elements, but [64, 8] has 512 and [64, 8, 2] has 1024",
        ),
        ([64, 8], [256, 2, 1], None),
        (
            [64, 24],
            [48, 32],
            "size 48 of dimension 0 of the new shape must be a multiple or a divisor of 8, the number of parts into which "
            "the layout splits source dimension 0",
        ),
        (
            [64, 8],
            [512, 0],
            "the new shape [512, 0] of the reshape must have at least one dimension and positive sizes",
        ),
        (
            [60, 8],
            [480],
            "shape [60, 8] must be a multiple of the first tile of the layout, [64, 8], but 60 is not a multiple of 64",
        ),
    ],
)
def test_reshape_says_why_there_is_no_layout(source: list[int], target: list[int], message: str | None) -> None:
    layout = named_layout("WGMMA")
    if message is None:
        assert vectors(layout.reshape(source, target), target) == vectors(layout, source)
        return
    with pytest.raises(ValueError) as error:
        layout.reshape(source, target)
    assert str(error.value) == message


def test_reshape_does_not_cut_a_vector() -> None:
    with pytest.raises(ValueError) as error:
        layouts.tmem_native(8).reshape([128, 8], [128, 2, 4])
    assert str(error.value) == (
        "dimension 1 of the new shape, of size 2, ends inside a vector of 8 elements that the layout keeps together; use "
        "sizes that keep these vectors whole"
    )


@pytest.mark.grid(37)
@pytest.mark.parametrize(("layout", "shape"), CASES)
def test_transposed_layout_keeps_elements_in_their_registers(layout: TiledLayout, shape: list[int]) -> None:
    numbers = np.arange(math.prod(shape)).reshape(shape)
    expected = vectors(layout, shape)
    for permutation in itertools.permutations(range(len(shape))):
        result = layout.transpose(list(permutation))
        moved = numbers.transpose(permutation)
        transposed_shape = list(moved.shape)
        flat = moved.reshape(-1)
        renamed = {
            thread: Counter({tuple(int(flat[n]) for n in vector): count for vector, count in found.items()})
            for thread, found in vectors(result, transposed_shape).items()
        }
        assert renamed == expected
        inverse = [permutation.index(dim) for dim in range(len(shape))]
        assert vectors(result.transpose(inverse), shape) == expected


@pytest.mark.parametrize("name", layouts.layout_names())
def test_named_layouts_transposed_twice_are_themselves(name: str) -> None:
    layout = named_layout(name)
    if len(layout.tiling[0]) == 2:
        assert layout.transpose([1, 0]) != layout
        # The last tile of a transposed layout only states the vector's position.
        if "TRANSPOSED" not in name:
            assert layout.transpose([1, 0]).transpose([1, 0]) == layout


def test_transpose_refuses() -> None:
    for permutation in ([0, 0], [1, 2], [0]):
        with pytest.raises(ValueError):
            named_layout("WGMMA").transpose(permutation)
    with pytest.raises(ValueError, match="a strided layout requires row-major order"):
        layouts.transpose(StridedLayout([64, 4], 2), [64, 4], [1, 0])
    moved = layouts.transpose(StridedLayout([64, 1, 4], 2), [64, 1, 4], [1, 0, 2])
    assert isinstance(moved, StridedLayout) and moved.shape == [1, 64, 4]


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", layouts.layout_names())
def test_named_layouts_are_those_of_the_table(name: str) -> None:
    layout = named_layout(name)
    assert layout == layout.canonical()
    assert (layout.num_warps, layout.num_lanes) == (4, 32)
    replicas = math.prod(part.times for part in [*layout.warp_dims, *layout.lane_dims] if isinstance(part, Replicated))
    counts = Counter(enumerate_layout(layout, SHAPES[name]).values())
    assert counts == dict.fromkeys(range(math.prod(SHAPES[name])), replicas)
    # A layout with two names has the first.
    assert layouts.name_of(layout) == ("WGMMA_COL" if name == "TCGEN05_COL" else name)


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        (layouts.tmem_native(4), "TMEM_NATIVE(4)"),
        (layouts.m64_collective(64), "M64_COLLECTIVE(64)"),
        (layouts.mma_lhs(8), "MMA_LHS(8)"),
        (layouts.mma_rhs(16), "MMA_RHS(16)"),
        (layouts.mma_accumulator(), "WGMMA"),
        (layouts.wgmma(warps=8), None),
    ],
)
def test_layouts_with_parameters_have_names(layout: TiledLayout, name: str | None) -> None:
    assert layouts.name_of(layout) == name
    assert layouts.describe(layout) == (name or f"TiledLayout<{layout}>")


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown layout 'WGMMA_T'; known layouts: WGMMA, WGMMA_ACC_32BIT, "):
        named_layout("WGMMA_T")


def test_descriptions_of_other_layouts() -> None:
    assert layouts.describe(StridedLayout([256], 2)) == "WG_STRIDED(2)"
    assert layouts.describe(SplatLayout([256])) == "WG_SPLAT"


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
@pytest.mark.parametrize(("warps", "warps_m"), [(4, 4), (4, 2), (4, 1), (8, 2), (1, 1)])
def test_mma_operands_are_those_of_the_instruction(bits: int, warps: int, warps_m: int) -> None:
    packed, warps_n = 32 // bits, warps // warps_m
    k = 8 * packed
    problems = {
        # PTX ISA: group = lane / 4, thread = lane % 4.
        "lhs": (
            layouts.mma_lhs(bits, warps, warps_m),
            [16 * warps_m, k],
            lambda m, n, group, thread, r, e: (
                16 * m + group + 8 * (r % 2),
                4 * packed * (r // 2) + packed * thread + e,
            ),
        ),
        "rhs": (
            layouts.mma_rhs(bits, warps, warps_m),
            [k, 8 * warps_n],
            lambda m, n, group, thread, r, e: (4 * packed * r + packed * thread + e, 8 * n + group),
        ),
        "accumulator": (
            layouts.mma_accumulator(warps, warps_m),
            [16 * warps_m, 8 * warps_n],
            lambda m, n, group, thread, r, e: (16 * m + group + 8 * r, 8 * n + 2 * thread + e),
        ),
    }
    for layout, shape, expected in problems.values():
        assert layout.num_warps == warps
        for warp, lane in itertools.product(range(warps), range(32)):
            m, n = divmod(warp, warps_n)
            for r, e in itertools.product(range(layout.num_registers(shape)), range(layout.vector_length)):
                want = expected(m, n, lane // 4, lane % 4, r, e)
                assert tuple(layout.element_index(shape, warp, lane, r, e)) == want


def test_default_strided_layout() -> None:
    def vector(shape: list[int], bits: int, threads: int = 128) -> int | None:
        layout = layouts.strided(shape, bits, threads)
        return layout.vector_size if layout else None

    assert vector([128, 128], 32) == 2
    assert vector([128, 128], 8) == 8
    assert vector([128], 16) == 1
    assert vector([384], 16) == 3
    assert vector([640], 16) == 1
    assert vector([6, 64], 8) == 3
    assert vector([100], 32) is None
    assert vector([128], 4) is None
    assert vector([64], 32, 64) == 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (2, 2), (4, 1), (8, 2), (6, 4), (1, 8)])
@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_copies_have_every_element_once(rows: int, columns: int, swizzle: int, bits: int) -> None:
    layout = layouts.smem_gmem_copy(rows, columns, swizzle, bits)
    assert layout is not None
    shape = [8 * rows, swizzle * 8 // bits * columns]
    layout.validate_for(shape)
    numbers = list(enumerate_layout(layout, shape).values())
    assert sorted(numbers) == list(range(math.prod(shape)))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (3, 2), (2, 1)])
def test_copies_of_uneven_tiles_have_no_layout(rows: int, columns: int) -> None:
    assert layouts.smem_gmem_copy(rows, columns, 128, 16) is None


@pytest.mark.parametrize(
    ("chip", "operand", "shape", "element", "first"),
    [
        ("gfx942", "accumulator", [64, 64], "f32", ("v_mfma_f32_16x16x16_f16", 4, 1)),
        ("gfx950", "a", [64, 64], "f16", ("v_mfma_f32_16x16x32_f16", 4, 1)),
        ("gfx950", "b", [64, 128], "bf16", ("v_mfma_f32_16x16x32_bf16", 4, 1)),
        ("gfx1201", "accumulator", [32, 32], "f32", ("v_wmma_f32_16x16x16_f16", 2, 2)),
        ("sm_80", "accumulator", [64, 32], "f32", ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 1)),
    ],
)
def test_fragments_of_a_block(
    chip: str, operand: str, shape: list[int], element: str, first: tuple[str, int, int]
) -> None:
    found = layouts.block_fragments(chip, operand, shape, element, 4)
    assert found[0][:3] == first
    assert {(m, n) for _, m, n, _ in found} <= {(4, 1), (2, 2), (1, 4)}
    for _, warps_m, warps_n, layout in found:
        assert layout.num_warps == 4 and layout.num_lanes == targets.get(chip).wave_size
        layout.validate_for(shape)
        replicas = {"a": warps_n, "b": warps_m, "accumulator": 1}[operand]
        held = enumerate_layout(layout, shape)
        by_lane = math.prod(part.times for part in layout.lane_dims if isinstance(part, Replicated))
        assert Counter(held.values()) == dict.fromkeys(range(math.prod(shape)), replicas * by_lane)
        # Warp n + warps_n * m has row m and column n of the instruction's tiles.
        rows = {warp: min(n // shape[1] for (w, _, _, _), n in held.items() if w == warp) for warp in range(4)}
        if operand != "b":
            assert [rows[warp] > 0 for warp in range(4)] == [warp // warps_n > 0 for warp in range(4)]


def test_fragments_of_nothing() -> None:
    assert layouts.block_fragments("gfx942", "a", [8, 8], "f16") == []
    assert layouts.block_fragments("gfx1100", "a", [64, 64], "f64") == []
    with pytest.raises(ValueError, match="operand is 'c'; it must be 'a', 'b' or 'accumulator'"):
        layouts.block_fragments("gfx942", "c", [64, 64], "f16")


# --- tensor memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", [1, 2, 4, 8])
def test_tensor_memory_layouts(packing: int) -> None:
    tables: list[tuple[TiledLayout | None, list[int]]] = [
        (layouts.tmem_default(packing), [128, 64]),
        (layouts.tmem_half_lane(64, packing), [64, 64]),
        (layouts.tmem_m64_collective(64, packing), [64, 64]),
    ]
    for layout, shape in tables:
        assert layout is not None
        assert layout.vector_length == packing
        assert sorted(enumerate_layout(layout, shape).values()) == list(range(math.prod(shape)))
    for none in (
        layouts.tmem_default(3),
        layouts.tmem_default(16),
        layouts.tmem_half_lane(24, packing),
        layouts.tmem_half_lane(16, 16),
        layouts.tmem_m64_collective(8, packing),
    ):
        assert none is None


def test_scales_are_in_every_quarter_that_needs_them() -> None:
    scales = layouts.tmem_scales()
    assert Counter(enumerate_layout(scales, [128, 4]).values()) == dict.fromkeys(range(512), 4)
    halves = layouts.tmem_b_scales_m64_collective()
    quarters: dict[int, set[int]] = {}
    for (warp, _, _, _), number in enumerate_layout(halves, [256, 4]).items():
        quarters.setdefault(number // 4 // 128, set()).add(warp)
    assert quarters == {0: {0, 2}, 1: {1, 3}}


def test_layouts_that_tensor_memory_is_moved_to() -> None:
    default, half = layouts.tmem_default(1), layouts.tmem_half_lane(64)
    assert default is not None and half is not None
    assert layouts.is_tmem_transfer(default, named_layout("TCGEN05"), [128, 64], 32)
    assert layouts.is_tmem_transfer(default, layouts.tmem_native(1), [128, 64], 32)
    assert not layouts.is_tmem_transfer(default, layouts.tmem_native(1), [128, 64], 16)
    assert layouts.is_tmem_transfer(half, named_layout("WGMMA"), [64, 64], 32)
    assert not layouts.is_tmem_transfer(default, named_layout("WGMMA"), [128, 64], 32)
