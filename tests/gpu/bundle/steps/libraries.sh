# Where the libraries lie: ours in the bundle, NVIDIA's wherever the machine has them.

nvidia_folders() {  # one a line, the likeliest first
  local pattern folder
  tr ':' '\n' <<<"${LD_LIBRARY_PATH:-}"
  for pattern in /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/local/cuda-*/lib64 \
    {"${VIRTUAL_ENV:-/nowhere}","${CONDA_PREFIX:-/nowhere}","$HOME/.local",/usr/local,/usr,/opt/conda}/lib/python3*/{site,dist}-packages/nvidia/*/lib \
    /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/local/nvidia/lib64; do
    for folder in $pattern; do echo "$folder"; done
  done
}

folder_of() {  # folder_of LIBRARY: the first that has it, or nothing
  local folder
  while read -r folder; do
    [ -n "$folder" ] && [ -e "$folder/$1" ] && { echo "$folder"; return; }
  done < <(nvidia_folders)
  return 0
}

# Where the loader looks anyway, and where a path would put other libraries of the system in front of ours.
is_system_folder() { [[ "$1" =~ ^/usr/lib ]]; }

# Sets library_path, found_libraries ("NAME FOLDER" lines) and missing_libraries.
find_libraries() {
  local name folder
  library_path="$bundle/lib" found_libraries="" missing_libraries=""
  while read -r name; do
    folder="$(folder_of "$name")"
    if [ -z "$folder" ]; then
      missing_libraries+=" $name"
      continue
    fi
    found_libraries+="$name $folder"$'\n'
    is_system_folder "$folder" || [[ ":$library_path:" == *":$folder:"* ]] || library_path+=":$folder"
  done <"$bundle/nvidia-libraries"
  # The C++ library of the machine is taken unless it is missing or too old.
  if loader_complaints | grep -qE 'libstdc\+\+|libgcc_s|libgomp|GLIBCXX|CXXABI|GCC_'; then library_path+=":$bundle/lib/gcc"; fi
}

# What keeps our programs from starting: libraries that are missing or too old.
loader_complaints() {
  LD_LIBRARY_PATH="$library_path" ldd "$bundle"/bin/ort-train "$bundle"/tests/run-case "$bundle"/lib/libort_train.so.0 2>&1 |
    grep -E 'not found' || true
}
