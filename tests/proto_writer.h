#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ort_train::test {

/// Bytes of a protobuf message, field by field: what an exporter, or a damaged disk, might write and our own exporter
/// never does. Field numbers are those of onnx.proto.
class Proto {
 public:
  Proto& integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Proto& bytes(int field, const std::string& content) {
    key(field, 2);
    varint(content.size());
    out_ += content;
    return *this;
  }
  Proto& message(int field, const Proto& content) { return bytes(field, content.out_); }
  Proto& real(int field, float value) {
    key(field, 5);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  void key(int field, int wire_type) { varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

/// The elements of an array as raw bytes.
template <typename T>
std::string raw(const std::vector<T>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

/// A TensorProto without elements.
inline Proto tensor_proto(const std::string& name, int data_type, const std::vector<std::int64_t>& dims) {
  Proto tensor;
  for (const std::int64_t extent : dims) tensor.integer(1, extent);
  return tensor.integer(2, data_type).bytes(8, name);
}

/// A TensorProto whose elements lie in another file; empty `offset` or `length` leaves the entry out.
inline Proto external_tensor(const std::string& name, const std::vector<std::int64_t>& dims, const std::string& file,
                             const std::string& offset = "", const std::string& length = "") {
  Proto tensor = tensor_proto(name, 1, dims);
  tensor.message(13, Proto().bytes(1, "location").bytes(2, file));
  if (!offset.empty()) tensor.message(13, Proto().bytes(1, "offset").bytes(2, offset));
  if (!length.empty()) tensor.message(13, Proto().bytes(1, "length").bytes(2, length));
  return tensor.integer(14, 1);
}

/// A ValueInfoProto of a tensor.
inline Proto value_info(const std::string& name, int data_type, const std::vector<std::int64_t>& dims) {
  Proto shape;
  for (const std::int64_t extent : dims) shape.message(1, Proto().integer(1, extent));
  const Proto type = Proto().message(1, Proto().integer(1, data_type).message(2, shape));
  return Proto().bytes(1, name).message(2, type);
}

inline Proto node_proto(const std::string& op_type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
  Proto node;
  for (const std::string& input : inputs) node.bytes(1, input);
  for (const std::string& output : outputs) node.bytes(2, output);
  return node.bytes(4, op_type);
}

/// A ModelProto: `graph` is the content of its GraphProto, name left out.
inline Proto model_proto(Proto graph, std::int64_t opset = 17, std::int64_t ir_version = 8) {
  graph.bytes(2, "g");
  return Proto().integer(1, ir_version).message(7, graph).message(8, Proto().bytes(1, "").integer(2, opset));
}

}  // namespace ort_train::test
