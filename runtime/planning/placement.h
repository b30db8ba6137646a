#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/executable.h"
#include "runtime/memory_plan.h"
#include "runtime/planning/backend.h"
#include "runtime/planning/program.h"

namespace ort_train::runtime::planning {

/// The memory of a program: one address for each array, and what keeps it alive.
struct Placement {
  std::vector<std::byte*> addresses;
  std::shared_ptr<std::byte> arena, scratchpad;

  /// Null for an array that is left out.
  std::byte* address(int array) const { return array < 0 ? nullptr : addresses[static_cast<std::size_t>(array)]; }
};

/// Memory that one or several arrays share, or lie in one after the other.
struct Region {
  bool in_arena = true;
  bool writable = true;  // an output may take it over when its arrays are not needed any more
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::byte* memory = nullptr;
};

/// Decides where every array lies.
template <Backend Device>
class Placer {
  using Format = typename Device::Format;
  using Context = typename Device::Context;
  using State = typename Device::State;
  using Array = planning::Array<Format>;
  using Instruction = planning::Instruction<Format>;

 public:
  Placer(Program<Format>& program, const State& state, const Context& context, PlanReport& report)
      : program_(program),
        state_(state),
        context_(context),
        report_(report),
        region_of_(program.arrays.size(), -1),
        offset_of_(program.arrays.size(), 0) {}

  Placement run() {
    find_last_uses();
    place_sources();
    place_buckets();
    place_updates();
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) place_outputs(static_cast<int>(i));
    return allocate_regions();
  }

 private:
  static constexpr int before_first = -1;

  Array& array(int index) { return program_.array(index); }
  int& last_use(int index) { return last_use_[static_cast<std::size_t>(index)]; }
  int& region_of(int index) { return region_of_[static_cast<std::size_t>(index)]; }
  // Of an array in its region, in bytes.
  std::size_t& offset_of(int index) { return offset_of_[static_cast<std::size_t>(index)]; }
  Region& region(int index) { return regions_[static_cast<std::size_t>(region_of(index))]; }

  // A use of a view is a use of the array it shows; going backwards, that of the view is known already.
  void find_last_uses() {
    end_ = static_cast<int>(program_.instructions.size() + program_.updates.size());
    last_use_.assign(program_.arrays.size(), before_first);
    for (const auto& [name, index] : program_.outputs) last_use(index) = end_;
    for (int i = static_cast<int>(program_.instructions.size()) - 1; i >= 0; --i) {
      const Instruction& instruction = program_.instructions[static_cast<std::size_t>(i)];
      for (const int input : instruction.inputs) {
        if (input >= 0) last_use(input) = std::max(last_use(input), i);
      }
      for (const int output : instruction.outputs) {
        if (output < 0 || array(output).view_of < 0) continue;
        int& shown = last_use(array(output).view_of);
        shown = std::max(shown, last_use(output));
      }
    }
  }

  int add_region(const Region& region) {
    regions_.push_back(region);
    return static_cast<int>(regions_.size()) - 1;
  }

  void place_sources() {
    for (std::size_t i = 0; i < program_.arrays.size(); ++i) {
      const Array& array = program_.arrays[i];
      const std::size_t bytes = array.format.bytes();
      switch (array.source) {
        case Array::Source::input:
          // Fed before the step, and kept for the next step if nobody feeds it anew.
          region_of_[i] = add_region({true, false, bytes, before_first, end_, nullptr});
          report_.sum_of_values_bytes += bytes;
          break;
        case Array::Source::state:
          region_of_[i] = add_region({false, false, bytes, before_first, end_, state_.memory(array.name)});
          report_.state_bytes += bytes;
          break;
        case Array::Source::constant:
          region_of_[i] = add_region({false, false, bytes, before_first, end_, array.constant.get()});
          report_.constant_bytes += bytes;
          break;
        case Array::Source::instruction: report_.sum_of_values_bytes += array.view_of < 0 ? bytes : 0; break;
      }
    }
  }

