# The library as others link it: every room of the command, as one archive with one target, millrace::millrace.
get_property(rooms GLOBAL PROPERTY MILLRACE_ROOMS)
list(FILTER rooms EXCLUDE REGEX "_(train|experiments|mpi_module)")
set(objects ${rooms})
list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
add_library(millrace_library STATIC EXCLUDE_FROM_ALL ${objects})
add_library(millrace::millrace ALIAS millrace_library)
set_target_properties(millrace_library PROPERTIES OUTPUT_NAME millrace EXPORT_NAME millrace LINKER_LANGUAGE CXX)
target_compile_features(millrace_library PUBLIC cxx_std_20)
target_include_directories(millrace_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                      $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(millrace_library PRIVATE DNNL::dnnl onnx onnx_proto PkgConfig::hwloc metis fmt::fmt
                                               nlohmann_json::nlohmann_json ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(NOT MILLRACE_INSTALL)
  return()
endif()
set_target_properties(millrace_library PROPERTIES EXCLUDE_FROM_ALL OFF)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)
install(TARGETS millrace_library EXPORT millrace)
install(EXPORT millrace NAMESPACE millrace:: FILE millraceTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/millraceConfig.cmake.in ${PROJECT_BINARY_DIR}/millraceConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/millraceConfig.cmake ${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
        DESTINATION ${package})
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/millrace.pc.in ${PROJECT_BINARY_DIR}/millrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/millrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/include/millrace/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/millrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN train EXCLUDE PATTERN experiments EXCLUDE)
include(cmake/packages.cmake)
