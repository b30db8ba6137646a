#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <iostream>

#include "runtime/training/progress.h"
#include "runtime/training/summary.h"
#include "runtime/training/trainer.h"
#include "tools/commands.h"

namespace ort_train::tools {
namespace {

/// Lets Ctrl-C (and SIGTERM) end the run after the present step. A second one ends the program at once.
class InterruptOnSignal {
 public:
  explicit InterruptOnSignal(training::Trainer& trainer) {
    trainer_ = &trainer;
    struct sigaction action = {};
    action.sa_handler = [](int) { trainer_.load()->interrupt(); };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  ~InterruptOnSignal() {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    trainer_ = nullptr;
  }
  InterruptOnSignal(const InterruptOnSignal&) = delete;
  InterruptOnSignal& operator=(const InterruptOnSignal&) = delete;

 private:
  // A signal handler has no other way to reach it.
  static inline std::atomic<training::Trainer*> trainer_ = nullptr;
};

/// Columns of the terminal; 0 when standard output is none.
std::size_t terminal_width() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void print_results(const training::TrainingConfig& config) {
  std::cout << "trained model: " << config.output.string() << "\n";
  if (!config.history.empty()) std::cout << "history: " << config.history.string() << "\n";
  if (!config.curves.empty()) std::cout << "curves: " << config.curves.string() << "\n";
  if (!config.checkpoint.empty()) {
    std::cout << "checkpoint: " << (config.checkpoint / "last.npz").string()
              << ", best model: " << (config.checkpoint / "best.onnx").string() << "\n";
  }
}

}  // namespace

int train(const training::TrainingConfig& config) {
  training::Trainer trainer(config);
  const InterruptOnSignal interrupt(trainer);
  trainer.prepare();
  if (!trainer.is_first_process()) return trainer.fit().interrupted ? interrupted_exit_code : 0;
  if (!config.quiet) std::cout << training::summary(trainer) << std::endl;
  const bool live = !config.quiet && isatty(STDOUT_FILENO);
  trainer.add_callback(std::make_shared<training::Progress>(std::cout, live, terminal_width()));
  const training::FitResult result = trainer.fit();
  if (!result.interrupted) {
    print_results(trainer.config());
    return 0;
  }
  std::cout << "interrupted; the state is saved. To go on: the same command with --resume " << result.checkpoint
            << std::endl;
  return interrupted_exit_code;
}

}  // namespace ort_train::tools
