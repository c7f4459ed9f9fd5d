//===- Findings.h - Findings and progress as lines of JSON ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file does not allocate memory, because signal handlers and sanitizers
// report, too.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_EMULATOR_RUNTIME_FINDINGS_H
#define SMALTI_EMULATOR_RUNTIME_FINDINGS_H

#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace smalti::emulator {

/// Exit codes of workers and of the executable.
enum ExitCode { exitDone = 0, exitFindings = 1, exitUsage = 2 };

/// Ends the process immediately, because sanitizers replace the exit code of
/// `_exit`.
[[noreturn]] void endProcess(ExitCode code);

/// A text of bounded length; a longer text is cut and ends with dots.
class TextBuffer {
public:
  TextBuffer(char *data, size_t capacity) : data(data), capacity(capacity) {
    data[0] = 0;
  }
  void append(const char *format, ...) __attribute__((format(printf, 2, 3)));
  void clear() {
    used = 0;
    data[0] = 0;
  }
  void appendList(const char *format, va_list list);
  const char *text() const { return data; }
  size_t length() const { return used; }

private:
  char *data;
  size_t capacity;
  size_t used = 0;
};

template <size_t bytes> class BoundedText : public TextBuffer {
public:
  BoundedText() : TextBuffer(storage, bytes) {}
  BoundedText(const BoundedText &) = delete;
  BoundedText &operator=(const BoundedText &) = delete;

private:
  char storage[bytes];
};

/// A thread and its location in the code.
struct ThreadLocation {
  static constexpr int maxFrames = 8;
  /// -1 if unknown.
  int64_t block = -1;
  int thread = -1;
  /// Offsets in the kernel library, innermost first.
  uint64_t frames[maxFrames];
  int numFrames = 0;
  /// 0 or 1; -1 if unknown.
  int isWrite = -1;
  /// A description of the access or state, or empty.
  BoundedText<256> note;

  /// Adds the return address of a call, or the instruction itself.
  void addReturn(const void *address);
  void addInstruction(const void *address);
};

struct Finding {
  static constexpr int maxOthers = 16;

  const char *kind;
  BoundedText<4096> message;
  ThreadLocation location;
  bool hasAddress = false;
  uint64_t address = 0;
  /// 0 if unknown.
  uint64_t bytes = 0;
  ThreadLocation others[maxOthers];
  int numOthers = 0;

  explicit Finding(const char *kind) : kind(kind) {}
  void setAddress(const void *value) {
    hasAddress = true;
    address = reinterpret_cast<uint64_t>(value);
  }
  /// Adds another participant; null if the list is full.
  ThreadLocation *addOther() {
    return numOthers < maxOthers ? &others[numOthers++] : nullptr;
  }
};

/// The destination of lines: standard output, or in a worker the pipe to the
/// supervisor.
void setReportDescriptor(int descriptor);

void report(const Finding &finding);
void reportOutput(const char *text, size_t length);
void reportProgress(uint64_t done, uint64_t total);
void reportDone(double seconds);
/// Forwards lines of a worker.
void reportLines(const char *text, size_t length);

/// Prints a string as JSON.
void appendJSONString(TextBuffer &buffer, const char *text, size_t length);

/// The number of findings that this process has reported.
int numFindings();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FINDINGS_H
