//===- Launcher.cpp - Launches of a GPU kernel ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launcher.h"

#include <cstddef>
#include <pthread.h>
#include <structmember.h>

using namespace smalti::launch;

namespace {

/// The number of forks between the first process and this one.
int numForks = 0;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Reads an integer in the range of a type.
bool readInteger(const ScalarSpec &spec, PyObject *object, Value &value) {
  int overflow;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  if (overflow > 0 && spec.isUnbounded) {
    value.number = static_cast<int64_t>(PyLong_AsUnsignedLongLong(object));
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    // A grid cannot have this many tiles.
    value.view.rank = -1;
    return true;
  }
  if (overflow || number < spec.low ||
      (!spec.isUnbounded && number >= static_cast<int64_t>(spec.high)))
    return false;
  value.view.rank = 0;
  value.number = number;
  return true;
}

/// Reads a float as its bits.
bool readFloat(const ScalarSpec &spec, PyObject *object, Value &value) {
  double number = PyFloat_AsDouble(object);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  value.number = 0;
  if (spec.bits) {
    PyObject *bits = PyObject_CallOneArg(spec.bits, object);
    if (bits)
      value.number = PyLong_AsLongLong(bits);
    Py_XDECREF(bits);
    bool isRead = !PyErr_Occurred();
    PyErr_Clear();
    return isRead;
  }
  if (spec.format == 'd') {
    memcpy(&value.number, &number, sizeof number);
    return true;
  }
  float rounded = static_cast<float>(number);
  if (__builtin_isinf(rounded) && !__builtin_isinf(number))
    return false;
  memcpy(&value.number, &rounded, sizeof rounded);
  return true;
}

} // namespace

bool smalti::launch::readScalar(const ScalarSpec &spec, PyObject *object,
                                Value &value) {
  value.view.rank = -1;
  bool isFloat = spec.format == 'd' || spec.format == 'f' || spec.bits;
  if (isFloat && !spec.bits && (PyFloat_CheckExact(object)))
    return readFloat(spec, object, value);
  if (!isFloat && (PyLong_CheckExact(object) ||
                   (spec.format == '?' && PyBool_Check(object))))
    return readInteger(spec, object, value);
  PyObject *number = PyObject_CallOneArg(spec.convert, object);
  if (!number) {
    PyErr_Clear();
    return false;
  }
  bool isRead = isFloat ? readFloat(spec, number, value)
                        : readInteger(spec, number, value);
  Py_DECREF(number);
  return isRead;
}

