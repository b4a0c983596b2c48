/// @file
/// A backend that runs in this process, so that the fuzzer's sanitizers see its kernels, which a
/// worker process would hide.
#pragma once
#include "backends/client.hpp"
#include "conformance/subjects/subject.h"

namespace lockstep::fuzz {

/// Puts calls and graphs to a library, which may be linked in. Each tensor is a heap block of its
/// exact size.
class DirectSubject : public judge::Subject {
 public:
  /// @throws UsageError where open() refuses the options.
  DirectSubject(const client::Library& library, const judge::Options& options);

  const judge::Manifest& manifest() const override { return manifest_; }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return library_.has_infer(); }
  bool can_compile() const override { return library_.has_compile(); }
  bool reads_int8() const override { return library_.has_int8_constants(); }
  judge::Answer execute(const judge::Case& c, const std::vector<judge::Tensor>& in,
      const Inferred& out, const judge::Run& run) override;
  judge::Answer refuse(const judge::Case& c) override;
  judge::Answer infer(const judge::Case& c) override;
  std::vector<judge::Answers> ask(const std::vector<judge::Question>& questions) override;
  int configure(const judge::Options& more) override;

 private:
  judge::Answer run_graph(const judge::Question& q);

  client::Library library_;
  judge::Options options_;
  judge::Manifest manifest_;
  std::vector<client::Backend> opened_;  // by configuration
};

}  // namespace lockstep::fuzz
