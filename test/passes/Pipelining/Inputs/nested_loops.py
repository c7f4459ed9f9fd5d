# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A nest of loops, each with a read and a write, with the number of loops as argument."""

import sys

depth = int(sys.argv[1])
MEMORY = "memref<1024x64xf32>"
print(f"func.func @nest(%from: {MEMORY} {{llvm.noalias}}, %to: {MEMORY} {{llvm.noalias}}) {{")
print("  %c0 = arith.constant 0 : index")
print("  %c1 = arith.constant 1 : index")
print("  %c64 = arith.constant 64 : index")
for loop in range(depth):
    print(f"  scf.for %i{loop} = %c0 to %c64 step %c1 {{")
    print(f"    %row{loop} = vector.load %from[%i{loop}, %c0] : {MEMORY}, vector<4xf32>")
    print(f"    vector.store %row{loop}, %to[%i{loop}, %c0] : {MEMORY}, vector<4xf32>")
print("  }\n" * depth + "  return\n}")
