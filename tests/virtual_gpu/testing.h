#pragma once

// What the tests of the virtual GPUs share.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda/virtual_launch.h"
#include "tests/virtual_gpu/core.h"

namespace virtual_gpu::testing {

inline void require(cudaError_t status) { REQUIRE_MESSAGE(status == cudaSuccess, cudaGetErrorString(status)); }

/// The kinds of the reports since the last call, sorted, each once; the reports themselves are gone.
inline std::vector<std::string> reported() {
  std::vector<std::string> kinds;
  for (const Report& report : take_reports()) kinds.push_back(report.kind);
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

using Kinds = std::vector<std::string>;

/// An array in the memory of the current device.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&elements_), bytes()));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    require(cudaMemcpy(elements_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(elements_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return elements_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    require(cudaMemcpy(result.data(), elements_, bytes(), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  std::size_t count_;
  T* elements_ = nullptr;
};

/// A stream that does not wait for the default stream.
class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) { require(cudaStreamCreateWithFlags(&stream_, flags)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { require(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// `later` goes on when `earlier` has done what it was given so far.
inline void order(cudaStream_t earlier, cudaStream_t later, cudaEvent_t event) {
  require(cudaEventRecord(event, earlier));
  require(cudaStreamWaitEvent(later, event, 0));
}

/// A kernel by the way that the project's own kernels take.
inline cudaError_t launch(cudaStream_t stream, const char* name, const std::vector<Access>& accesses,
                          const std::function<void()>& run) {
  std::vector<ort_train::runtime::cuda::MemoryAccess> touched;
  touched.reserve(accesses.size());
  for (const Access& access : accesses) touched.push_back({access.memory, access.bytes, access.writes});
  return ort_train_virtual_launch(stream, name, touched.data(), touched.size(), &run);
}

/// Sets every element.
inline cudaError_t fill(cudaStream_t stream, const DeviceArray<float>& array, float value) {
  return launch(stream, "fill", {write_of(array.get(), array.bytes())},
                [=, elements = array.get(), count = array.count()] { std::fill_n(elements, count, value); });
}

/// Adds `source` to `target`, element by element.
inline cudaError_t add(cudaStream_t stream, const DeviceArray<float>& source, const DeviceArray<float>& target) {
  return launch(stream, "add", {read_of(source.get(), source.bytes()), write_of(target.get(), target.bytes())},
                [from = source.get(), to = target.get(), count = target.count()] {
                  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
                });
}

}  // namespace virtual_gpu::testing
