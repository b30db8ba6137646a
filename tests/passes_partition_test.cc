#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "passes/bucket_all_reduce.h"
#include "passes/eliminate_dead_code.h"
#include "passes/eliminate_duplicates.h"
#include "passes/partition_batch.h"
#include "passes/shard_optimizer.h"
#include "passes/synchronize_batch_normalization.h"
#include "passes/training_graph.h"
#include "tests/pass_check.h"
#include "tests/sharding_support.h"

using namespace ort_train;
using passes::BatchInputs;
using passes::PartitionBatch;
using passes::Replication;
using tests::check_pass;
using tests::check_unchanged;
using tests::with_header;

namespace {

Replication replica(int rank, int replicas, std::int64_t accumulate = 1) {
  Replication replication;
  replication.replicas = replicas;
  replication.rank = rank;
  replication.accumulate = accumulate;
  return replication;
}

const BatchInputs four_samples{4, {{"x", 0}}};

/// The sentence with which a batch is refused.
std::string refusal(const std::string& body, const BatchInputs& batch = four_samples) {
  const auto graph = graph::parse_text(with_header(body));
  try {
    PartitionBatch(batch, replica(0, 2)).run(*graph);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// A model of one layer with its training step.
const char* const dense = R"(g (float[4,3] x, int64[4] label, float rate) => (float total, float sum)
    <float[3,2] w = {1,2,3,4,5,6}> {
      y = MatMul(x, w)
      sum, count, log_p = ai.ort_train.SoftmaxCrossEntropy(y, label)
      total = Div(sum, count)
      one = Constant<value_float = 1.0>()
      d = Div(one, count)
      dy = ai.ort_train.SoftmaxCrossEntropyGrad(d, log_p, label)
      dw = Gemm<transA = 1>(x, dy)
      v = ai.ort_train.SgdUpdate(w, dw, rate) })";

TEST_CASE("partition-batch shards inputs and labels, reduces sums, and divides by the count of the whole batch") {
  PartitionBatch pass(four_samples, replica(1, 3));
  check_pass(pass, dense,
             R"(g (float[1,3] x, int64[1] label, float rate) => (float total, float sum)
    <float[3,2] w = {1,2,3,4,5,6}> {
      y = MatMul(x, w)
      "sum.part", "count.part", log_p = ai.ort_train.SoftmaxCrossEntropy(y, label)
      one = Constant<value_float = 1.0>()
      ["count.AllReduce"] count = ai.ort_train.AllReduce<needed = 2, readers = 2, ready = 1>("count.part")
      d = Div(one, count)
      dy = ai.ort_train.SoftmaxCrossEntropyGrad(d, log_p, label)
      "dw.part" = Gemm<transA = 1>(x, dy)
      ["sum.AllReduce"] sum = ai.ort_train.AllReduce<needed = 2, readers = 2, ready = 1>("sum.part")
      ["dw.AllReduce"] dw = ai.ort_train.AllReduce<needed = 7, readers = 1, ready = 6>("dw.part")
      total = Div(sum, count)
      v = ai.ort_train.SgdUpdate(w, dw, rate) })");
}

TEST_CASE("partition-batch gives a replica without samples zeros to reduce") {
  PartitionBatch pass({1, {{"x", 0}}}, replica(1, 2));
  check_pass(pass,
             "g (float[1,3] x) => (float s, float[3] m) <float[3] w = {1,2,3}, int64[1] axis = {0}> { y = Mul(x, w)  s "
             "= ReduceSum<keepdims "
             "= 0>(y)  m = ReduceMean<keepdims = 0>(y, axis) }",
             R"(g (float[0,3] x) => (float s, float[3] m)
    <float[3] w = {1,2,3}, int64[1] axis = {0}, float "s.part" = {0}, float[3] "m.part" = {0,0,0}> {
      ["s.AllReduce"] s = ai.ort_train.AllReduce<needed = 3, readers = 1, ready = 1>("s.part")
      ["m.AllReduce"] m = ai.ort_train.AllReduce<needed = 3, readers = 1, ready = 2>("m.part") })");
}

TEST_CASE("partition-batch works through micro-batches one after the other") {
  PartitionBatch pass(four_samples, replica(0, 1, 2));
  check_pass(pass, "g (float[4,3] x) => (float s) { y = Exp(x)  s = ReduceSum<keepdims = 0>(y) }",
             R"(g (float[4,3] x) => (float s)
    <int64[1] "x.rows.constant" = {0}, int64[1] "x.rows.constant.1" = {2}, int64[1] "x.rows.constant.2" = {0},
     int64[1] "x.rows.constant.3" = {2}, int64[1] "x.rows.constant.4" = {4}, int64[1] "x.rows.constant.5" = {0}> {
      ["x.rows.Slice"] "x.rows.Slice" = Slice(x, "x.rows.constant", "x.rows.constant.1", "x.rows.constant.2")
      "y.1" = Exp("x.rows.Slice")
      "s.1.part" = ReduceSum<keepdims = 0>("y.1")
      ["x.rows.Slice.1"] "x.rows.Slice.1" = Slice(x, "x.rows.constant.3", "x.rows.constant.4", "x.rows.constant.5")
      "y.2" = Exp("x.rows.Slice.1")
      "s.2.part" = ReduceSum<keepdims = 0>("y.2")
      ["s.accumulated.Add"] s = Add("s.1.part", "s.2.part") })");
}

TEST_CASE("partition-batch leaves a graph alone that is not divided") {
  PartitionBatch pass(four_samples, replica(0, 1));
  check_unchanged(pass, dense);
}

TEST_CASE("partition-batch: what all samples have stays whole, and what each has its row of is cut") {
  PartitionBatch pass(four_samples, replica(1, 2));
  check_pass(pass, R"(g (float[4,3] x) => (float[4,3] y) <float[1,3] w = {1,2,3}, float[4,1] rows = {1,2,3,4}> {
      half = Mul(w, w)
      a = Add(x, half)
      y = Add(a, rows) })",
             R"(g (float[2,3] x) => (float[2,3] y)
    <float[1,3] w = {1,2,3}, float[4,1] rows = {1,2,3,4}, int64[1] "rows.rows.constant" = {2},
     int64[1] "rows.rows.constant.1" = {4}, int64[1] "rows.rows.constant.2" = {0}> {
      half = Mul(w, w)
      a = Add(x, half)
      ["rows.rows.Slice"] "rows.rows.Slice" = Slice(rows, "rows.rows.constant", "rows.rows.constant.1", "rows.rows.constant.2")
      y = Add(a, "rows.rows.Slice") })");
}

