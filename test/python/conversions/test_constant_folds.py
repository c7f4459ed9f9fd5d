# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant folding gives the results of the reference interpreter: zeros, denormals, infinities, NaN and extreme integers."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import smalti
from smalti import reference
from smalti.check import check
from smalti.compiler import entry

FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""The bits of the exponent and of the mantissa."""
SMALL = {
    **dict.fromkeys(("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E4M3", "f8E3M4"), 8),
    "f8E8M0FNU": 8,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
    "f4E2M1FN": 4,
}
INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
UNARY = [
    "absf",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "round",
    "roundeven",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
BINARY = ["math.atan2", "math.copysign", "math.powf"]
BINARY += [
    f"arith.{op}" for op in ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"]
]
INTEGER = [
    f"arith.{op}"
    for op in [
        "addi",
        "subi",
        "muli",
        "andi",
        "ori",
        "xori",
        "maxsi",
        "minsi",
        "maxui",
        "minui",
        "shli",
        "shrsi",
        "shrui",
    ]
]
INTEGER += [f"arith.{op}" for op in ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]]


@dataclass(frozen=True)
class Case:
    op: str
    operands: tuple[tuple[str, str], ...]
    """Constants and their types."""
    result: str


def constants(ty: str) -> list[str]:
    if ty in FLOATS:
        exponent, mantissa = FLOATS[ty]
        sign, one = 1 << exponent + mantissa, (1 << exponent - 1) - 1 << mantissa
        infinity = (1 << exponent) - 1 << mantissa
        two = one + (1 << mantissa)
        half = one - (1 << mantissa)
        codes = [0, 1, (1 << mantissa) - 1, 1 << mantissa, half, one, two, two + 1, infinity - 1, infinity]
        codes = [*codes, *(code | sign for code in codes), infinity | 1 << mantissa - 1]
        return [f"0x{code:0{(exponent + mantissa + 1) // 4}X}" for code in codes]
    if ty in SMALL:
        return [f"0x{code:02X}" for code in range(1 << SMALL[ty])]
    if ty == "i1":
        return ["false", "true"]
    last = (1 << int(ty[1:]) - 1) - 1
    return [str(n) for n in (0, 1, -1, 2, -2, 3, -3, 7, last, -last, -last - 1)]


def grid(op: str, result: str, *types: str) -> Iterator[Case]:
    for chosen in itertools.product(*(constants(ty) for ty in types)):
        yield Case(op, tuple(zip(chosen, types, strict=True)), result)


def cases_of(ty: str) -> Iterator[Case]:
    """Every op with operands of the type."""
    if ty in INTEGERS:
        for op in INTEGER:
            yield from grid(f"{op} {{}}, {{}} : {ty}", ty, ty, ty)
        for op in ("absi", "ctlz", "cttz", "ctpop"):
            yield from grid(f"math.{op} {{}} : {ty}", ty, ty)
        # Integers of more than 53 bits are not converted to f8E8M0FNU.
        for result in (*FLOATS, *(other for other in SMALL if (ty, other) != ("i64", "f8E8M0FNU"))):
            yield from grid(f"arith.sitofp {{}} : {ty} to {result}", result, ty)
            yield from grid(f"arith.uitofp {{}} : {ty} to {result}", result, ty)
        return
    if ty in SMALL:
        for result in FLOATS:
            yield from grid(f"arith.extf {{}} : {ty} to {result}", result, ty)
        return
    for op in (*(f"math.{op}" for op in UNARY), "arith.negf"):
        yield from grid(f"{op} {{}} : {ty}", ty, ty)
    for op in ("isfinite", "isinf", "isnan", "isnormal"):
        yield from grid(f"math.{op} {{}} : {ty}", "i1", ty)
    for op in BINARY:
        yield from grid(f"{op} {{}}, {{}} : {ty}", ty, ty, ty)
    for predicate in ("oeq", "olt", "one", "ord", "ueq", "uge", "une", "uno"):
        yield from grid(f"arith.cmpf {predicate}, {{}}, {{}} : {ty}", "i1", ty, ty)
    yield from grid(f"math.fpowi {{}}, {{}} : {ty}, i8", ty, ty, "i8")
    for result in INTEGERS:
        yield from grid(f"arith.fptosi {{}} : {ty} to {result}", result, ty)
    bits = sum(FLOATS[ty])
    for result in (*(other for other in FLOATS if sum(FLOATS[other]) < bits), *SMALL):
        yield from grid(f"arith.truncf {{}} : {ty} to {result}", result, ty)


def is_defined(case: Case) -> bool:
    """Whether a case is not a division by zero, or of the smallest integer by -1."""
    op = case.op.split()[0]
    if not re.search(r"(div|rem)[su]i$", op):
        return True
    x, y = ({"false": 0, "true": -1}.get(value, value) for value, _ in case.operands)
    smallest = -(1 << int(case.result[1:]) - 1)
    return int(y) != 0 and (op.endswith("ui") or (int(x), int(y)) != (smallest, -1))


def kernel(cases: list[Case]) -> str:
    """A kernel that stores the result of each case to an array of its own."""
    lines: list[str] = []
    arguments: list[str] = []
    for number, case in enumerate(cases):
        names = [f"%c{number}_{i}" for i in range(len(case.operands))]
        for name, (value, ty) in zip(names, case.operands, strict=True):
            lines.append(f"{name} = arith.constant {value}{'' if ty == 'i1' else f' : {ty}'}")
        arguments.append(f"%o{number}: memref<2x{case.result}>")
        lines.append(f"%r{number} = {case.op.format(*names)}")
        lines.append(f"memref.store %r{number}, %o{number}[%zero] : memref<2x{case.result}>")
    body = "\n  ".join(["%zero = arith.constant 0 : index", *lines])
    return f"triton_xla.entry_func @f({', '.join(arguments)}, %tile: index) tiles 1 {{\n  {body}\n  triton_xla.return\n}}\n"


def results(module: smalti.ir.Module) -> list[reference.Value]:
    function = entry.find_entry(module)
    arguments = entry.describe(function.operation).arguments
    return reference.run(function, [np.zeros(a.shape, a.dtype.numpy) for a in arguments])


def agree(folded: reference.Value, expected: reference.Value, is_ordered: bool) -> bool:
    x, y = folded.data[0].item(), expected.data[0].item()
    if isinstance(y, int) or np.isnan(y):
        return x == y or (np.isnan(x) and np.isnan(y))
    error = sum(float(v.error[0]) for v in (folded, expected) if v.error is not None)
    return abs(x - y) <= 2 * error or (x == y and (x != 0 or not is_ordered or np.signbit(x) == np.signbit(y)))


@pytest.mark.parametrize("ty", [*FLOATS, *SMALL, *INTEGERS])
def test_folded_constants(ty: str) -> None:
    cases = list(filter(is_defined, cases_of(ty)))
    cases = random.Random(ty).sample(cases, min(len(cases), 120))
    module = smalti.parse(kernel(cases))
    expected = results(module)
    smalti.Pipeline().guard_folds().canonicalize().run(module)
    for case, x, y in zip(cases, results(module), expected, strict=True):
        # The larger of two zeros may be either, and some types have one zero.
        is_ordered = not case.op.startswith(("arith.maxnumf", "arith.minnumf")) and not case.result.endswith("UZ")
        assert agree(x, y, is_ordered), f"{case}: {x.data} is not {y.data}"


SPECIAL = [0.0, -0.0, -1e9, np.inf, np.nan]


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "emu:gfx950", "sim:sm_80"])
def test_constants_on_targets(target: str) -> None:
    """Ops whose folders are wrong, on constants and on fill values."""
    lines: list[str] = []
    rows = 0

    def store(value: str) -> None:
        nonlocal rows
        lines.append(f"triton_xla.insert {value} into %o[{rows}, 0] [1, 4] [1, 1] : tensor<4xf32> into memref<?x4xf32>")
        rows += 1

    for number, value in enumerate(SPECIAL):
        code = np.float32(value).view(np.uint32)
        lines.append(f"%x{number} = arith.constant dense<0x{code:08X}> : tensor<4xf32>")
        for ty in ("f8E5M2", "f8E4M3B11FNUZ", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN"):
            name = f"%r{number}_{ty}"
            lines.append(f"{name} = arith.truncf %x{number} : tensor<4xf32> to tensor<4x{ty}>")
            lines.append(f"{name}f = arith.extf {name} : tensor<4x{ty}> to tensor<4xf32>")
            store(f"{name}f")
    for y, x in itertools.product(range(2), range(2)):
        lines.append(f"%a{y}_{x} = math.atan2 %x{y}, %x{x} : tensor<4xf32>")
        store(f"%a{y}_{x}")
    # Elements outside of an array are constants.
    lines.append("%e0 = triton_xla.extract %in[2, 0] [1, 4] [1, 1] : memref<2x4xf32> to tensor<4xf32>")
    lines.append("%i = arith.constant dense<2> : tensor<4xi32>")
    lines.append("%e1 = triton_xla.gather %in[%i, %tile] : memref<2x4xf32>, tensor<4xi32>, index -> tensor<4xf32>")
    for number in range(2):
        lines.append(f"%ea{number} = math.atan2 %e{number}, %e{number} : tensor<4xf32>")
        store(f"%ea{number}")
    body = "\n  ".join(lines).replace("memref<?", f"memref<{rows}")
    arguments = f"%o: memref<{rows}x4xf32>, %in: memref<2x4xf32>, %tile: index"
    text = f"triton_xla.entry_func @f({arguments}) tiles 1 {{\n  {body}\n  triton_xla.return\n}}"
    module = smalti.parse(text)
    assert check(smalti.compile(module, target=target), module).require().ok


@pytest.mark.parametrize("target", ["cpu", "emu:sm_90a", "emu:gfx950", "sim:sm_80"])
def test_casts_of_an_index_to_fewer_bits_and_back(target: str) -> None:
    x = np.array([0, 1, 2, -1, 255, 2**31, 2**40 + 5, -(2**40) - 7])
    lines, expected = [], []
    for op, bits in itertools.product(("index_cast", "index_castui"), (1, 8, 16, 32)):
        number = len(expected)
        lines.append(f"""
  %i{number} = arith.{op} %t : tensor<8xindex> to tensor<8xi{bits}>
  %j{number} = arith.{op} %i{number} : tensor<8xi{bits}> to tensor<8xindex>
  %k{number} = arith.{op} %n : index to i{bits}
  %l{number} = arith.{op} %k{number} : i{bits} to index
  %m{number} = tensor.splat %l{number} : tensor<8xindex>
  %s{number} = arith.xori %j{number}, %m{number} : tensor<8xindex>
  triton_xla.insert %s{number} into %o[{number}, 0] [1, 8] [1, 1] : tensor<8xindex> into memref<8x8xindex>""")
        low = x & (1 << bits) - 1
        kept = low if op == "index_castui" else low - (low >> bits - 1 << bits)
        expected.append(kept ^ kept[-1])
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @f(%a: memref<8xindex>, %n: index, %o: memref<8x8xindex>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %a[0] [8] [1] : memref<8xindex> to tensor<8xindex>{"".join(lines)}
  triton_xla.return
}}""",
        target=target,
    )
    o = np.zeros((8, 8), np.int64)
    kernel(x, int(x[-1]), o)
    np.testing.assert_array_equal(o, expected)
