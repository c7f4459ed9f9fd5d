# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smalti-lower-vectors on emulated GPUs of both vendors, compared with numpy: one thread, whose lanes are vectors.

Arrays are between guard bytes that must not change and that AddressSanitizer watches (docs/emulation.md), so reads and
writes before or after an array are detected.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
import smalti
from helpers import SAFE
from smalti import targets

CHIPS = ["sm_80", "gfx942", "gfx1201"]


@functools.cache
def compile_thread(chip: str, arguments: str, body: str) -> smalti.Kernel:
    lines = "\n".join(f"    {line.strip()}" for line in body.strip().splitlines())
    return smalti.compile(
        f"""
module attributes {{gpu.container_module}} {{
gpu.module @thread_module {{
  gpu.func @thread({arguments}) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %nine = arith.constant 9.0 : f32
{lines}
    gpu.return
  }}
}}
}}
""",
        target=targets.EMULATED + chip,
    )


def run(chip: str, arguments: str, body: str, *arrays: np.ndarray) -> None:
    compile_thread(chip, arguments, body).launcher(*arrays, emulation=SAFE)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def window(row: np.ndarray, at: int, lanes: int, padding: float) -> np.ndarray:
    inside = [row[at + lane] if 0 <= at + lane < len(row) else padding for lane in range(lanes)]
    return np.array(inside, row.dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Transfers at both bounds
# ---------------------------------------------------------------------------------------------------------------------

AT = [-9, -4, -3, -1, 0, 1, 2, 3, 6, 7, 40]
AT_ALL = "\n".join(f"%at{i} = arith.constant {at} : index" for i, at in enumerate(AT))


@pytest.mark.parametrize("chip", CHIPS)
def test_reads_at_constants(chip: str) -> None:
    """Upstream's folder treats reads before the row as in bounds."""
    reads = "\n".join(
        f"""%v{i} = vector.transfer_read %a[%at{i}], %nine : memref<6xf32>, vector<4xf32>
            %row{i} = arith.constant {i} : index
            vector.store %v{i}, %o[%row{i}, %c0] : memref<{len(AT)}x4xf32>, vector<4xf32>"""
        for i in range(len(AT))
    )
    a, out = numbers(6), np.zeros((len(AT), 4), np.float32)
    run(chip, f"%a: memref<6xf32>, %o: memref<{len(AT)}x4xf32>", AT_ALL + "\n" + reads, a, out)
    np.testing.assert_array_equal(out, [window(a, at, 4, 9.0) for at in AT])


ARGUMENTS = "%a: memref<6xf32>, %at: memref<1xindex>, %m: memref<4xi32>, %o: memref<4xf32>"
MASK = """%bits = vector.load %m[%c0] : memref<4xi32>, vector<4xi32>
          %none = arith.constant dense<0> : vector<4xi32>
          %mask = arith.cmpi ne, %bits, %none : vector<4xi32>"""
INDEX = "%i = memref.load %at[%c0] : memref<1xindex>"
READS = {
    "plain": "%v = vector.transfer_read %a[%i], %nine : memref<6xf32>, vector<4xf32>",
    "masked": "%v = vector.transfer_read %a[%i], %nine, %mask : memref<6xf32>, vector<4xf32>",
    "under-a-mask": """%v = vector.mask %mask { vector.transfer_read %a[%i], %nine : memref<6xf32>, vector<4xf32> }
          : vector<4xi1> -> vector<4xf32>""",
    "with-others": """%others = arith.constant dense<7.0> : vector<4xf32>
          %v = vector.mask %mask, %others { vector.transfer_read %a[%i], %nine : memref<6xf32>, vector<4xf32> }
          : vector<4xi1> -> vector<4xf32>""",
}


@pytest.mark.grid(6)
@pytest.mark.parametrize("form", READS)
@pytest.mark.parametrize("chip", CHIPS)
def test_reads(chip: str, form: str) -> None:
    body = f"{MASK}\n{INDEX}\n{READS[form]}\nvector.store %v, %o[%c0] : memref<4xf32>, vector<4xf32>"
    for at in [*AT, -(2**62), 2**62, -(2**63), 2**63 - 1]:
        a, out = numbers(6), np.zeros(4, np.float32)
        mask = np.array([1, 0, 1, 1], np.int32)
        run(chip, ARGUMENTS, body, a, np.array([at], np.int64), mask, out)
        expected = window(a, at, 4, 9.0)
        if form != "plain":
            expected = np.where(mask, expected, 7.0 if form == "with-others" else 9.0)
        np.testing.assert_array_equal(out, expected, err_msg=str(at))


WRITES = {
    "plain": "vector.transfer_write %v, %a[%i] : vector<4xf32>, memref<6xf32>",
    "masked": "vector.transfer_write %v, %a[%i], %mask : vector<4xf32>, memref<6xf32>",
    "under-a-mask": "vector.mask %mask { vector.transfer_write %v, %a[%i] : vector<4xf32>, memref<6xf32> } : vector<4xi1>",
}


@pytest.mark.grid(4)
@pytest.mark.parametrize("form", WRITES)
@pytest.mark.parametrize("chip", CHIPS)
def test_writes(chip: str, form: str) -> None:
    body = f"{MASK}\n{INDEX}\n%v = vector.load %o[%c0] : memref<4xf32>, vector<4xf32>\n{WRITES[form]}"
    for at in AT:
        a, lanes = numbers(6), np.array([-1, -2, -3, -4], np.float32)
        mask = np.array([1, 0, 1, 1], np.int32)
        expected = a.copy()
        for lane, value in enumerate(lanes):
            if 0 <= at + lane < 6 and (form == "plain" or mask[lane]):
                expected[at + lane] = value
        run(chip, ARGUMENTS, body, a, np.array([at], np.int64), mask, lanes)
        np.testing.assert_array_equal(a, expected, err_msg=str(at))


@pytest.mark.parametrize("chip", CHIPS)
def test_rows_of_a_matrix(chip: str) -> None:
    """Elements before a row are in memory, in the previous row, but read as padding."""
    body = """%i = memref.load %at[%c0] : memref<1xindex>
        %c1 = arith.constant 1 : index
        %v = vector.transfer_read %a[%c1, %i], %nine : memref<3x6xf32>, vector<4xf32>
        vector.store %v, %o[%c0] : memref<4xf32>, vector<4xf32>"""
    for at in AT:
        a, out = numbers(3, 6), np.zeros(4, np.float32)
        run(
            chip, "%a: memref<3x6xf32>, %at: memref<1xindex>, %o: memref<4xf32>", body, a, np.array([at], np.int64), out
        )
        np.testing.assert_array_equal(out, window(a[1], at, 4, 9.0), err_msg=str(at))


# ---------------------------------------------------------------------------------------------------------------------
# Multi-dimensional vector ops
# ---------------------------------------------------------------------------------------------------------------------


def load(name: str, *shape: int) -> str:
    """Row by row, with ops that do not need a lowering."""
    columns = shape[-1]
    count = int(np.prod(shape)) // columns
    full = "x".join(map(str, shape))
    if len(shape) == 1:
        return f"%{name} = vector.load %{name}m[%c0] : memref<{full}xf32>, vector<{full}xf32>"
    lines = [f"%{name}_0 = ub.poison : vector<{full}xf32>"]
    for row in range(count):
        place = list(np.unravel_index(row, shape[:-1]))
        indices = []
        for dim, index in enumerate(place):
            lines.append(f"%{name}_i{row}_{dim} = arith.constant {index} : index")
            indices.append(f"%{name}_i{row}_{dim}")
        lines.append(
            f"%{name}_r{row} = vector.load %{name}m[{', '.join(indices)}, %c0] : memref<{full}xf32>, vector<{columns}xf32>"
        )
        lines.append(
            f"%{name}_{row + 1} = vector.insert %{name}_r{row}, %{name}_{row} [{', '.join(map(str, place))}]"
            f" : vector<{columns}xf32> into vector<{full}xf32>"
        )
    text = "\n".join(lines)
    return text.replace(f"%{name}_{count} =", f"%{name} =")


def store(name: str, *shape: int) -> str:
    columns = shape[-1]
    full = "x".join(map(str, shape))
    if len(shape) == 1:
        return f"vector.store %{name}, %{name}m[%c0] : memref<{full}xf32>, vector<{full}xf32>"
    lines = []
    for row in range(int(np.prod(shape)) // columns):
        place = list(np.unravel_index(row, shape[:-1]))
        indices = []
        for dim, index in enumerate(place):
            lines.append(f"%{name}_i{row}_{dim} = arith.constant {index} : index")
            indices.append(f"%{name}_i{row}_{dim}")
        lines.append(
            f"%{name}_r{row} = vector.extract %{name}[{', '.join(map(str, place))}] : vector<{columns}xf32> from vector<{full}xf32>"
        )
        lines.append(
            f"vector.store %{name}_r{row}, %{name}m[{', '.join(indices)}, %c0] : memref<{full}xf32>, vector<{columns}xf32>"
        )
    return "\n".join(lines)


CONTRACT = """%r = vector.contract {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } %x, %y, %z : vector<3x4xf32>, vector<4x2xf32> into vector<3x2xf32>"""
# Name: shapes of the operands, shape of the result, the op, and the numpy function.
OPS = {
    "broadcast-row": (
        [(4,)],
        (2, 4),
        "%r = vector.broadcast %x : vector<4xf32> to vector<2x4xf32>",
        lambda x: np.stack([x, x]),
    ),
    "broadcast-rows": (
        [(4,)],
        (2, 3, 4),
        "%r = vector.broadcast %x : vector<4xf32> to vector<2x3x4xf32>",
        lambda x: np.broadcast_to(x, (2, 3, 4)),
    ),
    "broadcast-column": (
        [(3, 1)],
        (3, 4),
        "%r = vector.broadcast %x : vector<3x1xf32> to vector<3x4xf32>",
        lambda x: np.broadcast_to(x, (3, 4)),
    ),
    "broadcast-unit": (
        [(1, 4)],
        (3, 4),
        "%r = vector.broadcast %x : vector<1x4xf32> to vector<3x4xf32>",
        lambda x: np.broadcast_to(x, (3, 4)),
    ),
    "broadcast-middle": (
        [(2, 1, 4)],
        (2, 3, 4),
        "%r = vector.broadcast %x : vector<2x1x4xf32> to vector<2x3x4xf32>",
        lambda x: np.broadcast_to(x, (2, 3, 4)),
    ),
    "transpose": (
        [(3, 4)],
        (4, 3),
        "%r = vector.transpose %x, [1, 0] : vector<3x4xf32> to vector<4x3xf32>",
        np.transpose,
    ),
    "transpose-outer": (
        [(2, 3, 4)],
        (3, 2, 4),
        "%r = vector.transpose %x, [1, 0, 2] : vector<2x3x4xf32> to vector<3x2x4xf32>",
        lambda x: x.transpose(1, 0, 2),
    ),
    "transpose-all": (
        [(2, 3, 4)],
        (4, 2, 3),
        "%r = vector.transpose %x, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>",
        lambda x: x.transpose(2, 0, 1),
    ),
    "shape-cast": (
        [(3, 4)],
        (2, 6),
        "%r = vector.shape_cast %x : vector<3x4xf32> to vector<2x6xf32>",
        lambda x: x.reshape(2, 6),
    ),
    "flatten": ([(3, 4)], (12,), "%r = vector.shape_cast %x : vector<3x4xf32> to vector<12xf32>", np.ravel),
    "reduce-columns": (
        [(3, 4), (3,)],
        (3,),
        "%r = vector.multi_reduction <add>, %x, %y [1] : vector<3x4xf32> to vector<3xf32>",
        lambda x, y: x.sum(1) + y,
    ),
    "reduce-rows": (
        [(3, 4), (4,)],
        (4,),
        "%r = vector.multi_reduction <maximumf>, %x, %y [0] : vector<3x4xf32> to vector<4xf32>",
        lambda x, y: np.maximum(x.max(0), y),
    ),
    "reduce-outer-and-inner": (
        [(2, 3, 4), (3,)],
        (3,),
        "%r = vector.multi_reduction <add>, %x, %y [0, 2] : vector<2x3x4xf32> to vector<3xf32>",
        lambda x, y: x.sum((0, 2)) + y,
    ),
    "outer-product": (
        [(3,), (4,), (3, 4)],
        (3, 4),
        "%r = vector.outerproduct %x, %y, %z {kind = #vector.kind<add>} : vector<3xf32>, vector<4xf32>",
        lambda x, y, z: np.outer(x, y) + z,
    ),
    "contract": ([(3, 4), (4, 2), (3, 2)], (3, 2), CONTRACT, lambda x, y, z: x @ y + z),
}


@pytest.mark.grid(19)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("chip", CHIPS)
def test_ops(chip: str, name: str) -> None:
    shapes, result, op, reference = OPS[name]
    operands = dict(zip("xyz", shapes, strict=False))
    arguments = ", ".join(
        f"%{operand}m: memref<{'x'.join(map(str, shape))}xf32>" for operand, shape in [*operands.items(), ("r", result)]
    )
    body = "\n".join([load(operand, *shape) for operand, shape in operands.items()] + [op, store("r", *result)])
    values = [numbers(*shape) + i for i, shape in enumerate(shapes)]
    out = np.zeros(result, np.float32)
    run(chip, arguments, body, *values, out)
    np.testing.assert_array_equal(out, reference(*values))


@pytest.mark.parametrize("chip", CHIPS)
def test_gather(chip: str) -> None:
    """Rows of indices, some of which are masked off."""
    body = """%p0 = vector.load %p[%c0, %c0] : memref<2x4xindex>, vector<4xindex>
        %c1 = arith.constant 1 : index
        %p1 = vector.load %p[%c1, %c0] : memref<2x4xindex>, vector<4xindex>
        %none = ub.poison : vector<2x4xindex>
        %one = vector.insert %p0, %none [0] : vector<4xindex> into vector<2x4xindex>
        %places = vector.insert %p1, %one [1] : vector<4xindex> into vector<2x4xindex>
        %c3 = arith.constant 3 : index
        %c2 = arith.constant 2 : index
        %mask = vector.create_mask %c2, %c3 : vector<2x4xi1>
        %others = arith.constant dense<9.0> : vector<2x4xf32>
        %r = vector.gather %a[%c0] [%places], %mask, %others
          : memref<6xf32>, vector<2x4xindex>, vector<2x4xi1>, vector<2x4xf32> into vector<2x4xf32>
        %r0 = vector.extract %r[0] : vector<4xf32> from vector<2x4xf32>
        %r1 = vector.extract %r[1] : vector<4xf32> from vector<2x4xf32>
        vector.store %r0, %o[%c0, %c0] : memref<2x4xf32>, vector<4xf32>
        vector.store %r1, %o[%c1, %c0] : memref<2x4xf32>, vector<4xf32>"""
    a, out = numbers(6), np.zeros((2, 4), np.float32)
    positions = np.array([[5, 0, 3, 77], [1, 1, 4, -77]], np.int64)
    run(chip, "%a: memref<6xf32>, %p: memref<2x4xindex>, %o: memref<2x4xf32>", body, a, positions, out)
    np.testing.assert_array_equal(out, [[6, 1, 4, 9], [2, 2, 5, 9]])


@pytest.mark.parametrize("chip", CHIPS)
def test_broadcasting_reads(chip: str) -> None:
    """One row for all rows of the vector, and one element for all of its lanes; some out of bounds."""
    body = """%i = memref.load %at[%c0] : memref<1xindex>
        %rows = vector.transfer_read %a[%c0, %i], %nine
          {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<3x6xf32>, vector<2x4xf32>
        %r0 = vector.extract %rows[0] : vector<4xf32> from vector<2x4xf32>
        %r1 = vector.extract %rows[1] : vector<4xf32> from vector<2x4xf32>
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        vector.store %r0, %o[%c0, %c0] : memref<3x4xf32>, vector<4xf32>
        vector.store %r1, %o[%c1, %c0] : memref<3x4xf32>, vector<4xf32>
        %same = vector.transfer_read %a[%c2, %c1], %nine
          {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : memref<3x6xf32>, vector<4xf32>
        vector.store %same, %o[%c2, %c0] : memref<3x4xf32>, vector<4xf32>"""
    for at in AT:
        a, out = numbers(3, 6), np.zeros((3, 4), np.float32)
        arguments = "%a: memref<3x6xf32>, %at: memref<1xindex>, %o: memref<3x4xf32>"
        run(chip, arguments, body, a, np.array([at], np.int64), out)
        row = window(a[0], at, 4, 9.0)
        np.testing.assert_array_equal(out, [row, row, np.full(4, a[2, 1])], err_msg=str(at))


# ---------------------------------------------------------------------------------------------------------------------
# Multi-dimensional transfers
# ---------------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Window:
    """A transfer of a memref of 5x6x8 numbers, of which only the last dimensions are in `rank`."""

    shape: tuple[int, ...]
    dims: tuple[int | None, ...]
    """The memref dimension of each vector dimension; None: the same element for all."""
    rank: int = 2
    strides: str = ""

    def __str__(self) -> str:
        return "x".join(map(str, self.shape)) + "-" + "".join("b" if dim is None else str(dim) for dim in self.dims)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (5, 6, 8)[3 - self.rank :]

    @property
    def mask_shape(self) -> tuple[int, ...]:
        """The dimensions of a mask are in the order of the memref's."""
        return tuple(
            size for _, size in sorted((d, s) for d, s in zip(self.dims, self.shape, strict=True) if d is not None)
        )

    def elements(self, at: tuple[int, ...], mask: np.ndarray) -> dict[tuple[int, ...], tuple[int, ...]]:
        """The memory index of each active lane that is in bounds."""
        found = {}
        for lane in np.ndindex(self.shape):
            place = list(at)
            bits = {}
            for dim, number in zip(self.dims, lane, strict=True):
                if dim is not None:
                    place[dim] += number
                    bits[dim] = number
            inside = all(0 <= p < s for p, s in zip(place, self.sizes, strict=True))
            if inside and mask[tuple(bits[dim] for dim in sorted(bits))]:
                found[lane] = tuple(place)
        return found


WINDOWS = [
    Window((1, 8), (0, 1)),
    Window((4, 4), (0, 1)),
    Window((1, 1), (0, 1)),
    Window((3, 2), (0, 1)),
    Window((2, 2, 4), (0, 1, 2), rank=3),
    Window((4, 4), (1, 0)),
    Window((4, 4), (0, 2), rank=3),
    Window((2, 3), (2, 0), rank=3),
    Window((4,), (0,)),
    Window((4, 4), (None, 1)),
    Window((4, 2), (0, None)),
    Window((), ()),
    Window((), (), rank=1),
]


def type_of(shape: tuple[int, ...], element: str) -> str:
    return "x".join([*map(str, shape), element])


@pytest.mark.grid(16)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("masked", ["plain", "operand", "region"])
@pytest.mark.parametrize("at", ["inside", "past", "ahead"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_windows(window: Window, at: str, masked: str, chip: str) -> None:
    if not window.shape:  # It has no mask, and is in bounds.
        masked, at = "plain", "inside"
    rank, lanes, bits = window.rank, int(np.prod(window.shape)), int(np.prod(window.mask_shape))
    begin = {"inside": (1,) * (rank - 1) + (0,), "past": (3, 4, 6)[3 - rank :], "ahead": (-1,) * rank}[at]
    overhangs = [dim is not None and at != "inside" for dim in window.dims]
    # Other memref dimensions are in bounds.
    begin = tuple(b if dim in window.dims else 1 for dim, b in enumerate(begin))
    memory, vector = f"memref<{type_of(window.sizes, 'f32')}>", f"vector<{type_of(window.shape, 'f32')}>"
    mask_type = f"vector<{type_of(window.mask_shape, 'i1')}>"
    results = ", ".join("0" if dim is None else f"d{dim}" for dim in window.dims)
    dims = ", ".join(f"d{i}" for i in range(rank))
    attributes = [f"permutation_map = affine_map<({dims}) -> ({results})>"]
    attributes += [f"in_bounds = [{', '.join(str(not o).lower() for o in overhangs)}]"] * bool(window.shape)
    operand = ", %mask" if masked == "operand" else ""
    options = f"{operand} {{{', '.join(attributes)}}}"
    indices = ", ".join(f"%i{dim}" for dim in range(rank))
    read = f"vector.transfer_read %a[{indices}], %nine{options} : {memory}, {vector}"
    write = f"vector.transfer_write %in, %b[{indices}]{options} : {vector}, {memory}"
    if masked == "region":
        read = f"vector.mask %mask {{ {read} }} : {mask_type} -> {vector}"
        write = f"vector.mask %mask {{ {write} }} : {mask_type}"
    writes = None not in window.dims
    body = "\n".join(
        [
            *(
                f"%c_{d} = arith.constant {d} : index\n%i{d} = memref.load %at[%c_{d}] : memref<{rank}xindex>"
                for d in range(rank)
            ),
            f"%row = vector.load %m[%c0] : memref<{bits}xi32>, vector<{bits}xi32>",
            f"%none = arith.constant dense<0> : vector<{bits}xi32>",
            f"%flat = arith.cmpi ne, %row, %none : vector<{bits}xi32>",
            f"%mask = vector.shape_cast %flat : vector<{bits}xi1> to {mask_type}" if window.shape else "",
            f"%v = {read}",
            f"%out = vector.shape_cast %v : {vector} to vector<{lanes}xf32>",
            f"vector.store %out, %o[%c0] : memref<{lanes}xf32>, vector<{lanes}xf32>",
            f"%w = vector.load %o[%c0] : memref<{lanes}xf32>, vector<{lanes}xf32>",
            f"%in = vector.shape_cast %w : vector<{lanes}xf32> to {vector}",
            write if writes else "",
        ]
    )
    a, b, out = numbers(*window.sizes), np.zeros(window.sizes, np.float32), np.zeros(lanes, np.float32)
    mask = np.ones(window.mask_shape, np.int32)
    if masked != "plain":
        mask.reshape(-1)[1::3] = 0
    arguments = (
        f"%a: {memory}, %b: {memory}, %at: memref<{rank}xindex>, %m: memref<{bits}xi32>, %o: memref<{lanes}xf32>"
    )
    run(chip, arguments, body, a, b, np.array(begin), mask.reshape(-1), out)
    read_there, written = np.full(window.shape, 9.0, np.float32), np.zeros(window.sizes, np.float32)
    for lane, place in window.elements(begin, mask).items():
        read_there[lane] = a[place]
        if writes:
            written[place] = a[place]
    np.testing.assert_array_equal(out, read_there.reshape(-1))
    np.testing.assert_array_equal(b, written)


# ---------------------------------------------------------------------------------------------------------------------
# Negative and dynamic strides
# ---------------------------------------------------------------------------------------------------------------------

MEMORIES = {
    "shared": ("3", "memref.alloc()"),
    "private": ("#gpu.address_space<private>", "memref.alloca()"),
    "global": ("", ""),
}
# Views of 4x8 numbers, and the elements that they contain.
VIEWS = {
    "static": (
        "memref.reinterpret_cast %m to offset: [31], sizes: [4, 8], strides: [-8, -1]",
        "strided<[-8, -1], offset: 31>",
        lambda m: m[::-1, ::-1],
    ),
    "dynamic": (
        "memref.reinterpret_cast %m to offset: [%c24], sizes: [4, 8], strides: [%minus, %c1]",
        "strided<[?, ?], offset: ?>",
        lambda m: m[::-1],
    ),
    "subview": (
        "memref.subview %m[0, 7] [4, 8] [1, -1]",
        "strided<[8, -1], offset: 7>",
        lambda m: m[:, ::-1],
    ),
    "window": (
        "memref.subview %m[3, %c1] [2, 3] [-2, 2]",
        "strided<[-16, 2], offset: ?>",
        lambda m: m[3::-2, 1:6:2],
    ),
}


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_negative_and_dynamic_strides(memory: str, view: str, chip: str) -> None:
    """Upstream treats the distance of an element from the start of its memref as unsigned."""
    space, allocate = MEMORIES[memory]
    create, layout, elements = VIEWS[view]
    suffix = f", {space}" if space else ""
    plain, viewed = f"memref<4x8xi32{suffix}>", f"memref<?x?xi32, {layout}{suffix}>"
    rows, columns = elements(np.zeros((4, 8))).shape
    viewed = viewed.replace("?x?", f"{rows}x{columns}")
    body = f"""
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c24 = arith.constant 24 : index
      %minus = memref.load %at[%c0] : memref<1xindex>
      %rows = arith.constant {rows} : index
      %columns = arith.constant {columns} : index
      %none = arith.constant 0 : i32
      {f"%m = {allocate} : {plain}" if allocate else ""}
      %v = {create} : {plain} to {viewed}
      scf.for %i = %c0 to %c4 step %c1 {{
        scf.for %j = %c0 to %c8 step %c1 {{
          memref.store %none, %m[%i, %j] : {plain}
        }}
      }}
      scf.for %i = %c0 to %rows step %c1 {{
        scf.for %j = %c0 to %columns step %c1 {{
          %x = memref.load %a[%i, %j] : memref<4x8xi32>
          memref.store %x, %v[%i, %j] : {viewed}
          %old = memref.atomic_rmw addi %x, %v[%i, %j] : (i32, {viewed}) -> i32
          %y = memref.load %v[%i, %j] : {viewed}
          memref.store %y, %o[%i, %j] : memref<4x8xi32>
        }}
      }}
      scf.for %i = %c0 to %c4 step %c1 {{
        scf.for %j = %c0 to %c8 step %c1 {{
          %x = memref.load %m[%i, %j] : {plain}
          memref.store %x, %p[%i, %j] : memref<4x8xi32>
        }}
      }}
    """
    if memory == "private":  # An access of a thread's own memory need not be atomic.
        body = "\n".join(
            "memref.store %twice, %v[%i, %j] : " + viewed if "atomic" in line else line for line in body.splitlines()
        ).replace("          memref.store %x, %v", "%twice = arith.addi %x, %x : i32\nmemref.store %x, %v")
    arguments = "%a: memref<4x8xi32>, %at: memref<1xindex>, %o: memref<4x8xi32>, %p: memref<4x8xi32>"
    a = numbers(4, 8).astype(np.int32)
    out, placed = np.zeros((4, 8), np.int32), np.zeros((4, 8), np.int32)
    arrays = [a, np.array([-8]), out, placed]
    if memory == "global":
        arguments += f", %m: {plain}"
        arrays.append(np.zeros((4, 8), np.int32))
    run(chip, arguments, body, *arrays)
    there, wanted = np.zeros((4, 8), np.int32), np.zeros((4, 8), np.int32)
    elements(there)[...] = 2 * a[:rows, :columns]
    wanted[:rows, :columns] = 2 * a[:rows, :columns]
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(placed, there)
