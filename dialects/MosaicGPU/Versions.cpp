//===- Versions.cpp - Reading of other dialect versions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/dialects/MosaicGPU/Versions.h"

#include "smalti/dialects/MosaicGPU/MosaicGPU.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smalti::mosaic_gpu;

//===----------------------------------------------------------------------===//
// Table of forms
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kOperandSegments = "operandSegmentSizes";
static constexpr StringLiteral kResultSegments = "resultSegmentSizes";

/// Converts the number of an alias from i64 (version 2) to i32.
static Attribute narrowAlias(Attribute number) {
  auto integer = dyn_cast<IntegerAttr>(number);
  if (!integer || !integer.getType().isSignlessInteger(64) ||
      !llvm::isInt<32>(integer.getInt()))
    return number;
  return IntegerAttr::get(IntegerType::get(number.getContext(), 32),
                          integer.getInt());
}

/// Adds the operand segment of the peer, which version 1 does not have.
static Attribute addPeerSegment(Attribute segments) {
  auto sizes = dyn_cast<DenseI32ArrayAttr>(segments);
  if (!sizes || sizes.size() != 5)
    return segments;
  SmallVector<int32_t> newSizes(sizes.asArrayRef());
  newSizes.push_back(0);
  return DenseI32ArrayAttr::get(segments.getContext(), newSizes);
}

/// Removes the operand segment of the peer if it is empty.
static Attribute removePeerSegment(Attribute segments) {
  auto sizes = dyn_cast<DenseI32ArrayAttr>(segments);
  if (!sizes || sizes.size() != 6 || sizes.asArrayRef().back() != 0)
    return segments;
  return DenseI32ArrayAttr::get(segments.getContext(),
                                sizes.asArrayRef().drop_back());
}

namespace {
/// A property whose form differs between versions.
struct Form {
  StringLiteral op;
  StringLiteral property;
  /// Converts the form of any version to this one; other attributes are not
  /// changed.
  Attribute (*upgrade)(Attribute);
  /// Converts the form of this version to the oldest equivalent one; null if
  /// they are the same.
  Attribute (*downgrade)(Attribute);
};
} // namespace

static constexpr Form kForms[] = {
    {"mosaic_gpu.async_load", kOperandSegments, addPeerSegment,
     removePeerSegment},
    {"mosaic_gpu.slice_smem", "alias_id", narrowAlias, nullptr},
    {"mosaic_gpu.slice_tmem", "alias_id", narrowAlias, nullptr},
};

/// Replaces the properties that the table lists for this op.
static DictionaryAttr convert(OperationName name, DictionaryAttr properties,
                              Attribute (*Form::*conversion)(Attribute)) {
  for (const Form &form : kForms) {
    if (form.op != name.getStringRef() || !(form.*conversion))
      continue;
    Attribute value = properties.get(form.property);
    if (!value)
      continue;
    NamedAttrList list(properties);
    list.set(form.property, (form.*conversion)(value));
    properties = list.getDictionary(properties.getContext());
  }
  return properties;
}

LogicalResult smalti::mosaic_gpu::upgradeProperties(OperationName name,
                                                    Attribute &properties,
                                                    ErrorFn emitError) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(properties);
  if (!dictionary)
    return success(); // The op's own reader reports the error.
  for (NamedAttribute property : dictionary) {
    if (llvm::is_contained(name.getAttributeNames(), property.getName()) ||
        property.getName() == kOperandSegments ||
        property.getName() == kResultSegments)
      continue;
    if (emitError)
      emitError()
          << "version " << MosaicGPUDialect::kVersion
          << " of the mosaic_gpu dialect does not define the attribute '"
          << property.getName().strref() << "' of '" << name
          << "'; remove the attribute, or use a newer Smalti";
    return failure();
  }
  properties = convert(name, dictionary, &Form::upgrade);
  return success();
}

