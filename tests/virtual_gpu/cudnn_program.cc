#include "tests/virtual_gpu/cudnn_program.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace virtual_gpu {
namespace {

using Record = std::shared_ptr<CudnnRecord>;

class Translation {
 public:
  explicit Translation(const CudnnRecord& graph) {
    const auto found = graph.attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    if (found == graph.attributes.end()) throw std::runtime_error("an operation graph without operations");
    program_.name = "cudnn";
    for (const Record& operation : found->second.records) {
      if (!operation) throw std::runtime_error("an operation that was not recorded");
      node(*operation);
    }
    sort();
    program_.double_precision = std::any_of(program_.tensors.begin(), program_.tensors.end(),
                                            [](const auto& tensor) { return tensor.type == CUDNN_DATA_DOUBLE; });
  }

  CudnnProgram take() { return std::move(program_); }

 private:
  int tensor(const CudnnRecord& record) {
    const auto uid = record.get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, -1);
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      if (program_.tensors[i].uid == uid) return static_cast<int>(i);
    }
    CudnnTensor made;
    made.uid = uid;
    made.type = record.get(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
    made.dims = record.list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    made.strides = record.list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    made.is_virtual = record.get(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
    made.by_value = record.get(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false);
    program_.tensors.push_back(std::move(made));
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  void input(const CudnnRecord& operation, Role role, int attribute) {
    if (const Record record = operation.descriptor(attribute)) node_.inputs[role] = tensor(*record);
  }
  void output(const CudnnRecord& operation, Role role, int attribute) {
    if (const Record record = operation.descriptor(attribute)) node_.outputs[role] = tensor(*record);
  }

  static const CudnnRecord& part(const CudnnRecord& operation, int attribute, Record& keep) {
    keep = operation.descriptor(attribute);
    if (!keep) throw std::runtime_error("an operation without its description");
    return *keep;
  }

  void node(const CudnnRecord& o) {
    node_ = CudnnNode{};
    node_.type = o.type;
    switch (o.type) {
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        begin(" convolution");
        input(o, Role::x, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
        input(o, Role::w, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
        output(o, Role::y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
        convolution(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
        require_plain(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
        break;
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        begin(" convolution data gradient");
        input(o, Role::dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
        input(o, Role::w, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
        output(o, Role::dx, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
        convolution(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
        require_plain(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
        break;
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        begin(" convolution filter gradient");
        input(o, Role::dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
        input(o, Role::x, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
        output(o, Role::dw, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
        convolution(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
        require_plain(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
        break;
      case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: pointwise(o); break;
      case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: {
        begin(" reduction");
        Record keep;
        node_.mode = part(o, CUDNN_ATTR_OPERATION_REDUCTION_DESC, keep).get<int>(CUDNN_ATTR_REDUCTION_OPERATOR, -1);
        input(o, Role::x, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
        output(o, Role::y, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
        break;
      }
      case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
        begin(" matrix product");
        input(o, Role::a, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
        input(o, Role::b, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
        output(o, Role::out, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
        break;
      case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
        begin(" reshape");
        input(o, Role::x, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
        output(o, Role::y, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
        break;
      case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: normalization_forward(o); break;
      case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR: normalization_backward(o); break;
      case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
        begin(" pooling");
        input(o, Role::x, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC);
        output(o, Role::y, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC);
        output(o, Role::index, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC);
        resample(o, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC);
        break;
      case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
        begin(" pooling gradient");
        input(o, Role::dy, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC);
        input(o, Role::index, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC);
        output(o, Role::dx, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC);
        resample(o, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC);
        break;
      default:
        throw std::runtime_error("operation type " + std::to_string(static_cast<int>(o.type)) +
                                 " is not computed on virtual GPUs");
    }
    program_.nodes.push_back(node_);
  }

  void begin(const char* name) { program_.name += name; }

  static void require_plain(const CudnnRecord& o, int alpha, int beta) {
    if (o.number(alpha, 1) != 1 || o.number(beta, 0) != 0) {
      throw std::runtime_error("a convolution with alpha or beta is not computed on virtual GPUs");
    }
  }

  void convolution(const CudnnRecord& o, int attribute) {
    Record keep;
    const CudnnRecord& d = part(o, attribute, keep);
    node_.pads_begin = d.list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    node_.pads_end = d.list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    node_.strides = d.list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    node_.dilations = d.list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    if (d.get(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) != CUDNN_CROSS_CORRELATION) {
      throw std::runtime_error("a convolution with flipped filters is not computed on virtual GPUs");
    }
  }

  void pointwise(const CudnnRecord& o) {
    Record keep;
    const CudnnRecord& d = part(o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, keep);
    node_.mode = d.get<int>(CUDNN_ATTR_POINTWISE_MODE, -1);
    begin(" pointwise");
    // A gradient takes dy and x, any other operation x, b and t.
    if (o.has(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC)) {
      input(o, Role::a, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC);
      input(o, Role::b, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
      output(o, Role::out, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC);
    } else {
      input(o, Role::a, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
      input(o, Role::b, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      input(o, Role::c, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
      output(o, Role::out, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    }
    node_.alpha1 = o.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
    node_.alpha2 = o.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    node_.lower = d.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
    node_.upper = d.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, std::numeric_limits<double>::infinity());
    node_.lower_slope = d.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
    node_.axis = d.get<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1);
    for (const int name :
         {CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, CUDNN_ATTR_POINTWISE_SWISH_BETA}) {
      const bool mine = (name == CUDNN_ATTR_POINTWISE_ELU_ALPHA &&
                         (node_.mode == CUDNN_POINTWISE_ELU_FWD || node_.mode == CUDNN_POINTWISE_ELU_BWD)) ||
                        (name == CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA &&
                         (node_.mode == CUDNN_POINTWISE_SOFTPLUS_FWD || node_.mode == CUDNN_POINTWISE_SOFTPLUS_BWD)) ||
                        (name == CUDNN_ATTR_POINTWISE_SWISH_BETA &&
                         (node_.mode == CUDNN_POINTWISE_SWISH_FWD || node_.mode == CUDNN_POINTWISE_SWISH_BWD));
      if (mine) node_.parameter = d.number(name, 1);
    }
  }

  void normalization_forward(const CudnnRecord& o) {
    begin(" normalization");
    node_.mode = o.get<int>(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, -1);
    if (o.get(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING) != CUDNN_NORM_FWD_TRAINING) {
      throw std::runtime_error("a normalization in inference is not computed on virtual GPUs; cuDNN has no engine");
    }
    input(o, Role::x, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
    input(o, Role::scale, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
    input(o, Role::bias, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
    input(o, Role::epsilon, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
    input(o, Role::momentum, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC);
    input(o, Role::running_mean, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC);
    input(o, Role::running_variance, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC);
    output(o, Role::y, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
    output(o, Role::mean, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC);
    output(o, Role::inverse_deviation, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    output(o, Role::next_running_mean, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC);
    output(o, Role::next_running_variance, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC);
  }

  void normalization_backward(const CudnnRecord& o) {
    begin(" normalization gradient");
    node_.mode = o.get<int>(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, -1);
    input(o, Role::x, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC);
    input(o, Role::dy, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC);
    input(o, Role::scale, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC);
    input(o, Role::mean, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC);
    input(o, Role::inverse_deviation, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC);
    output(o, Role::dx, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC);
    output(o, Role::dscale, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC);
    output(o, Role::dbias, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC);
  }

  void resample(const CudnnRecord& o, int attribute) {
    Record keep;
    const CudnnRecord& d = part(o, attribute, keep);
    node_.mode = d.get<int>(CUDNN_ATTR_RESAMPLE_MODE, -1);
    const auto whole = [&](int name) {
      Extents result;
      for (const cudnnFraction_t& fraction : d.list<cudnnFraction_t>(name)) {
        if (fraction.denominator != 1) throw std::runtime_error("a fraction in a resample is not computed here");
        result.push_back(fraction.numerator);
      }
      return result;
    };
    node_.window = whole(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS);
    node_.pads_begin = whole(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS);
    node_.pads_end = whole(CUDNN_ATTR_RESAMPLE_POST_PADDINGS);
    node_.strides = whole(CUDNN_ATTR_RESAMPLE_STRIDES);
  }

  /// cudnn-frontend hands over operations in an order of its own.
  void sort() {
    std::vector<CudnnNode> sorted;
    std::vector<bool> made(program_.tensors.size(), true);
    for (const CudnnNode& node : program_.nodes) {
      for (const auto& [role, id] : node.outputs) made[static_cast<std::size_t>(id)] = false;
    }
    std::vector<bool> done(program_.nodes.size(), false);
    while (sorted.size() < program_.nodes.size()) {
      const std::size_t before = sorted.size();
      for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
        const CudnnNode& node = program_.nodes[i];
        const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(),
                                       [&](const auto& input) { return made[static_cast<std::size_t>(input.second)]; });
        if (done[i] || !ready) continue;
        done[i] = true;
        sorted.push_back(node);
        for (const auto& [role, id] : node.outputs) made[static_cast<std::size_t>(id)] = true;
      }
      if (sorted.size() == before) throw std::runtime_error("a cycle in an operation graph");
    }
    program_.nodes = std::move(sorted);
  }

  CudnnProgram program_;
  CudnnNode node_;
};

}  // namespace

std::int64_t CudnnTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) count *= extent;
  return count;
}

std::int64_t CudnnTensor::span() const {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) last += (dims[axis] - 1) * strides[axis];
  return last + 1;
}

int CudnnNode::input(Role role) const {
  const auto found = inputs.find(role);
  if (found == inputs.end()) throw std::runtime_error("an operation lacks an input");
  return found->second;
}

int CudnnNode::output(Role role) const {
  const auto found = outputs.find(role);
  if (found == outputs.end()) throw std::runtime_error("an operation lacks an output");
  return found->second;
}

bool CudnnProgram::is_written(int tensor) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const CudnnNode& node) {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](const auto& output) { return output.second == tensor; });
  });
}

std::shared_ptr<const CudnnProgram> translate(const CudnnRecord& operation_graph) {
  return std::make_shared<const CudnnProgram>(Translation(operation_graph).take());
}

}  // namespace virtual_gpu
