#include <doctest/doctest.h>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: ONNX Runtime on the same inputs.

TEST_CASE("Conv with groups, strides, dilations and uneven pads") {
  check_array(run_node("y = Conv<group = 2, strides = [1, 2], dilations = [2, 1], pads = [1, 0, 2, 1]>(x, w, b)",
                       {{"x", sample({1, 4, 5, 4}, 1)}, {"w", sample({4, 2, 2, 3}, 2)}, {"b", sample({4}, 3)}}),
              {1, 4, 6, 2},
              {-3.104,    4.4944,    11.68,    -1.464,  -5.792001,  -2.4944,  6.3088,  9.2416,  0.7072002, 1.7216,
               0.8320001, 0.3264,    -4.8832,  -1.208,  9.390401,   4.075199, -5.0608, -3.0752, -4.16,     2.5408,
               0.8176001, 0.4031998, -4.6576,  -2.032,  -0.3568001, 1.3088,   -1.5168, 2.4736,  -6.8064,   -4.171199,
               1.801599,  0.8192,    3.7808,   -4.64,   -4.224,     2.0656,   3.7568,  4.1136,  -6.079999, -2.2832,
               7.9728,    1.2736,    5.380799, -1.9568, -0.2351997, 3.68,     2.4816,  3.2048});
}

TEST_CASE("Conv over one spatial axis") {
  check_array(run_node("y = Conv<strides = [2], pads = [1, 1]>(x, w)",
                       {{"x", sample({2, 2, 7}, 1)}, {"w", sample({3, 2, 3}, 2)}}),
              {2, 3, 4}, {-4.2912, 2.4304,  -2.6112, 1.168,     5.1968,    2.7248,  -3.232, -4.0128,
                          -4.7072, -2.7984, 3.5808,  5.3504,    0.5184001, -2.9648, 2.1744, 2.5776,
                          2.1264,  -2.7744, -5.6608, 0.6671999, 0.6640001, 2.7488,  5.088,  2.1504});
}

TEST_CASE("Conv over three spatial axes") {
  check_array(run_node("y = Conv<pads = [0, 1, 0, 0, 1, 1]>(x, w)",
                       {{"x", sample({1, 1, 3, 3, 2}, 1)}, {"w", sample({2, 1, 2, 3, 2}, 2)}}),
              {1, 2, 2, 3, 2}, {-1.496,  -1.5088, 16.0368, -4.2912, -2.136,  -0.3984,   -1.3712, -0.5936,
                                -8.3936, 8.2048,  -1.4912, -0.2736, -6.5472, 3.2288,    2.9936,  -3.352,
                                12.1344, -2.3216, 8.88,    -4.5264, -5.5936, 0.7440001, -4.5616, 5.4544});
}

TEST_CASE("Conv resolves auto_pad") {
  check_array(run_node("y = Conv<auto_pad = \"SAME_LOWER\", strides = [2, 2]>(x, w)",
                       {{"x", sample({1, 1, 4, 5}, 1)}, {"w", sample({1, 1, 3, 2}, 2)}}),
              {1, 1, 2, 3}, {-0.2304001, -0.416, -0.6288002, -8.2688, -2.2128, -2.7296});
}

TEST_CASE("ConvTranspose with groups and output_padding") {
  check_array(run_node("y = ConvTranspose<group = 2, strides = [2, 1], dilations = [1, 2], pads = [1, 0, 0, 1], "
                       "output_padding = [1, 0]>(x, w, b)",
                       {{"x", sample({1, 4, 2, 3}, 1)}, {"w", sample({4, 1, 3, 2}, 2)}, {"b", sample({2}, 3)}}),
              {1, 2, 5, 4}, {3.0992,  -1.1264, 0.8320001, 2.2768,  -2.3424, 1.488,   6.4864, 0.5152,  -0.3664, -2.0064,
                             5.5136,  0.728,   1.7776,    4.2704,  -2.2944, -0.1056, 1.08,   1.08,    1.08,    1.08,
                             -3.2064, -0.4112, -2.0528,   -3.7232, -4.7424, -2.2224, 4.3568, -2.4048, -1.9312, 1.3488,
                             -6.312,  -2.632,  -0.2896,   0.4976,  -4.944,  -3.4832, -1.32,  -1.32,   -1.32,   -1.32});
}

