# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that multiply matrices, of any sizes, tiles and types: for the tests and the benchmarks."""

from __future__ import annotations


def matmul(
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
    dtype: str = "f16",
    words: str = "",
    start: str = "window",
    result: str = "",
    columns_of_b: bool = False,
    columns_of_a: bool = False,
) -> str:
    """C += A * B, or C = A * B where `start` is "zero"; C can be of another type `result` then. Sums are f32, of i8 i32.
    A and B are column-major where `columns_of_a` and `columns_of_b` are set, and row-major elsewhere."""
    (m, n, k), (tm, tn, tk) = shape, tile
    total = "i32" if dtype == "i8" else "f32"
    result = result or total
    assert result == total or start == "zero"
    of_a = f"memref<{m}x{k}x{dtype}" + (f", strided<[1, {m}]>>" if columns_of_a else ">")
    of_b = f"memref<{k}x{n}x{dtype}" + (f", strided<[1, {k}]>>" if columns_of_b else ">")
    rounded = f"%r = arith.truncf %sum : tensor<{tm}x{tn}x{total}> to tensor<{tm}x{tn}x{result}>"
    name, rounding = ("%sum", "") if result == total else ("%r", rounded)
    columns = -(-n // tn)
    first = {
        "window": f"triton_xla.extract %c[%row, %column] [{tm}, {tn}] [1, 1] : memref<{m}x{n}x{total}> to tensor<{tm}x{tn}x{total}>",
        "zero": f"arith.constant dense<{'0' if total == 'i32' else '0.0'}> : tensor<{tm}x{tn}x{total}>",
    }[start]
    return f"""
triton_xla.entry_func @matmul(%a: {of_a}, %b: {of_b}, %c: memref<{m}x{n}x{result}>,
                              %tile: index) tiles {-(-m // tm) * columns} {{
  %c0 = arith.constant 0 : index
  %columns = arith.constant {columns} : index
  %tm = arith.constant {tm} : index
  %tn = arith.constant {tn} : index
  %tk = arith.constant {tk} : index
  %depth = arith.constant {k} : index
  %i = arith.divui %tile, %columns : index
  %j = arith.remui %tile, %columns : index
  %row = arith.muli %i, %tm : index
  %column = arith.muli %j, %tn : index
  %first = {first}
  %sum = scf.for %p = %c0 to %depth step %tk iter_args(%acc = %first) -> (tensor<{tm}x{tn}x{total}>) {{
    %at = triton_xla.extract %a[%row, %p] [{tm}, {tk}] [1, 1] : {of_a} to tensor<{tm}x{tk}x{dtype}>
    %bt = triton_xla.extract %b[%p, %column] [{tk}, {tn}] [1, 1] : {of_b} to tensor<{tk}x{tn}x{dtype}>
    %next = triton_xla.dot %at, %bt, %acc {words}
        : tensor<{tm}x{tk}x{dtype}>, tensor<{tk}x{tn}x{dtype}> -> tensor<{tm}x{tn}x{total}>
    scf.yield %next : tensor<{tm}x{tn}x{total}>
  }}
  {rounding}
  triton_xla.insert {name} into %c[%row, %column] [{tm}, {tn}] [1, 1] : tensor<{tm}x{tn}x{result}> into memref<{m}x{n}x{result}>
  triton_xla.return
}}
"""
