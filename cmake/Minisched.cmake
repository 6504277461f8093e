# Functions for the targets of the project: minisched_library() for a folder of
# the library or of the lab, minisched_step() for a step. Both use the files of
# the current folder by name:
#
#   x.cc            the target
#   x_test.cc       its tests
#   x_testing.cc    helpers of tests
#   x_real_test.cc  tests that need a real API server (label "real")
#   x_benchmark.cc  its benchmarks, with Google Benchmark
#   x_fuzz.cc       a fuzz target; the preset fuzz builds it as the program x
#   main.cc         its program
#
# Several files of a target are compiled together (CMAKE_UNITY_BUILD), which
# halves the build time. So file-local names must be unique in a target. In the
# preset asan, the files that clang-tidy checks are compiled one by one.
# clang-tidy checks neither tests nor files that are the same in the step before.
# With sanitizers, a test file that is the same in the next step runs only there,
# so most tests run only in the last step.

include(GoogleTest)

set(MINISCHED_SANITIZE "" CACHE STRING
  "sanitizers to build with, in the form of -fsanitize=")
option(MINISCHED_FUZZ
  "add fuzz targets instead of tests; the target `fuzz` builds them" OFF)
if(MINISCHED_FUZZ)
  add_custom_target(fuzz)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Designated initializers omit fields with default values on purpose.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wthread-safety)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC treats .cc files that are compiled together as headers, and warns about
  # types in their anonymous namespaces.
  add_compile_options(-Wno-subobject-linkage)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # This warns about every reference from a member function of a temporary.
    add_compile_options(-Wno-dangling-reference)
  endif()
endif()
if(MINISCHED_SANITIZE)
  add_compile_options(-fsanitize=${MINISCHED_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MINISCHED_SANITIZE})
endif()
if(MINISCHED_FUZZ)
  # Leave out UBSan's checks of pointers, so that the build takes a quarter less
  # time. AddressSanitizer reports most bad pointers.
  add_compile_options(
    -fno-sanitize=alignment,null,object-size,pointer-overflow,vptr)
endif()

# minisched_sources(VARIABLE REGEX) lists the matching .cc files of the folder.
function(minisched_sources variable regex)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS *.cc)
  list(FILTER files INCLUDE REGEX ${regex})
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# The .cc files of a folder that don't belong to its library or step.
set(MINISCHED_NO_SOURCE "_(test|testing|benchmark|fuzz)\\.cc$|/main\\.cc$")

