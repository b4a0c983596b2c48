# cpack makes a tarball that carries the shared libraries it needs, and Debian packages:
#   lockstep          the program, its backends, vectors and models, for judging
#   lockstep-dev      headers, libraries, CMake's and pkg-config's files
#   lockstep-onednn   the backend that calls oneDNN
# The tarball contains the first two.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_CONTACT "The Lockstep project <lockstep@project.invalid>")
set(CPACK_PACKAGE_FILE_NAME
  "lockstep-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/PackageComponents.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_LOCKSTEP_PACKAGE_NAME lockstep)
set(CPACK_COMPONENT_LOCKSTEP_DESCRIPTION "Bit-exact conformance of integer operator backends")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME lockstep-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS libdlpack-dev)
set(CPACK_COMPONENT_DEV_DESCRIPTION "Write a backend, or use the specification as a library")
set(CPACK_COMPONENT_DEV_DEPENDS lockstep)
set(CPACK_DEBIAN_ONEDNN_PACKAGE_NAME lockstep-onednn)
set(CPACK_COMPONENT_ONEDNN_DESCRIPTION "oneDNN as a backend to be judged")
set(CPACK_COMPONENT_ONEDNN_DEPENDS lockstep)

# The program's shared libraries except the C and C++ libraries, which must be the machine's own,
# because a judged backend shares them with the program.
install(CODE [[
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "$<TARGET_FILE:lockstep>"
    RESOLVED_DEPENDENCIES_VAR libraries
    PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" "^ld-linux")
  file(INSTALL ${libraries} DESTINATION "${CMAKE_INSTALL_PREFIX}/lib" TYPE SHARED_LIBRARY
    FOLLOW_SYMLINK_CHAIN)
]] COMPONENT libraries EXCLUDE_FROM_ALL)

include(CPack)

if(LOCKSTEP_TESTS AND NOT LOCKSTEP_SANITIZE)
  add_test(NAME install.package COMMAND "${PROJECT_SOURCE_DIR}/cmake/package/test.sh"
    "${PROJECT_BINARY_DIR}" "${CMAKE_CPACK_COMMAND}")
  set_tests_properties(install.package PROPERTIES TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "SKIPPED: no ")
endif()
