#include "runtime/training/replicas.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "base/flat_part.h"
#include "base/shard.h"
#include "runtime/collectives/group.h"
#include "runtime/training/machine.h"

namespace ort_train::training {
namespace {

/// What went wrong first.
class FirstError {
 public:
  void keep(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

std::string sentence_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

/// The extents of the parameter that a slot "ort_train.<slot>.<parameter>" belongs to.
Dims dims_of_parameter(const std::string& slot, const runtime::State& state) {
  for (const std::string& name : state.names()) {
    if (state.role(name) != graph::Role::parameter) continue;
    for (const char* kind : {"momentum", "moment1", "moment2"}) {
      if (passes::slot_name(kind, name) == slot) return state.get(name).dims();
    }
  }
  fail("the state '", slot, "' belongs to no parameter");
}

/// The replica has only its part of some of the state.
bool keeps_parts(const Replica& replica) {
  return replica.replication.shard_optimizer && replica.replication.replicas > 1;
}

/// The replica has only its part of this state.
bool keeps_part(const Replica& replica, const std::string& name) {
  return keeps_parts(replica) && replica.program->state().role(name) == graph::Role::optimizer_slot;
}

}  // namespace

void Replica::feed(CompiledGraph& compiled, const data::Batch& batch,
                   const std::map<std::string, std::int64_t>& sample_blocks) const {
  compiled.feed(batch, sample_blocks);
  const Shard shard = shard_of(batch.global_size, replication.replicas, replication.rank);
  compiled.set_input(passes::first_sample_input, Tensor::scalar(shard.first));
}

Replicas::Replicas(const Task& task, const TrainingConfig& config) : task_(task), config_(config) {
  const runtime::Layout layout{config.processes, config.process, static_cast<int>(config.replicas)};
  runtime::CollectiveOptions options;
  options.timeout_seconds = config.collective_timeout;
  if (layout.replicas() > 1) collectives_ = runtime::make_collectives(layout, options);
  for (int local = 0; local < layout.replicas_per_process; ++local) {
    auto replica = std::make_unique<Replica>();
    replica->replication = replication_of(config, layout.first_replica() + local);
    if (!collectives_.empty()) replica->collective = collectives_[static_cast<std::size_t>(local)].get();
    passes::TrainingSpec spec = task.spec();
    // One replica's stages are enough to look at.
    if (replica->replication.rank != 0) spec.dump_folder.clear();
    replica->program =
        std::make_unique<Program>(task.model(), std::move(spec), task.sample_dims(), make_device(config, local),
                                  Program::Options{replica->replication, replica->collective, config.winograd});
    replicas_.push_back(std::move(replica));
    if (layout.replicas_per_process > 1) workers_.push_back(std::make_unique<Worker>());
  }
}

void Replicas::run(const std::function<void(Replica&)>& function) {
  FirstError first;
  const auto run_one = [&](Replica& replica) {
    try {
      function(replica);
    } catch (...) {
      first.keep(std::current_exception());
      if (replica.collective != nullptr) replica.collective->abort(sentence_of(std::current_exception()));
    }
  };
  if (workers_.empty()) run_one(front());
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->start([&, i] { run_one(*replicas_[i]); });
  for (const auto& worker : workers_) worker->wait();
  first.rethrow();
}

void Replicas::make_loaders() {
  for (const auto& replica : replicas_) {
    replica->program->set_preparations(task_.spec().preparations);
    replica->training = task_.training_loader(replica->replication);
    if (task_.splits().validation != nullptr) {
      replica->validation = task_.evaluation_loader(task_.splits().validation, replica->replication);
    }
  }
}

void Replicas::compile_training(std::int64_t batch_size) {
  run([&](Replica& replica) { replica.program->training(batch_size); });
}

void Replicas::compile_evaluation(std::int64_t batch_size) {
  run([&](Replica& replica) { replica.program->evaluation(batch_size); });
}

void Replicas::start_training(std::uint32_t epoch, std::int64_t step) {
  for (const auto& replica : replicas_) replica->training->start(epoch, step);
}

void Replicas::start_validation() {
  for (const auto& replica : replicas_) replica->validation->start(0);
}

Replicas::Step Replicas::train(float learning_rate, std::int64_t step_number) {
  Step step;
  std::vector<CompiledGraph*> fed(replicas_.size());
  // What fails while samples are read and brought to the devices leaves the state alone, hence the two parts.
  run([&](Replica& replica) {
    const data::Batch* batch = replica.training->next();
    if (batch == nullptr) fail("the loader ended an epoch before step ", step_number);
    CompiledGraph& compiled = replica.program->training(batch->global_size);
    replica.feed(compiled, *batch, task_.sample_blocks());
    compiled.set_input(passes::learning_rate_input, Tensor::scalar(learning_rate));
    compiled.set_input(passes::step_input, Tensor::scalar(step_number));
    fed[local_index(replica)] = &compiled;
    if (&replica == &front()) step = {&compiled, batch->global_size};
  });
  within_step_ = true;
  run([&](Replica& replica) {
    runtime::Executable& executable = fed[local_index(replica)]->executable();
    executable.run();
    executable.wait();
  });
  within_step_ = false;
  return step;
}

std::optional<Replicas::Step> Replicas::evaluate() {
  std::optional<Step> step;
  run([&](Replica& replica) {
    const data::Batch* batch = replica.validation->next();
    if (batch == nullptr) return;
    CompiledGraph& compiled = replica.program->evaluation(batch->global_size);
    replica.feed(compiled, *batch, task_.sample_blocks());
    compiled.executable().run();
    compiled.executable().wait();
    if (&replica == &front()) step = Step{&compiled, batch->global_size};
  });
  return step;
}

bool Replicas::any_process(bool value) {
  if (config_.processes == 1) return value;
  std::atomic<bool> any = false;
  run([&](Replica& replica) {
    std::int64_t votes = value ? 1 : 0;
    replica.collective->wait(replica.collective->all_reduce(DataType::int64, &votes, 1));
    if (votes > 0) any = true;
  });
  return any;
}

std::size_t Replicas::local_index(const Replica& replica) const {
  return static_cast<std::size_t>(replica.replication.rank - front().replication.rank);
}

std::map<std::string, Tensor> Replicas::whole_state() {
  std::map<std::string, Tensor> whole;
  run([&](Replica& replica) {
    const runtime::State& state = replica.program->state();
    const bool is_front = &replica == &front();
    for (const std::string& name : state.names()) {
      if (state.role(name) == graph::Role::constant) continue;
      Tensor elements = state.get(name);
      if (keeps_part(replica, name)) {
        const Dims dims = dims_of_parameter(name, state);
        Tensor parts(elements.dtype(), {elements.size() * replica.replication.replicas});
        replica.collective->wait(replica.collective->all_gather(elements.dtype(), elements.raw(), parts.raw(),
                                                                static_cast<std::size_t>(elements.size())));
        elements = Tensor(elements.dtype(), dims);
        std::memcpy(elements.raw(), parts.raw(), elements.bytes());
      }
      if (is_front) whole[name] = std::move(elements);
    }
  });
  return whole;
}

std::optional<std::map<std::string, Tensor>> Replicas::surviving_state() const {
  if (within_step_ || keeps_parts(front())) return std::nullopt;
  for (const auto& replica : replicas_) {
    try {
      std::map<std::string, Tensor> whole;
      const runtime::State& state = replica->program->state();
      for (const std::string& name : state.names()) {
        if (state.role(name) != graph::Role::constant) whole[name] = state.get(name);
      }
      return whole;
    } catch (const Error&) {
      // Its device is the one that failed.
    }
  }
  return std::nullopt;
}

void Replicas::set_whole_state(const std::map<std::string, Tensor>& whole, const std::string& origin) {
  run([&](Replica& replica) {
    runtime::State& state = replica.program->state();
    for (const std::string& name : state.names()) {
      const auto found = whole.find(name);
      if (found == whole.end()) {
        if (state.role(name) == graph::Role::constant) continue;
        fail(origin, " lacks '", name, "'; resume with the same optimizer and trainable parameters");
      }
      state.set(name, keeps_part(replica, name)
                          ? flat_part(found->second, replica.replication.replicas, replica.replication.rank)
                          : found->second);
    }
  });
}

}  // namespace ort_train::training
