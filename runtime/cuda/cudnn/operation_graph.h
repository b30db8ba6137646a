#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/data_type.h"
#include "base/tensor.h"

namespace ort_train::runtime::cuda::cudnn {

/// Index into `OperationGraph::tensors`; `absent` for an optional operand that is not there.
using TensorId = int;
inline constexpr TensorId absent = -1;

/// One operand of an operation graph. Extents stand in ONNX's order (N, C, spatial axes) whatever the layout: the
/// strides, in elements, say how it lies in memory. cuDNN wants operands of one graph to have equal rank: a bias is
/// [1, C, 1, 1]. One-dimensional windows are written as two-dimensional ones with H = 1.
struct TensorDescription {
  DataType type = DataType::float32;
  Dims dims;
  Dims strides;
  /// Never in memory: made by one operation of the graph and read by others of it.
  bool is_virtual = false;
  /// A number known now; it needs no pointer. Its extents are all 1.
  std::optional<double> value = std::nullopt;
};

/// Strides of a dense array whose channels (axis 1) are innermost.
Dims channels_last_strides(const Dims& dims);

enum class ConvolutionPass { forward, data_gradient, filter_gradient };

/// Cross-correlation as ONNX's Conv. image [N, C, spatial], filter [K, C / groups, spatial], response [N, K, spatial];
/// the groups follow from the extents. The pass says which of the three is computed from the two others.
struct Convolution {
  ConvolutionPass pass = ConvolutionPass::forward;
  TensorId image = absent;
  TensorId filter = absent;
  TensorId response = absent;
  Dims pads_begin;
  Dims pads_end;
  Dims strides;
  Dims dilations;
};

/// What a pointwise operation computes from its operands a, b, c. A `..._backward` has a = gradient of the output and
/// b = the input of the forward operation (the output serves as well for relu).
enum class PointwiseMode {
  // of a
  identity,
  absolute,
  negate,
  reciprocal,
  square_root,
  reciprocal_square_root,
  exponential,
  logarithm,
  error_function,
  relu,
  sigmoid,
  tanh,
  elu,
  softplus,
  swish,
  gelu,
  gelu_tanh,
  // of a and b
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  greater,
  greater_or_equal,
  less,
  less_or_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  relu_backward,
  sigmoid_backward,
  tanh_backward,
  elu_backward,
  softplus_backward,
  swish_backward,
  gelu_backward,
  gelu_tanh_backward,
  // of a, b and c: c ? a : b
  select,
};

/// Operands are broadcast where their extent is 1. cuDNN takes rank 3 row-major and rank 4 and 5 with the channels
/// innermost (row-major ones have no engine). Comparisons give 1 or 0 in the type of the output (boolean).
struct Pointwise {
  PointwiseMode mode = PointwiseMode::identity;
  TensorId a = absent;
  TensorId b = absent;
  TensorId c = absent;
  TensorId out = absent;
  /// relu and its gradient: the values in between pass; below `lower` the slope is `lower_slope`.
  double lower = 0;
  std::optional<double> upper = std::nullopt;
  double lower_slope = 0;
  /// elu: alpha; swish and softplus: beta.
  double parameter = 1;
};

enum class ReductionMode { sum, maximum, minimum };

/// Over every axis whose extent in `out` is 1. cuDNN has no engine for a mean, nor for a sum over the spatial axes
/// only.
struct Reduction {
  ReductionMode mode = ReductionMode::sum;
  TensorId x = absent;
  TensorId out = absent;
};

/// a [batch..., M, K] times b [batch..., K, N]; extents of the batch are broadcast. Ranks are 3 or 4.
struct MatrixProduct {
  TensorId a = absent;
  TensorId b = absent;
  TensorId out = absent;
};

enum class NormalizationKind { batch, layer, instance, rms };

/// y = scale * (x - mean) * inverse_deviation + bias; rms has neither mean nor (necessarily) bias. `mean` and
/// `inverse_deviation` = 1 / sqrt(variance + epsilon), of the variance without Bessel's correction, are kept for the
/// gradient, in float32. Extents: batch: scale, bias and statistics [1, C, 1, 1]; instance: scale and bias
/// [1, C, 1, 1], statistics [N, C, 1, 1]; layer and rms: x [rows, width, 1, 1], scale and bias [1, width, 1, 1],
/// statistics [rows, 1, 1, 1].
struct NormalizationForward {
  NormalizationKind kind = NormalizationKind::batch;
  TensorId x = absent;
  TensorId scale = absent;
  TensorId bias = absent;
  TensorId y = absent;
  TensorId mean = absent;
  TensorId inverse_deviation = absent;
  double epsilon = 1e-5;
  /// Batch only, all four or none: running = (1 - momentum) * running + momentum * statistic, and cuDNN takes the
  /// variance WITH Bessel's correction here. ONNX does not, so the runtime makes its running variance from
  /// `inverse_deviation` instead.
  TensorId running_mean = absent;
  TensorId running_variance = absent;
  TensorId next_running_mean = absent;
  TensorId next_running_variance = absent;
  double momentum = 0.1;
};

/// Extents as above; `bias_gradient` is absent when rms has no bias.
struct NormalizationBackward {
  NormalizationKind kind = NormalizationKind::batch;
  TensorId x = absent;
  TensorId y_gradient = absent;
  TensorId scale = absent;
  TensorId mean = absent;
  TensorId inverse_deviation = absent;
  TensorId x_gradient = absent;
  TensorId scale_gradient = absent;
  TensorId bias_gradient = absent;
};

enum class PoolingMode { maximum, average_with_padding, average_without_padding };

/// The window attributes of pooling, spatial axes only.
struct PoolingWindow {
  PoolingMode mode = PoolingMode::maximum;
  Dims window;
  Dims pads_begin;
  Dims pads_end;
  Dims strides;
};

/// `index` (maximum only, int8, extents and strides of y) holds the place of the maximum inside its window, for the
/// gradient.
struct PoolingForward {
  PoolingWindow window;
  TensorId x = absent;
  TensorId y = absent;
  TensorId index = absent;
};

/// The gradient of a maximum needs the forward operation's `index`; that of a mean has none. (cuDNN 9.19 crashes in its
/// heuristics when it is given x and y instead.)
struct PoolingBackward {
  PoolingWindow window;
  TensorId y_gradient = absent;
  TensorId index = absent;
  TensorId x_gradient = absent;
};

/// softmax(scale * query * key^T + bias) * value; all [batch, heads, sequence, width], bias [1 or batch, 1 or heads,
/// sequence of the query, sequence of the key]. `statistics` [batch, heads, sequence, 1], float32, is the logarithm of
/// the softmax's denominator and needed by the gradient. `causal` hides keys that come after the query (top left).
struct AttentionForward {
  TensorId query = absent;
  TensorId key = absent;
  TensorId value = absent;
  TensorId bias = absent;
  TensorId output = absent;
  TensorId statistics = absent;
  double scale = 1;
  bool causal = false;
};

struct AttentionBackward {
  TensorId query = absent;
  TensorId key = absent;
  TensorId value = absent;
  TensorId bias = absent;
  TensorId output = absent;
  TensorId output_gradient = absent;
  TensorId statistics = absent;
  TensorId query_gradient = absent;
  TensorId key_gradient = absent;
  TensorId value_gradient = absent;
  double scale = 1;
  bool causal = false;
};

using Operation =
    std::variant<Convolution, Pointwise, Reduction, MatrixProduct, NormalizationForward, NormalizationBackward,
                 PoolingForward, PoolingBackward, AttentionForward, AttentionBackward>;

/// Operations that cuDNN shall run as one plan: plain data, cheap to make and to compare by its key.
struct OperationGraph {
  std::vector<TensorDescription> tensors;
  std::vector<Operation> operations;
  /// Type of the arithmetic; float64 when the operands are, else float32.
  DataType compute_type = DataType::float32;
  /// Whether float32 operands may be rounded to TF32 in products.
  bool allow_tf32 = false;
  /// Only engines that give equal bits for equal inputs.
  bool deterministic = false;

