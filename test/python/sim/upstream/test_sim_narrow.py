# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed elements in thread-level kernels: arithmetic of `i4`, and vectors of it in memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from helpers import gpu_kernel
from smalti import sim

X = np.repeat(np.arange(16), 16).astype(np.int8)
Y = np.tile(np.arange(16), 16).astype(np.int8)
"""All pairs of numbers of four bits."""
SIGNED = [(x - 16 if x > 7 else x, y - 16 if y > 7 else y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
UNSIGNED = list(zip(X.tolist(), Y.tolist(), strict=True))


def kernel(arguments: str, body: str, threads: int = 32) -> str:
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    {body}""",
        threads,
    )


def wrapped(number: int) -> int:
    return (number + 8) % 16 - 8


def quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


FUNCTIONS: dict[str, tuple[Any, list[tuple[int, int]]]] = {
    "addi": (lambda x, y: x + y, SIGNED),
    "subi": (lambda x, y: x - y, SIGNED),
    "muli": (lambda x, y: x * y, SIGNED),
    "andi": (lambda x, y: x & y, SIGNED),
    "ori": (lambda x, y: x | y, SIGNED),
    "xori": (lambda x, y: x ^ y, SIGNED),
    "maxsi": (max, SIGNED),
    "minsi": (min, SIGNED),
    "maxui": (max, UNSIGNED),
    "minui": (min, UNSIGNED),
    "divsi": (lambda x, y: quotient(x, y), SIGNED),
    "remsi": (lambda x, y: x - y * quotient(x, y), SIGNED),
    "divui": (lambda x, y: x // y, UNSIGNED),
    "remui": (lambda x, y: x % y, UNSIGNED),
    "shli": (lambda x, y: x << y, UNSIGNED),
    "shrui": (lambda x, y: x >> y, UNSIGNED),
    "shrsi": (lambda x, y: wrapped(x) >> y, UNSIGNED),
}


def defined(name: str) -> np.ndarray:
    """The pairs with a defined result."""
    if name.startswith(("div", "rem")):
        overflows = (X == 8) & (Y == 15) if name.endswith("si") else np.zeros(256, np.bool_)
        return (Y != 0) & ~overflows
    return Y < 4 if name.startswith("sh") else np.ones(256, np.bool_)


LLVM = {"addi": "add", "subi": "sub", "muli": "mul", "andi": "and", "ori": "or", "xori": "xor"}
LLVM |= {"divsi": "sdiv", "remsi": "srem", "divui": "udiv", "remui": "urem", "shli": "shl"}
LLVM |= {"shrui": "lshr", "shrsi": "ashr"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arithmetic(name: str) -> None:
    """Of vectors, of each thread's number, of numbers that all have, and LLVM's."""
    of_llvm = ""
    if name in LLVM:
        of_llvm = f"""
    %l = llvm.{LLVM[name]} %p, %q : vector<8xi4>
    %lw = llvm.sext %l : vector<8xi4> to vector<8xi32>
    vector.store %lw, %o[%c3, %i] : memref<4x256xi32>, vector<8xi32>"""
    text = kernel(
        "%x: memref<256xi8>, %y: memref<256xi8>, %o: memref<4x256xi32>",
        f"""
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c256 = arith.constant 256 : index
    %xs = vector.load %x[%i] : memref<256xi8>, vector<8xi8>
    %ys = vector.load %y[%i] : memref<256xi8>, vector<8xi8>
    %p = arith.trunci %xs : vector<8xi8> to vector<8xi4>
    %q = arith.trunci %ys : vector<8xi8> to vector<8xi4>
    %r = arith.{name} %p, %q : vector<8xi4>
    %w = arith.extsi %r : vector<8xi4> to vector<8xi32>
    vector.store %w, %o[%c0, %i] : memref<4x256xi32>, vector<8xi32>{of_llvm}
    scf.for %k = %c0 to %c8 step %c1 {{
      %at = arith.addi %i, %k : index
      %a = memref.load %x[%at] : memref<256xi8>
      %b = memref.load %y[%at] : memref<256xi8>
      %an = arith.trunci %a : i8 to i4
      %bn = arith.trunci %b : i8 to i4
      %n = arith.{name} %an, %bn : i4
      %m = arith.extui %n : i4 to i32
      memref.store %m, %o[%c1, %at] : memref<4x256xi32>
    }}
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      scf.for %k = %c0 to %c256 step %c1 {{
        %a = memref.load %x[%k] : memref<256xi8>
        %b = memref.load %y[%k] : memref<256xi8>
        %an = arith.trunci %a : i8 to i4
        %bn = arith.trunci %b : i8 to i4
        %n = arith.{name} %an, %bn : i4
        %m = arith.extsi %n : i4 to i32
        memref.store %m, %o[%c2, %k] : memref<4x256xi32>
      }}
    }}""",
    )
    function, pairs = FUNCTIONS[name]
    wanted = np.array([wrapped(function(x, y)) if ok else 0 for (x, y), ok in zip(pairs, defined(name), strict=True)])
    found = np.zeros((4, 256), np.int32)
    ok = defined(name)
    # Upper bits of what is truncated are not looked at. An undefined division would be a finding.
    divisors = Y if name.startswith("sh") else np.where(ok, Y, np.int8(1))
    sim.simulate(text, "sim:sm_80")(X | np.int8(0x50), divisors | np.int8(-128), found)
    for row, expected in enumerate((wanted, wanted & 15, wanted, wanted)):
        if row < 3 or name in LLVM:
            np.testing.assert_array_equal(found[row][ok], expected[ok])


ORDERS = {"eq": "==", "ne": "!=", "slt": "<", "sge": ">=", "ult": "<", "ugt": ">", "ule": "<=", "sgt": ">"}


@pytest.mark.parametrize("order", ORDERS)
def test_comparisons_and_choices(order: str) -> None:
    text = kernel(
        "%x: memref<256xi8>, %y: memref<256xi8>, %o: memref<256xi32>",
        f"""
    %xs = vector.load %x[%i] : memref<256xi8>, vector<8xi8>
    %ys = vector.load %y[%i] : memref<256xi8>, vector<8xi8>
    %p = arith.trunci %xs : vector<8xi8> to vector<8xi4>
    %q = arith.trunci %ys : vector<8xi8> to vector<8xi4>
    %yes = arith.constant dense<[-8, 7, -1, 1, 2, 3, -4, -5]> : vector<8xi4>
    %no = arith.constant dense<6> : vector<8xi4>
    %c = arith.cmpi {order}, %p, %q : vector<8xi4>
    %r = arith.select %c, %yes, %no : vector<8xi1>, vector<8xi4>
    %w = arith.extsi %r : vector<8xi4> to vector<8xi32>
    vector.store %w, %o[%i] : memref<256xi32>, vector<8xi32>""",
    )
    found = np.zeros(256, np.int32)
    sim.simulate(text, "sim:sm_80")(X, Y, found)
    pairs = SIGNED if order.startswith("s") else UNSIGNED
    chosen = np.array([eval(f"{x} {ORDERS[order]} {y}") for x, y in pairs])
    yes = np.tile([-8, 7, -1, 1, 2, 3, -4, -5], 32)
    np.testing.assert_array_equal(found, np.where(chosen, yes, 6))


def test_conversions_and_reductions() -> None:
    """To floats and from them, to indices, as other types of four bits, and the sum of a vector."""
    text = kernel(
        "%x: memref<256xi8>, %f: memref<256xf32>, %o: memref<6x256xf32>, %s: memref<32xi32>",
        """
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %xs = vector.load %x[%i] : memref<256xi8>, vector<8xi8>
    %n = arith.trunci %xs : vector<8xi8> to vector<8xi4>
    %a = arith.sitofp %n : vector<8xi4> to vector<8xf32>
    vector.store %a, %o[%c0, %i] : memref<6x256xf32>, vector<8xf32>
    %b = arith.uitofp %n : vector<8xi4> to vector<8xf32>
    vector.store %b, %o[%c1, %i] : memref<6x256xf32>, vector<8xf32>
    %g = vector.load %f[%i] : memref<256xf32>, vector<8xf32>
    %h = arith.fptosi %g : vector<8xf32> to vector<8xi4>
    %c = arith.sitofp %h : vector<8xi4> to vector<8xf32>
    vector.store %c, %o[%c2, %i] : memref<6x256xf32>, vector<8xf32>
    %j = arith.index_castui %n : vector<8xi4> to vector<8xindex>
    %k = arith.index_cast %j : vector<8xindex> to vector<8xi32>
    %d = arith.sitofp %k : vector<8xi32> to vector<8xf32>
    vector.store %d, %o[%c3, %i] : memref<6x256xf32>, vector<8xf32>
    %m = arith.bitcast %n : vector<8xi4> to vector<8xf4E2M1FN>
    %e = arith.extf %m : vector<8xf4E2M1FN> to vector<8xf32>
    vector.store %e, %o[%c4, %i] : memref<6x256xf32>, vector<8xf32>
    %p = arith.truncf %g : vector<8xf32> to vector<8xf4E2M1FN>
    %q = arith.bitcast %p : vector<8xf4E2M1FN> to vector<8xi4>
    %r = arith.sitofp %q : vector<8xi4> to vector<8xf32>
    vector.store %r, %o[%c5, %i] : memref<6x256xf32>, vector<8xf32>
    %sum = vector.reduction <add>, %n : vector<8xi4> into i4
    %wide = arith.extsi %sum : i4 to i32
    memref.store %wide, %s[%t] : memref<32xi32>""",
    )
    floats = np.linspace(-7.9, 7.9, 256).astype(np.float32)
    found, sums = np.zeros((6, 256), np.float32), np.zeros(32, np.int32)
    sim.simulate(text, "sim:sm_80")(X, floats, found, sums)
    signed = np.array([x for x, _ in SIGNED])
    codes = floats.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    four = X.view(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    wanted = [signed, X, np.trunc(floats), X, four, (codes.astype(np.int32) + 8) % 16 - 8]
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
    assert (np.signbit(found[4]) == (X > 7)).all()
    np.testing.assert_array_equal(sums, (signed.reshape(32, 8).sum(1) + 8) % 16 - 8)


@pytest.mark.parametrize("op", ["index_cast", "index_castui"])
def test_an_index_as_one_bit_is_its_low_bit(op: str) -> None:
    text = kernel(
        "%x: memref<256xindex>, %o: memref<256xi32>, %s: memref<32xi32>",
        f"""
    %v = vector.load %x[%i] : memref<256xindex>, vector<8xindex>
    %b = arith.{op} %v : vector<8xindex> to vector<8xi1>
    %e = arith.extui %b : vector<8xi1> to vector<8xi32>
    vector.store %e, %o[%i] : memref<256xi32>, vector<8xi32>
    %first = memref.load %x[%i] : memref<256xindex>
    %c = arith.{op} %first : index to i1
    %d = arith.extui %c : i1 to i32
    memref.store %d, %s[%t] : memref<32xi32>""",
    )
    x = np.arange(256)[::-1] // 3 - 9
    found, scalars = np.zeros(256, np.int32), np.zeros(32, np.int32)
    sim.simulate(text, "sim:sm_80")(x, found, scalars)
    np.testing.assert_array_equal(found, x & 1)
    np.testing.assert_array_equal(scalars, x[::8] & 1)


def test_rounding_to_four_bits() -> None:
    """To the nearest, ties to even; too large numbers and NaNs become the largest."""
    text = kernel(
        "%f: memref<256xf32>, %o: memref<256xf32>",
        """
    %g = vector.load %f[%i] : memref<256xf32>, vector<8xf32>
    %p = arith.truncf %g : vector<8xf32> to vector<8xf4E2M1FN>
    %e = arith.extf %p : vector<8xf4E2M1FN> to vector<8xf32>
    vector.store %e, %o[%i] : memref<256xf32>, vector<8xf32>""",
    )
    x, found = np.zeros(256, np.float32), np.zeros(256, np.float32)
    pairs = {0.25: 0, 0.75: 1, 1.25: 1, 1.75: 2, 2.5: 2, 3.5: 4, 5.0: 4, 5.1: 6, 100.0: 6, np.inf: 6, -np.inf: -6}
    pairs |= {-0.0: -0.0, -0.25: -0.0, -1.75: -2, -1e9: -6}
    x[: len(pairs)] = list(pairs)
    x[100] = np.nan
    sim.simulate(text, "sim:sm_100a")(x, found)
    wanted = np.array(list(pairs.values()), np.float32)
    np.testing.assert_array_equal(found[: len(pairs)], wanted)
    assert (np.signbit(found[: len(pairs)]) == np.signbit(wanted)).all() and found[100] == 6


def pointer(name: str, type_: str) -> str:
    """The pointer to an argument's first byte."""
    return f"""
    %{name}a = memref.extract_aligned_pointer_as_index %{name} : {type_} -> index
    %{name}n = arith.index_cast %{name}a : index to i64
    %{name}p = llvm.inttoptr %{name}n : i64 to !llvm.ptr"""


