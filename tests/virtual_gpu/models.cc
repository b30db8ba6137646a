#include "tests/virtual_gpu/models.h"

#include <cstdlib>
#include <sstream>

#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

namespace {

Model chosen_model() {
  const char* variable = std::getenv("VIRTUAL_GPU_MODEL");
  const std::string name = variable == nullptr || *variable == 0 ? "H200" : variable;
  if (name == "H200") return {"NVIDIA H200", 9, 0, 132, 2048, 32, 232448, 1024, 150754820096, 62914560};
  if (name == "A100") return {"NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 32, 166912, 1024, 85899345920, 41943040};
  if (name == "T4") return {"Tesla T4", 7, 5, 40, 1024, 16, 65536, 0, 16106127360, 4194304};
  report("api", "VIRTUAL_GPU_MODEL is H200, A100 or T4, not '" + name + "'");
  return {};
}

}  // namespace

const Model& model() {
  static const Model chosen = chosen_model();
  return chosen;
}

std::string cudnn_json(const Model& model, int device) {
  std::ostringstream json;
  json << R"({"deviceName":")" << model.name << R"(","cudaDeviceId":)" << device << R"(,"deviceVer":)"
       << 100 * model.major + 10 * model.minor << R"(,"driverVer":13000,"multiProcessorCount":)"
       << model.multiprocessors
       << R"(,"warpSize":32,"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
       << R"("maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":)"
       << model.shared_bytes_optin << R"(,"reservedSharedMemoryPerBlock":)" << model.reserved_shared_bytes
       << R"(,"maxCtasPerSM":)" << model.blocks_of_multiprocessor << R"(,"maxThreadsPerBlock":1024,"maxThreadsPerSM":)"
       << model.threads_of_multiprocessor << R"(,"pciDeviceId":)" << device
       << R"(,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":)" << model.memory_bytes
       << R"(,"smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":)" << model.l2_bytes << "}";
  return json.str();
}

}  // namespace virtual_gpu
