#include "runtime/cpu/format.h"

namespace ort_train::runtime::cpu {

namespace {

Dims at_least_one_axis(const Dims& dims) { return dims.empty() ? Dims{1} : dims; }

}  // namespace

dnnl::memory::desc row_major_desc(const Dims& dims) {
  const Dims extents = at_least_one_axis(dims);
  return {extents, dnnl::memory::data_type::f32, row_major_strides(extents)};
}

dnnl::memory::desc channel_blocked_desc(const Dims& dims, std::int64_t block) {
  using Tag = dnnl::memory::format_tag;
  Tag tag = Tag::undef;
  switch (dims.size()) {
    case 3: tag = block == 16 ? Tag::nCw16c : Tag::nCw8c; break;
    case 4: tag = block == 16 ? Tag::nChw16c : Tag::nChw8c; break;
    case 5: tag = block == 16 ? Tag::nCdhw16c : Tag::nCdhw8c; break;
    default: fail("no channel-blocked layout has ", dims.size(), " axes");
  }
  return {dims, dnnl::memory::data_type::f32, tag};
}

Format Format::plain(DataType dtype, Dims dims) {
  Format format;
  format.dtype_ = dtype;
  format.dims_ = std::move(dims);
  return format;
}

Format Format::of(const dnnl::memory::desc& desc, Dims dims) {
  Format format = plain(DataType::float32, std::move(dims));
  if (desc != row_major_desc(desc.get_dims())) {
    format.blocked_ = true;
    format.desc_ = desc;
  }
  return format;
}

std::size_t Format::bytes() const {
  if (!defined()) return 0;
  return blocked_ ? desc_.get_size() : static_cast<std::size_t>(size()) * size_of(dtype_);
}

std::int64_t Format::stored_size() const {
  return blocked_ ? static_cast<std::int64_t>(desc_.get_size() / sizeof(float)) : size();
}

dnnl::memory::desc Format::desc() const {
  if (dtype_ != DataType::float32) fail("oneDNN was asked for a layout of ", name_of(dtype_));
  return blocked_ ? desc_ : row_major_desc(dims_);
}

std::int64_t Format::channel_block() const {
  if (!blocked_ || dims_.size() < 3 || dims_.size() > 5 || desc_.get_dims() != dims_) return 0;
  const dnnl::memory::dims blocks = desc_.get_inner_blks();
  if (blocks.size() != 1 || (blocks[0] != 8 && blocks[0] != 16)) return 0;
  return desc_ == channel_blocked_desc(dims_, blocks[0]) ? blocks[0] : 0;
}

bool Format::operator==(const Format& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_ || blocked_ != other.blocked_) return false;
  return !blocked_ || desc_ == other.desc_;
}

std::string to_string(const Format& format) {
  if (!format.defined()) return "none";
  if (format.is_plain()) return "row-major";
  const dnnl::memory::desc desc = format.desc();
  const dnnl::memory::dims axes = desc.get_inner_idxs(), blocks = desc.get_inner_blks();
  std::string name = "blocked";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    name += text(i == 0 ? " " : "", blocks[i], static_cast<char>('a' + axes[i]));
  }
  return name;
}

}  // namespace ort_train::runtime::cpu
