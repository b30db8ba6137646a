#include "models/zoo.h"

#include <algorithm>

#include "base/error.h"

namespace ort_train::models {

const std::vector<Model>& zoo() {
  static const std::vector<Model> models = {
      {"dense-binary", "10 features, two dense layers, one probability", {{10}, 2}, true, build_dense_binary},
      {"lenet", "LeNet with Relu, 28x28 grey images, 10 classes", {{1, 28, 28}, 10}, true, build_lenet},
      {"minigooglenet", "GoogLeNet for 32x32 images, 10 classes", {{3, 32, 32}, 10}, true, build_minigooglenet},
      {"resnet18", "ResNet-18, 224x224 images, 1000 classes", {{3, 224, 224}, 1000}, true, build_resnet18},
      {"resnet20-cifar10", "ResNet-20 for 32x32 images, 10 classes", {{3, 32, 32}, 10}, true, build_resnet20},
      {"squeezenet", "SqueezeNet 1.1, 224x224 images, 1000 classes", {{3, 224, 224}, 1000}, true, build_squeezenet},
      {"vgg16", "VGG16, 224x224 images, 1000 classes; 553 MB", {{3, 224, 224}, 1000}, false, build_vgg16},
      {"vgg16-small-head",
       "VGG16 with a head for fine-tuning, 224x224 images, 2 classes; 61 MB",
       {{3, 224, 224}, 2},
       false,
       build_vgg16_small_head},
  };
  return models;
}

const Model& find_model(const std::string& name) {
  const auto found = std::find_if(zoo().begin(), zoo().end(), [&](const Model& model) { return model.name == name; });
  if (found != zoo().end()) return *found;
  std::string names;
  for (const Model& model : zoo()) names += (names.empty() ? "" : ", ") + model.name;
  fail_usage("there is no model named '", name, "'; there are: ", names);
}

std::int64_t parameter_count(const graph::Graph& graph) {
  std::int64_t count = 0;
  for (const graph::Value* value : graph.initializers()) {
    if (value->role() == graph::Role::parameter) count += value->initial().size();
  }
  return count;
}

void check_image_classifier(const char* model, const Options& options) {
  const bool positive = std::all_of(options.input.begin(), options.input.end(), [](auto extent) { return extent > 0; });
  if (options.input.size() != 3 || !positive) {
    fail_usage(model, ": its input is channels, height and width, and not ", to_string(options.input));
  }
  if (options.classes < 2) fail_usage(model, ": it needs at least 2 classes, and not ", options.classes);
}

}  // namespace ort_train::models
