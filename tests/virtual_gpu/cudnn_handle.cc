// Handles, and the execution of plans.
#include "tests/virtual_gpu/cudnn_handle.h"

#include <map>
#include <mutex>
#include <set>

#include "tests/virtual_gpu/cudnn_device.h"
#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

/// Never destroyed, like the real library's.
struct Handles {
  std::mutex mutex;
  std::set<CudnnHandle*> alive;
};

Handles& handles() {
  static auto* handles = new Handles;
  return *handles;
}

std::shared_ptr<const CudnnProgram> program_of(CudnnRecord& graph) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!graph.program) graph.program = translate(graph);
  return graph.program;
}

/// Addresses of the operands of one execution.
struct Binding {
  std::vector<void*> memory;
  std::vector<CudnnAccess> accesses;
  /// Numbers by value are read at the call, not when the work runs.
  std::vector<std::shared_ptr<std::vector<unsigned char>>> values;
};

Binding bind(const CudnnProgram& program, const CudnnRecord& pack) {
  const auto uids = pack.list<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<std::int64_t, void*> by_uid;
  for (std::size_t i = 0; i < uids.size() && i < pointers.size(); ++i) by_uid[uids[i]] = pointers[i];

  Binding binding;
  binding.memory.resize(program.tensors.size());
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const CudnnTensor& tensor = program.tensors[i];
    if (tensor.is_virtual) continue;
    const auto found = by_uid.find(tensor.uid);
    if (found == by_uid.end() || found->second == nullptr) {
      throw std::runtime_error("no pointer for tensor " + std::to_string(tensor.uid));
    }
    if (tensor.by_value) {
      const auto* bytes = static_cast<const unsigned char*>(found->second);
      binding.values.push_back(std::make_shared<std::vector<unsigned char>>(bytes, bytes + bytes_of(tensor.type)));
      binding.memory[i] = binding.values.back()->data();
      continue;
    }
    if (reinterpret_cast<std::uintptr_t>(found->second) % 16 != 0) {
      throw std::runtime_error("the pointer of tensor " + std::to_string(tensor.uid) + " is not aligned to 16 bytes");
    }
    binding.memory[i] = found->second;
    binding.accesses.push_back({found->second, static_cast<std::size_t>(tensor.span()) * bytes_of(tensor.type),
                                program.is_written(static_cast<int>(i))});
  }
  return binding;
}

/// Scratch memory is not needed here, but must be there and belong to this plan alone.
void add_workspace(Binding& binding, cudnnBackendDescriptor_t plan, const CudnnRecord& pack) {
  static auto* get = real_cudnn<decltype(cudnnBackendGetAttribute)>("cudnnBackendGetAttribute");
  std::int64_t bytes = 0, count = 0;
  get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes);
  if (bytes <= 0) return;
  void* workspace = pack.get<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
  if (workspace == nullptr) throw std::runtime_error("a plan that needs scratch memory was given none");
  binding.accesses.push_back({workspace, static_cast<std::size_t>(bytes), true});
}

cudnnStatus_t execute(const CudnnHandle& handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  const auto plan_record = cudnn_record(plan), pack_record = cudnn_record(pack);
  if (!plan_record || !plan_record->graph || !pack_record) throw std::runtime_error("an unknown plan or variant pack");
  const auto program = program_of(*plan_record->graph);
  auto binding = std::make_shared<Binding>(bind(*program, *pack_record));
  add_workspace(*binding, plan, *pack_record);
  const bool taken = cudnn_enqueue(handle.stream, program->name, binding->accesses, [program, binding] {
    try {
      compute(*program, binding->memory);
    } catch (const std::exception& error) {
      cudnn_report(std::string("cuDNN: ") + error.what());
    }
  });
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

CudnnHandle* cudnn_handle(cudnnHandle_t handle) {
  auto* ours = reinterpret_cast<CudnnHandle*>(handle);
  const std::lock_guard lock(handles().mutex);
  if (handles().alive.count(ours) != 0) return ours;
  cudnn_report("cuDNN was given a handle that does not exist (any more)");
  return nullptr;
}

}  // namespace virtual_gpu

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  auto* made = new virtual_gpu::CudnnHandle{virtual_gpu::cudnn_current_device(), nullptr};
  const std::lock_guard lock(virtual_gpu::handles().mutex);
  virtual_gpu::handles().alive.insert(made);
  *handle = reinterpret_cast<cudnnHandle_t>(made);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  virtual_gpu::CudnnHandle* ours = virtual_gpu::cudnn_handle(handle);
  if (ours == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const std::lock_guard lock(virtual_gpu::handles().mutex);
  virtual_gpu::handles().alive.erase(ours);
  delete ours;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  virtual_gpu::CudnnHandle* ours = virtual_gpu::cudnn_handle(handle);
  if (ours == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (virtual_gpu::cudnn_stream_device(stream) != ours->device) {
    virtual_gpu::cudnn_report("cudnnSetStream: the stream is of another device than the handle");
    return CUDNN_STATUS_BAD_PARAM;
  }
  ours->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  const virtual_gpu::CudnnHandle* ours = virtual_gpu::cudnn_handle(handle);
  if (ours == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *stream = ours->stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  const virtual_gpu::CudnnHandle* ours = virtual_gpu::cudnn_handle(handle);
  if (ours == nullptr) return CUDNN_STATUS_BAD_PARAM;
  try {
    return virtual_gpu::execute(*ours, plan, pack);
  } catch (const std::exception& error) {
    virtual_gpu::cudnn_report(std::string("cudnnBackendExecute: ") + error.what());
    return CUDNN_STATUS_BAD_PARAM;
  }
}

}  // extern "C"
