#include "fuzz/target.h"

#include <cstdio>
#include <cstdlib>
#include <set>

#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep::fuzz {
namespace {

std::set<std::string, std::less<>> labels_of_calls() {
  std::set<std::string, std::less<>> labels;
  for (const SharedLabel& l : kSharedLabels) labels.emplace(l.label);
  for (const OpInfo* op : operators())
    for (const OwnLabel& l : own_labels(*op)) labels.insert(l.label);
  return labels;
}

// A sum of volumes, each of which saturates.
template <class Some> i64 elements(const Some& types, int count) {
  i64 n = 0;
  for (int k = 0; k < count; ++k) n += volume(types[k].shape);
  return n;
}

}  // namespace

void violated(const std::string& what) {
  std::fprintf(stderr, "VIOLATED: %s\n", what.c_str());
  std::abort();
}

bool is_label_of_calls(std::string_view label) {
  static const auto labels = labels_of_calls();
  return labels.contains(label);
}

i64 work(Types in, const Inferred& out) {
  const i64 read = elements(in, in.size()), written = elements(out, out.count);
  return read > kMaxWork / written ? kMaxWork + 1 : read * written;
}

}  // namespace lockstep::fuzz
