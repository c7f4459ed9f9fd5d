# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a kernel whose threads write their own element of `count` different rows, and read `read` rows after a
barrier."""

import sys

count = int(sys.argv[1])
read = int(sys.argv[2]) if len(sys.argv) > 2 else count
lines = []
for row in range(count):
    lines.append(f"    %c{row} = arith.constant {row * 32} : index")
    lines.append(f"    %i{row} = arith.addi %t, %c{row} : index")
    lines.append(f"    memref.store %x, %s[%i{row}] : memref<{count * 32}xf32, #gpu.address_space<workgroup>>")
lines.append("    gpu.barrier")
for row in range(read):
    lines.append(f"    %y{row} = memref.load %s[%i{row}] : memref<{count * 32}xf32, #gpu.address_space<workgroup>>")
    lines.append(f"    memref.store %y{row}, %out[%t] : memref<32xf32>")
body = "\n".join(lines)
print(f"""gpu.module @m {{
  gpu.func @rows(%out: memref<32xf32>, %x: f32) workgroup(%s: memref<{count * 32}xf32, #gpu.address_space<workgroup>>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %t = gpu.thread_id x
{body}
    gpu.return
  }}
}}""")
