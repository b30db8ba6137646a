#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "graph/onnx_io.h"
#include "graph/shape_inference.h"
#include "graph/verifier.h"
#include "kernels/kernel.h"
#include "models/layers.h"
#include "models/zoo.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::test;
using models::Options;

namespace {

/// Multiplications of Conv and Gemm for one sample.
std::int64_t multiplications(const graph::Graph& graph) {
  std::int64_t count = 0;
  for (const auto& node : graph.nodes()) {
    if (!node->is("Conv") && !node->is("Gemm")) continue;
    const Dims weight = node->input(1)->dims();
    std::int64_t positions = 1;
    const auto& shape = *node->output()->type().shape;
    for (std::size_t axis = 2; axis < shape.size(); ++axis) positions *= shape[axis].value();
    count += positions * element_count(weight);
  }
  return count;
}

std::string type_of(const graph::Graph& graph, const std::string& value) { return to_string(graph.at(value)->type()); }

/// The same model for small images, so that a test takes no time.
Options small(const std::string& name) {
  Options options = models::find_model(name).defaults;
  if (options.input.size() == 3 && options.input[1] > 32) {
    options.input = {3, 32, 32};
    options.classes = 10;
  }
  return options;
}

Tensor ramp(Dims dims) {
  Tensor tensor(DataType::float32, std::move(dims));
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = std::sin(static_cast<float>(i));
  return tensor;
}

void bind_batch(graph::Graph& graph, std::int64_t size) {
  graph::Type type = graph.inputs().at(0)->type();
  type.shape->at(0) = size;
  graph.inputs()[0]->set_type(type);
  graph::infer_types(graph);
}

}  // namespace

