#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "runtime/cuda/error.h"

// Streams, events and graphs that end with their owner. They belong to the device that was current when they were made.
namespace ort_train::runtime::cuda {

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cudaStream_t() const { return stream_; }
  /// Returns when everything put on the stream so far is done.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "finish its work"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in the work of a stream that other streams, or the host, can wait for.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "record an event"); }
  /// What is put on `stream` after this waits until the event has happened.
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "wait for an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The work of a step, captured once and started with one call.
class CapturedGraph {
 public:
  CapturedGraph() = default;
  ~CapturedGraph() { reset(); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  explicit operator bool() const { return executable_ != nullptr; }

  /// Everything that `work` puts on `stream`, and on streams that wait for it and that it waits for in turn.
  template <typename Work>
  void capture(cudaStream_t stream, const Work& work) {
    reset();
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin to capture a step");
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "capture a step as a graph");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "make the captured graph of a step ready");
  }

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "start the graph of a step"); }

 private:
  void reset() {
    if (executable_ != nullptr) cudaGraphExecDestroy(std::exchange(executable_, nullptr));
  }

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace ort_train::runtime::cuda
