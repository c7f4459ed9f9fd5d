//===- Supervisor.cpp - The processes of a launch -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The initial process reads and checks the launch, and forks workers, which
// take blocks from a shared counter. It forwards the reports of workers, and
// reports crashed workers and an exceeded time limit.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Runtime/Supervisor.h"
#include "smalti/emulator/Runtime/Block.h"
#include "smalti/emulator/Runtime/Faults.h"
#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"
#include "smalti/emulator/Runtime/Memory.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace smalti::emulator;

namespace {

/// State that all processes of a launch share.
struct Control {
  std::atomic<uint64_t> nextBlock, numDone;
  /// The block that each worker runs.
  std::atomic<uint64_t> running[];
};

struct Worker {
  pid_t process;
  /// The pipe with its lines; -1 after it has exited.
  int descriptor;
  std::string rest;
};

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Supervisor {
public:
  ExitCode run();

private:
  std::string prepare();
  std::string start();
  [[noreturn]] void work(int index, pid_t supervisor);
  void supervise();
  void readLines(Worker &worker);
  void end(Worker &worker);
  void killAll();
  void checkTime();
  void showProgress();
  uint64_t total() const { return launch.endBlock - launch.firstBlock; }
  /// Workers take clusters, which are single blocks without a cluster size.
  static uint64_t endUnit() { return launch.endBlock / launch.clusterSize(); }

  static constexpr double progressSeconds = 0.5;
  /// The time that a worker has to report its threads after the time limit.
  static constexpr double graceSeconds = 3;

  Clock::time_point begin = Clock::now();
  Control *control = nullptr;
  std::vector<Worker> workers;
  int numOpen = 0;
  bool hasFailed = false, areKilled = false, isTimeOver = false;
  double lastProgress = 0;
  uint64_t shownProgress = 0;
};

} // namespace

static ExitCode failEarly(const char *kind, ExitCode code,
                          const std::string &message) {
  static Finding finding(kind);
  finding.message.append("%s", message.c_str());
  report(finding);
  return code;
}

/// Prepares everything that workers have in common.
std::string Supervisor::prepare() {
  if (std::string error = argumentMemory.map(); !error.empty())
    return error;
  if (std::string error = sharedMemory.map(kernelLibrary.staticSharedBytes(),
                                           launch.dynamicSharedBytes);
      !error.empty())
    return error;
  return cluster.allocate();
}

std::string Supervisor::start() {
  uint64_t count =
      std::min<uint64_t>(launch.workers, total() / launch.clusterSize());
  // ThreadSanitizer must observe all threads, and blocks must share global
  // variables: one process.
  if (sanitizer::kind == sanitizer::Kind::Thread ||
      kernelLibrary.hasWritableGlobals())
    count = std::min<uint64_t>(count, 1);
  void *mapped =
      mmap(nullptr, sizeof(Control) + 8 * (count + 1), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return std::string("cannot allocate memory for the worker processes: ") +
           strerror(errno);
  control = static_cast<Control *>(mapped);
  control->nextBlock = launch.firstBlock;

  // Blocked until a worker can handle the signal for the time limit.
  sigset_t timeout;
  sigemptyset(&timeout);
  sigaddset(&timeout, timeoutSignal);
  sigprocmask(SIG_BLOCK, &timeout, nullptr);
  pid_t supervisor = getpid();
  for (uint64_t i = 0; i < count; ++i) {
    int ends[2];
    if (pipe(ends))
      return std::string("cannot create a pipe for a worker process: ") +
             strerror(errno);
    pid_t process = fork();
    if (process < 0)
      return std::string("cannot start a worker process: ") + strerror(errno);
    if (process == 0) {
      close(ends[0]);
      for (Worker &worker : workers)
        close(worker.descriptor);
      setReportDescriptor(ends[1]);
      work(int(i), supervisor);
    }
    close(ends[1]);
    workers.push_back({process, ends[0], ""});
    ++numOpen;
  }
  return "";
}

void Supervisor::work(int index, pid_t supervisor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor)
    endProcess(exitFindings); // The supervisor exited first.
  sanitizer::initialize();
  handleFaults();
  while (true) {
    uint64_t next = control->nextBlock.fetch_add(1);
    if (next >= endUnit())
      break;
    control->running[index] = cluster.blockIndex(next, 0);
    cluster.run(next);
    control->numDone.fetch_add(launch.clusterSize());
  }
  endProcess(numFindings() ? exitFindings : exitDone);
}

void Supervisor::killAll() {
  areKilled = true;
  for (Worker &worker : workers)
    if (worker.descriptor >= 0)
      kill(worker.process, SIGKILL);
}

