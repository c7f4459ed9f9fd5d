//===- Versions.h - Reading of other dialect versions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect reads every version up to its own. In text, it upgrades the
// properties of an op in generic form; in bytecode, it upgrades them after the
// module is read. One table lists the properties whose form differs.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H
#define SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

namespace smalti::mosaic_gpu {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Converts the properties of an op to the form of this version. Fails if they
/// contain an attribute that no version up to this one defines.
mlir::LogicalResult upgradeProperties(mlir::OperationName name,
                                      mlir::Attribute &properties,
                                      ErrorFn emitError);
/// Converts the properties of an op to the oldest equivalent form, so that
/// older readers accept the text.
mlir::Attribute downgradeProperties(mlir::OperationName name,
                                    mlir::Attribute properties);

/// MLIR's own model of an op, created before the model that wraps it.
template <typename OpTy> struct WrappedModel {
  mlir::RegisteredOperationName::Model<OpTy> model;
};

/// An op whose properties are read in the forms of all versions. MLIR's own
/// model silently drops unknown properties.
template <typename OpTy>
class VersionedOp : WrappedModel<OpTy>, public mlir::OperationName::Impl {
  using Fold = llvm::SmallVectorImpl<mlir::OpFoldResult>;
  using WrappedModel<OpTy>::model;

public:
  VersionedOp(mlir::Dialect *dialect)
      : WrappedModel<OpTy>{{dialect}},
        Impl(OpTy::getOperationName(), dialect, mlir::TypeID::get<OpTy>(),
             std::move(model.getInterfaceMap())) {}

  mlir::LogicalResult setPropertiesFromAttr(mlir::OperationName name,
                                            mlir::OpaqueProperties to,
                                            mlir::Attribute properties,
                                            ErrorFn emitError) final {
    if (failed(upgradeProperties(name, properties, emitError)))
      return mlir::failure();
    return model.setPropertiesFromAttr(name, to, properties, emitError);
  }
  mlir::Attribute getPropertiesAsAttr(mlir::Operation *op) final {
    return downgradeProperties(op->getName(), model.getPropertiesAsAttr(op));
  }

  // All other functions forward to MLIR's model.
  mlir::LogicalResult foldHook(mlir::Operation *op,
                               llvm::ArrayRef<mlir::Attribute> attributes,
                               Fold &results) final {
    return model.foldHook(op, attributes, results);
  }
  void getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                   mlir::MLIRContext *context) final {
    model.getCanonicalizationPatterns(patterns, context);
  }
  bool hasTrait(mlir::TypeID id) final { return model.hasTrait(id); }
  mlir::OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return model.getParseAssemblyFn();
  }
  void populateDefaultAttrs(const mlir::OperationName &name,
                            mlir::NamedAttrList &attributes) final {
    model.populateDefaultAttrs(name, attributes);
  }
  void printAssembly(mlir::Operation *op, mlir::OpAsmPrinter &printer,
                     llvm::StringRef defaultDialect) final {
    model.printAssembly(op, printer, defaultDialect);
  }
  mlir::LogicalResult verifyInvariants(mlir::Operation *op) final {
    return model.verifyInvariants(op);
  }
  mlir::LogicalResult verifyRegionInvariants(mlir::Operation *op) final {
    return model.verifyRegionInvariants(op);
  }
  std::optional<mlir::Attribute> getInherentAttr(mlir::Operation *op,
                                                 llvm::StringRef name) final {
    return model.getInherentAttr(op, name);
  }
  void setInherentAttr(mlir::Operation *op, mlir::StringAttr name,
                       mlir::Attribute value) final {
    model.setInherentAttr(op, name, value);
  }
  void populateInherentAttrs(mlir::Operation *op,
                             mlir::NamedAttrList &attributes) final {
    model.populateInherentAttrs(op, attributes);
  }
  mlir::LogicalResult verifyInherentAttrs(mlir::OperationName name,
                                          mlir::NamedAttrList &attributes,
                                          ErrorFn emitError) final {
    return model.verifyInherentAttrs(name, attributes, emitError);
  }
  int getOpPropertyByteSize() final { return model.getOpPropertyByteSize(); }
  void initProperties(mlir::OperationName name, mlir::OpaqueProperties storage,
                      mlir::OpaqueProperties init) final {
    model.initProperties(name, storage, init);
  }
  void deleteProperties(mlir::OpaqueProperties properties) final {
    model.deleteProperties(properties);
  }
  void populateDefaultProperties(mlir::OperationName name,
                                 mlir::OpaqueProperties properties) final {
    model.populateDefaultProperties(name, properties);
  }
  void copyProperties(mlir::OpaqueProperties to,
                      mlir::OpaqueProperties from) final {
    model.copyProperties(to, from);
  }
  bool compareProperties(mlir::OpaqueProperties a,
                         mlir::OpaqueProperties b) final {
    return model.compareProperties(a, b);
  }
  llvm::hash_code hashProperties(mlir::OpaqueProperties properties) final {
    return model.hashProperties(properties);
  }
};

/// Registers ops whose properties are read in the forms of all versions.
template <typename... OpTys> void addVersionedOps(mlir::Dialect &dialect) {
  (mlir::RegisteredOperationName::insert(
       std::make_unique<VersionedOp<OpTys>>(&dialect),
       OpTys::getAttributeNames()),
   ...);
}

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H
