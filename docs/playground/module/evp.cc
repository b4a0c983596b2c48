#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

// SHA-256 as FIPS 180-4 writes it, and base64 as RFC 4648 does.
namespace {

using Word = std::uint32_t;
using Block = std::array<unsigned char, 64>;
using State = std::array<Word, 8>;

constexpr State kStart = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr Word kRound[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb,
    0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
    0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb,
    0xbef9a3f7, 0xc67178f2};
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void add_block(State& state, const Block& block) {
  Word w[64];
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = Word{block[4 * i]} << 24 | Word{block[4 * i + 1]} << 16 | Word{block[4 * i + 2]} << 8 |
        Word{block[4 * i + 3]};
  for (std::size_t i = 16; i < 64; ++i) {
    const Word s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const Word s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const Word s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const Word s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (std::size_t k = 0; k < state.size(); ++k) state[k] += added[k];
}

}  // namespace

int EVP_Digest(const void* data, std::size_t size, unsigned char* digest, unsigned* digest_size,
    const EVP_MD* /*type*/, void* /*engine*/) {
  State state = kStart;
  Block block = {};
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::size_t filled = 0;
  const auto put = [&](unsigned char byte) {
    block[filled++] = byte;
    if (filled == block.size()) add_block(state, block), filled = 0;
  };
  std::for_each(bytes, bytes + size, put);
  put(0x80);
  while (filled != 56) put(0);
  for (int shift = 56; shift >= 0; shift -= 8)
    put(static_cast<unsigned char>(std::uint64_t{size} * 8 >> shift));
  for (std::size_t i = 0; i < 32; ++i)
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  *digest_size = 32;
  return 1;
}

int EVP_EncodeBlock(unsigned char* letters, const unsigned char* bytes, int size) {
  int n = 0;
  for (int i = 0; i < size; i += 3) {
    const int left = std::min(3, size - i);
    unsigned group = 0;
    for (int k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0U);
    for (int k = 0; k < 4; ++k)
      letters[n++] =
          static_cast<unsigned char>(k <= left ? kLetters[group >> (18 - 6 * k) & 63U] : '=');
  }
  letters[n] = 0;
  return n;
}

int EVP_DecodeBlock(unsigned char* bytes, const unsigned char* letters, int size) {
  int n = 0;
  for (int i = 0; i < size; i += 4) {
    unsigned group = 0;
    for (int k = 0; k < 4; ++k) {
      const auto letter = static_cast<char>(letters[i + k]);
      const std::size_t value = letter == '=' ? 0 : kLetters.find(letter);
      if (value == kLetters.npos) return -1;
      group = group << 6 | static_cast<unsigned>(value);
    }
    for (int shift = 16; shift >= 0; shift -= 8)
      bytes[n++] = static_cast<unsigned char>(group >> shift);
  }
  return n;
}
