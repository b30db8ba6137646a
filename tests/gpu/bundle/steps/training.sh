# MiniGoogLeNet, trained alike on two devices. Over hundreds of steps rounding grows until single figures differ; hence
# bounds that are wide, but that a wrong gradient or batch normalization does not meet.

recipe() { [ -n "$cifar" ] && echo "$bundle/models/minigooglenet.yaml" || echo "$bundle/models/minigooglenet-digits.yaml"; }

data_options() {
  if [ -n "$cifar" ]; then
    printf '%s\n' --data "$cifar"
  else
    printf '%s\n' --data "$data/train.npz" --validation "$data/validation.npz"
  fi
}

train() {  # train WHERE NAME EPOCHS OPTION...: leaves the history in $logs/NAME.csv, the speed in $logs/NAME.speed
  local -a options
  mapfile -t options < <(data_options)
  "$1" "$bundle/bin/ort-train" "$bundle/models/minigooglenet.onnx" --config "$(recipe)" "${options[@]}" --epochs "$3" \
    --seed 1 --output "$logs/$2.onnx" --history "$logs/$2.csv" --curves "$logs/$2.svg" --quiet "${@:4}" |
    tee "$logs/$2.lines"
  rm -f "$logs/$2.onnx"
  # The first epoch also makes plans, so the fastest one counts.
  grep -oE '[0-9]+ images/s' "$logs/$2.lines" | sort -n | tail -1 >"$logs/$2.speed"
}

figure() {  # figure NAME COLUMN first|last
  awk -F, -v column="$2" -v which="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i; next }
    which == "last" || NR == 2 { value = $at }
    END { print value }' "$logs/$1.csv"
}

# The pattern leaves out NaN, which some awks find within everything.
within() {  # within A B ALLOWED
  awk -v a="$1" -v b="$2" -v allowed="$3" \
    'BEGIN { d = a - b; exit !(a ~ /^-?[0-9]/ && b ~ /^-?[0-9]/ && d <= allowed && d >= -allowed) }'
}

share_of() { awk -v value="$1" -v share="$2" 'BEGIN { print value * share }'; }

check_figure() {  # check_figure TITLE A B ALLOWED
  number "$1 $(printf '%.4f and %.4f' "$2" "$3")"
  within "$2" "$3" "$4" || fail "the $1 differs by more than $4"
}

check_learned_alike() {  # check_learned_alike NAME NAME
  local first last
  first="$(figure "$2" loss first)" last="$(figure "$2" loss last)"
  check_figure "first loss" "$(figure "$1" loss first)" "$first" "$(share_of "$first" 0.02)"
  check_figure "last loss" "$(figure "$1" loss last)" "$last" "$(share_of "$last" 0.2)"
  check_figure "last validation accuracy" "$(figure "$1" val_accuracy last)" "$(figure "$2" val_accuracy last)" 0.05
}

step_training() {
  train on_cpu training-cpu "$epochs" --batch-size "$batch_size" --winograd false
  train on_gpu training-gpu "$epochs" --batch-size "$batch_size" --gpus 1
  number "GPU $(cat "$logs/training-gpu.speed"), CPU $(cat "$logs/training-cpu.speed")"
  check_learned_alike training-gpu training-cpu
}

step_training_all() {
  skip_one_gpu
  [ -s "$logs/training-gpu.csv" ] || skip "it is compared with step training, which has not run"
  train on_gpu training-all "$epochs" --global-batch-size "$batch_size" --batch-norm sync --gpus "$(chosen_gpus)"
  number "$(chosen_gpus) GPUs $(cat "$logs/training-all.speed"), one $(cat "$logs/training-gpu.speed")"
  check_learned_alike training-all training-gpu
}
