#include "runtime/training/program.h"

#include <cstring>

#include "base/error.h"

namespace ort_train::training {
namespace {

/// [samples, blocks, rest] as [blocks, samples, rest].
Tensor blocks_first(const Tensor& elements, std::int64_t blocks) {
  Tensor moved(elements.dtype(), elements.dims());
  if (elements.size() == 0) return moved;
  const std::int64_t samples = elements.dims().at(0);
  const std::size_t bytes = elements.bytes() / static_cast<std::size_t>(samples * blocks);
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::memcpy(moved.raw() + static_cast<std::size_t>(block * samples + sample) * bytes,
                  elements.raw() + static_cast<std::size_t>(sample * blocks + block) * bytes, bytes);
    }
  }
  return moved;
}

}  // namespace

CompiledGraph::CompiledGraph(const graph::Graph& graph, runtime::Device& device, std::shared_ptr<runtime::State> state,
                             const runtime::CompileOptions& options)
    : executable_(device.compile(graph, std::move(state), options)) {
  for (const graph::Value* input : graph.inputs()) input_dims_[input->name()] = input->dims();
}

void CompiledGraph::set_input(const std::string& name, const Tensor& elements, std::int64_t blocks) {
  const auto found = input_dims_.find(name);
  if (found == input_dims_.end()) return;
  const Dims& dims = found->second;
  if (blocks != 1) return executable_->set_input(name, blocks_first(elements, blocks).reshaped(dims));
  const bool reshape = dims != elements.dims() && element_count(dims) == elements.size();
  executable_->set_input(name, reshape ? elements.reshaped(dims) : elements);
}

void CompiledGraph::feed(const data::Batch& batch, const std::map<std::string, std::int64_t>& sample_blocks) {
  for (const data::Batch::Array& array : batch.arrays) {
    const auto blocks = sample_blocks.find(array.name);
    set_input(array.name, array.values, blocks == sample_blocks.end() ? 1 : blocks->second);
  }
}

Program::Program(const graph::Graph& model, passes::TrainingSpec spec, std::map<std::string, Dims> sample_dims,
                 std::unique_ptr<runtime::Device> device, const Options& options)
    : model_(model),
      spec_(std::move(spec)),
      sample_dims_(std::move(sample_dims)),
      device_(std::move(device)),
      options_(options),
      state_(device_->make_state()) {}

std::map<std::string, Dims> Program::input_dims(std::int64_t batch_size) const {
  std::map<std::string, Dims> result;
  for (const auto& [name, sample] : sample_dims_) {
    const auto axis = spec_.batch_axes.find(name);
    Dims dims = sample;
    dims.insert(dims.begin() + (axis == spec_.batch_axes.end() ? 0 : axis->second), batch_size);
    result[name] = dims;
  }
  return result;
}

runtime::CompileOptions Program::compile_options() const {
  runtime::CompileOptions options;
  options.collective = options_.collective;
  options.winograd = options_.winograd;
  return options;
}

CompiledGraph& Program::training(std::int64_t batch_size) {
  std::unique_ptr<CompiledGraph>& compiled = training_[batch_size];
  if (!compiled) {
    const auto graph = passes::build_training_graph(model_, spec_, input_dims(batch_size), options_.replication);
    // The stages of one graph are enough to look at.
    spec_.dump_folder.clear();
    for (const graph::Value* parameter : graph->trainable_parameters()) trainable_.insert(parameter->name());
    compiled = std::make_unique<CompiledGraph>(*graph, *device_, state_, compile_options());
  }
  return *compiled;
}

CompiledGraph& Program::evaluation(std::int64_t batch_size) {
  std::unique_ptr<CompiledGraph>& compiled = evaluation_[batch_size];
  if (!compiled) {
    const auto graph = passes::build_evaluation_graph(model_, spec_, input_dims(batch_size), options_.replication);
    runtime::CompileOptions options = compile_options();
    // What is reported of a model is what any other runtime computes from its file, as closely as float32 allows.
    options.winograd = false;
    compiled = std::make_unique<CompiledGraph>(*graph, *device_, state_, options);
  }
  return *compiled;
}

std::unique_ptr<graph::Graph> Program::inference_model() const {
  std::map<std::string, Tensor> elements;
  for (const std::string& name : state_->names()) {
    const graph::Role role = state_->role(name);
    const bool is_of_model = role == graph::Role::parameter || role == graph::Role::running_statistic;
    if (is_of_model) elements[name] = state_->get(name);
  }
  return passes::build_inference_model(model_, elements);
}

}  // namespace ort_train::training
