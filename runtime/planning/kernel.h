#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

// What the devices have in common: how a graph becomes a list of instructions over planned memory. A device brings a
// Format (how the elements of one array lie in memory) and kernels; see runtime/planning/backend.h.
namespace ort_train::runtime::planning {

/// Where the arrays of one instruction lie; null where an input or output is left out.
struct Pointers {
  std::vector<std::byte*> inputs, outputs;
  std::byte* scratchpad = nullptr;

  template <typename T>
  const T* input(std::size_t index) const {
    return index < inputs.size() ? reinterpret_cast<const T*>(inputs[index]) : nullptr;
  }
  template <typename T>
  T* output(std::size_t index) const {
    return index < outputs.size() ? reinterpret_cast<T*>(outputs[index]) : nullptr;
  }
};

/// Output number `output` may lie where input number `input` lies.
struct Sharing {
  int output = 0, input = 0;
};

/// Input or output number `index` has its place in output number `bucket`, at byte `offset` of it.
struct Slot {
  int index = 0, bucket = 0;
  std::size_t offset = 0;
};

/// One instruction. A factory decides everything that depends on shapes; `bind` is called once, when the memory plan is
/// made; `run` only computes, or puts the computation on the stream of the device.
template <typename Format>
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// For profiles: "onednn jit:avx512_core", "own blocked", "plain".
  std::string name;
  /// The formats it reads and writes, one for each input and output of the node. Outputs beyond those of the node are
  /// memory that the kernel needs for itself.
  std::vector<Format> inputs, outputs;
  /// Outputs that may overwrite an input.
  std::vector<Sharing> in_place;
  /// Outputs that are the input under other extents. A kernel whose outputs are all views is never run.
  std::vector<Sharing> views;
  /// Inputs that are best produced in a place inside an output; the kernel sees by the address whether one was.
  std::vector<Slot> input_slots;
  /// Outputs that lie inside another output.
  std::vector<Slot> output_slots;
  /// Outputs that are not done when `run` returns, but after the instruction of `make_wait`; until then the memory
  /// belongs to the kernel.
  std::vector<int> awaited;
  std::size_t scratchpad_bytes = 0;

  virtual void bind(const Pointers& pointers) = 0;
  virtual void run() = 0;
  /// For kernels with awaited outputs.
  virtual std::unique_ptr<Kernel> make_wait() { return nullptr; }
};

/// What a factory is asked for: a node, and the formats in which its inputs lie already. Another format than that costs
/// a reorder.
template <typename Format, typename Context>
struct Request {
  const graph::Node& node;
  const Context& context;
  std::vector<Format> inputs;
  /// State that no kernel has read yet: the format that this kernel asks for becomes the one it lives in.
  std::vector<bool> undecided;

  /// Undefined where it is left out.
  Format input(std::size_t index) const { return index < inputs.size() ? inputs[index] : Format(); }
  bool has_input(std::size_t index) const { return input(index).defined(); }
  bool has_output(std::size_t index) const { return node.output(static_cast<int>(index)) != nullptr; }
  /// Row-major, from the types of the graph.
  Format plain_input(std::size_t index) const { return plain(node.input(static_cast<int>(index))); }
  Format plain_output(std::size_t index) const { return plain(node.output(static_cast<int>(index))); }
  std::vector<Format> plain_inputs() const { return plain(node.inputs()); }
  std::vector<Format> plain_outputs() const { return plain(node.outputs()); }

  /// Every input and output that is there has this type.
  bool all_of_type(DataType dtype) const {
    for (const auto* values : {&node.inputs(), &node.outputs()}) {
      for (const graph::Value* value : *values) {
        if (value != nullptr && value->dtype() != dtype) return false;
      }
    }
    return true;
  }

 private:
  static Format plain(const graph::Value* value) {
    return value == nullptr ? Format() : Format::plain(value->dtype(), value->dims());
  }
  static std::vector<Format> plain(const std::vector<graph::Value*>& values) {
    std::vector<Format> formats;
    formats.reserve(values.size());
    for (const graph::Value* value : values) formats.push_back(plain(value));
    return formats;
  }
};

}  // namespace ort_train::runtime::planning
