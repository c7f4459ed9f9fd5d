# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of smalti-expand-tile-ops: the expanded kernels run op by op, with the rounding of each type."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import ir
from smalti.compiler import entry

PASS = "builtin.module(triton_xla.entry_func(smalti-expand-tile-ops))"

_NARROW: Any = ml_dtypes
DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(_NARROW.bfloat16),
    "f8E4M3FN": np.dtype(_NARROW.float8_e4m3fn),
    "f8E5M2": np.dtype(_NARROW.float8_e5m2),
    "f8E8M0FNU": np.dtype(_NARROW.float8_e8m0fnu),
    "f6E2M3FN": np.dtype(_NARROW.float6_e2m3fn),
    "f6E3M2FN": np.dtype(_NARROW.float6_e3m2fn),
    "f4E2M1FN": np.dtype(_NARROW.float4_e2m1fn),
}
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}

Tile = np.ndarray[Any, Any]


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def described(ty: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    found = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>|(\w+)", str(ty))
    assert found, ty
    sizes = (found[1] or "").split("x")[:-1]
    return tuple(int(size) for size in sizes), DTYPES[found[2] or found[3]]


def unsigned(x: Tile) -> Tile:
    return x if x.dtype == bool else x.view(f"u{x.dtype.itemsize}")


def integer(op: Any, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def array(op: Any, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def constant(op: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tile:
    value = op.attributes["value"]
    if isinstance(value, ir.DenseElementsAttr):
        value = value.get_splat_value()
    number = getattr(value, "value")  # noqa: B009 (a common attribute of integers and floats)
    # The binding returns i32 constants from 2^31 as they are.
    return np.full(shape, np.float64(number) if dtype.kind not in "ib" else int(number)).astype(dtype)


def broadcast(op: Any, x: Tile, shape: tuple[int, ...]) -> Tile:
    split = [1] * len(shape)
    for size, dim in zip(x.shape, array(op, "dims"), strict=True):
        split[dim] = size
    return np.broadcast_to(x.reshape(split), shape)


def iota(shape: tuple[int, ...], dim: int) -> Tile:
    return np.broadcast_to(np.arange(shape[dim]).reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape)


def windowed(op: Any, x: Tile) -> Tile:
    sizes = zip(array(op, "offsets"), array(op, "sizes"), array(op, "strides"), strict=True)
    return x[tuple(slice(offset, offset + (size - 1) * stride + 1, stride) for offset, size, stride in sizes)]


INTEGER_ORDERS = [np.equal, np.not_equal, *[np.less, np.less_equal, np.greater, np.greater_equal] * 2]
FLOAT_ORDERS: dict[int, Callable[[Tile, Tile], Any]] = {1: np.equal, 2: np.greater, 4: np.less}

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrui": lambda x, n: unsigned(x) >> unsigned(n),
    "arith.extui": unsigned,
    "arith.extsi": lambda x: x,
    "arith.trunci": lambda x: x,
    "arith.index_cast": lambda x: x,
    "arith.extf": lambda x: x.astype(np.float32),
    "arith.truncf": lambda x: x.astype(np.float32),
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.minimumf": np.minimum,
    "arith.maximumf": np.maximum,
    "math.absf": np.abs,
    "arith.select": np.where,
    "tensor.splat": lambda x: x,
}


def evaluate(op: Any, x: list[Tile], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    name = op.name
    if name in ELEMENTWISE:
        return np.broadcast_to(np.asarray(ELEMENTWISE[name](*x)), shape)
    if name == "arith.constant":
        return constant(op, shape, dtype)
    if name == "arith.cmpi":
        predicate = integer(op, "predicate")
        return INTEGER_ORDERS[predicate](*([unsigned(y) for y in x] if predicate >= 6 else x))
    if name == "arith.cmpf":
        return FLOAT_ORDERS[integer(op, "predicate")](*x)
    if name == "arith.bitcast":
        return np.ascontiguousarray(x[0]).view(dtype)
    if name in ("triton_xla.extract", "triton_xla.reshape"):
        return x[0].reshape(shape)
    if name == "triton_xla.transpose":
        return x[0].transpose(array(op, "permutation"))
    if name == "triton_xla.broadcast":
        return broadcast(op, x[0], shape)
    if name == "triton_xla.iota":
        return iota(shape, integer(op, "dim"))
    if name == "triton_xla.concat":
        return np.concatenate(x, integer(op, "dim"))
    if name == "triton_xla.slice":
        return windowed(op, x[0])
    assert name == "triton_xla.dot", name
    wide = np.int64 if dtype.kind == "i" else np.float64
    return x[2].astype(wide) + x[0].astype(wide) @ x[1].astype(wide)


def run(text: str, arguments: Sequence[Any]) -> None:
    """Runs tile 0 of a kernel whose windows are whole arguments, after the pass. Outputs are changed in place."""
    module = smalti.parse(text)
    smalti.Pipeline(PASS).run(module)
    block = entry.find_entry(module).regions[0].blocks[0]
    values: dict[Any, Any] = dict(zip(block.arguments, [*arguments, np.int64(0)], strict=True))
    with np.errstate(all="ignore"):
        for view in block.operations:
            op = view.operation
            operands = [values[operand] for operand in op.operands]
            if op.name == "triton_xla.insert":
                operands[1][...] = operands[0].reshape(operands[1].shape)
            elif op.results:
                shape, dtype = described(op.results[0].type)
                values[op.results[0]] = np.asarray(evaluate(op, operands, shape, dtype)).astype(dtype).reshape(shape)


def compute(
    body: str, inputs: Sequence[tuple[Tile, str]], outputs: Sequence[tuple[tuple[int, ...], str]]
) -> list[Tile]:
    """The results `%r0`, `%r1`, ... of ops on the tiles `%t0`, `%t1`, ...; scalars are arguments of the kernel."""
    results = [np.zeros(shape, DTYPES[element]) for shape, element in outputs]
    shapes = [*[(x.shape, element) for x, element in inputs], *outputs]
    parameters, before, after = [], [], []
    for i, (shape, element) in enumerate(shapes):
        memory = tensor(shape, element).replace("tensor", "memref")
        window = f"[{', '.join('0' for _ in shape)}] {list(shape)} {[1 for _ in shape]}"
        r = i - len(inputs)
        if r >= 0:
            after.append(f"triton_xla.insert %r{r} into %m{i}{window} : {tensor(shape, element)} into {memory}")
        elif shape:
            before.append(f"%t{i} = triton_xla.extract %m{i}{window} : {memory} to {tensor(shape, element)}")
        parameters.append(f"%m{i}: {memory}" if shape else f"%t{i}: {element}")
    lines = [*before, body, *after, "triton_xla.return"]
    text = f"triton_xla.entry_func @f({', '.join(parameters)}, %tile: index) tiles 1 {{\n" + "\n".join(lines) + "\n}\n"
    run(text, [*[x for x, _ in inputs], *results])
    return results


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((7,), 0),
        ((1,), 0),
        ((2,), 0),
        ((3, 17), 1),
        ((2, 9, 3), 1),
        ((64,), 0),
        ((9, 3, 17), 1),
        ((65, 32), 1),
        ((33, 129), 0),
    ],
)
def test_sort_is_stable(shape: tuple[int, ...], dim: int, rng: np.random.Generator) -> None:
    keys = rng.integers(-3, 4, shape).astype(np.float32)
    positions = np.arange(keys.size, dtype=np.int32).reshape(shape)
    types = f"({tensor(shape, 'f32')}, {tensor(shape, 'i32')})"
    body = f"""%r0, %r1 = triton_xla.sort %t0, %t1 dim {dim} : {types} -> {types} {{
    ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
      %c = arith.cmpf ogt, %a, %b : f32
      triton_xla.yield %c : i1
    }}"""
    found = compute(body, [(keys, "f32"), (positions, "i32")], [(shape, "f32"), (shape, "i32")])
    order = np.argsort(-keys, axis=dim, kind="stable")
    np.testing.assert_array_equal(found[0], np.take_along_axis(keys, order, dim))
    np.testing.assert_array_equal(found[1], np.take_along_axis(positions, order, dim))


# Known answers of Random123 (kat_vectors): counter, key and result.
PHILOX = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), PHILOX)
def test_random_bits(counter: list[int], key: list[int], expected: list[int]) -> None:
    words = [np.array(word, np.uint32).view(np.int32) for word in key]
    inputs = [(word, "i32") for word in words] + [(np.array([c], np.uint32).view(np.int32), "i32") for c in counter]
    four = ", ".join(["tensor<1xi32>"] * 4)
    body = f"""%r0, %r1, %r2, %r3 = triton_xla.random_bits %t0, %t1, %t2, %t3, %t4, %t5
        : (i32, i32, {four}) -> ({four})"""
    found = compute(body, inputs, [((1,), "i32")] * 4)
    assert [int(unsigned(word)[0]) for word in found] == expected


