# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-lane ops, special registers, and ldmatrix and stmatrix, against the formulas of the PTX ISA in numpy."""

from __future__ import annotations

import itertools

import numpy as np
import nvidia
import pytest
import smalti
from nvidia import Array

PREFIX = "llvm.nvvm."
FULL = 0xFFFFFFFF
LANES = np.arange(32)

# ---------------------------------------------------------------------------------------------------------------------
# shfl.sync
# ---------------------------------------------------------------------------------------------------------------------

SHUFFLES = {
    f"{PREFIX}shfl.sync.{mode}.{ty}": (mode, ty)
    for mode in ("up", "down", "bfly", "idx")
    for ty in ("i32", "f32", "i32p", "f32p")
}


def _source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The pseudocode of the document: the lane that is read, and the predicate."""
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & mask) | (cval & ~mask & 31)
    min_lane = lane & mask
    if mode == "up":
        j = lane - bval
        inside = j >= max_lane
    elif mode == "down":
        j = lane + bval
        inside = j <= max_lane
    elif mode == "bfly":
        j = lane ^ bval
        inside = j <= max_lane
    else:
        j = min_lane | (bval & ~mask & 31)
        inside = j <= max_lane
    return (j if inside else lane), inside


def test_shuffles() -> None:
    random = nvidia.seeded("shuffles")
    # A warp for each distance and clamp: widths of 32, 16, 8 and 2, and other clamps.
    cases = list(itertools.product((0, 1, 2, 5, 16, 31, 33), (0x1F, 0x101F, 0x181F, 0x1E1F, 0x1800, 0x0007, 0x0)))
    b = np.repeat([x for x, _ in cases], 32).astype(np.uint32)
    c = np.repeat([x for _, x in cases], 32).astype(np.uint32)
    b[-32:] = random.integers(0, 32, 32)
    values = random.integers(0, 1 << 31, len(b)).astype(np.uint32)
    calls = {}
    for name, (_, ty) in SHUFFLES.items():
        value = "float" if ty.startswith("f") else "i32"
        data = values.view(np.float32) if value == "float" else values
        results = [value, "i1"] if ty.endswith("p") else [value]
        calls[name] = nvidia.call(results, ("i32", FULL), (value, data), ("i32", b), ("i32", c))
    for name, fields in nvidia.run(calls).items():
        mode = SHUFFLES[name][0]
        sources = [_source(mode, i % 32, int(b[i]), int(c[i])) for i in range(len(b))]
        expected = np.array([values[i // 32 * 32 + j] for i, (j, _) in enumerate(sources)], np.uint32)
        np.testing.assert_array_equal(fields[0].view(np.uint32), expected, name)
        if len(fields) > 1:
            np.testing.assert_array_equal(fields[1], [inside for _, inside in sources], name)


# ---------------------------------------------------------------------------------------------------------------------
# vote, match, redux, elect
# ---------------------------------------------------------------------------------------------------------------------

VOTES = {f"{PREFIX}vote.{kind}.sync": kind for kind in ("all", "any", "uni", "ballot")}
MATCHES = {
    **{f"{PREFIX}match.any.sync.i{bits}": (bits, False) for bits in (32, 64)},
    **{f"{PREFIX}match.all.sync.i{bits}p": (bits, True) for bits in (32, 64)},
}


def _warps(values: Array) -> Array:
    return values.reshape(-1, 32)


def test_votes() -> None:
    random = nvidia.seeded("votes")
    said = np.stack([np.zeros(32), np.ones(32), LANES == 7, LANES != 7, random.integers(0, 2, 32)]).astype(np.uint8)
    calls = {
        name: nvidia.call("i32" if kind == "ballot" else "i1", ("i32", FULL), ("i1", said.reshape(-1)))
        for name, kind in VOTES.items()
    }
    ballots = (said.astype(np.uint64) << LANES.astype(np.uint64)).sum(1)
    for name, (fields,) in nvidia.run(calls).items():
        wanted = {
            "all": said.all(1),
            "any": said.any(1),
            "uni": said.all(1) | ~said.any(1),
            "ballot": ballots,
        }[VOTES[name]]
        np.testing.assert_array_equal(_warps(fields), np.repeat(wanted[:, None], 32, 1), name)


def test_matches() -> None:
    random = nvidia.seeded("matches")
    values = np.concatenate([random.integers(0, 4, 32), np.full(32, 9), np.where(LANES == 3, 1 << 40, 0)]).astype(
        np.uint64
    )
    calls = {}
    for name, (bits, all_lanes) in MATCHES.items():
        results = ["i32", "i1"] if all_lanes else ["i32"]
        calls[name] = nvidia.call(results, ("i32", FULL), (f"i{bits}", values.astype(f"u{bits // 8}")))
    for name, fields in nvidia.run(calls).items():
        bits, all_lanes = MATCHES[name]
        for warp, found in zip(_warps(values.astype(f"u{bits // 8}")), _warps(fields[0]), strict=True):
            same = (warp[:, None] == warp[None, :]).astype(np.uint64)
            masks = (same << LANES.astype(np.uint64)).sum(1)
            if all_lanes:
                masks = np.full(32, FULL if (warp == warp[0]).all() else 0)
            np.testing.assert_array_equal(found, masks, name)
        if all_lanes:
            np.testing.assert_array_equal(fields[1], fields[0] != 0, name)


INTEGER_REDUCTIONS = {
    "add": lambda v: int(v.astype(np.uint64).sum()) % (1 << 32),
    "and": lambda v: int(np.bitwise_and.reduce(v)),
    "or": lambda v: int(np.bitwise_or.reduce(v)),
    "xor": lambda v: int(np.bitwise_xor.reduce(v)),
    "min": lambda v: int(v.view(np.int32).min()) % (1 << 32),
    "max": lambda v: int(v.view(np.int32).max()) % (1 << 32),
    "umin": lambda v: int(v.min()),
    "umax": lambda v: int(v.max()),
}
FLOAT_REDUCTIONS = [
    f"{op}{absolute}{nan}" for op in ("fmin", "fmax") for absolute in ("", ".abs") for nan in ("", ".NaN")
]
REDUCTIONS = [f"{PREFIX}redux.sync.{kind}" for kind in [*INTEGER_REDUCTIONS, *FLOAT_REDUCTIONS]]


def test_reductions() -> None:
    random = nvidia.seeded("reductions")
    integers = random.integers(0, 1 << 32, 64, np.uint64).astype(np.uint32)
    floats = random.standard_normal(32 * 4).astype(np.float32)
    floats[40], floats[64:96] = np.nan, np.nan
    floats[96:128] = np.where(LANES % 2, 0.0, -0.0)
    calls = {}
    for name in REDUCTIONS:
        operand = ("float", floats) if name.split("redux.sync.")[1].startswith("f") else ("i32", integers)
        calls[name] = nvidia.call(operand[0], operand, ("i32", FULL))
    for name, (fields,) in nvidia.run(calls).items():
        kind = name.split("redux.sync.")[1]
        if kind in INTEGER_REDUCTIONS:
            expected = np.repeat([INTEGER_REDUCTIONS[kind](w) for w in _warps(integers)], 32)
            np.testing.assert_array_equal(fields, expected.astype(np.uint32), name)
            continue
        for warp, found in zip(_warps(floats), _warps(fields), strict=True):
            numbers = warp[~np.isnan(warp)]
            numbers = np.abs(numbers) if ".abs" in kind else numbers
            if not len(numbers) or (kind.endswith(".NaN") and len(numbers) < 32):
                assert (found.view(np.uint32) == 0x7FFFFFFF).all(), name
                continue
            expected = numbers.min() if "fmin" in kind else numbers.max()
            assert (found == expected).all(), name
            if expected == 0:
                # -0 is below +0.
                assert np.signbit(found).all() == ("fmin" in kind and ".abs" not in kind), name


ELECT = PREFIX + "elect.sync"
ACTIVE = PREFIX + "activemask"


def test_elect_one_lane() -> None:
    leader, elected = nvidia.run({ELECT: nvidia.call(["i32", "i1"], ("i32", np.full(32, FULL, np.uint32)))})[ELECT]
    assert elected.sum() == 1
    assert (leader == int(np.nonzero(elected)[0][0])).all()


DIVERGED = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare RESULT @NAME(TYPES)
define ptx_kernel void @k(ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %is_odd = icmp ne i32 %odd, 0
  %p = getelementptr i32, ptr %out, i32 %tid
  br i1 %is_odd, label %then, label %end
then:
  %r = call RESULT @NAME(OPERANDS)
  store RESULT %r, ptr %p
  br label %end
end:
  ret void
}
"""


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        (ACTIVE, "", np.full(32, 0xAAAAAAAA)),
        (PREFIX + "vote.ballot.sync", "i32 u0xAAAAAAAA, i1 true", np.full(32, 0xAAAAAAAA)),
        (PREFIX + "shfl.sync.idx.i32", "i32 u0xAAAAAAAA, i32 %tid, i32 5, i32 31", np.full(32, 5)),
        (PREFIX + "redux.sync.add", "i32 1, i32 u0xAAAAAAAA", np.full(32, 16)),
        # The value of an inactive lane is undefined: all ones here.
        (PREFIX + "shfl.sync.idx.i32", "i32 u0xAAAAAAAA, i32 %tid, i32 4, i32 31", np.full(32, FULL)),
    ],
)
def test_some_lanes(name: str, operands: str, expected: Array) -> None:
    types = ", ".join(part.split()[0] for part in operands.split(", ") if part)
    operands = operands.replace("u0xAAAAAAAA", str(0xAAAAAAAA - (1 << 32)))
    out = np.zeros(32, np.uint32)
    text = DIVERGED.replace("RESULT", "i32").replace("NAME", name).replace("TYPES", types).replace("OPERANDS", operands)
    nvidia.run_kernel(text, 32, out)
    np.testing.assert_array_equal(out, np.where(LANES % 2, expected, 0))


