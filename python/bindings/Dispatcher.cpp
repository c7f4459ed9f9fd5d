//===- Dispatcher.cpp - The choice of a kernel for a call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is compiled for facts of its arguments has one launcher for
// each combination. The code in Python (`SpecializedKernel`, `PythonKernel`)
// chooses or compiles the kernel of a call, and adds its launcher here for the
// key of the call. The key is at least as fine as the facts, so that calls of
// one key have one kernel.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <structmember.h>

using namespace smalti::launch;

namespace {

/// Entries of a dispatcher. More entries remove all.
constexpr size_t mostEntries = 1024;

/// A parameter of a kernel.
struct Parameter {
  /// The name for calls with keywords, or null.
  PyObject *name;
  /// The value if a call does not pass one, or null.
  PyObject *initial;
  /// Whether the value is a constant of the kernel: any Python object.
  bool isConstant;
  /// The numbers whose multiples are facts, for each dimension. Other
  /// dimensions have `commonDivisor`.
  std::vector<int64_t> sizes, strides;
  /// The last array of a call, and its facts. The rank is -1 before.
  View last;
  uint64_t facts;
};

/// A value outside of a Python kernel, on which its translation depends.
struct Captured {
  /// A dictionary with a key, the cell of a closure, or a function.
  PyObject *owner, *key;
  /// A list must be empty. Null if the dictionary must not have the key. For a
  /// function, a tuple of its code, its defaults and its keyword defaults.
  PyObject *value;

  bool isCurrent() const {
    if (PyFunction_Check(owner))
      return isFunctionCurrent();
    PyObject *now = PyCell_Check(owner) ? PyCell_GET(owner)
                                        : PyDict_GetItemWithError(owner, key);
    return now == value &&
           !(value && PyList_Check(value) && PyList_GET_SIZE(value));
  }

private:
  bool isFunctionCurrent() const {
    PyObject *now[] = {PyFunction_GET_CODE(owner),
                       PyFunction_GET_DEFAULTS(owner),
                       PyFunction_GET_KW_DEFAULTS(owner)};
    for (int i = 0; i < 3; ++i)
      if ((now[i] ? now[i] : Py_None) != PyTuple_GET_ITEM(value, i))
        return false;
    return true;
  }
};

bool areCurrent(const std::vector<Captured> &captured) {
  for (const Captured &one : captured)
    if (!one.isCurrent())
      return false;
  return true;
}

template <class F>
int visitCaptured(const std::vector<Captured> &captured, F visit) {
  for (const Captured &one : captured)
    for (PyObject *object : {one.owner, one.key, one.value})
      if (int result = object ? visit(object) : 0)
        return result;
  return 0;
}

/// The facts of each parameter, and the number of sizes of the grid.
using CallKey = Key<maxArguments>;

/// The launcher for a key.
struct Entry {
  std::vector<PyObject *> constants;
  std::vector<Captured> captured;
  /// Returns whether other captured values are current, or null.
  PyObject *check = nullptr;
  /// The parameters that are arguments of the launcher.
  std::vector<int> sources;
  PyObject *launcher = nullptr;

  template <class F> int forEachObject(F visit) {
    for (PyObject *constant : constants)
      if (int result = visit(constant))
        return result;
    if (int result = visitCaptured(captured, visit))
      return result;
    if (int result = check ? visit(check) : 0)
      return result;
    return launcher ? visit(launcher) : 0;
  }

  ~Entry() {
    forEachObject([](PyObject *object) {
      Py_DECREF(object);
      return 0;
    });
  }
};
using EntryPointer = std::shared_ptr<Entry>;

/// A step of the program of a grid: `GridStep` of smalti/calling/native.py.
struct GridStep {
  enum Operation {
    constant,
    number,
    size,
    negate,
    add,
    subtract,
    multiply,
    divide
  } operation;
  int64_t value, dimension;
};
constexpr const char *gridOperations[] = {"constant", "number", "size",
                                          "negate",   "add",    "subtract",
                                          "multiply", "divide"};

/// The values that a function of the grid computes.
struct GridProgram {
  /// The code of the function, or null without a program.
  PyObject *code = nullptr;
  std::vector<Captured> captured;
  std::vector<std::vector<GridStep>> sizes;
};
constexpr int mostGridSteps = 64;

struct State {
  std::vector<Parameter> parameters;
  GridProgram program;
  int numPositional = 0;
  int64_t commonDivisor = 1;
  std::unordered_map<CallKey, std::vector<EntryPointer>, CallKey::Hash> entries;
  size_t numEntries = 0;
  /// The key and the entries of the last call, or null.
  std::pair<const CallKey, std::vector<EntryPointer>> *last = nullptr;

