# millrace/version.h, with the version above and the commit of the tree, where it is one.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE MILLRACE_COMMIT
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_commit)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --show-toplevel --git-path logs/HEAD
                OUTPUT_VARIABLE places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REPLACE "\n" ";" places "${places}")
# A folder within somebody else's repository has no commit of its own.
if(no_commit OR NOT "${PROJECT_SOURCE_DIR}" IN_LIST places)
  set(MILLRACE_COMMIT "")
else()
  list(GET places 1 log)
  if(EXISTS ${log})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
  endif()
endif()
configure_file(cmake/version.h.in include/millrace/version.h @ONLY)
