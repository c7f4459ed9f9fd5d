//===- SmaltiExtension.cpp - Python module smalti._mlir_libs._smalti ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/AssemblerCAPI.h"
#include "smalti/python/bindings/EmulatorCAPI.h"
#include "smalti/python/bindings/Layouts.h"
#include "smalti/python/bindings/SmaltiCAPI.h"
#include "smalti/python/bindings/ThreadAccesses.h"
#include "smalti/python/bindings/TransferPlans.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/IR.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

std::string toString(MlirStringRef ref) {
  return std::string(ref.data, ref.length);
}

void appendTo(MlirStringRef part, void *userData) {
  static_cast<std::string *>(userData)->append(part.data, part.length);
}

template <typename Fn> std::string collect(Fn fn) {
  std::string text;
  fn(appendTo, &text);
  return text;
}

template <typename Fn> void forEachNested(MlirOperation op, Fn fn) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block);
           !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        fn(inner);
}

/// One remark as Python sees it.
struct Remark {
  std::string kind, category, name, function, message, location, file;
  unsigned line, column;
  std::vector<std::pair<std::string, std::string>> args;
};

/// Collects the remarks of a context while it lives or until it is detached.
class RemarkCollector {
public:
  /// Keeps the Python object, so that the context outlives the collector.
  RemarkCollector(nb::object contextObject, const std::string &filter)
      : contextObject(std::move(contextObject)),
        context(nb::cast<MlirContext>(this->contextObject)) {
    std::string problem;
    remarks = smaltiRemarksAttach(
        context, mlirStringRefCreate(filter.data(), filter.size()), appendTo,
        &problem);
    if (!remarks.ptr)
      throw nb::value_error(problem.c_str());
  }
  RemarkCollector(const RemarkCollector &) = delete;
  RemarkCollector &operator=(const RemarkCollector &) = delete;
  ~RemarkCollector() {
    detach();
    smaltiRemarksDestroy(remarks);
  }

  void detach() {
    if (contextObject.is_none())
      return;
    smaltiRemarksDetach(remarks, context);
    contextObject = nb::none();
  }

  std::vector<Remark> get() const {
    std::vector<Remark> result;
    intptr_t size = smaltiRemarksSize(remarks);
    result.reserve(size);
    for (intptr_t i = 0; i < size; ++i) {
      SmaltiRemark remark = smaltiRemarksGet(remarks, i);
      Remark copy{toString(remark.kind),
                  toString(remark.category),
                  toString(remark.name),
                  toString(remark.function),
                  toString(remark.message),
                  toString(remark.location),
                  toString(remark.file),
                  remark.line,
                  remark.column,
                  {}};
      for (intptr_t argument = 0; argument < remark.numArguments; ++argument) {
        MlirStringRef key, value;
        smaltiRemarksGetArgument(remarks, i, argument, &key, &value);
        copy.args.emplace_back(toString(key), toString(value));
      }
      result.push_back(std::move(copy));
    }
    return result;
  }

private:
  nb::object contextObject;
  MlirContext context;
  SmaltiRemarks remarks;
};

} // namespace

