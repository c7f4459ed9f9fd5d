//===- Wgmma.cpp - wgmma of NVIDIA ----------------------------------------===//
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions". The four warps
// of a warpgroup execute a product together; each computes 16 rows of it when
// it comes to it. The product completes for all of them at once: a warp does
// not return from a wait before all four have executed the product, and CUTLASS
// releases an operand by one thread of the warpgroup (PipelineTmaAsync). What
// the product reads in shared memory must stay as it is until the product is
// waited for, and until then nobody may read what it writes: both is checked at
// the wait, and by `smalti.nvvm.accumulator`, which the rewriter puts where
// accumulators are read.
//
// As with mma.sync products are exact, and sums are of doubles, rounded once
// for each instruction.
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
/// Of an operand, for each row of A and column of B: two chunks of 16 bytes, or
/// as many elements the other way round.
constexpr int rowBytes = 32;

//===----------------------------------------------------------------------===//
// What is in flight
//===----------------------------------------------------------------------===//

/// An operand in shared memory.
struct SharedOperand {
  MatrixDescriptor descriptor;
  MatrixShape shape;
  /// The chunks as they were when the first warp came.
  std::vector<char> bytes;
};

/// A product of a warpgroup.
struct Wgmma {
  const void *opcode;
  uint64_t descriptorA, descriptorB;
  uint32_t modifiers;
  /// A is without bytes where registers have it.
  SharedOperand a, b;
  /// B as numbers, in the order of `panelIndex`.
  std::vector<double> columns;
  int numIssued = 0, numDone = 0;
  Origin origin;
};

struct Warpgroup {
  /// Those that some warp has still to execute or to wait for; the first has
  /// the number `first`.
  std::deque<std::unique_ptr<Wgmma>> products;
  uint64_t first = 1;
};

/// What a warp has done.
struct Warp {
  bool hasFenced = false;
  /// Numbers of products: those that were executed, that are done, and at the
  /// ends of groups.
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
    for (const std::unique_ptr<Wgmma> &product : group.products)
      if (product->numIssued < numWarps)
        failInOrder("divergence", product->origin, nullptr, 0,
                    "wgmma.mma_async was executed by %d warps of a warpgroup, "
                    "and not by all of its %d",
                    product->numIssued, numWarps);
}

const BlockObserver observer(forget, checkWholeWarpgroups);

Warp &currentWarp() { return warps[waveIdInCluster()]; }
/// By the first of its warps.
Warpgroup &currentWarpgroup() {
  return warpgroups[waveIdInCluster() - waveId() % numWarps];
}
int rankInWarpgroup() { return waveId() % numWarps; }

/// Chunks of an operand: all of them, or, of A, those with the rows of this
/// warp.
template <class Use>
void forEachChunk(const SharedOperand &operand, bool ofWarp, Use use) {
  int first = 0, end = operand.bytes.empty() ? 0 : operand.shape.numChunks();
  // The rows of A are outermost where k is inside, and else 8 lie in a chunk.
  if (ofWarp) {
    int each = end / numWarps;
    first = rankInWarpgroup() * each;
    end = first + each;
  }
  for (int i = first; i < end; ++i)
    use(operand.descriptor.chunk(operand.shape, i), i);
}

[[noreturn]] void failOverwritten(const Wgmma &product, const char *at,
                                  const char *when) {
  failInOrder("race", product.origin, at, MatrixDescriptor::chunkBytes,
              "an operand of wgmma.mma_async changed %s, for which nobody has "
              "waited",
              when);
}

