#pragma once

#include "runtime/training/config.h"

// Readers of the keys that hold more than one value. Each replaces the whole section.
namespace ort_train::training {

class ConfigValue;

void read_data(TrainingConfig& config, const ConfigValue& value);
void read_validation_split(TrainingConfig& config, const ConfigValue& value);
void read_preprocessing(TrainingConfig& config, const ConfigValue& value);
void read_augmentation(TrainingConfig& config, const ConfigValue& value);
void read_losses(TrainingConfig& config, const ConfigValue& value);
void read_metrics(TrainingConfig& config, const ConfigValue& value);
void read_optimizer(TrainingConfig& config, const ConfigValue& value);
void read_schedule(TrainingConfig& config, const ConfigValue& value);
void read_batch_size(TrainingConfig& config, const ConfigValue& value);
void read_global_batch_size(TrainingConfig& config, const ConfigValue& value);
void read_batch_axis(TrainingConfig& config, const ConfigValue& value);
void read_batch_norm(TrainingConfig& config, const ConfigValue& value);
void read_device(TrainingConfig& config, const ConfigValue& value);
void read_gpus(TrainingConfig& config, const ConfigValue& value);

}  // namespace ort_train::training
