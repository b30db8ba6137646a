#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx_io.h"
#include "kernels/kernel.h"
#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;

// Expected values: JAX in float64 (losses and their gradients), NumPy (optimizers, by the formulas of PyTorch), and an
// implementation of Philox in Python (dropout).

namespace {

const std::vector<DataType> training_types = {DataType::float64, DataType::float32};

Arrays run_training(const std::string& node, const Arrays& inputs, const std::vector<std::string>& outputs) {
  std::string results;
  for (const std::string& name : outputs) results += (results.empty() ? "" : ", ") + name;
  return run_nodes(results + " = ai.ort_train." + node, inputs, outputs);
}

Tensor run_gradient(const std::string& node, const Arrays& inputs) { return run_training(node, inputs, {"y"}).at("y"); }

Tensor number(double value, DataType dtype) { return tensor_of({value}, Dims{}, dtype); }
Tensor count_of(std::int64_t value) { return Tensor::scalar(value); }

}  // namespace

TEST_CASE("gradients of Relu, Sigmoid and Tanh in terms of the result") {
  for (const DataType dtype : training_types) {
    const Arrays inputs = {{"dy", tensor_of({2, -4, 8}, dtype)}, {"r", tensor_of({0, 0.25, 0.75}, dtype)}};
    check_each(run_gradient("ReluGrad(dy, r)", inputs), {3}, {0, -4, 8});
    check_each(run_gradient("SigmoidGrad(dy, r)", inputs), {3}, {0, -0.75, 1.5});
    check_each(run_gradient("TanhGrad(dy, r)", inputs), {3}, {2, -3.75, 3.5});
  }
}

TEST_CASE("gradients of Softmax and LogSoftmax along two axes") {
  for (const DataType dtype : training_types) {
    for (const std::string axis : {"1", "2"}) {
      const Tensor x = grid({2, 3, 4}, 2, dtype);
      const Arrays softmax = {{"dy", grid({2, 3, 4}, 6, dtype)},
                              {"r", run_node("y = Softmax<axis = " + axis + ">(x)", {{"x", x}})}};
      const Arrays log_softmax = {{"dy", grid({2, 3, 4}, 6, dtype)},
                                  {"r", run_node("y = LogSoftmax<axis = " + axis + ">(x)", {{"x", x}})}};
      // Differences of numbers of order 1.
      const double absolute = dtype == DataType::float32 ? 2e-7 : 0;
      check_each(run_gradient("SoftmaxGrad<axis = " + axis + ">(dy, r)", softmax), {2, 3, 4},
                 axis == "1"
                     ? std::vector<double>{0.14812730828294,  0.12791729439074,  -0.1894829577309,  0.063511377814901,
                                           -0.21388505974353, 0.094088823775321, 0.11429558163992,  -0.36716823609332,
                                           0.06575775146059,  -0.22200611816606, 0.075187376090977, 0.30365685827842,
                                           -0.11041526638463, 0.12791729439074,  -0.1894829577309,  0.14812730828294,
                                           -0.13747182525417, 0.094088823775321, 0.11429558163992,  -0.21388505974353,
                                           0.24788709163881,  -0.22200611816606, 0.075187376090977, 0.06575775146059}
                     : std::vector<double>{0.022834694893764, 0.11325228181001,  -0.17054328214639,  0.034456305442616,
                                           -0.14499829412937, 0.12386119596354,  0.11806512240313,   -0.096928024237302,
                                           0.034206852632525, -0.22205154531549, 0.04990869131594,   0.13793600136702,
                                           -0.09055000698622, 0.039299334255352, -0.13876371311187,  0.19001438584274,
                                           -0.14499829412937, 0.12386119596354,  0.11806512240313,   -0.096928024237302,
                                           0.17384916162171,  -0.13394980845909, -0.087145172885821, 0.047245819723201},
                 absolute);
      check_each(run_gradient("LogSoftmaxGrad<axis = " + axis + ">(dy, r)", log_softmax), {2, 3, 4},
                 axis == "1"
                     ? std::vector<double>{0.18316362316105,  1.3206307390463,   -0.85824999502307, 0.59397810115943,
                                           -1.0664803856479,  -0.20187735518774, 1.3594899246271,   -1.7474386678689,
                                           0.8833167624868,   -1.1187533838585,  -0.50123992960407, 1.1534605667095,
                                           0.072618744649797, 1.032180804446,    -0.91520624987558, -0.13912833317606,
                                           -1.3825454189742,  0.23552358105236,  1.0597684981157,   -0.96930028252484,
                                           1.3099266743244,   -1.2677043854984,  -0.1445622482401,  1.1084286157009}
                     : std::vector<double>{-0.88374085820058, 1.2250969218494,  -1.0398217214532,  0.69846565780437,
                                           -1.1156272324438,  0.10871705955526, 1.4566682447802,   -0.44975807189166,
                                           0.78712068851536,  -1.3164655575525, -0.85838625141222, 1.3877311204494,
                                           -0.34633549826485, 0.96356115828541, -0.92493573681925, 0.3077100767987,
                                           -1.2943540150287,  0.52180964018057, 1.1760684990666,   -0.40352412421844,
                                           0.41638441831068,  -1.4142805220438, -0.15391902079214, 1.1518151245252},
                 absolute);
    }
  }
}

