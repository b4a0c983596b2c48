/// @file
/// The functions of OpenSSL that the judge calls, for WebAssembly, where there is no OpenSSL.
#pragma once
#include <cstddef>

// NOLINTBEGIN(readability-identifier-naming): the names are OpenSSL's.
inline constexpr int EVP_MAX_MD_SIZE = 64;
struct EVP_MD;

/// Stands for SHA-256, the only hash.
inline const EVP_MD* EVP_sha256() { return nullptr; }

/// Writes the 32 bytes of SHA-256. @return 1
int EVP_Digest(const void* data, std::size_t size, unsigned char* digest, unsigned* digest_size,
    const EVP_MD* type, void* engine);

/// Writes base64 and a zero byte. @return the number of letters
int EVP_EncodeBlock(unsigned char* letters, const unsigned char* bytes, int size);

/// Reads base64 without blanks; padding counts as zero bytes.
/// @return the number of bytes, or -1 where it is no base64
int EVP_DecodeBlock(unsigned char* bytes, const unsigned char* letters, int size);
// NOLINTEND(readability-identifier-naming)
