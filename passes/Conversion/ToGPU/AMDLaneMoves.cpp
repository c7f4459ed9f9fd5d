//===- AMDLaneMoves.cpp - Moves between the lanes of a wave ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/ToGPU/AMDLaneMoves.h"

#include "smalti/passes/Conversion/BlockToThread/Registers/RegisterWords.h"
#include "smalti/targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace smalti;
using namespace smalti::block_to_thread;

using amd::kRow;

/// ds_swizzle permutes the lanes of groups.
static constexpr int64_t kGroup = 32;

/// A DPP control that moves the words.
static std::optional<int64_t> findDPP(const LaneMove &move,
                                      const targets::Target &target) {
  using Source = llvm::function_ref<int64_t(int64_t)>;
  auto inRow = [](int64_t lane, int64_t shift) {
    int64_t source = lane + shift;
    return source >= 0 && source / kRow == lane / kRow ? source : -1;
  };
  auto test = [&](Source source) { return move.matches(source); };
  constexpr int64_t permutations = 256;
  for (int64_t control = 0; control < permutations; ++control)
    if (test([&](int64_t lane) {
          return (lane & ~3) | (control >> (2 * (lane & 3)) & 3);
        }))
      return control;
  for (int64_t n = 1; n < kRow; ++n) {
    if (test([&](int64_t lane) { return inRow(lane, n); }))
      return 0x100 | n; // row_shl
    if (test([&](int64_t lane) { return inRow(lane, -n); }))
      return 0x110 | n; // row_shr
    if (test([&](int64_t lane) {
          return (lane & ~(kRow - 1)) | ((lane - n) & (kRow - 1));
        }))
      return 0x120 | n; // row_ror
    if (target.hasRowExchange && test([&](int64_t lane) { return lane ^ n; }))
      return 0x160 | n; // row_xmask
  }
  if (test([](int64_t lane) { return lane ^ 15; }))
    return 0x140; // row_mirror
  if (test([](int64_t lane) { return lane ^ 7; }))
    return 0x141; // row_half_mirror
  for (int64_t n = 0; n < kRow; ++n)
    if (test([&](int64_t lane) { return (lane & ~(kRow - 1)) | n; }))
      return 0x150 | n; // row_newbcast, row_share
  if (target.hasRowExchange)
    return std::nullopt;
  int64_t lanes = move.sources.size();
  if (test([&](int64_t lane) { return lane + 1 < lanes ? lane + 1 : -1; }))
    return 0x130; // wave_shl:1
  if (test([](int64_t lane) { return lane - 1; }))
    return 0x138; // wave_shr:1
  if (test([](int64_t lane) { return (lane & ~(kRow - 1)) - 1; }))
    return 0x142; // row_bcast:15
  if (test([](int64_t lane) { return lane < 32 ? -1 : 31; }))
    return 0x143; // row_bcast:31
  return std::nullopt;
}

/// The selectors of a permute from the other row, 4 bits for each lane.
static std::optional<uint64_t> findRowPermute(const LaneMove &move) {
  uint64_t selectors = 0;
  for (int64_t lane = 0; lane < kRow; ++lane) {
    int64_t select = 0;
    for (int64_t other = lane, lanes = move.sources.size(); other < lanes;
         other += kRow)
      if (move.sources[other] >= 0)
        select = move.sources[other] & (kRow - 1);
    selectors |= static_cast<uint64_t>(select) << (4 * lane);
  }
  bool isPermute = move.matches([&](int64_t lane) {
    auto select = static_cast<int64_t>(selectors >> (4 * (lane & (kRow - 1))) &
                                       (kRow - 1));
    return ((lane & ~(kRow - 1)) ^ kRow) | select;
  });
  return isPermute ? std::optional<uint64_t>(selectors) : std::nullopt;
}

/// The pattern of ds_swizzle in its bit mode: masks of lane bits that are kept,
/// set and inverted, in this order.
static std::optional<int64_t> findSwizzle(const LaneMove &move) {
  int64_t kept = 0, set = 0, inverted = 0;
  for (int64_t bit = 1; bit < kGroup; bit *= 2) {
    // The bit of the source is 0, 1, the bit of the lane, or its complement.
    bool canBe[4] = {true, true, true, true};
    for (auto [lane, source] : llvm::enumerate(move.sources)) {
      if (source < 0 || (move.same & bit) != 0)
        continue;
      bool own = (static_cast<int64_t>(lane) & bit) != 0,
           wanted = (source & bit) != 0;
      canBe[0] &= !wanted;
      canBe[1] &= wanted;
      canBe[2] &= wanted == own;
      canBe[3] &= wanted != own;
    }
    if (canBe[2] || canBe[3])
      kept |= bit;
    else if (canBe[1])
      set |= bit;
    else if (!canBe[0])
      return std::nullopt;
    if (!canBe[2] && canBe[3])
      inverted |= bit;
  }
  if (!move.matches([&](int64_t lane) {
        int64_t low = (((lane & kept) | set) ^ inverted) & (kGroup - 1);
        return (lane & ~(kGroup - 1)) | low;
      }))
    return std::nullopt;
  return kept | set << 5 | inverted << 10;
}

