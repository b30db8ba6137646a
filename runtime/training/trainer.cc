#include "runtime/training/trainer.h"

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "graph/onnx_io.h"
#include "runtime/training/curves.h"

namespace ort_train::training {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

TrainingConfig completed(TrainingConfig config) {
  if (config.model.empty()) fail_usage("no model was given");
  if (config.data.path.empty()) fail_usage("no data set was given");
  check(config);
  if (config.output.empty()) config.output = config.model.stem().string() + "-trained.onnx";
  std::error_code ignored;
  if (std::filesystem::equivalent(config.output, config.model, ignored)) {
    fail_usage("the output ", config.output.string(), " would overwrite the model; choose another 'output'");
  }
  return config;
}

TrainingConfig checked(TrainingConfig config) {
  check(config);
  return config;
}

}  // namespace

Trainer::Trainer(TrainingConfig config) : Trainer(completed(config), Task(completed(config))) {}

Trainer::Trainer(TrainingConfig config, std::unique_ptr<graph::Graph> model, data::Splits splits)
    : Trainer(checked(config), Task(config, std::move(model), std::move(splits))) {}

Trainer::Trainer(TrainingConfig config, Task task)
    : config_(std::move(config)),
      task_(std::move(task)),
      replicas_(task_, config_),
      notes_(task_.notes()),
      last_epoch_(config_.epochs),
      totals_(task_.spec()),
      history_(task_.metric_names(), task_.splits().validation != nullptr) {}

template <typename Function>
void Trainer::notify(Function&& function) {
  for (const auto& callback : callbacks_) function(*callback);
}

void Trainer::check_outputs() const {
  if (!is_first_process()) return;
  for (const auto& path : {config_.output, config_.history, config_.curves}) {
    if (!path.empty()) check_writable(path);
  }
  if (!config_.checkpoint.empty()) check_writable(last_checkpoint());
}

void Trainer::prepare() {
  if (prepared_) return;
  check_outputs();
  model_digest_ = digest_of(task_.model());
  settings_ = settings_of(config_, task_.spec(), task_.splits().training->size());
  std::optional<Checkpoint> checkpoint;
  if (!config_.resume.empty()) {
    const std::filesystem::path path = checkpoint_path(config_.resume);
    checkpoint = read_checkpoint(path);
    for (const std::string& change : check_resumable(*checkpoint, model_digest_, settings_, path)) {
      notes_.push_back(change);
    }
    task_.set_statistics(data::statistics_from_tensors(checkpoint->statistics));
  } else {
    task_.prepare_statistics();
  }
  replicas_.make_loaders();
  steps_per_epoch_ = replicas_.steps_per_epoch();
  compile();
  if (checkpoint) restore(*checkpoint);
  prepared_ = true;
}

void Trainer::compile() {
  // Every batch size that will come, so that nothing is left to fail in the last step of an epoch.
  const auto compile_sizes = [&](std::int64_t samples, std::int64_t batch, bool drop_last, auto&& compile_one) {
    if (samples >= batch) compile_one(batch);
    if (!drop_last && samples % batch != 0) compile_one(samples % batch);
  };
  const data::Splits& splits = task_.splits();
  compile_sizes(splits.training->size(), global_batch(config_), config_.drop_last,
                [&](std::int64_t size) { replicas_.compile_training(size); });
  if (splits.validation == nullptr) return;
  compile_sizes(splits.validation->size(), evaluation_batch(config_), false,
                [&](std::int64_t size) { replicas_.compile_evaluation(size); });
}

void Trainer::restore(const Checkpoint& checkpoint) {
  replicas_.set_whole_state(checkpoint.state, "the checkpoint " + config_.resume.string());
  if (checkpoint.history.columns() != history_.columns()) {
    fail("the checkpoint ", config_.resume.string(), " has other metrics or validation than this run; resume with the ",
         "same");
  }
  history_ = checkpoint.history;
  position_ = checkpoint.position;
  totals_.restore(checkpoint.totals);
  seconds_before_ = checkpoint.seconds;
  best_ = checkpoint.best;
}

