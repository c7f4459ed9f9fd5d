//===- MosaicGPU.cpp - The mosaic_gpu dialect -----------------------------===//

#include "dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

#include "dialects/MosaicGPU/MosaicGPUDialect.cpp.inc"
#include "dialects/MosaicGPU/MosaicGPUEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"

void MosaicGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/MosaicGPU/MosaicGPUOps.cpp.inc"
      >();
}

void MosaicGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/MosaicGPU/MosaicGPUAttrs.cpp.inc"
      >();
}

void MosaicGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/MosaicGPU/MosaicGPUTypes.cpp.inc"
      >();
}

Attribute TiledLayoutAttr::parse(AsmParser &parser, Type) { return {}; }
void TiledLayoutAttr::print(AsmPrinter &printer) const {}

LogicalResult SliceSMEMOp::verify() { return success(); }
LogicalResult VectorLoadOp::verify() { return success(); }
LogicalResult VectorStoreOp::verify() { return success(); }
LogicalResult LayoutCastOp::verify() { return success(); }
LogicalResult AsyncCopyOp::verify() { return success(); }
LogicalResult MMAOp::verify() { return success(); }
LogicalResult ArriveOp::verify() { return success(); }
LogicalResult ArriveExpectTxOp::verify() { return success(); }
LogicalResult WaitOp::verify() { return success(); }
