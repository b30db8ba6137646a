#include "runtime/cuda/executable.h"

#include <chrono>

#include "runtime/cuda/backend.h"
#include "runtime/cuda/host_kernel.h"
#include "runtime/cuda/watch.h"
#include "runtime/planning/arrays_by_name.h"
#include "runtime/planning/selection.h"
#include "runtime/planning/waits.h"

namespace ort_train::runtime::cuda {

CudaExecutable::CudaExecutable(const graph::Graph& graph, std::shared_ptr<CudaState> state,
                               std::shared_ptr<const Context> device_context, Communicator* communicator,
                               const Options& options)
    : graph_(graph.clone()),
      device_context_(std::move(device_context)),
      state_(std::move(state)),
      context_(*device_context_),
      options_(options) {
  context_.communicator = communicator;
  context_.host_scratch = std::make_shared<HostScratch>();
  program_ = planning::select_kernels<Backend>(*graph_, *state_, context_, options_.compile.plain_kernels);
  planning::insert_waits(program_);
  add_new_states();
  placement_ = planning::place<Backend>(program_, *state_, context_, report_);
  context_.host_scratch->allocate();
  bind();
  fill_report();
}

// Memory goes only when nothing works on it any more.
CudaExecutable::~CudaExecutable() {
  cudaSetDevice(context_.device);
  cudaStreamSynchronize(context_.communication);
  cudaStreamSynchronize(context_.compute);
}

void CudaExecutable::add_new_states() {
  for (const planning::NewState<Format>& added : program_.new_states) {
    state_->add(added.value->name(), added.value->role(), added.format, added.value->initial());
  }
}

void CudaExecutable::bind() {
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
  for (const auto& [name, index] : program_.inputs) {
    feed_.add(index, placement_.address(index), program_.array(index).format.bytes());
  }
  feed_.allocate();
}

void CudaExecutable::fill_report() {
  report_.instructions = steps_.size();
  for (const std::size_t step : steps_) {
    report_.reorders += program_.instructions[step].op_type == "Reorder";
    report_.collectives += !program_.instructions[step].kernel->awaited.empty();
  }
}

void CudaExecutable::set_input(const std::string& name, const Tensor& elements) {
  const int index = planning::array_by_name(program_.inputs, name, "input");
  planning::check_elements(name, program_.array(index).format, elements);
  context_.activate();
  feed_.set(index, elements, *context_.watch);
}

void CudaExecutable::run() {
  context_.activate();
  together([this] { start(); });
}

void CudaExecutable::wait() {
  context_.activate();
  context_.watch->wait(context_.compute);
  together([this] { context_.host_scratch->rethrow_error(); });
}

// A replica that fails by itself leaves the others waiting for it on their GPUs.
void CudaExecutable::together(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception& error) {
    context_.watch->give_up(error.what());
    throw;
  }
}

void CudaExecutable::start() {
  feed_.deliver(context_.compute);
  ++runs_;
  if (options_.compile.profile) return enqueue_timed();
  // The first step runs on its own: libraries prepare things then that cannot be captured.
  if (!options_.capture || runs_ == 1) return enqueue();
  if (!captured_) captured_.capture(context_.compute, [this] { enqueue(); });
  captured_.launch(context_.compute);
}

void CudaExecutable::enqueue() {
  for (const std::size_t step : steps_) {
    const Instruction& instruction = program_.instructions[step];
    try {
      instruction.kernel->run();
    } catch (const std::exception& error) {
      fail(instruction.description, ": ", error.what());
    }
  }
}

void CudaExecutable::enqueue_timed() {
  using Clock = std::chrono::steady_clock;
  wait();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Clock::time_point start = Clock::now();
    program_.instructions[steps_[i]].kernel->run();
    wait();
    milliseconds_[i] += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
}

Tensor CudaExecutable::output(const std::string& name) const {
  const int index = planning::array_by_name(program_.outputs, name, "output");
  Tensor elements = read_array(context_, program_.array(index).format, placement_.address(index));
  context_.host_scratch->rethrow_error();
  return elements;
}

std::vector<ProfileEntry> CudaExecutable::profile() const {
  std::vector<ProfileEntry> entries;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Instruction& instruction = program_.instructions[steps_[i]];
    entries.push_back({instruction.node, instruction.op_type, instruction.kernel->name, milliseconds_[i], runs_});
  }
  return entries;
}

}  // namespace ort_train::runtime::cuda