TEST_CASE("partition-batch reduces a sum once, however many read it") {
  PartitionBatch pass(four_samples, replica(0, 2));
  check_pass(pass, R"(g (float[4,3] x) => (float s, float t) <float k = {2}> {
      s = ReduceSum<keepdims = 0>(x)
      t = Mul(s, k) })",
             R"(g (float[2,3] x) => (float s, float t) <float k = {2}> {
      "s.part" = ReduceSum<keepdims = 0>(x)
      ["s.AllReduce"] s = ai.ort_train.AllReduce<needed = 1, readers = 2, ready = 0>("s.part")
      t = Mul(s, k) })");
  check_pass(pass, R"(g (float[4,3] x) => (float t) <float k = {2}> {
      s = ReduceSum<keepdims = 0>(x)
      t = Mul(s, k) })",
             R"(g (float[2,3] x) => (float t) <float k = {2}> {
      "s.part" = ReduceSum<keepdims = 0>(x)
      "t.part" = Mul("s.part", k)
      ["t.AllReduce"] t = ai.ort_train.AllReduce<needed = 2, readers = 1, ready = 1>("t.part") })");
}

TEST_CASE("partition-batch follows the samples through reshapes and transpositions") {
  PartitionBatch pass({4, {{"x", 1}}}, replica(0, 2));
  check_pass(
      pass,
      R"(g (float[3,4,5] x) => (float[4,15] y) <int64[2] merged = {12,5}, int64[3] separate = {3,4,5}, int64[2] flat = {4,15}> {
      a = Reshape(x, merged)
      b = Reshape(a, separate)
      c = Transpose<perm = [1,0,2]>(b)
      y = Reshape(c, flat) })",
      R"(g (float[3,2,5] x) => (float[2,15] y)
    <int64[2] merged = {12,5}, int64[3] separate = {3,4,5}, int64[2] flat = {4,15}, int64[2] "a.constant" = {6,5},
     int64[3] "b.constant" = {3,2,5}, int64[2] "y.constant" = {2,15}> {
      ["a.Reshape"] a = Reshape<allowzero = 1>(x, "a.constant")
      ["b.Reshape"] b = Reshape<allowzero = 1>(a, "b.constant")
      c = Transpose<perm = [1,0,2]>(b)
      ["y.Reshape"] y = Reshape<allowzero = 1>(c, "y.constant") })");
}

