//===- ResourceEstimate.h - Shared memory and register estimates ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The single resource estimator. Clients are the passes that enlarge buffers,
// the placement of buffers, the resource check, and smalti-compile when it
// chooses slots.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_ANALYSIS_RESOURCES_RESOURCEESTIMATE_H
#define SMALTI_PASSES_ANALYSIS_RESOURCES_RESOURCEESTIMATE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

/// A buffer in shared memory and its offset.
struct SharedBuffer {
  mlir::Value value;
  mlir::MemRefType type;
  int64_t offset;
  int64_t alignment; ///< a power of two
  int64_t bytes;
  /// The slots that its uses distinguish; 1 if they do not.
  int64_t slots;
};

struct SharedMemory {
  /// The slices with fixed offsets, and their end.
  llvm::SmallVector<SharedBuffer> slices;
  int64_t begin = 0;
  /// In placement order.
  llvm::SmallVector<SharedBuffer> buffers;
  /// Buffers of unknown size, which `bytes` does not include.
  llvm::SmallVector<mlir::Value> unknown;
  /// The end of the last buffer, and the end of the last buffer that the
  /// compiler places. Buffers that the assembler places come after it.
  int64_t bytes = 0;
  int64_t placedBytes = 0;
  /// The alignment of the memory that the compiler places; at least 16.
  int64_t alignment;

  /// The largest number of slots with which all buffers fit in `limit` bytes; 0
  /// if one slot per buffer exceeds the limit. `bytes` is set to the bytes that
  /// are then needed.
  int64_t getFittingSlots(int64_t limit, int64_t &bytes) const;
};

/// The alignment in bytes that the buffer's op, or the kernel that declares it,
/// states; 1 if none is stated. A power of two.
int64_t getStatedAlignment(mlir::Value buffer);

/// Places the shared-memory buffers of a function, including workgroup
/// attributions and mbarriers, after the slices with fixed offsets. Buffers are
/// placed in program order, each at a multiple of its alignment and of 16
/// bytes. `getType` overrides the type of a buffer; null: its own.
SharedMemory placeSharedMemory(
    mlir::Operation *function,
    llvm::function_ref<mlir::MemRefType(mlir::Value)> getType = nullptr);

/// The total bytes of a placement when some of its buffers change size. A
/// change takes logarithmic time in the number of buffers.
class SharedMemorySizes {
public:
  explicit SharedMemorySizes(const SharedMemory &memory);

  int64_t getBytes() const;
  /// Changes the size of a buffer of the placement.
  void set(mlir::Value buffer, int64_t bytes);

private:
  /// Appending to memory that ends at x gives alignTo(x + `before`,
  /// `alignment`) + `after`. Alignments are powers of two, so the composition
  /// of two steps is a step.
  struct Step {
    int64_t before = 0, alignment = 1, after = 0;
    int64_t apply(int64_t end) const;
    Step then(const Step &next) const;
  };

  int64_t begin; ///< the earliest offset of the first buffer
  llvm::DenseMap<mlir::Value, size_t> numbers;
  /// A binary tree of steps: the root is at 1, and the children of i are at 2 i
  /// and 2 i + 1; the leaves are the buffers.
  std::vector<Step> steps;
};

/// Why the bytes of shared memory cannot be compared with a limit: a buffer of
/// unknown size. Returns nothing if all sizes are known.
std::optional<std::string> describeUnknownSize(const SharedMemory &memory);

/// The total bytes of placeSharedMemory(); the largest number if the size of a
/// buffer is unknown.
int64_t getSharedMemoryBytes(
    mlir::Operation *function,
    llvm::function_ref<mlir::MemRefType(mlir::Value)> getType = nullptr);

/// Diagnoses excess shared memory, with a note at the largest buffers and the
/// number of slots that would fit, or a kernel attribute that is not a number
/// of bytes. Success if everything fits.
llvm::LogicalResult checkSharedMemory(mlir::Operation *function,
                                      const SharedMemory &memory,
                                      const targets::Target &target);

