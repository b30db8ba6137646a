#include <doctest/doctest.h>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy on the same inputs.

TEST_CASE("Shape counts its bounds from either end") {
  check_array(run_node("y = Shape<start = -2, end = 2>(x)", {{"x", sample({2, 3, 4}, 1)}}), {1}, {3});
}

TEST_CASE("Size") { check_array(run_node("y = Size(x)", {{"x", sample({2, 3, 4}, 1)}}), {}, {24}); }

TEST_CASE("Reshape copies and infers extents") {
  check_array(run_node("y = Reshape(x, shape)", {{"x", sample({2, 3, 2}, 1)}, {"shape", Tensor::of_int64s({0, -1})}}),
              {2, 6}, {1.72, -0.68, 0.96, -1.44, 0.2, 1.84, -0.56, 1.08, -1.32, 0.32, 1.96, -0.44});
}

TEST_CASE("Flatten in front of the last axis") {
  check_array(run_node("y = Flatten<axis = -1>(x)", {{"x", sample({2, 3, 2}, 1)}}), {6, 2},
              {1.72, -0.68, 0.96, -1.44, 0.2, 1.84, -0.56, 1.08, -1.32, 0.32, 1.96, -0.44});
}

TEST_CASE("Squeeze of every axis of extent 1") {
  check_array(run_node("y = Squeeze(x)", {{"x", sample({1, 3, 1}, 1)}}), {3}, {1.72, -0.68, 0.96});
}

TEST_CASE("Squeeze of one axis") {
  check_array(run_node("y = Squeeze(x, axes)", {{"x", sample({1, 3, 1}, 1)}, {"axes", Tensor::of_int64s({-1})}}),
              {1, 3}, {1.72, -0.68, 0.96});
}

TEST_CASE("Unsqueeze counts its axes in the result") {
  check_array(run_node("y = Unsqueeze(x, axes)", {{"x", sample({3}, 1)}, {"axes", Tensor::of_int64s({2, 0})}}),
              {1, 3, 1}, {1.72, -0.68, 0.96});
}

TEST_CASE("Transpose") {
  check_array(run_node("y = Transpose<perm = [2, 0, 1]>(x)", {{"x", sample({2, 3, 2}, 1)}}), {2, 2, 3},
              {1.72, 0.96, 0.2, -0.56, -1.32, 1.96, -0.68, -1.44, 1.84, 1.08, 0.32, -0.44});
}

TEST_CASE("Transpose reverses the axes by default") {
  check_array(run_node("y = Transpose(x)", {{"x", sample({2, 1, 3}, 1)}}), {3, 1, 2},
              {1.72, -1.44, -0.68, 0.2, 0.96, 1.84});
}

TEST_CASE("Concat along an inner axis") {
  check_array(run_node("y = Concat<axis = -1>(a, b, c)",
                       {{"a", sample({2, 2}, 1)}, {"b", sample({2, 1}, 2)}, {"c", sample({2, 0}, 3)}}),
              {2, 3}, {1.72, -0.68, 1.4, 0.96, -1.44, -1});
}