# minisched_benchmark(NAME DEPENDS target…) adds the benchmarks of the current
# folder as the program NAME-benchmark. Each benchmark has a size as its last
# argument. CTest runs them with the smallest one, 100, so that they keep
# working. Sanitizers replace the operator new that benchmarks count, so their
# builds have no benchmarks.
function(minisched_benchmark name)
  if(MINISCHED_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  minisched_sources(sources "_benchmark\\.cc$")
  if(NOT sources)
    return()
  endif()
  set(program ${name}-benchmark)
  add_executable(${program} ${sources})
  target_link_libraries(${program}
    PRIVATE ${arg_DEPENDS} lab::benchmark benchmark::benchmark)
  set_target_properties(${program} PROPERTIES CXX_CLANG_TIDY "")
  add_test(NAME ${program} COMMAND ${program}
    --benchmark_filter=/100$ --benchmark_min_time=0.001)
  # Without a benchmark of this size, the program prints this and exits with 0.
  set_tests_properties(${program} PROPERTIES TIMEOUT 300 LABELS unit
    FAIL_REGULAR_EXPRESSION "Failed to match any benchmarks")
endfunction()

# minisched_neighbour(VARIABLE OFFSET) returns the folder of the step OFFSET steps
# after the current one, or "" if there is none, or the folder is no step.
function(minisched_neighbour variable offset)
  set(${variable} "" PARENT_SCOPE)
  file(GLOB steps LIST_DIRECTORIES ON ${PROJECT_SOURCE_DIR}/steps/[0-9]*)
  list(FIND steps ${CMAKE_CURRENT_SOURCE_DIR} index)
  if(index EQUAL -1)
    return()
  endif()
  list(LENGTH steps count)
  math(EXPR index "${index} + ${offset}")
  if(index GREATER_EQUAL 0 AND index LESS count)
    list(GET steps ${index} neighbour)
    set(${variable} ${neighbour} PARENT_SCOPE)
  endif()
endfunction()

# minisched_is_same(VARIABLE NEIGHBOUR NAME) is true if both the current folder
# and the folder NEIGHBOUR have this file.
function(minisched_is_same variable neighbour name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E compare_files
      ${neighbour}/${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}
    RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    set(${variable} OFF PARENT_SCOPE)
  else()
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

# minisched_repeated(VARIABLE FILE…) lists the files that are the same in the next
# step.
function(minisched_repeated variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  minisched_neighbour(next 1)
  set(repeated "")
  if(next)
    foreach(file IN LISTS ARGN)
      file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${file})
      minisched_is_same(same ${next} ${name})
      if(same)
        list(APPEND repeated ${file})
      endif()
    endforeach()
  endif()
  set(${variable} ${repeated} PARENT_SCOPE)
endfunction()

# minisched_fuzz(DEPENDS target…) adds the fuzz targets of the current folder.
# The target `fuzz` builds them.
function(minisched_fuzz)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPENDS")
  minisched_sources(sources "_fuzz\\.cc$")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    add_executable(fuzz-${name} EXCLUDE_FROM_ALL ${source})
    set_target_properties(fuzz-${name} PROPERTIES OUTPUT_NAME ${name})
    target_link_libraries(fuzz-${name} PRIVATE ${arg_DEPENDS})
    target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzz fuzz-${name})
  endforeach()
endfunction()

# minisched_tests(NAME DEPENDS target…) adds the test programs of the current
# folder, NAME-test and NAME-real-test, and registers each of their tests in
# CTest; with sanitizers, two halves of each program. Also adds the benchmarks.
# Adds nothing in the preset fuzz.
function(minisched_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  if(MINISCHED_FUZZ OR NOT MINISCHED_LAB)
    return()
  endif()
  minisched_sources(testing "_testing\\.cc$")
  minisched_sources(unit_tests "_test\\.cc$")
  minisched_sources(real_tests "_real_test\\.cc$")
  list(REMOVE_ITEM unit_tests ${real_tests} "")
  if(MINISCHED_SANITIZE)
    minisched_repeated(repeated ${unit_tests})
    list(REMOVE_ITEM unit_tests ${repeated} "")
  endif()
  foreach(kind unit real)
    if(NOT ${kind}_tests)
      continue()
    endif()
    string(REPLACE "-unit" "" program ${name}-${kind}-test)
    add_executable(${program} ${${kind}_tests} ${testing})
    target_link_libraries(${program} PRIVATE ${arg_DEPENDS} GTest::gmock_main)
    # Tests are built without optimisation and clang-tidy: building them takes
    # longer than running them, and clang-tidy takes even longer.
    target_compile_options(${program} PRIVATE -O0)
    set_target_properties(${program} PROPERTIES
      CXX_CLANG_TIDY "" UNITY_BUILD ON)
    if(MINISCHED_SANITIZE)
      # Tests of random operations run fewer of them.
      target_compile_definitions(${program} PRIVATE MINISCHED_SANITIZE)
      # The largest possible inputs take too long. Their tests only check that
      # they are handled fast.
      set(filter "-LargestRequestTest.*:*.RefusesAPatchThatMovesTooMuch")
      if(MINISCHED_SANITIZE STREQUAL thread)
        # The models' million operations never run at the same time.
        string(APPEND filter ":*.AgreesAfterManyOperations")
      endif()
      # A process for each of the thousands of tests takes too long.
      foreach(shard RANGE 1)
        set(environment GTEST_FILTER=${filter}
          GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=${shard})
        add_test(NAME ${program}.${shard} COMMAND ${program})
        set_tests_properties(${program}.${shard} PROPERTIES
          TIMEOUT 900 LABELS ${kind} ENVIRONMENT "${environment}")
      endforeach()
    else()
      gtest_discover_tests(${program} TEST_PREFIX "${program}."
        PROPERTIES TIMEOUT 300 LABELS ${kind})
    endif()
  endforeach()
  minisched_benchmark(${name} DEPENDS ${arg_DEPENDS})
endfunction()

# minisched_library(NAME [DEPENDS target…] [PRIVATE target…]
#                   [TEST_DEPENDS target…] [NOT_FUZZED file…])
# adds the static library minisched::NAME (in lab/: lab::NAME) of the current
# folder. To save time, the preset fuzz does not compile the files after
# NOT_FUZZED, which no fuzz target needs.
function(minisched_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
    "DEPENDS;PRIVATE;TEST_DEPENDS;NOT_FUZZED")
  minisched_sources(sources "\\.cc$")
  list(FILTER sources EXCLUDE REGEX ${MINISCHED_NO_SOURCE})
  if(MINISCHED_FUZZ)
    list(TRANSFORM arg_NOT_FUZZED PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_NOT_FUZZED} "")
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH parent)
  cmake_path(GET parent FILENAME group)
  set(library ${group}_${name})
  add_library(${library} STATIC ${sources})
  add_library(${group}::${name} ALIAS ${library})
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${library}
    PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
  if(MINISCHED_FUZZ)
    minisched_fuzz(DEPENDS ${library} ${arg_PRIVATE})
  endif()
  minisched_tests(${name} DEPENDS ${library} ${arg_TEST_DEPENDS})
