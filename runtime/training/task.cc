#include "runtime/training/task.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "passes/attach_losses.h"
#include "passes/partition/analysis.h"
#include "runtime/data/field_binding.h"
#include "runtime/data/open_dataset.h"
#include "runtime/data/sample_shape.h"
#include "runtime/training/loss_choice.h"
#include "runtime/training/metrics.h"
#include "runtime/training/preparation.h"

namespace ort_train::training {
namespace {

/// Extents of one sample: those of the input without the axis that counts the samples.
Dims sample_dims_of(const graph::Value& input, std::int64_t batch_axis) {
  const auto& shape = input.type().shape;
  if (!shape || static_cast<std::int64_t>(shape->size()) <= batch_axis) {
    fail("the model's input '", input.name(), "' is ", graph::to_string(input.type()), "; training needs an axis ",
         batch_axis, " that counts samples");
  }
  Dims dims;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (static_cast<std::int64_t>(i) == batch_axis) continue;
    dims.push_back((*shape)[i].is_known() ? (*shape)[i].value() : -1);
  }
  return dims;
}

bool names_a_batch(const graph::Dimension& dimension) {
  if (!dimension.is_symbol()) return false;
  const std::string& symbol = dimension.symbol();
  return symbol == "N" || symbol == "B" || symbol == "n" || symbol == "b" || symbol.find("batch") != std::string::npos;
}

/// 0, unless the file names another axis as that of the batch.
std::int64_t declared_batch_axis(const graph::Value& input) {
  const auto& shape = input.type().shape;
  if (!shape) return 0;
  std::int64_t found = 0;
  int count = 0;
  for (std::size_t axis = 0; axis < shape->size(); ++axis) {
    if (!names_a_batch((*shape)[axis])) continue;
    found = static_cast<std::int64_t>(axis);
    ++count;
  }
  return count == 1 ? found : 0;
}

data::ImageLayout layout_of(const std::string& name) {
  if (name == "channels_first") return data::ImageLayout::channels_first;
  if (name == "channels_last") return data::ImageLayout::channels_last;
  return data::ImageLayout::none;
}

data::InputOptions input_options(const TrainingConfig& config) {
  const PreprocessingConfig& preprocessing = config.preprocessing;
  using Options = data::InputOptions;
  Options options;
  options.layout = layout_of(preprocessing.layout);
  options.resize = preprocessing.resize || !config.data.image_size.empty();
  options.scale = static_cast<float>(preprocessing.scale);
  if (preprocessing.mean == PreprocessingConfig::Mean::image) options.mean = Options::Mean::per_pixel;
  if (preprocessing.mean == PreprocessingConfig::Mean::channel) options.mean = Options::Mean::per_channel;
  options.given_mean.assign(preprocessing.mean_values.begin(), preprocessing.mean_values.end());
  options.deviation = preprocessing.deviation == PreprocessingConfig::Deviation::channel;
  options.given_deviation.assign(preprocessing.deviation_values.begin(), preprocessing.deviation_values.end());
  options.augmentation = config.augmentation;
  return options;
}

/// Height, width and channels that pictures of a folder are brought to: those asked for, else those of the model.
data::ImageSize picture_size(const TrainingConfig& config, const graph::Graph& model) {
  data::ImageSize size;
  if (model.inputs().empty()) return size;
  const graph::Value& input = *model.inputs().front();
  if (!input.type().shape || input.type().shape->empty()) return size;
  const Dims dims = sample_dims_of(input, 0);
  if (dims.size() == 3) {
    const auto is_channel_count = [](std::int64_t extent) { return extent == 1 || extent == 3; };
    const bool last = config.preprocessing.layout == "channels_last" ||
                      (config.preprocessing.layout.empty() && !is_channel_count(dims[0]) && is_channel_count(dims[2]));
    const std::int64_t channels = last ? dims[2] : dims[0];
    if (is_channel_count(channels)) size.channels = channels;
    size.height = std::max<std::int64_t>(last ? dims[0] : dims[1], 0);
    size.width = std::max<std::int64_t>(last ? dims[1] : dims[2], 0);
  }
  if (config.data.image_size.size() == 2) {
    size.height = config.data.image_size[0];
    size.width = config.data.image_size[1];
  }
  return size;
}

data::Splits open_splits(const TrainingConfig& config, const graph::Graph& model) {
  data::DatasetSpec spec;
  spec.path = config.data.path;
  spec.kind = config.data.kind;
  spec.validation_path = config.data.validation;
  spec.validation_fraction = config.data.validation_split;
  spec.seed = config.seed;
  for (const auto& [input, array] : config.data.inputs) spec.arrays.inputs.push_back(array);
  for (const auto& [label, array] : config.data.labels) spec.arrays.labels.push_back(array);
  if (config.data.inputs.empty() && model.inputs().size() > 1) {
    for (const graph::Value* input : model.inputs()) spec.arrays.inputs.push_back(input->name());
  }
  if (config.data.labels.empty() && config.losses.size() > 1) {
    for (const passes::LossSpec& loss : config.losses) {
      spec.arrays.labels.push_back(loss.label.empty() ? "label_" + loss.output : loss.label);
    }
  }
  spec.image = picture_size(config, model);
  return data::open_dataset(spec);
}

const data::Field* first_label(const data::Dataset& samples) {
  for (const data::Field& field : samples.fields()) {
    if (field.role == data::FieldRole::label) return &field;
  }
  return nullptr;
}

void check_names(const std::map<std::string, std::string>& given, const std::vector<std::string>& known,
                 const char* key) {
  for (const auto& [name, array] : given) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    fail_usage("data.", key, ": there is no '", name, "'; there are ", names);
  }
}

