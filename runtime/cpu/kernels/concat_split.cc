// Concat and Split of float32 arrays as block copies, row-major along any axis or channel-blocked along the channels.
#include <cstring>

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

namespace {

// A row of the whole array is made of one row of each part.
class RowsKernel : public Kernel {
 public:
  enum class Direction { join, divide };

  RowsKernel(Direction direction, std::int64_t rows, std::vector<std::int64_t> parts)
      : direction_(direction), rows_(rows), parts_(std::move(parts)) {
    for (const std::int64_t part : parts_) row_ += part;
  }

  void bind(const Pointers& pointers) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (direction_ == Direction::join) {
        sources_.push_back(pointers.input<float>(i));
      } else {
        targets_.push_back(pointers.output<float>(i));
      }
    }
    whole_source_ = direction_ == Direction::divide ? pointers.input<float>(0) : nullptr;
    whole_target_ = direction_ == Direction::join ? pointers.output<float>(0) : nullptr;
  }

  void run() override {
    const std::int64_t grain =
        std::max<std::int64_t>(1, ort_train::kernels::cheap_grain / std::max<std::int64_t>(row_, 1));
    ort_train::kernels::parallel_for(rows_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) copy_row(row);
    });
  }

 private:
  void copy_row(std::int64_t row) {
    std::int64_t position = row * row_;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::int64_t part = parts_[i];
      const std::size_t bytes = static_cast<std::size_t>(part) * sizeof(float);
      if (direction_ == Direction::join) {
        std::memcpy(whole_target_ + position, sources_[i] + row * part, bytes);
      } else if (targets_[i] != nullptr) {
        std::memcpy(targets_[i] + row * part, whole_source_ + position, bytes);
      }
      position += part;
    }
  }

  Direction direction_;
  std::int64_t rows_, row_ = 0;
  std::vector<std::int64_t> parts_;
  std::vector<const float*> sources_;
  std::vector<float*> targets_;
  const float* whole_source_ = nullptr;
  float* whole_target_ = nullptr;
};

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t i = begin; i < end; ++i) result *= dims[i];
  return result;
}

// The block size that one of `formats` has and that divides the channels of all `parts`, or 0.
std::int64_t common_block(const std::vector<Format>& formats, const std::vector<Format>& parts) {
  std::int64_t block = 0;
  for (const Format& format : formats) block = std::max(block, format.channel_block());
  if (block == 0) return 0;
  for (const Format& part : parts) {
    if (part.dims()[1] % block != 0) return 0;
  }
  return block;
}

Format in_blocks(const Format& format, std::int64_t block) {
  return block == 0 ? format : Format::of(channel_blocked_desc(format.dims(), block));
}

std::unique_ptr<Kernel> make_rows(const Request& request, RowsKernel::Direction direction,
                                  const std::vector<Format>& parts, const Format& whole) {
  const auto rank = static_cast<std::int64_t>(whole.dims().size());
  const std::int64_t given = request.node.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  const std::int64_t block = axis == 1 ? common_block(request.inputs, parts) : 0;
  std::vector<std::int64_t> sizes;
  std::vector<Format> part_formats;
  for (const Format& part : parts) {
    sizes.push_back(product(part.dims(), axis, part.dims().size()));
    part_formats.push_back(in_blocks(part, block));
  }
  auto kernel = std::make_unique<RowsKernel>(direction, product(whole.dims(), 0, axis), sizes);
  kernel->name = block == 0 ? "own row-major" : "own blocked";
  kernel->inputs = part_formats;
  kernel->outputs = {in_blocks(whole, block)};
  if (direction == RowsKernel::Direction::divide) {
    kernel->outputs = part_formats;
    kernel->inputs = request.plain_inputs();
    kernel->inputs[0] = in_blocks(whole, block);
  }
  return kernel;
}

std::unique_ptr<Kernel> make_concat(const Request& request) {
  if (!request.all_of_type(DataType::float32)) return nullptr;
  return make_rows(request, RowsKernel::Direction::join, request.plain_inputs(), request.plain_output(0));
}

std::unique_ptr<Kernel> make_split(const Request& request) {
  if (request.input(0).dtype() != DataType::float32) return nullptr;
  for (const graph::Value* part : request.node.outputs()) {
    if (part == nullptr) return nullptr;
  }
  return make_rows(request, RowsKernel::Direction::divide, request.plain_outputs(), request.plain_input(0));
}

const FactoryRegistration concat("Concat", make_concat);
const FactoryRegistration split("Split", make_split);

}  // namespace

}  // namespace ort_train::runtime::cpu
