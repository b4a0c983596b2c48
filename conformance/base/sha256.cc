#include "conformance/base/sha256.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace lockstep::judge {
namespace {

void require(bool done) {
  if (!done) throw std::runtime_error("SHA-256 failed");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

void Sha256::add(string_view bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  require(EVP_DigestFinal_ex(context_.get(), digest, &n) == 1);
  std::string hex;
  for (unsigned i = 0; i < n; ++i)
    for (int nibble : {digest[i] >> 4, digest[i] & 15}) hex += "0123456789abcdef"[nibble];
  return hex;
}

std::string sha256(string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

bool is_hash(string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == string_view::npos;
}

}  // namespace lockstep::judge
