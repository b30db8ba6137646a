#include "runtime/training/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ort_train::training {
namespace {

double decays(const Schedule& schedule, std::int64_t progress) {
  if (schedule.milestones.empty()) return static_cast<double>(progress / std::max<std::int64_t>(schedule.every, 1));
  return static_cast<double>(std::count_if(schedule.milestones.begin(), schedule.milestones.end(),
                                           [&](std::int64_t milestone) { return milestone <= progress; }));
}

double decayed(const Schedule& schedule, std::int64_t progress, std::int64_t total) {
  const double rate = schedule.learning_rate, end = schedule.end_learning_rate;
  const double share =
      std::min(1.0, static_cast<double>(progress) / static_cast<double>(std::max<std::int64_t>(total, 1)));
  switch (schedule.kind) {
    case Schedule::Kind::constant: return rate;
    case Schedule::Kind::step: return rate * std::pow(schedule.gamma, decays(schedule, progress));
    case Schedule::Kind::polynomial: return end + (rate - end) * std::pow(1 - share, schedule.power);
    case Schedule::Kind::cosine: return end + (rate - end) * (1 + std::cos(M_PI * share)) / 2;
  }
  return rate;
}

}  // namespace

double Schedule::rate(std::int64_t step, std::int64_t steps_per_epoch, std::int64_t epochs) const {
  const double rate = per_step ? decayed(*this, step, epochs * steps_per_epoch)
                               : decayed(*this, step / std::max<std::int64_t>(steps_per_epoch, 1), epochs);
  const std::int64_t warmup = warmup_steps + warmup_epochs * steps_per_epoch;
  if (step >= warmup) return rate;
  return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
}

std::string describe(const Schedule& schedule) {
  const char* unit = schedule.per_step ? "step" : "epoch";
  std::string result;
  switch (schedule.kind) {
    case Schedule::Kind::constant: result = "constant"; break;
    case Schedule::Kind::step:
      result = text("times ", schedule.gamma, schedule.milestones.empty() ? " every " : " at ");
      if (schedule.milestones.empty()) result += text(schedule.every, " ", unit, "s");
      for (std::size_t i = 0; i < schedule.milestones.size(); ++i) {
        result += text(i == 0 ? text(unit, " ") : ", ", schedule.milestones[i]);
      }
      break;
    case Schedule::Kind::polynomial:
      result = text("polynomial decay of power ", schedule.power, " to ", schedule.end_learning_rate, ", each ", unit);
      break;
    case Schedule::Kind::cosine: result = text("cosine decay to ", schedule.end_learning_rate, ", each ", unit); break;
  }
  if (schedule.warmup_epochs > 0) result += text(", warm-up over ", schedule.warmup_epochs, " epochs");
  if (schedule.warmup_steps > 0) result += text(", warm-up over ", schedule.warmup_steps, " steps");
  return result;
}

}  // namespace ort_train::training
