#include <doctest/doctest.h>

#include <cmath>

#include "kernels/broadcast.h"
#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy on the same inputs, or by hand.

namespace {

Tensor run_binary(const std::string& operation, const Tensor& a, const Tensor& b) {
  return run_node("y = " + operation + "(a, b)", {{"a", a}, {"b", b}});
}

Tensor cast(const Tensor& x, DataType to) {
  return run_node(text("y = Cast<to = ", static_cast<int>(to), ">(x)"), {{"x", x}});
}

/// The element of `x` that broadcasting puts at position `index` of an array of extents `dims`.
double broadcast_element(const Tensor& x, const Dims& dims, std::int64_t index) {
  std::int64_t offset = 0, stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t position = index % dims[dims.size() - 1 - i];
    index /= dims[dims.size() - 1 - i];
    if (i >= x.dims().size()) continue;
    const std::int64_t extent = x.dims()[x.dims().size() - 1 - i];
    if (extent != 1) offset += position * stride;
    stride *= extent;
  }
  return x.data<double>()[offset];
}

}  // namespace

TEST_CASE("binary operators broadcast in both directions") {
  const std::vector<std::pair<Dims, Dims>> pairs = {{{2, 3}, {2, 3}},
                                                    {{2, 3}, {}},
                                                    {{}, {2, 3}},
                                                    {{4, 3}, {3}},
                                                    {{3}, {4, 3}},
                                                    {{4, 3}, {4, 1}},
                                                    {{2, 3, 4}, {3, 1}},
                                                    {{2, 1, 4}, {3, 1}},
                                                    {{2, 3, 4}, {2, 1, 4}},
                                                    {{1, 5}, {5, 1}},
                                                    {{2, 3, 2, 2}, {1, 3, 1, 1}},
                                                    {{2, 1, 2, 1, 2}, {3, 1, 2, 1}},
                                                    {{0, 3}, {1, 3}},
                                                    {{}, {}},
                                                    {{300, 400}, {400}},
                                                    {{70, 7, 130}, {7, 1}}};
  for (const auto& pair : pairs) {
    const Dims& left = pair.first;
    const Dims& right = pair.second;
    const Tensor a = grid(left, 1), b = grid(right, 2);
    INFO(to_string(left), " and ", to_string(right));
    const Dims dims = kernels::broadcast_dims(left, right);
    std::vector<double> expected(static_cast<std::size_t>(element_count(dims)));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      expected[i] = broadcast_element(a, dims, index) - broadcast_element(b, dims, index);
    }
    check_each(run_binary("Sub", a, b), dims, expected);
  }
}

TEST_CASE("shapes that do not broadcast are refused") {
  CHECK_THROWS_AS(kernels::broadcast_dims({2, 3}, {2}), Error);
  CHECK_THROWS_AS(kernels::broadcast_dims({0}, {2}), Error);
  CHECK_THROWS_AS(kernels::Broadcast({2, 3}, {{4}}), Error);
  CHECK_THROWS_AS(kernels::Broadcast({3}, {{2, 3}}), Error);
}

TEST_CASE("Add, Sub, Mul and Div in every floating-point type") {
  for (const DataType dtype : floating_types) {
    const Tensor a = tensor_of({1.5, -2, 3, 0}, dtype), b = tensor_of({0.5, 4, -8, 0}, dtype);
    check_each(run_binary("Add", a, b), {4}, {2, 2, -5, 0});
    check_each(run_binary("Sub", a, b), {4}, {1, -6, 11, 0});
    check_each(run_binary("Mul", a, b), {4}, {0.75, -8, -24, 0});
    check_each(run_binary("Div", a, b), {4}, {3, -0.5, -0.375, not_a_number});
  }
}

