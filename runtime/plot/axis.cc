#include "runtime/plot/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ort_train::plot {

namespace {

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * power >= least * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

std::string label_of(double value, double step, double largest) {
  char text[40];
  if (largest >= 1e7 || step < 0.99e-4) {
    std::snprintf(text, sizeof text, "%.6g", value);
  } else {
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
  }
  return text;
}

}  // namespace

Axis make_axis(double low, double high, double margin, int most_ticks, bool whole) {
  if (!(high > low)) {
    const double room = whole ? 1.0 : std::max(std::fabs(low) * 0.1, 1e-3);
    low -= room;
    high += room;
  }
  Axis axis{low - margin * (high - low), high + margin * (high - low), {}};
  double step = round_step((axis.high - axis.low) / most_ticks);
  if (whole) step = std::max(step, 1.0);
  const double largest = std::max(std::fabs(axis.low), std::fabs(axis.high));
  for (double index = std::ceil(axis.low / step - 1e-9); index * step <= axis.high + 1e-9 * step; ++index) {
    const double value = index == 0.0 ? 0.0 : index * step;
    axis.ticks.push_back({value, label_of(value, step, largest)});
  }
  return axis;
}

}  // namespace ort_train::plot
