//===- tensor-plans.cpp - Copies and operands against brute force ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates random slices of tensors and random operands of matmuls, and executes
// the instructions of their plans byte by byte, as documented by NVIDIA. It
// computes where a bulk copy writes each element of its box, and where wgmma
// reads each element of an operand. Both must agree with
// `MemoryLayout::bitAddress`.
//
// It shares only the data of plans with the planners.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/TensorCopyPlan.h"
#include "smalti/passes/Layouts/Plans/WgmmaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <random>

using namespace smalti;
using namespace smalti::transfers;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

unsigned firstSeed = 0;
unsigned count = 2000;

bool parseArguments(ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments)
    if (argument.consume_front("--seed=")
            ? argument.getAsInteger(10, firstSeed)
            : !argument.consume_front("--count=") ||
                  argument.getAsInteger(10, count))
      return false;
  return true;
}

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  }
  bool oneIn(int64_t times) { return below(times) == 0; }
  int64_t of(std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

private:
  std::mt19937_64 engine;
};

/// Memory of two dimensions, maybe tiled, maybe with dimension 0 innermost.
MemoryLayout makeMatrix(Random &random, int64_t rows, int64_t columns,
                        int64_t elementBits) {
  MemoryLayout memory = MemoryLayout::rowMajor({rows, columns});
  bool isTransposed = random.oneIn(3);
  if (isTransposed)
    memory.strides = {1, rows};
  memory.swizzleBytes = random.of({16, 32, 64, 128, 128});
  if (memory.swizzleBytes == 16 && random.oneIn(2))
    return memory;
  int64_t minor = memory.swizzleBytes * 8 / elementBits;
  int64_t major = random.of({8, 8, 8, 16, 64});
  if (random.oneIn(6))
    return memory;
  memory.tile = isTransposed ? SmallVector<int64_t>{minor, major}
                             : SmallVector<int64_t>{major, minor};
  return memory;
}

