#include "runtime/collectives/processes.h"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "runtime/collectives/launcher.h"
#include "runtime/collectives/mpi/calls.h"

namespace ort_train::runtime {

Processes::Processes() : exceptions_(std::uncaught_exceptions()) {
  if (!find_launch()) return;
  // The thread that joins is not the one that communicates, but there is only one at a time.
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  joined_ = true;
  if (provided < MPI_THREAD_SERIALIZED) {
    fail("this MPI library allows calls from the main thread only, but training communicates in a thread of its own; ",
         "use one that is built with support for threads, like Debian's Open MPI");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm_rank(MPI_COMM_WORLD, &index_);
}

Processes::~Processes() {
  if (joined_ && std::uncaught_exceptions() == exceptions_) MPI_Finalize();
}

void Processes::end_all(int exit_code) noexcept {
  using namespace std::chrono_literals;
  std::cout.flush();
  std::fflush(nullptr);  // MPI_Abort and _Exit write nothing that is still buffered
  if (joined_ && count_ > 1) {
    std::this_thread::sleep_for(500ms);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  std::_Exit(exit_code);
}

}  // namespace ort_train::runtime
