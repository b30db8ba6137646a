#include <doctest/doctest.h>

#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy and SciPy in float64 on the same inputs, by the formulas of the ONNX operator texts.

namespace {

const std::vector<double> wide = {-6.5, -2.25, -1, -0.25, 0, 0.5, 1.75, 7};
const std::vector<double> unit = {-1, -0.75, -0.125, 0, 0.25, 0.5, 0.875, 1};
const std::vector<double> half_unit = {-0.5, -0.375, -0.0625, 0, 0.125, 0.25, 0.4375, 0.5};
const std::vector<double> positive = {0.0625, 0.25, 0.5, 1, 1.5, 3, 20, 1000};
const std::vector<double> above_one = {1.0625, 1.25, 1.5, 2, 2.5, 4, 21, 1001};
const std::vector<double> halves = {-2.5, -1.5, -0.5, -0.25, 0.5, 1.5, 2.5, 3.75};

struct FunctionCase {
  std::string operation;
  std::vector<double> x, y;
};

const std::vector<FunctionCase> function_cases = {
    {"Exp",
     wide,
     {0.0015034391929776, 0.10539922456186, 0.36787944117144, 0.7788007830714, 1, 1.6487212707001, 5.7546026760057,
      1096.6331584285}},
    {"Log",
     positive,
     {-2.7725887222398, -1.3862943611199, -0.69314718055995, 0, 0.40546510810816, 1.0986122886681, 2.995732273554,
      6.9077552789821}},
    {"Sqrt",
     positive,
     {0.25, 0.5, 0.70710678118655, 1, 1.2247448713916, 1.7320508075689, 4.4721359549996, 31.622776601684}},
    {"Reciprocal", positive, {16, 4, 2, 1, 0.66666666666667, 0.33333333333333, 0.05, 0.001}},
    {"Floor", halves, {-3, -2, -1, -1, 0, 1, 2, 3}},
    {"Ceil", halves, {-2, -1, 0, 0, 1, 2, 3, 4}},
    {"Round", halves, {-2, -2, 0, 0, 0, 2, 2, 4}},
    {"Sin",
     wide,
     {-0.21511998808782, -0.77807319688792, -0.8414709848079, -0.24740395925452, 0, 0.4794255386042, 0.98398594687394,
      0.65698659871879}},
    {"Cos",
     wide,
     {0.97658762572802, -0.62817362272274, 0.54030230586814, 0.96891242171064, 1, 0.87758256189037, -0.17824605564949,
      0.7539022543433}},
    {"Tan",
     wide,
     {-0.2202772003459, 1.2386276162241, -1.5574077246549, -0.25534192122104, 0, 0.54630248984379, -5.5203799225093,
      0.87144798272432}},
    {"Asin",
     unit,
     {-1.5707963267949, -0.84806207898148, -0.12532783116807, 0, 0.25268025514208, 0.5235987755983, 1.0654358165107,
      1.5707963267949}},
    {"Acos",
     unit,
     {3.1415926535898, 2.4188584057764, 1.696124157963, 1.5707963267949, 1.3181160716528, 1.0471975511966,
      0.50536051028416, 0}},
    {"Atan",
     wide,
     {-1.4181469983996, -1.1525719972157, -0.78539816339745, -0.24497866312686, 0, 0.46364760900081, 1.0516502125484,
      1.4288992721907}},
    {"Sinh",
     wide,
     {-332.57006480258, -4.6911683058983, -1.1752011936438, -0.25261231680817, 0, 0.52109530549375, 2.7904143662776,
      548.31612327325}},
    {"Cosh",
     wide,
     {332.57156824178, 4.7965675304602, 1.5430806348152, 1.0314130998796, 1, 1.1276259652064, 2.9641883097281,
      548.31703515521}},
    {"Tanh",
     wide,
     {-0.9999954793514, -0.97802611473881, -0.76159415595576, -0.24491866240371, 0, 0.46211715726001, 0.94137553849729,
      0.99999833694394}},
    {"Asinh",
     wide,
     {-2.5708146780957, -1.5501579568691, -0.88137358701954, -0.24746646154726, 0, 0.4812118250596, 1.3258977669011,
      2.6441207610586}},
    {"Acosh",
     above_one,
     {0.35173739004326, 0.69314718055995, 0.96242365011921, 1.3169578969248, 1.5667992369724, 2.0634370688956,
      3.7371022421989, 7.6019017103743}},
    {"Atanh",
     half_unit,
     {-0.54930614433405, -0.39422868018214, -0.062581571477003, 0, 0.12565721414045, 0.255412811883, 0.46913481929647,
      0.54930614433405}},
    {"Erf",
     wide,
     {-1, -0.99853728341332, -0.84270079294971, -0.27632639016824, 0, 0.52049987781305, 0.98667167121918, 1}},
    {"Abs", wide, {6.5, 2.25, 1, 0.25, 0, 0.5, 1.75, 7}},
    {"Neg", wide, {6.5, 2.25, 1, 0.25, 0, -0.5, -1.75, -7}},
    {"Sign", wide, {-1, -1, -1, -1, 0, 1, 1, 1}},
    {"Relu", wide, {0, 0, 0, 0, 0, 0.5, 1.75, 7}},
    {"LeakyRelu<alpha = 0.25>", wide, {-1.625, -0.5625, -0.25, -0.0625, 0, 0.5, 1.75, 7}},
    {"ThresholdedRelu", wide, {0, 0, 0, 0, 0, 0, 1.75, 7}},
    {"ThresholdedRelu<alpha = 1.75>", wide, {0, 0, 0, 0, 0, 0, 0, 7}},
    {"Elu", wide, {-0.99849656080702, -0.89460077543814, -0.63212055882856, -0.2211992169286, 0, 0.5, 1.75, 7}},
    {"Elu<alpha = 0.5>",
     wide,
     {-0.49924828040351, -0.44730038771907, -0.31606027941428, -0.1105996084643, 0, 0.5, 1.75, 7}},
    {"Selu",
     wide,
     {-1.7554561508806, -1.5727970385358, -1.1113307412865, -0.38889019869375, 0, 0.52535051107407, 1.8387267887592,
      7.3549071550369}},
    {"Selu<alpha = 2.0, gamma = 0.5>",
     wide,
     {-0.99849656080702, -0.89460077543814, -0.63212055882856, -0.2211992169286, 0, 0.25, 0.875, 3.5}},
    {"Celu<alpha = 2.0>",
     wide,
     {-1.9224515843366, -1.3506950652833, -0.78693868057473, -0.23500619483081, 0, 0.5, 1.75, 7}},
    {"Celu<alpha = -2.0>",
     wide,
     {-49.580679834386, -4.1604336978361, -1.2974425414003, -0.26629690613365, 0, 0.5, 1.75, 7}},
    {"Sigmoid",
     wide,
     {0.001501182256737, 0.095349464899109, 0.26894142137, 0.4378234991142, 0.5, 0.62245933120185, 0.85195280196831,
      0.9990889488056}},
    {"HardSigmoid<alpha = 0.25, beta = 0.75>", wide, {0, 0.1875, 0.5, 0.6875, 0.75, 0.875, 1, 1}},
    {"HardSwish", wide, {0, -0.28125, -0.33333333333333, -0.11458333333333, 0, 0.29166666666667, 1.3854166666667, 7}},
    {"Swish",
     wide,
     {-0.0097576846687904, -0.214536296023, -0.26894142137, -0.10945587477855, 0, 0.31122966560093, 1.4909174034445,
      6.9936226416392}},
    {"Swish<alpha = 0.5>",
     wide,
     {-0.24262476773684, -0.55144127954784, -0.37754066879815, -0.11719765665656, 0, 0.2810882504429, 1.2351237987148,
      6.7948143847405}},
    {"Softplus",
     wide,
     {0.0015023101597543, 0.10020655891675, 0.31326168751822, 0.57593941987884, 0.69314718055995, 0.97407698418011,
      1.9102241504381, 7.0009114664538}},
    {"Softsign",
     wide,
     {-0.86666666666667, -0.69230769230769, -0.5, -0.2, 0, 0.33333333333333, 0.63636363636364, 0.875}},
    {"Mish",
     wide,
     {-0.0097650086920713, -0.22471311922297, -0.30340146137411, -0.12992696367914, 0, 0.3752452113049, 1.6749324241318,
      6.9999883798097}},
    {"Gelu",
     wide,
     {-2.6104003795084e-10, -0.027505063473851, -0.15865525393146, -0.10032341857927, 0, 0.34573123063701,
      1.6798964754883, 6.999999999991}},
    {"Gelu<approximate = \"tanh\">",
     wide,
     {-6.2782587725914e-13, -0.027201329897289, -0.15880800939172, -0.10032464929832, 0, 0.34571400982514,
      1.6797953823413, 7}},
    {"Shrink", wide, {-6.5, -2.25, -1, 0, 0, 0, 1.75, 7}},
    {"Shrink<lambd = 1.0, bias = 0.25>", wide, {-6.25, -2, 0, 0, 0, 0, 1.5, 6.75}},
};

Tensor run_unary(const std::string& operation, const Tensor& x) {
  return run_node("y = " + operation + "(x)", {{"x", x}});
}

}  // namespace

