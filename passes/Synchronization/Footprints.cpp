//===- Footprints.cpp - Elements that each thread accesses ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Synchronization/Footprints.h"

#include "smalti/passes/Analysis/Threads/ThreadValues.h"
#include "smalti/passes/Interfaces/Kernels.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"

using namespace mlir;
using namespace smalti;

namespace {

/// An access whose addresses may be known.
struct Candidate {
  Operation *op;
  Value memref, root;
  RowAccess row;
  std::vector<int64_t> starts;
  bool isKnown = true;
};

} // namespace

/// Matches an access in which each thread touches consecutive elements of the
/// buffer's own type.
static std::optional<Candidate> getCandidate(StridedAccessOpInterface op,
                                             OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || getMemorySpace(operand.get()) == MemorySpace::Private)
    return std::nullopt;
  Value root = getRootBuffer(operand.get());
  auto rootType = dyn_cast<MemRefType>(root.getType());
  std::optional<RowAccess> row = op.getRowAccess(operand);
  SmallVector<int64_t> strides;
  if (!row || !rootType || rootType.getElementType() != type.getElementType() ||
      row->lanes != 0 || row->isBoundsChecked || row->mayCrossRows ||
      row->isWaveWide || !getStaticStrides(type, strides))
    return std::nullopt;
  if (row->elements != 1 && (strides.empty() || strides.back() != 1))
    return std::nullopt;
  // The elements of all threads are enumerated.
  constexpr int64_t kMaxRowElements = 256;
  if (row->elements > kMaxRowElements)
    return std::nullopt;
  return Candidate{op, operand.get(), root, *row, {}, true};
}

Footprints::Footprints(FunctionOpInterface function,
                       const targets::Target *chip) {
  std::vector<Candidate> candidates;
  std::optional<std::array<int64_t, 3>> size = getBlockSize(function, function);
  if (!size)
    return;
  function->walk([&](StridedAccessOpInterface op) {
    for (OpOperand &operand : op->getOpOperands())
      if (std::optional<Candidate> candidate = getCandidate(op, operand))
        candidates.push_back(std::move(*candidate));
  });
  if (candidates.empty())
    return;
  ThreadValues values(function, chip, ThreadValues::Assume::Nothing);
  int64_t threads = (*size)[0] * (*size)[1] * (*size)[2];
  for (int64_t wave = 0; wave * values.getNumLanes() < threads; ++wave) {
    values.startWave(wave);
    for (Candidate &candidate : candidates) {
      if (!candidate.isKnown)
        continue;
      std::optional<Lanes> elements = values.getElements(
          candidate.root, candidate.memref, candidate.row.indices);
      candidate.isKnown = elements.has_value();
      if (!elements)
        continue;
      for (auto [lane, element] : llvm::enumerate(*elements))
        if (values.getThread(lane) < threads)
          candidate.starts.push_back(element);
    }
  }
  for (Candidate &candidate : candidates) {
    if (!candidate.isKnown)
      continue;
    auto [it, inserted] = numbers.try_emplace(
        Footprint{std::move(candidate.starts), candidate.row.elements},
        int(footprints.size()));
    if (inserted)
      footprints.push_back(&it->first);
    if (it->second < kMax)
      ofAccess[{candidate.op, candidate.memref}] = it->second;
    else
      ++numUndistinguished;
  }
}

int Footprints::get(Operation *op, Value memref) const {
  auto it = ofAccess.find({op, memref});
  return it == ofAccess.end() ? kNone : it->second;
}

bool Footprints::meet(int a, int b) {
  auto [known, inserted] =
      meets.try_emplace({std::min(a, b), std::max(a, b)}, false);
  if (!inserted)
    return known->second;
  constexpr int64_t kSeveral = -1;
  llvm::DenseMap<int64_t, int64_t> owner;
  for (auto [thread, start] : llvm::enumerate(footprints[a]->starts))
    for (int64_t i = 0; i < footprints[a]->elements; ++i) {
      auto [it, isFirst] = owner.try_emplace(start + i, int64_t(thread));
      if (!isFirst && it->second != int64_t(thread))
        it->second = kSeveral;
    }
  for (auto [thread, start] : llvm::enumerate(footprints[b]->starts))
    for (int64_t i = 0; i < footprints[b]->elements; ++i) {
      auto it = owner.find(start + i);
      if (it != owner.end() && it->second != int64_t(thread))
        return known->second = true;
    }
  return false;
}
