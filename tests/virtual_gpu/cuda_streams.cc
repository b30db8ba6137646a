// Entry points of cudart that deal with streams and events.
#include <memory>

#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/cuda_errors.h"
#include "tests/virtual_gpu/stream.h"

using namespace virtual_gpu;

namespace {

struct Event {
  unsigned flags = 0;
  std::mutex mutex;
  SignalPointer last;

  SignalPointer get() {
    const std::lock_guard lock(mutex);
    return last;
  }
  void set(SignalPointer signal) {
    const std::lock_guard lock(mutex);
    last = std::move(signal);
  }
};

cudaError_t synchronize_and_tell(Signal& signal) {
  if (const cudaError_t error = synchronize(signal)) return keep_error(error);
  return keep_error(device_error(signal.device));
}

Event* to_event(cudaEvent_t handle) { return reinterpret_cast<Event*>(handle); }

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  if (const int error = injected("cudaStreamCreateWithFlags")) return keep_error(error);
  if (const cudaError_t error = device_error(current_device())) return keep_error(error);
  *handle = make_stream(flags);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* handle) { return cudaStreamCreateWithFlags(handle, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int) {
  return cudaStreamCreateWithFlags(handle, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return destroy_stream(handle) ? cudaSuccess : keep_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (const int error = injected("cudaStreamSynchronize")) return keep_error(error);
  const auto stream = find_stream(handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  {
    const std::lock_guard lock(capture_mutex());
    if (stream->capture != nullptr) {
      stream->capture->is_invalid = true;
      return keep_error(cudaErrorStreamCaptureUnsupported);
    }
  }
  return keep_error(stream->synchronize());
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const auto stream = find_stream(handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = device_error(stream->device)) return keep_error(error);
  return stream->is_idle() ? stream->synchronize() : cudaErrorNotReady;
}

cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  *device = device_of(handle);
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  const auto stream = find_stream(handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  if (const int error = injected("cudaEventCreateWithFlags")) return keep_error(error);
  auto event = std::make_unique<Event>();
  event->flags = flags;
  *handle = reinterpret_cast<cudaEvent_t>(event.release());
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) { return cudaEventCreateWithFlags(handle, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  delete to_event(handle);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  if (const int error = injected("cudaEventRecord")) return keep_error(error);
  const auto stream = find_stream(stream_handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = device_error(stream->device)) return keep_error(error);
  auto signal = std::make_shared<Signal>();
  signal->device = stream->device;
  to_event(handle)->set(signal);
  const std::lock_guard lock(capture_mutex());
  if (stream->capture != nullptr) {
    record_into_capture(*stream, *signal);
  } else {
    stream->record(signal);
  }
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned) {
  return cudaEventRecord(handle, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned) {
  if (const int error = injected("cudaStreamWaitEvent")) return keep_error(error);
  const auto stream = find_stream(stream_handle);
  if (stream == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  const SignalPointer signal = to_event(handle)->get();
  if (signal == nullptr) return cudaSuccess;
  const std::lock_guard lock(capture_mutex());
  if (signal->capture != nullptr) return keep_error(wait_for_captured(stream, *signal));
  if (stream->capture != nullptr) {
    stream->capture->is_invalid = true;
    return keep_error(cudaErrorStreamCaptureIsolation);
  }
  stream->wait(signal);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  if (const int error = injected("cudaEventSynchronize")) return keep_error(error);
  const SignalPointer signal = to_event(handle)->get();
  if (signal == nullptr) return cudaSuccess;
  if (signal->capture != nullptr) return keep_error(cudaErrorCapturedEvent);
  return synchronize_and_tell(*signal);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const SignalPointer signal = to_event(handle)->get();
  if (signal == nullptr) return cudaSuccess;
  if (signal->capture != nullptr) return keep_error(cudaErrorCapturedEvent);
  return signal->is_done() ? synchronize_and_tell(*signal) : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const SignalPointer first = to_event(begin)->get(), last = to_event(end)->get();
  const bool is_timed = ((to_event(begin)->flags | to_event(end)->flags) & cudaEventDisableTiming) == 0;
  if (!is_timed || first == nullptr || last == nullptr) return keep_error(cudaErrorInvalidResourceHandle);
  if (!first->is_done() || !last->is_done()) return keep_error(cudaErrorNotReady);
  *milliseconds = static_cast<float>((last->time() - first->time()) * 1000);
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  if (const int error = injected("cudaLaunchHostFunc")) return keep_error(error);
  return keep_error(enqueue(handle, "cudaLaunchHostFunc", {}, [=](Running&) { function(data); }));
}

}  // extern "C"
