// What stands in for runtime/cuda/ in a program that is built without it.
#include "base/error.h"
#include "runtime/cuda/library.h"

namespace ort_train::runtime::cuda {

const EntryPoints& entry_points() {
  fail_usage("this program is built without CUDA; build it where the CUDA toolkit, cuDNN and NCCL are installed");
}

}  // namespace ort_train::runtime::cuda
