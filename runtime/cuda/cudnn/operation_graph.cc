#include "runtime/cuda/cudnn/operation_graph.h"

#include <algorithm>
#include <iomanip>
#include <set>

#include "base/error.h"

namespace ort_train::runtime::cuda::cudnn {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

const char* name_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::forward: return "forward";
    case ConvolutionPass::data_gradient: return "data_gradient";
    case ConvolutionPass::filter_gradient: return "filter_gradient";
  }
  fail("unknown pass of a convolution");
}

const char* name_of(PointwiseMode mode) {
  static constexpr const char* names[] = {"identity",
                                          "absolute",
                                          "negate",
                                          "reciprocal",
                                          "square_root",
                                          "reciprocal_square_root",
                                          "exponential",
                                          "logarithm",
                                          "error_function",
                                          "relu",
                                          "sigmoid",
                                          "tanh",
                                          "elu",
                                          "softplus",
                                          "swish",
                                          "gelu",
                                          "gelu_tanh",
                                          "add",
                                          "subtract",
                                          "multiply",
                                          "divide",
                                          "maximum",
                                          "minimum",
                                          "power",
                                          "greater",
                                          "greater_or_equal",
                                          "less",
                                          "less_or_equal",
                                          "equal",
                                          "not_equal",
                                          "logical_and",
                                          "logical_or",
                                          "relu_backward",
                                          "sigmoid_backward",
                                          "tanh_backward",
                                          "elu_backward",
                                          "softplus_backward",
                                          "swish_backward",
                                          "gelu_backward",
                                          "gelu_tanh_backward",
                                          "select"};
  static_assert(std::size(names) == static_cast<std::size_t>(PointwiseMode::select) + 1);
  return names[static_cast<std::size_t>(mode)];
}

const char* name_of(ReductionMode mode) {
  static constexpr const char* names[] = {"sum", "maximum", "minimum"};
  return names[static_cast<std::size_t>(mode)];
}

