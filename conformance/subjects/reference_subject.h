/// @file
/// The reference as a subject in this process, without an adapter.
#pragma once
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

class ReferenceSubject : public Subject {
 public:
  const Manifest& manifest() const override { return manifest_; }
  bool shares_memory() const override { return false; }
  bool can_infer() const override { return false; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred&, const Run&) override {
    Answer a;
    for (Tensor& t : reference::outputs(*c.op, c.attributes(), in))
      a.out.push_back(std::move(t.data));
    return a;
  }
  Answer refuse(const Case& c) override {
    const Refusal r = refusal(c);
    Answer a;
    a.kind = AnswerKind::logic_error;
    a.label = r.label();
    a.message = "refused by the subject";
    return a;
  }
  Answer infer(const Case&) override { return {}; }
  int configure(const Options&) override { return 0; }

 protected:
  Manifest manifest_ = default_manifest("reference");
};

}  // namespace lockstep::judge
