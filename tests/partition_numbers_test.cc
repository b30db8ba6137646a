// What N replicas compute is what one replica computes, in float64, by the plain kernels.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "base/shard.h"
#include "graph/builder.h"
#include "kernels/kernel.h"
#include "passes/training_graph.h"
#include "tests/difference.h"
#include "tests/replica_interpreter.h"
#include "tests/sharding_support.h"

using namespace ort_train;
using graph::Builder;
using graph::Graph;
using graph::Role;
using graph::Value;
using passes::LossSpec;
using passes::MetricSpec;
using passes::Replication;
using passes::TrainingSpec;

namespace {

using Arrays = std::map<std::string, Tensor>;

constexpr double bound = 1e-10;
constexpr int steps = 3;

/// Builds models whose parameters are random.
class Model {
 public:
  Model() : graph_(std::make_unique<Graph>()), builder_(*graph_) { graph_->opsets[""] = 28; }

  Builder& builder() { return builder_; }
  Value* input(const std::string& name, const Dims& dims, DataType dtype = DataType::float64) {
    return graph_->add_input(name, graph::Type(dtype, dims));
  }
  Value* parameter(const Dims& dims) {
    const std::string name = "w" + std::to_string(count_++);
    return graph_->add_initializer(name, Role::parameter, random(dims, 0.5), true);
  }
  Value* linear(Value* x, std::int64_t from, std::int64_t to) {
    return builder_.add(builder_.emit("MatMul", {x, parameter({from, to})}), parameter({to}));
  }
  Value* batch_normalization(Value* x, std::int64_t channels) {
    Value* mean = graph_->add_initializer("mean" + std::to_string(count_), Role::parameter,
                                          Tensor(DataType::float64, {channels}));
    Value* variance =
        graph_->add_initializer("variance" + std::to_string(count_), Role::parameter,
                                Tensor::of({channels}, std::vector<double>(static_cast<std::size_t>(channels), 1.0)));
    return builder_.emit("BatchNormalization", {x, parameter({channels}), parameter({channels}), mean, variance});
  }
  std::unique_ptr<Graph> finish(const std::vector<std::pair<std::string, Value*>>& outputs) {
    for (const auto& [name, value] : outputs) {
      graph_->rename(value, name);
      graph_->add_output(value);
    }
    return std::move(graph_);
  }

 private:
  Tensor random(const Dims& dims, double scale) {
    RandomStream stream(7, RandomPurpose::initialization, 0, static_cast<std::uint64_t>(count_));
    std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
    for (double& value : values) value = scale * stream.normal();
    return Tensor::of(dims, values);
  }

  std::unique_ptr<Graph> graph_;
  Builder builder_;
  int count_ = 0;
};

/// A training run to be divided.
struct Run {
  std::unique_ptr<Graph> model;
  TrainingSpec spec;
  std::map<std::string, Dims> input_dims;
  std::int64_t classes = 3;
  std::int64_t batch = 0;
  bool synchronized = true;
};

Tensor random_input(const graph::Value& input, std::int64_t classes, std::uint32_t step) {
  const std::uint64_t key = std::hash<std::string>()(input.name()) >> 16;
  RandomStream stream(3, RandomPurpose::augmentation, step, key);
  std::vector<double> values(static_cast<std::size_t>(element_count(input.dims())));
  for (double& value : values) {
    value = is_floating_point(input.dtype()) ? stream.uniform(0.0F, 1.0F)
                                             : static_cast<double>(stream.below(static_cast<std::uint64_t>(classes)));
  }
  return Tensor::of(input.dims(), values).cast(input.dtype());
}

bool is_fed_by_training(const std::string& name) { return name.rfind("ort_train.", 0) == 0; }

Arrays feeds_of_training(std::int64_t step, std::int64_t first_sample) {
  return {{passes::learning_rate_input, Tensor::scalar(0.1F)},
          {passes::step_input, Tensor::scalar(step)},
          {passes::first_sample_input, Tensor::scalar(first_sample)}};
}

/// Results of every step on one replica: outputs and new state.
std::vector<Arrays> train_whole(const Run& run) {
  const auto graph = passes::build_training_graph(*run.model, run.spec, run.input_dims);
  Arrays state;
  std::vector<Arrays> results;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    Arrays feeds = feeds_of_training(step, 0);
    for (const Value* input : graph->inputs()) {
      if (!is_fed_by_training(input->name())) feeds[input->name()] = random_input(*input, run.classes, step);
    }
    feeds.insert(state.begin(), state.end());
    results.push_back(kernels::interpret(*graph, feeds));
    for (const graph::Update& update : graph->updates())
      state[update.state->name()] = results.back()[update.state->name()];
  }
  return results;
}

