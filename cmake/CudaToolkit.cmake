# Looks for CUDA with its compiler, cuDNN, cudnn-frontend and NCCL and says what it found. ORT_TRAIN_CUDA_FOUND is true
# when all of them are there.

set(ORT_TRAIN_CUDA_FOUND FALSE)
if(NOT ORT_TRAIN_CUDA)
  message(STATUS "CUDA: switched off (ORT_TRAIN_CUDA=OFF)")
  return()
endif()

find_package(CUDAToolkit QUIET)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
# Headers only, from the dependency cache.
find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)

function(report_found name found where)
  if(found)
    message(STATUS "${name}: found (${where})")
  else()
    message(STATUS "${name}: not found")
  endif()
endfunction()

report_found(CUDA "${CUDAToolkit_NVCC_EXECUTABLE}" "version ${CUDAToolkit_VERSION}")
report_found(cuDNN "${CUDNN_LIBRARY}" "${CUDNN_LIBRARY}")
report_found(cudnn-frontend "${CUDNN_FRONTEND_INCLUDE_DIR}" "${CUDNN_FRONTEND_INCLUDE_DIR}")
report_found(NCCL "${NCCL_LIBRARY}" "${NCCL_LIBRARY}")

if(CUDAToolkit_NVCC_EXECUTABLE AND CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY AND CUDNN_FRONTEND_INCLUDE_DIR AND NCCL_INCLUDE_DIR
   AND NCCL_LIBRARY)
  set(ORT_TRAIN_CUDA_FOUND TRUE)
elseif(NOT ORT_TRAIN_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "ORT_TRAIN_CUDA=${ORT_TRAIN_CUDA} needs the CUDA toolkit with nvcc, cuDNN, NCCL and cudnn-frontend with "
                      "their headers; "
                      "install what is missing above or configure with -DORT_TRAIN_CUDA=AUTO")
endif()