TEST_CASE("integer arithmetic wraps and divides towards zero") {
  const Tensor a = tensor_of({7, -7, 7, -7, 8, -8, 0}, DataType::int64);
  const Tensor b = tensor_of({3, 3, -3, -3, 4, -4, 5}, DataType::int64);
  check_each(run_binary("Add", a, b), {7}, {10, -4, 4, -10, 12, -12, 5});
  check_each(run_binary("Mul", a, b), {7}, {21, -21, -21, 21, 32, 32, 0});
  check_each(run_binary("Div", a, b), {7}, {2, -2, -2, 2, 2, 2, 0});
  check_each(run_binary("Add", tensor_of({250}, DataType::uint8), tensor_of({10}, DataType::uint8)), {1}, {4});
  check_each(run_binary("Sub", tensor_of({3}, DataType::uint16), tensor_of({5}, DataType::uint16)), {1}, {65534});
  check_each(run_binary("Mul", tensor_of({65535}, DataType::uint16), tensor_of({65535}, DataType::uint16)), {1}, {1});
  check_each(run_binary("Mul", tensor_of({100}, DataType::int8), tensor_of({3}, DataType::int8)), {1}, {44});
  check_each(run_binary("Div", tensor_of({-2147483648.0}, DataType::int32), tensor_of({-1}, DataType::int32)), {1},
             {-2147483648.0});
}

TEST_CASE("integer division by zero is an error that names the element") {
  const Tensor a = tensor_of({1, 2, 3}, DataType::int32), b = tensor_of({1, 0, 3}, DataType::int32);
  CHECK_THROWS_WITH_AS(run_binary("Div", a, b), doctest::Contains("element 1 of the divisor is 0"), Error);
  CHECK_THROWS_WITH_AS(run_binary("Mod", a, b), doctest::Contains("integer division by zero"), Error);
}

TEST_CASE("Mod rounds the quotient down, or towards zero with fmod") {
  const Tensor a = tensor_of({7, -7, 7, -7, 5.5, -5.5, 0, 6}), b = tensor_of({3, 3, -3, -3, 2, 2, -4, 2.5});
  check_each(run_binary("Mod", a, b), {8}, {1, 2, -2, -1, 1.5, 0.5, 0, 1});
  check_each(run_binary("Mod<fmod = 1>", a, b), {8}, {1, -1, 1, -1, 1.5, -1.5, 0, 1});
  const Tensor integers = tensor_of({7, -7, 7, -7, 8, -8, 0, -128}, DataType::int8);
  const Tensor divisors = tensor_of({3, 3, -3, -3, 4, -4, 5, -1}, DataType::int8);
  check_each(run_binary("Mod", integers, divisors), {8}, {1, 2, -2, -1, 0, 0, 0, 0});
  check_each(run_binary("Mod<fmod = 1>", integers, divisors), {8}, {1, -1, 1, -1, 0, 0, 0, 0});
  const Tensor special = tensor_of({0, infinity, 3, 3, -3, not_a_number}),
               by = tensor_of({-2, 2, 0, infinity, infinity, 2});
  const Tensor remainder = run_binary("Mod", special, by);
  check_each(remainder, {6}, {0, not_a_number, not_a_number, 3, infinity, not_a_number});
  CHECK(std::signbit(remainder.data<double>()[0]));
  check_each(run_binary("Mod<fmod = 1>", special, by), {6}, {0, not_a_number, not_a_number, 3, -3, not_a_number});
}

TEST_CASE("Pow of all pairs of types has the type of the base") {
  for (const DataType dtype : floating_types) {
    const Tensor base = tensor_of({0.5, 2, 3, 1.5, 10, -2}, dtype);
    check_each(run_binary("Pow", base, tensor_of({3, 0.5, -2, 2.5, 0, 3}, dtype)), {6},
               {0.125, 1.4142135623731, 0.11111111111111, 2.7556759606311, 1, -8});
    check_each(run_binary("Pow", base, tensor_of({2}, Dims{}, dtype)), {6}, {0.25, 4, 9, 2.25, 100, 4});
    check_each(run_binary("Pow", base, tensor_of({3}, Dims{}, DataType::int64)), {6}, {0.125, 8, 27, 3.375, 1000, -8});
  }
  const Tensor integers = tensor_of({2, -3, 1, -1, 10}, DataType::int32);
  check_each(run_binary("Pow", integers, tensor_of({10, 3, -5, -3, 9}, DataType::int64)), {5},
             {1024, -27, 1, -1, 1000000000});
  check_each(run_binary("Pow", integers, tensor_of({2}, {1}, DataType::int32)), {5}, {4, 9, 1, 1, 100});
  check_each(run_binary("Pow", integers, tensor_of({1.5}, {1}, DataType::float32)), {5}, {2, 0, 1, 0, 31});
  check_each(
      run_binary("Pow", tensor_of({3}, DataType::int64), tensor_of({39}, DataType::uint8)).cast(DataType::float64), {1},
      {4052555153018976267.0});
  CHECK_THROWS_WITH_AS(run_binary("Pow", tensor_of({0}, DataType::int32), tensor_of({-1}, DataType::int32)),
                       doctest::Contains("division by zero"), Error);
}

