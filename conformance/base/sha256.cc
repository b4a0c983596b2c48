#include "conformance/base/sha256.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace lockstep::judge {

std::string sha256(string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &n, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 failed");
  std::string hex;
  for (unsigned i = 0; i < n; ++i)
    for (int nibble : {digest[i] >> 4, digest[i] & 15}) hex += "0123456789abcdef"[nibble];
  return hex;
}

bool is_hash(string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == string_view::npos;
}

}  // namespace lockstep::judge
