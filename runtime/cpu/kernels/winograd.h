#pragma once

#include <memory>

#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// A convolution with a 3x3 kernel, stride 1 and no dilation, over [samples, inputs, height, width].
struct WinogradShape {
  std::int64_t samples = 0, inputs = 0, outputs = 0;
  std::int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  std::int64_t pad_top = 0, pad_left = 0;
};

/// Which of the two uses of one weight [O, I, 3, 3] is meant.
enum class WinogradUse { forward, gradient_of_input };

/// Whether this kernel takes the convolution, and is faster than the direct one. The channels must fill blocks of 16.
bool winograd_fits(const WinogradShape& shape, const Context& context);

/// The convolution by Winograd's minimal filtering F(4x4, 3x3) (A. Lavin and S. Gray, "Fast algorithms for
/// convolutional neural networks", 2016): a quarter of the multiplications, and about six times the rounding error of
/// the direct sum (1e-6 instead of 2e-7, relative). Activations are nChw16c. The inputs of the node are the activation
/// (X or dY), the weight and, if `has_bias`, the bias.
std::unique_ptr<Kernel> make_winograd(const Request& request, const WinogradShape& shape, WinogradUse use,
                                      bool has_bias);

}  // namespace ort_train::runtime::cpu
