# Functions for the targets of the project. minisched_library() is for a folder
# of the library or of the lab; minisched_step(), in Steps.cmake, is for a step.
# Both use the files of the current folder by name:
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
# halves the build time. So file-local names must be unique in a target, and in
# all files of a step. The preset asan runs clang-tidy, on all files but tests.

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

# Use ccache if it is installed. Compiling the same files again then takes a
# tenth of the time, even in another clone.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=true ${CCACHE_PROGRAM})
endif()

# Designated initializers omit fields with default values on purpose.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wthread-safety)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC treats .cc files that are compiled together as headers, and warns about
  # types in their anonymous namespaces.
  add_compile_options(-Wno-subobject-linkage)
  # With -Og, GCC warns about the constructor of std::stop_source.
  add_compile_options(-Wno-maybe-uninitialized)
  # Let GCC use 512 MB instead of 128 MB before it collects garbage. Compiling
  # then takes a tenth less time.
  add_compile_options(--param=ggc-min-heapsize=524288)
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
  # time. AddressSanitizer reports most bad pointers. With the check of called
  # functions, clang 14 fails to compile optimised coroutines.
  add_compile_options(
    -fno-sanitize=alignment,function,null,object-size,pointer-overflow,vptr)
endif()

# minisched_sources(VARIABLE REGEX) lists the matching .cc files of the folder.
function(minisched_sources variable regex)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS *.cc)
  list(FILTER files INCLUDE REGEX ${regex})
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# The .cc files of a folder that don't belong to its library.
set(MINISCHED_NO_SOURCE "_(test|testing|benchmark|fuzz)\\.cc$|/main\\.cc$")

# minisched_benchmark(NAME [ON_DEMAND] SOURCES file… DEPENDS target…) adds the
# program NAME-benchmark; with ON_DEMAND, the default build leaves it out, and
# CTest does not run it. The last argument of each benchmark is a size. CTest
# runs the benchmarks with the smallest size, 100, so that they keep working.
# Sanitizers replace the operator new whose calls the benchmarks count, so their
# builds have no benchmarks.
function(minisched_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg ON_DEMAND "" "SOURCES;DEPENDS")
  if(MINISCHED_SANITIZE OR NOT arg_SOURCES)
    return()
  endif()
  set(program ${name}-benchmark)
  add_executable(${program} ${arg_SOURCES})
  target_link_libraries(${program}
    PRIVATE ${arg_DEPENDS} lab::benchmark benchmark::benchmark)
  set_target_properties(${program} PROPERTIES CXX_CLANG_TIDY "")
  if(arg_ON_DEMAND)
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME ${program} COMMAND ${program}
    --benchmark_filter=/100$ --benchmark_min_time=0.001)
  # Without a benchmark of this size, the program prints this and exits with 0.
  set_tests_properties(${program} PROPERTIES TIMEOUT 300 LABELS unit
    FAIL_REGULAR_EXPRESSION "Failed to match any benchmarks")
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

# minisched_test_options(TARGET) sets how tests are compiled: without
# optimisation and clang-tidy, because building them takes longer than running
# them, and clang-tidy takes even longer.
function(minisched_test_options target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "")
endfunction()

# minisched_register_tests(PROGRAM LABEL) registers each test of the program in
# CTest; with sanitizers, seven parts of the program.
function(minisched_register_tests program label)
  if(NOT MINISCHED_SANITIZE)
    gtest_discover_tests(${program} TEST_PREFIX "${program}."
      PROPERTIES TIMEOUT 300 LABELS ${label})
    return()
  endif()
  # With sanitizers, this test takes too long: its inputs have the largest size.
  set(filter "-*.RefusesAPatchThatMovesTooMuch")
  if(MINISCHED_SANITIZE STREQUAL thread)
    # These tests run nothing at the same time, and take long.
    string(APPEND filter ":*.AgreesAfterManyOperations"
      ":*.PluginsAgreeOnEveryNode:*.VictimsAndNodesAreThoseOfTheModel"
      ":*CountsRandomTest.*:*HintsRandomTest.*")
  endif()
  # A process for each of the thousands of tests takes too long.
  foreach(shard RANGE 6)
    set(environment GTEST_FILTER=${filter}
      GTEST_TOTAL_SHARDS=7 GTEST_SHARD_INDEX=${shard})
    add_test(NAME ${program}.${shard} COMMAND ${program})
    set_tests_properties(${program}.${shard} PROPERTIES
      TIMEOUT 900 LABELS ${label} ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# minisched_tests(NAME DEPENDS target…) adds the test programs of the current
# folder, NAME-test and NAME-real-test, and its benchmarks. Adds nothing in the
# preset fuzz.
function(minisched_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  if(MINISCHED_FUZZ OR NOT MINISCHED_LAB)
    return()
  endif()
  minisched_sources(testing "_testing\\.cc$")
  minisched_sources(unit_tests "_test\\.cc$")
  minisched_sources(real_tests "_real_test\\.cc$")
  minisched_sources(benchmarks "_benchmark\\.cc$")
  list(REMOVE_ITEM unit_tests ${real_tests} "")
  if(MINISCHED_SANITIZE)
    set(real_tests "")  # scripts/test doesn't run them with sanitizers.
  endif()
  foreach(kind unit real)
    if(NOT ${kind}_tests)
      continue()
    endif()
    string(REPLACE "-unit" "" program ${name}-${kind}-test)
    add_executable(${program} ${${kind}_tests} ${testing})
    target_link_libraries(${program} PRIVATE ${arg_DEPENDS} GTest::gmock_main)
    minisched_test_options(${program})
    minisched_register_tests(${program} ${kind})
  endforeach()
  minisched_benchmark(${name}
    SOURCES ${benchmarks} DEPENDS ${arg_DEPENDS})
endfunction()

# minisched_library(NAME [DEPENDS target…] [PRIVATE target…]
#                   [TEST_DEPENDS target…])
# adds the static library minisched::NAME (in lab/: lab::NAME) of the current
# folder.
function(minisched_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
    "DEPENDS;PRIVATE;TEST_DEPENDS")
  minisched_sources(sources "\\.cc$")
  list(FILTER sources EXCLUDE REGEX ${MINISCHED_NO_SOURCE})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH parent)
  set(group minisched)
  if(NOT parent STREQUAL PROJECT_SOURCE_DIR)
    cmake_path(GET parent FILENAME group)
  endif()
  set(library ${group}_${name})
  add_library(${library} STATIC ${sources})
  add_library(${group}::${name} ALIAS ${library})
  # The files of a library include the same headers and use the same templates.
  set_target_properties(${library} PROPERTIES UNITY_BUILD_BATCH_SIZE 20)
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${library}
    PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
  if(MINISCHED_FUZZ)
    minisched_fuzz(DEPENDS ${library} ${arg_PRIVATE})
  endif()
  minisched_tests(${name} DEPENDS ${library} ${arg_TEST_DEPENDS})
endfunction()
