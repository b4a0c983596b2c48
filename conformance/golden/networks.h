/// @file
/// The digests that the networks of the literature must have, as data and as a document.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "reference/graph/zoo/architectures.h"

namespace lockstep::judge {

/// SHA-256 of a network's files, of its seeded input and of the output for it.
struct NetworkDigest {
  std::string name;
  i64 size = 0;
  std::string symbol, params, input, output;

  bool operator==(const NetworkDigest&) const = default;
};

/// The digests of all networks for zoo::kSeed, in the order of the architectures; those of small
/// images first.
struct NetworkDigests {
  std::vector<NetworkDigest> networks;

  /// Null if there is none.
  const NetworkDigest* find(std::string_view name, i64 size) const;
};

/// @throws UsageError naming what is missing or wrong.
NetworkDigests read_networks(const std::string& text);
std::string write_networks(const NetworkDigests& digests);

/// The file of digests beside this program. @throws UsageError
NetworkDigests recorded_networks();

std::string digest(std::span<const std::byte> bytes);
/// All digests but that of the output, which takes a run.
NetworkDigest files_of(
    const graph::zoo::Architecture& architecture, i64 size, const graph::zoo::Network& network);

}  // namespace lockstep::judge
