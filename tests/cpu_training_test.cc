// Whole training steps on the CPU: fast kernels against plain ones, and equal runs against each other.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "graph/builder.h"
#include "graph/graph.h"
#include "passes/training_graph.h"
#include "runtime/executable.h"

namespace ort_train::runtime {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Role;
using graph::Value;

constexpr std::int64_t classes = 5;

class ModelBuilder {
 public:
  ModelBuilder() : builder_(*graph_) { graph_->opsets[""] = 21; }

  Value* parameter(const Dims& dims, double mean, double deviation, Role role = Role::parameter) {
    Tensor elements(DataType::float32, dims);
    std::normal_distribution<double> normal(mean, deviation);
    for (std::int64_t i = 0; i < elements.size(); ++i) {
      elements.data<float>()[i] = static_cast<float>(normal(random_));
    }
    return graph_->add_initializer(graph_->unique_name("w"), role, elements);
  }

  Value* convolution(Value* x, std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t inputs = x->dims()[1], pad = kernel / 2;
    Value* w =
        parameter({channels, inputs, kernel, kernel}, 0, 1 / std::sqrt(static_cast<double>(inputs * kernel * kernel)));
    Value* y = builder_.emit("Conv", {x, w, parameter({channels}, 0, 0.1)},
                             {{"kernel_shape", Dims{kernel, kernel}},
                              {"strides", Dims{stride, stride}},
                              {"pads", Dims{pad, pad, pad, pad}},
                              {"dilations", Dims{1, 1}}});
    Value* normalized = builder_.emit_many("BatchNormalization",
                                           {y, parameter({channels}, 1, 0.1), parameter({channels}, 0, 0.1),
                                            parameter({channels}, 0, 0.1, Role::running_statistic),
                                            parameter({channels}, 2, 0.01, Role::running_statistic)},
                                           3, {{"training_mode", std::int64_t{1}}, {"momentum", 0.9f}})[0];
    return builder_.emit("Relu", {normalized});
  }

