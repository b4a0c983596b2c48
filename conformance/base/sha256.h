/// @file
/// SHA-256, by which cases, outputs and files are compared.
#pragma once
#include <memory>
#include <string>

#include "spec/op.h"

struct evp_md_ctx_st;

namespace lockstep::judge {

/// SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(string_view bytes);
  /// The hash of all, in lower-case hexadecimal; nothing can be added after.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// SHA-256 of a text, in lower-case hexadecimal.
std::string sha256(string_view text);

/// Whether a text is a SHA-256 in lower-case hexadecimal.
bool is_hash(string_view text);

}  // namespace lockstep::judge