Attribute smalti::mosaic_gpu::downgradeProperties(OperationName name,
                                                  Attribute properties) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(properties);
  if (!dictionary)
    return properties;
  return convert(name, dictionary, &Form::downgrade);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult refuseOp(OpAsmParser &parser, OperationState &state) {
  return parser.emitError(parser.getNameLoc())
         << "version " << MosaicGPUDialect::kVersion
         << " of the mosaic_gpu dialect does not define the op '" << state.name
         << "'; correct the name, or use a newer Smalti";
}

std::optional<Dialect::ParseOpHook>
MosaicGPUDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseOp);
}

static LogicalResult refuseAttribute(Operation *op, StringRef name,
                                     const Twine &where,
                                     ArrayRef<StringLiteral> known) {
  return op->emitOpError() << "has the unknown attribute '" << name << "'"
                           << where << "; known are "
                           << llvm::join(known, ", ");
}

LogicalResult MosaicGPUDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  if (attribute.getName() == kKernelArgument)
    return success();
  return refuseAttribute(op, attribute.getName(),
                         " of argument #" + Twine(argument), kKernelArgument);
}

LogicalResult
MosaicGPUDialect::verifyOperationAttribute(Operation *op,
                                           NamedAttribute attribute) {
  // JAX sets the last four on kernels for several GPUs, for its own launches.
  static constexpr StringLiteral kKnown[] = {
      kArchMajor,
      kArchMinor,
      kAutoBarriers,
      kKernelArgument,
      kOriginalArgument,
      kTensorMaps,
      kThreadGroupSize,
      kVersionAttr,
      "mosaic_gpu.collective_metadata_used",
      "mosaic_gpu.device_id_load",
      "mosaic_gpu.multimem_args",
      "mosaic_gpu.multimem_used",
  };
  if (!llvm::is_contained(kKnown, attribute.getName()))
    return refuseAttribute(op, attribute.getName(), "", kKnown);
  if (attribute.getName() != kVersionAttr)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError()
           << "'" << kVersionAttr << "' is only allowed on builtin.module";
  auto version = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!version || !version.getType().isSignlessInteger(32) ||
      version.getInt() < 1)
    return op->emitOpError() << "'" << kVersionAttr
                             << "', the version of the mosaic_gpu dialect, "
                                "must be a positive i32, "
                                "but found "
                             << attribute.getValue();
  if (version.getInt() > kVersion)
    return op->emitOpError()
           << "'" << kVersionAttr << "' is " << version.getInt()
           << ", but the newest supported version of the mosaic_gpu dialect is "
           << kVersion << "; use a newer Smalti";
  return success();
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

namespace {
struct Version : DialectVersion {
  Version(uint64_t number) : number(number) {}
  uint64_t number;
};

struct BytecodeVersions : BytecodeDialectInterface {
  BytecodeVersions(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(MosaicGPUDialect::kVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > MosaicGPUDialect::kVersion) {
      reader.emitError() << "the bytecode has version " << number
                         << " of the mosaic_gpu dialect, but the newest "
                            "supported version is "
                         << MosaicGPUDialect::kVersion
                         << "; use a newer Smalti";
      return nullptr;
    }
    return std::make_unique<Version>(number);
  }

  LogicalResult upgradeFromVersion(Operation *top,
                                   const DialectVersion &version) const final {
    if (static_cast<const Version &>(version).number ==
        MosaicGPUDialect::kVersion)
      return success();
    WalkResult result = top->walk([&](Operation *op) {
      if (op->getDialect() != getDialect())
        return WalkResult::advance();
      Attribute properties = op->getPropertiesAsAttribute();
      if (!properties)
        return WalkResult::advance();
      auto emitError = [&] { return op->emitOpError(); };
      return WalkResult(op->setPropertiesFromAttribute(properties, emitError));
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace

void MosaicGPUDialect::registerBytecode() { addInterface<BytecodeVersions>(); }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void MosaicGPUDialect::registerOps() {
  addVersionedOps<
#define GET_OP_LIST
#include "smalti/dialects/MosaicGPU/MosaicGPUOps.cpp.inc"
      >(*this);
}