  /// Removes all entries. Destructors may run any code, after the table is
  /// empty.
  void clear() {
    auto old = std::move(entries);
    entries.clear();
    numEntries = 0;
    last = nullptr;
  }
};

struct Dispatcher {
  PyObject_HEAD vectorcallfunc vectorcall;
  State *state;
  /// The number of tiles: a tuple of integers or a function of parameters. Null
  /// if the arguments of the kernel do not have the numbers.
  PyObject *grid;
  /// The names of the parameters of the function, and their positions.
  PyObject *gridNames;
  std::vector<int> *gridSources;
};

/// A call: the values of the parameters and of the grid, and the key.
struct Call {
  PyObject *objects[maxArguments];
  Value values[maxArguments];
  int numRead = 0;
  int64_t tiles[3];
  int numTiles = 0;
  CallKey key;

  ~Call() {
    for (int i = 0; i < numRead; ++i)
      Py_XDECREF(values[i].view.owner);
  }
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Sets the objects of the parameters, as Python binds arguments.
bool bind(const State &state, PyObject *given, PyObject *named, Call &call) {
  int count = static_cast<int>(state.parameters.size());
  int numGiven = static_cast<int>(PyTuple_GET_SIZE(given));
  if (numGiven > state.numPositional)
    return false;
  for (int i = 0; i < count; ++i)
    call.objects[i] = i < numGiven ? PyTuple_GET_ITEM(given, i) : nullptr;
  if (named && named != Py_None) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(named, &position, &name, &value)) {
      if (name == streamName)
        continue;
      int at = 0;
      while (at < count && state.parameters[at].name != name)
        ++at;
      // A name that is not interned is left to Python too.
      if (at == count || call.objects[at])
        return false;
      call.objects[at] = value;
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!call.objects[i])
      call.objects[i] = state.parameters[i].initial;
    if (!call.objects[i])
      return false;
  }
  return true;
}

/// The kind of the argument for a parameter, in the last bits of a word of the
/// key.
enum Passed : uint64_t {
  constantPassed,
  arrayPassed,
  integerPassed,
  floatPassed,
  boolPassed
};
constexpr int passedBits = 3;

/// The facts of a number, which have `factBits` bits.
uint64_t factOf(int64_t number, int64_t divisor) {
  if (number == 0 || number == 1)
    return static_cast<uint64_t>(number);
  return 2 + 2 * (number < 0) + isMultiple(number, divisor);
}
constexpr int factBits = 3;

/// The facts of an array. They have 2 bits, 4 bits for the rank, and 5 bits for
/// the element type, in addition to those of sizes, strides and `Passed`.
uint64_t factsOf(const State &state, const Parameter &parameter,
                 const View &view) {
  static_assert(passedBits + 2 + 4 + 5 + 2 * maxRank * factBits <= 64);
  auto divisor = [&](const std::vector<int64_t> &divisors, int dim) {
    return dim < static_cast<int>(divisors.size()) ? divisors[dim]
                                                   : state.commonDivisor;
  };
  uint64_t facts = view.element;
  int64_t dense = 1, most = INT32_MAX / view.size;
  bool isDense = true, isSmall = view.last - view.first <= INT32_MAX;
  for (int dim = view.rank; dim-- > 0;) {
    int64_t size = view.shape[dim];
    isDense &= view.strides[dim] == dense;
    // `measure` limits the number of elements, unless strides are 0.
    if (size > 1 && __builtin_mul_overflow(dense, size, &dense))
      isDense = false;
    isSmall &= size <= most;
    facts = facts << factBits | factOf(size, divisor(parameter.sizes, dim));
    facts = facts << factBits |
            factOf(view.strides[dim], divisor(parameter.strides, dim));
  }
  facts = facts << 4 | static_cast<uint64_t>(view.rank);
  facts = facts << 2 | static_cast<uint64_t>(isDense + 2 * isSmall);
  return facts << passedBits | arrayPassed;
}

