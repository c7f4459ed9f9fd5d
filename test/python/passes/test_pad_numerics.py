# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes on pads, run on the CPU: a padded or transposed op computes the results of the plain one, to the last bit.

The plain op is lowered by upstream MLIR only. Both read the same inputs, special values among them, and write to the
same initial value. The sign of a zero is not compared, because a sum with a neutral 0 may change it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from smalti import ir, passmanager, toolchain
from smalti.execution_engine import ExecutionEngine
from smalti.runtime import get_ranked_memref_descriptor

LOWER = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},convert-linalg-to-loops,"
    "convert-bufferization-to-memref,convert-vector-to-scf,expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "arith-expand{include-bf16=true},convert-vector-to-llvm,convert-math-to-llvm,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
    "convert-ub-to-llvm,reconcile-unrealized-casts)"
)

LIBRARIES = [
    str(path)
    for name in ("mlir_c_runner_utils", "mlir_float16_utils")
    if (path := toolchain.find_runtime_library(name))
]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


def shaped(kind: str, shape: Sequence[int | None], dtype: str) -> str:
    return f"{kind}<{''.join(('?' if size is None else str(size)) + 'x' for size in shape)}{dtype}>"


class Operand:
    """A tensor argument; sizes of None are dynamic."""

    def __init__(self, shape: Sequence[int | None], dtype: str) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype


def function(name: str, operands: Sequence[Operand], body: str, scalars: str = "") -> str:
    """A function on memrefs around tensor ops on %0, %1, ..., the last of them the initial value and the result.

    `body` defines %result.
    """
    arguments = [f"%m{i}: {shaped('memref', o.shape, o.dtype)}" for i, o in enumerate(operands)]
    lines = [f"func.func @{name}({', '.join(arguments + ([scalars] if scalars else []))})"]
    lines[0] += " attributes {llvm.emit_c_interface} {"
    for i, o in enumerate(operands):
        memref, tensor = shaped("memref", o.shape, o.dtype), shaped("tensor", o.shape, o.dtype)
        lines.append(f"  %t{i} = bufferization.to_tensor %m{i} restrict writable : {memref} to {tensor}")
    lines.append(body)
    last = len(operands) - 1
    tensor = shaped("tensor", operands[-1].shape, operands[-1].dtype)
    memref = shaped("memref", operands[-1].shape, operands[-1].dtype)
    lines.append(f"  bufferization.materialize_in_destination %result in restrict writable %m{last}")
    lines.append(f"    : ({tensor}, {memref}) -> ()\n  return\n}}")
    return "\n".join(lines)


class Compiled:
    """The functions of a module, plain and after a pass."""

    def __init__(self, functions: Sequence[str], passes: str) -> None:
        text = "\n".join(functions)
        with ir.Context():
            self._plain = self._engine(ir.Module.parse(text))
            changed = ir.Module.parse(text)
            passmanager.PassManager.parse(f"builtin.module(func.func({passes}))").run(changed.operation)
            self.text = str(changed)
            self._changed = self._engine(changed)

    @staticmethod
    def _engine(module: ir.Module) -> ExecutionEngine:
        passmanager.PassManager.parse(LOWER).run(module.operation)
        return ExecutionEngine(module, opt_level=0, shared_libs=LIBRARIES)

    def check(self, name: str, arrays: Sequence[np.ndarray], scalars: Sequence[Any] = ()) -> np.ndarray:
        """Runs both and compares; returns the result."""
        results = []
        for engine in (self._plain, self._changed):
            copies = [array.copy() for array in arrays]
            call(engine, name, copies, scalars)
            for before, after in zip(arrays[:-1], copies[:-1], strict=True):
                assert before.tobytes() == after.tobytes(), "an input was written"
            results.append(copies[-1])
        plain, padded = results
        assert equal(plain, padded), f"{name} {[a.shape for a in arrays]}:\n{plain}\n{padded}"
        return padded


