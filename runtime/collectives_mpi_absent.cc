// What stands in for runtime/collectives/mpi/ in a program that is built without MPI.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "runtime/collectives/launcher.h"
#include "runtime/collectives/process_exchange.h"
#include "runtime/collectives/processes.h"

namespace ort_train::runtime {

Processes::Processes() : exceptions_(std::uncaught_exceptions()) {
  const auto launch = find_launch();
  if (!launch || launch->processes == 1) return;
  fail_usage("this process was started as one of several (", launch->variable,
             " is set), but this program is built without MPI; install Open MPI (Debian: libopenmpi-dev) and build it",
             " again, or start it without mpirun and train with --replicas");
}

Processes::~Processes() = default;

void Processes::end_all(int exit_code) noexcept {
  std::cout.flush();
  std::fflush(nullptr);  // _Exit writes nothing that is still buffered
  std::_Exit(exit_code);
}

std::unique_ptr<ProcessExchange> make_process_exchange(const Layout& layout, const CollectiveOptions&,
                                                       std::function<void()>) {
  fail_usage("replicas in ", layout.processes, " processes were asked for, but this program is built without MPI");
}

}  // namespace ort_train::runtime
