#include "runtime/collectives/mpi/calls.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "base/error.h"

namespace ort_train::runtime {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  fail("the connection to another process failed in ", what, ": ", std::string(words, static_cast<std::size_t>(length)),
       "; that process may have ended");
}

std::size_t Requests::add(MPI_Request request, int process, bool receives) {
  requests_.push_back(request);
  processes_.push_back(process);
  receives_.push_back(receives);
  ++under_way_;
  return requests_.size() - 1;
}

std::size_t Requests::send(const void* memory, std::size_t bytes, int process, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(memory, static_cast<int>(bytes), MPI_BYTE, process, tag, MPI_COMM_WORLD, &request), "MPI_Isend");
  return add(request, process, false);
}

std::size_t Requests::receive(void* memory, std::size_t bytes, int process, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(memory, static_cast<int>(bytes), MPI_BYTE, process, tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
  return add(request, process, true);
}

std::vector<std::size_t> Requests::completed() {
  ended_.resize(requests_.size());
  int count = 0;
  check_mpi(
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, ended_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome");
  if (count == MPI_UNDEFINED) return {};
  under_way_ -= static_cast<std::size_t>(count);
  return {ended_.begin(), ended_.begin() + count};
}

std::vector<int> Requests::partners() const {
  std::set<int> processes;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] != MPI_REQUEST_NULL) processes.insert(processes_[i]);
  }
  return {processes.begin(), processes.end()};
}

void Requests::clear() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (receives_[i]) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  requests_.clear();
  processes_.clear();
  receives_.clear();
  under_way_ = 0;
}

void Backoff::pause() {
  constexpr int yields = 100, longest_us = 1000;
  if (++looks_ <= yields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(10 * (looks_ - yields), longest_us)));
  }
}

}  // namespace ort_train::runtime
