#include <doctest/doctest.h>

#include <filesystem>

#include "graph/onnx_io.h"
#include "passes/assign_roles.h"
#include "passes/attach_losses.h"
#include "passes/attach_optimizer.h"
#include "passes/fuse_batch_normalization_relu.h"
#include "passes/mark_trainable.h"
#include "passes/preflight.h"
#include "passes/training_form.h"
#include "tests/pass_check.h"

using namespace ort_train;
using graph::Role;
using passes::Form;
using passes::LossSpec;
using passes::TrainingSpec;
using tests::check_pass;
using tests::check_unchanged;
using tests::with_header;

namespace {

const char* const batch_normalization = R"(g (float[2,3] x) => (float[2,3] y)
    <float[3] s = {1,1,1}, float[3] b = {0,0,0}, float[3] m = {0,0,0}, float[3] v = {1,1,1}> {
      y = BatchNormalization<momentum = 0.5>(x, s, b, m, v) })";

TrainingSpec spec_of(const std::string& loss) {
  TrainingSpec spec;
  spec.losses = {LossSpec{loss, "y", "label"}};
  return spec;
}

}  // namespace

TEST_CASE("assign-roles finds statistics, hyper-parameters and weights in Constant nodes") {
  const auto graph = graph::parse_text(with_header(R"(g (float[2,3] x) => (float[2,3] y)
      <float[3] s = {1,1,1}, float[3] b = {0,0,0}, float[3] m = {0,0,0}, float[3] v = {1,1,1}, float low = {0}> {
        w = Constant<value = float[3,3] {1,0,0,0,1,0,0,0,1}>()
        half = Constant<value_float = 0.5>()
        a = MatMul(x, w)
        c = BatchNormalization(a, s, b, m, v)
        d = Clip(c, low)
        y = Mul(d, half) })"));
  CHECK(passes::AssignRoles().run(*graph));
  CHECK(graph->at("m")->role() == Role::running_statistic);
  CHECK(graph->at("v")->role() == Role::running_statistic);
  CHECK(graph->at("s")->role() == Role::parameter);
  CHECK(graph->at("low")->role() == Role::constant);
  CHECK(graph->at("w")->role() == Role::parameter);
  CHECK(graph->at("half")->role() == Role::constant);
}

TEST_CASE("assign-roles separates statistics that an exporter merged") {
  const auto graph = graph::parse_text(with_header(R"(g (float[2,3] x) => (float[2,3] y)
      <float[3] zeros = {0,0,0}, float[3] ones = {1,1,1}> {
        b = Identity(zeros)
        m = Identity(zeros)
        y = BatchNormalization(x, ones, b, m, ones) })"));
  CHECK(passes::AssignRoles().run(*graph));
  CHECK(graph->at("zeros")->role() == Role::parameter);
  CHECK(graph->at("y.running_mean")->role() == Role::running_statistic);
  CHECK(graph->at("y.running_var")->role() == Role::running_statistic);
}

TEST_CASE("training-form puts BatchNormalization into training mode and updates its statistics") {
  const auto graph = graph::parse_text(with_header(batch_normalization));
  passes::AssignRoles().run(*graph);
  graph->at("s")->set_trainable(true);
  CHECK(passes::TrainingForm(Form::training, 0).run(*graph));
  const graph::Node* node = graph->at("y")->producer();
  CHECK(node->op_type() == "BatchNormalizationTraining");
  CHECK(node->real("momentum", 0) == 0.5F);
  REQUIRE(graph->updates().size() == 2);
  CHECK(graph->updates()[0].state->name() == "m");
  CHECK(graph->updates()[0].next == node->output(1));
  CHECK(graph->updates()[1].state->name() == "v");
}

TEST_CASE("training-form leaves frozen BatchNormalization, and one that the file has in inference form, alone") {
  for (const Form form : {Form::training, Form::as_in_file}) {
    const auto graph = graph::parse_text(with_header(batch_normalization));
    passes::AssignRoles().run(*graph);
    graph->at("s")->set_trainable(form == Form::as_in_file);
    passes::TrainingForm(form, 0).run(*graph);
    CHECK(graph->at("y")->producer()->op_type() == "BatchNormalization");
    CHECK(graph->updates().empty());
  }
}

TEST_CASE("training-form gives each Dropout a random stream") {
  const auto graph = graph::parse_text(with_header(R"(g (float[2,3] x) => (float[2,3] y) <float r = {0.25}> {
      a = Dropout(x, r)  y = Dropout(a, r) })"));
  passes::TrainingForm(Form::training, 7).run(*graph);
  const graph::Node* first = graph->at("a")->producer();
  const graph::Node* second = graph->at("y")->producer();
  CHECK(first->op_type() == "TrainingDropout");
  CHECK(first->real("ratio", 0) == 0.25F);
  CHECK(first->integer("seed", 0) == 7);
  CHECK(first->integer("stream", -1) != second->integer("stream", -1));
  CHECK(first->input(1)->name() == passes::step_input);
}

TEST_CASE("inference-form takes Dropout out") {
  passes::InferenceForm pass(0);
  check_pass(pass, "g (float[2] x) => (float[2] y) <float r = {0.5}> { a = Dropout(x, r)  y = Neg(a) }",
             "g (float[2] x) => (float[2] y) <float r = {0.5}> { y = Neg(x) }");
}

TEST_CASE("mark-trainable by globs over initializers and nodes") {
  const std::string text = with_header(R"(g (float[2,3] x) => (float[2,3] y)
      <float[3] "head.w" = {1,1,1}, float[3] "body.w" = {1,1,1}, float[3] other = {1,1,1}> {
        ["first"] a = Mul(x, "body.w")  ["second"] b = Mul(a, other)  ["third"] y = Mul(b, "head.w") })");
  const auto trained = [&](std::vector<std::string> trainable, std::vector<std::string> freeze) {
    TrainingSpec spec;
    spec.trainable = std::move(trainable);
    spec.freeze = std::move(freeze);
    const auto graph = graph::parse_text(text);
    passes::MarkTrainable(spec).run(*graph);
    std::string names;
    for (const graph::Value* value : graph->trainable_parameters()) names += value->name() + " ";
    return names;
  };
  CHECK(trained({}, {}) == "head.w body.w other ");
  CHECK(trained({"head.*"}, {}) == "head.w ");
  CHECK(trained({}, {"body.*"}) == "head.w other ");
  CHECK(trained({"second"}, {}) == "other ");
  CHECK_THROWS_WITH_AS(trained({"heat.*"}, {}), doctest::Contains("'heat.*' matches no parameter"), Error);
  CHECK_THROWS_WITH_AS(trained({}, {"*"}), doctest::Contains("nothing is left to train"), Error);
}

TEST_CASE("attach-losses adds label, sum, count and mean") {
  passes::AttachLosses pass(spec_of("mse"));
  check_pass(pass, "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }", R"(
    g (float[2,3] x, float[2,3] label) => (float[2,3] y, float "ort_train.loss.0.sum", float "ort_train.loss.0.count", float "ort_train.loss") {
      y = Relu(x)
      ["ort_train.loss.0.SquaredError"] "ort_train.loss.0.sum" = ai.ort_train.SquaredError(y, label)
      ["ort_train.loss.0.LabelCount"] "ort_train.loss.0.count" = ai.ort_train.LabelCount<to = 1>(label)
      ["ort_train.loss.0.Div"] "ort_train.loss" = Div("ort_train.loss.0.sum", "ort_train.loss.0.count") })");
}

TEST_CASE("attach-losses counts class labels without the ignored ones") {
  TrainingSpec spec = spec_of("softmax_cross_entropy");
  spec.losses.front().ignore_index = -1;
  passes::AttachLosses pass(spec);
  check_pass(pass, "g (double[2,3] x) => (double[2,3] y) { y = Relu(x) }", R"(
    g (double[2,3] x, int64[2] label) => (double[2,3] y, double "ort_train.loss.0.sum", double "ort_train.loss.0.count", double "ort_train.loss") {
      y = Relu(x)
      ["ort_train.loss.0.SoftmaxCrossEntropy_0"] "ort_train.loss.0.sum", "", "ort_train.loss.0.SoftmaxCrossEntropy_2" = ai.ort_train.SoftmaxCrossEntropy<ignore_index = -1>(y, label)
      ["ort_train.loss.0.LabelCount"] "ort_train.loss.0.count" = ai.ort_train.LabelCount<ignore_index = -1, to = 11>(label)
      ["ort_train.loss.0.Div"] "ort_train.loss" = Div("ort_train.loss.0.sum", "ort_train.loss.0.count") })");
}

TEST_CASE("attach-losses looks through a trailing Softmax only where it may") {
  const std::string text = with_header("g (float[2,3] x) => (float[2,3] y) { y = Softmax<axis = 1>(x) }");
  const auto reads = [&](Form form) {
    TrainingSpec spec = spec_of("softmax_cross_entropy");
    spec.form = form;
    const auto graph = graph::parse_text(text);
    passes::AttachLosses(spec).run(*graph);
    CHECK(graph->outputs().front()->name() == "y");
    return graph->at("ort_train.loss.0.sum")->producer()->input(0)->name();
  };
  CHECK(reads(Form::training) == "x");
  CHECK(reads(Form::as_in_file) == "y");
}

TEST_CASE("what a loss needs is said") {
  const auto graph =
      graph::parse_text(with_header("g (float[3] x) => (float[3] y, float[3] z) { y = Relu(x)  z = Neg(x) }"));
  TrainingSpec spec;
  spec.losses = {LossSpec{"mse"}};
  CHECK_THROWS_WITH_AS(resolve(*graph, spec), doctest::Contains("which output of the model it reads: y, z"), Error);
  spec.losses = {LossSpec{"mze", "y"}};
  CHECK_THROWS_WITH_AS(resolve(*graph, spec), doctest::Contains("no loss named 'mze'"), Error);
  spec.losses = {LossSpec{"mse", "w"}};
  CHECK_THROWS_WITH_AS(resolve(*graph, spec), doctest::Contains("no output named 'w'"), Error);
  passes::AttachLosses cross_entropy(spec_of("softmax_cross_entropy"));
  CHECK_THROWS_WITH_AS(cross_entropy.run(*graph), doctest::Contains("scores of shape [N, classes, ...]"), Error);
}

TEST_CASE("attach-optimizer adds one update a parameter") {
  passes::OptimizerSpec optimizer;
  optimizer.momentum = 0.5;
  const std::map<std::string, std::string> gradients = {{"w", "g"}};
  passes::AttachOptimizer pass(optimizer, gradients);
  const auto graph =
      graph::parse_text(with_header("g (float[2] x) => (float[2] g) <float[2] w = {1,2}> { g = Mul(x, w) }"));
  graph->at("w")->set_trainable(true);
  CHECK(pass.run(*graph));
  REQUIRE(graph->updates().size() == 2);
  CHECK(graph->updates()[0].state->name() == "w");
  CHECK(graph->updates()[1].state->name() == "ort_train.momentum.w");
  CHECK(graph->updates()[1].state->role() == Role::optimizer_slot);
  CHECK(graph->updates()[0].next->producer()->op_type() == "SgdUpdate");
}

TEST_CASE("fuse-batch-normalization-relu joins forward and backward") {
  passes::FuseBatchNormalizationRelu pass;
  check_pass(
      pass,
      R"(g (float[2,3] x, float[2,3] dy, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y, float[2,3] dx) {
      n, m2, v2, mean, var = ai.ort_train.BatchNormalizationTraining(x, s, b, m, v)
      y = Relu(n)
      dn = ai.ort_train.ReluGrad(dy, y)
      dx, ds, db = ai.ort_train.BatchNormalizationGrad(dn, x, s, mean, var) })",
      R"(g (float[2,3] x, float[2,3] dy, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y, float[2,3] dx) {
      y, m2, v2, mean, var = ai.ort_train.BatchNormalizationTraining<activation = "Relu">(x, s, b, m, v)
      dx, ds, db = ai.ort_train.BatchNormalizationGrad<activation = "Relu">(dy, x, s, mean, var, y) })");
}

