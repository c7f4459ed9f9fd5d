//===- Launcher.h - Launches of a GPU kernel ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The type `Launcher`: the launch of one kernel, from Python objects to the
// function of the driver.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_BINDINGS_LAUNCHER_H
#define SMALTI_BINDINGS_LAUNCHER_H

#include "GpuDriver.h"
#include "LaunchArguments.h"

#include <cstring>
#include <unordered_map>

namespace smalti::launch {

/// A number: an integer in [low, high), or a float.
struct ScalarSpec {
  /// A format character of `struct`.
  char format;
  int64_t low;
  uint64_t high;
  bool isUnbounded;
  /// `calls.scalar` for objects other than int, float and bool.
  PyObject *convert;
  /// The bits of a float that C does not have, or null.
  PyObject *bits;
};

struct Argument {
  bool isArray;
  ArraySpec array;
  ScalarSpec scalar;
};

/// A factor of the number of tiles: see `Entry.grid`.
struct GridTerm {
  int argument, dimension;
  int64_t number;
};

struct TensorMap {
  int argument;
  int64_t offset;
  bool isDynamic;
};

constexpr int maxMaps = 16;

/// A key of a table.
template <int mostWords> struct Key {
  uint64_t words[mostWords];
  int count = 0;

  void add(uint64_t word) { words[count++] = word; }

  bool operator==(const Key &other) const {
    return count == other.count &&
           !memcmp(words, other.words, count * sizeof(uint64_t));
  }

  struct Hash {
    size_t operator()(const Key &key) const {
      uint64_t hash = 0xcbf29ce484222325;
      for (int i = 0; i < key.count; ++i)
        hash = (hash ^ key.words[i]) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
      return hash;
    }
  };
};

/// The values that determine the bytes of a tensor map.
using MapKey = Key<3 + 2 * maxRank>;

struct MapData {
  unsigned char bytes[mapBytes];
};

constexpr size_t mostMaps = 1024;

/// The code of a kernel in a context of CUDA, or on a device of HIP.
struct Code {
  uint64_t context;
  int device;
  uint64_t function;
};

/// The description of a kernel.
struct Kernel {
  std::vector<Argument> arguments;
  int numParameters = 0;
  std::vector<std::vector<GridTerm>> grid;
  int64_t mostTiles = 0;
  unsigned fixedGrid[3] = {0, 0, 0};
  std::vector<TensorMap> maps;
  unsigned block[3], cluster[3], shared;
  bool hasCluster = false;
  CurrentFunction current = nullptr;
  void *launch = nullptr;
  std::vector<Code> codes;
  std::unordered_map<MapKey, MapData, MapKey::Hash> encoded;
};

struct Launcher {
  PyObject_HEAD vectorcallfunc vectorcall;
  Kernel *kernel;
  /// `(context, map, address, shape, strides) -> bytes`.
  PyObject *encode;
  /// `(status)`, which raises the error of a launch.
  PyObject *fail;
  /// `(stream) -> int`.
  PyObject *streamPointer;
  int forks;
};

/// An argument of a call.
struct Value {
  View view;
  int64_t number;
};

/// The status of a call that the launcher in Python must handle.
constexpr long notLaunched = -1;

/// Reads the value of a number, which is an object of Python.
bool readScalar(const ScalarSpec &spec, PyObject *object, Value &value);

/// Sets a value to an integer in the range of a type.
bool setInteger(const ScalarSpec &spec, int64_t number, Value &value);

/// Reads the handle of a stream of any library.
bool readStream(Launcher *self, PyObject *stream, uint64_t &handle);

/// Reads the arguments of a call, which are a tuple, and launches the kernel.
long launchObjects(Launcher *self, PyObject *arguments, PyObject *stream);

/// Launches a kernel with values that are read. Returns the status of the
/// driver, or `notLaunched`.
long launchValues(Launcher *self, Value *const *values, uint64_t stream);

/// Whether the kernel was launched, as an object. Raises the error for a
/// status of the driver.
PyObject *resultOf(Launcher *self, long status);

/// Creates the types of the module.
PyObject *createLauncherType();
PyObject *createDispatcherType();

/// Whether an object is a `Launcher` or a `Dispatcher`.
bool isLauncher(PyObject *object);
bool isDispatcher(PyObject *object);

/// Launches the kernel of a call of a `Dispatcher`. `named` is a dictionary or
/// null. Returns an object as `resultOf` does.
PyObject *dispatchObjects(PyObject *dispatcher, PyObject *arguments,
                          PyObject *named, PyObject *stream);

/// The name of the option `stream`, as a Python string.
extern PyObject *streamName;

/// Ctrl-C while the code of a kernel for the CPU runs (Interrupts.cpp).
extern PyMethodDef interruptFunctions[];

/// Counts the forks before this process.
void watchForks();
bool isForked(const Launcher *self);

} // namespace smalti::launch

#endif // SMALTI_BINDINGS_LAUNCHER_H
