# g++ 12 sees copies that overlap in the + of strings (its bug 105651): no warnings of that kind from it.
function(millrace_warnings target)
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

# A room is one folder under src/millrace with one static library, millrace_<room>, or millrace_<room>_<part> of a
# folder in a room's. SEES lists the rooms whose headers it may include; script/check-layers holds the code to it.
function(millrace_room name)
  cmake_parse_arguments(ROOM "" "" "SEES;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(TRANSFORM ROOM_SEES PREPEND millrace_)
  list(TRANSFORM ROOM_SEES REPLACE "/" "_")
  string(REPLACE "/" "_" library millrace_${name})
  add_library(${library} STATIC ${sources})
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  millrace_warnings(${library} -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  target_link_libraries(${library} PUBLIC ${ROOM_SEES} PRIVATE ${ROOM_LINKS})
endfunction()

# One test program per room, out of all of tests/<room>. PARTS: the folders of the room with a library of their own.
function(millrace_room_tests name)
  cmake_parse_arguments(ROOM "" "" "PARTS;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(rooms millrace_${name})
  if(ROOM_PARTS)
    list(TRANSFORM ROOM_PARTS PREPEND millrace_${name}_ OUTPUT_VARIABLE rooms)
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  millrace_warnings(${name}_test)
  target_link_libraries(${name}_test PRIVATE ${rooms} ${ROOM_LINKS} GTest::gmock GTest::gtest_main)
  millrace_precompile(${name}_test <gmock/gmock.h> <gtest/gtest.h>)
  gtest_discover_tests(${name}_test NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 600)
endfunction()
