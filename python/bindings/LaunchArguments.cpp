//===- LaunchArguments.cpp - Arguments of a launch, without Python code ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaunchArguments.h"

#include <cstddef>

using namespace smalti::launch;

namespace smalti::launch {
Tables tables;
} // namespace smalti::launch

namespace {

//===----------------------------------------------------------------------===//
// DLPack (dlpack.h 1.3)
//===----------------------------------------------------------------------===//

struct DLTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

struct DLPackExchangeAPI {
  uint32_t major, minor;
  DLPackExchangeAPI *previous;
  void *allocate, *fromObject, *toObject;
  /// Describes a tensor that remains the property of its object.
  int (*describe)(void *object, DLTensor *result);
  CurrentStream currentStream;
};

Device deviceOf(int32_t type) {
  switch (type) {
  case 1:
  case 3:
  case 11:
    return Device::cpu;
  case 2:
  case 13:
    return Device::cuda;
  case 10:
    return Device::hip;
  }
  return Device::other;
}

void setElement(const DLTensor &tensor, View &view) {
  view.element = -1;
  if (tensor.lanes != 1 || tensor.code >= 32)
    return;
  for (int log = 0; log < 4; ++log)
    if (tensor.bits == 8 << log) {
      view.element = tables.dlpack[tensor.code][log];
      view.size = 1 << log;
    }
}

//===----------------------------------------------------------------------===//
// Kinds of objects
//===----------------------------------------------------------------------===//

/// How objects of a type are read.
struct Kind {
  PyTypeObject *type;
  bool isTorch;
  /// A tensor of torch with a DLPack exchange API, or null.
  int (*describe)(void *, DLTensor *);
  PyCFunction isNegative;
  CurrentStream currentStream;
};

/// The types of the last arrays. Each entry holds a reference, so that no
/// other type has its address.
constexpr int numKinds = 32;
Kind kinds[numKinds];
int numKnown = 0;

bool classify(PyTypeObject *type, Kind &kind) {
  kind = {type, false, nullptr, nullptr, nullptr};
  PyObject *found =
      PyObject_CallOneArg(tables.classify, reinterpret_cast<PyObject *>(type));
  if (!found) {
    PyErr_Clear();
    return false;
  }
  kind.isTorch = found != Py_None;
  if (PyTuple_Check(found) && PyTuple_GET_SIZE(found) == 2) {
    PyObject *capsule = PyTuple_GET_ITEM(found, 0);
    PyObject *method = PyTuple_GET_ITEM(found, 1);
    const char *name = "dlpack_exchange_api";
    if (PyCapsule_IsValid(capsule, name) &&
        Py_IS_TYPE(method, &PyMethodDescr_Type)) {
      auto *api =
          static_cast<DLPackExchangeAPI *>(PyCapsule_GetPointer(capsule, name));
      PyMethodDef *definition =
          reinterpret_cast<PyMethodDescrObject *>(method)->d_method;
      if (api->major == 1 && definition->ml_flags == METH_NOARGS) {
        kind.describe = api->describe;
        kind.isNegative = definition->ml_meth;
        kind.currentStream = api->currentStream;
      }
    }
  }
  Py_DECREF(found);
  return true;
}

bool kindOf(PyTypeObject *type, Kind &kind) {
  for (int i = 0; i < numKnown; ++i)
    if (kinds[i].type == type) {
      kind = kinds[i];
      return true;
    }
  if (!classify(type, kind))
    return false;
  if (numKnown < numKinds) {
    Py_INCREF(type);
    kinds[numKnown++] = kind;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

bool setRowMajor(View &view) {
  int64_t step = 1;
  for (int dim = view.rank; dim-- > 0;) {
    view.strides[dim] = step;
    int64_t size = view.shape[dim] > 1 ? view.shape[dim] : 1;
    if (__builtin_mul_overflow(step, size, &step))
      return false;
  }
  return true;
}

bool readTensor(PyObject *value, const Kind &kind, View &view) {
  // A lazily negated tensor. Conjugated ones have complex elements, which no
  // kernel accepts.
  PyObject *isNegative = kind.isNegative(value, nullptr);
  if (isNegative != Py_False) {
    PyErr_Clear();
    Py_XDECREF(isNegative);
    return false;
  }
  Py_DECREF(isNegative);
  DLTensor tensor;
  if (kind.describe(value, &tensor)) {
    PyErr_Clear();
    return false;
  }
  if (tensor.rank > maxRank)
    return false;
  view.pointer = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  view.rank = tensor.rank;
  for (int dim = 0; dim < tensor.rank; ++dim) {
    view.shape[dim] = tensor.shape[dim];
    if (tensor.strides)
      view.strides[dim] = tensor.strides[dim];
  }
  if (!tensor.strides && !setRowMajor(view))
    return false;
  setElement(tensor, view);
  view.device = deviceOf(tensor.deviceType);
  view.deviceIndex = view.device == Device::cpu ? -1 : tensor.deviceId;
  view.isReadOnly = false;
  view.currentStream = kind.currentStream;
  view.deviceType = tensor.deviceType;
  return true;
}

/// The integers of a tuple, or false.
bool readTuple(PyObject *tuple, int64_t *result, int &rank) {
  if (!tuple || !PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > maxRank)
    return false;
  rank = static_cast<int>(PyTuple_GET_SIZE(tuple));
  for (int dim = 0; dim < rank; ++dim) {
    PyObject *item = PyTuple_GET_ITEM(tuple, dim);
    if (!PyLong_CheckExact(item))
      return false;
    int overflow;
    result[dim] = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow)
      return false;
  }
  return true;
}

/// Names of attributes and entries, as Python strings.
PyObject *interfaceName, *typestrName, *shapeName, *stridesName, *dataName;
PyObject *pointerName, *dtypeName, *deviceName, *indexName, *readonlyName;

bool readInterface(PyObject *interface, View &view) {
  if (!PyDict_CheckExact(interface))
    return false;
  PyObject *typestr = PyDict_GetItemWithError(interface, typestrName);
  if (!typestr || !PyUnicode_CheckExact(typestr))
    return false;
  PyObject *element = PyDict_GetItemWithError(tables.typestrs, typestr);
  if (!element)
    return false;
  long packed = PyLong_AsLong(element);
  int64_t size = view.size = packed & 255;
  view.element = static_cast<int>(packed >> 8);
  if (!readTuple(PyDict_GetItemWithError(interface, shapeName), view.shape,
                 view.rank))
    return false;
  for (int dim = 0; dim < view.rank; ++dim)
    if (view.shape[dim] < 0)
      return false;
  PyObject *strides = PyDict_GetItemWithError(interface, stridesName);
  if (!strides || strides == Py_None) {
    if (!setRowMajor(view))
      return false;
  } else {
    int rank;
    if (!readTuple(strides, view.strides, rank) || rank != view.rank)
      return false;
    for (int dim = 0; dim < rank; ++dim) {
      if (view.strides[dim] % size)
        return false;
      view.strides[dim] /= size;
    }
  }
  PyObject *data = PyDict_GetItemWithError(interface, dataName);
  if (!data || !PyTuple_CheckExact(data) || PyTuple_GET_SIZE(data) != 2)
    return false;
  PyObject *pointer = PyTuple_GET_ITEM(data, 0);
  PyObject *readonly = PyTuple_GET_ITEM(data, 1);
  if (!PyLong_CheckExact(pointer) || !PyBool_Check(readonly))
    return false;
  int overflow;
  long long address = PyLong_AsLongLongAndOverflow(pointer, &overflow);
  if (overflow || address < 0)
    return false;
  view.pointer = static_cast<uint64_t>(address);
  view.isReadOnly = readonly == Py_True;
  view.device = Device::cuda;
  view.deviceIndex = -1;
  return true;
}

/// Reads an attribute that the caller owns.
PyObject *attribute(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  if (!value)
    PyErr_Clear();
  return value;
}

/// Reads the fields of an `ArrayView`, except for the owner.
bool readFields(PyObject *object, View &view) {
  PyObject *pointer = attribute(object, pointerName);
  PyObject *shape = attribute(object, shapeName);
  PyObject *strides = attribute(object, stridesName);
  PyObject *dtype = attribute(object, dtypeName);
  PyObject *device = attribute(object, deviceName);
  PyObject *index = attribute(object, indexName);
  PyObject *readonly = attribute(object, readonlyName);
  bool isRead = false;
  int rank;
  if (pointer && PyLong_Check(pointer) && dtype && PyUnicode_Check(dtype) &&
      device && PyUnicode_Check(device) && index &&
      (index == Py_None || PyLong_Check(index)) && readonly &&
      readTuple(shape, view.shape, view.rank) &&
      readTuple(strides, view.strides, rank) && rank == view.rank) {
    view.pointer = PyLong_AsUnsignedLongLong(pointer);
    PyObject *element = PyDict_GetItemWithError(tables.names, dtype);
    long number = element ? PyLong_AsLong(element) : -1;
    view.element = static_cast<int>(number >> 8);
    view.size = number & 255;
    view.device =
        !PyUnicode_CompareWithASCIIString(device, "cpu")    ? Device::cpu
        : !PyUnicode_CompareWithASCIIString(device, "cuda") ? Device::cuda
        : !PyUnicode_CompareWithASCIIString(device, "hip")  ? Device::hip
                                                            : Device::other;
    view.deviceIndex =
        index == Py_None ? -1 : static_cast<int>(PyLong_AsLong(index));
    view.isReadOnly = PyObject_IsTrue(readonly) != 0;
    isRead = !PyErr_Occurred();
    PyErr_Clear();
  }
  for (PyObject *field :
       {pointer, shape, strides, dtype, device, index, readonly})
    Py_XDECREF(field);
  return isRead;
}

} // namespace

bool smalti::launch::initializeNames() {
  struct {
    PyObject **name;
    const char *text;
  } const names[] = {{&interfaceName, "__cuda_array_interface__"},
                     {&typestrName, "typestr"},
                     {&shapeName, "shape"},
                     {&stridesName, "strides"},
                     {&dataName, "data"},
                     {&pointerName, "pointer"},
                     {&dtypeName, "dtype"},
                     {&deviceName, "device"},
                     {&indexName, "device_index"},
                     {&readonlyName, "readonly"}};
  for (const auto &entry : names)
    if (!(*entry.name = PyUnicode_InternFromString(entry.text)))
      return false;
  return true;
}

bool smalti::launch::readIntegers(PyObject *sequence,
                                  std::vector<int64_t> &result) {
  PyObject *items = PySequence_Fast(sequence, "a sequence is required");
  if (!items)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    result.push_back(item == Py_None ? dynamic : PyLong_AsLongLong(item));
  }
  Py_DECREF(items);
  return !PyErr_Occurred();
}

