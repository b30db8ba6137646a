#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>

#include "base/random.h"
#include "graph/builder.h"
#include "runtime/data/array_dataset.h"
#include "runtime/training/trainer.h"
#include "tests/command.h"
#include "tests/difference.h"
#include "tests/small_task.h"

namespace ort_train::training {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Role;
using graph::Value;
using Statistics = passes::Replication::Statistics;

/// Rounding of sums taken in another order, in float64, over all steps of a run.
constexpr double bound = 1e-10;

std::map<std::string, Tensor> state_of(Trainer& trainer) {
  std::map<std::string, Tensor> state;
  for (const std::string& name : trainer.program().state().names()) state[name] = trainer.program().state().get(name);
  return state;
}

/// Everything about a run, drawn from one number.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t number) : number_(number) {
    RandomStream draw(number, RandomPurpose::initialization);
    const auto below = [&](std::uint64_t bound) { return static_cast<std::int64_t>(draw.below(bound)); };
    samples_ = 3 + below(22);
    features_ = 2 + below(4);
    const char* losses[] = {"softmax_cross_entropy", "mse", "l1", "bce_with_logits"};
    loss_ = losses[below(4)];
    outputs_ = 2 + below(3);
    layers_ = 1 + below(2);
    normalizes_ = below(2) == 0;
    drops_ = below(2) == 0;
    activation_ = below(4);
    config.epochs = 2;
    config.global_batch_size = 1 + below(9);
    config.seed = number;
    config.threads = 1;
    config.schedule.learning_rate = 0.05;
    config.batch_norm = Statistics::synchronized;
    const char* optimizers[] = {"sgd", "adam", "adamw"};
    config.optimizer.type = optimizers[below(3)];
    if (config.optimizer.type == "sgd") config.optimizer.momentum = 0.9;
    // Adam divides by the size of a gradient, which magnifies the rounding of one that is all but zero.
    config.optimizer.epsilon = 1e-3;
    config.optimizer.weight_decay = 0.01;
    passes::LossSpec loss;
    loss.type = loss_;
    config.losses = {loss};
  }

  /// A batch of one sample has no deviation to normalize by, and micro-batches of a normalized batch differ by nature.
  bool is_sensible() const {
    return !normalizes_ || (*config.global_batch_size > 1 && samples_ % *config.global_batch_size != 1);
  }

  std::unique_ptr<Graph> model() const {
    auto graph = std::make_unique<Graph>();
    graph->opsets[""] = 17;
    Builder builder(*graph);
    Value* x = graph->add_input("x", graph::Type(DataType::float64, graph::Shape{std::string("N"), features_}));
    std::int64_t width = features_;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      const std::int64_t next = 3 + layer;
      x = linear(builder, x, width, next);
      if (normalizes_) x = normalized(builder, x, next);
      const char* activations[] = {"Relu", "Tanh", "Softplus", "Sigmoid"};
      x = builder.emit(activations[(activation_ + layer) % 4], {x});
      if (drops_) x = builder.emit("Dropout", {x, builder.scalar(0.3, DataType::float32)});
      width = next;
    }
    x = linear(builder, x, width, outputs_);
    graph->rename(x, "y");
    graph->add_output(x);
    return graph;
  }

  data::Splits splits() const { return {samples(samples_, 1), samples(7, 2)}; }

  TrainingConfig config;

 private:
  data::DatasetPointer samples(std::int64_t count, std::uint64_t part) const {
    RandomStream draw(number_, RandomPurpose::augmentation, static_cast<std::uint32_t>(part));
    std::vector<double> inputs(static_cast<std::size_t>(count * features_));
    for (double& value : inputs) value = draw.normal();
    const bool classes = loss_ == "softmax_cross_entropy";
    std::vector<double> labels(static_cast<std::size_t>(classes ? count : count * outputs_));
    for (double& label : labels)
      label = classes ? static_cast<double>(draw.below(static_cast<std::uint64_t>(outputs_))) : draw.uniform();
    const Tensor label =
        classes ? Tensor::of({count}, labels).cast(DataType::int64) : Tensor::of({count, outputs_}, labels);
    std::vector<data::ArrayDataset::Array> fields = {
        {"x", data::FieldRole::input, data::ImageLayout::none, Tensor::of({count, features_}, inputs)},
        {"label", data::FieldRole::label, data::ImageLayout::none, label}};
    return std::make_shared<data::ArrayDataset>(std::move(fields),
                                                std::vector<data::ArrayDataset::Source>{{"memory", count}}, "sample");
  }

  Value* state(Builder& builder, const Dims& dims, double scale, double center) const {
    Graph& graph = builder.graph();
    const std::string name = "w" + std::to_string(graph.initializers().size());
    RandomStream draw(number_, RandomPurpose::initialization, 1, graph.initializers().size());
    std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
    for (double& value : values) value = center + scale * draw.normal();
    return graph.add_initializer(name, Role::parameter, Tensor::of(dims, values), true);
  }

  Value* linear(Builder& builder, Value* x, std::int64_t from, std::int64_t to) const {
    return builder.emit("Gemm", {x, state(builder, {from, to}, 0.5, 0), state(builder, {to}, 0.1, 0)});
  }

  Value* normalized(Builder& builder, Value* x, std::int64_t width) const {
    return builder.emit("BatchNormalization", {x, state(builder, {width}, 0.1, 1), state(builder, {width}, 0.1, 0),
                                               state(builder, {width}, 0, 0), state(builder, {width}, 0, 1)});
  }

  std::uint64_t number_;
  std::int64_t samples_ = 0, features_ = 0, outputs_ = 0, layers_ = 0, activation_ = 0;
  bool normalizes_ = false, drops_ = false;
  std::string loss_;
};