def call(engine: ExecutionEngine, name: str, arrays: Sequence[np.ndarray], scalars: Sequence[Any]) -> None:
    import ctypes

    descriptors = [get_ranked_memref_descriptor(array) for array in arrays]
    pointers = [ctypes.pointer(ctypes.pointer(descriptor)) for descriptor in descriptors]
    engine.invoke(name, *pointers, *(ctypes.pointer(scalar) for scalar in scalars))


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind in "biu":
        return bool(np.array_equal(a, b))
    return bool(np.array_equal(a.astype(np.float64), b.astype(np.float64), equal_nan=True))


def random(shape: Sequence[int], dtype: str, seed: int) -> np.ndarray:
    """Random numbers; among floats some NaN, infinities, zeros and subnormals."""
    rng = np.random.default_rng(seed)
    kind: Any = DTYPES[dtype]
    if dtype == "i1":
        return rng.integers(0, 2, shape).astype(kind)
    if dtype.startswith("i"):
        limits = np.iinfo(kind)
        array = rng.integers(limits.min, limits.max, shape, dtype=np.int64, endpoint=True).astype(kind)
        small = rng.integers(-2, 3, shape).astype(kind)
        return np.where(rng.random(shape) < 0.3, small, array).astype(kind)
    array = rng.standard_normal(shape)
    specials = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, 60000.0]), shape)
    return np.where(rng.random(shape) < 0.1, specials, array).astype(kind)


MKN = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>"


def contraction(body: str, types: tuple[str, str, str], maps: str = MKN) -> str:
    a, b, c = (f"tensor<?x?x{t}>" for t in types)
    return f"""
  %result = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%t0, %t1 : {a}, {b}) outs(%t2 : {c}) {{
  ^bb0(%x: {types[0]}, %y: {types[1]}, %acc: {types[2]}):
{body}
    linalg.yield %next : {types[2]}
  }} -> {c}"""


# The expression for each m, n, k, and the combiner along k: name -> (types, body).
COMBINERS: dict[str, tuple[tuple[str, str, str], str]] = {}


def combine(combiner: str, term: str, dtype: str) -> None:
    COMBINERS[f"{combiner}_of_{term}_{dtype}"] = (
        (dtype, dtype, dtype),
        f"    %term = arith.{term} %x, %y : {dtype}\n    %next = arith.{combiner} %acc, %term : {dtype}",
    )


_FLOAT = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
_INTEGER = ("addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori")
for _term, _combiner in itertools.product(("mulf", "addf"), _FLOAT):
    combine(_combiner, _term, "f32")
for _combiner, _dtype in itertools.product(("maximumf", "minnumf"), ("f16", "bf16", "f64")):
    combine(_combiner, "addf", _dtype)
for _term, _combiner in itertools.product(("muli", "addi"), _INTEGER):
    combine(_combiner, _term, "i32")
for _combiner in _INTEGER:
    combine(_combiner, "xori", "i8")
for _combine in ("andi", "ori", "xori"):
    COMBINERS[f"{_combine}_of_bits"] = (
        ("i1", "i1", "i1"),
        f"    %term = arith.andi %x, %y : i1\n    %next = arith.{_combine} %acc, %term : i1",
    )
