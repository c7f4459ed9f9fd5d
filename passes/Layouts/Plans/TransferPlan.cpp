//===- TransferPlan.cpp - Transfers between registers and shared memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every access pattern moves some digits of the registers of a thread with one
// access and repeats the access over the other digits. The digits of the thread
// number determine the address. All patterns of the target are evaluated with
// its bank model, and the cheapest is selected.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/TransferCandidates.h"

#include "smalti/targets/Target.h"
#include "smalti/targets/Text.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace smalti;
using namespace smalti::transfers;
using banks::BankModel;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;

//===----------------------------------------------------------------------===//
// Cost of access patterns
//===----------------------------------------------------------------------===//

static int64_t sumTerms(ArrayRef<ThreadTerm> terms, int64_t thread) {
  int64_t sum = 0;
  for (const ThreadTerm &term : terms)
    sum += thread / term.divisor % term.size * term.stride;
  return sum;
}

namespace {

/// Evaluates and orders the accesses of a candidate.
class Planner {
public:
  Planner(const TransferProblem &problem, const TransferDigits &digits,
          const Candidate &candidate, const Target &target)
      : problem(problem), digits(digits), candidate(candidate),
        model(BankModel::get(target)),
        period(std::max(swizzlePeriod(problem.memory.swizzleBytes),
                        model.banks * model.bankBytes)) {
    offsets = {0};
    for (const Digit &digit : candidate.outside) {
      SmallVector<int64_t> next;
      for (int64_t offset : offsets)
        for (int64_t i = 0; i < digit.size; ++i)
          next.push_back(offset + i * digit.stride / 8);
      offsets = std::move(next);
    }
    for (int64_t lane = 0; lane < candidate.lanes; ++lane)
      laneOffsets.push_back(sumTerms(candidate.terms, lane));
    for (int64_t warp = 0; warp < digits.numWarps; ++warp)
      warpKeys.push_back(sumTerms(candidate.terms, warp * model.waveSize) %
                         period);
    llvm::sort(warpKeys);
    warpKeys.erase(llvm::unique(warpKeys), warpKeys.end());
  }

  /// The plan without its accesses; `listAccesses` adds them.
  TransferPlan plan(bool mayStagger);
  void listAccesses(TransferPlan &plan) const;
  /// Describes the lanes and the bank of one conflict.
  std::string explainConflict();

private:
  /// The bits of an offset that the swizzle affects.
  int64_t baseMask() const;
  /// The cost of an access in which groups of lanes use two different offsets.
  banks::Cost getCost(int64_t offset, int64_t otherOffset, int64_t groupStride);
  /// The cost of all accesses of a warp, the maximum over all warps.
  banks::Cost getTotal(ArrayRef<int64_t> order, int64_t groupStride);
  bool hasConflict(ArrayRef<int64_t> order, int64_t groupStride);
  std::optional<Stagger> findStagger();
  /// Number of moves that assemble words from parts.
  int64_t countMoves() const;

  const TransferProblem &problem;
  const TransferDigits &digits;
  const Candidate &candidate;
  BankModel model;
  /// Period of banks and swizzle in bytes.
  int64_t period;
  /// Offsets of the accesses before the swizzle.
  SmallVector<int64_t> offsets;
  SmallVector<int64_t> laneOffsets;
  SmallVector<int64_t> warpKeys;
  llvm::DenseMap<std::tuple<int64_t, int64_t, int64_t>, banks::Cost> known;
};

} // namespace

void Planner::listAccesses(TransferPlan &plan) const {
  bool isSplat = std::holds_alternative<layout::SplatLayout>(problem.registers);
  int64_t mask = baseMask();
  SmallVector<Digit> outside(candidate.outside);
  std::reverse(outside.begin(), outside.end());
  for (auto [index, first] : llvm::enumerate(listSlots(outside))) {
    Access &access = plan.accesses.emplace_back();
    access.kind = candidate.kind;
    access.bytes = candidate.bytes;
    int64_t base = offsets[index] & mask;
    access.base = llvm::find(plan.bases, base) - plan.bases.begin();
    access.offset = offsets[index] - base;
    if (isSplat)
      continue;
    for (auto [number, slot] : llvm::enumerate(candidate.slots)) {
      int64_t reg = first.reg + slot.reg;
      int64_t element = first.element + slot.element;
      Piece *last = access.pieces.empty() ? nullptr : &access.pieces.back();
      bool goesOn = last && last->reg == reg &&
                    last->first + last->count == element &&
                    (candidate.slotsPerPiece == 0 ||
                     number % candidate.slotsPerPiece != 0);
      if (goesOn)
        ++last->count;
      else
        access.pieces.push_back({reg, element, 1});
    }
  }
}