TEST_CASE("SoftmaxCrossEntropy over positions, with ignored ones, and its gradient") {
  for (const DataType dtype : training_types) {
    for (const DataType label_type : {DataType::int64, DataType::int32}) {
      const Tensor scores = grid({2, 3, 2}, 7, dtype);
      const Tensor labels = tensor_of({2, -1, 0, 1}, {2, 2}, label_type);
      const Arrays loss = run_training("SoftmaxCrossEntropy<ignore_index = -1>(scores, labels)",
                                       {{"scores", scores}, {"labels", labels}}, {"sum", "count", "log_probabilities"});
      check_each(loss.at("sum"), {}, {5.1843555026396});
      check_each(loss.at("count"), {}, {3});
      check_each(loss.at("log_probabilities"), {2, 3, 2},
                 {-0.61908894040946, -0.61908894040946, -1.2128389404095, -1.2128389404095, -1.8065889404095,
                  -1.8065889404095, -0.61908894040946, -2.1649276218207, -1.2128389404095, -2.7586776218207,
                  -1.8065889404095, -0.19617762182069});
      check_each(
          run_gradient(
              "SoftmaxCrossEntropyGrad<ignore_index = -1>(dsum, log_probabilities, labels)",
              {{"dsum", number(2, dtype)}, {"log_probabilities", loss.at("log_probabilities")}, {"labels", labels}}),
          {2, 3, 2},
          {1.0768695207129, 0, 0.59470383131956, 0, -1.6715733520324, 0, -0.92313047928713, 0.22951648057838,
           0.59470383131956, -1.8732489612478, 0.32842664796756, 1.6437324806694});
    }
  }
}

TEST_CASE("SoftmaxCrossEntropy of a batch of scores, without the optional result") {
  const Arrays loss = run_training(
      "SoftmaxCrossEntropy(scores, labels)",
      {{"scores", tensor_of({0, 0, 1000, 0}, {2, 2})}, {"labels", Tensor::of_int64s({1, 1})}}, {"sum", "count"});
  check_each(loss.at("sum"), {}, {1000.6931471805599});
  check_each(loss.at("count"), {}, {2});
}

TEST_CASE("losses without their count") {
  const Arrays classes = {{"scores", tensor_of({0, 0, 1000, 0}, {2, 2})}, {"labels", Tensor::of_int64s({1, 1})}};
  const Arrays loss = run_nodes("sum, , p = ai.ort_train.SoftmaxCrossEntropy(scores, labels)", classes, {"sum", "p"});
  check_each(loss.at("sum"), {}, {1000.6931471805599});
  check_each(loss.at("p"), {2, 2}, {-0.69314718055994531, -0.69314718055994531, 0, -1000});
  check_each(run_gradient("NegativeLogLikelihood(scores, labels)", classes), {}, {0});
  check_each(run_gradient("SquaredError(p, t)", {{"p", tensor_of({1, 3})}, {"t", tensor_of({0, 1})}}), {}, {5});
}

TEST_CASE("NegativeLogLikelihood and its gradient") {
  for (const DataType dtype : training_types) {
    const Arrays inputs = {{"dsum", number(2, dtype)},
                           {"log_probabilities", grid({2, 3, 2}, 7, dtype)},
                           {"labels", tensor_of({2, -1, 0, 1}, {2, 2}, DataType::int64)}};
    const Arrays loss =
        run_training("NegativeLogLikelihood<ignore_index = -1>(log_probabilities, labels)", inputs, {"sum", "count"});
    check_each(loss.at("sum"), {}, {1.375});
    check_each(loss.at("count"), {}, {3});
    check_each(run_gradient("NegativeLogLikelihoodGrad<ignore_index = -1>(dsum, log_probabilities, labels)", inputs),
               {2, 3, 2}, {0, 0, 0, 0, -2, 0, -2, 0, 0, -2, 0, 0});
  }
}

