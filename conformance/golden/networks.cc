#include "conformance/golden/networks.h"

#include <algorithm>

#include "conformance/base/form.h"
#include "conformance/base/places.h"
#include "conformance/base/read_file.h"

namespace lockstep::judge {

template <class F> void fields(F& form, form::Like<NetworkDigest> auto& d) {
  form("network", d.name);
  form("size", d.size, {.min = 1, .text = "height and width of its image"});
  form("symbol", d.symbol, {.hash = true, .text = "of symbol.json"});
  form("params", d.params, {.hash = true, .text = "of params"});
  form("input", d.input, {.hash = true, .text = "of input.bin"});
  form("output", d.output, {.hash = true, .text = "of the bytes that the model makes of it"});
}

template <class F> void fields(F& form, form::Like<NetworkDigests> auto& d) {
  form("networks", d.networks);
}

const NetworkDigest* NetworkDigests::find(std::string_view name, i64 size) const {
  const auto found = std::find_if(networks.begin(), networks.end(),
      [&](const NetworkDigest& d) { return d.name == name && d.size == size; });
  return found == networks.end() ? nullptr : &*found;
}

NetworkDigests read_networks(const std::string& text) {
  return form::loaded<NetworkDigests>(form::json_of(text));
}

std::string write_networks(const NetworkDigests& digests) {
  return form::written(digests).dump(1) + "\n";
}

NetworkDigests recorded_networks() { return read_networks(read_file(networks_file())); }

std::string digest(std::span<const std::byte> bytes) {
  return sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

NetworkDigest files_of(
    const graph::zoo::Architecture& architecture, i64 size, const graph::zoo::Network& network) {
  const std::string symbol = graph::zoo::write_symbol(network.symbol);
  return {std::string(architecture.name), size, sha256(symbol),
      digest(params::write(network.parameters)),
      digest(graph::zoo::seeded_input(graph::Graph(symbol), graph::zoo::kSeed)), {}};
}

}  // namespace lockstep::judge
