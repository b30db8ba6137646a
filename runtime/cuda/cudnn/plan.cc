#include "runtime/cuda/cudnn/plan.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "runtime/cuda/cudnn/batch_normalization.h"
#include "runtime/cuda/cudnn/frontend.h"

namespace ort_train::runtime::cuda::cudnn {
namespace {

constexpr const char* file_header = "ort-train cuDNN plan 1\n";

/// FNV-1a, 64 bits: names files; what stands in a file decides whether it is taken.
std::uint64_t hash_of(const std::string& text, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream stream;
  stream << std::hex << value;
  return stream.str();
}

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail("measuring cuDNN's plans failed at ", what, ": ", cudaGetErrorString(status));
}

/// Device time of the work between `start()` and `milliseconds()`.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    require(cudaEventCreate(&begin_), "an event");
    require(cudaEventCreate(&end_), "an event");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() { require(cudaEventRecord(begin_, stream_), "an event"); }
  float milliseconds() {
    float elapsed = 0;
    require(cudaEventRecord(end_, stream_), "an event");
    require(cudaEventSynchronize(end_), "an event");
    require(cudaEventElapsedTime(&elapsed, begin_, end_), "an event");
    return elapsed;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

struct Planner::Implementation {
  /// The answer for one graph, being found by the first thread that asks.
  struct Entry {
    std::mutex mutex;
    bool known = false;
    std::shared_ptr<const Plan> plan;
    std::string refusal;
  };

  template <typename Source>
  Implementation(const Source& source, PlannerOptions given) : frontend(source), options(std::move(given)) {}

  std::shared_ptr<Entry> entry(const std::string& key) {
    const std::lock_guard lock(mutex);
    std::shared_ptr<Entry>& found = entries[key];
    if (!found) found = std::make_shared<Entry>();
    return found;
  }

  void count(int CacheCounts::*what) {
    const std::lock_guard lock(mutex);
    ++(counts.*what);
  }

  std::string full_key(const std::string& key) const {
    return text(frontend.device_key(), "; workspace ", options.workspace_limit_bytes, "; ", key);
  }

  std::filesystem::path file_of(const std::string& key) const {
    return options.cache_folder / (hexadecimal(hash_of(full_key(key))) + ".plan");
  }

  /// The file is: header, key, size and hash of the plan (a line each), plan.
  std::shared_ptr<const StorablePlan> load(const OperationGraph& graph, const std::string& key) {
    if (options.cache_folder.empty() || !std::filesystem::exists(file_of(key))) return nullptr;
    std::shared_ptr<const StorablePlan> plan;
    if (const auto bytes = stored_bytes(key)) plan = frontend.restore(graph, *bytes);
    count(plan ? &CacheCounts::loaded : &CacheCounts::ignored);
    return plan;
  }

  std::optional<std::vector<std::uint8_t>> stored_bytes(const std::string& key) const {
    std::string content;
    try {
      content = read_file(file_of(key));
    } catch (const Error&) {
      return std::nullopt;  // Unreadable is as good as absent: the plan is made anew.
    }
    const std::string head = file_header + full_key(key) + "\n";
    if (content.compare(0, head.size(), head) != 0) return std::nullopt;
    const std::size_t line_end = content.find('\n', head.size());
    if (line_end == std::string::npos) return std::nullopt;
    const std::string plan = content.substr(line_end + 1);
    if (content.substr(head.size(), line_end - head.size()) != summary_of(plan)) return std::nullopt;
    return std::vector<std::uint8_t>(plan.begin(), plan.end());
  }

  /// From the cache folder, by cuDNN's heuristics, or by its older calls.
  std::shared_ptr<const Plan> search(const OperationGraph& graph, const std::string& key, std::string& refusal) {
    if (std::shared_ptr<const Plan> plan = load(graph, key)) return plan;
    const auto plans = frontend.build(graph, options.workspace_limit_bytes, 1, &refusal);
    if (plans.empty()) return legacy_batch_normalization(graph);
    store(key, *plans.front());
    return plans.front();
  }

  static std::string summary_of(const std::string& plan) { return text(plan.size(), " ", hexadecimal(hash_of(plan))); }

  void store(const std::string& key, const StorablePlan& plan) {
    if (options.cache_folder.empty()) return;
    const std::vector<std::uint8_t> bytes = plan.serialize();
    if (bytes.empty()) return;
    const std::string body(bytes.begin(), bytes.end());
    try {
      write_file_atomically(file_of(key), file_header + full_key(key) + "\n" + summary_of(body) + "\n" + body);
    } catch (const Error&) {
      return;  // A folder that cannot be written costs time at the next start, never this run.
    }
    count(&CacheCounts::written);
  }

  Frontend frontend;
  PlannerOptions options;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
  CacheCounts counts;
};

Planner::Planner(cudnnHandle_t handle, PlannerOptions options)
    : implementation_(std::make_unique<Implementation>(handle, std::move(options))) {}

Planner::Planner(const DeviceProperties& properties, PlannerOptions options)
    : implementation_(std::make_unique<Implementation>(properties, std::move(options))) {}

Planner::~Planner() = default;

std::shared_ptr<Planner> Planner::shared(cudnnHandle_t handle, const PlannerOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Planner>> planners;
  auto candidate = std::make_shared<Planner>(handle, options);
  const std::lock_guard lock(mutex);
  std::weak_ptr<Planner>& known = planners[candidate->device_key()];
  if (std::shared_ptr<Planner> planner = known.lock()) return planner;
  known = candidate;
  return candidate;
}

std::shared_ptr<const Plan> Planner::find(const OperationGraph& graph, std::string* refusal) {
  graph.check();
  const std::string key = graph.key();
  const auto entry = implementation_->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->known) {
    entry->plan = implementation_->search(graph, key, entry->refusal);
    entry->known = true;
  }
  if (refusal != nullptr) *refusal = entry->refusal;
  return entry->plan;
}

std::shared_ptr<const Plan> Planner::autotune(const OperationGraph& graph, cudnnHandle_t handle,
                                              std::span<void* const> pointers, void* workspace,
                                              std::size_t workspace_bytes, int candidates) {
  graph.check();
  const std::string key = graph.key();
  const auto entry = implementation_->entry(key);
  const std::lock_guard lock(entry->mutex);
  const std::size_t limit = std::min(workspace_bytes, implementation_->options.workspace_limit_bytes);
  const auto plans = implementation_->frontend.build(graph, limit, candidates, &entry->refusal);
  cudaStream_t stream = nullptr;
  if (cudnnGetStream(handle, &stream) != CUDNN_STATUS_SUCCESS) fail("cuDNN does not tell the stream of its handle");
  Stopwatch watch(stream);
  std::shared_ptr<const StorablePlan> best;
  float best_milliseconds = std::numeric_limits<float>::max();
  for (const auto& plan : plans) {
    // The first run loads kernels; the least of the others is the least disturbed one.
    constexpr int runs = 5;
    for (int run = 0; run <= runs; ++run) {
      watch.start();
      plan->execute(handle, pointers, workspace);
      const float milliseconds = watch.milliseconds();
      if (run > 0 && milliseconds < best_milliseconds) {
        best_milliseconds = milliseconds;
        best = plan;
      }
    }
  }
  if (best) implementation_->store(key, *best);
  entry->plan = best ? std::shared_ptr<const Plan>(best) : legacy_batch_normalization(graph);
  entry->known = true;
  return entry->plan;
}

const std::string& Planner::device_key() const { return implementation_->frontend.device_key(); }

Planner::CacheCounts Planner::cache_counts() const {
  const std::lock_guard lock(implementation_->mutex);
  return implementation_->counts;
}

}  // namespace ort_train::runtime::cuda::cudnn