def dot(algorithm: str, a: Tile, b: Tile, c: Tile) -> Tile:
    types = f"{tensor(a.shape, 'f32')}, {tensor(b.shape, 'f32')} -> {tensor(c.shape, 'f32')}"
    body = f"%r0 = triton_xla.dot %t0, %t1, %t2 algorithm {algorithm} : {types}"
    return compute(body, [(a, "f32"), (b, "f32"), (c, "f32")], [(c.shape, "f32")])[0]


ALGORITHMS = {"bf16": 2**-7, "bf16x3": 2**-15, "bf16x6": 2**-22, "bf16x9": 2**-22, "tf32x3": 2**-20}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_accuracy_of_algorithms(algorithm: str, rng: np.random.Generator) -> None:
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 5, 9), (2, 9, 6), (2, 5, 6)))
    exact = c + a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(dot(algorithm, a, b, c) - exact) / (np.abs(c) + np.abs(a) @ np.abs(b))
    assert error.max() < ALGORITHMS[algorithm]


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "bf16"])
def test_special_values_of_algorithms(algorithm: str) -> None:
    x = np.array([0, -0.0, 1, -1.7, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-30], np.float32)
    a, b = x.reshape(-1, 1), x.reshape(1, -1)
    found = dot(algorithm, a, b, np.zeros((10, 10), np.float32))
    with np.errstate(all="ignore"):
        expected = a * b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(found), np.isposinf(expected))
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))


