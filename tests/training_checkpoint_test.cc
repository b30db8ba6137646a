#include <doctest/doctest.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "runtime/training/checkpoint.h"
#include "tests/command.h"
#include "tests/small_task.h"

namespace ort_train::training {
namespace {

Checkpoint example() {
  Checkpoint checkpoint;
  checkpoint.model_digest = "0123456789abcdef";
  checkpoint.settings = {{"batch_size", "16"}, {"epochs", "3"}, {"loss", "mse of y: weight 1"}};
  checkpoint.position = {2, 17};
  checkpoint.seconds = 1.0 / 3;
  checkpoint.best = 0.1;
  checkpoint.totals = {1.0 / 7, 16, 3, 16};
  checkpoint.history = History({"accuracy"}, false);
  checkpoint.history.add({1, 2, 0.1, 1.0 / 9, 0.5});
  checkpoint.history.add({2, 2, 0.1, std::numeric_limits<double>::quiet_NaN(), 0.5});
  checkpoint.state["layer/0.weight"] = Tensor::of<float>({2, 2}, {1, -0.0f, 1e-38f, 4});
  checkpoint.state["double"] = Tensor::of<double>({}, {1.0 / 3});
  checkpoint.statistics["x/mean"] = Tensor::of<float>({1}, {0.5f});
  return checkpoint;
}

TEST_CASE("a checkpoint comes back bit for bit") {
  const TemporaryFolder folder;
  const Checkpoint written = example();
  write_checkpoint(folder / "run.npz", written);
  const Checkpoint read = read_checkpoint(folder / "run.npz");
  CHECK(read.model_digest == written.model_digest);
  CHECK(read.settings == written.settings);
  CHECK(read.position == written.position);
  CHECK(read.seconds == written.seconds);
  CHECK(read.best == written.best);
  CHECK(read.totals == written.totals);
  CHECK(read.history.columns() == written.history.columns());
  CHECK(read.history.rows()[0] == written.history.rows()[0]);
  REQUIRE(read.state.size() == 2);
  CHECK(read.state.at("layer/0.weight").identical(written.state.at("layer/0.weight")));
  CHECK(read.state.at("double").identical(written.state.at("double")));
  CHECK(read.statistics.at("x/mean").identical(written.statistics.at("x/mean")));
}

TEST_CASE("the best loss may still be infinite, and there may be no epoch yet") {
  const TemporaryFolder folder;
  Checkpoint written = example();
  written.best = std::numeric_limits<double>::infinity();
  written.history = History({}, true);
  written.totals = {};
  write_checkpoint(folder / "run.npz", written);
  const Checkpoint read = read_checkpoint(folder / "run.npz");
  CHECK(read.best == written.best);
  CHECK(read.history.rows().empty());
  CHECK(read.history.columns() == written.history.columns());
}

std::string reading_error(const std::string& path) {
  try {
    read_checkpoint(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("what is no checkpoint is refused with a sentence that names the file") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.npz";
  CHECK(reading_error(path) == "the checkpoint " + path + " does not exist");

  std::ofstream(path) << "not a checkpoint";
  CHECK(reading_error(path).find("cannot resume from " + path) == 0);

  write_npz(path, {{"x", Tensor::of<float>({1}, {1})}});
  CHECK(reading_error(path) == "cannot resume from " + path + ": it is no checkpoint of ort-train");

  write_checkpoint(path, example());
  const std::string whole = read_file(path);
  for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{10}, std::size_t{0}}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    CAPTURE(length);
    CHECK(reading_error(path).find("cannot resume from " + path) == 0);
  }

  std::string damaged = whole;
  damaged[whole.find("batch_size")] ^= 1;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
  CHECK(reading_error(path).find("cannot resume from " + path) == 0);
}

TEST_CASE("a checkpoint of a newer program is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.npz";
  const std::string manifest = "{format: ort-train checkpoint, version: 99}";
  write_npz(path, {{"checkpoint", Tensor::of({static_cast<std::int64_t>(manifest.size())},
                                             std::vector<std::uint8_t>(manifest.begin(), manifest.end()))}});
  CHECK(reading_error(path).find("version 99") != std::string::npos);
}

TEST_CASE("models that differ in any bit or name have other digests") {
  const std::string digest = digest_of(*test::small_classifier());
  CHECK(digest == digest_of(*test::small_classifier()));

  auto other = test::small_classifier();
  Tensor bias = other->at("fc.bias")->initial().clone();
  bias.data<float>()[0] = 1e-30f;
  other->at("fc.bias")->set_initial(bias);
  CHECK(digest != digest_of(*other));

  auto renamed = test::small_classifier();
  renamed->rename(renamed->at("fc.bias"), "head.bias");
  CHECK(digest != digest_of(*renamed));
}

TEST_CASE("only a run that would see the same samples may go on within an epoch") {
  const Checkpoint checkpoint = example();
  auto settings = checkpoint.settings;
  CHECK(check_resumable(checkpoint, checkpoint.model_digest, settings, "c").empty());
  CHECK_THROWS_WITH_AS(check_resumable(checkpoint, "fedcba9876543210", settings, "c"),
                       doctest::Contains("is of another model"), Error);

  settings["epochs"] = "5";
  CHECK(check_resumable(checkpoint, checkpoint.model_digest, settings, "c") ==
        std::vector<std::string>{"resumed with epochs 5 instead of 3"});

  settings["batch_size"] = "8";
  CHECK_THROWS_WITH_AS(check_resumable(checkpoint, checkpoint.model_digest, settings, "c"),
                       doctest::Contains("stops within an epoch"), Error);
  Checkpoint between = checkpoint;
  between.position.step = 0;
  CHECK(check_resumable(between, checkpoint.model_digest, settings, "c").size() == 2);
}

}  // namespace
}  // namespace ort_train::training
