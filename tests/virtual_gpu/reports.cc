// Reports, injected faults and settings.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

namespace {

constexpr int exit_code = 86;

struct Fault {
  int calls_left = 0, error = 0;
};

/// Never destroyed: threads of streams report until the very end.
struct Book {
  std::mutex mutex;
  std::vector<Report> reports;
  std::set<std::string> told;
  std::map<std::string, Fault> faults;
};

void fail_at_exit();

void read_faults(Book& book) {
  const char* text = std::getenv("VIRTUAL_GPU_FAULTS");
  std::istringstream list(text == nullptr ? "" : text);
  for (std::string fault; std::getline(list, fault, ',');) {
    std::istringstream parts(fault);
    std::string api, call, error;
    std::getline(parts, api, ':');
    std::getline(parts, call, ':');
    std::getline(parts, error, ':');
    book.faults[api] = {std::atoi(call.c_str()), std::atoi(error.c_str())};
  }
}

Book& book() {
  static Book* const only = [] {
    auto* made = new Book;
    read_faults(*made);
    std::atexit(fail_at_exit);
    return made;
  }();
  return *only;
}

bool is_expected(const Report& report) {
  const char* expected = std::getenv("VIRTUAL_GPU_EXPECTED");
  return expected != nullptr && ("," + std::string(expected) + ",").find("," + report.kind + ",") != std::string::npos;
}

void fail_at_exit() {
  const std::lock_guard lock(book().mutex);
  const std::vector<Report>& reports = book().reports;
  const auto count = std::count_if(reports.begin(), reports.end(), [](const auto& r) { return !is_expected(r); });
  if (count == 0) return;
  std::fprintf(stderr, "virtual GPU: %td reports that nobody expected\n", count);
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace

void report(const std::string& kind, const std::string& text) {
  const std::lock_guard lock(book().mutex);
  if (!book().told.insert(kind + text).second) return;
  book().reports.push_back({kind, text});
  std::fprintf(stderr, "virtual GPU: %s: %s\n", kind.c_str(), text.c_str());
}

std::vector<Report> take_reports() {
  const std::lock_guard lock(book().mutex);
  book().told.clear();
  return std::exchange(book().reports, {});
}

void inject(const std::string& api, int k, int error) {
  const std::lock_guard lock(book().mutex);
  book().faults[api] = {k, error};
}

int injected(const std::string& api) {
  const std::lock_guard lock(book().mutex);
  const auto fault = book().faults.find(api);
  if (fault == book().faults.end() || --fault->second.calls_left > 0) return 0;
  const int error = fault->second.error;
  book().faults.erase(fault);
  return error;
}

double setting(const char* variable, double otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == 0 ? otherwise : std::atof(value);
}

double timeout_seconds() {
  static const double seconds = setting("VIRTUAL_GPU_TIMEOUT", 60);
  return seconds;
}

}  // namespace virtual_gpu
