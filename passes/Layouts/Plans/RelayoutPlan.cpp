//===- RelayoutPlan.cpp - Steps of a relayout -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread assembles the words of its result from bytes of its own words
// and of words of other lanes of its warp. The lanes exchange words in rounds
// of one shuffle: in each round, a lane sends one word and reads the word of
// one lane.
//
//===----------------------------------------------------------------------===//

#include "smalti/passes/Layouts/Plans/RelayoutPlan.h"

#include "smalti/targets/Target.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace smalti;
using namespace smalti::relayouts;
using layout::RegisterLayout;
using layout::ValueOr;
using llvm::ArrayRef;
using llvm::SmallVector;
using targets::Target;

llvm::StringRef relayouts::toString(Step::Kind kind) {
  switch (kind) {
  case Step::Kind::Select:
    return "select";
  case Step::Kind::Permute:
    return "permute";
  case Step::Kind::Shuffle:
    return "shuffle";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Source words of the result
//===----------------------------------------------------------------------===//

namespace {

/// A piece of a word of the result: bytes of a word of a lane of the same warp.
struct Source {
  int64_t lane = 0;
  int64_t word = 0;
  /// Offset in the word, in atoms.
  int64_t part = 0;
};

/// The pieces of a word, in order.
using Word = SmallVector<Source, 4>;

/// The source pieces of all result words: [warp][lane][word].
struct Needs {
  /// Bytes that are not split: an element, or elements that share a byte.
  int64_t atomBytes = 4;
  int64_t atomsOfSource = 1, atomsOfResult = 1;
  int64_t wordsOfSource = 1, wordsOfResult = 1;
  std::vector<std::vector<std::vector<Word>>> words;

  int64_t atomsOfWord() const { return 4 / atomBytes; }
};

/// Shuffle rounds of one warp. -1: no word or lane.
struct Rounds {
  /// [round][lane]: the word that a lane sends, and the lane from which it
  /// reads.
  std::vector<SmallVector<int64_t>> sent, read;
  /// The round in which a lane receives a word of another: [lane]{lane, word}.
  std::vector<std::map<std::pair<int64_t, int64_t>, int64_t>> received;

  explicit Rounds(int64_t lanes) : received(lanes) {}
  int64_t size() const { return sent.size(); }
  void add(int64_t lanes) {
    sent.emplace_back(lanes, -1);
    read.emplace_back(lanes, -1);
  }
  bool fits(int64_t round, int64_t to, int64_t from, int64_t word) const {
    int64_t other = sent[round][from];
    return read[round][to] < 0 && (other < 0 || other == word);
  }
  void take(int64_t round, int64_t to, int64_t from, int64_t word) {
    sent[round][from] = word;
    read[round][to] = from;
    received[to][{from, word}] = round;
  }
};

} // namespace

/// The needs of one pattern, or no value if elements share bytes differently in
/// the two layouts.
static std::optional<Needs> findNeeds(const Placement &from,
                                      const Placement &to, int64_t elements,
                                      int64_t warps, int64_t lanes,
                                      int64_t elementBits) {
  constexpr int64_t byteBits = 8;
  Needs needs;
  needs.atomBytes =
      std::clamp<int64_t>(elementBits, byteBits, kWordBits) / byteBits;
  int64_t atomBits = needs.atomBytes * byteBits;
  // Elements of an atom, or atoms of an element.
  int64_t together = std::max<int64_t>(atomBits / elementBits, 1);
  int64_t apart = std::max<int64_t>(elementBits / atomBits, 1);
  if (from.vectorLength % together != 0 || to.vectorLength % together != 0)
    return std::nullopt;
  needs.atomsOfSource = from.vectorLength * apart / together;
  needs.atomsOfResult = to.vectorLength * apart / together;
  needs.wordsOfSource =
      llvm::divideCeil(needs.atomsOfSource, needs.atomsOfWord());
  needs.wordsOfResult =
      llvm::divideCeil(needs.atomsOfResult, needs.atomsOfWord());

  // The class of threads that hold each element, and where.
  struct Holder {
    int64_t lane = 0, reg = 0, element = 0;
  };
  std::vector<Holder> holders(elements);
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      if (from.warpClass[warp] != warp || from.laneClass[lane] != lane)
        continue;
      for (int64_t reg = 0; reg < from.numRegisters; ++reg)
        for (int64_t element = 0; element < from.vectorLength; ++element)
          holders[from.elementAt(warp, lane, reg, element)] = {lane, reg,
                                                               element};
    }
  needs.words.assign(warps, {});
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<Word> &words = needs.words[warp].emplace_back();
      for (int64_t reg = 0; reg < to.numRegisters; ++reg)
        for (int64_t atom = 0; atom < needs.atomsOfResult; ++atom) {
          int64_t first = atom * together / apart;
          const Holder &holder = holders[to.elementAt(warp, lane, reg, first)];
          for (int64_t other = 1; other < together; ++other) {
            const Holder &next =
                holders[to.elementAt(warp, lane, reg, first + other)];
            if (next.lane != holder.lane || next.reg != holder.reg ||
                next.element != holder.element + other)
              return std::nullopt;
          }
          if (holder.element % together != 0)
            return std::nullopt;
          int64_t part = holder.element * apart / together + atom % apart;
          if (atom % needs.atomsOfWord() == 0)
            words.emplace_back();
          words.back().push_back(
              {from.nearestLane(lane, holder.lane),
               holder.reg * needs.wordsOfSource + part / needs.atomsOfWord(),
               part % needs.atomsOfWord()});
        }
    }
  return needs;
}

