#include "passes/attach_losses.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "graph/builder.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

bool has_class_labels(const std::string& type) { return type == "softmax_cross_entropy" || type == "nll"; }
bool is_class_metric(const std::string& type) { return type == "accuracy" || type == "top_k"; }

const std::set<std::string>& loss_types() {
  static const std::set<std::string> types = {"softmax_cross_entropy", "nll", "bce", "bce_with_logits", "mse", "l1"};
  return types;
}

const std::set<std::string>& metric_types() {
  static const std::set<std::string> types = {"accuracy", "binary_accuracy", "top_k", "mse", "mae"};
  return types;
}

std::string list(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string only_output(const Graph& model, const std::string& who) {
  if (model.outputs().size() == 1) return model.outputs().front()->name();
  std::string names;
  for (const Value* output : model.outputs()) names += (names.empty() ? "" : ", ") + output->name();
  fail_usage(who, " must say which output of the model it reads: ", names);
}

Value* model_output(const Graph& graph, const std::string& name) {
  for (Value* output : graph.outputs()) {
    if (output->name() == name) return output;
  }
  fail_usage("the model has no output named '", name, "'");
}

// --- labels

Dims label_dims(const Value* output, bool classes, const std::string& who) {
  Dims dims = output->dims();
  if (!classes) return dims;
  if (dims.size() < 2) {
    fail(who, " needs scores of shape [N, classes, ...], but '", output->name(), "' is ", to_string(output->type()));
  }
  dims.erase(dims.begin() + 1);
  return dims;
}

graph::Type label_type(const Value* output, bool classes, const std::string& who) {
  return graph::Type(classes ? DataType::int64 : output->dtype(), label_dims(output, classes, who));
}

Value* label_input(Graph& graph, const std::string& name, const graph::Type& type, const std::string& who) {
  Value* known = graph.find(name);
  if (known == nullptr) return graph.add_input(name, type);
  if (known->type() != type) {
    fail_usage(who, " needs the label '", name, "' as ", to_string(type), ", but it is ", to_string(known->type()));
  }
  return known;
}

// --- losses

/// What a loss computes: an operator of the training domain, over an input that may lie before the model's output.
struct LossKernel {
  std::string op_type;
  Value* input;
};

// The class axis is 1: a Softmax over another axis is no classifier head of this loss.
bool is_over_classes(const Node& node) {
  const std::int64_t axis = node.integer("axis", -1);
  return (axis < 0 ? axis + node.input(0)->rank() : axis) == 1;
}

LossKernel kernel_of(const LossSpec& loss, Value* output, Form form) {
  const Node* last = form == Form::training ? output->producer() : nullptr;
  const auto ends_with = [&](const char* op_type) { return last != nullptr && last->is(op_type); };
  if (loss.type == "softmax_cross_entropy" || loss.type == "nll") {
    const bool softmax = loss.type == "softmax_cross_entropy" && ends_with("Softmax");
    if ((softmax || ends_with("LogSoftmax")) && is_over_classes(*last)) return {"SoftmaxCrossEntropy", last->input(0)};
    return {loss.type == "nll" ? "NegativeLogLikelihood" : "SoftmaxCrossEntropy", output};
  }
  if (loss.type == "bce") {
    if (ends_with("Sigmoid")) return {"BinaryCrossEntropyWithLogits", last->input(0)};
    return {"BinaryCrossEntropy", output};
  }
  if (loss.type == "bce_with_logits") return {"BinaryCrossEntropyWithLogits", output};
  return {loss.type == "mse" ? "SquaredError" : "AbsoluteError", output};
}

Value* named(Graph& graph, Value* value, const std::string& name) {
  graph.rename(value, name);
  return value;
}

Value* emit_sum(Builder& builder, const LossKernel& kernel, Value* label, const Attributes& attributes) {
  if (kernel.op_type != "SoftmaxCrossEntropy") {
    return builder.emit_training(kernel.op_type, {kernel.input, label}, attributes);
  }
  // The gradient reads the log-probabilities, output 2.
  Value* sum = builder.emit_training_many(kernel.op_type, {kernel.input, label}, 3, attributes).front();
  sum->producer()->drop_output(1);
  return sum;
}

/// The count depends on the labels alone, so that it is known before anything else is computed: micro-batches and
/// replicas divide by the count of the whole batch.
Value* emit_count(Builder& builder, Value* label, Attributes attributes, DataType dtype) {
  attributes["to"] = static_cast<std::int64_t>(dtype);
  return builder.emit_training("LabelCount", {label}, std::move(attributes));
}

Value* attach(Graph& graph, const LossSpec& loss, std::size_t index, Form form) {
  const std::string who = "the loss " + loss.type;
  Value* output = model_output(graph, loss.output);
  Value* label = label_input(graph, loss.label, label_type(output, has_class_labels(loss.type), who), who);
  const LossKernel kernel = kernel_of(loss, output, form);
  Attributes attributes;
  if (loss.ignore_index && has_class_labels(loss.type)) attributes["ignore_index"] = *loss.ignore_index;
  Builder builder(graph, "ort_train.loss." + std::to_string(index) + ".");
  Value* sum = emit_sum(builder, kernel, label, attributes);
  Value* count = emit_count(builder, label, attributes, sum->dtype());
  graph.add_output(named(graph, sum, loss_sum_output(index)));
  graph.add_output(named(graph, count, loss_count_output(index)));
  Value* mean = builder.div(sum, count);
  return loss.weight == 1.0 ? mean : builder.mul(mean, builder.scalar_like(loss.weight, mean));
}

// --- metrics

struct MetricKernel {
  std::string op_type;
  Attributes attributes;
};

// On logits the threshold on the probability p is log(p / (1 - p)).
double threshold_for(const MetricSpec& metric, const std::vector<LossSpec>& losses) {
  const bool logits = std::any_of(losses.begin(), losses.end(), [&](const LossSpec& loss) {
    return loss.type == "bce_with_logits" && loss.output == metric.output;
  });
  return logits ? std::log(metric.threshold / (1 - metric.threshold)) : metric.threshold;
}

MetricKernel kernel_of(const MetricSpec& metric, const std::vector<LossSpec>& losses) {
  if (is_class_metric(metric.type)) {
    Attributes attributes = {{"k", metric.type == "accuracy" ? std::int64_t{1} : metric.k}};
    if (metric.ignore_index) attributes["ignore_index"] = *metric.ignore_index;
    return {"TopKCorrect", attributes};
  }
  if (metric.type == "binary_accuracy") {
    return {"ThresholdCorrect", {{"threshold", static_cast<float>(threshold_for(metric, losses))}}};
  }
  return {metric.type == "mse" ? "SquaredError" : "AbsoluteError", {}};
}

}  // namespace

