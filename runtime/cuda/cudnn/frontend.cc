// The only file that includes cudnn-frontend, whose headers take about a minute to compile.
#include "runtime/cuda/cudnn/frontend.h"

#include <algorithm>
#include <mutex>
#include <regex>

#include "base/error.h"
#include "runtime/cuda/cudnn/frontend_lowering.h"

namespace ort_train::runtime::cuda::cudnn {
namespace {

/// cuDNN's answer when a graph is refused: its first line is enough to know why.
std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

void require(fe::error_t status, const char* what) {
  if (status.is_bad()) fail("cuDNN cannot ", what, ": ", first_line(status.get_message()));
}

std::string field(const std::string& json, const std::string& name) {
  std::smatch match;
  const std::regex pattern("\"" + name + "\"\\s*:\\s*\"?([^\",}]*)\"?");
  return std::regex_search(json, match, pattern) ? match[1].str() : std::string("unknown");
}

/// Several plans may share one frontend graph; each knows its place in it.
class FrontendPlan : public StorablePlan {
 public:
  FrontendPlan(std::shared_ptr<FrontendGraph> graph, std::int64_t index, const OperationGraph& source, std::string name)
      : graph_(std::move(graph)), index_(index), name_(std::move(name)) {
    for (const TensorDescription& tensor : source.tensors) {
      needs_pointer_.push_back(!tensor.is_virtual && !tensor.value);
    }
    std::int64_t bytes = 0;
    require(graph_->get_workspace_size_plan_at_index(index_, bytes), "tell the workspace of a plan");
    workspace_bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  std::string name() const override { return name_; }

  void execute(cudnnHandle_t handle, std::span<void* const> pointers, void* workspace) const override {
    if (pointers.size() != needs_pointer_.size()) {
      fail("a cuDNN plan of ", needs_pointer_.size(), " tensors was given ", pointers.size(), " pointers");
    }
    std::unordered_map<std::int64_t, void*> by_uid;
    for (std::size_t id = 0; id < pointers.size(); ++id) {
      if (needs_pointer_[id]) by_uid.emplace(Lowering::uid_of(static_cast<TensorId>(id)), pointers[id]);
    }
    fe::error_t status = graph_->execute_plan_at_index(handle, by_uid, workspace, index_);
    if (status.is_bad()) fail("cuDNN failed to run ", name_, ": ", status.get_message());
  }

  std::vector<std::uint8_t> serialize() const override {
    std::vector<std::uint8_t> bytes;
    // The frontend writes the plan that was built last.
    if (graph_->build_plan_at_index(index_).is_bad() || graph_->serialize(bytes, false).is_bad()) return {};
    return bytes;
  }

 private:
  std::shared_ptr<FrontendGraph> graph_;
  std::int64_t index_;
  std::string name_;
  std::vector<bool> needs_pointer_;
  std::size_t workspace_bytes_ = 0;
};

/// Products of float32 operands on tensor cores round them to TF32.
bool has_float32_product(const OperationGraph& graph) {
  return std::any_of(graph.operations.begin(), graph.operations.end(), [&](const Operation& operation) {
    const bool product =
        std::holds_alternative<Convolution>(operation) || std::holds_alternative<MatrixProduct>(operation) ||
        std::holds_alternative<AttentionForward>(operation) || std::holds_alternative<AttentionBackward>(operation);
    return product && graph.tensors[static_cast<std::size_t>(inputs_of(operation).front())].type == DataType::float32;
  });
}

}  // namespace

struct Frontend::Implementation {
  std::shared_ptr<fe::DeviceProperties> properties = std::make_shared<fe::DeviceProperties>();
  std::string device_key;
  int compute_capability = 0;

