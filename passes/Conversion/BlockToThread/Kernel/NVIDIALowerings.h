//===- NVIDIALowerings.h - Lowerings for NVIDIA GPUs only -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_NVIDIALOWERINGS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_NVIDIALOWERINGS_H

namespace smalti::block_to_thread {

class OpLowerings;

// One function per file. They replace common lowerings of the same ops.
void registerNVIDIAConversions(OpLowerings &lowerings);
/// For chips without TMA, instead of TMA copies.
void registerThreadCopies(OpLowerings &lowerings);

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_NVIDIALOWERINGS_H
