//===- Steps.h - The steps from a device module to a host module ----------===//

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

/// The attribute of a kernel whose blocks come in clusters: "2,1,1".
constexpr llvm::StringLiteral clusterAttribute = "nvvm.cluster_dim";

/// What `copyToHost` marks kernels with.
constexpr llvm::StringLiteral kernelAttribute = "smalti.kernel";

/// What names of the device begin with in the host module: a kernel `memcpy` is
/// not what the host's code generator calls.
constexpr llvm::StringLiteral devicePrefix = "device.";

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// `what` as an error.
llvm::Error refuse(const llvm::Twine &what);

/// The same, with the function and the place in the source of `at`.
llvm::Error refuse(const llvm::Instruction &at, const llvm::Twine &what);

/// What LLVM prints of a type or a value.
std::string printed(const llvm::Type &type);

//===----------------------------------------------------------------------===//
// On the device module
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<llvm::Module>>
parseDeviceModule(llvm::StringRef input, llvm::StringRef name,
                  llvm::LLVMContext &context);

llvm::Expected<Vendor> vendorOf(const llvm::Module &module);

bool isKernel(const llvm::Function &function);

/// Whether the emulator's table says what calls of `function` do.
bool isInstruction(const llvm::Function &function);

/// Links `options.libraries` where functions are not defined, resolves aliases
/// and what code asks of its compiler, and drops what no kernel reaches.
llvm::Error completeDeviceModule(llvm::Module &module, Vendor vendor,
                                 const HostOptions &options);

/// Refuses what no device has and the host's code generator may not survive.
llvm::Error checkLimits(const llvm::Module &module);

/// What `__CUDA_ARCH__` is for the chip, that of the kernels where it is empty,
/// or 0.
int cudaArchitecture(const llvm::Module &module, llvm::StringRef chip);

/// Lets no access need more alignment than on the device, and has that checked.
void limitAlignment(llvm::Module &module, Vendor vendor, llvm::StringRef chip);

/// Tells the emulator of stores that the asynchronous proxy may miss.
void tellGenericWrites(llvm::Module &module);

/// Lowers buffer pointers to instructions.
llvm::Error lowerBufferPointers(llvm::Module &module,
                                const HostOptions &options);

/// Makes explicit where AMD's backend waits for copies to LDS.
void addBackendWaits(llvm::Module &module);

/// Makes LLVM's instructions, and calls of the emulator's, of the inline
/// assembly of NVIDIA.
llvm::Error expandAssembly(llvm::Module &module);

/// Makes explicit where registers are read that an asynchronous product writes.
void followAccumulators(llvm::Module &module);

/// Makes explicit how the device rounds where the host would do otherwise.
void lowerFloats(llvm::Module &module, Vendor vendor);

/// Drops attributes and metadata that hold on the device alone, and inlines
/// functions that hold instructions, so that the order of call sites is known
/// across them.
void inlineInstructions(llvm::Module &module);

/// Makes sizes and offsets those of the device, whatever the data layout.
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
  /// Of each variable, from the base.
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> offsets;
  uint64_t staticBytes = 0;
  /// Whether a launch decides the size of an array behind the static ones.
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

/// A name that the table must have, and the first place that uses it.
struct UsedInstruction {
  std::string name;
  llvm::DebugLoc location;
};

/// Numbers blocks so that those of a loop come before what follows it, and both
/// sides of a branch before the block where they meet.
llvm::SmallVector<llvm::BasicBlock *> orderBlocks(llvm::Function &function);

/// Makes each call of an instruction one of the emulator.
llvm::Expected<std::vector<UsedInstruction>> callEmulator(llvm::Module &module);

/// Keeps sanitizers from an access to the emulator's own memory.
void hideFromSanitizers(llvm::Instruction &at);

/// Lets other threads run where a loop may wait for them.
void yieldInLoops(llvm::Module &module);

/// The functions that read a kernel's arguments from memory. `device` tells
/// what the parameters are there.
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

/// The place as `{"file", "line", "column"}`, or null.
llvm::json::Value describeLocation(const llvm::DebugLoc &location);

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_REWRITE_STEPS_H
