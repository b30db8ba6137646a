// The command itself: what it says and how it exits, for right and for wrong input.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "graph/builder.h"
#include "graph/onnx_io.h"
#include "runtime/cores.h"
#include "tests/command.h"
#include "tests/small_task.h"

namespace ort_train {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// A folder with a model, samples to train on and samples to validate on.
class Workplace {
 public:
  Workplace() {
    graph::save(*test::small_classifier(), model());
    test::write_small_data(data(), 50, 1);
    test::write_small_data(validation(), 20, 2);
  }

  std::string operator/(const std::string& name) const { return folder_ / name; }
  std::string model() const { return folder_ / "model.onnx"; }
  std::string data() const { return folder_ / "train.npz"; }
  std::string validation() const { return folder_ / "validation.npz"; }
  std::string output() const { return folder_ / "trained.onnx"; }

  /// ort-train with these arguments.
  static CommandResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), built_program("ort-train"));
    return run_command(arguments);
  }

  /// Trains the model in two quick epochs, with more arguments.
  std::vector<std::string> training(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {model(),  "--data",    data(), "--validation", validation(), "--output",
                                          output(), "--epochs",  "2",    "--batch-size", "16",         "--lr",
                                          "0.05",   "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  CommandResult train(const std::vector<std::string>& more = {}) const { return run(training(more)); }

 private:
  TemporaryFolder folder_;
};

/// One sentence on standard error, the given exit code, no output file.
void check_refused(const Workplace& place, const CommandResult& result, int exit_code,
                   const std::vector<std::string>& parts) {
  CAPTURE(result.errors);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == exit_code);
  CHECK(result.errors.rfind("ort-train: ", 0) == 0);
  for (const std::string& part : parts) CHECK_MESSAGE(contains(result.errors, part), part);
  CHECK_FALSE(std::filesystem::exists(place.output()));
}

TEST_CASE("a run trains, reports and writes what was asked for") {
  const Workplace place;
  const CommandResult result = place.train(
      {"--history", place / "history.csv", "--curves", place / "curves.png", "--checkpoint", place / "run"});
  CAPTURE(result.output);
  CAPTURE(result.errors);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "fc.weight") == false);
  CHECK(contains(result.output, "parameters: 243 trainable, 0 frozen; running statistics: 8"));
  CHECK(contains(result.output, "memory: "));
  CHECK(contains(result.output, "samples: 50 for training in 4 steps of 16, 20 for validation"));
  CHECK(contains(result.output, "note: loss softmax_cross_entropy was chosen since the model ends with Softmax"));
  CHECK(contains(result.output, "epoch 1/2: "));
  CHECK(contains(result.output, ", val accuracy "));
  CHECK(contains(result.output, "trained model: " + place.output()));
  CHECK(read_file(place / "history.csv")
            .rfind("epoch,seconds,learning_rate,loss,accuracy,val_loss,val_accuracy\n1,", 0) == 0);
  CHECK(read_file(place / "curves.png").rfind("\x89PNG", 0) == 0);
  CHECK(std::filesystem::exists(place / "run/last.npz"));
  CHECK(std::filesystem::exists(place / "run/best.onnx"));
  const auto trained = graph::load(place.output());
  CHECK(trained->inputs().at(0)->name() == "image");
  CHECK(trained->outputs().at(0)->name() == "probabilities");
  CHECK_FALSE(trained->at("fc.weight")->initial().identical(test::small_classifier()->at("fc.weight")->initial()));
}

