#include "runtime/training/task.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "passes/attach_losses.h"
#include "runtime/data/field_binding.h"
#include "runtime/data/open_dataset.h"
#include "runtime/data/sample_shape.h"
#include "runtime/training/loss_choice.h"
#include "runtime/training/metrics.h"

namespace ort_train::training {
namespace {

/// Extents of one sample: those of the input without the first axis, which counts the samples.
Dims sample_dims_of(const graph::Value& input) {
  const auto& shape = input.type().shape;
  if (!shape || shape->empty()) {
    fail("the model's input '", input.name(), "' is ", graph::to_string(input.type()),
         "; training needs a first axis that counts samples");
  }
  Dims dims;
  for (std::size_t i = 1; i < shape->size(); ++i) {
    dims.push_back((*shape)[i].is_known() ? (*shape)[i].value() : -1);
  }
  return dims;
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
  const Dims dims = sample_dims_of(*model.inputs().front());
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

void Task::match(Labels labels) {
  spec_.optimizer = config_.optimizer;
  spec_.trainable = config_.trainable;
  spec_.freeze = config_.freeze;
  spec_.seed = config_.seed;
  spec_.disabled_passes = config_.disabled_passes;
  spec_.dump_folder = config_.dump_passes;
  choose_losses(labels);
  make_input_slots();
  if (labels == Labels::needed) make_label_slots();
}

void Task::choose_losses(Labels labels) {
  if (labels == Labels::not_needed) return;
  spec_.losses = config_.losses;
  if (spec_.losses.empty()) {
    std::string why;
    spec_.losses.push_back(choose_loss(*model_, first_label(*splits_.training), why));
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
    slot.dims = sample_dims_of(input);
    slot.options = input_options(config_);
    slot.options.field = field_for(config_.data.inputs, names[i]);
    const data::Dataset& samples = *splits_.training;
    const std::size_t field = data::find_field(samples, data::FieldRole::input, slot.options.field, slot.name, i);
    sample_dims_[slot.name] = data::fit_shape(samples.fields()[field], slot).dims;
    inputs_.push_back(std::move(slot));
  }
}

std::map<std::string, Dims> Task::batch_dims() const {
  std::map<std::string, Dims> result;
  for (const auto& [name, sample] : sample_dims_) {
    result[name] = {config_.batch_size};
    result[name].insert(result[name].end(), sample.begin(), sample.end());
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
  for (const std::string& name : names) {
    data::LabelSlot slot;
    slot.name = name;
    slot.dtype = evaluation->at(name)->dtype();
    const Dims dims = evaluation->at(name)->dims();
    if (dims.empty() || dims[0] % config_.batch_size != 0) {
      fail("the label '", name, "' has the shape ", to_string(dims), " for a batch of ", config_.batch_size,
           "; the first axis of the output that it belongs to must count samples");
    }
    // An output [N*T, ...] takes T rows from each sample.
    if (dims[0] != config_.batch_size) slot.dims.push_back(dims[0] / config_.batch_size);
    slot.dims.insert(slot.dims.end(), dims.begin() + 1, dims.end());
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
  if (!needs_statistics()) return;
  statistics_ = data::compute_statistics(*splits_.training, inputs_, static_cast<int>(available_cores(config_)));
}

std::unique_ptr<data::Loader> Task::loader(data::DatasetPointer samples, data::SampleReader::Mode mode,
                                           const data::LoaderOptions& options) const {
  auto reader =
      std::make_shared<data::SampleReader>(std::move(samples), inputs_, labels_, statistics_, mode, config_.seed);
  return std::make_unique<data::Loader>(std::move(reader), options);
}

std::unique_ptr<data::Loader> Task::training_loader() const {
  data::LoaderOptions options;
  options.batch_size = config_.batch_size;
  options.shuffle = config_.shuffle;
  options.drop_last = config_.drop_last;
  options.seed = config_.seed;
  options.workers = static_cast<int>(std::max(1u, available_cores(config_) / 4));
  if (options.drop_last && splits_.training->size() < options.batch_size) {
    fail_usage("'drop_last' with a batch size of ", options.batch_size, " leaves nothing of ", splits_.training->size(),
               " training samples; choose a smaller 'batch_size'");
  }
  return loader(splits_.training, data::SampleReader::Mode::training, options);
}

std::unique_ptr<data::Loader> Task::evaluation_loader(data::DatasetPointer samples) const {
  data::LoaderOptions options;
  options.batch_size = config_.batch_size;
  options.seed = config_.seed;
  return loader(std::move(samples), data::SampleReader::Mode::evaluation, options);
}

}  // namespace ort_train::training
