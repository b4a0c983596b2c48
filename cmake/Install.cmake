# cmake --install makes a relocatable tree: no file in it names the place of installation.
#   bin/lockstep  lib/lockstep/{backend-host,<backend>.so,witness/cuda.so}
#   share/lockstep/{vectors,models,slurm}   for judging
#   include/lockstep/{spec,containers,reference,backends,runtime}  lib/*.a  lib/cmake
#   lib/pkgconfig   for builders
#   include/lockstep/{cvm,reference}.h  lib/liblockstep_{cvm,reference}.so   for C
# Headers keep their include paths (#include "backends/backend.h"): include/lockstep is the root.
include(CMakePackageConfigHelpers)

# The libraries that other projects can link.
set(exported lockstep_spec lockstep_operators lockstep_reference lockstep_containers lockstep_graph
  lockstep_runtime)
set(header_root "${CMAKE_INSTALL_INCLUDEDIR}/lockstep")
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/lockstep")
foreach(target IN LISTS exported)
  string(REGEX REPLACE "^lockstep_" "" name "${target}")
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${header_root}>")
endforeach()
install(TARGETS ${exported} EXPORT lockstep_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
# A C program includes <lockstep/cvm.h> or <lockstep/reference.h>; one that was written for the
# deployed runtime, <cvm/c_api.h>.
foreach(target cvm reference_c)
  target_include_directories(lockstep_${target} INTERFACE
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>" "$<INSTALL_INTERFACE:${header_root}>")
endforeach()
install(TARGETS lockstep_cvm lockstep_reference_c EXPORT lockstep_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT dev)
install(FILES ${LOCKSTEP_C_HEADERS} DESTINATION ${header_root} COMPONENT dev)
install(EXPORT lockstep_targets NAMESPACE lockstep:: FILE lockstepTargets.cmake
  DESTINATION ${package_dir} COMPONENT dev)
file(CONFIGURE OUTPUT c_api.h CONTENT "/* The interface under the deployed runtime's name for it. */
#include <lockstep/cvm.h>\n")
install(FILES "${PROJECT_BINARY_DIR}/c_api.h" DESTINATION ${header_root}/cvm COMPONENT dev)
foreach(header IN LISTS LOCKSTEP_HEADERS)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "${header_root}/${folder}" COMPONENT dev)
endforeach()

configure_file(cmake/lockstepConfig.cmake.in lockstepConfig.cmake @ONLY)
write_basic_package_version_file(lockstepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake"
  "${PROJECT_BINARY_DIR}/lockstepConfig.cmake" cmake/LockstepConformance.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# pkg-config's files. The first path leads from lib/pkgconfig back to the prefix, for a library
# directory of any depth.
file(RELATIVE_PATH LOCKSTEP_PREFIX_FROM_PC "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" LOCKSTEP_PREFIX_FROM_PC "${LOCKSTEP_PREFIX_FROM_PC}")
set(LOCKSTEP_RUNTIME_LIBS "-ldl -lpthread")
if(LOCKSTEP_CUDA_FOUND)
  find_package(CUDAToolkit REQUIRED)
  string(PREPEND LOCKSTEP_RUNTIME_LIBS "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt ")
endif()
function(_lockstep_pkg_config name folder description libraries more_headers)
  configure_file(cmake/package.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()
_lockstep_pkg_config(lockstep /lockstep "${PROJECT_DESCRIPTION}"
  "-l:liblockstep_reference.a -llockstep_operators" "")
_lockstep_pkg_config(lockstep_cvm "" "Arrays, parameter files and models for C" -llockstep_cvm
  " -I\${includedir}/lockstep")
_lockstep_pkg_config(lockstep_reference "" "The specification of integer operators for C"
  -llockstep_reference "")
string(JOIN " " libraries -llockstep_runtime -llockstep_graph -l:liblockstep_reference.a
  -llockstep_containers -llockstep_operators ${LOCKSTEP_RUNTIME_LIBS})
_lockstep_pkg_config(lockstep_runtime /lockstep "Models on backends, in C++" "${libraries}" "")

# A tree may carry the programs' shared libraries (./dev gpu --kit); they find them there.
set(programs lockstep)
if(LOCKSTEP_BENCH)
  list(APPEND programs lockstep_bench)
endif()
set_target_properties(${programs} PROPERTIES
  BUILD_RPATH "$ORIGIN/../lib" INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS lockstep EXPORT lockstep_targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS backend-host RUNTIME DESTINATION lib/lockstep)
install(DIRECTORY conformance/vectors DESTINATION share/lockstep
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ci/slurm DESTINATION share/lockstep USE_SOURCE_PERMISSIONS)
# Leave out the scripts that make a model; running it does not need them.
install(DIRECTORY conformance/models DESTINATION share/lockstep
  PATTERN "*.py" EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN "*.txt" EXCLUDE)
install(FILES conformance/selection/kill_matrix.json conformance/verdict/frozen_tiers.json
  reference/crosscheck/crosschecks.json LICENSE LICENSE-MIT NOTICE DESTINATION share/lockstep)

if(LOCKSTEP_TESTS AND PROJECT_IS_TOP_LEVEL AND NOT LOCKSTEP_SANITIZE)
  add_test(NAME install.consumer COMMAND "${PROJECT_SOURCE_DIR}/cmake/consumer/test.sh"
    "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}")
  set_tests_properties(install.consumer PROPERTIES TIMEOUT 600)
endif()
