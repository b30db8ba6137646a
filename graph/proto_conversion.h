#pragma once

#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "onnx/onnx_pb.h"

// Between the IR and ONNX's protobuf messages. Internal to graph/: no public header includes this one.
namespace ort_train::graph {

/// Throws, with `where` in front, for the element types that DataType lacks.
DataType to_data_type(int onnx_type, const std::string& where);
onnx::TypeProto to_proto(const Type& type);
/// Shape and element type of a tensor type; throws, naming `value`, for sequences, maps and optionals.
Type to_type(const onnx::TypeProto& proto, const std::string& value);

/// Elements inline or, with `data_location` EXTERNAL, from a file below `folder`.
Tensor to_tensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& origin);
onnx::TensorProto to_proto(const Tensor& tensor, const std::string& name);

onnx::AttributeProto to_proto(const std::string& name, const Attribute& attribute);
Attribute to_attribute(const onnx::AttributeProto& proto, const std::filesystem::path& folder,
                       const std::string& origin);

onnx::NodeProto to_proto(const Node& node);

}  // namespace ort_train::graph