/// Reads the arguments of a call, and its key.
bool readArguments(State &state, uint64_t stream, Call &call) {
  int count = static_cast<int>(state.parameters.size());
  for (int i = 0; i < count; ++i) {
    Value &value = call.values[i];
    value.view.owner = nullptr;
    value.view.rank = -1;
    call.numRead = i + 1;
    Parameter &parameter = state.parameters[i];
    PyObject *object = call.objects[i];
    if (parameter.isConstant) {
      call.key.add(constantPassed);
    } else if (PyLong_CheckExact(object)) {
      int overflow;
      long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow)
        return false;
      call.key.add(factOf(number, state.commonDivisor) << passedBits |
                   integerPassed);
    } else if (PyFloat_CheckExact(object)) {
      call.key.add(floatPassed);
    } else if (PyBool_Check(object)) {
      call.key.add(boolPassed);
    } else {
      if (!readView(object, stream, value.view) || value.view.element < 0)
        return false;
      if (!parameter.last.isLike(value.view)) {
        parameter.facts = factsOf(state, parameter, value.view);
        parameter.last = value.view;
      }
      call.key.add(parameter.facts);
    }
  }
  return true;
}

bool divideDown(int64_t number, int64_t divisor, int64_t &result) {
  if (divisor == 0 || (divisor == -1 && number == INT64_MIN))
    return false;
  result =
      number / divisor - (number % divisor && (number < 0) != (divisor < 0));
  return true;
}

/// Evaluates a size of the grid. Returns false if Python has to.
bool evaluateSize(const std::vector<GridStep> &steps,
                  const std::vector<int> &sources, const Call &call,
                  int64_t &result) {
  int64_t stack[mostGridSteps + 1];
  int64_t *top = stack;
  *top = 0;
  for (const GridStep &step : steps) {
    bool isValid = true;
    int64_t last = *top;
    switch (step.operation) {
    case GridStep::constant:
      *++top = step.value;
      break;
    case GridStep::number: {
      PyObject *object = call.objects[sources[step.value]];
      int overflow = 0;
      isValid = PyLong_CheckExact(object);
      if (isValid)
        *++top = PyLong_AsLongLongAndOverflow(object, &overflow);
      isValid &= !overflow;
      break;
    }
    case GridStep::size: {
      // The attribute `shape` of other arrays may differ from the view.
      const View &view = call.values[sources[step.value]].view;
      int64_t dim = step.dimension + (step.dimension < 0 ? view.rank : 0);
      isValid = view.rank > 0 && view.isTorch && !view.owner && dim >= 0 &&
                dim < view.rank;
      if (isValid)
        *++top = view.shape[dim];
      break;
    }
    case GridStep::negate:
      isValid = !__builtin_sub_overflow(0, last, top);
      break;
    case GridStep::add:
      --top;
      isValid = !__builtin_add_overflow(*top, last, top);
      break;
    case GridStep::subtract:
      --top;
      isValid = !__builtin_sub_overflow(*top, last, top);
      break;
    case GridStep::multiply:
      --top;
      isValid = !__builtin_mul_overflow(*top, last, top);
      break;
    case GridStep::divide:
      --top;
      isValid = divideDown(*top, last, *top);
      break;
    }
    if (!isValid)
      return false;
  }
  result = *top;
  return true;
}

/// Evaluates the program of the grid. Returns false if Python has to.
bool evaluateGrid(Dispatcher *self, Call &call) {
  const GridProgram &program = self->state->program;
  if (!program.code || PyFunction_GET_CODE(self->grid) != program.code ||
      !areCurrent(program.captured))
    return false;
  for (size_t i = 0; i < program.sizes.size(); ++i)
    if (!evaluateSize(program.sizes[i], *self->gridSources, call,
                      call.tiles[i]))
      return false;
  call.numTiles = static_cast<int>(program.sizes.size());
  call.key.add(call.numTiles);
  return true;
}