TEST_CASE("a label that is no class is an error that names it and its place") {
  const auto run = [](const std::string& operation, std::vector<std::int64_t> labels) {
    run_training(operation + "(scores, labels)",
                 {{"scores", grid({2, 3, 2}, 7)}, {"labels", Tensor::of<std::int64_t>({2, 2}, labels)}},
                 {"sum", "count"});
  };
  CHECK_THROWS_WITH_AS(run("SoftmaxCrossEntropy", {0, 1, 2, 3}),
                       doctest::Contains("the label 3 at position [1,1] is not one of the 3 classes"), Error);
  CHECK_THROWS_WITH_AS(run("SoftmaxCrossEntropy<ignore_index = -100>", {0, -1, 2, -100}),
                       doctest::Contains("the label -1 at position [0,1]"), Error);
  CHECK_THROWS_AS(run("NegativeLogLikelihood", {0, -1, 2, 2}), Error);
  CHECK_THROWS_AS(run("TopKCorrect", {0, 7, 2, 2}), Error);
  CHECK_THROWS_WITH_AS(
      run_training("SoftmaxCrossEntropy(scores, labels)",
                   {{"scores", grid({2, 3}, 7)}, {"labels", Tensor::of_int64s({0, 1, 2})}}, {"sum", "count"}),
      doctest::Contains("do not go with labels of shape [3]"), Error);
}

TEST_CASE("elementwise losses and their gradients") {
  struct Case {
    std::string operation;
    std::vector<double> predictions;
    double sum;
    std::vector<double> gradient;  // of half the sum
  };
  const std::vector<Case> cases = {
      {"BinaryCrossEntropy", {0.25, 0.5, 0.875, 0.0625}, 5.9585167310718, {-2, 1, 1.7142857142857, -8}},
      {"BinaryCrossEntropyWithLogits",
       {-3, -0.5, 0.25, 40},
       4.2236037556327,
       {-0.47628706341122, 0.18877033439907, 0.031088250442899, -2.1241771276458e-18}},
      {"SquaredError", {-3, -0.5, 0.25, 40}, 1537.3125, {-4, -0.5, -0.25, 39}},
      {"AbsoluteError", {-3, -0.5, 0.25, 40}, 43.75, {-0.5, -0.5, -0.5, 0.5}},
  };
  for (const Case& entry : cases) {
    for (const DataType dtype : training_types) {
      INFO(entry.operation);
      const Arrays inputs = {{"dsum", number(0.5, dtype)},
                             {"p", tensor_of(entry.predictions, {2, 2}, dtype)},
                             {"t", tensor_of({1, 0, 0.5, 1}, {2, 2}, dtype)}};
      const Arrays loss = run_training(entry.operation + "(p, t)", inputs, {"sum", "count"});
      check_each(loss.at("sum"), {}, {entry.sum});
      check_each(loss.at("count"), {}, {4});
      check_each(run_gradient(entry.operation + "Grad(dsum, p, t)", inputs), {2, 2}, entry.gradient);
    }
  }
}

TEST_CASE("losses at the ends of their range") {
  const Arrays ends = {{"dsum", number(1, DataType::float64)}, {"p", tensor_of({0, 1})}, {"t", tensor_of({1, 0})}};
  check_each(run_training("BinaryCrossEntropy(p, t)", ends, {"sum", "count"}).at("sum"), {}, {200});
  check_each(run_gradient("BinaryCrossEntropyGrad(dsum, p, t)", ends), {2}, {-1e12, 1e12});
  const Arrays met = {{"dsum", number(1, DataType::float64)}, {"p", tensor_of({0, 1})}, {"t", tensor_of({0, 1})}};
  check_each(run_training("BinaryCrossEntropy(p, t)", met, {"sum", "count"}).at("sum"), {}, {0});
  check_each(run_gradient("AbsoluteErrorGrad(dsum, p, t)", met), {2}, {0, 0});
  const Arrays logits = {{"p", tensor_of({1000, -1000})}, {"t", tensor_of({0, 1})}};
  check_each(run_training("BinaryCrossEntropyWithLogits(p, t)", logits, {"sum", "count"}).at("sum"), {}, {2000});
  CHECK_THROWS_AS(
      run_training("SquaredError(p, t)", {{"p", grid({2, 3}, 1)}, {"t", grid({3, 2}, 1)}}, {"sum", "count"}), Error);
}

