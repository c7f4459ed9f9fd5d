# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wgmma.mma_async: operands in shared memory as CUTLASS writes their layouts, sums against float64, waits and races."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from mma_kernels import ELEMENTS
from nvidia import Array
from smalti.emulator import SCHEDULES, Emulation

ROWS, THREADS = 64, 128
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}
"""The codes of a descriptor."""

# ---------------------------------------------------------------------------------------------------------------------
# Matrices in shared memory
# ---------------------------------------------------------------------------------------------------------------------


def _flat(shape: Any, stride: Any) -> list[tuple[int, int]]:
    """The modes of a layout of CUTLASS, the first one the fastest."""
    if isinstance(shape, int):
        return [(shape, stride)]
    return [mode for s, d in zip(shape, stride, strict=True) for mode in _flat(s, d)]


def _offset(modes: Sequence[tuple[int, int]], index: int) -> int:
    offset = 0
    for size, step in modes:
        offset += index % size * step
        index //= size
    return offset


def elements(shape: tuple[int, int], size: int, swizzle: int, major_k: bool, leading: int, stride: int) -> Array:
    """The offset in bytes of each element of a matrix, before the swizzle.

    The canonical layouts of CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp, make_gmma_desc: in elements, of which T are 16
    bytes; leading and stride are its LBO and SBO.
    """
    rows, k = shape
    t = 16 // size
    lbo, sbo = leading // size, stride // size
    wide = max(swizzle // 16, 1)
    if major_k:
        row_mode = ((8, rows // 8), (t * wide, sbo))
        k_mode = ((t, k // t), (1, t if swizzle else lbo))
    elif swizzle:
        row_mode = ((t, wide, -(-rows // (t * wide))), (1, t, lbo))
        k_mode = ((8, k // 8), (wide * t, sbo))
    else:
        row_mode = ((t, 1, rows // t), (1, t, sbo))
        k_mode = ((8, k // 8), (t, lbo))
    at_row, at_k = _flat(*row_mode), _flat(*k_mode)
    return np.array([[(_offset(at_row, r) + _offset(at_k, i)) * size for i in range(k)] for r in range(rows)])


def swizzled(offsets: Array, swizzle: int, base: int = 0) -> Array:
    """CUTLASS's Swizzle<B, 4, 3>: bits 7 and up are added to bits 4 and up, of a pattern that begins at `base` lines."""
    bits = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
    return offsets ^ ((((offsets >> 7) - base) & ((1 << bits) - 1)) << 4)


@dataclass(frozen=True)
class Form:
    """The layout of a matrix in shared memory."""

    swizzle: int
    major_k: bool = True
    leading: int = 0
    stride: int = 0
    start: int = 0
    base: int = 0

    def descriptor(self, start: int) -> int:
        encode = [(x & 0x3FFFF) >> 4 for x in (start + self.start, self.leading, self.stride)]
        return encode[0] | encode[1] << 16 | encode[2] << 32 | (self.base & 7) << 49 | SWIZZLES[self.swizzle] << 62

    def place(self, codes: Array, image: Array, start: int) -> None:
        """Writes a matrix of codes (rows x k) into the image."""
        size = codes.dtype.itemsize
        at = start + self.start + elements(codes.shape, size, self.swizzle, self.major_k, self.leading, self.stride)
        at = swizzled(at, self.swizzle, self.base)
        assert len(np.unique(at)) == at.size, "elements share bytes"
        for byte in range(size):
            image[at + byte] = codes.view(np.uint8).reshape(*codes.shape, size)[..., byte]


def form(swizzle: int, major_k: bool, rows: int, extra: int = 0, start: int = 0, base: int = 0) -> Form:
    """A layout without gaps, except `extra` bytes, or an eighth of them, between strided parts."""
    small = 128 + extra // 8
    if major_k:
        if not swizzle:
            return Form(0, True, rows // 8 * small, small, start)
        return Form(swizzle, True, 16, 8 * swizzle + extra, start, base)
    if not swizzle:
        return Form(0, False, rows // 8 * small, small, start)
    return Form(swizzle, False, 16 * swizzle + 2 * extra, 8 * swizzle + extra, start, base)


# ---------------------------------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------------------------------

INTEGERS = ("s8", "u8", "b1")
FENCE, COMMIT, WAIT = "wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"
SHARED_BYTES = 65536
HEAD = f"""
@image = internal addrspace(3) global [{SHARED_BYTES} x i8] undef, align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.{FENCE}()
declare void @llvm.nvvm.{COMMIT}()
declare void @llvm.nvvm.{WAIT}(i64)
declare void @llvm.memcpy.p3.p0.i64(ptr addrspace(3), ptr, i64, i1)
"""
FILL = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul i32 %tid, 512
  %to = getelementptr i8, ptr addrspace(3) @image, i32 %row
  %from = getelementptr i8, ptr %in, i32 %row
  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %to, ptr %from, i64 512, i1 false)
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
"""


@dataclass(frozen=True)
class Kind:
    """The types of a wgmma, as in its opcode."""

    d: str
    a: str
    b: str
    saturate: bool = False

    @property
    def size(self) -> int:
        return ELEMENTS[self.a].bits // 8 or 1

    @property
    def k(self) -> int:
        return 256 if self.a == "b1" else 32 // self.size

    def opcode(self, n: int) -> str:
        ending = ".and.popc" if self.a == "b1" else ".satfinite" * self.saturate
        return f"wgmma.mma_async.sync.aligned.m64n{n}k{self.k}.{self.d}.{self.a}.{self.b}{ending}"

    def registers(self, n: int) -> int:
        return n // 4 if self.d == "f16" else n // 2


@dataclass(frozen=True)
class Modifiers:
    """Immediates of a wgmma, and whether A is in registers."""

    adds: bool = True
    scale_a: int = 1
    scale_b: int = 1
    trans_a: int = 0
    trans_b: int = 0
    in_registers: bool = False


def mma_async(kind: Kind, n: int, how: Modifiers, a: str, b: str, accumulators: Sequence[str], name: str) -> str:
    """A call as MLIR's nvvm.wgmma.mma_async writes it, or with A in registers."""
    count = len(accumulators)
    a_names = [f"i32 {x}" for x in a.split()] if how.in_registers else [f"i64 {a}"]
    operands = [*a_names, f"i64 {b}", f"i32 {int(how.adds)}"]
    constraints = [*(["r"] * 4 if how.in_registers else ["l"]), "l", "n"]
    first = 2 * count
    text_a = f"{{{', '.join(f'${first + i}' for i in range(4))}}}" if how.in_registers else f"${first}"
    at_b = first + len(a_names)
    more = []
    if kind.a not in INTEGERS:
        more += [how.scale_a, how.scale_b]
    if kind.a in ("f16", "bf16"):
        more += ([] if how.in_registers else [how.trans_a]) + [how.trans_b]
    tail = "".join(f", ${at_b + 2 + i}" for i in range(len(more)))
    operands += [f"i32 {int(m)}" for m in more]
    constraints += ["n"] * len(more)
    ty, letter = ("float", "f") if kind.d == "f32" else ("i32", "r")
    vector = ", ".join(f"${i}" for i in range(count))
    text = (
        f"{{\\0A.reg .pred p;\\0Asetp.ne.b32 p, ${at_b + 1}, 0;\\0A"
        f"{kind.opcode(n)} {{{vector}}}, {text_a}, ${at_b}, p{tail};\\0A}}\\0A"
    )
    listed = ",".join([f"={letter}"] * count + [str(i) for i in range(count)] + constraints)
    struct = f"{{ {', '.join([ty] * count)} }}"
    arguments = ", ".join([f"{ty} {x}" for x in accumulators] + operands)
    lines = [f'  %{name} = call {struct} asm sideeffect "{text}", "{listed}"({arguments})']
    lines += [f"  %{name}.{i} = extractvalue {struct} %{name}, {i}" for i in range(count)]
    return "\n".join(lines) + "\n"


def load_accumulators(kind: Kind, n: int) -> tuple[str, list[str]]:
    ty, count = ("float" if kind.d == "f32" else "i32"), kind.registers(n)
    lines = [f"  %mine = mul i32 %tid, {count}"]
    for i in range(count):
        lines += [
            f"  %ci{i} = add i32 %mine, {i}",
            f"  %cp{i} = getelementptr i32, ptr %c, i32 %ci{i}",
            f"  %c{i} = load {ty}, ptr %cp{i}",
        ]
    return "\n".join(lines) + "\n", [f"%c{i}" for i in range(count)]


def load_a() -> tuple[str, str]:
    lines = ["  %a.mine = mul i32 %tid, 4"]
    for i in range(4):
        lines += [
            f"  %ai{i} = add i32 %a.mine, {i}",
            f"  %ap{i} = getelementptr i32, ptr %a, i32 %ai{i}",
            f"  %a{i} = load i32, ptr %ap{i}",
        ]
    return "\n".join(lines) + "\n", " ".join(f"%a{i}" for i in range(4))


def store_accumulators(kind: Kind, n: int, name: str) -> str:
    ty = "float" if kind.d == "f32" else "i32"
    return "".join(
        f"  %op{i} = getelementptr i32, ptr %out, i32 %ci{i}\n  store {ty} %{name}.{i}, ptr %op{i}\n"
        for i in range(kind.registers(n))
    )


def wgmma(name: str, operand: str = "") -> str:
    return f"  call void @llvm.nvvm.{name}({operand})\n"


def kernel(body: str) -> str:
    return f"{HEAD}\ndefine ptx_kernel void @k(ptr %in, ptr %a, ptr %c, ptr %out, i64 %da, i64 %db) {{{FILL}{body}  ret void\n}}\n"


def whole(kind: Kind, n: int, how: Modifiers) -> str:
    """One wgmma between its fence and its wait."""
    load, accumulators = load_accumulators(kind, n)
    load_registers, registers = load_a() if how.in_registers else ("", "%da")
    made = mma_async(kind, n, how, registers, "%db", accumulators, "d")
    body = load + load_registers + wgmma(FENCE) + made + wgmma(COMMIT) + wgmma(WAIT, "i64 0")
    return kernel(body + store_accumulators(kind, n, "d"))


# ---------------------------------------------------------------------------------------------------------------------
# Registers: PTX ISA, 'Register Fragments and Shared Memory Matrix Layouts'
# ---------------------------------------------------------------------------------------------------------------------


def fragment_of_d(thread: int, i: int) -> tuple[int, int]:
    """row = 16 * warp + groupID + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2"""
    return 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (thread % 4) + i % 2


def fragment_of_a(thread: int, i: int, per_register: int) -> tuple[int, int]:
    """Registers 0 and 1 have the rows groupID and groupID + 8, 2 and 3 the same in the upper half of k."""
    register, part = divmod(i, per_register)
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 2)
    return row, per_register * (thread % 4 + 4 * (register // 2)) + part


def gather(matrix: Array, count: int, place: Any) -> Array:
    """The fragment of each thread."""
    return np.array([[matrix[place(t, i)] for i in range(count)] for t in range(THREADS)])


def scatter(registers: Array, shape: tuple[int, int], place: Any) -> Array:
    matrix = np.zeros(shape, registers.dtype)
    for t, i in itertools.product(range(THREADS), range(registers.shape[1])):
        matrix[place(t, i)] = registers[t, i]
    return matrix


# ---------------------------------------------------------------------------------------------------------------------
# Results of wgmma
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """Matrices, their operand form, and the expected result."""

    kind: Kind
    n: int
    how: Modifiers
    form_a: Form
    form_b: Form

    def __post_init__(self) -> None:
        kind, n = self.kind, self.n
        random = nvidia.seeded(repr((self.kind, self.n, self.how, self.form_a, self.form_b)))
        if kind.a == "b1":
            bits = random.integers(0, 2, (ROWS + n, 256))
            packed = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
            self.a_codes, self.b_codes = packed[:ROWS], packed[ROWS:]
            a, b = bits[:ROWS].astype(np.float64), bits[ROWS:].astype(np.float64)
        else:
            stored = np.dtype(f"u{kind.size}")
            self.a_codes = ELEMENTS[kind.a].random(random, (ROWS, kind.k)).astype(stored)
            self.b_codes = ELEMENTS[kind.b].random(random, (n, kind.k)).astype(stored)
            a, b = ELEMENTS[kind.a].values(self.a_codes), ELEMENTS[kind.b].values(self.b_codes)
        if kind.d == "f16" and kind.a in ("e5m2", "e4m3"):
            # So that sums stay in range.
            a = self._small(random, "a")
            b = self._small(random, "b")
        expected = a * self.how.scale_a @ (b * self.how.scale_b).T
        if kind.d == "s32":
            c = random.integers(-(2**31), 2**31, (ROWS, n))
            c[:4] = 2**31 - 5
            c[4:8] = -(2**31) + 5
            exact = expected.astype(np.int64) + (c if how_adds(self.how) else 0)
            clamped = np.clip(exact, -(2**31), 2**31 - 1) if kind.saturate else exact
            self.wanted, self.c = clamped.astype(np.uint32).view(np.int32), c.astype(np.int32)
        else:
            dtype = np.float32 if kind.d == "f32" else np.float16
            self.c = random.standard_normal((ROWS, n)).astype(dtype)
            self.wanted = expected + (self.c.astype(np.float64) if how_adds(self.how) else 0)

    def _small(self, random: np.random.Generator, which: str) -> Array:
        codes = getattr(self, f"{which}_codes")
        element = ELEMENTS[getattr(self.kind, which)]
        made = element.exact(random, codes.shape).astype(np.uint8)
        setattr(self, f"{which}_codes", made)
        return element.values(made)

    def arguments(self) -> list[Any]:
        image = np.full(SHARED_BYTES, 0x5A, np.uint8)
        start_b = 32768
        self.form_b.place(self.b_codes, image, start_b)
        registers = np.zeros((THREADS, 4), np.uint32)
        if self.how.in_registers:
            per_register = 4 // self.a_codes.dtype.itemsize
            held = gather(self.a_codes, 4 * per_register, lambda t, i: fragment_of_a(t, i, per_register))
            registers = np.ascontiguousarray(held).view(np.uint32).reshape(THREADS, 4)
        else:
            self.form_a.place(self.a_codes, image, 0)
        count = self.kind.registers(self.n) * (4 // self.c.dtype.itemsize)
        c = np.ascontiguousarray(gather(self.c, count, fragment_of_d))
        self.out = np.zeros_like(c)
        return [image, registers, c, self.out, self.form_a.descriptor(0), self.form_b.descriptor(start_b)]

    def check(self) -> None:
        found = scatter(self.out, (ROWS, self.n), fragment_of_d)
        if self.kind.d == "s32":
            np.testing.assert_array_equal(found, self.wanted)
            return
        # Sums of doubles in another order, rounded once.
        rounded = self.wanted.astype(found.dtype).astype(np.float64)
        ulp = np.spacing(np.abs(rounded).astype(found.dtype)).astype(np.float64)
        assert np.all(np.abs(found.astype(np.float64) - rounded) <= ulp)

    def run(self, **options: Any) -> None:
        nvidia.run_kernel(whole(self.kind, self.n, self.how), THREADS, *self.arguments(), **options)
        self.check()


def how_adds(how: Modifiers) -> bool:
    return how.adds


FLOATS = (
    Kind("f32", "f16", "f16"),
    Kind("f16", "f16", "f16"),
    Kind("f32", "bf16", "bf16"),
    Kind("f32", "tf32", "tf32"),
    *(Kind(d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
)
BYTES = tuple(Kind("s32", a, b, s) for a in ("s8", "u8") for b in ("s8", "u8") for s in (False, True))
KINDS = (*FLOATS, *BYTES, Kind("s32", "b1", "b1"))
TESTED = [
    *(f"asm:{kind.opcode(64).replace('n64', 'n*')}" for kind in KINDS),
    *(f"{prefix}{name}" for prefix in ("llvm.nvvm.", "asm:") for name in (FENCE, COMMIT, WAIT)),
    "smalti.nvvm.accumulator",
]


def _id(value: Any) -> str | None:
    return value.opcode(0)[len("wgmma.mma_async.sync.aligned.m64n0") :] if isinstance(value, Kind) else None


@pytest.mark.grid(18)
@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize("kind", KINDS, ids=_id)
def test_types(kind: Kind, in_registers: bool) -> None:
    n = 48
    Problem(kind, n, Modifiers(in_registers=in_registers), form(128, True, ROWS), form(64, True, n, extra=1024)).run()


@pytest.mark.grid(24)
@pytest.mark.parametrize("swizzle_b", SWIZZLES)
@pytest.mark.parametrize("swizzle_a", SWIZZLES)
@pytest.mark.parametrize("majors", [(True, True), (False, True), (True, False), (False, False)])
def test_layouts(swizzle_a: int, swizzle_b: int, majors: tuple[bool, bool]) -> None:
    n = 96
    how = Modifiers(trans_a=not majors[0], trans_b=not majors[1])
    kind = Kind("f32", "bf16", "bf16") if swizzle_a == swizzle_b else Kind("f32", "f16", "f16")
    Problem(kind, n, how, form(swizzle_a, majors[0], ROWS, extra=1024), form(swizzle_b, majors[1], n, extra=1024)).run()


@pytest.mark.parametrize("n", [8, 16, 24, 104, 200, 256])
@pytest.mark.parametrize("major", [True, False])
def test_shapes(n: int, major: bool) -> None:
    how = Modifiers(trans_b=not major)
    Problem(Kind("f32", "f16", "f16"), n, how, form(32, True, ROWS), form(128, major, n)).run()


@pytest.mark.parametrize("scales", [(1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("in_registers", [False, True])
def test_signs_and_scale_d(scales: tuple[int, int], adds: bool, in_registers: bool) -> None:
    how = Modifiers(adds, *scales, in_registers=in_registers)
    Problem(Kind("f32", "f16", "f16"), 16, how, form(0, True, ROWS), form(32, True, 16)).run()


@pytest.mark.parametrize("part", [32, 64, 96])
def test_parts_of_a_swizzled_row(part: int) -> None:
    """The next 16 columns of a row of 64 are at a start that is advanced by 32 bytes."""
    wide = form(128, True, ROWS, start=part)
    Problem(Kind("f32", "f16", "f16"), 24, Modifiers(), wide, form(128, True, 24, start=part)).run()


@pytest.mark.parametrize("base", [1, 3, 7])
def test_base_offset(base: int) -> None:
    """A swizzle pattern that begins at a line of 128 bytes that is not a multiple of 1024."""
    moved = form(128, True, ROWS, start=128 * base, base=base)
    Problem(Kind("f32", "f16", "f16"), 24, Modifiers(), moved, form(128, True, 24)).run()


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
def test_schedules(schedule: Emulation) -> None:
    how = Modifiers(trans_b=1)
    Problem(Kind("f32", "f16", "f16"), 32, how, form(128, True, ROWS), form(128, False, 32)).run(emulation=schedule)


@pytest.mark.parametrize("sanitize", ["thread", "address"])
def test_sanitized(sanitize: Any) -> None:
    Problem(Kind("f32", "f16", "f16"), 32, Modifiers(), form(128, True, ROWS), form(128, True, 32)).run(
        emulation=Emulation(sanitize=sanitize)
    )


# ---------------------------------------------------------------------------------------------------------------------
# A chain of wgmmas with errors
# ---------------------------------------------------------------------------------------------------------------------

CHAINED = Kind("f32", "f16", "f16")
CHAIN_N = 8
OVERWRITE = """  %over = getelementptr i8, ptr addrspace(3) @image, i32 %row
  store i32 1, ptr addrspace(3) %over
"""


def chain(*, fence: bool = True, first_wait: str = "", last_wait: str = "i64 0", between: str = "", commit: bool = True,
          other: Kind = CHAINED, text: bool = False) -> str:  # fmt: skip
    """Two wgmmas into the same accumulators."""

    def call(name: str, operand: str = "") -> str:
        return f'  call void asm sideeffect "{name} {operand[4:]};", ""()\n' if text else wgmma(name, operand)

    load, accumulators = load_accumulators(CHAINED, CHAIN_N)
    body = load + (call(FENCE) if fence else "")
    body += mma_async(CHAINED, CHAIN_N, Modifiers(), "%da", "%db", accumulators, "d") + call(COMMIT)
    body += call(WAIT, first_wait) if first_wait else ""
    body += between
    body += mma_async(other, CHAIN_N, Modifiers(), "%da", "%db", [f"%d.{i}" for i in range(len(accumulators))], "e")
    body += call(COMMIT) if commit else ""
    body += call(WAIT, last_wait) if last_wait else ""
    return kernel(body + store_accumulators(CHAINED, CHAIN_N, "e"))


def chain_problem() -> Problem:
    return Problem(CHAINED, CHAIN_N, Modifiers(), form(32, True, ROWS), form(32, True, CHAIN_N))


def run_chain(text: str, **options: Any) -> Array:
    problem = chain_problem()
    nvidia.run_kernel(text, THREADS, *problem.arguments(), **options)
    return scatter(problem.out, (ROWS, CHAIN_N), fragment_of_d)


@pytest.mark.parametrize("text", [False, True], ids=["intrinsics", "assembly"])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
def test_chain(schedule: Emulation, text: bool) -> None:
    problem = chain_problem()
    wanted = 2 * problem.wanted - problem.c
    np.testing.assert_allclose(run_chain(chain(text=text), emulation=schedule), wanted, 1e-5, 1e-5)
    waited = run_chain(chain(text=text, first_wait="i64 0"), emulation=schedule)
    np.testing.assert_allclose(waited, wanted, 1e-5, 1e-5)


WRONG = {
    "no wait": (chain(last_wait=""), "read of accumulator registers of an outstanding wgmma.mma_async"),
    "a wait for all but one": (
        chain(last_wait="i64 1"),
        "read of accumulator registers of an outstanding wgmma.mma_async",
    ),
    "no commit": (chain(commit=False), "read of accumulator registers of an outstanding wgmma.mma_async"),
    "no fence": (chain(fence=False), "no wgmma.fence orders it"),
    "another shape": (
        chain(other=Kind("f32", "tf32", "tf32")),
        "accumulates into registers of an outstanding wgmma of another shape",
    ),
    "an operand that is overwritten": (
        chain(between=OVERWRITE),
        "operand of wgmma.mma_async was overwritten",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_found(name: str) -> None:
    text, message = WRONG[name]
    with pytest.raises(smalti.EmulationError, match=message) as error:
        run_chain(text)
    finding = error.value.findings[0]
    assert finding.kind == "race"
    assert finding.block == (0, 0, 0)


@pytest.mark.parametrize("order", ["lowest-first", "highest-first"])
def test_an_overwritten_operand_is_a_race(order: str) -> None:
    """A store of a thread without a wait: the sanitizer reports it in every schedule."""
    body = """
  %is = icmp eq i32 %tid, 128
  br i1 %is, label %write, label %multiply
write:
  %over = getelementptr i8, ptr addrspace(3) @image, i32 0
  store i32 1, ptr addrspace(3) %over
  ret void
multiply:
"""
    load, accumulators = load_accumulators(CHAINED, CHAIN_N)
    body += load + wgmma(FENCE) + mma_async(CHAINED, CHAIN_N, Modifiers(), "%da", "%db", accumulators, "d")
    body += wgmma(COMMIT) + wgmma(WAIT, "i64 0") + store_accumulators(CHAINED, CHAIN_N, "d")
    copy = "  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %to, ptr %from, i64 512, i1 false)\n"
    text = kernel(body).replace(copy, FILL_BY_FIRST)
    problem = chain_problem()
    with pytest.raises(smalti.EmulationError) as error:
        nvidia.run_kernel(text, 129, *problem.arguments(), emulation=Emulation(order=order, sanitize="thread"))
    assert any(f.kind == "race" and (128, 0, 0) in (f.thread, f.others[0].thread) for f in error.value.findings)


RELEASED = """
@free = internal addrspace(3) global i64 undef, align 8
@word = internal addrspace(3) global i32 undef, align 8
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
"""
RELEASED_FILL = """  %isthread = icmp eq i32 %tid, 0
  br i1 %isthread, label %init, label %inited
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @free, i32 1)
  br label %inited
inited:
"""


def released(releaser: int, *, early: bool = False, between: str = "", after: str = "") -> str:
    """Thread 128 overwrites an operand after one thread of the warpgroup has arrived at an mbarrier."""
    arrive = f"""
  %releases = icmp eq i32 %tid, {releaser}
  br i1 %releases, label %release, label %released
release:
  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @free)
  br label %released
released:
"""
    body = """
  %is = icmp uge i32 %tid, 128
  br i1 %is, label %producer, label %multiply
producer:
  %one = icmp eq i32 %tid, 128
  br i1 %one, label %write, label %end
write:
  %w = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @free, i32 0)
  %over = getelementptr i8, ptr addrspace(3) @image, i32 0
  store i32 1, ptr addrspace(3) %over
  br label %end
end:
  ret void
multiply:
"""
    load, accumulators = load_accumulators(CHAINED, CHAIN_N)
    body += load + between + wgmma(FENCE)
    body += mma_async(CHAINED, CHAIN_N, Modifiers(), "%da", "%db", accumulators, "d") + wgmma(COMMIT)
    wait = wgmma(WAIT, "i64 0")
    body += (arrive + wait if early else wait + arrive) + after + store_accumulators(CHAINED, CHAIN_N, "d")
    copy = "  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %to, ptr %from, i64 512, i1 false)\n"
    text = kernel(body).replace(copy, FILL_BY_FIRST + RELEASED_FILL)
    return text.replace("\ndefine", RELEASED + "\ndefine")


def run_released(text: str, schedule: Emulation) -> Array:
    problem = chain_problem()
    nvidia.run_kernel(text, 160, *problem.arguments(), emulation=dataclasses.replace(schedule, sanitize="thread"))
    return scatter(problem.out, (ROWS, CHAIN_N), fragment_of_d)


@pytest.mark.grid(6)
@pytest.mark.parametrize("releaser", [0, 37, 127])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
def test_one_thread_releases_an_operand(schedule: Emulation, releaser: int) -> None:
    """A wgmma completes for its whole warpgroup: whichever warp waits, all operands are read."""
    wanted = chain_problem().wanted
    np.testing.assert_allclose(run_released(released(releaser), schedule), wanted, 1e-5, 1e-5)
    with pytest.raises(smalti.EmulationError) as error:
        run_released(released(releaser, early=True), schedule)
    assert {finding.kind for finding in error.value.findings} == {"race"}


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
def test_a_wait_for_a_wgmma_does_not_order_threads(schedule: Emulation) -> None:
    """A store of one warp before the wgmma, and a load of another one after its wait."""
    store = """  %stores = icmp eq i32 %tid, 37
  br i1 %stores, label %store, label %stored
store:
  store i32 7, ptr addrspace(3) @word
  br label %stored
stored:
"""
    for reader in (36, 70):
        load = f"""  %loads = icmp eq i32 %tid, {reader}
  br i1 %loads, label %load, label %loaded
load:
  %seen = load volatile i32, ptr addrspace(3) @word
  br label %loaded
loaded:
"""
        with pytest.raises(smalti.EmulationError) as error:
            run_released(released(0, between=store, after=load), schedule)
        for finding in error.value.findings:
            assert finding.kind == "race" and finding.thread is not None and finding.others[0].thread is not None
            assert {finding.thread[0], finding.others[0].thread[0]} == {37, reader}


FILL_BY_FIRST = """  %isfirst = icmp ult i32 %tid, 128
  br i1 %isfirst, label %fill, label %filled
fill:
  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %to, ptr %from, i64 512, i1 false)
  br label %filled
filled:
"""


def test_accesses_outside_are_found() -> None:
    problem = chain_problem()
    arguments = problem.arguments()
    arguments[5] = Form(32, True, 16, 256).descriptor(SHARED_BYTES - 32)
    with pytest.raises(smalti.EmulationError, match="past the end of shared memory"):
        nvidia.run_kernel(chain(), THREADS, *arguments)


def test_a_part_of_a_warpgroup() -> None:
    """Three warps of four."""
    body = "  %is = icmp ult i32 %tid, 96\n  br i1 %is, label %multiply, label %done\ndone:\n  ret void\nmultiply:\n"
    load, accumulators = load_accumulators(CHAINED, CHAIN_N)
    body += load + wgmma(FENCE) + mma_async(CHAINED, CHAIN_N, Modifiers(), "%da", "%db", accumulators, "d")
    body += wgmma(COMMIT) + wgmma(WAIT, "i64 0") + store_accumulators(CHAINED, CHAIN_N, "d")
    with pytest.raises(smalti.EmulationError, match="executed by only 3 warps of a warpgroup") as error:
        run_chain(kernel(body))
    assert error.value.findings[0].kind == "divergence"


def test_a_block_without_a_whole_warpgroup() -> None:
    problem = chain_problem()
    with pytest.raises(smalti.EmulationError, match="not a whole warpgroup"):
        nvidia.run_kernel(chain(), 96, *problem.arguments())


def test_a_loop_keeps_a_wgmma_in_flight() -> None:
    """The accumulators go through a phi, as a struct, while the previous wgmma is in flight."""
    load, accumulators = load_accumulators(CHAINED, CHAIN_N)
    count = len(accumulators)
    struct = f"{{ {', '.join(['float'] * count)} }}"
    body = load
    for i, value in enumerate(accumulators):
        before = f"%s{i - 1}" if i else "poison"
        body += f"  %s{i} = insertvalue {struct} {before}, float {value}, {i}\n"
    body += wgmma(FENCE) + "  br label %loop\nloop:\n"
    body += f"  %acc = phi {struct} [ %s{count - 1}, %entry ], [ %d, %loop ]\n"
    body += "  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
    body += "".join(f"  %x{i} = extractvalue {struct} %acc, {i}\n" for i in range(count))
    body += mma_async(CHAINED, CHAIN_N, Modifiers(), "%da", "%db", [f"%x{i}" for i in range(count)], "d")
    body += wgmma(COMMIT) + wgmma(WAIT, "i64 1")
    body += "  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, 5\n  br i1 %more, label %loop, label %end\nend:\n"
    store = store_accumulators(CHAINED, CHAIN_N, "d")
    text = kernel(body + wgmma(WAIT, "i64 0") + store).replace(") {\n", ") {\nentry:\n", 1)
    problem = chain_problem()
    wanted = 5 * (problem.wanted - problem.c) + problem.c
    for schedule in SCHEDULES:
        np.testing.assert_allclose(run_chain(text, emulation=schedule), wanted, 1e-5, 1e-4)
    with pytest.raises(smalti.EmulationError, match="read of accumulator registers"):
        run_chain(kernel(body + store).replace(") {\n", ") {\nentry:\n", 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;",
            "N must be a multiple of 8 up to 256",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;",
            "the matmul has N = 8 and 1 accumulator registers; N must be a multiple of 8 up to 256, and N / 2 accumulator registers are required",
        ),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0}, $1, $2, 1, 1, 1, 0, 0;",
            "N must be a multiple of 8 up to 256",
        ),
    ],
)
def test_other_shapes_are_refused(text: str, message: str) -> None:
    body = (
        f'define ptx_kernel void @k(i64 %d) {{\n  %r = call float asm sideeffect "{text}", "=f,l,l"(i64 %d, i64 %d)\n'
    )
    with pytest.raises(smalti.CompileError, match=message):
        nvidia.run_kernel(f"{body}  ret void\n}}\n", 128, 0)
