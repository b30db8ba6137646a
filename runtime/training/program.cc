#include "runtime/training/program.h"

#include "base/error.h"

namespace ort_train::training {

CompiledGraph::CompiledGraph(const graph::Graph& graph, runtime::Device& device, std::shared_ptr<runtime::State> state,
                             const runtime::CompileOptions& options)
    : executable_(device.compile(graph, std::move(state), options)) {
  for (const graph::Value* input : graph.inputs()) input_dims_[input->name()] = input->dims();
}

void CompiledGraph::set_input(const std::string& name, const Tensor& elements) {
  const auto found = input_dims_.find(name);
  if (found == input_dims_.end()) return;
  const Dims& dims = found->second;
  const bool reshape = dims != elements.dims() && element_count(dims) == elements.size();
  executable_->set_input(name, reshape ? elements.reshaped(dims) : elements);
}

Program::Program(const graph::Graph& model, passes::TrainingSpec spec, std::map<std::string, Dims> sample_dims,
                 std::unique_ptr<runtime::Device> device, bool winograd)
    : model_(model),
      spec_(std::move(spec)),
      sample_dims_(std::move(sample_dims)),
      device_(std::move(device)),
      winograd_(winograd),
      state_(device_->make_state()) {}

std::map<std::string, Dims> Program::input_dims(std::int64_t batch_size) const {
  std::map<std::string, Dims> result;
  for (const auto& [name, sample] : sample_dims_) {
    Dims dims = {batch_size};
    dims.insert(dims.end(), sample.begin(), sample.end());
    result[name] = dims;
  }
  return result;
}

CompiledGraph& Program::training(std::int64_t batch_size) {
  std::unique_ptr<CompiledGraph>& compiled = training_[batch_size];
  if (!compiled) {
    const auto graph = passes::build_training_graph(model_, spec_, input_dims(batch_size));
    // The stages of one graph are enough to look at.
    spec_.dump_folder.clear();
    for (const graph::Value* parameter : graph->trainable_parameters()) trainable_.insert(parameter->name());
    compiled =
        std::make_unique<CompiledGraph>(*graph, *device_, state_, runtime::CompileOptions{.winograd = winograd_});
  }
  return *compiled;
}

CompiledGraph& Program::evaluation(std::int64_t batch_size) {
  std::unique_ptr<CompiledGraph>& compiled = evaluation_[batch_size];
  if (!compiled) {
    const auto graph = passes::build_evaluation_graph(model_, spec_, input_dims(batch_size));
    // What is reported of a model is what any other runtime computes from its file, as closely as float32 allows.
    compiled = std::make_unique<CompiledGraph>(*graph, *device_, state_, runtime::CompileOptions{.winograd = false});
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
