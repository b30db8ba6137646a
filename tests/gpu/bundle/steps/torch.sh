# The same network in PyTorch, where that is installed with CUDA: the step alone, on samples that lie on the GPU. That is
# less work than step speed times.

torch_sees_gpu() { limited python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; }

step_torch() {
  local -a command=(python3 "$bundle/torch-minigooglenet.py" --batch "$speed_batch")
  [ -z "$virtual" ] || skip "PyTorch needs a real GPU"
  limited python3 -c 'import torch' || skip "no torch"
  torch_sees_gpu || skip "torch finds no GPU"
  number "batch $speed_batch"
  note_command "${command[@]}"
  limited "${command[@]}" | while read -r line; do number "$line"; done
  grep -q 'images/s' "$logs/torch.numbers" || fail "PyTorch trains in none of these ways"
  [ ! -e "$logs/speed-float32.speed" ] || number "ort-train float32 $(cat "$logs/speed-float32.speed")"
}
