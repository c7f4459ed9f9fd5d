//===- TransferCandidates.cpp - The ways to make a transfer ---------------===//

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

/// Takes the lowest `factor` values out of a digit.
static Digit takeFactor(Digit &digit, int64_t factor) {
  Digit taken = {factor, digit.stride, digit.reg, digit.element};
  digit.size /= factor;
  digit.stride *= factor;
  digit.reg *= factor;
  digit.element *= factor;
  return taken;
}

/// What a thread holds, the slowest digit first.
static SmallVector<Digit> heldDigits(const TransferDigits &digits) {
  SmallVector<Digit> held(digits.registers);
  held.append(digits.vector);
  return held;
}

/// Takes digits that lie behind one another in memory, the first first, until
/// they are `bits` wide. The result is empty if they do not get there.
static SmallVector<Digit> takeRun(SmallVector<Digit> &held, int64_t elementBits,
                                  int64_t bits) {
  SmallVector<Digit> run;
  int64_t width = elementBits;
  while (width < bits) {
    auto next = llvm::find_if(held, [&](const Digit &digit) {
      return digit.size > 1 && digit.stride == width;
    });
    int64_t factor =
        next == held.end() ? 1 : std::gcd(next->size, bits / width);
    if (factor == 1)
      return {};
    run.push_back(takeFactor(*next, factor));
    width *= factor;
  }
  return run;
}

SmallVector<Place> transfers::countPlaces(ArrayRef<Digit> digits) {
  SmallVector<Place> places = {{0, 0}};
  for (const Digit &digit : digits) {
    size_t inner = places.size();
    for (int64_t i = 1; i < digit.size; ++i)
      for (size_t j = 0; j < inner; ++j)
        places.push_back({places[j].reg + i * digit.reg,
                          places[j].element + i * digit.element});
  }
  return places;
}

static bool areMultiples(ArrayRef<Digit> digits, int64_t bits) {
  return llvm::all_of(digits, [&](const Digit &digit) {
    return digit.size == 1 || digit.stride % bits == 0;
  });
}

/// Appends the digits of a part of the thread's number, in bytes.
static void appendTerms(ArrayRef<Digit> digits, int64_t divisor,
                        SmallVector<ThreadTerm> &terms) {
  for (const Digit &digit : llvm::reverse(digits)) {
    if (digit.stride != 0)
      terms.push_back({divisor, digit.size, digit.stride / 8});
    divisor *= digit.size;
  }
}

/// The stride of each bit of the lane's number, the lowest first, or nothing
/// where a digit is no power of two.
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

/// Appends a term for each bit of the lane's number that has a stride (in
/// bits); bits that go on where the one before ends make one term.
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

/// One access of `bytes` bytes a lane, aligned.
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
  candidate.places = countPlaces(run);
  appendTerms(digits.lanes, 1, candidate.terms);
  appendTerms(digits.warps, waveSize, candidate.terms);
  return candidate;
}

/// ldmatrix or stmatrix of rows of 16 bytes, as many matrices as go together.
static std::optional<Candidate> matrixCandidate(const TransferDigits &digits,
                                                bool isTransposed) {
  constexpr int64_t rowBits = 128, wordBits = 32, lanes = 32, matrixRows = 8;
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (!bits || int64_t(1) << bits->size() != lanes)
    return std::nullopt;
  Candidate candidate;
  candidate.kind =
      isTransposed ? AccessKind::MatrixTransposed : AccessKind::Matrix;
  candidate.bytes = rowBits / 8;
  candidate.outside = heldDigits(digits);
  // What the lanes that hold a row's words, and the rows, are to the address.
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
    word = {takeFactor(*pair, 2)};
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
  // Rows that several lanes share would be written by some of them alone.
  for (int64_t stride : rows)
    if (stride == 0 || stride % rowBits != 0)
      return std::nullopt;
  if (!areMultiples(candidate.outside, rowBits) ||
      !areMultiples(digits.warps, rowBits))
    return std::nullopt;
  // A register of the instruction is a word of one register.
  SmallVector<Place> places = countPlaces(word);
  for (auto [index, place] : llvm::enumerate(places))
    if (place.reg != 0 || place.element != static_cast<int64_t>(index))
      return std::nullopt;
  candidate.placesPerPiece = places.size();

  // Up to four matrices: the lanes behind the first eight name their rows.
  SmallVector<Digit> together = word;
  for (Digit &digit : llvm::reverse(candidate.outside))
    while (rows.size() < 5 && digit.size % 2 == 0) {
      Digit taken = takeFactor(digit, 2);
      rows.push_back(taken.stride);
      together.push_back(taken);
    }
  candidate.places = countPlaces(together);
  candidate.lanes = matrixRows << (rows.size() - 3);
  appendBitTerms(rows, candidate.terms);
  appendTerms(digits.warps, lanes, candidate.terms);
  return candidate;
}

