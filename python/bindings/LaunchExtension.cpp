//===- LaunchExtension.cpp - Launches of GPU kernels ----------------------===//
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

namespace {

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
                          "Launches of GPU kernels.",
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
  if (!launcher || !dispatcher ||
      PyModule_AddObject(module, "Launcher", launcher) ||
      PyModule_AddObject(module, "Dispatcher", dispatcher) ||
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
