# Conformance tests for backends of other projects; find_package(lockstep) includes this file.

# lockstep_add_conformance_test(<target> [NAME <name>] [TIER <0..3>] [PROFILE <profile>...]
#   [OPERATORS <glob>...] [PROPERTIES <property>...] [SET <key=value>...] [ARGUMENTS <word>...])
# A CTest test <name> (conformance.<target>) that passes if the verdict of `lockstep check` is PASS.
# The target is a module, a shared library, or an executable that speaks the JSON Lines protocol.
# The verdict shows what was chosen; the reports are <target>.lockstep.json and .xml (JUnit) in the
# current binary directory. ARGUMENTS are passed to `lockstep check` unchanged.
function(lockstep_add_conformance_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;TIER"
    "PROFILE;OPERATORS;PROPERTIES;SET;ARGUMENTS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "lockstep_add_conformance_test(${target}): unexpected "
      "${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "lockstep_add_conformance_test: there is no target ${target}")
  endif()
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(MODULE|SHARED)_LIBRARY$")
    set(backend "$<TARGET_FILE:${target}>")
  elseif(type STREQUAL "EXECUTABLE")
    set(backend "exec:'$<TARGET_FILE:${target}>'")
  else()
    message(FATAL_ERROR "lockstep_add_conformance_test: ${target} is a ${type}, neither a module "
      "or shared library nor an executable")
  endif()
  if(NOT DEFINED arg_NAME)
    set(arg_NAME "conformance.${target}")
  endif()
  set(words)
  foreach(choice TIER:tier PROFILE:profile OPERATORS:op PROPERTIES:property)
    string(REPLACE ":" ";" choice "${choice}")
    list(GET choice 0 keyword)
    list(GET choice 1 option)
    if(DEFINED arg_${keyword})
      list(JOIN arg_${keyword} "," value)
      list(APPEND words "--${option}" "${value}")
    endif()
  endforeach()
  foreach(setting IN LISTS arg_SET)
    list(APPEND words --set "${setting}")
  endforeach()
  set(report "${CMAKE_CURRENT_BINARY_DIR}/${target}.lockstep")
  add_test(NAME ${arg_NAME} COMMAND lockstep::lockstep check "${backend}" ${words}
    --json "${report}.json" --junit "${report}.xml" ${arg_ARGUMENTS})
endfunction()
