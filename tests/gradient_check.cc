#include "tests/gradient_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "graph/builder.h"
#include "graph/onnx_io.h"
#include "graph/shape_inference.h"
#include "graph/verifier.h"
#include "kernels/kernel.h"
#include "passes/autodiff.h"

namespace ort_train::tests {

namespace {

using graph::Graph;
using graph::Value;

constexpr double step = 1e-4;
constexpr double tolerance = 1e-7;

bool is_differentiated(const GradientCheck& check, const Value& input) {
  return is_floating_point(input.dtype()) && check.feeds.count(input.name()) == 0;
}

Range range_of(const GradientCheck& check, const std::string& input) {
  for (const std::string& key : {input, std::string()}) {
    const auto found = check.ranges.find(key);
    if (found != check.ranges.end()) return found->second;
  }
  return {};
}

double away_from(const std::vector<double>& kinks, double value) {
  constexpr double distance = 0.02;
  for (const double kink : kinks) {
    if (std::abs(value - kink) < distance) return value + (value < kink ? -distance : distance);
  }
  return value;
}

/// Adds loss = sum(weights * outputs) and returns it.
Value* add_loss(Graph& graph, const std::map<std::string, Tensor>& weights) {
  graph::Builder builder(graph, "loss.");
  Value* loss = nullptr;
  for (Value* output : std::vector<Value*>(graph.outputs())) {
    const auto weight = weights.find(output->name());
    if (weight == weights.end()) continue;
    Value* product = builder.mul(output, builder.constant(weight->second.cast(output->dtype())));
    std::vector<std::int64_t> axes(product->dims().size());
    std::iota(axes.begin(), axes.end(), 0);
    Value* sum = builder.reduce_sum(product, axes, false);
    loss = loss ? builder.add(loss, sum) : sum;
  }
  return loss;
}

std::map<std::string, Tensor> draw_weights(const Graph& graph) {
  std::mt19937_64 generator(7);
  std::map<std::string, Tensor> weights;
  for (const Value* output : graph.outputs()) {
    if (!is_floating_point(output->dtype())) continue;
    Tensor weight(DataType::float64, output->dims());
    for (std::int64_t i = 0; i < weight.size(); ++i) {
      const double magnitude = 0.5 + static_cast<double>(generator() >> 11) * 0x1p-53;
      weight.data<double>()[i] = generator() & 1 ? magnitude : -magnitude;
    }
    weights[output->name()] = weight;
  }
  return weights;
}

/// The loss as a function of the inputs.
class LossFunction {
 public:
  LossFunction(const GradientCheck& check, const std::map<std::string, Tensor>& weights) : graph_(build(check)) {
    Value* loss = add_loss(*graph_, weights);
    name_ = loss->name();
    graph_->set_outputs({loss});
  }

  double operator()(const std::map<std::string, Tensor>& inputs) const {
    return kernels::interpret(*graph_, inputs).at(name_).to_doubles().front();
  }

  /// (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h, whose error is of order h^4.
  double difference_quotient(std::map<std::string, Tensor> inputs, const std::string& name, std::int64_t index) const {
    Tensor moved = inputs.at(name).clone();
    inputs[name] = moved;
    double& element = moved.data<double>()[index];
    const double center = element;
    const auto at = [&](double offset) {
      element = center + offset;
      return (*this)(inputs);
    };
    return (at(-2 * step) - 8 * at(-step) + 8 * at(step) - at(2 * step)) / (12 * step);
  }