def packed(codes: Tile, bits: int, dim: int) -> Tile:
    moved = np.moveaxis(codes, dim, -1)
    each = (moved[..., None] >> np.arange(bits)) & 1
    flat = each.reshape(*moved.shape[:-1], -1).astype(np.uint8)
    return np.ascontiguousarray(np.moveaxis(np.packbits(flat, axis=-1, bitorder="little"), -1, dim)).view(np.int8)


def swizzled(codes: Tile) -> Tile:
    """The 128x4 block layout, by the position of each scale."""
    rows, columns = -(-codes.shape[0] // 128) * 128, -(-codes.shape[1] // 4) * 4
    flat = np.full(rows * columns, 255, np.uint8)
    for (r, c), code in np.ndenumerate(codes):
        block = r // 128 * (columns // 4) + c // 4
        flat[block * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4] = code
    return flat


class Scaled:
    """The operands of a dot_scaled or sparse_dot, as text and as exact values."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs: list[tuple[Tile, str]] = []

    def add(self, x: Tile, element: str) -> str:
        self.inputs.append((x, element))
        return f"%t{len(self.inputs) - 1}"

    def elements(self, shape: tuple[int, int], element: str, dim: int | None) -> tuple[str, Tile]:
        if element not in BITS:
            x = self.rng.standard_normal(shape).astype(DTYPES[element])
            return self.add(x, element), x.astype(np.float64)
        codes = self.rng.integers(0, 2 ** BITS[element], shape).astype(np.uint8)
        codes[~np.isfinite(codes.view(DTYPES[element]).astype(np.float64))] = 0
        x = codes.view(DTYPES[element])
        if dim is None:
            return self.add(x, element), x.astype(np.float64)
        text = self.add(packed(codes, BITS[element], dim), "i8") + f" as {element} packed {dim}"
        return text, x.astype(np.float64)

    def scales(self, rows: int, blocks: int, element: str, layout: str, transposed: bool) -> tuple[str, Tile]:
        low, high = (100, 150) if element == "f8E8M0FNU" else (0, 127)
        codes = self.rng.integers(low, high, (rows, blocks)).astype(np.uint8)
        stored = codes.T if transposed else codes
        if layout == "padded":
            stored = np.pad(stored, ((0, 3), (0, 2)), constant_values=255)
        if layout == "swizzled_128x4":
            stored = swizzled(codes)
        text = self.add(np.ascontiguousarray(stored).view(DTYPES[element]), element)
        return f" scale {text} layout<{layout}>", codes.view(DTYPES[element]).astype(np.float64)

    def types(self) -> str:
        return ", ".join(tensor(x.shape, element) if x.shape else element for x, element in self.inputs)


LINEAR, PADDED, SWIZZLED = "linear", "padded", "swizzled_128x4"


@pytest.mark.parametrize(
    ("left", "right", "block", "k", "with_global"),
    [
        (("f8E4M3FN", None, "f8E8M0FNU", LINEAR), ("f8E5M2", None, "f8E8M0FNU", LINEAR), 32, 96, False),
        (("f4E2M1FN", 1, "f8E4M3FN", SWIZZLED), ("f4E2M1FN", 0, "f8E4M3FN", SWIZZLED), 16, 96, True),
        (("f6E2M3FN", 1, "f8E8M0FNU", PADDED), ("f6E3M2FN", 0, "f8E4M3FN", PADDED), 32, 64, False),
        (("f6E3M2FN", 0, "f8E8M0FNU", PADDED), ("f4E2M1FN", 1, "f8E8M0FNU", SWIZZLED), 32, 64, True),
        (("f8E5M2", None, "f8E8M0FNU", LINEAR), ("bf16", None, None, LINEAR), 32, 64, False),
        (("f16", None, None, LINEAR), ("f6E2M3FN", 0, "f8E8M0FNU", LINEAR), 32, 64, False),
        (("f4E2M1FN", None, "f8E8M0FNU", LINEAR), ("f8E4M3FN", None, "f8E8M0FNU", LINEAR), 32, 16, False),
    ],
)
def test_dot_scaled(left: Any, right: Any, block: int, k: int, with_global: bool, rng: np.random.Generator) -> None:
    m, n = 132, 40
    operands = Scaled(rng)
    texts: list[str] = []
    values: list[Tile] = []
    for (element, dim, scale, layout), rows, is_right in ((left, m, False), (right, n, True)):
        text, value = operands.elements((k, n) if is_right else (m, k), element, dim)
        if scale is not None:
            more, scales = operands.scales(rows, -(-k // block), scale, layout, is_right)
            spread = np.repeat(scales, block, 1)[:, :k]
            text, value = text + more, value * (spread.T if is_right else spread)
            if with_global:
                text += f" global {operands.add(np.array(-1.5, np.float32), 'f32')}"
                value = value * -1.5
        texts.append(text)
        values.append(value)
    c = operands.add(np.ones((m, n), np.float32), "f32")
    body = f"""%r0 = triton_xla.dot_scaled {texts[0]}, {texts[1]}, {c} block {block}
        : ({operands.types()}) -> {tensor((m, n), "f32")}"""
    (found,) = compute(body, operands.inputs, [((m, n), "f32")])
    magnitude = 1 + np.abs(values[0]) @ np.abs(values[1])
    assert (np.abs(found - (1 + values[0] @ values[1])) / magnitude).max() < 2**-20


def test_extreme_scales() -> None:
    """Code 0 is 2^-127, and 255 is NaN. A pair out of range of f32 is in range after multiplication with the sum."""
    ones = np.ones((1, 32), np.float32).astype(DTYPES["f8E4M3FN"])
    small = np.full((32, 6), 2.0**-9, np.float32).astype(DTYPES["f8E4M3FN"])
    codes = np.array([[0, 127, 254, 255, 200, 254]], np.uint8)
    inputs = [(ones, "f8E4M3FN"), (small, "f8E4M3FN"), (codes.view(DTYPES["f8E8M0FNU"]), "f8E8M0FNU")]
    for code in (0, 130):
        left = np.array([[code]], np.uint8).view(DTYPES["f8E8M0FNU"])
        body = """%r0 = triton_xla.dot_scaled %t0 scale %t3, %t1 scale %t2, %t4 block 32
            : (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<32x6xf8E4M3FN>, tensor<1x6xf8E8M0FNU>,
               tensor<1x6xf32>) -> tensor<1x6xf32>"""
        accumulator = (np.zeros((1, 6), np.float32), "f32")
        (found,) = compute(body, [*inputs, (left, "f8E8M0FNU"), accumulator], [((1, 6), "f32")])
        exact = 2.0**-4 * 2.0 ** (code - 127) * 2.0 ** (codes.astype(np.float64) - 127)
        exact[codes == 255] = np.nan
        np.testing.assert_array_equal(found, exact.astype(np.float32))


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize(
    ("element", "group"), [("f16", 4), ("bf16", 4), ("i8", 4), ("f8E4M3FN", 4), ("f32", 2), ("f4E2M1FN", 8)]
)
def test_sparse_dot(element: str, group: int, width: int, rng: np.random.Generator) -> None:
    m, n, k = 8, 16, 128
    slots, size = (1 if group == 2 else 2), (2 if group == 8 else 1)
    is_scaled = element == "f4E2M1FN"
    codes = rng.integers(0, 16 if is_scaled else 128, (m, k // 2)).astype(np.uint8)
    if is_scaled:
        stored = codes.view(DTYPES[element])
    else:
        stored = (codes.astype(np.float32) - 64).clip(-8, 8).astype(DTYPES[element])
    positions = np.sort(np.argsort(rng.random((m, k // group, 2 * slots)), 2)[:, :, :slots], 2)
    dense = np.zeros((m, k // group, 2 * slots, size))
    values = stored.astype(np.float64).reshape(m, k // group, slots, size)
    np.put_along_axis(dense, positions[..., None], values, 2)
    bits = (
        np.where(positions[..., 0] == 1, 0b1110, 0b0100) if group == 2 else positions[..., 0] | positions[..., 1] << 2
    )
    words = bits.reshape(m, -1, width // 4).astype(np.uint64) << np.arange(0, width, 4, dtype=np.uint64)
    metadata = words.sum(2).astype(f"u{width // 8}").view(f"i{width // 8}")

    operands = Scaled(rng)
    left = (
        operands.add(packed(codes, 4, 1), "i8") + " as f4E2M1FN packed 1"
        if is_scaled
        else operands.add(stored, element)
    )
    left += f" metadata {operands.add(metadata, f'i{width}')}"
    value, end = dense.reshape(m, k), ""
    if is_scaled:
        more, scales = operands.scales(m, k // 32, "f8E8M0FNU", LINEAR, False)
        left, value = left + more, value * np.repeat(scales, 32, 1)
    right_value = rng.integers(-6, 7, (k, n)).astype(np.float32).astype(DTYPES[element])
    right = operands.add(right_value, element)
    other = right_value.astype(np.float64)
    if is_scaled:
        more, scales = operands.scales(n, k // 32, "f8E4M3FN", LINEAR, True)
        right, other, end = right + more, other * np.repeat(scales, 32, 1).T, " block 32"
    total = "i32" if element == "i8" else "f32"
    c = operands.add(np.ones((m, n), DTYPES[total]), total)
    body = f"""%r0 = triton_xla.sparse_dot {left}, {right}, {c}{end}
        : ({operands.types()}) -> {tensor((m, n), total)}"""
    (found,) = compute(body, operands.inputs, [((m, n), total)])
    np.testing.assert_allclose(
        found, 1 + value @ other, rtol=2**-20, atol=2**-20 * (np.abs(value) @ np.abs(other)).max()
    )
