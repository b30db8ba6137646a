# Images a second of whole epochs, with reading and preparing of the samples.

time_variant() {  # time_variant TITLE NAME OPTION...
  train on_gpu "speed-$2" "$speed_epochs" --batch-size "$speed_batch" --gpus 1 "${@:3}"
  number "$1 $(cat "$logs/speed-$2.speed")"
}

step_speed() {
  number "batch $speed_batch"
  time_variant float32 float32
  time_variant TF32 tf32 --tf32
  time_variant "float32 without CUDA graph" no-graph --cuda-graph false
}