std::string field_for(const std::map<std::string, std::string>& given, const std::string& name) {
  const auto found = given.find(name);
  return found == given.end() ? "" : found->second;
}

unsigned available_cores(const TrainingConfig& config) {
  if (config.threads > 0) return static_cast<unsigned>(config.threads);
  return std::max(1u, std::thread::hardware_concurrency());
}

bool has_binary_loss(const passes::TrainingSpec& spec, const std::string& output) {
  return std::any_of(spec.losses.begin(), spec.losses.end(), [&](const passes::LossSpec& loss) {
    return loss.output == output && (loss.type == "bce" || loss.type == "bce_with_logits");
  });
}

/// A label is fed, so its name must not be that of a value which the model computes or stores.
void check_label_names(const graph::Graph& model, const passes::TrainingSpec& spec) {
  for (const passes::LossSpec& loss : spec.losses) {
    const graph::Value* value = model.find(loss.label);
    if (value == nullptr || value->role() == graph::Role::input) continue;
    fail_usage("the label '", loss.label, "' of the loss ", loss.type,
               " has the name of a value of the model; give it another one: loss: [{type: ", loss.type,
               ", label: NAME}]");
  }
}

/// The number of classes that a label of a class loss or metric chooses from; 0 when the label is just numbers.
std::int64_t class_count(const graph::Graph& evaluation, const passes::TrainingSpec& spec, const std::string& label) {
  const auto classes_of = [&](const std::string& output) { return evaluation.at(output)->dims().at(1); };
  for (const passes::LossSpec& loss : spec.losses) {
    const bool counts_classes = loss.type == "softmax_cross_entropy" || loss.type == "nll";
    if (loss.label == label && counts_classes) return classes_of(loss.output);
  }
  for (const passes::MetricSpec& metric : spec.metrics) {
    const bool counts_classes = metric.type == "accuracy" || metric.type == "top_k";
    if (metric.label == label && counts_classes) return classes_of(metric.output);
  }
  return 0;
}

