//===- Faults.cpp - Signals that end a worker -----------------------------===//

#include "smalti/emulator/Runtime/Faults.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <csignal>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

using namespace smalti::emulator;

const int smalti::emulator::timeoutSignal = SIGALRM;

static constexpr size_t handlerStackBytes = size_t(256) * 1024;

namespace {

/// What the processor says of the instruction that a signal interrupted.
struct Interrupted {
  const void *pc = nullptr;
  const char *stackPointer = nullptr;
  /// -1 where it is not known.
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
    // A store reads first there, to compare (`StoredValue`).
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

/// Adds the place in the kernel: the call of an instruction, the interrupted
/// instruction, or what called the function of the system that it is in.
static void addPlace(Place &place, const Interrupted &at) {
  place.block = int64_t(running->index());
  if (!current)
    return;
  place.thread = current->index;
  if (current->returnAddress) {
    place.addReturn(current->returnAddress);
    return;
  }
  if (kernelLibrary.containsCode(at.pc)) {
    place.addInstruction(at.pc);
    return;
  }
  running->addCaller(place, at.stackPointer);
}

static void describeAccess(Finding &finding, const siginfo_t &info,
                           const Interrupted &at) {
  const void *address = info.si_addr;
#if defined(__x86_64__)
  // Intel SDM, "General Protection Exception": it tells no address.
  if (info.si_code == SI_KERNEL) {
    finding.kind = "misaligned";
    finding.message.append("an access that is not aligned, or to an address "
                           "that no memory can have");
    return;
  }
#endif
  finding.setAddress(address);
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRALN) {
    finding.kind = "misaligned";
    finding.message.append("an access that is not aligned: ");
    describeAddress(finding.message, address);
    return;
  }
  if (cluster.isStackGuard(address)) {
    finding.message.append("the thread needs more private memory than there is "
                           "(%zu bytes)",
                           current ? current->fiber.stackBytes() : 0);
    return;
  }
  if (argumentMemory.contains(address) || sharedMemory.contains(address))
    finding.kind = "out-of-bounds";
  finding.place.isWrite = at.isWrite;
  finding.message.append("%s: ", at.isWrite < 0   ? "an access"
                                 : at.isWrite > 0 ? "a write"
                                                  : "a read");
  describeAddress(finding.message, address);
}

static void onFault(int signal, siginfo_t *info, void *context) {
  sanitizer::leaveKernel();
  static Finding finding("fault");
  Interrupted at(context);
  addPlace(finding.place, at);
  switch (signal) {
  case SIGSEGV:
  case SIGBUS:
    describeAccess(finding, *info, at);
    break;
  case SIGFPE:
    finding.message.append("a division of integers by zero, or of the "
                           "least integer by -1");
    break;
  case SIGILL:
  case SIGTRAP:
    finding.kind = "trap";
    finding.message.append("the kernel came to a trap, or to code that it says "
                           "is never reached");
    break;
  default:
    finding.kind = "internal";
    finding.message.append("the emulator gave up (signal %d)", signal);
    break;
  }
  report(finding);
  endProcess(exitFindings);
}

static void reportTimeout(const void *context) {
  static Finding finding("timeout");
  finding.place.block = int64_t(running->index());
  if (context)
    addPlace(finding.place, Interrupted(context));
  finding.message.append("the launch took more than %g s: in block %llu ",
                         launch.timeout, (unsigned long long)running->index());
  cluster.describeThreads(finding);
  report(finding);
  endProcess(exitFindings);
}

static void onTimeout(int, siginfo_t *, void *context) {
  sanitizer::handleSignal(reportTimeout, context);
}

void smalti::emulator::handleFaults() {
  // A thread's own stack may be what has overflowed.
  stack_t stack = {};
  stack.ss_size = handlerStackBytes;
  stack.ss_sp = mmap(nullptr, handlerStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);

  struct sigaction action = {};
  // A fault in the handler ends the process, which its supervisor reports.
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
