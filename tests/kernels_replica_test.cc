#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;

// Operators of a graph that is one of several replicas: expected values are those of the undivided batch.

namespace {

const std::vector<DataType> training_types = {DataType::float64, DataType::float32};

Arrays run_training(const std::string& node, const Arrays& inputs, const std::vector<std::string>& outputs = {"y"}) {
  std::string results;
  for (const std::string& name : outputs) results += (results.empty() ? "" : ", ") + name;
  return run_nodes(results + " = ai.ort_train." + node, inputs, outputs);
}

Tensor run(const std::string& node, const Arrays& inputs) { return run_training(node, inputs).at("y"); }

/// Indices [first, last) of axis 0.
Tensor rows(const Tensor& whole, std::int64_t first, std::int64_t last) {
  Dims dims = whole.dims();
  const std::size_t row = whole.bytes() / static_cast<std::size_t>(dims[0]);
  dims[0] = last - first;
  Tensor part(whole.dtype(), dims);
  if (part.size() > 0) std::memcpy(part.raw(), whole.raw() + static_cast<std::size_t>(first) * row, part.bytes());
  return part;
}

std::vector<double> added(const Tensor& a, const Tensor& b) {
  std::vector<double> sum = a.to_doubles();
  const std::vector<double> other = b.to_doubles();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  return sum;
}

}  // namespace

TEST_CASE("LabelCount counts labels of any type, without the ignored ones") {
  for (const DataType label_type : {DataType::int64, DataType::int32}) {
    const Arrays labels = {{"labels", tensor_of({2, -1, 0, -1, 1, 5}, {3, 2}, label_type)}};
    check_each(run("LabelCount<to = 1>(labels)", labels), {}, {6});
    const Tensor count = run("LabelCount<to = 11, ignore_index = -1>(labels)", labels);
    CHECK(count.dtype() == DataType::float64);
    check_each(count, {}, {4});
  }
  check_each(run("LabelCount<to = 1>(labels)", {{"labels", grid({2, 5}, 1, DataType::float32)}}), {}, {10});
  check_each(run("LabelCount<to = 1, ignore_index = 0>(labels)", {{"labels", Tensor(DataType::int64, {0})}}), {}, {0});
}

TEST_CASE("FlatPart cuts elements in row-major order into equal parts, filled up with zeros") {
  const Arrays whole = {{"w", tensor_of({1, 2, 3, 4, 5, 6, 7}, {7, 1})}};
  check_each(run("FlatPart<index = 0, parts = 3>(w)", whole), {3}, {1, 2, 3});
  check_each(run("FlatPart<index = 2, parts = 3>(w)", whole), {3}, {7, 0, 0});
  check_each(run("FlatPart<index = 3, parts = 5>(w)", whole), {2}, {7, 0});
  check_each(run("FlatPart<index = 4, parts = 5>(w)", whole), {2}, {0, 0});
  check_each(run("FlatPart<index = 0, parts = 1>(w)", {{"w", tensor_of({3}, Dims{}, DataType::float32)}}), {1}, {3});
  CHECK_THROWS_WITH_AS(run("FlatPart<index = 3, parts = 3>(w)", whole), doctest::Contains("no part 3 of 3"), Error);
}

TEST_CASE("ChannelSum and ChannelSquaredDeviation over everything but the channels") {
  for (const DataType dtype : training_types) {
    const Tensor x = tensor_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2}, dtype);
    check_each(run("ChannelSum(x)", {{"x", x}}), {3}, {18, 26, 34});
    check_each(run("ChannelSquaredDeviation(x, m)", {{"x", x}, {"m", tensor_of({1, 0, 10}, dtype)}}), {3},
               {0 + 1 + 36 + 49, 9 + 16 + 81 + 100, 25 + 16 + 1 + 4});
    check_each(run("ChannelSum(x)", {{"x", tensor_of({1, 2, 3, 4}, {2, 2}, dtype)}}), {2}, {4, 6});
    const Tensor nothing(dtype, {0, 2, 3});
    check_each(run("ChannelSum(x)", {{"x", nothing}}), {2}, {0, 0});
    check_each(run("ChannelSquaredDeviation(x, m)", {{"x", nothing}, {"m", tensor_of({1, 2}, dtype)}}), {2}, {0, 0});
  }
}

