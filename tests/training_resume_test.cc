#include <doctest/doctest.h>

#include <map>

#include "runtime/training/trainer.h"
#include "tests/command.h"
#include "tests/small_task.h"

namespace ort_train::training {
namespace {

TrainingConfig small_config() {
  TrainingConfig config;
  config.epochs = 3;
  config.batch_size = 16;  // 4 steps an epoch, the last of 2 samples
  config.optimizer.momentum = 0.9;
  config.schedule.kind = Schedule::Kind::cosine;
  config.schedule.learning_rate = 0.05;
  config.schedule.per_step = true;
  config.preprocessing.mean = PreprocessingConfig::Mean::image;
  config.augmentation.width_shift = 0.2f;
  config.augmentation.horizontal_flip = true;
  config.seed = 5;
  config.threads = 1;
  return config;
}

std::map<std::string, Tensor> state_of(Trainer& trainer) {
  std::map<std::string, Tensor> state;
  for (const std::string& name : trainer.program().state().names()) state[name] = trainer.program().state().get(name);
  return state;
}

/// Everything but the seconds.
std::vector<std::vector<double>> figures_of(const Trainer& trainer) {
  auto rows = trainer.history().rows();
  for (auto& row : rows) row.at(1) = 0;
  return rows;
}

void check_identical(Trainer& a, Trainer& b) {
  const auto left = state_of(a), right = state_of(b);
  REQUIRE(left.size() == right.size());
  for (const auto& entry : left) {
    CAPTURE(entry.first);
    REQUIRE(right.count(entry.first) == 1);
    CHECK(entry.second.identical(right.at(entry.first)));
  }
  CHECK(figures_of(a) == figures_of(b));
}

class InterruptAfter : public Callback {
 public:
  InterruptAfter(std::int64_t epoch, std::int64_t step) : epoch_(epoch), step_(step) {}
  void on_batch_end(Trainer& trainer, const BatchReport& report) override {
    if (report.epoch == epoch_ && report.step == step_) trainer.interrupt();
  }

 private:
  std::int64_t epoch_, step_;
};

class InterruptInValidation : public Callback {
 public:
  void on_validation_begin(Trainer& trainer) override { trainer.interrupt(); }
};

/// Interrupts a run by `callback`, resumes it in a second Trainer, and compares with a run that nothing disturbed.
void check_resume(const TrainingConfig& base, const std::shared_ptr<Callback>& callback, const Position& expected) {
  Trainer undisturbed(base, test::small_classifier(), test::small_splits());
  undisturbed.fit();

  const TemporaryFolder folder;
  TrainingConfig config = base;
  config.checkpoint = folder.path();
  Trainer first(config, test::small_classifier(), test::small_splits());
  first.add_callback(callback);
  const FitResult result = first.fit();
  REQUIRE(result.interrupted);
  CHECK(first.position() == expected);

  config.resume = folder.path();
  Trainer second(config, test::small_classifier(), test::small_splits());
  CHECK_FALSE(second.fit().interrupted);
  check_identical(undisturbed, second);
}

TEST_CASE("two runs of one seed are bit-identical, another seed gives other numbers") {
  Trainer a(small_config(), test::small_classifier(), test::small_splits());
  Trainer b(small_config(), test::small_classifier(), test::small_splits());
  a.fit();
  b.fit();
  check_identical(a, b);

  TrainingConfig other = small_config();
  other.seed = 6;
  Trainer c(other, test::small_classifier(), test::small_splits());
  c.fit();
  CHECK_FALSE(state_of(a).at("fc.weight").identical(state_of(c).at("fc.weight")));
}

TEST_CASE("a run learns") {
  TrainingConfig config = small_config();
  config.epochs = 12;
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  trainer.fit();
  CHECK(trainer.history().rows().size() == 12);
  CHECK(trainer.history().last("loss") < 0.7 * trainer.history().column("loss").front());
  CHECK(trainer.history().last("val_accuracy") > 0.7);
}

TEST_CASE("a resumed run is bit-identical to an undisturbed one") {
  SUBCASE("stopped in the middle of an epoch") {
    check_resume(small_config(), std::make_shared<InterruptAfter>(2, 2), {1, 2});
  }
  SUBCASE("stopped after the first step of all") {
    check_resume(small_config(), std::make_shared<InterruptAfter>(1, 1), {0, 1});
  }
  SUBCASE("stopped after the last step of an epoch, before validation") {
    check_resume(small_config(), std::make_shared<InterruptAfter>(2, 4), {1, 4});
  }
  SUBCASE("stopped while it validates") {
    check_resume(small_config(), std::make_shared<InterruptInValidation>(), {0, 4});
  }
  SUBCASE("with Adam, whose moments are state too") {
    TrainingConfig config = small_config();
    config.optimizer = {};
    config.optimizer.type = "adamw";
    config.optimizer.weight_decay = 0.01;
    check_resume(config, std::make_shared<InterruptAfter>(2, 3), {1, 3});
  }
}

TEST_CASE("a run of more epochs goes on where a shorter one ended") {
  const TemporaryFolder folder;
  TrainingConfig config = small_config();
  config.schedule.kind = Schedule::Kind::constant;
  config.checkpoint = folder.path();
  Trainer shorter(config, test::small_classifier(), test::small_splits());
  shorter.fit();

  config.epochs = 5;
  config.resume = folder.path() / "last.npz";
  Trainer resumed(config, test::small_classifier(), test::small_splits());
  resumed.fit();
  REQUIRE(resumed.history().rows().size() == 5);
  REQUIRE(resumed.notes().size() >= 1);
  CHECK(resumed.notes().back() == "resumed with epochs 5 instead of 3");

  config.resume.clear();
  Trainer whole(config, test::small_classifier(), test::small_splits());
  whole.fit();
  check_identical(whole, resumed);
}

TEST_CASE("callbacks can end a run after an epoch") {
  class OneEpoch : public Callback {
   public:
    void on_epoch_begin(Trainer& trainer, std::int64_t) override { trainer.finish_after_epoch(); }
  };
  Trainer trainer(small_config(), test::small_classifier(), test::small_splits());
  trainer.add_callback(std::make_shared<OneEpoch>());
  CHECK_FALSE(trainer.fit().interrupted);
  CHECK(trainer.history().rows().size() == 1);
}

TEST_CASE("frozen parameters keep their bits") {
  TrainingConfig config = small_config();
  config.freeze = {"fc.*"};
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  trainer.fit();
  const auto model = test::small_classifier();
  CHECK(state_of(trainer).at("fc.weight").identical(model->at("fc.weight")->initial()));
  CHECK_FALSE(state_of(trainer).at("conv.weight").identical(model->at("conv.weight")->initial()));
  CHECK(trainer.program().trainable().count("fc.weight") == 0);
}

TEST_CASE("a loss that is no number ends the run with a sentence") {
  TrainingConfig config = small_config();
  config.schedule.learning_rate = 1e30;
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  CHECK_THROWS_WITH_AS(trainer.fit(), doctest::Contains("the loss became"), Error);
}

}  // namespace
}  // namespace ort_train::training