TEST_CASE("models have the published numbers of parameters") {
  const auto count = [](const std::string& name) {
    const models::Model& model = models::find_model(name);
    return models::parameter_count(*model.build(model.defaults));
  };
  CHECK(count("dense-binary") == 121);
  CHECK(count("lenet") == 431'080);
  CHECK(count("minigooglenet") == 1'652'826);
  CHECK(count("resnet18") == 11'689'512);
  CHECK(count("resnet20-cifar10") == 272'474);
  CHECK(count("squeezenet") == 1'235'496);
}

TEST_CASE("VGG16 has 138,357,544 parameters, of which a small image needs fewer in the first dense layer") {
  const auto graph = models::build_vgg16({{3, 32, 32}, 1000});
  CHECK(graph->at("head.dense1.weight")->dims() == Dims{4096, 512});
  CHECK(models::parameter_count(*graph) == 138'357'544 - 4096 * 512 * (7 * 7 - 1));
}

TEST_CASE("MiniGoogLeNet has the layers of its recipe") {
  const auto graph = models::build_minigooglenet({{3, 32, 32}, 10});
  CHECK(std::abs(static_cast<double>(multiplications(*graph)) - 234.6e6) < 0.05e6);
  CHECK(type_of(*graph, "image") == "float32[N,3,32,32]");
  CHECK(type_of(*graph, "conv1.relu") == "float32[N,96,32,32]");
  CHECK(type_of(*graph, "inception_3a") == "float32[N,64,32,32]");
  CHECK(type_of(*graph, "downsample_3") == "float32[N,160,15,15]");
  CHECK(type_of(*graph, "inception_4d") == "float32[N,144,15,15]");
  CHECK(type_of(*graph, "downsample_4") == "float32[N,240,7,7]");
  CHECK(type_of(*graph, "inception_5b") == "float32[N,336,7,7]");
  CHECK(type_of(*graph, "average_pool") == "float32[N,336,1,1]");
  CHECK(type_of(*graph, "probabilities") == "float32[N,10]");
  CHECK(graph->at("inception_3a.conv_1x1.weight")->dims() == Dims{32, 96, 1, 1});

  const graph::Node& norm = *graph->at("inception_3a.conv_1x1.norm")->producer();
  CHECK(norm.op_type() == "BatchNormalization");
  CHECK(norm.inputs().size() == 5);
  CHECK(norm.outputs().size() == 1);
  CHECK(norm.real("epsilon", 0) == 1e-3F);
  CHECK(norm.real("momentum", 0) == 0.99F);
  CHECK(norm.input(3)->role() == graph::Role::running_statistic);
  const graph::Node& dropout = *graph->at("dropout")->producer();
  CHECK(dropout.input(1)->initial().values<float>()[0] == 0.5F);
}

TEST_CASE("the other models shrink their images as published") {
  const auto resnet = models::build_resnet18({{3, 224, 224}, 1000});
  CHECK(type_of(*resnet, "pool1") == "float32[N,64,56,56]");
  CHECK(type_of(*resnet, "stage4.block2.relu") == "float32[N,512,7,7]");
  CHECK(resnet->find("stage1.block1.shortcut.weight") == nullptr);
  CHECK(resnet->at("stage2.block1.shortcut.weight")->dims() == Dims{128, 64, 1, 1});
  CHECK(resnet->at("conv1.norm")->producer()->real("epsilon", 0) == 1e-5F);

  const auto small_resnet = models::build_resnet20({{3, 32, 32}, 10});
  CHECK(type_of(*small_resnet, "stage3.block3.relu") == "float32[N,64,8,8]");

  const auto squeezenet = models::build_squeezenet({{3, 224, 224}, 1000});
  CHECK(type_of(*squeezenet, "pool1") == "float32[N,64,55,55]");
  CHECK(type_of(*squeezenet, "head") == "float32[N,1000,13,13]");

  const auto vgg = models::build_vgg16_small_head({{3, 224, 224}, 2});
  CHECK(type_of(*vgg, "features.pool5") == "float32[N,512,7,7]");
  CHECK(vgg->at("head.dense1.weight")->dims() == Dims{1024, 512});
  CHECK(type_of(*vgg, "probabilities") == "float32[N,2]");
}

TEST_CASE("every model survives saving, the ONNX checker and loading") {
  const TemporaryFolder folder;
  for (const models::Model& model : models::zoo()) {
    CAPTURE(model.name);
    if (model.name == "vgg16") continue;  // its layers are those of vgg16-small-head and of the test of its size
    const auto built = model.build(small(model.name));
    graph::save(*built, folder / "model.onnx");
    const auto loaded = graph::load(folder / "model.onnx");
    graph::infer_types(*loaded);
    graph::verify(*loaded, "loaded");
    CHECK(loaded->name == model.name);
    CHECK(loaded->opset() == 17);
    CHECK(loaded->metadata.ir_version == 8);
    CHECK(loaded->metadata.producer_name == "ort-train");
    CHECK(loaded->inputs().at(0)->type() == built->inputs().at(0)->type());
    CHECK(loaded->outputs().at(0)->type() == built->outputs().at(0)->type());
    CHECK(loaded->nodes().size() == built->nodes().size());
    CHECK(graph::serialize_model(*loaded) == read_file(folder / "model.onnx"));
  }
}

TEST_CASE("a model's bytes depend on its seed and on nothing else") {
  for (const char* name : {"dense-binary", "lenet", "minigooglenet", "resnet20-cifar10", "squeezenet"}) {
    CAPTURE(name);
    const models::Model& model = models::find_model(name);
    Options options = small(name);
    const std::string first = graph::serialize_model(*model.build(options));
    CHECK(graph::serialize_model(*model.build(options)) == first);
    options.seed = 2;
    CHECK(graph::serialize_model(*model.build(options)) != first);
  }
}

TEST_CASE("another number of classes leaves the backbone's weights as they are") {
  const auto ten = models::build_resnet20({{3, 32, 32}, 10});
  const auto hundred = models::build_resnet20({{3, 32, 32}, 100});
  for (const graph::Value* value : ten->initializers()) {
    if (value->name().starts_with("classifier")) continue;
    CHECK(hundred->at(value->name())->initial().identical(value->initial()));
  }
  CHECK(hundred->at("classifier.weight")->dims() == Dims{100, 64});
}

TEST_CASE("weights have the spread that their initialization asks for, biases are zero, scales one") {
  const auto spread = [](const Tensor& tensor) {
    double sum = 0, squares = 0;
    for (const double element : tensor.to_doubles()) {
      sum += element;
      squares += element * element;
    }
    const auto count = static_cast<double>(tensor.size());
    CHECK(std::abs(sum / count) < 0.05 * std::sqrt(squares / count));
    return squares / count;
  };
  const Dims dims = {64, 32, 3, 3};
  const Tensor glorot = models::initial_weight(models::Initialization::glorot_uniform, dims, 1, 0);
  CHECK(spread(glorot) == doctest::Approx(2.0 / ((64 + 32) * 9)).epsilon(0.05));
  const double bound = std::sqrt(6.0 / ((64 + 32) * 9));
  double largest = 0;
  for (const double element : glorot.to_doubles()) largest = std::max(largest, std::abs(element));
  CHECK(largest <= bound * (1 + 1e-6));
  CHECK(largest > 0.99 * bound);
  const Tensor he = models::initial_weight(models::Initialization::he_normal, dims, 1, 0);
  CHECK(spread(he) == doctest::Approx(2.0 / (32 * 9)).epsilon(0.05));
  CHECK_FALSE(models::initial_weight(models::Initialization::he_normal, dims, 1, 1).identical(he));
  CHECK_ERROR(models::initial_weight(models::Initialization::he_normal, {3}, 1, 0), "no fan in");

  const auto graph = models::build_minigooglenet({{3, 32, 32}, 10});
  for (const graph::Value* value : graph->initializers()) {
    const bool zero = value->name().ends_with(".bias") || value->name().ends_with(".running_mean");
    const bool one = value->name().ends_with(".scale") || value->name().ends_with(".running_var");
    if (!zero && !one) continue;
    for (const double element : value->initial().to_doubles()) CHECK(element == (one ? 1 : 0));
  }
}

TEST_CASE("every model computes probabilities") {
  for (const models::Model& model : models::zoo()) {
    CAPTURE(model.name);
    if (model.name == "vgg16") continue;
    const auto graph = model.build(small(model.name));
    bind_batch(*graph, 2);
    const graph::Value* input = graph->inputs()[0];
    const auto results = kernels::interpret(*graph, {{input->name(), ramp(input->dims())}});
    const Tensor& output = results.at(graph->outputs()[0]->name());
    CHECK(output.dims() == graph->outputs()[0]->dims());
    const std::int64_t classes = output.dims()[1];
    for (std::int64_t sample = 0; sample < output.dims()[0]; ++sample) {
      double sum = 0;
      for (std::int64_t i = 0; i < classes; ++i) {
        const float probability = output.values<float>()[sample * classes + i];
        CHECK(probability >= 0);
        CHECK(probability <= 1);
        sum += probability;
      }
      if (classes > 1) CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("options that do not fit are refused with the model's name") {
  CHECK_ERROR(models::find_model("alexnet"), "'alexnet'; there are: dense-binary, lenet, minigooglenet");
  CHECK_ERROR(models::build_lenet({{28, 28}, 10}), "lenet: its input is channels, height and width, and not [28,28]");
  CHECK_ERROR(models::build_lenet({{1, 28, 0}, 10}), "not [1,28,0]");
  CHECK_ERROR(models::build_lenet({{1, 28, 28}, 1}), "lenet: it needs at least 2 classes, and not 1");
  CHECK_ERROR(models::build_lenet({{1, 12, 28}, 10}), "lenet: the input is too small: 'conv2' slides a window of 5x5");
  CHECK_ERROR(models::build_vgg16_small_head({{3, 31, 31}, 2}), "the input is too small: 'features.pool5'");
  CHECK_ERROR(models::build_dense_binary({{3, 2}, 2}), "dense-binary: its input is one extent");
  CHECK_ERROR(models::build_dense_binary({{3}, 10}), "dense-binary: it tells 2 classes apart, and not 10");
  try {
    models::build_minigooglenet({{3, 5, 5}, 10});
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::usage);
  }
}

TEST_CASE("MiniGoogLeNet takes images that are not square") {
  const auto graph = models::build_minigooglenet({{1, 40, 64}, 3});
  CHECK(type_of(*graph, "average_pool") == "float32[N,336,1,1]");
  CHECK(type_of(*graph, "probabilities") == "float32[N,3]");
}

TEST_CASE("the zoo is sorted and its names are unique") {
  std::set<std::string> names;
  std::string previous;
  for (const models::Model& model : models::zoo()) {
    CHECK(previous < model.name);
    previous = model.name;
    CHECK(names.insert(model.name).second);
  }
}