FitResult Trainer::fit() {
  prepare();
  try {
    return train();
  } catch (const Error& error) {
    throw Error(error.what() + rescue(), error.kind());
  }
}

FitResult Trainer::train() {
  notify([&](Callback& callback) { callback.on_train_begin(*this); });
  FitResult result;
  while (position_.epoch < last_epoch_ && !result.interrupted) result.interrupted = !run_epoch();
  if (result.interrupted) {
    const std::filesystem::path path = interruption_checkpoint();
    if (!path.empty()) save_checkpoint(path);
    result.checkpoint = path.string();
  } else if (!config_.output.empty() && is_first_process()) {
    graph::save(*trained_model(), config_.output);
  }
  notify([&](Callback& callback) { callback.on_train_end(*this, result); });
  return result;
}

std::string Trainer::rescue() {
  if (!is_first_process()) return "";
  if (save_surviving_state()) {
    return text("; the state after step ", global_step(), " is saved; to go on: the same command with --resume ",
                (config_.checkpoint.empty() ? interruption_checkpoint() : config_.checkpoint).string());
  }
  std::error_code ignored;
  if (config_.checkpoint.empty() || !std::filesystem::exists(last_checkpoint(), ignored)) return "";
  return text("; to go on from the last checkpoint: the same command with --resume ", config_.checkpoint.string());
}

bool Trainer::save_surviving_state() {
  const std::filesystem::path path = interruption_checkpoint();
  // Before the first step there is nothing that a new run would not have.
  if (state_is_ahead_ || global_step() == 0 || path.empty()) return false;
  try {
    std::optional<std::map<std::string, Tensor>> state = replicas_.surviving_state();
    if (!state) return false;
    write_checkpoint(path, checkpoint_of(std::move(*state)));
    return true;
  } catch (const Error&) {
    // The run has failed for another reason, and that is the one to be told.
    return false;
  }
}

bool Trainer::run_epoch() {
  epoch_start_ = Clock::now();
  notify([&](Callback& callback) { callback.on_epoch_begin(*this, position_.epoch + 1); });
  double seconds_per_sample = 0;
  if (!train_epoch(seconds_per_sample)) return false;
  std::optional<Evaluation> validation;
  if (task_.splits().validation != nullptr) {
    notify([&](Callback& callback) { callback.on_validation_begin(*this); });
    validation = validate();
    if (!validation) return false;
  }
  finish_epoch(validation, seconds_before_ + seconds_since(epoch_start_), seconds_per_sample);
  return !(replicas_.any_process(interrupted_) && position_.epoch < last_epoch_);
}

double Trainer::learning_rate() const {
  return config_.schedule.rate(global_step(), steps_per_epoch(), config_.epochs);
}

bool Trainer::train_epoch(double& seconds_per_sample) {
  BatchReport report;
  report.epoch = position_.epoch + 1;
  report.epochs = config_.epochs;
  report.steps_per_epoch = steps_per_epoch();
  // A run that stopped while it validated has no step left in this epoch.
  if (position_.step < steps_per_epoch()) {
    replicas_.start_training(static_cast<std::uint32_t>(position_.epoch), position_.step);
  }
  while (position_.step < steps_per_epoch()) {
    report.learning_rate = learning_rate();
    report.samples += run_step();
    report.step = position_.step;
    report.seconds = seconds_since(epoch_start_);
    report.loss = totals_.loss();
    report.metrics = totals_.metrics();
    notify([&](Callback& callback) { callback.on_batch_end(*this, report); });
    if (replicas_.any_process(interrupted_)) return false;
    const bool save = config_.checkpoint_every_steps > 0 && position_.step < steps_per_epoch() &&
                      global_step() % config_.checkpoint_every_steps == 0;
    if (save) save_checkpoint(last_checkpoint());
  }
  seconds_per_sample = report.seconds > 0 ? report.seconds / static_cast<double>(report.samples) : 0;
  return true;
}

std::int64_t Trainer::run_step() {
  const Replicas::Step step = replicas_.train(static_cast<float>(learning_rate()), global_step() + 1);
  state_is_ahead_ = true;
  totals_.add(step.compiled->executable());
  check_finite(step.compiled->executable().output(passes::loss_output).to_doubles().at(0));
  ++position_.step;
  state_is_ahead_ = false;
  return step.samples;
}

