#include "base/error.h"
#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

namespace {

LayerSettings vgg_settings(const Options& options) { return {Initialization::he_normal, options.seed, {}}; }

Value* dense_relu(Layers& layers, Value* x, const std::string& name, std::int64_t outputs) {
  return layers.relu(layers.dense(x, name, outputs), name + ".relu");
}

/// Five groups of 3x3 convolutions, each with a pool that halves the image.
Value* backbone(Layers& layers, const Options& options) {
  struct Group {
    int convolutions;
    std::int64_t channels;
  };
  Value* x = layers.input("image", options.input);
  int number = 0;
  for (const Group group : {Group{2, 64}, Group{2, 128}, Group{3, 256}, Group{3, 512}, Group{3, 512}}) {
    ++number;
    for (int i = 1; i <= group.convolutions; ++i) {
      const std::string name = text("features.conv", number, "_", i);
      x = layers.relu(layers.conv(x, name, group.channels, {3, 1, 1}), name + ".relu");
    }
    x = layers.max_pool(x, text("features.pool", number), {2, 2, 0});
  }
  return x;
}

std::unique_ptr<Graph> classify(Layers& layers, Value* x, const Options& options) {
  x = layers.dense(x, "head.classifier", options.classes);
  return layers.finish(layers.softmax(x, "probabilities"));
}

}  // namespace

std::unique_ptr<Graph> build_vgg16(const Options& options) {
  check_image_classifier("vgg16", options);
  Layers layers("vgg16", vgg_settings(options));
  Value* x = layers.flatten(backbone(layers, options), "head.flatten");
  x = dense_relu(layers, x, "head.dense1", 4096);
  x = layers.dropout(x, "head.dropout1", 0.5F);
  x = dense_relu(layers, x, "head.dense2", 4096);
  x = layers.dropout(x, "head.dropout2", 0.5F);
  return classify(layers, x, options);
}

std::unique_ptr<Graph> build_vgg16_small_head(const Options& options) {
  check_image_classifier("vgg16-small-head", options);
  Layers layers("vgg16-small-head", vgg_settings(options));
  Value* x = layers.global_average_pool(backbone(layers, options), "head.average_pool");
  x = layers.flatten(x, "head.flatten");
  x = dense_relu(layers, x, "head.dense1", 1024);
  return classify(layers, x, options);
}

}  // namespace ort_train::models