//===----------------------------------------------------------------------===//
// Shuffle rounds
//===----------------------------------------------------------------------===//

/// A word that a lane needs from another lane.
struct Demand {
  int64_t to, from, word;
};

/// In each round, lanes exchange words with the lanes whose numbers differ in
/// the same bits.
static Rounds exchangeInPairs(ArrayRef<Demand> demands, int64_t lanes) {
  Rounds rounds(lanes);
  for (int64_t bits = 1; bits < lanes; ++bits) {
    int64_t first = rounds.size();
    SmallVector<int64_t> count(lanes, 0);
    for (const Demand &demand : demands) {
      if ((demand.to ^ demand.from) != bits)
        continue;
      int64_t round = first + count[demand.to]++;
      if (round == rounds.size())
        rounds.add(lanes);
      rounds.take(round, demand.to, demand.from, demand.word);
    }
  }
  return rounds;
}

/// Assigns each demand to the first free round.
static Rounds exchangeFirstFit(ArrayRef<Demand> demands, int64_t lanes) {
  Rounds rounds(lanes);
  for (const Demand &demand : demands) {
    int64_t round = 0;
    while (round < rounds.size() &&
           !rounds.fits(round, demand.to, demand.from, demand.word))
      ++round;
    if (round == rounds.size())
      rounds.add(lanes);
    rounds.take(round, demand.to, demand.from, demand.word);
  }
  return rounds;
}

/// The optimal number of rounds, if each word goes to one lane: an edge
/// coloring of a bipartite graph. If no round is free at both ends of a demand,
/// the two rounds along an alternating path are swapped.
static Rounds exchangeByColoring(ArrayRef<Demand> demands, int64_t lanes) {
  SmallVector<int64_t> needs(lanes, 0), sends(lanes, 0);
  for (const Demand &demand : demands) {
    ++needs[demand.to];
    ++sends[demand.from];
  }
  int64_t count =
      std::max(*llvm::max_element(needs), *llvm::max_element(sends));
  // [round][lane]: the demand that the lane participates in.
  std::vector<SmallVector<int64_t>> atReader(count), atSender(count);
  for (int64_t round = 0; round < count; ++round) {
    atReader[round].assign(lanes, -1);
    atSender[round].assign(lanes, -1);
  }
  auto findFree = [&](const std::vector<SmallVector<int64_t>> &side,
                      int64_t lane) {
    int64_t round = 0;
    while (side[round][lane] >= 0)
      ++round;
    return round;
  };
  SmallVector<int64_t> roundOf(demands.size(), -1);
  for (auto [number, demand] : llvm::enumerate(demands)) {
    int64_t atTo = findFree(atReader, demand.to),
            atFrom = findFree(atSender, demand.from);
    if (atTo != atFrom) {
      // The path that begins at the reader with the round that is free at the
      // sender. It does not reach the sender.
      SmallVector<int64_t> path;
      int64_t wanted = atFrom;
      int64_t lane = demand.to;
      bool isReader = true;
      while (true) {
        int64_t next =
            isReader ? atReader[wanted][lane] : atSender[wanted][lane];
        if (next < 0)
          break;
        path.push_back(next);
        lane = isReader ? demands[next].from : demands[next].to;
        isReader = !isReader;
        wanted = wanted == atFrom ? atTo : atFrom;
      }
      for (int64_t edge : path) {
        atReader[roundOf[edge]][demands[edge].to] = -1;
        atSender[roundOf[edge]][demands[edge].from] = -1;
      }
      for (int64_t edge : path) {
        roundOf[edge] = roundOf[edge] == atFrom ? atTo : atFrom;
        atReader[roundOf[edge]][demands[edge].to] = edge;
        atSender[roundOf[edge]][demands[edge].from] = edge;
      }
    }
    roundOf[number] = atFrom;
    atReader[atFrom][demand.to] = number;
    atSender[atFrom][demand.from] = number;
  }
  Rounds rounds(lanes);
  for (int64_t round = 0; round < count; ++round)
    rounds.add(lanes);
  for (auto [number, demand] : llvm::enumerate(demands))
    rounds.take(roundOf[number], demand.to, demand.from, demand.word);
  return rounds;
}