/// How the labels hold the samples. A model that no batch can be divided in still trains on one replica, where the
/// first axis of the output must count samples.
std::map<std::string, passes::Sharding> label_shardings(const graph::Graph& evaluation,
                                                        const passes::BatchInputs& batch,
                                                        const std::vector<std::string>& labels) {
  try {
    return passes::input_shardings(evaluation, batch);
  } catch (const Error&) {
    std::map<std::string, passes::Sharding> result;
    for (const std::string& label : labels) {
      const Dims dims = evaluation.at(label)->dims();
      if (dims.empty() || dims[0] % batch.samples != 0) {
        fail("the label '", label, "' has the shape ", to_string(dims), " for a batch of ", batch.samples,
             "; the first axis of the output that it belongs to must count samples");
      }
      result[label] = passes::Sharding::along(0, 1, dims[0] / batch.samples);
    }
    return result;
  }
}

/// Extents of the label of one sample: those of the label with the samples taken out, [before, outer, inner, after].
Dims label_sample_dims(const graph::Value& label, const std::map<std::string, passes::Sharding>& shardings,
                       std::map<std::string, std::int64_t>& sample_blocks) {
  const passes::Sharding& sharding = shardings.at(label.name());
  const Dims dims = label.dims();
  const auto axis = dims.begin() + sharding.axis;
  Dims sample(dims.begin(), axis);
  if (sharding.outer != 1) sample.push_back(sharding.outer);
  const std::int64_t blocks = element_count(sample);
  if (sharding.inner != 1) sample.push_back(sharding.inner);
  sample.insert(sample.end(), axis + 1, dims.end());
  if (blocks != 1) sample_blocks[label.name()] = blocks;
  return sample;
}

}  // namespace

Task::Task(const TrainingConfig& config, Labels labels) : config_(config) {
  model_ = graph::load(config.model);
  splits_ = open_splits(config, *model_);
  match(labels);
}

Task::Task(const TrainingConfig& config, std::unique_ptr<graph::Graph> model, data::Splits splits, Labels labels)
    : config_(config), model_(std::move(model)), splits_(std::move(splits)) {
  match(labels);
}

Task Task::without_samples(const TrainingConfig& config) {
  Task task;
  task.config_ = config;
  task.model_ = graph::load(config.model);
  task.take_settings();
  task.choose_losses(Labels::needed);
  task.take_declared_dims();
  return task;
}

void Task::match(Labels labels) {
  take_settings();
  choose_losses(labels);
  make_input_slots();
  if (labels == Labels::needed) make_label_slots();
}

void Task::take_settings() {
  spec_.optimizer = config_.optimizer;
  spec_.trainable = config_.trainable;
  spec_.freeze = config_.freeze;
  spec_.seed = config_.seed;
  spec_.disabled_passes = config_.disabled_passes;
  spec_.dump_folder = config_.dump_passes;
  find_batch_axes();
}

void Task::find_batch_axes() {
  std::vector<std::string> names;
  for (const graph::Value* input : model_->inputs()) names.push_back(input->name());
  for (const auto& [name, axis] : config_.batch_axis) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    fail_usage("batch_axis: the model has no input '", name, "'");
  }
  for (const graph::Value* input : model_->inputs()) {
    std::int64_t axis = declared_batch_axis(*input);
    for (const std::string& name : {std::string(), input->name()}) {
      const auto given = config_.batch_axis.find(name);
      if (given != config_.batch_axis.end()) axis = given->second;
    }
    if (axis != 0) spec_.batch_axes[input->name()] = axis;
  }
}

