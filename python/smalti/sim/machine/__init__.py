# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulated machine: blocks, memory, barriers, asynchronous engines, and findings."""
