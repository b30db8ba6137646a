#pragma once

#include <cstddef>
#include <string>

namespace ort_train::runtime {

/// The processor that this process runs on.
struct CpuDescription {
  std::string name;
  int cores = 0;                                ///< that this process may use
  std::string instruction_set;                  ///< the widest that oneDNN's kernels use: "AVX-512"
  std::size_t total_bytes = 0, free_bytes = 0;  ///< memory of the machine; free is what can be had without swapping
};

CpuDescription describe_cpu();

}  // namespace ort_train::runtime
