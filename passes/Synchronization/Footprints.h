//===- Footprints.h - Which elements each thread accesses -------*- C++ -*-===//
//
// Where addresses depend on nothing but the thread, they are computed for all
// threads of a block: two accesses by which every thread touches elements that
// no other one does are no hazard.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_PASSES_SYNCHRONIZATION_FOOTPRINTS_H
#define SMALTI_PASSES_SYNCHRONIZATION_FOOTPRINTS_H

#include "smalti/passes/Analysis/Memory/MemoryAccess.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace smalti {
namespace targets {
struct Target;
} // namespace targets

class Footprints {
public:
  static constexpr int kNone = -1;
  /// More different ones than this are not compared with one another.
  static constexpr int kMost = 256;

  /// Computes those of all accesses of the function.
  Footprints(mlir::FunctionOpInterface function, const targets::Target *chip);

  /// The footprint of what `op` accesses through `memref`, or kNone.
  int get(mlir::Operation *op, mlir::Value memref) const;
  /// Whether two different threads may touch the same element by them.
  bool meet(int a, int b);
  /// Accesses whose footprint is known, and is one too many.
  size_t getNumLeftOut() const { return numLeftOut; }

private:
  /// The first element of each thread, and how many follow it.
  struct Footprint {
    std::vector<int64_t> starts;
    int64_t elements;
    bool operator<(const Footprint &other) const {
      return std::tie(elements, starts) <
             std::tie(other.elements, other.starts);
    }
  };

  size_t numLeftOut = 0;
  std::vector<const Footprint *> footprints;
  std::map<Footprint, int> numbers;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, int> ofAccess;
  llvm::DenseMap<std::pair<int, int>, bool> meets;
};

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_FOOTPRINTS_H
