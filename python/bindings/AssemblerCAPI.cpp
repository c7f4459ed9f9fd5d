//===- AssemblerCAPI.cpp - LLVM's assembler through C ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/python/bindings/AssemblerCAPI.h"

#include "mlir/CAPI/Support.h"

#include "llvm-c/Target.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

/// The object file, or an empty string after a message is written to `log`.
std::string assemble(StringRef assembly, StringRef tripleName, StringRef chip,
                     StringRef features, raw_ostream &log) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  Triple triple(Triple::normalize(tripleName));
  std::string problem;
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  if (!target) {
    log << problem;
    return "";
  }
  SourceMgr sources;
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *log) {
        diagnostic.print(nullptr, *static_cast<raw_ostream *>(log),
                         /*ShowColors=*/false);
      },
      &log);
  sources.AddNewSourceBuffer(
      MemoryBuffer::getMemBufferCopy(assembly, "kernel.s"), SMLoc());
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> info(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, chip, features));
  MCContext context(triple, info.get(), registers.get(), subtarget.get(),
                    &sources, &options);
  std::unique_ptr<MCObjectFileInfo> file(target->createMCObjectFileInfo(
      context, /*PIC=*/false, /*LargeCodeModel=*/false));
  context.setObjectFileInfo(file.get());
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  SmallString<0> object;
  raw_svector_ostream stream(object);
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *info));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false))
    return "";
  return std::string(object);
}

} // namespace

bool smaltiAssembleGcn(MlirStringRef assembly, MlirStringRef triple,
                       MlirStringRef chip, MlirStringRef features,
                       MlirStringCallback onObject, void *object,
                       MlirStringCallback onError, void *problem) {
  std::string messages;
  raw_string_ostream log(messages);
  std::string assembled = assemble(unwrap(assembly), unwrap(triple),
                                   unwrap(chip), unwrap(features), log);
  bool isAssembled = !assembled.empty();
  if (isAssembled)
    onObject(wrap(StringRef(assembled)), object);
  else
    onError(wrap(StringRef(messages)), problem);
  return isAssembled;
}