TEST_CASE("sums of many losses keep their digits") {
  Tensor p(DataType::float32, {300000}), t(DataType::float32, {300000});
  std::fill_n(p.data<float>(), p.size(), 0.1f);
  check_each(run_training("AbsoluteError(p, t)", {{"p", p}, {"t", t}}, {"sum", "count"}).at("sum"), {},
             {static_cast<double>(0.1f) * 300000});
}

TEST_CASE("TopKCorrect counts labels among the best scores, the lower class first among equal ones") {
  for (const DataType dtype : training_types) {
    const Arrays inputs = {{"scores", tensor_of({5, 5, 1, 3, 2, 1, not_a_number, 7, 2, 0, 0, 0}, {4, 3}, dtype)},
                           {"labels", Tensor::of_int64s({1, 2, 1, -1})}};
    const auto correct = [&](const std::string& k) {
      return run_training("TopKCorrect<k = " + k + ", ignore_index = -1>(scores, labels)", inputs, {"sum", "count"});
    };
    check_each(correct("1").at("sum"), {}, {0});
    check_each(correct("2").at("sum"), {}, {2});
    check_each(correct("3").at("sum"), {}, {3});
    check_each(correct("1").at("count"), {}, {3});
  }
}

TEST_CASE("ThresholdCorrect compares predictions with the threshold and targets with one half") {
  const Arrays inputs = {{"p", tensor_of({0.9, 0.6, 0.6, 0.2, not_a_number})}, {"t", tensor_of({1, 1, 0, 0, 0})}};
  check_each(run_training("ThresholdCorrect(p, t)", inputs, {"sum", "count"}).at("sum"), {}, {3});
  check_each(run_training("ThresholdCorrect<threshold = 0.75>(p, t)", inputs, {"sum", "count"}).at("sum"), {}, {3});
  check_each(run_training("ThresholdCorrect<threshold = 0.95>(p, t)", inputs, {"sum", "count"}).at("sum"), {}, {2});
  check_each(run_training("ThresholdCorrect(p, t)", inputs, {"sum", "count"}).at("count"), {}, {5});
}

namespace {

const std::vector<double> initial_weight = {0.5, -1.25, 2};
const std::vector<std::vector<double>> two_gradients = {{0.25, -0.5, 1.5}, {-1, 0.125, 0.75}};

}  // namespace

TEST_CASE("SgdUpdate without momentum") {
  for (const DataType dtype : training_types) {
    const Arrays inputs = {{"w", tensor_of(initial_weight, dtype)},
                           {"g", tensor_of(two_gradients[0], dtype)},
                           {"rate", number(0.125, DataType::float32)}};
    check_each(run_gradient("SgdUpdate(w, g, rate)", inputs), {3}, {0.46875, -1.1875, 1.8125});
    check_each(run_gradient("SgdUpdate<weight_decay = 0.25>(w, g, rate)", inputs), {3}, {0.453125, -1.1484375, 1.75});
    CHECK_THROWS_WITH_AS(run_gradient("SgdUpdate<momentum = 0.5>(w, g, rate)", inputs),
                         doctest::Contains("momentum buffer"), Error);
  }
}

TEST_CASE("two steps of SgdUpdate with momentum, plain and Nesterov") {
  struct Step {
    std::vector<double> weight, buffer;
  };
  const std::vector<std::pair<std::string, std::vector<Step>>> cases = {
      {"0",
       {{{0.453125, -1.1484375, 1.75}, {0.375, -0.8125, 2}},
        {{0.52880859375, -1.052001953125, 1.4140625}, {-0.60546875, -0.771484375, 2.6875}}}},
      {"1",
       {{{0.41796875, -1.072265625, 1.5625}, {0.375, -0.8125, 2}},
        {{0.58749389648438, -0.98384094238281, 1.17236328125}, {-0.6142578125, -0.75244140625, 2.640625}}}}};
  for (const auto& [nesterov, steps] : cases) {
    for (const DataType dtype : training_types) {
      Arrays state = {{"new_w", tensor_of(initial_weight, dtype)}, {"new_b", tensor_of({0, 0, 0}, dtype)}};
      for (std::size_t step = 0; step < 2; ++step) {
        state =
            run_training("SgdUpdate<momentum = 0.75, weight_decay = 0.25, nesterov = " + nesterov + ">(w, g, rate, b)",
                         {{"w", state.at("new_w")},
                          {"g", tensor_of(two_gradients[step], dtype)},
                          {"rate", number(0.125, DataType::float32)},
                          {"b", state.at("new_b")}},
                         {"new_w", "new_b"});
        check_each(state.at("new_w"), {3}, steps[step].weight);
        check_each(state.at("new_b"), {3}, steps[step].buffer);
      }
    }
  }
}

