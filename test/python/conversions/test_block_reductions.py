# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mosaic_gpu.reduce` and `mosaic_gpu.scan` on emulated chips and in the simulator, compared with numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from helpers import SAFE, Array

TARGETS = ["emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_80"]

TYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


def lanes_of(target: str) -> int:
    return 64 if target.endswith("gfx942") else 32


def tiled(tiling: Sequence[Sequence[int]], warps: str, lanes: str, vector: int = -1) -> str:
    tiles = ", ".join(str(list(tile)) for tile in tiling)
    return f"#mosaic_gpu.TiledLayout<[{tiles}], warp_dims = [{warps}], lane_dims = [{lanes}], vector_dim = {vector}>"


def replicated(times: int) -> str:
    return f"#mosaic_gpu.Replicated<times = {times}>"


def layouts(warps: int, lanes: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Layouts, each with a shape for which it is valid."""
    columns = lanes // 4
    return {
        # A row per warp, with consecutive elements in a lane.
        "rows": (tiled([[warps, lanes * 4], [1, lanes * 4], [4]], "-5", "-2"), (2 * warps, lanes * 8)),
        # Each row across all threads.
        "columns": (tiled([[warps * lanes * 2], [lanes * 2], [2]], "-3", "-2"), (3, warps * lanes * 4)),
        # As the accumulator of an MMA: digits of lanes, registers and warps alternate along both dimensions.
        "mma": (
            tiled([[warps * 16, columns], [16, columns], [8, columns], [2]], "-7", "-3, -2"),
            (warps * 32, columns * 3),
        ),
        # The vector of a register along the first dimension.
        "transposed": (
            tiled([[warps * 16, lanes // 8], [16, lanes // 8], [2, 1]], "-6", "-4, -3", -2),
            (warps * 16, lanes // 4),
        ),
        # Four lanes have different elements; other lanes and all warps have the same.
        "repeated": (tiled([[8], [2]], replicated(warps), f"{replicated(lanes // 4)}, -2"), (5, 24)),
        # Three dimensions; lanes along the first, warps along the second.
        "three": (tiled([[lanes, warps, 1]], "-2", "-3"), (lanes, 2 * warps, 3)),
        "strided": (f"#mosaic_gpu.WGStridedFragLayout<[{warps * lanes * 6}], 2>", (warps * lanes * 6,)),
        "matrix": (f"#mosaic_gpu.WGStridedFragLayout<[4, {warps * lanes * 2}], 2>", (4, warps * lanes * 2)),
        # One element, in every thread.
        "one": (tiled([[1]], replicated(warps), replicated(lanes)), (1,)),
    }


Tuple = list[Array]


@dataclass(frozen=True)
class Combination:
    """A region and what it computes."""

    types: tuple[str, ...]
    inits: tuple[Any, ...]
    region: str
    function: Callable[[Tuple, Tuple], Tuple]
    outside: str = ""
    """Ops before the reduction."""
    exact: bool = True
    names: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        left = [f"%a{i}: {element}" for i, element in enumerate(self.types)]
        right = [f"%b{i}: {element}" for i, element in enumerate(self.types)]
        results = ", ".join(f"%r{i}" for i in range(len(self.types)))
        return (
            f"{{\n    ^bb0({', '.join(left + right)}):\n{self.region}\n"
            f"      mosaic_gpu.return {results} : {', '.join(self.types)}\n    }}"
        )


def binary(op: str, element: str, init: Any, function: Callable[[Array, Array], Array], exact: bool = True) -> Any:
    return Combination(
        (element,),
        (init,),
        f"      %r0 = arith.{op} %a0, %b0 : {element}",
        lambda a, b: [function(a[0], b[0])],
        exact=exact,
    )


def first_maximum(a: Tuple, b: Tuple) -> Tuple:
    (x, i), (y, j) = a, b
    nan_x, nan_y = np.isnan(x), np.isnan(y)
    left = (nan_x & ~nan_y) | (x > y) | (((x == y) | (nan_x & nan_y)) & (i < j))
    return [np.where(left, x, y), np.where(left, i, j)]


ARGMAX = Combination(
    ("f32", "i32"),
    (-np.inf, 2**31 - 1),
    """
      %nan_a = arith.cmpf uno, %a0, %a0 : f32
      %nan_b = arith.cmpf uno, %b0, %b0 : f32
      %not_b = arith.xori %nan_b, %true : i1
      %only_a = arith.andi %nan_a, %not_b : i1
      %both = arith.andi %nan_a, %nan_b : i1
      %greater = arith.cmpf ogt, %a0, %b0 : f32
      %equal = arith.cmpf oeq, %a0, %b0 : f32
      %tie = arith.ori %equal, %both : i1
      %before = arith.cmpi slt, %a1, %b1 : i32
      %first = arith.andi %tie, %before : i1
      %x = arith.ori %only_a, %greater : i1
      %left = arith.ori %x, %first : i1
      %r0 = arith.select %left, %a0, %b0 : f32
      %r1 = arith.select %left, %a1, %b1 : i32""",
    first_maximum,
    "    %true = arith.constant true\n",
)


def compose(a: Tuple, b: Tuple) -> Tuple:
    with np.errstate(over="ignore"):
        return [a[0] * b[0], a[1] * b[0] + b[1]]


AFFINE = Combination(
    ("i32", "i32"),
    (3, 5),
    """
      %r0 = arith.muli %a0, %b0 : i32
      %y = arith.muli %a1, %b0 : i32
      %r1 = arith.addi %y, %b1 : i32""",
    compose,
)
"""Composition of functions `x * a + b`: associative, not commutative."""

LARGER = Combination(
    ("i32",),
    (-7,),
    """
      %greater = arith.cmpi sgt, %a0, %b0 : i32
      %r0 = scf.if %greater -> i32 {
        %m = arith.maxsi %a0, %least : i32
        scf.yield %m : i32
      } else {
        %m = arith.maxsi %b0, %least : i32
        scf.yield %m : i32
      }""",
    lambda a, b: [np.maximum(np.maximum(a[0], b[0]), -100)],
    "    %least = arith.constant -100 : i32\n",
)
"""Control flow, and a scalar of the kernel."""

COMBINATIONS: dict[str, Combination] = {
    "argmax": ARGMAX,
    "affine": AFFINE,
    "larger": LARGER,
    "sum f32": binary("addf", "f32", 1, np.add, exact=False),
    "sum f16": binary("addf", "f16", 1, np.add, exact=False),
    "max f16": binary("maximumf", "f16", 0.5, np.maximum),
    "max bf16": binary("maximumf", "bf16", -1, np.maximum),
    "max f64": binary("maxnumf", "f64", -np.inf, np.fmax),
    "sum i32": binary("addi", "i32", 1, np.add),
    "sum i8": binary("addi", "i8", 1, np.add),
    "xor i16": binary("xori", "i16", 5, np.bitwise_xor),
    "min i64": binary("minsi", "i64", 2**62, np.minimum),
    "and i32": binary("andi", "i32", -1, np.bitwise_and),
}


def shaped(kind: str, element: str, shape: tuple[int, ...]) -> str:
    return f"{kind}<{'x'.join([*map(str, shape), element])}>"


def constant(element: str, value: Any) -> str:
    if element[0] == "i":
        return str(value)
    code = {"f16": "u2", "bf16": "u2", "f32": "u4", "f64": "u8"}[element]
    bits = np.asarray(value, TYPES[element]).view(code)
    return f"0x{int(bits):0{2 * bits.itemsize}X}"


@functools.cache
def compiled(target: str, name: str, layout: str, warps: int, op: str, result: tuple[int, ...]) -> Any:
    """A kernel of one block. Results that are scalars are stored by all threads."""
    combination, lanes = COMBINATIONS[name], lanes_of(target)
    text, shape = layouts(warps, lanes)[layout]
    count, types = len(combination.types), combination.types
    arguments = [f"%x{i}: {shaped('memref', element, shape)}" for i, element in enumerate(types)]
    arguments += [f"%y{i}: {shaped('memref', element, result or (warps * lanes,))}" for i, element in enumerate(types)]
    body = combination.outside
    for i, element in enumerate(types):
        body += f"    %z{i} = arith.constant {constant(element, combination.inits[i])} : {element}\n"
        body += (
            f"    %v{i} = mosaic_gpu.vector_load %x{i} {{optimized = false, out_layouts = [{text}]}} : "
            f"{shaped('memref', element, shape)} -> {shaped('vector', element, shape)}\n"
        )
    inputs = ", ".join(f"%v{i}" for i in range(count))
    inits = ", ".join(f"%z{i}" for i in range(count))
    vectors = ", ".join(shaped("vector", element, shape) for element in types)
    results = [shaped("vector", element, result) if result else element for element in types]
    body += f"    %s{':' + str(count) if count > 1 else ''} = mosaic_gpu.{op.format(inputs=inputs, inits=inits)} : {vectors}"
    if op.startswith("reduce"):
        body += f" -> {', '.join(results)}"
    body += f" {combination.text}\n"
    for i, element in enumerate(types):
        value, stored = f"%s#{i}" if count > 1 else "%s", result or (warps * lanes,)
        attributes = ""
        if not result:
            body += (
                f"    %w{i} = vector.broadcast {value} {{out_layouts = [#mosaic_gpu.WGSplatFragLayout<"
                f"{list(stored)}>]}} : {element} to {shaped('vector', element, stored)}\n"
            )
            value = f"%w{i}"
            attributes = f" {{in_layouts = [#mosaic_gpu.WGStridedFragLayout<{list(stored)}, 1>]}}"
        body += (
            f"    mosaic_gpu.vector_store {value}, %y{i}{attributes} : "
            f"{shaped('vector', element, stored)}, {shaped('memref', element, stored)}\n"
        )
    module = f"""module attributes {{gpu.container_module}} {{
gpu.module @reductions {{
  gpu.func @block({", ".join(arguments)}) kernel attributes {{known_block_size = array<i32: {warps * lanes}, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>}} {{
{body}    gpu.return
  }}
}}
}}"""
    return smalti.compile(module, target=target)


def values(combination: Combination, shape: tuple[int, ...]) -> Tuple:
    rng = np.random.default_rng(7)
    found = []
    for element in combination.types:
        dtype = np.dtype(TYPES[element])
        if element[0] == "i":
            found.append(rng.integers(-60, 60, shape).astype(dtype))
        elif combination.exact:
            # Many ties and some NaNs.
            x = rng.integers(-9, 5, shape).astype(dtype)
            x[rng.random(shape) < 0.01] = np.nan
            found.append(x)
        else:
            found.append(rng.standard_normal(shape).astype(dtype))
    if combination is ARGMAX:
        found[1] = np.arange(found[1].size, dtype=np.int32).reshape(shape)
    return found


def starts(combination: Combination, shape: tuple[int, ...]) -> Tuple:
    return [
        np.full(shape, init, TYPES[element]) for init, element in zip(combination.inits, combination.types, strict=True)
    ]


def run(kernel: Any, target: str, inputs: Tuple, result: tuple[int, ...], threads: int) -> Tuple:
    outputs = [np.zeros(result or (threads,), x.dtype) for x in inputs]
    if target.startswith("emu"):
        kernel.launcher(*inputs, *outputs, emulation=SAFE)
    else:
        kernel.launcher(*inputs, *outputs)
    return outputs


def check(combination: Combination, found: Tuple, wanted: Tuple, magnitude: float) -> None:
    for x, y in zip(found, wanted, strict=True):
        if combination.exact:
            wide = np.float64 if x.dtype.kind not in "iu" else x.dtype
            np.testing.assert_array_equal(x.astype(wide), np.broadcast_to(y.astype(wide), x.shape))
        else:
            # The order of the additions is not specified.
            step = {2: 2.0**-10, 4: 2.0**-22}[x.dtype.itemsize]
            assert (np.abs(x.astype(np.float64) - y.astype(np.float64)) <= 4 * step * magnitude).all()


def reduce(combination: Combination, inputs: Tuple, dims: tuple[int, ...]) -> Tuple:
    kept = [dim for dim in range(inputs[0].ndim) if dim not in dims]
    shape = tuple(inputs[0].shape[dim] for dim in kept)
    wide = inputs if combination.exact else [x.astype(np.float64) for x in inputs]
    flat = [np.transpose(x, [*dims, *kept]).reshape(-1, *shape) for x in wide]
    total = starts(combination, shape)
    for at in range(len(flat[0])):
        with np.errstate(over="ignore", invalid="ignore"):
            total = combination.function(total, [x[at] for x in flat])
    return total


REDUCTIONS = [
    ("rows", (1,), 4),
    ("rows", (0,), 3),
    ("columns", (1,), 3),
    ("columns", (0, 1), 4),
    ("mma", (0,), 3),
    ("mma", (1,), 4),
    ("mma", (0, 1), 2),
    ("mma", (), 1),
    ("transposed", (0,), 2),
    ("transposed", (1,), 2),
    ("repeated", (1,), 4),
    ("repeated", (0, 1), 3),
    ("three", (0,), 2),
    ("three", (1,), 3),
    ("three", (0, 2), 2),
    ("three", (0, 1, 2), 4),
    ("strided", (0,), 3),
    ("strided", (0,), 1),
    ("matrix", (0, 1), 4),
    ("matrix", (0,), 2),
    ("one", (0,), 2),
]


@pytest.mark.grid(20)
@pytest.mark.parametrize("name", [name for name in COMBINATIONS if name != "affine"])
@pytest.mark.parametrize(("layout", "dims", "warps"), REDUCTIONS)
@pytest.mark.parametrize("target", TARGETS)
def test_reductions(target: str, layout: str, dims: tuple[int, ...], warps: int, name: str) -> None:
    combination, lanes = COMBINATIONS[name], lanes_of(target)
    _, shape = layouts(warps, lanes)[layout]
    inputs = values(combination, shape)
    result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    kernel = compiled(target, name, layout, warps, f"reduce {{inputs}} dims {list(dims)} init {{inits}}", result)
    found = run(kernel, target, inputs, result, warps * lanes)
    size = inputs[0].size / max(1, np.prod(result))
    check(combination, found, reduce(combination, inputs, dims), float(size))


def scan(combination: Combination, inputs: Tuple, dim: int, exclusive: bool, reverse: bool) -> Tuple:
    wide = inputs if combination.exact else [x.astype(np.float64) for x in inputs]
    moved = [np.moveaxis(x, dim, 0) for x in wide]
    found = [np.empty_like(x) for x in moved]
    prefix = starts(combination, moved[0].shape[1:])
    indices = range(len(moved[0]))
    for at in reversed(indices) if reverse else indices:
        with np.errstate(over="ignore", invalid="ignore"):
            following = combination.function(prefix, [x[at] for x in moved])
        for array, value in zip(found, prefix if exclusive else following, strict=True):
            array[at] = value
        prefix = following
    return [np.moveaxis(x, 0, dim) for x in found]


SCANS = [
    ("rows", 1, 4),
    ("rows", 0, 3),
    ("columns", 1, 3),
    ("columns", 0, 2),
    ("mma", 0, 3),
    ("mma", 1, 4),
    ("transposed", 0, 2),
    ("transposed", 1, 4),
    ("repeated", 1, 4),
    ("repeated", 0, 2),
    ("three", 0, 2),
    ("three", 1, 3),
    ("three", 2, 2),
    ("strided", 0, 3),
    ("strided", 0, 1),
    ("one", 0, 2),
]


@pytest.mark.grid(16)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("name", ["affine", "argmax", "larger", "sum f16", "sum i8", "min i64"])
@pytest.mark.parametrize(("layout", "dim", "warps"), SCANS)
@pytest.mark.parametrize("target", TARGETS)
def test_scans(target: str, layout: str, dim: int, warps: int, name: str, exclusive: bool, reverse: bool) -> None:
    combination, lanes = COMBINATIONS[name], lanes_of(target)
    _, shape = layouts(warps, lanes)[layout]
    inputs = values(combination, shape)
    words = " exclusive" * exclusive + " reverse" * reverse
    kernel = compiled(target, name, layout, warps, f"scan {{inputs}} dim {dim} init {{inits}}{words}", shape)
    found = run(kernel, target, inputs, shape, warps * lanes)
    check(combination, found, scan(combination, inputs, dim, exclusive, reverse), float(shape[dim]))


@pytest.mark.parametrize("target", TARGETS)
def test_reductions_of_splats(target: str) -> None:
    """A splat has as many equal elements as its shape; the initial value counts once."""
    splat = "#mosaic_gpu.WGSplatFragLayout<[5, 7]>"
    strided = "#mosaic_gpu.WGStridedFragLayout<[128], 1>"
    module = f"""module attributes {{gpu.container_module}} {{
gpu.module @splats {{
  gpu.func @block(%y: memref<128xi32>) kernel attributes {{known_block_size = array<i32: 128, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>}} {{
    %c = arith.constant {{out_layouts = [{splat}]}} dense<3> : vector<5x7xi32>
    %z = arith.constant 5 : i32
    %s = mosaic_gpu.reduce %c dims [0, 1] init %z {{in_layouts = [{splat}]}} : vector<5x7xi32> -> i32 {{
    ^bb0(%a: i32, %b: i32):
      %r = arith.addi %a, %b : i32
      mosaic_gpu.return %r : i32
    }}
    %w = vector.broadcast %s {{out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]}} : i32 to vector<128xi32>
    mosaic_gpu.vector_store %w, %y {{in_layouts = [{strided}]}} : vector<128xi32>, memref<128xi32>
    gpu.return
  }}
}}
}}"""
    y = np.zeros(128, np.int32)
    smalti.compile(module, target=target).launcher(y)
    assert (y == 5 + 35 * 3).all()


@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("target", TARGETS)
def test_reductions_of_a_kind(target: str, dims: tuple[int, ...]) -> None:
    """`vector.multi_reduction` has the same lowering; it adds f16 in f32 and rounds once."""
    warps, lanes = 3, lanes_of(target)
    text, shape = layouts(warps, lanes)["mma"]
    result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    threads = warps * lanes
    stored = result or (threads,)
    vector = shaped("vector", "f16", result) if result else "f16"
    splat = f"#mosaic_gpu.WGSplatFragLayout<{list(stored)}>"
    start = f"{{out_layouts = [{splat}]}} dense<1.0> : {vector}" if result else "1.0 : f16"
    body = f"""    %v = mosaic_gpu.vector_load %x {{optimized = false, out_layouts = [{text}]}} :
      {shaped("memref", "f16", shape)} -> {shaped("vector", "f16", shape)}
    %z = arith.constant {start}
    %s = vector.multi_reduction <add>, %v, %z {list(dims)} : {shaped("vector", "f16", shape)} to {vector}