TEST_CASE("the gradient of BatchNormalization from parts of the batch is that of the whole") {
  for (const std::string activation : {"", "Relu"}) {
    Arrays whole = {{"dy", grid({5, 3, 4}, 1)},           {"x", grid({5, 3, 4}, 2)},
                    {"scale", tensor_of({1.5, -0.5, 2})}, {"mean", tensor_of({0.25, -0.125, 0})},
                    {"var", tensor_of({0.5, 1, 0.75})},   {"r", grid({5, 3, 4}, 3)}};
    const std::string attributes = "epsilon = 0.01, activation = \"" + activation + "\"";
    const Arrays expected = run_training("BatchNormalizationGrad<" + attributes + ">(dy, x, scale, mean, var, r)",
                                         whole, {"dx", "ds", "db"});
    const auto part = [&](std::int64_t first, std::int64_t last) {
      Arrays arrays = whole;
      for (const char* name : {"dy", "x", "r"}) arrays[name] = rows(whole.at(name), first, last);
      return arrays;
    };
    const auto sums = [&](const Arrays& arrays) {
      return run_training("BatchNormalizationGradSums<" + attributes + ">(dy, x, mean, var, r)", arrays, {"ds", "db"});
    };
    const Arrays head = sums(part(0, 2)), tail = sums(part(2, 5));
    const std::vector<double> scale_gradient = added(head.at("ds"), tail.at("ds"));
    const std::vector<double> bias_gradient = added(head.at("db"), tail.at("db"));
    check_array(expected.at("ds"), {3}, scale_gradient, 1e-12);
    check_array(expected.at("db"), {3}, bias_gradient, 1e-12);
    check_each(sums(part(1, 1)).at("ds"), {3}, {0, 0, 0});
    for (const auto& [first, last] : {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, 5}, {5, 5}}) {
      Arrays arrays = part(first, last);
      arrays["ds"] = tensor_of(scale_gradient);
      arrays["db"] = tensor_of(bias_gradient);
      const Tensor dx = run(
          "BatchNormalizationGradInput<count = 20, " + attributes + ">(dy, x, scale, mean, var, ds, db, r)", arrays);
      check_array(dx, {last - first, 3, 4}, rows(expected.at("dx"), first, last).to_doubles(), 1e-12);
    }
  }
}

TEST_CASE("the gradient of BatchNormalization needs to know the number of elements") {
  const Tensor x = grid({2, 1, 2}, 1), one = tensor_of({1});
  CHECK_THROWS_WITH_AS(
      run("BatchNormalizationGradInput<count = 0>(x, x, one, one, one, one, one)", {{"x", x}, {"one", one}}),
      doctest::Contains("must be at least 1"), Error);
}

namespace {

Tensor mask_of(const Dims& dims, std::int64_t first_sample, const std::string& split = "") {
  return run_training(
             "TrainingDropout<ratio = 0.5, seed = 3, stream = 1" + split + ">(x, step, first)",
             {{"x", grid(dims, 1)}, {"step", Tensor::scalar<std::int64_t>(7)}, {"first", Tensor::scalar(first_sample)}},
             {"y", "mask"})
      .at("mask");
}

}  // namespace

TEST_CASE("the mask of an array that is split along any axis is a part of the whole mask") {
  const Dims dims = {3, 5, 2, 3};
  const Tensor whole = mask_of(dims, 0);
  for (std::size_t axis = 1; axis < dims.size(); ++axis) {
    const std::int64_t extent = dims[axis];
    for (std::int64_t first = 0; first < extent; ++first) {
      Dims part_dims = dims;
      part_dims[axis] = std::min<std::int64_t>(2, extent - first);
      const Tensor part = mask_of(
          part_dims, first, ", split_axis = " + std::to_string(axis) + ", split_extent = " + std::to_string(extent));
      const Dims strides = row_major_strides(dims), part_strides = row_major_strides(part_dims);
      for (std::int64_t i = 0; i < part.size(); ++i) {
        std::int64_t place = first * strides[axis];
        for (std::size_t a = 0; a < dims.size(); ++a) place += i / part_strides[a] % part_dims[a] * strides[a];
        CHECK(part.data<bool>()[i] == whole.data<bool>()[place]);
      }
    }
  }
}

