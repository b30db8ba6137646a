# gpu-report.md, written again after every step, so that it is there whatever ends the session.

rows="" failed="" steps_run=()

joined_numbers() { paste -sd '~' "$logs/$1.numbers" | sed 's/~/; /g; s/|/\\|/g'; }

add_row() {  # add_row STEP TITLE RESULT SECONDS
  rows+="| $1 | $2 | $3 | $4 | $(joined_numbers "$1") |"$'\n'
  steps_run+=("$1")
  case "$3" in
    passed | skipped | "not run") ;;
    *) failed+=" $1" ;;
  esac
  echo "$3: $(joined_numbers "$1")"
  write_report "not finished: the steps below have ended"
}

processor() { sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1; }

print_head() {  # print_head VERDICT
  echo "# ort-train on GPUs"
  echo
  if [ -n "$virtual" ]; then
    echo "**This ran on VIRTUAL GPUs, that is on the processor. The speeds mean nothing, and nothing here says how a real GPU does.**"
    echo
  fi
  echo "Result: **$1**"
  echo
  echo "| step | what | result | seconds | numbers |"
  echo "| --- | --- | --- | --- | --- |"
  echo -n "$rows"
  echo "| bf16 | mixed precision | not there yet | | ort-train has no mixed precision |"
}

print_machine() {
  echo
  echo "## Machine"
  echo
  echo "    date: $(date -u '+%Y-%m-%d %H:%M UTC')"
  echo "    host: $(uname -srm), $(nproc) cores, $(processor)"
  sed 's/^/    bundle: /' "$bundle/bundle.txt"
  [ ! -e "$logs/environment.log" ] || sed 's/^/    /' "$logs/environment.log"
}

print_commands() {
  local each
  echo
  echo "## Commands"
  echo
  echo "Those on GPUs with \`LD_LIBRARY_PATH=$library_path ORT_TRAIN_BUILD_DIR=$bundle${virtual:+ LD_PRELOAD=$virtual}\` in front."
  for each in "${steps_run[@]}"; do
    [ -s "$logs/$each.commands" ] || continue
    echo
    echo "$each:"
    echo
    sed 's/^/    /' "$logs/$each.commands"
  done
}

print_failures() {
  local each
  for each in $failed; do
    echo
    echo "## The end of what $each wrote"
    echo
    tail -n 40 "$logs/$each.log" | sed 's/^/    /'
  done
}

write_report() {  # write_report VERDICT
  { print_head "$1"; print_failures; print_machine; print_commands; } >"$output/gpu-report.md.partial"
  mv "$output/gpu-report.md.partial" "$output/gpu-report.md"
}

finish_report() {
  local verdict="nothing that ran failed"
  [ -z "$failed" ] || verdict="FAILED:$failed"
  write_report "$verdict"
  echo
  echo "$verdict; see $output/gpu-report.md"
  [ -z "$failed" ]
}
