#include "containers/params/params.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "containers/byte_order.h"
#include "containers/logging.h"

namespace lockstep::params {
namespace {

std::string error_text(const Reject& reject, std::uint64_t offset,
    const std::optional<std::string>& tensor, std::string_view detail, std::string_view source) {
  std::string text;
  if (!source.empty()) text.append(printable(source, source.size())).append(": ");
  text.append("offset ").append(std::to_string(offset));
  if (tensor) text.append(", tensor \"").append(printable(*tensor)).append("\"");
  text.append(": ").append(reject.text);
  if (!detail.empty()) text.append("; ").append(detail);
  return text.append(" [").append(reject.id).append("]");
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  // U+0080 to U+009F: terminals obey these as they obey escape sequences.
  if (first == 0xC2) return static_cast<unsigned char>(character[1]) < 0xA0;
  // U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069 end a line or reorder what follows.
  const auto between = [&](std::string_view least, std::string_view most) {
    return least <= character && character <= most;
  };
  return between("\xE2\x80\x8E", "\xE2\x80\x8F") || between("\xE2\x80\xA8", "\xE2\x80\xAE") ||
      between("\xE2\x81\xA6", "\xE2\x81\xA9");
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
}

template <class T> void narrow(std::span<const std::byte> bytes, std::span<std::int32_t> to) {
  VERIFY(to.size() == bytes.size() / sizeof(T))
      << "there is room for " << to.size() << " of " << bytes.size() / sizeof(T) << " elements";
  constexpr bool kFits = sizeof(T) < sizeof(std::int32_t) || std::is_same_v<T, std::int32_t>;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const T value = load_little_endian<T>(bytes.data() + i * sizeof(T));
    // Checks only where it must, because compilers vectorize a loop without an early exit.
    if constexpr (!kFits)
      VERIFY(std::in_range<std::int32_t>(value))
          << "element " << i << " is " << value << ", which is outside int32";
    to[i] = static_cast<std::int32_t>(value);
  }
}

}  // namespace

Error::Error(const Reject& reject, std::uint64_t offset, std::optional<std::string> tensor,
    std::string_view detail, std::string_view source)
    : ValueVerifyFatal(error_text(reject, offset, tensor, detail, source)),
      reject_(&reject),
      offset_(offset),
      tensor_(std::move(tensor)) {}

Bytes Bytes::borrow(std::span<const std::byte> bytes) {
  return {std::shared_ptr<const std::byte>(std::shared_ptr<void>(), bytes.data()), bytes.size()};
}

Bytes Bytes::copy(std::span<const std::byte> bytes) {
  return own(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

Bytes Bytes::own(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {std::shared_ptr<const std::byte>(owner, owner->data()), owner->size()};
}

bool operator==(const Tensor& a, const Tensor& b) {
  const std::size_t size = a.bytes.size();
  return a.dtype == b.dtype && a.shape == b.shape && size == b.bytes.size() &&
      (size == 0 || std::memcmp(a.bytes.data(), b.bytes.data(), size) == 0);
}

const Tensor* Params::find(std::string_view name) const {
  const auto entry = std::ranges::find(tensors, name, &NamedTensor::name);
  return entry == tensors.end() ? nullptr : &entry->tensor;
}

void to_int32(const Tensor& tensor, std::span<std::int32_t> to) {
  const std::optional<std::int64_t> size = byte_size(tensor.shape, tensor.dtype);
  VERIFY(size && std::cmp_equal(*size, tensor.bytes.size()))
      << "the tensor has " << tensor.bytes.size() << " bytes, which do not fit its type and shape";
  const std::span<const std::byte> bytes = tensor.bytes.span();
  const std::string_view name = dtype_name(tensor.dtype);
  if (name == "int8") return narrow<std::int8_t>(bytes, to);
  if (name == "int16") return narrow<std::int16_t>(bytes, to);
  if (name == "int32") return narrow<std::int32_t>(bytes, to);
  if (name == "int64") return narrow<std::int64_t>(bytes, to);
  if (name == "uint8") return narrow<std::uint8_t>(bytes, to);
  if (name == "uint16") return narrow<std::uint16_t>(bytes, to);
  if (name == "uint32") return narrow<std::uint32_t>(bytes, to);
  if (name == "uint64") return narrow<std::uint64_t>(bytes, to);
  VERIFY(!name.empty()) << "type code " << tensor.dtype.code << " with " << tensor.dtype.bits
                        << " bits is no element type";
  VERIFY(false) << "a tensor of type " << name << " has no integers";
}

std::vector<std::int32_t> to_int32(const Tensor& tensor) {
  const auto each = static_cast<std::size_t>(std::max(tensor.dtype.bytes(), 1));
  std::vector<std::int32_t> values(tensor.bytes.size() / each);
  to_int32(tensor, values);
  return values;
}

Tensor from_int32(std::vector<std::int64_t> shape, std::span<const std::int32_t> values) {
  const DType dtype{0, 32};
  const std::optional<std::int64_t> size = byte_size(shape, dtype);
  VERIFY(size && std::cmp_equal(*size, values.size_bytes()))
      << values.size() << " values do not fill the shape";
  std::vector<std::byte> bytes(values.size_bytes());
  for (std::size_t i = 0; i < values.size(); ++i)
    store_little_endian(bytes.data() + i * sizeof(std::int32_t), values[i]);
  return {dtype, std::move(shape), Bytes::own(std::move(bytes))};
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t used = 0;
  while (used < text.size()) {
    const std::size_t length = utf8_character(text.substr(used));
    const std::string_view character = text.substr(used, std::max<std::size_t>(length, 1));
    if (used + character.size() > limit) return out.append("...");
    if (length == 0 || is_control(character)) {
      append_escaped(out, character);
    } else {
      out.append(character);
    }
    used += character.size();
  }
  return out;
}

}  // namespace lockstep::params
