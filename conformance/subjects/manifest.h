/// @file
/// A backend's manifest: its kernels, options and claims.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

using Options = std::map<std::string, std::string>;

/// A kernel that a backend says it contains.
struct KernelInfo {
  std::string op, name, isa;  ///< op "*" stands for every claimed operator
  bool runnable = false;
};

/// The claimed calls of one operator. Members that the manifest leaves out claim everything.
struct Claim {
  std::string op;  ///< "*" for every operator without a claim of its own
  Range rank{1, kMaxRank}, precision{1, kMaxPrecision}, extent{1, kMaxExtent};
  std::map<std::string, std::vector<std::string>> attrs;  ///< legal texts per attribute
};

enum class Errors { label, cls, none };  ///< what an illegal call is answered with

struct Manifest {
  std::string name, version, device, text;  ///< text: the JSON itself, hashed into reports
  std::vector<KernelInfo> kernels;
  std::vector<Claim> claims;
  std::vector<std::string> options;
  bool strided = false;
  bool reads_text = false;         ///< attributes may be text in any legal spelling
  Range threads{1, 64};            ///< legal values of the option `threads`, if it exists
  std::string determinism = "D0";  ///< the class: D0 to D3
  Errors errors = Errors::none;

  /// Whether the backend stated it. Adapters without manifests name no kernels either.
  bool stated() const { return !text.empty(); }
  /// Whether a call is inside the claims.
  bool claims_call(const Case& c) const;
  /// Whether any call of the operator is inside the claims.
  bool claims_operator(string_view op) const;
  const KernelInfo* kernel(string_view op, string_view name) const;
  bool has_option(string_view name) const;
};

/// Reads a manifest.
/// @throws UsageError naming the key that is missing or wrong.
Manifest parse_manifest(const std::string& json);

/// The manifest of an adapter without one: it claims every operator, with errors by label.
Manifest default_manifest(const std::string& name);

}  // namespace lockstep::judge
