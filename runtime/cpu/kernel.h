#pragma once

#include <cstddef>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "runtime/cpu/format.h"

namespace ort_train::runtime {
class Collective;
}

namespace ort_train::runtime::cpu {

/// What all kernels of one device share.
struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  int threads = 1;
  /// Channels in a block of the layout that convolutions like best on this processor: 16 or 8, 0 for row-major. Only
  /// kernels whose inputs leave them the choice need it.
  std::int64_t channel_block = 0;
  /// Winograd's algorithm for 3x3 convolutions (see kernels/winograd.h).
  bool winograd = false;
  /// Of the replica that the graph is one of, null for a graph on its own.
  Collective* collective = nullptr;
};

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
/// made; `run` only computes.
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
  std::size_t scratchpad_bytes = 0;

  virtual void bind(const Pointers& pointers) = 0;
  virtual void run() = 0;
};

/// What a factory is asked for: a node, and the formats in which its inputs lie already. Another format than that costs
/// a reorder.
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
  Format plain_input(std::size_t index) const;
  Format plain_output(std::size_t index) const;
  std::vector<Format> plain_inputs() const;
  std::vector<Format> plain_outputs() const;
  /// Every input and output that is there has this type.
  bool all_of_type(DataType dtype) const;
};

/// Null when the factory has no kernel for this node; the plain one of kernels/ then takes its place.
using Factory = std::unique_ptr<Kernel> (*)(const Request&);

/// Declares a factory at namespace scope, for an operator of the default domain or of graph::training_domain.
class FactoryRegistration {
 public:
  FactoryRegistration(const std::string& op_type, Factory factory, std::string_view domain = "");
};
class TrainingFactoryRegistration {
 public:
  TrainingFactoryRegistration(const std::string& op_type, Factory factory)
      : registration_(op_type, factory, graph::training_domain) {}

 private:
  FactoryRegistration registration_;
};

/// Every operator that runs on the CPU has a plain kernel; factories only add faster ones.
bool has_kernel(const graph::Node& node);

/// The best kernel for a node that has one: its factory's, or the plain one. `plain_only` skips the factories.
std::unique_ptr<Kernel> make_kernel(const Request& request, bool plain_only);

}  // namespace ort_train::runtime::cpu
