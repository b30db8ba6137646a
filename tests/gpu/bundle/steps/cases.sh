# Every reference case, trained for five steps, with losses, gradients, parameters and outputs compared. What the CPU can
# do a GPU must do: an error that looks like a refusal would hide a broken GPU otherwise.

case_folders() {
  if [ -n "$cases" ]; then
    dirname "$cases"/*/case.yaml
  else
    dirname "$bundle"/cases/*/*/case.yaml
  fi
}

deal_cases() {  # deal_cases FOLDER: links to them in as many folders as there are jobs
  local index=0 each hand
  while read -r each; do
    hand="$1/$((index % jobs))"
    mkdir -p "$hand"
    ln -s "$each" "$hand/$index-$(basename "$each")"
    index=$((index + 1))
  done < <(case_folders)
}

run_hand() {  # run_hand WHERE FOLDER REPLICAS
  local device=cpu
  [ "$1" = on_cpu ] || device=cuda
  "$1" env "ORT_TRAIN_CASES=$2" "ORT_TRAIN_REPLICAS=$3" "ORT_TRAIN_DEVICE=$device" ORT_TRAIN_CASE_SECONDS=120 \
    "$bundle/tests/conformance_test" --no-intro=true --no-version=true
}

# A line "NAME VERDICT REASON" for each case goes to FILE.
run_cases() {  # run_cases WHERE REPLICAS FILE
  local hands each
  hands="$logs/$step-$1"
  deal_cases "$hands"
  for each in "$hands"/*/; do
    each="${each%/}"
    run_hand "$1" "$each" "$2" >"$each.log" 2>&1 &
  done
  wait
  cat "$hands"/*.log
  sed -nE 's/^(\S+)\s+(passed|refused|WRONG|CRASHED)\s*(.*)/\1 \2 \3/p' "$hands"/*.log | sort >"$3"
}

count() { awk -v verdict="$2" '$2 == verdict' "$1" | wc -l; }

largest_difference() {
  sed -nE 's/^(\S+) passed off by (\S+) % .*/\2 \1/p' "$1" | sort -g | tail -1 |
    sed -E 's/(\S+) (.*)/largest difference \1 % of what is allowed (\2)/'
}

count_verdicts() {  # count_verdicts FILE
  local total
  total="$(case_folders | wc -l)"
  number "$total cases: $(count "$1" passed) passed, $(count "$1" refused) refused, $(count "$1" WRONG) wrong," \
    "$(count "$1" CRASHED) crashed"
  number "$(largest_difference "$1")"
  [ "$(wc -l <"$1")" -eq "$total" ] || fail "$((total - $(wc -l <"$1"))) cases did not end in time"
  [ "$(count "$1" WRONG)$(count "$1" CRASHED)" = 00 ] ||
    fail "wrong or crashed: $(awk '$2 == "WRONG" || $2 == "CRASHED" { print $1 }' "$1" | paste -sd ' ')"
}

# Cases that pass in the first file and are refused in the second, but for a batch that cannot be divided.
lost_cases() {
  awk 'NR == FNR { if ($2 == "passed") passed[$1] = 1; next }
       $2 == "refused" && $1 in passed && !/the batch cannot be divided here/ { print $1 }' "$1" "$2" | paste -sd ' '
}

check_like() {  # check_like FILE_OF_PEER FILE PEER
  local lost
  lost="$(lost_cases "$1" "$2")"
  [ -z "$lost" ] || fail "refused, but not by $3: $lost"
  [ "$(count "$2" passed)" -gt 0 ] || fail "no case passed"
}

step_cases() {
  run_cases on_cpu 1 "$logs/cases-cpu.txt"
  run_cases on_gpu 1 "$logs/cases-gpu.txt"
  count_verdicts "$logs/cases-gpu.txt"
  check_like "$logs/cases-cpu.txt" "$logs/cases-gpu.txt" "the CPU"
}

step_cases_all() {
  skip_one_gpu
  [ -s "$logs/cases-gpu.txt" ] || skip "it is compared with step cases, which has not run"
  run_cases on_gpu "$(chosen_gpus)" "$logs/cases-all.txt"
  number "$(chosen_gpus) GPUs"
  count_verdicts "$logs/cases-all.txt"
  check_like "$logs/cases-gpu.txt" "$logs/cases-all.txt" "one GPU"
}
