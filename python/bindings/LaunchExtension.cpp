//===- LaunchExtension.cpp - Launches of kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch of a kernel from Python objects to the function of the driver.
// smalti/calling/native.py describes the kernels. This file does not word
// errors: what it does not support or does not accept, it leaves to the
// launchers in Python. It uses Python's C API only, so that kernel files run
// without MLIR.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

using namespace smalti::launch;

PyObject *smalti::launch::streamName = nullptr;

namespace {

//===----------------------------------------------------------------------===//
// The type Callable
//===----------------------------------------------------------------------===//

/// The base class of kernels, whose call starts here.
struct Callable {
  PyObject_HEAD
      /// A `Launcher`, a `Dispatcher` or null.
      PyObject *native;
};

PyObject *callName;

PyObject *callCallable(PyObject *object, PyObject *arguments, PyObject *named) {
  PyObject *native = reinterpret_cast<Callable *>(object)->native;
  if (native) {
    PyObject *stream = nullptr;
    if (named)
      stream = PyDict_GetItemWithError(named, streamName);
    bool isNamed = named && PyDict_GET_SIZE(named) > (stream ? 1 : 0);
    if (!stream)
      stream = Py_None;
    PyObject *isLaunched = nullptr;
    // A call may replace the launcher.
    Py_INCREF(native);
    if (isDispatcher(native)) {
      isLaunched = dispatchObjects(native, arguments, named, stream);
    } else if (isNamed) {
      isLaunched = Py_NewRef(Py_False);
    } else {
      auto *launcher = reinterpret_cast<Launcher *>(native);
      isLaunched =
          resultOf(launcher, launchObjects(launcher, arguments, stream));
    }
    Py_DECREF(native);
    if (!isLaunched)
      return nullptr;
    Py_DECREF(isLaunched);
    if (isLaunched == Py_True)
      Py_RETURN_NONE;
  }
  PyObject *method = PyObject_GetAttr(object, callName);
  if (!method)
    return nullptr;
  PyObject *result = PyObject_Call(method, arguments, named);
  Py_DECREF(method);
  return result;
}

PyObject *getNative(PyObject *object, void *) {
  PyObject *native = reinterpret_cast<Callable *>(object)->native;
  return Py_NewRef(native ? native : Py_None);
}

int setNative(PyObject *object, PyObject *value, void *) {
  if (value && value != Py_None && !isLauncher(value) && !isDispatcher(value)) {
    PyErr_SetString(PyExc_TypeError, "a launcher or a dispatcher is required");
    return -1;
  }
  PyObject *native = !value || value == Py_None ? nullptr : Py_NewRef(value);
  Py_XSETREF(reinterpret_cast<Callable *>(object)->native, native);
  return 0;
}

int traverseCallable(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<Callable *>(object)->native);
  return 0;
}

int clearCallable(PyObject *object) {
  Py_CLEAR(reinterpret_cast<Callable *>(object)->native);
  return 0;
}

void deallocateCallable(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clearCallable(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyGetSetDef callableProperties[] = {
    {"native", getNative, setNative,
     "The native launcher or dispatcher of the kernel, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot callableSlots[] = {
    {Py_tp_doc,
     const_cast<char *>("The base class of kernels. A call launches the kernel "
                        "with `native`, or else calls the method `_call`.")},
    {Py_tp_call, reinterpret_cast<void *>(callCallable)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseCallable)},
    {Py_tp_clear, reinterpret_cast<void *>(clearCallable)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateCallable)},
    {Py_tp_getset, callableProperties},
    {0, nullptr}};

PyType_Spec callableSpec = {
    "smalti.calling._launcher.Callable", sizeof(Callable), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    callableSlots};

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

PyObject *configure(PyObject *, PyObject *arguments) {
  PyObject *view, *viewType, *classify, *names, *typestrs, *dlpack;
  if (!PyArg_ParseTuple(arguments, "OO!OO!O!O!", &view, &PyType_Type, &viewType,
                        &classify, &PyDict_Type, &names, &PyDict_Type,
                        &typestrs, &PyDict_Type, &dlpack))
    return nullptr;
  memset(tables.dlpack, -1, sizeof tables.dlpack);
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dlpack, &position, &key, &value)) {
    int code, bits;
    if (!PyArg_ParseTuple(key, "ii", &code, &bits))
      return nullptr;
    int column = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    if (code >= 0 && code < 32)
      tables.dlpack[code][column] = static_cast<int8_t>(PyLong_AsLong(value));
  }
  for (PyObject *held : {view, viewType, classify, names, typestrs})
    Py_INCREF(held);
  tables.view = view;
  tables.viewType = reinterpret_cast<PyTypeObject *>(viewType);
  tables.classify = classify;
  tables.names = names;
  tables.typestrs = typestrs;
  if (PyErr_Occurred())
    return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"configure", configure, METH_VARARGS,
     "configure(view, view_type, classify, names, typestrs, dlpack): sets the "
     "tables that reading arrays needs."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_launcher",
                          "Launches of kernels.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace

PyMODINIT_FUNC PyInit__launcher() {
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return nullptr;
  PyObject *launcher = createLauncherType();
  PyObject *dispatcher = createDispatcherType();
  PyObject *callable = PyType_FromSpec(&callableSpec);
  streamName = PyUnicode_InternFromString("stream");
  callName = PyUnicode_InternFromString("_call");
  if (!launcher || !dispatcher || !callable || !streamName || !callName ||
      PyModule_AddObject(module, "Callable", callable) ||
      PyModule_AddObject(module, "Launcher", launcher) ||
      PyModule_AddObject(module, "Dispatcher", dispatcher) ||
      PyModule_AddFunctions(module, interruptFunctions) ||
      PyModule_AddIntConstant(module, "MAX_RANK", maxRank) ||
      PyModule_AddIntConstant(module, "MAX_ARGUMENTS", maxArguments) ||
      PyModule_AddIntConstant(module, "MAX_MAPS", maxMaps) ||
      !initializeNames()) {
    Py_DECREF(module);
    return nullptr;
  }
  watchForks();
  return module;
}
