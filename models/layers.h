#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/initialization.h"

namespace ort_train::models {

using graph::Graph;
using graph::Value;

/// The square window of a convolution or pool.
struct Window {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< on each of the four sides
};

struct BatchNormalizationSettings {
  float epsilon = 1e-5F;
  float momentum = 0.9F;  ///< in ONNX's sense: the share of the running statistic that stays
};

/// How a whole model is initialized and normalized.
struct LayerSettings {
  Initialization initialization = Initialization::he_normal;
  std::uint64_t seed = 1;
  BatchNormalizationSettings normalization;
};

/// Writes a model layer by layer, in the inference form in which exporters write ONNX files (opset 17, IR version 8, so
/// that every runtime reads them). The first extent of every array is the batch, the symbol "N"; images are
/// [N, channels, height, width]. A layer's name is that of its node and output; its parameters are NAME.weight,
/// NAME.bias and so on, so that a glob such as "inception_3a.*" selects them. Biases start at zero. Every method throws
/// an Error that names the layer when its input is too small or does not fit.
class Layers {
 public:
  Layers(std::string model, LayerSettings settings);

  /// A float32 input of shape [N, extents...].
  Value* input(const std::string& name, const Dims& extents);

  /// Weight [channels, input channels, size, size].
  Value* conv(Value* x, const std::string& name, std::int64_t channels, Window window, bool bias = true);
  /// Parameters NAME.scale (ones) and NAME.bias, running statistics NAME.running_mean and NAME.running_var (ones).
  Value* batch_normalization(Value* x, const std::string& name);
  /// Weight [outputs, inputs], as Gemm with transB = 1 takes it.
  Value* dense(Value* x, const std::string& name, std::int64_t outputs);

  /// `partial_windows` also counts windows that reach over the far edge (ONNX: ceil_mode).
  Value* max_pool(Value* x, const std::string& name, Window window, bool partial_windows = false);
  Value* average_pool(Value* x, const std::string& name, Window window);
  Value* global_average_pool(Value* x, const std::string& name);
  Value* dropout(Value* x, const std::string& name, float ratio);

  Value* relu(Value* x, const std::string& name) { return emit("Relu", name, {x}); }
  Value* sigmoid(Value* x, const std::string& name) { return emit("Sigmoid", name, {x}); }
  Value* add(Value* a, Value* b, const std::string& name) { return emit("Add", name, {a, b}); }
  /// Over the last axis.
  Value* softmax(Value* x, const std::string& name);
  /// [N, ...] to [N, product].
  Value* flatten(Value* x, const std::string& name);
  /// Over the channels.
  Value* concat(const std::vector<Value*>& parts, const std::string& name);

  /// Gives the graph away, checked, with one output.
  std::unique_ptr<Graph> finish(Value* output);

 private:
  Value* emit(const std::string& op_type, const std::string& name, std::vector<Value*> inputs,
              graph::Attributes attributes = {});
  Value* pool(const std::string& op_type, Value* x, const std::string& name, Window window,
              graph::Attributes attributes);
  Value* weight(const std::string& name, const Dims& dims);
  Value* filled(const std::string& name, graph::Role role, std::int64_t size, float element);

  std::unique_ptr<Graph> graph_;
  LayerSettings settings_;
  std::uint32_t weights_ = 0;
};

/// Extent number `axis` of a value; throws, naming the value, when it is no number.
std::int64_t extent(const Value* value, std::size_t axis);

}  // namespace ort_train::models
