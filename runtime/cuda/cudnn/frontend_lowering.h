#pragma once

// Part of frontend.cc only: turns our operation graph into one of cudnn-frontend.

#include <optional>

#include "base/error.h"
#include "runtime/cuda/cudnn/operation_graph.h"
#include "runtime/cuda/cudnn/pooling_backward_node.h"

namespace ort_train::runtime::cuda::cudnn {

namespace fe = cudnn_frontend;
namespace feg = cudnn_frontend::graph;

inline fe::DataType_t frontend_type(DataType type) {
  switch (type) {
    case DataType::float32: return fe::DataType_t::FLOAT;
    case DataType::float64: return fe::DataType_t::DOUBLE;
    case DataType::float16: return fe::DataType_t::HALF;
    case DataType::bfloat16: return fe::DataType_t::BFLOAT16;
    case DataType::int8: return fe::DataType_t::INT8;
    case DataType::uint8: return fe::DataType_t::UINT8;
    case DataType::int32: return fe::DataType_t::INT32;
    case DataType::int64: return fe::DataType_t::INT64;
    case DataType::boolean: return fe::DataType_t::BOOLEAN;
    default: fail("cuDNN has no type ", ort_train::name_of(type));
  }
}

inline fe::PointwiseMode_t frontend_mode(PointwiseMode mode) {
  using M = fe::PointwiseMode_t;
  static constexpr M modes[] = {M::IDENTITY,
                                M::ABS,
                                M::NEG,
                                M::RECIPROCAL,
                                M::SQRT,
                                M::RSQRT,
                                M::EXP,
                                M::LOG,
                                M::ERF,
                                M::RELU_FWD,
                                M::SIGMOID_FWD,
                                M::TANH_FWD,
                                M::ELU_FWD,
                                M::SOFTPLUS_FWD,
                                M::SWISH_FWD,
                                M::GELU_FWD,
                                M::GELU_APPROX_TANH_FWD,
                                M::ADD,
                                M::SUB,
                                M::MUL,
                                M::DIV,
                                M::MAX,
                                M::MIN,
                                M::POW,
                                M::CMP_GT,
                                M::CMP_GE,
                                M::CMP_LT,
                                M::CMP_LE,
                                M::CMP_EQ,
                                M::CMP_NEQ,
                                M::LOGICAL_AND,
                                M::LOGICAL_OR,
                                M::RELU_BWD,
                                M::SIGMOID_BWD,
                                M::TANH_BWD,
                                M::ELU_BWD,
                                M::SOFTPLUS_BWD,
                                M::SWISH_BWD,
                                M::GELU_BWD,
                                M::GELU_APPROX_TANH_BWD,
                                M::BINARY_SELECT};
  static_assert(std::size(modes) == static_cast<std::size_t>(PointwiseMode::select) + 1);
  return modes[static_cast<std::size_t>(mode)];
}

inline fe::ReductionMode_t frontend_mode(ReductionMode mode) {
  using M = fe::ReductionMode_t;
  static constexpr M modes[] = {M::ADD, M::MAX, M::MIN};
  return modes[static_cast<std::size_t>(mode)];
}

/// Walks the operations in order; every tensor becomes the frontend's when it is first met.
class Lowering {
 public:
  Lowering(const OperationGraph& source, FrontendGraph& target) : source_(source), target_(target) {
    tensors_.resize(source.tensors.size());
    target_.set_io_data_type(frontend_type(source.compute_type))
        .set_intermediate_data_type(frontend_type(source.compute_type))
        .set_compute_data_type(frontend_type(source.compute_type));
  }

  void run() {
    for (const Operation& operation : source_.operations) {
      std::visit([&](const auto& one) { lower(one); }, operation);
    }
  }

  /// The frontend's name of our tensor in a variant pack.
  static std::int64_t uid_of(TensorId id) { return id + 1; }

