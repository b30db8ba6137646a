// Entry points of cudart that ask about devices and errors.
#include <cstdio>
#include <cstring>

#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/cuda_errors.h"
#include "tests/virtual_gpu/memory.h"
#include "tests/virtual_gpu/models.h"
#include "tests/virtual_gpu/stream.h"

using namespace virtual_gpu;

namespace {

thread_local cudaError_t last_error = cudaSuccess;

bool exists(int device) { return device >= 0 && device < device_count(); }

}  // namespace

namespace virtual_gpu {

cudaError_t keep_error(int error) {
  if (error != cudaSuccess) last_error = static_cast<cudaError_t>(error);
  return static_cast<cudaError_t>(error);
}

}  // namespace virtual_gpu

extern "C" {

// For the generated stubs, which know no type of CUDA.
int virtual_gpu_keep_error(int error) { return keep_error(error); }

cudaError_t cudaGetDeviceCount(int* count) {
  if (const int error = injected("cudaGetDeviceCount")) return keep_error(error);
  *count = device_count();
  return *count > 0 ? cudaSuccess : keep_error(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
  if (const int error = injected("cudaSetDevice")) return keep_error(error);
  if (!exists(device)) return keep_error(cudaErrorInvalidDevice);
  set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!exists(device)) return keep_error(cudaErrorInvalidDevice);
  std::memset(properties, 0, sizeof *properties);
  const Model& like = model();
  std::snprintf(properties->name, sizeof properties->name, "%s (virtual)", like.name.c_str());
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  properties->totalGlobalMem = total_memory();
  properties->major = like.major;
  properties->minor = like.minor;
  properties->multiProcessorCount = like.multiprocessors;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = like.threads_of_multiprocessor;
  properties->sharedMemPerBlock = 49152;
  properties->sharedMemPerBlockOptin = static_cast<std::size_t>(like.shared_bytes_optin);
  properties->regsPerBlock = 65536;
  properties->l2CacheSize = like.l2_bytes;
  properties->asyncEngineCount = 3;
  properties->concurrentKernels = 1;
  properties->unifiedAddressing = 1;
  properties->pciBusID = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!exists(device)) return keep_error(cudaErrorInvalidDevice);
  const Model& like = model();
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = like.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = like.minor; break;
    case cudaDevAttrMultiProcessorCount: *value = like.multiprocessors; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = like.shared_bytes_optin; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = like.threads_of_multiprocessor; break;
    case cudaDevAttrL2CacheSize: *value = like.l2_bytes; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = like.blocks_of_multiprocessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = like.reserved_shared_bytes; break;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrAsyncEngineCount: *value = 3; break;
    case cudaDevAttrPciBusId: *value = device; break;
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId: *value = 0; break;
    default:
      report("api", "cudaDeviceGetAttribute: attribute " + std::to_string(attribute) + " is not known");
      return keep_error(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return exists(peer) && peer != current_device() ? cudaSuccess : keep_error(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!exists(device)) return keep_error(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device);
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDeviceSynchronize() {
  if (const int error = injected("cudaDeviceSynchronize")) return keep_error(error);
  if (invalidates_capture()) return keep_error(cudaErrorStreamCaptureUnsupported);
  for (const auto& stream : streams_of(current_device())) {
    if (const cudaError_t error = stream->synchronize()) return keep_error(error);
  }
  return cudaSuccess;
}

}  // extern "C"
