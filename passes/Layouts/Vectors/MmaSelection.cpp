//===- MmaSelection.cpp - MMA instructions of block-level matmuls ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Vectors/MmaSelection.h"

#include "smalti/targets/BlockFragments.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smalti;
using targets::Element;
using targets::MmaInstruction;

std::optional<Element> smalti::getMmaElement(Type type) {
  return llvm::TypeSwitch<Type, std::optional<Element>>(type)
      .Case<Float16Type>([](auto) { return Element::F16; })
      .Case<BFloat16Type>([](auto) { return Element::BF16; })
      .Case<Float32Type>([](auto) { return Element::F32; })
      .Case<FloatTF32Type>([](auto) { return Element::TF32; })
      .Case<Float64Type>([](auto) { return Element::F64; })
      .Case<Float8E4M3FNType>([](auto) { return Element::E4M3; })
      .Case<Float8E5M2Type>([](auto) { return Element::E5M2; })
      .Case<Float8E4M3FNUZType>([](auto) { return Element::E4M3FNUZ; })
      .Case<Float8E5M2FNUZType>([](auto) { return Element::E5M2FNUZ; })
      .Case<IntegerType>([](IntegerType integer) -> std::optional<Element> {
        if (integer.getWidth() == 8)
          return Element::I8;
        if (integer.getWidth() == 4)
          return Element::I4;
        if (integer.getWidth() == 32)
          return Element::I32;
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

std::optional<MmaElements> MmaElements::get(Value a, Value b, Value accumulator,
                                            bool hasUnsigned) {
  auto elementOf = [](Value value) {
    return getMmaElement(getElementTypeOrSelf(value.getType()));
  };
  std::optional<Element> elementA = elementOf(a), elementB = elementOf(b),
                         elementC = elementOf(accumulator);
  if (!elementA || !elementB || !elementC)
    return std::nullopt;
  return MmaElements{*elementA, *elementB, *elementC, hasUnsigned};
}

std::optional<MmaElements> MmaElements::getTF32() const {
  if (a != Element::F32 || b != Element::F32)
    return std::nullopt;
  return MmaElements{Element::TF32, Element::TF32, accumulator};
}

bool MmaElements::match(const MmaInstruction &instruction) const {
  return instruction.a == a && instruction.b == b &&
         instruction.accumulator == accumulator &&
         (!hasUnsigned || instruction.takesUnsigned);
}

/// Whether transpose(B) can be operand A and transpose(A) operand B.
static bool hasTransposedForm(const MmaInstruction &instruction) {
  return (instruction.kind == targets::MmaKind::Mfma ||
          instruction.kind == targets::MmaKind::Wmma) &&
         instruction.m == instruction.n && instruction.a == instruction.b;
}

std::optional<BlockMma> smalti::arrangeMma(const MmaInstruction &instruction,
                                           int64_t m, int64_t n, int64_t k,
                                           int64_t warpsM, int64_t warpsN,
                                           bool isTransposed) {
  if (warpsM < 1 || warpsN < 1 || m < 1 || n < 1 || k < 1 ||
      (isTransposed && !hasTransposedForm(instruction)))
    return std::nullopt;
  if (m % (instruction.m * warpsM) != 0 || n % (instruction.n * warpsN) != 0 ||
      k % instruction.k != 0)
    return std::nullopt;
  BlockMma mma;
  mma.instruction = &instruction;
  mma.m = m;
  mma.n = n;
  mma.k = k;
  mma.warpsM = warpsM;
  mma.warpsN = warpsN;
  mma.isTransposed = isTransposed;
  auto layoutOf = [&](targets::Operand operand) {
    return targets::blockFragment(instruction, operand, warpsM, warpsN);
  };
  mma.a = layoutOf(targets::Operand::A);
  mma.b = layoutOf(targets::Operand::B);
  mma.accumulator =
      isTransposed ? targets::transposedAccumulator(instruction, warpsM, warpsN)
                   : layoutOf(targets::Operand::Accumulator);
  return mma;
}

/// Calls `visit` with every arrangement of the warps, most rows first. The
/// transposed matmul comes after the one that is not.
template <typename Visit>
static void forEachArrangement(const MmaInstruction &instruction, int64_t m,
                               int64_t n, int64_t k, int64_t numWarps,
                               Visit visit) {
  for (int64_t warpsM = numWarps; warpsM >= 1; --warpsM)
    if (numWarps % warpsM == 0)
      for (bool isTransposed : {false, true})
        if (std::optional<BlockMma> mma = arrangeMma(
                instruction, m, n, k, warpsM, numWarps / warpsM, isTransposed))
          visit(*mma);
}

std::optional<BlockMma> smalti::selectMma(const targets::Target &target,
                                          const MmaElements &elements,
                                          int64_t m, int64_t n, int64_t k,
                                          int64_t numWarps) {
  for (const MmaInstruction &instruction : target.mmas) {
    if (!elements.match(instruction))
      continue;
    std::optional<BlockMma> best;
    int64_t bestReads = 0;
    forEachArrangement(instruction, m, n, k, numWarps,
                       [&](const BlockMma &mma) {
                         // Each warp reads its rows of A and its columns of B.
                         int64_t reads = m / mma.warpsM + n / mma.warpsN;
                         if (!best || reads < bestReads) {
                           best = mma;
                           bestReads = reads;
                         }
                       });
    if (best)
      return best;
  }
  return std::nullopt;
}

std::optional<BlockMma>
smalti::findMma(const targets::Target &target, const MmaElements &elements,
                int64_t m, int64_t n, int64_t k, int64_t numWarps,
                llvm::function_ref<bool(const BlockMma &)> accepts) {
  std::optional<BlockMma> found;
  for (ArrayRef<MmaInstruction> table : {target.mmas, target.pairedMmas})
    for (const MmaInstruction &instruction : table) {
      if (!elements.match(instruction))
        continue;
      forEachArrangement(instruction, m, n, k, numWarps,
                         [&](const BlockMma &mma) {
                           if (!found && accepts(mma))
                             found = mma;
                         });
      if (found)
        return found;
    }
  return std::nullopt;
}

std::optional<BlockMma> smalti::pairMma(const targets::Target &target,
                                        const BlockMma &mma,
                                        targets::MmaPairing pairing) {
  for (const MmaInstruction &instruction : target.pairedMmas)
    if (instruction.mnemonic == mma.instruction->mnemonic &&
        instruction.pairing == pairing)
      return arrangeMma(instruction, mma.m, mma.n, mma.k, mma.warpsM,
                        mma.warpsN);
  return std::nullopt;
}