/// All indices of a shape, in row-major order.
template <typename Visit>
bool forEachIndex(ArrayRef<int64_t> shape, Visit visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    if (!visit(ArrayRef<int64_t>(index)))
      return false;
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return true;
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

struct Sample {
  TensorCopyProblem problem;
  SmallVector<int64_t> indices;
};

Sample makeSlice(Random &random) {
  Sample sample;
  TensorCopyProblem &problem = sample.problem;
  problem.elementBits = random.of({4, 8, 16, 16, 32});
  int64_t rows = random.of({8, 16, 64, 320}),
          columns = random.of({32, 64, 256});
  problem.memory = makeMatrix(random, rows, columns, problem.elementBits);
  bool isTransposed = problem.memory.strides[0] == 1;
  problem.slice = {rows, columns};
  problem.extents = {rows * random.of({1, 2}) + (random.oneIn(4) ? 8 : 0) +
                         (random.oneIn(6) ? 3 : 0),
                     columns * random.of({1, 3}) + (random.oneIn(4) ? 32 : 0)};
  if (isTransposed)
    problem.strides = {1, problem.extents[0]};
  else
    problem.strides = {problem.extents[1], 1};
  if (random.oneIn(5))
    (isTransposed ? problem.strides[1] : problem.strides[0]) += 64;
  // More dimensions, of one element or in shared memory.
  int64_t more = random.below(4);
  for (int64_t dim = 0; dim < more; ++dim) {
    int64_t stride = 0;
    for (auto [extent, other] :
         llvm::zip_equal(problem.extents, problem.strides))
      stride = std::max(stride, extent * other);
    // Outside of the dimensions, or between them.
    bool isBetween = !isTransposed && dim == 0 && random.oneIn(3);
    int64_t extent = random.of({1, 2, 3}), length = -1;
    if (isBetween) {
      stride = problem.extents[1];
      problem.strides[0] = stride * extent;
    } else if (random.oneIn(3)) {
      length = random.of({1, extent});
      problem.memory.shape.insert(problem.memory.shape.begin(), length);
      int64_t elements = 1;
      for (int64_t size : problem.memory.shape)
        elements *= size;
      problem.memory.strides.insert(problem.memory.strides.begin(),
                                    elements / length);
    }
    problem.extents.insert(problem.extents.begin(), extent);
    problem.strides.insert(problem.strides.begin(), stride);
    problem.slice.insert(problem.slice.begin(), length);
  }
  for (auto [extent, length] :
       llvm::zip_equal(problem.extents, problem.slice)) {
    int64_t size = std::max<int64_t>(length, 1);
    int64_t divisor = size == 1 ? 1 : random.of({0, 8, 64, size});
    if (problem.elementBits == 4 && size > 1 && divisor == 1)
      divisor = 2;
    int64_t index = divisor == 0 ? 0 : divisor * (random.below(6) - 1);
    bool isInside = index >= 0 && index + size <= extent;
    sample.indices.push_back(index);
    problem.indexDivisors.push_back(divisor);
    problem.isInside.push_back(isInside && random.oneIn(2));
  }
  return sample;
}

/// The result of the copies of a plan: for each element of shared memory the
/// address in the tensor, in bits, or -1.
bool runCopies(const Sample &sample, const TensorCopyPlan &plan,
               std::map<int64_t, int64_t> &written) {
  const TensorMap &map = plan.map;
  int64_t bytes = map.elementBits / 8;
  bool isOutside = llvm::any_of(plan.checkedDims, [&](int64_t dim) {
    return sample.indices[dim] < 0 ||
           sample.indices[dim] >= sample.problem.extents[dim];
  });
  for (const TensorPiece &piece : plan.pieces) {
    SmallVector<int64_t> start;
    for (auto [terms, added] :
         llvm::zip_equal(plan.coordinates, piece.coordinates)) {
      int64_t sum = added;
      for (const CoordinateTerm &term : terms) {
        int64_t scaled = sample.indices[term.dim] * term.multiplier;
        if (scaled % term.divisor != 0)
          return false;
        sum += scaled / term.divisor;
      }
      start.push_back(sum);
    }
    if (isOutside)
      start.front() += kOutside;
    int64_t linear = piece.sharedOffset;
    bool isRight = forEachIndex(map.box, [&](ArrayRef<int64_t> box) {
      int64_t address = 0;
      bool inside = true;
      for (auto [dim, offset] : llvm::enumerate(box)) {
        int64_t coordinate = start[dim] + offset;
        inside &= coordinate >= 0 && coordinate < map.extents[dim];
        address += coordinate * map.strides[dim];
      }
      int64_t chunks = map.swizzleBytes / 16;
      int64_t place = linear ^ ((linear >> 7) % chunks << 4);
      linear += bytes;
      return written.try_emplace(place, inside ? address : -1).second;
    });
    if (!isRight)
      return false;
  }
  return true;
}

bool checkSlice(const Sample &sample, const TensorCopyPlan &plan) {
  const TensorCopyProblem &problem = sample.problem;
  std::map<int64_t, int64_t> written;
  if (!runCopies(sample, plan, written))
    return false;
  int64_t seen = 0;
  bool isRight = forEachIndex(problem.memory.shape, [&](ArrayRef<int64_t> at) {
    int64_t bits = problem.memory.bitAddress(at, problem.elementBits);
    int64_t address = 0, dim = 0;
    bool inside = true;
    for (auto [tensorDim, length] : llvm::enumerate(problem.slice)) {
      int64_t index =
          sample.indices[tensorDim] + (length == -1 ? 0 : at[dim++]);
      inside &= index >= 0 && index < problem.extents[tensorDim];
      address += index * problem.strides[tensorDim];
    }
    if (bits % 8 != 0)
      return true;
    ++seen;
    auto found = written.find(bits / 8);
    int64_t expected = inside ? address * problem.elementBits / 8 : -1;
    return found != written.end() && found->second == expected;
  });
  return isRight && seen == static_cast<int64_t>(written.size());
}

/// Checks the limits of a tensor map.
bool isMap(const TensorMap &map) {
  int64_t rank = map.extents.size();
  if (rank < 1 || rank > 5 || map.strides.size() != map.extents.size() ||
      map.box.size() != map.extents.size())
    return false;
  int64_t bytes = map.elementBits / 8;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (map.extents[dim] < 1 || map.extents[dim] >= int64_t(1) << 32 ||
        map.box[dim] < 1 || map.box[dim] > 256 ||
        (dim + 1 < rank &&
         (map.strides[dim] % 16 != 0 || map.strides[dim] >= int64_t(1) << 40)))
      return false;
  int64_t row = map.box.back() * bytes;
  return map.strides.back() == bytes && row % 16 == 0 &&
         (map.swizzleBytes == 16 || row == map.swizzleBytes);
}

void print(const Sample &sample, const TensorCopyPlan &plan) {
  auto list = [](llvm::StringRef name, auto values) {
    llvm::outs() << "  " << name << ":";
    for (int64_t value : values)
      llvm::outs() << " " << value;
    llvm::outs() << "\n";
  };
  const TensorCopyProblem &problem = sample.problem;
  list("extents", problem.extents);
  list("strides", problem.strides);
  list("slice", problem.slice);
  list("indices", sample.indices);
  list("divisors", problem.indexDivisors);
  list("inside", problem.isInside);
  list("shape", problem.memory.shape);
  list("memory strides", problem.memory.strides);
  list("tile", problem.memory.tile);
  llvm::outs() << "  swizzle " << problem.memory.swizzleBytes << ", bits "
               << problem.elementBits << ", copies " << plan.pieces.size()
               << "\n";
  list("map extents", plan.map.extents);
  list("map strides", plan.map.strides);
  list("map box", plan.map.box);
  list("checked", plan.checkedDims);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The address at which wgmma reads an element: `row` of A or of the transpose
/// of B, `k` in the instruction's part. The tables of the matrix descriptor's
/// canonical layouts.
int64_t findElement(uint64_t descriptor, bool isTransposed, int64_t start,
                    int64_t row, int64_t k, int64_t bytes) {
  int64_t leading = static_cast<int64_t>(descriptor >> 16 & 0x3fff) * 16,
          stride = static_cast<int64_t>(descriptor >> 32 & 0x3fff) * 16;
  static constexpr int64_t kSwizzles[] = {16, 128, 64, 32};
  int64_t swizzle = kSwizzles[descriptor >> 62];
  int64_t linear = start;
  if (isTransposed) {
    int64_t atom = swizzle / bytes;
    linear += row % atom * bytes + row / atom * leading + k % 8 * swizzle +
              k / 8 * stride;
  } else {
    linear += row % 8 * swizzle + row / 8 * stride + k * bytes;
  }
  return linear ^ ((linear >> 7) % (swizzle / 16) << 4);
}

bool checkOperand(const WgmmaOperandProblem &problem,
                  const WgmmaOperandPlan &plan) {
  int64_t bytes = problem.elementBits / 8;
  int64_t depthStep = 32 / bytes;
  // All bits other than the offsets and the swizzle are zero.
  if (plan.descriptor & ~(0x3fffull << 16 | 0x3fffull << 32 | 3ull << 62))
    return false;
  for (auto [position, block] : llvm::enumerate(problem.blocks))
    for (auto [step, offset] : llvm::enumerate(plan.offsets[position]))
      for (int64_t group = 0; group < problem.groups; ++group)
        for (int64_t row = 0; row < block.size; ++row)
          for (int64_t k = 0; k < depthStep; ++k) {
            SmallVector<int64_t> index(2);
            index[problem.outerDim] = block.start + group * 64 + row;
            index[1 - problem.outerDim] =
                static_cast<int64_t>(step) * depthStep + k;
            int64_t start = offset + group * plan.groupStride;
            if (findElement(plan.descriptor, plan.isTransposed, start, row, k,
                            bytes) *
                    8 !=
                problem.memory.bitAddress(index, problem.elementBits))
              return false;
          }
  return true;
}

WgmmaOperandProblem makeOperand(Random &random) {
  WgmmaOperandProblem problem;
  problem.elementBits = random.of({8, 16, 16, 32});
  problem.outerDim = random.below(2);
  int64_t depth = random.of({32, 64, 128, 256}), outer = 0;
  if (problem.outerDim == 0) {
    problem.groups = random.of({1, 1, 2});
    outer = 64 * problem.groups * random.of({1, 2, 3});
    for (int64_t start = 0; start < outer; start += 64 * problem.groups)
      problem.blocks.push_back({start, 64});
  } else {
    outer = random.of({8, 16, 64, 128, 256, 320, 512});
    problem.blocks = *splitWgmmaColumns(outer, problem.elementBits == 8);
  }
  problem.memory =
      makeMatrix(random, problem.outerDim == 0 ? outer : depth,
                 problem.outerDim == 0 ? depth : outer, problem.elementBits);
  // A part of wider memory.
  if (random.oneIn(4)) {
    bool isTransposed = problem.memory.strides[0] == 1;
    problem.memory.strides[isTransposed ? 1 : 0] *= 2;
  }
  return problem;
}

int fail(llvm::StringRef what, unsigned seed) {
  llvm::outs() << "seed " << seed << ": " << what << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (!parseArguments(ArrayRef(argv, argc).drop_front())) {
    llvm::outs() << "options: --seed=N --count=M\n";
    return 1;
  }
  int64_t copies = 0, copied = 0, pieces = 0, operands = 0, found = 0,
          transposed = 0;
  for (unsigned seed = firstSeed; seed < firstSeed + count; ++seed) {
    Random random(seed);
    Sample sample = makeSlice(random);
    ++copies;
    if (auto plan = planTensorCopy(sample.problem)) {
      ++copied;
      pieces += plan->pieces.size();
      if (!isMap(plan->map) || !checkSlice(sample, *plan)) {
        print(sample, *plan);
        return fail("a copy puts elements in wrong places", seed);
      }
    } else if (plan.reason.empty()) {
      return fail("a slice is refused without a reason", seed);
    }
    WgmmaOperandProblem operand = makeOperand(random);
    ++operands;
    if (auto plan = planWgmmaOperand(operand)) {
      ++found;
      transposed += plan->isTransposed;
      if (!checkOperand(operand, *plan))
        return fail("an instruction reads wrong elements", seed);
    } else if (plan.reason.empty()) {
      return fail("an operand is refused without a reason", seed);
    }
  }
  llvm::outs() << copies << " slices: " << copied << " copied in " << pieces
               << " copies\n"
               << operands << " operands: " << found << " read, " << transposed
               << " of them transposed\n";
  return 0;
}
