#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "runtime/training/trainer.h"

namespace ort_train::training {

/// Prints a line for every epoch, and with `live` a bar that moves while it runs (for a terminal).
class Progress : public Callback {
 public:
  /// With a `width` above 0 the bar's line is cut to it, so that a terminal does not break it.
  Progress(std::ostream& out, bool live, std::size_t width = 0) : out_(out), live_(live), width_(width) {}

  void on_batch_end(Trainer& trainer, const BatchReport& report) override;
  void on_validation_begin(Trainer& trainer) override;
  void on_epoch_end(Trainer& trainer, const EpochReport& report) override;
  void on_train_end(Trainer& trainer, const FitResult& result) override;

 private:
  /// Draws over what the last call drew.
  void draw(std::string line);

  std::ostream& out_;
  bool live_;
  std::size_t width_;
  std::size_t drawn_ = 0;
  std::chrono::steady_clock::time_point next_draw_{};
};

/// "epoch 1/70: 64 s, loss 1.4323, accuracy 0.4787, val loss 1.1319, val accuracy 0.5983 (781 images/s)".
std::string epoch_line(const Trainer& trainer, const EpochReport& report);

}  // namespace ort_train::training
