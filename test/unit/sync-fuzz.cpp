//===- sync-fuzz.cpp - The placement of barriers against brute force ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates small random programs, candidates their barriers, and runs each
// program on every path of its branches and loops, with concrete slot numbers.
// In every run, each hazard must be ordered by a barrier. If one barrier is
// removed, some run must have an unordered hazard. For the smallest programs
// all placements are tried, to count how often a placement with fewer barriers
// exists.
//
// It shares only the data of the program with the solver.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Synchronization/SyncProgram.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <map>
#include <random>
#include <set>

using namespace smalti::sync;

namespace {

unsigned firstSeed = 0;
unsigned count = 2000;
bool verbose = false;

/// Parses the arguments without `llvm::cl`, which would add copies of LLVM's
/// templates to this executable.
bool parseArguments(llvm::ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments) {
    if (argument == "--print")
      verbose = true;
    else if (argument.consume_front("--seed=")
                 ? argument.getAsInteger(10, firstSeed)
                 : !argument.consume_front("--count=") ||
                       argument.getAsInteger(10, count))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

struct Sample {
  Program program;
  Options options;
  bool hasOld = false;
  bool hasSlots = false;
  unsigned nestedSlots = 0;
};

class Generator {
public:
  Generator(unsigned seed, Sample &sample)
      : random(seed), sample(sample), program(sample.program),
        isSpread(seed % 4 == 3) {}

  void run() {
    options();
    fill(Program::kRoot, 0, 2 + below(5), 0);
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  void options() {
    static constexpr Spaces kRequired[] = {kAllSpaces, kShared, kNoSpaces};
    sample.options.required = kRequired[below(3)];
    sample.options.weaken = chance(30);
    usesOld = sample.options.required != kAllSpaces || chance(50);
    usesSlots = chance(50);
    usesFootprints = chance(30);
    unsigned buffers = 1 + below(3);
    // Sets store neighbors together, so buffers with distant indices are
    // tested, too.
    if (isSpread)
      program.buffers.resize(below(32));
    for (unsigned i = 0; i < buffers; ++i) {
      Buffer buffer;
      buffer.spaces = chance(70) ? kShared : kGlobal;
      buffer.slots = usesSlots && chance(70) ? 2 + below(3) : 1;
      sample.hasSlots |= buffer.slots > 1;
      used.push_back(program.addBuffer(buffer));
      if (isSpread)
        program.buffers.resize(program.buffers.size() + below(32));
    }
    if (usesOld && chance(25)) {
      Buffer unknown;
      unknown.spaces = kAllSpaces;
      unknown.isEverything = true;
      used.push_back(program.addBuffer(unknown));
    }
    unsigned overlaps = below(4);
    unsigned a = used[0], b = buffers > 1 ? used[1] : a;
    if (overlaps == 0)
      for (unsigned i : {a, b})
        program.buffers[i].is = program.buffers[i].meets = 1;
    // Two that overlap in slots of the same number, as buffers that are
    // accessed by their own names and through what takes turns.
    int64_t slots =
        std::max(program.buffers[a].slots, program.buffers[b].slots);
    if (overlaps == 0 && a != b && slots > 1 && chance(70)) {
      program.buffers[a].slots = program.buffers[b].slots = slots;
      program.buffers[b].slotGroup = a;
    }
    program.overlap = [overlaps, a, b](unsigned x, unsigned y) {
      return overlaps == 0 && x != y && std::min(x, y) == a &&
             std::max(x, y) == b;
    };
    unsigned meets = random(), changes = random();
    program.footprintsMeet = [meets](int a, int b) {
      return (meets >> (std::min(a, b) * 3 + std::max(a, b))) & 1;
    };
    program.changesIn = [changes](int footprint, NodeId loop) {
      return (changes >> ((footprint * 5 + loop) % 31)) & 1;
    };
  }

  Access access() {
    Access access;
    access.buffer = used[below(used.size())];
    access.kind = chance(45)   ? AccessKind::Write
                  : chance(90) ? AccessKind::Read
                               : AccessKind::Atomic;
    int64_t slots = program.buffers[access.buffer].slots;
    if (program.buffers[access.buffer].isEverything)
      access.kind = AccessKind::Write;
    if (slots > 1 && chance(85)) {
      if (!loops.empty() && chance(80))
        access.slot = Slot::ofLoop(
            loops[chance(75) ? loops.size() - 1 : below(loops.size())],
            below(slots));
      else if (!after.empty() && chance(60))
        access.slot = Slot::afterLoop(after.back(), below(slots));
      else
        access.slot = Slot::fixed(below(slots));
    }
    if (usesFootprints && chance(60))
      access.footprint = below(3);
    return access;
  }

  void fill(NodeId parent, unsigned part, unsigned steps, unsigned depth) {
    unsigned made = 0;
    for (unsigned i = 0; i < steps; ++i) {
      unsigned dice = below(100);
      if (depth < 2 && dice < 18) {
        NodeId id = program.addNode(Node::Kind::Loop, parent, part);
        program[id].isUniform = chance(80);
        unsigned form = below(4);
        program[id].runsAtLeastOnce = form == 1;
        if (form == 1 && chance(50))
          program[id].tripCount = 2 + below(4);
        loops.push_back(id);
        if (form == 3)
          fill(id, 0, 1 + below(2), depth + 1);
        fill(id, 1, 1 + below(4), depth + 1);
        loops.pop_back();
        after.push_back(id);
        ++made;
      } else if (depth < 3 && dice < 32) {
        NodeId id = program.addNode(Node::Kind::Branch, parent, part);
        program[id].isUniform = chance(60);
        program[id].parts.resize(2);
        fill(id, 0, 1 + below(3), depth + 1);
        if (chance(50))
          fill(id, 1, 1 + below(2), depth + 1);
      } else if (usesOld && dice < 55) {
        NodeId id = program.addNode(Node::Kind::Barrier, parent, part);
        program[id].orders = chance(70) ? kAllSpaces : kShared;
        program[id].isFixed = chance(10);
        sample.hasOld = true;
      } else {
        NodeId id = program.addNode(Node::Kind::Step, parent, part);
        unsigned accesses = 1 + chance(20);
        for (unsigned k = 0; k < accesses; ++k) {
          Access one = access();
          bool isSplit = chance(12);
          if (!isSplit || chance(50))
            program[id].checked.push_back(one);
          if (!isSplit || chance(50))
            program[id].pending.push_back(one);
          program[id].isGlobalRead |=
              program.buffers[one.buffer].spaces == kGlobal &&
              one.kind == AccessKind::Read;
        }
      }
    }
    // Loops that ran before on every path.
    after.resize(after.size() - made);
  }

  std::mt19937 random;
  Sample &sample;
  Program &program;
  bool isSpread;
  std::vector<unsigned> used; ///< the buffers that are accessed
  bool usesOld = false, usesSlots = false, usesFootprints = false;
  std::vector<NodeId> loops, after;
};

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

struct Barriers {
  std::map<NodeId, Spaces> old, inserted;
};

/// One thing that happens in a run.
struct Event {
  NodeId node;
  bool isStructure; ///< only what stands before the node counts
  /// The loops around it and which of their iterations this is: its number,
  /// and one that no other iteration has.
  std::vector<std::tuple<NodeId, int64_t, int64_t>> iterations;
  /// How often loops ran the last time.
  std::map<NodeId, int64_t> trips;
};

using Run = std::vector<Event>;

class Runner {
public:
  explicit Runner(const Program &program) : program(program) {}

  /// All runs; empty if they are too many.
  bool collect(std::vector<Run> &runs) {
    while (true) {
      position = 0;
      run.clear();
      iterations.clear();
      tripsOf.clear();
      unique = 0;
      sequence(program.getSteps());
      if (run.size() > 400)
        return false;
      runs.push_back(run);
      while (!choices.empty() &&
             choices.back().first + 1 == choices.back().second)
        choices.pop_back();
      if (choices.empty())
        return true;
      ++choices.back().first;
      if (runs.size() > 1500)
        return false;
    }
  }

private:
  unsigned choose(unsigned options) {
    if (options == 1)
      return 0;
    if (position == choices.size())
      choices.emplace_back(0, options);
    return choices[position++].first;
  }

  void sequence(const std::vector<NodeId> &nodes) {
    for (NodeId id : nodes) {
      const Node &node = program[id];
      bool isStructure =
          node.kind == Node::Kind::Loop || node.kind == Node::Kind::Branch;
      run.push_back({id, isStructure, iterations, tripsOf});
      if (node.kind == Node::Kind::Branch)
        sequence(node.parts[choose(node.parts.size())]);
      if (node.kind == Node::Kind::Loop)
        loop(id);
    }
  }

  void loop(NodeId id) {
    const Node &node = program[id];
    static constexpr int64_t kTrips[] = {0, 1, 2, 4};
    int64_t trips;
    if (node.tripCount)
      trips = *node.tripCount;
    else if (node.runsAtLeastOnce)
      trips = 1 + choose(4);
    else
      trips = kTrips[choose(4)];
    for (int64_t i = 0;; ++i) {
      iterations.emplace_back(id, i, ++unique);
      if (!node.runsAtLeastOnce || i < trips)
        sequence(node.parts[0]);
      if (i == trips) {
        iterations.pop_back();
        tripsOf[id] = trips;
        return;
      }
      sequence(node.parts[1]);
      iterations.pop_back();
    }
  }

  const Program &program;
  std::vector<std::pair<unsigned, unsigned>> choices;
  size_t position = 0;
  Run run;
  std::vector<std::tuple<NodeId, int64_t, int64_t>> iterations;
  std::map<NodeId, int64_t> tripsOf;
  int64_t unique = 0;
};

//===----------------------------------------------------------------------===//
// Hazards of a run
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(const Sample &sample, Spaces required)
      : program(sample.program), required(required) {}

  /// Two nodes with a hazard that no barrier orders.
  std::optional<std::pair<NodeId, NodeId>>
  check(const Run &run, const Barriers &barriers, bool isStrict = false) {
    struct Open {
      const Access *access;
      const Event *event;
      Spaces spaces, crossed;
    };
    std::vector<Open> open;
    for (const Event &event : run) {
      const Node &node = program[event.node];
      Spaces orders = lookup(barriers.inserted, event.node), lost = 0;
      if (node.kind == Node::Kind::Barrier) {
        orders |= lookup(barriers.old, event.node);
        lost = node.orders & ~lookup(barriers.old, event.node);
      }
      for (Open &other : open) {
        other.spaces &= ~orders;
        other.crossed |= lost;
      }
      if (event.isStructure)
        continue;
      for (const Access &access : node.checked)
        for (const Open &other : open)
          if (conflict(*other.access, *other.event, access, event, isStrict) &
              other.spaces & hardness(*other.access, access, other.crossed))
            return std::pair(other.event->node, event.node);
      for (const Access &access : node.pending)
        open.push_back(
            {&access, &event, program.buffers[access.buffer].spaces, 0});
    }
    return std::nullopt;
  }

private:
  static Spaces lookup(const std::map<NodeId, Spaces> &map, NodeId id) {
    auto it = map.find(id);
    return it == map.end() ? kNoSpaces : it->second;
  }

  bool isUnknown(const Access &access) const {
    return program.buffers[access.buffer].isEverything;
  }

  Spaces hardness(const Access &a, const Access &b, Spaces crossed) const {
    return (isUnknown(a) || isUnknown(b) ? kNoSpaces : required) | crossed;
  }

  std::optional<int64_t> slotOf(const Access &access,
                                const Event &event) const {
    if (access.slot.kind == Slot::Kind::Any)
      return std::nullopt;
    if (access.slot.kind == Slot::Kind::Fixed)
      return access.slot.index;
    if (access.slot.kind == Slot::Kind::AfterLoop)
      return (event.trips.at(access.slot.loop) + access.slot.index) %
             program.buffers[access.buffer].slots;
    for (auto [loop, number, unique] : event.iterations)
      if (loop == access.slot.loop)
        return (number + access.slot.index) %
               program.buffers[access.buffer].slots;
    return std::nullopt;
  }

  unsigned slotGroupOf(const Access &access) const {
    return program.buffers[access.buffer].slotGroup.value_or(access.buffer);
  }

  /// Whether the addresses of two footprints can be compared: not if both
  /// change with a loop's iterations and the iterations differ. The solver may
  /// also be conservative if only one of them changes.
  bool sameIterations(const Access &access, const Access &other, const Event &a,
                      const Event &b, bool isStrict) const {
    for (auto &iteration : a.iterations)
      if (program.changesIn(access.footprint, std::get<0>(iteration)) &&
          (isStrict ||
           (program.changesIn(other.footprint, std::get<0>(iteration)) &&
            llvm::any_of(b.iterations,
                         [&](const auto &around) {
                           return std::get<0>(around) == std::get<0>(iteration);
                         }))) &&
          std::find(b.iterations.begin(), b.iterations.end(), iteration) ==
              b.iterations.end())
        return false;
    return true;
  }

  Spaces conflict(const Access &a, const Event &atA, const Access &b,
                  const Event &atB, bool isStrict) const {
    if (a.kind == b.kind && a.kind != AccessKind::Write)
      return kNoSpaces;
    Spaces spaces =
        program.buffers[a.buffer].spaces & program.buffers[b.buffer].spaces;
    if (isUnknown(a) || isUnknown(b))
      return spaces;
    if (a.buffer != b.buffer && !program.overlap(a.buffer, b.buffer))
      return kNoSpaces;
    auto slotA = slotOf(a, atA), slotB = slotOf(b, atB);
    if (slotGroupOf(a) == slotGroupOf(b) && slotA && slotB && *slotA != *slotB)
      return kNoSpaces;
    if (a.buffer != b.buffer)
      return spaces;
    if (a.footprint != kNoFootprint && b.footprint != kNoFootprint &&
        sameIterations(a, b, atA, atB, isStrict) &&
        sameIterations(b, a, atB, atA, isStrict) &&
        !program.footprintsMeet(a.footprint, b.footprint))
      return kNoSpaces;
    return spaces;
  }

  const Program &program;
  Spaces required;
};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void print(const Program &program, const std::vector<NodeId> &nodes,
           const Barriers &barriers, unsigned indent) {
  auto &os = llvm::errs();
  auto printAccess = [&](const Access &access) {
    static constexpr const char *kKinds[] = {"R", "W", "A"};
    os << " " << kKinds[int(access.kind)] << access.buffer;
    const Buffer &buffer = program.buffers[access.buffer];
    os << (buffer.isEverything ? "!" : buffer.spaces == kShared ? "s" : "g");
    if (access.slot.kind == Slot::Kind::Fixed)
      os << "[" << access.slot.index << "/" << buffer.slots << "]";
    if (access.slot.kind == Slot::Kind::AfterLoop)
      os << "[end of L" << access.slot.loop << "+" << access.slot.index << "/"
         << buffer.slots << "]";
    if (access.slot.kind == Slot::Kind::OfLoop)
      os << "[L" << access.slot.loop << "+" << access.slot.index << "/"
         << buffer.slots << "]";
    if (access.footprint != kNoFootprint)
      os << "f" << access.footprint;
  };
  for (NodeId id : nodes) {
    const Node &node = program[id];
    if (auto it = barriers.inserted.find(id); it != barriers.inserted.end())
      os.indent(indent) << "NEW BARRIER " << int(it->second) << "\n";
    os.indent(indent) << id << ": ";
    switch (node.kind) {
    case Node::Kind::Step:
      os << "check";
      for (const Access &access : node.checked)
        printAccess(access);
      os << " pend";
      for (const Access &access : node.pending)
        printAccess(access);
      os << "\n";
      break;
    case Node::Kind::Barrier: {
      auto it = barriers.old.find(id);
      os << "barrier " << int(node.orders) << (node.isFixed ? " fixed" : "");
      if (it == barriers.old.end())
        os << " REMOVED\n";
      else
        os << " now " << int(it->second) << "\n";
      break;
    }
    case Node::Kind::Loop:
      os << "loop" << (node.isUniform ? "" : " divergent")
         << (node.runsAtLeastOnce ? " once" : "");
      if (node.tripCount)
        os << " x" << *node.tripCount;
      os << "\n";
      print(program, node.parts[0], barriers, indent + 2);
      os.indent(indent) << "test\n";
      print(program, node.parts[1], barriers, indent + 2);
      break;
    case Node::Kind::Branch:
      os << "branch" << (node.isUniform ? "" : " divergent") << "\n";
      for (auto &part : node.parts) {
        print(program, part, barriers, indent + 2);
        os.indent(indent) << "|\n";
      }
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

struct Totals {
  unsigned programs = 0, runs = 0, barriers = 0, removed = 0, refused = 0,
           tooLarge = 0, notLeast = 0, tried = 0, notNeeded = 0, notThere = 0;
};

bool isSafe(Checker &checker, const std::vector<Run> &runs,
            const Barriers &barriers, bool isStrict = false) {
  for (const Run &run : runs)
    if (checker.check(run, barriers, isStrict))
      return false;
  return true;
}

std::vector<unsigned> cost(const Program &program, const Barriers &barriers) {
  std::vector<unsigned> count(4);
  for (auto &entry : barriers.inserted)
    ++count[3 - program.getDepth(entry.first)];
  for (auto &entry : barriers.old)
    ++count[3 - program.getDepth(entry.first)];
  return count;
}

/// Tries all sets of new barriers.
bool hasCheaper(const Sample &sample, Checker &checker,
                const std::vector<Run> &runs, const Barriers &placed) {
  const Program &program = sample.program;
  std::vector<NodeId> candidates;
  for (NodeId id = 1; id < program.size(); ++id)
    if (program.isUniform(id))
      candidates.push_back(id);
  for (unsigned bits = 0; bits < 1u << candidates.size(); ++bits) {
    Barriers trial;
    for (auto [i, candidate] : llvm::enumerate(candidates))
      if (bits >> i & 1)
        trial.inserted[candidate] = kAllSpaces;
    if (cost(program, trial) < cost(program, placed) &&
        isSafe(checker, runs, trial))
      return true;
  }
  return false;
}

bool test(unsigned seed, Totals &totals) {
  Sample sample;
  Generator(seed, sample).run();
  std::vector<Run> runs;
  if (!Runner(sample.program).collect(runs)) {
    ++totals.tooLarge;
    return true;
  }
  sample.options.findUnordered = true;
  Placement placement = placeBarriers(sample.program, sample.options);
  Barriers barriers;
  for (const Placement::Barrier &barrier : placement.inserted)
    barriers.inserted[barrier.node] = barrier.orders;
  for (const Placement::Barrier &barrier : placement.kept)
    barriers.old[barrier.node] = barrier.orders;

  auto fail = [&](const llvm::Twine &what) {
    for (const Hazard &hazard : placement.unordered)
      llvm::errs() << "cannot be ordered: " << hazard.first << " and "
                   << hazard.second << "\n";
    llvm::errs() << "seed " << seed << ": " << what << " (required "
                 << int(sample.options.required)
                 << (sample.options.weaken ? ", weaken" : "") << ")\n";
    print(sample.program, sample.program.getSteps(), barriers, 2);
    return false;
  };
  if (verbose)
    print(sample.program, sample.program.getSteps(), barriers, 2);
  ++totals.programs;
  totals.runs += runs.size();
  totals.barriers += barriers.inserted.size() + barriers.old.size();
  totals.removed += placement.removed.size();

  for (auto &entry : barriers.inserted)
    if (!sample.program.isUniform(entry.first))
      return fail("a barrier under divergent control flow");
  Checker checker(sample, sample.options.required);
  for (const Run &run : runs) {
    auto hazard = checker.check(run, barriers);
    if (!hazard)
      continue;
    bool isReported =
        llvm::any_of(placement.unordered, [&](const Hazard &known) {
          return known.second == hazard->second;
        });
    if (!isReported)
      return fail("not ordered: " + llvm::Twine(hazard->first) + " and " +
                  llvm::Twine(hazard->second));
    ++totals.refused;
    return true;
  }
  bool isRefused = llvm::any_of(placement.unordered, [&](const Hazard &known) {
    return known.spaces & sample.options.required;
  });
  totals.refused += isRefused;

  // Hazards that are not required must be reported if they remain, and no
  // others unless slots must be counted.
  Checker all(sample, kAllSpaces);
  llvm::SmallVector<NodeId> staying;
  for (const Run &run : runs)
    if (auto hazard = all.check(run, barriers)) {
      staying.push_back(hazard->second);
      if (llvm::none_of(placement.unordered, [&](const Hazard &known) {
            return known.second == hazard->second;
          }))
        return fail(
            "not reported and not ordered: " + llvm::Twine(hazard->first) +
            " and " + llvm::Twine(hazard->second));
    }
  if (staying.empty() && !placement.unordered.empty()) {
    if (!sample.hasSlots && isSafe(all, runs, barriers, /*isStrict=*/true))
      return fail("reported, and ordered");
    ++totals.notThere;
  }

  // Every barrier is needed, with all that it orders.
  auto isNeeded = [&](std::map<NodeId, Spaces> &map, NodeId id,
                      Spaces without) {
    Spaces saved = map[id];
    map[id] = saved & ~without;
    if (map[id] == kNoSpaces)
      map.erase(id);
    bool safe = isSafe(checker, runs, barriers, /*isStrict=*/true);
    map[id] = saved;
    return !safe;
  };
  for (auto *map : {&barriers.inserted, &barriers.old})
    for (auto [id, spaces] : std::map<NodeId, Spaces>(*map)) {
      if (sample.program[id].isFixed)
        continue;
      bool needed = isNeeded(*map, id, spaces) &&
                    (!sample.options.weaken || spaces != kAllSpaces ||
                     isNeeded(*map, id, kGlobal));
      if (needed)
        continue;
      if (!sample.hasSlots)
        return fail("unnecessary barrier at " + llvm::Twine(id));
      ++totals.notNeeded;
      if (verbose)
        fail("UNNECESSARY: barrier at " + llvm::Twine(id));
    }

  if (!sample.hasOld && sample.options.required &&
      sample.program.size() <= 10 && !isRefused) {
    ++totals.tried;
    if (hasCheaper(sample, checker, runs, barriers)) {
      ++totals.notLeast;
      if (verbose)
        fail("NOT MINIMUM");
    }
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (!parseArguments(llvm::ArrayRef(argv, argc).drop_front())) {
    llvm::errs()
        << "usage: smalti-sync-fuzz [--seed=N] [--count=N] [--print]\n";
    return 2;
  }
  Totals totals;
  for (unsigned i = 0; i < count; ++i)
    if (!test(firstSeed + i, totals))
      return 1;
  llvm::outs() << totals.programs << " programs in " << totals.runs
               << " runs: " << totals.barriers << " barriers, "
               << totals.removed << " removed, " << totals.refused
               << " with a hazard that no barrier can order, "
               << totals.tooLarge << " too large to run; " << totals.notNeeded
               << " unnecessary barriers; " << totals.notThere
               << " programs with false reports; " << totals.notLeast << " of "
               << totals.tried << " have a placement with fewer barriers\n";
  // If slots depend on several loops, the solver does not track each number. On
  // a ring of hazards, the position of the first barrier may be suboptimal.
  // Both are rare.
  return totals.notNeeded * 100 > totals.barriers ||
         totals.notThere * 100 > totals.programs ||
         totals.notLeast * 20 > totals.tried;
}
