#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "passes/collectives.h"
#include "runtime/planning/backend.h"
#include "runtime/planning/program.h"

namespace ort_train::runtime::planning {

/// Chooses kernels and formats node by node: a kernel sees the formats that its inputs lie in, and what it wants
/// otherwise is reordered once.
template <Backend Device>
class Selector {
  using Format = typename Device::Format;
  using Context = typename Device::Context;
  using State = typename Device::State;
  using Array = planning::Array<Format>;
  using Instruction = planning::Instruction<Format>;

 public:
  Selector(const graph::Graph& graph, const State& state, const Context& context, bool plain_only)
      : graph_(graph), state_(state), context_(context), plain_only_(plain_only) {}

  Program<Format> select() {
    check_nodes();
    for (const graph::Value* input : graph_.inputs()) add_input(input);
    for (const graph::Value* value : graph_.initializers()) add_initializer(value);
    for (const auto& node : graph_.nodes()) add_node(*node);
    decide_remaining_states();
    add_outputs();
    add_updates();
    return std::move(program_);
  }

 private:
  // The arrays that hold one value; the first is the one its producer wrote.
  using Copies = std::vector<int>;

  void check_nodes() const {
    std::string complaints;
    for (const auto& node : graph_.nodes()) {
      for (const auto* values : {&node->inputs(), &node->outputs()}) {
        for (const graph::Value* value : *values) {
          if (value == nullptr || value->type().is_static()) continue;
          complaints += text("\n  ", describe(*node), ": the extents of '", value->name(), "' are not known (",
                             graph::to_string(value->type()), ")");
        }
      }
      if (!Device::has_kernel(*node))
        complaints += text("\n  ", describe(*node), ": no ", Device::device_name, " kernel");
      if (passes::is_collective(*node) && !Device::connects_replicas(context_)) {
        complaints += text("\n  ", describe(*node), ": it needs all replicas, and no collective connects them");
      }
    }
    if (!complaints.empty()) fail("the graph cannot run on the ", Device::device_name, ":", complaints);
  }

  int add_array(const graph::Value* value, typename Array::Source source, const Format& format) {
    program_.arrays.push_back({source, value->name(), format, -1, 0, nullptr});
    const int index = static_cast<int>(program_.arrays.size()) - 1;
    copies_[value].push_back(index);
    return index;
  }

  void add_input(const graph::Value* input) {
    program_.inputs[input->name()] =
        add_array(input, Array::Source::input, Format::plain(input->dtype(), input->dims()));
  }

  void add_initializer(const graph::Value* value) {
    const Format plain = Format::plain(value->initial());
    if (value->is_constant()) {
      add_constant(value, plain);
    } else if (state_.contains(value->name())) {
      const Format& format = state_.format(value->name());
      if (format.dtype() != plain.dtype() || format.dims() != plain.dims()) {
        fail("the state '", value->name(), "' exists already as ", name_of(format.dtype()),
             ort_train::to_string(format.dims()), ", but this graph has ", name_of(plain.dtype()),
             ort_train::to_string(plain.dims()));
      }
      add_array(value, Array::Source::state, format);
    } else {
      undecided_.push_back(value);
    }
  }

  int add_constant(const graph::Value* value, const Format& format) {
    const int index = add_array(value, Array::Source::constant, format);
    Array& array = program_.arrays.back();
    array.constant = Device::allocate(context_, format.bytes());
    Device::write(context_, value->initial(), format, array.constant.get());
    return index;
  }

  bool is_undecided(const graph::Value* value) const {
    return std::find(undecided_.begin(), undecided_.end(), value) != undecided_.end();
  }

  void decide(const graph::Value* value, const Format& format) {
    undecided_.erase(std::find(undecided_.begin(), undecided_.end(), value));
    program_.new_states.push_back({value, format});
    add_array(value, Array::Source::state, format);
  }

  // State that only an update writes, or nobody touches.
  void decide_remaining_states() {
    const std::vector<const graph::Value*> rest = undecided_;
    for (const graph::Value* value : rest) decide(value, Format::plain(value->initial()));
  }

