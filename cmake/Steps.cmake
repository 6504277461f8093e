# minisched_step() adds the scheduler of a step. Most files of a step are the
# same as in the step before. A file is compiled only once for all steps in
# which the file, and all files of the step that it includes, directly or not,
# are the same.
#
# A test is a regular file in the step that adds or changes it, and a link to
# this file in the later steps. It runs in the first and the last of these
# steps, or, with MINISCHED_EVERY_STEP, in all of them. Sanitizers slow down builds
# and tests: with them, only the last step is built, or, with
# MINISCHED_EVERY_STEP, every step.

option(MINISCHED_EVERY_STEP
  "run each test in every step that has it; with sanitizers, build every step"
  OFF)

# The steps to build, in their order.
file(GLOB MINISCHED_STEPS CONFIGURE_DEPENDS
  RELATIVE ${PROJECT_SOURCE_DIR}/steps
  ${PROJECT_SOURCE_DIR}/steps/[0-9]*/CMakeLists.txt)
list(TRANSFORM MINISCHED_STEPS REPLACE "/.*" "")
if(MINISCHED_SANITIZE AND NOT MINISCHED_EVERY_STEP)
  list(GET MINISCHED_STEPS -1 MINISCHED_STEPS)
endif()

# minisched_fingerprint(VARIABLE STEP NAME) returns a hash of a file and of the
# step's files that it includes; "" if the step has no such file.
function(minisched_fingerprint variable step name)
  set(property MINISCHED_FINGERPRINT_${step}/${name})
  get_property(is_known GLOBAL PROPERTY ${property} SET)
  if(NOT is_known)
    set_property(GLOBAL PROPERTY ${property} "")
    set(path ${PROJECT_SOURCE_DIR}/steps/${step}/${name})
    set(hash "")
    if(EXISTS ${path})
      file(SHA256 ${path} hash)
      file(STRINGS ${path} lines REGEX "^#include \"")
      foreach(line IN LISTS lines)
        string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" include ${line})
        minisched_fingerprint(included ${step} ${include})
        if(NOT included AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${include})
          message(FATAL_ERROR "steps/${step}/${name} includes \"${include}\": "
            "give the path from the step's folder, or from the root")
        endif()
        string(APPEND hash " ${include} ${included}")
      endforeach()
      string(SHA256 hash "${hash}")
    endif()
    set_property(GLOBAL PROPERTY ${property} "${hash}")
  endif()
  get_property(hash GLOBAL PROPERTY ${property})
  set(${variable} "${hash}" PARENT_SCOPE)
endfunction()

# minisched_neighbour(VARIABLE STEP OFFSET) returns the step OFFSET steps after
# STEP, or "none".
function(minisched_neighbour variable step offset)
  list(FIND MINISCHED_STEPS ${step} index)
  list(LENGTH MINISCHED_STEPS count)
  math(EXPR index "${index} + ${offset}")
  set(neighbour none)
  if(index GREATER_EQUAL 0 AND index LESS count)
    list(GET MINISCHED_STEPS ${index} neighbour)
  endif()
  set(${variable} ${neighbour} PARENT_SCOPE)
endfunction()

# minisched_is_linked(VARIABLE STEP NAME) is true if the test in this step is a
# link to the file of an earlier step.
function(minisched_is_linked variable step name)
  set(${variable} OFF PARENT_SCOPE)
  if(IS_SYMLINK ${PROJECT_SOURCE_DIR}/steps/${step}/${name})
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

# minisched_runs(VARIABLE STEP NAME) is true if this test, or helper of tests,
# is built and run in this step.
function(minisched_runs variable step name)
  set(${variable} ON PARENT_SCOPE)
  if(name MATCHES "_testing\\.cc$" OR MINISCHED_EVERY_STEP)
    return()
  endif()
  minisched_is_linked(repeats_the_last ${step} ${name})
  minisched_neighbour(next ${step} 1)
  minisched_is_linked(is_repeated ${next} ${name})
  if(repeats_the_last AND is_repeated)
    set(${variable} OFF PARENT_SCOPE)
  endif()
endfunction()

