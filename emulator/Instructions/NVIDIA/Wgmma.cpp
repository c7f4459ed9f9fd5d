//===- Wgmma.cpp - wgmma of NVIDIA ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions". The four warps
// of a warpgroup execute a wgmma together; each computes 16 rows when it
// executes the instruction. A wgmma completes for the whole warpgroup: a wait
// returns only after all four warps have executed the wgmma. CUTLASS releases
// an operand by one thread of the warpgroup (PipelineTmaAsync).
//
// Until the wait, operands in shared memory must not change, and no thread may
// read the accumulators. Both are checked: operands at the wait, accumulators
// by `smalti.nvvm.accumulator`, which the rewriter inserts before their uses.
// Multiplications are exact and sums are in double, rounded once per
// instruction, as for mma.sync.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Matmul.h"
#include "smalti/emulator/Instructions/NVIDIA/Fragments.h"
#include "smalti/emulator/Instructions/NVIDIA/MatrixDescriptor.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <deque>
#include <map>
#include <memory>

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

constexpr int numWarps = 4, rows = 64, warpRows = 16, maxColumns = 256;
/// The bytes of an operand for each row of A and column of B: two chunks of 16
/// bytes, or the same number of elements in a transposed layout.
constexpr int rowBytes = 32;

//===----------------------------------------------------------------------===//
// What is in flight
//===----------------------------------------------------------------------===//

/// An operand in shared memory.
struct SharedOperand {
  MatrixDescriptor descriptor;
  MatrixShape shape;
  /// The chunks at the time when the first warp executed the wgmma.
  std::vector<char> bytes;
};

/// A wgmma of a warpgroup.
struct Wgmma {
  const void *opcode;
  uint64_t descriptorA, descriptorB;
  uint32_t modifiers;
  /// The bytes of A are empty if A is in registers.
  SharedOperand a, b;
  /// B as numbers, in the order of `panelIndex`.
  std::vector<double> columns;
  int numIssued = 0, numDone = 0;
  Origin origin;
};

struct Warpgroup {
  /// The wgmmas that some warp has not yet executed or waited for; the number
  /// of the first is `first`.
  std::deque<std::unique_ptr<Wgmma>> wgmmas;
  uint64_t first = 1;
};

/// The state of a warp.
struct Warp {
  bool hasFenced = false;
  /// Numbers of the last wgmma that was executed, of the last complete one, and
  /// of the last one in each group.
  uint64_t numIssued = 0, numDone = 0;
  std::deque<uint64_t> groups;
};

std::map<int, Warpgroup> warpgroups;
std::map<int, Warp> warps;

void forget() {
  warpgroups.clear();
  warps.clear();
}

void checkWholeWarpgroups() {
  for (const auto &[index, group] : warpgroups)
    for (const std::unique_ptr<Wgmma> &wgmma : group.wgmmas)
      if (wgmma->numIssued < numWarps)
        failInOrder("divergence", wgmma->origin, nullptr, 0,
                    "wgmma.mma_async was executed by only %d warps of a "
                    "warpgroup; all %d warps must execute it",
                    wgmma->numIssued, numWarps);
}

const BlockObserver observer(forget, checkWholeWarpgroups);

Warp &currentWarp() { return warps[waveIdInCluster()]; }
/// The key is the first warp of the warpgroup.
Warpgroup &currentWarpgroup() {
  return warpgroups[waveIdInCluster() - waveId() % numWarps];
}
int rankInWarpgroup() { return waveId() % numWarps; }

/// The chunks of an operand: all of them, or for A those with the rows of this
/// warp.
template <class Use>
void forEachChunk(const SharedOperand &operand, bool ofWarp, Use use) {
  int first = 0, end = operand.bytes.empty() ? 0 : operand.shape.numChunks();
  // Rows of A are the outer dimension if K is contiguous; otherwise a chunk
  // holds 8 rows.
  if (ofWarp) {
    int each = end / numWarps;
    first = rankInWarpgroup() * each;
    end = first + each;
  }
  for (int i = first; i < end; ++i)
    use(operand.descriptor.chunk(operand.shape, i), i);
}