/// Sets `first`, `last` and `hasZero` of a view.
static bool measure(View &view) {
  view.hasZero = false;
  int64_t low = 0, high = 0;
  for (int dim = 0; dim < view.rank; ++dim) {
    view.hasZero |= view.shape[dim] == 0;
    int64_t reach;
    if (__builtin_mul_overflow(view.shape[dim] - 1, view.strides[dim], &reach))
      return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach,
                               reach < 0 ? &low : &high))
      return false;
  }
  view.first = view.last = view.pointer;
  if (view.hasZero || view.element < 0)
    return true;
  int64_t start = static_cast<int64_t>(view.pointer), first, last;
  if (start < 0 || __builtin_mul_overflow(low, view.size, &low) ||
      __builtin_add_overflow(high, 1, &high) ||
      __builtin_mul_overflow(high, view.size, &high) ||
      __builtin_add_overflow(start, low, &first) ||
      __builtin_add_overflow(start, high, &last) || first < 0)
    return false;
  view.first = static_cast<uint64_t>(first);
  view.last = static_cast<uint64_t>(last);
  return true;
}

bool smalti::launch::readView(PyObject *value, uint64_t stream, View &view) {
  view.owner = nullptr;
  view.isTorch = false;
  view.currentStream = nullptr;
  PyTypeObject *type = Py_TYPE(value);
  if (type == tables.viewType)
    return readFields(value, view) && measure(view);
  Kind kind;
  if (!kindOf(type, kind))
    return false;
  view.isTorch = kind.isTorch;
  bool isRead = false;
  if (kind.describe) {
    if (!readTensor(value, kind, view))
      return false;
    isRead = true;
  } else if (!kind.isTorch) {
    if (PyObject *interface = attribute(value, interfaceName)) {
      isRead = readInterface(interface, view);
      PyErr_Clear();
      Py_DECREF(interface);
    }
  }
  if (!isRead) {
    view.owner = PyObject_CallFunction(
        tables.view, "OK", value,
        static_cast<unsigned long long>(stream == unstatedStream ? 0 : stream));
    if (!view.owner) {
      PyErr_Clear();
      return false;
    }
    return Py_TYPE(view.owner) == tables.viewType &&
           readFields(view.owner, view) && measure(view);
  }
  // The stride of a dimension of size 1 is not used.
  for (int dim = 0; dim < view.rank; ++dim)
    if (view.strides[dim] < 0 && view.shape[dim] <= 1)
      view.strides[dim] = 0;
  return measure(view) && (view.pointer || view.hasZero);
}

