//===- Layouts.cpp - The layout algebra in Python -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra checks nothing when it is asked about an element; from Python
// every number is checked first, and a ValueError says what is wrong.
//
//===----------------------------------------------------------------------===//

#include "smalti/python/bindings/Layouts.h"

#include "smalti/python/bindings/Results.h"

#include "smalti/layouts/NamedLayouts.h"

#include "llvm/ADT/StringExtras.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace nb = nanobind;
using namespace smalti::layout;

using smalti::python::raiseIf;
using smalti::python::valueOrRaise;

namespace {

using Ints = std::vector<int64_t>;

/// A factor of the warp or lane index that no element depends on.
struct Replicated {
  int64_t times;
  bool operator==(const Replicated &other) const {
    return times == other.times;
  }
};

using Part = std::variant<int64_t, Replicated>;

void checkBelow(const char *name, int64_t value, int64_t bound) {
  if (value < 0 || value >= bound)
    throw nb::value_error((std::string(name) + " is " + std::to_string(value) +
                           "; it must be at least 0 and less than " +
                           std::to_string(bound))
                              .c_str());
}

llvm::SmallVector<PartitionDim> toParts(const std::vector<Part> &parts,
                                        const char *name) {
  llvm::SmallVector<PartitionDim> result;
  for (const Part &part : parts) {
    if (const Replicated *replicated = std::get_if<Replicated>(&part)) {
      result.push_back(PartitionDim::replicated(replicated->times));
      continue;
    }
    int64_t dim = std::get<int64_t>(part);
    // In the algebra 0 is a replicated factor, so it must not get there.
    if (dim >= 0)
      throw nb::value_error((std::string(name) + " has dimension " +
                             std::to_string(dim) +
                             "; count dimensions from the end with negative "
                             "numbers: -1 is the last")
                                .c_str());
    result.push_back(PartitionDim::of(dim));
  }
  return result;
}

std::vector<Part> fromParts(llvm::ArrayRef<PartitionDim> parts) {
  std::vector<Part> result;
  for (const PartitionDim &part : parts) {
    if (part.isReplicated())
      result.emplace_back(Replicated{part.times});
    else
      result.emplace_back(part.dim);
  }
  return result;
}

TiledLayout makeTiled(const std::vector<Ints> &tiling,
                      const std::vector<Part> &warpDims,
                      const std::vector<Part> &laneDims, int64_t vectorDim) {
  TiledLayout layout;
  for (const Ints &tile : tiling)
    layout.tiling.emplace_back(tile.begin(), tile.end());
  layout.warpDims = toParts(warpDims, "warp_dims");
  layout.laneDims = toParts(laneDims, "lane_dims");
  layout.vectorDim = vectorDim;
  raiseIf(layout.validate());
  return layout;
}

std::vector<std::tuple<int64_t, int64_t, int64_t>>
dimTuples(llvm::ArrayRef<TiledDim> dims) {
  std::vector<std::tuple<int64_t, int64_t, int64_t>> result;
  for (const TiledDim &dim : dims)
    result.emplace_back(dim.logicalDim, dim.stride, dim.size);
  return result;
}

Ints tiledElement(const TiledLayout &layout, const Ints &shape, int64_t warp,
                  int64_t lane, int64_t reg, int64_t element) {
  raiseIf(layout.validateFor(shape));
  checkBelow("warp", warp, layout.numWarps());
  checkBelow("lane", lane, layout.numLanes());
  checkBelow("register", reg, layout.numRegisters(shape));
  checkBelow("element", element, layout.vectorLength());
  auto index = layout.elementIndex(shape, warp, lane, reg, element);
  return Ints(index.begin(), index.end());
}

Ints stridedElement(const StridedLayout &layout, int64_t threads,
                    int64_t thread, int64_t reg, int64_t element) {
  raiseIf(layout.validateForThreads(threads));
  checkBelow("thread", thread, threads);
  checkBelow("register", reg, layout.numRegisters(threads));
  checkBelow("element", element, layout.vectorSize);
  auto index = layout.elementIndex(threads, thread, reg, element);
  return Ints(index.begin(), index.end());
}

TiledLayout makeBlock(const TiledLayout &fragment, const Ints &fragmentShape,
                      const Ints &warps, int64_t replicatedWarps,
                      const std::optional<std::vector<int>> &warpOrder) {
  raiseIf(fragment.validateFor(fragmentShape));
  if (!fragment.warpDims.empty())
    throw nb::value_error(
        "the fragment layout has warp_dims, which distribute it across several "
        "warps; pass a layout of one warp, without warp_dims");
  if (fragment.tiling.front().size() != fragmentShape.size())
    throw nb::value_error(("the first tile of the fragment layout has rank " +
                           std::to_string(fragment.tiling.front().size()) +
                           ", but the fragment shape has rank " +
                           std::to_string(fragmentShape.size()) +
                           "; the ranks must be equal")
                              .c_str());
  if (warps.size() != fragmentShape.size())
    throw nb::value_error(("warps has " + std::to_string(warps.size()) +
                           " entries, but the fragment shape has " +
                           std::to_string(fragmentShape.size()) +
                           " dimensions; one entry per dimension is required")
                              .c_str());
  constexpr int64_t bound = int64_t(1) << 16;
  for (int64_t count : warps)
    if (count < 1 || count > bound)
      throw nb::value_error(
          ("warps has the entry " + std::to_string(count) +
           "; each number of warps must be between 1 and 65536")
              .c_str());
  if (replicatedWarps < 1 || replicatedWarps > bound)
    throw nb::value_error(("replicated_warps is " +
                           std::to_string(replicatedWarps) +
                           "; it must be between 1 and 65536")
                              .c_str());
  int parts = static_cast<int>(warps.size()) + 1;
  std::vector<int> order;
  for (int part = 0; part < parts; ++part)
    order.push_back(part);
  if (warpOrder) {
    std::vector<bool> seen(parts, false);
    for (int part : *warpOrder) {
      checkBelow("warp_order entry", part, parts);
      if (seen[part])
        throw nb::value_error(("warp_order contains " + std::to_string(part) +
                               " twice; list each dimension only once")
                                  .c_str());
      seen[part] = true;
    }
    for (int part = 0; part < parts; ++part)
      if (!seen[part] && (part < parts - 1 ? warps[part] : replicatedWarps) > 1)
        throw nb::value_error(
            ("warp_order does not contain " + std::to_string(part) +
             "; it must list every dimension along which warps are "
             "distributed, and, if replicated_warps is above 1, also " +
             std::to_string(parts - 1) + " for the replicated warps")
                .c_str());
    order = *warpOrder;
  }
  TiledLayout layout =
      blockLayout(fragment, fragmentShape, warps, replicatedWarps, order);
  raiseIf(layout.validate());
  return layout;
}

} // namespace