TEST_CASE("functions of one number, in every floating-point type") {
  for (const FunctionCase& entry : function_cases) {
    for (const DataType dtype : floating_types) {
      INFO(entry.operation);
      if (entry.operation.starts_with("Shrink") && dtype == DataType::bfloat16) continue;  // ONNX leaves it out
      // The smallest float16 is 6e-8. In float32, Gelu's tail magnifies the rounding of its argument.
      const double absolute = dtype == DataType::float16 ? 6e-8 : dtype == DataType::float32 ? 1e-14 : 0;
      check_each(run_unary(entry.operation, tensor_of(entry.x, dtype)), {8}, entry.y, absolute);
    }
  }
}

TEST_CASE("activations neither overflow nor lose the digits of small results") {
  const Tensor x = tensor_of({-1000, -30, 30, 1000});
  check_each(run_unary("Sigmoid", x), {4}, {0, 9.3576229688393e-14, 0.99999999999991, 1});
  check_each(run_unary("Softplus", x), {4}, {0, 9.3576229688397e-14, 30, 1000});
  check_each(run_unary("Mish", x), {4}, {0, -2.8072868906518e-12, 30, 1000});
  check_each(run_unary("Swish", x), {4}, {0, -2.8072868906519e-12, 29.999999999997, 1000});
  check_each(run_unary("Elu", x), {4}, {-1, -0.99999999999991, 30, 1000});
  check_each(run_unary("Celu", x), {4}, {-1, -0.99999999999991, 30, 1000});
  check_each(run_unary("Gelu", x), {4}, {0, -1.4720141781444e-196, 30, 1000});
  check_each(run_unary("Gelu<approximate = \"tanh\">", x), {4}, {0, 0, 30, 1000});
}