std::unique_ptr<Trainer> trained(const TrainingConfig& config, std::unique_ptr<Graph> model, data::Splits splits) {
  auto trainer = std::make_unique<Trainer>(config, std::move(model), std::move(splits));
  trainer->fit();
  return trainer;
}

void check_close(Trainer& expected, Trainer& actual, double tolerance) {
  const auto left = state_of(expected), right = state_of(actual);
  for (const auto& entry : left) {
    const bool is_slot = expected.program().state().role(entry.first) == Role::optimizer_slot;
    if (is_slot && actual.config().shard_optimizer) continue;
    REQUIRE_MESSAGE((right.count(entry.first) == 1), entry.first);
    CHECK_MESSAGE((tests::largest_difference(entry.second, right.at(entry.first)) < tolerance), entry.first);
  }
  for (const std::string column : {"loss", "val_loss"}) {
    if (actual.task().splits().validation == nullptr && column == "val_loss") continue;
    CHECK(actual.history().last(column) == doctest::Approx(expected.history().last(column)).epsilon(tolerance));
  }
}

TrainingConfig small_config() {
  TrainingConfig config;
  config.epochs = 3;
  config.global_batch_size = 16;  // 4 steps an epoch, the last of 2 samples
  config.optimizer.momentum = 0.9;
  config.schedule.learning_rate = 0.05;
  config.augmentation.width_shift = 0.2F;
  config.augmentation.horizontal_flip = true;
  config.preprocessing.mean = PreprocessingConfig::Mean::image;
  config.batch_norm = Statistics::synchronized;
  config.seed = 5;
  config.threads = 1;
  config.winograd = false;
  return config;
}

class InterruptAfter : public Callback {
 public:
  InterruptAfter(std::int64_t epoch, std::int64_t step) : epoch_(epoch), step_(step) {}
  void on_batch_end(Trainer& trainer, const BatchReport& report) override {
    if (report.epoch == epoch_ && report.step == step_) trainer.interrupt();
  }

 private:
  std::int64_t epoch_, step_;
};

}  // namespace

TEST_CASE("whatever the model and the run: N replicas learn what one learns, and equal runs give equal bits") {
  int runs = 0;
  for (std::uint64_t number = 1; runs < 40; ++number) {
    RandomRun run(number);
    if (!run.is_sensible()) continue;
    CAPTURE(number);
    const auto one = trained(run.config, run.model(), run.splits());
    const int replicas[] = {1, 2, 3, 4, 7};
    run.config.replicas = replicas[runs % 5];
    run.config.accumulate = 1 + runs % 3;
    run.config.accumulate = std::min(run.config.accumulate, *run.config.global_batch_size);
    run.config.shard_optimizer = runs % 2 == 1;
    run.config.bucket_bytes = runs % 4 == 0 ? 0 : 64 << (runs % 4);
    CAPTURE(run.config.replicas);
    CAPTURE(run.config.accumulate);
    const auto many = trained(run.config, run.model(), run.splits());
    check_close(*one, *many, bound);
    const auto again = trained(run.config, run.model(), run.splits());
    for (const auto& entry : state_of(*many)) {
      CHECK_MESSAGE(entry.second.identical(state_of(*again).at(entry.first)), entry.first);
    }
    ++runs;
  }
}