/// The layouts that have a name, as functions of `smalti.layouts`.
static void bindNamedLayouts(nb::module_ &m) {
  m.def(
      "named_layout",
      [](const std::string &name) {
        std::optional<TiledLayout> layout = lookupLayout(name);
        if (!layout)
          throw nb::value_error(
              ("unknown layout '" + name +
               "'; known layouts: " + llvm::join(layoutNames(), ", "))
                  .c_str());
        return *layout;
      },
      nb::arg("name"), "The layout that JAX calls so, as in \"WGMMA_ROW\".");
  m.def(
      "layout_names",
      [] {
        std::vector<std::string> names;
        for (llvm::StringRef name : layoutNames())
          names.push_back(name.str());
        return names;
      },
      "The names that `named_layout` accepts.");
  m.def("name_of", &nameOf, nb::arg("layout"),
        "JAX's name of a layout, or None.");
  m.def("wgmma", &wgmma, nb::arg("warps") = kGroupWarps,
        "The accumulator of wgmma, over a number of warps.");
  m.def("tmem_native", &tmemNative, nb::arg("vector_length") = 2,
        nb::arg("warps") = kGroupWarps, nb::arg("lanes") = kGroupLanes,
        "One row for each thread.");
  m.def("m64_collective", &m64Collective, nb::arg("columns"),
        "The registers of an accumulator of 64 rows that two blocks share, or "
        "None.");
  m.def("smem_gmem_copy", &smemGmemCopy, nb::arg("row_tiles"),
        nb::arg("column_tiles"), nb::arg("swizzle_bytes"),
        nb::arg("element_bits"),
        "A copy between global and tiled shared memory, or None.");
  m.def("mma_lhs", &mmaLhs, nb::arg("element_bits"),
        nb::arg("warps") = kGroupWarps, nb::arg("warps_m") = kGroupWarps,
        "A of mma.sync.");
  m.def("mma_rhs", &mmaRhs, nb::arg("element_bits"),
        nb::arg("warps") = kGroupWarps, nb::arg("warps_m") = kGroupWarps,
        "B of mma.sync.");
  m.def("mma_accumulator", &mmaAccumulator, nb::arg("warps") = kGroupWarps,
        nb::arg("warps_m") = kGroupWarps, "C and D of mma.sync.");
  m.def(
      "strided",
      [](const Ints &shape, int64_t elementBits, int64_t threads) {
        return strided(shape, elementBits, threads);
      },
      nb::arg("shape"), nb::arg("element_bits"), nb::arg("threads") = 128,
      "The strided layout that is taken when nothing else is asked for, or "
      "None.");
  m.def("tmem_default", &tmemDefault, nb::arg("packing") = 1,
        "Tensor memory of 128 rows, or None.");
  m.def("tmem_half_lane", &tmemHalfLane, nb::arg("columns"),
        nb::arg("packing") = 1, "Tensor memory of 64 rows, or None.");
  m.def("tmem_m64_collective", &tmemM64Collective, nb::arg("columns"),
        nb::arg("packing") = 1,
        "Tensor memory of 64 rows of two blocks' 128, or None.");
  m.def("tmem_scales", &tmemScales, "The scales of A and B.");
  m.def("tmem_b_scales_m64_collective", &tmemBScalesM64Collective,
        "The scales of B for 64 rows of two blocks' 128.");
  m.def("tmem_sparse_metadata", &tmemSparseMetadata,
        "The placeholder for the metadata of a sparse A.");
  m.def(
      "is_tmem_transfer",
      [](const TiledLayout &tmem, const TiledLayout &registers,
         const Ints &shape, int64_t elementBits) {
        return isTmemTransfer(tmem, registers, shape, elementBits);
      },
      nb::arg("tmem"), nb::arg("registers"), nb::arg("shape"),
      nb::arg("element_bits"),
      "Whether JAX moves vectors between a layout of tensor memory and one "
      "of registers.");
}

