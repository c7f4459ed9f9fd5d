//===- Types.h - Element types by their MLIR names ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of Numbers.h for arrays whose type is selected at run time.
// Elements of less than a byte take a byte each.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_TYPES_H
#define SMALTI_EMULATOR_INSTRUCTIONS_TYPES_H

#include "smalti/emulator/Instructions/Numbers.h"

#include <cstddef>

namespace smalti::emulator {

/// An element type.
struct ElementType {
  enum Kind { Float, Signed, Unsigned };

  /// As MLIR spells it ("f8E4M3FN", "ui8"); "tf32" for the tensor cores' view
  /// of 32 bits, and "ue4m3" for PTX's unsigned scale.
  const char *name;
  Kind kind;
  /// Significant bits, and bytes per element.
  int bits, bytes;
  /// Reads `count` elements exactly. Integers of 64 bits are read by `widen`.
  void (*read)(const void *codes, size_t count, double *values);
  /// Rounds `count` numbers to floats of this type; null of integers.
  void (*write)(const double *values, size_t count, Rounding rounding,
                bool saturate, void *codes);
  /// For integers only: conversion between elements and 64 bits. `narrow` drops
  /// the upper bits.
  void (*widen)(const void *codes, size_t count, uint64_t *values);
  void (*narrow)(const uint64_t *values, size_t count, void *codes);

  bool isFloat() const { return kind == Float; }
};

/// The type that MLIR spells so, or null.
const ElementType *findElementType(const char *name);

/// All of them.
const ElementType *elementTypes(size_t &count);

/// Converts `count` elements, each with one rounding from the exact value
/// (PTX ISA, "cvt"; OCP 8-bit Floating Point Specification, section 5.2):
/// - float to float: what is too large, or infinite, becomes the largest number
///   with `saturate`, and else infinite, or NaN in a type without infinity.
///   A type that has neither always saturates, and NaN becomes its largest
///   number;
/// - float to integer: clamped. NaN becomes 0, but the smallest number (the
///   sign bit alone) if either type has 64 bits;
/// - integer to integer: clamped with `saturate`, and else the lower bits.
void convert(const ElementType &from, const ElementType &to, const void *codes,
             size_t count, Rounding rounding, bool saturate, void *results);

/// x * y + z of `count` floats, as doubles that another rounding to the type
/// makes what one rounding of the exact number is (math.fma).
void fuse(const ElementType &type, const void *x, const void *y, const void *z,
          size_t count, double *results);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_TYPES_H
