# What the machine has of what the bundle needs, and in which versions.

flags_of_level() {  # flags_of_level LEVEL: what /proc/cpuinfo calls the instructions of an x86-64 level, a part of them
  case "$1" in
    x86-64) ;;
    x86-64-v2) echo sse4_2 popcnt ssse3 ;;
    x86-64-v3) echo avx2 bmi2 fma movbe ;;
    x86-64-v4) echo avx512f avx512bw avx512cd avx512dq avx512vl ;;
  esac
}

check_instructions() {
  local level flag
  level="$(sed -n 's/^instruction_set=//p' "$bundle/bundle.txt")"
  for flag in $(flags_of_level "$level"); do
    grep -m1 '^flags' /proc/cpuinfo | grep -qw "$flag" ||
      fail "the bundle is built for $level, and this processor has no $flag: build it with -DORT_TRAIN_NATIVE=OFF"
  done
}

print_driver() {
  if command -v nvidia-smi >/dev/null; then limited nvidia-smi; else echo "nvidia-smi: not there"; fi
}

count_gpus() { grep -c '^GPU [0-9]' "$logs/environment.log" || true; }

step_environment() {
  local complaints versions=0
  check_instructions
  [ -n "$virtual" ] || print_driver
  echo -n "$found_libraries"
  [ -z "$missing_libraries" ] || fail "not found:$missing_libraries (looked in LD_LIBRARY_PATH, /usr/local/cuda and pip's nvidia folders)"
  complaints="$(loader_complaints)"
  [ -z "$complaints" ] || { echo "$complaints"; fail "the system is too old or incomplete: $(head -1 <<<"$complaints" | xargs)"; }
  on_gpu "$bundle/bin/gpu-versions" || versions=$?
  number "$(sed -nE 's/^(CUDA driver|CUDA runtime|cuDNN|NCCL): /\1 /p' "$logs/environment.log" | paste -sd, | sed 's/,/, /g')"
  [ "$versions" -eq 0 ] || fail "$(tail -1 "$logs/environment.log")"
  number "$(sed -nE 's/^GPU [0-9]+: //p' "$logs/environment.log" | sort | uniq -c | sed -E 's/^ *([0-9]+) /\1 x /' | paste -sd ';')"
  [ "$(count_gpus)" -ge "${gpus:-1}" ] || fail "$gpus GPUs were asked for, and there are $(count_gpus)"
}

# For the steps with several GPUs.
chosen_gpus() { echo "${gpus:-$(count_gpus)}"; }
skip_one_gpu() { [ "$(chosen_gpus)" -ge 2 ] || skip "one GPU"; }