TEST_CASE("a part that does not lie in the whole is an error") {
  CHECK_THROWS_WITH_AS(mask_of({2, 3}, 2, ", split_axis = 1, split_extent = 4"),
                       doctest::Contains("does not lie in a whole of extent 4"), Error);
  CHECK_THROWS_WITH_AS(mask_of({2, 3}, 0, ", split_axis = 2, split_extent = 4"), doctest::Contains("no axis"), Error);
}

namespace {

Tensor draw(const std::string& attributes, const Dims& dims, std::int64_t first_sample = 0, std::int64_t step = 5) {
  return run("RandomValues<" + attributes + ", seed = 3, stream = 2>(x, step, first)",
             {{"x", Tensor(DataType::float32, dims)},
              {"step", Tensor::scalar(step)},
              {"first", Tensor::scalar(first_sample)}});
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments_of(const Tensor& tensor) {
  const std::vector<double> values = tensor.to_doubles();
  Moments moments;
  for (const double value : values) moments.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / static_cast<double>(values.size());
  }
  return moments;
}

}  // namespace

TEST_CASE("RandomValues have the mean and the variance of their distribution") {
  const Dims dims = {100, 1001};
  const Moments uniform = moments_of(draw("dtype = 1, distribution = \"uniform\", low = -1.0, high = 3.0", dims));
  CHECK(std::abs(uniform.mean - 1) < 0.02);  // more than five standard deviations
  CHECK(std::abs(uniform.variance - 16.0 / 12) < 0.02);
  const Moments normal = moments_of(draw("dtype = 11, distribution = \"normal\", mean = 2.0, scale = 0.5", dims));
  CHECK(std::abs(normal.mean - 2) < 0.01);
  CHECK(std::abs(normal.variance - 0.25) < 0.01);
  const Moments gumbel = moments_of(draw("dtype = 1, distribution = \"gumbel\"", dims));
  CHECK(std::abs(gumbel.mean - 0.57721566) < 0.025);
  CHECK(std::abs(gumbel.variance - 1.64493407) < 0.06);
  CHECK_THROWS_WITH_AS(draw("dtype = 1, distribution = \"poisson\"", dims),
                       doctest::Contains("no distribution 'poisson'"), Error);
}

TEST_CASE("RandomValues belong to their place in the whole batch, and change from step to step") {
  for (const std::string distribution : {"uniform", "normal"}) {
    const std::string attributes = "dtype = 11, distribution = \"" + distribution + "\"";
    const Tensor whole = draw(attributes, {5, 3, 7});
    CHECK(draw(attributes, {2, 3, 7}, 3).identical(rows(whole, 3, 5)));
    CHECK_FALSE(draw(attributes, {5, 3, 7}, 0, 6).identical(whole));
    const Tensor part = draw(attributes + ", split_axis = 2, split_extent = 7", {5, 3, 2}, 5);
    for (std::int64_t i = 0; i < part.size(); ++i)
      CHECK(part.data<double>()[i] == whole.data<double>()[i / 2 * 7 + 5 + i % 2]);
  }
}

TEST_CASE("RandomValues without an array to be like have the extents of their attribute") {
  const Arrays numbers =
      run_nodes("y = ai.ort_train.RandomValues<dtype = 10, shape = [2, 3]>(, step, first)",
                {{"step", Tensor::scalar<std::int64_t>(0)}, {"first", Tensor::scalar<std::int64_t>(0)}});
  CHECK(numbers.at("y").dtype() == DataType::float16);
  CHECK(numbers.at("y").dims() == Dims{2, 3});
}