const char* name_of(NormalizationKind kind) {
  static constexpr const char* names[] = {"batch", "layer", "instance", "rms"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(PoolingMode mode) {
  static constexpr const char* names[] = {"maximum", "average_with_padding", "average_without_padding"};
  return names[static_cast<std::size_t>(mode)];
}

int operand_count(PointwiseMode mode) {
  if (mode == PointwiseMode::select) return 3;
  return mode < PointwiseMode::add ? 1 : 2;
}

std::string text_of(const PoolingWindow& window) {
  return text(" window", to_string(window.window), " pads", to_string(window.pads_begin), to_string(window.pads_end),
              " strides", to_string(window.strides));
}

/// The attributes of an operation; its name and operands are written elsewhere.
std::string attributes_of(const Operation& operation) {
  // 17 digits tell any two doubles apart.
  const auto number = [](double value) { return text(std::setprecision(17), value); };
  return std::visit(
      Overloaded{
          [](const Convolution& o) {
            return text(" pads", to_string(o.pads_begin), to_string(o.pads_end), " strides", to_string(o.strides),
                        " dilations", to_string(o.dilations));
          },
          [&](const Pointwise& o) {
            return text(" lower ", number(o.lower), " upper ", o.upper ? number(*o.upper) : "none", " slope ",
                        number(o.lower_slope), " parameter ", number(o.parameter));
          },
          [](const Reduction&) { return std::string(); },
          [](const MatrixProduct&) { return std::string(); },
          [&](const NormalizationForward& o) {
            return text(" epsilon ", number(o.epsilon), " momentum ", number(o.momentum));
          },
          [](const NormalizationBackward&) { return std::string(); },
          [](const PoolingForward& o) { return text_of(o.window); },
          [](const PoolingBackward& o) { return text_of(o.window); },
          [&](const AttentionForward& o) { return text(" scale ", number(o.scale), " causal ", o.causal); },
          [&](const AttentionBackward& o) { return text(" scale ", number(o.scale), " causal ", o.causal); },
      },
      operation);
}

std::string text_of(const std::vector<TensorId>& ids) {
  std::string result;
  for (TensorId id : ids) result += id == absent ? " -" : text(" t", id);
  return result;
}

void check_ids(const OperationGraph& graph, const std::string& name, const std::vector<TensorId>& ids) {
  for (TensorId id : ids) {
    if (id != absent && (id < 0 || id >= static_cast<TensorId>(graph.tensors.size()))) {
      fail("cuDNN operation ", name, " names tensor ", id, ", but the graph has ", graph.tensors.size());
    }
  }
}

void check_present(const std::string& name, std::initializer_list<TensorId> ids) {
  if (std::find(ids.begin(), ids.end(), absent) != ids.end()) {
    fail("cuDNN operation ", name, " lacks an operand that it needs");
  }
}

void check_lengths(const OperationGraph& graph, const std::string& name, TensorId tensor,
                   std::initializer_list<const Dims*> attributes) {
  const std::size_t spatial = graph.tensors[static_cast<std::size_t>(tensor)].dims.size() - 2;
  for (const Dims* attribute : attributes) {
    if (attribute->size() != spatial) {
      fail("cuDNN operation ", name, " has an attribute of length ", attribute->size(), " for ", spatial,
           " spatial axes");
    }
  }
}

void check_operands(const OperationGraph& graph, const Operation& operation) {
  const std::string name = name_of(operation);
  const auto check_window = [&](const PoolingWindow& w, TensorId tensor) {
    check_lengths(graph, name, tensor, {&w.window, &w.pads_begin, &w.pads_end, &w.strides});
  };
  std::visit(
      Overloaded{
          [&](const Convolution& o) {
            check_present(name, {o.image, o.filter, o.response});
            check_lengths(graph, name, o.image, {&o.pads_begin, &o.pads_end, &o.strides, &o.dilations});
          },
          [&](const Pointwise& o) {
            const int count = operand_count(o.mode);
            check_present(name, {o.a, o.out, count > 1 ? o.b : o.a, count > 2 ? o.c : o.a});
          },
          [&](const Reduction& o) {
            check_present(name, {o.x, o.out});
          },
          [&](const MatrixProduct& o) {
            check_present(name, {o.a, o.b, o.out});
          },
          [&](const NormalizationForward& o) {
            const bool rms = o.kind == NormalizationKind::rms;
            check_present(name, {o.x, o.scale, rms ? o.x : o.bias, o.y, rms ? o.x : o.mean, o.inverse_deviation});
            const TensorId running[] = {o.running_mean, o.running_variance, o.next_running_mean,
                                        o.next_running_variance};
            const auto missing = std::count(std::begin(running), std::end(running), absent);
            if (missing != 0 && missing != 4)
              fail("cuDNN operation ", name, " has some of its running statistics only");
            if (missing == 0 && o.kind != NormalizationKind::batch) {
              fail("cuDNN operation ", name, " cannot have running statistics");
            }
          },
          [&](const NormalizationBackward& o) {
            const bool rms = o.kind == NormalizationKind::rms;
            check_present(name, {o.x, o.y_gradient, o.scale, rms ? o.x : o.mean, o.inverse_deviation, o.x_gradient,
                                 o.scale_gradient, rms ? o.x : o.bias_gradient});
          },
          [&](const PoolingForward& o) {
            check_present(name, {o.x, o.y});
            check_window(o.window, o.x);
          },
          [&](const PoolingBackward& o) {
            check_present(name, {o.y_gradient, o.x_gradient});
            if ((o.window.mode == PoolingMode::maximum) != (o.index != absent)) {
              fail("cuDNN operation ", name, " needs an index for a maximum, and takes none for a mean");
            }
            check_window(o.window, o.x_gradient);
          },
          [&](const AttentionForward& o) {
            check_present(name, {o.query, o.key, o.value, o.output});
          },
          [&](const AttentionBackward& o) {
            check_present(name, {o.query, o.key, o.value, o.output, o.output_gradient, o.statistics, o.query_gradient,
                                 o.key_gradient, o.value_gradient});
          },
      },
      operation);
}

void check_tensor(const TensorDescription& tensor, std::size_t id) {
  if (tensor.dims.empty() || tensor.dims.size() != tensor.strides.size()) {
    fail("tensor ", id, " of a cuDNN operation graph has extents ", to_string(tensor.dims), " and strides ",
         to_string(tensor.strides));
  }
  if (std::any_of(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t extent) { return extent < 1; })) {
    fail("tensor ", id, " of a cuDNN operation graph has extents ", to_string(tensor.dims), "; all must be positive");
  }
  if (tensor.value && (tensor.is_virtual || element_count(tensor.dims) != 1)) {
    fail("tensor ", id, " of a cuDNN operation graph is a number by value, but is virtual or not a single element");
  }
}

}  // namespace

