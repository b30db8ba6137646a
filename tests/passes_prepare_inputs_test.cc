#include <doctest/doctest.h>

#include "passes/prepare_inputs.h"
#include "tests/pass_check.h"

using namespace ort_train;
using passes::InputPreparation;
using tests::check_pass;
using tests::check_unchanged;

namespace {

InputPreparation of_images(const Dims& dims, const InputPreparation::Image& image) {
  InputPreparation preparation;
  preparation.dtype = DataType::uint8;
  preparation.dims = dims;
  preparation.image = image;
  return preparation;
}

InputPreparation::Image image(std::int64_t channels, std::int64_t height, std::int64_t width) {
  InputPreparation::Image result;
  result.channels = channels;
  result.data_height = result.height = height;
  result.data_width = result.width = width;
  return result;
}

}  // namespace

TEST_CASE("prepare-inputs renders, scales and offsets images in the graph") {
  InputPreparation::Image moved = image(2, 3, 4);
  moved.rendered = true;
  moved.height = 1;
  moved.width = 2;
  moved.fill = FillMode::constant;
  moved.fill_value = 7;
  InputPreparation preparation = of_images({2, 3, 4}, moved);
  preparation.factor = Tensor::of<float>({2, 1, 2}, {1, 2, 3, 4});
  preparation.offset = Tensor::of<float>({2, 1, 2}, {5, 6, 7, 8});
  const passes::InputPreparations preparations = {{"x", preparation}};
  passes::PrepareInputs pass(preparations);
  check_pass(pass, "g (float[5,2,1,2] x, float[5] z) => (float[5,2,1,2] y) { y = Relu(x) }",
             R"(g (float[5] z, uint8[5,2,3,4] "ort_train.data.x", float[5,4] "ort_train.placement.x")
                  => (float[5,2,1,2] y)
                <float[2,1,2] "x.constant" = {1,2,3,4}, float[2,1,2] "x.constant.1" = {5,6,7,8}> {
               ["x.RenderImages"] "x.RenderImages" =
                 ai.ort_train.RenderImages<fill = "constant", fill_value = 7.0, height = 1, width = 2>
                 ("ort_train.data.x", "ort_train.placement.x")
               ["x.Mul"] "x.Mul" = Mul("x.RenderImages", "x.constant")
               ["x.Add"] "x.Add" = Add("x.Mul", "x.constant.1")
               y = Relu("x.Add") })");
}

TEST_CASE("prepare-inputs brings channels to where the model wants them") {
  InputPreparation::Image rearranged = image(2, 3, 4);
  rearranged.data_channels_last = true;
  const passes::InputPreparations first = {{"x", of_images({3, 4, 2}, rearranged)}};
  passes::PrepareInputs to_first(first);
  check_pass(to_first, "g (float[5,2,3,4] x) => (float[5,2,3,4] y) { y = Relu(x) }",
             R"(g (uint8[5,3,4,2] "ort_train.data.x") => (float[5,2,3,4] y) {
               ["x.Transpose"] "x.Transpose" = Transpose<perm = [0, 3, 1, 2]>("ort_train.data.x")
               ["x.Cast"] "x.Cast" = Cast<to = 1>("x.Transpose")
               y = Relu("x.Cast") })");
  rearranged.data_channels_last = false;
  rearranged.channels_last = true;
  const passes::InputPreparations last = {{"x", of_images({2, 3, 4}, rearranged)}};
  passes::PrepareInputs to_last(last);
  check_pass(to_last, "g (float[5,3,4,2] x) => (float[5,3,4,2] y) { y = Relu(x) }",
             R"(g (uint8[5,2,3,4] "ort_train.data.x") => (float[5,3,4,2] y) {
               ["x.Transpose"] "x.Transpose" = Transpose<perm = [0, 2, 3, 1]>("ort_train.data.x")
               ["x.Cast"] "x.Cast" = Cast<to = 1>("x.Transpose")
               y = Relu("x.Cast") })");
}

TEST_CASE("prepare-inputs gives a picture without channels the extents of the input, and a table its type") {
  const passes::InputPreparations pictures = {{"x", of_images({3, 4}, image(1, 3, 4))}};
  passes::PrepareInputs flatten(pictures);
  check_pass(flatten, "g (float[5,12] x) => (float[5,12] y) { y = Relu(x) }",
             R"(g (uint8[5,3,4] "ort_train.data.x") => (float[5,12] y) <int64[2] "x.constant" = {5,12}> {
               ["x.Reshape"] "x.Reshape" = Reshape<allowzero = 1>("ort_train.data.x", "x.constant")
               ["x.Cast"] "x.Cast" = Cast<to = 1>("x.Reshape")
               y = Relu("x.Cast") })");
  InputPreparation table;
  table.dtype = DataType::float32;
  table.dims = {2};
  table.offset = Tensor::of<float>({2}, {1, 2});
  const passes::InputPreparations tables = {{"x", table}};
  passes::PrepareInputs in_double(tables);
  check_pass(in_double, "g (double[5,2] x) => (double[5,2] y) { y = Relu(x) }",
             R"(g (float[5,2] "ort_train.data.x") => (double[5,2] y) <float[2] "x.constant" = {1,2}> {
               ["x.Cast"] "x.Cast" = Cast<to = 11>("ort_train.data.x")
               ["x.Cast.1"] "x.Cast.1" = Cast<to = 11>("x.constant")
               ["x.Add"] "x.Add" = Add("x.Cast", "x.Cast.1")
               y = Relu("x.Add") })");
}

TEST_CASE("prepare-inputs leaves other inputs alone") {
  const passes::InputPreparations none = {{"other", of_images({2, 3, 4}, image(2, 3, 4))}};
  passes::PrepareInputs pass(none);
  check_unchanged(pass, "g (float[5,2] x) => (float[5,2] y) { y = Relu(x) }");
}
