//===- Footprints.h - Elements that each thread accesses --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If addresses depend only on the thread, they are computed for all threads of
// a block. Two accesses are not a hazard if every thread touches only elements
// that no other thread touches.
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
  /// The maximum number of different footprints.
  static constexpr int kMax = 256;

  /// Computes the footprints of all accesses of the function.
  Footprints(mlir::FunctionOpInterface function, const targets::Target *chip);

  /// The footprint of the access of `op` through `memref`, or kNone.
  int get(mlir::Operation *op, mlir::Value memref) const;
  /// Whether two different threads may touch the same element.
  bool meet(int a, int b);
  /// The number of accesses with a known footprint beyond the maximum.
  size_t getNumUndistinguished() const { return numUndistinguished; }

private:
  /// The first element of each thread, and the number of elements.
  struct Footprint {
    std::vector<int64_t> starts;
    int64_t elements;
    bool operator<(const Footprint &other) const {
      return std::tie(elements, starts) <
             std::tie(other.elements, other.starts);
    }
  };

  size_t numUndistinguished = 0;
  std::vector<const Footprint *> footprints;
  std::map<Footprint, int> numbers;
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, int> ofAccess;
  llvm::DenseMap<std::pair<int, int>, bool> meets;
};

} // namespace smalti

#endif // SMALTI_PASSES_SYNCHRONIZATION_FOOTPRINTS_H
