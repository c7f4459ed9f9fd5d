# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout algebra against brute force.

The reference tiles a numpy array of element numbers by reshaping it, and indexes it to find the elements of a lane. It
is independent of the C++ implementation.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from smalti.layouts import Replicated, StridedLayout, TiledLayout, block_layout

Part = int | Replicated
Spec = tuple[list[list[int]], list[Part], list[Part], int]

# Tiling, warps, lanes, vector; the first are those that JAX names.
NAMED: dict[str, tuple[Spec, list[list[int]]]] = {
    "wgmma": (
        ([[64, 8], [16, 8], [8, 8], [2]], [-7], [-3, -2], -1),
        [[64, 8], [128, 16], [2, 64, 24]],
    ),
    "wgmma_32bit": (([[64, 8], [16, 8], [8, 8], [2], [1]], [-8], [-4, -3], -1), [[64, 16]]),
    "wgmma_8bit": (([[64, 16], [16, 16], [8, 16], [4]], [-7], [-3, -2], -1), [[64, 32]]),
    "wgmma_upcast_2x": (([[64, 16], [16, 16], [8, 16], [8], [4]], [-8], [-4, -2, -3], -1), [[64, 16]]),
    "wgmma_transposed": (
        ([[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], [-10], [-6, -3, -5], -2),
        [[64, 8], [128, 16]],
    ),
    "wgmma_row": (([[64], [16], [8], [1]], [-4], [-2, Replicated(4)], -1), [[64], [192], [2, 64]]),
    "wgmma_column": (([[8], [2]], [Replicated(4)], [Replicated(8), -2], -1), [[8], [40]]),
    "tmem_native": (([[128, 2], [32, 2]], [-4], [-2], -1), [[128, 8]]),
    "gather_indices": (([[4]], [Replicated(4)], [Replicated(32)], -1), [[4], [16]]),
    "wave_of_64": (([[32, 32], [8, 32], [4, 1]], [], [-4, -3], -2), [[32, 32], [64, 32]]),
    "one_thread": (([[4]], [], [], -1), [[4], [3, 8]]),
    "trivial_parts": (
        ([[16, 8], [16, 8], [8, 8], [8, 8], [2], [1]], [-9, Replicated(2), Replicated(2)], [-4, Replicated(1), -3], -1),
        [[16, 8], [32, 16]],
    ),
}
CASES = [
    pytest.param(spec, shape, id=f"{name}-{'x'.join(map(str, shape))}")
    for name, (spec, shapes) in NAMED.items()
    for shape in shapes
]


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def random_case(rng: random.Random) -> tuple[Spec, list[int]]:
    rank = rng.randint(1, 3)
    tiling = [[rng.choice([1, 2, 3, 4, 6, 8]) for _ in range(rank)]]
    for _ in range(rng.randint(0, 3)):
        rank = rng.randint(1, rank)
        tiling.append([rng.choice(divisors(size)) for size in tiling[-1][-rank:]])
    dims = list(range(-sum(map(len, tiling)), 0))
    rng.shuffle(dims)
    vector_dim = dims.pop()

    def parts() -> list[Part]:
        result: list[Part] = [dims.pop() for _ in range(rng.randint(0, min(2, len(dims))))]
        if rng.random() < 0.4:
            result.insert(rng.randint(0, len(result)), Replicated(rng.randint(1, 3)))
        return result

    spec = (tiling, parts(), parts(), vector_dim)
    shape = [size * rng.randint(1, 2) for size in tiling[0]]
    if rng.random() < 0.3:
        shape.insert(0, rng.randint(1, 3))
    return spec, shape


RANDOM = [pytest.param(*random_case(random.Random(seed)), id=f"random-{seed}") for seed in range(60)]


def tiled_array(shape: Sequence[int], tiling: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """The numbers of the elements, in an array of the fully tiled shape."""
    array = np.arange(math.prod(shape)).reshape(shape)
    for tile in tiling:
        head = array.shape[: array.ndim - len(tile)]
        suffix = array.shape[array.ndim - len(tile) :]
        split = [part for size, t in zip(suffix, tile, strict=True) for part in (size // t, t)]
        array = array.reshape(*head, *split)
        first = len(head)
        outer = [first + 2 * i for i in range(len(tile))]
        inner = [first + 2 * i + 1 for i in range(len(tile))]
        array = array.transpose(*range(first), *outer, *inner)
    return array


def reference(spec: Spec, shape: Sequence[int]) -> dict[tuple[int, int, int, int], int]:
    """(warp, lane, register, element) -> number of the element."""
    tiling, warp_dims, lane_dims, vector_dim = spec
    array = tiled_array(shape, tiling)
    taken = {part + array.ndim for part in [*warp_dims, *lane_dims, vector_dim] if isinstance(part, int)}
    registers = [dim for dim in range(array.ndim) if dim not in taken]

    def size(part: Part) -> int:
        return part.times if isinstance(part, Replicated) else array.shape[part]

    elements = {}
    warps, lanes = [size(p) for p in warp_dims], [size(p) for p in lane_dims]
    register_sizes = [array.shape[dim] for dim in registers]
    for warp, w in enumerate(itertools.product(*map(range, warps))):
        for lane, n in enumerate(itertools.product(*map(range, lanes))):
            for register, r in enumerate(itertools.product(*map(range, register_sizes))):
                for element in range(array.shape[vector_dim]):
                    index = [0] * array.ndim
                    index[vector_dim] = element
                    for part, digit in [*zip(warp_dims, w, strict=True), *zip(lane_dims, n, strict=True)]:
                        if isinstance(part, int):
                            index[part] = digit
                    for dim, digit in zip(registers, r, strict=True):
                        index[dim] = digit
                    elements[warp, lane, register, element] = int(array[tuple(index)])
    return elements


def enumerate_layout(layout: TiledLayout, shape: list[int]) -> dict[tuple[int, int, int, int], int]:
    """The same from the algebra."""
    locations = itertools.product(
        range(layout.num_warps),
        range(layout.num_lanes),
        range(layout.num_registers(shape)),
        range(layout.vector_length),
    )
    return {where: int(np.ravel_multi_index(layout.element_index(shape, *where), shape)) for where in locations}


@pytest.mark.parametrize(("spec", "shape"), CASES + RANDOM)
def test_elements_are_where_the_definition_says(spec: Spec, shape: list[int]) -> None:
    assert enumerate_layout(TiledLayout(*spec), shape) == reference(spec, shape)


@pytest.mark.parametrize(("spec", "shape"), CASES + RANDOM)
def test_every_element_is_held_once_or_as_often_as_replicated(spec: Spec, shape: list[int]) -> None:
    layout = TiledLayout(*spec)
    times = math.prod(part.times for part in [*spec[1], *spec[2]] if isinstance(part, Replicated))
    elements = enumerate_layout(layout, shape)
    assert Counter(elements.values()) == dict.fromkeys(range(math.prod(shape)), times)

    firsts = Counter(number for (warp, lane, _, _), number in elements.items() if layout.is_first_replica(warp, lane))
    assert firsts == dict.fromkeys(range(math.prod(shape)), 1)

    # The first replica is the one with the lowest warp and lane of those that hold the same.
    lowest: dict[tuple[int, int, int], tuple[int, int]] = {}
    for warp, lane, register, element in sorted(elements):
        lowest.setdefault((elements[warp, lane, register, element], register, element), (warp, lane))
    assert all(layout.is_first_replica(warp, lane) for warp, lane in lowest.values())


@pytest.mark.parametrize(("spec", "shape"), CASES + RANDOM)
def test_canonical_layout_moves_no_element(spec: Spec, shape: list[int]) -> None:
    layout = TiledLayout(*spec)
    canonical = layout.canonical()
    assert enumerate_layout(canonical, shape) == enumerate_layout(layout, shape)
    assert canonical.canonical() == canonical
    assert len(canonical.tiling) <= len(layout.tiling)
    for warp, lane in itertools.product(range(layout.num_warps), range(layout.num_lanes)):
        assert canonical.is_first_replica(warp, lane) == layout.is_first_replica(warp, lane)


def test_canonical_layout_is_written_as_jax_writes_it() -> None:
    spec, _ = NAMED["trivial_parts"]
    assert str(TiledLayout(*spec).canonical()) == (
        "[[16, 8], [8, 8], [2], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 2>, "
        "#mosaic_gpu.Replicated<times = 2>], lane_dims = [-4, -3], vector_dim = -1"
    )
    for name, (spec, _) in NAMED.items():
        if name != "trivial_parts":
            assert TiledLayout(*spec).canonical() == TiledLayout(*spec)


@pytest.mark.parametrize(("spec", "shape"), CASES + RANDOM)
def test_dims_are_those_of_the_tiled_array(spec: Spec, shape: list[int]) -> None:
    layout = TiledLayout(*spec)
    array = tiled_array(shape, spec[0])
    dims = layout.tile(shape)
    assert tuple(size for _, _, size in dims) == array.shape
    row_major = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    strides = tuple(array.strides[d] // array.itemsize for d in range(array.ndim))
    assert all(
        size == 1 or stride * row_major[dim] == expected
        for (dim, stride, size), expected in zip(dims, strides, strict=True)
    )
    assert layout.num_registers(shape) == math.prod(size for _, _, size in layout.register_dims(shape))


# --- block layouts ----------------------------------------------------------------------------------------------------

FRAGMENTS: dict[str, tuple[Spec, list[int]]] = {
    "own_shape_first": (([[16, 8], [8, 8], [2]], [], [-3, -2], -1), [16, 8]),
    "smaller_first_tile": (([[8, 8], [2]], [], [-3, -2], -1), [16, 16]),
    "wave_of_64": (([[32, 8], [32, 4], [4]], [], [-4, -3], -1), [32, 8]),
    "replicated_lanes": (([[16, 16], [1, 16]], [], [Replicated(2), -4], -1), [16, 16]),
    "scalar": (([[4, 1]], [], [-2, Replicated(8)], -1), [4, 8]),
}


@pytest.mark.parametrize("name", FRAGMENTS)
@pytest.mark.parametrize("warps", [[1, 1], [2, 1], [1, 3], [2, 4]])
@pytest.mark.parametrize(("replicated", "order"), [(1, [0, 1]), (2, [2, 0, 1]), (2, [1, 0, 2]), (1, [1, 2, 0])])
def test_block_layout_distributes_fragments_across_warps(
    name: str, warps: list[int], replicated: int, order: list[int]
) -> None:
    spec, tile = FRAGMENTS[name]
    fragment = TiledLayout(*spec)
    layout = block_layout(fragment, tile, warps, replicated, order)
    shape = [2 * warps[0] * tile[0], 3 * warps[1] * tile[1]]
    sizes = [*warps, replicated]
    assert layout.num_warps == math.prod(sizes)
    assert layout.num_lanes == fragment.num_lanes
    assert layout.vector_length == fragment.vector_length
    assert layout == layout.canonical()

    registers = fragment.num_registers(tile)
    assert layout.num_registers(shape) == 6 * registers
    for warp, digits in enumerate(itertools.product(*(range(sizes[part]) for part in order))):
        position = dict(zip(order, digits, strict=True))
        for lane, repeat, register in itertools.product(range(layout.num_lanes), range(6), range(registers)):
            rows, columns = divmod(repeat, 3)
            inside = fragment.element_index(tile, 0, lane, register, 0)
            expected = [
                (rows * warps[0] + position.get(0, 0)) * tile[0] + inside[0],
                (columns * warps[1] + position.get(1, 0)) * tile[1] + inside[1],
            ]
            assert layout.element_index(shape, warp, lane, repeat * registers + register, 0) == expected


def test_block_layout_of_four_warps_is_the_accumulator_of_wgmma() -> None:
    spec, tile = FRAGMENTS["own_shape_first"]
    assert block_layout(TiledLayout(*spec), tile, [4, 1]) == TiledLayout(*NAMED["wgmma"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([16, 12], [1, 1]), "must be a multiple of the first tile"),
        (([16], [1]), "has fewer dimensions than"),
        (
            ([2, 16, 8], [1, 1, 1]),
            "the first tile of the fragment layout has rank 2, but the fragment shape has rank 3; the ranks must be equal",
        ),
        (
            ([16, 8], [1]),
            "warps has 1 entries, but the fragment shape has 2 dimensions; one entry per dimension is required",
        ),
        (([16, 8], [0, 1]), "between 1 and 65536"),
        (([16, 8], [1, 1], 0), "between 1 and 65536"),
        (([16, 8], [65536, 65536]), "more than 2147483647 elements"),
        (([16, 8], [2, 1], 1, [3]), "must be at least 0 and less than 3"),
        (([16, 8], [2, 1], 1, [0, 0]), "warp_order contains 0 twice; list each dimension only once"),
        (([16, 8], [2, 2], 1, [0]), "must list every dimension"),
    ],
)
def test_block_layout_refuses(arguments: tuple[Any, ...], message: str) -> None:
    spec, _ = FRAGMENTS["own_shape_first"]
    with pytest.raises(ValueError) as error:
        block_layout(TiledLayout(*spec), *arguments)
    assert message in str(error.value)


def test_block_layout_refuses_a_fragment_of_several_warps() -> None:
    with pytest.raises(ValueError, match=r"the fragment layout has warp_dims, .* pass a layout of one warp"):
        block_layout(TiledLayout(*NAMED["wgmma"][0]), [64, 8], [1, 1])


# --- strided layouts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "vector_size", "threads"), [([128, 128], 2, 128), ([6, 4], 3, 4), ([64], 1, 64), ([2, 3, 8], 4, 2)]
)
def test_strided_layout_distributes_chunks_round_robin(shape: list[int], vector_size: int, threads: int) -> None:
    layout = StridedLayout(shape, vector_size)
    chunks = np.arange(math.prod(shape)).reshape(-1, threads, vector_size)
    assert layout.num_registers(threads) == len(chunks)
    for (register, thread, element), number in np.ndenumerate(chunks):
        index = layout.element_index(threads, thread, register, element)
        assert np.ravel_multi_index(index, shape) == number


@pytest.mark.parametrize(
    ("shape", "vector_size", "message"),
    [
        ([8, 0], 1, "must have positive sizes"),
        ([8], 0, "vector size of the strided layout .* must be positive"),
        ([8], 3, "does not divide the 8 elements"),
        ([1 << 40, 1 << 40], 1, "more than 2147483647 elements"),
    ],
)
def test_strided_layout_refuses(shape: list[int], vector_size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StridedLayout(shape, vector_size)


@pytest.mark.parametrize("threads", [3, 0, -4, 128])
def test_strided_layout_refuses_threads(threads: int) -> None:
    with pytest.raises(ValueError, match="cannot be distributed evenly"):
        StridedLayout([64], 2).num_registers(threads)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (([], [], [], -1), "at least one tile"),
        (([[]], [], [], -1), "at least one dimension"),
        (([[8, 0]], [], [], -1), "must have positive sizes"),
        (([[8], [2, 2]], [], [], -1), "more dimensions than"),
        (([[64, 8], [48, 8]], [], [], -1), "does not divide"),
        (([[1 << 40, 1 << 40]], [], [], -1), "more than 2147483647 elements"),
        (([[8], [2]], [-3], [], -1), "it must be from -2 to -1"),
        (([[8], [2]], [], [0], -1), "count dimensions from the end"),
        (([[8], [2]], [], [2], -1), "count dimensions from the end"),
        (([[8], [2]], [], [], 0), "it must be from -2 to -1"),
        (([[8], [2]], [-2], [-2], -1), "used twice"),
        (([[8], [2]], [-1], [], -1), "used twice"),
        (([[8]], [Replicated(0)], [], -1), "must be positive"),
        (
            ([[8]], [Replicated(1 << 40), Replicated(1 << 40)], [], -1),
            "the product of the sizes of warp_dims of the layout exceeds the limit of",
        ),
    ],
)
def test_layout_refuses(spec: Spec, message: str) -> None:
    with pytest.raises(ValueError) as error:
        TiledLayout(*spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([64], "has fewer dimensions than"),
        ([96, 8], "must be a multiple of the first tile"),
        ([64, 0], "must have positive sizes"),
        ([1 << 40, 64, 8], "more than 2147483647 elements"),
    ],
)
def test_layout_refuses_shape(shape: list[int], message: str) -> None:
    layout = TiledLayout(*NAMED["wgmma"][0])
    for ask in (layout.validate_for, layout.tile, layout.register_dims, layout.num_registers):
        with pytest.raises(ValueError, match=message):
            ask(shape)
    with pytest.raises(ValueError, match=message):
        layout.element_index(shape, 0, 0, 0, 0)


@pytest.mark.parametrize("place", [(4, 0, 0, 0), (0, 32, 0, 0), (0, 0, 2, 0), (0, 0, 0, 2), (-1, 0, 0, 0)])
def test_layout_refuses_an_index(place: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 0 and less than"):
        TiledLayout(*NAMED["wgmma"][0]).element_index([64, 8], *place)


def test_layout_reads_back() -> None:
    spec, _ = NAMED["wgmma_row"]
    layout = TiledLayout(*spec)
    assert (layout.tiling, layout.warp_dims, layout.lane_dims, layout.vector_dim) == spec
    assert layout == TiledLayout(*spec)
    assert hash(layout) == hash(TiledLayout(*spec))
    assert layout != TiledLayout(*NAMED["wgmma"][0])
    assert (layout.num_warps, layout.num_lanes, layout.vector_length) == (4, 32, 1)
