//===- Main.cpp - smalti-emulator -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Instructions/Instruction.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Supervisor.h"

#include <cstdio>
#include <cstring>

using namespace smalti::emulator;

static void printInstruction(const Instruction &instruction, void *) {
  BoundedText<16384> line;
  line.append("{\"name\": ");
  appendJSONString(line, instruction.name, strlen(instruction.name));
  line.append(", \"document\": ");
  appendJSONString(line, instruction.document, strlen(instruction.document));
  line.append(", \"scope\": \"%s\"}", instruction.ofThread ? "thread" : "wave");
  puts(line.text());
}

int main(int argc, char **argv) {
  if (argc == 1)
    endProcess(runLaunch());
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    forEachInstruction(printInstruction, nullptr);
    return exitDone;
  }
  if (strcmp(argv[1], "--missing") == 0) {
    for (int i = 2; i < argc; ++i)
      if (!findInstruction(argv[i]))
        puts(argv[i]);
    return exitDone;
  }
  fprintf(stderr, "usage: %s\n       %s --list\n       %s --missing NAME...\n",
          argv[0], argv[0], argv[0]);
  fputs("Without options, runs the compiled kernel that standard input "
        "describes. "
        "`smalti run FILE --target emu:CHIP` compiles a kernel and runs it.\n",
        stderr);
  fputs("--list prints the emulated GPU instructions.\n", stderr);
  fputs("--missing prints which of the named instructions are not emulated.\n",
        stderr);
  return exitUsage;
}