TEST_CASE("evaluate gives the validation figures of the last epoch, predict the outputs behind them") {
  const Workplace place;
  REQUIRE(place.train({"--history", place / "history.csv"}).exit_code == 0);
  const CommandResult result =
      Workplace::run({"evaluate", place.output(), "--data", place.validation(), "--batch-size", "7"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const std::string history = read_file(place / "history.csv");
  const std::string accuracy = history.substr(history.find_last_of(',') + 1);
  CHECK(contains(result.output, "samples: 20\n"));
  CHECK(contains(result.output, "accuracy: " + accuracy));

  const std::string outputs = place / "outputs.npz";
  REQUIRE(Workplace::run({"predict", place.output(), "--data", place.validation(), "--output", outputs}).exit_code ==
          0);
  const Tensor probabilities = read_npz(outputs).at("probabilities");
  REQUIRE(probabilities.dims() == Dims{20, 3});
  const Tensor labels = read_npz(place.validation()).at("y");
  int right = 0;
  for (int sample = 0; sample < 20; ++sample) {
    const float* row = probabilities.data<float>() + 3 * sample;
    right += std::max_element(row, row + 3) - row == labels.data<std::int64_t>()[sample];
  }
  CHECK(right / 20.0 == doctest::Approx(std::stod(accuracy)));
}

/// The same model with the samples along axis 1 of its input: [1,N,8,8].
void save_with_batch_axis_1(const std::string& path) {
  auto model = test::small_classifier();
  graph::Value* image = model->inputs().at(0);
  graph::Node* reader = image->uses().at(0).node;
  image->set_type(graph::Type(DataType::float32, graph::Shape{1, std::string("N"), 8, 8}));
  reader->set_input(0, graph::Builder(*model, "", reader).transpose(image, {1, 0, 2, 3}));
  graph::save(*model, path);
}

TEST_CASE("predict refuses samples along another axis than 0") {
  const Workplace place;
  save_with_batch_axis_1(place.model());
  check_refused(place,
                Workplace::run({"predict", place.model(), "--data", place.data(), "--output", place / "outputs.npz"}),
                2, {"predict", "axis 0", "'image'", "axis 1"});
  check_refused(place,
                Workplace::run({"predict", place.model(), "--data", place.data(), "--output", place / "outputs.npz",
                                "--batch-axis", "2"}),
                2, {"axis 0", "axis 2"});
  CHECK_FALSE(std::filesystem::exists(place / "outputs.npz"));
}

TEST_CASE("explain needs no data, and takes the options of training") {
  const Workplace place;
  const CommandResult result = Workplace::run(
      {"explain",     place.model(), "--replicas", "4",        "--global-batch-size", "10",        "--momentum",
       "0.9",         "--epochs",    "3",          "--output", place.output(),        "--threads", "1",
       "--bandwidth", "2.5",         "--latency",  "0",        "--step-time",         "80"});
  CAPTURE(result.output);
  CAPTURE(result.errors);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "  autodiff "));
  CHECK(contains(result.output, "batch: 10 samples an update, 4 replicas of at most 3\n"));
  CHECK(contains(result.output, "memory of a replica\n"));
  CHECK(contains(result.output, "computation: 80.000 ms a step, as given\n"));
  CHECK(contains(result.output, "  all_reduce "));
  CHECK(contains(result.output, "\n  4 x 1 "));
  CHECK(contains(result.output, "prediction with 2.5 GB/s and 0 µs a message\n"));
  CHECK(contains(result.output, "note: loss softmax_cross_entropy was chosen since the model ends with Softmax\n"));
  CHECK_FALSE(std::filesystem::exists(place.output()));

  const CommandResult with_data = Workplace::run({"explain", place.model(), "--data", place.data(), "--threads", "1"});
  CHECK(with_data.exit_code == 0);
  CHECK(contains(with_data.output, "collectives: none\n"));
  CHECK(contains(with_data.output, "timed on this machine"));
  const CommandResult help = Workplace::run({"explain", "--help"});
  CHECK(contains(help.output, "--bandwidth"));
  CHECK_FALSE(contains(help.output, "--checkpoint"));
}