bool smalti::launch::setInteger(const ScalarSpec &spec, int64_t number,
                                Value &value) {
  value.view.owner = nullptr;
  value.view.rank = 0;
  value.number = number;
  return number >= spec.low &&
         (spec.isUnbounded || number < static_cast<int64_t>(spec.high));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// Whether two arrays have different addresses modulo a period:
/// `are_interleaved` of smalti/calling/calls.py.
bool areInterleaved(const View &one, const View &other, int64_t period) {
  int64_t first[2], length[2];
  const View *views[] = {&one, &other};
  for (int i = 0; i < 2; ++i) {
    const View &view = *views[i];
    int64_t low = 0, high = 0;
    for (int dim = 0; dim < view.rank; ++dim) {
      int64_t step = view.strides[dim] * view.size;
      if (view.shape[dim] > 1 && step % period)
        (step < 0 ? low : high) += (view.shape[dim] - 1) * step;
    }
    first[i] = static_cast<int64_t>(view.pointer) + low;
    length[i] = high - low + view.size;
  }
  int64_t distance = (first[1] - first[0]) % period;
  if (distance < 0)
    distance += period;
  return length[0] <= distance && length[1] <= period - distance;
}

/// Whether two arrays are interleaved for a stride of them. `measure` has
/// limited the numbers, so that no overflow occurs.
bool areInterleaved(const View &one, const View &other) {
  for (const View *view : {&one, &other})
    for (int dim = 0; dim < view->rank; ++dim)
      if (view->shape[dim] > 1 && view->strides[dim] &&
          areInterleaved(one, other, llabs(view->strides[dim]) * view->size))
        return true;
  return false;
}

/// Whether an array that the kernel writes may overlap another one.
bool mayOverlap(const Kernel &kernel, Value *const *values) {
  int order[maxArguments], count = 0;
  size_t numArguments = kernel.arguments.size();
  for (size_t i = 0; i < numArguments; ++i)
    if (kernel.arguments[i].isArray &&
        values[i]->view.first < values[i]->view.last)
      order[count++] = static_cast<int>(i);
  for (int i = 0; i < count; ++i) {
    if (!kernel.arguments[order[i]].array.writes)
      continue;
    const View &written = values[order[i]]->view;
    for (int j = 0; j < count; ++j) {
      const View &other = values[order[j]]->view;
      if (i != j && written.first < other.last && other.first < written.last &&
          !areInterleaved(written, other))
        return true;
    }
  }
  return false;
}

/// Sets the size of the grid. Returns false if it is not supported.
bool setGrid(const Kernel &kernel, Value *const *values, unsigned *grid) {
  if (kernel.grid.empty()) {
    memcpy(grid, kernel.fixedGrid, sizeof kernel.fixedGrid);
    return true;
  }
  int64_t tiles = 1;
  for (const std::vector<GridTerm> &terms : kernel.grid) {
    int64_t size = 1;
    for (const GridTerm &term : terms) {
      int64_t factor = term.number;
      if (term.argument >= 0) {
        const Value &value = *values[term.argument];
        int64_t extent = value.number;
        if (term.dimension >= 0) {
          const View &view = value.view;
          extent = view.shape[term.dimension];
          if (term.dimension == view.rank - 1)
            extent *= kernel.arguments[term.argument].array.packed;
        } else if (value.view.rank < 0) {
          return false;
        }
        if (extent < 0)
          return false;
        factor = extent / term.number + (extent % term.number != 0);
      }
      if (__builtin_mul_overflow(size, factor, &size))
        return false;
    }
    if (size < 0 || __builtin_mul_overflow(tiles, size, &tiles))
      return false;
  }
  if (tiles > kernel.mostTiles || tiles > UINT32_MAX)
    return false;
  grid[0] = static_cast<unsigned>(tiles);
  grid[1] = grid[2] = 1;
  return true;
}

const Code *findCode(const Kernel &kernel) {
  uint64_t context = 0;
  if (kernel.current(&context))
    return nullptr;
  for (const Code &code : kernel.codes)
    if (code.context == context)
      return &code;
  return nullptr;
}

PyObject *integers(const int64_t *values, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject *item = PyLong_FromLongLong(values[i]);
    if (!item) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

/// Copies the bytes of a tensor map. Python code creates a map that was not
/// used before.
bool encodeMap(Launcher *self, size_t index, const Code &code,
               Value *const *values, MapData &result) {
  Kernel &kernel = *self->kernel;
  const TensorMap &map = kernel.maps[index];
  const View &view = values[map.argument]->view;
  uint64_t address = view.pointer + map.offset;
  // The array is empty; see `_map_address` in smalti/launch/cuda.py.
  if (map.isDynamic && address < 16)
    address = 16;
  MapKey key;
  key.add(index);
  key.add(address);
  key.add(code.context);
  if (map.isDynamic) {
    for (int dim = 0; dim < view.rank; ++dim) {
      key.add(view.shape[dim]);
      key.add(view.strides[dim]);
    }
  }
  auto found = kernel.encoded.find(key);
  if (found != kernel.encoded.end()) {
    result = found->second;
    return true;
  }
  PyObject *shape = integers(view.shape, view.rank);
  PyObject *strides = integers(view.strides, view.rank);
  PyObject *bytes = nullptr;
  if (shape && strides)
    bytes = PyObject_CallFunction(
        self->encode, "KnKOO", static_cast<unsigned long long>(code.context),
        static_cast<Py_ssize_t>(index),
        static_cast<unsigned long long>(address), shape, strides);
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  bool isEncoded =
      bytes && PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == mapBytes;
  if (isEncoded) {
    memcpy(result.bytes, PyBytes_AS_STRING(bytes), mapBytes);
    if (kernel.encoded.size() >= mostMaps)
      kernel.encoded.clear();
    kernel.encoded.emplace(key, result);
  }
  Py_XDECREF(bytes);
  PyErr_Clear();
  return isEncoded;
}

/// Sets the default stream, or the current one of torch for its tensors.
bool setCurrentStream(const View *torch, uint64_t &stream) {
  void *current = nullptr;
  if (torch &&
      (!torch->currentStream ||
       torch->currentStream(torch->deviceType, torch->deviceIndex, &current))) {
    PyErr_Clear();
    return false;
  }
  stream = reinterpret_cast<uint64_t>(current);
  return true;
}

} // namespace

long smalti::launch::launchValues(Launcher *self, Value *const *values,
                                  uint64_t stream) {
  Kernel &kernel = *self->kernel;
  size_t numArguments = kernel.arguments.size();
  int device = -1;
  const View *torch = nullptr;
  uint64_t cells[maxArguments * (1 + 2 * maxRank)];
  void *parameters[maxArguments * (1 + 2 * maxRank) + maxMaps];
  int count = 0;
  for (size_t i = 0; i < numArguments; ++i) {
    Argument &argument = kernel.arguments[i];
    if (!argument.isArray) {
      cells[count++] = static_cast<uint64_t>(values[i]->number);
      continue;
    }
    ArraySpec &spec = argument.array;
    const View &view = values[i]->view;
    if (!accepts(spec, view))
      return notLaunched;
    if (view.isTorch && view.device != Device::cpu && !torch)
      torch = &view;
    if (view.deviceIndex >= 0) {
      if (device >= 0 && device != view.deviceIndex)
        return notLaunched;
      device = view.deviceIndex;
    }
    cells[count++] = view.pointer;
    for (int64_t dim : spec.dynamicSizes)
      cells[count++] =
          view.shape[dim] * (dim == view.rank - 1 ? spec.packed : 1);
    for (int64_t dim : spec.dynamicStrides)
      cells[count++] = view.strides[dim] * spec.packed;
  }
  if (mayOverlap(kernel, values))
    return notLaunched;
  const Code *code = findCode(kernel);
  if (!code || (device >= 0 && device != code->device))
    return notLaunched;
  uint64_t function = code->function;
  unsigned grid[3];
  if (!setGrid(kernel, values, grid))
    return notLaunched;
  if (grid[0] == 0)
    return 0;
  if (stream == unstatedStream && !setCurrentStream(torch, stream))
    return notLaunched;
  for (int i = 0; i < count; ++i)
    parameters[i] = cells + i;
  // The driver reads the maps during the launch, and requires 64 bytes of
  // alignment to encode them only.
  alignas(64) MapData maps[maxMaps];
  Code chosen = *code;
  for (size_t i = 0; i < kernel.maps.size(); ++i) {
    if (!encodeMap(self, i, chosen, values, maps[i]))
      return notLaunched;
    parameters[count + i] = maps + i;
  }
  int status;
  PyThreadState *state = PyEval_SaveThread();
  if (kernel.hasCluster) {
    LaunchAttribute attribute = {clusterDimension, {}, {}};
    memcpy(attribute.value, kernel.cluster, sizeof kernel.cluster);
    LaunchConfig config = {{grid[0], grid[1], grid[2]},
                           {kernel.block[0], kernel.block[1], kernel.block[2]},
                           kernel.shared,
                           reinterpret_cast<void *>(stream),
                           &attribute,
                           1};
    status = reinterpret_cast<LaunchExFunction>(kernel.launch)(
        &config, function, parameters, nullptr);
  } else {
    status = reinterpret_cast<LaunchFunction>(kernel.launch)(
        function, grid[0], grid[1], grid[2], kernel.block[0], kernel.block[1],
        kernel.block[2], kernel.shared, stream, parameters, nullptr);
  }
  PyEval_RestoreThread(state);
  return status;
}

bool smalti::launch::readStream(Launcher *self, PyObject *stream,
                                uint64_t &handle) {
  handle = unstatedStream;
  if (stream == Py_None)
    return true;
  PyObject *number = PyLong_CheckExact(stream)
                         ? Py_NewRef(stream)
                         : PyObject_CallOneArg(self->streamPointer, stream);
  if (number)
    handle = PyLong_AsUnsignedLongLong(number);
  Py_XDECREF(number);
  bool isRead = !PyErr_Occurred();
  PyErr_Clear();
  return isRead;
}

PyObject *smalti::launch::resultOf(Launcher *self, long status) {
  if (status <= 0)
    return PyBool_FromLong(status == 0);
  PyObject *number = PyLong_FromLong(status);
  PyObject *result = number ? PyObject_CallOneArg(self->fail, number) : nullptr;
  Py_XDECREF(number);
  return result;
}

long smalti::launch::launchObjects(Launcher *self, PyObject *arguments,
                                   PyObject *stream) {
  PyObject *const *objects = &PyTuple_GET_ITEM(arguments, 0);
  Py_ssize_t given = PyTuple_GET_SIZE(arguments);
  const Kernel &kernel = *self->kernel;
  uint64_t handle;
  if (isForked(self) ||
      given != static_cast<Py_ssize_t>(kernel.arguments.size()) ||
      !readStream(self, stream, handle))
    return notLaunched;
  Value values[maxArguments];
  Value *pointers[maxArguments];
  int numRead = 0;
  bool isRead = true;
  for (; isRead && numRead < given; ++numRead) {
    const Argument &argument = kernel.arguments[numRead];
    Value &value = *(pointers[numRead] = values + numRead);
    value.view.owner = nullptr;
    isRead = argument.isArray
                 ? readView(objects[numRead], handle, value.view)
                 : readScalar(argument.scalar, objects[numRead], value);
  }
  long status = isRead ? launchValues(self, pointers, handle) : notLaunched;
  for (int i = 0; i < numRead; ++i)
    Py_XDECREF(values[i].view.owner);
  return status;
}

namespace {

PyObject *callLauncher(PyObject *object, PyObject *const *arguments,
                       size_t nargsf, PyObject *names) {
  auto *self = reinterpret_cast<Launcher *>(object);
  if (names || PyVectorcall_NARGS(nargsf) != 2 ||
      !PyTuple_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError,
                    "a launcher takes a tuple of arguments and a stream");
    return nullptr;
  }
  return resultOf(self, launchObjects(self, arguments[0], arguments[1]));
}

//===----------------------------------------------------------------------===//
// The type Launcher
//===----------------------------------------------------------------------===//

bool readArray(PyObject *item, ArraySpec &spec) {
  unsigned long long elements;
  int device, writes, isRowMajor;
  long long size, alignment, packed;
  PyObject *shape, *strides, *sizeDivisors, *strideDivisors, *maxBytes;
  PyObject *dynamicSizes, *dynamicStrides;
  if (!PyArg_ParseTuple(item, "KiOOLLppOOOOOL", &elements, &device, &shape,
                        &strides, &size, &alignment, &writes, &isRowMajor,
                        &sizeDivisors, &strideDivisors, &maxBytes,
                        &dynamicSizes, &dynamicStrides, &packed))
    return false;
  spec.elements = elements;
  spec.device = static_cast<Device>(device);
  spec.size = size;
  spec.alignment = alignment;
  spec.writes = writes;
  spec.isRowMajor = isRowMajor;
  spec.packed = packed;
  spec.accepted.rank = -1;
  spec.maxBytes = maxBytes == Py_None ? dynamic : PyLong_AsLongLong(maxBytes);
  spec.maxSize = spec.maxBytes / size;
  return readIntegers(shape, spec.shape) &&
         readIntegers(strides, spec.strides) &&
         readIntegers(sizeDivisors, spec.sizeDivisors) &&
         readIntegers(strideDivisors, spec.strideDivisors) &&
         readIntegers(dynamicSizes, spec.dynamicSizes) &&
         readIntegers(dynamicStrides, spec.dynamicStrides) &&
         spec.shape.size() == spec.strides.size() &&
         spec.shape.size() <= maxRank && spec.sizeDivisors.size() <= maxRank &&
         spec.strideDivisors.size() <= maxRank;
}

bool readScalarSpec(PyObject *item, ScalarSpec &spec) {
  const char *format;
  PyObject *low, *high, *convert, *bits;
  if (!PyArg_ParseTuple(item, "sOOOO", &format, &low, &high, &convert, &bits))
    return false;
  spec.format = format[0];
  spec.low = PyLong_AsLongLong(low);
  int overflow;
  spec.high = PyLong_AsLongLongAndOverflow(high, &overflow);
  spec.isUnbounded = overflow > 0;
  if (PyErr_Occurred())
    return false;
  Py_INCREF(convert);
  spec.convert = convert;
  spec.bits = bits == Py_None ? nullptr : bits;
  Py_XINCREF(spec.bits);
  return true;
}

bool readKernel(PyObject *arguments, PyObject *grid, PyObject *maps,
                Kernel &kernel) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i) {
    PyObject *item = PyTuple_GET_ITEM(arguments, i);
    if (!PyTuple_Check(item))
      return false;
    Argument argument;
    argument.isArray = PyTuple_GET_SIZE(item) != 5;
    kernel.arguments.push_back(argument);
    Argument &added = kernel.arguments.back();
    added.scalar = {};
    if (!(added.isArray ? readArray(item, added.array)
                        : readScalarSpec(item, added.scalar)))
      return false;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(grid); ++i) {
    PyObject *terms = PyTuple_GET_ITEM(grid, i);
    kernel.grid.emplace_back();
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(terms); ++j) {
      GridTerm term;
      long long number;
      if (!PyArg_ParseTuple(PyTuple_GET_ITEM(terms, j), "iiL", &term.argument,
                            &term.dimension, &number))
        return false;
      term.number = number;
      kernel.grid.back().push_back(term);
    }
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(maps); ++i) {
    TensorMap map;
    long long offset;
    int isDynamic;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(maps, i), "iLp", &map.argument,
                          &offset, &isDynamic))
      return false;
    map.offset = offset;
    map.isDynamic = isDynamic;
    kernel.maps.push_back(map);
  }
  return true;
}