COMBINERS["subtracted"] = (
    ("f32", "f32", "f32"),
    "    %term = arith.mulf %x, %y : f32\n    %next = arith.subf %acc, %term : f32",
)
COMBINERS["widened"] = (
    ("f16", "bf16", "f32"),
    "    %xw = arith.extf %x : f16 to f32\n    %yw = arith.extf %y : bf16 to f32\n"
    "    %term = arith.mulf %xw, %yw : f32\n    %next = arith.addf %acc, %term : f32",
)
COMBINERS["narrowed_accumulator"] = (
    ("f16", "f16", "f16"),
    "    %xw = arith.extf %x : f16 to f32\n    %yw = arith.extf %y : f16 to f32\n"
    "    %term = arith.mulf %xw, %yw : f32\n    %wide = arith.extf %acc : f16 to f32\n"
    "    %sum = arith.addf %wide, %term : f32\n    %next = arith.truncf %sum : f32 to f16",
)
COMBINERS["unsigned"] = (
    ("i8", "i8", "i32"),
    "    %xw = arith.extui %x : i8 to i32\n    %yw = arith.extui %y : i8 to i32\n"
    "    %term = arith.muli %xw, %yw : i32\n    %next = arith.addi %acc, %term : i32",
)
COMBINERS["constant_zero_points"] = (
    ("i8", "i8", "i32"),
    "    %zx = arith.constant 5 : i32\n    %zy = arith.constant -128 : i32\n"
    "    %xw = arith.extsi %x : i8 to i32\n    %yw = arith.extsi %y : i8 to i32\n"
    "    %xc = arith.subi %xw, %zx : i32\n    %yc = arith.subi %yw, %zy : i32\n"
    "    %term = arith.muli %xc, %yc : i32\n    %next = arith.addi %acc, %term : i32",
)
COMBINERS["float_zero_point"] = (
    ("f16", "f16", "f32"),
    "    %zx = arith.constant 0.5 : f32\n    %xw = arith.extf %x : f16 to f32\n    %yw = arith.extf %y : f16 to f32\n"
    "    %xc = arith.subf %xw, %zx : f32\n    %term = arith.mulf %xc, %yw : f32\n"
    "    %next = arith.addf %acc, %term : f32",
)
COMBINERS["selected"] = (
    ("f32", "f32", "f32"),
    "    %zero = arith.constant 0.0 : f32\n    %above = arith.cmpf ogt, %x, %zero : f32\n"
    "    %term = arith.select %above, %y, %zero : f32\n    %next = arith.addf %acc, %term : f32",
)

SIZES = [0, 1, 2, 5, 8]
PAD = "smalti-pad-to-intrinsics{m=4 n=3 k=5 strict=true max-waste=1000}"


@pytest.fixture(scope="module")
def combined() -> Compiled:
    functions = [
        function(name, [Operand((None, None), t) for t in types], contraction(body, types))
        for name, (types, body) in COMBINERS.items()
    ]
    return Compiled(functions, PAD)


@pytest.mark.grid(14, cover=lambda name: {*COMBINERS[name][0], *re.findall(r"arith\.\w+", COMBINERS[name][1])})
@pytest.mark.parametrize("name", COMBINERS)
def test_combiners(combined: Compiled, name: str) -> None:
    types, _ = COMBINERS[name]
    for seed, (m, n, k) in enumerate(itertools.product(SIZES, SIZES, [0, 1, 4, 5, 11])):
        shapes = [(m, k), (k, n), (m, n)]
        combined.check(
            name, [random(shape, t, 3 * seed + i) for i, (shape, t) in enumerate(zip(shapes, types, strict=True))]
        )


def test_every_combiner_was_padded(combined: Compiled) -> None:
    # Three operands of each function, all of dynamic sizes.
    assert combined.text.count("tensor.pad") == 3 * len(COMBINERS)


def test_against_numpy(combined: Compiled) -> None:
    """The plain op is what this file takes it for."""
    a, b, c = random((7, 9), "i32", 0), random((9, 4), "i32", 1), random((7, 4), "i32", 2)
    np.testing.assert_array_equal(combined.check("addi_of_muli_i32", [a, b, c]), a @ b + c)
    expected = np.maximum(c, (a[:, :, None] + b[None]).max(axis=1))
    np.testing.assert_array_equal(combined.check("maxsi_of_addi_i32", [a, b, c]), expected)


# ---------------------------------------------------------------------------------------------------------------------
# Named ops, quantized ones, operands that are not two matrices
# ---------------------------------------------------------------------------------------------------------------------


def named(op: str, operands: Sequence[Operand], attributes: str = "", scalars: Sequence[str] = ()) -> str:
    """The body that applies a named op; scalars are further inputs of type i32."""
    tensors = [shaped("tensor", o.shape, o.dtype) for o in operands]
    values = [f"%t{i}" for i in range(len(operands) - 1)] + list(scalars)
    types = tensors[:-1] + ["i32"] * len(scalars)
    return (
        f"  %result = linalg.{op} {attributes} ins({', '.join(values)} : {', '.join(types)})"
        f" outs(%t{len(operands) - 1} : {tensors[-1]}) -> {tensors[-1]}"
    )


