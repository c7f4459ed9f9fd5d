//===- TransferPlans.cpp - Plans of transfers and relayouts in Python -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/TransferPlans.h"

#include "smalti/python/bindings/Results.h"

#include "smalti/layouts/NamedLayouts.h"
#include "smalti/passes/Analysis/SharedMemory/BankModel.h"
#include "smalti/passes/Layouts/Plans/RelayoutPlan.h"
#include "smalti/passes/Layouts/Plans/TransferPlan.h"
#include "smalti/targets/BlockFragments.h"

#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace smalti;
using namespace smalti::layout;
using namespace smalti::relayouts;
using namespace smalti::transfers;

using smalti::python::raiseIf;
using smalti::python::valueOrRaise;

namespace {

using Ints = std::vector<int64_t>;
using Triples = std::vector<std::tuple<int64_t, int64_t, int64_t>>;

Ints toInts(llvm::ArrayRef<int64_t> values) {
  return Ints(values.begin(), values.end());
}

std::vector<Ints> toLists(llvm::ArrayRef<llvm::SmallVector<int64_t>> lists) {
  std::vector<Ints> result;
  for (const llvm::SmallVector<int64_t> &list : lists)
    result.push_back(toInts(list));
  return result;
}

const targets::Target &getTarget(const std::string &name) {
  const targets::Target *target = targets::lookup(name);
  if (!target)
    throw nb::value_error(("unknown target '" + name +
                           "'; known targets: " + targets::knownNames())
                              .c_str());
  return *target;
}

MemoryLayout makeMemory(const Ints &shape, const std::optional<Ints> &strides,
                        const Ints &tile, int64_t swizzleBytes) {
  MemoryLayout memory = MemoryLayout::rowMajor(shape);
  if (strides)
    memory.strides.assign(strides->begin(), strides->end());
  memory.tile.assign(tile.begin(), tile.end());
  memory.swizzleBytes = swizzleBytes;
  raiseIf(memory.validate(/*elementBits=*/8));
  return memory;
}

TransferProblem makeProblem(const RegisterLayout &registers,
                            const MemoryLayout &memory, int64_t elementBits,
                            bool isLoad, int64_t warps, bool conflictFree) {
  TransferProblem problem;
  problem.registers = registers;
  problem.memory = memory;
  problem.elementBits = elementBits;
  problem.isLoad = isLoad;
  problem.warps = warps;
  problem.mustBeConflictFree = conflictFree;
  return problem;
}

const char *kindName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Vector:
    return "vector";
  case AccessKind::Matrix:
    return "matrix";
  case AccessKind::MatrixTransposed:
    return "matrix_transposed";
  case AccessKind::MatrixTransposed8:
    return "matrix_transposed_8";
  case AccessKind::MatrixOfPairs:
    return "matrix_of_pairs";
  case AccessKind::TransposedRead:
    return "transposed_read";
  }
  return "";
}

TransferNeed getNeed(const std::string &name) {
  if (name == "optimized")
    return TransferNeed::Optimized;
  if (name == "unoptimized")
    return TransferNeed::Unoptimized;
  if (name == "downgradable")
    return TransferNeed::Downgradable;
  throw nb::value_error(
      ("unknown transfer mode '" + name +
       "'; it must be 'optimized', 'unoptimized' or 'downgradable'")
          .c_str());
}

