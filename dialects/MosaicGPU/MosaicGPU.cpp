//===- MosaicGPU.cpp - The mosaic_gpu dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

#include "smalti/dialects/MosaicGPU/MosaicGPUDialect.cpp.inc"

void MosaicGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerBytecode();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool smalti::mosaic_gpu::hasBlockLevelOps(Operation *op) {
  if (op->hasAttr(kThreadGroupSize))
    return true;
  return op
      ->walk([](Operation *inner) {
        bool isBlockLevel =
            isa_and_nonnull<MosaicGPUDialect>(inner->getDialect()) ||
            inner->hasAttr(kInLayouts) || inner->hasAttr(kOutLayouts);
        return isBlockLevel ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool smalti::mosaic_gpu::isSharedMemory(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

bool smalti::mosaic_gpu::isGlobalMemory(MemRefType type) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  return !type.getMemorySpace() ||
         (space && space.getValue() == gpu::AddressSpace::Global);
}

bool smalti::mosaic_gpu::isTensorMemory(MemRefType type) {
  return isa_and_nonnull<TmemAttr>(type.getMemorySpace());
}

bool smalti::mosaic_gpu::isClusterMemory(MemRefType type) {
  return isa_and_nonnull<SmemClusterAttr>(type.getMemorySpace());
}