/// Swaps the words of lanes that differ in one bit.
template <typename SwapOp>
static Value emitSwap(OpBuilder &builder, Location loc, Value word, int64_t bit,
                      ThreadIndices &indices) {
  Type i32 = builder.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32});
  Value swapped = SwapOp::create(builder, loc, type, word, word, /*fi=*/false,
                                 /*boundControl=*/false);
  // Lower lanes get the word of the upper ones in the second result.
  Value upper = LLVM::ExtractValueOp::create(builder, loc, swapped, 1),
        lower = LLVM::ExtractValueOp::create(builder, loc, swapped, 0);
  OpBuilder &head = indices.getBuilder();
  Value half = indices.rem(indices.getLane(), 2 * bit);
  Value isUpper = arith::CmpIOp::create(
      head, indices.getLoc(), arith::CmpIPredicate::uge,
      half ? half : indices.getLane(), indices.getConstant(bit));
  return arith::SelectOp::create(builder, loc, isUpper, lower, upper);
}

/// The source lane of each lane, at the head of the kernel.
static Value emitSource(const LaneMove &move, ThreadIndices &indices) {
  OpBuilder &head = indices.getBuilder();
  Location loc = indices.getLoc();
  auto getLane = [&]() -> Value {
    return arith::IndexCastOp::create(head, loc, head.getI32Type(),
                                      indices.getLane());
  };
  if (std::optional<int64_t> mask = move.matchExchange())
    return arith::XOrIOp::create(head, loc, getLane(),
                                 getI32(head, loc, *mask));
  if (std::optional<int64_t> shift = move.matchShift())
    return arith::AddIOp::create(head, loc, getLane(),
                                 getI32(head, loc, *shift));
  return ThreadTables(indices).lookup(move.getThreadTable(indices.getGrid()));
}

Value amd::emitLaneMove(OpBuilder &builder, Location loc, Value word,
                        const LaneMove &move, const targets::Target &target,
                        ThreadIndices &indices) {
  Type i32 = builder.getI32Type();
  if (std::optional<int64_t> control = findDPP(move, target)) {
    constexpr uint32_t allRows = 0xf;
    Value old = LLVM::PoisonOp::create(builder, loc, i32);
    return ROCDL::DPPUpdateOp::create(builder, loc, i32, old, word,
                                      static_cast<uint32_t>(*control), allRows,
                                      allRows, /*boundCtrl=*/true);
  }
  if (std::optional<int64_t> lane = move.matchBroadcast())
    return ROCDL::ReadlaneOp::create(builder, loc, i32, word,
                                     getI32(builder, loc, *lane));
  if (target.hasRowExchange)
    if (std::optional<uint64_t> selectors = findRowPermute(move)) {
      Value old = LLVM::PoisonOp::create(builder, loc, i32);
      auto low = static_cast<int32_t>(*selectors),
           high = static_cast<int32_t>(*selectors >> 32);
      return ROCDL::PermlaneX16Op::create(
          builder, loc, i32, old, word, getI32(builder, loc, low),
          getI32(builder, loc, high), /*fi=*/true, /*boundControl=*/false);
    }
  if (target.hasLaneSwap) {
    if (move.matches([](int64_t lane) { return lane ^ 16; }))
      return emitSwap<ROCDL::Permlane16SwapOp>(builder, loc, word, 16, indices);
    if (move.matches([](int64_t lane) { return lane ^ 32; }))
      return emitSwap<ROCDL::Permlane32SwapOp>(builder, loc, word, 32, indices);
  }
  // All lanes of each half read one lane of the other half.
  if (move.matches([](int64_t lane) { return lane < kGroup ? kGroup : 0; })) {
    auto read = [&](int64_t lane) -> Value {
      return ROCDL::ReadlaneOp::create(builder, loc, i32, word,
                                       getI32(builder, loc, lane));
    };
    OpBuilder &head = indices.getBuilder();
    Value isLower =
        arith::CmpIOp::create(head, indices.getLoc(), arith::CmpIPredicate::ult,
                              indices.getLane(), indices.getConstant(kGroup));
    Value upper = read(kGroup), lower = read(0);
    return arith::SelectOp::create(builder, loc, isLower, upper, lower);
  }
  if (std::optional<int64_t> pattern = findSwizzle(move))
    return ROCDL::DsSwizzleOp::create(builder, loc, i32, word,
                                      getI32(builder, loc, *pattern));
  // The address of a lane is in bytes.
  OpBuilder &head = indices.getBuilder();
  Value address =
      arith::ShLIOp::create(head, indices.getLoc(), emitSource(move, indices),
                            getI32(head, indices.getLoc(), 2));
  return ROCDL::DsBpermuteOp::create(builder, loc, i32, address, word);
}