/// Reads the number of tiles of a call.
bool readGrid(Dispatcher *self, Call &call) {
  if (evaluateGrid(self, call))
    return true;
  PyObject *sizes = nullptr;
  if (PyTuple_Check(self->grid)) {
    sizes = Py_NewRef(self->grid);
  } else {
    PyObject *arguments[maxArguments];
    size_t count = 0;
    for (int source : *self->gridSources)
      arguments[count++] = call.objects[source];
    sizes = PyObject_Vectorcall(self->grid, arguments, 0, self->gridNames);
    if (!sizes) {
      PyErr_Clear();
      return false;
    }
  }
  PyObject *const *items = &sizes;
  Py_ssize_t count = 1;
  if (PyTuple_Check(sizes) || PyList_Check(sizes)) {
    items = PySequence_Fast_ITEMS(sizes);
    count = PySequence_Fast_GET_SIZE(sizes);
  }
  bool isRead = count <= 3;
  for (Py_ssize_t i = 0; isRead && i < count; ++i) {
    int overflow = 0;
    isRead = PyLong_CheckExact(items[i]);
    if (isRead)
      call.tiles[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
    isRead &= !overflow;
  }
  Py_DECREF(sizes);
  call.numTiles = static_cast<int>(count);
  call.key.add(count);
  return isRead;
}

bool readCall(Dispatcher *self, PyObject *given, PyObject *named,
              uint64_t stream, Call &call) {
  State &state = *self->state;
  return bind(state, given, named, call) &&
         readArguments(state, stream, call) &&
         (!self->grid || readGrid(self, call));
}

/// Whether two constants are the same object, or equal objects of a type whose
/// comparison does not run other code. Numbers are compared by their bits,
/// since 0.0 == -0.0, and NaN != NaN.
bool isSame(PyObject *one, PyObject *other) {
  if (one == other)
    return true;
  PyTypeObject *type = Py_TYPE(one);
  if (type != Py_TYPE(other))
    return false;
  if (type == &PyFloat_Type) {
    double a = PyFloat_AS_DOUBLE(one), b = PyFloat_AS_DOUBLE(other);
    return memcmp(&a, &b, sizeof a) == 0;
  }
  if (type != &PyLong_Type && type != &PyUnicode_Type)
    return false;
  return PyObject_RichCompareBool(one, other, Py_EQ) == 1;
}

bool matches(const State &state, const Entry &entry, const Call &call) {
  size_t constant = 0;
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (state.parameters[i].isConstant &&
        !isSame(entry.constants[constant++], call.objects[i]))
      return false;
  return true;
}

/// The entry of a call, if its captured values are current.
EntryPointer find(Dispatcher *self, const Call &call) {
  State &state = *self->state;
  if (!state.last || !(state.last->first == call.key)) {
    auto found = state.entries.find(call.key);
    if (found == state.entries.end())
      return nullptr;
    state.last = &*found;
  }
  for (const EntryPointer &entry : state.last->second) {
    if (!matches(state, *entry, call))
      continue;
    if (!areCurrent(entry->captured))
      return nullptr;
    if (!entry->check)
      return entry;
    // The check may run any Python code, which may remove the entry.
    EntryPointer kept = entry;
    PyObject *isCurrent = PyObject_CallNoArgs(kept->check);
    bool isKept = isCurrent == Py_True;
    Py_XDECREF(isCurrent);
    return isKept ? kept : nullptr;
  }
  return nullptr;
}

/// Launches the kernel of a call.
long dispatch(Launcher *launcher, const Entry &entry, Call &call,
              uint64_t stream) {
  const Kernel &kernel = *launcher->kernel;
  size_t numSources = entry.sources.size();
  if (isForked(launcher) ||
      kernel.arguments.size() != numSources + call.numTiles)
    return notLaunched;
  Value tiles[3];
  Value *values[maxArguments];
  for (size_t i = 0; i < numSources; ++i) {
    int source = entry.sources[i];
    const Argument &argument = kernel.arguments[i];
    Value &value = *(values[i] = call.values + source);
    bool isRead = argument.isArray ? value.view.rank >= 0
                                   : readScalar(argument.scalar,
                                                call.objects[source], value);
    if (!isRead)
      return notLaunched;
  }
  for (int dim = 0; dim < call.numTiles; ++dim) {
    size_t i = numSources + dim;
    values[i] = tiles + dim;
    if (kernel.arguments[i].isArray ||
        !setInteger(kernel.arguments[i].scalar, call.tiles[dim], tiles[dim]))
      return notLaunched;
  }
  return launchValues(launcher, values, stream);
}

} // namespace

