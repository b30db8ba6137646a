#include <doctest/doctest.h>

#include <cmath>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: NumPy on the same inputs, from the formulas in the ONNX operator texts.

TEST_CASE("BatchNormalization in its inference form") {
  Tensor variance = sample({3}, 5);
  for (int i = 0; i < 3; ++i) variance.data<double>()[i] = std::fabs(variance.data<double>()[i]);
  check_array(
      run_node("y = BatchNormalization<epsilon = 0.01>(x, scale, b, mean, variance)", {{"x", sample({2, 3, 2, 2}, 1)},
                                                                                       {"scale", sample({3}, 2)},
                                                                                       {"b", sample({3}, 3)},
                                                                                       {"mean", sample({3}, 4)},
                                                                                       {"variance", variance}}),
      {2, 3, 2, 2}, {3.083517,  -1.925275, 1.497399,  -3.511393,  -2.630946, -3.799397, -2.089468, -3.25792,
                     -1.150608, 0.676511,  2.50363,   -0.1702027, 1.998279,  -3.010514, 0.412161,  -4.596631,
                     -2.260461, -3.428913, -1.718983, -2.887435,  -1.729938, 0.0971806, 1.9243,    -0.7495331});
}

TEST_CASE("BatchNormalizationTraining normalizes by the batch and moves the running statistics") {
  const Arrays results = run_nodes(
      "y, new_mean, new_variance, batch_mean, batch_variance = ai.ort_train.BatchNormalizationTraining<epsilon = "
      "0.001, momentum = 0.8>(x, scale, b, mean, variance)",
      {{"x", sample({2, 3, 2, 2}, 1)},
       {"scale", sample({3}, 2)},
       {"b", sample({3}, 3)},
       {"mean", sample({3}, 4)},
       {"variance", sample({3}, 5)}},
      {"y", "new_mean", "new_variance", "batch_mean", "batch_variance"});
  check_array(results.at("y"), {2, 3, 2, 2},
              {3.083593,   0.4702109, 2.256022,  -0.35736,  -1.128705,  -2.871612,   -0.321017, -2.063924,
               -0.297394,  0.5534683, 1.404331,  0.1591663, 2.51736,    -0.09602178, 1.689789,  -0.9235927,
               -0.5760765, -2.318983, 0.2316119, -1.511295, -0.5671796, 0.2836827,   1.134545,  -0.1106194});
  check_array(results.at("new_mean"), {3}, {0.584, -1.236, -0.026});
  check_array(results.at("new_variance"), {3}, {0.6824, -1.39112, 0.04813998});
  check_array(results.at("batch_mean"), {3}, {-0.12, 0.38, -0.13});
  check_array(results.at("batch_variance"), {3}, {1.652, 0.8844, 1.5207});
}

TEST_CASE("BatchNormalizationTraining with Relu cuts negative results off") {
  check_array(
      run_nodes(
          "y, new_mean, new_variance, batch_mean, batch_variance = ai.ort_train.BatchNormalizationTraining<epsilon = "
          "0.001, activation = \"Relu\">(x, scale, b, mean, variance)",
          {{"x", sample({2, 3, 2, 2}, 1)},
           {"scale", sample({3}, 2)},
           {"b", sample({3}, 3)},
           {"mean", sample({3}, 4)},
           {"variance", sample({3}, 5)}},
          {"y"})
          .at("y"),
      {2, 3, 2, 2}, {3.083593, 0.4702109, 2.256022, 0, 0, 0, 0,         0, 0, 0.5534683, 1.404331, 0.1591663,
                     2.51736,  0,         1.689789, 0, 0, 0, 0.2316119, 0, 0, 0.2836827, 1.134545, 0});
}

TEST_CASE("LayerNormalization over the axes from 1 on, with its statistics") {
  const Arrays results = run_nodes(
      "y, mean, inv = LayerNormalization<axis = 1, stash_type = 11>(x, scale, b)",
      {{"x", sample({2, 3, 4}, 1)}, {"scale", sample({3, 4}, 2)}, {"b", sample({3, 4}, 3)}}, {"y", "mean", "inv"});
  check_array(results.at("y"), {2, 3, 4},
              {2.792403,   -0.4709935, 0.6828567, 4.60913,    -0.4292939, 3.216664,   -0.544049, 0.9496341,
               0.3385915,  -0.32,      3.66579,   -0.5922386, 2.792403,   -0.4709935, 0.6828567, 4.60913,
               -0.4292939, 3.216664,   -0.544049, 0.9496341,  0.3385915,  -0.32,      3.66579,   -0.5922386});
  check_array(results.at("mean"), {2, 1, 1}, {0.3033333, -0.2166667});
  check_array(results.at("inv"), {2, 1, 1}, {0.8633964, 0.8633964});
}

