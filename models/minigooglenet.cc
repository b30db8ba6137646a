#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

namespace {

class MiniGoogLeNet {
 public:
  explicit MiniGoogLeNet(const Options& options)
      : layers_("minigooglenet", {Initialization::glorot_uniform, options.seed, {1e-3F, 0.99F}}), options_(options) {}

  std::unique_ptr<Graph> build() {
    Value* x = layers_.input("image", options_.input);
    x = conv(x, "conv1", 96, {3, 1, 1});
    x = inception(x, "inception_3a", 32, 32);
    x = inception(x, "inception_3b", 32, 48);
    x = downsample(x, "downsample_3", 80);
    x = inception(x, "inception_4a", 112, 48);
    x = inception(x, "inception_4b", 96, 64);
    x = inception(x, "inception_4c", 80, 80);
    x = inception(x, "inception_4d", 48, 96);
    x = downsample(x, "downsample_4", 96);
    x = inception(x, "inception_5a", 176, 160);
    x = inception(x, "inception_5b", 176, 160);
    x = average_of_all(x);
    x = layers_.dropout(x, "dropout", 0.5F);
    x = layers_.flatten(x, "flatten");
    x = layers_.dense(x, "classifier", options_.classes);
    return layers_.finish(layers_.softmax(x, "probabilities"));
  }

 private:
  Value* conv(Value* x, const std::string& name, std::int64_t channels, Window window) {
    x = layers_.conv(x, name, channels, window);
    x = layers_.batch_normalization(x, name + ".norm");
    return layers_.relu(x, name + ".relu");
  }

  Value* inception(Value* x, const std::string& name, std::int64_t channels_1x1, std::int64_t channels_3x3) {
    Value* narrow = conv(x, name + ".conv_1x1", channels_1x1, {1, 1, 0});
    Value* wide = conv(x, name + ".conv_3x3", channels_3x3, {3, 1, 1});
    return layers_.concat({narrow, wide}, name);
  }

  Value* downsample(Value* x, const std::string& name, std::int64_t channels) {
    Value* convolved = conv(x, name + ".conv_3x3", channels, {3, 2, 0});
    Value* pooled = layers_.max_pool(x, name + ".max_pool", {3, 2, 0});
    return layers_.concat({convolved, pooled}, name);
  }

  Value* average_of_all(Value* x) {
    if (extent(x, 2) != extent(x, 3)) return layers_.global_average_pool(x, "average_pool");
    return layers_.average_pool(x, "average_pool", {extent(x, 2), 1, 0});
  }

  Layers layers_;
  const Options& options_;
};

}  // namespace

std::unique_ptr<Graph> build_minigooglenet(const Options& options) {
  check_image_classifier("minigooglenet", options);
  return MiniGoogLeNet(options).build();
}

}  // namespace ort_train::models
