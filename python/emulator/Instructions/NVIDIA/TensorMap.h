//===- TensorMap.h - Tensor maps of NVIDIA --------------------------------===//
//
// PTX ISA, "Tensors: Tensor-map"; CUDA Driver API, "Tensor Map Object
// Management: cuTensorMapEncodeTiled". The 128 bytes are opaque; ours are what
// python/smalti/emulator/tensor_map.py writes.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H
#define SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H

#include <cstdint>

namespace smalti::emulator::nvidia {

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

private:
  /// Calls `use(row, offset, first, end, at)` for each row of the box: its
  /// place in shared memory is `offset`; its elements from `first` to `end` are
  /// in the tensor, the first of them at `at`.
  template <class Use>
  void forEachRow(const int32_t *coordinates, Use use) const;
  uint32_t count(uint32_t dimension) const;
  /// Where a chunk of 16 bytes lies instead.
  template <class Pointer> Pointer swizzled(Pointer chunk) const;

  // As in memory, without gaps.
#pragma pack(push, 1)
  struct Fields {
    uint64_t magic;
    uint64_t base;
    uint8_t rank, elementBytes;
    /// 0, 32, 64 or 128 bytes.
    uint8_t swizzle;
    uint8_t fillsNaN;
    uint64_t sizes[maxRank];
    /// In bytes; without the first one.
    uint64_t strides[maxRank - 1];
    uint16_t box[maxRank];
    uint8_t steps[maxRank];
  };
#pragma pack(pop)
  static_assert(sizeof(Fields) <= 128);
  Fields fields;
};

} // namespace smalti::emulator::nvidia

#endif // SMALTI_EMULATOR_INSTRUCTIONS_NVIDIA_TENSORMAP_H
