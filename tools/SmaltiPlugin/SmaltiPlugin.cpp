//===- SmaltiPlugin.cpp - Dialect and pass plugin for stock mlir-opt ------===//
//
// MLIR's plugin interface carries no LLVM version, and a plugin in a host of
// another version crashes later. The entry points therefore check the libraries
// that the host has loaded, with the C library only, before they call MLIR.
//
//===----------------------------------------------------------------------===//

#include "smalti/tools/RegisterSmalti.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <link.h>

namespace {

/// The sonames of LLVM's shared libraries carry major and minor version; patch
/// releases keep the ABI.
#define SMALTI_STRINGIFY_IMPL(x) #x
#define SMALTI_STRINGIFY(x) SMALTI_STRINGIFY_IMPL(x)
constexpr const char kVersion[] = SMALTI_STRINGIFY(
    LLVM_VERSION_MAJOR) "." SMALTI_STRINGIFY(LLVM_VERSION_MINOR);
constexpr const char kLibrary[] = "libMLIR.so.";
constexpr size_t kMaxVersion = 32;

/// The part of MLIR that the host had loaded before this plugin.
struct HostMLIR {
  bool sameVersion = false;
  /// The version of another libMLIR, or empty.
  char otherVersion[kMaxVersion] = "";
};

/// Looks at one loaded object; ends the walk at this plugin. The loader lists a
/// program's own libraries before those that came in later with a plugin.
int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto *host = static_cast<HostMLIR *>(data);
  auto self = reinterpret_cast<uintptr_t>(&visitObject);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && self >= begin &&
        self < begin + segment.p_memsz)
      return 1;
  }
  const char *slash = std::strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, kLibrary, sizeof(kLibrary) - 1) != 0)
    return 0;
  const char *version = name + sizeof(kLibrary) - 1;
  if (std::strcmp(version, kVersion) == 0)
    host->sameVersion = true;
  else
    std::snprintf(host->otherVersion, kMaxVersion, "%s", version);
  return 0;
}

/// Whether the host's MLIR is the one that this plugin was built for; otherwise
/// prints the reason.
bool isHostSupported() {
  HostMLIR host;
  dl_iterate_phdr(visitObject, &host);
  if (host.otherVersion[0]) {
    std::fprintf(stderr,
                 "error: SmaltiPlugin was built for LLVM " LLVM_VERSION_STRING
                 " and this program runs LLVM %s; load the plugin into "
                 "mlir-opt-" SMALTI_STRINGIFY(LLVM_VERSION_MAJOR) "\n",
                 host.otherVersion);
    return false;
  }
  if (!host.sameVersion) {
    std::fprintf(stderr,
                 "error: SmaltiPlugin needs a program that links the shared "
                 "library %s%s, and this one does not; use "
                 "the distribution's mlir-opt-" SMALTI_STRINGIFY(
                     LLVM_VERSION_MAJOR) " or smalti-opt\n",
                 kLibrary, kVersion);
    return false;
  }
  return true;
}

/// The interface version that makes a host refuse the plugin after the message.
constexpr uint32_t kRefused = 0;

void registerPassesOnce() {
  // A host may load the plugin both for its dialects and for its passes.
  static bool registered = (smalti::registerPasses(), true);
  (void)registered;
}

} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  uint32_t version = isHostSupported() ? MLIR_PLUGIN_API_VERSION : kRefused;
  return {version, "smalti", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            smalti::registerDialects(*registry);
            registerPassesOnce();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  uint32_t version = isHostSupported() ? MLIR_PLUGIN_API_VERSION : kRefused;
  return {version, "smalti", LLVM_VERSION_STRING, [] { registerPassesOnce(); }};
}