TEST_CASE("partition-batch gathers the rows of all samples where an operator mixes them, and cuts them again") {
  PartitionBatch pass(four_samples, replica(1, 3));
  check_pass(pass, R"(g (float[4,3] x) => (float[4,3] y) {
      a = Exp(x)
      s = Softmax<axis = 0>(a)
      y = Mul(a, s) })",
             R"(g (float[1,3] x) => (float[1,3] y)
    <int64[4] "a.whole.constant" = {2,0,1,0}, int64[1] "s.rows.constant" = {2}, int64[1] "s.rows.constant.1" = {3},
     int64[1] "s.rows.constant.2" = {0}> {
      a = Exp(x)
      ["a.whole.Pad"] "a.whole.Pad" = Pad(a, "a.whole.constant")
      ["a.whole.AllReduce"] "a.whole" = ai.ort_train.AllReduce<needed = 1, readers = 2, ready = 0>("a.whole.Pad")
      s = Softmax<axis = 0>("a.whole")
      ["s.rows.Slice"] "s.rows.Slice" = Slice(s, "s.rows.constant", "s.rows.constant.1", "s.rows.constant.2")
      y = Mul(a, "s.rows.Slice") })");
}

TEST_CASE("partition-batch gathers zeros from a replica without samples, and truth values as numbers") {
  PartitionBatch pass({1, {{"x", 0}}}, replica(1, 2));
  check_pass(pass, "g (bool[1,3] x) => (bool[1,3] y) <int64[1] axis = {0}> { a = Not(x)  y = ReduceMax(a, axis) }",
             R"(g (bool[0,3] x) => (bool[1,3] y)
    <int64[1] axis = {0}, int32[1,3] "a.whole.part" = {0,0,0}> {
      ["a.whole.AllReduce"] "a.whole.AllReduce" = ai.ort_train.AllReduce<needed = 1, readers = 1, ready = 0>("a.whole.part")
      ["a.whole.Cast"] "a.whole.Cast" = Cast<to = 9>("a.whole.AllReduce")
      y = ReduceMax("a.whole.Cast", axis) })");
}

TEST_CASE("partition-batch adds up integers over replicas") {
  PartitionBatch pass(four_samples, replica(0, 2));
  check_pass(pass, "g (int64[4,3] x) => (int64 y) { y = ReduceSum<keepdims = 0>(x) }",
             R"(g (int64[2,3] x) => (int64 y) {
      "y.part" = ReduceSum<keepdims = 0>(x)
      ["y.AllReduce"] y = ai.ort_train.AllReduce<needed = 1, readers = 1, ready = 0>("y.part") })");
}

TEST_CASE("partition-batch joins micro-batches into the rows of all samples without a collective on one replica") {
  PartitionBatch pass(four_samples, replica(0, 1, 2));
  check_pass(pass, "g (float[4,3] x) => (float[1,3] y) <int64[1] a = {0}> { e = Exp(x)  y = ReduceMax(e, a) }",
             R"(g (float[4,3] x) => (float[1,3] y)
    <int64[1] a = {0}, int64[1] "x.rows.constant" = {0}, int64[1] "x.rows.constant.1" = {2},
     int64[1] "x.rows.constant.2" = {0}, int64[1] "x.rows.constant.3" = {2}, int64[1] "x.rows.constant.4" = {4},
     int64[1] "x.rows.constant.5" = {0}> {
      ["x.rows.Slice"] "x.rows.Slice" = Slice(x, "x.rows.constant", "x.rows.constant.1", "x.rows.constant.2")
      "e.1" = Exp("x.rows.Slice")
      ["x.rows.Slice.1"] "x.rows.Slice.1" = Slice(x, "x.rows.constant.3", "x.rows.constant.4", "x.rows.constant.5")
      "e.2" = Exp("x.rows.Slice.1")
      ["e.whole.Concat"] "e.whole.Concat" = Concat<axis = 0>("e.1", "e.2")
      y = ReduceMax("e.whole.Concat", a) })");
}

