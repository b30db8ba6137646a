// Prints the highest x86-64 level that both this processor and this compiler know.
#include <cstdio>

int main() {
  const char* level = "x86-64";
  if (__builtin_cpu_supports("x86-64-v2")) level = "x86-64-v2";
  if (__builtin_cpu_supports("x86-64-v3")) level = "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v4")) level = "x86-64-v4";
  std::printf("%s", level);
  return 0;
}