/// Whether each stride is beyond the elements of all dimensions of smaller
/// strides, so that no two elements share an address.
static bool isNested(const View &view) {
  int order[maxRank], count = 0;
  for (int dim = 0; dim < view.rank; ++dim) {
    if (view.shape[dim] <= 1)
      continue;
    int at = count++;
    for (; at && llabs(view.strides[order[at - 1]]) > llabs(view.strides[dim]);
         --at)
      order[at] = order[at - 1];
    order[at] = dim;
  }
  int64_t last = 0;
  for (int i = 0; i < count; ++i) {
    int64_t step = llabs(view.strides[order[i]]);
    if (step <= last)
      return false;
    last += (view.shape[order[i]] - 1) * step;
  }
  return true;
}

static bool isRowMajor(const View &view) {
  int64_t expected = 1;
  for (int dim = view.rank; dim-- > 0;) {
    if (view.shape[dim] > 1 && view.strides[dim] != expected)
      return false;
    expected *= view.shape[dim];
  }
  return true;
}

static bool areMultiples(const int64_t *numbers,
                         const std::vector<int64_t> &divisors) {
  for (size_t dim = 0; dim < divisors.size(); ++dim)
    if (!isMultiple(numbers[dim], divisors[dim]))
      return false;
  return true;
}