/// The smallest number of rounds found for a warp.
static Rounds planRounds(ArrayRef<std::vector<Word>> needs) {
  int64_t lanes = needs.size();
  std::vector<Demand> demands;
  SmallVector<std::map<std::pair<int64_t, int64_t>, bool>> seen(lanes);
  std::map<std::pair<int64_t, int64_t>, bool> isSent;
  SmallVector<int64_t> sends(lanes, 0);
  for (auto [lane, words] : llvm::enumerate(needs))
    for (const Word &word : words)
      for (const Source &source : word) {
        if (source.lane == static_cast<int64_t>(lane))
          continue;
        std::pair<int64_t, int64_t> key = {source.lane, source.word};
        if (!seen[lane].try_emplace(key, true).second)
          continue;
        demands.push_back(
            {static_cast<int64_t>(lane), source.lane, source.word});
        sends[source.lane] += isSent.try_emplace(key, true).second;
      }
  int64_t least = *llvm::max_element(sends);
  for (const auto &words : seen)
    least = std::max<int64_t>(least, words.size());
  Rounds best = exchangeInPairs(demands, lanes);
  if (best.size() > least)
    if (Rounds other = exchangeFirstFit(demands, lanes);
        other.size() < best.size())
      best = std::move(other);
  if (best.size() > least)
    if (Rounds other = exchangeByColoring(demands, lanes);
        other.size() < best.size())
      best = std::move(other);
  return best;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {

/// Creates the steps of one pattern.
class StepBuilder {
public:
  StepBuilder(RelayoutPlan &plan, const Needs &needs, int64_t lanes)
      : plan(plan), needs(needs), lanes(lanes),
        threads(needs.words.size() * lanes), next(plan.numSourceWords()) {}

  void run();

private:
  /// The word of each thread; -1: any word.
  using Choice = SmallVector<int64_t>;

  int64_t addStep(Step::Kind kind, int64_t a, int64_t b, Choice table);
  int64_t choose(const Choice &choice);
  int64_t assemble(int64_t word);

  RelayoutPlan &plan;
  const Needs &needs;
  int64_t lanes, threads, next;
  std::map<Choice, int64_t> tables, chosen;
  /// The number of the word that each round produces.
  std::vector<int64_t> receivedWord;
  /// [round][thread]: the own word that the thread reads instead; -1: none.
  std::vector<SmallVector<int64_t>> keptWord;
  std::vector<Rounds> rounds;
};

} // namespace

int64_t StepBuilder::addStep(Step::Kind kind, int64_t a, int64_t b,
                             Choice table) {
  auto [entry, isNew] = tables.try_emplace(table, plan.tables.size());
  if (isNew)
    plan.tables.push_back(std::move(table));
  plan.steps.push_back({kind, a, b, entry->second});
  return next++;
}

int64_t StepBuilder::choose(const Choice &choice) {
  auto known = chosen.find(choice);
  if (known != chosen.end())
    return known->second;
  SmallVector<int64_t> words;
  for (int64_t word : choice)
    if (word >= 0 && !llvm::is_contained(words, word))
      words.push_back(word);
  int64_t result = words.empty() ? 0 : words.front();
  for (int64_t word : llvm::drop_begin(words)) {
    Choice table;
    for (int64_t wanted : choice)
      table.push_back(wanted == word);
    result = addStep(Step::Kind::Select, result, word, std::move(table));
  }
  chosen[choice] = result;
  return result;
}

int64_t StepBuilder::assemble(int64_t word) {
  // For each thread, the words of its pieces and the offsets in them.
  struct Piece {
    int64_t word, part;
  };
  std::vector<SmallVector<Piece, 4>> pieces(threads);
  SmallVector<int64_t> all;
  bool isWhole = true;
  for (int64_t thread = 0; thread < threads; ++thread) {
    int64_t warp = thread / lanes, lane = thread % lanes;
    for (const Source &source : needs.words[warp][lane][word]) {
      int64_t number = source.word;
      if (source.lane != lane)
        number = receivedWord[rounds[warp]
                                  .received[lane][{source.lane, source.word}]];
      isWhole &=
          source.part == static_cast<int64_t>(pieces[thread].size()) &&
          (pieces[thread].empty() || pieces[thread].front().word == number);
      pieces[thread].push_back({number, source.part});
      if (!llvm::is_contained(all, number))
        all.push_back(number);
    }
  }
  if (isWhole) {
    Choice choice;
    for (const auto &own : pieces)
      choice.push_back(own.front().word);
    // Threads that already have the word may use the received copy of it.
    for (auto [round, number] : llvm::enumerate(receivedWord))
      if (llvm::is_contained(all, number))
        for (auto [thread, word] : llvm::enumerate(choice))
          if (word == keptWord[round][thread])
            word = number;
    return choose(choice);
  }

  // For each thread, its words in the order of assembly. A word of many threads
  // has the same slot in all of them.
  llvm::sort(all);
  SmallVector<Choice> slots;
  for (int64_t thread = 0; thread < threads; ++thread) {
    SmallVector<int64_t, 4> own;
    for (const Piece &piece : pieces[thread])
      if (!llvm::is_contained(own, piece.word))
        own.push_back(piece.word);
    llvm::sort(own);
    for (auto [index, number] : llvm::enumerate(own)) {
      // If only two words exist, each has its own slot.
      int64_t position = all.size() <= 2 ? llvm::find(all, number) - all.begin()
                                         : static_cast<int64_t>(index);
      while (static_cast<int64_t>(slots.size()) <= position)
        slots.emplace_back(threads, int64_t(-1));
      slots[position][thread] = number;
    }
  }

  int64_t atomBytes = needs.atomBytes;
  int64_t result = choose(slots.front());
  for (size_t slot = 0; slot < std::max<size_t>(slots.size() - 1, 1); ++slot) {
    // The bytes of the word of this slot are inserted; others do not change.
    bool isFirst = slot == 0;
    int64_t second = slots.size() > 1 ? choose(slots[slot + 1]) : result;
    Choice table;
    for (int64_t thread = 0; thread < threads; ++thread) {
      int64_t selector = 0x3210;
      for (auto [index, piece] : llvm::enumerate(pieces[thread])) {
        int64_t first = -1;
        if (slots.size() > 1 && slots[slot + 1][thread] == piece.word)
          first = 4 + piece.part * atomBytes;
        else if (isFirst && slots.front()[thread] == piece.word)
          first = piece.part * atomBytes;
        if (first < 0)
          continue;
        for (int64_t byte = 0; byte < atomBytes; ++byte) {
          int64_t shift = 4 * (index * atomBytes + byte);
          selector &= ~(int64_t(0xf) << shift);
          selector |= (first + byte) << shift;
        }
      }
      table.push_back(selector);
    }
    result = addStep(Step::Kind::Permute, result, second, std::move(table));
  }
  return result;
}

void StepBuilder::run() {
  int64_t warps = needs.words.size(), most = 0;
  for (int64_t warp = 0; warp < warps; ++warp) {
    // Most warps have the same needs.
    auto isSame = [&](const std::vector<std::vector<Word>> &other) {
      return llvm::equal(other, needs.words[warp], [](auto &a, auto &b) {
        return llvm::equal(a, b, [](const Word &x, const Word &y) {
          return llvm::equal(x, y, [](const Source &s, const Source &t) {
            return s.lane == t.lane && s.word == t.word && s.part == t.part;
          });
        });
      });
    };
    if (warp > 0 && isSame(needs.words[warp - 1]))
      rounds.push_back(rounds.back());
    else
      rounds.push_back(planRounds(needs.words[warp]));
    most = std::max(most, rounds.back().size());
  }
  for (int64_t round = 0; round < most; ++round) {
    Choice sent, read;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        bool has = round < rounds[warp].size();
        int64_t from = has ? rounds[warp].read[round][lane] : -1;
        sent.push_back(has ? rounds[warp].sent[round][lane] : -1);
        read.push_back(from);
      }
    // Lanes that do not need a word keep the word that they send.
    for (auto [thread, from] : llvm::enumerate(read))
      if (from < 0)
        from = static_cast<int64_t>(thread) % lanes;
    int64_t word = choose(sent);
    int64_t any = *llvm::find_if(sent, [](int64_t word) { return word >= 0; });
    SmallVector<int64_t> &kept = keptWord.emplace_back(threads, int64_t(-1));
    for (int64_t thread = 0; thread < threads; ++thread)
      if (read[thread] == thread % lanes)
        kept[thread] = sent[thread] >= 0 ? sent[thread] : any;
    receivedWord.push_back(
        addStep(Step::Kind::Shuffle, word, word, std::move(read)));
  }
  for (size_t word = 0; word < needs.words.front().front().size(); ++word)
    plan.results.push_back(assemble(word));
}

