// Two threads draw from one random stream without a lock. tests/sanitizer/threads expects ThreadSanitizer to report
// that: a run that is silent here would be silent about every race.
#include <iostream>
#include <thread>

#include "base/random.h"

int main() {
  ort_train::RandomStream stream(1, ort_train::RandomPurpose::shuffle);
  std::uint64_t first = 0, second = 0;
  std::thread other([&] { first = stream.next64(); });
  second = stream.next64();
  other.join();
  std::cout << (first ^ second) << "\n";
}
