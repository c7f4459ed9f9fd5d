# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse and scaled warp-level MMAs of NVIDIA, of every type and shape: against float64, and bit for bit against the
emulator."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import smalti
from mma_kernels import ACCUMULATORS, C_POSITIONS, CASES, check, drawn, gathered, group_of
from smalti import CompileError, sim

TYPES = {"i32": "i32", "float": "f32", "double": "f64", "<2 x half>": "vector<2xf16>", "i16": "i16"}
"""MLIR's of LLVM's."""


def loaded(ty: str, operand: Any, words: list[np.ndarray], lines: list[str]) -> str:
    """A value per lane, whose words are appended to the others, or an immediate."""
    name = f"%v{len(lines)}"
    if not isinstance(operand, np.ndarray):
        lines.append(f"{name} = llvm.mlir.constant({operand} : {ty}) : {ty}")
        return name
    found = np.ascontiguousarray(operand).view(np.int32).reshape(32, -1)
    for word in found.T:
        lines += [
            f"%at{len(words)} = arith.constant {len(words)} : index",
            f"%w{len(words)} = memref.load %x[%at{len(words)}, %t] : !taken",
        ]
        words.append(word)
    last = len(words) - 1
    if ty == "double":
        lines.append(f"{name}p = vector.from_elements %w{last - 1}, %w{last} : vector<2xi32>")
        lines.append(f"{name} = llvm.bitcast {name}p : vector<2xi32> to f64")
    else:
        lines.append(f"{name} = llvm.bitcast %w{last} : i32 to {TYPES[ty]}")
    return name


def stored(value: str, ty: str, number: int, count: int, row: int, lines: list[str]) -> int:
    """Stores the registers of a structure to rows, and returns the next row."""
    struct = f"!llvm.struct<({', '.join([TYPES[ty]] * count)})>"
    for i in range(count):
        name = f"%r{number}x{i}"
        lines.append(f"{name} = llvm.extractvalue {value}[{i}] : {struct}")
        parts = [f"{name}w"]
        if ty == "double":
            lines.append(f"{name}b = llvm.bitcast {name} : f64 to vector<2xi32>")
            parts = [f"{name}w0", f"{name}w1"]
            lines += [f"{part} = vector.extract {name}b[{k}] : i32 from vector<2xi32>" for k, part in enumerate(parts)]
        else:
            lines.append(f"{parts[0]} = llvm.bitcast {name} : {TYPES[ty]} to i32")
        for part in parts:
            lines.append(f"%to{row} = arith.constant {row} : index")
            lines.append(f"memref.store {part}, %y[%to{row}, %t] : !given")
            row += 1
    return row


def by_name(name: str, values: list[str], types: list[str], struct: str) -> str:
    return f'llvm.call_intrinsic "{name}"({", ".join(values)}) : ({", ".join(types)}) -> {struct}'


def as_operation(name: str, values: list[str], types: list[str], struct: str) -> str:
    """The operation of `nvvm` that becomes the intrinsic."""
    mma = CASES[name]
    trailing = (2 if mma.sparse else 0) + (6 if mma.scale else 0)
    of_c = len(struct.split(","))
    # A has 16 rows, and B 8; a sparse A has half of the elements.
    of_a = (len(values) - of_c - trailing) * (1 if mma.sparse else 2) // (2 if mma.sparse else 3)
    of_b = len(values) - of_c - trailing - of_a
    parts = (values[:of_a], values[of_a : of_a + of_b], values[of_a + of_b : of_a + of_b + of_c])
    rest = values[of_a + of_b + of_c :]
    text = "".join(f" {letter}[{', '.join(part)}]" for letter, part in zip("ABC", parts, strict=True))
    attributes = [f"shape = #nvvm.shape<m = {mma.m}, n = 8, k = {mma.k}>"]
    # f16 is known by the registers' type.
    if mma.a != "f16":
        attributes += [f"multiplicand{x}PtxType = #nvvm.mma_type<{k}>" for x, k in (("A", mma.a), ("B", mma.b))]
    if mma.sparse:
        text += f" sparseMetadata[{rest[0]}] selector[{rest[1]}]"
        attributes += ["orderedMetadata"] if mma.sparse.ordered else []
        rest = rest[2:]
    if mma.scale:
        text += f" scaleA[{', '.join(rest[:3])}] scaleB[{', '.join(rest[3:])}]"
        kind = re.search(r"\.(mxf\w+)\.", name)
        assert kind
        attributes += [
            f"scaleVecSize = #nvvm.scale_vec_size<x{mma.blocks}>",
            f"blockScaleFormat = #nvvm.block_scale_format<{mma.scale}>",
            f"kind = #nvvm.block_scale_kind<{kind[1]}>",
        ]
    if mma.accumulator == "s32":
        behavior = "satfinite" if mma.saturate else "wrapped"
        attributes.append(f"intOverflowBehavior = #nvvm.mma_int_overflow<{behavior}>")
    op = "sync" if not mma.scale else "block_scale"
    op = f"nvvm.mma.{'sp.' if mma.sparse else ''}{op}"
    listed = ", ".join(types[i] for i in (0, of_a, of_a + of_b))
    return f"{op}{text} {{{', '.join(attributes)}}} : ({listed}) -> {struct}"