TEST_CASE("images with augmentation, a mean image, dropout and batch normalization, in float32") {
  const auto one = trained(small_config(), test::small_classifier(), test::small_splits());
  for (const std::int64_t replicas : {2, 3}) {
    TrainingConfig config = small_config();
    config.replicas = replicas;
    const auto many = trained(config, test::small_classifier(), test::small_splits());
    check_close(*one, *many, 2e-4);
    CHECK(many->history().last("val_accuracy") == doctest::Approx(one->history().last("val_accuracy")));
  }
}

TEST_CASE("images that the graph prepares are those that the loader prepares") {
  TrainingConfig config = small_config();
  config.augmentation.crop_padding = 1;
  config.augmentation.random_crop = true;
  config.preprocessing.deviation = PreprocessingConfig::Deviation::channel;
  const auto host = trained(config, test::small_classifier(), test::small_splits());
  config.preprocessing.on_device = true;
  for (const std::int64_t replicas : {1, 3}) {
    config.replicas = replicas;
    const auto device = trained(config, test::small_classifier(), test::small_splits());
    check_close(*host, *device, 2e-4);
    CHECK(device->history().last("val_accuracy") == doctest::Approx(host->history().last("val_accuracy")));
  }
}

TEST_CASE("batch_size counts for each replica and micro-batch") {
  TrainingConfig config = small_config();
  config.global_batch_size.reset();
  config.batch_size = 4;
  config.replicas = 2;
  config.accumulate = 2;
  CHECK(global_batch(config) == 16);
  CHECK(evaluation_batch(config) == 8);
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  trainer.prepare();
  CHECK(trainer.steps_per_epoch() == 4);
}

TEST_CASE("a data set smaller than one batch, and fewer samples than replicas") {
  TrainingConfig config = small_config();
  config.global_batch_size = 64;
  const auto one = trained(config, test::small_classifier(), test::small_splits());
  config.replicas = 3;
  check_close(*one, *trained(config, test::small_classifier(), test::small_splits()), 2e-4);
  config.global_batch_size = 2;
  config.replicas = 4;
  const auto many = trained(config, test::small_classifier(), test::small_splits());
  CHECK(std::isfinite(many->history().last("loss")));
}

TEST_CASE("a checkpoint goes on in any layout") {
  RandomRun run(3);
  run.config.global_batch_size = 4;
  run.config.epochs = 4;
  run.config.optimizer = {};
  run.config.optimizer.type = "adam";
  run.config.optimizer.epsilon = 1e-3;
  const auto undisturbed = trained(run.config, run.model(), run.splits());
  for (const bool sharded : {false, true}) {
    const TemporaryFolder folder;
    TrainingConfig first = run.config;
    first.replicas = 4;
    first.shard_optimizer = sharded;
    first.checkpoint = folder.path();
    Trainer interrupted(first, run.model(), run.splits());
    interrupted.add_callback(std::make_shared<InterruptAfter>(2, 1));
    REQUIRE(interrupted.fit().interrupted);
    for (const std::int64_t replicas : {1, 2, 3}) {
      TrainingConfig second = run.config;
      second.replicas = replicas;
      second.shard_optimizer = replicas == 2;
      second.resume = folder.path();
      CAPTURE(replicas);
      check_close(*undisturbed, *trained(second, run.model(), run.splits()), bound);
    }
  }
}

TEST_CASE("the optimizer's state of a replica shrinks by the number of replicas") {
  TrainingConfig config = small_config();
  config.optimizer = {};
  config.optimizer.type = "adam";
  const auto slot_bytes = [&] {
    Trainer trainer(config, test::small_classifier(), test::small_splits());
    trainer.prepare();
    std::size_t bytes = 0;
    const runtime::State& state = trainer.program().state();
    for (const std::string& name : state.names()) {
      if (state.role(name) == Role::optimizer_slot) bytes += state.get(name).bytes();
    }
    return bytes;
  };
  const std::size_t whole = slot_bytes();
  config.replicas = 4;
  CHECK(slot_bytes() == whole);
  config.shard_optimizer = true;
  // Each slot is filled up to a multiple of the number of replicas.
  CHECK(slot_bytes() <= whole / 4 + 6 * 2 * sizeof(float));
}

