//===- LaunchArguments.h - Arguments of a launch, without Python code -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads arrays of other libraries, and checks them against the arguments of a
// kernel. Every function returns false for what it does not support or does
// not accept. The caller then runs the code in `smalti.calling`, which decides
// and words the error.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_BINDINGS_LAUNCHARGUMENTS_H
#define SMALTI_BINDINGS_LAUNCHARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <vector>

namespace smalti::launch {

/// The largest rank and the largest number of arguments of native launches.
constexpr int maxRank = 8;
constexpr int maxArguments = 64;

/// A size or stride of an argument that a call chooses.
constexpr int64_t dynamic = INT64_MIN;

enum class Device : uint8_t { other, cpu, cuda, hip };

/// The stream of a call that does not state one.
constexpr uint64_t unstatedStream = UINT64_MAX;

/// A function of DLPack's exchange API: the current stream of a device.
using CurrentStream = int (*)(int32_t type, int32_t index, void **stream);

/// The memory of an array: `ArrayView` of smalti/calling/arrays.py.
struct View {
  uint64_t pointer;
  int64_t shape[maxRank];
  int64_t strides[maxRank];
  /// The addresses of the first byte and of the byte after the last, if
  /// `element` is not -1.
  uint64_t first, last;
  int rank;
  /// The position of the element type in `dtypes.ELEMENT_TYPES`, or -1.
  int element;
  /// The bytes of an element, if `element` is not -1.
  int size;
  Device device;
  bool isReadOnly;
  bool hasZero;
  /// The index of the GPU, or -1 if the array does not state it.
  int deviceIndex;
  /// Holds the memory during the launch, or null if the caller does.
  PyObject *owner;
  /// A tensor of torch, whose current stream is the default of a launch.
  bool isTorch;
  /// Returns that stream, or is null if Python has to ask for it.
  CurrentStream currentStream;
  int32_t deviceType;

  /// Whether another view differs only in its address and its owner, as far as
  /// checks and facts depend on views.
  bool isLike(const View &other) const {
    if (rank != other.rank || element != other.element || size != other.size ||
        device != other.device || isReadOnly != other.isReadOnly)
      return false;
    bool isEqual = true;
    for (int dim = 0; dim < rank; ++dim)
      isEqual &=
          shape[dim] == other.shape[dim] && strides[dim] == other.strides[dim];
    return isEqual;
  }
};

/// A memref: the fields of `Argument` that a launch checks.
struct ArraySpec {
  uint64_t elements;
  Device device;
  std::vector<int64_t> shape, strides;
  int64_t size;
  int64_t alignment;
  bool writes;
  bool isRowMajor;
  std::vector<int64_t> sizeDivisors, strideDivisors;
  int64_t maxBytes, maxSize;
  std::vector<int64_t> dynamicSizes, dynamicStrides;
  int64_t packed;
  /// The last array that was accepted. Its rank is -1 before.
  View accepted;
};

/// Tables of the Python modules that reading arrays needs.
struct Tables {
  /// `arrays.view`, for arrays that are not read here.
  PyObject *view = nullptr;
  /// Returns the DLPack exchange API and the method `is_neg` of a type of
  /// torch, or None for another type.
  PyObject *classify = nullptr;
  PyTypeObject *viewType = nullptr;
  /// From names in numpy and in array interfaces to element types. A number
  /// is 256 times the element type, plus the bytes of an element.
  PyObject *names = nullptr, *typestrs = nullptr;
  /// From DLPack's code and the logarithm of the bytes to element types.
  int8_t dlpack[32][4];
};
extern Tables tables;

bool initializeNames();

/// Reads the integers of a sequence; None is `dynamic`.
bool readIntegers(PyObject *sequence, std::vector<int64_t> &result);

/// Whether a number is a multiple of a divisor, which is mostly a power of 2.
inline bool isMultiple(int64_t number, int64_t divisor) {
  uint64_t below = static_cast<uint64_t>(divisor) - 1;
  if ((static_cast<uint64_t>(divisor) & below) == 0)
    return (static_cast<uint64_t>(number) & below) == 0;
  return number % divisor == 0;
}

/// Reads an array for a kernel on a stream.
bool readView(PyObject *value, uint64_t stream, View &view);

/// Whether `check_array`, `check_facts` and `check_alignment` accept an array.
bool accepts(ArraySpec &spec, const View &view);

} // namespace smalti::launch

#endif // SMALTI_BINDINGS_LAUNCHARGUMENTS_H
