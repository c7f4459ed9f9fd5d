# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly: the parser, statements that become code, and instructions without an intrinsic."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from smalti import toolchain
from smalti.emulator import SCHEDULES

THREADS = 64


def asm(text: str, constraints: str, operands: str, result: str = "void", name: str = "") -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c):02X}" for c in text)
    assign = f"%{name} = " if name else ""
    return f'  {assign}call {result} asm sideeffect "{escaped}", "{constraints}"({operands})\n'


def kernel(body: str, parameters: str = "ptr %x, ptr %y, ptr %out") -> str:
    return f"""
@bar = internal addrspace(3) global i64 undef, align 8
@words = internal addrspace(3) global [64 x i32] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k({parameters}) {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
{body}  ret void
}}
"""


LOADS = """
  %px = getelementptr i32, ptr %x, i32 %tid
  %a = load i32, ptr %px
  %py = getelementptr i32, ptr %y, i32 %tid
  %b = load i32, ptr %py
"""
STORE = """
  %po = getelementptr i32, ptr %out, i32 %tid
  store i32 %r, ptr %po
"""
X = np.random.default_rng(0).integers(0, 1 << 32, THREADS, dtype=np.uint32)
Y = np.random.default_rng(1).integers(0, 1 << 32, THREADS, dtype=np.uint32)
Y[:8] = [0, 1, 31, 32, 33, 40, 255, 0xFFFFFFFF]


def signed(values: Any) -> Any:
    return values.astype(np.uint32).view(np.int32)


def halves(compute: Any, a: Any, b: Any, dtype: Any = np.int16) -> Any:
    """Two numbers of 16 bits in each word; overflow wraps."""
    return compute(a.view(dtype), b.view(dtype)).astype(dtype).view(np.uint32)


def _lop3(table: int) -> Any:
    def compute(a: Any, b: Any) -> Any:
        c = np.uint32(0x0F0F3355)
        rows = [((~a, a)[i >> 2 & 1] & (~b, b)[i >> 1 & 1] & (~c, c)[i & 1]) for i in range(8) if table >> i & 1]
        return np.bitwise_or.reduce(rows)

    return compute


