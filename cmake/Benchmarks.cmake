# Every tests/bench/*.cc is a Google Benchmark program in the folder bench/ of the build.

file(GLOB benchmark_sources CONFIGURE_DEPENDS tests/bench/*.cc)
foreach(source IN LISTS benchmark_sources)
  cmake_path(GET source STEM name)
  add_executable(bench_${name} ${source})
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
                                                 RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  target_link_libraries(bench_${name} PRIVATE ort_train benchmark::benchmark_main)
  if(TARGET ort_train_models)
    target_link_libraries(bench_${name} PRIVATE ort_train_models)
  endif()
endforeach()