TEST_CASE("activations keep NaN") {
  for (const char* operation :
       {"Relu", "LeakyRelu", "ThresholdedRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid", "HardSwish", "Swish",
        "Softplus", "Softsign", "Mish", "Gelu", "Gelu<approximate = \"tanh\">", "Shrink", "Clip", "Sign", "Tanh"}) {
    INFO(operation);
    check_each(run_unary(operation, tensor_of({not_a_number})), {1}, {not_a_number});
  }
}

TEST_CASE("integers through functions of one number") {
  check_each(run_unary("Abs", tensor_of({-5, 0, 7}, DataType::int32)), {3}, {5, 0, 7});
  check_each(run_unary("Abs", tensor_of({-128, 127}, DataType::int8)), {2}, {-128, 127});
  check_each(run_unary("Abs", tensor_of({0, 255}, DataType::uint8)), {2}, {0, 255});
  check_each(run_unary("Neg", tensor_of({-5, 0, 7}, DataType::int64)), {3}, {5, 0, -7});
  check_each(run_unary("Sign", tensor_of({-5, 0, 7}, DataType::int16)), {3}, {-1, 0, 1});
  check_each(run_unary("Sign", tensor_of({0, 7}, DataType::uint32)), {2}, {0, 1});
  check_each(run_unary("Relu", tensor_of({-5, 0, 7}, DataType::int32)), {3}, {0, 0, 7});
  check_each(run_unary("Shrink<lambd = 1.5, bias = 1.5>", tensor_of({-4, -1, 0, 1, 4}, DataType::int32)), {5},
             {-2, 0, 0, 0, 2});
  check_each(run_unary("BitwiseNot", tensor_of({0, 1, 255}, DataType::uint8)), {3}, {255, 254, 0});
  check_each(run_unary("BitwiseNot", tensor_of({0, 1, -8}, DataType::int32)), {3}, {-1, -2, 7});
}

