# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a kernel call: arrays, scalars and tensor maps."""