@pytest.mark.parametrize(("bits", "count"), [(4, 8), (4, 2), (2, 16), (1, 8), (1, 32), (1, 5), (4, 3)])
def test_vectors_in_memory_are_packed(bits: int, count: int) -> None:
    """The same bytes as the emulator's, of LLVM's loads and stores."""
    size = -(-bits * count // 8)
    # An address is a multiple of the vector's size.
    room = 1 << (size - 1).bit_length()
    ty, vector = f"memref<{32 * room}xi8>", f"vector<{count}xi{bits}>"
    text = kernel(
        f"%x: {ty}, %o: {ty}, %w: memref<32x{count}xi32>",
        f"""{pointer("x", ty)}{pointer("o", ty)}
    %n = arith.constant {room} : i64
    %ti = arith.index_cast %t : index to i64
    %at = arith.muli %ti, %n : i64
    %from = llvm.getelementptr %xp[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %to = llvm.getelementptr %op[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %v = llvm.load %from : !llvm.ptr -> {vector}
    %e = arith.extui %v : {vector} to vector<{count}xi32>
    vector.store %e, %w[%t, %c0] : memref<32x{count}xi32>, vector<{count}xi32>
    %ones = arith.constant dense<{-1 if bits > 1 else "true"}> : {vector}
    %s = arith.xori %v, %ones : {vector}
    llvm.store %s, %to : {vector}, !llvm.ptr""",
    )
    x = np.random.default_rng(2).integers(0, 256, (32, room)).astype(np.uint8)
    planes = np.unpackbits(x, axis=-1, bitorder="little")[:, : bits * count]
    codes = (planes.reshape(32, count, bits) << np.arange(bits)).sum(-1)
    inverse = np.packbits(1 - planes, axis=-1, bitorder="little")
    for target in ("sim:sm_80", "emu:sm_80"):
        out, wide = np.zeros((32, room), np.int8), np.zeros((32, count), np.int32)
        smalti.compile(text, target=target)(x.reshape(-1).view(np.int8), out.reshape(-1), wide)
        np.testing.assert_array_equal(wide, codes)
        np.testing.assert_array_equal(out.view(np.uint8)[:, :size], inverse)


def test_vectors_of_bits_take_a_byte_of_eight() -> None:
    """Though one bit for itself takes a byte: the bytes are the emulator's."""
    text = kernel(
        "%x: memref<256xi8>, %m: memref<256xi1>, %o: memref<256xi8>",
        """
    %v = vector.load %x[%i] : memref<256xi8>, vector<8xi8>
    %zero = arith.constant dense<0> : vector<8xi8>
    %p = arith.cmpi sgt, %v, %zero : vector<8xi8>
    vector.store %p, %m[%i] : memref<256xi1>, vector<8xi1>
    %q = vector.load %m[%i] : memref<256xi1>, vector<8xi1>
    %r = arith.select %q, %v, %zero : vector<8xi1>, vector<8xi8>
    vector.store %r, %o[%i] : memref<256xi8>, vector<8xi8>""",
    )
    x = np.random.default_rng(2).integers(-128, 128, 256).astype(np.int8)
    bits = np.packbits(x.reshape(32, 8) > 0, axis=-1, bitorder="little")[:, 0]
    for target in ("sim:sm_80", "emu:sm_80"):
        masks, out = np.zeros(256, np.bool_), np.zeros(256, np.int8)
        smalti.compile(text, target=target)(x, masks, out)
        np.testing.assert_array_equal(masks.view(np.uint8)[::8], bits)
        np.testing.assert_array_equal(out, np.maximum(x, 0))


def test_a_vector_of_bits_outside_of_memory_is_found() -> None:
    text = kernel(
        "%m: memref<32xi1>, %o: memref<256xi8>",
        """
    %p = vector.load %m[%t] : memref<32xi1>, vector<16xi1>
    %r = vector.extract %p[0] : i1 from vector<16xi1>
    %e = arith.extui %r : i1 to i8
    memref.store %e, %o[%t] : memref<256xi8>""",
    )
    (finding,) = sim.simulate(text, "sim:sm_80").find(np.zeros(32, np.bool_), np.zeros(256, np.int8))
    assert finding.kind == "out-of-bounds" and finding.agent == "warp 0, lane 31"
    assert finding.message.startswith("the load reads bytes [31, 33) of argument 0")
