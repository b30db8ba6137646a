// What N replicas compute is what one replica computes, in float64, by the plain kernels.
#include <doctest/doctest.h>

#include <cmath>

#include "base/shard.h"
#include "tests/division_check.h"

using namespace ort_train;
using graph::Builder;
using graph::Value;
using passes::MetricSpec;
using passes::Replication;
using tests::Arrays;
using tests::check_all_divisions;
using tests::Model;
using tests::random_input;
using tests::Run;
using tests::spec_of;
using tests::train_replicas;

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