std::vector<std::vector<Arrays>> train_replicas(const Run& run, const Replication& division) {
  std::vector<std::unique_ptr<Graph>> graphs;
  for (int rank = 0; rank < division.replicas; ++rank) {
    Replication replication = division;
    replication.rank = rank;
    graphs.push_back(passes::build_training_graph(*run.model, run.spec, run.input_dims, replication));
  }
  const auto shardings = passes::input_shardings(*run.model, run.spec, run.input_dims);
  const auto whole = passes::build_training_graph(*run.model, run.spec, run.input_dims);
  std::vector<Arrays> states(graphs.size());
  std::vector<std::vector<Arrays>> results;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    std::vector<Arrays> feeds;
    for (int rank = 0; rank < division.replicas; ++rank) {
      const Shard shard = shard_of(run.batch, division.replicas, rank);
      feeds.push_back(feeds_of_training(step, shard.first));
      for (const Value* input : whole->inputs()) {
        if (is_fed_by_training(input->name())) continue;
        const Tensor all = random_input(*input, run.classes, step);
        feeds.back()[input->name()] = tests::rows_of(all, shardings.at(input->name()), run.batch, shard);
      }
      const Arrays& state = states[static_cast<std::size_t>(rank)];
      feeds.back().insert(state.begin(), state.end());
    }
    results.push_back(tests::interpret_replicas(graphs, feeds));
    for (std::size_t rank = 0; rank < graphs.size(); ++rank) {
      for (const graph::Update& update : graphs[rank]->updates()) {
        states[rank][update.state->name()] = results.back()[rank][update.state->name()];
      }
    }
  }
  return results;
}

/// Slots of a sharded optimizer have other extents; what they hold shows in the parameters of the next step.
bool is_slot(const std::string& name) {
  return name.rfind("ort_train.m", 0) == 0 && name.rfind("ort_train.metric", 0) != 0;
}

void compare(const Run& run, const Replication& division, const std::vector<Arrays>& expected) {
  CAPTURE(division.replicas);
  CAPTURE(division.accumulate);
  CAPTURE(division.shard_optimizer);
  CAPTURE(division.bucket_bytes);
  const auto results = train_replicas(run, division);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    for (std::size_t rank = 0; rank < results[step].size(); ++rank) {
      for (const auto& entry : expected[step]) {
        if (division.shard_optimizer && is_slot(entry.first)) continue;
        const auto found = results[step][rank].find(entry.first);
        REQUIRE_MESSAGE((found != results[step][rank].end()), entry.first);
        CHECK_MESSAGE((tests::largest_difference(entry.second, found->second) < bound),
                      entry.first << " in step " << step + 1 << " on replica " << rank);
      }
    }
  }
}

void check_all_divisions(const Run& run) {
  const std::vector<Arrays> expected = train_whole(run);
  for (const int replicas : {1, 2, 3, 4, 7}) {
    for (const int accumulate : {1, 2, 3}) {
      Replication division;
      division.replicas = replicas;
      division.accumulate = accumulate;
      division.statistics = Replication::Statistics::synchronized;
      if (!division.divides()) continue;
      compare(run, division, expected);
    }
    Replication sharded;
    sharded.replicas = replicas;
    sharded.statistics = Replication::Statistics::synchronized;
    sharded.shard_optimizer = true;
    sharded.bucket_bytes = 40;
    if (sharded.divides()) compare(run, sharded, expected);
  }
}