/// For each repeat, the registers of the vector that correspond to registers 0,
/// 1, ... of a vector with the shape of the pattern. Thread 0 holds the same
/// elements in them, at the offset of the repeat.
static SmallVector<SmallVector<int64_t>>
registersOfRepeats(const RegisterLayout &layout, ArrayRef<int64_t> shape,
                   ArrayRef<int64_t> pattern, int64_t warps, int64_t lanes) {
  Placement whole(layout, shape, warps, lanes, kWordBits),
      part(layout, pattern, warps, lanes, kWordBits);
  // The number in the vector of an element of the pattern.
  auto renumber = [&](int64_t number) {
    int64_t result = 0, step = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      result += number % pattern[dim] * step;
      number /= pattern[dim];
      step *= shape[dim];
    }
    return result;
  };
  llvm::DenseMap<int64_t, int64_t> byElement;
  for (int64_t reg = 0; reg < whole.numRegisters; ++reg)
    byElement[whole.elementAt(0, 0, reg, 0)] = reg;
  SmallVector<int64_t> origins = {0};
  int64_t step = 1;
  SmallVector<int64_t> steps(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; step *= shape[dim])
    steps[dim] = step;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    SmallVector<int64_t> moved;
    for (int64_t origin : origins)
      for (int64_t index = 0; index < shape[dim]; index += pattern[dim])
        moved.push_back(origin + index * steps[dim]);
    origins = std::move(moved);
  }
  SmallVector<SmallVector<int64_t>> registers;
  for (int64_t origin : origins) {
    SmallVector<int64_t> &own = registers.emplace_back();
    for (int64_t reg = 0; reg < part.numRegisters; ++reg)
      own.push_back(
          byElement.lookup(origin + renumber(part.elementAt(0, 0, reg, 0))));
  }
  return registers;
}

