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

}  // namespace

std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to) {
  if (from == to) return std::make_unique<CopyKernel>(from);
  const dnnl::reorder::primitive_desc primitive(context.engine, from.desc(), context.engine, to.desc(),
                                                scratchpad_by_user());
  auto kernel = std::make_unique<OnednnKernel>(context, dnnl::reorder(primitive), primitive.impl_info_str());
  kernel->inputs = {from};
  kernel->outputs = {to};
  kernel->reads(DNNL_ARG_FROM, from.desc(), 0);
  kernel->writes(DNNL_ARG_TO, to.desc(), 0);
  kernel->uses_scratchpad(primitive.scratchpad_desc());
  return kernel;
}

void convert(const Format& from, const std::byte* source, const Format& to, std::byte* target) {
  if (from == to) {
    std::memcpy(target, source, from.bytes());
    return;
  }
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  // oneDNN does not write to a source, but its interface has no pointer to constant elements.
  dnnl::memory in(from.desc(), engine, const_cast<std::byte*>(source));
  dnnl::memory out(to.desc(), engine, target);
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
}

}  // namespace ort_train::runtime::cpu
