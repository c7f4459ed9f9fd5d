//===- Findings.h - What is told to Python, a line of JSON each -----------===//
//
// Nothing here allocates memory: signal handlers and sanitizers report too.
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

/// Ends the process at once: sanitizers have a code of their own for `_exit`.
[[noreturn]] void endProcess(ExitCode code);

/// A text of bounded length; what does not fit is cut and ends with dots.
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

/// A thread of a block and its place in the code.
struct Place {
  static constexpr int maxFrames = 8;
  /// -1 where it is not known.
  int64_t block = -1;
  int thread = -1;
  /// Offsets in the kernel library, the innermost first.
  uint64_t frames[maxFrames];
  int numFrames = 0;
  /// 0 or 1; -1 where it is not known.
  int isWrite = -1;
  /// What it does there, or empty.
  BoundedText<256> note;

  /// Adds where a call returns to, or the instruction itself.
  void addReturn(const void *address);
  void addInstruction(const void *address);
};

struct Finding {
  static constexpr int maxOthers = 16;

  const char *kind;
  BoundedText<4096> message;
  Place place;
  bool hasAddress = false;
  uint64_t address = 0;
  /// 0 where it is not known.
  uint64_t bytes = 0;
  Place others[maxOthers];
  int numOthers = 0;

  explicit Finding(const char *kind) : kind(kind) {}
  void setAddress(const void *value) {
    hasAddress = true;
    address = reinterpret_cast<uint64_t>(value);
  }
  /// One more, or null where there are enough.
  Place *addOther() {
    return numOthers < maxOthers ? &others[numOthers++] : nullptr;
  }
};

/// Where lines go: standard output, or in a worker the pipe to the supervisor.
void setReportDescriptor(int descriptor);

void report(const Finding &finding);
void reportOutput(const char *text, size_t length);
void reportProgress(uint64_t done, uint64_t total);
void reportDone(double seconds);
/// Passes on lines that a worker wrote.
void reportLines(const char *text, size_t length);

/// Prints a string as JSON.
void appendJSONString(TextBuffer &buffer, const char *text, size_t length);

/// How many findings a process reported.
int numFindings();

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_RUNTIME_FINDINGS_H