def dynamic(rank: int, dtype: str) -> Operand:
    return Operand((None,) * rank, dtype)


def test_named_contractions() -> None:
    transposed = (
        "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, "
        "affine_map<(m, n, k) -> (m, n)>]"
    )
    cases: dict[str, tuple[str, str, list[int], Any]] = {
        "matmul": ("matmul", "", [2, 2, 2], lambda m, n, k, b: [(m, k), (k, n), (m, n)]),
        "transposed": ("matmul", transposed, [2, 2, 2], lambda m, n, k, b: [(k, m), (n, k), (m, n)]),
        "batched": ("batch_matmul", "", [3, 3, 3], lambda m, n, k, b: [(b, m, k), (b, k, n), (b, m, n)]),
        "reduced": ("batch_reduce_matmul", "", [3, 3, 2], lambda m, n, k, b: [(b, m, k), (b, k, n), (m, n)]),
    }
    functions = []
    for name, (op, attributes, ranks, _) in cases.items():
        operands = [dynamic(ranks[0], "f16"), dynamic(ranks[1], "f16"), dynamic(ranks[2], "f32")]
        functions.append(function(name, operands, named(op, operands, attributes)))
    compiled = Compiled(functions, PAD)
    assert compiled.text.count("tensor.pad") == 3 * len(cases)
    for name, (_, _, _, shapes) in cases.items():
        for seed, (m, n, k, b) in enumerate(itertools.product([0, 1, 7], [1, 3, 4], [0, 1, 6], [0, 1, 3])):
            types = ("f16", "f16", "f32")
            compiled.check(
                name, [random(s, t, seed + i) for i, (s, t) in enumerate(zip(shapes(m, n, k, b), types, strict=True))]
            )


def test_quantized_matmuls() -> None:
    import ctypes

    operands = [dynamic(2, "i8"), dynamic(2, "i8"), dynamic(2, "i32")]
    batched = [dynamic(3, "i8"), dynamic(3, "i8"), dynamic(3, "i32")]
    widen = "  %za = arith.extsi %p : i8 to i32\n  %zb = arith.extsi %q : i8 to i32\n"
    functions = [
        function(
            "widened", operands, widen + named("quantized_matmul", operands, "", ["%za", "%zb"]), "%p: i8, %q: i8"
        ),
        function("same", operands, widen + named("quantized_matmul", operands, "", ["%za", "%za"]), "%p: i8, %q: i8"),
        function(
            "batched", batched, widen + named("quantized_batch_matmul", batched, "", ["%za", "%zb"]), "%p: i8, %q: i8"
        ),
    ]
    compiled = Compiled(functions, PAD)
    promised = Compiled(
        [function("wide", operands, named("quantized_matmul", operands, "", ["%p", "%q"]), "%p: i32, %q: i32")],
        PAD.replace("}", " zero-points-in-range=true}"),
    )
    for seed, (m, n, k) in enumerate(itertools.product([0, 1, 7], [1, 4], [0, 1, 6, 9])):
        a, b, c = random((m, k), "i8", seed), random((k, n), "i8", seed + 1), random((m, n), "i32", seed + 2)
        for p, q in ((0, 0), (-128, 127), (7, -3)):
            points = [ctypes.c_int8(p), ctypes.c_int8(q)]
            result = compiled.check("widened", [a, b, c], points)
            exact = (a.astype(np.int64) - p) @ (b.astype(np.int64) - q) + c
            np.testing.assert_array_equal(result, exact.astype(np.int32))
            compiled.check("same", [a, b, c], points)
            compiled.check("batched", [np.stack([x, x[::-1]]).copy() for x in (a, b, c)], points)
            promised.check("wide", [a, b, c], [ctypes.c_int32(p), ctypes.c_int32(q)])