# minisched_step_objects(VARIABLE STEP [TESTS] NAMES file… DEPENDS target…)
# returns the object libraries of these files, and adds those that no earlier
# step has added. The files of a library are used by the same steps.
function(minisched_step_objects variable step)
  cmake_parse_arguments(PARSE_ARGV 2 arg TESTS "" "NAMES;DEPENDS")
  list(FIND MINISCHED_STEPS ${step} index)
  list(SUBLIST MINISCHED_STEPS ${index} -1 later)
  set(objects "")
  set(added "")
  foreach(name IN LISTS arg_NAMES)
    minisched_fingerprint(fingerprint ${step} ${name})
    set(property MINISCHED_OBJECTS_${name}_${fingerprint})
    get_property(library GLOBAL PROPERTY ${property})
    if(NOT library)
      set(users "")
      foreach(user IN LISTS later)
        minisched_fingerprint(other ${user} ${name})
        set(is_used ON)
        if(arg_TESTS)
          minisched_runs(is_used ${user} ${name})
        endif()
        if(is_used AND other STREQUAL fingerprint)
          string(REGEX MATCH "^[0-9]+" number ${user})
          list(APPEND users ${number})
        endif()
      endforeach()
      list(JOIN users - library)
      string(PREPEND library minisched-)
      if(arg_TESTS)
        string(APPEND library -tests)
      endif()
      string(APPEND library -objects)
      list(APPEND added ${library})
      list(APPEND sources_of_${library} ${name})
      set_property(GLOBAL PROPERTY ${property} ${library})
    endif()
    list(APPEND objects ${library})
  endforeach()
  list(REMOVE_DUPLICATES added)
  foreach(library IN LISTS added)
    add_library(${library} OBJECT ${sources_of_${library}})
    target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${library} PRIVATE ${arg_DEPENDS})
    if(arg_TESTS)
      minisched_test_options(${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES objects)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# minisched_step_tests(STEP DEPENDS target…) adds the test program of a step
# and its benchmarks.
function(minisched_step_tests step)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  string(REGEX MATCH "^[0-9]+" number ${step})
  set(program minisched-${number}-test)
  # The tests of a step share many templates, so large batches save time.
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
  file(GLOB names CONFIGURE_DEPENDS
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} tests/*_test.cc tests/*_testing.cc)
  # Sanitizers replace the operator new whose calls these tests count.
  if(MINISCHED_SANITIZE)
    list(FILTER names EXCLUDE REGEX "_allocations_test\\.cc$")
  endif()
  set(run "")
  foreach(name IN LISTS names)
    minisched_runs(runs ${step} ${name})
    if(runs)
      list(APPEND run ${name})
    endif()
  endforeach()
  if(run MATCHES "_test\\.cc")
    minisched_step_objects(objects ${step} TESTS NAMES ${run} DEPENDS
      minisched::app minisched::testing GTest::gmock ${arg_DEPENDS})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    add_executable(${program} ${objects})
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${program}
      PRIVATE ${arg_DEPENDS} minisched::testing GTest::gmock_main)
    if(run MATCHES "_allocations_test\\.cc")
      target_link_libraries(${program} PRIVATE lab::benchmark)
    endif()
    minisched_register_tests(${program} unit)
  endif()
  # The default build has the benchmarks of the last step, which has all of
  # them, and those of the first step with any, for scripts/cycle_bench.
  file(GLOB benchmarks CONFIGURE_DEPENDS
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} tests/*_benchmark.cc)
  get_property(is_not_first GLOBAL PROPERTY MINISCHED_HAS_BENCHMARKS)
  set_property(GLOBAL APPEND PROPERTY MINISCHED_HAS_BENCHMARKS ${benchmarks})
  minisched_neighbour(next ${step} 1)
  set(on_demand "")
  if(is_not_first AND NOT next STREQUAL none)
    set(on_demand ON_DEMAND)
  endif()
  minisched_benchmark(minisched-${number} ${on_demand} SOURCES ${benchmarks}
    DEPENDS ${arg_DEPENDS} minisched::testing)
endfunction()

# minisched_step([DEPENDS target…])
# adds the scheduler minisched-NN of the current folder, whose name is NN-title.
function(minisched_step)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPENDS")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME step)
  string(REGEX MATCH "^[0-9]+" number ${step})
  set(program minisched-${number})

  # A changed file may no longer be the same as another step's.
  file(GLOB_RECURSE files CONFIGURE_DEPENDS *.cc *.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  file(GLOB_RECURSE names RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
  list(FILTER names EXCLUDE REGEX "^tests/|^main\\.cc$")

  set(libraries minisched::app ${arg_DEPENDS})
  minisched_step_objects(objects ${step}
    NAMES ${names} DEPENDS ${libraries})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${program}-scheduler INTERFACE)
  target_sources(${program}-scheduler INTERFACE ${objects})
  target_include_directories(${program}-scheduler
    INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${program}-scheduler INTERFACE ${libraries})

  add_executable(${program} main.cc)
  target_link_libraries(${program} PRIVATE ${program}-scheduler)
  if(MINISCHED_LAB AND NOT MINISCHED_FUZZ)
    minisched_step_tests(${step} DEPENDS ${program}-scheduler)
  endif()
endfunction()
