//===- Faults.cpp - Signals as findings -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Faults.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

using namespace smalti::emulator;

const int smalti::emulator::timeoutSignal = SIGALRM;

static constexpr size_t handlerStackBytes = size_t(256) * 1024;

namespace {

/// The state of the processor at the instruction that a signal interrupted.
struct Interrupted {
  const void *pc = nullptr;
  const char *stackPointer = nullptr;
  /// -1 if unknown.
  int isWrite = -1;

  explicit Interrupted(const void *context) {
    auto *machine = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
    // NOLINTBEGIN(performance-no-int-to-ptr)
    const greg_t *registers = machine->uc_mcontext.gregs;
    pc = reinterpret_cast<const void *>(registers[REG_RIP]);
    stackPointer = reinterpret_cast<const char *>(registers[REG_RSP]);
    // NOLINTEND(performance-no-int-to-ptr)
    // Intel SDM, "Page-Fault Exception": trap 14; bit 1 of its code is a write.
    if (registers[REG_TRAPNO] == 14)
      isWrite = int(registers[REG_ERR] >> 1 & 1);
    // With ThreadSanitizer, a store first reads the address to compare the
    // value (`StoredValue`).
    if (isWrite == 0 && sanitizer::kind == sanitizer::Kind::Thread)
      isWrite = -1;
#elif defined(__aarch64__)
    pc = reinterpret_cast<const void *>(machine->uc_mcontext.pc);
    stackPointer = reinterpret_cast<const char *>(machine->uc_mcontext.sp);
#else
    (void)machine;
#endif
  }
};

} // namespace

/// Adds the location in the kernel: the call of an instruction, the interrupted
/// instruction, or the caller of the interrupted system function.
static void addLocation(ThreadLocation &location, const Interrupted &at) {
  location.block = int64_t(running->index());
  if (!current)
    return;
  location.thread = current->index;
  if (current->returnAddress) {
    location.addReturn(current->returnAddress);
    return;
  }
  if (kernelLibrary.containsCode(at.pc)) {
    location.addInstruction(at.pc);
    return;
  }
  running->addCaller(location, at.stackPointer);
}

static void describeAccess(Finding &finding, const siginfo_t &info,
                           const Interrupted &at) {
  const void *address = info.si_addr;
#if defined(__x86_64__)
  // Intel SDM, "General Protection Exception": the processor does not report an
  // address.
  if (info.si_code == SI_KERNEL) {
    finding.kind = "misaligned";
    finding.message.append("misaligned access, or access to an address outside "
                           "of the address space (the processor does not "
                           "report which)");
    return;
  }
#endif
  finding.setAddress(address);
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRALN) {
    finding.kind = "misaligned";
    finding.message.append("misaligned access: ");
    describeAddress(finding.message, address);
    return;
  }
  if (cluster.isStackGuard(address)) {
    finding.message.append("stack overflow: the thread needs more than %zu "
                           "bytes of private memory; use smaller local arrays "
                           "or less recursion",
                           current ? current->fiber.stackBytes() : 0);
    return;
  }
  if (argumentMemory.contains(address) || sharedMemory.contains(address))
    finding.kind = "out-of-bounds";
  finding.location.isWrite = at.isWrite;
  finding.message.append(
      "%s %s: ", strcmp(finding.kind, "fault") == 0 ? "invalid" : finding.kind,
      at.isWrite < 0   ? "access"
      : at.isWrite > 0 ? "write"
                       : "read");
  describeAddress(finding.message, address);
}

static void onFault(int signal, siginfo_t *info, void *context) {
  sanitizer::leaveKernel();
  static Finding finding("fault");
  Interrupted at(context);
  addLocation(finding.location, at);
  switch (signal) {
  case SIGSEGV:
  case SIGBUS:
    describeAccess(finding, *info, at);
    break;
  case SIGFPE:
    finding.message.append(
        "integer division by zero, or division of the smallest integer by -1");
    break;
  case SIGILL:
  case SIGTRAP:
    finding.kind = "trap";
    finding.message.append("the kernel executed a trap, as a failed assertion "
                           "does, or reached code "
                           "marked unreachable");
    break;
  default:
    finding.kind = "internal";
    finding.message.append(
        "internal error of the emulator: signal %d; report it with the kernel",
        signal);
    break;
  }
  report(finding);
  endProcess(exitFindings);
}

static void reportTimeout(const void *context) {
  static Finding finding("timeout");
  finding.location.block = int64_t(running->index());
  if (context)
    addLocation(finding.location, Interrupted(context));
  finding.message.append(
      "the launch exceeded the time limit of %g s; in block %llu, ",
      launch.timeout, (unsigned long long)running->index());
  cluster.describeThreads(finding);
  report(finding);
  endProcess(exitFindings);
}

static void onTimeout(int, siginfo_t *, void *context) {
  sanitizer::handleSignal(reportTimeout, context);
}

void smalti::emulator::handleFaults() {
  // The stack of the thread may have overflowed.
  stack_t stack = {};
  stack.ss_size = handlerStackBytes;
  stack.ss_sp = mmap(nullptr, handlerStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);

  struct sigaction action = {};
  // A fault in the handler ends the process; the supervisor reports it.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | int(SA_RESETHAND);
  action.sa_sigaction = onFault;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sanitizer::setSignalAction(signal, action);
  action.sa_sigaction = onTimeout;
  sanitizer::setSignalAction(timeoutSignal, action);
  sigaddset(&action.sa_mask, timeoutSignal);
  sigprocmask(SIG_UNBLOCK, &action.sa_mask, nullptr);
}
