// Runs every case of the project's own, and the reference corpus where it lies beside the checkout, through run-case.
// ORT_TRAIN_CASES=FOLDER puts the cases of that folder in place of both, on ORT_TRAIN_REPLICAS replicas (default: 1) of
// the device ORT_TRAIN_DEVICE (default: cpu); tests/conformance does that. With ORT_TRAIN_CASE_SECONDS a case has so
// long.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "base/npy.h"
#include "tests/case_comparison.h"
#include "tests/command.h"

namespace ort_train {
namespace {

enum class Verdict { passed, refused, wrong, crashed };

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "passed";
    case Verdict::refused: return "refused";
    case Verdict::wrong: return "WRONG";
    case Verdict::crashed: return "CRASHED";
  }
  return "";
}

struct Outcome {
  std::string name;
  Verdict verdict = Verdict::crashed;
  std::string reason;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines) result += (result.empty() ? "" : "; ") + line;
  return result;
}

Outcome judge_numbers(const ReferenceCase& reference, const std::string& output) {
  // A case of kind `property` has no reference numbers; it must run and write its keys.
  const std::map<std::string, Tensor> got = read_npz(output);
  if (!reference.has_numbers) {
    const bool complete = got.count("loss") && got.count("losses");
    return {reference.name, complete ? Verdict::passed : Verdict::wrong, complete ? "" : "no losses written"};
  }
  const CaseComparison result = compare_case(reference, read_npz(reference.folder / "expected.npz"), got);
  if (!result.missing.empty()) return {reference.name, Verdict::wrong, "missing: " + joined(result.missing)};
  if (!result.wrong.empty()) return {reference.name, Verdict::wrong, joined(result.wrong)};
  return {reference.name, Verdict::passed, text("off by ", 100 * result.largest_share, " % of what is allowed")};
}

/// The words that start a program; with ORT_TRAIN_CASE_SECONDS one that hangs is ended after that time.
std::vector<std::string> limited(std::vector<std::string> command) {
  if (const char* seconds = std::getenv("ORT_TRAIN_CASE_SECONDS")) {
    command.insert(command.begin(), {"timeout", "--kill-after=10", seconds});
  }
  return command;
}

std::string chosen_device() {
  const char* device = std::getenv("ORT_TRAIN_DEVICE");
  return device == nullptr ? "cpu" : device;
}

Outcome run_case(const std::filesystem::path& folder, int replicas) {
  const ReferenceCase reference = read_reference_case(folder);
  const TemporaryFolder results;
  const std::string output = results / "out.npz";
  const CommandResult run = run_command(limited({built_program("tests/run-case"), folder.string(), output, "--replicas",
                                                 std::to_string(replicas), "--device", chosen_device()}));
  if (run.exit_code == 0) return judge_numbers(reference, output);
  const bool is_refusal = run.exit_code == 1 && !run.errors.empty() && !std::filesystem::exists(output);
  if (is_refusal)
    return {reference.name, Verdict::refused, run.errors.substr(0, run.errors.find_last_not_of('\n') + 1)};
  return {reference.name, Verdict::crashed,
          text("exit code ", run.exit_code, ", signal ", run.signal, " ", run.errors)};
}

std::vector<Outcome> run_cases(const std::filesystem::path& folder, int replicas) {
  std::cout << "cases of " << folder.string() << " on " << replicas << (replicas == 1 ? " replica" : " replicas")
            << std::endl;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (std::filesystem::exists(entry.path() / "case.yaml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Outcome> outcomes;
  for (const auto& each : folders) {
    outcomes.push_back(run_case(each, replicas));
    const Outcome& outcome = outcomes.back();
    std::cout << std::left << std::setw(34) << outcome.name << std::setw(9) << name_of(outcome.verdict)
              << outcome.reason << std::endl;
  }
  return outcomes;
}

long count(const std::vector<Outcome>& outcomes, Verdict verdict) {
  return std::count_if(outcomes.begin(), outcomes.end(), [&](const Outcome& each) { return each.verdict == verdict; });
}

void summarize(const std::vector<Outcome>& outcomes) {
  std::cout << outcomes.size() << " cases: " << count(outcomes, Verdict::passed) << " passed, "
            << count(outcomes, Verdict::refused) << " refused, " << count(outcomes, Verdict::wrong) << " wrong, "
            << count(outcomes, Verdict::crashed) << " crashed" << std::endl;
}

void check_no_wrong_number(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.name);
    CAPTURE(outcome.reason);
    CHECK(outcome.verdict != Verdict::wrong);
    CHECK(outcome.verdict != Verdict::crashed);
  }
}

int chosen_replicas() {
  const char* replicas = std::getenv("ORT_TRAIN_REPLICAS");
  return replicas == nullptr ? 1 : std::stoi(replicas);
}

bool is_refused_for_its_batch(const Outcome& outcome) {
  return outcome.verdict == Verdict::refused &&
         outcome.reason.find(": the batch cannot be divided here: ") != std::string::npos;
}

/// What one replica does, several do; only a batch that cannot be divided is refused.
void check_like_one_replica(const std::vector<Outcome>& outcomes, const std::vector<Outcome>& of_one) {
  REQUIRE(outcomes.size() == of_one.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(outcomes[i].name);
    CAPTURE(outcomes[i].reason);
    CHECK((outcomes[i].verdict == of_one[i].verdict || is_refused_for_its_batch(outcomes[i])));
  }
}

const char* chosen_folder() { return std::getenv("ORT_TRAIN_CASES"); }

TEST_CASE("the cases of the chosen folder have no wrong number") {
  if (!chosen_folder()) return;
  const std::vector<Outcome> outcomes = run_cases(chosen_folder(), chosen_replicas());
  summarize(outcomes);
  REQUIRE(!outcomes.empty());
  check_no_wrong_number(outcomes);
}

TEST_CASE("every case of the project's own passes, on any number of replicas") {
  if (chosen_folder()) return;
  for (const int replicas : {1, 2, 3}) {
    CAPTURE(replicas);
    const std::vector<Outcome> outcomes = run_cases("tests/cases", replicas);
    summarize(outcomes);
    REQUIRE(outcomes.size() >= 12);
    for (const Outcome& outcome : outcomes) {
      CAPTURE(outcome.name);
      CAPTURE(outcome.reason);
      CHECK(outcome.verdict == Verdict::passed);
    }
  }
}

TEST_CASE("the reference corpus: at least 75 cases pass, 74 of them on several replicas, and none has a wrong number") {
  if (chosen_folder()) return;
  const std::filesystem::path corpus = "../shared/corpus/cases";
  if (!std::filesystem::exists(corpus)) {
    std::cout << "SKIPPED: the reference corpus is not beside the checkout (../shared/corpus)" << std::endl;
    return;
  }
  const std::vector<Outcome> of_one = run_cases(corpus, 1);
  summarize(of_one);
  check_no_wrong_number(of_one);
  CHECK(count(of_one, Verdict::passed) >= 75);
  for (const int replicas : {2, 3}) {
    CAPTURE(replicas);
    const std::vector<Outcome> outcomes = run_cases(corpus, replicas);
    summarize(outcomes);
    check_like_one_replica(outcomes, of_one);
    CHECK(count(outcomes, Verdict::passed) >= 74);
  }
}

}  // namespace
}  // namespace ort_train
