#include "conformance/verdict/outputs.h"

#include <stdexcept>

#include "conformance/base/base64.h"
#include "conformance/base/sha256.h"

namespace lockstep::judge {
namespace {

int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

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
  for (const std::vector<i32>& values : a.out) text += sha256(little_endian(values)) + "\n";
  return sha256(text);
}

}  // namespace lockstep::judge
