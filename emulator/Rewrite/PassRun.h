//===- PassRun.h - Runs of LLVM passes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_REWRITE_PASSRUN_H
#define SMALTI_EMULATOR_REWRITE_PASSRUN_H

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace smalti::emulator {

struct PassRun {
  explicit PassRun(llvm::TargetMachine *machine = nullptr,
                   llvm::PipelineTuningOptions tuning = {})
      : builder(machine, tuning) {
    if (machine)
      machine->registerPassBuilderCallbacks(builder);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_REWRITE_PASSRUN_H