TrainingSpec spec_of(std::vector<LossSpec> losses, const std::string& optimizer = "sgd") {
  TrainingSpec spec;
  spec.losses = std::move(losses);
  spec.optimizer.type = optimizer;
  if (optimizer == "sgd") spec.optimizer.momentum = 0.9;
  spec.optimizer.weight_decay = 0.01;
  return spec;
}

}  // namespace

TEST_CASE("a dense network with dropout and batch normalization") {
  for (const std::int64_t batch : {1, 4, 5, 8}) {
    CAPTURE(batch);
    Model m;
    Value* x = m.linear(m.input("x", {batch, 6}), 6, 5);
    x = m.builder().emit("Relu", {m.batch_normalization(x, 5)});
    x = m.builder().emit("Dropout", {x, m.builder().scalar(0.4, DataType::float32)});
    Run run{
        m.finish({{"y", m.linear(x, 5, 3)}}), spec_of({{"softmax_cross_entropy", "y", "label"}}), {{"x", {batch, 6}}}};
    run.spec.losses[0].ignore_index = 1;
    run.spec.metrics = {MetricSpec{"accuracy"}};
    run.batch = batch;
    if (batch == 1) run.spec.losses[0].ignore_index.reset();
    check_all_divisions(run);
  }
}

TEST_CASE("a convolutional network") {
  Model m;
  Builder& b = m.builder();
  Value* x = m.input("x", {5, 2, 6, 6});
  x = b.emit("Conv", {x, m.parameter({4, 2, 3, 3}), m.parameter({4})},
             {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  x = b.emit("Relu", {m.batch_normalization(x, 4)});
  Value* pooled =
      b.emit("MaxPool", {x},
             {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  Value* other =
      b.emit("AveragePool", {x},
             {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  x = b.emit("Concat", {pooled, other}, {{"axis", std::int64_t{1}}});
  x = b.emit("Conv", {x, m.parameter({6, 4, 2, 2})}, {{"group", std::int64_t{2}}});
  x = b.emit("Flatten", {b.emit("GlobalAveragePool", {x})});
  Run run{m.finish({{"y", b.emit("Softmax", {m.linear(x, 6, 3)})}}),
          spec_of({{"softmax_cross_entropy", "y", "label"}}, "adam"),
          {{"x", {5, 2, 6, 6}}}};
  run.spec.metrics = {MetricSpec{"top_k", "", "", 2}};
  run.batch = 5;
  check_all_divisions(run);
}

TEST_CASE("a sequence model with an embedding, a class token, attention and a merged batch axis") {
  constexpr std::int64_t n = 4, t = 3, d = 4;
  Model m;
  Builder& b = m.builder();
  Value* tokens = m.input("tokens", {n, t}, DataType::int64);
  Value* x = b.emit("Gather", {m.parameter({3, d}), tokens});
  Value* start = b.expand(m.parameter({1, 1, d}), {n, 1, d});
  x = b.emit("Concat", {start, x}, {{"axis", std::int64_t{1}}});
  x = b.emit_many("LayerNormalization", {x, m.parameter({d}), m.parameter({d})}, 1, {{"axis", std::int64_t{-1}}})[0];
  Value* q = m.linear(x, d, d);
  Value* k = b.transpose(m.linear(x, d, d), {0, 2, 1});
  Value* weights = b.emit("Softmax", {b.emit("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
  x = b.add(x, b.emit("MatMul", {weights, m.linear(x, d, d)}));
  x = b.emit("Slice", {x, b.int64s({1}), b.int64s({t + 1}), b.int64s({1})});
  x = b.reshape(x, {n * t, d});
  Run run{m.finish({{"y", m.linear(x, d, 3)}}),
          spec_of({{"softmax_cross_entropy", "y", "label"}}, "sgd"),
          {{"tokens", {n, t}}}};
  run.spec.losses[0].ignore_index = 0;
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("samples along axis 1, merged behind the time axis") {
  constexpr std::int64_t n = 4, t = 3;
  Model m;
  Builder& b = m.builder();
  Value* x = b.emit("Tanh", {m.linear(m.input("x", {t, n, 5}), 5, 4)});
  x = b.emit("Dropout", {x});
  x = b.reshape(x, {t * n, 4});
  Run run{m.finish({{"y", m.linear(x, 4, 3)}}), spec_of({{"softmax_cross_entropy", "y", "label"}}), {{"x", {t, n, 5}}}};
  run.spec.batch_axes = {{"x", 1}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("several losses with several inputs") {
  constexpr std::int64_t n = 5;
  Model m;
  Builder& b = m.builder();
  Value* a = m.linear(m.input("a", {n, 3}), 3, 4);
  Value* c = m.linear(m.input("c", {n, 2}), 2, 4);
  Value* shared = b.emit("Relu", {b.mul(a, c)});
  Value* first = m.linear(shared, 4, 3);
  Value* second = b.emit("Sigmoid", {m.linear(shared, 4, 2)});
  Value* third = m.linear(shared, 4, 1);
  Run run{m.finish({{"p", first}, {"q", second}, {"r", third}}),
          spec_of({{"softmax_cross_entropy", "p", "lp", 1.0, 2}, {"bce", "q", "lq", 0.3}, {"mse", "r", "lr", 2.0}},
                  "adamw"),
          {{"a", {n, 3}}, {"c", {n, 2}}}};
  run.spec.metrics = {MetricSpec{"mae", "r"}, MetricSpec{"accuracy", "p"}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("means over the batch in the model itself, and two views of a batch") {
  constexpr std::int64_t n = 4;
  Model m;
  Builder& b = m.builder();
  Value* x = m.input("x", {n, 4});
  Value* views = b.emit("Concat", {x, b.emit("Neg", {x})}, {{"axis", std::int64_t{0}}});
  Value* h = m.linear(views, 4, 4);
  const auto halves = b.emit_many("Split", {h}, 2, {{"axis", std::int64_t{0}}, {"num_outputs", std::int64_t{2}}});
  Value* y = b.mul(halves[0], halves[1]);
  Value* mean = b.emit("ReduceMean", {y, b.int64s({0})}, {{"keepdims", std::int64_t{1}}});
  Value* centered = b.sub(y, mean);
  Value* rows = b.constant(Tensor::of({n, 1}, std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  Run run{m.finish({{"y", m.linear(b.add(centered, rows), 4, 2)}}), spec_of({{"mse", "y", "label"}}), {{"x", {n, 4}}}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("tied weights and a weight behind a transposition") {
  constexpr std::int64_t n = 5;
  Model m;
  Builder& b = m.builder();
  Value* w = m.parameter({4, 4});
  Value* x = b.emit("Tanh", {b.emit("MatMul", {m.input("x", {n, 4}), w})});
  x = b.emit("Gemm", {x, w, m.parameter({4})}, {{"transB", std::int64_t{1}}});
  x = b.emit("Einsum", {x, m.parameter({4, 4})}, {{"equation", std::string("ni,ij->nj")}});
  Run run{m.finish({{"y", b.mul(x, m.parameter({1, 4}))}}), spec_of({{"l1", "y", "label"}}), {{"x", {n, 4}}}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("tuples of coordinates: per sample, of the whole batch in order, of any samples, and of a table") {
  constexpr std::int64_t n = 5;
  Model m;
  Builder& b = m.builder();
  const auto indices = [&](const Dims& dims, const std::vector<std::int64_t>& values) {
    return b.constant(Tensor::of(dims, values));
  };
  Value* x = b.mul(m.input("x", {n, 4}), m.parameter({4}));
  Value* order = indices({n, 2}, {0, 3, 1, 0, 2, 2, 3, 3, -1, 1});
  Value* column = b.emit("GatherND", {x, order});
  x = b.emit("ScatterND", {x, order, b.mul(column, m.parameter({1}))});
  Value* some = indices({3, 2}, {4, 0, 1, -1, 4, 0});
  x = b.emit("ScatterND", {x, some, m.parameter({3})}, {{"reduction", std::string("add")}});
  x = b.mul(x, b.reduce_sum(b.emit("GatherND", {x, some}), {0}, true));
  Value* blocks = b.transpose(x, {1, 0});
  blocks =
      b.emit("ScatterND", {blocks, indices({2, 1}, {3, 1}), b.emit("GatherND", {blocks, indices({2, 1}, {0, 0})})});
  x = b.transpose(blocks, {1, 0});
  Value* of_sample = b.emit("GatherND", {x, m.input("i", {n, 1}, DataType::int64)}, {{"batch_dims", std::int64_t{1}}});
  Value* of_table = b.emit("GatherND", {m.parameter({3, 2}), m.input("j", {n, 2, 1}, DataType::int64)});
  x = b.add(b.add(x, b.unsqueeze(of_sample, {1})), b.reshape(of_table, {n, 4}));
  Run run{m.finish({{"y", x}}), spec_of({{"mse", "y", "label"}}), {{"x", {n, 4}}, {"i", {n, 1}}, {"j", {n, 2, 1}}}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("an ellipsis, a bias beside a sum over the samples, places of maxima, and a diagonal through the batch") {
  constexpr std::int64_t n = 5;
  Model m;
  Builder& b = m.builder();
  Value* x = m.input("x", {n, 4});
  Value* h =
      b.emit("Einsum", {b.reshape(x, {n, 2, 2}), m.parameter({3, 2})}, {{"equation", std::string("...ij,kj->...ik")}});
  h = b.reshape(h, {n, 6});
  Value* products = b.emit("Gemm", {h, x, m.parameter({4})}, {{"transA", std::int64_t{1}}, {"beta", 0.5F}});
  h = b.emit("MatMul", {h, products});
  h = b.mul(h, b.emit("EyeLike", {h}, {{"k", std::int64_t{-1}}}));
  const auto pooled =
      b.emit_many("MaxPool", {b.unsqueeze(x, {1})}, 2, {{"kernel_shape", std::vector<std::int64_t>{2}}});
  Value* places = b.reshape(b.emit("CastLike", {pooled[1], x}), {n, 3});
  Run run{m.finish({{"y", m.linear(b.add(h, x), 4, 2)}, {"places", b.mul(places, m.parameter({3}))}}),
          spec_of({{"mse", "y", "label"}, {"mse", "places", "other"}}),
          {{"x", {n, 4}}}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("local statistics: running statistics are the average, by the samples, of those of the shards") {
  constexpr std::int64_t n = 5;
  Model m;
  Value* x = m.batch_normalization(m.input("x", {n, 2}), 2);
  Run run{m.finish({{"y", m.linear(x, 2, 2)}}), spec_of({{"mse", "y", "label"}}), {{"x", {n, 2}}}};
  run.batch = n;
  Replication division;
  division.replicas = 3;
  const auto results = train_replicas(run, division);
  const auto whole = passes::build_training_graph(*run.model, run.spec, run.input_dims);
  const std::vector<double> all = random_input(*whole->at("x"), run.classes, 1).to_doubles();
  double mean = 0, variance = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const Shard shard = shard_of(n, 3, rank);
    double sum = 0, squares = 0;
    for (std::int64_t row = shard.first; row < shard.first + shard.rows; ++row)
      sum += all[static_cast<std::size_t>(2 * row)];
    const double center = sum / static_cast<double>(shard.rows);
    for (std::int64_t row = shard.first; row < shard.first + shard.rows; ++row)
      squares += std::pow(all[static_cast<std::size_t>(2 * row)] - center, 2);
    const double share = static_cast<double>(shard.rows) / n;
    mean += share * 0.1 * center;
    variance += share * (0.9 + 0.1 * squares / static_cast<double>(shard.rows));
  }
  for (int rank = 0; rank < 3; ++rank) {
    Arrays state = results[0][static_cast<std::size_t>(rank)];
    CHECK(state.at("mean0").to_doubles()[0] == doctest::Approx(mean).epsilon(1e-6));
    CHECK(state.at("variance0").to_doubles()[0] == doctest::Approx(variance).epsilon(1e-6));
  }
}
