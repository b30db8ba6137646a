#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/state.h"

namespace ort_train::runtime::cpu {

/// One value of the graph in one format.
struct Array {
  enum class Source { instruction, input, state, constant };

  Source source = Source::instruction;
  std::string name;  ///< of the graph value
  Format format;
  int view_of = -1;             ///< the array whose memory it shows, -1: none
  std::size_t view_offset = 0;  ///< where in that memory, in bytes
  std::shared_ptr<std::byte> constant;
};

struct Instruction {
  std::string node,
      op_type;  ///< for profiles and messages; `op_type` "Reorder", "Copy" and "... (wait)" are the compiler's own
  std::unique_ptr<Kernel> kernel;
  std::vector<int> inputs, outputs;  ///< arrays, -1 where left out

  /// Nothing is left to be done in a step.
  bool is_view_only() const;
};

/// At the end of a step the array `state` has the elements of the array `next`.
struct ArrayUpdate {
  int state = -1, next = -1;
};

/// State that the graph brings along.
struct NewState {
  const graph::Value* value = nullptr;
  Format format;
};

/// A graph with a kernel for every node and a reorder wherever two kernels want another format; no memory yet.
struct Program {
  std::vector<Array> arrays;
  std::vector<Instruction> instructions;
  std::map<std::string, int> inputs, outputs;  ///< arrays by name
  std::vector<ArrayUpdate> updates;
  std::vector<NewState> new_states;

  /// The array whose memory it shows, itself where it is no view.
  int shown_by(int array) const;
};

/// Chooses kernels and formats node by node: a kernel sees the formats that its inputs lie in, and what it wants
/// otherwise is reordered once. Throws an Error that names every node without a kernel. `graph` must outlive the
/// program.
Program select_kernels(const graph::Graph& graph, const CpuState& state, const Context& context, bool plain_only);

}  // namespace ort_train::runtime::cpu