endfunction()

# minisched_carried(VARIABLE FILE…) lists the files that are the same in the step
# before. The step's headers that a file includes directly must be the same, too,
# so that clang-tidy reads a changed header with each file that includes it.
function(minisched_carried variable)
  set(${variable} "" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  minisched_neighbour(before -1)
  if(NOT before)
    return()
  endif()
  set(carried "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} names REGEX "^#include \"")
    list(TRANSFORM names REPLACE "^#include \"([^\"]*)\".*" "\\1")
    file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR} ${file})
    list(APPEND names ${path})
    set(same ON)
    foreach(name IN LISTS names)
      if(same AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name})  # of the step
        minisched_is_same(same ${before} ${name})
      endif()
    endforeach()
    if(same)
      list(APPEND carried ${file})
    endif()
  endforeach()
  set(${variable} ${carried} PARENT_SCOPE)
endfunction()

# minisched_step([DEPENDS target…])
# adds the scheduler minisched-NN of the current folder, whose name is NN-title.
function(minisched_step)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPENDS")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  string(REGEX MATCH "^[0-9]+" number ${directory})
  set(step minisched-${number})

  minisched_sources(sources "\\.cc$")
  list(FILTER sources EXCLUDE REGEX ${MINISCHED_NO_SOURCE})
  set(libraries ${step}-objects)
  if(CMAKE_CXX_CLANG_TIDY)
    minisched_carried(carried ${sources})
    if(carried)
      list(REMOVE_ITEM sources ${carried})
      add_library(${step}-carried OBJECT ${carried})
      set_target_properties(${step}-carried PROPERTIES
        CXX_CLANG_TIDY "" UNITY_BUILD ON)
      list(APPEND libraries ${step}-carried)
    endif()
  endif()
  add_library(${step}-objects OBJECT ${sources})
  foreach(library IN LISTS libraries)
    target_include_directories(${library} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${library} PUBLIC minisched::app ${arg_DEPENDS})
  endforeach()

  add_executable(${step} main.cc)
  target_link_libraries(${step} PRIVATE ${libraries})
  # The tests of a step share many templates, so large batches save time.
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
  minisched_tests(${step} DEPENDS ${libraries} lab::testing)
endfunction()
