#include "runtime/training/explanation_text.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "runtime/training/text_format.h"

namespace ort_train::training {
namespace {

using runtime::CollectiveAlgorithm;

std::string fixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, 3); }
std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

/// Columns as wide as their widest cell: words to the left, the last `numbers` columns to the right.
class Table {
 public:
  explicit Table(std::size_t numbers) : numbers_(numbers) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string result;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string space(widths[i] - row[i].size(), ' ');
        line += "  " + (i + numbers_ < row.size() ? row[i] + space : space + row[i]);
      }
      result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

 private:
  std::size_t numbers_;
  std::vector<std::vector<std::string>> rows_;
};

std::string passes_text(const Explanation& explanation) {
  Table table(3);
  table.add({"pass", "nodes", "nodes after", "ms"});
  for (const passes::Pipeline::Record& record : explanation.passes) {
    table.add({record.pass, text(record.nodes_before), record.changed ? text(record.nodes_after) : "unchanged",
               fixed(record.milliseconds, 2)});
  }
  return "passes\n" + table.text();
}

std::string batch_text(const Explanation& explanation) {
  std::string result =
      text("batch: ", explanation.global_batch, " samples an update, ", explanation.replicas,
           explanation.replicas == 1 ? " replica of " : " replicas of at most ", explanation.replica_batch);
  if (explanation.accumulate > 1) result += text(", in ", explanation.accumulate, " micro-batches");
  return result + "\n";
}

runtime::Layout one_process(const Explanation& explanation) { return {1, 0, explanation.replicas}; }
runtime::Layout a_process_each(const Explanation& explanation) { return {explanation.replicas, 0, 1}; }

std::size_t scratch_bytes(const Explanation& explanation, const runtime::Layout& layout) {
  const auto traffic = traffic_of(explanation, layout, 0);
  return traffic.partial_bytes + traffic.received_bytes;
}

std::string memory_text(const Explanation& explanation) {
  Table table(1);
  table.add({"parameters", in_bytes(explanation.parameter_bytes)});
  table.add({"optimizer slots", in_bytes(explanation.slot_bytes)});
  table.add({"intermediates", in_bytes(explanation.plan.arena_bytes)});
  table.add({"of these, buckets of collectives", in_bytes(explanation.plan.bucket_bytes)});
  table.add({"scratch of kernels", in_bytes(explanation.plan.scratchpad_bytes)});
  table.add({"scratch between processes", in_bytes(scratch_bytes(explanation, a_process_each(explanation)))});
  return "memory of a replica\n" + table.text();
}

const char* name_of_kind(runtime::OperationKind kind) {
  switch (kind) {
    case runtime::OperationKind::all_reduce: return "all_reduce";
    case runtime::OperationKind::reduce_scatter: return "reduce_scatter";
    case runtime::OperationKind::all_gather: return "all_gather";
    case runtime::OperationKind::broadcast: return "broadcast";
    case runtime::OperationKind::barrier: break;
  }
  return "barrier";
}

/// All of the array: a scatter or gather counts its elements by the part.
std::size_t bytes_of(const runtime::Operation& operation, int replicas) {
  const bool parts =
      operation.kind == runtime::OperationKind::reduce_scatter || operation.kind == runtime::OperationKind::all_gather;
  return operation.count * size_of(operation.dtype) * (parts ? static_cast<std::size_t>(replicas) : 1);
}

std::string collectives_text(const Explanation& explanation, const StepPrediction& ring, const StepPrediction& tree,
                             double scale) {
  if (explanation.collectives.empty()) return "collectives: none\n";
  Table table(6);
  table.add({"collective", "arrays", "bytes", "ready ms", "needed ms", "hidden (ring)", "hidden (tree)"});
  for (std::size_t i = 0; i < explanation.collectives.size(); ++i) {
    const ExplainedCollective& collective = explanation.collectives[i];
    table.add({name_of_kind(collective.operation.kind), text(collective.operands),
               in_bytes(bytes_of(collective.operation, explanation.replicas)), milliseconds(collective.ready * scale),
               milliseconds(collective.needed * scale), percent(ring.hidden[i]), percent(tree.hidden[i])});
  }
  return "collectives of a step\n" + table.text();
}

std::string traffic_text(const Explanation& explanation) {
  Table table(5);
  table.add({"processes x replicas", "operations", "reduced", "messages sent", "sent", "scratch"});
  for (const runtime::Layout& layout : {one_process(explanation), a_process_each(explanation)}) {
    const auto traffic = traffic_of(explanation, layout, 0);
    table.add({text(layout.processes, " x ", layout.replicas_per_process), text(traffic.operations),
               in_bytes(traffic.bytes_reduced), with_separators(static_cast<std::int64_t>(traffic.messages)),
               in_bytes(traffic.bytes_sent), in_bytes(scratch_bytes(explanation, layout))});
  }
  return "a step of the first process\n" + table.text();
}

std::string prediction_text(const Explanation& explanation, const ExplainedMachine& machine, const StepPrediction& ring,
                            const StepPrediction& tree) {
  Table table(5);
  table.add({"algorithm", "step ms", "communication ms", "exposed ms", "efficiency", "samples/s"});
  for (const auto& [name, step] : {std::pair<const char*, const StepPrediction&>("ring", ring), {"tree", tree}}) {
    const double rate = step.seconds > 0 ? static_cast<double>(explanation.global_batch) / step.seconds : 0;
    table.add({name, milliseconds(step.seconds), milliseconds(step.communication_seconds),
               milliseconds(step.exposed_seconds), percent(step.efficiency), fixed(rate, rate < 100 ? 1 : 0)});
  }
  return text("prediction with ", machine.network.bandwidth / 1e9, " GB/s and ", machine.network.latency * 1e6,
              " µs a message\n") +
         table.text();
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const ExplainedMachine& machine) {
  const double compute = machine.compute_seconds.value_or(explanation.compute_seconds);
  const double scale = explanation.compute_seconds > 0 ? compute / explanation.compute_seconds : 1;
  const StepPrediction ring = predict_step(explanation, machine.network, CollectiveAlgorithm::ring, compute);
  const StepPrediction tree = predict_step(explanation, machine.network, CollectiveAlgorithm::tree, compute);
  return passes_text(explanation) + "\n" + batch_text(explanation) + "\n" + memory_text(explanation) + "\n" +
         text("computation: ", milliseconds(compute), " ms a step, ",
              machine.compute_seconds ? "as given" : "timed on this machine", "\n\n") +
         collectives_text(explanation, ring, tree, scale) + "\n" + traffic_text(explanation) + "\n" +
         prediction_text(explanation, machine, ring, tree);
}

}  // namespace ort_train::training
