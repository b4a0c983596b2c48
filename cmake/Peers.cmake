# Tests that compare with implementations by other people. `./dev test` installs these in
# build/peers from peers/requirements.txt, and some as packages of the distribution. Without them
# the tests are reported as skipped.
if(LOCKSTEP_PEERS_PYTHON AND NOT EXISTS "${LOCKSTEP_PEERS_PYTHON}")
  unset(LOCKSTEP_PEERS_PYTHON CACHE)
endif()
find_program(LOCKSTEP_PEERS_PYTHON NAMES python NO_DEFAULT_PATH
  HINTS "${LOCKSTEP_ROOT}/build/peers/bin"
  DOC "Python that has the packages of cmake/peers/requirements.txt")
mark_as_advanced(LOCKSTEP_PEERS_PYTHON)
# /usr/bin first: the packages of a distribution belong to its own interpreter.
find_program(LOCKSTEP_SYSTEM_PYTHON NAMES python3 HINTS /usr/bin REQUIRED)
mark_as_advanced(LOCKSTEP_SYSTEM_PYTHON)
set(LOCKSTEP_PEERS "${CMAKE_CURRENT_LIST_DIR}/peers")

# lockstep_peer_test(<name> [SYSTEM] PEERS <module>... SCRIPT <file>.py [ARGUMENTS <word>...])
# A script run by the peers' Python, or with SYSTEM by the distribution's. It is skipped if a module
# is not installed.
function(lockstep_peer_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SYSTEM" "SCRIPT" "PEERS;ARGUMENTS")
  set(python "${LOCKSTEP_PEERS_PYTHON}")
  if(arg_SYSTEM)
    set(python "${LOCKSTEP_SYSTEM_PYTHON}")
  endif()
  if(python)
    list(JOIN arg_PEERS "," modules)
    add_test(NAME ${name} COMMAND "${python}" -B "${LOCKSTEP_PEERS}/run.py"
      "${modules}" "${arg_SCRIPT}" ${arg_ARGUMENTS})
  else()
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: no build/peers")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS peers TIMEOUT ${LOCKSTEP_TEST_SECONDS}
    SKIP_REGULAR_EXPRESSION "SKIPPED: no ")
endfunction()

# lockstep_browser_test(<name> SCRIPT <file>.py [ARGUMENTS <word>...])
# A script that is given a browser before its other arguments. It is skipped if none is installed.
function(lockstep_browser_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT" "ARGUMENTS")
  find_program(LOCKSTEP_TOOL_browser
    NAMES chromium-headless-shell chromium chromium-browser google-chrome HINTS /usr/bin)
  mark_as_advanced(LOCKSTEP_TOOL_browser)
  if(LOCKSTEP_TOOL_browser)
    add_test(NAME ${name} COMMAND "${LOCKSTEP_SYSTEM_PYTHON}" -B "${arg_SCRIPT}"
      "${LOCKSTEP_TOOL_browser}" ${arg_ARGUMENTS})
  else()
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: no chromium")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${LOCKSTEP_TEST_SECONDS}
    ENVIRONMENT "PYTHONPATH=${LOCKSTEP_ROOT}/docs/tests" SKIP_REGULAR_EXPRESSION "SKIPPED: no ")
endfunction()

lockstep_peer_test(peers.installed PEERS numpy tvm SCRIPT "${LOCKSTEP_PEERS}/installed.py"
  ARGUMENTS "${LOCKSTEP_PEERS}/requirements.txt")
