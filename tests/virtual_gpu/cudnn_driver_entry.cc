// cudnn-frontend looks for the driver's contexts, which virtual GPUs do not have: a device is enough.
#include <cuda_runtime_api.h>

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned int, unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
  return cudaErrorSymbolNotFound;
}
