//===- Versions.h - Forms of other versions of the dialect ----------------===//
//
// The dialect reads the forms of every version up to its own: in text, where
// the generic form of an op is read with its properties, and in bytecode, after
// all of it was read. One table holds what an op's properties were before.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H
#define SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

namespace smalti::mosaic_gpu {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Brings the properties of an op into this version's form. Fails where they
/// hold an attribute that no version up to this one has.
mlir::LogicalResult upgradeProperties(mlir::OperationName name,
                                      mlir::Attribute &properties,
                                      ErrorFn emitError);
/// Brings the properties of an op into the oldest form that says the same, for
/// text that older readers take too.
mlir::Attribute downgradeProperties(mlir::OperationName name,
                                    mlir::Attribute properties);

/// MLIR's own model of an op, made before the one that wraps it.
template <typename OpTy> struct WrappedModel {
  mlir::RegisteredOperationName::Model<OpTy> model;
};

/// An op whose properties are read in the forms of all versions. MLIR's own
/// model drops what it does not know.
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

  // Everything else is as in MLIR's model.
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

/// Registers ops that read the forms of all versions.
template <typename... OpTys> void addVersionedOps(mlir::Dialect &dialect) {
  (mlir::RegisteredOperationName::insert(
       std::make_unique<VersionedOp<OpTys>>(&dialect),
       OpTys::getAttributeNames()),
   ...);
}

} // namespace smalti::mosaic_gpu

#endif // SMALTI_DIALECTS_MOSAICGPU_VERSIONS_H