/// Forwards complete lines.
void Supervisor::readLines(Worker &worker) {
  char buffer[65536];
  ssize_t length = read(worker.descriptor, buffer, sizeof buffer);
  if (length < 0 && errno == EINTR)
    return;
  if (length <= 0) {
    end(worker);
    return;
  }
  worker.rest.append(buffer, length);
  size_t end = worker.rest.rfind('\n');
  if (end == std::string::npos)
    return;
  reportLines(worker.rest.data(), end + 1);
  worker.rest.erase(0, end + 1);
}

void Supervisor::end(Worker &worker) {
  close(worker.descriptor);
  worker.descriptor = -1;
  --numOpen;
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  bool isDone = WIFEXITED(status) && WEXITSTATUS(status) == exitDone;
  bool hasFindings = WIFEXITED(status) && WEXITSTATUS(status) == exitFindings;
  if (isDone)
    return;
  hasFailed = true;
  if (!hasFindings && !areKilled) {
    Finding finding("crash");
    finding.location.block =
        int64_t(control->running[&worker - workers.data()].load());
    if (WIFSIGNALED(status))
      finding.message.append(
          "a worker process of the emulator was killed by signal %d (%s); if "
          "the "
          "machine ran out of memory, run fewer processes (--workers)",
          WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
      finding.message.append(
          "a worker process of the emulator exited unexpectedly with code %d",
          WEXITSTATUS(status));
    report(finding);
  }
  // After the time limit, all workers report the locations of their threads.
  if (!areKilled && !isTimeOver)
    killAll();
}

void Supervisor::checkTime() {
  double seconds = secondsSince(begin);
  if (launch.timeout == 0 || areKilled || seconds < launch.timeout)
    return;
  if (!isTimeOver) {
    isTimeOver = true;
    for (Worker &worker : workers)
      if (worker.descriptor >= 0)
        kill(worker.process, timeoutSignal);
    return;
  }
  if (seconds < launch.timeout + graceSeconds)
    return;
  Finding finding("timeout");
  finding.message.append(
      "the launch exceeded the time limit of %g s; the positions of its "
      "threads are unknown, because the worker processes did not respond",
      launch.timeout);
  report(finding);
  killAll();
}

void Supervisor::showProgress() {
  double seconds = secondsSince(begin);
  uint64_t done = control->numDone;
  if (seconds < lastProgress + progressSeconds || done == shownProgress ||
      done == total())
    return;
  lastProgress = seconds;
  shownProgress = done;
  reportProgress(done, total());
}

void Supervisor::supervise() {
  std::vector<pollfd> descriptors;
  while (numOpen > 0) {
    // The reader of the output does not send anything; poll only detects that
    // it has exited.
    descriptors.assign(1, {STDOUT_FILENO, 0, 0});
    for (const Worker &worker : workers)
      descriptors.push_back({worker.descriptor, POLLIN, 0});
    int wait = 250;
    if (launch.timeout > 0 && !isTimeOver)
      wait = std::min(
          wait,
          std::max(0, int(1000 * (launch.timeout - secondsSince(begin))) + 1));
    if (poll(descriptors.data(), descriptors.size(), wait) > 0) {
      if (descriptors[0].revents & POLLERR && !areKilled)
        killAll();
      for (size_t i = 0; i < workers.size(); ++i)
        if (workers[i].descriptor >= 0 && descriptors[i + 1].revents)
          readLines(workers[i]);
    }
    checkTime();
    showProgress();
  }
}

ExitCode Supervisor::run() {
  if (std::string error = readLaunch(STDIN_FILENO, launch); !error.empty())
    return failEarly("protocol", exitUsage, error);
  begin = Clock::now();
  std::vector<std::string> missing;
  if (std::string error =
          kernelLibrary.load(launch.library, launch.kernel, missing);
      !error.empty())
    return failEarly("library", exitUsage, error);
  if (!missing.empty()) {
    std::string names;
    for (const std::string &name : missing)
      names += (names.empty() ? "" : ", ") + name;
    return failEarly(
        "missing-instruction", exitFindings,
        "the kernel executes instructions that are not emulated: " + names);
  }
  if (std::string error = prepare(); !error.empty())
    return failEarly("internal", exitFindings, error);
  if (std::string error = start(); !error.empty()) {
    killAll();
    return failEarly("internal", exitFindings, error);
  }
  supervise();
  if (areKilled || hasFailed)
    return exitFindings;
  argumentMemory.checkHoles();
  if (numFindings())
    return exitFindings;
  reportProgress(total(), total());
  reportDone(secondsSince(begin));
  return exitDone;
}

ExitCode smalti::emulator::runLaunch() {
  signal(SIGPIPE, SIG_IGN);
  sanitizer::initialize();
  Supervisor supervisor;
  return supervisor.run();
}