[[noreturn]] void failOverwritten(const Wgmma &wgmma, const char *at,
                                  const char *when) {
  failInOrder("race", wgmma.origin, at, MatrixDescriptor::chunkBytes,
              "data race: a shared-memory operand of wgmma.mma_async was "
              "overwritten %s; wait for the wgmma before the write",
              when);
}

/// Checks that the chunks are unchanged.
void checkUnchanged(const Wgmma &wgmma, const SharedOperand &operand,
                    bool ofWarp, const char *when) {
  constexpr int size = MatrixDescriptor::chunkBytes;
  forEachChunk(operand, ofWarp, [&](const char *at, int i) {
    if (memcmp(operand.bytes.data() + i * size, at, size) != 0)
      failOverwritten(wgmma, at, when);
  });
}

void readOperand(SharedOperand &operand) {
  constexpr int size = MatrixDescriptor::chunkBytes;
  operand.bytes.resize(size_t(operand.shape.numChunks()) * size);
  for (int i = 0; i < operand.shape.numChunks(); ++i) {
    const char *at = operand.descriptor.chunk(operand.shape, i);
    touchAsyncRead(at, size);
    memcpy(operand.bytes.data() + i * size, at, size);
  }
}

/// Reports the earliest reads of this warp.
void touchOperand(const SharedOperand &operand, bool ofWarp) {
  forEachChunk(operand, ofWarp, [&](const char *at, int) {
    touchRead(at, MatrixDescriptor::chunkBytes);
  });
}

/// Reports the reads of operands at completion to ThreadSanitizer. The tensor
/// cores read them, after the accesses of the first lane of each warp before
/// the wgmma.
void touchOperands(const Wgmma &wgmma) {
  acquireByTensorCores(&wgmma);
  for (const SharedOperand *operand : {&wgmma.a, &wgmma.b})
    forEachChunk(*operand, /*ofWarp=*/false, [&](const char *at, int) {
      touchReadByTensorCores(wgmma.origin, at, MatrixDescriptor::chunkBytes);
    });
  releaseByTensorCores(&wgmma);
}