TEST_CASE("fuse-batch-normalization-relu keeps normalized values that something else reads") {
  passes::FuseBatchNormalizationRelu pass;
  check_unchanged(pass,
                  R"(g (float[2,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y, float[2,3] z) {
      n, m2, v2, mean, var = ai.ort_train.BatchNormalizationTraining(x, s, b, m, v)
      y = Relu(n)
      z = Neg(n) })");
}

TEST_CASE("preflight lists everything that stands in the way at once") {
  const auto graph = graph::parse_text(
      R"(<ir_version: 14, opset_import: ["" : 28, "com.example" : 1]>
      g (float[2,3] x) => (float[2,3] y) <float[2,3] w = {1,1,1,1,1,1}> {
        ["here"] a = com.example.Mystery(x)
        b = Mul(a, w)
        ["there"] y = com.example.Riddle(b) })");
  passes::Preflight pass(spec_of("mse"));
  try {
    pass.run(*graph);
    FAIL("the preflight let unknown operators pass");
  } catch (const Error& error) {
    const std::string sentence = error.what();
    CHECK(sentence.find("2 operators stand in the way") != std::string::npos);
    CHECK(sentence.find("Mystery 'here' (com.example): no kernel") != std::string::npos);
    CHECK(sentence.find("Riddle 'there' (com.example): no kernel") != std::string::npos);
  }
}