void bindMemory(nb::module_ &m) {
  nb::class_<MemoryLayout>(
      m, "MemoryLayout",
      "Where the elements of a vector are in shared memory: row-major unless "
      "strides are given, in contiguous tiles, swizzled.")
      .def(
          "__init__",
          [](MemoryLayout *self, const Ints &shape,
             const std::optional<Ints> &strides, const Ints &tile,
             int64_t swizzleBytes) {
            new (self)
                MemoryLayout(makeMemory(shape, strides, tile, swizzleBytes));
          },
          nb::arg("shape"), nb::arg("strides") = nb::none(),
          nb::arg("tile") = Ints(), nb::arg("swizzle_bytes") = 16)
      .def_prop_ro(
          "shape", [](const MemoryLayout &self) { return toInts(self.shape); },
          "The vector's shape.")
      .def_prop_ro(
          "strides",
          [](const MemoryLayout &self) { return toInts(self.strides); },
          "The strides of the untiled memory.")
      .def_prop_ro(
          "tile", [](const MemoryLayout &self) { return toInts(self.tile); },
          "The sizes of tiles; empty: none.")
      .def_ro("swizzle_bytes", &MemoryLayout::swizzleBytes,
              "16 (none), 32, 64 or 128.")
      .def(
          "bit_address",
          [](const MemoryLayout &self, const Ints &index, int64_t elementBits) {
            raiseIf(self.validate(elementBits));
            if (index.size() != self.shape.size())
              throw nb::value_error(
                  ("the index has " + std::to_string(index.size()) +
                   " entries, but the memory has " +
                   std::to_string(self.shape.size()) +
                   " dimensions; pass one entry per dimension")
                      .c_str());
            for (size_t dim = 0; dim < index.size(); ++dim)
              if (index[dim] < 0 || index[dim] >= self.shape[dim])
                throw nb::value_error(
                    ("index " + std::to_string(index[dim]) +
                     " is out of bounds in dimension " + std::to_string(dim) +
                     ", whose size is " + std::to_string(self.shape[dim]))
                        .c_str());
            return self.bitAddress(index, elementBits);
          },
          nb::arg("index"), nb::arg("element_bits"),
          "The address of an element, in bits.");
}