Drawn = tuple[list[tuple[str, Any]], list[np.ndarray], np.ndarray]


def numbers(name: str, exact: bool) -> Drawn:
    """Operands of an MMA, its accumulator's registers, and its result as float64."""
    return drawn(name, np.random.default_rng([ord(c) for c in f"{name}{exact}"]), exact)


def kernel(mmas: dict[str, Drawn], write: Any) -> tuple[str, np.ndarray, dict[str, Any]]:
    """A kernel of the MMAs, its input words, and for each MMA the offset of its result and the expected result."""
    lines: list[str] = []
    words: list[np.ndarray] = []
    row, wanted = 0, {}
    for number, (name, (operands, sums, expected)) in enumerate(mmas.items()):
        ty = ACCUMULATORS[CASES[name].accumulator][0]
        struct = f"!llvm.struct<({', '.join([TYPES[ty]] * len(sums))})>"
        values = [loaded(kind, operand, words, lines) for kind, operand in operands]
        lines.append(f"%d{number} = {write(name, values, [TYPES[kind] for kind, _ in operands], struct)}")
        end = stored(f"%d{number}", ty, number, len(sums), row, lines)
        wanted[name] = (row, end, expected)
        row = end
    return text(lines, len(words), row), np.stack(words).astype(np.int32), wanted


def text(lines: list[str], taken: int, given: int) -> str:
    body = "\n    ".join(lines)
    return f"""!taken = memref<{taken}x32xi32>
!given = memref<{given}x32xi32>
gpu.module @m {{
  gpu.func @k(%x: !taken, %y: !given) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}"""


def result_of(found: np.ndarray, name: str) -> np.ndarray:
    """The matrix whose registers are the rows."""
    mma = CASES[name]
    dtype = np.dtype(ACCUMULATORS[mma.accumulator][1])
    if mma.accumulator == "f64":
        fields = list(np.ascontiguousarray(found.reshape(-1, 2, 32).transpose(0, 2, 1)).view(dtype)[..., 0])
    elif mma.accumulator == "f16":
        fields = list(np.ascontiguousarray(found)[..., None].view(dtype))
    else:
        fields = list(found.view(dtype))
    return gathered(fields, C_POSITIONS[mma.m], mma.m)


def run(names: list[str], write: Any, exact: bool, targets: tuple[str, ...] = ("sim:sm_120a",)) -> None:
    """Runs the MMAs on targets, which must give the same bits."""
    source, words, wanted = kernel({name: numbers(name, exact) for name in names}, write)
    results = [np.zeros((max(end for _, end, _ in wanted.values()), 32), np.int32) for _ in targets]
    for target, result in zip(targets, results, strict=True):
        smalti.compile(source, target=target)(words, result)
        np.testing.assert_array_equal(result, results[0])
    for name, (first, end, expected) in wanted.items():
        check(result_of(results[0][first:end], name), name, expected, exact)


GROUPS = sorted({group_of(name) for name in CASES})


@pytest.mark.parametrize("which", GROUPS)
def test_mmas_by_intrinsic_name(which: str) -> None:
    run([name for name in CASES if group_of(name) == which], by_name, exact=GROUPS.index(which) % 2 == 0)


