#include "runtime/cpu/executable.h"

#include <omp.h>

#include <chrono>
#include <cstring>

#include "runtime/cpu/reorder.h"

namespace ort_train::runtime::cpu {

namespace {

std::string names_of(const std::map<std::string, int>& arrays) {
  std::string names;
  for (const auto& [name, index] : arrays) names += (names.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "none" : names;
}

bool is_view_only(const Instruction& instruction) {
  std::size_t present = 0;
  for (const int output : instruction.outputs) present += output >= 0;
  return !instruction.kernel->views.empty() && instruction.kernel->views.size() == present;
}

}  // namespace

CpuExecutable::CpuExecutable(const graph::Graph& graph, std::shared_ptr<CpuState> state, const Context& context,
                             const CompileOptions& options)
    : graph_(graph.clone()), state_(std::move(state)), context_(context), options_(options) {
  context_.winograd = options_.winograd;
  omp_set_num_threads(context_.threads);
  program_ = select_kernels(*graph_, *state_, context_, options_.plain_kernels);
  add_new_states();
  placement_ = place(program_, *state_, context_, report_);
  bind();
  fill_report();
}

void CpuExecutable::add_new_states() {
  for (const NewState& added : program_.new_states) {
    state_->add(added.value->name(), added.value->role(), added.format, added.value->initial());
  }
}

void CpuExecutable::bind() {
  const auto address = [&](int array) {
    return array < 0 ? nullptr : placement_.addresses[static_cast<std::size_t>(array)];
  };
  for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
    Instruction& instruction = program_.instructions[i];
    if (is_view_only(instruction)) continue;
    Pointers pointers;
    for (const int input : instruction.inputs) pointers.inputs.push_back(address(input));
    for (const int output : instruction.outputs) pointers.outputs.push_back(address(output));
    pointers.scratchpad = placement_.scratchpad.get();
    instruction.kernel->bind(pointers);
    steps_.push_back(i);
  }
  milliseconds_.assign(steps_.size(), 0.0);
}

void CpuExecutable::fill_report() {
  report_.instructions = steps_.size();
  for (const std::size_t step : steps_) report_.reorders += program_.instructions[step].op_type == "Reorder";
}

void CpuExecutable::set_input(const std::string& name, const Tensor& elements) {
  const auto found = program_.inputs.find(name);
  if (found == program_.inputs.end()) {
    fail("the graph has no input '", name, "'; its inputs are ", names_of(program_.inputs));
  }
  const auto index = static_cast<std::size_t>(found->second);
  const Format& format = program_.arrays[index].format;
  if (elements.dtype() != format.dtype() || elements.dims() != format.dims()) {
    fail("the input '", name, "' is ", name_of(format.dtype()), ort_train::to_string(format.dims()),
         " and cannot take ", name_of(elements.dtype()), ort_train::to_string(elements.dims()));
  }
  std::memcpy(placement_.addresses[index], elements.raw(), elements.bytes());
}

void CpuExecutable::run() {
  // The number of threads belongs to the calling thread, which need not be the one that compiled.
  omp_set_num_threads(context_.threads);
  ++runs_;
  if (!options_.profile) {
    for (std::size_t step = 0; step < steps_.size(); ++step) run_step(step);
    return;
  }
  using Clock = std::chrono::steady_clock;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const Clock::time_point start = Clock::now();
    run_step(step);
    milliseconds_[step] += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
}

void CpuExecutable::run_step(std::size_t step) {
  try {
    program_.instructions[steps_[step]].kernel->run();
  } catch (const std::exception& error) {
    fail_at(steps_[step], error.what());
  }
}

void CpuExecutable::fail_at(std::size_t index, const std::string& reason) const {
  const Instruction& instruction = program_.instructions[index];
  fail(instruction.op_type, " '", instruction.node, "': ", reason);
}

Tensor CpuExecutable::output(const std::string& name) const {
  const auto found = program_.outputs.find(name);
  if (found == program_.outputs.end()) {
    fail("the graph has no output '", name, "'; its outputs are ", names_of(program_.outputs));
  }
  const auto index = static_cast<std::size_t>(found->second);
  const Format& format = program_.arrays[index].format;
  Tensor elements(format.dtype(), format.dims());
  convert(format, placement_.addresses[index], Format::plain(elements), elements.raw());
  return elements;
}

std::vector<ProfileEntry> CpuExecutable::profile() const {
  std::vector<ProfileEntry> entries;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const Instruction& instruction = program_.instructions[steps_[step]];
    entries.push_back({instruction.node, instruction.op_type, instruction.kernel->name, milliseconds_[step], runs_});
  }
  return entries;
}

}  // namespace ort_train::runtime::cpu
