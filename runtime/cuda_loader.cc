// Loads runtime/cuda/, which is a library of its own.
#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "runtime/cuda/library.h"

namespace ort_train::runtime {

namespace {

/// The folder that this very library was loaded from.
std::filesystem::path own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::absolute(info.dli_fname).parent_path();
}

const cuda::EntryPoints& load() {
  const std::filesystem::path path = own_folder() / cuda::library_name;
  if (!std::filesystem::exists(path)) {
    fail_usage("a GPU was asked for, but ", path.string(),
               ", the CUDA side of ort-train, is not there; build its target ",
               "ort_train_cuda, or train on the CPU (--device cpu, which is the default)");
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail_usage(
        "a GPU was asked for, but the CUDA side of ort-train cannot be loaded: ", reason == nullptr ? "" : reason,
        "; install the CUDA runtime, cuDNN 9, cuBLAS and NCCL where the loader finds them (LD_LIBRARY_PATH), or ",
        "train on the CPU (--device cpu, which is the default)");
  }
  const void* entry = dlsym(library, cuda::entry_name);
  if (entry == nullptr) fail_usage(path.string(), " is not the CUDA side of this version of ort-train");
  return *static_cast<const cuda::EntryPoints*>(entry);
}

const cuda::EntryPoints& entry_points() {
  static const cuda::EntryPoints& loaded = load();
  return loaded;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int index, const CudaOptions& options) {
  return entry_points().make_device(index, options);
}

std::vector<CudaDeviceDescription> cuda_devices() { return entry_points().devices(); }

}  // namespace ort_train::runtime