void Task::choose_losses(Labels labels) {
  if (labels == Labels::not_needed) return;
  spec_.losses = config_.losses;
  if (spec_.losses.empty()) {
    std::string why;
    const data::Field* label = splits_.training != nullptr ? first_label(*splits_.training) : nullptr;
    spec_.losses.push_back(choose_loss(*model_, label, why));
    if (splits_.training == nullptr && spec_.losses.front().type == "mse") {
      fail_usage(
          "which loss the model is trained with depends on the labels, since it ends without Softmax, LogSoftmax ",
          "or Sigmoid; give --loss softmax_cross_entropy for class numbers, --loss mse for real numbers, or --data");
    }
    notes_.push_back("loss " + spec_.losses.front().type + " was chosen since " + why);
  }
  spec_ = passes::resolve(*model_, spec_);
  check_label_names(*model_, spec_);
  spec_.metrics = config_.metrics ? *config_.metrics : choose_metrics(spec_.losses);
  spec_ = passes::resolve(*model_, spec_);
  metric_names_ = training::metric_names(spec_);
  for (passes::MetricSpec& metric : spec_.metrics) {
    // Accuracy of a single probability is on which side of the threshold it lies.
    if (metric.type == "accuracy" && has_binary_loss(spec_, metric.output)) metric.type = "binary_accuracy";
  }
}

void Task::make_input_slots() {
  std::vector<std::string> names;
  for (const graph::Value* input : model_->inputs()) names.push_back(input->name());
  if (names.empty()) fail("the model has no input that samples could be fed to");
  check_names(config_.data.inputs, names, "inputs");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const graph::Value& input = *model_->inputs()[i];
    data::InputSlot slot;
    slot.name = names[i];
    slot.dtype = input.dtype();
    const auto axis = spec_.batch_axes.find(names[i]);
    slot.dims = sample_dims_of(input, axis == spec_.batch_axes.end() ? 0 : axis->second);
    slot.options = input_options(config_);
    slot.options.field = field_for(config_.data.inputs, names[i]);
    const data::Dataset& samples = *splits_.training;
    const std::size_t field = data::find_field(samples, data::FieldRole::input, slot.options.field, slot.name, i);
    const Dims sample = data::fit_shape(samples.fields()[field], slot).dims;
    sample_dims_[slot.name] = sample;
    std::int64_t blocks = 1;
    for (std::int64_t before = 0; axis != spec_.batch_axes.end() && before < axis->second; ++before) {
      blocks *= sample.at(static_cast<std::size_t>(before));
    }
    if (blocks != 1) sample_blocks_[slot.name] = blocks;
    inputs_.push_back(std::move(slot));
  }
}

void Task::take_declared_dims() {
  if (model_->inputs().empty()) fail("the model has no input that samples could be fed to");
  for (const graph::Value* input : model_->inputs()) {
    const auto axis = spec_.batch_axes.find(input->name());
    const Dims dims = sample_dims_of(*input, axis == spec_.batch_axes.end() ? 0 : axis->second);
    if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
      fail_usage("the model's input '", input->name(), "' is ", graph::to_string(input->type()),
                 ", which leaves the size of a sample open; give samples with --data");
    }
    sample_dims_[input->name()] = dims;
  }
}

std::map<std::string, Dims> Task::batch_dims() const {
  std::map<std::string, Dims> result;
  for (const auto& [name, sample] : sample_dims_) {
    const auto axis = spec_.batch_axes.find(name);
    result[name] = sample;
    result[name].insert(result[name].begin() + (axis == spec_.batch_axes.end() ? 0 : axis->second),
                        global_batch(config_));
  }
  return result;
}

void Task::make_label_slots() {
  const std::unique_ptr<graph::Graph> evaluation = passes::build_evaluation_graph(*model_, spec_, batch_dims());
  std::vector<std::string> names;
  for (const graph::Value* input : evaluation->inputs()) {
    if (model_->find(input->name()) == nullptr) names.push_back(input->name());
  }
  check_names(config_.data.labels, names, "labels");
  passes::BatchInputs batch;
  batch.samples = global_batch(config_);
  for (const graph::Value* input : model_->inputs()) batch.axes[input->name()] = 0;
  for (const auto& [input, axis] : spec_.batch_axes) batch.axes[input] = axis;
  const auto shardings = label_shardings(*evaluation, batch, names);
  for (const std::string& name : names) {
    data::LabelSlot slot;
    slot.name = name;
    slot.dtype = evaluation->at(name)->dtype();
    slot.dims = label_sample_dims(*evaluation->at(name), shardings, sample_blocks_);
    slot.class_count = class_count(*evaluation, spec_, name);
    for (const passes::LossSpec& loss : spec_.losses) {
      if (loss.label == name) slot.ignore_index = loss.ignore_index;
    }
    slot.field = field_for(config_.data.labels, name);
    labels_.push_back(std::move(slot));
  }
}