TEST_CASE("partition-batch refuses a label whose first axis does not count samples") {
  const std::string refused = refusal(R"(g (float[4,3] x, int64[3] label) => (float sum) {
      t = Transpose(x)
      sum, count, log_p = ai.ort_train.SoftmaxCrossEntropy(t, label) })");
  CAPTURE(refused);
  CHECK(refused.find("the label 'label' has the shape [3] for a batch of 4") == 0);
}

TEST_CASE("partition-batch keeps the tuples that point at samples of the shard, counted within it") {
  PartitionBatch pass(four_samples, replica(1, 2));
  check_pass(pass, R"(g (float[4,3] x) => (float[4,3] y) <int64[3,2] i = {3,0, 0,1, -2,2}, float[3] u = {7,8,9}> {
      y = ScatterND(x, i, u) })",
             R"(g (float[2,3] x) => (float[2,3] y)
    <int64[3,2] i = {3,0,0,1,-2,2}, float[3] u = {7,8,9}, int64[1] "y.constant" = {3}, int64[2] "y.constant.1" = {0,2},
     int64[2,2] "y.constant.2" = {1,0,0,2}> {
      ["y.Reshape"] "y.Reshape" = Reshape<allowzero = 1>(u, "y.constant")
      ["y.Gather"] "y.Gather" = Gather<axis = 0>("y.Reshape", "y.constant.1")
      y = ScatterND(x, "y.constant.2", "y.Gather") })");
}

TEST_CASE("partition-batch resizes to the samples of the shard, whichever axes the sizes are for") {
  PartitionBatch pass(four_samples, replica(1, 2));
  check_pass(pass, R"(g (float[4,1,3] x) => (float[4,1,6] y) <int64[2] sizes = {6,4}> {
      y = Resize<axes = [2,0], mode = "nearest">(x, "", "", sizes) })",
             R"(g (float[2,1,3] x) => (float[2,1,6] y) <int64[2] sizes = {6,4}, int64[2] "y.constant" = {6,2}> {
      y = Resize<axes = [2,0], mode = "nearest">(x, "", "", "y.constant") })");
}

TEST_CASE("synchronize-batch-normalization takes the statistics out") {
  passes::SynchronizeBatchNormalization pass;
  check_pass(pass, R"(g (float[4,2,3] x, float[4,2,3] dy) => (float[4,2,3] y, float[4,2,3] dx, float[2] ds)
    <float[2] s = {1,1}, float[2] b = {0,0}, float[2] m = {0,0}, float[2] v = {1,1}> {
      y, nm, nv, bm, bv = ai.ort_train.BatchNormalizationTraining<momentum = 0.75>(x, s, b, m, v)
      dx, ds, db = ai.ort_train.BatchNormalizationGrad(dy, x, s, bm, bv) })",
             R"(g (float[4,2,3] x, float[4,2,3] dy) => (float[4,2,3] y, float[4,2,3] dx, float[2] ds)
    <float[2] s = {1,1}, float[2] b = {0,0}, float[2] m = {0,0}, float[2] v = {1,1},
     float "y.constant" = {0.083333336}, float "y.constant.1" = {0.083333336}, float "y.constant.2" = {0.75},
     float "y.constant.3" = {0.25}, float "y.constant.4" = {0.75}, float "y.constant.5" = {0.25}> {
      ["y.ChannelSum"] "y.ChannelSum" = ai.ort_train.ChannelSum(x)
      ["y.Mul"] bm = Mul("y.ChannelSum", "y.constant")
      ["y.ChannelSquaredDeviation"] "y.ChannelSquaredDeviation" = ai.ort_train.ChannelSquaredDeviation(x, bm)
      ["y.Mul.1"] bv = Mul("y.ChannelSquaredDeviation", "y.constant.1")
      ["y.BatchNormalization"] y = BatchNormalization<epsilon = 1e-05>(x, s, b, bm, bv)
      ["y.Mul.2"] "y.Mul.2" = Mul(m, "y.constant.2")
      ["y.Mul.3"] "y.Mul.3" = Mul(bm, "y.constant.3")
      ["y.Add"] nm = Add("y.Mul.2", "y.Mul.3")
      ["y.Mul.4"] "y.Mul.4" = Mul(v, "y.constant.4")
      ["y.Mul.5"] "y.Mul.5" = Mul(bv, "y.constant.5")
      ["y.Add"] nv = Add("y.Mul.4", "y.Mul.5")
      ["dx.BatchNormalizationGradSums_0"] ds, db = ai.ort_train.BatchNormalizationGradSums(dy, x, bm, bv, "")
      ["dx.BatchNormalizationGradInput"] dx = ai.ort_train.BatchNormalizationGradInput<count = 12>(dy, x, s, bm, bv, ds, db, "") })");
  check_unchanged(pass, "g (float[4] x) => (float[4] y) { y = Relu(x) }");
}

