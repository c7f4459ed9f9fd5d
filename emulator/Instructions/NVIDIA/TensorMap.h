//===- TensorMap.h - Tensor maps of NVIDIA --------------------------------===//
//
// PTX ISA, "Tensors: Tensor-map"; CUDA Driver API, "Tensor Map Object
// Management: cuTensorMapEncodeTiled". python/smalti/emulator/tensor_maps.py
// says what is known of the 128 bytes, and writes them.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H

#include <cstdint>

namespace smalti::emulator::nvidia {

/// What cp.reduce.async.bulk does.
enum class Reduction { Add, Min, Max, Increment, Decrement, And, Or, Xor };

/// A tensor in global memory and the box of it that instructions copy. The
/// first dimension is the innermost one.
class TensorMap {
public:
  static constexpr uint32_t maxRank = 5;
  /// What shared memory of a box is aligned to.
  static constexpr uint32_t boxAlignment = 128;

  /// Reports an address that has none, and one of another rank.
  TensorMap(const void *address, uint32_t rank);

  /// Of a box in shared memory, what lies outside of the tensor included.
  uint32_t boxBytes() const;

  /// Copies the box whose first element has the coordinates. `isForReal` is
  /// false where only the sanitizers are to know.
  void load(char *to, const int32_t *coordinates, bool isForReal) const;
  void store(const char *from, const int32_t *coordinates,
             bool isForReal) const;

  /// Combines the tensor's elements with those of the box, each at once.
  void reduce(const char *from, const int32_t *coordinates, Reduction reduction,
              bool isForReal) const;

private:
  /// Calls `use(row, offset, first, end, at)` for each row of the box: its
  /// place in shared memory is `offset`; its elements from `first` to `end` are
  /// in the tensor, the first of them at `at`.
  template <class Use>
  void forEachRow(const int32_t *coordinates, Use use) const;
  uint32_t count(uint32_t dimension) const;
  /// Where a chunk of 16 bytes lies instead.
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