bool Task::needs_statistics() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const data::InputSlot& slot) { return slot.options.needs_statistics(); });
}

void Task::prepare_statistics() {
  if (!needs_statistics()) return set_statistics({});
  set_statistics(data::compute_statistics(*splits_.training, inputs_, static_cast<int>(available_cores(config_))));
}

void Task::set_statistics(data::StatisticsByInput statistics) {
  statistics_ = std::move(statistics);
  if (config_.preprocessing.on_device) prepare_on_device();
}

/// The graph prepares the samples, and the loader delivers them as they are.
void Task::prepare_on_device() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const data::InputSlot& slot = inputs_[i];
    if (spec_.batch_axes.count(slot.name) != 0) {
      fail_usage("preprocessing: {on: device} needs samples along axis 0; those of '", slot.name, "' lie along axis ",
                 spec_.batch_axes.at(slot.name), "; use {on: host}");
    }
    const data::Dataset& samples = *splits_.training;
    const std::size_t field = data::find_field(samples, data::FieldRole::input, slot.options.field, slot.name, i);
    const auto found = statistics_.find(slot.name);
    spec_.preparations[slot.name] = preparation_of(data::InputTransform(
        samples.fields()[field], slot, found != statistics_.end() ? found->second : data::Statistics{}));
  }
}

std::vector<data::InputSlot> Task::delivered_inputs() const {
  std::vector<data::InputSlot> slots = inputs_;
  for (data::InputSlot& slot : slots) {
    const auto found = spec_.preparations.find(slot.name);
    if (found == spec_.preparations.end()) continue;
    const bool placed = found->second.image && found->second.image->rendered;
    slot.unprepared = {passes::data_input(slot.name), placed ? passes::placement_input(slot.name) : ""};
  }
  return slots;
}

std::unique_ptr<data::Loader> Task::loader(data::DatasetPointer samples, data::SampleReader::Mode mode,
                                           const data::LoaderOptions& options) const {
  auto reader = std::make_shared<data::SampleReader>(std::move(samples), delivered_inputs(), labels_, statistics_, mode,
                                                     config_.seed);
  return std::make_unique<data::Loader>(std::move(reader), options);
}

std::unique_ptr<data::Loader> Task::training_loader(const passes::Replication& replication) const {
  data::LoaderOptions options;
  options.batch_size = global_batch(config_);
  options.replica = replication.rank;
  options.replicas = replication.replicas;
  options.shuffle = config_.shuffle;
  options.drop_last = config_.drop_last;
  options.seed = config_.seed;
  options.workers =
      static_cast<int>(std::max(1U, available_cores(config_) / 4 / static_cast<unsigned>(config_.replicas)));
  if (options.drop_last && splits_.training->size() < options.batch_size) {
    fail_usage("'drop_last' with a batch size of ", options.batch_size, " leaves nothing of ", splits_.training->size(),
               " training samples; choose a smaller 'batch_size'");
  }
  return loader(splits_.training, data::SampleReader::Mode::training, options);
}

std::unique_ptr<data::Loader> Task::evaluation_loader(data::DatasetPointer samples,
                                                      const passes::Replication& replication) const {
  data::LoaderOptions options;
  options.batch_size = evaluation_batch(config_);
  options.replica = replication.rank;
  options.replicas = replication.replicas;
  options.seed = config_.seed;
  return loader(std::move(samples), data::SampleReader::Mode::evaluation, options);
}

}  // namespace ort_train::training
