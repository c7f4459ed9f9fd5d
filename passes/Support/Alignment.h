//===- Alignment.h - Alignment of shared memory -----------------*- C++ -*-===//

#ifndef SMALTI_PASSES_SUPPORT_ALIGNMENT_H
#define SMALTI_PASSES_SUPPORT_ALIGNMENT_H

#include <cstdint>

namespace smalti {

/// Every buffer in shared memory has at least this alignment, in bytes: wide
/// accesses and copies of 16 bytes need it.
inline constexpr int64_t kSharedMemoryAlignment = 16;

} // namespace smalti

#endif // SMALTI_PASSES_SUPPORT_ALIGNMENT_H
