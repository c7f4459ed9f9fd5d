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
    splits: int = 1,
    columns_of_c: bool = False,
) -> str:
    """C += A * B, or C = A * B where `start` is "zero"; C can be of another type `result` then. Sums are f32, of i8 i32.
    An array is column-major where `columns_of_` of it is set, and row-major elsewhere. With `splits`, which
    requires `start` "zero" and row-major order, C is that many matrices: partial sums, each over a part of the columns of A."""
    (m, n, k), (tm, tn, tk) = shape, tile
    total = "i32" if dtype == "i8" else "f32"
    result = result or total
    assert (result == total and splits == 1) or start == "zero"
    of_a = f"memref<{m}x{k}x{dtype}" + (f", strided<[1, {m}]>>" if columns_of_a else ">")
    of_b = f"memref<{k}x{n}x{dtype}" + (f", strided<[1, {k}]>>" if columns_of_b else ">")
    rounded = f"%r = arith.truncf %sum : tensor<{tm}x{tn}x{total}> to tensor<{tm}x{tn}x{result}>"
    name, rounding = ("%sum", "") if result == total else ("%r", rounded)
    columns = -(-n // tn)
    tiles = -(-m // tm) * columns
    index, first_column, last_column = "%tile", "%c0", "%depth"
    of_c = f"memref<{m}x{n}x{result}" + (f", strided<[1, {m}]>>" if columns_of_c else ">")
    corner, window, strides = "%row, %column", f"{tm}, {tn}", "1, 1"
    part = ""
    if splits > 1:
        index, first_column, last_column = "%index", "%start", "%end"
        of_c, corner = f"memref<{splits}x{m}x{n}x{result}>", "%part, %row, %column"
        window, strides = f"1, {window}", f"1, {strides}"
        part = f"""
  %tiles = arith.constant {tiles} : index
  %length = arith.constant {-(-k // (splits * tk)) * tk} : index
  %part = arith.divui %tile, %tiles : index
  %index = arith.remui %tile, %tiles : index
  %start = arith.muli %part, %length : index
  %next_start = arith.addi %start, %length : index
  %end = arith.minui %next_start, %depth : index"""
    first = {
        "window": f"triton_xla.extract %c[%row, %column] [{tm}, {tn}] [1, 1] : {of_c} to tensor<{tm}x{tn}x{total}>",
        "zero": f"arith.constant dense<{'0' if total == 'i32' else '0.0'}> : tensor<{tm}x{tn}x{total}>",
    }[start]
    return f"""
triton_xla.entry_func @matmul(%a: {of_a}, %b: {of_b}, %c: {of_c},
                              %tile: index) tiles {tiles * splits} {{
  %c0 = arith.constant 0 : index
  %columns = arith.constant {columns} : index
  %tm = arith.constant {tm} : index
  %tn = arith.constant {tn} : index
  %tk = arith.constant {tk} : index
  %depth = arith.constant {k} : index{part}
  %i = arith.divui {index}, %columns : index
  %j = arith.remui {index}, %columns : index
  %row = arith.muli %i, %tm : index
  %column = arith.muli %j, %tn : index
  %first = {first}
  %sum = scf.for %p = {first_column} to {last_column} step %tk iter_args(%acc = %first) -> (tensor<{tm}x{tn}x{total}>) {{
    %at = triton_xla.extract %a[%row, %p] [{tm}, {tk}] [1, 1] : {of_a} to tensor<{tm}x{tk}x{dtype}>
    %bt = triton_xla.extract %b[%p, %column] [{tk}, {tn}] [1, 1] : {of_b} to tensor<{tk}x{tn}x{dtype}>
    %next = triton_xla.dot %at, %bt, %acc {words}
        : tensor<{tm}x{tk}x{dtype}>, tensor<{tk}x{tn}x{dtype}> -> tensor<{tm}x{tn}x{total}>
    scf.yield %next : tensor<{tm}x{tn}x{total}>
  }}
  {rounding}
  triton_xla.insert {name} into %c[{corner}] [{window}] [{strides}] : tensor<{tm}x{tn}x{result}> into {of_c}
  triton_xla.return
}}
"""
