# What `./dev lint` runs, as tests with the label `quality`, which `./dev test` leaves out. They
# read sources: nothing has to be built for them. A tool that a developer's machine lacks skips its
# test in sight; `./dev lint` installs them all.

# _lockstep_quality_test(<name> NEEDS <program>... COMMAND <word>... [PROPERTIES <key> <value>...])
# In the command, % is the program that was found: the first of the names NEEDS lists.
function(_lockstep_quality_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "NEEDS;COMMAND;PROPERTIES")
  list(GET arg_NEEDS -1 tool)
  string(MAKE_C_IDENTIFIER "LOCKSTEP_TOOL_${tool}" variable)
  find_program(${variable} NAMES ${arg_NEEDS})
  mark_as_advanced(${variable})
  if(${variable})
    list(TRANSFORM arg_COMMAND REPLACE "^%$" "${${variable}}")
    add_test(NAME quality.${name} COMMAND ${arg_COMMAND})
  else()
    add_test(NAME quality.${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: no ${tool}")
  endif()
  set_tests_properties(quality.${name} PROPERTIES LABELS quality TIMEOUT 300
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" ENVIRONMENT PYTHONDONTWRITEBYTECODE=1
    SKIP_REGULAR_EXPRESSION "SKIPPED: no " ${arg_PROPERTIES})
endfunction()

set(quality "${PROJECT_SOURCE_DIR}/cmake/quality")
_lockstep_quality_test(rules NEEDS python3 COMMAND % "${quality}/rules.py" "${PROJECT_SOURCE_DIR}")
_lockstep_quality_test(self NEEDS python3 COMMAND % "${quality}/test_quality.py")
_lockstep_quality_test(self_tidy NEEDS python3 COMMAND % "${quality}/test_tidy.py")
_lockstep_quality_test(shell NEEDS shellcheck
  COMMAND python3 "${quality}/shell.py" % "${PROJECT_SOURCE_DIR}")
_lockstep_quality_test(format NEEDS clang-format-14 clang-format
  COMMAND python3 "${quality}/format.py" % "${PROJECT_SOURCE_DIR}")
# clang-tidy takes every processor for itself; CTest knows and starts nothing beside it.
_lockstep_quality_test(tidy NEEDS clang-tidy-14 clang-tidy
  COMMAND python3 "${quality}/tidy.py" % "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
  PROPERTIES TIMEOUT 1500 RUN_SERIAL ON)

# What GoogleTest prints of a parameter without a name is its bytes, addresses among them.
get_property(programs GLOBAL PROPERTY LOCKSTEP_TEST_PROGRAMS)
if(LOCKSTEP_TESTS)
  add_test(NAME tests.names
    COMMAND "${LOCKSTEP_SYSTEM_PYTHON}" -B "${quality}/test_names.py" ${programs})
endif()
