# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a kernel in which each thread stores and reads the given number of its own elements, and one of them after a
barrier."""

import sys

count = int(sys.argv[1])
shared = f"memref<{count}x64xf32, #gpu.address_space<workgroup>>"
out = "memref<64xf32>"
print("gpu.module @kernels {")
print(f"  gpu.func @k(%value: f32, %out: {out}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{")
print(f"    %thread = gpu.thread_id x\n    %buffer = memref.alloc() : {shared}")
for row in range(count):
    print(f"    %row{row} = arith.constant {row} : index")
    print(f"    memref.store %value, %buffer[%row{row}, %thread] : {shared}")
    print(f"    %read{row} = memref.load %buffer[%row{row}, %thread] : {shared}")
print("    gpu.barrier")
print(f"    %own = memref.load %buffer[%row0, %thread] : {shared}")
print(f"    memref.store %own, %out[%thread] : {out}\n    gpu.return\n  }}\n}}")
