// A CUDA driver (libcuda.so.1) that has no device. With it in the process cuDNN compiles kernels for whatever device
// properties it is given and finishes plans; nothing can be launched. Only names of NVIDIA's public interface.

#include <cstdlib>
#include <cstring>

namespace {

enum Result { success = 0, invalid_value = 1, not_found = 500, not_supported = 801 };

/// The kernels' binaries are ELF files for this machine.
constexpr unsigned short elf_machine_cuda = 190;

bool is_cuda_binary(const void* code) {
  if (code == nullptr || std::memcmp(code, "\177ELF", 4) != 0) return false;
  unsigned short machine = 0;
  std::memcpy(&machine, static_cast<const unsigned char*>(code) + 18, sizeof machine);
  return machine == elf_machine_cuda;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return success; }
int cuDeviceGetCount(int* count) {
  *count = 0;
  return success;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}
int cuGetErrorString(int, const char** text) {
  *text = "the driver without a device";
  return success;
}
int cuGetErrorName(int, const char** text) {
  *text = "CUDA_DRIVER_WITHOUT_DEVICE";
  return success;
}
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return not_found;
}
int cuLibraryLoadData(void** library, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
  if (!is_cuda_binary(code)) return invalid_value;
  *library = std::malloc(1);
  return success;
}
int cuLibraryUnload(void* library) {
  std::free(library);
  return success;
}
int cuLibraryGetKernel(void** kernel, void*, const char*) {
  static int any_kernel;
  *kernel = &any_kernel;
  return success;
}

// cuDNN looks these up when it loads; making plans calls none of them.
#define ORT_TRAIN_REFUSED(name) \
  int name() { return not_supported; }
ORT_TRAIN_REFUSED(cuCtxGetCurrent)
ORT_TRAIN_REFUSED(cuCtxGetLimit)
ORT_TRAIN_REFUSED(cuCtxPopCurrent)
ORT_TRAIN_REFUSED(cuCtxPushCurrent)
ORT_TRAIN_REFUSED(cuDeviceGet)
ORT_TRAIN_REFUSED(cuKernelGetAttribute)
ORT_TRAIN_REFUSED(cuKernelSetAttribute)
ORT_TRAIN_REFUSED(cuLaunchCooperativeKernel)
ORT_TRAIN_REFUSED(cuLaunchKernel)
ORT_TRAIN_REFUSED(cuLaunchKernelEx)
ORT_TRAIN_REFUSED(cuLibraryLoadFromFile)
ORT_TRAIN_REFUSED(cuLinkAddData)
ORT_TRAIN_REFUSED(cuLinkComplete)
ORT_TRAIN_REFUSED(cuLinkCreate)
ORT_TRAIN_REFUSED(cuLinkDestroy)
ORT_TRAIN_REFUSED(cuOccupancyMaxPotentialClusterSize)
ORT_TRAIN_REFUSED(cuStreamGetCtx)
#undef ORT_TRAIN_REFUSED

}  // extern "C"
