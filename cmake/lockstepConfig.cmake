# find_package(lockstep) gives lockstep::spec (the headers of the specification and of the backend
# ABI), lockstep::operators (the table of operators) and lockstep::reference (what they compute).
include("${CMAKE_CURRENT_LIST_DIR}/lockstepTargets.cmake")
