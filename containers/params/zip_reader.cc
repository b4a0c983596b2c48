#include <optional>

#include "containers/byte_order.h"
#include "containers/params/zip.h"

namespace lockstep::params::npz {
namespace {

/// Numbers that stand one after the other in bytes that have room for them.
class Numbers {
 public:
  explicit Numbers(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint16_t u16() { return next<std::uint16_t>(); }
  std::uint32_t u32() { return next<std::uint32_t>(); }
  std::uint64_t u64() { return next<std::uint64_t>(); }
  std::span<const std::byte> take(std::size_t size) {
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::size_t remaining() const { return bytes_.size(); }

 private:
  template <class T> T next() { return load_little_endian<T>(take(sizeof(T)).data()); }

  std::span<const std::byte> bytes_;
};

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Where the directory is, and how many members it has.
struct Directory {
  std::uint64_t count, size, offset;
};

/// The end record of an archive with 16-bit and 32-bit fields.
struct End {
  std::uint64_t place;
  std::uint16_t disk, directory_disk, count_here, count;
  std::uint32_t size, offset;
};

/// The place of the last end record whose comment fills the rest of the archive.
End find_end(const Archive& archive) {
  const std::uint64_t reach = std::min(archive.size(), kEndSize + 0xFFFF);
  const std::vector<std::byte> tail = archive.bytes(archive.size() - reach, reach);
  for (std::uint64_t size = kEndSize; size <= reach; ++size) {
    Numbers numbers(std::span<const std::byte>(tail).last(static_cast<std::size_t>(size)));
    if (numbers.u32() != kEndSignature) continue;
    End end{};
    end.place = archive.size() - size;
    end.disk = numbers.u16();
    end.directory_disk = numbers.u16();
    end.count_here = numbers.u16();
    end.count = numbers.u16();
    end.size = numbers.u32();
    end.offset = numbers.u32();
    if (numbers.u16() == numbers.remaining()) return end;
  }
  archive.fail(reject("zip_end"), archive.size(), nullptr, "");
}

/// Whether a narrow field equals the wide one, or holds the mark for "see the wide one".
template <class T> bool agrees(T narrow, std::uint64_t wide) {
  return narrow == wide || narrow == static_cast<T>(-1);
}

/// Reads the 64-bit end record, to which the locator before `end` points.
Directory read_end64(const Archive& archive, const End& end) {
  const std::uint64_t locator = end.place - kLocatorSize;
  const auto fail = [&](std::uint64_t offset) {
    archive.fail(reject("zip_end64"), offset, nullptr, "");
  };
  const std::vector<std::byte> locating = archive.bytes(locator, kLocatorSize);
  Numbers where(locating);
  where.u32();
  const std::uint32_t disk = where.u32();
  const std::uint64_t place = where.u64();
  if (disk != 0 || where.u32() > 1) archive.fail(reject("zip_disks"), locator, nullptr, "");
  if (locator < kEnd64Size || place != locator - kEnd64Size) fail(locator);
  const std::vector<std::byte> bytes = archive.bytes(place, kEnd64Size);
  Numbers numbers(bytes);
  if (numbers.u32() != kEnd64Signature || numbers.u64() != kEnd64Size - 12) fail(place);
  numbers.take(2 * sizeof(std::uint16_t));  // the versions of the writer and of the format
  const std::uint32_t this_disk = numbers.u32(), directory_disk = numbers.u32();
  if (this_disk != 0 || directory_disk != 0) archive.fail(reject("zip_disks"), place, nullptr, "");
  const std::uint64_t count_here = numbers.u64();
  const Directory directory = {numbers.u64(), numbers.u64(), numbers.u64()};
  if (count_here != directory.count || !agrees(end.count, directory.count) ||
      !agrees(end.size, directory.size) || !agrees(end.offset, directory.offset)) {
    fail(place);
  }
  if (directory.offset > place || directory.size != place - directory.offset)
    archive.fail(reject("zip_directory"), place, nullptr, "");
  return directory;
}

Directory find_directory(const Archive& archive) {
  const End end = find_end(archive);
  if (end.disk != 0 || end.directory_disk != 0 || end.count_here != end.count)
    archive.fail(reject("zip_disks"), end.place, nullptr, "");
  if (end.place >= kLocatorSize) {
    const std::vector<std::byte> before = archive.bytes(end.place - kLocatorSize, 4);
    if (Numbers(before).u32() == kLocatorSignature) return read_end64(archive, end);
  }
  if (end.count == kElsewhere16 || end.size == kElsewhere32 || end.offset == kElsewhere32)
    archive.fail(reject("zip_end64"), end.place, nullptr, "");
  if (std::uint64_t{end.offset} + end.size != end.place)
    archive.fail(reject("zip_directory"), end.place, nullptr, "");
  return {end.count, end.size, end.offset};
}

/// Replaces the numbers of an entry that stand in its 64-bit extra field; false where they do not.
bool take_extra64(Numbers extra, Member& member) {
  std::uint64_t* const numbers[] = {&member.size, &member.compressed, &member.header};
  const auto missing = [](const std::uint64_t* n) { return *n == kElsewhere32; };
  if (std::ranges::none_of(numbers, missing)) return true;
  while (extra.remaining() >= 4) {
    const std::uint16_t id = extra.u16(), size = extra.u16();
    if (size > extra.remaining()) return false;
    Numbers field(extra.take(size));
    if (id != kExtra64) continue;
    for (std::uint64_t* number : numbers) {
      if (!missing(number)) continue;
      if (field.remaining() < 8) return false;
      *number = field.u64();
    }
    return true;
  }
  return false;
}

/// The next entry of the directory, which stands at `offset`.
Member next_entry(const Archive& archive, Numbers& directory, std::uint64_t offset) {
  const auto fail = [&](const Reject& reject, const Member* member, const std::string& detail) {
    archive.fail(reject, offset, member, detail);
  };
  if (directory.remaining() < kEntrySize) fail(reject("zip_entry"), nullptr, "");
  Numbers fixed(directory.take(kEntrySize));
  if (fixed.u32() != kEntrySignature) fail(reject("zip_entry"), nullptr, "");
  fixed.take(2 * sizeof(std::uint16_t));  // the versions of the writer and of the format
  Member member;
  member.flags = fixed.u16();
  member.method = fixed.u16();
  fixed.take(2 * sizeof(std::uint16_t));  // time and date
  member.checksum = fixed.u32();
  member.compressed = fixed.u32();
  member.size = fixed.u32();
  const std::size_t name = fixed.u16(), extra = fixed.u16(), comment = fixed.u16();
  const std::uint16_t disk = fixed.u16();
  fixed.take(sizeof(std::uint16_t) + sizeof(std::uint32_t));  // attributes
  member.header = fixed.u32();
  if (directory.remaining() < name + extra + comment) fail(reject("zip_entry"), nullptr, "");
  member.name = text(directory.take(name));
  const Numbers extra_fields(directory.take(extra));
  directory.take(comment);

  if (!is_ascii(member.name) && (member.flags & kUtf8) == 0) fail(reject("zip_name"), &member, "");
  if (disk != 0) fail(reject("zip_disks"), &member, "");
  if ((member.flags & kEncrypted) != 0) fail(reject("zip_encrypted"), &member, "");
  if (member.method != kStored && member.method != kDeflated)
    fail(reject("zip_method"), &member, "found " + std::to_string(member.method));
  if (!take_extra64(extra_fields, member)) fail(reject("zip_extra"), &member, "");
  return member;
}

/// Compares a member's own header with the directory, whose entry stands at `entry`, and finds
/// where the data begins.
void locate(const Archive& archive, Member& member, std::uint64_t directory, std::uint64_t entry) {
  const auto fail = [&](const Reject& reject, const std::string& detail) {
    archive.fail(reject, member.header, &member, detail);
  };
  if (member.header > directory || directory - member.header < kLocalSize)
    archive.fail(
        reject("zip_local"), entry, &member, "it stands at " + std::to_string(member.header));
  const std::vector<std::byte> fixed = archive.bytes(member.header, kLocalSize);
  Numbers numbers(fixed);
  if (numbers.u32() != kLocalSignature) fail(reject("zip_local"), "its signature is wrong");
  numbers.u16();  // the version of the format
  const std::uint16_t flags = numbers.u16(), method = numbers.u16();
  numbers.take(2 * sizeof(std::uint16_t));  // time and date
  const std::uint32_t checksum = numbers.u32(), compressed = numbers.u32(), size = numbers.u32();
  const std::size_t name = numbers.u16(), extra = numbers.u16();
  if (directory - member.header - kLocalSize < name + extra) fail(reject("zip_local"), "");
  if (flags != member.flags || method != member.method) fail(reject("zip_local"), "flags differ");
  if (text(archive.bytes(member.header + kLocalSize, name)) != member.name)
    fail(reject("zip_local"), "the names differ");
  // A writer that could not seek back put these numbers behind the data.
  if ((flags & kSizesFollow) == 0 &&
      (checksum != member.checksum || !agrees(compressed, member.compressed) ||
          !agrees(size, member.size))) {
    fail(reject("zip_local"), "sizes or checksums differ");
  }
  member.data = member.header + kLocalSize + name + extra;
  if (directory - member.data < member.compressed)
    fail(reject("zip_beyond"),
        std::to_string(member.compressed) + " bytes declared, " +
            std::to_string(directory - member.data) + " remain");
  if (member.method == kStored && member.size != member.compressed)
    fail(reject("zip_size"),
        std::to_string(member.compressed) + " bytes stored, " + std::to_string(member.size) +
            " declared");
  // No deflated byte stands for more than 1032: a length of 258 takes two bits at least.
  constexpr std::uint64_t kDeflatedMost = 1032;
  if (member.method == kDeflated && member.size / kDeflatedMost > member.compressed)
    fail(reject("zip_bomb"),
        std::to_string(member.size) + " bytes declared in " + std::to_string(member.compressed));
}

void refuse_overlaps(const Archive& archive, const std::vector<Member>& members) {
  std::vector<const Member*> order;
  for (const Member& member : members) order.push_back(&member);
  std::ranges::sort(order, {}, &Member::header);
  std::uint64_t end = 0;
  for (const Member* member : order) {
    if (member->header < end) archive.fail(reject("zip_overlap"), member->header, member, "");
    end = member->data + member->compressed;
  }
}

constexpr std::size_t kInputSize = std::size_t{64} << 10;

}  // namespace

void Archive::fail(const Reject& reject, std::uint64_t offset, const Member* member,
    const std::string& detail) const {
  throw Error(reject, offset, member ? std::optional(member->name) : std::nullopt, detail, source_);
}

std::vector<Member> members_of(const Archive& archive) {
  const Directory directory = find_directory(archive);
  if (directory.count > directory.size / kEntrySize)
    archive.fail(reject("zip_count"), directory.offset, nullptr,
        std::to_string(directory.count) + " declared");
  const std::vector<std::byte> bytes = archive.bytes(directory.offset, directory.size);
  Numbers entries(bytes);
  std::vector<Member> members;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const std::uint64_t offset = directory.offset + (bytes.size() - entries.remaining());
    members.push_back(next_entry(archive, entries, offset));
    locate(archive, members.back(), directory.offset, offset);
  }
  if (entries.remaining() != 0)
    archive.fail(reject("zip_count"), directory.offset + (bytes.size() - entries.remaining()),
        nullptr, std::to_string(entries.remaining()) + " bytes follow the last member");
  refuse_overlaps(archive, members);
  return members;
}

MemberStream::MemberStream(const Archive& archive, const Member& member)
    : archive_(archive), member_(member), remaining_(member.size) {
  if (member.method == kStored) return;
  auto z = std::make_unique<z_stream>();
  constexpr int kRawDeflate = -15;
  if (inflateInit2(z.get(), kRawDeflate) != Z_OK) throw std::bad_alloc();
  inflate_.reset(z.release());
  input_.resize(kInputSize);
}

std::size_t MemberStream::inflate_some(std::span<std::byte> to) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::size_t done = 0;
  while (done < to.size() && !ended_) {
    if (inflate_->avail_in == 0) {
      const std::uint64_t more =
          std::min<std::uint64_t>(kInputSize, member_.compressed - position_);
      archive_.read(member_.data + position_, std::span(input_).first(more));
      position_ += more;
      inflate_->next_in = reinterpret_cast<unsigned char*>(input_.data());
      inflate_->avail_in = static_cast<unsigned>(more);
    }
    const std::span<std::byte> piece = to.subspan(done, std::min(to.size() - done, kMost));
    inflate_->next_out = reinterpret_cast<unsigned char*>(piece.data());
    inflate_->avail_out = static_cast<unsigned>(piece.size());
    const int status = inflate(inflate_.get(), Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_BUF_ERROR) fail(reject("zip_data"), "it is cut short");
    if (status != Z_OK && status != Z_STREAM_END) {
      fail(reject("zip_data"), inflate_->msg ? inflate_->msg : "it asks for a dictionary");
    }
    ended_ = status == Z_STREAM_END;
    done += piece.size() - inflate_->avail_out;
  }
  return done;
}

void MemberStream::read(std::span<std::byte> to) {
  if (inflate_) {
    const std::size_t got = inflate_some(to);
    if (got != to.size()) fail(reject("zip_data"), "it holds less than the member declares");
  } else {
    archive_.read(member_.data + position_, to);
    position_ += to.size();
  }
  checksum_ = more_checksum(checksum_, to);
  remaining_ -= to.size();
}

void MemberStream::finish() {
  if (inflate_) {
    std::byte beyond{};
    if (inflate_some({&beyond, 1}) != 0)
      fail(reject("zip_data"), "it holds more than the member declares");
    if (position_ != member_.compressed || inflate_->avail_in != 0)
      fail(reject("zip_data"), "something follows its end");
  }
  if (checksum_ != member_.checksum) fail(reject("zip_checksum"), "");
}

}  // namespace lockstep::params::npz
