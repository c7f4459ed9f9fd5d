# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm.wmma` against numpy. The distribution of elements is unspecified, so elements only meet those of the same lane."""

from __future__ import annotations

import numpy as np
import pytest
from smalti import sim

KINDS = {
    "f16": ("f16", np.float16, 8, "vector<2xf16>"),
    "tf32": ("f32", np.float32, 4, "i32"),
    "s8": ("i8", np.int8, 2, "i32"),
    "u8": ("i8", np.int8, 2, "i32"),
}
SUMS = {
    "f32": ("f32", np.float32, 8, "f32"),
    "f16": ("f16", np.float16, 4, "vector<2xf16>"),
    "s32": ("i32", np.int32, 8, "i32"),
}


def program(m: int, n: int, k: int, kind: str, sums: str, layouts: tuple[str, str], fill: str = "") -> str:
    """D = A B + C, twice C if `fill` is given, through pointers to global and to shared memory."""
    element, _, of_a, register = KINDS[kind]
    of_b = of_a
    if kind in ("s8", "u8"):
        of_a, of_b = (max(1, rows * k // 128) for rows in (m, n))
    out, _, count, into = SUMS[sums]
    shapes = {"a": (m, k) if layouts[0] == "row" else (k, m), "b": (k, n) if layouts[1] == "row" else (n, k)}
    a, b, c = (
        f"!llvm.struct<({', '.join([of] * n)})>" for of, n in ((register, of_a), (register, of_b), (into, count))
    )
    stride = {name: shape[1] for name, shape in shapes.items()}
    memory = {name: f"memref<{shape[0]}x{shape[1]}x{element}>" for name, shape in shapes.items()}
    lines = []
    for name, values, of, layout in (("a", a, "a", layouts[0]), ("b", b, "b", layouts[1]), ("c", c, "c", "row")):
        lines.append(f"""
    %{name}_index = memref.extract_aligned_pointer_as_index %{name} : {memory.get(name, f"memref<{m}x{n}x{out}>")} -> index
    %{name}_number = arith.index_cast %{name}_index : index to i64
    %{name}_at = llvm.inttoptr %{name}_number : i64 to !llvm.ptr
    %{name}_stride = arith.constant {stride.get(name, n)} : i32
    %{name}_all = nvvm.wmma.load %{name}_at, %{name}_stride {{eltype = #nvvm.mma_type<{kind if name != "c" else sums}>,
      frag = #nvvm.mma_frag<{of}>, k = {k} : i32, layout = #nvvm.mma_layout<{layout}>, m = {m} : i32, n = {n} : i32}}
      : (!llvm.ptr) -> {values}""")
    registers = []
    for name, values, size in (("a", a, of_a), ("b", b, of_b), ("c", c, count)):
        for i in range(size):
            lines.append(f"    %{name}{i} = llvm.extractvalue %{name}_all[{i}] : {values}")
            value = f"%{name}{i}"
            if fill and name == "c":
                lines.append(f"    %d{name}{i} = arith.add{'i' if sums == 's32' else 'f'} {value}, {value} : {into}")
                value = f"%d{name}{i}"
            registers.append(value)
    types = ", ".join([register] * (of_a + of_b) + [into] * count)
    lines.append(f"""
    %d = nvvm.wmma.mma {", ".join(registers)} {{eltypeA = #nvvm.mma_type<{kind}>, eltypeB = #nvvm.mma_type<{sums}>,
      k = {k} : i32, layoutA = #nvvm.mma_layout<{layouts[0]}>, layoutB = #nvvm.mma_layout<{layouts[1]}>,
      m = {m} : i32, n = {n} : i32}} : ({types}) -> {c}
    %s = memref.alloc() : memref<{m}x{n}x{out}, 3>
    %s_index = memref.extract_aligned_pointer_as_index %s : memref<{m}x{n}x{out}, 3> -> index
    %s_number = arith.index_cast %s_index : index to i32
    %s_at = llvm.inttoptr %s_number : i32 to !llvm.ptr<3>""")
    results = [f"%r{i}" for i in range(count)]
    lines += [f"    {result} = llvm.extractvalue %d[{i}] : {c}" for i, result in enumerate(results)]
    lines.append(f"""
    nvvm.wmma.store %s_at, %c_stride, {", ".join(results)} {{eltype = #nvvm.mma_type<{sums}>, k = {k} : i32,
      layout = #nvvm.mma_layout<row>, m = {m} : i32, n = {n} : i32}} : !llvm.ptr<3>, {", ".join([into] * count)}
    BARRIER
    %zero = arith.constant 0 : index
    %t = gpu.thread_id x
    %size = arith.constant 32 : index
    %total = arith.constant {m * n} : index
    scf.for %i = %t to %total step %size {{
      %row, %column = affine.delinearize_index %i into ({m}, {n}) : index, index
      %v = memref.load %s[%row, %column] : memref<{m}x{n}x{out}, 3>
      memref.store %v, %c[%row, %column] : memref<{m}x{n}x{out}>
    }}""")
    text = "\n".join(lines)
    return f"""gpu.module @m {{
  gpu.func @k(%a: {memory["a"]}, %b: {memory["b"]}, %c: memref<{m}x{n}x{out}>) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{{text}
    gpu.return
  }}
}}"""


CASES = [
    (16, 16, 16, "f16", "f32", ("row", "col")),
    (32, 8, 16, "f16", "f16", ("col", "row")),
    (8, 32, 16, "f16", "f32", ("row", "row")),
    (16, 16, 8, "tf32", "f32", ("row", "row")),
    (16, 16, 16, "s8", "s32", ("row", "col")),
    (32, 8, 16, "u8", "s32", ("row", "col")),
]


def arguments(m: int, n: int, k: int, kind: str, sums: str, layouts: tuple[str, str]) -> list[np.ndarray]:
    rng = np.random.default_rng(m + k)
    found = []
    for shape, turned in (((m, k), layouts[0] == "col"), ((k, n), layouts[1] == "col")):
        dtype = KINDS[kind][1]
        values = rng.integers(-128, 128, shape) if dtype is np.int8 else rng.integers(-64, 64, shape) / 16
        found.append(np.ascontiguousarray(values.astype(dtype).T if turned else values.astype(dtype)))
    return [*found, rng.integers(-99, 99, (m, n)).astype(SUMS[sums][1])]


@pytest.mark.parametrize(("m", "n", "k", "kind", "sums", "layouts"), CASES)
def test_matmuls(m: int, n: int, k: int, kind: str, sums: str, layouts: tuple[str, str]) -> None:
    a, b, c = arguments(m, n, k, kind, sums, layouts)
    start = c.astype(np.float64)
    fill = "twice" if kind != "u8" else ""
    sim.simulate(program(m, n, k, kind, sums, layouts, fill).replace("BARRIER", "gpu.barrier"), "sim:sm_80")(a, b, c)
    left, right = (x.view(np.uint8) if kind == "u8" else x for x in (a, b))
    left, right = (x.T if layout == "col" else x for x, layout in zip((left, right), layouts, strict=True))
    wanted = left.astype(np.float64) @ right.astype(np.float64) + start * (2 if fill else 1)
    assert (c == wanted.astype(c.dtype)).all()


def test_stores_of_matrices_are_checked() -> None:
    case = CASES[0]
    found = sim.simulate(program(*case).replace("BARRIER", ""), "sim:sm_80").find(*arguments(*case))
    assert {finding.kind for finding in found} == {"race"}
    assert any("wmma.store" in finding.message for finding in found)
