// Times training steps of a model on random data and shows where the time goes:
//     training_step MODEL.onnx [--batch 64] [--steps 12] [--threads 0] [--plain] [--direct] [--evaluate] [--all]
// --direct: no Winograd convolutions; --plain: only the host kernels of kernels/.
// One line of JSON on standard output; with --all every instruction on standard error, else the sum over each operator.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/onnx_io.h"
#include "passes/training_graph.h"
#include "runtime/executable.h"

namespace {

using namespace ort_train;

struct Arguments {
  std::string model;
  std::int64_t batch = 64;
  int steps = 12, threads = 0;
  bool plain = false, direct = false, evaluate = false, all = false;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    const auto number = [&] { return i + 1 < count ? std::atoi(values[++i]) : 0; };
    if (word == "--batch") {
      arguments.batch = number();
    } else if (word == "--steps") {
      arguments.steps = number();
    } else if (word == "--threads") {
      arguments.threads = number();
    } else if (word == "--plain") {
      arguments.plain = true;
    } else if (word == "--direct") {
      arguments.direct = true;
    } else if (word == "--evaluate") {
      arguments.evaluate = true;
    } else if (word == "--all") {
      arguments.all = true;
    } else {
      arguments.model = word;
    }
  }
  if (arguments.model.empty()) fail_usage("training_step needs the path of a model");
  return arguments;
}

std::map<std::string, Dims> input_dims(const graph::Graph& model, std::int64_t batch) {
  std::map<std::string, Dims> dims;
  for (const graph::Value* input : model.inputs()) {
    Dims extents;
    for (const graph::Dimension& dimension : input->type().shape.value()) {
      extents.push_back(dimension.is_known() ? dimension.value() : batch);
    }
    dims[input->name()] = extents;
  }
  return dims;
}

Tensor random_elements(const graph::Value& input, std::mt19937& random) {
  Tensor elements(input.dtype(), input.dims());
  std::normal_distribution<float> normal;
  if (input.name() == passes::learning_rate_input) {
    elements.data<float>()[0] = 1e-4f;
  } else if (input.name() == passes::step_input) {
    elements.data<std::int64_t>()[0] = 1;
  } else if (input.dtype() == DataType::float32) {
    for (std::int64_t i = 0; i < elements.size(); ++i) elements.data<float>()[i] = normal(random);
  }
  return elements;
}

void print_profile(const std::vector<runtime::ProfileEntry>& profile, bool all) {
  std::map<std::string, double> sums;
  for (const runtime::ProfileEntry& entry : profile) {
    const double milliseconds = entry.milliseconds / static_cast<double>(entry.runs);
    sums[entry.op_type + " [" + entry.kernel + "]"] += milliseconds;
    if (!all) continue;
    std::fprintf(stderr, "%9.3f ms  %-28s %-32s %s\n", milliseconds, entry.op_type.c_str(), entry.kernel.c_str(),
                 entry.node.c_str());
  }
  std::vector<std::pair<double, std::string>> sorted;
  sorted.reserve(sums.size());
  for (const auto& [name, milliseconds] : sums) sorted.emplace_back(milliseconds, name);
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [milliseconds, name] : sorted) std::fprintf(stderr, "%9.3f ms  %s\n", milliseconds, name.c_str());
}

int run(const Arguments& arguments) {
  const auto model = graph::load(arguments.model);
  passes::TrainingSpec spec;
  spec.losses.resize(1);
  spec.losses[0].type = "softmax_cross_entropy";
  spec.optimizer.momentum = 0.9;
  const auto dims = input_dims(*model, arguments.batch);
  const auto graph = arguments.evaluate ? passes::build_evaluation_graph(*model, spec, dims)
                                        : passes::build_training_graph(*model, spec, dims);
  const auto device = runtime::make_cpu_device(arguments.threads);
  const auto executable = device->compile(
      *graph, device->make_state(), {.plain_kernels = arguments.plain, .winograd = !arguments.direct, .profile = true});
  std::mt19937 random(1);
  for (const graph::Value* input : graph->inputs()) {
    executable->set_input(input->name(), random_elements(*input, random));
  }
  executable->run();
  std::vector<double> seconds;
  for (int step = 0; step < arguments.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    executable->run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  print_profile(executable->profile(), arguments.all);
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2], best = seconds.front();
  const runtime::PlanReport& report = executable->report();
  const auto batch = static_cast<double>(arguments.batch);
  std::printf(
      "{\"device\": \"%s\", \"batch\": %lld, \"median_ms\": %.2f, \"best_ms\": %.2f, \"images_per_s\": %.1f, "
      "\"best_images_per_s\": %.1f, \"instructions\": %zu, \"reorders\": %zu, \"in_place\": %zu, "
      "\"state_mib\": %.1f, \"arena_mib\": %.1f, \"values_mib\": %.1f, \"scratchpad_mib\": %.1f}\n",
      device->name().c_str(), static_cast<long long>(arguments.batch), median * 1e3, best * 1e3, batch / median,
      batch / best, report.instructions, report.reorders, report.in_place,
      static_cast<double>(report.state_bytes) / 1048576, static_cast<double>(report.arena_bytes) / 1048576,
      static_cast<double>(report.sum_of_values_bytes) / 1048576,
      static_cast<double>(report.scratchpad_bytes) / 1048576);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(parse(count, values));
  } catch (const Error& error) {
    std::fprintf(stderr, "training_step: %s\n", error.what());
    return error.kind() == Error::Kind::usage ? 2 : 1;
  }
}
