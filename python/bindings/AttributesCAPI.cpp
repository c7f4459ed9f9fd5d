//===- AttributesCAPI.cpp - Attributes that upstream's bindings lack ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/SmaltiCAPI.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexAttrs.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

/// The keyword of an attribute that is one of these, or nothing.
template <class... Kinds> static StringRef keywordOf(Attribute attribute) {
  StringRef keyword;
  auto read = [&](auto kind) {
    if (kind)
      keyword = stringifyEnum(kind.getValue());
  };
  (read(dyn_cast<Kinds>(attribute)), ...);
  return keyword;
}

MlirStringRef smaltiAttributeGetKeyword(MlirAttribute attribute) {
  return wrap(keywordOf<gpu::AddressSpaceAttr, gpu::AllReduceOperationAttr,
                        gpu::BroadcastTypeAttr, gpu::DimensionAttr,
                        gpu::MMAElementwiseOpAttr, gpu::ShuffleModeAttr,
                        index::IndexCmpPredicateAttr, NVVM::MemScopeKindAttr,
                        NVVM::ProxyKindAttr, NVVM::ShflKindAttr,
                        NVVM::Tcgen05FenceKindAttr, NVVM::Tcgen05WaitKindAttr,
                        vector::CombiningKindAttr>(unwrap(attribute)));
}

bool smaltiDenseElementsGetBytes(MlirAttribute attribute,
                                 MlirStringCallback callback, void *userData) {
  auto dense = dyn_cast<DenseIntOrFPElementsAttr>(unwrap(attribute));
  if (!dense)
    return false;
  ArrayRef<char> bytes = dense.getRawData();
  callback(wrap(StringRef(bytes.data(), bytes.size())), userData);
  return true;
}