void bindTransfers(nb::module_ &m) {
  nb::class_<Access>(m, "Access", "One instruction of a transfer.")
      .def_prop_ro(
          "kind", [](const Access &self) { return kindName(self.kind); },
          "vector, matrix, matrix_transposed, matrix_transposed_8 or "
          "transposed_read.")
      .def_ro("bytes", &Access::bytes, "Bytes that a lane moves.")
      .def_prop_ro(
          "pieces",
          [](const Access &self) {
            Triples pieces;
            for (const Piece &piece : self.pieces)
              pieces.emplace_back(piece.reg, piece.first, piece.count);
            return pieces;
          },
          "The moved elements, each as (register, first element, count).")
      .def_ro("base", &Access::base, "Which of the plan's bases it is from.")
      .def_ro("offset", &Access::offset, "Bytes after that base.");

  nb::class_<TransferPlan>(m, "TransferPlan",
                           "The accesses that move a vector, in order.")
      .def_prop_ro(
          "accesses",
          [](const TransferPlan &self) {
            return std::vector<Access>(self.accesses.begin(),
                                       self.accesses.end());
          },
          "All accesses.")
      .def_prop_ro(
          "terms",
          [](const TransferPlan &self) {
            Triples terms;
            for (const ThreadTerm &term : self.terms)
              terms.emplace_back(term.divisor, term.size, term.stride);
            return terms;
          },
          "The thread's part of addresses: the sum over (divisor, size, "
          "stride) "
          "of thread // divisor % size * stride.")
      .def_prop_ro(
          "bases", [](const TransferPlan &self) { return toInts(self.bases); },
          "Bytes added to it before the swizzle.")
      .def_prop_ro(
          "stagger",
          [](const TransferPlan &self)
              -> std::optional<std::tuple<int64_t, Ints>> {
            if (!self.stagger)
              return std::nullopt;
            return std::make_tuple(self.stagger->groupStride,
                                   toInts(self.stagger->order));
          },
          "(group stride, order): lanes whose lane // group stride is odd make "
          "the access order[i] as the i-th.")
      .def_ro("swizzle_bytes", &TransferPlan::swizzleBytes,
              "The swizzle of addresses.")
      .def_ro("wave_size", &TransferPlan::waveSize, "Lanes of a warp.")
      .def_ro("warps", &TransferPlan::warps, "Participating warps.")
      .def_prop_ro(
          "bank_cycles",
          [](const TransferPlan &self) { return self.cost.cycles; },
          "Cycles that one warp takes of the banks.")
      .def_prop_ro(
          "conflicts",
          [](const TransferPlan &self) { return self.cost.conflicts; },
          "Those in which lanes wait for one another.")
      .def_ro("selects", &TransferPlan::selects,
              "Selects and byte permutations, a thread.")
      .def_ro("cycles", &TransferPlan::cycles, "Issue cycles of one warp.")
      .def(
          "address",
          [](const TransferPlan &self, int64_t thread, int64_t access) {
            if (access < 0 ||
                access >= static_cast<int64_t>(self.accesses.size()))
              throw nb::value_error(("access " + std::to_string(access) +
                                     " does not exist; the plan has " +
                                     std::to_string(self.accesses.size()) +
                                     " accesses, counted from 0")
                                        .c_str());
            if (thread < 0 || thread >= self.warps * self.waveSize)
              throw nb::value_error(
                  ("thread " + std::to_string(thread) +
                   " does not exist; the plan has " +
                   std::to_string(self.warps * self.waveSize) +
                   " threads, counted from 0")
                      .c_str());
            return self.address(thread, self.accesses[access]);
          },
          nb::arg("thread"), nb::arg("access"),
          "The address of a thread for an access, in bytes.")
      .def("__str__", &TransferPlan::str);

  m.def(
      "plan_transfer",
      [](const RegisterLayout &registers, const MemoryLayout &memory,
         int64_t elementBits, const std::string &target, bool isLoad,
         int64_t warps, bool conflictFree) {
        return valueOrRaise(
            planTransfer(makeProblem(registers, memory, elementBits, isLoad,
                                     warps, conflictFree),
                         getTarget(target)));
      },
      nb::arg("registers"), nb::arg("memory"), nb::arg("element_bits"),
      nb::arg("target"), nb::kw_only(), nb::arg("is_load") = true,
      nb::arg("warps") = 4, nb::arg("conflict_free") = false,
      "The cheapest plan of a transfer between registers and shared memory; "
      "raises ValueError with the reason if none exists.");
  m.def(
      "bank_cost",
      [](const std::string &target, int64_t bytes, bool isRead,
         const Ints &addresses) {
        banks::BankModel model = banks::BankModel::get(getTarget(target));
        if (!model.hasBanks())
          throw nb::value_error(
              (target + " does not have banks of shared memory").c_str());
        if (static_cast<int64_t>(addresses.size()) > model.waveSize)
          throw nb::value_error((std::to_string(addresses.size()) +
                                 " addresses; a warp of " + target + " has " +
                                 std::to_string(model.waveSize) + " lanes")
                                    .c_str());
        for (int64_t address : addresses)
          if (address < banks::kInactive)
            throw nb::value_error(
                ("address " + std::to_string(address) +
                 "; it must be at least 0, or -1 for an inactive lane")
                    .c_str());
        banks::Cost cost = banks::getCost(model, bytes, isRead, addresses);
        return std::make_tuple(cost.cycles, cost.conflicts);
      },
      nb::arg("target"), nb::arg("bytes"), nb::arg("is_read"),
      nb::arg("addresses"),
      "The cycles of an access of one warp to shared memory, and those that "
      "are due to bank conflicts. Lane i accesses `bytes` bytes at "
      "`addresses[i]`; the address of an inactive lane is -1.");
  m.def(
      "is_transfer_in_jax",
      [](const RegisterLayout &registers, const MemoryLayout &memory,
         int64_t elementBits, const std::string &need) {
        return isTransferInJAX(makeProblem(registers, memory, elementBits, true,
                                           /*warps=*/4, false),
                               getNeed(need));
      },
      nb::arg("registers"), nb::arg("memory"), nb::arg("element_bits"),
      nb::arg("need") = "optimized",
      "Whether JAX's inference takes the transfer: optimized, unoptimized or "
      "downgradable.");
}

