#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy and SciPy in float64 on the same inputs.

namespace {

struct ReductionCase {
  std::string operation;
  std::vector<double> along_0, along_1, along_0_and_2, along_all;  // of grid({2, 3, 4}, 1), dims not kept
};

const std::vector<ReductionCase> reduction_cases = {
    {"ReduceSum",
     {2.28125, -1.46875, 1.09375, -2.65625, -0.09375, 2.46875, -1.28125, 1.28125, -2.46875, 0.09375, 2.65625, -1.09375},
     {0.46875, 1.15625, 1.84375, -0.625, -0.75, -0.0625, 0.625, -1.84375},
     {-0.75, 2.375, -0.8125},
     {0.8125}},
    {"ReduceMean",
     {1.140625, -0.734375, 0.546875, -1.328125, -0.046875, 1.234375, -0.640625, 0.640625, -1.234375, 0.046875, 1.328125,
      -0.546875},
     {0.15625, 0.38541666666667, 0.61458333333333, -0.20833333333333, -0.25, -0.020833333333333, 0.20833333333333,
      -0.61458333333333},
     {-0.09375, 0.296875, -0.1015625},
     {0.033854166666667}},
    {"ReduceMax",
     {1.34375, -0.53125, 0.75, -1.125, 0.15625, 1.4375, -0.4375, 0.84375, -1.03125, 0.25, 1.53125, -0.34375},
     {1.34375, 1.4375, 1.53125, 0.84375, 0.9375, 1.03125, 1.125, 0.4375},
     {1.34375, 1.4375, 1.53125},
     {1.53125}},
    {"ReduceMin",
     {0.9375, -0.9375, 0.34375, -1.53125, -0.25, 1.03125, -0.84375, 0.4375, -1.4375, -0.15625, 1.125, -0.75},
     {-1.03125, -0.53125, -0.4375, -1.125, -1.4375, -0.9375, -0.84375, -1.53125},
     {-1.53125, -0.84375, -1.4375},
     {-1.53125}},
    {"ReduceProd",
     {1.259765625, 0.498046875, 0.2578125, 1.72265625, -0.0390625, 1.482421875, 0.369140625, 0.369140625, 1.482421875,
      -0.0390625, 1.72265625, 0.2578125},
     {-0.21652221679688, -0.19091796875, -0.50244140625, 0.3262939453125, 0.3369140625, 0.15106201171875,
      -0.3262939453125, 0.50244140625},
     {0.27865225856658, -0.0078907000715844, -0.025717837270349},
     {5.654738779456e-05}},
    {"ReduceL1",
     {2.28125, 1.46875, 1.09375, 2.65625, 0.40625, 2.46875, 1.28125, 1.28125, 2.46875, 0.40625, 2.65625, 1.09375},
     {2.53125, 2.21875, 2.71875, 2.3125, 2.625, 2.125, 2.3125, 2.71875},
     {7.5, 5.4375, 6.625},
     {19.5625}},
    {"ReduceL2",
     {1.6384658411148, 1.0775587280979, 0.82502367390276, 1.900092514195, 0.29481191037677, 1.7691474818398,
      0.9504316453591, 0.9504316453591, 1.7691474818398, 0.29481191037677, 1.900092514195, 0.82502367390276},
     {1.7010451750321, 1.5527822811006, 1.7602933881885, 1.4476543527376, 1.734304615689, 1.4024253545198,
      1.4476543527376, 1.7602933881885},
     {2.852493426811, 2.2413026346301, 2.7400387770979},
     {4.5462037734796}},
    {"ReduceSumSquare",
     {2.6845703125, 1.1611328125, 0.6806640625, 3.6103515625, 0.0869140625, 3.1298828125, 0.9033203125, 0.9033203125,
      3.1298828125, 0.0869140625, 3.6103515625, 0.6806640625},
     {2.8935546875, 2.4111328125, 3.0986328125, 2.095703125, 3.0078125, 1.966796875, 2.095703125, 3.0986328125},
     {8.13671875, 5.0234375, 7.5078125},
     {20.66796875}},
    {"ReduceLogSumExp",
     {1.854261740932, -0.02073825906798, 1.260511740932, -0.61448825906798, 0.66676174093202, 1.948011740932,
      0.07301174093202, 1.354261740932, -0.52073825906798, 0.76051174093202, 2.041761740932, 0.16676174093202},
     {1.6787906823803, 1.8053421959189, 1.9996677774804, 1.2115921959189, 1.2725406823803, 1.3990921959189,
      1.5934177774804, 0.8053421959189},
     {2.4366438682583, 2.6327725479404, 2.4526498895831},
     {3.6099981518637}},
};

Tensor reduce(const std::string& operation, const Tensor& x, const std::vector<std::int64_t>& axes,
              bool keep_dims = false) {
  return run_node("y = " + operation + "<keepdims = " + (keep_dims ? "1" : "0") + ">(x, axes)",
                  {{"x", x}, {"axes", Tensor::of_int64s(axes)}});
}

Tensor run_unary(const std::string& operation, const Tensor& x) {
  return run_node("y = " + operation + "(x)", {{"x", x}});
}

}  // namespace