TEST_CASE("Min, Max, Sum and Mean of one, two and three inputs that broadcast") {
  for (const DataType dtype : floating_types) {
    const Arrays inputs = {{"a", tensor_of({1, -2, 3, -4, 5, -6}, {2, 3}, dtype)},
                           {"b", tensor_of({0.5, -3, 4}, dtype)},
                           {"c", tensor_of({-1, 2}, {2, 1}, dtype)}};
    check_each(run_node("y = Max(a, b, c)", inputs), {2, 3}, {1, -1, 4, 2, 5, 4});
    check_each(run_node("y = Min(a, b, c)", inputs), {2, 3}, {-1, -3, -1, -4, -3, -6});
    check_each(run_node("y = Sum(a, b, c)", inputs), {2, 3}, {0.5, -6, 6, -1.5, 4, 0});
    check_each(run_node("y = Mean(a, b, c)", inputs), {2, 3}, {0.16666666666667, -2, 2, -0.5, 1.3333333333333, 0},
               dtype == DataType::float64 ? 1e-13 : 0);
    check_each(run_node("y = Sum(a, b)", inputs), {2, 3}, {1.5, -5, 7, -3.5, 2, -2});
    check_each(run_node("y = Mean(c)", inputs), {2, 1}, {-1, 2});
  }
  const Arrays large = {{"a", grid({300, 400}, 1)}, {"b", grid({400}, 2)}};
  CHECK(run_node("y = Sum(a, b)", large).identical(run_node("y = Add(a, b)", large)));
  check_each(run_binary("Max", tensor_of({not_a_number, 1, 2}), tensor_of({1, not_a_number, 3})), {3},
             {not_a_number, not_a_number, 3});
  check_each(run_binary("Min", tensor_of({not_a_number, 1, 2}), tensor_of({1, not_a_number, 3})), {3},
             {not_a_number, not_a_number, 2});
  check_each(run_binary("Max", tensor_of({3, -9}, DataType::int64), tensor_of({1, 2}, DataType::int64)), {2}, {3, 2});
}

TEST_CASE("comparisons give bool, and NaN compares to nothing") {
  for (const DataType dtype : floating_types) {
    const Tensor a = tensor_of({1, 2, 3, not_a_number}, dtype), b = tensor_of({2, 2, 2, not_a_number}, dtype);
    CHECK(run_binary("Equal", a, b).dtype() == DataType::boolean);
    check_each(run_binary("Equal", a, b), {4}, {0, 1, 0, 0});
    check_each(run_binary("Greater", a, b), {4}, {0, 0, 1, 0});
    check_each(run_binary("Less", a, b), {4}, {1, 0, 0, 0});
    check_each(run_binary("GreaterOrEqual", a, b), {4}, {0, 1, 1, 0});
    check_each(run_binary("LessOrEqual", a, b), {4}, {1, 1, 0, 0});
  }
  check_each(run_binary("Less", tensor_of({1, 200}, DataType::uint8), tensor_of({2}, Dims{}, DataType::uint8)), {2},
             {1, 0});
  check_each(run_binary("Equal", tensor_of({1, 0}, DataType::boolean), tensor_of({1, 1}, DataType::boolean)), {2},
             {1, 0});
}

