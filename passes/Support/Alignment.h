//===- Alignment.h - Alignment of shared memory -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SUPPORT_ALIGNMENT_H
#define SMALTI_PASSES_SUPPORT_ALIGNMENT_H

#include <cstdint>

namespace smalti {

/// Minimum alignment of a buffer in shared memory, in bytes. Wide accesses and
/// 16-byte copies require it.
inline constexpr int64_t kSharedMemoryAlignment = 16;

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ALIGNMENT_H