TEST_CASE("explain tells of a thousand replicas, also with the optimizer's state divided") {
  const Workplace place;
  for (const char* divided : {"false", "true"}) {
    write(place / "recipe.yaml", std::string("batch_size: 2\nmomentum: 0.9\nshard_optimizer: ") + divided + "\n");
    const CommandResult result = Workplace::run(
        {"explain", place.model(), "--config", place / "recipe.yaml", "--replicas", "1024", "--threads", "1"});
    CAPTURE(result.errors);
    REQUIRE(result.exit_code == 0);
    CHECK(contains(result.output, "batch: 2048 samples an update, 1024 replicas of at most 2\n"));
    CHECK(contains(result.output, "\n  1024 x 1 "));
    CHECK(contains(result.output, "  reduce_scatter ") == (std::string(divided) == "true"));
  }
}

TEST_CASE("what explain cannot tell, it says") {
  const Workplace place;
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"explain", place.model()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(place, Workplace::run(arguments), 2, parts);
  };
  refused({"--bandwidth", "0"}, {"'bandwidth' is 0", "above 0"});
  refused({"--bandwidth", "nan"}, {"'bandwidth'"});
  refused({"--latency", "-1"}, {"'latency' is -1", "from 0 on"});
  refused({"--step-time", "fast"}, {"--step-time"});
  refused({"--bandwith", "1"}, {"unknown option '--bandwith'", "did you mean '--bandwidth'?"});
  refused({"--step_time=1"}, {"unknown option", "did you mean '--step-time'?"});
  refused({"--replicas", "2000000"}, {"'replicas' is 2000000", "1000000"});
  refused({"--gpus", "1"}, {"on the CPU", "--step-time"});
  // Options of explain alone are refused elsewhere, and are no keys of a recipe.
  check_refused(place, place.train({"--bandwidth", "1"}), 2, {"unknown option '--bandwidth'"});
  write(place / "recipe.yaml", "latency: 5\n");
  refused({"--config", place / "recipe.yaml"}, {"unknown key 'latency'"});
  check_refused(place, Workplace::run({"explain"}), 2, {"no model was given"});
  check_refused(place, Workplace::run({"explain", place / "none.onnx"}), 1, {"none.onnx"});

  auto logits = test::small_classifier();
  graph::Value* scores = logits->outputs().at(0)->producer()->inputs().at(0);
  logits->set_outputs({scores});
  graph::save(*logits, place.model());
  refused({}, {"depends on the labels", "--loss softmax_cross_entropy", "--loss mse"});
  CHECK(Workplace::run({"explain", place.model(), "--loss", "softmax_cross_entropy", "--threads", "1"}).exit_code == 0);
}

TEST_CASE("devices lists the CPU, and says why there is no GPU") {
  // Without the variable it would be another sentence on a machine with GPUs.
  const std::vector<std::string> command = {"env", "CUDA_VISIBLE_DEVICES=", built_program("ort-train"), "devices"};
  const CommandResult table = run_command(command);
  CAPTURE(table.output);
  CAPTURE(table.errors);
  CHECK(table.exit_code == 0);
  CHECK(table.errors.empty());
  CHECK(contains(table.output, "\nCPU "));
  CHECK(contains(table.output, std::to_string(runtime::usable_cores()) + " core"));
  CHECK(contains(table.output, "\nno GPU: "));
  CHECK(contains(table.output, "CUDA"));

  std::vector<std::string> for_programs = command;
  for_programs.emplace_back("--json");
  const CommandResult json = run_command(for_programs);
  CAPTURE(json.output);
  CHECK(json.exit_code == 0);
  CHECK(contains(json.output, "\"cores\": " + std::to_string(runtime::usable_cores()) + ","));
  CHECK(contains(json.output, "\"gpus\": [],\n  \"why_no_gpus\": \""));

  CHECK(contains(Workplace::run({"devices", "--help"}).output, "--json"));
  CHECK(contains(Workplace::run({"--help"}).output, "ort-train devices"));
  const Workplace place;
  check_refused(place, Workplace::run({"devices", "--jsn"}), 2, {"devices takes only --json"});
  check_refused(place, Workplace::run({"devices", place.model()}), 2, {"devices takes only --json"});
}

