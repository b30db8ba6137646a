#include "tests/small_task.h"

#include <map>

#include "base/npy.h"
#include "base/random.h"
#include "graph/builder.h"
#include "runtime/data/array_dataset.h"

namespace ort_train::test {
namespace {

constexpr std::int64_t extent = 8, classes = 3;

class Initializers {
 public:
  explicit Initializers(graph::Graph& graph) : graph_(graph) {}

  graph::Value* normal(const std::string& name, Dims dims, float scale) {
    Tensor elements(DataType::float32, dims);
    RandomStream random(7, RandomPurpose::initialization, next_++);
    for (std::int64_t i = 0; i < elements.size(); ++i) elements.data<float>()[i] = scale * random.normal();
    return graph_.add_initializer(name, graph::Role::parameter, elements);
  }

  graph::Value* filled(const std::string& name, std::int64_t size, float value) {
    Tensor elements(DataType::float32, {size});
    for (std::int64_t i = 0; i < size; ++i) elements.data<float>()[i] = value;
    return graph_.add_initializer(name, graph::Role::parameter, elements);
  }

 private:
  graph::Graph& graph_;
  std::uint32_t next_ = 0;
};

std::map<std::string, Tensor> small_arrays(std::int64_t count, std::uint64_t seed) {
  Tensor images(DataType::float32, {count, 1, extent, extent});
  Tensor labels(DataType::int64, {count});
  RandomStream random(seed, RandomPurpose::initialization, 99);
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const auto label = static_cast<std::int64_t>(random.below(classes));
    labels.data<std::int64_t>()[sample] = label;
    float* image = images.data<float>() + sample * extent * extent;
    for (std::int64_t pixel = 0; pixel < extent * extent; ++pixel) {
      const bool bright = pixel / extent / 2 == label;
      image[pixel] = (bright ? 1.0f : 0.0f) + 0.8f * random.normal();
    }
  }
  return {{"x", images}, {"y", labels}};
}

data::DatasetPointer small_dataset(std::int64_t count, std::uint64_t seed) {
  const auto arrays = small_arrays(count, seed);
  std::vector<data::ArrayDataset::Array> fields = {
      {"x", data::FieldRole::input, data::ImageLayout::channels_first, arrays.at("x")},
      {"y", data::FieldRole::label, data::ImageLayout::none, arrays.at("y")}};
  return std::make_shared<data::ArrayDataset>(std::move(fields),
                                              std::vector<data::ArrayDataset::Source>{{"memory", count}}, "sample");
}

}  // namespace

std::unique_ptr<graph::Graph> small_classifier() {
  auto model = std::make_unique<graph::Graph>();
  model->name = "small";
  model->opsets[""] = 17;
  model->metadata.ir_version = 8;
  Initializers initializers(*model);
  graph::Value* image =
      model->add_input("image", graph::Type(DataType::float32, graph::Shape{std::string("N"), 1, extent, extent}));
  graph::Builder builder(*model);
  graph::Value* x = builder.emit(
      "Conv", {image, initializers.normal("conv.weight", {4, 1, 3, 3}, 0.4f), initializers.filled("conv.bias", 4, 0)},
      {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  x = builder.emit("BatchNormalization",
                   {x, initializers.filled("bn.scale", 4, 1), initializers.filled("bn.bias", 4, 0),
                    initializers.filled("bn.mean", 4, 0), initializers.filled("bn.var", 4, 1)});
  x = builder.emit("Relu", {x});
  x = builder.emit("MaxPool", {x},
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  x = builder.emit("Flatten", {x});
  x = builder.emit("Dropout", {x, builder.scalar(0.25, DataType::float32)});
  x = builder.emit(
      "Gemm", {x, initializers.normal("fc.weight", {64, classes}, 0.1f), initializers.filled("fc.bias", classes, 0)});
  x = builder.emit("Softmax", {x}, {{"axis", std::int64_t{1}}});
  model->rename(x, "probabilities");
  model->add_output(x);
  return model;
}

void write_small_data(const std::filesystem::path& path, std::int64_t count, std::uint64_t seed) {
  write_npz(path, small_arrays(count, seed));
}

data::Splits small_splits() { return {small_dataset(50, 1), small_dataset(20, 2)}; }

}  // namespace ort_train::test
