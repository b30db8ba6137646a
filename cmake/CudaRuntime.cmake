# The CUDA side: runtime/cuda/ as a library of its own, which libort_train loads when a GPU is asked for. What it needs
# (CUDA runtime, cuDNN, cuBLASLt, NCCL) is thus no condition for running the rest.

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Turing, Ampere, Hopper; the last also as PTX, for what comes after.
  set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;90" CACHE STRING "GPU architectures to compile kernels for")
endif()
# A static runtime could not be replaced by the virtual GPUs of the tests.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # Debian's CMake does not know how to ask nvcc for C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)

# add_cuda_library(NAME SOURCE...): with everything that runtime/cuda/ uses.
function(add_cuda_library name)
  add_library(${name} SHARED ${ARGN})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_include_directories(${name} SYSTEM PRIVATE "${CUDNN_INCLUDE_DIR}" "${NCCL_INCLUDE_DIR}"
                                                    "${CUDNN_FRONTEND_INCLUDE_DIR}")
  # The functors of kernels/ are plain C++ whose constants device code may use, too.
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda>")
  target_link_libraries(${name} PRIVATE ort_train CUDA::cudart CUDA::cublasLt CUDA::nvrtc "${CUDNN_LIBRARY}"
                                        "${NCCL_LIBRARY}" Threads::Threads)
  target_link_options(${name} PRIVATE -Wl,--as-needed)
endfunction()

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS runtime/cuda/*.cc runtime/cuda/*.cu)
add_cuda_library(ort_train_cuda ${cuda_sources})
set_target_properties(ort_train_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
