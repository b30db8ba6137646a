#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cpu/collective_kernel.h"
#include "runtime/cpu/state.h"
#include "runtime/executable.h"
#include "runtime/planning/placement.h"
#include "runtime/planning/program.h"

namespace ort_train::runtime::cpu {

using Instruction = planning::Instruction<Format>;
using Program = planning::Program<Format>;

class CpuExecutable : public Executable {
 public:
  CpuExecutable(const graph::Graph& graph, std::shared_ptr<CpuState> state, const Context& context,
                const CompileOptions& options);

  void set_input(const std::string& name, const Tensor& elements) override;
  void run() override;
  void wait() override {}
  Tensor output(const std::string& name) const override;
  const PlanReport& report() const override { return report_; }
  std::vector<ProfileEntry> profile() const override;

 private:
  void add_new_states();
  void find_collectives();
  void bind();
  void fill_report();
  void run_steps();
  void run_step(std::size_t index);
  void end_collectives(const std::string& reason) noexcept;
  [[noreturn]] void fail_at(std::size_t index, const std::string& reason) const;

  std::unique_ptr<graph::Graph> graph_;
  std::shared_ptr<CpuState> state_;
  Context context_;
  CompileOptions options_;
  Program program_;
  planning::Placement placement_;
  PlanReport report_;
  /// Instructions that compute something (views do not).
  std::vector<std::size_t> steps_;
  std::vector<CollectiveKernel*> collectives_;
  std::vector<double> milliseconds_;
  std::int64_t runs_ = 0;
};

}  // namespace ort_train::runtime::cpu
