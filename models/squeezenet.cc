#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

namespace {

class SqueezeNet {
 public:
  explicit SqueezeNet(const Options& options)
      : layers_("squeezenet", {Initialization::he_normal, options.seed, {}}), options_(options) {}

  std::unique_ptr<Graph> build() {
    Value* x = layers_.input("image", options_.input);
    x = conv(x, "conv1", 64, {3, 2, 0});
    x = pool(x, "pool1");
    x = fire(x, "fire2", 16, 64);
    x = fire(x, "fire3", 16, 64);
    x = pool(x, "pool3");
    x = fire(x, "fire4", 32, 128);
    x = fire(x, "fire5", 32, 128);
    x = pool(x, "pool5");
    x = fire(x, "fire6", 48, 192);
    x = fire(x, "fire7", 48, 192);
    x = fire(x, "fire8", 64, 256);
    x = fire(x, "fire9", 64, 256);
    x = layers_.dropout(x, "dropout", 0.5F);
    x = conv(x, "head", options_.classes, {1, 1, 0});
    x = layers_.global_average_pool(x, "average_pool");
    x = layers_.flatten(x, "flatten");
    return layers_.finish(layers_.softmax(x, "probabilities"));
  }

 private:
  Value* conv(Value* x, const std::string& name, std::int64_t channels, Window window) {
    return layers_.relu(layers_.conv(x, name, channels, window), name + ".relu");
  }

  Value* pool(Value* x, const std::string& name) { return layers_.max_pool(x, name, {3, 2, 0}, true); }

  Value* fire(Value* x, const std::string& name, std::int64_t squeezed, std::int64_t expanded) {
    x = conv(x, name + ".squeeze", squeezed, {1, 1, 0});
    Value* narrow = conv(x, name + ".expand_1x1", expanded, {1, 1, 0});
    Value* wide = conv(x, name + ".expand_3x3", expanded, {3, 1, 1});
    return layers_.concat({narrow, wide}, name);
  }

  Layers layers_;
  const Options& options_;
};

}  // namespace

std::unique_ptr<Graph> build_squeezenet(const Options& options) {
  check_image_classifier("squeezenet", options);
  return SqueezeNet(options).build();
}

}  // namespace ort_train::models