 private:
  std::unique_ptr<Graph> graph_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Graph> build(const GradientCheck& check) {
  const std::string initializers = check.initializers.empty() ? "" : "<" + check.initializers + ">";
  // Outputs in the text would need extents; those that inference finds are added below.
  auto graph = graph::parse_text(text("<ir_version: 10, opset_import: [\"\" : 28, \"ai.ort_train\" : 1]> check (",
                                      check.inputs, ") => () ", initializers, " { ", check.body, " }"));
  for (Value* initializer : graph->initializers()) initializer->set_role(graph::Role::constant);
  graph::infer_types(*graph);
  for (const std::string& output : check.outputs) graph->add_output(graph->at(output));
  return graph;
}

std::map<std::string, Tensor> draw_inputs(const GradientCheck& check, const Graph& graph) {
  std::int64_t total = 0;
  for (const Value* input : graph.inputs()) {
    if (is_differentiated(check, *input)) total += element_count(input->dims());
  }
  // Every element has a cell of its own in [0, 1), and lies in its middle half.
  std::mt19937_64 generator(1);
  std::vector<double> positions(total);
  for (std::int64_t i = 0; i < total; ++i) {
    const double place = 0.25 + 0.5 * static_cast<double>(generator() >> 11) * 0x1p-53;
    positions[i] = (static_cast<double>(i) + place) / static_cast<double>(total);
  }
  for (std::int64_t i = total - 1; i > 0; --i) std::swap(positions[i], positions[generator() % (i + 1)]);

  std::map<std::string, Tensor> inputs = check.feeds;
  auto position = positions.begin();
  for (const Value* input : graph.inputs()) {
    if (!is_differentiated(check, *input)) continue;
    const Range range = range_of(check, input->name());
    Tensor tensor(DataType::float64, input->dims());
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      tensor.data<double>()[i] = away_from(check.kinks, range.low + *position++ * (range.high - range.low));
    }
    inputs[input->name()] = tensor;
  }
  return inputs;
}

std::map<std::string, Tensor> analytic_gradients(const GradientCheck& check,
                                                 const std::map<std::string, Tensor>& inputs,
                                                 const std::map<std::string, Tensor>& weights) {
  auto graph = build(check);
  Value* loss = add_loss(*graph, weights);
  std::vector<Value*> wanted;
  for (Value* input : graph->inputs()) {
    if (is_differentiated(check, *input)) wanted.push_back(input);
  }
  const auto gradients = passes::add_gradients(*graph, loss, wanted);
  graph->set_outputs({});
  std::map<std::string, Value*> by_name;
  for (Value* value : wanted) {
    // Inputs can share a gradient, and a gradient of zeros has no producer.
    Value* output = graph::Builder(*graph, value->name() + ".result.").emit("Identity", {gradients.at(value)});
    by_name[value->name()] = output;
    graph->add_output(output);
  }
  graph::verify(*graph, "autodiff");
  const auto results = kernels::interpret(*graph, inputs);
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, output] : by_name) tensors[name] = results.at(output->name());
  return tensors;
}

void run(const GradientCheck& check) {
  INFO("check: ", check.name);
  const auto graph = build(check);
  const auto inputs = draw_inputs(check, *graph);
  const auto weights = draw_weights(*graph);
  const auto gradients = analytic_gradients(check, inputs, weights);
  const LossFunction loss(check, weights);
  for (const auto& result : gradients) {
    const std::string& name = result.first;
    const Tensor& gradient = result.second;
    const std::vector<double> analytic = gradient.to_doubles();
    std::vector<double> numeric;
    double scale = 1;
    for (std::int64_t i = 0; i < gradient.size(); ++i) {
      numeric.push_back(loss.difference_quotient(inputs, name, i));
      scale = std::max(scale, std::abs(numeric.back()));
    }
    for (std::size_t i = 0; i < numeric.size(); ++i) {
      INFO("input '", name, "', element ", i, ": ", analytic[i], " by the rule, ", numeric[i], " by differences");
      // Written so that a NaN fails.
      const bool close = std::abs(analytic[i] - numeric[i]) <= tolerance * scale;
      CHECK(close);
      if (!close) break;
    }
  }
}

std::set<std::pair<std::string, std::string>> operators_of(const GradientCheck& check) {
  std::set<std::pair<std::string, std::string>> operators;
  const auto graph = build(check);
  for (const auto& node : graph->nodes()) operators.emplace(node->domain(), node->op_type());
  return operators;
}

}  // namespace ort_train::tests
