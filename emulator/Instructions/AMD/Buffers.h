//===- Buffers.h - Buffer resources of AMD --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_AMD_BUFFERS_H
#define SMALTI_EMULATOR_INSTRUCTIONS_AMD_BUFFERS_H

#include "smalti/emulator/Instructions/Instruction.h"

namespace smalti::emulator {

/// The fields of a buffer resource.
struct Buffer {
  char *base;
  uint32_t stride;
  /// Bytes, or elements of `stride` bytes.
  uint64_t records;
  /// Its last dword.
  uint32_t flags;
};

/// How an instruction addresses a buffer: the operands that begin with the
/// resource.
enum class Addressing {
  /// Resource, offset, scalar offset.
  Raw,
  /// Resource, index, offset, scalar offset.
  Structured,
};

constexpr int addressingOperands(Addressing addressing) {
  return addressing == Addressing::Raw ? 3 : 4;
}

/// The address that an instruction names.
struct BufferAddress {
  Buffer buffer;
  Addressing addressing;
  uint64_t index, offset, scalarOffset;

  char *address() const {
    return buffer.base + scalarOffset + index * buffer.stride + offset;
  }
  /// Whether `bytes` from `first` on, of an access of `all`, are inside.
  bool contains(uint64_t first, uint64_t bytes, uint64_t all) const;
};

/// The address from the operands that begin with `first`. `extraOffset` is
/// added to the offset.
BufferAddress readBufferAddress(const Call &call, int first,
                                Addressing addressing,
                                uint64_t extraOffset = 0);

/// Reads `bytes`; dwords outside the buffer are 0.
void readBuffer(const BufferAddress &place, char *to, uint32_t bytes,
                bool isAtomic = false);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_AMD_BUFFERS_H