PyObject *newLauncher(PyTypeObject *type, PyObject *given, PyObject *named) {
  static const char *keywords[] = {
      "arguments", "grid",    "most_tiles",     "fixed",   "maps",
      "block",     "cluster", "shared",         "current", "launch",
      "encode",    "fail",    "stream_pointer", nullptr};
  PyObject *arguments, *grid, *fixed, *maps, *block, *cluster, *encode;
  PyObject *fail, *streamPointer;
  long long mostTiles;
  unsigned shared;
  unsigned long long current, launch;
  if (!PyArg_ParseTupleAndKeywords(
          given, named, "O!O!LOO!OOIKKOOO", const_cast<char **>(keywords),
          &PyTuple_Type, &arguments, &PyTuple_Type, &grid, &mostTiles, &fixed,
          &PyTuple_Type, &maps, &block, &cluster, &shared, &current, &launch,
          &encode, &fail, &streamPointer))
    return nullptr;
  if (PyTuple_GET_SIZE(arguments) > maxArguments ||
      PyTuple_GET_SIZE(maps) > maxMaps) {
    PyErr_SetString(PyExc_ValueError, "too many arguments or tensor maps");
    return nullptr;
  }
  auto *self = reinterpret_cast<Launcher *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->vectorcall = callLauncher;
  self->forks = numForks;
  self->encode = Py_NewRef(encode);
  self->fail = Py_NewRef(fail);
  self->streamPointer = Py_NewRef(streamPointer);
  Kernel &kernel = *(self->kernel = new Kernel);
  kernel.mostTiles = mostTiles;
  kernel.shared = shared;
  kernel.current = reinterpret_cast<CurrentFunction>(current);
  kernel.launch = reinterpret_cast<void *>(launch);
  kernel.hasCluster = cluster != Py_None;
  if (!readKernel(arguments, grid, maps, kernel) ||
      !PyArg_ParseTuple(block, "III", kernel.block, kernel.block + 1,
                        kernel.block + 2) ||
      !PyArg_ParseTuple(fixed, "III", kernel.fixedGrid, kernel.fixedGrid + 1,
                        kernel.fixedGrid + 2) ||
      (kernel.hasCluster &&
       !PyArg_ParseTuple(cluster, "III", kernel.cluster, kernel.cluster + 1,
                         kernel.cluster + 2))) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "an invalid description of a kernel");
    Py_DECREF(self);
    return nullptr;
  }
  return reinterpret_cast<PyObject *>(self);
}

