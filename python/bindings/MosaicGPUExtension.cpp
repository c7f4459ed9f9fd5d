//===- MosaicGPUExtension.cpp - Attributes and types of mosaic_gpu --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module of its own: its classes derive from those of `smalti.ir`, which
// imports `_smalti` while it loads.
//
//===----------------------------------------------------------------------===//

#include "smalti/layouts/LayoutAlgebra.h"
#include "smalti/python/bindings/MosaicGPUCAPI.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir/Bindings/Python/Diagnostics.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;
using namespace mlir::python::nanobind_adaptors;
using smalti::layout::PartitionDim;
using smalti::layout::StridedLayout;
using smalti::layout::TiledLayout;

namespace {

using Ints = std::vector<int64_t>;

/// Calls `get`, whose attribute is null where it was refused.
template <typename Fn>
nb::object makeAttribute(nb::object cls, MlirContext context, Fn get) {
  std::string message;
  MlirAttribute attribute;
  {
    mlir::python::CollectDiagnosticsToStringScope scope(context);
    attribute = get();
    message = scope.takeMessage();
  }
  if (mlirAttributeIsNull(attribute))
    throw nb::value_error(message.c_str());
  return cls(attribute);
}

/// An attribute that has no parameters.
void bindSimple(nb::module_ &m, const char *name, bool (*isA)(MlirAttribute),
                MlirTypeID (*getTypeID)(void),
                MlirAttribute (*get)(MlirContext), const char *doc) {
  std::string signature = std::string("def get(cls, context: smalti.ir.Context "
                                      "| None = None) -> ") +
                          name;
  mlir_attribute_subclass(m, name, isA, getTypeID)
      .def_classmethod(
          "get",
          [get](nb::object cls, MlirContext context) {
            return cls(get(context));
          },
          nb::arg("cls"), nb::arg("context") = nb::none(),
          nb::sig(signature.c_str()), doc);
}

/// A form of 6-bit elements in memory.
void bindSixBit(nb::module_ &m, const char *name, bool (*isA)(MlirType),
                MlirTypeID (*getTypeID)(void), MlirType (*get)(MlirType),
                const char *doc) {
  std::string signature =
      std::string("def get(cls, element_type: smalti.ir.Type) -> ") + name;
  mlir_type_subclass(m, name, isA, getTypeID)
      .def_classmethod(
          "get",
          [get](nb::object cls, MlirType elementType) {
            std::string message;
            MlirType type;
            {
              mlir::python::CollectDiagnosticsToStringScope scope(
                  mlirTypeGetContext(elementType));
              type = get(elementType);
              message = scope.takeMessage();
            }
            if (mlirTypeIsNull(type))
              throw nb::value_error(message.c_str());
            return cls(type);
          },
          nb::arg("cls"), nb::arg("element_type"), nb::sig(signature.c_str()),
          doc)
      .def_property_readonly("element_type", &smaltiSixBitTypeGetElementType,
                             "The type of the elements, which has 6 bits.");
}

MlirAttribute intArray(MlirContext context, llvm::ArrayRef<int64_t> values) {
  MlirType type = mlirIntegerTypeGet(context, 64);
  std::vector<MlirAttribute> entries;
  for (int64_t value : values)
    entries.push_back(mlirIntegerAttrGet(type, value));
  return mlirArrayAttrGet(context, entries.size(), entries.data());
}

MlirAttribute partArray(MlirContext context,
                        llvm::ArrayRef<PartitionDim> parts) {
  MlirType type = mlirIntegerTypeGet(context, 64);
  std::vector<MlirAttribute> entries;
  for (const PartitionDim &part : parts)
    entries.push_back(part.isReplicated()
                          ? smaltiReplicatedAttrGet(context, part.times)
                          : mlirIntegerAttrGet(type, part.dim));
  return mlirArrayAttrGet(context, entries.size(), entries.data());
}

llvm::SmallVector<int64_t> readInts(MlirAttribute array) {
  llvm::SmallVector<int64_t> values;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(array); ++i)
    values.push_back(
        mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(array, i)));
  return values;
}

llvm::SmallVector<PartitionDim> readParts(MlirAttribute array) {
  llvm::SmallVector<PartitionDim> parts;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(array); ++i) {
    MlirAttribute entry = mlirArrayAttrGetElement(array, i);
    parts.push_back(
        smaltiAttributeIsAReplicated(entry)
            ? PartitionDim::replicated(smaltiReplicatedAttrGetTimes(entry))
            : PartitionDim::of(mlirIntegerAttrGetValueInt(entry)));
  }
  return parts;
}

