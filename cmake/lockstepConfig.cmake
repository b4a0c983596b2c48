# find_package(lockstep) gives lockstep::spec (the headers of the specification and of the backend
# ABI), lockstep::operators (the table of operators), lockstep::reference (what they compute) and
# lockstep::cvm (arrays and parameter files for C: #include <lockstep/cvm.h>).
include("${CMAKE_CURRENT_LIST_DIR}/lockstepTargets.cmake")