TEST_CASE("bucket-all-reduce joins in the order in which operands are ready") {
  const std::string text = R"(g (float[4] x, float[2] z) => (float[4] p, float[2] q, float[4] r) {
      a = Exp(x)
      b = Neg(z)
      c = Neg(a)
      ar = ai.ort_train.AllReduce<needed = 3, ready = 0>(a)
      d = Exp(ar)
      p = ai.ort_train.AllReduce<needed = 9, ready = 5>(d)
      q = ai.ort_train.AllReduce<needed = 9, ready = 1>(b)
      r = ai.ort_train.AllReduce<needed = 9, ready = 2>(c) })";
  passes::BucketAllReduce one_bucket(1000);
  check_pass(one_bucket, text, R"(g (float[4] x, float[2] z) => (float[4] p, float[2] q, float[4] r) {
      a = Exp(x)
      b = Neg(z)
      c = Neg(a)
      [ar] ar, q, r = ai.ort_train.AllReduce(a, b, c)
      d = Exp(ar)
      [p] p = ai.ort_train.AllReduce(d) })");
  passes::BucketAllReduce small(24);
  check_pass(small, text, R"(g (float[4] x, float[2] z) => (float[4] p, float[2] q, float[4] r) {
      a = Exp(x)
      b = Neg(z)
      [ar] ar, q = ai.ort_train.AllReduce(a, b)
      c = Neg(a)
      [r] r = ai.ort_train.AllReduce(c)
      d = Exp(ar)
      [p] p = ai.ort_train.AllReduce(d) })");
  passes::BucketAllReduce none(0);
  check_pass(none, text, R"(g (float[4] x, float[2] z) => (float[4] p, float[2] q, float[4] r) {
      a = Exp(x)
      [ar] ar = ai.ort_train.AllReduce(a)
      b = Neg(z)
      [q] q = ai.ort_train.AllReduce(b)
      c = Neg(a)
      [r] r = ai.ort_train.AllReduce(c)
      d = Exp(ar)
      [p] p = ai.ort_train.AllReduce(d) })");
  check_unchanged(none, "g (float[4] x) => (float[4] y) { y = Relu(x) }");
}