PyObject *smalti::launch::dispatchObjects(PyObject *dispatcher,
                                          PyObject *arguments, PyObject *named,
                                          PyObject *stream) {
  auto *self = reinterpret_cast<Dispatcher *>(dispatcher);
  if (self->state->entries.empty())
    Py_RETURN_FALSE;
  // Other streams than integers are left to Python, since no launcher is known
  // yet.
  uint64_t handle = unstatedStream;
  if (stream != Py_None) {
    if (!PyLong_CheckExact(stream))
      Py_RETURN_FALSE;
    handle = PyLong_AsUnsignedLongLong(stream);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      Py_RETURN_FALSE;
    }
  }
  Call call;
  EntryPointer entry;
  if (readCall(self, arguments, named, handle, call))
    entry = find(self, call);
  PyErr_Clear();
  if (!entry)
    Py_RETURN_FALSE;
  auto *launcher = reinterpret_cast<Launcher *>(entry->launcher);
  return resultOf(launcher, dispatch(launcher, *entry, call, handle));
}

namespace {

PyObject *callDispatcher(PyObject *object, PyObject *const *arguments,
                         size_t nargsf, PyObject *names) {
  if (names || PyVectorcall_NARGS(nargsf) != 3 ||
      !PyTuple_Check(arguments[0]) ||
      (arguments[1] != Py_None && !PyDict_Check(arguments[1]))) {
    PyErr_SetString(
        PyExc_TypeError,
        "a dispatcher takes a tuple, a dictionary or None, and a stream");
    return nullptr;
  }
  return dispatchObjects(object, arguments[0], arguments[1], arguments[2]);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Adds objects of a sequence of tuples: an owner, a key and a value, or a
/// dictionary and a key that it must not have.
bool readCaptured(PyObject *sequence, std::vector<Captured> &captured) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sequence); ++i) {
    Captured one = {};
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sequence, i), "OO|O", &one.owner,
                          &one.key, &one.value))
      return false;
    bool isValid =
        PyFunction_Check(one.owner)
            ? one.value && PyTuple_Check(one.value) &&
                  PyTuple_GET_SIZE(one.value) == 3
            : PyDict_Check(one.owner) || (PyCell_Check(one.owner) && one.value);
    if (!isValid) {
      PyErr_SetString(PyExc_TypeError,
                      "a captured value must be that of a dictionary or a "
                      "cell, or the 3 parts of a function");
      return false;
    }
    for (PyObject *held : {one.owner, one.key, one.value})
      Py_XINCREF(held);
    captured.push_back(one);
  }
  return true;
}

PyObject *addEntry(PyObject *object, PyObject *arguments) {
  auto *self = reinterpret_cast<Dispatcher *>(object);
  State &state = *self->state;
  PyObject *given, *named, *launcher, *sources, *captured, *check;
  if (!PyArg_ParseTuple(arguments, "O!OOO!O!O", &PyTuple_Type, &given, &named,
                        &launcher, &PyTuple_Type, &sources, &PyTuple_Type,
                        &captured, &check))
    return nullptr;
  if (!isLauncher(launcher) || (named != Py_None && !PyDict_Check(named))) {
    PyErr_SetString(PyExc_TypeError, "a launcher is required");
    return nullptr;
  }
  Call call;
  bool isRead = readCall(self, given, named, 0, call);
  PyErr_Clear();
  if (!isRead)
    Py_RETURN_FALSE;
  auto entry = std::make_shared<Entry>();
  std::vector<int64_t> positions;
  if (!readCaptured(captured, entry->captured) ||
      !readIntegers(sources, positions))
    return nullptr;
  for (int64_t position : positions) {
    if (position < 0 ||
        position >= static_cast<int64_t>(state.parameters.size()) ||
        state.parameters[position].isConstant) {
      PyErr_SetString(PyExc_ValueError, "a source is not a parameter");
      return nullptr;
    }
    entry->sources.push_back(static_cast<int>(position));
  }
  entry->launcher = Py_NewRef(launcher);
  entry->check = check == Py_None ? nullptr : Py_NewRef(check);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (state.parameters[i].isConstant)
      entry->constants.push_back(Py_NewRef(call.objects[i]));
  if (state.numEntries >= mostEntries)
    state.clear();
  std::vector<EntryPointer> &known = state.entries[call.key];
  EntryPointer *place = nullptr;
  for (EntryPointer &other : known)
    if (matches(state, *other, call))
      place = &other;
  if (place) {
    // The captured values have changed.
    std::swap(*place, entry);
  } else {
    known.push_back(std::move(entry));
    ++state.numEntries;
  }
  Py_RETURN_TRUE;
}

