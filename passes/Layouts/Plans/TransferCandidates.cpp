//===- TransferCandidates.cpp - Access patterns of a transfer -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Layouts/Plans/TransferCandidates.h"

#include "smalti/targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace smalti;
using namespace smalti::transfers;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;

int64_t Candidate::numAccesses() const {
  int64_t count = 1;
  for (const Digit &digit : outside)
    count *= digit.size;
  return count;
}

/// Splits the lowest `count` values off a digit.
static Digit takeLowest(Digit &digit, int64_t count) {
  Digit taken = {count, digit.stride, digit.reg, digit.element};
  digit.size /= count;
  digit.stride *= count;
  digit.reg *= count;
  digit.element *= count;
  return taken;
}

/// Takes a factor of 2 from the first digit that is wanted and has one.
static std::optional<Digit>
takeFactor2(llvm::SmallVectorImpl<Digit> &digits,
            llvm::function_ref<bool(const Digit &)> isWanted) {
  auto *digit = llvm::find_if(digits, [&](const Digit &digit) {
    return digit.size % 2 == 0 && isWanted(digit);
  });
  if (digit == digits.end())
    return std::nullopt;
  return takeLowest(*digit, 2);
}

/// The digits of the registers of a thread, the slowest first.
static SmallVector<Digit> heldDigits(const TransferDigits &digits) {
  SmallVector<Digit> held(digits.registers);
  held.append(digits.vector);
  return held;
}

/// Takes digits that are contiguous in memory, in order, until they are `bits`
/// wide. The result is empty if this fails.
static SmallVector<Digit> takeRun(SmallVector<Digit> &held, int64_t elementBits,
                                  int64_t bits) {
  SmallVector<Digit> run;
  int64_t width = elementBits;
  while (width < bits) {
    auto next = llvm::find_if(held, [&](const Digit &digit) {
      return digit.size > 1 && digit.stride == width;
    });
    int64_t count = next == held.end() ? 1 : std::gcd(next->size, bits / width);
    if (count == 1)
      return {};
    run.push_back(takeLowest(*next, count));
    width *= count;
  }
  return run;
}

SmallVector<Slot> transfers::listSlots(ArrayRef<Digit> digits) {
  SmallVector<Slot> slots = {{0, 0}};
  for (const Digit &digit : digits) {
    size_t inner = slots.size();
    for (int64_t i = 1; i < digit.size; ++i)
      for (size_t j = 0; j < inner; ++j)
        slots.push_back({slots[j].reg + i * digit.reg,
                         slots[j].element + i * digit.element});
  }
  return slots;
}

static bool areMultiples(ArrayRef<Digit> digits, int64_t bits) {
  return llvm::all_of(digits, [&](const Digit &digit) {
    return digit.size == 1 || digit.stride % bits == 0;
  });
}

/// Appends the terms of the digits of a part of the thread number, in bytes.
static void appendTerms(ArrayRef<Digit> digits, int64_t divisor,
                        SmallVector<ThreadTerm> &terms) {
  for (const Digit &digit : llvm::reverse(digits)) {
    if (digit.stride != 0)
      terms.push_back({divisor, digit.size, digit.stride / 8});
    divisor *= digit.size;
  }
}

/// The stride of each bit of the lane number, the lowest first, or no value if
/// the size of a digit is not a power of two.
static std::optional<SmallVector<int64_t>> laneBits(ArrayRef<Digit> lanes) {
  SmallVector<int64_t> bits;
  for (const Digit &digit : llvm::reverse(lanes)) {
    if (!llvm::isPowerOf2_64(digit.size))
      return std::nullopt;
    for (int64_t step = 1; step < digit.size; step *= 2)
      bits.push_back(digit.stride * step);
  }
  return bits;
}

/// Appends a term for each bit of the lane number that has a stride (in bits);
/// consecutive bits with consecutive strides form one term.
static void appendBitTerms(ArrayRef<int64_t> bits,
                           SmallVector<ThreadTerm> &terms) {
  for (auto [bit, stride] : llvm::enumerate(bits)) {
    if (stride == 0)
      continue;
    int64_t divisor = int64_t(1) << bit;
    if (!terms.empty() && terms.back().divisor * terms.back().size == divisor &&
        terms.back().stride * terms.back().size == stride / 8)
      terms.back().size *= 2;
    else
      terms.push_back({divisor, 2, stride / 8});
  }
}

/// Aligned accesses of `bytes` bytes per lane.
static std::optional<Candidate>
vectorCandidate(const TransferDigits &digits, int64_t bytes, int64_t waveSize) {
  Candidate candidate;
  candidate.bytes = bytes;
  candidate.lanes = waveSize;
  candidate.outside = heldDigits(digits);
  int64_t bits = bytes * 8;
  SmallVector<Digit> run = takeRun(candidate.outside, digits.elementBits, bits);
  if ((run.empty() && bits != digits.elementBits) ||
      !areMultiples(candidate.outside, bits) ||
      !areMultiples(digits.lanes, bits) || !areMultiples(digits.warps, bits))
    return std::nullopt;
  candidate.slots = listSlots(run);
  appendTerms(digits.lanes, 1, candidate.terms);
  appendTerms(digits.warps, waveSize, candidate.terms);
  return candidate;
}

