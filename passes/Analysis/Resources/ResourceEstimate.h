//===- ResourceEstimate.h - What a kernel takes of its chip ------------*- C++
//-*-===//
//
// The one estimate of resources. Passes that make buffers larger, the pass that
// places them, the one that checks, and smalti-compile where it chooses slots
// all ask here.
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

/// A buffer in shared memory and its place.
struct SharedBuffer {
  mlir::Value value;
  mlir::MemRefType type;
  int64_t offset;
  int64_t alignment; ///< a power of two
  int64_t bytes;
  /// Slots that its uses tell apart; 1 where they do not.
  int64_t slots;
};

struct SharedMemory {
  /// Behind the slices that have their place.
  int64_t begin = 0;
  /// In the order in which they are placed.
  llvm::SmallVector<SharedBuffer> buffers;
  /// Buffers of unknown size, which `bytes` does not count.
  llvm::SmallVector<mlir::Value> unknown;
  /// Where the last one ends, and where the last one ends that the program
  /// gives its place. What the assembler places comes behind.
  int64_t bytes = 0;
  int64_t placedBytes = 0;
  /// Of the memory in which the program gives places; 16 or more.
  int64_t alignment;

  /// The most slots, at most `slots`, that buffers can keep so that all fit;
  /// 0 where not even one does. `bytes` becomes what they then take.
  int64_t getFittingSlots(int64_t limit, int64_t &bytes) const;
};

/// The power of two of bytes that the buffer's op, or the kernel that declares
/// it, states its begin to be a multiple of; 1 where nothing is stated.
int64_t getStatedAlignment(mlir::Value buffer);

/// Places the buffers that a function allocates in shared memory, its workgroup
/// attributions and barrier objects included, behind the slices that have their
/// place: in the order of the program, each at a multiple of its alignment and
/// of 16 bytes. `getType` answers the type that a buffer is counted with; null:
/// its own.
SharedMemory placeSharedMemory(
    mlir::Operation *function,
    llvm::function_ref<mlir::MemRefType(mlir::Value)> getType = nullptr);

/// The bytes that a placement comes to where some of its buffers have other
/// sizes. A change takes time that grows with the logarithm of the number of
/// buffers.
class SharedMemorySizes {
public:
  explicit SharedMemorySizes(const SharedMemory &memory);

  int64_t getBytes() const;
  /// Gives a buffer of the placement another size.
  void set(mlir::Value buffer, int64_t bytes);

private:
  /// What follows memory that ends at x ends at x + `before`, up to a multiple
  /// of `alignment`, plus `after`. Alignments are powers of two, so that one
  /// after the other is such a step again.
  struct Step {
    int64_t before = 0, alignment = 1, after = 0;
    int64_t apply(int64_t end) const;
    Step then(const Step &next) const;
  };

  int64_t begin; ///< where the first buffer may be placed
  llvm::DenseMap<mlir::Value, size_t> numbers;
  /// A tree of them: behind the root at 1, the halves of what i stands for are
  /// at 2 i and 2 i + 1; the buffers come last.
  std::vector<Step> steps;
};

/// Why the bytes of shared memory cannot be compared with a limit: a buffer of
/// unknown size. Nothing where all sizes are known.
std::optional<std::string> whyUnknownSize(const SharedMemory &memory);

/// The bytes that placeSharedMemory() comes to; the largest number where a
/// buffer's size is not known.
int64_t getSharedMemoryBytes(
    mlir::Operation *function,
    llvm::function_ref<mlir::MemRefType(mlir::Value)> getType = nullptr);

/// What does not fit, with a note at every buffer, the largest first, and what
/// would fit, or an attribute of the kernel that is not a number of bytes.
/// Success where all fits.
llvm::LogicalResult checkSharedMemory(mlir::Operation *function,
                                      const SharedMemory &memory,
                                      const targets::Target &target);

/// 32-bit registers of one thread.
struct Registers {
  int64_t count = 0;
  /// The op where so many values are live, and the largest of them.
  mlir::Operation *op = nullptr;
  mlir::Value largest;
  int64_t largestCount = 0;
};

