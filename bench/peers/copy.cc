#include <cstring>

#include "bench/peers/peer.h"

namespace lockstep::bench {

Peer copy_peer(i64 bytes, const std::shared_ptr<Team>& team) {
  // Write the memory once: untouched memory would be one shared page of zeros.
  const auto half = static_cast<std::size_t>(bytes) / 2;
  const auto from = std::make_shared<std::vector<char>>(half, '\x11');
  const auto to = std::make_shared<std::vector<char>>(half, '\x22');
  Peer p{{.name = "memcpy"}};
  p.call = [from, to, team] {
    team->run([&](int k) {
      const std::size_t share = from->size() / static_cast<std::size_t>(team->size());
      const std::size_t first = share * static_cast<std::size_t>(k);
      const bool last = k + 1 == team->size();
      std::memcpy(to->data() + first, from->data() + first, last ? from->size() - first : share);
    });
    __asm__ volatile("" : : "r"(to->data()) : "memory");
  };
  return p;
}

}  // namespace lockstep::bench
