//===- TransferCandidates.h - The ways to make a transfer -------*- C++ -*-===//

#ifndef SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H
#define SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H

#include "smalti/passes/Layouts/Plans/TransferDigits.h"

namespace smalti::transfers {

/// Where an element of an access is held, from the access's first register.
struct Place {
  int64_t reg = 0;
  int64_t element = 0;
};

/// A way to make a transfer: `places` together at one address, for every value
/// of the `outside` digits.
struct Candidate {
  AccessKind kind = AccessKind::Vector;
  int64_t bytes = 0;
  llvm::SmallVector<Place> places;
  /// How many of the places each piece must have; 0: what is consecutive.
  int64_t placesPerPiece = 0;
  llvm::SmallVector<Digit> outside;
  /// In bytes.
  llvm::SmallVector<ThreadTerm> terms;
  /// Lanes whose addresses count.
  int64_t lanes = 0;

  int64_t numAccesses() const;
};

/// The places that digits (minor to major) count.
llvm::SmallVector<Place> countPlaces(llvm::ArrayRef<Digit> digits);

/// All ways that the chip has to make a transfer.
llvm::SmallVector<Candidate> listCandidates(const TransferDigits &digits,
                                            bool isLoad,
                                            const targets::Target &target);

} // namespace smalti::transfers

#endif // SMALTI_PASSES_LAYOUTS_PLANS_TRANSFERCANDIDATES_H
