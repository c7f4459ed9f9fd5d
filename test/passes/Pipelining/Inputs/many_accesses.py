# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a loop that stores to `count` elements of a buffer and loads `count` others, all of them known."""

import sys

count = int(sys.argv[1])
lines = []
for number in range(count):
    lines.append(f"    memref.store %x, %a[%i, %w{number}] : memref<64x{2 * count}xf32>")
for number in range(count):
    lines.append(f"    %y{number} = memref.load %a[%i, %r{number}] : memref<64x{2 * count}xf32>")
    before = "%acc" if number == 0 else f"%z{number - 1}"
    lines.append(f"    %z{number} = arith.addf {before}, %y{number} : f32")
constants = "\n".join(
    f"  %{name}{number} = arith.constant {first + number} : index"
    for name, first in (("w", 0), ("r", count))
    for number in range(count)
)
body = "\n".join(lines)
print(f"""func.func @many(%a: memref<64x{2 * count}xf32>, %x: f32) -> f32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
{constants}
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %x) -> f32 {{
{body}
    scf.yield %z{count - 1} : f32
  }}
  return %sum : f32
}}""")
