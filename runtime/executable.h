#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/state.h"

namespace ort_train::runtime {

class Collective;

struct CompileOptions {
  /// Only the plain kernels of kernels/: the oracle.
  bool plain_kernels = false;
  /// 3x3 convolutions may use Winograd's algorithm where that is faster: a quarter of the multiplications, but a
  /// relative rounding error of about 1e-6 instead of 2e-7.
  bool winograd = true;
  /// Wall time of every instruction is collected (see `Executable::profile`).
  bool profile = false;
  /// What connects the replica that runs the graph with the others; it must outlive the executable. A graph with
  /// AllReduce, ReduceScatter or AllGather nodes needs one.
  Collective* collective = nullptr;
};

/// What the memory plan came to, in bytes.
struct PlanReport {
  std::size_t state_bytes = 0;          ///< parameters, statistics, slots
  std::size_t arena_bytes = 0;          ///< all intermediates, after reuse
  std::size_t sum_of_values_bytes = 0;  ///< the same without reuse
  std::size_t scratchpad_bytes = 0;     ///< workspace of library kernels
  std::size_t constant_bytes = 0;
  std::size_t instructions = 0;  ///< waits for collectives included
  std::size_t reorders = 0;      ///< layout conversions among the instructions
  std::size_t in_place = 0;      ///< outputs that took over an input's memory

  std::size_t collectives = 0;        ///< nodes that all replicas carry out together
  std::size_t bucket_bytes = 0;       ///< memory that joins the operands of collectives, a part of the arena
  std::size_t reduced_bytes = 0;      ///< what a run adds to Collective::Statistics::bytes_reduced
  std::size_t operands_in_place = 0;  ///< operands of collectives that are produced inside the bucket
  std::size_t operands_copied = 0;    ///< those that are copied into it
};

struct ProfileEntry {
  std::string node, op_type, kernel;
  double milliseconds = 0;  ///< sum over runs
  std::int64_t runs = 0;
};

/// A graph with static shapes, compiled for one device: a flat list of instructions over planned memory. Running it
/// allocates nothing, looks nothing up and computes no shape.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Copies elements in; throws when name, type or extents do not fit the graph.
  virtual void set_input(const std::string& name, const Tensor& elements) = 0;
  /// One walk over the list. Where a collective is part of it, an error here aborts the collective for all replicas. A
  /// device may still be at work when this returns.
  virtual void run() = 0;
  /// Returns when the last run is done and state holds its updates; throws what went wrong in it.
  virtual void wait() = 0;
  /// A row-major copy of a graph output of the last run.
  virtual Tensor output(const std::string& name) const = 0;
  virtual const PlanReport& report() const = 0;
  virtual std::vector<ProfileEntry> profile() const = 0;
};

/// Where graphs run.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// A state holding nothing; `compile` adds what the graphs need.
  virtual std::shared_ptr<State> make_state() = 0;
  /// Executables that share a state, and the calls of one executable, belong to one thread at a time; others of the
  /// same device may run at the same time, each with a team of threads of its own.
  ///
  /// Plans the graph. State that `state` does not hold yet starts with the graph's initial elements; state that it
  /// holds keeps its elements. Throws an Error that names every node without a kernel.
  virtual std::unique_ptr<Executable> compile(const graph::Graph& graph, std::shared_ptr<State> state,
                                              const CompileOptions& options = {}) = 0;
};

/// The CPU with `threads` threads (0: one a core that the process may use).
std::unique_ptr<Device> make_cpu_device(int threads = 0);

}  // namespace ort_train::runtime
