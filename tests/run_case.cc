// The conformance program: trains a reference case for its five steps and writes the numbers to compare.
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/npy.h"
#include "graph/onnx_io.h"
#include "passes/training_graph.h"
#include "runtime/executable.h"
#include "tests/reference_case.h"

namespace ort_train {
namespace {

constexpr const char* usage = "usage: run-case CASE_DIR OUT.npz [--replicas N] [--device cpu|cuda] [--seed N]";
constexpr int steps = 5;

struct Arguments {
  std::filesystem::path case_folder, output;
  long replicas = 1;
  std::string device = "cpu";
  std::uint64_t seed = 0;
};

long to_number(const std::string& option, const std::string& value) {
  try {
    std::size_t used = 0;
    const long number = std::stol(value, &used);
    if (used == value.size() && number >= 0) return number;
  } catch (const std::exception&) {
  }
  fail_usage(option, " takes a whole number, not '", value, "'");
}

Arguments parse(int count, char** values) {
  Arguments arguments;
  std::vector<std::string> positional;
  for (int i = 1; i < count; ++i) {
    const std::string argument = values[i];
    if (argument.rfind("--", 0) != 0) {
      positional.push_back(argument);
      continue;
    }
    if (i + 1 == count) fail_usage(argument, " needs a value\n", usage);
    const std::string value = values[++i];
    if (argument == "--replicas") {
      arguments.replicas = to_number(argument, value);
    } else if (argument == "--device") {
      arguments.device = value;
    } else if (argument == "--seed") {
      arguments.seed = static_cast<std::uint64_t>(to_number(argument, value));
    } else {
      fail_usage("unknown option '", argument, "'\n", usage);
    }
  }
  if (positional.size() != 2) fail_usage(usage);
  arguments.case_folder = positional[0];
  arguments.output = positional[1];
  return arguments;
}

void check_supported(const Arguments& arguments) {
  if (arguments.device == "cuda") {
    fail("the CUDA runtime is not in this build; run the case with --device cpu");
  }
  if (arguments.device != "cpu") fail_usage("--device is cpu or cuda, not '", arguments.device, "'");
  if (arguments.replicas == 0) fail_usage("--replicas must be at least 1");
  if (arguments.replicas > 1) {
    fail("this build trains one replica; run the case with --replicas 1 instead of ", arguments.replicas);
  }
}

/// Everything that a step reads besides the learning rate and the step number.
std::map<std::string, Tensor> arrays_of_inputs(const graph::Graph& graph, const std::map<std::string, Tensor>& arrays) {
  std::map<std::string, Tensor> result;
  for (const graph::Value* input : graph.inputs()) {
    const auto array = arrays.find(input->name());
    if (array != arrays.end()) result.emplace(input->name(), array->second);
  }
  return result;
}

class CaseRun {
 public:
  CaseRun(const ReferenceCase& reference, const Arguments& arguments)
      : case_(reference), arrays_(read_npz(reference.folder / "inputs.npz")) {
    model_ = graph::load(reference.folder / "model.onnx");
    passes::TrainingSpec spec = training_spec(reference);
    spec.seed = arguments.seed;
    spec.keep_gradients = true;
    spec.keep_outputs = true;
    training_graph_ = passes::build_training_graph(*model_, spec, input_dims());
    device_ = runtime::make_cpu_device();
    state_ = device_->make_state();
    // The tolerances of a case are those of direct convolution in float32.
    executable_ = device_->compile(*training_graph_, state_, {.winograd = false});
    for (const auto& [name, array] : arrays_of_inputs(*training_graph_, arrays_)) executable_->set_input(name, array);
    set_if_read(passes::learning_rate_input, Tensor::scalar(static_cast<float>(reference.learning_rate)));
    set_if_read(passes::first_sample_input, Tensor::scalar(std::int64_t{0}));
  }

  std::map<std::string, Tensor> run() {
    std::vector<double> losses;
    for (int step = 1; step <= steps; ++step) {
      losses.push_back(run_step(step));
      if (step == 1) {
        keep_outputs("out/");
        keep_gradients();
        keep_state("step1/", "stat1/");
      }
    }
    keep_state("step5/", "stat5/");
    // Loss and outputs are those before a step's update, so one step more shows them after the fifth.
    losses.push_back(run_step(steps + 1));
    keep_outputs("out5/");
    result_["loss"] = Tensor::scalar(losses.front());
    result_["losses"] = Tensor::of({steps + 1}, losses);
    return result_;
  }

 private:
  std::map<std::string, Dims> input_dims() const {
    std::map<std::string, Dims> dims;
    for (const graph::Value* input : model_->inputs()) {
      const auto array = arrays_.find(input->name());
      if (array == arrays_.end()) {
        fail((case_.folder / "inputs.npz").string(), " has no array for the model input '", input->name(), "'");
      }
      dims[input->name()] = array->second.dims();
    }
    return dims;
  }

  void set_if_read(const std::string& name, const Tensor& elements) {
    for (const graph::Value* input : training_graph_->inputs()) {
      if (input->name() == name) executable_->set_input(name, elements);
    }
  }

  double run_step(std::int64_t step) {
    set_if_read(passes::step_input, Tensor::scalar(step));
    executable_->run();
    return executable_->output(passes::loss_output).to_doubles().at(0);
  }

  void keep_outputs(const std::string& prefix) {
    for (const graph::Value* output : model_->outputs()) {
      result_[prefix + output->name()] = executable_->output(output->name());
    }
  }

  void keep_gradients() {
    for (const std::string& parameter : case_.trainable) {
      result_["grad/" + parameter] = executable_->output(passes::gradient_output(parameter));
    }
  }

  void keep_state(const std::string& parameter_prefix, const std::string& statistic_prefix) {
    for (const std::string& parameter : case_.trainable) result_[parameter_prefix + parameter] = state_of(parameter);
    for (const std::string& statistic : case_.running_statistics) {
      result_[statistic_prefix + statistic] = state_of(statistic);
    }
  }

  /// What is constant in training (a statistic of BatchNormalization in inference form) stays as the file has it.
  Tensor state_of(const std::string& name) const {
    return state_->contains(name) ? state_->get(name) : model_->at(name)->initial();
  }

  const ReferenceCase& case_;
  std::map<std::string, Tensor> arrays_;
  std::unique_ptr<graph::Graph> model_, training_graph_;
  std::unique_ptr<runtime::Device> device_;
  std::shared_ptr<runtime::State> state_;
  std::unique_ptr<runtime::Executable> executable_;
  std::map<std::string, Tensor> result_;
};

int run(int count, char** values) {
  const Arguments arguments = parse(count, values);
  check_supported(arguments);
  const ReferenceCase reference = read_reference_case(arguments.case_folder);
  write_npz(arguments.output, CaseRun(reference, arguments).run());
  return 0;
}

}  // namespace
}  // namespace ort_train

int main(int count, char** values) {
  try {
    return ort_train::run(count, values);
  } catch (const ort_train::Error& error) {
    std::cerr << "run-case: " << error.what() << "\n";
    return error.kind() == ort_train::Error::Kind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::cerr << "run-case: " << error.what() << "\n";
    return 1;
  }
}
