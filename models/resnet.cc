#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

namespace {

class ResidualNetwork {
 public:
  ResidualNetwork(const char* name, const Options& options)
      : layers_(name, {Initialization::he_normal, options.seed, {}}), options_(options) {}

  /// The stem for ImageNet: a quarter of the height and width is left.
  Value* large_image_stem() {
    Value* x = layers_.input("image", options_.input);
    x = layers_.relu(conv(x, "conv1", 64, {7, 2, 3}), "conv1.relu");
    return layers_.max_pool(x, "pool1", {3, 2, 1});
  }

  /// The stem for CIFAR: height and width stay.
  Value* small_image_stem() {
    Value* x = layers_.input("image", options_.input);
    return layers_.relu(conv(x, "conv1", 16, {3, 1, 1}), "conv1.relu");
  }

  Value* stage(Value* x, const std::string& name, int blocks, std::int64_t channels, std::int64_t stride) {
    for (int block = 1; block <= blocks; ++block) {
      x = basic_block(x, name + ".block" + std::to_string(block), channels, block == 1 ? stride : 1);
    }
    return x;
  }

  std::unique_ptr<Graph> classify(Value* x) {
    x = layers_.global_average_pool(x, "average_pool");
    x = layers_.flatten(x, "flatten");
    x = layers_.dense(x, "classifier", options_.classes);
    return layers_.finish(layers_.softmax(x, "probabilities"));
  }

 private:
  // No bias: BatchNormalization's own would make it redundant.
  Value* conv(Value* x, const std::string& name, std::int64_t channels, Window window) {
    return layers_.batch_normalization(layers_.conv(x, name, channels, window, false), name + ".norm");
  }

  Value* basic_block(Value* x, const std::string& name, std::int64_t channels, std::int64_t stride) {
    Value* residual = layers_.relu(conv(x, name + ".conv1", channels, {3, stride, 1}), name + ".conv1.relu");
    residual = conv(residual, name + ".conv2", channels, {3, 1, 1});
    const bool same_shape = stride == 1 && extent(x, 1) == channels;
    Value* shortcut = same_shape ? x : conv(x, name + ".shortcut", channels, {1, stride, 0});
    return layers_.relu(layers_.add(residual, shortcut, name + ".add"), name + ".relu");
  }

  Layers layers_;
  const Options& options_;
};

}  // namespace

std::unique_ptr<Graph> build_resnet18(const Options& options) {
  check_image_classifier("resnet18", options);
  ResidualNetwork network("resnet18", options);
  Value* x = network.large_image_stem();
  x = network.stage(x, "stage1", 2, 64, 1);
  x = network.stage(x, "stage2", 2, 128, 2);
  x = network.stage(x, "stage3", 2, 256, 2);
  x = network.stage(x, "stage4", 2, 512, 2);
  return network.classify(x);
}

std::unique_ptr<Graph> build_resnet20(const Options& options) {
  check_image_classifier("resnet20-cifar10", options);
  ResidualNetwork network("resnet20-cifar10", options);
  Value* x = network.small_image_stem();
  x = network.stage(x, "stage1", 3, 16, 1);
  x = network.stage(x, "stage2", 3, 32, 2);
  x = network.stage(x, "stage3", 3, 64, 2);
  return network.classify(x);
}

}  // namespace ort_train::models
