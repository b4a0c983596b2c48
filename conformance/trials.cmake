# trials_sources: what judges one case, without processes or reports. That is all that fuzz targets
# and the playground of the site need.
set(trials_sources base/*.cc cases/case.cc cases/fill.cc cases/item.cc cases/call_graph.cc
  cases/layout.cc cases/malformed_graph.cc cases/mutate.cc cases/smaller_graphs.cc
  cases/spelling.cc jsonl/*.cc subjects/eval.cc subjects/manifest.cc subjects/subject.cc trial/*.cc)
list(TRANSFORM trials_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
file(GLOB trials_sources CONFIGURE_DEPENDS ${trials_sources})
