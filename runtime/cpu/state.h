#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cpu/format.h"
#include "runtime/state.h"

namespace ort_train::runtime::cpu {

/// State on the CPU. An array lives in the format that the first executable with it chose; its address never changes.
class CpuState : public State {
 public:
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return arrays_.count(name) != 0; }
  graph::Role role(const std::string& name) const override { return at(name).role; }
  Tensor get(const std::string& name) const override;
  void set(const std::string& name, const Tensor& elements) override;

  /// A new array; throws when the name is taken.
  void add(const std::string& name, graph::Role role, const Format& format, const Tensor& elements);
  const Format& format(const std::string& name) const { return at(name).format; }
  std::byte* memory(const std::string& name) const { return at(name).memory.get(); }

 private:
  struct Array {
    graph::Role role;
    Format format;
    std::shared_ptr<std::byte> memory;
  };
  const Array& at(const std::string& name) const;

  std::map<std::string, Array> arrays_;
  std::vector<std::string> order_;
};

}  // namespace ort_train::runtime::cpu