TEST_CASE("reductions over the first, the middle, two and all axes") {
  for (const ReductionCase& entry : reduction_cases) {
    for (const DataType dtype : floating_types) {
      INFO(entry.operation);
      const Tensor x = grid({2, 3, 4}, 1, dtype);
      check_each(reduce(entry.operation, x, {0}), {3, 4}, entry.along_0);
      check_each(reduce(entry.operation, x, {1}), {2, 4}, entry.along_1);
      check_each(reduce(entry.operation, x, {0, -1}), {3}, entry.along_0_and_2);
      check_each(reduce(entry.operation, x, {-1, 0}, true), {1, 3, 1}, entry.along_0_and_2);
      check_each(reduce(entry.operation, x, {}), {}, entry.along_all);
      check_each(reduce(entry.operation, x, {0, 1, 2}, true), {1, 1, 1}, entry.along_all);
      check_each(run_unary(entry.operation + "<keepdims = 0>", x), {}, entry.along_all);
    }
  }
}

TEST_CASE("ReduceLogSum") {
  for (const DataType dtype : floating_types) {
    const Tensor x = run_unary("Abs", grid({2, 3, 4}, 1, dtype));
    check_each(reduce("ReduceLogSum", x, {0, 2}), {3}, {2.0149030205423, 1.6933193964148, 1.8908503718723});
  }
}

TEST_CASE("without axes, noop_with_empty_axes reduces every element on its own") {
  const Tensor x = tensor_of({-4, 1, 9});
  check_each(run_unary("ReduceSum<noop_with_empty_axes = 1>", x), {3}, {-4, 1, 9});
  check_each(run_unary("ReduceSumSquare<noop_with_empty_axes = 1>", x), {3}, {16, 1, 81});
  check_each(run_unary("ReduceL1<noop_with_empty_axes = 1>", x), {3}, {4, 1, 9});
  check_each(run_unary("ReduceMean<noop_with_empty_axes = 1>", x), {3}, {-4, 1, 9});
}