TEST_CASE("Split by sizes and into parts of which the last one is smaller") {
  const Tensor x = Tensor::of_int64s({0, 1, 2, 3, 4, 5, 6});
  const Arrays sized =
      run_nodes("a, b = Split(x, sizes)", {{"x", x}, {"sizes", Tensor::of_int64s({5, 2})}}, {"a", "b"});
  CHECK(sized.at("a").to_int64s() == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(sized.at("b").to_int64s() == std::vector<std::int64_t>{5, 6});
  const Arrays parts = run_nodes("a, b, c = Split<num_outputs = 3>(x)", {{"x", x}}, {"a", "b", "c"});
  CHECK(parts.at("b").to_int64s() == std::vector<std::int64_t>{3, 4, 5});
  CHECK(parts.at("c").to_int64s() == std::vector<std::int64_t>{6});
}

TEST_CASE("Split along an inner axis") {
  const Arrays results = run_nodes("a, b = Split<axis = 1>(x, sizes)",
                                   {{"x", sample({2, 3, 2}, 1)}, {"sizes", Tensor::of_int64s({1, 2})}}, {"a", "b"});
  check_array(results.at("a"), {2, 1, 2}, {1.72, -0.68, -0.56, 1.08});
  check_array(results.at("b"), {2, 2, 2}, {0.96, -1.44, 0.2, 1.84, -1.32, 0.32, 1.96, -0.44});
}

TEST_CASE("Slice forwards and backwards") {
  check_array(run_node("y = Slice(x, starts, ends, axes, steps)", {{"x", sample({2, 3, 4}, 1)},
                                                                   {"starts", Tensor::of_int64s({-1, 1})},
                                                                   {"ends", Tensor::of_int64s({-100, 100})},
                                                                   {"axes", Tensor::of_int64s({1, -1})},
                                                                   {"steps", Tensor::of_int64s({-2, 2})}}),
              {2, 2, 2}, {0.32, -0.44, -0.68, -1.44, -0.2, -0.96, -1.2, -1.96});
}

TEST_CASE("Slice clamps a start behind the end when it steps backwards") {
  check_array(run_node("y = Slice(x, starts, ends, axes, steps)", {{"x", sample({5}, 1)},
                                                                   {"starts", Tensor::of_int64s({9})},
                                                                   {"ends", Tensor::of_int64s({1})},
                                                                   {"axes", Tensor::of_int64s({0})},
                                                                   {"steps", Tensor::of_int64s({-1})}}),
              {3}, {0.2, -1.44, 0.96});
}

TEST_CASE("Slice of the first axes by default") {
  check_array(
      run_node("y = Slice(x, starts, ends)",
               {{"x", sample({3, 4}, 1)}, {"starts", Tensor::of_int64s({1})}, {"ends", Tensor::of_int64s({3})}}),
      {2, 4}, {0.2, 1.84, -0.56, 1.08, -1.32, 0.32, 1.96, -0.44});
}

TEST_CASE("Slice that leaves nothing") {
  check_array(
      run_node("y = Slice(x, starts, ends)",
               {{"x", sample({3, 2}, 1)}, {"starts", Tensor::of_int64s({2})}, {"ends", Tensor::of_int64s({1})}}),
      {0, 2}, {});
}

TEST_CASE("Gather with negative indices along an inner axis") {
  check_array(run_node("y = Gather<axis = 1>(x, indices)",
                       {{"x", sample({2, 3, 2}, 1)}, {"indices", Tensor::of<std::int64_t>({2, 2}, {0, -1, 1, 1})}}),
              {2, 2, 2, 2},
              {1.72, -0.68, 0.2, 1.84, 0.96, -1.44, 0.96, -1.44, -0.56, 1.08, 1.96, -0.44, -1.32, 0.32, -1.32, 0.32});
}

TEST_CASE("Gather by one number takes the axis away") {
  check_array(run_node("y = Gather(x, index)", {{"x", sample({2, 3}, 1)}, {"index", Tensor::scalar<std::int64_t>(-1)}}),
              {3}, {-1.44, 0.2, 1.84});
}

TEST_CASE("GatherElements") {
  check_array(run_node("y = GatherElements<axis = 1>(x, indices)",
                       {{"x", sample({2, 3}, 1)}, {"indices", Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, 1})}}),
              {2, 2}, {1.72, 0.96, 1.84, 0.2});
}

TEST_CASE("GatherND of slices") {
  check_array(run_node("y = GatherND(x, indices)",
                       {{"x", sample({2, 3, 2}, 1)}, {"indices", Tensor::of<std::int64_t>({2, 2}, {0, 1, -1, 2})}}),
              {2, 2}, {0.96, -1.44, 1.96, -0.44});
}

TEST_CASE("GatherND within a batch") {
  check_array(run_node("y = GatherND<batch_dims = 1>(x, indices)",
                       {{"x", sample({2, 3, 2}, 1)}, {"indices", Tensor::of<std::int64_t>({2, 1}, {1, -1})}}),
              {2, 2}, {0.96, -1.44, 1.96, -0.44});
}

