// The conformance program: trains a reference case for its five steps and writes the numbers to compare.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/npy.h"
#include "base/shard.h"
#include "graph/onnx_io.h"
#include "passes/training_graph.h"
#include "runtime/collectives/group.h"
#include "runtime/cuda/device.h"
#include "runtime/executable.h"
#include "tests/reference_case.h"
#include "tests/sharding_support.h"

namespace ort_train {
namespace {

constexpr const char* usage =
    "usage: run-case CASE_DIR OUT.npz [--replicas N] [--accumulate K] [--shard-optimizer] [--device cpu|cuda] "
    "[--seed N]";
constexpr int steps = 5;

struct Arguments {
  std::filesystem::path case_folder, output;
  int replicas = 1;
  std::int64_t accumulate = 1;
  bool shard_optimizer = false;
  std::string device = "cpu";
  std::uint64_t seed = 0;
};

long to_number(const std::string& option, const std::string& value, long least, long most) {
  try {
    std::size_t used = 0;
    const long number = std::stol(value, &used);
    if (used == value.size() && number >= least && number <= most) return number;
  } catch (const std::exception&) {
  }
  fail_usage(option, " takes a whole number from ", least, " to ", most, ", not '", value, "'");
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
    if (argument == "--shard-optimizer") {
      arguments.shard_optimizer = true;
      continue;
    }
    if (i + 1 == count) fail_usage(argument, " needs a value\n", usage);
    const std::string value = values[++i];
    if (argument == "--replicas") {
      arguments.replicas = static_cast<int>(to_number(argument, value, 1, 1024));
    } else if (argument == "--accumulate") {
      arguments.accumulate = to_number(argument, value, 1, 1 << 20);
    } else if (argument == "--device") {
      arguments.device = value;
    } else if (argument == "--seed") {
      arguments.seed = static_cast<std::uint64_t>(to_number(argument, value, 0, std::numeric_limits<long>::max()));
    } else {
      fail_usage("unknown option '", argument, "'\n", usage);
    }
  }
  if (positional.size() != 2) fail_usage(usage);
  arguments.case_folder = positional[0];
  arguments.output = positional[1];
  return arguments;
}

/// The device of replica `rank`. One replica on the CPU has all cores; several have a thread each.
std::unique_ptr<runtime::Device> make_device(const Arguments& arguments, int rank) {
  if (arguments.device == "cuda") return runtime::make_cuda_device(rank);
  if (arguments.device != "cpu") fail_usage("--device is cpu or cuda, not '", arguments.device, "'");
  return runtime::make_cpu_device(arguments.replicas == 1 ? 0 : 1);
}

/// Runs a piece of work for every replica at once, each on a thread of its own. The first error ends the waiting of all
/// others, and is thrown.
template <typename Work>
void for_each_replica(const std::vector<std::unique_ptr<runtime::Collective>>& collectives, const Work& work) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < collectives.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (const std::exception& error) {
        {
          const std::lock_guard lock(mutex);
          if (first == nullptr) first = std::current_exception();
        }
        collectives[rank]->abort(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first != nullptr) std::rethrow_exception(first);
}

/// The part of one replica: its graph, compiled, with state of its own.
class Replica {
 public:
  Replica(std::unique_ptr<graph::Graph> graph, runtime::Collective& collective, const Shard& shard)
      : graph_(std::move(graph)), collective_(collective), shard_(shard) {}

  void compile(const Arguments& arguments, float learning_rate) {
    device_ = make_device(arguments, collective_.rank());
    state_ = device_->make_state();
    // The tolerances of a case are those of direct convolution in float32.
    executable_ = device_->compile(*graph_, state_, {.winograd = false, .collective = &collective_});
    set_if_read(passes::learning_rate_input, Tensor::scalar(learning_rate));
    set_if_read(passes::first_sample_input, Tensor::scalar(shard_.first));
  }

  /// Gives it its rows of the whole arrays, as far as it reads them.
  void set_inputs(const std::map<std::string, Tensor>& arrays, const std::map<std::string, passes::Sharding>& shardings,
                  std::int64_t samples) {
    for (const auto& [name, array] : arrays) {
      const auto sharding = shardings.find(name);
      set_if_read(name, sharding == shardings.end() ? array : tests::rows_of(array, sharding->second, samples, shard_));
    }
  }

  void run_step(std::int64_t step) {
    set_if_read(passes::step_input, Tensor::scalar(step));
    executable_->run();
  }

  Tensor output(const std::string& name) const { return executable_->output(name); }
  const runtime::State& state() const { return *state_; }

  std::vector<std::string> updated_state() const {
    std::vector<std::string> names;
    for (const graph::Update& update : graph_->updates()) names.push_back(update.state->name());
    return names;
  }

 private:
  void set_if_read(const std::string& name, const Tensor& elements) {
    for (const graph::Value* input : graph_->inputs()) {
      if (input->name() == name) executable_->set_input(name, elements);
    }
  }

