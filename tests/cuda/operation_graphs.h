#pragma once

// Operation graphs as the runtime makes them, for the plan tests and for execution on virtual GPUs.

#include <string>
#include <vector>

#include "runtime/cuda/cudnn/operation_graph.h"

namespace ort_train::test {

using runtime::cuda::cudnn::ConvolutionPass;
using runtime::cuda::cudnn::NormalizationKind;
using runtime::cuda::cudnn::OperationGraph;
using runtime::cuda::cudnn::PointwiseMode;
using runtime::cuda::cudnn::PoolingMode;
using runtime::cuda::cudnn::ReductionMode;

/// A convolution with any number of spatial axes; all attributes have one value an axis.
struct ConvolutionShape {
  Dims image;   // [N, C, spatial]
  Dims filter;  // [K, C / groups, spatial]
  Dims pads_begin;
  Dims pads_end;
  Dims strides;
  Dims dilations;

  Dims response() const;
};

/// Square windows, equal padding on all sides.
ConvolutionShape convolution_2d(Dims image, std::int64_t filters, std::int64_t window, std::int64_t padding,
                                std::int64_t stride = 1, std::int64_t dilation = 1, std::int64_t groups = 1);

/// Tensors in the order image, filter, response; channels innermost.
OperationGraph convolution(ConvolutionPass pass, const ConvolutionShape& shape, DataType type);

/// Convolution, bias and ReLU in one plan. Tensors: image, filter, bias, then the response last.
OperationGraph convolution_bias_relu(const ConvolutionShape& shape, DataType type);

/// Tensors: operands of `dims`, then the output last. Comparisons make booleans.
OperationGraph pointwise(PointwiseMode mode, const Dims& dims, DataType type);

/// Tensors: x, out.
OperationGraph reduction(ReductionMode mode, const Dims& from, const Dims& to, DataType type);

/// [batch, m, k] x [batch, k, n]; tensors a, b, out.
OperationGraph matrix_product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DataType type);

/// Tensors: x, scale, bias, y, mean, inverse deviation (rms: x, scale, y, inverse deviation). Parameters and statistics
/// are float32 (float64 with float64).
OperationGraph normalization_forward(NormalizationKind kind, const Dims& dims, DataType type);

/// Tensors: x, gradient of y, scale, mean, inverse deviation, gradients of x, scale and bias (rms: neither mean nor
/// bias).
OperationGraph normalization_backward(NormalizationKind kind, const Dims& dims, DataType type);

/// Batch normalization, addition of a residual and ReLU in one plan; tensors: x, scale, bias, residual, y, mean,
/// inverse deviation, then the virtual ones.
OperationGraph batch_normalization_add_relu(const Dims& dims, DataType type);

/// The gradient of that: the stored output masks the gradient. Tensors: x, output, output gradient, scale, mean,
/// inverse deviation, gradients of x, scale, bias, then the virtual ones.
OperationGraph batch_normalization_relu_backward(const Dims& dims, DataType type);

/// Square windows on [N, C, H, W]; tensors x, y (, index).
OperationGraph pooling_forward(PoolingMode mode, const Dims& image, std::int64_t window, std::int64_t padding,
                               std::int64_t stride, DataType type, bool with_index);

/// Tensors: gradient of y, gradient of x, then with maxima the index.
OperationGraph pooling_backward(PoolingMode mode, const Dims& image, std::int64_t window, std::int64_t padding,
                                std::int64_t stride, DataType type);

/// Tensors: query, key, value, output, statistics (, bias).
OperationGraph attention_forward(std::int64_t batch, std::int64_t heads, std::int64_t sequence, std::int64_t width,
                                 bool causal, bool bias, DataType type);

/// Tensors: query, key, value, output, output gradient, statistics, gradients of query, key, value (, bias).
OperationGraph attention_backward(std::int64_t batch, std::int64_t heads, std::int64_t sequence, std::int64_t width,
                                  bool causal, bool bias, DataType type);

}  // namespace ort_train::test
