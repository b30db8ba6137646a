# Every tests/*_test.cc is a doctest program and a ctest entry of its own. Tests run in the root of the checkout and
# find the build folder in the environment variable ORT_TRAIN_BUILD_DIR, a Python with numpy in ORT_TRAIN_PYTHON.

# Tests set only the fields that matter to them; the others keep their defaults.
add_compile_options(-Wno-missing-field-initializers)

function(set_test_defaults name)
  # Waiting threads must not spin: ctest runs several programs on the same cores.
  set_tests_properties(${name} PROPERTIES TIMEOUT 300
    ENVIRONMENT "ORT_TRAIN_BUILD_DIR=${CMAKE_BINARY_DIR};ORT_TRAIN_PYTHON=${ORT_TRAIN_PYTHON};OMP_WAIT_POLICY=passive")
endfunction()

# add_script_test(NAME COMMAND ARGUMENT...): exit code 77 means skipped, and the output says why.
function(add_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_test_defaults(${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

set(test_libraries "")
foreach(library ort_train_tools ort_train_models)
  if(TARGET ${library})
    list(APPEND test_libraries ${library})
  endif()
endforeach()
list(APPEND test_libraries ort_train yaml-cpp Threads::Threads)

# What several tests share: the .cc files of tests/ that are neither a test nor a program.
file(GLOB support_sources CONFIGURE_DEPENDS tests/*.cc)
list(FILTER support_sources EXCLUDE REGEX "/([^/]*_test|run_case|doctest_main)\\.cc$")
if(support_sources)
  add_library(test_support STATIC ${support_sources})
  target_include_directories(test_support SYSTEM PUBLIC "${DOCTEST_INCLUDE_DIR}")
  target_link_libraries(test_support PUBLIC ${test_libraries})
  list(PREPEND test_libraries test_support)
endif()

# Assertions expand to much code that runs for microseconds: optimizing it only makes the tests slow to build.
add_library(test_settings INTERFACE)
target_compile_options(test_settings INTERFACE -O0)
target_compile_definitions(test_settings INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)

add_library(doctest_main OBJECT tests/doctest_main.cc)
target_include_directories(doctest_main SYSTEM PUBLIC "${DOCTEST_INCLUDE_DIR}")
file(GLOB test_sources CONFIGURE_DEPENDS tests/*_test.cc)
foreach(source IN LISTS test_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE doctest_main test_settings ${test_libraries})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_test_defaults(${name})
endforeach()

if(EXISTS "${CMAKE_SOURCE_DIR}/tests/run_case.cc")
  add_executable(run-case tests/run_case.cc)
  target_link_libraries(run-case PRIVATE ${test_libraries})
  set_target_properties(run-case PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()

if(ORT_TRAIN_CUDA_FOUND)
  include(CudaTests)
endif()

add_script_test(rooms "${CMAKE_SOURCE_DIR}/scripts/check-rooms")
add_script_test(find_package "${CMAKE_SOURCE_DIR}/tests/find_package" "${CMAKE_BINARY_DIR}" "${CMAKE_COMMAND}")

# Programs that mpirun starts.
if(ORT_TRAIN_MPI_FOUND)
  add_executable(collectives_program tests/processes/collectives_program.cc)
  target_link_libraries(collectives_program PRIVATE ort_train Threads::Threads)
  set_target_properties(collectives_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()
add_script_test(collectives_processes "${CMAKE_SOURCE_DIR}/tests/processes/collectives" "${CMAKE_BINARY_DIR}")
add_script_test(training_processes "${CMAKE_SOURCE_DIR}/tests/processes/training" "${CMAKE_BINARY_DIR}")

# It builds the library once more, so it has the cores for itself.
add_script_test(thread_sanitizer "${CMAKE_SOURCE_DIR}/tests/sanitizer/threads" "${CMAKE_BINARY_DIR}"
                "${CMAKE_CXX_COMPILER}" ${ORT_TRAIN_DEPENDENCIES})
set_tests_properties(thread_sanitizer PROPERTIES TIMEOUT 1200 PROCESSORS 2)
if(ORT_TRAIN_SANITIZE STREQUAL "thread")
  add_executable(deliberate_race EXCLUDE_FROM_ALL tests/sanitizer/deliberate_race.cc)
  target_include_directories(deliberate_race PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(deliberate_race PRIVATE Threads::Threads)
  set_target_properties(deliberate_race PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()

if(TARGET virtual_gpu)
  include(VirtualGpuTests)
endif()
