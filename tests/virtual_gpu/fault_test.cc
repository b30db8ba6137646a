// Injected faults, and the limits of virtual devices.
#include <cmath>

#include "tests/virtual_gpu/testing.h"

using namespace virtual_gpu;
using namespace virtual_gpu::testing;

namespace {

constexpr std::size_t count = 100;

}  // namespace

TEST_CASE("an allocation fails at the call that was asked for, and only there") {
  inject("cudaMalloc", 2, cudaErrorMemoryAllocation);
  void *first = nullptr, *second = nullptr;
  CHECK(cudaMalloc(&first, 16) == cudaSuccess);
  CHECK(cudaMalloc(&second, 16) == cudaErrorMemoryAllocation);
  CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&second, 16) == cudaSuccess);
  require(cudaFree(first));
  require(cudaFree(second));
}

TEST_CASE("a device has as much memory as it says, and gets it back") {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  require(cudaMemGetInfo(&before, &total));
  void *memory = nullptr, *more = nullptr;
  require(cudaMalloc(&memory, before));
  require(cudaMemGetInfo(&during, &total));
  CHECK(during == 0);
  CHECK(cudaMalloc(&more, 1) == cudaErrorMemoryAllocation);
  cudaGetLastError();
  require(cudaFree(memory));
  require(cudaMemGetInfo(&after, &total));
  CHECK(after == before);
}

TEST_CASE("a launch fails") {
  DeviceArray<float> array(std::vector<float>(count, 0));
  Stream stream;
  inject("kernel", 2, cudaErrorLaunchFailure);
  CHECK(fill(stream, array, 1) == cudaSuccess);
  CHECK(fill(stream, array, 2) == cudaErrorLaunchFailure);
  require(cudaStreamSynchronize(stream));
  CHECK(array.values()[0] == 1);
  cudaGetLastError();
}

TEST_CASE("a device disappears, and every call on it tells so; others go on") {
  const int lost = device_count() - 1;
  require(cudaSetDevice(lost));
  {
    DeviceArray<float> array(std::vector<float>(count, 0));
    Stream stream;
    Event event;
    require(fill(stream, array, 1));
    require(cudaStreamSynchronize(stream));
    inject("device" + std::to_string(lost), 1, cudaErrorDevicesUnavailable);
    require(fill(stream, array, 2));
    CHECK(cudaStreamSynchronize(stream) == cudaErrorDevicesUnavailable);
    CHECK(array.get()[0] == 1);
    CHECK(fill(stream, array, 3) == cudaErrorDevicesUnavailable);
    CHECK(cudaEventRecord(event, stream) == cudaErrorDevicesUnavailable);
    CHECK(cudaDeviceSynchronize() == cudaErrorDevicesUnavailable);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 16) == cudaErrorDevicesUnavailable);
  }
  require(cudaSetDevice(0));
  DeviceArray<float> array(count);
  require(fill(nullptr, array, 1));
  CHECK(array.values()[0] == 1);
  cudaGetLastError();
}

TEST_CASE("what nobody has written is no number") {
  DeviceArray<float> array(count);
  CHECK(std::isnan(array.get()[0]));
}

TEST_CASE("an entry point that is not known is reported") {
  size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
  CHECK(reported() == Kinds{"api"});
}

TEST_CASE("a stream that does not exist is reported") {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  require(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  int dummy = 0;
  CHECK(cudaMemcpyAsync(&dummy, &dummy, sizeof dummy, cudaMemcpyDefault, stream) == cudaErrorInvalidResourceHandle);
  CHECK(reported() == Kinds{"api"});
  cudaGetLastError();
}

TEST_CASE("a copy in the wrong direction or past the end of a block is reported") {
  const int device = device_count() - 2;
  require(cudaSetDevice(device));
  {
    DeviceArray<float> array(count);
    Stream stream;
    std::vector<float> values(2 * count);
    require(cudaMemcpyAsync(array.get(), values.data(), array.bytes(), cudaMemcpyDeviceToHost, stream));
    CHECK(reported() == Kinds{"api"});
    CHECK(cudaMemcpyAsync(array.get(), values.data(), 2 * array.bytes(), cudaMemcpyHostToDevice, stream) ==
          cudaErrorIllegalAddress);
    CHECK(reported() == Kinds{"bounds"});
  }
  require(cudaSetDevice(0));
  cudaGetLastError();
}

TEST_CASE("devices are of the model that was asked for") {
  cudaDeviceProp properties = {};
  require(cudaGetDeviceProperties(&properties, 0));
  int major = 0, multiprocessors = 0;
  require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  require(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(std::string(properties.name).find("virtual") != std::string::npos);
  CHECK(properties.major == major);
  CHECK(properties.multiProcessorCount == multiprocessors);
  CHECK(cudaGetDeviceProperties(&properties, device_count()) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(device_count()) == cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST_CASE("events measure time in order") {
  Stream stream;
  Event begin, end;
  require(cudaEventRecord(begin, stream));
  require(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  require(cudaEventRecord(end, stream));
  require(cudaEventSynchronize(end));
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 20);
}

TEST_CASE("rectangles are copied, and only they are touched") {
  DeviceArray<float> source(std::vector<float>{0, 1, 2, 3, 4, 5}), target(std::vector<float>(6, 9));
  Stream stream;
  require(cudaMemcpy2DAsync(target.get(), 12, source.get(), 12, 8, 2, cudaMemcpyDeviceToDevice, stream));
  require(cudaStreamSynchronize(stream));
  CHECK(target.values() == std::vector<float>{0, 1, 9, 3, 4, 9});
}
