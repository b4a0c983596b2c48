#include <algorithm>
#include <cstring>

#include "bench/peers/peer.h"

namespace lockstep::bench {
namespace {

constexpr std::size_t kShare = std::size_t{1} << 18;  // bytes that a thread copies, at least

}  // namespace

Peer copy_peer(i64 bytes, const std::shared_ptr<Team>& team) {
  // Write the memory once: untouched memory would be one shared page of zeros.
  const auto half = static_cast<std::size_t>(bytes) / 2;
  const auto from = std::make_shared<std::vector<char>>(half, '\x11');
  const auto to = std::make_shared<std::vector<char>>(half, '\x22');
  // Waking a thread costs more than copying so little.
  const int threads = std::clamp(static_cast<int>(half / kShare), 1, team->size());
  const auto share = [from, to, threads](int k) {
    const std::size_t size = from->size() / static_cast<std::size_t>(threads);
    const std::size_t first = size * static_cast<std::size_t>(k);
    const bool last = k + 1 == threads;
    if (k < threads)
      std::memcpy(to->data() + first, from->data() + first, last ? from->size() - first : size);
    __asm__ volatile("" : : "r"(to->data()) : "memory");
  };
  Peer p{{.name = "memcpy"}};
  p.call = [share, threads, team] { threads > 1 ? team->run(share) : share(0); };
  return p;
}

}  // namespace lockstep::bench