TEST_CASE("reductions of scalars and of nothing") {
  check_each(run_unary("ReduceSum", tensor_of({2.5}, Dims{})), {}, {2.5});
  check_each(run_unary("ReduceMax", tensor_of({2.5}, Dims{})), {}, {2.5});
  const Tensor empty = tensor_of({}, {2, 0, 3});
  const auto along_1 = [&](const std::string& operation) { return reduce(operation, empty, {1}); };
  check_each(along_1("ReduceSum"), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_each(along_1("ReduceProd"), {2, 3}, {1, 1, 1, 1, 1, 1});
  check_each(along_1("ReduceMax"), {2, 3}, std::vector<double>(6, -infinity));
  check_each(along_1("ReduceMin"), {2, 3}, std::vector<double>(6, infinity));
  check_each(along_1("ReduceLogSumExp"), {2, 3}, std::vector<double>(6, -infinity));
  check_each(along_1("ReduceMean"), {2, 3}, std::vector<double>(6, not_a_number));
  check_each(reduce("ReduceSum", empty, {0}), {0, 3}, {});
  check_each(run_unary("ReduceSum<keepdims = 0>", empty), {}, {0});
  check_each(run_unary("ReduceMax<keepdims = 0>", empty.cast(DataType::int32)), {}, {-2147483648.0});
  CHECK_THROWS_WITH_AS(run_unary("ReduceMean", empty.cast(DataType::int32)), doctest::Contains("undefined"), Error);
}

TEST_CASE("reductions of integers and of bool") {
  const Tensor x = tensor_of({1, -2, 3, 4, -5, 6}, {2, 3}, DataType::int64);
  check_each(reduce("ReduceSum", x, {1}), {2}, {2, 5});
  check_each(reduce("ReduceMean", x, {0}), {3}, {2, -3, 4});
  check_each(reduce("ReduceMean", tensor_of({-3, -4}, DataType::int32), {0}), {}, {-3});
  check_each(reduce("ReduceMax", x, {1}), {2}, {3, 6});
  check_each(reduce("ReduceProd", x, {1}), {2}, {-6, -120});
  check_each(reduce("ReduceL1", x, {1}), {2}, {6, 15});
  check_each(reduce("ReduceL2", tensor_of({3, -4}, DataType::int32), {0}), {}, {5});
  check_each(reduce("ReduceSumSquare", x, {1}), {2}, {14, 77});
  check_each(reduce("ReduceSum", tensor_of({2147483647, 1}, DataType::int32), {0}), {}, {-2147483648.0});
  check_each(reduce("ReduceMax", tensor_of({0, 0, 0, 1}, {2, 2}, DataType::boolean), {1}), {2}, {0, 1});
  check_each(reduce("ReduceMin", tensor_of({0, 1, 1, 1}, {2, 2}, DataType::boolean), {1}), {2}, {0, 1});
}

TEST_CASE("NaN and infinity in reductions") {
  check_each(reduce("ReduceMax", tensor_of({1, not_a_number, 3}), {0}), {}, {not_a_number});
  check_each(reduce("ReduceMin", tensor_of({not_a_number, 1}), {0}), {}, {not_a_number});
  check_each(reduce("ReduceLogSumExp", tensor_of({-infinity, -infinity}), {0}), {}, {-infinity});
  check_each(reduce("ReduceLogSumExp", tensor_of({infinity, 1, infinity}), {0}), {}, {infinity});
  check_each(reduce("ReduceLogSumExp", tensor_of({-infinity, 2}), {0}), {}, {2});
  check_each(reduce("ReduceLogSumExp", tensor_of({not_a_number, 2}), {0}), {}, {not_a_number});
  check_each(reduce("ReduceLogSumExp", tensor_of({1000, 1000}), {0}), {}, {1000.6931471806});
}

TEST_CASE("long float32 sums keep their digits") {
  Tensor x(DataType::float32, {1000003});
  std::fill_n(x.data<float>(), x.size(), 0.1f);
  check_each(run_unary("ReduceSum", x), {1}, {static_cast<double>(0.1f) * 1000003});
  check_each(run_unary("ReduceMean", x), {1}, {static_cast<double>(0.1f)});
}

TEST_CASE("reductions of large arrays over interleaved axes") {
  const Dims dims = {7, 130, 5, 67};
  const Tensor x = grid(dims, 4, DataType::float32);
  const std::vector<double> elements = x.to_doubles();
  for (const std::vector<std::int64_t>& axes :
       std::vector<std::vector<std::int64_t>>{{0}, {1}, {3}, {0, 2}, {1, 3}, {0, 3}, {0, 1, 3}, {0, 1, 2, 3}}) {
    Dims kept = dims;
    for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    std::vector<double> sums(static_cast<std::size_t>(element_count(kept)), 0.0);
    const Dims strides = row_major_strides(kept);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t position = 0;
      for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (kept[axis] != 1) position += rest % dims[axis] * strides[axis];
        rest /= dims[axis];
      }
      sums[static_cast<std::size_t>(position)] += elements[i];
    }
    INFO(to_string(axes));
    check_each(reduce("ReduceSum", x, axes, true), kept, sums);
  }
}

