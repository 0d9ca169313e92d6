# Debian packages, by `cpack` in a build folder configured with -DCMAKE_INSTALL_PREFIX=/usr: millrace, the command with its
# weights; libmillrace-dev, the library for programs of others; python3-millrace, the package for Python, where it is built.
# Who packs it is named as Debian has it, by DEBFULLNAME and DEBEMAIL.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Millrace authors <millrace@localhost>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plans how an ML model runs on a machine")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads an ONNX model and a machine description and finds the plan that runs\nfastest there: which op on which device, in which order, fused with what.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command library)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME millrace)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "${CPACK_PACKAGE_DESCRIPTION}\n.\nThis package has the command and the weights of its learned planners.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libmillrace-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
    "libdnnl-dev, libfmt-dev, libhwloc-dev, libmetis-dev, libonnx-dev, libprotobuf-dev, nlohmann-json3-dev, ocl-icd-opencl-dev, pkg-config, protobuf-compiler, zlib1g-dev")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS millrace)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "${CPACK_PACKAGE_DESCRIPTION}\n.\nThis package has the headers and the static library.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-millrace)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/python3-millrace/postinst
                                              ${PROJECT_SOURCE_DIR}/cmake/python3-millrace/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
    "${CPACK_PACKAGE_DESCRIPTION}\n.\nThis package has the module for Python 3; the weights of its learned planners are\nin the package millrace.")
set(packed command:millrace library:libmillrace-dev)
if(TARGET millrace_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  list(APPEND packed python:python3-millrace)
  # The module is for one minor version of Python.
  math(EXPR next_minor "${MILLRACE_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${MILLRACE_PYTHON_MINOR}~), python3 (<< 3.${next_minor}), python3-numpy, millrace (= ${PROJECT_VERSION})")
endif()

# What Debian asks of every package: who may copy it, and what changed.
file(WRITE ${PROJECT_BINARY_DIR}/packages/copyright
     "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: millrace\n\nFiles: *\nCopyright: 2026 The Millrace authors\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n")
file(WRITE ${PROJECT_BINARY_DIR}/packages/changelog
     "millrace (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  Mon, 23 Nov 2026 00:00:00 +0000\n")
execute_process(COMMAND gzip -9nk -f changelog WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
foreach(package ${packed})
  string(REPLACE ":" ";" pair ${package})
  list(GET pair 0 component)
  list(GET pair 1 name)
  install(FILES ${PROJECT_BINARY_DIR}/packages/copyright ${PROJECT_BINARY_DIR}/packages/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
