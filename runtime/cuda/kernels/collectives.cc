// AllReduce, ReduceScatter and AllGather by NCCL, on a stream of their own: it forks off the compute stream where the
// operands are there, and joins it again where the results are needed.
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/nccl/communicator.h"
#include "runtime/planning/bucket_operation.h"

namespace ort_train::runtime::cuda {

namespace {

class CollectiveKernel : public Kernel, private planning::ReplicaLink {
 public:
  explicit CollectiveKernel(const Request& request)
      : context_(request.context),
        operation_(planning::make_bucket_operation(request.node, context_.communicator->replicas())) {
    name = "nccl";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
    for (const std::int64_t count : operation_->own_memory) {
      outputs.push_back(Format::plain(inputs[0].dtype(), {count}));
    }
    input_slots = operation_->input_slots;
    output_slots = operation_->output_slots;
    awaited = operation_->awaited;
  }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override { operation_->start(pointers_, *this); }

  void wait() {
    done_.hold(context_.compute);
    operation_->finish(pointers_, *this);
  }

  std::unique_ptr<Kernel> make_wait() override;

 private:
  int replicas() const override { return context_.communicator->replicas(); }
  void copy(const std::byte* source, std::byte* target, std::size_t bytes) override {
    cuda::copy(target, source, bytes, context_.compute);
  }
  void clear(std::byte* memory, std::size_t bytes) override { cuda::clear(memory, bytes, context_.compute); }

  void all_reduce(DataType dtype, std::byte* memory, std::size_t count) override {
    fork();
    context_.communicator->all_reduce(dtype, memory, count, context_.communication);
    done_.record(context_.communication);
  }
  void reduce_scatter(DataType dtype, const std::byte* memory, std::byte* part, std::size_t part_count) override {
    fork();
    context_.communicator->reduce_scatter(dtype, memory, part, part_count, context_.communication);
    done_.record(context_.communication);
  }
  void all_gather(DataType dtype, const std::byte* part, std::byte* memory, std::size_t part_count) override {
    fork();
    context_.communicator->all_gather(dtype, part, memory, part_count, context_.communication);
    done_.record(context_.communication);
  }

  void fork() {
    ready_.record(context_.compute);
    ready_.hold(context_.communication);
  }

  const Context& context_;
  std::unique_ptr<planning::BucketOperation> operation_;
  Pointers pointers_;
  Event ready_, done_;
};

class WaitKernel : public Kernel {
 public:
  explicit WaitKernel(CollectiveKernel& kernel) : kernel_(kernel) { name = "wait"; }
  void bind(const Pointers&) override {}
  void run() override { kernel_.wait(); }

 private:
  CollectiveKernel& kernel_;
};

std::unique_ptr<Kernel> CollectiveKernel::make_wait() { return std::make_unique<WaitKernel>(*this); }

std::unique_ptr<Kernel> make_collective(const Request& request) { return std::make_unique<CollectiveKernel>(request); }

const TrainingFactoryRegistration all_reduce("AllReduce", make_collective);
const TrainingFactoryRegistration reduce_scatter("ReduceScatter", make_collective);
const TrainingFactoryRegistration all_gather("AllGather", make_collective);

}  // namespace

}  // namespace ort_train::runtime::cuda
