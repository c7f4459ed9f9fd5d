//===- Windows.h - Memory windows of vector transfers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_WINDOWS_H
#define SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_WINDOWS_H

#include "smalti/passes/Conversion/BlockToThread/Kernel/VendorLowering.h"
#include "smalti/passes/Layouts/Vectors/Distribution.h"

namespace smalti::block_to_thread {

/// Maximum bytes of one access of a thread.
inline constexpr int64_t kMaxAccessBytes = 16;

bool isWorkgroupMemory(mlir::MemRefType type);

/// Bytes of an element in memory; 0 if elements share bytes.
int64_t elementBytes(mlir::Type type);

/// The element types that an op supports, for a message: "f16, bf16, f32".
std::string listElementTypes(mlir::MLIRContext *context,
                             llvm::function_ref<bool(mlir::Type)> isSupported);

/// The largest n for which 2^n bytes provably divide the address of a memref's
/// first element.
unsigned log2Alignment(mlir::Value memref);

/// The largest n for which 2^n provably divides the size or the stride of a
/// memref's dimension.
unsigned log2Size(mlir::Value memref, int64_t dim);
unsigned log2Stride(mlir::Value memref, int64_t dim);

/// A window of memory that a vector is read from or written to.
struct Window {
  mlir::Value memref;
  /// Indices of the window's first element, one per memref dimension; empty if
  /// it is the origin.
  mlir::ValueRange indices;
  /// The vector dimension that runs along each memref dimension, or -1.
  llvm::SmallVector<int64_t> vectorDims;
  /// Whether elements may be out of bounds along this memref dimension.
  llvm::SmallVector<bool> isChecked;
};

/// The window of a transfer or of a vector_load/vector_store, or why it is not
/// supported.
std::optional<Window> getWindow(mlir::Operation *op, std::string &why,
                                bool mayShareBytes = false);

/// How many consecutive elements of a register one instruction can access:
/// their address is provably aligned, and all of them are in bounds or out of
/// bounds. `coordinates` are those of the first element of the register.
int64_t getAccessWidth(const Window &window, const Distribution &distribution,
                       llvm::ArrayRef<Coordinate> coordinates,
                       unsigned log2MemRefAlignment);

/// Emits addresses and bounds of a thread's pieces of a window; equal parts are
/// emitted once.
class WindowEmitter {
public:
  WindowEmitter(const Window &window, mlir::Value memref,
                mlir::ValueRange windowIndices, ThreadIndices &indices,
                mlir::OpBuilder &builder, mlir::Location loc);

  /// The piece of `type` whose first element has these coordinates in the
  /// vector.
  Access getAccess(llvm::ArrayRef<Coordinate> coordinates,
                   mlir::VectorType type, int64_t alignment);
  /// The index along a dimension of the memref.
  mlir::Value getIndex(int64_t dim, llvm::ArrayRef<Coordinate> coordinates);
  mlir::Value getExtent(int64_t dim);

private:
  const Window &window;
  mlir::Value memref;
  mlir::ValueRange windowIndices;
  ThreadIndices &indices;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool onlyRead, smallOffsets;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> sums;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> offsets;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> bounds;
  llvm::DenseMap<int64_t, mlir::Value> extents;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> conjunctions;
};

} // namespace smalti::block_to_thread

#endif // SMALTI_PASSES_CONVERSION_BLOCKTOTHREAD_KERNEL_WINDOWS_H
