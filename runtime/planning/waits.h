#pragma once

#include <utility>
#include <vector>

#include "runtime/planning/program.h"

namespace ort_train::runtime::planning {

/// Finds where the arrays of asynchronous kernels are needed.
template <typename Format>
class WaitInserter {
  using Instruction = planning::Instruction<Format>;

 public:
  explicit WaitInserter(Program<Format>& program) : program_(program), pending_of_(program.arrays.size(), none) {}

  void run() {
    std::vector<Instruction> instructions = std::exchange(program_.instructions, {});
    for (Instruction& instruction : instructions) {
      wait_for_inputs(instruction);
      if (!instruction.kernel->awaited.empty()) add_pending(instruction);
      program_.instructions.push_back(std::move(instruction));
    }
    for (Pending& pending : pending_) wait_for(pending);
  }

 private:
  static constexpr int none = -1;

  struct Pending {
    Kernel<Format>* kernel = nullptr;
    Instruction wait;
    bool done = false;
  };

  // A view looks at nothing yet; who reads the view does.
  void wait_for_inputs(const Instruction& instruction) {
    if (instruction.is_view_only()) return;
    for (const int input : instruction.inputs) {
      if (input < 0) continue;
      const int pending = pending_of_[static_cast<std::size_t>(program_.shown_by(input))];
      if (pending != none) wait_for(pending_[static_cast<std::size_t>(pending)]);
    }
  }

  void add_pending(const Instruction& instruction) {
    Pending pending{
        instruction.kernel.get(),
        {instruction.node, instruction.op_type + " (wait)", instruction.description + " (wait)", nullptr, {}, {}}};
    for (const int output : instruction.kernel->awaited) {
      const int array = instruction.outputs[static_cast<std::size_t>(output)];
      if (array < 0) continue;
      pending.wait.inputs.push_back(array);
      pending_of_[static_cast<std::size_t>(array)] = static_cast<int>(pending_.size());
    }
    pending_.push_back(std::move(pending));
  }

  void wait_for(Pending& pending) {
    if (std::exchange(pending.done, true)) return;
    pending.wait.kernel = pending.kernel->make_wait();
    program_.instructions.push_back(std::move(pending.wait));
  }

  Program<Format>& program_;
  std::vector<int> pending_of_;  // for each array, the pending instruction that still works on it
  std::vector<Pending> pending_;
};

/// Adds an instruction "<operator> (wait)" for every kernel with awaited outputs, right before the first instruction
/// that reads what it delivers, or at the end of the program: what stands between is computed while the replicas
/// communicate. The wait reads all awaited arrays, so that the memory plan keeps them until then.
template <typename Format>
void insert_waits(Program<Format>& program) {
  WaitInserter<Format>(program).run();
}

}  // namespace ort_train::runtime::planning