void bindRelayouts(nb::module_ &m) {
  nb::class_<RelayoutCost>(m, "RelayoutCost",
                           "The cost of a relayout of a vector.")
      .def_prop_ro(
          "means",
          [](const RelayoutCost &self) { return toString(self.means).str(); },
          "none, registers, shuffles, shared_memory or impossible.")
      .def_ro("shuffles", &RelayoutCost::shuffles,
              "Words that each lane sends to others.")
      .def_ro("moves", &RelayoutCost::moves,
              "Selects and byte permutations, a thread.")
      .def_ro("scratch_bytes", &RelayoutCost::scratchBytes,
              "Bytes of shared memory.")
      .def_ro("barriers", &RelayoutCost::barriers, "Barriers among the warps.")
      .def_prop_ro(
          "conflicts",
          [](const RelayoutCost &self) { return self.banks.conflicts; },
          "Cycles of the banks in which lanes wait for one another.")
      .def_ro("cycles", &RelayoutCost::cycles, "Issue cycles of one warp.")
      .def_ro("is_in_jax", &RelayoutCost::isInJAX,
              "Whether JAX's layout_cast takes it.")
      .def_ro("is_implicit_in_jax", &RelayoutCost::isImplicitInJAX,
              "Whether JAX does it without a cast.")
      .def_ro("reason", &RelayoutCost::reason, "Why it is impossible.")
      .def("__str__", &RelayoutCost::str);
  m.def(
      "plan_relayout",
      [](const RegisterLayout &from, const RegisterLayout &to,
         const Ints &shape, int64_t elementBits, const std::string &target,
         int64_t warps) {
        return planRelayout(from, to, shape, elementBits, getTarget(target),
                            warps);
      },
      nb::arg("source"), nb::arg("result"), nb::arg("shape"),
      nb::arg("element_bits"), nb::arg("target"), nb::arg("warps") = 4,
      "The cost of a relayout of a vector from one layout to another.");

  nb::class_<RelayoutPlan>(m, "RelayoutPlan",
                           "The steps that bring a vector from one layout to "
                           "another, word by word.")
      .def_ro("cost", &RelayoutPlan::cost, "The cost of the steps.")
      .def_prop_ro(
          "steps",
          [](const RelayoutPlan &self) {
            std::vector<std::tuple<std::string, int64_t, int64_t, int64_t>>
                steps;
            for (const Step &step : self.steps)
              steps.emplace_back(toString(step.kind), step.a, step.b,
                                 step.table);
            return steps;
          },
          "[(select, permute or shuffle, word, other word, table)]: each "
          "produces "
          "a word.")
      .def_prop_ro(
          "tables",
          [](const RelayoutPlan &self) { return toLists(self.tables); },
          "The choices of each thread.")
      .def_prop_ro(
          "results",
          [](const RelayoutPlan &self) { return toInts(self.results); },
          "The number of each word of the result of one repeat.")
      .def_ro("source_words", &RelayoutPlan::sourceWords,
              "Words of a register of the source.")
      .def_ro("result_words", &RelayoutPlan::resultWords,
              "Words of a register of the result.")
      .def_prop_ro(
          "source_registers",
          [](const RelayoutPlan &self) {
            return toLists(self.sourceRegisters);
          },
          "The source registers of each repeat.")
      .def_prop_ro(
          "result_registers",
          [](const RelayoutPlan &self) {
            return toLists(self.resultRegisters);
          },
          "The result registers of each repeat.")
      .def_prop_ro(
          "memory", [](const RelayoutPlan &self) { return self.trip.memory; },
          "The layout of a repeat in shared memory.")
      .def_prop_ro(
          "store", [](const RelayoutPlan &self) { return self.trip.store; },
          "The store of a repeat to shared memory, if any.")
      .def_prop_ro(
          "load", [](const RelayoutPlan &self) { return self.trip.load; },
          "The load of a repeat from shared memory, if any.")
      .def_prop_ro(
          "unit_bytes",
          [](const RelayoutPlan &self) { return self.trip.patternBytes; },
          "Bytes of shared memory from one repeat to the next.")
      .def_prop_ro(
          "together",
          [](const RelayoutPlan &self) { return self.trip.together; },
          "Number of repeats that are in shared memory together.");
  m.def(
      "plan_relayout_steps",
      [](const RegisterLayout &from, const RegisterLayout &to,
         const Ints &shape, int64_t elementBits, const std::string &target,
         int64_t warps) {
        return valueOrRaise(planRelayoutSteps(from, to, shape, elementBits,
                                              getTarget(target), warps));
      },
      nb::arg("source"), nb::arg("result"), nb::arg("shape"),
      nb::arg("element_bits"), nb::arg("target"), nb::arg("warps") = 4,
      "The steps of a relayout of a vector from one layout to another. Raises "
      "ValueError with the reason if it does not have steps.");
}

