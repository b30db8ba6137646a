# Virtual GPUs for the tests: one library with the name of the CUDA driver, which programs get by LD_PRELOAD. It stands
# in for the driver and for every entry point that needs a device; see tests/virtual_gpu/core.h.

file(GLOB virtual_gpu_sources CONFIGURE_DEPENDS tests/virtual_gpu/*.cc)
list(FILTER virtual_gpu_sources EXCLUDE REGEX "(_test|/process_program)\\.cc$")
get_filename_component(cudart_library "${CUDA_cudart_LIBRARY}" REALPATH)
set(stubs "${CMAKE_BINARY_DIR}/virtual_gpu/stubs.cc")
add_custom_command(OUTPUT "${stubs}"
  COMMAND "${CMAKE_SOURCE_DIR}/tests/virtual_gpu/generate-stubs" "${cudart_library}" "${NCCL_LIBRARY}"
          "${CUDNN_INCLUDE_DIR}" "${CUDAToolkit_INCLUDE_DIRS}/cublasLt.h" ${virtual_gpu_sources} > "${stubs}"
  DEPENDS tests/virtual_gpu/generate-stubs ${virtual_gpu_sources} VERBATIM)

# A copy of its own of what it uses of the product, so that neither gets in the way of the other.
add_library(virtual_gpu_base STATIC $<TARGET_OBJECTS:room_base>)

add_library(virtual_gpu SHARED ${virtual_gpu_sources} "${stubs}")
# In the stubs the types of the arguments do not matter.
set_source_files_properties("${stubs}" PROPERTIES COMPILE_OPTIONS "-w;-fno-builtin")
set_target_properties(virtual_gpu PROPERTIES OUTPUT_NAME cuda PREFIX lib SUFFIX .so.1 NO_SONAME ON
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/virtual_gpu")
target_link_options(virtual_gpu PRIVATE -Wl,--no-undefined -Wl,-soname,libcuda.so.1 -Wl,--exclude-libs,libvirtual_gpu_base.a)
target_include_directories(virtual_gpu PRIVATE "${CMAKE_SOURCE_DIR}")
target_include_directories(virtual_gpu SYSTEM PRIVATE "${CUDAToolkit_INCLUDE_DIRS}" "${CUDNN_INCLUDE_DIR}"
                                                      "${NCCL_INCLUDE_DIR}")
target_link_libraries(virtual_gpu PRIVATE virtual_gpu_base CUDA::cublasLt Threads::Threads ${CMAKE_DL_LIBS})