TEST_CASE("ScatterElements with the reduction none") {
  check_array(run_node("y = ScatterElements<axis = 1, reduction = \"none\">(x, indices, updates)",
                       {{"x", sample({2, 3}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, 1})},
                        {"updates", sample({2, 2}, 2)}}),
              {2, 3}, {1.4, -0.68, -1, -1.44, -1.76, 0.64});
}

TEST_CASE("ScatterElements with the reduction add") {
  check_array(run_node("y = ScatterElements<axis = 1, reduction = \"add\">(x, indices, updates)",
                       {{"x", sample({2, 3}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 2}, {0, 0, 2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {2, 3}, {2.12, -0.68, 0.96, -1.44, 0.2, 0.72});
}

TEST_CASE("ScatterElements with the reduction mul") {
  check_array(run_node("y = ScatterElements<axis = 1, reduction = \"mul\">(x, indices, updates)",
                       {{"x", sample({2, 3}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 2}, {0, 0, 2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {2, 3}, {-2.408, -0.68, 0.96, -1.44, 0.2, -2.072576});
}

TEST_CASE("ScatterElements with the reduction max") {
  check_array(run_node("y = ScatterElements<axis = 1, reduction = \"max\">(x, indices, updates)",
                       {{"x", sample({2, 3}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 2}, {0, 0, 2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {2, 3}, {1.72, -0.68, 0.96, -1.44, 0.2, 1.84});
}

TEST_CASE("ScatterElements with the reduction min") {
  check_array(run_node("y = ScatterElements<axis = 1, reduction = \"min\">(x, indices, updates)",
                       {{"x", sample({2, 3}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 2}, {0, 0, 2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {2, 3}, {-1, -0.68, 0.96, -1.44, 0.2, -1.76});
}

TEST_CASE("ScatterND of rows with the reduction none") {
  check_array(run_node("y = ScatterND<reduction = \"none\">(x, indices, updates)",
                       {{"x", sample({3, 2}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 1}, {1, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {3, 2}, {1.72, -0.68, 1.4, -1, 0.64, -1.76});
}

TEST_CASE("ScatterND of rows with the reduction add") {
  check_array(run_node("y = ScatterND<reduction = \"add\">(x, indices, updates)",
                       {{"x", sample({3, 2}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 1}, {2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {3, 2}, {1.72, -0.68, 0.96, -1.44, 2.24, -0.92});
}

TEST_CASE("ScatterND of rows with the reduction max") {
  check_array(run_node("y = ScatterND<reduction = \"max\">(x, indices, updates)",
                       {{"x", sample({3, 2}, 1)},
                        {"indices", Tensor::of<std::int64_t>({2, 1}, {2, -1})},
                        {"updates", sample({2, 2}, 2)}}),
              {3, 2}, {1.72, -0.68, 0.96, -1.44, 1.4, 1.84});
}

TEST_CASE("Expand works both ways") {
  check_array(run_node("y = Expand(x, shape)", {{"x", sample({3, 1}, 1)}, {"shape", Tensor::of_int64s({2, 1, 2})}}),
              {2, 3, 2}, {1.72, 1.72, -0.68, -0.68, 0.96, 0.96, 1.72, 1.72, -0.68, -0.68, 0.96, 0.96});
}

TEST_CASE("Tile") {
  check_array(run_node("y = Tile(x, repeats)", {{"x", sample({2, 2}, 1)}, {"repeats", Tensor::of_int64s({2, 3})}}),
              {4, 6}, {1.72, -0.68, 1.72, -0.68, 1.72, -0.68, 0.96, -1.44, 0.96, -1.44, 0.96, -1.44,
                       1.72, -0.68, 1.72, -0.68, 1.72, -0.68, 0.96, -1.44, 0.96, -1.44, 0.96, -1.44});
}

TEST_CASE("Pad with a constant on chosen axes") {
  check_array(run_node("y = Pad(x, pads, value, axes)", {{"x", sample({2, 3}, 1)},
                                                         {"pads", Tensor::of_int64s({1, 2})},
                                                         {"value", sample({}, 3)},
                                                         {"axes", Tensor::of_int64s({-1})}}),
              {2, 6}, {1.08, 1.72, -0.68, 0.96, 1.08, 1.08, 1.08, -1.44, 0.2, 1.84, 1.08, 1.08});
}

TEST_CASE("Pad in the mode reflect") {
  check_array(run_node("y = Pad<mode = \"reflect\">(x, pads)",
                       {{"x", sample({2, 3}, 1)}, {"pads", Tensor::of_int64s({1, 2, 0, 4})}}),
              {3, 9}, {1.84,  0.2,  -1.44, 0.2,  1.84, 0.2, -1.44, 0.2, 1.84, 0.96, -0.68, 1.72, -0.68, 0.96,
                       -0.68, 1.72, -0.68, 0.96, 1.84, 0.2, -1.44, 0.2, 1.84, 0.2,  -1.44, 0.2,  1.84});
}

TEST_CASE("Pad in the mode edge") {
  check_array(run_node("y = Pad<mode = \"edge\">(x, pads)",
                       {{"x", sample({2, 3}, 1)}, {"pads", Tensor::of_int64s({1, 2, 0, 4})}}),
              {3, 9}, {1.72, 1.72, 1.72, -0.68, 0.96,  0.96,  0.96,  0.96, 0.96, 1.72, 1.72, 1.72, -0.68, 0.96,
                       0.96, 0.96, 0.96, 0.96,  -1.44, -1.44, -1.44, 0.2,  1.84, 1.84, 1.84, 1.84, 1.84});
}

TEST_CASE("Pad in the mode wrap") {
  check_array(run_node("y = Pad<mode = \"wrap\">(x, pads)",
                       {{"x", sample({2, 3}, 1)}, {"pads", Tensor::of_int64s({1, 2, 0, 4})}}),
              {3, 9}, {0.2,  1.84,  -1.44, 0.2,  1.84, -1.44, 0.2,   1.84, -1.44, -0.68, 0.96, 1.72, -0.68, 0.96,
                       1.72, -0.68, 0.96,  1.72, 0.2,  1.84,  -1.44, 0.2,  1.84,  -1.44, 0.2,  1.84, -1.44});
}

TEST_CASE("Pad with negative numbers cuts off") {
  check_array(run_node("y = Pad(x, pads)", {{"x", sample({3, 3}, 1)}, {"pads", Tensor::of_int64s({-1, 1, 0, -2})}}),
              {2, 2}, {0, -1.44, 0, -0.56});
}

TEST_CASE("Range counts down") {
  check_array(run_node("y = Range(start, limit, delta)", {{"start", Tensor::scalar<std::int64_t>(10)},
                                                          {"limit", Tensor::scalar<std::int64_t>(3)},
                                                          {"delta", Tensor::scalar<std::int64_t>(-3)}}),
              {3}, {10, 7, 4});
}

TEST_CASE("NonZero") {
  check_array(run_node("y = NonZero(x)", {{"x", Tensor::of<std::int64_t>({2, 3}, {1, 0, 2, 0, 0, 3})}}), {2, 3},
              {0, 0, 1, 0, 2, 2});
}

TEST_CASE("OneHot along the first axis; what is out of range is off") {
  check_array(run_node("y = OneHot<axis = 0>(indices, depth, values)", {{"indices", Tensor::of_int64s({1, -1, 5})},
                                                                        {"depth", Tensor::scalar<std::int64_t>(3)},
                                                                        {"values", sample({2}, 1)}}),
              {3, 3}, {1.72, 1.72, 1.72, -0.68, 1.72, 1.72, 1.72, -0.68, 1.72});
}

TEST_CASE("EyeLike with a shifted diagonal") {
  check_array(run_node("y = EyeLike<dtype = 11, k = 1>(x)", {{"x", sample({2, 3}, 1)}}), {2, 3}, {0, 1, 0, 0, 0, 1});
}

TEST_CASE("Trilu keeps the lower triangle") {
  check_array(
      run_node("y = Trilu<upper = 0>(x, k)", {{"x", sample({2, 2, 3}, 1)}, {"k", Tensor::scalar<std::int64_t>(1)}}),
      {2, 2, 3}, {1.72, -0.68, 0, -1.44, 0.2, 1.84, -0.56, 1.08, 0, 0.32, 1.96, -0.44});
}

TEST_CASE("Trilu keeps the upper triangle") {
  check_array(
      run_node("y = Trilu<upper = 1>(x, k)", {{"x", sample({2, 2, 3}, 1)}, {"k", Tensor::scalar<std::int64_t>(-1)}}),
      {2, 2, 3}, {1.72, -0.68, 0.96, -1.44, 0.2, 1.84, -0.56, 1.08, -1.32, 0.32, 1.96, -0.44});
}

TEST_CASE("DepthToSpace, position in front of the channel") {
  check_array(run_node("y = DepthToSpace<blocksize = 2>(x)", {{"x", sample({1, 8, 1, 2}, 1)}}), {1, 2, 2, 4},
              {1.72, 0.2, -0.68, 1.84, -1.32, 1.2, 0.32, -1.2, 0.96, -0.56, -1.44, 1.08, 1.96, 0.44, -0.44, -1.96});
}

TEST_CASE("DepthToSpace, channel in front of the position") {
  check_array(run_node("y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)", {{"x", sample({1, 8, 1, 2}, 1)}}),
              {1, 2, 2, 4},
              {1.72, 0.96, -0.68, -1.44, 0.2, -0.56, 1.84, 1.08, -1.32, 1.96, 0.32, -0.44, 1.2, 0.44, -1.2, -1.96});
}

TEST_CASE("SpaceToDepth") {
  check_array(run_node("y = SpaceToDepth<blocksize = 2>(x)", {{"x", sample({1, 2, 2, 4}, 1)}}), {1, 8, 1, 2},
              {1.72, 0.96, -1.32, 1.96, -0.68, -1.44, 0.32, -0.44, 0.2, -0.56, 1.2, 0.44, 1.84, 1.08, -1.2, -1.96});
}

TEST_CASE("ReverseSequence with the batch first") {
  check_array(run_node("y = ReverseSequence<batch_axis = 0, time_axis = 1>(x, lengths)",
                       {{"x", sample({2, 3, 2}, 1)}, {"lengths", Tensor::of_int64s({2, 3})}}),
              {2, 3, 2}, {0.96, -1.44, 1.72, -0.68, 0.2, 1.84, 1.96, -0.44, -1.32, 0.32, -0.56, 1.08});
}

TEST_CASE("Compress takes slices along an axis, or elements") {
  const Tensor x = sample({2, 3}, 1);
  const std::vector<double> all = x.to_doubles();
  const Tensor condition(DataType::boolean, {2});
  Tensor second = condition.clone();
  second.data<bool>()[1] = true;
  check_array(run_node("y = Compress<axis = 1>(x, c)", {{"x", x}, {"c", second}}), {2, 1}, {all[1], all[4]});
  check_array(run_node("y = Compress(x, c)", {{"x", x}, {"c", second}}), {1}, {all[1]});
  check_array(run_node("y = Compress(x, c)", {{"x", x}, {"c", condition}}), {0}, {});
}

TEST_CASE("Unique sorts, or keeps the order of the first occurrences") {
  const Arrays inputs{{"x", Tensor::of_int64s({3, 1, 3, 2, 1})}};
  const Arrays sorted = run_nodes("y, first, inverse, counts = Unique(x)", inputs, {"y", "first", "inverse", "counts"});
  CHECK(sorted.at("y").to_int64s() == std::vector<std::int64_t>{1, 2, 3});
  CHECK(sorted.at("first").to_int64s() == std::vector<std::int64_t>{1, 3, 0});
  CHECK(sorted.at("inverse").to_int64s() == std::vector<std::int64_t>{2, 0, 2, 1, 0});
  CHECK(sorted.at("counts").to_int64s() == std::vector<std::int64_t>{2, 1, 2});
  CHECK(run_node("y = Unique<sorted = 0>(x)", inputs).to_int64s() == std::vector<std::int64_t>{3, 1, 2});
  const Tensor rows = Tensor::of<std::int64_t>({3, 2}, {5, 1, 4, 9, 5, 1});
  const Tensor unique_rows = run_node("y = Unique<axis = 0>(x)", {{"x", rows}});
  CHECK(unique_rows.dims() == Dims{2, 2});
  CHECK(unique_rows.to_int64s() == std::vector<std::int64_t>{4, 9, 5, 1});
}

TEST_CASE("Constant takes its value from any of its attributes") {
  const auto constant = [](const std::string& attribute) { return run_node("y = Constant<" + attribute + ">()", {}); };
  CHECK(constant("value = int64[2] {3, 4}").identical(Tensor::of_int64s({3, 4})));
  CHECK(constant("value_int = 5").identical(Tensor::scalar<std::int64_t>(5)));
  CHECK(constant("value_ints = [5, 6]").identical(Tensor::of_int64s({5, 6})));
  CHECK(constant("value_float = 0.5").identical(Tensor::scalar(0.5f)));
  CHECK(constant("value_floats = [0.5, 1.5]").identical(Tensor::of<float>({2}, {0.5f, 1.5f})));
  CHECK(constant("value_string = \"text\"").strings() == std::vector<std::string>{"text"});
}

TEST_CASE("ConstantOfShape repeats its value; without one it is a float32 zero") {
  const Arrays shape{{"s", Tensor::of_int64s({1, 2})}};
  CHECK(run_node("y = ConstantOfShape<value = int64[1] {7}>(s)", shape)
            .identical(Tensor::of<std::int64_t>({1, 2}, {7, 7})));
  CHECK(run_node("y = ConstantOfShape(s)", shape).identical(Tensor::of<float>({1, 2}, {0, 0})));
}

TEST_CASE("elements of every size are moved") {
  for (const DataType dtype : {DataType::boolean, DataType::int8, DataType::float16, DataType::bfloat16,
                               DataType::uint16, DataType::int32, DataType::float32, DataType::uint64}) {
    const Tensor x = Tensor::of<double>({2, 3}, {1, 0, 3, 4, 5, 0}).cast(dtype);
    const Tensor expected = Tensor::of<double>({3, 2}, {1, 4, 0, 5, 3, 0}).cast(dtype);
    CHECK_MESSAGE(run_node("y = Transpose(x)", {{"x", x}}).identical(expected), name_of(dtype));
  }
}

TEST_CASE("an index out of range is an error that names it") {
  CHECK_THROWS_WITH_AS(run_node("y = Gather(x, i)", {{"x", sample({3, 2})}, {"i", Tensor::of_int64s({3})}}),
                       doctest::Contains("the index 3 is outside an axis of 3 elements"), Error);
  CHECK_THROWS_WITH_AS(run_node("y = GatherND(x, i)", {{"x", sample({3, 2})}, {"i", Tensor::of_int64s({-4})}}),
                       doctest::Contains("the index -4"), Error);
}

TEST_CASE("the gradients of Gather, Slice and Pad agree with finite differences") {
  check_gradients({"y = Gather<axis = 1>(x, i)",
                   "dx = ai.ort_train.GatherGrad<axis = 1, input_shape = [2, 3, 2]>(dy, i)",
                   {{"x", sample({2, 3, 2}, 1)}, {"i", Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, 0})}},
                   {{"dx", "x"}}});
  check_gradients({"y = Slice(x, starts, ends, axes, steps)",
                   "dx = ai.ort_train.SliceGrad<input_shape = [3, 5], starts = [2, 1], ends = [-1, 5], axes = [0, 1], "
                   "steps = [-2, 2]>(dy)",
                   {{"x", sample({3, 5}, 1)},
                    {"starts", Tensor::of_int64s({2, 1})},
                    {"ends", Tensor::of_int64s({-9, 5})},
                    {"axes", Tensor::of_int64s({0, 1})},
                    {"steps", Tensor::of_int64s({-2, 2})}},
                   {{"dx", "x"}}});
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    check_gradients(
        {"y = Pad<mode = \"" + mode + "\">(x, pads)",
         "dx = ai.ort_train.PadGrad<mode = \"" + mode + "\", input_shape = [4, 3], pads = [2, -1, 0, 3]>(dy)",
         {{"x", sample({4, 3}, 1)}, {"pads", Tensor::of_int64s({2, -1, 0, 3})}},
         {{"dx", "x"}}});
  }
}