  TensorId add(TensorDescription tensor);
  /// Dense, in memory: row-major, or with the channels innermost.
  TensorId add_row_major(DataType type, Dims dims);
  TensorId add_channels_last(DataType type, Dims dims);
  /// An intermediate in float32 (or whatever `compute_type` is at that moment) laid out like `tensor`.
  TensorId add_virtual_like(TensorId tensor);
  TensorId add_virtual_like(TensorId tensor, DataType type);
  /// A number by value, of rank `rank`.
  TensorId add_scalar(DataType type, double value, std::size_t rank);
  void add(Operation operation);

  /// Everything that distinguishes two plans as one line of text, for caches, tests and messages. Equal graphs have
  /// equal keys.
  std::string key() const;

  /// Throws an Error that names the operation when ids are out of range, a required operand is missing, ranks or
  /// attribute lengths differ, or a virtual tensor is never made.
  void check() const;
};

/// Operands in a fixed order with `absent` where an optional one is missing.
std::vector<TensorId> inputs_of(const Operation& operation);
std::vector<TensorId> outputs_of(const Operation& operation);
/// "convolution_data_gradient", "pointwise_add", "normalization_backward_batch", ...
std::string name_of(const Operation& operation);

}  // namespace ort_train::runtime::cuda::cudnn
