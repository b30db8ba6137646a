#include "tests/virtual_gpu/cudnn_records.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "tests/virtual_gpu/cudnn_device.h"
#include "tests/virtual_gpu/cudnn_handle.h"

namespace virtual_gpu {
namespace {

using Record = std::shared_ptr<CudnnRecord>;

/// Never destroyed: descriptors are released as late as the program's own statics.
struct Registry {
  std::mutex mutex;
  std::unordered_map<cudnnBackendDescriptor_t, Record> records;
  /// The graphs of plans that were written as JSON in this process, by that text.
  std::map<std::string, Record> graph_of_json;
};

Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

std::size_t element_bytes(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    case CUDNN_TYPE_FRACTION: return sizeof(cudnnFraction_t);
    default: return 4;  // float, int32 and all enumerations
  }
}

cudnnStatus_t real_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, std::int64_t count, const void* data) {
  static auto* function = real_cudnn<decltype(cudnnBackendSetAttribute)>("cudnnBackendSetAttribute");
  return function(descriptor, name, type, count, data);
}

cudnnStatus_t real_finalize(cudnnBackendDescriptor_t descriptor) {
  static auto* function = real_cudnn<decltype(cudnnBackendFinalize)>("cudnnBackendFinalize");
  return function(descriptor);
}

cudnnStatus_t set_properties(cudnnBackendDescriptor_t descriptor, int device) {
  const std::string json = cudnn_device_properties(device);
  return real_set(descriptor, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                  static_cast<std::int64_t>(json.size()), json.c_str());
}

/// A finalized device-property descriptor of the real library, one a device.
cudnnBackendDescriptor_t properties_of(int device) {
  static auto* made = new std::map<int, cudnnBackendDescriptor_t>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  cudnnBackendDescriptor_t& descriptor = (*made)[device];
  if (descriptor == nullptr) {
    auto* create = real_cudnn<decltype(cudnnBackendCreateDescriptor)>("cudnnBackendCreateDescriptor");
    create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &descriptor);
    if (set_properties(descriptor, device) != CUDNN_STATUS_SUCCESS ||
        real_finalize(descriptor) != CUDNN_STATUS_SUCCESS) {
      cudnn_report("cuDNN does not take the properties of virtual GPU " + std::to_string(device));
    }
  }
  return descriptor;
}

/// A descriptor that would ask a handle for its device gets the properties of the virtual one.
void inject_properties(cudnnBackendDescriptor_t descriptor, const CudnnRecord& record) {
  const auto inject = [&](cudnnBackendAttributeName_t name) {
    if (record.has(name)) return;
    const cudnnBackendDescriptor_t properties = properties_of(cudnn_current_device());
    real_set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &properties);
  };
  switch (record.type) {
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return inject(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return inject(CUDNN_ATTR_ENGINE_DEVICEPROP);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      if (record.has(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)) inject(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
      return;
    default: return;
  }
}

/// The operation graph travels from descriptor to descriptor up to the plan.
void inherit_graph(CudnnRecord& record, int name, const CudnnRecord::Attribute& attribute) {
  if (attribute.records.size() == 1 && attribute.records[0]) {
    const Record& given = attribute.records[0];
    if (name == CUDNN_ATTR_ENGINE_OPERATION_GRAPH || name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
      record.graph = given;
    if (name == CUDNN_ATTR_ENGINECFG_ENGINE || name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) {
      record.graph = given->graph;
    }
  }
}

std::string text_of(const void* data, std::int64_t count) {
  const std::string text(static_cast<const char*>(data), static_cast<std::size_t>(count));
  return text.substr(0, text.find('\0'));
}

}  // namespace

double CudnnRecord::number(int name, double otherwise) const {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return otherwise;
  if (found->second.type == CUDNN_TYPE_DOUBLE) return get<double>(name, otherwise);
  return get<float>(name, static_cast<float>(otherwise));
}

std::shared_ptr<CudnnRecord> CudnnRecord::descriptor(int name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() || found->second.records.empty() ? nullptr : found->second.records[0];
}

std::shared_ptr<CudnnRecord> cudnn_record(cudnnBackendDescriptor_t descriptor) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().records.find(descriptor);
  return found == registry().records.end() ? nullptr : found->second;
}

