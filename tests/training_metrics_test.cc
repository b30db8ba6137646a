#include <doctest/doctest.h>

#include <cmath>

#include "graph/onnx_io.h"
#include "runtime/data/array_dataset.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/loss_choice.h"
#include "runtime/training/metrics.h"
#include "runtime/training/task.h"
#include "runtime/training/text_format.h"

namespace ort_train::training {
namespace {

data::DatasetPointer arrays(const Tensor& x, const Tensor& y) {
  std::vector<data::ArrayDataset::Array> fields = {{"x", data::FieldRole::input, data::ImageLayout::none, x},
                                                   {"y", data::FieldRole::label, data::ImageLayout::none, y}};
  return std::make_shared<data::ArrayDataset>(std::move(fields),
                                              std::vector<data::ArrayDataset::Source>{{"memory", x.dims()[0]}}, "row");
}

/// The model passes its input through, so the samples are the outputs.
constexpr const char* identity_model = R"(
<ir_version: 8, opset_import: ["" : 17]>
same (float[N, 3] x) => (float[N, 3] y) <float w = {1.0}> { y = Mul(x, w) }
)";

Evaluation evaluate_identity(TrainingConfig config, const Tensor& x, const Tensor& y) {
  Task task(config, graph::parse_text(identity_model), {arrays(x, y), nullptr});
  Program program(task.model(), task.spec(), task.sample_dims(), runtime::make_cpu_device(1));
  const auto loader = task.evaluation_loader(task.splits().training);
  return evaluate(program, *loader);
}

passes::MetricSpec metric(const std::string& type) {
  passes::MetricSpec spec;
  spec.type = type;
  return spec;
}

const Tensor scores = Tensor::of<float>({5, 3}, {9, 1, 2, 1, 9, 2, 3, 2, 1, 1, 2, 3, 3, 1, 2});

TEST_CASE("seconds are printed in seconds, however few") {
  CHECK(training::as_seconds(9.46e-5) == "0.00");
  CHECK(training::as_seconds(3.456) == "3.46");
  CHECK(training::as_seconds(158.2) == "158");
}

TEST_CASE("accuracy and top-k over batches of uneven size are those of all samples together") {
  TrainingConfig config;
  config.batch_size = 2;  // 2, 2 and 1
  config.losses = {{.type = "softmax_cross_entropy"}};
  passes::MetricSpec top = metric("top_k");
  top.k = 2;
  config.metrics = std::vector<passes::MetricSpec>{metric("accuracy"), top};
  const Tensor labels = Tensor::of<std::int64_t>({5}, {0, 1, 1, 0, 2});
  const Evaluation result = evaluate_identity(config, scores, labels);
  CHECK(result.metrics.at(0) == doctest::Approx(2.0 / 5).epsilon(1e-12));
  CHECK(result.metrics.at(1) == doctest::Approx(4.0 / 5).epsilon(1e-12));

  double expected = 0;
  for (int sample = 0; sample < 5; ++sample) {
    const float* row = scores.data<float>() + 3 * sample;
    const double sum = std::exp(row[0]) + std::exp(row[1]) + std::exp(row[2]);
    expected += std::log(sum) - row[labels.data<std::int64_t>()[sample]];
  }
  CHECK(result.loss == doctest::Approx(expected / 5).epsilon(1e-6));
}

TEST_CASE("ignored labels count neither in the loss nor in the accuracy") {
  TrainingConfig config;
  config.batch_size = 2;
  config.losses = {{.type = "softmax_cross_entropy", .ignore_index = -1}};
  const Evaluation all = evaluate_identity(config, scores, Tensor::of<std::int64_t>({5}, {0, -1, -1, -1, 2}));
  CHECK(all.metrics.at(0) == doctest::Approx(1.0 / 2));
}

TEST_CASE("mean squared and absolute error, and a weighted sum of losses") {
  TrainingConfig config;
  config.batch_size = 4;
  config.losses = {{.type = "mse", .label = "t", .weight = 2.0}, {.type = "l1", .label = "t", .weight = 0.5}};
  config.metrics = std::vector<passes::MetricSpec>{metric("mse"), metric("mae")};
  Tensor targets(DataType::float32, {5, 3});
  double squared = 0, absolute = 0;
  for (float value : scores.values<float>()) squared += value * value / 15.0, absolute += std::abs(value) / 15.0;
  const Evaluation result = evaluate_identity(config, scores, targets);
  CHECK(result.metrics.at(0) == doctest::Approx(squared).epsilon(1e-6));
  CHECK(result.metrics.at(1) == doctest::Approx(absolute).epsilon(1e-6));
  CHECK(result.loss == doctest::Approx(2 * squared + absolute / 2).epsilon(1e-6));
}

TEST_CASE("accuracy of a binary loss is on which side of the threshold the output lies") {
  TrainingConfig config;
  config.losses = {{.type = "bce_with_logits"}};
  passes::MetricSpec strict = metric("binary_accuracy");
  strict.threshold = 0.9;
  config.metrics = std::vector<passes::MetricSpec>{metric("accuracy"), strict};
  const Tensor x = Tensor::of<float>({2, 3}, {1, -1, 3, -3, 1, 3});
  const Tensor y = Tensor::of<float>({2, 3}, {1, 0, 1, 0, 0, 0});
  const Evaluation result = evaluate_identity(config, x, y);
  CHECK(result.metrics.at(0) == doctest::Approx(4.0 / 6));
  CHECK(result.metrics.at(1) == doctest::Approx(4.0 / 6));
}

TEST_CASE("names of metrics are all different") {
  passes::TrainingSpec spec;
  spec.metrics = {metric("accuracy"), metric("top_k"), metric("accuracy")};
  CHECK(metric_names(spec) == std::vector<std::string>{"accuracy", "top_5", "accuracy_2"});
}

TEST_CASE("the loss is chosen by the model's output and the labels") {
  const auto chosen = [](const std::string& last, DataType labels) {
    const auto model =
        graph::parse_text("<ir_version: 8, opset_import: [\"\" : 17]>\nm (float[N, 3] x) => (float[N, " +
                          std::string(last == "column" ? "1" : "3") + "] y) <float w = {1.0}> { " +
                          (last == "column" ? "y = ReduceSum<keepdims = 1>(x)" : "y = " + last + "(x)") + " }");
    const data::Field field{"y", labels, {}, data::FieldRole::label, data::ImageLayout::none};
    std::string why;
    std::string type = choose_loss(*model, &field, why).type;
    CHECK_FALSE(why.empty());
    return type;
  };
  CHECK(chosen("Softmax", DataType::int64) == "softmax_cross_entropy");
  CHECK(chosen("LogSoftmax", DataType::int64) == "nll");
  CHECK(chosen("Sigmoid", DataType::float32) == "bce");
  CHECK(chosen("Neg", DataType::uint8) == "softmax_cross_entropy");
  CHECK(chosen("Neg", DataType::float32) == "mse");
  CHECK(choose_metrics({{.type = "nll"}, {.type = "bce"}, {.type = "mse"}}).at(1).type == "binary_accuracy");
}

}  // namespace
}  // namespace ort_train::training
