# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function with a chain of N float ops before math.atan2."""

import sys

count = int(sys.argv[1])
print("func.func @chain(%v0: f32) -> f32 {")
for i in range(1, count):
    print(f"  %v{i} = arith.negf %v{i - 1} : f32")
print(f"  %x = math.absf %v{count - 1} : f32")
print("  %r = math.atan2 %x, %x : f32\n  return %r : f32\n}")
