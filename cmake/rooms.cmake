# g++ 12 sees copies that overlap in the + of strings (its bug 105651): no warnings of that kind from it.
function(millrace_warnings target)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
endfunction()

# Headers that are dear to read, read once for a target. A unity build reads them but once in any case.
function(millrace_precompile target)
  if(NOT CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# What has no hot loops of its own. At the level of its build a compiler takes up to twice as long for it.
function(millrace_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
endfunction()

# A test program. Optimised, it takes longer to compile than that saves when it runs.
function(millrace_compile_tests target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# A room is one folder under src/millrace with one static library, millrace_<room>, or millrace_<room>_<part> of a
# folder in a room's. SEES lists the rooms whose headers it may include; script/check-layers holds the code to it. COLD:
# it has no hot loops of its own.
function(millrace_room name)
  cmake_parse_arguments(ROOM "COLD" "" "SEES;LINKS;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  foreach(file ${ROOM_WITHOUT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file})
  endforeach()
  list(TRANSFORM ROOM_SEES PREPEND millrace_)
  list(TRANSFORM ROOM_SEES REPLACE "/" "_")
  string(REPLACE "/" "_" library millrace_${name})
  add_library(${library} STATIC ${sources})
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${library} PUBLIC cxx_std_20)
  set_property(GLOBAL APPEND PROPERTY MILLRACE_ROOMS ${library})
  millrace_warnings(${library} -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  target_link_libraries(${library} PUBLIC ${ROOM_SEES} PRIVATE ${ROOM_LINKS})
  if(ROOM_COLD)
    millrace_compile_quickly(${library})
  endif()
endfunction()

# One test program per room, out of all of tests/<room>. PARTS: the folders of the room with a library of their own.
# TOGETHER: a suite of so many short tests that they share a process.
function(millrace_room_tests name)
  cmake_parse_arguments(ROOM "" "TOGETHER" "PARTS;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(rooms millrace_${name})
  if(ROOM_PARTS)
    list(TRANSFORM ROOM_PARTS PREPEND millrace_${name}_ OUTPUT_VARIABLE rooms)
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  millrace_warnings(${name}_test)
  millrace_compile_tests(${name}_test)
  target_link_libraries(${name}_test PRIVATE ${rooms} ${ROOM_LINKS} GTest::gmock GTest::gtest_main)
  millrace_precompile(${name}_test <gmock/gmock.h> <gtest/gtest.h>)
  set(filter)
  if(ROOM_TOGETHER)
    add_test(NAME "${name}: ${ROOM_TOGETHER}" COMMAND ${name}_test --gtest_filter=${ROOM_TOGETHER}.*)
    set_tests_properties("${name}: ${ROOM_TOGETHER}" PROPERTIES TIMEOUT 600)
    set(filter TEST_FILTER -${ROOM_TOGETHER}.*)
  endif()
  gtest_discover_tests(${name}_test ${filter} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 600)
endfunction()