  /// An inception block, a downsampling one, odd channel counts at the end.
  std::unique_ptr<Graph> convolutional(std::int64_t batch) {
    Value* x = graph_->add_input("image", graph::Type(DataType::float32, Dims{batch, 3, 12, 12}));
    Value* a = convolution(x, 32, 3, 1);
    Value* b =
        builder_.emit("Concat", {convolution(a, 16, 1, 1), convolution(a, 32, 3, 1)}, {{"axis", std::int64_t{1}}});
    Value* pooled = builder_.emit("MaxPool", {b},
                                  {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
    Value* c = builder_.emit("Concat", {convolution(b, 16, 3, 2), pooled}, {{"axis", std::int64_t{1}}});
    Value* d = builder_.add(convolution(c, 10, 3, 1), convolution(c, 10, 1, 1));
    Value* features = builder_.emit("Flatten", {builder_.emit("GlobalAveragePool", {d})});
    graph_->add_output(
        builder_.emit("Gemm", {features, parameter({10, classes}, 0, 0.5), parameter({classes}, 0, 0.1)}));
    return std::move(graph_);
  }

  std::unique_ptr<Graph> dense(std::int64_t batch) {
    Value* x = graph_->add_input("image", graph::Type(DataType::float32, Dims{batch, 20}));
    Value* hidden = builder_.emit("Gemm", {x, parameter({20, 33}, 0, 0.3), parameter({33}, 0, 0.1)});
    Value* active = builder_.emit("Tanh", {hidden});
    Value* gated = builder_.mul(active, builder_.emit("Sigmoid", {hidden}));
    graph_->add_output(
        builder_.add(builder_.emit("MatMul", {gated, parameter({33, classes}, 0, 0.3)}), parameter({classes}, 0, 0.1)));
    return std::move(graph_);
  }

 private:
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  Builder builder_;
  std::mt19937 random_{3};
};

using Results = std::map<std::string, Tensor>;

/// Everything that `steps` steps leave behind: the losses, and the state.
Results train(const Graph& graph, int steps, const CompileOptions& options, const std::shared_ptr<State>& state,
              Device& device) {
  const auto executable = device.compile(graph, state, options);
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  Results results;
  for (int step = 1; step <= steps; ++step) {
    for (const Value* input : graph.inputs()) {
      Tensor elements(input->dtype(), input->dims());
      if (input->name() == passes::learning_rate_input) {
        elements.data<float>()[0] = 0.05f;
      } else if (input->name() == passes::step_input) {
        elements.data<std::int64_t>()[0] = step;
      } else if (input->dtype() == DataType::float32) {
        for (std::int64_t i = 0; i < elements.size(); ++i) elements.data<float>()[i] = normal(random);
      } else if (input->name() == "label") {
        for (std::int64_t i = 0; i < elements.size(); ++i) elements.data<std::int64_t>()[i] = i % classes;
      }
      executable->set_input(input->name(), elements);
    }
    executable->run();
    results[text("loss of step ", step)] = executable->output(passes::loss_output);
  }
  for (const std::string& name : state->names()) results[name] = state->get(name);
  return results;
}

std::unique_ptr<Graph> training_graph(std::unique_ptr<Graph> model, const std::string& optimizer) {
  passes::TrainingSpec spec;
  spec.losses.resize(1);
  spec.losses[0].type = "softmax_cross_entropy";
  spec.optimizer.type = optimizer;
  if (optimizer == "sgd") spec.optimizer.momentum = 0.9;
  return passes::build_training_graph(*model, spec, {{"image", model->inputs()[0]->dims()}});
}

double largest(const Tensor& elements) {
  double result = 0;
  for (const double value : elements.to_doubles()) result = std::max(result, std::abs(value));
  return result;
}

void check_close(const Results& expected, const Results& got, double tolerance) {
  REQUIRE(expected.size() == got.size());
  for (const auto& result : expected) {
    INFO(result.first);
    const auto a = result.second.to_doubles(), b = got.at(result.first).to_doubles();
    const double bound = tolerance * (largest(result.second) + 0.1);
    double deviation = 0;
    for (std::size_t i = 0; i < a.size(); ++i) deviation = std::max(deviation, std::abs(a[i] - b[i]));
    CHECK(deviation <= bound);
  }
}

Results train_anew(const Graph& graph, const CompileOptions& options, int threads) {
  const auto device = make_cpu_device(threads);
  return train(graph, 3, options, device->make_state(), *device);
}

void check_three_steps(const Graph& graph) {
  const Results plain = train_anew(graph, {.plain_kernels = true}, 2);
  check_close(plain, train_anew(graph, {.winograd = false}, 2), 1e-4);
  // Its rounding now and then moves an element over the kink of a Relu or past its neighbour in a pool.
  check_close(plain, train_anew(graph, {.winograd = true}, 2), 3e-2);
}

TEST_CASE("three steps by fast kernels are those by plain kernels") {
  check_three_steps(*training_graph(ModelBuilder().convolutional(4), "sgd"));
  // Not with Adam above: the gradient of a bias in front of a normalization is rounding noise, which it magnifies.
  for (const std::string optimizer : {"sgd", "adam", "adamw"}) {
    INFO(optimizer);
    check_three_steps(*training_graph(ModelBuilder().dense(6), optimizer));
  }
}

TEST_CASE("equal runs give equal bits") {
  const auto graph = training_graph(ModelBuilder().convolutional(4), "sgd");
  for (const int threads : {1, 2, 3}) {
    const Results first = train_anew(*graph, {}, threads), second = train_anew(*graph, {}, threads);
    for (const auto& result : first) {
      INFO(result.first, " with ", threads, " threads");
      CHECK(result.second.identical(second.at(result.first)));
    }
  }
}

TEST_CASE("a smaller last batch trains the same state") {
  const auto device = make_cpu_device(2);
  const auto fast_state = device->make_state(), plain_state = device->make_state();
  for (const std::int64_t batch : {4, 3}) {
    const auto graph = training_graph(ModelBuilder().convolutional(batch), "sgd");
    const Results plain = train(*graph, 2, {.plain_kernels = true}, plain_state, *device);
    check_close(plain, train(*graph, 2, {.winograd = false}, fast_state, *device), 1e-4);
  }
}

TEST_CASE("the step needs no reorder of activations, and less memory than its values") {
  const auto graph = training_graph(ModelBuilder().convolutional(8), "sgd");
  const auto device = make_cpu_device(2);
  const auto executable = device->compile(*graph, device->make_state());
  CHECK(executable->report().arena_bytes < executable->report().sum_of_values_bytes / 2);
  CHECK(executable->report().in_place > 20);
}

}  // namespace
}  // namespace ort_train::runtime