//===----------------------------------------------------------------------===//
// The type Dispatcher
//===----------------------------------------------------------------------===//

/// Reads the steps of a size of the grid.
bool readSteps(PyObject *sequence, std::vector<GridStep> &steps,
               size_t numSources) {
  if (!PyTuple_Check(sequence) || PyTuple_GET_SIZE(sequence) > mostGridSteps)
    return false;
  int depth = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sequence); ++i) {
    const char *name;
    long long value, dimension;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sequence, i), "sLL", &name, &value,
                          &dimension))
      return false;
    int operation = 0;
    while (operation <= GridStep::divide &&
           strcmp(gridOperations[operation], name))
      ++operation;
    bool isArgument =
        operation == GridStep::number || operation == GridStep::size;
    depth += operation <= GridStep::size     ? 1
             : operation == GridStep::negate ? 0
                                             : -1;
    if (operation > GridStep::divide || depth < 1 ||
        (isArgument && (value < 0 || static_cast<size_t>(value) >= numSources)))
      return false;
    steps.push_back(
        {static_cast<GridStep::Operation>(operation), value, dimension});
  }
  return depth == 1;
}

/// Reads a `GridProgram` of smalti/calling/native.py.
bool readProgram(PyObject *object, const Dispatcher *self,
                 GridProgram &program) {
  PyObject *code, *captured, *sizes;
  if (!PyArg_ParseTuple(object, "O!O!O!", &PyCode_Type, &code, &PyTuple_Type,
                        &captured, &PyTuple_Type, &sizes) ||
      !readCaptured(captured, program.captured))
    return false;
  bool isRead = self->grid && PyFunction_Check(self->grid) &&
                PyTuple_GET_SIZE(sizes) <= 3;
  for (Py_ssize_t i = 0; isRead && i < PyTuple_GET_SIZE(sizes); ++i)
    isRead = readSteps(PyTuple_GET_ITEM(sizes, i), program.sizes.emplace_back(),
                       self->gridSources->size());
  if (isRead)
    program.code = Py_NewRef(code);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ValueError, "an invalid program of a grid");
  return isRead;
}

PyObject *newDispatcher(PyTypeObject *type, PyObject *given, PyObject *named) {
  static const char *keywords[] = {
      "parameters", "num_positional", "common_divisor", "grid",
      "grid_names", "grid_sources",   "grid_program",   nullptr};
  PyObject *parameters, *grid, *gridNames, *gridSources, *program;
  int numPositional;
  long long commonDivisor;
  if (!PyArg_ParseTupleAndKeywords(
          given, named, "O!iLOO!O!O", const_cast<char **>(keywords),
          &PyTuple_Type, &parameters, &numPositional, &commonDivisor, &grid,
          &PyTuple_Type, &gridNames, &PyTuple_Type, &gridSources, &program))
    return nullptr;
  if (PyTuple_GET_SIZE(parameters) > maxArguments - 3 || commonDivisor < 1) {
    PyErr_SetString(PyExc_ValueError, "too many parameters");
    return nullptr;
  }
  auto *self = reinterpret_cast<Dispatcher *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->vectorcall = callDispatcher;
  State &state = *(self->state = new State);
  self->gridSources = new std::vector<int>;
  self->grid = grid == Py_None ? nullptr : Py_NewRef(grid);
  self->gridNames = Py_NewRef(gridNames);
  state.numPositional = numPositional;
  state.commonDivisor = commonDivisor;
  std::vector<int64_t> positions;
  bool isRead = readIntegers(gridSources, positions);
  for (int64_t position : positions)
    self->gridSources->push_back(static_cast<int>(position));
  if (isRead && program != Py_None)
    isRead = readProgram(program, self, state.program);
  for (Py_ssize_t i = 0; isRead && i < PyTuple_GET_SIZE(parameters); ++i) {
    PyObject *name, *initial, *sizes, *strides;
    int isConstant;
    isRead = PyArg_ParseTuple(PyTuple_GET_ITEM(parameters, i), "OOpOO", &name,
                              &initial, &isConstant, &sizes, &strides);
    if (!isRead)
      break;
    // A tuple with the value, since None is a value.
    state.parameters.push_back(
        {name == Py_None ? nullptr : Py_NewRef(name),
         PyTuple_Check(initial) && PyTuple_GET_SIZE(initial) == 1
             ? Py_NewRef(PyTuple_GET_ITEM(initial, 0))
             : nullptr,
         isConstant != 0,
         {},
         {},
         {},
         0});
    state.parameters.back().last.rank = -1;
    isRead = readIntegers(sizes, state.parameters.back().sizes) &&
             readIntegers(strides, state.parameters.back().strides);
  }
  if (!isRead) {
    Py_DECREF(self);
    return nullptr;
  }
  return reinterpret_cast<PyObject *>(self);
}

