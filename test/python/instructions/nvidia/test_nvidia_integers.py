# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer and bit instructions, and libdevice's inline assembly, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import nvidia
from nvidia import Array

COUNT = 256
PREFIX = "llvm.nvvm."
Case = tuple[str, tuple[str, ...], Callable[..., int]]
"""The result's type, the operands', and the meaning, of unsigned numbers."""


def _signed(x: int, bits: int) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


CASES: dict[str, Case] = {}
for _end, _bits, _is_signed in (
    ("s", 16, True),
    ("us", 16, False),
    ("i", 32, True),
    ("ui", 32, False),
    ("ll", 64, True),
    ("ull", 64, False),
):
    _ty = f"i{_bits}"

    def _high(a: int, b: int, bits: int = _bits, signed: bool = _is_signed) -> int:
        return (_signed(a, bits) * _signed(b, bits) if signed else a * b) >> bits

    def _sad(a: int, b: int, c: int, bits: int = _bits, signed: bool = _is_signed) -> int:
        return c + abs(_signed(a, bits) - _signed(b, bits) if signed else a - b)

    CASES[f"{PREFIX}mulhi.{_end}"] = (_ty, (_ty, _ty), _high)
    CASES[f"{PREFIX}sad.{_end}"] = (_ty, (_ty, _ty, _ty), _sad)
CASES[PREFIX + "mul24.i"] = ("i32", ("i32", "i32"), lambda a, b: _signed(a, 24) * _signed(b, 24))
CASES[PREFIX + "mul24.ui"] = ("i32", ("i32", "i32"), lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF))


def _part(x: int, index: int, bits: int, signed: bool) -> int:
    part = x >> (index * bits) & ((1 << bits) - 1)
    return _signed(part, bits) if signed else part


for _a in "su":
    for _b in "su":

        def _dot4(a: int, b: int, c: int, sa: bool = _a == "s", sb: bool = _b == "s") -> int:
            return c + sum(_part(a, i, 8, sa) * _part(b, i, 8, sb) for i in range(4))

        CASES[f"{PREFIX}idp4a.{_a}.{_b}"] = ("i32", ("i32", "i32", "i32"), _dot4)