TEST_CASE("ArgMax and ArgMin along each axis") {
  const Tensor x = grid({2, 5}, 3);
  check_each(run_unary("ArgMax<axis = 1, keepdims = 0>", x), {2}, {3, 0});
  check_each(run_unary("ArgMin<axis = -1>", x), {2, 1}, {1, 3});
  check_each(run_unary("ArgMax<keepdims = 0>", x), {5}, {1, 1, 1, 0, 1});
  CHECK(run_unary("ArgMax", x).dtype() == DataType::int64);
}

TEST_CASE("ArgMax and ArgMin of equal elements, NaN and integers") {
  const Tensor ties = tensor_of({1, 3, 3, 1}, DataType::int32);
  check_each(run_unary("ArgMax", ties), {1}, {1});
  check_each(run_unary("ArgMax<select_last_index = 1>", ties), {1}, {2});
  check_each(run_unary("ArgMin", ties), {1}, {0});
  check_each(run_unary("ArgMin<select_last_index = 1>", ties), {1}, {3});
  check_each(run_unary("ArgMax", tensor_of({1, not_a_number, 3})), {1}, {1});
  check_each(run_unary("ArgMin", tensor_of({1, not_a_number, -3})), {1}, {1});
  CHECK_THROWS_AS(run_unary("ArgMax", tensor_of({}, {0, 2})), Error);
}

TEST_CASE("CumSum and CumProd in both directions, with and without the element itself") {
  for (const DataType dtype : floating_types) {
    const Arrays inputs = {{"x", grid({2, 3}, 4, dtype)}, {"axis", Tensor::scalar<std::int64_t>(1)}};
    check_each(run_node("y = CumSum(x, axis)", inputs), {2, 3}, {0.59375, -0.6875, -0.6875, 1.28125, 0.6875, 1.375});
    check_each(run_node("y = CumSum<exclusive = 1>(x, axis)", inputs), {2, 3},
               {0, 0.59375, -0.6875, 0, 1.28125, 0.6875});
    check_each(run_node("y = CumSum<reverse = 1>(x, axis)", inputs), {2, 3},
               {-0.6875, -1.28125, 0, 1.375, 0.09375, 0.6875});
    check_each(run_node("y = CumSum<reverse = 1, exclusive = 1>(x, axis)", inputs), {2, 3},
               {-1.28125, 0, 0, 0.09375, 0.6875, 0});
    check_each(run_node("y = CumProd(x, axis)", inputs), {2, 3},
               {0.59375, -0.7607421875, 0, 1.28125, -0.7607421875, -0.52301025390625});
  }
  const Tensor integers = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}, DataType::int64);
  const Tensor first = Tensor::scalar<std::int64_t>(-2);
  check_each(run_node("y = CumSum(x, axis)", {{"x", integers}, {"axis", first}}), {2, 3}, {1, 2, 3, 5, 7, 9});
  check_each(run_node("y = CumProd<exclusive = 1>(x, axis)", {{"x", integers}, {"axis", first}}), {2, 3},
             {1, 1, 1, 1, 2, 3});
}

TEST_CASE("TopK puts the lower index first among equal elements") {
  const Tensor x = tensor_of({3, 1, 3, 2, 5, 5, 5, 0}, {2, 4});
  const Arrays inputs = {{"x", x}, {"k", Tensor::of_int64s({3})}};
  const Arrays largest = run_nodes("values, indices = TopK(x, k)", inputs, {"values", "indices"});
  check_each(largest.at("values"), {2, 3}, {3, 3, 2, 5, 5, 5});
  check_each(largest.at("indices"), {2, 3}, {0, 2, 3, 0, 1, 2});
  const Arrays smallest = run_nodes("values, indices = TopK<largest = 0>(x, k)", inputs, {"values", "indices"});
  check_each(smallest.at("values"), {2, 3}, {1, 2, 3, 0, 5, 5});
  check_each(smallest.at("indices"), {2, 3}, {1, 3, 0, 3, 0, 1});
  const Arrays along_0 =
      run_nodes("values, indices = TopK<axis = 0>(x, k)",
                {{"x", x.cast(DataType::int32)}, {"k", Tensor::of_int64s({1})}}, {"values", "indices"});
  check_each(along_0.at("values"), {1, 4}, {5, 5, 5, 2});
  check_each(along_0.at("indices"), {1, 4}, {1, 1, 1, 0});
}

