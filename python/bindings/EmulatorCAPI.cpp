//===- EmulatorCAPI.cpp - The emulator's rewriter through C ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/EmulatorCAPI.h"

#include "smalti/emulator/Rewrite/AssemblyText.h"
#include "smalti/emulator/Rewrite/HostModule.h"

#include "mlir/CAPI/Support.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace smalti::emulator;

namespace {

llvm::Error invalid(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "options of the emulator: " + what);
}

llvm::Expected<HostOptions> parseOptions(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "the emulator's options are not a JSON object; pass an object, such as "
        "{\"chip\": \"sm_90a\"}");
  HostOptions options;
  options.name = object->getString("name").value_or("-").str();
  options.chip = object->getString("chip").value_or("").str();
  options.processor = object->getString("processor").value_or("").str();
  llvm::StringRef sanitizer = object->getString("sanitizer").value_or("none");
  auto found = llvm::StringSwitch<std::optional<Sanitizer>>(sanitizer)
                   .Case("none", Sanitizer::None)
                   .Case("address", Sanitizer::Address)
                   .Case("thread", Sanitizer::Thread)
                   .Default(std::nullopt);
  if (!found)
    return invalid("unknown sanitizer '" + sanitizer +
                   "'; use 'none', 'address' or 'thread'");
  options.sanitizer = *found;
  if (const llvm::json::Array *libraries = object->getArray("libraries"))
    for (const llvm::json::Value &path : *libraries) {
      if (!path.getAsString())
        return invalid("option 'libraries' has an entry that is not a string; "
                       "each entry must be the path of a library");
      options.libraries.push_back(path.getAsString()->str());
    }
  int64_t level = object->getInteger("optimization").value_or(1);
  if (level < 0 || level > 3)
    return invalid("option 'optimization' is " + llvm::Twine(level) +
                   "; it must be an integer from 0 to 3");
  options.optimization = level;
  llvm::StringRef format = object->getString("format").value_or("object");
  if (format != "object" && format != "text")
    return invalid("unknown format '" + format + "'");
  options.asText = format == "text";
  return options;
}

llvm::Expected<HostObject> rewrite(llvm::StringRef deviceModule,
                                   llvm::StringRef text) {
  llvm::Expected<HostOptions> options = parseOptions(text);
  if (!options)
    return options.takeError();
  return makeHostObject(deviceModule, *options);
}

/// An error as the JSON text of `{"message", "location"}`.
std::string describe(llvm::Error error) {
  llvm::json::Object reported;
  llvm::handleAllErrors(
      std::move(error),
      [&](const Refusal &refusal) {
        reported["message"] = refusal.message;
        reported["location"] = nullptr;
        if (refusal.line > 0)
          reported["location"] =
              llvm::json::Array{refusal.file, refusal.line, refusal.column};
      },
      [&](const llvm::ErrorInfoBase &other) {
        reported["message"] = other.message();
        reported["location"] = nullptr;
      });
  return llvm::formatv("{0}", llvm::json::Value(std::move(reported)));
}

llvm::StringRef toString(assembly::Operand::Kind kind) {
  switch (kind) {
  case assembly::Operand::Argument:
    return "argument";
  case assembly::Operand::Register:
    return "register";
  case assembly::Operand::Special:
    return "special";
  case assembly::Operand::Number:
    return "number";
  case assembly::Operand::Sink:
    return "sink";
  case assembly::Operand::Address:
    return "address";
  case assembly::Operand::Vector:
    return "vector";
  case assembly::Operand::Pair:
    return "pair";
  case assembly::Operand::Label:
    return "label";
  }
  llvm_unreachable("all kinds are named");
}

llvm::json::Value toJSON(const assembly::Operand &operand) {
  llvm::json::Array parts;
  for (const assembly::Operand &part : operand.parts)
    parts.push_back(toJSON(part));
  return llvm::json::Object{{"kind", toString(operand.kind)},
                            {"value", operand.value},
                            {"name", operand.name},
                            {"negated", operand.isNegated},
                            {"parts", std::move(parts)}};
}

llvm::json::Value toJSON(const assembly::Program &program) {
  llvm::json::Array statements;
  for (const assembly::Statement &statement : program.statements) {
    llvm::json::Array operands;
    for (const assembly::Operand &operand : statement.operands)
      operands.push_back(toJSON(operand));
    llvm::json::Value guard = nullptr;
    if (statement.guard)
      guard = toJSON(*statement.guard);
    statements.push_back(llvm::json::Object{{"text", statement.text},
                                            {"opcode", statement.opcode},
                                            {"operands", std::move(operands)},
                                            {"guard", std::move(guard)}});
  }
  return statements;
}

} // namespace

bool smaltiParseAssembly(MlirStringRef text, MlirStringCallback onStatements,
                         void *statements, MlirStringCallback onError,
                         void *problem) {
  llvm::Expected<assembly::Program> program = assembly::parse(unwrap(text));
  if (!program) {
    std::string message = llvm::toString(program.takeError());
    onError(wrap(llvm::StringRef(message)), problem);
    return false;
  }
  std::string found = llvm::formatv("{0}", toJSON(*program));
  onStatements(wrap(llvm::StringRef(found)), statements);
  return true;
}

bool smaltiRewriteForHost(MlirStringRef deviceModule, MlirStringRef options,
                          MlirStringCallback onCode, void *code,
                          MlirStringCallback onDescription, void *description,
                          MlirStringCallback onError, void *problem) {
  llvm::Expected<HostObject> made =
      rewrite(unwrap(deviceModule), unwrap(options));
  if (!made) {
    std::string message = describe(made.takeError());
    onError(wrap(llvm::StringRef(message)), problem);
    return false;
  }
  onCode(wrap(llvm::StringRef(made->code)), code);
  onDescription(wrap(llvm::StringRef(made->description)), description);
  return true;
}
