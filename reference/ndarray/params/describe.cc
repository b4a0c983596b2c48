#include "reference/ndarray/params/describe.h"

namespace lockstep::params {

Listing describe(const Params& params) {
  Listing listing;
  listing.trailing_bytes = params.trailing_bytes;
  listing.file_bytes = file_size(params.tensors) + params.trailing_bytes;
  for (const auto& [name, tensor] : params.tensors) {
    const std::uint64_t bytes = tensor.bytes.size();
    listing.rows.push_back({name, std::string(dtype_name(tensor.dtype)), tensor.shape, bytes});
    listing.data_bytes += bytes;
  }
  return listing;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace lockstep::params
