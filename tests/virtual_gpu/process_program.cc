// One rank of a communicator between processes: process_program ID RANK RANKS [BREAKS]. A rank that breaks ends at the
// second collective without a word.
#include <nccl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

void must(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: error %d\n", what, status);
  std::exit(1);
}

// As a program does that watches over its GPU: until the stream is done, or an error is known.
ncclResult_t finish(cudaStream_t stream, ncclComm_t communicator) {
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    ncclResult_t error = ncclSuccess;
    must(ncclCommGetAsyncError(communicator, &error), "ask");
    if (error != ncclSuccess) return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ncclSuccess;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const unsigned long long number = std::strtoull(arguments[1], nullptr, 10);
  const int rank = std::atoi(arguments[2]), ranks = std::atoi(arguments[3]);
  ncclUniqueId id = {};
  std::memcpy(id.internal, &number, sizeof number);
  must(cudaSetDevice(rank), "choose a device");
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  float *elements = nullptr, mine[2] = {1.0f + static_cast<float>(rank), 10};
  must(cudaMalloc(reinterpret_cast<void**>(&elements), sizeof mine), "allocate");
  must(cudaMemcpy(elements, mine, sizeof mine, cudaMemcpyHostToDevice), "copy");
  ncclComm_t communicator = nullptr;
  must(ncclCommInitRank(&communicator, ranks, id, rank), "connect");
  for (int step = 0; step < 2; ++step) {
    if (step == 1 && count > 4) _Exit(3);
    must(ncclAllReduce(elements, elements, 2, ncclFloat, ncclSum, communicator, stream), "add up");
    const ncclResult_t error = finish(stream, communicator);
    if (error == ncclSuccess) continue;
    std::printf("%s\n", ncclGetErrorString(error));
    must(ncclCommAbort(communicator), "abort");
    return 4;
  }
  must(cudaMemcpy(mine, elements, sizeof mine, cudaMemcpyDeviceToHost), "copy");
  std::printf("%g %g\n", mine[0], mine[1]);
  must(ncclCommDestroy(communicator), "end");
  return 0;
}