TEST_CASE("a pipeline dumps every stage and refuses to disable what it needs") {
  const auto model = graph::parse_text(
      with_header("g (float[N,3] x) => (float[N,2] y) <float[3,2] w = {1,2,3,4,5,6}> { y = MatMul(x, w) }"));
  TrainingSpec spec = spec_of("mse");
  spec.dump_folder = std::filesystem::temp_directory_path() / "ort-train-dump-test";
  std::filesystem::remove_all(spec.dump_folder);
  std::vector<passes::Pipeline::Record> records;
  build_training_graph(*model, spec, {{"x", {4, 3}}}, {}, &records);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(spec.dump_folder)) {
    CHECK_NOTHROW(graph::load(entry.path()));
    ++files;
  }
  CHECK(files == records.size());
  std::filesystem::remove_all(spec.dump_folder);
  spec.dump_folder.clear();
  spec.disabled_passes = {"autodiff"};
  CHECK_THROWS_WITH_AS(build_training_graph(*model, spec, {{"x", {4, 3}}}), doctest::Contains("cannot be disabled"),
                       Error);
  spec.disabled_passes = {"autodif"};
  CHECK_THROWS_WITH_AS(build_training_graph(*model, spec, {{"x", {4, 3}}}), doctest::Contains("no pass named"), Error);
}

TEST_CASE("the inference model has the new weights, no training mode and a free batch") {
  const auto model = graph::parse_text(R"(<ir_version: 8, opset_import: ["" : 15]>
      g (float[4,3] x) => (float[4,3] y)
      <float[3] s = {1,1,1}, float[3] b = {0,0,0}, float[3] m = {0,0,0}, float[3] v = {1,1,1}> {
        y, m2, v2 = BatchNormalization<training_mode = 1>(x, s, b, m, v) })");
  const auto trained = passes::build_inference_model(
      *model, {{"s", Tensor::of<float>({3}, {2, 3, 4})}, {"m", Tensor::of<float>({3}, {5, 6, 7})}});
  CHECK(trained->opset() == 15);
  CHECK(to_string(trained->inputs()[0]->type()) == "float32[N,3]");
  CHECK(to_string(trained->outputs()[0]->type()) == "float32[N,3]");
  CHECK(trained->at("s")->initial().data<float>()[2] == 4.0F);
  CHECK(trained->at("m")->initial().data<float>()[0] == 5.0F);
  CHECK(trained->at("y")->producer()->outputs().size() == 1);
  CHECK_NOTHROW(graph::parse_model(graph::serialize_model(*trained)));
}
