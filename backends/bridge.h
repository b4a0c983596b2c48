/// @file
/// Converts the ABI's call into the specification's, for backends that use the latter's code.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep::backend {

/// A legal call in the specification's types. The views have types and strides, but no data yet.
struct LegalCall {
  const OpInfo* op = nullptr;
  std::vector<Attr> attrs;
  std::vector<View> in;
  std::vector<Out> out;
  Attributes attributes() const { return {attrs.data(), static_cast<int>(attrs.size())}; }
};

/// Views of one execution: those of the call, with its data.
template <class V, class T> std::vector<V> bound(std::vector<V> views, T* const* data) {
  for (std::size_t k = 0; k < views.size(); ++k) views[k].data = data[k];
  return views;
}

inline Type type_of(const ls_tensor& t) {
  Type type;
  type.precision = t.precision;
  for (int d = 0; d < t.dl.ndim; ++d) type.shape.push(t.dl.shape[d]);
  return type;
}

/// The value of an attribute in the specification's type; one without effect keeps its default.
inline Attr attr_of(const Call& call, const AttrInfo& f) {
  if (f.ignored) return f.fallback;
  const ls_attr& a = call.attr(f.name);
  if (f.kind == AttrKind::word) return f.fallback;
  Attr v{f.kind, a.kind == LS_NONE, {}};
  for (uint32_t i = 0; i < a.count; ++i) v.ints.push(a.ints[i]);
  return v;
}

/// The values of a call's attributes. Where each is a text, they are read as the grammar says.
/// @throws LogicError with the label of the first violation.
inline std::vector<Attr> attrs_of(const Call& call, const OpInfo& op) {
  std::vector<Attr> values;
  std::vector<std::pair<std::string, std::string>> texts;
  for (const ls_attr& a : call.attrs)
    if (a.kind == LS_TEXT) texts.emplace_back(a.key, a.text);
  if (texts.size() < call.attrs.size()) {
    for (const AttrInfo& f : op.attrs) values.push_back(attr_of(call, f));
    return values;
  }
  ReadAttributes read = read_attributes(op, texts);
  if (!read.label.empty()) throw LogicError(read.label, read.message);
  return std::move(read.values);
}

/// Checks attributes and input types against every rule.
/// @return the types of the outputs. @throws LogicError with the label of the first violation.
inline Inferred checked_types(const Call& call, const OpInfo*& op, std::vector<Attr>& attrs) {
  op = find_operator(call.op);
  if (!op) throw LogicError("op.unknown", "no operator " + std::string(call.op));
  attrs = attrs_of(call, *op);
  std::vector<Type> in;
  for (const ls_tensor& t : call.in) in.push_back(type_of(t));
  const Attributes values{attrs.data(), static_cast<int>(attrs.size())};
  const Types types{in.data(), static_cast<int>(in.size())};
  if (const Refusal r = check(*op, values, types); r.refused())
    throw LogicError(r.label(), explain(*op, r, values, types));
  return op->infer(values, types);
}

/// A view without data in the layout a call was prepared with.
template <class V> V view_of(const ls_tensor& t) {
  V v(type_of(t), nullptr);
  // The stride of an extent of 1 has no meaning, so the row-major one is kept.
  for (int d = 0; d < v.rank(); ++d)
    if (v.dim(d) != 1) v.stride[d] = t.dl.strides[d];
  v.compact = compact(t);
  return v;
}

/// The checked call with its layouts.
/// @throws LogicError with the label of the first violation, or `backend.outputs` if the outputs do
/// not have the inferred types.
inline LegalCall legal_call(const Call& call) {
  LegalCall c;
  const Inferred y = checked_types(call, c.op, c.attrs);
  for (const ls_tensor& t : call.in) c.in.push_back(view_of<View>(t));
  for (const ls_tensor& t : call.out) c.out.push_back(view_of<Out>(t));
  bool same = static_cast<int>(c.out.size()) == y.count;
  for (int k = 0; same && k < y.count; ++k)
    same = static_cast<const Type&>(c.out[static_cast<std::size_t>(k)]) == y[k];
  if (!same) throw LogicError("backend.outputs", "the outputs do not have the inferred types");
  return c;
}

inline std::vector<TensorType> inferred_types(const Call& call) {
  const OpInfo* op = nullptr;
  std::vector<Attr> attrs;
  const Inferred y = checked_types(call, op, attrs);
  std::vector<TensorType> types;
  for (int k = 0; k < y.count; ++k)
    types.push_back({{y[k].shape.begin(), y[k].shape.end()}, y[k].precision});
  return types;
}

}  // namespace lockstep::backend
