#pragma once

// An operation graph of cuDNN in the form in which it is computed on the CPU.

#include <cudnn.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/virtual_gpu/cudnn_records.h"

namespace virtual_gpu {

using Extents = std::vector<std::int64_t>;

struct CudnnTensor {
  std::int64_t uid = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Extents dims;
  Extents strides;
  bool is_virtual = false;
  bool by_value = false;

  std::int64_t elements() const;
  /// Elements between the first and the last one, in memory, plus one.
  std::int64_t span() const;
};

/// Names of operands, so that one node type serves all operations.
enum class Role {
  x,
  y,
  w,
  dy,
  dx,
  dw,
  a,
  b,
  c,
  out,
  index,
  scale,
  bias,
  mean,
  inverse_deviation,
  epsilon,
  momentum,
  running_mean,
  running_variance,
  next_running_mean,
  next_running_variance,
  dscale,
  dbias,
};

struct CudnnNode {
  cudnnBackendDescriptorType_t type;
  /// Pointwise, reduction, normalization or resample mode.
  int mode = 0;
  std::map<Role, int> inputs;
  std::map<Role, int> outputs;
  Extents pads_begin, pads_end, strides, dilations, window;
  double alpha1 = 1, alpha2 = 1;
  double lower = 0, upper = 0, lower_slope = 0, parameter = 1;
  std::int64_t axis = -1;

  int input(Role role) const;
  int output(Role role) const;
  bool has_output(Role role) const { return outputs.count(role) != 0; }
};

struct CudnnProgram {
  std::string name;
  std::vector<CudnnTensor> tensors;
  /// Producers before consumers.
  std::vector<CudnnNode> nodes;
  bool double_precision = false;

  bool is_written(int tensor) const;
};

/// Throws std::runtime_error, naming what is missing, when the graph holds something that is not computed here.
std::shared_ptr<const CudnnProgram> translate(const CudnnRecord& operation_graph);

/// Computes it. `memory` has one address a tensor: elements in memory, or the number by value; null for virtual ones.
void compute(const CudnnProgram& program, const std::vector<void*>& memory);

}  // namespace virtual_gpu
