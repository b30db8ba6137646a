#pragma once

namespace ort_train::runtime {

/// The processes that one mpirun, mpiexec or srun has started. Made once, at the beginning of the program, by the main
/// thread. A program that was started on its own is the only process, and MPI is not touched.
class Processes {
 public:
  /// Joins the others. Throws a usage error when there are others and this program is built without MPI.
  Processes();
  /// Parts from them, which waits until each does so. Left by an exception it does not wait: the launcher ends the
  /// others when this process ends.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int count() const { return count_; }
  int index() const { return index_; }

  /// Ends all processes; this one with `exit_code`. For a program that has failed and has printed why. The others get a
  /// moment before, to print what they know. After a failure of a Collective it is the only way to end: the processes
  /// cannot part in order any more.
  [[noreturn]] void end_all(int exit_code) noexcept;

 private:
  int count_ = 1, index_ = 0;
  int exceptions_;  ///< in flight when it was made
  bool joined_ = false;
};

}  // namespace ort_train::runtime
