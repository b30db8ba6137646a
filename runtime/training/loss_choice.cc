#include "runtime/training/loss_choice.h"

#include "base/error.h"

namespace ort_train::training {
namespace {

bool has_class_numbers(const data::Field* labels) {
  return labels != nullptr && (is_integer(labels->dtype) || labels->dtype == DataType::boolean);
}

/// The output holds one number a sample, as far as the file says.
bool is_single_column(const graph::Value& output) {
  const auto& shape = output.type().shape;
  if (!shape) return false;
  if (shape->size() == 1) return true;
  return shape->size() == 2 && shape->back().is_known() && shape->back().value() == 1;
}

}  // namespace

passes::LossSpec choose_loss(const graph::Graph& model, const data::Field* labels, std::string& why) {
  if (model.outputs().size() != 1) {
    std::string names;
    for (const graph::Value* output : model.outputs()) names += (names.empty() ? "" : ", ") + output->name();
    fail_usage("the model has several outputs (", names,
               "); say which loss reads which: loss: [{type: mse, output: NAME}, ...]");
  }
  const graph::Value& output = *model.outputs().front();
  const graph::Node* last = output.producer();
  passes::LossSpec loss;
  const auto choose = [&](const char* type, const char* reason) {
    loss.type = type;
    why = reason;
    return loss;
  };
  if (last != nullptr && last->is("Softmax")) return choose("softmax_cross_entropy", "the model ends with Softmax");
  if (last != nullptr && last->is("LogSoftmax")) return choose("nll", "the model ends with LogSoftmax");
  if (last != nullptr && last->is("Sigmoid")) return choose("bce", "the model ends with Sigmoid");
  if (has_class_numbers(labels) && is_single_column(output)) {
    return choose("bce_with_logits", "one output column and whole numbers as labels");
  }
  if (has_class_numbers(labels)) return choose("softmax_cross_entropy", "the labels are class numbers");
  return choose("mse", "the labels are real numbers");
}

std::vector<passes::MetricSpec> choose_metrics(const std::vector<passes::LossSpec>& losses) {
  std::vector<passes::MetricSpec> metrics;
  for (const passes::LossSpec& loss : losses) {
    passes::MetricSpec metric;
    metric.type = loss.type == "softmax_cross_entropy" || loss.type == "nll" ? "accuracy"
                  : loss.type == "bce" || loss.type == "bce_with_logits"     ? "binary_accuracy"
                  : loss.type == "mse"                                       ? "mae"
                                                                             : "mse";
    metric.output = loss.output;
    metric.label = loss.label;
    metric.ignore_index = loss.ignore_index;
    metrics.push_back(metric);
  }
  return metrics;
}

}  // namespace ort_train::training
