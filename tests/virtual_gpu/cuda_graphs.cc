// Stream capture and graphs: cudaStreamBeginCapture and what belongs to it.
#include <algorithm>
#include <set>

#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/cuda_errors.h"

namespace virtual_gpu {

namespace {

/// Captures that are going on; guarded by capture_mutex().
std::set<std::shared_ptr<Capture>>& captures() {
  static auto* const only = new std::set<std::shared_ptr<Capture>>;
  return *only;
}

std::shared_ptr<Capture> find_capture(const Capture* capture) {
  for (const auto& open : captures()) {
    if (open.get() == capture) return open;
  }
  return nullptr;
}

Branch& branch_of(StreamThread& stream) { return stream.capture->branches[static_cast<std::size_t>(stream.branch)]; }

void begin_branch(const std::shared_ptr<Capture>& capture, const std::shared_ptr<StreamThread>& stream) {
  stream->capture = capture;
  stream->branch = static_cast<int>(capture->branches.size());
  capture->branches.push_back({stream, {}, {}});
  for (Branch& branch : capture->branches) branch.position.resize(capture->branches.size());
}

bool all_branches_joined(const Capture& capture) {
  const std::vector<std::size_t>& end = capture.branches.front().position;
  for (std::size_t i = 1; i < capture.branches.size(); ++i) {
    if (end[i] < capture.branches[i].position[i]) return false;
  }
  return true;
}

/// A graph, and the same ready to be replayed: each branch on a stream of its own.
struct Graph {
  std::shared_ptr<Capture> capture;
};

class ExecutableGraph {
 public:
  explicit ExecutableGraph(std::shared_ptr<Capture> capture) : capture_(std::move(capture)) {
    for (const Branch& branch : capture_->branches) {
      streams_.push_back(std::make_shared<StreamThread>(branch.stream->device, cudaStreamNonBlocking,
                                                        StreamThread::Role::graph_branch));
    }
  }

  ~ExecutableGraph() {
    for (auto& stream : streams_) let_end(std::move(stream));
  }
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;

  void launch(StreamThread& stream) {
    std::vector<SignalPointer> records(static_cast<std::size_t>(capture_->records));
    for (SignalPointer& record : records) record = std::make_shared<Signal>();
    const auto start = std::make_shared<Signal>();
    stream.record(start);
    std::vector<SignalPointer> ends;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i]->wait(start);
      // One graph does not run twice at the same time.
      for (const SignalPointer& end : last_ends_) streams_[i]->wait(end);
      replay(capture_->branches[i], *streams_[i], records);
      ends.push_back(std::make_shared<Signal>());
      streams_[i]->record(ends.back());
    }
    for (const SignalPointer& end : ends) stream.wait(end);
    last_ends_ = std::move(ends);
  }

 private:
  static void replay(const Branch& branch, StreamThread& stream, const std::vector<SignalPointer>& records) {
    for (const CapturedOperation& operation : branch.operations) {
      if (operation.kind == Operation::Kind::work) {
        stream.push({operation.kind, operation.name, operation.accesses, operation.work, nullptr, {}});
      } else if (operation.kind == Operation::Kind::record) {
        stream.record(records[static_cast<std::size_t>(operation.record)]);
      } else {
        stream.wait(records[static_cast<std::size_t>(operation.record)]);
      }
    }
  }

  std::shared_ptr<Capture> capture_;
  std::vector<std::shared_ptr<StreamThread>> streams_;
  std::vector<SignalPointer> last_ends_;
};

}  // namespace

std::mutex& capture_mutex() {
  static auto* const only = new std::mutex;
  return *only;
}