TEST_CASE("evaluate and predict know the options of a GPU, and take one at most") {
  const Workplace place;
  for (const char* command : {"evaluate", "predict"}) {
    const std::string help = Workplace::run({command, "--help"}).output;
    for (const char* option : {"--gpus N", "--device NAME", "--tf32", "--cuda-graph"}) {
      CHECK_MESSAGE(contains(help, option), option);
    }
    CHECK_FALSE(contains(help, "--replicas"));
    check_refused(place, Workplace::run({command, place.model(), "--data", place.data(), "--gpus", "2"}), 2,
                  {"run on one GPU", "'gpus' names 2", "--gpus 1"});
  }
  write(place / "recipe.yaml", "gpus: 4\n");
  const CommandResult on_cpu = Workplace::run(
      {"evaluate", place.model(), "--data", place.data(), "--config", place / "recipe.yaml", "--gpus", "0"});
  CAPTURE(on_cpu.errors);
  CHECK(on_cpu.exit_code == 0);
}

TEST_CASE("a recipe does what options do") {
  const Workplace place;
  write(place / "recipe.yaml", "data: {train: train.npz, validation: validation.npz}\nepochs: 9\nbatch-size: 16\n");
  const CommandResult result =
      Workplace::run({place.model(), "--config", place / "recipe.yaml", "--epochs", "1", "--output", place.output()});
  CAPTURE(result.errors);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "epoch 1/1: "));
}

TEST_CASE("without a model or data the command says what it needs") {
  const Workplace place;
  check_refused(place, Workplace::run({}), 2, {"no model was given", "--help"});
  check_refused(place, Workplace::run({place.model()}), 2,
                {"no data was given", "image float32[N,1,8,8]", "--data", "MNIST", ".npz"});
  CHECK(Workplace::run({"--help"}).exit_code == 0);
  CHECK(contains(Workplace::run({"--help"}).output, "Examples:"));
  CHECK(contains(Workplace::run({"--version"}).output, "ort-train "));
}

TEST_CASE("options that do not exist or do not fit are usage errors") {
  const Workplace place;
  check_refused(place, place.train({"--epoch", "3"}), 2, {"unknown option '--epoch'", "did you mean '--epochs'?"});
  check_refused(place, place.train({"--learning-rte=1"}), 2, {"'--learning-rte'", "did you mean"});
  check_refused(place, place.train({"--optimizer", "adma"}), 2, {"'adma'", "adam"});
  check_refused(place, place.train({"--momentum"}), 2, {"--momentum"});
  check_refused(place, place.train({"--gpus", "1"}), 2, {"CUDA", "CPU"});
  check_refused(place, place.train({"--gpus", "0,2"}), 2, {"GPU", "CPU"});
  check_refused(place, place.train({"--replicas", "0"}), 2, {"replicas"});
  check_refused(place, place.train({"--config", place / "none.yaml"}), 2, {"none.yaml", "does not exist"});
  check_refused(place, place.train({"--freeze", "nothing*"}), 2, {"freeze: 'nothing*' matches no parameter"});
  check_refused(place, place.train({"--loss", "{type: mse, output: nowhere}"}), 2, {"no output named 'nowhere'"});
}

TEST_CASE("a recipe with an unknown key is refused with its line") {
  const Workplace place;
  write(place / "recipe.yaml", "epochs: 3\nbatch_sise: 16\n");
  check_refused(place, place.train({"--config", place / "recipe.yaml"}), 2,
                {"recipe.yaml:2: unknown key 'batch_sise'; did you mean 'batch_size'?"});
}

TEST_CASE("what is no model is refused") {
  const Workplace place;
  SUBCASE("a text file") {
    write(place.model(), "This is a letter, not a model.\n");
    check_refused(place, place.train(), 1, {"model.onnx"});
  }
  SUBCASE("an empty file") {
    write(place.model(), "");
    check_refused(place, place.train(), 1, {"model.onnx"});
  }
  SUBCASE("a truncated file") {
    const std::string whole = read_file(place.model());
    write(place.model(), whole.substr(0, whole.size() / 2));
    check_refused(place, place.train(), 1, {"model.onnx"});
  }
  SUBCASE("no file") {
    std::filesystem::remove(place.model());
    check_refused(place, place.train(), 1, {"model.onnx"});
  }
}