def test_zero_points_from_elsewhere() -> None:
    """From outside the body, and in a tensor of no dimensions."""
    import ctypes

    def body(inputs: str, maps: str, arguments: str, point: str) -> str:
        return f"""
  %result = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, {maps}
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins({inputs}) outs(%t{2 + bool(maps)} : tensor<?x?xi32>) {{
  ^bb0(%x: i8, %y: i8, {arguments} %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    {point}
    %xc = arith.subi %xw, %zx : i32
    %yc = arith.subi %yw, %zx : i32
    %term = arith.muli %xc, %yc : i32
    %next = arith.addi %acc, %term : i32
    linalg.yield %next : i32
  }} -> tensor<?x?xi32>"""

    outside = [dynamic(2, "i8"), dynamic(2, "i8"), dynamic(2, "i32")]
    inside = [dynamic(2, "i8"), dynamic(2, "i8"), Operand((), "i8"), dynamic(2, "i32")]
    matrices = "tensor<?x?xi8>, tensor<?x?xi8>"
    widened = "  %zx = arith.extsi %p : i8 to i32"
    functions = [
        function("outside", outside, widened + body(f"%t0, %t1 : {matrices}", "", "", ""), "%p: i8"),
        function(
            "inside",
            inside,
            body(
                f"%t0, %t1, %t2 : {matrices}, tensor<i8>",
                "affine_map<(m, n, k) -> ()>,",
                "%z: i8,",
                "%zx = arith.extsi %z : i8 to i32",
            ),
        ),
    ]
    compiled = Compiled(functions, PAD)
    assert compiled.text.count("tensor.pad") == 6
    for seed, (m, n, k) in enumerate(itertools.product([1, 7], [1, 4], [0, 1, 6])):
        a, b, c = random((m, k), "i8", seed), random((k, n), "i8", seed + 1), random((m, n), "i32", seed + 2)
        for point in (-128, 0, 99):
            exact = (a.astype(np.int64) - point) @ (b.astype(np.int64) - point) + c
            result = compiled.check("outside", [a, b, c], [ctypes.c_int8(point)])
            np.testing.assert_array_equal(result, exact.astype(np.int32))
            result = compiled.check("inside", [a, b, np.array(point, np.int8), c])
            np.testing.assert_array_equal(result, exact.astype(np.int32))


def random_contraction(seed: int) -> tuple[list[Operand], list[tuple[int, ...]], str]:
    """Any number of dimensions of each kind, in any order of the loops and of the operands; static and dynamic sizes."""
    rng = np.random.default_rng(seed)
    kinds = {"b": rng.integers(0, 2), "m": rng.integers(1, 3), "n": rng.integers(1, 3), "k": rng.integers(1, 3)}
    loops = [f"{kind}{i}" for kind, count in kinds.items() for i in range(count)]
    sizes = {loop: int(rng.integers(0 if rng.random() < 0.1 else 1, 7)) for loop in loops}
    rng.shuffle(loops)
    accesses = [[loop for loop in loops if loop[0] in letters] for letters in ("bmk", "bkn", "bmn")]
    for access in accesses:
        rng.shuffle(access)
    dtype, term, combiner = [
        ("f32", "mulf", "addf"),
        ("i32", "addi", "maxsi"),
        ("f32", "addf", "minimumf"),
        ("i8", "muli", "xori"),
    ][seed % 4]
    operands = [Operand([None if rng.random() < 0.5 else sizes[loop] for loop in access], dtype) for access in accesses]
    shapes = [tuple(sizes[loop] for loop in access) for access in accesses]
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(access)})>" for access in accesses)
    iterators = ", ".join('"reduction"' if loop[0] == "k" else '"parallel"' for loop in loops)
    a, b, c = (shaped("tensor", o.shape, o.dtype) for o in operands)
    body = f"""
  %result = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins(%t0, %t1 : {a}, {b}) outs(%t2 : {c}) {{
  ^bb0(%x: {dtype}, %y: {dtype}, %acc: {dtype}):
    %term = arith.{term} %x, %y : {dtype}
    %next = arith.{combiner} %acc, %term : {dtype}
    linalg.yield %next : {dtype}
  }} -> {c}"""
    return operands, shapes, body