WIDE = np.uint64
STATEMENTS: dict[str, Any] = {
    "add.u32 $0, $1, $2;": lambda a, b: a + b,
    "sub.s32 $0, $1, $2;": lambda a, b: a - b,
    "mul.lo.u32 $0, $1, $2;": lambda a, b: a * b,
    "mul.hi.u32 $0, $1, $2;": lambda a, b: (a.astype(WIDE) * b >> WIDE(32)).astype(np.uint32),
    "mul.hi.s32 $0, $1, $2;": lambda a, b: (signed(a).astype(np.int64) * signed(b) >> 32).astype(np.uint32),
    "mad.lo.s32 $0, $1, $2, -7;": lambda a, b: a * b - np.uint32(7),
    "min.s32 $0, $1, $2;": lambda a, b: np.minimum(signed(a), signed(b)).view(np.uint32),
    "max.u32 $0, $1, $2;": lambda a, b: np.maximum(a, b),
    "and.b32 $0, $1, 0xff00;": lambda a, b: a & np.uint32(0xFF00),
    "xor.b32 $0, $1, $2;": lambda a, b: a ^ b,
    "not.b32 $0, $1;": lambda a, b: ~a,
    "neg.s32 $0, $1;": lambda a, b: np.uint32(0) - a,
    "abs.s32 $0, $1;": lambda a, b: np.abs(signed(a).astype(np.int64)).astype(np.uint32),
    "{ .reg .b16 l, h; mov.b32 {l, h}, $1; abs.s16 l, l; abs.s16 h, h; mov.b32 $0, {l, h}; }": lambda a, b: halves(
        lambda x, y: np.abs(x.astype(np.int32)), a, b
    ),
    "{ .reg .b64 w; cvt.s64.s32 w, $1; abs.s64 w, w; cvt.u32.u64 $0, w; }": lambda a, b: np.abs(
        signed(a).astype(np.int64)
    ).astype(np.uint32),
    "add.u16x2 $0, $1, $2;": lambda a, b: halves(np.add, a, b),
    "add.s16x2 $0, $1, $2;": lambda a, b: halves(np.add, a, b),
    "min.s16x2 $0, $1, $2;": lambda a, b: halves(np.minimum, a, b),
    "max.s16x2 $0, $1, $2;": lambda a, b: halves(np.maximum, a, b),
    "min.u16x2 $0, $1, $2;": lambda a, b: halves(np.minimum, a, b, np.uint16),
    "max.u16x2 $0, $1, $2;": lambda a, b: halves(np.maximum, a, b, np.uint16),
    "min.relu.s16x2 $0, $1, $2;": lambda a, b: halves(lambda x, y: np.maximum(np.minimum(x, y), 0), a, b),
    "max.relu.s16x2 $0, $1, $2;": lambda a, b: halves(lambda x, y: np.maximum(np.maximum(x, y), 0), a, b),
    "min.relu.s32 $0, $1, $2;": lambda a, b: np.maximum(np.minimum(signed(a), signed(b)), 0).view(np.uint32),
    "max.relu.s32 $0, $1, $2;": lambda a, b: np.maximum(np.maximum(signed(a), signed(b)), 0).view(np.uint32),
    "shl.b32 $0, $1, $2;": lambda a, b: np.where(b < 32, a << np.minimum(b, 31), 0).astype(np.uint32),
    "shr.u32 $0, $1, $2;": lambda a, b: np.where(b < 32, a >> np.minimum(b, 31), 0).astype(np.uint32),
    "shr.s32 $0, $1, $2;": lambda a, b: (signed(a) >> np.minimum(b, 31).astype(np.int32)).view(np.uint32),
    "lop3.b32 $0, $1, $2, 0x0f0f3355, 0xe8;": _lop3(0xE8),
    "lop3.b32 $0, $1, $2, 0x0f0f3355, 0x96;": _lop3(0x96),
    # Comments, blocks with registers of the same name, rows of registers, and a name with a dollar.
    "{ .reg .b32 t<2>, $$q; // no t1 here; \n mov.b32 t0, $1; { .reg .b32 t0; mov.u32 t0, 5; add.u32 $$q, t0, $2; }"
    "/* more; */ sub.u32 $0, $$q, t0; }": lambda a, b: b + np.uint32(5) - a,
    "{ .reg .pred p, q; setp.lt.s32 p|q, $1, $2; @q mov.u32 $0, 1; @p mov.u32 $0, 2; @!p add.u32 $0, $0, 3; }": (
        lambda a, b: np.where(signed(a) < signed(b), 2, 4).astype(np.uint32)
    ),
    "{ .reg .pred p; setp.gt.u32 p, $1, $2; setp.ne.and.b32 p, $1, 7, !p; selp.b32 $0, $1, $2, p; }": (
        lambda a, b: np.where((a != 7) & ~(a > b), a, b)
    ),
    "{ .reg .b16 l, h; mov.b32 {l, h}, $1; mov.b32 $0, {h, l}; }": lambda a, b: a >> np.uint32(16) | a << np.uint32(16),
    "{ .reg .b64 w; mul.wide.u32 w, $1, $2; mov.b64 {$0, _}, w; }": lambda a, b: a * b,
    "{ .reg .u64 w; cvt.u64.u32 w, $1; add.u64 w, w, 0x100000000; shr.u64 w, w, 4; cvt.u32.u64 $0, w; }": (
        lambda a, b: ((a.astype(WIDE) + WIDE(1 << 32)) >> WIDE(4)).astype(np.uint32)
    ),
    # A loop: the number of ones.
    "{ .reg .b32 n, t; .reg .pred p; mov.u32 n, $1; mov.u32 $0, 0;\nAGAIN: setp.eq.u32 p, n, 0; @p bra.uni OUT;\n"
    "sub.u32 t, n, 1; and.b32 n, n, t; add.u32 $0, $0, 1; bra AGAIN; OUT: }": (
        lambda a, b: np.array([bin(v).count("1") for v in a], np.uint32)
    ),
    "mov.u32 $0, %tid.x;": lambda a, b: np.arange(THREADS, dtype=np.uint32),
    # JAX's conversion of 4-bit integers.
    "lop3.b32 $0, $1, $2, 0x0f0f3355, (0xf0 & 0xcc) ^ 0xaa;": _lop3(0x6A),
    "{ .reg .pred p; setp.lt.s32 p, $1, 0; selp.u32 $0, 1 + 2, 2 * -1, !p; @!p add.u32 $0, $0, WARP_SZ * 2; }": (
        lambda a, b: np.where(signed(a) < 0, np.uint32(0xFFFFFFFE), np.uint32(67))
    ),
    "{ .reg .b64 w; add.f64 w, -1.0, 1.5 * 2.0; mov.b64 {_, $0}, w; }": (
        lambda a, b: np.full(THREADS, np.float64(2).view(np.uint64) >> np.uint64(32), np.uint32)
    ),
    "mul.f32 $0, 0.1, 1e1;": lambda a, b: np.full(THREADS, np.float32(1).view(np.uint32)),
    "mov.u32 $0, WARP_SZ;": lambda a, b: np.full(THREADS, 32, np.uint32),
    "mov.b32 $0, 0f3F800000;": lambda a, b: np.full(THREADS, 0x3F800000, np.uint32),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text: str) -> None:
    out = np.zeros(THREADS, np.uint32)
    body = LOADS + asm(text, "=r,r,r", "i32 %a, i32 %b", "i32", "r") + STORE
    nvidia.run_kernel(kernel(body), THREADS, X, Y, out)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, STATEMENTS[text](X, Y))


