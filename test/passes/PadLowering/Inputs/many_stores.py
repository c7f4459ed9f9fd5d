# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a padded read and its write to shared memory, with stores to other memory between them."""

import sys

stores = "  memref.store %x, %other[%c0] : memref<64xf32>\n" * int(sys.argv[1])
print(f"""func.func @stores(%source: memref<?x32xf16>, %buffer: memref<8x32xf16, #gpu.address_space<workgroup>>, %i: index, %x: f32) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %other = memref.alloc() : memref<64xf32>
  %r = vector.transfer_read %source[%i, %c0], %zero {{in_bounds = [false, true]}} : memref<?x32xf16>, vector<1x8xf16>
{stores}  vector.transfer_write %r, %buffer[%c0, %c0] {{in_bounds = [true, true]}}
    : vector<1x8xf16>, memref<8x32xf16, #gpu.address_space<workgroup>>
  return
}}""")
