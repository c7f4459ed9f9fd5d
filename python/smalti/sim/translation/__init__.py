# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of module ops to a program for the machine, and binding of arguments."""
