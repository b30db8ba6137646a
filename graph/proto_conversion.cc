#include "graph/proto_conversion.h"

#include <bit>
#include <cstring>
#include <fstream>

#include "base/dispatch.h"
#include "base/error.h"

namespace ort_train::graph {

static_assert(std::endian::native == std::endian::little, "ONNX stores raw data little endian");

namespace {

struct ExternalLocation {
  std::string file;
  std::int64_t offset = 0;
  std::int64_t length = -1;
};

ExternalLocation external_location(const onnx::TensorProto& proto, const std::string& origin) {
  ExternalLocation where;
  for (const auto& entry : proto.external_data()) {
    try {
      if (entry.key() == "location") where.file = entry.value();
      if (entry.key() == "offset") where.offset = std::stoll(entry.value());
      if (entry.key() == "length") where.length = std::stoll(entry.value());
    } catch (const std::logic_error&) {
      fail(origin, ": the external data of '", proto.name(), "' has the unreadable ", entry.key(), " '", entry.value(),
           "'");
    }
  }
  return where;
}

void check_below(const std::string& file, const std::string& tensor, const std::string& origin) {
  const std::filesystem::path path(file);
  bool climbs = file.empty() || path.is_absolute();
  for (const auto& part : path) climbs = climbs || part == "..";
  if (climbs) fail(origin, ": the external data of '", tensor, "' points outside the model's folder: '", file, "'");
}

/// The bytes that a tensor takes; refused before memory is asked for, since a damaged file may say anything.
std::int64_t byte_count(const onnx::TensorProto& proto, DataType dtype, const Dims& dims, const std::string& origin) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  bool impossible = false;
  for (const std::int64_t extent : dims) impossible = impossible || __builtin_mul_overflow(bytes, extent, &bytes);
  if (impossible) fail(origin, ": '", proto.name(), "' has the impossible shape ", to_string(dims));
  return bytes;
}

Tensor read_external(const onnx::TensorProto& proto, DataType dtype, const Dims& dims,
                     const std::filesystem::path& folder, const std::string& origin) {
  const ExternalLocation where = external_location(proto, origin);
  check_below(where.file, proto.name(), origin);
  const std::filesystem::path path = folder / where.file;
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream || std::filesystem::is_directory(path)) {
    fail(origin, ": the elements of '", proto.name(), "' lie in ", path.string(),
         ", which cannot be read; copy that file beside the model");
  }
  const std::int64_t bytes = byte_count(proto, dtype, dims, origin);
  if (where.length >= 0 && where.length != bytes) {
    fail(origin, ": '", proto.name(), "' needs ", bytes, " bytes of external data, but ", where.length, " are stored");
  }
  const auto available = static_cast<std::int64_t>(stream.tellg());
  if (where.offset < 0 || where.offset > available || bytes > available - where.offset) {
    fail(origin, ": ", path.string(), " ends before the elements of '", proto.name(), "' do; the file is incomplete");
  }
  Tensor tensor(dtype, dims);
  stream.seekg(where.offset);
  stream.read(reinterpret_cast<char*>(tensor.raw()), bytes);
  if (!stream) fail(origin, ": ", path.string(), " cannot be read");
  return tensor;
}

// ONNX packs the small types, bits of 16-bit floats included, into int32_data.
template <typename Field>
Tensor read_field(const Field& field, DataType dtype, const Dims& dims, const onnx::TensorProto& proto,
                  const std::string& origin) {
  const auto element_size = static_cast<std::int64_t>(size_of(dtype));
  if (field.size() != byte_count(proto, dtype, dims, origin) / element_size) {
    fail(origin, ": '", proto.name(), "' of shape ", to_string(dims), " stores ", field.size(), " elements");
  }
  Tensor tensor(dtype, dims);
  dispatch(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = tensor.data<T>();
    for (int i = 0; i < field.size(); ++i) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        out[i].bits = static_cast<std::uint16_t>(field[i]);
      } else {
        out[i] = static_cast<T>(field[i]);
      }
    }
  });
  return tensor;
}

Tensor read_raw(const onnx::TensorProto& proto, DataType dtype, const Dims& dims, const std::string& origin) {
  const std::int64_t bytes = byte_count(proto, dtype, dims, origin);
  if (static_cast<std::int64_t>(proto.raw_data().size()) != bytes) {
    fail(origin, ": '", proto.name(), "' needs ", bytes, " bytes but stores ", proto.raw_data().size());
  }
  Tensor tensor(dtype, dims);
  std::memcpy(tensor.raw(), proto.raw_data().data(), proto.raw_data().size());
  return tensor;
}

Tensor read_fields(const onnx::TensorProto& proto, DataType dtype, const Dims& dims, const std::string& origin) {
  switch (dtype) {
    case DataType::float32: return read_field(proto.float_data(), dtype, dims, proto, origin);
    case DataType::float64: return read_field(proto.double_data(), dtype, dims, proto, origin);
    case DataType::int64: return read_field(proto.int64_data(), dtype, dims, proto, origin);
    case DataType::uint32:
    case DataType::uint64: return read_field(proto.uint64_data(), dtype, dims, proto, origin);
    default: return read_field(proto.int32_data(), dtype, dims, proto, origin);
  }
}

