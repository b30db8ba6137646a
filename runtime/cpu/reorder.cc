#include "runtime/cpu/reorder.h"

#include <cstring>

#include "runtime/cpu/onednn_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

class CopyKernel : public Kernel {
 public:
  explicit CopyKernel(const Format& format) : bytes_(format.bytes()) {
    name = "copy";
    inputs = {format};
    outputs = {format};
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override { std::memcpy(pointers_.outputs[0], pointers_.inputs[0], bytes_); }

 private:
  std::size_t bytes_;
  Pointers pointers_;
};

// The two sides as arrays of the same extents: a row-major one can be seen under those of the other.
std::pair<dnnl::memory::desc, dnnl::memory::desc> matching_descs(const Format& from, const Format& to) {
  if (from.is_plain()) return {row_major_desc(to.library_dims()), to.desc()};
  if (to.is_plain()) return {from.desc(), row_major_desc(from.library_dims())};
  return {from.desc(), to.desc()};
}

}  // namespace

bool can_reorder(const Format& from, const Format& to) {
  return from == to || from.is_plain() || to.is_plain() || from.library_dims() == to.library_dims();
}

std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to) {
  if (from == to) return std::make_unique<CopyKernel>(from);
  const auto [source, target] = matching_descs(from, to);
  const dnnl::reorder::primitive_desc primitive(context.engine, source, context.engine, target, scratchpad_by_user());
  auto kernel = std::make_unique<OnednnKernel>(context, dnnl::reorder(primitive), primitive.impl_info_str());
  kernel->inputs = {from};
  kernel->outputs = {to};
  kernel->reads(DNNL_ARG_FROM, source, 0);
  kernel->writes(DNNL_ARG_TO, target, 0);
  kernel->uses_scratchpad(primitive.scratchpad_desc());
  return kernel;
}

void convert(const Format& from, const std::byte* source, const Format& to, std::byte* target) {
  if (from.size() == 0) return;
  if (from == to) {
    std::memcpy(target, source, from.bytes());
    return;
  }
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  // oneDNN does not write to a source, but its interface has no pointer to constant elements.
  const auto [from_desc, to_desc] = matching_descs(from, to);
  dnnl::memory in(from_desc, engine, const_cast<std::byte*>(source));
  dnnl::memory out(to_desc, engine, target);
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
}

}  // namespace ort_train::runtime::cpu
