#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "bench/peers/peer.h"
#include "runtime/backends.h"

namespace lockstep::bench {
namespace {

// Modules stay loaded, because the peers that they made may outlive any owner here.
const PeerModule* load(const std::filesystem::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? static_cast<const PeerModule*>(::dlsym(library, "lockstep_peer_module"))
                 : nullptr;
}

std::vector<const PeerModule*> load_all() {
  const std::filesystem::path directory =
      std::filesystem::path(runtime::backend_directory()) / "peers";
  std::vector<std::filesystem::path> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(directory, absent))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<const PeerModule*> modules;
  for (const auto& file : files)
    if (const PeerModule* m = load(file)) modules.push_back(m);
  return modules;
}

const Attr& attribute(const Workload& w, string_view name) {
  for (int i = 0; i < w.call.op->attrs.size(); ++i)
    if (w.call.op->attrs[i].name == name) return w.call.attrs[static_cast<std::size_t>(i)];
  throw std::out_of_range("no attribute " + std::string(name));
}

MatrixCall::Extents extents(const auto& list) { return {list.begin(), list.end()}; }

MatrixCall matrix_call(
    const Workload& w, const std::vector<judge::Tensor>& in, const judge::Tensor& expected) {
  MatrixCall call{.convolution = w.call.op->name == "conv2d",
      .x = extents(in[0].type.shape),
      .w = extents(in[1].type.shape),
      .y = extents(expected.type.shape),
      .x_values = in[0].data.data(),
      .w_values = in[1].data.data(),
      .y_values = expected.data.data()};
  if (!call.convolution) return call;
  call.strides = extents(attribute(w, "strides").ints);
  call.padding = extents(attribute(w, "padding").ints);
  call.dilation = extents(attribute(w, "dilation").ints);
  call.groups = attribute(w, "groups").ints[0];
  return call;
}

}  // namespace

const std::vector<const PeerModule*>& peer_modules() {
  static const std::vector<const PeerModule*> modules = load_all();
  return modules;
}

std::string peer_names() {
  std::string names;
  for (const PeerModule* m : peer_modules()) names += (names.empty() ? "" : ", ") + m->name();
  return names.empty() ? "no peer library" : names;
}

std::vector<Peer> module_peers(const PeerModule& module, const Workload& workload,
    const std::vector<judge::Tensor>& in, const judge::Tensor& expected, int threads) {
  const bool served = workload.unit == Unit::macs && in.size() == 2 && in[0].type.precision <= 8 &&
      in[1].type.precision <= 8;
  std::vector<Peer> peers;
  if (!served) return peers;
  for (ModulePeer& p : module.prepare(matrix_call(workload, in, expected), threads)) {
    Peer peer{{.name = module.name(),
        .layout = p.layout,
        .implementation = p.implementation,
        .trouble = p.trouble,
        .different = p.different,
        .compared = std::ssize(expected.data)}};
    peer.call = std::move(p.call);
    peer.start = std::move(p.start);
    peers.push_back(std::move(peer));
  }
  return peers;
}

std::vector<Timing> time_beside(Measurement& row, const Contender& ours,
    const std::vector<Peer>& peers, const std::vector<Contender>& others, const Effort& effort) {
  std::vector<Contender> contenders{ours};
  for (const Peer& p : peers)
    if (p.trouble.empty()) contenders.push_back(p.call);
  contenders.insert(contenders.end(), others.begin(), others.end());
  const std::vector<Timing> times = measure(contenders, effort);
  auto next = times.begin();
  row.time = *next++;
  for (const Peer& p : peers) {
    row.peers.push_back(p);
    if (p.trouble.empty()) row.peers.back().time = *next++;
  }
  return {next, times.end()};
}

std::vector<Peer> device_copy(const std::string& device, i64 bytes) {
  std::vector<Peer> all;
  for (const PeerModule* m : peer_modules())
    if (m->copy && m->device == device)
      for (ModulePeer& p : m->copy(bytes)) {
        all.push_back({{.name = p.implementation, .trouble = p.trouble}});
        all.back().call = std::move(p.call);
      }
  return all;
}

std::vector<Bound> device_bounds(const std::string& device, i64 macs, i64 bytes) {
  std::vector<Bound> all;
  for (const PeerModule* m : peer_modules()) {
    if (!m->products || m->device != device) continue;
    int64_t of_run = 1;
    for (ModulePeer& p : m->products(&of_run))
      all.push_back({p.implementation, static_cast<double>(of_run) / static_cast<double>(macs),
          std::move(p.call)});
  }
  for (Peer& p : device_copy(device, bytes)) all.push_back({p.name, 1, std::move(p.call)});
  return all;
}

}  // namespace lockstep::bench