 private:
  using Tensor = std::shared_ptr<feg::Tensor_attributes>;

  const TensorDescription& description(TensorId id) const { return source_.tensors[static_cast<std::size_t>(id)]; }

  Tensor operand(TensorId id) {
    if (id == absent) return nullptr;
    Tensor& tensor = tensors_[static_cast<std::size_t>(id)];
    if (!tensor) {
      const TensorDescription& d = description(id);
      if (d.value) {
        tensor = number(d.type, *d.value, d.dims.size());
        tensor->set_uid(uid_of(id));
      } else {
        tensor = target_.tensor(feg::Tensor_attributes()
                                    .set_uid(uid_of(id))
                                    .set_dim(d.dims)
                                    .set_stride(d.strides)
                                    .set_data_type(frontend_type(d.type))
                                    .set_is_virtual(d.is_virtual));
      }
    }
    return tensor;
  }

  /// A number by value: float64 or, whatever the operands are, float32.
  Tensor number(DataType type, double value, std::size_t rank) {
    Tensor tensor = type == DataType::float64 ? target_.tensor(feg::Tensor_attributes(value))
                                              : target_.tensor(feg::Tensor_attributes(static_cast<float>(value)));
    const Dims ones(rank, 1);
    tensor->set_dim(ones).set_stride(ones);
    return tensor;
  }

  Tensor number_like(TensorId like, double value) {
    return number(source_.compute_type, value, description(like).dims.size());
  }

  /// What the frontend made is described as we want it and remembered.
  void name_output(TensorId id, const Tensor& made) {
    if (id == absent || !made) return;
    const TensorDescription& d = description(id);
    made->set_uid(uid_of(id)).set_dim(d.dims).set_stride(d.strides).set_data_type(frontend_type(d.type));
    made->set_is_virtual(d.is_virtual);
    tensors_[static_cast<std::size_t>(id)] = made;
  }

  template <typename Attributes>
  static Attributes window_attributes(const Convolution& o) {
    return Attributes()
        .set_pre_padding(o.pads_begin)
        .set_post_padding(o.pads_end)
        .set_stride(o.strides)
        .set_dilation(o.dilations);
  }

  void lower(const Convolution& o) {
    switch (o.pass) {
      case ConvolutionPass::forward:
        name_output(o.response, target_.conv_fprop(operand(o.image), operand(o.filter),
                                                   window_attributes<feg::Conv_fprop_attributes>(o)));
        break;
      case ConvolutionPass::data_gradient:
        name_output(o.image, target_.conv_dgrad(operand(o.response), operand(o.filter),
                                                window_attributes<feg::Conv_dgrad_attributes>(o)));
        break;
      case ConvolutionPass::filter_gradient:
        name_output(o.filter, target_.conv_wgrad(operand(o.response), operand(o.image),
                                                 window_attributes<feg::Conv_wgrad_attributes>(o)));
        break;
    }
  }

  static feg::Pointwise_attributes pointwise_attributes(const Pointwise& o) {
    feg::Pointwise_attributes attributes;
    attributes.set_mode(frontend_mode(o.mode));
    const auto parameter = static_cast<float>(o.parameter);
    switch (o.mode) {
      case PointwiseMode::relu:
      case PointwiseMode::relu_backward:
        attributes.set_relu_lower_clip(static_cast<float>(o.lower));
        attributes.set_relu_lower_clip_slope(static_cast<float>(o.lower_slope));
        if (o.upper) attributes.set_relu_upper_clip(static_cast<float>(*o.upper));
        break;
      case PointwiseMode::elu:
      case PointwiseMode::elu_backward: attributes.set_elu_alpha(parameter); break;
      case PointwiseMode::softplus:
      case PointwiseMode::softplus_backward: attributes.set_softplus_beta(parameter); break;
      case PointwiseMode::swish:
      case PointwiseMode::swish_backward: attributes.set_swish_beta(parameter); break;
      default: break;
    }
    return attributes;
  }

