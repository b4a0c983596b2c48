/// @file
/// A backend's manifest: what it contains, and the claims it is held to.
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

/// Which calls of one operator are claimed. Absent members claim everything.
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
  Range threads{1, 64};            ///< numbers that the option `threads` takes, where there is one
  std::string determinism = "D0";  ///< the class: D0 to D3
  Errors errors = Errors::none;

  /// Whether a backend stated it; a door without manifests has no kernels to name either.
  bool stated() const { return !text.empty(); }
  /// Whether a call is inside the claims.
  bool claims_call(const Case& c) const;
  /// Whether any call of the operator is.
  bool claims_operator(string_view op) const;
  const KernelInfo* kernel(string_view op, string_view name) const;
  bool has_option(string_view name) const;
};

/// Reads a manifest.
/// @throws UsageError naming the key that is missing or wrong.
Manifest parse_manifest(const std::string& json);

/// The manifest of a door that has none: every operator, texts compared by label.
Manifest default_manifest(const std::string& name);

}  // namespace lockstep::judge