TEST_CASE("missing external data is refused") {
  const Workplace place;
  std::filesystem::copy_file("tests/cases/external_data/model.onnx", place / "external.onnx");
  check_refused(place, Workplace::run({place / "external.onnx", "--data", place.data(), "--output", place.output()}), 1,
                {"model.onnx.data"});
}

TEST_CASE("samples that do not fit the model are refused") {
  const Workplace place;
  auto arrays = read_npz(place.data());
  const auto rewrite = [&](const std::string& name, const Tensor& array) {
    arrays[name] = array;
    write_npz(place.data(), arrays);
  };
  SUBCASE("labels that are real numbers") {
    rewrite("y", arrays.at("y").cast(DataType::float32));
    check_refused(place, place.train(), 1, {"'y'", "float32", "class"});
  }
  SUBCASE("a label out of range") {
    Tensor labels = arrays.at("y").clone();
    labels.data<std::int64_t>()[17] = 3;
    rewrite("y", labels);
    check_refused(place, place.train(), 1, {"sample 17", "is 3", "3 classes"});
  }
  SUBCASE("images of another size") {
    rewrite("x", Tensor(DataType::float32, {50, 1, 9, 8}));
    check_refused(place, Workplace::run({place.model(), "--data", place.data(), "--output", place.output()}), 1,
                  {"9", "8", "image"});
  }
  SUBCASE("fewer labels than images") {
    rewrite("y", Tensor(DataType::int64, {49}));
    check_refused(place, place.train(), 1, {"49", "50"});
  }
  SUBCASE("no samples") {
    arrays["x"] = Tensor(DataType::float32, {0, 1, 8, 8});
    rewrite("y", Tensor(DataType::int64, {0}));
    check_refused(place, place.train(), 1, {"train.npz", "empty"});
  }
  SUBCASE("an empty folder") {
    std::filesystem::create_directory(place / "nothing");
    check_refused(place, Workplace::run({place.model(), "--data", place / "nothing", "--output", place.output()}), 1,
                  {"nothing", "empty"});
  }
  SUBCASE("a data set that is not there") {
    check_refused(place, Workplace::run({place.model(), "--data", place / "nowhere", "--output", place.output()}), 1,
                  {"nowhere", "does not exist"});
  }
  SUBCASE("a damaged archive") {
    const std::string whole = read_file(place.data());
    write(place.data(), whole.substr(0, whole.size() / 2));
    check_refused(place, place.train(), 1, {"train.npz"});
  }
}

TEST_CASE("what cannot be written is found before training") {
  const Workplace place;
  write(place / "file", "in the way");
  const auto refused = [&](const std::string& option, const std::string& path) {
    const CommandResult result = place.train({option, path});
    CAPTURE(option);
    CAPTURE(result.errors);
    CHECK(result.exit_code == 1);
    CHECK(contains(result.errors, place / "file"));
    CHECK(contains(result.errors, "Not a directory"));
    CHECK_FALSE(contains(result.output, "epoch 1"));
  };
  refused("--history", place / "file/history.csv");
  refused("--curves", place / "file/curves.png");
  refused("--checkpoint", place / "file/run");
  const CommandResult result =
      Workplace::run({place.model(), "--data", place.data(), "--output", place / "file/trained.onnx"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.errors, place / "file"));
  CHECK_FALSE(contains(result.output, "epoch 1"));
}

TEST_CASE("the model itself is never overwritten") {
  const Workplace place;
  const CommandResult result = Workplace::run({place.model(), "--data", place.data(), "--output", place.model()});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.errors, "would overwrite the model"));
}

