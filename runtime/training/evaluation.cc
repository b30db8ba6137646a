#include "runtime/training/evaluation.h"

#include <cstring>

#include "base/error.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/machine.h"
#include "runtime/training/metrics.h"
#include "runtime/training/task.h"

namespace ort_train::training {
namespace {

data::DatasetPointer samples_of(const data::Splits& splits) {
  return splits.validation != nullptr ? splits.validation : splits.training;
}

/// Those of other samples would silently give other outputs.
void take_statistics(Task& task, const TrainingConfig& config) {
  if (!config.resume.empty()) {
    const std::filesystem::path path = checkpoint_path(config.resume);
    task.set_statistics(data::statistics_from_tensors(read_checkpoint(path).statistics));
    return;
  }
  if (task.needs_statistics() && task.splits().validation == nullptr) {
    fail_usage(
        "preprocessing needs the mean or deviation of the training samples: give the checkpoint of the run with ",
        "--resume, or data that hold the training samples too");
  }
  task.prepare_statistics();
}

/// Samples are not divided here, so whoever computes has all threads to itself.
std::unique_ptr<runtime::Device> device_for(TrainingConfig config) {
  config.replicas = 1;
  return make_device(config, 0);
}

/// Appends the rows of `part` to those collected in `whole`.
class Stack {
 public:
  void add(const Tensor& part) {
    if (part.rank() == 0) fail("an output without a first axis that counts samples cannot be written sample by sample");
    if (bytes_.empty()) {
      dtype_ = part.dtype();
      dims_ = part.dims();
      dims_[0] = 0;
    }
    dims_[0] += part.dims()[0];
    const auto* start = reinterpret_cast<const char*>(part.raw());
    bytes_.insert(bytes_.end(), start, start + part.bytes());
  }

  Tensor tensor() const {
    Tensor whole(dtype_, dims_);
    std::memcpy(whole.raw(), bytes_.data(), bytes_.size());
    return whole;
  }

 private:
  DataType dtype_ = DataType::undefined;
  Dims dims_;
  std::vector<char> bytes_;
};

}  // namespace

Evaluation evaluate(Program& program, data::Loader& loader, const std::map<std::string, std::int64_t>& sample_blocks) {
  Totals totals(program.spec());
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    CompiledGraph& compiled = program.evaluation(batch->rows());
    compiled.feed(*batch, sample_blocks);
    compiled.executable().run();
    totals.add(compiled.executable());
  }
  return Evaluation{totals.loss(), totals.metrics()};
}

EvaluationReport evaluate(const TrainingConfig& config) {
  check_evaluation(config);
  Task task(config);
  take_statistics(task, config);
  Program program(task.model(), task.spec(), task.sample_dims(), device_for(config));
  const data::DatasetPointer samples = samples_of(task.splits());
  const auto loader = task.evaluation_loader(samples);
  return {evaluate(program, *loader, task.sample_blocks()), task.metric_names(), samples->size(), task.notes()};
}

std::map<std::string, Tensor> predict(const TrainingConfig& config) {
  check_evaluation(config);
  Task task(config, Task::Labels::not_needed);
  if (!task.spec().batch_axes.empty()) {
    fail_usage("predict writes outputs sample by sample, which needs samples along axis 0; those of '",
               task.spec().batch_axes.begin()->first, "' lie along axis ", task.spec().batch_axes.begin()->second);
  }
  take_statistics(task, config);
  Program program(task.model(), task.spec(), task.sample_dims(), device_for(config));
  const auto loader = task.evaluation_loader(samples_of(task.splits()));
  std::map<std::string, Stack> stacks;
  loader->start(0);
  while (const data::Batch* batch = loader->next()) {
    CompiledGraph& compiled = program.evaluation(batch->rows());
    compiled.feed(*batch, task.sample_blocks());
    compiled.executable().run();
    for (const graph::Value* output : task.model().outputs()) {
      stacks[output->name()].add(compiled.executable().output(output->name()));
    }
  }
  std::map<std::string, Tensor> result;
  for (const auto& [name, stack] : stacks) result[name] = stack.tensor();
  return result;
}

}  // namespace ort_train::training
