//===- SyncProgram.cpp - IR-independent input of barrier placement --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Synchronization/SyncProgram.h"

using namespace smalti::sync;

Program::Program() {
  nodes.emplace_back();
  nodes[kRoot].kind = Node::Kind::Branch;
  nodes[kRoot].parts.resize(1);
}

NodeId Program::addNode(Node::Kind kind, NodeId parent, unsigned part) {
  NodeId id = nodes.size();
  nodes.emplace_back();
  nodes[id].kind = kind;
  nodes[id].parent = parent;
  if (kind == Node::Kind::Loop)
    nodes[id].parts.resize(2);
  auto &parts = nodes[parent].parts;
  if (parts.size() <= part)
    parts.resize(part + 1);
  parts[part].push_back(id);
  return id;
}

bool Program::isUniform(NodeId id) const {
  while (id != kRoot) {
    id = nodes[id].parent;
    if (!nodes[id].isUniform)
      return false;
  }
  return true;
}

unsigned Program::getDepth(NodeId id) const {
  unsigned depth = 0;
  while (id != kRoot) {
    id = nodes[id].parent;
    depth += nodes[id].kind == Node::Kind::Loop;
  }
  return depth;
}
