#include "graph/onnx_io.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "graph/proto_conversion.h"
#include "graph/shape_inference.h"
#include "graph/training_schemas.h"
#include "onnx/checker.h"
#include "onnx/defs/parser.h"
#include "onnx/defs/printer.h"
#include "onnx/defs/schema.h"
#include "onnx/inliner/inliner.h"

namespace ort_train::graph {

namespace {

constexpr int newest_ir_version = 14;

// What protobuf can read and write.
constexpr std::size_t largest_file = 2147483647;

// --- import

onnx::ModelProto parse_proto(const std::string& bytes, const std::string& origin) {
  onnx::ModelProto model;
  if (bytes.empty()) fail(origin, ": the file is empty");
  if (bytes.size() > largest_file) {
    fail(origin, ": it is larger than 2 GiB, more than one ONNX file can hold; export the weights as external data");
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  const bool whole = model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  if (!whole || (model.ir_version() == 0 && !model.has_graph())) {
    fail(origin, ": this is no ONNX model, or it is truncated");
  }
  if (!model.has_graph()) fail(origin, ": the model has no graph");
  return model;
}

void check_versions(const onnx::ModelProto& model, const std::string& origin) {
  if (model.ir_version() > newest_ir_version) {
    fail(origin, ": it has IR version ", model.ir_version(), "; the newest one known here is ", newest_ir_version,
         ". Export it again for an older one");
  }
  if (model.ir_version() >= 3 && model.opset_import_size() == 0) {
    fail(origin, ": it names no opset; the file is damaged or truncated");
  }
  const auto& newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto& import : model.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    const auto known = newest.find(domain);
    if (known != newest.end() && import.version() > known->second.second) {
      fail(origin, ": it uses opset ", import.version(), " of ", domain.empty() ? "ai.onnx" : domain,
           "; the newest one known here is ", known->second.second, ". Export it again with an older opset");
    }
  }
}

/// The graph with inputs in place of the tensors that lie in other files. Those are checked on reading: the checker's
/// own words on a missing file do not say what to do.
onnx::GraphProto without_external_data(const onnx::GraphProto& graph) {
  onnx::GraphProto copy = graph;
  copy.clear_initializer();
  for (const auto& tensor : graph.initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
      *copy.add_initializer() = tensor;
      continue;
    }
    const auto names_tensor = [&](const auto& input) { return input.name() == tensor.name(); };
    if (std::any_of(copy.input().begin(), copy.input().end(), names_tensor)) continue;
    auto* input = copy.add_input();
    input->set_name(tensor.name());
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape();
    for (const std::int64_t extent : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return copy;
}

bool has_external_data(const onnx::GraphProto& graph) {
  return std::any_of(graph.initializer().begin(), graph.initializer().end(),
                     [](const auto& tensor) { return tensor.data_location() == onnx::TensorProto::EXTERNAL; });
}

void check_proto(const onnx::ModelProto& model, const std::filesystem::path& folder, const std::string& origin) {
  try {
    onnx::checker::CheckerContext context;
    context.set_ir_version(static_cast<int>(model.ir_version()));
    context.set_model_dir(folder.string());
    std::unordered_map<std::string, int> imports;
    for (const auto& import : model.opset_import()) {
      imports[import.domain() == "ai.onnx" ? "" : import.domain()] = static_cast<int>(import.version());
    }
    context.set_opset_imports(imports);
    // A domain that nobody registered is the preflight's to report, all at once with the other operators.
    context.set_skip_opset_compatibility_check(true);
    onnx::checker::LexicalScopeContext scope;
    if (has_external_data(model.graph())) {
      onnx::checker::check_graph(without_external_data(model.graph()), context, scope);
    } else {
      onnx::checker::check_graph(model.graph(), context, scope);
    }
  } catch (const std::exception& error) {
    fail(origin, ": the ONNX checker refuses the model: ", error.what());
  }
}

class Importer {
 public:
  Importer(const onnx::ModelProto& model, std::filesystem::path folder, std::string origin)
      : model_(model), folder_(std::move(folder)), origin_(std::move(origin)), graph_(std::make_unique<Graph>()) {}

  std::unique_ptr<Graph> run() {
    import_metadata();
    import_initializers();
    import_inputs();
    for (const auto& node : model_.graph().node()) import_node(node);
    apply_value_info();
    for (const auto& output : model_.graph().output()) import_output(output);
    import_training_info();
    return std::move(graph_);
  }

 private:
  void import_metadata() {
    graph_->name = model_.graph().name().empty() ? "graph" : model_.graph().name();
    Metadata& metadata = graph_->metadata;
    metadata.ir_version = model_.ir_version();
    metadata.producer_name = model_.producer_name();
    metadata.producer_version = model_.producer_version();
    metadata.domain = model_.domain();
    metadata.documentation = model_.doc_string();
    metadata.model_version = model_.model_version();
    for (const auto& entry : model_.metadata_props()) metadata.properties[entry.key()] = entry.value();
    for (const auto& import : model_.opset_import()) {
      graph_->opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    }
    // IR version 3 and older have no opset of the default domain to fall back on.
    graph_->opsets.emplace("", 1);
  }

  void import_initializers() {
    for (const auto& proto : model_.graph().initializer()) {
      Tensor elements = to_tensor(proto, folder_, origin_);
      const Role role = is_floating_point(elements.dtype()) ? Role::parameter : Role::constant;
      graph_->add_initializer(proto.name(), role, std::move(elements));
    }
    if (model_.graph().sparse_initializer_size() != 0) fail(origin_, ": sparse initializers are not supported");
  }

  // Before IR version 4 every initializer is listed among the inputs too; it is no input that anyone feeds.
  void import_inputs() {
    for (const auto& input : model_.graph().input()) {
      if (graph_->find(input.name()) == nullptr) graph_->add_input(input.name(), to_type(input.type(), input.name()));
    }
  }

  void import_node(const onnx::NodeProto& proto) {
    std::vector<Value*> inputs;
    for (const std::string& name : proto.input()) inputs.push_back(name.empty() ? nullptr : known(name, proto));
    Attributes attributes;
    for (const auto& attribute : proto.attribute()) {
      attributes[attribute.name()] = to_attribute(attribute, folder_, origin_);
    }
    const std::vector<std::string> outputs(proto.output().begin(), proto.output().end());
    graph_->add_node(proto.op_type(), proto.domain(), inputs, outputs, std::move(attributes), proto.name());
  }

  Value* known(const std::string& name, const onnx::NodeProto& node) const {
    Value* value = graph_->find(name);
    if (value == nullptr) {
      fail(origin_, ": ", node.op_type(), " '", node.name(), "' reads '", name, "', which nothing produces before it");
    }
    return value;
  }

  // Hints only: type inference has the last word.
  void apply_value_info() {
    for (const auto& info : model_.graph().value_info()) {
      Value* value = graph_->find(info.name());
      const bool tensor = info.type().has_tensor_type();
      if (tensor && value != nullptr && value->role() == Role::intermediate) {
        value->set_type(to_type(info.type(), info.name()));
      }
    }
  }

  void import_output(const onnx::ValueInfoProto& output) {
    Value* value = graph_->find(output.name());
    if (value == nullptr) fail(origin_, ": nothing produces the output '", output.name(), "'");
    if (value->role() == Role::intermediate) value->set_type(to_type(output.type(), output.name()));
    graph_->add_output(value);
  }

  // An update is checked against the type of what it updates.
  void import_training_info() {
    if (model_.training_info_size() != 0) infer_types(*graph_);
    for (const auto& training : model_.training_info()) {
      for (const auto& binding : training.update_binding()) {
        Value* state = graph_->at(binding.key());
        if (state->is_constant()) state->set_role(Role::counter);
        graph_->add_update(state, graph_->at(binding.value()));
      }
    }
  }

  const onnx::ModelProto& model_;
  std::filesystem::path folder_;
  std::string origin_;
  std::unique_ptr<Graph> graph_;
};

/// Functions that the model carries are expanded here; their bodies are ordinary nodes to every pass.
void inline_functions(onnx::ModelProto& model, const std::string& origin) {
  if (model.functions_size() == 0) return;
  try {
    onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception& error) {
    fail(origin, ": its functions cannot be expanded: ", error.what());
  }
}

std::unique_ptr<Graph> import(onnx::ModelProto& model, const std::filesystem::path& folder, const std::string& origin) {
  register_training_schemas();
  check_versions(model, origin);
  inline_functions(model, origin);
  check_proto(model, folder, origin);
  return Importer(model, folder, origin).run();
}

// --- export

void export_value_info(const Value* value, onnx::ValueInfoProto* info) {
  info->set_name(value->name());
  *info->mutable_type() = to_proto(value->type());
}

void export_metadata(const Graph& graph, onnx::ModelProto& model) {
  const Metadata& metadata = graph.metadata;
  model.set_ir_version(metadata.ir_version == 0 ? newest_ir_version : metadata.ir_version);
  if (!metadata.producer_name.empty()) model.set_producer_name(metadata.producer_name);
  if (!metadata.producer_version.empty()) model.set_producer_version(metadata.producer_version);
  if (!metadata.domain.empty()) model.set_domain(metadata.domain);
  if (!metadata.documentation.empty()) model.set_doc_string(metadata.documentation);
  if (metadata.model_version != 0) model.set_model_version(metadata.model_version);
  for (const auto& [key, value] : metadata.properties) {
    auto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  for (const auto& [domain, version] : graph.opsets) {
    auto* import = model.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
}

// Update bindings of a training graph, in the standard's own form; the algorithm is the graph itself.
void export_updates(const Graph& graph, onnx::ModelProto& model) {
  if (graph.updates().empty()) return;
  auto* training = model.add_training_info();
  training->mutable_algorithm()->set_name(graph.name + ".updates");
  for (const Update& update : graph.updates()) {
    auto* binding = training->add_update_binding();
    binding->set_key(update.state->name());
    binding->set_value(update.next->name());
  }
}

onnx::ModelProto to_model_proto(const Graph& graph) {
  onnx::ModelProto model;
  export_metadata(graph, model);
  auto* proto = model.mutable_graph();
  proto->set_name(graph.name);
  for (const Value* input : graph.inputs()) export_value_info(input, proto->add_input());
  for (const Value* state : graph.initializers()) {
    *proto->add_initializer() = to_proto(state->initial(), state->name());
    // Up to IR version 3 an initializer must be an input as well.
    if (model.ir_version() < 4) export_value_info(state, proto->add_input());
  }
  for (const auto& node : graph.nodes()) *proto->add_node() = to_proto(*node);
  for (const Value* output : graph.outputs()) export_value_info(output, proto->add_output());
  export_updates(graph, model);
  return model;
}

}  // namespace

std::unique_ptr<Graph> parse_model(const std::string& bytes, const std::filesystem::path& folder,
                                   const std::string& origin) {
  onnx::ModelProto model = parse_proto(bytes, origin);
  return import(model, folder, origin);
}

std::unique_ptr<Graph> load(const std::filesystem::path& path) {
  return parse_model(read_file(path), path.has_parent_path() ? path.parent_path() : ".", path.string());
}

std::string serialize_model(const Graph& graph) {
  const onnx::ModelProto model = to_model_proto(graph);
  if (model.ByteSizeLong() > largest_file) {
    fail("the graph '", graph.name, "' is larger than the 2 GiB that one ONNX file can hold");
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    model.SerializeToCodedStream(&coded);
  }
  return bytes;
}

void save(const Graph& graph, const std::filesystem::path& path) {
  write_file_atomically(path, serialize_model(graph));
}

std::unique_ptr<Graph> parse_text(const std::string& source) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, source);
  if (!status.IsOK()) fail("cannot parse the ONNX text: ", status.ErrorMessage());
  auto graph = import(model, ".", "text");
  infer_types(*graph);
  return graph;
}

std::string print_text(const Graph& graph) { return onnx::ProtoToString(to_model_proto(graph)); }

}  // namespace ort_train::graph