cudaError_t add_to_capture(StreamThread& stream, const char* name, std::vector<Access> accesses, Work work) {
  if (stream.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  Branch& branch = branch_of(stream);
  branch.operations.push_back({Operation::Kind::work, name, std::move(accesses), std::move(work), -1});
  ++branch.position[static_cast<std::size_t>(stream.branch)];
  return cudaSuccess;
}

void record_into_capture(StreamThread& stream, Signal& signal) {
  Branch& branch = branch_of(stream);
  signal.capture = stream.capture.get();
  signal.number = stream.capture->records++;
  signal.position = branch.position;
  branch.operations.push_back({Operation::Kind::record, "record", {}, {}, signal.number});
}

cudaError_t wait_for_captured(const std::shared_ptr<StreamThread>& stream, const Signal& signal) {
  const std::shared_ptr<Capture> capture = find_capture(signal.capture);
  if (capture == nullptr) return cudaErrorCapturedEvent;
  if (stream->capture != nullptr && stream->capture != capture) {
    capture->is_invalid = stream->capture->is_invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (stream->capture == nullptr) begin_branch(capture, stream);
  Branch& branch = branch_of(*stream);
  branch.operations.push_back({Operation::Kind::wait, "wait", {}, {}, signal.number});
  for (std::size_t i = 0; i < signal.position.size(); ++i) {
    branch.position[i] = std::max(branch.position[i], signal.position[i]);
  }
  return cudaSuccess;
}

bool disturbs_capture(int device) {
  bool any = false;
  for (const auto& stream : streams_of(device)) {
    if (stream->capture != nullptr && stream->is_blocking()) stream->capture->is_invalid = any = true;
  }
  return any;
}

bool invalidates_capture() {
  const std::lock_guard lock(capture_mutex());
  bool any = false;
  for (const auto& capture : captures()) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && capture->owner != std::this_thread::get_id()) continue;
    capture->is_invalid = any = true;
  }
  return any;
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  if (const int error = injected("cudaStreamBeginCapture")) return keep_error(error);
  const auto stream = find_stream(handle);
  if (handle == nullptr || stream == nullptr) return keep_error(cudaErrorStreamCaptureImplicit);
  const std::lock_guard lock(capture_mutex());
  if (stream->capture != nullptr) return keep_error(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->owner = std::this_thread::get_id();
  begin_branch(capture, stream);
  captures().insert(std::move(capture));
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const auto stream = find_stream(handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  const std::lock_guard lock(capture_mutex());
  *status = stream->capture == nullptr    ? cudaStreamCaptureStatusNone
            : stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  if (const int error = injected("cudaStreamEndCapture")) return keep_error(error);
  const auto stream = find_stream(handle);
  const std::lock_guard lock(capture_mutex());
  const std::shared_ptr<Capture> capture = stream == nullptr ? nullptr : stream->capture;
  if (capture == nullptr) return keep_error(cudaErrorIllegalState);
  if (capture->branches.front().stream != stream) {
    capture->is_invalid = true;
    return keep_error(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->owner != std::this_thread::get_id()) {
    return keep_error(cudaErrorStreamCaptureWrongThread);
  }
  for (const Branch& branch : capture->branches) {
    branch.stream->capture = nullptr;
    branch.stream->branch = -1;
  }
  captures().erase(capture);
  if (capture->is_invalid) return keep_error(cudaErrorStreamCaptureInvalidated);
  if (!all_branches_joined(*capture)) return keep_error(cudaErrorStreamCaptureUnjoined);
  *graph = reinterpret_cast<cudaGraph_t>(new Graph{capture});
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Graph*>(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (nodes != nullptr) {
    report("api", "cudaGraphGetNodes: only the number of nodes is known");
    return keep_error(cudaErrorNotSupported);
  }
  *count = 0;
  for (const Branch& branch : reinterpret_cast<Graph*>(graph)->capture->branches) {
    for (const CapturedOperation& operation : branch.operations) *count += operation.kind == Operation::Kind::work;
  }
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  if (const int error = injected("cudaGraphInstantiate")) return keep_error(error);
  *executable = reinterpret_cast<cudaGraphExec_t>(new ExecutableGraph(reinterpret_cast<Graph*>(graph)->capture));
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  if (const int error = injected("cudaGraphLaunch")) return keep_error(error);
  const auto stream = find_stream(handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  {
    const std::lock_guard lock(capture_mutex());
    if (stream->capture != nullptr) {
      report("api", "cudaGraphLaunch into a capture is not known to virtual GPUs");
      return keep_error(cudaErrorStreamCaptureUnsupported);
    }
  }
  if (const cudaError_t error = device_error(stream->device)) return keep_error(error);
  reinterpret_cast<ExecutableGraph*>(executable)->launch(*stream);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<ExecutableGraph*>(executable);
  return cudaSuccess;
}

}  // extern "C"
