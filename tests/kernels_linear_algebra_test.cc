#include <doctest/doctest.h>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy on the same inputs.

TEST_CASE("MatMul of two matrices") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({2, 3}, 1)}, {"b", sample({3, 4}, 2)}}), {2, 4},
              {0.9152, -2.7536, 3.2736, -4.2736, -5.0576, 1.744, 1.92, 1.288});
}

TEST_CASE("MatMul of a vector from the left") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({3}, 1)}, {"b", sample({3, 2}, 2)}}), {2}, {1.8576, 0.936});
}

TEST_CASE("MatMul of a vector from the right") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({2, 3}, 1)}, {"b", sample({3}, 2)}}), {2}, {3.7024, -1.0384});
}

TEST_CASE("MatMul of two vectors") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({5}, 1)}, {"b", sample({5}, 2)}}), {}, {6.2128});
}

TEST_CASE("MatMul of a batch that broadcasts") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({2, 1, 2, 3}, 1)}, {"b", sample({3, 3, 2}, 2)}}), {2, 3, 2, 2},
              {1.8576, 0.936,   -2.1088, 3.8848,  1.176,   0.5776, 3.9568,  -2.4928, 0.8176, -2.8512, -2.4208, 4.3808,
               0.0656, -3.3472, 1.7552,  -4.4384, -3.4432, 0.5776, -4.2176, 0.5776,  0.4816, 1.432,   0.7984,  2.5232});
}

TEST_CASE("MatMul of a vector and a batch") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({3}, 1)}, {"b", sample({2, 3, 2}, 2)}}), {2, 2},
              {1.8576, 0.936, 1.176, 0.5776});
}

TEST_CASE("Gemm with both operands transposed and a bias column") {
  check_array(run_node("y = Gemm<transA = 1, transB = 1, alpha = 0.5, beta = 2.0>(a, b, c)",
                       {{"a", sample({3, 2}, 1)}, {"b", sample({4, 3}, 2)}, {"c", sample({2, 1}, 3)}}),
              {2, 4}, {2.948, 0.7408, 1.604, 2.8712, -1.8072, -0.5568, -4.3968, -4.52});
}

TEST_CASE("Gemm with a bias row") {
  check_array(
      run_node("y = Gemm(a, b, c)", {{"a", sample({2, 3}, 1)}, {"b", sample({3, 4}, 2)}, {"c", sample({4}, 3)}}),
      {2, 4}, {1.9952, -4.0736, 3.5936, -2.3136, -3.9776, 0.424, 2.24, 3.248});
}

TEST_CASE("Gemm without a bias") {
  check_array(run_node("y = Gemm<transB = 1, alpha = 1.5>(a, b)", {{"a", sample({5, 3}, 1)}, {"b", sample({2, 3}, 2)}}),
              {5, 2}, {5.5536, -2.2296, -1.5576, 7.9608, -4.0632, -1.7256, -2.6904, -2.2008, 4.7424, -1.9488});
}

TEST_CASE("Einsum of a matrix product") {
  check_array(
      run_node("y = Einsum<equation = \"ij, jk -> ik\">(a, b)", {{"a", sample({2, 3}, 1)}, {"b", sample({3, 4}, 2)}}),
      {2, 4}, {0.9152, -2.7536, 3.2736, -4.2736, -5.0576, 1.744, 1.92, 1.288});
}

TEST_CASE("Einsum of a diagonal") {
  check_array(run_node("y = Einsum<equation = \"ii -> i\">(a)", {{"a", sample({3, 3}, 1)}}), {3}, {1.72, 0.2, -1.32});
}

TEST_CASE("Einsum of a trace") {
  check_array(run_node("y = Einsum<equation = \"ii\">(a)", {{"a", sample({3, 3}, 1)}}), {}, {0.6});
}

TEST_CASE("Einsum of a transposition without arrow") {
  check_array(run_node("y = Einsum<equation = \"ba\">(a)", {{"a", sample({2, 3}, 1)}}), {3, 2},
              {1.72, -1.44, -0.68, 0.2, 0.96, 1.84});
}

TEST_CASE("Einsum of a sum over everything") {
  check_array(run_node("y = Einsum<equation = \"ij ->\">(a)", {{"a", sample({2, 3}, 1)}}), {}, {2.6});
}

