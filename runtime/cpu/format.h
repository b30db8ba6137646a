#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "base/tensor.h"

namespace ort_train::runtime::cpu {

/// How the elements of one array lie in memory: row-major, or (float32 only) in a blocked layout of oneDNN.
class Format {
 public:
  /// Of an input or output that is left out.
  Format() = default;
  static Format plain(DataType dtype, Dims dims);
  static Format plain(const Tensor& like) { return plain(like.dtype(), like.dims()); }
  /// A layout that is row-major after all becomes the plain format.
  static Format of(const dnnl::memory::desc& desc) { return of(desc, desc.get_dims()); }
  /// The same where oneDNN sees other extents of equal count than the graph: grouped weights [G, O, I, ...], say.
  static Format of(const dnnl::memory::desc& desc, Dims dims);

  bool defined() const { return dtype_ != DataType::undefined; }
  bool is_plain() const { return defined() && !blocked_; }
  DataType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t size() const { return element_count(dims_); }
  /// Memory it takes, padding included.
  std::size_t bytes() const;
  /// Elements it takes, padding included.
  std::int64_t stored_size() const;
  /// Some elements of the memory are no elements of the array; oneDNN keeps them zero.
  bool has_padding() const { return stored_size() != size(); }
  /// As oneDNN describes it; float32 only. A scalar has the extents [1].
  dnnl::memory::desc desc() const;
  /// The extents that oneDNN sees.
  Dims library_dims() const { return desc().get_dims(); }
  /// The size of the channel blocks of an nChw8c or nChw16c layout (any number of spatial axes), else 0.
  std::int64_t channel_block() const;

  bool operator==(const Format& other) const;

 private:
  DataType dtype_ = DataType::undefined;
  Dims dims_;
  bool blocked_ = false;
  dnnl::memory::desc desc_;
};

/// "row-major" or the letters of oneDNN, such as "aBcd16b".
std::string to_string(const Format& format);

/// The row-major float32 layout of these extents.
dnnl::memory::desc row_major_desc(const Dims& dims);

/// The channels of [N, C, spatial...] in blocks of `block`, as in nChw16c.
dnnl::memory::desc channel_blocked_desc(const Dims& dims, std::int64_t block);

}  // namespace ort_train::runtime::cpu