def test_tied_operands() -> None:
    """Several results, which begin as operands; one of them is not written."""
    out = np.zeros(THREADS, np.uint32)
    body = LOADS + asm("add.u32 $0, $0, $2;", "=r,=r,0,1", "i32 %a, i32 %b", "{ i32, i32 }", "s")
    body += "  %f = extractvalue { i32, i32 } %s, 0\n  %g = extractvalue { i32, i32 } %s, 1\n  %r = xor i32 %f, %g\n"
    nvidia.run_kernel(kernel(body + STORE), THREADS, X, Y, out)
    np.testing.assert_array_equal(out, (X + X) ^ Y)


WRONG = {
    "frobnicate.b32 $0, $1;": "asm:frobnicate.b32",
    "{ mov.b32 $0, $1; ld.imaginary.b32 $0, [$1]; }": "asm:ld.imaginary.b32",
    "add.u32 $0, $1, other;": "'add.u32 \\$0, \\$1, other': undefined name other",
    "add.u32 $0, $1, 1.5;": "'add.u32 \\$0, \\$1, 1.5'.*: floating-point constant 1.5; only operands of type .f32, .f64 and .b64 can be one",
    "add.u32 $0, $1, 08;": "invalid number '08'",
    "add.u32 $0, $1, 0b12;": "invalid number '0b12'",
    "add.u32 $0, $1, 1e;": "invalid number '1e'",
    "add.u32 $0, $1, (1;": r"unmatched '\('",
    "add.u32 $0, $1, 1 + ;": "unexpected text ';'",
    "add.u32 $0, $1, 1 +": "an operand of the expression is missing",
    "add.u32 $0, $1, 5 / (2 - 2);": "division by zero",
    "add.u32 $0, $1, 5 % 0;": "division by zero",
    "add.u32 $0, $1, 1 ? 2;": r"'\?' without ':'",
    "add.u32 $0, $1, (.s32)1;": r"a cast must be \(.s64\) or \(.u64\)",
    "add.f32 $0, $1, 1 + 1.0;": r"operator \+ is not supported on a floating-point and an integer constant",
    "add.f32 $0, $1, 3.0 % 2.0;": "operator % is not supported on floating-point constants",
    "add.f32 $0, $1, ~1.0;": "operator ~ is not supported on a floating-point constant",
    "add.f32 $0, $1, 1.0 ? 2.0 : 3.0;": "the condition of \\?: is a floating-point constant; an integer is required",
    "ld.shared.b32 $0, [$1 + 1.0];": "an address offset is a floating-point constant; an integer is required",
    f"add.u32 $0, $1, {'(' * 1000}1{')' * 1000};": "more than 256 nested operators and parentheses",
    f"add.u32 $0, $1, {'-' * 1000}1;": "more than 256 nested operators and parentheses",
    "{ .reg .c32 x; }": "unsupported register type '.c32'",
    "{ mov.b32 $0, $1;": "unmatched '{'",
    "mov.b32 $0, $1; }": "unmatched '}'",
    "mov.b32 $0 $1;": "unexpected text",
    "bra NOWHERE;": "'bra NOWHERE': undefined name NOWHERE",
    "mov.b32 $0, $9;": "'mov.b32 \\$0, \\$9' is not emulated: this kind of operand is not supported here",
}


@pytest.mark.parametrize("text", WRONG)
def test_unsupported_ops_are_reported(text: str) -> None:
    body = LOADS + asm(text, "=r,r,r", "i32 %a, i32 %b", "i32", "r") + STORE
    with pytest.raises(smalti.CompileError) as error:
        nvidia.run_kernel(kernel(body), THREADS, X, Y, X.copy())
    assert error.match(WRONG[text])


