# Finds oneDNN as OneDNN::OneDNN. Debian's dnnl-config.cmake requires OpenCL's headers, which
# nothing here needs.
include(FindPackageHandleStandardArgs)
find_path(DNNL_INCLUDE_DIR dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)
find_package_handle_standard_args(OneDNN REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: libdnnl-dev")
if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES IMPORTED_LOCATION "${DNNL_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
endif()
