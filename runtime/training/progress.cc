#include "runtime/training/progress.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/error.h"
#include "runtime/training/text_format.h"

namespace ort_train::training {
namespace {

constexpr std::int64_t bar_width = 24;
constexpr std::chrono::milliseconds redraw_interval(100);

const char* sample_word(const Trainer& trainer) {
  const bool images = trainer.task().sample_dims().begin()->second.size() == 3;
  return images ? "images" : "samples";
}

std::string bar(std::int64_t done, std::int64_t total) {
  const std::int64_t filled = total > 0 ? done * bar_width / total : bar_width;
  const std::string head = filled < bar_width ? ">" : "";
  return "[" + std::string(static_cast<std::size_t>(filled), '=') + head +
         std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, bar_width - filled - 1)), '.') + "]";
}

std::string figures(const std::string& prefix, double loss, const std::vector<std::string>& names,
                    const std::vector<double>& values) {
  std::string result = prefix + "loss " + as_figure(loss);
  for (std::size_t i = 0; i < names.size(); ++i) result += ", " + prefix + names[i] + " " + as_figure(values[i]);
  return result;
}

std::string rate(double per_second) { return text(std::lround(per_second)); }

}  // namespace

void Progress::draw(std::string line) {
  if (width_ > 0 && line.size() >= width_) line.resize(width_ - 1);
  const std::string blank(drawn_ > line.size() ? drawn_ - line.size() : 0, ' ');
  out_ << '\r' << line << blank << std::flush;
  drawn_ = line.size();
}

void Progress::on_batch_end(Trainer& trainer, const BatchReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (!live_ || (now < next_draw_ && report.step < report.steps_per_epoch)) return;
  next_draw_ = now + redraw_interval;
  const double per_second = static_cast<double>(report.samples) / std::max(report.seconds, 1e-9);
  const double samples_left =
      static_cast<double>((report.steps_per_epoch - report.step) * global_batch(trainer.config()));
  draw(text("epoch ", report.epoch, "/", report.epochs, " ", bar(report.step, report.steps_per_epoch), " ", report.step,
            "/", report.steps_per_epoch, "  ", rate(per_second), " ", sample_word(trainer), "/s  ",
            figures("", report.loss, trainer.metric_names(), report.metrics), "  ", as_clock(samples_left / per_second),
            " left"));
}

void Progress::on_validation_begin(Trainer& trainer) {
  if (live_) draw(text("epoch ", trainer.position().epoch + 1, "/", trainer.config().epochs, " validating"));
}

void Progress::on_epoch_end(Trainer& trainer, const EpochReport& report) {
  if (live_) {
    draw("");
    out_ << '\r';
  }
  drawn_ = 0;
  out_ << epoch_line(trainer, report) << std::endl;
}

void Progress::on_train_end(Trainer&, const FitResult& result) {
  if (live_ && result.interrupted) out_ << std::endl;
}

std::string epoch_line(const Trainer& trainer, const EpochReport& report) {
  std::string line = text("epoch ", report.epoch, "/", report.epochs, ": ");
  line += as_seconds(report.seconds);
  line += " s, " + figures("", report.loss, trainer.metric_names(), report.metrics);
  if (report.validation_loss) {
    line += ", " + figures("val ", *report.validation_loss, trainer.metric_names(), report.validation_metrics);
  }
  if (report.samples_per_second > 0)
    line += text(" (", rate(report.samples_per_second), " ", sample_word(trainer), "/s)");
  return line;
}

}  // namespace ort_train::training
