#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "runtime/training/trainer.h"
#include "tests/command.h"
#include "tests/small_task.h"

// A run that fails says why, and leaves what there is to go on from.
namespace ort_train::training {
namespace {

TrainingConfig config_of(const TemporaryFolder& folder) {
  TrainingConfig config;
  config.epochs = 2;
  config.batch_size = 16;  // 4 steps an epoch
  config.schedule.learning_rate = 0.05;
  config.seed = 5;
  config.threads = 1;
  config.checkpoint = folder.path();
  return config;
}

class FailAfter : public Callback {
 public:
  explicit FailAfter(std::int64_t step) : step_(step) {}
  void on_batch_end(Trainer&, const BatchReport& report) override {
    if (report.epoch == 1 && report.step == step_) fail("the callback gives up");
  }

 private:
  std::int64_t step_;
};

std::string failure_of(Trainer& trainer) {
  try {
    trainer.fit();
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

std::map<std::string, Tensor> parameters_of(Trainer& trainer) {
  std::map<std::string, Tensor> state;
  for (const std::string& name : trainer.program().state().names()) state[name] = trainer.program().state().get(name);
  return state;
}

}  // namespace

TEST_CASE("what fails between two steps leaves the state after the last one") {
  for (const std::int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    const TemporaryFolder folder, undisturbed_folder;
    TrainingConfig config = config_of(folder);
    config.replicas = replicas;
    config.batch_size = 16 / replicas;
    Trainer failing(config, test::small_classifier(), test::small_splits());
    failing.add_callback(std::make_shared<FailAfter>(3));
    CHECK(failure_of(failing) ==
          "the callback gives up; the state after step 3 is saved; to go on: the same command with --resume " +
              folder.path().string());

    config.resume = folder.path();
    Trainer resumed(config, test::small_classifier(), test::small_splits());
    resumed.fit();
    config.resume.clear();
    config.checkpoint = undisturbed_folder.path();
    Trainer undisturbed(config, test::small_classifier(), test::small_splits());
    undisturbed.fit();
    const auto left = parameters_of(resumed), right = parameters_of(undisturbed);
    REQUIRE(left.size() == right.size());
    for (const auto& [name, elements] : left) CHECK(elements.identical(right.at(name)));
  }
}

TEST_CASE("a step that went wrong is not saved; the last checkpoint stays and is named") {
  const TemporaryFolder folder;
  TrainingConfig config = config_of(folder);
  config.checkpoint_every_steps = 1;
  config.schedule.learning_rate = 1e30;
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  const std::string sentence = failure_of(trainer);
  CHECK(sentence.find("the loss became") != std::string::npos);
  CHECK(sentence.find("to go on from the last checkpoint: the same command with --resume " + folder.path().string()) !=
        std::string::npos);
}

TEST_CASE("where the state cannot be saved, the last checkpoint stays and is named") {
  const TemporaryFolder folder;
  TrainingConfig config = config_of(folder);
  config.checkpoint_every_steps = 1;
  class FillDisk : public Callback {
   public:
    FillDisk() { getrlimit(RLIMIT_FSIZE, &before_); }
    ~FillDisk() override { setrlimit(RLIMIT_FSIZE, &before_); }
    void on_batch_end(Trainer&, const BatchReport& report) override {
      if (report.step != 3) return;
      const rlimit full = {16, before_.rlim_max};
      setrlimit(RLIMIT_FSIZE, &full);
      fail("the callback gives up");
    }

   private:
    rlimit before_ = {};
  };
  // A write that goes too far shall fail, as on a full disk, and not end the process.
  signal(SIGXFSZ, SIG_IGN);
  {
    Trainer trainer(config, test::small_classifier(), test::small_splits());
    trainer.add_callback(std::make_shared<FillDisk>());
    CHECK(failure_of(trainer) ==
          "the callback gives up; to go on from the last checkpoint: the same command with --resume " +
              folder.path().string());
  }
  config.resume = folder.path();
  Trainer resumed(config, test::small_classifier(), test::small_splits());
  resumed.prepare();
  CHECK(resumed.position() == Position{0, 2});
}

TEST_CASE("before the first step there is nothing to save") {
  const TemporaryFolder folder;
  TrainingConfig config = config_of(folder);
  class FailAtOnce : public Callback {
    void on_epoch_begin(Trainer&, std::int64_t) override { fail("the callback gives up"); }
  };
  Trainer trainer(config, test::small_classifier(), test::small_splits());
  trainer.add_callback(std::make_shared<FailAtOnce>());
  CHECK(failure_of(trainer) == "the callback gives up");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "last.npz"));
}

}  // namespace ort_train::training
