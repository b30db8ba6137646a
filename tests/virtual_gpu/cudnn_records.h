#pragma once

// What the program under test told cuDNN. Every backend descriptor and every attribute goes to the real library, which
// needs no GPU for it, and is remembered here, so that cudnnBackendExecute can be computed on the CPU.

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace virtual_gpu {

struct CudnnProgram;

struct CudnnRecord {
  struct Attribute {
    cudnnBackendAttributeType_t type;
    std::vector<unsigned char> bytes;
    /// The records of the descriptors, when that is what the attribute holds.
    std::vector<std::shared_ptr<CudnnRecord>> records;
  };

  cudnnBackendDescriptorType_t type;
  std::map<int, Attribute> attributes;
  /// The operation graph that an engine, a configuration or a plan was made for.
  std::shared_ptr<CudnnRecord> graph;
  /// The translated operation graph; made at the first execution.
  std::shared_ptr<const CudnnProgram> program;

  bool has(int name) const { return attributes.count(name) != 0; }

  /// The first element, or `otherwise` when the attribute was never set.
  template <typename T>
  T get(int name, T otherwise) const {
    const auto found = attributes.find(name);
    if (found == attributes.end() || found->second.bytes.size() < sizeof(T)) return otherwise;
    return *reinterpret_cast<const T*>(found->second.bytes.data());
  }

  template <typename T>
  std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    const auto* first = reinterpret_cast<const T*>(found->second.bytes.data());
    return {first, first + found->second.bytes.size() / sizeof(T)};
  }

  /// A float or double attribute.
  double number(int name, double otherwise) const;

  /// The descriptor in an attribute that holds one; null when there is none.
  std::shared_ptr<CudnnRecord> descriptor(int name) const;
};

/// Null for a descriptor that was not made through the recorded calls.
std::shared_ptr<CudnnRecord> cudnn_record(cudnnBackendDescriptor_t descriptor);

/// A function of the real cuDNN. Looked up in the library itself, hence independent of what interposes it.
void* real_cudnn_symbol(const char* name);

template <typename Function>
Function* real_cudnn(const char* name) {
  return reinterpret_cast<Function*>(real_cudnn_symbol(name));
}

}  // namespace virtual_gpu
