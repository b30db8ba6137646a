#include "runtime/cpu/waits.h"

#include <utility>

#include "runtime/cpu/collective_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

class WaitInserter {
 public:
  explicit WaitInserter(Program& program) : program_(program), collective_of_(program.arrays.size(), none) {}

  void run() {
    std::vector<Instruction> instructions = std::exchange(program_.instructions, {});
    for (Instruction& instruction : instructions) {
      wait_for_inputs(instruction);
      auto* kernel = dynamic_cast<CollectiveKernel*>(instruction.kernel.get());
      if (kernel != nullptr) add_pending(instruction, *kernel);
      program_.instructions.push_back(std::move(instruction));
    }
    for (Pending& pending : pending_) wait_for(pending);
  }

 private:
  static constexpr int none = -1;

  struct Pending {
    CollectiveKernel* kernel = nullptr;
    Instruction wait;
    bool done = false;
  };

  // A view looks at nothing yet; who reads the view does.
  void wait_for_inputs(const Instruction& instruction) {
    if (instruction.is_view_only()) return;
    for (const int input : instruction.inputs) {
      if (input < 0) continue;
      const int collective = collective_of_[static_cast<std::size_t>(program_.shown_by(input))];
      if (collective != none) wait_for(pending_[static_cast<std::size_t>(collective)]);
    }
  }

  void add_pending(const Instruction& instruction, CollectiveKernel& kernel) {
    Pending pending{&kernel, {instruction.node, instruction.op_type + " (wait)", nullptr, {}, {}}};
    for (const int output : kernel.awaited) {
      const int array = instruction.outputs[static_cast<std::size_t>(output)];
      if (array < 0) continue;
      pending.wait.inputs.push_back(array);
      collective_of_[static_cast<std::size_t>(array)] = static_cast<int>(pending_.size());
    }
    pending_.push_back(std::move(pending));
  }

  void wait_for(Pending& pending) {
    if (std::exchange(pending.done, true)) return;
    pending.wait.kernel = make_wait(*pending.kernel);
    program_.instructions.push_back(std::move(pending.wait));
  }

  Program& program_;
  std::vector<int> collective_of_;  // for each array, the collective that still works on it
  std::vector<Pending> pending_;
};

}  // namespace

void insert_waits(Program& program) { WaitInserter(program).run(); }

}  // namespace ort_train::runtime::cpu
