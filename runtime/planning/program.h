#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/planning/kernel.h"

namespace ort_train::runtime::planning {

/// One value of the graph in one format.
template <typename Format>
struct Array {
  enum class Source { instruction, input, state, constant };

  Source source = Source::instruction;
  std::string name;  ///< of the graph value
  Format format;
  int view_of = -1;                     ///< the array whose memory it shows, -1: none
  std::size_t view_offset = 0;          ///< where in that memory, in bytes
  std::shared_ptr<std::byte> constant;  ///< memory of the device
};

template <typename Format>
struct Instruction {
  /// For profiles; `op_type` "Reorder", "Copy" and "... (wait)" are the compiler's own.
  std::string node, op_type;
  std::string description;  ///< how messages name it
  std::unique_ptr<Kernel<Format>> kernel;
  std::vector<int> inputs, outputs;  ///< arrays, -1 where left out

  /// Nothing is left to be done in a step.
  bool is_view_only() const {
    std::size_t present = 0;
    for (const int output : outputs) present += output >= 0;
    return !kernel->views.empty() && kernel->views.size() == present;
  }
};

/// At the end of a step the array `state` has the elements of the array `next`.
struct ArrayUpdate {
  int state = -1, next = -1;
};

/// State that the graph brings along.
template <typename Format>
struct NewState {
  const graph::Value* value = nullptr;
  Format format;
};

/// A graph with a kernel for every node and a reorder wherever two kernels want another format; no memory yet.
template <typename Format>
struct Program {
  std::vector<Array<Format>> arrays;
  std::vector<Instruction<Format>> instructions;
  std::map<std::string, int> inputs, outputs;  ///< arrays by name
  std::vector<ArrayUpdate> updates;
  std::vector<NewState<Format>> new_states;

  Array<Format>& array(int index) { return arrays[static_cast<std::size_t>(index)]; }
  const Array<Format>& array(int index) const { return arrays[static_cast<std::size_t>(index)]; }

  /// An instruction of the compiler's own, about the value `name`.
  void add_conversion(const std::string& op_type, const std::string& name, std::unique_ptr<Kernel<Format>> kernel,
                      int source, int target) {
    instructions.push_back({name, op_type, text(op_type, " '", name, "'"), std::move(kernel), {source}, {target}});
  }

  /// The array whose memory it shows, itself where it is no view.
  int shown_by(int index) const {
    while (array(index).view_of >= 0) index = array(index).view_of;
    return index;
  }
};

}  // namespace ort_train::runtime::planning