/// Reductions, reshapes and transposes of layouts of any kind.
void bindLayoutsOfAnyKind(nb::module_ &m) {
  nb::class_<SplatLayout>(
      m, "SplatLayout",
      "All elements are equal, and every thread holds that one scalar.")
      .def(
          "__init__",
          [](SplatLayout *self, const Ints &shape) {
            new (self) SplatLayout{
                llvm::SmallVector<int64_t>(shape.begin(), shape.end())};
          },
          nb::arg("shape"))
      .def_prop_ro(
          "shape", [](const SplatLayout &self) { return toInts(self.shape); },
          "The vector's shape.");
  m.def(
      "reduce",
      [](const RegisterLayout &layout, const Ints &shape, const Ints &axes,
         bool keepDims, int64_t threads) {
        return valueOrRaise(reduce(layout, shape, axes, keepDims, threads));
      },
      nb::arg("layout"), nb::arg("shape"), nb::arg("axes"), nb::kw_only(),
      nb::arg("keep_dims") = false, nb::arg("threads") = 128,
      "The layout of a reduced vector, of any kind.");
  m.def(
      "reshape",
      [](const RegisterLayout &layout, const Ints &source, const Ints &target) {
        return valueOrRaise(reshape(layout, source, target));
      },
      nb::arg("layout"), nb::arg("source_shape"), nb::arg("target_shape"),
      "The layout of a reshaped vector, of any kind.");
  m.def(
      "transpose",
      [](const RegisterLayout &layout, const Ints &shape,
         const Ints &permutation) {
        return valueOrRaise(transpose(layout, shape, permutation));
      },
      nb::arg("layout"), nb::arg("shape"), nb::arg("permutation"),
      "The layout of a transposed vector, of any kind.");
  m.def(
      "describe", [](const RegisterLayout &layout) { return describe(layout); },
      nb::arg("layout"), "The name of a layout, or else its text.");
}

void bindFragments(nb::module_ &m) {
  m.def(
      "block_fragments",
      [](const std::string &name, const std::string &operand, const Ints &shape,
         const std::string &element, int64_t warps) {
        const targets::Target &target = getTarget(name);
        std::vector<std::tuple<std::string, int64_t, int64_t, TiledLayout>>
            found;
        bool isOperand = false;
        for (targets::Operand kind : {targets::Operand::A, targets::Operand::B,
                                      targets::Operand::Accumulator}) {
          if (targets::toString(kind) != operand)
            continue;
          isOperand = true;
          llvm::SmallVector<targets::Element> elements;
          for (const targets::MmaInstruction &mma : target.mmas)
            for (targets::Element own : {mma.a, mma.b, mma.accumulator})
              if (targets::toString(own) == element &&
                  !llvm::is_contained(elements, own))
                elements.push_back(own);
          for (targets::Element own : elements)
            for (const targets::BlockFragment &fragment :
                 targets::blockFragments(target, kind, shape, own, warps))
              found.emplace_back(fragment.instruction->mnemonic,
                                 fragment.warpsM, fragment.warpsN,
                                 fragment.layout);
        }
        if (!isOperand)
          throw nb::value_error(("operand is '" + operand +
                                 "'; it must be 'a', 'b' or 'accumulator'")
                                    .c_str());
        return found;
      },
      nb::arg("target"), nb::arg("operand"), nb::arg("shape"),
      nb::arg("element"), nb::arg("warps") = 4,
      "The layouts of an operand of the chip's matrix instructions over a "
      "number of warps, each as (instruction, warps along M, along N, "
      "layout).");
}

} // namespace

void smalti::python::bindTransferPlans(nb::module_ &m) {
  bindLayoutsOfAnyKind(m);
  bindMemory(m);
  bindTransfers(m);
  bindRelayouts(m);
  bindFragments(m);
}