TEST_CASE("a replica that fails ends the run with its own message, at once") {
  const auto fail_in = [](std::int64_t replicas) {
    RandomRun run(1);
    run.config.replicas = replicas;
    run.config.global_batch_size = 8;
    passes::LossSpec loss;
    loss.type = "softmax_cross_entropy";
    run.config.losses = {loss};
    std::vector<double> inputs(26, 0.5);
    auto graph = std::make_unique<Graph>();
    graph->opsets[""] = 17;
    Builder builder(*graph);
    Value* x = graph->add_input("x", graph::Type(DataType::float64, graph::Shape{std::string("N"), 1}));
    Value* w = graph->add_initializer("w", Role::parameter, Tensor::of({1, 2}, std::vector<double>{1, 2}), true);
    Value* scaled = builder.emit("Log", {x});
    Value* y = builder.emit("MatMul", {scaled, w});
    graph->rename(y, "y");
    graph->add_output(y);
    inputs[13] = 0;  // its logarithm is not finite
    std::vector<data::ArrayDataset::Array> fields = {
        {"x", data::FieldRole::input, data::ImageLayout::none, Tensor::of({26, 1}, inputs)},
        {"label", data::FieldRole::label, data::ImageLayout::none, Tensor(DataType::int64, {26})}};
    data::Splits splits{std::make_shared<data::ArrayDataset>(
                            std::move(fields), std::vector<data::ArrayDataset::Source>{{"memory", 26}}, "sample"),
                        nullptr};
    Trainer trainer(run.config, std::move(graph), std::move(splits));
    trainer.fit();
  };
  const auto begin = std::chrono::steady_clock::now();
  for (const std::int64_t replicas : {1, 3}) {
    CHECK_THROWS_WITH_AS(fail_in(replicas), doctest::Contains("the loss became"), Error);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("samples along another axis than the first one") {
  // [time, N, features], as recurrent models have it.
  const auto model = [] {
    auto graph = std::make_unique<Graph>();
    graph->opsets[""] = 17;
    Builder builder(*graph);
    Value* x = graph->add_input("x", graph::Type(DataType::float64, graph::Shape{3, std::string("N"), 2}));
    Value* w = graph->add_initializer("w", Role::parameter,
                                      Tensor::of({2, 2}, std::vector<double>{0.1, 0.2, -0.3, 0.4}), true);
    Value* y = builder.emit("MatMul", {x, w});
    graph->rename(y, "y");
    graph->add_output(y);
    return graph;
  };
  // What the model is to learn is known: y = 2 x.
  std::vector<double> inputs(20 * 6), targets;
  RandomStream draw(1, RandomPurpose::augmentation);
  for (double& value : inputs) value = draw.normal();
  for (const double value : inputs) targets.push_back(2 * value);
  const auto splits = [&] {
    std::vector<data::ArrayDataset::Array> fields = {
        {"x", data::FieldRole::input, data::ImageLayout::none, Tensor::of({20, 3, 2}, inputs)},
        {"label", data::FieldRole::label, data::ImageLayout::none, Tensor::of({20, 3, 2}, targets)}};
    return data::Splits{std::make_shared<data::ArrayDataset>(
                            std::move(fields), std::vector<data::ArrayDataset::Source>{{"memory", 20}}, "sample"),
                        nullptr};
  };
  TrainingConfig config;
  config.epochs = 60;
  config.global_batch_size = 6;
  config.schedule.learning_rate = 0.3;
  config.threads = 1;
  passes::LossSpec loss;
  loss.type = "mse";
  config.losses = {loss};
  const auto one = trained(config, model(), splits());
  const std::vector<double> learned = state_of(*one).at("w").to_doubles();
  CHECK(learned[0] == doctest::Approx(2).epsilon(1e-3));
  CHECK(learned[1] == doctest::Approx(0).epsilon(1e-3));
  const auto loader = one->task().evaluation_loader(one->task().splits().training);
  CHECK(evaluate(one->program(), *loader, one->task().sample_blocks()).loss < 1e-5);
  config.replicas = 4;
  check_close(*one, *trained(config, model(), splits()), bound);
  config.batch_axis = {{"", 0}};
  CHECK_THROWS_AS(trained(config, model(), splits()), Error);
  config.batch_axis = {{"z", 1}};
  CHECK_THROWS_WITH_AS(trained(config, model(), splits()), doctest::Contains("the model has no input 'z'"), Error);
}

}  // namespace ort_train::training
