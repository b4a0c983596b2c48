#include "conformance/verdict/outputs.h"

#include <bit>
#include <stdexcept>

#include "conformance/base/sha256.h"

namespace lockstep::judge {
namespace {

int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// Hashes little-endian values on every machine.
std::string hash_of(const std::vector<i32>& values) {
  if constexpr (std::endian::native == std::endian::little)
    return sha256({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(i32)});
  std::string bytes;
  for (i32 v : values)
    for (int shift : {0, 8, 16, 24})
      bytes += static_cast<char>(static_cast<std::uint32_t>(v) >> shift & 0xff);
  return sha256(bytes);
}

}  // namespace

void Outputs::add(const std::string& hash) {
  if (!is_hash(hash)) throw std::invalid_argument("outputs have no hash '" + hash + "'");
  add({1, hash});
}

void Outputs::add(const Outputs& more) {
  calls += more.calls;
  int carry = 0;
  for (std::size_t k = sum.size(); k-- > 0;) {
    const int digit = nibble(sum[k]) + nibble(more.sum[k]) + carry;
    sum[k] = "0123456789abcdef"[digit & 15];
    carry = digit >> 4;
  }
}

std::string output_hash(const std::string& id, const Answer& a) {
  std::string text = id + "\n" + std::string(name_of(a.kind)) + " " + a.label + "\n";
  for (const std::vector<i32>& values : a.out) text += hash_of(values) + "\n";
  return sha256(text);
}

}  // namespace lockstep::judge