std::optional<Evaluation> Trainer::validate() {
  Totals totals(task_.spec());
  replicas_.start_validation();
  while (const std::optional<Replicas::Step> step = replicas_.evaluate()) {
    totals.add(step->compiled->executable());
    if (replicas_.any_process(interrupted_)) return std::nullopt;
  }
  return Evaluation{totals.loss(), totals.metrics()};
}

void Trainer::check_finite(double loss) const {
  if (std::isfinite(loss)) return;
  fail("the loss became ", loss, " in step ", position_.step + 1, " of epoch ", position_.epoch + 1,
       "; a lower learning rate, inputs of smaller scale or a larger batch usually help, unless the data themselves ",
       "hold numbers that are not finite");
}

void Trainer::finish_epoch(const std::optional<Evaluation>& validation, double seconds, double seconds_per_sample) {
  EpochReport report;
  report.epoch = position_.epoch + 1;
  report.epochs = config_.epochs;
  report.seconds = seconds;
  report.samples_per_second = seconds_per_sample > 0 ? 1 / seconds_per_sample : 0;
  report.learning_rate = config_.schedule.rate(position_.epoch * steps_per_epoch(), steps_per_epoch(), config_.epochs);
  report.loss = totals_.loss();
  report.metrics = totals_.metrics();
  std::vector<double> row = {static_cast<double>(report.epoch), seconds, report.learning_rate, report.loss};
  row.insert(row.end(), report.metrics.begin(), report.metrics.end());
  if (validation) {
    report.validation_loss = validation->loss;
    report.validation_metrics = validation->metrics;
    row.push_back(validation->loss);
    row.insert(row.end(), validation->metrics.begin(), validation->metrics.end());
  }
  history_.add(row);
  position_ = {position_.epoch + 1, 0};
  totals_.clear();
  seconds_before_ = 0;
  keep_best(report.validation_loss.value_or(report.loss));
  const bool is_last = position_.epoch == last_epoch_;
  if (!config_.checkpoint.empty() && (is_last || position_.epoch % config_.checkpoint_every_epochs == 0)) {
    save_checkpoint(last_checkpoint());
  }
  save_reports();
  notify([&](Callback& callback) { callback.on_epoch_end(*this, report); });
}

void Trainer::keep_best(double monitored) {
  if (!(monitored < best_)) return;
  best_ = monitored;
  if (!config_.checkpoint.empty() && is_first_process()) {
    graph::save(*trained_model(), config_.checkpoint / "best.onnx");
  }
}

std::filesystem::path Trainer::interruption_checkpoint() const {
  if (!config_.checkpoint.empty()) return last_checkpoint();
  if (config_.output.empty()) return {};
  std::filesystem::path path = config_.output;
  return path.replace_extension(".checkpoint.npz");
}

void Trainer::save_checkpoint(const std::filesystem::path& path) {
  const Checkpoint checkpoint = checkpoint_of(replicas_.whole_state());
  if (is_first_process()) write_checkpoint(path, checkpoint);
}

Checkpoint Trainer::checkpoint_of(std::map<std::string, Tensor> state) const {
  Checkpoint checkpoint;
  checkpoint.model_digest = model_digest_;
  checkpoint.settings = settings_;
  checkpoint.position = position_;
  const bool within_epoch = position_.step > 0;
  checkpoint.seconds = within_epoch ? seconds_before_ + seconds_since(epoch_start_) : 0;
  checkpoint.best = best_;
  checkpoint.totals = totals_.values();
  checkpoint.history = history_;
  checkpoint.state = std::move(state);
  checkpoint.statistics = data::to_tensors(task_.statistics());
  return checkpoint;
}

void Trainer::save_reports() const {
  if (!is_first_process()) return;
  if (!config_.history.empty()) write_file_atomically(config_.history, history_.to_csv());
  if (!config_.curves.empty()) write_curves(config_.curves, history_);
}

}  // namespace ort_train::training
