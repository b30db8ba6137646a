# Each folder of the library compiles on its own and sees only the libraries that it may use; together they make one
# shared library.

set(ORT_TRAIN_ROOMS "" CACHE INTERNAL "")
set(ORT_TRAIN_ROOM_LIBRARIES "" CACHE INTERNAL "")

# add_room(FOLDER [EXCEPT FOLDER_OR_FILE...] [LIBRARIES TARGET...])
function(add_room folder)
  cmake_parse_arguments(room "" "" "EXCEPT;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  foreach(excluded IN LISTS room_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${excluded}(/|$)")
  endforeach()
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name "room_${folder}")
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${room_LIBRARIES})
  set(ORT_TRAIN_ROOMS ${ORT_TRAIN_ROOMS} ${name} CACHE INTERNAL "")
  set(ORT_TRAIN_ROOM_LIBRARIES ${ORT_TRAIN_ROOM_LIBRARIES} ${room_LIBRARIES} CACHE INTERNAL "")
endfunction()

function(add_ort_train_library)
  set(objects "")
  foreach(room IN LISTS ORT_TRAIN_ROOMS)
    list(APPEND objects "$<TARGET_OBJECTS:${room}>")
  endforeach()
  set(libraries ${ORT_TRAIN_ROOM_LIBRARIES})
  list(REMOVE_DUPLICATES libraries)

  add_library(ort_train SHARED ${objects})
  add_library(OrtTrain::ort_train ALIAS ort_train)
  set_target_properties(ort_train PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(ort_train PUBLIC cxx_std_20)
  target_include_directories(ort_train PUBLIC "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>"
                                              "$<INSTALL_INTERFACE:include/ort_train>")
  target_link_libraries(ort_train PRIVATE ${libraries})
  # A program may bring an onnx of its own; ours stays inside.
  target_link_options(ort_train PRIVATE -Wl,--no-undefined -Wl,--as-needed -Wl,--exclude-libs,libonnx.a)
endfunction()
