//===- NVIDIA.cpp - NVIDIA chips ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources:
// - CUDA C++ Programming Guide, "Compute Capabilities", table of technical
//   specifications: warp size, threads per block, registers, shared memory per
//   block (the opt-in limit, 1 KB less than the SM has), 48 KB without opt-in,
//   32 banks of 4 bytes, clusters of up to 8 blocks.
// - NVIDIA's GTC 2022 session S41723, "How to Understand and Optimize Shared
//   Memory Accesses using Nsight Compute": accesses of 8 bytes per lane are
//   served by half warps and those of 16 by quarter warps, in lane order.
// - PTX ISA 9.0: "cp.async" (4, 8, 16 bytes), "Matrix Fragments for mma.*"
//   and the target notes of each instruction, "Tensor Memory" (512 columns),
//   "ldmatrix" and "stmatrix" (from sm_90; 8-bit matrices from sm_100a).
// - The whitepapers of the architectures: dense multiply-accumulates per cycle
//   and SM. Zero if they do not state a rate for mma.sync: since Hopper it does
//   not reach the quoted rate of the newer instructions.
// - PTX version: what LLVM 22 writes at most (9.0) and ptxas 13.0 accepts, for
//   each chip; test/python/targets/test_targets_isa.py checks both.
//
//===----------------------------------------------------------------------===//

#include "smalti/targets/Chips.h"
#include "smalti/targets/Fragments.h"

#include <string>

using namespace smalti::targets;

static constexpr int64_t asyncCopyBytes[] = {4, 8, 16};
static constexpr WaitKind ampereWaits[] = {WaitKind::CpAsyncGroup};
static constexpr WaitKind hopperWaits[] = {WaitKind::CpAsyncGroup,
                                           WaitKind::Mbarrier};

/// Multiply-accumulates per cycle and SM; 0: not published for mma.sync.
struct Rates {
  int64_t f16 = 0;
  int64_t tf32 = 0;
  int64_t eightBit = 0;
  int64_t fma = 128;
};

static MmaInstruction mmaSync(int64_t k, Element element, Element accumulator,
                              int64_t macsPerCycle) {
  std::string type;
  int64_t packed = 4;
  switch (element) {
  case Element::F16:
  case Element::BF16:
    packed = 2;
    type = toString(element).str();
    break;
  case Element::TF32:
    packed = 1;
    type = "tf32";
    break;
  case Element::E4M3:
    type = "e4m3";
    break;
  case Element::E5M2:
    type = "e5m2";
    break;
  default:
    type = "s8";
    break;
  }
  std::string result = accumulator == Element::I32 ? "s32" : "f32";
  std::string mnemonic = "mma.sync.aligned.m16n8k" + std::to_string(k) +
                         ".row.col." + result + "." + type + "." + type + "." +
                         result;
  return makeMma(MmaKind::MmaSync, {16, 8, k}, element, element, accumulator,
                 mmaSyncA(k, packed), mmaSyncB(k, packed), mmaSyncC(), mnemonic,
                 macsPerCycle);
}

static std::vector<MmaInstruction> instructions(const Rates &rates,
                                                bool hasFP8) {
  std::vector<MmaInstruction> mmas;
  for (Element element : {Element::F16, Element::BF16}) {
    mmas.push_back(mmaSync(16, element, Element::F32, rates.f16));
    mmas.push_back(mmaSync(8, element, Element::F32, rates.f16));
  }
  mmas.push_back(mmaSync(8, Element::TF32, Element::F32, rates.tf32));
  mmas.push_back(mmaSync(4, Element::TF32, Element::F32, rates.tf32));
  if (hasFP8)
    for (Element element : {Element::E4M3, Element::E5M2})
      mmas.push_back(mmaSync(32, element, Element::F32, rates.eightBit));
  mmas.push_back(mmaSync(32, Element::I8, Element::I32, rates.eightBit));
  mmas.push_back(mmaSync(16, Element::I8, Element::I32, rates.eightBit));
  for (Element element : {Element::F32, Element::F16, Element::BF16})
    mmas.push_back(scalarFma(8, 4, element, rates.fma));
  for (Element element : {Element::F64, Element::I8})
    mmas.push_back(scalarFma(8, 4, element, /*macsPerCycle=*/0));
  return mmas;
}

/// Common properties of all NVIDIA chips.
static Target ampere(llvm::StringRef name, llvm::StringRef architecture,
                     int64_t sharedMemory) {
  Target target;
  target.name = name;
  target.vendor = Vendor::NVIDIA;
  target.architecture = architecture;
  target.waveSize = 32;
  target.maxThreadsPerBlock = 1024;
  target.defaultWarps = 8;
  target.sharedMemoryPerBlock = sharedMemory;
  target.staticSharedMemory = 48 * 1024;
  target.sharedMemoryBanks = 32;
  target.bankBytes = 4;
  target.registersPerThread = 255;
  target.registersPerUnit = 64 * 1024;
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::CpAsync;
  target.minAsyncCopyBytes = asyncCopyBytes[0];
  target.hasLdMatrix = true;
  target.barrier = BarrierKind::BarSync;
  target.waits = ampereWaits;
  target.ptxVersion = "90";
  target.features = "+ptx90";
  return target;
}

/// Hopper and later: TMA, mbarriers with transaction counts, clusters of 8
/// blocks (larger clusters are not portable).
static Target hopper(llvm::StringRef name, llvm::StringRef architecture,
                     int64_t sharedMemory) {
  Target target = ampere(name, architecture, sharedMemory);
  target.hasTMA = true;
  target.hasStMatrix = true;
  target.maxClusterSize = 8;
  target.waits = hopperWaits;
  return target;
}

void smalti::targets::addNVIDIA(ChipTable &table) {
  constexpr int64_t kb = 1024;
  table.add(
      ampere("sm_80", "Ampere", 163 * kb),
      instructions({/*f16=*/1024, /*tf32=*/512, /*eightBit=*/2048, /*fma=*/64},
                   /*hasFP8=*/false));
  table.add(ampere("sm_86", "Ampere", 99 * kb),
            instructions({/*f16=*/512, /*tf32=*/256, /*eightBit=*/1024},
                         /*hasFP8=*/false));
  table.add(ampere("sm_89", "Ada", 99 * kb),
            instructions({/*f16=*/512, /*tf32=*/256, /*eightBit=*/1024},
                         /*hasFP8=*/true));
  for (const char *name : {"sm_90", "sm_90a"}) {
    Target target = hopper(name, "Hopper", 227 * kb);
    target.hasWGMMA = name == llvm::StringRef("sm_90a");
    table.add(target, instructions({}, /*hasFP8=*/true));
  }
  for (const char *name : {"sm_100a", "sm_103a"}) {
    Target target = hopper(name, "Blackwell", 227 * kb);
    target.tensorMemoryColumns = 512;
    target.hasTransposed8BitMatrix = true;
    table.add(target, instructions({}, /*hasFP8=*/true));
  }
  for (const char *name : {"sm_120a", "sm_121a"}) {
    Target target = hopper(name, "Blackwell", 99 * kb);
    target.hasTransposed8BitMatrix = true;
    table.add(target, instructions({}, /*hasFP8=*/true));
  }
}
