#pragma once

// Part of frontend.cc only: the one operation of cuDNN that cudnn-frontend's graph lacks.

#include <cudnn_frontend.h>

#include <memory>
#include <string>
#include <vector>

namespace ort_train::runtime::cuda::cudnn {

/// What cudnn-frontend's base class of nodes asks of the attributes of one.
struct PoolingBackwardAttributes {
  using Tensor = std::shared_ptr<cudnn_frontend::graph::Tensor_attributes>;
  std::string name = "pooling_backward";
  Tensor y_gradient, index, x_gradient;
  cudnnResampleMode_t mode = CUDNN_RESAMPLE_MAXPOOL;
  cudnnDataType_t compute_type = CUDNN_DATA_FLOAT;
  std::vector<cudnnFraction_t> window, pads_begin, pads_end, strides;

  void fill_tensors(std::vector<Tensor>& tensors) const {
    for (const Tensor& tensor : {y_gradient, index, x_gradient}) tensors.push_back(tensor);
  }
  cudnn_frontend::error_t fill_pass_by_value(
      std::unordered_map<std::int64_t, cudnn_frontend::graph::Tensor_attributes::pass_by_values_t>&) const {
    return {cudnn_frontend::error_code_t::OK, ""};
  }
};

class PoolingBackwardNode : public cudnn_frontend::graph::NodeCRTP<PoolingBackwardNode> {
 public:
  PoolingBackwardNode(PoolingBackwardAttributes given, const cudnn_frontend::detail::Context& context)
      : NodeCRTP(context), attributes(std::move(given)) {}

  PoolingBackwardAttributes attributes;

  Type getType() override { return Type::RESAMPLE; }

  cudnn_frontend::error_t infer_properties_node() override { return {cudnn_frontend::error_code_t::OK, ""}; }

  cudnn_frontend::error_t create_cudnn_operations(
      std::unordered_set<std::int64_t>& uids, std::vector<std::shared_ptr<cudnn_frontend::Operation>>&,
      std::vector<cudnn_frontend::ManagedOpaqueDescriptor>& raw_operations,
      std::unordered_map<std::int64_t, std::shared_ptr<cudnn_frontend::Tensor>>& tensors) const override {
    const auto resample = cudnn_frontend::make_shared_backend_pointer(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
    const cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
    const cudnnPaddingMode_t padding = mode_is_maximum() ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD;
    const auto spatial = static_cast<std::int64_t>(attributes.window.size());
    Setter description(resample->get_backend_descriptor());
    description.set(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, 1, &attributes.mode);
    description.set(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &attributes.compute_type);
    description.set(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, &nan);
    description.set(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, 1, &padding);
    description.set(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &spatial);
    description.set(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_FRACTION, spatial, attributes.window.data());
    description.set(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_FRACTION, spatial, attributes.pads_begin.data());
    description.set(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_FRACTION, spatial, attributes.pads_end.data());
    description.set(CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_FRACTION, spatial, attributes.strides.data());
    description.finalize();

    const auto operation = cudnn_frontend::make_shared_backend_pointer(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
    Setter gradient(operation->get_backend_descriptor());
    const auto set_tensor = [&](cudnnBackendAttributeName_t name, const PoolingBackwardAttributes::Tensor& tensor) {
      if (!tensor) return;
      const cudnnBackendDescriptor_t descriptor = tensors.at(tensor->get_uid())->get_raw_desc();
      gradient.set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
      if (!tensor->get_is_virtual()) uids.insert(tensor->get_uid());
    };
    set_tensor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, attributes.x_gradient);
    set_tensor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, attributes.y_gradient);
    set_tensor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, attributes.index);
    const cudnnBackendDescriptor_t resample_descriptor = resample->get_backend_descriptor();
    gradient.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &resample_descriptor);
    const double alpha = 1, beta = 0;
    gradient.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, CUDNN_TYPE_DOUBLE, 1, &alpha);
    gradient.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, CUDNN_TYPE_DOUBLE, 1, &beta);
    if (description.status == CUDNN_STATUS_SUCCESS) gradient.finalize();
    raw_operations.push_back(operation);
    for (const Setter& setter : {description, gradient}) {
      if (setter.status != CUDNN_STATUS_SUCCESS) {
        return {cudnn_frontend::error_code_t::CUDNN_BACKEND_API_FAILED,
                std::string("the gradient of a pooling: ") + cudnnGetErrorString(setter.status)};
      }
    }
    return {cudnn_frontend::error_code_t::OK, ""};
  }

  void serialize(nlohmann::json& json) const override {
    json["tag"] = "POOLING_BACKWARD";
    json["name"] = attributes.name;
    json["inputs"] = nlohmann::json::object();
    json["outputs"] = nlohmann::json::object();
  }

 private:
  /// Sets attributes until the first failure and keeps its status.
  struct Setter {
    explicit Setter(cudnnBackendDescriptor_t d) : descriptor(d) {}
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* data) {
      if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendSetAttribute(descriptor, name, type, count, data);
    }
    void finalize() {
      if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(descriptor);
    }
    cudnnBackendDescriptor_t descriptor;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  };

  bool mode_is_maximum() const { return attributes.mode == CUDNN_RESAMPLE_MAXPOOL; }
};

/// A graph to which that node can be added.
class FrontendGraph : public cudnn_frontend::graph::Graph {
 public:
  void add_pooling_backward(PoolingBackwardAttributes attributes) {
    full_graph_outputs.insert(attributes.x_gradient);
    sub_nodes.emplace_back(std::make_shared<PoolingBackwardNode>(std::move(attributes), context));
  }
};

}  // namespace ort_train::runtime::cuda::cudnn