TEST_CASE("Softmax and LogSoftmax along the middle and the last axis") {
  for (const DataType dtype : floating_types) {
    const Tensor x = grid({2, 3, 4}, 2, dtype);
    check_each(run_unary("Softmax<axis = 1>", x), {2, 3, 4},
               {0.71530898528843, 0.096656463917713, 0.28659999601845, 0.096656463917713, 0.21815691481716,
                0.69222640922265, 0.087408060298287, 0.69222640922265, 0.066534099894402, 0.21111712685964,
                0.62599194368326, 0.21111712685964,  0.28659999601845, 0.096656463917713, 0.28659999601845,
                0.71530898528843, 0.087408060298287, 0.69222640922265, 0.087408060298287, 0.21815691481716,
                0.62599194368326, 0.21111712685964,  0.62599194368326, 0.066534099894402});
    check_each(run_unary("LogSoftmax<axis = 1>", x), {2, 3, 4},
               {-0.33504068238031, -2.3365921959189, -1.2496677774804,  -2.3365921959189, -1.5225406823803,
                -0.3678421959189,  -2.4371677774804, -0.3678421959189,  -2.7100406823803, -1.5553421959189,
                -0.46841777748041, -1.5553421959189, -1.2496677774804,  -2.3365921959189, -1.2496677774804,
                -0.33504068238031, -2.4371677774804, -0.3678421959189,  -2.4371677774804, -1.5225406823803,
                -0.46841777748041, -1.5553421959189, -0.46841777748041, -2.7100406823803});
    check_each(run_unary("Softmax", x), {2, 3, 4},
               {0.55856620468604, 0.085658901800326, 0.30846955511613, 0.047305338397503, 0.14001428764003,
                0.50421081884634, 0.077323233407035, 0.2784516601066,  0.051129781227427, 0.1841254153033,
                0.66306109173074, 0.10168371173853,  0.27068398611884, 0.041510733716708, 0.14948589455402,
                0.53831938561043, 0.14001428764003,  0.50421081884634, 0.077323233407035, 0.2784516601066,
                0.55856620468604, 0.085658901800326, 0.30846955511613, 0.047305338397503});
    check_each(run_unary("LogSoftmax<axis = -1>", x), {2, 3, 4},
               {-0.58238212732625, -2.4573821273262, -1.1761321273262,  -3.0511321273262, -1.9660108070084,
                -0.68476080700842, -2.5597608070084, -1.2785108070084,  -2.973388148651,  -1.692138148651,
                -0.41088814865105, -2.285888148651,  -1.3068032414119,  -3.1818032414119, -1.9005532414119,
                -0.61930324141193, -1.9660108070084, -0.68476080700842, -2.5597608070084, -1.2785108070084,
                -0.58238212732625, -2.4573821273262, -1.1761321273262,  -3.0511321273262});
  }
}

TEST_CASE("Softmax of large scores and over many lanes") {
  check_each(run_unary("Softmax", tensor_of({1000, 1000, -1000}, DataType::float32)), {3}, {0.5, 0.5, 0});
  check_each(run_unary("LogSoftmax", tensor_of({0, -1000})), {2}, {0, -1000});
  const Tensor x = grid({3, 5, 200}, 8);
  const Tensor y = run_unary("Softmax<axis = 1>", x);
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t i = 0; i < 200; ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < 5; ++c) sum += std::exp(x.data<double>()[(n * 5 + c) * 200 + i]);
      for (std::int64_t c = 0; c < 5; ++c) {
        const std::int64_t position = (n * 5 + c) * 200 + i;
        CHECK(std::fabs(y.data<double>()[position] - std::exp(x.data<double>()[position]) / sum) < 1e-14);
      }
    }
  }
}

TEST_CASE("Hardmax marks the first largest element") {
  const Tensor x = tensor_of({1, 3, 3, 2, 0, 1}, {2, 3});
  check_each(run_unary("Hardmax", x), {2, 3}, {0, 1, 0, 1, 0, 0});
  check_each(run_unary("Hardmax<axis = 0>", x), {2, 3}, {0, 1, 1, 1, 0, 0});
}