/// Bits of a row of a matrix of ldmatrix and stmatrix.
static constexpr int64_t kRowBits = 128;
static constexpr int64_t kWarpLanes = 32;

/// Completes a candidate with up to four matrices. `rows` are the address
/// strides of rows; `together` are the digits of the slots of an access.
static std::optional<Candidate> withMatrices(Candidate candidate,
                                             SmallVector<int64_t> rows,
                                             SmallVector<Digit> together,
                                             const TransferDigits &digits) {
  // Only some of the lanes that share a row would write it.
  for (int64_t stride : rows)
    if (stride == 0 || stride % kRowBits != 0)
      return std::nullopt;
  if (!areMultiples(candidate.outside, kRowBits) ||
      !areMultiples(digits.warps, kRowBits))
    return std::nullopt;
  // Lanes 8 and up have the addresses of the rows of further matrices.
  for (Digit &digit : llvm::reverse(candidate.outside))
    while (rows.size() < 5 && digit.size % 2 == 0) {
      Digit taken = takeLowest(digit, 2);
      rows.push_back(taken.stride);
      together.push_back(taken);
    }
  candidate.slots = listSlots(together);
  candidate.lanes = int64_t(1) << rows.size();
  appendBitTerms(rows, candidate.terms);
  appendTerms(digits.warps, kWarpLanes, candidate.terms);
  return candidate;
}

/// ldmatrix or stmatrix of rows of 16 bytes, with up to four matrices.
static std::optional<Candidate> matrixCandidate(const TransferDigits &digits,
                                                bool isTransposed) {
  constexpr int64_t wordBits = 32;
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (!bits || int64_t(1) << bits->size() != kWarpLanes)
    return std::nullopt;
  Candidate candidate;
  candidate.kind =
      isTransposed ? AccessKind::MatrixTransposed : AccessKind::Matrix;
  candidate.bytes = kRowBits / 8;
  candidate.outside = heldDigits(digits);
  // Address strides of the rows, and of the lanes that hold the words of a row.
  SmallVector<int64_t> rows, inRow;
  int64_t step = 0;
  SmallVector<Digit> word;
  if (isTransposed) {
    constexpr int64_t halfBits = 16;
    auto pair = llvm::find_if(candidate.outside, [](const Digit &digit) {
      return digit.element == 1 && digit.size % 2 == 0;
    });
    if (digits.elementBits != halfBits || pair == candidate.outside.end())
      return std::nullopt;
    word = {takeLowest(*pair, 2)};
    rows = {word.front().stride, (*bits)[0], (*bits)[1]};
    inRow = {(*bits)[2], (*bits)[3], (*bits)[4]};
    step = halfBits;
  } else {
    word = takeRun(candidate.outside, digits.elementBits, wordBits);
    if (word.empty() && digits.elementBits != wordBits)
      return std::nullopt;
    rows = {(*bits)[2], (*bits)[3], (*bits)[4]};
    inRow = {(*bits)[0], (*bits)[1]};
    step = wordBits;
  }
  for (int64_t stride : inRow) {
    if (stride != step)
      return std::nullopt;
    step *= 2;
  }
  // A register of the instruction must be a word of one register of the layout.
  SmallVector<Slot> slots = listSlots(word);
  for (auto [index, slot] : llvm::enumerate(slots))
    if (slot.reg != 0 || slot.element != static_cast<int64_t>(index))
      return std::nullopt;
  candidate.slotsPerPiece = slots.size();
  return withMatrices(candidate, rows, word, digits);
}

/// ldmatrix or stmatrix of transposed 8-bit elements.
static std::optional<Candidate> matrix8Candidate(const TransferDigits &digits,
                                                 bool isLoad) {
  constexpr int64_t elementBits = 8;
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (digits.elementBits != elementBits || !bits ||
      int64_t(1) << bits->size() != kWarpLanes)
    return std::nullopt;
  Candidate candidate;
  candidate.kind = AccessKind::MatrixTransposed8;
  candidate.bytes = kRowBits / 8;
  candidate.outside = heldDigits(digits);
  auto takeDigit = [&](auto isWanted) {
    return takeFactor2(candidate.outside, isWanted);
  };
  // Two rows, which are adjacent in a register; the other column; and for a
  // load, the next two rows.
  auto isNext = [](int64_t element) {
    return [=](const Digit &digit) { return digit.element == element; };
  };
  std::optional<Digit> pair = takeDigit(isNext(1));
  std::optional<Digit> column = takeDigit([&](const Digit &digit) {
    return digit.stride == kRowBits / 2 && digit.element == 0;
  });
  if (!pair || !column)
    return std::nullopt;
  SmallVector<Digit> together = {*pair, *column};
  SmallVector<int64_t> rows = {pair->stride};
  if (isLoad) {
    std::optional<Digit> next = takeDigit(isNext(2));
    if (!next)
      return std::nullopt;
    together.push_back(*next);
    rows.push_back(next->stride);
  }
  rows.append({(*bits)[0], (*bits)[1]});
  for (int64_t bit = 0; bit < 3; ++bit)
    if ((*bits)[2 + bit] != elementBits << bit)
      return std::nullopt;
  candidate.slotsPerPiece = 2;
  return withMatrices(candidate, rows, together, digits);
}