TEST_CASE("two steps of AdamUpdate, with decay in the gradient and decoupled") {
  struct Step {
    std::vector<double> weight, first, second;
  };
  const std::vector<std::pair<std::string, std::vector<Step>>> cases = {
      {"beta1 = 0.875, beta2 = 0.75, epsilon = 0.0078125, weight_decay = 0.25",
       {{{0.37755102040816, -1.1261904761905, 1.875486381323},
         {0.046875, -0.1015625, 0.25},
         {0.03515625, 0.1650390625, 1}},
        {{0.42992523398879, -1.0215589159822, 1.7524616296162},
         {-0.072185905612245, -0.10843563988095, 0.37110894941634},
         {0.23140057202728, 0.12990608613237, 1.121411991476}}}},
      {"beta1 = 0.875, beta2 = 0.75, epsilon = 0.0078125, weight_decay = 0.25, decoupled = 1",
       {{{0.36316287878788, -1.0878605769231, 1.8131476683938}, {0.03125, -0.0625, 0.1875}, {0.015625, 0.0625, 0.5625}},
        {{0.41848022449717, -0.99408579433198, 1.636052988263},
         {-0.09765625, -0.0390625, 0.2578125},
         {0.26171875, 0.05078125, 0.5625}}}},
      {"beta1 = 0.9, beta2 = 0.999",
       {{{0.375000005, -1.1250000025, 1.8750000008333},
         {0.025000005960464, -0.050000011920929, 0.15000003576279},
         {6.2499195337296e-05, 0.00024999678134918, 0.0022499710321426}},
        {{0.44493794240963, -1.0663164842927, 1.7584775477122},
         {-0.077500019073486, -0.032500006556511, 0.21000004649162},
         {0.0010624238223433, 0.00026537158662077, 0.0028102138481136}}}}};
  for (const auto& entry : cases) {
    const std::string& attributes = entry.first;
    const std::vector<Step>& steps = entry.second;
    for (const DataType dtype : training_types) {
      const Tensor zeros = tensor_of({0, 0, 0}, dtype);
      Arrays state = {{"new_w", tensor_of(initial_weight, dtype)}, {"new_m", zeros}, {"new_v", zeros}};
      for (std::size_t step = 0; step < 2; ++step) {
        INFO(attributes, ", step ", step + 1);
        state = run_training("AdamUpdate<" + attributes + ">(w, g, rate, step, m, v)",
                             {{"w", state.at("new_w")},
                              {"g", tensor_of(two_gradients[step], dtype)},
                              {"rate", number(0.125, DataType::float32)},
                              {"step", count_of(static_cast<std::int64_t>(step) + 1)},
                              {"m", state.at("new_m")},
                              {"v", state.at("new_v")}},
                             {"new_w", "new_m", "new_v"});
        check_each(state.at("new_w"), {3}, steps[step].weight);
        check_each(state.at("new_m"), {3}, steps[step].first);
        check_each(state.at("new_v"), {3}, steps[step].second);
      }
    }
  }
}

TEST_CASE("AdamUpdate counts steps from 1") {
  const Tensor w = tensor_of({1});
  CHECK_THROWS_WITH_AS(
      run_training(
          "AdamUpdate(w, g, rate, step, m, v)",
          {{"w", w}, {"g", w}, {"rate", number(1, DataType::float32)}, {"step", count_of(0)}, {"m", w}, {"v", w}},
          {"new_w", "new_m", "new_v"}),
      doctest::Contains("counted from 1"), Error);
}

namespace {

Arrays drop(const Tensor& x, const std::string& attributes, std::int64_t step = 3, std::int64_t first_sample = 10) {
  return run_training("TrainingDropout<" + attributes + ">(x, step, first)",
                      {{"x", x}, {"step", count_of(step)}, {"first", count_of(first_sample)}}, {"y", "mask"});
}

}  // namespace