void smalti::python::bindLayouts(nb::module_ &m) {
  nb::class_<Replicated>(
      m, "Replicated",
      "A factor of the warp or lane index that no element depends on: `times` "
      "warps or lanes hold the same elements.")
      .def(nb::init<int64_t>(), nb::arg("times"))
      .def_ro("times", &Replicated::times, "How many hold the same elements.")
      .def(nb::self == nb::self)
      .def("__hash__", [](const Replicated &self) { return self.times; })
      .def("__repr__", [](const Replicated &self) {
        return "Replicated(" + std::to_string(self.times) + ")";
      });

  nb::class_<TiledLayout>(
      m, "TiledLayout",
      "A nested tiling whose dimensions are warps, lanes, registers and a "
      "vector. Dimensions count from the end of the tiled shape.")
      .def(
          "__init__",
          [](TiledLayout *self, const std::vector<Ints> &tiling,
             const std::vector<Part> &warpDims,
             const std::vector<Part> &laneDims, int64_t vectorDim) {
            new (self)
                TiledLayout(makeTiled(tiling, warpDims, laneDims, vectorDim));
          },
          nb::arg("tiling"), nb::arg("warp_dims"), nb::arg("lane_dims"),
          nb::arg("vector_dim") = -1)
      .def_prop_ro(
          "tiling",
          [](const TiledLayout &self) {
            std::vector<Ints> tiling;
            for (const auto &tile : self.tiling)
              tiling.emplace_back(tile.begin(), tile.end());
            return tiling;
          },
          "The tiles, outermost first.")
      .def_prop_ro(
          "warp_dims",
          [](const TiledLayout &self) { return fromParts(self.warpDims); },
          "The parts of the warp index, major to minor.")
      .def_prop_ro(
          "lane_dims",
          [](const TiledLayout &self) { return fromParts(self.laneDims); },
          "The parts of the lane index, major to minor.")
      .def_ro("vector_dim", &TiledLayout::vectorDim,
              "The dimension that one register holds.")
      .def_prop_ro("num_warps", &TiledLayout::numWarps,
                   "How many warps hold the vector.")
      .def_prop_ro("num_lanes", &TiledLayout::numLanes,
                   "How many lanes of a warp hold the vector.")
      .def_prop_ro("vector_length", &TiledLayout::vectorLength,
                   "How many elements one register holds.")
      .def(
          "validate_for",
          [](const TiledLayout &self, const Ints &shape) {
            raiseIf(self.validateFor(shape));
          },
          nb::arg("shape"),
          "Raises ValueError if a vector of the shape cannot have the layout.")
      .def(
          "tile",
          [](const TiledLayout &self, const Ints &shape) {
            raiseIf(self.validateFor(shape));
            return dimTuples(self.tile(shape));
          },
          nb::arg("shape"),
          "The dimensions of the fully tiled shape, each as (dimension of the "
          "vector, stride in it, size).")
      .def(
          "register_dims",
          [](const TiledLayout &self, const Ints &shape) {
            raiseIf(self.validateFor(shape));
            return dimTuples(self.registerDims(shape));
          },
          nb::arg("shape"),
          "Those of them that enumerate the registers of a thread, major to "
          "minor.")
      .def(
          "num_registers",
          [](const TiledLayout &self, const Ints &shape) {
            raiseIf(self.validateFor(shape));
            return self.numRegisters(shape);
          },
          nb::arg("shape"),
          "How many vectors of `vector_length` elements each thread holds.")
      .def("element_index", &tiledElement, nb::arg("shape"), nb::arg("warp"),
           nb::arg("lane"), nb::arg("register"), nb::arg("element"),
           "The index in the vector of an element of a register of a lane.")
      .def(
          "is_first_replica",
          [](const TiledLayout &self, int64_t warp, int64_t lane) {
            checkBelow("warp", warp, self.numWarps());
            checkBelow("lane", lane, self.numLanes());
            return self.isFirstReplica(warp, lane);
          },
          nb::arg("warp"), nb::arg("lane"),
          "Whether this lane is the first of those that hold the same "
          "elements.")
      .def("canonical", &TiledLayout::canonical,
           "The same layout with its trivial parts in canonical form.")
      .def(
          "reduce",
          [](const TiledLayout &self, int64_t rank, const Ints &axes,
             bool keepDims) {
            return valueOrRaise(self.reduce(rank, axes, keepDims));
          },
          nb::arg("rank"), nb::arg("axes"), nb::kw_only(),
          nb::arg("keep_dims") = false,
          "The layout of what is left of a vector of `rank` dimensions when "
          "`axes` are reduced: along them warps and lanes are replicated.")
      .def(
          "reshape",
          [](const TiledLayout &self, const Ints &source, const Ints &target) {
            return valueOrRaise(self.reshape(source, target));
          },
          nb::arg("source_shape"), nb::arg("target_shape"),
          "The layout in which every thread keeps its elements when they are "
          "counted with another shape.")
      .def(
          "transpose",
          [](const TiledLayout &self, const Ints &permutation) {
            return valueOrRaise(self.transpose(permutation));
          },
          nb::arg("permutation"),
          "The layout in which every thread keeps its elements when dimension "
          "i of the result is dimension permutation[i] of the vector.")
      .def(nb::self == nb::self)
      .def("__hash__",
           [](const TiledLayout &self) {
             return nb::hash(nb::str(self.str().c_str()));
           })
      .def("__str__", &TiledLayout::str)
      .def("__repr__", [](const TiledLayout &self) {
        return "TiledLayout<" + self.str() + ">";
      });

  nb::class_<StridedLayout>(
      m, "StridedLayout",
      "The elements in row-major order, cut into chunks of `vector_size`, "
      "which are distributed across the threads of the block in turn.")
      .def(
          "__init__",
          [](StridedLayout *self, const Ints &shape, int64_t vectorSize) {
            StridedLayout layout{
                llvm::SmallVector<int64_t>(shape.begin(), shape.end()),
                vectorSize};
            raiseIf(layout.validate());
            new (self) StridedLayout(std::move(layout));
          },
          nb::arg("shape"), nb::arg("vector_size"))
      .def_prop_ro(
          "shape",
          [](const StridedLayout &self) {
            return Ints(self.shape.begin(), self.shape.end());
          },
          "The vector's shape.")
      .def_ro("vector_size", &StridedLayout::vectorSize,
              "How many elements a chunk has.")
      .def(
          "num_registers",
          [](const StridedLayout &self, int64_t threads) {
            raiseIf(self.validateForThreads(threads));
            return self.numRegisters(threads);
          },
          nb::arg("threads"), "How many chunks each thread holds.")
      .def("element_index", &stridedElement, nb::arg("threads"),
           nb::arg("thread"), nb::arg("register"), nb::arg("element"),
           "The index in the vector of an element of a register of a thread.");

  bindNamedLayouts(m);
  m.def(
      "block_layout", &makeBlock, nb::arg("fragment"),
      nb::arg("fragment_shape"), nb::arg("warps"),
      nb::arg("replicated_warps") = 1, nb::arg("warp_order") = nb::none(),
      "The layout of an operand that a block holds: instruction tiles laid "
      "out as `fragment`, distributed across `warps[d]` warps along dimension "
      "d and replicated in `replicated_warps` of them. `warp_order` lists "
      "the parts of the warp index, major to minor: 0 for rows, 1 for "
      "columns, 2 for the replicated part.");
}