def test_random_contractions() -> None:
    cases = {f"random{seed}": random_contraction(seed) for seed in range(48)}
    compiled = Compiled([function(name, operands, body) for name, (operands, _, body) in cases.items()], PAD)
    assert compiled.text.count("tensor.pad") > 2 * len(cases)
    for seed, (name, (operands, shapes, _)) in enumerate(cases.items()):
        compiled.check(
            name, [random(shape, o.dtype, seed + i) for i, (shape, o) in enumerate(zip(shapes, operands, strict=True))]
        )


def test_operands_after_the_two_matrices() -> None:
    """Scales along m, n and k, and a zero point for each column."""
    body = """
  %result = linalg.generic {indexing_maps = [
      affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k)>,
      affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%t0, %t1, %t2, %t3 : tensor<?x?xi8>, tensor<?x?xi8>, tensor<?xi32>, tensor<?xi32>) outs(%t4 : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %scale: i32, %point: i32, %acc: i32):
    %three = arith.constant 3 : i32
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %xc = arith.subi %xw, %three : i32
    %yc = arith.subi %yw, %point : i32
    %xy = arith.muli %xc, %yc : i32
    %term = arith.muli %scale, %xy : i32
    %next = arith.addi %acc, %term : i32
    linalg.yield %next : i32
  } -> tensor<?x?xi32>"""
    operands = [dynamic(2, "i8"), dynamic(2, "i8"), dynamic(1, "i32"), dynamic(1, "i32"), dynamic(2, "i32")]
    compiled = Compiled([function("scaled", operands, body)], PAD)
    assert compiled.text.count("tensor.pad") == 5
    for seed, (m, n, k) in enumerate(itertools.product([0, 1, 7], [1, 4], [0, 1, 6])):
        shapes = [(m, k), (k, n), (k,), (n,), (m, n)]
        arrays = [random(s, o.dtype, seed + i) for i, (s, o) in enumerate(zip(shapes, operands, strict=True))]
        compiled.check("scaled", arrays)


# ---------------------------------------------------------------------------------------------------------------------
# Convolutions
# ---------------------------------------------------------------------------------------------------------------------


def window(stride: int, dilation: int, rank: int, kind: str = "tensor") -> str:
    return f"{{strides = dense<{stride}> : {kind}<{rank}xi64>, dilations = dense<{dilation}> : {kind}<{rank}xi64>}}"


def extent(result: int, size: int, stride: int, dilation: int, more: int) -> int:
    """The image's size for this many results."""
    return (result - 1) * stride + (size - 1) * dilation + 1 + more


