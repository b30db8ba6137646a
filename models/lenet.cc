#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

std::unique_ptr<Graph> build_lenet(const Options& options) {
  check_image_classifier("lenet", options);
  Layers layers("lenet", {Initialization::glorot_uniform, options.seed, {}});
  Value* x = layers.input("image", options.input);
  x = layers.conv(x, "conv1", 20, {5, 1, 0});
  x = layers.relu(x, "conv1.relu");
  x = layers.max_pool(x, "pool1", {2, 2, 0});
  x = layers.conv(x, "conv2", 50, {5, 1, 0});
  x = layers.relu(x, "conv2.relu");
  x = layers.max_pool(x, "pool2", {2, 2, 0});
  x = layers.flatten(x, "flatten");
  x = layers.dense(x, "dense1", 500);
  x = layers.relu(x, "dense1.relu");
  x = layers.dense(x, "classifier", options.classes);
  return layers.finish(layers.softmax(x, "probabilities"));
}

}  // namespace ort_train::models
