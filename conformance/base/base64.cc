#include "conformance/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lockstep::judge {
namespace {

using Byte = unsigned char;

// OpenSSL takes lengths as int and ends its output with a zero byte: encode block by block.
constexpr std::size_t kBlocks = 1024;

std::string encode(std::span<const Byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  Byte letters[4 * kBlocks + 1];
  for (std::size_t i = 0; i < bytes.size(); i += 3 * kBlocks) {
    const std::size_t n = std::min(3 * kBlocks, bytes.size() - i);
    const int written = EVP_EncodeBlock(letters, bytes.data() + i, static_cast<int>(n));
    text.append(letters, letters + written);
  }
  return text;
}

bool is_letter(char c) {
  return ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '+' ||
      c == '/';
}

// OpenSSL skips blanks and line ends at both edges; this function refuses them.
bool decode(std::string_view text, std::vector<Byte>& bytes) {
  if (text.size() % 4 != 0) return false;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  if (!std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), is_letter))
    return false;
  bytes.reserve(text.size() / 4 * 3);
  Byte block[3 * kBlocks];
  for (std::size_t i = 0; i < text.size(); i += 4 * kBlocks) {
    const std::string_view part = text.substr(i, 4 * kBlocks);
    const int n = EVP_DecodeBlock(
        block, reinterpret_cast<const Byte*>(part.data()), static_cast<int>(part.size()));
    if (n < 0) return false;
    bytes.insert(bytes.end(), block, block + n);
  }
  bytes.resize(bytes.size() - padding);
  if (padding == 0) return true;
  // Unused bits must be 0, so that a tensor has one spelling.
  const std::size_t tail = 3 - padding;
  const std::vector<Byte> last(bytes.end() - static_cast<std::ptrdiff_t>(tail), bytes.end());
  return encode(last) == text.substr(text.size() - 4);
}

}  // namespace

std::string little_endian(std::span<const i32> values) {
  if constexpr (std::endian::native == std::endian::little)
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  std::string bytes(4 * values.size(), '\0');
  char* to = bytes.data();
  for (const i32 v : values)
    for (int shift = 0; shift < 32; shift += 8)
      *to++ = static_cast<char>(static_cast<std::uint32_t>(v) >> shift);
  return bytes;
}

std::string to_base64(const std::vector<i32>& values) {
  const std::string bytes = little_endian(values);
  return encode({reinterpret_cast<const Byte*>(bytes.data()), bytes.size()});
}

std::optional<FromBase64> from_base64(std::string_view text) {
  std::vector<Byte> bytes;
  if (!decode(text, bytes)) return std::nullopt;
  FromBase64 r;
  r.bytes_left = static_cast<int>(bytes.size() % 4);
  r.values.reserve(bytes.size() / 4);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t v = 0;
    for (std::size_t b = 0; b < 4; ++b) v |= std::uint32_t{bytes[i + b]} << (8 * b);
    r.values.push_back(static_cast<i32>(v));
  }
  return r;
}

}  // namespace lockstep::judge
