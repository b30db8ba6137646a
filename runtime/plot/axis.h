#pragma once

#include <string>
#include <vector>

namespace ort_train::plot {

/// A range of numbers with round positions to mark.
struct Axis {
  struct Tick {
    double value;
    std::string label;
  };

  double low = 0.0;
  double high = 1.0;
  std::vector<Tick> ticks;

  /// Where a number lies: 0 at `low`, 1 at `high`.
  double position(double value) const { return (value - low) / (high - low); }
};

/// An axis that shows `low` to `high`, with a little room at either end in proportion `margin`, and at most
/// `most_ticks` marks at multiples of 1, 2 or 5 times a power of ten; of whole numbers when `whole` is set. An empty
/// range is widened.
Axis make_axis(double low, double high, double margin, int most_ticks, bool whole);

}  // namespace ort_train::plot
