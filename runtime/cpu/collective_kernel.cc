#include "runtime/cpu/collective_kernel.h"

#include <cstring>

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

std::unique_ptr<Kernel> make_collective(const Request& request) { return std::make_unique<CollectiveKernel>(request); }

const TrainingFactoryRegistration all_reduce("AllReduce", make_collective);
const TrainingFactoryRegistration reduce_scatter("ReduceScatter", make_collective);
const TrainingFactoryRegistration all_gather("AllGather", make_collective);

}  // namespace

CollectiveKernel::CollectiveKernel(const Request& request)
    : collective_(*request.context.collective),
      operation_(planning::make_bucket_operation(request.node, collective_.replicas())) {
  name = "collective";
  inputs = request.plain_inputs();
  outputs = request.plain_outputs();
  for (const std::int64_t count : operation_->own_memory) {
    outputs.push_back(Format::plain(inputs[0].dtype(), {count}));
  }
  input_slots = operation_->input_slots;
  output_slots = operation_->output_slots;
  awaited = operation_->awaited;
}

void CollectiveKernel::run() {
  operation_->start(pointers_, *this);
  started_ = true;
}

void CollectiveKernel::wait() {
  if (!std::exchange(started_, false)) return;
  collective_.wait(ticket_);
  operation_->finish(pointers_, *this);
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

void CollectiveKernel::copy(const std::byte* source, std::byte* target, std::size_t bytes) {
  if (bytes > 0) std::memcpy(target, source, bytes);
}

void CollectiveKernel::clear(std::byte* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

void CollectiveKernel::all_reduce(DataType dtype, std::byte* memory, std::size_t count) {
  ticket_ = collective_.all_reduce(dtype, memory, count);
}

void CollectiveKernel::reduce_scatter(DataType dtype, const std::byte* memory, std::byte* part,
                                      std::size_t part_count) {
  ticket_ = collective_.reduce_scatter(dtype, memory, part, part_count);
}

void CollectiveKernel::all_gather(DataType dtype, const std::byte* part, std::byte* memory, std::size_t part_count) {
  ticket_ = collective_.all_gather(dtype, part, memory, part_count);
}

}  // namespace ort_train::runtime::cpu