/// Whether a kernel accepts an array, except for its address.
static bool acceptsLike(const ArraySpec &spec, const View &view) {
  if (view.device != spec.device &&
      !(view.device == Device::cuda && spec.device == Device::hip))
    return false;
  if (view.rank != static_cast<int>(spec.shape.size()) || view.element < 0 ||
      !(spec.elements >> view.element & 1) || view.size != spec.size ||
      (spec.writes && view.isReadOnly))
    return false;
  for (int dim = 0; dim < view.rank; ++dim) {
    if (spec.shape[dim] != dynamic && spec.shape[dim] != view.shape[dim])
      return false;
    if (spec.strides[dim] != dynamic &&
        spec.strides[dim] != view.strides[dim] && view.shape[dim] != 1 &&
        !view.hasZero)
      return false;
  }
  if (spec.writes && !view.hasZero && !isNested(view))
    return false;
  if (spec.isRowMajor && !view.hasZero && !isRowMajor(view))
    return false;
  if (!areMultiples(view.shape, spec.sizeDivisors) ||
      !areMultiples(view.strides, spec.strideDivisors))
    return false;
  if (spec.maxBytes != dynamic) {
    if (view.last - view.first > static_cast<uint64_t>(spec.maxBytes))
      return false;
    for (int dim = 0; dim < view.rank; ++dim)
      if (view.shape[dim] > spec.maxSize)
        return false;
    for (int64_t dim : spec.dynamicStrides)
      if (view.strides[dim] < 0)
        return false;
  }
  return true;
}

bool smalti::launch::accepts(ArraySpec &spec, const View &view) {
  if (!spec.accepted.isLike(view)) {
    if (!acceptsLike(spec, view))
      return false;
    spec.accepted = view;
  }
  auto address = static_cast<int64_t>(view.pointer);
  return isMultiple(address, spec.size) && isMultiple(address, spec.alignment);
}
