/// @file
/// The part of the zip format that .npz files use: stored and deflated members, 64-bit sizes. Field
/// names and numbers are those of its specification (APPNOTE 6.3), in the order of a file.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "containers/params/npz.h"

namespace lockstep::params::npz {

inline constexpr std::uint32_t kLocalSignature = 0x04034B50;  ///< before each member
inline constexpr std::uint32_t kEntrySignature = 0x02014B50;  ///< of an entry of the directory
inline constexpr std::uint32_t kEndSignature = 0x06054B50;    ///< of the end of the directory
inline constexpr std::uint32_t kEnd64Signature = 0x06064B50;  ///< of its 64-bit form
/// Of the record that leads to that form.
inline constexpr std::uint32_t kLocatorSignature = 0x07064B50;
// How many bytes these records have, names and extra fields aside.
inline constexpr std::uint64_t kLocalSize = 30;    ///< of the header before a member
inline constexpr std::uint64_t kEntrySize = 46;    ///< of an entry of the directory
inline constexpr std::uint64_t kEndSize = 22;      ///< of the end of the directory
inline constexpr std::uint64_t kEnd64Size = 56;    ///< of its 64-bit form
inline constexpr std::uint64_t kLocatorSize = 20;  ///< of the record that leads to that form
inline constexpr std::uint16_t kEncrypted = 1;     ///< a flag: the bytes are encrypted
inline constexpr std::uint16_t kSizesFollow = 8;   ///< a flag: sizes stand behind the bytes
inline constexpr std::uint16_t kUtf8 = 0x800;      ///< a flag: the name is UTF-8
inline constexpr std::uint16_t kStored = 0;        ///< a method: the bytes as they are
inline constexpr std::uint16_t kDeflated = 8;      ///< a method: deflate
inline constexpr std::uint16_t kExtra64 = 1;       ///< the id of the extra field with 64-bit sizes
/// A field that says that the number is in a 64-bit one elsewhere.
inline constexpr std::uint16_t kElsewhere16 = 0xFFFF;
/// The same of a number of 32 bits.
inline constexpr std::uint32_t kElsewhere32 = 0xFFFFFFFF;

/// A member as the directory describes it.
struct Member {
  std::string name;                ///< as the directory spells it
  std::uint16_t flags = 0;         ///< bits such as kEncrypted
  std::uint16_t method = kStored;  ///< how the bytes are packed
  std::uint32_t checksum = 0;      ///< CRC-32 of what it holds
  std::uint64_t compressed = 0;    ///< bytes that it takes
  std::uint64_t size = 0;          ///< bytes that it holds
  std::uint64_t header = 0;        ///< where its own header begins
  std::uint64_t data = 0;          ///< where its bytes begin
};

/// An archive's bytes, in memory or in a file, read at any place.
class Archive {
 public:
  /// `source` names the archive in errors.
  Archive(std::uint64_t size, std::string source) : size_(size), source_(std::move(source)) {}
  virtual ~Archive() = default;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// In bytes.
  std::uint64_t size() const { return size_; }
  /// Reads bytes that must be inside.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) const = 0;
  /// A copy of bytes that must be inside.
  std::vector<std::byte> bytes(std::uint64_t offset, std::uint64_t size) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    read(offset, bytes);
    return bytes;
  }
  /// Throws the Error of a fault at an offset, in a member or in none.
  [[noreturn]] void fail(const Reject& reject, std::uint64_t offset, const Member* member,
      const std::string& detail) const;

 private:
  std::uint64_t size_;
  std::string source_;
};

/// The members in the directory's order, each with its place found and its own header compared; no
/// two of them share a byte.
std::vector<Member> members_of(const Archive& archive);

/// What a member holds, from its first byte to its last.
class MemberStream {
 public:
  /// Begins with the member's first byte; both outlive this.
  MemberStream(const Archive& archive, const Member& member);

  /// How many bytes are still to come, as declared.
  std::uint64_t remaining() const { return remaining_; }
  /// Reads bytes, at most as many as remain.
  void read(std::span<std::byte> to);
  /// Ends a member that was read to its end: finds that nothing follows, and the checksum right.
  void finish();
  /// Throws the Error of a fault in this member.
  [[noreturn]] void fail(const Reject& reject, const std::string& detail) const {
    archive_.fail(reject, member_.data, &member_, detail);
  }

 private:
  struct EndInflate {
    void operator()(z_stream* z) const {
      inflateEnd(z);
      delete z;
    }
  };
  /// Inflates into `to` until it is full or the data ends.
  std::size_t inflate_some(std::span<std::byte> to);

  const Archive& archive_;
  const Member& member_;
  std::uint64_t remaining_;
  std::uint64_t position_ = 0;  ///< of the compressed bytes handed to zlib, or of the stored ones
  std::uint32_t checksum_ = 0;
  bool ended_ = false;
  std::vector<std::byte> input_;
  std::unique_ptr<z_stream, EndInflate> inflate_;
};

/// A name that needs no mark for its encoding.
inline bool is_ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
}

/// The checksum of more bytes, beginning with 0.
inline std::uint32_t more_checksum(std::uint32_t checksum, std::span<const std::byte> bytes) {
  if (bytes.empty()) return checksum;  // zlib would begin anew for no bytes at null
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace lockstep::params::npz
