/// @file
/// The reference as a subject in this process, for tests that are about lines and not about doors.
#pragma once
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

class ReferenceSubject : public Subject {
 public:
  const Manifest& manifest() const override { return manifest_; }
  bool shares_memory() const override { return false; }
  bool can_infer() const override { return false; }
  Answer execute(const Case& c, const std::vector<Tensor>& in, const Inferred&,
                 const Run&) override {
    Answer a;
    for (Tensor& t : reference::outputs(*c.op, c.attributes(), in))
      a.out.push_back(std::move(t.data));
    return a;
  }
  Answer refuse(const Case& c) override {
    const Refusal r = refusal(c);
    Answer a;
    a.kind = Answer::Kind::logic_error;
    a.label = r.label();
    a.message = "refused by the subject";
    return a;
  }
  Answer infer(const Case&) override { return {}; }
  int configure(const Options&) override { return 0; }

 protected:
  Manifest manifest_ = default_manifest("reference");
};

/// Example `i` of an operator as a case with its values written out.
inline Case example_case(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  Case c;
  c.op = &op;
  c.attrs.assign(e.call.attrs, e.call.attrs + e.call.attr_count);
  c.in.assign(e.call.in, e.call.in + e.call.in_count);
  c.fill = Fill::literal;
  for (int k = 0; k < e.call.in_count; ++k)
    c.data.emplace_back(e.in[k].data.begin(), e.in[k].data.end());
  return c;
}

}  // namespace lockstep::judge
