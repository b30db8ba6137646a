#pragma once

#include <utility>
#include <vector>

#include "base/random.h"

namespace ort_train::data {

/// Puts the elements in a random order, each order equally likely (Fisher-Yates).
template <typename T>
void shuffle(std::vector<T>& elements, RandomStream random) {
  for (std::size_t left = elements.size(); left > 1; --left) {
    std::swap(elements[left - 1], elements[random.below(left)]);
  }
}

}  // namespace ort_train::data