int traverseLauncher(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<Launcher *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->encode);
  Py_VISIT(self->fail);
  Py_VISIT(self->streamPointer);
  if (self->kernel)
    for (Argument &argument : self->kernel->arguments) {
      Py_VISIT(argument.scalar.convert);
      Py_VISIT(argument.scalar.bits);
    }
  return 0;
}

int clearLauncher(PyObject *object) {
  auto *self = reinterpret_cast<Launcher *>(object);
  Py_CLEAR(self->encode);
  Py_CLEAR(self->fail);
  Py_CLEAR(self->streamPointer);
  return 0;
}

void deallocateLauncher(PyObject *object) {
  auto *self = reinterpret_cast<Launcher *>(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clearLauncher(object);
  if (self->kernel)
    for (Argument &argument : self->kernel->arguments) {
      Py_XDECREF(argument.scalar.convert);
      Py_XDECREF(argument.scalar.bits);
    }
  delete self->kernel;
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject *addCode(PyObject *object, PyObject *arguments) {
  unsigned long long context, function;
  int device;
  if (!PyArg_ParseTuple(arguments, "KiK", &context, &device, &function))
    return nullptr;
  reinterpret_cast<Launcher *>(object)->kernel->codes.push_back(
      {context, device, function});
  Py_RETURN_NONE;
}

PyMethodDef launcherMethods[] = {
    {"add", addCode, METH_VARARGS,
     "add(context, device, function): the code in a context of the driver."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef launcherMembers[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                  offsetof(Launcher, vectorcall), READONLY,
                                  nullptr},
                                 {nullptr, 0, 0, 0, nullptr}};

PyType_Slot launcherSlots[] = {
    {Py_tp_doc, const_cast<char *>(
                    "Launches a kernel. A call takes a tuple of arguments and "
                    "a stream, and returns whether the kernel was launched. "
                    "Otherwise the launcher in Python must handle the call.")},
    {Py_tp_new, reinterpret_cast<void *>(newLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearLauncher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateLauncher)},
    {Py_tp_methods, launcherMethods},
    {Py_tp_members, launcherMembers},
    {0, nullptr}};

PyType_Spec launcherSpec = {
    "smalti.calling._launcher.Launcher", sizeof(Launcher), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_IMMUTABLETYPE,
    launcherSlots};

PyTypeObject *launcherType = nullptr;

} // namespace

PyObject *smalti::launch::createLauncherType() {
  PyObject *type = PyType_FromSpec(&launcherSpec);
  launcherType = reinterpret_cast<PyTypeObject *>(type);
  return type;
}

bool smalti::launch::isLauncher(PyObject *object) {
  return Py_IS_TYPE(object, launcherType);
}

void smalti::launch::watchForks() {
  pthread_atfork(nullptr, nullptr, [] { ++numForks; });
}

bool smalti::launch::isForked(const Launcher *self) {
  return self->forks != numForks;
}