void* real_cudnn_symbol(const char* name) {
  static void* library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) {
    // Nothing can go on: the caller is C code that expects the real function.
    std::fprintf(stderr, "virtual GPUs: the real cuDNN has no %s: %s\n", name, dlerror());
    std::abort();
  }
  return symbol;
}

}  // namespace virtual_gpu

using virtual_gpu::CudnnRecord;

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  static auto* real = virtual_gpu::real_cudnn<decltype(cudnnBackendCreateDescriptor)>("cudnnBackendCreateDescriptor");
  const cudnnStatus_t status = real(type, descriptor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  auto record = std::make_shared<CudnnRecord>();
  record->type = type;
  const std::lock_guard lock(virtual_gpu::registry().mutex);
  virtual_gpu::registry().records[*descriptor] = std::move(record);
  return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  static auto* real = virtual_gpu::real_cudnn<decltype(cudnnBackendDestroyDescriptor)>("cudnnBackendDestroyDescriptor");
  {
    const std::lock_guard lock(virtual_gpu::registry().mutex);
    virtual_gpu::registry().records.erase(descriptor);
  }
  return real(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* data) {
  if (type == CUDNN_TYPE_HANDLE) {
    // The real library knows nothing of our handles.
    if (count != 1 || data == nullptr) return CUDNN_STATUS_BAD_PARAM;
    const virtual_gpu::CudnnHandle* handle = virtual_gpu::cudnn_handle(*static_cast<const cudnnHandle_t*>(data));
    if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
    if (name != CUDNN_ATTR_DEVICEPROP_HANDLE) return CUDNN_STATUS_SUCCESS;
    return virtual_gpu::set_properties(descriptor, handle->device);
  }
  if (name == CUDNN_ATTR_DEVICEPROP_DEVICE_ID) {
    return virtual_gpu::set_properties(descriptor, *static_cast<const std::int32_t*>(data));
  }
  const cudnnStatus_t status = virtual_gpu::real_set(descriptor, name, type, count, data);
  const auto record = virtual_gpu::cudnn_record(descriptor);
  if (status != CUDNN_STATUS_SUCCESS || !record || data == nullptr) return status;

  CudnnRecord::Attribute attribute{type, {}, {}};
  const auto* bytes = static_cast<const unsigned char*>(data);
  attribute.bytes.assign(bytes, bytes + virtual_gpu::element_bytes(type) * static_cast<std::size_t>(count));
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (std::int64_t i = 0; i < count; ++i) {
      attribute.records.push_back(virtual_gpu::cudnn_record(static_cast<const cudnnBackendDescriptor_t*>(data)[i]));
    }
    virtual_gpu::inherit_graph(*record, name, attribute);
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION) {
    const std::lock_guard lock(virtual_gpu::registry().mutex);
    const auto& known = virtual_gpu::registry().graph_of_json;
    const auto found = known.find(virtual_gpu::text_of(data, count));
    // A plan of another process: its operations cannot be told, so it has to be made anew.
    if (found == known.end()) return CUDNN_STATUS_NOT_SUPPORTED;
    record->graph = found->second;
  }
  record->attributes[name] = std::move(attribute);
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested, int64_t* count,
                                       void* data) {
  static auto* real = virtual_gpu::real_cudnn<decltype(cudnnBackendGetAttribute)>("cudnnBackendGetAttribute");
  const cudnnStatus_t status = real(descriptor, name, type, requested, count, data);
  const auto record = virtual_gpu::cudnn_record(descriptor);
  if (status != CUDNN_STATUS_SUCCESS || data == nullptr || !record) return status;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION && requested > 0) {
    const std::lock_guard lock(virtual_gpu::registry().mutex);
    virtual_gpu::registry().graph_of_json[virtual_gpu::text_of(data, requested)] = record->graph;
  }
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS || name == CUDNN_ATTR_ENGINECFG_ENGINE) {
    const std::int64_t given = count == nullptr ? requested : std::min(*count, requested);
    for (std::int64_t i = 0; i < given; ++i) {
      const auto result = virtual_gpu::cudnn_record(static_cast<cudnnBackendDescriptor_t*>(data)[i]);
      if (result) result->graph = record->graph;
    }
  }
  return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (const auto record = virtual_gpu::cudnn_record(descriptor)) virtual_gpu::inject_properties(descriptor, *record);
  return virtual_gpu::real_finalize(descriptor);
}

}  // extern "C"