OPERATIONS = [
    name
    for name, mma in CASES.items()
    # An operation has one spelling of the default; MLIR's verifier wants half of the registers of sparse floats of 8 bits.
    if (mma.scale and (".scale." in name.partition("mxf")[2]))
    or (mma.sparse and not mma.scale and mma.a not in ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"))
]


@pytest.mark.parametrize("which", sorted({group_of(name) for name in OPERATIONS}))
def test_mmas_of_ops(which: str) -> None:
    run([name for name in OPERATIONS if group_of(name) == which], as_operation, False)


def test_operations_give_the_bits_of_the_emulator() -> None:
    chosen: dict[str, str] = {}
    for name in OPERATIONS:
        chosen.setdefault(f"{group_of(name)} {CASES[name].a} {CASES[name].blocks}", name)
    assert len(chosen) > 20
    run(list(chosen.values()), as_operation, False, ("sim:sm_120a", "emu:sm_120a"))


def one(name: str, drawn: Drawn, write: Any = as_operation) -> tuple[sim.SimulatedKernel, np.ndarray, np.ndarray]:
    """A kernel of one MMA, and its arguments."""
    source, words, wanted = kernel({name: drawn}, write)
    return sim.simulate(source, "sim:sm_120a"), words, np.zeros((wanted[name][1], 32), np.int32)


PREFIX = "llvm.nvvm.mma.sp."


BROKEN = [
    # Row, its second chunk's bits, and what is required instead.
    ("m16n8k32.row.col.f32.f32", 3, 0b1010, "they must be two different positions"),
    ("ordered.metadata.m16n8k32.row.col.f32.f32", 3, 0b0001, "they must be two increasing positions"),
    ("m16n8k16.row.col.tf32", 3, 0b0110, "they must be 0b0100 or 0b1110"),
    ("ordered.metadata.m16n8k64.row.col.s8", 11, 0b0000, "they must be two increasing positions"),
]


@pytest.mark.parametrize(("name", "row", "bits", "required"), BROKEN)
def test_invalid_metadata_are_found(name: str, row: int, bits: int, required: str) -> None:
    operands, sums, expected = numbers(PREFIX + name, False)
    mma = CASES[PREFIX + name]
    assert mma.sparse
    size = mma.sparse.chunk
    changed, selector = operands[-2][1].copy(), operands[-1][1]
    lane = 4 * (row % 8) + mma.k // size // 4 * selector + (0 if mma.halves else row // 8)
    changed[lane] = changed[lane] & ~np.uint32(0xF0) | np.uint32(bits << 4)
    made, words, out = one(PREFIX + name, ([*operands[:-2], ("i32", changed), operands[-1]], sums, expected))
    (finding,) = made.find(words, out)
    assert finding.kind == "assertion" and finding.agent == f"warp 0, lane {lane}"
    columns = f"columns {size} to {2 * size - 1}"
    assert finding.message == f"the sparsity metadata of row {row}, {columns}, are {bits:#06b}; {required}"


def test_gathered_rows_need_an_order_only_if_stated() -> None:
    name = PREFIX + "m16n8k32.row.col.f32.f32"
    given = numbers(name, False)
    metadata = given[0][-2][1]
    positions = [(int(word) >> 4 * i & 3, int(word) >> 4 * i + 2 & 3) for word in metadata for i in range(8)]
    assert any(a > b for a, b in positions)
    made, words, out = one(name, given)
    assert made.find(words, out) == ()
    ordered = PREFIX + "ordered.metadata.m16n8k32.row.col.f32.f32"
    made, words, out = one(ordered, given)
    assert [f.kind for f in made.find(words, out)] == ["assertion"]


def test_an_invalid_sparsity_selector_is_refused() -> None:
    name = PREFIX + "m16n8k32.row.col.f32.f32"
    operands, sums, expected = numbers(name, False)
    with pytest.raises(CompileError, match="the sparsity selector is 2; for f16 with K = 32, it must be from 0 to 1"):
        one(name, ([*operands[:-1], ("i32", 2)], sums, expected))


SCALED = "llvm.nvvm.mma.block.scale.m16n8k32.row.col.mxf8f6f4.scale.1x.f32.e5m2.e5m2.f32.ue8m0"
NVF4 = "llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4nvf4.scale.4x.f32.e2m1.e2m1.f32.ue4m3"


def scaled(name: str, row: int, code: int) -> np.ndarray:
    """The result for another first scale of a row of A."""
    operands, sums, expected = numbers(name, False)
    (_, data), (_, byte), (_, thread) = operands[-6:-3]
    codes = data.copy().view(np.uint8).reshape(32, 4)
    codes[4 * (row % 8) + 2 * thread + row // 8, byte] = code
    operands[-6] = ("i32", codes.view(np.uint32).reshape(-1))
    made, words, out = one(name, (operands, sums, expected))
    made(words, out)
    return result_of(out, name)


def test_nan_scales() -> None:
    for name, code in ((SCALED, 0xFF), (NVF4, 0x7F), (NVF4, 0xFF), (NVF4, 0x88)):
        found = scaled(name, 9, code)
        assert np.isnan(found[9]).all() and not np.isnan(np.delete(found, 9, 0)).any()
    # The smallest scale, 2 to the power of -127, and the largest, are numbers.
    found, wanted = scaled(SCALED, 9, 0), numbers(SCALED, False)[2]
    np.testing.assert_allclose(np.delete(found, 9, 0), np.delete(wanted, 9, 0), rtol=1e-6)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(("which", "value"), [(-5, 4), (-4, 2), (-2, 5), (-1, 4)])
def test_invalid_byte_and_thread_ids(which: int, value: int) -> None:
    operands, sums, expected = numbers(SCALED, False)
    operands[which] = ("i16", value)
    made, words, out = one(SCALED, (operands, sums, expected))
    (finding,) = made.find(words, out)
    name = {-5: "byte-id-a", -4: "thread-id-a", -2: "byte-id-b", -1: "thread-id-b"}[which]
    limit = {-5: 4, -4: 2, -2: 4, -1: 4}[which]
    assert (
        finding.kind == "assertion"
        and finding.message == f"the operand {name} of the scales is {value}; it must be below {limit}"
    )


def test_infinities_and_zeros_of_a_sparse_operand() -> None:
    """Elided zeros multiply infinities of B, as in a dense matmul."""
    name = PREFIX + "m16n8k16.row.col.bf16"
    operands, sums, _ = numbers(name, True)
    # Lane 0 has the rows 0 and 1 of column 0 of B.
    first = operands[2][1].copy()
    first[0] = first[0] & np.uint32(0xFFFF0000) | np.uint32(0x7F80)
    operands[2] = ("i32", first)
    made, words, out = one(name, (operands, sums, np.zeros(0)))
    made(words, out)
    found = result_of(out, name)
    assert not np.isfinite(found[:, 0]).any() and np.isfinite(found[:, 1:]).all()


VECTORS = [("f16", 16), ("f16", 32), ("bf16", 32), ("f32", 8), ("f32", 16), ("i8", 32), ("i8", 64), ("i4", 64)]


@pytest.mark.parametrize(("element", "k"), VECTORS)
def test_sparse_mmas_of_vectors(element: str, k: int) -> None:
    """`nvgpu.mma.sp.sync` computes what `nvvm.mma.sp.sync` does; sums of integers are saturated."""
    ending = {"f16": "f32.f32", "f32": "tf32", "i8": "satfinite.s8", "i4": "satfinite.s4"}.get(element, element)
    name = f"{PREFIX}m16n8k{k}.row.col.{ending}"
    operands, sums, expected = numbers(name, False)
    operands[-1] = ("i32", 0)
    mma = CASES[name]
    assert mma.sparse
    lanes = k // mma.sparse.chunk // 4
    metadata = operands[-2][1]
    step = next(s for s in range(4 // lanes) if metadata[lanes * s] != 0xDEADBEEF)
    # They are in the lanes that the selector 0 names.
    operands[-2] = ("i32", np.roll(metadata, -lanes * step))
    total = "i32" if element in ("i8", "i4") else "f32"
    bits = {"f16": 16, "bf16": 16, "f32": 32, "i8": 8, "i4": 4}[element]
    width = 32 // bits

    def write(_: str, values: list[str], types: list[str], struct: str) -> str:
        of_b = len(values) - 6 - (len(values) - 6) // 2
        parts = (values[: len(values) - 6 - of_b], values[-6 - of_b : -6], values[-6:-2])
        lines, names = [], []
        for letter, part, kind in zip("abc", parts, (element, element, total), strict=True):
            of_registers = "i32" if letter != "c" else total
            count = len(part)
            shape = f"vector<{count}x{width}x{kind}>" if letter != "c" else f"vector<2x2x{kind}>"
            flat = f"vector<{count * width}x{kind}>" if letter != "c" else f"vector<4x{kind}>"
            words = [f"%{letter}w{i}" for i in range(count)]
            for word, value in zip(words, part, strict=True):
                ty = types[values.index(value)]
                lines.append(f"{word} = llvm.bitcast {value} : {ty} to {of_registers}")
            lines.append(f"%{letter}e = vector.from_elements {', '.join(words)} : vector<{count}x{of_registers}>")
            lines.append(f"%{letter}f = vector.bitcast %{letter}e : vector<{count}x{of_registers}> to {flat}")
            lines.append(f"%{letter}s = vector.shape_cast %{letter}f : {flat} to {shape}")
            names.append(shape)
        lines.append(f"%md = llvm.bitcast {values[-2]} : i32 to vector<2xi16>")
        lines.append(
            f"%dv = nvgpu.mma.sp.sync(%as, %bs, %cs) metadata(%md) {{mmaShape = [16, 8, {k}]"
            f"{', tf32Enabled' if element == 'f32' else ''}}} : ({', '.join(names)}) -> {names[2]}"
        )
        lines.append(f"%s0 = llvm.mlir.undef : {struct}")
        for i in range(4):
            lines.append(f"%de{i} = vector.extract %dv[{i // 2}, {i % 2}] : {total} from {names[2]}")
            lines.append(f"%s{i + 1} = llvm.insertvalue %de{i}, %s{i}[{i}] : {struct}")
        before = "\n    ".join(lines)
        return f"llvm.mlir.undef : {struct}\n    {before}"

    source, words, wanted = kernel({name: (operands, sums, expected)}, write)
    source = source.replace("llvm.extractvalue %d0[", "llvm.extractvalue %s4[")
    made, out = sim.simulate(source, "sim:sm_90a"), np.zeros((4, 32), np.int32)
    made(words, out)
    check(result_of(out, name), name, wanted[name][2], False)
