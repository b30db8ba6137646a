// Loads runtime/cuda/, which is a library of its own.
#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "runtime/cuda/library.h"

namespace ort_train::runtime::cuda {

namespace {

/// The folder that this very library was loaded from.
std::filesystem::path own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::absolute(info.dli_fname).parent_path();
}

const EntryPoints& load() {
  const std::filesystem::path path = own_folder() / library_name;
  if (!std::filesystem::exists(path)) {
    fail_usage(path.string(), ", the CUDA side of ort-train, is not there; build its target ort_train_cuda");
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail_usage("the CUDA side of ort-train cannot be loaded: ", reason == nullptr ? "" : reason,
               "; install the CUDA runtime, cuDNN 9, cuBLAS and NCCL where the loader finds them (LD_LIBRARY_PATH)");
  }
  const void* entry = dlsym(library, entry_name);
  if (entry == nullptr) fail_usage(path.string(), " is not the CUDA side of this version of ort-train");
  return *static_cast<const EntryPoints*>(entry);
}

}  // namespace

const EntryPoints& entry_points() {
  static const EntryPoints& loaded = load();
  return loaded;
}

}  // namespace ort_train::runtime::cuda