banks::Cost Planner::getCost(int64_t offset, int64_t otherOffset,
                             int64_t groupStride) {
  // A shift by whole periods does not change banks or conflicts.
  int64_t whole = std::min(offset, otherOffset) / period * period;
  offset -= whole;
  otherOffset -= whole;
  if (offset == otherOffset)
    groupStride = 0;
  auto [entry, isNew] =
      known.try_emplace(std::make_tuple(offset, otherOffset, groupStride));
  if (!isNew)
    return entry->second;
  SmallVector<int64_t, 64> addresses;
  for (auto [lane, own] : llvm::enumerate(laneOffsets)) {
    bool isOther = groupStride > 0 && lane / groupStride % 2 == 1;
    addresses.push_back(swizzleAddress(own + (isOther ? otherOffset : offset),
                                       problem.memory.swizzleBytes));
  }
  entry->second =
      banks::getCost(model, candidate.bytes, problem.isLoad, addresses);
  return entry->second;
}

banks::Cost Planner::getTotal(ArrayRef<int64_t> order, int64_t groupStride) {
  banks::Cost most;
  for (int64_t key : warpKeys) {
    banks::Cost total;
    for (auto [index, offset] : llvm::enumerate(offsets))
      total += getCost(offset + key,
                       (order.empty() ? offset : offsets[order[index]]) + key,
                       groupStride);
    if (total.cycles > most.cycles)
      most = total;
  }
  return most;
}

bool Planner::hasConflict(ArrayRef<int64_t> order, int64_t groupStride) {
  for (int64_t key : warpKeys)
    for (auto [index, offset] : llvm::enumerate(offsets))
      if (getCost(offset + key, offsets[order[index]] + key, groupStride)
              .conflicts > 0)
        return true;
  return false;
}

std::optional<Stagger> Planner::findStagger() {
  // A digit whose steps do not change banks and swizzle has no effect.
  int64_t count = offsets.size(), inner = count;
  for (const Digit &digit : candidate.outside) {
    inner /= digit.size;
    if (digit.size == 1 || digit.stride / 8 % period == 0)
      continue;
    for (int64_t group = 1; group < model.waveSize; group *= 2)
      for (int64_t by = 1; by < digit.size; ++by) {
        Stagger stagger{group, {}};
        for (int64_t i = 0; i < count; ++i) {
          int64_t value = i / inner % digit.size;
          stagger.order.push_back(i +
                                  ((value + by) % digit.size - value) * inner);
        }
        if (!hasConflict(stagger.order, group))
          return stagger;
      }
  }
  return std::nullopt;
}

int64_t Planner::baseMask() const {
  constexpr int64_t chunk = 16;
  int64_t swizzle = problem.memory.swizzleBytes;
  if (swizzle <= chunk)
    return 0;
  // The bits that the swizzle reads or writes, and the bits below them if the
  // sum may carry.
  int64_t mask = swizzlePeriod(swizzle) - chunk;
  int64_t low = 0;
  for (int64_t warp = 0; warp < digits.numWarps; ++warp)
    for (int64_t lane = 0; lane < model.waveSize; ++lane)
      low = std::max(
          low, sumTerms(candidate.terms, warp * model.waveSize + lane) % chunk);
  int64_t lowOffset = 0;
  for (int64_t offset : offsets)
    lowOffset = std::max(lowOffset, offset % chunk);
  return low + lowOffset < chunk ? mask : mask + chunk - 1;
}

