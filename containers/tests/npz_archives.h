/// @file
/// Archives made for tests: members of any content, with right or wrong headers.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "containers/params/npy.h"
#include "containers/params/sinks.h"
#include "containers/params/zip.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params::npz {

/// A planned member: its content, and the values of its headers.
struct Part {
  std::string name, content;
  bool deflated = false;
  std::uint16_t flags = 0;
};

inline std::string deflated(const std::string& content) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, content.size()), '\0');
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<unsigned>(content.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// Bytes of which some are known only later.
class Builder {
 public:
  std::size_t size() const { return bytes_.size(); }
  Builder& number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
    return *this;
  }
  Builder& text(const std::string& text) {
    for (char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  const File& bytes() const { return bytes_; }

 private:
  File bytes_;
};

/// A correct archive as other writers make them, without a 64-bit field.
inline File archive_of(const std::vector<Part>& parts) {
  Builder file, directory;
  for (const Part& part : parts) {
    const std::string data = part.deflated ? deflated(part.content) : part.content;
    Builder common;
    common.number(20, 2).number(part.flags, 2).number(part.deflated ? kDeflated : kStored, 2);
    common.number(0, 4).number(more_checksum(0, std::as_bytes(std::span(part.content))), 4);
    common.number(data.size(), 4).number(part.content.size(), 4).number(part.name.size(), 2);
    common.number(0, 2);
    const std::string shared(reinterpret_cast<const char*>(common.bytes().data()), common.size());
    directory.number(kEntrySignature, 4).number(20, 2).text(shared).number(0, 2).number(0, 2);
    directory.number(0, 2).number(0, 4).number(file.size(), 4).text(part.name);
    file.number(kLocalSignature, 4).text(shared).text(part.name).text(data);
  }
  const std::size_t offset = file.size();
  File bytes = file.bytes();
  bytes.insert(bytes.end(), directory.bytes().begin(), directory.bytes().end());
  Builder end;
  end.number(kEndSignature, 4).number(0, 4).number(parts.size(), 2).number(parts.size(), 2);
  end.number(directory.size(), 4).number(offset, 4).number(0, 2);
  bytes.insert(bytes.end(), end.bytes().begin(), end.bytes().end());
  return bytes;
}

/// An array of version 1.0 with this dictionary, unpadded, and data.
inline std::string array_of(const std::string& dictionary, const std::string& data) {
  const auto low = static_cast<char>(dictionary.size() & 255);
  const auto high = static_cast<char>(dictionary.size() >> 8);
  return std::string(kNpyMagic) + '\x01' + '\0' + low + high + dictionary + data;
}

/// The dictionary of an array, as NumPy writes it.
inline std::string dictionary_of(
    const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

inline File archive_of_array(const std::string& array, bool deflate = false) {
  return archive_of({{"w.npy", array, deflate, 0}});
}

/// The array of with_extra(), and where the directory of its archive begins.
inline const std::string kWideArray = array_of(dictionary_of("|u1", "(1,)"), "x");
inline const std::uint64_t kWideSize = kWideArray.size();
inline const std::uint64_t kWideDirectory = kLocalSize + 5 + kWideSize;

/// An archive whose entry has these numbers in 64 bits: size, compressed size and, if there is a
/// third, the place of the member.
inline File with_extra(std::initializer_list<std::uint64_t> numbers) {
  const File plain = archive_of_array(kWideArray);
  const auto directory = static_cast<std::size_t>(kWideDirectory);
  const std::size_t place = directory + kEntrySize + 5;
  Builder extra;
  // A field of another kind comes first.
  extra.number(0xCAFE, 2).number(3, 2).text("abc");
  extra.number(kExtra64, 2).number(8 * numbers.size(), 2);
  for (const std::uint64_t number : numbers) extra.number(number, 8);
  File archive = patched(plain, directory + 30, 2, static_cast<std::int64_t>(extra.size()));
  archive = patched(patched(archive, directory + 24, 4, -1), directory + 20, 4, -1);
  if (numbers.size() > 2) archive = patched(archive, directory + 42, 4, -1);
  archive = patched(archive, place + 12, 4, static_cast<std::int64_t>(51 + extra.size()));
  archive.insert(archive.begin() + static_cast<std::ptrdiff_t>(place), extra.bytes().begin(),
      extra.bytes().end());
  // The member's own header repeats the numbers that its fields can hold.
  return patched(patched(archive, 18, 4, -1), 22, 4, -1);
}

/// The archive with 64-bit ends, whose numbers are these.
inline File with_end64(
    const File& archive, std::uint64_t count, std::uint64_t size, std::uint64_t offset) {
  const std::size_t place = archive.size() - kEndSize;
  Builder end;
  end.number(kEnd64Signature, 4).number(kEnd64Size - 12, 8).number(45, 2).number(45, 2);
  end.number(0, 8).number(count, 8).number(count, 8).number(size, 8).number(offset, 8);
  end.number(kLocatorSignature, 4).number(0, 4).number(place, 8).number(1, 4);
  end.number(kEndSignature, 4).number(0, 4).number(0xFFFF, 2).number(0xFFFF, 2);
  end.number(0xFFFFFFFF, 4).number(0xFFFFFFFF, 4).number(0, 2);
  File bytes = prefix(archive, place);
  bytes.insert(bytes.end(), end.bytes().begin(), end.bytes().end());
  return bytes;
}

}  // namespace lockstep::params::npz
