#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/virtual_gpu/stream.h"

namespace virtual_gpu {

/// One step of a branch of a graph. Records and waits name a record by its number.
struct CapturedOperation {
  Operation::Kind kind = Operation::Kind::work;
  const char* name = "";
  std::vector<Access> accesses;
  Work work;
  int record = -1;
};

/// What one stream contributes. `position` says how many operations of each branch come before its end.
struct Branch {
  std::shared_ptr<StreamThread> stream;
  std::vector<CapturedOperation> operations;
  std::vector<std::size_t> position;
};

/// What is captured between begin and end, over all streams that join in; afterwards the content of a graph.
struct Capture {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id owner;
  bool is_invalid = false;
  int records = 0;
  std::vector<Branch> branches;
};

std::mutex& capture_mutex();

/// With capture_mutex() held.
cudaError_t add_to_capture(StreamThread& stream, const char* name, std::vector<Access> accesses, Work work);
/// The same for cudaEventRecord and cudaStreamWaitEvent.
void record_into_capture(StreamThread& stream, Signal& signal);
cudaError_t wait_for_captured(const std::shared_ptr<StreamThread>& stream, const Signal& signal);

/// Whether a stream is captured that waits for work on the device's default stream; the capture is invalid then. With
/// capture_mutex() held.
bool disturbs_capture(int device);

/// Whether a capture forbids calls such as cudaMalloc to this thread; the capture is invalid then.
bool invalidates_capture();

}  // namespace virtual_gpu
