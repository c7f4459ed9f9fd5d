//===- HostModule.cpp - Device code as an object file of the host ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/HostModule.h"

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace smalti::emulator {

char Refusal::ID = 0;

void Refusal::log(raw_ostream &stream) const {
  if (line > 0)
    stream << file << ":" << line << ":" << column << ": ";
  stream << message;
}

Error refuse(const Twine &what) { return make_error<Refusal>(what.str()); }

Error refuse(const Instruction &at, const Twine &what) {
  StringRef function = at.getFunction()->getName();
  function.consume_front(devicePrefix);
  auto refusal =
      std::make_unique<Refusal>((what + " (in @" + function + ")").str());
  if (const DebugLoc &location = at.getDebugLoc()) {
    refusal->file = fileOf(location);
    refusal->line = location.getLine();
    refusal->column = location.getCol();
  }
  return Error(std::move(refusal));
}

std::string printed(const Type &type) {
  std::string text;
  raw_string_ostream stream(text);
  type.print(stream, /*IsForDebug=*/false, /*NoDetails=*/true);
  return text;
}

static Error checkVerifies(const Module &module, StringRef which) {
  std::string problems;
  raw_string_ostream stream(problems);
  if (verifyModule(module, &stream))
    return refuse(which + " is not valid: " + StringRef(problems).rtrim());
  return Error::success();
}

static json::Array describeInstructions(ArrayRef<UsedInstruction> used) {
  json::Array list;
  for (const UsedInstruction &instruction : used)
    list.push_back(
        json::Object{{"name", instruction.name},
                     {"location", describeLocation(instruction.location)}});
  return list;
}

Expected<HostObject> makeHostObject(StringRef input,
                                    const HostOptions &options) {
  LLVMContext context;
  Expected<std::unique_ptr<Module>> parsed =
      parseDeviceModule(input, options.name, context);
  if (!parsed)
    return parsed.takeError();
  Module &device = **parsed;
  Expected<Vendor> vendor = vendorOf(device);
  if (!vendor)
    return vendor.takeError();
  if (Error error = checkVerifies(device, "the module"))
    return error;

  if (Error error = completeDeviceModule(device, *vendor, options))
    return error;
  if (Error error = checkLimits(device))
    return error;
  json::Array kernels = describeKernels(device);
  if (*vendor == Vendor::AMD) {
    if (Error error = lowerBufferPointers(device, options))
      return error;
    addBackendWaits(device);
  } else {
    if (Error error = expandAssembly(device))
      return error;
    clampShifts(device);
  }
  lowerFloats(device, *vendor);
  inlineInstructions(device);
  followAccumulators(device);
  limitAlignment(device, *vendor, options.chip);
  if (*vendor == Vendor::NVIDIA && options.sanitizer == Sanitizer::Thread)
    reportGenericWrites(device);
  Expected<std::unique_ptr<TargetMachine>> made = makeHostMachine(options);
  if (!made)
    return made.takeError();
  TargetMachine &machine = **made;
  if (Error error = fixLayouts(device, *vendor, machine.createDataLayout()))
    return error;
  if (Error error = checkVerifies(device, "the prepared device module"))
    return error;

  Expected<SharedMemory> shared = placeSharedMemory(device);
  if (!shared)
    return shared.takeError();
  bool hasWritableGlobals = any_of(device.globals(), [](GlobalVariable &g) {
    return !g.isConstant() && g.getAddressSpace() != sharedSpace;
  });
  Expected<std::unique_ptr<Module>> copied =
      copyToHost(device, *shared, machine);
  if (!copied)
    return copied.takeError();
  Module &host = **copied;
  yieldInLoops(host);
  Expected<std::vector<UsedInstruction>> used = callEmulator(host);
  if (!used)
    return used.takeError();
  if (Error error = addEntries(host, device))
    return error;
  addConstants(host, shared->staticBytes, hasWritableGlobals);
  if (Error error = checkVerifies(host, "the host module"))
    return error;

  HostObject object;
  if (Error error = optimizeAndEmit(host, machine, options, object.code))
    return error;
  json::Object description{
      {"vendor", *vendor == Vendor::NVIDIA ? "nvidia" : "amd"},
      {"kernels", std::move(kernels)},
      {"shared_bytes", int64_t(shared->staticBytes)},
      {"dynamic_shared", shared->isDynamic},
      {"writable_globals", hasWritableGlobals},
      {"instructions", describeInstructions(*used)}};
  object.description = formatv("{0}", json::Value(std::move(description)));
  return object;
}

} // namespace smalti::emulator
