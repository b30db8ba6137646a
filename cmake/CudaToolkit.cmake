# Looks for CUDA, cuDNN and NCCL and says what it found. ORT_TRAIN_CUDA_FOUND is true when all three are there.

set(ORT_TRAIN_CUDA_FOUND FALSE)
if(NOT ORT_TRAIN_CUDA)
  message(STATUS "CUDA: switched off (ORT_TRAIN_CUDA=OFF)")
  return()
endif()

find_package(CUDAToolkit QUIET)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)

function(report_found name found where)
  if(found)
    message(STATUS "${name}: found (${where})")
  else()
    message(STATUS "${name}: not found")
  endif()
endfunction()

report_found(CUDA "${CUDAToolkit_FOUND}" "version ${CUDAToolkit_VERSION}")
report_found(cuDNN "${CUDNN_LIBRARY}" "${CUDNN_LIBRARY}")
report_found(NCCL "${NCCL_LIBRARY}" "${NCCL_LIBRARY}")

if(CUDAToolkit_FOUND AND CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY AND NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  set(ORT_TRAIN_CUDA_FOUND TRUE)
elseif(NOT ORT_TRAIN_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "ORT_TRAIN_CUDA=${ORT_TRAIN_CUDA} needs the CUDA toolkit, cuDNN and NCCL with their headers; "
                      "install what is missing above or configure with -DORT_TRAIN_CUDA=AUTO")
endif()
