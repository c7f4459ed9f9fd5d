# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a program to the code of a chip: passes, pipelines, code generation, assemblers."""