NB_MODULE(_smalti, m) {
  m.doc() = "Smalti's dialects, passes, chip table, layouts and remarks.";

  smaltiRegisterPasses();

  m.def(
      "register_dialects",
      [](MlirDialectRegistry registry) { smaltiRegisterDialects(registry); },
      nb::arg("registry"),
      "Adds every upstream dialect, extension and translation, and Smalti's "
      "dialects, to a registry.");
  m.def(
      "is_pass_registered",
      [](const std::string &argument) {
        return smaltiIsPassRegistered(
            mlirStringRefCreate(argument.data(), argument.size()));
      },
      nb::arg("argument"),
      "Whether a pass or a pipeline of this name is registered.");
  m.def(
      "check_nesting",
      [](const nb::bytes &text) -> std::optional<std::string> {
        std::string problem;
        smaltiCheckNesting(mlirStringRefCreate(text.c_str(), text.size()),
                           appendTo, &problem);
        if (problem.empty())
          return std::nullopt;
        return problem;
      },
      nb::arg("text"),
      "The error message for text that is nested too deeply for MLIR's "
      "parser.");
  m.def(
      "targets_json", [] { return collect(smaltiTargetsToJSON); },
      "The chip table as the text of a JSON array, one object a chip.");
  m.def(
      "op_table_json", [] { return collect(smaltiOpTableToJSON); },
      "The table of legal ops of tile-level kernels as the text of a JSON "
      "object.");
  m.def(
      "refusals",
      [](MlirOperation entry, const std::string &target) {
        std::vector<std::pair<MlirOperation, std::string>> found;
        auto append = [](MlirOperation op, MlirStringRef message,
                         void *userData) {
          static_cast<decltype(found) *>(userData)->emplace_back(
              op, toString(message));
        };
        if (!smaltiForEachRefusal(
                entry, mlirStringRefCreate(target.data(), target.size()),
                append, &found))
          throw nb::value_error("the op is not a triton_xla.entry_func, or "
                                "the target is unknown; pass an entry function "
                                "and the name of a target");
        return found;
      },
      nb::arg("entry"), nb::arg("target"),
      "The ops of a `triton_xla.entry_func` that a target refuses, each with "
      "the reason. `sim:CHIP` is the simulator. With an empty name: those that "
      "every target refuses.");
  m.def(
      "argument_type",
      [](MlirType type) -> std::optional<MlirType> {
        MlirType found = smaltiGetArgumentType(type);
        return mlirTypeIsNull(found) ? std::nullopt : std::optional(found);
      },
      nb::arg("type"),
      "The type of a memref argument of a kernel as launches see it: with the "
      "offset 0, and with strides of arrays without elements. None if the "
      "layout of the memref does not have strides.");
  m.def(
      "llvm_version", [] { return collect(smaltiLLVMVersion); },
      "The version of the LLVM that is loaded.");

  m.def(
      "prepare_library",
      [](const nb::bytes &input,
         const std::optional<std::vector<std::string>> &called) {
        std::vector<MlirStringRef> names;
        if (called)
          for (const std::string &name : *called)
            names.push_back(mlirStringRefCreate(name.data(), name.size()));
        intptr_t numCalled = called ? static_cast<intptr_t>(names.size()) : -1;
        std::string code, description, problem;
        if (!smaltiPrepareLibrary(
                mlirStringRefCreate(input.c_str(), input.size()), numCalled,
                names.data(), appendTo, &code, appendTo, &description, appendTo,
                &problem))
          throw nb::value_error(problem.c_str());
        return std::make_pair(nb::bytes(code.data(), code.size()), description);
      },
      nb::arg("library"), nb::arg("called").none() = nb::none(),
      "A library, LLVM IR as text or bitcode, as bitcode for any chip of its "
      "vendor, and a JSON object `{\"triple\", \"functions\", \"missing\"}`. "
      "With `called`, only these functions are visible to other modules, and "
      "definitions that they do not use are removed. `functions` has the types "
      "of the visible functions, by name, and `missing` the names that the "
      "library uses and does not define.");
  m.def(
      "assemble_gcn",
      [](const nb::bytes &assembly, const std::string &triple,
         const std::string &chip, const std::string &features) {
        auto ref = [](const std::string &text) {
          return mlirStringRefCreate(text.data(), text.size());
        };
        std::string object, problem;
        if (!smaltiAssembleGcn(
                mlirStringRefCreate(assembly.c_str(), assembly.size()),
                ref(triple), ref(chip), ref(features), appendTo, &object,
                appendTo, &problem))
          throw nb::value_error(problem.c_str());
        return nb::bytes(object.data(), object.size());
      },
      nb::arg("assembly"), nb::arg("triple"), nb::arg("chip"),
      nb::arg("features"),
      "The relocatable object file of the assembly of an AMD kernel. A "
      "`ValueError` has the messages of the assembler, with locations in "
      "`kernel.s`.");
  m.def(
      "find_ops",
      [](MlirOperation root, const std::string &name) {
        std::pair<std::string, std::vector<MlirOperation>> found(name, {});
        mlirOperationWalk(
            root,
            [](MlirOperation op, void *userData) {
              auto &[name, ops] = *static_cast<decltype(found) *>(userData);
              if (toString(mlirIdentifierStr(mlirOperationGetName(op))) == name)
                ops.push_back(op);
              return MlirWalkResultAdvance;
            },
            &found, MlirWalkPreOrder);
        return found.second;
      },
      nb::arg("root"), nb::arg("name"),
      "The ops with this name in an op, in the order of the text.");
  m.def(
      "nested_ops",
      [](MlirOperation op) {
        std::vector<MlirOperation> found;
        forEachNested(op, [&](MlirOperation inner) { found.push_back(inner); });
        return found;
      },
      nb::arg("op"),
      "The ops in the blocks of an op. Unlike an iteration over a block, the "
      "call does not import the Python modules of their dialects.");
  m.def(
      "gpu_objects",
      [](MlirOperation module) {
        std::vector<std::pair<std::string, nb::bytes>> found;
        forEachNested(module, [&](MlirOperation op) {
          if (toString(mlirIdentifierStr(mlirOperationGetName(op))) !=
              "gpu.binary")
            return;
          MlirAttribute name = mlirOperationGetAttributeByName(
              op, mlirStringRefCreateFromCString("sym_name"));
          MlirAttribute objects = mlirOperationGetAttributeByName(
              op, mlirStringRefCreateFromCString("objects"));
          for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); ++i) {
            MlirStringRef object =
                mlirGPUObjectAttrGetObject(mlirArrayAttrGetElement(objects, i));
            found.emplace_back(toString(mlirStringAttrGetValue(name)),
                               nb::bytes(object.data, object.length));
          }
        });
        return found;
      },
      nb::arg("module"),
      "The objects of the `gpu.binary` ops in a module, with the names of the "
      "ops.");

  m.def(
      "rewrite_for_host",
      [](const nb::bytes &module, const std::string &options) {
        std::string code, description, problem;
        if (!smaltiRewriteForHost(
                mlirStringRefCreate(module.c_str(), module.size()),
                mlirStringRefCreate(options.data(), options.size()), appendTo,
                &code, appendTo, &description, appendTo, &problem))
          throw nb::value_error(problem.c_str());
        return std::make_pair(nb::bytes(code.data(), code.size()), description);
      },
      nb::arg("module"), nb::arg("options"),
      "A device module, LLVM IR as bitcode or text, as an object file of this "
      "host, and a JSON object that describes it. `options` is a JSON object. "
      "A "
      "`ValueError` carries `{\"message\", \"location\"}` as JSON.");

  m.def(
      "parse_assembly",
      [](const std::string &text) {
        std::string statements, problem;
        if (!smaltiParseAssembly(mlirStringRefCreate(text.data(), text.size()),
                                 appendTo, &statements, appendTo, &problem))
          throw nb::value_error(problem.c_str());
        return statements;
      },
      nb::arg("text"),
      "The statements of inline assembly of NVIDIA as a JSON array.");

  m.def(
      "shared_memory",
      [](MlirOperation function) {
        nb::list buffers;
        int64_t bytes, placedBytes;
        smaltiForEachSharedBuffer(
            function,
            [](MlirValue buffer, MlirStringRef name, int64_t offset,
               int64_t bytes, void *list) {
              static_cast<nb::list *>(list)->append(
                  nb::make_tuple(buffer, toString(name), offset, bytes));
            },
            &buffers, &bytes, &placedBytes);
        return nb::make_tuple(buffers, bytes, placedBytes);
      },
      nb::arg("function"),
      "The buffers in shared memory of a function as tuples (value, name, "
      "offset, bytes), the total bytes, and the bytes that the compiler "
      "places. The offset of a buffer of unknown size is -1.");

  m.def(
      "attribute_keyword",
      [](MlirAttribute attribute) -> std::optional<std::string> {
        std::string keyword = toString(smaltiAttributeGetKeyword(attribute));
        if (keyword.empty())
          return std::nullopt;
        return keyword;
      },
      nb::arg("attribute"),
      "The keyword of an attribute that is an enumerator, as `bfly` of "
      "`#nvvm<shfl_kind bfly>`; None of other attributes.");
  m.def(
      "dense_bytes",
      [](MlirAttribute attribute) {
        std::string bytes;
        if (!smaltiDenseElementsGetBytes(attribute, appendTo, &bytes)) {
          std::string text;
          mlirAttributePrint(attribute, appendTo, &text);
          text += " is not a dense attribute of integers or floats, such as "
                  "dense<0> : "
                  "tensor<4xi32>";
          throw nb::value_error(text.c_str());
        }
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("attribute"),
      "The elements of a dense attribute as they are stored, one if all are "
      "equal. One of less than a byte takes a byte.");

  smalti::python::bindLayouts(m);
  smalti::python::bindTransferPlans(m);
  smalti::python::bindThreadAccesses(m);

  nb::class_<Remark>(m, "Remark",
                     "A pass's remark on what it did or did not do.")
      .def_ro("kind", &Remark::kind,
              "`passed`, `missed`, `failed` or `analysis`.")
      .def_ro("category", &Remark::category, "The pass.")
      .def_ro("name", &Remark::name, "The subject of the remark.")
      .def_ro("function", &Remark::function,
              "The function's name, or an empty string.")
      .def_ro("message", &Remark::message, "The text, with its numbers.")
      .def_ro("location", &Remark::location, "The location as MLIR prints it.")
      .def_ro("file", &Remark::file,
              "The file, or an empty string where the location names none.")
      .def_ro("line", &Remark::line,
              "The line, from 1; 0 where the location names no file.")
      .def_ro("column", &Remark::column,
              "The column, from 1; 0 where the location names no file.")
      .def_ro("args", &Remark::args,
              "The parts of the remark as (key, value) pairs.");

  nb::class_<RemarkCollector>(
      m, "RemarkCollector",
      "Collects the remarks that passes emit on a context, in the order of "
      "emission. A context "
      "has one collector at a time; a new one replaces it.")
      .def(nb::init<nb::object, const std::string &>(), nb::arg("context"),
           nb::arg("filter") = ".*",
           nb::sig("def __init__(self, context: smalti.ir.Context, filter: str "
                   "= '.*') -> None"),
           "Starts to collect the remarks whose pass matches the regular "
           "expression `filter`.")
      .def("detach", &RemarkCollector::detach,
           "Stops collecting; what was collected stays readable.")
      .def_prop_ro("remarks", &RemarkCollector::get, "The remarks so far.")
      .def(
          "__enter__", [](nb::object self) { return self; },
          nb::sig("def __enter__(self) -> RemarkCollector"))
      .def("__exit__",
           [](RemarkCollector &self, const nb::args &) { self.detach(); });
}