ValueOr<RelayoutPlan> relayouts::planRelayoutSteps(const RegisterLayout &from,
                                                   const RegisterLayout &to,
                                                   ArrayRef<int64_t> shape,
                                                   int64_t elementBits,
                                                   const Target &target,
                                                   int64_t warps) {
  using Result = ValueOr<RelayoutPlan>;
  RelayoutPlan plan;
  plan.cost = planRelayout(from, to, shape, elementBits, target, warps);
  if (!plan.cost.isPossible())
    return Result::none(plan.cost.reason);
  if (plan.cost.means == Means::None ||
      std::holds_alternative<layout::SplatLayout>(from))
    return plan;

  int64_t lanes = target.waveSize;
  SmallVector<int64_t> pattern = patternShape(from, to, shape);
  plan.sourceRegisters = registersOfRepeats(from, shape, pattern, warps, lanes);
  plan.resultRegisters = registersOfRepeats(to, shape, pattern, warps, lanes);
  int64_t elements = 1;
  for (int64_t size : pattern)
    elements *= size;
  if (plan.cost.means == Means::SharedMemory) {
    plan.trip = planScratch(from, to, pattern, plan.numRepeats(), elementBits,
                            target, warps);
    return plan;
  }
  std::optional<Needs> needs =
      findNeeds(Placement(from, pattern, warps, lanes, elementBits),
                Placement(to, pattern, warps, lanes, elementBits), elements,
                warps, lanes, elementBits);
  if (!needs)
    return Result::none("elements of " + std::to_string(elementBits) +
                        " bits that share a byte in one layout do not share a "
                        "byte in the other; use layouts that keep these "
                        "elements together");
  plan.sourceWords = needs->wordsOfSource;
  plan.resultWords = needs->wordsOfResult;
  StepBuilder(plan, *needs, lanes).run();
  plan.cost.shuffles = plan.cost.moves = 0;
  for (const Step &step : plan.steps)
    (step.kind == Step::Kind::Shuffle ? plan.cost.shuffles : plan.cost.moves) +=
        plan.numRepeats();
  plan.cost.cycles = plan.cost.shuffles * kShuffleCycles + plan.cost.moves;
  return plan;
}
