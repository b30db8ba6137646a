#include "base/tensor.h"

#include <cstdlib>
#include <cstring>

#include "base/dispatch.h"

namespace ort_train {

namespace {

// A cache line, and the widest vector register.
constexpr std::size_t alignment = 64;

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) fail("out of memory: ", bytes, " bytes could not be allocated");
  std::memset(memory, 0, rounded);
  return {memory, [](std::byte* p) { std::free(p); }};
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) count *= extent;
  return count;
}

std::string to_string(std::span<const std::int64_t> dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return out + "]";
}

Dims row_major_strides(std::span<const std::int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Tensor::Tensor(DataType dtype, Dims dims) : dtype_(dtype), dims_(std::move(dims)), size_(element_count(dims_)) {
  for (const std::int64_t extent : dims_) {
    if (extent < 0) fail("a tensor cannot have the shape ", to_string(dims_));
  }
  if (dtype_ == DataType::string) {
    strings_ = std::make_shared<std::vector<std::string>>(static_cast<std::size_t>(size_));
  } else {
    storage_ = allocate(bytes());
  }
}

Tensor Tensor::of_int64s(const std::vector<std::int64_t>& values) {
  return of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor Tensor::view(DataType dtype, Dims dims, void* memory) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  tensor.size_ = element_count(tensor.dims_);
  tensor.storage_ = {static_cast<std::byte*>(memory), [](std::byte*) {}};
  return tensor;
}

std::size_t Tensor::bytes() const {
  if (dtype_ == DataType::undefined || dtype_ == DataType::string) return 0;
  return static_cast<std::size_t>(size_) * size_of(dtype_);
}

Tensor Tensor::clone() const {
  if (!defined()) return {};
  Tensor copy(dtype_, dims_);
  if (dtype_ == DataType::string) {
    *copy.strings_ = *strings_;
  } else {
    std::memcpy(copy.raw(), raw(), bytes());
  }
  return copy;
}

Tensor Tensor::reshaped(Dims dims) const {
  if (element_count(dims) != size_) {
    fail("a tensor of shape ", to_string(dims_), " cannot be viewed as ", to_string(dims));
  }
  Tensor view = *this;
  view.dims_ = std::move(dims);
  return view;
}

Tensor Tensor::cast(DataType dtype) const {
  if (dtype == dtype_) return clone();
  Tensor out(dtype, dims_);
  dispatch(dtype_, [&](auto from) {
    using From = typename decltype(from)::type;
    dispatch(dtype, [&](auto to) {
      using To = typename decltype(to)::type;
      const From* source = data<From>();
      To* target = out.data<To>();
      for (std::int64_t i = 0; i < size_; ++i) target[i] = convert<To>(source[i]);
    });
  });
  return out;
}

std::vector<std::int64_t> Tensor::to_int64s() const {
  const Tensor wide = cast(DataType::int64);
  return {wide.data<std::int64_t>(), wide.data<std::int64_t>() + size_};
}

std::vector<double> Tensor::to_doubles() const {
  const Tensor wide = cast(DataType::float64);
  return {wide.data<double>(), wide.data<double>() + size_};
}

bool Tensor::identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (dtype_ == DataType::undefined) return true;
  if (dtype_ == DataType::string) return *strings_ == *other.strings_;
  return std::memcmp(raw(), other.raw(), bytes()) == 0;
}

void Tensor::check_type(DataType asked) const {
  if (asked != dtype_) fail("a tensor of ", name_of(dtype_), " was read as ", name_of(asked));
}

}  // namespace ort_train
