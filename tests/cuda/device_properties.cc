#include "tests/cuda/device_properties.h"

#include "base/error.h"

namespace ort_train::test {

std::string device_properties(const GpuModel& model) {
  return text(
      R"({"deviceName":")", model.name, R"(","cudaDeviceId":0,"deviceVer":)", model.compute_capability * 10,
      R"(,"driverVer":13000,"multiProcessorCount":)", model.multiprocessors,
      R"(,"warpSize":32,"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":)",
      model.shared_memory_per_block_bytes, R"(,"reservedSharedMemoryPerBlock":)", model.reserved_shared_memory_bytes,
      R"(,"maxCtasPerSM":)", model.blocks_per_multiprocessor, R"(,"maxThreadsPerBlock":1024,"maxThreadsPerSM":)",
      model.threads_per_multiprocessor,
      R"(,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":17179869184,)"
      R"("smClockRateKHz":1500000,"memClockRateKHz":3000000,"l2CacheSize":41943040})");
}

}  // namespace ort_train::test