def convolutions() -> dict[str, tuple[str, list[Operand], str, list[str]]]:
    """name -> (op, operands, attributes, scalars), with windows of 3x2."""
    cases: dict[str, tuple[str, list[Operand], str, list[str]]] = {}
    for stride, dilation, more in ((1, 1, 0), (1, 1, 3), (2, 1, 1), (1, 2, 0), (3, 2, 0)):
        h, w = extent(5, 3, stride, dilation, more), extent(6, 2, stride, dilation, more)
        tag = f"s{stride}d{dilation}m{more}"
        attributes = window(stride, dilation, 2)
        n, c, f, g = 2, 3, 4, 3
        shapes: dict[str, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {
            "conv_2d_nhwc_hwcf": ((n, h, w, c), (3, 2, c, f), (n, 5, 6, f)),
            "conv_2d_nhwc_fhwc": ((n, h, w, c), (f, 3, 2, c), (n, 5, 6, f)),
            "conv_2d_nchw_fchw": ((n, c, h, w), (f, c, 3, 2), (n, f, 5, 6)),
            "conv_2d_ngchw_fgchw": ((n, g, c, h, w), (f, g, c, 3, 2), (n, g, f, 5, 6)),
            "conv_2d_ngchw_gfchw": ((n, g, c, h, w), (g, f, c, 3, 2), (n, g, f, 5, 6)),
            "conv_2d_nhwgc_gfhwc": ((n, h, w, g, c), (g, f, 3, 2, c), (n, 5, 6, g, f)),
        }
        for op, (image, kernel, result) in shapes.items():
            cases[f"{op}_{tag}"] = (
                op,
                [Operand(image, "f32"), Operand(kernel, "f32"), Operand(result, "f32")],
                attributes,
                [],
            )
            if op == "conv_2d_ngchw_fgchw":
                continue  # has no quantized form
            cases[f"{op}_q_{tag}"] = (
                f"{op}_q",
                [Operand(image, "i8"), Operand(kernel, "i8"), Operand(result, "i32")],
                attributes,
                ["%za", "%zb"],
            )
    one, three = window(2, 1, 1), window(1, 2, 3)
    line, cube = extent(6, 2, 2, 1, 0), [extent(s, 2, 1, 2, 0) for s in (2, 3, 4)]
    cases["conv_1d_nwc_wcf"] = (
        "conv_1d_nwc_wcf",
        [Operand((2, line, 3), "f32"), Operand((2, 3, 4), "f32"), Operand((2, 6, 4), "f32")],
        one,
        [],
    )
    cases["conv_1d_ncw_fcw"] = (
        "conv_1d_ncw_fcw",
        [Operand((2, 3, line), "f32"), Operand((4, 3, 2), "f32"), Operand((2, 4, 6), "f32")],
        one,
        [],
    )
    cases["conv_3d_ndhwc_dhwcf"] = (
        "conv_3d_ndhwc_dhwcf",
        [Operand((1, *cube, 3), "f32"), Operand((2, 2, 2, 3, 4), "f32"), Operand((1, 2, 3, 4, 4), "f32")],
        three,
        [],
    )
    cases["conv_3d_ncdhw_fcdhw"] = (
        "conv_3d_ncdhw_fcdhw",
        [Operand((1, 3, *cube), "f32"), Operand((4, 3, 2, 2, 2), "f32"), Operand((1, 4, 2, 3, 4), "f32")],
        three,
        [],
    )
    return cases


CONVOLUTIONS = convolutions()


def convolution_functions(dynamic_sizes: bool) -> list[str]:
    functions = []
    for name, (op, operands, attributes, scalars) in CONVOLUTIONS.items():
        if dynamic_sizes:
            operands = [dynamic(len(o.shape), o.dtype) for o in operands]
        points = "  %za = arith.extsi %p : i8 to i32\n  %zb = arith.extsi %q : i8 to i32\n" if scalars else ""
        functions.append(
            function(
                name, operands, points + named(op, operands, attributes, scalars), "%p: i8, %q: i8" if scalars else ""
            )
        )
    return functions


def check_convolutions(compiled: Compiled) -> None:
    import ctypes

    for name, (_, operands, _, scalars) in CONVOLUTIONS.items():
        arrays = [random([s or 0 for s in o.shape], o.dtype, i) for i, o in enumerate(operands)]
        compiled.check(name, arrays, [ctypes.c_int8(-9), ctypes.c_int8(100)] if scalars else [])


@pytest.mark.grid(2, cover=False)
@pytest.mark.parametrize("dynamic_sizes", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "passes",
    [
        "smalti-pad-to-intrinsics{m=4 n=3 k=5 strict=true max-waste=1000}",
        "smalti-conv-filter-layout{strict=true min-uses=1}",
        "smalti-conv-filter-layout{filter-layout=hwfc strict=true min-uses=1}",
        "smalti-conv-filter-layout{strict=true min-uses=1},smalti-pad-to-intrinsics{m=4 n=3 k=5 strict=true max-waste=1000}",
    ],
    ids=["padded", "fhwc", "hwfc", "fhwc-padded"],
)
def test_convolutions(passes: str, dynamic_sizes: bool) -> None:
    compiled = Compiled(convolution_functions(dynamic_sizes), passes)
    if "pad" in passes:
        assert compiled.text.count("tensor.pad") >= 2 * len(CONVOLUTIONS)
    else:
        there = sum("fhwc" in name if "hwfc" not in passes else False for name in CONVOLUTIONS)
        assert compiled.text.count("linalg.transpose") == len(CONVOLUTIONS) - there
    check_convolutions(compiled)


def test_pads_made_vectors() -> None:
    """The pads of matmuls of static size, as masked transfers, low pads of the caller's among them.

    Upstream's bufferization has no negative pads; execute.mlir tests them.
    """
    functions, cases = [], {}
    for seed, (low, high, dtype) in enumerate(itertools.product([0, 2], [0, 3], ["f32", "i8"])):
        m, n, k = 5, 7, 6
        name = f"vectors{seed}"
        operands = [Operand((m, k), dtype), Operand((k + low + high, n), dtype), Operand((m, n), dtype)]
        inner = shaped("tensor", (m, k + low + high), dtype)
        number = "7" if dtype == "i8" else "0.25"
        body = f"""
  %value = arith.constant {number} : {dtype}
  %padded = tensor.pad %t0 low[0, {low}] high[0, {high}] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %value : {dtype}
  }} : {shaped("tensor", (m, k), dtype)} to {inner}
  %result = linalg.matmul ins(%padded, %t1 : {inner}, {shaped("tensor", (k + low + high, n), dtype)})
    outs(%t2 : {shaped("tensor", (m, n), dtype)}) -> {shaped("tensor", (m, n), dtype)}"""
        functions.append(function(name, operands, body))
        cases[name] = [random([s or 0 for s in o.shape], dtype, seed + i) for i, o in enumerate(operands)]
    compiled = Compiled(functions, f"{PAD},smalti-lower-pad{{strict=true}}")
    assert "tensor.pad" not in compiled.text and "vector.transfer_read" in compiled.text
    for name, arrays in cases.items():
        compiled.check(name, arrays)


def test_convolution_in_numbers() -> None:
    """A check of the plain op: a filter with one nonzero element shifts the image."""
    name = "conv_2d_nhwc_hwcf_s1d1m3"
    op, operands, attributes, _ = CONVOLUTIONS[name]
    compiled = Compiled([function(name, operands, named(op, operands, attributes))], PAD)
    image = np.random.default_rng(0).standard_normal([s or 0 for s in operands[0].shape]).astype(np.float32)
    kernel = np.zeros([s or 0 for s in operands[1].shape], np.float32)
    kernel[2, 1, 1, 3] = 1.0
    result = compiled.check(name, [image, kernel, np.zeros([s or 0 for s in operands[2].shape], np.float32)])
    np.testing.assert_array_equal(result[..., 3], image[:, 2:7, 1:7, 1])
    np.testing.assert_array_equal(result[..., :3], 0.0)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8", "i1", "i32"])
@pytest.mark.parametrize("layout", ["fhwc", "hwfc"])
def test_constant_filters(dtype: str, layout: str) -> None:
    rng = np.random.default_rng(1)
    kernel = rng.integers(0, 2 if dtype == "i1" else 100, (3, 2, 3, 4))
    number = (
        (lambda v: "true" if v else "false") if dtype == "i1" else (lambda v: f"{v}.0" if dtype[0] == "f" else f"{v}")
    )

    def literal(array: Any) -> str:
        return f"[{', '.join(map(literal, array))}]" if np.ndim(array) else number(array)

    operands = [Operand((2, 7, 7, 3), dtype), Operand((2, 5, 6, 4), dtype)]
    image, result = (shaped("tensor", o.shape, o.dtype) for o in operands)
    body = f"""
  %filter = arith.constant dense<{literal(kernel)}> : tensor<3x2x3x4x{dtype}>
  %result = linalg.conv_2d_nhwc_hwcf {window(1, 1, 2)} ins(%t0, %filter : {image}, tensor<3x2x3x4x{dtype}>)
    outs(%t1 : {result}) -> {result}"""
    passes = f"smalti-conv-filter-layout{{filter-layout={layout} strict=true}}"
    compiled = Compiled([function("constant", operands, body)], passes)
    # Elements of less than a byte are packed, and transposed at run time.
    assert ("linalg.transpose" in compiled.text) == (dtype == "i1")
    compiled.check("constant", [random([s or 0 for s in o.shape], dtype, i) for i, o in enumerate(operands)])
