#include "containers/params/npy_reader.h"

namespace lockstep::params::npz {
namespace {

/// An array's bytes, from the first to the last.
class ArrayStream {
 public:
  ArrayStream(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  std::uint64_t remaining() const { return bytes_.size(); }
  void read(std::span<std::byte> to) {
    std::ranges::copy(bytes_.first(to.size()), to.begin());
    bytes_ = bytes_.subspan(to.size());
  }
  void finish() const {}
  [[noreturn]] void fail(const Reject& reject, const std::string& detail) const {
    throw Error(reject, 0, {}, detail, source_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view source_;
};

template <class Sink> void put_array(Sink& sink, const Tensor& tensor) {
  const std::string header = npy_header(tensor.dtype, tensor.shape);
  sink.append(header.data(), header.size());
  if (tensor.bytes.size() != 0) sink.append(tensor.bytes.data(), tensor.bytes.size());
}

void verify_array(const Tensor& tensor) {
  const NamedTensor alone{"", tensor};
  params::verify({&alone, 1});
}

}  // namespace

Tensor read_npy(std::span<const std::byte> array, std::string_view source) {
  return utils::naming_out_of_memory(
      "reading", source, [&] { return read_array(ArrayStream(array, source)); });
}

std::vector<std::byte> write_npy(const Tensor& tensor) {
  verify_array(tensor);
  CountingSink size;
  put_array(size, tensor);
  MemorySink sink(size.size());
  put_array(sink, tensor);
  return std::move(sink).bytes();
}

void write_npy_file(const std::string& path, const Tensor& tensor) {
  verify_array(tensor);
  fill_file(path, [&](FileSink& sink) { put_array(sink, tensor); });
}

}  // namespace lockstep::params::npz