  void add_node(const graph::Node& node) {
    planning::Request<Format, Context> request{node, context_, {}, {}};
    for (const graph::Value* input : node.inputs()) {
      request.undecided.push_back(input != nullptr && is_undecided(input));
      request.inputs.push_back(input == nullptr           ? Format()
                               : request.undecided.back() ? Format::plain(input->initial())
                                                          : home(input));
    }
    Instruction instruction{node.name(), node.op_type(), describe(node), Device::make_kernel(request, plain_only_), {},
                            {}};
    const Kernel<Format>& kernel = *instruction.kernel;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const graph::Value* input = node.inputs()[i];
      if (input != nullptr && is_undecided(input)) decide(input, kernel.inputs[i]);
      instruction.inputs.push_back(input == nullptr ? -1 : array_of(input, kernel.inputs[i]));
    }
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const graph::Value* output = node.outputs()[i];
      instruction.outputs.push_back(
          output == nullptr ? -1 : add_array(output, Array::Source::instruction, kernel.outputs[i]));
    }
    add_own_memory(instruction);
    add_views(instruction);
    program_.instructions.push_back(std::move(instruction));
  }

  void add_own_memory(Instruction& instruction) {
    const std::vector<Format>& outputs = instruction.kernel->outputs;
    while (instruction.outputs.size() < outputs.size()) {
      const Format& format = outputs[instruction.outputs.size()];
      program_.arrays.push_back({Array::Source::instruction, instruction.node, format, -1, 0, nullptr});
      instruction.outputs.push_back(static_cast<int>(program_.arrays.size()) - 1);
    }
  }

  void add_views(const Instruction& instruction) {
    const auto output = [&](int index) { return instruction.outputs[static_cast<std::size_t>(index)]; };
    for (const Sharing& view : instruction.kernel->views) {
      program_.array(output(view.output)).view_of = instruction.inputs[static_cast<std::size_t>(view.input)];
    }
    for (const Slot& slot : instruction.kernel->output_slots) {
      if (output(slot.index) < 0) continue;
      Array& array = program_.array(output(slot.index));
      array.view_of = output(slot.bucket);
      array.view_offset = slot.offset;
    }
  }

  const Format& home(const graph::Value* value) const { return program_.array(copies_.at(value).front()).format; }

  // The array of `value` in `format`, reordered here if there is none yet.
  int array_of(const graph::Value* value, const Format& format) {
    const Copies& copies = copies_.at(value);
    for (const int index : copies) {
      if (program_.array(index).format == format) return index;
    }
    if (value->is_constant()) return add_constant(value, format);
    int source = copies.front();
    if (!Device::can_reorder(home(value), format))
      source = array_of(value, Format::plain(format.dtype(), format.dims()));
    const int target = add_array(value, Array::Source::instruction, format);
    add_conversion("Reorder", source, target);
    return target;
  }

  void add_conversion(const std::string& op_type, int source, int target) {
    const Array& from = program_.array(source);
    const Array& to = program_.array(target);
    program_.add_conversion(op_type, from.name, Device::make_reorder(context_, from.format, to.format), source, target);
  }

  bool shows_state(int index) const { return program_.array(program_.shown_by(index)).source == Array::Source::state; }

  // State may be overwritten before it is asked for; what must stay as it was is copied.
  int protected_array(int index) {
    if (!shows_state(index)) return index;
    Array copy = program_.array(index);
    copy.source = Array::Source::instruction;
    copy.view_of = -1;
    copy.view_offset = 0;
    program_.arrays.push_back(copy);
    const int target = static_cast<int>(program_.arrays.size()) - 1;
    add_conversion("Copy", index, target);
    return target;
  }

  void add_outputs() {
    for (const graph::Value* output : graph_.outputs()) {
      program_.outputs[output->name()] = protected_array(copies_.at(output).front());
    }
  }

  void add_updates() {
    for (const graph::Update& update : graph_.updates()) {
      const int state = copies_.at(update.state).front();
      const Format& format = program_.array(state).format;
      program_.updates.push_back({state, protected_array(array_of(update.next, Format(format)))});
    }
  }

  const graph::Graph& graph_;
  const State& state_;
  const Context& context_;
  bool plain_only_;
  Program<Format> program_;
  std::unordered_map<const graph::Value*, Copies> copies_;
  std::vector<const graph::Value*> undecided_;
};

/// Throws an Error that names every node without a kernel. `graph` must outlive the program.
template <Backend Device>
Program<typename Device::Format> select_kernels(const graph::Graph& graph, const typename Device::State& state,
                                                const typename Device::Context& context, bool plain_only) {
  return Selector<Device>(graph, state, context, plain_only).select();
}

}  // namespace ort_train::runtime::planning
