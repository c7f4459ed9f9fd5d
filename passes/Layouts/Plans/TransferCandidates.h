//===- TransferCandidates.h - Access patterns of a transfer -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H

#include "smalti/passes/Layouts/Plans/TransferDigits.h"

namespace smalti::transfers {

/// Register and element of a value of an access, relative to its first
/// register.
struct Slot {
  int64_t reg = 0;
  int64_t element = 0;
};

/// An access pattern: one access moves the elements in `slots`, and is repeated
/// for every value of the `outside` digits.
struct Candidate {
  AccessKind kind = AccessKind::Vector;
  int64_t bytes = 0;
  llvm::SmallVector<Slot> slots;
  /// Number of slots of each piece; 0: as many as are consecutive.
  int64_t slotsPerPiece = 0;
  llvm::SmallVector<Digit> outside;
  /// In bytes.
  llvm::SmallVector<ThreadTerm> terms;
  /// Number of lanes whose addresses are used.
  int64_t lanes = 0;

  int64_t numAccesses() const;
};

/// Enumerates the slots of digits (minor to major).
llvm::SmallVector<Slot> listSlots(llvm::ArrayRef<Digit> digits);

/// All access patterns that the target supports for a transfer.
llvm::SmallVector<Candidate> listCandidates(const TransferDigits &digits,
                                            bool isLoad,
                                            const targets::Target &target);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H
