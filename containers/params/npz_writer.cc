#include <set>
#include <string_view>

#include "containers/params/npy.h"
#include "containers/params/sinks.h"
#include "containers/params/zip.h"

namespace lockstep::params::npz {
namespace {

constexpr std::uint16_t kVersion = 20;    // of the format that stored members need
constexpr std::uint16_t kVersion64 = 45;  // and of 64-bit sizes
constexpr std::uint16_t kUnix = 3 << 8;   // the meaning of the attributes
constexpr std::uint32_t kReadable = 0100644U << 16;
constexpr std::uint16_t kFirstDay = 0x21;  // 1 January 1980: an archive has no time of its own

template <class Sink> void put16(Sink& sink, std::uint64_t value) { put_number(sink, value, 2); }
template <class Sink> void put32(Sink& sink, std::uint64_t value) { put_number(sink, value, 4); }
template <class Sink> void put64(Sink& sink, std::uint64_t value) { put_number(sink, value, 8); }

/// A number in a narrow field, or the mark that it stands in a wide one.
template <class Sink> void put_narrow(Sink& sink, std::uint64_t value) {
  put32(sink, std::min<std::uint64_t>(value, kElsewhere32));
}

bool wide(std::uint64_t value) { return value >= kElsewhere32; }

/// What the two headers of a member have in common, without the names that follow.
template <class Sink> void put_common(Sink& sink, const Member& member, std::uint64_t extra) {
  put16(sink, extra != 0 ? kVersion64 : kVersion);
  put16(sink, member.flags);
  put16(sink, member.method);
  put16(sink, 0);  // midnight
  put16(sink, kFirstDay);
  put32(sink, member.checksum);
  put_narrow(sink, member.compressed);
  put_narrow(sink, member.size);
  put16(sink, member.name.size());
  put16(sink, extra);
}

template <class Sink> void put_local(Sink& sink, const Member& member) {
  const std::uint64_t extra = wide(member.size) ? 20 : 0;
  put32(sink, kLocalSignature);
  put_common(sink, member, extra);
  sink.append(member.name.data(), member.name.size());
  if (extra == 0) return;
  put16(sink, kExtra64);
  put16(sink, extra - 4);
  put64(sink, member.size);
  put64(sink, member.compressed);
}

template <class Sink> void put_entry(Sink& sink, const Member& member) {
  const std::uint64_t numbers = (wide(member.size) ? 2 : 0) + (wide(member.header) ? 1 : 0);
  const std::uint64_t extra = numbers == 0 ? 0 : 4 + 8 * numbers;
  put32(sink, kEntrySignature);
  put16(sink, kUnix | (extra != 0 ? kVersion64 : kVersion));
  put_common(sink, member, extra);
  put16(sink, 0);  // no comment
  put16(sink, 0);  // the first disk
  put16(sink, 0);  // no internal attributes
  put32(sink, kReadable);
  put_narrow(sink, member.header);
  sink.append(member.name.data(), member.name.size());
  if (extra == 0) return;
  put16(sink, kExtra64);
  put16(sink, extra - 4);
  if (wide(member.size)) {
    put64(sink, member.size);
    put64(sink, member.compressed);
  }
  if (wide(member.header)) put64(sink, member.header);
}

template <class Sink>
void put_end(Sink& sink, std::uint64_t count, std::uint64_t size, std::uint64_t offset) {
  if (count >= kElsewhere16 || wide(size) || wide(offset)) {
    put32(sink, kEnd64Signature);
    put64(sink, kEnd64Size - 12);
    put16(sink, kUnix | kVersion64);
    put16(sink, kVersion64);
    put32(sink, 0);
    put32(sink, 0);
    put64(sink, count);
    put64(sink, count);
    put64(sink, size);
    put64(sink, offset);
    put32(sink, kLocatorSignature);
    put32(sink, 0);
    put64(sink, offset + size);
    put32(sink, 1);
  }
  put32(sink, kEndSignature);
  put16(sink, 0);
  put16(sink, 0);
  put16(sink, std::min<std::uint64_t>(count, kElsewhere16));
  put16(sink, std::min<std::uint64_t>(count, kElsewhere16));
  put_narrow(sink, size);
  put_narrow(sink, offset);
  put16(sink, 0);  // no comment
}

/// The member that a tensor becomes at this place, but for its checksum.
Member member_of(const NamedTensor& entry, std::string_view header, std::uint64_t place) {
  Member member;
  member.name = entry.name;
  member.name += kSuffix;
  member.flags = is_ascii(member.name) ? 0 : kUtf8;
  member.header = place;
  member.size = member.compressed = header.size() + entry.tensor.bytes.size();
  return member;
}

template <class Sink>
void put_archive(Sink& uncounted, std::span<const NamedTensor> tensors, const Progress& progress) {
  const std::uint64_t all = data_size(tensors);  // data takes most of the time
  std::uint64_t done = 0;
  CountedSink sink(uncounted);
  std::vector<Member> members;
  for (const NamedTensor& entry : tensors) {
    const Bytes& bytes = entry.tensor.bytes;
    const std::string header = npy_header(entry.tensor.dtype, entry.tensor.shape);
    Member& member = members.emplace_back(member_of(entry, header, sink.size()));
    member.checksum = more_checksum(0, std::as_bytes(std::span(header)));
    member.checksum = more_checksum(member.checksum, bytes.span());
    put_local(sink, member);
    sink.append(header.data(), header.size());
    if (bytes.size() != 0) sink.append(bytes.data(), bytes.size());
    done += bytes.size();
    if (progress) progress(done, all);
  }
  const std::uint64_t directory = sink.size();
  for (const Member& member : members) put_entry(sink, member);
  put_end(sink, members.size(), sink.size() - directory, directory);
}

/// Whether unpacking would put a member with a name of these parts where the name says.
bool stays_in_place(std::string_view name) {
  if (name.find('\\') != std::string_view::npos) return false;
  for (std::size_t first = 0; first <= name.size();) {
    const std::size_t end = std::min(name.find('/', first), name.size());
    const std::string_view part = name.substr(first, end - first);
    if (part.empty() || part == "." || part == "..") return false;
    first = end + 1;
  }
  return true;
}

}  // namespace

void verify(std::span<const NamedTensor> tensors) {
  params::verify(tensors);
  std::set<std::string_view> names;
  for (const NamedTensor& entry : tensors) names.insert(entry.name);
  CountingSink place;
  for (const NamedTensor& entry : tensors) {
    const auto fail = [&](const Reject& reject) {
      throw Error(reject, place.size(), entry.name, "", "");
    };
    const std::string header = npy_header(entry.tensor.dtype, entry.tensor.shape);
    const Member member = member_of(entry, header, place.size());
    if (member.name.size() > kElsewhere16) fail(reject("npz_name_length"));
    if (!stays_in_place(member.name)) fail(reject("npz_name"));
    if (names.contains(member.name)) fail(reject("npz_ambiguous"));
    put_local(place, member);
    place.append(nullptr, static_cast<std::size_t>(member.size));
  }
}

std::vector<std::byte> write(std::span<const NamedTensor> tensors) {
  npz::verify(tensors);
  CountingSink size;
  put_archive(size, tensors, {});
  MemorySink sink(size.size());
  put_archive(sink, tensors, {});
  return std::move(sink).bytes();
}

void write_file(
    const std::string& path, std::span<const NamedTensor> tensors, const Progress& progress) {
  npz::verify(tensors);
  fill_file(path, [&](FileSink& sink) { put_archive(sink, tensors, progress); });
}

}  // namespace lockstep::params::npz