Dims channels_last_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  if (dims.size() < 2) return strides;
  std::int64_t step = dims[1];
  for (std::size_t axis = dims.size() - 1; axis >= 2; --axis) {
    strides[axis] = step;
    step *= dims[axis];
  }
  strides[0] = step;
  return strides;
}

TensorId OperationGraph::add(TensorDescription tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
}

TensorId OperationGraph::add_row_major(DataType type, Dims dims) {
  Dims strides = row_major_strides(dims);
  return add({type, std::move(dims), std::move(strides), false, {}});
}

TensorId OperationGraph::add_channels_last(DataType type, Dims dims) {
  Dims strides = channels_last_strides(dims);
  return add({type, std::move(dims), std::move(strides), false, {}});
}

TensorId OperationGraph::add_virtual_like(TensorId tensor) { return add_virtual_like(tensor, compute_type); }

TensorId OperationGraph::add_virtual_like(TensorId tensor, DataType type) {
  TensorDescription copy = tensors.at(static_cast<std::size_t>(tensor));
  copy.type = type;
  copy.is_virtual = true;
  copy.value.reset();
  return add(std::move(copy));
}

TensorId OperationGraph::add_scalar(DataType type, double value, std::size_t rank) {
  return add({type, Dims(rank, 1), Dims(rank, 1), false, value});
}

void OperationGraph::add(Operation operation) { operations.push_back(std::move(operation)); }

std::string OperationGraph::key() const {
  std::string result =
      text("compute ", ort_train::name_of(compute_type), " tf32 ", allow_tf32, " deterministic ", deterministic);
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    const TensorDescription& tensor = tensors[id];
    result +=
        text("; t", id, " ", ort_train::name_of(tensor.type), to_string(tensor.dims), "/", to_string(tensor.strides));
    if (tensor.is_virtual) result += " virtual";
    if (tensor.value) result += text(" = ", std::setprecision(17), *tensor.value);
  }
  for (const Operation& operation : operations) {
    result += text("; ", cudnn::name_of(operation), text_of(inputs_of(operation)), " ->",
                   text_of(outputs_of(operation)), attributes_of(operation));
  }
  return result;
}

void OperationGraph::check() const {
  if (operations.empty()) fail("a cuDNN operation graph has no operation");
  for (std::size_t id = 0; id < tensors.size(); ++id) check_tensor(tensors[id], id);
  std::set<TensorId> made;
  for (const Operation& operation : operations) {
    const std::string name = cudnn::name_of(operation);
    check_ids(*this, name, inputs_of(operation));
    check_ids(*this, name, outputs_of(operation));
    check_operands(*this, operation);
    for (TensorId id : inputs_of(operation)) {
      if (id != absent && tensors[static_cast<std::size_t>(id)].is_virtual && made.count(id) == 0) {
        fail("cuDNN operation ", name, " reads the virtual tensor ", id, ", which no earlier operation makes");
      }
    }
    for (TensorId id : outputs_of(operation)) {
      if (id != absent && !made.insert(id).second) fail("two cuDNN operations make tensor ", id);
    }
  }
}

