//===- SmaltiPlugin.cpp - Dialect and pass plugin for stock mlir-opt ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's plugin interface does not include an LLVM version, and a plugin in a
// host of another version crashes later. Therefore the entry points check the
// libraries that the host has loaded, with the C library only, before they call
// MLIR.
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

/// The sonames of LLVM's shared libraries contain the major and minor version;
/// patch releases keep the ABI.
#define SMALTI_STRINGIFY_IMPL(x) #x
#define SMALTI_STRINGIFY(x) SMALTI_STRINGIFY_IMPL(x)
constexpr const char kVersion[] = SMALTI_STRINGIFY(
    LLVM_VERSION_MAJOR) "." SMALTI_STRINGIFY(LLVM_VERSION_MINOR);
constexpr const char kLibrary[] = "libMLIR.so.";
constexpr size_t kMaxVersion = 32;

/// The MLIR libraries that the host loaded before this plugin.
struct HostMLIR {
  bool sameVersion = false;
  /// The version of another libMLIR; empty if none is loaded.
  char otherVersion[kMaxVersion] = "";
};

/// Checks one loaded object and ends the walk at this plugin. The loader lists
/// the libraries of the program before those that a plugin loads.
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

/// Whether the MLIR of the host is the one that this plugin was built for.
/// Prints an error otherwise.
bool isHostSupported() {
  HostMLIR host;
  dl_iterate_phdr(visitObject, &host);
  if (host.otherVersion[0]) {
    std::fprintf(stderr,
                 "error: SmaltiPlugin was built for LLVM " LLVM_VERSION_STRING
                 ", but this program uses LLVM %s; load the plugin into "
                 "mlir-opt-" SMALTI_STRINGIFY(LLVM_VERSION_MAJOR) "\n",
                 host.otherVersion);
    return false;
  }
  if (!host.sameVersion) {
    std::fprintf(stderr,
                 "error: this program does not link the shared library %s%s, "
                 "which SmaltiPlugin requires; use "
                 "the distribution's mlir-opt-" SMALTI_STRINGIFY(
                     LLVM_VERSION_MAJOR) " or smalti-opt\n",
                 kLibrary, kVersion);
    return false;
  }
  return true;
}

/// An interface version with which a host rejects the plugin.
constexpr uint32_t kRefused = 0;

void registerPassesOnce() {
  // A host may load the plugin for its dialects and for its passes.
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