int64_t Planner::countMoves() const {
  int64_t count = offsets.size();
  // The parts of each register of the instruction belong to two registers.
  if (candidate.kind == AccessKind::MatrixTransposed8 ||
      candidate.kind == AccessKind::MatrixOfPairs)
    return count * static_cast<int64_t>(candidate.slots.size()) / 4;
  if (candidate.kind != AccessKind::Vector ||
      std::holds_alternative<layout::SplatLayout>(problem.registers))
    return 0;
  constexpr int64_t wordBits = 32;
  int64_t moves = 0;
  // Accesses of less than a word are assembled in their register.
  int64_t together =
      std::min(wordBits, digits.vectorLength * digits.elementBits);
  if (int64_t bits = candidate.bytes * 8; bits < together)
    return count - count * bits / together;
  for (size_t i = 1; i < candidate.slots.size(); ++i) {
    const Slot &last = candidate.slots[i - 1], &slot = candidate.slots[i];
    bool goesOn = last.reg == slot.reg && last.element + 1 == slot.element;
    // A piece that does not begin a word needs a move.
    int64_t bit = static_cast<int64_t>(i) * digits.elementBits;
    moves += !goesOn && bit % wordBits != 0;
  }
  return moves * count;
}

TransferPlan Planner::plan(bool mayStagger) {
  TransferPlan plan;
  plan.terms = candidate.terms;
  plan.swizzleBytes = problem.memory.swizzleBytes;
  plan.waveSize = model.waveSize;
  plan.warps = digits.numWarps;
  int64_t mask = baseMask();
  for (int64_t offset : offsets)
    plan.bases.push_back(offset & mask);
  llvm::sort(plan.bases);
  plan.bases.erase(llvm::unique(plan.bases), plan.bases.end());
  plan.cost = getTotal({}, 0);
  plan.selects = countMoves();
  int64_t count = offsets.size();
  if (plan.cost.conflicts > 0 && mayStagger &&
      candidate.kind == AccessKind::Vector && count > 1) {
    plan.stagger = findStagger();
    if (plan.stagger) {
      plan.cost = getTotal(plan.stagger->order, plan.stagger->groupStride);
      // Selects of the address, and of the loaded (two registers) or stored
      // words.
      int64_t words = llvm::divideCeil(candidate.bytes, 4);
      plan.selects += count * (1 + words * (problem.isLoad ? 2 : 1));
    }
  }
  // A base takes an addition and an exclusive or.
  int64_t instructions =
      count + plan.selects + 2 * static_cast<int64_t>(plan.bases.size());
  plan.cycles = estimateCycles(instructions, plan.cost);
  return plan;
}

