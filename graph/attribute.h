#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor.h"

namespace ort_train::graph {

/// A part of a node that the IR carries through unchanged: a subgraph, sparse tensor or type, as serialized protobuf.
struct OpaqueAttribute {
  std::string serialized;  ///< an onnx.AttributeProto
  bool operator==(const OpaqueAttribute&) const = default;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, OpaqueAttribute>;

/// By name; ordered, so that two runs write the same bytes.
using Attributes = std::map<std::string, Attribute>;

}  // namespace ort_train::graph
