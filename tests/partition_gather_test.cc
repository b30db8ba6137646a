// What needs the rows of all samples gives on N replicas what it gives on one, in float64, by the plain kernels.
#include <doctest/doctest.h>

#include "tests/division_check.h"

using namespace ort_train;
using graph::Builder;
using graph::Value;
using tests::check_all_divisions;
using tests::Model;
using tests::Run;
using tests::spec_of;

namespace {

constexpr std::int64_t n = 5;

/// Trains w * x, given to `body` as [n, 4], whose result [n, k] goes through a linear layer; then the sum of both.
template <typename Body>
void check_body(const Body& body) {
  Model m;
  Builder& b = m.builder();
  Value* x = b.mul(m.input("x", {n, 4}), m.parameter({4}));
  Value* y = body(m, x);
  y = m.linear(y, y->dims().at(1), 3);
  Run run{m.finish({{"y", b.add(y, m.linear(x, 4, 3))}}), spec_of({{"mse", "y", "label"}}), {{"x", {n, 4}}}};
  run.batch = n;
  run.spec.keep_outputs = true;
  run.spec.keep_gradients = true;
  check_all_divisions(run);
}

}  // namespace

TEST_CASE("reductions over the samples that are no sums") {
  for (const char* name : {"ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceLogSumExp", "ReduceLogSum"}) {
    CAPTURE(name);
    check_body([&](Model& m, Value* x) {
      Builder& b = m.builder();
      Value* positive = b.emit("Exp", {x});
      return b.add(positive, b.emit(name, {positive, b.int64s({0})}));
    });
  }
}

TEST_CASE("operators along the axis of the samples") {
  for (const char* name : {"Softmax", "LogSoftmax", "LpNormalization"}) {
    CAPTURE(name);
    check_body([&](Model& m, Value* x) { return m.builder().emit(name, {x}, {{"axis", std::int64_t{0}}}); });
  }
  check_body([](Model& m, Value* x) {
    return m.builder().emit("CumSum", {x, m.builder().constant(Tensor::scalar(std::int64_t{0}))});
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    const auto best = b.emit_many("TopK", {x, b.int64s({2})}, 2, {{"axis", std::int64_t{0}}});
    return b.add(x, b.reduce_sum(best[0], {0}, true));
  });
  check_body([](Model& m, Value* x) {
    Value* normal =
        m.builder().emit_many("LayerNormalization", {x, m.parameter({n, 4})}, 1, {{"axis", std::int64_t{0}}})[0];
    return m.builder().mul(normal, x);
  });
}

TEST_CASE("each sample with every other one: attention over the batch, and a contrastive loss") {
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* scores = b.emit("MatMul", {m.linear(x, 4, 3), b.transpose(m.linear(x, 4, 3), {1, 0})});
    return b.emit("MatMul", {b.emit("Softmax", {scores}), x});
  });
  check_body([](Model& m, Value* x) {
    return m.builder().emit("Einsum", {x, m.linear(x, 4, 3)}, {{"equation", std::string("ni,mj->nj")}});
  });
  check_body([](Model& m, Value* x) {
    return m.builder().emit("Gemm", {x, x, m.parameter({n})}, {{"transB", std::int64_t{1}}});
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* square = b.emit("MatMul", {x, m.parameter({4, n})});
    return b.unsqueeze(b.emit("Einsum", {square}, {{"equation", std::string("ii->i")}}), {1});
  });
  Model m;
  Builder& b = m.builder();
  Value* first = m.linear(m.input("a", {n, 4}), 4, 3);
  Value* second = m.linear(m.input("c", {n, 4}), 4, 3);
  Value* similarity = b.emit("MatMul", {first, b.transpose(second, {1, 0})});
  Run run{m.finish({{"y", b.emit("Identity", {similarity})}, {"z", b.transpose(similarity, {1, 0})}}),
          spec_of({{"softmax_cross_entropy", "y", "ly"}, {"softmax_cross_entropy", "z", "lz"}}, "adam"),
          {{"a", {n, 4}}, {"c", {n, 4}}}};
  run.spec.metrics = {passes::MetricSpec{"accuracy", "z"}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("reshapes, slices, paddings and concatenations that mix the samples") {
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* mixed = b.emit("Tanh", {b.reshape(x, {4, n})});
    return b.reshape(b.mul(mixed, m.parameter({4, 1})), {n, 4});
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* reversed = b.emit("Slice", {x, b.int64s({-1}), b.int64s({-100}), b.int64s({0}), b.int64s({-1})});
    Value* some = b.emit("Slice", {x, b.int64s({1}), b.int64s({3}), b.int64s({0})});
    return b.add(b.mul(reversed, x), b.reduce_sum(some, {0}, true));
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* padded = b.emit("Pad", {x, b.int64s({1, 0, 2, 0})});
    Value* more = b.emit("Concat", {m.parameter({2, 4}), padded}, {{"axis", std::int64_t{0}}});
    return b.emit("Slice", {more, b.int64s({3}), b.int64s({3 + n}), b.int64s({0})});
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    const auto parts = b.emit_many("Split", {x, b.int64s({2, 3})}, 2, {{"axis", std::int64_t{0}}});
    return b.emit("Concat", {parts[1], parts[0]}, {{"axis", std::int64_t{0}}});
  });
}