Tensor read_strings(const onnx::TensorProto& proto, const Dims& dims, const std::string& origin) {
  std::int64_t size = 1;
  bool impossible = false;
  for (const std::int64_t extent : dims) impossible = impossible || __builtin_mul_overflow(size, extent, &size);
  if (impossible || proto.string_data_size() != size) fail(origin, ": '", proto.name(), "' lacks some of its strings");
  Tensor tensor(DataType::string, dims);
  for (int i = 0; i < proto.string_data_size(); ++i) tensor.strings()[i] = proto.string_data(i);
  return tensor;
}

std::string element_type_name(int onnx_type) {
  return onnx::TensorProto::DataType_IsValid(onnx_type)
             ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(onnx_type))
             : "number " + std::to_string(onnx_type);
}

}  // namespace

DataType to_data_type(int onnx_type, const std::string& where) {
  switch (onnx_type) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 16: return static_cast<DataType>(onnx_type);
    default: fail(where, ": elements of type ", element_type_name(onnx_type), " are not supported");
  }
}

onnx::TypeProto to_proto(const Type& type) {
  onnx::TypeProto proto;
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type.dtype));
  if (!type.shape) return proto;
  auto* shape = tensor->mutable_shape();
  for (const Dimension& extent : *type.shape) {
    auto* dim = shape->add_dim();
    if (extent.is_known()) dim->set_dim_value(extent.value());
    if (extent.is_symbol()) dim->set_dim_param(extent.symbol());
  }
  return proto;
}

Type to_type(const onnx::TypeProto& proto, const std::string& value) {
  if (proto.value_case() == onnx::TypeProto::VALUE_NOT_SET) return {};
  if (!proto.has_tensor_type()) fail("'", value, "' is no tensor; sequences, maps and optionals are not supported");
  Type type(to_data_type(proto.tensor_type().elem_type(), "'" + value + "'"));
  if (!proto.tensor_type().has_shape()) return type;
  type.shape.emplace();
  for (const auto& dim : proto.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) {
      type.shape->emplace_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      type.shape->emplace_back(dim.dim_param());
    } else {
      type.shape->emplace_back();
    }
  }
  return type;
}

Tensor to_tensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& origin) {
  Dims dims(proto.dims().begin(), proto.dims().end());
  for (const std::int64_t extent : dims) {
    if (extent < 0) fail(origin, ": '", proto.name(), "' has the shape ", to_string(dims));
  }
  const DataType dtype = to_data_type(proto.data_type(), origin + ": '" + proto.name() + "'");
  if (dtype == DataType::undefined) fail(origin, ": '", proto.name(), "' has no element type");
  if (dtype == DataType::string) return read_strings(proto, dims, origin);
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) return read_external(proto, dtype, dims, folder, origin);
  return proto.has_raw_data() ? read_raw(proto, dtype, dims, origin) : read_fields(proto, dtype, dims, origin);
}

onnx::TensorProto to_proto(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  if (!name.empty()) proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const std::int64_t extent : tensor.dims()) proto.add_dims(extent);
  if (tensor.dtype() == DataType::string) {
    for (const std::string& element : tensor.strings()) proto.add_string_data(element);
  } else {
    proto.set_raw_data(std::string(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()));
  }
  return proto;
}

onnx::AttributeProto to_proto(const std::string& name, const Attribute& attribute) {
  onnx::AttributeProto proto;
  proto.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* string = std::get_if<std::string>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*string);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INTS);
    proto.mutable_ints()->Add(integers->begin(), integers->end());
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    proto.mutable_floats()->Add(reals->begin(), reals->end());
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& element : *strings) proto.add_strings(element);
  } else if (const auto* tensor = std::get_if<Tensor>(&attribute)) {
    proto.set_type(onnx::AttributeProto::TENSOR);
    *proto.mutable_t() = to_proto(*tensor, "");
  } else {
    proto.ParseFromString(std::get<OpaqueAttribute>(attribute).serialized);
  }
  return proto;
}

Attribute to_attribute(const onnx::AttributeProto& proto, const std::filesystem::path& folder,
                       const std::string& origin) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: return proto.i();
    case onnx::AttributeProto::FLOAT: return proto.f();
    case onnx::AttributeProto::STRING: return proto.s();
    case onnx::AttributeProto::INTS: return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::FLOATS: return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::STRINGS: return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case onnx::AttributeProto::TENSOR: return to_tensor(proto.t(), folder, origin);
    default: return OpaqueAttribute{proto.SerializeAsString()};
  }
}

onnx::NodeProto to_proto(const Node& node) {
  onnx::NodeProto proto;
  proto.set_op_type(node.op_type());
  if (!node.domain().empty()) proto.set_domain(node.domain());
  if (!node.name().empty()) proto.set_name(node.name());
  for (const Value* input : node.inputs()) proto.add_input(input == nullptr ? "" : input->name());
  for (const Value* output : node.outputs()) proto.add_output(output == nullptr ? "" : output->name());
  for (const auto& [name, attribute] : node.attributes()) *proto.add_attribute() = to_proto(name, attribute);
  return proto;
}

}  // namespace ort_train::graph
