# The module of the playground, in playground_module: what node and the page load. Without
# emscripten the variable is empty, the page says so, and the module's tests do not run.
find_program(LOCKSTEP_TOOL_emcmake emcmake)
find_program(LOCKSTEP_TOOL_node NAMES node nodejs)
mark_as_advanced(LOCKSTEP_TOOL_emcmake LOCKSTEP_TOOL_node)
set(playground_module "")
if(LOCKSTEP_TOOL_emcmake AND LOCKSTEP_TOOL_node)
  set(module "${CMAKE_CURRENT_LIST_DIR}/module")
  set(module_build "${CMAKE_CURRENT_BINARY_DIR}/playground")
  set(playground_module "${module_build}/lockstep.js")
  foreach(room spec reference conformance)
    file(GLOB_RECURSE sources_of_${room} CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/${room}/*.h ${PROJECT_SOURCE_DIR}/${room}/*.cc)
    list(FILTER sources_of_${room} EXCLUDE
      REGEX "/${room}/(capi|cli|crosscheck|graph|mutator|reports|tests)/")
  endforeach()
  file(GLOB_RECURSE sources_of_module CONFIGURE_DEPENDS "${module}/*")
  # Debian's emscripten runs JavaScript of Debian's packages, which node of another origin finds
  # only if it is told where they are.
  set(em "${CMAKE_COMMAND}" -E env "NODE_PATH=/usr/share/nodejs")
  add_custom_command(OUTPUT "${playground_module}"
    COMMAND ${em} "${LOCKSTEP_TOOL_emcmake}" "${CMAKE_COMMAND}" -G Ninja
      -S "${module}" -B "${module_build}" -DCMAKE_BUILD_TYPE=MinSizeRel
      -DCMAKE_UNITY_BUILD=ON -DLOCKSTEP_VERSION=${PROJECT_VERSION}
    COMMAND ${em} "${CMAKE_COMMAND}" --build "${module_build}" --parallel 1
    COMMAND "${CMAKE_COMMAND}" -E touch "${playground_module}"
    DEPENDS ${sources_of_spec} ${sources_of_reference} ${sources_of_conformance}
      ${sources_of_module} "${PROJECT_SOURCE_DIR}/conformance/trials.cmake"
    COMMENT "Compiling the reference to WebAssembly" VERBATIM)
endif()