/// ldmatrix of transposed pairs of 8-bit elements, which are neighbors in a
/// row.
static std::optional<Candidate> pairsCandidate(const TransferDigits &digits) {
  constexpr int64_t elementBits = 8;
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (digits.elementBits != elementBits || !bits ||
      int64_t(1) << bits->size() != kWarpLanes)
    return std::nullopt;
  for (int64_t bit = 0; bit < 3; ++bit)
    if ((*bits)[2 + bit] != 2 * elementBits << bit)
      return std::nullopt;
  Candidate candidate;
  candidate.kind = AccessKind::MatrixOfPairs;
  candidate.bytes = kRowBits / 8;
  candidate.outside = heldDigits(digits);
  auto takeDigit = [&](auto isWanted) {
    return takeFactor2(candidate.outside, isWanted);
  };
  // The other element of the pair, and the four rows of a register: two in each
  // of two matrices.
  std::optional<Digit> neighbor = takeDigit([&](const Digit &digit) {
    return digit.stride == elementBits && digit.element == 0;
  });
  std::optional<Digit> row =
      takeDigit([](const Digit &digit) { return digit.element == 1; });
  std::optional<Digit> next =
      takeDigit([](const Digit &digit) { return digit.element == 2; });
  if (!neighbor || !row || !next)
    return std::nullopt;
  return withMatrices(candidate,
                      {row->stride, (*bits)[0], (*bits)[1], next->stride},
                      {*neighbor, *row, *next}, digits);
}

/// A transposed LDS read of AMD targets.
static std::optional<Candidate>
transposedCandidate(const TransferDigits &digits,
                    const targets::TransposedRead &read, int64_t waveSize) {
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (digits.elementBits != read.elementBits || !bits ||
      int64_t(1) << bits->size() != waveSize)
    return std::nullopt;
  Candidate candidate;
  candidate.kind = AccessKind::TransposedRead;
  candidate.bytes = read.bytes;
  candidate.lanes = waveSize;
  candidate.outside = heldDigits(digits);
  size_t inRow = llvm::Log2_64(read.elements());
  for (size_t bit = 0; bit < inRow; ++bit)
    if ((*bits)[bit] != read.elementBits << bit)
      return std::nullopt;
  // The elements that the lane receives, in the order of its registers.
  SmallVector<Digit> received;
  for (Digit &digit : llvm::reverse(candidate.outside))
    while (received.size() < inRow && digit.size % 2 == 0)
      received.push_back(takeLowest(digit, 2));
  if (received.size() < inRow)
    return std::nullopt;
  candidate.slots = listSlots(received);
  SmallVector<int64_t> sources;
  size_t element = 0, lane = inRow;
  auto take = [&](size_t &next, size_t end, size_t count) {
    for (size_t i = 0; i < count && next < end; ++i, ++next)
      sources.push_back(&next == &element ? received[next].stride
                                          : (*bits)[next]);
  };
  take(element, inRow, read.firstElementBits);
  take(lane, bits->size(), read.firstLaneBits);
  take(element, inRow, inRow);
  take(lane, bits->size(), bits->size());
  int64_t rowBits = read.bytes * 8;
  if (llvm::any_of(sources,
                   [&](int64_t stride) { return stride % rowBits != 0; }) ||
      !areMultiples(candidate.outside, rowBits) ||
      !areMultiples(digits.warps, rowBits))
    return std::nullopt;
  appendBitTerms(sources, candidate.terms);
  appendTerms(digits.warps, waveSize, candidate.terms);
  return candidate;
}

SmallVector<Candidate> transfers::listCandidates(const TransferDigits &digits,
                                                 bool isLoad,
                                                 const Target &target) {
  SmallVector<Candidate> candidates;
  auto add = [&](std::optional<Candidate> candidate) {
    if (candidate)
      candidates.push_back(std::move(*candidate));
  };
  for (int64_t bytes = banks::kWidestAccess; bytes > 0; bytes /= 2)
    add(vectorCandidate(digits, bytes, target.waveSize));
  if (isLoad ? target.hasLdMatrix : target.hasStMatrix)
    for (bool isTransposed : {false, true})
      add(matrixCandidate(digits, isTransposed));
  if (target.hasTransposed8BitMatrix)
    add(matrix8Candidate(digits, isLoad));
  if (isLoad && target.hasLdMatrix)
    add(pairsCandidate(digits));
  if (isLoad)
    for (const targets::TransposedRead &read : target.transposedReads)
      add(transposedCandidate(digits, read, target.waveSize));
  return candidates;
}