# ---------------------------------------------------------------------------------------------------------------------
# Special registers
# ---------------------------------------------------------------------------------------------------------------------

BLOCK, GRID = (8, 5, 2), (3, 2, 2)
_THREAD = np.arange(80)
_AXES = {"x": _THREAD % 8, "y": _THREAD // 8 % 5, "z": _THREAD // 40, "w": _THREAD * 0}
_BLOCKS = np.arange(12)
_BLOCK_AXES = {"x": _BLOCKS % 3, "y": _BLOCKS // 3 % 2, "z": _BLOCKS // 6, "w": _BLOCKS * 0}
DYNAMIC_BYTES = 256


def _registers() -> dict[str, Array]:
    """The values that each thread of each block reads: blocks in rows."""
    blocks, threads = len(_BLOCKS), len(_THREAD)
    lane = _THREAD % 32
    bit = np.uint64(1) << lane.astype(np.uint64)

    def of_thread(values: Array) -> Array:
        return np.tile(values, (blocks, 1))

    def of_block(values: Array) -> Array:
        return np.repeat(values[:, None], threads, 1)

    def constant(value: int) -> Array:
        return np.full((blocks, threads), value)

    made: dict[str, Array] = {}
    for i, axis in enumerate("xyzw"):
        size = (*BLOCK, 1)[i]
        grid = (*GRID, 1)[i]
        made[f"tid.{axis}"] = of_thread(_AXES[axis])
        made[f"ntid.{axis}"] = constant(size)
        made[f"ctaid.{axis}"] = made[f"clusterid.{axis}"] = of_block(_BLOCK_AXES[axis])
        made[f"nctaid.{axis}"] = made[f"nclusterid.{axis}"] = constant(grid)
        made[f"cluster.ctaid.{axis}"] = constant(0)
        made[f"cluster.nctaid.{axis}"] = constant(1)
    made["cluster.ctarank"] = constant(0)
    made["cluster.nctarank"] = constant(1)
    made["laneid"] = of_thread(lane)
    made["warpid"] = of_thread(_THREAD // 32)
    made["nwarpid"] = constant(3)
    made["warpsize"] = constant(32)
    made["lanemask.eq"] = of_thread(bit)
    made["lanemask.lt"] = of_thread(bit - 1)
    made["lanemask.le"] = of_thread(bit | (bit - 1))
    made["lanemask.gt"] = of_thread(FULL & ~(bit | (bit - 1)))
    made["lanemask.ge"] = of_thread(FULL & ~(bit - 1))
    made["dynamic_smem_size"] = constant(DYNAMIC_BYTES)
    made["total_smem_size"] = made["aggr_smem_size"] = constant(DYNAMIC_BYTES)
    made["smid"] = made["gridid"] = constant(0)
    made["nsmid"] = constant(1)
    return made


REGISTERS = _registers()
CLUSTER = PREFIX + "is_explicit_cluster"
COUNTERS = {"clock": 32, "clock64": 64, "globaltimer": 64, "globaltimer.lo": 32}


def test_registers() -> None:
    body, declared = "", ""
    for index, name in enumerate(REGISTERS):
        declared += f"declare i32 @{PREFIX}read.ptx.sreg.{name}()\n"
        body += f"  %r{index} = call i32 @{PREFIX}read.ptx.sreg.{name}()\n"
        body += f"  %i{index} = add i32 %row, {index}\n  %p{index} = getelementptr i32, ptr %out, i32 %i{index}\n"
        body += f"  store i32 %r{index}, ptr %p{index}\n"
    where = (
        "  %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %b = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
        "  %c = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()\n  %d = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
        "  %e = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n  %f = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()\n"
        "  %c1 = mul i32 %c, 5\n  %bc = add i32 %b, %c1\n  %b1 = mul i32 %bc, 8\n  %thread = add i32 %a, %b1\n"
        "  %f1 = mul i32 %f, 2\n  %ef = add i32 %e, %f1\n  %e1 = mul i32 %ef, 3\n  %block = add i32 %d, %e1\n"
        f"  %t1 = mul i32 %block, 80\n  %t2 = add i32 %t1, %thread\n  %row = mul i32 %t2, {len(REGISTERS)}\n"
    )
    out = np.zeros((12, 80, len(REGISTERS)), np.uint32)
    text = f"@dynamic = external addrspace(3) global [0 x i8], align 16\n{declared}define ptx_kernel void @k(ptr %out) {{\n{where}{body}  ret void\n}}\n"
    smalti.emulator.load(nvidia.HEADER + text, nvidia.TARGET).launch(GRID, BLOCK, out, shared=DYNAMIC_BYTES)
    for index, (name, expected) in enumerate(REGISTERS.items()):
        np.testing.assert_array_equal(out[:, :, index], expected.astype(np.uint32), name)


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_grow(name: str) -> None:
    bits = COUNTERS[name]
    out = np.zeros((2, 32), f"u{bits // 8}")
    read = f"call i{bits} @{PREFIX}read.ptx.sreg.{name}()"
    text = f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i{bits} @{PREFIX}read.ptx.sreg.{name}()
define ptx_kernel void @k(ptr %out) {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %later = add i32 %tid, 32
  %first = {read}
  %second = {read}
  %p = getelementptr i{bits}, ptr %out, i32 %tid
  %q = getelementptr i{bits}, ptr %out, i32 %later
  store i{bits} %first, ptr %p
  store i{bits} %second, ptr %q
  ret void
}}
"""
    nvidia.run_kernel(text, 32, out)
    assert (out[1] > out[0]).all()


def test_no_cluster() -> None:
    out = np.ones(1, np.uint8)
    text = f"""
declare i1 @{CLUSTER}()
define ptx_kernel void @k(ptr %out) {{
  %is = call i1 @{CLUSTER}()
  %byte = zext i1 %is to i8
  store i8 %byte, ptr %out
  ret void
}}
"""
    nvidia.run_kernel(text, 1, out)
    assert out[0] == 0


# ---------------------------------------------------------------------------------------------------------------------
# ldmatrix, stmatrix
# ---------------------------------------------------------------------------------------------------------------------

LOADS = {
    **{
        f"ldmatrix.sync.aligned.m8n8.x{n}{trans}.b16": ("m8n8", n, bool(trans), 16)
        for n in (1, 2, 4)
        for trans in ("", ".trans")
    },
    **{
        f"ldmatrix.sync.aligned.m8n16.x{n}.b8x16.b{bits}x16_p{pad}": ("m8n16", n, False, bits)
        for n in (1, 2, 4)
        for bits, pad in ((4, 64), (6, 32))
    },
    **{
        f"ldmatrix.sync.aligned.m16n16.x{n}.trans.{end}": ("m16n16", n, True, bits)
        for n in (1, 2)
        for end, bits in (("b8", 8), ("b8x16.b4x16_p64", 4), ("b8x16.b6x16_p32", 6))
    },
}
STORES = {
    **{
        f"stmatrix.sync.aligned.m8n8.x{n}{trans}.b16": ("m8n8", n, bool(trans))
        for n in (1, 2, 4)
        for trans in ("", ".trans")
    },
    **{f"stmatrix.sync.aligned.m16n8.x{n}.trans.b8": ("m16n8", n, True) for n in (1, 2, 4)},
}

MEMORY = """
@shared = internal addrspace(3) global [ROWS x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare RESULT @llvm.nvvm.NAME.p3(ptr addrspace(3)OPERANDTYPES)
define ptx_kernel void @k(ptr %image, ptr %offsets, ptr %registers) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %in
in:
  %i = phi i32 [ %tid, %0 ], [ %i2, %in ]
  %from = getelementptr i8, ptr %image, i32 %i
  %to = getelementptr i8, ptr addrspace(3) @shared, i32 %i
  %byte = load i8, ptr %from
  store i8 %byte, ptr addrspace(3) %to
  %i2 = add i32 %i, 32
  %more = icmp slt i32 %i2, ROWS
  br i1 %more, label %in, label %now
now:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %po = getelementptr i32, ptr %offsets, i32 %tid
  %offset = load i32, ptr %po
  %address = getelementptr i8, ptr addrspace(3) @shared, i32 %offset
BODY
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %out
out:
  %j = phi i32 [ %tid, %now ], [ %j2, %out ]
  %from2 = getelementptr i8, ptr addrspace(3) @shared, i32 %j
  %to2 = getelementptr i8, ptr %image, i32 %j
  %byte2 = load i8, ptr addrspace(3) %from2
  store i8 %byte2, ptr %to2
  %j2 = add i32 %j, 32
  %more2 = icmp slt i32 %j2, ROWS
  br i1 %more2, label %out, label %end
end:
  ret void
}
"""


def _memory_kernel(name: str, count: int, is_load: bool, size: int) -> str:
    """Copies an image to shared memory, runs the instruction with a row's offset a lane, and copies it back."""
    lines = []
    results = "i32" if count == 1 else "{ " + ", ".join(["i32"] * count) + " }"
    operands = ""
    for r in range(count):
        lines.append(f"  %n{r} = add i32 %tid, {32 * r}\n  %p{r} = getelementptr i32, ptr %registers, i32 %n{r}")
        if not is_load:
            lines.append(f"  %v{r} = load i32, ptr %p{r}")
            operands += f", i32 %v{r}"
    called = f"@llvm.nvvm.{name}.p3(ptr addrspace(3) %address{operands})"
    if is_load:
        lines.append(f"  %r = call {results} {called}")
        for r in range(count):
            value = "%r" if count == 1 else f"%f{r}"
            if count > 1:
                lines.append(f"  {value} = extractvalue {results} %r, {r}")
            lines.append(f"  store i32 {value}, ptr %p{r}")
    else:
        lines.append(f"  call void {called}")
    text = MEMORY.replace("ROWS", str(size)).replace("NAME", name).replace("BODY", "\n".join(lines))
    text = text.replace("RESULT", results if is_load else "void")
    return text.replace("OPERANDTYPES", "" if is_load else ", i32" * count)


def _addresses(random: np.random.Generator, rows: int) -> Array:
    """Rows anywhere in 64; lanes beyond those that give a row have an address that must not be used."""
    offsets = np.full(32, 1 << 20, np.uint32)
    offsets[:rows] = random.permutation(64)[:rows] * 16
    return offsets


def _unpacked(row: Array, bits: int) -> Array:
    """The 16 elements of a row, a byte each."""
    number = int.from_bytes(row.tobytes(), "little")
    return np.array([number >> i * bits & ((1 << bits) - 1) for i in range(16)], np.uint8)


@pytest.mark.parametrize("name", LOADS)
def test_matrix_loads(name: str) -> None:
    shape, n, trans, bits = LOADS[name]
    random = nvidia.seeded(name)
    rows = (16 if shape == "m16n16" else 8) * n
    image = random.integers(0, 256, (64, 16)).astype(np.uint8)
    offsets = _addresses(random, rows)
    count = n * (2 if shape == "m16n16" else 1)
    out = np.zeros((count, 32), np.uint32)
    nvidia.run_kernel(_memory_kernel(name, count, True, 1024), 32, image, offsets, out)
    for m in range(n):
        height = rows // n
        matrix = np.stack([image[offsets[height * m + r] // 16] for r in range(height)])
        for lane in range(32):
            g, t = lane >> 2, lane % 4
            if shape == "m8n8":
                halves = matrix.view(np.uint16)
                pair = [halves[2 * t + e, g] if trans else halves[g, 2 * t + e] for e in (0, 1)]
                assert out[m, lane] == int(pair[0]) | int(pair[1]) << 16, (m, lane)
            elif shape == "m8n16":
                expected = _unpacked(matrix[g], bits)[4 * t : 4 * t + 4]
                np.testing.assert_array_equal(out[m, lane : lane + 1].view(np.uint8), expected)
            else:
                unpacked = np.stack([_unpacked(row, bits) for row in matrix])
                # CUTLASS, SM100_U8x8_LDSM_T: bytes run over two rows, two columns 8 apart, and the next two rows.
                expected = [unpacked[4 * t + 2 * h + s, g + 8 * c] for h in (0, 1) for c in (0, 1) for s in (0, 1)]
                got = np.concatenate([out[2 * m + r, lane : lane + 1].view(np.uint8) for r in (0, 1)])
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", STORES)
def test_matrix_stores(name: str) -> None:
    shape, n, trans = STORES[name]
    random = nvidia.seeded(name)
    image = random.integers(0, 256, (64, 16)).astype(np.uint8)
    offsets = _addresses(random, 8 * n)
    values = random.integers(0, 1 << 32, (n, 32), np.uint64).astype(np.uint32)
    expected = image.copy()
    for m in range(n):
        for lane in range(32):
            g, t = lane >> 2, lane % 4
            if shape == "m8n8":
                for e, half in enumerate(values[m, lane : lane + 1].view(np.uint16)):
                    row, column = (2 * t + e, g) if trans else (g, 2 * t + e)
                    expected[offsets[8 * m + row] // 16].view(np.uint16)[column] = half
            else:
                # As accumulators: element e has the row g, or g + 8, and the column 2 * t + (e & 1); stored transposed.
                for e, byte in enumerate(values[m, lane : lane + 1].view(np.uint8)):
                    expected[offsets[8 * m + 2 * t + (e & 1)] // 16, g if e < 2 else g + 8] = byte
    nvidia.run_kernel(_memory_kernel(name, n, False, 1024), 32, image, offsets, values)
    np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("name", ["ldmatrix.sync.aligned.m8n8.x1.b16", "stmatrix.sync.aligned.m8n8.x1.b16"])
def test_rows_are_aligned(name: str) -> None:
    image, offsets, values = np.zeros((64, 16), np.uint8), np.arange(32, dtype=np.uint32) * 16, np.zeros(32, np.uint32)
    offsets[5] += 8
    with pytest.raises(smalti.EmulationError, match="is not a multiple of 16"):
        nvidia.run_kernel(_memory_kernel(name, 1, name.startswith("ld"), 1024), 32, image, offsets, values)


TESTED = [
    *SHUFFLES,
    *VOTES,
    *MATCHES,
    *REDUCTIONS,
    ELECT,
    ACTIVE,
    *(f"{PREFIX}read.ptx.sreg.{name}" for name in [*REGISTERS, *COUNTERS]),
    CLUSTER,
    *(f"{PREFIX}{name}.p3" for name in [*LOADS, *STORES]),
]
