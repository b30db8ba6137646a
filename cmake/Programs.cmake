# The command ort-train (tools/), and the model zoo (models/) with the program that writes its .onnx files.

file(GLOB tool_sources CONFIGURE_DEPENDS tools/*.cc)
list(FILTER tool_sources EXCLUDE REGEX "/main\\.cc$")
if(tool_sources)
  add_library(ort_train_tools STATIC ${tool_sources})
  target_link_libraries(ort_train_tools PUBLIC ort_train yaml-cpp Threads::Threads)
  target_include_directories(ort_train_tools SYSTEM PUBLIC "${CLI11_INCLUDE_DIR}")
  target_compile_definitions(ort_train_tools PRIVATE ORT_TRAIN_VERSION="${PROJECT_VERSION}")
endif()
if(EXISTS "${CMAKE_SOURCE_DIR}/tools/main.cc")
  add_executable(ort-train tools/main.cc)
  target_link_libraries(ort-train PRIVATE $<TARGET_NAME_IF_EXISTS:ort_train_tools> ort_train yaml-cpp)
  target_compile_definitions(ort-train PRIVATE ORT_TRAIN_VERSION="${PROJECT_VERSION}")
  set_target_properties(ort-train PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endif()

file(GLOB model_sources CONFIGURE_DEPENDS models/*.cc)
list(FILTER model_sources EXCLUDE REGEX "/main\\.cc$")
if(model_sources)
  add_library(ort_train_models STATIC ${model_sources})
  target_link_libraries(ort_train_models PUBLIC ort_train)
endif()
if(EXISTS "${CMAKE_SOURCE_DIR}/models/main.cc")
  add_executable(build-models models/main.cc)
  target_link_libraries(build-models PRIVATE $<TARGET_NAME_IF_EXISTS:ort_train_models> ort_train)
  # Written again when a builder or the graph room changes, but not for a change anywhere else in the library.
  set(model_stamp "${CMAKE_BINARY_DIR}/models/complete")
  add_custom_command(
    OUTPUT "${model_stamp}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/models"
    COMMAND build-models "${CMAKE_BINARY_DIR}/models"
    COMMAND "${CMAKE_COMMAND}" -E touch "${model_stamp}"
    DEPENDS build-models $<TARGET_OBJECTS:room_base> $<TARGET_OBJECTS:room_graph>
    COMMENT "Writing the model zoo to models/*.onnx"
    VERBATIM)
  add_custom_target(models ALL DEPENDS "${model_stamp}")
endif()