TEST_CASE("a checkpoint that is none, or of another model, is refused") {
  const Workplace place;
  write(place / "broken.npz", "nothing");
  check_refused(place, place.train({"--resume", place / "broken.npz"}), 1, {"cannot resume from", "broken.npz"});
  check_refused(place, place.train({"--resume", place / "none.npz"}), 1, {"none.npz", "does not exist"});

  REQUIRE(place.train({"--checkpoint", place / "run"}).exit_code == 0);
  std::filesystem::remove(place.output());
  auto other = test::small_classifier();
  Tensor bias = other->at("fc.bias")->initial().clone();
  bias.data<float>()[0] = 1;
  other->at("fc.bias")->set_initial(bias);
  graph::save(*other, place.model());
  check_refused(place, place.train({"--resume", place / "run"}), 1, {"another model"});
}

std::map<std::string, Tensor> weights_of(const std::string& path) {
  const auto model = graph::load(path);
  std::map<std::string, Tensor> weights;
  for (const graph::Value* value : model->initializers()) weights[value->name()] = value->initial();
  return weights;
}

void check_same_weights(const std::string& a, const std::string& b) {
  const auto left = weights_of(a), right = weights_of(b);
  REQUIRE(left.size() == right.size());
  for (const auto& entry : left) {
    CAPTURE(entry.first);
    CHECK(entry.second.identical(right.at(entry.first)));
  }
}

/// A run that is long enough to be disturbed in mid-epoch.
std::vector<std::string> long_run(const Workplace& place, const std::string& output,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {built_program("ort-train"),
                                        place.model(),
                                        "--data",
                                        place.data(),
                                        "--epochs",
                                        "60",
                                        "--batch-size",
                                        "4",
                                        "--lr",
                                        "0.01",
                                        "--momentum",
                                        "0.9",
                                        "--augmentation",
                                        "{shift: 0.2, flip: true}",
                                        "--threads",
                                        "1",
                                        "--output",
                                        output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("kill -9 in mid-epoch, resume: the weights are those of an undisturbed run") {
  const Workplace place;
  const std::string run = place / "run";
  REQUIRE(run_command(long_run(place, place / "undisturbed.onnx")).exit_code == 0);

  const std::vector<std::string> saving = {
      "--checkpoint", run, "--checkpoint-every-steps", "7", "--checkpoint-every-epochs", "1000"};
  const CommandResult killed = run_command_until(
      long_run(place, place / "resumed.onnx", saving), [&] { return std::filesystem::exists(run + "/last.npz"); },
      SIGKILL);
  REQUIRE(killed.signal == SIGKILL);
  REQUIRE_FALSE(std::filesystem::exists(place / "resumed.onnx"));

  std::vector<std::string> resuming = saving;
  resuming.insert(resuming.end(), {"--resume", run});
  const CommandResult resumed = run_command(long_run(place, place / "resumed.onnx", resuming));
  CAPTURE(resumed.errors);
  REQUIRE(resumed.exit_code == 0);
  check_same_weights(place / "undisturbed.onnx", place / "resumed.onnx");
}

TEST_CASE("Ctrl-C finishes the step, saves the state and exits with 130; the run can go on") {
  const Workplace place;
  const std::string history = place / "history.csv";
  REQUIRE(run_command(long_run(place, place / "undisturbed.onnx")).exit_code == 0);
  const CommandResult interrupted = run_command_until(
      long_run(place, place / "resumed.onnx", {"--history", history}), [&] { return std::filesystem::exists(history); },
      SIGINT);
  CAPTURE(interrupted.output);
  REQUIRE(interrupted.exit_code == 130);
  CHECK(contains(interrupted.output, "--resume " + (place / "resumed.checkpoint.npz")));
  REQUIRE_FALSE(std::filesystem::exists(place / "resumed.onnx"));

  const CommandResult resumed =
      run_command(long_run(place, place / "resumed.onnx", {"--resume", place / "resumed.checkpoint.npz"}));
  CAPTURE(resumed.errors);
  REQUIRE(resumed.exit_code == 0);
  check_same_weights(place / "undisturbed.onnx", place / "resumed.onnx");
}

}  // namespace
}  // namespace ort_train