/// ldmatrix or stmatrix of transposed 8-bit elements.
static std::optional<Candidate> matrix8Candidate(const TransferDigits &digits,
                                                 bool isLoad) {
  constexpr int64_t rowBits = 128, elementBits = 8, lanes = 32;
  std::optional<SmallVector<int64_t>> bits = laneBits(digits.lanes);
  if (digits.elementBits != elementBits || !bits ||
      int64_t(1) << bits->size() != lanes)
    return std::nullopt;
  Candidate candidate;
  candidate.kind = AccessKind::MatrixTransposed8;
  candidate.bytes = rowBits / 8;
  candidate.outside = heldDigits(digits);
  auto takeDigit = [&](auto isWanted) -> std::optional<Digit> {
    auto digit = llvm::find_if(candidate.outside, [&](const Digit &digit) {
      return digit.size % 2 == 0 && isWanted(digit);
    });
    if (digit == candidate.outside.end())
      return std::nullopt;
    return takeFactor(*digit, 2);
  };
  // Two rows, which are neighbours in a register; the other column; and, of a
  // load, the next two rows.
  auto isNext = [](int64_t element) {
    return [=](const Digit &digit) { return digit.element == element; };
  };
  std::optional<Digit> pair = takeDigit(isNext(1));
  std::optional<Digit> column = takeDigit([&](const Digit &digit) {
    return digit.stride == rowBits / 2 && digit.element == 0;
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
  for (int64_t stride : rows)
    if (stride == 0 || stride % rowBits != 0)
      return std::nullopt;
  if (!areMultiples(candidate.outside, rowBits) ||
      !areMultiples(digits.warps, rowBits))
    return std::nullopt;
  candidate.placesPerPiece = 2;
  for (Digit &digit : llvm::reverse(candidate.outside))
    while (rows.size() < 5 && digit.size % 2 == 0) {
      Digit taken = takeFactor(digit, 2);
      rows.push_back(taken.stride);
      together.push_back(taken);
    }
  candidate.places = countPlaces(together);
  candidate.lanes = int64_t(1) << rows.size();
  appendBitTerms(rows, candidate.terms);
  appendTerms(digits.warps, lanes, candidate.terms);
  return candidate;
}

/// A transposed read of AMD's.
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
  // The elements that the lane gets, the next ones in its registers first.
  SmallVector<Digit> got;
  for (Digit &digit : llvm::reverse(candidate.outside))
    while (got.size() < inRow && digit.size % 2 == 0)
      got.push_back(takeFactor(digit, 2));
  if (got.size() < inRow)
    return std::nullopt;
  candidate.places = countPlaces(got);
  SmallVector<int64_t> sources;
  size_t element = 0, lane = inRow;
  auto take = [&](size_t &next, size_t end, size_t count) {
    for (size_t i = 0; i < count && next < end; ++i, ++next)
      sources.push_back(&next == &element ? got[next].stride : (*bits)[next]);
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
  if (isLoad)
    for (const targets::TransposedRead &read : target.transposedReads)
      add(transposedCandidate(digits, read, target.waveSize));
  return candidates;
}
