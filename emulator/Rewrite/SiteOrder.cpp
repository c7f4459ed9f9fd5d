//===- SiteOrder.cpp - Blocks in an order for lanes that diverge ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Rewrite/Steps.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

#include <map>

using namespace llvm;

namespace smalti::emulator {

namespace {
/// A topological order of the blocks without the edges that close loops, where
/// the blocks of a loop follow one another. Loops with more than one entry are
/// entered at the block that comes first.
class BlockOrder {
public:
  explicit BlockOrder(Function &function)
      : dominators(function), loops(dominators) {
    unsigned next = 0;
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
      rank[block] = next++;
    SmallVector<BasicBlock *> all;
    for (auto &entry : rank)
      all.push_back(entry.first);
    sort(all, [&](BasicBlock *a, BasicBlock *b) { return rank[a] < rank[b]; });
    place(nullptr, all);
    // Unreachable blocks also have a position.
    for (BasicBlock &block : function)
      if (!rank.count(&block))
        order.push_back(&block);
  }

  SmallVector<BasicBlock *> order;

private:
  /// The loop directly inside `parent` that holds `block`, or null.
  Loop *childLoop(Loop *parent, BasicBlock *block) const {
    Loop *loop = loops.getLoopFor(block);
    while (loop && loop->getParentLoop() != parent)
      loop = loop->getParentLoop();
    return loop;
  }

  /// Places the blocks of `parent`, each loop inside it as one node.
  void place(Loop *parent, ArrayRef<BasicBlock *> blocks) {
    auto nodeOf = [&](BasicBlock *block) {
      Loop *child = childLoop(parent, block);
      return rank.lookup(child ? child->getHeader() : block);
    };
    // Nodes by rank: the header's for a loop.
    std::map<unsigned, SmallVector<BasicBlock *>> members;
    for (BasicBlock *block : blocks)
      members[nodeOf(block)].push_back(block);
    std::map<unsigned, SetVector<unsigned>> successors;
    std::map<unsigned, unsigned> waiting;
    for (auto &[node, inside] : members)
      for (BasicBlock *block : inside)
        for (BasicBlock *next : llvm::successors(block)) {
          if ((parent && next == parent->getHeader()) ||
              (parent && !parent->contains(next)))
            continue;
          unsigned to = nodeOf(next);
          if (to != node && successors[node].insert(to))
            ++waiting[to];
        }
    while (!members.empty()) {
      auto next = find_if(members, [&](const auto &entry) {
        return waiting[entry.first] == 0;
      });
      // Only loops with several entries leave none.
      if (next == members.end())
        next = members.begin();
      unsigned node = next->first;
      SmallVector<BasicBlock *> inside = std::move(next->second);
      members.erase(next);
      for (unsigned to : successors[node])
        if (waiting[to] > 0)
          --waiting[to];
      if (Loop *child = childLoop(parent, inside.front()))
        place(child, inside);
      else
        order.append(inside.begin(), inside.end());
    }
  }

  DominatorTree dominators;
  LoopInfo loops;
  DenseMap<BasicBlock *, unsigned> rank;
};
} // namespace

SmallVector<BasicBlock *> orderBlocks(Function &function) {
  return BlockOrder(function).order;
}

} // namespace smalti::emulator