TEST_CASE("Einsum of batches behind an ellipsis") {
  check_array(run_node("y = Einsum<equation = \"...ij, ...jk -> ...ik\">(a, b)",
                       {{"a", sample({2, 1, 2, 3}, 1)}, {"b", sample({1, 3, 3, 2}, 2)}}),
              {2, 3, 2, 2},
              {1.8576, 0.936,   -2.1088, 3.8848,  1.176,   0.5776, 3.9568,  -2.4928, 0.8176, -2.8512, -2.4208, 4.3808,
               0.0656, -3.3472, 1.7552,  -4.4384, -3.4432, 0.5776, -4.2176, 0.5776,  0.4816, 1.432,   0.7984,  2.5232});
}

TEST_CASE("Einsum of an ellipsis in the middle, put first") {
  check_array(run_node("y = Einsum<equation = \"i...j, jk -> ...ik\">(a, b)",
                       {{"a", sample({2, 2, 3}, 1)}, {"b", sample({3, 2}, 2)}}),
              {2, 2, 2}, {1.8576, 0.936, 0.0656, -3.3472, -2.1088, 3.8848, 1.7552, -4.4384});
}

TEST_CASE("Einsum of three operands") {
  check_array(run_node("y = Einsum<equation = \"bi, ij, bj -> b\">(a, b, c)",
                       {{"a", sample({2, 3}, 1)}, {"b", sample({3, 4}, 2)}, {"c", sample({2, 4}, 3)}}),
              {2}, {-2.705536, 2.580864});
}

TEST_CASE("Einsum of four operands with an outer product") {
  check_array(
      run_node("y = Einsum<equation = \"i, j, ij, jk -> ki\">(a, b, c, d)",
               {{"a", sample({2}, 1)}, {"b", sample({3}, 2)}, {"c", sample({2, 3}, 3)}, {"d", sample({3, 2}, 4)}}),
      {2, 2}, {1.708772, -1.021197, -0.2316083, 2.10985});
}

TEST_CASE("Einsum of a repeated index in one of two operands") {
  check_array(
      run_node("y = Einsum<equation = \"iij, j -> i\">(a, b)", {{"a", sample({2, 2, 3}, 1)}, {"b", sample({3}, 2)}}),
      {2}, {3.7024, -1.7936});
}

TEST_CASE("Einsum of attention scores") {
  check_array(run_node("y = Einsum<equation = \"bhid, bhjd -> bhij\">(a, b)",
                       {{"a", sample({1, 2, 3, 2}, 1)}, {"b", sample({1, 2, 2, 2}, 2)}}),
              {1, 2, 3, 2},
              {3.088, 2.2976, 2.784, 3.1488, -1.56, -3.1104, 1.7088, 1.3136, 0.6448, 1.4048, -0.904, -2.0592});
}

TEST_CASE("MatMul of integers is exact") {
  const Tensor a = Tensor::of<std::int32_t>({1, 2}, {100000, 3}), b = Tensor::of<std::int32_t>({2, 1}, {20000, -7});
  const Tensor y = run_node("y = MatMul(a, b)", {{"a", a}, {"b", b}});
  CHECK(y.dtype() == DataType::int32);
  CHECK(y.to_int64s() == std::vector<std::int64_t>{1999999979});
}

TEST_CASE("float32 products are added up in double precision") {
  // 2^24 + 1 is no float32: added up in float32, all the ones would be lost.
  Tensor a(DataType::float32, {1, 65}), b(DataType::float32, {65, 1});
  for (std::int64_t i = 0; i < 65; ++i) a.data<float>()[i] = b.data<float>()[i] = 1;
  a.data<float>()[0] = 16777216;
  CHECK(*run_node("y = MatMul(a, b)", {{"a", a}, {"b", b}}).data<float>() == 16777280.0f);
}

TEST_CASE("an empty sum is 0") {
  check_array(run_node("y = MatMul(a, b)", {{"a", sample({2, 0})}, {"b", sample({0, 1})}}), {2, 1}, {0, 0});
}

TEST_CASE("operands that do not fit are errors") {
  CHECK_THROWS_AS(run_node("y = MatMul(a, b)", {{"a", sample({2, 3})}, {"b", sample({2, 3})}}), Error);
  CHECK_THROWS_AS(
      run_node("y = Einsum<equation = \"ij, jk -> il\">(a, b)", {{"a", sample({2, 3})}, {"b", sample({3, 2})}}), Error);
  CHECK_THROWS_AS(
      run_node("y = Einsum<equation = \"ij, jk -> ik\">(a, b)", {{"a", sample({2, 3})}, {"b", sample({2, 2})}}), Error);
}