/// When the values inside an op live, in the order of the program: every value
/// from its op to its last use, one that a loop uses from outside to the end of
/// the loop.
class Lifetimes {
public:
  /// `count` is the registers of a value; a value without any is left out.
  /// What is live counts at ops for which `isPoint` holds, if it is given.
  Lifetimes(mlir::Operation *root,
            llvm::function_ref<int64_t(mlir::Value)> count,
            llvm::function_ref<bool(mlir::Operation *)> isPoint = nullptr);

  Registers getMost() const;
  /// For every loop the registers of values that live there and were produced
  /// before it.
  llvm::DenseMap<mlir::Operation *, int64_t> getAroundLoops() const;
  /// The values that live at an op where values take more than `budget`.
  llvm::SmallVector<mlir::Value> getValuesAbove(int64_t budget) const;

private:
  void addValue(mlir::Value value, int64_t begin, int64_t registers);
  int64_t getLastUse(mlir::Value value) const;

  /// Ops are numbered in the order of the program; an op ends after the last
  /// one inside it.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<bool> arePoints;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> span;
  struct Interval {
    mlir::Value value;
    int64_t begin, end, registers;
  };
  llvm::SmallVector<Interval> intervals;
  /// By how much the registers in use change at each op.
  llvm::SmallVector<int64_t> change;
};

/// Counts the registers that values of one thread take. A value of n bits takes
/// the dwords that hold it; constants, predicates, memrefs and kernel arguments
/// take nothing. In a program of whole blocks each vector is distributed over
/// the threads of the block by its layout, evenly where it states none.
class RegisterModel {
public:
  RegisterModel(mlir::FunctionOpInterface function,
                const targets::Target &target);

  int64_t count(mlir::Value value) const;
  /// The most that values from inside `op` take at once. What a function is
  /// given is not counted.
  Registers countInside(mlir::Operation *op) const;
  /// What values from ahead of a loop take that are used in it or behind it, of
  /// a loop that was there when this was first asked.
  int64_t countAround(mlir::Operation *loop);

private:
  Lifetimes getLifetimes(mlir::Operation *root) const;
  int64_t countVector(mlir::VectorType type, mlir::Attribute layout) const;

  mlir::FunctionOpInterface function;
  const targets::Target &target;
  int64_t threads = 1;
  bool areVectorsOfBlocks;
  std::optional<llvm::DenseMap<mlir::Operation *, int64_t>> around;
};

/// The most registers that values of one thread take at once in the function.
/// Code generation needs registers for addresses on top, and saves some by
/// making values later.
Registers estimateRegisters(mlir::FunctionOpInterface function,
                            const targets::Target &target);

/// The registers of each of `threads` threads that share a tile or vector
/// evenly. The largest number where 63 bits do not hold its bits.
int64_t countRegistersOf(mlir::ShapedType type, int64_t threads);

/// Refuses a tile or vector (`what`) that takes more registers of a thread than
/// the limit.
llvm::LogicalResult checkRegistersOf(mlir::Location loc, llvm::StringRef what,
                                     mlir::Type type, int64_t registers,
                                     int64_t threads, int64_t limit,
                                     llvm::StringRef chip);

/// Refuses the first eight vectors under `root` that take more registers than a
/// thread has (on a CPU: that are larger than 4 MiB), where `threads` threads
/// share each; of a program of JAX
/// (`isJAX`), twice as many.
llvm::LogicalResult checkVectors(mlir::Operation *root,
                                 const targets::Target &target, int64_t threads,
                                 bool isJAX = false);

/// Columns of tensor memory that are allocated. Allocations of a number that is
/// not constant are appended to `unknown`.
int64_t
countTensorMemoryColumns(mlir::Operation *function,
                         llvm::SmallVectorImpl<mlir::Operation *> &unknown);

} // namespace smalti

#endif // SMALTI_PASSES_ANALYSIS_RESOURCES_RESOURCEESTIMATE_H