TiledLayout readTiledLayout(MlirAttribute self) {
  TiledLayout layout;
  MlirAttribute tiling = smaltiTiledLayoutAttrGetTiling(self);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(tiling); ++i)
    layout.tiling.push_back(readInts(mlirArrayAttrGetElement(tiling, i)));
  layout.warpDims = readParts(smaltiTiledLayoutAttrGetWarpDims(self));
  layout.laneDims = readParts(smaltiTiledLayoutAttrGetLaneDims(self));
  layout.vectorDim = smaltiTiledLayoutAttrGetVectorDim(self);
  return layout;
}

Ints readSizes(MlirAttribute self) {
  Ints sizes;
  for (intptr_t i = 0; i < smaltiLayoutAttrGetRank(self); ++i)
    sizes.push_back(smaltiLayoutAttrGetSize(self, i));
  return sizes;
}

} // namespace

NB_MODULE(_smaltiMosaicGPU, m) {
  m.doc() = "The attributes and types of the dialect mosaic_gpu.";
  // The layouts that attributes are made of and give back.
  nb::module_::import_(MAKE_MLIR_PYTHON_QUALNAME("_mlir_libs._smalti"));

  mlir_attribute_subclass(m, "TiledLayoutAttr", smaltiAttributeIsATiledLayout,
                          smaltiTiledLayoutAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const TiledLayout &layout, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              std::vector<MlirAttribute> tiles;
              for (llvm::ArrayRef<int64_t> tile : layout.tiling)
                tiles.push_back(intArray(context, tile));
              return smaltiTiledLayoutAttrGet(
                  context,
                  mlirArrayAttrGet(context, tiles.size(), tiles.data()),
                  partArray(context, layout.warpDims),
                  partArray(context, layout.laneDims), layout.vectorDim);
            });
          },
          nb::arg("cls"), nb::arg("layout"), nb::arg("context") = nb::none(),
          nb::sig(
              "def get(cls, layout: smalti._mlir_libs._smalti.TiledLayout, "
              "context: smalti.ir.Context | None = None) -> TiledLayoutAttr"),
          "The attribute of a `smalti.layouts.TiledLayout`.")
      .def_property_readonly("layout", &readTiledLayout,
                             "The layout as a `smalti.layouts.TiledLayout`.");

  mlir_attribute_subclass(m, "WGStridedFragLayoutAttr",
                          smaltiAttributeIsAWGStridedFragLayout,
                          smaltiWGStridedFragLayoutAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const StridedLayout &layout, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiWGStridedFragLayoutAttrGet(
                  context, layout.shape.size(), layout.shape.data(),
                  layout.vectorSize);
            });
          },
          nb::arg("cls"), nb::arg("layout"), nb::arg("context") = nb::none(),
          nb::sig(
              "def get(cls, layout: smalti._mlir_libs._smalti.StridedLayout, "
              "context: smalti.ir.Context | None = None) -> "
              "WGStridedFragLayoutAttr"),
          "The attribute of a `smalti.layouts.StridedLayout`.")
      .def_property_readonly(
          "layout",
          [](MlirAttribute self) {
            Ints shape = readSizes(self);
            return StridedLayout{
                llvm::SmallVector<int64_t>(shape.begin(), shape.end()),
                smaltiWGStridedFragLayoutAttrGetVectorSize(self)};
          },
          "The layout as a `smalti.layouts.StridedLayout`.");

  mlir_attribute_subclass(m, "WGSplatFragLayoutAttr",
                          smaltiAttributeIsAWGSplatFragLayout,
                          smaltiWGSplatFragLayoutAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const Ints &shape, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiWGSplatFragLayoutAttrGet(context, shape.size(),
                                                    shape.data());
            });
          },
          nb::arg("cls"), nb::arg("shape"), nb::arg("context") = nb::none(),
          nb::sig("def get(cls, shape: collections.abc.Sequence[int], context: "
                  "smalti.ir.Context | None = None) -> WGSplatFragLayoutAttr"),
          "The layout of a vector of this shape whose elements are equal.")
      .def_property_readonly("shape", &readSizes, "The vector's shape.");

  mlir_attribute_subclass(m, "ReplicatedAttr", smaltiAttributeIsAReplicated,
                          smaltiReplicatedAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, int64_t times, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiReplicatedAttrGet(context, times);
            });
          },
          nb::arg("cls"), nb::arg("times"), nb::arg("context") = nb::none(),
          nb::sig("def get(cls, times: int, context: smalti.ir.Context | None "
                  "= None) -> ReplicatedAttr"),
          "A factor of the warp or lane index that holds the same elements.")
      .def_property_readonly("times", &smaltiReplicatedAttrGetTimes,
                             "How many hold the same elements.");

  mlir_attribute_subclass(m, "TileTransformAttr",
                          smaltiAttributeIsATileTransform,
                          smaltiTileTransformAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const Ints &tiling, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiTileTransformAttrGet(context, tiling.size(),
                                                tiling.data());
            });
          },
          nb::arg("cls"), nb::arg("tiling"), nb::arg("context") = nb::none(),
          nb::sig(
              "def get(cls, tiling: collections.abc.Sequence[int], context: "
              "smalti.ir.Context | None = None) -> TileTransformAttr"),
          "Shared memory that is stored tile after tile.")
      .def_property_readonly("tiling", &readSizes, "The sizes of a tile.");

  mlir_attribute_subclass(m, "SwizzleTransformAttr",
                          smaltiAttributeIsASwizzleTransform,
                          smaltiSwizzleTransformAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, int32_t swizzle, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiSwizzleTransformAttrGet(context, swizzle);
            });
          },
          nb::arg("cls"), nb::arg("swizzle"), nb::arg("context") = nb::none(),
          nb::sig("def get(cls, swizzle: int, context: smalti.ir.Context | "
                  "None = None) -> SwizzleTransformAttr"),
          "A swizzle that spans this many bytes of a row.")
      .def_property_readonly("swizzle", &smaltiSwizzleTransformAttrGetBytes,
                             "The bytes that it spans.");

  bindSimple(m, "TmemAttr", smaltiAttributeIsATmem, smaltiTmemAttrGetTypeID,
             smaltiTmemAttrGet, "The memory space of tensor memory.");
  bindSimple(m, "SmemClusterAttr", smaltiAttributeIsASmemCluster,
             smaltiSmemClusterAttrGetTypeID, smaltiSmemClusterAttrGet,
             "The memory space of the shared memory of any block of the "
             "cluster.");
  bindSimple(m, "CopyReplicatedAttr", smaltiAttributeIsACopyReplicated,
             smaltiCopyReplicatedAttrGetTypeID, smaltiCopyReplicatedAttrGet,
             "Every block of the cluster receives the whole slice.");

  mlir_attribute_subclass(m, "CopyPartitionedAttr",
                          smaltiAttributeIsACopyPartitioned,
                          smaltiCopyPartitionedAttrGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, int64_t axis, MlirContext context) {
            return makeAttribute(cls, context, [&] {
              return smaltiCopyPartitionedAttrGet(context, axis);
            });
          },
          nb::arg("cls"), nb::arg("axis"), nb::arg("context") = nb::none(),
          nb::sig("def get(cls, axis: int, context: smalti.ir.Context | None = "
                  "None) -> CopyPartitionedAttr"),
          "Every block of the cluster receives its part of the slice, which is "
          "cut along this dimension.")
      .def_property_readonly("axis", &smaltiCopyPartitionedAttrGetAxis,
                             "The dimension that is cut.");

  bindSixBit(m, "B6x16P32Type", smaltiTypeIsAB6x16P32,
             smaltiB6x16P32TypeGetTypeID, smaltiB6x16P32TypeGet,
             "6-bit elements, 16 of them followed by 32 bits of padding.");
  bindSixBit(m, "P2B6Type", smaltiTypeIsAP2B6, smaltiP2B6TypeGetTypeID,
             smaltiP2B6TypeGet, "6-bit elements in the low 6 bits of bytes.");

  mlir_type_subclass(m, "BarrierType", smaltiTypeIsABarrier,
                     smaltiBarrierTypeGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, bool ordersTensorCore, MlirContext context) {
            return cls(smaltiBarrierTypeGet(context, ordersTensorCore));
          },
          nb::arg("cls"), nb::arg("orders_tensor_core") = false,
          nb::arg("context") = nb::none(),
          nb::sig("def get(cls, orders_tensor_core: bool = False, context: "
                  "smalti.ir.Context | None = None) -> BarrierType"),
          "The type of a barrier.")
      .def_property_readonly("orders_tensor_core",
                             &smaltiBarrierTypeGetOrdersTensorCore,
                             "Whether it orders the tensor core's work too.");
}
