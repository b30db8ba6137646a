# Looks for MPI and says what it found. ORT_TRAIN_MPI_FOUND is true when replicas may be spread over processes.

set(ORT_TRAIN_MPI_FOUND FALSE)
if(NOT ORT_TRAIN_MPI)
  message(STATUS "MPI: switched off (ORT_TRAIN_MPI=OFF)")
  return()
endif()

# Only the C functions are used, but asking for MPI's C++ component spares us the C language.
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  set(ORT_TRAIN_MPI_FOUND TRUE)
  message(STATUS "MPI: found (${MPI_CXX_INCLUDE_DIRS})")
elseif(ORT_TRAIN_MPI STREQUAL "AUTO")
  message(STATUS "MPI: not found")
else()
  message(FATAL_ERROR "ORT_TRAIN_MPI=${ORT_TRAIN_MPI} needs MPI with its headers (Debian: libopenmpi-dev); install it or "
                      "configure with -DORT_TRAIN_MPI=AUTO")
endif()
