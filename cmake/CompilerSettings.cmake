# Language, warnings, optimization and the compiler cache, for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Loops with sqrt or a condition vectorize only when nobody reads errno or the exception flags; values stay IEEE.
# g++ 12 sees overlapping copies in std::string where there are none (its bug 105651): -Wno-restrict.
set(host_options -Wall -Wextra -Wno-restrict -fno-math-errno -fno-trapping-math)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${host_options}>")

# Line numbers are all that a sanitizer's report needs, and -O1 compiles fastest.
if(ORT_TRAIN_SANITIZE)
  add_compile_options(-fsanitize=${ORT_TRAIN_SANITIZE} -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${ORT_TRAIN_SANITIZE})
endif()

# A program need not be linked again when only the inside of the shared library changed.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout let one clone use what another has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${CMAKE_SOURCE_DIR};${CCACHE_PROGRAM}")
endif()

if(ORT_TRAIN_NATIVE)
  # The name of a level, unlike -march=native, is the same text for the compiler cache only on machines that agree.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    try_run(ORT_TRAIN_ISA_EXIT ORT_TRAIN_ISA_COMPILED "${CMAKE_BINARY_DIR}/isa" "${CMAKE_CURRENT_LIST_DIR}/isa_level.cc"
            RUN_OUTPUT_VARIABLE ORT_TRAIN_ISA_LEVEL)
    if(ORT_TRAIN_ISA_COMPILED AND ORT_TRAIN_ISA_EXIT EQUAL 0)
      set(ORT_TRAIN_ISA_FLAG "-march=${ORT_TRAIN_ISA_LEVEL}" CACHE INTERNAL "")
    endif()
    add_compile_options(${ORT_TRAIN_ISA_FLAG})
  else()
    add_compile_options(-mcpu=native)
  endif()
  message(STATUS "Instruction set: this machine's ${ORT_TRAIN_ISA_FLAG}")
endif()
