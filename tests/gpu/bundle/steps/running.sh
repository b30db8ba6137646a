# Runs a step with a time limit, and the commands within it. A step is a function step_NAME in a shell of its own: it ends
# by success, by fail, by skip, or when a command of it fails.

deadline=0
ready=true  # false when the environment is such that no step on a GPU can work

number() { echo "$*" >>"$logs/$step.numbers"; }
fail() { number "$@"; exit 1; }
skip() { number "$@"; exit 77; }

limited() {  # limited COMMAND...: for as long as the step still has
  local rest=$((deadline - SECONDS))
  timeout --kill-after=10 "$((rest > 1 ? rest : 1))" "$@"
}

note_command() {
  local words
  printf -v words ' %q' "$@"
  words="${words# }"
  echo "$words" >>"$logs/$step.commands"
  echo "\$ $words"
}

on_cpu() { note_command "$@"; limited env "LD_LIBRARY_PATH=$library_path" "ORT_TRAIN_BUILD_DIR=$bundle" "$@"; }
on_gpu() {
  note_command "$@"
  limited env "LD_LIBRARY_PATH=$library_path" "ORT_TRAIN_BUILD_DIR=$bundle" ${virtual:+"LD_PRELOAD=$virtual"} "$@"
}

is_chosen() { [ -z "$only" ] || [[ ",$only," == *",$1,"* ]]; }

result_of() {  # result_of EXIT_CODE
  case "$1" in
    0) echo passed ;;
    77) echo skipped ;;
    78) echo "not run" ;;
    124 | 137) echo "OUT OF TIME" ;;
    *) echo FAILED ;;
  esac
}

run_step() {  # run_step NAME SECONDS TITLE
  local code=0 start=$SECONDS
  step="$1"
  is_chosen "$step" || return 0
  : >"$logs/$step.numbers"
  : >"$logs/$step.commands"
  echo "--- $step: $3"
  deadline=$((SECONDS + $2))
  if $ready; then
    # Neither `if` nor `||`: under them a failing command would not end the step.
    set +e
    (set -euo pipefail; "step_$step") >"$logs/$step.log" 2>&1
    code=$?
    set -e
  else
    number "see environment"
    code=78
  fi
  [ "$step" != environment ] || [ "$code" -eq 0 ] || ready=false
  add_row "$step" "$3" "$(result_of "$code")" "$((SECONDS - start))"
}
