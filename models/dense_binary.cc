#include "base/error.h"
#include "models/builders.h"
#include "models/layers.h"

namespace ort_train::models {

std::unique_ptr<Graph> build_dense_binary(const Options& options) {
  if (options.input.size() != 1 || options.input[0] < 1) {
    fail_usage("dense-binary: its input is one extent, the number of features, and not ", to_string(options.input));
  }
  if (options.classes != 2) fail_usage("dense-binary: it tells 2 classes apart, and not ", options.classes);
  Layers layers("dense-binary", {Initialization::glorot_uniform, options.seed, {}});
  Value* x = layers.input("features", options.input);
  x = layers.dense(x, "dense1", options.input[0]);
  x = layers.relu(x, "dense1.relu");
  x = layers.dense(x, "classifier", 1);
  return layers.finish(layers.sigmoid(x, "probability"));
}

}  // namespace ort_train::models
