#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "tools/commands.h"
#include "tools/device_list.h"

namespace ort_train::tools {
namespace {

constexpr const char* title = "ort-train devices: what this process can compute on, the CPU and every GPU.\n";

constexpr const char* footer = R"(
GPUs are counted as CUDA_VISIBLE_DEVICES leaves them; --gpus of the other commands counts them in the same way.
Where there is no GPU, a sentence says why, and the exit code is 0 all the same.)";

}  // namespace

int devices(std::vector<std::string> arguments) {
  CLI::App app(title, "ort-train devices");
  app.set_help_flag("-h,--help", "print this text");
  bool json = false;
  app.add_flag("--json", json, "print JSON, for programs");
  app.footer(footer);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp& request) {
    return app.exit(request, std::cout, std::cerr);
  } catch (const CLI::ParseError&) {
    fail_usage("devices takes only --json and --help");
  }
  const DeviceList list = list_devices();
  std::cout << (json ? to_json(list) : to_text(list)) << std::flush;
  return 0;
}

}  // namespace ort_train::tools