  void lower(const Pointwise& o) {
    const feg::Pointwise_attributes attributes = pointwise_attributes(o);
    if (o.c != absent) {
      name_output(o.out, target_.pointwise(operand(o.a), operand(o.b), operand(o.c), attributes));
    } else if (o.b != absent) {
      name_output(o.out, target_.pointwise(operand(o.a), operand(o.b), attributes));
    } else {
      name_output(o.out, target_.pointwise(operand(o.a), attributes));
    }
  }

  void lower(const Reduction& o) {
    name_output(o.out, target_.reduction(operand(o.x), feg::Reduction_attributes().set_mode(frontend_mode(o.mode))));
  }

  void lower(const MatrixProduct& o) {
    name_output(o.out, target_.matmul(operand(o.a), operand(o.b), feg::Matmul_attributes()));
  }

  void lower(const NormalizationForward& o) {
    Tensor epsilon = number_like(o.x, o.epsilon);
    Tensor bias = operand(o.bias);
    const auto name_three = [&](const std::array<Tensor, 3>& made) {
      name_output(o.y, made[0]);
      name_output(o.mean, made[1]);
      name_output(o.inverse_deviation, made[2]);
    };
    const auto phase = fe::NormFwdPhase_t::TRAINING;
    switch (o.kind) {
      case NormalizationKind::batch: lower_batch(o, epsilon); break;
      case NormalizationKind::layer:
        name_three(target_.layernorm(operand(o.x), operand(o.scale), bias,
                                     feg::Layernorm_attributes().set_forward_phase(phase).set_epsilon(epsilon)));
        break;
      case NormalizationKind::instance:
        name_three(target_.instancenorm(operand(o.x), operand(o.scale), bias,
                                        feg::Instancenorm_attributes().set_forward_phase(phase).set_epsilon(epsilon)));
        break;
      case NormalizationKind::rms: {
        auto attributes = feg::Rmsnorm_attributes().set_forward_phase(phase).set_epsilon(epsilon);
        if (bias) attributes.set_bias(bias);
        const auto made = target_.rmsnorm(operand(o.x), operand(o.scale), attributes);
        name_output(o.y, made[0]);
        name_output(o.inverse_deviation, made[1]);
        break;
      }
    }
  }

  void lower_batch(const NormalizationForward& o, Tensor epsilon) {
    auto attributes = feg::Batchnorm_attributes().set_epsilon(epsilon);
    if (o.running_mean != absent) {
      Tensor mean = operand(o.running_mean), variance = operand(o.running_variance);
      Tensor momentum = number_like(o.x, o.momentum);
      attributes.set_previous_running_stats(mean, variance, momentum);
    }
    const auto made = target_.batchnorm(operand(o.x), operand(o.scale), operand(o.bias), attributes);
    const TensorId ids[] = {o.y, o.mean, o.inverse_deviation, o.next_running_mean, o.next_running_variance};
    for (std::size_t i = 0; i < made.size(); ++i) name_output(ids[i], made[i]);
  }

