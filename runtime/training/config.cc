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

}  // namespace

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
  if (config.replicas > 1) {
    fail_usage("this build trains one replica, and ", config.replicas,
               " were asked for; leave out --replicas, and --threads sets how many cores share the work");
  }
  // A build without CUDA says here what to do instead.
  if (config.device == "cuda" || config.gpus > 0) runtime::make_cuda_device(0);
}

}  // namespace ort_train::training
