# The tests of `./dev lint`, with the label `quality`, which `./dev test` leaves out. They read
# sources and need no build. A test whose tool is not installed is reported as skipped; `./dev lint`
# installs all tools.

# _lockstep_quality_test(<name> NEEDS <program>... COMMAND <word>... [PROPERTIES <key> <value>...])
# In the command, % stands for the program that was found, the first of NEEDS.
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
  COMMAND python3 "${quality}/sources.py" shell "${PROJECT_SOURCE_DIR}" %)
_lockstep_quality_test(format NEEDS clang-format-14 clang-format
  COMMAND python3 "${quality}/sources.py" cxx "${PROJECT_SOURCE_DIR}" %
    --dry-run -Werror --ferror-limit=3 --style=file)
# clang-tidy uses every processor, so CTest starts nothing beside it.
_lockstep_quality_test(tidy NEEDS clang-tidy-14 clang-tidy
  COMMAND python3 "${quality}/tidy.py" % "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
  PROPERTIES TIMEOUT 4000 RUN_SERIAL ON)

# GoogleTest prints a parameter without a name as bytes, which may include addresses.
get_property(programs GLOBAL PROPERTY LOCKSTEP_TEST_PROGRAMS)
if(LOCKSTEP_TESTS)
  add_test(NAME tests.names
    COMMAND "${LOCKSTEP_SYSTEM_PYTHON}" -B "${quality}/test_names.py" ${programs}
    WORKING_DIRECTORY "${LOCKSTEP_ROOT}")
endif()