  void lower(const NormalizationBackward& o) {
    const Tensor x = operand(o.x), y_gradient = operand(o.y_gradient), scale = operand(o.scale);
    const Tensor mean = operand(o.mean), inverse = operand(o.inverse_deviation);
    std::array<Tensor, 3> made;
    switch (o.kind) {
      case NormalizationKind::batch:
        made = target_.batchnorm_backward(
            y_gradient, x, scale, feg::Batchnorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inverse));
        break;
      case NormalizationKind::layer:
        made = target_.layernorm_backward(
            y_gradient, x, scale, feg::Layernorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inverse));
        break;
      case NormalizationKind::instance:
        made = target_.instancenorm_backward(
            y_gradient, x, scale,
            feg::Instancenorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inverse));
        break;
      case NormalizationKind::rms:
        made = target_.rmsnorm_backward(y_gradient, x, scale, inverse,
                                        feg::Rmsnorm_backward_attributes().has_dbias(o.bias_gradient != absent));
        break;
    }
    name_output(o.x_gradient, made[0]);
    name_output(o.scale_gradient, made[1]);
    name_output(o.bias_gradient, made[2]);
  }

  void lower(const PoolingForward& o) {
    using Mode = fe::ResampleMode_t;
    static constexpr Mode modes[] = {Mode::MAXPOOL, Mode::AVGPOOL_INCLUDE_PADDING, Mode::AVGPOOL_EXCLUDE_PADDING};
    const bool maximum = o.window.mode == PoolingMode::maximum;
    const auto made = target_.resample(
        operand(o.x), feg::Resample_attributes()
                          .set_resampling_mode(modes[static_cast<std::size_t>(o.window.mode)])
                          .set_padding_mode(maximum ? fe::PaddingMode_t::NEG_INF_PAD : fe::PaddingMode_t::ZERO_PAD)
                          .set_window(o.window.window)
                          .set_stride(o.window.strides)
                          .set_pre_padding(o.window.pads_begin)
                          .set_post_padding(o.window.pads_end)
                          .set_generate_index(o.index != absent));
    name_output(o.y, made[0]);
    name_output(o.index, made[1]);
  }

  void lower(const PoolingBackward& o) {
    static constexpr cudnnResampleMode_t modes[] = {CUDNN_RESAMPLE_MAXPOOL, CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
                                                    CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING};
    const auto fractions = [](const Dims& values) {
      std::vector<cudnnFraction_t> result;
      for (std::int64_t value : values) result.push_back({value, 1});
      return result;
    };
    PoolingBackwardAttributes attributes;
    attributes.y_gradient = operand(o.y_gradient);
    attributes.index = operand(o.index);
    attributes.x_gradient = operand(o.x_gradient);
    attributes.mode = modes[static_cast<std::size_t>(o.window.mode)];
    attributes.compute_type = source_.compute_type == DataType::float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    attributes.window = fractions(o.window.window);
    attributes.pads_begin = fractions(o.window.pads_begin);
    attributes.pads_end = fractions(o.window.pads_end);
    attributes.strides = fractions(o.window.strides);
    target_.add_pooling_backward(std::move(attributes));
  }

  void lower(const AttentionForward& o) {
    auto attributes = feg::SDPA_attributes()
                          .set_generate_stats(o.statistics != absent)
                          .set_attn_scale(static_cast<float>(o.scale))
                          .set_causal_mask(o.causal)
                          // Products, pointwise operations and reductions, not one opaque operation.
                          .set_implementation(fe::AttentionImplementation_t::COMPOSITE);
    attributes.set_name("attention");
    if (o.bias != absent) attributes.set_bias(operand(o.bias));
    const auto made = target_.sdpa(operand(o.query), operand(o.key), operand(o.value), attributes);
    name_output(o.output, made[0]);
    name_output(o.statistics, made[1]);
  }

  void lower(const AttentionBackward& o) {
    auto attributes =
        feg::SDPA_backward_attributes().set_attn_scale(static_cast<float>(o.scale)).set_causal_mask(o.causal);
    attributes.set_name("attention_backward").set_deterministic_algorithm(source_.deterministic);
    if (o.bias != absent) attributes.set_bias(operand(o.bias));
    const auto made = target_.sdpa_backward(operand(o.query), operand(o.key), operand(o.value), operand(o.output),
                                            operand(o.output_gradient), operand(o.statistics), attributes);
    name_output(o.query_gradient, made[0]);
    name_output(o.key_gradient, made[1]);
    name_output(o.value_gradient, made[2]);
  }

  const OperationGraph& source_;
  FrontendGraph& target_;
  std::vector<Tensor> tensors_;
};

}  // namespace ort_train::runtime::cuda::cudnn
