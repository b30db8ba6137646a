# Tests of the virtual GPUs themselves. Each tests/virtual_gpu/*_test.cc is a program and a ctest entry of its own.

file(GLOB virtual_gpu_test_sources CONFIGURE_DEPENDS tests/virtual_gpu/*_test.cc)
foreach(source IN LISTS virtual_gpu_test_sources)
  cmake_path(GET source STEM name)
  set(name "virtual_gpu_${name}")
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_include_directories(${name} SYSTEM PRIVATE "${DOCTEST_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS}
                                                    "${NCCL_INCLUDE_DIR}")
  # What stands first defines the entry points that several of them have.
  target_link_libraries(${name} PRIVATE doctest_main test_settings -Wl,--no-as-needed virtual_gpu -Wl,--as-needed
                                        CUDA::cudart CUDA::cublasLt "${NCCL_LIBRARY}" Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_test_defaults(${name})
  # Some tests wait for something that never comes.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT VIRTUAL_GPU_TIMEOUT=0.5 VIRTUAL_GPU_MEMORY_MB=64)
endforeach()

# Programs as they are, with the virtual GPUs preloaded.
add_executable(virtual_gpu_compiled_kernel tests/virtual_gpu/compiled_kernel.cu)
set_target_properties(virtual_gpu_compiled_kernel PROPERTIES CUDA_ARCHITECTURES 80-real)
add_executable(virtual_gpu_process_program tests/virtual_gpu/process_program.cc)
target_include_directories(virtual_gpu_process_program SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} "${NCCL_INCLUDE_DIR}")
target_link_libraries(virtual_gpu_process_program PRIVATE CUDA::cudart "${NCCL_LIBRARY}" Threads::Threads)
set_target_properties(virtual_gpu_compiled_kernel virtual_gpu_process_program
                      PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
add_script_test(virtual_gpu_compiled_kernel "${CMAKE_SOURCE_DIR}/tests/virtual_gpu/compiled-kernel"
                $<TARGET_FILE:virtual_gpu_compiled_kernel> $<TARGET_FILE:virtual_gpu>)
add_script_test(virtual_gpu_processes "${CMAKE_SOURCE_DIR}/tests/virtual_gpu/processes"
                $<TARGET_FILE:virtual_gpu_process_program> $<TARGET_FILE:virtual_gpu>)