  std::unique_ptr<graph::Graph> graph_;
  runtime::Collective& collective_;
  Shard shard_;
  std::unique_ptr<runtime::Device> device_;
  std::shared_ptr<runtime::State> state_;
  std::unique_ptr<runtime::Executable> executable_;
};

bool is_optimizer_slot(const std::string& state) { return state.rfind("ort_train.", 0) == 0; }

class CaseRun {
 public:
  CaseRun(const ReferenceCase& reference, const Arguments& arguments)
      : case_(reference),
        arguments_(arguments),
        arrays_(read_npz(reference.folder / "inputs.npz")),
        model_(graph::load(reference.folder / "model.onnx")),
        collectives_(runtime::make_collectives({1, 0, arguments.replicas})) {
    passes::TrainingSpec spec = training_spec(reference);
    spec.seed = arguments.seed;
    spec.keep_gradients = true;
    spec.keep_outputs = true;
    const std::map<std::string, Dims> dims = input_dims();
    std::map<std::string, passes::Sharding> input_shardings;
    if (is_divided()) {
      input_shardings = passes::input_shardings(*model_, spec, dims);
      output_shardings_ = passes::output_shardings(*model_, spec, dims);
      samples_ = count_samples(spec, dims);
    }
    for (int rank = 0; rank < arguments.replicas; ++rank) {
      replicas_.emplace_back(passes::build_training_graph(*model_, spec, dims, replication_of(rank)),
                             *collectives_[static_cast<std::size_t>(rank)],
                             shard_of(samples_, arguments.replicas, rank));
    }
    for_each_replica(collectives_, [&](std::size_t rank) {
      replicas_[rank].compile(arguments_, static_cast<float>(reference.learning_rate));
      replicas_[rank].set_inputs(arrays_, input_shardings, samples_);
    });
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
  bool is_divided() const { return replication_of(0).divides(); }

  passes::Replication replication_of(int rank) const {
    passes::Replication replication;
    replication.replicas = arguments_.replicas;
    replication.rank = rank;
    replication.accumulate = arguments_.accumulate;
    // The reference numbers are those of one batch.
    replication.statistics = passes::Replication::Statistics::synchronized;
    replication.shard_optimizer = arguments_.shard_optimizer;
    return replication;
  }

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

  std::int64_t count_samples(const passes::TrainingSpec& spec, const std::map<std::string, Dims>& dims) const {
    const std::string input = model_->inputs().at(0)->name();
    const auto axis = spec.batch_axes.find(input);
    return dims.at(input).at(axis == spec.batch_axes.end() ? 0 : static_cast<std::size_t>(axis->second));
  }

  double run_step(std::int64_t step) {
    for_each_replica(collectives_, [&](std::size_t rank) { replicas_[rank].run_step(step); });
    check_replicas_agree(step);
    return replicas_.front().output(passes::loss_output).to_doubles().at(0);
  }

  /// Only slots of a sharded optimizer may differ.
  void check_replicas_agree(std::int64_t step) const {
    const Replica& first = replicas_.front();
    for (std::size_t rank = 1; rank < replicas_.size(); ++rank) {
      const Replica& other = replicas_[rank];
      if (other.updated_state() != first.updated_state()) fail("replica ", rank, " updates other state than replica 0");
      if (!other.output(passes::loss_output).identical(first.output(passes::loss_output))) {
        fail("the loss of step ", step, " is not the same on the replicas 0 and ", rank);
      }
      for (const std::string& name : first.updated_state()) {
        if (arguments_.shard_optimizer && is_optimizer_slot(name)) continue;
        if (!other.state().get(name).identical(first.state().get(name))) {
          fail("'", name, "' is not the same on the replicas 0 and ", rank, " after step ", step);
        }
      }
    }
  }

  void keep_outputs(const std::string& prefix) {
    for (const graph::Value* output : model_->outputs()) {
      result_[prefix + output->name()] = output_of_batch(output->name());
    }
  }

  Tensor output_of_batch(const std::string& name) const {
    std::vector<Tensor> parts;
    for (const Replica& replica : replicas_) parts.push_back(replica.output(name));
    const auto sharding = output_shardings_.find(name);
    return sharding == output_shardings_.end() ? parts.front() : tests::joined_rows(parts, sharding->second, samples_);
  }

  void keep_gradients() {
    for (const std::string& parameter : case_.trainable) {
      result_["grad/" + parameter] = replicas_.front().output(passes::gradient_output(parameter));
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
    const runtime::State& state = replicas_.front().state();
    return state.contains(name) ? state.get(name) : model_->at(name)->initial();
  }

  const ReferenceCase& case_;
  const Arguments& arguments_;
  std::map<std::string, Tensor> arrays_;
  std::unique_ptr<graph::Graph> model_;
  std::map<std::string, passes::Sharding> output_shardings_;
  std::int64_t samples_ = 0;
  std::vector<std::unique_ptr<runtime::Collective>> collectives_;
  std::vector<Replica> replicas_;
  std::map<std::string, Tensor> result_;
};

int run(int count, char** values) {
  const Arguments arguments = parse(count, values);
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
