#include "conformance/verdict/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "conformance/base/base64.h"
#include "conformance/base/form.h"
#include "conformance/base/sha256.h"
#include "spec/text.h"

namespace lockstep::judge {
namespace {

// Whether an answer states wrong types, which alone enter its hash. Only adapters state types.
bool states_other_types(const Answer& a, const Inferred& types) {
  bool other = !a.types.empty() && std::cmp_not_equal(a.types.size(), types.count);
  for (int k = 0; !other && k < std::ssize(a.types); ++k) {
    const auto& [shape, precision] = a.types[static_cast<std::size_t>(k)];
    other = (precision != 0 && precision != types[k].precision) ||
        !std::equal(shape.begin(), shape.end(), types[k].shape.begin(), types[k].shape.end());
  }
  return other;
}

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

std::string output_hash(const std::string& id, const Answer& a, const Inferred& types) {
  std::string text = id + "\n" + std::string(name_of(a.kind)) + " " + a.label + "\n";
  for (const std::vector<i32>& values : a.out) text += sha256(little_endian(values)) + "\n";
  if (states_other_types(a, types))
    for (const auto& [shape, precision] : a.types)
      text += fmt::format("{} {}\n", shape_text(shape), precision);
  return sha256(text);
}

i64 digested(const std::map<std::string, Outputs>& by_operator) {
  i64 n = 0;
  for (const auto& [op, o] : by_operator) n = std::min(n + o.calls, form::kMaxCount);
  return n;
}

std::string digest_of(const std::map<std::string, Outputs>& by_operator) {
  std::string lines;
  for (const auto& [op, o] : by_operator) lines += fmt::format("{} {} {}\n", op, o.calls, o.sum);
  return sha256(lines);
}

std::string digest_line(
    const std::map<std::string, Outputs>& by_operator, const std::string& set_hash) {
  return fmt::format(
      "{} calls  set {}  outputs {}", digested(by_operator), set_hash, digest_of(by_operator));
}

}  // namespace lockstep::judge
