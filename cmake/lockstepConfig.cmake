# find_package(lockstep) gives lockstep::spec (the headers of the specification and of the backend
# ABI), lockstep::operators (the table of operators), lockstep::reference (what they compute),
# lockstep::reference_c (the same for C: #include <lockstep/reference.h>), lockstep::cvm (arrays and
# parameter files for C: #include <lockstep/cvm.h>), the program lockstep::lockstep, and the
# function lockstep_add_conformance_test().
include("${CMAKE_CURRENT_LIST_DIR}/lockstepTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/LockstepConformance.cmake")