FORWARD = ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3))
"""The table of prmt's modes: the bytes of the result, the highest first, for each value of the control."""
BACKWARD = ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3))
MODES = {
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "rc16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}


def _pick(a: int, b: int, chosen: tuple[int, ...]) -> int:
    both = (a | b << 32).to_bytes(8, "little")
    return int.from_bytes(bytes(both[i] for i in chosen), "big")


def _permute(a: int, b: int, c: int) -> int:
    both = (a | b << 32).to_bytes(8, "little")
    made = 0
    for i in range(4):
        selector = c >> 4 * i & 15
        byte = both[selector & 7]
        if selector & 8:
            byte = 0xFF if byte & 0x80 else 0
        made |= byte << 8 * i
    return made


CASES[PREFIX + "prmt"] = ("i32", ("i32", "i32", "i32"), _permute)
CASES[PREFIX + "prmt.f4e"] = ("i32", ("i32", "i32", "i32"), lambda a, b, c: _pick(a, b, FORWARD[c & 3]))
CASES[PREFIX + "prmt.b4e"] = ("i32", ("i32", "i32", "i32"), lambda a, b, c: _pick(a, b, BACKWARD[c & 3]))
for _mode, _table in MODES.items():
    CASES[f"{PREFIX}prmt.{_mode}"] = (
        "i32",
        ("i32", "i32"),
        lambda a, c, table=_table: _pick(a, 0, table[c & 3]),
    )
# In inline assembly all modes have two operands and the control.
CASES[nvidia.text("prmt.b32", 3)] = ("i32", ("i32", "i32", "i32"), _permute)
for _mode, _table in {"f4e": FORWARD, "b4e": BACKWARD, **MODES}.items():
    CASES[nvidia.text(f"prmt.b32.{_mode}", 3)] = (
        "i32",
        ("i32", "i32", "i32"),
        lambda a, b, c, table=_table: _pick(a, b, table[c & 3]),
    )


def _mask(a: int, b: int, clamp: bool) -> int:
    a, b = (a, b) if clamp else (a & 31, b & 31)
    return sum(1 << i for i in range(32) if a <= i < a + b)


def _extend(a: int, b: int, signed: bool, clamp: bool) -> int:
    bits = min(b, 32) if clamp else b & 31
    if bits == 0:
        return 0
    return _signed(a, bits) if signed else a & ((1 << bits) - 1)


for _clamp in (True, False):
    _end = "clamp" if _clamp else "wrap"
    CASES[f"{PREFIX}bmsk.{_end}"] = ("i32", ("i32 small", "i32 small"), lambda a, b, c=_clamp: _mask(a, b, c))
    for _s in (True, False):
        CASES[f"{PREFIX}{'s' if _s else 'z'}ext.{_end}"] = (
            "i32",
            ("i32", "i32 small"),
            lambda a, b, s=_s, c=_clamp: _extend(a, b, s, c),
        )


def _nth(mask: int, base: int, n: int) -> int:
    """The pseudocode of the document."""
    offset = _signed(n, 32)
    base &= 31
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += step
    return 0xFFFFFFFF


CASES[PREFIX + "fns"] = ("i32", ("i32", "i32 lane", "i32 near"), _nth)


def _shift(hi: int, lo: int, n: int, left: bool) -> int:
    n = min(n, 32)
    return (hi << n | lo >> (32 - n)) if left else (hi << (32 - n) | lo >> n)


CASES[PREFIX + "fshl.clamp.i32"] = ("i32", ("i32", "i32", "i32 small"), lambda a, b, c: _shift(a, b, c, True))
CASES[PREFIX + "fshr.clamp.i32"] = ("i32", ("i32", "i32", "i32 small"), lambda a, b, c: _shift(a, b, c, False))
CASES["asm:bfind.shiftamt.u32 $0, $1;"] = ("i32", ("i32 leading",), lambda a: 32 - a.bit_length() if a else 0xFFFFFFFF)


def _inputs(seed: str, kind: str, index: int) -> Array:
    random = nvidia.seeded(f"{seed}{index}")
    ty, _, what = kind.partition(" ")
    bits = int(ty[1:])
    dtype = np.dtype(f"u{bits // 8}")
    if what == "small":
        return random.choice([0, 1, 2, 5, 16, 30, 31, 32, 33, 40, 63, 64], COUNT).astype(dtype)
    if what == "lane":
        return random.integers(0, 32, COUNT).astype(dtype)
    if what == "near":
        return random.integers(-12, 13, COUNT).astype(np.int32).view(dtype)
    values = random.integers(0, 1 << bits, COUNT, np.uint64, endpoint=False)
    if what == "leading":
        values >>= random.integers(0, bits, COUNT).astype(np.uint64)
    edges = np.array([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1], np.uint64)
    values[: 3 * len(edges)] = np.roll(np.tile(edges, 3), index)
    return values.astype(dtype)


def test_integers() -> None:
    inputs = {name: [_inputs(name, kind, i) for i, kind in enumerate(kinds)] for name, (_, kinds, _) in CASES.items()}
    calls = {
        name: nvidia.call(result, *((kind.split()[0], v) for kind, v in zip(kinds, inputs[name], strict=True)))
        for name, (result, kinds, _) in CASES.items()
    }
    for name, (fields,) in nvidia.run(calls).items():
        limit = 1 << int(CASES[name][0][1:])
        expected = [CASES[name][2](*map(int, row)) % limit for row in zip(*inputs[name], strict=True)]
        np.testing.assert_array_equal(fields, np.array(expected, fields.dtype), name)


WITH_CHOICE: dict[str, tuple[int, bool]] = {
    f"{PREFIX}flo.{sign}.i{bits}": (bits, sign == "s") for sign in "su" for bits in (32, 64)
}


def test_find_leading() -> None:
    """The position of the highest bit, or the shift that brings it to the top, selected by an immediate."""
    for shift in (0, 1):
        values = {name: _inputs(name, f"i{bits} leading", 0) for name, (bits, _) in WITH_CHOICE.items()}
        calls = {
            name: nvidia.call("i32", (f"i{bits}", values[name]), ("i1", shift))
            for name, (bits, _) in WITH_CHOICE.items()
        }
        for name, (fields,) in nvidia.run(calls).items():
            bits, signed = WITH_CHOICE[name]

            def find(x: int, bits: int = bits, signed: bool = signed, shift: int = shift) -> int:
                if signed and x >> (bits - 1):
                    x = ~x & ((1 << bits) - 1)
                if x == 0:
                    return 0xFFFFFFFF
                return bits - x.bit_length() if shift else x.bit_length() - 1

            np.testing.assert_array_equal(fields, np.array([find(int(x)) for x in values[name]], np.uint32), name)


DOT2 = {f"{PREFIX}idp2a.{a}.{b}": (a == "s", b == "s") for a in "su" for b in "su"}


def test_dp2a() -> None:
    for high in (0, 1):
        values = [_inputs("dp2a", "i32", i) for i in range(3)]
        operands = [("i32", values[0]), ("i32", values[1]), ("i1", high), ("i32", values[2])]
        for name, (fields,) in nvidia.run({n: nvidia.call("i32", *operands) for n in DOT2}).items():
            sa, sb = DOT2[name]
            expected = [
                (c + sum(_part(a, i, 16, sa) * _part(b, i + 2 * high, 8, sb) for i in range(2))) % (1 << 32)
                for a, b, c in ((int(a), int(b), int(c)) for a, b, c in zip(*values, strict=True))
            ]
            np.testing.assert_array_equal(fields, np.array(expected, np.uint32), name)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers of two registers, in libdevice's inline assembly
# ---------------------------------------------------------------------------------------------------------------------

_LONG_REGISTERS = "{\n\t.reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3;\n" + "".join(
    f"\tmov.b64         {{{pair}}}, ${i};\n" for i, pair in enumerate(("a0,a1", "a2,a3", "b0,b1", "b2,b3"), 2)
)
_LONG_RESULT = "\tmov.b64         $0, {r0,r1};\n\tmov.b64         $1, {r2,r3};\n\t}"


def _carried(op: str) -> str:
    return (
        f"asm:{_LONG_REGISTERS}\t{op}.cc.u32      r0, a0, b0; \n\t{op}c.cc.u32     r1, a1, b1; \n"
        f"\t{op}c.cc.u32     r2, a2, b2; \n\t{op}c.u32        r3, a3, b3; \n{_LONG_RESULT}"
    )


_MULTIPLY = """asm:{
\t.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi;
\tmov.b64         {alo,ahi}, $2;
\tmov.b64         {blo,bhi}, $3;
\tmul.lo.u32      r0, alo, blo;
\tmul.hi.u32      r1, alo, blo;
\tmad.lo.cc.u32   r1, alo, bhi, r1;
\tmadc.hi.u32     r2, alo, bhi,  0;
\tmad.lo.cc.u32   r1, ahi, blo, r1;
\tmadc.hi.cc.u32  r2, ahi, blo, r2;
\tmadc.hi.u32     r3, ahi, bhi,  0;
\tmad.lo.cc.u32   r2, ahi, bhi, r2;
\taddc.u32        r3, r3,  0;
\tmov.b64         $0, {r0,r1};
\tmov.b64         $1, {r2,r3};
\t}"""
_MULTIPLY_ADD = """asm:{
\t.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi;
\tmov.b64         {alo,ahi}, $2;
\tmov.b64         {blo,bhi}, $3;
\tmov.b64         {clo,chi}, $4;
\tmad.lo.cc.u32   r0, alo, blo, clo;
\tmadc.hi.cc.u32  r1, alo, blo, chi;
\tmadc.hi.u32     r2, alo, bhi,   0;
\tmad.lo.cc.u32   r1, alo, bhi,  r1;
\tmadc.hi.cc.u32  r2, ahi, blo,  r2;
\tmadc.hi.u32     r3, ahi, bhi,   0;
\tmad.lo.cc.u32   r1, ahi, blo,  r1;
\tmadc.lo.cc.u32  r2, ahi, bhi,  r2;
\taddc.u32        r3,  r3,   0;
\tmov.b64         $0, {r0,r1};
\tmov.b64         $1, {r2,r3};
\t}"""
_SMALL_SUM = "asm:{\n\tmad.lo.cc.u32   $0, $2, $3, $4;\n\tmadc.hi.u32     $1, $2, $3,  0;\n\t}"


def _wide() -> dict[str, tuple[str, int, Callable[..., int]]]:
    """Text: type, operands, and the whole result."""
    return {
        _carried("add"): ("i64", 4, lambda a, b, c, d: (a | b << 64) + (c | d << 64)),
        _carried("sub"): ("i64", 4, lambda a, b, c, d: (a | b << 64) - (c | d << 64)),
        _MULTIPLY: ("i64", 2, lambda a, b: a * b),
        _MULTIPLY_ADD: ("i64", 3, lambda a, b, c: a * b + c),
        _SMALL_SUM: ("i32", 3, lambda a, b, c: a * b + c),
    }


def test_wide_integers() -> None:
    cases = _wide()
    inputs = {name: [_inputs(ty, ty, i) for i in range(count)] for name, (ty, count, _) in cases.items()}
    calls = {name: nvidia.call([ty, ty], *((ty, v) for v in inputs[name])) for name, (ty, _, _) in cases.items()}
    for name, (low, high) in nvidia.run(calls).items():
        ty, _, meaning = cases[name]
        bits = int(ty[1:])
        for row, lo, hi in zip(zip(*inputs[name], strict=True), low, high, strict=True):
            assert int(lo) | int(hi) << bits == meaning(*map(int, row)) % (1 << 2 * bits), name


SELECT = "asm:{ .reg .pred __$$temp3;\n  setp.equ.f64 __$$temp3, $1, $2;\n  selp.f64 $0, $3, $4, __$$temp3;}"


def test_select() -> None:
    a = np.array([1, 1, np.nan, 2, 0.0] * 32)
    b = np.array([1, 2, 1, np.nan, -0.0] * 32)
    x, y = np.arange(160.0), -np.arange(160.0) - 1
    (found,) = nvidia.run({SELECT: nvidia.call("double", *(("double", v) for v in (a, b, x, y)))})[SELECT]
    np.testing.assert_array_equal(found, np.where((a == b) | np.isnan(a) | np.isnan(b), x, y))


def covered() -> list[str]:
    return [*CASES, *WITH_CHOICE, *DOT2, *_wide(), SELECT]
