#include <doctest/doctest.h>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: onnx.reference on the same inputs.

TEST_CASE("Resize to the nearest element") {
  check_array(run_node("y = Resize<mode = \"nearest\">(x, , scales)",
                       {{"x", sample({1, 1, 2, 3}, 1)}, {"scales", Tensor::of<float>({4}, {1.0f, 1.0f, 2.0f, 1.5f})}}),
              {1, 1, 4, 4},
              {1.72, 1.72, -0.68, 0.96, 1.72, 1.72, -0.68, 0.96, -1.44, -1.44, 0.2, 1.84, -1.44, -1.44, 0.2, 1.84});
}

TEST_CASE("Resize to the nearest element, rounding down from asymmetric positions") {
  check_array(run_node("y = Resize<mode = \"nearest\", nearest_mode = \"floor\", coordinate_transformation_mode = "
                       "\"asymmetric\">(x, , , sizes)",
                       {{"x", sample({1, 1, 4, 3}, 1)}, {"sizes", Tensor::of_int64s({1, 1, 2, 7})}}),
              {1, 1, 2, 7},
              {1.72, 1.72, 1.72, -0.68, -0.68, 0.96, 0.96, -0.56, -0.56, -0.56, 1.08, 1.08, -1.32, -1.32});
}

TEST_CASE("Resize linearly") {
  check_array(run_node("y = Resize<mode = \"linear\">(x, , , sizes)",
                       {{"x", sample({1, 1, 2, 3}, 1)}, {"sizes", Tensor::of_int64s({1, 1, 4, 5})}}),
              {1, 1, 4, 5}, {1.72,  0.76,   -0.68, 0.304, 0.96, 0.93,  0.374,  -0.46, 0.524, 1.18,
                             -0.65, -0.398, -0.02, 0.964, 1.62, -1.44, -0.784, 0.2,   1.184, 1.84});
}

TEST_CASE("Resize linearly with aligned corners, along chosen axes") {
  check_array(
      run_node(
          "y = Resize<mode = \"linear\", coordinate_transformation_mode = \"align_corners\", axes = [1]>(x, , , sizes)",
          {{"x", sample({2, 3}, 1)}, {"sizes", Tensor::of_int64s({5})}}),
      {2, 5}, {1.72, 0.52, -0.68, 0.14, 0.96, -1.44, -0.62, 0.2, 1.02, 1.84});
}

TEST_CASE("Resize linearly against aliasing") {
  check_array(run_node("y = Resize<mode = \"linear\", antialias = 1>(x, , scales)",
                       {{"x", sample({1, 1, 5, 4}, 1)}, {"scales", Tensor::of<float>({4}, {1.0f, 1.0f, 0.6f, 0.5f})}}),
              {1, 1, 3, 2}, {0.723125, -0.06812501, 0.04166668, 0.2183334, 0.201875, -0.3368751});
}

TEST_CASE("Resize cubically") {
  check_array(run_node("y = Resize<mode = \"cubic\">(x, , scales)",
                       {{"x", sample({1, 1, 4, 4}, 1)}, {"scales", Tensor::of<float>({4}, {1.0f, 1.0f, 1.5f, 0.75f})}}),
              {1, 1, 6, 3},
              {1.422609, 0.09659727, -1.229414, 1.061136, 0.3076172, -0.05049304, 0.1396143, 0.842484, 0.8668146,
               -1.06841, 1.566136, 0.2221949, -0.2920842, 0.6517578, -0.9086503, 0.9955026, -0.5448223, -1.719029});
}

TEST_CASE("Resize cubically without the elements outside") {
  check_array(run_node("y = Resize<mode = \"cubic\", exclude_outside = 1, cubic_coeff_a = -0.5, "
                       "coordinate_transformation_mode = \"pytorch_half_pixel\">(x, , , sizes)",
                       {{"x", sample({1, 1, 3, 4}, 1)}, {"sizes", Tensor::of_int64s({1, 1, 5, 1})}}),
              {1, 1, 5, 1}, {2.172831, 1.377799, -0.005, -1.082538, -1.639717});
}

TEST_CASE("Resize of a region, with a value for what lies outside") {
  check_array(run_node("y = Resize<mode = \"linear\", coordinate_transformation_mode = \"tf_crop_and_resize\", "
                       "extrapolation_value = 10.0>(x, roi, , sizes)",
                       {{"x", sample({1, 1, 3, 4}, 1)},
                        {"roi", Tensor::of<double>({8}, {0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7})},
                        {"sizes", Tensor::of_int64s({1, 1, 3, 3})}}),
              {1, 1, 3, 3}, {0.0624, 10, 10, 0.9472, 10, 10, 10, 10, 10});
}

TEST_CASE("Resize keeps the aspect ratio") {
  check_array(
      run_node("y = Resize<mode = \"nearest\", keep_aspect_ratio_policy = \"not_larger\", axes = [2, 3]>(x, , , sizes)",
               {{"x", sample({1, 1, 2, 4}, 1)}, {"sizes", Tensor::of_int64s({7, 8})}}),
      {1, 1, 4, 8},
      {1.72, 1.72, -0.68, -0.68, 0.96,  0.96,  -1.44, -1.44, 1.72, 1.72, -0.68, -0.68, 0.96,  0.96,  -1.44, -1.44,
       0.2,  0.2,  1.84,  1.84,  -0.56, -0.56, 1.08,  1.08,  0.2,  0.2,  1.84,  1.84,  -0.56, -0.56, 1.08,  1.08});
}

TEST_CASE("Resize rounds integers and lets them saturate") {
  const Tensor x = Tensor::of<std::uint8_t>({1, 4}, {0, 255, 255, 0});
  const Tensor y = run_node("y = Resize<mode = \"cubic\">(x, , scales)",
                            {{"x", x}, {"scales", Tensor::of<float>({2}, {1.0f, 2.0f})}});
  CHECK(y.dtype() == DataType::uint8);
  CHECK(y.to_int64s()[3] == 255);
  CHECK(y.to_int64s()[0] == 0);
}
