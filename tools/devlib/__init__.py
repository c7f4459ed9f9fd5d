# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules of tools/dev.

They need only the standard library, because tools/dev runs before packages are installed.
"""