/// The first wait completes the wgmma: this is the last time at which it may
/// read its operands.
void finish(Wgmma &wgmma) {
  if (wgmma.numDone == 0 && isAsyncLate()) {
    checkUnchanged(wgmma, wgmma.a, /*ofWarp=*/false,
                   "while the wgmma was in flight");
    checkUnchanged(wgmma, wgmma.b, /*ofWarp=*/false,
                   "while the wgmma was in flight");
  }
  if (wgmma.numDone == 0 && isCheckingRaces())
    touchOperands(wgmma);
  ++wgmma.numDone;
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

template <class Type> struct Elements {
  using Element = Packed<Type>;
  static constexpr int k = rowBytes / sizeof(typename Type::Storage);
  static constexpr bool isInteger =
      std::is_same_v<typename Element::Number, int32_t>;
};

/// Element `index` along the rows of A or columns of B, and `k`.
template <class Type>
double elementAt(const SharedOperand &operand, int index, int k) {
  using Storage = typename Type::Storage;
  constexpr int inChunk = MatrixDescriptor::chunkBytes / sizeof(Storage);
  const char *chunk;
  int element;
  if (operand.shape.isMajorK) {
    chunk = operand.bytes.data() +
            (2 * index + k / inChunk) * MatrixDescriptor::chunkBytes;
    element = k % inChunk;
  } else {
    // A chunk holds eight rows of one k.
    chunk = operand.bytes.data() + (index / inChunk * Elements<Type>::k + k) *
                                       MatrixDescriptor::chunkBytes;
    element = index % inChunk;
  }
  return double(Packed<Type>::read(chunk, element));
}

/// The operand indices of a call: accumulators, A as a descriptor or four
/// registers, B, scale-d, [scale-a, scale-b,] [trans-a,] [trans-b,] and the
/// number of the wgmma that wrote the accumulators.
struct OperandIndices {
  int numAccumulators, a, b, scaleD;
  bool isAShared;

  explicit OperandIndices(const Call &call)
      : numAccumulators(int(call.resultBytes() - 8) / 4), a(numAccumulators) {
    isAShared = call.bytes(a) == 8;
    b = a + (isAShared ? 1 : 4);
    scaleD = b + 1;
  }
};

double scaleOf(const Call &call, int operand) {
  int scale = call.get<int32_t>(operand);
  if (scale != 1 && scale != -1)
    fail("wgmma.mma_async: imm-scale is %d; it must be 1 or -1", scale);
  return scale;
}

bool isTransposed(const Call &call, int operand) {
  uint32_t value = call.get<uint32_t>(operand);
  if (value > 1)
    fail("wgmma.mma_async: imm-trans is %u; it must be 0 or 1", value);
  return value;
}

/// The wgmma that this warp executes; the first of the four warps creates it.
Wgmma &issue(const Call &call, const OperandIndices &indices,
             const void *opcode, uint32_t modifiers, MatrixShape shapeA,
             MatrixShape shapeB) {
  Warp &warp = currentWarp();
  Warpgroup &group = currentWarpgroup();
  if (numThreads() / (warpSize * numWarps) <= waveId() / numWarps)
    failAs("divergence",
           "wgmma.mma_async is executed by the last %d threads of the block, "
           "which are not a whole warpgroup; the block size must be a multiple "
           "of 128",
           numThreads() % (warpSize * numWarps));
  if (!warp.hasFenced)
    failAs("race", "wgmma.mma_async: no wgmma.fence orders it after earlier "
                   "accesses to its registers; execute wgmma.fence before it");
  uint64_t number = ++warp.numIssued;
  auto descriptorA =
      indices.isAShared ? call.get<uint64_t>(indices.a) : uint64_t(0);
  auto descriptorB = call.get<uint64_t>(indices.b);
  if (number - group.first < group.wgmmas.size()) {
    Wgmma &wgmma = *group.wgmmas[number - group.first];
    if (wgmma.opcode != opcode || wgmma.descriptorA != descriptorA ||
        wgmma.descriptorB != descriptorB || wgmma.modifiers != modifiers)
      failInOrder(
          "divergence", wgmma.origin, nullptr, 0,
          "the warps of a warpgroup execute different wgmma.mma_async "
          "instructions or pass different descriptors; all four warps must "
          "execute the same instruction with the same descriptors");
    checkUnchanged(wgmma, wgmma.a, /*ofWarp=*/true,
                   "before all warps of the warpgroup executed the wgmma");
    checkUnchanged(wgmma, wgmma.b, /*ofWarp=*/false,
                   "before all warps of the warpgroup executed the wgmma");
    if (isCheckingRaces()) {
      touchOperand(wgmma.a, /*ofWarp=*/true);
      touchOperand(wgmma.b, /*ofWarp=*/false);
      releaseOrder(&wgmma);
    }
    ++wgmma.numIssued;
    return wgmma;
  }
  group.wgmmas.push_back(std::make_unique<Wgmma>());
  Wgmma &wgmma = *group.wgmmas.back();
  wgmma.opcode = opcode;
  wgmma.descriptorA = descriptorA;
  wgmma.descriptorB = descriptorB;
  wgmma.modifiers = modifiers;
  wgmma.origin = originHere();
  if (indices.isAShared) {
    wgmma.a.descriptor = MatrixDescriptor(descriptorA);
    wgmma.a.shape = shapeA;
    readOperand(wgmma.a);
  }
  wgmma.b.descriptor = MatrixDescriptor(descriptorB);
  wgmma.b.shape = shapeB;
  readOperand(wgmma.b);
  releaseOrder(&wgmma);
  wgmma.numIssued = 1;
  return wgmma;
}

/// Checks accumulators of an outstanding wgmma: only a wgmma of the same shape
/// may accumulate into them.
void checkAccumulators(uint64_t previous, const void *opcode) {
  Warp &warp = currentWarp();
  if (previous <= warp.numDone || !isAsyncLate())
    return;
  Warpgroup &group = currentWarpgroup();
  const Wgmma &wgmma = *group.wgmmas[previous - group.first];
  if (wgmma.opcode != opcode)
    failInOrder("race", wgmma.origin, nullptr, 0,
                "data race: wgmma.mma_async accumulates into registers of an "
                "outstanding wgmma of another shape; execute wgmma.wait_group "
                "in between");
}

template <class A, class B, class D, bool saturate>
void multiply(const Wave &wave) {
  constexpr int k = Elements<A>::k;
  constexpr bool isInteger = Elements<A>::isInteger;
  constexpr bool canTranspose = sizeof(typename A::Storage) == 2;
  using Accumulator = typename D::Storage;
  constexpr int inRegister = 4 / sizeof(Accumulator);
  const Call &any = wave.lanes[0];
  OperandIndices indices(any);
  int n = 2 * indices.numAccumulators * inRegister;
  int next = indices.scaleD + 1;
  double sign = 1;
  if (!isInteger) {
    sign = scaleOf(any, next) * scaleOf(any, next + 1);
    next += 2;
  }
  bool transposedA = false, transposedB = false;
  if (canTranspose) {
    if (indices.isAShared)
      transposedA = isTransposed(any, next++);
    transposedB = isTransposed(any, next++);
  }
  bool adds = any.get<uint8_t>(indices.scaleD) & 1;
  // The function is one for the types, n for the shape.
  auto opcode =
      reinterpret_cast<const char *>(&multiply<A, B, D, saturate>) + n;
  uint32_t modifiers = transposedA | transposedB << 1 | adds << 2 |
                       (sign < 0) << 3 | indices.isAShared << 4;
  wave.forEach([&](int lane, const Call &call) {
    if ((indices.isAShared &&
         call.get<uint64_t>(indices.a) != any.get<uint64_t>(indices.a)) ||
        call.get<uint64_t>(indices.b) != any.get<uint64_t>(indices.b) ||
        (call.get<uint8_t>(indices.scaleD) & 1) != adds)
      failLane(
          call, lane,
          "wgmma.mma_async: lane %d and lane 0 pass different descriptors or "
          "scale-d; all lanes of a warp must pass the same values",
          lane);
  });
  uint64_t previous = any.get<uint64_t>(next);
  if (adds)
    checkAccumulators(previous, opcode);
  Wgmma &wgmma = issue(any, indices, opcode, modifiers, {rows, k, !transposedA},
                       {n, k, !transposedB});

  static double a[warpRows][k];
  if (indices.isAShared) {
    int first = warpRows * rankInWarpgroup();
    for (int row = 0; row < warpRows; ++row)
      for (int i = 0; i < k; ++i)
        a[row][i] = elementAt<A>(wgmma.a, first + row, i);
  } else if constexpr (isInteger) {
    static int32_t numbers[warpRows][k];
    gatherRows<Packed<A>>(wave, indices.a, numbers);
    for (int row = 0; row < warpRows; ++row)
      for (int i = 0; i < k; ++i)
        a[row][i] = numbers[row][i];
  } else {
    gatherRows<Packed<A>>(wave, indices.a, a);
  }
  if (sign < 0)
    for (auto &row : a)
      for (double &element : row)
        element = -element;
  if (wgmma.columns.empty()) {
    wgmma.columns.resize(size_t(k) * n);
    for (int column = 0; column < n; ++column)
      for (int i = 0; i < k; ++i)
        wgmma.columns[size_t(panelIndex(k, i, column))] =
            elementAt<B>(wgmma.b, column, i);
  }

  static double sums[warpRows * maxColumns];
  auto forEachSum = [&](auto use) {
    for (int lane = 0; lane < warpSize; ++lane)
      for (int e = 0; e < indices.numAccumulators * inRegister; ++e) {
        int row = lane / 4 + 8 * (e / 2 % 2);
        int column = 8 * (e / 4) + 2 * (lane % 4) + e % 2;
        use(lane, e, sums[row * n + column]);
      }
  };
  if (adds)
    forEachSum([&](int lane, int e, double &sum) {
      Accumulator value;
      memcpy(&value,
             wave.lanes[lane].data(e / inRegister) +
                 e % inRegister * sizeof(value),
             sizeof(value));
      sum = double(D::read(value));
    });
  else
    std::fill(sums, sums + warpRows * n, 0.0);
  multiplyAccumulate(&a[0][0], warpRows, k, wgmma.columns.data(), n, sums);
  forEachSum([&](int lane, int e, double &sum) {
    Accumulator value;
    if constexpr (isInteger)
      value = narrow<saturate>(int64_t(sum));
    else
      value = D::write(sum);
    memcpy(static_cast<char *>(wave.lanes[lane].result) + e * sizeof(value),
           &value, sizeof(value));
  });
  uint64_t number = currentWarp().numIssued;
  wave.forEach([&](int, const Call &call) {
    memcpy(static_cast<char *>(call.result) + 4 * indices.numAccumulators,
           &number, sizeof(number));
  });
  if (wgmma.numIssued == numWarps)
    std::vector<double>().swap(wgmma.columns);
}

/// Single bits: sums of what both have.
void multiplyBits(const Wave &wave) {
  const Call &any = wave.lanes[0];
  OperandIndices indices(any);
  int n = 2 * indices.numAccumulators;
  constexpr int words = rowBytes / 4;
  bool adds = any.get<uint8_t>(indices.scaleD) & 1;
  auto opcode = reinterpret_cast<const char *>(&multiplyBits) + n;
  if (adds)
    checkAccumulators(any.get<uint64_t>(indices.scaleD + 1), opcode);
  Wgmma &wgmma =
      issue(any, indices, opcode, adds, {rows, words, true}, {n, words, true});
  uint32_t a[warpRows][words];
  if (indices.isAShared)
    memcpy(a, wgmma.a.bytes.data() + warpRows * rowBytes * rankInWarpgroup(),
           sizeof a);
  else
    for (int lane = 0; lane < warpSize; ++lane)
      for (int r = 0; r < 4; ++r)
        a[lane / 4 + 8 * (r % 2)][lane % 4 + 4 * (r / 2)] =
            wave.lanes[lane].get<uint32_t>(indices.a + r);
  uint64_t number = currentWarp().numIssued;
  wave.forEach([&](int lane, const Call &call) {
    auto *result = static_cast<char *>(call.result);
    for (int e = 0; e < indices.numAccumulators; ++e) {
      int row = lane / 4 + 8 * (e / 2 % 2);
      int column = 8 * (e / 4) + 2 * (lane % 4) + e % 2;
      uint32_t b[words];
      memcpy(b, wgmma.b.bytes.data() + column * rowBytes, sizeof b);
      uint32_t sum = adds ? call.get<uint32_t>(e) : 0;
      for (int w = 0; w < words; ++w)
        sum += uint32_t(__builtin_popcount(a[row][w] & b[w]));
      memcpy(result + 4 * e, &sum, 4);
    }
    memcpy(result + 4 * indices.numAccumulators, &number, 8);
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void fence(const Wave &) { currentWarp().hasFenced = true; }

void commitGroup(const Wave &) {
  Warp &warp = currentWarp();
  warp.groups.push_back(warp.numIssued);
}

/// Whether all warps have executed what this one waits for.
template <class Count> bool canWait(const Call &call) {
  auto pending = size_t(call.get<Count>(0));
  const Warp &warp = currentWarp();
  if (warp.groups.size() <= pending)
    return true;
  const Warpgroup &group = currentWarpgroup();
  uint64_t last = warp.groups[warp.groups.size() - pending - 1];
  for (uint64_t number = warp.numDone + 1; number <= last; ++number)
    if (group.wgmmas[number - group.first]->numIssued < numWarps)
      return false;
  return true;
}

template <class Count> void waitGroup(const Wave &wave) {
  auto pending = size_t(wave.lanes[0].get<Count>(0));
  Warp &warp = currentWarp();
  Warpgroup &group = currentWarpgroup();
  const Wgmma *last = nullptr;
  while (warp.groups.size() > pending) {
    for (; warp.numDone < warp.groups.front(); ++warp.numDone) {
      Wgmma &wgmma = *group.wgmmas[warp.numDone + 1 - group.first];
      finish(wgmma);
      last = &wgmma;
    }
    warp.groups.pop_front();
  }
  // wgmmas complete in order.
  if (last && isCheckingRaces())
    acquireOrderOfWave(last);
  while (!group.wgmmas.empty() && group.wgmmas.front()->numDone == numWarps) {
    group.wgmmas.pop_front();
    ++group.first;
  }
}

/// A thread reads accumulators of the wgmma with that number.
void checkAccumulator(const Call &call) {
  auto number = call.get<uint64_t>(0);
  const Warp &warp = currentWarp();
  if (number <= warp.numDone || !isAsyncLate())
    return;
  const Warpgroup &group = currentWarpgroup();
  failInOrder("race", group.wgmmas[number - group.first]->origin, nullptr, 0,
              "data race: read of accumulator registers of an outstanding "
              "wgmma.mma_async; execute wgmma.wait_group before the read");
}

//--- The table ----------------------------------------------------------------

#define SMALTI_PTX(section)                                                    \
  "PTX ISA, \"Asynchronous Warpgroup Level Matrix Instructions: " section "\""
// clang-format off: one line an instruction
#define SMALTI_WGMMA(types, function) \
    {"asm:wgmma.mma_async.sync.aligned.m64n*" types, nullptr, function, SMALTI_PTX("wgmma.mma_async"), nullptr, nullptr, true},
#define SMALTI_BYTES(a, b, A, B) \
    SMALTI_WGMMA("k32.s32." a "." b, (multiply<A, B, S32, false>)) \
    SMALTI_WGMMA("k32.s32." a "." b ".satfinite", (multiply<A, B, S32, true>))
#define SMALTI_FP8(a, b, A, B) \
    SMALTI_WGMMA("k32.f32." a "." b, (multiply<A, B, F32, false>)) \
    SMALTI_WGMMA("k32.f16." a "." b, (multiply<A, B, F16, false>))
constexpr Instruction table[] = {
    SMALTI_WGMMA("k16.f32.f16.f16", (multiply<F16, F16, F32, false>))
    SMALTI_WGMMA("k16.f16.f16.f16", (multiply<F16, F16, F16, false>))
    SMALTI_WGMMA("k16.f32.bf16.bf16", (multiply<BF16, BF16, F32, false>))
    SMALTI_WGMMA("k8.f32.tf32.tf32", (multiply<TF32, TF32, F32, false>))
    SMALTI_FP8("e4m3", "e4m3", E4M3, E4M3)
    SMALTI_FP8("e4m3", "e5m2", E4M3, E5M2)
    SMALTI_FP8("e5m2", "e4m3", E5M2, E4M3)
    SMALTI_FP8("e5m2", "e5m2", E5M2, E5M2)
    SMALTI_BYTES("s8", "s8", S8, S8)
    SMALTI_BYTES("s8", "u8", S8, U8)
    SMALTI_BYTES("u8", "s8", U8, S8)
    SMALTI_BYTES("u8", "u8", U8, U8)
    SMALTI_WGMMA("k256.s32.b1.b1.and.popc", multiplyBits)
    {"llvm.nvvm.wgmma.fence.sync.aligned", nullptr, fence, SMALTI_PTX("wgmma.fence"), nullptr, nullptr, true},
    {"asm:wgmma.fence.sync.aligned", nullptr, fence, SMALTI_PTX("wgmma.fence"), nullptr, nullptr, true},
    {"llvm.nvvm.wgmma.commit_group.sync.aligned", nullptr, commitGroup, SMALTI_PTX("wgmma.commit_group"), nullptr, nullptr, true},
    {"asm:wgmma.commit_group.sync.aligned", nullptr, commitGroup, SMALTI_PTX("wgmma.commit_group"), nullptr, nullptr, true},
    {"llvm.nvvm.wgmma.wait_group.sync.aligned", nullptr, waitGroup<uint64_t>, SMALTI_PTX("wgmma.wait_group"), nullptr, nullptr, true, false, canWait<uint64_t>},
    {"asm:wgmma.wait_group.sync.aligned", nullptr, waitGroup<uint32_t>, SMALTI_PTX("wgmma.wait_group"), nullptr, nullptr, true, false, canWait<uint32_t>},
    {"smalti.nvvm.accumulator", checkAccumulator, nullptr, SMALTI_PTX("wgmma.wait_group")},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaWgmma = table;