# ---------------------------------------------------------------------------------------------------------------------
# Constant expressions
# ---------------------------------------------------------------------------------------------------------------------

EXPRESSIONS: dict[str, int] = {
    # Literals.
    "0x1F": 31, "0X1f": 31, "017": 15, "0b101": 5, "10U": 10, "0": 0, "0d3FF8000000000000": 0x3FF8 << 48,
    "18446744073709551615": -1, "WARP_SZ - 1": 31,
    # The order of operators, and which side goes first.
    "(0xf0 & 0xcc) ^ 0xaa": 0x6A, "1 + 2 * 3": 7, "(1 + 2) * 3": 9, "1 << 2 + 3": 32, "1 | 2 ^ 3 & 4": 3,
    "7 & 3 == 3": 1, "1 < 2 << 3": 1, "5 - 3 - 1": 1, "100 / 5 / 2": 10, "1 == 1 == 1": 1, "2 || 0 && 0": 1,
    "1 ? 2 : 0 ? 3 : 4": 2, "0 ? 2 : 0 ? 3 : 4": 4, "1 > 2 ? 1 : 2": 2, "- - 3": 3, "-+3": -3, "!!7": 1, "~-1": 0,
    "5 >= 5": 1, "4 != 4": 0, "4 <= 3": 0, "1 /* a comment */ + // another\n 1": 2,
    # Types: what is signed, what is not, and what becomes of both together.
    "-7 / 2": -3, "-7U / 2": (2**64 - 7) // 2, "-8 >> 1": -4, "-8U >> 1": (2**64 - 8) >> 1,
    "(.u64)-8 >> 1": (2**64 - 8) >> 1, "(.s64)(~0) >> 1": -1, "~0 >> 1": 2**63 - 1, "-1 < 0": 1, "-1 < 0U": 0,
    "-1 > 0U": 1, "!0 - 2 < 0": 1, "(1 == 1) - 2 < 0": 1, "1 ? -3 : 4U": -3, "0x8000000000000000 >> 1": 1 << 62,
    "(-1 | 0) >> 1": -1, "(-1 | 0U) >> 1": 2**63 - 1, "-7 % 3": (2**64 - 7) % 3, "(7 % 3) - 5 < 0": 0,
    "-(5U) < 0": 0, "(-1 >> 0U) < 0": 1, "-1 && 0": 0, "0 || 0": 0,
    # At the ends.
    "1 << 63": 1 << 63, "1 << 64": 1, "-8 >> 65": -4, "9223372036854775807 + 1": 1 << 63,
}  # fmt: skip
"""Their values of 64 bits, by the rules of PTX ISA, "Constant Expressions"."""


def test_constant_expressions() -> None:
    """In one statement each."""
    text = "{ .reg .b64 w;\n"
    for index, expression in enumerate(EXPRESSIONS):
        text += f"mov.b64 w, {expression};\nst.global.b64 [$0+{index} * 8], w;\n"
    out = np.zeros(len(EXPRESSIONS), np.uint64)
    nvidia.run_kernel(kernel(asm(text + "}", "l", "ptr %out")), 1, X, Y, out)
    for (expression, value), found in zip(EXPRESSIONS.items(), out, strict=True):
        assert int(found) == value % 2**64, expression


@pytest.mark.skipif(toolchain.find_ptxas() is None, reason="ptxas was not found")
def test_constant_expressions_of_ptxas(tmp_path: Path) -> None:
    """The values are those that ptxas puts into the code's constants."""
    ptxas = toolchain.find_ptxas()
    assert ptxas is not None
    integers = {text: value for text, value in EXPRESSIONS.items() if not text.startswith("0d")}
    values = "".join(f"  {text},\n" for text in integers)
    source = tmp_path / "constants.ptx"
    source.write_text(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        f".visible .global .align 8 .u64 values[{len(integers)}] = {{\n{values.rstrip().rstrip(',')}\n}};\n"
        ".visible .entry k() { ret; }\n"
    )
    subprocess.run([ptxas.path, "-arch=sm_90", source, "-o", tmp_path / "k.cubin"], check=True, timeout=60)
    expected = np.array([value % 2**64 for value in integers.values()], np.uint64)
    assert expected.tobytes() in (tmp_path / "k.cubin").read_bytes()


