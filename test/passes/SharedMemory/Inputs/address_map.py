# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enumerates the index arithmetic that smalti-swizzle-shared-memory emits, for every row and column.

Each function has an access by thread ids, for which the pass chooses a swizzle, and an access by its arguments, whose
indices are evaluated here for all elements.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
import subprocess
import sys

# Shape, element type and its bytes, elements of an access.
CASES = [
    ((128, 104), "f16", 2, 8),  # 13 chunks: upstream's XOR leaves the row
    ((128, 104), "f16", 2, 4),
    ((64, 64), "f16", 2, 8),
    ((64, 32), "f16", 2, 8),
    ((64, 64), "bf16", 2, 8),
    ((64, 64), "bf16", 2, 1),
    ((64, 96), "bf16", 2, 8),  # 12 chunks: XOR of 4, or rotation
    ((32, 32), "f32", 4, 1),
    ((64, 36), "f32", 4, 4),
    ((64, 64), "f32", 4, 4),
    ((64, 128), "i8", 1, 16),
    ((64, 80), "i8", 1, 16),
    ((64, 64), "i8", 1, 1),
    ((32, 32), "f64", 8, 1),
    ((32, 30), "f64", 8, 2),
    ((3, 64, 64), "f16", 2, 8),
    ((4, 48, 104), "f16", 2, 8),
    ((2, 3, 32, 32), "f32", 4, 4),
    ((2, 7, 24), "f32", 4, 4),
]
TARGETS = ["sm_90a", "gfx942", "gfx950"]

OPERATIONS = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "divui": operator.floordiv,
    "remui": operator.mod,
    "xori": operator.xor,
}


def source(shape: tuple[int, ...], element: str, width: int) -> str:
    memref = f"memref<{'x'.join(map(str, shape))}x{element}, #gpu.address_space<workgroup>>"
    slot = f"memref<{shape[-2]}x{shape[-1]}x{element}, strided<[{shape[-1]}, 1], offset: ?>, #gpu.address_space<workgroup>>"
    vector = f"vector<{width}x{element}>"
    leading = len(shape) - 2
    arguments = [f"%i{d}: index" for d in range(len(shape))]
    slots = ", ".join([f"%i{d}" for d in range(leading)] + ["0", "0"])
    sizes = ", ".join(["1"] * leading + [str(shape[-2]), str(shape[-1])])
    strides = ", ".join(["1"] * len(shape))
    view = f"%view = memref.subview %b[{slots}] [{sizes}] [{strides}] : {memref} to {slot}"
    used, type_used = ("%view", slot) if leading else ("%b", memref)
    return f"""
func.func @f({", ".join(arguments)}) -> ({vector}, {vector}) {{
  %zero = arith.constant 0 : index
  %width = arith.constant {width} : index
  %rows = arith.constant {shape[-2]} : index
  %lane = gpu.thread_id x
  %b = memref.alloc() : {memref}
  {view if leading else ""}
  %r = arith.remui %lane, %rows : index
  %x = vector.load {used}[%r, %zero] : {type_used}, {vector}
  %c = arith.muli %i{len(shape) - 1}, %width : index
  %y = vector.load {used}[%i{len(shape) - 2}, %c] : {type_used}, {vector}
  return %x, %y : {vector}, {vector}
}}"""


def swizzle(opt: str, text: str, target: str) -> tuple[str, str]:
    pipeline = (
        f"builtin.module(func.func(smalti-swizzle-shared-memory{{target={target} only-when-conflicts=false}},"
        "lower-affine,canonicalize,cse))"
    )
    command = [opt, "-", f"--pass-pipeline={pipeline}", "--remarks-filter=smalti-swizzle-shared-memory"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    remark = re.search(r'\[Passed\].*Remark="(.*?)"', done.stderr)
    assert remark, f"not swizzled: {done.stderr}"
    return done.stdout, remark.group(1)


def evaluate(lines: list[str], arguments: tuple[int, ...]) -> tuple[int, ...]:
    """The indices of the last access."""
    indices: tuple[int, ...] = ()
    values: dict[str, int] = {f"%arg{i}": value for i, value in enumerate(arguments)}
    for line in lines:
        if match := re.match(r"(%\S+) = arith\.constant (-?\d+) : index", line):
            values[match[1]] = int(match[2])
        elif match := re.match(r"(%\S+) = arith\.(\w+) (%\w+), (%\w+)(?: overflow<.*?>)? : index", line):
            if match[3] in values and match[4] in values:
                values[match[1]] = OPERATIONS[match[2]](values[match[3]], values[match[4]])
        elif match := re.match(r"%\S+ = vector\.load %alloc\[(.*?)\]", line):
            names = [name.strip() for name in match[1].split(",")]
            if all(name in values for name in names):
                indices = tuple(values[name] for name in names)
    return indices


def check(opt: str, shape: tuple[int, ...], element: str, size: int, width: int, target: str) -> str:
    text, remark = swizzle(opt, source(shape, element, width), target)
    lines = [line.strip() for line in text.splitlines()]
    moved = False
    positions: set[int] = set()
    grid = itertools.product(*map(range, shape[:-1]), range(shape[-1] // width))
    for index in grid:
        *outer, column = evaluate(lines, index)
        assert tuple(outer) == index[:-1], f"{shape} {remark}: row {index} goes to {outer}"
        assert 0 <= column <= shape[-1] - width, f"{shape} {remark}: {index} goes to column {column}, outside its row"
        assert column % width == 0, f"{shape} {remark}: {index} goes to column {column}, not aligned"
        moved |= column != index[-1] * width
        start = 0
        for i, length in zip((*outer, column), shape, strict=True):
            start = start * length + i
        positions.update(range(start, start + width))
    assert positions == set(range(math.prod(shape))), f"{shape} {remark}: not every element has its own position"
    assert moved, f"{shape} {remark}: nothing moved"
    return remark


def main(opt: str) -> None:
    kinds: set[str] = set()
    count = 0
    for (shape, element, size, width), target in itertools.product(CASES, TARGETS):
        remark = check(opt, shape, element, size, width, target)
        kinds.add(re.sub(r"\d+", "N", remark.split(":")[1]))
        count += 1
    # XOR and rotation, by single rows and by groups of rows, occur at least once.
    assert len(kinds) >= 3, kinds
    print(f"{count} address maps are bijections: {'; '.join(sorted(kinds))}")


if __name__ == "__main__":
    main(sys.argv[1])
