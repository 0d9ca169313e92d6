# A room is one folder under src/millrace with one static library, millrace_<room>.
# SEES lists the rooms whose headers it may include; script/check-layers holds the code to it.
function(millrace_room name)
  cmake_parse_arguments(ROOM "" "" "SEES;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(TRANSFORM ROOM_SEES PREPEND millrace_)
  add_library(millrace_${name} STATIC ${sources})
  target_include_directories(millrace_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(millrace_${name} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  target_link_libraries(millrace_${name} PUBLIC ${ROOM_SEES} PRIVATE ${ROOM_LINKS})
endfunction()

# One test program per room, out of tests/<room>/*_test.cc.
function(millrace_room_tests name)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name}_test PRIVATE -Wall -Wextra)
  target_link_libraries(${name}_test PRIVATE millrace_${name} ${ROOM_LINKS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name}_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 600)
endfunction()