  int producer_of(int index) const {
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const std::vector<int>& outputs = program_.instructions[i].outputs;
      if (std::find(outputs.begin(), outputs.end(), index) != outputs.end()) return static_cast<int>(i);
    }
    return before_first;
  }

  // A bucket lives from the first operand that is produced inside it up to the last use of a result.
  void place_buckets() {
    for (int position = 0; position < static_cast<int>(program_.instructions.size()); ++position) {
      const Instruction& instruction = program_.instructions[static_cast<std::size_t>(position)];
      for (const auto* slots : {&instruction.kernel->output_slots, &instruction.kernel->input_slots}) {
        for (const Slot& slot : *slots) place_bucket(bucket_of(instruction, slot), position);
      }
      for (const Slot& slot : instruction.kernel->input_slots) place_in_bucket(instruction, slot, position);
    }
  }

  int bucket_of(const Instruction& instruction, const Slot& slot) const {
    return instruction.outputs[static_cast<std::size_t>(slot.bucket)];
  }

  void place_bucket(int bucket, int position) {
    if (region_of(bucket) >= 0) return;
    const int last = std::max(position, last_use(bucket));
    region_of(bucket) = add_region({true, true, array(bucket).format.bytes(), position, last, nullptr});
  }

  void place_in_bucket(const Instruction& instruction, const Slot& slot, int position) {
    const int input = instruction.inputs[static_cast<std::size_t>(slot.index)];
    if (input < 0) return;
    const int produced = program_.shown_by(input);
    if (!can_move(produced, position) || array(produced).format.bytes() != array(input).format.bytes()) return;
    const int bucket = bucket_of(instruction, slot);
    region_of(produced) = region_of(bucket);
    offset_of(produced) = slot.offset;
    region(bucket).first = std::min(region(bucket).first, producer_of(produced));
    ++report_.operands_in_place;
  }

  // The array has no place yet, and nobody needs its elements after this instruction.
  bool can_move(int index, int position) {
    if (array(index).source != Array::Source::instruction || region_of(index) >= 0) return false;
    if (last_use(index) != position) return false;
    return std::none_of(program_.updates.begin(), program_.updates.end(),
                        [&](const ArrayUpdate& update) { return program_.shown_by(update.next) == index; });
  }

  void place_updates() {
    for (const ArrayUpdate& update : program_.updates) {
      if (can_write_state(update)) {
        region_of(update.next) = region_of(update.state);
        ++report_.in_place;
      } else {
        late_updates_.push_back(update);
      }
    }
    // The copies come last, so every reader of the old state has run.
    for (const ArrayUpdate& update : late_updates_) {
      const int position = static_cast<int>(program_.instructions.size());
      last_use(update.next) = std::max(last_use(update.next), position);
      for (int shown = array(update.next).view_of; shown >= 0; shown = array(shown).view_of) {
        last_use(shown) = std::max(last_use(shown), position);
      }
      const Format& format = array(update.state).format;
      program_.add_conversion("Copy", array(update.state).name, Device::make_reorder(context_, format, format),
                              update.next, update.state);
    }
  }

  // The producer of the new elements may write them over the old ones when nobody reads those later.
  bool can_write_state(const ArrayUpdate& update) {
    const int producer = producer_of(update.next);
    if (producer == before_first || array(update.next).view_of >= 0 || region_of(update.next) >= 0) return false;
    if (last_use(update.next) == end_) return false;
    if (last_use(update.state) < producer) return true;
    if (last_use(update.state) > producer) return false;
    const Instruction& instruction = program_.instructions[static_cast<std::size_t>(producer)];
    return std::any_of(instruction.kernel->in_place.begin(), instruction.kernel->in_place.end(),
                       [&](const Sharing& sharing) {
                         return instruction.outputs[static_cast<std::size_t>(sharing.output)] == update.next &&
                                instruction.inputs[static_cast<std::size_t>(sharing.input)] == update.state &&
                                uses_of_region(instruction, region_of(update.state)) == 1;
                       });
  }

  int uses_of_region(const Instruction& instruction, int region) {
    return static_cast<int>(std::count_if(instruction.inputs.begin(), instruction.inputs.end(),
                                          [&](int input) { return input >= 0 && region_of(input) == region; }));
  }

  void place_outputs(int position) {
    Instruction& instruction = program_.instructions[static_cast<std::size_t>(position)];
    std::vector<int> taken;
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i) {
      const int output = instruction.outputs[i];
      if (output < 0) continue;
      if (region_of(output) < 0) place_output(instruction, static_cast<int>(i), position, taken);
      region(output).last = std::max(region(output).last, last_use(output));
    }
  }

  void place_output(const Instruction& instruction, int index, int position, std::vector<int>& taken) {
    const int output = instruction.outputs[static_cast<std::size_t>(index)];
    const int shared =
        array(output).view_of >= 0 ? array(output).view_of : find_in_place(instruction, index, position, taken);
    if (shared < 0) {
      region_of(output) = add_region({true, true, array(output).format.bytes(), position, position, nullptr});
      return;
    }
    region_of(output) = region_of(shared);
    offset_of(output) = offset_of(shared) + array(output).view_offset;
  }

  // An input whose region ends its life at this instruction and that the kernel lets the output overwrite, or -1.
  int find_in_place(const Instruction& instruction, int output, int position, std::vector<int>& taken) {
    const std::size_t bytes = array(instruction.outputs[static_cast<std::size_t>(output)]).format.bytes();
    for (const Sharing& sharing : instruction.kernel->in_place) {
      const int input = instruction.inputs[static_cast<std::size_t>(sharing.input)];
      if (sharing.output != output || input < 0) continue;
      const Region& candidate = region(input);
      if (!candidate.in_arena || !candidate.writable || candidate.last > position) continue;
      if (candidate.bytes < offset_of(input) + bytes) continue;
      if (uses_of_region(instruction, region_of(input)) != 1) continue;
      if (std::find(taken.begin(), taken.end(), region_of(input)) != taken.end()) continue;
      taken.push_back(region_of(input));
      ++report_.in_place;
      return input;
    }
    return -1;
  }

  Placement allocate_regions() {
    std::vector<Interval> intervals;
    for (const Region& region : regions_) {
      if (region.in_arena) intervals.push_back({region.bytes, region.first, region.last});
    }
    const MemoryPlan plan = plan_memory(intervals);
    Placement placement;
    placement.arena = Device::allocate(context_, plan.bytes);
    std::size_t next = 0;
    for (Region& region : regions_) {
      if (region.in_arena) region.memory = placement.arena.get() + plan.offsets[next++];
    }
    for (std::size_t i = 0; i < program_.arrays.size(); ++i) {
      placement.addresses.push_back(regions_[static_cast<std::size_t>(region_of_[i])].memory + offset_of_[i]);
    }
    std::size_t scratchpad = 0;
    for (const Instruction& instruction : program_.instructions) {
      scratchpad = std::max(scratchpad, instruction.kernel->scratchpad_bytes);
    }
    placement.scratchpad = Device::allocate(context_, scratchpad);
    report_.arena_bytes = plan.bytes;
    report_.scratchpad_bytes = scratchpad;
    return placement;
  }

  Program<Format>& program_;
  const State& state_;
  const Context& context_;
  PlanReport& report_;
  int end_ = 0;
  std::vector<int> last_use_;
  std::vector<int> region_of_;
  std::vector<std::size_t> offset_of_;
  std::vector<Region> regions_;
  std::vector<ArrayUpdate> late_updates_;
};

/// Decides which arrays share memory (views, outputs over inputs that nobody needs any more, operands of collectives
/// inside their bucket, updates straight into the state), plans the arena for the rest and allocates it. An update that
/// cannot be written in place becomes a copy at the end of `program`. `state` holds every state of the program. The
/// figures of the plan are added to `report`.
template <Backend Device>
Placement place(Program<typename Device::Format>& program, const typename Device::State& state,
                const typename Device::Context& context, PlanReport& report) {
  return Placer<Device>(program, state, context, report).run();
}

}  // namespace ort_train::runtime::planning