TEST_CASE("ConvTranspose with output_shape") {
  check_array(run_node("y = ConvTranspose<strides = [3, 2], output_shape = [8, 7]>(x, w)",
                       {{"x", sample({1, 1, 3, 3}, 1)}, {"w", sample({1, 1, 3, 3}, 2)}}),
              {1, 1, 8, 7},
              {-3.0272, -0.2064,     3.8112,  0.0816,     -2.7232, -0.1152, 1.4592,  -1.5136, 1.3072,  -2.2224,
               -0.5168, 0.2704,      0.7296,  -1.5744,    -2.016,  1.44,    -0.6416, -0.2,    2.704,   -1.84,
               1.1776,  2.5344,      0.1728,  -2.5408,    -0.024,  -2.9344, -0.2208, 2.7968,  1.2672,  -1.0944,
               2.1856,  0.152,       -1.9472, 1.3984,     -3.0176, -0.784,  0.56,    1.1536,  -1.08,   -1.1568,
               1.32,    -0.8448,     0.9856,  0.0672,     -2.752,  -0.1296, 3.9648,  0.1584,  -2.0064, 0.4928,
               -0.4256, -0.03200006, 0.8208,  -0.6096001, -1.0032, 2.1648});
}

TEST_CASE("ConvTranspose over one spatial axis") {
  check_array(run_node("y = ConvTranspose<strides = [2], pads = [1, 0]>(x, w)",
                       {{"x", sample({1, 2, 4}, 1)}, {"w", sample({2, 3, 3}, 2)}}),
              {1, 3, 8}, {-1.392,  -0.003199995, 3.6976,  -0.4896001, -1.8784, -0.9760001, 3.2112,  -1.7424,
                          -0.5104, 5.4544,       -2.7152, -2.9952,    0.736,   4.8768,     -1.4688, -2.0592,
                          1.1792,  1.216,        -1.6944, 1.1248,     1.088,   1.0336,     -1.7856, 3.4416});
}

TEST_CASE("Conv gives float32 within rounding of float64") {
  const std::string node = "y = Conv<pads = [1, 1, 1, 1]>(x, w)";
  const Dims x{2, 32, 6, 5}, w{3, 32, 3, 3};
  const Tensor wide = run_node(node, {{"x", sample(x, 1)}, {"w", sample(w, 2)}});
  const Tensor narrow =
      run_node(node, {{"x", sample(x, 1, DataType::float32)}, {"w", sample(w, 2, DataType::float32)}});
  CHECK(narrow.dtype() == DataType::float32);
  check_array(narrow, wide.dims(), wide.to_doubles(), 2e-7);
}

TEST_CASE("the gradients of Conv agree with finite differences") {
  const auto check = [](const std::string& attributes, const Dims& x, const Dims& w) {
    const std::string gradients = "dx = ai.ort_train.ConvGradInput<" + attributes + ", input_shape = " + to_string(x) +
                                  ">(dy, w) dw, db = ai.ort_train.ConvGradWeight<" + attributes +
                                  ", weight_shape = " + to_string(w) + ">(dy, x)";
    check_gradients({"y = Conv<" + attributes + ">(x, w, b)",
                     gradients,
                     {{"x", sample(x, 1)}, {"w", sample(w, 2)}, {"b", sample({w[0]}, 3)}},
                     {{"dx", "x"}, {"dw", "w"}, {"db", "b"}}});
  };
  check("kernel_shape = [3, 2]", {2, 3, 5, 4}, {4, 3, 3, 2});
  check("kernel_shape = [2, 3], group = 2, strides = [1, 2], dilations = [2, 1], pads = [1, 0, 2, 1]", {1, 4, 5, 4},
        {4, 2, 2, 3});
  check("kernel_shape = [3], strides = [2], pads = [2, 1]", {2, 2, 6}, {3, 2, 3});
  check("kernel_shape = [2, 1, 2], pads = [1, 0, 0, 0, 0, 1], strides = [2, 1, 1]", {1, 2, 3, 2, 3}, {2, 2, 2, 1, 2});
}

TEST_CASE("a convolution that does not fit is an error that says why") {
  CHECK_THROWS_WITH_AS(
      run_node("y = Conv<group = 2>(x, w)", {{"x", sample({1, 3, 4, 4})}, {"w", sample({2, 1, 2, 2})}}),
      doctest::Contains("do not split into 2 groups"), Error);
}
