// The least of a CUDA driver with which cuDNN builds its plans: it reports no device and launches nothing.
#include <cstdlib>
#include <cstring>

namespace {

enum Status { success = 0, invalid_value = 1, not_found = 500, not_supported = 801 };

// A cubin is an ELF file for this machine.
constexpr unsigned short elf_machine_cuda = 190;

bool is_cubin(const void* code) {
  const auto* bytes = static_cast<const unsigned char*>(code);
  if (bytes == nullptr || std::memcmp(bytes, "\177ELF", 4) != 0) return false;
  unsigned short machine = 0;
  std::memcpy(&machine, bytes + 18, sizeof machine);
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
  *text = "virtual driver";
  return success;
}
int cuGetErrorName(int, const char** text) {
  *text = "VIRTUAL_DRIVER";
  return success;
}
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return not_found;
}
int cuLibraryLoadData(void** library, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
  if (!is_cubin(code)) return invalid_value;
  *library = std::calloc(1, 64);
  return success;
}
int cuLibraryUnload(void* library) {
  std::free(library);
  return success;
}
int cuLibraryGetKernel(void** kernel, void*, const char*) {
  static int object;
  *kernel = &object;
  return success;
}
int cuOccupancyMaxPotentialClusterSize(int* size, void*, const void*) {
  // What every device with clusters can do.
  *size = 8;
  return success;
}

// cuDNN's loader looks these up; nobody calls them while plans are built.
#define NOT_SUPPORTED(function) \
  int function() { return not_supported; }
NOT_SUPPORTED(cuCtxGetCurrent)
NOT_SUPPORTED(cuCtxGetLimit)
NOT_SUPPORTED(cuCtxPopCurrent)
NOT_SUPPORTED(cuCtxPushCurrent)
NOT_SUPPORTED(cuStreamGetCtx)
NOT_SUPPORTED(cuLinkCreate)
NOT_SUPPORTED(cuLinkAddData)
NOT_SUPPORTED(cuLinkComplete)
NOT_SUPPORTED(cuLinkDestroy)
NOT_SUPPORTED(cuLaunchKernel)
NOT_SUPPORTED(cuLaunchCooperativeKernel)
NOT_SUPPORTED(cuLaunchKernelEx)
NOT_SUPPORTED(cuDeviceGet)
NOT_SUPPORTED(cuLibraryLoadFromFile)
NOT_SUPPORTED(cuKernelSetAttribute)
NOT_SUPPORTED(cuKernelGetAttribute)
#undef NOT_SUPPORTED

}  // extern "C"
