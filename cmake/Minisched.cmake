# How every target of the project is built: minisched_library() for a folder of
# the library or of the lab, minisched_step() for a step. Both take the folder as
# it is:
#
#   x.cc            the target
#   x_test.cc       its tests
#   x_testing.cc    what only tests need
#   x_real_test.cc  tests that need a real API server (label "real")
#   main.cc         its program
#
# But for the preset asan, a target's files are compiled several at a time
# (CMAKE_UNITY_BUILD), which halves the time that a build takes. What two files
# of a target keep to themselves must therefore go by different names.

include(GoogleTest)

set(MINISCHED_SANITIZE "" CACHE STRING
  "sanitizers to build with, as -fsanitize= takes them")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Designated initializers leave out what keeps its default, and mean to.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wthread-safety)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC takes .cc files that are compiled together for headers, and warns about
  # types in their anonymous namespaces.
  add_compile_options(-Wno-subobject-linkage)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # Warns about every reference that a member function of a temporary returns.
    add_compile_options(-Wno-dangling-reference)
  endif()
endif()
if(MINISCHED_SANITIZE)
  add_compile_options(-fsanitize=${MINISCHED_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MINISCHED_SANITIZE})
endif()

# minisched_sources(VARIABLE REGEX) lists the .cc files here that match.
function(minisched_sources variable regex)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS *.cc)
  list(FILTER files INCLUDE REGEX ${regex})
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# minisched_tests(NAME DEPENDS target…) makes the test programs of this folder,
# NAME-test and NAME-real-test, and tells ctest of each test in them.
function(minisched_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  if(NOT MINISCHED_LAB)
    return()
  endif()
  minisched_sources(testing "_testing\\.cc$")
  minisched_sources(unit_tests "_test\\.cc$")
  minisched_sources(real_tests "_real_test\\.cc$")
  list(REMOVE_ITEM unit_tests ${real_tests} "")
  foreach(kind unit real)
    if(NOT ${kind}_tests)
      continue()
    endif()
    string(REPLACE "-unit" "" program ${name}-${kind}-test)
    add_executable(${program} ${${kind}_tests} ${testing})
    target_link_libraries(${program} PRIVATE ${arg_DEPENDS} GTest::gmock_main)
    # Building the tests takes longer than running them, and clang-tidy longer
    # than both.
    target_compile_options(${program} PRIVATE -O0)
    set_target_properties(${program} PROPERTIES CXX_CLANG_TIDY "")
    gtest_discover_tests(${program} TEST_PREFIX "${program}."
      PROPERTIES TIMEOUT 300 LABELS ${kind})
  endforeach()
endfunction()

# minisched_library(NAME [DEPENDS target…] [PRIVATE target…]
#                   [TEST_DEPENDS target…])
# makes the static library minisched::NAME of the current folder; lab::NAME if
# the folder is one of the lab's.
function(minisched_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;PRIVATE;TEST_DEPENDS")
  minisched_sources(sources "\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|testing)\\.cc$|/main\\.cc$")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH parent)
  cmake_path(GET parent FILENAME group)
  set(library ${group}_${name})
  add_library(${library} STATIC ${sources})
  add_library(${group}::${name} ALIAS ${library})
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${library}
    PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
  minisched_tests(${name} DEPENDS ${library} ${arg_TEST_DEPENDS})
endfunction()

# minisched_step([DEPENDS target…])
# makes the scheduler minisched-NN of the current folder, which is named
# NN-title.
function(minisched_step)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPENDS")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  string(REGEX MATCH "^[0-9]+" number ${directory})
  set(step minisched-${number})

  minisched_sources(sources "\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|testing)\\.cc$|/main\\.cc$")
  add_library(${step}-objects OBJECT ${sources})
  target_include_directories(${step}-objects
    PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${step}-objects PUBLIC minisched::app ${arg_DEPENDS})

  add_executable(${step} main.cc)
  target_link_libraries(${step} PRIVATE ${step}-objects)
  minisched_tests(${step} DEPENDS ${step}-objects lab::testing)
endfunction()
