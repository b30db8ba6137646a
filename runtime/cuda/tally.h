#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/host_kernel.h"
#include "runtime/cuda/launched_kernel.h"

// Losses and metrics: a sum and a count over positions, both scalars.
namespace ort_train::runtime::cuda {

/// What one position, or many, contribute. `wrong` is a label that is not a class, of the first position with one.
struct Tally {
  double sum = 0;
  std::int64_t count = 0;
  std::int64_t wrong = HostScratch::no_error;
};

struct AddTallies {
  __host__ __device__ Tally operator()(const Tally& a, const Tally& b) const {
    return {a.sum + b.sum, a.count + b.count, a.wrong == HostScratch::no_error ? b.wrong : a.wrong};
  }
};

/// Term(i) is the Tally of a position; one part of them is a row.
template <typename Term>
struct TallyParts {
  Term term;
  Out<Tally> tallies;
  std::int64_t positions, length;

  void arrays(Accesses& accesses) const {
    term.arrays(accesses);
    accesses(tallies);
  }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t part, const Threads& threads) const {
    const std::int64_t begin = part * length, rest = positions - begin;
    const Tally tally = threads.reduce(
        rest < length ? rest : length, Tally(), [&](std::int64_t i) { return term(begin + i); }, AddTallies());
    if (threads.is_first()) tallies[part] = tally;
  }
};

template <typename T>
struct FinishTally {
  In<Tally> tallies;
  Out<T> sum, count;
  std::int64_t* error_word;

  void arrays(Accesses& accesses) const { accesses(tallies)(sum)(count); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t, const Threads& threads) const {
    const Tally all = threads.reduce(
        tallies.count, Tally(), [&](std::int64_t part) { return tallies[part]; }, AddTallies());
    if (!threads.is_first()) return;
    if (sum.elements != nullptr) sum[0] = stored<T>(all.sum);
    if (count.elements != nullptr) count[0] = stored<T>(all.count);
    if (all.wrong != HostScratch::no_error) *error_word = all.wrong;
  }
};

/// Positions in parts of equal length. A function of their number alone, and so is the order of additions.
struct TallyPlan {
  explicit TallyPlan(std::int64_t all)
      : positions(all), length(std::max<std::int64_t>(1024, (all + 511) / 512)), parts((all + length - 1) / length) {}
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(parts) * sizeof(Tally); }

  std::int64_t positions, length, parts;
};

/// Either result may be left out, and the word where no term has labels. Uses the first bytes of the scratchpad,
/// `plan.scratch_bytes()` of them.
template <typename T, typename Term>
void run_tally(const LaunchedKernel& self, const TallyPlan& plan, const Term& term, const Out<T>& sum,
               const Out<T>& count, std::int64_t* error_word) {
  const auto tallies = self.scratch<Tally>(plan.parts);
  self.for_rows(plan.parts, TallyParts<Term>{term, tallies, plan.positions, plan.length});
  self.for_rows(1, FinishTally<T>{{tallies.elements, tallies.count}, sum, count, error_word});
}

}  // namespace ort_train::runtime::cuda