TEST_CASE("LayerNormalization with a scale that broadcasts and no bias") {
  check_array(run_node("y = LayerNormalization<axis = -2, epsilon = 0.01>(x, scale)",
                       {{"x", sample({2, 3, 4}, 1)}, {"scale", sample({4}, 2)}}),
              {2, 3, 4},
              {1.706062,   0.8458627,   0.3615131,  2.639321,  -0.1244422, -1.32184,    -0.4752888, -1.175835,
               -1.954946,  -0.01433666, 0.9120407,  1.12537,   1.706062,   0.8458627,   0.3615131,  2.639321,
               -0.1244422, -1.32184,    -0.4752888, -1.175835, -1.954946,  -0.01433666, 0.9120407,  1.12537});
}

TEST_CASE("RMSNormalization") {
  check_array(run_node("y = RMSNormalization<epsilon = 0.01>(x, scale)",
                       {{"x", sample({2, 3, 4}, 1)}, {"scale", sample({4}, 2)}}),
              {2, 3, 4}, {1.895417,   0.5352506,  0.4836146,  1.99491,   0.2518132, -1.654773, -0.3223209, -1.709452,
                          -1.519047,  -0.2630384, 1.03111,    0.6365529, 1.274044,  0.9100315, 0.2135541,  2.616037,
                          -0.4884593, -1.43921,   -0.7536229, -1.07461,  -2.026902, 0.1573682, 0.7251524,  1.329446});
}

TEST_CASE("InstanceNormalization") {
  check_array(run_node("y = InstanceNormalization(x, scale, b)",
                       {{"x", sample({2, 3, 2, 2}, 1)}, {"scale", sample({3}, 2)}, {"b", sample({3}, 3)}}),
              {2, 3, 2, 2},
              {2.837322,   0.1679721, 1.992028,    -0.677322,  -0.8331534, -2.647763, 0.007763492, -1.806847,
               -0.4498369, 0.4208752, 1.291587,    0.01737446, 2.837322,   0.1679721, 1.992028,    -0.677322,
               -0.8331534, -2.647763, 0.007763492, -1.806847,  -0.4498369, 0.4208752, 1.291587,    0.01737446});
}

TEST_CASE("GroupNormalization") {
  check_array(run_node("y = GroupNormalization<num_groups = 2>(x, scale, b)",
                       {{"x", sample({2, 4, 3}, 1)}, {"scale", sample({4}, 2)}, {"b", sample({4}, 3)}}),
              {2, 4, 3}, {2.574639,  -0.2132883, 1.691795,   0.2343798, -1.126394, -2.487168,  -0.1090432, 0.8504534,
                          -0.553688, 1.724026,   -0.9145896, 2.946799,  2.574639,  -0.2132883, 1.691795,   0.2343798,
                          -1.126394, -2.487168,  -0.1090432, 0.8504534, -0.553688, 1.724026,   -0.9145896, 2.946799});
}

TEST_CASE("LRN with an even size looks one channel further ahead than back") {
  check_array(
      run_node("y = LRN<size = 4, alpha = 0.5, beta = 0.75, bias = 2.0>(x)", {{"x", sample({1, 5, 1, 2}, 1)}}),
      {1, 5, 1, 2},
      {0.8677187, -0.3192804, 0.4786674, -0.6503397, 0.1044674, 0.840842, -0.3036118, 0.5302514, -0.716845, 0.1796887});
}

TEST_CASE("LpNormalization with the L2 norm") {
  check_array(run_node("y = LpNormalization<axis = 1>(x)", {{"x", sample({2, 3, 2}, 1)}}), {2, 3, 2},
              {0.8687312, -0.2794405, 0.4848732, -0.5917564, 0.1010153, 0.7561332, -0.2305953, 0.8930806, -0.543546,
               0.2646165, 0.8070834, -0.3638477});
}

TEST_CASE("LpNormalization with the L1 norm") {
  check_array(run_node("y = LpNormalization<axis = -1, p = 1>(x)", {{"x", sample({2, 3, 2}, 1)}}), {2, 3, 2},
              {0.7166667, -0.2833333, 0.4, -0.6, 0.09803922, 0.9019608, -0.3414634, 0.6585366, -0.804878, 0.195122,
               0.8166667, -0.1833333});
}

