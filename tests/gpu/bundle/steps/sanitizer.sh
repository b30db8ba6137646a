# A small case under compute-sanitizer, which finds accesses outside of an allocation on a real GPU.

sanitizer_program() { PATH="$PATH:/usr/local/cuda/bin" command -v compute-sanitizer; }

step_sanitizer() {
  local program
  [ -z "$virtual" ] || skip "compute-sanitizer needs a real GPU"
  program="$(sanitizer_program)" || skip "no compute-sanitizer"
  # cuDNN tries calls that may fail; only what kernels do counts.
  on_gpu "$program" --tool memcheck --report-api-errors no --error-exitcode 9 \
    "$bundle/tests/run-case" "$bundle/cases/own/inception_frozen_stem" "$logs/sanitizer.npz" --device cuda
  number "$(tail -1 "$logs/sanitizer.log" | sed 's/^=* *//')"
}
