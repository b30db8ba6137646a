#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "runtime/training/config_options.h"
#include "tests/command.h"

namespace ort_train::training {
namespace {

class Recipe {
 public:
  explicit Recipe(const std::string& content) { std::ofstream(path()) << content; }
  std::string path() const { return folder_ / "recipe.yaml"; }
  std::string folder() const { return folder_.path().string(); }

  TrainingConfig read() const {
    TrainingConfig config;
    read_recipe(config, path());
    return config;
  }

  /// The sentence of the usage error, without the folder.
  std::string error() const {
    try {
      read();
    } catch (const Error& error) {
      CHECK(error.kind() == Error::Kind::usage);
      const std::string sentence = error.what();
      CHECK(sentence.rfind(folder(), 0) == 0);
      return sentence.substr(folder().size() + 1);
    }
    FAIL("no error");
    return "";
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("a recipe fills the configuration") {
  const Recipe recipe(R"(
model: model.onnx
data: {train: train.npz, validation: /data/validation.npz}
epochs: 70
batch-size: 64
drop_last: yes
optimizer: {type: sgd, momentum: 0.9, weight_decay: 1e-4}
learning_rate: 5e-3
schedule: {type: polynomial, power: 2, warmup_epochs: 1}
loss:
  - {type: softmax_cross_entropy, output: scores, ignore_index: -1}
  - {type: mse, output: value, label: target, weight: 0.5}
metrics: [accuracy, top_5]
preprocessing: {scale: 0.5, mean: image, std: [0.1, 0.2, 0.3]}
augmentation: {shift: [0.1, 0.2], flip: true, crop_padding: 4, fill: reflect}
freeze: ["conv*", bn1]
seed: 7
)");
  const TrainingConfig config = recipe.read();
  CHECK(config.model == recipe.folder() + "/model.onnx");
  CHECK(config.data.path == recipe.folder() + "/train.npz");
  CHECK(config.data.validation == "/data/validation.npz");
  CHECK(config.epochs == 70);
  CHECK(config.batch_size == 64);
  CHECK(config.drop_last);
  CHECK(config.optimizer.momentum == 0.9);
  CHECK(config.optimizer.weight_decay == 1e-4);
  CHECK(config.schedule.learning_rate == 5e-3);
  CHECK(config.schedule.kind == Schedule::Kind::polynomial);
  CHECK(config.schedule.power == 2);
  CHECK(config.schedule.warmup_epochs == 1);
  REQUIRE(config.losses.size() == 2);
  CHECK(config.losses[0].ignore_index == -1);
  CHECK(config.losses[1].label == "target");
  CHECK(config.losses[1].weight == 0.5);
  REQUIRE(config.metrics->size() == 2);
  CHECK(config.metrics->at(1).type == "top_k");
  CHECK(config.metrics->at(1).k == 5);
  CHECK(config.preprocessing.scale == 0.5);
  CHECK(config.preprocessing.mean == PreprocessingConfig::Mean::image);
  CHECK(config.preprocessing.deviation_values == std::vector<double>{0.1, 0.2, 0.3});
  CHECK(config.augmentation.height_shift == 0.1f);
  CHECK(config.augmentation.width_shift == 0.2f);
  CHECK(config.augmentation.horizontal_flip);
  CHECK(config.augmentation.random_crop);
  CHECK(config.augmentation.crop_padding == 4);
  CHECK(config.augmentation.fill == data::FillMode::reflect);
  CHECK(config.freeze == std::vector<std::string>{"conv*", "bn1"});
  CHECK(config.seed == 7);
}

TEST_CASE("what is wrong in a recipe is named with its line") {
  CHECK(Recipe("epochs: 5\nlearing_rate: 0.1\n").error() ==
        "recipe.yaml:2: unknown key 'learing_rate'; did you mean 'learning_rate'?");
  CHECK(Recipe("epochs: ten\n").error() == "recipe.yaml:1: 'epochs' must be a whole number, not 'ten'");
  CHECK(Recipe("epochs: 0\n").error() == "recipe.yaml:1: 'epochs' must be a whole number of at least 1, not '0'");
  CHECK(Recipe("\n\nlr: [1, 2]\n").error() == "recipe.yaml:3: 'lr' must be a number, not a list");
  CHECK(Recipe("lr: .nan\n").error() == "recipe.yaml:1: 'lr' must be a finite number, not '.nan'");
  CHECK(Recipe("quiet: maybe\n").error() == "recipe.yaml:1: 'quiet' must be true or false, not 'maybe'");
  CHECK(Recipe("optimizer: adm\n").error() ==
        "recipe.yaml:1: 'optimizer' must be one of sgd, adam, adamw, not 'adm'; did you mean 'adam'?");
  CHECK(Recipe("epochs: 5\noptimizer:\n  type: sgd\n  momentun: 0.9\n").error() ==
        "recipe.yaml:4: unknown key 'momentun' in 'optimizer'; did you mean 'momentum'?");
  CHECK(Recipe("loss:\n  - type: mse\n  - output: y\n").error() == "recipe.yaml:3: a loss needs the key 'type'");
  CHECK(Recipe("epochs: 5\nepochs: 6\n").error() == "recipe.yaml:2: the key 'epochs' is given twice");
  CHECK(Recipe("lr: 1\nlearning_rate: 2\n").error() == "recipe.yaml:2: 'learning_rate' and 'lr' are the same key");
  CHECK(Recipe("augmentation: {shift: 2}\n").error() ==
        "recipe.yaml:1: 'shift' is a share of the image from 0 to below 1, not 2");
  CHECK(Recipe("schedule: {power: 2}\n").error() == "recipe.yaml:1: a schedule needs the key 'type'");
  CHECK(Recipe("validation_split: 1.5\n").error() == "recipe.yaml:1: 'validation_split' is a share below 1, not 1.5");
  CHECK(Recipe("- epochs\n").error() == "recipe.yaml:1: a recipe is a map of keys, like 'epochs: 10'");
  CHECK(Recipe("epochs: 5\nfreeze: *bias\n").error().rfind("recipe.yaml:2: this is not YAML", 0) == 0);
}

TEST_CASE("a recipe that is not there, empty or a folder is a usage error") {
  TrainingConfig config;
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(read_recipe(config, folder / "none.yaml"), doctest::Contains("does not exist"), Error);
  CHECK_THROWS_WITH_AS(read_recipe(config, folder.path()), doctest::Contains("is a folder"), Error);
  const Recipe empty("# nothing\n");
  CHECK_THROWS_WITH_AS(read_recipe(config, empty.path()), doctest::Contains("is empty"), Error);
}

TEST_CASE("options win over the recipe, whatever the order of keys") {
  const Recipe recipe("momentum: 0.5\nlr: 0.2\noptimizer: sgd\nepochs: 3\ndata: {train: a.npz, validation: b.npz}\n");
  TrainingConfig config = recipe.read();
  CHECK(config.optimizer.momentum == 0.5);
  CHECK(config.schedule.learning_rate == 0.2);

  apply_options(config, {{"epochs", {"4"}}, {"optimizer", {"adam"}}, {"data", {"c.npz"}}});
  CHECK(config.epochs == 4);
  CHECK(config.optimizer.type == "adam");
  CHECK(config.optimizer.momentum == 0);
  CHECK(config.schedule.learning_rate == 0.001);
  CHECK(config.data.path == "c.npz");
  CHECK(config.data.validation.empty());
}

TEST_CASE("an option takes what a recipe takes") {
  TrainingConfig config;
  apply_options(config, {{"optimizer", {"{type: adamw, lr: 0.1, beta1: 0.8}"}},
                         {"freeze", {"*bias", "conv*,bn*"}},
                         {"metrics", {"accuracy,top_3"}},
                         {"schedule", {"cosine"}}});
  CHECK(config.optimizer.type == "adamw");
  CHECK(config.optimizer.beta1 == 0.8);
  CHECK(config.schedule.learning_rate == 0.1);
  CHECK(config.schedule.kind == Schedule::Kind::cosine);
  CHECK(config.freeze == std::vector<std::string>{"*bias", "conv*", "bn*"});
  CHECK(config.metrics->at(1).k == 3);
  CHECK_THROWS_WITH_AS(apply_options(config, {{"batch_size", {"4x"}}}),
                       "'--batch-size' must be a whole number, not '4x'", Error);
  CHECK_THROWS_WITH_AS(apply_options(config, {{"optimizer", {"{type: "}}}), doctest::Contains("--optimizer: "), Error);
}

TEST_CASE("contradictions are found before anything runs") {
  const auto sentence = [](const GivenOptions& options) {
    TrainingConfig config;
    apply_options(config, options);
    try {
      check(config);
    } catch (const Error& error) {
      CHECK(error.kind() == Error::Kind::usage);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(sentence({{"optimizer", {"adam"}}, {"momentum", {"0.9"}}}).find("'momentum' belongs to sgd") == 0);
  CHECK(sentence({{"nesterov", {"true"}}}).find("'nesterov' needs a 'momentum'") == 0);
  CHECK(sentence({{"schedule", {"step"}}}).find("the schedule 'step' needs") == 0);
  CHECK(sentence({{"schedule", {"{type: step, milestones: [5, 5]}"}}}) == "'milestones' must increase");
  CHECK(sentence({{"curves", {"curves.pdf"}}}) == "'curves' is a .png or .svg file, not 'curves.pdf'");
  CHECK(sentence({{"checkpoint_every_steps", {"5"}}}).find("'checkpoint_every_steps' needs 'checkpoint'") == 0);
  CHECK(sentence({{"replicas", {"257"}}}).find("'replicas' is 257; a process runs at most 256") == 0);
  CHECK(
      sentence({{"accumulate", {"4"}}, {"global_batch_size", {"3"}}}).find("'global_batch_size' is 3, which is less") ==
      0);
  CHECK(sentence({{"collective_timeout", {"0"}}}) == "'collective_timeout' must be positive");
}

TEST_CASE("every option has a help text and a name of its own") {
  std::vector<std::string> names;
  for (const OptionInfo& option : options()) {
    CHECK_FALSE(option.help.empty());
    CHECK_FALSE(option.group.empty());
    names.push_back(option.name);
    for (const std::string& alias : option.aliases) names.push_back(alias);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("every option is in the documentation") {
  const std::string page = read_file("docs/training.md");
  for (const OptionInfo& option : options()) {
    CAPTURE(option.name);
    CHECK(page.find("`" + option.name + "`") != std::string::npos);
  }
}

TEST_CASE("the recipes of the models can be read") {
  for (const auto& entry : std::filesystem::directory_iterator("models")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    TrainingConfig config;
    CHECK_NOTHROW(read_recipe(config, entry.path()));
    CHECK_NOTHROW(check(config));
  }
  TrainingConfig config;
  read_recipe(config, "models/minigooglenet.yaml");
  CHECK(config.epochs == 70);
  CHECK(config.batch_size == 64);
  CHECK(config.drop_last);
  CHECK(config.schedule.rate(0, 781, 70) == 5e-3);
  CHECK(config.schedule.rate(69 * 781, 781, 70) == doctest::Approx(5e-3 / 70));
}

}  // namespace
}  // namespace ort_train::training