TEST_CASE("TrainingDropout draws its mask from Philox and scales what it keeps") {
  for (const DataType dtype : training_types) {
    const Arrays dropped = drop(tensor_of({1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}, {2, 2, 3}, dtype),
                                "ratio = 0.25, seed = 7, stream = 2");
    check_each(dropped.at("mask"), {2, 2, 3}, {1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1});
    const double s = 4.0 / 3.0;
    check_each(dropped.at("y"), {2, 2, 3},
               {1 * s, 2 * s, 0, 0, 5 * s, 6 * s, -1 * s, -2 * s, 0, -4 * s, -5 * s, -6 * s});
  }
}

TEST_CASE("a mask belongs to its sample, however the batch is split") {
  const std::string attributes = "ratio = 0.5, seed = 1";
  const Tensor whole = drop(grid({5, 7}, 1), attributes, 4, 100).at("mask");
  for (std::int64_t n = 0; n < 5; ++n) {
    const Tensor row = drop(grid({1, 7}, 2), attributes, 4, 100 + n).at("mask");
    for (std::int64_t j = 0; j < 7; ++j) CHECK(row.data<bool>()[j] == whole.data<bool>()[n * 7 + j]);
  }
}

TEST_CASE("masks differ between steps, seeds and streams, and repeat for equal ones") {
  const Tensor x = grid({4, 64}, 1);
  const Tensor mask = drop(x, "seed = 1, stream = 1").at("mask");
  CHECK(drop(x, "seed = 1, stream = 1").at("mask").identical(mask));
  CHECK_FALSE(drop(x, "seed = 1, stream = 1", 4).at("mask").identical(mask));
  CHECK_FALSE(drop(x, "seed = 1, stream = 2").at("mask").identical(mask));
  CHECK_FALSE(drop(x, "seed = 2, stream = 1").at("mask").identical(mask));
  CHECK_FALSE(drop(x, "seed = 2, stream = 0").at("mask").identical(mask));
}

TEST_CASE("TrainingDropout keeps its share") {
  const Tensor mask = drop(Tensor(DataType::float32, {100, 1000}), "ratio = 0.3").at("mask");
  const auto kept = std::count(mask.data<bool>(), mask.data<bool>() + mask.size(), true);
  CHECK(std::abs(static_cast<double>(kept) - 70000) < 600);  // four standard deviations
}

TEST_CASE("TrainingDropout at the ends of its range") {
  check_each(drop(tensor_of({1, 2, 3}), "ratio = 0.0").at("y"), {3}, {1, 2, 3});
  check_each(drop(tensor_of({1, 2, infinity}), "ratio = 1.0").at("y"), {3}, {0, 0, 0});
  CHECK_THROWS_WITH_AS(drop(tensor_of({1, 2}), "ratio = 1.5"), doctest::Contains("must be from 0 to 1"), Error);
  const Arrays scalar = drop(number(2, DataType::float64), "ratio = 0.0");
  check_each(scalar.at("y"), {}, {2});
  check_each(drop(tensor_of({}, {0, 3}), "ratio = 0.5").at("y"), {0, 3}, {});
}

TEST_CASE("DropoutGrad passes what was kept, scaled") {
  for (const DataType dtype : training_types) {
    check_each(run_gradient("DropoutGrad<ratio = 0.75>(dy, mask)",
                            {{"dy", tensor_of({1, 2, 3}, dtype)}, {"mask", tensor_of({1, 0, 1}, DataType::boolean)}}),
               {3}, {4, 0, 12});
  }
}

TEST_CASE("Dropout for inference is the identity") {
  const Arrays result =
      run_nodes("y, mask = Dropout(x)", {{"x", tensor_of({1, -2}, DataType::float16)}}, {"y", "mask"});
  check_each(result.at("y"), {2}, {1, -2});
  check_each(result.at("mask"), {2}, {1, 1});
}

TEST_CASE("ONNX's Dropout in training mode has no definite result") {
  const auto graph = graph::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 28]> "
      "test (double[2] x, double ratio, bool training) => (double[2] y) { y = Dropout(x, ratio, training) }");
  const Arrays feeds = {
      {"x", tensor_of({1, -2})}, {"ratio", number(0.5, DataType::float64)}, {"training", number(1, DataType::boolean)}};
  CHECK_THROWS_WITH_AS(kernels::interpret(*graph, feeds), doctest::Contains("TrainingDropout"), Error);
}
