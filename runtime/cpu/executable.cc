#include "runtime/cpu/executable.h"

#include <omp.h>

#include <chrono>
#include <cstring>

#include "runtime/cpu/backend.h"
#include "runtime/cpu/reorder.h"
#include "runtime/planning/arrays_by_name.h"
#include "runtime/planning/selection.h"
#include "runtime/planning/waits.h"

namespace ort_train::runtime::cpu {

CpuExecutable::CpuExecutable(const graph::Graph& graph, std::shared_ptr<CpuState> state, const Context& context,
                             const CompileOptions& options)
    : graph_(graph.clone()), state_(std::move(state)), context_(context), options_(options) {
  // A stream is for one thread at a time, and executables of one device may run on several.
  context_.stream = dnnl::stream(context_.engine);
  context_.winograd = options_.winograd;
  context_.collective = options_.collective;
  omp_set_num_threads(context_.threads);
  program_ = planning::select_kernels<Backend>(*graph_, *state_, context_, options_.plain_kernels);
  planning::insert_waits(program_);
  find_collectives();
  add_new_states();
  placement_ = planning::place<Backend>(program_, *state_, context_, report_);
  bind();
  fill_report();
}

void CpuExecutable::add_new_states() {
  for (const planning::NewState<Format>& added : program_.new_states) {
    state_->add(added.value->name(), added.value->role(), added.format, added.value->initial());
  }
}

void CpuExecutable::find_collectives() {
  std::size_t operands = 0;
  for (const Instruction& instruction : program_.instructions) {
    auto* kernel = dynamic_cast<CollectiveKernel*>(instruction.kernel.get());
    if (kernel == nullptr) continue;
    collectives_.push_back(kernel);
    operands += instruction.inputs.size();
  }
  report_.operands_copied = operands;
}

void CpuExecutable::bind() {
  for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
    Instruction& instruction = program_.instructions[i];
    if (instruction.is_view_only()) continue;
    Pointers pointers;
    for (const int input : instruction.inputs) pointers.inputs.push_back(placement_.address(input));
    for (const int output : instruction.outputs) pointers.outputs.push_back(placement_.address(output));
    pointers.scratchpad = placement_.scratchpad.get();
    instruction.kernel->bind(pointers);
    steps_.push_back(i);
  }
  milliseconds_.assign(steps_.size(), 0.0);
}

void CpuExecutable::fill_report() {
  report_.instructions = steps_.size();
  for (const std::size_t step : steps_) report_.reorders += program_.instructions[step].op_type == "Reorder";
  report_.collectives = collectives_.size();
  report_.operands_copied -= report_.operands_in_place;
  for (const CollectiveKernel* kernel : collectives_) {
    report_.bucket_bytes += kernel->operation().bucket_bytes;
    report_.reduced_bytes += kernel->operation().reduced_bytes;
  }
}

void CpuExecutable::set_input(const std::string& name, const Tensor& elements) {
  const int index = planning::array_by_name(program_.inputs, name, "input");
  planning::check_elements(name, program_.array(index).format, elements);
  std::memcpy(placement_.address(index), elements.raw(), elements.bytes());
}

void CpuExecutable::run() {
  // The number of threads belongs to the calling thread, which need not be the one that compiled.
  omp_set_num_threads(context_.threads);
  ++runs_;
  try {
    run_steps();
  } catch (const std::exception& error) {
    end_collectives(error.what());
    throw;
  }
}

void CpuExecutable::run_steps() {
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

// This replica cannot go on. The others are told, so that none waits for it, and nothing works on this memory any more.
void CpuExecutable::end_collectives(const std::string& reason) noexcept {
  if (collectives_.empty()) return;
  options_.collective->abort(reason);
  for (CollectiveKernel* kernel : collectives_) kernel->drain();
}

void CpuExecutable::run_step(std::size_t step) {
  try {
    program_.instructions[steps_[step]].kernel->run();
  } catch (const std::exception& error) {
    fail_at(steps_[step], error.what());
  }
}

void CpuExecutable::fail_at(std::size_t index, const std::string& reason) const {
  fail(program_.instructions[index].description, ": ", reason);
}

Tensor CpuExecutable::output(const std::string& name) const {
  const int index = planning::array_by_name(program_.outputs, name, "output");
  const Format& format = program_.array(index).format;
  Tensor elements(format.dtype(), format.dims());
  convert(format, placement_.address(index), Format::plain(elements), elements.raw());
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
