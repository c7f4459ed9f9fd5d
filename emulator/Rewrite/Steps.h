//===- Steps.h - The steps from a device module to a host module ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_REWRITE_STEPS_H
#define SMALTI_EMULATOR_REWRITE_STEPS_H

#include "smalti/emulator/Rewrite/HostModule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/JSON.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <optional>

namespace smalti::emulator {

enum class Vendor { NVIDIA, AMD };

/// The numbers that LLVM's NVPTX and AMDGPU targets give address spaces.
enum AddressSpace : unsigned {
  genericSpace = 0,
  globalSpace = 1,
  /// AMD's global data share.
  regionSpace = 2,
  sharedSpace = 3,
  constantSpace = 4,
  privateSpace = 5,
  /// AMD's buffer pointers with an offset.
  bufferFatSpace = 7,
  /// AMD's buffer descriptors.
  bufferResourceSpace = 8,
  /// AMD's buffer pointers with an offset and an index.
  bufferStridedSpace = 9,
};

/// The attribute of a parameter in memory that all threads share.
constexpr llvm::StringLiteral gridConstant = "nvvm.grid_constant";

/// The attribute with the cluster size of a kernel: "2,1,1".
constexpr llvm::StringLiteral clusterAttribute = "nvvm.cluster_dim";

/// The attribute with which `copyToHost` marks kernels.
constexpr llvm::StringLiteral kernelAttribute = "smalti.kernel";

/// The prefix of device names in the host module: a kernel `memcpy` is not the
/// function that the host's code generator calls.
constexpr llvm::StringLiteral devicePrefix = "device.";

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// `what` as an error.
llvm::Error refuse(const llvm::Twine &what);

/// The same, with the function and the source location of `at`.
llvm::Error refuse(const llvm::Instruction &at, const llvm::Twine &what);

/// The text that LLVM prints for a type.
std::string printed(const llvm::Type &type);

//===----------------------------------------------------------------------===//
// On the device module
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<llvm::Module>>
parseDeviceModule(llvm::StringRef input, llvm::StringRef name,
                  llvm::LLVMContext &context);

llvm::Expected<Vendor> vendorOf(const llvm::Module &module);

bool isKernel(const llvm::Function &function);

/// Whether `function` is an instruction of the emulator's table.
bool isInstruction(const llvm::Function &function);

/// Links `options.libraries` where functions are not defined, resolves aliases
/// and what code asks of its compiler, and drops what no kernel reaches.
llvm::Error completeDeviceModule(llvm::Module &module, Vendor vendor,
                                 const HostOptions &options);

/// Rejects code that no device supports and that the host's code generator may
/// not handle.
llvm::Error checkLimits(const llvm::Module &module);

/// The value of `__CUDA_ARCH__` for the chip, or for the chip of the kernels if
/// it is empty; or 0.
int cudaArchitecture(const llvm::Module &module, llvm::StringRef chip);

/// Limits the alignment of accesses to that of the device, and inserts checks.
void limitAlignment(llvm::Module &module, Vendor vendor, llvm::StringRef chip);

/// Reports stores that an async-proxy read may not observe.
void reportGenericWrites(llvm::Module &module);

/// Lowers buffer pointers to instructions.
llvm::Error lowerBufferPointers(llvm::Module &module,
                                const HostOptions &options);

/// Inserts calls where AMD's backend waits for LDS DMA.
void addBackendWaits(llvm::Module &module);

/// Expands NVIDIA inline assembly to LLVM instructions and calls of the
/// emulator.
llvm::Error expandAssembly(llvm::Module &module);

/// Gives shifts by at least the width the result of PTX's instructions.
void clampShifts(llvm::Module &module);

/// Inserts checks before uses of registers that an outstanding wgmma writes.
void followAccumulators(llvm::Module &module);

/// Inserts conversions where device and host round differently.
void lowerFloats(llvm::Module &module, Vendor vendor);

/// Drops device-only attributes and metadata, and inlines functions with
/// instructions, so that the order of call sites is known across functions.
void inlineInstructions(llvm::Module &module);

/// Makes sizes and offsets those of the device, independent of the data layout.
llvm::Error fixLayouts(llvm::Module &module, Vendor vendor,
                       const llvm::DataLayout &host);

/// Whether the device has a type in memory as the host has it.
bool hasHostLayout(llvm::Type *type, const llvm::DataLayout &device,
                   const llvm::DataLayout &host);

//===----------------------------------------------------------------------===//
// From the device module to the host module
//===----------------------------------------------------------------------===//

/// Shared memory, as the module declares it.
struct SharedMemory {
  /// The offset of each variable.
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> offsets;
  uint64_t staticBytes = 0;
  /// Whether a launch sets the size of an array after the static ones.
  bool isDynamic = false;
};

/// Whether a kernel asks for clusters of blocks.
bool hasClusters(const llvm::Module &module);

llvm::Expected<SharedMemory> placeSharedMemory(const llvm::Module &module);

/// A copy of the device module with the host's data layout and one address
/// space. Calls of instructions are as they were.
llvm::Expected<std::unique_ptr<llvm::Module>>
copyToHost(const llvm::Module &device, const SharedMemory &shared,
           const llvm::TargetMachine &host);

//===----------------------------------------------------------------------===//
// On the host module
//===----------------------------------------------------------------------===//

/// A name that must be in the table, and the first location that uses it.
struct UsedInstruction {
  std::string name;
  llvm::DebugLoc location;
};

/// Numbers blocks so that those of a loop come before what follows it, and both
/// sides of a branch before the block where they meet.
llvm::SmallVector<llvm::BasicBlock *> orderBlocks(llvm::Function &function);

/// Replaces each call of an instruction by a call of the emulator.
llvm::Expected<std::vector<UsedInstruction>> callEmulator(llvm::Module &module);

/// Keeps sanitizers from an access to the emulator's own memory.
void hideFromSanitizers(llvm::Instruction &at);

/// Inserts yields into loops that may wait for other threads.
void yieldInLoops(llvm::Module &module);

/// Adds the functions that read kernel arguments from memory. `device` has the
/// parameter types of the device.
llvm::Error addEntries(llvm::Module &module, const llvm::Module &device);

void addConstants(llvm::Module &module, uint64_t sharedBytes,
                  bool hasWritableGlobals);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeHostMachine(const HostOptions &options);

llvm::Error optimizeAndEmit(llvm::Module &module, llvm::TargetMachine &machine,
                            const HostOptions &options, std::string &code);

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

llvm::json::Array describeKernels(const llvm::Module &device);

std::string fileOf(const llvm::DebugLoc &location);

/// The location as `{"file", "line", "column"}`, or null.
llvm::json::Value describeLocation(const llvm::DebugLoc &location);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_REWRITE_STEPS_H
