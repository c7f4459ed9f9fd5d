//===- FunctionProgram.h - Accesses and barriers of a function --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_SYNCHRONIZATION_FUNCTIONPROGRAM_H
#define SMALTI_PASSES_SYNCHRONIZATION_FUNCTIONPROGRAM_H

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"
#include "smalti/passes/Analysis/Threads/Uniformity.h"
#include "smalti/passes/Interfaces/LoopInterfaces.h"
#include "smalti/passes/Synchronization/Footprints.h"
#include "smalti/passes/Synchronization/SyncProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace smalti {

/// Builds the program of a function. Maps each node to its op, and records why
/// barriers are not changed.
class FunctionProgram {
public:
  /// `chip` may be null; it determines the wave size.
  FunctionProgram(mlir::FunctionOpInterface function,
                  const targets::Target *chip);
  FunctionProgram(const FunctionProgram &) = delete;
  FunctionProgram &operator=(const FunctionProgram &) = delete;

  sync::Program program;
  /// For each node; null for the code around a function with callers.
  std::vector<mlir::Operation *> ops;
  /// Barriers that must not be changed, with the reason.
  llvm::MapVector<mlir::Operation *, std::string> fixed;
  /// An op, other than a block barrier, that may synchronize threads. The
  /// hazards that it orders are unknown.
  mlir::Operation *unmodeledSynchronization = nullptr;
  /// Why the accesses of a node cannot be determined.
  llvm::DenseMap<sync::NodeId, std::string> unknown;
  /// Ops whose accesses cannot be determined, one for each reason.
  llvm::MapVector<mlir::Operation *, std::string> opaque;
  /// Asynchronous copies, and steps that access their destination before a wait
  /// completes them.
  std::vector<std::pair<sync::NodeId, sync::NodeId>> inFlight;
  /// Why threads may take different paths through an op.
  llvm::DenseMap<mlir::Operation *, std::string> divergenceReasons;
  /// Describes the node's op in remarks.
  std::string describe(sync::NodeId node) const;
  /// The number of accesses whose footprint is not distinguished.
  size_t getNumUndistinguished() const {
    return footprints.getNumUndistinguished();
  }

private:
  /// The control structure of a region op.
  enum class Shape { Branch, Loop, While, Unknown };

  Shape getShape(mlir::Operation *op) const;
  void findWalkFacts();
  void addBlock(mlir::Block &block, sync::NodeId parent, unsigned part);
  void addOp(mlir::Operation *op, sync::NodeId parent, unsigned part);
  void addStructure(mlir::RegionBranchOpInterface op, Shape shape,
                    sync::NodeId parent, unsigned part);
  void addBarrier(BlockBarrierOpInterface op, sync::NodeId parent,
                  unsigned part);
  sync::Access accessEverything(std::optional<unsigned> &number,
                                sync::Spaces spaces);
  void addUnknown(mlir::Operation *op, std::string reason, sync::NodeId parent,
                  unsigned part);
  void addAccesses(mlir::Operation *op, sync::NodeId parent, unsigned part);
  void addCopy(AsyncCopyOpInterface op, sync::NodeId parent, unsigned part);
  void fixNestedBarriers(mlir::Operation *op, llvm::StringRef reason);
  sync::NodeId addNode(mlir::Operation *op, sync::Node::Kind kind,
                       sync::NodeId parent, unsigned part);
  std::optional<sync::Access> toAccess(const MemoryAccess &access);
  sync::Slot getSlot(const MemoryAccess &access, unsigned buffer);
  unsigned getBuffer(mlir::Value root);
  unsigned addBuffer(sync::Buffer buffer, llvm::ArrayRef<mlir::Value> roots,
                     mlir::Type type, bool isFixed);
  void setDepth(unsigned buffer, int64_t depth);
  void finalizeSlots();

  /// Memrefs that loop iterations use in turn. They are one buffer in the
  /// program, since a value may be any of them.
  struct TurnSet {
    llvm::SmallVector<mlir::Value> memrefs;
    unsigned buffer;
    /// The slot of the first memref; nothing if the memrefs cannot be
    /// distinguished as slots.
    std::optional<int64_t> first;
  };
  /// A value that is one of the memrefs in each iteration.
  struct Turn {
    unsigned set;
    mlir::scf::ForOp loop;
    int64_t index; ///< of its memref in the first iteration
    bool isAfter;
  };
  void findTurns();
  void addTurn(mlir::Value value);
  std::optional<unsigned> addTurnSet(llvm::ArrayRef<mlir::Value> memrefs);
  std::optional<int64_t> numberMembers(llvm::ArrayRef<mlir::Value> members);
  void dropNumbersOfSlottedBuffers();
  sync::Slot getTurnSlot(const Turn &turn) const;
  void addUnknownCopiesToWaits();
  void findReadCompletion(mlir::Operation *op, sync::NodeId node);

  mlir::FunctionOpInterface function;
  UniformityAnalysis uniformity;
  Footprints footprints;
  /// For each buffer: its possible roots, its type, and whether its elements
  /// have the same addresses for all threads and iterations.
  std::vector<llvm::SmallVector<mlir::Value, 1>> roots;
  std::vector<mlir::Type> types;
  std::vector<bool> isFixed;
  /// By the identity of their roots.
  llvm::DenseMap<const void *, unsigned> buffers;
  std::optional<unsigned> everything, globalMemory;
  /// The number of slots of a group that loops use in turn; 0 if loops
  /// disagree.
  llvm::DenseMap<unsigned, int64_t> depths;
  std::vector<TurnSet> turnSets;
  /// By their first memref.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> turnSetsOf;
  llvm::DenseMap<mlir::Value, Turn> turns;
  /// The slots of buffers in groups of swapped buffers.
  llvm::DenseMap<unsigned, int64_t> numbers;
  llvm::DenseMap<mlir::Operation *, sync::NodeId> nodes;
  llvm::DenseSet<mlir::Operation *> holdBarriers;
  /// Memory is allocated after other memory was freed, and may be the same.
  bool reusesMemory = false;
};

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_FUNCTIONPROGRAM_H
