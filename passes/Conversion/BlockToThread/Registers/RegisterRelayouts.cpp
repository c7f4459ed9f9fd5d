//===- RegisterRelayouts.cpp - Emission of relayout steps -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterRelayouts.h"

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;
using relayouts::Step;

layout::RegisterLayout
block_to_thread::getRegisterLayout(const Distribution &distribution) {
  switch (distribution.getKind()) {
  case Distribution::Kind::Splat:
    return layout::SplatLayout{SmallVector<int64_t>(distribution.getShape())};
  case Distribution::Kind::Strided:
    return layout::StridedLayout{SmallVector<int64_t>(distribution.getShape()),
                                 distribution.getVectorLength()};
  case Distribution::Kind::Tiled:
    return distribution.getTiled();
  }
  llvm_unreachable("unknown kind of step");
}

/// The bits in which every lane's source differs from the lane; nothing if they
/// are not uniform.
static std::optional<int64_t> matchExchange(ArrayRef<int64_t> table,
                                            int64_t lanes) {
  for (auto [thread, source] : llvm::enumerate(table))
    if ((source ^ static_cast<int64_t>(thread % lanes)) != table.front())
      return std::nullopt;
  return table.front();
}

Registers block_to_thread::emitRelayoutSteps(
    OpBuilder &builder, Location loc, Emitter &emitter,
    const relayouts::RelayoutPlan &plan, ArrayRef<Value> registers,
    VectorType type, int64_t count) {
  ThreadTables tables(emitter.indices);
  int64_t lanes = emitter.indices.getGrid().waveSize;
  // The entry that a thread takes is the same for all steps.
  SmallVector<Value> taken(plan.tables.size());
  auto take = [&](const Step &step) {
    Value &value = taken[step.table];
    if (!value)
      value = tables.lookup(plan.tables[step.table]);
    return value;
  };
  // Steps of two kinds may use the same table.
  SmallVector<Value> bits(plan.tables.size());
  auto takeBit = [&](const Step &step) {
    Value &value = bits[step.table];
    if (!value)
      value = tables.lookupBit(plan.tables[step.table]);
    return value;
  };

  Registers results(count);
  for (auto [sources, targets] :
       llvm::zip_equal(plan.sourceRegisters, plan.resultRegisters)) {
    SmallVector<Value> words;
    for (int64_t reg : sources)
      llvm::append_range(words, toWords(builder, loc, registers[reg]));
    for (const Step &step : plan.steps) {
      Value a = words[step.a], b = words[step.b];
      switch (step.kind) {
      case Step::Kind::Select:
        words.push_back(
            arith::SelectOp::create(builder, loc, takeBit(step), b, a));
        break;
      case Step::Kind::Permute:
        words.push_back(
            emitter.vendor.emitBytePermute(builder, loc, a, b, take(step)));
        break;
      case Step::Kind::Shuffle: {
        ArrayRef<int64_t> table = plan.tables[step.table];
        std::optional<int64_t> exchange = matchExchange(table, lanes);
        words.push_back(
            exchange ? emitter.vendor.emitLaneExchange(
                           builder, loc, a, *exchange, emitter.indices)
                     : emitter.vendor.emitLaneRead(builder, loc, a, take(step),
                                                   emitter.indices));
        break;
      }
      }
    }
    for (auto [index, reg] : llvm::enumerate(targets)) {
      SmallVector<Value> own;
      for (int64_t word = 0; word < plan.resultWords; ++word)
        own.push_back(words[plan.results[index * plan.resultWords + word]]);
      results[reg] = fromWords(builder, loc, own, type);
    }
  }
  return results;
}
