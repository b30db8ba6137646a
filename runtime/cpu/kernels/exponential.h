#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// exp of a float32 without branches or calls, so that loops over it vectorize: S. L. Moshier's polynomial of Cephes
// (expf), within 2 units in the last place of the rounded result. Overflow gives infinity, NaN stays NaN.
namespace ort_train::runtime::cpu {

inline float exponential(float x) {
  constexpr float lowest = -104.0f, highest = 89.0f;  // beyond them the result is 0 or infinity
  constexpr float rounder = 12582912.0f;              // 1.5 * 2^23: adding it rounds to a whole number
  constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  const float raised = x < lowest ? lowest : x;
  const float bounded = raised > highest ? highest : raised;
  const float shifted = bounded * 1.44269504088896341f + rounder;
  const float whole = shifted - rounder;
  const float rest = (bounded - whole * ln2_high) - whole * ln2_low;
  float power = 1.9875691500e-4f;
  power = power * rest + 1.3981999507e-3f;
  power = power * rest + 8.3334519073e-3f;
  power = power * rest + 4.1665795894e-2f;
  power = power * rest + 1.6666665459e-1f;
  power = power * rest + 5.0000001201e-1f;
  power = power * rest * rest + rest + 1.0f;
  // 2^whole as a product of two powers of two, since one alone may not be a float.
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(rounder);
  const std::int32_t half = exponent >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((exponent - half + 127) << 23);
  return power * first * second;
}

/// 1 / (1 + exp(-x)).
inline float logistic(float x) {
  const float e = exponential(-std::fabs(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// Near zero the odd polynomial of Cephes (tanhf), which keeps the digits; elsewhere 1 - 2 / (exp(2|x|) + 1).
inline float hyperbolic_tangent(float x) {
  const float square = x * x;
  float odd = -5.70498872745e-3f;
  odd = odd * square + 2.06390887954e-2f;
  odd = odd * square - 5.37397155531e-2f;
  odd = odd * square + 1.33314422036e-1f;
  odd = odd * square - 3.33332819422e-1f;
  odd = odd * square * x + x;
  const float size = std::fabs(x);
  const float far = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  return size < 0.625f ? odd : (x < 0.0f ? -far : far);
}

}  // namespace ort_train::runtime::cpu