TEST_CASE("Not, IsNaN and IsInf give bool") {
  const Tensor negated = run_unary("Not", tensor_of({1, 0}, DataType::boolean));
  CHECK(negated.dtype() == DataType::boolean);
  check_each(negated, {2}, {0, 1});
  const std::vector<double> special = {not_a_number, infinity, -infinity, 1};
  for (const DataType dtype : floating_types) {
    const Tensor x = tensor_of(special, dtype);
    check_each(run_unary("IsNaN", x), {4}, {1, 0, 0, 0});
    check_each(run_unary("IsInf", x), {4}, {0, 1, 1, 0});
    check_each(run_unary("IsInf<detect_negative = 0>", x), {4}, {0, 1, 0, 0});
    check_each(run_unary("IsInf<detect_positive = 0>", x), {4}, {0, 0, 1, 0});
  }
}

TEST_CASE("Identity copies every type") {
  check_each(run_unary("Identity", tensor_of({1, 0, 1}, DataType::boolean)), {3}, {1, 0, 1});
  check_each(run_unary("Identity", tensor_of({-3, 5}, DataType::int64)), {2}, {-3, 5});
  check_each(run_unary("Identity", tensor_of({-3.5, 5}, DataType::bfloat16)), {2}, {-3.5, 5});
  Tensor words(DataType::string, {2});
  words.strings() = {"cat", "dog"};
  CHECK(run_unary("Identity", words).strings() == std::vector<std::string>{"cat", "dog"});
}

TEST_CASE("PRelu repeats its slopes") {
  const Tensor x = tensor_of({-1, 2, -3, -4, 5, -6}, {2, 3});
  check_each(run_node("y = PRelu(x, slope)", {{"x", x}, {"slope", tensor_of({0.5, 0.25}, {2, 1})}}), {2, 3},
             {-0.5, 2, -1.5, -1, 5, -1.5});
  check_each(run_node("y = PRelu(x, slope)", {{"x", x}, {"slope", tensor_of({0.5, 0.25, 2})}}), {2, 3},
             {-0.5, 2, -6, -2, 5, -12});
  check_each(run_node("y = PRelu(x, slope)",
                      {{"x", tensor_of({-3, 4}, DataType::int32)}, {"slope", tensor_of({2}, DataType::int32)}}),
             {2}, {-6, 4});
}

TEST_CASE("Clip with either bound, both, or none") {
  const Tensor x = tensor_of({-infinity, -2, 0.5, 3, infinity});
  const Tensor low = tensor_of({-1}, Dims{});
  const Tensor high = tensor_of({1}, Dims{});
  check_each(run_node("y = Clip(x)", {{"x", x}}), {5}, {-infinity, -2, 0.5, 3, infinity});
  check_each(run_node("y = Clip(x, low)", {{"x", x}, {"low", low}}), {5}, {-1, -1, 0.5, 3, infinity});
  check_each(run_node("y = Clip(x, \"\", high)", {{"x", x}, {"high", high}}), {5}, {-infinity, -2, 0.5, 1, 1});
  check_each(run_node("y = Clip(x, low, high)", {{"x", x}, {"low", low}, {"high", high}}), {5}, {-1, -1, 0.5, 1, 1});
  // Where the bounds are crossed, the upper one wins.
  check_each(run_node("y = Clip(x, high, low)", {{"x", x}, {"low", low}, {"high", high}}), {5}, {-1, -1, -1, -1, -1});
  check_each(run_node("y = Clip(x, low, high)", {{"x", tensor_of({-9, 2, 9}, DataType::int64)},
                                                 {"low", tensor_of({-3}, Dims{}, DataType::int64)},
                                                 {"high", tensor_of({5}, Dims{}, DataType::int64)}}),
             {3}, {-3, 2, 5});
}