std::string Planner::explainConflict() {
  for (int64_t key : warpKeys)
    for (auto [index, offset] : llvm::enumerate(offsets)) {
      SmallVector<int64_t, 64> addresses;
      for (int64_t own : laneOffsets)
        addresses.push_back(
            swizzleAddress(own + offset + key, problem.memory.swizzleBytes));
      std::optional<banks::Conflict> conflict = banks::findConflict(
          model, candidate.bytes, problem.isLoad, addresses);
      if (conflict)
        return "lanes " + std::to_string(conflict->firstLane) + " and " +
               std::to_string(conflict->secondLane) +
               " access different words of bank " +
               std::to_string(conflict->bank) + " (" +
               std::to_string(conflict->ways) + "-way conflict) at byte " +
               std::to_string(offset);
    }
  return "";
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

int64_t transfers::estimateCycles(int64_t instructions,
                                  const banks::Cost &cost) {
  return instructions + cost.cycles;
}

int64_t TransferPlan::address(int64_t thread, const Access &access) const {
  return swizzleAddress(sumTerms(terms, thread) + bases[access.base],
                        swizzleBytes) +
         access.offset;
}

/// "matrix accesses x4".
static std::string instructionText(const Access &access, int64_t elementBytes) {
  switch (access.kind) {
  case AccessKind::Vector:
    return "accesses of " + std::to_string(elementBytes) + " bytes";
  case AccessKind::Matrix:
  case AccessKind::MatrixTransposed:
    return "matrix accesses x" + std::to_string(access.pieces.size()) +
           (access.kind == AccessKind::Matrix ? "" : ", transposed,");
  case AccessKind::MatrixTransposed8:
    return "matrix accesses of " + std::to_string(access.pieces.size() * 2) +
           " bytes per lane, transposed,";
  case AccessKind::MatrixOfPairs:
    return "matrix accesses x" + std::to_string(access.pieces.size() / 4) +
           " of pairs, transposed,";
  case AccessKind::TransposedRead:
    return "transposed reads of " + std::to_string(elementBytes) + " bytes";
  }
  return "";
}

std::string TransferPlan::str() const {
  if (accesses.empty())
    return "nothing to do";
  std::string text = std::to_string(accesses.size()) + " " +
                     instructionText(accesses.front(), accesses.front().bytes) +
                     " from " + counted(bases.size(), "base");
  if (stagger)
    text += ", staggered by groups of " + counted(stagger->groupStride, "lane");
  text += ": " + counted(cost.cycles, "cycle");
  text += cost.conflicts == 0
              ? ", no conflicts"
              : ", " + std::to_string(cost.conflicts) + " of them conflicts";
  return text;
}

/// A lower bound of the cycles of a candidate, without conflicts.
static int64_t leastCycles(const Candidate &candidate, const BankModel &model) {
  banks::Cost cost;
  cost.cycles = candidate.numAccesses() *
                banks::getPhases(model, candidate.bytes, candidate.lanes);
  return estimateCycles(candidate.numAccesses() + 2, cost);
}

layout::ValueOr<TransferPlan>
transfers::planTransfer(const TransferProblem &problem, const Target &target) {
  using Result = layout::ValueOr<TransferPlan>;
  BankModel model = BankModel::get(target);
  if (!model.hasBanks())
    return Result::none(
        "the target table does not describe the shared-memory banks of " +
        target.name.str() + "; use a GPU target");
  layout::ValueOr<TransferDigits> digits = getDigits(problem, target.waveSize);
  if (!digits)
    return Result::none(digits.reason);
  SmallVector<Candidate> candidates =
      listCandidates(*digits, problem.isLoad, target);
  llvm::stable_sort(candidates, [&](const Candidate &a, const Candidate &b) {
    return leastCycles(a, model) < leastCycles(b, model);
  });
  if (candidates.empty())
    return Result::none(
        "elements of " + std::to_string(problem.elementBits) +
        " bits that one thread holds are not adjacent in memory, so two "
        "threads would access the same byte; use another layout");

  if (int64_t fewest = candidates.front().numAccesses(); fewest > kMaxAccesses)
    return Result::none(
        "the transfer needs " + std::to_string(fewest) +
        " accesses per thread; at most " + std::to_string(kMaxAccesses) +
        " are supported, so use more warps or a smaller vector");
  llvm::erase_if(candidates, [](const Candidate &candidate) {
    return candidate.numAccesses() > kMaxAccesses;
  });

  // First search for a plan without stagger.
  struct Choice {
    TransferPlan plan;
    const Candidate *candidate;
  };
  std::optional<Choice> best, conflicting;
  auto rank = [](const Choice &choice) {
    return std::make_tuple(choice.plan.cycles, choice.plan.bases.size(),
                           static_cast<int>(choice.candidate->kind),
                           choice.plan.stagger.has_value());
  };
  for (bool mayStagger : {false, true}) {
    if (mayStagger && (best || !problem.mustBeConflictFree))
      break;
    for (const Candidate &candidate : candidates) {
      // The lower bound includes one address.
      if (best && leastCycles(candidate, model) >= best->plan.cycles)
        continue;
      Planner planner(problem, *digits, candidate, target);
      Choice choice = {planner.plan(mayStagger), &candidate};
      if (problem.mustBeConflictFree && !choice.plan.isConflictFree()) {
        if (!conflicting ||
            choice.plan.cost.conflicts < conflicting->plan.cost.conflicts)
          conflicting = std::move(choice);
        continue;
      }
      if (!best || rank(choice) < rank(*best))
        best = std::move(choice);
    }
  }
  Choice &chosen = best ? *best : *conflicting;
  Planner planner(problem, *digits, *chosen.candidate, target);
  planner.listAccesses(chosen.plan);
  if (!best)
    return Result::none(
        "every access pattern has bank conflicts; the best is " +
        chosen.plan.str() + ": " + planner.explainConflict());
  return std::move(chosen.plan);
}