/// The chunks must be what they were.
void checkUnchanged(const Wgmma &product, const SharedOperand &operand,
                    bool ofWarp, const char *when) {
  constexpr int size = MatrixDescriptor::chunkBytes;
  forEachChunk(operand, ofWarp, [&](const char *at, int i) {
    if (memcmp(operand.bytes.data() + i * size, at, size) != 0)
      failOverwritten(product, at, when);
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

/// What this warp reads, at the earliest.
void touchOperand(const SharedOperand &operand, bool ofWarp) {
  forEachChunk(operand, ofWarp, [&](const char *at, int) {
    touchRead(at, MatrixDescriptor::chunkBytes);
  });
}

/// Tells ThreadSanitizer of the reads at the completion. They are those of the
/// tensor cores, after what the first lane of each warp did before it executed
/// the product.
void touchOperands(const Wgmma &product) {
  acquireOrderAsUnit(&product);
  for (const SharedOperand *operand : {&product.a, &product.b})
    forEachChunk(*operand, /*ofWarp=*/false, [&](const char *at, int) {
      touchReadAsUnit(product.origin, at, MatrixDescriptor::chunkBytes);
    });
  releaseOrderAsUnit(&product);
}

/// The first warp that waits completes the product: this is the last moment at
/// which it may read its operands.
void finish(Wgmma &product) {
  if (product.numDone == 0 && isAsyncLate()) {
    checkUnchanged(product, product.a, /*ofWarp=*/false, "in flight");
    checkUnchanged(product, product.b, /*ofWarp=*/false, "in flight");
  }
  if (product.numDone == 0 && areRacesSought())
    touchOperands(product);
  ++product.numDone;
}

//===----------------------------------------------------------------------===//
// Products
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
    // Eight along the rows lie in a chunk, one chunk for each k.
    chunk = operand.bytes.data() + (index / inChunk * Elements<Type>::k + k) *
                                       MatrixDescriptor::chunkBytes;
    element = index % inChunk;
  }
  return double(Packed<Type>::read(chunk, element));
}

/// Where the operands of a call stand: accumulators, A as a descriptor or four
/// registers, B, scale-d, [scale-a, scale-b,] [trans-a,] [trans-b,] and the
/// number of the product that wrote the accumulators.
struct Places {
  int numAccumulators, a, b, scaleD;
  bool isAShared;

  explicit Places(const Call &call)
      : numAccumulators(int(call.resultBytes() - 8) / 4), a(numAccumulators) {
    isAShared = call.bytes(a) == 8;
    b = a + (isAShared ? 1 : 4);
    scaleD = b + 1;
  }
};

double scaleOf(const Call &call, int operand) {
  int scale = call.get<int32_t>(operand);
  if (scale != 1 && scale != -1)
    fail("wgmma.mma_async: an operand is scaled by %d, which must be 1 or -1",
         scale);
  return scale;
}

bool isTransposed(const Call &call, int operand) {
  uint32_t value = call.get<uint32_t>(operand);
  if (value > 1)
    fail("wgmma.mma_async: an operand is transposed by %u, which must be 0 or "
         "1",
         value);
  return value;
}

/// The product that this warp comes to; the first warp of the four makes it.
Wgmma &issue(const Call &call, const Places &places, const void *opcode,
               uint32_t modifiers, MatrixShape shapeA, MatrixShape shapeB) {
  Warp &warp = currentWarp();
  Warpgroup &group = currentWarpgroup();
  if (numThreads() / (warpSize * numWarps) <= waveId() / numWarps)
    failAs("divergence",
           "wgmma.mma_async in a block whose last %d threads are "
           "no whole warpgroup",
           numThreads() % (warpSize * numWarps));
  if (!warp.hasFenced)
    failAs("race", "wgmma.mma_async without a wgmma.fence before it, which "
                   "orders its registers behind what wrote them");
  uint64_t number = ++warp.numIssued;
  auto descriptorA =
      places.isAShared ? call.get<uint64_t>(places.a) : uint64_t(0);
  auto descriptorB = call.get<uint64_t>(places.b);
  if (number - group.first < group.products.size()) {
    Wgmma &product = *group.products[number - group.first];
    if (product.opcode != opcode || product.descriptorA != descriptorA ||
        product.descriptorB != descriptorB || product.modifiers != modifiers)
      failInOrder("divergence", product.origin, nullptr, 0,
                  "the warps of a warpgroup execute different products, or the "
                  "same with other descriptors");
    checkUnchanged(product, product.a, /*ofWarp=*/true,
                   "between two warps of its warpgroup");
    checkUnchanged(product, product.b, /*ofWarp=*/false,
                   "between two warps of its warpgroup");
    if (areRacesSought()) {
      touchOperand(product.a, /*ofWarp=*/true);
      touchOperand(product.b, /*ofWarp=*/false);
      releaseOrder(&product);
    }
    ++product.numIssued;
    return product;
  }
  group.products.push_back(std::make_unique<Wgmma>());
  Wgmma &product = *group.products.back();
  product.opcode = opcode;
  product.descriptorA = descriptorA;
  product.descriptorB = descriptorB;
  product.modifiers = modifiers;
  product.origin = originHere();
  if (places.isAShared) {
    product.a.descriptor = MatrixDescriptor(descriptorA);
    product.a.shape = shapeA;
    readOperand(product.a);
  }
  product.b.descriptor = MatrixDescriptor(descriptorB);
  product.b.shape = shapeB;
  readOperand(product.b);
  releaseOrder(&product);
  product.numIssued = 1;
  return product;
}

/// Accumulators that another product still writes: that of the same shape
/// before it, and no other.
void checkAccumulators(uint64_t previous, const void *opcode) {
  Warp &warp = currentWarp();
  if (previous <= warp.numDone || !isAsyncLate())
    return;
  Warpgroup &group = currentWarpgroup();
  const Wgmma &product = *group.products[previous - group.first];
  if (product.opcode != opcode)
    failInOrder("race", product.origin, nullptr, 0,
                "wgmma.mma_async adds to accumulators that one of another "
                "shape writes, for which nobody has waited");
}

template <class A, class B, class D, bool saturate>
void multiply(const Wave &wave) {
  constexpr int k = Elements<A>::k;
  constexpr bool isInteger = Elements<A>::isInteger;
  constexpr bool canTranspose = sizeof(typename A::Storage) == 2;
  using Accumulator = typename D::Storage;
  constexpr int inRegister = 4 / sizeof(Accumulator);
  const Call &any = wave.lanes[0];
  Places places(any);
  int n = 2 * places.numAccumulators * inRegister;
  int next = places.scaleD + 1;
  double sign = 1;
  if (!isInteger) {
    sign = scaleOf(any, next) * scaleOf(any, next + 1);
    next += 2;
  }
  bool transposedA = false, transposedB = false;
  if (canTranspose) {
    if (places.isAShared)
      transposedA = isTransposed(any, next++);
    transposedB = isTransposed(any, next++);
  }
  bool adds = any.get<uint8_t>(places.scaleD) & 1;
  // The function is one for the types, n for the shape.
  auto opcode =
      reinterpret_cast<const char *>(&multiply<A, B, D, saturate>) + n;
  uint32_t modifiers = transposedA | transposedB << 1 | adds << 2 |
                       (sign < 0) << 3 | places.isAShared << 4;
  wave.forEach([&](int lane, const Call &call) {
    if ((places.isAShared &&
         call.get<uint64_t>(places.a) != any.get<uint64_t>(places.a)) ||
        call.get<uint64_t>(places.b) != any.get<uint64_t>(places.b) ||
        (call.get<uint8_t>(places.scaleD) & 1) != adds)
      failLane(call, lane,
               "wgmma.mma_async: lane %d has another descriptor or scale-d "
               "than lane 0",
               lane);
  });
  uint64_t previous = any.get<uint64_t>(next);
  if (adds)
    checkAccumulators(previous, opcode);
  Wgmma &product = issue(any, places, opcode, modifiers,
                           {rows, k, !transposedA}, {n, k, !transposedB});

  static double a[warpRows][k];
  if (places.isAShared) {
    int first = warpRows * rankInWarpgroup();
    for (int row = 0; row < warpRows; ++row)
      for (int i = 0; i < k; ++i)
        a[row][i] = elementAt<A>(product.a, first + row, i);
  } else if constexpr (isInteger) {
    static int32_t numbers[warpRows][k];
    gatherRows<Packed<A>>(wave, places.a, numbers);
    for (int row = 0; row < warpRows; ++row)
      for (int i = 0; i < k; ++i)
        a[row][i] = numbers[row][i];
  } else {
    gatherRows<Packed<A>>(wave, places.a, a);
  }
  if (sign < 0)
    for (auto &row : a)
      for (double &element : row)
        element = -element;
  if (product.columns.empty()) {
    product.columns.resize(size_t(k) * n);
    for (int column = 0; column < n; ++column)
      for (int i = 0; i < k; ++i)
        product.columns[size_t(panelIndex(k, i, column))] =
            elementAt<B>(product.b, column, i);
  }

  static double sums[warpRows * maxColumns];
  auto forEachSum = [&](auto use) {
    for (int lane = 0; lane < warpSize; ++lane)
      for (int e = 0; e < places.numAccumulators * inRegister; ++e) {
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
  multiplyAccumulate(&a[0][0], warpRows, k, product.columns.data(), n, sums);
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
    memcpy(static_cast<char *>(call.result) + 4 * places.numAccumulators,
           &number, sizeof(number));
  });
  if (product.numIssued == numWarps)
    std::vector<double>().swap(product.columns);
}

/// Single bits: sums of what both have.
void multiplyBits(const Wave &wave) {
  const Call &any = wave.lanes[0];
  Places places(any);
  int n = 2 * places.numAccumulators;
  constexpr int words = rowBytes / 4;
  bool adds = any.get<uint8_t>(places.scaleD) & 1;
  auto opcode = reinterpret_cast<const char *>(&multiplyBits) + n;
  if (adds)
    checkAccumulators(any.get<uint64_t>(places.scaleD + 1), opcode);
  Wgmma &product =
      issue(any, places, opcode, adds, {rows, words, true}, {n, words, true});
  uint32_t a[warpRows][words];
  if (places.isAShared)
    memcpy(a, product.a.bytes.data() + warpRows * rowBytes * rankInWarpgroup(),
           sizeof a);
  else
    for (int lane = 0; lane < warpSize; ++lane)
      for (int r = 0; r < 4; ++r)
        a[lane / 4 + 8 * (r % 2)][lane % 4 + 4 * (r / 2)] =
            wave.lanes[lane].get<uint32_t>(places.a + r);
  uint64_t number = currentWarp().numIssued;
  wave.forEach([&](int lane, const Call &call) {
    auto *result = static_cast<char *>(call.result);
    for (int e = 0; e < places.numAccumulators; ++e) {
      int row = lane / 4 + 8 * (e / 2 % 2);
      int column = 8 * (e / 4) + 2 * (lane % 4) + e % 2;
      uint32_t b[words];
      memcpy(b, product.b.bytes.data() + column * rowBytes, sizeof b);
      uint32_t sum = adds ? call.get<uint32_t>(e) : 0;
      for (int w = 0; w < words; ++w)
        sum += uint32_t(__builtin_popcount(a[row][w] & b[w]));
      memcpy(result + 4 * e, &sum, 4);
    }
    memcpy(result + 4 * places.numAccumulators, &number, 8);
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
    if (group.products[number - group.first]->numIssued < numWarps)
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
      Wgmma &product = *group.products[warp.numDone + 1 - group.first];
      finish(product);
      last = &product;
    }
    warp.groups.pop_front();
  }
  // Products complete in their order.
  if (last && areRacesSought())
    acquireOrderOfWave(last);
  while (!group.products.empty() &&
         group.products.front()->numDone == numWarps) {
    group.products.pop_front();
    ++group.first;
  }
}

/// A thread reads accumulators of the product with that number.
void checkAccumulator(const Call &call) {
  auto number = call.get<uint64_t>(0);
  const Warp &warp = currentWarp();
  if (number <= warp.numDone || !isAsyncLate())
    return;
  const Warpgroup &group = currentWarpgroup();
  failInOrder("race", group.products[number - group.first]->origin, nullptr, 0,
              "a read of accumulators that wgmma.mma_async writes, for which "
              "nobody has waited");
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
