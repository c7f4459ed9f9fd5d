//===- Library.cpp - A kernel library -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Instructions/Instruction.h"
#include "smalti/emulator/Runtime/Layout.h"

#include <algorithm>
#include <dlfcn.h>
#include <link.h>

using namespace smalti::emulator;

KernelLibrary smalti::emulator::kernelLibrary;

namespace {

/// The addresses of a loaded object.
struct Extent {
  uint64_t base;
  uint64_t begin = UINT64_MAX, end = 0;
  uint64_t codeBegin = UINT64_MAX, codeEnd = 0;
};

int addSegments(dl_phdr_info *info, size_t, void *data) {
  auto &extent = *static_cast<Extent *>(data);
  if (info->dlpi_addr != extent.base)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    uint64_t end = begin + segment.p_memsz;
    extent.begin = std::min(extent.begin, begin);
    extent.end = std::max(extent.end, end);
    if (segment.p_flags & PF_X) {
      extent.codeBegin = std::min(extent.codeBegin, begin);
      extent.codeEnd = std::max(extent.codeEnd, end);
    }
  }
  return 1;
}

} // namespace

bool KernelLibrary::hasWritableGlobals() const {
  return flags & smalti::emulator::hasWritableGlobals;
}

std::string KernelLibrary::load(const std::string &path,
                                const std::string &kernel,
                                std::vector<std::string> &missing) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return std::string("the kernel library cannot be loaded: ") + dlerror();
  auto symbol = [&](const std::string &name) {
    return dlsym(handle, name.c_str());
  };
  entry = reinterpret_cast<void (*)(void **)>(
      symbol("smalti_emu_kernel_" + kernel));
  if (!entry)
    return "the compiled module does not have a kernel '" + kernel + "'";
  auto *names = static_cast<const char *const *>(symbol("smalti_emu_names"));
  auto *entries =
      static_cast<const Instruction **>(symbol("smalti_emu_entries"));
  auto *shared =
      static_cast<const uint32_t *>(symbol("smalti_emu_shared_bytes"));
  auto *flagBits = static_cast<const uint32_t *>(symbol("smalti_emu_flags"));
  if (!names || !entries || !shared || !flagBits)
    return "'" + path +
           "' is not a kernel library: the emulator did not create this file";
  sharedBytes = *shared;
  flags = *flagBits;
  for (size_t i = 0; names[i]; ++i) {
    entries[i] = findInstruction(names[i]);
    if (!entries[i])
      missing.push_back(names[i]);
  }

  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void *>(&map)))
    return std::string(
               "the address of the kernel library cannot be determined: ") +
           dlerror();
  Extent extent;
  extent.base = map->l_addr;
  dl_iterate_phdr(addSegments, &extent);
  base = extent.base;
  begin = extent.begin;
  end = extent.end;
  codeBegin = extent.codeBegin;
  codeEnd = extent.codeEnd;
  return "";
}
