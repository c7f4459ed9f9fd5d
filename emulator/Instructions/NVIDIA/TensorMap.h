//===- TensorMap.h - Tensor maps of NVIDIA --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Tensors: Tensor-map"; CUDA Driver API, "Tensor Map Object
// Management: cuTensorMapEncodeTiled". python/smalti/emulator/tensor_maps.py
// documents and writes the 128 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H

#include <cstdint>

namespace smalti::emulator::nvidia {

/// The operations of cp.reduce.async.bulk.
enum class Reduction { Add, Min, Max, Increment, Decrement, And, Or, Xor };

/// A tensor in global memory and the box of it that instructions copy. The
/// first dimension is the innermost one.
class TensorMap {
public:
  static constexpr uint32_t maxRank = 5;
  /// The alignment of a box in shared memory.
  static constexpr uint32_t boxAlignment = 128;

  /// Reports an address without a tensor map, and a map of another rank.
  TensorMap(const void *address, uint32_t rank);

  /// The size of a box in shared memory, including elements outside of the
  /// tensor.
  uint32_t boxBytes() const;

  /// Copies the box whose first element has the coordinates. `isCompletion` is
  /// false where only the sanitizers are to know.
  void load(char *to, const int32_t *coordinates, bool isCompletion) const;
  void store(const char *from, const int32_t *coordinates,
             bool isCompletion) const;

  /// Combines the elements of the tensor with those of the box, one atomic per
  /// element.
  void reduce(const char *from, const int32_t *coordinates, Reduction reduction,
              bool isCompletion) const;

private:
  /// Calls `use(row, offset, first, end, at)` for each row of the box. `offset`
  /// is the offset in shared memory. The elements from `first` to `end` are
  /// inside the tensor, and `at` is the address of the first.
  template <class Use>
  void forEachRow(const int32_t *coordinates, Use use) const;
  uint32_t count(uint32_t dimension) const;
  /// The swizzled address of a chunk of 16 bytes.
  template <class Pointer> Pointer swizzled(Pointer chunk) const;

  struct Fields {
    uint64_t base;
    uint32_t rank, elementBytes;
    /// The code of the element type.
    uint32_t type;
    /// 16, 32, 64 or 128 bytes.
    uint32_t swizzle;
    bool fillsNaN;
    uint64_t sizes[maxRank];
    /// In bytes; without the first one.
    uint64_t strides[maxRank - 1];
    uint32_t box[maxRank];
    uint32_t steps[maxRank];
  };
  Fields fields;
};

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H
