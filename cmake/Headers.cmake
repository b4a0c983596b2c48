# The headers that are installed, as paths from the root: LOCKSTEP_HEADERS keep theirs, and
# LOCKSTEP_C_HEADERS are included as <lockstep/NAME.h>. The site documents the same lists.
file(GLOB_RECURSE LOCKSTEP_HEADERS CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  spec/*.h containers/*.h runtime/*.h reference/graph/*.h)
list(FILTER LOCKSTEP_HEADERS EXCLUDE REGEX "/(tests|capi|zoo)/")
list(APPEND LOCKSTEP_HEADERS reference/evaluate.h backends/backend.h backends/backend.hpp
  backends/client.hpp backends/client_values.hpp)
set(LOCKSTEP_C_HEADERS runtime/capi/cvm.h reference/capi/reference.h)
