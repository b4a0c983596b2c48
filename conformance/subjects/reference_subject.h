/// @file
/// The reference as a subject in this process, without an adapter.
#pragma once
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

class ReferenceSubject : public Subject {
 public:
  const Manifest& manifest() const override { return manifest_; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred&, const Run&) override {
    Answer a;
    for (Tensor& t : reference::outputs(*c.op, c.attributes(), in))
      a.out.push_back(std::move(t.data));
    return a;
  }
  Answer refuse(const Case& c) override {
    return {.kind = AnswerKind::logic_error,
        .label = refusal(c).label(),
        .message = "refused by the subject"};
  }
  int configure(const Options&) override { return 0; }

 protected:
  Manifest manifest_ = default_manifest("reference");
};

}  // namespace lockstep::judge
