# `cmake --install`: the command, the library with the oneDNN it needs, its public headers, the models, and the files
# that make find_package(OrtTrain) work. Components: library, development, models.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/OrtTrain")
file(RELATIVE_PATH library_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")

set_target_properties(ort_train PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ort_train EXPORT OrtTrainTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT library NAMELINK_COMPONENT development)
get_target_property(dnnl_library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
get_target_property(dnnl_soname DNNL::dnnl IMPORTED_SONAME_RELEASE)
install(FILES "${dnnl_library}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME "${dnnl_soname}"
        COMPONENT library)

if(TARGET ort_train_cuda)
  install(TARGETS ort_train_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
endif()

if(TARGET ort-train)
  set_target_properties(ort-train PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_programs}")
  install(TARGETS ort-train RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT library)
endif()

# A header that shows a library of ours or OpenMP, itself or through another header, is no public header: a user need
# have neither that library's headers nor our compiler flags. The same goes for the inside of the CPU kernels.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" base/*.h graph/*.h kernels/*.h passes/*.h
     runtime/*.h)
list(FILTER headers EXCLUDE REGEX "^(kernels/functors|runtime/cpu|runtime/cuda|runtime/planning|runtime/collectives/mpi)/")
list(APPEND headers runtime/cuda/device.h)
set(private_includes "kernels/functors/|runtime/cpu/|onnx/|google/|dnnl|oneapi/|yaml-cpp/|CLI/|png|jpeglib|zlib|omp|mpi\\.h|runtime/collectives/mpi/|cuda|nccl")
set(public_count -1)
list(LENGTH headers count)
while(NOT count EQUAL public_count)
  set(public_count ${count})
  foreach(header IN LISTS headers)
    file(STRINGS "${header}" private_include REGEX "^#include [<\"](${private_includes})")
    if(private_include)
      list(REMOVE_ITEM headers "${header}")
      string(APPEND private_includes "|${header}")
    endif()
  endforeach()
  list(LENGTH headers count)
endwhile()
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "include/ort_train/${folder}" COMPONENT development)
endforeach()

install(DIRECTORY models/ DESTINATION "${CMAKE_INSTALL_DATADIR}/ort-train/models" COMPONENT models
        FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY "${CMAKE_BINARY_DIR}/models/" DESTINATION "${CMAKE_INSTALL_DATADIR}/ort-train/models" COMPONENT models
        OPTIONAL FILES_MATCHING PATTERN "*.onnx")

install(EXPORT OrtTrainTargets NAMESPACE OrtTrain:: DESTINATION "${package_folder}"
        COMPONENT development)
configure_package_config_file(cmake/OrtTrainConfig.cmake.in "${CMAKE_BINARY_DIR}/OrtTrainConfig.cmake"
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/OrtTrainConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/OrtTrainConfig.cmake" "${CMAKE_BINARY_DIR}/OrtTrainConfigVersion.cmake"
        DESTINATION "${package_folder}" COMPONENT development)