std::vector<TensorId> inputs_of(const Operation& operation) {
  using Ids = std::vector<TensorId>;
  return std::visit(Overloaded{
                        [](const Convolution& o) {
                          switch (o.pass) {
                            case ConvolutionPass::forward: return Ids{o.image, o.filter};
                            case ConvolutionPass::data_gradient: return Ids{o.response, o.filter};
                            default: return Ids{o.response, o.image};
                          }
                        },
                        [](const Pointwise& o) {
                          return Ids{o.a, o.b, o.c};
                        },
                        [](const Reduction& o) { return Ids{o.x}; },
                        [](const MatrixProduct& o) {
                          return Ids{o.a, o.b};
                        },
                        [](const NormalizationForward& o) {
                          return Ids{o.x, o.scale, o.bias, o.running_mean, o.running_variance};
                        },
                        [](const NormalizationBackward& o) {
                          return Ids{o.x, o.y_gradient, o.scale, o.mean, o.inverse_deviation};
                        },
                        [](const PoolingForward& o) { return Ids{o.x}; },
                        [](const PoolingBackward& o) {
                          return Ids{o.y_gradient, o.index};
                        },
                        [](const AttentionForward& o) {
                          return Ids{o.query, o.key, o.value, o.bias};
                        },
                        [](const AttentionBackward& o) {
                          return Ids{o.query, o.key, o.value, o.bias, o.output, o.output_gradient, o.statistics};
                        },
                    },
                    operation);
}

std::vector<TensorId> outputs_of(const Operation& operation) {
  using Ids = std::vector<TensorId>;
  return std::visit(Overloaded{
                        [](const Convolution& o) {
                          switch (o.pass) {
                            case ConvolutionPass::forward: return Ids{o.response};
                            case ConvolutionPass::data_gradient: return Ids{o.image};
                            default: return Ids{o.filter};
                          }
                        },
                        [](const Pointwise& o) { return Ids{o.out}; },
                        [](const Reduction& o) { return Ids{o.out}; },
                        [](const MatrixProduct& o) { return Ids{o.out}; },
                        [](const NormalizationForward& o) {
                          return Ids{o.y, o.mean, o.inverse_deviation, o.next_running_mean, o.next_running_variance};
                        },
                        [](const NormalizationBackward& o) {
                          return Ids{o.x_gradient, o.scale_gradient, o.bias_gradient};
                        },
                        [](const PoolingForward& o) {
                          return Ids{o.y, o.index};
                        },
                        [](const PoolingBackward& o) { return Ids{o.x_gradient}; },
                        [](const AttentionForward& o) {
                          return Ids{o.output, o.statistics};
                        },
                        [](const AttentionBackward& o) {
                          return Ids{o.query_gradient, o.key_gradient, o.value_gradient};
                        },
                    },
                    operation);
}

std::string name_of(const Operation& operation) {
  return std::visit(Overloaded{
                        [](const Convolution& o) { return text("convolution_", name_of(o.pass)); },
                        [](const Pointwise& o) { return text("pointwise_", name_of(o.mode)); },
                        [](const Reduction& o) { return text("reduction_", name_of(o.mode)); },
                        [](const MatrixProduct&) { return std::string("matrix_product"); },
                        [](const NormalizationForward& o) { return text("normalization_forward_", name_of(o.kind)); },
                        [](const NormalizationBackward& o) { return text("normalization_backward_", name_of(o.kind)); },
                        [](const PoolingForward& o) { return text("pooling_forward_", name_of(o.window.mode)); },
                        [](const PoolingBackward& o) { return text("pooling_backward_", name_of(o.window.mode)); },
                        [](const AttentionForward&) { return std::string("attention_forward"); },
                        [](const AttentionBackward&) { return std::string("attention_backward"); },
                    },
                    operation);
}

}  // namespace ort_train::runtime::cuda::cudnn