"""
    value, attributes = "%s", ""
    if not result:
        body += f"    %w = vector.broadcast %s {{out_layouts = [{splat}]}} : f16 to {shaped('vector', 'f16', stored)}\n"
        value, attributes = "%w", f" {{in_layouts = [#mosaic_gpu.WGStridedFragLayout<{list(stored)}, 1>]}}"
    module = f"""module attributes {{gpu.container_module}} {{
gpu.module @reductions {{
  gpu.func @block(%x: {shaped("memref", "f16", shape)}, %y: {shaped("memref", "f16", stored)}) kernel
      attributes {{known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
{body}    mosaic_gpu.vector_store {value}, %y{attributes} :
      {shaped("vector", "f16", stored)}, {shaped("memref", "f16", stored)}
    gpu.return
  }}
}}
}}"""
    # Multiples of 1/8 whose sums are exact in f32.
    x = (np.random.default_rng(3).integers(-16, 17, shape) / 8).astype(np.float16)
    y = np.zeros(stored, np.float16)
    smalti.compile(module, target=target).launcher(x, y)
    wanted = x.astype(np.float64).sum(dims) + 1
    step = 2.0**-11 if target.startswith("emu") else 2.0**-7
    assert (np.abs(y.astype(np.float64) - wanted) <= step * np.maximum(np.abs(wanted), 1)).all()
