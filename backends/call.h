/// @file
/// Converts the specification's call into the client's, as bridge.h does the other way, to put
/// drawn calls to a backend.
#pragma once
#include "backends/client.hpp"
#include "spec/attributes.h"

namespace lockstep::client {

/// The attributes of a call that have an effect, in the specification's order.
inline Attributes attributes_of(const OpInfo& op, lockstep::Attributes values) {
  Attributes all;
  for (int i = 0; i < op.attrs.size(); ++i) {
    const AttrInfo& f = op.attrs[i];
    const Attr& v = values[i];
    if (f.ignored) continue;
    if (v.none)
      all.none(f.name);
    else if (f.kind == AttrKind::word)
      all.word(f.name, word_of(f, v.ints[0]));
    else if (f.kind == AttrKind::boolean)
      all.boolean(f.name, v.ints[0] != 0);
    else if (f.kind == AttrKind::tuple)
      all.tuple(f.name, {v.ints.begin(), static_cast<std::size_t>(v.ints.size)});
    else
      all.integer(f.name, v.ints[0]);
  }
  return all;
}

}  // namespace lockstep::client
