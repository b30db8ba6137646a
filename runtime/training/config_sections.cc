#include "runtime/training/config_sections.h"

#include "base/error.h"
#include "runtime/training/config_value.h"

namespace ort_train::training {
namespace {

const std::vector<std::string> loss_types = {"softmax_cross_entropy", "nll", "bce", "bce_with_logits", "mse", "l1"};
const std::vector<std::string> metric_types = {"accuracy", "binary_accuracy", "top_k", "mse", "mae"};

passes::LossSpec read_loss(const ConfigValue& value) {
  passes::LossSpec loss;
  if (!value.is_map()) {
    loss.type = value.word(loss_types);
    return loss;
  }
  value.read_map({
      {"type", [&](const ConfigValue& v) { loss.type = v.word(loss_types); }},
      {"output", [&](const ConfigValue& v) { loss.output = v.string(); }},
      {"label", [&](const ConfigValue& v) { loss.label = v.string(); }},
      {"weight", [&](const ConfigValue& v) { loss.weight = v.real(); }},
      {"ignore_index", [&](const ConfigValue& v) { loss.ignore_index = v.integer(INT64_MIN); }},
  });
  if (loss.type.empty()) value.fail("a loss needs the key 'type'");
  return loss;
}

/// "top_5" is top_k with k = 5.
bool is_top_k(const std::string& name) {
  return name.size() > 4 && name.rfind("top_", 0) == 0 &&
         name.find_first_not_of("0123456789", 4) == std::string::npos && name.size() < 12;
}

passes::MetricSpec read_metric(const ConfigValue& value) {
  passes::MetricSpec metric;
  if (!value.is_map()) {
    if (is_top_k(value.string())) {
      metric.type = "top_k";
      metric.k = std::stoll(value.string().substr(4));
      if (metric.k < 1) value.fail("top_k needs a k of at least 1");
      return metric;
    }
    metric.type = value.word(metric_types);
    return metric;
  }
  value.read_map({
      {"type", [&](const ConfigValue& v) { metric.type = v.word(metric_types); }},
      {"output", [&](const ConfigValue& v) { metric.output = v.string(); }},
      {"label", [&](const ConfigValue& v) { metric.label = v.string(); }},
      {"k", [&](const ConfigValue& v) { metric.k = v.integer(1); }},
      {"threshold", [&](const ConfigValue& v) { metric.threshold = v.real(); }},
      {"ignore_index", [&](const ConfigValue& v) { metric.ignore_index = v.integer(INT64_MIN); }},
  });
  if (metric.type.empty()) value.fail("a metric needs the key 'type'");
  return metric;
}

void read_mean(PreprocessingConfig& config, const ConfigValue& value) {
  using Mean = PreprocessingConfig::Mean;
  if (value.is_scalar() && (value.string() == "image" || value.string() == "channel" || value.string() == "none")) {
    config.mean = value.string() == "image" ? Mean::image : value.string() == "channel" ? Mean::channel : Mean::none;
    return;
  }
  config.mean = Mean::values;
  config.mean_values = value.reals();
}

void read_deviation(PreprocessingConfig& config, const ConfigValue& value) {
  using Deviation = PreprocessingConfig::Deviation;
  if (value.is_scalar() && (value.string() == "channel" || value.string() == "none")) {
    config.deviation = value.string() == "channel" ? Deviation::channel : Deviation::none;
    return;
  }
  config.deviation = Deviation::values;
  config.deviation_values = value.reals();
  for (const double deviation : config.deviation_values) {
    if (deviation <= 0) value.fail(text("'", value.name(), "' must be positive, not ", deviation));
  }
}

/// One share for both axes, or [height, width].
void read_shift(data::Augmentation& augmentation, const ConfigValue& value) {
  const std::vector<double> shares = value.reals();
  if (shares.empty() || shares.size() > 2) value.fail("'shift' is one number, or two: [height, width]");
  for (const double share : shares) {
    if (share < 0 || share >= 1) value.fail(text("'shift' is a share of the image from 0 to below 1, not ", share));
  }
  augmentation.height_shift = static_cast<float>(shares.front());
  augmentation.width_shift = static_cast<float>(shares.back());
}

data::FillMode read_fill(const ConfigValue& value) {
  return fill_mode_of(value.word({"nearest", "constant", "reflect", "wrap"})).value();
}

Schedule::Kind read_kind(const ConfigValue& value) {
  const std::string word = value.word({"constant", "step", "polynomial", "cosine"});
  if (word == "step") return Schedule::Kind::step;
  if (word == "polynomial") return Schedule::Kind::polynomial;
  return word == "cosine" ? Schedule::Kind::cosine : Schedule::Kind::constant;
}

void read_schedule_map(Schedule& schedule, const ConfigValue& value) {
  bool has_type = false;
  value.read_map({
      {"type", [&](const ConfigValue& v) { schedule.kind = read_kind(v), has_type = true; }},
      {"power", [&](const ConfigValue& v) { schedule.power = v.real_at_least(0); }},
      {"end_lr", [&](const ConfigValue& v) { schedule.end_learning_rate = v.real_at_least(0); }},
      {"gamma", [&](const ConfigValue& v) { schedule.gamma = v.real_at_least(0); }},
      {"every", [&](const ConfigValue& v) { schedule.every = v.integer(1); }},
      {"milestones", [&](const ConfigValue& v) { schedule.milestones = v.integers(1); }},
      {"per",
       [&](const ConfigValue& v) {
         schedule.per_step = v.word({"epoch", "step"}) == "step";
       }},
      {"warmup_steps", [&](const ConfigValue& v) { schedule.warmup_steps = v.integer(0); }},
      {"warmup_epochs", [&](const ConfigValue& v) { schedule.warmup_epochs = v.integer(0); }},
  });
  if (!has_type) value.fail("a schedule needs the key 'type'");
}

/// Adam's usual rate where nothing else was said.
void choose_default_rate(TrainingConfig& config) {
  config.schedule.learning_rate = config.optimizer.type == "sgd" ? 0.01 : 0.001;
}

}  // namespace

void read_data(TrainingConfig& config, const ConfigValue& value) {
  if (!value.is_map()) {
    // Another data set brings its own validation samples; how arrays belong to inputs stays.
    config.data.path = value.input_path();
    config.data.validation.clear();
    config.data.kind.clear();
    return;
  }
  DataConfig data;
  data.validation_split = config.data.validation_split;
  const auto read_path = [&](const ConfigValue& v) {
    if (!data.path.empty()) v.fail("'path' and 'train' are the same key");
    data.path = v.input_path();
  };
  value.read_map({
      {"path", read_path},
      {"train", read_path},
      {"validation", [&](const ConfigValue& v) { data.validation = v.input_path(); }},
      {"kind",
       [&](const ConfigValue& v) {
         data.kind = v.word({"cifar10", "cifar100", "mnist", "images", "arrays"});
       }},
      {"inputs", [&](const ConfigValue& v) { data.inputs = v.string_map(); }},
      {"labels", [&](const ConfigValue& v) { data.labels = v.string_map(); }},
      {"image_size",
       [&](const ConfigValue& v) {
         data.image_size = v.integers(1);
         if (data.image_size.size() == 1) data.image_size.push_back(data.image_size.front());
         if (data.image_size.size() != 2) v.fail("'image_size' is one number, or two: [height, width]");
       }},
      {"validation_split",
       [&](const ConfigValue& v) {
         read_validation_split(config, v);
         data.validation_split = config.data.validation_split;
       }},
  });
  config.data = data;
}

void read_validation_split(TrainingConfig& config, const ConfigValue& value) {
  const double share = value.real_at_least(0);
  if (share >= 1) value.fail(text("'", value.name(), "' is a share below 1, not ", share));
  config.data.validation_split = share;
}

void read_preprocessing(TrainingConfig& config, const ConfigValue& value) {
  config.preprocessing = {};
  PreprocessingConfig& preprocessing = config.preprocessing;
  value.read_map({
      {"scale", [&](const ConfigValue& v) { preprocessing.scale = v.real(); }},
      {"mean", [&](const ConfigValue& v) { read_mean(preprocessing, v); }},
      {"std", [&](const ConfigValue& v) { read_deviation(preprocessing, v); }},
      {"resize", [&](const ConfigValue& v) { preprocessing.resize = v.boolean(); }},
      {"layout",
       [&](const ConfigValue& v) {
         preprocessing.layout = v.word({"channels_first", "channels_last"});
       }},
      {"on",
       [&](const ConfigValue& v) {
         preprocessing.on_device = v.word({"host", "device"}) == "device";
       }},
  });
}

void read_augmentation(TrainingConfig& config, const ConfigValue& value) {
  config.augmentation = {};
  if (value.is_scalar() && value.string() == "none") return;
  data::Augmentation& augmentation = config.augmentation;
  value.read_map({
      {"shift", [&](const ConfigValue& v) { read_shift(augmentation, v); }},
      {"flip", [&](const ConfigValue& v) { augmentation.horizontal_flip = v.boolean(); }},
      {"vertical_flip", [&](const ConfigValue& v) { augmentation.vertical_flip = v.boolean(); }},
      {"crop_padding",
       [&](const ConfigValue& v) {
         augmentation.crop_padding = v.integer(0);
         augmentation.random_crop = true;
       }},
      {"fill", [&](const ConfigValue& v) { augmentation.fill = read_fill(v); }},
      {"fill_value", [&](const ConfigValue& v) { augmentation.fill_value = static_cast<float>(v.real()); }},
  });
}

void read_losses(TrainingConfig& config, const ConfigValue& value) {
  config.losses.clear();
  for (const ConfigValue& each : value.elements()) config.losses.push_back(read_loss(each));
  if (config.losses.empty()) value.fail("'loss' names no loss");
}

void read_metrics(TrainingConfig& config, const ConfigValue& value) {
  config.metrics.emplace();
  if (value.is_scalar() && value.string() == "none") return;
  if (value.is_scalar() && value.string().find(',') != std::string::npos) {
    for (const std::string& name : value.strings()) {
      config.metrics->push_back(read_metric(ConfigValue(YAML::Node(name), value.name(), "")));
    }
    return;
  }
  for (const ConfigValue& each : value.elements()) config.metrics->push_back(read_metric(each));
}

void read_optimizer(TrainingConfig& config, const ConfigValue& value) {
  config.optimizer = {};
  passes::OptimizerSpec& optimizer = config.optimizer;
  const std::vector<std::string> types = {"sgd", "adam", "adamw"};
  if (!value.is_map()) {
    optimizer.type = value.word(types);
    choose_default_rate(config);
    return;
  }
  std::optional<double> rate;
  const auto read_rate = [&](const ConfigValue& v) { rate = v.real_at_least(0); };
  const auto below_one = [](const ConfigValue& v) {
    const double number = v.real_at_least(0);
    if (number >= 1) v.fail(text("'", v.name(), "' must be below 1, not ", number));
    return number;
  };
  value.read_map({
      {"type", [&](const ConfigValue& v) { optimizer.type = v.word(types); }},
      {"lr", read_rate},
      {"learning_rate", read_rate},
      {"momentum", [&](const ConfigValue& v) { optimizer.momentum = v.real_at_least(0); }},
      {"nesterov", [&](const ConfigValue& v) { optimizer.nesterov = v.boolean(); }},
      {"weight_decay", [&](const ConfigValue& v) { optimizer.weight_decay = v.real_at_least(0); }},
      {"beta1", [&](const ConfigValue& v) { optimizer.beta1 = below_one(v); }},
      {"beta2", [&](const ConfigValue& v) { optimizer.beta2 = below_one(v); }},
      {"epsilon", [&](const ConfigValue& v) { optimizer.epsilon = v.real_at_least(0); }},
  });
  choose_default_rate(config);
  if (rate) config.schedule.learning_rate = *rate;
}

void read_schedule(TrainingConfig& config, const ConfigValue& value) {
  Schedule schedule;
  schedule.learning_rate = config.schedule.learning_rate;
  if (value.is_map()) {
    read_schedule_map(schedule, value);
  } else {
    schedule.kind = read_kind(value);
  }
  config.schedule = schedule;
}

}  // namespace ort_train::training