  void read_properties() {
    std::vector<std::uint8_t> bytes;
    require(properties->serialize(bytes), "describe the device");
    const std::string json(bytes.begin(), bytes.end());
    compute_capability = std::atoi(field(json, "deviceVer").c_str()) / 10;
    device_key = text(field(json, "deviceName"), "; compute capability ", compute_capability, "; multiprocessors ",
                      field(json, "multiProcessorCount"), "; driver ", field(json, "driverVer"), "; cuDNN ",
                      cudnnGetVersion(), "; frontend ", CUDNN_FRONTEND_VERSION);
  }

  std::shared_ptr<FrontendGraph> new_graph() const {
    auto graph = std::make_shared<FrontendGraph>();
    graph->set_device_properties(properties);
    graph->set_sm_version(compute_capability);
    // Whoever captures an execution keeps the plan, so the CUDA graph need not.
    graph->set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
    return graph;
  }

  fe::error_t prepare(const OperationGraph& source, FrontendGraph& graph, std::size_t workspace_limit_bytes) const {
    Lowering(source, graph).run();
    fe::error_t status = graph.validate();
    if (status.is_good()) status = graph.build_operation_graph();
    if (status.is_good()) status = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
    if (status.is_bad()) return status;
    graph.deselect_workspace_greater_than(static_cast<std::int64_t>(workspace_limit_bytes));
    if (!source.allow_tf32 && has_float32_product(source)) {
      graph.deselect_numeric_notes({fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS});
    }
    if (source.deterministic) graph.deselect_numeric_notes({fe::NumericalNote_t::NONDETERMINISTIC});
    return {fe::error_code_t::OK, ""};
  }
};

Frontend::Frontend(cudnnHandle_t handle) : implementation_(std::make_unique<Implementation>()) {
  require(implementation_->properties->set_handle(handle).set_device_id(-1).build(), "describe the device");
  implementation_->read_properties();
}

Frontend::Frontend(const DeviceProperties& properties) : implementation_(std::make_unique<Implementation>()) {
  require(implementation_->properties->deserialize({properties.json.begin(), properties.json.end()}),
          "read the device properties");
  implementation_->read_properties();
}

Frontend::~Frontend() = default;

const std::string& Frontend::device_key() const { return implementation_->device_key; }

std::vector<std::shared_ptr<const StorablePlan>> Frontend::build(const OperationGraph& source,
                                                                 std::size_t workspace_limit_bytes, int count,
                                                                 std::string* refusal) const {
  const std::shared_ptr<FrontendGraph> graph = implementation_->new_graph();
  std::vector<std::shared_ptr<const StorablePlan>> plans;
  std::string reason = "no engine";
  try {
    fe::error_t status = implementation_->prepare(source, *graph, workspace_limit_bytes);
    if (status.is_bad()) reason = status.get_message();
    const std::int64_t configurations = status.is_bad() ? 0 : graph->get_execution_plan_count();
    for (std::int64_t i = 0; i < configurations && static_cast<int>(plans.size()) < count; ++i) {
      fe::error_t built = graph->build_plan_at_index(i);
      if (built.is_bad()) {
        reason = built.get_message();
        continue;
      }
      std::string name;
      require(graph->get_plan_name_at_index(i, name), "name a plan");
      plans.push_back(std::make_shared<FrontendPlan>(graph, i, source, name));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    // The frontend answers some unsupported graphs (attention, say) with an exception of its own.
    reason = error.what();
  }
  if (plans.empty() && refusal != nullptr) *refusal = first_line(reason);
  return plans;
}

std::shared_ptr<const StorablePlan> Frontend::restore(const OperationGraph& source,
                                                      const std::vector<std::uint8_t>& bytes) const {
  const std::shared_ptr<FrontendGraph> graph = implementation_->new_graph();
  try {
    if (graph->deserialize(bytes).is_bad()) return nullptr;
    return std::make_shared<FrontendPlan>(graph, 0, source, "a plan from the cache folder");
  } catch (const std::exception&) {
    return nullptr;  // Whatever a damaged file provokes inside the frontend, the plan is simply made anew.
  }
}

}  // namespace ort_train::runtime::cuda::cudnn
