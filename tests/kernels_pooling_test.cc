#include <doctest/doctest.h>

#include <cmath>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: ONNX Runtime on the same inputs.

TEST_CASE("MaxPool with uneven pads finds values and places") {
  const Arrays results = run_nodes("y, i = MaxPool<kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1]>(x)",
                                   {{"x", sample({1, 2, 5, 4}, 1)}}, {"y", "i"});
  check_array(results.at("y"), {1, 2, 3, 2}, {1.84, 1.08, 1.84, 1.96, 1.32, 0.56, 0.68, 1.56, 1.68, 1.56, 1.8, 1.04});
  check_array(results.at("i"), {1, 2, 3, 2}, {5, 7, 5, 10, 17, 19, 24, 27, 32, 27, 37, 39});
}

TEST_CASE("MaxPool with ceil_mode and dilations, indices column by column") {
  const Arrays results = run_nodes(
      "y, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, storage_order = 1, dilations = [2, "
      "1]>(x)",
      {{"x", sample({1, 2, 5, 5}, 1)}}, {"y", "i"});
  check_array(results.at("y"), {1, 2, 2, 3}, {1.96, 1.2, 0.44, 1.96, 1.44, 0.68, 0.16, 1.8, 1.04, 0.4, 1.8, 1.28});
  check_array(results.at("i"), {1, 2, 2, 3}, {2, 12, 22, 2, 14, 24, 32, 37, 47, 34, 37, 49});
}

TEST_CASE("MaxPool over one spatial axis") {
  check_array(run_node("y = MaxPool<kernel_shape = [3], strides = [2]>(x)", {{"x", sample({2, 1, 8}, 1)}}), {2, 1, 3},
              {1.72, 0.96, 1.84, 1.96, 1.96, 1.2});
}

TEST_CASE("MaxPool over three spatial axes") {
  check_array(run_node("y = MaxPool<kernel_shape = [2, 2, 2], pads = [0, 1, 0, 0, 0, 1]>(x)",
                       {{"x", sample({1, 1, 3, 2, 2}, 1)}}),
              {1, 1, 2, 2, 2}, {1.84, 1.84, 1.84, 1.84, 1.84, 1.84, 1.96, 1.84});
}

TEST_CASE("MaxPool takes the first of equal maxima, and a NaN before any number") {
  const Tensor x = Tensor::of<double>({1, 1, 2, 4}, {1, 1, 0, 0, 1, 0, std::nan(""), 5});
  const Arrays results =
      run_nodes("y, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)", {{"x", x}}, {"y", "i"});
  CHECK(results.at("i").to_int64s() == std::vector<std::int64_t>{0, 6});
  CHECK(results.at("y").to_doubles()[0] == 1);
  CHECK(std::isnan(results.at("y").to_doubles()[1]));
}

TEST_CASE("AveragePool counts no padding") {
  check_array(run_node("y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)",
                       {{"x", sample({1, 1, 5, 4}, 1)}}),
              {1, 1, 3, 2}, {0.77, 0.2, 0.1733333, 0.1644445, 0.25, -0.32});
}

TEST_CASE("AveragePool with count_include_pad counts it") {
  check_array(
      run_node(
          "y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1>(x)",
          {{"x", sample({1, 1, 5, 4}, 1)}}),
      {1, 1, 3, 2}, {0.3422222, 0.1333333, 0.1155556, 0.1644445, 0.1111111, -0.2133333});
}

TEST_CASE("AveragePool with dilations") {
  check_array(
      run_node("y = AveragePool<kernel_shape = [2], dilations = [2], pads = [1, 1]>(x)", {{"x", sample({1, 1, 6}, 1)}}),
      {1, 1, 6}, {-0.68, 1.34, -1.06, 0.58, 0.2, 0.2});
}

TEST_CASE("AveragePool with ceil_mode never counts what lies behind the padding") {
  check_array(run_node("y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1, pads = [0, 0, 1, 0], "
                       "count_include_pad = 1>(x)",
                       {{"x", sample({1, 1, 4, 6}, 1)}}),
              {1, 1, 2, 3}, {0.1822222, -0.1288889, 0.76, -0.2133333, -0.2711111, 0.2466667});
}

TEST_CASE("LpPool") {
  check_array(run_node("y = LpPool<kernel_shape = [2, 2], p = 3>(x)", {{"x", sample({1, 1, 3, 3}, 1)}}), {1, 1, 2, 2},
              {2.03254, 1.951909, 1.642273, 2.13977});
}

TEST_CASE("GlobalAveragePool") {
  check_array(run_node("y = GlobalAveragePool(x)", {{"x", sample({1, 2, 3, 2}, 1)}}), {1, 2, 1, 1},
              {0.4333333, 0.1733333});
}

TEST_CASE("GlobalMaxPool") {
  check_array(run_node("y = GlobalMaxPool(x)", {{"x", sample({1, 2, 3, 2}, 1)}}), {1, 2, 1, 1}, {1.84, 1.96});
}

TEST_CASE("GlobalLpPool") {
  check_array(run_node("y = GlobalLpPool<p = 1>(x)", {{"x", sample({1, 2, 3, 2}, 1)}}), {1, 2, 1, 1}, {6.84, 5.68});
}

TEST_CASE("the gradients of the pools agree with finite differences") {
  const auto check_max = [](const std::string& attributes, const Dims& x) {
    check_gradients({"y = MaxPool<" + attributes + ">(x)",
                     "dx = ai.ort_train.MaxPoolGrad<" + attributes + ">(dy, x, y)",
                     {{"x", sample(x, 1)}},
                     {{"dx", "x"}}});
  };
  check_max("kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]", {1, 2, 5, 4});
  check_max("kernel_shape = [3], strides = [2], ceil_mode = 1, dilations = [2]", {2, 1, 8});
  check_max("kernel_shape = [2, 2, 2], pads = [0, 1, 0, 0, 0, 1]", {1, 1, 3, 3, 2});
  const auto check_average = [](const std::string& attributes, const Dims& x) {
    check_gradients({"y = AveragePool<" + attributes + ">(x)",
                     "dx = ai.ort_train.AveragePoolGrad<" + attributes + ", input_shape = " + to_string(x) + ">(dy)",
                     {{"x", sample(x, 1)}},
                     {{"dx", "x"}}});
  };
  check_average("kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]", {2, 2, 5, 4});
  check_average("kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1", {1, 1, 5, 4});
  check_average("kernel_shape = [3], strides = [2], ceil_mode = 1, dilations = [2]", {1, 2, 8});
  check_average("kernel_shape = [2, 1, 2], count_include_pad = 1, pads = [1, 0, 0, 0, 0, 1]", {1, 1, 3, 2, 2});
}

TEST_CASE("MaxPoolGrad goes to the first maximum alone") {
  const Tensor x = Tensor::of<double>({1, 1, 1, 4}, {3, 3, 3, 1});
  const Tensor gradient =
      run_nodes("y = MaxPool<kernel_shape = [1, 3]>(x) dx = ai.ort_train.MaxPoolGrad<kernel_shape = [1, 3]>(dy, x, y)",
                {{"x", x}, {"dy", Tensor::of<double>({1, 1, 1, 2}, {10, 1})}}, {"dx"})
          .at("dx");
  check_array(gradient, {1, 1, 1, 4}, {10, 1, 0, 0});
}
