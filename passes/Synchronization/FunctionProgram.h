//===- FunctionProgram.h - A function as barriers see it --------*- C++ -*-===//

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

/// Builds the program of a function. It says of every node which op it stands
/// for, and why barriers have to stay.
class FunctionProgram {
public:
  /// `chip` may be null; it tells how the threads make up waves.
  FunctionProgram(mlir::FunctionOpInterface function,
                  const targets::Target *chip);
  FunctionProgram(const FunctionProgram &) = delete;
  FunctionProgram &operator=(const FunctionProgram &) = delete;

  sync::Program program;
  /// Of each node; null for the start of a function that has callers.
  std::vector<mlir::Operation *> ops;
  /// Barriers that must not be touched, with the reason.
  llvm::MapVector<mlir::Operation *, std::string> fixed;
  /// An op in which threads may wait for one another and that is no barrier of
  /// the block: it is not known which hazards it orders.
  mlir::Operation *otherWait = nullptr;
  /// Why nothing can be said about the memory that a node accesses.
  llvm::DenseMap<sync::NodeId, std::string> unknown;
  /// Ops whose accesses cannot be determined, with the reason; one for each
  /// reason.
  llvm::MapVector<mlir::Operation *, std::string> opaque;
  /// Asynchronous copies, and steps that access what they write before a wait
  /// completes them.
  std::vector<std::pair<sync::NodeId, sync::NodeId>> inFlight;
  /// Why not all threads may take the same way through an op.
  llvm::DenseMap<mlir::Operation *, std::string> notUniform;
  /// The node's op, for remarks.
  std::string describe(sync::NodeId node) const;
  /// Accesses that are not told apart by the elements that threads access.
  size_t getNumNotTold() const { return footprints.getNumLeftOut(); }

private:
  /// The structure that a region op is.
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
  void keepNested(mlir::Operation *op, llvm::StringRef reason);
  sync::NodeId addNode(mlir::Operation *op, sync::Node::Kind kind,
                       sync::NodeId parent, unsigned part);
  std::optional<sync::Access> toAccess(const MemoryAccess &access);
  sync::Slot getSlot(const MemoryAccess &access, unsigned buffer);
  unsigned getBuffer(mlir::Value root);
  unsigned addBuffer(sync::Buffer buffer, llvm::ArrayRef<mlir::Value> roots,
                     mlir::Type type, bool isFixed);
  void setDepth(unsigned buffer, int64_t depth);
  void settleSlots();

  /// Memrefs that the iterations of loops use in turn. They are one buffer in
  /// the program, since accesses by one of them are to any of the memrefs.
  struct TurnSet {
    llvm::SmallVector<mlir::Value> memrefs;
    unsigned buffer;
    /// The slot that the first of them is; none where slots cannot be told
    /// apart by which memref it is.
    std::optional<int64_t> first;
  };
  /// A value that is one of the memrefs in each iteration.
  struct Turn {
    unsigned set;
    mlir::scf::ForOp loop;
    int64_t index; ///< of the one in the first iteration
    bool isBehind;
  };
  void findTurns();
  void addTurn(mlir::Value value);
  std::optional<unsigned> addTurnSet(llvm::ArrayRef<mlir::Value> memrefs);
  std::optional<int64_t> numberMembers(llvm::ArrayRef<mlir::Value> members);
  void dropNumbersOfSlottedBuffers();
  sync::Slot getTurnSlot(const Turn &turn) const;
  void distrustWaits();
  void findEndOfRead(mlir::Operation *op, sync::NodeId node);

  mlir::FunctionOpInterface function;
  UniformityAnalysis uniformity;
  Footprints footprints;
  /// Of each buffer, what it may be, the type that accesses see, and whether
  /// its elements are at the same addresses for all threads and iterations.
  std::vector<llvm::SmallVector<mlir::Value, 1>> roots;
  std::vector<mlir::Type> types;
  std::vector<bool> isFixed;
  /// By the identity of their roots.
  llvm::DenseMap<const void *, unsigned> buffers;
  std::optional<unsigned> everything, globalMemory;
  /// How many slots of a group loops use in turn; 0 where they do not agree.
  llvm::DenseMap<unsigned, int64_t> depths;
  std::vector<TurnSet> turnSets;
  /// By their first memref.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> turnSetsOf;
  llvm::DenseMap<mlir::Value, Turn> turns;
  /// The slots that buffers are in groups of buffers that take turns.
  llvm::DenseMap<unsigned, int64_t> numbers;
  llvm::DenseMap<mlir::Operation *, sync::NodeId> nodes;
  llvm::DenseSet<mlir::Operation *> holdBarriers;
  /// Memory is allocated after other memory was freed: it may be the same.
  bool reusesMemory = false;
};

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_FUNCTIONPROGRAM_H