TrainingSpec resolve(const Graph& model, TrainingSpec spec) {
  for (LossSpec& loss : spec.losses) {
    if (loss_types().count(loss.type) == 0) {
      fail_usage("there is no loss named '", loss.type, "'; losses are ", list(loss_types()));
    }
    if (loss.output.empty()) loss.output = only_output(model, "the loss " + loss.type);
    if (loss.label.empty()) loss.label = spec.losses.size() == 1 ? "label" : "label_" + loss.output;
    model_output(model, loss.output);
  }
  for (MetricSpec& metric : spec.metrics) {
    if (metric_types().count(metric.type) == 0) {
      fail_usage("there is no metric named '", metric.type, "'; metrics are ", list(metric_types()));
    }
    if (metric.output.empty()) {
      metric.output = spec.losses.empty() ? only_output(model, "the metric " + metric.type) : spec.losses[0].output;
    }
    const auto loss = std::find_if(spec.losses.begin(), spec.losses.end(),
                                   [&](const LossSpec& candidate) { return candidate.output == metric.output; });
    if (metric.label.empty()) metric.label = loss == spec.losses.end() ? "label" : loss->label;
    if (!metric.ignore_index && loss != spec.losses.end()) metric.ignore_index = loss->ignore_index;
    model_output(model, metric.output);
  }
  return spec;
}

bool AttachLosses::run(Graph& graph) {
  Value* total = nullptr;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    Value* term = attach(graph, losses_[i], i, form_);
    total = total == nullptr ? term : Builder(graph, "ort_train.loss.").add(total, term);
  }
  if (total == nullptr) return false;
  graph.add_output(named(graph, total, loss_output));
  return true;
}

bool AttachMetrics::run(Graph& graph) {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const MetricSpec& metric = metrics_[i];
    const std::string who = "the metric " + metric.type;
    Value* output = model_output(graph, metric.output);
    Value* label = label_input(graph, metric.label, label_type(output, is_class_metric(metric.type), who), who);
    MetricKernel kernel = kernel_of(metric, losses_);
    Builder builder(graph, "ort_train.metric." + std::to_string(i) + ".");
    const auto sum_and_count =
        builder.emit_training_many(kernel.op_type, {output, label}, 2, std::move(kernel.attributes));
    graph.add_output(named(graph, sum_and_count[0], metric_sum_output(i)));
    graph.add_output(named(graph, sum_and_count[1], metric_count_output(i)));
  }
  return !metrics_.empty();
}

}  // namespace ort_train::passes