int traverseDispatcher(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<Dispatcher *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->grid);
  Py_VISIT(self->gridNames);
  if (!self->state)
    return 0;
  auto visitHeld = [&](PyObject *held) { return visit(held, arg); };
  if (int result = visitCaptured(self->state->program.captured, visitHeld))
    return result;
  for (const Parameter &parameter : self->state->parameters) {
    Py_VISIT(parameter.name);
    Py_VISIT(parameter.initial);
  }
  for (const auto &item : self->state->entries)
    for (const EntryPointer &entry : item.second)
      if (int result = entry->forEachObject(visitHeld))
        return result;
  return 0;
}

int clearDispatcher(PyObject *object) {
  auto *self = reinterpret_cast<Dispatcher *>(object);
  Py_CLEAR(self->grid);
  Py_CLEAR(self->gridNames);
  if (self->state) {
    self->state->clear();
    std::vector<Captured> captured;
    captured.swap(self->state->program.captured);
    Py_CLEAR(self->state->program.code);
    visitCaptured(captured, [](PyObject *held) {
      Py_DECREF(held);
      return 0;
    });
  }
  return 0;
}

void deallocateDispatcher(PyObject *object) {
  auto *self = reinterpret_cast<Dispatcher *>(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clearDispatcher(object);
  if (self->state)
    for (const Parameter &parameter : self->state->parameters) {
      Py_XDECREF(parameter.name);
      Py_XDECREF(parameter.initial);
    }
  delete self->state;
  delete self->gridSources;
  type->tp_free(object);
  Py_DECREF(type);
}

PyMethodDef dispatcherMethods[] = {
    {"add", addEntry, METH_VARARGS,
     "add(arguments, named, launcher, sources, captured, check): the launcher "
     "of calls with the key of this call."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef dispatcherMembers[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                    offsetof(Dispatcher, vectorcall), READONLY,
                                    nullptr},
                                   {nullptr, 0, 0, 0, nullptr}};

PyType_Slot dispatcherSlots[] = {
    {Py_tp_doc, const_cast<char *>(
                    "Launches the kernel of a call, if it is known. A call "
                    "takes a tuple of arguments, a dictionary of named ones or "
                    "None, and a stream, and returns whether the kernel was "
                    "launched. Otherwise Python must handle the call.")},
    {Py_tp_new, reinterpret_cast<void *>(newDispatcher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseDispatcher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearDispatcher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocateDispatcher)},
    {Py_tp_methods, dispatcherMethods},
    {Py_tp_members, dispatcherMembers},
    {0, nullptr}};

PyType_Spec dispatcherSpec = {
    "smalti.calling._launcher.Dispatcher", sizeof(Dispatcher), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_IMMUTABLETYPE,
    dispatcherSlots};

PyTypeObject *dispatcherType = nullptr;

} // namespace

PyObject *smalti::launch::createDispatcherType() {
  PyObject *type = PyType_FromSpec(&dispatcherSpec);
  dispatcherType = reinterpret_cast<PyTypeObject *>(type);
  return type;
}

bool smalti::launch::isDispatcher(PyObject *object) {
  return Py_IS_TYPE(object, dispatcherType);
}