TEST_CASE("MeanVarianceNormalization") {
  check_array(run_node("y = MeanVarianceNormalization(x)", {{"x", sample({2, 3, 2, 2}, 1)}}), {2, 3, 2, 2},
              {1.431571,   -0.4356954, 0.8402698, -1.026996,  -0.1914027, 1.552489,    -0.9995476, 0.744344,
               -0.9649953, 0.3649142,  1.694824,  -0.2513853, 1.026996,   -0.8402698,  0.4356954,  -1.431571,
               -0.744344,  0.9995476,  -1.552489, 0.1914027,  -1.386674,  -0.05676443, 1.273145,   -0.6730639});
}

TEST_CASE("where the norm is 0, LpNormalization gives 0") {
  check_array(run_node("y = LpNormalization(x)", {{"x", Tensor(DataType::float64, {1, 2})}}), {1, 2}, {0, 0});
}

TEST_CASE("the gradient of BatchNormalizationTraining agrees with finite differences") {
  for (const std::string activation : {"", "Relu"}) {
    const std::string attributes = "<epsilon = 0.01, activation = \"" + activation + "\">";
    const std::string forward = "y, m, v, mean, variance = ai.ort_train.BatchNormalizationTraining" + attributes +
                                "(x, scale, b, running_mean, running_variance)";
    std::string backward = "dx, dscale, db = ai.ort_train.BatchNormalizationGrad";
    backward += attributes;
    backward += activation.empty() ? "(dy, x, scale, mean, variance)" : "(dy, x, scale, mean, variance, y)";
    check_gradients({forward,
                     backward,
                     {{"x", sample({2, 3, 2, 2}, 1)},
                      {"scale", sample({3}, 2)},
                      {"b", sample({3}, 3)},
                      {"running_mean", sample({3}, 4)},
                      {"running_variance", sample({3}, 5)}},
                     {{"dx", "x"}, {"dscale", "scale"}, {"db", "b"}}});
  }
}

TEST_CASE("the gradients of the other normalizations agree with finite differences") {
  for (const Dims& scale : {Dims{3, 4}, Dims{4}, Dims{3, 1}}) {
    check_gradients({"y, mean, inv = LayerNormalization<axis = 1, stash_type = 11>(x, scale, b)",
                     "dx, dscale, db = ai.ort_train.LayerNormalizationGrad<axis = 1>(dy, x, scale, mean, inv)",
                     {{"x", sample({2, 3, 4}, 1)}, {"scale", sample(scale, 2)}, {"b", sample(scale, 3)}},
                     {{"dx", "x"}, {"dscale", "scale"}, {"db", "b"}}});
  }
  check_gradients({"y = InstanceNormalization<epsilon = 0.01>(x, scale, b)",
                   "dx, dscale, db = ai.ort_train.InstanceNormalizationGrad<epsilon = 0.01>(dy, x, scale)",
                   {{"x", sample({2, 3, 4}, 1)}, {"scale", sample({3}, 2)}, {"b", sample({3}, 3)}},
                   {{"dx", "x"}, {"dscale", "scale"}, {"db", "b"}}});
  for (const std::string size : {"1", "4", "5"}) {
    const std::string attributes = "<size = " + size + ", alpha = 0.5, beta = 0.75, bias = 2.0>";
    check_gradients({"y = LRN" + attributes + "(x)",
                     "dx = ai.ort_train.LRNGrad" + attributes + "(dy, x, y)",
                     {{"x", sample({2, 6, 2}, 1)}},
                     {{"dx", "x"}}});
  }
}

TEST_CASE("float32 statistics are computed in double precision") {
  // A mean that is large beside the deviation: in float32 the variance would be lost.
  Tensor x(DataType::float32, {1, 1, 4});
  for (int i = 0; i < 4; ++i) x.data<float>()[i] = 65536.0f + static_cast<float>(i % 2);
  const Tensor ones = Tensor::of<float>({1}, {1}), zeros(DataType::float32, {1});
  const Tensor y =
      run_node("y = InstanceNormalization<epsilon = 0.0>(x, scale, b)", {{"x", x}, {"scale", ones}, {"b", zeros}});
  check_array(y, {1, 1, 4}, {-1, 1, -1, 1}, 1e-6);
}
