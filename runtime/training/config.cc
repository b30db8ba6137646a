#include "runtime/training/config.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "runtime/cuda/device.h"

namespace ort_train::training {
namespace {

void check_optimizer(const passes::OptimizerSpec& optimizer) {
  if (optimizer.type != "sgd" && optimizer.momentum != 0) {
    fail_usage("'momentum' belongs to sgd; ", optimizer.type, " has beta1 in its place");
  }
  if (optimizer.type != "sgd" && optimizer.nesterov) fail_usage("'nesterov' belongs to sgd, not to ", optimizer.type);
  if (optimizer.nesterov && optimizer.momentum == 0) fail_usage("'nesterov' needs a 'momentum' above 0");
  if (optimizer.momentum >= 1) fail_usage("'momentum' must be below 1, not ", optimizer.momentum);
}

void check_schedule(const Schedule& schedule) {
  if (schedule.kind == Schedule::Kind::step && schedule.every == 0 && schedule.milestones.empty()) {
    fail_usage("the schedule 'step' needs 'every' or 'milestones': {type: step, every: 10, gamma: 0.1}");
  }
  for (std::size_t i = 1; i < schedule.milestones.size(); ++i) {
    if (schedule.milestones[i] <= schedule.milestones[i - 1]) fail_usage("'milestones' must increase");
  }
}

void check_curves(const std::filesystem::path& curves) {
  const std::string extension = curves.extension().string();
  if (!curves.empty() && extension != ".png" && extension != ".svg") {
    fail_usage("'curves' is a .png or .svg file, not '", curves.string(), "'");
  }
}

void check_division(const TrainingConfig& config) {
  constexpr std::int64_t most_replicas = 256;
  if (config.replicas > most_replicas) {
    fail_usage("'replicas' is ", config.replicas, "; a process runs at most ", most_replicas,
               ", and more processes (mpirun) run more");
  }
  if (config.global_batch_size && *config.global_batch_size < config.accumulate) {
    fail_usage("'global_batch_size' is ", *config.global_batch_size, ", which is less than one sample for each of ",
               config.accumulate, " micro-batches ('accumulate')");
  }
  if (!(config.collective_timeout > 0)) fail_usage("'collective_timeout' must be positive");
}

void check_gpus(const TrainingConfig& config) {
  if (config.gpus.empty()) return;
  if (config.replicas != static_cast<std::int64_t>(config.gpus.size())) {
    fail_usage("'replicas' is ", config.replicas, ", but each of the ", config.gpus.size(),
               " GPUs is a replica; leave 'replicas' out, or train on the CPU");
  }
  for (std::size_t i = 0; i < config.gpus.size(); ++i) {
    if (std::count(config.gpus.begin(), config.gpus.end(), config.gpus[i]) > 1) {
      fail_usage("'gpus' names GPU ", config.gpus[i], " twice");
    }
  }
  // A build or a machine without CUDA says here what to do instead.
  const int devices = runtime::cuda_device_count();
  for (const std::int64_t gpu : config.gpus) {
    if (gpu < devices) continue;
    fail_usage("GPU ", gpu, " was asked for, but this process sees ", devices, devices == 1 ? " GPU" : " GPUs",
               ", counted from 0; look at CUDA_VISIBLE_DEVICES");
  }
}

}  // namespace

std::int64_t replicas_of(const TrainingConfig& config) { return config.replicas * config.processes; }

std::int64_t global_batch(const TrainingConfig& config) {
  return config.global_batch_size.value_or(config.batch_size * config.accumulate * replicas_of(config));
}

std::int64_t evaluation_batch(const TrainingConfig& config) {
  return std::max<std::int64_t>(1, global_batch(config) / config.accumulate);
}

passes::Replication replication_of(const TrainingConfig& config, std::int64_t rank) {
  passes::Replication replication;
  replication.replicas = static_cast<int>(replicas_of(config));
  replication.rank = static_cast<int>(rank);
  replication.accumulate = config.accumulate;
  replication.statistics = config.batch_norm;
  replication.shard_optimizer = config.shard_optimizer;
  replication.bucket_bytes = config.bucket_bytes;
  return replication;
}

void check(const TrainingConfig& config) {
  check_optimizer(config.optimizer);
  check_schedule(config.schedule);
  check_curves(config.curves);
  if (config.checkpoint_every_steps > 0 && config.checkpoint.empty()) {
    fail_usage("'checkpoint_every_steps' needs 'checkpoint', the folder to write to");
  }
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  if (config.threads > 16 * cores) {
    fail_usage("'threads' is ", config.threads, ", but this machine has ", cores, cores == 1 ? " core" : " cores");
  }
  check_division(config);
  check_gpus(config);
}

void check_evaluation(const TrainingConfig& config) {
  if (config.gpus.size() > 1) {
    fail_usage("evaluate and predict run on one GPU, but 'gpus' names ", config.gpus.size(),
               "; give --gpus 1 for GPU 0, or --gpus \"[N]\" for GPU N");
  }
  check(config);
}

}  // namespace ort_train::training