SPECIAL: dict[str, Any] = {
    "%lanemask_eq": lambda lane: 1 << lane,
    "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_ge": lambda lane: (1 << 32) - (1 << lane),
    "%cluster_ctarank": lambda lane: 0,
    "%cluster_nctaid.x": lambda lane: 1,
    "%globaltimer_hi": lambda lane: 0,
    "%clock_hi": lambda lane: 0,
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_registers(name: str) -> None:
    out = np.full(THREADS, 7, np.uint32)
    nvidia.run_kernel(kernel(asm(f"mov.u32 $0, {name};", "=r", "", "i32", "r") + STORE), THREADS, X, Y, out)
    np.testing.assert_array_equal(out, [SPECIAL[name](thread % 32) for thread in range(THREADS)])


def test_a_clock_advances() -> None:
    text = "{ .reg .b32 t; mov.u32 t, %globaltimer_lo; mov.u32 $0, %globaltimer_lo; sub.u32 $0, $0, t; }"
    out = np.zeros(THREADS, np.uint32)
    nvidia.run_kernel(kernel(asm(text, "=r", "", "i32", "r") + STORE), THREADS, X, Y, out)
    assert (out > 0).all()


# ---------------------------------------------------------------------------------------------------------------------
# Barriers
# ---------------------------------------------------------------------------------------------------------------------

NAMES = ("bar", "bar.cta", "barrier", "barrier.cta")
SYNCS = [f"{n}.sync{a}" for n in NAMES for a in (("",) if n.startswith("bar.") or n == "bar" else ("", ".aligned"))]
ARRIVES = [name.replace("sync", "arrive") for name in SYNCS]
EXCHANGE = """
  %mine = getelementptr i32, ptr addrspace(3) @words, i32 %tid
  %other = xor i32 %tid, 63
  %theirs = getelementptr i32, ptr addrspace(3) @words, i32 %other
"""


@pytest.mark.parametrize("name", SYNCS)
@pytest.mark.parametrize("count", ["", ", 64"])
def test_barriers(name: str, count: str) -> None:
    body = LOADS + EXCHANGE + "  store i32 %a, ptr addrspace(3) %mine\n"
    body += asm(f"{name} $0{count};", "r", "i32 3") + "  %r = load i32, ptr addrspace(3) %theirs\n" + STORE
    for schedule in SCHEDULES:
        out = np.zeros(THREADS, np.uint32)
        nvidia.run_kernel(kernel(body), THREADS, X, Y, out, emulation=dataclasses.replace(schedule, time_limit=10))
        np.testing.assert_array_equal(out, X[::-1])


@pytest.mark.parametrize("name", ARRIVES)
def test_arrivals(name: str) -> None:
    """The first warp arrives, the second waits for it."""
    body = LOADS + EXCHANGE + "  %is = icmp ult i32 %tid, 32\n  br i1 %is, label %write, label %read\nwrite:\n"
    body += "  store i32 %a, ptr addrspace(3) %mine\n" + asm(f"{name} 2, $0;", "r", "i32 64") + "  ret void\nread:\n"
    body += asm("bar.sync 2, 64;", "", "") + "  %r = load i32, ptr addrspace(3) %theirs\n" + STORE
    for schedule in SCHEDULES:
        out = np.zeros(THREADS, np.uint32)
        nvidia.run_kernel(kernel(body), THREADS, X, Y, out, emulation=dataclasses.replace(schedule, time_limit=10))
        np.testing.assert_array_equal(out[32:], X[:32][::-1])


SPACES = {"": "l", ".shared": "r", ".shared::cta": "r"}
WAIT_LOOP = """{
  .reg .pred P1;
  LAB_WAIT:
  mbarrier.%s%s.b64 P1, [$0], $1%s;
  @P1 bra.uni DONE;
  bra.uni LAB_WAIT;
  DONE:
}"""
WAITS = ("try_wait", "test_wait")
TEXTS = [
    f"mbarrier.{name}{space}.b64"
    for space in SPACES
    for name in (
        "init", "inval", "arrive", "arrive_drop", "arrive.expect_tx", "arrive_drop.expect_tx",
        "test_wait", "test_wait.parity", "try_wait", "try_wait.parity",
    )
]  # fmt: skip


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("space", SPACES)
def test_mbarriers(space: str, wait: str) -> None:
    """Two phases: one thread arrives by each form, all others wait."""
    pointer, letter = ("ptr addrspace(3) @bar", "r") if space else ("ptr %generic", "l")
    body = LOADS + EXCHANGE + "  %generic = addrspacecast ptr addrspace(3) @bar to ptr\n"
    body += asm(f"@$1 mbarrier.init{space}.b64 [$0], 4;", f"{letter},b", f"{pointer}, i1 %first")
    body += asm("bar.sync 0;", "", "") + "  br i1 %first, label %arrive, label %wait\narrive:\n"
    body += "  store i32 %b, ptr addrspace(3) @words\n"
    body += asm(f"mbarrier.arrive{space}.b64 $0, [$1];", f"=l,{letter}", pointer, "i64", "state")
    body += asm(f"mbarrier.arrive{space}.b64 _, [$0], $1;", f"{letter},r", f"{pointer}, i32 1")
    body += asm(f"mbarrier.arrive_drop{space}.b64 _, [$0];", letter, pointer)
    body += asm(f"mbarrier.arrive.expect_tx{space}.b64 _, [$0], $1;", f"{letter},r", f"{pointer}, i32 0")
    body += asm(WAIT_LOOP % (wait, space, ""), f"{letter},l", f"{pointer}, i64 %state")
    body += "  br label %wait\nwait:\n"
    limit = ", 1000" if wait == "try_wait" else ""
    for parity in (0, 1):
        body += asm(WAIT_LOOP % (f"{wait}.parity", space, limit), f"{letter},r", f"{pointer}, i32 {parity}")
        if parity == 0:
            # The second one misses the arrival that was dropped.
            body += asm("bar.sync 0;", "", "")
            body += asm(f"@$1 mbarrier.arrive{space}.b64 _, [$0], 2;", f"{letter},b", f"{pointer}, i1 %first")
            text = f"@$1 mbarrier.arrive_drop.expect_tx{space}.b64 _, [$0], 0;"
            body += asm(text, f"{letter},b", f"{pointer}, i1 %first")
    body += "  %r = load i32, ptr addrspace(3) @words\n" + STORE + asm("bar.sync 0;", "", "")
    body += asm(f"@$1 mbarrier.inval{space}.b64 [$0];", f"{letter},b", f"{pointer}, i1 %first")
    for schedule in SCHEDULES:
        out = np.zeros(THREADS, np.uint32)
        nvidia.run_kernel(kernel(body), THREADS, X, Y, out, emulation=dataclasses.replace(schedule, time_limit=10))
        np.testing.assert_array_equal(out, np.full(THREADS, Y[0]))


def test_an_endless_loop_of_waits_is_a_deadlock() -> None:
    """Though each wait has a limit."""
    body = asm("@$1 mbarrier.init.shared.b64 [$0], 1;", "r,b", "ptr addrspace(3) @bar, i1 %first")
    body += asm("bar.sync 0;", "", "")
    body += asm(WAIT_LOOP % ("try_wait.parity", ".shared", ", 1000"), "r,r", "ptr addrspace(3) @bar, i32 0")
    with pytest.raises(smalti.EmulationError, match="wait at mbarrier") as error:
        nvidia.run_kernel(kernel(body), THREADS, X, Y, X.copy())
    assert error.value.findings[0].kind == "deadlock"


def test_a_limited_wait_gives_up() -> None:
    """Without arrivals, the wait returns false, and the program continues."""
    body = asm("@$1 mbarrier.init.shared.b64 [$0], 1;", "r,b", "ptr addrspace(3) @bar, i1 %first")
    body += asm("bar.sync 0;", "", "")
    body += asm(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [$1], 0, 1000; selp.u32 $0, 1, 2, p; }",
        "=r,r", "ptr addrspace(3) @bar", "i32", "r",
    )  # fmt: skip
    out = np.zeros(THREADS, np.uint32)
    nvidia.run_kernel(kernel(body + STORE), THREADS, X, Y, out)
    np.testing.assert_array_equal(out, np.full(THREADS, 2))


def test_elect_one_lane() -> None:
    body = asm(
        "{ .reg .pred p; .reg .b32 n; elect.sync n|p, -1; @p add.u32 n, n, 100; mov.u32 $0, n; }", "=r", "", "i32", "r"
    )
    out = np.zeros(THREADS, np.uint32)
    nvidia.run_kernel(kernel(body + STORE), THREADS, X, Y, out)
    warps = out.reshape(2, 32)
    assert ((warps >= 100).sum(1) == 1).all()
    assert (warps.argmax(1) == warps.max(1) - 100).all()
    assert (np.sort(warps, 1)[:, :31] == warps.argmax(1)[:, None]).all()


TESTED = [
    "llvm.nvvm.read.ptx.sreg.globaltimer.hi",
    "llvm.nvvm.read.ptx.sreg.clock_hi",
    "asm:elect.sync",
    *(f"asm:{name}" for name in (*SYNCS, *ARRIVES, *TEXTS)),
]