TEST_CASE("shard-optimizer updates parts") {
  passes::ShardOptimizer pass(2, 1);
  const std::string text = R"(g (float[3] g, float rate) => () <float[3] w = {1,2,3}, float[3] buffer = {4,5,6}> {
      sum = ai.ort_train.AllReduce<needed = 9, ready = 5>(g)
      v, next = ai.ort_train.SgdUpdate<momentum = 0.9>(w, sum, rate, buffer) })";
  const auto graph = graph::parse_text(with_header(text));
  graph->at("buffer")->set_role(graph::Role::optimizer_slot);
  graph->add_update(graph->at("w"), graph->at("v"));
  graph->add_update(graph->at("buffer"), graph->at("next"));
  CHECK(pass.run(*graph));
  CHECK(tests::body_of(*graph) == tests::body_of(*graph::parse_text(with_header(R"(g (float[3] g, float rate) => ()
    <float[3] w = {1,2,3}, float[2] buffer = {6,0}> {
      ["v.ReduceScatter"] "v.ReduceScatter" = ai.ort_train.ReduceScatter<needed = 9, parts = 2, ready = 5>(g)
      ["v.FlatPart"] "v.FlatPart" = ai.ort_train.FlatPart<index = 1, parts = 2>(w)
      "v.part", next = ai.ort_train.SgdUpdate<momentum = 0.9>("v.FlatPart", "v.ReduceScatter", rate, buffer)
      [v] v = ai.ort_train.AllGather<extents = [3], ranks = [1], ready = 9223372036854775806>("v.part") })"))));
  CHECK(graph->at("buffer")->initial().identical(Tensor::of({2}, std::vector<float>{6, 0})));
  passes::ShardOptimizer alone(1, 0);
  check_unchanged(alone, text);
}

TEST_CASE("collectives are neither merged nor removed on one replica alone") {
  passes::EliminateDuplicates duplicates;
  passes::EliminateDeadCode dead_code;
  const std::string text = R"(g (float[4] x) => (float[4] y) {
      a = ai.ort_train.AllReduce(x)
      b = ai.ort_train.AllReduce(x)
      c = ai.ort_train.AllReduce(x)
      y = Add(a, b) })";
  check_unchanged(duplicates, text);
  check_unchanged(dead_code, text);
}

TEST_CASE("output_shardings says how outputs hold the samples, and their rows join again") {
  const auto model = graph::parse_text(with_header(R"(g (float[3,4,2] x) => (float[12,2] y, float[2] mean)
    <float[1] w = {1}, int64[2] merged = {12,2}, int64[2] axes = {0,1}> {
      a = Mul(x, w)
      mean = ReduceMean<keepdims = 0>(a, axes)
      y = Reshape(a, merged) })"));
  passes::TrainingSpec spec;
  spec.batch_axes = {{"x", 1}};
  const auto shardings = passes::output_shardings(*model, spec, {{"x", {3, 4, 2}}});
  REQUIRE(shardings.size() == 1);
  const passes::Sharding y = shardings.at("y");
  CHECK(y == passes::Sharding::along(0, 3, 1));
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Tensor whole = Tensor::of({12, 2}, numbers);
  CHECK(tests::rows_of(whole, y, 4, {1, 2}).to_doubles() ==
        std::vector<double>{2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21});
  for (const std::int64_t replicas : {1, 3, 7}) {
    std::vector<Tensor> parts;
    for (std::int64_t rank = 0; rank < replicas; ++rank) {
      parts.push_back(tests::rows_of(whole, y, 4, shard_of(4, replicas, rank)));
    }
    CHECK(tests::joined_rows(parts, y, 4).identical(whole));
  }
}

TEST_CASE("kept gradients stand in the order of the file, which is the same on every replica") {
  std::string parameters, sum = "x";
  for (int i = 9; i >= 0; --i) {
    const std::string name = "w" + std::to_string(i);
    parameters += (parameters.empty() ? "float[1] " : ", float[1] ") + name + " = {1}";
  }
  std::string body = "g (float[4,1] x) => (float[4,1] y) <" + parameters + "> {";
  for (int i = 0; i < 10; ++i) {
    const std::string next = i == 9 ? "y" : "s" + std::to_string(i);
    body.append(next).append(" = Mul(").append(sum).append(", w").append(std::to_string(i)).append(") ");
    sum = next;
  }
  const auto model = graph::parse_text(with_header(body + "}"));
  passes::TrainingSpec spec;
  spec.losses = {{"mse"}};
  spec.keep_gradients = true;
  const auto graph = passes::build_training_graph(*model, spec, {{"x", {4, 1}}}, replica(1, 2));
  std::vector<std::string> gradients;
  for (const graph::Value* output : graph->outputs()) {
    if (output->name().rfind("ort_train.gradient.", 0) == 0) gradients.push_back(output->name());
  }
  std::vector<std::string> expected;
  for (int i = 9; i >= 0; --i) expected.push_back(passes::gradient_output("w" + std::to_string(i)));
  CHECK(gradients == expected);
}