TEST_CASE("indices that point anywhere in the batch") {
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* order = b.int64s({3, 0, 4, 4, 1});
    return b.mul(b.emit("Gather", {x, order}), x);
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    // Which samples are taken is computed.
    const auto best = b.emit_many("TopK", {x, b.int64s({n})}, 2, {{"axis", std::int64_t{0}}});
    return b.emit("GatherElements", {b.emit("Sin", {x}), best[1]}, {{"axis", std::int64_t{0}}});
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* at =
        b.cast(b.emit("ArgMax", {x}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}}), DataType::int64);
    Value* table = b.emit("ScatterND", {m.parameter({6, 4}), at, x});
    return b.add(b.emit("Slice", {table, b.int64s({0}), b.int64s({n}), b.int64s({0})}), x);
  });
  check_body([](Model& m, Value* x) {
    // Rows of a table by indices that lie as the samples do, but are the same on every replica.
    return m.builder().add(x, m.builder().emit("Gather", {m.parameter({3, 4}), m.builder().int64s({2, 0, 0, 1, 2})}));
  });
}

TEST_CASE("normalization by statistics of a batch that every replica has whole") {
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* mixed = b.emit("Softmax", {x}, {{"axis", std::int64_t{0}}});
    return b.mul(m.batch_normalization(mixed, 4), x);
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    return b.transpose(m.batch_normalization(b.transpose(x, {1, 0}), n), {1, 0});
  });
}

TEST_CASE("parameters with elements of their own for each sample, and scores that every replica has") {
  check_body([](Model& m, Value* x) { return m.builder().mul(x, m.parameter({n, 4})); });
  Model m;
  Builder& b = m.builder();
  Value* x = m.linear(m.input("x", {n, 4}), 4, 3);
  Value* scores = b.emit("Softmax", {x}, {{"axis", std::int64_t{0}}});
  Run run{m.finish({{"y", scores}, {"z", b.transpose(x, {1, 0})}}),
          spec_of({{"softmax_cross_entropy", "y", "label"}, {"l1", "z", "other"}}, "adam"),
          {{"x", {n, 4}}}};
  run.spec.metrics = {passes::MetricSpec{"accuracy", "y"}};
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("several batches one after the other along an axis, gathered and put together from micro-batches") {
  constexpr std::int64_t t = 3;
  Model m;
  Builder& b = m.builder();
  Value* x = b.reshape(m.linear(m.input("x", {t, n, 4}), 4, 3), {t * n, 3});
  Value* attended = b.emit("MatMul", {b.emit("Softmax", {b.emit("MatMul", {x, b.transpose(x, {1, 0})})}), x});
  Run run{m.finish({{"y", b.emit("Dropout", {attended})}}),
          spec_of({{"softmax_cross_entropy", "y", "label"}}),
          {{"x", {t, n, 4}}}};
  run.spec.batch_axes = {{"x", 1}};
  run.spec.keep_outputs = true;
  run.batch = n;
  check_all_divisions(run);
}

TEST_CASE("sums of integers over the samples") {
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* signs = b.cast(b.emit("Sign", {x}), DataType::int64);
    Value* balance = b.emit("ReduceSum", {signs, b.int64s({0})});
    Value* small = b.emit("ReduceSumSquare", {b.cast(signs, DataType::int32), b.int64s({0})});
    Value* halves = b.div(balance, b.constant(Tensor::scalar(std::int64_t{2})));
    Value* mean = b.emit("ReduceMean", {b.mul(signs, signs), b.int64s({0})});
    Value* scale = b.add(b.cast(b.add(halves, mean), x->dtype()), b.cast(small, x->dtype()));
    return b.mul(x, scale);
  });
  check_body([](Model& m, Value* x) {
    Builder& b = m.builder();
    Value* positive = b.emit("Greater", {x, b.scalar(0.0, x->dtype())});
    Value* reversed = b.emit("Slice", {positive, b.int64s({-1}), b.int64s({-100}), b.int64s({0}), b.int64s({-1})});
    return b.mul(x, b.cast(reversed, x->dtype()));
  });
}
