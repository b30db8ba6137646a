#include "runtime/thread_waiting.h"
#include "tools/commands.h"

int main(int count, char** arguments) {
  ort_train::runtime::prefer_sleeping_threads(arguments);
  return ort_train::tools::run({arguments + 1, arguments + count});
}