TEST_CASE("logic and bits") {
  const Tensor a = tensor_of({0, 0, 1, 1}, DataType::boolean), b = tensor_of({0, 1, 0, 1}, DataType::boolean);
  check_each(run_binary("And", a, b), {4}, {0, 0, 0, 1});
  check_each(run_binary("Or", a, b), {4}, {0, 1, 1, 1});
  check_each(run_binary("Xor", a, b), {4}, {0, 1, 1, 0});
  const Tensor p = tensor_of({12, -1, 5}, DataType::int32), q = tensor_of({10, 6, -8}, DataType::int32);
  check_each(run_binary("BitwiseAnd", p, q), {3}, {8, 6, 0});
  check_each(run_binary("BitwiseOr", p, q), {3}, {14, -1, -3});
  check_each(run_binary("BitwiseXor", p, q), {3}, {6, -7, -3});
}

TEST_CASE("BitShift in both directions, also out of the number") {
  const Tensor x = tensor_of({1, 3, 129}, DataType::uint8), distance = tensor_of({1, 7, 8}, DataType::uint8);
  check_each(run_binary("BitShift<direction = \"LEFT\">", x, distance), {3}, {2, 128, 0});
  check_each(run_binary("BitShift<direction = \"RIGHT\">", x, distance), {3}, {0, 0, 0});
  const Tensor s = tensor_of({-8, -8, 8, -8}, DataType::int32), d = tensor_of({1, 40, -1, -1}, DataType::int32);
  check_each(run_binary("BitShift<direction = \"RIGHT\">", s, d), {4}, {-4, -1, 0, -1});
  check_each(run_binary("BitShift<direction = \"LEFT\">", s, d), {4}, {-16, 0, 0, 0});
}

TEST_CASE("Where broadcasts all three inputs") {
  const Tensor condition = tensor_of({1, 0}, {2, 1}, DataType::boolean);
  for (const DataType dtype :
       {DataType::float64, DataType::float32, DataType::float16, DataType::int64, DataType::uint8, DataType::boolean}) {
    const Tensor x = tensor_of({1, 0, 1}, dtype), y = tensor_of({0}, Dims{}, dtype);
    const Tensor chosen = run_node("y = Where(c, a, b)", {{"c", condition}, {"a", x}, {"b", y}});
    CHECK(chosen.dtype() == dtype);
    check_each(chosen, {2, 3}, {1, 0, 1, 0, 0, 0});
  }
}

TEST_CASE("Cast truncates, wraps, and keeps halves") {
  check_each(cast(tensor_of({-2.75, -0.5, 2.75, 3e9, -3e9, not_a_number}), DataType::int32), {6},
             {-2, 0, 2, 2147483647.0, -2147483648.0, 0});
  check_each(cast(tensor_of({-1, 300, 7.5}, DataType::float32), DataType::uint8), {3}, {0, 255, 7});
  check_each(cast(tensor_of({200, -1, 70000}, DataType::int32), DataType::int8), {3}, {-56, -1, 112});
  check_each(cast(tensor_of({0, -0.5, not_a_number, 2}), DataType::boolean), {4}, {0, 1, 1, 1});
  check_each(cast(tensor_of({0, 1}, DataType::boolean), DataType::float32), {2}, {0, 1});
  check_each(cast(tensor_of({0, 1}, DataType::boolean), DataType::int64), {2}, {0, 1});
  check_each(cast(tensor_of({1e10, 65504, 0x1p-25, 1 + 0x1p-11}, DataType::float32), DataType::float16), {4},
             {infinity, 65504, 0, 1});
  check_each(cast(tensor_of({2.5, -3}, DataType::bfloat16), DataType::float16), {2}, {2.5, -3});
  check_each(cast(tensor_of({2.5, -3}, DataType::float16), DataType::int16), {2}, {2, -3});
  check_each(cast(tensor_of({9007199254740993.0}, DataType::int64), DataType::float64), {1}, {9007199254740992.0});
  check_each(cast(tensor_of({1e300}), DataType::float32), {1}, {infinity});
}

TEST_CASE("CastLike takes the type of its second input") {
  const Tensor y = run_binary("CastLike", tensor_of({1.5, -2.5}), tensor_of({0}, DataType::int16));
  CHECK(y.dtype() == DataType::int16);
  check_each(y, {2}, {1, -2});
}
