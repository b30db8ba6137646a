# Tests of the CUDA side that need no GPU. Each tests/cuda/*_test.cc is a program and a ctest entry of its own; they run
# with a driver that has no device, but for those that have virtual GPUs.
set(tests_on_virtual_gpus cuda_stream_test cuda_errors_test cuda_empty_arrays_test)

# Found by cuDNN as libcuda.so.1, because it is in the process already.
add_library(driver_without_device SHARED tests/cuda/driver_without_device.cc)
set_target_properties(driver_without_device PROPERTIES
  OUTPUT_NAME cuda SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/driver_without_device")

add_library(cuda_test_support STATIC tests/cuda/operation_graphs.cc tests/cuda/device_properties.cc)
target_include_directories(cuda_test_support SYSTEM PUBLIC "${CUDNN_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(cuda_test_support PUBLIC ort_train_cuda ort_train)

# What cuDNN would compute on a device, computed on the host by the virtual GPUs' part for cuDNN alone.
file(GLOB virtual_cudnn_sources CONFIGURE_DEPENDS tests/virtual_gpu/cudnn_*.cc)
list(FILTER virtual_cudnn_sources EXCLUDE REGEX "/cudnn_device\\.cc$")

file(GLOB cuda_test_sources CONFIGURE_DEPENDS tests/cuda/*_test.cc)
foreach(source IN LISTS cuda_test_sources)
  cmake_path(GET source STEM name)
  set(name "cuda_${name}")
  add_executable(${name} ${source})
  if(name STREQUAL "cuda_execution_test")
    target_sources(${name} PRIVATE ${virtual_cudnn_sources} tests/cuda/immediate_device.cc
                                   tests/cuda/execution.cc)
  endif()
  if(name IN_LIST tests_on_virtual_gpus)
    set(driver virtual_gpu)
  else()
    set(driver driver_without_device)
  endif()
  # Nothing calls the driver by name, hence --no-as-needed; and what stands first defines what others define, too.
  target_link_libraries(${name} PRIVATE -Wl,--no-as-needed ${driver} -Wl,--as-needed
                                        doctest_main test_settings cuda_test_support ${test_libraries}
                                        "${CUDNN_LIBRARY}" CUDA::cudart ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_test_defaults(${name})
endforeach()
# Three quarters of a minute of compiling kernels, more when the cores are shared.
set_tests_properties(cuda_plan_test cuda_execution_test PROPERTIES TIMEOUT 900)

# The whole program on virtual GPUs, as it is.
add_script_test(cuda_conformance "${CMAKE_SOURCE_DIR}/tests/cuda/conformance" "${CMAKE_BINARY_DIR}"
                $<TARGET_FILE:virtual_gpu>)
add_script_test(cuda_training "${CMAKE_SOURCE_DIR}/tests/cuda/training" "${CMAKE_BINARY_DIR}"
                $<TARGET_FILE:virtual_gpu>)
add_script_test(cuda_inference "${CMAKE_SOURCE_DIR}/tests/cuda/inference" "${CMAKE_BINARY_DIR}"
                $<TARGET_FILE:virtual_gpu>)
add_script_test(cuda_faults "${CMAKE_SOURCE_DIR}/tests/cuda/faults" "${CMAKE_BINARY_DIR}" $<TARGET_FILE:virtual_gpu>)
# The corpus four times over, with cuDNN's kernels compiled for each.
set_tests_properties(cuda_conformance cuda_training cuda_inference cuda_faults PROPERTIES TIMEOUT 900)

# What a bundle for a real GPU carries (tests/gpu), and the bundle itself, tried on virtual GPUs.
add_executable(gpu_versions tests/gpu/versions.cc)
target_include_directories(gpu_versions PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(gpu_versions PRIVATE ort_train ${CMAKE_DL_LIBS})
set_target_properties(gpu_versions PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
add_script_test(gpu_bundle "${CMAKE_SOURCE_DIR}/tests/gpu/bundle-test" "${CMAKE_BINARY_DIR}" $<TARGET_FILE:virtual_gpu>)
set_tests_properties(gpu_bundle PROPERTIES TIMEOUT 600)
