#include "runtime/cpu/collective_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

class WaitKernel : public Kernel {
 public:
  explicit WaitKernel(CollectiveKernel& kernel) : kernel_(kernel) { name = "wait"; }
  void bind(const Pointers&) override {}
  void run() override { kernel_.wait(); }

 private:
  CollectiveKernel& kernel_;
};

}  // namespace

void CollectiveKernel::run() {
  ticket_ = start();
  started_ = true;
}

void CollectiveKernel::wait() {
  if (!std::exchange(started_, false)) return;
  collective_.wait(ticket_);
  finish();
}

void CollectiveKernel::drain() noexcept {
  if (!std::exchange(started_, false)) return;
  try {
    collective_.wait(ticket_);
  } catch (...) {
    // The error that came first is the one that is reported.
  }
}

std::unique_ptr<Kernel> CollectiveKernel::make_wait() { return std::make_unique<WaitKernel>(*this); }

}  // namespace ort_train::runtime::cpu