/// 32-bit registers of one thread.
struct Registers {
  int64_t count = 0;
  /// The op with the highest register pressure, and the largest value that is
  /// live there.
  mlir::Operation *op = nullptr;
  mlir::Value largest;
  int64_t largestCount = 0;
};

/// Live ranges of the values inside an op, in program order: from the defining
/// op to the last use. A value that is used in a loop and defined outside lives
/// to the end of the loop.
class LiveRanges {
public:
  /// `count` returns the registers of a value; a value without registers is
  /// ignored. The pressure is measured at ops for which `isPoint` holds, if it
  /// is given.
  LiveRanges(mlir::Operation *root,
             llvm::function_ref<int64_t(mlir::Value)> count,
             llvm::function_ref<bool(mlir::Operation *)> isPoint = nullptr);

  Registers getMost() const;
  /// For every loop, the registers of values that live across it and were
  /// defined before it.
  llvm::DenseMap<mlir::Operation *, int64_t> getAcrossLoops() const;
  /// The values that are live at an op where the pressure exceeds `budget`.
  llvm::SmallVector<mlir::Value> getValuesAbove(int64_t budget) const;

private:
  void addValue(mlir::Value value, int64_t begin, int64_t registers);
  int64_t getLastUse(mlir::Value value) const;

  /// Ops are numbered in program order; an op ends after its last nested op.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<bool> arePoints;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> span;
  struct Interval {
    mlir::Value value;
    int64_t begin, end, registers;
  };
  llvm::SmallVector<Interval> intervals;
  /// The change of the pressure at each op.
  llvm::SmallVector<int64_t> change;
};

/// Counts the registers of values per thread. A value of n bits needs the
/// dwords that contain it; constants, predicates, memrefs and kernel arguments
/// need none. In a block-level kernel each vector is distributed across the
/// threads of the block by its layout, or evenly if it does not have one.
class RegisterModel {
public:
  RegisterModel(mlir::FunctionOpInterface function,
                const targets::Target &target);

  int64_t count(mlir::Value value) const;
  /// The maximum pressure of values from inside `op`. Function arguments are
  /// not counted.
  Registers countInside(mlir::Operation *op) const;
  /// The registers of values that are defined before a loop and used in or
  /// after it. The loop must have existed at the first query.
  int64_t countAround(mlir::Operation *loop);

private:
  LiveRanges getLiveRanges(mlir::Operation *root) const;
  int64_t countVector(mlir::VectorType type, mlir::Attribute layout) const;

  mlir::FunctionOpInterface function;
  const targets::Target &target;
  int64_t threads = 1;
  bool isBlockLevel;
  std::optional<llvm::DenseMap<mlir::Operation *, int64_t>> around;
};

/// The maximum register pressure per thread in the function. Code generation
/// needs additional registers for addresses, and saves some by
/// rematerialization.
Registers estimateRegisters(mlir::FunctionOpInterface function,
                            const targets::Target &target);

/// The registers per thread if `threads` threads share a tile or vector evenly.
/// The largest number if the bits exceed 63 bits.
int64_t countRegistersOf(mlir::ShapedType type, int64_t threads);

/// Refuses a tile or vector (`what`) that needs more registers per thread than
/// the limit.
llvm::LogicalResult checkRegistersOf(mlir::Location loc, llvm::StringRef what,
                                     mlir::Type type, int64_t registers,
                                     int64_t threads, int64_t limit,
                                     llvm::StringRef chip);

/// Refuses the first eight vectors under `root` that need more registers per
/// thread than the target has, if `threads` threads share each vector. For
/// modules of JAX (`isJAX`) the limit is twice as high. On a CPU the limit is 4
/// MiB.
llvm::LogicalResult checkVectors(mlir::Operation *root,
                                 const targets::Target &target, int64_t threads,
                                 bool isJAX = false);

/// The allocated columns of tensor memory. Allocations of a dynamic number are
/// appended to `unknown`.
int64_t
countTensorMemoryColumns(mlir::Operation *function,
                         llvm::SmallVectorImpl<mlir::Operation *> &unknown);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_RESOURCES_RESOURCEESTIMATE_H
