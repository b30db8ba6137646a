#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/vector.h"

// Float32 kernels that apply a functor to elements in the order in which they lie in memory, so that any format will do
// as long as all operands have it.
namespace ort_train::runtime::cpu {

template <typename Functor>
struct FlatLoops {
  ORT_TRAIN_VECTORIZED static void unary(const float* x, float* out, std::int64_t count, Functor functor) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = functor(x[i]);
  }
  ORT_TRAIN_VECTORIZED static void binary(const float* a, const float* b, float* out, std::int64_t count,
                                          Functor functor) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = functor(a[i], b[i]);
  }
  ORT_TRAIN_VECTORIZED static void with_right_scalar(const float* a, float b, float* out, std::int64_t count,
                                                     Functor functor) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = functor(a[i], b);
  }
  ORT_TRAIN_VECTORIZED static void with_left_scalar(float a, const float* b, float* out, std::int64_t count,
                                                    Functor functor) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = functor(a, b[i]);
  }
};

/// The format that the first of the given inputs has which is not row-major, or the row-major one. Padding is refused
/// unless `keeps_zeros`: what lies in it must stay zero.
Format common_format(const Request& request, const std::vector<std::size_t>& candidates, bool keeps_zeros);

/// True for two float32 operands and a result of equal extents.
bool same_shape(const Request& request);

template <typename Functor>
class UnaryKernel : public Kernel {
 public:
  UnaryKernel(const Format& format, Functor functor) : functor_(functor), count_(format.stored_size()) {
    name = "own flat";
    inputs = {format};
    outputs = {format};
    in_place = {{0, 0}};
  }
  void bind(const Pointers& pointers) override {
    x_ = pointers.input<float>(0);
    out_ = pointers.output<float>(0);
  }
  void run() override {
    ort_train::kernels::parallel_for(count_, ort_train::kernels::cheap_grain,
                                     [&](std::int64_t begin, std::int64_t end) {
                                       FlatLoops<Functor>::unary(x_ + begin, out_ + begin, end - begin, functor_);
                                     });
  }

 private:
  Functor functor_;
  std::int64_t count_;
  const float* x_ = nullptr;
  float* out_ = nullptr;
};

/// Two operands of equal extents.
template <typename Functor>
class BinaryKernel : public Kernel {
 public:
  BinaryKernel(const Format& format, Functor functor) : functor_(functor), count_(format.stored_size()) {
    name = "own flat";
    inputs = {format, format};
    outputs = {format};
    in_place = {{0, 0}, {0, 1}};
  }
  void bind(const Pointers& pointers) override {
    a_ = pointers.input<float>(0);
    b_ = pointers.input<float>(1);
    out_ = pointers.output<float>(0);
  }
  void run() override {
    ort_train::kernels::parallel_for(
        count_, ort_train::kernels::cheap_grain, [&](std::int64_t begin, std::int64_t end) {
          FlatLoops<Functor>::binary(a_ + begin, b_ + begin, out_ + begin, end - begin, functor_);
        });
  }

 private:
  Functor functor_;
  std::int64_t count_;
  const float *a_ = nullptr, *b_ = nullptr;
  float* out_ = nullptr;
};

/// One operand is a single number.
template <typename Functor>
class ScalarOperandKernel : public Kernel {
 public:
  ScalarOperandKernel(const Request& request, const Format& format, int scalar, Functor functor)
      : functor_(functor), count_(format.stored_size()), scalar_(scalar) {
    name = "own flat";
    inputs = request.plain_inputs();
    inputs[static_cast<std::size_t>(1 - scalar)] = format;
    outputs = {format};
    in_place = {{0, 1 - scalar}};
  }
  void bind(const Pointers& pointers) override {
    a_ = pointers.input<float>(0);
    b_ = pointers.input<float>(1);
    out_ = pointers.output<float>(0);
  }
  void run() override {
    ort_train::kernels::parallel_for(
        count_, ort_train::kernels::cheap_grain, [&](std::int64_t begin, std::int64_t end) {
          if (scalar_ == 1) {
            FlatLoops<Functor>::with_right_scalar(a_ + begin, *b_, out_ + begin, end - begin, functor_);
          } else {
            FlatLoops<Functor>::with_left_scalar(*a_, b_ + begin, out_ + begin, end - begin, functor_);
          }
        });
  }

 private:
  Functor functor_;
  std::int64_t count_;
  int scalar_;
  const float *a_ = nullptr, *b_ = nullptr;
  float* out_ = nullptr;
};

/// Null unless everything is float32.
template <typename Functor>
std::unique_ptr<Kernel> make_unary(const Request& request, Functor functor) {
  if (!request.all_of_type(DataType::float32)) return nullptr;
  return std::make_unique<UnaryKernel<Functor>>(common_format(request, {0}, functor(0.0f) == 0.0f), functor);
}

/// Null unless everything is float32 and the operands have equal extents, or one of them is a single number that does
/// not add axes.
template <typename Functor>
std::unique_ptr<Kernel> make_binary(const Request& request, Functor functor) {
  if (!request.all_of_type(DataType::float32)) return nullptr;
  if (same_shape(request)) {
    const Format format = common_format(request, {0, 1}, functor(0.0f, 0.0f) == 0.0f);
    return std::make_unique<BinaryKernel<Functor>>(format, functor);
  }
  for (const int scalar : {1, 0}) {
    const auto operand = static_cast<std::size_t>(1 - scalar);
    if (request.input(static_cast<std::size_t>(scalar)).size() != 1) continue;
    if (request.input(operand).dims() != request.plain_output(0).dims()) continue;
    return std::make_unique<ScalarOperandKernel<Functor>>(request, common_format(request, {operand}, false), scalar,
                                                          functor);
  }
  return nullptr;
}

}  // namespace ort_train::runtime::cpu
